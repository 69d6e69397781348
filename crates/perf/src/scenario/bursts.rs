//! One thread that puts, and nothing else: bursts to an empty queue that is drained after each.
//!
//! Getters that keep the queue empty would take from the putting thread what it needs where there are two processors,
//! and a queue that grows would measure memory. Invariant: time, processor time and counters are taken around the puts
//! of a burst only; an asynchronous burst ends when MQSTAT has said that all its puts succeeded.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use posthaste_client::{ClientError, Connection, Mqi};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_NOT_PERSISTENT,
    MQPMO_ASYNC_RESPONSE, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo};

use super::bench::Bench;
use super::counters;
use super::effort::Effort;
use super::plan::{Place, Puts, Via};
use crate::floor::histogram;
use crate::measure::{CpuClock, LabError, OwnCpu, resident_bytes};
use crate::results::{Latency, Round};
use crate::workload::Target;

/// Puts of a burst that are waited for: so few that they stay in the processor's caches.
const BURST: u32 = 1_000;
/// Asynchronous puts of a burst: so many that the question at its end costs nothing.
const ASYNCHRONOUS: u32 = 10_000;
/// How long a get waits that cannot find its queue empty, in milliseconds.
const PATIENCE_MS: i32 = 30_000;

/// Measures one window of bursts.
pub(super) fn measure(bench: &mut Bench, puts: &Puts, effort: &Effort) -> Result<Round, LabError> {
    let result = try_measure(bench, puts, effort);
    match (result, bench.ended()) {
        (_, Some(ended)) => Err(ended),
        (result, None) => result,
    }
}

fn failed(call: &str, error: &ClientError) -> LabError {
    LabError::Workload {
        what: call.to_owned(),
        why: error.to_string(),
    }
}

/// A connection with the queue open.
struct Application {
    connection: Box<dyn Mqi>,
    queue: Hobj,
}

impl Application {
    fn open(bench: &mut Bench, puts: &Puts) -> Result<Application, LabError> {
        let mut connection: Box<dyn Mqi> = match bench.target(&puts.place, puts.via)? {
            Target::Client(connect) => {
                Box::new(Connection::open(&connect).map_err(|e| failed("MQCONN", &e))?)
            }
            Target::InProcess(manager) => {
                let connected = manager.connect("posthaste perf");
                Box::new(connected.map_err(|e| failed("MQCONN", &e))?)
            }
            Target::Local { .. } => {
                return Err(LabError::BadInput("no way to connect".to_owned()));
            }
        };
        let mut od = Od {
            object_name: Name::new(&puts.queue),
            ..Od::default()
        };
        let queue = connection
            .open_object(&mut od, MQOO_OUTPUT | MQOO_INPUT_SHARED)
            .map_err(|error| failed("MQOPEN", &error))?;
        Ok(Application { connection, queue })
    }

    fn put(&mut self, options: i32, data: &[u8]) -> Result<(), LabError> {
        let mut md = Md {
            persistence: MQPER_NOT_PERSISTENT,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_NO_SYNCPOINT | options,
            ..Pmo::default()
        };
        let put = self.connection.put(self.queue, &mut md, &mut pmo, data);
        put.map_err(|error| failed("MQPUT", &error))
    }

    /// A burst of asynchronous puts, all of which succeeded.
    fn put_asynchronously(&mut self, count: u32, data: &[u8]) -> Result<(), LabError> {
        for _ in 0..count {
            self.put(MQPMO_ASYNC_RESPONSE, data)?;
        }
        let said = self.connection.stat();
        let said = said.map_err(|error| failed("MQSTAT", &error))?;
        match u32::try_from(said.put_success_count) == Ok(count) {
            true => Ok(()),
            false => Err(LabError::Workload {
                what: "asynchronous puts".to_owned(),
                why: format!(
                    "{} of {count} succeeded, {} had a warning, {} failed",
                    said.put_success_count, said.put_warning_count, said.put_failure_count
                ),
            }),
        }
    }

    fn put_and_wait(
        &mut self,
        count: u32,
        data: &[u8],
        latency: &mut Histogram<u64>,
    ) -> Result<(), LabError> {
        let mut began = Instant::now();
        for _ in 0..count {
            self.put(0, data)?;
            let now = Instant::now();
            let took = u64::try_from(now.duration_since(began).as_nanos()).unwrap_or(u64::MAX);
            latency.saturating_record(took);
            began = now;
        }
        Ok(())
    }

    fn drain(&mut self, count: u32, bytes: usize) -> Result<(), LabError> {
        for _ in 0..count {
            let mut gmo = Gmo {
                options: MQGMO_NO_SYNCPOINT | MQGMO_WAIT,
                wait_interval: PATIENCE_MS,
                ..Gmo::default()
            };
            let got = self
                .connection
                .get(self.queue, &mut Md::default(), &mut gmo, bytes);
            got.map_err(|error| failed("MQGET", &error))?;
        }
        Ok(())
    }
}

