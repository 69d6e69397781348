//! Messages in programmable command format: MQCFH and its parameters.
//!
//! Invariants: groups are not entered by calls: the parameters of a group are so many more of those that are to come.
//! Each takes at least 16 bytes, so counts that are not true run out of bytes. Structures that have text grow or shrink
//! with it, to a multiple of four; the texts of a list stay equally long.

use posthaste_mqi::constants as mq;
use posthaste_mqi::{ByteOrder, Reason};

use crate::character_set::CharacterSet;
use crate::headers::{longs, swapped};
use crate::representation::Ends;

/// Bytes of MQCFH.
const HEADER: usize = 36;
/// Where MQCFH has the number of parameters.
const PARAMETER_COUNT: usize = 32;
/// Bytes of a text's padding.
const STEP: usize = 4;

/// Appends a whole message.
pub(crate) fn convert(data: &[u8], ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
    let (from, to) = ends.orders()?;
    let (header, mut rest) = data.split_at_checked(HEADER).ok_or(Reason::FORMAT_ERROR)?;
    if from.get_i32(header, 4) != Some(mq::MQCFH_STRUC_LENGTH) {
        return Err(Reason::FORMAT_ERROR);
    }
    longs(header, from, to, out);
    let mut left = count(header, PARAMETER_COUNT, from)?;
    while left > 0 {
        let length = count(rest, 4, from)?;
        let (bytes, behind) = rest.split_at_checked(length).ok_or(Reason::FORMAT_ERROR)?;
        let structure = Structure { bytes, from, to };
        left -= 1;
        if structure.long(0)? == mq::MQCFT_GROUP {
            left = left.saturating_add(count(bytes, 12, from)?);
        }
        structure.convert(ends, out)?;
        rest = behind;
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err(Reason::FORMAT_ERROR),
    }
}

/// A length or a number of things.
fn count(bytes: &[u8], at: usize, order: ByteOrder) -> Result<usize, Reason> {
    let value = order.get_i32(bytes, at).ok_or(Reason::FORMAT_ERROR)?;
    usize::try_from(value).map_err(|_| Reason::FORMAT_ERROR)
}

/// One parameter: the bytes that its StrucLength says.
struct Structure<'a> {
    bytes: &'a [u8],
    from: ByteOrder,
    to: ByteOrder,
}

impl<'a> Structure<'a> {
    fn long(&self, at: usize) -> Result<i32, Reason> {
        self.from
            .get_i32(self.bytes, at)
            .ok_or(Reason::FORMAT_ERROR)
    }

