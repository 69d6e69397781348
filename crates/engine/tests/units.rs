//! Units of work: what is visible when, backing out, and what a crash leaves.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::{EndMode, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use world::*;

const SYNC: i32 = MQGMO_SYNCPOINT;
const IF_PERSISTENT: i32 = MQGMO_SYNCPOINT_IF_PERSISTENT;

fn texts(s: &Session, h: Hobj, options: i32) -> Vec<String> {
    let mut out = Vec::new();
    while let Ok(taken) = next(s, h, options) {
        out.push(taken.text());
    }
    out
}

/// Both kinds of message, in and out of syncpoint, put and got, ended in every way.
#[test]
fn what_is_visible_when() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let w = World::new();
        let (s, other) = (w.connect(), w.connect());
        let (h, o) = (open(&s, LOCAL, IN_OUT), open(&other, LOCAL, IN_OUT));
        put(&s, h, persistence, MQPMO_SYNCPOINT, b"in");
        put(&s, h, persistence, MQPMO_NO_SYNCPOINT, b"out");
        put(&s, h, persistence, 0, b"default");
        assert_eq!(w.depth(LOCAL), 3, "an uncommitted put counts");
        assert!(w.status(LOCAL).uncommitted);
        assert_eq!(texts(&other, o, SYNC), ["out", "default"]);
        backout(&other);
        commit(&s);
        assert!(!w.status(LOCAL).uncommitted);
        assert_eq!(texts(&other, o, SYNC), ["in", "out", "default"]);
        assert_eq!(w.depth(LOCAL), 0, "an uncommitted get does not count");
        assert!(w.status(LOCAL).uncommitted);
        backout(&other);
        assert_eq!(texts(&other, o, SYNC), ["in", "out", "default"]);
        commit(&other);
        backout(&other);
        assert!(texts(&other, o, SYNC).is_empty());
        put(&s, h, persistence, MQPMO_SYNCPOINT, b"never");
        backout(&s);
        assert_eq!(w.depth(LOCAL), 0);
        assert!(texts(&other, o, 0).is_empty());
    }
}

#[test]
fn a_unit_of_work_does_not_see_its_own_puts() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    put(&s, h, 0, MQPMO_SYNCPOINT, b"later");
    for options in [0, SYNC, MQGMO_BROWSE_FIRST] {
        let reason = next(&s, h, options).unwrap_err();
        assert_eq!(reason, Reason::NO_MSG_AVAILABLE);
    }
    commit(&s);
    assert_eq!(drain(&s, h), ["later"]);
}

#[test]
fn syncpoint_if_persistent_depends_on_the_message() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, NOT_PERSISTENT, 0, b"np");
    put(&s, h, PERSISTENT, 0, b"p");
    assert_eq!(texts(&s, h, IF_PERSISTENT), ["np", "p"]);
    backout(&s);
    let back = next(&s, h, 0).unwrap();
    assert_eq!((back.text().as_str(), back.md.backout_count), ("p", 1));
    assert_eq!(w.depth(LOCAL), 0);
    // Handed over to a waiter, the same.
    for (persistence, comes_back) in [(NOT_PERSISTENT, 0), (PERSISTENT, 1)] {
        let getter = w.connect();
        let g = open(&getter, LOCAL, MQOO_INPUT_SHARED);
        let waiting = wait(&getter, g, md(0), gmo(IF_PERSISTENT));
        put(&s, h, persistence, 0, b"x");
        waiting.finish().unwrap();
        backout(&getter);
        assert_eq!(w.depth(LOCAL), comes_back);
        drain(&s, h);
    }
}

#[test]
fn the_backout_count_grows_with_every_backout() {
    let mut w = World::new();
    w.run("DEFINE QLOCAL(SOFT) NOHARDENBO");
    for queue in [LOCAL, "SOFT"] {
        let s = w.connect();
        let h = open(&s, queue, IN_OUT | MQOO_BROWSE);
        put(&s, h, PERSISTENT, 0, b"p");
        put(&s, h, NOT_PERSISTENT, 0, b"np");
        for count in 0..5 {
            for name in ["p", "np"] {
                let got = next(&s, h, SYNC).unwrap();
                let expected = (name.to_owned(), count);
                assert_eq!((got.text(), got.md.backout_count), expected, "{queue}");
            }
            backout(&s);
            let seen = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
            assert_eq!(seen.md.backout_count, count + 1);
        }
    }
    // A get that the crash undid counts too; the counts from before are there, at least where they
    // are hardened.
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(next(&s, h, SYNC).unwrap().md.backout_count, 5);
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let got = next(&s, h, SYNC).unwrap();
    assert_eq!((got.text().as_str(), got.md.backout_count), ("p", 6));
    drop(s);
    w.restart();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let got = next(&s, h, 0).unwrap();
    assert_eq!((got.text().as_str(), got.md.backout_count), ("p", 7));
}

