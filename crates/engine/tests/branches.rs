//! Branches of global transactions: what is prepared stays in hand, over connections, restarts and checkpoints, until
//! somebody decides about it.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use posthaste_engine::{BranchError, Outcome, Session, Vote, Xid};
use posthaste_env::block_on;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use world::*;

const SYNC: i32 = MQGMO_SYNCPOINT;
const BOTH: [Outcome; 2] = [Outcome::Committed, Outcome::BackedOut];

fn xid(n: u8) -> Xid {
    Xid::new(1, &[n; 64], &[n]).unwrap()
}

fn prepare(s: &Session, xid: &Xid) {
    assert_eq!(block_on(s.prepare(xid)), Ok(Vote::Prepared));
}

fn resolve(w: &World, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
    block_on(w.connect().resolve(xid, outcome))
}

/// A small log, and a queue to fill it by.
fn small() -> World {
    let w = World::with_log_files(3, 1);
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    w
}

/// Writes the log until so many checkpoints have been taken.
fn checkpoints(w: &World, count: u64) {
    checkpoints_beside(w, count, &AtomicBool::new(false));
}

/// The same, but for the time in which others need the log.
fn checkpoints_beside(w: &World, count: u64, busy: &AtomicBool) {
    let s = w.connect();
    let h = open(&s, "FILL", IN_OUT);
    let wanted = w.image() + count;
    // Never far in front of the checkpoints: whoever keeps one from its end needs room in the log.
    let (image, lead) = (Cell::new(0), Cell::new(0));
    let most = w.qm().log().usage().total / 4;
    until("checkpoints", || {
        assert!(w.qm().stopped().is_none());
        if image.replace(w.image()) != w.image() {
            lead.set(0);
        }
        // The log may be full meanwhile.
        let idle = !busy.load(SeqCst) && lead.get() < most;
        if idle && try_put(&s, h, &mut md(PERSISTENT), 0, &[7; 20_000]).is_ok() {
            lead.set(lead.get() + 20_000);
            next(&s, h, 0).unwrap();
        }
        w.image() >= wanted
    });
}

/// A message that is there, one that was got and one that was put in a branch which is prepared.
fn one_branch(w: &World, xid: &Xid) {
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    for text in [b"got", b"now"] {
        put(&s, h, PERSISTENT, 0, text);
    }
    assert_eq!(next(&s, h, SYNC).unwrap().text(), "got");
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"put");
    prepare(&s, xid);
}

/// What a branch has in hand is nobody's.
fn is_in_hand(w: &World, xid: &Xid) {
    let s = w.connect();
    assert_eq!(s.recover().unwrap(), std::slice::from_ref(xid));
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    assert_eq!(browse(&s, h), ["now"]);
    assert_eq!(w.depth(LOCAL), 2, "an uncommitted put counts");
    assert!(w.status(LOCAL).uncommitted);
    let refused = w.mqsc(&format!("CLEAR QLOCAL({LOCAL})"));
    assert!(!refused.ok);
    drop((s, h));
    let answer = format!("{:?}", w.mqsc(&format!("CLEAR QLOCAL({LOCAL})")));
    assert!(
        answer.contains("one uncommitted put, one uncommitted get"),
        "{answer}"
    );
    assert!(answer.contains(&xid.to_string()), "{answer}");
    w.qm().check().unwrap();
}

/// All of it has happened, or none.
fn has_ended(w: &World, outcome: Outcome) {
    assert!(w.qm().in_doubt().is_empty());
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    if outcome == Outcome::BackedOut {
        let back = next(&s, h, 0).unwrap();
        assert_eq!((back.text().as_str(), back.md.backout_count), ("got", 1));
    }
    assert_eq!(next(&s, h, 0).unwrap().text(), "now");
    if outcome == Outcome::Committed {
        assert_eq!(next(&s, h, 0).unwrap().text(), "put");
    }
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    assert!(!w.status(LOCAL).uncommitted);
    w.qm().check().unwrap();
}

