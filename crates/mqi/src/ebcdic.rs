//! Names in EBCDIC.
//!
//! Invariant: what is mapped here has one place in all the coded character sets of [`is_ebcdic`]: the characters that names of
//! objects and of formats are made of, and the padding (manual: "Rules for naming IBM MQ objects").

/// Whether a coded character set is a single-byte EBCDIC one.
pub fn is_ebcdic(ccsid: u16) -> bool {
    matches!(
        ccsid,
        37 | 273
            | 277
            | 278
            | 280
            | 284
            | 285
            | 297
            | 424
            | 500
            | 870
            | 871
            | 875
            | 880
            | 1025
            | 1026
            | 1047
            | 1140..=1149
    )
}

/// A character of a name, in ASCII. Any other is SUB, which no name has.
pub(crate) fn to_ascii(byte: u8) -> u8 {
    match byte {
        0 => 0,
        0x40 => b' ',
        0x4B => b'.',
        0x61 => b'/',
        0x6C => b'%',
        0x6D => b'_',
        0x81..=0x89 => byte - 0x81 + b'a',
        0x91..=0x99 => byte - 0x91 + b'j',
        0xA2..=0xA9 => byte - 0xA2 + b's',
        0xC1..=0xC9 => byte - 0xC1 + b'A',
        0xD1..=0xD9 => byte - 0xD1 + b'J',
        0xE2..=0xE9 => byte - 0xE2 + b'S',
        0xF0..=0xF9 => byte - 0xF0 + b'0',
        _ => 0x1A,
    }
}

/// What [`to_ascii`] makes this character of; of any other SUB.
pub(crate) fn from_ascii(byte: u8) -> u8 {
    match byte {
        0 => 0,
        b' ' => 0x40,
        b'.' => 0x4B,
        b'/' => 0x61,
        b'%' => 0x6C,
        b'_' => 0x6D,
        b'a'..=b'i' => byte - b'a' + 0x81,
        b'j'..=b'r' => byte - b'j' + 0x91,
        b's'..=b'z' => byte - b's' + 0xA2,
        b'A'..=b'I' => byte - b'A' + 0xC1,
        b'J'..=b'R' => byte - b'J' + 0xD1,
        b'S'..=b'Z' => byte - b'S' + 0xE2,
        b'0'..=b'9' => byte - b'0' + 0xF0,
        _ => 0x3F,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_names_are_found_and_others_are_not_taken_for_them() {
        let name = [
            0xC1, 0xC9, 0xD1, 0xD9, 0xE2, 0xE9, 0x81, 0x89, 0x91, 0x99, 0xA2, 0xA9, 0xF0, 0xF5,
            0xF9, 0x4B, 0x61, 0x6D, 0x6C, 0x40, 0x00,
        ];
        assert_eq!(&name.map(to_ascii), b"AIJRSZaijrsz059./_% \0");
        assert_eq!(name.map(to_ascii).map(from_ascii), name);
        assert_eq!(from_ascii(b'-'), 0x3F);
        // A no-break space, which would be an A.
        assert_eq!(to_ascii(0x41), 0x1A);
    }
}
