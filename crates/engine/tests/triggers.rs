//! Triggering (MQ: "Conditions for a trigger event").
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use posthaste_admin::Admin;
use posthaste_engine::{CreateOptions, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Dlh, Hobj, Md, PointerSize, Reason, Tm};
use world::*;

/// A queue manager with a triggered queue, and its initiation queue open.
struct Triggered {
    w: World,
    monitor: Session,
    initiation: Hobj,
    s: Session,
    h: Hobj,
}

impl Triggered {
    fn new(attributes: &str) -> Self {
        let w = World::with_dead_letters();
        Self::over(w, attributes)
    }

    fn over(w: World, attributes: &str) -> Self {
        w.run(&format!(
            "DEFINE QLOCAL(INIT) DEFPRTY(6)
             DEFINE QLOCAL(APP) TRIGGER INITQ(INIT) {attributes}"
        ));
        let (monitor, s) = (w.connect(), w.connect());
        let initiation = open(&monitor, "INIT", MQOO_INPUT_SHARED);
        let h = open(&s, "APP", MQOO_OUTPUT);
        Triggered {
            w,
            monitor,
            initiation,
            s,
            h,
        }
    }

    fn put(&self, priority: i32) {
        send(&self.s, self.h, Md { priority, ..md(0) }, 0, b"work");
    }

    /// Takes the trigger messages there are.
    fn fired(&self) -> usize {
        let mut count = 0;
        while next(&self.monitor, self.initiation, 0).is_ok() {
            count += 1;
        }
        count
    }

    /// Somebody serves the queue: takes so many messages and goes.
    fn serve(&self, count: usize) {
        let h = open(&self.s, "APP", MQOO_INPUT_SHARED);
        for _ in 0..count {
            next(&self.s, h, 0).unwrap();
        }
        close(&self.s, h, 0).unwrap();
    }
}

/// What the trigger monitor starts is in the process definition, as it is when the message is made.
#[test]
fn a_trigger_message_says_what_its_process_definition_says() {
    let t = Triggered::new("TRIGTYPE(EVERY) PROCESS(PAYROLL)");
    t.w.run("DEFINE PROCESS(PAYROLL) APPLTYPE(7) APPLICID('/usr/bin/pay') ENVRDATA('&') USERDATA(MONTH)");
    let process = |t: &Triggered| {
        t.put(0);
        let got = next(&t.monitor, t.initiation, 0).unwrap();
        let (tm, _) = Tm::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
        let texts = [
            tm.appl_id.text().into_owned(),
            tm.env_data.text().into_owned(),
            tm.user_data.text().into_owned(),
        ];
        (tm.appl_type, texts)
    };
    let texts = |texts: [&str; 3]| texts.map(str::to_owned);
    assert_eq!(process(&t), (7, texts(["/usr/bin/pay", "&", "MONTH"])));
    t.w.run("ALTER PROCESS(PAYROLL) APPLTYPE(UNIX) USERDATA('')");
    assert_eq!(process(&t), (MQAT_UNIX, texts(["/usr/bin/pay", "&", ""])));
}

#[test]
fn a_trigger_message_says_what_was_defined() {
    let t = Triggered::new("TRIGTYPE(EVERY) PROCESS(PAYROLL) TRIGDATA('some data')");
    t.w.run("DEFINE PROCESS(PAYROLL)");
    t.put(0);
    let got = next(&t.monitor, t.initiation, 0).unwrap();
    let (tm, used) = Tm::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!((used, got.length), (684, 684));
    assert_eq!(tm.q_name.text(), "APP");
    assert_eq!(tm.process_name.text(), "PAYROLL");
    assert_eq!(tm.trigger_data.text(), "some data");
    let md = got.md;
    assert_eq!(md.format.text(), MQFMT_TRIGGER.trim_end());
    assert_eq!(md.msg_type, MQMT_DATAGRAM);
    assert_eq!(md.persistence, NOT_PERSISTENT);
    assert_eq!(md.priority, 6, "the initiation queue's default");
    assert_eq!(md.encoding, MQENC_NATIVE);
    assert_eq!(md.reply_to_q_mgr.text(), "QM1");
    assert_eq!(md.put_appl_type, MQAT_QMGR);
    assert_eq!(md.put_appl_name.text(), "QM1");
    assert!(md.user_identifier.is_blank());
    assert_eq!(md.expiry, MQEI_UNLIMITED);
}