/// Everything that may come between a prepare and what is decided, and between that and the proof.
const TURNS: [fn(&mut World); 6] = [
    |_| {},
    World::crash,
    World::restart,
    |w| {
        w.crash();
        w.crash();
    },
    |w| {
        checkpoints(w, 3);
        w.crash();
    },
    |w| {
        checkpoints(w, 1);
        w.crash();
        checkpoints(w, 3);
        w.restart();
        w.crash();
    },
];

#[test]
fn what_is_prepared_stays_in_hand_until_somebody_decides() {
    for (n, before) in TURNS.iter().enumerate() {
        for outcome in BOTH {
            let mut w = small();
            let id = xid(n as u8);
            one_branch(&w, &id);
            is_in_hand(&w, &id);
            before(&mut w);
            is_in_hand(&w, &id);
            resolve(&w, &id, outcome).unwrap();
            assert_eq!(resolve(&w, &id, outcome), Err(BranchError::Unknown));
            TURNS[(n + 1) % TURNS.len()](&mut w);
            has_ended(&w, outcome);
        }
    }
}

/// What was decided at the last moment before a crash, with an image in force from when it was not.
#[test]
fn what_was_decided_behind_an_image_that_carries_the_branch_holds() {
    for outcome in BOTH {
        let mut w = small();
        one_branch(&w, &xid(1));
        checkpoints(&w, 3);
        resolve(&w, &xid(1), outcome).unwrap();
        w.crash();
        checkpoints(&w, 1);
        w.crash();
        has_ended(&w, outcome);
    }
}

#[test]
fn the_log_moves_past_a_branch_in_doubt() {
    let w = small();
    one_branch(&w, &xid(1));
    let begun = w.qm().log().appended();
    // Several times around.
    checkpoints(&w, 30);
    let usage = w.qm().log().usage();
    assert!(usage.restart > begun, "{usage:?}");
    assert_eq!(w.message_count("AMQ7469W"), 0);
    assert_eq!(w.message_count("AMQ2062W"), 0);
    is_in_hand(&w, &xid(1));
}

#[test]
fn a_heuristic_decision_is_remembered_until_it_is_forgotten() {
    for outcome in BOTH {
        for turn in TURNS {
            let mut w = small();
            one_branch(&w, &xid(1));
            assert_eq!(
                block_on(w.connect().forget(&xid(1))),
                Err(BranchError::Protocol)
            );
            block_on(w.qm().decide(&xid(1), outcome)).unwrap();
            turn(&mut w);
            let known = w.qm().in_doubt();
            assert_eq!(known.len(), 1);
            assert_eq!(
                (&known[0].xid, known[0].heuristic),
                (&xid(1), Some(outcome))
            );
            assert!(known[0].started > 0);
            for wanted in BOTH {
                let answer = resolve(&w, &xid(1), wanted);
                assert_eq!(answer, Err(BranchError::Heuristic(outcome)));
            }
            block_on(w.connect().forget(&xid(1))).unwrap();
            turn(&mut w);
            has_ended(&w, outcome);
        }
    }
}

