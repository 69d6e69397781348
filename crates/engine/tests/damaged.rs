//! A queue whose file is damaged: it cannot be used, everything else can, now and after each restart, until it is
//! cleared or deleted. And a damaged control file of the log, which is not the queues' fault.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;

use posthaste_engine::{EndMode, QueueManager, Session, StartError};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use posthaste_recovery_log::LogError;
use world::*;

const COUNT: usize = 100;
const BOTH: i32 = IN_OUT | MQOO_BROWSE;

/// A queue manager with two queues of more messages than they keep in memory.
fn two_queues() -> World {
    two_queues_with_log_of(64)
}

fn two_queues_with_log_of(pages: u32) -> World {
    let w = World::with(|c| {
        c.log_config.file_pages = pages;
        (c.q_buffer, c.pq_buffer) = (20_000, 20_000);
    });
    w.run("DEFINE QLOCAL(BAD)\nDEFINE QLOCAL(GOOD)");
    let s = w.connect();
    for queue in ["BAD", "GOOD"] {
        fill(&s, open(&s, queue, MQOO_OUTPUT));
    }
    w
}

fn fill(s: &Session, h: Hobj) {
    for n in 0..COUNT {
        let text = format!("{n:.<2000}");
        put(s, h, PERSISTENT, MQPMO_SYNCPOINT, text.as_bytes());
    }
    commit(s);
}

fn file_of(w: &World, queue: &str) -> PathBuf {
    let folder = std::fs::read_dir(w.config.data.join("queues")).unwrap();
    let begins = format!("{queue}.");
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(&begins)
    };
    folder.map(|e| e.unwrap().path()).find(ours).unwrap()
}

/// Writes garbage over the items of a queue file, or over all of it.
fn spoil(path: &PathBuf, from: u64) {
    let length = std::fs::metadata(path).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    for at in (from..length - 8).step_by(512) {
        file.write_all_at(b"garbage!", at).unwrap();
    }
}

/// The good queue has its messages and takes more.
fn assert_good(w: &World, expected: usize) {
    let s = w.connect();
    let h = open(&s, "GOOD", BOTH);
    assert_eq!(browse(&s, h).len(), expected);
    assert!(w.qm().stopped().is_none());
}

/// Nothing can be done with the bad one.
fn assert_bad(w: &World) {
    let s = w.connect();
    assert_eq!(
        try_open(&s, "BAD", MQOO_OUTPUT),
        Err(Reason::OBJECT_DAMAGED)
    );
    assert_eq!(
        try_open(&s, "BAD", MQOO_INPUT_SHARED),
        Err(Reason::OBJECT_DAMAGED)
    );
    let one = put1(&s, "BAD", &mut md(PERSISTENT), 0, b"x");
    assert_eq!(one, Err(Reason::OBJECT_DAMAGED));
    assert!(!w.mqsc("DELETE QLOCAL(BAD)").ok, "not without PURGE");
    // Nobody knows how many messages it has.
    for display in ["DISPLAY QLOCAL(BAD)", "DISPLAY QSTATUS(BAD)"] {
        let shown = w.mqsc(&format!("{display} CURDEPTH"));
        assert_eq!(
            shown.rows[0].2.shown("CURDEPTH").as_deref(),
            Some(" "),
            "{display}"
        );
    }
}

/// It works as if it were new.
fn assert_like_new(w: &mut World) {
    let s = w.connect();
    let shown = w.mqsc("DISPLAY QSTATUS(BAD) CURDEPTH");
    assert_eq!(shown.rows[0].2.shown("CURDEPTH").as_deref(), Some("0"));
    let h = open(&s, "BAD", BOTH);
    assert_eq!(drain(&s, h), Vec::<String>::new());
    fill(&s, h);
    drop(s);
    w.crash();
    w.restart();
    let s = w.connect();
    let h = open(&s, "BAD", BOTH);
    assert_eq!(drain(&s, h).len(), COUNT);
    assert_good(w, COUNT);
}

