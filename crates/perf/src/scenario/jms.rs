//! Round trips of requesters and responders that use IBM's JMS client.
//!
//! Invariant: client CPU is that of the driver's process, and what this process does meanwhile is in no figure.

use std::io;

use super::bench::Bench;
use super::effort::Effort;
use super::meter::Meter;
use super::plan::{Place, Trips};
use crate::measure::{CpuClock, LabError, pass};
use crate::results::{Latency, Round};

/// Measures one window.
pub(super) fn measure(
    bench: &mut Bench,
    trips: &Trips,
    effort: &Effort,
) -> Result<Round, LabError> {
    let place = Place::Server(trips.shape);
    let meter = Meter::of_place(bench, &place)?;
    let server = bench.server(&trips.shape)?.tcp().clone();
    let interrupt = bench.interrupt.clone();
    let mut running = bench.jms()?.start(&server, &trips.words())?;
    pass(&interrupt, effort.java_warm_up())?;
    let clock = CpuClock::of(running.pid());
    let gone = |error: io::Error| LabError::workload("the JMS driver has ended", error);
    let used_before = clock.read().map_err(gone)?;
    let before = meter.read()?;
    running.begin()?;
    pass(&interrupt, effort.window)?;
    let window = running.end()?;
    let round = meter.since(&before)?;
    let used = clock.read().map_err(gone)?.since(&used_before);
    running.stop()?;
    Ok(Round {
        seconds: window.seconds,
        operations: window.round_trips,
        client_cpu_ns: Some(used.total_ns),
        latency: Latency::of(&window.latency),
        ..round
    })
}
