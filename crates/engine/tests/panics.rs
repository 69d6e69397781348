//! A thread of the queue manager panics: nothing is served any more, the operator knows, and nothing is lost.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::sync::atomic::Ordering::SeqCst;

use posthaste_engine::Stop;
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
    assert_eq!(w.heard("AMQ2016S"), 1);
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
    assert_eq!(w.heard("AMQ2004S"), 1);
    drop(s);
    w.stage.log_panics.store(false, SeqCst);
    w.bury();
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), ["kept"]);
}
