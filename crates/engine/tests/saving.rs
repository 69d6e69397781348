//! What applications do while a checkpoint saves a queue part by part, and whose caller may go away.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use posthaste_engine::{EndMode, Session, Stop};
use posthaste_env::block_on;
use posthaste_env_sim::{Area, Fault, SimDisk};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md};
use world::*;

/// Messages: more than one part of the index takes (1,024).
const COUNT: usize = 1500;
/// The bytes of a whole part.
const PART: usize = 30_000;

fn id(n: usize) -> [u8; 24] {
    let mut id = [3; 24];
    id[16..].copy_from_slice(&(n as u64).to_be_bytes());
    id
}

fn numbered(n: usize) -> Md {
    Md {
        msg_id: id(n),
        ..md(PERSISTENT)
    }
}

fn take_numbered(s: &Session, h: Hobj, n: usize) {
    let by = Gmo {
        match_options: MQMO_MATCH_MSG_ID,
        ..gmo(0)
    };
    take(s, h, numbered(n), by, 1 << 20).unwrap();
}

/// Every message, in the order of the queue.
fn numbers(s: &Session, h: Hobj) -> Vec<usize> {
    drain(s, h)
        .iter()
        .map(|text| text.trim().parse().unwrap())
        .collect()
}

#[test]
fn a_place_freed_while_its_queue_is_saved_is_not_named_twice() {
    let mut w = World::with(|c| {
        c.pq_buffer = 1;
        c.log_config.file_pages = 1024;
    });
    w.run("DEFINE QLOCAL(A) MAXDEPTH(9999)\nDEFINE QLOCAL(FILL)");
    let s = w.connect();
    let h = open(&s, "A", IN_OUT);
    let put_numbered = move |s: &Session, n: usize| {
        send(s, h, numbered(n), 0, format!("{n:2000}").as_bytes());
    };
    for n in 0..COUNT {
        put_numbered(&s, n);
    }
    // The first part has changed when the checkpoint comes. Between that part and the next, messages of the first go,
    // and others take the slots of those that go from the next.
    take_numbered(&s, h, 0);
    let meanwhile = s.clone();
    let hook = move || {
        for n in 0..300 {
            take_numbered(&meanwhile, h, 1 + n);
            take_numbered(&meanwhile, h, 1100 + n);
            put_numbered(&meanwhile, COUNT + n);
        }
    };
    *w.stage.on_queue_write.lock() = Some((PART, Box::new(hook)));
    let filler = w.connect();
    let fill = open(&filler, "FILL", IN_OUT);
    // Until the checkpoint is there: from then on the log must have room for what goes on inside it.
    while w.stage.on_queue_write.lock().is_some() {
        put(&filler, fill, PERSISTENT, 0, &[7; 20_000]);
        next(&filler, fill, 0).unwrap();
    }
    let image = w.image();
    until("the image", || w.image() > image);
    drop((s, filler));
    w.crash();
    let s = w.connect();
    let expected: Vec<usize> = (301..1100).chain(1400..COUNT + 300).collect();
    let h = open(&s, "A", IN_OUT);
    assert_eq!(numbers(&s, h), expected);
}

/// A checkpoint whose caller goes away while the log is forced has not happened: the next one saves what it would have
/// saved.
#[test]
fn an_end_that_gives_way_to_another_loses_nothing() {
    for first in [EndMode::Controlled, EndMode::Immediate] {
        let mut w = World::pausable();
        w.run("DEFINE QLOCAL(A)");
        let s = w.connect();
        let h = open(&s, "A", IN_OUT);
        for n in 0..20 {
            send(&s, h, numbered(n), 0, format!("{n:2000}").as_bytes());
        }
        block_on(s.disconnect()).unwrap();
        drop(s);
        let qm = w.qm().clone();
        {
            let mut end = pin!(qm.end(first));
            w.stage.pause();
            let image = w.stage.queue_bytes.load(Ordering::Relaxed);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(end.as_mut().poll(&mut cx).is_pending());
            let written = w.stage.queue_bytes.load(Ordering::Relaxed) - image;
            assert!(written > 20 * 2000, "{first:?}: it has saved the queue");
        }
        w.stage.resume();
        w.end(EndMode::Immediate);
        w.start();
        let s = w.connect();
        let h = open(&s, "A", IN_OUT);
        assert_eq!(numbers(&s, h), (0..20).collect::<Vec<_>>(), "{first:?}");
    }
}

/// A checkpoint that has failed stops the queue manager, and what it had saved by then is not in force. The last one of
/// an end that was under way must not take that for saved: what was got would come again.
#[test]
fn nothing_is_saved_after_a_checkpoint_that_failed() {
    let disk = SimDisk::of_seed(1);
    let mut w = World::on_simulated(&disk, |c| c.log_config.file_pages = 128);
    w.run("DEFINE QLOCAL(FILL)");
    let s = w.connect();
    let (h, fill) = (open(&s, LOCAL, IN_OUT), open(&s, "FILL", IN_OUT));
    for text in [b"got", b"now"] {
        put(&s, h, PERSISTENT, 0, text);
    }
    let work = || {
        let _ = try_put(&s, fill, &mut md(PERSISTENT), 0, &[7; 20_000]);
        let _ = next(&s, fill, 0);
    };
    let wanted = w.image() + 3;
    until("the messages are filed", || {
        work();
        w.image() >= wanted
    });
    assert_eq!(next(&s, h, 0).unwrap().text(), "got");
    disk.order(Fault::NameError, Area::Named("checkpoint-".to_owned()), 0);
    until("a checkpoint fails", || {
        work();
        w.qm().stopped().is_some()
    });
    drop(s);
    let stop = block_on(w.qm().end(EndMode::Immediate)).unwrap_err();
    assert!(matches!(stop, Stop::CheckpointFailed(_)), "{stop}");
    w.end_threads();
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    assert_eq!(drain(&s, h), ["now"]);
}