#[test]
fn a_prepare_that_comes_to_nothing() {
    let w = World::new();
    w.run("DEFINE QLOCAL(SHORT) MAXDEPTH(1)");
    let (one, other) = (w.connect(), w.connect());
    assert_eq!(block_on(one.prepare(&xid(1))), Ok(Vote::ReadOnly));
    let [h, o] = [&one, &other].map(|s| open(s, LOCAL, IN_OUT));
    put(&one, h, PERSISTENT, MQPMO_SYNCPOINT, b"one");
    prepare(&one, &xid(1));
    // The unit of work goes on where its identifier was taken.
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"other");
    assert_eq!(
        block_on(other.prepare(&xid(1))),
        Err(BranchError::Duplicate)
    );
    put(&other, o, PERSISTENT, MQPMO_SYNCPOINT, b"more");
    commit(&other);
    // The connection that prepared has nothing in hand any more.
    commit(&one);
    assert_eq!(drain(&other, o), ["other", "more"]);
    // One that lacks a message is not prepared.
    let short = open(&one, "SHORT", IN_OUT);
    let asynchronous = MQPMO_SYNCPOINT | MQPMO_ASYNC_RESPONSE;
    put(&one, short, PERSISTENT, asynchronous, b"there");
    try_put(&one, short, &mut md(PERSISTENT), asynchronous, b"missing").unwrap_err();
    assert_eq!(block_on(one.prepare(&xid(2))), Err(BranchError::RolledBack));
    assert_eq!(w.depth("SHORT"), 0);
    assert_eq!(one.recover().unwrap(), [xid(1)]);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    assert_eq!(drain(&other, o), ["one"]);
    assert_eq!(block_on(one.forget(&xid(1))), Err(BranchError::Unknown));
    w.qm().check().unwrap();
}

/// An identifier that is in use is refused, whatever the connection has to prepare.
#[test]
fn an_identifier_that_is_in_use_is_refused_without_work_to_prepare_too() {
    let w = World::new();
    one_branch(&w, &xid(1));
    let idle = w.connect();
    let refused = Err(BranchError::Duplicate);
    assert_eq!(block_on(idle.prepare(&xid(1))), refused);
    block_on(w.qm().decide(&xid(1), Outcome::Committed)).unwrap();
    assert_eq!(block_on(idle.prepare(&xid(1))), refused);
    block_on(idle.forget(&xid(1))).unwrap();
    assert_eq!(block_on(idle.prepare(&xid(1))), Ok(Vote::ReadOnly));
}

/// Nobody can decide about a branch before it is prepared for certain.
#[test]
fn a_branch_is_not_recovered_before_its_prepare_is_forced() {
    let w = World::pausable();
    let (s, other) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
    w.stage.pause();
    let preparing = s.clone();
    let call = Call::begin(async move { preparing.prepare(&xid(1)).await });
    let listed = (other.recover().unwrap(), w.qm().in_doubt());
    assert_eq!(
        block_on(other.prepare(&xid(1))),
        Err(BranchError::Duplicate)
    );
    w.stage.resume();
    assert_eq!(listed, (vec![], vec![]));
    assert_eq!(call.finish(), Ok(Vote::Prepared));
    assert_eq!(other.recover().unwrap(), [xid(1)]);
    // One that is being resolved may be in doubt again after a crash.
    w.stage.pause();
    let (resolving, id) = (w.connect(), xid(1));
    let call = Call::begin(async move { resolving.resolve(&id, Outcome::Committed).await });
    let listed = other.recover().unwrap();
    w.stage.resume();
    assert_eq!((listed, call.finish()), (vec![xid(1)], Ok(())));
    assert_eq!(other.recover().unwrap(), []);
}

/// A branch of messages that a crash takes is in doubt after it all the same, and has nothing to do.
#[test]
fn a_branch_without_persistent_messages_is_recovered() {
    let mut w = World::new();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"x");
    prepare(&s, &xid(3));
    drop(s);
    w.crash();
    assert_eq!(w.connect().recover().unwrap(), [xid(3)]);
    resolve(&w, &xid(3), Outcome::Committed).unwrap();
    assert_eq!(w.depth(LOCAL), 0);
}

/// More than a queue's buffer holds is filed before it is committed: images carry it from there.
#[test]
fn a_branch_whose_messages_are_in_the_queue_file_is_carried() {
    let mut w = World::with(|c| {
        c.log_config.file_pages = 256;
        c.pq_buffer = 64 << 10;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)");
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    let texts: Vec<String> = (0..40)
        .map(|n| format!("{n}{}", "-".repeat(8000)))
        .collect();
    for text in &texts {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text.as_bytes());
    }
    prepare(&s, &xid(4));
    drop(s);
    checkpoints(&w, 3);
    w.crash();
    checkpoints(&w, 3);
    w.crash();
    resolve(&w, &xid(4), Outcome::Committed).unwrap();
    checkpoints(&w, 3);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), texts);
}

