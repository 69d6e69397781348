//! Distribution lists: many queues opened by one call, and one message put to all of them.

#![allow(clippy::unwrap_used)]

mod world;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{
    Hobj, Md, Name, ObjectRecord, ObjectRecords, Od, Pmo, PutRecord, PutRecords, Reason,
    ResponseRecord,
};
use world::*;

/// A descriptor of these queues, with room for what comes of each.
fn list(names: &[&str]) -> Od {
    let object = |name: &&str| ObjectRecord {
        object_name: Name::new(name),
        ..ObjectRecord::default()
    };
    Od {
        version: MQOD_VERSION_2,
        recs_present: names.len() as i32,
        records: Some(Box::new(ObjectRecords {
            objects: names.iter().map(object).collect(),
            responses: vec![ResponseRecord::default(); names.len()],
        })),
        ..Od::default()
    }
}

/// Options with a record for each of so many queues.
fn with_records(options: i32, fields: i32, count: usize) -> Pmo {
    Pmo {
        version: MQPMO_VERSION_2,
        options,
        recs_present: count as i32,
        put_msg_rec_fields: fields,
        records: Some(Box::new(PutRecords {
            records: vec![PutRecord::default(); if fields == 0 { 0 } else { count }],
            responses: vec![ResponseRecord::default(); count],
        })),
        ..Pmo::default()
    }
}

fn open_list(s: &Session, od: &mut Od) -> Result<(Hobj, Reason), Reason> {
    block_on(s.open(od, MQOO_OUTPUT)).map(|done| (done.value, done.warning))
}

fn put_list(s: &Session, h: Hobj, md: &mut Md, pmo: &mut Pmo) -> Result<Reason, Reason> {
    let data = Bytes::from_static(b"to all");
    block_on(s.put(h, md, pmo, data)).map(|done| done.warning)
}

fn reasons(responses: &[ResponseRecord]) -> Vec<(i32, i32)> {
    let codes = |response: &ResponseRecord| (response.comp_code, response.reason.0);
    responses.iter().map(codes).collect()
}

fn of_open(od: &Od) -> Vec<(i32, i32)> {
    reasons(&od.records.as_ref().unwrap().responses)
}

fn of_put(pmo: &Pmo) -> Vec<(i32, i32)> {
    reasons(&pmo.records.as_ref().unwrap().responses)
}

fn world() -> World {
    let w = World::new();
    w.run("DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)\nDEFINE QLOCAL(SMALL) MAXDEPTH(1)\nDEFINE QALIAS(ALIAS) TARGET(B)");
    w
}

#[test]
fn every_queue_of_a_list_gets_a_message_of_its_own() {
    let w = world();
    let s = w.connect();
    let mut od = list(&["A", "ALIAS"]);
    let (h, warning) = open_list(&s, &mut od).unwrap();
    assert_eq!(warning, Reason::NONE);
    assert_eq!((od.known_dest_count, od.invalid_dest_count), (2, 0));
    let fields = MQPMRF_MSG_ID | MQPMRF_CORREL_ID;
    let mut how = with_records(MQPMO_NO_SYNCPOINT, fields, 2);
    how.records.as_mut().unwrap().records[1].correl_id = [7; 24];
    let mut sent = md(PERSISTENT);
    assert_eq!(put_list(&s, h, &mut sent, &mut how), Ok(Reason::NONE));
    // The application's own descriptor tells none of the identifiers.
    assert_eq!(sent.msg_id, [0; 24]);
    let records = how.records.as_ref().unwrap().records.clone();
    assert_ne!(records[0].msg_id, records[1].msg_id);
    assert_eq!((how.known_dest_count, how.unknown_dest_count), (2, 0));
    assert_eq!(close(&s, h, MQCO_NONE), Ok(Reason::NONE));
    assert_eq!(
        put_list(&s, h, &mut sent, &mut how),
        Err(Reason::HOBJ_ERROR)
    );
    for (queue, record, correl_id) in [("A", 0, [0; 24]), ("B", 1, [7; 24])] {
        let h = open(&s, queue, MQOO_INPUT_SHARED);
        let (got, data) = get(&s, h, MQGMO_NO_SYNCPOINT).unwrap();
        assert_eq!(&*data, b"to all");
        assert_eq!(
            (got.msg_id, got.correl_id),
            (records[record].msg_id, correl_id)
        );
        assert_eq!(w.depth(queue), 0);
    }
}

