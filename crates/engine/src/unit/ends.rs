//! How units of work grow and end.
//!
//! Invariants: those of [units of work](super). What an end leaves to be done is done when its locks are given back.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError, Lsn, RecoveryLog};

use super::outcome::Outcome;
use super::{Backout, Commit, Op, Ops, Stage, Unit, Units, Work, queue_by_queue};
use crate::consume::waiter::Wakes;
use crate::delivery::fire;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::record::{self, UowId};
use crate::trigger;

impl Units {
    /// Begins a unit of work of a connection; `log`: it appends a record at once, so that it needs its pin.
    pub(crate) fn begin(
        &self,
        session: u64,
        (id, started): (UowId, i64),
        log: Option<&RecoveryLog>,
    ) -> Arc<Unit> {
        let make = |place| Unit::new(id, started, session, place, log.is_some());
        self.insert(session, log, make)
    }
}

impl Work {
    /// Notes that it has a record at `lsn`, with which the log keeps `owing` bytes for its end.
    pub(crate) fn note(&mut self, lsn: Lsn, owing: u64, qm: &Inner) {
        self.owed += owing;
        if !self.logged {
            self.logged = true;
            self.first = lsn;
            self.logged_at = Some(qm.clock.now());
        }
    }

    /// Whether so many more messages may join it.
    ///
    /// # Errors
    /// 2003 when the system has backed it out, or somebody has on another connection that works on the same branch; 2024
    /// when it would have more than `most` messages.
    pub(crate) fn check(&self, most: usize, more: usize) -> Result<(), Reason> {
        if self.stage != Stage::Active {
            return Err(Reason::BACKED_OUT);
        }
        if self.ops.len().saturating_add(more) > most {
            return Err(Reason::SYNCPOINT_LIMIT_REACHED);
        }
        Ok(())
    }

    /// Its end has been appended: the log keeps nothing for it any more.
    pub(crate) fn settle(&mut self, qm: &Inner) {
        let owed = std::mem::take(&mut self.owed);
        if !planted(Bug::KeepPromise) {
            qm.log.release(owed);
        }
    }
}

impl Unit {
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
        self.begin_commit_of(&mut self.lock(), qm)
    }

    /// The same, under its lock.
    pub(super) fn begin_commit_of(&self, work: &mut Work, qm: &Inner) -> Commit {
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

    /// Lets its end happen, of which the record ends there; `settled`: it was decided heuristically, and is remembered. Under its lock, so that a
    /// checkpoint finds it whole in the unit table or whole in the queues.
    pub(super) fn end(&self, qm: &Arc<Inner>, (outcome, at): (Outcome, Lsn), settled: bool) {
        let mut work = self.lock();
        let ops = std::mem::take(&mut work.ops);
        let deferred = match outcome {
            Outcome::Committed => make_final(qm, ops, at),
            Outcome::BackedOut => give_all_back(qm, ops, work.xid.is_some()),
        };
        work.outcome = Some(outcome);
        if settled {
            work.stage = Stage::Settled(outcome);
            work.end_pin = None;
        } else {
            self.leave(&mut work, qm);
        }
        drop(work);
        deferred.follow(qm);
    }

    /// Undoes it: puts never happened, gets come back with a backout count one higher.
    pub(crate) fn undo(&self, qm: &Arc<Inner>) {
        self.end(qm, (Outcome::BackedOut, Lsn(0)), false);
    }

    /// All of its end has happened, or it never began to be.
    pub(crate) fn leave(&self, work: &mut Work, qm: &Inner) {
        work.stage = Stage::Ended;
        if let Some(xid) = work.xid.as_ref() {
            qm.units.branches.remove(xid);
        }
        if let Some(ongoing) = work.no_longer_ongoing(qm) {
            qm.units.branches.remove(&ongoing.xid);
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
        self.begin_backout_of(&mut self.lock(), qm)
    }

    /// The same, under its lock.
    pub(crate) fn begin_backout_of(
        &self,
        work: &mut Work,
        qm: &Inner,
    ) -> Result<Backout, LogError> {
        if work.stage != Stage::Active {
            return Ok(Backout::Done);
        }
        Ok(match self.log_backout(work, qm)? {
            Some(end) if work.hardens() => Backout::Once(end),
            _ => Backout::Now,
        })
    }

    /// Backs it out if it is active, without its application, which does not learn of it before all is undone. `None`:
    /// it was not, or the log has stopped. What it leaves behind is to be followed without a lock.
    pub(crate) fn back_out_by_system(&self, qm: &Arc<Inner>) -> Option<Deferred> {
        let mut work = self.lock();
        if work.stage != Stage::Active || self.log_backout(&mut work, qm).is_err() {
            return None;
        }
        let deferred = give_all_back(qm, std::mem::take(&mut work.ops), false);
        self.leave(&mut work, qm);
        work.stage = Stage::BackedOut;
        work.outcome = Some(Outcome::BackedOut);
        Some(deferred)
    }
}

/// What an end leaves to be done when its locks are given back.
#[derive(Default)]
pub(crate) struct Deferred {
    wakes: Wakes,
    full: Vec<Arc<Queue>>,
    due: Vec<(Arc<Queue>, trigger::Event)>,
}

impl Deferred {
    pub(crate) fn follow(self, qm: &Arc<Inner>) {
        self.wakes.wake();
        self.full.iter().for_each(|queue| queue.spill());
        for (queue, event) in self.due {
            fire(qm, &queue, event);
        }
    }
}

/// Makes puts visible and gets final: on each queue all at once. `at`: where the commit ends.
fn make_final(qm: &Arc<Inner>, ops: Ops, at: Lsn) -> Deferred {
    // One that has no record comes behind all that there are, and behind those that have none either.
    let decided = || match at {
        Lsn(0) => (qm.log.appended(), qm.next_seq()),
        at => (at, 0),
    };
    let mut deferred = Deferred::default();
    let Deferred { wakes, full, due } = &mut deferred;
    queue_by_queue(ops, |queue, ops| {
        let mut state = queue.lock();
        state.retained_from(decided);
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
        qm.discard_superseded(queue, &mut state);
        full.extend(state.spills().then(|| queue.clone()));
    });
    deferred
}

/// Undoes operations, on each queue all at once; `in_doubt`: those of a branch.
fn give_all_back(qm: &Arc<Inner>, ops: Ops, in_doubt: bool) -> Deferred {
    let mut deferred = Deferred::default();
    let Deferred { wakes, full, due } = &mut deferred;
    queue_by_queue(ops, |queue, ops| {
        let mut state = queue.lock();
        // Backwards, so that what came first ends up first.
        for op in ops.iter().rev() {
            match op {
                Op::Put { put, .. } => state.forget_uncommitted(put, in_doubt),
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
    deferred
}