#[test]
fn first_fires_when_the_queue_was_empty() {
    let t = Triggered::new("TRIGTYPE(FIRST)");
    t.put(0);
    assert_eq!(t.fired(), 1);
    t.put(0);
    t.put(0);
    assert_eq!(t.fired(), 0);
    // The server leaves something behind: somebody has to come again.
    t.serve(2);
    assert_eq!(t.fired(), 1);
    t.serve(1);
    assert_eq!(t.fired(), 0);
    t.put(0);
    assert_eq!(t.fired(), 1);
}

#[test]
fn first_fires_again_after_the_trigger_interval() {
    let options = CreateOptions {
        trigger_interval: 0,
        ..CreateOptions::default()
    };
    let t = Triggered::over(World::made(&options, |_| {}), "TRIGTYPE(FIRST)");
    for _ in 0..3 {
        t.put(0);
        assert_eq!(t.fired(), 1);
    }
    t.w.run("ALTER QMGR TRIGINT(999999999)");
    t.put(0);
    assert_eq!(t.fired(), 0);
}

#[test]
fn every_fires_for_each_message_whoever_has_the_queue_open() {
    let t = Triggered::new("TRIGTYPE(EVERY)");
    for _ in 0..3 {
        t.put(0);
    }
    assert_eq!(t.fired(), 3);
    let server = t.w.connect();
    let h = open(&server, "APP", MQOO_INPUT_SHARED);
    t.put(0);
    assert_eq!(t.fired(), 1);
    drain(&server, h);
    let waiting = wait(&server, h, md(0), gmo(0));
    t.put(0);
    waiting.finish().unwrap();
    assert_eq!(t.fired(), 1, "a message that is handed over arrives too");
    t.put(0);
    assert_eq!(t.fired(), 1);
    // Closing is no arrival.
    close(&server, h, 0).unwrap();
    assert_eq!(t.fired(), 0);
}

#[test]
fn depth_fires_once_and_switches_triggering_off() {
    let mut t = Triggered::new("TRIGTYPE(DEPTH) TRIGDPTH(3)");
    for expected in [0, 0, 1, 0, 0] {
        t.put(0);
        assert_eq!(t.fired(), expected);
    }
    let control = |t: &Triggered| {
        let q = open(&t.s, "APP", MQOO_INQUIRE);
        let value = inquire(&t.s, q, &[MQIA_TRIGGER_CONTROL]).unwrap().0.ints[0];
        close(&t.s, q, 0).unwrap();
        value
    };
    assert_eq!(control(&t), MQTC_OFF);
    t.serve(5);
    for _ in 0..4 {
        t.put(0);
    }
    assert_eq!(t.fired(), 0);
    // Switched on again, with enough messages there already.
    let q = open(&t.s, "APP", MQOO_SET);
    block_on(t.s.set(q, &[MQIA_TRIGGER_CONTROL], &[MQTC_ON], &[])).unwrap();
    close(&t.s, q, 0).unwrap();
    assert_eq!(t.fired(), 1);
    assert_eq!(control(&t), MQTC_OFF);
    let Triggered {
        mut w, s, monitor, ..
    } = t;
    drop((s, monitor));
    w.restart();
    let reply = w.mqsc("DISPLAY QLOCAL(APP) TRIGGER");
    assert_eq!(
        reply.rows[0].2.shown("NOTRIGGER").as_deref(),
        Some(""),
        "{reply:?}"
    );
    t = Triggered {
        monitor: w.connect(),
        initiation: Hobj(0),
        s: w.connect(),
        h: Hobj(0),
        w,
    };
    assert_eq!(control(&t), MQTC_OFF);
}

