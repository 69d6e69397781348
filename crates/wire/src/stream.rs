//! Messages sent ahead: REQUEST_MSGS, ASYNC_MESSAGE, NOTIFICATION.

use posthaste_mqi::{ByteOrder, CorrelId, GroupId, Hobj, Md, MsgId, MsgToken, Reason};

use crate::PeerMisbehaved;
use crate::decode::{DecodeError, WIRE, read_structure};
use crate::flow::{Envelope, longest, pad};
use crate::input::Input;
use crate::segment::{Flags, Header, SegmentType};

/// Bytes of the MQMD of version 2 and the stated part of ASYNC_MESSAGE before the name.
const ASYNC_FIRST: usize = 55;

/// NOTIFICATION: something happened to a handle or to the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The handle, or -1 for the connection.
    pub handle: Hobj,
    /// What happened: see the constants.
    pub code: u32,
    /// Its value; of what happened to a handle the reason code.
    pub value: u32,
}

impl Notification {
    /// Nothing comes by the handle, by its value as gets are inhibited or for good.
    pub const GET_INHIBITED: u32 = 1;
    /// Gets are allowed again: [`Reason::GET_ENABLED`].
    pub const GET_ALLOWED: u32 = 2;
    /// The client starts (2), stops (0) or suspends (3) delivery.
    pub const CONN_STATE: u32 = 3;
    /// The answer to [`Notification::CONN_STATE`].
    pub const CONN_STATE_REPLY: u32 = 4;
    /// The next message is to be got in the unit of work, which is not allowed yet.
    pub const STREAMING_TXN_PAUSED: u32 = 16;
    /// The answer to a REQUEST_MSGS whose sender waits for one.
    pub const Q_STATE_REPLY: u32 = 6;
    /// A value of [`Notification::CONN_STATE`]: delivery starts.
    pub const STARTED: u32 = 2;
    /// The queue manager is quiescing.
    pub const Q_MGR_QUIESCING: u32 = 7;
    /// A message may be got under syncpoint.
    pub const TXN_ALLOWED: u32 = 8;

    /// Reads the body.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<Notification, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::Notification);
        let _version = input.u32()?;
        Ok(Notification {
            handle: Hobj(input.i32()?),
            code: input.u32()?,
            value: input.u32()?,
        })
    }

    /// Writes the segment.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope, flags: Flags) {
        let mut writer = envelope.begin(out, SegmentType::Notification, flags);
        writer.u32(1);
        writer.i32(self.handle.0);
        writer.u32(self.code);
        writer.u32(self.value);
        writer.finish();
    }
}

/// Which messages a REQUEST_MSGS wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Number of the selection; messages carry it.
    pub index: u16,
    /// Version of MQMD that is wanted.
    pub md_version: u16,
    /// Coded character set wanted.
    pub ccsid: u32,
    /// Encoding wanted.
    pub encoding: u32,
    /// Sequence number in the group.
    pub msg_seq_number: i32,
    /// Offset in the logical message.
    pub offset: i32,
    /// MQMO_* options.
    pub match_options: i32,
    /// Message identifier, if matched.
    pub msg_id: Option<MsgId>,
    /// Correlation identifier, if matched.
    pub correl_id: Option<CorrelId>,
    /// Group identifier, if matched.
    pub group_id: Option<GroupId>,
    /// Message token, if matched.
    pub msg_token: Option<MsgToken>,
}

/// REQUEST_MSGS: the client has room for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestMsgs {
    /// The queue's handle.
    pub handle: Hobj,
    /// Bytes consumed since the last request.
    pub received: u32,
    /// Bytes that may be sent.
    pub requested: u32,
    /// Longest message, -1 for any.
    pub max_length: i32,
    /// MQGMO options.
    pub options: i32,
    /// Wait interval in milliseconds.
    pub wait_ms: i32,
    /// Not known.
    pub queue_status: u32,
    /// 0x10 selection part present, 0x08 a get waits, 0x01 transaction allowed, 0x02 asked again.
    pub flags: u32,
    /// Last message received on the conversation.
    pub global_index: u32,
    /// Which messages; as before if absent.
    pub selection: Option<Selection>,
}

