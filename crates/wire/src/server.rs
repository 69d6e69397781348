//! The server's side of a socket: segments in, events out.
//!
//! One type a state: [`ExpectInitial`] gives a [`Proposal`]; answering it gives [`Established`], or [`ExpectInitial`]
//! once more when something was disputed. [`ServerSocket`] holds whichever state is the present one; after an error it
//! holds the error and gives nothing else.
//!
//! Invariants: until a conversation is connected no segment longer than [`UNCONNECTED_LIMIT`] is taken, but for credentials, and no flow is
//! put together, so a peer that has not connected costs a fixed amount of memory; connected is whose MQCONN has
//! succeeded, as the caller says. There are never more conversations than agreed.

use std::sync::Arc;

use posthaste_mqi::{ByteOrder, Chars, Hobj, Reason};

use crate::PeerMisbehaved;
use crate::budget::Budget;
use crate::flow::{Assembler, BESIDE_MESSAGE, Body, Envelope, Framing};
use crate::identity::{Authentication, Userid};
use crate::initial::InitialData;
use crate::negotiate::{self, Agreement, Offer};
use crate::request::{DecodeError, Request, put_options};
use crate::segment::{Flags, Header, Scope, Segment, SegmentType};
use crate::socket::{Action, SocketAction, heartbeat};
use crate::status::Status;
use crate::stream::{Notification, RequestMsgs};
use crate::verb::ApiHeader;

/// Longest segment that is taken before a conversation is connected.
pub const UNCONNECTED_LIMIT: usize = 4_096;
/// The same for one with credentials. No token is longer than 8,192 bytes (MQCSP); one that is gets the answer of a token that
/// is nobody's, and not that of a broken protocol, as long as it is no longer than the longest segment.
const CREDENTIALS_LIMIT: usize = 32 * 1_024;

/// What a segment means.
#[derive(Debug)]
pub enum Incoming {
    /// The client proposes; the caller answers with [`ServerSocket::answer`] or [`ServerSocket::refuse`].
    Proposed(Box<InitialData>),
    /// A conversation exists from now on.
    ConversationStarted {
        /// Its identifier; 0 where nothing is shared.
        id: u32,
    },
    /// Who the client's process runs as.
    Userid {
        /// The conversation.
        id: u32,
        /// The user.
        userid: Userid,
    },
    /// User and password of a conversation; it has been told that they are accepted so far.
    Authentication {
        /// The conversation.
        id: u32,
        /// The credentials.
        authentication: Authentication,
    },
    /// A verb.
    Request {
        /// The header it came under, for the reply.
        header: Header,
        /// Object handle.
        handle: Hobj,
        /// The verb.
        request: Request,
    },
    /// A verb that fails before it begins.
    Rejected {
        /// The header it came under, for the reply.
        header: Header,
        /// Object handle.
        handle: Hobj,
        /// Why.
        reason: Reason,
        /// MQPMO Options of a put, if they are readable: an asynchronous one is not answered.
        put_options: Option<i32>,
    },
    /// The client has room for messages.
    RequestMsgs {
        /// The header it came under.
        header: Header,
        /// What it wants.
        request: Box<RequestMsgs>,
    },
    /// Something about delivery.
    Notification {
        /// The header it came under.
        header: Header,
        /// What.
        notification: Notification,
    },
    /// A conversation is over.
    ConversationEnded {
        /// Which.
        id: u32,
        /// The client closes the socket.
        close: bool,
    },
    /// The client closes the socket.
    Closed,
}

/// Waiting for INITIAL_DATA.
#[derive(Debug)]
pub struct ExpectInitial {
    /// The channel of the first INITIAL_DATA, when this waits for the second.
    disputed: Option<Chars<20>>,
}

/// An INITIAL_DATA that waits for an answer.
#[derive(Debug)]
pub struct Proposal {
    header: Header,
    id: InitialData,
    disputed: bool,
}

/// Both sides agree; verbs may come.
pub struct Established {
    agreement: Agreement,
    framing: Framing,
    header_order: ByteOrder,
    conversations: Vec<Conversation>,
    first_started: bool,
    userid_seen: bool,
    assembler: Assembler,
}

