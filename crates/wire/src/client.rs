//! The client's side of a socket: the mirror of [`crate::server`].
//!
//! A [`ClientSocket`] begins with its proposal, takes the server's answer (proposing once more where that disputes
//! something) and is then established. Requests go out through it, so that it knows which reply is awaited on which
//! conversation; anything else is an error, and an error stays. What crosses this side's own end of the socket, or of one
//! of its conversations, is none: the server had not heard of it.

use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, MsgId, Name, Reason};

use crate::PeerMisbehaved;
use crate::budget::Budget;
use crate::flow::{Assembler, BESIDE_MESSAGE, Body, Envelope, Framing};
use crate::identity::{Authentication, Userid};
use crate::initial::{Form, InitialData};
use crate::negotiate::{self, Agreement, FAP_LEVEL};
use crate::prepared::{GetFields, PreparedGet, PreparedPut};
use crate::reply::Reply;
use crate::request::{DecodeError, Request, encode_get, encode_put, encode_put1};
use crate::segment::{Flags, Header, Scope, Segment, SegmentType};
use crate::socket::{Action, SocketAction, heartbeat};
use crate::status::Status;
use crate::stream::{AsyncMessage, Notification};
use crate::verb::{ApiHeader, Outcome};

pub use crate::call::{ClientGet, ClientPut, ClientPut1};

/// Longest segment taken before anything is agreed.
const INITIAL_LIMIT: usize = 4_096;

/// What a client proposes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientOffer {
    /// Channel.
    pub channel: Chars<20>,
    /// Queue manager the application asked for; may be blank or begin with `*`.
    pub q_mgr: Name,
    /// Most conversations on the socket; 0 for no sharing.
    pub conversations: u32,
    /// Heartbeat interval in seconds.
    pub heartbeat_s: u32,
    /// Longest segment.
    pub max_transmission: u32,
    /// Longest message.
    pub max_message: u32,
    /// Coded character set of our text until the server states its own.
    pub ccsid: u16,
    /// Product and version in twelve characters.
    pub product: Chars<12>,
    /// Our process.
    pub process_id: u32,
    /// Our thread.
    pub thread_id: u32,
    /// Byte order of our numbers until the server's answer; then the server's is used.
    pub order: ByteOrder,
}

impl Default for ClientOffer {
    fn default() -> Self {
        ClientOffer {
            channel: Chars::default(),
            q_mgr: Name::default(),
            conversations: 10,
            heartbeat_s: 300,
            max_transmission: 32_748,
            max_message: 104_857_600,
            ccsid: 1208,
            product: Chars::default(),
            process_id: 0,
            thread_id: 0,
            order: ByteOrder::Little,
        }
    }
}

/// What a segment from the server means.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the one that comes all the time; a box would cost an allocation each"
)]
pub enum FromServer {
    /// The negotiation is over; USERID_DATA and MQCONN may be sent.
    Agreed(Box<Agreement>),
    /// The proposal is refused: [`Status::refusal`] is the reason.
    Refused(Status),
    /// A conversation or its credentials are accepted ([`Status::OK`]) or not.
    Conversation {
        /// Which; 0 where nothing is shared.
        id: u32,
        /// The answer.
        status: Status,
    },
    /// The server ends the socket: [`Status::ending`] is the reason.
    Ended(Status),
    /// The reply to the awaited verb.
    Reply {
        /// Its conversation; 0 where nothing is shared.
        id: u32,
        /// How it went.
        outcome: Outcome,
        /// What it brought.
        reply: Reply,
    },
    /// A message sent ahead, or a part of it.
    Message {
        /// Its conversation.
        id: u32,
        /// The message.
        message: Box<AsyncMessage>,
        /// No more segments of it follow.
        last: bool,
    },
    /// Something happened to a handle or the connection.
    Notification {
        /// Its conversation.
        id: u32,
        /// What.
        notification: Notification,
    },
}

