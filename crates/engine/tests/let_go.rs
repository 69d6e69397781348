//! A process that lives on after it has let a queue manager's files go, which a successor may have by then: whatever its threads do
//! still, they change none of these files.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use posthaste_engine::{EndMode, Locks, QueueManager, Session};
use posthaste_env::{block_on, spawn};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Reason};
use world::*;

const BUFFER: usize = 64 * 1024;
const SIZE: usize = 2000;

fn small_buffers() -> World {
    World::with(|c| {
        c.q_buffer = BUFFER;
        c.pq_buffer = BUFFER;
    })
}

fn add_files(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => add_files(&path, all),
            false => drop(all.insert(path.clone(), std::fs::read(&path).unwrap())),
        }
    }
}

/// What the files hold.
fn files(w: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for folder in [&w.config.data, &w.config.log] {
        add_files(folder, &mut all);
    }
    all
}

fn assert_unchanged(w: &World, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let after = files(w);
    let changed = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path));
    assert_eq!(changed.collect::<Vec<_>>(), Vec::<&PathBuf>::new());
}

/// A message that goes to one who waits for just this one: it never was on the queue, whose buffer is full.
fn full_but_for_one(w: &World) -> (Session, Md, Gmo) {
    let one = w.connect();
    let h = open(&one, LOCAL, MQOO_OUTPUT);
    while w.status(LOCAL).resident_bytes + SIZE < BUFFER {
        put(&one, h, NOT_PERSISTENT, 0, &[7; SIZE]);
    }
    let by = Md {
        correl_id: [9; 24],
        ..md(NOT_PERSISTENT)
    };
    let how = Gmo {
        match_options: MQMO_MATCH_CORREL_ID,
        ..gmo(MQGMO_SYNCPOINT)
    };
    (one, by, how)
}

/// A message that was got in a unit of work comes back and would have to be filed.
#[test]
fn a_unit_of_work_that_is_backed_out_late_files_nothing() {
    let mut w = small_buffers();
    let (one, by, how) = full_but_for_one(&w);
    let other = w.connect();
    let getter = wait(
        &other,
        open(&other, LOCAL, MQOO_INPUT_SHARED),
        by.clone(),
        how,
    );
    let h = open(&one, LOCAL, MQOO_OUTPUT);
    send(&one, h, by, 0, &[7; 3 * SIZE]);
    getter.finish().unwrap();
    assert_eq!(w.status(LOCAL).file_blocks, 0);
    w.end(EndMode::Preemptive);
    let before = files(&w);
    drop(other);
    assert_unchanged(&w, &before);
    w.start();
    assert_eq!(w.depth(LOCAL), 0);
}

/// The same of one that a consumer was given, and that it never took.
#[test]
fn a_message_that_comes_back_late_is_not_filed() {
    let mut w = small_buffers();
    let (one, by, how) = full_but_for_one(&w);
    let other = w.connect();
    let h = open(&other, LOCAL, MQOO_INPUT_SHARED);
    let mut consumer = other.consumer(h, &by, &how).unwrap();
    consumer.credit(1);
    let mut given = Box::pin(consumer.next());
    assert!(Call::attempt(given.as_mut()).is_none());
    let h = open(&one, LOCAL, MQOO_OUTPUT);
    send(&one, h, by, 0, &[7; 3 * SIZE]);
    let given = block_on(given).unwrap();
    assert_eq!(w.status(LOCAL).file_blocks, 0);
    w.end(EndMode::Preemptive);
    let before = files(&w);
    drop(given);
    drop((consumer, one, other));
    assert_unchanged(&w, &before);
}

/// What a successor has written where a message was is not taken for damage by a get that comes too late.
#[test]
fn what_a_successor_has_written_is_no_damage() {
    let mut w = small_buffers();
    let one = w.connect();
    let h = open(&one, LOCAL, IN_OUT);
    for _ in 0..2 {
        put(&one, h, NOT_PERSISTENT, 0, &[7; BUFFER]);
    }
    assert!(w.status(LOCAL).file_blocks > 0);
    next(&one, h, 0).unwrap();
    let (reads, begun) = mpsc::channel();
    let (go_on, free) = mpsc::channel();
    let hook = move || {
        reads.send(()).unwrap();
        free.recv().unwrap();
    };
    *w.stage.on_queue_read.lock() = Some(Box::new(hook));
    let getting = std::thread::spawn(move || next(&one, h, 0).map(drop));
    begun.recv().unwrap();
    w.end(EndMode::Preemptive);
    for entry in std::fs::read_dir(w.config.data.join("queues")).unwrap() {
        let path = entry.unwrap().path();
        let length = std::fs::metadata(&path).unwrap().len();
        std::fs::write(&path, vec![1; length as usize]).unwrap();
    }
    go_on.send(()).unwrap();
    assert_eq!(getting.join().unwrap(), Err(Reason::CONNECTION_BROKEN));
    assert_eq!(w.message_count("AMQ7472E"), 0);
}

/// What lets the files go waits for a change that is under way; those that were to follow it, up to the log's control file,
/// are not made.
#[test]
fn a_checkpoint_that_is_overtaken_changes_nothing_once_the_files_are_free() {
    let mut w = small_buffers();
    let s = w.connect();
    put(&s, open(&s, LOCAL, MQOO_OUTPUT), PERSISTENT, 0, &[7; SIZE]);
    let stage = Arc::clone(&w.stage);
    let images = stage.images.lock();
    let qm: QueueManager = w.qm().clone();
    let slow = spawn("end", move || drop(block_on(qm.end(EndMode::Immediate)))).unwrap();
    until("an image", || {
        stage.images_held_up.load(Ordering::SeqCst) > 0
    });

    let overlapped = Arc::new(AtomicBool::new(false));
    let looked = {
        let (env, config, overlapped) = (w.env.clone(), w.config.clone(), Arc::clone(&overlapped));
        move || {
            let until = Instant::now() + Duration::from_millis(200);
            while Instant::now() < until && !overlapped.load(Ordering::SeqCst) {
                overlapped.store(Locks::take(&env, &config).is_ok(), Ordering::SeqCst);
                std::thread::yield_now();
            }
        }
    };
    let before = std::thread::scope(|scope| {
        let ending = scope.spawn(|| {
            w.end(EndMode::Preemptive);
            files(&w)
        });
        looked();
        drop(images);
        ending.join().unwrap()
    });
    slow.join().unwrap();
    assert!(
        !overlapped.load(Ordering::SeqCst),
        "a successor could have started while an image was being named"
    );
    assert_unchanged(&w, &before);
}
