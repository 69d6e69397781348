//! How much memory what waits for peers may take on all sockets together, and who waits for room.
//!
//! Invariants: what is taken is the sum of what living [`Share`]s have counted, each in whole steps, so that short answers,
//! which are most, touch nothing that all sockets share. Nothing long is begun for anybody while all is taken: whoever
//! wants to asks [`Outgoing::poll_room`] first, and is woken when there is room. What has begun goes on, so that more may be
//! taken than the limit: by a message for each of those who had found room before.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use posthaste_wire::Budget;

/// The steps in which memory is counted.
pub(crate) const STEP: usize = 64 * 1_024;

/// Who waits for room.
#[derive(Default)]
struct Queue {
    wakers: Vec<Waker>,
    /// How often all were woken.
    rounds: u64,
}

/// The memory that what waits for peers takes, on all sockets.
pub(crate) struct Outgoing {
    budget: Arc<Budget>,
    queue: Mutex<Queue>,
}

/// In which round somebody has asked for room; they are not asked for twice.
#[derive(Default)]
pub(crate) struct Asked(Cell<Option<u64>>);

impl Outgoing {
    /// `limit`: bytes.
    pub(crate) fn new(limit: usize) -> Arc<Outgoing> {
        Arc::new(Outgoing {
            budget: Budget::new(limit),
            queue: Mutex::default(),
        })
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.budget.taken()
    }

    /// Whether all is taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// Ready when there is room.
    pub(crate) fn poll_room(&self, asked: &Asked, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_spent() {
            return Poll::Ready(());
        }
        let mut queue = self.queue.lock();
        if asked.0.replace(Some(queue.rounds)) != Some(queue.rounds) {
            queue.wakers.push(context.waker().clone());
        }
        // Whoever has given back since has woken those only who waited by then.
        match self.is_spent() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }

    fn give_back(&self, bytes: usize) {
        self.budget.give_back(bytes);
        if self.is_spent() {
            return;
        }
        let mut queue = self.queue.lock();
        queue.rounds += 1;
        let wakers = std::mem::take(&mut queue.wakers);
        drop(queue);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// What one socket takes; dropping it gives that back.
pub(crate) struct Share {
    outgoing: Arc<Outgoing>,
    bytes: Cell<usize>,
}

impl Share {
    pub(crate) fn new(outgoing: &Arc<Outgoing>) -> Share {
        Share {
            outgoing: Arc::clone(outgoing),
            bytes: Cell::new(0),
        }
    }

    /// So many bytes of memory are kept now.
    #[inline]
    pub(crate) fn count(&self, kept: usize) {
        // Hardly any socket ever keeps a step.
        if kept >= STEP || self.bytes.get() > 0 {
            self.count_steps(kept);
        }
    }

    fn count_steps(&self, kept: usize) {
        let bytes = kept - kept % STEP;
        let before = self.bytes.replace(bytes);
        match bytes.checked_sub(before) {
            Some(0) => {}
            Some(more) => self.outgoing.budget.add(more),
            None => self.outgoing.give_back(before - bytes),
        }
    }

    /// Whether it has a part in what is taken, which is all there is.
    pub(crate) fn presses(&self) -> bool {
        self.bytes.get() > 0 && self.outgoing.is_spent()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.count(0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_for_room_is_woken_once_there_is_some() {
        let outgoing = Outgoing::new(3 * STEP);
        let (first, second) = (Share::new(&outgoing), Share::new(&outgoing));
        let (calls, asked) = (Arc::new(Calls::default()), Asked::default());
        let waker = Waker::from(Arc::clone(&calls));
        let mut context = Context::from_waker(&waker);
        first.count(2 * STEP + 7);
        assert!(outgoing.poll_room(&asked, &mut context).is_ready());
        second.count(2 * STEP);
        assert!(first.presses() && outgoing.taken() == 4 * STEP);
        for _ in 0..3 {
            assert!(outgoing.poll_room(&asked, &mut context).is_pending());
        }
        first.count(STEP);
        assert_eq!(calls.0.load(Ordering::Relaxed), 0, "all is taken");
        first.count(STEP - 1);
        assert_eq!(calls.0.load(Ordering::Relaxed), 1, "asked for once");
        assert!(outgoing.poll_room(&asked, &mut context).is_ready());
        first.count(STEP);
        assert!(outgoing.poll_room(&asked, &mut context).is_pending());
        drop(second);
        assert_eq!(calls.0.load(Ordering::Relaxed), 2);
        drop(first);
        assert_eq!(outgoing.taken(), 0);
    }
}
