//! Request and reply: ten request queues, ten reply queues that all requesters share by correlation identifier.
//!
//! A round trip is two puts and two gets. Persistent messages are put and got in syncpoint, each call with its own
//! commit for a requester, one commit for a responder's get and put, as in the published tests.

use super::effort::Effort;
use super::plan::{HUGE, LARGE, MEDIUM, Plan, SMALL, Via};
use super::round_trips::RoundTrips;
use crate::measure::Shape;
use crate::results::Published;
use crate::workload::Carriers;

/// Published CPU (µs of a core) and peak rate of RR-CC: size, persistent, µs, round trips/s, requesters.
const PUBLISHED: [(usize, bool, f64, f64, u32); 8] = [
    (SMALL, false, 84.4, 370_602.0, 270),
    (MEDIUM, false, 113.2, 261_852.0, 200),
    (LARGE, false, 374.7, 27_699.0, 50),
    (HUGE, false, 3_994.0, 2_613.0, 40),
    (SMALL, true, 235.5, 119_846.0, 210),
    (MEDIUM, true, 288.1, 91_968.0, 225),
    (LARGE, true, 675.1, 14_993.0, 100),
    (HUGE, true, 5_060.0, 1_641.0, 45),
];

/// The published CPU of a round trip of this size; it is of the peak, so it stands beside one case of a series.
pub(super) fn published(message_bytes: usize, persistent: bool) -> Vec<Published> {
    let row = PUBLISHED
        .iter()
        .find(|row| (row.0, row.1) == (message_bytes, persistent));
    let figures = row.map(|(size, persistent, us, rate, requesters)| {
        let kind = if *persistent { "persistent" } else { "non-persistent" };
        let source = format!(
            "IBM MQ 9.4, RR-CC {} {kind}, {} round trips/s with {requesters} requesters on 32 cores",
            crate::quantity::shown_size(*size as f64),
            crate::quantity::count(*rate)
        );
        Published::server_us(*us, &source)
    });
    figures.into_iter().collect()
}

/// A published peak rate of a machine with 64 hardware threads: size, persistent, round trips/s.
type Peak = (usize, bool, f64);

/// RR-BB: both on the server, over shared-memory bindings.
const INSIDE: [Peak; 6] = [
    (SMALL, false, 1_034_401.0),
    (MEDIUM, false, 244_023.0),
    (LARGE, false, 133_707.0),
    (SMALL, true, 171_103.0),
    (MEDIUM, true, 109_803.0),
    (LARGE, true, 15_030.0),
];

/// RR-CB: requesters as clients, responders on the server.
const MIXED: [Peak; 3] = [
    (SMALL, false, 506_887.0),
    (MEDIUM, false, 332_597.0),
    (LARGE, false, 52_659.0),
];

fn published_rate(rows: &[Peak], test: &str, size: usize, persistent: bool) -> Option<Published> {
    let row = rows.iter().find(|row| (row.0, row.1) == (size, persistent));
    row.map(|(size, persistent, rate)| {
        let kind = if *persistent {
            "persistent"
        } else {
            "non-persistent"
        };
        let size = crate::quantity::shown_size(*size as f64);
        let source = format!("IBM MQ 9.3, {test} {size} {kind}, 64 threads");
        Published::rate_of_a_machine(*rate, &source)
    })
}

/// What is published for RR-BB; CPU for one case only.
fn published_inside(size: usize, persistent: bool) -> Vec<Published> {
    let cpu = (size, persistent) == (SMALL, false);
    let source =
        "IBM MQ 9.3, RR-BB 2 KiB non-persistent, shared-memory bindings, applications included";
    let cpu = cpu.then(|| Published::server_us(30.2, source));
    let rate = published_rate(&INSIDE, "RR-BB", size, persistent);
    cpu.into_iter().chain(rate).collect()
}

/// Numbers of requesters for a size.
fn sweep(effort: &Effort, message_bytes: usize) -> Vec<u32> {
    match message_bytes {
        SMALL => effort.pick(&[1, 60, 200], &[1, 2, 4, 10, 30, 60, 120, 200]),
        MEDIUM => effort.pick(&[60], &[1, 10, 60, 200]),
        LARGE => effort.pick(&[20], &[1, 10, 20, 60]),
        _ => effort.pick(&[], &[1, 10, 40]),
    }
}

/// Where the published figure stands: the usual place for comparisons.
fn compared_at(message_bytes: usize) -> u32 {
    match message_bytes {
        SMALL | MEDIUM => 60,
        LARGE => 20,
        _ => 10,
    }
}

