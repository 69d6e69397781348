//! MQPUT and MQPUT1: defaults, priorities, identifiers, limits, context.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::collections::HashSet;

use bytes::Bytes;
use posthaste_engine::{Application, EndMode, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Pmo, Reason};
use world::*;

#[test]
fn delivery_is_by_priority_or_strictly_in_the_order_of_arrival() {
    let w = World::new();
    w.run("DEFINE QLOCAL(PRI) MSGDLVSQ(PRIORITY)\nDEFINE QLOCAL(ORDER) MSGDLVSQ(FIFO)");
    let s = w.connect();
    for (queue, expected) in [
        ("PRI", "9 9 8 7 6 5 4 3 2 1 0 0"),
        ("ORDER", "3 0 9 5 7 1 8 2 6 4 9 0"),
    ] {
        let h = open(&s, queue, IN_OUT);
        for priority in [3, 0, 9, 5, 7, 1, 8, 2, 6, 4, 9, 0] {
            let md = Md { priority, ..md(0) };
            send(&s, h, md, 0, priority.to_string().as_bytes());
        }
        assert_eq!(drain(&s, h).join(" "), expected, "{queue}");
    }
}

#[test]
fn a_priority_above_nine_is_kept_and_delivered_as_nine() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (text, priority) in [("eight", 8), ("twelve", 12), ("nine", 9)] {
        let mut md = Md { priority, ..md(0) };
        let warning = try_put(&s, h, &mut md, 0, text.as_bytes()).unwrap();
        let expected = if priority > 9 {
            Reason::PRIORITY_EXCEEDS_MAXIMUM
        } else {
            Reason::NONE
        };
        assert_eq!(warning, expected);
        assert_eq!(md.priority, priority);
    }
    let first = next(&s, h, 0).unwrap();
    assert_eq!((first.text().as_str(), first.md.priority), ("twelve", 12));
    assert_eq!(drain(&s, h), ["nine", "eight"]);
}

/// The defaults are those of the first definition on the way ("as queue definition").
#[test]
fn defaults_come_from_the_queue_that_was_named() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(L) DEFPRTY(3) DEFPSIST(NO)
         DEFINE QALIAS(A) TARGET(L) DEFPRTY(7) DEFPSIST(YES)
         DEFINE QLOCAL(FAR) USAGE(XMITQ) DEFPRTY(1) DEFPSIST(NO)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) DEFPRTY(5) DEFPSIST(YES)
         DEFINE QALIAS(AR) TARGET(R) DEFPRTY(8) DEFPSIST(NO)",
    );
    let s = w.connect();
    for (queue, priority, persistence) in [("L", 3, 0), ("A", 7, 1), ("R", 5, 1), ("AR", 8, 0)] {
        let h = open(&s, queue, MQOO_OUTPUT);
        let as_defined = || Md {
            priority: MQPRI_PRIORITY_AS_Q_DEF,
            ..md(MQPER_PERSISTENCE_AS_Q_DEF)
        };
        let by_handle = send(&s, h, as_defined(), 0, b"");
        let mut by_name = as_defined();
        put1(&s, queue, &mut by_name, 0, b"").unwrap();
        for shown in [by_handle, by_name] {
            let got = (shown.priority, shown.persistence);
            assert_eq!(got, (priority, persistence), "{queue}");
        }
        let stated = Md {
            priority: 2,
            ..md(NOT_PERSISTENT)
        };
        let stated = send(&s, h, stated, 0, b"");
        assert_eq!((stated.priority, stated.persistence), (2, 0), "{queue}");
    }
    let l = open(&s, "L", MQOO_INPUT_SHARED);
    let got = next(&s, l, 0).unwrap().md;
    assert_eq!((got.priority, got.persistence), (7, 1));
    // A change of the definition is seen by handles that are open.
    let h = open(&s, "A", MQOO_OUTPUT);
    w.run("ALTER QALIAS(A) DEFPRTY(4)");
    let as_defined = Md {
        priority: MQPRI_PRIORITY_AS_Q_DEF,
        ..md(0)
    };
    assert_eq!(send(&s, h, as_defined, 0, b"").priority, 4);
}

