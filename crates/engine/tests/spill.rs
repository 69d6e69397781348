//! Queues that hold more than their buffers: what is in the queue file is as good as what is in
//! memory, and memory and file stay as small as they can.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use posthaste_engine::{EndMode, Session};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};
use world::*;

const BUFFER: usize = 64 * 1024;
const SIZE: usize = 2000;
/// Ten times what a buffer takes.
const COUNT: usize = 10 * BUFFER / SIZE;

/// A queue manager with buffers that are full after some thirty messages.
fn small_buffers() -> World {
    World::with(|c| {
        c.q_buffer = BUFFER;
        c.pq_buffer = BUFFER;
    })
}

fn content(n: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(SIZE);
    let mut word = n as u64 + 1;
    while out.len() < SIZE {
        word = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (word >> 29);
        out.extend_from_slice(&word.to_le_bytes());
    }
    out
}

fn id(n: usize) -> [u8; 24] {
    let mut id = [7; 24];
    id[..8].copy_from_slice(&(n as u64).to_be_bytes());
    id
}

/// The descriptor of message `n`.
fn own(n: usize, persistence: i32) -> Md {
    Md {
        msg_id: id(n),
        correl_id: id(n + 1_000_000),
        ..md(persistence)
    }
}

/// Puts message `n`.
fn put_one(s: &Session, h: Hobj, n: usize, persistence: i32, options: i32) {
    send(s, h, own(n, persistence), options, &content(n));
}

/// The same on a disk that was full.
fn put_in_time(s: &Session, h: Hobj, n: usize, persistence: i32) {
    send_in_time(s, h, own(n, persistence), 0, &content(n));
}

fn fill(s: &Session, h: Hobj, numbers: impl Iterator<Item = usize>, persistence: i32, sync: bool) {
    let options = if sync { MQPMO_SYNCPOINT } else { 0 };
    for n in numbers {
        put_one(s, h, n, persistence, options);
        if sync && n % 50 == 49 {
            commit(s);
        }
    }
    commit(s);
}

/// The number of a message; its content must be right.
fn number(taken: &Taken) -> usize {
    let mut first = [0; 8];
    first.copy_from_slice(&taken.md.msg_id[..8]);
    let n = u64::from_be_bytes(first) as usize;
    assert!(
        taken.data == content(n),
        "the content of message {n} is wrong"
    );
    n
}

fn numbers(s: &Session, h: Hobj, options: i32) -> Vec<usize> {
    let mut all = Vec::new();
    while let Ok(taken) = next(s, h, options) {
        all.push(number(&taken));
    }
    all
}

fn browsed(s: &Session, h: Hobj) -> Vec<usize> {
    let mut all = Vec::new();
    let mut how = MQGMO_BROWSE_FIRST;
    while let Ok(taken) = next(s, h, how) {
        all.push(number(&taken));
        how = MQGMO_BROWSE_NEXT;
    }
    all
}

fn upto(n: usize) -> Vec<usize> {
    (0..n).collect()
}

fn queue_file(w: &World, queue: &str) -> PathBuf {
    let folder = w.config.data.join("queues");
    let prefix = format!("{queue}.");
    let names = std::fs::read_dir(&folder).unwrap();
    names
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(&prefix)
        })
        .unwrap()
}

/// What a queue keeps in memory: its buffers, and perhaps a message more of each kind.
fn assert_small(w: &World, queue: &str) {
    let resident = w.status(queue).resident_bytes;
    assert!(resident <= 2 * (BUFFER + SIZE + 600), "{resident} bytes");
}

/// The file is free again, but for what the last checkpoint noted of persistent messages; one that is being taken
/// keeps what the last one noted beside its own.
fn assert_free(w: &World, queue: &str, persistence: i32) {
    let noted = if persistence == PERSISTENT {
        COUNT as u64 / 8
    } else {
        0
    };
    until("giving blocks back", || {
        w.status(queue).file_blocks <= noted
    });
}