#[test]
fn damage_that_is_met_by_a_get_concerns_one_queue_only() {
    // No checkpoint comes before the damage: no part of an index is damaged with the messages.
    let mut w = two_queues_with_log_of(1024);
    let s = w.connect();
    let h = open(&s, "BAD", BOTH);
    let waiting = w.connect();
    let asks = open(&waiting, "BAD", MQOO_INPUT_SHARED);
    let mut never = gmo(0);
    never.match_options = MQMO_MATCH_MSG_ID;
    let mut own = md(0);
    own.msg_id = [7; 24];
    let waiter = wait(&waiting, asks, own, never);
    spoil(&file_of(&w, "BAD"), 600);
    let mut got = 0;
    let reason = loop {
        match next(&s, h, 0) {
            Ok(taken) => assert!(taken.text().starts_with(&format!("{got}."))),
            Err(reason) => break reason,
        }
        got += 1;
    };
    assert_eq!(reason, Reason::OBJECT_DAMAGED);
    assert!(got < COUNT / 2, "{got} messages were still in memory");
    assert_eq!(waiter.finish().unwrap_err(), Reason::OBJECT_DAMAGED);
    let refused = try_put(&s, h, &mut md(PERSISTENT), 0, b"x");
    assert_eq!(refused, Err(Reason::OBJECT_DAMAGED));
    assert_bad(&w);
    assert_good(&w, COUNT);
    assert_eq!(w.message_count("AMQ7472E"), 1);
    drop((s, waiting));
    // What is damaged is met again, by whoever gets it; the queue manager starts and the rest runs.
    for how in [EndMode::Immediate, EndMode::Preemptive] {
        w.end(how);
        w.start();
        assert_good(&w, COUNT);
    }
    let s = w.connect();
    let h = open(&s, "BAD", BOTH);
    while next(&s, h, 0).is_ok() {}
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::OBJECT_DAMAGED);
    close(&s, h, 0).unwrap();
    drop(s);
    w.run("CLEAR QLOCAL(BAD)");
    assert_eq!(w.message_count("AMQ2061I"), 1);
    assert_like_new(&mut w);
}

#[test]
fn a_queue_file_that_cannot_be_used_at_the_start_does_not_keep_the_others() {
    type Harm = fn(&PathBuf);
    let harms: [Harm; 3] = [
        |path| spoil(path, 0),
        |path| spoil(path, 512),
        |path| std::fs::remove_file(path).unwrap(),
    ];
    for (case, harm) in harms.into_iter().enumerate() {
        let mut w = two_queues();
        w.end(EndMode::Immediate);
        harm(&file_of(&w, "BAD"));
        w.start();
        assert_eq!(w.message_count("AMQ7472E"), 1, "case {case}");
        assert_bad(&w);
        assert_good(&w, COUNT);
        // Checkpoints and restarts leave it as it is.
        w.restart();
        w.crash();
        assert_eq!(w.message_count("AMQ7472E"), 3, "case {case}");
        assert_bad(&w);
        assert_good(&w, COUNT);
        if case == 0 {
            w.run("DELETE QLOCAL(BAD) PURGE\nDEFINE QLOCAL(BAD)");
        } else {
            w.run("CLEAR QLOCAL(BAD)");
        }
        assert_like_new(&mut w);
    }
}

/// The first block of a queue file is rotten, and nothing else: what is behind it is there when that block is again.
#[test]
fn a_queue_file_with_a_rotten_head_is_not_emptied() {
    let mut w = two_queues();
    w.end(EndMode::Immediate);
    let path = file_of(&w, "BAD");
    let head = std::fs::read(&path).unwrap()[..512].to_vec();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(b"garbage!", 0).unwrap();
    w.start();
    assert_eq!(w.message_count("AMQ7472E"), 1);
    assert_bad(&w);
    w.end(EndMode::Immediate);
    file.write_all_at(&head, 0).unwrap();
    w.start();
    let s = w.connect();
    let h = open(&s, "BAD", BOTH);
    assert_eq!(drain(&s, h).len(), COUNT);
    assert_good(&w, COUNT);
}

/// The same of a first block that the device cannot read.
#[test]
fn a_queue_file_whose_head_cannot_be_read_does_not_keep_the_others() {
    let mut w = two_queues();
    w.end(EndMode::Immediate);
    *w.stage.unreadable_head.lock() = Some("BAD");
    w.start();
    assert_eq!(w.message_count("AMQ7472E"), 1);
    assert_bad(&w);
    assert_good(&w, COUNT);
    w.end(EndMode::Immediate);
    *w.stage.unreadable_head.lock() = None;
    w.start();
    let s = w.connect();
    let h = open(&s, "BAD", BOTH);
    assert_eq!(drain(&s, h).len(), COUNT);
}

/// A queue manager is killed right after a damaged queue was cleared.
#[test]
fn a_cleared_queue_stays_usable_after_a_crash() {
    let mut w = two_queues();
    w.end(EndMode::Immediate);
    spoil(&file_of(&w, "BAD"), 0);
    w.start();
    w.run("CLEAR QLOCAL(BAD)");
    w.crash();
    assert_like_new(&mut w);
}

