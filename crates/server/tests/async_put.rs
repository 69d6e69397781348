//! Asynchronous puts, over TCP, over the local socket and in process: what is told at once, what MQSTAT tells, and
//! that nothing is held back or lost without a word.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use posthaste_client::{Address, Connect, Connection};
use posthaste_mqi::constants::*;
use posthaste_mqi::{CompCode, Gmo, Hobj, Md, Mqi, Name, Od, Pmo, Reason, Sts, Verb};
use posthaste_server::{
    Creation, DataDir, EndMode, InProcess, InProcessOptions, create, developer_objects, end,
};

/// A queue manager with a queue that is full at ten, twice, and one that is asynchronous by itself.
struct World {
    qm: InProcess,
    data: DataDir,
    _folder: tempfile::TempDir,
}

#[derive(Clone, Copy, Debug)]
enum Binding {
    Tcp,
    Socket,
    InProcess,
}

const BINDINGS: [Binding; 3] = [Binding::Tcp, Binding::Socket, Binding::InProcess];
const SHORT: &str = "SHORT";
const SWIFT: &str = "SWIFT";
const ROOMY: &str = "DEV.QUEUE.1";
/// A transmission queue for one persistent message.
const ELSEWHERE: &str = "ELSEWHERE";

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let mut commands = developer_objects();
        commands.push(format!("DEFINE QLOCAL({SHORT}) MAXDEPTH(10)"));
        commands.push(format!(
            "DEFINE QLOCAL({SWIFT}) MAXDEPTH(10) DEFPRESP(ASYNC)"
        ));
        commands.push(format!("DEFINE QALIAS(PATIENT) TARGET({SWIFT})"));
        commands.push("DEFINE LISTENER(LATER) TRPTYPE(TCP) IPADDR('127.0.0.1')".to_owned());
        commands.push(format!(
            "DEFINE QLOCAL({ELSEWHERE}) USAGE(XMITQ) MAXDEPTH(1) DEFPSIST(YES)"
        ));
        let creation = Creation {
            commands,
            ..qm1::creation()
        };
        create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap();
        let options = InProcessOptions {
            listen: true,
            port: Some(0),
            host: Some("127.0.0.1".to_owned()),
            ..InProcessOptions::default()
        };
        World {
            qm: InProcess::open(&data, "QM1", &options).unwrap(),
            data,
            _folder: folder,
        }
    }

    fn connect(&self, binding: Binding) -> Box<dyn Mqi> {
        let address = match binding {
            Binding::InProcess => return Box::new(self.qm.connect("test").unwrap()),
            Binding::Tcp => Address::Tcp {
                host: "127.0.0.1".to_owned(),
                port: self.qm.listening()[0].address.port(),
            },
            Binding::Socket => {
                let home = posthaste_server::find(&self.data, Some("QM1")).unwrap();
                Address::Unix(home.applications())
            }
        };
        let mut connect = Connect::new(address, "DEV.APP.SVRCONN", "QM1");
        connect.application = "test".to_owned();
        Box::new(Connection::open(&connect).unwrap())
    }

    fn mqsc(&self, command: &str) {
        let reply = self.qm.command(command);
        assert!(reply.ok, "{command}: {reply:?}");
    }

    /// Takes everything off a queue, waiting for `wanted` messages and for none beyond them.
    fn drain(&self, queue: &str, wanted: usize) -> Vec<Vec<u8>> {
        let mut reader = self.connect(Binding::InProcess);
        let queue = open(&mut *reader, queue, MQOO_INPUT_SHARED);
        let mut all = Vec::new();
        loop {
            let mut gmo = Gmo {
                options: MQGMO_NO_SYNCPOINT,
                ..Gmo::default()
            };
            if all.len() < wanted {
                gmo.options |= MQGMO_WAIT;
                gmo.wait_interval = 60_000;
            }
            match reader.get(queue, &mut Md::default(), &mut gmo, 1 << 20) {
                Ok(got) => all.push(got.value.data.to_vec()),
                Err(error) => {
                    assert_eq!(error, Reason::NO_MSG_AVAILABLE);
                    return all;
                }
            }
        }
    }
}

fn open(connection: &mut dyn Mqi, queue: &str, options: i32) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    connection.open_object(&mut od, options).unwrap().value
}

const OUT: i32 = MQPMO_NO_SYNCPOINT;
const ASYNCHRONOUS: i32 = MQPMO_ASYNC_RESPONSE | OUT;