struct Conversation {
    id: u32,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    ExpectConnect {
        authenticated: bool,
    },
    /// MQCONN has come and is not answered; a client waits for that.
    Connecting,
    Connected,
}

impl ExpectInitial {
    /// The start of a socket.
    pub fn new() -> ExpectInitial {
        ExpectInitial { disputed: None }
    }

    fn receive(self, segment: &Segment<'_>) -> Result<Proposal, PeerMisbehaved> {
        let header = segment.header;
        if header.kind != SegmentType::InitialData {
            return Err(PeerMisbehaved::SegmentUnexpected(header.kind));
        }
        // The second one may be sent under TSHM already.
        if header.scope != Scope::Unshared && self.disputed.is_none() {
            return Err(PeerMisbehaved::HeaderKindWrong(header.kind));
        }
        if !header.flags.has(Flags::FIRST | Flags::LAST) {
            return Err(PeerMisbehaved::InitialDataMalformed);
        }
        let id = InitialData::decode(segment.body, header.order)?;
        let id = id.in_utf8();
        let disputed = match self.disputed {
            Some(channel) if channel != id.channel => return Err(PeerMisbehaved::NegotiationWrong),
            other => other.is_some(),
        };
        Ok(Proposal {
            header,
            id,
            disputed,
        })
    }
}

impl Default for ExpectInitial {
    fn default() -> Self {
        Self::new()
    }
}

enum Answered {
    Agreed(Box<Established>),
    Disputed(ExpectInitial),
}

impl Proposal {
    fn envelope(&self, ccsid: u16) -> Envelope {
        Envelope::answering(
            Framing {
                ccsid,
                ..Framing::INITIAL
            },
            &self.header,
        )
    }

    fn answer(
        self,
        offer: &Offer,
        room: &Room,
        out: &mut Vec<u8>,
    ) -> Result<Answered, PeerMisbehaved> {
        let (id, agreement) = negotiate::answer(&self.id, offer)?;
        if agreement.is_none() && self.disputed {
            return Err(PeerMisbehaved::NegotiationNotAccepted);
        }
        let flags = if agreement.is_some() {
            Flags::NONE
        } else {
            Flags::ERROR
        };
        let envelope = self.envelope(offer.ccsid);
        let mut writer = envelope.begin(out, SegmentType::InitialData, flags);
        id.encode(writer.out(), self.header.order);
        writer.finish();
        Ok(match agreement {
            Some(agreement) => Answered::Agreed(Box::new(Established::new(
                agreement,
                self.header.order,
                room,
            ))),
            None => Answered::Disputed(ExpectInitial {
                disputed: Some(self.id.channel),
            }),
        })
    }
}

impl Established {
    fn new(agreement: Agreement, header_order: ByteOrder, room: &Room) -> Established {
        let max_flow = usize::try_from(agreement.max_message)
            .unwrap_or(usize::MAX)
            .saturating_add(BESIDE_MESSAGE);
        let max_flows = usize::try_from(agreement.conversations.max(1)).unwrap_or(usize::MAX);
        Established {
            framing: agreement.framing(),
            agreement,
            header_order,
            conversations: Vec::new(),
            first_started: false,
            userid_seen: false,
            assembler: Assembler::within(max_flow, max_flows, room.socket, &room.all),
        }
    }

    fn limit(&self) -> usize {
        if self
            .conversations
            .iter()
            .any(|c| c.phase == Phase::Connected)
        {
            self.framing.max_transmission
        } else {
            self.framing.max_transmission.min(UNCONNECTED_LIMIT)
        }
    }

    fn receive(
        &mut self,
        segment: &Segment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        let header = segment.header;
        match header.kind {
            SegmentType::Heartbeat => {
                if header.flags.has(Flags::CONFIRM) {
                    heartbeat(out, &Envelope::socket(self.framing, header.order), true);
                }
                Ok(None)
            }
            SegmentType::StatusData => Ok(Some(Incoming::Closed)),
            SegmentType::SocketAction => self.socket_action(&header, segment.body, out),
            _ => self.conversation_segment(segment, out),
        }
    }

