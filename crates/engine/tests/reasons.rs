//! A row for every reason code the engine gives: what provokes it, and at which completion code.
//!
//! The numbers and what they mean are those of the messages manual ("API reason codes").
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::collections::BTreeSet;
use std::path::Path;

use bytes::Bytes;
use posthaste_engine::{Application, CreateOptions, EndMode, Session, SubscribeOptions};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Od, Pmo, Reason, Sd, Sro};
use world::*;

/// What a call came to: its warning (or none), or the reason why it failed.
type Outcome = Result<Reason, Reason>;
type Play = fn(&World, &Session) -> Outcome;

struct Row {
    code: i32,
    expected: Outcome,
    play: Play,
}

fn failed(code: i32, reason: Reason, play: Play) -> Row {
    Row {
        code,
        expected: Err(reason),
        play,
    }
}

fn warned(code: i32, reason: Reason, play: Play) -> Row {
    Row {
        code,
        expected: Ok(reason),
        play,
    }
}

/// Reasons that no row can provoke, and why not.
const UNPROVOKED: [(&str, &str); 2] = [
    ("NONE", "it says that nothing is wrong"),
    (
        "UNEXPECTED_ERROR",
        "it stands where the engine would contradict itself",
    ),
];

/// Reasons whose rows need more than one queue manager call: they have tests of their own, below and in
/// `authorities.rs`, `damaged.rs`, `dropped.rs`, `lists.rs`, `publications.rs` and `retained.rs`.
const OWN_TESTS: [&str; 20] = [
    "BACKED_OUT",
    "MULTIPLE_REASONS",
    "NOT_AUTHORIZED",
    "NO_SUBS_MATCHED",
    "OBJECT_DAMAGED",
    "OBJECT_NAME_ERROR",
    "OBJECT_Q_MGR_NAME_ERROR",
    "OBJECT_RECORDS_ERROR",
    "OPEN_FAILED",
    "PMO_RECORD_FLAGS_ERROR",
    "PUBLICATION_FAILURE",
    "PUT_MSG_RECORDS_ERROR",
    "PUT_NOT_RETAINED",
    "RESOURCE_PROBLEM",
    "RESPONSE_RECORDS_ERROR",
    "RETAINED_MSG_Q_ERROR",
    "RETAINED_NOT_DELIVERED",
    "SECURITY_ERROR",
    "TOPIC_STRING_ERROR",
    "XWAIT_CANCELED",
];

fn opened(s: &Session, name: &str, options: i32) -> Outcome {
    try_open(s, name, options).map(|_| Reason::NONE)
}

fn opened_od(s: &Session, od: Od, options: i32) -> Outcome {
    let mut od = od;
    open_od(s, &mut od, options).map(|_| Reason::NONE)
}

fn at(name: &str, q_mgr: &str) -> Od {
    Od {
        object_name: Name::new(name),
        object_q_mgr_name: Name::new(q_mgr),
        ..Od::default()
    }
}

/// Puts a message with this descriptor and these options on the local queue.
fn put_as(s: &Session, md: Md, options: i32) -> Outcome {
    let h = open(s, LOCAL, IN_OUT | MQOO_SET_ALL_CONTEXT);
    try_put(s, h, &mut { md }, options, b"x")
}

/// Gets from the local queue, on which there is a message of three bytes.
fn get_as(s: &Session, md: Md, gmo: Gmo, buffer: usize) -> Outcome {
    let h = open(s, LOCAL, IN_OUT | MQOO_BROWSE);
    put(s, h, 0, 0, b"abc");
    take(s, h, md, gmo, buffer).map(|t| t.warning)
}

fn set_as(s: &Session, selector: i32, value: i32) -> Outcome {
    let h = open(s, LOCAL, MQOO_SET);
    block_on(s.set(h, &[selector], &[value], &[])).map(|d| d.warning)
}

fn dynamic(s: &Session, name: &str) -> Result<Hobj, Reason> {
    let mut od = Od {
        dynamic_q_name: Name::new(name),
        ..object(MODEL)
    };
    open_od(s, &mut od, IN_OUT)
}

/// Begins a message group in logical order; the descriptor asks for one more message of it.
fn begin_group(s: &Session, persistence: i32) -> (Hobj, Md) {
    let h = open(s, LOCAL, IN_OUT);
    let md = Md {
        msg_flags: MQMF_MSG_IN_GROUP,
        ..md(persistence)
    };
    let first = send(s, h, md.clone(), MQPMO_LOGICAL_ORDER, b"1");
    let group_id = first.group_id;
    (
        h,
        Md {
            group_id,
            msg_seq_number: 2,
            ..md
        },
    )
}

/// Gets the first message of a group in logical order.
fn begin_getting(s: &Session) -> Hobj {
    let (h, md) = begin_group(s, 0);
    send(s, h, md, MQPMO_LOGICAL_ORDER, b"2");
    next(s, h, MQGMO_LOGICAL_ORDER).unwrap();
    h
}

fn connecting(s: &Session) -> Outcome {
    let qm = s.queue_manager();
    qm.connect(who("another")).map(|_| Reason::NONE)
}

