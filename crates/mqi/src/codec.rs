//! Reading and writing structure bytes in either byte order and pointer width.
//!
//! Invariants: a [`Reader`] never reads outside its input and reports the field and the
//! offset where the input was short or wrong; a [`Writer`] only appends to its output and
//! counts offsets from where its structure began.

use crate::constants::{MQENC_INTEGER_MASK, MQENC_INTEGER_NORMAL, MQENC_INTEGER_REVERSED};
use crate::{Chars, Reason};
use std::fmt;

/// Order of the bytes of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant byte first (MQENC_INTEGER_NORMAL).
    Big,
    /// Least significant byte first (MQENC_INTEGER_REVERSED).
    Little,
}

macro_rules! integer_access {
    ($($get:ident $put:ident $type:ty;)*) => {$(
        #[doc = concat!("The `", stringify!($type), "` that starts at byte `at`, or `None` when it does not fit.")]
        pub fn $get(self, bytes: &[u8], at: usize) -> Option<$type> {
            let rest = bytes.get(at..)?;
            let raw = rest.first_chunk()?;
            Some(match self {
                Self::Big => <$type>::from_be_bytes(*raw),
                Self::Little => <$type>::from_le_bytes(*raw),
            })
        }

        #[doc = concat!("Appends a `", stringify!($type), "`.")]
        pub fn $put(self, out: &mut Vec<u8>, value: $type) {
            out.extend_from_slice(&match self {
                Self::Big => value.to_be_bytes(),
                Self::Little => value.to_le_bytes(),
            });
        }
    )*};
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") {
        Self::Little
    } else {
        Self::Big
    };

    integer_access! {
        get_u16 put_u16 u16;
        get_u32 put_u32 u32;
        get_i32 put_i32 i32;
        get_u64 put_u64 u64;
        get_i64 put_i64 i64;
    }

    /// Order of the integers of data with this encoding (MQMD.Encoding), or `None` when
    /// the encoding names no integer order.
    pub fn of_encoding(encoding: i32) -> Option<Self> {
        match encoding & MQENC_INTEGER_MASK {
            MQENC_INTEGER_NORMAL => Some(Self::Big),
            MQENC_INTEGER_REVERSED => Some(Self::Little),
            _ => None,
        }
    }
}

/// Width of the pointers inside structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointerSize {
    /// 4 bytes: the client channel protocol, and 32-bit programs.
    Four,
    /// 8 bytes: the C interface of 64-bit programs.
    Eight,
}

impl PointerSize {
    /// Width in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Length of an MQCHARV with such pointers: 20 or 24 bytes.
    pub const fn charv_length(self) -> usize {
        self.bytes() + 16
    }
}

/// Why bytes are not the structure they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructError {
    /// The reason code an MQI call answers for this fault.
    pub reason: Reason,
    /// Name of the structure, for example `MQMD`.
    pub structure: &'static str,
    /// Field at fault, under the manual's name.
    pub field: &'static str,
    /// Offset of the field in the input, in bytes.
    pub offset: usize,
}

impl fmt::Display for StructError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reason,
            structure,
            field,
            offset,
        } = self;
        write!(f, "{structure}.{field} at offset {offset}: {reason}")
    }
}

impl std::error::Error for StructError {}

/// Takes the fields of one structure from bytes, front to back.
///
/// Its functions are inlined always: where there is room for a structure's longest version (`Reader::with_room`) every
/// offset is known to the compiler, and nothing is left of the checks but one of the length.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
    pointers: PointerSize,
    structure: &'static str,
    reason: Reason,
}

impl<'a> Reader<'a> {
    /// Reader at the start of `bytes`; faults are reported with `structure` and `reason`.
    pub fn new(
        bytes: &'a [u8],
        order: ByteOrder,
        pointers: PointerSize,
        structure: &'static str,
        reason: Reason,
    ) -> Self {
        Self {
            bytes,
            at: 0,
            order,
            pointers,
            structure,
            reason,
        }
    }

    /// The same, before anything is read, if the input has room for `N` bytes.
    #[inline(always)]
    pub(crate) fn with_room<const N: usize>(&self) -> Option<Self> {
        let bytes = self.bytes.first_chunk::<N>()?;
        Some(Self {
            bytes,
            ..self.clone()
        })
    }