#[test]
fn a_list_survives_a_crash_whole_and_is_backed_out_whole() {
    let mut w = world();
    let s = w.connect();
    let (h, _) = open_list(&s, &mut list(&["A", "B"])).unwrap();
    let mut how = pmo(MQPMO_NO_SYNCPOINT);
    assert_eq!(
        put_list(&s, h, &mut md(PERSISTENT), &mut how),
        Ok(Reason::NONE)
    );
    let mut how = pmo(MQPMO_SYNCPOINT);
    assert_eq!(
        put_list(&s, h, &mut md(PERSISTENT), &mut how),
        Ok(Reason::NONE)
    );
    assert_eq!((w.depth("A"), w.depth("B")), (2, 2));
    backout(&s);
    assert_eq!((w.depth("A"), w.depth("B")), (1, 1));
    assert_eq!(
        put_list(&s, h, &mut md(PERSISTENT), &mut how),
        Ok(Reason::NONE)
    );
    commit(&s);
    // Never committed.
    assert_eq!(
        put_list(&s, h, &mut md(PERSISTENT), &mut how),
        Ok(Reason::NONE)
    );
    drop(s);
    w.crash();
    assert_eq!((w.depth("A"), w.depth("B")), (2, 2));
}

#[test]
fn what_differs_by_queue_is_in_the_response_records() {
    let w = world();
    let s = w.connect();
    let mut od = list(&["SMALL", "NOT.THERE", "A"]);
    let (h, warning) = open_list(&s, &mut od).unwrap();
    assert_eq!(warning, Reason::MULTIPLE_REASONS);
    assert_eq!(of_open(&od), [(0, 0), (2, 2085), (0, 0)]);
    assert_eq!((od.known_dest_count, od.invalid_dest_count), (2, 1));
    for expected in [[(0, 0), (2, 2137), (0, 0)], [(2, 2053), (2, 2137), (0, 0)]] {
        let mut how = with_records(MQPMO_NO_SYNCPOINT, 0, 3);
        let put = put_list(&s, h, &mut md(NOT_PERSISTENT), &mut how);
        assert_eq!(put, Ok(Reason::MULTIPLE_REASONS));
        assert_eq!(of_put(&how), expected);
        let failed = expected.iter().filter(|(code, _)| *code == 2).count() as i32;
        assert_eq!(
            (how.known_dest_count, how.invalid_dest_count),
            (3 - failed, failed)
        );
    }
    assert_eq!((w.depth("SMALL"), w.depth("A")), (1, 2));
    // All of them fail, for different reasons.
    w.run("ALTER QLOCAL(A) PUT(DISABLED)");
    let mut how = with_records(MQPMO_NO_SYNCPOINT, 0, 3);
    let put = put_list(&s, h, &mut md(NOT_PERSISTENT), &mut how);
    assert_eq!(put, Err(Reason::MULTIPLE_REASONS));
    assert_eq!(of_put(&how), [(2, 2053), (2, 2137), (2, 2051)]);
    // Where the reason is one for all, the records are left alone.
    let mut od = list(&["NOT.THERE", "NOR.THIS"]);
    assert_eq!(open_list(&s, &mut od), Err(Reason::UNKNOWN_OBJECT_NAME));
    assert_eq!(of_open(&od), [(0, 0), (0, 0)]);
    let mut od = list(&["NOT.THERE", MODEL]);
    assert_eq!(open_list(&s, &mut od), Err(Reason::MULTIPLE_REASONS));
    assert_eq!(of_open(&od), [(2, 2085), (2, 2043)]);
}