#[rustfmt::skip]
fn names() -> Vec<Row> {
    vec![
        failed(2001, Reason::ALIAS_BASE_Q_TYPE_ERROR, |w, s| {
            w.run("DEFINE QALIAS(A) TARGET(SYSTEM.DEFAULT.MODEL.QUEUE)");
            opened(s, "A", MQOO_OUTPUT)
        }),
        failed(2011, Reason::DYNAMIC_Q_NAME_ERROR, |_, s| dynamic(s, "BAD NAME").map(|_| Reason::NONE)),
        failed(2011, Reason::DYNAMIC_Q_NAME_ERROR, |_, s| dynamic(s, "").map(|_| Reason::NONE)),
        failed(2011, Reason::DYNAMIC_Q_NAME_ERROR, |_, s| dynamic(s, "BAD-*").map(|_| Reason::NONE)),
        failed(2011, Reason::DYNAMIC_Q_NAME_ERROR, |_, s| {
            dynamic(s, &format!("{}*", "A".repeat(32))).unwrap();
            dynamic(s, &format!("{}*", "A".repeat(33))).map(|_| Reason::NONE)
        }),
        failed(2017, Reason::HANDLE_NOT_AVAILABLE, |w, s| {
            w.run("ALTER QMGR MAXHANDS(1)");
            open(s, LOCAL, MQOO_OUTPUT);
            opened(s, LOCAL, MQOO_OUTPUT)
        }),
        failed(2042, Reason::OBJECT_IN_USE, |_, s| {
            open(s, LOCAL, MQOO_INPUT_SHARED);
            opened(s, LOCAL, MQOO_INPUT_EXCLUSIVE)
        }),
        failed(2043, Reason::OBJECT_TYPE_ERROR, |_, s| {
            opened_od(s, Od { object_type: 99, ..object(LOCAL) }, MQOO_OUTPUT)
        }),
        failed(2043, Reason::OBJECT_TYPE_ERROR, |_, s| put1(s, MODEL, &mut md(0), 0, b"")),
        failed(2045, Reason::OPTION_NOT_VALID_FOR_TYPE, |_, s| {
            opened_od(s, Od { object_type: MQOT_Q_MGR, ..Od::default() }, MQOO_OUTPUT)
        }),
        failed(2045, Reason::OPTION_NOT_VALID_FOR_TYPE, |_, s| {
            close(s, open(s, LOCAL, MQOO_OUTPUT), MQCO_DELETE)
        }),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| opened(s, LOCAL, 0)),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| close(s, open(s, LOCAL, MQOO_OUTPUT), 64)),
        failed(2057, Reason::Q_TYPE_ERROR, |w, s| {
            w.run("DEFINE QREMOTE(HERE) RQMNAME(QM1)");
            opened_od(s, at(MODEL, "HERE"), MQOO_OUTPUT)
        }),
        failed(2082, Reason::UNKNOWN_ALIAS_BASE_Q, |w, s| {
            w.run("DEFINE QALIAS(A) TARGET(NOWHERE)");
            opened(s, "A", MQOO_OUTPUT)
        }),
        failed(2085, Reason::UNKNOWN_OBJECT_NAME, |_, s| opened(s, "NO.SUCH.QUEUE", MQOO_OUTPUT)),
        failed(2085, Reason::UNKNOWN_OBJECT_NAME, |_, s| opened(s, "NOT A NAME", MQOO_OUTPUT)),
        failed(2085, Reason::UNKNOWN_OBJECT_NAME, |_, s| opened(s, "", MQOO_OUTPUT)),
        failed(2085, Reason::UNKNOWN_OBJECT_NAME, |_, s| put1(s, "NO.SUCH.QUEUE", &mut md(0), 0, b"")),
        failed(2086, Reason::UNKNOWN_OBJECT_Q_MGR, |_, s| opened_od(s, at("Q", "NOT A NAME"), MQOO_OUTPUT)),
        failed(2086, Reason::UNKNOWN_OBJECT_Q_MGR, |_, s| {
            opened_od(s, Od { object_type: MQOT_Q_MGR, ..at("", "OTHER") }, MQOO_INQUIRE)
        }),
        failed(2087, Reason::UNKNOWN_REMOTE_Q_MGR, |_, s| opened_od(s, at("Q", "ELSEWHERE"), MQOO_OUTPUT)),
        failed(2087, Reason::UNKNOWN_REMOTE_Q_MGR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(Q) RQMNAME('')");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2087, Reason::UNKNOWN_REMOTE_Q_MGR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(SYSTEM.DEFAULT.LOCAL.QUEUE) RQMNAME(QM1)");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2087, Reason::UNKNOWN_REMOTE_Q_MGR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)");
            opened_od(s, at("Q", "R"), MQOO_OUTPUT)
        }),
        failed(2091, Reason::XMIT_Q_TYPE_ERROR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(SYSTEM.DEFAULT.ALIAS.QUEUE)");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2092, Reason::XMIT_Q_USAGE_ERROR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(SYSTEM.DEFAULT.LOCAL.QUEUE)");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2100, Reason::OBJECT_ALREADY_EXISTS, |_, s| dynamic(s, LOCAL).map(|_| Reason::NONE)),
        failed(2154, Reason::RECS_PRESENT_ERROR, |_, s| {
            opened_od(s, Od { version: 2, recs_present: -2, ..Od::default() }, MQOO_OUTPUT)
        }),
        failed(2154, Reason::RECS_PRESENT_ERROR, |_, s| {
            let (h, mut pmo) = (open(s, LOCAL, MQOO_OUTPUT), Pmo { version: 2, recs_present: 1, ..Pmo::default() });
            block_on(s.put(h, &mut md(0), &mut pmo, Bytes::new())).map(|d| d.warning)
        }),
        failed(2184, Reason::REMOTE_Q_NAME_ERROR, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME('') RQMNAME(FAR)");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2184, Reason::REMOTE_Q_NAME_ERROR, |_, s| opened_od(s, at("", "FAR"), MQOO_OUTPUT)),
        failed(2196, Reason::UNKNOWN_XMIT_Q, |w, s| {
            w.run("DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(NOWHERE)");
            opened(s, "R", MQOO_OUTPUT)
        }),
        failed(2197, Reason::UNKNOWN_DEF_XMIT_Q, |w, s| {
            w.run("ALTER QMGR DEFXMITQ(NOWHERE)");
            opened_od(s, at("Q", "FAR"), MQOO_OUTPUT)
        }),
        failed(2198, Reason::DEF_XMIT_Q_TYPE_ERROR, |w, s| {
            w.run("ALTER QMGR DEFXMITQ(SYSTEM.DEFAULT.ALIAS.QUEUE)");
            opened_od(s, at("Q", "FAR"), MQOO_OUTPUT)
        }),
        failed(2199, Reason::DEF_XMIT_Q_USAGE_ERROR, |w, s| {
            w.run("ALTER QMGR DEFXMITQ(SYSTEM.DEFAULT.LOCAL.QUEUE)");
            opened_od(s, at("Q", "FAR"), MQOO_OUTPUT)
        }),
    ]
}

