//! Queues whose messages are taken at their word, and reports: nothing is put by the authority of somebody who has not asked for it.

#![allow(clippy::unwrap_used)]

mod world;

use std::path::Path;

use bytes::Bytes;
use posthaste_admin::{Admin, CommandServer};
use posthaste_command::{Attrs, ObjectKind, pcf};
use posthaste_engine::{EndMode, NewDefinition, Session};
use posthaste_env::{Thread, block_on, spawn};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Name, Od, PointerSize, Reason, Rfh2, Sd};
use posthaste_recovery_log::Class;
use world::authorising::*;
use world::*;

const STAGING: &str = "SYSTEM.DDELAY.LOCAL.QUEUE";
const COMMANDS: &str = "SYSTEM.ADMIN.COMMAND.QUEUE";
/// Whose messages are taken at their word; X is a transmission queue.
const AT_THEIR_WORD: [&str; 4] = [STAGING, COMMANDS, "SYSTEM.RETAINED.PUB.QUEUE", "X"];
const OWN: Grant = ("QMGR", "self", "CONNECT");
const PUBLISHES: Grant = ("TOPIC", "SYSTEM.BASE.TOPIC", "PUB");
const REPORTS: i32 = MQRO_COA_WITH_FULL_DATA | MQRO_COD_WITH_FULL_DATA;

fn asking(report: i32, reply_to: &str) -> Md {
    Md {
        report,
        reply_to_q: Name::new(reply_to),
        ..md(PERSISTENT)
    }
}

fn publishes(s: &Session, md: Md, options: i32) -> Result<(), Reason> {
    let (mut od, mut md, mut pmo) = (topic("t"), md, pmo(options));
    let data = Bytes::from_static(b"text");
    block_on(s.put1(&mut od, &mut md, &mut pmo, data)).map(drop)
}

fn gets(s: &Session, queue: &str) -> Md {
    let handle = open(s, queue, MQOO_INPUT_SHARED);
    let taken = next(s, handle, 0).unwrap();
    close(s, handle, MQCO_NONE).unwrap();
    taken.md
}

/// A queue manager where an administrator has subscribed.
fn watched() -> World {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(DEAD)\nALTER QMGR DEADQ(DEAD)\nDEFINE QLOCAL(REPLIES)\nDEFINE QLOCAL(Q)
         DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QALIAS(AX) TARGET(X)
         DEFINE SUB(S) TOPICSTR('t') DEST(Q) SUBUSER('boss')",
    );
    w
}

fn reported(w: &World) -> (u32, u32) {
    let found = (w.depth("REPLIES"), w.depth("DEAD"));
    w.run("CLEAR QLOCAL(REPLIES)\nCLEAR QLOCAL(DEAD)");
    found
}

/// The report options and the reply-to queue are the publisher's: that a subscriber may put there is nothing to him.
#[test]
fn reports_on_copies_of_a_publication_are_put_by_the_publishers_authority() {
    let mut w = watched();
    let may_report: &[Grant] = &[("QUEUE", "REPLIES", "PUT"), ("QUEUE", "REPLIES", "PASSID")];
    for (more, arrives) in [(&[][..], 0), (may_report, 1)] {
        grant(&w, &[&[OWN, PUBLISHES], more].concat());
        let arrive = (arrives, 1 - arrives);
        for persistence in [NOT_PERSISTENT, PERSISTENT] {
            let s = admit(&w, "app").unwrap();
            let asks = Md {
                persistence,
                ..asking(REPORTS, "REPLIES")
            };
            publishes(&s, asks, 0).unwrap();
            assert_eq!(reported(&w), arrive, "COA {persistence} {more:?}");
            if persistence == PERSISTENT {
                drop(s);
                w.crash();
                w.restart();
            }
            let boss = admit(&w, "boss").unwrap();
            let copy = gets(&boss, "Q");
            assert_eq!(copy.user_identifier, Chars::new("boss"));
            if arrives == 1 {
                let report = gets(&boss, "REPLIES");
                assert_eq!(report.user_identifier, Chars::new("app"));
                assert_eq!(w.depth("DEAD"), 0);
            } else {
                assert_eq!(reported(&w), arrive, "COD {persistence}");
            }
        }
    }
}