#[test]
fn generated_identifiers_are_unique_for_ever() {
    let mut w = World::new();
    let mut seen = HashSet::new();
    for clean in [true, false, true] {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for _ in 0..200 {
            let mut one = md(0);
            let options = MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID;
            try_put(&s, h, &mut one, options, b"").unwrap();
            assert!(one.msg_id.starts_with(b"AMQ QM1 "));
            assert!(seen.insert(one.msg_id), "MsgId twice");
            assert!(seen.insert(one.correl_id), "CorrelId twice");
            let got = next(&s, h, 0).unwrap().md;
            assert_eq!((got.msg_id, got.correl_id), (one.msg_id, one.correl_id));
            // Without the option a CorrelId is never made, and a MsgId only if there is none.
            let mut two = md(0);
            put1(&s, LOCAL, &mut two, 0, b"").unwrap();
            assert!(seen.insert(two.msg_id));
            assert_eq!(two.correl_id, [0; 24]);
            let again = send(&s, h, two.clone(), 0, b"");
            assert_eq!(again.msg_id, two.msg_id);
            drain(&s, h);
        }
        drop(s);
        if clean {
            w.restart();
        } else {
            w.crash();
        }
    }
}

#[test]
fn fields_that_are_not_output_stay_as_the_application_has_them() {
    let w = World::new();
    w.run("DEFINE QREMOTE(REPLY.ALIAS) RNAME(REPLIES) RQMNAME(QM7)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (reply_to, stored) in [
        ("MINE", ("MINE", "QM1")),
        ("REPLY.ALIAS", ("REPLIES", "QM7")),
    ] {
        let before = Md {
            reply_to_q: Name::new(reply_to),
            backout_count: 7,
            msg_flags: MQMF_LAST_MSG_IN_GROUP,
            ..md(0)
        };
        for by_name in [false, true] {
            let mut after = before.clone();
            if by_name {
                put1(&s, LOCAL, &mut after, 0, b"").unwrap();
            } else {
                try_put(&s, h, &mut after, 0, b"").unwrap();
            }
            assert_eq!(after.reply_to_q, before.reply_to_q);
            assert!(after.reply_to_q_mgr.is_blank());
            assert_eq!(after.backout_count, 7);
            assert_eq!(after.msg_flags, MQMF_LAST_MSG_IN_GROUP);
            assert_ne!(after.group_id, [0; 24]);
            let got = next(&s, h, 0).unwrap().md;
            assert_eq!(got.reply_to_q.text(), stored.0);
            assert_eq!(got.reply_to_q_mgr.text(), stored.1);
            assert_eq!(got.backout_count, 0);
            let flags = MQMF_LAST_MSG_IN_GROUP | MQMF_MSG_IN_GROUP;
            assert_eq!(got.msg_flags, flags);
        }
    }
    // A stated queue manager is left alone.
    let stated = Md {
        reply_to_q: Name::new("REPLY.ALIAS"),
        reply_to_q_mgr: Name::new("QM8"),
        ..md(0)
    };
    send(&s, h, stated, 0, b"");
    let got = next(&s, h, 0).unwrap().md;
    assert_eq!(got.reply_to_q.text(), "REPLY.ALIAS");
    assert_eq!(got.reply_to_q_mgr.text(), "QM8");
}