fn put(
    connection: &mut dyn Mqi,
    queue: Hobj,
    options: i32,
    persistence: i32,
    data: &[u8],
) -> Verb<()> {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options,
        ..Pmo::default()
    };
    connection.put(queue, &mut md, &mut pmo, data)
}

fn counts(sts: &Sts) -> (i32, i32, i32) {
    (
        sts.put_success_count,
        sts.put_warning_count,
        sts.put_failure_count,
    )
}

const PLAIN: i32 = MQPER_NOT_PERSISTENT;

#[test]
fn what_succeeds_is_counted_and_comes_in_order() {
    let world = World::new();
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
        for number in 0..3_000_u32 {
            let sync = match number % 1_000 {
                // Now and then one that is waited for, in the same order.
                999 => OUT | MQPMO_SYNC_RESPONSE,
                _ => ASYNCHRONOUS,
            };
            put(&mut *one, queue, sync, PLAIN, &number.to_be_bytes()).unwrap();
        }
        let sts = one.stat().unwrap().value;
        assert_eq!(counts(&sts), (2_997, 0, 0), "{binding:?}");
        assert_eq!((sts.comp_code, sts.reason), (CompCode::Ok as i32, 0));
        let again = one.stat().unwrap().value;
        assert_eq!(counts(&again), (0, 0, 0), "asking resets, {binding:?}");
        let expected: Vec<_> = (0..3_000_u32).map(|n| n.to_be_bytes().to_vec()).collect();
        assert_eq!(world.drain(ROOMY, 3_000), expected, "{binding:?}");
    }
}

#[test]
fn identifiers_come_back_and_resolved_names_do_not() {
    let world = World::new();
    let mut one = world.connect(Binding::Tcp);
    let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
    let mut md = Md::default();
    let mut pmo = Pmo {
        options: ASYNCHRONOUS | MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID,
        ..Pmo::default()
    };
    one.put(queue, &mut md, &mut pmo, b"first").unwrap();
    assert_eq!(
        pmo.options,
        ASYNCHRONOUS | MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID
    );
    assert!(pmo.resolved_q_name.is_blank());
    assert_eq!(md.put_appl_name.text(), "test");
    let first = md.clone();
    one.put(queue, &mut md, &mut pmo, b"second").unwrap();
    assert_ne!(md.msg_id, first.msg_id);
    let own = Md {
        msg_id: [9; 24],
        ..Md::default()
    };
    pmo.options = ASYNCHRONOUS;
    let mut sent = own.clone();
    one.put(queue, &mut sent, &mut pmo, b"third").unwrap();
    assert_eq!(sent.msg_id, own.msg_id);

    let queue = open(&mut *one, ROOMY, MQOO_INPUT_SHARED);
    for (wanted, data) in [(first, "first"), (md, "second"), (sent, "third")] {
        let mut found = Md {
            msg_id: wanted.msg_id,
            ..Md::default()
        };
        let mut gmo = Gmo {
            version: MQGMO_VERSION_2,
            options: MQGMO_NO_SYNCPOINT,
            match_options: MQMO_MATCH_MSG_ID,
            ..Gmo::default()
        };
        let got = one.get(queue, &mut found, &mut gmo, 100).unwrap();
        assert_eq!(got.value.data, data.as_bytes());
        assert_eq!(found.correl_id, wanted.correl_id);
        assert_eq!(found.put_appl_name, wanted.put_appl_name);
        assert_eq!(found.put_appl_type, wanted.put_appl_type);
    }
}

#[test]
fn failures_are_told_by_mqstat_with_the_queue() {
    let world = World::new();
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, SHORT, MQOO_OUTPUT);
        for _ in 0..25 {
            put(&mut *one, queue, ASYNCHRONOUS, PLAIN, b"x").unwrap();
        }
        let mut od = Od {
            object_name: Name::new("NOT.THERE"),
            ..Od::default()
        };
        let mut pmo = Pmo {
            options: ASYNCHRONOUS,
            ..Pmo::default()
        };
        one.put1(&mut od, &mut Md::default(), &mut pmo, b"x")
            .unwrap();
        let sts = one.stat().unwrap().value;
        assert_eq!(counts(&sts), (10, 0, 16), "{binding:?}");
        assert_eq!(sts.comp_code, CompCode::Failed as i32);
        assert_eq!(sts.reason, Reason::Q_FULL.0, "the first, {binding:?}");
        assert_eq!(sts.object_name, Name::new(SHORT));
        assert_eq!(sts.object_type, MQOT_Q);
        assert_eq!(world.drain(SHORT, 10).len(), 10);

        one.put1(&mut od, &mut Md::default(), &mut pmo, b"x")
            .unwrap();
        od.object_name = Name::new(SHORT);
        one.put1(&mut od, &mut Md::default(), &mut pmo, b"by put1")
            .unwrap();
        let sts = one.stat().unwrap().value;
        assert_eq!(counts(&sts), (1, 0, 1), "{binding:?}");
        assert_eq!(sts.reason, Reason::UNKNOWN_OBJECT_NAME.0);
        assert_eq!(sts.object_name, Name::new("NOT.THERE"), "{binding:?}");
        assert_eq!(world.drain(SHORT, 1), [b"by put1".to_vec()]);
    }
}

