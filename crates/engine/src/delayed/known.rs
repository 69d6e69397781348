//! What is known of the staging queue: when each of its messages is due, and whether there are others.
//!
//! Invariants:
//! * A message that has arrived is among those known, or the queue is to be looked through.
//! * The lock is a leaf: nothing is locked while it is held, and nobody is woken.

use std::collections::BTreeSet;

use posthaste_env::sync::Mutex;

use super::header::Header;
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::signal::Signal;

/// Microseconds of the longest wait: the system's clock may be set meanwhile.
pub(crate) const LONGEST_WAIT: i64 = 60_000_000;

/// What is known of the staging queue.
#[derive(Default)]
struct Known {
    /// When each message is due, and its number.
    due: BTreeSet<(i64, u64)>,
    /// There are messages that are not among these: from then on the queue is looked through.
    unknown_from: Option<i64>,
}

/// The delayed messages.
#[derive(Default)]
pub(crate) struct Delays {
    known: Mutex<Known>,
    /// Something has arrived on the staging queue.
    pub(crate) changed: Signal,
}

impl Delays {
    /// Messages with when they are due, and their numbers.
    pub(crate) fn add(&self, messages: impl IntoIterator<Item = (i64, u64)>) {
        self.known.lock().due.extend(messages);
    }

    /// A message has arrived on the staging queue.
    pub(crate) fn arrived(&self, message: &Message) {
        // What is no message of ours was put there by somebody for whom it stays.
        if let Some(due) = Header::due_of(message.data.front()) {
            self.add([(due, message.seq)]);
        }
    }

    /// A message has arrived there of which nothing is in memory.
    pub(crate) fn arrived_unread(&self) {
        self.look_again(0);
    }

    pub(crate) fn look_again(&self, from: i64) {
        let mut known = self.known.lock();
        let earlier = known.unknown_from.is_none_or(|before| from < before);
        if earlier {
            known.unknown_from = Some(from);
        }
    }

    /// The queue is empty, or is about to be looked through.
    pub(crate) fn forget(&self) {
        *self.known.lock() = Known::default();
    }

    pub(crate) fn is_to_look(&self, now: i64) -> bool {
        let known = self.known.lock();
        known.unknown_from.is_some_and(|from| from <= now)
    }

    /// The next that is due, if it is.
    pub(crate) fn take_due(&self, now: i64) -> Option<u64> {
        let mut known = self.known.lock();
        let next = *known.due.first()?;
        let due = next.0 <= now || planted(Bug::DeliverEarly);
        (due && known.due.remove(&next)).then_some(next.1)
    }

    /// How many messages are known.
    pub(crate) fn count(&self) -> usize {
        self.known.lock().due.len()
    }

    /// Microseconds until there is something to do; none: as long as nothing is put.
    pub(crate) fn next(&self, now: i64) -> Option<i64> {
        let known = self.known.lock();
        let due = known.due.first().map(|(due, _)| *due);
        let next = due.into_iter().chain(known.unknown_from).min()?;
        Some(next.saturating_sub(now).clamp(0, LONGEST_WAIT))
    }
}