    fn socket_action(
        &mut self,
        header: &Header,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        if header.scope != Scope::Socket || !self.framing.shared {
            return Err(PeerMisbehaved::HeaderKindWrong(header.kind));
        }
        let action = SocketAction::decode(body, header.order)?;
        let id = action.conversation;
        match action.action {
            Action::Start => {
                self.start(id)?;
                let envelope = Envelope::conversation(self.framing, header.order, id);
                Status::OK.encode(out, &envelope, Flags::NONE);
                Ok(Some(Incoming::ConversationStarted { id }))
            }
            Action::End => {
                let close = header.flags.has(Flags::CLOSE);
                let known = self.conversations.iter().position(|c| c.id == id);
                match known {
                    Some(index) => {
                        self.conversations.swap_remove(index);
                        self.assembler.forget(id);
                        Ok(Some(Incoming::ConversationEnded { id, close }))
                    }
                    None if close => Ok(Some(Incoming::Closed)),
                    None => Err(PeerMisbehaved::ConversationUnknown(id)),
                }
            }
            // A client whose application has set a reset count: TLS itself changes the keys, below.
            Action::ResetKeys => {
                let answer = SocketAction {
                    conversation: 0,
                    action: Action::GoAhead,
                    ..action
                };
                answer.encode(out, &self.framing, header.order, false);
                Ok(None)
            }
            Action::KeysReset => Ok(None),
            Action::GoAhead => Err(PeerMisbehaved::SocketActionUnknown(5)),
            Action::Other(number) => Err(PeerMisbehaved::SocketActionUnknown(number)),
        }
    }

    fn start(&mut self, id: u32) -> Result<(), PeerMisbehaved> {
        if self.framing.shared && (id == 0 || self.conversations.iter().any(|c| c.id == id)) {
            return Err(PeerMisbehaved::ConversationInUse(id));
        }
        let limit = self.agreement.conversations.max(1);
        if u32::try_from(self.conversations.len()).unwrap_or(u32::MAX) >= limit {
            return Err(PeerMisbehaved::TooManyConversations { limit });
        }
        self.first_started = true;
        let phase = Phase::ExpectConnect {
            authenticated: false,
        };
        self.conversations.push(Conversation { id, phase });
        Ok(())
    }

    /// The conversation a segment belongs to. The first of a socket begins without being announced.
    fn conversation(&mut self, header: &Header) -> Result<usize, PeerMisbehaved> {
        let id = match (header.scope, self.framing.shared) {
            (Scope::Conversation { id, .. }, true) if id != 0 => id,
            (Scope::Unshared, false) => 0,
            _ => return Err(PeerMisbehaved::HeaderKindWrong(header.kind)),
        };
        if let Some(index) = self.conversations.iter().position(|c| c.id == id) {
            return Ok(index);
        }
        if self.first_started {
            return Err(PeerMisbehaved::ConversationUnknown(id));
        }
        self.start(id)?;
        Ok(self.conversations.len() - 1)
    }

