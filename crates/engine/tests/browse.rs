//! Browsing: the cursor, getting under it, locks.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};
use world::*;

const FIRST: i32 = MQGMO_BROWSE_FIRST;
const NEXT: i32 = MQGMO_BROWSE_NEXT;
const UNDER: i32 = MQGMO_BROWSE_MSG_UNDER_CURSOR;
const GET_UNDER: i32 = MQGMO_MSG_UNDER_CURSOR;
const BOTH: i32 = IN_OUT | MQOO_BROWSE;

fn fill(s: &Session, h: Hobj, texts: &[&str]) {
    for text in texts {
        put(s, h, 0, 0, text.as_bytes());
    }
}

fn text(s: &Session, h: Hobj, options: i32) -> Result<String, Reason> {
    next(s, h, options).map(|t| {
        assert_eq!(t.warning, Reason::NONE);
        t.text()
    })
}

#[test]
fn the_cursor_walks_the_queue_and_stays_at_its_end() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, BOTH);
    assert_eq!(text(&s, h, FIRST), Err(Reason::NO_MSG_AVAILABLE));
    fill(&s, h, &["a", "b", "c"]);
    // Before anything was browsed, the next message is the first.
    assert_eq!(text(&s, h, UNDER), Err(Reason::NO_MSG_UNDER_CURSOR));
    for expected in ["a", "b", "c"] {
        assert_eq!(text(&s, h, NEXT).unwrap(), expected);
        assert_eq!(text(&s, h, UNDER).unwrap(), expected);
    }
    for _ in 0..2 {
        assert_eq!(text(&s, h, NEXT), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(text(&s, h, UNDER).unwrap(), "c");
    }
    fill(&s, h, &["d"]);
    assert_eq!(text(&s, h, NEXT).unwrap(), "d");
    assert_eq!(text(&s, h, FIRST).unwrap(), "a");
    assert_eq!(w.depth(LOCAL), 4);
}

#[test]
fn each_handle_has_a_cursor_of_its_own() {
    let w = World::new();
    let s = w.connect();
    let (a, b) = (open(&s, LOCAL, BOTH), open(&s, LOCAL, BOTH));
    fill(&s, a, &["1", "2"]);
    assert_eq!(text(&s, a, NEXT).unwrap(), "1");
    assert_eq!(text(&s, a, NEXT).unwrap(), "2");
    assert_eq!(text(&s, b, NEXT).unwrap(), "1");
    assert_eq!(text(&s, a, UNDER).unwrap(), "2");
}

#[test]
fn a_get_under_the_cursor_takes_that_message() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, BOTH);
    for (options, persistence) in [
        (0, NOT_PERSISTENT),
        (0, PERSISTENT),
        (MQGMO_SYNCPOINT, NOT_PERSISTENT),
        (MQGMO_SYNCPOINT, PERSISTENT),
    ] {
        for name in ["a", "b", "c", "d"] {
            put(&s, h, persistence, 0, name.as_bytes());
        }
        assert_eq!(text(&s, h, FIRST).unwrap(), "a");
        assert_eq!(text(&s, h, NEXT).unwrap(), "b");
        assert_eq!(text(&s, h, GET_UNDER | options).unwrap(), "b");
        commit(&s);
        let gone = Err(Reason::NO_MSG_UNDER_CURSOR);
        assert_eq!(text(&s, h, GET_UNDER | options), gone);
        assert_eq!(text(&s, h, UNDER), gone);
        // The place is still known: the next message is the one after it.
        assert_eq!(text(&s, h, NEXT).unwrap(), "c");
        assert_eq!(drain(&s, h), ["a", "c", "d"]);
    }
}

#[test]
fn a_message_that_was_backed_out_is_under_the_cursor_again() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, BOTH);
    fill(&s, h, &["a", "b"]);
    assert_eq!(text(&s, h, FIRST).unwrap(), "a");
    assert_eq!(text(&s, h, GET_UNDER | MQGMO_SYNCPOINT).unwrap(), "a");
    backout(&s);
    let again = next(&s, h, UNDER).unwrap();
    assert_eq!((again.text().as_str(), again.md.backout_count), ("a", 1));
    assert_eq!(text(&s, h, NEXT).unwrap(), "b");
}

