//! Delivery delay: a message is where it is to go when its delay is over, not before, and once.

#![allow(clippy::unwrap_used)]

mod world;

use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_engine::{EndMode, Session};
use posthaste_env::{Thread, block_on, spawn};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Gmo, Hobj, Md, Name, PointerSize, Reason, Rfh2, Sd};
use world::*;

const STAGING: &str = "SYSTEM.DDELAY.LOCAL.QUEUE";
/// Milliseconds; longer than any test.
const HOUR: u64 = 3_600_000;

/// A queue manager whose delayed messages are delivered, and the queue `Q`.
struct Delivered {
    w: World,
    thread: Option<Thread>,
}

fn deliver(w: &World) -> Thread {
    let qm = w.qm().clone();
    spawn("delays", move || block_on(qm.deliver_delayed())).unwrap()
}

impl Delivered {
    fn start(w: World) -> Delivered {
        w.run("DEFINE QLOCAL(Q)");
        let thread = Some(deliver(&w));
        Delivered { w, thread }
    }

    /// A crash, and what comes after it.
    fn crash(&mut self) {
        self.w.kill();
        self.thread.take().unwrap().join().unwrap();
        self.w.start();
        self.thread = Some(deliver(&self.w));
    }

    fn end(mut self, how: EndMode) {
        self.w.end(how);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A message as JMS makes it, with its delay in milliseconds.
fn message(delay: u64, text: &str) -> Bytes {
    let header = Rfh2 {
        folders: vec![
            "<mcd><Msd>jms_text</Msd></mcd>".to_owned(),
            format!("<mqext><Dly>{delay}</Dly></mqext>"),
        ],
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.extend_from_slice(text.as_bytes());
    out.into()
}

fn described(persistence: i32) -> Md {
    Md {
        format: Chars::new("MQHRF2"),
        encoding: MQENC_INTEGER_NORMAL,
        ..md(persistence)
    }
}

fn put_delayed(
    s: &Session,
    h: Hobj,
    md: &mut Md,
    options: i32,
    data: &Bytes,
) -> Result<Reason, Reason> {
    let mut pmo = pmo(options);
    let put = s.put_delayed(h, md, &mut pmo, data.clone());
    block_on(put).map(|done| done.warning)
}

/// Waits for a message; none comes: it fails.
fn awaited(s: &Session, h: Hobj) -> Taken {
    let gmo = Gmo {
        wait_interval: 60_000,
        ..gmo(MQGMO_WAIT)
    };
    take(s, h, Md::default(), gmo, 1 << 20).unwrap()
}

#[test]
fn a_delayed_message_comes_when_it_is_due_as_it_was_put() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let h = open(&s, "Q", IN_OUT);
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let data = message(150, "later");
        let mut md = Md {
            correl_id: [7; 24],
            reply_to_q: Name::new("R"),
            ..described(persistence)
        };
        let put = Instant::now();
        assert_eq!(put_delayed(&s, h, &mut md, 0, &data), Ok(Reason::NONE));
        assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
        let got = awaited(&s, h);
        assert!(put.elapsed() >= Duration::from_millis(150));
        assert_eq!(got.data, data);
        assert_eq!(
            (
                got.md.msg_id,
                got.md.correl_id,
                got.md.persistence,
                got.md.format
            ),
            (md.msg_id, [7; 24], persistence, md.format)
        );
        assert_eq!(
            (
                got.md.put_date,
                got.md.put_time,
                got.md.put_appl_name,
                got.md.user_identifier
            ),
            (
                md.put_date,
                md.put_time,
                md.put_appl_name,
                md.user_identifier
            )
        );
    }
    until("nothing is left of it", || {
        w.w.depth(STAGING) == 0 && w.w.qm().connections() == 1
    });
    // Without a delay it is a put like any.
    let mut md = described(NOT_PERSISTENT);
    assert_eq!(
        put_delayed(&s, h, &mut md, 0, &message(0, "now")),
        Ok(Reason::NONE)
    );
    assert!(next(&s, h, 0).is_ok());
    drop(s);
    w.end(EndMode::Controlled);
}

#[test]
fn the_delay_of_the_next_is_not_that_of_the_last() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let h = open(&s, "Q", IN_OUT);
    let put = |delay, text| {
        let data = message(delay, text);
        put_delayed(&s, h, &mut described(PERSISTENT), 0, &data).unwrap();
    };
    put(HOUR, "in an hour");
    put(300, "third");
    put(200, "second");
    put(1, "first");
    for text in ["first", "second", "third"] {
        assert!(awaited(&s, h).data.ends_with(text.as_bytes()), "{text}");
    }
    assert_eq!((w.w.depth("Q"), w.w.depth(STAGING)), (0, 1));
    drop(s);
    w.end(EndMode::Immediate);
}