#[test]
fn the_resolved_names_are_told() {
    let w = World::new();
    w.run(
        "DEFINE QALIAS(A) TARGET(SYSTEM.DEFAULT.LOCAL.QUEUE)
         DEFINE QLOCAL(FAR) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)",
    );
    let s = w.connect();
    for (queue, q, q_mgr, known) in [
        (LOCAL, LOCAL, "QM1", (1, 0)),
        ("A", LOCAL, "QM1", (1, 0)),
        ("R", "Q", "FAR", (0, 1)),
    ] {
        let h = open(&s, queue, MQOO_OUTPUT);
        let mut by_handle = Pmo::default();
        block_on(s.put(h, &mut md(0), &mut by_handle, Bytes::new())).unwrap();
        let (mut by_name, mut od) = (Pmo::default(), object(queue));
        block_on(s.put1(&mut od, &mut md(0), &mut by_name, Bytes::new())).unwrap();
        for pmo in [by_handle, by_name] {
            assert_eq!(pmo.resolved_q_name.text(), q);
            assert_eq!(pmo.resolved_q_mgr_name.text(), q_mgr);
            assert_eq!((pmo.known_dest_count, pmo.unknown_dest_count), known);
        }
        assert_eq!(od.resolved_q_name.text(), q);
        assert_eq!(od.resolved_q_mgr_name.text(), q_mgr);
    }
}

#[test]
fn puts_are_inhibited_on_every_way_to_the_queue() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(L)
         DEFINE QALIAS(A) TARGET(L)
         DEFINE QLOCAL(FAR) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)
         DEFINE QALIAS(AR) TARGET(R)",
    );
    let s = w.connect();
    let queues = ["L", "A", "FAR", "R", "AR"];
    let handles: Vec<Hobj> = queues.iter().map(|q| open(&s, q, MQOO_OUTPUT)).collect();
    for (kind, inhibited, affected) in [
        ("QLOCAL", "L", vec!["L", "A"]),
        ("QALIAS", "A", vec!["A"]),
        ("QLOCAL", "FAR", vec!["FAR", "R", "AR"]),
        ("QREMOTE", "R", vec!["R", "AR"]),
        ("QALIAS", "AR", vec!["AR"]),
    ] {
        w.run(&format!("ALTER {kind}({inhibited}) PUT(DISABLED)"));
        for (queue, h) in queues.iter().zip(&handles) {
            let expected = if affected.contains(queue) {
                Err(Reason::PUT_INHIBITED)
            } else {
                Ok(Reason::NONE)
            };
            for options in [0, MQPMO_SYNCPOINT] {
                for persistence in [NOT_PERSISTENT, PERSISTENT] {
                    let by_handle = try_put(&s, *h, &mut md(persistence), options, b"");
                    assert_eq!(by_handle, expected, "{inhibited} {queue}");
                }
            }
            let by_name = put1(&s, queue, &mut md(0), 0, b"");
            assert_eq!(by_name, expected, "{inhibited} {queue}");
            backout(&s);
        }
        w.run(&format!("ALTER {kind}({inhibited}) PUT(ENABLED)"));
    }
}

#[test]
fn maxdepth_counts_uncommitted_puts_but_not_uncommitted_gets() {
    let w = World::new();
    w.run("DEFINE QLOCAL(TWO) MAXDEPTH(2)");
    let s = w.connect();
    let h = open(&s, "TWO", IN_OUT);
    let full = Err(Reason::Q_FULL);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        put(&s, h, persistence, 0, b"a");
        put(&s, h, persistence, MQPMO_SYNCPOINT, b"b");
        for options in [0, MQPMO_SYNCPOINT] {
            assert_eq!(try_put(&s, h, &mut md(persistence), options, b"c"), full);
        }
        backout(&s);
        put(&s, h, persistence, 0, b"b");
        next(&s, h, MQGMO_SYNCPOINT).unwrap();
        put(&s, h, persistence, 0, b"c");
        // What was backed out is there, even beyond MAXDEPTH.
        backout(&s);
        assert_eq!(w.depth("TWO"), 3);
        assert_eq!(try_put(&s, h, &mut md(persistence), 0, b"d"), full);
        assert_eq!(drain(&s, h), ["a", "b", "c"]);
    }
    // MAXDEPTH(0) admits nothing at all.
    w.run("ALTER QLOCAL(TWO) MAXDEPTH(0)");
    assert_eq!(try_put(&s, h, &mut md(0), 0, b""), full);
}