/// What others take from under, before and behind the cursor, in every combination.
#[test]
fn the_cursor_survives_whatever_others_take() {
    let w = World::new();
    let names = ["a", "b", "c", "d", "e"];
    for taken in 0..32u32 {
        for at in 0..5 {
            let w_names: Vec<&str> = names.to_vec();
            let (s, other) = (w.connect(), w.connect());
            let h = open(&s, LOCAL, BOTH);
            let o = open(&other, LOCAL, BOTH);
            drain(&other, o);
            fill(&other, o, &w_names);
            for name in &names[..=at] {
                assert_eq!(text(&s, h, NEXT).unwrap(), *name);
            }
            let mut how = FIRST;
            for (n, name) in names.iter().enumerate() {
                assert_eq!(text(&other, o, how).unwrap(), *name);
                how = NEXT;
                if taken & (1 << n) != 0 {
                    text(&other, o, GET_UNDER).unwrap();
                }
            }
            let left = |n: &usize| taken & (1 << n) == 0;
            let expected: Vec<&str> = (at + 1..5).filter(left).map(|n| names[n]).collect();
            let mut seen = Vec::new();
            while let Ok(name) = text(&s, h, NEXT) {
                seen.push(name);
            }
            assert_eq!(seen, expected, "cursor at {at}, taken {taken:05b}");
        }
    }
}

#[test]
fn browsing_is_in_the_order_of_delivery() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, BOTH);
    for (text, priority) in [("low", 1), ("high", 9), ("middle", 5), ("high too", 9)] {
        send(&s, h, Md { priority, ..md(0) }, 0, text.as_bytes());
    }
    assert_eq!(browse(&s, h), ["high", "high too", "middle", "low"]);
    // What arrives in front of the cursor is not met any more.
    assert_eq!(text(&s, h, FIRST).unwrap(), "high");
    assert_eq!(text(&s, h, NEXT).unwrap(), "high too");
    assert_eq!(text(&s, h, NEXT).unwrap(), "middle");
    send(
        &s,
        h,
        Md {
            priority: 7,
            ..md(0)
        },
        0,
        b"late",
    );
    assert_eq!(text(&s, h, NEXT).unwrap(), "low");
    assert_eq!(drain(&s, h), ["high", "high too", "late", "middle", "low"]);
}

#[test]
fn a_browse_selects_and_waits() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_BROWSE);
    let p = open(&putter, LOCAL, IN_OUT);
    let by = Md {
        correl_id: [7; 24],
        ..md(0)
    };
    let how = Gmo {
        match_options: MQMO_MATCH_CORREL_ID,
        ..gmo(NEXT)
    };
    fill(&putter, p, &["other"]);
    let mut waiting = wait(&s, h, by.clone(), how.clone());
    fill(&putter, p, &["other"]);
    assert!(waiting.poll().is_none());
    send(&putter, p, by.clone(), 0, b"mine");
    assert_eq!(waiting.finish().unwrap().text(), "mine");
    assert_eq!(w.depth(LOCAL), 3);
    send(&putter, p, by.clone(), 0, b"mine too");
    assert_eq!(take(&s, h, by, how, 99).unwrap().text(), "mine too");
}

#[test]
fn browsing_a_deep_queue_does_not_begin_again_at_every_message() {
    let w = World::with(|c| c.q_buffer = 1 << 30);
    w.run("DEFINE QLOCAL(DEEP) MAXDEPTH(200000)");
    let s = w.connect();
    let h = open(&s, "DEEP", BOTH);
    let count = 20_000;
    let id = [7; 24];
    for n in 0..count {
        let correl_id = if n % 2 == 0 { id } else { [8; 24] };
        send(&s, h, Md { correl_id, ..md(0) }, 0, b"");
    }
    let steps = |queue: &str, run: &dyn Fn()| {
        let before = w.status(queue).steps;
        run();
        w.status(queue).steps - before
    };
    let all = steps("DEEP", &|| assert_eq!(browse(&s, h).len(), count));
    assert!(all < count as u64 * 10, "{all} steps for {count} messages");

    let by_id = steps("DEEP", &|| {
        let mut seen = 0;
        let mut how = FIRST;
        loop {
            let by = Md {
                correl_id: id,
                ..md(0)
            };
            let how = Gmo {
                match_options: MQMO_MATCH_CORREL_ID,
                ..gmo(std::mem::replace(&mut how, NEXT))
            };
            if take(&s, h, by, how, 0).is_err() {
                break;
            }
            seen += 1;
        }
        assert_eq!(seen, count / 2);
    });
    assert!(by_id < count as u64 * 10, "{by_id} steps");

    // An application that chooses: it skips half of the messages and takes the others.
    w.run("DEFINE QLOCAL(CHOICE) MAXDEPTH(200000)");
    let h = open(&s, "CHOICE", BOTH);
    for _ in 0..count {
        put(&s, h, 0, 0, b"");
    }
    let choosing = steps("CHOICE", &|| {
        let mut how = FIRST;
        let mut seen = 0;
        while next(&s, h, how).is_ok() {
            how = NEXT;
            seen += 1;
            if seen > count / 2 {
                next(&s, h, GET_UNDER).unwrap();
            }
        }
    });
    assert!(choosing < count as u64 * 20, "{choosing} steps");
    assert_eq!(w.depth("CHOICE"), count as u32 / 2);
}