/// The log has no room to say that triggering is off. It is off all the same, in the definition too, so that it can be
/// switched on again.
#[test]
fn depth_switches_triggering_off_when_the_log_is_full() {
    let w = World::with_log_files(2, 1);
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let mut t = Triggered::over(w, "TRIGTYPE(DEPTH) TRIGDPTH(3)");
    let filler = t.w.connect();
    let fill = open(&filler, "Q", IN_OUT);
    t.w.stage.no_image_from.store(0, SeqCst);
    until("the log is full", || {
        let refused =
            |size| try_put(&filler, fill, &mut md(PERSISTENT), 0, &vec![7; size]).is_err();
        refused(20_000) && refused(1) && !t.w.mqsc("ALTER QLOCAL(APP) DESCR('x')").ok
    });
    for expected in [0, 0, 1, 0, 0] {
        t.put(0);
        assert_eq!(t.fired(), expected);
    }
    let is_off = |w: &World| {
        let reply = w.mqsc("DISPLAY QLOCAL(APP) TRIGGER");
        reply.rows[0].2.shown("NOTRIGGER").is_some()
    };
    assert!(is_off(&t.w));
    t.w.stage.no_image_from.store(u64::MAX, SeqCst);
    until("there is room", || {
        let _ = next(&filler, fill, 0);
        t.w.mqsc("ALTER QLOCAL(APP) TRIGGER").ok
    });
    assert_eq!(t.fired(), 1, "five messages are there");
    drop((filler, t.s, t.monitor));
    t.w.restart();
    assert!(is_off(&t.w));
}

#[test]
fn only_messages_of_enough_priority_count() {
    let t = Triggered::new("TRIGTYPE(FIRST) TRIGMPRI(5)");
    t.put(4);
    t.put(0);
    assert_eq!(t.fired(), 0);
    t.put(5);
    assert_eq!(t.fired(), 1);
    t.put(9);
    assert_eq!(t.fired(), 0);
    // Only unimportant ones are left.
    t.serve(2);
    assert_eq!(t.fired(), 0);
    let t = Triggered::new("TRIGTYPE(DEPTH) TRIGDPTH(2) TRIGMPRI(5)");
    for (priority, expected) in [(9, 0), (1, 0), (4, 0), (5, 1)] {
        t.put(priority);
        assert_eq!(t.fired(), expected);
    }
    let t = Triggered::new("TRIGTYPE(EVERY) TRIGMPRI(9)");
    for (priority, expected) in [(8, 0), (9, 1), (0, 0)] {
        t.put(priority);
        assert_eq!(t.fired(), expected);
    }
    // The priority counts as it was put, also where delivery does not go by it.
    let t = Triggered::new("TRIGTYPE(FIRST) TRIGMPRI(5) MSGDLVSQ(FIFO)");
    for (priority, expected) in [(1, 0), (7, 1), (7, 0)] {
        t.put(priority);
        assert_eq!(t.fired(), expected);
    }
}

#[test]
fn nothing_fires_while_somebody_serves_the_queue() {
    for kind in ["TRIGTYPE(FIRST)", "TRIGTYPE(DEPTH) TRIGDPTH(1)"] {
        let t = Triggered::new(kind);
        let server = t.w.connect();
        let h = open(&server, "APP", MQOO_INPUT_SHARED);
        let second = open(&server, "APP", MQOO_INPUT_SHARED);
        // A browser is no server.
        open(&server, "APP", MQOO_BROWSE);
        t.put(0);
        assert_eq!(t.fired(), 0, "{kind}");
        close(&server, h, 0).unwrap();
        assert_eq!(t.fired(), 0, "{kind}");
        close(&server, second, 0).unwrap();
        assert_eq!(t.fired(), 1, "{kind}");
    }
}

/// A server that breaks off in the middle of its work leaves it to the next one, however it ends.
#[test]
fn what_a_server_backs_out_fires_again() {
    type End = fn(Session, Hobj);
    let ends: [(&str, End); 4] = [
        ("lost", |s, _| drop(s)),
        ("closes, then backs out", |s, h| {
            close(&s, h, 0).unwrap();
            backout(&s);
        }),
        ("backs out, then closes", |s, h| {
            backout(&s);
            close(&s, h, 0).unwrap();
        }),
        ("terminated", |s, _| block_on(s.terminate())),
    ];
    for (name, end) in ends {
        for persistence in [NOT_PERSISTENT, PERSISTENT] {
            let t = Triggered::new("TRIGTYPE(FIRST)");
            let server = t.w.connect();
            let h = open(&server, "APP", MQOO_INPUT_SHARED);
            for _ in 0..3 {
                put(&t.s, t.h, persistence, 0, b"work");
                next(&server, h, MQGMO_SYNCPOINT).unwrap();
            }
            assert_eq!(t.fired(), 0);
            end(server, h);
            until(name, || !t.w.status("APP").uncommitted);
            until(name, || t.w.depth("INIT") > 0);
            assert_eq!(t.fired(), 1, "{name}");
        }
    }
}

