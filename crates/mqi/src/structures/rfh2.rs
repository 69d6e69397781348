//! MQRFH2, the rules and formatting header 2: 36 bytes and folders.
//!
//! Each folder is a length (a multiple of 4) and that many bytes of XML-like text in the
//! character set NameValueCCSID, padded with blanks. StrucLength covers the fixed part
//! and all folders exactly.
//!
//! Invariant: `folders` holds the texts without their padding, in the order in which they
//! stand. The texts are not parsed here beyond their name.

use crate::codec::{Reader, StructError, Writer};
use crate::constants::{MQCCSI_INHERIT, MQENC_NATIVE, MQRFH_NO_FLAGS};
use crate::{ByteOrder, Chars, PointerSize, Reason, text};
use std::borrow::Cow;

/// Where Format is.
const FORMAT_AT: usize = 20;
const FIXED: usize = 36;
/// `RFH ` in any of the EBCDIC character sets.
const STRUC_ID_IN_EBCDIC: [u8; 4] = [0xD9, 0xC6, 0xC8, 0x40];

/// Rules and formatting header 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rfh2 {
    /// Encoding of the data that follow the header.
    pub encoding: i32,
    /// Character set of the data that follow the header.
    pub coded_char_set_id: i32,
    /// Format of the data that follow the header.
    pub format: Chars<8>,
    /// Flags (MQRFH_).
    pub flags: i32,
    /// Character set of the folders: 1208 (UTF-8), or 1200, 13488, 17584 (UTF-16).
    pub name_value_ccsid: i32,
    /// The folders, without padding.
    pub folders: Vec<String>,
    /// StrucId and Format are in EBCDIC, as those of a message from z/OS are; `format` here is not.
    pub in_ebcdic: bool,
}

impl Default for Rfh2 {
    fn default() -> Self {
        Self {
            encoding: MQENC_NATIVE,
            coded_char_set_id: MQCCSI_INHERIT,
            format: Chars::BLANK,
            flags: MQRFH_NO_FLAGS,
            name_value_ccsid: text::UTF_8,
            folders: Vec::new(),
            in_ebcdic: false,
        }
    }
}

impl Rfh2 {
    /// Length in bytes of the fixed part of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 2).then_some(FIXED)
    }

    /// Reads an MQRFH2 with its folders; the bytes used are StrucLength, behind which the
    /// data begin. `order` is the integer order of MQMD.Encoding, or of the header before
    /// this one. Its own characters may be in EBCDIC. A fault is MQRC_RFH_ERROR, or MQRC_RFH_FORMAT_ERROR when a folder's text
    /// is not valid in its character set.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQRFH2", Reason::RFH_ERROR);
        let (mut value, end) = Self::fixed_part(&mut reader)?;
        // One with letters that no format of MQ has could not be written as it was: such a header is left as it is.
        let format = bytes.get(FORMAT_AT..FORMAT_AT + 8).unwrap_or_default();
        if value.in_ebcdic && value.format.name_to_ebcdic().as_bytes() != format {
            return Err(reader.fault_with(Reason::RFH_ERROR, "Format", FORMAT_AT));
        }
        while reader.at() < end {
            let (at, bytes) = read_folder(&mut reader, end)?;
            let folder = text_of(bytes, value.name_value_ccsid, order);
            let folder = folder.map_err(|reason| reader.fault_with(reason, "NameValueData", at))?;
            value.folders.push(folder.into_owned());
        }
        Ok((value, end))
    }

    /// Reads an MQRFH2 for its folders alone, which are given beside a header without any: where the text allows it they
    /// are parts of the input. One that is no text is a fault of its own, and those behind it are read.
    ///
    /// # Errors
    /// Those of [`Rfh2::decode`] that are about the header and the lengths in it.
    pub(crate) fn split(bytes: &[u8], order: ByteOrder) -> Result<Split<'_>, StructError> {
        let pointers = PointerSize::Four;
        let mut reader = Reader::new(bytes, order, pointers, "MQRFH2", Reason::RFH_ERROR);
        let (value, end) = Self::fixed_part(&mut reader)?;
        let mut folders = Vec::new();
        while reader.at() < end {
            let (_, bytes) = read_folder(&mut reader, end)?;
            folders.push(text_of(bytes, value.name_value_ccsid, order));
        }
        Ok((value, folders, end))
    }

    /// Reads what is in front of the folders; and where they end.
    fn fixed_part(reader: &mut Reader<'_>) -> Result<(Self, usize), StructError> {
        let in_ebcdic = reader.all().starts_with(&STRUC_ID_IN_EBCDIC);
        reader.eye_catcher(struc_id(in_ebcdic))?;
        reader.version(2, 2)?;
        let at = reader.at();
        let end = usize::try_from(reader.i32("StrucLength")?)
            .ok()
            .filter(|end| (FIXED..=reader.all().len()).contains(end))
            .ok_or_else(|| reader.fault("StrucLength", at))?;
        let mut value = Self {
            encoding: reader.i32("Encoding")?,
            coded_char_set_id: reader.i32("CodedCharSetId")?,
            format: reader.chars("Format")?,
            flags: reader.i32("Flags")?,
            name_value_ccsid: 0,
            folders: Vec::new(),
            in_ebcdic,
        };
        if in_ebcdic {
            value.format = value.format.name_from_ebcdic();
        }
        let at = reader.at();
        value.name_value_ccsid = reader.i32("NameValueCCSID")?;
        if value.name_value_ccsid != text::UTF_8 && !text::is_utf_16(value.name_value_ccsid) {
            return Err(reader.fault("NameValueCCSID", at));
        }
        Ok((value, end))
    }

    /// Appends the header and its folders, each padded with blanks to a multiple of 4.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let folders: Vec<Vec<u8>> = self
            .folders
            .iter()
            .map(|text| self.padded(text, order))
            .collect();
        let length: usize = FIXED + folders.iter().map(|folder| 4 + folder.len()).sum::<usize>();
        let format = match self.in_ebcdic {
            true => self.format.name_to_ebcdic(),
            false => self.format,
        };
        let mut writer = Writer::new(out, order, pointers);
        writer
            .bytes(struc_id(self.in_ebcdic))
            .i32(2)
            .i32(as_long(length))
            .i32(self.encoding)
            .i32(self.coded_char_set_id)
            .chars(&format)
            .i32(self.flags)
            .i32(self.written_ccsid());
        for folder in &folders {
            writer.i32(as_long(folder.len())).bytes(folder);
        }
    }

    /// The character set folders are written in: only the permitted ones.
    fn written_ccsid(&self) -> i32 {
        if text::is_utf_16(self.name_value_ccsid) {
            self.name_value_ccsid
        } else {
            text::UTF_8
        }
    }

    fn padded(&self, folder: &str, order: ByteOrder) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(folder.len() + 4);
        text::encode(folder, self.name_value_ccsid, order, &mut bytes);
        while bytes.len() % 4 != 0 {
            text::encode(" ", self.name_value_ccsid, order, &mut bytes);
        }
        bytes
    }

    /// Puts a folder in the place of those of its name, at the end.
    pub fn replace_folder(&mut self, name: &str, text: String) {
        self.folders.retain(|text| folder_name(text) != Some(name));
        self.folders.push(text);
    }

    /// The first folder of a name, for example `folder("usr")`.
    pub fn folder(&self, name: &str) -> Option<&str> {
        self.folders
            .iter()
            .map(String::as_str)
            .find(|text| folder_name(text) == Some(name))
    }
}

