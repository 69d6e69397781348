//! One window of one case.
//!
//! Invariants: what is measured has run for a while before its window; nothing that was started for a window
//! outlives it; a window in which the queue manager ended or an application failed is an error, not a figure.

use std::time::{Duration, Instant};

use super::bench::{Bench, until_ended};
use super::bursts;
use super::effort::Effort;
use super::jms;
use super::meter::Meter;
use super::plan::{Drive, Place, Via, Work};
use super::restart;
use crate::drive::{Running, start_together};
use crate::floor::forced_writes;
use crate::measure::{Interrupt, LabError, pass};
use crate::results::{Latency, Round};
use crate::workload::{Module, Workload};

/// How long receivers may make no progress before they are taken to be finished.
const IDLE: Duration = Duration::from_secs(5);
/// Under which name requests are shown that had no reply when the applications were told to end.
const UNANSWERED: &str = "unanswered at the end";

/// Measures one window.
pub(super) fn measure(bench: &mut Bench, work: &Work, effort: &Effort) -> Result<Round, LabError> {
    let measured = match work {
        Work::ForcedWrites(bytes) => {
            let interrupt = bench.interrupt.clone();
            forced_writes(bench.root(), *bytes, effort.window, &interrupt)
        }
        Work::Restart(restart) => return restart::measure(bench, restart),
        work => match (work.drive(), work) {
            (Some(drive), _) => drive_window(bench, &drive, effort),
            (None, Work::Put(put)) => bursts::measure(bench, put, effort),
            (None, Work::Trips(trips)) => jms::measure(bench, trips, effort),
            _ => Err(LabError::BadInput("nothing is measured".to_owned())),
        },
    };
    // That a call failed is no wonder then.
    bench.ended().map_or(measured, Err)
}

fn start(
    bench: &mut Bench,
    place: &Place,
    (via, workloads): &(Via, Vec<Workload>),
) -> Result<Vec<Running>, LabError> {
    let target = bench.target(place, *via)?;
    start_together(workloads, &target)
        .map_err(|error| LabError::workload("the workload cannot be started", error))
}

fn drive_window(bench: &mut Bench, drive: &Drive, effort: &Effort) -> Result<Round, LabError> {
    let mut groups: Vec<Vec<Running>> = Vec::new();
    let meter = Meter::of_place(bench, &drive.place)?;
    let mut before = None;
    for (index, group) in drive.groups.iter().enumerate() {
        if index + 1 == drive.groups.len() && drive.bounded {
            // All of the run is the window.
            before = Some(meter.read()?);
        }
        groups.push(start(bench, &drive.place, group)?);
    }
    let measured = groups.last().and_then(|group| group.first());
    let Some(measured) = measured else {
        return Err(LabError::BadInput("nothing is measured".to_owned()));
    };
    let before = match before {
        Some(before) => before,
        None => {
            pass(&bench.interrupt, effort.warm_up)?;
            let before = meter.read()?;
            measured.begin_window();
            before
        }
    };
    match drive.bounded {
        true => until_ended(&bench.interrupt.clone(), measured, || bench.ended())?,
        false => pass(&bench.interrupt, effort.window)?,
    }
    let window = measured.end_window();
    let mut round = Round {
        seconds: window.seconds,
        operations: window.iterations,
        latency: Latency::of(&window.latency),
        ..meter.since(&before)?
    };
    still_well(drive, &groups)?;
    let unanswered = stop(bench, drive, groups)?;
    if unanswered > 0 {
        round
            .values
            .insert(UNANSWERED.to_owned(), unanswered as f64);
    }
    Ok(round)
}

fn workload_failed(workload: &Workload, failure: &LabError) -> LabError {
    LabError::workload(workload.module.name(), failure)
}

/// Whether no application has failed so far.
fn still_well(drive: &Drive, groups: &[Vec<Running>]) -> Result<(), LabError> {
    for ((_, workloads), running) in drive.groups.iter().zip(groups) {
        for (workload, running) in workloads.iter().zip(running) {
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
    for ((_, workloads), running) in pairs {
        for (workload, running) in workloads.iter().zip(running) {
            if workload.module == Module::Receiver && sent > 0 {
                drain(&bench.interrupt, &running, sent);
            }
            let outcome = running.stop();
            if workload.module == Module::Sender {
                sent += outcome.iterations;
            }
            for failure in &outcome.failures {
                match failure {
                    LabError::NoReply { .. } => unanswered += 1,
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