/// Whoever decides may go away before it is answered: it is done once.
#[test]
fn calls_that_are_dropped_are_seen_through() {
    for outcome in BOTH {
        let mut w = World::new();
        one_branch(&w, &xid(5));
        let s = w.connect();
        let decided = Call::attempt(async { s.resolve(&xid(5), outcome).await });
        drop((decided, s));
        until("the decision", || w.qm().in_doubt().is_empty());
        w.crash();
        has_ended(&w, outcome);
    }
}

/// On a queue whose messages a controlled end keeps, a branch keeps those it has in hand as well.
#[test]
fn a_controlled_end_keeps_what_a_branch_has_of_a_queue_that_keeps_all() {
    for crashed in [false, true] {
        let mut w = World::new();
        w.run("DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)");
        let s = w.connect();
        let h = open(&s, "HIGH", IN_OUT);
        put(&s, h, NOT_PERSISTENT, 0, b"got");
        assert_eq!(next(&s, h, SYNC).unwrap().text(), "got");
        put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"put");
        prepare(&s, &xid(6));
        drop(s);
        w.restart();
        if crashed {
            w.crash();
        }
        resolve(&w, &xid(6), Outcome::Committed).unwrap();
        let s = w.connect();
        let h = open(&s, "HIGH", IN_OUT);
        let expected: &[&str] = if crashed { &[] } else { &["put"] };
        assert_eq!(drain(&s, h), expected, "{crashed}");
        w.qm().check().unwrap();
    }
}

/// A temporary queue goes with its application while a branch has messages on it, filed and not: they are gone, and
/// nothing else is.
#[test]
fn what_a_branch_has_put_on_a_queue_that_is_gone_does_not_hinder_an_end() {
    let mut w = World::with(|c| c.q_buffer = 64 << 10);
    w.run(
        "DEFINE QMODEL(TEMP) DEFTYPE(TEMPDYN) NPMCLASS(HIGH) DEFSOPT(SHARED) SHARE
         DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)",
    );
    let s = w.connect();
    let high = open(&s, "HIGH", IN_OUT);
    put(&s, high, NOT_PERSISTENT, 0, b"kept");
    let h = open_od(&s, &mut object("TEMP"), IN_OUT).unwrap();
    for _ in 0..20 {
        put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, &[1; 10_000]);
    }
    prepare(&s, &xid(1));
    drop(s);
    w.restart();
    assert_eq!(w.depth("HIGH"), 1);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    assert_eq!(w.message_count("AMQ2004S"), 0);
}

/// The bytes of the image in force.
fn image_bytes(w: &World) -> u64 {
    let name = format!("checkpoint-{}.img", w.image());
    w.config.data.join(name).metadata().unwrap().len()
}

/// What a queue keeps in memory.
const BUFFER: usize = 64 << 10;

/// A queue manager of small buffers, with a queue for branches.
fn with_small_buffers() -> World {
    let w = World::with(|c| {
        c.log_config.file_pages = 256;
        // Room for what is put while maintenance is kept from making some, however full the log was by then.
        c.log_config.secondary_files = 8;
        c.pq_buffer = BUFFER;
    });
    w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)\nDEFINE QLOCAL(Q)");
    w
}

/// Puts 40 messages on Q and prepares that as a branch; returns their texts.
fn forty(w: &World, xid: &Xid) -> Vec<String> {
    let s = w.connect();
    let h = open(&s, "Q", MQOO_OUTPUT);
    let texts: Vec<String> = (0..40).map(|n| format!("{n:8000}")).collect();
    for text in &texts {
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, text.as_bytes());
    }
    prepare(&s, xid);
    texts
}

