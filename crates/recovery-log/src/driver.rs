//! Driving the writer on real threads.
//!
//! One thread asks [`Writer::step`]. On a fast device it runs each write itself: handing it over would cost
//! more than the write. On a slow one it hands writes to helper threads and stays free to start another, up
//! to four. Extents are always prepared on a helper, so that no write waits for zeros being written.
//!
//! A committer that comes alone to a fast device runs the write itself while the thread rests: waking the
//! thread and being woken by it would cost more than the write, too.
//!
//! Invariants:
//! * Whoever steps the writer holds the lock of [`Driving`]; the thread lets it go only while it waits for a
//!   signal, so a committer that gets it without waiting finds the writer at rest.
//! * If the thread ends in any way but `Ended` (a panic), or a committer panics while it writes, the log stops
//!   and all who wait learn it.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_env::{Clock, Env, Event, Nanos, Thread, set_timer_slack, spawn};

use crate::log::RecoveryLog;
use crate::writer::{Job, JobId, PrepareJob, Step, Writer};

/// How late a wait for the cohort may end, nanoseconds.
const SLACK: Nanos = 1_000;

/// The threads that write the log.
#[derive(Debug)]
pub struct Driver {
    thread: Thread,
}

impl Driver {
    /// Waits until the log has been shut down and written out, or has stopped.
    ///
    /// # Errors
    /// The writer thread panicked; the log has stopped.
    #[expect(
        clippy::result_unit_err,
        reason = "the panic was reported by the panic hook; there is nothing to add"
    )]
    pub fn join(self) -> Result<(), ()> {
        self.thread.join()
    }

    /// Whether it has come to that.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Starts the threads that write `log`.
///
/// # Errors
/// The thread could not be started; the log then is stopped.
pub fn drive(env: &Env, log: &RecoveryLog, writer: Writer) -> io::Result<Driver> {
    let event = Arc::new(Event::new());
    let signal = Arc::clone(&event);
    log.on_work(Box::new(move || signal.set()));
    let driving = Arc::new(Mutex::new(Driving {
        writer,
        clock: Arc::clone(&env.clock),
        event,
        finished: Arc::default(),
        helpers: Vec::new(),
    }));
    let resting = Arc::downgrade(&driving);
    log.on_alone(Box::new(move || {
        let driving = resting.upgrade();
        driving.is_some_and(|driving| driving.try_lock().is_some_and(|mut d| d.write_here()))
    }));
    let thread = spawn("log-writer", move || run(&driving))?;
    Ok(Driver { thread })
}

/// What the thread does.
fn run(driving: &Mutex<Driving>) {
    // A kernel that refuses only makes the wait for a cohort end later.
    let _ = set_timer_slack(SLACK);
    let mut locked = driving.lock();
    let event = Arc::clone(&locked.event);
    loop {
        locked.collect();
        let now = locked.clock.monotonic();
        let until = match locked.writer.step(now) {
            Step::Write(job) => {
                locked.write(job);
                continue;
            }
            Step::Prepare(job) => {
                locked.hand_over(Work::Prepare(job));
                continue;
            }
            Step::WaitUntil(at) => Some(at),
            Step::Idle => None,
            Step::Ended => break,
        };
        drop(locked);
        event.wait(until);
        locked = driving.lock();
    }
    for helper in locked.helpers.drain(..) {
        *helper.work.lock() = Some(Work::End);
        helper.wake.set();
        // A helper that panicked has reported its job as failed, which stopped the log.
        let _ = helper.thread.join();
    }
}

/// A job that ended on a helper.
struct Finished {
    id: JobId,
    result: io::Result<()>,
    started: Nanos,
    ended: Nanos,
}

impl Finished {
    fn panicked(id: JobId, now: Nanos) -> Finished {
        Finished {
            id,
            result: Err(io::Error::other("the thread that ran it panicked")),
            started: now,
            ended: now,
        }
    }
}

enum Work {
    Write(Job),
    Prepare(PrepareJob),
    End,
}

impl Work {
    fn id(&self) -> Option<JobId> {
        match self {
            Work::Write(job) => Some(job.id()),
            Work::Prepare(job) => Some(job.id()),
            Work::End => None,
        }
    }
}

/// A thread that runs one job at a time.
struct Helper {
    wake: Arc<Event>,
    work: Arc<Mutex<Option<Work>>>,
    busy_with: Option<JobId>,
    thread: Thread,
}

struct Driving {
    writer: Writer,
    clock: Arc<dyn Clock>,
    event: Arc<Event>,
    finished: Arc<Mutex<VecDeque<Finished>>>,
    helpers: Vec<Helper>,
}

/// A write on a committer's thread. Goes out of scope in a panic only: then the write has failed, and the thread
/// has to see that.
struct Unfinished<'a> {
    driving: &'a mut Driving,
    id: JobId,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let now = self.driving.clock.monotonic();
        self.driving
            .complete(Some(Finished::panicked(self.id, now)));
        self.driving.event.set();
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        // Only a panic, or a thread that never started, leaves the log running here.
        if !self.writer.has_ended() {
            self.writer.shared().stop("the log writer has gone");
        }
    }
}

