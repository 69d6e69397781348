//! Both carriers against a queue manager with a listener: every module, exact counts, empty queues, and
//! what happens when something is wrong.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod counts;
mod rig;

use std::sync::Arc;
use std::time::Duration;

use posthaste_client::{Address, Connect, Connection};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQGMO_WAIT, MQOO_INPUT_SHARED, MQOO_OUTPUT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Chars, Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_perf::drive::start;
use posthaste_perf::measure::LabError;
use posthaste_perf::workload::{Carriers, Destinations, Module, Syncpoint, Target, Text, Workload};
use posthaste_server::EndMode;

use crate::rig::*;

#[test]
fn requesters_and_responders_leave_nothing_behind() {
    let rig = Rig::new();
    let ways = [
        (rig.client(), Carriers::Threads),
        (rig.client(), TWO_LOOPS),
        (rig.inside(), Carriers::Threads),
    ];
    for (target, carriers) in ways {
        for (persistence, syncpoint, batch) in [
            (None, Syncpoint::NONE, 1),
            (Some(true), Syncpoint::BOTH, 1),
            (Some(false), Syncpoint::BOTH, 7),
        ] {
            let requesters = Workload {
                applications: 4,
                iterations: Some(100),
                persistence,
                syncpoint,
                ..workload(Module::Requester, carriers)
            };
            // A batch of replies is committed when no further request comes.
            let responders = Workload {
                applications: 3,
                persistence,
                syncpoint,
                batch,
                ..workload(Module::Responder, carriers)
            };
            let quick = match batch {
                1 => requesters,
                _ => Workload {
                    iterations: Some(2),
                    ..requesters
                },
            };
            let asked = quick.iterations.unwrap();
            let (requests, replies) = exchange(&target, quick, responders);
            assert_eq!(requests.each, [asked; 4]);
            assert_eq!(requests.iterations, 4 * asked);
            assert_eq!(requests.latency.len(), 4 * asked);
            assert_eq!(replies.iterations, 4 * asked);
            rig.assert_empty();
        }
    }
}

#[test]
fn several_requests_of_an_application_are_under_way() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        for by_correlation_id in [true, false] {
            let requesters = Workload {
                applications: 3,
                iterations: Some(50),
                queue_depth: 5,
                by_correlation_id,
                // A queue each, where replies are not told apart.
                ..workload(Module::Requester, carriers)
            };
            let responders = Workload {
                applications: 3,
                ..workload(Module::Responder, carriers)
            };
            let (requests, replies) = exchange(&rig.client(), requesters, responders);
            assert_eq!(requests.each, [50; 3]);
            // Four more are under way when each has its fifty.
            assert_eq!(replies.iterations, 3 * 54);
            rig.assert_empty();
        }
    }
}

#[test]
fn put1_and_replies_of_its_own_work() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let requesters = Workload {
            iterations: Some(20),
            put1: true,
            text: Text::Random,
            ..workload(Module::Requester, carriers)
        };
        let responders = Workload {
            put1: true,
            copy_request: false,
            message_bytes: 10,
            ..workload(Module::Responder, carriers)
        };
        let (requests, replies) = exchange(&rig.client(), requesters, responders);
        assert_eq!((requests.iterations, replies.iterations), (20, 20));
        rig.assert_empty();
    }
}

#[test]
fn long_messages_and_small_buffers_work() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let [requesters, responders] =
            [Module::Requester, Module::Responder].map(|module| Workload {
                message_bytes: 200_000,
                buffer_bytes: 100,
                iterations: (module == Module::Requester).then_some(10),
                applications: 2,
                ..workload(module, carriers)
            });
        let (requests, _) = exchange(&rig.client(), requesters, responders);
        assert_eq!(requests.iterations, 20);
        rig.assert_empty();
    }
}

fn opened(connection: &mut Connection, queue: &str, options: i32) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    connection.open_object(&mut od, options).unwrap().value
}

