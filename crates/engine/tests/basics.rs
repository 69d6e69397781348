//! The queue manager on a real disk: what an application sees.

mod world;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use bytes::Bytes;
use posthaste_admin::Admin;
use posthaste_command::{Attrs, Command, ObjectKind};
use posthaste_engine::{CreateOptions, EndMode, EngineConfig, QueueManager, StartError};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Pmo, Reason};
use world::*;

#[test]
fn a_message_put_is_the_message_got() {
    let w = World::forced(|_| {});
    let s = w.connect();
    let h = open(
        &s,
        "SYSTEM.DEFAULT.LOCAL.QUEUE",
        MQOO_INPUT_SHARED | MQOO_OUTPUT,
    );
    for persistence in [MQPER_NOT_PERSISTENT, MQPER_PERSISTENT] {
        let mut md = Md {
            persistence,
            correl_id: [3; 24],
            ..Md::default()
        };
        let mut pmo = Pmo::default();
        block_on(s.put(h, &mut md, &mut pmo, Bytes::from_static(b"hello"))).unwrap();
        assert_ne!(md.msg_id, [0; 24]);
        let (got, data) = get(&s, h, 0).unwrap();
        assert_eq!(&data[..], b"hello");
        assert_eq!(got.msg_id, md.msg_id);
        assert_eq!(got.correl_id, [3; 24]);
        assert_eq!(got.persistence, persistence);
        assert_eq!(get(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    }
}

/// Threads of the queue manager wait for its phase to change.
#[test]
fn an_application_that_comes_and_goes_wakes_nobody_else() {
    #[derive(Default)]
    struct Woken(AtomicUsize);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let w = World::forced(|_| {});
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let qm = w.qm();
    let mut ended = pin!(qm.ended());
    assert!(ended.as_mut().poll(&mut context).is_pending());
    block_on(w.connect().disconnect()).unwrap();
    drop(w.connect());
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
    qm.quiesce(EndMode::Controlled);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
}

#[test]
fn a_unit_of_work_is_all_or_nothing() {
    let w = World::forced(|_| {});
    let s = w.connect();
    let other = w.connect();
    let h = open(
        &s,
        "SYSTEM.DEFAULT.LOCAL.QUEUE",
        MQOO_INPUT_SHARED | MQOO_OUTPUT,
    );
    let o = open(&other, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_INPUT_SHARED);
    put(&s, h, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"a");
    put(&s, h, MQPER_NOT_PERSISTENT, MQPMO_SYNCPOINT, b"b");
    assert_eq!(get(&other, o, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    block_on(s.commit()).unwrap();
    let (_, first) = get(&other, o, MQGMO_SYNCPOINT).unwrap();
    assert_eq!(&first[..], b"a");
    block_on(other.backout()).unwrap();
    let (md, again) = get(&other, o, MQGMO_SYNCPOINT).unwrap();
    assert_eq!((&again[..], md.backout_count), (&b"a"[..], 1));
    block_on(other.commit()).unwrap();
    put(&s, h, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"never");
    block_on(s.backout()).unwrap();
    assert_eq!(&get(&other, o, 0).unwrap().1[..], b"b");
    assert_eq!(get(&other, o, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn persistent_messages_survive_a_crash_and_a_clean_end() {
    let mut w = World::forced(|_| {});
    for clean in [false, true, false, true] {
        let s = w.connect();
        let h = open(&s, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_OUTPUT);
        put(&s, h, MQPER_PERSISTENT, 0, b"kept");
        put(&s, h, MQPER_NOT_PERSISTENT, 0, b"lost");
        put(&s, h, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"in flight");
        drop(s);
        if clean {
            w.end(EndMode::Immediate);
        } else {
            w.kill();
        }
        w.start();
    }
    let s = w.connect();
    let h = open(&s, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_INPUT_SHARED);
    for _ in 0..4 {
        assert_eq!(&get(&s, h, 0).unwrap().1[..], b"kept");
    }
    assert_eq!(get(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

#[test]
fn a_waiting_get_is_given_the_message() {
    let w = World::forced(|_| {});
    let s = w.connect();
    let h = open(&s, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_OUTPUT);
    for (persistence, sync) in [
        (MQPER_NOT_PERSISTENT, 0),
        (MQPER_NOT_PERSISTENT, MQGMO_SYNCPOINT),
        (MQPER_PERSISTENT, 0),
        (MQPER_PERSISTENT, MQGMO_SYNCPOINT),
    ] {
        let getter = w.connect();
        let thread = std::thread::spawn(move || {
            let h = open(&getter, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_INPUT_SHARED);
            let mut gmo = Gmo {
                options: MQGMO_WAIT | sync,
                wait_interval: MQWI_UNLIMITED,
                ..Gmo::default()
            };
            let got = block_on(getter.get(h, &mut Md::default(), &mut gmo, 100)).unwrap();
            block_on(getter.commit()).unwrap();
            got.value.data
        });
        put(&s, h, persistence, 0, b"for you");
        assert_eq!(&thread.join().unwrap()[..], b"for you");
    }
    assert_eq!(
        w.qm()
            .queue_status("SYSTEM.DEFAULT.LOCAL.QUEUE")
            .unwrap()
            .depth,
        0
    );
}

#[test]
fn what_happened_is_counted() {
    let w = World::forced(|_| {});
    let s = w.connect();
    let h = open(
        &s,
        "SYSTEM.DEFAULT.LOCAL.QUEUE",
        MQOO_INPUT_SHARED | MQOO_OUTPUT,
    );
    let other = w.connect();
    let o = open(&other, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_INPUT_SHARED);
    let now = || Admin::alone(w.qm()).sums();
    let before = now();
    let since = |name: &str| {
        let sum = |counters: &[(&str, u64)]| {
            let found = counters.iter().find(|(known, _)| *known == name);
            found.unwrap_or_else(|| panic!("no counter {name}")).1
        };
        sum(&now()) - sum(&before)
    };
    // One that is queued and got, one that goes straight to a getter, one that is held for it.
    put(&s, h, MQPER_NOT_PERSISTENT, 0, b"12345");
    get(&s, h, 0).unwrap();
    let waiting = wait(&other, o, md(0), gmo(MQGMO_NO_SYNCPOINT));
    put(&s, h, MQPER_NOT_PERSISTENT, 0, b"123");
    waiting.finish().unwrap();
    let waiting = wait(&other, o, md(0), gmo(MQGMO_SYNCPOINT));
    put(&s, h, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"1");
    commit(&s);
    waiting.finish().unwrap();
    backout(&other);
    let expected = [
        ("engine.puts", 3),
        ("engine.put_bytes", 9),
        ("engine.gets", 3),
        ("engine.got_bytes", 9),
        ("engine.queued", 1),
        ("engine.avoided", 1),
        ("engine.handed_over", 1),
        ("engine.waits", 2),
        ("engine.commits", 1),
        ("engine.backouts", 1),
        ("engine.forced_alone", 0),
        // The commit, and the backout, whose count is hardened.
        ("log.forces", 2),
        ("log.writes", 2),
    ];
    let counted = expected.map(|(name, _)| (name, since(name)));
    assert_eq!(counted, expected);
    // Outside syncpoint each persistent put and each persistent get waits for the log by itself.
    put(&s, h, MQPER_PERSISTENT, 0, b"1");
    get(&s, h, 0).unwrap();
    get(&s, h, 0).unwrap();
    assert_eq!(since("engine.forced_alone"), 3);
    put(&s, h, MQPER_NOT_PERSISTENT, MQPMO_SYNCPOINT, b"1");
    commit(&s);
    assert_eq!((since("engine.forced_alone"), since("log.forces")), (3, 5));
    assert_eq!(since("log.physical_bytes") % 4096, 0);
    assert!(since("log.records") >= 2 && since("log.logical_bytes") > 0);
}

/// A name is kept whole or not at all: on disk its length is one byte.
#[test]
fn names_that_would_not_fit_are_refused() {
    let w = World::new();
    let long = |length: usize| "N".repeat(length);
    for name in [long(49), long(300), String::new(), "a b".to_owned()] {
        let config = EngineConfig {
            name: name.clone(),
            data: w.config.data.join("other"),
            log: w.config.log.join("other"),
            ..w.config.clone()
        };
        let options = CreateOptions::default();
        let made = QueueManager::create(&w.env, &config, &options, &mut |_, _| {});
        assert!(
            matches!(&made, Err(StartError::BadName(refused)) if *refused == name),
            "{made:?}"
        );
        assert!(!config.data.exists());
    }
    for (kind, longest) in [
        (ObjectKind::QLocal, 48),
        (ObjectKind::Listener, 48),
        (ObjectKind::SvrConn, 20),
    ] {
        for (length, ok) in [(longest, true), (longest + 1, false), (300, false)] {
            let define = Command::Define {
                kind,
                name: long(length),
                replace: false,
                like: None,
                attrs: Attrs::default(),
            };
            let reply = block_on(Admin::alone(w.qm()).execute(&define));
            assert_eq!(reply.ok, ok, "{kind} {length} {reply:?}");
        }
    }
}
