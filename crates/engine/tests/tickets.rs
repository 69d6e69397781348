//! Asynchronous puts of persistent messages outside syncpoint: they do not wait for the log, and everything that could
//! tell waits for them.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use bytes::Bytes;
use posthaste_engine::{EndMode, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason, Sts};
use world::*;

const ASYNCHRONOUS: i32 = MQPMO_ASYNC_RESPONSE;

/// Puts, which must not have to wait.
fn put_async(s: &Session, h: Hobj, persistence: i32, text: &str) {
    let data = Bytes::copy_from_slice(text.as_bytes());
    let done = Call::attempt(s.put(h, &mut md(persistence), &mut pmo(ASYNCHRONOUS), data));
    assert_eq!(done.unwrap().unwrap().warning, Reason::NONE);
}

fn stat(s: &Session) -> Call<Result<Sts, Reason>> {
    let s = s.clone();
    Call::begin(async move { s.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).await })
}

/// A queue manager whose log is held up while a connection has put `count` messages.
fn held_up(count: usize) -> (World, Session, Hobj) {
    let w = World::pausable();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT | MQOO_BROWSE);
    w.stage.pause();
    (0..count).for_each(|n| put_async(&s, h, PERSISTENT, &n.to_string()));
    (w, s, h)
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| n.to_string()).collect()
}

#[test]
fn an_asynchronous_put_waits_for_no_force_and_nobody_sees_it_before() {
    let (w, s, _) = held_up(100);
    // They count, and cannot be got.
    assert_eq!(w.depth(LOCAL), 100);
    let other = w.connect();
    let g = open(&other, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(
        next(&other, g, 0).map(|t| t.text()),
        Err(Reason::NO_MSG_AVAILABLE)
    );
    let counted = stat(&s);
    w.stage.resume();
    let sts = counted.finish().unwrap();
    assert_eq!((sts.put_success_count, sts.put_failure_count), (100, 0));
    assert_eq!(drain(&other, g), texts(100));
}

/// What a connection does behind its asynchronous puts.
type Behind = fn(Session, Hobj) -> Call<Result<Reason, Reason>>;

#[test]
fn what_could_tell_waits() {
    let behind: [(&str, Behind); 6] = [
        ("commit", |s, _| {
            Call::begin(async move { s.commit().await.map(|d| d.warning) })
        }),
        ("close", |s, h| {
            Call::begin(async move { s.close(h, MQCO_NONE).await.map(|d| d.warning) })
        }),
        ("disconnect", |s, _| {
            Call::begin(async move { s.disconnect().await.map(|d| d.warning) })
        }),
        ("browse", |s, h| {
            Call::begin(async move {
                let (mut md, mut gmo) = (md(0), gmo(MQGMO_BROWSE_FIRST));
                let got = s.get(h, &mut md, &mut gmo, 100).await?;
                assert_eq!(got.value.data.as_ref(), b"0");
                Ok(got.warning)
            })
        }),
        ("a put that is waited for", |s, h| {
            Call::begin(async move {
                let (mut md, mut pmo) = (md(PERSISTENT), pmo(0));
                let put = s.put(h, &mut md, &mut pmo, Bytes::from_static(b"9")).await;
                put.map(|d| d.warning)
            })
        }),
        ("a put of a message that is not persistent", |s, h| {
            Call::begin(async move {
                let (mut md, mut pmo) = (md(NOT_PERSISTENT), pmo(0));
                let put = s.put(h, &mut md, &mut pmo, Bytes::from_static(b"9")).await;
                put.map(|d| d.warning)
            })
        }),
    ];
    for (what, call) in behind {
        let (w, s, h) = held_up(9);
        let mut call = call(s.clone(), h);
        assert!(call.poll().is_none(), "{what}");
        w.stage.resume();
        assert_eq!(call.finish(), Ok(Reason::NONE), "{what}");
        let other = w.connect();
        let g = open(&other, LOCAL, MQOO_INPUT_SHARED);
        let mut left = drain(&other, g);
        if left.len() == 10 {
            assert_eq!(left.pop().unwrap(), "9", "{what}");
        }
        assert_eq!(left, texts(9), "{what}");
    }
}

#[test]
fn messages_keep_their_order_whatever_their_persistence() {
    let (w, s, h) = held_up(0);
    for n in 0..40 {
        let persistence = [PERSISTENT, NOT_PERSISTENT][n % 2];
        put_async(&s, h, persistence, &n.to_string());
    }
    // In a unit of work nobody sees it before the commit, so it need not wait.
    let unit = [MQPMO_SYNCPOINT, MQPMO_SYNCPOINT | ASYNCHRONOUS];
    for (n, options) in (40..42).zip(unit) {
        let data = Bytes::from(n.to_string());
        let put = Call::attempt(s.put(h, &mut md(PERSISTENT), &mut pmo(options), data));
        assert!(put.unwrap().is_ok());
    }
    w.stage.resume();
    commit(&s);
    assert_eq!(drain(&s, h), texts(42));
}

#[test]
fn a_connection_has_only_so_many_on_their_way() {
    for (bytes, most) in [(10, 2_048), (1 << 20, 8)] {
        let w = World::with(|c| {
            c.log_config.writes.plain = true;
            c.log_config.buffer_pages = 4_096;
            c.log_config.file_pages = 16_384;
        });
        let s = w.connect();
        w.run("DEFINE QLOCAL(DEEP) MAXDEPTH(10000)");
        let h = open(&s, "DEEP", MQOO_OUTPUT);
        w.stage.pause();
        let data = Bytes::from(vec![7; bytes]);
        let asynchronous =
            || Call::attempt(s.put(h, &mut md(PERSISTENT), &mut pmo(ASYNCHRONOUS), data.clone()));
        let mut on_their_way = 0;
        while let Some(done) = asynchronous() {
            done.unwrap();
            on_their_way += 1;
            assert!(on_their_way <= most);
        }
        assert_eq!(on_their_way, most);
        // The one that had to wait left nothing behind.
        assert_eq!(w.depth("DEEP"), most);
        w.stage.resume();
        send(&s, h, md(PERSISTENT), ASYNCHRONOUS, &data);
        let sts = block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR, 1)).unwrap();
        assert_eq!(sts.put_success_count, most as i32 + 1);
    }
}

