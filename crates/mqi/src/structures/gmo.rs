//! MQGMO, the get-message options: versions 1 to 4 (72, 80, 100, 112 bytes).
//!
//! The layout has no pointers, so both pointer widths are alike.

use crate::codec::{Image, Reader, StructError};
use crate::constants::{
    MQGMO_NO_WAIT, MQGS_NOT_IN_GROUP, MQMO_MATCH_CORREL_ID, MQMO_MATCH_MSG_ID, MQMTOK_NONE,
    MQRL_UNDEFINED, MQSEG_INHIBITED, MQSS_NOT_A_SEGMENT,
};
use crate::{ByteOrder, MsgToken, Name, PointerSize, Reason};

/// Get-message options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gmo {
    /// Structure version, 1 to 4.
    pub version: i32,
    /// Options (MQGMO_).
    pub options: i32,
    /// Longest wait in milliseconds; MQWI_UNLIMITED for ever.
    pub wait_interval: i32,
    /// Reserved, or a signal on other platforms.
    pub signal1: i32,
    /// Reserved by MQ.
    pub signal2: i32,
    /// Name of the queue the message came from.
    pub resolved_q_name: Name,
    /// Version 2: fields of MQMD that select the message (MQMO_).
    pub match_options: i32,
    /// Version 2: whether the message is in a group (MQGS_).
    pub group_status: u8,
    /// Version 2: whether the message is a segment (MQSS_).
    pub segment_status: u8,
    /// Version 2: whether the message may be segmented further (MQSEG_).
    pub segmentation: u8,
    /// Version 2: reserved by MQ; blank.
    pub reserved1: u8,
    /// Version 3: token of the message.
    pub msg_token: MsgToken,
    /// Version 3: bytes returned in the buffer; MQRL_UNDEFINED if unknown.
    pub returned_length: i32,
    /// Version 4: reserved by MQ.
    pub reserved2: i32,
    /// Version 4: handle that takes the message's properties.
    pub msg_handle: i64,
}

impl Default for Gmo {
    fn default() -> Self {
        Self {
            version: 1,
            options: MQGMO_NO_WAIT,
            wait_interval: 0,
            signal1: 0,
            signal2: 0,
            resolved_q_name: Name::BLANK,
            match_options: MQMO_MATCH_MSG_ID | MQMO_MATCH_CORREL_ID,
            group_status: MQGS_NOT_IN_GROUP,
            segment_status: MQSS_NOT_A_SEGMENT,
            segmentation: MQSEG_INHIBITED,
            reserved1: b' ',
            msg_token: MQMTOK_NONE,
            returned_length: MQRL_UNDEFINED,
            reserved2: 0,
            msg_handle: 0,
        }
    }
}

impl Gmo {
    /// Length in bytes of a version.
    pub fn length(version: i32, _pointers: PointerSize) -> Option<usize> {
        match version {
            1 => Some(72),
            2 => Some(80),
            3 => Some(100),
            4 => Some(112),
            _ => None,
        }
    }

    /// Reads an MQGMO; a fault is MQRC_GMO_ERROR.
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
        let reader = Reader::new(bytes, order, pointers, "MQGMO", Reason::GMO_ERROR);
        match reader.with_room::<112>() {
            Some(reader) => self.read(reader),
            None => self.read(reader),
        }
    }

    #[inline(always)]
    fn read(&mut self, mut reader: Reader<'_>) -> Result<usize, StructError> {
        reader.eye_catcher(b"GMO ")?;
        let version = reader.version(1, 4)?;
        self.version = version;
        self.options = reader.i32("Options")?;
        self.wait_interval = reader.i32("WaitInterval")?;
        self.signal1 = reader.i32("Signal1")?;
        self.signal2 = reader.i32("Signal2")?;
        self.resolved_q_name = reader.chars("ResolvedQName")?;
        if version >= 2 {
            self.match_options = reader.i32("MatchOptions")?;
            self.group_status = reader.u8("GroupStatus")?;
            self.segment_status = reader.u8("SegmentStatus")?;
            self.segmentation = reader.u8("Segmentation")?;
            self.reserved1 = reader.u8("Reserved1")?;
        }
        if version >= 3 {
            self.msg_token = reader.array("MsgToken")?;
            self.returned_length = reader.i32("ReturnedLength")?;
        }
        if version >= 4 {
            self.reserved2 = reader.i32("Reserved2")?;
            self.msg_handle = reader.i64("MsgHandle")?;
        }
        Ok(reader.at())
    }

    /// Appends the structure.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder, _pointers: PointerSize) {
        let version = self.version.clamp(1, 4);
        let mut image = Image::<112>::new(order);
        image
            .bytes(b"GMO ")
            .i32(version)
            .i32(self.options)
            .i32(self.wait_interval)
            .i32(self.signal1)
            .i32(self.signal2)
            .chars(&self.resolved_q_name);
        if version >= 2 {
            image.i32(self.match_options).bytes(&[
                self.group_status,
                self.segment_status,
                self.segmentation,
                self.reserved1,
            ]);
        }
        if version >= 3 {
            image.bytes(&self.msg_token).i32(self.returned_length);
        }
        if version >= 4 {
            image.i32(self.reserved2).i64(self.msg_handle);
        }
        image.append_to(out);
    }
}
