//! Report messages: which are sent, what is in them, and where they go when they cannot go where
//! they should.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use bytes::Bytes;
use posthaste_engine::{CreateOptions, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Hobj, Md, Name, PointerSize, Reason, Rfh2, Xqh};
use world::*;

const REPLIES: &str = "REPLIES";

/// Makes the reported thing happen to a message with these options; the report must be sent then.
struct Kind {
    name: &'static str,
    /// Plain, with data, with full data.
    options: [i32; 3],
    feedback: i32,
    happen: fn(&World, &Session, Hobj, Md, &[u8]) -> Md,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "arrival",
        options: [MQRO_COA, MQRO_COA_WITH_DATA, MQRO_COA_WITH_FULL_DATA],
        feedback: MQFB_COA,
        happen: |_, s, h, md, data| send(s, h, md, 0, data),
    },
    Kind {
        name: "delivery",
        options: [MQRO_COD, MQRO_COD_WITH_DATA, MQRO_COD_WITH_FULL_DATA],
        feedback: MQFB_COD,
        happen: |w, s, h, md, data| {
            let sent = send(s, h, md, 0, data);
            assert_eq!(w.depth(REPLIES), 0, "before the delivery");
            next(s, h, MQGMO_BROWSE_FIRST).unwrap();
            assert_eq!(w.depth(REPLIES), 0, "browsing is no delivery");
            next(s, h, 0).unwrap();
            sent
        },
    },
    Kind {
        name: "expiration",
        options: [
            MQRO_EXPIRATION,
            MQRO_EXPIRATION_WITH_DATA,
            MQRO_EXPIRATION_WITH_FULL_DATA,
        ],
        feedback: MQFB_EXPIRATION,
        happen: |w, s, h, md, data| {
            let sent = send(s, h, Md { expiry: 1, ..md }, 0, data);
            until("expiry", || {
                let _ = next(s, h, MQGMO_BROWSE_FIRST);
                w.depth(LOCAL) == 0
            });
            sent
        },
    },
];

fn asking(report: i32, persistence: i32) -> Md {
    Md {
        report,
        reply_to_q: Name::new(REPLIES),
        ..md(persistence)
    }
}

fn long_data() -> Vec<u8> {
    (0..250u8).map(|n| n % 128).collect()
}

/// A persistent report of something that maintenance noticed is forced by maintenance.
fn reply(w: &World, s: &Session) -> Taken {
    until("the report", || {
        w.depth(REPLIES) > 0 && !w.status(REPLIES).uncommitted
    });
    let h = open(s, REPLIES, MQOO_INPUT_SHARED);
    let got = next(s, h, 0).unwrap();
    assert_eq!(w.depth(REPLIES), 0, "one report only");
    close(s, h, 0).unwrap();
    got
}

#[test]
fn each_report_carries_as_much_data_as_was_asked_for() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for kind in &KINDS {
        for (option, length) in kind.options.iter().zip([0, 100, 250]) {
            for persistence in [NOT_PERSISTENT, PERSISTENT] {
                let md = Md {
                    format: Chars::new(MQFMT_STRING),
                    coded_char_set_id: 437,
                    encoding: 273,
                    priority: 6,
                    correl_id: [3; 24],
                    ..asking(*option, persistence)
                };
                let sent = (kind.happen)(&w, &s, h, md, &long_data());
                drain(&s, h);
                let what = format!("{} {option:#x}", kind.name);
                let report = reply(&w, &s);
                assert_eq!(report.data, long_data()[..length], "{what}");
                let md = report.md;
                assert_eq!(md.msg_type, MQMT_REPORT, "{what}");
                assert_eq!(md.feedback, kind.feedback, "{what}");
                assert_eq!(md.persistence, persistence, "{what}");
                assert_eq!(md.priority, 6, "{what}");
                assert_eq!(md.report, MQRO_NONE, "{what}");
                assert_eq!(md.expiry, MQEI_UNLIMITED, "{what}");
                assert_eq!(md.correl_id, sent.msg_id, "{what}");
                assert_ne!(md.msg_id, sent.msg_id, "{what}");
                assert!(md.reply_to_q.is_blank(), "{what}");
                assert_eq!(md.put_appl_type, MQAT_QMGR, "{what}");
                assert_eq!(md.put_appl_name.text(), "QM1", "{what}");
                assert_eq!(md.user_identifier.text(), "tester", "{what}");
                assert_eq!(md.original_length, 250, "{what}");
                let format = if length == 0 {
                    ""
                } else {
                    MQFMT_STRING.trim_end()
                };
                assert_eq!(md.format.text(), format, "{what}");
                assert_eq!((md.encoding, md.coded_char_set_id), (273, 437), "{what}");
            }
        }
    }
}

