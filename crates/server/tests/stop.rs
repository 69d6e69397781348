//! What a failing disk makes of a running queue manager: it stops, says why, and nothing that was
//! acknowledged is lost. The queue manager's own files are on a simulated disk that fails on order.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::sync::mpsc;
use std::thread::JoinHandle;

use posthaste_client::{Address, Call, Connect, Connection};
use posthaste_env::{Env, Slowness};
use posthaste_env_sim::{Area, Fault, SimWorld};
use posthaste_mqi::constants::{
    MQGMO_NO_SYNCPOINT, MQOO_INPUT_AS_Q_DEF, MQOO_OUTPUT, MQPER_PERSISTENT, MQPMO_NO_SYNCPOINT,
};
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_server::{
    Console, Created, DataDir, EndMode, Exit, Failure, RunOptions, create, end, list, run, state,
};
use qm1::creation;

/// The simulated disk with this machine's clock: the queue manager runs on real threads.
fn env(world: &SimWorld) -> Env {
    Env {
        disk: world.env().disk,
        ..posthaste_env::os()
    }
}

fn created(env: &Env, data: &DataDir) -> Created {
    create(env, data, &creation(), &mut |_, _| {}).unwrap()
}

/// Runs the queue manager on a thread; back when it serves.
fn serving(env: &Env, data: &DataDir, made: &Created) -> JoinHandle<Result<(), Failure>> {
    let (sender, receiver) = mpsc::channel();
    let options = RunOptions {
        data: data.clone(),
        home: made.home.clone(),
        port: None,
        host: None,
        no_listeners: false,
        console: Console::Silent,
        slowness: Slowness::default(),
        plain_log: false,
    };
    let env = env.clone();
    let running = std::thread::spawn(move || run(&env, &options, |_| sender.send(()).unwrap()));
    receiver.recv().unwrap();
    running
}

fn connected(made: &Created, options: i32) -> (Connection, Hobj) {
    let address = Address::Unix(made.home.applications());
    let mut connection = Connection::open(&Connect::new(address, "ANY", "QM1")).unwrap();
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let queue = connection.open_object(&mut od, options).unwrap().value;
    (connection, queue)
}

fn put(connection: &mut Connection, queue: Hobj, data: &[u8]) -> Call<()> {
    let mut md = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    connection.put(queue, &mut md, &mut pmo, data)
}

fn got(made: &Created) -> Vec<Vec<u8>> {
    let (mut connection, queue) = connected(made, MQOO_INPUT_AS_Q_DEF);
    let mut all = Vec::new();
    loop {
        let mut gmo = Gmo {
            options: MQGMO_NO_SYNCPOINT,
            ..Gmo::default()
        };
        match connection.get(queue, &mut Md::default(), &mut gmo, 1_000) {
            Ok(message) => all.push(message.value.data.to_vec()),
            Err(error) => {
                assert_eq!(error.reason(), Reason::NO_MSG_AVAILABLE);
                return all;
            }
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_stops_the_queue_manager_with_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let world = SimWorld::new(1);
    let env = env(&world);
    let made = created(&env, &data);
    let running = serving(&env, &data, &made);
    let (mut connection, queue) = connected(&made, MQOO_OUTPUT);
    put(&mut connection, queue, b"safe").unwrap();
    let log = Area::Under(made.log.clone());
    world.disk().set_chance(Fault::WriteError, log, 1_000_000);
    let refused = put(&mut connection, queue, b"not acknowledged").unwrap_err();
    assert_eq!(refused.reason(), Reason::CONNECTION_BROKEN);
    let failure = running.join().unwrap().unwrap_err();
    assert_eq!((failure.exit, failure.id), (Exit::LogFailed, "AMQ2027S"));
    let errors = std::fs::read_to_string(made.home.errors().join("AMQERR01.LOG")).unwrap();
    assert!(
        errors.contains("AMQ2027S: Queue manager QM1 stopped: "),
        "{errors}"
    );
    assert_eq!(state(&env, &made.home).word(), "Ended unexpectedly");

    world.disk().clear_faults();
    let running = serving(&env, &data, &made);
    let found = got(&made);
    assert_eq!(found.first().map(Vec::as_slice), Some(&b"safe"[..]));
    assert!(
        found.len() <= 2,
        "what was not acknowledged may be there or not"
    );
    end(&made.home, EndMode::Immediate)
        .unwrap()
        .wait(None)
        .unwrap();
    running.join().unwrap().unwrap();
    assert_eq!(state(&env, &made.home).word(), "Ended immediately");
    assert_eq!(list(&env, &data).unwrap().len(), 1);
}

#[test]
fn a_start_that_the_disk_refuses_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    let world = SimWorld::new(2);
    let env = env(&world);
    let made = created(&env, &data);
    let options = RunOptions {
        data: data.clone(),
        home: made.home.clone(),
        port: None,
        host: None,
        no_listeners: false,
        console: Console::Silent,
        slowness: Slowness::default(),
        plain_log: false,
    };
    for (fault, area, exit) in [
        (
            Fault::OpenError,
            Area::Path(made.home.lock()),
            Exit::Unusable,
        ),
        (
            Fault::ReadError,
            Area::Under(made.log.clone()),
            Exit::Unusable,
        ),
        (
            Fault::ReadError,
            Area::Named("checkpoint-".to_owned()),
            Exit::StoreRefused,
        ),
    ] {
        world.disk().set_chance(fault, area, 1_000_000);
        let refused = run(&env, &options, |_| {}).unwrap_err();
        world.disk().clear_faults();
        assert_eq!(refused.exit, exit, "{refused}");
        assert!(refused.to_string().contains("What to do: "), "{refused}");
    }
    // None of that has changed anything.
    let running = serving(&env, &data, &made);
    end(&made.home, EndMode::Controlled)
        .unwrap()
        .wait(None)
        .unwrap();
    running.join().unwrap().unwrap();
}
