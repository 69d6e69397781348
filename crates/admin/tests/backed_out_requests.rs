//! Requests of the command queue that end the queue manager each time they are carried out.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_admin::{Admin, COMMAND_QUEUE, CommandServer};
use posthaste_authority::{Entity, Identity};
use posthaste_command::pcf;
use posthaste_engine::{Authorization, EndMode, Looking, Users};
use posthaste_env::block_on;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Dlh, Md, Name, PointerSize};
use world::authorising::Known;
use world::*;

const REPLIES: &str = "REPLIES";

/// Who asks about `deadly` waits for ever: a command of that user never ends.
#[derive(Default)]
struct Deadly {
    known: Known,
    asked: AtomicUsize,
}

impl Users for Deadly {
    fn identity<'a>(&'a self, user: &'a str) -> Looking<'a, Option<Arc<Identity>>> {
        if user == "deadly" {
            let before = self.asked.fetch_add(1, Ordering::SeqCst);
            assert!(before < 3, "it is carried out once more");
            return Box::pin(std::future::pending());
        }
        self.known.identity(user)
    }
    fn known_identity(&self, user: &str) -> Option<Arc<Identity>> {
        self.known.known_identity(user)
    }
    fn is_known<'a>(&'a self, entity: &'a Entity) -> Looking<'a, Option<bool>> {
        self.known.is_known(entity)
    }
    fn refresh(&self) {
        self.known.refresh();
    }
}

fn server(w: &World) -> CommandServer {
    CommandServer {
        admin: Admin::alone(w.qm()),
        operator: w.operator(),
        clock: w.env.clock.clone(),
        user: "owner".to_owned(),
    }
}

/// Puts a persistent request of a user.
fn ask(w: &World, user: &str, command: &str) -> Md {
    let session = w.connect();
    let mut md = Md {
        msg_type: MQMT_REQUEST,
        format: Chars::new(MQFMT_ADMIN),
        reply_to_q: Name::new(REPLIES),
        user_identifier: Chars::new(user),
        ..md(PERSISTENT)
    };
    let data = Bytes::from(pcf::escape_request(command));
    let (mut od, mut pmo) = (object(COMMAND_QUEUE), pmo(MQPMO_SET_IDENTITY_CONTEXT));
    block_on(session.put1(&mut od, &mut md, &mut pmo, data)).unwrap();
    md
}

/// A whole life of the command server, which ends with the queue manager's; gives what it answered.
fn served(w: &mut World) -> Vec<String> {
    let server = server(w);
    let session = server.connect();
    let s = w.connect();
    let replies = open(&s, REPLIES, MQOO_INPUT_SHARED);
    w.qm().quiesce(EndMode::Controlled);
    block_on(server.serve(session, |_| {}));
    let answers = std::iter::from_fn(|| get(&s, replies, 0).ok());
    let texts = answers.map(|(_, data)| pcf::escape_texts(&data).unwrap().concat());
    let texts = texts.collect();
    drop((s, server));
    w.restart();
    texts
}

/// The power goes while the command server carries out a request that it has begun.
fn power_goes_meanwhile(w: &mut World, disk: &SimDisk, users: &Deadly) {
    let before = users.asked.load(Ordering::SeqCst);
    let server = server(w);
    let session = server.connect();
    {
        let mut serving = pin!(server.serve(session, |_| {}));
        let mut context = Context::from_waker(Waker::noop());
        let deadline = Instant::now() + Duration::from_secs(60);
        while users.asked.load(Ordering::SeqCst) == before {
            assert!(Instant::now() < deadline, "the request is not begun");
            assert_eq!(serving.as_mut().poll(&mut context), Poll::Pending);
            std::thread::yield_now();
        }
        disk.cut_power();
    }
    drop(server);
    // Whether it finds out that the power has gone depends on what it still has to write.
    let _ = block_on(w.qm().end(EndMode::Preemptive));
    w.end_threads();
    disk.crash();
    w.remount(disk);
    w.start();
}

/// An application gets every request and gives it back, so many times.
fn back_out(w: &World, times: usize) {
    let s = w.connect();
    let q = open(&s, COMMAND_QUEUE, MQOO_INPUT_SHARED);
    for _ in 0..times {
        while next(&s, q, MQGMO_SYNCPOINT).is_ok() {}
        backout(&s);
    }
}

