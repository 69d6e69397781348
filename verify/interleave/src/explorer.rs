//! Runs the threads of one world, one at a time.
//!
//! Invariants:
//! * A thread is left only at a point (before an operation that others can see) or where it waits.
//! * Nothing is explored before [`Explorer::explore`] and after [`Explorer::rest`]: threads then run until
//!   they wait, in turn.
//! * Time passes when a disk operation says so, and jumps to the next deadline when nobody can go on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use posthaste_env::sync::{Access, Scheduler, scheduled_by};
use posthaste_env::{Clock, Nanos};
use posthaste_env_sim::SimClock;

use crate::fiber::{Fiber, Left, suspend};
use crate::schedule::{DiskFault, Plan, Schedule, in_turn};
use crate::trace::{CLOCK, DISK, Trace};

/// Points after which a run is given up: something goes round in circles.
const TOO_MANY: u64 = 5_000_000;
/// Times that the clock may jump in one run: likewise.
const TOO_LONG: u64 = 100_000;

/// What was done, summed over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Schedules run.
    pub schedules: u64,
    /// Points at which a thread could have been left.
    pub points: u64,
    /// Times one was.
    pub switches: u64,
    /// Schedules in which the power failed while threads were at work.
    pub crashes: u64,
    /// Schedules in which something was done to the disk.
    pub faults: u64,
}

impl Totals {
    /// Adds what another run did.
    pub fn add(&mut self, other: &Totals) {
        self.schedules += other.schedules;
        self.points += other.points;
        self.switches += other.switches;
        self.crashes += other.crashes;
        self.faults += other.faults;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Runnable,
    Waiting { on: usize, until: Option<Nanos> },
    Ended { panicked: bool },
}

struct Thread {
    name: Rc<str>,
    state: State,
    fiber: Option<Fiber>,
}

/// Why the threads could not run to their end.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    /// Nobody can go on.
    Stuck(Vec<String>),
    /// A thread panicked.
    Panicked(String),
}

/// Does to the disk what the schedule says.
pub(crate) type OnFault = Box<dyn Fn(DiskFault)>;

/// See the head of the file.
pub(crate) struct Explorer {
    threads: RefCell<Vec<Thread>>,
    /// Who runs; none while the explorer itself does.
    running: Cell<Option<usize>>,
    /// Who ran last.
    last: Cell<usize>,
    /// Who was chosen when the last thread was left.
    chosen: Cell<Option<usize>>,
    schedule: RefCell<Schedule>,
    exploring: Cell<bool>,
    totals: Cell<Totals>,
    on_crash: RefCell<Option<Box<dyn FnOnce()>>>,
    on_fault: RefCell<Option<OnFault>>,
    clock: SimClock,
    /// What is done while everything is explored, if anybody wants to know.
    trace: RefCell<Option<Trace>>,
}

/// Takes the scheduler away when a run ends.
struct Scheduled;

impl Drop for Scheduled {
    fn drop(&mut self) {
        scheduled_by(None);
    }
}

impl Explorer {
    pub(crate) fn new(plan: &Plan, clock: SimClock) -> Rc<Explorer> {
        Rc::new(Explorer {
            threads: RefCell::default(),
            running: Cell::new(None),
            last: Cell::new(0),
            chosen: Cell::new(None),
            schedule: RefCell::new(Schedule::new(plan)),
            exploring: Cell::new(false),
            totals: Cell::default(),
            on_crash: RefCell::new(None),
            on_fault: RefCell::new(None),
            clock,
            trace: RefCell::new(None),
        })
    }

    /// Writes down what is done from here on.
    pub(crate) fn watch(&self) {
        *self.trace.borrow_mut() = Some(Trace::default());
    }

    /// What was done while everything was explored.
    pub(crate) fn trace(&self) -> Trace {
        self.trace.take().unwrap_or_default()
    }

    fn note(&self, note: impl FnOnce(&mut Trace)) {
        if self.exploring.get()
            && let Some(trace) = &mut *self.trace.borrow_mut()
        {
            note(trace);
        }
    }

