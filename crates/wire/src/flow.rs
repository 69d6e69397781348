//! Flows longer than a segment: cut on the way out, put together on the way in.
//!
//! Invariants of a flow: its segments have the same type, conversation and request; the first alone has the flag FIRST
//! and the last alone has LAST; the bodies simply continue. Where conversations share the socket, every segment that is
//! sent is a multiple of four bytes long: the last one of a flow has zeros behind its content, which lengths inside tell
//! from it, and no other has any. Memory for unfinished flows grows with what has arrived,
//! never with what is announced, and is limited per flow, in the number of flows, for the socket and for all sockets
//! together. What the last two limits refuse is not an error of the peer: of such a flow the beginning is kept, so that it
//! can be answered, and the rest is thrown away as it comes.

use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::ByteOrder;

use crate::PeerMisbehaved;
use crate::budget::{Budget, Charge};
use crate::segment::{Flags, Header, Scope, Segment, SegmentType};

/// What the two sides agreed about segments; a copy goes wherever something is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Conversations share the socket: verbs travel under `TSHM`.
    pub shared: bool,
    /// Longest segment, header included.
    pub max_transmission: usize,
    /// Coded character set of the text in headers.
    pub ccsid: u16,
}

impl Framing {
    /// Before anything is agreed.
    pub const INITIAL: Framing = Framing {
        shared: false,
        max_transmission: 32_748,
        ccsid: 819,
    };
}

/// How a flow is to be written: what was agreed, for whom, in which byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// What was agreed.
    pub framing: Framing,
    /// Whom it is for.
    pub scope: Scope,
    /// Byte order of its numbers.
    pub order: ByteOrder,
}

impl Envelope {
    /// For what concerns the whole socket.
    pub fn socket(framing: Framing, order: ByteOrder) -> Envelope {
        let scope = if framing.shared {
            Scope::Socket
        } else {
            Scope::Unshared
        };
        Envelope {
            framing,
            scope,
            order,
        }
    }

    /// For a conversation; where nothing is shared, the only one.
    pub fn conversation(framing: Framing, order: ByteOrder, id: u32) -> Envelope {
        let scope = if framing.shared {
            Scope::Conversation { id, request: 0 }
        } else {
            Scope::Unshared
        };
        Envelope {
            framing,
            scope,
            order,
        }
    }

    /// For the answer to what came under `header`: same conversation, request and byte order.
    pub fn answering(framing: Framing, header: &Header) -> Envelope {
        Envelope {
            framing,
            scope: header.scope,
            order: header.order,
        }
    }

    /// Begins a flow of this type.
    pub fn begin<'a>(
        &self,
        out: &'a mut Vec<u8>,
        kind: SegmentType,
        flags: Flags,
    ) -> FlowWriter<'a> {
        let header =
            Header::new(kind, self.scope, self.order, self.framing.ccsid).with_flags(flags);
        FlowWriter::begin(out, header, self.framing.max_transmission)
    }
}

/// The body of a whole flow.
#[derive(Clone, Debug)]
pub enum Body<'a> {
    /// It came in one segment and still lies in the receive buffer.
    Borrowed(&'a [u8]),
    /// It was put together.
    Owned(Bytes),
    /// There was no room for it: only its beginning is left, with the structures.
    Cut {
        /// The beginning.
        beginning: Bytes,
        /// How much came.
        length: usize,
    },
}

impl Body<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Borrowed(bytes) => bytes,
            Body::Owned(bytes) => bytes,
            Body::Cut { beginning, .. } => beginning,
        }
    }

    /// How long it was when it came.
    pub fn length(&self) -> usize {
        match self {
            Body::Cut { length, .. } => *length,
            whole => whole.bytes().len(),
        }
    }

    /// `length` bytes from `start` as shared bytes, or `None` if the body has not so many: the one copy of message
    /// data out of the receive buffer, and no copy at all for a flow that was put together.
    pub fn cut(&self, start: usize, length: usize) -> Option<Bytes> {
        let end = start.checked_add(length)?;
        match self {
            Body::Borrowed(bytes) => bytes.get(start..end).map(Bytes::copy_from_slice),
            Body::Owned(bytes)
            | Body::Cut {
                beginning: bytes, ..
            } => (end <= bytes.len()).then(|| bytes.slice(start..end)),
        }
    }
}

