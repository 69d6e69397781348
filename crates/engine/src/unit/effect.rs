//! What a forced log record makes true.
//!
//! Invariants:
//! * An [`Effect`] happens exactly once, and only against a [`Forced`](posthaste_recovery_log::Forced) token that covers its record:
//!   a message cannot become visible, nor disappear, while a crash could still take that back.
//! * The effect does not depend on the application: should its call be dropped between the append
//!   and the force, a ticket is taken out for the effect, and it happens in its stead.

use std::sync::Arc;

use super::outcome::Outcome;
use super::{Pin, Unit};
use crate::message::Message;
use crate::queue::Queue;
use crate::queue::index::SlotId;

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
    /// Messages on several queues, by one record.
    Published {
        puts: Vec<(Arc<Queue>, Arc<Message>)>,
        pin: Pin,
    },
    Got {
        queue: Arc<Queue>,
        slot: SlotId,
        pin: Pin,
    },
    /// Messages are gone that were on a queue, unless they have gone meanwhile.
    Discarded {
        queue: Arc<Queue>,
        messages: Vec<(SlotId, u64)>,
        pin: Pin,
    },
    /// CLEAR: the messages put before `below` are gone.
    Cleared {
        queue: Arc<Queue>,
        below: u64,
        pin: Pin,
    },
}