#[test]
fn in_a_unit_of_work_it_is_delayed_when_that_commits() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let h = open(&s, "Q", IN_OUT);
    for end in [backout, commit] {
        for persistence in [NOT_PERSISTENT, PERSISTENT] {
            let data = message(1, "unit");
            let mut md = described(persistence);
            put_delayed(&s, h, &mut md, MQPMO_SYNCPOINT, &data).unwrap();
        }
        assert_eq!((w.w.depth("Q"), w.w.depth(STAGING)), (0, 2));
        end(&s);
    }
    assert!(awaited(&s, h).data.ends_with(b"unit"));
    assert!(awaited(&s, h).data.ends_with(b"unit"));
    until("the staging queue is empty", || w.w.depth(STAGING) == 0);
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    drop(s);
    w.end(EndMode::Controlled);
}

#[test]
fn after_a_crash_each_comes_once() {
    let mut w = Delivered::start(World::new());
    let s = w.w.connect();
    let h = open(&s, "Q", IN_OUT);
    let put = |delay, persistence, text| {
        let data = message(delay, text);
        put_delayed(&s, h, &mut described(persistence), 0, &data).unwrap();
    };
    put(HOUR, PERSISTENT, "hour");
    put(HOUR, NOT_PERSISTENT, "lost");
    put(500, PERSISTENT, "soon");
    drop(s);
    w.crash();
    until("what was due has come", || w.w.depth("Q") == 1);
    w.crash();
    let s = w.w.connect();
    let h = open(&s, "Q", IN_OUT);
    assert!(awaited(&s, h).data.ends_with(b"soon"));
    assert_eq!((w.w.depth("Q"), w.w.depth(STAGING)), (0, 1));
    drop(s);
    w.end(EndMode::Immediate);
}

#[test]
fn what_cannot_be_put_goes_to_the_dead_letter_queue_with_its_report() {
    let w = Delivered::start(World::with_dead_letters());
    w.w.run("DEFINE QLOCAL(R)\nDEFINE QLOCAL(GONE)");
    let s = w.w.connect();
    let h = open(&s, "GONE", MQOO_OUTPUT);
    for report in [MQRO_EXCEPTION, MQRO_EXCEPTION | MQRO_DISCARD_MSG] {
        let mut md = Md {
            report,
            reply_to_q: Name::new("R"),
            ..described(PERSISTENT)
        };
        let data = message(200, "nowhere");
        put_delayed(&s, h, &mut md, 0, &data).unwrap();
    }
    close(&s, h, 0).unwrap();
    w.w.run("DELETE QLOCAL(GONE)");
    let reports = open(&s, "R", IN_OUT);
    for _ in 0..2 {
        let report = awaited(&s, reports);
        let gone = Reason::UNKNOWN_OBJECT_NAME.code();
        assert_eq!(
            (report.md.msg_type, report.md.feedback),
            (MQMT_REPORT, gone)
        );
    }
    until("both have been dealt with", || w.w.depth(STAGING) == 0);
    let dead = open(&s, DEAD, IN_OUT);
    let got = awaited(&s, dead);
    let order = ByteOrder::Little;
    let (header, length) = Dlh::decode(&got.data, order, PointerSize::Four).unwrap();
    assert_eq!(header.dest_q_name, Name::new("GONE"));
    assert_eq!(header.reason, Reason::UNKNOWN_OBJECT_NAME.code());
    assert_eq!(got.data.slice(length..), message(200, "nowhere"));
    assert_eq!(w.w.depth(DEAD), 0, "the other is discarded");
    drop(s);
    w.end(EndMode::Controlled);
}

