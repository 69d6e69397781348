//! Headers of fixed layout, and MQRFH2: what their fields are, and each in another representation.
//!
//! Invariants: a header keeps its length; a text that has become longer loses padding only, else it is refused (2190); the
//! fields that describe what follows are written as that will be.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Chars, Reason};

use crate::character_set::CharacterSet;
use crate::representation::{Ends, Representation};

/// One field of a header.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    /// StrucId.
    EyeCatcher(&'static str),
    /// An integer that has this value: Version, StrucLength.
    Always(i32),
    /// So many integers.
    Longs(usize),
    /// Text of so many bytes.
    Text(usize),
    /// So many bytes that mean the same everywhere.
    Bytes(usize),
    /// Encoding of what follows.
    Encoding,
    /// CodedCharSetId of what follows.
    CodedCharSetId,
    /// Format of what follows.
    Format,
}

use Field::{Always, Bytes, CodedCharSetId, Encoding, EyeCatcher, Format, Longs, Text};

impl Field {
    fn length(self) -> usize {
        match self {
            EyeCatcher(_) | Always(_) | Encoding | CodedCharSetId => 4,
            Longs(count) => 4 * count,
            Text(length) | Bytes(length) => length,
            Format => 8,
        }
    }
}

/// The layout of the header that a format names.
pub(crate) fn layout(format: &Chars<8>) -> Option<&'static [Field]> {
    let all = [
        (mq::MQFMT_DEAD_LETTER_HEADER, DLH),
        (mq::MQFMT_XMIT_Q_HEADER, XQH),
        (mq::MQFMT_MD_EXTENSION, MDE),
        (mq::MQFMT_TRIGGER, TM),
        (mq::MQFMT_RF_HEADER_2, RFH2),
    ];
    let found = all
        .into_iter()
        .find(|(name, _)| *format == Chars::new(name));
    found.map(|(_, layout)| layout)
}

#[rustfmt::skip]
const DLH: &[Field] = &[
    EyeCatcher("DLH "), Always(1), Longs(1), Text(48), Text(48), Encoding, CodedCharSetId, Format, Longs(1), Text(28),
    Text(8), Text(8),
];

/// With the version 1 of MQMD in it.
#[rustfmt::skip]
const XQH: &[Field] = &[
    EyeCatcher("XQH "), Always(1), Text(48), Text(48),
    EyeCatcher("MD  "), Always(1), Longs(4), Encoding, CodedCharSetId, Format, Longs(2), Bytes(24), Bytes(24), Longs(1),
    Text(48), Text(48), Text(12), Bytes(32), Text(32), Longs(1), Text(28), Text(8), Text(8), Text(4),
];

#[rustfmt::skip]
const MDE: &[Field] = &[
    EyeCatcher("MDE "), Always(2), Always(72), Encoding, CodedCharSetId, Format, Longs(1), Bytes(24), Longs(4),
];

#[rustfmt::skip]
const TM: &[Field] = &[
    EyeCatcher("TM  "), Always(1), Text(48), Text(48), Text(64), Longs(1), Text(256), Text(128), Text(128),
];

/// Without its folders.
#[rustfmt::skip]
const RFH2: &[Field] = &[
    EyeCatcher("RFH "), Always(2), Longs(1), Encoding, CodedCharSetId, Format, Longs(2),
];

/// Where MQRFH2 has its whole length, and the character set of its folders.
const RFH2_STRUC_LENGTH: usize = 8;
const RFH2_NAME_VALUE_CCSID: usize = 32;

/// No format has this name.
const NO_FORMAT: Chars<8> = Chars::from_bytes([0x1A; 8]);

/// What a header says of the data behind it.
#[derive(Clone, Copy)]
pub(crate) struct Following {
    pub(crate) representation: Representation,
    pub(crate) format: Chars<8>,
}

/// Bytes of the header that `data` begin with, MQRFH2's folders not counted; and what it says of those behind it, if
/// there may be any.
pub(crate) fn read(
    layout: &[Field],
    data: &[u8],
    set: &CharacterSet,
    order: ByteOrder,
) -> Result<(usize, Option<Following>), Reason> {
    let long = |at| order.get_i32(data, at).ok_or(Reason::FORMAT_ERROR);
    let (mut at, mut encoding, mut ccsid, mut format) = (0, 0, 0, None);
    for field in layout {
        match field {
            EyeCatcher(expected) if text(data, at, 4, set)? != *expected => {
                return Err(Reason::FORMAT_ERROR);
            }
            Always(expected) if long(at)? != *expected => return Err(Reason::FORMAT_ERROR),
            Encoding => encoding = long(at)?,
            CodedCharSetId => ccsid = long(at)?,
            // A name that does not fit is none that is known: cut, it might be one.
            Format => {
                let name = Chars::try_new(&text(data, at, 8, set)?);
                format = Some(name.unwrap_or(NO_FORMAT));
            }
            _ => {}
        }
        at += field.length();
    }
    if data.len() < at {
        return Err(Reason::FORMAT_ERROR);
    }
    let following = format.map(|format| Following {
        representation: Representation { encoding, ccsid },
        format,
    });
    Ok((at, following))
}

