//! One thread that puts, and nothing else: bursts to an empty queue that is drained after each.
//!
//! Getters that keep the queue empty would take from the putting thread what it needs where there are two processors,
//! and a queue that grows would measure memory. Invariant: time, processor time and counters are taken around the puts
//! of a burst only; an asynchronous burst ends when MQSTAT has said that all its puts succeeded.

use std::time::Instant;

use hdrhistogram::Histogram;
use posthaste_client::Connection;
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_NOT_PERSISTENT,
    MQPMO_ASYNC_RESPONSE, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo};

use super::bench::Bench;
use super::effort::Effort;
use super::meter::Meter;
use super::plan::{Puts, Via};
use crate::measure::{LabError, histogram};
use crate::results::{Latency, Round};
use crate::workload::Target;

/// Puts of a burst that are waited for: so few that they stay in the processor's caches.
const BURST: u32 = 1_000;
/// Asynchronous puts of a burst: so many that the question at its end costs nothing.
const ASYNCHRONOUS: u32 = 10_000;
/// How long a get waits that cannot find its queue empty, in milliseconds.
const TIMEOUT_MS: i32 = 30_000;

/// A connection with the queue open.
struct Application {
    connection: Box<dyn Mqi>,
    queue: Hobj,
}

impl Application {
    fn open(bench: &mut Bench, puts: &Puts) -> Result<Application, LabError> {
        let mut connection: Box<dyn Mqi> = match bench.target(&puts.place, puts.via)? {
            Target::Client(connect) => {
                Box::new(Connection::open(&connect).map_err(|e| LabError::workload("MQCONN", e))?)
            }
            Target::InProcess(manager) => {
                let connected = manager.connect("posthaste perf");
                Box::new(connected.map_err(|e| LabError::workload("MQCONN", e))?)
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
            .map_err(|error| LabError::workload("MQOPEN", error))?
            .value;
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
        put.map(drop)
            .map_err(|error| LabError::workload("MQPUT", error))
    }

    /// A burst of asynchronous puts, all of which succeeded.
    fn put_asynchronously(&mut self, count: u32, data: &[u8]) -> Result<(), LabError> {
        for _ in 0..count {
            self.put(MQPMO_ASYNC_RESPONSE, data)?;
        }
        let status = self.connection.stat();
        let status = status
            .map_err(|error| LabError::workload("MQSTAT", error))?
            .value;
        match u32::try_from(status.put_success_count) == Ok(count) {
            true => Ok(()),
            false => Err(LabError::Workload {
                what: "asynchronous puts".to_owned(),
                why: format!(
                    "{} of {count} succeeded, {} had a warning, {} failed",
                    status.put_success_count, status.put_warning_count, status.put_failure_count
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
                wait_interval: TIMEOUT_MS,
                ..Gmo::default()
            };
            let got = self
                .connection
                .get(self.queue, &mut Md::default(), &mut gmo, bytes);
            got.map_err(|error| LabError::workload("MQGET", error))?;
        }
        Ok(())
    }
}

/// Adds a burst to those before it.
fn add(all: &mut Round, burst: Round) {
    let more = |sum: Option<u64>, used: Option<u64>| Some(sum.unwrap_or(0) + used?);
    all.seconds += burst.seconds;
    all.operations += burst.operations;
    all.server_cpu_ns = more(all.server_cpu_ns, burst.server_cpu_ns);
    all.client_cpu_ns = more(all.client_cpu_ns, burst.client_cpu_ns);
    all.resident_bytes = burst.resident_bytes;
    for (name, grown) in burst.counters {
        *all.counters.entry(name).or_default() += grown;
    }
}

/// Measures one window of bursts.
pub(super) fn measure(bench: &mut Bench, puts: &Puts, effort: &Effort) -> Result<Round, LabError> {
    let meter = Meter::of_place(bench, &puts.place)?;
    let mut application = Application::open(bench, puts)?;
    let data = vec![b'x'; puts.message_bytes];
    let count = match (puts.asynchronous, puts.via) {
        (true, _) => ASYNCHRONOUS,
        // A burst over a distance must end within a window.
        (false, Via::Delayed(_)) => BURST / 10,
        (false, _) => BURST,
    };
    let mut all = Round::default();
    let mut latency = histogram();
    let began = Instant::now();
    // The first burst warms up: it is not counted.
    let mut warm = false;
    while all.seconds < effort.window.as_secs_f64() && began.elapsed() < effort.window * 20 {
        if bench.interrupt.raised() {
            return Err(LabError::Interrupted);
        }
        let (before, start) = (meter.read()?, Instant::now());
        match puts.asynchronous {
            true => application.put_asynchronously(count, &data)?,
            false => application.put_and_wait(count, &data, &mut latency)?,
        }
        let took = start.elapsed();
        let burst = Round {
            seconds: took.as_secs_f64(),
            operations: count.into(),
            ..meter.since(&before)?
        };
        application.drain(count, puts.message_bytes)?;
        match warm {
            true => add(&mut all, burst),
            false => latency.reset(),
        }
        warm = true;
    }
    all.latency = Latency::of(&latency);
    application
        .connection
        .disconnect()
        .map_err(|error| LabError::workload("MQDISC", error))?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn bursts_are_added_up() {
        let burst = |server, client, puts| Round {
            seconds: 0.5,
            operations: 100,
            server_cpu_ns: Some(server),
            client_cpu_ns: client,
            counters: BTreeMap::from([("engine.puts".to_owned(), puts)]),
            ..Round::default()
        };
        let mut outside = Round::default();
        add(&mut outside, burst(30_000, Some(7_000), 100));
        add(&mut outside, burst(10_000, Some(3_000), 101));
        assert_eq!((outside.operations, outside.seconds), (200, 1.0));
        assert_eq!(
            (outside.server_cpu_ns, outside.client_cpu_ns),
            (Some(40_000), Some(10_000))
        );
        assert_eq!(outside.counters["engine.puts"], 201);
        let mut inside = Round::default();
        add(&mut inside, burst(5_000, None, 10));
        assert_eq!(
            (inside.server_cpu_ns, inside.client_cpu_ns),
            (Some(5_000), None)
        );
    }
}