/// Nor is it on a copy that expires, that comes later from what is retained, or that has gone to the dead-letter queue.
#[test]
fn nor_on_copies_that_expire_that_come_later_or_that_went_elsewhere() {
    let mut w = watched();
    grant(&w, &[OWN, PUBLISHES]);
    let s = admit(&w, "app").unwrap();
    let expires = Md {
        expiry: 1,
        ..asking(MQRO_EXPIRATION_WITH_FULL_DATA, "REPLIES")
    };
    let wall = |w: &World| w.env.clock.wall_micros();
    let expired = wall(&w) + 200_000;
    publishes(&s, expires, 0).unwrap();
    drop(s);
    w.crash();
    until("its time", || wall(&w) > expired);
    let boss = admit(&w, "boss").unwrap();
    let queue = open(&boss, "Q", MQOO_INPUT_SHARED);
    until("its report", || {
        assert!(next(&boss, queue, 0).is_err());
        w.depth("DEAD") + w.depth("REPLIES") == 1 && is_settled(&w)
    });
    assert_eq!(reported(&w), (0, 1));
    close(&boss, queue, MQCO_NONE).unwrap();

    w.run("DELETE SUB(S)");
    let s = admit(&w, "app").unwrap();
    publishes(&s, asking(REPORTS, "REPLIES"), MQPMO_RETAIN).unwrap();
    drop((s, boss));
    w.crash();
    w.run("DEFINE SUB(S) TOPICSTR('t') DEST(Q) SUBUSER('boss')");
    assert_eq!((w.depth("Q"), reported(&w)), (1, (0, 1)));
    let boss = admit(&w, "boss").unwrap();
    gets(&boss, "Q");
    assert_eq!(reported(&w), (0, 1));

    w.run("ALTER QLOCAL(Q) PUT(DISABLED)");
    let s = admit(&w, "app").unwrap();
    publishes(&s, asking(MQRO_COD_WITH_FULL_DATA, "REPLIES"), 0).unwrap();
    assert_eq!((w.depth("REPLIES"), w.depth("DEAD")), (0, 1));
    gets(&boss, "DEAD");
    assert_eq!(reported(&w), (0, 1));
}

/// Also of a user who may everything: nobody but who forges has his reports sent there.
#[test]
fn no_report_gets_to_a_queue_whose_messages_are_taken_at_their_word() {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(DEAD)\nALTER QMGR DEADQ(DEAD)\nDEFINE QLOCAL(Q)\nDEFINE QLOCAL(X) USAGE(XMITQ)
         DEFINE QREMOTE(HERE) RNAME(' ') RQMNAME(QM1)\nDEFINE QALIAS(A) TARGET(Q)",
    );
    let boss = admit(&w, "boss").unwrap();
    for queue in AT_THEIR_WORD {
        w.run(&format!("ALTER QALIAS(A) TARGET({queue})"));
        for (name, manager) in [(queue, ""), (queue, "HERE"), ("A", ""), ("A", "HERE")] {
            let mut asks = Md {
                reply_to_q_mgr: Name::new(manager),
                ..asking(REPORTS, name)
            };
            put1(&boss, "Q", &mut asks, 0, b"PHDL").unwrap();
            gets(&boss, "Q");
            assert_eq!(
                (w.depth(queue), w.depth("DEAD")),
                (0, 2),
                "{name} {manager}"
            );
            w.run("CLEAR QLOCAL(DEAD)");
        }
        assert_eq!(
            w.last_inserts("AMQ8077W"),
            ["boss", "setall", "queue", queue]
        );
    }
}

/// A way can be made to lead here once it was decided that the subscription may send elsewhere.
#[test]
fn no_queue_manager_alias_of_a_subscription_leads_where_its_user_may_not_put() {
    let w = watched();
    w.run(
        "DEFINE QLOCAL(SECRET)
         DEFINE QREMOTE(R1) RNAME(' ') RQMNAME(R2) XMITQ(X)",
    );
    let own: &[Grant] = &[
        OWN,
        PUBLISHES,
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
        ("QUEUE", "R1", "PUT"),
    ];
    grant(&w, own);
    let s = admit(&w, "app").unwrap();
    let queues = [
        "SECRET",
        STAGING,
        COMMANDS,
        "SYSTEM.RETAINED.PUB.QUEUE",
        "X",
    ];
    for queue in queues {
        let mut od = Od {
            object_q_mgr_name: Name::new("R1"),
            ..object(queue)
        };
        let to = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
        let made = Sd {
            object_string: "t".to_owned(),
            ..sd(MQSO_CREATE | MQSO_DURABLE, queue)
        };
        assert_eq!(subscribes(&s, made, to), Ok(()));
        close(&s, to, MQCO_NONE).unwrap();
    }
    publishes(&s, md(PERSISTENT), 0).unwrap();
    w.run("CLEAR QLOCAL(DEAD)\nDEFINE QREMOTE(R2) RNAME(' ') RQMNAME(QM1)");
    let depths = |w: &World| queues.map(|queue| w.depth(queue));
    let forged = Md {
        format: Chars::new("PHDELAY"),
        ..md(PERSISTENT)
    };
    publishes(&s, forged.clone(), 0).unwrap();
    assert_eq!((depths(&w), w.depth("DEAD")), ([0; 5], 5));
    grant(&w, &[own, &[("QUEUE", "SECRET", "PUT")]].concat());
    publishes(&s, forged, 0).unwrap();
    assert_eq!(depths(&w), [1, 0, 0, 0, 0]);
}

/// A queue may have become a transmission queue, or be another one of its name, since it was decided.
#[test]
fn no_publication_gets_to_a_queue_that_is_transmitted_from_by_now() {
    let w = watched();
    w.run("CLEAR QLOCAL(Q)\nALTER QLOCAL(Q) USAGE(XMITQ) FORCE");
    publishes(&w.connect(), md(PERSISTENT), 0).unwrap();
    assert_eq!((w.depth("Q"), w.depth("DEAD")), (0, 1));
}

fn delayed(milliseconds: u64) -> (Md, Bytes) {
    let header = Rfh2 {
        folders: vec![format!("<mqext><Dly>{milliseconds}</Dly></mqext>")],
        ..Rfh2::default()
    };
    let mut data = Vec::new();
    header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
    let md = Md {
        format: Chars::new("MQHRF2"),
        encoding: MQENC_INTEGER_NORMAL,
        ..md(PERSISTENT)
    };
    (md, data.into())
}