/// What a flow may have beside the message: structures and their strings.
pub(crate) const BESIDE_MESSAGE: usize = 64 * 1_024;
/// What is kept of a flow for which there is no room: the structures of every verb fit.
const BEGINNING: usize = 4 * 1_024;

/// What a flow must go on by each time that [`Assembler::stale`] is asked: a byte now and then would keep its memory for
/// ever. Asked once a minute, it is 546 bytes a second.
const PACE: usize = 32 * 1_024;

struct Partial {
    conversation: u32,
    header: Header,
    body: Vec<u8>,
    /// Bytes that have come, kept or not.
    length: usize,
    charge: Charge,
    /// The rest is thrown away.
    cut: bool,
    /// Bytes that have come since [`Assembler::stale`] was asked last.
    fresh: usize,
}

impl Partial {
    /// Takes the next segment's bytes. `others`: what the socket's other flows hold, of `room` for all of them.
    fn extend(&mut self, body: &[u8], max_flow: usize, others: usize, room: usize) {
        self.length += body.len();
        self.fresh += body.len();
        if self.cut {
            return;
        }
        let needed = self.length;
        if needed > self.body.capacity() {
            // Half as much again, but never more than the longest flow: what is not used counts too.
            let roomy = (needed + needed / 2).min(max_flow).max(needed);
            let fits = |size: &usize| others + size <= room && self.charge.resize(*size);
            let Some(size) = [roomy, needed].into_iter().find(fits) else {
                self.cut(body);
                return;
            };
            self.body.reserve_exact(size - self.body.len());
        }
        self.body.extend_from_slice(body);
    }

    fn cut(&mut self, body: &[u8]) {
        self.cut = true;
        let more = BEGINNING.saturating_sub(self.body.len()).min(body.len());
        self.body
            .extend_from_slice(body.get(..more).unwrap_or(body));
        self.body.truncate(BEGINNING);
        self.body.shrink_to_fit();
        // Giving back is always granted.
        self.charge.resize(0);
    }
}

/// Puts flows together, for all conversations of one socket.
pub struct Assembler {
    unfinished: Vec<Partial>,
    max_flow: usize,
    max_flows: usize,
    room: usize,
    budget: Arc<Budget>,
}

impl Assembler {
    /// `max_flow`: bytes in one flow. `max_flows`: flows unfinished at the same time.
    pub fn new(max_flow: usize, max_flows: usize) -> Assembler {
        Assembler::within(max_flow, max_flows, usize::MAX, &Budget::new(usize::MAX))
    }

    /// `room`: bytes for all flows of the socket, at least one of the longest. `budget`: for the flows of all sockets.
    pub fn within(
        max_flow: usize,
        max_flows: usize,
        room: usize,
        budget: &Arc<Budget>,
    ) -> Assembler {
        Assembler {
            unfinished: Vec::new(),
            max_flow,
            max_flows,
            room: room.max(max_flow),
            budget: Arc::clone(budget),
        }
    }

    /// Bytes of memory kept for unfinished flows.
    pub fn kept(&self) -> usize {
        self.unfinished.iter().map(|p| p.body.capacity()).sum()
    }

