//! Everything a peer can do wrong, one variant a rule, and what follows from each.
//!
//! Invariant: [`PeerMisbehaved::status`] and [`PeerMisbehaved::message`] are the only places that map a broken rule to
//! the code the peer is told and to the number the operator reads.

use std::fmt;

use crate::segment::SegmentType;
use crate::status::Status;

/// A rule of the channel protocol that the peer broke. The channel ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PeerMisbehaved {
    /// The bytes do not begin with a segment's eye-catcher: not an MQ peer, or the stream is out of step.
    NotASegment,
    /// A segment length that cannot hold the segment's own header.
    SegmentTooShort {
        /// The length it stated.
        length: u32,
    },
    /// A segment longer than the agreed transmission size.
    SegmentTooLong {
        /// The length it stated.
        length: u32,
        /// The most that is allowed at this point.
        limit: u32,
    },
    /// A byte-order byte other than 1 and 2.
    ByteOrderUnknown(u8),
    /// A segment type that does not exist.
    SegmentTypeUnknown(u8),
    /// A segment type that may not come at this point.
    SegmentUnexpected(SegmentType),
    /// A header of the wrong kind: `TSHM` where nothing is shared, or `TSH ` where it is.
    HeaderKindWrong(SegmentType),
    /// A middle or last segment of a flow that never began.
    FlowNotBegun(SegmentType),
    /// A second first segment while the flow is not finished.
    FlowBegunTwice(SegmentType),
    /// A flow longer than any message the channel allows.
    FlowTooLong {
        /// The most that is allowed, in bytes.
        limit: usize,
    },
    /// More flows begun and not finished than there are conversations.
    TooManyFlows,
    /// A segment says that it is compressed, which was not agreed.
    CompressionNotAgreed,
    /// A body shorter than its layout.
    BodyTooShort(SegmentType),
    /// A structure inside a body does not begin with its identifier.
    StructureUnknown(SegmentType),
    /// A message length that is not the length of what followed it.
    DataLengthWrong(SegmentType),
    /// A count of selectors or attributes that the segment cannot hold, or above the documented limit.
    CountWrong(SegmentType),
    /// INITIAL_DATA shorter than every known form, or with a length that leaves the segment.
    InitialDataMalformed,
    /// A protocol (FAP) level that does not exist.
    FapLevelWrong(u8),
    /// A transmission size that cannot hold one segment with its headers.
    TransmissionSizeWrong(u32),
    /// The second INITIAL_DATA still does not agree.
    NegotiationNotAccepted,
    /// An answer to INITIAL_DATA that changes what may not be changed.
    NegotiationWrong,
    /// USERID_DATA twice on a socket, or after a conversation was connected.
    UseridTwice,
    /// USERID_DATA that does not have its layout.
    UseridMalformed,
    /// CONAUTH_INFO twice before one MQCONN.
    AuthenticationTwice,
    /// CONAUTH_INFO that does not have its layout.
    AuthenticationMalformed,
    /// A verb before MQCONN.
    VerbBeforeConnect(SegmentType),
    /// MQCONN on a conversation that is connected.
    ConnectTwice,
    /// A segment for a conversation that does not exist.
    ConversationUnknown(u32),
    /// A conversation identifier of zero, or one that is in use already.
    ConversationInUse(u32),
    /// More conversations than agreed.
    TooManyConversations {
        /// The agreed number.
        limit: u32,
    },
    /// A SOCKET_ACTION that a peer may not send.
    SocketActionUnknown(u32),
    /// A reply where none, or another one, was awaited.
    ReplyUnexpected(SegmentType),
    /// More requests sent ahead on one conversation than the channel keeps.
    TooManyRequestsAhead,
}

impl PeerMisbehaved {
    /// The code in the STATUS_DATA that the peer is told before the socket is closed.
    ///
    /// 10 is the protocol error the peer's library reports as AMQ9523 (reason 2539); nothing finer reaches the
    /// application.
    pub fn status(self) -> Status {
        match self {
            PeerMisbehaved::TooManyConversations { .. } => Status::CHANNEL_UNAVAILABLE,
            _ => Status::PROTOCOL_ERROR,
        }
    }

