//! AES-256-GCM with one key, for any number of threads.
//!
//! Invariants:
//! * Contexts keep the key's schedule, so that only the nonce is new for each body; whoever needs one takes it out of the
//!   pool, and puts it back when it has served.
//! * OpenSSL fails here only for want of memory or by a defect, which is never taken for a tag that does not match: that
//!   comes with the last call, and only with it.

use openssl::cipher::Cipher;
use openssl::cipher_ctx::CipherCtx;
use openssl::error::ErrorStack;
use posthaste_env::sync::Mutex;

use crate::key::Key;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;

/// One direction: a context is made for one, and stays so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Seal,
    Open,
}

pub(crate) struct Gcm {
    key: Key,
    way: Way,
    idle: Mutex<Vec<CipherCtx>>,
}

impl Gcm {
    pub(crate) fn new(key: Key, way: Way) -> Gcm {
        Gcm {
            key,
            way,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// A context for one message, which the tag binds to `bound` and `front`.
    fn context(
        &self,
        nonce: &[u8; NONCE],
        bound: &[u8],
        front: &[u8],
    ) -> Result<CipherCtx, ErrorStack> {
        let idle = self.idle.lock().pop();
        let (mut context, new) = match idle {
            Some(context) => (context, None),
            None => (
                CipherCtx::new()?,
                Some((Cipher::aes_256_gcm(), self.key.bytes().as_slice())),
            ),
        };
        let (cipher, key) = new.unzip();
        match self.way {
            Way::Seal => context.encrypt_init(cipher, key, Some(nonce))?,
            Way::Open => context.decrypt_init(cipher, key, Some(nonce))?,
        }
        context.cipher_update(bound, None)?;
        context.cipher_update(front, None)?;
        Ok(context)
    }

    /// Appends the parts, encrypted, to `out`, and gives the tag that binds them to `bound` and to what `out` held.
    pub(crate) fn seal(
        &self,
        nonce: &[u8; NONCE],
        bound: &[u8],
        out: &mut Vec<u8>,
        parts: &[&[u8]],
    ) -> [u8; TAG] {
        match self.try_seal(nonce, bound, out, parts) {
            Ok(tag) => tag,
            // Going on could only mean to write what is not encrypted.
            Err(error) => panic!("OpenSSL cannot encrypt: {error}"),
        }
    }

    fn try_seal(
        &self,
        nonce: &[u8; NONCE],
        bound: &[u8],
        out: &mut Vec<u8>,
        parts: &[&[u8]],
    ) -> Result<[u8; TAG], ErrorStack> {
        let mut context = self.context(nonce, bound, out)?;
        let mut at = out.len();
        out.resize(at + parts.iter().map(|part| part.len()).sum::<usize>(), 0);
        for part in parts {
            at += context.cipher_update(part, Some(&mut out[at..]))?;
        }
        assert_eq!(at, out.len(), "GCM is as long as what it encrypts");
        context.cipher_final(&mut [])?;
        let mut tag = [0; TAG];
        context.tag(&mut tag)?;
        self.idle.lock().push(context);
        Ok(tag)
    }

    /// Decrypts what begins at `from`, in place; false: the tag is another one, and nothing of it is to be used.
    pub(crate) fn open(
        &self,
        nonce: &[u8; NONCE],
        bound: &[u8],
        bytes: &mut [u8],
        from: usize,
        tag: &[u8; TAG],
    ) -> bool {
        match self.try_open(nonce, bound, bytes, from, tag) {
            Ok(opened) => opened,
            Err(error) => panic!("OpenSSL cannot decrypt: {error}"),
        }
    }

    fn try_open(
        &self,
        nonce: &[u8; NONCE],
        bound: &[u8],
        bytes: &mut [u8],
        from: usize,
        tag: &[u8; TAG],
    ) -> Result<bool, ErrorStack> {
        let (front, sealed) = bytes.split_at_mut(from);
        let mut context = self.context(nonce, bound, front)?;
        let length = sealed.len();
        context.cipher_update_inplace(sealed, length)?;
        context.set_tag(tag)?;
        let opened = context.cipher_final(&mut []).is_ok();
        self.idle.lock().push(context);
        Ok(opened)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::key::{from_hex, to_hex};

    /// "The Galois/Counter Mode of Operation" (McGrew, Viega), test case 16.
    #[test]
    fn it_is_what_the_standard_calls_so() {
        let hex = |text: &str| from_hex(text.as_bytes()).unwrap();
        let key = "feffe9928665731c6d6a8f9467308308".repeat(2);
        let key = Key::parse(key.as_bytes()).unwrap();
        let nonce: [u8; NONCE] = hex("cafebabefacedbaddecaf888").try_into().unwrap();
        let plain = hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
             1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let bound = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let (context, front) = bound.split_at(5);
        let (one, two) = plain.split_at(21);
        let (seal, open) = (Gcm::new(key.clone(), Way::Seal), Gcm::new(key, Way::Open));
        for _ in 0..2 {
            let mut out = front.to_vec();
            let tag = seal.seal(&nonce, context, &mut out, &[one, &[], two]);
            assert_eq!(to_hex(&tag), "76fc6ece0f4e1768cddf8853bb2d551b");
            assert_eq!(
                to_hex(&out[front.len()..]),
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
                 8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
            );
            let mut wrong = out.clone();
            wrong[0] ^= 1;
            assert!(!open.open(&nonce, context, &mut wrong, front.len(), &tag));
            assert!(open.open(&nonce, context, &mut out, front.len(), &tag));
            assert_eq!(out[front.len()..], plain);
        }
        // Nothing at all has a tag too.
        let mut none = Vec::new();
        let tag = seal.seal(&nonce, b"", &mut none, &[]);
        assert!(open.open(&nonce, b"", &mut none, 0, &tag));
        assert!(!open.open(&nonce, b"x", &mut none, 0, &tag));
    }
}
