//! The client's side of a socket as a pure state machine: bytes in, bytes and events out.
//!
//! It negotiates, connects conversations and says whose reply has come. What carries the bytes (a thread that waits, a
//! thread that reads for many, a loop over many sockets) is the caller's.
//!
//! Invariants:
//! * There is no socket, no thread and no clock in here. What is to be sent is appended to the buffer that the caller
//!   brings, in the order in which it is to go out.
//! * At most one verb is outstanding on a conversation; its reply is the only one that is taken.
//! * When the socket has ended every further call says why; nothing is understood any more.

use posthaste_mqi::{CompCode, Hobj, Name, Reason};
use posthaste_wire::client::{Arrival, ClientSocket, FromServer, ReplyFlow};
use posthaste_wire::{PeerMisbehaved, Reply, Segment, Status};

use crate::ClientError;
use crate::connect::{Connect, Handshake};
use crate::error::Cause;

/// Whether a channel that agreed on messages of `most` bytes carries this one. One that is much longer would break the
/// connection.
///
/// # Errors
/// 2010.
pub(crate) fn check_length(data: &[u8], most: usize) -> Result<(), ClientError> {
    match data.len() > most {
        true => Err(ClientError::Reason(Reason::DATA_LENGTH_ERROR)),
        false => Ok(()),
    }
}

/// How far a conversation has come.
enum Stage {
    /// The socket is being negotiated.
    Negotiating(Box<Handshake>),
    /// It was announced.
    Announced(Box<Handshake>),
    /// Its credentials were sent.
    Authenticating(Box<Handshake>),
    /// MQCONN was sent.
    Connecting,
    Connected,
}

/// What came of the bytes that were taken.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A conversation is connected (MQCONN).
    Connected {
        /// Which.
        conversation: u32,
        /// The queue manager that answered.
        queue_manager: Name,
    },
    /// A conversation is not connected, and is to be ended.
    Refused {
        /// Which.
        conversation: u32,
        /// Why.
        reason: Reason,
    },
    /// The reply to the verb that is outstanding on a conversation.
    Reply(ReplyFlow<'a>),
}

/// The client's side of one socket.
pub(crate) struct Protocol {
    socket: ClientSocket,
    /// Few, so a list.
    conversations: Vec<(u32, Stage)>,
    over: Option<Cause>,
}

impl Protocol {
    /// Begins a socket; its first conversation connects as `connect` says.
    pub(crate) fn begin(connect: &Connect, out: &mut Vec<u8>) -> Protocol {
        let stage = Stage::Negotiating(Box::new(connect.introduction()));
        Protocol {
            socket: ClientSocket::begin(&connect.offer(), out),
            conversations: vec![(0, stage)],
            over: None,
        }
    }

    /// The encoders of verbs.
    pub(crate) fn socket(&mut self) -> &mut ClientSocket {
        &mut self.socket
    }

    /// The first conversation.
    pub(crate) fn first_conversation(&self) -> u32 {
        self.socket.first_conversation()
    }

    /// Bytes of the longest message that was agreed on.
    pub(crate) fn max_message(&self) -> usize {
        /// No message is longer, whatever is agreed.
        const LONGEST: usize = i32::MAX as usize;
        let agreed = self.socket.agreement().map_or(0, |agreed| {
            usize::try_from(agreed.max_message).unwrap_or(LONGEST)
        });
        agreed.min(LONGEST)
    }

    /// Seconds of silence after which either side asks whether the other is there; 0 for never.
    pub(crate) fn heartbeat_s(&self) -> u32 {
        self.socket.agreement().map_or(0, |a| a.heartbeat_s)
    }

    /// Whether threads may share the socket.
    pub(crate) fn shared(&self) -> bool {
        self.first_conversation() != 0
    }

    /// Announces one more conversation; none if the agreement has no room for it. [`Event::Connected`] or
    /// [`Event::Refused`] says what came of it.
    pub(crate) fn another(&mut self, connect: &Connect, out: &mut Vec<u8>) -> Option<u32> {
        if self.over.is_some() || !self.shared() {
            return None;
        }
        let id = self.socket.start_conversation(out)?;
        let stage = Stage::Announced(Box::new(connect.introduction()));
        self.conversations.push((id, stage));
        Some(id)
    }

    /// A conversation is over, after its MQDISC or without: then the queue manager backs out. With the last one the
    /// socket is to be closed: then `true`.
    pub(crate) fn end(&mut self, conversation: u32, out: &mut Vec<u8>) -> bool {
        self.conversations.retain(|(id, _)| *id != conversation);
        self.socket.end_conversation(out, conversation)
    }

    /// Takes whole segments from the front of `input` until one means something.
    ///
    /// # Errors
    /// The socket has ended, or the server broke the protocol. Every further call says the same.
    pub(crate) fn take<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Cause> {
        if let Some(over) = self.over {
            return Err(over);
        }
        let taken = self.understand(input, out);
        taken.inspect_err(|cause| {
            self.over = Some(*cause);
        })
    }