#[test]
fn warnings_are_counted_apart() {
    let world = World::new();
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
        let mut md = Md {
            priority: 12,
            ..Md::default()
        };
        let mut pmo = Pmo {
            options: ASYNCHRONOUS,
            ..Pmo::default()
        };
        one.put(queue, &mut md, &mut pmo, b"x").unwrap();
        let sts = one.stat().unwrap().value;
        assert_eq!(counts(&sts), (0, 1, 0), "{binding:?}");
        let status = (sts.comp_code, sts.reason);
        let expected = Reason::PRIORITY_EXCEEDS_MAXIMUM.0;
        assert_eq!(status, (CompCode::Warning as i32, expected));
        world.drain(ROOMY, 1);
    }
}

#[test]
fn the_queue_decides_where_the_application_does_not() {
    let world = World::new();
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, SWIFT, MQOO_OUTPUT);
        for _ in 0..12 {
            put(&mut *one, queue, OUT, PLAIN, b"x").unwrap();
        }
        let refused = put(&mut *one, queue, OUT | MQPMO_SYNC_RESPONSE, PLAIN, b"x").unwrap_err();
        assert_eq!(refused, Reason::Q_FULL, "{binding:?}");
        // The definition that was opened counts, not the one behind it.
        let alias = open(&mut *one, "PATIENT", MQOO_OUTPUT);
        let refused = put(&mut *one, alias, OUT, PLAIN, b"x").unwrap_err();
        assert_eq!(refused, Reason::Q_FULL, "{binding:?}");
        assert_eq!(
            counts(&one.stat().unwrap().value),
            (10, 0, 2),
            "{binding:?}"
        );
        let both = OUT | MQPMO_SYNC_RESPONSE | MQPMO_ASYNC_RESPONSE;
        let refused = put(&mut *one, queue, both, PLAIN, b"x").unwrap_err();
        assert_eq!(refused, Reason::OPTIONS_ERROR, "{binding:?}");
        world.drain(SWIFT, 10);
    }
}

#[test]
fn a_unit_of_work_that_misses_a_persistent_message_is_backed_out() {
    let world = World::new();
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, SHORT, MQOO_OUTPUT);
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, MQPER_PERSISTENT, b"x").unwrap();
        }
        let refused = one.commit().unwrap_err();
        assert_eq!(refused, Reason::BACKED_OUT, "{binding:?}");
        let sts = one.stat().unwrap().value;
        assert_eq!(
            (sts.put_failure_count, sts.reason),
            (1, Reason::Q_FULL.0),
            "{binding:?}"
        );
        assert!(world.drain(SHORT, 0).is_empty(), "{binding:?}");
        // The next unit of work is a new one.
        put(&mut *one, queue, asynchronous, MQPER_PERSISTENT, b"kept").unwrap();
        one.commit().unwrap();
        assert_eq!(world.drain(SHORT, 1), [b"kept".to_vec()]);
        // Of messages that may be lost anyway, those that were put are committed.
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, PLAIN, b"x").unwrap();
        }
        one.commit().unwrap();
        assert_eq!(world.drain(SHORT, 10).len(), 10, "{binding:?}");
        // An application that backs out itself may begin again; one that leaves is told.
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, MQPER_PERSISTENT, b"x").unwrap();
        }
        one.backout().unwrap();
        one.commit().unwrap();
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, MQPER_PERSISTENT, b"x").unwrap();
        }
        let result = one.disconnect().unwrap().warning;
        assert_eq!(result, Reason::BACKED_OUT, "{binding:?}");
        assert!(world.drain(SHORT, 0).is_empty(), "{binding:?}");
    }
}

/// Puts one message to another queue manager, whose transmission queue is named as it is.
fn put1_elsewhere(connection: &mut dyn Mqi, queue: &str, options: i32) {
    let mut od = Od {
        object_name: Name::new(queue),
        object_q_mgr_name: Name::new(ELSEWHERE),
        ..Od::default()
    };
    let mut pmo = Pmo {
        options,
        ..Pmo::default()
    };
    let mut md = Md {
        persistence: MQPER_PERSISTENCE_AS_Q_DEF,
        ..Md::default()
    };
    connection.put1(&mut od, &mut md, &mut pmo, b"x").unwrap();
}

