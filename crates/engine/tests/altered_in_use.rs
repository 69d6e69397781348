//! Changes of objects that somebody has open: which need FORCE, and whose handles are void then (manual: "ALTER queues",
//! "ALTER QMGR", "MQOPEN"); and that nothing is deleted that somebody has open ("DELETE queues").
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_command::Reply;
use posthaste_engine::{Consumer, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason};
use world::*;

const SHARED: i32 = MQOO_INPUT_SHARED;
const ALL: i32 = SHARED | MQOO_BROWSE | MQOO_OUTPUT | MQOO_INQUIRE | MQOO_SET;

fn first(reply: &Reply) -> &str {
    &reply.messages[0].0
}

/// It is refused without FORCE, whether as ALTER or as DEFINE, and says how to go on.
fn refused(w: &World, object: &str, change: &str) {
    let alter = w.mqsc(&format!("ALTER {object} {change}"));
    assert_eq!(first(&alter), "AMQ8148E", "{alter:?}");
    assert_eq!(alter.reason, Reason::CCF_OBJECT_OPEN_FORCE);
    assert_eq!(alter.messages.last().unwrap().0, "AMQ2417I");
    if object != "QMGR" {
        let define = w.mqsc(&format!("DEFINE {object} {change} REPLACE"));
        assert_eq!(first(&define), "AMQ8148E", "{define:?}");
        assert_eq!(define.reason, Reason::CCF_OBJECT_OPEN);
    }
}

fn force(w: &World, object: &str, change: &str) {
    w.run(&format!("ALTER {object} {change} FORCE"));
}

/// What each call by a handle comes to that can be made by it.
fn calls(s: &Session, h: Hobj) -> [Result<(), Reason>; 5] {
    let ok = |done: Result<Reason, Reason>| done.map(drop);
    let consumer = s.consumer(h, &md(0), &gmo(0));
    [
        ok(try_put(s, h, &mut md(0), 0, b"more")),
        get(s, h, 0).map(drop),
        inquire(s, h, &[MQIA_INHIBIT_PUT]).map(drop),
        ok(block_on(s.set(h, &[MQIA_INHIBIT_PUT], &[0], &[])).map(|done| done.warning)),
        consumer.map(drop),
    ]
}

/// Every call but MQCLOSE fails.
fn is_void(s: &Session, h: Hobj) {
    assert_eq!(calls(s, h), [Err(Reason::OBJECT_CHANGED); 5]);
    assert_eq!(close(s, h, 0), Ok(Reason::NONE));
}

fn goes_on(s: &Session, h: Hobj) {
    assert_eq!(calls(s, h), [Ok(()); 5]);
}

fn put_by(s: &Session, h: Hobj) -> Result<Reason, Reason> {
    try_put(s, h, &mut md(0), 0, b"more")
}

/// Of a queue elsewhere.
fn elsewhere(s: &Session, queue: &str, q_mgr: &str) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        object_q_mgr_name: Name::new(q_mgr),
        ..Od::default()
    };
    open_od(s, &mut od, MQOO_OUTPUT).unwrap()
}

#[test]
fn a_queue_that_is_open_for_input_stays_shareable_without_force() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) SHARE");
    let s = w.connect();
    let h = open(&s, "Q", ALL);
    refused(&w, "QLOCAL(Q)", "NOSHARE");
    let shares = inquire(&s, h, &[MQIA_SHAREABILITY]).unwrap().0.ints;
    assert_eq!(shares, [MQQA_SHAREABLE]);
    // What is so already, or matters to nobody, is as it was.
    w.run("ALTER QLOCAL(Q) SHARE MAXDEPTH(7)\nDEFINE QLOCAL(Q) REPLACE DESCR('again')");
    goes_on(&s, h);
    // Nobody shares it with the one who has it.
    force(&w, "QLOCAL(Q)", "NOSHARE");
    goes_on(&s, h);
    assert_eq!(try_open(&s, "Q", SHARED), Err(Reason::OBJECT_IN_USE));
    close(&s, h, 0).unwrap();
    w.run("DEFINE QLOCAL(Q) REPLACE\nALTER QLOCAL(Q) NOSHARE\nALTER QLOCAL(Q) SHARE");
    let out = open(&s, "Q", MQOO_OUTPUT);
    w.run("ALTER QLOCAL(Q) NOSHARE");
    put_by(&s, out).unwrap();
    assert_eq!(w.qm().check(), Ok(()));
}

