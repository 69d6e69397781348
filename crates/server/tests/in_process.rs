//! A queue manager inside the test's own process: every verb, several threads, others over TCP at the same time,
//! and who may have its files.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::sync::mpsc;

use posthaste_client::{Address, Connect, Connection};
use posthaste_env::{Env, Slowness};
use posthaste_env_sim::{Area, Fault, SimWorld};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Mqi, Name, Od, Pmo, Reason, Sd, Sro, Verb};
use posthaste_server::{
    Console, DataDir, EndMode, Exit, InProcess, InProcessOptions, LocalConnection, RunOptions,
    create, end, run, state,
};
use qm1::creation;

const QUEUE: &str = "DEV.QUEUE.1";

/// A new queue manager QM1 in a folder of its own.
fn created() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    create(&posthaste_env::os(), &data, &creation(), &mut |_, _| {}).unwrap();
    (folder, data)
}

fn opened(data: &DataDir) -> InProcess {
    InProcess::open(data, "QM1", &InProcessOptions::default()).unwrap()
}

/// Listening on a free port of the loopback address.
fn listening(data: &DataDir) -> (InProcess, u16) {
    let options = InProcessOptions {
        listen: true,
        port: Some(0),
        host: Some("127.0.0.1".to_owned()),
        ..InProcessOptions::default()
    };
    let qm = InProcess::open(data, "QM1", &options).unwrap();
    let port = qm.listening()[0].address.port();
    (qm, port)
}

fn over_tcp(port: u16) -> Connection {
    let host = "127.0.0.1".to_owned();
    let address = Address::Tcp { host, port };
    Connection::open(&Connect::new(address, "DEV.APP.SVRCONN", "QM1")).unwrap()
}

fn open(connection: &mut dyn Mqi, queue: &str, options: i32) -> Hobj {
    let mut od = Od {
        object_name: Name::new(queue),
        ..Od::default()
    };
    connection.open_object(&mut od, options).unwrap().value
}

const BOTH: i32 = MQOO_OUTPUT | MQOO_INPUT_SHARED;

fn connected(qm: &InProcess) -> (LocalConnection, Hobj) {
    let mut connection = qm.connect("test").unwrap();
    let queue = open(&mut connection, QUEUE, BOTH);
    (connection, queue)
}

fn put(connection: &mut dyn Mqi, queue: Hobj, options: i32, data: &[u8]) -> Verb<()> {
    put_as(connection, queue, options, MQPER_NOT_PERSISTENT, data)
}

