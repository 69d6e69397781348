//! One timer, set again and again.
//!
//! Invariant: while a time is set, whoever polled last is woken then at the latest. A later time than the last, or none,
//! costs nothing to set: the sleep for the earlier one goes on, and at most once somebody is woken for nothing. Most waits
//! that have a limit are over long before it.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::clock::{Clock, Nanos, Sleep};

struct Armed {
    at: Nanos,
    /// Goes on while this lives.
    _sleep: Sleep,
    /// Whom it wakes.
    waker: Waker,
}

/// See the head of this file.
pub struct Timer {
    clock: Arc<dyn Clock>,
    armed: Option<Armed>,
    /// When the caller wants to be woken.
    wanted: Option<Nanos>,
}

impl Timer {
    /// A timer that never goes off until it is set.
    pub fn new(clock: Arc<dyn Clock>) -> Timer {
        Timer {
            clock,
            armed: None,
            wanted: None,
        }
    }

    /// Sets, moves or clears the time.
    pub fn set(&mut self, at: Option<Nanos>) {
        self.wanted = at;
    }

    /// Ready when the time has come; it is then cleared.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wanted) = self.wanted else {
            return Poll::Pending;
        };
        let now = self.clock.monotonic();
        if now < wanted {
            let in_time = |armed: &Armed| now < armed.at && armed.at <= wanted;
            let wakes = |armed: &Armed| armed.waker.will_wake(cx.waker());
            if self.armed.as_ref().is_some_and(|a| in_time(a) && wakes(a)) || !self.arm(wanted, cx)
            {
                return Poll::Pending;
            }
        }
        self.wanted = None;
        Poll::Ready(())
    }

    /// Sleeps until then; true if it is over already.
    fn arm(&mut self, at: Nanos, cx: &mut Context<'_>) -> bool {
        let mut sleep = self.clock.sleep_until(at);
        let over = sleep.as_mut().poll(cx).is_ready();
        let waker = cx.waker().clone();
        self.armed = (!over).then_some(Armed {
            at,
            _sleep: sleep,
            waker,
        });
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{block_on, os};
    use std::future::poll_fn;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::task::Wake;

    /// Stands still; counts the sleeps that were begun.
    #[derive(Default)]
    struct Still {
        now: AtomicU64,
        sleeps: Mutex<Vec<Nanos>>,
    }

    impl Clock for Still {
        fn monotonic(&self) -> Nanos {
            self.now.load(Ordering::SeqCst)
        }
        fn wall_micros(&self) -> i64 {
            0
        }
        fn sleep_until(&self, at: Nanos) -> Sleep {
            self.sleeps.lock().unwrap().push(at);
            Box::pin(std::future::pending())
        }
    }

    struct Nobody(AtomicUsize);

    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn later_times_need_no_other_sleep_and_earlier_ones_and_other_wakers_do() {
        let clock = Arc::new(Still::default());
        let wakers = [1, 2].map(|n| Waker::from(Arc::new(Nobody(AtomicUsize::new(n)))));
        let mut timer = Timer::new(clock.clone());
        let mut poll = |at: Option<Nanos>, now: Nanos, who: usize| {
            clock.now.store(now, Ordering::SeqCst);
            timer.set(at);
            let ready = timer
                .poll(&mut Context::from_waker(&wakers[who]))
                .is_ready();
            (ready, clock.sleeps.lock().unwrap().len())
        };
        assert_eq!(poll(None, 0, 0), (false, 0));
        assert_eq!(poll(Some(100), 0, 0), (false, 1));
        assert_eq!(poll(Some(150), 50, 0), (false, 1));
        assert_eq!(poll(None, 60, 0), (false, 1));
        assert_eq!(poll(Some(90), 60, 0), (false, 2), "earlier");
        assert_eq!(poll(Some(190), 60, 1), (false, 3), "somebody else");
        assert_eq!(poll(Some(250), 190, 1), (false, 4), "it has gone off");
        assert_eq!(poll(Some(250), 250, 1), (true, 4));
        assert_eq!(*clock.sleeps.lock().unwrap(), [100, 90, 190, 250]);
    }

    #[test]
    fn it_goes_off_at_the_time_set_last() {
        let clock = os().clock;
        let mut timer = Timer::new(Arc::clone(&clock));
        let begin = clock.monotonic();
        timer.set(Some(begin + 1_000_000));
        block_on(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())));
        timer.set(Some(begin + 5_000_000));
        block_on(poll_fn(|cx| timer.poll(cx)));
        assert!(clock.monotonic() >= begin + 5_000_000);
        timer.set(Some(clock.monotonic() + 60_000_000_000));
        assert!(block_on(poll_fn(|cx| Poll::Ready(
            timer.poll(cx).is_pending()
        ))));
        let soon = clock.monotonic() + 1_000_000;
        timer.set(Some(soon));
        block_on(poll_fn(|cx| timer.poll(cx)));
        let late = clock.monotonic().saturating_sub(soon);
        assert!(late < 50_000_000_000, "an earlier time is obeyed");
    }
}
