//! MQOPEN and MQCLOSE: names, sharing, dynamic queues, MAXHANDS.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Hobj, Md, Mde, Name, Od, PointerSize, Reason, Xqh};
use world::*;

fn at(name: &str, q_mgr: &str) -> Od {
    Od {
        object_name: Name::new(name),
        object_q_mgr_name: Name::new(q_mgr),
        ..Od::default()
    }
}

/// How names lead to queues: object, queue manager, then the resolved names and where the message
/// lies (with the names in its transmission header), or the reason why not.
type Way = (&'static str, &'static str, Result<Found, Reason>);

#[derive(Debug, PartialEq, Clone, Copy)]
enum Found {
    /// On this local queue.
    Local(&'static str),
    /// On this transmission queue, for that queue and queue manager.
    Remote(&'static str, &'static str, &'static str),
}

const OBJECTS: &str = "
    DEFINE QLOCAL(L)
    DEFINE QLOCAL(FAR) USAGE(XMITQ)
    DEFINE QLOCAL(VIA) USAGE(XMITQ)
    DEFINE QLOCAL(PLAIN)
    DEFINE QMODEL(M)
    DEFINE QALIAS(A) TARGET(L)
    DEFINE QALIAS(AA) TARGET(A)
    DEFINE QALIAS(AM) TARGET(M)
    DEFINE QALIAS(AN) TARGET(NOWHERE)
    DEFINE QALIAS(AR) TARGET(R)
    DEFINE QALIAS(AX) TARGET(FAR)
    DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)
    DEFINE QREMOTE(RV) RNAME(Q) RQMNAME(DISTANT) XMITQ(VIA)
    DEFINE QREMOTE(RU) RNAME(Q) RQMNAME(DISTANT)
    DEFINE QREMOTE(RP) RNAME(Q) RQMNAME(PLAIN)
    DEFINE QREMOTE(RA) RNAME(Q) RQMNAME(A)
    DEFINE QREMOTE(RNONE) RNAME('') RQMNAME(FAR)
    DEFINE QREMOTE(RHERE) RNAME(L) RQMNAME(QM1)
    DEFINE QREMOTE(QMA) RNAME('') RQMNAME(DISTANT) XMITQ(VIA)
    DEFINE QREMOTE(QMF) RNAME('') RQMNAME(FAR)
    DEFINE QREMOTE(QMHERE) RNAME('') RQMNAME(QM1) XMITQ(VIA)
    DEFINE QREMOTE(QMBLANK) RNAME('') RQMNAME('')
";

#[rustfmt::skip]
const WAYS: [Way; 34] = [
    ("L", "", Ok(Found::Local("L"))),
    ("L", "QM1", Ok(Found::Local("L"))),
    ("A", "", Ok(Found::Local("L"))),
    ("AX", "", Ok(Found::Local("FAR"))),
    ("FAR", "", Ok(Found::Local("FAR"))),
    ("AA", "", Err(Reason::ALIAS_BASE_Q_TYPE_ERROR)),
    ("AM", "", Err(Reason::ALIAS_BASE_Q_TYPE_ERROR)),
    ("AN", "", Err(Reason::UNKNOWN_ALIAS_BASE_Q)),
    ("NONE", "", Err(Reason::UNKNOWN_OBJECT_NAME)),
    ("l", "", Err(Reason::UNKNOWN_OBJECT_NAME)),
    ("", "", Err(Reason::UNKNOWN_OBJECT_NAME)),
    ("R", "", Ok(Found::Remote("FAR", "Q", "FAR"))),
    ("AR", "", Ok(Found::Remote("FAR", "Q", "FAR"))),
    ("RV", "", Ok(Found::Remote("VIA", "Q", "DISTANT"))),
    ("RU", "", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
    ("RP", "", Err(Reason::XMIT_Q_USAGE_ERROR)),
    ("RA", "", Err(Reason::XMIT_Q_TYPE_ERROR)),
    ("RNONE", "", Err(Reason::REMOTE_Q_NAME_ERROR)),
    ("RHERE", "", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
    ("QMBLANK", "", Err(Reason::REMOTE_Q_NAME_ERROR)),
    ("ANY", "FAR", Ok(Found::Remote("FAR", "ANY", "FAR"))),
    ("any name at all", "FAR", Ok(Found::Remote("FAR", "any name at all", "FAR"))),
    ("", "FAR", Err(Reason::REMOTE_Q_NAME_ERROR)),
    ("ANY", "PLAIN", Err(Reason::XMIT_Q_USAGE_ERROR)),
    ("ANY", "DISTANT", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
    ("ANY", "bad name", Err(Reason::UNKNOWN_OBJECT_Q_MGR)),
    ("ANY", "M", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
    ("ANY", "R", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
    ("ANY", "QMA", Ok(Found::Remote("VIA", "ANY", "DISTANT"))),
    ("ANY", "QMF", Ok(Found::Remote("FAR", "ANY", "FAR"))),
    ("L", "QMHERE", Ok(Found::Local("L"))),
    ("R", "QMHERE", Ok(Found::Remote("FAR", "Q", "FAR"))),
    ("M", "QMHERE", Err(Reason::Q_TYPE_ERROR)),
    ("ANY", "QMBLANK", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
];

/// Where the one message lies that was put; it is taken away.
fn found(s: &Session) -> Found {
    for queue in ["L", "PLAIN"] {
        let h = open(s, queue, MQOO_INPUT_SHARED);
        if next(s, h, 0).is_ok() {
            return Found::Local(queue);
        }
    }
    for queue in ["FAR", "VIA"] {
        let h = open(s, queue, MQOO_INPUT_SHARED);
        let Ok(got) = next(s, h, 0) else { continue };
        if got.md.format.is_blank() {
            return Found::Local(queue);
        }
        let (header, used) = Xqh::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
        assert_eq!(&got.data[used..], b"x");
        let leak = |name: Name| -> &'static str { name.text().into_owned().leak() };
        return Found::Remote(
            queue,
            leak(header.remote_q_name),
            leak(header.remote_q_mgr_name),
        );
    }
    panic!("the message is nowhere");
}

fn check_ways(w: &World, ways: &[Way]) {
    for (name, q_mgr, expected) in ways {
        let s = w.connect();
        let what = format!("{name:?} at {q_mgr:?}");
        let mut od = at(name, q_mgr);
        let opened = open_od(&s, &mut od, MQOO_OUTPUT);
        let mut by_name = at(name, q_mgr);
        let put = block_on(s.put1(
            &mut by_name,
            &mut md(0),
            &mut pmo(0),
            Bytes::from_static(b"x"),
        ));
        match expected {
            Err(reason) => {
                assert_eq!(opened, Err(*reason), "{what}");
                assert_eq!(put.map(|_| ()), Err(*reason), "{what}");
            }
            Ok(place) => {
                put.unwrap();
                assert_eq!(found(&s), *place, "put1 {what}");
                put_x(&s, opened.unwrap());
                assert_eq!(found(&s), *place, "{what}");
                let resolved = match place {
                    Found::Local(queue) => (*queue, "QM1"),
                    Found::Remote(_, queue, q_mgr) => (*queue, *q_mgr),
                };
                for od in [od, by_name] {
                    assert_eq!(od.resolved_q_name.text(), resolved.0, "{what}");
                    assert_eq!(od.resolved_q_mgr_name.text(), resolved.1, "{what}");
                    assert_eq!(od.object_name.text(), *name);
                }
            }
        }
    }
}

fn put_x(s: &Session, h: Hobj) {
    put(s, h, 0, 0, b"x");
}

#[test]
fn names_lead_where_the_definitions_say() {
    let w = World::new();
    w.run(OBJECTS);
    check_ways(&w, &WAYS);
}

#[test]
fn the_default_transmission_queue_takes_what_nothing_else_does() {
    let w = World::new();
    w.run(OBJECTS);
    w.run("ALTER QMGR DEFXMITQ(VIA)");
    check_ways(
        &w,
        &[
            ("ANY", "DISTANT", Ok(Found::Remote("VIA", "ANY", "DISTANT"))),
            ("RU", "", Ok(Found::Remote("VIA", "Q", "DISTANT"))),
            // What is defined comes first, and errors in it stay errors.
            ("ANY", "FAR", Ok(Found::Remote("FAR", "ANY", "FAR"))),
            ("ANY", "PLAIN", Err(Reason::XMIT_Q_USAGE_ERROR)),
            ("ANY", "M", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
            ("RHERE", "", Err(Reason::UNKNOWN_REMOTE_Q_MGR)),
        ],
    );
    for (default, reason) in [
        ("PLAIN", Reason::DEF_XMIT_Q_USAGE_ERROR),
        ("A", Reason::DEF_XMIT_Q_TYPE_ERROR),
        ("NOWHERE", Reason::UNKNOWN_DEF_XMIT_Q),
    ] {
        w.run(&format!("ALTER QMGR DEFXMITQ({default})"));
        let ways = [("ANY", "DISTANT", Err(reason)), ("RU", "", Err(reason))];
        check_ways(&w, &ways);
    }
}

/// The transmission header holds the message's own descriptor; what a version 1 descriptor cannot
/// hold follows it.
#[test]
fn the_transmission_header_keeps_the_whole_descriptor() {
    let w = World::new();
    w.run(OBJECTS);
    let s = w.connect();
    let h = open(&s, "R", MQOO_OUTPUT);
    let x = open(&s, "FAR", MQOO_INPUT_SHARED);
    let own = Md {
        report: MQRO_EXCEPTION,
        msg_type: MQMT_REQUEST,
        expiry: 7000,
        priority: 3,
        format: Chars::new(MQFMT_STRING),
        coded_char_set_id: 437,
        encoding: 273,
        correl_id: [4; 24],
        reply_to_q: Name::new("ANSWERS"),
        ..md(PERSISTENT)
    };
    for msg_flags in [0, MQMF_LAST_MSG_IN_GROUP] {
        let sent = send(
            &s,
            h,
            Md {
                msg_flags,
                ..own.clone()
            },
            0,
            b"the data",
        );
        let got = next(&s, x, 0).unwrap();
        let outer = got.md;
        assert_eq!(outer.format.text(), MQFMT_XMIT_Q_HEADER.trim_end());
        assert_eq!((outer.msg_type, outer.report), (MQMT_DATAGRAM, 0));
        assert_eq!((outer.persistence, outer.priority), (PERSISTENT, 3));
        assert!(outer.reply_to_q.is_blank());
        assert_eq!(outer.encoding, MQENC_NATIVE);
        assert!((6900..=7000).contains(&outer.expiry));
        let order = ByteOrder::Little;
        let (header, mut used) = Xqh::decode(&got.data, order, PointerSize::Four).unwrap();
        let inner = header.msg_desc;
        assert_eq!(inner.version, 1);
        assert_eq!((inner.msg_id, inner.correl_id), (sent.msg_id, [4; 24]));
        assert_eq!(
            (inner.msg_type, inner.report),
            (MQMT_REQUEST, MQRO_EXCEPTION)
        );
        assert_eq!(inner.reply_to_q.text(), "ANSWERS");
        assert_eq!(inner.reply_to_q_mgr.text(), "QM1");
        assert_eq!((inner.encoding, inner.coded_char_set_id), (273, 437));
        assert_eq!(inner.user_identifier.text(), "tester");
        if msg_flags == 0 {
            assert_eq!(inner.format.text(), MQFMT_STRING.trim_end());
        } else {
            assert_eq!(inner.format.text(), MQFMT_MD_EXTENSION.trim_end());
            let (mde, length) = Mde::decode(&got.data[used..], order, PointerSize::Four).unwrap();
            used += length;
            assert_eq!(mde.group_id, sent.group_id);
            assert_eq!(mde.msg_seq_number, 1);
            assert_eq!(mde.msg_flags, msg_flags | MQMF_MSG_IN_GROUP);
            assert_eq!(mde.format.text(), MQFMT_STRING.trim_end());
        }
        assert_eq!(&got.data[used..], b"the data");
    }
}

/// Which open options each kind of object takes.
#[test]
fn options_depend_on_the_object() {
    let w = World::new();
    w.run(OBJECTS);
    let s = w.connect();
    let all = [
        MQOO_INPUT_AS_Q_DEF,
        MQOO_INPUT_SHARED,
        MQOO_INPUT_EXCLUSIVE,
        MQOO_BROWSE,
        MQOO_OUTPUT,
        MQOO_INQUIRE,
        MQOO_SET,
    ];
    let local: &[i32] = &all;
    let defined: &[i32] = &[MQOO_OUTPUT, MQOO_INQUIRE, MQOO_SET];
    let (output, inquire): (&[i32], &[i32]) = (&[MQOO_OUTPUT], &[MQOO_INQUIRE]);
    for (od, accepted) in [
        (at("L", ""), local),
        (at("A", ""), local),
        (at("M", ""), local),
        (at("R", ""), defined),
        (at("AR", ""), defined),
        (at("ANY", "FAR"), output),
        (at("ANY", "QMA"), output),
        (at("L", "QMHERE"), output),
        (
            Od {
                object_type: MQOT_Q_MGR,
                ..Od::default()
            },
            inquire,
        ),
    ] {
        for options in all {
            let opened = open_od(&s, &mut od.clone(), options);
            let what = format!(
                "{} at {} {options:#x}",
                od.object_name, od.object_q_mgr_name
            );
            if accepted.contains(&options) {
                let h = opened.unwrap_or_else(|reason| panic!("{what}: {reason}"));
                close(&s, h, 0).unwrap();
            } else {
                assert_eq!(opened, Err(Reason::OPTION_NOT_VALID_FOR_TYPE), "{what}");
            }
        }
    }
    for queue in ["L", "FAR"] {
        let status = w.status(queue);
        assert_eq!((status.open_input, status.open_output), (0, 0));
        w.run(&format!("DELETE QLOCAL({queue})"));
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let w = World::new();
    let s = w.connect();
    for options in [
        0,
        MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE,
        MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED,
        MQOO_BIND_ON_OPEN,
        MQOO_OUTPUT | MQOO_BIND_ON_OPEN | MQOO_BIND_NOT_FIXED,
        MQOO_INPUT_SHARED | MQOO_READ_AHEAD | MQOO_NO_READ_AHEAD,
        MQOO_OUTPUT | MQOO_SAVE_ALL_CONTEXT,
        MQOO_OUTPUT | 0x0800_0000,
        i32::MIN,
    ] {
        let refused = try_open(&s, LOCAL, options);
        assert_eq!(refused, Err(Reason::OPTIONS_ERROR), "{options:#x}");
    }
}

#[test]
fn input_is_shared_or_not() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(SHARED) SHARE DEFSOPT(SHARED)
         DEFINE QLOCAL(EXCLUSIVE) SHARE DEFSOPT(EXCL)
         DEFINE QLOCAL(ALONE) NOSHARE DEFSOPT(SHARED)",
    );
    let (default, shared, exclusive) =
        (MQOO_INPUT_AS_Q_DEF, MQOO_INPUT_SHARED, MQOO_INPUT_EXCLUSIVE);
    for (queue, first, second, fits) in [
        ("SHARED", default, default, true),
        ("SHARED", shared, default, true),
        ("SHARED", shared, exclusive, false),
        ("SHARED", exclusive, shared, false),
        ("SHARED", exclusive, exclusive, false),
        ("EXCLUSIVE", default, default, false),
        ("EXCLUSIVE", default, shared, false),
        ("EXCLUSIVE", shared, shared, true),
        ("EXCLUSIVE", shared, default, false),
        ("ALONE", default, default, false),
        ("ALONE", shared, shared, false),
        ("ALONE", shared, MQOO_BROWSE, true),
        ("SHARED", exclusive, MQOO_BROWSE | MQOO_OUTPUT, true),
        ("SHARED", MQOO_BROWSE, exclusive, true),
    ] {
        for same_session in [false, true] {
            let s = w.connect();
            let other = if same_session { s.clone() } else { w.connect() };
            let h = open(&s, queue, first);
            let what = format!("{queue} {first:#x} then {second:#x}");
            let opened = try_open(&other, queue, second);
            assert_eq!(opened.is_ok(), fits, "{what}");
            if !fits {
                assert_eq!(opened, Err(Reason::OBJECT_IN_USE), "{what}");
            }
            close(&s, h, 0).unwrap();
            if !fits {
                open(&other, queue, second);
            }
        }
    }
}

#[test]
fn handles_are_limited_and_never_mixed_up() {
    let w = World::new();
    w.run("ALTER QMGR MAXHANDS(3)");
    let s = w.connect();
    let mut old = Vec::new();
    for round in 0..5 {
        let handles: Vec<_> = (0..3).map(|_| open(&s, LOCAL, MQOO_OUTPUT)).collect();
        let refused = try_open(&s, LOCAL, MQOO_OUTPUT);
        assert_eq!(refused, Err(Reason::HANDLE_NOT_AVAILABLE));
        // Another connection has a limit of its own, and MQPUT1 needs no handle.
        open(&w.connect(), LOCAL, MQOO_OUTPUT);
        put1(&s, LOCAL, &mut md(0), 0, b"").unwrap();
        for h in &old {
            let stale = try_put(&s, *h, &mut md(0), 0, b"");
            assert_eq!(stale, Err(Reason::HOBJ_ERROR), "{round}");
        }
        for h in handles {
            assert!(h.0 > 0 && !old.contains(&h));
            close(&s, h, 0).unwrap();
            old.push(h);
        }
    }
    assert_eq!(w.status(LOCAL).open_output, 0);
    for h in [Hobj::NONE, Hobj::UNUSABLE, Hobj(i32::MAX), Hobj(i32::MIN)] {
        assert_eq!(close(&s, h, 0), Err(Reason::HOBJ_ERROR));
    }
}

fn dynamic(s: &Session, model: &str, pattern: &str) -> Result<(Hobj, String), Reason> {
    let mut od = Od {
        dynamic_q_name: Name::new(pattern),
        ..object(model)
    };
    let h = open_od(s, &mut od, IN_OUT)?;
    assert_eq!(od.resolved_q_name, od.object_name);
    // Where it was made (MQOD, "ObjectQMgrName").
    assert_eq!(od.object_q_mgr_name, od.resolved_q_mgr_name);
    assert!(!od.object_q_mgr_name.is_blank());
    Ok((h, od.object_name.text().into_owned()))
}

#[test]
fn dynamic_queues_are_named_after_a_pattern() {
    let w = World::new();
    let s = w.connect();
    let mut names = Vec::new();
    for (pattern, prefix) in [
        ("AMQ.*", "AMQ."),
        ("*", ""),
        ("MINE*", "MINE"),
        (
            "A.PREFIX.OF.THIRTY.TWO.LETTERS.X*",
            "A.PREFIX.OF.THIRTY.TWO.LETTERS.X",
        ),
    ] {
        for _ in 0..2 {
            let (_, name) = dynamic(&s, MODEL, pattern).unwrap();
            assert!(name.starts_with(prefix), "{name}");
            assert!(name.len() > prefix.len() && name.len() <= 48, "{name}");
            assert!(!names.contains(&name), "{name}");
            names.push(name);
        }
    }
    let (h, name) = dynamic(&s, MODEL, "MY.OWN.NAME").unwrap();
    assert_eq!(name, "MY.OWN.NAME");
    let again = dynamic(&s, MODEL, "MY.OWN.NAME");
    assert_eq!(again, Err(Reason::OBJECT_ALREADY_EXISTS));
    close(&s, h, 0).unwrap();
    dynamic(&s, MODEL, "MY.OWN.NAME").unwrap();
    // The default of the object descriptor.
    let mut od = object(MODEL);
    open_od(&s, &mut od, IN_OUT).unwrap();
    assert!(od.object_name.text().starts_with("AMQ."));
    for bad in ["", " ", "BAD NAME*", "BAD-NAME", "A*B*"] {
        let refused = dynamic(&s, MODEL, bad);
        assert_eq!(refused, Err(Reason::DYNAMIC_Q_NAME_ERROR), "{bad:?}");
    }
}

#[test]
fn a_dynamic_queue_has_the_attributes_of_its_model() {
    let mut w = World::new();
    w.run(
        "DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN) MAXDEPTH(7) DESCR('a model') SHARE
         DEFINE QMODEL(PERM) DEFTYPE(PERMDYN) MAXDEPTH(8) DEFPSIST(YES)",
    );
    let s = w.connect();
    let mut names = Vec::new();
    for (model, depth, kind) in [
        ("TEMP", 7, MQQDT_TEMPORARY_DYNAMIC),
        ("PERM", 8, MQQDT_PERMANENT_DYNAMIC),
    ] {
        let (_, name) = dynamic(&s, model, "D.*").unwrap();
        let h = open(&s, &name, MQOO_INQUIRE);
        let selectors = [MQIA_MAX_Q_DEPTH, MQIA_DEFINITION_TYPE, MQIA_Q_TYPE];
        let (values, warning) = inquire(&s, h, &selectors).unwrap();
        assert_eq!(warning, Reason::NONE);
        assert_eq!(values.ints, [depth, kind, MQQT_LOCAL]);
        names.push(name);
    }
    // The permanent one survives everything but being deleted.
    drop(s);
    w.crash();
    w.restart();
    let s = w.connect();
    assert_eq!(
        try_open(&s, &names[0], MQOO_OUTPUT),
        Err(Reason::UNKNOWN_OBJECT_NAME)
    );
    let h = open(&s, &names[1], IN_OUT);
    put(&s, h, MQPER_PERSISTENCE_AS_Q_DEF, 0, b"kept");
    drop(s);
    w.crash();
    let s = w.connect();
    let h = open(&s, &names[1], IN_OUT);
    assert_eq!(drain(&s, h), ["kept"]);
}

#[test]
fn a_temporary_dynamic_queue_ends_with_the_handle_that_made_it() {
    let w = World::new();
    w.run("ALTER QMODEL(SYSTEM.DEFAULT.MODEL.QUEUE) SHARE");
    type End = fn(&Session, Hobj);
    let ends: [(&str, End); 5] = [
        ("close", |s, h| {
            assert_eq!(close(s, h, MQCO_NONE), Ok(Reason::NONE))
        }),
        ("delete", |s, h| {
            assert_eq!(close(s, h, MQCO_DELETE), Ok(Reason::NONE))
        }),
        ("purge", |s, h| {
            assert_eq!(close(s, h, MQCO_DELETE_PURGE), Ok(Reason::NONE))
        }),
        ("disconnect", |s, _| {
            block_on(s.disconnect()).unwrap();
        }),
        ("terminate", |s, _| block_on(s.terminate())),
    ];
    for (name, end) in ends {
        let (s, other) = (w.connect(), w.connect());
        let (h, queue) = dynamic(&s, MODEL, "T.*").unwrap();
        let user = open(&other, &queue, IN_OUT | MQOO_BROWSE | MQOO_INQUIRE);
        // Handles of others do not delete it, and may not.
        let second = open(&other, &queue, MQOO_OUTPUT);
        let refused = close(&other, second, MQCO_DELETE);
        assert_eq!(refused, Err(Reason::OPTION_NOT_VALID_FOR_TYPE));
        close(&other, second, 0).unwrap();
        put(&other, user, 0, 0, b"lost");
        put(&other, user, 0, MQPMO_SYNCPOINT, b"lost too");
        next(&other, user, MQGMO_SYNCPOINT).unwrap();
        let waiting = wait(&other, user, md(0), gmo(0));
        end(&s, h);
        let ended = waiting.finish().unwrap_err();
        assert_eq!(ended, Reason::Q_DELETED, "{name}");
        assert!(w.qm().queue_status(&queue).is_none(), "{name}");
        let gone = Err(Reason::Q_DELETED);
        assert_eq!(try_put(&other, user, &mut md(0), 0, b""), gone, "{name}");
        for options in [0, MQGMO_WAIT, MQGMO_BROWSE_FIRST] {
            let reason = next(&other, user, options).unwrap_err();
            assert_eq!(reason, Reason::Q_DELETED, "{name}");
        }
        // The unit of work can still be ended, and the handle closed.
        commit(&other);
        assert_eq!(close(&other, user, 0), Ok(Reason::NONE));
        assert_eq!(
            try_open(&other, &queue, MQOO_OUTPUT),
            Err(Reason::UNKNOWN_OBJECT_NAME)
        );
    }
}

#[test]
fn a_permanent_dynamic_queue_is_deleted_when_somebody_says_so() {
    let mut w = World::new();
    w.run("DEFINE QMODEL(PERM) DEFTYPE(PERMDYN) SHARE DEFSOPT(SHARED)");
    let s = w.connect();
    for (options, content, refused) in [
        (MQCO_NONE, "none", None),
        (MQCO_DELETE, "none", None),
        (MQCO_DELETE, "message", Some(Reason::Q_NOT_EMPTY)),
        (MQCO_DELETE, "got", Some(Reason::Q_NOT_EMPTY)),
        (MQCO_DELETE_PURGE, "none", None),
        (MQCO_DELETE_PURGE, "message", None),
        (MQCO_DELETE_PURGE, "put", Some(Reason::Q_NOT_EMPTY)),
        (MQCO_DELETE_PURGE, "got", Some(Reason::Q_NOT_EMPTY)),
    ] {
        let what = format!("{options} {content}");
        let (h, name) = dynamic(&s, "PERM", "P.*").unwrap();
        match content {
            "message" => drop(put(&s, h, PERSISTENT, 0, b"x")),
            "put" => drop(put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x")),
            "got" => {
                put(&s, h, PERSISTENT, 0, b"x");
                next(&s, h, MQGMO_SYNCPOINT).unwrap();
            }
            _ => {}
        }
        // Any handle will do, not only the one that made it.
        let h = if content == "none" {
            open(&s, &name, MQOO_OUTPUT)
        } else {
            h
        };
        match refused {
            Some(reason) => {
                assert_eq!(close(&s, h, options), Err(reason), "{what}");
                backout(&s);
                assert_eq!(close(&s, h, MQCO_NONE), Ok(Reason::NONE), "{what}");
            }
            None => assert_eq!(close(&s, h, options), Ok(Reason::NONE), "{what}"),
        }
        let there = w.qm().queue_status(&name).is_some();
        let deleted = options != MQCO_NONE && refused.is_none();
        assert_eq!(there, !deleted, "{what}");
    }
    // Others who have it open learn it at their next call, and can only close.
    let other = w.connect();
    let (h, name) = dynamic(&s, "PERM", "P.*").unwrap();
    let user = open(&other, &name, IN_OUT);
    let waiting = wait(&other, user, md(0), gmo(0));
    assert_eq!(close(&s, h, MQCO_DELETE), Ok(Reason::NONE));
    assert_eq!(waiting.finish().unwrap_err(), Reason::Q_DELETED);
    assert_eq!(
        try_put(&other, user, &mut md(0), 0, b""),
        Err(Reason::Q_DELETED)
    );
    assert_eq!(close(&other, user, MQCO_DELETE), Ok(Reason::NONE));
    drop((s, other));
    w.crash();
    assert!(w.qm().queue_status(&name).is_none(), "deleted for good");
}

/// Two delete it: neither is told that it is gone before a crash cannot bring it back.
#[test]
fn who_deletes_what_another_is_deleting_waits_for_the_log_too() {
    let w = World::pausable();
    w.run("DEFINE QMODEL(PERM) DEFTYPE(PERMDYN) SHARE DEFSOPT(SHARED)");
    let (s, other) = (w.connect(), w.connect());
    let (h, name) = dynamic(&s, "PERM", "P.*").unwrap();
    let user = open(&other, &name, IN_OUT);
    let deleting = |s: Session, h: Hobj| Call::begin(async move { s.close(h, MQCO_DELETE).await });
    w.stage.pause();
    let first = deleting(s.clone(), h);
    let second = deleting(other.clone(), user);
    w.stage.resume();
    first.finish().unwrap();
    second.finish().unwrap();
    assert!(w.qm().queue_status(&name).is_none());
}

#[test]
fn an_open_that_fails_leaves_no_dynamic_queue_behind() {
    let w = World::new();
    w.run("ALTER QMGR MAXHANDS(1)");
    let s = w.connect();
    let before = w.qm().objects(posthaste_command::ObjectKind::QLocal).len();
    open(&s, LOCAL, MQOO_OUTPUT);
    let refused = dynamic(&s, MODEL, "T.*");
    assert_eq!(refused, Err(Reason::HANDLE_NOT_AVAILABLE));
    let bad = try_open(&s, MODEL, MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE);
    assert_eq!(bad, Err(Reason::OPTIONS_ERROR));
    let after = w.qm().objects(posthaste_command::ObjectKind::QLocal).len();
    assert_eq!(before, after);
}

#[test]
fn object_types_other_than_queues() {
    let w = World::new();
    let s = w.connect();
    for (object_type, reason) in [
        (MQOT_PROCESS, Reason::OPTION_NOT_VALID_FOR_TYPE),
        (MQOT_NAMELIST, Reason::OPTION_NOT_VALID_FOR_TYPE),
        (MQOT_TOPIC, Reason::UNKNOWN_OBJECT_NAME),
        (0, Reason::OBJECT_TYPE_ERROR),
        (-1, Reason::OBJECT_TYPE_ERROR),
    ] {
        let mut od = Od {
            object_type,
            ..object("ANY")
        };
        let refused = open_od(&s, &mut od, MQOO_OUTPUT);
        assert_eq!(refused, Err(reason), "{object_type}");
    }
    w.run("DEFINE NAMELIST(N)");
    for (object_type, name, q_mgr, expected) in [
        (MQOT_NAMELIST, "N", "", None),
        (MQOT_NAMELIST, "N", "QM1", None),
        (
            MQOT_NAMELIST,
            "N",
            "FAR",
            Some(Reason::UNKNOWN_OBJECT_Q_MGR),
        ),
        (MQOT_NAMELIST, "M", "", Some(Reason::UNKNOWN_OBJECT_NAME)),
        (MQOT_PROCESS, "N", "", Some(Reason::UNKNOWN_OBJECT_NAME)),
        (MQOT_PROCESS, "SYSTEM.DEFAULT.PROCESS", "", None),
    ] {
        let mut od = Od {
            object_type,
            ..at(name, q_mgr)
        };
        let opened = open_od(&s, &mut od, MQOO_INQUIRE);
        assert_eq!(opened.err(), expected, "{object_type} {name:?} {q_mgr:?}");
    }
    for (name, q_mgr, expected) in [
        ("", "", None),
        ("QM1", "", None),
        ("", "QM1", None),
        ("OTHER", "", Some(Reason::UNKNOWN_OBJECT_NAME)),
        ("", "OTHER", Some(Reason::UNKNOWN_OBJECT_Q_MGR)),
    ] {
        let mut od = Od {
            object_type: MQOT_Q_MGR,
            ..at(name, q_mgr)
        };
        let opened = open_od(&s, &mut od, MQOO_INQUIRE);
        assert_eq!(opened.err(), expected, "{name:?} {q_mgr:?}");
    }
}

/// Where replies go when no queue manager is named, however definitions come and go.
#[test]
fn a_reply_to_queue_is_what_a_remote_definition_makes_of_it_while_there_is_one() {
    let mut w = World::new();
    let reply_to = |w: &World| {
        let s = w.connect();
        let h = open(&s, LOCAL, MQOO_OUTPUT);
        let asked = Md {
            reply_to_q: Name::new("ANSWERS"),
            ..md(0)
        };
        send(&s, h, asked, 0, b"?");
        let i = open(&s, LOCAL, MQOO_INPUT_SHARED);
        let md = next(&s, i, 0).unwrap().md;
        let name = |name: Name| name.text().into_owned();
        (name(md.reply_to_q), name(md.reply_to_q_mgr))
    };
    let here = ("ANSWERS".to_owned(), "QM1".to_owned());
    let there = ("REAL".to_owned(), "FAR".to_owned());
    assert_eq!(reply_to(&w), here);
    w.run("DEFINE QREMOTE(ANSWERS) RNAME(REAL) RQMNAME(FAR)");
    assert_eq!(reply_to(&w), there);
    w.run("DEFINE QREMOTE(ANSWERS) RNAME(REAL) RQMNAME(FAR) DESCR('again') REPLACE");
    w.run("DEFINE QREMOTE(OTHER) RNAME(REAL) RQMNAME(FAR)");
    w.run("DELETE QREMOTE(OTHER)");
    assert_eq!(reply_to(&w), there);
    w.restart();
    assert_eq!(reply_to(&w), there);
    w.run("DELETE QREMOTE(ANSWERS)");
    assert_eq!(reply_to(&w), here);
    w.run("DEFINE QLOCAL(ANSWERS)");
    assert_eq!(reply_to(&w), here);
    w.crash();
    assert_eq!(reply_to(&w), here);
    w.run("DEFINE QREMOTE(SECOND) RNAME(REAL) RQMNAME(FAR)");
    assert_eq!(reply_to(&w), here);
}

/// Read ahead is off where a handle browses, whatever the queue says: what is on its way when MQGMO_BROWSE_FIRST is asked for
/// cannot be called back (manual: "MQGET options and read ahead").
#[test]
fn who_browses_is_sent_nothing_ahead() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) DEFREADA(YES)");
    let s = w.connect();
    for (options, expected) in [
        (MQOO_INPUT_SHARED, MQREADA_YES),
        (MQOO_BROWSE, MQREADA_DISABLED),
        (MQOO_BROWSE | MQOO_INPUT_AS_Q_DEF, MQREADA_DISABLED),
        (MQOO_BROWSE | MQOO_INPUT_EXCLUSIVE, MQREADA_DISABLED),
    ] {
        let handle = open(&s, "Q", options);
        let defaults = s.defaults(handle).unwrap();
        assert_eq!(defaults.read_ahead, expected, "{options:#x}");
        close(&s, handle, MQCO_NONE).unwrap();
    }
}