fn puts_delayed(s: &Session, h: Hobj) {
    let (mut md, data) = delayed(1);
    block_on(s.put_delayed(h, &mut md, &mut pmo(0), data)).unwrap();
}

fn delivery(w: &World) -> Thread {
    let qm = w.qm().clone();
    spawn("delays", move || block_on(qm.deliver_delayed())).unwrap()
}

/// Whether no unit of work has anything on one of the queues, which counts for their depth already.
fn is_settled(w: &World) -> bool {
    [STAGING, "Q", "KEPT", "SECRET", COMMANDS, "DEAD", "REPLIES"]
        .iter()
        .filter_map(|queue| w.qm().queue_status(queue))
        .all(|status| !status.uncommitted)
}

fn end(mut w: World, delivery: Thread) {
    w.end(EndMode::Immediate);
    delivery.join().unwrap();
}

/// Where a delayed message goes is looked up when it is due: by then its way may lead elsewhere.
#[test]
fn no_delayed_message_lands_where_its_putter_may_not_put() {
    let w = watched();
    w.run(
        "DEFINE QLOCAL(SECRET)\nDEFINE QREMOTE(R1) RNAME(' ') RQMNAME(R2) XMITQ(X)
         DEFINE QALIAS(A) TARGET(Q)",
    );
    let own: &[Grant] = &[OWN, ("QUEUE", "R1", "PUT"), ("QUEUE", "A", "PUT")];
    grant(&w, own);
    let s = admit(&w, "app").unwrap();
    let put = |queue: &str, manager: &str| {
        let mut od = Od {
            object_q_mgr_name: Name::new(manager),
            ..object(queue)
        };
        let to = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
        puts_delayed(&s, to);
        close(&s, to, MQCO_NONE).unwrap();
    };
    put("SECRET", "R1");
    put(COMMANDS, "R1");
    put("A", "");
    w.run(&format!(
        "ALTER QREMOTE(R1) RQMNAME(QM1)\nALTER QALIAS(A) TARGET({COMMANDS})"
    ));
    let thread = delivery(&w);
    let depths = |w: &World| ["SECRET", COMMANDS, "DEAD"].map(|queue| w.depth(queue));
    until("all are somewhere", || {
        depths(&w).iter().sum::<u32>() == 3 && is_settled(&w)
    });
    assert_eq!((depths(&w), w.depth(STAGING)), ([0, 0, 3], 0));
    // Where he may put it goes, and by an alias whose name he may put to.
    grant(&w, &[own, &[("QUEUE", "SECRET", "PUT")]].concat());
    w.run("ALTER QREMOTE(R1) RQMNAME(R2)\nALTER QALIAS(A) TARGET(Q)");
    w.run(&format!("ALTER QLOCAL({STAGING}) GET(DISABLED)"));
    put("SECRET", "R1");
    put("A", "");
    w.run("ALTER QREMOTE(R1) RQMNAME(QM1)\nALTER QALIAS(A) TARGET(SECRET)");
    drop(s);
    let mut w = w;
    w.end(EndMode::Immediate);
    thread.join().unwrap();
    w.start();
    w.run(&format!("ALTER QLOCAL({STAGING}) GET(ENABLED)"));
    let thread = delivery(&w);
    until("both are there", || {
        w.depth("SECRET") == 2 && is_settled(&w)
    });
    assert_eq!(w.depth("DEAD"), 3);
    end(w, thread);
}

/// That a queue has the name of the one on which it would have landed says nothing of who may put there.
#[test]
fn no_delayed_message_lands_on_a_queue_that_was_made_anew_without_being_asked_about() {
    let mut w = watched();
    grant(&w, &[OWN, ("QUEUE", "Q", "PUT"), ("QUEUE", "KEPT", "PUT")]);
    w.run("CLEAR QLOCAL(Q)\nDEFINE QLOCAL(KEPT)");
    let remakes = "DELETE QLOCAL(Q)\nDEFINE QLOCAL(Q)\nDEFINE QLOCAL(KEPT) REPLACE";
    for (grants, expected) in [
        (&[OWN][..], [0, 2, 2]),
        (&[OWN, ("QUEUE", "Q", "PUT")], [2, 2, 0]),
    ] {
        for restarts in [false, true] {
            grant(&w, &[OWN, ("QUEUE", "Q", "PUT"), ("QUEUE", "KEPT", "PUT")]);
            let s = admit(&w, "app").unwrap();
            for queue in ["Q", "KEPT"] {
                let to = open(&s, queue, MQOO_OUTPUT);
                puts_delayed(&s, to);
                close(&s, to, MQCO_NONE).unwrap();
            }
            drop(s);
            if restarts {
                w.crash();
            }
            w.run(remakes);
            grant(&w, grants);
            if restarts {
                w.restart();
            }
            let thread = delivery(&w);
            let found = |w: &World| ["Q", "KEPT", "DEAD"].map(|queue| w.depth(queue));
            until("both are somewhere", || {
                found(&w).iter().sum::<u32>() == 2 && is_settled(&w)
            });
            w.end(EndMode::Immediate);
            thread.join().unwrap();
            w.start();
            assert_eq!(
                found(&w),
                expected.map(|all| all / 2),
                "{restarts} {grants:?}"
            );
            w.run("CLEAR QLOCAL(Q)\nCLEAR QLOCAL(KEPT)\nCLEAR QLOCAL(DEAD)");
        }
    }
}