#[test]
fn message_lengths_are_limited_by_queue_and_queue_manager() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(SMALL) MAXMSGL(100)
         DEFINE QALIAS(A) TARGET(SMALL)
         ALTER QMGR MAXMSGL(40000)
         DEFINE QLOCAL(FAR) USAGE(XMITQ) MAXMSGL(1000)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)",
    );
    let s = w.connect();
    let big = vec![0; 50_000];
    let cases = [
        ("SMALL", 100, Ok(Reason::NONE)),
        ("SMALL", 101, Err(Reason::MSG_TOO_BIG_FOR_Q)),
        ("A", 100, Ok(Reason::NONE)),
        ("A", 101, Err(Reason::MSG_TOO_BIG_FOR_Q)),
        (LOCAL, 40_000, Ok(Reason::NONE)),
        (LOCAL, 40_001, Err(Reason::MSG_TOO_BIG_FOR_Q_MGR)),
        // The header of the transmission queue counts.
        ("R", 1000 - 428, Ok(Reason::NONE)),
        ("R", 1001 - 428, Err(Reason::MSG_TOO_BIG_FOR_Q)),
    ];
    for (queue, length, expected) in cases {
        let h = open(&s, queue, MQOO_OUTPUT);
        let data = &big[..length];
        let by_handle = try_put(&s, h, &mut md(0), 0, data);
        assert_eq!(by_handle, expected, "{queue} {length}");
        let by_name = put1(&s, queue, &mut md(0), 0, data);
        assert_eq!(by_name, expected, "{queue} {length}");
    }
}

/// The longest message there may be, persistent, in and out of a crash.
#[test]
fn a_hundred_megabytes_go_through_the_log() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 16_384;
        c.log_config.primary_files = 3;
        c.log_config.secondary_files = 1;
    });
    let length = 104_857_600;
    w.run(&format!(
        "ALTER QMGR MAXMSGL({length})\nDEFINE QLOCAL(LONG) MAXMSGL({length})"
    ));
    let data: Bytes = (0..length as u32 / 4)
        .flat_map(|n| n.wrapping_mul(0x9E37_79B9).to_le_bytes())
        .collect::<Vec<u8>>()
        .into();
    let s = w.connect();
    let h = open(&s, "LONG", IN_OUT);
    let mut one = md(PERSISTENT);
    block_on(s.put(h, &mut one, &mut Pmo::default(), data.clone())).unwrap();
    let mut over = data.to_vec();
    over.push(0);
    let refused = block_on(s.put(h, &mut md(0), &mut Pmo::default(), over.into()));
    assert_eq!(refused.map(|_| ()), Err(Reason::MSG_TOO_BIG_FOR_Q));
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, "LONG", IN_OUT);
    let short = take(&s, h, md(0), gmo(0), 4096).unwrap();
    assert_eq!(
        (short.warning, short.length),
        (Reason::TRUNCATED_MSG_FAILED, length)
    );
    let got = take(&s, h, md(0), gmo(MQGMO_SYNCPOINT), length).unwrap();
    assert_eq!(got.md.msg_id, one.msg_id);
    assert!(got.data == data, "the data differ");
    commit(&s);
    assert_eq!(w.depth("LONG"), 0);
}

