//! What a queue has counted since this run began: plain numbers, raised under its lock.

use super::QueueState;
use crate::message::Message;

/// Sums of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Messages that became available: those of a unit of work when it was committed; once more where the get that one
    /// went straight to did not take it.
    pub arrived: u64,
    /// Of these, persistent ones.
    pub arrived_persistent: u64,
    /// Bytes of their data.
    pub arrived_bytes: u64,
    /// Messages that went to a waiting get without having been on the queue.
    pub avoided: u64,
    /// Messages that met a waiting get and were held for it.
    pub handed_over: u64,
    /// Messages that were on the queue and are gone for good: got, expired or cleared, those that the restart removed
    /// included.
    pub removed: u64,
    /// Of these, and of those whose reports are not forced yet, expired ones.
    pub expired: u64,
    /// Times the queue's lock had to be waited for.
    pub lock_waits: u64,
}

impl QueueState {
    /// A message becomes available.
    pub(super) fn count_arrival(&mut self, message: &Message) {
        self.count_arrived(message.persistent(), message.data.len() as u64);
    }

    /// The same of one that is in the file only.
    pub(super) fn count_arrived(&mut self, persistent: bool, bytes: u64) {
        self.counts.arrived += 1;
        self.counts.arrived_persistent += u64::from(persistent);
        self.counts.arrived_bytes += bytes;
    }
}
