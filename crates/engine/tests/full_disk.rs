//! A disk that fills up and heals: what checkpoints need is kept for them, what drains is given back, and neither a
//! crash nor a restart on the full disk costs a message.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::cell::Cell;
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;
use posthaste_engine::{EndMode, Session};
use posthaste_env::block_on;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Md, Name, Reason};
use world::*;

const MIB: u64 = 1 << 20;
const SIZE: usize = 20_000;

/// A queue manager on a simulated disk that has so much room left when it runs.
fn on_small_disk(free: u64) -> (World, SimDisk) {
    let disk = SimDisk::of_seed(7);
    let w = World::on_simulated(&disk, |c| {
        c.log_config.file_pages = 128;
        (c.q_buffer, c.pq_buffer) = (64 << 10, 64 << 10);
    });
    disk.set_free(Some(free));
    (w, disk)
}

fn text(n: usize) -> String {
    format!("{n:SIZE$}")
}

/// Puts until there is no room any more, and at least up to `least`, because maintenance may be about to give room
/// back; returns the number of the next message.
fn fill_at_least(s: &Session, h: Hobj, least: usize) -> usize {
    let put = Cell::new(0);
    until("room for as many messages", || {
        put.set(fill(s, h, put.get()));
        put.get() >= least
    });
    put.get()
}

/// Puts until there is no room any more; returns the number of the next message.
fn fill(s: &Session, h: Hobj, from: usize) -> usize {
    for n in from.. {
        match try_put(s, h, &mut md(PERSISTENT), 0, text(n).as_bytes()) {
            Ok(_) => assert!(n < 10_000, "the disk does not fill"),
            Err(reason) => {
                assert_eq!(reason, Reason::Q_SPACE_NOT_AVAILABLE);
                return n;
            }
        }
    }
    from
}

fn numbers(s: &Session, h: Hobj) -> Vec<usize> {
    let all = drain(s, h);
    all.iter()
        .map(|text| text.trim().parse().unwrap())
        .collect()
}

fn free(w: &World) -> u64 {
    w.env.disk.free_bytes(&w.config.data).unwrap()
}

/// Until so much is free. Messages pass through another queue meanwhile, because the log gives up the files that it has
/// made only when it moves on.
fn until_free(w: &World, bytes: u64) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    until("room", || {
        if try_put(&s, h, &mut md(PERSISTENT), 0, text(0).as_bytes()).is_ok() {
            next(&s, h, 0).unwrap();
        }
        free(w) >= bytes
    });
}

/// Until half of the room is there again that there was at first (a queue file may keep more than a MiB of itself, the
/// log has two more files than it began with, and the reserve grows), and puts may take it, for which the reserve comes
/// first.
fn until_healed(w: &World, roomy: u64) {
    until_free(w, roomy / 2);
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    until("a put", || {
        try_put(&s, h, &mut md(PERSISTENT), 0, b"probe").is_ok()
    });
    next(&s, h, 0).unwrap();
}

#[test]
fn a_disk_that_was_full_takes_as_much_again_once_the_queue_has_been_emptied() {
    let (mut w, _disk) = on_small_disk(8 * MIB);
    w.run("DEFINE QLOCAL(Q) MAXDEPTH(99999)");
    let roomy = free(&w);
    let mut first = 0;
    for (round, how) in ["get", "CLEAR QLOCAL(Q)", "DELETE QLOCAL(Q) PURGE"]
        .into_iter()
        .enumerate()
    {
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        // Each time as much as the first time, but for what the log has grown meanwhile.
        let put = fill_at_least(&s, h, if round == 0 { 200 } else { first * 3 / 4 });
        first = first.max(put);
        // Full as it is: it ends in order, and starts again, and crashes.
        drop(s);
        w.restart();
        w.crash();
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        assert_eq!(w.depth("Q") as usize, put);
        match how {
            "get" => assert_eq!(numbers(&s, h), (0..put).collect::<Vec<_>>()),
            command => {
                drop(s);
                w.run(command);
                if command.starts_with("DELETE") {
                    w.run("DEFINE QLOCAL(Q) MAXDEPTH(99999)");
                }
            }
        }
        until_healed(&w, roomy);
    }
    assert_eq!(w.message_count("AMQ2004S"), 0, "it never stopped by itself");
}