/// Nor is a queue's name one that publishes, or one transmission queue the other, because it was so when the message was put.
#[test]
fn no_delayed_message_is_published_or_transmitted_another_way_without_being_asked_about() {
    let mut w = watched();
    w.run(
        "DEFINE QALIAS(A) TARGET(REPLIES)\nDEFINE TOPIC(T) TOPICSTR('t')\nDEFINE QLOCAL(Y) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(FAR) RQMNAME(QM9) XMITQ(X)",
    );
    let puts = [
        ("QUEUE", "A", "PUT"),
        ("QUEUE", "X", "PUT"),
        ("QUEUE", "R", "PUT"),
    ];
    let all = ["Q", "REPLIES", "X", "Y", "DEAD"];
    // The queue and queue manager of the put, what is changed then, what is granted then, and where the message is at last.
    let cases: [(_, &str, &[Grant], &str); 9] = [
        (("A", ""), "", &[], "REPLIES"),
        (
            ("A", ""),
            "ALTER QALIAS(A) TARGET(T) TARGTYPE(TOPIC)",
            &puts,
            "DEAD",
        ),
        (
            ("A", ""),
            "ALTER QALIAS(A) TARGET(T) TARGTYPE(TOPIC)",
            &[("TOPIC", "T", "PUB")],
            "DEAD",
        ),
        (
            ("A", ""),
            "ALTER QALIAS(A) TARGET(T) TARGTYPE(TOPIC)",
            &[("TOPIC", "T", "PUB"), ("QUEUE", "A", "PUT")],
            "Q",
        ),
        (("FAR", "QM9"), "", &[], "X"),
        (("FAR", "QM9"), "ALTER QMGR DEFXMITQ(Y)", &puts, "DEAD"),
        (
            ("FAR", "QM9"),
            "ALTER QMGR DEFXMITQ(Y)",
            &[("QUEUE", "Y", "PUT")],
            "Y",
        ),
        (("R", ""), "ALTER QREMOTE(R) XMITQ(Y)", &[], "DEAD"),
        (("R", ""), "ALTER QREMOTE(R) XMITQ(Y)", &puts, "Y"),
    ];
    for ((queue, manager), change, grants, arrives) in cases {
        for restarts in [false, true] {
            w.run("ALTER QALIAS(A) TARGET(REPLIES) TARGTYPE(QUEUE)\nALTER QMGR DEFXMITQ(X)\nALTER QREMOTE(R) XMITQ(X)");
            grant(&w, &[&[OWN], &puts[..]].concat());
            let s = admit(&w, "app").unwrap();
            let mut od = Od {
                object_q_mgr_name: Name::new(manager),
                ..object(queue)
            };
            let to = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
            puts_delayed(&s, to);
            drop(s);
            w.run(change);
            grant(&w, &[&[OWN], grants].concat());
            if restarts {
                w.crash();
                w.restart();
            }
            let thread = delivery(&w);
            let found = |w: &World| all.map(|queue| w.depth(queue));
            until("it is somewhere", || {
                found(&w).iter().sum::<u32>() == 1 && is_settled(&w)
            });
            w.end(EndMode::Immediate);
            thread.join().unwrap();
            w.start();
            let expected = all.map(|queue| u32::from(queue == arrives));
            assert_eq!(
                found(&w),
                expected,
                "{queue} {change} {grants:?} {restarts}"
            );
            for queue in all {
                w.run(&format!("CLEAR QLOCAL({queue})"));
            }
        }
    }
}

