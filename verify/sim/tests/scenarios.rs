//! Cases too rare to wait for a seed to find them, told in a few words each.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env_sim::{Area, Fault, Rng, yield_now};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_sim::{Machine, Plan};

/// A queue manager with a queue Q, running.
fn machine(seed: u64) -> Machine {
    let plan = Plan {
        file_pages: 64,
        buffer: 16 * 1024,
        write_nanos: (30_000, 30_000),
        ..Plan::of(seed)
    };
    let mut m = Machine::new(&plan).unwrap();
    m.start().unwrap();
    m.mqsc("DEFINE QLOCAL(Q) MAXDEPTH(1000000)");
    m
}

/// Runs a call to its end.
fn run<T: 'static>(m: &Machine, call: impl Future<Output = T> + 'static) -> T {
    m.world.executor().block_on(call).unwrap()
}

struct App {
    session: Session,
    queue: Hobj,
}

fn app(m: &Machine) -> App {
    let session = m.connect("app");
    let s = session.clone();
    let queue = run(m, async move {
        let mut od = Od {
            object_name: Name::new("Q"),
            ..Od::default()
        };
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_INQUIRE;
        s.open(&mut od, options).await.unwrap().value
    });
    App { session, queue }
}

fn try_put(m: &Machine, a: &App, data: &[u8], options: i32) -> Result<(), Reason> {
    let (s, h, data) = (a.session.clone(), a.queue, Bytes::copy_from_slice(data));
    run(m, async move {
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options,
            ..Pmo::default()
        };
        s.put(h, &mut md, &mut pmo, data).await.map(|_| ())
    })
}

fn put(m: &Machine, a: &App, data: &[u8]) {
    try_put(m, a, data, MQPMO_NO_SYNCPOINT).unwrap();
}

fn get(m: &Machine, a: &App) -> Result<Bytes, Reason> {
    let (s, h) = (a.session.clone(), a.queue);
    run(m, async move {
        let (mut md, mut gmo) = (Md::default(), Gmo::default());
        s.get(h, &mut md, &mut gmo, 1 << 20)
            .await
            .map(|done| done.value.data)
    })
}

fn commit(m: &Machine, a: &App) -> Result<(), Reason> {
    let s = a.session.clone();
    run(m, async move { s.commit().await.map(|_| ()) })
}

fn files(m: &Machine, folder: &str) -> Vec<PathBuf> {
    let names = m.env().disk.list(Path::new(folder)).unwrap();
    names.iter().map(|n| Path::new(folder).join(n)).collect()
}

/// Power fails while the commit's log write is under way: the unit of work is whole or gone.
#[test]
fn a_commit_under_way_when_the_power_fails_is_all_or_nothing() {
    let (mut whole, mut gone) = (0, 0);
    for seed in 0..60 {
        let mut m = machine(seed);
        let a = app(&m);
        for n in 0..5u8 {
            try_put(&m, &a, &[n; 3000], MQPMO_SYNCPOINT).unwrap();
        }
        let s = a.session.clone();
        m.world
            .executor()
            .spawn("commit", async move { s.commit().await.is_ok() });
        m.world.executor().run_for(20_000);
        drop(a);
        m.crash();
        m.start().unwrap();
        let a = app(&m);
        let mut left = 0;
        while get(&m, &a).is_ok() {
            left += 1;
        }
        match left {
            0 => gone += 1,
            5 => whole += 1,
            other => panic!("seed {seed}: {other} of 5 messages"),
        }
    }
    assert!(whole > 0 && gone > 0, "whole {whole}, gone {gone}");
}

/// A bit flips in the middle of the log: the start is refused, and says where.
#[test]
fn a_damaged_log_page_is_refused_with_its_lsn() {
    let mut m = machine(1);
    let a = app(&m);
    for n in 0..20u8 {
        put(&m, &a, &[n; 2000]);
    }
    drop(a);
    m.crash();
    let log = files(&m, "/qm/log/active").remove(0);
    m.world.disk().rot_at(&log, 5 * 4096 + 100, 1).unwrap();
    let error = m.start().unwrap_err().to_string();
    assert!(error.contains("LSN"), "{error}");
}

/// A bit flips in the checkpoint image: the start is refused.
#[test]
fn a_damaged_image_is_refused() {
    let mut m = machine(2);
    m.end().unwrap();
    let images: Vec<_> = files(&m, "/qm/data")
        .into_iter()
        .filter(|f| f.to_string_lossy().contains("checkpoint-"))
        .collect();
    let mut rng = Rng::new(3);
    for image in images {
        m.world.disk().rot(&image, &mut rng).unwrap();
    }
    let error = m.start().unwrap_err().to_string();
    assert!(
        error.contains("checkpoint") || error.contains("image"),
        "{error}"
    );
}