#[test]
fn who_shares_a_queue_that_is_no_longer_shareable_opens_it_again() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) SHARE\nDEFINE QALIAS(A) TARGET(Q)\nDEFINE QLOCAL(OTHER)");
    let (s, t) = (w.connect(), w.connect());
    let one = open(&s, "Q", ALL);
    let two = open(&t, "Q", ALL);
    let by_alias = open(&t, "A", ALL);
    let other = open(&s, "OTHER", ALL);
    refused(&w, "QLOCAL(Q)", "NOSHARE");
    // What is uncommitted can be committed, and backed out.
    put(&s, one, PERSISTENT, 0, b"1");
    put(&s, one, PERSISTENT, 0, b"2");
    get(&s, one, MQGMO_SYNCPOINT).unwrap();
    put(&s, one, PERSISTENT, MQPMO_SYNCPOINT, b"3");
    get(&t, two, MQGMO_SYNCPOINT).unwrap();
    force(&w, "QLOCAL(Q)", "NOSHARE");
    is_void(&s, one);
    is_void(&t, two);
    is_void(&t, by_alias);
    goes_on(&s, other);
    commit(&s);
    backout(&t);
    let h = open(&t, "Q", ALL);
    assert_eq!(try_open(&s, "Q", SHARED), Err(Reason::OBJECT_IN_USE));
    assert_eq!(drain(&t, h), ["2", "3"]);
    assert_eq!(w.qm().check(), Ok(()));
}

/// Regardless of what they were opened for (manual: "MQOPEN", usage notes).
#[test]
fn who_puts_or_browses_or_inquires_opens_a_queue_again_that_others_shared() {
    const OPENED: [i32; 3] = [MQOO_OUTPUT, MQOO_BROWSE, MQOO_INQUIRE];
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) SHARE\nDEFINE QALIAS(A) TARGET(Q)");
    let s = w.connect();
    let call = |options: i32, h: Hobj| match options {
        MQOO_OUTPUT => put_by(&s, h).map(drop),
        MQOO_BROWSE => get(&s, h, MQGMO_BROWSE_FIRST).map(drop),
        _ => inquire(&s, h, &[MQIA_INHIBIT_PUT]).map(drop),
    };
    for name in ["Q", "A"] {
        for (inputs, expected) in [(1, Ok(())), (2, Err(Reason::OBJECT_CHANGED))] {
            w.run("ALTER QLOCAL(Q) SHARE");
            let handles = OPENED.map(|options| open(&s, name, options));
            let sharing: Vec<Hobj> = (0..inputs).map(|_| open(&s, "Q", SHARED)).collect();
            force(&w, "QLOCAL(Q)", "NOSHARE");
            for (options, h) in OPENED.into_iter().zip(handles) {
                // What the alias says of itself is as it was.
                let of_alias = name == "A" && options == MQOO_INQUIRE;
                let expected = if of_alias { Ok(()) } else { expected };
                assert_eq!(call(options, h), expected, "{name} {options:#x} {inputs}");
                close(&s, h, 0).unwrap();
            }
            for h in sharing {
                close(&s, h, 0).unwrap();
            }
        }
    }
    assert_eq!(w.qm().check(), Ok(()));
}