/// Where an administrator has deleted one of these, whoever made another by its name would be given what others send there.
#[test]
fn no_application_makes_a_queue_whose_messages_are_taken_at_their_word() {
    let w = watched();
    w.run("DEFINE QMODEL(TEMPORARY)\nDEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
    let s = admit(&w, "boss").unwrap();
    for queue in [STAGING, COMMANDS, "SYSTEM.RETAINED.PUB.QUEUE"] {
        // The queue manager has the last one open, so that it stays.
        w.mqsc(&format!("DELETE QLOCAL({queue})"));
        for model in ["TEMPORARY", "PERMANENT"] {
            let mut od = Od {
                dynamic_q_name: Name::new(queue),
                ..object(model)
            };
            let made = open_od(&s, &mut od, MQOO_INPUT_SHARED);
            assert_eq!(made, Err(Reason::DYNAMIC_Q_NAME_ERROR), "{queue} {model}");
        }
    }
    // One that is there from before is not used either.
    let to = open(&s, "Q", MQOO_OUTPUT);
    let puts = || {
        let (mut md, data) = delayed(60_000);
        block_on(s.put_delayed(to, &mut md, &mut pmo(0), data)).map(drop)
    };
    assert_eq!(puts(), Err(Reason::UNKNOWN_OBJECT_NAME));
    for (kind, expected) in [
        (MQQDT_TEMPORARY_DYNAMIC, Err(Reason::UNKNOWN_OBJECT_NAME)),
        (MQQDT_PERMANENT_DYNAMIC, Err(Reason::UNKNOWN_OBJECT_NAME)),
        (MQQDT_PREDEFINED, Ok(())),
    ] {
        let mut attrs = Attrs::default();
        attrs.set_int(MQIA_DEFINITION_TYPE, kind);
        let defined = block_on(w.qm().define(&NewDefinition {
            kind: ObjectKind::QLocal,
            name: STAGING,
            replace: false,
            decided_new: false,
            like: None,
            attrs: &attrs,
            maker: "",
        }));
        assert_eq!(defined, Ok(()));
        assert_eq!(puts(), expected, "{kind}");
        w.mqsc(&format!("DELETE QLOCAL({STAGING})"));
    }
}

/// The header of a delayed message, which says where it goes and as whose, is believed only of the queue manager's own messages.
#[test]
fn nobody_forges_a_delayed_message() {
    let w = watched();
    let s = admit(&w, "boss").unwrap();
    let to = open(&s, COMMANDS, MQOO_OUTPUT);
    puts_delayed(&s, to);
    let staging = open(&s, STAGING, MQOO_INPUT_SHARED | MQOO_BROWSE);
    let real = next(&s, staging, 0).unwrap();
    // As it is, with everything that its descriptor says.
    let mut od = object(STAGING);
    let mut pmo = pmo(MQPMO_SET_ALL_CONTEXT);
    block_on(s.put1(&mut od, &mut real.md.clone(), &mut pmo, real.data.clone())).unwrap();
    close(&s, staging, MQCO_NONE).unwrap();
    close(&s, to, MQCO_NONE).unwrap();
    let thread = delivery(&w);
    until("the operator is told", || w.message_count("AMQ2215W") == 1);
    assert!(w.last_inserts("AMQ2215W")[1].contains("2035"));
    assert_eq!((w.depth(STAGING), w.depth(COMMANDS)), (1, 0));
    drop(s);
    end(w, thread);
}

/// Whoever makes an alias may do everything with it.
#[test]
fn contexts_are_passed_by_an_alias_only_by_who_may_pass_them_on_the_queue() {
    let (w, _) = world(false);
    w.run(&format!(
        "DEFINE QALIAS(A) TARGET({COMMANDS})\nDEFINE QALIAS(B) TARGET({STAGING})"
    ));
    let own: &[Grant] = &[
        OWN,
        ("QMGR", "self", "SETID"),
        ("QMGR", "self", "SETALL"),
        ("QUEUE", "A", "ALL"),
        ("QUEUE", "B", "ALL"),
    ];
    grant(&w, own);
    let s = admit(&w, "app").unwrap();
    assert_eq!(opens(&s, "A", MQOO_OUTPUT), Ok(()));
    for (name, queue) in [("A", COMMANDS), ("B", STAGING)] {
        for (option, put_option, authority) in [
            (MQOO_PASS_IDENTITY_CONTEXT, 0, "PASSID"),
            (MQOO_PASS_ALL_CONTEXT, 0, "PASSALL"),
            (
                MQOO_SET_IDENTITY_CONTEXT,
                MQPMO_SET_IDENTITY_CONTEXT,
                "SETID",
            ),
            (MQOO_SET_ALL_CONTEXT, MQPMO_SET_ALL_CONTEXT, "SETALL"),
        ] {
            grant(&w, own);
            let opened = || opens(&s, name, MQOO_OUTPUT | option);
            assert_eq!(opened(), Err(Reason::NOT_AUTHORIZED), "{name} {authority}");
            if put_option != 0 {
                let put = puts1(&s, object(name), put_option);
                assert_eq!(put, Err(Reason::NOT_AUTHORIZED), "{name} {authority}");
            }
            grant(&w, &[own, &[("QUEUE", queue, authority)]].concat());
            assert_eq!(opened(), Ok(()), "{name} {authority}");
        }
    }
}

/// Answers of the command server are put by the authority of whoever asks, which does not reach there.
#[test]
fn no_answer_gets_to_a_queue_whose_messages_are_taken_at_their_word() {
    let (mut w, _) = world(false);
    w.run("DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QALIAS(A) TARGET(SYSTEM.DDELAY.LOCAL.QUEUE)");
    let put_there = [STAGING, "X", "A", COMMANDS].map(|queue| ("QUEUE", queue, "PUT"));
    grant(
        &w,
        &[&[OWN, ("QMGR", "self", "DSP")], &put_there[..]].concat(),
    );
    let server = CommandServer {
        admin: Admin::alone(w.qm()),
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "tester".to_owned(),
    };
    let session = server.connect();
    let server = std::thread::spawn(move || block_on(server.serve(session, |_| {})));
    let s = admit(&w, "app").unwrap();
    for (before, queue) in [STAGING, "X", "A", COMMANDS].into_iter().enumerate() {
        let mut md = Md {
            msg_type: MQMT_REQUEST,
            format: Chars::new(MQFMT_ADMIN),
            ..asking(0, queue)
        };
        let data = pcf::escape_request("PING QMGR");
        put1(&s, COMMANDS, &mut md, 0, &data).unwrap();
        until("the operator is told", || {
            w.message_count("AMQ2205W") == before + 1
        });
        assert_eq!(
            [STAGING, "X"].map(|queue| w.depth(queue)),
            [0, 0],
            "{queue}"
        );
    }
    until("the requests are gone", || w.depth(COMMANDS) == 0);
    drop(s);
    w.end(EndMode::Immediate);
    server.join().unwrap();
}

#[test]
fn no_trigger_message_gets_to_a_queue_whose_messages_are_taken_at_their_word() {
    let w = watched();
    let s = w.connect();
    for queue in [COMMANDS, STAGING, "X"] {
        let served = open(&s, queue, MQOO_INPUT_SHARED);
        w.run(&format!(
            "ALTER QLOCAL(Q) TRIGGER TRIGTYPE(EVERY) INITQ({queue})"
        ));
        put1(&s, "Q", &mut md(NOT_PERSISTENT), 0, b"x").unwrap();
        assert_eq!(w.depth(queue), 0, "{queue}");
        close(&s, served, MQCO_NONE).unwrap();
    }
}

#[test]
fn no_dead_letter_gets_to_a_queue_whose_messages_are_taken_at_their_word() {
    let w = watched();
    w.run("ALTER QLOCAL(Q) PUT(DISABLED)");
    for queue in [COMMANDS, STAGING, "X"] {
        w.run(&format!("ALTER QMGR DEADQ({queue})"));
        publishes(&w.connect(), md(NOT_PERSISTENT), 0).unwrap();
        assert_eq!(w.depth(queue), 0, "{queue}");
    }
}

/// Slashes at the end of what a topic object says and at the beginning of TOPICSTR are levels of their own.
#[test]
fn a_subscription_is_checked_for_the_topic_string_that_it_gets() {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(Q)\nDEFINE TOPIC(PART) TOPICSTR('a')\nDEFINE TOPIC(OPEN) TOPICSTR('a/b')
         DEFINE TOPIC(SECRET) TOPICSTR('a//b')\nDEFINE SUB(LIKED) TOPICSTR('/b') TOPICOBJ(PART) DEST(Q)",
    );
    let own: &[Grant] = &[OWN, ("QMGR", "self", "DSP"), ("QUEUE", "Q", "PUT")];
    let defined = |text: &str| command(&w, "app", text).ok;
    for (open, secret) in [(true, false), (false, true)] {
        let topic = if open { "OPEN" } else { "SECRET" };
        grant(&w, &[own, &[("TOPIC", topic, "SUB")]].concat());
        for (text, is_secret) in [
            ("TOPICOBJ(PART) TOPICSTR('b')", false),
            ("TOPICOBJ(PART) TOPICSTR('/b')", true),
            ("TOPICOBJ(PART) TOPICSTR('/b/#')", true),
            ("TOPICSTR('a//b')", true),
            ("TOPICSTR('a/b')", false),
            ("LIKE(LIKED) SUBUSER('app')", true),
        ] {
            let text = format!("DEFINE SUB(S) DEST(Q) {text}");
            let may = if is_secret { secret } else { open };
            assert_eq!(defined(&text), may, "{topic}: {text}");
            if may {
                // That is about what it was given, whatever its topic object says by now.
                w.run("ALTER TOPIC(PART) DESCR('same')");
                assert!(
                    command(&w, "app", "ALTER SUB(S) USERDATA('x')").ok,
                    "{text}"
                );
                w.run("DELETE SUB(S)");
            }
        }
    }
}

