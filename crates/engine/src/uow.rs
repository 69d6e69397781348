//! Units of work, and what a forced log record makes true.
//!
//! Invariants:
//! * An [`Effect`] happens exactly once, and only against a [`Forced`] token that covers its record:
//!   a message cannot become visible, nor disappear, while a crash could still take that back.
//! * The effect does not depend on the application: should its call be dropped between the append
//!   and the force, the effect is handed to the orphans, which maintenance applies in its stead.
//! * While records of a unit of work may be needed at restart, its pin keeps the log from being cut
//!   above them. The pin belongs to the unit of work, or to the effect of a call outside one, and
//!   goes when that has happened.
//! * What a unit of work does to one queue becomes visible at once, under one hold of the queue's
//!   lock; queues follow each other.
//! * With its first record, and with each persistent get, a unit of work has room for its backout record kept in
//!   the log, until it ends: gets and the ends of others cannot use up what its own end, or that by a restart,
//!   will need.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, Forced, LogError, Lsn};

use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::meter::Count;
use crate::orphans::Orphan;
use crate::pins::Pin;
use crate::plant::{Bug, planted};
use crate::queue::index::SlotId;
use crate::queue::uncommitted::Uncommitted;
use crate::queue::waiters::Wakes;
use crate::queue::{Queue, QueueState};
use crate::record::{self, BackoutCount, UowId};
use crate::trigger;

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
    fn queue(&self) -> &Arc<Queue> {
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

/// A unit of work.
pub(crate) struct Uow {
    pub(crate) id: UowId,
    pub(crate) ops: Vec<Op>,
    /// True when it has records in the log.
    pub(crate) logged: bool,
    /// Its first record is at or after this; `Lsn(0)` when it has none.
    pub(crate) first: Lsn,
    /// When it began, microseconds since 1970.
    pub(crate) started: i64,
    /// When it wrote its first record.
    pub(crate) logged_at: Option<i64>,
    /// Taken before its first record is appended.
    pub(crate) pin: Option<Pin>,
    /// Bytes of the log that are kept for its end.
    owed: u64,
    /// A message of it is missing, and its application does not know: it is not committed.
    pub(crate) doomed: bool,
}

/// Bytes that the record of an end takes, with its share of page headers, and each backout count in it.
const END: u64 = 64;
const COUNT: u64 = 20;

impl Uow {
    pub(crate) fn new(id: UowId, started: i64) -> Self {
        Uow {
            id,
            ops: Vec::new(),
            logged: false,
            first: Lsn(0),
            started,
            logged_at: None,
            pin: None,
            owed: 0,
            doomed: false,
        }
    }

    /// Keeps the log from being cut above the record that it is about to append.
    pub(crate) fn pin(&mut self, qm: &Inner) {
        self.pin.get_or_insert_with(|| qm.pins.hold(&qm.log));
    }

    /// The record could not be appended: without others it needs no pin.
    pub(crate) fn not_appended(&mut self) {
        if !self.logged {
            self.pin = None;
        }
    }

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

    /// Makes its puts visible and its gets final: on each queue all at once.
    fn commit(self, qm: &Arc<Inner>) {
        let mut wakes = Wakes::default();
        let (mut due, mut full) = (Vec::new(), Vec::new());
        queue_by_queue(self.ops, |queue, ops| {
            let mut state = queue.lock();
            for op in ops {
                match op {
                    Op::Put { put, .. } => {
                        state.arrive_uncommitted(put, &mut wakes);
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
        wakes.wake();
        full.iter().for_each(|queue| queue.spill());
        for (queue, event) in due {
            trigger::fire(qm, &queue, event);
        }
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

    /// Appends its backout record, if it has records at all; returns up to where the log has to be durable for the
    /// backout to be. A full log can do without the record: a restart undoes what has no end, and the records of
    /// its gets say which backout counts that leaves. (What is kept for ends is bytes: ends that are forced one by
    /// one take a page each, and may need more.)
    ///
    /// # Errors
    /// The log has stopped: what is true is for the restart to decide, and nothing may be undone before.
    pub(crate) fn log_backout(&mut self, qm: &Inner) -> Result<Option<Lsn>, LogError> {
        if !self.logged {
            return Ok(None);
        }
        let record = record::backout(self.id, &self.counts());
        let appended = qm.log.append(Class::Promised, &[&record]);
        self.settle(qm);
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

    /// Undoes it: puts never happened, gets come back with a backout count one higher.
    pub(crate) fn undo(self, qm: &Arc<Inner>) {
        for (queue, event) in self.give_all_back(qm) {
            trigger::fire(qm, &queue, event);
        }
    }

    /// The same but for the triggers, which are returned: no lock may be held while they fire.
    pub(crate) fn give_all_back(self, qm: &Arc<Inner>) -> Vec<(Arc<Queue>, trigger::Event)> {
        let mut wakes = Wakes::default();
        let (mut due, mut full) = (Vec::new(), Vec::new());
        queue_by_queue(self.ops, |queue, ops| {
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
                            .give_back(*slot, &mut wakes)
                            .then(|| trigger::came_back(qm, &mut state, priority))
                            .flatten();
                        due.extend(event.map(|event| (queue.clone(), event)));
                    }
                }
            }
            full.extend(state.spills().then(|| queue.clone()));
        });
        wakes.wake();
        full.iter().for_each(|queue| queue.spill());
        due
    }

    /// Whether one of its gets asks for hardened backout counts.
    pub(crate) fn hardens(&self) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Got { queue, slot } => {
                let state = queue.lock();
                state.index.slot(*slot).persistent() && state.attributes.harden_backout
            }
            Op::Put { .. } => false,
        })
    }
}

/// A committed message arrives at its queue. `reserved`: it was counted among the pending puts.
pub(crate) fn deliver(qm: &Arc<Inner>, queue: &Arc<Queue>, message: &Arc<Message>, reserved: bool) {
    let mut wakes = Wakes::default();
    let mut state = queue.lock();
    let due = arrived(qm, &mut state, message, reserved, &mut wakes);
    let spills = state.spills();
    drop(state);
    wakes.wake();
    if spills {
        queue.spill();
    }
    if let Some(event) = due {
        trigger::fire(qm, queue, event);
    }
}

fn arrived(
    qm: &Inner,
    state: &mut QueueState,
    message: &Arc<Message>,
    reserved: bool,
    wakes: &mut Wakes,
) -> Option<trigger::Event> {
    if reserved {
        state.pending_puts -= 1;
    }
    if state.deleted {
        return None;
    }
    state.arrive(message, wakes);
    trigger::due(qm, state, message.md.priority)
}

/// What a forced record makes true.
pub(crate) enum Effect {
    Commit(Box<Uow>),
    /// A backout whose counts are hardened: nobody sees a count that a crash could take back.
    Backout(Box<Uow>),
    Put {
        queue: Arc<Queue>,
        message: Arc<Message>,
        pin: Pin,
    },
    Got {
        queue: Arc<Queue>,
        slot: SlotId,
        pin: Pin,
    },
    /// CLEAR: the messages put before `below` are gone.
    Cleared {
        queue: Arc<Queue>,
        below: u64,
        pin: Pin,
    },
}

impl Effect {
    /// Whether it is of one put or get outside a unit of work.
    fn alone(&self) -> bool {
        matches!(self, Effect::Put { .. } | Effect::Got { .. })
    }

    /// Makes it true. `forced` proves that the record up to `end` is durable.
    pub(crate) fn happen(self, qm: &Arc<Inner>, end: Lsn, forced: &Forced) {
        assert!(forced.covers(end), "an effect before its record is durable");
        match self {
            Effect::Commit(uow) => uow.commit(qm),
            Effect::Backout(uow) => uow.undo(qm),
            Effect::Put {
                queue,
                message,
                pin,
            } => {
                deliver(qm, &queue, &message, true);
                drop(pin);
            }
            Effect::Got { queue, slot, pin } => {
                queue.lock().got(slot);
                drop(pin);
            }
            Effect::Cleared { queue, below, pin } => {
                let mut state = queue.lock();
                state.clear(below);
                state.give_up();
                drop(state);
                drop(pin);
            }
        }
    }

    /// Lets go of the unit of work's pin before the effect has happened (a planted bug).
    pub(crate) fn unpin(&mut self) {
        if let Effect::Commit(uow) | Effect::Backout(uow) = self {
            uow.pin = None;
        }
    }
}

/// An effect on its way: appended, not yet forced.
pub(crate) struct Pending<'a> {
    pub(crate) qm: &'a Arc<Inner>,
    pub(crate) end: Lsn,
    pub(crate) effect: Option<Effect>,
}

impl Pending<'_> {
    /// Waits for the force, then lets the effect happen.
    pub(crate) async fn done(mut self) -> Result<(), Reason> {
        let forced = match self.qm.log.force(self.end).await {
            Ok(forced) => forced,
            Err(error) => {
                // Nobody knows whether the record is durable: the queue manager stops, and what is
                // true is decided by the restart.
                self.qm.log_failed(&error);
                return Err(Reason::CONNECTION_BROKEN);
            }
        };
        if let Some(effect) = self.effect.take() {
            if effect.alone() {
                self.qm.home.stages.one(Count::ForcedAlone);
            }
            effect.happen(self.qm, self.end, &forced);
        }
        self.qm.note_progress(self.end);
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(effect) = self.effect.take() {
            self.qm.orphan(Orphan {
                end: self.end,
                effect,
            });
        }
    }
}
