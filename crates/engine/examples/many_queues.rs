//! What it costs to have many queues: open and close beside them, a restart with them, a temporary queue.
//!
//! `cargo run --release -p posthaste-engine --example many_queues [-- QUEUES]` (default 10,000).
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Instant;

use posthaste_mqi::constants::*;
use world::*;

fn main() {
    let queues = std::env::args()
        .nth(1)
        .map_or(10_000, |n| n.parse().unwrap());
    let mut w = World::with(|c| c.log_config.file_pages = 16_384);
    let begin = Instant::now();
    for n in 0..queues {
        w.run(&format!("DEFINE QLOCAL(Q.{n})"));
    }
    println!("{queues} queues defined in {:?}", begin.elapsed());
    let s = w.connect();
    for (what, name) in [("a local queue", LOCAL), ("a model queue", MODEL)] {
        let rounds = 2000;
        let begin = Instant::now();
        for _ in 0..rounds {
            let h = open(&s, name, MQOO_INPUT_SHARED);
            close(&s, h, MQCO_NONE).unwrap();
        }
        println!("open and close of {what}: {:?}", begin.elapsed() / rounds);
    }
    drop(s);
    for how in ["a controlled end", "a crash"] {
        let begin = Instant::now();
        match how {
            "a crash" => w.kill(),
            _ => w.end(posthaste_engine::EndMode::Immediate),
        }
        let ended = begin.elapsed();
        let begin = Instant::now();
        w.start();
        println!(
            "{how}: {ended:?}, the start after it: {:?}",
            begin.elapsed()
        );
    }
}