/// A message that was cleared while a server had it does not come back, so its backout fires nothing.
#[test]
fn a_message_that_was_cleared_meanwhile_does_not_fire() {
    let t = Triggered::over(World::pausable(), "TRIGTYPE(FIRST)");
    put(&t.s, t.h, PERSISTENT, 0, b"cleared");
    close(&t.s, t.h, 0).unwrap();
    t.w.stage.pause();
    let qm = t.w.qm().clone();
    let command = posthaste_command::parse("CLEAR QLOCAL(APP)");
    let command = command.unwrap().unwrap();
    let clear = Call::begin(async move { Admin::alone(&qm).execute(&command).await });
    let server = t.w.connect();
    let h = open(&server, "APP", MQOO_INPUT_SHARED);
    next(&server, h, MQGMO_SYNCPOINT).unwrap();
    t.w.stage.resume();
    assert!(clear.finish().ok);
    let h2 = open(&t.s, "APP", MQOO_OUTPUT);
    put(&t.s, h2, PERSISTENT, 0, b"there");
    close(&server, h, 0).unwrap();
    assert_eq!(
        t.fired(),
        2,
        "the first message, and the one that the server leaves"
    );
    backout(&server);
    assert_eq!((t.w.depth("APP"), t.fired()), (1, 0));
}

#[test]
fn switched_off_or_inhibited_queues_do_not_fire() {
    for attributes in [
        "TRIGTYPE(EVERY) NOTRIGGER",
        "TRIGTYPE(NONE)",
        "TRIGTYPE(EVERY) GET(DISABLED)",
        "TRIGTYPE(EVERY) INITQ(NOWHERE)",
    ] {
        let w = World::new();
        w.run(&format!("DEFINE QLOCAL(INIT)\nDEFINE QLOCAL(APP) TRIGGER INITQ(INIT)\nALTER QLOCAL(APP) {attributes}"));
        let s = w.connect();
        open(&s, "INIT", MQOO_INPUT_SHARED);
        put1(&s, "APP", &mut md(0), 0, b"").unwrap();
        assert_eq!(w.depth("INIT"), 0, "{attributes}");
    }
}

/// The conditions are met already when the definition changes.
#[test]
fn a_change_of_the_definition_fires() {
    for (before, change) in [
        ("NOTRIGGER TRIGTYPE(FIRST)", "TRIGGER"),
        ("NOTRIGGER TRIGTYPE(EVERY)", "TRIGGER"),
        ("NOTRIGGER TRIGTYPE(DEPTH) TRIGDPTH(2)", "TRIGGER"),
        ("TRIGTYPE(NONE)", "TRIGTYPE(FIRST)"),
        ("TRIGTYPE(DEPTH) TRIGDPTH(9)", "TRIGDPTH(2)"),
        ("TRIGTYPE(FIRST) TRIGMPRI(5)", "TRIGMPRI(0)"),
        ("TRIGTYPE(FIRST) GET(DISABLED)", "GET(ENABLED)"),
        ("TRIGTYPE(FIRST) INITQ(OTHER)", "INITQ(INIT)"),
    ] {
        let w = World::new();
        w.run("DEFINE QLOCAL(INIT)\nDEFINE QLOCAL(APP) TRIGGER INITQ(INIT)");
        w.run(&format!("ALTER QLOCAL(APP) {before}"));
        let s = w.connect();
        open(&s, "INIT", MQOO_INPUT_SHARED);
        put1(&s, "APP", &mut md(0), 0, b"").unwrap();
        put1(&s, "APP", &mut md(0), 0, b"").unwrap();
        assert_eq!(w.depth("INIT"), 0, "{before}");
        w.run(&format!("ALTER QLOCAL(APP) {change}"));
        assert_eq!(w.depth("INIT"), 1, "{before} {change}");
        // A change of something else does not.
        w.run("ALTER QLOCAL(APP) DESCR('something else')");
        assert_eq!(w.depth("INIT"), 1, "{before} {change}");
    }
}