fn put_as(
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

fn get(connection: &mut dyn Mqi, queue: Hobj, options: i32, wait: i32) -> Result<Vec<u8>, Reason> {
    let mut gmo = Gmo {
        options,
        wait_interval: wait,
        ..Gmo::default()
    };
    let got = connection.get(queue, &mut Md::default(), &mut gmo, 1 << 20);
    got.map(|got| got.value.data.to_vec())
}

const NOW: i32 = MQGMO_NO_SYNCPOINT;
const PUT: i32 = MQPMO_NO_SYNCPOINT;

#[test]
fn messages_go_in_and_out_in_and_out_of_syncpoint() {
    let (_folder, data) = created();
    let qm = opened(&data);
    assert_eq!(qm.name(), "QM1");
    let (mut one, queue) = connected(&qm);
    assert_eq!(one.queue_manager(), "QM1");
    let mut md = Md::default();
    let mut pmo = Pmo {
        options: PUT | MQPMO_NEW_MSG_ID,
        ..Pmo::default()
    };
    one.put(queue, &mut md, &mut pmo, b"plain").unwrap();
    assert_ne!(md.msg_id, [0; 24]);
    assert_eq!(pmo.resolved_q_name, Name::new(QUEUE));
    assert_eq!(get(&mut one, queue, NOW, 0), Ok(b"plain".to_vec()));

    put(&mut one, queue, MQPMO_SYNCPOINT, b"taken back").unwrap();
    one.backout().unwrap();
    assert_eq!(get(&mut one, queue, NOW, 0), Err(Reason::NO_MSG_AVAILABLE));
    put(&mut one, queue, MQPMO_SYNCPOINT, b"kept").unwrap();
    let (mut two, same) = connected(&qm);
    assert_eq!(get(&mut two, same, NOW, 0), Err(Reason::NO_MSG_AVAILABLE));
    one.commit().unwrap();
    assert_eq!(
        get(&mut two, same, MQGMO_SYNCPOINT, 0),
        Ok(b"kept".to_vec())
    );
    two.backout().unwrap();
    assert_eq!(
        get(&mut two, same, MQGMO_SYNCPOINT, 0),
        Ok(b"kept".to_vec())
    );
    // Leaving in order commits, being dropped backs out.
    Box::new(two).disconnect().unwrap();
    assert_eq!(get(&mut one, queue, NOW, 0), Err(Reason::NO_MSG_AVAILABLE));
    put(&mut one, queue, MQPMO_SYNCPOINT, b"never").unwrap();
    drop(one);
    let (mut three, queue) = connected(&qm);
    assert_eq!(
        get(&mut three, queue, NOW, 0),
        Err(Reason::NO_MSG_AVAILABLE)
    );
    Box::new(three).disconnect().unwrap();
    qm.end(EndMode::Controlled).unwrap();
}

#[test]
fn the_other_verbs_and_errors_are_those_of_the_interface() {
    let (_folder, data) = created();
    let qm = opened(&data);
    let mut one = qm.connect("test").unwrap();
    let both = MQOO_INQUIRE | MQOO_SET | MQOO_INPUT_SHARED;
    let queue = open(&mut one, QUEUE, both);
    let depth = [MQIA_CURRENT_Q_DEPTH, MQCA_Q_NAME];
    let mut od = Od {
        object_name: Name::new(QUEUE),
        ..Od::default()
    };
    let mut pmo = Pmo {
        options: PUT,
        ..Pmo::default()
    };
    one.put1(&mut od, &mut Md::default(), &mut pmo, b"by put1")
        .unwrap();
    let found = one.inquire(queue, &depth, 48).unwrap().value;
    assert_eq!(found.ints, [1]);
    assert_eq!(found.chars.len(), 48);
    assert_eq!(one.inquire(queue, &depth, 5).unwrap().value.chars, b"DEV.Q");
    one.set(queue, &[MQIA_INHIBIT_GET], &[MQQA_GET_INHIBITED], &[])
        .unwrap();
    assert_eq!(get(&mut one, queue, NOW, 0), Err(Reason::GET_INHIBITED));
    one.set(queue, &[MQIA_INHIBIT_GET], &[MQQA_GET_ALLOWED], &[])
        .unwrap();
    let mut gmo = Gmo {
        options: NOW | MQGMO_ACCEPT_TRUNCATED_MSG,
        ..Gmo::default()
    };
    let got = one.get(queue, &mut Md::default(), &mut gmo, 2).unwrap();
    assert_eq!((&got.value.data[..], got.value.length), (&b"by"[..], 7));
    assert_eq!(got.warning, Reason::TRUNCATED_MSG_ACCEPTED);
    let refused = put(&mut one, queue, PUT, b"x").unwrap_err();
    assert_eq!(refused, Reason::NOT_OPEN_FOR_OUTPUT);
    one.close(queue, MQCO_NONE).unwrap();
    let refused = one.close(queue, MQCO_NONE).unwrap_err();
    assert_eq!(refused, Reason::HOBJ_ERROR);
    let mut unknown = Od {
        object_name: Name::new("NO.SUCH.QUEUE"),
        ..Od::default()
    };
    let refused = one.open_object(&mut unknown, MQOO_OUTPUT).unwrap_err();
    assert_eq!(refused, Reason::UNKNOWN_OBJECT_NAME);
    let reply = qm.command("DEFINE QLOCAL(MADE.HERE)");
    assert!(reply.ok, "{reply:?}");
    open(&mut one, "MADE.HERE", MQOO_OUTPUT);
    assert!(!qm.command("DEFINE NONSENSE(X)").ok);
}

fn whole_group() -> Gmo {
    Gmo {
        version: MQGMO_VERSION_2,
        options: NOW | MQGMO_ALL_MSGS_AVAILABLE | MQGMO_LOGICAL_ORDER,
        ..Gmo::default()
    }
}

fn version_2() -> Md {
    Md {
        version: MQMD_VERSION_2,
        ..Md::default()
    }
}

#[test]
fn groups_are_put_and_got_whole() {
    let (_folder, data) = created();
    let qm = opened(&data);
    let (mut one, queue) = connected(&qm);
    for (flags, text) in [
        (MQMF_MSG_IN_GROUP, "first"),
        (MQMF_LAST_MSG_IN_GROUP, "last"),
    ] {
        let mut md = Md {
            msg_flags: flags,
            ..version_2()
        };
        let mut pmo = Pmo {
            options: PUT | MQPMO_LOGICAL_ORDER,
            ..Pmo::default()
        };
        // Only the whole group can be got.
        let mut gmo = whole_group();
        let early = one.get(queue, &mut version_2(), &mut gmo, 100);
        assert_eq!(early.unwrap_err(), Reason::NO_MSG_AVAILABLE);
        one.put(queue, &mut md, &mut pmo, text.as_bytes()).unwrap();
    }
    for text in ["first", "last"] {
        let mut gmo = whole_group();
        let mut md = version_2();
        let got = one.get(queue, &mut md, &mut gmo, 100).unwrap();
        assert_eq!(got.value.data, text.as_bytes());
        assert_eq!(gmo.group_status == MQGS_LAST_MSG_IN_GROUP, text == "last");
    }
}

#[test]
fn a_get_waits_for_its_time_and_for_the_put_of_another_thread() {
    let (_folder, data) = created();
    let qm = opened(&data);
    let (mut one, queue) = connected(&qm);
    let waiting = NOW | MQGMO_WAIT;
    assert_eq!(
        get(&mut one, queue, waiting, 20),
        Err(Reason::NO_MSG_AVAILABLE)
    );
    let rounds = 200;
    let (mut two, requests) = connected(&qm);
    let replies = open(&mut two, "DEV.QUEUE.2", BOTH);
    let answering = std::thread::spawn(move || {
        for _ in 0..rounds {
            let request = get(&mut two, requests, waiting, MQWI_UNLIMITED).unwrap();
            put(&mut two, replies, PUT, &request).unwrap();
        }
        Box::new(two).disconnect().unwrap();
    });
    let answers = open(&mut one, "DEV.QUEUE.2", MQOO_INPUT_SHARED);
    for round in 0..rounds {
        let text = format!("round {round}").into_bytes();
        put(&mut one, queue, PUT, &text).unwrap();
        assert_eq!(get(&mut one, answers, waiting, MQWI_UNLIMITED), Ok(text));
    }
    answering.join().unwrap();
    Box::new(one).disconnect().unwrap();
    qm.end(EndMode::Controlled).unwrap();
}

#[test]
fn persistent_messages_outlive_the_queue_manager() {
    let (_folder, data) = created();
    for round in 0..3_u8 {
        let qm = opened(&data);
        let (mut one, queue) = connected(&qm);
        for before in 0..round {
            assert_eq!(get(&mut one, queue, NOW, 0), Ok(vec![before]));
        }
        assert_eq!(get(&mut one, queue, NOW, 0), Err(Reason::NO_MSG_AVAILABLE));
        for number in 0..=round {
            put_as(&mut one, queue, PUT, MQPER_PERSISTENT, &[number]).unwrap();
        }
        put(&mut one, queue, PUT, b"gone with the restart").unwrap();
        match round {
            // Dropped while a connection is there.
            0 => drop(qm),
            1 => qm.end(EndMode::Immediate).unwrap(),
            _ => qm.end(EndMode::Preemptive).unwrap(),
        }
        let broken = put(&mut one, queue, PUT, b"x").unwrap_err();
        assert_eq!(broken, Reason::CONNECTION_BROKEN);
        assert_eq!(one.stat().unwrap_err(), Reason::CONNECTION_BROKEN);
    }
}

/// Once it has been recovered, a start that fails ends what it has begun: the process lives on.
#[test]
fn a_start_that_fails_lets_the_files_go() {
    let (_folder, data) = created();
    opened(&data).end(EndMode::Controlled).unwrap();
    let home = posthaste_server::find(&data, Some("QM1")).unwrap();
    let ended = home.folder.join("ended");
    std::fs::remove_file(&ended).unwrap();
    std::fs::create_dir(&ended).unwrap();
    let failure = InProcess::open(&data, "QM1", &InProcessOptions::default()).unwrap_err();
    assert_eq!((failure.exit, failure.id), (Exit::Unusable, "AMQ2008E"));
    std::fs::remove_dir(&ended).unwrap();
    opened(&data).end(EndMode::Controlled).unwrap();
}

#[test]
fn one_at_a_time_has_the_files() {
    let (_folder, data) = created();
    let home = posthaste_server::find(&data, Some("QM1")).unwrap();
    let env = posthaste_env::os();
    let run_options = RunOptions {
        data: data.clone(),
        home: home.clone(),
        port: None,
        host: None,
        no_listeners: false,
        console: Console::Silent,
        slowness: Slowness::default(),
        plain_log: false,
    };
    let in_use = (Exit::InUse, "AMQ2007E");

    let qm = opened(&data);
    assert_eq!(state(&env, &home).word(), "Running");
    let again = InProcess::open(&data, "QM1", &InProcessOptions::default()).unwrap_err();
    assert_eq!((again.exit, again.id), in_use);
    let served = run(&env, &run_options, |_| {}).unwrap_err();
    assert_eq!((served.exit, served.id), in_use);
    let (mut one, queue) = connected(&qm);
    put(&mut one, queue, PUT, b"undisturbed").unwrap();
    drop(one);
    qm.end(EndMode::Controlled).unwrap();
    assert_eq!(state(&env, &home).word(), "Ended normally");

    let (sender, receiver) = mpsc::channel();
    let running = std::thread::spawn(move || {
        run(&posthaste_env::os(), &run_options, |_| {
            sender.send(()).unwrap();
        })
    });
    receiver.recv().unwrap();
    let again = InProcess::open(&data, "QM1", &InProcessOptions::default()).unwrap_err();
    assert_eq!((again.exit, again.id), in_use);
    end(&home, EndMode::Immediate).unwrap().wait(None).unwrap();
    running.join().unwrap().unwrap();
    opened(&data).end(EndMode::Immediate).unwrap();
}

#[test]
fn what_cannot_be_opened_says_why() {
    let (_folder, data) = created();
    let plain = InProcessOptions::default();
    let unknown = InProcess::open(&data, "QM2", &plain).unwrap_err();
    assert_eq!((unknown.exit, unknown.id), (Exit::NotFound, "AMQ8118E"));
    let deaf = InProcessOptions {
        port: Some(1414),
        ..InProcessOptions::default()
    };
    let refused = InProcess::open(&data, "QM1", &deaf).unwrap_err();
    assert_eq!(refused.exit, Exit::BadParameter);
    // A port that is taken keeps nobody from working, and nothing stays behind.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = InProcessOptions {
        listen: true,
        port: Some(taken.local_addr().unwrap().port()),
        host: Some("127.0.0.1".to_owned()),
        ..InProcessOptions::default()
    };
    let qm = InProcess::open(&data, "QM1", &options).unwrap();
    assert_eq!(qm.listening(), []);
    connected(&qm);
    qm.end(EndMode::Immediate).unwrap();
    opened(&data).end(EndMode::Immediate).unwrap();
}