/// Which is everything but what something resolves to, and who may share it (manual: "MQOPEN", usage notes).
#[test]
fn what_matters_to_no_handle_needs_no_force_and_leaves_handles_as_they_are() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Q) SHARE\nDEFINE QALIAS(A) TARGET(Q)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)",
    );
    let s = w.connect();
    let (q, a, r) = (
        open(&s, "Q", ALL),
        open(&s, "A", ALL),
        open(&s, "R", MQOO_OUTPUT),
    );
    let any = "DESCR('other') DEFPRTY(3) DEFPSIST(YES) PUT(DISABLED)";
    let local = "DEFSOPT(EXCL) MAXDEPTH(9) MAXMSGL(99) MSGDLVSQ(FIFO) GET(DISABLED) TRIGGER";
    w.run(&format!(
        "ALTER QLOCAL(Q) {any} {local}\nALTER QALIAS(A) {any} GET(DISABLED)\nALTER QREMOTE(R) {any}"
    ));
    let again = "PUT(ENABLED) GET(ENABLED)";
    w.run(&format!(
        "ALTER QLOCAL(Q) {again}\nALTER QALIAS(A) {again}\nALTER QREMOTE(R) PUT(ENABLED)"
    ));
    goes_on(&s, q);
    goes_on(&s, a);
    put_by(&s, r).unwrap();
}

#[test]
fn usage_changes_under_messages_and_under_whoever_has_the_queue_open_with_force_only() {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q)\nDEFINE QALIAS(A) TARGET(Q)");
    let s = w.connect();
    let h = open(&s, "Q", MQOO_INQUIRE);
    refused(&w, "QLOCAL(Q)", "USAGE(XMITQ)");
    close(&s, h, 0).unwrap();
    let h = open(&s, "A", ALL);
    put(&s, h, PERSISTENT, 0, b"stays");
    refused(&w, "QLOCAL(Q)", "USAGE(XMITQ)");
    let t = w.connect();
    let void = open(&t, "Q", ALL);
    force(&w, "QLOCAL(Q)", "USAGE(XMITQ)");
    is_void(&s, h);
    is_void(&t, void);
    // Of nobody, but with messages, uncommitted ones too.
    refused(&w, "QLOCAL(Q)", "USAGE(NORMAL)");
    let h = open(&s, "Q", SHARED);
    assert_eq!(get(&s, h, MQGMO_SYNCPOINT).unwrap().1, b"stays".as_slice());
    close(&s, h, 0).unwrap();
    refused(&w, "QLOCAL(Q)", "USAGE(NORMAL)");
    commit(&s);
    w.run("ALTER QLOCAL(Q) USAGE(NORMAL)");
    assert_eq!(w.qm().check(), Ok(()));
}

#[test]
fn what_went_by_a_transmission_queue_goes_by_it_no_more_when_it_is_none() {
    let w = World::light();
    w.run("DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)");
    let s = w.connect();
    let remote = open(&s, "R", MQOO_OUTPUT);
    let by_name = elsewhere(&s, "Q", "X");
    refused(&w, "QLOCAL(X)", "USAGE(NORMAL)");
    force(&w, "QLOCAL(X)", "USAGE(NORMAL)");
    for h in [remote, by_name] {
        assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED));
        close(&s, h, 0).unwrap();
    }
    assert_eq!(w.depth("X"), 0);
}