/// Puts a request of our own and gives the reply to it.
fn ask(connection: &mut Connection, queues: [Hobj; 2], data: &[u8]) -> (Md, Vec<u8>) {
    let mut md = Md {
        reply_to_q: Name::new("REPLY1"),
        format: Chars::new("MQSTR"),
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    connection.put(queues[0], &mut md, &mut pmo, data).unwrap();
    let mut reply = Md {
        correl_id: md.msg_id,
        ..Md::default()
    };
    let mut gmo = Gmo {
        options: MQGMO_WAIT | MQGMO_NO_SYNCPOINT,
        wait_interval: 30_000,
        ..Gmo::default()
    };
    let got = connection
        .get(queues[1], &mut reply, &mut gmo, 1_000_000)
        .unwrap();
    (reply, got.value.data.to_vec())
}

#[test]
fn a_reply_is_the_request_again_whatever_its_length() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let responders = Workload {
            get_wait: None,
            ..workload(Module::Responder, carriers)
        };
        let running = start(&responders, &rig.client()).unwrap();
        let mut connection = Connection::open(&rig.connect()).unwrap();
        let queues = [
            opened(&mut connection, "REQUEST1", MQOO_OUTPUT),
            opened(&mut connection, "REPLY1", MQOO_INPUT_SHARED),
        ];
        let lengths = [3, 2048, 2048, 0, 32_000, 33_000, 300_000, 300_000, 5];
        for (number, length) in (0u8..).zip(lengths) {
            let data: Vec<u8> = (0..length)
                .map(|at: usize| (at / 7) as u8 ^ number)
                .collect();
            let (md, reply) = ask(&mut connection, queues, &data);
            assert!(reply == data, "{length} bytes, {carriers:?}");
            assert_eq!(md.format, Chars::new("MQSTR"));
        }
        connection.disconnect().unwrap();
        let outcome = running.stop();
        assert_eq!(outcome.failures, []);
        assert_eq!(outcome.iterations, 9);
    }
}

#[test]
fn what_is_sent_is_there_and_is_received() {
    let rig = Rig::new();
    for (carriers, target) in [
        (Carriers::Threads, rig.client()),
        (TWO_LOOPS, rig.client()),
        (Carriers::Threads, rig.inside()),
    ] {
        for (syncpoint, batch) in [(Syncpoint::NONE, 1), (Syncpoint::BOTH, 8)] {
            let sends = Workload {
                applications: 2,
                iterations: Some(51),
                syncpoint,
                batch,
                ..workload(Module::Sender, carriers)
            };
            let sent = finished(start(&sends, &target).unwrap());
            assert_eq!(sent.each, [51; 2]);
            assert_eq!(rig.depth("DEST"), "102");
            let receives = Workload {
                applications: 3,
                iterations: Some(34),
                ..Workload {
                    module: Module::Receiver,
                    ..sends
                }
            };
            let received = finished(start(&receives, &target).unwrap());
            assert_eq!(received.each, [34; 3]);
            rig.assert_empty();
        }
    }
}

#[test]
fn asynchronous_puts_are_all_there_or_not_counted() {
    let rig = Rig::new();
    for (carriers, target) in [
        (Carriers::Threads, rig.client()),
        (TWO_LOOPS, rig.client()),
        (Carriers::Threads, rig.inside()),
    ] {
        for (syncpoint, batch) in [(Syncpoint::NONE, 1), (Syncpoint::BOTH, 10)] {
            let sends = Workload {
                applications: 2,
                iterations: Some(1_005),
                asynchronous: true,
                syncpoint,
                batch,
                ..workload(Module::Sender, carriers)
            };
            let sent = finished(start(&sends, &target).unwrap());
            assert_eq!(sent.each, [1_005; 2]);
            assert_eq!(rig.depth("DEST"), "2010");
            rig.clear("DEST");
        }
        // Ten of them fit.
        let too_many = Workload {
            iterations: Some(100),
            asynchronous: true,
            destinations: Destinations::one("SMALL"),
            ..workload(Module::Sender, carriers)
        };
        let running = start(&too_many, &target).unwrap();
        assert!(running.wait(LONG));
        let outcome = running.stop();
        assert_eq!(
            outcome.iterations, 10,
            "{carriers:?} {:?}",
            outcome.failures
        );
        assert!(outcome.partial);
        let error = outcome.failures[0].to_string();
        assert!(
            error.contains("2053") && error.contains("90 asynchronous"),
            "{error}"
        );
        rig.clear("SMALL");
    }
}

#[test]
fn an_application_gets_what_it_has_put() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        for syncpoint in [Syncpoint::NONE, Syncpoint::BOTH] {
            let both = Workload {
                applications: 3,
                iterations: Some(40),
                syncpoint,
                ..workload(Module::PutGet, carriers)
            };
            let outcome = finished(start(&both, &rig.client()).unwrap());
            assert_eq!(outcome.each, [40; 3]);
            rig.assert_empty();
        }
    }
}