/// For each subscriber it has a header of its own, and all of them are in one record.
#[test]
fn a_publication_that_no_log_takes_goes_to_the_dead_letter_queue() {
    let w = Delivered::start(World::with_dead_letters());
    for at in 0..4 {
        w.w.run(&format!(
            "DEFINE QLOCAL(S{at})\nDEFINE SUB(S{at}) TOPICSTR('t') DEST(S{at}) PSPROP(RFH2) USERDATA(U{at})"
        ));
    }
    let s = w.w.connect();
    let h = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    let header = Rfh2 {
        folders: vec![
            "<mqext><Dly>1</Dly></mqext>".to_owned(),
            format!("<usr><a>{}</a></usr>", "x".repeat(300_000)),
        ],
        ..Rfh2::default()
    };
    let mut data = Vec::new();
    header.encode(&mut data, ByteOrder::Big, PointerSize::Four);
    let mut md = described(PERSISTENT);
    put_delayed(&s, h, &mut md, 0, &data.into()).unwrap();
    until("it has been dealt with", || w.w.depth(STAGING) == 0);
    let dead = open(&s, DEAD, IN_OUT);
    let got = awaited(&s, dead);
    let order = ByteOrder::Little;
    let (header, _) = Dlh::decode(&got.data, order, PointerSize::Four).unwrap();
    assert_eq!(header.dest_q_name, Name::new("t"));
    assert_eq!(header.reason, Reason::RESOURCE_PROBLEM.code());
    assert!((0..4).all(|at| w.w.depth(&format!("S{at}")) == 0));
    assert_eq!(w.w.message_count("AMQ2063E"), 1);
    assert_eq!(w.w.message_count("AMQ2215W"), 0);
    // The next one is delivered.
    let data = message(1, "news");
    put_delayed(&s, h, &mut described(PERSISTENT), 0, &data).unwrap();
    until("it has come to all", || {
        (0..4).all(|at| w.w.depth(&format!("S{at}")) == 1)
    });
    drop(s);
    w.end(EndMode::Controlled);
}

#[test]
fn what_nobody_takes_stays_and_the_operator_is_told() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    let data = message(100, "stays");
    put_delayed(&s, h, &mut described(PERSISTENT), 0, &data).unwrap();
    w.w.run("ALTER QLOCAL(Q) PUT(DISABLED)");
    until("the operator is told", || {
        w.w.message_count("AMQ2215W") == 1
    });
    // There is no dead-letter queue, but that is not the reason.
    let inserts = w.w.last_inserts("AMQ2215W");
    assert_eq!(inserts, [STAGING, &Reason::PUT_INHIBITED.to_string()]);
    until("it is back", || w.w.depth(STAGING) == 1);
    assert_eq!(w.w.depth("Q"), 0);
    drop(s);
    w.end(EndMode::Immediate);
}

/// Nobody looks after the queue while its time passes, as when the queue manager is down.
#[test]
fn what_has_expired_while_it_waited_is_given_to_nobody() {
    let mut w = World::light();
    w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(R)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let mut md = Md {
        expiry: 3,
        report: MQRO_EXPIRATION,
        reply_to_q: Name::new("R"),
        ..described(PERSISTENT)
    };
    let put = Instant::now();
    put_delayed(&s, h, &mut md, 0, &message(100, "late")).unwrap();
    until("it has expired", || {
        put.elapsed() > Duration::from_millis(400)
    });
    let reader = w.connect();
    let from = open(&reader, "Q", MQOO_INPUT_SHARED);
    let gmo = Gmo {
        wait_interval: MQWI_UNLIMITED,
        ..gmo(MQGMO_WAIT)
    };
    let mut reading = wait(&reader, from, Md::default(), gmo);
    let thread = deliver(&w);
    let reports = open(&s, "R", IN_OUT);
    assert_eq!(awaited(&s, reports).md.feedback, MQFB_EXPIRATION);
    until("the staging queue is empty", || w.depth(STAGING) == 0);
    assert!(reading.poll().is_none(), "nobody wants it any more");
    drop((reading, s, reader));
    w.end(EndMode::Immediate);
    thread.join().unwrap();
}

/// It is tried again later, and in between nobody has the queue.
#[test]
fn a_staging_queue_that_cannot_be_read_can_be_put_in_order() {
    let mut w = World::light();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    put_delayed(&s, h, &mut described(PERSISTENT), 0, &message(1, "due")).unwrap();
    w.run(&format!("ALTER QLOCAL({STAGING}) GET(DISABLED)"));
    let thread = deliver(&w);
    until("the operator is told", || w.message_count("AMQ2215W") == 1);
    until("nobody has it open", || {
        let cleared = w.mqsc(&format!("CLEAR QLOCAL({STAGING})"));
        cleared.ok
    });
    assert_eq!((w.depth(STAGING), w.depth("Q")), (0, 0));
    drop(s);
    w.end(EndMode::Immediate);
    thread.join().unwrap();
}