#[test]
fn others_are_served_over_tcp_at_the_same_time() {
    let (_folder, data) = created();
    let (qm, port) = listening(&data);
    let (mut inside, queue) = connected(&qm);
    let mut outside = over_tcp(port);
    let same = open(&mut outside, QUEUE, BOTH);
    // Nobody listens between calls, so the server must not expect answers to heartbeats then.
    let shown = qm.command("DISPLAY CHSTATUS(*) MAXSHCNV");
    let (_, _, row) = &shown.rows[0];
    assert_eq!(row.shown("MAXSHCNV"), Some("0".to_owned()));
    put(&mut inside, queue, PUT, b"from inside").unwrap();
    assert_eq!(get(&mut outside, same, NOW, 0), Ok(b"from inside".to_vec()));
    put(&mut outside, same, PUT, b"from outside").unwrap();
    assert_eq!(
        get(&mut inside, queue, NOW, 0),
        Ok(b"from outside".to_vec())
    );
    // Each waits for the other, many times.
    let waiting = NOW | MQGMO_WAIT;
    let far = std::thread::spawn(move || {
        let back = open(&mut outside, "DEV.QUEUE.2", MQOO_OUTPUT);
        for _ in 0..50 {
            let text = get(&mut outside, same, waiting, MQWI_UNLIMITED).unwrap();
            put(&mut outside, back, PUT, &text).unwrap();
        }
        outside
    });
    let back = open(&mut inside, "DEV.QUEUE.2", MQOO_INPUT_SHARED);
    for round in 0..50_u8 {
        put(&mut inside, queue, PUT, &[round]).unwrap();
        let answer = get(&mut inside, back, waiting, MQWI_UNLIMITED);
        assert_eq!(answer, Ok(vec![round]));
    }
    let mut outside = far.join().unwrap();
    qm.end(EndMode::Immediate).unwrap();
    assert!(put(&mut outside, same, PUT, b"x").is_err());
}

