//! One thread that puts, and nothing else: bursts to an empty queue that is drained after each.
//!
//! Getters that keep the queue empty would take from the putting thread what it needs where there are two processors,
//! and a queue that grows would measure memory. Invariant: time, processor time and counters are taken around the puts
//! of a burst only; an asynchronous burst ends when MQSTAT has said that all its puts succeeded.

use std::time::Instant;

use posthaste_mqi::constants::{
    MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_NOT_PERSISTENT, MQPMO_ASYNC_RESPONSE, MQPMO_NO_SYNCPOINT,
};

use super::bench::Bench;
use super::client::Client;
use super::effort::Effort;
use super::meter::Meter;
use super::plan::{Put, QUEUE, SMALL, Via};
use crate::measure::{LabError, histogram, uninterrupted};
use crate::results::{Latency, Round};

/// Puts of a burst that are waited for: so few that they stay in the processor's caches.
const BURST: u32 = 1_000;
/// Asynchronous puts of a burst: so many that the question at its end costs nothing.
const ASYNCHRONOUS: u32 = 10_000;

/// Measures one window of bursts.
pub(super) fn measure(bench: &mut Bench, put: &Put, effort: &Effort) -> Result<Round, LabError> {
    let place = put.place();
    let meter = Meter::of_place(bench, &place)?;
    let target = bench.target(&place, put.via)?;
    let mut client = Client::open(&target, QUEUE, MQOO_OUTPUT | MQOO_INPUT_SHARED)?;
    let data = vec![b'x'; SMALL];
    let (count, response) = match (put.asynchronous, put.via) {
        (true, _) => (ASYNCHRONOUS, MQPMO_ASYNC_RESPONSE),
        // A burst over a distance must end within a window.
        (false, Via::Delayed(_)) => (BURST / 10, 0),
        (false, _) => (BURST, 0),
    };
    let mut all: Option<Round> = None;
    let mut latency = histogram();
    let began = Instant::now();
    let over = |all: &Option<Round>| {
        let measured = all.as_ref().map_or(0.0, |all| all.seconds);
        measured >= effort.window.as_secs_f64() || began.elapsed() >= effort.window * 20
    };
    while !over(&all) {
        uninterrupted(&bench.interrupt)?;
        let (before, start) = (meter.read()?, Instant::now());
        let mut last = start;
        for _ in 0..count {
            client.put(MQPER_NOT_PERSISTENT, MQPMO_NO_SYNCPOINT | response, &data)?;
            if !put.asynchronous {
                let now = Instant::now();
                let took = u64::try_from((now - last).as_nanos()).unwrap_or(u64::MAX);
                latency.saturating_record(took);
                last = now;
            }
        }
        if put.asynchronous {
            client.all_succeeded(count)?;
        }
        let burst = Round {
            seconds: start.elapsed().as_secs_f64(),
            operations: count.into(),
            ..meter.since(&before)?
        };
        client.drain(count, SMALL)?;
        match &mut all {
            Some(all) => add(all, burst),
            // The first burst warms up: it is not counted.
            None => {
                latency.reset();
                all = Some(Round::default());
            }
        }
    }
    client.disconnect()?;
    let latency = Latency::of(&latency);
    Ok(Round {
        latency,
        ..all.unwrap_or_default()
    })
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
        let mut all = Round::default();
        add(&mut all, burst(30_000, Some(7_000), 100));
        add(&mut all, burst(10_000, Some(3_000), 101));
        assert_eq!((all.operations, all.seconds), (200, 1.0));
        let cpu = (all.server_cpu_ns, all.client_cpu_ns);
        assert_eq!(cpu, (Some(40_000), Some(10_000)));
        assert_eq!(all.counters["engine.puts"], 201);
        // Inside, the applications' time is in the server's.
        let mut inside = Round::default();
        add(&mut inside, burst(5_000, None, 10));
        assert_eq!(
            (inside.server_cpu_ns, inside.client_cpu_ns),
            (Some(5_000), None)
        );
    }
}
