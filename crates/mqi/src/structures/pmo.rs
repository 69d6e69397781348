//! MQPMO, the put-message options: versions 1 to 3.
//!
//! Length with 4-byte pointers 128, 152, 176; with 8-byte pointers 128, 160, 184. Put message and response records of a
//! distribution list follow it.

use super::records::{Behind, Place, PutRecords};
use crate::codec::{Image, Reader, StructError};
use crate::constants::{MQACTP_NEW, MQPMO_NONE};
use crate::{ByteOrder, Name, PointerSize, Reason};

/// Where version 2 has its offsets of put message records and of response records.
const RECORD_OFFSETS: [usize; 2] = [136, 140];

/// Put-message options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pmo {
    /// Structure version, 1 to 3.
    pub version: i32,
    /// Options (MQPMO_).
    pub options: i32,
    /// Reserved by MQ; -1.
    pub timeout: i32,
    /// Handle of the queue whose message's context is passed on.
    pub context: i32,
    /// Messages sent to local queues.
    pub known_dest_count: i32,
    /// Messages sent to remote queues.
    pub unknown_dest_count: i32,
    /// Messages that could not be sent.
    pub invalid_dest_count: i32,
    /// Name of the queue the message went to.
    pub resolved_q_name: Name,
    /// Name of that queue's queue manager.
    pub resolved_q_mgr_name: Name,
    /// Version 2: number of put-message or response records.
    pub recs_present: i32,
    /// Version 2: fields present in put-message records (MQPMRF_).
    pub put_msg_rec_fields: i32,
    /// Version 2: offset in bytes of the first put-message record.
    pub put_msg_rec_offset: i32,
    /// Version 2: offset in bytes of the first response record.
    pub response_rec_offset: i32,
    /// Version 2: the records, if they are where the offsets say. Those that are written may be anywhere.
    pub records: Option<Box<PutRecords>>,
    /// Version 3: handle of the original message.
    pub original_msg_handle: i64,
    /// Version 3: handle of the new message.
    pub new_msg_handle: i64,
    /// Version 3: relation between the two (MQACTP_).
    pub action: i32,
    /// Version 3: publication level, 0 to 9.
    pub pub_level: i32,
}

impl Default for Pmo {
    fn default() -> Self {
        Self {
            version: 1,
            options: MQPMO_NONE,
            timeout: -1,
            context: 0,
            known_dest_count: 0,
            unknown_dest_count: 0,
            invalid_dest_count: 0,
            resolved_q_name: Name::BLANK,
            resolved_q_mgr_name: Name::BLANK,
            recs_present: 0,
            put_msg_rec_fields: 0,
            put_msg_rec_offset: 0,
            response_rec_offset: 0,
            records: None,
            original_msg_handle: 0,
            new_msg_handle: 0,
            action: MQACTP_NEW,
            pub_level: 9,
        }
    }
}

impl Pmo {
    /// Length in bytes of a version.
    pub fn length(version: i32, pointers: PointerSize) -> Option<usize> {
        let wide = pointers == PointerSize::Eight;
        match version {
            1 => Some(128),
            2 => Some(if wide { 160 } else { 152 }),
            3 => Some(if wide { 184 } else { 176 }),
            _ => None,
        }
    }

    /// Reads an MQPMO; a fault is MQRC_PMO_ERROR.
    pub fn decode(
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<(Self, usize), StructError> {
        let mut value = Self::default();
        let used = value.decode_over(bytes, order, pointers)?;
        Ok((value, used))
    }

    /// The same over a value that has its defaults; gives the length. After a fault the value is of no use.
    pub fn decode_over(
        &mut self,
        bytes: &[u8],
        order: ByteOrder,
        pointers: PointerSize,
    ) -> Result<usize, StructError> {
        let reader = Reader::new(bytes, order, pointers, "MQPMO", Reason::PMO_ERROR);
        let used = match reader.with_room::<184>() {
            Some(reader) => self.read(reader)?,
            None => self.read(reader)?,
        };
        match self.recs_present {
            0 => Ok(used),
            count => Ok(self.read_records(Place {
                all: bytes,
                base: used,
                order,
                count,
            })),
        }
    }

    /// Reads the records, if they are there; gives where the structure ends with them.
    #[cold]
    fn read_records(&mut self, place: Place<'_>) -> usize {
        let (records, responses) = (self.put_msg_rec_offset, self.response_rec_offset);
        match place.put_records(self.put_msg_rec_fields, records, responses) {
            Some((records, end)) => {
                self.records = Some(records);
                place.base.max(end)
            }
            None => place.base,
        }
    }

    #[inline(always)]
    fn read(&mut self, mut reader: Reader<'_>) -> Result<usize, StructError> {
        reader.eye_catcher(b"PMO ")?;
        let version = reader.version(1, 3)?;
        self.version = version;
        self.options = reader.i32("Options")?;
        self.timeout = reader.i32("Timeout")?;
        self.context = reader.i32("Context")?;
        self.known_dest_count = reader.i32("KnownDestCount")?;
        self.unknown_dest_count = reader.i32("UnknownDestCount")?;
        self.invalid_dest_count = reader.i32("InvalidDestCount")?;
        self.resolved_q_name = reader.chars("ResolvedQName")?;
        self.resolved_q_mgr_name = reader.chars("ResolvedQMgrName")?;
        if version >= 2 {
            self.recs_present = reader.i32("RecsPresent")?;
            self.put_msg_rec_fields = reader.i32("PutMsgRecFields")?;
            self.put_msg_rec_offset = reader.i32("PutMsgRecOffset")?;
            self.response_rec_offset = reader.i32("ResponseRecOffset")?;
            reader.pointer("PutMsgRecPtr")?;
            reader.pointer("ResponseRecPtr")?;
        }
        if version >= 3 {
            self.original_msg_handle = reader.i64("OriginalMsgHandle")?;
            self.new_msg_handle = reader.i64("NewMsgHandle")?;
            self.action = reader.i32("Action")?;
            self.pub_level = reader.i32("PubLevel")?;
        }
        Ok(reader.at())
    }

    /// Appends the structure and its records.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let start = out.len();
        self.encode_structure(out, order, pointers);
        if let Some(records) = self.records.as_deref().filter(|_| self.version >= 2) {
            let wanted = [self.put_msg_rec_offset, self.response_rec_offset];
            let behind = Behind::new(out, start, order);
            behind.put_records(records, self.put_msg_rec_fields, RECORD_OFFSETS, wanted);
        }
    }

    #[inline]
    fn encode_structure(&self, out: &mut Vec<u8>, order: ByteOrder, pointers: PointerSize) {
        let version = self.version.clamp(1, 3);
        let mut image = Image::<184>::new(order);
        image
            .bytes(b"PMO ")
            .i32(version)
            .i32(self.options)
            .i32(self.timeout)
            .i32(self.context)
            .i32(self.known_dest_count)
            .i32(self.unknown_dest_count)
            .i32(self.invalid_dest_count)
            .chars(&self.resolved_q_name)
            .chars(&self.resolved_q_mgr_name);
        if version >= 2 {
            image
                .i32(self.recs_present)
                .i32(self.put_msg_rec_fields)
                .i32(self.put_msg_rec_offset)
                .i32(self.response_rec_offset)
                .null_pointer(pointers)
                .null_pointer(pointers);
        }
        if version >= 3 {
            image
                .i64(self.original_msg_handle)
                .i64(self.new_msg_handle)
                .i32(self.action)
                .i32(self.pub_level);
        }
        image.append_to(out);
    }
}