/// A wildcard is no level that a topic object could be about, though one may have its characters: what counts is what is above it.
#[test]
fn a_subscription_with_wildcards_is_checked_above_the_first() {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(Q)\nDEFINE TOPIC(A) TOPICSTR('a')\nDEFINE TOPIC(STAR) TOPICSTR('*')
         DEFINE TOPIC(HASH) TOPICSTR('a/#')\nDEFINE TOPIC(PLUS) TOPICSTR('a/+/c')
         DEFINE TOPIC(PART) TOPICSTR('a/b*')
         DEFINE SUB(LIKED) TOPICSTR('a/#') DEST(Q)\nDEFINE SUB(CHARS) TOPICSTR('*') WSCHEMA(CHAR) DEST(Q)",
    );
    let own: &[Grant] = &[OWN, ("QMGR", "self", "DSP"), ("QUEUE", "Q", "ALL")];
    let named = ["STAR", "HASH", "PLUS", "PART"].map(|topic| ("TOPIC", topic, "SUB"));
    // The topic string, its scheme, and on which topic object `sub` is enough; none: on the root's.
    let cases = [
        ("*", "CHAR", None),
        ("a/#", "TOPIC", Some("A")),
        ("a/+/c", "TOPIC", Some("A")),
        ("a/b*", "CHAR", Some("A")),
        ("*", "TOPIC", Some("STAR")),
        ("a/#", "CHAR", Some("HASH")),
    ];
    for (topic, scheme, enough) in cases {
        let chars = if scheme == "CHAR" {
            MQSO_WILDCARD_CHAR
        } else {
            0
        };
        let text = format!("DEFINE SUB(S) TOPICSTR('{topic}') WSCHEMA({scheme}) DEST(Q)");
        let tries = |may: bool, grants: &[Grant]| {
            grant(&w, &[own, grants].concat());
            let reply = command(&w, "app", &text);
            assert_eq!(reply.ok, may, "{topic} {scheme} {grants:?}");
            let s = admit(&w, "app").unwrap();
            let asked = Sd {
                object_string: topic.to_owned(),
                ..sd(MQSO_CREATE | MQSO_MANAGED | chars, "")
            };
            let made = subscribes(&s, asked, Hobj::NONE);
            assert_eq!(made.is_ok(), may, "MQSUB: {topic} {scheme} {grants:?}");
            if may {
                w.run("DELETE SUB(S)");
            }
        };
        let is_enough = |one: &Grant| Some(one.1) == enough;
        tries(
            false,
            &named
                .into_iter()
                .filter(|one| !is_enough(one))
                .collect::<Vec<_>>(),
        );
        tries(
            true,
            &[("TOPIC", enough.unwrap_or("SYSTEM.BASE.TOPIC"), "SUB")],
        );
    }
    grant(&w, &[own, &named].concat());
    for text in [
        "DEFINE SUB(S) LIKE(LIKED) SUBUSER('app')",
        "DEFINE SUB(S) LIKE(CHARS) SUBUSER('app')",
        "DEFINE SUB(S) LIKE(LIKED) WSCHEMA(TOPIC) SUBUSER('app')",
        "ALTER SUB(LIKED) USERDATA('x')",
        "ALTER SUB(CHARS) USERDATA('x')",
        "DELETE SUB(CHARS)",
    ] {
        assert_eq!(
            command(&w, "app", text).reason,
            Reason::NOT_AUTHORIZED,
            "{text}"
        );
    }
}