#[test]
fn opening_the_initiation_queue_later_fires_for_every_queue_it_serves() {
    let mut w = World::new();
    w.run(
        "DEFINE QLOCAL(INIT)
         DEFINE QLOCAL(ONE) TRIGGER INITQ(INIT) TRIGTYPE(FIRST)
         DEFINE QLOCAL(TWO) TRIGGER INITQ(INIT) TRIGTYPE(EVERY)
         DEFINE QLOCAL(THREE) TRIGGER INITQ(INIT) TRIGTYPE(DEPTH) TRIGDPTH(2)
         DEFINE QLOCAL(FOUR) TRIGGER INITQ(INIT) TRIGTYPE(DEPTH) TRIGDPTH(9)
         DEFINE QLOCAL(EMPTY) TRIGGER INITQ(INIT) TRIGTYPE(FIRST)
         DEFINE QLOCAL(OTHER) TRIGGER INITQ(ELSE) TRIGTYPE(FIRST)",
    );
    let s = w.connect();
    for queue in ["ONE", "TWO", "THREE", "FOUR", "OTHER"] {
        for _ in 0..2 {
            put1(&s, queue, &mut md(PERSISTENT), 0, b"").unwrap();
        }
    }
    assert_eq!(w.depth("INIT"), 0);
    drop(s);
    w.restart();
    let s = w.connect();
    // Browsing or putting is not serving.
    open(&s, "INIT", MQOO_BROWSE | MQOO_OUTPUT);
    assert_eq!(w.depth("INIT"), 0);
    let h = open(&s, "INIT", MQOO_INPUT_SHARED);
    let mut fired = Vec::new();
    while let Ok(got) = next(&s, h, 0) {
        let (tm, _) = Tm::decode(&got.data, ByteOrder::Little, PointerSize::Four).unwrap();
        fired.push(tm.q_name.text().into_owned());
    }
    fired.sort();
    assert_eq!(fired, ["ONE", "THREE", "TWO"]);
}

#[test]
fn a_unit_of_work_fires_when_it_is_committed() {
    let t = Triggered::new("TRIGTYPE(EVERY)");
    for _ in 0..3 {
        put(&t.s, t.h, PERSISTENT, MQPMO_SYNCPOINT, b"work");
    }
    assert_eq!(t.fired(), 0);
    commit(&t.s);
    assert_eq!(t.fired(), 3);
    put(&t.s, t.h, PERSISTENT, MQPMO_SYNCPOINT, b"work");
    backout(&t.s);
    assert_eq!(t.fired(), 0);
}

/// MQ: "Conditions for a trigger event". What is no event yet is one when its obstacle goes, and triggering is still on.
#[test]
fn nothing_fires_while_the_initiation_queue_is_inhibited_or_the_process_is_not_there() {
    let (missing, defined) = ("DELETE PROCESS(P)", "DEFINE PROCESS(P)");
    for (obstacle, end) in [
        (
            "ALTER QLOCAL(INIT) PUT(DISABLED)",
            "ALTER QLOCAL(INIT) PUT(ENABLED)",
        ),
        (
            "ALTER QLOCAL(INIT) GET(DISABLED)",
            "ALTER QLOCAL(INIT) GET(ENABLED)",
        ),
        (
            "ALTER QLOCAL(INIT) GET(DISABLED)",
            "DEFINE QLOCAL(INIT) REPLACE GET(ENABLED)",
        ),
        (missing, defined),
        (missing, "ALTER QLOCAL(APP) PROCESS('')"),
    ] {
        for kind in ["DEPTH) TRIGDPTH(3", "FIRST", "EVERY"] {
            let t = Triggered::new(&format!("TRIGTYPE({kind}) PROCESS(P)"));
            t.w.run(defined);
            t.w.run(obstacle);
            for _ in 0..4 {
                t.put(0);
            }
            put(&t.s, t.h, PERSISTENT, MQPMO_SYNCPOINT, b"work");
            commit(&t.s);
            let case = format!("{obstacle} {kind}");
            assert_eq!(t.w.depth("INIT"), 0, "{case}");
            assert_eq!(t.w.depth(DEAD), 0, "{case}");
            assert_eq!(
                t.w.mqsc("DISPLAY QLOCAL(APP) TRIGGER").rows[0]
                    .2
                    .shown("NOTRIGGER"),
                None,
                "{case}"
            );
            t.w.run(end);
            assert_eq!(t.fired(), 1, "{case} {end}");
        }
    }
}

