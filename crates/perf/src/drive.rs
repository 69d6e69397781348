//! Applications at work: started together, measured by windows, stopped in order.
//!
//! Invariants:
//! * [`start`] returns when every application is connected, has its queues open and has been let go:
//!   nothing of that is in a measurement.
//! * What an [`Outcome`] counts has been done for good, and its latencies are those of what it counts.
//! * An application that is told to stop finishes its iteration first; one that fails ends alone, and
//!   what went wrong is kept.
//!
//! * `application`: what each module does, call by call. `carrier`: what an application is carried by: `blocking`, a
//!   thread for each, and `link`, a connection in a loop of many. `connect`: how the queue manager is reached.
//! * `multiplexed`: the loops, `seat`: a place there. `event_loop`: who can read, and who has room to write.
//! * `course`: when an application's next iteration is due. `tally`: what has been counted.
//! * `control`: how a group of applications is let go, stopped and waited for.

mod application;
mod blocking;
mod carrier;
mod connect;
mod control;
mod course;
mod event_loop;
mod link;
mod multiplexed;
mod seat;
mod tally;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use posthaste_mqi::{CorrelId, Mqi};

pub use connect::unreachable;

use crate::measure::{Interrupt, LabError, histogram};
use crate::workload::{Carriers, Target, Workload, body};
pub(crate) use application::Share;
pub(crate) use carrier::{Called, Fault, came};
use connect::{NO_SOCKETS, Way};
use control::Control;
pub(crate) use event_loop::{EventLoop, Ready};
pub(crate) use seat::Seat;
pub(crate) use tally::Iteration;
use tally::Tally;

/// What was measured between [`Running::begin_window`] and [`Running::end_window`].
#[derive(Clone, Debug)]
pub struct Window {
    /// Iterations.
    pub iterations: u64,
    /// How long it was.
    pub seconds: f64,
    /// Time of an iteration, in nanoseconds. In rated mode it counts from when the iteration was due,
    /// so that a slow queue manager is not excused by requests that were never sent.
    pub latency: Histogram<u64>,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Iterations, of all applications.
    pub iterations: u64,
    /// Those since the last [`Running::begin_window`].
    pub window: u64,
    /// From the start until it was stopped, or the last application had finished.
    pub seconds: f64,
    /// From the start until the last iteration was done.
    pub to_last_iteration: f64,
    /// Time of an iteration, in nanoseconds, since the last [`Running::begin_window`].
    pub latency: Histogram<u64>,
    /// What went wrong; the first hundred.
    pub failures: Vec<LabError>,
    /// How often something went wrong.
    pub failed: u64,
    /// At least one application ended before it was to.
    pub partial: bool,
    /// Iterations that a rate asked for and that were given up, because it could not be held.
    pub missed: u64,
    /// Iterations of each application.
    pub each: Vec<u64>,
}

/// Like applications that are to be carried.
#[derive(Clone)]
pub(crate) struct Group {
    workload: Arc<Workload>,
    way: Way,
    /// The workload's message.
    data: Arc<[u8]>,
    control: Arc<Control>,
}

struct Mark {
    /// Iterations of each application until then.
    each: Vec<u64>,
    at: Instant,
}

/// Applications at work.
pub struct Running {
    group: Group,
    tallies: Vec<Arc<Tally>>,
    window: Mutex<Mark>,
    /// How long an application may take to end.
    grace: Duration,
}

/// How long the queue manager may take to answer what was asked before the end.
const GRACE: Duration = Duration::from_secs(10);
/// How long applications that are connecting may take to leave when the start is given up. A queue manager that
/// hangs answers nobody; they give up by themselves, and hold nothing but their socket.
const LEAVE: Duration = Duration::from_secs(1);

/// Connects an application that is no part of a workload.
pub(crate) fn connect(target: &Target) -> Result<Box<dyn Mqi>, LabError> {
    Way::find(target, &Workload::default())?.connect()
}

/// Starts a workload.
///
/// # Errors
/// It cannot be driven, the queue manager cannot be reached, a queue cannot be opened, or it took
/// longer than [`Workload::start_within`]. Nothing is left running then, but for applications whose
/// connecting is not answered.
pub fn start(workload: &Workload, target: &Target) -> Result<Running, LabError> {
    let mut running = start_together(std::slice::from_ref(workload), target)?;
    running
        .pop()
        .ok_or_else(|| LabError::workload("starting", "no workload"))
}