/// A report of which the headers are cut is one that no library of JMS can read.
#[test]
fn headers_come_whole_in_front_of_the_first_hundred_bytes() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    let header = Rfh2 {
        format: Chars::new(MQFMT_STRING),
        folders: vec![format!("<usr><long>{}</long></usr>", "x".repeat(200))],
        ..Rfh2::default()
    };
    let mut expected = Vec::new();
    header.encode(&mut expected, ByteOrder::Big, PointerSize::Four);
    let data = [&expected[..], &long_data()].concat();
    expected.extend_from_slice(&long_data()[..100]);
    for kind in &KINDS {
        let md = Md {
            format: Chars::new(MQFMT_RF_HEADER_2),
            encoding: 273,
            ..asking(kind.options[1], NOT_PERSISTENT)
        };
        (kind.happen)(&w, &s, h, md, &data);
        // It is no text.
        while next(&s, h, 0).is_ok() {}
        let report = reply(&w, &s);
        assert_eq!(report.data, expected, "{}", kind.name);
        assert_eq!(report.md.format.text(), "MQHRF2", "{}", kind.name);
    }
}

#[test]
fn identifiers_of_reports_follow_the_options() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for kind in &KINDS {
        for (msg_option, passes_msg) in [(MQRO_NEW_MSG_ID, false), (MQRO_PASS_MSG_ID, true)] {
            for (correl_option, passes_correl) in [
                (MQRO_COPY_MSG_ID_TO_CORREL_ID, false),
                (MQRO_PASS_CORREL_ID, true),
            ] {
                let options = kind.options[0] | msg_option | correl_option;
                let md = Md {
                    correl_id: [3; 24],
                    ..asking(options, 0)
                };
                let sent = (kind.happen)(&w, &s, h, md, b"x");
                drain(&s, h);
                let report = reply(&w, &s).md;
                let passed = report.msg_id == sent.msg_id;
                assert_eq!(passed, passes_msg, "{} {options:#x}", kind.name);
                let expected = if passes_correl { [3; 24] } else { sent.msg_id };
                assert_eq!(report.correl_id, expected, "{} {options:#x}", kind.name);
            }
        }
    }
}

#[test]
fn only_what_was_asked_for_is_reported() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    for kind in &KINDS {
        let others: i32 = KINDS
            .iter()
            .filter(|k| k.name != kind.name)
            .map(|k| k.options[0])
            .fold(0, |all, one| all | one);
        let quiet = asking(MQRO_EXCEPTION | (others & !MQRO_COA & !MQRO_COD), 0);
        if kind.name != "expiration" {
            (kind.happen)(&w, &s, h, quiet, b"x");
            drain(&s, h);
            assert_eq!(w.depth(REPLIES), 0, "{}", kind.name);
        }
    }
    // All of them at once: each in its time.
    send(
        &s,
        h,
        asking(MQRO_COA | MQRO_COD | MQRO_EXPIRATION, 0),
        0,
        b"x",
    );
    assert_eq!(reply(&w, &s).md.feedback, MQFB_COA);
    next(&s, h, 0).unwrap();
    assert_eq!(reply(&w, &s).md.feedback, MQFB_COD);
}

#[test]
fn expiry_and_discard_are_passed_on_if_asked_for() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let options = MQRO_COA | MQRO_PASS_DISCARD_AND_EXPIRY | MQRO_DISCARD_MSG;
    let md = Md {
        expiry: 5000,
        ..asking(options, 0)
    };
    send(&s, h, md, 0, b"x");
    let report = reply(&w, &s).md;
    assert_eq!(report.report, MQRO_DISCARD_MSG);
    assert!((4900..=5000).contains(&report.expiry), "{}", report.expiry);
}