#[test]
fn a_set_of_the_initiation_queue_fires_as_well() {
    let t = Triggered::new("TRIGTYPE(DEPTH) TRIGDPTH(1)");
    let q = open(&t.s, "INIT", MQOO_SET);
    let set = |selector, value| block_on(t.s.set(q, &[selector], &[value], &[])).unwrap();
    set(MQIA_INHIBIT_PUT, MQQA_PUT_INHIBITED);
    t.put(0);
    assert_eq!(t.fired(), 0);
    set(MQIA_INHIBIT_PUT, MQQA_PUT_ALLOWED);
    assert_eq!(t.fired(), 1);
}

#[test]
fn a_trigger_message_that_cannot_be_put_is_dead_lettered() {
    for (obstacle, reason) in [
        ("MAXMSGL(683)", Reason::MSG_TOO_BIG_FOR_Q),
        ("MAXDEPTH(0)", Reason::Q_FULL),
    ] {
        let t = Triggered::new("TRIGTYPE(EVERY) TRIGDATA(X)");
        t.w.run(&format!("ALTER QLOCAL(INIT) {obstacle}"));
        t.put(0);
        assert_eq!(t.fired(), 0);
        let d = open(&t.s, DEAD, MQOO_INPUT_SHARED);
        let dead = next(&t.s, d, 0).unwrap();
        let (header, used) = Dlh::decode(&dead.data, ByteOrder::Little, PointerSize::Four).unwrap();
        assert_eq!(header.reason, reason.code());
        assert_eq!(header.dest_q_name.text(), "INIT");
        assert_eq!(header.format.text(), MQFMT_TRIGGER.trim_end());
        let (tm, _) = Tm::decode(&dead.data[used..], ByteOrder::Little, PointerSize::Four).unwrap();
        assert_eq!(tm.trigger_data.text(), "X");
        // Without a dead-letter queue it is discarded, and the put succeeds all the same.
        t.w.run("ALTER QMGR DEADQ('')");
        t.put(0);
        assert_eq!(t.w.message_count("AMQ2017W"), 1);
        assert_eq!(t.w.depth("APP"), 2);
    }
}

/// Initiation queues that are triggered themselves, also in a circle, do not run away.
#[test]
fn queues_do_not_trigger_in_a_circle() {
    let w = World::new();
    w.run(
        "DEFINE QLOCAL(A) TRIGGER INITQ(B) TRIGTYPE(EVERY)
         DEFINE QLOCAL(B) TRIGGER INITQ(A) TRIGTYPE(EVERY)
         DEFINE QLOCAL(SELF) TRIGGER INITQ(SELF) TRIGTYPE(EVERY)",
    );
    let s = w.connect();
    for queue in ["A", "B", "SELF"] {
        open(&s, queue, MQOO_INPUT_SHARED);
    }
    put1(&s, "A", &mut md(0), 0, b"").unwrap();
    assert_eq!((w.depth("A"), w.depth("B")), (1, 1));
    put1(&s, "B", &mut md(0), 0, b"").unwrap();
    assert_eq!((w.depth("A"), w.depth("B")), (2, 2));
    put1(&s, "SELF", &mut md(0), 0, b"").unwrap();
    assert_eq!(w.depth("SELF"), 2);
}