#[rustfmt::skip]
fn puts() -> Vec<Row> {
    vec![
        failed(2013, Reason::EXPIRY_ERROR, |_, s| put_as(s, Md { expiry: 0, ..md(0) }, 0)),
        failed(2013, Reason::EXPIRY_ERROR, |_, s| put_as(s, Md { expiry: -2, ..md(0) }, 0)),
        failed(2014, Reason::FEEDBACK_ERROR, |_, s| put_as(s, Md { feedback: -1, ..md(0) }, 0)),
        failed(2014, Reason::FEEDBACK_ERROR, |_, s| put_as(s, Md { feedback: 1_000_000_000, ..md(0) }, 0)),
        failed(2024, Reason::SYNCPOINT_LIMIT_REACHED, |w, s| {
            w.run("ALTER QMGR MAXUMSGS(1)");
            put_as(s, md(0), MQPMO_SYNCPOINT).unwrap();
            put_as(s, md(0), MQPMO_SYNCPOINT)
        }),
        failed(2027, Reason::MISSING_REPLY_TO_Q, |_, s| put_as(s, Md { msg_type: MQMT_REQUEST, ..md(0) }, 0)),
        failed(2027, Reason::MISSING_REPLY_TO_Q, |_, s| put_as(s, Md { report: MQRO_COD, ..md(0) }, 0)),
        failed(2029, Reason::MSG_TYPE_ERROR, |_, s| put_as(s, Md { msg_type: 0, ..md(0) }, 0)),
        failed(2030, Reason::MSG_TOO_BIG_FOR_Q, |w, s| {
            w.run("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXMSGL(0)");
            put_as(s, md(0), 0)
        }),
        failed(2031, Reason::MSG_TOO_BIG_FOR_Q_MGR, |w, s| {
            w.run("ALTER QMGR MAXMSGL(32768)");
            let h = open(s, LOCAL, MQOO_OUTPUT);
            try_put(s, h, &mut md(0), 0, &[0; 32_769])
        }),
        failed(2039, Reason::NOT_OPEN_FOR_OUTPUT, |_, s| {
            try_put(s, open(s, LOCAL, MQOO_INPUT_SHARED), &mut md(0), 0, b"")
        }),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| put_as(s, md(0), MQPMO_SYNCPOINT | MQPMO_NO_SYNCPOINT)),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| put_as(s, md(0), MQPMO_NO_CONTEXT | MQPMO_DEFAULT_CONTEXT)),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| put1(s, LOCAL, &mut md(0), MQPMO_LOGICAL_ORDER, b"")),
        failed(2047, Reason::PERSISTENCE_ERROR, |_, s| put_as(s, md(3), 0)),
        failed(2048, Reason::PERSISTENT_NOT_ALLOWED, |_, s| {
            try_put(s, dynamic(s, "T.*").unwrap(), &mut md(PERSISTENT), 0, b"")
        }),
        warned(2049, Reason::PRIORITY_EXCEEDS_MAXIMUM, |_, s| put_as(s, Md { priority: 10, ..md(0) }, 0)),
        failed(2050, Reason::PRIORITY_ERROR, |_, s| put_as(s, Md { priority: -2, ..md(0) }, 0)),
        failed(2051, Reason::PUT_INHIBITED, |w, s| {
            w.run("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) PUT(DISABLED)");
            put_as(s, md(0), 0)
        }),
        failed(2052, Reason::Q_DELETED, |_, s| {
            let h = dynamic(s, "T.*").unwrap();
            let name = s.status().handles[0].object.clone();
            let other = open(s, &name, MQOO_OUTPUT);
            close(s, h, MQCO_NONE).unwrap();
            try_put(s, other, &mut md(0), 0, b"")
        }),
        failed(2053, Reason::Q_FULL, |w, s| {
            w.run("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(1)");
            put_as(s, md(0), 0).unwrap();
            put_as(s, md(0), 0)
        }),
        failed(2061, Reason::REPORT_OPTIONS_ERROR, |_, s| put_as(s, Md { report: 0x0010_0000, ..md(0) }, 0)),
        warned(2104, Reason::UNKNOWN_REPORT_OPTION, |_, s| put_as(s, Md { report: 0x20, ..md(0) }, 0)),
        failed(2093, Reason::NOT_OPEN_FOR_PASS_ALL, |_, s| put_plain(s, MQPMO_PASS_ALL_CONTEXT)),
        failed(2094, Reason::NOT_OPEN_FOR_PASS_IDENT, |_, s| put_plain(s, MQPMO_PASS_IDENTITY_CONTEXT)),
        failed(2095, Reason::NOT_OPEN_FOR_SET_ALL, |_, s| put_plain(s, MQPMO_SET_ALL_CONTEXT)),
        failed(2096, Reason::NOT_OPEN_FOR_SET_IDENT, |_, s| put_plain(s, MQPMO_SET_IDENTITY_CONTEXT)),
        failed(2097, Reason::CONTEXT_HANDLE_ERROR, |_, s| put_passing(s, Hobj(77))),
        failed(2097, Reason::CONTEXT_HANDLE_ERROR, |_, s| put_passing(s, open(s, LOCAL, MQOO_INPUT_SHARED))),
        failed(2098, Reason::CONTEXT_NOT_AVAILABLE, |_, s| {
            put_passing(s, open(s, LOCAL, MQOO_INPUT_SHARED | MQOO_SAVE_ALL_CONTEXT))
        }),
        failed(2185, Reason::INCONSISTENT_PERSISTENCE, |_, s| {
            let (h, md) = begin_group(s, 0);
            try_put(s, h, &mut Md { persistence: PERSISTENT, ..md }, MQPMO_LOGICAL_ORDER, b"2")
        }),
        warned(2185, Reason::INCONSISTENT_PERSISTENCE, |_, s| {
            let (h, md) = begin_group(s, 0);
            try_put(s, h, &mut Md { persistence: PERSISTENT, ..md }, 0, b"2")
        }),
        failed(2056, Reason::Q_SPACE_NOT_AVAILABLE, |w, s| {
            let h = open(s, LOCAL, IN_OUT);
            w.stage.full.store(true, std::sync::atomic::Ordering::SeqCst);
            let put = || try_put(s, h, &mut md(0), 0, &[0; 50_000]);
            while put()? == Reason::NONE {}
            put()
        }),
        failed(2241, Reason::INCOMPLETE_GROUP, |_, s| {
            let (h, _) = begin_group(s, 0);
            try_put(s, h, &mut md(0), MQPMO_LOGICAL_ORDER, b"alone")
        }),
        warned(2241, Reason::INCOMPLETE_GROUP, |_, s| {
            let (h, _) = begin_group(s, 0);
            try_put(s, h, &mut md(0), 0, b"alone")
        }),
        warned(2241, Reason::INCOMPLETE_GROUP, |_, s| close(s, begin_group(s, 0).0, 0)),
        failed(2245, Reason::INCONSISTENT_UOW, |_, s| {
            let (h, mut md) = begin_group(s, 0);
            try_put(s, h, &mut md, MQPMO_LOGICAL_ORDER | MQPMO_SYNCPOINT, b"2")
        }),
        warned(2245, Reason::INCONSISTENT_UOW, |_, s| {
            let (h, mut md) = begin_group(s, 0);
            try_put(s, h, &mut md, MQPMO_SYNCPOINT, b"2")
        }),
        failed(2248, Reason::MDE_ERROR, |_, s| {
            put_as(s, Md { format: Chars::new(MQFMT_MD_EXTENSION), ..md(0) }, 0)
        }),
        failed(2249, Reason::MSG_FLAGS_ERROR, |_, s| put_as(s, Md { msg_flags: 0x20, ..md(0) }, 0)),
        failed(2250, Reason::MSG_SEQ_NUMBER_ERROR, |_, s| {
            put_as(s, Md { msg_seq_number: 0, msg_flags: MQMF_MSG_IN_GROUP, ..md(0) }, 0)
        }),
        failed(2251, Reason::OFFSET_ERROR, |_, s| {
            put_as(s, Md { offset: -1, msg_flags: MQMF_SEGMENT, ..md(0) }, 0)
        }),
        failed(2257, Reason::WRONG_MD_VERSION, |_, s| {
            put_as(s, Md { version: 1, ..md(0) }, MQPMO_LOGICAL_ORDER)
        }),
        failed(2365, Reason::SEGMENTS_NOT_SUPPORTED, |_, s| {
            put_as(s, Md { msg_flags: MQMF_LAST_SEGMENT, ..md(0) }, 0)
        }),
        failed(2026, Reason::MD_ERROR, |_, s| put_plain(s, MQPMO_MD_FOR_OUTPUT_ONLY)),
        failed(2460, Reason::HMSG_ERROR, |_, s| {
            let handle = Pmo { version: MQPMO_VERSION_3, new_msg_handle: 1, ..pmo(0) };
            put_how(s, handle)
        }),
        failed(2535, Reason::ACTION_ERROR, |_, s| {
            let reply = Pmo { version: MQPMO_VERSION_3, action: MQACTP_REPLY, ..pmo(0) };
            put_how(s, reply)
        }),
        failed(2459, Reason::SELECTOR_SYNTAX_ERROR, |_, s| selected(s, "color =", MQOO_BROWSE)),
        failed(2504, Reason::SELECTOR_ALWAYS_FALSE, |_, s| selected(s, "1 = 2", MQOO_BROWSE)),
        failed(2516, Reason::SELECTOR_INVALID_FOR_TYPE, |_, s| selected(s, "n = 2", MQOO_OUTPUT)),
        failed(2519, Reason::SELECTION_STRING_ERROR, |_, s| {
            selected(s, &" ".repeat(MQ_SELECTOR_LENGTH as usize + 1), MQOO_BROWSE)
        }),
    ]
}

