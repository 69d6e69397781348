//! One window of one case.
//!
//! Invariants: what is measured has run for a while before its window; nothing that was started for a window
//! outlives it; a window in which the queue manager ended or an application failed is an error, not a figure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::bench::Bench;
use super::bursts;
use super::effort::Effort;
use super::plan::{Drive, Group, Place, Subject};
use super::restart;
use crate::drive::{Running, start_together};
use crate::floor::{Driver, Load, Seen, forced_writes};
use crate::measure::{CpuClock, Interrupt, LabError, OwnCpu, resident_bytes};
use crate::results::{Latency, Round};
use crate::workload::{Module, PerfError, Workload};

/// How long receivers may make no progress before they are taken to be finished.
const IDLE: Duration = Duration::from_secs(5);
/// Under which name requests are shown that had no reply when the applications were told to end.
const UNANSWERED: &str = "unanswered at the end";
/// The longest run of a workload that has an end.
const LONGEST: Duration = Duration::from_secs(1_200);

/// Measures one window.
pub(super) fn measure(
    bench: &mut Bench,
    subject: &Subject,
    effort: &Effort,
) -> Result<Round, LabError> {
    let interrupt = bench.interrupt.clone();
    match subject {
        Subject::Bare(load) => bare(bench, load, effort),
        Subject::ForcedWrites(bytes) => {
            let seen = forced_writes(bench.root(), *bytes, effort.window, &interrupt)?;
            Ok(round_of(&seen))
        }
        Subject::Drive(drive) => drive_window(bench, drive, effort),
        Subject::Puts(puts) => bursts::measure(bench, puts, effort),
        Subject::Restart(restart) => restart::measure(bench, restart),
    }
}

fn round_of(seen: &Seen) -> Round {
    Round {
        seconds: seen.seconds,
        operations: seen.operations,
        latency: Latency::of(&seen.latency),
        ..Round::default()
    }
}

/// Lets time pass; an interruption is an error.
fn pass(interrupt: &Interrupt, time: Duration) -> Result<(), LabError> {
    match interrupt.pass(time) {
        true => Err(LabError::Interrupted),
        false => Ok(()),
    }
}

fn bare(bench: &mut Bench, load: &Load, effort: &Effort) -> Result<Round, LabError> {
    let (address, pid) = bench.bare(load.bare, load.message_bytes)?;
    let gone = |error: std::io::Error| LabError::Workload {
        what: "the bare server".to_owned(),
        why: error.to_string(),
    };
    let clock = CpuClock::of(pid);
    let mut driver = Driver::start(address, load)?;
    pass(&bench.interrupt, effort.warm_up)?;
    let (before, own) = (clock.read().map_err(gone)?, OwnCpu::read());
    driver.begin_window();
    pass(&bench.interrupt, effort.window)?;
    let seen = driver.end_window();
    let own = OwnCpu::read().saturating_sub(own);
    let used = clock.read().map_err(gone)?.since(&before);
    if let Some(failure) = driver.failure() {
        return Err(failure);
    }
    Ok(Round {
        server_cpu_ns: Some(used.total_ns),
        server_system_ns: Some(used.system_ns),
        client_cpu_ns: Some(own),
        resident_bytes: resident_bytes(pid).ok(),
        ..round_of(&seen)
    })
}

/// What is read of the server before and after a window.
struct Account {
    clock: Option<(u32, CpuClock)>,
    counters: BTreeMap<String, u64>,
}

impl Account {
    /// The server's process and counters; a queue manager inside has no process of its own.
    fn open(bench: &mut Bench, place: &Place) -> Result<Account, LabError> {
        let (home, clock) = match place {
            Place::Server(shape) => {
                let server = bench.server(shape)?;
                let clock = (server.pid(), server.clock());
                (server.home().clone(), Some(clock))
            }
            Place::Inside(shape) => (bench.inside(shape)?.home.clone(), None),
        };
        Ok(Account {
            clock,
            counters: super::counters::read(&home)?,
        })
    }
}

fn gone(error: &std::io::Error) -> LabError {
    LabError::Server {
        what: format!("it ended while it was measured ({error})"),
        said: String::new(),
    }
}

fn start(bench: &mut Bench, place: &Place, group: &Group) -> Result<Vec<Running>, LabError> {
    let target = bench.target(place, group.via)?;
    start_together(&group.workloads, &target).map_err(|error| LabError::Workload {
        what: "the workload cannot be started".to_owned(),
        why: error.to_string(),
    })
}

fn drive_window(bench: &mut Bench, drive: &Drive, effort: &Effort) -> Result<Round, LabError> {
    let result = try_drive(bench, drive, effort);
    match (result, bench.ended()) {
        // That a call failed is no wonder then.
        (_, Some(ended)) => Err(ended),
        (result, None) => result,
    }
}