/// NPMCLASS decides about a controlled end; nothing non-persistent survives a crash.
#[test]
fn non_persistent_messages_survive_a_controlled_end_if_their_class_is_high() {
    for how in [EndMode::Immediate, EndMode::Controlled, EndMode::Preemptive] {
        let mut w = World::new();
        w.run("DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)\nDEFINE QLOCAL(NORMAL) NPMCLASS(NORMAL)");
        let fill = |w: &World| {
            let s = w.connect();
            for queue in ["HIGH", "NORMAL"] {
                let h = open(&s, queue, MQOO_OUTPUT);
                for (n, priority) in [2, 7, 2].into_iter().enumerate() {
                    for persistence in [NOT_PERSISTENT, PERSISTENT] {
                        let md = Md {
                            priority,
                            ..md(persistence)
                        };
                        let text = format!("{n}{}", ["np", "p"][persistence as usize]);
                        send(&s, h, md, 0, text.as_bytes());
                    }
                }
            }
        };
        let content = |w: &World, queue: &str| {
            let s = w.connect();
            browse(&s, open(&s, queue, MQOO_BROWSE)).join(" ")
        };
        fill(&w);
        assert_eq!(content(&w, "HIGH"), "1np 1p 0np 0p 2np 2p");
        w.end(how);
        w.start();
        let clean = how != EndMode::Preemptive;
        let high = if clean {
            "1np 1p 0np 0p 2np 2p"
        } else {
            "1p 0p 2p"
        };
        assert_eq!(content(&w, "HIGH"), high, "{how:?}");
        assert_eq!(content(&w, "NORMAL"), "1p 0p 2p", "{how:?}");
        // They survived that end only: a crash later takes them.
        w.crash();
        assert_eq!(content(&w, "HIGH"), "1p 0p 2p");
        assert_eq!(content(&w, "NORMAL"), "1p 0p 2p");
    }
}

const SET_FIELDS: [&str; 8] = [
    "user", "token", "identity", "type", "program", "date", "time", "origin",
];

/// The context fields of a descriptor, in the order of [`SET_FIELDS`].
fn context(md: &Md) -> [String; 8] {
    [
        md.user_identifier.text().into_owned(),
        format!("{:?}", &md.accounting_token[..2]),
        md.appl_identity_data.text().into_owned(),
        md.put_appl_type.to_string(),
        md.put_appl_name.text().into_owned(),
        md.put_date.text().into_owned(),
        md.put_time.text().into_owned(),
        md.appl_origin_data.text().into_owned(),
    ]
}

/// A descriptor in which every context field is set.
fn with_context() -> Md {
    Md {
        user_identifier: Chars::new("original"),
        accounting_token: [9; 32],
        appl_identity_data: Chars::new("data"),
        put_appl_type: 28,
        put_appl_name: Chars::new("sender"),
        put_date: Chars::new("19990101"),
        put_time: Chars::new("23595999"),
        appl_origin_data: Chars::new("far"),
        ..md(0)
    }
}

fn application(w: &World) -> Session {
    let who = Application {
        name: "the program".to_owned(),
        user: "alice".to_owned(),
        appl_type: 6,
        ..Application::default()
    };
    w.qm().connect(who).unwrap()
}