/// Branches that stay in doubt cost a checkpoint nothing but the places of what they have put, and after a restart none
/// of that is in memory.
#[test]
fn an_image_names_what_branches_have_put_and_does_not_hold_it() {
    let mut w = with_small_buffers();
    let mut texts = Vec::new();
    for n in 0..10 {
        texts.extend(forty(&w, &xid(n)));
    }
    checkpoints(&w, 2);
    let image = image_bytes(&w);
    let written = w.stage.queue_bytes.load(SeqCst);
    checkpoints(&w, 2);
    let again = w.stage.queue_bytes.load(SeqCst) - written;
    w.crash();
    let resident = w.status("Q").resident_bytes;
    assert!(image < 100_000, "the image has {image} bytes");
    assert!(again < 100_000, "another checkpoint wrote {again} bytes");
    assert!(resident <= BUFFER, "{resident} bytes are in memory");
    assert_eq!(w.depth("Q"), 400);
    for n in 0..10 {
        resolve(&w, &xid(n), BOTH[usize::from(n % 2)]).unwrap();
    }
    w.qm().check().unwrap();
    w.crash();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let even = texts.chunks(40).step_by(2).flatten();
    assert_eq!(drain(&s, h), even.cloned().collect::<Vec<_>>());
    checkpoints(&w, 2);
    w.qm().check().unwrap();
    assert_eq!(w.status("Q").file_blocks, 0);
}

/// What cannot be read of a branch's messages concerns their queue, and is met by whoever gets them.
#[test]
fn a_damaged_message_of_a_branch_stops_nothing_but_its_queue() {
    let mut w = with_small_buffers();
    forty(&w, &xid(1));
    checkpoints(&w, 2);
    let folder = std::fs::read_dir(w.config.data.join("queues")).unwrap();
    let mut files = folder.map(|e| e.unwrap().path());
    let ours = |path: &PathBuf| path.file_stem().unwrap() == "Q";
    let path = files.find(ours).unwrap();
    let length = path.metadata().unwrap().len() as usize;
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0x55; length - 512], 512).unwrap();
    // As `posthaste check --data` has it.
    let damaged = w.qm().read_all().1;
    assert_eq!(damaged.len(), 1, "{damaged:?}");
    assert_eq!(damaged[0].0, "Q");
    checkpoints(&w, 3);
    w.crash();
    checkpoints(&w, 1);
    assert_eq!(w.connect().recover().unwrap(), [xid(1)]);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    while next(&s, h, 0).is_ok() {}
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::OBJECT_DAMAGED);
    assert!(w.message_count("AMQ7472E") > 0);
    checkpoints(&w, 2);
    assert!(w.qm().stopped().is_none());
}

/// The file of a queue is gone that an image names for a branch only.
#[test]
fn a_branch_whose_queue_has_lost_its_file_keeps_nobody_from_working() {
    let mut w = with_small_buffers();
    forty(&w, &xid(1));
    checkpoints(&w, 3);
    w.kill();
    let folder = std::fs::read_dir(w.config.data.join("queues")).unwrap();
    let files = folder.map(|e| e.unwrap().path());
    for path in files.filter(|path| path.file_stem().unwrap() == "Q") {
        std::fs::remove_file(path).unwrap();
    }
    w.start();
    assert_eq!(w.message_count("AMQ7472E"), 1);
    checkpoints(&w, 2);
    resolve(&w, &xid(1), Outcome::BackedOut).unwrap();
    w.run("CLEAR QLOCAL(Q)");
    checkpoints(&w, 1);
    let texts = forty(&w, &xid(2));
    resolve(&w, &xid(2), Outcome::Committed).unwrap();
    w.crash();
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    assert_eq!(drain(&s, h), texts);
}

