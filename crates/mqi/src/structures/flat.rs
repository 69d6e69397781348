//! Strings that follow the fixed part of a structure: MQCHARV, and the older triple of
//! pointer, offset and length.
//!
//! Invariants: a string lies wholly behind the fixed part and inside the input, and is no
//! longer than its documented limit; strings are written in the order of their fields,
//! each from a multiple of 4 bytes.

use std::borrow::Cow;

use crate::codec::{Reader, StructError, Writer};
use crate::constants::MQVS_NULL_TERMINATED;
use crate::{PointerSize, Reason, text};

/// What a field of variable length must satisfy.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Name of the field in the manual.
    pub(super) field: &'static str,
    /// Reason code when it is wrong.
    pub(super) reason: Reason,
    /// Reason code when its character set is not known, if it is another one.
    pub(super) unknown_set: Option<Reason>,
    /// Longest permitted length, in bytes.
    pub(super) limit: i32,
}

/// Where a string was found and how much room its owner gave it.
pub(super) struct Found {
    pub(super) text: String,
    /// VSBufSize: bytes of room for the string at its owner's; never less than the text.
    pub(super) size: i32,
    /// Offset just behind the string and its padding; 0 for an empty string.
    pub(super) end: usize,
    /// Characters beyond the Basic Multilingual Plane are in two surrogates each.
    pub(super) surrogates: bool,
}

/// Reads an MQCHARV whose strings follow a fixed part of `base` bytes.
pub(super) fn read_charv(
    reader: &mut Reader<'_>,
    pointers: PointerSize,
    base: usize,
    rule: Rule,
) -> Result<Found, StructError> {
    let at = reader.at();
    let pointer = reader.pointer(rule.field)?;
    let offset = reader.i32(rule.field)?;
    let size = reader.i32(rule.field)?;
    let length = reader.i32(rule.field)?;
    let ccsid = reader.i32(rule.field)?;
    let fault = reader.fault_with(rule.reason, rule.field, at);
    let unknown = match rule.unknown_set {
        Some(reason) => reader.fault_with(reason, rule.field, at),
        None => fault,
    };
    let found = locate(reader, pointers, (pointer, offset, length), base, rule, at)?;
    let (text, end, surrogates) = match found {
        None => (String::new(), 0, false),
        Some(_) if !text::is_known(ccsid) => return Err(unknown),
        Some((bytes, end)) => (
            text::decode(bytes, ccsid, reader.order()).ok_or(fault)?,
            end,
            text::has_surrogates(bytes, ccsid),
        ),
    };
    // Other character sets can take more bytes in UTF-8; the limit holds for both.
    let taken = saturated(text.len());
    if taken > rule.limit {
        return Err(fault);
    }
    Ok(Found {
        text,
        size: size.max(taken),
        end,
        surrogates,
    })
}

/// Reads a triple of pointer, offset and length; the text is UTF-8.
pub(super) fn read_triple(
    reader: &mut Reader<'_>,
    pointers: PointerSize,
    base: usize,
    rule: Rule,
) -> Result<(String, usize), StructError> {
    let at = reader.at();
    let pointer = reader.pointer(rule.field)?;
    let offset = reader.i32(rule.field)?;
    let length = reader.i32(rule.field)?;
    let fault = reader.fault_with(rule.reason, rule.field, at);
    match locate(reader, pointers, (pointer, offset, length), base, rule, at)? {
        None => Ok((String::new(), 0)),
        Some((bytes, end)) => {
            let text = text::decode(bytes, text::UTF_8, reader.order()).ok_or(fault)?;
            Ok((text, end))
        }
    }
}

/// The bytes of a string and the offset behind it, or `None` for an empty one.
fn locate<'a>(
    reader: &Reader<'a>,
    pointers: PointerSize,
    (pointer, offset, length): (u64, i32, i32),
    base: usize,
    rule: Rule,
    at: usize,
) -> Result<Option<(&'a [u8], usize)>, StructError> {
    let fault = reader.fault_with(rule.reason, rule.field, at);
    if pointers == PointerSize::Eight && pointer != 0 {
        return Err(fault);
    }
    if length == 0 || (offset == 0 && length == MQVS_NULL_TERMINATED) {
        return Ok(None);
    }
    let start = usize::try_from(offset)
        .ok()
        .filter(|start| *start >= base)
        .ok_or(fault)?;
    let rest = reader.all().get(start..).ok_or(fault)?;
    let limit = usize::try_from(rule.limit).unwrap_or_default();
    let count = if length == MQVS_NULL_TERMINATED {
        rest.iter().position(|byte| *byte == 0).ok_or(fault)?
    } else {
        usize::try_from(length).map_err(|_| fault)?
    };
    if count > limit {
        return Err(fault);
    }
    let bytes = rest.get(..count).ok_or(fault)?;
    let terminator = usize::from(length == MQVS_NULL_TERMINATED);
    let end = (start + count + terminator)
        .next_multiple_of(4)
        .min(reader.all().len());
    Ok(Some((bytes, end)))
}

/// Places strings behind a fixed part, first the descriptions, then the bytes.
pub(super) struct Strings<'a> {
    next: usize,
    texts: Vec<Cow<'a, [u8]>>,
    surrogates: bool,
}

impl<'a> Strings<'a> {
    /// Strings that start behind `base` bytes.
    pub(super) fn new(base: usize) -> Self {
        Self {
            next: base,
            texts: Vec::new(),
            surrogates: false,
        }
    }

    /// With characters beyond the Basic Multilingual Plane in two surrogates each, if the reader wants them so.
    pub(super) fn in_surrogates(self, surrogates: bool) -> Self {
        Self { surrogates, ..self }
    }

    /// Writes the MQCHARV that describes `text`. An empty one still gets an offset, as
    /// clients write it. The room (VSBufSize) is at least the length of the text.
    pub(super) fn charv(&mut self, writer: &mut Writer<'_>, text: &'a str, size: i32) {
        let (offset, length) = self.place(text);
        writer
            .null_pointer()
            .i32(offset)
            .i32(size.max(length))
            .i32(length)
            .i32(text::UTF_8);
    }

    /// Writes the pointer, offset and length that describe `text`; all zero for no text.
    pub(super) fn triple(&mut self, writer: &mut Writer<'_>, text: &'a str) {
        let (offset, length) = self.place(text);
        let offset = if length == 0 { 0 } else { offset };
        writer.null_pointer().i32(offset).i32(length);
    }

    fn place(&mut self, text: &'a str) -> (i32, i32) {
        let bytes = match self.surrogates {
            true => Cow::Owned(text::in_surrogates(text)),
            false => Cow::Borrowed(text.as_bytes()),
        };
        let (offset, length) = (self.next, bytes.len());
        self.next = (offset + length).next_multiple_of(4);
        self.texts.push(bytes);
        (saturated(offset), saturated(length))
    }

    /// Writes the strings themselves.
    pub(super) fn finish(self, writer: &mut Writer<'_>) {
        for text in self.texts {
            writer.bytes(&text).align(4);
        }
    }
}

/// A length as an MQLONG. Structures stay far below the limit of MQLONG; a caller that
/// exceeds it gets a value every decoder refuses.
fn saturated(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}