/// Starts several workloads on the same queue manager, the last one first: responders are ready
/// before requesters begin when they stand behind them. Those that are multiplexed over the same
/// number of threads share these threads.
///
/// # Errors
/// As [`start`].
pub fn start_together(workloads: &[Workload], target: &Target) -> Result<Vec<Running>, LabError> {
    let started = start_unless(workloads, target, &Interrupt::none())?;
    Ok(started.unwrap_or_default())
}

/// The same; nothing is started when `interrupt` is raised before everybody is ready.
///
/// # Errors
/// As [`start`].
pub fn start_unless(
    workloads: &[Workload],
    target: &Target,
    interrupt: &Interrupt,
) -> Result<Option<Vec<Running>>, LabError> {
    for workload in workloads {
        workload.check()?;
        if matches!(target, Target::InProcess(_)) && workload.carriers != Carriers::Threads {
            return Err(LabError::BadInput(NO_SOCKETS.to_owned()));
        }
    }
    let base = Instant::now();
    let prepared = workloads.iter().rev();
    let prepared = prepared.map(|workload| prepare(workload, target, base));
    let mut running = prepared.collect::<Result<Vec<Running>, LabError>>()?;
    carry(&mut running)?;
    for (workload, run) in workloads.iter().rev().zip(&running) {
        let deadline = deadline(workload, base);
        match run.control().await_ready(deadline, workload, interrupt) {
            Ok(true) => {}
            Ok(false) => {
                leave(&running, target, Instant::now());
                return Ok(None);
            }
            Err(error) => {
                leave(&running, target, deadline.unwrap_or(base + GRACE));
                return Err(error);
            }
        }
    }
    for run in &running {
        run.begin_window();
        run.control().go();
    }
    running.reverse();
    Ok(Some(running))
}

/// When every application has to be ready; none is no limit. The pauses between them do not count.
fn deadline(workload: &Workload, base: Instant) -> Option<Instant> {
    if workload.start_within.is_zero() {
        return None;
    }
    let pauses = workload.start_interval * workload.applications.saturating_sub(1);
    base.checked_add(workload.start_within + pauses)
}

/// The start is given up: whoever can leaves until then, or within [`LEAVE`].
fn leave(running: &[Running], target: &Target, until: Instant) {
    for run in running {
        run.control().end();
    }
    let until = match target {
        // Nobody waits for a network there, and the queue manager can end only when all have left.
        Target::InProcess(_) => None,
        _ => Some(until.max(Instant::now() + LEAVE)),
    };
    for run in running {
        run.control().await_ended(until);
    }
}

/// Gives every group its carriers; those multiplexed over the same number of threads share them.
fn carry(running: &mut [Running]) -> Result<(), LabError> {
    let mut loops = Vec::new();
    for run in &mut *running {
        match run.group.workload.carriers {
            Carriers::Threads => run.tallies = blocking::spawn(&run.group)?,
            Carriers::Multiplexed { threads } if !loops.contains(&threads) => loops.push(threads),
            Carriers::Multiplexed { .. } => {}
        }
    }
    for threads in loops {
        let carriers = Carriers::Multiplexed { threads };
        let sharing = running.iter_mut();
        let sharing: Vec<&mut Running> = sharing
            .filter(|run| run.group.workload.carriers == carriers)
            .collect();
        let groups: Vec<Group> = sharing.iter().map(|run| run.group.clone()).collect();
        // A loop without an application would have nothing to do.
        let most = groups.iter().map(|group| group.workload.applications).max();
        let tallies = multiplexed::spawn(&groups, threads.min(most.unwrap_or(1)))?;
        for (run, tallies) in sharing.into_iter().zip(tallies) {
            run.tallies = tallies;
        }
    }
    Ok(())
}