/// A log that could not grow does not count, after a restart, on files that there is still no room for: what is accepted has its
/// place, so that nothing waits for a file until the queue manager stops.
#[test]
fn a_restart_on_a_full_disk_counts_on_no_file_that_cannot_be_made() {
    let disk = SimDisk::of_seed(7);
    let mut w = World::on_simulated(&disk, |c| {
        (c.log_config.file_pages, c.log_config.primary_files) = (64, 3);
        c.log_config.secondary_files = 1;
        (c.q_buffer, c.pq_buffer) = (64 << 10, 64 << 10);
    });
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    (0..3).fold(0, |n, _| put_one(&s, h, n));
    disk.set_free(Some(0));
    // More definitions than the room that is kept for a checkpoint: the log keeps them all, until it can grow no more.
    let defined = Cell::new(0);
    let blocked = |w: &World| w.qm().log().usage().blocked.is_some();
    until("a log that is full", || {
        // What a checkpoint has given back is somebody else's at once.
        disk.set_free(Some(0));
        let made = w.mqsc(&format!("DEFINE QLOCAL(D{})", defined.get()));
        defined.set(defined.get() + usize::from(made.ok));
        !made.ok && blocked(&w)
    });
    // What makes room may use some of what is kept for ends.
    let deleted = (0..defined.get())
        .take_while(|n| w.mqsc(&format!("DELETE QLOCAL(D{n})")).ok)
        .count();
    assert!(deleted > 0);
    drop(s);
    for _ in 0..2 {
        w.crash();
        assert!(blocked(&w), "known before anything is appended");
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        // It has no place for them, and says so; nothing is taken that would wait for one.
        let refused = next(&s, h, 0).map(drop);
        assert_eq!(refused, Err(Reason::RESOURCE_PROBLEM));
        let reply = w.mqsc(&format!("DELETE QLOCAL(D{deleted})"));
        assert_eq!(reply.reason, Reason::RESOURCE_PROBLEM);
        assert!(blocked(&w));
    }
    disk.set_free(Some(64 * MIB));
    until("room", || w.mqsc("DEFINE QLOCAL(D0)").ok);
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    assert_eq!(numbers(&s, h), [0, 1, 2]);
    drop(s);
    w.restart();
    assert_eq!(w.depth("Q"), 0);
    assert_eq!(w.message_count("AMQ2004S"), 0, "it never stopped by itself");
}

/// Messages in memory that only the log has, in many queues, on a disk that is full to the last page: the reserve
/// files them, and puts are refused until it is whole again. Getting some makes room for that.
#[test]
fn puts_are_refused_from_when_the_reserve_is_spent_until_it_is_whole() {
    let (w, disk) = on_small_disk(8 * MIB);
    w.run("DEFINE QLOCAL(BIG) MAXDEPTH(99999)");
    let s = w.connect();
    let big = open(&s, "BIG", IN_OUT);
    let mut put = 0;
    while put < 100 {
        put = put_one(&s, big, put);
    }
    for n in 0..20 {
        w.run(&format!("DEFINE QLOCAL(Q{n})"));
        let h = open(&s, &format!("Q{n}"), IN_OUT);
        put_one(&s, h, n);
    }
    // Somebody else takes all that is left of the disk.
    disk.set_free(Some(0));
    let reserve = w.config.data.join("checkpoint.reserve");
    let whole = disk.content(&reserve).unwrap().len();
    assert!(whole > 1 << 20, "{whole}");
    // The log goes on until a checkpoint has to file what is old.
    let other = w.connect();
    let h = open(&other, LOCAL, IN_OUT);
    let refused = loop {
        match try_put(&other, h, &mut md(PERSISTENT), 0, text(0).as_bytes()) {
            Ok(_) => drop(next(&other, h, 0).unwrap()),
            Err(reason) => break reason,
        }
    };
    assert_eq!(refused, Reason::Q_SPACE_NOT_AVAILABLE);
    until("the word", || w.message_count("AMQ2066W") == 1);
    // Gets, definitions and checkpoints go on, whatever the log holds.
    w.run("DEFINE QLOCAL(LATE)");
    let got: Vec<_> = (0..50)
        .map(|_| next(&s, big, 0).unwrap().text().trim().to_owned())
        .collect();
    assert_eq!(got[49], "49");
    until("room", || w.message_count("AMQ2067I") == 1);
    put_one(&other, h, 1);
    drop((s, other));
}

