//! MQGET: waiting, matching, truncation, and what it costs to find a message.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::time::Instant;

use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Reason};
use world::*;

fn id(n: u32) -> [u8; 24] {
    let mut id = [0xAA; 24];
    id[..4].copy_from_slice(&n.to_be_bytes());
    id
}

#[test]
fn a_wait_ends_when_its_time_is_up() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    for wait_interval in [0, 50] {
        let waiting = Gmo {
            wait_interval,
            ..gmo(MQGMO_WAIT)
        };
        let began = Instant::now();
        let reason = take(&s, h, md(0), waiting, 9).unwrap_err();
        assert_eq!(reason, Reason::NO_MSG_AVAILABLE);
        assert!(began.elapsed().as_millis() >= wait_interval as u128);
    }
}

#[test]
fn an_unlimited_wait_ends_with_a_message() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let mut waiting = wait(&s, h, md(0), gmo(0));
    assert!(waiting.poll().is_none());
    put(&putter, p, 0, 0, b"here");
    assert_eq!(waiting.woken(), 1);
    assert_eq!(waiting.poll().unwrap().unwrap().text(), "here");
    assert_eq!(w.depth(LOCAL), 0);
}

/// A criterion: its name, its match options, and how to ask by it for a message.
type Criterion = (&'static str, i32, fn(&Taken, &mut Md, &mut Gmo));

const BOTH: i32 = MQMO_MATCH_MSG_ID | MQMO_MATCH_CORREL_ID;
const IN_GROUP: i32 = MQMO_MATCH_GROUP_ID | MQMO_MATCH_MSG_SEQ_NUMBER;

#[rustfmt::skip]
const CRITERIA: [Criterion; 8] = [
    ("MsgId", MQMO_MATCH_MSG_ID, |t, md, _| md.msg_id = t.md.msg_id),
    ("CorrelId", MQMO_MATCH_CORREL_ID, |t, md, _| md.correl_id = t.md.correl_id),
    ("MsgId and CorrelId", BOTH, |t, md, _| {
        (md.msg_id, md.correl_id) = (t.md.msg_id, t.md.correl_id);
    }),
    ("GroupId", MQMO_MATCH_GROUP_ID, |t, md, _| md.group_id = t.md.group_id),
    ("GroupId and MsgSeqNumber", IN_GROUP, |t, md, _| {
        (md.group_id, md.msg_seq_number) = (t.md.group_id, t.md.msg_seq_number);
    }),
    ("MsgSeqNumber", MQMO_MATCH_MSG_SEQ_NUMBER, |t, md, _| md.msg_seq_number = t.md.msg_seq_number),
    ("MsgToken", MQMO_MATCH_MSG_TOKEN, |t, _, gmo| gmo.msg_token = t.gmo.msg_token),
    ("everything", BOTH | IN_GROUP | MQMO_MATCH_MSG_TOKEN, |t, md, gmo| {
        *md = t.md.clone();
        gmo.msg_token = t.gmo.msg_token;
    }),
];

/// Puts messages 1 to 5, each with identifiers and a group of its own.
fn five(s: &Session, h: Hobj) {
    for n in 1..=5 {
        let own = Md {
            msg_id: id(n),
            correl_id: id(n + 10),
            group_id: id(n + 20),
            msg_seq_number: n as i32,
            msg_flags: MQMF_LAST_MSG_IN_GROUP,
            ..md(0)
        };
        send(s, h, own, 0, n.to_string().as_bytes());
    }
}

fn browsed(s: &Session, h: Hobj) -> Vec<Taken> {
    let mut how = MQGMO_BROWSE_FIRST;
    let mut all = Vec::new();
    while let Ok(taken) = next(s, h, how) {
        all.push(taken);
        how = MQGMO_BROWSE_NEXT;
    }
    all
}

#[test]
fn each_criterion_finds_the_one_message() {
    for (name, match_options, ask) in CRITERIA {
        let w = World::new();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        five(&s, h);
        let messages = browsed(&s, h);
        for n in [2, 4, 0, 3, 1] {
            let wanted: &Taken = &messages[n];
            let asking = |options: i32| {
                let (mut by, mut how) = (md(0), gmo(options));
                (how.version, how.match_options) = (MQGMO_VERSION_3, match_options);
                ask(wanted, &mut by, &mut how);
                take(&s, h, by, how, 9)
            };
            let seen = asking(MQGMO_BROWSE_FIRST).unwrap();
            assert_eq!(seen.data, wanted.data, "{name}");
            let got = asking(0).unwrap();
            assert_eq!(got.data, wanted.data, "{name}");
            assert_eq!(got.md, wanted.md, "{name}");
            assert_eq!(got.gmo.msg_token, wanted.gmo.msg_token, "{name}");
            let gone = asking(0).unwrap_err();
            assert_eq!(gone, Reason::NO_MSG_AVAILABLE, "{name}");
        }
    }
}

#[test]
fn each_criterion_is_waited_for() {
    // A token cannot be known before its message is there.
    let by_fields = CRITERIA.iter().filter(|c| c.1 & MQMO_MATCH_MSG_TOKEN == 0);
    for (name, match_options, ask) in by_fields {
        let w = World::new();
        let (s, putter) = (w.connect(), w.connect());
        let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
        let p = open(&putter, LOCAL, IN_OUT | MQOO_BROWSE);
        five(&putter, p);
        let messages = browsed(&putter, p);
        drain(&putter, p);
        let (mut by, mut how) = (md(0), gmo(0));
        how.match_options = *match_options;
        ask(&messages[3], &mut by, &mut how);
        let waiting = wait(&s, h, by, how);
        five(&putter, p);
        let got = waiting.finish().unwrap();
        assert_eq!(got.data, messages[3].data, "{name}");
        assert_eq!(drain(&putter, p), ["1", "2", "3", "5"], "{name}");
    }
}

#[test]
fn null_identifiers_match_anything() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for match_options in [MQMO_NONE, BOTH | MQMO_MATCH_GROUP_ID] {
        put(&s, h, 0, 0, b"any");
        let mut any = gmo(0);
        any.match_options = match_options;
        assert_eq!(take(&s, h, md(0), any, 9).unwrap().text(), "any");
    }
    // A version 1 MQGMO matches by MsgId and CorrelId, whatever its match options say.
    put(&s, h, 0, 0, b"any");
    let old = Gmo {
        version: 1,
        ..gmo(0)
    };
    for by in [
        Md {
            msg_id: id(7),
            ..md(0)
        },
        Md {
            correl_id: id(7),
            ..md(0)
        },
    ] {
        let missed = take(&s, h, by, old.clone(), 9).unwrap_err();
        assert_eq!(missed, Reason::NO_MSG_AVAILABLE);
    }
    assert_eq!(take(&s, h, md(0), old, 9).unwrap().text(), "any");
}