/// The manual, "Report (MQLONG)", MQRO_PASS_DISCARD_AND_EXPIRY: what is left of the message's time. Of a report that says that
/// nothing is left it says no more: it stays until it is read.
#[test]
fn the_time_that_is_left_is_passed_on_and_nothing_where_there_is_none() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    let passing = |option: i32, expiry: i32| Md {
        expiry,
        ..asking(option | MQRO_PASS_DISCARD_AND_EXPIRY, 0)
    };
    send(&s, h, passing(MQRO_COD, 5000), 0, b"x");
    until("the message is older", || {
        next(&s, h, MQGMO_BROWSE_FIRST).unwrap().md.expiry < 5000
    });
    next(&s, h, 0).unwrap();
    let report = reply(&w, &s).md;
    assert!((4900..5000).contains(&report.expiry), "{}", report.expiry);
    let expiration = &KINDS[2];
    let md = passing(MQRO_EXPIRATION, 1);
    (expiration.happen)(&w, &s, h, md.clone(), b"x");
    let report = reply(&w, &s).md;
    assert_eq!(report.feedback, MQFB_EXPIRATION);
    assert_eq!(report.expiry, MQEI_UNLIMITED);
}

/// The manual, "Structure of the report field": which options that are unknown are refused, and which are told of.
#[test]
fn unknown_options_are_refused_or_warned_of_by_their_place() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(XQ) USAGE(XMITQ)
         DEFINE QREMOTE(AWAY) RNAME(R) RQMNAME(ELSEWHERE) XMITQ(XQ)",
    );
    let s = w.connect();
    let [local, away, direct] = [LOCAL, "AWAY", "XQ"].map(|name| open(&s, name, MQOO_OUTPUT));
    let queue = |to, report| try_put(&s, to, &mut Md { report, ..md(0) }, 0, b"x");
    let (warned, refused) = (
        Ok(Reason::UNKNOWN_REPORT_OPTION),
        Err(Reason::REPORT_OPTIONS_ERROR),
    );
    let bits = |mask: i32| {
        (0..32)
            .map(|bit| 1 << bit)
            .filter(move |bit| mask & bit != 0)
    };
    for bit in bits(MQRO_REJECT_UNSUP_MASK) {
        assert_eq!(queue(local, bit), refused, "{bit:#x}");
        assert_eq!(queue(away, bit), refused, "{bit:#x}");
    }
    for bit in [8, 0x10, 0x20, 0x2000_0000, 0x4000_0000, i32::MIN] {
        assert_ne!(MQRO_ACCEPT_UNSUP_MASK & bit, 0);
        for to in [local, away, direct] {
            assert_eq!(queue(to, bit), warned, "{bit:#x}");
        }
    }
    for bit in [0x8000, 0x1_0000, 0x2_0000] {
        assert_ne!(MQRO_ACCEPT_UNSUP_IF_XMIT_MASK & bit, 0);
        assert_eq!(queue(away, bit), warned, "{bit:#x}");
        assert_eq!(queue(local, bit), refused, "{bit:#x}");
        assert_eq!(queue(direct, bit), refused, "{bit:#x}");
    }
    // What is known is nothing to speak of.
    let known = MQRO_PAN | MQRO_NAN | MQRO_ACTIVITY | MQRO_PASS_MSG_ID | MQRO_DISCARD_MSG;
    assert_eq!(queue(local, known), Ok(Reason::NONE));
    let t = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    assert_eq!(queue(t, 8), warned);
    assert_eq!(queue(t, 0x8000), refused);
}

#[test]
fn reports_of_a_unit_of_work_are_part_of_it() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let replies = open(&s, REPLIES, MQOO_BROWSE);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let md = asking(MQRO_COA | MQRO_COD, persistence);
        send(&s, h, md.clone(), MQPMO_SYNCPOINT, b"1");
        assert!(browse(&s, replies).is_empty());
        backout(&s);
        assert_eq!(w.depth(REPLIES), 0);
        send(&s, h, md.clone(), MQPMO_SYNCPOINT, b"2");
        commit(&s);
        assert_eq!(reply(&w, &s).md.feedback, MQFB_COA);
        for _ in 0..2 {
            next(&s, h, MQGMO_SYNCPOINT).unwrap();
            assert!(browse(&s, replies).is_empty());
            backout(&s);
            assert_eq!(w.depth(REPLIES), 0);
        }
        next(&s, h, MQGMO_SYNCPOINT).unwrap();
        commit(&s);
        assert_eq!(reply(&w, &s).md.feedback, MQFB_COD);
    }
}