#[test]
fn a_message_is_persistent_as_the_queue_it_went_to_says() {
    let world = World::new();
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    let as_queue = MQPER_PERSISTENCE_AS_Q_DEF;
    let doomed = |one: &mut dyn Mqi, case: &str| {
        let refused = one.commit().unwrap_err();
        assert_eq!(refused, Reason::BACKED_OUT, "{case}");
    };
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        // The transmission queue decides, not a local queue that happens to have the name.
        for queue in ["NOWHERE", SHORT] {
            for _ in 0..2 {
                put1_elsewhere(&mut *one, queue, asynchronous);
            }
            doomed(&mut *one, &format!("{binding:?}, MQPUT1 to {queue}"));
        }
        let mut od = Od {
            object_name: Name::new(SHORT),
            object_q_mgr_name: Name::new(ELSEWHERE),
            ..Od::default()
        };
        let there = one.open_object(&mut od, MQOO_OUTPUT).unwrap().value;
        for _ in 0..2 {
            put(&mut *one, there, asynchronous, as_queue, b"x").unwrap();
        }
        doomed(&mut *one, &format!("{binding:?}, MQPUT"));
        // A queue's own definition counts when the message is put, not when the queue was opened.
        let queue = open(&mut *one, SHORT, MQOO_OUTPUT);
        world.mqsc(&format!("ALTER QLOCAL({SHORT}) DEFPSIST(YES)"));
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, as_queue, b"x").unwrap();
        }
        doomed(&mut *one, &format!("{binding:?}, altered"));
        world.mqsc(&format!("ALTER QLOCAL({SHORT}) DEFPSIST(NO)"));
        for _ in 0..11 {
            put(&mut *one, queue, asynchronous, as_queue, b"x").unwrap();
        }
        one.commit().unwrap();
        assert_eq!(world.drain(SHORT, 10).len(), 10, "{binding:?}");
        // Where there is no queue nobody can say.
        let mut od = Od {
            object_name: Name::new("NOWHERE"),
            ..Od::default()
        };
        let mut pmo = Pmo {
            options: asynchronous,
            ..Pmo::default()
        };
        let put1 = one.put1(&mut od, &mut Md::default(), &mut pmo, b"x");
        put1.unwrap();
        doomed(&mut *one, &format!("{binding:?}, no queue"));
    }
}

#[test]
fn what_a_library_can_know_is_told_at_once_by_every_binding() {
    let world = World::new();
    for binding in BINDINGS {
        let mut one = world.connect(binding);
        let refused = put(&mut *one, Hobj(77), ASYNCHRONOUS, PLAIN, b"x").unwrap_err();
        assert_eq!(refused, Reason::HOBJ_ERROR, "{binding:?}");
        assert_eq!(counts(&one.stat().unwrap().value), (0, 0, 0), "{binding:?}");
        let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
        for options in [ASYNCHRONOUS, OUT] {
            let mut pmo = Pmo {
                version: 2,
                options,
                recs_present: 3,
                ..Pmo::default()
            };
            let put = one.put(queue, &mut Md::default(), &mut pmo, b"x");
            let result = put.err();
            let expected = match (binding, options) {
                // Nothing is checked before it is counted.
                (Binding::InProcess, ASYNCHRONOUS) => None,
                _ => Some(Reason::RECS_PRESENT_ERROR),
            };
            assert_eq!(result, expected, "{binding:?}");
        }
        one.commit().unwrap();
    }
}

#[test]
fn a_put_while_the_queue_manager_quiesces_is_counted() {
    for binding in BINDINGS {
        let world = World::new();
        let mut one = world.connect(binding);
        let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
        let reading = open(&mut *one, ROOMY, MQOO_INPUT_SHARED);
        let home = posthaste_server::find(&world.data, Some("QM1")).unwrap();
        let mut ending = end(&home, EndMode::Controlled).unwrap();
        let mut until = Gmo {
            options: MQGMO_WAIT | MQGMO_NO_SYNCPOINT | MQGMO_FAIL_IF_QUIESCING,
            wait_interval: 60_000,
            ..Gmo::default()
        };
        let quiesces = one.get(reading, &mut Md::default(), &mut until, 1_000);
        let reason = quiesces.unwrap_err();
        assert!(
            [Reason::Q_MGR_QUIESCING, Reason::CONNECTION_QUIESCING].contains(&reason),
            "{reason:?}"
        );
        // Nobody starts to listen once it ends.
        let started = world.qm.command("START LISTENER(LATER)");
        assert!(format!("{started:?}").contains("AMQ8146E"), "{started:?}");
        assert!(world.qm.listening().is_empty());
        let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE | MQPMO_FAIL_IF_QUIESCING;
        put(&mut *one, queue, asynchronous, MQPER_PERSISTENT, b"x").unwrap();
        let sts = one.stat().unwrap().value;
        assert_eq!(
            (counts(&sts), sts.reason),
            ((0, 0, 1), Reason::Q_MGR_QUIESCING.0),
            "{binding:?}"
        );
        let refused = one.commit().unwrap_err();
        assert_eq!(refused, Reason::BACKED_OUT, "{binding:?}");
        drop(one);
        ending.wait(None).unwrap();
    }
}