#[test]
fn order_and_content_are_kept() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for sync in [false, true] {
            let w = small_buffers();
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
            fill(&s, h, 0..COUNT, persistence, sync);
            assert_small(&w, LOCAL);
            assert!(w.status(LOCAL).file_blocks > 0, "nothing was spilled");
            assert_eq!(browsed(&s, h), upto(COUNT));
            let options = if sync { MQGMO_SYNCPOINT } else { 0 };
            assert_eq!(numbers(&s, h, options), upto(COUNT));
            commit(&s);
            let status = w.status(LOCAL);
            assert_eq!((status.depth, status.resident_bytes), (0, 0));
            assert_free(&w, LOCAL, persistence);
        }
    }
}

/// Both kinds on one queue, in and out, never empty: memory and file stay bounded.
#[test]
fn memory_and_file_stay_bounded_however_long_it_goes_on() {
    let w = small_buffers();
    w.run(&format!("DEFINE QLOCAL(Q) MAXDEPTH({})", 10 * COUNT));
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let (mut put_n, mut got_n) = (0, 0);
    let mut longest = 0;
    for round in 0..12 {
        for _ in 0..COUNT {
            let persistence = (put_n % 2) as i32;
            put_one(&s, h, put_n, persistence, 0);
            put_n += 1;
        }
        assert_small(&w, "Q");
        while got_n < put_n - COUNT / 4 {
            assert_eq!(number(&next(&s, h, 0).unwrap()), got_n);
            got_n += 1;
        }
        let length = std::fs::metadata(queue_file(&w, "Q")).unwrap().len();
        // It grows by a megabyte at a time, and a checkpoint makes it shorter when much of it is free.
        const STEP: u64 = 1 << 20;
        match round {
            0..3 => longest = longest.max(length),
            _ => assert!(length <= longest + STEP, "{length} after {longest}"),
        }
    }
    assert_eq!(numbers(&s, h, 0), (got_n..put_n).collect::<Vec<_>>());
    assert_free(&w, "Q", PERSISTENT);
}

#[test]
fn priorities_are_kept_in_the_file_too() {
    let mut w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let priority = |n: usize| (n * 7 % 10) as i32;
    for n in 0..COUNT {
        let own = Md {
            msg_id: id(n),
            priority: priority(n),
            ..md(PERSISTENT)
        };
        send(&s, h, own, 0, &content(n));
    }
    let mut expected = upto(COUNT);
    expected.sort_by_key(|n| (9 - priority(*n), *n));
    for crash in [false, true] {
        if crash {
            w.crash();
        } else {
            w.restart();
        }
        let s = w.connect();
        let h = open(&s, LOCAL, MQOO_BROWSE);
        assert_eq!(browsed(&s, h), expected);
    }
}

#[test]
fn spilled_messages_are_got_by_identifier() {
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        fill(&s, h, 0..COUNT, persistence, false);
        for step in 0..COUNT {
            let n = step * 101 % COUNT;
            let (by, match_options) = if step % 2 == 0 {
                (
                    Md {
                        msg_id: id(n),
                        ..md(0)
                    },
                    MQMO_MATCH_MSG_ID,
                )
            } else {
                let correl_id = id(n + 1_000_000);
                (Md { correl_id, ..md(0) }, MQMO_MATCH_CORREL_ID)
            };
            let how = Gmo {
                match_options,
                ..gmo(0)
            };
            let taken = take(&s, h, by, how, SIZE).unwrap();
            assert_eq!(number(&taken), n);
        }
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn spilled_messages_come_back_when_backed_out() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let mut w = small_buffers();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        fill(&s, h, 0..COUNT, persistence, false);
        for count in 1..=3 {
            assert_eq!(numbers(&s, h, MQGMO_SYNCPOINT), upto(COUNT));
            assert_eq!(w.depth(LOCAL), 0);
            backout(&s);
            assert_eq!(browsed(&s, h), upto(COUNT));
            assert_small(&w, LOCAL);
            let first = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
            assert_eq!(first.md.backout_count, count);
        }
        // A crash in the middle of it counts as a backout.
        assert_eq!(numbers(&s, h, MQGMO_SYNCPOINT), upto(COUNT));
        drop(s);
        w.crash();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        if persistence == PERSISTENT {
            let first = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
            assert_eq!(first.md.backout_count, 4);
            assert_eq!(numbers(&s, h, 0), upto(COUNT));
        } else {
            assert_eq!(w.depth(LOCAL), 0);
        }
    }
}