#[test]
fn backed_out_messages_come_back_to_their_places() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for (n, priority) in [(0, 4), (1, 9), (2, 4), (3, 0), (4, 9)] {
        let own = posthaste_mqi::Md { priority, ..md(0) };
        send(&s, h, own, 0, n.to_string().as_bytes());
    }
    let order = ["1", "4", "0", "2", "3"];
    for got in 0..=5 {
        for n in order.iter().take(got) {
            assert_eq!(next(&s, h, SYNC).unwrap().text(), *n);
        }
        backout(&s);
        assert_eq!(browse(&s, h), order);
    }
}

#[test]
fn maxumsgs_counts_puts_and_gets() {
    let w = World::new();
    w.run("ALTER QMGR MAXUMSGS(3)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for _ in 0..3 {
        put(&s, h, PERSISTENT, 0, b"x");
    }
    put(&s, h, 0, MQPMO_SYNCPOINT, b"1");
    next(&s, h, SYNC).unwrap();
    next(&s, h, IF_PERSISTENT).unwrap();
    let limit = Reason::SYNCPOINT_LIMIT_REACHED;
    let refused = try_put(&s, h, &mut md(0), MQPMO_SYNCPOINT, b"");
    assert_eq!(refused, Err(limit));
    for options in [SYNC, IF_PERSISTENT] {
        assert_eq!(next(&s, h, options).unwrap_err(), limit);
    }
    // Outside the unit of work everything goes on, and nothing was lost.
    put(&s, h, 0, 0, b"outside");
    assert_eq!(drain(&s, h), ["x", "outside"]);
    commit(&s);
    assert_eq!(drain(&s, h), ["1"]);
    // A non-persistent message got with SYNCPOINT_IF_PERSISTENT is in no unit of work.
    for _ in 0..3 {
        put(&s, h, 0, MQPMO_SYNCPOINT, b"");
    }
    put(&s, h, 0, 0, b"free");
    assert_eq!(next(&s, h, IF_PERSISTENT).unwrap().text(), "free");
}

/// How a connection ends with an open unit of work, and what is left then.
#[test]
fn every_end_of_a_connection_decides_its_unit_of_work() {
    type End = fn(&mut World, Session);
    let ends: [(&str, End, &[&str]); 6] = [
        (
            "disconnect",
            |_, s| assert_eq!(block_on(s.disconnect()).unwrap().warning, Reason::NONE),
            &["put"],
        ),
        ("terminate", |_, s| block_on(s.terminate()), &["got"]),
        ("drop", |_, s| drop(s), &["got"]),
        (
            "crash",
            |w, s| {
                drop(s);
                w.crash();
            },
            &["got"],
        ),
        ("immediate end", |w, _s| w.restart(), &["got"]),
        (
            "preemptive end",
            |w, _s| {
                w.end(EndMode::Preemptive);
                w.start();
            },
            &["got"],
        ),
    ];
    for (name, end, left) in ends {
        let mut w = World::new();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        put(&s, h, PERSISTENT, 0, b"got");
        next(&s, h, SYNC).unwrap();
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"put");
        end(&mut w, s);
        // A connection that is just dropped is cleaned up by maintenance.
        until(name, || !w.status(LOCAL).uncommitted);
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        assert_eq!(drain(&s, h), left, "{name}");
    }
}