fn unlock(s: &Session, h: Hobj) -> Reason {
    next(s, h, MQGMO_UNLOCK).unwrap().warning
}

#[test]
fn a_locked_message_is_out_of_everybody_elses_sight() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    let (h, same, o) = (
        open(&s, LOCAL, BOTH),
        open(&s, LOCAL, BOTH),
        open(&other, LOCAL, BOTH),
    );
    fill(&s, h, &["a", "b"]);
    assert_eq!(text(&s, h, FIRST | MQGMO_LOCK).unwrap(), "a");
    for (s, handle) in [(&s, same), (&other, o)] {
        assert_eq!(text(s, handle, FIRST).unwrap(), "b");
        assert_eq!(text(s, handle, GET_UNDER).unwrap(), "b");
        assert_eq!(text(s, handle, 0), Err(Reason::NO_MSG_AVAILABLE));
        assert_eq!(unlock(s, handle), Reason::NO_MSG_LOCKED);
        fill(s, handle, &["b"]);
    }
    assert_eq!(text(&s, h, UNDER | MQGMO_LOCK).unwrap(), "a");
    assert_eq!(unlock(&s, h), Reason::NONE);
    assert_eq!(unlock(&s, h), Reason::NO_MSG_LOCKED);
    assert_eq!(drain(&other, o), ["a", "b"]);
}

/// Messages stay in memory that should be filed, because no file can be opened. One that is unlocked, and that nobody
/// wants who waits, stays where it was: it is not left to be filed by nobody.
#[test]
fn a_message_that_is_unlocked_and_cannot_be_filed_stays_in_memory() {
    let w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, BOTH);
    w.stage.no_descriptors.store(true, SeqCst);
    let refused = (0..50).find_map(|_| try_put(&s, h, &mut md(PERSISTENT), 0, &[7; 1000]).err());
    assert_eq!(refused, Some(Reason::Q_SPACE_NOT_AVAILABLE));
    let asks = open(&other, LOCAL, MQOO_INPUT_SHARED);
    let never = Gmo {
        match_options: MQMO_MATCH_MSG_ID,
        ..gmo(0)
    };
    let own = Md {
        msg_id: [9; 24],
        ..md(0)
    };
    let waiter = wait(&other, asks, own, never);
    next(&s, h, FIRST | MQGMO_LOCK).unwrap();
    assert_eq!(unlock(&s, h), Reason::NONE);
    drop(waiter);
    assert_eq!(w.qm().check(), Ok(()));
    w.stage.no_descriptors.store(false, SeqCst);
    assert!(drain(&s, h).len() >= 14);
}

/// What releases a lock (MQI reference, MQGMO_LOCK), seen by somebody else.
#[test]
fn what_releases_a_lock_and_what_does_not() {
    type Step = fn(&Session, Hobj);
    let rows: [(&str, Step, &str); 11] = [
        ("nothing", |_, _| {}, "bc"),
        (
            "unlock",
            |s, h| assert_eq!(unlock(s, h), Reason::NONE),
            "abc",
        ),
        (
            "browse first",
            |s, h| drop(text(s, h, FIRST).unwrap()),
            "abc",
        ),
        ("browse next", |s, h| drop(text(s, h, NEXT).unwrap()), "abc"),
        (
            "browse next with lock",
            |s, h| drop(text(s, h, NEXT | MQGMO_LOCK).unwrap()),
            "ac",
        ),
        (
            "browse under cursor",
            |s, h| drop(text(s, h, UNDER).unwrap()),
            "abc",
        ),
        (
            "browse under cursor with lock",
            |s, h| drop(text(s, h, UNDER | MQGMO_LOCK).unwrap()),
            "bc",
        ),
        (
            "a browse that is cut",
            |s, h| {
                let cut = take(s, h, md(0), gmo(NEXT), 0).unwrap();
                assert_eq!(cut.warning, Reason::TRUNCATED_MSG_FAILED);
            },
            "bc",
        ),
        (
            "a browse that finds nothing",
            |s, h| {
                let by = Md {
                    msg_id: [9; 24],
                    ..md(0)
                };
                let how = Gmo {
                    match_options: MQMO_MATCH_MSG_ID,
                    ..gmo(NEXT)
                };
                assert!(take(s, h, by, how, 9).is_err());
            },
            "abc",
        ),
        (
            "a get of another message",
            |s, h| {
                text(s, h, FIRST | MQGMO_LOCK).unwrap();
                text(s, h, NEXT | MQGMO_LOCK).unwrap();
                assert_eq!(text(s, h, 0).unwrap(), "a");
            },
            "c",
        ),
        (
            "close",
            |s, h| assert_eq!(close(s, h, 0), Ok(Reason::NONE)),
            "abc",
        ),
    ];
    for (name, step, visible) in rows {
        let w = World::light();
        let (s, other) = (w.connect(), w.connect());
        let (h, o) = (open(&s, LOCAL, BOTH), open(&other, LOCAL, BOTH));
        fill(&s, h, &["a", "b", "c"]);
        assert_eq!(text(&s, h, FIRST | MQGMO_LOCK).unwrap(), "a");
        step(&s, h);
        assert_eq!(browse(&other, o).concat(), visible, "{name}");
    }
}

