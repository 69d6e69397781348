//! Branches of global transactions: what is prepared stays in hand, over connections, restarts and checkpoints, until
//! somebody decides about it.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::mem::ManuallyDrop;

use posthaste_engine::{BranchError, Outcome, Session, Vote, Xid};
use posthaste_env::block_on;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

const SYNC: i32 = MQGMO_SYNCPOINT;
const BOTH: [Outcome; 2] = [Outcome::Committed, Outcome::BackedOut];

fn xid(n: u8) -> Xid {
    Xid::new(1, &[n; 64], &[n]).unwrap()
}

fn prepare(s: &Session, xid: &Xid) {
    assert_eq!(block_on(s.prepare(xid)), Ok(Vote::Prepared));
}

fn resolve(w: &World, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
    block_on(w.connect().resolve(xid, outcome))
}

/// A small log, and a queue to fill it by.
fn small() -> World {
    let w = World::with(|c| {
        c.log_config.file_pages = 64;
        c.log_config.primary_files = 3;
        c.log_config.secondary_files = 1;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    w
}

/// Writes the log until so many checkpoints have been taken.
fn checkpoints(w: &World, count: u64) {
    let s = w.connect();
    let h = open(&s, "FILL", IN_OUT);
    let wanted = w.image() + count;
    until("checkpoints", || {
        put(&s, h, PERSISTENT, 0, &[7; 20_000]);
        next(&s, h, 0).unwrap();
        w.image() >= wanted
    });
}

/// A message that is there, one that was got and one that was put in a branch which is prepared.
fn one_branch(w: &World, xid: &Xid) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for text in [b"got", b"now"] {
        put(&s, h, PERSISTENT, 0, text);
    }
    assert_eq!(next(&s, h, SYNC).unwrap().text(), "got");
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"put");
    prepare(&s, xid);
}

/// What a branch has in hand is nobody's.
fn is_in_hand(w: &World, xid: &Xid) {
    let s = w.connect();
    assert_eq!(s.recover().unwrap(), std::slice::from_ref(xid));
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    assert_eq!(browse(&s, h), ["now"]);
    assert_eq!(w.depth(LOCAL), 2, "an uncommitted put counts");
    assert!(w.status(LOCAL).uncommitted);
    let refused = w.mqsc(&format!("CLEAR QLOCAL({LOCAL})"));
    assert!(!refused.ok);
    drop((s, h));
    let told = format!("{:?}", w.mqsc(&format!("CLEAR QLOCAL({LOCAL})")));
    assert!(
        told.contains("one uncommitted put, one uncommitted get"),
        "{told}"
    );
    assert!(told.contains(&xid.to_string()), "{told}");
    w.qm().check().unwrap();
}

/// All of it has happened, or none.
fn has_ended(w: &World, outcome: Outcome) {
    assert!(w.qm().in_doubt().is_empty());
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    if outcome == Outcome::BackedOut {
        let back = next(&s, h, 0).unwrap();
        assert_eq!((back.text().as_str(), back.md.backout_count), ("got", 1));
    }
    assert_eq!(next(&s, h, 0).unwrap().text(), "now");
    if outcome == Outcome::Committed {
        assert_eq!(next(&s, h, 0).unwrap().text(), "put");
    }
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    assert!(!w.status(LOCAL).uncommitted);
    w.qm().check().unwrap();
}

/// Everything that may come between a prepare and what is decided, and between that and the proof.
const TURNS: [fn(&mut World); 6] = [
    |_| {},
    World::crash,
    World::restart,
    |w| {
        w.crash();
        w.crash();
    },
    |w| {
        checkpoints(w, 3);
        w.crash();
    },
    |w| {
        checkpoints(w, 1);
        w.crash();
        checkpoints(w, 3);
        w.restart();
        w.crash();
    },
];

#[test]
fn what_is_prepared_stays_in_hand_until_somebody_decides() {
    for (n, before) in TURNS.iter().enumerate() {
        for outcome in BOTH {
            let mut w = small();
            let id = xid(n as u8);
            one_branch(&w, &id);
            is_in_hand(&w, &id);
            before(&mut w);
            is_in_hand(&w, &id);
            resolve(&w, &id, outcome).unwrap();
            assert_eq!(resolve(&w, &id, outcome), Err(BranchError::Unknown));
            TURNS[(n + 1) % TURNS.len()](&mut w);
            has_ended(&w, outcome);
        }
    }
}

/// What was decided at the last moment before a crash, with an image in force from when it was not.
#[test]
fn what_was_decided_behind_an_image_that_carries_the_branch_holds() {
    for outcome in BOTH {
        let mut w = small();
        one_branch(&w, &xid(1));
        checkpoints(&w, 3);
        resolve(&w, &xid(1), outcome).unwrap();
        w.crash();
        checkpoints(&w, 1);
        w.crash();
        has_ended(&w, outcome);
    }
}