/// A unit of work far larger than the buffer: its puts appear whole, or leave nothing.
#[test]
fn large_units_of_work() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let w = small_buffers();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for _ in 0..2 {
            for n in 0..COUNT {
                put_one(&s, h, n, persistence, MQPMO_SYNCPOINT);
            }
            backout(&s);
            assert_eq!(w.depth(LOCAL), 0);
            assert_free(&w, LOCAL, persistence);
            for n in 0..COUNT {
                put_one(&s, h, n, persistence, MQPMO_SYNCPOINT);
            }
            commit(&s);
            assert_small(&w, LOCAL);
            assert_eq!(numbers(&s, h, MQGMO_SYNCPOINT), upto(COUNT));
            commit(&s);
        }
    }
}

#[test]
fn spilled_messages_survive_restarts() {
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        let mut w = small_buffers();
        w.run("DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)\nDEFINE QLOCAL(NORMAL)");
        let (mut first, mut last) = (0, 0);
        for round in 0..4 {
            let s = w.connect();
            for queue in ["HIGH", "NORMAL"] {
                let h = open(&s, queue, IN_OUT);
                fill(&s, h, last..last + COUNT / 2, PERSISTENT, true);
                // A part of what was there goes.
                for n in first..first + COUNT / 4 {
                    assert_eq!(number(&next(&s, h, 0).unwrap()), n);
                }
                fill(
                    &s,
                    h,
                    9_000_000..9_000_000 + COUNT / 2,
                    NOT_PERSISTENT,
                    false,
                );
            }
            first += COUNT / 4;
            last += COUNT / 2;
            drop(s);
            w.end(how);
            w.start();
            let s = w.connect();
            let expected: Vec<_> = (first..last).collect();
            let kept: Vec<_> = (9_000_000..9_000_000 + COUNT / 2).collect();
            for queue in ["HIGH", "NORMAL"] {
                assert_small(&w, queue);
                let h = open(&s, queue, IN_OUT | MQOO_BROWSE);
                let all = browsed(&s, h);
                let (old, np): (Vec<_>, Vec<_>) = all.into_iter().partition(|n| *n < 9_000_000);
                assert_eq!(old, expected, "{queue} {round} {how:?}");
                let survive = how == EndMode::Immediate && queue == "HIGH";
                assert_eq!(
                    np,
                    if survive { kept.clone() } else { Vec::new() },
                    "{queue}"
                );
                for n in np {
                    let by = Md {
                        msg_id: id(n),
                        ..md(0)
                    };
                    let how = Gmo {
                        match_options: MQMO_MATCH_MSG_ID,
                        ..gmo(0)
                    };
                    take(&s, h, by, how, SIZE).unwrap();
                }
            }
        }
    }
}

/// Messages of very different lengths share the file.
#[test]
fn space_in_the_file_is_used_again_whatever_the_lengths() {
    let w = small_buffers();
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    // Something at the head keeps the buffer full, so that all that follows is spilled.
    for _ in 0..COUNT / 5 {
        put(&s, h, 0, 0, &[9; SIZE]);
    }
    let by = |n: usize| Md {
        msg_id: id(n),
        ..md(0)
    };
    let lengths = [1, 400, 513, 1500, 8000, 60_000];
    let mut longest = 0;
    for round in 0..30 {
        for (n, length) in lengths.iter().cycle().take(60).enumerate() {
            let data = vec![(n + round) as u8; *length];
            send(&s, h, by(n), 0, &data);
        }
        for step in 0..60 {
            let n = step * 37 % 60;
            let how = Gmo {
                match_options: MQMO_MATCH_MSG_ID,
                ..gmo(0)
            };
            let taken = take(&s, h, by(n), how, 1 << 20).unwrap();
            assert_eq!(taken.data, vec![(n + round) as u8; lengths[n % 6]]);
        }
        let length = std::fs::metadata(queue_file(&w, "Q")).unwrap().len();
        if round == 5 {
            longest = length;
        } else if round > 5 {
            assert!(length <= longest * 2, "{length} after {longest}");
        }
    }
}