/// What is published by one binding, and what is retained, as another one's subscriber gets it.
fn subscribe_and_get(subscriber: &mut dyn Mqi, publisher: &mut dyn Mqi) {
    let mut sd = Sd {
        options: MQSO_CREATE | MQSO_MANAGED | MQSO_NEW_PUBLICATIONS_ONLY,
        object_string: "news/#".to_owned(),
        res_object_string_size: 100,
        ..Sd::default()
    };
    let made = subscriber.subscribe(&mut sd, Hobj::NONE).unwrap().value;
    assert_eq!(sd.res_object_string, "news/#");
    assert_ne!(sd.sub_correl_id, MQCI_NONE, "what was made is told");
    let mut od = Od {
        version: MQOD_VERSION_4,
        object_type: MQOT_TOPIC,
        object_string: "news/a".to_owned(),
        ..Od::default()
    };
    let topic = publisher.open_object(&mut od, MQOO_OUTPUT).unwrap().value;
    put(publisher, topic, MQPMO_RETAIN, b"one").unwrap();
    assert_eq!(
        get(subscriber, made.messages, MQGMO_WAIT, 60_000).unwrap(),
        b"one"
    );
    let mut sro = Sro::default();
    let mut again =
        |handle| subscriber.subscription_request(handle, MQSR_ACTION_PUBLICATION, &mut sro);
    assert_eq!(again(made.messages).unwrap_err(), Reason::HOBJ_ERROR);
    again(made.subscription).unwrap();
    assert_eq!(sro.num_pubs, 1);
    assert_eq!(
        get(subscriber, made.messages, MQGMO_NO_WAIT, 0).unwrap(),
        b"one"
    );
    subscriber.close(made.subscription, MQCO_NONE).unwrap();
    put(publisher, topic, MQPMO_NONE, b"two").unwrap();
    let nothing = get(subscriber, made.messages, MQGMO_NO_WAIT, 0);
    assert_eq!(nothing, Err(Reason::NO_MSG_AVAILABLE));
    subscriber.close(made.messages, MQCO_NONE).unwrap();
    let mut wrong = Sd {
        options: MQSO_CREATE | MQSO_DURABLE,
        ..sd
    };
    let refused = subscriber.subscribe(&mut wrong, Hobj::NONE);
    assert!(refused.is_err(), "a durable one needs a name");
}