/// A disk that was full while a large branch was in doubt takes messages again when others have been got, whether the
/// branch has been resolved or not.
#[test]
fn a_large_branch_does_not_keep_a_full_disk_from_healing() {
    for resolved in [false, true] {
        let disk = SimDisk::of_seed(7);
        let mut w = World::on_simulated(&disk, |c| {
            c.log_config.file_pages = 128;
            (c.q_buffer, c.pq_buffer) = (64 << 10, 4 << 20);
        });
        w.run("DEFINE QLOCAL(Q)\nDEFINE QLOCAL(B)\nDEFINE QLOCAL(FILL)");
        disk.set_free(Some(12 << 20));
        let (s, t) = (w.connect(), w.connect());
        let h = open(&s, "Q", IN_OUT);
        for _ in 0..200 {
            put(&s, h, PERSISTENT, 0, &[1; 20_000]);
        }
        checkpoints(&w, 2);
        let b = open(&t, "B", IN_OUT);
        for _ in 0..85 {
            put(&t, b, PERSISTENT, MQPMO_SYNCPOINT, &[1; 20_000]);
        }
        prepare(&t, &xid(1));
        disk.set_free(Some(0));
        let fill = open(&s, "FILL", IN_OUT);
        let works = || {
            let put = try_put(&s, fill, &mut md(PERSISTENT), 0, &[7; 5_000]);
            put.is_ok() && next(&s, fill, 0).is_ok()
        };
        until("no room", || !works());
        assert_eq!(drain(&s, h).len(), 200);
        if resolved {
            resolve(&w, &xid(1), Outcome::BackedOut).unwrap();
        }
        until("a put", works);
        drop((s, t));
        w.crash();
        assert_eq!(w.qm().in_doubt().len(), usize::from(!resolved));
        assert_eq!(w.depth("B"), if resolved { 0 } else { 85 });
    }
}

/// A queue has no file yet when the disk is full, and a branch has put on it: the file is made in the room that is kept
/// for checkpoints. So an end in order keeps what is not persistent as well, and has nothing left in the log.
#[test]
fn a_full_disk_has_room_for_the_file_of_a_queue_that_a_branch_has_put_on() {
    let disk = SimDisk::of_seed(7);
    let mut w = World::on_simulated(&disk, |c| c.log_config.file_pages = 128);
    w.run("DEFINE QLOCAL(HIGH) NPMCLASS(HIGH)");
    let s = w.connect();
    let h = open(&s, "HIGH", IN_OUT);
    put(&s, h, NOT_PERSISTENT, 0, b"kept");
    put(&s, h, NOT_PERSISTENT, MQPMO_SYNCPOINT, b"in doubt");
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"persistent");
    prepare(&s, &xid(1));
    drop(s);
    disk.set_free(Some(0));
    w.restart();
    assert_eq!(w.message_count("AMQ2070W"), 0);
    resolve(&w, &xid(1), Outcome::Committed).unwrap();
    let s = w.connect();
    let h = open(&s, "HIGH", IN_OUT);
    assert_eq!(drain(&s, h), ["kept", "in doubt", "persistent"]);
}

/// While a checkpoint files the messages of a branch, it is resolved, and others take their places.
#[test]
fn a_branch_that_is_decided_while_it_is_filed_is_whole() {
    for outcome in BOTH {
        let mut w = World::with(|c| c.log_config.file_pages = 256);
        w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)\nDEFINE QLOCAL(Q)");
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        for n in 0..10 {
            put(
                &s,
                h,
                PERSISTENT,
                MQPMO_SYNCPOINT,
                format!("{n:8000}").as_bytes(),
            );
        }
        prepare(&s, &xid(4));
        decided_when_written(&w, 8000, s, h, outcome);
        is_whole(&mut w, 10, outcome);
    }
}

/// A branch is resolved when an image that is being made names its messages, and what is written next looks for room.
#[test]
fn what_an_image_in_the_making_names_of_a_branch_is_not_written_over() {
    for outcome in BOTH {
        let mut w = with_small_buffers();
        forty(&w, &xid(4));
        checkpoints(&w, 3);
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        put(&s, h, PERSISTENT, 0, format!("{:8000}", "old").as_bytes());
        decided_when_written(&w, 8000, s, h, outcome);
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        let old = match outcome {
            Outcome::Committed => 40,
            Outcome::BackedOut => 0,
        };
        let mut all = drain(&s, h);
        assert_eq!(all.len(), old + 1 + OTHERS);
        assert_eq!(all.remove(old).trim(), "old");
        for text in &all {
            put(&s, h, PERSISTENT, 0, text.as_bytes());
        }
        drop(s);
        is_whole(&mut w, old, outcome);
    }
}

