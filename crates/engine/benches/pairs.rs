//! A fixed number of puts and gets on one thread, for an instruction counter.
//!
//! `cargo bench -p posthaste-engine --bench pairs --no-run` names the program; `perf stat -e instructions:u PROGRAM KIND
//! PAIRS`, KIND one of `np`, `p` and `sync` (each put and each get in a unit of work of its own): the difference of two
//! numbers of pairs is what the pairs between them cost.
#![allow(missing_docs, clippy::unwrap_used)]

mod put_get;
#[path = "../tests/world/mod.rs"]
mod world;

use bytes::Bytes;
use posthaste_mqi::constants::*;
use put_get::{SIZE, put_get};
use world::*;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [kind, pairs] = given.as_slice() else {
        // As cargo runs it, with nothing to count it.
        return println!("np | p | sync, and how many");
    };
    let (persistence, sync) = match kind.as_str() {
        "np" => (MQPER_NOT_PERSISTENT, false),
        "p" => (MQPER_PERSISTENT, false),
        "sync" => (MQPER_PERSISTENT, true),
        other => panic!("{other} is none of np, p, sync"),
    };
    let world = World::new();
    let session = world.connect();
    let name = "SYSTEM.DEFAULT.LOCAL.QUEUE";
    let queue = open(&session, name, MQOO_INPUT_SHARED | MQOO_OUTPUT);
    let data = Bytes::from(vec![7; SIZE]);
    for _ in 0..pairs.parse::<u32>().unwrap() {
        put_get(&session, queue, persistence, sync, data.clone());
    }
}