fn put_one(s: &Session, h: Hobj, n: usize) -> usize {
    put(s, h, PERSISTENT, 0, text(n).as_bytes());
    n + 1
}

/// The power goes at every operation while a full disk heals: nothing that was acknowledged is lost, nothing that was
/// got comes back, and it starts each time.
#[test]
fn a_crash_at_any_moment_of_healing_costs_nothing() {
    for cut in [2, 7, 30] {
        let (mut w, disk) = on_small_disk(6 * MIB);
        w.run("DEFINE QLOCAL(Q) MAXDEPTH(99999)\nDEFINE QLOCAL(KEPT) MAXDEPTH(99999)");
        let s = w.connect();
        let (q, kept) = (open(&s, "Q", IN_OUT), open(&s, "KEPT", IN_OUT));
        for n in 0..40 {
            put_one(&s, kept, n);
        }
        let put = fill_at_least(&s, q, 150);
        let got = numbers(&s, q);
        assert_eq!(got.len(), put);
        // What maintenance and the end do now, up to some operation.
        disk.cut_power_after(cut);
        drop(s);
        let ended = block_on(w.qm().end(EndMode::Immediate));
        w.end_threads();
        assert!(ended.is_ok() || disk.power_is_cut(), "{cut}: {ended:?}");
        disk.crash();
        w.remount(&disk);
        w.start();
        let s = w.connect();
        let (q, kept) = (open(&s, "Q", IN_OUT), open(&s, "KEPT", IN_OUT));
        assert_eq!(numbers(&s, q), [], "{cut}");
        assert_eq!(numbers(&s, kept), (0..40).collect::<Vec<_>>(), "{cut}");
        // As much as before, but for files that the log has made since.
        fill_at_least(&s, q, put * 8 / 10);
    }
}

/// The file of a queue has gone, and the queue is cleared when the disk is full: the file is made anew in the room that is
/// kept for checkpoints, and the queue manager ends in order.
#[test]
fn a_cleared_queue_without_its_file_begins_anew_on_a_full_disk() {
    let (mut w, disk) = on_small_disk(8 * MIB);
    w.run("DEFINE QLOCAL(Q)");
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    put_one(&s, h, 0);
    drop(s);
    w.end(EndMode::Immediate);
    let folder = w.config.data.join("queues");
    let names = w.env.disk.list(&folder).unwrap();
    let file = names.iter().find(|name| name.starts_with("Q.")).unwrap();
    w.env.disk.remove_file(&folder.join(file)).unwrap();
    w.start();
    assert_eq!(w.message_count("AMQ7472E"), 1);
    disk.set_free(Some(0));
    w.run("CLEAR QLOCAL(Q)");
    w.restart();
    assert_eq!(w.message_count("AMQ2061I"), 1);
    assert_eq!(w.depth("Q"), 0);
}

