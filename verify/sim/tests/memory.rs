//! Nothing of a queue manager is left when it is gone, however it went.
//!
//! The operator is what the queue manager holds for as long as anything of it lives: whoever still keeps a
//! part of it keeps the operator too.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Name, Od, Pmo};
use posthaste_sim::{Machine, Plan};

/// A queue manager in the middle of its work: a unit of work is open, a getter waits, a commit is on its way.
fn at_work(seed: u64) -> Machine {
    let mut m = Machine::new(&Plan::of(seed)).unwrap();
    m.start().unwrap();
    m.mqsc("DEFINE QLOCAL(Q) MAXDEPTH(1000000) TRIGGER TRIGTYPE(FIRST) INITQ(INIT) PROCESS(P)");
    m.mqsc("DEFINE QLOCAL(INIT)");
    for app in 0..3 {
        let session = m.connect("app");
        m.world.executor().spawn("app", works(session, app));
    }
    m.world.executor().run_for(50_000_000);
    m
}

async fn works(session: Session, app: u32) {
    let mut od = Od {
        object_name: Name::new("Q"),
        ..Od::default()
    };
    let options = MQOO_INPUT_SHARED | MQOO_OUTPUT;
    let queue = session.open(&mut od, options).await.unwrap().value;
    for n in 0..50 {
        let mut md = Md {
            persistence: n % 2,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: MQPMO_SYNCPOINT,
            ..Pmo::default()
        };
        let data = Bytes::from(vec![0; 3000]);
        session.put(queue, &mut md, &mut pmo, data).await.unwrap();
        if app == 0 && n % 10 == 9 {
            session.commit().await.unwrap();
        }
    }
    let wait = match app {
        0 => return session.commit().await.map_or((), drop),
        1 => MQGMO_NO_SYNCPOINT,
        _ => MQGMO_SYNCPOINT,
    };
    let mut gmo = Gmo {
        options: wait | MQGMO_WAIT,
        wait_interval: MQWI_UNLIMITED,
        ..Gmo::default()
    };
    let mut md = Md::default();
    while session.get(queue, &mut md, &mut gmo, 4096).await.is_ok() {}
}

/// Whoever holds the operator beside the machine itself.
fn holders(m: &Machine) -> usize {
    Arc::strong_count(&m.operator) - 1
}

#[test]
fn a_queue_manager_that_is_gone_leaves_nothing_in_memory() {
    type End = fn(&mut Machine);
    let ends: [(&str, End); 3] = [
        ("crash", |m| drop(m.crash())),
        ("kill", |m| drop(m.kill())),
        ("end", |m| assert!(m.end().unwrap())),
    ];
    for (name, end) in ends {
        for seed in 1..=3 {
            let mut m = at_work(seed);
            assert!(holders(&m) > 0, "{name}: nothing runs");
            end(&mut m);
            assert_eq!(holders(&m), 0, "{name}, seed {seed}");
        }
    }
}

#[test]
fn a_world_that_is_given_up_takes_its_tasks_along() {
    let m = at_work(4);
    let operator = m.operator.clone();
    drop(m);
    assert_eq!(Arc::strong_count(&operator), 1);
}