/// Which fields come from the message that is passed on, or that the application set, with each
/// option. The others are the defaults, or blank with MQPMO_NO_CONTEXT.
#[test]
fn each_context_option_fills_its_fields() {
    let w = World::new();
    w.run("DEFINE QLOCAL(IN)");
    let s = application(&w);
    let origin = open(&s, "IN", MQOO_OUTPUT | MQOO_SET_ALL_CONTEXT);
    let (identity, all) = (0..3, 0..8);
    let none = 0..0;
    for (options, rights, kept) in [
        (MQPMO_NONE, 0, none.clone()),
        (MQPMO_DEFAULT_CONTEXT, 0, none.clone()),
        (MQPMO_NO_CONTEXT, 0, none.clone()),
        (
            MQPMO_PASS_IDENTITY_CONTEXT,
            MQOO_PASS_IDENTITY_CONTEXT,
            identity.clone(),
        ),
        (MQPMO_PASS_ALL_CONTEXT, MQOO_PASS_ALL_CONTEXT, all.clone()),
        (
            MQPMO_SET_IDENTITY_CONTEXT,
            MQOO_SET_IDENTITY_CONTEXT,
            identity,
        ),
        (MQPMO_SET_ALL_CONTEXT, MQOO_SET_ALL_CONTEXT, all),
    ] {
        for by_name in [false, true] {
            send(&s, origin, with_context(), MQPMO_SET_ALL_CONTEXT, b"");
            let from = open(&s, "IN", MQOO_INPUT_SHARED | MQOO_SAVE_ALL_CONTEXT);
            next(&s, from, 0).unwrap();
            let h = open(&s, LOCAL, IN_OUT | rights);
            let mut pmo = Pmo {
                options,
                context: from.0,
                ..Pmo::default()
            };
            let passes = MQPMO_PASS_IDENTITY_CONTEXT | MQPMO_PASS_ALL_CONTEXT;
            let mut shown = if options & passes != 0 {
                md(0)
            } else {
                with_context()
            };
            let done = if by_name {
                block_on(s.put1(&mut object(LOCAL), &mut shown, &mut pmo, Bytes::new()))
            } else {
                block_on(s.put(h, &mut shown, &mut pmo, Bytes::new()))
            };
            assert_eq!(done.unwrap().warning, Reason::NONE);
            let got = next(&s, h, 0).unwrap().md;
            assert_eq!(context(&got), context(&shown), "what was put is shown");
            let (got, original) = (context(&got), context(&with_context()));
            let defaults = ["alice", "[0, 0]", "", "6", "the program"];
            for (n, field) in SET_FIELDS.iter().enumerate() {
                let what = format!("{field} with option {options:#x}");
                if kept.contains(&n) {
                    assert_eq!(got[n], original[n], "{what}");
                } else if options == MQPMO_NO_CONTEXT {
                    let blank = ["", "[0, 0]", "", "0", "", "", "", ""];
                    assert_eq!(got[n], blank[n], "{what}");
                } else if let Some(default) = defaults.get(n) {
                    assert_eq!(got[n], *default, "{what}");
                } else if n < 7 {
                    assert_eq!(got[n].len(), 8, "{what}");
                    assert_ne!(got[n], original[n], "{what}");
                } else {
                    assert_eq!(got[n], "", "{what}");
                }
            }
            close(&s, from, 0).unwrap();
            close(&s, h, 0).unwrap();
        }
    }
}

/// Each open option and the put options it allows; the stronger ones include the weaker.
#[test]
fn context_rights_come_with_the_handle() {
    let w = World::new();
    let s = w.connect();
    let rights = [
        0,
        MQOO_PASS_IDENTITY_CONTEXT,
        MQOO_PASS_ALL_CONTEXT,
        MQOO_SET_IDENTITY_CONTEXT,
        MQOO_SET_ALL_CONTEXT,
    ];
    let uses = [
        (
            MQPMO_PASS_IDENTITY_CONTEXT,
            Reason::NOT_OPEN_FOR_PASS_IDENT,
            1,
        ),
        (MQPMO_PASS_ALL_CONTEXT, Reason::NOT_OPEN_FOR_PASS_ALL, 2),
        (
            MQPMO_SET_IDENTITY_CONTEXT,
            Reason::NOT_OPEN_FOR_SET_IDENT,
            3,
        ),
        (MQPMO_SET_ALL_CONTEXT, Reason::NOT_OPEN_FOR_SET_ALL, 4),
    ];
    let from = open(&s, LOCAL, IN_OUT | MQOO_SAVE_ALL_CONTEXT);
    put(&s, from, 0, 0, b"");
    next(&s, from, 0).unwrap();
    for (n, right) in rights.iter().enumerate() {
        let h = open(&s, LOCAL, MQOO_OUTPUT | right);
        for (options, refused, from_right) in uses {
            let mut pmo = Pmo {
                options,
                context: from.0,
                ..Pmo::default()
            };
            let put = block_on(s.put(h, &mut md(0), &mut pmo, Bytes::new()));
            let expected = if n >= from_right {
                Ok(())
            } else {
                Err(refused)
            };
            assert_eq!(put.map(|_| ()), expected, "{right:#x} {options:#x}");
        }
    }
    // The rights are for output: without it they are not accepted.
    for right in &rights[1..] {
        let refused = try_open(&s, LOCAL, MQOO_INPUT_SHARED | right);
        assert_eq!(refused, Err(Reason::OPTIONS_ERROR));
    }
    let refused = try_open(&s, LOCAL, MQOO_BROWSE | MQOO_SAVE_ALL_CONTEXT);
    assert_eq!(refused, Err(Reason::OPTIONS_ERROR));
}