#[test]
fn a_report_counts_among_the_messages_of_the_unit_of_work() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)\nALTER QMGR MAXUMSGS(3)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    send(&s, h, asking(MQRO_COA, 0), MQPMO_SYNCPOINT, b"1");
    let refused = try_put(&s, h, &mut asking(MQRO_COA, 0), MQPMO_SYNCPOINT, b"2");
    assert_eq!(refused, Err(Reason::SYNCPOINT_LIMIT_REACHED));
    // The message that was refused is not in the unit of work either.
    commit(&s);
    assert_eq!((w.depth(LOCAL), w.depth(REPLIES)), (1, 1));
}

#[test]
fn a_handed_over_message_is_reported_too() {
    let w = World::new();
    w.run("DEFINE QLOCAL(REPLIES)");
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let waiting = wait(&s, h, md(0), gmo(0));
        send(&putter, p, asking(MQRO_COD, persistence), 0, b"x");
        waiting.finish().unwrap();
        assert_eq!(reply(&w, &s).md.feedback, MQFB_COD);
    }
}

#[test]
fn reports_find_their_way_to_other_queue_managers() {
    let w = World::new();
    w.run("DEFINE QLOCAL(FAR) USAGE(XMITQ)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let md = Md {
        reply_to_q_mgr: Name::new("FAR"),
        ..asking(MQRO_COA_WITH_FULL_DATA, 0)
    };
    let sent = send(&s, h, md, 0, b"content");
    let x = open(&s, "FAR", MQOO_INPUT_SHARED);
    let got = next(&s, x, 0).unwrap();
    assert_eq!(got.md.format.text(), MQFMT_XMIT_Q_HEADER.trim_end());
    let (header, used) = Xqh::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.remote_q_name.text(), REPLIES);
    assert_eq!(header.remote_q_mgr_name.text(), "FAR");
    assert_eq!(header.msg_desc.feedback, MQFB_COA);
    assert_eq!(header.msg_desc.correl_id, sent.msg_id);
    assert_eq!(&got.data[used..], b"content");
}

/// A message on its way to another queue manager has not arrived: no COA here.
#[test]
fn putting_on_a_transmission_queue_is_no_arrival() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(REPLIES)
         DEFINE QLOCAL(FAR) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)",
    );
    let s = w.connect();
    let h = open(&s, "R", MQOO_OUTPUT);
    send(&s, h, asking(MQRO_COA | MQRO_COD, 0), 0, b"x");
    let x = open(&s, "FAR", MQOO_INPUT_SHARED);
    let got = next(&s, x, 0).unwrap();
    let (header, _) = Xqh::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.msg_desc.report, MQRO_COA | MQRO_COD);
    assert_eq!(w.depth(REPLIES), 0);
}

/// Why a report cannot be put on its reply-to queue: set-up, and the reason in the header.
const OBSTACLES: [(&str, Reason); 9] = [
    ("", Reason::UNKNOWN_OBJECT_NAME),
    ("DEFINE QLOCAL(REPLIES) MAXDEPTH(0)", Reason::Q_FULL),
    (
        "DEFINE QLOCAL(REPLIES) PUT(DISABLED)",
        Reason::PUT_INHIBITED,
    ),
    (
        "DEFINE QLOCAL(REPLIES) MAXMSGL(9)",
        Reason::MSG_TOO_BIG_FOR_Q,
    ),
    ("DEFINE QMODEL(REPLIES)", Reason::OBJECT_TYPE_ERROR),
    (
        "DEFINE QALIAS(REPLIES) TARGET(NOWHERE)",
        Reason::UNKNOWN_ALIAS_BASE_Q,
    ),
    (
        "DEFINE QALIAS(REPLIES) TARGET(SYSTEM.DEFAULT.LOCAL.QUEUE) PUT(DISABLED)",
        Reason::PUT_INHIBITED,
    ),
    (
        "DEFINE QALIAS(REPLIES) TARGET(SYSTEM.DEFAULT.MODEL.QUEUE)",
        Reason::ALIAS_BASE_Q_TYPE_ERROR,
    ),
    (
        "DEFINE QLOCAL(SHORT)
         DEFINE QALIAS(REPLIES) TARGET(SHORT)
         ALTER QLOCAL(SHORT) MAXDEPTH(0)",
        Reason::Q_FULL,
    ),
];