#[test]
fn a_lock_ends_with_the_connection() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    let (h, o) = (open(&s, LOCAL, BOTH), open(&other, LOCAL, BOTH));
    fill(&s, h, &["a"]);
    text(&s, h, FIRST | MQGMO_LOCK).unwrap();
    let waiting = wait(&other, o, md(0), gmo(0));
    drop(s);
    assert_eq!(waiting.finish().unwrap().text(), "a");
}

#[test]
fn a_message_that_is_unlocked_goes_to_who_waits_for_it() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    let (h, o) = (open(&s, LOCAL, BOTH), open(&other, LOCAL, BOTH));
    for by in [MQGMO_UNLOCK, FIRST, NEXT | MQGMO_LOCK] {
        fill(&s, h, &["a", "b"]);
        assert_eq!(text(&s, h, FIRST).unwrap(), "a");
        text(&s, h, GET_UNDER).unwrap();
        assert_eq!(text(&s, h, FIRST | MQGMO_LOCK).unwrap(), "b");
        let mut waiting = wait(&other, o, md(0), gmo(0));
        // Whether or not there is another message to browse, the lock goes.
        let _ = next(&s, h, by);
        assert_eq!(waiting.woken(), 1, "{by}");
        assert_eq!(waiting.poll().unwrap().unwrap().text(), "b");
        assert_eq!(w.depth(LOCAL), 0);
    }
}

/// The handle that has the lock gets the message itself; a waiter must not get it too.
#[test]
fn a_locked_message_is_got_once() {
    let w = World::new();
    for options in [0, MQGMO_SYNCPOINT] {
        let (s, other) = (w.connect(), w.connect());
        let (h, o) = (open(&s, LOCAL, BOTH), open(&other, LOCAL, BOTH));
        fill(&s, h, &["a"]);
        text(&s, h, FIRST | MQGMO_LOCK).unwrap();
        let mut waiting = wait(&other, o, md(0), gmo(0));
        assert_eq!(text(&s, h, GET_UNDER | options).unwrap(), "a");
        assert!(waiting.poll().is_none());
        assert_eq!(unlock(&s, h), Reason::NO_MSG_LOCKED);
        if options != 0 {
            // Backed out, it is not locked any more.
            backout(&s);
            let got = waiting.finish().unwrap();
            assert_eq!((got.text().as_str(), got.md.backout_count), ("a", 1));
        }
        assert_eq!(w.depth(LOCAL), 0);
    }
}

/// A cursor may stand at a message until it expires: then there is no message under it.
#[test]
fn an_expired_message_is_not_under_the_cursor() {
    let w = World::new();
    w.run("DEFINE QLOCAL(LATER)");
    let browse_under = MQGMO_BROWSE_MSG_UNDER_CURSOR;
    let mut cursors = Vec::new();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for under in [GET_UNDER, GET_UNDER | MQGMO_SYNCPOINT, browse_under] {
            let name = format!("Q{}", cursors.len());
            w.run(&format!("DEFINE QLOCAL({name})"));
            let s = w.connect();
            let h = open(&s, &name, BOTH | MQOO_OUTPUT);
            send(
                &s,
                h,
                Md {
                    expiry: 1,
                    ..md(persistence)
                },
                0,
                b"short",
            );
            assert_eq!(text(&s, h, FIRST).unwrap(), "short");
            cursors.push((name, s, h, under));
        }
    }
    // When this one has expired, so have the others.
    let s = w.connect();
    let later = open(&s, "LATER", BOTH | MQOO_OUTPUT);
    send(&s, later, Md { expiry: 1, ..md(0) }, 0, b"later");
    until("expiry", || browse(&s, later).is_empty());
    for (name, s, h, under) in &cursors {
        let got = text(s, *h, *under);
        assert_eq!(got, Err(Reason::NO_MSG_UNDER_CURSOR), "{name} {under}");
        assert_eq!(w.depth(name), 0);
    }
}
