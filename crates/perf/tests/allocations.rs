//! Allocations of a put and of a get in process: counts that must not grow, on any machine.
//!
//! The engine runs in the calling thread, so what this thread allocates is what a put or a get allocates.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPER_NOT_PERSISTENT, MQPER_PERSISTENT,
    MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo};
use posthaste_perf::measure::{QUEUE_MANAGER, Shape};
use posthaste_server::{DataDir, InProcess, InProcessOptions};

const COUNT: u64 = 500;

/// Allocations per call of `work`, after it has been done as often without counting.
fn counted(mut work: impl FnMut()) -> f64 {
    for _ in 0..COUNT {
        work();
    }
    let info = allocation_counter::measure(|| {
        for _ in 0..COUNT {
            work();
        }
    });
    info.count_total as f64 / COUNT as f64
}

fn put(connection: &mut dyn Mqi, queue: Hobj, persistence: i32, data: &[u8]) {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    connection.put(queue, &mut md, &mut pmo, data).unwrap();
}

fn get(connection: &mut dyn Mqi, queue: Hobj) {
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT,
        ..Gmo::default()
    };
    let got = connection.get(queue, &mut Md::default(), &mut gmo, 2048);
    assert_eq!(got.unwrap().value.length, 2048);
}

#[test]
fn a_put_and_a_get_allocate_no_more_than_their_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape {
        file_pages: 1_024,
        primary: 3,
        secondary: 2,
        queue_pairs: 1,
        ..Shape::default()
    };
    shape.create(folder.path(), &mut |_, _| {}).unwrap();
    let manager = InProcess::open(
        &DataDir::at(folder.path()),
        QUEUE_MANAGER,
        &InProcessOptions::default(),
    );
    let manager = manager.unwrap();
    let mut connection: Box<dyn Mqi> = Box::new(manager.connect("counting").unwrap());
    let mut od = Od {
        object_name: Name::new("REQUEST1"),
        ..Od::default()
    };
    let options = MQOO_OUTPUT | MQOO_INPUT_SHARED;
    let queue = connection.open_object(&mut od, options).unwrap().value;
    let data = vec![b'x'; 2048];
    // A queue file or a checkpoint may add a little now and then. On a fast disk this thread, being alone, writes the
    // log itself: one allocation for each of the two writes.
    for (persistence, budget) in [(MQPER_NOT_PERSISTENT, 5.5), (MQPER_PERSISTENT, 7.5)] {
        let pair = counted(|| {
            put(connection.as_mut(), queue, persistence, &data);
            get(connection.as_mut(), queue);
        });
        assert!(
            pair <= budget,
            "persistence {persistence}: {pair} allocations for a put and a get, and at most {budget}"
        );
    }
    connection.disconnect().unwrap();
}