/// More than the file of a queue grows by at a time: some are written where there was something before.
const OTHERS: usize = 150;

/// Checkpoints, and when so much is next written to a queue file, the branch is decided and others put messages on the
/// queue.
fn decided_when_written(w: &World, bytes: usize, s: Session, h: Hobj, outcome: Outcome) {
    let (busy, done) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let (deciding, decided, qm) = (busy.clone(), Arc::clone(&done), w.qm().clone());
    let hook = Box::new(move || {
        deciding.store(true, SeqCst);
        block_on(qm.decide(&xid(4), outcome)).unwrap();
        for n in 0..OTHERS {
            put(&s, h, PERSISTENT, 0, format!("{n:8000}").as_bytes());
        }
        AtomicBool::store(&decided, true, SeqCst);
        deciding.store(false, SeqCst);
    });
    *w.stage.on_queue_write.lock() = Some((bytes, hook));
    checkpoints_beside(w, 3, &busy);
    assert!(done.load(SeqCst));
}

/// After a crash, Q has what the branch has put if it was committed, and the others.
fn is_whole(w: &mut World, branch: usize, outcome: Outcome) {
    w.crash();
    w.qm().check().unwrap();
    let heuristic: Vec<_> = w.qm().in_doubt().iter().map(|b| b.heuristic).collect();
    assert_eq!(heuristic, [Some(outcome)]);
    let s = w.connect();
    let h = open(&s, "Q", IN_OUT);
    let all: Vec<usize> = drain(&s, h)
        .iter()
        .map(|text| text.trim().parse().unwrap())
        .collect();
    let first = match outcome {
        Outcome::Committed => branch,
        Outcome::BackedOut => 0,
    };
    assert_eq!(all, (0..first).chain(0..OTHERS).collect::<Vec<_>>());
}

/// The record that resolves a branch is durable, but what follows from it has not happened when checkpoints are taken
/// and the process dies.
#[test]
fn what_resolves_a_branch_stays_in_the_log_until_it_has_happened() {
    for way in 0..4 {
        let mut w = World::with(|c| {
            c.log_config.writes.plain = true;
            c.log_config.file_pages = 128;
        });
        w.run("DEFINE QLOCAL(FILL) MAXDEPTH(5000)\nDEFINE QLOCAL(Q)");
        let s = w.connect();
        let h = open(&s, "Q", IN_OUT);
        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"x");
        prepare(&s, &xid(1));
        if way == 3 {
            block_on(w.qm().decide(&xid(1), Outcome::Committed)).unwrap();
        }
        checkpoints(&w, 2);
        w.stage.pause();
        let (other, qm) = (w.connect(), w.qm().clone());
        // Never polled again, and never dropped: its process dies.
        let _call = ManuallyDrop::new(match way {
            0 => Call::begin(async move { other.resolve(&xid(1), Outcome::Committed).await }),
            1 => Call::begin(async move { other.resolve(&xid(1), Outcome::BackedOut).await }),
            2 => Call::begin(async move { qm.decide(&xid(1), Outcome::Committed).await }),
            _ => Call::begin(async move { other.forget(&xid(1)).await }),
        });
        w.stage.resume();
        checkpoints(&w, 2);
        w.kill();
        w.start();
        let left: Vec<_> = w.qm().in_doubt().iter().map(|b| b.heuristic).collect();
        let (heuristic, depth) = match way {
            0 => (vec![], 1),
            1 => (vec![], 0),
            2 => (vec![Some(Outcome::Committed)], 1),
            _ => (vec![], 1),
        };
        assert_eq!((left, w.depth("Q")), (heuristic, depth), "{way}");
    }
}