#[test]
fn an_alias_that_is_open_leads_elsewhere_with_force_only() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(Q)\nDEFINE QLOCAL(OTHER)\nDEFINE QALIAS(A) TARGET(Q)\nDEFINE QALIAS(B) TARGET(Q)
         DEFINE TOPIC(T) TOPICSTR('t')",
    );
    let s = w.connect();
    for options in [MQOO_INQUIRE, MQOO_OUTPUT, ALL] {
        w.run("ALTER QALIAS(A) TARGET(Q) TARGTYPE(QUEUE)");
        let h = open(&s, "A", options);
        refused(&w, "QALIAS(A)", "TARGET(OTHER)");
        refused(&w, "QALIAS(A)", "TARGET(T) TARGTYPE(TOPIC)");
        let named = w.mqsc("ALTER QALIAS(A) TARGET(OTHER)");
        assert_eq!(named.messages[1].0, "AMQ2403I");
        w.run("ALTER QALIAS(A) TARGET(Q) DESCR('the same')");
        force(&w, "QALIAS(A)", "TARGET(OTHER)");
        let called = match options {
            MQOO_OUTPUT => put_by(&s, h).map(drop),
            _ => inquire(&s, h, &[MQCA_BASE_Q_NAME]).map(drop),
        };
        assert_eq!(called, Err(Reason::OBJECT_CHANGED));
        close(&s, h, 0).unwrap();
    }
    // One that leads to a topic.
    w.run("ALTER QALIAS(A) TARGET(T) TARGTYPE(TOPIC)");
    let h = open(&s, "A", MQOO_OUTPUT);
    refused(&w, "QALIAS(A)", "TARGET(Q) TARGTYPE(QUEUE)");
    put_by(&s, h).unwrap();
    force(&w, "QALIAS(A)", "TARGET(Q) TARGTYPE(QUEUE)");
    assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED));
    close(&s, h, 0).unwrap();
    // Who came by another name is not concerned.
    let (mine, by_b) = (open(&s, "Q", ALL), open(&s, "B", ALL));
    w.run("ALTER QALIAS(A) TARGET(OTHER)");
    let h = open(&s, "A", ALL);
    force(&w, "QALIAS(A)", "TARGET(Q)");
    is_void(&s, h);
    goes_on(&s, mine);
    goes_on(&s, by_b);
    assert_eq!(w.depth("OTHER"), 0);
    assert_eq!(w.qm().check(), Ok(()));
}

#[test]
fn a_remote_queue_that_is_open_has_another_transmission_queue_with_force_only() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Y) USAGE(XMITQ)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)\nDEFINE QALIAS(A) TARGET(R)
         DEFINE QREMOTE(S) RNAME(Q) RQMNAME(FAR) XMITQ(X)",
    );
    let s = w.connect();
    let other = open(&s, "S", MQOO_OUTPUT);
    for name in ["R", "A"] {
        w.run("ALTER QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)");
        let h = open(&s, name, MQOO_OUTPUT);
        refused(&w, "QREMOTE(R)", "RNAME(Q) RQMNAME(FAR) XMITQ(Y)");
        put_by(&s, h).unwrap();
        force(&w, "QREMOTE(R)", "XMITQ(Y)");
        assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED));
        close(&s, h, 0).unwrap();
        // Another name there needs no FORCE, and nobody goes on putting to the old one.
        for change in ["RQMNAME(FARTHER)", "RNAME(OTHER)"] {
            let h = open(&s, name, MQOO_OUTPUT);
            w.run(&format!("ALTER QREMOTE(R) {change}"));
            assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED), "{change}");
            close(&s, h, 0).unwrap();
        }
    }
    put_by(&s, other).unwrap();
    assert_eq!((w.depth("X"), w.depth("Y")), (3, 0));
}

#[test]
fn a_queue_manager_alias_by_which_something_is_open_changes_with_force_only() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Y) USAGE(XMITQ)\nDEFINE QLOCAL(Q)
         DEFINE QREMOTE(M) RQMNAME(FAR) XMITQ(X)",
    );
    let (s, own) = (w.connect(), w.qm().name().to_owned());
    let here = format!("RQMNAME({own}) XMITQ(X)");
    let changes = [
        ("RQMNAME(FAR) XMITQ(X)", "RQMNAME(FARTHER) XMITQ(X)"),
        ("RQMNAME(FAR) XMITQ(X)", "RQMNAME(FAR) XMITQ(Y)"),
        ("RQMNAME(FAR) XMITQ(X)", "RNAME(Q) RQMNAME(FAR) XMITQ(X)"),
        (here.as_str(), "RQMNAME(FAR) XMITQ(X)"),
    ];
    for (before, after) in changes {
        w.run(&format!("DEFINE QREMOTE(M) {before} REPLACE"));
        let h = elsewhere(&s, "Q", "M");
        refused(&w, "QREMOTE(M)", after);
        put_by(&s, h).unwrap();
        force(&w, "QREMOTE(M)", after);
        assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED), "{after}");
        close(&s, h, 0).unwrap();
    }
    assert_eq!((w.depth("X"), w.depth("Y"), w.depth("Q")), (3, 0, 1));
}