#[test]
fn the_log_moves_past_a_branch_in_doubt() {
    let w = small();
    one_branch(&w, &xid(1));
    let begun = w.qm().log().appended();
    // Several times around.
    checkpoints(&w, 30);
    let usage = w.qm().log().usage();
    assert!(usage.restart > begun, "{usage:?}");
    assert_eq!(w.heard("AMQ7469W"), 0);
    assert_eq!(w.heard("AMQ2062W"), 0);
    is_in_hand(&w, &xid(1));
}

#[test]
fn a_heuristic_decision_is_remembered_until_it_is_forgotten() {
    for outcome in BOTH {
        for turn in TURNS {
            let mut w = small();
            one_branch(&w, &xid(1));
            assert_eq!(
                block_on(w.connect().forget(&xid(1))),
                Err(BranchError::Protocol)
            );
            block_on(w.qm().decide(&xid(1), outcome)).unwrap();
            turn(&mut w);
            let known = w.qm().in_doubt();
            assert_eq!(known.len(), 1);
            assert_eq!(
                (&known[0].xid, known[0].heuristic),
                (&xid(1), Some(outcome))
            );
            assert!(known[0].started > 0);
            for wanted in BOTH {
                let told = resolve(&w, &xid(1), wanted);
                assert_eq!(told, Err(BranchError::Heuristic(outcome)));
            }
            block_on(w.connect().forget(&xid(1))).unwrap();
            turn(&mut w);
            has_ended(&w, outcome);
        }
    }
}

#[test]
fn a_prepare_that_comes_to_nothing() {
    let w = World::new();
    w.run("DEFINE QLOCAL(SHORT) MAXDEPTH(1)");
    let (one, other) = (w.connect(), w.connect());
    assert_eq!(block_on(one.prepare(&xid(1))), Ok(Vote::ReadOnly));
    let [h, o] = [&one, &other].map(|s| open(s, LOCAL, IN_OUT));
    put(&one, h, PERSISTENT, MQPMO_SYNCPOINT, b"one");
    prepare(&one, &xid(1));
    // The unit of work goes on where its identifier was taken.
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"other");
    assert_eq!(
        block_on(other.prepare(&xid(1))),
        Err(BranchError::Duplicate)
    );
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"more");
    commit(&other);
    // The connection that prepared has nothing in hand any more.
    commit(&one);
    assert_eq!(drain(&other, o), ["other", "more"]);
    // One that lacks a message is not prepared.
    let short = open(&one, "SHORT", IN_OUT);
    let ahead = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    put(&one, short, PERSISTENT, ahead, b"there");
    try_put(&one, short, &mut md(PERSISTENT), ahead, b"missing").unwrap_err();
    assert_eq!(block_on(one.prepare(&xid(2))), Err(BranchError::RolledBack));
    assert_eq!(w.depth("SHORT"), 0);
    assert_eq!(one.recover().unwrap(), [xid(1)]);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    assert_eq!(drain(&other, o), ["one"]);
    assert_eq!(block_on(one.forget(&xid(1))), Err(BranchError::Unknown));
    w.qm().check().unwrap();
}

/// A branch of messages that a crash takes is in doubt after it all the same, and has nothing to do.
#[test]
fn a_branch_without_persistent_messages_is_recovered() {
    let mut w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"x");
    prepare(&s, &xid(3));
    drop(s);
    w.crash();
    assert_eq!(w.connect().recover().unwrap(), [xid(3)]);
    resolve(&w, &xid(3), Outcome::Committed).unwrap();
    assert_eq!(w.depth(LOCAL), 0);
}

/// More than a queue's buffer holds is filed before it is committed: images carry it from there.
#[test]
fn a_branch_whose_messages_are_in_the_queue_file_is_carried() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 256;
        c.pq_buffer = 64 << 10;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let texts: Vec<String> = (0..40)
        .map(|n| format!("{n}{}", "-".repeat(8000)))
        .collect();
    for text in &texts {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text.as_bytes());
    }
    prepare(&s, &xid(4));
    drop(s);
    checkpoints(&w, 3);
    w.crash();
    checkpoints(&w, 3);
    w.crash();
    resolve(&w, &xid(4), Outcome::Committed).unwrap();
    checkpoints(&w, 3);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), texts);
}

/// Whoever decides may go away before it is answered: it is done once.
#[test]
fn calls_that_are_dropped_are_seen_through() {
    for outcome in BOTH {
        let mut w = World::new();
        one_branch(&w, &xid(5));
        let s = w.connect();
        let decided = Call::attempt(async { s.resolve(&xid(5), outcome).await });
        drop((decided, s));
        until("the decision", || w.qm().in_doubt().is_empty());
        w.crash();
        has_ended(&w, outcome);
    }
}

