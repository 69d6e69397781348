//! Bodies sealed and opened: what the engine is given.
//!
//! A sealed body is as long as the body and [`TRAILER`] bytes more:
//!
//! ```text
//! the body, encrypted (AES-256-GCM)
//! tag, 16 bytes
//! counter, 8: the nonce is four zeros and this, most significant byte first
//! salt of the run, 16
//! identifier of the data key, 4
//! version, 1: it is 1
//! ```
//!
//! Invariants:
//! * A run draws its salt once and counts from 0; the run key is HKDF-SHA256 of the data key, the salt and the version.
//! * Of the run keys of earlier runs the latest used are kept; which salts there are says whoever wrote the disk, so their
//!   number is bounded.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_engine::{BodyCipher, NotOpened};
use posthaste_env::Entropy;
use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicU64, Ordering};

use crate::data_keys::DataKeys;
use crate::gcm::{Gcm, NONCE, TAG, Way};

const VERSION: u8 = 1;
const SALT: usize = 16;
const COUNTER: usize = 8;
const KEY_ID: usize = 4;
/// Bytes behind an encrypted body.
const TRAILER: usize = TAG + COUNTER + SALT + KEY_ID + 1;
/// What a run key is derived for.
const INFO: &[u8] = b"posthaste message bodies 1";
/// Most run keys that are kept of runs before this one.
const KNOWN: usize = 256;

type Salt = [u8; SALT];

/// Seals with the newest data key, opens with all.
pub struct MessageCipher {
    keys: DataKeys,
    seal: Gcm,
    id: u32,
    salt: Salt,
    counter: AtomicU64,
    open: Mutex<BTreeMap<(u32, Salt), Arc<Gcm>>>,
}

impl std::fmt::Debug for MessageCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageCipher")
            .field("data_key", &format_args!("{:08x}", self.id))
            .finish_non_exhaustive()
    }
}

impl MessageCipher {
    /// For one run.
    pub fn new(keys: DataKeys, entropy: &dyn Entropy) -> MessageCipher {
        let mut salt = [0; SALT];
        entropy.fill(&mut salt);
        let (id, key) = keys.newest();
        let seal = Gcm::new(key.derive(&salt, INFO), Way::Seal);
        MessageCipher {
            keys,
            seal,
            id,
            salt,
            counter: AtomicU64::new(0),
            open: Mutex::new(BTreeMap::new()),
        }
    }

    fn opening(&self, id: u32, salt: Salt) -> Result<Arc<Gcm>, NotOpened> {
        if let Some(known) = self.open.lock().get(&(id, salt)) {
            return Ok(Arc::clone(known));
        }
        let key = self.keys.find(id).ok_or(NotOpened::UnknownKey(id))?;
        let gcm = Arc::new(Gcm::new(key.derive(&salt, INFO), Way::Open));
        let mut known = self.open.lock();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert((id, salt), Arc::clone(&gcm));
        Ok(gcm)
    }
}

fn nonce(counter: [u8; COUNTER]) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[NONCE - COUNTER..].copy_from_slice(&counter);
    nonce
}

/// The last bytes of `bytes`, and how many there are before.
fn last<const N: usize>(bytes: &[u8]) -> Option<([u8; N], usize)> {
    let (front, last) = bytes.split_last_chunk::<N>()?;
    Some((*last, front.len()))
}

impl BodyCipher for MessageCipher {
    fn overhead(&self) -> usize {
        TRAILER
    }

    fn seal(&self, context: &[u8], bytes: &mut Vec<u8>, body: &[&[u8]]) {
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        assert!(counter != u64::MAX, "a run ends before its nonces do");
        let counter = counter.to_be_bytes();
        let length: usize = body.iter().map(|part| part.len()).sum();
        bytes.reserve(length + TRAILER);
        let tag = self.seal.seal(&nonce(counter), context, bytes, body);
        bytes.extend_from_slice(&tag);
        bytes.extend_from_slice(&counter);
        bytes.extend_from_slice(&self.salt);
        bytes.extend_from_slice(&self.id.to_le_bytes());
        bytes.push(VERSION);
    }