/// A correlation identifier that no other application has: process, moment, number.
fn identity() -> CorrelId {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let mut id = [0; 24];
    let moment = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    let parts = b"PERF"
        .iter()
        .copied()
        .chain(std::process::id().to_be_bytes())
        .chain(moment.to_be_bytes())
        .chain(NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    for (byte, part) in id.iter_mut().zip(parts) {
        *byte = part;
    }
    id
}

fn prepare(workload: &Workload, target: &Target, base: Instant) -> Result<Running, LabError> {
    Ok(Running {
        group: Group {
            workload: Arc::new(workload.clone()),
            way: Way::find(target, workload)?,
            data: body(&workload.text, workload.message_bytes)?.into(),
            control: Arc::new(Control::new(workload.applications, base)),
        },
        tallies: Vec::new(),
        window: Mutex::new(Mark {
            each: Vec::new(),
            at: base,
        }),
        // A reply may be waited for, one slice after the other; who waits for ever stops at the next.
        grace: workload.get_wait.unwrap_or_default() + GRACE,
    })
}

impl Running {
    fn control(&self) -> &Control {
        &self.group.control
    }

    /// Iterations so far, of all applications, with those that may still be undone.
    pub fn iterations(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.iterations()).sum()
    }

    /// Iterations so far of each application.
    pub fn each(&self) -> Vec<u64> {
        self.tallies.iter().flat_map(|tally| tally.each()).collect()
    }

    /// When the applications were let go.
    pub fn began(&self) -> Instant {
        self.control().moment(self.control().went())
    }

    /// Iterations of a rated workload that are due then or later are not begun.
    pub fn due_before(&self, over: Instant) {
        self.control().due_before(over);
    }

    /// Applications that are still at work.
    pub fn at_work(&self) -> u32 {
        self.control().at_work()
    }

    /// Forgets the latencies recorded so far; gives the iterations so far, and the moment.
    pub fn begin_window(&self) -> (u64, Instant) {
        let each = self.tallies.iter().flat_map(|tally| tally.begin_window());
        let mark = Mark {
            each: each.collect(),
            at: Instant::now(),
        };
        let began = (mark.each.iter().sum(), mark.at);
        *self.window.lock() = mark;
        began
    }

    /// What was measured since [`Running::begin_window`]; the window goes on.
    pub fn end_window(&self) -> Window {
        let latency = self.latency();
        let mark = self.window.lock();
        let before = mark.each.iter().sum();
        Window {
            iterations: self.iterations().saturating_sub(before),
            seconds: mark.at.elapsed().as_secs_f64(),
            latency,
        }
    }

    /// The latencies recorded since [`Running::begin_window`], which are forgotten.
    pub fn take_latency(&self) -> Histogram<u64> {
        let mut all = histogram();
        for tally in &self.tallies {
            tally.take_latency(&mut all);
        }
        all
    }

    /// The latencies recorded since [`Running::begin_window`].
    pub fn latency(&self) -> Histogram<u64> {
        let mut all = histogram();
        for tally in &self.tallies {
            tally.add_latency(&mut all);
        }
        all
    }

    /// The first thing that went wrong; the other applications go on.
    pub fn failure(&self) -> Option<LabError> {
        self.control().failures().0.first().cloned()
    }

    /// Waits at most so long until every application has ended by itself; whether they have.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.control().await_ended(Some(Instant::now() + at_most))
    }

    /// Lets every application finish its iteration, and disconnects. One that gets no answer is given
    /// up after a while, which is a failure.
    pub fn stop(self) -> Outcome {
        self.control().end();
        if !self
            .control()
            .await_ended(Some(Instant::now() + self.grace))
        {
            self.control().give_up();
        }
        let (failures, failed) = self.control().failures();
        let mut latency = histogram();
        let each: Vec<u64> = self
            .tallies
            .iter()
            .flat_map(|tally| tally.settled(&mut latency))
            .collect();
        let before = self.window.lock().each.clone();
        // What was counted before and undone since is missing there, not here.
        let since = each.iter().zip(before);
        let window = since.map(|(now, before)| now.saturating_sub(before)).sum();
        let last = self.tallies.iter().map(|tally| tally.last()).max();
        let last = last.unwrap_or(0);
        Outcome {
            iterations: each.iter().sum(),
            window,
            seconds: self.control().seconds(),
            to_last_iteration: Duration::from_nanos(last.saturating_sub(self.control().went()))
                .as_secs_f64(),
            latency,
            failures,
            failed,
            partial: self.control().partial(),
            missed: self.tallies.iter().map(|tally| tally.missed()).sum(),
            each,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control().end();
    }
}
