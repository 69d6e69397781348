//! Virtual time: it stands still while tasks run (but for a small seeded cost a poll) and jumps to the
//! next timer when all of them wait.
//!
//! Invariants:
//! * Monotonic time never goes back. The wall clock follows it, shifted; the shift may be changed in
//!   either direction at any time.
//! * Timers are woken in order of their deadlines, equal ones in the order they were first polled.
//! * Wakers are called, and dropped, without the lock held.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, Sleep};

use crate::trace::Trace;

/// 2026-01-01 00:00:00 UTC, in microseconds since 1970.
const FIRST_DAY: i64 = 1_767_225_600_000_000;

/// Virtual time. Clones share it.
#[derive(Clone)]
pub struct SimClock {
    state: Arc<Mutex<State>>,
    trace: Trace,
}

struct State {
    now: Nanos,
    /// Wall clock less monotonic time, microseconds.
    shift: i64,
    timers: BTreeMap<(Nanos, u64), Waker>,
    arrivals: u64,
}

impl SimClock {
    pub(crate) fn new(start: Nanos, trace: Trace) -> Self {
        let state = State {
            now: start,
            shift: FIRST_DAY,
            timers: BTreeMap::new(),
            arrivals: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            trace,
        }
    }

    /// Lets `nanos` pass and wakes what has become due.
    pub fn advance(&self, nanos: Nanos) {
        let at = self.monotonic().saturating_add(nanos);
        self.advance_to(at);
    }

    /// Goes on to `at` (stays, if that is past) and wakes what has become due.
    pub fn advance_to(&self, at: Nanos) {
        let due = {
            let mut state = self.state.lock();
            state.now = state.now.max(at);
            state.take_due()
        };
        self.trace
            .record("time", &[at], || format!("{at} ns, {} due", due.len()));
        due.into_iter().for_each(Waker::wake);
    }

    /// Moves the wall clock by `micros`, backwards if negative, as an operator or a time service may.
    pub fn step_wall(&self, micros: i64) {
        let mut state = self.state.lock();
        state.shift = state.shift.saturating_add(micros);
        self.trace
            .record("wall", &[micros.cast_unsigned()], || format!("{micros} us"));
    }

    /// The deadline of the next timer.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.state.lock().timers.keys().next().map(|key| key.0)
    }

    /// Timers that are waiting.
    pub fn timers(&self) -> usize {
        self.state.lock().timers.len()
    }

    /// Lets a little time pass, without an entry in the trace (what follows from it has its own).
    pub(crate) fn tick(&self, nanos: Nanos) {
        let due = {
            let mut state = self.state.lock();
            state.now = state.now.saturating_add(nanos);
            state.take_due()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// The process is gone, and its timers with it.
    pub(crate) fn forget_timers(&self) {
        let forgotten = std::mem::take(&mut self.state.lock().timers);
        drop(forgotten);
    }
}

impl State {
    fn take_due(&mut self) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(first) = self.timers.first_entry() {
            if first.key().0 > self.now {
                break;
            }
            due.push(first.remove());
        }
        due
    }
}

impl Clock for SimClock {
    fn monotonic(&self) -> Nanos {
        self.state.lock().now
    }

    fn wall_micros(&self) -> i64 {
        let state = self.state.lock();
        let elapsed = i64::try_from(state.now / 1000).unwrap_or(i64::MAX);
        state.shift.saturating_add(elapsed)
    }

    fn sleep_until(&self, at: Nanos) -> Sleep {
        Box::pin(Sleeping {
            state: Arc::clone(&self.state),
            at,
            key: None,
        })
    }
}

struct Sleeping {
    state: Arc<Mutex<State>>,
    at: Nanos,
    key: Option<(Nanos, u64)>,
}

impl Sleeping {
    fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            let removed = self.state.lock().timers.remove(&key);
            drop(removed);
        }
    }
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.now >= self.at {
            drop(state);
            self.leave();
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or((self.at, state.arrivals));
        state.arrivals += 1;
        let replaced = state.timers.insert(key, context.waker().clone());
        drop(state);
        drop(replaced);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.leave();
    }
}