    fn open(&self, context: &[u8], bytes: &mut Vec<u8>, from: usize) -> Result<(), NotOpened> {
        if bytes.len() < from + TRAILER || bytes.last() != Some(&VERSION) {
            return Err(NotOpened::Changed);
        }
        bytes.pop();
        let mut end = bytes.len();
        let mut take = || {
            let (id, rest) = last::<KEY_ID>(&bytes[..end])?;
            let (salt, rest) = last::<SALT>(&bytes[..rest])?;
            let (counter, rest) = last::<COUNTER>(&bytes[..rest])?;
            let (tag, rest) = last::<TAG>(&bytes[..rest])?;
            end = rest;
            Some((u32::from_le_bytes(id), salt, counter, tag))
        };
        let (id, salt, counter, tag) = take().ok_or(NotOpened::Changed)?;
        let gcm = self.opening(id, salt)?;
        bytes.truncate(end);
        if gcm.open(&nonce(counter), context, bytes, from, &tag) {
            return Ok(());
        }
        bytes.clear();
        Err(NotOpened::Changed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn keys() -> DataKeys {
        DataKeys::new(&*posthaste_env::os().entropy, "2026-01-01")
    }

    fn run(keys: &DataKeys) -> MessageCipher {
        MessageCipher::new(keys.clone(), &*posthaste_env::os().entropy)
    }

    fn sealed(cipher: &MessageCipher, front: &[u8], body: &[&[u8]]) -> Vec<u8> {
        let mut bytes = front.to_vec();
        cipher.seal(b"L", &mut bytes, body);
        bytes
    }

    fn opened(
        cipher: &MessageCipher,
        context: &[u8],
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, NotOpened> {
        cipher.open(context, &mut bytes, 5).map(|()| bytes)
    }

    #[test]
    fn what_is_sealed_opens_in_any_run_that_has_the_data_key() {
        let mut all = keys();
        let first = run(&all);
        for body in [&[][..], b"x", &[7; 5000]] {
            let bytes = sealed(&first, b"front", &[body, b"", b"end"]);
            assert_eq!(bytes.len(), 5 + body.len() + 3 + first.overhead());
            assert_ne!(bytes, sealed(&first, b"front", &[body, b"", b"end"]));
            let whole = [b"front", body, b"end"].concat();
            assert_eq!(opened(&first, b"L", bytes.clone()), Ok(whole.clone()));
            all.rotate(&*posthaste_env::os().entropy, "2026-01-02");
            let later = run(&all);
            assert_eq!(opened(&later, b"L", bytes.clone()), Ok(whole));
            assert!(matches!(
                opened(&run(&keys()), b"L", bytes),
                Err(NotOpened::UnknownKey(_))
            ));
            let newer = sealed(&later, b"front", &[body]);
            assert!(
                opened(&first, b"L", newer).is_err(),
                "sealed with a newer data key"
            );
        }
    }

    #[test]
    fn nothing_that_was_changed_opens() {
        let cipher = run(&keys());
        let bytes = sealed(&cipher, b"front", &[b"body"]);
        assert!(opened(&cipher, b"L", bytes.clone()).is_ok());
        assert_eq!(
            opened(&cipher, b"Q", bytes.clone()),
            Err(NotOpened::Changed)
        );
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut wrong = bytes.clone();
                wrong[at] ^= 1 << bit;
                assert!(opened(&cipher, b"L", wrong).is_err(), "{at}, {bit}");
            }
        }
        for length in 5..bytes.len() {
            assert!(
                opened(&cipher, b"L", bytes[..length].to_vec()).is_err(),
                "{length}"
            );
        }
        let mut moved = bytes.clone();
        moved.insert(0, 1);
        assert!(opened(&cipher, b"L", moved).is_err());
    }

    /// Equal bodies at equal places differ in every run and every time: no nonce comes twice under one key.
    #[test]
    fn no_two_runs_share_a_key_and_no_two_bodies_a_nonce() {
        let all = keys();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..4 {
            let cipher = run(&all);
            for _ in 0..100 {
                let bytes = sealed(&cipher, b"", &[&[0; 32]]);
                assert!(seen.insert(bytes[..32].to_vec()), "a key stream came twice");
            }
        }
    }

    #[test]
    fn the_run_keys_that_are_kept_are_bounded() {
        let all = keys();
        let cipher = run(&all);
        for _ in 0..=KNOWN {
            let bytes = sealed(&run(&all), b"front", &[b"body"]);
            assert!(opened(&cipher, b"L", bytes).is_ok());
        }
        assert!(cipher.open.lock().len() <= KNOWN);
    }

    #[test]
    fn many_threads_seal_and_open_at_once() {
        let cipher = run(&keys());
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let cipher = &cipher;
                scope.spawn(move || {
                    for _ in 0..500 {
                        let bytes = sealed(cipher, b"front", &[&[thread; 100]]);
                        let whole = opened(cipher, b"L", bytes).unwrap();
                        assert_eq!(whole[5..], [thread; 100]);
                    }
                });
            }
        });
    }
}
