//! What is counted has been done, and a start that cannot come to its end is given up.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect};
use posthaste_mqi::Reason;
use posthaste_perf::drive::{start, start_unless};
use posthaste_perf::measure::{Interrupt, LabError};
use posthaste_perf::workload::{Carriers, Destinations, Module, Syncpoint, Target, Workload};
use posthaste_server::EndMode;

use crate::rig::*;

#[test]
fn asynchronous_puts_that_nobody_could_ask_after_are_not_counted() {
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let mut rig = Rig::new();
        let anybody = Target::Client(Connect {
            queue_manager: String::new(),
            ..rig.connect()
        });
        // Slow enough that MQSTAT is not called before the queue manager has ended.
        let sends = Workload {
            asynchronous: true,
            rate: 1_000.0,
            ..workload(Module::Sender, carriers)
        };
        let running = start(&sends, &anybody).unwrap();
        until("work", || running.iterations() >= 100);
        let qm = Arc::into_inner(rig.qm.take().unwrap()).unwrap();
        qm.end(EndMode::Preemptive).unwrap();
        assert!(running.wait(LONG));
        let outcome = running.stop();
        assert!(outcome.partial && outcome.failed == 1);
        assert_eq!((outcome.iterations, outcome.window), (0, 0));
        // Who answered is known, though nobody was asked for.
        let LabError::Call { object, .. } = &outcome.failures[0] else {
            panic!("{:?}", outcome.failures);
        };
        assert!(["QM1", "DEST"].contains(&object.as_str()), "{object}");
    }
}

#[test]
fn what_is_taken_back_makes_no_window_negative() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let too_many = Workload {
            asynchronous: true,
            rate: 1_000.0,
            destinations: Destinations::one("SMALL"),
            ..workload(Module::Sender, carriers)
        };
        let running = start(&too_many, &rig.client()).unwrap();
        until("work", || running.iterations() >= 50);
        let (before, _) = running.begin_window();
        assert!(before >= 50);
        let outcome = running.stop();
        assert_eq!((outcome.iterations, outcome.window), (10, 0));
        rig.clear("SMALL");
    }
}

#[test]
fn what_was_not_committed_has_no_latency() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        // Ten fit: the second unit of work is never committed.
        let sends = Workload {
            syncpoint: Syncpoint::BOTH,
            batch: 7,
            destinations: Destinations::one("SMALL"),
            ..workload(Module::Sender, carriers)
        };
        let running = start(&sends, &rig.client()).unwrap();
        assert!(running.wait(LONG));
        let outcome = running.stop();
        assert_eq!((outcome.iterations, outcome.latency.len()), (7, 7));
        rig.clear("SMALL");
    }
}

#[test]
fn a_message_longer_than_the_channel_allows_has_one_reason() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        // What is a little too long the queue manager refuses; it breaks the connection of what is much too long.
        for message_bytes in [4_194_305, 5_000_000, 33_554_432] {
            for (asynchronous, put1) in [(false, false), (true, false), (false, true)] {
                let long = Workload {
                    message_bytes,
                    asynchronous,
                    put1,
                    ..workload(Module::Sender, carriers)
                };
                let running = start(&long, &rig.client()).unwrap();
                assert!(running.wait(LONG));
                let outcome = running.stop();
                let LabError::Call { reason, .. } = &outcome.failures[0] else {
                    panic!("{:?}", outcome.failures);
                };
                assert_eq!(*reason, Reason::DATA_LENGTH_ERROR, "{:?}", outcome.failures);
                assert_eq!(outcome.iterations, 0);
            }
        }
    }
}

/// Takes connections, and says nothing.
fn silent() -> (TcpListener, Target) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
    };
    let connect = Connect::new(address, "DEV.APP.SVRCONN", "QM1");
    (listener, Target::Client(connect))
}

#[test]
fn a_start_that_is_not_answered_is_given_up_in_time() {
    let (_listener, target) = silent();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let impatient = Workload {
            applications: 2,
            start_within: Duration::from_millis(100),
            ..workload(Module::Sender, carriers)
        };
        let began = Instant::now();
        let error = start(&impatient, &target).err().unwrap();
        let within = impatient.start_within;
        assert_eq!(
            error,
            LabError::StartTimedOut {
                ready: 0,
                applications: 2,
                within
            }
        );
        assert!(error.to_string().contains("after 0.1 s"), "{error}");
        // Connecting itself would take 20 s to be given up.
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_start_is_given_up_when_the_user_says_so() {
    let (_listener, target) = silent();
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let interrupt = Interrupt::none();
        interrupt.raise();
        // One by one they would take an hour.
        let slow = Workload {
            applications: 60,
            start_interval: Duration::from_secs(60),
            ..workload(Module::Sender, carriers)
        };
        for target in [&target, &rig.client()] {
            let started = start_unless(std::slice::from_ref(&slow), target, &interrupt);
            assert!(started.unwrap().is_none());
        }
    }
}
