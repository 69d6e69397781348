//! What a forced log record makes true.
//!
//! Invariants:
//! * An [`Effect`] happens exactly once, and only against a [`Forced`] token that covers its record:
//!   a message cannot become visible, nor disappear, while a crash could still take that back.
//! * The effect does not depend on the application: should its call be dropped between the append
//!   and the force, the effect is handed to the orphans, which maintenance applies in its stead.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Forced, Lsn};

use super::Unit;
use super::branch::Outcome;
use super::orphans::Orphan;
use super::table::Pin;
use crate::manager::Inner;
use crate::message::Message;
use crate::meter::Count;
use crate::queue::index::SlotId;
use crate::queue::waiters::Wakes;
use crate::queue::{Queue, QueueState};
use crate::trigger;

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
    Commit(Arc<Unit>),
    /// A backout that is forced: of a branch, or with counts that are hardened, so that nobody sees one that a crash
    /// could take back.
    Backout(Arc<Unit>),
    /// A branch is in doubt from now on.
    Prepared(Arc<Unit>),
    /// A branch is completed heuristically.
    Settled(Arc<Unit>, Outcome),
    /// And that is remembered no more.
    Forgotten(Arc<Unit>),
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
            Effect::Commit(unit) => unit.end(qm, Outcome::Committed, false),
            Effect::Backout(unit) => unit.undo(qm),
            Effect::Prepared(unit) => unit.prepared(qm),
            Effect::Settled(unit, outcome) => unit.end(qm, outcome, true),
            Effect::Forgotten(unit) => unit.leave(&mut unit.lock(), qm),
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
    pub(crate) fn unpin(&self, qm: &Inner) {
        if let Effect::Commit(unit) | Effect::Backout(unit) = self {
            unit.unpin(qm);
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
