//! Message numbers: each is used once in the life of a queue manager, whatever ends its runs.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use bytes::Bytes;
use posthaste_engine::{Session, Stop};
use posthaste_env::block_on;
use posthaste_mqi::Hobj;
use world::*;

/// Three quarters of the numbers that a run reserves at a time.
const MANY: u64 = 3 << 34;

/// Puts a message; its number, as its identifier tells it.
fn number(s: &Session, h: Hobj, persistence: i32) -> u64 {
    let id = put(s, h, persistence, 0, b"numbered").msg_id;
    u64::from_be_bytes(id[16..].try_into().unwrap())
}

#[test]
fn a_number_is_never_used_again() {
    let mut w = World::light();
    let mut last = 0;
    for round in 0..9 {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for persistence in [PERSISTENT, NOT_PERSISTENT] {
            let next = number(&s, h, persistence);
            assert!(next > last, "round {round}: {next} after {last}");
            last = next;
        }
        // More than is reserved at a time; in the first run, more than 40 bits count.
        let times = if round == 0 { 24 } else { 1 };
        for _ in 0..times {
            let image = w.image();
            w.qm().use_up_numbers(MANY);
            last = number(&s, h, NOT_PERSISTENT);
            until("a checkpoint that reserves more", || w.image() > image);
        }
        drain(&s, h);
        drop(s);
        if round % 2 == 0 {
            w.crash();
        } else {
            w.restart();
        }
    }
    assert!(last > 8 * MANY);
}

#[test]
fn numbers_that_are_not_reserved_are_not_used() {
    let mut w = World::light();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let last = number(&s, h, PERSISTENT);
    w.qm().use_up_numbers(1 << 60);
    // Its outcome is left open, as always when the queue manager stops.
    let _ = block_on(s.put(h, &mut md(PERSISTENT), &mut pmo(0), Bytes::new()));
    assert!(matches!(w.qm().stopped(), Some(Stop::CheckpointFailed(_))));
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert!(number(&s, h, NOT_PERSISTENT) > last);
}