    /// Whether flows are unfinished.
    pub fn is_busy(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Whether a flow has not gone on since this was asked last, or with fewer than 32 KiB.
    pub fn stale(&mut self) -> bool {
        let mut stale = false;
        for flow in &mut self.unfinished {
            stale |= std::mem::take(&mut flow.fresh) < PACE;
        }
        stale
    }

    /// Takes a segment; gives a flow when it is complete. ASYNC_MESSAGE is passed through: each of its segments has a
    /// part of its own.
    pub fn accept<'a>(
        &mut self,
        segment: &Segment<'a>,
    ) -> Result<Option<(Header, Body<'a>)>, PeerMisbehaved> {
        let header = segment.header;
        // None is ever agreed, and nothing else is in these flags of a client channel.
        if header.flags2 != 0 {
            return Err(PeerMisbehaved::CompressionNotAgreed);
        }
        let whole = header.flags.has(Flags::FIRST | Flags::LAST);
        if (whole && self.unfinished.is_empty()) || header.kind == SegmentType::AsyncMessage {
            return Ok(Some((header, Body::Borrowed(segment.body))));
        }
        let conversation = header.scope.conversation();
        let found = self
            .unfinished
            .iter()
            .position(|p| p.conversation == conversation && p.header.kind == header.kind);
        match (found, header.flags.has(Flags::FIRST)) {
            (Some(_), true) => Err(PeerMisbehaved::FlowBegunTwice(header.kind)),
            (None, true) if whole => Ok(Some((header, Body::Borrowed(segment.body)))),
            (None, true) => self.begin(header, conversation, segment.body),
            (None, false) => Err(PeerMisbehaved::FlowNotBegun(header.kind)),
            (Some(index), false) => self.go_on(index, header, segment.body),
        }
    }

    fn begin<'a>(
        &mut self,
        header: Header,
        conversation: u32,
        body: &[u8],
    ) -> Result<Option<(Header, Body<'a>)>, PeerMisbehaved> {
        if self.unfinished.len() >= self.max_flows {
            return Err(PeerMisbehaved::TooManyFlows);
        }
        if body.len() > self.max_flow {
            return Err(PeerMisbehaved::FlowTooLong {
                limit: self.max_flow,
            });
        }
        let mut partial = Partial {
            conversation,
            header,
            body: Vec::new(),
            length: 0,
            charge: Charge::none(&self.budget),
            cut: false,
            // However little its first segment brings, it has just begun.
            fresh: PACE,
        };
        partial.extend(body, self.max_flow, self.charged(), self.room);
        self.unfinished.push(partial);
        Ok(None)
    }

    fn go_on<'a>(
        &mut self,
        index: usize,
        header: Header,
        body: &[u8],
    ) -> Result<Option<(Header, Body<'a>)>, PeerMisbehaved> {
        let charged = self.charged();
        let Some(partial) = self.unfinished.get_mut(index) else {
            return Err(PeerMisbehaved::FlowNotBegun(header.kind));
        };
        if partial.header.order != header.order {
            return Err(PeerMisbehaved::FlowNotBegun(header.kind));
        }
        if partial.length + body.len() > self.max_flow {
            return Err(PeerMisbehaved::FlowTooLong {
                limit: self.max_flow,
            });
        }
        let others = charged.saturating_sub(partial.charge.bytes());
        partial.extend(body, self.max_flow, others, self.room);
        if !header.flags.has(Flags::LAST) {
            return Ok(None);
        }
        let done = self.unfinished.swap_remove(index);
        let header = done.header.with_flags(done.header.flags | Flags::LAST);
        let body = Bytes::from(done.body);
        Ok(Some((
            header,
            match done.cut {
                true => Body::Cut {
                    beginning: body,
                    length: done.length,
                },
                false => Body::Owned(body),
            },
        )))
    }

    /// What the unfinished flows hold of the budget.
    fn charged(&self) -> usize {
        self.unfinished.iter().map(|p| p.charge.bytes()).sum()
    }

    /// Forgets what an ended conversation has left unfinished.
    pub fn forget(&mut self, conversation: u32) {
        self.unfinished.retain(|p| p.conversation != conversation);
    }
}