#[test]
fn a_delayed_publication_goes_to_those_who_subscribe_then() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let mut topic = world::topic("a/b");
    let h = open_od(&s, &mut topic, MQOO_OUTPUT).unwrap();
    let mut sd = Sd {
        options: MQSO_CREATE | MQSO_MANAGED,
        object_string: "a/#".to_owned(),
        ..Sd::default()
    };
    let data = message(300, "news");
    put_delayed(&s, h, &mut described(PERSISTENT), 0, &data).unwrap();
    let (queue, _) = block_on(s.subscribe(&mut sd, Hobj::NONE)).unwrap().value;
    assert!(awaited(&s, queue).data.ends_with(b"news"));
    until("the staging queue is empty", || w.w.depth(STAGING) == 0);
    drop(s);
    w.end(EndMode::Controlled);
}

/// What MAXUMSGS limits is the unit of work of an application.
#[test]
fn a_delayed_publication_has_as_many_subscribers_as_it_likes() {
    let w = Delivered::start(World::light());
    w.w.run("ALTER QMGR MAXUMSGS(2)");
    for at in 0..4 {
        w.w.run(&format!(
            "DEFINE QLOCAL(S{at})\nDEFINE SUB(S{at}) TOPICSTR('t') DEST(S{at})"
        ));
    }
    let s = w.w.connect();
    let h = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    let mut md = described(PERSISTENT);
    put_delayed(&s, h, &mut md, MQPMO_SYNCPOINT, &message(1, "news")).unwrap();
    commit(&s);
    until("it has come to all", || {
        (0..4).all(|at| w.w.depth(&format!("S{at}")) == 1)
    });
    until("the staging queue is empty", || w.w.depth(STAGING) == 0);
    assert_eq!(w.w.message_count("AMQ2215W"), 0);
    drop(s);
    w.end(EndMode::Controlled);
}

/// As long as its publisher is connected; what a later run has are other connections.
#[test]
fn a_delayed_publication_spares_its_own_subscriptions() {
    let mut w = Delivered::start(World::new());
    let subscribe = |s: &Session| {
        let mut sd = Sd {
            options: MQSO_CREATE | MQSO_MANAGED,
            object_string: "t".to_owned(),
            ..Sd::default()
        };
        block_on(s.subscribe(&mut sd, Hobj::NONE)).unwrap().value.0
    };
    let publish = |s: &Session, delay, options| {
        let h = open_od(s, &mut topic("t"), MQOO_OUTPUT).unwrap();
        let data = message(delay, "news");
        put_delayed(s, h, &mut described(PERSISTENT), options, &data).unwrap();
    };
    let (s, other) = (w.w.connect(), w.w.connect());
    let (own, others) = (subscribe(&s), subscribe(&other));
    publish(&s, 1, MQPMO_NOT_OWN_SUBS);
    assert!(awaited(&other, others).data.ends_with(b"news"));
    until("the staging queue is empty", || w.w.depth(STAGING) == 0);
    assert_eq!(next(&s, own, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    publish(&s, 1, 0);
    assert!(awaited(&s, own).data.ends_with(b"news"));
    publish(&s, 1_000, MQPMO_NOT_OWN_SUBS);
    drop((s, other));
    w.crash();
    let s = w.w.connect();
    let own = subscribe(&s);
    assert!(awaited(&s, own).data.ends_with(b"news"));
    drop(s);
    w.end(EndMode::Immediate);
}

#[test]
fn what_would_be_refused_later_is_refused_at_once() {
    let w = Delivered::start(World::light());
    let s = w.w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    let data = message(1_000, "never");
    let refused = |md: Md, options| put_delayed(&s, h, &mut md.clone(), options, &data);
    let brief = Md {
        expiry: 9,
        ..described(PERSISTENT)
    };
    assert_eq!(refused(brief, 0), Err(Reason::EXPIRY_ERROR));
    let grouped = refused(described(PERSISTENT), MQPMO_LOGICAL_ORDER);
    assert_eq!(grouped, Err(Reason::OPTIONS_ERROR));
    w.w.run("ALTER QLOCAL(Q) PUT(DISABLED)");
    let inhibited = refused(described(PERSISTENT), 0);
    assert_eq!(inhibited, Err(Reason::PUT_INHIBITED));
    w.w.run(&format!(
        "ALTER QLOCAL(Q) PUT(ENABLED)\nALTER QLOCAL({STAGING}) PUT(DISABLED)"
    ));
    let inhibited = refused(described(PERSISTENT), 0);
    assert_eq!(
        inhibited,
        Err(Reason::PUT_INHIBITED),
        "of the staging queue"
    );
    assert_eq!((w.w.depth("Q"), w.w.depth(STAGING)), (0, 0));
    drop(s);
    w.end(EndMode::Immediate);
}
