//! A queue manager to drive, and what the tests need again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect};
use posthaste_perf::drive::{Outcome, Running, start_together};
use posthaste_perf::workload::{Carriers, Destinations, Module, Target, Workload};
use posthaste_server::{Creation, DataDir, InProcess, InProcessOptions, create, ini};

pub(crate) const QUEUES: u32 = 3;
pub(crate) const LONG: Duration = Duration::from_secs(60);
pub(crate) const TWO_LOOPS: Carriers = Carriers::Multiplexed { threads: 2 };

/// Waits until something is so; fails when that takes longer than anything may.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !so() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::yield_now();
    }
}

/// A queue manager that listens, with REQUEST1.., REPLY1.. and DEST.
pub(crate) struct Rig {
    pub(crate) qm: Option<Arc<InProcess>>,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let mut commands = vec![
            "DEFINE QLOCAL(DEST)".to_owned(),
            "DEFINE QLOCAL(SMALL) MAXDEPTH(10)".to_owned(),
            "DEFINE CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN)".to_owned(),
            posthaste_server::listener_object(1414, "127.0.0.1"),
        ];
        for number in 1..=QUEUES {
            commands.push(format!("DEFINE QLOCAL(REQUEST{number})"));
            commands.push(format!("DEFINE QLOCAL(REPLY{number})"));
        }
        let creation = Creation {
            name: "QM1".to_owned(),
            shape: ini::Shape {
                file_pages: 1024,
                ..ini::Shape::default()
            },
            commands,
            ..Creation::default()
        };
        create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap();
        let options = InProcessOptions {
            listen: true,
            port: Some(0),
            host: Some("127.0.0.1".to_owned()),
            ..InProcessOptions::default()
        };
        let qm = InProcess::open(&data, "QM1", &options).unwrap();
        let port = qm.listening()[0].address.port();
        Rig {
            qm: Some(Arc::new(qm)),
            port,
            _folder: folder,
        }
    }

    pub(crate) fn connect(&self) -> Connect {
        let host = "127.0.0.1".to_owned();
        let address = Address::Tcp {
            host,
            port: self.port,
        };
        Connect::new(address, "DEV.APP.SVRCONN", "QM1")
    }

    pub(crate) fn client(&self) -> Target {
        Target::Client(self.connect())
    }

    pub(crate) fn inside(&self) -> Target {
        Target::InProcess(self.qm.clone().unwrap())
    }

    pub(crate) fn depth(&self, queue: &str) -> String {
        let qm = self.qm.as_ref().unwrap();
        let reply = qm.command(&format!("DISPLAY QLOCAL({queue}) CURDEPTH"));
        let (_, _, row) = &reply.rows[0];
        row.shown("CURDEPTH").unwrap()
    }

    /// Empties a queue, as soon as the queue manager has noticed that a broken application is gone.
    pub(crate) fn clear(&self, queue: &str) {
        let qm = self.qm.as_ref().unwrap();
        let clear = format!("CLEAR QLOCAL({queue})");
        until(&clear, || qm.command(&clear).ok);
    }

    pub(crate) fn assert_empty(&self) {
        for number in 1..=QUEUES {
            assert_eq!(self.depth(&format!("REQUEST{number}")), "0");
            assert_eq!(self.depth(&format!("REPLY{number}")), "0");
        }
        assert_eq!(self.depth("DEST"), "0");
    }
}

pub(crate) fn workload(module: Module, carriers: Carriers) -> Workload {
    // Who waits for whatever comes looks often whether it is to end.
    let get_wait = match module {
        Module::Responder | Module::Receiver => Duration::from_millis(50),
        _ => Duration::from_secs(30),
    };
    Workload {
        module,
        carriers,
        get_wait: Some(get_wait),
        requests: Destinations::numbered("REQUEST", QUEUES),
        replies: Destinations::numbered("REPLY", QUEUES),
        ..Workload::default()
    }
}

pub(crate) fn finished(running: Running) -> Outcome {
    assert!(running.wait(LONG), "{:?}", running.failure());
    let outcome = running.stop();
    assert_eq!(outcome.failures, []);
    assert!(!outcome.partial);
    outcome
}

/// Requesters with a limit, and responders; gives what both came to.
pub(crate) fn exchange(
    target: &Target,
    requesters: Workload,
    responders: Workload,
) -> (Outcome, Outcome) {
    let mut running = start_together(&[requesters, responders], target).unwrap();
    let responders = running.pop().unwrap();
    let requests = finished(running.pop().unwrap());
    let replies = responders.stop();
    assert_eq!(replies.failures, []);
    assert!(!replies.partial);
    (requests, replies)
}