#[test]
fn a_queue_elsewhere_gets_its_message_by_the_transmission_queue() {
    let w = world();
    w.run("DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QREMOTE(FAR) RNAME(THERE) RQMNAME(QM2) XMITQ(X)");
    let s = w.connect();
    let mut od = list(&["FAR", "A"]);
    let (h, _) = open_list(&s, &mut od).unwrap();
    assert_eq!((od.known_dest_count, od.unknown_dest_count), (1, 1));
    let mut how = pmo(MQPMO_NO_SYNCPOINT);
    assert_eq!(
        put_list(&s, h, &mut md(PERSISTENT), &mut how),
        Ok(Reason::NONE)
    );
    assert_eq!((how.known_dest_count, how.unknown_dest_count), (1, 1));
    let h = open(&s, "X", MQOO_INPUT_SHARED);
    let (got, data) = get(&s, h, MQGMO_NO_SYNCPOINT).unwrap();
    assert_eq!(got.format.text(), "MQXMIT");
    assert!(data.ends_with(b"to all"));
    assert_eq!(w.depth("A"), 1);
}

#[test]
fn mqput1_opens_puts_and_closes() {
    let w = world();
    let s = w.connect();
    let mut od = list(&["A", "NOT.THERE"]);
    let mut how = with_records(MQPMO_NO_SYNCPOINT, MQPMRF_FEEDBACK, 2);
    how.records.as_mut().unwrap().records[0].feedback = MQFB_APPL_FIRST;
    let data = Bytes::from_static(b"x");
    let mut sent = md(PERSISTENT);
    let put = block_on(s.put1(&mut od, &mut sent, &mut how, data)).map(|done| done.warning);
    assert_eq!(put, Ok(Reason::MULTIPLE_REASONS));
    assert_eq!(of_open(&od), [(0, 0), (2, 2085)]);
    assert_eq!(of_put(&how), of_open(&od));
    assert_eq!((od.known_dest_count, od.invalid_dest_count), (1, 1));
    let h = open(&s, "A", MQOO_INPUT_SHARED);
    let (got, _) = get(&s, h, MQGMO_NO_SYNCPOINT).unwrap();
    assert_eq!(got.feedback, MQFB_APPL_FIRST);
}

#[test]
fn each_queue_of_a_list_is_a_handle_and_is_open() {
    let w = world();
    w.run("ALTER QMGR MAXHANDS(3)");
    let s = w.connect();
    let a = open(&s, "A", MQOO_OUTPUT);
    let mut od = list(&["A", "B", "SMALL"]);
    let (h, warning) = open_list(&s, &mut od).unwrap();
    assert_eq!(warning, Reason::MULTIPLE_REASONS);
    assert_eq!(of_open(&od), [(0, 0), (0, 0), (2, 2017)]);
    assert_eq!(w.status("B").open_output, 1);
    assert_eq!(
        try_open(&s, "B", MQOO_OUTPUT),
        Err(Reason::HANDLE_NOT_AVAILABLE)
    );
    // It is nothing that could be got from or inquired.
    assert_eq!(get(&s, h, 0).unwrap_err(), Reason::NOT_OPEN_FOR_INPUT);
    let asked = inquire(&s, h, &[MQIA_CURRENT_Q_DEPTH]).map(drop);
    assert_eq!(asked, Err(Reason::NOT_OPEN_FOR_INQUIRE));
    assert_eq!(
        close(&s, h, MQCO_DELETE),
        Err(Reason::OPTION_NOT_VALID_FOR_TYPE)
    );
    assert_eq!(close(&s, h, MQCO_NONE), Ok(Reason::NONE));
    assert_eq!(w.status("B").open_output, 0);
    assert_eq!(close(&s, h, MQCO_NONE), Err(Reason::HOBJ_ERROR));
    close(&s, a, MQCO_NONE).unwrap();
    // A connection that ends closes it too.
    open_list(&s, &mut list(&["A", "B"])).unwrap();
    assert_eq!(w.status("B").open_output, 1);
    drop(s);
    until("the list is closed", || w.status("B").open_output == 0);
    w.run("DELETE QLOCAL(B)");
}

