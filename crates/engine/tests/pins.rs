//! What is on its way keeps the log: units of work, effects whose applications have gone, CLEAR; and what of a unit of
//! work is seen while it ends.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake};

use posthaste_admin::Admin;
use posthaste_command::parse;
use posthaste_engine::{EndMode, QueueManager, Session};
use posthaste_env::block_on;
use posthaste_mqi::Hobj;
use posthaste_mqi::constants::*;
use world::*;

/// A triggered queue whose trigger messages find no place: the operator hears of each at the very moment at which the
/// trigger fires (AMQ2017W).
fn untriggerable(w: &World) -> Session {
    w.run(
        "DEFINE QLOCAL(INIT) MAXDEPTH(1)
         DEFINE QLOCAL(WORK) TRIGGER TRIGTYPE(FIRST) INITQ(INIT)",
    );
    let monitor = w.connect();
    let h = open(&monitor, "INIT", IN_OUT);
    put(&monitor, h, NOT_PERSISTENT, 0, b"in the way");
    monitor
}

/// The system backs a unit of work out; before it is through with that, the application begins another one.
#[test]
fn a_system_backout_leaves_the_next_unit_of_work_its_pin() {
    let mut w = World::with_log_files(3, 1);
    let _monitor = untriggerable(&w);
    w.run("DEFINE QLOCAL(OTHER)\nDEFINE QLOCAL(FILL)");
    let s = w.connect();
    let other = open(&s, "OTHER", IN_OUT);
    put(&s, other, PERSISTENT, 0, b"once");
    let work = open(&s, "WORK", IN_OUT);
    put(&s, work, PERSISTENT, 0, b"given back");
    next(&s, work, MQGMO_SYNCPOINT).unwrap();
    close(&s, work, MQCO_NONE).unwrap();
    let next_unit = s.clone();
    // As it was in the middle of the backout: the two checkpoints behind it may be over before anybody looks.
    let image = Arc::new(AtomicU64::new(0));
    let (noted, env, config) = (image.clone(), w.env.clone(), w.config.clone());
    w.on_message("AMQ2017W", move || {
        noted.store(image_in_force(&env, &config), SeqCst);
        backout(&next_unit);
        let got = next(&next_unit, other, MQGMO_SYNCPOINT).unwrap();
        assert_eq!(got.text(), "once");
    });
    let filler = w.connect();
    let fill = open(&filler, "FILL", IN_OUT);
    while w.message_count("AMQ7469W") == 0 {
        put(&filler, fill, PERSISTENT, 0, &[7; 20_000]);
        next(&filler, fill, 0).unwrap();
    }
    let image = image.load(SeqCst);
    assert_ne!(image, 0);
    until("two checkpoints", || w.image() >= image + 2);
    commit(&s);
    assert_eq!(w.message_count("AMQ7469W"), 1);
    w.crash();
    let s = w.connect();
    let other = open(&s, "OTHER", IN_OUT);
    assert_eq!(drain(&s, other), [""; 0], "a committed get came back");
}

/// Begins an immediate end and looks whether its last checkpoint begins as well; if so, lets it end.
fn try_to_end(qm: &QueueManager) {
    let ending = qm.clone();
    let before = qm.log().appended();
    let call = Call::begin(async move { ending.end(EndMode::Immediate).await });
    if qm.log().appended() > before {
        call.finish().unwrap();
    }
}

/// The application of a commit goes away; while maintenance sees to the commit, the queue manager is ended.
#[test]
fn an_end_waits_for_effects_whose_applications_have_gone() {
    let mut w = World::pausable();
    let _monitor = untriggerable(&w);
    w.run("DEFINE QLOCAL(SECOND)");
    let s = w.connect();
    for name in ["WORK", "SECOND"] {
        let h = open(&s, name, MQOO_OUTPUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, name.as_bytes());
        close(&s, h, MQCO_NONE).unwrap();
    }
    let tried = Arc::new(AtomicBool::new(false));
    let (qm, flag) = (w.qm().clone(), tried.clone());
    w.on_message("AMQ2017W", move || {
        try_to_end(&qm);
        flag.store(true, SeqCst);
    });
    w.stage.pause();
    let committing = s.clone();
    drop(Call::begin(async move { committing.commit().await }));
    w.stage.resume();
    until("the effect of the commit", || tried.load(SeqCst));
    w.end(EndMode::Immediate);
    w.start();
    let s = w.connect();
    for name in ["WORK", "SECOND"] {
        let h = open(&s, name, IN_OUT);
        assert_eq!(drain(&s, h), [name]);
    }
}

