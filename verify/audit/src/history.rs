//! What the auditor did and what it was told: the record that is judged.
//!
//! Invariants:
//! * [`Stamp`]s number what all connections did in one order: a stamp is drawn before a call is sent
//!   and another one after its reply has been read, so whatever the queue manager did for the call
//!   lies between the two.
//! * A call that got no reply has [`NEVER`] as the stamp of its reply.
//! * A connection does one thing at a time, so its puts are numbered in the order they were made.

use std::fmt;

use crate::violation::Violation;

/// A moment in the one order of everything the auditor did.
pub(crate) type Stamp = u64;
/// Later than everything.
pub(crate) const NEVER: Stamp = Stamp::MAX;

/// A message: the connection that put it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    pub(crate) worker: u32,
    pub(crate) number: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.worker, self.number)
    }
}

/// A unit of work: the connection, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnitId {
    pub(crate) worker: u32,
    pub(crate) number: u32,
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.worker, self.number)
    }
}

/// What became of a put as far as its own reply tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was accepted.
    Done,
    /// It was refused with a reason: it did not happen.
    Refused,
    /// No reply came.
    Unknown,
}

/// An MQPUT or MQPUT1.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) id: Id,
    pub(crate) queue: u8,
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    /// Milliseconds since the campaign began between which it expires, if it does.
    pub(crate) expires: Option<Expires>,
    /// It is delayed: milliseconds since the campaign began before which nobody may see it.
    pub(crate) not_before: Option<u64>,
    pub(crate) unit: Option<UnitId>,
    pub(crate) called: Stamp,
    pub(crate) replied: Stamp,
    pub(crate) answer: Answer,
}

/// When a message expires, in milliseconds since the campaign began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expires {
    /// Not before.
    pub(crate) from: u64,
    /// By then at the latest.
    pub(crate) by: u64,
}

/// What an MQGET came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// 2033.
    Empty,
    /// The queue manager, or the channel, ends: that wait was ended, and no message was got.
    Ended,
    /// Another reason.
    Refused,
    /// No reply came.
    Unknown,
    /// A message.
    Delivered { id: Id, backouts: u32 },
}

/// An MQGET.
#[derive(Clone, Debug)]
pub(crate) struct Get {
    pub(crate) queue: u8,
    /// The unit of work the message was got in. For a call without a reply: the one it asked for.
    pub(crate) unit: Option<UnitId>,
    pub(crate) called: Stamp,
    pub(crate) replied: Stamp,
    /// Milliseconds since the campaign began, when it was called.
    pub(crate) called_ms: u64,
    /// The same, when its reply had been read.
    pub(crate) replied_ms: u64,
    /// It asked for the next message, not for a certain one.
    pub(crate) plain: bool,
    pub(crate) outcome: Outcome,
}

impl Get {
    /// The message it delivered.
    pub(crate) fn delivered(&self) -> Option<(Id, u32)> {
        match self.outcome {
            Outcome::Delivered { id, backouts } => Some((id, backouts)),
            _ => None,
        }
    }
    /// It may have held a message that nobody was told of. An ended wait may not: what it had been given is
    /// back on its queue, or was never taken.
    pub(crate) fn obscure(&self) -> bool {
        matches!(self.outcome, Outcome::Unknown | Outcome::Refused)
    }
}

/// How a unit of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It was never asked to end: the connection was lost, or MQBACK got no reply. It is backed out.
    Lost,
    /// MQCMIT or MQDISC got its reply.
    Committed { called: Stamp, replied: Stamp },
    /// MQCMIT or MQDISC got no reply.
    InDoubt { called: Stamp },
    /// MQBACK got its reply.
    BackedOut { replied: Stamp },
}

/// A unit of work.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) id: UnitId,
    /// When the last of its puts and gets that succeeded was called: it had not been backed out then.
    pub(crate) alive: Stamp,
    pub(crate) ending: Ending,
    /// How far it has come as a branch of a global transaction, once it was to be prepared.
    pub(crate) branch: Option<Branch>,
}

/// How far a branch of a global transaction has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// It was told to prepare; no answer has come.
    Preparing,
    /// It is prepared, and nobody has decided.
    Prepared,
    /// It was told to commit.
    Committing,
}

/// What one connection, or all of them together, did.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) puts: Vec<Put>,
    pub(crate) gets: Vec<Get>,
    pub(crate) units: Vec<Unit>,
    /// What was wrong on the spot: damaged messages, replies that nobody should get.
    pub(crate) complaints: Vec<Violation>,
}

impl History {
    /// Takes over what another one did.
    pub(crate) fn absorb(&mut self, other: History) {
        self.puts.extend(other.puts);
        self.gets.extend(other.gets);
        self.units.extend(other.units);
        self.complaints.extend(other.complaints);
    }
}

/// What is special about a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub(crate) name: &'static str,
    /// MSGDLVSQ(PRIORITY), not FIFO.
    pub(crate) by_priority: bool,
    /// HARDENBO.
    pub(crate) hardened: bool,
    /// NPMCLASS(HIGH).
    pub(crate) keeps: bool,
}

/// A message found on a queue by browsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: Id,
    pub(crate) persistent: bool,
    pub(crate) priority: u8,
    pub(crate) backouts: u32,
}

/// Every queue, browsed while nobody was at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// In the order of delivery.
    pub(crate) queues: Vec<Vec<Seen>>,
    /// Milliseconds since the campaign began, when the last one was browsed.
    pub(crate) taken_ms: u64,
}

/// How a round came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// The server was killed, or its power was cut, and it was started again.
    Killed,
    /// The server was told to end under load, did so in order, and was started again.
    Ended,
    /// The connections ended in order and the server ran on.
    Quiet,
}

/// One round: work, an end, and what was found afterwards.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) number: u32,
    pub(crate) history: History,
    pub(crate) close: Close,
    pub(crate) snapshot: Snapshot,
}
