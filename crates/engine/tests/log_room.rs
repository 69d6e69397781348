//! Calls that find the log full wait until maintenance has made room, whatever they are, and whatever becomes of their
//! connection meanwhile.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use parking_lot::MutexGuard;
use posthaste_engine::{CreateOptions, Delivery, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason, Sd};
use world::*;

/// Whose log is filled by some tens of long messages.
fn small() -> World {
    World::with(|c| {
        c.log_config.file_pages = 64;
        (c.log_config.primary_files, c.log_config.secondary_files) = (3, 1);
    })
}

/// Fills the log to the last page that puts may have, by a unit of work of the connection that it gives. As long as the
/// second thing that it gives is kept, no checkpoint is finished, so that there is no room.
fn fill(w: &World) -> (Session, MutexGuard<'_, ()>) {
    static LONG: [u8; 20_000] = [7; 20_000];
    let full = w.stage.images.lock();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    let put = |data| putting(s.clone(), h, md(PERSISTENT), MQPMO_SYNCPOINT, data);
    for data in [&LONG[..], b"short"] {
        // A call may wait for a log file that is being made, too.
        until("a full log", || {
            while Call::attempt(put(data)).is_some() {}
            w.qm().log().usage().ordinary_left < 4096 + 2 * data.len() as u64
        });
    }
    (s, full)
}

#[test]
fn mqset_waits_for_room_in_a_full_log() {
    let mut w = small();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_SET | MQOO_INQUIRE);
    let (filler, full) = fill(&w);
    let setting = s.clone();
    let set = Call::begin(async move {
        let inhibited = [MQQA_PUT_INHIBITED];
        setting.set(h, &[MQIA_INHIBIT_PUT], &inhibited, &[]).await
    });
    drop(full);
    set.finish().unwrap();
    drop((s, filler));
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INQUIRE);
    let (inquired, _) = inquire(&s, h, &[MQIA_INHIBIT_PUT]).unwrap();
    assert_eq!(inquired.ints, [MQQA_PUT_INHIBITED]);
}

#[test]
fn a_permanent_dynamic_queue_waits_for_room_in_a_full_log() {
    let w = small();
    w.run("DEFINE QMODEL(LASTING) DEFTYPE(PERMDYN)");
    let (_filler, full) = fill(&w);
    let s = w.connect();
    let opening = s.clone();
    let open = Call::begin(async move {
        let mut od = Od {
            dynamic_q_name: Name::new("MADE"),
            ..object("LASTING")
        };
        opening.open(&mut od, MQOO_OUTPUT).await
    });
    assert!(w.qm().queue_status("MADE").is_none());
    drop(full);
    let h = open.finish().unwrap().value;
    put(&s, h, PERSISTENT, 0, b"there is room");
    assert_eq!(w.depth("MADE"), 1);
}

/// A connection ends while a delivery of it waits for room to be accepted in the unit of work. That unit of work has
/// gone with the connection: another one would be nobody's, and have the message until a restart.
#[test]
fn a_delivery_does_not_outlive_its_connection_in_a_unit_of_work() {
    /// Their gets are more than a full log has room for.
    const COUNT: u32 = 3000;
    let w = small();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let texts: Vec<String> = (0..COUNT).map(|n| n.to_string()).collect();
    for text in &texts {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text.as_bytes());
    }
    commit(&s);
    let mut consumer = s.consumer(h, &md(0), &gmo(MQGMO_SYNCPOINT)).unwrap();
    consumer.credit(COUNT);
    let (filler, full) = fill(&w);
    let waiting = loop {
        let next: Delivery = Call::attempt(consumer.next()).unwrap().unwrap();
        let mut accept = Call::of(next.accept_in_unit());
        match accept.poll() {
            Some(accepted) => accepted.unwrap(),
            None => break accept,
        }
    };
    block_on(s.terminate());
    drop(full);
    assert_eq!(waiting.finish(), Err(Reason::HCONN_ERROR));
    block_on(filler.terminate());
    let status = w.status(LOCAL);
    assert_eq!((status.depth, status.uncommitted), (COUNT, false));
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_BROWSE);
    assert_eq!(browse(&s, h), texts);
}

/// A subscriber goes while a publication waits for room: what was for him is for nobody, and no failure.
#[test]
fn a_publication_that_waits_is_not_held_up_by_who_has_gone() {
    for use_dlq in ["YES", "NO"] {
        let options = CreateOptions {
            dead_letter_q: DEAD.to_owned(),
            ..CreateOptions::default()
        };
        let w = World::made(&options, |c| {
            c.log_config.file_pages = 64;
            (c.log_config.primary_files, c.log_config.secondary_files) = (3, 1);
        });
        w.run("DEFINE QLOCAL(Q)\nDEFINE SUB(STAYS) TOPICSTR('t') DEST(Q)");
        w.run(&format!(
            "DEFINE TOPIC(T) TOPICSTR('t') PMSGDLV(ALL) USEDLQ({use_dlq})"
        ));
        w.run("DEFINE SUB(ENDS) TOPICSTR('t') DESTCLAS(MANAGED)");
        let subscriber = w.connect();
        let mut leaving = Sd {
            options: MQSO_CREATE | MQSO_MANAGED,
            object_string: "t".to_owned(),
            ..Sd::default()
        };
        block_on(subscriber.subscribe(&mut leaving, Hobj::NONE)).unwrap();
        let s = w.connect();
        let mut od = world::topic("t");
        let h = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
        let (filler, full) = fill(&w);
        let mut call = Call::of(putting(s.clone(), h, md(PERSISTENT), 0, &[7; 20_000]));
        assert!(call.poll().is_none());
        block_on(subscriber.terminate());
        w.run("DELETE SUB(ENDS)");
        drop(full);
        block_on(filler.terminate());
        assert!(call.finish().is_ok(), "{use_dlq}");
        assert_eq!((w.depth("Q"), w.depth(DEAD)), (1, 0), "{use_dlq}");
    }
}