/// What a segment from the server means, with a reply as it came.
#[derive(Debug)]
pub enum Arrival<'a> {
    /// The reply to the awaited verb.
    Reply(ReplyFlow<'a>),
    /// Everything else, which is rare: in a box, because the room for it would be copied with every reply.
    Other(Box<FromServer>),
}

/// A reply as it came: whoever needs all of it decodes it, whoever needs a field reads that where it lies.
#[derive(Debug)]
pub struct ReplyFlow<'a> {
    /// Its conversation; 0 where nothing is shared.
    pub id: u32,
    header: Header,
    body: Body<'a>,
}

impl ReplyFlow<'_> {
    /// Everything in it.
    pub fn decode(&self) -> Result<(Outcome, Reply), PeerMisbehaved> {
        let kind = self.header.kind;
        let decoded = Reply::decode(&self.header, &self.body);
        let (api, reply) = decoded.map_err(|error| peers_fault(error, kind))?;
        let outcome = if kind.is_xa() {
            // What an XA verb returned is in the reply itself.
            Some(Outcome::done(api.handle, Reason::NONE))
        } else {
            api.outcome()
        };
        let outcome = outcome.ok_or(PeerMisbehaved::StructureUnknown(kind))?;
        Ok((outcome, reply))
    }

    /// Which verb it answers.
    pub fn kind(&self) -> SegmentType {
        self.header.kind
    }

    /// How a verb went; not for XA verbs.
    pub fn outcome(&self) -> Result<Outcome, PeerMisbehaved> {
        let kind = self.header.kind;
        let api = ApiHeader::decode(self.body.bytes(), self.header.order, kind)?;
        api.outcome().ok_or(PeerMisbehaved::StructureUnknown(kind))
    }

    /// The MsgId that a successful MQPUT gave.
    pub fn put_msg_id(&self) -> Result<MsgId, PeerMisbehaved> {
        crate::prepared::put_msg_id(self.body.bytes())
    }

    /// Fields of what MQGET gave. All data that is said to be there came, but it may not have been kept.
    pub fn got(&self) -> Result<GetFields<'_>, PeerMisbehaved> {
        crate::prepared::got(&self.body, self.header.order)
    }
}

struct Expecting {
    proposal: InitialData,
    order: ByteOrder,
    again: bool,
}

struct Established {
    agreement: Agreement,
    framing: Framing,
    order: ByteOrder,
    /// Conversations and the reply each awaits.
    conversations: Vec<(u32, Option<SegmentType>)>,
    /// Conversations that this side ended while a reply was awaited: it may still come.
    left: Vec<u32>,
    assembler: Assembler,
}

enum State {
    ExpectAnswer(Box<Expecting>),
    Established(Box<Established>),
    /// The server has ended it.
    Closed,
    /// This side has ended it.
    Left,
    Failed(PeerMisbehaved),
}

/// The client's side of one socket.
pub struct ClientSocket {
    state: State,
}

fn write_initial(out: &mut Vec<u8>, id: &InitialData, envelope: &Envelope) {
    let mut writer = envelope.begin(out, SegmentType::InitialData, Flags::CONFIRM);
    id.encode(writer.out(), envelope.order);
    writer.finish();
}

impl ClientSocket {
    /// Begins a socket: the proposal is appended to `out`.
    pub fn begin(offer: &ClientOffer, out: &mut Vec<u8>) -> ClientSocket {
        let proposal = InitialData {
            form: Form::Medium,
            fap_level: FAP_LEVEL,
            max_transmission: offer.max_transmission.max(negotiate::MIN_TRANSMISSION),
            max_message: offer.max_message,
            channel: offer.channel,
            ccsid: offer.ccsid,
            q_mgr: offer.q_mgr,
            heartbeat_s: offer.heartbeat_s,
            conversations: offer.conversations,
            process_id: offer.process_id,
            thread_id: offer.thread_id,
            trace_id: 0,
            product: offer.product,
            ..InitialData::default()
        };
        let framing = Framing {
            ccsid: offer.ccsid,
            ..Framing::INITIAL
        };
        write_initial(
            out,
            &proposal,
            &Envelope {
                framing,
                scope: Scope::Unshared,
                order: offer.order,
            },
        );
        let state = Expecting {
            proposal,
            order: offer.order,
            again: false,
        };
        ClientSocket {
            state: State::ExpectAnswer(Box::new(state)),
        }
    }

