//! What threads hinder each other by: puts and gets in process, each thread on a queue of its own and all on one; and
//! what the number of queues costs an MQOPEN.
//!
//! `cargo bench -p posthaste-engine --bench contention`. Where nothing is shared, CPU a pair stays what it is with one
//! thread, however many processors there are; and a thread that waits for another's lock gives its processor up, so the
//! switches that were asked for tell of contention also where there are few processors.
#![allow(missing_docs, clippy::unwrap_used)]

mod put_get;
#[path = "../tests/world/mod.rs"]
mod world;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_admin::Admin;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use put_get::{SIZE, put_get};
use world::*;

const QUEUE: &str = "SYSTEM.DEFAULT.LOCAL.QUEUE";
const TIME: Duration = Duration::from_millis(1500);
/// Opens and closes that are timed.
const OPENS: u32 = 20_000;

/// CPU microseconds and voluntary switches of the calling thread so far.
fn used() -> (f64, u64) {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let on_cpu: f64 = schedstat
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let switches = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
        .map(|count| count.trim().parse().unwrap());
    (on_cpu / 1e3, switches.unwrap())
}

/// What `threads` did together.
struct Sum {
    pairs: u64,
    cpu: f64,
    switches: u64,
}

/// Puts and gets on `threads` threads for a while.
fn run(w: &World, threads: usize, queues: usize, persistence: i32) -> Sum {
    let stop = Arc::new(AtomicBool::new(false));
    let sums = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
    let begin = Arc::new(Barrier::new(threads + 1));
    let handles: Vec<_> = (0..threads)
        .map(|n| {
            let s = w.connect();
            let (stop, sums, begin) = (stop.clone(), sums.clone(), begin.clone());
            std::thread::spawn(move || {
                let name = format!("BENCH.{}", n % queues);
                let h = open(&s, &name, MQOO_INPUT_SHARED | MQOO_OUTPUT);
                let data = Bytes::from(vec![7; SIZE]);
                begin.wait();
                let (before, mut pairs) = (used(), 0);
                while !stop.load(Ordering::Relaxed) {
                    put_get(&s, h, persistence, false, Bytes::copy_from_slice(&data));
                    pairs += 1;
                }
                let after = used();
                let cpu = (after.0 - before.0) as u64;
                for (sum, by) in sums.iter().zip([pairs, cpu, after.1 - before.1]) {
                    sum.fetch_add(by, Ordering::Relaxed);
                }
            })
        })
        .collect();
    begin.wait();
    let until = Instant::now() + TIME;
    while Instant::now() < until {
        std::thread::park_timeout(TIME / 10);
    }
    stop.store(true, Ordering::Relaxed);
    handles
        .into_iter()
        .for_each(|handle| handle.join().unwrap());
    let [pairs, cpu, switches] = sums.map(|sum| sum.load(Ordering::Relaxed));
    Sum {
        pairs,
        cpu: cpu as f64,
        switches,
    }
}

fn define(w: &World, name: &str) {
    let command = format!("DEFINE QLOCAL({name}) LIKE({QUEUE}) MAXDEPTH(999999)");
    let command = posthaste_command::parse(&command).unwrap().unwrap();
    assert!(block_on(Admin::alone(w.qm()).execute(&command)).ok);
}

/// Microseconds of an MQOPEN for input and its MQCLOSE.
fn open_and_close(w: &World) -> f64 {
    let s = w.connect();
    let begin = Instant::now();
    for _ in 0..OPENS {
        let h = open(&s, "BENCH.0", MQOO_INPUT_SHARED);
        block_on(s.close(h, MQCO_NONE)).unwrap();
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(OPENS)
}

fn contend(w: &World, threads: &[usize]) {
    println!(
        "{:32} {:>8} {:>12} {:>12} {:>20}",
        "case (2 KiB, put + get)", "threads", "pairs/s", "CPU us/pair", "switches/1000 pairs"
    );
    for (name, one, persistence) in [
        ("non-persistent, own queues", false, MQPER_NOT_PERSISTENT),
        ("non-persistent, one queue", true, MQPER_NOT_PERSISTENT),
        ("persistent, own queues", false, MQPER_PERSISTENT),
        ("persistent, one queue", true, MQPER_PERSISTENT),
    ] {
        for &count in threads {
            let queues = if one { 1 } else { count };
            let sum = run(w, count, queues, persistence);
            let pairs = sum.pairs as f64;
            println!(
                "{name:32} {count:>8} {:>12.0} {:>12.2} {:>20.2}",
                pairs / TIME.as_secs_f64(),
                sum.cpu / pairs,
                sum.switches as f64 * 1e3 / pairs
            );
        }
    }
}

fn main() {
    let w = World::forced(|c| {
        c.log_config.file_pages = 4096;
        c.log_config.primary_files = 8;
        c.pq_buffer = 64 << 20;
    });
    (0..16).for_each(|n| define(&w, &format!("BENCH.{n}")));
    contend(&w, &[1, 2, 4, 8, 16]);
    let few = open_and_close(&w);
    (0..10_000).for_each(|n| define(&w, &format!("OTHER.{n}")));
    let many = open_and_close(&w);
    println!(
        "MQOPEN for input and MQCLOSE: {few:.2} us beside 16 queues, {many:.2} us beside 10,016"
    );
}
