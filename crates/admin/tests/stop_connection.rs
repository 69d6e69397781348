//! STOP CONN: what the application hears of it, and what becomes of its work.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/world/mod.rs"]
mod world;

use posthaste_admin::Admin;
use posthaste_command::Reply;
use posthaste_engine::{Application, AuditKind, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Reason, hex};
use world::authorising::{command, grant, world};
use world::*;

const BROKEN: Reason = Reason::CONNECTION_BROKEN;

fn id(reply: &Reply) -> &str {
    &reply.messages[0].0
}

/// EXTCONN and CONN.
fn names(s: &Session) -> (String, String) {
    let whole = hex(&s.connection_id());
    let (external, conn) = whole.split_at(32);
    (external.to_owned(), conn.to_owned())
}

#[test]
fn a_stopped_connection_is_broken_and_its_work_backed_out() {
    let w = World::new();
    let (s, other) = (w.connect(), w.connect());
    let (queue, theirs) = (open(&s, LOCAL, IN_OUT), open(&other, LOCAL, IN_OUT));
    put(&other, theirs, MQPER_PERSISTENT, 0, b"got");
    assert_eq!(next(&s, queue, MQGMO_SYNCPOINT).unwrap().text(), "got");
    put(&s, queue, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"put");
    let waits = wait(&s, queue, md(0), gmo(0));
    let (external, conn) = names(&s);
    let stop = format!("STOP CONN({conn}) EXTCONN({external})");
    let (qm, text) = (w.qm().clone(), stop.clone());
    let stopping = Call::begin(async move { Admin::alone(&qm).run(&text).await });

    // What waited hears of it, though nobody has asked for MQGMO_FAIL_IF_QUIESCING; so does each later call.
    assert_eq!(waits.woken(), 1);
    assert_eq!(waits.finish().map(|taken| taken.text()), Err(BROKEN));
    let reply = stopping.finish();
    assert_eq!((id(&reply), reply.ok), ("AMQ8457I", true), "{reply:?}");
    assert!(s.is_broken());
    assert_eq!(try_open(&s, LOCAL, IN_OUT), Err(BROKEN));
    assert_eq!(try_put(&s, queue, &mut md(0), 0, b"x"), Err(BROKEN));
    assert_eq!(block_on(s.commit()).map(drop), Err(BROKEN));
    // Its work was backed out when the command was answered, and nobody finds it.
    assert_eq!(drain(&other, theirs), ["got"]);
    assert_eq!(w.qm().connections(), 1);
    assert_eq!(id(&w.mqsc(&stop)), "AMQ8461E");
    drop(s);
    assert_eq!(w.qm().connections(), 1);
    assert_eq!(w.status(LOCAL).open_input, 1);
}

#[test]
fn a_call_that_runs_ends_before_its_connection_is_stopped() {
    let w = World::pausable();
    let s = w.connect();
    let queue = open(&s, LOCAL, IN_OUT);
    put(&s, queue, MQPER_PERSISTENT, MQPMO_SYNCPOINT, b"committed");
    w.stage.pause();
    let committing = s.clone();
    let commit = Call::begin(async move { committing.commit().await.map(drop) });
    let (_, conn) = names(&s);
    let qm = w.qm().clone();
    let stop = format!("STOP CONN({conn})");
    let stopping = Call::begin(async move { Admin::alone(&qm).run(&stop).await });
    w.stage.resume();
    assert_eq!(commit.finish(), Ok(()));
    assert!(stopping.finish().ok);
    assert_eq!(w.depth(LOCAL), 1);
    assert_eq!(try_open(&s, LOCAL, IN_OUT), Err(BROKEN));
}

