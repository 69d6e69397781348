//! Restart meets log records that are older than what its image holds: definitions that were made, deleted and made
//! again before the checkpoint, in every kind that shares a name.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_engine::Session;
use posthaste_mqi::Name;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// Puts persistent messages elsewhere until one more checkpoint is due, and waits for it: what is put while it is
/// being taken would bring the next one nearer.
fn until_one_checkpoint(w: &World) {
    let s = w.connect();
    let h = open(&s, "FILL", IN_OUT);
    let before = w.image();
    let data = vec![b'.'; 20_000];
    // Due after a quarter of the primary extents (`maintain.rs`).
    let quarter = w.qm().status().log.primary_bytes / 4;
    for _ in 0..=quarter / data.len() as u64 {
        put(&s, h, PERSISTENT, 0, &data);
        next(&s, h, 0).unwrap();
        if w.image() > before {
            break;
        }
    }
    until("a checkpoint", || w.image() > before);
    assert_eq!(
        w.image(),
        before + 1,
        "one checkpoint is what this is about"
    );
}

fn filled() -> World {
    // Checkpoints far enough apart that the second does not come before the first is noticed.
    let w = World::with(|c| c.log_config.file_pages = 1024);
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    w
}

fn put_five(s: &Session, name: &str) -> Vec<String> {
    let h = open(s, name, MQOO_OUTPUT);
    let texts: Vec<String> = (0..5).map(|n| format!("message {n}")).collect();
    for text in &texts {
        put(s, h, PERSISTENT, 0, text.as_bytes());
    }
    texts
}

/// What is on a queue, without taking it off.
fn seen(w: &World, name: &str) -> Vec<String> {
    let s = w.connect();
    let h = open(&s, name, MQOO_BROWSE);
    browse(&s, h)
}

/// A crash, one that comes before the restart has taken a checkpoint, and one after it has.
fn crashes(w: &mut World, check: impl Fn(&World)) {
    w.crash();
    check(w);
    w.crash();
    check(w);
    until_one_checkpoint(w);
    until_one_checkpoint(w);
    w.crash();
    check(w);
}

#[test]
fn a_queue_defined_again_keeps_its_messages() {
    let mut w = filled();
    w.run("DEFINE QLOCAL(A)\nDELETE QLOCAL(A)\nDEFINE QLOCAL(A) DESCR('new')");
    let texts = put_five(&w.connect(), "A");
    until_one_checkpoint(&w);
    crashes(&mut w, |w| {
        assert_eq!(seen(w, "A"), texts);
        let shown = format!("{:?}", w.mqsc("DISPLAY QLOCAL(A) DESCR"));
        assert!(shown.contains("new"), "{shown}");
    });
}

#[test]
fn messages_of_the_queue_that_was_deleted_stay_away() {
    let mut w = filled();
    w.run("DEFINE QLOCAL(A)");
    put_five(&w.connect(), "A");
    w.run("DELETE QLOCAL(A) PURGE\nDEFINE QLOCAL(A)");
    let s = w.connect();
    let h = open(&s, "A", MQOO_OUTPUT);
    put(&s, h, PERSISTENT, 0, b"second life");
    drop(s);
    until_one_checkpoint(&w);
    crashes(&mut w, |w| assert_eq!(seen(w, "A"), ["second life"]));
}

#[test]
fn what_an_alias_left_behind_does_not_take_a_local_queue_away() {
    let mut w = filled();
    w.run("DEFINE QALIAS(A) TARGET(FILL)\nDELETE QALIAS(A)\nDEFINE QLOCAL(A)");
    let texts = put_five(&w.connect(), "A");
    until_one_checkpoint(&w);
    crashes(&mut w, |w| assert_eq!(seen(w, "A"), texts));
}

#[test]
fn what_a_local_queue_left_behind_does_not_take_an_alias_away() {
    let mut w = filled();
    w.run("DEFINE QLOCAL(B)\nDEFINE QLOCAL(A)\nDELETE QLOCAL(A)\nDEFINE QALIAS(A) TARGET(B)");
    w.run("DEFINE QALIAS(C) TARGET(FILL)\nDELETE QALIAS(C)\nDEFINE QREMOTE(C) RNAME(X) RQMNAME(Y)");
    let texts = put_five(&w.connect(), "A");
    until_one_checkpoint(&w);
    crashes(&mut w, |w| {
        assert_eq!(seen(w, "B"), texts);
        assert!(w.mqsc("DISPLAY QALIAS(A)").ok);
        assert!(w.mqsc("DISPLAY QREMOTE(C)").ok);
    });
}

#[test]
fn a_permanent_dynamic_queue_made_again_keeps_its_messages() {
    let mut w = filled();
    w.run("DEFINE QMODEL(M) DEFTYPE(PERMDYN) DEFPSIST(YES)");
    let make = |s: &Session| {
        let mut od = object("M");
        od.dynamic_q_name = Name::new("D");
        open_od(s, &mut od, IN_OUT).unwrap()
    };
    let s = w.connect();
    let first = make(&s);
    put(&s, first, PERSISTENT, 0, b"first life");
    assert_eq!(close(&s, first, MQCO_DELETE_PURGE), Ok(Reason::NONE));
    let second = make(&s);
    put(&s, second, PERSISTENT, 0, b"second life");
    drop(s);
    until_one_checkpoint(&w);
    crashes(&mut w, |w| assert_eq!(seen(w, "D"), ["second life"]));
}

#[test]
fn what_was_deleted_before_the_checkpoint_does_not_come_back() {
    let mut w = filled();
    w.run("DEFINE QLOCAL(A)");
    put_five(&w.connect(), "A");
    w.run("DELETE QLOCAL(A) PURGE\nDEFINE QALIAS(B) TARGET(A)\nDELETE QALIAS(B)");
    until_one_checkpoint(&w);
    crashes(&mut w, |w| {
        for name in ["A", "B"] {
            let s = w.connect();
            let opened = try_open(&s, name, MQOO_BROWSE);
            assert_eq!(opened, Err(Reason::UNKNOWN_OBJECT_NAME), "{name}");
        }
    });
}

#[test]
fn attributes_are_those_of_the_last_change() {
    let mut w = filled();
    w.run("DEFINE QLOCAL(A) DESCR('one')\nALTER QLOCAL(A) DESCR('two')\nALTER QMGR DESCR('two')");
    until_one_checkpoint(&w);
    w.run("ALTER QLOCAL(A) DESCR('three')\nALTER QMGR DESCR('three')");
    crashes(&mut w, |w| {
        for of in ["QLOCAL(A)", "QMGR"] {
            let shown = format!("{:?}", w.mqsc(&format!("DISPLAY {of} DESCR")));
            assert!(shown.contains("three"), "{shown}");
        }
    });
}