/// Its lock is not free while the conditions are looked at.
#[test]
fn a_queue_that_is_its_own_initiation_queue_fires_for_whoever_has_it_open() {
    for (kind, while_open) in [("FIRST", 0), ("EVERY", 1), ("DEPTH", 0)] {
        let w = World::with_dead_letters();
        w.run(&format!(
            "DEFINE QLOCAL(OWN) INITQ(OWN) TRIGGER TRIGTYPE({kind}) TRIGDPTH(1)"
        ));
        let s = w.connect();
        let h = open(&s, "OWN", MQOO_OUTPUT);
        put(&s, h, NOT_PERSISTENT, 0, b"work");
        w.run("ALTER QLOCAL(OWN) NOTRIGGER");
        w.run("ALTER QLOCAL(OWN) TRIGGER");
        assert_eq!(w.depth("OWN"), 1, "{kind}");
        // Who has it open serves it, so that only EVERY is an event.
        let monitor = w.connect();
        let own = open(&monitor, "OWN", MQOO_INPUT_SHARED);
        while next(&monitor, own, 0).is_ok() {}
        put(&s, h, NOT_PERSISTENT, 0, b"work");
        assert_eq!(w.depth("OWN"), 1 + while_open, "{kind}");
    }
}

/// A waiting trigger monitor is given the trigger message.
#[test]
fn a_waiting_monitor_is_woken() {
    let t = Triggered::new("TRIGTYPE(FIRST)");
    let waiting = wait(&t.monitor, t.initiation, md(0), gmo(0));
    t.put(0);
    assert_eq!(waiting.woken(), 1);
    waiting.finish().unwrap();
}

/// Opening a queue for input looks only at the queues whose initiation queue it is, not at all there are.
#[test]
fn opening_a_queue_costs_the_same_beside_many_others() {
    let quickest = |queues: usize| {
        let w = World::new();
        for n in 0..queues {
            w.run(&format!("DEFINE QLOCAL(OTHER.{n})"));
        }
        let s = w.connect();
        let once = |_| {
            let begin = std::time::Instant::now();
            let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
            let took = begin.elapsed();
            close(&s, h, MQCO_NONE).unwrap();
            took
        };
        (0..300).map(once).min().unwrap()
    };
    let (few, many) = (quickest(20), quickest(500));
    assert!(many < few * 4, "{few:?} beside 20, {many:?} beside 500");
}

/// An initiation queue goes on serving exactly the queues that name it, whatever happens to their definitions.
#[test]
fn an_initiation_queue_serves_who_names_it_now() {
    let w = World::light();
    w.run(
        "DEFINE QLOCAL(INIT)
         DEFINE QLOCAL(OTHER)
         DEFINE QLOCAL(APP) TRIGGER TRIGTYPE(EVERY) INITQ(INIT)",
    );
    let s = w.connect();
    // Messages that nobody serves: whoever opens their initiation queue is told of them.
    let triggered = |initiation: &str| {
        let h = open(&s, initiation, MQOO_INPUT_SHARED);
        let triggered = drain_all(&s, h);
        close(&s, h, MQCO_NONE).unwrap();
        triggered
    };
    put1(&s, "APP", &mut md(0), 0, b"work").unwrap();
    assert_eq!((triggered("INIT"), triggered("OTHER")), (1, 0));
    w.run("ALTER QLOCAL(APP) INITQ(OTHER)");
    assert_eq!((triggered("INIT"), triggered("OTHER")), (0, 1));
    w.run("ALTER QLOCAL(APP) NOTRIGGER");
    assert_eq!((triggered("INIT"), triggered("OTHER")), (0, 0));
    w.run("ALTER QLOCAL(APP) TRIGGER INITQ(INIT)");
    assert_eq!((triggered("INIT"), triggered("OTHER")), (1, 0));
    let mut w = w;
    drop(s);
    w.restart();
    let s = w.connect();
    put1(&s, "APP", &mut md(0), 0, b"work").unwrap();
    let h = open(&s, "INIT", MQOO_INPUT_SHARED);
    assert_eq!(drain_all(&s, h), 1);
    close(&s, h, MQCO_NONE).unwrap();
    w.run(
        "DELETE QLOCAL(APP) PURGE
         DEFINE QLOCAL(APP)",
    );
    put1(&s, "APP", &mut md(0), 0, b"work").unwrap();
    let h = open(&s, "INIT", MQOO_INPUT_SHARED);
    assert_eq!(drain_all(&s, h), 0);
}

/// Takes every message there is, whatever is in it.
fn drain_all(s: &Session, h: Hobj) -> usize {
    std::iter::from_fn(|| next(s, h, 0).ok()).count()
}