    /// Runs `main` as thread 0, and what it starts, until it ends.
    pub(crate) fn run(self: &Rc<Self>, main: Box<dyn FnOnce()>) -> Result<Totals, Halt> {
        scheduled_by(Some(self.clone()));
        let _scheduled = Scheduled;
        self.start("main", main);
        let mut jumps = 0;
        while !self.has_ended(0) {
            let runnable = self.runnable();
            if runnable.is_empty() {
                jumps += 1;
                if jumps > TOO_LONG || !self.jump() {
                    return Err(self.stuck());
                }
                continue;
            }
            if self.totals.get().points > TOO_MANY {
                return Err(self.stuck());
            }
            let chosen = self.chosen.take().filter(|t| runnable.contains(t));
            let next = chosen.unwrap_or_else(|| self.next(&runnable));
            self.resume(next)?;
        }
        let mut totals = self.totals.get();
        totals.schedules = 1;
        Ok(totals)
    }

    fn resume(&self, thread: usize) -> Result<(), Halt> {
        let fiber = {
            let mut threads = self.threads.borrow_mut();
            threads[thread].state = State::Runnable;
            threads[thread].fiber.take()
        };
        let Some(mut fiber) = fiber else {
            return Ok(());
        };
        if self.last.replace(thread) != thread {
            self.count(|totals| totals.switches += 1);
        }
        self.running.set(Some(thread));
        self.note(|trace| trace.resumed(thread));
        let left = fiber.resume();
        self.running.set(None);
        match left {
            Left::Suspended => self.threads.borrow_mut()[thread].fiber = Some(fiber),
            Left::Ended { panicked } => {
                let name = {
                    let mut threads = self.threads.borrow_mut();
                    threads[thread].state = State::Ended { panicked };
                    threads[thread].name.clone()
                };
                if panicked {
                    return Err(Halt::Panicked(name.to_string()));
                }
                self.touched(end_of(thread), Access::Write);
                self.wake(end_of(thread));
            }
        }
        Ok(())
    }

    /// From here on the schedule decides; when it has the power fail, `on_crash` is called, and `on_fault` when
    /// something happens to the disk.
    pub(crate) fn explore(&self, on_crash: Box<dyn FnOnce()>, on_fault: OnFault) {
        *self.on_crash.borrow_mut() = Some(on_crash);
        *self.on_fault.borrow_mut() = Some(on_fault);
        self.exploring.set(true);
    }

    /// Threads run in turn from here on.
    pub(crate) fn rest(&self) {
        self.exploring.set(false);
        let unused = (
            self.on_crash.borrow_mut().take(),
            self.on_fault.borrow_mut().take(),
        );
        drop(unused);
    }

    /// Starts a thread of the test itself, which need not be sendable.
    pub(crate) fn start(&self, name: &str, body: Box<dyn FnOnce()>) -> usize {
        let mut threads = self.threads.borrow_mut();
        threads.push(Thread {
            name: Rc::from(name),
            state: State::Runnable,
            fiber: Some(Fiber::new(body)),
        });
        threads.len() - 1
    }

    pub(crate) fn has_ended(&self, thread: usize) -> bool {
        self.ended(thread).is_some()
    }

    fn count(&self, change: impl FnOnce(&mut Totals)) {
        let mut totals = self.totals.get();
        change(&mut totals);
        self.totals.set(totals);
    }

    fn runnable(&self) -> Vec<usize> {
        let now = self.clock.monotonic();
        let threads = self.threads.borrow();
        let can = |thread: &Thread| match thread.state {
            State::Runnable => true,
            State::Waiting { until, .. } => until.is_some_and(|until| until <= now),
            State::Ended { .. } => false,
        };
        let numbered = threads.iter().enumerate();
        numbered.filter(|(_, t)| can(t)).map(|(n, _)| n).collect()
    }

    fn next(&self, runnable: &[usize]) -> usize {
        let last = self.last.get();
        if self.exploring.get() {
            self.schedule.borrow_mut().next(last, runnable)
        } else {
            in_turn(last, runnable)
        }
    }

