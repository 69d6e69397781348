//! The writer: a state machine that says what to do next and is told when it is done.
//!
//! It does no I/O itself: [`Writer::step`] gives out jobs, whoever drives it runs them, on whichever thread,
//! and calls [`Writer::complete`]. Jobs may complete in any order.
//!
//! Invariants:
//! * Batches are numbered when they are taken, and acknowledged strictly in that order: a finished later
//!   write waits for an unfinished earlier one.
//! * No page is given out twice: what was taken is padded, and appends go on behind it.
//! * The first failed write, rename or directory sync is final. Nothing is acknowledged after it, and
//!   nothing is tried again.
//! * At most one extent is being prepared at a time. A write whose extent is not there waits.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::Ordering::SeqCst;
use posthaste_env::{Disk, File, Nanos};

use crate::config::WritePolicy;
use crate::extents::{self, Action};
use crate::limits::MAX_FLIGHTS;
use crate::log::Shared;
use crate::policy::{Choice, Policy, View};
use crate::statistics::Meter;
use crate::tail::{Buffer, Chunk};

/// How long accepted records may wait for an extent that cannot be made before the log stops.
const STUCK: Nanos = 10_000_000_000;

/// Names a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u64);

/// One write: whole pages, to be durable when [`Job::run`] returns.
pub struct Job {
    id: JobId,
    file: Arc<dyn File>,
    offset: u64,
    lsn: u64,
    buffer: Arc<Buffer>,
}

impl Job {
    /// The job's name, for [`Writer::complete`].
    pub fn id(&self) -> JobId {
        self.id
    }

    /// What is written.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.pages()
    }

    /// LSN of the first byte.
    pub fn lsn(&self) -> crate::Lsn {
        crate::Lsn(self.lsn)
    }

    /// Writes. Drop the job before `complete`, so that its buffer can be used again.
    pub fn run(&self) -> io::Result<()> {
        self.file.write_at(self.bytes(), self.offset)
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("lsn", &self.lsn)
            .field("bytes", &self.bytes().len())
            .finish_non_exhaustive()
    }
}

type Opened = Arc<Mutex<Option<Arc<dyn File>>>>;

/// Making, renaming or removing one extent file.
pub struct PrepareJob {
    id: JobId,
    action: Action,
    disk: Arc<dyn Disk>,
    active: PathBuf,
    extent_bytes: u64,
    opened: Opened,
}

impl PrepareJob {
    /// The job's name, for [`Writer::complete`].
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Does it.
    pub fn run(&self) -> io::Result<()> {
        let file = extents::perform(&*self.disk, &self.active, self.extent_bytes, self.action)?;
        *self.opened.lock() = file;
        Ok(())
    }
}

impl std::fmt::Debug for PrepareJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrepareJob")
            .field("id", &self.id)
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

/// What the driver has to do next.
#[derive(Debug)]
pub enum Step {
    /// Run this write, and go on asking (there may be more to start meanwhile).
    Write(Job),
    /// Run this, best beside the writes, and go on asking.
    Prepare(PrepareJob),
    /// Ask again at this time, when signalled, or when a job is complete.
    WaitUntil(Nanos),
    /// Ask again when signalled or when a job is complete.
    Idle,
    /// The log was shut down or has stopped, and no job is out. Nothing more will come.
    Ended,
}

struct Flight {
    id: JobId,
    /// No other was in flight at any time.
    alone: bool,
    end: u64,
    bytes: u64,
    buffer: Option<Arc<Buffer>>,
    done: bool,
}

/// Why no write could be started.
enum Hindrance {
    /// There is nothing to write.
    Nothing,
    /// An appender is still copying.
    Copying,
    /// The extent is not there yet.
    NoExtent,
}