fn struc_id(in_ebcdic: bool) -> &'static [u8; 4] {
    match in_ebcdic {
        true => &STRUC_ID_IN_EBCDIC,
        false => b"RFH ",
    }
}

/// A header without its folders, these, and the bytes that both take.
pub(crate) type Split<'a> = (Rfh2, Vec<Result<Cow<'a, str>, Reason>>, usize);

/// The bytes of the next folder, and where they begin.
fn read_folder<'a>(reader: &mut Reader<'a>, end: usize) -> Result<(usize, &'a [u8]), StructError> {
    let at = reader.at();
    let fault = reader.fault("NameValueLength", at);
    // The length field itself has to lie inside StrucLength.
    if end - at < 4 {
        return Err(fault);
    }
    let length = usize::try_from(reader.i32("NameValueLength")?).map_err(|_| fault)?;
    if length % 4 != 0 || length > end - reader.at() {
        return Err(fault);
    }
    Ok((reader.at(), reader.slice("NameValueData", length)?))
}

/// The text of a folder, without its padding.
fn text_of(bytes: &[u8], ccsid: i32, order: ByteOrder) -> Result<Cow<'_, str>, Reason> {
    if ccsid == text::UTF_8 {
        let folder = str::from_utf8(bytes).map_err(|_| Reason::RFH_FORMAT_ERROR)?;
        return Ok(Cow::Borrowed(folder.trim_end_matches(' ')));
    }
    let mut folder = text::decode(bytes, ccsid, order).ok_or(Reason::RFH_FORMAT_ERROR)?;
    folder.truncate(folder.trim_end_matches(' ').len());
    Ok(Cow::Owned(folder))
}

/// Name of the outermost element of a folder's text.
fn folder_name(folder: &str) -> Option<&str> {
    let rest = folder.trim_start().strip_prefix('<')?;
    let end = rest.find(|c: char| c == '>' || c == '/' || c.is_whitespace())?;
    rest.get(..end)
}