/// The bursts so far.
#[derive(Default)]
struct Sum {
    round: Round,
}

impl Sum {
    fn seconds(&self) -> f64 {
        self.round.seconds
    }

    /// Adds a burst: puts, time, processor time of this process and of the server's, growth of counters.
    fn add(
        &mut self,
        count: u32,
        took: Duration,
        (own, server): (u64, Option<u64>),
        grown: BTreeMap<String, u64>,
    ) {
        let round = &mut self.round;
        round.seconds += took.as_secs_f64();
        round.operations += u64::from(count);
        // Inside, this process is the server's.
        let more = |sum: Option<u64>, used: u64| Some(sum.unwrap_or(0) + used);
        round.server_cpu_ns = more(round.server_cpu_ns, server.unwrap_or(own));
        if server.is_some() {
            round.client_cpu_ns = more(round.client_cpu_ns, own);
        }
        for (name, grown) in grown {
            *round.counters.entry(name).or_default() += grown;
        }
    }
}

fn gone(error: &std::io::Error) -> LabError {
    LabError::Server {
        what: format!("it ended while it was measured ({error})"),
        said: String::new(),
    }
}

fn try_measure(bench: &mut Bench, puts: &Puts, effort: &Effort) -> Result<Round, LabError> {
    let (home, pid) = match &puts.place {
        Place::Server(shape) => {
            let server = bench.server(shape)?;
            (server.home().clone(), Some(server.pid()))
        }
        Place::Inside(shape) => (bench.inside(shape)?.home.clone(), None),
    };
    let clock = pid.map(CpuClock::of);
    let mut application = Application::open(bench, puts)?;
    let data = vec![b'x'; puts.message_bytes];
    let count = match (puts.asynchronous, puts.via) {
        (true, _) => ASYNCHRONOUS,
        // A burst over a distance must end within a window.
        (false, Via::Delayed(_)) => BURST / 10,
        (false, _) => BURST,
    };
    let mut all = Sum::default();
    let mut latency = histogram();
    let began = Instant::now();
    // The first burst warms up: it is not counted.
    let mut warm = false;
    while all.seconds() < effort.window.as_secs_f64() && began.elapsed() < effort.window * 20 {
        if bench.interrupt.raised() {
            return Err(LabError::Interrupted);
        }
        let counters = counters::read(&home)?;
        let cpu = clock.as_ref().map(CpuClock::read).transpose();
        let cpu = cpu.map_err(|error| gone(&error))?;
        let (own, start) = (OwnCpu::read(), Instant::now());
        match puts.asynchronous {
            true => application.put_asynchronously(count, &data)?,
            false => application.put_and_wait(count, &data, &mut latency)?,
        }
        let (took, own) = (start.elapsed(), OwnCpu::read().saturating_sub(own));
        let server = match (&clock, &cpu) {
            (Some(clock), Some(cpu)) => {
                let now = clock.read().map_err(|error| gone(&error))?;
                Some(now.since(cpu).total_ns)
            }
            _ => None,
        };
        let grown = counters::grown(&counters, &counters::read(&home)?);
        application.drain(count, puts.message_bytes)?;
        match warm {
            true => all.add(count, took, (own, server), grown),
            false => latency.reset(),
        }
        warm = true;
    }
    let mut round = all.round;
    round.latency = Latency::of(&latency);
    round.resident_bytes = resident_bytes(pid.unwrap_or(std::process::id())).ok();
    application
        .connection
        .disconnect()
        .map_err(|error| failed("MQDISC", &error))?;
    Ok(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_added_up() {
        let grown = |n| BTreeMap::from([("engine.puts".to_owned(), n)]);
        let mut outside = Sum::default();
        outside.add(
            100,
            Duration::from_millis(500),
            (7_000, Some(30_000)),
            grown(100),
        );
        outside.add(
            100,
            Duration::from_millis(500),
            (3_000, Some(10_000)),
            grown(101),
        );
        let round = &outside.round;
        assert_eq!((round.operations, outside.seconds()), (200, 1.0));
        assert_eq!(
            (round.server_cpu_ns, round.client_cpu_ns),
            (Some(40_000), Some(10_000))
        );
        assert_eq!(round.counters["engine.puts"], 201);
        let mut inside = Sum::default();
        inside.add(10, Duration::from_millis(1), (5_000, None), grown(10));
        assert_eq!(
            (inside.round.server_cpu_ns, inside.round.client_cpu_ns),
            (Some(5_000), None)
        );
    }
}