/// Messages of groups without data: their entries of the index take half as much as their log records. All that a
/// checkpoint distance of log holds of them has room in the reserve.
#[test]
fn the_index_of_very_many_small_messages_of_groups_finds_room_on_a_full_disk() {
    const COUNT: usize = 10_000;
    let disk = SimDisk::of_seed(7);
    let mut w = World::on_simulated(&disk, |c| {
        c.log_config.file_pages = 512;
        c.pq_buffer = 1;
    });
    w.run("DEFINE QLOCAL(A) MAXDEPTH(999999)");
    let s = w.connect();
    let h = open(&s, "A", MQOO_OUTPUT);
    for n in 1..=COUNT {
        let mut own = Md {
            version: MQMD_VERSION_2,
            msg_flags: MQMF_MSG_IN_GROUP,
            ..md(PERSISTENT)
        };
        try_put(&s, h, &mut own, MQPMO_SYNCPOINT | MQPMO_LOGICAL_ORDER, b"").unwrap();
        if n % 500 == 0 {
            commit(&s);
        }
    }
    drop(s);
    let image = w.image();
    disk.set_free(Some(0));
    w.end(EndMode::Immediate);
    assert_eq!(w.image(), image + 1, "no other checkpoint came before");
    w.start();
    assert_eq!(w.depth("A"), COUNT as u32);
}

/// A full disk has no room for the report on a persistent message that has expired: the message does not end without it.
#[test]
fn a_full_disk_takes_no_expiration_report_away() {
    let (w, disk) = on_small_disk(2 * MIB);
    w.run("DEFINE QLOCAL(ASKED)\nDEFINE QLOCAL(REPLIES)");
    let s = w.connect();
    let asked = open(&s, "ASKED", IN_OUT | MQOO_BROWSE);
    let asking = Md {
        expiry: 1,
        report: MQRO_EXPIRATION,
        reply_to_q: Name::new("REPLIES"),
        ..md(PERSISTENT)
    };
    send(&s, asked, asking, 0, b"x");
    // A checkpoint takes what is kept for it, and is held up then.
    let h = open(&s, LOCAL, IN_OUT);
    let closes = || {
        while w.qm().log().usage().ordinary_left > w.qm().log().usage().total / 4 {
            // An image that replaces another one leaves room.
            disk.set_free(Some(0));
            match try_put(&s, h, &mut md(PERSISTENT), 0, &[7; 3_000]) {
                Ok(_) => next(&s, h, 0).map(drop).unwrap(),
                Err(reason) => {
                    // Of one that has its name already there will be room in a moment.
                    let held_up = w.stage.images_held_up.load(Ordering::SeqCst) > 0;
                    return held_up && reason == Reason::Q_SPACE_NOT_AVAILABLE;
                }
            }
        }
        // The one that is held up began before the disk was full.
        false
    };
    let held_up = Cell::new(None);
    until("a disk without room for a message", || {
        held_up.take().into_iter().for_each(MutexGuard::unlock_fair);
        // An image that is begun from here on, on a log with room, is begun on a full disk.
        disk.set_free(Some(2 * MIB));
        until("room for messages", || {
            let usage = w.qm().log().usage();
            let put = try_put(&s, h, &mut md(PERSISTENT), 0, b"x");
            put.is_ok_and(|_| next(&s, h, 0).is_ok()) && usage.ordinary_left > usage.total / 2
        });
        disk.set_free(Some(0));
        held_up.set(Some(w.stage.images.lock()));
        closes()
    });
    until("expiry", || next(&s, asked, MQGMO_BROWSE_FIRST).is_err());
    assert_eq!((w.depth("ASKED"), w.depth("REPLIES")), (1, 0));
    assert_eq!(w.message_count("AMQ2017W"), 0);
    drop(held_up);
    disk.set_free(Some(2 * MIB));
    let replies = open(&s, "REPLIES", IN_OUT);
    until("the report", || {
        assert!(next(&s, asked, MQGMO_BROWSE_FIRST).is_err());
        next(&s, replies, 0).is_ok_and(|report| report.md.feedback == MQFB_EXPIRATION)
    });
    assert_eq!(w.depth("ASKED"), 0);
}