    /// Whether it is about what says who the peer is.
    pub fn is_about_credentials(self) -> bool {
        matches!(
            self,
            PeerMisbehaved::UseridTwice
                | PeerMisbehaved::UseridMalformed
                | PeerMisbehaved::AuthenticationTwice
                | PeerMisbehaved::AuthenticationMalformed
                | PeerMisbehaved::VerbBeforeConnect(SegmentType::ConauthInfo)
        )
    }

    /// The number of the operator message that reports it.
    pub fn message(self) -> &'static str {
        match self {
            PeerMisbehaved::NotASegment
            | PeerMisbehaved::SegmentTooShort { .. }
            | PeerMisbehaved::ByteOrderUnknown(_)
            | PeerMisbehaved::SegmentTypeUnknown(_) => "AMQ9207E",
            PeerMisbehaved::FapLevelWrong(_)
            | PeerMisbehaved::TransmissionSizeWrong(_)
            | PeerMisbehaved::NegotiationNotAccepted
            | PeerMisbehaved::NegotiationWrong => "AMQ9503E",
            _ => "AMQ9504E",
        }
    }
}

impl fmt::Display for PeerMisbehaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PeerMisbehaved as P;
        match self {
            P::NotASegment => write!(f, "the data is not a channel segment"),
            P::SegmentTooShort { length } => {
                write!(f, "a segment of {length} bytes cannot hold its header")
            }
            P::SegmentTooLong { length, limit } => {
                write!(
                    f,
                    "a segment of {length} bytes where at most {limit} are allowed"
                )
            }
            P::ByteOrderUnknown(byte) => write!(f, "byte order {byte} does not exist"),
            P::SegmentTypeUnknown(byte) => write!(f, "segment type {byte} does not exist"),
            P::SegmentUnexpected(kind) => write!(f, "segment {kind:?} may not come now"),
            P::HeaderKindWrong(kind) => write!(f, "segment {kind:?} has the wrong kind of header"),
            P::FlowNotBegun(kind) => write!(f, "a later segment of {kind:?} came without a first"),
            P::FlowBegunTwice(kind) => {
                write!(f, "a new {kind:?} began before the last was finished")
            }
            P::FlowTooLong { limit } => write!(f, "a flow is longer than {limit} bytes"),
            P::TooManyFlows => write!(f, "too many unfinished flows"),
            P::CompressionNotAgreed => {
                write!(f, "compressed data came although none was agreed")
            }
            P::BodyTooShort(kind) => write!(f, "{kind:?} is shorter than its layout"),
            P::StructureUnknown(kind) => {
                write!(f, "a structure in {kind:?} has no known identifier")
            }
            P::DataLengthWrong(kind) => {
                write!(f, "{kind:?} states another message length than it has")
            }
            P::CountWrong(kind) => write!(f, "{kind:?} has a count that is not possible"),
            P::InitialDataMalformed => write!(f, "the initial data does not have its layout"),
            P::FapLevelWrong(level) => write!(f, "protocol level {level} does not exist"),
            P::TransmissionSizeWrong(size) => write!(f, "transmission size {size} is not possible"),
            P::NegotiationNotAccepted => {
                write!(
                    f,
                    "the second initial data does not accept the first answer"
                )
            }
            P::NegotiationWrong => write!(f, "the answer to the initial data is not possible"),
            P::UseridTwice => write!(f, "user data came twice"),
            P::UseridMalformed => write!(f, "the user data does not have its layout"),
            P::AuthenticationTwice => write!(f, "authentication data came twice"),
            P::AuthenticationMalformed => {
                write!(f, "the authentication data does not have its layout")
            }
            P::VerbBeforeConnect(kind) => write!(f, "{kind:?} came before MQCONN"),
            P::ConnectTwice => write!(f, "MQCONN came twice on one conversation"),
            P::ConversationUnknown(id) => write!(f, "conversation {id} does not exist"),
            P::ConversationInUse(id) => write!(f, "conversation {id} cannot be started"),
            P::TooManyConversations { limit } => {
                write!(f, "more than the agreed {limit} conversations")
            }
            P::SocketActionUnknown(action) => write!(f, "socket action {action} is not known"),
            P::ReplyUnexpected(kind) => write!(f, "{kind:?} was not awaited"),
            P::TooManyRequestsAhead => {
                write!(f, "too many requests sent ahead on one conversation")
            }
        }
    }
}

impl std::error::Error for PeerMisbehaved {}