/// MQMO_* bits that add a field to the selection.
const MATCH_MSG_ID: i32 = 1;
const MATCH_CORREL_ID: i32 = 2;
const MATCH_GROUP_ID: i32 = 4;
const MATCH_MSG_TOKEN: i32 = 0x20;
/// Flag of REQUEST_MSGS: the selection part follows.
const HAS_SELECTION: u32 = 0x10;

impl RequestMsgs {
    /// Flag: a message may be sent that is got in the unit of work, if the client has the last one.
    pub const TRANSACTION_ALLOWED: u32 = 0x01;
    /// Flag: a get that waited long enough asks for the last time; an answer is awaited.
    pub const ASKED_AGAIN: u32 = 0x02;
    /// Flag: a get of the application waits.
    pub const GET_WAITS: u32 = 0x08;

    /// Reads the body.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<RequestMsgs, PeerMisbehaved> {
        let mut input = Input::new(body, order, SegmentType::RequestMsgs);
        let _version = input.u32()?;
        let mut request = RequestMsgs {
            handle: Hobj(input.i32()?),
            received: input.u32()?,
            requested: input.u32()?,
            max_length: input.i32()?,
            options: input.i32()?,
            wait_ms: input.i32()?,
            queue_status: input.u32()?,
            flags: input.u32()?,
            global_index: input.u32()?,
            selection: None,
        };
        if request.flags & HAS_SELECTION != 0 {
            request.selection = Some(Selection::read(&mut input)?);
        }
        Ok(request)
    }

    /// Writes the segment.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope, flags: Flags) {
        let mut writer = envelope.begin(out, SegmentType::RequestMsgs, flags);
        writer.u32(1);
        writer.i32(self.handle.0);
        writer.u32(self.received);
        writer.u32(self.requested);
        writer.i32(self.max_length);
        writer.i32(self.options);
        writer.i32(self.wait_ms);
        writer.u32(self.queue_status);
        writer.u32(self.flags);
        writer.u32(self.global_index);
        if let Some(selection) = &self.selection {
            selection.write(writer.out(), envelope.order);
        }
        writer.finish();
    }
}

impl Selection {
    fn read(input: &mut Input<'_>) -> Result<Selection, PeerMisbehaved> {
        let mut selection = Selection {
            index: input.u16()?,
            md_version: input.u16()?,
            ccsid: input.u32()?,
            encoding: input.u32()?,
            msg_seq_number: input.i32()?,
            offset: input.i32()?,
            match_options: input.i32()?,
            msg_id: None,
            correl_id: None,
            group_id: None,
            msg_token: None,
        };
        let wanted = |bit: i32| selection.match_options & bit != 0;
        let (msg, correl, group, token) = (
            wanted(MATCH_MSG_ID),
            wanted(MATCH_CORREL_ID),
            wanted(MATCH_GROUP_ID),
            wanted(MATCH_MSG_TOKEN),
        );
        selection.msg_id = msg.then(|| input.array()).transpose()?;
        selection.correl_id = correl.then(|| input.array()).transpose()?;
        selection.group_id = group.then(|| input.array()).transpose()?;
        selection.msg_token = token.then(|| input.array()).transpose()?;
        Ok(selection)
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_u16(out, self.index);
        order.put_u16(out, self.md_version);
        order.put_u32(out, self.ccsid);
        order.put_u32(out, self.encoding);
        order.put_i32(out, self.msg_seq_number);
        order.put_i32(out, self.offset);
        order.put_i32(out, self.match_options);
        for id in [&self.msg_id, &self.correl_id, &self.group_id]
            .into_iter()
            .flatten()
        {
            out.extend_from_slice(id);
        }
        if let Some(token) = &self.msg_token {
            out.extend_from_slice(token);
        }
    }
}

/// What only the first segment of an ASYNC_MESSAGE has.
#[derive(Clone, PartialEq, Debug)]
pub struct AsyncFirst {
    /// NONE, or why there is no message.
    pub reason: Reason,
    /// Length of the message.
    pub actual_length: u32,
    /// Length of what is sent of it.
    pub total_length: u32,
    /// Its token.
    pub token: MsgToken,
    /// Not known.
    pub status: u16,
    /// The queue it came from.
    pub resolved_q_name: Vec<u8>,
    /// Its descriptor; absent when there is no message.
    pub md: Option<Md>,
}

