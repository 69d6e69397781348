//! The private keys in a PKCS#12 file. OpenSSL's reader gives the first one only, and a key repository may hold several
//! under different labels; the certificates beside them it gives all.
//!
//! Invariant: nothing but the structure around the keys is read here (RFC 7292, section 4). Whatever is not as expected
//! means no keys from here, never a panic; OpenSSL decrypts them, and has checked the file's integrity before.

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const OCTETS: u8 = 0x04;
const EXPLICIT: u8 = 0xA0;
const INTEGER: u8 = 0x02;

/// 1.2.840.113549.1.7.1: data that is not encrypted as a whole.
const DATA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01];
/// 1.2.840.113549.1.12.10.1.1 and .2: a key, and a key that is encrypted.
const KEY_BAGS: [&[u8]; 2] = [
    &[
        0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x01,
    ],
    &[
        0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, 0x02,
    ],
];

/// The keys of a file, each as PKCS#8, encrypted or not, in the file's order.
pub(crate) fn key_bags(file: &[u8]) -> Vec<&[u8]> {
    authenticated(file).unwrap_or_default()
}

fn authenticated(file: &[u8]) -> Option<Vec<&[u8]>> {
    let mut file = Reader(Reader(file).take(SEQUENCE)?);
    file.take(INTEGER)?;
    let safe = data(file.take(SEQUENCE)?)?;
    let mut infos = Reader(Reader(safe).take(SEQUENCE)?);
    let mut keys = Vec::new();
    while !infos.0.is_empty() {
        let info = infos.take(SEQUENCE)?;
        if let Some(contents) = data(info) {
            let mut bags = Reader(Reader(contents).take(SEQUENCE)?);
            while !bags.0.is_empty() {
                let mut bag = Reader(bags.take(SEQUENCE)?);
                let kind = bag.take(OBJECT)?;
                let value = bag.take(EXPLICIT)?;
                if KEY_BAGS.contains(&kind) {
                    keys.push(value);
                }
            }
        }
    }
    Some(keys)
}

/// What is in a ContentInfo, if it is data that is not encrypted as a whole.
fn data(info: &[u8]) -> Option<&[u8]> {
    let mut info = Reader(info);
    let kind = info.take(OBJECT)?;
    let content = info.take(EXPLICIT)?;
    (kind == DATA).then(|| Reader(content).take(OCTETS))?
}

/// Values one behind the other, each a tag, a length and as many bytes (DER).
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The contents of the next value, which has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&found, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7F => (usize::from(first), rest),
            // Four bytes of length are more than any file has.
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                let length = digits
                    .iter()
                    .fold(0, |sum, digit| sum << 8 | usize::from(*digit));
                (length, rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (found == tag).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_cut_or_changed_gives_no_keys_and_no_panic() {
        let file = crate::development::tests::store_with_one_key();
        assert_eq!(key_bags(&file).len(), 1);
        for length in 0..file.len() {
            key_bags(&file[..length]);
            let mut changed = file.clone();
            for byte in [0x00, 0x80, 0x84, 0xFF] {
                changed[length] = byte;
                key_bags(&changed);
            }
        }
        assert!(key_bags(&[]).is_empty() && key_bags(&[0x30, 0x80]).is_empty());
    }
}