    /// Longest segment that may come now.
    pub fn limit(&self) -> usize {
        match &self.state {
            State::Established(established) => established.framing.max_transmission,
            _ => INITIAL_LIMIT,
        }
    }

    /// What was agreed, once it is.
    pub fn agreement(&self) -> Option<&Agreement> {
        match &self.state {
            State::Established(established) => Some(&established.agreement),
            _ => None,
        }
    }

    /// Takes one segment; answers that need nobody else are appended to `out`.
    pub fn receive(
        &mut self,
        segment: &Segment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<FromServer>, PeerMisbehaved> {
        let decoded = match self.arrival(segment, out)? {
            None => return Ok(None),
            Some(Arrival::Other(event)) => return Ok(Some(*event)),
            Some(Arrival::Reply(flow)) => flow.decode().map(|(outcome, reply)| FromServer::Reply {
                id: flow.id,
                outcome,
                reply,
            }),
        };
        decoded.map(Some).inspect_err(|error| self.fail(*error))
    }

    /// What a reply brought was found to be wrong: the socket goes no further.
    pub fn fail(&mut self, error: PeerMisbehaved) {
        self.state = State::Failed(error);
    }

    /// As [`ClientSocket::receive`]; a reply is not decoded.
    pub fn arrival<'a>(
        &mut self,
        segment: &Segment<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Arrival<'a>>, PeerMisbehaved> {
        let other =
            |message: Option<FromServer>| message.map(|message| Arrival::Other(Box::new(message)));
        let result = match &mut self.state {
            State::Established(established) => established.receive(segment, out),
            State::ExpectAnswer(_) => self.receive_initial(segment, out).map(other),
            State::Closed => Err(PeerMisbehaved::SegmentUnexpected(segment.header.kind)),
            // It was sent before the server had heard of the end.
            State::Left => Ok(None),
            State::Failed(error) => Err(*error),
        };
        match &result {
            Err(error) => self.state = State::Failed(*error),
            Ok(Some(Arrival::Other(message)))
                if matches!(**message, FromServer::Ended(_) | FromServer::Refused(_)) =>
            {
                self.state = State::Closed;
            }
            Ok(_) => {}
        }
        result
    }