/// As MQSO_SET_IDENTITY_CONTEXT does (manual: "MQSO_SET_IDENTITY_CONTEXT").
#[test]
fn who_defines_the_identity_context_of_publications_may_set_it_on_their_queue() {
    let (w, _) = world(false);
    w.run(
        "DEFINE QLOCAL(Q)\nDEFINE SUB(LIKED) TOPICSTR('t') DEST(Q) PUBAPPID('forged')
         DEFINE SUB(S) TOPICSTR('t') DEST(Q) SUBUSER('app')",
    );
    let own: &[Grant] = &[
        OWN,
        ("QMGR", "self", "DSP"),
        ("QUEUE", "Q", "PUT"),
        ("TOPIC", "SYSTEM.BASE.TOPIC", "SUB"),
    ];
    let sets = [("QUEUE", "Q", "SETID"), ("QMGR", "self", "SETID")];
    let token = "160102030405060708090A0B0C0D0E0F10111213141516171819";
    for text in [
        "DEFINE SUB(NEW) TOPICSTR('t') DEST(Q) PUBAPPID('forged')".to_owned(),
        format!("DEFINE SUB(NEW) TOPICSTR('t') DEST(Q) PUBACCT({token})"),
        "DEFINE SUB(NEW) LIKE(LIKED) SUBUSER('app')".to_owned(),
        "ALTER SUB(S) PUBAPPID('forged')".to_owned(),
        format!("ALTER SUB(S) PUBACCT({token})"),
    ] {
        for missing in sets {
            let some: Vec<_> = sets.into_iter().filter(|one| *one != missing).collect();
            grant(&w, &[own, &some].concat());
            let reply = command(&w, "app", &text);
            assert_eq!(reply.reason, Reason::NOT_AUTHORIZED, "{text} {missing:?}");
        }
        grant(&w, &[own, &sets].concat());
        assert!(command(&w, "app", &text).ok, "{text}");
        w.mqsc("DELETE SUB(NEW)");
    }
    // What sets none needs none.
    grant(&w, own);
    for text in [
        "ALTER SUB(S) USERDATA('x')",
        "ALTER SUB(S) PUBAPPID(' ')",
        "ALTER SUB(S) PUBAPPID(' ') PUBACCT(0000000000000000000000000000000000000000000000000000)",
        "DEFINE SUB(NEW) TOPICSTR('t') DEST(Q) PUBAPPID(' ') PUBPRTY(3)",
    ] {
        assert!(command(&w, "app", text).ok, "{text}");
    }
    // That it was set for one queue says nothing of another one.
    for user in ["app", "boss"] {
        w.run(&format!(
            "DEFINE QLOCAL(Q2)\nDEFINE SUB(S) TOPICSTR('t') DEST(Q2) SUBUSER('{user}') PUBAPPID('set') REPLACE"
        ));
        grant(&w, &[own, &[("QUEUE", "Q2", "ALL")]].concat());
        let moves = "ALTER SUB(S) DEST(Q) SUBUSER('app')";
        assert_eq!(command(&w, "app", moves).reason, Reason::NOT_AUTHORIZED);
        let without = format!("{moves} PUBAPPID(' ')");
        assert!(command(&w, "app", &without).ok, "{user}");
        w.run("ALTER SUB(S) DEST(Q2) PUBAPPID('set')");
        grant(&w, &[own, &[("QUEUE", "Q2", "ALL")], &sets].concat());
        assert!(command(&w, "app", moves).ok);
        w.run("DELETE SUB(S)\nDELETE QLOCAL(Q2)");
    }
}

/// The files of the recovery log.
fn log_bytes(folder: &Path) -> Vec<u8> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    let mut bytes = Vec::new();
    while let Some(entry) = files.pop() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(std::fs::read_dir(path).unwrap()),
            false => bytes.extend(std::fs::read(path).unwrap()),
        }
    }
    bytes
}