/// One segment of a message sent ahead.
#[derive(Clone, PartialEq, Debug)]
pub struct AsyncMessage {
    /// The queue's handle.
    pub handle: Hobj,
    /// Number of the message on this handle, from 1.
    pub index: u32,
    /// Number of the message on this conversation, from 1.
    pub global_index: u32,
    /// Number of the segment, from 0; after 65,535 comes 1.
    pub segment: u16,
    /// Selection of the request that this serves.
    pub selection: u16,
    /// In segment 0.
    pub first: Option<AsyncFirst>,
    /// Message data of this segment.
    pub data: Vec<u8>,
}

impl AsyncMessage {
    /// Reads the body of one segment.
    pub fn decode(body: &[u8], order: ByteOrder) -> Result<AsyncMessage, DecodeError> {
        let mut input = Input::new(body, order, SegmentType::AsyncMessage);
        let _version = input.u32()?;
        let handle = Hobj(input.i32()?);
        let (index, global_index, length) = (input.u32()?, input.u32()?, input.u32()?);
        let (segment, selection) = (input.u16()?, input.u16()?);
        let first = if segment == 0 {
            Some(AsyncFirst::read(&mut input)?)
        } else {
            None
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let data = input.take(length)?.to_vec();
        Ok(AsyncMessage {
            handle,
            index,
            global_index,
            segment,
            selection,
            first,
            data,
        })
    }

    /// Writes one segment; `flags` says which of the flow it is.
    ///
    /// The descriptor begins at a multiple of four bytes from the start of the body.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope) {
        let mut writer = envelope.begin(out, SegmentType::AsyncMessage, Flags::NONE);
        writer.u32(1);
        writer.i32(self.handle.0);
        writer.u32(self.index);
        writer.u32(self.global_index);
        writer.u32(u32::try_from(self.data.len()).unwrap_or(u32::MAX));
        writer.u16(self.segment);
        writer.u16(self.selection);
        if let Some(first) = &self.first {
            first.write(writer.out(), envelope.order);
        }
        writer.bytes(&self.data);
        writer.finish();
    }
}

/// A message to be sent ahead, in as many segments as it takes.
#[derive(Clone, Copy, Debug)]
pub struct MessageAhead<'a> {
    /// The queue's handle.
    pub handle: Hobj,
    /// Number of the message on this handle.
    pub index: u32,
    /// Number of the message on this conversation.
    pub global_index: u32,
    /// Selection of the request that this serves.
    pub selection: u16,
    /// What its first segment says.
    pub first: &'a AsyncFirst,
    /// What is sent of its data.
    pub data: &'a [u8],
}

/// What every segment has of its own: version, handle, both numbers, length, segment, selection.
const PART: usize = 24;