    /// A reply was found to be wrong, or the carrier failed: the socket goes no further.
    pub(crate) fn fail(&mut self, cause: Cause) {
        self.over.get_or_insert(cause);
    }

    fn understand<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Cause> {
        while let Some(segment) = Segment::next(input, self.socket.limit())? {
            let arrival = self.socket.arrival(&segment, out)?;
            *input = input.get(segment.length..).unwrap_or_default();
            let event = match arrival {
                None => None,
                Some(Arrival::Other(message)) => self.hear(*message, out)?,
                Some(Arrival::Reply(flow)) => match self.stage(flow.id) {
                    Some(stage @ Stage::Connecting) => Some(connected(stage, &flow)?),
                    Some(Stage::Connected) => Some(Event::Reply(flow)),
                    _ => return Err(PeerMisbehaved::ReplyUnexpected(flow.kind()).into()),
                },
            };
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    fn stage(&mut self, conversation: u32) -> Option<&mut Stage> {
        let found = self.conversations.iter_mut();
        let mut found = found.filter(|(id, _)| *id == conversation);
        found.next().map(|(_, stage)| stage)
    }

    /// What is not a reply.
    fn hear(
        &mut self,
        message: FromServer,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Cause> {
        match message {
            FromServer::Agreed(_) => {
                self.agreed(out);
                Ok(None)
            }
            FromServer::Refused(status) => Err(Cause::Reason(status.refusal())),
            FromServer::Ended(status) => Err(Cause::Reason(status.ending())),
            FromServer::Conversation { id, status } => self.answered(id, status, out),
            FromServer::Notification { .. } => Ok(None),
            // Nobody asked for any.
            FromServer::Message { .. } | FromServer::Reply { .. } => {
                Err(Cause::Reason(Reason::CONNECTION_BROKEN))
            }
        }
    }

    /// Whether nothing but the answer to an MQCONN is awaited.
    pub(crate) fn awaits_mqconn(&self) -> bool {
        let mut stages = self.conversations.iter().map(|(_, stage)| stage);
        stages.any(|stage| matches!(stage, Stage::Connecting))
    }

    /// The socket stands: the first conversation goes on.
    fn agreed(&mut self, out: &mut Vec<u8>) {
        let first = self.socket.first_conversation();
        for (id, stage) in &mut self.conversations {
            if let Stage::Negotiating(who) = std::mem::replace(stage, Stage::Connecting) {
                *id = first;
                self.socket.userid(out, first, &who.userid);
                *stage = introduce(&mut self.socket, first, who, out);
            }
        }
    }

    /// A conversation, or its credentials, have been accepted or not.
    fn answered(
        &mut self,
        id: u32,
        status: Status,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, Cause> {
        let Some(at) = self
            .conversations
            .iter()
            .position(|(known, _)| *known == id)
        else {
            // This side has ended it meanwhile.
            return Ok(None);
        };
        let (_, stage) = self.conversations.swap_remove(at);
        let next = match stage {
            Stage::Announced(_) | Stage::Authenticating(_) if status != Status::OK => {
                return Ok(Some(Event::Refused {
                    conversation: id,
                    reason: status.refusal(),
                }));
            }
            Stage::Announced(who) => introduce(&mut self.socket, id, who, out),
            Stage::Authenticating(who) => mqconn(&mut self.socket, id, &who, out),
            _ => return Err(Cause::Reason(Reason::CONNECTION_BROKEN)),
        };
        self.conversations.push((id, next));
        Ok(None)
    }
}

/// Sends credentials if there are any, else MQCONN.
fn introduce(socket: &mut ClientSocket, id: u32, who: Box<Handshake>, out: &mut Vec<u8>) -> Stage {
    match &who.authentication {
        Some(authentication) => {
            socket.authenticate(out, id, authentication);
            Stage::Authenticating(who)
        }
        None => mqconn(socket, id, &who, out),
    }
}

fn mqconn(socket: &mut ClientSocket, id: u32, who: &Handshake, out: &mut Vec<u8>) -> Stage {
    socket.request(out, id, Hobj::NONE, &who.request);
    Stage::Connecting
}

/// The reply to MQCONN.
fn connected(stage: &mut Stage, flow: &ReplyFlow<'_>) -> Result<Event<'static>, Cause> {
    let (outcome, reply) = flow.decode()?;
    let conversation = flow.id;
    if outcome.comp_code == CompCode::Failed {
        let reason = outcome.reason;
        return Ok(Event::Refused {
            conversation,
            reason,
        });
    }
    *stage = Stage::Connected;
    Ok(Event::Connected {
        conversation,
        queue_manager: match reply {
            Reply::Conn(conn) => conn.q_mgr,
            _ => Name::BLANK,
        },
    })
}

#[cfg(test)]
mod tests;