#[test]
fn both_bindings_subscribe_and_publish() {
    let (_folder, data) = created();
    let (qm, port) = listening(&data);
    let (mut local, _) = connected(&qm);
    let mut remote = over_tcp(port);
    subscribe_and_get(&mut local, &mut remote);
    subscribe_and_get(&mut remote, &mut local);
    drop((local, remote));
    qm.end(EndMode::Immediate).unwrap();
}

#[test]
fn tools_of_the_machine_reach_it_without_a_listener() {
    let (_folder, data) = created();
    let qm = opened(&data);
    assert_eq!(qm.listening(), []);
    let home = posthaste_server::find(&data, Some("QM1")).unwrap();
    let connect = Connect::new(Address::Unix(home.applications()), "ANY", "QM1");
    let mut tool = Connection::open(&connect).unwrap();
    let queue = open(&mut tool, QUEUE, BOTH);
    put(&mut tool, queue, PUT, b"by a tool").unwrap();
    let (mut inside, same) = connected(&qm);
    assert_eq!(get(&mut inside, same, NOW, 0), Ok(b"by a tool".to_vec()));
    // Listeners can be started later, by command.
    let host = "DEFINE LISTENER(LATER) TRPTYPE(TCP) PORT(0) IPADDR('127.0.0.1') CONTROL(MANUAL)";
    let defined = qm.command(host);
    assert!(defined.ok, "{defined:?}");
    let started = qm.command("START LISTENER(LATER)");
    assert!(started.ok, "{started:?}");
    let mut far = over_tcp(qm.listening()[0].address.port());
    open(&mut far, QUEUE, BOTH);
    // The operator ends it from outside; the application is told, and may ask how it went.
    let mut ending = end(&home, EndMode::Immediate).unwrap();
    ending.wait(None).unwrap();
    let broken = get(&mut inside, same, NOW, 0).unwrap_err();
    assert_eq!(broken, Reason::CONNECTION_BROKEN);
    assert!(qm.connect("too late").is_err());
    qm.end(EndMode::Immediate).unwrap();
}

