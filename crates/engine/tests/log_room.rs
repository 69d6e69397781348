//! Calls that find the log full wait until maintenance has made room, whatever they are, and whatever becomes of their
//! connection meanwhile.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use parking_lot::MutexGuard;
use posthaste_command::ObjectKind;
use posthaste_engine::{Application, CreateOptions, Delivery, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason, Sd};
use world::*;

/// Whose log is filled by some tens of long messages.
fn small() -> World {
    World::with_log_files(3, 1)
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

/// What another user asks for of the subscription S, for Q1, while the log is full.
fn alters(w: &World, options: i32) -> Call<Result<(Hobj, Session), Reason>> {
    let s = w.qm().connect(Application {
        user: "other".to_owned(),
        ..who("test")
    });
    let s = s.unwrap();
    let mut sd = Sd {
        options,
        sub_name: "S".to_owned(),
        object_string: "t".to_owned(),
        sub_user_data: "mine".to_owned(),
        ..Sd::default()
    };
    Call::begin(async move {
        let subscribed = s.subscribe(&mut sd, Hobj::NONE).await;
        subscribed.map(|done| (done.value.0, s))
    })
}

/// Two alter a subscription at a time: each alters what he says, of what there is then.
#[test]
fn an_alteration_that_waits_for_room_keeps_what_another_says_meanwhile() {
    const ALTER: i32 = MQSO_ALTER | MQSO_DURABLE;
    let mismatch = Err(Reason::IDENTITY_MISMATCH);
    for (options, meanwhile, comes_to, after) in [
        (
            MQSO_RESUME,
            "USERDATA('theirs')",
            Ok("Q1"),
            "other theirs Q1 3",
        ),
        (ALTER, "PSPROP(NONE)", Ok("Q1"), "other mine Q1 0"),
        (ALTER, "DEST(Q2)", Ok("Q2"), "other mine Q2 3"),
        (MQSO_RESUME, "DEST(Q2)", Ok("Q2"), "other  Q2 3"),
        (ALTER, "VARUSER(FIXED)", mismatch, "tester  Q1 3"),
        (MQSO_RESUME, "VARUSER(FIXED)", mismatch, "tester  Q1 3"),
        (MQSO_RESUME, "SUBUSER('other')", Ok("Q1"), "other  Q1 3"),
    ] {
        let mut w = small();
        w.run("DEFINE QLOCAL(Q1)\nDEFINE QLOCAL(Q2)");
        w.run("DEFINE SUB(S) TOPICSTR('t') DEST(Q1) SUBUSER('tester')");
        let (filler, full) = fill(&w);
        let altering = alters(&w, options);
        drop(full);
        w.run(&format!("ALTER SUB(S) {meanwhile}"));
        let came_to = altering.finish().map(|(hobj, s)| {
            let queue = s.destination(hobj).unwrap().0;
            queue.text().into_owned()
        });
        let what = format!("{options:#x} {meanwhile}");
        assert_eq!(came_to, comes_to.map(str::to_owned), "{what}");
        drop(filler);
        for _ in 0..2 {
            let attrs = w.qm().object(ObjectKind::Sub, "S").unwrap().attrs;
            let text = format!(
                "{} {} {} {}",
                attrs.text(MQCACF_SUB_USER_ID),
                attrs.text(MQCACF_SUB_USER_DATA),
                attrs.text(MQCACF_DESTINATION),
                attrs.int(MQIACF_PUBSUB_PROPERTIES)
            );
            assert_eq!(text, after, "{what}");
            w.crash();
        }
    }
}

#[test]
fn a_call_that_is_dropped_while_it_waits_for_room_alters_nothing_and_leaves_no_handle() {
    let w = small();
    w.run("DEFINE QLOCAL(Q1)\nDEFINE SUB(S) TOPICSTR('t') DEST(Q1) SUBUSER('tester')");
    let before = w.qm().object(ObjectKind::Sub, "S");
    let (_filler, full) = fill(&w);
    drop(alters(&w, MQSO_ALTER | MQSO_DURABLE));
    let s = w.connect();
    let h = open(&s, "Q1", MQOO_INPUT_EXCLUSIVE);
    close(&s, h, 0).unwrap();
    drop(full);
    assert_eq!(w.qm().object(ObjectKind::Sub, "S"), before);
    w.run("DELETE QLOCAL(Q1)");
}