    fn receive_initial(
        &mut self,
        segment: &Segment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<FromServer>, PeerMisbehaved> {
        let header = segment.header;
        let State::ExpectAnswer(expecting) = &mut self.state else {
            return Err(PeerMisbehaved::SegmentUnexpected(header.kind));
        };
        if header.kind == SegmentType::StatusData {
            let status = Status::decode(segment.body, header.order)?;
            return Ok(Some(FromServer::Refused(
                status.unwrap_or(Status::Q_MGR_UNAVAILABLE),
            )));
        }
        if header.kind != SegmentType::InitialData {
            return Err(PeerMisbehaved::SegmentUnexpected(header.kind));
        }
        let answer = InitialData::decode(segment.body, header.order)?;
        // From here on the server's byte order is used.
        expecting.order = header.order;
        if header.flags.has(Flags::ERROR) {
            if std::mem::replace(&mut expecting.again, true) {
                return Err(PeerMisbehaved::NegotiationNotAccepted);
            }
            let second = negotiate::adjust(&expecting.proposal, &answer)?;
            let agreed = negotiate::conclude(&second, &answer)?;
            let framing = Framing {
                max_transmission: INITIAL_LIMIT,
                ..agreed.framing()
            };
            write_initial(
                out,
                &second,
                &Envelope::conversation(framing, header.order, 1),
            );
            expecting.proposal = second;
            return Ok(None);
        }
        let agreement = negotiate::conclude(&expecting.proposal, &answer)?;
        let established = Established::new(agreement.clone(), header.order);
        self.state = State::Established(Box::new(established));
        Ok(Some(FromServer::Agreed(Box::new(agreement))))
    }

    fn established(&mut self) -> Option<&mut Established> {
        match &mut self.state {
            State::Established(established) => Some(established),
            _ => None,
        }
    }

    /// Appends USERID_DATA; once per socket, before the first MQCONN.
    pub fn userid(&mut self, out: &mut Vec<u8>, id: u32, userid: &Userid) {
        if let Some(e) = self.established() {
            userid.encode(out, &e.envelope(id));
        }
    }

    /// Appends CONAUTH_INFO for a conversation, whose answer is [`FromServer::Conversation`].
    pub fn authenticate(&mut self, out: &mut Vec<u8>, id: u32, authentication: &Authentication) {
        if let Some(e) = self.established() {
            authentication.encode(out, &e.envelope(id));
        }
    }

    /// The first conversation of the socket, which needs no announcement: 1, or 0 where nothing is shared.
    pub fn first_conversation(&self) -> u32 {
        match &self.state {
            State::Established(e) if e.framing.shared => 1,
            _ => 0,
        }
    }

    /// Announces one more conversation, if the agreement allows; the answer is [`FromServer::Conversation`].
    pub fn start_conversation(&mut self, out: &mut Vec<u8>) -> Option<u32> {
        let e = self.established()?;
        let count = u32::try_from(e.conversations.len()).unwrap_or(u32::MAX);
        if count >= e.agreement.conversations {
            return None;
        }
        let id = (1..).step_by(2).find(|id| {
            !e.left.contains(id) && e.conversations.iter().all(|(used, _)| used != id)
        })?;
        e.conversations.push((id, None));
        let action = SocketAction {
            conversation: id,
            request: 0,
            action: Action::Start,
            parameter1: 1,
            parameter2: count + 1,
        };
        action.encode(out, &e.framing, e.order, false);
        Some(id)
    }

    /// Says that a conversation is over, after its MQDISC. With the last one the socket is to be closed: then `true`.
    pub fn end_conversation(&mut self, out: &mut Vec<u8>, id: u32) -> bool {
        let Some(e) = self.established() else {
            return true;
        };
        if let Some(at) = e.conversations.iter().position(|(used, _)| *used == id) {
            let (_, awaited) = e.conversations.swap_remove(at);
            e.left.extend(awaited.map(|_| id));
        }
        e.assembler.forget(id);
        let close = e.conversations.is_empty();
        if e.framing.shared {
            let action = SocketAction {
                conversation: id,
                request: 0,
                action: Action::End,
                parameter1: 0,
                parameter2: 0,
            };
            action.encode(out, &e.framing, e.order, close);
        } else {
            e.envelope(0)
                .begin(out, SegmentType::StatusData, Flags::CLOSE)
                .finish();
        }
        if close {
            self.state = State::Left;
        }
        close
    }

    /// Appends a request; its reply is awaited.
    pub fn request(&mut self, out: &mut Vec<u8>, id: u32, handle: Hobj, request: &Request) {
        if let Some(e) = self.established() {
            e.awaits(id, request.kind());
            request.encode(out, &e.envelope(id), handle);
        }
    }

    /// Appends an MQPUT without taking the message over. `answered`: the reply is awaited; it is not for puts with
    /// MQPMO_ASYNC_RESPONSE.
    pub fn put(&mut self, out: &mut Vec<u8>, id: u32, put: &ClientPut<'_>) {
        if let Some(e) = self.established() {
            if put.answered {
                e.awaits(id, SegmentType::Put);
            }
            encode_put(out, &e.envelope(id), put.handle, put.md, put.pmo, put.data);
        }
    }

    /// Appends an MQPUT1 without taking the message over, on the terms of [`ClientSocket::put`].
    pub fn put1(&mut self, out: &mut Vec<u8>, id: u32, put: &ClientPut1<'_>) {
        if let Some(e) = self.established() {
            if put.answered {
                e.awaits(id, SegmentType::Put1);
            }
            encode_put1(out, &e.envelope(id), put.od, put.md, put.pmo, put.data);
        }
    }

    /// Appends an MQGET; its reply is awaited.
    pub fn get(
        &mut self,
        out: &mut Vec<u8>,
        id: u32,
        handle: Hobj,
        md: &Md,
        gmo: &Gmo,
        buffer_length: i32,
    ) {
        if let Some(e) = self.established() {
            e.awaits(id, SegmentType::Get);
            encode_get(out, &e.envelope(id), handle, md, gmo, buffer_length);
        }
    }

    /// Appends an MQPUT that was prepared, on the terms of [`ClientSocket::put`].
    pub fn put_prepared(
        &mut self,
        out: &mut Vec<u8>,
        id: u32,
        prepared: &mut PreparedPut,
        put: &ClientPut<'_>,
    ) -> Result<(), PeerMisbehaved> {
        let Some(e) = self.established() else {
            return Ok(());
        };
        if put.answered {
            e.awaits(id, SegmentType::Put);
        }
        prepared.append(out, &e.envelope(id), put)
    }

    /// Appends an MQGET that was prepared; its reply is awaited.
    pub fn get_prepared(
        &mut self,
        out: &mut Vec<u8>,
        id: u32,
        prepared: &mut PreparedGet,
        get: &ClientGet<'_>,
    ) -> Result<(), PeerMisbehaved> {
        let Some(e) = self.established() else {
            return Ok(());
        };
        e.awaits(id, SegmentType::Get);
        prepared.append(out, &e.envelope(id), get)
    }

    /// Of long replies only the beginning is kept, with the structures: for drivers, which look at no data.
    pub fn keep_no_data(&mut self) {
        if let Some(e) = self.established() {
            let (max_flow, max_flows) = limits(&e.agreement);
            e.assembler = Assembler::within(max_flow, max_flows, max_flow, &Budget::new(0));
        }
    }

    /// Asks whether the server is there.
    pub fn heartbeat(&mut self, out: &mut Vec<u8>) {
        if let Some(e) = self.established() {
            heartbeat(out, &Envelope::socket(e.framing, e.order), false);
        }
    }
}

/// Bytes of the longest flow, and how many may be unfinished at a time.
fn limits(agreement: &Agreement) -> (usize, usize) {
    let max_flow = usize::try_from(agreement.max_message)
        .unwrap_or(usize::MAX)
        .saturating_add(BESIDE_MESSAGE);
    let max_flows = usize::try_from(agreement.conversations.max(1)).unwrap_or(usize::MAX);
    (max_flow, max_flows)
}

impl Established {
    fn new(agreement: Agreement, order: ByteOrder) -> Established {
        let (max_flow, max_flows) = limits(&agreement);
        let framing = agreement.framing();
        let first = u32::from(framing.shared);
        Established {
            framing,
            agreement,
            order,
            conversations: vec![(first, None)],
            left: Vec::new(),
            assembler: Assembler::new(max_flow, max_flows),
        }
    }