/// What is got soon after it was put never touches the file.
#[test]
fn nothing_is_written_while_the_buffer_suffices() {
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for round in 0..COUNT / 20 {
        for persistence in [NOT_PERSISTENT, PERSISTENT] {
            fill(&s, h, round * 20..round * 20 + 20, persistence, false);
            numbers(&s, h, 0);
        }
    }
    // A waiting getter is served directly, even when the buffer is full.
    let written = |w: &World| w.stage.queue_bytes.load(Ordering::SeqCst);
    assert_eq!(written(&w), 0);
    fill(&s, h, 0..COUNT, NOT_PERSISTENT, false);
    let before = written(&w);
    assert!(before > 0);
    let getter = w.connect();
    let g = open(&getter, LOCAL, MQOO_INPUT_SHARED);
    for n in 0..50 {
        let by = Md {
            msg_id: id(5_000_000 + n),
            ..md(0)
        };
        let how = Gmo {
            match_options: MQMO_MATCH_MSG_ID,
            ..gmo(0)
        };
        let waiting = wait(&getter, g, by, how);
        put_one(&s, h, 5_000_000 + n, NOT_PERSISTENT, 0);
        waiting.finish().unwrap();
    }
    assert_eq!(written(&w), before);
}

#[test]
fn spilled_messages_expire() {
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for n in 0..COUNT {
        let own = Md {
            msg_id: id(n),
            expiry: if n % 3 == 0 { 1 } else { -1 },
            ..md((n % 2) as i32)
        };
        send(&s, h, own, 0, &content(n));
    }
    let left: Vec<_> = (0..COUNT).filter(|n| n % 3 != 0).collect();
    until("expiry", || browsed(&s, h) == left);
    assert_eq!(w.depth(LOCAL) as usize, left.len());
    assert_eq!(numbers(&s, h, 0), left);
    assert_eq!(w.status(LOCAL).resident_bytes, 0);
}

/// What had to stay in memory belongs to a unit of work that nobody ends: others go on all the same once there is room.
#[test]
fn a_full_disk_heals_though_a_unit_of_work_has_the_buffer() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let w = small_buffers();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        w.stage.full.store(true, Ordering::SeqCst);
        let refused = |s: &Session, options: i32| {
            let put = try_put(s, h, &mut md(persistence), options, &[1; SIZE]);
            put == Err(Reason::Q_SPACE_NOT_AVAILABLE)
        };
        while !refused(&s, MQPMO_SYNCPOINT) {
            assert_small(&w, LOCAL);
        }
        let other = w.connect();
        assert_eq!(open(&other, LOCAL, IN_OUT), h);
        assert!(refused(&other, 0) && refused(&s, MQPMO_SYNCPOINT));
        w.stage.full.store(false, Ordering::SeqCst);
        (0..COUNT).for_each(|n| put_in_time(&other, h, n, persistence));
        assert_small(&w, LOCAL);
        assert_eq!(numbers(&other, h, 0), upto(COUNT));
        commit(&s);
        assert!(next(&other, h, 0).is_ok());
    }
}

/// A put that is refused does not look through the queue for messages that could be filed.
#[test]
fn a_put_refused_on_a_full_disk_costs_the_same_on_a_deep_queue() {
    const DEEP: usize = 5_000;
    const REFUSED: u64 = 50;
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for _ in 0..DEEP {
        send(&s, h, md(NOT_PERSISTENT), 0, b"x");
    }
    let mut left = DEEP;
    while w.status(LOCAL).resident_bytes > 0 {
        next(&s, h, 0).unwrap();
        left -= 1;
    }
    assert!(left > DEEP / 2);
    w.stage.full.store(true, Ordering::SeqCst);
    let put = |options: i32| try_put(&s, h, &mut md(NOT_PERSISTENT), options, &[1; SIZE]);
    while put(MQPMO_SYNCPOINT).is_ok() {
        assert_small(&w, LOCAL);
    }
    // What has the buffer belongs to a unit of work; everything else is in the file.
    let before = w.status(LOCAL).steps;
    for _ in 0..REFUSED {
        assert_eq!(put(0), Err(Reason::Q_SPACE_NOT_AVAILABLE));
    }
    let steps = w.status(LOCAL).steps - before;
    assert!(steps <= 300 * REFUSED, "{steps} steps for {REFUSED} puts");
    w.stage.full.store(false, Ordering::SeqCst);
    send_in_time(&s, h, md(NOT_PERSISTENT), 0, b"y");
    backout(&s);
    assert_eq!(drain(&s, h).len(), left + 1);
}

