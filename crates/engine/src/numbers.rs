//! The numbers of messages and units of work, of queues and of connections, which are never used twice.
//!
//! Invariants:
//! * A number is used only while it is below the mark that is durable in the log's anchor, so that a run
//!   begins above every number of the runs before it, those of non-persistent messages included, which
//!   leave no trace.
//! * A checkpoint raises the mark. One is asked for when half of the numbers below it are used up; should
//!   they all be, the queue manager stops instead of going on beyond them.

use posthaste_env::sync::atomic::{AtomicU64, Ordering};

use crate::plant::{Bug, planted};
use crate::record::QueueId;
use crate::recovery::image::LogIdentity;

/// Bits of a connection number that count within one run.
pub(crate) const COUNTER_BITS: u32 = 40;
/// How many numbers to reserve beyond the last one used: a million a second last for 19 hours.
pub const NUMBERS: u64 = 1 << 36;
/// No run begins at or above this: what is left lasts for half a million years at that rate.
const LAST: u64 = 1 << 63;

/// See the head of this file.
pub(crate) struct Numbers {
    next: AtomicU64,
    /// From here on something has to be done about the mark.
    look: AtomicU64,
    mark: AtomicU64,
    /// How many a checkpoint reserves.
    reserve: u64,
    /// Which run of the queue manager this is.
    pub(crate) incarnation: u32,
    /// By what the data folder knows this run.
    pub(crate) identity: Option<LogIdentity>,
    next_queue: AtomicU64,
}

impl Numbers {
    /// Numbers from `first` on, below a mark that is durable, for a run; queues are numbered from `next_queue` on.
    pub(crate) fn new(
        (first, mark, reserve): (u64, u64, u64),
        (incarnation, identity): (u32, Option<LogIdentity>),
        next_queue: QueueId,
    ) -> Self {
        let numbers = Numbers {
            next: AtomicU64::new(first),
            look: AtomicU64::new(0),
            mark: AtomicU64::new(0),
            reserve,
            incarnation,
            identity,
            next_queue: AtomicU64::new(next_queue),
        };
        numbers.raise(mark);
        numbers
    }

    /// The first of as many numbers in a row that nobody has had; with it the mark, if something has to be done about
    /// that.
    pub(crate) fn take(&self, count: u64) -> (u64, Option<u64>) {
        let number = self.next.fetch_add(count, Ordering::Relaxed);
        let look = number + (count - 1) >= self.look.load(Ordering::Relaxed);
        (number, look.then(|| self.mark.load(Ordering::SeqCst)))
    }

    /// Somebody does something about the mark. Once is enough; the checkpoint says when the next look is due. The last
    /// one is at the mark.
    pub(crate) fn seen(&self, mark: u64) {
        self.look.store(mark, Ordering::SeqCst);
    }

    /// The number of the next queue.
    pub(crate) fn take_queue(&self) -> QueueId {
        self.next_queue.fetch_add(1, Ordering::Relaxed)
    }

    /// What number the next queue would get.
    pub(crate) fn next_queue(&self) -> QueueId {
        self.next_queue.load(Ordering::Relaxed)
    }

    /// What DISPLAY CONN and the connection identifier show of a connection of this run.
    pub(crate) fn of_connection(&self, session: u64) -> u64 {
        u64::from(self.incarnation) << COUNTER_BITS | session
    }

    /// The connection of this run that such a number is of; 0: none of this run.
    pub(crate) fn in_this_run(&self, shown: u64) -> u64 {
        match shown >> COUNTER_BITS == u64::from(self.incarnation) {
            true => shown & ((1 << COUNTER_BITS) - 1),
            false => 0,
        }
    }

    /// The mark that a checkpoint is to make durable: no number below it is used by a later run.
    pub(crate) fn to_reserve(&self) -> u64 {
        let next = self.next.load(Ordering::SeqCst);
        self.mark
            .load(Ordering::SeqCst)
            .max(next.saturating_add(self.reserve))
    }

    /// The mark is durable now.
    pub(crate) fn raise(&self, mark: u64) {
        self.mark.store(mark, Ordering::SeqCst);
        self.look_again();
    }

    /// The next look is due when half of what is left is used.
    pub(crate) fn look_again(&self) {
        let next = self.next.load(Ordering::SeqCst);
        let left = self.mark.load(Ordering::SeqCst).saturating_sub(next);
        self.look
            .store(next.saturating_add(left / 2), Ordering::SeqCst);
    }
}

/// Where a run's numbers begin: above the mark of the last run and above all that its log holds. `None`: they
/// have run out.
pub(crate) fn first(mark: u64, highest: u64, starts: u32) -> Option<u64> {
    if planted(Bug::NumbersRepeat) {
        return Some(u64::from(starts) << 4 | 1);
    }
    let first = mark.max(highest.checked_add(1)?);
    (first < LAST).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_begins_above_everything_before_it_or_not_at_all() {
        assert_eq!(first(100, 7, 1), Some(100));
        assert_eq!(first(100, 100, 1), Some(101));
        assert_eq!(first(1 << 50, 1, 1), Some(1 << 50));
        assert_eq!(first(1, u64::MAX, 1), None);
        assert_eq!(first(LAST, 1, 1), None);
    }
}
