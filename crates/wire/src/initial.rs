//! INITIAL_DATA: the structure with which the two sides of a channel introduce themselves.
//!
//! It has grown with the protocol (FAP) levels and may end early: 128 bytes are enough up to level 8, 208 up to 12, and
//! 240 bring the password protection list. What is not there has its default, and [`InitialData::form`] remembers
//! where it ended, so that an answer can take the same form.

use posthaste_mqi::{ByteOrder, Chars, Name, is_ebcdic};

use crate::PeerMisbehaved;
use crate::input::Input;
use crate::segment::SegmentType;

/// Bits of [`InitialData::error_flags`]: fields in the first group that the answer disputes.
pub mod dispute {
    /// Coded character set.
    pub const CCSID: u8 = 0x01;
    /// Encoding.
    pub const ENCODING: u8 = 0x02;
    /// Transmission size.
    pub const TRANSMISSION_SIZE: u8 = 0x04;
    /// Protocol level.
    pub const FAP_LEVEL: u8 = 0x08;
    /// Message size.
    pub const MESSAGE_SIZE: u8 = 0x10;
    /// Sequence wrap value.
    pub const SEQUENCE_WRAP: u8 = 0x40;
    /// Heartbeat interval.
    pub const HEARTBEAT: u8 = 0x80;
    /// Header compression list (second group).
    pub const HEADER_COMPRESSION: u8 = 0x01;
    /// Message compression list (second group).
    pub const MESSAGE_COMPRESSION: u8 = 0x02;
    /// TLS key reset count (second group).
    pub const KEY_RESET: u8 = 0x04;
}

/// How far an INITIAL_DATA reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Form {
    /// 128 bytes: ends before the number of conversations.
    Short = 128,
    /// 208 bytes: ends before the password protection list.
    Medium = 208,
    /// 240 bytes.
    Full = 240,
}

impl Form {
    /// Bytes of the structure.
    pub fn length(self) -> usize {
        self as usize
    }

    fn reaching(length: usize) -> Form {
        if length >= Form::Full.length() {
            Form::Full
        } else if length >= Form::Medium.length() {
            Form::Medium
        } else {
            Form::Short
        }
    }
}

/// The ID structure, all fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitialData {
    /// Where the structure ends.
    pub form: Form,
    /// Protocol level.
    pub fap_level: u8,
    /// Capabilities, first byte.
    pub capabilities1: u8,
    /// Extended capabilities, first byte.
    pub extended1: u8,
    /// Disputed fields, first group: see [`dispute`].
    pub error_flags: u8,
    /// Messages per batch; 0 on client channels.
    pub batch_size: u16,
    /// Longest segment, header included.
    pub max_transmission: u32,
    /// Longest message.
    pub max_message: u32,
    /// Sequence number wrap; 0 on client channels.
    pub sequence_wrap: u32,
    /// Channel.
    pub channel: Chars<20>,
    /// Capabilities, second byte.
    pub capabilities2: u8,
    /// Extended capabilities, second byte.
    pub extended2: u8,
    /// Coded character set of the text.
    pub ccsid: u16,
    /// Queue manager asked for, or answering.
    pub q_mgr: Name,
    /// Heartbeat interval in seconds; 0 for none.
    pub heartbeat_s: u32,
    /// Disputed fields, second group.
    pub error_flags2: u8,
    /// Header compression offered, ended by FF.
    pub header_compression: [u8; 2],
    /// Message compression offered, ended by FF.
    pub message_compression: [u8; 16],
    /// Bytes after which TLS keys are renewed.
    pub key_reset: u32,
    /// Conversations that may share the socket; 0: it is not shared.
    pub conversations: u32,
    /// Capabilities, third byte.
    pub capabilities3: u8,
    /// Extended capabilities, third byte.
    pub extended3: u8,
    /// Sender's process.
    pub process_id: u32,
    /// Sender's thread.
    pub thread_id: u32,
    /// Sender's trace identifier.
    pub trace_id: u32,
    /// Product and version, such as `MQJB09040000`.
    pub product: Chars<12>,
    /// Identifier of the queue manager.
    pub q_mgr_id: Name,
    /// Password protection algorithms, unused entries FFFF.
    pub protection: [u16; 10],
    /// Random bytes for password protection.
    pub nonce: [u8; 12],
}

impl Default for InitialData {
    fn default() -> Self {
        InitialData {
            form: Form::Medium,
            fap_level: 12,
            capabilities1: 0x26,
            extended1: 0,
            error_flags: 0,
            batch_size: 0,
            max_transmission: 32_748,
            max_message: 104_857_600,
            sequence_wrap: 0,
            channel: Chars::default(),
            capabilities2: 0x51,
            extended2: 0,
            ccsid: 819,
            q_mgr: Name::default(),
            heartbeat_s: 300,
            error_flags2: 0,
            header_compression: NO_COMPRESSION,
            message_compression: NO_MESSAGE_COMPRESSION,
            key_reset: 0,
            conversations: 0,
            capabilities3: 0x28,
            extended3: 0,
            process_id: 0,
            thread_id: 0,
            trace_id: 0,
            product: Chars::default(),
            q_mgr_id: Name::default(),
            protection: [0xFFFF; 10],
            nonce: [0; 12],
        }
    }
}