#[test]
fn an_application_that_was_broken_off_is_told_so_at_every_call() {
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        let mut w = World::new();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"never");
        w.end(how);
        for _ in 0..2 {
            let broken = Reason::CONNECTION_BROKEN;
            assert_eq!(try_put(&s, h, &mut md(0), 0, b""), Err(broken));
            assert_eq!(next(&s, h, 0).unwrap_err(), broken);
            assert_eq!(block_on(s.commit()), Err(broken));
            assert_eq!(block_on(s.disconnect()), Err(broken));
        }
        assert!(
            s.queue_manager().stopped().is_none(),
            "{how:?} is no failure"
        );
        w.start();
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn a_committed_unit_of_work_survives_whole() {
    let mut w = World::new();
    w.run("DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)");
    for n in 0..20 {
        let s = w.connect();
        let (a, b) = (open(&s, "A", IN_OUT), open(&s, "B", IN_OUT));
        if n > 0 {
            // One message of each goes, one of each comes.
            next(&s, a, SYNC).unwrap();
            next(&s, b, SYNC).unwrap();
        }
        put(&s, a, PERSISTENT, MQPMO_SYNCPOINT, n.to_string().as_bytes());
        put(&s, b, PERSISTENT, MQPMO_SYNCPOINT, n.to_string().as_bytes());
        if n % 3 == 2 {
            backout(&s);
        } else {
            commit(&s);
        }
        drop(s);
        w.crash();
        let s = w.connect();
        for queue in ["A", "B"] {
            let h = open(&s, queue, MQOO_BROWSE);
            let expected = if n % 3 == 2 { n - 1 } else { n };
            assert_eq!(browse(&s, h), [expected.to_string()], "{queue} {n}");
        }
    }
}

#[test]
fn commit_and_backout_of_nothing_do_nothing() {
    let w = World::new();
    let s = w.connect();
    let before = w.qm().log().appended();
    for _ in 0..3 {
        commit(&s);
        backout(&s);
    }
    assert_eq!(w.qm().log().appended(), before);
}

/// A unit of work without persistent messages leaves nothing in the log.
#[test]
fn non_persistent_messages_are_not_logged() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let before = w.qm().log().appended();
    for options in [0, MQPMO_SYNCPOINT] {
        put(&s, h, NOT_PERSISTENT, options, b"x");
        commit(&s);
        next(&s, h, options).unwrap();
        commit(&s);
    }
    assert_eq!(w.qm().log().appended(), before);
}

fn failures(s: &Session) -> (i32, i32) {
    let sts = block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR, 1)).unwrap();
    (sts.put_failure_count, sts.reason)
}

/// The application is not told of a put that fails, so it is told at its commit, whoever it came by.
#[test]
fn a_unit_of_work_that_misses_an_asynchronous_put_is_not_committed() {
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    let mut w = World::new();
    w.run("DEFINE QLOCAL(SHORT) MAXDEPTH(1)");
    let s = w.connect();
    let h = open(&s, "SHORT", IN_OUT);
    for persistence in [PERSISTENT, NOT_PERSISTENT] {
        let lost = |one: bool| {
            put(&s, h, persistence, asynchronous, b"there");
            let (mut od, mut md, mut pmo) = (object("SHORT"), md(persistence), pmo(asynchronous));
            let refused = match one {
                true => block_on(s.put1(&mut od, &mut md, &mut pmo, "".into())).map(drop),
                false => try_put(&s, h, &mut md, asynchronous, b"missing").map(drop),
            };
            assert_eq!(refused.unwrap_err(), Reason::Q_FULL);
            assert_eq!(failures(&s), (1, Reason::Q_FULL.0));
        };
        for one in [false, true] {
            lost(one);
            let left = if persistence == PERSISTENT {
                assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT));
                0
            } else {
                commit(&s);
                1
            };
            assert_eq!(drain(&s, h).len(), left, "{persistence} {one}");
        }
    }
    // The first thing of a unit of work that is doomed, and one that its application backs out itself.
    for options in [0, asynchronous] {
        put(&s, h, PERSISTENT, 0, b"full");
        let refused = try_put(&s, h, &mut md(PERSISTENT), asynchronous, b"").unwrap_err();
        assert_eq!(refused, Reason::Q_FULL);
        assert_eq!(drain(&s, h), ["full"]);
        put(&s, h, PERSISTENT, options, b"with it");
        if options == 0 {
            assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT));
            assert_eq!(drain(&s, h), ["with it"]);
        } else {
            backout(&s);
            commit(&s);
            assert!(drain(&s, h).is_empty());
        }
    }
    // What never became a call.
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"never");
    s.put_refused(asynchronous, Reason::MD_ERROR);
    assert_eq!(
        block_on(s.disconnect()).unwrap().warning,
        Reason::BACKED_OUT
    );
    w.crash();
    assert_eq!(w.depth("SHORT"), 0);
}