/// A queue that cannot be opened takes room in the list as any other does.
#[test]
fn a_list_is_no_longer_than_a_connection_may_have_handles() {
    let w = world();
    w.run("ALTER QMGR MAXHANDS(3)");
    let s = w.connect();
    let mut long = list(&["A", "X", "X", "X"]);
    let refused = Err(Reason::HANDLE_NOT_AVAILABLE);
    assert_eq!(open_list(&s, &mut long).map(drop), refused);
    let (mut md, mut pmo) = (md(NOT_PERSISTENT), with_records(0, 0, 4));
    let put1 = block_on(s.put1(&mut long, &mut md, &mut pmo, Bytes::new()));
    assert_eq!(put1.map(drop), refused);
    open_list(&s, &mut list(&["X", "X", "A"])).unwrap();
    let mut od = list(&["A", "A"]);
    assert_eq!(
        open_list(&s, &mut od).map(drop),
        Err(Reason::HANDLE_NOT_AVAILABLE)
    );
}

/// Nobody hears of the queue that misses it but by MQSTAT.
#[test]
fn a_unit_of_work_whose_list_missed_a_queue_asynchronously_is_not_committed() {
    let w = world();
    w.run("ALTER QLOCAL(B) PUT(DISABLED)");
    let s = w.connect();
    let a = open(&s, "A", IN_OUT);
    let options = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    let (h, _) = open_list(&s, &mut list(&["A", "B"])).unwrap();
    for one in [false, true] {
        let (mut md, mut pmo) = (md(PERSISTENT), with_records(options, 0, 2));
        let warning = match one {
            false => put_list(&s, h, &mut md, &mut pmo),
            true => {
                let mut od = list(&["A", "B"]);
                block_on(s.put1(&mut od, &mut md, &mut pmo, Bytes::new())).map(|done| done.warning)
            }
        };
        assert_eq!(warning, Ok(Reason::MULTIPLE_REASONS));
        assert_eq!(block_on(s.commit()), Err(Reason::BACKED_OUT), "{one}");
        assert!(drain(&s, a).is_empty());
    }
}

/// A list has one group for all of its queues, and is where it stood in it before a unit of work that is backed out.
#[test]
fn a_backout_puts_a_list_back_into_its_group() {
    let w = world();
    let s = w.connect();
    let (h, _) = open_list(&s, &mut list(&["A", "B"])).unwrap();
    let member = |msg_flags| {
        let mut md = Md {
            msg_flags,
            ..md(NOT_PERSISTENT)
        };
        let mut pmo = with_records(MQPMO_SYNCPOINT | MQPMO_LOGICAL_ORDER, 0, 2);
        assert_eq!(put_list(&s, h, &mut md, &mut pmo), Ok(Reason::NONE));
    };
    member(MQMF_MSG_IN_GROUP);
    commit(&s);
    for end in [backout, commit] {
        member(MQMF_LAST_MSG_IN_GROUP);
        end(&s);
    }
    member(MQMF_MSG_IN_GROUP);
    backout(&s);
    assert_eq!(close(&s, h, 0), Ok(Reason::NONE));
    for queue in ["A", "B"] {
        let q = open(&s, queue, IN_OUT);
        let first = next(&s, q, 0).unwrap().md;
        let last = next(&s, q, 0).unwrap().md;
        assert_eq!(first.group_id, last.group_id);
        assert_eq!((first.msg_seq_number, last.msg_seq_number), (1, 2));
    }
}