impl Driving {
    /// Runs one write on the thread of the committer that needs it. `false`: nothing was written, the thread has to
    /// be signalled.
    fn write_here(&mut self) -> bool {
        if !self.writer.serves_one() {
            return false;
        }
        self.collect();
        let wrote = loop {
            match self.writer.step(self.clock.monotonic()) {
                Step::Prepare(job) => self.hand_over(Work::Prepare(job)),
                Step::Write(job) => {
                    let unfinished = Unfinished {
                        id: job.id(),
                        driving: self,
                    };
                    let done = perform(Work::Write(job), &*unfinished.driving.clock);
                    std::mem::forget(unfinished);
                    self.complete(done);
                    break true;
                }
                Step::WaitUntil(_) | Step::Idle | Step::Ended => break false,
            }
        };
        if wrote && !self.writer.rest() {
            // Others have come meanwhile; they have not signalled, because the writer was not at rest.
            self.event.set();
        }
        wrote
    }

    /// Tells the writer what helpers have ended.
    fn collect(&mut self) {
        loop {
            let next = self.finished.lock().pop_front();
            let Some(done) = next else {
                return;
            };
            for helper in &mut self.helpers {
                if helper.busy_with == Some(done.id) {
                    helper.busy_with = None;
                }
            }
            self.writer
                .complete(done.id, done.result, done.started, done.ended);
        }
    }

    fn write(&mut self, job: Job) {
        if self.writer.wants_flights() {
            return self.hand_over(Work::Write(job));
        }
        self.run_here(Work::Write(job));
    }

    fn run_here(&mut self, work: Work) {
        let done = perform(work, &*self.clock);
        self.complete(done);
    }

    fn complete(&mut self, done: Option<Finished>) {
        if let Some(done) = done {
            self.writer
                .complete(done.id, done.result, done.started, done.ended);
        }
    }

    /// Gives work to a helper that has none; runs it here if there is no thread to be had.
    fn hand_over(&mut self, work: Work) {
        if !self.helpers.iter().any(|helper| helper.busy_with.is_none()) {
            match self.new_helper() {
                Ok(helper) => self.helpers.push(helper),
                Err(_) => return self.run_here(work),
            }
        }
        let Some(helper) = self
            .helpers
            .iter_mut()
            .find(|helper| helper.busy_with.is_none())
        else {
            return self.run_here(work);
        };
        helper.busy_with = work.id();
        *helper.work.lock() = Some(work);
        helper.wake.set();
    }

    fn new_helper(&self) -> io::Result<Helper> {
        let wake = Arc::new(Event::new());
        let work: Arc<Mutex<Option<Work>>> = Arc::default();
        let side = HelperSide {
            wake: Arc::clone(&wake),
            work: Arc::clone(&work),
            finished: Arc::clone(&self.finished),
            event: Arc::clone(&self.event),
            clock: Arc::clone(&self.clock),
        };
        let thread = spawn("log-helper", move || side.run())?;
        Ok(Helper {
            wake,
            work,
            busy_with: None,
            thread,
        })
    }
}

/// What a helper thread holds.
struct HelperSide {
    wake: Arc<Event>,
    work: Arc<Mutex<Option<Work>>>,
    finished: Arc<Mutex<VecDeque<Finished>>>,
    event: Arc<Event>,
    clock: Arc<dyn Clock>,
}

impl HelperSide {
    fn run(self) {
        loop {
            let work = self.work.lock().take();
            match work {
                None => {
                    self.wake.wait(None);
                }
                Some(Work::End) => return,
                Some(work) => {
                    let mut report = Report {
                        side: &self,
                        id: work.id(),
                        done: None,
                    };
                    report.done = perform(work, &*self.clock);
                }
            }
        }
    }
}

/// Reports a job when it goes out of scope: also one that ended in a panic, as failed.
struct Report<'a> {
    side: &'a HelperSide,
    id: Option<JobId>,
    done: Option<Finished>,
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let now = self.side.clock.monotonic();
        let failed = || self.id.map(|id| Finished::panicked(id, now));
        let done = self.done.take().or_else(failed);
        self.side.finished.lock().extend(done);
        self.side.event.set();
    }
}

/// Runs a job; the job is gone when this returns, so that its buffer can be used again.
fn perform(work: Work, clock: &dyn Clock) -> Option<Finished> {
    let started = clock.monotonic();
    let (id, result) = match work {
        Work::Write(job) => (job.id(), job.run()),
        Work::Prepare(job) => (job.id(), job.run()),
        Work::End => return None,
    };
    Some(Finished {
        id,
        result,
        started,
        ended: clock.monotonic(),
    })
}
