//! Units of work: what they have done, and how they end.
//!
//! | file | what is there |
//! | --- | --- |
//! | `table` | every unit of work there is, and what keeps the log from being cut |
//! | `branch` | units of work that somebody else decides about (XA) |
//! | `carried` | those in doubt, as an image carries them and a restart restores them |
//! | `effect` | what a forced log record makes true |
//! | `orphans` | effects whose applications went away before they happened |
//!
//! Invariants:
//! * The unit table has every unit of work until its end has happened; a session has a key to its own. Whoever changes
//!   one, its session or maintenance, does so under its lock and looks first at what stage it is.
//! * Only an active unit of work grows. One that is active can be ended or prepared, one that is prepared resolved, one
//!   that was settled forgotten: whoever does so says it under its lock, and nobody else does it then.
//! * One that is doomed is not committed, and one that the system has backed out is not gone on with: its application
//!   learns of it (2003) at its next call about it.
//! * While records of a unit of work may be needed at restart, its pin keeps the log from being cut above them, or images
//!   carry them.
//! * What a unit of work does to one queue becomes visible at once, under one hold of the queue's
//!   lock; queues follow each other.
//! * With its first record, and with each persistent get, a unit of work has room for its backout record kept in
//!   the log, until it ends or is prepared: gets and the ends of others cannot use up what its own end, or that by a
//!   restart, will need.

pub(crate) mod branch;
pub(crate) mod carried;
pub(crate) mod effect;
pub(crate) mod orphans;
pub(crate) mod table;

use std::sync::Arc;

use posthaste_env::sync::{Mutex, MutexGuard};
use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError, Lsn};

use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::queue::uncommitted::Uncommitted;
use crate::queue::waiters::Wakes;
use crate::record::{self, BackoutCount, UowId};
use crate::trigger;
use branch::{Outcome, Xid};
use table::{Pin, Place};

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

