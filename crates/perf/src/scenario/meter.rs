//! What a window costs whoever serves: processor time, memory, and how much the server's counters grew.
//!
//! Counters are a plain list of names and numbers that only grow, so that the server may count what it likes: whatever
//! is there is taken, and its growth is shown per operation. Invariant: processor time is read last before the work and
//! first after it, so that reading the rest is in no figure.

use std::collections::BTreeMap;

use posthaste_server::Home;

use super::bench::Bench;
use super::plan::Place;
use crate::measure::{CpuClock, CpuReading, LabError, OwnCpu, resident_bytes};
use crate::results::Round;

/// Whoever serves.
pub(super) struct Meter {
    /// Its process; one inside has none of its own.
    process: Option<(u32, CpuClock)>,
    /// The files of a queue manager, which has counters.
    home: Option<Home>,
}

/// What it had used at a moment.
pub(super) struct Reading {
    counters: BTreeMap<String, u64>,
    server: Option<CpuReading>,
    own: u64,
}

impl Meter {
    /// Of the queue manager at a place.
    pub(super) fn of_place(bench: &mut Bench, place: &Place) -> Result<Meter, LabError> {
        let (process, home) = match place {
            Place::Server(shape) => {
                let server = bench.server(shape)?;
                (Some(server.pid()), Some(server.home().clone()))
            }
            Place::Inside(shape) => (None, Some(bench.inside(shape)?.home.clone())),
            Place::Bare(bare, bytes) => (Some(bench.bare(*bare, *bytes)?.1), None),
        };
        let process = process.map(|pid| (pid, CpuClock::of(pid)));
        Ok(Meter { process, home })
    }

    pub(super) fn read(&self) -> Result<Reading, LabError> {
        Ok(Reading {
            counters: self.counters()?,
            server: self.server()?,
            own: OwnCpu::read(),
        })
    }

    /// What was used since, as a round without its operations.
    pub(super) fn since(&self, before: &Reading) -> Result<Round, LabError> {
        let own = OwnCpu::read().saturating_sub(before.own);
        let mut round = Round::default();
        match (self.server()?, &before.server) {
            (Some(now), Some(before)) => {
                let used = now.since(before);
                round.server_cpu_ns = Some(used.total_ns);
                round.server_system_ns = Some(used.system_ns);
                round.client_cpu_ns = Some(own);
            }
            _ => round.server_cpu_ns = Some(own),
        }
        let pid = self.process.as_ref().map(|(pid, _)| *pid);
        round.resident_bytes = resident_bytes(pid.unwrap_or(std::process::id())).ok();
        round.counters = grown(&before.counters, &self.counters()?);
        Ok(round)
    }

    fn server(&self) -> Result<Option<CpuReading>, LabError> {
        let reading = self.process.as_ref().map(|(_, clock)| clock.read());
        reading
            .transpose()
            .map_err(|error| LabError::broken(format!("it ended while it was measured ({error})")))
    }

    fn counters(&self) -> Result<BTreeMap<String, u64>, LabError> {
        let Some(home) = &self.home else {
            return Ok(BTreeMap::new());
        };
        let counters = posthaste_server::counters(home)
            .map_err(|failure| LabError::server("its counters cannot be read", &failure))?;
        Ok(counters.into_iter().collect())
    }
}

/// By how much each has grown; one that appeared meanwhile began at 0.
fn grown(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = after.iter().map(|(name, now)| {
        let then = before.get(name).copied().unwrap_or(0);
        (name.clone(), now.saturating_sub(then))
    });
    grown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_taken_of_whatever_is_there() {
        let map = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
        };
        let grown = grown(
            &map(&[("a", 3), ("gone", 1), ("reset", 9)]),
            &map(&[("a", 10), ("new", 4), ("reset", 2)]),
        );
        assert_eq!(grown, map(&[("a", 7), ("new", 4), ("reset", 0)]));
    }
}