    fn conversation_segment(
        &mut self,
        segment: &Segment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        let header = segment.header;
        let index = self.conversation(&header)?;
        let Some(Conversation { id, phase }) = self.conversations.get_mut(index) else {
            return Err(PeerMisbehaved::ConversationUnknown(
                header.scope.conversation(),
            ));
        };
        let id = *id;
        if *phase == Phase::Connected {
            return self.connected_segment(id, segment);
        }
        if !header.flags.has(Flags::FIRST | Flags::LAST) {
            return Err(PeerMisbehaved::VerbBeforeConnect(header.kind));
        }
        match (header.kind, *phase) {
            (SegmentType::UseridData, Phase::ExpectConnect { .. }) => {
                if std::mem::replace(&mut self.userid_seen, true) {
                    return Err(PeerMisbehaved::UseridTwice);
                }
                let userid = Userid::decode(segment.body, header.order)?;
                Ok(Some(Incoming::Userid { id, userid }))
            }
            (
                SegmentType::ConauthInfo,
                Phase::ExpectConnect {
                    authenticated: false,
                },
            ) => {
                let authentication = Authentication::decode(segment.body, header.order)?;
                *phase = Phase::ExpectConnect {
                    authenticated: true,
                };
                Status::OK.encode(
                    out,
                    &Envelope::answering(self.framing, &header),
                    Flags::NONE,
                );
                Ok(Some(Incoming::Authentication { id, authentication }))
            }
            (SegmentType::Conn, Phase::Connecting) => Err(PeerMisbehaved::ConnectTwice),
            (kind, Phase::Connecting) => Err(PeerMisbehaved::VerbBeforeConnect(kind)),
            (SegmentType::ConauthInfo, _) => Err(PeerMisbehaved::AuthenticationTwice),
            (SegmentType::Conn, _) => {
                *phase = Phase::Connecting;
                decode(header, &Body::Borrowed(segment.body)).map(Some)
            }
            (kind, _) => Err(PeerMisbehaved::VerbBeforeConnect(kind)),
        }
    }

    fn connected_segment(
        &mut self,
        id: u32,
        segment: &Segment<'_>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        let header = segment.header;
        let allowed = header.kind.is_request()
            || matches!(
                header.kind,
                SegmentType::RequestMsgs | SegmentType::Notification
            );
        match header.kind {
            SegmentType::Conn => return Err(PeerMisbehaved::ConnectTwice),
            SegmentType::UseridData => return Err(PeerMisbehaved::UseridTwice),
            SegmentType::ConauthInfo => return Err(PeerMisbehaved::AuthenticationTwice),
            kind if !allowed => return Err(PeerMisbehaved::SegmentUnexpected(kind)),
            _ => {}
        }
        let Some((header, body)) = self.assembler.accept(segment)? else {
            return Ok(None);
        };
        if let Body::Cut { .. } = body {
            return refused(header, &body, Reason::STORAGE_NOT_AVAILABLE).map(Some);
        }
        match header.kind {
            SegmentType::RequestMsgs => {
                let request = Box::new(RequestMsgs::decode(body.bytes(), header.order)?);
                Ok(Some(Incoming::RequestMsgs { header, request }))
            }
            SegmentType::Notification => {
                let notification = Notification::decode(body.bytes(), header.order)?;
                Ok(Some(Incoming::Notification {
                    header,
                    notification,
                }))
            }
            SegmentType::Disc => {
                self.not_connected(id);
                decode(header, &body).map(Some)
            }
            _ => decode(header, &body).map(Some),
        }
    }

    fn not_connected(&mut self, id: u32) {
        self.assembler.forget(id);
        if let Some(conversation) = self.conversations.iter_mut().find(|c| c.id == id) {
            conversation.phase = Phase::ExpectConnect {
                authenticated: false,
            };
        }
    }

    fn connected(&mut self, id: u32) {
        let mut conversations = self.conversations.iter_mut();
        if let Some(conversation) = conversations.find(|c| c.id == id)
            && conversation.phase == Phase::Connecting
        {
            conversation.phase = Phase::Connected;
        }
    }
}

fn decode(header: Header, body: &Body<'_>) -> Result<Incoming, PeerMisbehaved> {
    match Request::decode(&header, body) {
        Ok((api, request)) => Ok(Incoming::Request {
            header,
            handle: api.handle,
            request,
        }),
        Err(DecodeError::Peer(error)) => Err(error),
        Err(DecodeError::Verb(reason)) => refused(header, body, reason),
    }
}

/// A verb that fails before it begins.
fn refused(header: Header, body: &Body<'_>, reason: Reason) -> Result<Incoming, PeerMisbehaved> {
    // These have no reply with a reason, and none of them is ever long.
    if !header.kind.is_request() || header.kind.is_xa() {
        return Err(PeerMisbehaved::TooManyFlows);
    }
    let api = ApiHeader::decode(body.bytes(), header.order, header.kind)?;
    let puts = matches!(header.kind, SegmentType::Put | SegmentType::Put1);
    Ok(Incoming::Rejected {
        header,
        handle: api.handle,
        reason,
        put_options: puts
            .then(|| put_options(body.bytes(), header.order))
            .flatten(),
    })
}

