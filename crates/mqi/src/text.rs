//! Text in the coded character sets that structures themselves may use.
//!
//! Only the sets that MQCHARV strings and MQRFH2 folders need are known: UTF-8, UTF-16
//! and ISO 8859-1. Message data are never converted here.
//!
//! Invariants:
//! * Decoding is exact or refused; nothing is replaced by a substitute character.
//! * A character beyond the Basic Multilingual Plane may come in UTF-8 as two surrogates of three bytes each, as IBM's Java
//!   client writes it in selectors and topic strings, and wants it back: it reads none of four bytes there.

use crate::ByteOrder;
use crate::constants::{MQCCSI_APPL, MQCCSI_Q_MGR};

/// Identifiers and other bytes as they are shown: two hexadecimal digits each, in capitals.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// UTF-8.
pub(crate) const UTF_8: i32 = 1208;
const ISO_8859_1: i32 = 819;
/// UTF-16 and its two older subsets.
const UTF_16: [i32; 3] = [1200, 13488, 17584];

/// Whether a CCSID means UTF-16, in the byte order of the structure.
pub(crate) fn is_utf_16(ccsid: i32) -> bool {
    UTF_16.contains(&ccsid)
}

/// Whether text in a CCSID can be read at all.
pub(crate) fn is_known(ccsid: i32) -> bool {
    matches!(ccsid, UTF_8 | MQCCSI_Q_MGR | MQCCSI_APPL | ISO_8859_1) || is_utf_16(ccsid)
}

/// The text of bytes in a coded character set; `None` when the set is not known or the
/// bytes are not valid in it. The queue manager's and the application's own sets count as
/// UTF-8, which is what this queue manager uses.
pub(crate) fn decode(bytes: &[u8], ccsid: i32, order: ByteOrder) -> Option<String> {
    match ccsid {
        UTF_8 | MQCCSI_Q_MGR | MQCCSI_APPL => decode_utf_8(bytes),
        ISO_8859_1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        _ if is_utf_16(ccsid) => decode_utf_16(bytes, order),
        _ => None,
    }
}

/// Whether UTF-8 has characters in two surrogates each.
pub(crate) fn has_surrogates(bytes: &[u8], ccsid: i32) -> bool {
    matches!(ccsid, UTF_8 | MQCCSI_Q_MGR | MQCCSI_APPL) && str::from_utf8(bytes).is_err()
}