#[test]
fn the_default_transmission_queue_by_which_something_is_open_changes_with_force_only() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Y) USAGE(XMITQ)\nDEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR)
         DEFINE QREMOTE(S) RNAME(Q) RQMNAME(FAR) XMITQ(X)\nALTER QMGR DEFXMITQ(X)",
    );
    let s = w.connect();
    let by_another = open(&s, "S", MQOO_OUTPUT);
    w.run("ALTER QMGR DEFXMITQ(Y)\nALTER QMGR DEFXMITQ(X)");
    let by_default = [open(&s, "R", MQOO_OUTPUT), elsewhere(&s, "Q", "FAR")];
    w.run("ALTER QMGR DEFXMITQ(X) DESCR('the same')");
    for h in by_default {
        refused(&w, "QMGR", "DEFXMITQ(Y)");
        put_by(&s, h).unwrap();
    }
    force(&w, "QMGR", "DEFXMITQ(Y)");
    for h in by_default {
        assert_eq!(put_by(&s, h), Err(Reason::OBJECT_CHANGED));
        close(&s, h, 0).unwrap();
    }
    put_by(&s, by_another).unwrap();
    assert_eq!((w.depth("X"), w.depth("Y")), (3, 0));
}

/// A change of what an MQGET or a consumer waits by: the alias, or the queue under it.
const CHANGES: [(&str, &str); 3] = [
    ("QALIAS(A)", "TARGET(OTHER)"),
    ("QLOCAL(Q)", "USAGE(XMITQ)"),
    ("QLOCAL(Q)", "NOSHARE"),
];

fn waiting() -> World {
    let w = World::light();
    w.run("DEFINE QLOCAL(Q) SHARE\nDEFINE QLOCAL(OTHER)\nDEFINE QALIAS(A) TARGET(Q)");
    w
}

#[test]
fn a_get_that_waits_waits_no_more_and_nothing_that_it_was_given_is_lost() {
    for (object, change) in CHANGES {
        let w = waiting();
        let (s, t) = (w.connect(), w.connect());
        let h = open(&s, "A", ALL);
        let producer = open(&t, "Q", ALL);
        let mut call = wait(&s, h, md(0), gmo(MQGMO_WAIT | MQGMO_SYNCPOINT));
        assert!(call.poll().is_none());
        force(&w, object, change);
        assert_eq!(call.finish().map(drop), Err(Reason::OBJECT_CHANGED));
        close(&s, h, 0).unwrap();
        close(&t, producer, 0).unwrap();
        assert_eq!(w.qm().check(), Ok(()));
        // One that has a message already gets it.
        let w = waiting();
        let (s, t) = (w.connect(), w.connect());
        let h = open(&s, "A", ALL);
        let producer = open(&t, "Q", ALL);
        let mut call = wait(&s, h, md(0), gmo(MQGMO_WAIT | MQGMO_SYNCPOINT));
        assert!(call.poll().is_none());
        put(&t, producer, PERSISTENT, 0, b"given");
        force(&w, object, change);
        assert_eq!(call.finish().unwrap().text(), "given");
        assert_eq!(get(&s, h, 0).map(drop), Err(Reason::OBJECT_CHANGED));
        backout(&s);
        close(&s, h, 0).unwrap();
        close(&t, producer, 0).unwrap();
        let h = open(&s, "Q", ALL);
        assert_eq!(drain(&s, h), ["given"]);
        assert_eq!(w.qm().check(), Ok(()));
    }
}

fn next_of(consumer: &mut Consumer) -> Option<Result<posthaste_engine::Delivery, Reason>> {
    Call::attempt(consumer.next())
}

