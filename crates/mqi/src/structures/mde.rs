//! MQMDE, the message descriptor extension: version 2, 72 bytes.
//!
//! It carries the version 2 fields of MQMD in front of the data, for a reader or a
//! channel that only knows version 1.

use crate::codec::{Reader, StructError, Writer};
use crate::constants::{
    MQCCSI_UNDEFINED, MQENC_NATIVE, MQGI_NONE, MQMDEF_NONE, MQMF_NONE, MQOL_UNDEFINED,
};
use crate::{ByteOrder, Chars, GroupId, PointerSize, Reason};

const LENGTH: i32 = 72;

/// Message descriptor extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mde {
    /// Encoding of the data that follow.
    pub encoding: i32,
    /// Character set of the data that follow.
    pub coded_char_set_id: i32,
    /// Format of the data that follow.
    pub format: Chars<8>,
    /// Flags (MQMDEF_).
    pub flags: i32,
    /// Group identifier.
    pub group_id: GroupId,
    /// Number of the logical message within its group, from 1.
    pub msg_seq_number: i32,
    /// Offset in bytes of a segment in its logical message.
    pub offset: i32,
    /// Group and segment flags (MQMF_).
    pub msg_flags: i32,
    /// Length in bytes of the original message; MQOL_UNDEFINED if unknown.
    pub original_length: i32,
}

impl Default for Mde {
    fn default() -> Self {
        Self {
            encoding: MQENC_NATIVE,
            coded_char_set_id: MQCCSI_UNDEFINED,
            format: Chars::BLANK,
            flags: MQMDEF_NONE,
            group_id: MQGI_NONE,
            msg_seq_number: 1,
            offset: 0,
            msg_flags: MQMF_NONE,
            original_length: MQOL_UNDEFINED,
        }
    }
}

impl Mde {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 2).then_some(72)
    }

    /// Reads an MQMDE; a fault is MQRC_MDE_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQMDE", Reason::MDE_ERROR);
        reader.eye_catcher(b"MDE ")?;
        reader.version(2, 2)?;
        let at = reader.at();
        if reader.i32("StrucLength")? != LENGTH {
            return Err(reader.fault("StrucLength", at));
        }
        let value = Self {
            encoding: reader.i32("Encoding")?,
            coded_char_set_id: reader.i32("CodedCharSetId")?,
            format: reader.chars("Format")?,
            flags: reader.i32("Flags")?,
            group_id: reader.array("GroupId")?,
            msg_seq_number: reader.i32("MsgSeqNumber")?,
            offset: reader.i32("Offset")?,
            msg_flags: reader.i32("MsgFlags")?,
            original_length: reader.i32("OriginalLength")?,
        };
        Ok((value, reader.at()))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"MDE ")
            .i32(2)
            .i32(LENGTH)
            .i32(self.encoding)
            .i32(self.coded_char_set_id)
            .chars(&self.format)
            .i32(self.flags)
            .bytes(&self.group_id)
            .i32(self.msg_seq_number)
            .i32(self.offset)
            .i32(self.msg_flags)
            .i32(self.original_length);
    }
}