    /// Offset of the next field.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Byte order of the integers.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Everything the reader was made for, read or not.
    pub fn all(&self) -> &'a [u8] {
        self.bytes
    }

    /// The error for a field at an offset, with the structure's own reason code.
    #[inline(always)]
    pub fn fault(&self, field: &'static str, offset: usize) -> StructError {
        self.fault_with(self.reason, field, offset)
    }

    /// The error for a field at an offset, with another reason code.
    #[inline(always)]
    pub fn fault_with(&self, reason: Reason, field: &'static str, offset: usize) -> StructError {
        StructError {
            reason,
            structure: self.structure,
            field,
            offset,
        }
    }

    /// The next `count` bytes.
    #[inline(always)]
    pub fn slice(&mut self, field: &'static str, count: usize) -> Result<&'a [u8], StructError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let Some(taken) = taken else {
            return Err(self.fault(field, self.at));
        };
        self.at += count;
        Ok(taken)
    }

    /// The next `N` bytes.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], StructError> {
        let offset = self.at;
        let taken = self.slice(field, N)?;
        taken
            .first_chunk()
            .copied()
            .ok_or_else(|| self.fault(field, offset))
    }

    /// A fixed-length text.
    #[inline(always)]
    pub fn chars<const N: usize>(&mut self, field: &'static str) -> Result<Chars<N>, StructError> {
        self.array(field).map(Chars::from_bytes)
    }

    /// One byte (MQCHAR or MQBYTE).
    #[inline(always)]
    pub fn u8(&mut self, field: &'static str) -> Result<u8, StructError> {
        self.array(field).map(|[byte]| byte)
    }

    /// A 32-bit integer (MQLONG).
    #[inline(always)]
    pub fn i32(&mut self, field: &'static str) -> Result<i32, StructError> {
        let raw = self.array(field)?;
        Ok(match self.order {
            ByteOrder::Big => i32::from_be_bytes(raw),
            ByteOrder::Little => i32::from_le_bytes(raw),
        })
    }

    /// A 64-bit integer (MQINT64, MQHMSG).
    #[inline(always)]
    pub fn i64(&mut self, field: &'static str) -> Result<i64, StructError> {
        let raw = self.array(field)?;
        Ok(match self.order {
            ByteOrder::Big => i64::from_be_bytes(raw),
            ByteOrder::Little => i64::from_le_bytes(raw),
        })
    }

    /// A pointer (MQPTR), of the width in force.
    #[inline(always)]
    pub fn pointer(&mut self, field: &'static str) -> Result<u64, StructError> {
        match self.pointers {
            PointerSize::Four => self.i32(field).map(|raw| u64::from(raw.cast_unsigned())),
            PointerSize::Eight => self.i64(field).map(i64::cast_unsigned),
        }
    }

    /// Passes over the bytes up to the next multiple of `step` from the structure's start.
    pub fn align(&mut self, field: &'static str, step: usize) -> Result<(), StructError> {
        let missing = self.at.next_multiple_of(step) - self.at;
        self.slice(field, missing).map(drop)
    }

    /// Checks an eye-catcher (StrucId).
    #[inline(always)]
    pub fn eye_catcher(&mut self, expected: &[u8; 4]) -> Result<(), StructError> {
        let offset = self.at;
        if self.array::<4>("StrucId")? == *expected {
            Ok(())
        } else {
            Err(self.fault("StrucId", offset))
        }
    }

    /// A version number, which must lie between `low` and `high`.
    #[inline(always)]
    pub fn version(&mut self, low: i32, high: i32) -> Result<i32, StructError> {
        let offset = self.at;
        let version = self.i32("Version")?;
        if (low..=high).contains(&version) {
            Ok(version)
        } else {
            Err(self.fault("Version", offset))
        }
    }
}

/// Appends the fields of one structure to bytes, front to back.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    order: ByteOrder,
    pointers: PointerSize,
}

impl<'a> Writer<'a> {
    /// Writer of a structure that begins at the present end of `out`.
    pub fn new(out: &'a mut Vec<u8>, order: ByteOrder, pointers: PointerSize) -> Self {
        let start = out.len();
        Self {
            out,
            start,
            order,
            pointers,
        }
    }

    /// Bytes written since the structure began.
    pub fn written(&self) -> usize {
        self.out.len() - self.start
    }

    /// Byte order of the integers.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Pointer width in force.
    pub fn pointers(&self) -> PointerSize {
        self.pointers
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// A fixed-length text.
    pub fn chars<const N: usize>(&mut self, text: &Chars<N>) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// A 32-bit integer.
    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.order.put_i32(self.out, value);
        self
    }

    /// A 64-bit integer.
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.order.put_i64(self.out, value);
        self
    }

    /// A null pointer: addresses never leave the process.
    pub fn null_pointer(&mut self) -> &mut Self {
        self.zeros(self.pointers.bytes())
    }

    /// Zero bytes.
    pub fn zeros(&mut self, count: usize) -> &mut Self {
        self.out.resize(self.out.len() + count, 0);
        self
    }

    /// Zero bytes up to a multiple of `step` from the start of the structure.
    pub fn align(&mut self, step: usize) -> &mut Self {
        let missing = self.written().next_multiple_of(step) - self.written();
        self.zeros(missing)
    }
}

