//! MQDLH, the dead-letter header: version 1, 172 bytes.
//!
//! It stands in front of the data of a message on a dead-letter queue; its encoding,
//! character set and format describe that data.

use crate::codec::{Reader, StructError, Writer};
use crate::constants::MQCCSI_UNDEFINED;
use crate::{ByteOrder, Chars, Name, PointerSize, Reason};

/// Dead-letter header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dlh {
    /// Why the message is here: a reason code, or a feedback code (MQFB_).
    pub reason: i32,
    /// Queue the message was for.
    pub dest_q_name: Name,
    /// Queue manager of that queue.
    pub dest_q_mgr_name: Name,
    /// Encoding of the data that follow.
    pub encoding: i32,
    /// Character set of the data that follow.
    pub coded_char_set_id: i32,
    /// Format of the data that follow.
    pub format: Chars<8>,
    /// Kind of application that put the message here (MQAT_).
    pub put_appl_type: i32,
    /// Name of that application.
    pub put_appl_name: Chars<28>,
    /// Date when it was put here, YYYYMMDD, GMT.
    pub put_date: Chars<8>,
    /// Time when it was put here, HHMMSSTH, GMT.
    pub put_time: Chars<8>,
}

impl Default for Dlh {
    fn default() -> Self {
        Self {
            reason: 0,
            dest_q_name: Name::BLANK,
            dest_q_mgr_name: Name::BLANK,
            encoding: 0,
            coded_char_set_id: MQCCSI_UNDEFINED,
            format: Chars::BLANK,
            put_appl_type: 0,
            put_appl_name: Chars::BLANK,
            put_date: Chars::BLANK,
            put_time: Chars::BLANK,
        }
    }
}

impl Dlh {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        (version == 1).then_some(172)
    }

    /// Reads an MQDLH; a fault is MQRC_DLH_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut reader = Reader::new(bytes, order, pointers, "MQDLH", Reason::DLH_ERROR);
        reader.eye_catcher(b"DLH ")?;
        reader.version(1, 1)?;
        let value = Self {
            reason: reader.i32("Reason")?,
            dest_q_name: reader.chars("DestQName")?,
            dest_q_mgr_name: reader.chars("DestQMgrName")?,
            encoding: reader.i32("Encoding")?,
            coded_char_set_id: reader.i32("CodedCharSetId")?,
            format: reader.chars("Format")?,
            put_appl_type: reader.i32("PutApplType")?,
            put_appl_name: reader.chars("PutApplName")?,
            put_date: reader.chars("PutDate")?,
            put_time: reader.chars("PutTime")?,
        };
        Ok((value, reader.at()))
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        Writer::new(out, order, pointers)
            .bytes(b"DLH ")
            .i32(1)
            .i32(self.reason)
            .chars(&self.dest_q_name)
            .chars(&self.dest_q_mgr_name)
            .i32(self.encoding)
            .i32(self.coded_char_set_id)
            .chars(&self.format)
            .i32(self.put_appl_type)
            .chars(&self.put_appl_name)
            .chars(&self.put_date)
            .chars(&self.put_time);
    }
}
