//! Units of work: what they have done, and how they end.
//!
//! | file | what is there |
//! | --- | --- |
//! | `table` | every unit of work there is, and what keeps the log from being cut |
//! | `outcome` | committed, or backed out |
//! | `ends` | how they grow and end |
//! | `branches`, `branch` | units of work that somebody else decides about (XA) |
//! | `ongoing`, `worked_on` | which connections work on a branch that is not prepared; which branches a connection has worked on |
//! | `carried` | those in doubt, as an image carries them and a restart restores them |
//! | `effect`, `happen` | what a forced log record makes true |
//! | `ticket` | effects that no call waits for: asynchronous puts, and those whose applications went away |
//! | `settle` | how tickets happen, and who waits for that |
//! | `log_space_wait` | what a call does about a log that is full |
//!
//! Invariants:
//! * The unit table has every unit of work until its end has happened; a session has a key to its own. Whoever changes
//!   one, its session or maintenance, does so under its lock and looks first at what stage it is.
//! * Only an active unit of work grows. One that is active can be ended or prepared, one that is prepared resolved, one
//!   that was settled forgotten: whoever does so says it under its lock, and nobody else does it then.
//! * One that is doomed is not committed, and one that the system has backed out is not gone on with: its application
//!   learns of it (2003) at its next call about it. A listener, which makes none before it is called, is called in a doomed one.
//! * While records of a unit of work may be needed at restart, its pin keeps the log from being cut above them, or images
//!   carry them.
//! * What a unit of work does to one queue becomes visible at once, under one hold of the queue's
//!   lock; queues follow each other.
//! * With its first record, and with each persistent get, a unit of work has room for its backout record kept in
//!   the log, until it ends or is prepared: gets and the ends of others cannot use up what its own end, or that by a
//!   restart, will need.

pub(crate) mod branch;
mod branches;
pub(crate) mod carried;
pub(crate) mod effect;
pub(crate) mod ends;
pub(crate) mod happen;
pub(crate) mod log_space_wait;
pub(crate) mod ongoing;
pub(crate) mod outcome;
mod settle;
pub(crate) mod table;
pub(crate) mod ticket;
pub(crate) mod worked_on;

use std::sync::Arc;

use posthaste_env::sync::{Mutex, MutexGuard};
use posthaste_mqi::Xid;
use posthaste_recovery_log::{LogError, Lsn};
use smallvec::SmallVec;

use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::queue::uncommitted::Uncommitted;
use crate::record::{BackoutCount, UowId};
use branch::Preparer;
use ongoing::Ongoing;
use outcome::Outcome;
use table::Place;

/// The unit table of a queue manager.
pub(crate) type Units = table::Table<Unit>;
/// Holds the log back as long as it lives.
pub(crate) type Pin = table::Pin<Unit>;

/// One put or get of a unit of work.
pub(crate) enum Op {
    Put {
        queue: Arc<Queue>,
        put: Uncommitted,
    },
    /// Of the message its slot knows all that is needed; its bytes are where they were.
    Got {
        queue: Arc<Queue>,
        slot: SlotId,
    },
}

impl Op {
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        match self {
            Op::Put { queue, .. } | Op::Got { queue, .. } => queue,
        }
    }
}

/// What a unit of work has done, in order; most have one or two operations, which need no memory of their own.
pub(crate) type Ops = SmallVec<[Op; 2]>;

/// Calls `each` with the operations on every queue, in the order in which they are given.
fn queue_by_queue(mut ops: Ops, mut each: impl FnMut(&Arc<Queue>, &[Op])) {
    // Stable: the operations on one queue keep their order.
    ops.sort_by_key(|op| op.queue().id);
    for of_queue in ops.chunk_by(|a, b| a.queue().id == b.queue().id) {
        if let Some(first) = of_queue.first() {
            each(first.queue(), of_queue);
        }
    }
}

/// How far a unit of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Active,
    /// Somebody is ending it.
    Ending,
    /// The system has backed it out; its application does not know yet.
    BackedOut,
    /// In doubt: a transaction manager or an operator decides.
    Prepared,
    /// It was in doubt, and somebody else has decided; that is remembered.
    Settled(Outcome),
    /// All of its end has happened.
    Ended,
}