/// A bit flips in a queue file: the message is not delivered wrong, and the queue manager stops.
#[test]
fn a_damaged_queue_file_never_delivers_wrong_data() {
    let mut m = machine(3);
    let a = app(&m);
    for n in 0..40u8 {
        put(&m, &a, &[n; 2000]);
    }
    drop(a);
    m.end().unwrap();
    let file = files(&m, "/qm/data/queues")
        .into_iter()
        .find(|f| f.file_name().unwrap().to_string_lossy().starts_with("Q."))
        .unwrap();
    let content = m.world.disk().content(&file).unwrap();
    let at = content.windows(64).position(|w| w == [7; 64]).unwrap();
    m.world.disk().rot_at(&file, at as u64 + 10, 4).unwrap();
    m.start().unwrap();
    let a = app(&m);
    for n in 0..7u8 {
        assert_eq!(&get(&m, &a).unwrap()[..], [n; 2000]);
    }
    assert_eq!(get(&m, &a).unwrap_err(), Reason::OBJECT_DAMAGED);
    assert!(m.operator.has_message("AMQ7472E"));
    assert!(m.qm().stopped().is_none());
}

/// A log write fails: the queue manager stops; what it had acknowledged is there afterwards.
#[test]
fn a_failed_log_write_stops_the_queue_manager_and_loses_nothing() {
    let mut m = machine(4);
    let a = app(&m);
    put(&m, &a, b"acknowledged");
    m.world
        .disk()
        .order(Fault::WriteError, Area::Under("/qm/log".into()), 0);
    let failed = try_put(&m, &a, b"not acknowledged", 0).unwrap_err();
    assert_eq!(failed, Reason::CONNECTION_BROKEN);
    assert!(m.operator.has_message("AMQ2004S"));
    assert_eq!(m.qm().stopped().unwrap().exit_code(), 71);
    drop(a);
    m.crash();
    m.start().unwrap();
    let a = app(&m);
    assert_eq!(&get(&m, &a).unwrap()[..], b"acknowledged");
}

