//! What the engine costs by itself: in-process puts and gets, units of work over the real log.
//!
//! `cargo bench -p posthaste-engine --bench in_process [-- FOLDER]`: FOLDER (default: the target
//! folder) is where the log is; its disk decides the persistent rates, not the CPU figures.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Pmo};
use world::*;

const SIZE: usize = 2048;
const QUEUE: &str = "SYSTEM.DEFAULT.LOCAL.QUEUE";

/// CPU seconds (user and system) this process has used.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = stat.rsplit(')').next().unwrap();
    let field = |n: usize| -> f64 { after.split_whitespace().nth(n).unwrap().parse().unwrap() };
    (field(11) + field(12)) / 100.0
}

fn put_get(s: &Session, h: Hobj, persistence: i32, sync: bool, data: &Bytes) {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: if sync { MQPMO_SYNCPOINT } else { 0 },
        ..Pmo::default()
    };
    block_on(s.put(h, &mut md, &mut pmo, Bytes::copy_from_slice(data))).unwrap();
    if sync {
        block_on(s.commit()).unwrap();
    }
    let mut gmo = Gmo {
        options: if sync { MQGMO_SYNCPOINT } else { 0 },
        ..Gmo::default()
    };
    block_on(s.get(h, &mut Md::default(), &mut gmo, SIZE)).unwrap();
    if sync {
        block_on(s.commit()).unwrap();
    }
}

/// Runs `threads` loops for a while; returns pairs, wall seconds, CPU seconds.
fn run(w: &World, threads: usize, queues: usize, persistence: i32, sync: bool) -> (u64, f64, f64) {
    let stop = Arc::new(AtomicBool::new(false));
    let count = Arc::new(AtomicU64::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|n| {
            let s = w.connect();
            let (stop, count) = (stop.clone(), count.clone());
            std::thread::spawn(move || {
                let name = format!("BENCH.{}", n % queues);
                let h = open(&s, &name, MQOO_INPUT_SHARED | MQOO_OUTPUT);
                let data = Bytes::from(vec![7; SIZE]);
                while !stop.load(Ordering::Relaxed) {
                    put_get(&s, h, persistence, sync, &data);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let (start, used, before) = (Instant::now(), cpu(), count.load(Ordering::Relaxed));
    while start.elapsed() < Duration::from_secs(2) {
        std::thread::park_timeout(Duration::from_millis(100));
    }
    let pairs = count.load(Ordering::Relaxed) - before;
    let result = (pairs, start.elapsed().as_secs_f64(), cpu() - used);
    stop.store(true, Ordering::Relaxed);
    for handle in handles {
        handle.join().unwrap();
    }
    result
}

fn main() {
    let w = World::with(|c| {
        c.log_config.file_pages = 4096;
        c.log_config.primary_files = 8;
        c.pq_buffer = 64 << 20;
    });
    for n in 0..10 {
        let command = format!("DEFINE QLOCAL(BENCH.{n}) LIKE({QUEUE}) MAXDEPTH(999999)");
        let command = posthaste_command::parse(&command).unwrap().unwrap();
        assert!(block_on(w.qm().execute(&command)).ok);
    }
    println!(
        "{:44} {:>12} {:>10} {:>12}",
        "case (2 KiB, put + get)", "pairs/s", "CPU us/pair", "log writes/s"
    );
    for (name, threads, queues, persistence, sync) in [
        (
            "non-persistent, 1 thread",
            1,
            1,
            MQPER_NOT_PERSISTENT,
            false,
        ),
        (
            "non-persistent, 2 threads, 2 queues",
            2,
            2,
            MQPER_NOT_PERSISTENT,
            false,
        ),
        (
            "non-persistent, syncpoint, 1 thread",
            1,
            1,
            MQPER_NOT_PERSISTENT,
            true,
        ),
        (
            "persistent, no syncpoint, 1 thread",
            1,
            1,
            MQPER_PERSISTENT,
            false,
        ),
        (
            "persistent, syncpoint, 1 thread",
            1,
            1,
            MQPER_PERSISTENT,
            true,
        ),
        (
            "persistent, syncpoint, 12 threads, 10 queues",
            12,
            10,
            MQPER_PERSISTENT,
            true,
        ),
        (
            "persistent, syncpoint, 60 threads, 10 queues",
            60,
            10,
            MQPER_PERSISTENT,
            true,
        ),
        (
            "persistent, no syncpoint, 60 threads, 10 q.",
            60,
            10,
            MQPER_PERSISTENT,
            false,
        ),
        (
            "persistent, syncpoint, 120 threads, 1 queue",
            120,
            1,
            MQPER_PERSISTENT,
            true,
        ),
        (
            "persistent, no syncpoint, 120 threads, 1 q.",
            120,
            1,
            MQPER_PERSISTENT,
            false,
        ),
    ] {
        let before = w.qm().log().statistics();
        let (pairs, wall, used) = run(&w, threads, queues, persistence, sync);
        let after = w.qm().log().statistics();
        println!(
            "{name:44} {:>12.0} {:>10.2} {:>12.0}",
            pairs as f64 / wall,
            used * 1e6 / pairs as f64,
            (after.writes - before.writes) as f64 / wall
        );
    }
}
