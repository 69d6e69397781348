//! A fixed number of puts and gets on one thread, for an instruction counter.
//!
//! `cargo bench -p posthaste-engine --bench pairs --no-run` names the program; `perf stat -e instructions:u PROGRAM KIND
//! PAIRS`, KIND one of `np`, `p` and `sync` (each put and each get in a unit of work of its own): the difference of two
//! numbers of pairs is what the pairs between them cost.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/world/mod.rs"]
mod world;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Pmo};
use world::*;

const SIZE: usize = 2048;

fn pair(session: &Session, queue: Hobj, persistence: i32, sync: bool, data: &Bytes) {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: if sync { MQPMO_SYNCPOINT } else { 0 },
        ..Pmo::default()
    };
    block_on(session.put(queue, &mut md, &mut pmo, data.clone())).unwrap();
    if sync {
        block_on(session.commit()).unwrap();
    }
    let mut gmo = Gmo {
        options: if sync { MQGMO_SYNCPOINT } else { 0 },
        ..Gmo::default()
    };
    block_on(session.get(queue, &mut Md::default(), &mut gmo, SIZE)).unwrap();
    if sync {
        block_on(session.commit()).unwrap();
    }
}

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
        pair(&session, queue, persistence, sync, &data);
    }
}
