//! How much of a message's data are MQ headers: structures in front of the application's data, each named by the format before it.
//!
//! Sources: MQ reference, "Report options and message flags", "Reports and segmented messages".
//!
//! Invariant: a header that is cut short, or says that it is shorter than its fixed part, is data of the application.

use crate::{ByteOrder, Chars};

/// What comes next in a message.
#[derive(Clone, Copy)]
struct Following {
    format: Chars<8>,
    encoding: i32,
}

/// Bytes of the fixed part that all headers with a length of their own begin with.
const COMMON: usize = 32;

/// Bytes of the headers at the beginning of data in pieces, of which each header lies in one.
pub fn headers_length(format: Chars<8>, encoding: i32, parts: [&[u8]; 2]) -> usize {
    let mut following = Following { format, encoding };
    let mut length = 0;
    for part in parts {
        let mut rest = part;
        while let Some((used, behind)) = header(following, rest) {
            length += used;
            following = behind;
            rest = rest.get(used..).unwrap_or_default();
        }
        if !rest.is_empty() {
            break;
        }
    }
    length
}

/// The length of the header that data begin with, and what follows it.
fn header(this: Following, data: &[u8]) -> Option<(usize, Following)> {
    let order = ByteOrder::of_encoding(this.encoding)?;
    let name = this.format.text();
    // Where encoding, character set and format of what follows stand.
    let (length, at) = match name.as_ref() {
        "MQDEAD" => (172, 108),
        "MQXMIT" => (428, 128),
        "MQIMS" | "MQCICS" => (own_length(order, data)?, 12),
        name if name.starts_with("MQH") => (own_length(order, data)?, 12),
        _ => return None,
    };
    if data.len() < length {
        return None;
    }
    let format = data.get(at + 8..at + 16)?.first_chunk::<8>()?;
    let behind = Following {
        format: Chars::from_bytes(*format),
        encoding: order.get_i32(data, at)?,
    };
    Some((length, behind))
}

fn own_length(order: ByteOrder, data: &[u8]) -> Option<usize> {
    let length = usize::try_from(order.get_i32(data, 8)?).ok()?;
    (length >= COMMON).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dlh, PointerSize, Rfh2};

    const BIG: i32 = 273;
    const LITTLE: i32 = 546;

    /// A dead-letter header in front of an MQRFH2 in the other byte order, and of a text.
    fn sample() -> (Vec<u8>, Vec<u8>) {
        let dlh = Dlh {
            encoding: BIG,
            format: Chars::new("MQHRF2"),
            ..Dlh::default()
        };
        let mut first = Vec::new();
        dlh.encode(&mut first, ByteOrder::Little, PointerSize::Four);
        let rfh2 = Rfh2 {
            encoding: LITTLE,
            format: Chars::new("MQSTR"),
            folders: vec!["<usr><a>1</a></usr>".to_owned()],
            ..Rfh2::default()
        };
        let mut rest = Vec::new();
        rfh2.encode(&mut rest, ByteOrder::Big, PointerSize::Four);
        (first, rest)
    }

    #[test]
    fn headers_are_followed_through_both_parts() {
        let (first, rest) = sample();
        let headers = first.len() + rest.len();
        let text = [&rest[..], b"MQHRF2 is not here"].concat();
        let whole = [&first[..], &text].concat();
        let dead = Chars::new("MQDEAD");
        for parts in [[&whole[..], b""], [&first, &text], [b"", &whole]] {
            assert_eq!(headers_length(dead, LITTLE, parts), headers);
        }
        assert_eq!(
            headers_length(Chars::new("MQSTR"), LITTLE, [&whole, b""]),
            0
        );
    }

    #[test]
    fn what_is_no_whole_header_is_data() {
        let (first, rest) = sample();
        let whole = [&first[..], &rest].concat();
        let dead = Chars::new("MQDEAD");
        let cut = &whole[..whole.len() - 1];
        assert_eq!(headers_length(dead, LITTLE, [cut, b""]), first.len());
        assert_eq!(headers_length(dead, LITTLE, [&first[..171], b""]), 0);
        assert_eq!(headers_length(dead, 0, [&whole, b""]), 0);
        for wrong in [-1i32, 0, 31, i32::MAX] {
            let mut rest = rest.clone();
            rest[8..12].copy_from_slice(&wrong.to_be_bytes());
            assert_eq!(
                headers_length(Chars::new("MQHRF2"), BIG, [&rest, b""]),
                0,
                "{wrong}"
            );
        }
    }
}