/// Text in UTF-8, but with what is beyond the Basic Multilingual Plane in two surrogates each.
pub(crate) fn in_surrogates(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        let mut units = [0; 2];
        match character.encode_utf16(&mut units) {
            [high, low] => {
                for unit in [*high, *low] {
                    let continues = |bits: u16| 0x80 | (bits & 0x3f) as u8;
                    bytes.extend([0xed, continues(unit >> 6), continues(unit)]);
                }
            }
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn decode_utf_8(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut rest = bytes;
    loop {
        let fault = match str::from_utf8(rest) {
            Ok(valid) if text.is_empty() => return Some(String::from(valid)),
            Ok(valid) => {
                text.push_str(valid);
                return Some(text);
            }
            Err(fault) => fault,
        };
        let (valid, behind) = rest.split_at_checked(fault.valid_up_to())?;
        text.push_str(str::from_utf8(valid).ok()?);
        let (pair, behind) = behind.split_first_chunk::<6>()?;
        text.push(of_surrogates(*pair)?);
        rest = behind;
    }
}

/// The character whose two surrogates have three bytes each.
fn of_surrogates(bytes: [u8; 6]) -> Option<char> {
    let [0xed, a, b, 0xed, c, d] = bytes else {
        return None;
    };
    let continues = |byte: u8| byte & 0xc0 == 0x80;
    if ![a, b, c, d].into_iter().all(continues) {
        return None;
    }
    let unit = |high: u8, low: u8| 0xd000 | u16::from(high & 0x3f) << 6 | u16::from(low & 0x3f);
    // Anything but a high surrogate and a low one behind it is refused.
    let mut characters = char::decode_utf16([unit(a, b), unit(c, d)]);
    let character = characters.next()?.ok()?;
    characters.next().is_none().then_some(character)
}

/// The text of bytes in UTF-16, if that is what they are.
pub fn decode_utf_16(bytes: &[u8], order: ByteOrder) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units = pairs.iter().map(|pair| match order {
        ByteOrder::Big => u16::from_be_bytes(*pair),
        ByteOrder::Little => u16::from_le_bytes(*pair),
    });
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .ok()
}

/// Appends text as UTF-16 when the CCSID says so, and as UTF-8 otherwise.
pub(crate) fn encode(text: &str, ccsid: i32, order: ByteOrder, out: &mut Vec<u8>) {
    if is_utf_16(ccsid) {
        for unit in text.encode_utf16() {
            order.put_u16(out, unit);
        }
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_set_decodes_exactly() {
        let rows: [(&[u8], i32, ByteOrder, Option<&str>); 12] = [
            (b"a/b", 1208, ByteOrder::Big, Some("a/b")),
            (b"a/b", 0, ByteOrder::Big, Some("a/b")),
            (b"a/b", -3, ByteOrder::Big, Some("a/b")),
            ("\u{e9}".as_bytes(), 1208, ByteOrder::Little, Some("\u{e9}")),
            (&[0xff], 1208, ByteOrder::Big, None),
            (&[0xe9], 819, ByteOrder::Big, Some("\u{e9}")),
            (&[0, 0x41], 1200, ByteOrder::Big, Some("A")),
            (&[0x41, 0], 13488, ByteOrder::Little, Some("A")),
            (
                &[0xd8, 0x3d, 0xde, 0x00],
                17584,
                ByteOrder::Big,
                Some("\u{1f600}"),
            ),
            (&[0xd8, 0x3d], 1200, ByteOrder::Big, None),
            (&[0], 1200, ByteOrder::Big, None),
            (b"a", 500, ByteOrder::Big, None),
        ];
        for (bytes, ccsid, order, text) in rows {
            assert_eq!(
                decode(bytes, ccsid, order).as_deref(),
                text,
                "{bytes:?} in {ccsid}"
            );
        }
    }

    #[test]
    fn a_character_in_two_surrogates_is_read() {
        let read = |bytes: &[u8]| decode(bytes, 1208, ByteOrder::Big);
        let (high, low) = (b"\xed\xa0\xbd", b"\xed\xb8\x80");
        let pair = [&high[..], low].concat();
        assert_eq!(read(&pair).as_deref(), Some("\u{1f600}"));
        let among = [b"a = '", &pair[..], &pair, "é'".as_bytes()].concat();
        assert_eq!(read(&among).as_deref(), Some("a = '\u{1f600}\u{1f600}é'"));
        let (first, last) = (b"\xed\xa0\x80\xed\xb0\x80", b"\xed\xaf\xbf\xed\xbf\xbf");
        assert_eq!(read(first).as_deref(), Some("\u{10000}"));
        assert_eq!(read(last).as_deref(), Some("\u{10ffff}"));
        for bytes in [&among[..], first, last, "é\u{ffff}".as_bytes()] {
            let text = read(bytes).unwrap_or_default();
            assert_eq!(in_surrogates(&text), bytes, "{text}");
        }
        for wrong in [
            &high[..],
            low,
            &[&low[..], high].concat(),
            &[&high[..], high].concat(),
            &[&high[..], b"abc"].concat(),
            &[&pair[..], high].concat(),
            b"\xed\xa0\x3d\xed\xb8\x80",
            b"\xed\xa0\xbd\xed\x78\x80",
        ] {
            assert_eq!(read(wrong), None, "{wrong:x?}");
        }
    }

    #[test]
    fn encoding_is_the_reverse() {
        for ccsid in [1208, 1200] {
            for order in [ByteOrder::Big, ByteOrder::Little] {
                let mut out = Vec::new();
                encode("x\u{1f600}", ccsid, order, &mut out);
                assert_eq!(decode(&out, ccsid, order).as_deref(), Some("x\u{1f600}"));
            }
        }
    }
}