/// A unit of work.
pub(crate) struct Unit {
    pub(crate) id: UowId,
    /// When it began, microseconds since 1970.
    pub(crate) started: i64,
    /// The connection whose it is; 0: the queue manager's own, or one that a restart has found.
    pub(crate) session: u64,
    place: Place,
    work: Mutex<Work>,
}

/// What a unit of work has done.
pub(crate) struct Work {
    pub(crate) stage: Stage,
    /// A message of it is missing, and its application does not know: it is not committed.
    pub(crate) doomed: bool,
    pub(crate) ops: Ops,
    /// True when it has records in the log.
    pub(crate) logged: bool,
    /// It has a pin, taken before its first record was appended.
    pinned: bool,
    /// Its first record is at or after this; `Lsn(0)` when it has none.
    pub(crate) first: Lsn,
    /// When it wrote its first record.
    pub(crate) logged_at: Option<i64>,
    /// Bytes of the log that are kept for its end.
    owed: u64,
    /// Its identifier, if it is a branch that is prepared.
    xid: Option<Xid>,
    /// Who has prepared it, if it is a branch that is prepared or was, and not one that a restart has found.
    prepared_by: Option<Preparer>,
    /// Who works on it, if it is a branch that is not.
    pub(crate) ongoing: Option<Box<Ongoing>>,
    /// Holds the record of its end, where that of its beginning is held no more.
    end_pin: Option<Pin>,
    /// How it ended, if it did and had done anything.
    outcome: Option<Outcome>,
}

/// Bytes that the record of an end takes, with its share of page headers, and each backout count in it.
const END: u64 = 64;
const COUNT: u64 = 20;

impl Work {
    /// Bytes to keep for its end when it appends one more record, of a get or of a put.
    pub(crate) fn owing(&self, get: bool) -> u64 {
        if planted(Bug::SpendReserve) {
            return 0;
        }
        let end = if self.logged { 0 } else { END };
        let count = if get { COUNT } else { 0 };
        end + count
    }

    /// Bytes of the log that are kept for its end.
    pub(crate) fn owed(&self) -> u64 {
        self.owed
    }

    /// Its identifier, if it is a branch that is prepared or was.
    pub(crate) fn branch(&self) -> Option<&Xid> {
        self.xid.as_ref()
    }

    /// Whether images carry it, so that it needs no pin.
    pub(crate) fn is_carried(&self) -> bool {
        matches!(self.stage, Stage::Prepared | Stage::Settled(_)) || self.end_pin.is_some()
    }

    /// The backout counts its persistent messages will have.
    fn counts(&self) -> Vec<BackoutCount> {
        let mut counts = Vec::new();
        for op in &self.ops {
            let Op::Got { queue, slot } = op else {
                continue;
            };
            let slot = *queue.lock().index.slot(*slot);
            if slot.persistent() {
                counts.push(BackoutCount {
                    queue: queue.id,
                    seq: slot.seq,
                    count: slot.backout_count.saturating_add(1),
                });
            }
        }
        counts
    }

    /// Whether one of its gets asks for hardened backout counts.
    fn hardens(&self) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Got { queue, slot } => {
                let state = queue.lock();
                state.index.slot(*slot).persistent() && state.attributes.harden_backout
            }
            Op::Put { .. } => false,
        })
    }
}

/// What a commit has come to.
pub(crate) enum Commit {
    /// It happens once the log is forced up to there.
    Appended(Lsn),
    /// The system has backed the unit of work out.
    BackedOut,
    /// It has to be backed out.
    Doomed,
    Refused(LogError),
}

/// What a backout has come to.
pub(crate) enum Backout {
    /// It may happen at once.
    Now,
    /// It happens once the log is forced up to there: nobody sees a count that a crash could take back.
    Once(Lsn),
    /// The system has done it.
    Done,
}

impl Unit {
    fn new(id: UowId, started: i64, session: u64, place: Place, pinned: bool) -> Self {
        let work = Work {
            stage: Stage::Active,
            doomed: false,
            ops: Ops::new(),
            logged: false,
            pinned,
            first: Lsn(0),
            logged_at: None,
            owed: 0,
            xid: None,
            prepared_by: None,
            ongoing: None,
            end_pin: None,
            outcome: None,
        };
        Unit {
            id,
            started,
            session,
            place,
            work: Mutex::new(work),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock()
    }

    /// How it ended, if all of its end has happened, whether its application knows or not.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.lock().outcome
    }
}