/// On a queue whose messages a controlled end keeps, a branch keeps those it has in hand as well.
#[test]
fn a_controlled_end_keeps_what_a_branch_has_of_a_queue_that_keeps_all() {
    for crashed in [false, true] {
        let mut w = World::new();
        w.run("DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)");
        let s = w.connect();
        let h = open(&s, "HIGH", IN_OUT);
        put(&s, h, NOT_PERSISTENT, 0, b"got");
        assert_eq!(next(&s, h, SYNC).unwrap().text(), "got");
        put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"put");
        prepare(&s, &xid(6));
        drop(s);
        w.restart();
        if crashed {
            w.crash();
        }
        resolve(&w, &xid(6), Outcome::Committed).unwrap();
        let s = w.connect();
        let h = open(&s, "HIGH", IN_OUT);
        let expected: &[&str] = if crashed { &[] } else { &["put"] };
        assert_eq!(drain(&s, h), expected, "{crashed}");
        w.qm().check().unwrap();
    }
}

/// A temporary queue goes with its application while a branch has messages on it, filed and not: they are gone, and
/// nothing else is.
#[test]
fn what_a_branch_has_put_on_a_queue_that_is_gone_does_not_hinder_an_end() {
    let mut w = World::with(|c| c.q_buffer = 64 << 10);
    w.run(
        "DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN) NPMCLASS(HIGH) DEFSOPT(SHARED) SHARE
         DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)",
    );
    let s = w.connect();
    let high = open(&s, "HIGH", IN_OUT);
    put(&s, high, NOT_PERSISTENT, 0, b"kept");
    let h = open_od(&s, &mut object("TEMP"), IN_OUT).unwrap();
    for _ in 0..20 {
        put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, &[1; 10_000]);
    }
    prepare(&s, &xid(1));
    drop(s);
    w.restart();
    assert_eq!(w.depth("HIGH"), 1);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    assert_eq!(w.heard("AMQ2004S"), 0);
}

/// While a checkpoint reads the messages of a branch, an operator decides about it, and others take their places.
#[test]
fn a_branch_that_is_decided_while_it_is_carried_stops_nothing() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 256;
        c.pq_buffer = 64 << 10;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)\nDEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for n in 0..40 {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, &[n; 8000]);
    }
    prepare(&s, &xid(4));
    let qm = w.qm().clone();
    let (done, decided) = std::sync::mpsc::channel();
    *w.stage.on_queue_read.lock() = Some(Box::new(move || {
        block_on(qm.decide(&xid(4), Outcome::BackedOut)).unwrap();
        for n in 0..40 {
            put(&s, h, PERSISTENT, 0, &[n; 8000]);
        }
        done.send(()).unwrap();
    }));
    checkpoints(&w, 3);
    decided.try_recv().unwrap();
    w.crash();
    assert_eq!(w.depth("Q"), 40);
    let heuristic: Vec<_> = w.qm().in_doubt().iter().map(|b| b.heuristic).collect();
    assert_eq!(heuristic, [Some(Outcome::BackedOut)]);
}

/// The record that resolves a branch is durable, but what follows from it has not happened when checkpoints are taken
/// and the process dies.
#[test]
fn what_resolves_a_branch_stays_in_the_log_until_it_has_happened() {
    for way in 0..4 {
        let mut w = World::with(|c| {
            c.log_config.writes.plain = true;
            c.log_config.file_pages = 128;
        });
        w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)\nDEFINE QLOCAL(Q)");
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        prepare(&s, &xid(1));
        if way == 3 {
            block_on(w.qm().decide(&xid(1), Outcome::Committed)).unwrap();
        }
        checkpoints(&w, 2);
        w.stage.pause();
        let (other, qm) = (w.connect(), w.qm().clone());
        // Never polled again, and never dropped: its process dies.
        let _call = ManuallyDrop::new(match way {
            0 => Call::begin(async move { other.resolve(&xid(1), Outcome::Committed).await }),
            1 => Call::begin(async move { other.resolve(&xid(1), Outcome::BackedOut).await }),
            2 => Call::begin(async move { qm.decide(&xid(1), Outcome::Committed).await }),
            _ => Call::begin(async move { other.forget(&xid(1)).await }),
        });
        w.stage.resume();
        checkpoints(&w, 2);
        w.kill();
        w.start();
        let left: Vec<_> = w.qm().in_doubt().iter().map(|b| b.heuristic).collect();
        let (heuristic, depth) = match way {
            0 => (vec![], 1),
            1 => (vec![], 0),
            2 => (vec![Some(Outcome::Committed)], 1),
            _ => (vec![], 1),
        };
        assert_eq!((left, w.depth("Q")), (heuristic, depth), "{way}");
    }
}
