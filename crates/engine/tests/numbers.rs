//! Message numbers: each is used once in the life of a queue manager, whatever ends its runs.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use bytes::Bytes;
use posthaste_engine::{Session, Stop};
use posthaste_env::block_on;
use posthaste_mqi::Hobj;
use posthaste_mqi::constants::MQPMO_NEW_MSG_ID;
use world::*;

/// Puts a message; its number, as its identifier tells it.
fn number(s: &Session, h: Hobj, persistence: i32) -> u64 {
    of(&put(s, h, persistence, 0, b"numbered").msg_id)
}

fn of(id: &[u8; 24]) -> u64 {
    u64::from_be_bytes(id[16..].try_into().unwrap())
}

fn reserving(numbers: u64) -> World {
    World::with(|c| {
        c.log_config.file_pages = 64;
        c.numbers = numbers;
    })
}

#[test]
fn a_number_is_never_used_again() {
    // Three runs use up what 40 bits can count.
    let mut w = reserving(1 << 39);
    let mut last = 0;
    for round in 0..9 {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for persistence in [PERSISTENT, NOT_PERSISTENT] {
            let next = number(&s, h, persistence);
            assert!(next > last, "round {round}: {next} after {last}");
            last = next;
        }
        drain(&s, h);
        drop(s);
        if round % 2 == 0 {
            w.crash();
        } else {
            w.restart();
        }
    }
    assert!(last > 1 << 41, "{last}");
}

#[test]
fn identifiers_given_out_ahead_are_nobody_elses() {
    let w = reserving(1 << 20);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let before = number(&s, h, NOT_PERSISTENT);
    let some = s.reserve_ids(10).unwrap();
    let many = s.reserve_ids(u32::MAX).unwrap();
    let after = number(&s, h, NOT_PERSISTENT);
    assert_eq!((some.count, many.count), (10, 4_096));
    let (first, second) = (of(&some.first), of(&many.first));
    assert!(before < first && first + 10 <= second && second + 4_096 <= after);
    // The client counts in the last two bytes alone.
    assert!(first % (1 << 16) + 10 <= 1 << 16 && second % (1 << 16) + 4_096 <= 1 << 16);
    assert_eq!(s.reserve_ids(0).unwrap().count, 1);
}

#[test]
fn a_run_uses_more_numbers_than_are_reserved_at_a_time() {
    let mut w = reserving(1_000);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let first = number(&s, h, NOT_PERSISTENT);
    let mut last = first;
    while last < first + 2_000 {
        // More than half of what is left, so that a checkpoint is due; less than all of it.
        let (image, from) = (w.image(), last);
        while last < from + 600 {
            last = number(&s, h, NOT_PERSISTENT);
        }
        until("a checkpoint that reserves more", || w.image() > image);
    }
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert!(number(&s, h, NOT_PERSISTENT) > last);
}

#[test]
fn numbers_that_are_not_reserved_are_not_used() {
    let mut w = reserving(200);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    // No checkpoint reserves more.
    w.stage.no_image_from.store(w.image() + 1, SeqCst);
    let first = number(&s, h, PERSISTENT);
    let mut last = first;
    while w.qm().stopped().is_none() {
        assert!(last < first + 200, "{last} is not reserved");
        let mut md = md(NOT_PERSISTENT);
        // Its outcome is left open where the queue manager stops, as always.
        if block_on(s.put(h, &mut md, &mut pmo(MQPMO_NEW_MSG_ID), Bytes::new())).is_ok() {
            last = of(&md.msg_id);
        }
    }
    assert!(last > first + 100, "{last}");
    assert!(matches!(w.qm().stopped(), Some(Stop::CheckpointFailed(_))));
    drop(s);
    w.stage.no_image_from.store(u64::MAX, SeqCst);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert!(number(&s, h, NOT_PERSISTENT) > last);
}
