//! Disks that are full or do not answer: what applications and the operator are told, and that
//! nothing is lost. Full queue files are in `spill.rs`.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::cell::Cell;
use std::io::ErrorKind;
use std::sync::atomic::Ordering::SeqCst;

use bytes::Bytes;
use posthaste_engine::{EndMode, QueueManager, StartError, Stop};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Od, Reason};
use world::*;

/// The log cannot get the file it needs: the operator is told, everybody works on in what there is,
/// and when there is room again the next lack is told again.
#[test]
fn a_log_whose_disk_is_full_is_told_and_goes_on() {
    let mut w = World::with_log_files(3, 2);
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
    assert_eq!(w.message_count("AMQ6708E"), 1, "told once a minute");
    assert_eq!(block_on(long.commit()), Err(Reason::BACKED_OUT));
    assert_eq!(w.message_count("AMQ7469W"), 1);
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
        assert_eq!((stop.exit_code(), w.message_count("AMQ2004S")), (72, 1));
        w.end_threads();
        *w.stage.unsyncable.lock() = None;
        w.start();
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        let expected: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        assert_eq!(drain(&s, h), expected);
    }
}

/// A queue file that cannot be written, for another reason than want of room, is no full disk: puts would be refused for
/// ever, and messages that cannot be filed stay in memory. The log has them.
#[test]
fn a_queue_file_that_cannot_be_written_is_not_taken_for_a_full_disk() {
    let mut w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let mut kept = Vec::new();
    *w.stage.unwritable.lock() = Some(ErrorKind::Other);
    for n in 0..100 {
        let data = format!("{n:3000}");
        match try_put(&s, h, &mut md(PERSISTENT), 0, data.as_bytes()) {
            Ok(_) => kept.push(data),
            Err(reason) => {
                let expected = [Reason::Q_SPACE_NOT_AVAILABLE, Reason::CONNECTION_BROKEN];
                assert!(expected.contains(&reason), "{reason}");
                break;
            }
        }
    }
    block_on(w.qm().ended());
    let stop = w.qm().stopped().unwrap();
    assert_eq!(
        (stop.exit_code(), w.message_count("AMQ2004S")),
        (72, 1),
        "{stop}"
    );
    assert_eq!(
        w.message_count("AMQ2005E"),
        0,
        "nobody speaks of a full disk"
    );
    drop(s);
    w.kill();
    *w.stage.unwritable.lock() = None;
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), kept);
}

/// A publication that waits for room when the queue manager stops is not one that its subscribers refuse (2502). Not every
/// one waits just then.
#[test]
fn a_publication_that_meets_the_end_of_the_queue_manager_says_so() {
    for _ in 0..12 {
        let mut w = World::with(|c| (c.q_buffer, c.pq_buffer) = (20_000, 20_000));
        w.run(&format!("DEFINE SUB(S) TOPICSTR('t') DEST({LOCAL})"));
        let s = w.connect();
        let mut od = Od {
            version: MQOD_VERSION_4,
            object_type: MQOT_TOPIC,
            object_string: "t".to_owned(),
            ..Od::default()
        };
        let topic = open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
        *w.stage.unwritable.lock() = Some(ErrorKind::Other);
        let data = vec![b'x'; 3_000];
        let publish = |_: i32| try_put(&s, topic, &mut md(PERSISTENT), 0, &data).err();
        let refused = (0..100).find_map(publish);
        assert_eq!(refused, Some(Reason::CONNECTION_BROKEN));
        block_on(w.qm().ended());
        drop(s);
        w.kill();
    }
}