/// The log's writing side. One for each log.
pub struct Writer {
    shared: Arc<Shared>,
    policy: Policy,
    generation: u32,
    flights: VecDeque<Flight>,
    handles: BTreeMap<u64, Arc<dyn File>>,
    preparing: Option<(JobId, Opened)>,
    meter: Meter,
    next_job: u64,
    stuck_since: Option<Nanos>,
    ended: bool,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("generation", &self.generation)
            .field("in_flight", &self.flights.len())
            .finish_non_exhaustive()
    }
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        policy: WritePolicy,
        generation: u32,
        handles: BTreeMap<u64, Arc<dyn File>>,
    ) -> Self {
        Self {
            shared,
            policy: Policy::new(policy),
            generation,
            flights: VecDeque::new(),
            handles,
            preparing: None,
            meter: Meter::default(),
            next_job: 0,
            stuck_since: None,
            ended: false,
        }
    }

    /// Writes given out and not acknowledged yet.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Whether the device is so slow that the driver should run writes on other threads and keep asking.
    pub fn wants_flights(&self) -> bool {
        self.policy.wants_flights()
    }

    /// Whether a committer that finds the writer at rest may run the write itself.
    pub(crate) fn serves_one(&self) -> bool {
        self.policy.serves_one() && !self.ended
    }

    /// Back to rest after a write that a committer ran. `false`: there is more to do. A nudge that came before
    /// the committer began to decide is forgotten by now, so what it may have been about is looked at here: the
    /// end of the log (everything else the decision has seen).
    pub(crate) fn rest(&self) -> bool {
        let mut waiters = self.shared.waiters.lock();
        let over = self.shared.is_closing() || self.shared.stopped().is_some();
        !over && waiters.ripe() == 0 && self.flights.is_empty() && waiters.park(1)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn new_id(&mut self) -> JobId {
        self.next_job += 1;
        JobId(self.next_job)
    }

    /// What to do next. Call again after `Write` and `Prepare`, and whenever the answer's condition is met;
    /// calling more often does no harm.
    pub fn step(&mut self, now: Nanos) -> Step {
        let shared = Arc::clone(&self.shared);
        loop {
            shared.waiters.lock().attend();
            let closing = shared.is_closing();
            if shared.stopped().is_some() {
                return self.end_or_idle();
            }
            let written_out = closing && shared.tail.lock().front().is_none();
            if written_out && self.flights.is_empty() {
                return self.end_or_idle();
            }
            if let Some(job) = self.prepare(now, closing) {
                return Step::Prepare(job);
            }
            let view = View {
                now,
                in_flight: self.flights.len(),
                waiting: 0,
                pressed: !written_out && (closing || shared.is_pressed()),
                bulk: shared.tail.lock().has_sealed(),
            };
            let choice = {
                let mut waiters = shared.waiters.lock();
                let waiting = waiters.ripe();
                let choice = self.policy.choose(View { waiting, ..view });
                let parked = match choice {
                    Choice::Write => true,
                    Choice::Hold { wake_at, .. } | Choice::Rest { wake_at } => {
                        waiters.park(wake_at)
                    }
                };
                if !parked {
                    continue;
                }
                choice
            };
            match choice {
                Choice::Hold { until, .. } => return Step::WaitUntil(until),
                Choice::Rest { .. } => return Step::Idle,
                Choice::Write => {}
            }
            let hindrance = match self.take(now) {
                Ok(job) => return Step::Write(job),
                Err(hindrance) => hindrance,
            };
            if !shared.waiters.lock().park(usize::MAX) {
                continue;
            }
            return self.hindered(&hindrance, now);
        }
    }

    /// Whether `step` has given `Ended`.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    fn end_or_idle(&mut self) -> Step {
        if self.flights.iter().all(|flight| flight.done) && self.preparing.is_none() {
            self.ended = true;
            Step::Ended
        } else {
            Step::Idle
        }
    }

    /// Nothing could be written although somebody waits.
    fn hindered(&mut self, hindrance: &Hindrance, now: Nanos) -> Step {
        if !matches!(hindrance, Hindrance::NoExtent) || self.preparing.is_some() {
            return Step::Idle;
        }
        let (blocked, retry) = {
            let extents = self.shared.extents.lock();
            (extents.blocked(), extents.retry_at())
        };
        let (Some(why), Some(retry)) = (blocked, retry) else {
            return Step::Idle;
        };
        // Records were accepted for an extent that cannot be made. Nobody has been told that they are
        // forced, so stopping loses nothing; but first there is time to make space.
        let since = *self.stuck_since.get_or_insert(now);
        if now >= since + STUCK {
            self.shared
                .stop(&format!("{why}, and records are waiting for it"));
            return self.end_or_idle();
        }
        Step::WaitUntil(retry.min(since + STUCK).max(now))
    }

    /// The next thing to do to the extents, if any.
    fn prepare(&mut self, now: Nanos, closing: bool) -> Option<PrepareJob> {
        if self.preparing.is_some() {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let action = {
            let mut extents = shared.extents.lock();
            let action = extents.next_action(shared.placed(), now, closing)?;
            shared.set_limits(extents.limits());
            action
        };
        if let Action::Remove { number } = action {
            self.handles.remove(&number);
        }
        let id = self.new_id();
        let opened = Opened::default();
        self.preparing = Some((id, Arc::clone(&opened)));
        Some(PrepareJob {
            id,
            action,
            disk: Arc::clone(&shared.disk),
            active: shared.active.clone(),
            extent_bytes: shared.shape.extent_bytes(),
            opened,
        })
    }

    /// Takes the next chunk, in page format, as a write.
    fn take(&mut self, now: Nanos) -> Result<Job, Hindrance> {
        let shared = Arc::clone(&self.shared);
        if self.flights.len() >= MAX_FLIGHTS {
            return Err(Hindrance::Copying);
        }
        let (chunk, file) = {
            let mut tail = shared.tail.lock();
            let front = tail.front().ok_or(Hindrance::Nothing)?;
            if !front.is_ready() {
                return Err(Hindrance::Copying);
            }
            let extent = shared.shape.extent_of(front.base);
            let file = self.handles.get(&extent).ok_or(Hindrance::NoExtent)?;
            let file = Arc::clone(file);
            // Earlier extents are written to no more in this lap.
            while self
                .handles
                .first_key_value()
                .is_some_and(|(n, _)| *n < extent)
            {
                self.handles.pop_first();
            }
            let chunk: Chunk = tail.take().ok_or(Hindrance::Nothing)?;
            shared.taken.store(chunk.end(), SeqCst);
            (chunk, file)
        };
        self.stuck_since = None;
        let lsn = chunk.base;
        let end = chunk.end();
        let buffer = Arc::new(chunk.finish(self.generation, shared.forced()));
        let (carried, rooms) = {
            let mut waiters = shared.waiters.lock();
            (waiters.fly(end), waiters.take_rooms())
        };
        for (_, waker) in rooms {
            waker.wake();
        }
        self.policy.taken(carried, now);
        let id = self.new_id();
        let alone = self.flights.is_empty();
        self.flights
            .iter_mut()
            .for_each(|other| other.alone = false);
        self.flights.push_back(Flight {
            id,
            alone,
            end,
            bytes: end - lsn,
            buffer: Some(Arc::clone(&buffer)),
            done: false,
        });
        let in_flight = self.flights.len();
        self.meter
            .started(&mut shared.counts.lock(), in_flight, now);
        Ok(Job {
            id,
            file,
            offset: lsn % shared.shape.extent_bytes(),
            lsn,
            buffer,
        })
    }

    /// A job that `step` gave out has ended. `started` and `now` are the driver's clock.
    pub fn complete(&mut self, job: JobId, result: io::Result<()>, started: Nanos, now: Nanos) {
        if self.preparing.as_ref().is_some_and(|(id, _)| *id == job) {
            if let Some((_, opened)) = self.preparing.take() {
                self.prepared(&opened, result, now);
            }
            return;
        }
        let Some(flight) = self.flights.iter_mut().find(|flight| flight.id == job) else {
            debug_assert!(false, "{job:?} is not out");
            return;
        };
        flight.done = true;
        let (bytes, alone) = (flight.bytes, flight.alone);
        let lsn = flight.end - bytes;
        if let Some(Ok(buffer)) = flight.buffer.take().map(Arc::try_unwrap) {
            let surplus = self.shared.tail.lock().recycle(buffer);
            drop(surplus);
        }
        if let Err(error) = result {
            let reason = format!("writing {bytes} bytes at LSN {lsn} failed: {error}");
            self.shared.stop(&reason);
        }
        if self.shared.stopped().is_none() {
            self.acknowledge(bytes, alone, started, now);
        }
    }

    /// Acknowledges, in order, what has ended.
    fn acknowledge(&mut self, bytes: u64, alone: bool, started: Nanos, now: Nanos) {
        let shared = Arc::clone(&self.shared);
        let mut released = 0;
        let waiting = {
            let mut waiters = shared.waiters.lock();
            while let Some(flight) = self.flights.front().filter(|flight| flight.done) {
                shared.set_forced(flight.end);
                released += waiters.land();
                self.flights.pop_front();
            }
            waiters.gathered()
        };
        let in_flight = self.flights.len();
        let took = now.saturating_sub(started);
        self.policy
            .completed((took, alone), released, waiting, now, in_flight);
        {
            let mut counts = shared.counts.lock();
            self.meter
                .ended(&mut counts, bytes, started, now, in_flight);
            counts.commits += released as u64;
            counts.average_write_nanos = self.policy.average();
            counts.cohort_wait_nanos = self.policy.held();
        }
        if released > 0 {
            shared.released();
        }
    }

    /// The extents have changed.
    fn prepared(&mut self, opened: &Opened, result: io::Result<()>, now: Nanos) {
        let shared = Arc::clone(&self.shared);
        let ended = {
            let mut extents = shared.extents.lock();
            let failed = result.is_err();
            let ended = extents.finished(result, now);
            shared.set_limits(extents.limits());
            ended.map(|action| (action, failed))
        };
        let (action, failed) = match ended {
            Ok(ended) => ended,
            Err(error) => return shared.stop(&error.to_string()),
        };
        if !failed {
            let mut counts = shared.counts.lock();
            match action {
                Action::Recycle { .. } => counts.extents_reused += 1,
                Action::Make { .. } => counts.extents_made += 1,
                Action::Remove { .. } => counts.extents_removed += 1,
            }
        }
        if let (Action::Recycle { to: number, .. } | Action::Make { number }, Some(file)) =
            (action, opened.lock().take())
        {
            self.handles.insert(number, file);
        }
        shared.wake_rooms();
    }
}