/// The record of a put as releases wrote it that knew of no origins: it differs in one bit and what that announces, behind all other
/// fields (docs/internals/files.md).
fn put_as_before(w: &World, queue: &str, md: &Md, data: &[u8]) {
    let s = w.connect();
    let id = *b"to be found in the log..";
    let mut sought = Md {
        msg_id: id,
        ..md.clone()
    };
    sought.report = MQRO_NONE;
    let mut set = pmo(MQPMO_SET_ALL_CONTEXT);
    block_on(s.put1(&mut object(queue), &mut sought, &mut set, Bytes::new())).unwrap();
    let log = log_bytes(&w.config.log);
    let at = log
        .windows(id.len())
        .rposition(|found| found == id)
        .unwrap();
    let begins = |from: &usize| log[*from] == 1 && log[from + 1..from + 9] == [0; 8];
    let begin = (at - 100..at)
        .rev()
        .filter(|from| at - from > 37)
        .find(begins)
        .unwrap();
    let mut record = log[begin..begin + 17].to_vec();
    let seq = u64::from_le_bytes(log[begin + 17..begin + 25].try_into().unwrap());
    record.extend_from_slice(&(seq + 100).to_le_bytes());
    record.extend_from_slice(&[0; 8]);
    let mut fields: Vec<(u32, Vec<u8>)> = Vec::new();
    let text = |text: &[u8]| [&[text.len() as u8], text].concat();
    fields.push((0, 2i32.to_le_bytes().to_vec()));
    fields.push((1, md.report.to_le_bytes().to_vec()));
    fields.push((7, text(md.format.unpadded())));
    fields.push((9, 1i32.to_le_bytes().to_vec()));
    fields.push((12, text(md.reply_to_q.unpadded())));
    fields.push((14, text(md.user_identifier.unpadded())));
    let mask = fields.iter().fold(0u32, |mask, (bit, _)| mask | 1 << bit);
    record.extend_from_slice(&mask.to_le_bytes());
    record.extend(fields.into_iter().flat_map(|(_, field)| field));
    record.extend_from_slice(data);
    let log = w.qm().log();
    let appended = log.append(Class::Ordinary, &[&record]).unwrap();
    block_on(log.force(appended.end)).unwrap();
}

/// Whether that is a copy of a publication nobody knows: what an administrator may, and others may not, is not done for it.
#[test]
fn reports_on_what_an_earlier_release_has_put_need_no_administrator() {
    let mut w = watched();
    grant(
        &w,
        &[
            OWN,
            ("QUEUE", "REPLIES", "PUT"),
            ("QUEUE", "REPLIES", "PASSID"),
        ],
    );
    for (user, arrive) in [("boss", (0, 1)), ("app", (1, 0))] {
        let old = Md {
            user_identifier: Chars::new(user),
            ..asking(MQRO_COD, "REPLIES")
        };
        put_as_before(&w, "Q", &old, b"old");
        w.crash();
        w.restart();
        assert_eq!(w.depth("Q"), 2);
        let boss = admit(&w, "boss").unwrap();
        gets(&boss, "Q");
        gets(&boss, "Q");
        assert_eq!(reported(&w), arrive, "{user}");
    }
}

/// The header of a delayed message as the release before wrote it.
fn header_as_before(header: &[u8]) -> Vec<u8> {
    let mut old = header.to_vec();
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap()) as usize;
    let (length, user) = (word(8), word(156));
    old.drain(length - user..length);
    old.drain(144..160);
    old[4..8].copy_from_slice(&2u32.to_le_bytes());
    old[8..12].copy_from_slice(&((length - user - 16) as u32).to_le_bytes());
    old
}

/// What waits since before an upgrade goes where it says, but not where it would be believed.
#[test]
fn delayed_messages_of_an_earlier_release_are_delivered_but_not_believed() {
    let mut w = watched();
    w.run("DEFINE QALIAS(A) TARGET(Q)\nDEFINE TOPIC(T) TOPICSTR('t')");
    let publishes = "ALTER QALIAS(A) TARGET(T) TARGTYPE(TOPIC)";
    for (to, change, expected) in [
        ("Q", "", [1, 0, 0]),
        (COMMANDS, "", [1, 0, 1]),
        ("A", "", [2, 0, 1]),
        ("A", publishes, [2, 0, 2]),
    ] {
        let s = admit(&w, "boss").unwrap();
        let h = open(&s, to, MQOO_OUTPUT);
        puts_delayed(&s, h);
        close(&s, h, MQCO_NONE).unwrap();
        let staging = open(&s, STAGING, MQOO_INPUT_SHARED);
        let real = next(&s, staging, 0).unwrap();
        close(&s, staging, MQCO_NONE).unwrap();
        put_as_before(&w, STAGING, &real.md, &header_as_before(&real.data));
        // That by which the number of the queue was found.
        w.run(&format!("CLEAR QLOCAL({STAGING})\n{change}"));
        w.crash();
        let thread = delivery(&w);
        let found = || ["Q", COMMANDS, "DEAD"].map(|queue| w.depth(queue));
        until("it is somewhere", || found() == expected && is_settled(&w));
        assert_eq!(w.depth(STAGING), 0);
        w.end(EndMode::Immediate);
        thread.join().unwrap();
        w.start();
    }
}