/// The file system is full: puts beyond the buffer are refused, nothing is lost, and when there is
/// room again everything goes on.
#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let mut w = small_buffers();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        w.stage.full.store(true, Ordering::SeqCst);
        let mut accepted = 0;
        let refused = loop {
            let mut own = Md {
                msg_id: id(accepted),
                ..md(persistence)
            };
            match try_put(&s, h, &mut own, 0, &content(accepted)) {
                Ok(_) => accepted += 1,
                Err(reason) => break reason,
            }
        };
        assert_eq!(refused, Reason::Q_SPACE_NOT_AVAILABLE);
        assert!((20..50).contains(&accepted), "{accepted}");
        assert_eq!(browsed(&s, h), upto(accepted));
        for options in [0, MQPMO_SYNCPOINT] {
            let again = try_put(&s, h, &mut md(persistence), options, b"x");
            assert_eq!(again, Err(Reason::Q_SPACE_NOT_AVAILABLE));
        }
        assert_eq!(w.message_count("AMQ2005E"), 1, "told, and not at every put");
        // Getting makes room in the buffer.
        for n in 0..10 {
            assert_eq!(number(&next(&s, h, 0).unwrap()), n);
        }
        put_in_time(&s, h, accepted, persistence);
        accepted += 1;
        w.stage.full.store(false, Ordering::SeqCst);
        (accepted..COUNT).for_each(|n| put_in_time(&s, h, n, persistence));
        assert_eq!(browsed(&s, h), (10..COUNT).collect::<Vec<_>>());
        drop(s);
        w.restart();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        let left = if persistence == PERSISTENT {
            (10..COUNT).collect()
        } else {
            Vec::new()
        };
        assert_eq!(numbers(&s, h, 0), left);
    }
}

/// A deleted queue's file goes, and a queue defined again under its name begins with none.
#[test]
fn the_file_goes_with_its_queue() {
    let mut w = small_buffers();
    for _ in 0..2 {
        w.run("DEFINE QLOCAL(Q)");
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        fill(&s, h, 0..COUNT, PERSISTENT, true);
        close(&s, h, 0).unwrap();
        assert!(w.status("Q").file_blocks > 0);
        let path = queue_file(&w, "Q");
        w.run("DELETE QLOCAL(Q) PURGE\nDEFINE QLOCAL(Q)");
        assert_eq!((w.depth("Q"), w.status("Q").file_blocks), (0, 0));
        drop(s);
        w.restart();
        assert!(!path.exists(), "{}", path.display());
        w.run("DELETE QLOCAL(Q)");
    }
}

/// What a unit of work has put counts in the buffer: beyond that it is in the file, whatever becomes of it.
#[test]
fn uncommitted_messages_spill_too() {
    let mut w = small_buffers();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for ending in ["commit", "waiter", "backout", "gone"] {
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT);
            fill_uncommitted(&s, h, persistence);
            let status = w.status(LOCAL);
            assert_eq!(status.depth as usize, COUNT);
            assert!(status.resident_bytes <= BUFFER + 2 * SIZE, "{status:?}");
            assert!(status.file_blocks > 0, "{status:?}");
            match ending {
                "commit" => {
                    commit(&s);
                    assert_eq!(numbers(&s, h, 0), upto(COUNT));
                }
                "waiter" => {
                    let other = w.connect();
                    let waiting = wait(&other, open(&other, LOCAL, IN_OUT), md(0), gmo(0));
                    commit(&s);
                    assert_eq!(number(&waiting.finish().unwrap()), 0);
                    assert_eq!(numbers(&s, h, 0), upto(COUNT)[1..]);
                }
                "backout" => backout(&s),
                _ => drop(s),
            }
            assert_eq!(w.depth(LOCAL), 0, "{ending}");
            assert_eq!(w.status(LOCAL).resident_bytes, 0, "{ending}");
        }
    }
    // Committed, they are as durable as any others.
    for restart in [World::crash, World::restart] {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        fill_uncommitted(&s, h, PERSISTENT);
        commit(&s);
        drop(s);
        restart(&mut w);
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        assert_eq!(numbers(&s, h, 0), upto(COUNT));
    }
}