fn selected(s: &Session, selection: &str, options: i32) -> Outcome {
    let selection_string = selection.to_owned();
    let od = Od {
        version: MQOD_VERSION_4,
        selection_string,
        ..object(LOCAL)
    };
    opened_od(s, od, options)
}

fn put_how(s: &Session, mut how: Pmo) -> Outcome {
    let h = open(s, LOCAL, MQOO_OUTPUT);
    block_on(s.put(h, &mut md(0), &mut how, Bytes::new())).map(|done| done.warning)
}

fn put_plain(s: &Session, options: i32) -> Outcome {
    try_put(s, open(s, LOCAL, MQOO_OUTPUT), &mut md(0), options, b"")
}

fn put_passing(s: &Session, from: Hobj) -> Outcome {
    let h = open(s, LOCAL, MQOO_OUTPUT | MQOO_PASS_ALL_CONTEXT);
    let mut pmo = Pmo {
        options: MQPMO_PASS_ALL_CONTEXT,
        context: from.0,
        ..Pmo::default()
    };
    block_on(s.put(h, &mut md(0), &mut pmo, Bytes::new())).map(|d| d.warning)
}

#[rustfmt::skip]
fn gets() -> Vec<Row> {
    vec![
        failed(2016, Reason::GET_INHIBITED, |w, s| {
            w.run("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) GET(DISABLED)");
            get_as(s, md(0), gmo(0), 9)
        }),
        failed(2033, Reason::NO_MSG_AVAILABLE, |_, s| {
            next(s, open(s, LOCAL, MQOO_INPUT_SHARED), 0).map(|t| t.warning)
        }),
        failed(2034, Reason::NO_MSG_UNDER_CURSOR, |_, s| get_as(s, md(0), gmo(MQGMO_MSG_UNDER_CURSOR), 9)),
        failed(2034, Reason::NO_MSG_UNDER_CURSOR, |_, s| get_as(s, md(0), gmo(MQGMO_BROWSE_MSG_UNDER_CURSOR), 9)),
        failed(2036, Reason::NOT_OPEN_FOR_BROWSE, |_, s| {
            next(s, open(s, LOCAL, MQOO_INPUT_SHARED), MQGMO_BROWSE_FIRST).map(|t| t.warning)
        }),
        failed(2037, Reason::NOT_OPEN_FOR_INPUT, |_, s| {
            next(s, open(s, LOCAL, MQOO_BROWSE), 0).map(|t| t.warning)
        }),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| {
            get_as(s, md(0), gmo(MQGMO_SYNCPOINT | MQGMO_NO_SYNCPOINT), 9)
        }),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| get_as(s, md(0), gmo(MQGMO_LOCK), 9)),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| get_as(s, md(0), gmo(MQGMO_UNLOCK | MQGMO_WAIT), 9)),
        failed(2046, Reason::OPTIONS_ERROR, |_, s| {
            get_as(s, md(0), gmo(MQGMO_BROWSE_FIRST | MQGMO_SYNCPOINT), 9)
        }),
        failed(2052, Reason::Q_DELETED, |w, s| {
            w.run("ALTER QMODEL(SYSTEM.DEFAULT.MODEL.QUEUE) SHARE");
            let h = dynamic(s, "T.*").unwrap();
            let name = s.status().handles[0].object.clone();
            let qm = s.queue_manager();
            let other = qm.connect(who("other")).unwrap();
            let waiting = wait(&other, open(&other, &name, MQOO_INPUT_SHARED), md(0), gmo(0));
            close(s, h, MQCO_NONE).unwrap();
            waiting.finish().map(|t| t.warning)
        }),
        warned(2079, Reason::TRUNCATED_MSG_ACCEPTED, |_, s| get_as(s, md(0), gmo(MQGMO_ACCEPT_TRUNCATED_MSG), 2)),
        warned(2080, Reason::TRUNCATED_MSG_FAILED, |_, s| get_as(s, md(0), gmo(0), 2)),
        failed(2090, Reason::WAIT_INTERVAL_ERROR, |_, s| {
            get_as(s, md(0), Gmo { wait_interval: -2, ..gmo(MQGMO_WAIT) }, 9)
        }),
        warned(2120, Reason::CONVERTED_MSG_TOO_BIG, |_, s| {
            let h = open(s, LOCAL, IN_OUT);
            let text = Md { format: posthaste_mqi::Chars::new(MQFMT_STRING), coded_char_set_id: 819, ..md(0) };
            send(s, h, text, 0, b"12345");
            take(s, h, Md { coded_char_set_id: 1200, ..md(0) }, gmo(MQGMO_CONVERT), 9).map(|t| t.warning)
        }),
        failed(2200, Reason::MSG_MARKED_BROWSE_CO_OP, |_, s| {
            let co_op = || open(s, LOCAL, IN_OUT | MQOO_BROWSE | MQOO_CO_OP);
            let (h, other) = (co_op(), co_op());
            put(s, h, 0, 0, b"m");
            let mark = MQGMO_BROWSE_FIRST | MQGMO_MARK_BROWSE_CO_OP;
            next(s, h, mark).unwrap();
            next(s, other, mark).map(|t| t.warning)
        }),
        warned(2209, Reason::NO_MSG_LOCKED, |_, s| get_as(s, md(0), gmo(MQGMO_UNLOCK), 9)),
        warned(2241, Reason::INCOMPLETE_GROUP, |_, s| {
            let h = begin_getting(s);
            let putter = open(s, LOCAL, MQOO_OUTPUT);
            send(s, putter, Md { priority: 9, ..md(0) }, 0, b"urgent");
            next(s, h, 0).map(|t| t.warning)
        }),
        warned(2241, Reason::INCOMPLETE_GROUP, |_, s| close(s, begin_getting(s), 0)),
        failed(2245, Reason::INCONSISTENT_UOW, |_, s| {
            next(s, begin_getting(s), MQGMO_LOGICAL_ORDER | MQGMO_SYNCPOINT).map(|t| t.warning)
        }),
        warned(2245, Reason::INCONSISTENT_UOW, |_, s| next(s, begin_getting(s), MQGMO_SYNCPOINT).map(|t| t.warning)),
        failed(2247, Reason::MATCH_OPTIONS_ERROR, |_, s| {
            get_as(s, md(0), Gmo { match_options: 64, ..gmo(0) }, 9)
        }),
        failed(2247, Reason::MATCH_OPTIONS_ERROR, |_, s| {
            let h = begin_getting(s);
            let by_id = Gmo { match_options: MQMO_MATCH_MSG_ID, ..gmo(MQGMO_LOGICAL_ORDER) };
            take(s, h, Md { msg_id: [9; 24], ..md(0) }, by_id, 9).map(|t| t.warning)
        }),
        failed(2259, Reason::INCONSISTENT_BROWSE, |_, s| {
            let h = open(s, LOCAL, IN_OUT | MQOO_BROWSE);
            put(s, h, 0, 0, b"m");
            next(s, h, MQGMO_BROWSE_FIRST | MQGMO_LOGICAL_ORDER).unwrap();
            next(s, h, MQGMO_BROWSE_NEXT).map(|t| t.warning)
        }),
        failed(2256, Reason::WRONG_GMO_VERSION, |_, s| {
            get_as(s, md(0), Gmo { version: 1, ..gmo(MQGMO_LOGICAL_ORDER) }, 9)
        }),
        failed(2257, Reason::WRONG_MD_VERSION, |_, s| {
            get_as(s, Md { version: 1, ..md(0) }, gmo(MQGMO_ALL_MSGS_AVAILABLE), 9)
        }),
        failed(2257, Reason::WRONG_MD_VERSION, |_, s| {
            get_as(s, Md { version: 1, ..md(0) }, Gmo { match_options: MQMO_MATCH_GROUP_ID, ..gmo(0) }, 9)
        }),
    ]
}

