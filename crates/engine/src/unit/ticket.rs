//! A ticket: something that was appended to the log, and happens once that is forced; no call waits for it.
//!
//! Two have them: an application that goes on putting meanwhile (MQPMO_ASYNC_RESPONSE), and one that went away before
//! its effect had happened: what is forced happens all the same.
//!
//! Invariants:
//! * The effects of tickets happen in the order in which these were taken out, and one at a time: the messages of one
//!   application keep their order. So every call whose effect could be seen before that of a ticket of the same
//!   connection begins when the connection has none on its way ([`SessionInner::settled`](crate::session::SessionInner::settled)): all but puts that take out
//!   a ticket themselves, or join a unit of work.
//! * A ticket has its pin, in its effect, until that has happened.
//! * A ticket counts until its effect has happened, not until somebody has taken it on: the end of a
//!   queue manager waits for all of them before its last checkpoint.
//! * A connection has no more than [`MOST`] on their way, nor [`MOST_BYTES`] and one message; what all of them have
//!   that is not forced is in the log's buffer, which is bounded too.

use std::collections::VecDeque;
use std::sync::Weak;

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use posthaste_recovery_log::{Forced, Lsn};

use super::effect::Effect;
use crate::plant::{Bug, planted};
use crate::signal::Signal;

/// Tickets that a connection may have on their way. On a disk that takes 10 ms for a forced write it allows 200,000
/// messages a second.
const MOST: usize = 2_048;
/// Bytes of their messages.
const MOST_BYTES: usize = 8 << 20;

/// A connection, as its tickets have it.
pub(crate) trait TicketHolder: Send + Sync {
    /// What it has on its way.
    fn outstanding(&self) -> &Outstanding;
}

/// An effect on its way that no call waits for.
pub(crate) struct Ticket {
    pub(crate) end: Lsn,
    pub(crate) effect: Effect,
    /// Whose it is, and the bytes that it counts with; none: its application has gone, or never was.
    pub(crate) holder: Option<(Weak<dyn TicketHolder>, usize)>,
}

impl Ticket {
    /// Of an effect whose application has gone, or never was.
    pub(crate) fn detached(end: Lsn, effect: Effect) -> Ticket {
        Ticket {
            end,
            effect,
            holder: None,
        }
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Ticket>,
    /// Taken on, but not all of it has happened.
    happening: usize,
}

/// All tickets of a queue manager.
#[derive(Default)]
pub(crate) struct Tickets {
    state: Mutex<State>,
    /// Somebody drives `QueueManager::settle`.
    pub(crate) driven: AtomicBool,
    /// There is one to be settled.
    pub(crate) wanted: Signal,
    /// Some have happened.
    pub(crate) happened: Signal,
}

/// What a connection has on its way.
#[derive(Default)]
pub(crate) struct Outstanding {
    tickets: AtomicUsize,
    bytes: AtomicUsize,
    /// Somebody waits for them to become fewer.
    pub(crate) awaited: AtomicBool,
    pub(crate) fewer: Signal,
}

impl Outstanding {
    pub(crate) fn any(&self) -> bool {
        self.tickets.load(Ordering::SeqCst) > 0
    }

    /// Whether there is more on its way than this part of what is allowed.
    pub(crate) fn over(&self, part: usize) -> bool {
        self.tickets.load(Ordering::SeqCst) >= MOST / part
            || self.bytes.load(Ordering::SeqCst) >= MOST_BYTES / part
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.tickets.fetch_add(1, Ordering::SeqCst);
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
    }

    pub(crate) fn done(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
        let left = self.tickets.fetch_sub(1, Ordering::SeqCst) - 1;
        if (left == 0 || !self.over(2)) && self.awaited.swap(false, Ordering::SeqCst) {
            self.fewer.raise();
        }
    }
}

impl Tickets {
    /// True when there was none before.
    pub(crate) fn add(&self, ticket: Ticket) -> bool {
        let mut state = self.state.lock();
        state.waiting.push_back(ticket);
        state.waiting.len() == 1
    }

    /// The end of the last record that one waits for.
    pub(crate) fn last(&self) -> Option<Lsn> {
        self.state.lock().waiting.iter().map(|t| t.end).max()
    }

    pub(crate) fn none(&self) -> bool {
        let state = self.state.lock();
        state.waiting.is_empty() && state.happening == 0
    }

    pub(crate) fn are_happening(&self) -> bool {
        self.state.lock().happening > 0
    }

    /// Takes on those whose records are forced; none while others that were taken on are happening.
    pub(crate) fn take(&self, forced: &Forced) -> Vec<Ticket> {
        let mut state = self.state.lock();
        if state.happening > 0 {
            return Vec::new();
        }
        let all = std::mem::take(&mut state.waiting);
        let (ready, later) = all
            .into_iter()
            .partition::<Vec<_>, _>(|t| forced.covers(t.end));
        state.waiting = later.into();
        if !planted(Bug::DetachedTakenEarly) {
            state.happening += ready.len();
        }
        ready
    }

    pub(crate) fn done(&self, count: usize) {
        if !planted(Bug::DetachedTakenEarly) {
            self.state.lock().happening -= count;
        }
        self.happened.raise();
    }
}
