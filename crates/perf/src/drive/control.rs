//! How a group of applications is let go, told to end, and waited for.
//!
//! Invariants: an application is ready at most once and has ended exactly once; after `end` nobody
//! waits at the gate any more.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::measure::{Interrupt, LabError};
use crate::workload::{Nanos, Workload};

/// Failures that are kept in words.
const KEPT: usize = 100;
/// How often is looked whether a start is to be given up.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Default)]
struct State {
    ready: u32,
    ended: u32,
    partial: bool,
    failures: Vec<LabError>,
    failed: u64,
    /// When the applications were let go.
    went: Option<Instant>,
    /// When they were told to end, or the last one had.
    over: Option<Instant>,
}

/// A group of applications, as its carriers and its owner share it.
pub(crate) struct Control {
    applications: u32,
    base: Instant,
    going: AtomicBool,
    ending: AtomicBool,
    /// What a rate makes due then or later is not begun.
    over: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
    wakers: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

impl Control {
    pub(crate) fn new(applications: u32, base: Instant) -> Control {
        Control {
            applications,
            base,
            going: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            over: AtomicU64::new(Nanos::MAX),
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            wakers: Mutex::new(Vec::new()),
        }
    }

    /// Nanoseconds since the run's base.
    pub(crate) fn now(&self) -> Nanos {
        u64::try_from(self.base.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn moment(&self, at: Nanos) -> Instant {
        self.base + Duration::from_nanos(at)
    }

    /// Is called whenever the group is let go or told to end.
    pub(crate) fn on_change(&self, wake: impl Fn() + Send + 'static) {
        self.wakers.lock().push(Box::new(wake));
    }

    fn wake(&self) {
        self.changed.notify_all();
        for wake in self.wakers.lock().iter() {
            wake();
        }
    }

    /// One application has its queues open.
    pub(crate) fn ready(&self) {
        self.state.lock().ready += 1;
        self.changed.notify_all();
    }

    /// One application has ended; `early`: before it was to.
    pub(crate) fn ended(&self, early: bool) {
        let mut state = self.state.lock();
        state.ended += 1;
        state.partial |= early;
        if state.ended >= self.applications {
            state.over.get_or_insert_with(Instant::now);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Something went wrong.
    pub(crate) fn fail(&self, error: LabError) {
        let mut state = self.state.lock();
        state.failed += 1;
        if state.failures.len() < KEPT {
            state.failures.push(error);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Lets the applications go.
    pub(crate) fn go(&self) {
        self.state.lock().went = Some(Instant::now());
        self.going.store(true, Ordering::Release);
        self.wake();
    }

    /// Tells the applications to end.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.over.get_or_insert_with(Instant::now);
        self.ending.store(true, Ordering::Release);
        drop(state);
        self.wake();
    }

    pub(crate) fn going(&self) -> bool {
        self.going.load(Ordering::Acquire)
    }

    pub(crate) fn ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// When the applications were let go, in nanoseconds since the base.
    pub(crate) fn went(&self) -> Nanos {
        let went = self.state.lock().went;
        let since = went.map_or(Duration::ZERO, |went| went.duration_since(self.base));
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn due_before(&self, over: Instant) {
        let over = over.saturating_duration_since(self.base).as_nanos();
        let over = Nanos::try_from(over).unwrap_or(Nanos::MAX);
        self.over.store(over, Ordering::Release);
    }

    /// From when on nothing that a rate makes due is begun.
    pub(crate) fn over(&self) -> Nanos {
        self.over.load(Ordering::Acquire)
    }

    /// An application waits for its turn to connect (`-wi`), or until there is nothing to connect for.
    pub(crate) fn await_turn(&self, index: u32, workload: &Workload) {
        if !workload.start_interval.is_zero() {
            let turn = (workload.start_interval * index).as_nanos();
            self.pause(Nanos::try_from(turn).unwrap_or(Nanos::MAX));
        }
    }

    /// An application's thread waits at the gate.
    pub(crate) fn await_go(&self) {
        let mut state = self.state.lock();
        while !self.going() && !self.ending() {
            self.changed.wait(&mut state);
        }
    }

    /// An application's thread waits until a moment, or until it is to end.
    pub(crate) fn pause(&self, until: Nanos) {
        let until = self.moment(until);
        let mut state = self.state.lock();
        while !self.ending() && Instant::now() < until {
            self.changed.wait_until(&mut state, until);
        }
    }

    /// The owner waits until all are ready; `false` when it is interrupted before. No deadline is none.
    pub(crate) fn await_ready(
        &self,
        deadline: Option<Instant>,
        workload: &Workload,
        interrupt: &Interrupt,
    ) -> Result<bool, LabError> {
        let mut state = self.state.lock();
        loop {
            if let Some(error) = state.failures.first() {
                return Err(error.clone());
            }
            if interrupt.raised() {
                return Ok(false);
            }
            if state.ready >= self.applications {
                return Ok(true);
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(LabError::StartTimedOut {
                    ready: state.ready,
                    applications: self.applications,
                    within: workload.start_within,
                });
            }
            let look = now + LOOK;
            let until = deadline.map_or(look, |deadline| deadline.min(look));
            self.changed.wait_until(&mut state, until);
        }
    }

    /// The owner waits until all have ended; whether they have.
    pub(crate) fn await_ended(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        while state.ended < self.applications {
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) => {
                    if self.changed.wait_until(&mut state, deadline).timed_out() {
                        return state.ended >= self.applications;
                    }
                }
            }
        }
        true
    }

    /// Whoever has not ended is waited for no longer.
    pub(crate) fn give_up(&self) {
        let left = self.at_work();
        self.state.lock().partial = true;
        self.fail(LabError::workload(
            "stopping",
            format!("{left} applications get no answer from the queue manager"),
        ));
    }

    pub(crate) fn at_work(&self) -> u32 {
        self.applications.saturating_sub(self.state.lock().ended)
    }

    pub(crate) fn failures(&self) -> (Vec<LabError>, u64) {
        let state = self.state.lock();
        (state.failures.clone(), state.failed)
    }

    /// Whether anything went wrong.
    pub(crate) fn failed(&self) -> bool {
        self.state.lock().failed > 0
    }

    pub(crate) fn partial(&self) -> bool {
        self.state.lock().partial
    }

    /// How long the applications were at work.
    pub(crate) fn seconds(&self) -> f64 {
        let state = self.state.lock();
        match (state.went, state.over) {
            (Some(went), Some(over)) => over.saturating_duration_since(went).as_secs_f64(),
            (Some(went), None) => went.elapsed().as_secs_f64(),
            _ => 0.0,
        }
    }
}
