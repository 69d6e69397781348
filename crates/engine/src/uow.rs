//! Units of work, and what a forced log record makes true.
//!
//! Invariants:
//! * An [`Effect`] happens exactly once, and only against a [`Forced`] token that covers its record:
//!   a message cannot become visible, nor disappear, while a crash could still take that back.
//! * The effect does not depend on the application: should its call be dropped between the append
//!   and the force, the effect is handed to the orphans, which maintenance applies in its stead.
//! * While records of a unit of work may be needed at restart, a pin (their first LSN or an earlier
//!   one) keeps the log from being cut above them. A pin is set before the record is appended and
//!   cleared after the effect has happened.

use std::sync::Arc;

use posthaste_env::sync::atomic::{AtomicU64, Ordering};
use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, Forced, LogError, Lsn};

use crate::manager::Inner;
use crate::message::Message;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::queue::waiters::Wakes;
use crate::record::{self, BackoutCount, UowId};
use crate::trigger;

/// One put or get of a unit of work.
pub(crate) enum Op {
    Put {
        queue: Arc<Queue>,
        message: Arc<Message>,
    },
    Got {
        queue: Arc<Queue>,
        slot: SlotId,
        message: Arc<Message>,
    },
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
}

impl Uow {
    pub(crate) fn new(id: UowId, started: i64) -> Self {
        Uow {
            id,
            ops: Vec::new(),
            logged: false,
            first: Lsn(0),
            started,
            logged_at: None,
        }
    }

    /// Notes that it has a record at `lsn`.
    pub(crate) fn note(&mut self, lsn: Lsn, qm: &Inner) {
        if !self.logged {
            self.logged = true;
            self.first = lsn;
            self.logged_at = Some(qm.now());
        }
    }

    /// Makes its puts visible and its gets final.
    fn commit(self, qm: &Arc<Inner>) {
        for op in self.ops {
            match op {
                Op::Put { queue, message } => deliver(qm, &queue, &message, true),
                Op::Got { queue, slot, .. } => {
                    let mut state = queue.lock();
                    state.uncommitted_gets -= 1;
                    if planted(Bug::DeliverTwice) {
                        state.list(slot);
                    } else {
                        state.destroy(slot, true);
                    }
                }
            }
        }
    }

    /// The backout counts its persistent messages will have.
    fn counts(&self) -> Vec<BackoutCount> {
        let mut counts = Vec::new();
        for op in &self.ops {
            if let Op::Got {
                queue,
                slot,
                message,
            } = op
                && message.persistent()
            {
                let count = queue.lock().index.slot(*slot).backout_count;
                counts.push(BackoutCount {
                    queue: queue.id,
                    seq: message.seq,
                    count: count.saturating_add(1),
                });
            }
        }
        counts
    }

    /// Appends its backout record, if it has records at all; returns the record's end. A full log can do
    /// without it: a restart undoes what has no end.
    ///
    /// # Errors
    /// The log has stopped: what is true is for the restart to decide, and nothing may be undone before.
    pub(crate) fn log_backout(&self, qm: &Inner) -> Result<Option<Lsn>, LogError> {
        if !self.logged {
            return Ok(None);
        }
        let record = record::backout(self.id, &self.counts());
        match qm.log.append(Class::Essential, &[&record]) {
            Ok(appended) => Ok(Some(appended.end)),
            Err(LogError::Full) => Ok(None),
            Err(error) => {
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
        let mut due = Vec::new();
        // Backwards, so that what came first ends up first.
        for op in self.ops.into_iter().rev() {
            match op {
                Op::Put { queue, .. } => queue.lock().pending_puts -= 1,
                Op::Got {
                    queue,
                    slot,
                    message,
                } => {
                    let mut state = queue.lock();
                    state.uncommitted_gets -= 1;
                    if planted(Bug::ForgetUndo) {
                        continue;
                    }
                    let count = state.index.slot(slot).backout_count;
                    state.index.set_backout_count(slot, count.saturating_add(1));
                    state.give_back(slot, &message, &mut wakes);
                    let event = trigger::came_back(qm, &mut state, &message);
                    drop(state);
                    due.extend(event.map(|event| (queue, event)));
                }
            }
        }
        wakes.wake();
        due
    }

    /// Whether one of its gets asks for hardened backout counts.
    pub(crate) fn hardens(&self) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Got { queue, message, .. } => {
                message.persistent() && queue.lock().attributes.harden_backout
            }
            Op::Put { .. } => false,
        })
    }
}

/// A committed message arrives at its queue. `reserved`: it was counted among the pending puts.
pub(crate) fn deliver(qm: &Arc<Inner>, queue: &Arc<Queue>, message: &Arc<Message>, reserved: bool) {
    let mut wakes = Wakes::default();
    let due = {
        let mut state = queue.lock();
        if reserved {
            state.pending_puts -= 1;
        }
        if state.deleted {
            None
        } else {
            state.arrive(message, &mut wakes);
            trigger::due(qm, &mut state, message)
        }
    };
    wakes.wake();
    if let Some(event) = due {
        trigger::fire(qm, queue, event);
    }
}

/// What a forced record makes true.
pub(crate) enum Effect {
    Commit(Uow),
    /// A backout whose counts are hardened: nobody sees a count that a crash could take back.
    Backout(Uow),
    Put {
        queue: Arc<Queue>,
        message: Arc<Message>,
    },
    Got {
        queue: Arc<Queue>,
        slot: SlotId,
    },
}

impl Effect {
    /// Whether it is of one put or get outside a unit of work.
    fn alone(&self) -> bool {
        matches!(self, Effect::Put { .. } | Effect::Got { .. })
    }

    /// Makes it true. `forced` proves that the record up to `end` is durable.
    fn happen(self, qm: &Arc<Inner>, end: Lsn, forced: &Forced) {
        assert!(forced.covers(end), "an effect before its record is durable");
        match self {
            Effect::Commit(uow) => uow.commit(qm),
            Effect::Backout(uow) => uow.undo(qm),
            Effect::Put { queue, message } => deliver(qm, &queue, &message, true),
            Effect::Got { queue, slot } => {
                let mut state = queue.lock();
                state.uncommitted_gets -= 1;
                state.destroy(slot, true);
            }
        }
    }
}

/// A pin on the log; 0 = none. See the head of this file.
#[derive(Default)]
pub(crate) struct Pin(AtomicU64);

impl Pin {
    /// Sets it unless it is set already.
    pub(crate) fn set(&self, lsn: Lsn) {
        let _ = self
            .0
            .compare_exchange(0, lsn.0.max(1), Ordering::SeqCst, Ordering::SeqCst);
    }
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
    pub(crate) fn get(&self) -> Option<Lsn> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            lsn => Some(Lsn(lsn)),
        }
    }
}

/// An effect whose application went away before it happened.
pub(crate) struct Orphan {
    pub(crate) end: Lsn,
    pub(crate) pin: Lsn,
    pub(crate) effect: Effect,
}

impl Orphan {
    pub(crate) fn happen(self, qm: &Arc<Inner>, forced: &Forced) {
        self.effect.happen(qm, self.end, forced);
    }
}

/// An effect on its way: appended, not yet forced.
pub(crate) struct Pending<'a> {
    pub(crate) qm: &'a Arc<Inner>,
    pub(crate) pin: &'a Pin,
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
        self.pin.clear();
        self.qm.note_progress(self.end);
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(effect) = self.effect.take() {
            let pin = self.pin.get().unwrap_or(self.end);
            self.qm.orphan(Orphan {
                end: self.end,
                pin,
                effect,
            });
            self.pin.clear();
        }
    }
}