/// Whether a segment that begins so has credentials, or too little of it has come to say.
fn may_be_credentials(bytes: &[u8]) -> bool {
    let at = match bytes.get(3) {
        Some(b'M') => 17,
        _ => 9,
    };
    let kind = bytes.get(at);
    kind.is_none_or(|kind| *kind == SegmentType::ConauthInfo.number())
}

/// Memory for unfinished flows.
struct Room {
    /// For those of this socket, in bytes.
    socket: usize,
    /// For those of all sockets.
    all: Arc<Budget>,
}

enum State {
    ExpectInitial(ExpectInitial),
    Proposed(Box<Proposal>),
    Established(Box<Established>),
    Refused,
    Failed {
        error: PeerMisbehaved,
        agreed: Option<(Framing, ByteOrder)>,
    },
}

/// The server's side of one socket, whatever its state.
pub struct ServerSocket {
    state: State,
    room: Room,
}

impl ServerSocket {
    /// A socket that was just accepted. What its peer may leave unfinished is limited by what is agreed only.
    pub fn new() -> ServerSocket {
        ServerSocket::within(usize::MAX, &Budget::new(usize::MAX))
    }

    /// A socket that was just accepted. Its unfinished flows may take `room` bytes (but always one of the longest), and
    /// those of all sockets what `budget` has; a verb for which there is no room fails with 2071.
    pub fn within(room: usize, budget: &Arc<Budget>) -> ServerSocket {
        ServerSocket {
            state: State::ExpectInitial(ExpectInitial::new()),
            room: Room {
                socket: room,
                all: Arc::clone(budget),
            },
        }
    }

    /// Longest segment that may come now.
    pub fn limit(&self) -> usize {
        match &self.state {
            State::Established(established) => established.limit(),
            _ => UNCONNECTED_LIMIT,
        }
    }

    /// Longest segment that may come now, where what has come begins with `bytes`: credentials may be longer than whatever
    /// else comes before a conversation is connected.
    pub fn limit_of(&self, bytes: &[u8]) -> usize {
        let State::Established(established) = &self.state else {
            return UNCONNECTED_LIMIT;
        };
        match established.limit() {
            limit if limit < CREDENTIALS_LIMIT && may_be_credentials(bytes) => {
                CREDENTIALS_LIMIT.min(established.framing.max_transmission)
            }
            limit => limit,
        }
    }

    /// What was agreed, once it is.
    pub fn agreement(&self) -> Option<&Agreement> {
        match &self.state {
            State::Established(established) => Some(&established.agreement),
            _ => None,
        }
    }

    /// How segments are written now.
    pub fn framing(&self) -> Framing {
        match &self.state {
            State::Established(established) => established.framing,
            _ => Framing::INITIAL,
        }
    }

    /// Takes one segment; answers that need nobody else are appended to `out`.
    pub fn receive(
        &mut self,
        segment: &Segment<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        let result = match &mut self.state {
            State::Established(established) => established.receive(segment, out),
            State::ExpectInitial(_) => self.receive_initial(segment),
            State::Proposed(_) | State::Refused => {
                Err(PeerMisbehaved::SegmentUnexpected(segment.header.kind))
            }
            State::Failed { error, .. } => Err(*error),
        };
        result.inspect_err(|error| self.fail(*error))
    }

    fn fail(&mut self, error: PeerMisbehaved) {
        let agreed = self.agreed();
        self.state = State::Failed { error, agreed };
    }

    /// How the socket is spoken to as a whole, once that is agreed; a failure changes nothing about it.
    fn agreed(&self) -> Option<(Framing, ByteOrder)> {
        match &self.state {
            State::Established(established) => {
                Some((established.framing, established.header_order))
            }
            State::Failed { agreed, .. } => *agreed,
            _ => None,
        }
    }