type Wrong<T> = (&'static str, fn(&mut T), Reason);

#[test]
fn descriptors_of_lists_that_are_wrong_say_why() {
    let w = world();
    let s = w.connect();
    let table: &[Wrong<Od>] = &[
        ("count", |o| o.recs_present = -1, Reason::RECS_PRESENT_ERROR),
        (
            "type",
            |o| o.object_type = MQOT_TOPIC,
            Reason::RECS_PRESENT_ERROR,
        ),
        ("none", |o| o.records = None, Reason::OBJECT_RECORDS_ERROR),
        (
            "too many",
            |o| o.recs_present = 3,
            Reason::OBJECT_RECORDS_ERROR,
        ),
        (
            "name",
            |o| o.object_name = Name::new("A"),
            Reason::OBJECT_NAME_ERROR,
        ),
        (
            "queue manager",
            |o| o.object_q_mgr_name = Name::new("QM"),
            Reason::OBJECT_Q_MGR_NAME_ERROR,
        ),
        (
            "responses",
            |o| o.records.as_mut().unwrap().responses.truncate(1),
            Reason::RESPONSE_RECORDS_ERROR,
        ),
    ];
    for (what, change, reason) in table {
        let mut od = list(&["A", "B"]);
        change(&mut od);
        assert_eq!(open_list(&s, &mut od.clone()), Err(*reason), "{what}");
        let put = block_on(s.put1(&mut od, &mut md(0), &mut pmo(0), Bytes::new()));
        assert_eq!(put.map(drop), Err(*reason), "{what}");
    }
    for options in [MQOO_INPUT_SHARED, MQOO_BROWSE, MQOO_INQUIRE, MQOO_SET] {
        let opened = block_on(s.open(&mut list(&["A"]), MQOO_OUTPUT | options));
        assert_eq!(opened.map(drop), Err(Reason::OPTION_NOT_VALID_FOR_TYPE));
    }
    assert_eq!((w.status("A").open_output, w.depth("A")), (0, 0));
}

#[test]
fn put_options_for_lists_that_are_wrong_say_why() {
    let w = world();
    let s = w.connect();
    let (h, _) = open_list(&s, &mut list(&["A", "B"])).unwrap();
    let table: &[Wrong<Pmo>] = &[
        ("count", |p| p.recs_present = -1, Reason::RECS_PRESENT_ERROR),
        (
            "fields",
            |p| p.put_msg_rec_fields = 0x20,
            Reason::PMO_RECORD_FLAGS_ERROR,
        ),
        (
            "token without context",
            |p| p.put_msg_rec_fields = MQPMRF_ACCOUNTING_TOKEN,
            Reason::PMO_RECORD_FLAGS_ERROR,
        ),
        ("none", |p| p.records = None, Reason::PUT_MSG_RECORDS_ERROR),
        (
            "retained",
            |p| p.options |= MQPMO_RETAIN,
            Reason::OPTIONS_ERROR,
        ),
    ];
    for (what, change, reason) in table {
        let mut how = with_records(0, MQPMRF_MSG_ID, 2);
        change(&mut how);
        assert_eq!(
            put_list(&s, h, &mut md(0), &mut how),
            Err(*reason),
            "{what}"
        );
    }
    // Fewer records than queues: the others have what the descriptor says.
    let mut how = with_records(0, MQPMRF_MSG_ID, 1);
    assert_eq!(put_list(&s, h, &mut md(0), &mut how), Ok(Reason::NONE));
    assert_eq!((w.depth("A"), w.depth("B")), (1, 1));
}

/// An alias in a list leads elsewhere, by FORCE: its handle alone is void.
#[test]
fn a_list_goes_on_with_the_queues_that_have_not_changed() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(OTHER)\nDEFINE QALIAS(A) TARGET(Q)");
    let s = w.connect();
    let h = open_od(&s, &mut list(&["OTHER", "A"]), MQOO_OUTPUT).unwrap();
    let refused = w.mqsc("ALTER QALIAS(A) TARGET(OTHER)");
    assert_eq!(refused.reason, Reason::CCF_OBJECT_OPEN_FORCE);
    w.run("ALTER QALIAS(A) TARGET(OTHER) FORCE");
    let mut pmo = with_records(0, 0, 2);
    let done = block_on(s.put(h, &mut md(0), &mut pmo, Bytes::new())).unwrap();
    assert_eq!(done.warning, Reason::MULTIPLE_REASONS);
    let reasons = pmo.records.unwrap().responses;
    let reasons: Vec<Reason> = reasons.iter().map(|one| one.reason).collect();
    assert_eq!(reasons, [Reason::NONE, Reason::OBJECT_CHANGED]);
    assert_eq!((w.depth("OTHER"), w.depth("Q")), (1, 0));
}