/// The disk fills up in the checkpoint that makes a cleared queue usable. What is put there until the next one is
/// acknowledged, so it must not take another `CLEAR` to make the queue usable after a crash.
#[test]
fn what_is_put_on_a_cleared_queue_before_the_next_image_survives_a_crash() {
    for from in [0, 512] {
        let mut w = two_queues();
        w.end(EndMode::Immediate);
        spoil(&file_of(&w, "BAD"), from);
        w.start();
        let s = w.connect();
        let good = open(&s, "GOOD", IN_OUT);
        next(&s, good, 0).unwrap();
        let stage = w.stage.clone();
        w.on_message("AMQ2061I", move || stage.full.store(true, SeqCst));
        w.run("CLEAR QLOCAL(BAD)");
        assert_eq!(
            (w.message_count("AMQ2061I"), w.message_count("AMQ2005E")),
            (1, 1)
        );
        w.stage.full.store(false, SeqCst);
        let bad = open(&s, "BAD", IN_OUT);
        for text in ["1", "2", "3"] {
            send_in_time(&s, bad, md(PERSISTENT), 0, text.as_bytes());
        }
        drop(s);
        w.crash();
        let s = w.connect();
        let bad = open(&s, "BAD", BOTH);
        assert_eq!(browse(&s, bad), ["1", "2", "3"]);
        close(&s, bad, 0).unwrap();
        drop(s);
        for _ in 0..2 {
            w.restart();
            assert_eq!(w.depth("BAD"), 3);
        }
        let s = w.connect();
        let bad = open(&s, "BAD", BOTH);
        assert_eq!(drain(&s, bad), ["1", "2", "3"]);
        assert_good(&w, COUNT - 1);
    }
}

/// The file of a queue is gone, and the log has messages that are filed in a new one: they must not come to lie where
/// the index of the old one was, because they would be read as that.
#[test]
fn nothing_is_filed_where_a_lost_index_was() {
    const FEW: usize = 20;
    // A message is as long as some number of entries of an index.
    for length in 100..134 {
        let mut w = World::with(|c| {
            c.log_config.file_pages = 64;
            c.pq_buffer = 1;
        });
        w.run("DEFINE QLOCAL(BAD)");
        for count in [FEW, 2 * FEW] {
            w.restart();
            let s = w.connect();
            let h = open(&s, "BAD", MQOO_OUTPUT);
            for n in 0..count {
                put(
                    &s,
                    h,
                    PERSISTENT,
                    MQPMO_SYNCPOINT,
                    format!("{n:length$}").as_bytes(),
                );
            }
            commit(&s);
        }
        w.kill();
        std::fs::remove_file(file_of(&w, "BAD")).unwrap();
        w.start();
        for _ in 0..2 {
            assert_eq!(w.depth("BAD"), 2 * FEW as u32, "{length}");
            w.restart();
        }
        assert_bad(&w);
    }
}

/// The disk says that it has written a part of an index, and has not. What was there is a part of an earlier index, as
/// long, in the same place and whole: it names messages that are gone, and not those that came since.
#[test]
fn an_older_part_of_an_index_is_not_taken_for_one_that_the_disk_lost() {
    let mut w = two_queues();
    w.restart();
    *w.stage.lose_over.lock() = Some(COUNT as u32 * 34);
    // Places are used again two checkpoints later.
    for round in 0.. {
        assert!(round < 100, "no part was written over another one");
        let s = w.connect();
        let h = open(&s, "BAD", IN_OUT);
        next(&s, h, 0).unwrap();
        put(&s, h, PERSISTENT, 0, format!("new {round}").as_bytes());
        drop(s);
        w.end(EndMode::Immediate);
        if w.stage.lose_over.lock().is_none() {
            break;
        }
        w.start();
    }
    w.start();
    assert_eq!(w.message_count("AMQ7472E"), 1);
    // As `posthaste check --data` has it.
    let damaged = w.qm().read_all().1;
    assert_eq!(damaged.len(), 1, "{damaged:?}");
    assert_eq!(damaged[0].0, "BAD");
    assert_bad(&w);
    assert_good(&w, COUNT);
    w.run("CLEAR QLOCAL(BAD)");
    assert_like_new(&mut w);
}

/// The newer of the two copies in the log's control file rots: the older one names an image that is gone.
#[test]
fn a_damaged_control_file_is_named_and_not_the_queue_files() {
    let mut w = World::light();
    w.restart();
    w.end(EndMode::Immediate);
    let path = w.config.log.join("LOG.CTL");
    let bytes = std::fs::read(&path).unwrap();
    let identity = w.config.data.join("identity");
    let last_run = std::fs::read(&identity).unwrap();
    let mut blamed = 0;
    for copy in [0, 4096] {
        let mut rotten = bytes.clone();
        rotten[copy + 100] ^= 1;
        std::fs::write(&path, &rotten).unwrap();
        std::fs::write(&identity, &last_run).unwrap();
        let started = QueueManager::start(
            &w.env,
            w.config.clone(),
            std::sync::Arc::new(posthaste_engine::Silent),
        );
        match started {
            Err(StartError::Log(LogError::ControlDamaged { file, .. })) => {
                assert!(file.ends_with("LOG.CTL"), "{file}");
                blamed += 1;
            }
            Err(other) => panic!("{other}"),
            // The older one rots: nobody needs it.
            Ok(started) => drop(started),
        }
    }
    assert_eq!(blamed, 1);
}
