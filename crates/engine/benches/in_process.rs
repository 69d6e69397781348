//! What the engine costs by itself: in-process puts and gets, units of work over the real log.
//!
//! `cargo bench -p posthaste-engine --bench in_process [-- FOLDER]`: FOLDER (default: the target
//! folder) is where the log is; its disk decides the persistent rates, not the CPU figures.
#![allow(missing_docs, clippy::unwrap_used)]

mod put_get;
#[path = "../tests/world/mod.rs"]
mod world;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use posthaste_admin::Admin;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Pmo};
use put_get::{SIZE, put_get};
use world::*;

const QUEUE: &str = "SYSTEM.DEFAULT.LOCAL.QUEUE";

/// CPU seconds (user and system) this process has used.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = stat.rsplit(')').next().unwrap();
    let field = |n: usize| -> f64 { after.split_whitespace().nth(n).unwrap().parse().unwrap() };
    (field(11) + field(12)) / 100.0
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
                    put_get(&s, h, persistence, sync, Bytes::copy_from_slice(&data));
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

/// A task's waker: puts its number on the list of those to poll.
struct Ready {
    number: usize,
    list: Arc<(Mutex<Vec<usize>>, std::thread::Thread)>,
}

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        let mut list = self.list.0.lock();
        list.push(self.number);
        if list.len() == 1 {
            self.list.1.unpark();
        }
    }
}

/// Many units of work on one thread, as a server's runtime has them: no thread switch a call.
fn run_tasks(w: &World, tasks: usize, queues: usize) -> (u64, f64, f64) {
    let count = Arc::new(AtomicU64::new(0));
    let mut futures: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    for n in 0..tasks {
        let (s, count) = (w.connect(), count.clone());
        futures.push(Box::pin(async move {
            let mut od = posthaste_mqi::Od {
                object_name: posthaste_mqi::Name::new(&format!("BENCH.{}", n % queues)),
                ..Default::default()
            };
            let h = s
                .open(&mut od, MQOO_INPUT_SHARED | MQOO_OUTPUT)
                .await
                .unwrap()
                .value;
            let data = Bytes::from(vec![7; SIZE]);
            loop {
                let mut md = Md {
                    persistence: MQPER_PERSISTENT,
                    ..Md::default()
                };
                let mut pmo = Pmo {
                    options: MQPMO_SYNCPOINT,
                    ..Pmo::default()
                };
                s.put(h, &mut md, &mut pmo, Bytes::copy_from_slice(&data))
                    .await
                    .unwrap();
                s.commit().await.unwrap();
                let mut gmo = Gmo {
                    options: MQGMO_SYNCPOINT | MQGMO_WAIT,
                    wait_interval: MQWI_UNLIMITED,
                    ..Gmo::default()
                };
                s.get(h, &mut Md::default(), &mut gmo, SIZE).await.unwrap();
                s.commit().await.unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    let list = Arc::new((
        Mutex::new((0..tasks).collect::<Vec<_>>()),
        std::thread::current(),
    ));
    let wakers: Vec<Waker> = (0..tasks)
        .map(|number| {
            let list = list.clone();
            Waker::from(Arc::new(Ready { number, list }))
        })
        .collect();
    let (start, used) = (Instant::now(), cpu());
    let mut ready = Vec::new();
    while start.elapsed() < Duration::from_secs(2) {
        std::mem::swap(&mut ready, &mut *list.0.lock());
        if ready.is_empty() {
            std::thread::park();
        }
        for number in ready.drain(..) {
            let _ = futures[number]
                .as_mut()
                .poll(&mut Context::from_waker(&wakers[number]));
        }
    }
    let pairs = count.load(Ordering::Relaxed);
    (pairs, start.elapsed().as_secs_f64(), cpu() - used)
}

fn main() {
    let w = World::forced(|c| {
        c.log_config.file_pages = 4096;
        c.log_config.primary_files = 8;
        c.pq_buffer = 64 << 20;
    });
    for n in 0..10 {
        let command = format!("DEFINE QLOCAL(BENCH.{n}) LIKE({QUEUE}) MAXDEPTH(999999)");
        let command = posthaste_command::parse(&command).unwrap().unwrap();
        assert!(block_on(Admin::alone(w.qm()).execute(&command)).ok);
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
    for tasks in [1, 12, 60] {
        let before = w.qm().log().statistics();
        let (pairs, wall, used) = run_tasks(&w, tasks, 10);
        let after = w.qm().log().statistics();
        let physical = after.physical_bytes - before.physical_bytes;
        let logical = after.logical_bytes - before.logical_bytes;
        println!(
            "{:44} {:>12.0} {:>10.2} {:>12.0}   log physical/logical {:.2}, {:.0} bytes a pair beyond the data",
            format!("persistent, syncpoint, {tasks} units of work, 1 thread"),
            pairs as f64 / wall,
            used * 1e6 / pairs as f64,
            (after.writes - before.writes) as f64 / wall,
            physical as f64 / logical as f64,
            logical as f64 / pairs as f64 - SIZE as f64
        );
    }
}