#[test]
fn an_end_meets_connections_that_are_busy() {
    let (_folder, data) = created();
    let qm = opened(&data);
    let (mut waiter, queue) = connected(&qm);
    let (begun, receiver) = mpsc::channel();
    let sender = begun.clone();
    let waiting = std::thread::spawn(move || {
        sender.send(()).unwrap();
        get(&mut waiter, queue, NOW | MQGMO_WAIT, MQWI_UNLIMITED)
    });
    let putting: Vec<_> = (0..2)
        .map(|_| {
            let mut one = qm.connect("busy").unwrap();
            let begun = begun.clone();
            std::thread::spawn(move || {
                let mut done = 0_u64;
                let queue = open(&mut one, "DEV.QUEUE.3", MQOO_OUTPUT);
                loop {
                    match put_as(
                        &mut one,
                        queue,
                        PUT,
                        MQPER_PERSISTENT,
                        b"as long as it goes",
                    ) {
                        Ok(_) => done += 1,
                        Err(error) => return (done, error),
                    }
                    if done == 10 {
                        begun.send(()).unwrap();
                    }
                }
            })
        })
        .collect();
    for _ in 0..3 {
        receiver.recv().unwrap();
    }
    qm.end(EndMode::Immediate).unwrap();
    let ended = waiting.join().unwrap().unwrap_err();
    let ends = [
        Reason::Q_MGR_STOPPING,
        Reason::CONNECTION_BROKEN,
        Reason::Q_MGR_QUIESCING,
    ];
    assert!(ends.contains(&ended), "{ended}");
    let mut acknowledged = 0;
    for one in putting {
        let (done, reason) = one.join().unwrap();
        assert!(ends.contains(&reason), "{reason}");
        acknowledged += done;
    }
    let qm = opened(&data);
    let mut one = qm.connect("count").unwrap();
    let queue = open(&mut one, "DEV.QUEUE.3", MQOO_INPUT_SHARED);
    let mut found = 0;
    while get(&mut one, queue, NOW, 0).is_ok() {
        found += 1;
    }
    assert_eq!(found, acknowledged);
}

#[test]
fn a_log_that_cannot_be_written_ends_it_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let world = SimWorld::new(7);
    // The simulated disk with this machine's clock: the queue manager runs on real threads.
    let env = Env {
        disk: world.env().disk,
        ..posthaste_env::os()
    };
    let made = create(&env, &data, &creation(), &mut |_, _| {}).unwrap();
    let options = InProcessOptions::default();
    let qm = InProcess::open_in(&env, &data, "QM1", &options).unwrap();
    let (mut one, queue) = connected(&qm);
    put_as(&mut one, queue, PUT, MQPER_PERSISTENT, b"safe").unwrap();
    let log = Area::Under(made.log.clone());
    world.disk().set_chance(Fault::WriteError, log, 1_000_000);
    let refused = put_as(&mut one, queue, PUT, MQPER_PERSISTENT, b"not acknowledged");
    assert_eq!(refused.unwrap_err(), Reason::CONNECTION_BROKEN);
    let failure = qm.end(EndMode::Immediate).unwrap_err();
    assert_eq!((failure.exit, failure.id), (Exit::LogFailed, "AMQ2027S"));

    world.disk().clear_faults();
    let qm = InProcess::open_in(&env, &data, "QM1", &options).unwrap();
    let (mut one, queue) = connected(&qm);
    assert_eq!(get(&mut one, queue, NOW, 0), Ok(b"safe".to_vec()));
}

#[test]
fn the_manual_shows_the_example_that_is_compiled() {
    let manual = include_str!("../../../docs/in-process.md");
    let example = include_str!("../examples/in_process.rs");
    let (_, code) = example.split_once("\n\n").unwrap();
    assert!(manual.contains(code.trim_end()), "docs/in-process.md");
}