#[test]
fn truncation_gives_the_length_and_keeps_or_takes_the_message() {
    let w = World::new();
    let s = w.connect();
    for (persistence, sync) in [
        (NOT_PERSISTENT, 0),
        (PERSISTENT, 0),
        (NOT_PERSISTENT, MQGMO_SYNCPOINT),
        (PERSISTENT, MQGMO_SYNCPOINT),
    ] {
        let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
        put(&s, h, persistence, 0, b"0123456789");
        for how in [MQGMO_BROWSE_FIRST, sync] {
            let short = take(&s, h, md(0), gmo(how), 4).unwrap();
            assert_eq!(short.warning, Reason::TRUNCATED_MSG_FAILED);
            assert_eq!((&short.data[..], short.length), (&b"0123"[..], 10));
            assert_eq!(short.gmo.returned_length, 4);
            assert_eq!(short.md.persistence, persistence);
            assert_eq!(w.depth(LOCAL), 1);
        }
        // The cursor has not moved, so there is nothing under it.
        let under = next(&s, h, MQGMO_BROWSE_MSG_UNDER_CURSOR).unwrap_err();
        assert_eq!(under, Reason::NO_MSG_UNDER_CURSOR);
        let accept = MQGMO_ACCEPT_TRUNCATED_MSG;
        let seen = take(&s, h, md(0), gmo(accept | MQGMO_BROWSE_FIRST), 0).unwrap();
        assert_eq!(seen.warning, Reason::TRUNCATED_MSG_ACCEPTED);
        assert_eq!((seen.data.len(), seen.length), (0, 10));
        assert_eq!(w.depth(LOCAL), 1);
        let got = take(&s, h, md(0), gmo(accept | sync), 3).unwrap();
        assert_eq!(got.warning, Reason::TRUNCATED_MSG_ACCEPTED);
        assert_eq!((&got.data[..], got.length), (&b"012"[..], 10));
        commit(&s);
        assert_eq!(w.depth(LOCAL), 0);
    }
}