    /// `length` bytes from `at`.
    fn part(&self, at: usize, length: usize) -> Result<&'a [u8], Reason> {
        let end = at.checked_add(length).ok_or(Reason::FORMAT_ERROR)?;
        self.bytes.get(at..end).ok_or(Reason::FORMAT_ERROR)
    }

    fn convert(&self, ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
        match self.long(0)? {
            mq::MQCFT_INTEGER | mq::MQCFT_GROUP => self.longs_only(16, out),
            mq::MQCFT_INTEGER_FILTER => self.longs_only(20, out),
            mq::MQCFT_INTEGER_LIST => self.list::<4>(out),
            mq::MQCFT_INTEGER64_LIST => self.list::<8>(out),
            mq::MQCFT_INTEGER64 => {
                longs(self.part(0, 16)?, self.from, self.to, out);
                swapped::<8>(self.part(16, 8)?, self.from != self.to, out);
                self.ends_at(24)
            }
            mq::MQCFT_BYTE_STRING => self.byte_string(12, out),
            mq::MQCFT_BYTE_STRING_FILTER => self.byte_string(16, out),
            mq::MQCFT_STRING => self.text(12, ends, out),
            mq::MQCFT_STRING_FILTER => self.text(16, ends, out),
            mq::MQCFT_STRING_LIST => self.texts(ends, out),
            _ => Err(Reason::FORMAT_ERROR),
        }
    }

    fn ends_at(&self, length: usize) -> Result<(), Reason> {
        match self.bytes.len() == length {
            true => Ok(()),
            false => Err(Reason::FORMAT_ERROR),
        }
    }

    /// A structure of integers alone.
    fn longs_only(&self, length: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        longs(self.part(0, length)?, self.from, self.to, out);
        self.ends_at(length)
    }

    /// MQCFIL, MQCFIL64.
    fn list<const N: usize>(&self, out: &mut Vec<u8>) -> Result<(), Reason> {
        let items = count(self.bytes, 12, self.from)?.saturating_mul(N);
        longs(self.part(0, 16)?, self.from, self.to, out);
        swapped::<N>(self.part(16, items)?, self.from != self.to, out);
        self.ends_at(16 + items)
    }

    /// MQCFBS, MQCFBF: the length is at `at`, the bytes behind it and their padding stay as they are.
    fn byte_string(&self, at: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        let length = count(self.bytes, at, self.from)?;
        self.part(at + 4, length)?;
        longs(self.part(0, at + 4)?, self.from, self.to, out);
        out.extend_from_slice(self.bytes.get(at + 4..).unwrap_or_default());
        Ok(())
    }

    /// The character set at `at`: zero is the message's own. And what is written there.
    fn set(&self, at: usize, ends: &Ends) -> Result<(CharacterSet, i32), Reason> {
        match self.long(at)? {
            mq::MQCCSI_DEFAULT => Ok((ends.from, mq::MQCCSI_DEFAULT)),
            ccsid => {
                let encoding = match self.from {
                    ByteOrder::Big => mq::MQENC_INTEGER_NORMAL,
                    ByteOrder::Little => mq::MQENC_INTEGER_REVERSED,
                };
                let set = CharacterSet::new(ccsid, encoding).ok_or(Reason::SOURCE_CCSID_ERROR)?;
                Ok((set, ends.to.ccsid()))
            }
        }
    }

    /// MQCFST, MQCFSF: the character set is at `at`, the length behind it.
    fn text(&self, at: usize, ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
        let (set, ccsid) = self.set(at, ends)?;
        let length = count(self.bytes, at + 4, self.from)?;
        let mut text = Vec::new();
        set.convert(self.part(at + 8, length)?, &ends.to, &mut text)?;
        let numbers = [ccsid, long(text.len())?];
        self.write(at, &numbers, &text, out)
    }

    /// MQCFSL.
    fn texts(&self, ends: &Ends, out: &mut Vec<u8>) -> Result<(), Reason> {
        let (set, ccsid) = self.set(12, ends)?;
        let number = count(self.bytes, 16, self.from)?;
        let width = count(self.bytes, 20, self.from)?;
        let all = number.checked_mul(width).ok_or(Reason::FORMAT_ERROR)?;
        let all = self.part(24, all)?;
        let texts = || all.chunks_exact(width.max(1));
        // Each is converted twice, so that of many short ones no more is in memory than what becomes of them.
        let mut one = Vec::new();
        let mut longest = if texts().len() == 0 { width } else { 0 };
        for text in texts() {
            one.clear();
            set.convert(text, &ends.to, &mut one)?;
            longest = longest.max(one.len());
        }
        let mut blank = Vec::new();
        ends.to.encode(" ", &mut blank)?;
        let mut joined = Vec::with_capacity(longest * texts().len());
        for text in texts() {
            let end = joined.len() + longest;
            set.convert(text, &ends.to, &mut joined)?;
            let missing = end - joined.len();
            joined.extend(blank.iter().cycle().take(missing));
        }
        let numbers = [ccsid, self.long(16)?, long(longest)?];
        self.write(12, &numbers, &joined, out)
    }

    /// Appends the structure with `numbers` from `at` on, and this text behind them.
    fn write(
        &self,
        at: usize,
        numbers: &[i32],
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let padding = text.len().next_multiple_of(STEP) - text.len();
        self.to.put_i32(out, self.long(0)?);
        self.to
            .put_i32(out, long(at + 4 * numbers.len() + text.len() + padding)?);
        longs(self.part(8, at - 8)?, self.from, self.to, out);
        for number in numbers {
            self.to.put_i32(out, *number);
        }
        out.extend_from_slice(text);
        out.resize(out.len() + padding, 0);
        Ok(())
    }
}

/// A length as an MQLONG.
fn long(length: usize) -> Result<i32, Reason> {
    i32::try_from(length).map_err(|_| Reason::FORMAT_ERROR)
}