impl MessageAhead<'_> {
    /// Writes it: every segment has the part that they have in common, and is no longer than agreed.
    pub fn encode(&self, out: &mut Vec<u8>, envelope: &Envelope) {
        let Envelope {
            framing,
            scope,
            order,
        } = *envelope;
        let header = Header::new(SegmentType::AsyncMessage, scope, order, framing.ccsid);
        let mut head = Vec::with_capacity(512);
        self.first.write(&mut head, order);
        let each = scope.header_length() + PART;
        let segments = self.data.len() / framing.max_transmission.saturating_sub(each).max(1);
        out.reserve(head.len() + self.data.len() + (segments + 2) * (each + scope.alignment()));
        let (mut rest, mut segment) = (self.data, 0_u16);
        loop {
            let before = scope.header_length() + PART + head.len();
            // However short the segments are, each brings something.
            let room = longest(scope, framing.max_transmission)
                .saturating_sub(before)
                .max(scope.alignment());
            let (now, later) = rest.split_at(room.min(rest.len()));
            let mut flags = match segment {
                0 => Flags::FIRST,
                _ => Flags::NONE,
            };
            if later.is_empty() {
                flags = flags | Flags::LAST;
            }
            let header = header.with_flags(flags);
            let whole = (before + now.len()).next_multiple_of(scope.alignment());
            let start = out.len();
            header.encode(out, length(whole));
            self.write_part(out, order, segment, now.len());
            out.extend_from_slice(&head);
            out.extend_from_slice(now);
            pad(out, start, scope);
            if later.is_empty() {
                return;
            }
            rest = later;
            // In short segments a long message has more than there are numbers: 0 stays the first one's, which has a part
            // of its own.
            segment = segment.checked_add(1).unwrap_or(1);
            head.clear();
        }
    }

    fn write_part(&self, out: &mut Vec<u8>, order: ByteOrder, segment: u16, data: usize) {
        order.put_u32(out, 1);
        order.put_i32(out, self.handle.0);
        order.put_u32(out, self.index);
        order.put_u32(out, self.global_index);
        order.put_u32(out, length(data));
        order.put_u16(out, segment);
        order.put_u16(out, self.selection);
    }
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl AsyncFirst {
    fn read(input: &mut Input<'_>) -> Result<AsyncFirst, DecodeError> {
        let reason = Reason(input.i32()?);
        let (actual_length, total_length) = (input.u32()?, input.u32()?);
        let token = input.array()?;
        let status = input.u16()?;
        let name = usize::from(input.u8()?);
        let resolved_q_name = input.take(name)?.to_vec();
        let mut first = AsyncFirst {
            reason,
            actual_length,
            total_length,
            token,
            status,
            resolved_q_name,
            md: None,
        };
        let padding = (ASYNC_FIRST + name).next_multiple_of(4) - (ASYNC_FIRST + name);
        if input.remaining() > padding {
            input.take(padding)?;
            first.md = Some(read_structure(input, Md::decode)?);
        }
        Ok(first)
    }

    fn write(&self, out: &mut Vec<u8>, order: ByteOrder) {
        order.put_i32(out, self.reason.0);
        order.put_u32(out, self.actual_length);
        order.put_u32(out, self.total_length);
        out.extend_from_slice(&self.token);
        order.put_u16(out, self.status);
        let name = self
            .resolved_q_name
            .get(..255)
            .unwrap_or(&self.resolved_q_name);
        out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(name);
        let end = ASYNC_FIRST + name.len();
        out.resize(out.len() + end.next_multiple_of(4) - end, 0);
        if let Some(md) = &self.md {
            md.encode(out, order, WIRE);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::flow::Framing;
    use crate::segment::Scope;

    /// In the shortest segments that may be agreed on, a message of 100 MB has more than 65,536.
    #[test]
    fn only_the_first_segment_of_a_long_message_has_a_first_part() {
        let first = AsyncFirst {
            reason: Reason(0),
            actual_length: 7,
            total_length: 7,
            token: Default::default(),
            status: 0,
            resolved_q_name: b"Q".to_vec(),
            md: Some(Md::default()),
        };
        let data: Vec<u8> = (0..70_000_000_u32).map(|n| (n / 1000) as u8).collect();
        let message = MessageAhead {
            handle: Hobj(1),
            index: 1,
            global_index: 1,
            selection: 0,
            first: &first,
            data: &data,
        };
        let framing = Framing {
            shared: false,
            max_transmission: 1_024,
            ccsid: 819,
        };
        let (scope, order) = (Scope::Unshared, ByteOrder::Big);
        let mut out = Vec::new();
        message.encode(
            &mut out,
            &Envelope {
                framing,
                scope,
                order,
            },
        );
        let (mut rest, mut got, mut segments) = (out.as_slice(), Vec::new(), 0);
        while let Some(length) = rest.get(4..8) {
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            let (segment, later) = rest.split_at(length);
            let segment = AsyncMessage::decode(&segment[scope.header_length()..], order).unwrap();
            assert_eq!(segment.first.is_some(), segments == 0, "segment {segments}");
            got.extend_from_slice(&segment.data);
            segments += 1;
            rest = later;
        }
        assert!(segments > 65_536, "{segments}");
        assert!(got == data);
    }
}