fn clearing(w: &World, name: &str) -> Call<posthaste_command::Reply> {
    let qm = w.qm().clone();
    let command = parse(&format!("CLEAR QLOCAL({name})")).unwrap().unwrap();
    Call::begin(async move { Admin::alone(&qm).execute(&command).await })
}

fn one_to_clear() -> World {
    let w = World::pausable();
    w.run("DEFINE QLOCAL(A) NPMCLASS(HIGH)");
    let s = w.connect();
    let h = open(&s, "A", MQOO_OUTPUT);
    for persistence in [PERSISTENT, NOT_PERSISTENT] {
        put(&s, h, persistence, 0, b"to be cleared");
    }
    drop(s);
    w
}

#[test]
fn a_queue_cleared_while_the_queue_manager_ends_is_empty_at_the_next_start() {
    let mut w = one_to_clear();
    w.stage.pause();
    let clear = clearing(&w, "A");
    w.stage.resume();
    block_on(w.qm().end(EndMode::Immediate)).unwrap();
    assert!(clear.finish().ok);
    w.end_threads();
    w.start();
    assert_eq!(w.depth("A"), 0);
}

#[test]
fn a_clear_whose_caller_goes_away_happens_all_the_same() {
    let mut w = one_to_clear();
    w.stage.pause();
    drop(clearing(&w, "A"));
    assert_eq!(w.depth("A"), 2, "not before its record is forced");
    w.stage.resume();
    until("the clear", || w.depth("A") == 0);
    w.crash();
    assert_eq!(w.depth("A"), 0);
}

/// Looks at a queue at the moment at which a getter is told that there is something.
struct Onlooker {
    s: Session,
    h: Hobj,
    seen: Mutex<Vec<usize>>,
}

impl Wake for Onlooker {
    fn wake(self: Arc<Self>) {
        let seen = browse(&self.s, self.h).len();
        self.seen.lock().unwrap().push(seen);
    }
}

#[test]
fn what_a_unit_of_work_puts_on_a_queue_is_seen_all_at_once() {
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let w = World::light();
        w.run("DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)");
        let (s, waiter, looker) = (w.connect(), w.connect(), w.connect());
        let (a, b) = (open(&s, "A", IN_OUT), open(&s, "B", IN_OUT));
        // Messages of both queues by turns, and gets that go with them.
        put(&s, a, persistence, 0, b"old");
        next(&s, a, MQGMO_SYNCPOINT).unwrap();
        for h in [a, b, a, b, a] {
            put(&s, h, persistence, MQPMO_SYNCPOINT, b"new");
        }
        let browse = open(&waiter, "A", MQOO_BROWSE);
        let waits = posthaste_mqi::Gmo {
            wait_interval: MQWI_UNLIMITED,
            ..gmo(MQGMO_WAIT | MQGMO_BROWSE_FIRST)
        };
        let mut waiting = Box::pin(getting(waiter.clone(), browse, md(0), waits, 100));
        let onlooker = Arc::new(Onlooker {
            h: open(&looker, "A", MQOO_BROWSE),
            s: looker,
            seen: Mutex::default(),
        });
        let waker = onlooker.clone().into();
        let polled = waiting.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        commit(&s);
        assert_eq!(*onlooker.seen.lock().unwrap(), [3]);
        assert_eq!((w.depth("A"), w.depth("B")), (3, 2));
        assert_eq!(drain(&s, a), ["new"; 3]);
    }
}