#[test]
fn what_cannot_be_replied_goes_to_the_dead_letter_queue() {
    for (setup, reason) in OBSTACLES {
        for kind in &KINDS {
            let w = World::with_dead_letters();
            w.run(setup);
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
            let md = Md {
                format: Chars::new(MQFMT_STRING),
                ..asking(kind.options[2], PERSISTENT)
            };
            let happened = happen_unseen(kind, &w, &s, h, md);
            let what = format!("{} {setup}", kind.name);
            until(&what, || w.depth(DEAD) == 1 && !w.status(DEAD).uncommitted);
            let d = open(&s, DEAD, MQOO_INPUT_SHARED);
            let dead = next(&s, d, 0).unwrap();
            assert_eq!(dead.md.format.text(), MQFMT_DEAD_LETTER_HEADER.trim_end());
            assert_eq!(dead.md.encoding, MQENC_NATIVE);
            assert_eq!(dead.md.persistence, PERSISTENT);
            assert_eq!(dead.md.feedback, kind.feedback, "{what}");
            assert_eq!(dead.md.correl_id, happened.msg_id, "{what}");
            let order = ByteOrder::Little;
            let (header, used) = Dlh::decode(&dead.data, order, PointerSize::Four).unwrap();
            assert_eq!(header.reason, reason.code(), "{what}");
            assert_eq!(header.dest_q_name.text(), REPLIES);
            assert_eq!(header.dest_q_mgr_name.text(), "QM1");
            assert_eq!(header.format.text(), MQFMT_STRING.trim_end());
            assert_eq!(header.put_appl_name.text(), "QM1");
            assert_eq!(header.put_date.text().len(), 8);
            assert_eq!(&dead.data[used..], b"the content", "{what}");
            assert_eq!(w.message_count("AMQ2017W"), 0);
        }
    }
}

/// As the kind does it, but without looking at the reply-to queue.
fn happen_unseen(kind: &Kind, w: &World, s: &Session, h: Hobj, md: Md) -> Md {
    let data = b"the content";
    match kind.name {
        "delivery" => {
            let sent = send(s, h, md, 0, data);
            next(s, h, 0).unwrap();
            sent
        }
        _ => (kind.happen)(w, s, h, md, data),
    }
}

/// There is no dead-letter queue, or it cannot take the report: the operator is told, and the
/// application's call succeeds all the same.
#[test]
fn what_cannot_be_dead_lettered_is_discarded() {
    let none = "ALTER QMGR DEADQ('')";
    let full = "ALTER QLOCAL(SYSTEM.DEAD.LETTER.QUEUE) MAXDEPTH(0)";
    let inhibited = "ALTER QLOCAL(SYSTEM.DEAD.LETTER.QUEUE) PUT(DISABLED)";
    let small = "ALTER QLOCAL(SYSTEM.DEAD.LETTER.QUEUE) MAXMSGL(9)";
    let unknown = "ALTER QMGR DEADQ(NOWHERE)";
    for setup in [none, full, inhibited, small, unknown] {
        for kind in &KINDS {
            let w = World::with_dead_letters();
            w.run(setup);
            let s = w.connect();
            let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
            let md = asking(kind.options[0], PERSISTENT);
            happen_unseen(kind, &w, &s, h, md);
            drain(&s, h);
            let what = format!("{} {setup}", kind.name);
            until(&what, || w.message_count("AMQ2017W") == 1);
            assert_eq!(w.depth(DEAD), 0, "{what}");
            assert!(!w.status(DEAD).uncommitted, "{what}");
        }
    }
}

/// The reply-to queue is the queue itself, and the message takes its last place.
#[test]
fn a_report_never_takes_the_place_of_its_message() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for options in [0, MQPMO_SYNCPOINT] {
            let w = World::with_dead_letters();
            w.run("DEFINE QLOCAL(REPLIES) MAXDEPTH(1)");
            let s = w.connect();
            let h = open(&s, REPLIES, IN_OUT);
            send(&s, h, asking(MQRO_COA, persistence), options, b"message");
            commit(&s);
            assert_eq!(drain(&s, h), ["message"]);
            assert_eq!(w.depth(DEAD), 1);
            // Full from the beginning, the put fails and nothing is reported.
            put(&s, h, 0, 0, b"in the way");
            let refused = try_put(&s, h, &mut asking(MQRO_COA, persistence), options, b"");
            assert_eq!(refused, Err(Reason::Q_FULL));
            commit(&s);
            assert_eq!(drain(&s, h), ["in the way"]);
            assert_eq!(w.depth(DEAD), 1);
        }
    }
}