#[test]
fn a_message_too_long_for_one_waiter_goes_to_the_next() {
    let w = World::new();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let (short, long, putter) = (w.connect(), w.connect(), w.connect());
        let (a, b) = (
            open(&short, LOCAL, MQOO_INPUT_SHARED),
            open(&long, LOCAL, MQOO_INPUT_SHARED),
        );
        let p = open(&putter, LOCAL, MQOO_OUTPUT);
        let waiting = Gmo {
            wait_interval: MQWI_UNLIMITED,
            ..gmo(MQGMO_WAIT)
        };
        let first = Call::begin(getting(short.clone(), a, md(0), waiting.clone(), 3));
        let second = Call::begin(getting(long.clone(), b, md(0), waiting, 100));
        put(&putter, p, persistence, 0, b"four");
        let cut = first.finish().unwrap();
        assert_eq!((cut.warning, cut.length), (Reason::TRUNCATED_MSG_FAILED, 4));
        let whole = second.finish().unwrap();
        assert_eq!(
            (whole.warning, whole.text().as_str()),
            (Reason::NONE, "four")
        );
        assert_eq!(w.depth(LOCAL), 0);
    }
}

/// Every field of the descriptor comes back as it was put, whatever version the getter has.
#[test]
fn the_descriptor_comes_back_whole() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_SET_ALL_CONTEXT);
    let whole = Md {
        version: 2,
        report: MQRO_PASS_CORREL_ID | MQRO_DISCARD_MSG,
        msg_type: MQMT_REQUEST,
        expiry: MQEI_UNLIMITED,
        feedback: 99_999,
        encoding: 273,
        coded_char_set_id: 437,
        format: Chars::new("MYFORMAT"),
        priority: 7,
        persistence: PERSISTENT,
        msg_id: id(1),
        correl_id: id(2),
        backout_count: 0,
        reply_to_q: Name::new("REPLY"),
        reply_to_q_mgr: Name::new("QM9"),
        user_identifier: Chars::new("mary"),
        accounting_token: [5; 32],
        appl_identity_data: Chars::new("identity"),
        put_appl_type: 28,
        put_appl_name: Chars::new("program"),
        put_date: Chars::new("20240229"),
        put_time: Chars::new("12345678"),
        appl_origin_data: Chars::new("orig"),
        group_id: id(3),
        msg_seq_number: 4,
        offset: 0,
        msg_flags: MQMF_MSG_IN_GROUP,
        original_length: MQOL_UNDEFINED,
    };
    for version in [1, 2] {
        let mut whole = whole.clone();
        if version == 1 {
            // With fields of version 2 there would be an MQMDE in front of the data.
            whole.group_id = MQGI_NONE;
            whole.msg_seq_number = 1;
            whole.msg_flags = MQMF_NONE;
        }
        send(&s, h, whole.clone(), MQPMO_SET_ALL_CONTEXT, b"x");
        let by = Md { version, ..md(0) };
        let got = take(&s, h, by, gmo(0), 9).unwrap();
        assert_eq!(got.md, Md { version, ..whole });
        assert_eq!(got.gmo.resolved_q_name.text(), LOCAL);
    }
}

#[test]
fn group_status_is_told() {
    let w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for (msg_flags, status) in [
        (0, b' '),
        (MQMF_MSG_IN_GROUP, b'G'),
        (MQMF_LAST_MSG_IN_GROUP, b'L'),
    ] {
        send(&s, h, Md { msg_flags, ..md(0) }, 0, b"");
        let got = next(&s, h, 0).unwrap();
        assert_eq!(got.gmo.group_status, status);
        assert_eq!(got.gmo.segment_status, b' ');
    }
}