#[test]
fn a_rate_does_not_change_the_counts() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let rated = Workload {
            applications: 2,
            iterations: Some(20),
            rate: 1000.0,
            ramp: Duration::from_millis(5),
            ..workload(Module::PutGet, carriers)
        };
        let outcome = finished(start(&rated, &rig.client()).unwrap());
        assert_eq!(outcome.each, [20; 2]);
        assert_eq!(outcome.latency.len(), 40);
    }
}

#[test]
fn windows_and_the_end_are_in_order() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let endless = Workload {
            applications: 3,
            ..workload(Module::PutGet, carriers)
        };
        let running = start(&endless, &rig.client()).unwrap();
        until("work", || running.iterations() >= 100);
        running.begin_window();
        let before = running.iterations();
        until("work", || running.iterations() >= before + 100);
        let window = running.end_window();
        assert!(window.iterations >= 100 && window.seconds > 0.0);
        assert!(window.latency.len() <= running.iterations());
        assert_eq!(running.at_work(), 3);
        let outcome = running.stop();
        assert_eq!(outcome.failures, []);
        assert!(!outcome.partial);
        assert_eq!(outcome.each.iter().sum::<u64>(), outcome.iterations);
        rig.assert_empty();
    }
}

fn refused(workload: &Workload, target: &Target) -> LabError {
    match start(workload, target) {
        Ok(_) => panic!("started"),
        Err(error) => error,
    }
}

#[test]
fn what_is_not_there_is_named() {
    let rig = Rig::new();
    let nobody = Target::Client(Connect {
        address: Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port: 1,
        },
        ..rig.connect()
    });
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let mut no_queue = workload(Module::Sender, carriers);
        no_queue.destinations = Destinations::one("NOT.THERE");
        no_queue.applications = 3;
        let error = refused(&no_queue, &rig.client()).to_string();
        assert!(
            error.contains("NOT.THERE") && error.contains("2085"),
            "{error}"
        );
        let error = refused(&no_queue, &nobody).to_string();
        assert!(error.contains("QM1") && error.contains("2538"), "{error}");
        assert!(error.contains("127.0.0.1(1)"), "{error}");
    }
    let inside = refused(&workload(Module::Sender, TWO_LOOPS), &rig.inside());
    assert!(matches!(inside, LabError::BadInput(_)), "{inside}");
}

#[test]
fn an_application_that_fails_ends_alone_and_says_why() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let sends = Workload {
            iterations: Some(100),
            destinations: Destinations::one("SMALL"),
            ..workload(Module::Sender, carriers)
        };
        let running = start(&sends, &rig.client()).unwrap();
        assert!(running.wait(LONG));
        let outcome = running.stop();
        assert!(outcome.partial);
        let LabError::Call {
            call,
            object,
            reason,
            ..
        } = &outcome.failures[0]
        else {
            panic!("{:?}", outcome.failures);
        };
        assert_eq!((*call, object.as_str()), ("MQPUT", "SMALL"));
        assert_eq!(outcome.iterations, 10);
        assert_eq!(*reason, Reason::Q_FULL);
        assert_eq!(rig.depth("SMALL"), "10");
        rig.clear("SMALL");
    }
}

#[test]
fn a_reply_that_never_comes_is_a_failure_and_the_rest_goes_on() {
    let rig = Rig::new();
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let requesters = Workload {
            iterations: Some(1),
            get_wait: Some(Duration::from_millis(10)),
            ..workload(Module::Requester, carriers)
        };
        let running = start(&requesters, &rig.client()).unwrap();
        until("a failure", || running.failure().is_some());
        let outcome = running.stop();
        assert!(outcome.failures[0].to_string().contains("REPLY1"));
        assert_eq!(outcome.iterations, 0);
        rig.clear("REQUEST1");
    }
}

#[test]
fn a_queue_manager_that_ends_leaves_partial_results() {
    for carriers in [Carriers::Threads, TWO_LOOPS] {
        let mut rig = Rig::new();
        let endless = Workload {
            applications: 3,
            ..workload(Module::PutGet, carriers)
        };
        let running = start(&endless, &rig.client()).unwrap();
        until("work", || running.iterations() >= 100);
        let qm = Arc::into_inner(rig.qm.take().unwrap()).unwrap();
        qm.end(EndMode::Preemptive).unwrap();
        assert!(running.wait(LONG));
        let outcome = running.stop();
        assert!(outcome.partial);
        assert!(outcome.iterations >= 100);
        assert_eq!(outcome.failed, 3, "{:?}", outcome.failures);
    }
}