/// The process has as many files open as it may: puts that need a queue's file are refused, checkpoints and an end wait
/// for better times, and nothing is lost; the disk is neither full nor broken.
#[test]
fn files_that_cannot_be_opened_are_no_full_and_no_broken_disk() {
    let mut w = World::with(|c| {
        (c.q_buffer, c.pq_buffer) = (20_000, 20_000);
        c.log_config.file_pages = 64;
    });
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    w.stage.no_descriptors.store(true, SeqCst);
    let mut kept = Vec::new();
    let mut offer = |n: usize| {
        let data = format!("{n:3000}");
        let put = try_put(&s, h, &mut md(PERSISTENT), 0, data.as_bytes());
        put.map(|_| kept.push(data))
    };
    let refused = (0..100).find_map(|n| offer(n).err());
    assert_eq!(refused, Some(Reason::Q_SPACE_NOT_AVAILABLE));
    assert_eq!(
        (w.message_count("AMQ2069E"), w.message_count("AMQ2005E")),
        (1, 0)
    );
    w.stage.no_descriptors.store(false, SeqCst);
    offer(100).unwrap();
    assert!(w.qm().stopped().is_none());
    w.stage.no_descriptors.store(true, SeqCst);
    drop(s);
    let stop = block_on(w.qm().end(EndMode::Immediate)).unwrap_err();
    assert!(stop.to_string().contains("no more files"), "{stop}");
    w.end_threads();
    w.stage.no_descriptors.store(false, SeqCst);
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), kept);
}

/// A disk may not answer for long. What is under way then is written after the end, into files that a successor would have made its own.
#[test]
fn files_stay_locked_while_a_write_goes_on_after_the_end() {
    let mut w = World::pausable();
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    w.stage.pause();
    let putting = s.clone();
    let data = Bytes::from_static(b"under way");
    drop(Call::begin(async move {
        let (mut md, mut pmo) = (md(PERSISTENT), pmo(0));
        putting.put(h, &mut md, &mut pmo, data).await
    }));
    block_on(w.qm().end(EndMode::Preemptive)).unwrap();
    let successor = || QueueManager::start(&w.env, w.config.clone(), w.operator());
    let refused = successor().err();
    assert!(matches!(refused, Some(StartError::InUse(_))), "{refused:?}");
    w.stage.resume();
    w.end_threads();
    w.start();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    assert_eq!(drain(&s, h), ["under way"]);
}

/// A queue keeps its non-persistent messages over an end in order, but the disk has no room for them.
#[test]
fn non_persistent_messages_that_an_end_has_no_room_for_are_counted() {
    let mut w = World::light();
    for (queue, count) in [("KEEPS", 5), ("TOO", 2), ("NOT", 3)] {
        let class = if queue == "NOT" { "NORMAL" } else { "HIGH" };
        w.run(&format!("DEFINE QLOCAL({queue}) NPMCLASS({class})"));
        let s = w.connect();
        let h = open(&s, queue, IN_OUT);
        for _ in 0..count {
            put(&s, h, NOT_PERSISTENT, 0, b"x");
        }
    }
    w.stage.full.store(true, SeqCst);
    w.end(EndMode::Immediate);
    assert_eq!(w.message_count("AMQ2070W"), 1);
    assert_eq!(
        w.last_inserts("AMQ2070W"),
        ["7", "QM1", "KEEPS (5), TOO (2)"]
    );
    w.stage.full.store(false, SeqCst);
    w.start();
    assert_eq!((w.depth("KEEPS"), w.depth("TOO")), (0, 0));
}

/// The log is full, and no checkpoint can be written: however often one is tried, what is left of the log stays for gets.
#[test]
fn checkpoints_that_fail_use_nothing_of_a_full_log_up() {
    let w = World::with_log_files(2, 1);
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    w.stage.no_image_from.store(0, SeqCst);
    // While a checkpoint has spent the reserve, puts are refused for that.
    let refused_for_the_log = |times: usize| {
        let refused = Cell::new(0);
        until("puts are refused for want of room in the log", || {
            let put = try_put(&s, h, &mut md(PERSISTENT), 0, &[7; 20_000]);
            let full = put.is_err() && w.qm().log().usage().ordinary_left < 21_000;
            refused.set(refused.get() + usize::from(full));
            refused.get() == times
        });
        w.qm().log().usage().used
    };
    let before = refused_for_the_log(1);
    let after = refused_for_the_log(2);
    assert_eq!(after, before);
    next(&s, h, 0).unwrap();
}