#[test]
fn a_consumer_ends_and_what_it_was_given_is_accepted_or_goes_back() {
    for (object, change) in CHANGES {
        let w = waiting();
        let (s, t) = (w.connect(), w.connect());
        let h = open(&s, "A", ALL);
        let producer = open(&t, "Q", ALL);
        let mut c = s.consumer(h, &md(0), &gmo(MQGMO_SYNCPOINT)).unwrap();
        c.credit(3);
        assert!(next_of(&mut c).is_none());
        for text in [b"1", b"2", b"3"] {
            put(&t, producer, PERSISTENT, 0, text);
        }
        let out = next_of(&mut c).unwrap().unwrap();
        force(&w, object, change);
        block_on(out.accept()).unwrap();
        let second = next_of(&mut c).unwrap().unwrap();
        assert_eq!(second.data(), b"2".as_slice());
        drop(second);
        drop(c);
        close(&s, h, 0).unwrap();
        close(&t, producer, 0).unwrap();
        let h = open(&s, "Q", ALL);
        assert_eq!(drain(&s, h), ["2", "3"]);
        assert_eq!(w.qm().check(), Ok(()));
    }
}

#[test]
fn a_consumer_that_is_held_back_or_has_no_credit_ends_too() {
    for (object, change) in CHANGES {
        let w = waiting();
        let (s, t) = (w.connect(), w.connect());
        let h = open(&s, "A", ALL);
        let _other = open(&t, "Q", ALL);
        let mut idle = s.consumer(h, &md(0), &gmo(0)).unwrap();
        assert!(next_of(&mut idle).is_none());
        w.run("ALTER QLOCAL(Q) GET(DISABLED)");
        let mut held_back = s.consumer(h, &md(0), &gmo(0)).unwrap();
        held_back.credit(1);
        assert!(next_of(&mut held_back).is_none());
        force(&w, object, change);
        idle.credit(1);
        for consumer in [&mut held_back, &mut idle] {
            let ended = next_of(consumer).unwrap();
            assert_eq!(ended.map(drop), Err(Reason::OBJECT_CHANGED));
        }
        w.run("ALTER QLOCAL(Q) GET(ENABLED)");
        drop((idle, held_back));
        assert_eq!(w.qm().check(), Ok(()));
    }
}

/// It is refused, whoever is in the way is named, and the handle is as it was.
fn stays(w: &World, object: &str) {
    let refused = w.mqsc(&format!("DELETE {object}"));
    assert_eq!(first(&refused), "AMQ8148E", "{object}: {refused:?}");
    assert_eq!(refused.reason, Reason::OBJECT_IN_USE);
    assert_eq!(refused.messages[1].0, "AMQ2403I", "{refused:?}");
}

#[test]
fn an_alias_or_a_remote_queue_that_is_open_is_not_deleted() {
    let mut w = World::light();
    w.run(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Q)\nDEFINE QALIAS(A) TARGET(Q)
         DEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)\nDEFINE QALIAS(B) TARGET(R)
         DEFINE TOPIC(T) TOPICSTR('t')\nDEFINE QALIAS(P) TARGET(T) TARGTYPE(TOPIC)",
    );
    let s = w.connect();
    for (name, options, in_the_way) in [
        ("A", MQOO_INQUIRE, &["QALIAS(A)"][..]),
        ("A", MQOO_SET, &["QALIAS(A)"]),
        ("A", ALL, &["QALIAS(A)", "QLOCAL(Q)"]),
        ("P", MQOO_OUTPUT, &["QALIAS(P)"]),
        ("R", MQOO_INQUIRE, &["QREMOTE(R)"]),
        ("R", MQOO_OUTPUT, &["QREMOTE(R)", "QLOCAL(X)"]),
        ("B", MQOO_OUTPUT, &["QALIAS(B)", "QREMOTE(R)", "QLOCAL(X)"]),
    ] {
        let h = open(&s, name, options);
        for object in in_the_way {
            stays(&w, object);
        }
        let called = match options {
            MQOO_OUTPUT => put_by(&s, h).map(drop),
            MQOO_SET => block_on(s.set(h, &[MQIA_INHIBIT_PUT], &[0], &[])).map(drop),
            _ => inquire(&s, h, &[MQIA_INHIBIT_PUT]).map(drop),
        };
        assert_eq!(called, Ok(()), "{name} {options:#x}");
        close(&s, h, 0).unwrap();
    }
    // By another name, or by that of what it leads to, nobody has it.
    let (q, b) = (open(&s, "Q", ALL), open(&s, "B", MQOO_OUTPUT));
    w.run("DELETE QALIAS(A)\nDELETE QALIAS(P)");
    goes_on(&s, q);
    put_by(&s, b).unwrap();
    drop(s);
    w.run("DELETE QALIAS(B)\nDELETE QREMOTE(R)");
    w.crash();
    let s = w.connect();
    for gone in ["A", "B", "P", "R"] {
        assert_eq!(
            try_open(&s, gone, MQOO_OUTPUT),
            Err(Reason::UNKNOWN_OBJECT_NAME)
        );
    }
}

