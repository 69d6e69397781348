//! What a publication costs: for each of those who get it, and beside those who do not.
//!
//! `cargo bench -p posthaste-engine --bench publishing`. The time is that of MQPUT, the least of some
//! rounds; persistent ones wait for the log. The messages are taken away between the rounds, outside the time.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Instant;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Od, Pmo, Sd};
use world::*;

/// Bytes of a publication.
const SIZE: usize = 2048;
const ROUNDS: usize = 15;
/// What stands beside a measured subscription: none of it matches.
const FEW: usize = 9;
const MANY: usize = 99_999;

/// Subscriptions to topics, each with a queue of its own, or all with the one that is given; and their queues.
fn subscribe(
    w: &World,
    topics: impl Iterator<Item = String>,
    own: Option<&str>,
    options: i32,
) -> Vec<(Session, Vec<Hobj>)> {
    let mut sessions: Vec<(Session, Vec<Hobj>)> = Vec::new();
    for (at, object_string) in topics.enumerate() {
        // A connection has 256 handles.
        if at % 100 == 0 {
            sessions.push((w.connect(), Vec::new()));
        }
        let (s, queues) = sessions.last_mut().unwrap();
        let own = own.map_or(Hobj::NONE, |name| open(s, name, IN_OUT));
        let mut sd = Sd {
            options: MQSO_CREATE | options | if own == Hobj::NONE { MQSO_MANAGED } else { 0 },
            sub_name: match options & MQSO_DURABLE {
                0 => String::new(),
                _ => format!("S{at}"),
            },
            object_string,
            ..Sd::default()
        };
        let made = block_on(s.subscribe(&mut sd, own)).unwrap().value;
        queues.push(made.0);
    }
    sessions
}

fn publish(s: &Session, topic: Hobj, persistence: i32) {
    let data = Bytes::from(vec![7; SIZE]);
    let mut pmo = Pmo::default();
    block_on(s.put(topic, &mut md(persistence), &mut pmo, data)).unwrap();
}

/// The least time of `count` publications, in microseconds for each, of some rounds; the messages are taken in between.
fn least(w: &World, subscribers: &[(Session, Vec<Hobj>)], persistence: i32, count: usize) -> f64 {
    let s = w.connect();
    let mut od = Od {
        version: MQOD_VERSION_4,
        object_type: MQOT_TOPIC,
        object_string: "bench/this/one".to_owned(),
        ..Od::default()
    };
    let topic = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        let before = Instant::now();
        (0..count).for_each(|_| publish(&s, topic, persistence));
        least = least.min(before.elapsed().as_secs_f64() * 1e6 / count as f64);
        for (s, queues) in subscribers {
            for h in queues {
                (0..count).for_each(|_| drop(next(s, *h, 0).unwrap()));
            }
        }
    }
    least
}

fn big() -> World {
    World::forced(|c| {
        c.log_config.file_pages = 4096;
        c.log_config.primary_files = 8;
        c.pq_buffer = 64 << 20;
        c.q_buffer = 64 << 20;
    })
}

fn to_many() {
    for (name, options, persistence) in [
        ("non-persistent", 0, NOT_PERSISTENT),
        ("persistent, durable", MQSO_DURABLE, PERSISTENT),
    ] {
        let w = big();
        let one = subscribe(&w, ["bench/+/one".to_owned()].into_iter(), None, options);
        let alone = least(&w, &one, persistence, 100);
        let w = big();
        let topics = (0..1_000).map(|_| "bench/+/one".to_owned());
        let all = subscribe(&w, topics, None, options);
        let each = least(&w, &all, persistence, 10) / 1e3;
        println!("{name:24} {alone:10.2} {each:14.3}");
    }
}

fn among(others: usize) -> f64 {
    let w = big();
    let one = subscribe(&w, ["bench/this/one".to_owned()].into_iter(), None, 0);
    w.run("DEFINE QLOCAL(OTHERS)");
    let topics = (0..others).map(|at| format!("bench/{}/{}", at % 1_000, at));
    let beside = subscribe(&w, topics, Some("OTHERS"), 0);
    let microseconds = least(&w, &one, NOT_PERSISTENT, 1_000);
    drop(beside);
    microseconds
}

fn main() {
    println!(
        "{:24} {:>10} {:>14}",
        "2 KiB, us", "one alone", "each of 1,000"
    );
    to_many();
    let (few, many) = (among(FEW), among(MANY));
    println!(
        "one of {} subscriptions {few:.2} us, one of {} {many:.2} us: {:.2} times",
        FEW + 1,
        MANY + 1,
        many / few
    );
}