#[rustfmt::skip]
fn others() -> Vec<Row> {
    vec![
        failed(2006, Reason::CHAR_ATTR_LENGTH_ERROR, |_, s| {
            let h = open(s, LOCAL, MQOO_SET);
            block_on(s.set(h, &[MQCA_TRIGGER_DATA], &[], b"short")).map(|d| d.warning)
        }),
        failed(2009, Reason::CONNECTION_BROKEN, |w, s| {
            w.stage.broken.store(true, std::sync::atomic::Ordering::SeqCst);
            put_as(s, md(PERSISTENT), 0)
        }),
        failed(2012, Reason::ENVIRONMENT_ERROR, |_, s| {
            let branch = posthaste_engine::Xid::new(1, b"1", b"").unwrap();
            block_on(s.start_branch(&branch, posthaste_engine::Start::New)).unwrap();
            block_on(s.commit()).map(|d| d.warning)
        }),
        failed(2018, Reason::HCONN_ERROR, |_, s| {
            block_on(s.disconnect()).unwrap();
            block_on(s.commit()).map(|d| d.warning)
        }),
        failed(2019, Reason::HOBJ_ERROR, |_, s| try_put(s, Hobj(1), &mut md(0), 0, b"")),
        failed(2019, Reason::HOBJ_ERROR, |_, s| {
            let h = open(s, LOCAL, MQOO_OUTPUT);
            close(s, h, 0).unwrap();
            close(s, h, 0)
        }),
        failed(2020, Reason::INHIBIT_VALUE_ERROR, |_, s| set_as(s, MQIA_INHIBIT_GET, 7)),
        failed(2021, Reason::INT_ATTR_COUNT_ERROR, |_, s| {
            let h = open(s, LOCAL, MQOO_SET);
            block_on(s.set(h, &[MQIA_INHIBIT_GET], &[], &[])).map(|d| d.warning)
        }),
        failed(2038, Reason::NOT_OPEN_FOR_INQUIRE, |_, s| {
            inquire(s, open(s, LOCAL, MQOO_OUTPUT), &[MQIA_Q_TYPE]).map(|d| d.1)
        }),
        failed(2040, Reason::NOT_OPEN_FOR_SET, |_, s| {
            let h = open(s, LOCAL, MQOO_INQUIRE);
            block_on(s.set(h, &[MQIA_INHIBIT_GET], &[0], &[])).map(|d| d.warning)
        }),
        failed(2041, Reason::OBJECT_CHANGED, |w, s| {
            w.run("DEFINE QALIAS(A) TARGET(SYSTEM.DEFAULT.LOCAL.QUEUE)");
            let h = open(s, "A", MQOO_SET);
            w.run("ALTER QALIAS(A) TARGET(SYSTEM.DEAD.LETTER.QUEUE) FORCE");
            block_on(s.set(h, &[MQIA_INHIBIT_GET], &[0], &[])).map(|d| d.warning)
        }),
        failed(2055, Reason::Q_NOT_EMPTY, |w, s| {
            w.run("DEFINE QMODEL(M) DEFTYPE(PERMDYN)");
            let h = open(s, "M", IN_OUT);
            put(s, h, 0, 0, b"left");
            close(s, h, MQCO_DELETE)
        }),
        failed(2055, Reason::Q_NOT_EMPTY, |w, s| {
            w.run("DEFINE QMODEL(M) DEFTYPE(PERMDYN)");
            let h = open(s, "M", IN_OUT);
            put(s, h, 0, MQPMO_SYNCPOINT, b"uncommitted");
            close(s, h, MQCO_DELETE_PURGE)
        }),
        failed(2067, Reason::SELECTOR_ERROR, |_, s| {
            inquire(s, open(s, LOCAL, MQOO_INQUIRE), &[9999]).map(|d| d.1)
        }),
        failed(2067, Reason::SELECTOR_ERROR, |_, s| {
            inquire(s, open(s, LOCAL, MQOO_INQUIRE), &[MQIA_LAST]).map(|d| d.1)
        }),
        failed(2067, Reason::SELECTOR_ERROR, |_, s| set_as(s, MQIA_MAX_Q_DEPTH, 7)),
        warned(2068, Reason::SELECTOR_NOT_FOR_TYPE, |_, s| {
            inquire(s, open(s, LOCAL, MQOO_INQUIRE), &[MQCA_REMOTE_Q_NAME]).map(|d| d.1)
        }),
        failed(2068, Reason::SELECTOR_NOT_FOR_TYPE, |w, s| {
            w.run("DEFINE QALIAS(A) TARGET(SYSTEM.DEFAULT.LOCAL.QUEUE)");
            let h = open(s, "A", MQOO_SET);
            block_on(s.set(h, &[MQIA_TRIGGER_DEPTH], &[1], &[])).map(|d| d.warning)
        }),
        failed(2075, Reason::TRIGGER_CONTROL_ERROR, |_, s| set_as(s, MQIA_TRIGGER_CONTROL, 9)),
        failed(2076, Reason::TRIGGER_DEPTH_ERROR, |_, s| set_as(s, MQIA_TRIGGER_DEPTH, 0)),
        failed(2077, Reason::TRIGGER_MSG_PRIORITY_ERR, |_, s| set_as(s, MQIA_TRIGGER_MSG_PRIORITY, 10)),
        failed(2078, Reason::TRIGGER_TYPE_ERROR, |_, s| set_as(s, MQIA_TRIGGER_TYPE, 9)),
        failed(2202, Reason::CONNECTION_QUIESCING, |_, s| {
            let h = open(s, LOCAL, MQOO_INPUT_SHARED);
            s.quiesce();
            next(s, h, MQGMO_WAIT | MQGMO_FAIL_IF_QUIESCING).map(|_| Reason::NONE)
        }),
        failed(2203, Reason::CONNECTION_STOPPING, |_, s| {
            let h = open(s, LOCAL, MQOO_INPUT_SHARED);
            s.give_up_waits();
            next(s, h, MQGMO_WAIT).map(|_| Reason::NONE)
        }),
        failed(2161, Reason::Q_MGR_QUIESCING, |w, s| {
            w.qm().quiesce(EndMode::Controlled);
            connecting(s)
        }),
        failed(2161, Reason::Q_MGR_QUIESCING, |w, s| {
            w.qm().quiesce(EndMode::Controlled);
            opened(s, LOCAL, MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING)
        }),
        failed(2161, Reason::Q_MGR_QUIESCING, |w, s| {
            w.qm().quiesce(EndMode::Controlled);
            put_as(s, md(0), MQPMO_FAIL_IF_QUIESCING)
        }),
        failed(2161, Reason::Q_MGR_QUIESCING, |w, s| {
            w.qm().quiesce(EndMode::Controlled);
            get_as(s, md(0), gmo(MQGMO_FAIL_IF_QUIESCING), 9)
        }),
        failed(2161, Reason::Q_MGR_QUIESCING, |w, s| {
            let waiting = wait(s, open(s, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(MQGMO_FAIL_IF_QUIESCING));
            w.qm().quiesce(EndMode::Controlled);
            waiting.finish().map(|t| t.warning)
        }),
        failed(2162, Reason::Q_MGR_STOPPING, |w, s| {
            let mut waiting = wait(s, open(s, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(0));
            let qm = w.qm().clone();
            let _ending = Call::begin(async move { qm.end(EndMode::Immediate).await });
            assert_eq!(connecting(s), Err(Reason::Q_MGR_STOPPING));
            waiting.poll().unwrap().map(|t| t.warning)
        }),
        failed(2219, Reason::CALL_IN_PROGRESS, |_, s| {
            let _waiting = wait(s, open(s, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(0));
            block_on(s.commit()).map(|d| d.warning)
        }),
        failed(2430, Reason::STAT_TYPE_ERROR, |_, s| {
            block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR + 99, 1)).map(|_| Reason::NONE)
        }),
    ]
}

const MANAGED: i32 = MQSO_CREATE | MQSO_MANAGED;
const DURABLE: i32 = MANAGED | MQSO_DURABLE;

/// A descriptor of a durable managed subscription.
fn sd(options: i32) -> Sd {
    Sd {
        options,
        sub_name: "S".to_owned(),
        object_string: "a".to_owned(),
        ..Sd::default()
    }
}

fn subscribed(s: &Session, mut sd: Sd) -> Outcome {
    let done = block_on(s.subscribe(&mut sd, Hobj::NONE));
    done.map(|done| done.warning)
}

/// A subscription is there, and somebody else asks for this.
fn subscribed_too(w: &World, s: &Session, user: &str, sd: Sd) -> Outcome {
    let application = Application {
        user: user.to_owned(),
        ..who("other")
    };
    let other = w.qm().connect(application).unwrap();
    subscribed(&other, self::sd(DURABLE)).unwrap();
    subscribed(s, sd)
}

/// A subscription for a queue of the application's, shared or not.
fn grouped(s: &Session, options: i32, name: &str, shared: bool) -> Outcome {
    let own = open(s, LOCAL, MQOO_INPUT_SHARED);
    let mut sd = Sd {
        sub_name: name.to_owned(),
        sub_correl_id: [7; 24],
        ..sd(options | MQSO_SET_CORREL_ID)
    };
    let done = match shared {
        true => {
            let with = SubscribeOptions {
                shared,
                ..SubscribeOptions::default()
            };
            block_on(s.subscribe_with(&mut sd, own, with))
        }
        false => block_on(s.subscribe(&mut sd, own)),
    };
    done.map(|done| done.warning)
}

/// A subscription is there and is to be altered like this.
fn altered(s: &Session, options: i32, change: impl FnOnce(&mut Sd)) -> Outcome {
    subscribed(s, sd(DURABLE)).unwrap();
    let mut sd = sd(options | MQSO_ALTER);
    change(&mut sd);
    subscribed(s, sd)
}

/// MQSUBRQ.
fn requested(s: &Session, action: i32) -> Outcome {
    let done = block_on(s.subscribe(&mut sd(DURABLE), Hobj::NONE))?;
    let mut sro = Sro::default();
    let done = block_on(s.subscription_request(done.value.1, action, &mut sro));
    done.map(|done| done.warning)
}

#[rustfmt::skip] // one row, one line where it fits
fn subscriptions() -> Vec<Row> {
    vec![
        failed(2417, Reason::MSG_NOT_ALLOWED_IN_GROUP, |_, s| {
            let h = open_od(s, &mut topic("t"), MQOO_OUTPUT).unwrap();
            try_put(s, h, &mut Md { msg_flags: MQMF_MSG_IN_GROUP, ..md(0) }, 0, b"1")
        }),
        failed(2424, Reason::SD_ERROR, |_, s| subscribed(s, Sd { sub_level: 10, ..sd(DURABLE) })),
        failed(2425, Reason::TOPIC_STRING_ERROR, |_, s| subscribed(s, Sd { object_string: String::new(), ..sd(DURABLE) })),
        failed(2428, Reason::NO_SUBSCRIPTION, |_, s| subscribed(s, sd(MQSO_RESUME))),
        failed(2429, Reason::SUBSCRIPTION_IN_USE, |w, s| subscribed_too(w, s, "tester", sd(MQSO_RESUME))),
        failed(2431, Reason::SUB_USER_DATA_ERROR, |_, s| subscribed(s, Sd { sub_user_data: "x".repeat(10_241), ..sd(DURABLE) })),
        failed(2432, Reason::SUB_ALREADY_EXISTS, |w, s| subscribed_too(w, s, "tester", sd(DURABLE))),
        failed(2434, Reason::IDENTITY_MISMATCH, |w, s| subscribed_too(w, s, "other", sd(MQSO_RESUME))),
        failed(2436, Reason::DURABILITY_NOT_ALLOWED, |w, s| {
            w.run("ALTER TOPIC(SYSTEM.BASE.TOPIC) DURSUB(NO)");
            subscribed(s, Sd { sub_name: "N".to_owned(), ..sd(MANAGED) }).unwrap();
            subscribed(s, sd(DURABLE))
        }),
        failed(2437, Reason::NO_RETAINED_MSG, |_, s| requested(s, MQSR_ACTION_PUBLICATION)),
        failed(2440, Reason::SUB_NAME_ERROR, |_, s| subscribed(s, Sd { sub_name: String::new(), ..sd(DURABLE) })),
        failed(2503, Reason::SUB_INHIBITED, |w, s| {
            w.run("DEFINE TOPIC(T) TOPICSTR('a') SUB(DISABLED)");
            subscribed(s, Sd { object_string: "b".to_owned(), ..sd(MANAGED) }).unwrap();
            subscribed(s, Sd { sub_name: "T".to_owned(), ..sd(DURABLE) })
        }),
        failed(2509, Reason::DURABILITY_NOT_ALTERABLE, |_, s| altered(s, MANAGED, |_| ())),
        failed(2510, Reason::TOPIC_NOT_ALTERABLE, |_, s| altered(s, DURABLE, |sd| sd.object_string = "b".to_owned())),
        failed(2512, Reason::SUBLEVEL_NOT_ALTERABLE, |_, s| altered(s, DURABLE, |sd| sd.sub_level = 2)),
        failed(2514, Reason::DUPLICATE_GROUP_SUB, |_, s| {
            grouped(s, MQSO_CREATE | MQSO_GROUP_SUB, "S", false).unwrap();
            grouped(s, MQSO_CREATE | MQSO_GROUP_SUB, "T", false)
        }),
        failed(2515, Reason::GROUPING_NOT_ALTERABLE, |_, s| {
            grouped(s, MQSO_CREATE, "S", false).unwrap();
            grouped(s, MQSO_ALTER | MQSO_GROUP_SUB, "S", false)
        }),
        failed(2562, Reason::GROUPING_NOT_ALLOWED, |_, s| grouped(s, MQSO_CREATE | MQSO_GROUP_SUB, "S", true)),
        failed(2522, Reason::INVALID_DESTINATION, |w, s| {
            w.run("DELETE QMODEL(SYSTEM.DURABLE.MODEL.QUEUE)");
            subscribed(s, sd(DURABLE))
        }),
        failed(2523, Reason::INVALID_SUBSCRIPTION, |_, s| subscribed(s, Sd { sub_name: "SYSTEM.DEFAULT.SUB".to_owned(), ..sd(DURABLE) })),
        failed(2524, Reason::SELECTOR_NOT_ALTERABLE, |_, s| altered(s, DURABLE, |sd| sd.selection_string = "a = 1".to_owned())),
        failed(2531, Reason::PUBSUB_INHIBITED, |w, s| {
            w.run("ALTER QMGR PSMODE(DISABLED)");
            subscribed(s, sd(DURABLE))
        }),
        failed(2535, Reason::ACTION_ERROR, |_, s| requested(s, 0)),
        failed(2533, Reason::DEST_CLASS_NOT_ALTERABLE, |_, s| altered(s, DURABLE & !MQSO_MANAGED, |_| ())),
    ]
}

fn table() -> Vec<Row> {
    let parts = [names(), puts(), gets(), others(), subscriptions()];
    parts.into_iter().flatten().collect()
}

fn reason_of(outcome: Outcome) -> Reason {
    match outcome {
        Ok(reason) | Err(reason) => reason,
    }
}

#[test]
fn every_situation_gives_its_reason() {
    let mut wrong = Vec::new();
    for row in table() {
        let expected = reason_of(row.expected);
        assert_eq!(expected.code(), row.code, "{expected}");
        let w = World::light();
        let s = w.connect();
        let outcome = (row.play)(&w, &s);
        if outcome != row.expected {
            wrong.push(format!("expected {:?}, got {outcome:?}", row.expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The names after `Reason::` in the sources of the engine.
fn named(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            named(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for rest in text.split("Reason::").skip(1) {
            let end =
                rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
            let name = &rest[..end.unwrap_or(rest.len())];
            if name.len() > 1 {
                found.insert(name.to_owned());
            }
        }
    }
}

#[test]
fn every_reason_in_the_sources_has_a_row() {
    let mut found = BTreeSet::new();
    named(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.len() > 80, "the sources were not found: {found:?}");
    let rows: BTreeSet<String> = table()
        .iter()
        .map(|row| {
            reason_of(row.expected)
                .name()
                .trim_start_matches("MQRC_")
                .to_owned()
        })
        .collect();
    for name in &found {
        let known = rows.contains(name)
            || OWN_TESTS.contains(&name.as_str())
            || UNPROVOKED.iter().any(|(n, _)| n == name);
        assert!(known, "Reason::{name} has no row");
    }
    for name in rows {
        assert!(
            found.contains(&name),
            "Reason::{name} is in no source any more"
        );
    }
}

/// A queue manager with a log of little more than a megabyte.
fn small_log() -> World {
    World::made(&CreateOptions::default(), |c| {
        c.log_config.file_pages = 64;
        c.log_config.primary_files = 3;
        c.log_config.secondary_files = 1;
    })
}

/// Fills the log until the session's unit of work is backed out.
fn exhaust(w: &World) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for _ in 0..1000 {
        put(&s, h, PERSISTENT, 0, &[7; 20_000]);
        next(&s, h, 0).unwrap();
        if w.message_count("AMQ7469W") > 0 {
            return;
        }
    }
    panic!("no unit of work was backed out");
}

#[test]
fn a_unit_of_work_that_holds_the_log_is_backed_out() {
    let w = small_log();
    for ending in ["commit", "put", "disconnect", "backout"] {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"long");
        let message_count = w.message_count("AMQ7469W");
        while w.message_count("AMQ7469W") == message_count {
            let other = w.connect();
            let o = open(&other, LOCAL, IN_OUT);
            put(&other, o, PERSISTENT, 0, &[7; 20_000]);
            next(&other, o, 0).unwrap();
        }
        match ending {
            "commit" => {
                assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT));
                commit(&s);
            }
            "put" => {
                // The application is told at every call until it ends the unit of work itself.
                for _ in 0..2 {
                    let refused = try_put(&s, h, &mut md(0), MQPMO_SYNCPOINT, b"");
                    assert_eq!(refused, Err(Reason::BACKED_OUT));
                }
                assert_eq!(
                    next(&s, h, MQGMO_SYNCPOINT).unwrap_err(),
                    Reason::BACKED_OUT
                );
                backout(&s);
                put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"works again");
                backout(&s);
            }
            "disconnect" => {
                let done = block_on(s.disconnect()).unwrap();
                assert_eq!(done.warning, Reason::BACKED_OUT);
            }
            _ => backout(&s),
        }
        assert_eq!(w.depth(LOCAL), 0, "{ending}");
    }
}

#[test]
fn a_message_longer_than_the_log_is_refused() {
    let w = small_log();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for options in [0, MQPMO_SYNCPOINT] {
        let long = vec![7; 3 << 20];
        let refused = try_put(&s, h, &mut md(PERSISTENT), options, &long);
        assert_eq!(refused, Err(Reason::RESOURCE_PROBLEM));
        put(&s, h, PERSISTENT, options, b"short");
        commit(&s);
        assert_eq!(next(&s, h, 0).unwrap().text(), "short");
    }
    exhaust_without_units(&w);
}

/// However much goes through it, the log is never full for good.
fn exhaust_without_units(w: &World) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for _ in 0..200 {
        put(&s, h, PERSISTENT, 0, &[7; 20_000]);
        next(&s, h, 0).unwrap();
    }
    assert_eq!(w.message_count("AMQ7469W"), 0);
}

#[test]
fn the_long_unit_of_work_is_named_to_the_operator() {
    let w = small_log();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"long");
    exhaust(&w);
    assert_eq!(w.message_count("AMQ7469W"), 1);
    assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT));
}