#[test]
fn a_request_that_ends_the_queue_manager_each_time_goes_to_the_dead_letter_queue() {
    let disk = SimDisk::of_seed(1);
    let users = Arc::new(Deadly::default());
    users.known.set("boss", &["mqm"]);
    let mut w = World::on_simulated(&disk, |config| {
        config.authorization = Some(Authorization {
            users: users.clone(),
            by_user: false,
            enforced: true,
        });
    });
    w.run(&format!(
        "DEFINE QLOCAL({REPLIES})\nALTER QMGR DEADQ({DEAD})"
    ));
    let asked = ask(&w, "deadly", "PING QMGR");
    ask(&w, "boss", "DEFINE QLOCAL(MADE)");
    for _ in 0..3 {
        power_goes_meanwhile(&mut w, &disk, &users);
    }
    let [answer] = &served(&mut w)[..] else {
        panic!("the other one is answered");
    };
    assert!(answer.starts_with("AMQ8006I"), "{answer}");
    assert_eq!(users.asked.load(Ordering::SeqCst), 3);
    assert_eq!(w.depth(COMMAND_QUEUE), 0);

    let s = w.connect();
    let dead = open(&s, DEAD, MQOO_INPUT_SHARED);
    let taken = next(&s, dead, 0).unwrap();
    let (header, length) = Dlh::decode(&taken.data, ByteOrder::Little, PointerSize::Four).unwrap();
    assert_eq!(header.reason, 2362);
    assert_eq!(header.dest_q_name, Name::new(COMMAND_QUEUE));
    assert_eq!(header.dest_q_mgr_name, Name::new("QM1"));
    assert_eq!(header.format, Chars::new(MQFMT_ADMIN));
    assert_eq!(taken.data[length..], pcf::escape_request("PING QMGR"));
    let md = taken.md;
    assert_eq!(md.format, Chars::new(MQFMT_DEAD_LETTER_HEADER));
    assert_eq!(md.msg_id, asked.msg_id);
    assert_eq!(md.user_identifier, Chars::new("deadly"));
    assert_eq!(md.persistence, PERSISTENT);
    let id: String = md.msg_id.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(w.last_inserts("AMQ2216W"), [id, "3".to_owned()]);
}

/// As immediate ends do, which are not the request's fault.
#[test]
fn a_request_that_was_backed_out_twice_is_carried_out() {
    let mut w = World::light();
    w.run(&format!(
        "DEFINE QLOCAL({REPLIES})\nALTER QMGR DEADQ({DEAD})"
    ));
    ask(&w, "boss", "DEFINE QLOCAL(MADE)");
    for _ in 0..2 {
        back_out(&w, 1);
        w.restart();
    }
    let answers = served(&mut w);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].starts_with("AMQ8006I"), "{answers:?}");
    assert_eq!(w.depth(DEAD), 0);
}

#[test]
fn what_the_dead_letter_queue_does_not_take_stays_and_hinders_nobody() {
    for (prepared, reason) in [
        ("ALTER QMGR DEADQ('')".to_owned(), "2085"),
        (
            format!("ALTER QMGR DEADQ({DEAD})\nALTER QLOCAL({DEAD}) PUT(DISABLED)"),
            "2051",
        ),
        (
            format!("ALTER QMGR DEADQ({DEAD})\nALTER QLOCAL({DEAD}) MAXDEPTH(0)"),
            "2053",
        ),
    ] {
        let mut w = World::light();
        w.run(&format!("DEFINE QLOCAL({REPLIES})\n{prepared}"));
        ask(&w, "boss", "DEFINE QLOCAL(NEVER)");
        ask(&w, "boss", "DEFINE QLOCAL(NEVER.EITHER)");
        back_out(&w, 3);
        ask(&w, "boss", "DEFINE QLOCAL(MADE)");
        let answers = served(&mut w);
        assert_eq!(answers.len(), 1, "{reason}: {answers:?}");
        assert!(answers[0].starts_with("AMQ8006I"), "{reason}: {answers:?}");
        assert_eq!(w.depth(COMMAND_QUEUE), 2);
        assert_eq!(w.message_count("AMQ2217E"), 1);
        let inserts = w.last_inserts("AMQ2217E");
        assert_eq!(inserts[1], "3");
        assert!(inserts[2].contains(reason), "{inserts:?}");

        w.run(&format!(
            "ALTER QLOCAL({DEAD}) PUT(ENABLED) MAXDEPTH(10)\nALTER QMGR DEADQ({DEAD})"
        ));
        assert!(served(&mut w).is_empty());
        assert_eq!((w.depth(COMMAND_QUEUE), w.depth(DEAD)), (0, 2));
        assert_eq!(w.message_count("AMQ2216W"), 2);
        assert!(!w.mqsc("DISPLAY QLOCAL(NEVER*)").ok);
    }
}