/// Where checkpoints find no room on the data disk, as one without inodes, nothing makes room in the log: who puts is told of the
/// disk, and does not wait for the log.
#[test]
fn a_put_that_the_log_has_no_room_for_is_refused_for_the_disk_that_keeps_it_full() {
    let w = World::with_log_files(2, 1);
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)\nDEFINE SUB(S) TOPICSTR('t') DEST(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let topic = open_od(&s, &mut topic("t"), MQOO_OUTPUT).unwrap();
    w.stage.no_image_from.store(0, SeqCst);
    let refused = |at: Hobj, options| {
        let refused = Cell::new(None);
        until("a put is refused", || {
            let put = try_put(&s, at, &mut md(PERSISTENT), options, &[7; 20_000]);
            refused.set(put.err());
            refused.get().is_some() && w.qm().log().usage().ordinary_left < 21_000
        });
        refused.get()
    };
    for (at, options) in [(h, 0), (h, MQPMO_SYNCPOINT), (topic, 0)] {
        assert_eq!(refused(at, options), Some(Reason::Q_SPACE_NOT_AVAILABLE));
    }
    assert!(w.message_count("AMQ2005E") > 0);
    w.stage.no_image_from.store(u64::MAX, SeqCst);
    until("there is room", || {
        try_put(&s, h, &mut md(PERSISTENT), 0, b"fits").is_ok()
    });
}

/// Without inodes a checkpoint fails whatever room is kept for it: none is given up, and puts go on as long as the log has room.
#[test]
fn without_inodes_puts_are_refused_only_when_the_log_is_full() {
    let w = World::with_log_files(2, 1);
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    w.stage.no_image_from.store(0, SeqCst);
    w.stage.no_inodes.store(true, SeqCst);
    let mut refused = 0;
    while w.message_count("AMQ2005E") < 1 || refused < 100 {
        let before = w.qm().log().usage().ordinary_left;
        match try_put(&s, h, &mut md(PERSISTENT), 0, &[7; 20_000]) {
            Ok(_) => {}
            Err(reason) => {
                assert_eq!(reason, Reason::Q_SPACE_NOT_AVAILABLE);
                assert!(before < 42_000, "{before}");
                refused += 1;
            }
        }
    }
    assert_eq!(w.message_count("AMQ2066W"), 0);
    w.stage.no_image_from.store(u64::MAX, SeqCst);
    w.stage.no_inodes.store(false, SeqCst);
    until("there is room", || {
        try_put(&s, h, &mut md(PERSISTENT), 0, b"fits").is_ok()
    });
}

/// A log that gets have filled to the last page: units of work with thousands of gets are open when it crashes, and
/// the restart has to undo them without the room to say so. It starts, and every message is there.
#[test]
fn a_log_filled_by_gets_in_units_of_work_starts_again() {
    const MESSAGES: usize = 26_000;
    let mut w = World::with_log_files(2, 1);
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
    // From now on no checkpoint comes to its end: what is put now would have to be filed.
    w.stage.full.store(true, SeqCst);
    put(&s, h, PERSISTENT, 0, b"x");
    let total = w.qm().log().usage().total;
    let used = || w.qm().log().usage().used;
    let mut got = 0;
    while let Ok(taken) = next(&s, h, MQGMO_SYNCPOINT) {
        assert_eq!(taken.data.len(), 1);
        got += 1;
    }
    assert!(
        (10_000..MESSAGES).contains(&got),
        "{got} gets, {} of {total} used",
        used()
    );
    w.kill();
    w.stage.full.store(false, SeqCst);
    w.start();
    drop(s);
    assert_eq!(w.depth("Q") as usize, MESSAGES + 1);
    // And it works on.
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    put(&s, h, PERSISTENT, 0, b"y");
    assert_eq!(next(&s, h, 0).unwrap().md.backout_count, 1);
}