fn try_drive(bench: &mut Bench, drive: &Drive, effort: &Effort) -> Result<Round, LabError> {
    let mut groups: Vec<Vec<Running>> = Vec::new();
    let mut account = None;
    for (index, group) in drive.groups.iter().enumerate() {
        if index + 1 == drive.groups.len() && drive.bounded {
            // All of the run is the window.
            account = Some((Account::open(bench, &drive.place)?, OwnCpu::read()));
        }
        groups.push(start(bench, &drive.place, group)?);
    }
    let measured = groups.last().and_then(|group| group.first());
    let Some(measured) = measured else {
        return Err(LabError::BadInput("nothing is measured".to_owned()));
    };
    let (before, own) = match account {
        Some(account) => account,
        None => {
            pass(&bench.interrupt, effort.warm_up)?;
            let account = Account::open(bench, &drive.place)?;
            measured.begin_window();
            (account, OwnCpu::read())
        }
    };
    let cpu = before
        .clock
        .as_ref()
        .map(|(_, clock)| clock.read())
        .transpose();
    let cpu = cpu.map_err(|error| gone(&error))?;
    match drive.bounded {
        true => until_ended(&bench.interrupt.clone(), measured, || bench.ended())?,
        false => pass(&bench.interrupt, effort.window)?,
    }
    let window = measured.end_window();
    let own = OwnCpu::read().saturating_sub(own);
    let mut round = Round {
        seconds: window.seconds,
        operations: window.iterations,
        latency: Latency::of(&window.latency),
        ..Round::default()
    };
    match (&before.clock, cpu) {
        (Some((pid, clock)), Some(cpu)) => {
            let used = clock.read().map_err(|error| gone(&error))?.since(&cpu);
            round.server_cpu_ns = Some(used.total_ns);
            round.server_system_ns = Some(used.system_ns);
            round.client_cpu_ns = Some(own);
            round.resident_bytes = resident_bytes(*pid).ok();
        }
        _ => {
            round.server_cpu_ns = Some(own);
            round.resident_bytes = resident_bytes(std::process::id()).ok();
        }
    }
    let after = Account::open(bench, &drive.place)?;
    round.counters = super::counters::grown(&before.counters, &after.counters);
    still_well(drive, &groups)?;
    let unanswered = stop(bench, drive, groups)?;
    if unanswered > 0 {
        round
            .values
            .insert(UNANSWERED.to_owned(), unanswered as f64);
    }
    Ok(round)
}

/// Waits until a workload that has an end has ended; `ended` tells when its queue manager has.
pub(super) fn until_ended(
    interrupt: &Interrupt,
    measured: &Running,
    mut ended: impl FnMut() -> Option<LabError>,
) -> Result<(), LabError> {
    let deadline = Instant::now() + LONGEST;
    while !measured.wait(Duration::from_millis(100)) {
        if interrupt.raised() {
            return Err(LabError::Interrupted);
        }
        if let Some(ended) = ended() {
            return Err(ended);
        }
        if Instant::now() >= deadline {
            return Err(LabError::Workload {
                what: "the workload".to_owned(),
                why: format!("it has not ended after {} s", LONGEST.as_secs()),
            });
        }
    }
    Ok(())
}

fn workload_failed(workload: &Workload, failure: &PerfError) -> LabError {
    LabError::Workload {
        what: workload.module.name().to_owned(),
        why: failure.to_string(),
    }
}

/// Whether no application has failed so far.
fn still_well(drive: &Drive, groups: &[Vec<Running>]) -> Result<(), LabError> {
    for (group, running) in drive.groups.iter().zip(groups) {
        for (workload, running) in group.workloads.iter().zip(running) {
            if let Some(failure) = running.failure() {
                return Err(workload_failed(workload, &failure));
            }
        }
    }
    Ok(())
}

/// Stops what was started last first; receivers may empty their queues before. Gives the number of requests
/// whose replies had not come when their requesters were told to end: where a round trip takes long, an
/// application that ends does not wait for the last one.
fn stop(bench: &Bench, drive: &Drive, groups: Vec<Vec<Running>>) -> Result<u64, LabError> {
    let mut sent = 0;
    let mut unanswered = 0;
    let pairs = drive.groups.iter().zip(groups).rev();
    for (group, running) in pairs {
        for (workload, running) in group.workloads.iter().zip(running) {
            if workload.module == Module::Receiver && sent > 0 {
                drain(&bench.interrupt, &running, sent);
            }
            let outcome = running.stop();
            if workload.module == Module::Sender {
                sent += outcome.iterations;
            }
            for failure in &outcome.failures {
                match failure {
                    PerfError::NoReply { .. } => unanswered += 1,
                    other => return Err(workload_failed(workload, other)),
                }
            }
        }
    }
    Ok(unanswered)
}

/// Waits until receivers have got what was sent, or make no progress.
fn drain(interrupt: &Interrupt, receivers: &Running, sent: u64) {
    let mut last = (receivers.iterations(), Instant::now());
    while receivers.iterations() < sent && last.1.elapsed() < IDLE {
        if interrupt.pass(Duration::from_millis(5)) {
            return;
        }
        let now = receivers.iterations();
        if now > last.0 {
            last = (now, Instant::now());
        }
    }
}
