//! Timers: one thread, started by the first sleep that has to wait, sleeps until the earliest deadline.
//!
//! Invariants:
//! * A deadline is in `State::queue` exactly while its future has been polled, is neither dropped nor due.
//! * `State::armed` is never later than the earliest deadline in the queue while the thread sleeps. It may
//!   be earlier (the sleep it was set for was dropped): the thread then wakes once for nothing. So
//!   neither cancelling nor adding a later deadline ever costs a wake-up of the thread.
//! * Wakers run without the lock held.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::clock::Nanos;
use crate::event::{Event, monotonic_now};
use crate::thread::spawn;

/// The timers of this process.
pub(super) static TIMERS: Timers = Timers::new();

pub(super) struct Timers {
    state: Mutex<State>,
    /// Set when a deadline earlier than `armed` arrives.
    earlier: Event,
}

struct State {
    /// By deadline, then by order of arrival. A tree and not a binary heap, because most sleeps are cancelled.
    queue: BTreeMap<(Nanos, u64), Waker>,
    arrivals: u64,
    armed: Nanos,
    started: bool,
}

impl Timers {
    const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                queue: BTreeMap::new(),
                arrivals: 0,
                armed: 0,
                started: false,
            }),
            earlier: Event::new(),
        }
    }

    pub(super) fn sleep_until(&'static self, at: Nanos) -> Sleeping {
        Sleeping {
            timers: self,
            at,
            key: None,
        }
    }

    /// Puts a deadline in the queue. `None` if the thread could not be started.
    fn register(&'static self, at: Nanos, waker: Waker) -> Option<(Nanos, u64)> {
        let mut state = self.state.lock();
        if !state.started {
            // Armed for "now", so that the new thread's first look at the queue comes before any sleep.
            spawn("timers", move || self.run()).ok()?;
            state.started = true;
        }
        let key = (at, state.arrivals);
        state.arrivals += 1;
        state.queue.insert(key, waker);
        let wake = at < state.armed;
        if wake {
            // One wake-up is enough until the thread has looked.
            state.armed = at;
        }
        drop(state);
        if wake {
            self.earlier.set();
        }
        Some(key)
    }

    /// The thread: wakes what is due, sleeps until the next is.
    fn run(&self) {
        let mut due = Vec::new();
        loop {
            let now = monotonic_now();
            let armed = {
                let mut state = self.state.lock();
                while let Some(first) = state.queue.first_entry() {
                    if first.key().0 > now {
                        break;
                    }
                    due.push(first.remove());
                }
                state.armed = state.queue.keys().next().map_or(Nanos::MAX, |key| key.0);
                state.armed
            };
            for waker in due.drain(..) {
                waker.wake();
            }
            self.earlier.wait((armed != Nanos::MAX).then_some(armed));
        }
    }

    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.state.lock().queue.len()
    }
}

/// A sleep; see [`crate::Clock::sleep_until`].
pub(super) struct Sleeping {
    timers: &'static Timers,
    at: Nanos,
    key: Option<(Nanos, u64)>,
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if monotonic_now() >= self.at {
            return Poll::Ready(());
        }
        if let Some(key) = self.key {
            let mut state = self.timers.state.lock();
            if let Some(waker) = state.queue.get_mut(&key) {
                waker.clone_from(context.waker());
                return Poll::Pending;
            }
            // The thread took it between the look at the clock and here: it is due.
            drop(state);
            self.key = None;
            return Poll::Ready(());
        }
        self.key = self.timers.register(self.at, context.waker().clone());
        if self.key.is_none() {
            // No thread to be had now. Asking to be polled again keeps the sleep right, if costly, and
            // every poll tries to start the thread again.
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // Bound to a name, so that a waker with a destructor of its own is dropped after the lock.
            let removed = self.timers.state.lock().queue.remove(&key);
            drop(removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::block_on;

    const HOUR: Nanos = 3_600_000_000_000;

    fn poll(sleep: &mut Pin<Box<Sleeping>>) -> Poll<()> {
        sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_dropped_sleep_leaves_the_queue() {
        static TIMERS: Timers = Timers::new();
        let now = monotonic_now();
        let mut sleeps: Vec<_> = (0..100)
            .map(|number| Box::pin(TIMERS.sleep_until(now + HOUR + number % 3)))
            .collect();
        assert_eq!(TIMERS.waiting(), 0, "not polled yet");
        for sleep in &mut sleeps {
            assert!(poll(sleep).is_pending());
            assert!(poll(sleep).is_pending(), "twice, still one entry");
        }
        assert_eq!(TIMERS.waiting(), 100);
        sleeps.truncate(40);
        assert_eq!(TIMERS.waiting(), 40);
        drop(sleeps);
        assert_eq!(TIMERS.waiting(), 0);
    }

    #[test]
    fn an_earlier_deadline_wakes_the_thread_and_a_later_one_does_not() {
        static TIMERS: Timers = Timers::new();
        let now = monotonic_now();
        let mut long = Box::pin(TIMERS.sleep_until(now + HOUR));
        assert!(poll(&mut long).is_pending());
        // The thread may or may not have gone to sleep for an hour: either way this must end.
        block_on(TIMERS.sleep_until(monotonic_now() + 1_000_000));
        assert_eq!(TIMERS.waiting(), 1);
        let armed = TIMERS.state.lock().armed;
        let mut later = Box::pin(TIMERS.sleep_until(now + 2 * HOUR));
        assert!(poll(&mut later).is_pending());
        drop((long, later));
        assert_eq!(TIMERS.waiting(), 0);
        assert!(armed <= now + HOUR);
    }
}