/// The next log file does not fit on the disk, and nobody knows yet: gets wait until that is clear, because a record
/// that was taken without a place for it would end the queue manager.
#[test]
fn gets_wait_for_the_log_file_that_they_need() {
    let mut w = World::with_log_files(2, 1);
    w.stage.log_full.store(true, SeqCst);
    w.run("ALTER QMGR MAXUMSGS(100000)\nDEFINE QLOCAL(Q) MAXDEPTH(100000)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    for n in 0..8_000 {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        if n % 100 == 99 {
            commit(&s);
        }
    }
    drop(s);
    w.restart();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    w.stage.pause();
    let put_one = || {
        let s = s.clone();
        Call::attempt(async move {
            let data = Bytes::from_static(&[b'x'; 10_000]);
            let mut unit = pmo(MQPMO_SYNCPOINT);
            s.put(h, &mut md(PERSISTENT), &mut unit, data).await
        })
    };
    while put_one().is_some_and(|put| put.is_ok()) {}
    let get = || Call::attempt(getting(s.clone(), h, md(0), gmo(MQGMO_SYNCPOINT), 1));
    while let Some(taken) = get() {
        assert_eq!(taken.unwrap().text(), "x");
    }
    w.stage.resume();
    drop(s);
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    put(&s, h, PERSISTENT, 0, b"x");
    assert_eq!(w.depth("Q"), 8_001);
}

/// The disk of the queue files is full, so no checkpoint comes to its end and the log fills: whoever has a unit of
/// work open is not to blame, and taking it down would make no room.
#[test]
fn a_full_disk_of_queue_files_backs_nobody_out() {
    let w = World::with(|c| {
        c.log_config.file_pages = 64;
        (c.q_buffer, c.pq_buffer) = (20_000, 20_000);
    });
    w.run("DEFINE QLOCAL(OPEN)\nDEFINE QLOCAL(OLD)");
    w.stage.full.store(true, SeqCst);
    // Nobody gets this one: every checkpoint would have to file it, and holds the log until it can.
    let s = w.connect();
    let h = open(&s, "OLD", MQOO_OUTPUT);
    put(&s, h, PERSISTENT, 0, b"old");
    let mut applications = Vec::new();
    for _ in 0..10 {
        let s = w.connect();
        let h = open(&s, "OPEN", MQOO_OUTPUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"open");
        applications.push(s);
    }
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let data = [b'x'; 3000];
    until("a full log", || {
        match try_put(&s, h, &mut md(PERSISTENT), 0, &data) {
            Ok(_) => false,
            Err(Reason::Q_SPACE_NOT_AVAILABLE) if w.qm().log().usage().ordinary_left < 4096 => true,
            // The queue is full, or a checkpoint has just spent what is kept for it.
            Err(Reason::Q_SPACE_NOT_AVAILABLE) => {
                let got = next(&s, h, 0).err();
                assert!(matches!(
                    got,
                    None | Some(Reason::NO_MSG_AVAILABLE | Reason::RESOURCE_PROBLEM)
                ));
                // The log may have filled between the two calls.
                got == Some(Reason::RESOURCE_PROBLEM)
            }
            Err(reason) => {
                assert_eq!(reason, Reason::RESOURCE_PROBLEM);
                true
            }
        }
    });
    // Who may wait for room does so in vain.
    until("no room for definitions", || {
        !w.mqsc("ALTER QLOCAL(OPEN) DESCR('x')").ok
    });
    assert_eq!(
        (w.message_count("AMQ6709I"), w.message_count("AMQ7469W")),
        (1, 0)
    );
    for s in &applications {
        commit(s);
    }
    w.stage.full.store(false, SeqCst);
    assert_eq!(w.depth("OPEN"), 10);
}