/// A length as an MQLONG. A message is at most 100 MB, so headers stay far below the
/// limit; a caller that exceeds it gets a value every decoder refuses.
fn as_long(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: (ByteOrder, PointerSize) = (ByteOrder::Big, PointerSize::Four);

    fn bytes_of(header: &Rfh2) -> Vec<u8> {
        let mut out = Vec::new();
        header.encode(&mut out, BIG.0, BIG.1);
        out
    }

    fn sample() -> Rfh2 {
        Rfh2 {
            folders: vec![
                "<mcd><Msd>jms_text</Msd></mcd>".into(),
                "<usr a='1'/>".into(),
            ],
            ..Rfh2::default()
        }
    }

    #[test]
    fn folders_are_found_by_name() {
        let header = sample();
        assert_eq!(header.folder("mcd"), Some("<mcd><Msd>jms_text</Msd></mcd>"));
        assert_eq!(header.folder("usr"), Some("<usr a='1'/>"));
        assert_eq!(header.folder("us"), None);
        for (text, name) in [
            ("<a/>", Some("a")),
            ("  <b>", Some("b")),
            ("<", None),
            ("", None),
            ("x<a>", None),
        ] {
            assert_eq!(folder_name(text), name, "{text:?}");
        }
    }

    #[test]
    fn utf_16_folders_keep_their_set() {
        for ccsid in [1200, 13488, 17584] {
            let header = Rfh2 {
                name_value_ccsid: ccsid,
                folders: vec!["<a>\u{e9}</a>".into(), "<b/>x".into()],
                ..Rfh2::default()
            };
            assert_eq!(
                Rfh2::decode(&bytes_of(&header), BIG.0, BIG.1).unwrap().0,
                header
            );
        }
    }

    #[test]
    fn a_header_in_ebcdic_is_written_as_it_was() {
        let header = Rfh2 {
            format: Chars::new("MQSTR"),
            in_ebcdic: true,
            ..sample()
        };
        let bytes = bytes_of(&header);
        assert_eq!(bytes[..4], STRUC_ID_IN_EBCDIC);
        assert_eq!(&bytes[20..28], b"\xD4\xD8\xE2\xE3\xD9\x40\x40\x40");
        let (read, used) = Rfh2::decode(&bytes, BIG.0, BIG.1).unwrap();
        assert_eq!((read, used), (header, bytes.len()));
        // "MY-FMT": the hyphen would not come back.
        let mut other = bytes;
        other[20..28].copy_from_slice(b"\xD4\xE8\x60\xC6\xD4\xE3\x40\x40");
        assert!(Rfh2::decode(&other, BIG.0, BIG.1).is_err());
        assert!(Rfh2::split(&other, BIG.0).is_ok());
    }

    #[test]
    fn data_behind_the_header_is_left_alone() {
        let mut bytes = bytes_of(&sample());
        let header = bytes.len();
        bytes.extend_from_slice(b"payload");
        assert_eq!(
            Rfh2::decode(&bytes, BIG.0, BIG.1).unwrap(),
            (sample(), header)
        );
    }

    /// Overwrites the big-endian integer at an offset of a sound header.
    fn spoilt(at: usize, value: i32) -> Result<(Rfh2, usize), StructError> {
        let mut bytes = bytes_of(&sample());
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        Rfh2::decode(&bytes, BIG.0, BIG.1)
    }

    #[test]
    fn wrong_lengths_are_refused() {
        let whole = bytes_of(&sample()).len() as i32;
        assert!(spoilt(8, whole).is_ok());
        for (at, value, field) in [
            (4, 1, "Version"),
            (4, 3, "Version"),
            (8, 35, "StrucLength"),
            (8, -1, "StrucLength"),
            (8, whole + 1, "StrucLength"),
            (8, i32::MAX, "StrucLength"),
            (8, whole - 1, "NameValueLength"),
            (8, 38, "NameValueLength"),
            (32, 819, "NameValueCCSID"),
            (32, 0, "NameValueCCSID"),
            (36, 31, "NameValueLength"),
            (36, -4, "NameValueLength"),
            (36, i32::MAX, "NameValueLength"),
            (36, 0x7fff_fffc, "NameValueLength"),
            (36, whole - 36, "NameValueLength"),
        ] {
            let error = spoilt(at, value).unwrap_err();
            assert_eq!(
                (error.field, error.reason),
                (field, Reason::RFH_ERROR),
                "{value} at {at}"
            );
        }
    }

    #[test]
    fn a_header_may_end_without_folders() {
        assert_eq!(spoilt(8, 36).unwrap(), (Rfh2::default(), 36));
    }

    #[test]
    fn text_outside_its_character_set_is_a_format_error() {
        let mut bytes = bytes_of(&sample());
        bytes[41] = 0xff;
        let error = Rfh2::decode(&bytes, BIG.0, BIG.1).unwrap_err();
        assert_eq!(
            (error.reason, error.field, error.offset),
            (Reason::RFH_FORMAT_ERROR, "NameValueData", 40)
        );
    }
}
