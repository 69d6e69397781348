//! A single-threaded executor that decides by seed which of the runnable tasks goes on.
//!
//! Invariants:
//! * The next task is drawn from the runnable ones sorted by id, so the choice depends on which tasks
//!   are runnable, not on the order in which they were woken.
//! * Time jumps only when no task is runnable; each poll costs a seeded few nanoseconds, so that timers
//!   can come due between two runnable tasks.
//! * Futures are polled, and dropped, with nothing borrowed: they may spawn, cancel, wake, and crash the world.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos};

use crate::clock::SimClock;
use crate::rng::Rng;
use crate::trace::{Trace, digest};

/// Names a task; given out in order of spawning, never twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A runnable task was polled.
    Polled(TaskId),
    /// No task was runnable; time went on to the next timer.
    Advanced(Nanos),
    /// No task is runnable and no timer is waiting: nothing will happen by itself any more.
    Idle,
}

/// No task can go on, and what was waited for has not happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Names of the tasks that wait, in order of spawning.
    pub waiting: Vec<String>,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "nothing can go on; waiting: {}", self.waiting.join(", "))
    }
}

impl std::error::Error for Stuck {}

/// The executor. Clones are the same one.
#[derive(Clone)]
pub struct SimExecutor {
    inner: Rc<Inner>,
}

/// What looks on.
type Watch = Rc<dyn Fn()>;

type Body = Pin<Box<dyn Future<Output = ()>>>;

struct Slot {
    name: Rc<str>,
    /// Absent while it is being polled.
    body: Option<Body>,
}

struct Inner {
    tasks: RefCell<BTreeMap<TaskId, Slot>>,
    runnable: Arc<Mutex<Vec<TaskId>>>,
    rng: RefCell<Rng>,
    spawned: Cell<u64>,
    poll_cost: Cell<Nanos>,
    watch: RefCell<Option<Watch>>,
    clock: SimClock,
    trace: Trace,
}

struct TaskWaker {
    id: TaskId,
    runnable: Arc<Mutex<Vec<TaskId>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut runnable = self.runnable.lock();
        if let Err(place) = runnable.binary_search(&self.id) {
            runnable.insert(place, self.id);
        }
    }
}

impl SimExecutor {
    pub(crate) fn new(rng: Rng, clock: SimClock, trace: Trace) -> Self {
        let inner = Inner {
            tasks: RefCell::default(),
            runnable: Arc::default(),
            rng: RefCell::new(rng),
            spawned: Cell::new(0),
            poll_cost: Cell::new(1_000),
            watch: RefCell::default(),
            clock,
            trace,
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    /// Adds a task, runnable at once. Dropping the returned handle lets the task run on.
    pub fn spawn<T: 'static>(
        &self,
        name: &str,
        future: impl Future<Output = T> + 'static,
    ) -> Task<T> {
        let id = TaskId(self.inner.spawned.get());
        self.inner.spawned.set(id.0 + 1);
        let shared = Rc::new(Outcome {
            value: RefCell::new(None),
            finished: Cell::new(false),
            joiner: RefCell::new(None),
        });
        let outcome = Rc::clone(&shared);
        let body = Box::pin(async move { outcome.finish(future.await) });
        let slot = Slot {
            name: Rc::from(name),
            body: Some(body),
        };
        self.inner.tasks.borrow_mut().insert(id, slot);
        self.waker(id).wake();
        self.inner
            .trace
            .record("spawn", &[id.0, digest(name.as_bytes())], || {
                format!("task {} {name}", id.0)
            });
        Task {
            id,
            shared,
            executor: self.clone(),
        }
    }

    /// The most time one poll takes (the time is drawn from 0 up to this; 1 µs unless set).
    pub fn set_poll_cost(&self, nanos: Nanos) {
        self.inner.poll_cost.set(nanos);
    }

    /// Has `watch` called after each poll, until the program ends; or takes that back.
    pub fn watch(&self, watch: Option<Rc<dyn Fn()>>) {
        *self.inner.watch.borrow_mut() = watch;
    }

    /// Tasks that are not finished.
    pub fn tasks(&self) -> usize {
        self.inner.tasks.borrow().len()
    }

    /// Names of the tasks that are not finished, in order of spawning.
    pub fn waiting(&self) -> Vec<String> {
        let tasks = self.inner.tasks.borrow();
        tasks.values().map(|slot| slot.name.to_string()).collect()
    }

    /// Polls one runnable task; with none, goes on in time to the next timer.
    pub fn step(&self) -> Progress {
        if let Some(id) = self.poll_one() {
            return Progress::Polled(id);
        }
        match self.inner.clock.next_timer() {
            Some(at) => {
                self.inner.clock.advance_to(at);
                Progress::Advanced(at)
            }
            None => Progress::Idle,
        }
    }

    /// Steps until nothing is runnable and no timer waits. Never returns while a task keeps setting timers.
    pub fn run_until_idle(&self) {
        while self.step() != Progress::Idle {}
    }

    /// Polls until nothing is runnable; time goes on only by the cost of polls.
    pub fn run_ready(&self) {
        while self.poll_one().is_some() {}
    }

    /// Steps while `going` says so and there is something to do. Returns whether `going` ended it.
    pub fn run_while(&self, mut going: impl FnMut() -> bool) -> bool {
        while going() {
            if self.step() == Progress::Idle {
                return false;
            }
        }
        true
    }

    /// Does everything that happens up to the time `at`, and ends at that time (or a poll's cost later).
    pub fn run_until(&self, at: Nanos) {
        loop {
            while self.inner.clock.monotonic() < at && self.poll_one().is_some() {}
            let now = self.inner.clock.monotonic();
            if now >= at {
                return;
            }
            let next = self
                .inner
                .clock
                .next_timer()
                .map_or(at, |timer| timer.min(at));
            self.inner.clock.advance_to(next);
        }
    }

    /// [`SimExecutor::run_until`] this much later than now.
    pub fn run_for(&self, nanos: Nanos) {
        self.run_until(self.inner.clock.monotonic().saturating_add(nanos));
    }

    /// Runs `future`, and everything else, until `future` is done.
    ///
    /// # Errors
    /// [`Stuck`] when nothing can go on before that; the future stays among the tasks.
    pub fn block_on<T: 'static>(
        &self,
        future: impl Future<Output = T> + 'static,
    ) -> Result<T, Stuck> {
        let task = self.spawn("block_on", future);
        loop {
            if let Some(value) = task.take() {
                return Ok(value);
            }
            if self.step() == Progress::Idle {
                return Err(Stuck {
                    waiting: self.waiting(),
                });
            }
        }
    }

