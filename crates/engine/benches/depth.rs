//! What depth and waiters cost: a million messages through a restart, ten thousand waiting getters.
//!
//! `cargo bench -p posthaste-engine --bench depth [-- MESSAGES]` (default 1,000,000 of 2 KiB on 10
//! queues; about 3 GB of disk).
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Instant;

use bytes::Bytes;
use posthaste_admin::Admin;
use posthaste_engine::EndMode;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Pmo};
use world::*;

struct Nobody;
impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

fn define(w: &World, name: &str) {
    let text = format!("DEFINE QLOCAL({name}) MAXDEPTH(999999999)");
    let command = posthaste_command::parse(&text).unwrap().unwrap();
    assert!(block_on(Admin::alone(w.qm()).execute(&command)).ok);
}

/// Nanoseconds a delivery to one of `count` getters waiting by correlation identifier.
fn waiters(count: u64) -> f64 {
    let w = World::forced(|_| {});
    define(&w, "WAIT");
    let putter = w.connect();
    let out = open(&putter, "WAIT", MQOO_OUTPUT);
    let id = |n: u64| {
        let mut id = [1; 24];
        id[..8].copy_from_slice(&n.to_be_bytes());
        id
    };
    let waker = Waker::from(Arc::new(Nobody));
    let mut context = Context::from_waker(&waker);
    let mut waiting: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    for n in 0..count {
        let s = w.connect();
        waiting.push(Box::pin(async move {
            let mut od = posthaste_mqi::Od {
                object_name: posthaste_mqi::Name::new("WAIT"),
                ..Default::default()
            };
            let h = s.open(&mut od, MQOO_INPUT_SHARED).await.unwrap().value;
            loop {
                let mut md = Md {
                    correl_id: id(n),
                    ..Md::default()
                };
                let mut gmo = Gmo {
                    options: MQGMO_WAIT,
                    wait_interval: MQWI_UNLIMITED,
                    ..Gmo::default()
                };
                s.get(h, &mut md, &mut gmo, 4096).await.unwrap();
            }
        }));
    }
    for future in &mut waiting {
        assert!(future.as_mut().poll(&mut context).is_pending());
    }
    let data = Bytes::from(vec![7; 2048]);
    let rounds = 200_000u64;
    let start = Instant::now();
    for round in 0..rounds {
        let n = round * 7919 % count;
        let mut md = Md {
            correl_id: id(n),
            ..Md::default()
        };
        block_on(putter.put(out, &mut md, &mut Pmo::default(), data.clone())).unwrap();
        assert!(waiting[n as usize].as_mut().poll(&mut context).is_pending());
    }
    start.elapsed().as_nanos() as f64 / rounds as f64
}

fn fill(w: &World, messages: u64) {
    let s = w.connect();
    let queues: Vec<_> = (0..10)
        .map(|n| open(&s, &format!("DEEP.{n}"), MQOO_OUTPUT))
        .collect();
    let data = Bytes::from(vec![7; 2048]);
    for n in 0..messages {
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_SYNCPOINT,
            ..Pmo::default()
        };
        let queue = queues[(n % 10) as usize];
        block_on(s.put(queue, &mut md, &mut pmo, data.clone())).unwrap();
        if n % 500 == 499 {
            block_on(s.commit()).unwrap();
        }
    }
    block_on(s.commit()).unwrap();
}

fn depth(w: &World) -> u64 {
    let status = |n| w.qm().queue_status(&format!("DEEP.{n}")).unwrap();
    (0..10).map(|n| u64::from(status(n).depth)).sum()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn main() {
    let messages = std::env::args()
        .filter_map(|a| a.parse().ok())
        .next()
        .unwrap_or(1_000_000);
    let mut w = World::forced(|c| {
        c.log_config.file_pages = 4096;
        c.log_config.primary_files = 8;
    });
    (0..10).for_each(|n| define(&w, &format!("DEEP.{n}")));
    let before = resident_kib();
    let start = Instant::now();
    fill(&w, messages);
    println!(
        "{messages} messages of 2 KiB put in {:.1} s; memory {:.0} bytes a message",
        start.elapsed().as_secs_f64(),
        (resident_kib().saturating_sub(before) * 1024) as f64 / messages as f64
    );
    for (name, clean) in [
        ("after a kill", false),
        ("after a clean end", true),
        ("after a kill", false),
    ] {
        let start = Instant::now();
        if clean {
            w.end(EndMode::Immediate);
        } else {
            w.kill();
        }
        let ended = start.elapsed().as_secs_f64();
        let start = Instant::now();
        w.start();
        println!(
            "{name}: ended in {ended:.2} s, started in {:.2} s",
            start.elapsed().as_secs_f64()
        );
        assert_eq!(depth(&w), messages, "{name}");
    }
    let few: Vec<f64> = (0..3).map(|_| waiters(10)).collect();
    let many: Vec<f64> = (0..3).map(|_| waiters(10_000)).collect();
    println!("waiters by CorrelId, ns a delivery: 10: {few:.0?}  10,000: {many:.0?}");
}
