//! A thread of the queue manager panics: nothing is served any more, the operator knows, and nothing is lost.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier};

use posthaste_engine::{EndMode, Stop};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// Maintenance dies in a checkpoint: unnoticed, the log would fill, and everyone wait for room that nobody makes.
#[test]
fn a_panic_of_maintenance_stops_the_queue_manager() {
    let mut w = World::light();
    w.run("DEFINE QLOCAL(EMPTY)");
    let waiting = w.connect();
    let empty = open(&waiting, "EMPTY", MQOO_INPUT_SHARED);
    let waiter = wait(&waiting, empty, md(0), gmo(0));
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    w.stage.sync_panics.store(true, SeqCst);
    let mut kept = Vec::new();
    while w.qm().stopped().is_none() {
        assert!(kept.len() < 2_000, "it goes on without checkpoints");
        let text = format!("{:.<9000}", kept.len());
        if try_put(&s, h, &mut md(PERSISTENT), 0, text.as_bytes()).is_ok() {
            kept.push(text);
        }
    }
    assert!(matches!(w.qm().stopped(), Some(Stop::Defect(_))));
    assert_eq!(w.qm().stopped().unwrap().exit_code(), 70);
    assert_eq!(w.message_count("AMQ2016S"), 1);
    let refused = try_put(&s, h, &mut md(PERSISTENT), 0, b"");
    assert_eq!(refused, Err(Reason::CONNECTION_BROKEN));
    assert_eq!(waiter.finish().unwrap_err(), Reason::CONNECTION_BROKEN);
    drop((s, waiting));
    w.stage.sync_panics.store(false, SeqCst);
    w.bury();
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), kept);
}

/// The log's writer dies while nobody waits for a commit: it is noticed all the same.
#[test]
fn a_panic_of_the_log_s_writer_stops_the_queue_manager() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 64;
        c.log_config.buffer_pages = 18;
        c.log_config.writes.plain = true;
    });
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    put(&s, h, PERSISTENT, 0, b"kept");
    w.stage.log_panics.store(true, SeqCst);
    // Nobody waits for these; the writer writes them because there are many.
    for _ in 0..6 {
        let own = &mut md(PERSISTENT);
        let _ = try_put(&s, h, own, MQPMO_SYNCPOINT, &[b'x'; 8_000]);
    }
    until("the end", || w.qm().stopped().is_some());
    assert!(matches!(w.qm().stopped(), Some(Stop::LogFailed(_))));
    until("the message", || w.message_count("AMQ2004S") == 1);
    drop(s);
    w.stage.log_panics.store(false, SeqCst);
    w.bury();
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), ["kept"]);
}

/// Whoever settles asynchronous puts dies of one, perhaps while an end waits for it: unnoticed, all that waits for them
/// would wait for ever.
#[test]
fn a_panic_of_settling_stops_the_queue_manager() {
    for ending in [false, true] {
        let mut w = World::pausable();
        w.run(
            "DEFINE QLOCAL(INIT) MAXDEPTH(0)
             DEFINE QLOCAL(TRIGGERS) TRIGGER TRIGTYPE(EVERY) INITQ(INIT)",
        );
        let s = w.connect();
        open(&s, "INIT", MQOO_INPUT_SHARED);
        let h = open(&s, "TRIGGERS", MQOO_OUTPUT);
        // Met twice: when it is about to die, and when something waits for it.
        let meeting = Arc::new(Barrier::new(2));
        let there = meeting.clone();
        w.on_message("AMQ2017W", move || {
            there.wait();
            there.wait();
            panic!("settling panics on purpose");
        });
        put(&s, h, PERSISTENT, MQPMO_ASYNC_RESPONSE, b"kept");
        meeting.wait();
        let (stat, qm) = (s.clone(), w.qm().clone());
        let call = Call::begin(async move {
            match ending {
                true => {
                    let ended = qm.end(EndMode::Immediate).await;
                    assert!(matches!(ended, Err(Stop::Defect(_))), "{ended:?}");
                }
                false => assert!(stat.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).await.is_err()),
            }
        });
        meeting.wait();
        call.finish();
        assert!(matches!(w.qm().stopped(), Some(Stop::Defect(_))));
        drop(s);
        w.bury();
        w.start();
        let s = w.connect();
        let h = open(&s, "TRIGGERS", MQOO_INPUT_SHARED);
        assert_eq!(drain(&s, h), ["kept"]);
    }
}