#[test]
fn a_queue_manager_alias_by_which_something_is_open_is_not_deleted() {
    let w = World::light();
    let own = w.qm().name().to_owned();
    w.run(&format!(
        "DEFINE QLOCAL(X) USAGE(XMITQ)\nDEFINE QLOCAL(Q)\nDEFINE QREMOTE(M) RQMNAME(FAR) XMITQ(X)
         DEFINE QREMOTE(HERE) RQMNAME({own})\nDEFINE QREMOTE(R) RNAME(Q) RQMNAME(FAR) XMITQ(X)"
    ));
    let s = w.connect();
    for (queue, by) in [("Q", "M"), ("Q", "HERE"), ("R", "HERE")] {
        let h = elsewhere(&s, queue, by);
        stays(&w, &format!("QREMOTE({by})"));
        if queue == "R" {
            stays(&w, "QREMOTE(R)");
        }
        put_by(&s, h).unwrap();
        close(&s, h, 0).unwrap();
    }
    // Who names it as the place for replies has not opened it.
    let h = open(&s, "Q", MQOO_OUTPUT);
    let mut md = md(0);
    (md.reply_to_q, md.reply_to_q_mgr) = (Name::new("R"), Name::new("M"));
    try_put(&s, h, &mut md, 0, b"?").unwrap();
    w.run("DELETE QREMOTE(M)\nDELETE QREMOTE(HERE)\nDELETE QREMOTE(R)");
}

#[test]
fn a_list_or_a_process_that_is_open_is_not_deleted() {
    let w = World::light();
    w.run("DEFINE NAMELIST(N) NAMES(A)\nDEFINE PROCESS(P)");
    let s = w.connect();
    for (object_type, name, object) in [
        (MQOT_NAMELIST, "N", "NAMELIST(N)"),
        (MQOT_PROCESS, "P", "PROCESS(P)"),
    ] {
        let mut od = Od {
            object_type,
            object_name: Name::new(name),
            ..Od::default()
        };
        let h = open_od(&s, &mut od, MQOO_INQUIRE).unwrap();
        stays(&w, object);
        close(&s, h, 0).unwrap();
        w.run(&format!("DELETE {object}"));
    }
}

#[test]
fn what_was_forced_is_so_after_a_crash() {
    let mut w = World::light();
    w.run("DEFINE QLOCAL(Q) SHARE\nDEFINE QALIAS(A) TARGET(Q)\nDEFINE QLOCAL(OTHER)");
    let s = w.connect();
    let h = open(&s, "A", ALL);
    put(&s, h, PERSISTENT, 0, b"stays");
    force(&w, "QALIAS(A)", "TARGET(OTHER)");
    drop(s);
    w.crash();
    let s = w.connect();
    assert_eq!(w.depth("Q"), 1);
    let h = open(&s, "A", ALL);
    put(&s, h, PERSISTENT, 0, b"elsewhere");
    assert_eq!((w.depth("Q"), w.depth("OTHER")), (1, 1));
}