/// The longest segment of at most `max` bytes that needs no padding.
pub(crate) fn longest(scope: Scope, max: usize) -> usize {
    max - max % scope.alignment()
}

/// Fills up the segment that begins at `start` and ends with `out`.
pub(crate) fn pad(out: &mut Vec<u8>, start: usize, scope: Scope) {
    let length = out.len() - start;
    out.resize(start + length.next_multiple_of(scope.alignment()), 0);
}

/// Writes one flow into an output buffer, cutting it into segments as it grows.
pub struct FlowWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Where the present segment begins in `out`.
    start: usize,
    header: Header,
    max: usize,
    /// The header's own flags, which every segment of the flow carries.
    flags: Flags,
}

impl<'a> FlowWriter<'a> {
    /// Begins a flow. `max` is the longest segment allowed.
    pub fn begin(out: &'a mut Vec<u8>, header: Header, max: usize) -> FlowWriter<'a> {
        let flags = header.flags;
        let header = header.with_flags(flags | Flags::FIRST);
        let start = out.len();
        header.encode(out, 0);
        let scope = header.scope;
        let max = longest(scope, max).max(scope.header_length() + scope.alignment());
        FlowWriter {
            out,
            start,
            header,
            max,
            flags,
        }
    }

    /// The output buffer: structures are encoded straight into it.
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Byte order of the flow.
    pub fn order(&self) -> ByteOrder {
        self.header.order
    }

    /// Appends a number.
    pub fn u32(&mut self, value: u32) {
        self.header.order.put_u32(self.out, value);
    }

    /// Appends a number.
    pub fn i32(&mut self, value: i32) {
        self.header.order.put_i32(self.out, value);
    }

    /// Appends a number.
    pub fn u16(&mut self, value: u16) {
        self.header.order.put_u16(self.out, value);
    }

    /// Appends bytes as they are, for what is short.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends message data, each byte copied once however many segments it takes.
    pub fn data(&mut self, data: &[u8]) {
        self.settle();
        let room = (self.start + self.max).saturating_sub(self.out.len());
        let header = self.header.scope.header_length();
        let segments = data.len().saturating_sub(room).div_ceil(self.max - header);
        // What is long waits as long as its reader wants: it takes no more than it needs.
        self.out
            .reserve(data.len() + segments * header + self.header.scope.alignment());
        self.spread(data);
    }

    /// Ends the flow.
    pub fn finish(mut self) {
        self.settle();
        pad(self.out, self.start, self.header.scope);
        self.header = self.header.with_flags(self.header.flags | Flags::LAST);
        self.close_segment();
    }

    /// Brings a segment that structures have made too long under the limit. Rare, so it may copy.
    fn settle(&mut self) {
        let end = self.start + self.max;
        if self.out.len() > end {
            let over = self.out.split_off(end);
            self.spread(&over);
        }
    }

    fn spread(&mut self, mut data: &[u8]) {
        loop {
            let room = (self.start + self.max).saturating_sub(self.out.len());
            let (now, later) = data.split_at(room.min(data.len()));
            self.out.extend_from_slice(now);
            if later.is_empty() {
                return;
            }
            data = later;
            self.close_segment();
            self.header = self.header.with_flags(self.flags);
            self.start = self.out.len();
            self.header.encode(self.out, 0);
        }
    }

    /// Writes the present segment's length and flags into its header.
    fn close_segment(&mut self) {
        let length = u32::try_from(self.out.len() - self.start).unwrap_or(u32::MAX);
        let flags_at = match self.header.scope {
            Scope::Conversation { .. } => 18,
            Scope::Unshared | Scope::Socket => 10,
        };
        if let Some(field) = self.out.get_mut(self.start + 4..self.start + 8) {
            field.copy_from_slice(&length.to_be_bytes());
        }
        if let Some(flags) = self.out.get_mut(self.start + flags_at) {
            *flags = self.header.flags.0;
        }
    }
}