/// `rr-cc`.
pub(super) fn clients(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Requesters and responders as clients over TCP",
        "round trip",
        "requesters",
    );
    for size in [SMALL, MEDIUM, LARGE, HUGE] {
        for requesters in sweep(effort, size) {
            for persistent in [false, true] {
                let trips = RoundTrips::new(requesters, size, persistent);
                let mut planned = trips.planned(trips.as_clients(Shape::default()));
                if requesters == compared_at(size) {
                    planned = planned.published(published(size, persistent));
                }
                plan.add_beside(trips.floor(), planned);
            }
        }
    }
    // The second table: applications as ordinary programs are.
    for requesters in effort.pick(&[60], &[1, 10, 60, 200]) {
        for persistent in [false, true] {
            let trips = RoundTrips {
                carriers: Carriers::Threads,
                ..RoundTrips::new(requesters, SMALL, persistent)
            };
            let planned = trips.planned(trips.as_clients(Shape::default()));
            let series = format!("{}, a thread each", planned.case.series);
            plan.add(planned.series(&series));
        }
    }
    plan.notes.extend([
        "One driver thread carries all connections, except in the series “a thread each”, where every application is a blocking thread, as ordinary programs have it. The driver shares the processors with the server.".to_owned(),
        "Persistent round trips are in syncpoint.".to_owned(),
    ]);
    plan
}

/// `rr-bb`.
pub(super) fn inside(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Requesters and responders inside the queue manager's process",
        "round trip",
        "requesters",
    );
    for size in effort.pick(&[SMALL], &[SMALL, MEDIUM, LARGE, HUGE]) {
        for requesters in effort.pick(&[1, 10, 60], &[1, 2, 10, 30, 60, 120]) {
            for persistent in [false, true] {
                if effort.quick && persistent && requesters == 10 {
                    continue;
                }
                let trips = RoundTrips::new(requesters, size, persistent);
                let mut planned = trips.planned(trips.inside(Shape::default(), Via::Inside));
                if requesters == 60 {
                    planned = planned.published(published_inside(size, persistent));
                }
                plan.add(planned);
            }
        }
    }
    plan.notes.push("CPU includes the applications: they run in the queue manager's process, a thread each. IBM's “bindings” are processes of their own over shared memory, which this release does not have.".to_owned());
    plan
}

/// `rr-cb`.
pub(super) fn mixed(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Requesters as clients, responders inside the queue manager's process",
        "round trip",
        "requesters",
    );
    for size in effort.pick(&[SMALL], &[SMALL, MEDIUM, LARGE, HUGE]) {
        for requesters in effort.pick(&[1, 60], &[1, 10, 60, 200]) {
            for persistent in [false, true] {
                let trips = RoundTrips::new(requesters, size, persistent);
                let mut planned = trips.planned(trips.inside(Shape::default(), Via::Tcp));
                if requesters == 60 {
                    let figure = published_rate(&MIXED, "RR-CB", size, persistent);
                    planned = planned.published(figure.into_iter().collect());
                }
                plan.add(planned);
            }
        }
    }
    plan.notes.push(
        "CPU includes responders and the requesters' driver: all run in one process.".to_owned(),
    );
    plan
}

/// `syncpoint`: Figures 3 and 4 of the paper on persistent messaging.
pub(super) fn syncpoint(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Persistent messages in and out of syncpoint, by number of queue pairs",
        "round trip",
        "queue pairs",
    );
    let shape = Shape {
        queue_pairs: 60,
        ..Shape::default()
    };
    for pairs in effort.pick(&[1, 10, 60], &[1, 2, 5, 10, 30, 60]) {
        for in_syncpoint in [true, false] {
            let trips = RoundTrips {
                syncpoint: in_syncpoint,
                pairs,
                ..RoundTrips::new(60, SMALL, true)
            };
            let mut planned = trips.planned(trips.as_clients(shape.clone()));
            planned.case.at = Some(f64::from(pairs));
            let series = match in_syncpoint {
                true => "in syncpoint, pairs",
                false => "out of syncpoint, pairs",
            };
            let mut planned = planned.series(series);
            if pairs == 10 {
                let (rate, how) = match in_syncpoint {
                    true => (40_000.0, "in"),
                    false => (14_000.0, "out of"),
                };
                let source = format!("IBM MQ 9.0.4, bindings, 24 cores, {how} syncpoint, 10 pairs");
                planned = planned.published(vec![Published::rate_of_cores(rate, &source)]);
            }
            plan.add_beside(trips.floor(), planned);
        }
    }
    plan.notes.push("60 requesters. Published: with 10 pairs a queue was locked while 98.98 % of the puts outside syncpoint waited for the log, against 24.56 % inside. Here no queue is locked while a put waits.".to_owned());
    plan
}
