//! A command that takes long hinders nobody: applications go on while it is carried out.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

use std::time::{Duration, Instant};

use posthaste_client::{Address, Connect, Connection};
use posthaste_command::pcf;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Mqi, Name, Od, Pmo, Reason};
use posthaste_server::{
    COMMAND_QUEUE, Creation, DataDir, EndMode, InProcess, InProcessOptions, create, ini,
};

const QUEUES: usize = 800;

fn open(connection: &mut dyn Mqi, name: &str, options: i32) -> Hobj {
    let mut od = Od {
        object_name: Name::new(name),
        ..Od::default()
    };
    connection.open_object(&mut od, options).unwrap().value
}

/// Gets without waiting; none when nothing is there.
fn next(connection: &mut dyn Mqi, queue: Hobj) -> Option<Vec<u8>> {
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT,
        ..Gmo::default()
    };
    match connection.get(queue, &mut Md::default(), &mut gmo, 1 << 20) {
        Ok(got) => Some(got.value.data.to_vec()),
        Err(error) if error == Reason::NO_MSG_AVAILABLE => None,
        Err(error) => panic!("{error}"),
    }
}

/// Sends a command whose answers go to REPLIES.
fn send(connection: &mut dyn Mqi, command: &str) {
    let mut od = Od {
        object_name: Name::new(COMMAND_QUEUE),
        ..Od::default()
    };
    let mut md = Md {
        msg_type: MQMT_REQUEST,
        format: Chars::new(MQFMT_ADMIN),
        reply_to_q: Name::new("REPLIES"),
        encoding: match ByteOrder::NATIVE {
            ByteOrder::Big => 273,
            ByteOrder::Little => 546,
        },
        coded_char_set_id: 1208,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options: MQPMO_NO_SYNCPOINT,
        ..Pmo::default()
    };
    let data = pcf::escape_request(command);
    connection.put1(&mut od, &mut md, &mut pmo, &data).unwrap();
}

/// A queue manager with so many definitions that a look at all of them takes its time, and with the queue REPLIES.
fn busy(folder: &std::path::Path) -> (InProcess, Address) {
    let data = DataDir::at(folder);
    let mut commands = vec!["DEFINE QLOCAL(REPLIES)".to_owned()];
    commands.extend((0..QUEUES).map(|n| format!("DEFINE QREMOTE(Q.{n}) RNAME(X) RQMNAME(Y)")));
    let creation = Creation {
        name: "QM1".to_owned(),
        shape: ini::Shape {
            file_pages: 1024,
            ..ini::Shape::default()
        },
        commands,
        ..Creation::default()
    };
    let made = create(&posthaste_env::os(), &data, &creation, &mut |_, _| {}).unwrap();
    let qm = InProcess::open(&data, "QM1", &InProcessOptions::default()).unwrap();
    (qm, Address::Unix(made.home.applications()))
}

/// Looks at every queue and shows none, so that it is one piece of work with one answer.
const LONG: &str = "DISPLAY QUEUE(Q.*) WHERE(DESCR EQ 'nothing like it')";

/// The next answer.
fn awaited(operator: &mut Connection, replies: Hobj) -> String {
    let mut gmo = Gmo {
        options: MQGMO_NO_SYNCPOINT | MQGMO_WAIT,
        wait_interval: 60_000,
        ..Gmo::default()
    };
    let got = operator.get(replies, &mut Md::default(), &mut gmo, 1 << 20);
    pcf::escape_texts(&got.unwrap().value.data)
        .unwrap()
        .concat()
}

/// Whether a connection that has the answers' queue open is in a call.
fn is_in_call(qm: &InProcess) -> bool {
    let reply = qm.command("DISPLAY QSTATUS(REPLIES) TYPE(HANDLE) HSTATE");
    let mut rows = reply.rows.iter();
    rows.any(|(_, _, row)| row.shown("HSTATE").as_deref() == Some("ACTIVE"))
}

/// What was asked before the queue manager began to end is carried out and answered, however it ends.
#[test]
fn commands_under_way_are_answered_when_the_queue_manager_ends() {
    for (mode, queues) in [(EndMode::Controlled, 20), (EndMode::Immediate, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let (qm, address) = busy(folder.path());
        let mut operator = Connection::open(&Connect::new(address, "ANY", "QM1")).unwrap();
        let replies = open(&mut operator, "REPLIES", MQOO_INPUT_SHARED);
        send(&mut operator, LONG);
        for n in 0..queues {
            send(&mut operator, &format!("DEFINE QLOCAL(LATE.{n})"));
        }
        let getting = std::thread::spawn(move || {
            let answers = (0..=queues).map(|_| awaited(&mut operator, replies));
            answers.collect::<Vec<String>>()
        });
        // An immediate end breaks connections off that are in no call.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_in_call(&qm) && !getting.is_finished() {
            assert!(Instant::now() < deadline, "nobody gets the answers");
            std::thread::yield_now();
        }
        let ended = std::thread::spawn(move || qm.end(mode));
        let answers = getting.join().unwrap();
        let done = answers.iter().filter(|text| text.starts_with("AMQ8006I"));
        assert_eq!(done.count(), queues, "{mode:?}: {answers:?}");
        ended.join().unwrap().unwrap();
    }
}

/// There is one worker thread for sockets.
#[test]
fn applications_go_on_while_a_long_command_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let (qm, address) = busy(folder.path());
    let mut operator = qm.connect("operator").unwrap();
    let replies = open(&mut operator, "REPLIES", MQOO_INPUT_SHARED);
    let mut other = Connection::open(&Connect::new(address, "ANY", "QM1")).unwrap();
    let queue = open(&mut other, "SYSTEM.DEFAULT.LOCAL.QUEUE", MQOO_INPUT_SHARED);
    send(&mut operator, LONG);
    let mut round_trips = 0;
    let answer = loop {
        assert_eq!(next(&mut other, queue), None);
        round_trips += 1;
        if let Some(answer) = next(&mut operator, replies) {
            break answer;
        }
    };
    let text = pcf::escape_texts(&answer).unwrap().concat();
    assert!(text.starts_with("AMQ8147E"), "{text}");
    assert!(round_trips > 1, "{round_trips} calls in that time");
    drop((operator, other));
    qm.end(EndMode::Immediate).unwrap();
}