    /// Lets time pass until somebody can go on; false when that never comes.
    fn jump(&self) -> bool {
        let deadlines = {
            let threads = self.threads.borrow();
            let until = |thread: &Thread| match thread.state {
                State::Waiting { until, .. } => until,
                _ => None,
            };
            threads.iter().filter_map(until).min()
        };
        let Some(at) = deadlines.into_iter().chain(self.clock.next_timer()).min() else {
            return false;
        };
        self.note(|trace| {
            // Whoever looked at the clock before might see another time.
            trace.touched(CLOCK, Access::Write);
            trace.touched(DISK, Access::Write);
        });
        self.clock.advance_to(at);
        true
    }

    /// What the schedule has happen to the disk at this point.
    fn disturb(&self, at: u64) {
        loop {
            let due = self.schedule.borrow_mut().fault(at);
            let Some(fault) = due else { return };
            let on_fault = self.on_fault.borrow();
            if let Some(on_fault) = &*on_fault {
                self.count(|totals| totals.faults = 1);
                on_fault(fault);
            }
        }
    }

    /// The power fails, or another thread goes on, at this point, if the schedule says so.
    fn decide(&self, running: usize) {
        self.count(|totals| totals.points += 1);
        let at = self.totals.get().points;
        if self.trace.borrow().is_some() {
            let mut others = self.runnable();
            others.retain(|other| *other != running);
            self.note(|trace| trace.reached(running, at, others));
        }
        self.disturb(at);
        if self.schedule.borrow().crash().is_some_and(|due| due <= at) {
            let crash = self.on_crash.borrow_mut().take();
            self.exploring.set(false);
            if let Some(crash) = crash {
                self.count(|totals| totals.crashes += 1);
                crash();
            }
            return;
        }
        let other = self
            .schedule
            .borrow_mut()
            .preempts(at, running, || self.runnable());
        if let Some(other) = other.filter(|other| *other != running) {
            self.chosen.set(Some(other));
            suspend();
        }
    }

    fn stuck(&self) -> Halt {
        let threads = self.threads.borrow();
        let alive = |t: &&Thread| !matches!(t.state, State::Ended { .. });
        let names = threads.iter().filter(alive).map(|t| t.name.to_string());
        Halt::Stuck(names.collect())
    }
}

/// What those wait on who wait for the end of a thread. No object lies at such an address.
fn end_of(thread: usize) -> usize {
    usize::MAX - thread
}

impl Scheduler for Explorer {
    fn reached(&self, on: usize, access: Access) {
        let Some(running) = self.running.get() else {
            return;
        };
        // A thread that unwinds is not left: the others would be taken for panicking, too.
        if self.exploring.get() && !std::thread::panicking() {
            self.decide(running);
        }
        self.touched(on, access);
    }

    fn touched(&self, on: usize, access: Access) {
        self.note(|trace| trace.touched(on, access));
    }

    fn wait(&self, on: usize, until: Option<Nanos>) {
        let Some(running) = self.running.get() else {
            panic!("the explorer itself waits");
        };
        self.threads.borrow_mut()[running].state = State::Waiting { on, until };
        suspend();
    }

    fn wake(&self, on: usize) {
        for thread in self.threads.borrow_mut().iter_mut() {
            if matches!(thread.state, State::Waiting { on: waits, .. } if waits == on) {
                thread.state = State::Runnable;
                self.note(Trace::woke);
            }
        }
    }

    fn now(&self) -> Nanos {
        self.touched(CLOCK, Access::Read);
        self.clock.monotonic()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce()>) -> usize {
        self.note(Trace::woke);
        self.start(name, body)
    }

    fn ended(&self, thread: usize) -> Option<bool> {
        self.touched(end_of(thread), Access::Read);
        match self.threads.borrow()[thread].state {
            State::Ended { panicked } => Some(panicked),
            _ => None,
        }
    }