/// Calls `each` with the operations on every queue, in the order in which they are given.
fn queue_by_queue(mut ops: Vec<Op>, mut each: impl FnMut(&Arc<Queue>, &[Op])) {
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
    pub(crate) ops: Vec<Op>,
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
    /// Its identifier, if it is a branch.
    xid: Option<Xid>,
    /// Holds the record of its end, where that of its beginning is held no more.
    end_pin: Option<Pin>,
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

    /// Notes that it has a record at `lsn`, with which the log keeps `owing` bytes for its end.
    pub(crate) fn note(&mut self, lsn: Lsn, owing: u64, qm: &Inner) {
        self.owed += owing;
        if !self.logged {
            self.logged = true;
            self.first = lsn;
            self.logged_at = Some(qm.now());
        }
    }

    /// Whether images carry it, so that it needs no pin.
    pub(crate) fn is_carried(&self) -> bool {
        matches!(self.stage, Stage::Prepared | Stage::Settled(_)) || self.end_pin.is_some()
    }

    /// Whether so many more messages may join it.
    ///
    /// # Errors
    /// 2003 when the system has backed it out, 2024 when it has MAXUMSGS messages.
    pub(crate) fn check(&self, qm: &Inner, more: usize) -> Result<(), Reason> {
        if self.stage == Stage::BackedOut {
            return Err(Reason::BACKED_OUT);
        }
        if self.ops.len() + more > qm.catalogue.qmgr().max_uncommitted {
            return Err(Reason::SYNCPOINT_LIMIT_REACHED);
        }
        Ok(())
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

    /// Its end has been appended: the log keeps nothing for it any more.
    pub(crate) fn settle(&mut self, qm: &Inner) {
        let owed = std::mem::take(&mut self.owed);
        if !planted(Bug::KeepPromise) {
            qm.log.release(owed);
        }
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
            ops: Vec::new(),
            logged: false,
            pinned,
            first: Lsn(0),
            logged_at: None,
            owed: 0,
            xid: None,
            end_pin: None,
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

    /// Keeps the log from being cut above the record that it is about to append.
    pub(crate) fn pin(&self, work: &mut Work, qm: &Inner) {
        if !work.pinned {
            qm.units.pin(self.place, &qm.log);
            work.pinned = true;
        }
    }

    /// The record could not be appended: without others it needs no pin.
    pub(crate) fn not_appended(&self, work: &mut Work, qm: &Inner) {
        if !work.logged {
            self.unpin(qm);
            work.pinned = false;
        }
    }

    /// Lets go of its pin, which it may still need where this is not the way back from [`Self::pin`] (planted bugs).
    pub(crate) fn unpin(&self, qm: &Inner) {
        qm.units.unpin(self.place);
    }

    /// Begins to commit it; after [`Commit::Appended`] the caller sees it through.
    pub(crate) fn begin_commit(&self, qm: &Inner) -> Commit {
        let mut work = self.lock();
        if work.stage == Stage::BackedOut {
            return Commit::BackedOut;
        }
        if work.doomed && !planted(Bug::CommitDoomed) {
            return Commit::Doomed;
        }
        let mut end = Lsn(0);
        if work.logged {
            match qm.log.append(Class::Essential, &[&record::commit(self.id)]) {
                Ok(appended) => end = appended.end,
                Err(error) => return Commit::Refused(error),
            }
            work.settle(qm);
        }
        work.stage = Stage::Ending;
        Commit::Appended(end)
    }

    /// Lets its end happen; `settled`: it was decided heuristically, and is remembered. Under its lock, so that a
    /// checkpoint finds it whole in the unit table or whole in the queues.
    fn end(&self, qm: &Arc<Inner>, outcome: Outcome, settled: bool) {
        let mut work = self.lock();
        let ops = std::mem::take(&mut work.ops);
        let behind = match outcome {
            Outcome::Committed => make_final(qm, ops),
            Outcome::BackedOut => give_all_back(qm, ops),
        };
        if settled {
            work.stage = Stage::Settled(outcome);
            work.end_pin = None;
        } else {
            self.leave(&mut work, qm);
        }
        drop(work);
        behind.follow(qm);
    }

    /// Undoes it: puts never happened, gets come back with a backout count one higher.
    pub(crate) fn undo(&self, qm: &Arc<Inner>) {
        self.end(qm, Outcome::BackedOut, false);
    }

    /// All of its end has happened, or it never began to be.
    pub(crate) fn leave(&self, work: &mut Work, qm: &Inner) {
        work.stage = Stage::Ended;
        if let Some(xid) = &work.xid {
            qm.units.branches.remove(xid);
        }
        qm.units.remove(self.place);
        work.end_pin = None;
    }

    /// Appends the backout record of one that is active, if it has records at all; returns up to where the log has to
    /// be durable for the backout to be. A full log can do without the record: a restart undoes what has no end, and the
    /// records of its gets say which backout counts that leaves. (What is kept for ends is bytes: ends that are forced
    /// one by one take a page each, and may need more.)
    ///
    /// # Errors
    /// The log has stopped: what is true is for the restart to decide, and nothing may be undone before.
    fn log_backout(&self, work: &mut Work, qm: &Inner) -> Result<Option<Lsn>, LogError> {
        work.stage = Stage::Ending;
        if !work.logged {
            return Ok(None);
        }
        let record = record::backout(self.id, &work.counts());
        let appended = qm.log.append(Class::Promised, &[&record]);
        work.settle(qm);
        match appended {
            Ok(appended) => Ok(Some(appended.end)),
            Err(LogError::Full) => Ok(Some(qm.log.appended())),
            Err(error) => {
                mark(Mark::RefusedByStoppedLog);
                qm.log_failed(&error);
                Err(error)
            }
        }
    }

    /// Begins to back it out; the caller sees it through.
    ///
    /// # Errors
    /// As [`Self::log_backout`].
    pub(crate) fn begin_backout(&self, qm: &Inner) -> Result<Backout, LogError> {
        let mut work = self.lock();
        if work.stage == Stage::BackedOut {
            return Ok(Backout::Done);
        }
        Ok(match self.log_backout(&mut work, qm)? {
            Some(end) if work.hardens() => Backout::Once(end),
            _ => Backout::Now,
        })
    }

    /// Backs it out if it is active, without its application, which does not learn of it before all is undone. `None`:
    /// it was not, or the log has stopped. What it leaves behind is to be followed without a lock.
    pub(crate) fn back_out_by_system(&self, qm: &Arc<Inner>) -> Option<Behind> {
        let mut work = self.lock();
        if work.stage != Stage::Active || self.log_backout(&mut work, qm).is_err() {
            return None;
        }
        let behind = give_all_back(qm, std::mem::take(&mut work.ops));
        self.leave(&mut work, qm);
        work.stage = Stage::BackedOut;
        Some(behind)
    }
}

/// What an end leaves to be done when its locks are given back.
#[derive(Default)]
pub(crate) struct Behind {
    wakes: Wakes,
    full: Vec<Arc<Queue>>,
    due: Vec<(Arc<Queue>, trigger::Event)>,
}

impl Behind {
    pub(crate) fn follow(self, qm: &Arc<Inner>) {
        self.wakes.wake();
        self.full.iter().for_each(|queue| queue.spill());
        for (queue, event) in self.due {
            trigger::fire(qm, &queue, event);
        }
    }
}

/// Makes puts visible and gets final: on each queue all at once.
fn make_final(qm: &Arc<Inner>, ops: Vec<Op>) -> Behind {
    let mut behind = Behind::default();
    let Behind { wakes, full, due } = &mut behind;
    queue_by_queue(ops, |queue, ops| {
        let mut state = queue.lock();
        for op in ops {
            match op {
                Op::Put { put, .. } => {
                    state.arrive_uncommitted(put, wakes);
                    let event = (!state.deleted)
                        .then(|| trigger::due(qm, &mut state, put.priority()))
                        .flatten();
                    due.extend(event.map(|event| (queue.clone(), event)));
                }
                Op::Got { slot, .. } => {
                    if planted(Bug::DeliverTwice) {
                        state.uncommitted_gets -= 1;
                        state.list(*slot);
                    } else {
                        state.got(*slot);
                    }
                }
            }
        }
        full.extend(state.spills().then(|| queue.clone()));
    });
    behind
}

/// Undoes operations, on each queue all at once.
fn give_all_back(qm: &Arc<Inner>, ops: Vec<Op>) -> Behind {
    let mut behind = Behind::default();
    let Behind { wakes, full, due } = &mut behind;
    queue_by_queue(ops, |queue, ops| {
        let mut state = queue.lock();
        // Backwards, so that what came first ends up first.
        for op in ops.iter().rev() {
            match op {
                Op::Put { put, .. } => state.forget_uncommitted(put),
                Op::Got { slot, .. } => {
                    state.uncommitted_gets -= 1;
                    if planted(Bug::ForgetUndo) {
                        continue;
                    }
                    let count = state.index.slot(*slot).backout_count;
                    let more = count.saturating_add(1);
                    state.index.set_backout_count(*slot, more);
                    let priority = i32::from(state.index.slot(*slot).priority());
                    let event = state
                        .give_back(*slot, wakes)
                        .then(|| trigger::came_back(qm, &mut state, priority))
                        .flatten();
                    due.extend(event.map(|event| (queue.clone(), event)));
                }
            }
        }
        full.extend(state.spills().then(|| queue.clone()));
    });
    behind
}
