//! Coded character sets by their identifiers (CCSID), and text from one to another.
//!
//! | CCSID | table |
//! | --- | --- |
//! | 1208 | UTF-8 |
//! | 1200, 13488, 17584 | UTF-16 in the byte order of the data's encoding |
//! | 1202 | UTF-16, least significant byte first |
//! | 819, 437, 850, 858, and EBCDIC 37, 500, 1047, 1140, 1148 | `code_pages` |
//! | 912, 915, 923, 878, 1250 to 1254, 1257 | `encoding_rs`: ISO 8859-2, -5, -15, KOI8-R, Windows; a byte that Windows leaves open is the control character of that number |
//! | 943 | `encoding_rs`, Shift_JIS, but for five characters and the user-defined ones, which are here as in IBM-943 (with X'5C' and X'7E' as in ASCII) |
//! | 1386 | `encoding_rs`, GBK, which has the euro at X'80' as 1386 has, and at X'A2E3' too; four bytes a character, as GB18030 has them, are refused |
//!
//! Invariants: text that is not valid in its set is refused, never guessed; a character that the other set lacks becomes
//! its SUB (X'1A', in EBCDIC X'3F'), as in the conversions of the manual. From EBCDIC to another family X'15' (NL) becomes
//! a line feed, which is what MQ does by default (ConvEBCDICNewline=NL_TO_LF).

use encoding_rs::{EncoderResult, Encoding};
use posthaste_mqi::{ByteOrder, Reason, decode_utf_16};
use std::borrow::Cow;

use crate::code_pages as pages;
use crate::code_pages::CodePage;