/// A header compression list that offers none.
pub const NO_COMPRESSION: [u8; 2] = [0x00, 0xFF];
/// A message compression list that offers none.
pub const NO_MESSAGE_COMPRESSION: [u8; 16] = {
    let mut list = [0xFF; 16];
    list[0] = 0;
    list
};

/// The coded character set of text here.
const UTF8: u16 = 1208;

/// Offset of the first byte that the length at offset 100 counts.
const EXTENDED: usize = 102;

impl InitialData {
    /// Reads the body of INITIAL_DATA.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<InitialData, PeerMisbehaved> {
        Self::decode_fields(body, order).map_err(|_| PeerMisbehaved::InitialDataMalformed)
    }

    fn decode_fields(body: &[u8], order: ByteOrder) -> Result<InitialData, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::InitialData);
        input.eye_catcher(b"ID  ")?;
        let mut id = InitialData {
            fap_level: input.u8()?,
            capabilities1: input.u8()?,
            extended1: input.u8()?,
            error_flags: input.u8()?,
            capabilities3: 0,
            ..InitialData::default()
        };
        let _reserved = input.u16()?;
        id.batch_size = input.u16()?;
        id.max_transmission = input.u32()?;
        id.max_message = input.u32()?;
        id.sequence_wrap = input.u32()?;
        id.channel = input.chars()?;
        id.capabilities2 = input.u8()?;
        id.extended2 = input.u8()?;
        id.ccsid = input.u16()?;
        id.q_mgr = input.chars()?;
        id.heartbeat_s = input.u32()?;
        // A second proposal is cut to the agreed level and states the length of the first.
        let length = body.len().min(EXTENDED + usize::from(input.u16()?));
        if length < Form::Short.length() {
            return Err(PeerMisbehaved::InitialDataMalformed);
        }
        id.form = Form::reaching(length);
        id.error_flags2 = input.u8()?;
        let _reserved = input.u8()?;
        id.header_compression = input.array()?;
        id.message_compression = input.array()?;
        let _reserved = input.u16()?;
        id.key_reset = input.u32()?;
        if id.form >= Form::Medium {
            id.decode_medium(&mut input)?;
        }
        if id.form >= Form::Full {
            for entry in &mut id.protection {
                *entry = input.u16()?;
            }
            id.nonce = input.array()?;
        }
        Ok(id)
    }

    fn decode_medium(&mut self, input: &mut Input<'_>) -> Result<(), PeerMisbehaved> {
        self.conversations = input.u32()?;
        self.capabilities3 = input.u8()?;
        self.extended3 = input.u8()?;
        let _reserved = input.u16()?;
        self.process_id = input.u32()?;
        self.thread_id = input.u32()?;
        self.trace_id = input.u32()?;
        self.product = input.chars()?;
        self.q_mgr_id = input.chars()?;
        Ok(())
    }

    /// With its text in UTF-8. A client's first one is in the coded character set of its own, EBCDIC among them; what comes
    /// behind the answer is in the answer's.
    pub(crate) fn in_utf8(self) -> InitialData {
        if !is_ebcdic(self.ccsid) {
            return self;
        }
        InitialData {
            channel: self.channel.name_from_ebcdic(),
            q_mgr: self.q_mgr.name_from_ebcdic(),
            product: self.product.name_from_ebcdic(),
            q_mgr_id: self.q_mgr_id.name_from_ebcdic(),
            ccsid: UTF8,
            ..self
        }
    }

    /// Appends the structure in its form.
    pub fn encode(&self, out: &mut Vec<u8>, order: ByteOrder) {
        out.extend_from_slice(b"ID  ");
        out.extend_from_slice(&[
            self.fap_level,
            self.capabilities1,
            self.extended1,
            self.error_flags,
            0,
            0,
        ]);
        order.put_u16(out, self.batch_size);
        order.put_u32(out, self.max_transmission);
        order.put_u32(out, self.max_message);
        order.put_u32(out, self.sequence_wrap);
        out.extend_from_slice(self.channel.as_bytes());
        out.extend_from_slice(&[self.capabilities2, self.extended2]);
        order.put_u16(out, self.ccsid);
        out.extend_from_slice(self.q_mgr.as_bytes());
        order.put_u32(out, self.heartbeat_s);
        order.put_u16(out, (self.form as u16).saturating_sub(102));
        out.extend_from_slice(&[self.error_flags2, 0]);
        out.extend_from_slice(&self.header_compression);
        out.extend_from_slice(&self.message_compression);
        out.extend_from_slice(&[0; 2]);
        order.put_u32(out, self.key_reset);
        if self.form >= Form::Medium {
            order.put_u32(out, self.conversations);
            out.extend_from_slice(&[self.capabilities3, self.extended3, 0, 0]);
            order.put_u32(out, self.process_id);
            order.put_u32(out, self.thread_id);
            order.put_u32(out, self.trace_id);
            out.extend_from_slice(self.product.as_bytes());
            out.extend_from_slice(self.q_mgr_id.as_bytes());
        }
        if self.form >= Form::Full {
            for entry in self.protection {
                order.put_u16(out, entry);
            }
            out.extend_from_slice(&self.nonce);
        }
    }
}