fn fill_uncommitted(s: &Session, h: Hobj, persistence: i32) {
    (0..COUNT).for_each(|n| put_one(s, h, n, persistence, MQPMO_SYNCPOINT));
}

/// What a unit of work has got from the file does not come back into memory for good.
#[test]
fn uncommitted_gets_keep_no_messages_in_memory() {
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    fill(&s, h, 0..COUNT, PERSISTENT, false);
    assert_eq!(numbers(&s, h, MQGMO_SYNCPOINT), upto(COUNT));
    assert_small(&w, LOCAL);
    // They go to who waits for them when they come back.
    let other = w.connect();
    let waiting = wait(&other, open(&other, LOCAL, IN_OUT), md(0), gmo(0));
    backout(&s);
    let back = waiting.finish().unwrap();
    assert_eq!(back.md.backout_count, 1);
    assert_eq!(w.depth(LOCAL) as usize, COUNT - 1);
}

/// A full disk: what a unit of work has put stays, more is refused, and all of it can be committed.
#[test]
fn a_full_disk_refuses_more_of_a_unit_of_work() {
    let w = small_buffers();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    w.stage.full.store(true, Ordering::SeqCst);
    let mut count = 0;
    let refused = loop {
        let mut own = Md {
            msg_id: id(count),
            ..md(NOT_PERSISTENT)
        };
        let put = try_put(&s, h, &mut own, MQPMO_SYNCPOINT, &content(count));
        match put {
            Ok(_) => count += 1,
            Err(reason) => break reason,
        }
        assert!(count < COUNT, "memory is not bounded");
    };
    assert_eq!(refused, Reason::Q_SPACE_NOT_AVAILABLE);
    commit(&s);
    w.stage.full.store(false, Ordering::SeqCst);
    assert_eq!(numbers(&s, h, 0), upto(count));
}

/// Files of queues that there are no more go at the next start, and the operator is told. What else lies in their
/// folder is left alone, whatever it is called.
#[test]
fn only_files_of_queues_are_removed_at_a_start() {
    let mut w = small_buffers();
    w.run("DEFINE QLOCAL(KEPT)");
    let s = w.connect();
    let h = open(&s, "KEPT", IN_OUT);
    fill(&s, h, 0..100, PERSISTENT, false);
    let kept = queue_file(&w, "KEPT");
    drop(s);
    w.end(EndMode::Immediate);
    let folder = kept.parent().unwrap();
    let ours = ["GONE.4711", "APP&lower.case_%.4712"];
    for name in ours {
        std::fs::copy(&kept, folder.join(name)).unwrap();
    }
    // Made but never written, when the process was killed.
    std::fs::write(folder.join("GONE.4713"), b"").unwrap();
    let theirs = [
        "notes.txt",
        "core.1234",
        "KEPT.old",
        "KEPT.007",
        "GONE",
        ".4714",
        "a b.1",
    ];
    for name in theirs {
        std::fs::write(folder.join(name), b"an operator's").unwrap();
    }
    std::fs::create_dir(folder.join("BACKUP.1")).unwrap();
    w.start();
    let left = |name: &str| folder.join(name).exists();
    assert!(theirs.into_iter().all(left) && left("BACKUP.1"));
    assert!(!ours.into_iter().any(left) && !left("GONE.4713"));
    assert_eq!(
        (
            w.message_count("AMQ2064I"),
            w.last_inserts("AMQ2064I")[0].as_str()
        ),
        (1, "3")
    );
    assert_eq!(
        w.last_inserts("AMQ2064I")[1],
        "APP&lower.case_%.4712, GONE.4711, GONE.4713"
    );
    let s = w.connect();
    let h = open(&s, "KEPT", IN_OUT);
    assert_eq!(numbers(&s, h, 0), upto(100));
}