/// As with a log disk that is frozen: whoever asks, and whoever asks for something else behind him, does not wait for that.
#[test]
fn a_backout_that_does_not_end_is_said() {
    let w = World::pausable();
    w.run("DEFINE QLOCAL(HARD) HARDENBO");
    let (s, other) = (w.connect(), w.connect());
    let (h, o) = (open(&s, "HARD", IN_OUT), open(&other, "HARD", IN_OUT));
    put(&s, h, MQPER_PERSISTENT, 0, b"x");
    next(&s, h, MQGMO_SYNCPOINT).unwrap();
    let (_, conn) = names(&s);
    w.stage.pause();
    let (qm, stop) = (w.qm().clone(), format!("STOP CONN({conn})"));
    let (answer, answered) = std::sync::mpsc::channel();
    let stopping = std::thread::spawn(move || {
        answer.send(block_on(Admin::alone(&qm).run(&stop))).unwrap();
    });
    let reply = answered.recv_timeout(std::time::Duration::from_secs(60));
    w.stage.resume();
    stopping.join().unwrap();
    let reply = reply.unwrap();
    assert_eq!((id(&reply), reply.reason), ("AMQ2461E", Reason(3260)));
    // It goes on by itself.
    drop(s);
    let again = wait(&other, o, md(0), gmo(0)).finish().unwrap();
    assert_eq!(again.md.backout_count, 1);
}

/// A call that nobody goes on with, as of an application in this process.
#[test]
fn a_call_that_does_not_end_is_said() {
    let w = World::new();
    let s = w.connect();
    let queue = open(&s, LOCAL, IN_OUT);
    put(&s, queue, 0, MQPMO_SYNCPOINT, b"x");
    let waits = wait(&s, queue, md(0), gmo(0));
    let reply = w.mqsc(&format!("STOP CONN({})", names(&s).1));
    assert_eq!((id(&reply), reply.reason), ("AMQ2461E", Reason(3260)));
    assert_eq!(waits.finish().map(|taken| taken.text()), Err(BROKEN));
    assert_eq!(try_open(&s, LOCAL, IN_OUT), Err(BROKEN));
    drop(s);
    assert_eq!((w.depth(LOCAL), w.qm().connections()), (0, 0));
}

#[test]
fn only_a_connection_of_an_application_is_stopped_and_by_its_own_name() {
    let w = World::new();
    let s = w.connect();
    let own = w.qm().connect(Application {
        appl_type: MQAT_QMGR,
        ..who("command server")
    });
    let own = own.unwrap();
    let (external, conn) = names(&s);
    let other = external.replace("514D31", "514D32");
    for (command, expected, reason) in [
        (
            format!("STOP CONN({conn}) EXTCONN({other})"),
            "AMQ8461E",
            3174,
        ),
        (format!("STOP CONN({other}{conn})"), "AMQ8461E", 3174),
        ("STOP CONN(00000000000000FF)".to_owned(), "AMQ8461E", 3174),
        (format!("STOP CONN({})", names(&own).1), "AMQ2460E", 3260),
    ] {
        let reply = w.mqsc(&command);
        assert_eq!(
            (id(&reply), reply.reason),
            (expected, Reason(reason)),
            "{command}"
        );
    }
    for wrong in [
        "STOP CONN(*)".to_owned(),
        "STOP CONN".to_owned(),
        format!("STOP CONN({})", &conn[1..]),
        format!("STOP CONN({conn}) EXTCONN({conn})"),
        format!("STOP CONN({conn}) MODE(FORCE)"),
    ] {
        assert!(posthaste_command::parse(&wrong).is_err(), "{wrong}");
    }
    assert!(try_open(&s, LOCAL, IN_OUT).is_ok());
    assert_eq!(
        id(&w.mqsc(&format!("STOP CONN({external}{conn})"))),
        "AMQ8457I"
    );
}

#[test]
fn who_stops_connections_may_change_the_queue_manager_and_is_audited() {
    let (w, users) = world(true);
    users.set("operator", &["staff"]);
    grant(&w, &[("QMGR", "SELF", "CONNECT,DSP")]);
    let s = w.qm().connect(who("victim")).unwrap();
    let stop = format!("STOP CONN({})", names(&s).1);
    let reply = command(&w, "operator", &stop);
    assert_eq!(reply.reason, Reason::NOT_AUTHORIZED, "{reply:?}");
    assert!(!s.is_broken());
    grant(&w, &[("QMGR", "SELF", "CONNECT,DSP,CHG")]);
    let reply = command(&w, "operator", &stop);
    assert!(reply.ok && s.is_broken(), "{reply:?}");
    let audited = w.audited();
    let event = audited.iter().rev().find(|event| event.command == stop);
    let event = event.unwrap();
    assert_eq!(event.kind, AuditKind::Command);
    assert_eq!(event.command_number, MQCMD_STOP_CONNECTION);
    assert_eq!((event.message, &*event.who.user), ("AMQ8457I", "operator"));
}