/// How text is read and written.
#[derive(Clone, Copy)]
enum Form {
    Utf8,
    /// In this byte order, or in that of the data.
    Utf16(Option<ByteOrder>),
    /// One byte a character, the lower half ASCII.
    Ascii(&'static CodePage),
    Ebcdic(&'static CodePage),
    /// ASCII and more, by the library's tables.
    Library(&'static Encoding),
    Japanese,
    Chinese,
}

/// A coded character set, and the byte order that its data have.
#[derive(Clone, Copy)]
pub(crate) struct CharacterSet {
    ccsid: i32,
    form: Form,
    order: Option<ByteOrder>,
}

/// Why text could not be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextError {
    /// The bytes are not valid in their set.
    Invalid,
    /// The set to convert from takes its byte order from an encoding that has none.
    SourceOrder,
    /// The set to convert to does.
    TargetOrder,
}

impl From<TextError> for Reason {
    fn from(error: TextError) -> Reason {
        match error {
            TextError::Invalid => Reason::NOT_CONVERTED,
            TextError::SourceOrder => Reason::SOURCE_INTEGER_ENC_ERROR,
            TextError::TargetOrder => Reason::TARGET_INTEGER_ENC_ERROR,
        }
    }
}

impl CharacterSet {
    /// The set with an identifier, if it is known here; `encoding` is that of the data (MQENC_).
    pub(crate) fn new(ccsid: i32, encoding: i32) -> Option<CharacterSet> {
        let form = match ccsid {
            1208 => Form::Utf8,
            1200 | 13488 | 17584 => Form::Utf16(None),
            1202 => Form::Utf16(Some(ByteOrder::Little)),
            819 => Form::Ascii(&pages::PAGE_819),
            437 => Form::Ascii(&pages::PAGE_437),
            850 => Form::Ascii(&pages::PAGE_850),
            858 => Form::Ascii(&pages::PAGE_858),
            37 => Form::Ebcdic(&pages::PAGE_37),
            500 => Form::Ebcdic(&pages::PAGE_500),
            1047 => Form::Ebcdic(&pages::PAGE_1047),
            1140 => Form::Ebcdic(&pages::PAGE_1140),
            1148 => Form::Ebcdic(&pages::PAGE_1148),
            912 => Form::Library(encoding_rs::ISO_8859_2),
            915 => Form::Library(encoding_rs::ISO_8859_5),
            923 => Form::Library(encoding_rs::ISO_8859_15),
            878 => Form::Library(encoding_rs::KOI8_R),
            1250 => Form::Library(encoding_rs::WINDOWS_1250),
            1251 => Form::Library(encoding_rs::WINDOWS_1251),
            1252 => Form::Library(encoding_rs::WINDOWS_1252),
            1253 => Form::Library(encoding_rs::WINDOWS_1253),
            1254 => Form::Library(encoding_rs::WINDOWS_1254),
            1257 => Form::Library(encoding_rs::WINDOWS_1257),
            943 => Form::Japanese,
            1386 => Form::Chinese,
            _ => return None,
        };
        Some(CharacterSet {
            ccsid,
            form,
            order: ByteOrder::of_encoding(encoding),
        })
    }

    /// Its identifier.
    pub(crate) fn ccsid(&self) -> i32 {
        self.ccsid
    }

    /// Whether the characters of names take one byte each, as fields of structures ask.
    pub(crate) fn suits_structures(&self) -> bool {
        !matches!(self.form, Form::Utf16(_))
    }

    /// The byte of a blank, where that is one byte.
    pub(crate) fn blank(&self) -> u8 {
        match self.form {
            Form::Ebcdic(_) => 0x40,
            _ => b' ',
        }
    }

    fn is_ascii_based(&self) -> bool {
        !matches!(self.form, Form::Utf16(_) | Form::Ebcdic(_))
    }

    /// The text of bytes.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, str>, TextError> {
        let text = match self.form {
            Form::Utf8 => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Form::Utf16(order) => {
                let order = order.or(self.order).ok_or(TextError::SourceOrder)?;
                decode_utf_16(bytes, order).map(Cow::Owned)
            }
            Form::Ascii(page) | Form::Ebcdic(page) => {
                Some(bytes.iter().map(|byte| page.character(*byte)).collect())
            }
            Form::Library(library) => read(library, bytes),
            Form::Japanese => read(encoding_rs::SHIFT_JIS, bytes).map(|text| {
                let own = |of_windows: char| swapped(of_windows, |(ibm, windows)| (windows, ibm));
                text.chars().map(own).collect()
            }),
            Form::Chinese if has_four_bytes(bytes) => None,
            Form::Chinese => read(encoding_rs::GBK, bytes),
        };
        text.ok_or(TextError::Invalid)
    }

    /// Appends text; what the set lacks as its SUB.
    pub(crate) fn encode(&self, text: &str, out: &mut Vec<u8>) -> Result<(), TextError> {
        match self.form {
            Form::Utf8 => out.extend_from_slice(text.as_bytes()),
            Form::Utf16(order) => {
                let order = order.or(self.order).ok_or(TextError::TargetOrder)?;
                text.encode_utf16()
                    .for_each(|unit| order.put_u16(out, unit));
            }
            Form::Ascii(page) => out.extend(text.chars().map(|c| page.byte(c).unwrap_or(SUB))),
            Form::Ebcdic(page) => {
                out.extend(text.chars().map(|c| page.byte(c).unwrap_or(EBCDIC_SUB)));
            }
            Form::Library(library) => write(library, text, out, |_| None),
            Form::Japanese => {
                let of_windows = |own: char| swapped(own, |(ibm, windows)| (ibm, windows));
                let text: String = text.chars().map(of_windows).collect();
                write(encoding_rs::SHIFT_JIS, &text, out, user_defined);
            }
            Form::Chinese => write(encoding_rs::GBK, text, out, |_| None),
        }
        Ok(())
    }

    /// Appends text of this set as text of another.
    pub(crate) fn convert(
        &self,
        bytes: &[u8],
        to: &CharacterSet,
        out: &mut Vec<u8>,
    ) -> Result<(), TextError> {
        if self.is_ascii_based() && to.is_ascii_based() && bytes.is_ascii() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let mut text = self.decode(bytes)?;
        let leaves_ebcdic =
            matches!(self.form, Form::Ebcdic(_)) && !matches!(to.form, Form::Ebcdic(_));
        if leaves_ebcdic && text.contains(NEW_LINE) {
            text = Cow::Owned(text.replace(NEW_LINE, "\n"));
        }
        to.encode(&text, out)
    }
}

/// SUB.
const SUB: u8 = 0x1A;
const EBCDIC_SUB: u8 = 0x3F;
/// NEL, which EBCDIC calls NL.
const NEW_LINE: char = '\u{85}';

/// Where IBM-943 has other characters than the Shift_JIS of Windows.
const JAPANESE: [(char, char); 5] = [
    ('\u{2014}', '\u{2015}'),
    ('\u{301C}', '\u{FF5E}'),
    ('\u{2016}', '\u{2225}'),
    ('\u{2212}', '\u{FF0D}'),
    ('\u{A6}', '\u{FFE4}'),
];

/// The other of a pair of [`JAPANESE`].
fn swapped(character: char, side: impl Fn((char, char)) -> (char, char)) -> char {
    let found = JAPANESE
        .into_iter()
        .map(side)
        .find(|(from, _)| *from == character);
    found.map_or(character, |(_, to)| to)
}

/// The bytes of a user-defined character of 943: 188 to a row, the rows from X'F0'.
fn user_defined(character: char) -> Option<[u8; 2]> {
    let number = u32::from(character).checked_sub(0xE000)?;
    let (row, cell) = (number / 188, number % 188);
    if row >= 10 {
        return None;
    }
    // X'7F' is left out.
    let trail = cell + if cell < 63 { 0x40 } else { 0x41 };
    Some([u8::try_from(0xF0 + row).ok()?, u8::try_from(trail).ok()?])
}

/// Whether GBK bytes have a character of GB18030: its second byte is a digit.
fn has_four_bytes(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [lead, after @ ..] = rest {
        rest = match (lead, after) {
            (0x81..=0xFE, [b'0'..=b'9', ..]) => return true,
            (0x81..=0xFE, [_, after @ ..]) => after,
            _ => after,
        };
    }
    false
}

fn read<'a>(library: &'static Encoding, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
    library.decode_without_bom_handling_and_without_replacement(bytes)
}

/// Appends text by the library's tables; `other` knows characters that these do not have.
fn write(
    library: &'static Encoding,
    text: &str,
    out: &mut Vec<u8>,
    other: impl Fn(char) -> Option<[u8; 2]>,
) {
    let mut encoder = library.new_encoder();
    let mut rest = text;
    let mut room = [0; 1024];
    while !rest.is_empty() {
        let (result, taken, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut room, true);
        out.extend_from_slice(room.get(..written).unwrap_or_default());
        rest = rest.get(taken..).unwrap_or_default();
        if let EncoderResult::Unmappable(character) = result {
            match other(character) {
                Some(bytes) => out.extend_from_slice(&bytes),
                None => out.push(SUB),
            }
        }
    }
}
