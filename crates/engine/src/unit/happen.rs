//! Effects happen.
//!
//! Invariants: those of [effects](super::effect).

use std::future::Future;
use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Forced, Lsn};

use super::effect::Effect;
use super::outcome::Outcome;
use crate::delivery::deliver;
use crate::manager::Inner;
use crate::meter::Count;

impl Effect {
    /// Whether it is of one put, publication or get outside a unit of work.
    fn alone(&self) -> bool {
        matches!(
            self,
            Effect::Put { .. } | Effect::Published { .. } | Effect::Got { .. }
        )
    }

    /// Makes it true. `forced` proves that the record up to `end` is durable.
    pub(crate) fn happen(self, qm: &Arc<Inner>, end: Lsn, forced: &Forced) {
        assert!(forced.covers(end), "an effect before its record is durable");
        match self {
            Effect::Commit(unit) => unit.end(qm, (Outcome::Committed, end), false),
            Effect::Backout(unit) => unit.undo(qm),
            Effect::Prepared(unit) => unit.prepared(qm),
            Effect::Settled(unit, outcome) => unit.end(qm, (outcome, end), true),
            Effect::Forgotten(unit) => unit.leave(&mut unit.lock(), qm),
            Effect::Put {
                queue,
                message,
                pin,
            } => {
                deliver(qm, &queue, &message, true);
                drop(pin);
            }
            Effect::Published { puts, pin } => {
                for (queue, message) in &puts {
                    deliver(qm, queue, message, true);
                }
                drop(pin);
            }
            Effect::Got { queue, slot, pin } => {
                queue.lock().got(slot);
                drop(pin);
            }
            Effect::Discarded {
                queue,
                messages,
                pin,
            } => {
                let mut state = queue.lock();
                for (slot, seq) in messages {
                    state.discard(slot, seq);
                }
                drop(state);
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
    // Not an `async fn`: that has room for what it is given, and again for what it makes of it.
    #[allow(clippy::manual_async_fn)]
    pub(crate) fn done(mut self) -> impl Future<Output = Result<(), Reason>> {
        async move {
            let forced = match self.qm.log.force(self.end).await {
                Ok(forced) => forced,
                Err(error) => {
                    // Nobody knows whether the record is durable: the queue manager stops, and what is
                    // true is decided by the restart.
                    self.qm.log_failed(&error);
                    return Err(Reason::CONNECTION_BROKEN);
                }
            };
            let superseded = self.qm.superseded_before();
            if let Some(effect) = self.effect.take() {
                if effect.alone() {
                    self.qm.home.counters.one(Count::ForcedAlone);
                }
                effect.happen(self.qm, self.end, &forced);
            }
            self.qm.log_space.note_progress(self.end);
            if self.qm.superseded_before() != superseded {
                // Rare, so it takes its room only when it happens.
                Box::pin(self.qm.superseded_since(superseded)).await?;
            }
            Ok(())
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(effect) = self.effect.take() {
            self.qm.detach(self.end, effect);
        }
    }
}