/// A persistent report to a temporary dynamic queue, which can hold none, is non-persistent.
#[test]
fn reports_reach_temporary_dynamic_queues() {
    let w = World::with_dead_letters();
    let s = w.connect();
    let mut od = object(MODEL);
    let t = open_od(&s, &mut od, IN_OUT).unwrap();
    let md = Md {
        report: MQRO_COA,
        reply_to_q: od.object_name,
        ..md(PERSISTENT)
    };
    let done = block_on(s.put1(
        &mut object(LOCAL),
        &mut { md },
        &mut pmo(0),
        Bytes::from_static(b"x"),
    ));
    assert_eq!(done.unwrap().warning, Reason::NONE);
    let report = next(&s, t, 0).unwrap().md;
    assert_eq!((report.feedback, report.persistence), (MQFB_COA, 0));
    assert_eq!(w.depth(DEAD), 0);
}

#[test]
fn a_message_and_its_report_survive_together() {
    let mut w = World::made(&CreateOptions::default(), |_| {});
    w.run("DEFINE QLOCAL(REPLIES)");
    for n in 1..=5 {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        send(&s, h, asking(MQRO_COA, PERSISTENT), 0, b"x");
        send(&s, h, asking(MQRO_COA, PERSISTENT), MQPMO_SYNCPOINT, b"x");
        drop(s);
        w.crash();
        assert_eq!((w.depth(LOCAL), w.depth(REPLIES)), (n, n));
    }
}

/// Puts a persistent message of 20,000 bytes on ASKED that soon expires and asks for a report with all its data.
fn about_to_expire(s: &Session, asked: Hobj) {
    let md = Md {
        expiry: 1,
        ..asking(MQRO_EXPIRATION_WITH_FULL_DATA, PERSISTENT)
    };
    send(s, asked, md, 0, &[1; 20_000]);
}

/// The message on ASKED has expired, is seen by nobody, and does not end without its report.
fn expires_unseen_and_stays(w: &World, s: &Session, asked: Hobj) {
    until("expiry", || next(s, asked, MQGMO_BROWSE_FIRST).is_err());
    assert_eq!((w.depth("ASKED"), w.depth(REPLIES)), (1, 0));
    assert_eq!(w.message_count("AMQ2017W"), 0);
    // It is met again and again, and counts when it ends.
    for _ in 0..3 {
        next(s, asked, MQGMO_BROWSE_FIRST).unwrap_err();
    }
    assert_eq!(w.status("ASKED").counts.expired, 0);
}

/// Its report, now that there is room.
fn report_comes(w: &World, s: &Session, asked: Hobj) {
    until("a report", || {
        assert!(next(s, asked, MQGMO_BROWSE_FIRST).is_err());
        w.depth("ASKED") == 0
    });
    let report = reply(w, s);
    assert_eq!(report.md.feedback, MQFB_EXPIRATION);
    assert_eq!((report.md.persistence, report.data.len()), (1, 20_000));
    assert_eq!(w.status("ASKED").counts.expired, 1);
}

/// The log has no room for the report on a persistent message that has expired: the message does not end without it,
/// and is not seen meanwhile.
#[test]
fn a_full_log_takes_no_expiration_report_away() {
    let mut w = World::with_log_files(3, 1);
    w.run("DEFINE QLOCAL(REPLIES)\nDEFINE QLOCAL(ASKED)");
    let s = w.connect();
    let asked = open(&s, "ASKED", IN_OUT | MQOO_BROWSE);
    about_to_expire(&s, asked);
    // No checkpoint from now on.
    w.stage.no_image_from.store(w.image() + 1, SeqCst);
    let fill = open(&s, LOCAL, IN_OUT);
    until("a log without room for the report", || {
        if try_put(&s, fill, &mut md(PERSISTENT), 0, &[7; 3_000]).is_ok() {
            next(&s, fill, 0).unwrap();
        }
        w.qm().log().usage().ordinary_left < 10_000
    });
    expires_unseen_and_stays(&w, &s, asked);
    drop(s);
    w.kill();
    w.stage.no_image_from.store(u64::MAX, SeqCst);
    w.start();
    let s = w.connect();
    let asked = open(&s, "ASKED", IN_OUT | MQOO_BROWSE);
    report_comes(&w, &s, asked);
    drop(s);
    w.crash();
    assert_eq!((w.depth("ASKED"), w.depth(REPLIES)), (0, 0));
}
