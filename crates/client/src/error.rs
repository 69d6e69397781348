//! What can go wrong with a client's call.

use posthaste_mqi::Reason;
use posthaste_wire::PeerMisbehaved;

/// Why a call failed. Every kind maps to the reason code an MQI program expects.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The queue manager, or the negotiation with it, said no.
    #[error("{0}")]
    Reason(Reason),
    /// Nobody listens there.
    #[error("cannot connect to {address}: {error}")]
    NotAvailable {
        /// Where.
        address: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The queue manager did not answer in time; whether it did what was asked is not known.
    #[error("the queue manager did not answer within {} seconds", .0.as_secs())]
    Silent(std::time::Duration),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
    /// TLS did not come about.
    #[error("{why}")]
    Tls {
        /// 2381, 2392, 2393, 2398 or 2399.
        reason: Reason,
        /// In words.
        why: String,
    },
    /// The other side does not speak the channel protocol.
    #[error("the queue manager broke the channel protocol: {0:?}")]
    Peer(PeerMisbehaved),
    /// `MQSERVER` or another address does not read `CHANNEL/TCP/host(port)`.
    #[error("{0}")]
    BadAddress(String),
}

/// Why a socket goes no further. Everybody who uses it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The queue manager ended it.
    Reason(Reason),
    /// It broke.
    Broken(std::io::ErrorKind),
    /// The server broke the protocol.
    Peer(PeerMisbehaved),
}

impl From<PeerMisbehaved> for Cause {
    fn from(error: PeerMisbehaved) -> Self {
        Cause::Peer(error)
    }
}

impl From<std::io::Error> for Cause {
    fn from(error: std::io::Error) -> Self {
        Cause::Broken(error.kind())
    }
}

impl From<Cause> for ClientError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Reason(reason) => ClientError::Reason(reason),
            Cause::Broken(kind) => ClientError::Broken(kind.into()),
            Cause::Peer(error) => ClientError::Peer(error),
        }
    }
}

impl ClientError {
    /// The reason code of this error.
    pub fn reason(&self) -> Reason {
        match self {
            ClientError::Reason(reason) | ClientError::Tls { reason, .. } => *reason,
            ClientError::NotAvailable { .. } => Reason::HOST_NOT_AVAILABLE,
            ClientError::Silent(_) | ClientError::Broken(_) | ClientError::Peer(_) => {
                Reason::CONNECTION_BROKEN
            }
            ClientError::BadAddress(_) => Reason::Q_MGR_NOT_AVAILABLE,
        }
    }
}

impl From<Reason> for ClientError {
    fn from(reason: Reason) -> Self {
        ClientError::Reason(reason)
    }
}

impl From<PeerMisbehaved> for ClientError {
    fn from(error: PeerMisbehaved) -> Self {
        ClientError::Peer(error)
    }
}