#[test]
fn who_stops_after_a_few_puts_is_not_held_back() {
    let world = World::new();
    for binding in [Binding::Tcp, Binding::Socket] {
        let mut one = world.connect(binding);
        let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
        for burst in [1, 2, 7, 100] {
            for _ in 0..burst {
                put(&mut *one, queue, ASYNCHRONOUS, PLAIN, &[0; 500]).unwrap();
            }
            // The producer makes no further call, and yet they come.
            assert_eq!(world.drain(ROOMY, burst).len(), burst, "{binding:?}");
        }
    }
}

#[test]
fn a_connection_that_is_dropped_delivers_what_it_holds() {
    let world = World::new();
    for binding in [Binding::Tcp, Binding::Socket] {
        for count in [1, 2, 500] {
            let mut one = world.connect(binding);
            let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
            for _ in 0..count {
                put(&mut *one, queue, ASYNCHRONOUS, PLAIN, &[0; 3_000]).unwrap();
            }
            drop(one);
            assert_eq!(world.drain(ROOMY, count).len(), count, "{binding:?}");
        }
    }
}

#[test]
fn messages_longer_than_a_segment_go_too() {
    let world = World::new();
    let mut one = world.connect(Binding::Tcp);
    let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
    let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
    for _ in 0..3 {
        put(&mut *one, queue, ASYNCHRONOUS, PLAIN, b"short").unwrap();
        put(&mut *one, queue, ASYNCHRONOUS, PLAIN, &long).unwrap();
    }
    let too_long = vec![0; 104_857_601];
    let refused = put(&mut *one, queue, ASYNCHRONOUS, PLAIN, &too_long).unwrap_err();
    assert_eq!(refused, Reason::DATA_LENGTH_ERROR);
    let refused = put(&mut *one, Hobj(77), ASYNCHRONOUS, PLAIN, b"x").unwrap_err();
    assert_eq!(refused, Reason::HOBJ_ERROR);
    assert_eq!(counts(&one.stat().unwrap().value), (6, 0, 0));
}

#[test]
fn a_queue_manager_that_goes_is_reported() {
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        for binding in BINDINGS {
            let world = World::new();
            let mut one = world.connect(binding);
            let queue = open(&mut *one, ROOMY, MQOO_OUTPUT);
            let (begun, running) = std::sync::mpsc::channel();
            let putting = std::thread::spawn(move || {
                let mut sent = 0_u32;
                loop {
                    if let Err(error) = put(&mut *one, queue, ASYNCHRONOUS, PLAIN, &[0; 2_048]) {
                        return (one, error);
                    }
                    sent += 1;
                    if sent == 1_000 {
                        begun.send(()).unwrap();
                    }
                    if sent.is_multiple_of(500) {
                        // So that the queue does not grow without end: asking also resets.
                        if let Err(error) = one.stat() {
                            return (one, error);
                        }
                    }
                }
            });
            running.recv().unwrap();
            world.qm.end(how).unwrap();
            let (mut one, reason) = putting.join().unwrap();
            let gone = [
                Reason::CONNECTION_BROKEN,
                Reason::Q_MGR_STOPPING,
                Reason::Q_MGR_QUIESCING,
                Reason::CONNECTION_QUIESCING,
                Reason::CONNECTION_STOPPING,
            ];
            assert!(gone.contains(&reason), "{binding:?} {reason}");
            let stat = one.stat().unwrap_err();
            assert_eq!(stat, Reason::CONNECTION_BROKEN, "{binding:?}");
            let next = put(&mut *one, queue, ASYNCHRONOUS, PLAIN, b"x").unwrap_err();
            assert_eq!(next, Reason::CONNECTION_BROKEN, "{binding:?}");
        }
    }
}