/// Only the unit of work that holds the log is taken down, and the operator has heard of it before.
#[test]
fn the_unit_of_work_that_holds_the_log_is_named_and_then_taken_down_alone() {
    let w = World::with(|c| c.log_config.file_pages = 64);
    w.run("DEFINE QLOCAL(OPEN)");
    let long = w.qm().connect(who("long one")).unwrap();
    let h = open(&long, "OPEN", MQOO_OUTPUT);
    put(&long, h, PERSISTENT, MQPMO_SYNCPOINT, b"long");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let data = [b'x'; 9000];
    let work = || {
        put(&s, h, PERSISTENT, 0, &data);
        next(&s, h, 0).unwrap();
    };
    while w.message_count("AMQ2062W") == 0 {
        assert_eq!(w.message_count("AMQ7469W"), 0, "warned before");
        work();
    }
    let young = w.connect();
    let h = open(&young, "OPEN", MQOO_OUTPUT);
    put(&young, h, PERSISTENT, MQPMO_SYNCPOINT, b"young");
    while w.message_count("AMQ7469W") == 0 {
        work();
    }
    for id in ["AMQ2062W", "AMQ7469W"] {
        let inserts = w.last_inserts(id);
        assert!(
            inserts.contains(&"long one".to_owned()),
            "{id}: {inserts:?}"
        );
        let bytes: u64 = inserts.last().unwrap().parse().unwrap();
        assert!(bytes > w.qm().log().usage().total / 3, "{id}: {inserts:?}");
    }
    commit(&young);
    assert_eq!(block_on(long.commit()), Err(Reason::BACKED_OUT));
    assert_eq!(w.message_count("AMQ7469W"), 1);
}

/// Whoever holds the log is named when half of it is held and when 70 % are, wherever checkpoints fall.
#[test]
fn a_unit_of_work_is_named_as_soon_as_it_holds_half_of_the_log_and_most_of_it() {
    let w = World::new();
    w.run("DEFINE QLOCAL(OPEN)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let work = || {
        put(&s, h, PERSISTENT, 0, &[b'x'; 12_000]);
        next(&s, h, 0).unwrap();
    };
    // It begins where a log file does: what is before it in its file is lost for the others too, and with most of a file lost
    // it is taken down before it holds 70 %.
    let file = w.qm().log().usage().primary / 3;
    while w.qm().log().appended().0 < file {
        work();
    }
    let long = w.connect();
    let open = open(&long, "OPEN", MQOO_OUTPUT);
    put(&long, open, PERSISTENT, MQPMO_SYNCPOINT, b"long");
    let from = w.qm().log().appended().0;
    let mut percents = Vec::new();
    while w.message_count("AMQ7469W") == 0 {
        work();
        // What maintenance does, it does in its own time.
        let held = (w.qm().log().appended().0 - from) * 100 / w.qm().log().usage().total;
        let due = [51, 71].iter().filter(|mark| held > **mark).count();
        if held < 80 {
            until("a warning", || w.message_count("AMQ2062W") >= due);
        }
        if w.message_count("AMQ2062W") > percents.len() {
            percents.push(w.last_inserts("AMQ2062W")[0].parse::<u32>().unwrap());
        }
    }
    assert!(matches!(percents[..], [50..=52, 70..=76]), "{percents:?}");
}

/// A message that the log could not hold if it were empty: the operator hears both sizes.
#[test]
fn a_message_too_long_for_the_log_is_refused_with_both_sizes() {
    let w = World::light();
    w.run("DEFINE QLOCAL(LONG) MAXMSGL(4000000)\nALTER QMGR MAXMSGL(4000000)");
    let s = w.connect();
    let h = open(&s, "LONG", MQOO_OUTPUT);
    let long = vec![b'x'; 3_000_000];
    let refused = try_put(&s, h, &mut md(PERSISTENT), 0, &long);
    assert_eq!(refused, Err(Reason::RESOURCE_PROBLEM));
    let sizes: Vec<u64> = w
        .last_inserts("AMQ2063E")
        .iter()
        .map(|n| n.parse().unwrap())
        .collect();
    let usage = w.qm().log().usage();
    assert_eq!(sizes[1], usage.total - usage.reserve);
    assert!(sizes[0] >= 3_000_000 && sizes[0] < 3_001_000, "{sizes:?}");
}

/// Definitions alone fill a log: they wait for a checkpoint to make room, as puts do.
#[test]
fn definitions_wait_for_room_in_the_log() {
    let w = World::with_log_files(2, 1);
    let image = w.image();
    for n in 0..400 {
        w.run("ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) DESCR('again and again')");
        if n % 8 == 0 {
            w.run(&format!("DEFINE QLOCAL(Q{n})\nDELETE QLOCAL(Q{n})"));
        }
    }
    assert!(w.image() > image);
}