    fn receive_initial(
        &mut self,
        segment: &Segment<'_>,
    ) -> Result<Option<Incoming>, PeerMisbehaved> {
        // A client whose proposal was disputed may give up.
        if matches!(
            segment.header.kind,
            SegmentType::StatusData | SegmentType::SocketAction
        ) {
            return Ok(Some(Incoming::Closed));
        }
        match std::mem::replace(&mut self.state, State::Refused) {
            State::ExpectInitial(state) => {
                let proposal = state.receive(segment)?;
                let id = Box::new(proposal.id.clone());
                self.state = State::Proposed(Box::new(proposal));
                Ok(Some(Incoming::Proposed(id)))
            }
            other => {
                self.state = other;
                Err(PeerMisbehaved::SegmentUnexpected(segment.header.kind))
            }
        }
    }

    /// Answers a proposal. Gives the agreement, or `None` if the client is to propose again.
    pub fn answer(
        &mut self,
        offer: &Offer,
        out: &mut Vec<u8>,
    ) -> Result<Option<Agreement>, PeerMisbehaved> {
        match std::mem::replace(&mut self.state, State::Refused) {
            State::Proposed(proposal) => match proposal.answer(offer, &self.room, out) {
                Ok(Answered::Agreed(established)) => {
                    let agreement = established.agreement.clone();
                    self.state = State::Established(established);
                    Ok(Some(agreement))
                }
                Ok(Answered::Disputed(state)) => {
                    self.state = State::ExpectInitial(state);
                    Ok(None)
                }
                Err(error) => {
                    self.fail(error);
                    Err(error)
                }
            },
            other => {
                self.state = other;
                Err(PeerMisbehaved::SegmentUnexpected(SegmentType::InitialData))
            }
        }
    }

    /// Refuses a proposal; the socket is to be closed after `out` is written.
    pub fn refuse(&mut self, status: Status, out: &mut Vec<u8>) {
        let envelope = match &self.state {
            State::Proposed(proposal) => proposal.envelope(Framing::INITIAL.ccsid),
            _ => Envelope::socket(Framing::INITIAL, ByteOrder::Big),
        };
        status.encode_refusal(out, &envelope);
        self.state = State::Refused;
    }

    /// Tells the client that the whole socket ends, for whatever reason.
    pub fn end(&mut self, status: Status, out: &mut Vec<u8>) {
        let flags = Flags::ERROR | Flags::CLOSE;
        match self.agreed() {
            Some((framing, order)) => {
                status.encode(out, &Envelope::socket(framing, order), flags);
            }
            None => {
                status.encode_refusal(out, &Envelope::socket(Framing::INITIAL, ByteOrder::Big));
            }
        }
    }

    /// Asks whether the client is there.
    pub fn heartbeat(&self, out: &mut Vec<u8>) {
        if let State::Established(established) = &self.state {
            heartbeat(
                out,
                &Envelope::socket(established.framing, established.header_order),
                false,
            );
        }
    }

    /// MQCONN of this conversation has succeeded: verbs may come.
    pub fn connected(&mut self, id: u32) {
        if let State::Established(established) = &mut self.state {
            established.connected(id);
        }
    }

    /// MQCONN of this conversation has failed: it may be tried again.
    pub fn not_connected(&mut self, id: u32) {
        if let State::Established(established) = &mut self.state {
            established.not_connected(id);
        }
    }

    /// Whether flows are unfinished.
    pub fn is_busy(&self) -> bool {
        match &self.state {
            State::Established(established) => established.assembler.is_busy(),
            _ => false,
        }
    }

    /// Whether an unfinished flow has not gone on, or hardly, since this was asked last.
    pub fn stale(&mut self) -> bool {
        match &mut self.state {
            State::Established(established) => established.assembler.stale(),
            _ => false,
        }
    }

    /// Bytes of memory kept for unfinished flows.
    pub fn kept(&self) -> usize {
        match &self.state {
            State::Established(established) => established.assembler.kept(),
            _ => 0,
        }
    }
}

impl Default for ServerSocket {
    fn default() -> Self {
        Self::new()
    }
}