/// Nothing needs the file of a deleted queue, nor that it be gone.
#[test]
fn a_file_of_a_deleted_queue_that_cannot_be_removed_does_not_refuse_the_start() {
    let mut w = small_buffers();
    w.run("DEFINE QLOCAL(KEPT)");
    let s = w.connect();
    let h = open(&s, "KEPT", IN_OUT);
    fill(&s, h, 0..100, PERSISTENT, true);
    drop(s);
    w.end(EndMode::Immediate);
    let kept = queue_file(&w, "KEPT");
    let stray = kept.with_file_name("GONE.4711");
    std::fs::copy(&kept, &stray).unwrap();
    w.stage.unremovable.store(true, Ordering::SeqCst);
    w.start();
    assert_eq!(
        (w.message_count("AMQ2064I"), w.message_count("AMQ2068W")),
        (0, 1)
    );
    assert_eq!(w.last_inserts("AMQ2068W")[..2], ["1", "GONE.4711"]);
    w.stage.unremovable.store(false, Ordering::SeqCst);
    w.restart();
    assert_eq!((w.message_count("AMQ2064I"), stray.exists()), (1, false));
    let s = w.connect();
    let h = open(&s, "KEPT", IN_OUT);
    assert_eq!(numbers(&s, h, 0), upto(100));
}

/// A get by group id or sequence number reads the message that it delivers and no other, after a restart too.
#[test]
fn messages_of_other_groups_are_not_read() {
    const GROUPS: usize = 50;
    let mut w = small_buffers();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let member = |group: usize, sequence: i32| Md {
        group_id: id(group + 1),
        msg_seq_number: sequence,
        msg_flags: MQMF_MSG_IN_GROUP
            | if sequence == 2 {
                MQMF_LAST_MSG_IN_GROUP
            } else {
                0
            },
        ..md(PERSISTENT)
    };
    for group in 0..GROUPS {
        for sequence in 1..=2 {
            send(&s, h, member(group, sequence), 0, &[group as u8; 1000]);
        }
    }
    let by_group = |w: &World, s: &Session, group: usize, options: i32| {
        let h = open(s, "Q", MQOO_INPUT_SHARED | MQOO_BROWSE);
        let before = w.stage.queue_reads.load(Ordering::SeqCst);
        let how = Gmo {
            match_options: MQMO_MATCH_GROUP_ID | MQMO_MATCH_MSG_SEQ_NUMBER,
            ..gmo(options)
        };
        let taken = take(s, h, member(group, 2), how, 2000);
        let reads = w.stage.queue_reads.load(Ordering::SeqCst) - before;
        (taken.map(|taken| usize::from(taken.data[0])), reads)
    };
    // Whether a group is complete is known without a look at the file, too.
    let complete = MQGMO_ALL_MSGS_AVAILABLE | MQGMO_BROWSE_FIRST;
    let last = GROUPS - 1;
    assert_eq!(by_group(&w, &s, last, complete), (Ok(last), 1));
    assert_eq!(by_group(&w, &s, last, 0), (Ok(last), 1));
    drop(s);
    w.restart();
    let s = w.connect();
    assert_eq!(by_group(&w, &s, last - 1, complete), (Ok(last - 1), 1));
    let none = Err(Reason::NO_MSG_AVAILABLE);
    assert_eq!(by_group(&w, &s, last, 0), (none, 0));
}

/// While a message is written to the file somebody gets it, and puts another one, which takes its slot.
#[test]
fn a_message_that_is_got_while_it_is_filed_is_not_taken_for_the_next_one() {
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (10_000, 10_000));
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for persistence in [PERSISTENT, NOT_PERSISTENT] {
        let other = w.connect();
        let hook = move || {
            let h = open(&other, "Q", IN_OUT);
            assert_eq!(next(&other, h, 0).unwrap().length, 30_000);
            put(&other, h, persistence, 0, b"next");
        };
        *w.stage.on_queue_write.lock() = Some((30_000, Box::new(hook)));
        put(&s, h, persistence, 0, &[7; 30_000]);
        assert!(w.stage.on_queue_write.lock().is_none());
        assert_eq!(drain(&s, h), ["next"]);
        assert_eq!((w.depth("Q"), w.status("Q").file_blocks), (0, 0));
    }
}