    /// Drops every task, those too that are spawned by dropping others.
    pub(crate) fn clear(&self) {
        self.watch(None);
        loop {
            let dropped = std::mem::take(&mut *self.inner.tasks.borrow_mut());
            self.inner.runnable.lock().clear();
            if dropped.is_empty() {
                return;
            }
        }
    }

    fn waker(&self, id: TaskId) -> Waker {
        Waker::from(Arc::new(TaskWaker {
            id,
            runnable: Arc::clone(&self.inner.runnable),
        }))
    }

    /// Polls a runnable task of the seed's choice.
    fn poll_one(&self) -> Option<TaskId> {
        loop {
            let id = {
                let mut runnable = self.inner.runnable.lock();
                if runnable.is_empty() {
                    return None;
                }
                let choice = self.inner.rng.borrow_mut().index(runnable.len());
                runnable.remove(choice)
            };
            // Woken after its end, or from within its own poll by a nested run: nothing to do.
            let body = self
                .inner
                .tasks
                .borrow_mut()
                .get_mut(&id)
                .and_then(|slot| slot.body.take());
            let Some(mut body) = body else { continue };
            self.inner.trace.record("poll", &[id.0], || {
                format!("task {} at {} ns", id.0, self.inner.clock.monotonic())
            });
            let waker = self.waker(id);
            let state = body.as_mut().poll(&mut Context::from_waker(&waker));
            let finished = {
                let mut tasks = self.inner.tasks.borrow_mut();
                match (state, tasks.get_mut(&id)) {
                    (Poll::Pending, Some(slot)) => {
                        slot.body = Some(body);
                        None
                    }
                    // Finished, or cancelled or crashed by itself.
                    (_, _) => Some((body, tasks.remove(&id))),
                }
            };
            drop(finished);
            let cost = self.inner.poll_cost.get();
            let cost = self.inner.rng.borrow_mut().between(0, cost);
            self.inner.clock.tick(cost);
            let watch = self.inner.watch.borrow().clone();
            if let Some(watch) = watch {
                watch();
            }
            return Some(id);
        }
    }
}

struct Outcome<T> {
    value: RefCell<Option<T>>,
    finished: Cell<bool>,
    joiner: RefCell<Option<Waker>>,
}

impl<T> Outcome<T> {
    fn finish(&self, value: T) {
        *self.value.borrow_mut() = Some(value);
        self.finished.set(true);
        let joiner = self.joiner.borrow_mut().take();
        if let Some(waker) = joiner {
            waker.wake();
        }
    }
}

/// A spawned task: awaiting it gives its output. A task that was cancelled, or fell to a crash, never ends.
pub struct Task<T> {
    id: TaskId,
    shared: Rc<Outcome<T>>,
    executor: SimExecutor,
}

impl<T> Task<T> {
    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Whether it has run to its end.
    pub fn is_finished(&self) -> bool {
        self.shared.finished.get()
    }

    /// The output, once.
    pub fn take(&self) -> Option<T> {
        self.shared.value.borrow_mut().take()
    }

    /// Drops the task's future now, as a program does that stops waiting.
    pub fn cancel(&self) {
        let removed = self.executor.inner.tasks.borrow_mut().remove(&self.id);
        drop(removed);
        self.executor
            .inner
            .trace
            .record("cancel", &[self.id.0], || format!("task {}", self.id.0));
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(value) = self.take() {
            return Poll::Ready(value);
        }
        let waker = context.waker().clone();
        let replaced = self.shared.joiner.borrow_mut().replace(waker);
        drop(replaced);
        Poll::Pending
    }
}

/// Lets the other runnable tasks have their chance.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