#[test]
fn a_get_by_identifier_does_not_scan_the_queue() {
    let w = World::with(|c| c.q_buffer = 1 << 30);
    w.run("DEFINE QLOCAL(DEEP) MAXDEPTH(200000)");
    let s = w.connect();
    let h = open(&s, "DEEP", IN_OUT);
    let count = 100_000;
    for n in 0..count {
        let own = Md {
            msg_id: id(n),
            correl_id: id(n + 1_000_000),
            ..md(0)
        };
        send(&s, h, own, 0, b"");
    }
    let before = w.status("DEEP").steps;
    let gets = 2000u32;
    for n in 0..gets {
        // From everywhere in the queue, by one identifier and by the other.
        let at = n.wrapping_mul(7919) % count;
        let (by, match_options) = if n % 2 == 0 {
            let msg_id = id(at);
            (Md { msg_id, ..md(0) }, MQMO_MATCH_MSG_ID)
        } else {
            let correl_id = id(at + 1_000_000);
            (Md { correl_id, ..md(0) }, MQMO_MATCH_CORREL_ID)
        };
        let how = Gmo {
            match_options,
            ..gmo(0)
        };
        take(&s, h, by, how, 0).unwrap();
    }
    let steps = w.status("DEEP").steps - before;
    assert!(
        steps < u64::from(gets) * 20,
        "{steps} steps for {gets} gets"
    );
    let missing = Gmo {
        match_options: MQMO_MATCH_MSG_ID,
        ..gmo(0)
    };
    let by = Md {
        msg_id: id(count + 5),
        ..md(0)
    };
    let before = w.status("DEEP").steps;
    assert!(take(&s, h, by, missing, 0).is_err());
    assert!(w.status("DEEP").steps - before < 50);
}

#[test]
fn a_get_by_a_generated_identifier_does_not_scan_either() {
    let w = World::with(|c| c.q_buffer = 1 << 30);
    w.run("DEFINE QLOCAL(DEEP) MAXDEPTH(200000)");
    let s = w.connect();
    let h = open(&s, "DEEP", IN_OUT);
    let new = MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID;
    let ids: Vec<Md> = (0..50_000).map(|_| send(&s, h, md(0), new, b"")).collect();
    let before = w.status("DEEP").steps;
    for (n, md) in ids.iter().rev().enumerate() {
        let how = Gmo {
            match_options: [MQMO_MATCH_MSG_ID, MQMO_MATCH_CORREL_ID][n % 2],
            ..gmo(0)
        };
        take(&s, h, md.clone(), how, 0).unwrap();
    }
    let steps = w.status("DEEP").steps - before;
    assert!(steps < ids.len() as u64 * 20, "{steps} steps");
}

#[test]
fn gets_are_inhibited_by_the_queue_and_by_the_alias_also_while_somebody_waits() {
    let w = World::new();
    w.run(&format!("DEFINE QALIAS(A) TARGET({LOCAL})"));
    let (s, by_alias) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, IN_OUT);
    let a = open(&by_alias, "A", MQOO_INPUT_SHARED | MQOO_BROWSE);
    let disabled = Err(Reason::GET_INHIBITED);
    let outcome = |result: Result<Taken, Reason>| result.map(|t| t.warning);

    let direct = wait(&s, h, md(0), gmo(0));
    let aliased = wait(&by_alias, a, md(0), gmo(0));
    w.run("ALTER QALIAS(A) GET(DISABLED)");
    assert_eq!(outcome(aliased.finish()), disabled);
    assert_eq!(outcome(next(&by_alias, a, MQGMO_BROWSE_FIRST)), disabled);
    w.run(&format!("ALTER QLOCAL({LOCAL}) GET(DISABLED)"));
    assert_eq!(outcome(direct.finish()), disabled);
    put(&s, h, 0, 0, b"stays");
    w.run("ALTER QALIAS(A) GET(ENABLED)");
    for options in [0, MQGMO_WAIT, MQGMO_BROWSE_FIRST] {
        assert_eq!(outcome(next(&by_alias, a, options)), disabled);
    }
    w.run(&format!("ALTER QLOCAL({LOCAL}) GET(ENABLED)"));
    assert_eq!(next(&by_alias, a, 0).unwrap().text(), "stays");
}
