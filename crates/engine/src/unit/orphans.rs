//! Effects whose applications went away before they happened: what is forced happens all the same.
//!
//! Invariants:
//! * An orphan has its pin, in its effect, until that has happened.
//! * An orphan counts until its effect has happened, not until somebody has taken it on: the end of a
//!   queue manager waits for all of them before its last checkpoint.

use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_recovery_log::{Forced, Lsn};

use super::effect::Effect;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::signal::Signal;

/// An effect whose application went away before it happened.
pub(crate) struct Orphan {
    pub(crate) end: Lsn,
    pub(crate) effect: Effect,
}

#[derive(Default)]
struct State {
    waiting: Vec<Orphan>,
    /// Taken on, but not all of it has happened.
    happening: usize,
}

/// All orphans of a queue manager.
#[derive(Default)]
pub(crate) struct Orphans {
    state: Mutex<State>,
    /// Some have happened.
    happened: Signal,
}

impl Orphans {
    pub(crate) fn add(&self, orphan: Orphan) {
        self.state.lock().waiting.push(orphan);
    }

    /// The end of the last record that one waits for.
    fn last(&self) -> Option<Lsn> {
        self.state.lock().waiting.iter().map(|o| o.end).max()
    }

    pub(crate) fn none(&self) -> bool {
        let state = self.state.lock();
        state.waiting.is_empty() && state.happening == 0
    }

    /// Takes on those whose records are forced.
    fn take(&self, forced: &Forced) -> Vec<Orphan> {
        let mut state = self.state.lock();
        let all = std::mem::take(&mut state.waiting);
        let (ready, later) = all
            .into_iter()
            .partition::<Vec<_>, _>(|o| forced.covers(o.end));
        state.waiting = later;
        if !planted(Bug::OrphansTakenEarly) {
            state.happening += ready.len();
        }
        ready
    }

    fn done(&self, count: usize) {
        if !planted(Bug::OrphansTakenEarly) {
            self.state.lock().happening -= count;
        }
        self.happened.raise();
    }
}

impl Inner {
    /// Lets the effects of orphans happen. Some may still be happening elsewhere when it returns.
    pub(crate) async fn settle_orphans(self: &Arc<Self>) {
        let Some(last) = self.orphans.last() else {
            return;
        };
        let forced = match self.log.force(last).await {
            Ok(forced) => forced,
            Err(error) => return self.log_failed(&error),
        };
        let ready = self.orphans.take(&forced);
        let count = ready.len();
        for orphan in ready {
            if planted(Bug::OrphansTakenEarly) {
                orphan.effect.unpin(self);
            }
            mark(Mark::OrphanApplied);
            orphan.effect.happen(self, orphan.end, &forced);
        }
        self.orphans.done(count);
    }

    /// The same until there are none, or the queue manager has stopped.
    pub(crate) async fn settle_all_orphans(self: &Arc<Self>) {
        loop {
            let happened = self.orphans.happened.listen();
            self.settle_orphans().await;
            if self.orphans.none() || self.ended() {
                return;
            }
            if self.orphans.last().is_none() {
                happened.await;
            }
        }
    }
}
