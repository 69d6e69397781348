//! How a connection ends: what the client is told, and what the operator reads.

use std::io;

use posthaste_engine::Operator;
use posthaste_wire::{PeerMisbehaved, Status};

/// Why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The client said that it closes.
    Closed,
    /// The connection was closed or lost without a word.
    Lost(Option<io::ErrorKind>),
    /// The client broke the protocol.
    Misbehaved(PeerMisbehaved),
    /// The proposal was refused; the client has been told.
    Refused,
    /// It did not connect in time, or was silent for too long.
    Silent,
    /// It had not connected when others wanted its place.
    Evicted,
    /// It did not read what was sent.
    Stalled,
    /// It made no call for DISCINT.
    Idle,
    /// The channel was stopped, or the queue manager ends.
    Stopped(Status),
}

impl End {
    /// What the client is told before the socket is closed.
    pub(crate) fn farewell(self) -> Option<Status> {
        match self {
            End::Closed
            | End::Lost(_)
            | End::Refused
            | End::Stalled
            | End::Silent
            | End::Evicted => None,
            End::Misbehaved(error) => Some(error.status()),
            End::Idle => Some(Status::DISC_INTERVAL_EXPIRED),
            End::Stopped(status) => Some(status),
        }
    }

    /// Whether it is closed at once: nobody reads what is written any more, or others wait for its socket.
    pub(crate) fn is_gone(self) -> bool {
        matches!(self, End::Lost(_) | End::Stalled | End::Evicted)
    }

    /// Whether requests that have come are still carried out.
    pub(crate) fn drains(self) -> bool {
        matches!(self, End::Closed | End::Lost(_))
    }

    /// Tells the operator. `connected`: an application was, until now.
    pub(crate) fn report(
        self,
        operator: &dyn Operator,
        channel: &str,
        host: &str,
        connected: bool,
    ) {
        let channel = if channel.is_empty() { "?" } else { channel };
        let tell = |id, inserts: &[&str]| {
            let inserts: Vec<String> = inserts.iter().map(|&insert| insert.to_owned()).collect();
            operator.message(id, &inserts);
        };
        match self {
            // Whoever refused or stopped it has said so.
            End::Closed | End::Refused | End::Stopped(_) => return,
            // A port check, or a client that has disconnected and saves itself the last words.
            End::Lost(None | Some(io::ErrorKind::ConnectionReset)) if !connected => return,
            End::Lost(None) => tell("AMQ9209E", &[host, channel]),
            End::Lost(Some(error)) => tell("AMQ9208E", &[host, &error.to_string()]),
            End::Misbehaved(error) => match error.message() {
                "AMQ9207E" => tell("AMQ9207E", &[host, channel]),
                "AMQ9503E" => tell("AMQ9503E", &[host, channel, &error.to_string()]),
                _ => tell("AMQ9504E", &[channel, host, &error.to_string()]),
            },
            End::Silent | End::Stalled | End::Evicted => tell("AMQ9259E", &[host]),
            End::Idle => tell("AMQ9545I", &[channel]),
        }
        if connected && self != End::Idle {
            tell("AMQ9999E", &[channel, host]);
        }
    }
}
