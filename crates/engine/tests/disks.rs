//! Disks that are full or do not answer: what applications and the operator are told, and that
//! nothing is lost. Full queue files are in `spill.rs`.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::io::ErrorKind;
use std::sync::atomic::Ordering::SeqCst;

use posthaste_engine::{EndMode, Stop};
use posthaste_env::block_on;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use world::*;

/// The log cannot get the file it needs: the operator is told, everybody works on in what there is,
/// and when there is room again the next lack is told again.
#[test]
fn a_log_whose_disk_is_full_is_told_and_goes_on() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 64;
        c.log_config.primary_files = 3;
        c.log_config.secondary_files = 2;
    });
    w.stage.log_full.store(true, SeqCst);
    let long = w.connect();
    let h = open(&long, LOCAL, MQOO_OUTPUT);
    put(&long, h, PERSISTENT, MQPMO_SYNCPOINT, b"long");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let mut kept = Vec::new();
    for n in 0..400 {
        let text = format!("{n}");
        let data = format!("{text:.<20000}");
        match try_put(&s, h, &mut md(PERSISTENT), 0, data.as_bytes()) {
            Ok(_) => kept.push(data),
            // No room in time: refused, and not there.
            Err(reason) => assert_eq!(reason, Reason::RESOURCE_PROBLEM),
        }
        if kept.len() > 5 {
            assert_eq!(next(&s, h, 0).unwrap().text(), kept.remove(0));
        }
    }
    assert_eq!(w.heard("AMQ6708E"), 1, "told once a minute");
    assert_eq!(block_on(long.commit()), Err(Reason::BACKED_OUT));
    assert_eq!(w.heard("AMQ7469W"), 1);
    drop((s, long));
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), kept);
}

/// A queue file that cannot be synced makes a clean end impossible, whatever the system says the reason is; the
/// log still has everything. Had "no space" been taken for "try again later", the next sync could succeed for
/// pages that are gone, and an image name them.
#[test]
fn a_queue_file_that_cannot_be_synced_ends_with_its_own_code() {
    let kinds = [
        ErrorKind::Other,
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
    ];
    for kind in kinds {
        let mut w = World::light();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        for n in 0..10 {
            put(&s, h, PERSISTENT, 0, format!("{n}").as_bytes());
        }
        drop(s);
        *w.stage.unsyncable.lock() = Some(kind);
        let stop = block_on(w.qm().end(EndMode::Immediate)).unwrap_err();
        assert!(matches!(stop, Stop::CheckpointFailed(_)), "{stop}");
        assert_eq!((stop.exit_code(), w.heard("AMQ2004S")), (72, 1));
        w.end_threads();
        *w.stage.unsyncable.lock() = None;
        w.start();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        let expected: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        assert_eq!(drain(&s, h), expected);
    }
}

/// A log that gets have filled to the last page: units of work with thousands of gets are open when it crashes, and
/// the restart has to undo them without the room to say so. It starts, and every message is there.
#[test]
fn a_log_filled_by_gets_in_units_of_work_starts_again() {
    const MESSAGES: usize = 26_000;
    let mut w = World::with(|c| {
        c.log_config.file_pages = 64;
        c.log_config.primary_files = 2;
        c.log_config.secondary_files = 1;
    });
    w.run("ALTER QMGR MAXUMSGS(100000)\nDEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for n in 0..MESSAGES {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        if n % 500 == 499 {
            commit(&s);
        }
    }
    // What has been put is in the queue file, and the log is short.
    drop(s);
    w.restart();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    // From now on nothing is forced and no checkpoint comes to its end.
    w.stage.pause();
    let total = w.qm().log().usage().total;
    let mut got = 0;
    let used = || w.qm().log().usage().used;
    while used() + 16 * 1024 < total && got < MESSAGES {
        match Call::attempt(getting(s.clone(), h, md(0), gmo(MQGMO_SYNCPOINT), 1)) {
            Some(taken) => assert_eq!(taken.unwrap().data.len(), 1),
            None => break,
        }
        got += 1;
    }
    assert!(
        (10_000..MESSAGES).contains(&got),
        "{got} gets, {} of {total} used",
        used()
    );
    w.kill();
    w.start();
    drop(s);
    assert_eq!(w.depth("Q") as usize, MESSAGES);
    // And it works on.
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    put(&s, h, PERSISTENT, 0, b"y");
    assert_eq!(next(&s, h, 0).unwrap().md.backout_count, 1);
}