fn text(data: &[u8], at: usize, length: usize, set: &CharacterSet) -> Result<String, Reason> {
    let bytes = data.get(at..at + length).ok_or(Reason::FORMAT_ERROR)?;
    let text = set.decode(bytes);
    Ok(text.map_err(|_| Reason::FORMAT_ERROR)?.into_owned())
}

/// Appends the header that `data` begin with; `following` is what it will say of what is behind it.
pub(crate) fn write(
    layout: &[Field],
    data: &[u8],
    ends: &Ends,
    following: Representation,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let (from, to) = ends.orders()?;
    let mut rest = data;
    for field in layout {
        let (bytes, behind) = rest
            .split_at_checked(field.length())
            .ok_or(Reason::FORMAT_ERROR)?;
        rest = behind;
        match field {
            Bytes(_) => out.extend_from_slice(bytes),
            EyeCatcher(_) | Text(_) | Format => fixed_text(bytes, ends, out)?,
            Always(_) | Longs(_) => longs(bytes, from, to, out),
            Encoding => to.put_i32(out, following.encoding),
            CodedCharSetId => to.put_i32(out, following.ccsid),
        }
    }
    Ok(())
}

/// Appends integers in the other byte order.
pub(crate) fn longs(bytes: &[u8], from: ByteOrder, to: ByteOrder, out: &mut Vec<u8>) {
    swapped::<4>(bytes, from != to, out);
}

/// Appends integers of `N` bytes, with their bytes in the other order if so.
pub(crate) fn swapped<const N: usize>(bytes: &[u8], swaps: bool, out: &mut Vec<u8>) {
    if !swaps {
        out.extend_from_slice(bytes);
        return;
    }
    let (items, _) = bytes.as_chunks::<N>();
    for item in items {
        out.extend(item.iter().rev());
    }
}

/// Appends the text of a field, as long as it was. What is behind a NUL, and blanks at its end, are padding.
fn fixed_text(bytes: &[u8], ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
    let nul = bytes.iter().position(|byte| *byte == 0);
    let text = bytes.get(..nul.unwrap_or(bytes.len())).unwrap_or(bytes);
    let blank = ends.from.blank();
    let end = text.iter().rposition(|byte| *byte != blank);
    let text = text.get(..end.map_or(0, |last| last + 1)).unwrap_or(text);
    let start = out.len();
    ends.from.convert(text, &ends.to, out)?;
    let length = out.len() - start;
    if length > bytes.len() {
        return Err(Reason::CONVERTED_STRING_TOO_BIG);
    }
    let padding = match nul {
        Some(_) => 0,
        None => ends.to.blank(),
    };
    out.resize(start + bytes.len(), padding);
    Ok(())
}

/// Appends the folders of an MQRFH2, which keep their character set; UTF-16 among them has the byte order of the
/// header. Gives the length of the whole header.
pub(crate) fn folders(data: &[u8], ends: &Ends, out: &mut Vec<u8>) -> Result<usize, Reason> {
    let (from, to) = ends.orders()?;
    let long = |at| from.get_i32(data, at).ok_or(Reason::FORMAT_ERROR);
    let fixed = RFH2.iter().map(|field| field.length()).sum();
    let whole = usize::try_from(long(RFH2_STRUC_LENGTH)?).map_err(|_| Reason::FORMAT_ERROR)?;
    let ccsid = long(RFH2_NAME_VALUE_CCSID)?;
    let mut rest = data.get(fixed..whole).ok_or(Reason::FORMAT_ERROR)?;
    let wide = match ccsid {
        1208 => false,
        1200 | 13488 | 17584 => true,
        _ => return Err(Reason::SOURCE_CCSID_ERROR),
    };
    while !rest.is_empty() {
        let length = from.get_i32(rest, 0).ok_or(Reason::FORMAT_ERROR)?;
        let length = usize::try_from(length).map_err(|_| Reason::FORMAT_ERROR)?;
        let (folder, behind) = rest
            .get(4..)
            .and_then(|rest| rest.split_at_checked(length))
            .filter(|_| length.is_multiple_of(4))
            .ok_or(Reason::FORMAT_ERROR)?;
        longs(rest.get(..4).unwrap_or_default(), from, to, out);
        swapped::<2>(folder, wide && from != to, out);
        rest = behind;
    }
    Ok(whole)
}