    fn join(&self, thread: usize) -> bool {
        loop {
            if let Some(panicked) = self.ended(thread) {
                return panicked;
            }
            self.wait(end_of(thread), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Action;
    use posthaste_env::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use posthaste_env::sync::{Mutex, RwLock};
    use posthaste_env::{Event, spawn};
    use posthaste_env_sim::SimWorld;
    use std::sync::Arc;

    /// Runs a program whose every part is explored.
    fn explored(plan: &Plan, program: impl FnOnce() + 'static) -> (Result<Totals, Halt>, Trace) {
        let explorer = Explorer::new(plan, SimWorld::new(1).clock().clone());
        explorer.watch();
        let inner = Rc::clone(&explorer);
        let result = explorer.run(Box::new(move || {
            inner.explore(Box::new(|| ()), Box::new(|_| ()));
            program();
            inner.rest();
        }));
        (result, explorer.trace())
    }

    fn in_pairs(work: impl Fn(&AtomicU64) + Clone + Send + 'static, sum: &Arc<AtomicU64>) {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (work, sum) = (work.clone(), sum.clone());
                spawn("adder", move || work(&sum)).expect("a thread")
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
    }

    /// Sums that two adders can come to, over all schedules with at most one preemption.
    fn sums(work: impl Fn(&AtomicU64) + Clone + Send + 'static) -> Vec<u64> {
        let run = |plan: &Plan| {
            let (sum, work) = (Arc::new(AtomicU64::new(0)), work.clone());
            let result = sum.clone();
            let (ended, trace) = explored(plan, move || in_pairs(work, &sum));
            ended.expect("it ends");
            (result.load(SeqCst), trace)
        };
        let (first, trace) = run(&Plan::Given(Vec::new()));
        let mut found = vec![first];
        for (at, thread) in trace.options(0) {
            found.push(run(&Plan::Given(vec![(at, Action::Preempt(thread))])).0);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn a_lost_update_is_met_by_one_preemption() {
        assert_eq!(sums(|sum| sum.store(sum.load(SeqCst) + 1, SeqCst)), [1, 2]);
        let add = |sum: &AtomicU64| {
            sum.fetch_add(1, SeqCst);
        };
        assert_eq!(sums(add), [2]);
    }

    #[test]
    fn locks_that_are_taken_crosswise_are_met() {
        let crosswise = |seed| {
            let plan = Plan::Drawn {
                seed,
                points: 20,
                faults: 0,
            };
            let (ended, _) = explored(&plan, || {
                let locks = Arc::new((Mutex::new(()), RwLock::new(())));
                let other = Arc::clone(&locks);
                let thread = spawn("other", move || {
                    let _second = other.1.write();
                    let _first = other.0.lock();
                });
                let first = locks.0.lock();
                let second = locks.1.read();
                drop((first, second));
                thread.expect("a thread").join().expect("no panic");
            });
            ended
        };
        let ends: Vec<_> = (0..100).map(crosswise).collect();
        assert!(ends.iter().any(Result::is_ok));
        let stuck = ends.iter().find_map(|end| end.as_ref().err());
        assert!(
            matches!(stuck, Some(Halt::Stuck(who)) if who == &["main", "other"]),
            "{stuck:?}"
        );
    }

    #[test]
    fn signals_wait_and_deadlines_pass_in_the_worlds_time() {
        let plan = Plan::Given(Vec::new());
        let (ended, _) = explored(&plan, || {
            let event = Arc::new(Event::new());
            let setter = Arc::clone(&event);
            let thread = spawn("setter", move || setter.set()).expect("a thread");
            assert!(event.wait(None));
            thread.join().expect("no panic");
            assert!(!event.wait(Some(u64::MAX - 1)), "nobody sets it again");
        });
        ended.expect("it ends");
    }

    #[test]
    fn a_panic_is_told_with_the_threads_name() {
        let (ended, _) = explored(&Plan::Given(Vec::new()), || {
            let thread = spawn("faulty", || panic!("as ordered")).expect("a thread");
            let _ = thread.join();
        });
        assert!(matches!(ended, Err(Halt::Panicked(name)) if name == "faulty"));
    }
}