#[test]
fn what_mqstat_has_counted_survives_a_crash() {
    let (mut w, s, _) = held_up(50);
    w.stage.resume();
    let sts = block_on(s.stat(MQSTAT_TYPE_ASYNC_ERROR, 1)).unwrap();
    assert_eq!(sts.put_success_count, 50);
    w.crash();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), texts(50));
}

#[test]
fn an_end_in_order_waits_for_them() {
    let (mut w, s, _) = held_up(50);
    let qm = w.qm().clone();
    let ending = Call::begin(async move { qm.end(EndMode::Immediate).await });
    w.stage.resume();
    ending.finish().unwrap();
    w.end_threads();
    drop(s);
    w.start();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    assert_eq!(drain(&s, h), texts(50));
}

#[test]
fn they_happen_though_their_connection_is_lost() {
    let (w, s, _) = held_up(50);
    drop(s);
    w.stage.resume();
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    for text in texts(50) {
        let wait = gmo(MQGMO_WAIT);
        let wait = posthaste_mqi::Gmo {
            wait_interval: MQWI_UNLIMITED,
            ..wait
        };
        assert_eq!(take(&s, h, md(0), wait, 100).unwrap().text(), text);
    }
}

/// A temporary dynamic queue that goes with its connection takes what is on its way to it along.
#[test]
fn a_queue_may_go_before_they_come() {
    let w = World::pausable();
    let s = w.connect();
    let mut od = object(MODEL);
    let h = open_od(&s, &mut od, IN_OUT).unwrap();
    w.stage.pause();
    put_async(&s, h, NOT_PERSISTENT, "at once");
    let other = w.connect();
    let to = open(&other, &od.object_name.text(), MQOO_OUTPUT);
    let l = open(&other, LOCAL, IN_OUT);
    put_async(&other, l, PERSISTENT, "first");
    put_async(&other, to, NOT_PERSISTENT, "nowhere");
    drop(s);
    w.stage.resume();
    assert_eq!(drain(&other, l), ["first"]);
    let sts = block_on(other.stat(MQSTAT_TYPE_ASYNC_ERROR, 1)).unwrap();
    assert_eq!(sts.put_success_count, 2);
    w.qm().check().unwrap();
}

#[test]
fn nobody_is_told_of_success_by_a_log_that_is_broken() {
    let (mut w, s, _) = held_up(10);
    let counted = stat(&s);
    w.stage
        .broken
        .store(true, std::sync::atomic::Ordering::SeqCst);
    w.stage.resume();
    assert_eq!(counted.finish(), Err(Reason::CONNECTION_BROKEN));
    let commit = block_on(s.commit()).map(|d| d.warning);
    assert_eq!(commit, Err(Reason::CONNECTION_BROKEN));
    assert!(w.qm().stopped().is_some());
    w.kill();
}