    fn envelope(&self, id: u32) -> Envelope {
        Envelope::conversation(self.framing, self.order, id)
    }

    fn awaits(&mut self, id: u32, kind: SegmentType) {
        if let Some((_, awaited)) = self.conversations.iter_mut().find(|(used, _)| *used == id) {
            *awaited = Some(kind.reply());
        }
    }

    fn receive<'a>(
        &mut self,
        segment: &Segment<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Arrival<'a>>, PeerMisbehaved> {
        let header = segment.header;
        match header.kind {
            SegmentType::Heartbeat => {
                if header.flags.has(Flags::CONFIRM) {
                    heartbeat(out, &Envelope::socket(self.framing, header.order), true);
                }
                Ok(None)
            }
            SegmentType::StatusData => {
                let status =
                    Status::decode(segment.body, header.order)?.unwrap_or(Status::USER_CLOSED);
                let ends = header.flags.has(Flags::CLOSE) || header.scope == Scope::Socket;
                let id = header.scope.conversation();
                Ok(Some(Arrival::Other(Box::new(if ends {
                    FromServer::Ended(status)
                } else {
                    FromServer::Conversation { id, status }
                }))))
            }
            SegmentType::SocketAction => {
                self.socket_action(&header, segment.body, out)?;
                Ok(None)
            }
            _ => self.conversation_segment(segment),
        }
    }

