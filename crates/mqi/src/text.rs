//! Text in the coded character sets that structures themselves may use.
//!
//! Only the sets that MQCHARV strings and MQRFH2 folders need are known: UTF-8, UTF-16
//! and ISO 8859-1. Message data are never converted here.
//!
//! Invariant: decoding is exact or refused; nothing is replaced by a substitute character.

use crate::ByteOrder;
use crate::constants::{MQCCSI_APPL, MQCCSI_Q_MGR};

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
        UTF_8 | MQCCSI_Q_MGR | MQCCSI_APPL => str::from_utf8(bytes).ok().map(String::from),
        ISO_8859_1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        _ if is_utf_16(ccsid) => decode_utf_16(bytes, order),
        _ => None,
    }
}

fn decode_utf_16(bytes: &[u8], order: ByteOrder) -> Option<String> {
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
