//! A key of 256 bits, how it is written, and how others are derived from it.
//!
//! Invariants: a key is erased when it is dropped, and is in no error and in no `Debug`.

use openssl::error::ErrorStack;
use openssl::md::Md;
use openssl::pkey::Id;
use openssl::pkey_ctx::PkeyCtx;
use posthaste_env::Entropy;
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a key.
pub(crate) const KEY: usize = 32;

/// A key.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; KEY]>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why a text is no key. It says nothing of what the text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it holds no key: a key is 64 hexadecimal digits, or 32 bytes in base64 (openssl rand -hex 32)"
)]
pub struct KeyError;

impl Key {
    /// A new one.
    pub(crate) fn random(entropy: &dyn Entropy) -> Key {
        let mut bytes = [0; KEY];
        entropy.fill(&mut bytes);
        Key::taken(&mut bytes)
    }

    /// One of these bytes, which are erased.
    pub(crate) fn taken(bytes: &mut [u8; KEY]) -> Key {
        let key = Key(Zeroizing::new(*bytes));
        bytes.zeroize();
        key
    }

    /// Reads a key as a key file has it and a key command prints it: 64 hexadecimal digits, or base64 of 32 bytes, with
    /// white space around it.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &[u8]) -> Result<Key, KeyError> {
        let text = text.trim_ascii();
        let mut bytes = match text.len() {
            64 => Zeroizing::new(from_hex(text).ok_or(KeyError)?),
            _ => {
                let text = std::str::from_utf8(text).map_err(|_| KeyError)?;
                let decoded = openssl::base64::decode_block(text);
                Zeroizing::new(decoded.map_err(|_| KeyError)?)
            }
        };
        let bytes: &mut [u8; KEY] = bytes.as_mut_slice().try_into().map_err(|_| KeyError)?;
        Ok(Key::taken(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }

    /// The key that follows from this one for a salt and a use (HKDF with SHA-256, RFC 5869).
    pub(crate) fn derive(&self, salt: &[u8], info: &[u8]) -> Key {
        match hkdf(self.bytes(), salt, info) {
            Ok(key) => key,
            // Nothing in it depends on the values: lengths and algorithm are constants.
            Err(error) => panic!("OpenSSL cannot derive a key: {error}"),
        }
    }
}

fn hkdf(key: &[u8], salt: &[u8], info: &[u8]) -> Result<Key, ErrorStack> {
    let mut context = PkeyCtx::new_id(Id::HKDF)?;
    context.derive_init()?;
    context.set_hkdf_md(Md::sha256())?;
    context.set_hkdf_key(key)?;
    context.set_hkdf_salt(salt)?;
    context.add_hkdf_info(info)?;
    let mut out = [0; KEY];
    context.derive(Some(&mut out))?;
    Ok(Key::taken(&mut out))
}

/// Bytes of hexadecimal digits; none: it has others.
pub(crate) fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    // Room for all at once: what grows leaves copies behind, and these may be a key.
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for pair in text.chunks_exact(2) {
        bytes.push((digit(&pair[0])? << 4) | digit(&pair[1])?);
    }
    Some(bytes)
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// RFC 5869, test case 1: the first 32 bytes.
    #[test]
    fn keys_are_derived_as_the_standard_says() {
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let key = hkdf(&[0x0b; 22], &salt, &info).unwrap();
        let expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf";
        assert_eq!(to_hex(key.bytes()), expected);
    }

    #[test]
    fn a_key_is_read_in_both_spellings_and_nothing_else_is_one() {
        let hex = "00".repeat(31) + "fF";
        let mut bytes = [0; KEY];
        bytes[31] = 0xff;
        let base64 = openssl::base64::encode_block(&bytes);
        for text in [
            &hex,
            &format!("  {hex}\r\n"),
            &base64,
            &format!("{base64}\n"),
        ] {
            assert_eq!(
                Key::parse(text.as_bytes()).unwrap().bytes(),
                &bytes,
                "{text}"
            );
        }
        let short = openssl::base64::encode_block(&[7; 31]);
        let long = openssl::base64::encode_block(&[7; 33]);
        let wrong = [
            "",
            "password",
            &hex[..63],
            &"0g".repeat(32),
            &short,
            &long,
            "é",
        ];
        for text in wrong {
            assert_eq!(Key::parse(text.as_bytes()).unwrap_err(), KeyError, "{text}");
        }
        assert!(Key::parse(&[0xff; 32]).is_err());
        assert_eq!(
            format!("{:?}", Key::parse(hex.as_bytes()).unwrap()),
            "Key(..)"
        );
    }
}