    fn socket_action(
        &mut self,
        header: &Header,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), PeerMisbehaved> {
        let action = SocketAction::decode(body, header.order)?;
        match action.action {
            Action::KeysReset | Action::Other(7 | 8) => Ok(()),
            Action::ResetKeys => {
                let echo = SocketAction {
                    conversation: 0,
                    ..action
                };
                echo.encode(out, &self.framing, self.order, false);
                Ok(())
            }
            Action::Other(number) => Err(PeerMisbehaved::SocketActionUnknown(number)),
            Action::GoAhead => Err(PeerMisbehaved::SocketActionUnknown(5)),
            Action::Start | Action::End => Err(PeerMisbehaved::SegmentUnexpected(header.kind)),
        }
    }

    fn conversation_segment<'a>(
        &mut self,
        segment: &Segment<'a>,
    ) -> Result<Option<Arrival<'a>>, PeerMisbehaved> {
        let kind = segment.header.kind;
        let shared = matches!(segment.header.scope, Scope::Conversation { .. });
        if shared != self.framing.shared || segment.header.scope == Scope::Socket {
            return Err(PeerMisbehaved::HeaderKindWrong(kind));
        }
        if self.crossed(&segment.header) {
            return Ok(None);
        }
        let Some((header, body)) = self.assembler.accept(segment)? else {
            return Ok(None);
        };
        let id = header.scope.conversation();
        match kind {
            SegmentType::Notification => {
                let notification = Notification::decode(body.bytes(), header.order)?;
                Ok(Some(Arrival::Other(Box::new(FromServer::Notification {
                    id,
                    notification,
                }))))
            }
            SegmentType::AsyncMessage => {
                let message = AsyncMessage::decode(body.bytes(), header.order);
                let message = Box::new(message.map_err(|error| peers_fault(error, kind))?);
                let last = header.flags.has(Flags::LAST);
                Ok(Some(Arrival::Other(Box::new(FromServer::Message {
                    id,
                    message,
                    last,
                }))))
            }
            kind if kind.is_reply() => self.reply(header, body).map(Some),
            kind => Err(PeerMisbehaved::SegmentUnexpected(kind)),
        }
    }

    /// Whether a segment is for a conversation that this side has ended. With the reply that was due there nothing more
    /// comes, and its number is free again.
    fn crossed(&mut self, header: &Header) -> bool {
        let id = header.scope.conversation();
        let Some(at) = self.left.iter().position(|left| *left == id) else {
            return false;
        };
        if header.kind.is_reply() && header.flags.has(Flags::LAST) {
            self.left.swap_remove(at);
        }
        true
    }

    fn reply<'a>(&mut self, header: Header, body: Body<'a>) -> Result<Arrival<'a>, PeerMisbehaved> {
        let (id, kind) = (header.scope.conversation(), header.kind);
        let awaited = self.conversations.iter_mut().find(|(used, _)| *used == id);
        match awaited {
            Some((_, awaited)) if *awaited == Some(kind) => *awaited = None,
            _ => return Err(PeerMisbehaved::ReplyUnexpected(kind)),
        }
        Ok(Arrival::Reply(ReplyFlow { id, header, body }))
    }
}

/// Whatever is wrong in a reply, the server is at fault.
fn peers_fault(error: DecodeError, kind: SegmentType) -> PeerMisbehaved {
    match error {
        DecodeError::Peer(error) => error,
        DecodeError::Verb(_) => PeerMisbehaved::StructureUnknown(kind),
    }
}