/// The bytes of a structure that has at most `N`, made before they are appended: every offset is known to the compiler,
/// and the output grows once.
#[derive(Debug)]
pub struct Image<const N: usize> {
    bytes: [u8; N],
    at: usize,
    order: ByteOrder,
}

impl<const N: usize> Image<N> {
    /// Of nothing yet.
    #[inline(always)]
    pub fn new(order: ByteOrder) -> Self {
        Self {
            bytes: [0; N],
            at: 0,
            order,
        }
    }

    /// Bytes as they are.
    #[inline(always)]
    pub fn bytes<const M: usize>(&mut self, bytes: &[u8; M]) -> &mut Self {
        if let Some(place) = self.bytes.get_mut(self.at..self.at + M) {
            place.copy_from_slice(bytes);
        }
        self.at += M;
        self
    }

    /// A fixed-length text.
    #[inline(always)]
    pub fn chars<const M: usize>(&mut self, text: &Chars<M>) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// A 32-bit integer.
    #[inline(always)]
    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.bytes(&match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        })
    }

    /// A 16-bit integer.
    #[inline(always)]
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        })
    }

    /// A 64-bit integer.
    #[inline(always)]
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.bytes(&match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        })
    }

    /// A null pointer: addresses never leave the process.
    #[inline(always)]
    pub fn null_pointer(&mut self, pointers: PointerSize) -> &mut Self {
        self.at += pointers.bytes();
        self
    }

    /// Appends what there is.
    #[inline(always)]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        assert!(
            self.at <= N,
            "a structure is longer than its longest version"
        );
        out.extend_from_slice(self.bytes.get(..self.at).unwrap_or(&self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_go_both_ways_in_both_orders() {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut out = vec![0xaa];
            order.put_u16(&mut out, 0x0102);
            order.put_u32(&mut out, 0x0304_0506);
            order.put_i32(&mut out, -2);
            order.put_u64(&mut out, u64::MAX - 1);
            order.put_i64(&mut out, i64::MIN);
            assert_eq!(order.get_u16(&out, 1), Some(0x0102));
            assert_eq!(order.get_u32(&out, 3), Some(0x0304_0506));
            assert_eq!(order.get_i32(&out, 7), Some(-2));
            assert_eq!(order.get_u64(&out, 11), Some(u64::MAX - 1));
            assert_eq!(order.get_i64(&out, 19), Some(i64::MIN));
            assert_eq!(order.get_i64(&out, 20), None);
            assert_eq!(order.get_u16(&out, usize::MAX), None);
        }
        let mut out = Vec::new();
        ByteOrder::Big.put_u16(&mut out, 0x0102);
        ByteOrder::Little.put_u16(&mut out, 0x0102);
        assert_eq!(out, [1, 2, 2, 1]);
    }

    #[test]
    fn encodings_name_their_integer_order() {
        for (encoding, order) in [
            (273, Some(ByteOrder::Big)),
            (546, Some(ByteOrder::Little)),
            (785, Some(ByteOrder::Big)),
            (0, None),
            (3, None),
            (-1, None),
        ] {
            assert_eq!(ByteOrder::of_encoding(encoding), order, "{encoding}");
        }
    }

    #[test]
    fn a_short_input_names_field_and_offset() {
        let mut reader = Reader::new(
            &[0, 0, 0, 1, 2],
            ByteOrder::Big,
            PointerSize::Four,
            "MQXX",
            Reason::MD_ERROR,
        );
        assert_eq!(reader.i32("First").unwrap(), 1);
        let error = reader.pointer("Second").unwrap_err();
        assert_eq!(error.field, "Second");
        assert_eq!(error.offset, 4);
        assert_eq!(
            error.to_string(),
            "MQXX.Second at offset 4: MQRC_MD_ERROR [2026]"
        );
        assert_eq!(reader.at(), 4, "a failed read takes nothing");
        assert_eq!(reader.u8("Third").unwrap(), 2);
    }

    #[test]
    fn alignment_counts_from_the_structure() {
        let mut out = vec![9; 3];
        let mut writer = Writer::new(&mut out, ByteOrder::Big, PointerSize::Eight);
        writer.bytes(b"abcde").align(4).align(4).null_pointer();
        assert_eq!(writer.written(), 16);
        assert_eq!(out.len(), 19);
    }
}