#[test]
fn browsing_saves_no_context() {
    let w = World::new();
    let s = w.connect();
    let h = open(
        &s,
        LOCAL,
        IN_OUT | MQOO_BROWSE | MQOO_SAVE_ALL_CONTEXT | MQOO_PASS_ALL_CONTEXT,
    );
    put(&s, h, 0, 0, b"");
    next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
    let mut pmo = Pmo {
        options: MQPMO_PASS_ALL_CONTEXT,
        context: h.0,
        ..Pmo::default()
    };
    let refused = block_on(s.put(h, &mut md(0), &mut pmo, Bytes::new()));
    assert_eq!(refused.map(|_| ()), Err(Reason::CONTEXT_NOT_AVAILABLE));
}

/// Message expiry: what has expired is not delivered, whoever asks and however.
#[test]
fn an_expired_message_is_passed_over() {
    let w = World::new();
    let s = w.connect();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        let short = Md {
            expiry: 1,
            correl_id: [5; 24],
            ..md(persistence)
        };
        // In this order: when the second has expired, so has the first.
        send(&s, h, short.clone(), MQPMO_SYNCPOINT, b"short, uncommitted");
        send(&s, h, short, 0, b"short");
        send(
            &s,
            h,
            Md {
                expiry: 36_000,
                ..md(persistence)
            },
            0,
            b"long",
        );
        send(
            &s,
            h,
            Md {
                correl_id: [5; 24],
                ..md(persistence)
            },
            0,
            b"for ever",
        );
        let left = |n: usize| browse(&s, h).len() == n;
        until("expiry", || left(2));
        // Time spent uncommitted counts.
        commit(&s);
        assert!(left(2));
        let by_id = Gmo {
            match_options: MQMO_MATCH_CORREL_ID,
            ..gmo(0)
        };
        let by = Md {
            correl_id: [5; 24],
            ..md(0)
        };
        assert_eq!(take(&s, h, by, by_id, 99).unwrap().text(), "for ever");
        // What is left of it is told, in tenths of a second.
        until("time to pass", || {
            let first = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
            first.md.expiry < 36_000
        });
        let long = next(&s, h, 0).unwrap();
        assert_eq!(long.text(), "long");
        assert!(
            (35_000..36_000).contains(&long.md.expiry),
            "{}",
            long.md.expiry
        );
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn expiry_goes_on_over_a_restart() {
    let mut w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    send(
        &s,
        h,
        Md {
            expiry: 3,
            ..md(PERSISTENT)
        },
        0,
        b"short",
    );
    send(
        &s,
        h,
        Md {
            expiry: 36_000,
            ..md(PERSISTENT)
        },
        0,
        b"long",
    );
    for clean in [true, false] {
        if clean {
            w.restart();
        } else {
            w.crash();
        }
        let s = w.connect();
        let h = open(&s, LOCAL, MQOO_BROWSE);
        until("expiry", || browse(&s, h) == ["long"]);
        let long = next(&s, h, MQGMO_BROWSE_FIRST).unwrap();
        assert!((35_000..36_000).contains(&long.md.expiry));
    }
}

/// Nobody gets; the search for expired messages finds them all the same.
#[test]
fn expired_messages_go_without_being_asked_for() {
    let w = World::with(|c| c.expiry_interval_s = 1);
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
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
        put(&s, h, persistence, 0, b"for ever");
    }
    until("the search", || w.depth(LOCAL) == 2);
}