/// The log stops, and before anybody has noticed, a unit of work is backed out: the application is not told
/// that a backout count is hardened which the restart does not know.
#[test]
fn a_backout_after_the_log_has_stopped_is_not_reported_done() {
    let mut refused = 0;
    for seed in 0..20 {
        let mut m = machine(seed);
        m.mqsc("ALTER QLOCAL(Q) HARDENBO");
        let (a, b) = (app(&m), app(&m));
        put(&m, &a, b"counted");
        let (s, h) = (b.session.clone(), b.queue);
        run(&m, async move {
            let (mut md, mut gmo) = (Md::default(), Gmo::default());
            gmo.options = MQGMO_SYNCPOINT;
            s.get(h, &mut md, &mut gmo, 100).await.unwrap();
        });
        let log = Area::Under("/qm/log".into());
        m.world.disk().order(Fault::WriteError, log, 0);
        let (s, h) = (a.session.clone(), a.queue);
        m.world.executor().spawn("put", async move {
            let mut md = Md {
                persistence: MQPER_PERSISTENT,
                ..Md::default()
            };
            s.put(h, &mut md, &mut Pmo::default(), Bytes::new()).await
        });
        let (s, log) = (b.session.clone(), m.qm().log().clone());
        let backed_out = run(&m, async move {
            while log.stopped().is_none() {
                yield_now().await;
            }
            s.backout().await
        });
        drop((a, b));
        m.crash();
        m.start().unwrap();
        let count = backout_count(&m);
        match backed_out {
            Ok(_) => assert_eq!(count, 1, "seed {seed}"),
            Err(reason) => {
                assert_eq!(reason, Reason::CONNECTION_BROKEN, "seed {seed}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "the log never stopped first");
}

/// Gets the only message of Q; its backout count.
fn backout_count(m: &Machine) -> i32 {
    let a = app(m);
    run(m, async move {
        let (mut md, mut gmo) = (Md::default(), Gmo::default());
        let (s, h) = (a.session, a.queue);
        s.get(h, &mut md, &mut gmo, 100).await.unwrap();
        md.backout_count
    })
}

/// A unit of work stays open while others fill the log: it is backed out, they go on.
#[test]
fn a_long_unit_of_work_is_backed_out_and_everyone_else_goes_on() {
    let m = machine(5);
    let hoarder = app(&m);
    try_put(&m, &hoarder, b"held", MQPMO_SYNCPOINT).unwrap();
    let other = app(&m);
    for n in 0..2000u32 {
        put(&m, &other, &[n as u8; 3000]);
        assert_eq!(&get(&m, &other).unwrap()[..4], [n as u8; 4]);
    }
    assert!(m.operator.has_message("AMQ7469W"));
    let again = try_put(&m, &hoarder, b"more", MQPMO_SYNCPOINT).unwrap_err();
    assert_eq!(again, Reason::BACKED_OUT);
    assert_eq!(commit(&m, &hoarder).unwrap_err(), Reason::BACKED_OUT);
    try_put(&m, &hoarder, b"new", MQPMO_SYNCPOINT).unwrap();
    commit(&m, &hoarder).unwrap();
    assert_eq!(&get(&m, &other).unwrap()[..], b"new");
    assert_eq!(get(&m, &other).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

/// The disk is full: puts fail with a reason, nothing acknowledged is lost, and when there is space
/// again the queue manager goes on by itself.
#[test]
fn a_full_disk_refuses_puts_and_loses_nothing() {
    let mut m = machine(6);
    let a = app(&m);
    m.world.disk().set_free(Some(256 * 1024));
    let mut accepted = 0u32;
    let refused = loop {
        match try_put(&m, &a, &accepted.to_le_bytes().repeat(700), 0) {
            Ok(()) => accepted += 1,
            Err(reason) => break reason,
        }
        assert!(accepted < 5000, "never refused");
    };
    let known = [Reason::RESOURCE_PROBLEM, Reason::Q_SPACE_NOT_AVAILABLE];
    assert!(known.contains(&refused), "{refused}");
    m.world.disk().set_free(None);
    // Until it is noticed that there is room, and the reserve for checkpoints is whole again, puts get 2056.
    m.world.executor().run_for(3_000_000_000);
    put(&m, &a, &accepted.to_le_bytes().repeat(700));
    accepted += 1;
    drop(a);
    m.crash();
    m.start().unwrap();
    let a = app(&m);
    for n in 0..accepted {
        assert_eq!(&get(&m, &a).unwrap()[..4], n.to_le_bytes());
    }
    assert_eq!(get(&m, &a).unwrap_err(), Reason::NO_MSG_AVAILABLE);
}

/// Somebody sets the clock back an hour: what expires expires all the same, and nothing is lost.
#[test]
fn a_clock_going_backwards_changes_nothing() {
    let m = machine(7);
    let a = app(&m);
    let (s, h) = (a.session.clone(), a.queue);
    run(&m, async move {
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            expiry: 10,
            ..Md::default()
        };
        let (mut pmo, data) = (Pmo::default(), Bytes::from_static(b"short-lived"));
        s.put(h, &mut md, &mut pmo, data).await.unwrap();
    });
    put(&m, &a, b"stays");
    m.world.clock().step_wall(-3_600_000_000);
    m.world.executor().run_for(1_500_000_000);
    put(&m, &a, b"later");
    assert_eq!(&get(&m, &a).unwrap()[..], b"stays");
    assert_eq!(&get(&m, &a).unwrap()[..], b"later");
    assert_eq!(get(&m, &a).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    m.world.executor().run_for(600_000_000_000);
    assert!(m.operator.has_message("AMQ2012W"));
}

/// A second process on the same folders is refused.
#[test]
fn a_second_process_is_refused() {
    let mut m = machine(8);
    let error = m.start().unwrap_err();
    assert_eq!(error.exit_code(), 77, "{error}");
}

/// After a clean end, each file in turn cannot be opened, each read in turn fails: the start is refused, and the next
/// one finds everything as it was, messages included that survive only a clean end.
#[test]
fn a_start_that_is_refused_for_a_file_changes_nothing() {
    let mut refused = 0;
    for (fault, at) in [Fault::OpenError, Fault::ReadError]
        .into_iter()
        .flat_map(|fault| (0..16).map(move |at| (fault, at)))
    {
        let mut m = machine(10 + at);
        m.mqsc("ALTER QLOCAL(Q) NPMCLASS(HIGH)");
        let a = app(&m);
        put(&m, &a, b"persistent");
        let (s, h) = (a.session.clone(), a.queue);
        run(&m, async move {
            let (mut md, mut pmo) = (Md::default(), Pmo::default());
            let data = Bytes::from_static(b"survives a clean end");
            s.put(h, &mut md, &mut pmo, data).await.unwrap();
        });
        drop(a);
        assert!(m.end().unwrap());
        m.world.disk().order(fault, Area::Any, at);
        let started = m.start().is_ok();
        m.world.disk().clear_faults();
        if !started {
            refused += 1;
            m.kill();
            m.start().unwrap();
        }
        if started && m.world.disk().struck().len() == 1 {
            // A queue whose file could not be read is damaged, and said to be.
            assert!(m.operator.has_message("AMQ7472E"), "{fault:?} {at}");
            continue;
        }
        let a = app(&m);
        assert_eq!(&get(&m, &a).unwrap()[..], b"persistent", "{fault:?} {at}");
        let kept = get(&m, &a).unwrap_or_else(|reason| panic!("{fault:?} {at}: {reason}"));
        assert_eq!(&kept[..], b"survives a clean end");
    }
    assert!(refused > 10, "refused {refused} times");
}
