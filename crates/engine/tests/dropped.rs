//! Hand-over to waiting getters, and calls that are dropped at the worst moment: nothing is lost,
//! nothing is delivered twice, and order is kept.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use posthaste_admin::Admin;
use posthaste_engine::{Application, End, Start, Xid};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Md, Reason};
use world::*;

const SYNC: i32 = MQGMO_SYNCPOINT;

fn id(n: usize) -> [u8; 24] {
    let mut id = [1; 24];
    id[16..].copy_from_slice(&(n as u64).to_be_bytes());
    id
}

fn by_correl(n: usize) -> (Md, Gmo) {
    let how = Gmo {
        match_options: MQMO_MATCH_CORREL_ID,
        ..gmo(0)
    };
    let by = Md {
        correl_id: id(n),
        ..md(0)
    };
    (by, how)
}

/// Ten thousand getters wait, each for its own message; the messages come in another order.
#[test]
fn each_of_many_waiters_gets_its_own_message() {
    let w = World::new();
    let count = 10_000;
    let putter = w.connect();
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let mut waiting: Vec<_> = (0..count)
        .map(|n| {
            let s = w.connect();
            let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
            let (by, how) = by_correl(n);
            Some(wait(&s, h, by, how))
        })
        .collect();
    for n in 0..count {
        let n = n * 7919 % count;
        send(&putter, p, by_correl(n).0, 0, n.to_string().as_bytes());
        let mut getter = waiting[n].take().unwrap();
        assert_eq!(getter.woken(), 1);
        assert_eq!(getter.poll().unwrap().unwrap().text(), n.to_string());
    }
    assert_eq!(w.depth(LOCAL), 0);
    // Nobody touched the queue: every message was handed over.
    assert!(w.status(LOCAL).steps < 10 * count as u64);
}

#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    let w = World::new();
    let putter = w.connect();
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let sessions: Vec<_> = (0..5).map(|_| w.connect()).collect();
    let mut waiting: Vec<_> = sessions
        .iter()
        .map(|s| wait(s, open(s, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(0)))
        .collect();
    // The second goes away before anything comes.
    drop(waiting.remove(1));
    for n in 0..4 {
        put(&putter, p, 0, 0, n.to_string().as_bytes());
    }
    for (n, getter) in waiting.into_iter().enumerate() {
        assert_eq!(getter.finish().unwrap().text(), n.to_string());
    }
}

/// A message got by a waiter never was on the queue, so it leaves no message behind it either.
#[test]
fn a_handed_over_message_avoids_the_queue() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let steps = w.status(LOCAL).steps;
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let waiting = wait(&s, h, md(0), gmo(0));
        put(&putter, p, persistence, 0, b"x");
        waiting.finish().unwrap();
    }
    assert_eq!(w.status(LOCAL).steps, steps);
}

/// The getter is dropped after it was given a message and before it took it.
#[test]
fn a_gift_that_is_not_taken_comes_back_to_its_place() {
    let w = World::new();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for options in [0, SYNC, MQGMO_SYNCPOINT_IF_PERSISTENT] {
            let (s, putter) = (w.connect(), w.connect());
            let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
            let p = open(&putter, LOCAL, IN_OUT);
            let waiting = wait(&s, h, md(0), gmo(options));
            for n in ["1", "2", "3"] {
                put(&putter, p, persistence, 0, n.as_bytes());
            }
            assert_eq!(waiting.woken(), 1);
            drop(waiting);
            let first = next(&putter, p, 0).unwrap();
            assert_eq!((first.text().as_str(), first.md.backout_count), ("1", 0));
            assert_eq!(drain(&putter, p), ["2", "3"]);
        }
    }
}

/// Given back, it goes to whoever waits next, not to the queue.
#[test]
fn a_gift_that_is_not_taken_goes_to_the_next_waiter() {
    let w = World::new();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        let (a, b, putter) = (w.connect(), w.connect(), w.connect());
        let p = open(&putter, LOCAL, MQOO_OUTPUT);
        let first = wait(&a, open(&a, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(SYNC));
        let mut second = wait(&b, open(&b, LOCAL, MQOO_INPUT_SHARED), md(0), gmo(SYNC));
        put(&putter, p, persistence, 0, b"x");
        assert!(second.poll().is_none());
        drop(first);
        assert_eq!(second.woken(), 1);
        assert_eq!(second.finish().unwrap().text(), "x");
        commit(&b);
    }
}

#[test]
fn a_wait_can_be_given_up_and_begun_again_at_any_time() {
    let w = World::new();
    let (s, putter) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let p = open(&putter, LOCAL, IN_OUT);
    for n in 0..200 {
        for by in [gmo(0), gmo(MQGMO_BROWSE_FIRST), by_correl(1).1, gmo(SYNC)] {
            if by.options != MQGMO_BROWSE_FIRST {
                drop(wait(&s, h, by_correl(n).0, by));
            }
        }
    }
    assert_eq!(next(&s, h, 0).unwrap_err(), Reason::NO_MSG_AVAILABLE);
    put(&putter, p, 0, 0, b"x");
    assert_eq!(w.depth(LOCAL), 1, "no dead waiter may be given a message");
    assert_eq!(drain(&putter, p), ["x"]);
}

/// Each call is dropped between its log record and the force of it: its effect still happens, once,
/// and not before the force.
#[test]
fn a_call_dropped_before_the_force_still_has_its_effect() {
    for crash in [false, true] {
        let mut w = World::pausable();
        let (s, other) = (w.connect(), w.connect());
        let (h, o) = (
            open(&s, LOCAL, IN_OUT),
            open(&other, LOCAL, IN_OUT | MQOO_BROWSE),
        );

        w.stage.pause();
        drop(Call::begin(putting(
            s.clone(),
            h,
            md(PERSISTENT),
            0,
            b"put",
        )));
        assert!(browse(&other, o).is_empty());
        w.stage.resume();
        until("the put", || browse(&other, o) == ["put"]);

        put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"unit");
        w.stage.pause();
        let committing = s.clone();
        drop(Call::begin(async move { committing.commit().await }));
        assert_eq!(browse(&other, o), ["put"]);
        w.stage.resume();
        until("the commit", || browse(&other, o) == ["put", "unit"]);

        w.stage.pause();
        drop(Call::begin(getting(s.clone(), h, md(0), gmo(0), 99)));
        // Nobody else can have it, and it is not gone yet either.
        assert_eq!(browse(&other, o), ["unit"]);
        assert!(w.status(LOCAL).uncommitted);
        w.stage.resume();
        until("the get", || !w.status(LOCAL).uncommitted);
        assert_eq!(browse(&other, o), ["unit"]);

        drop((s, other));
        if crash {
            w.crash();
        } else {
            w.restart();
        }
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        assert_eq!(drain(&s, h), ["unit"]);
    }
}

/// The connection is lost in its MQBACK, whose backout counts are hardened: its end has not ended before the backout, so
/// that whoever comes after it finds the messages.
#[test]
fn the_end_of_a_connection_waits_for_its_backout() {
    let w = World::pausable();
    w.run("DEFINE QLOCAL(HARD) HARDENBO");
    let (s, other) = (w.connect(), w.connect());
    let (h, o) = (open(&s, "HARD", IN_OUT), open(&other, "HARD", IN_OUT));
    put(&s, h, PERSISTENT, 0, b"x");
    next(&s, h, SYNC).unwrap();
    w.stage.pause();
    let backing_out = s.clone();
    drop(Call::begin(async move { backing_out.backout().await }));
    let mut end = Call::begin(async move { s.terminate().await });
    assert!(end.poll().is_none(), "the record is not forced");
    w.stage.resume();
    end.finish();
    assert_eq!(next(&other, o, 0).unwrap().md.backout_count, 1);
}

/// The same of a branch that it has begun and nobody else knows.
#[test]
fn the_end_of_a_connection_waits_for_the_backout_of_its_branch() {
    let w = World::pausable();
    w.run("DEFINE QLOCAL(HARD) HARDENBO");
    let (s, other) = (w.connect(), w.connect());
    let (h, o) = (open(&s, "HARD", IN_OUT), open(&other, "HARD", IN_OUT));
    put(&s, h, PERSISTENT, 0, b"x");
    let xid = Xid::new(1, b"global", b"branch").unwrap();
    block_on(s.start_branch(&xid, Start::New)).unwrap();
    next(&s, h, SYNC).unwrap();
    block_on(s.end_branch(&xid, End::Success)).unwrap();
    w.stage.pause();
    let end = Call::begin(async move { s.terminate().await });
    w.stage.resume();
    end.finish();
    assert_eq!(next(&other, o, 0).unwrap().md.backout_count, 1);
}

/// The session can be used on at once, and its next unit of work is another one.
#[test]
fn a_session_goes_on_after_a_dropped_call() {
    let w = World::pausable();
    let s = w.connect();
    let h = open(&s, LOCAL, IN_OUT);
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"1");
    w.stage.pause();
    let committing = s.clone();
    drop(Call::begin(async move { committing.commit().await }));
    // The unit of work has ended: backing out now does not touch it.
    put(&s, h, PERSISTENT, MQPMO_SYNCPOINT, b"never");
    let backing = s.clone();
    let backed_out = std::thread::spawn(move || block_on(backing.backout()).map(|d| d.warning));
    assert_eq!(backed_out.join().unwrap(), Ok(Reason::NONE));
    w.stage.resume();
    until("the commit", || {
        w.depth(LOCAL) == 1 && !w.status(LOCAL).uncommitted
    });
    put(&s, h, PERSISTENT, 0, b"2");
    assert_eq!(drain(&s, h), ["1", "2"]);
}

/// A connection is terminated while its calls are on their way.
#[test]
fn a_connection_that_ends_with_a_call_on_its_way_loses_nothing() {
    let w = World::pausable();
    let other = w.connect();
    let o = open(&other, LOCAL, IN_OUT);
    for drop_first in [false, true] {
        let s = w.connect();
        let h = open(&s, LOCAL, IN_OUT);
        w.stage.pause();
        let call = Call::begin(putting(s.clone(), h, md(PERSISTENT), 0, b"x"));
        if drop_first {
            drop(s);
            drop(call);
        } else {
            drop(call);
            drop(s);
        }
        w.stage.resume();
        until("the put", || {
            w.depth(LOCAL) == 1 && !w.status(LOCAL).uncommitted
        });
        assert_eq!(drain(&other, o), ["x"]);
    }
}

/// The connection quiesces: only a get that asked to be told is told, and nothing it is given is lost.
#[test]
fn a_quiescing_connection_ends_the_waits_that_asked_for_it() {
    let w = World::new();
    let putter = w.connect();
    let p = open(&putter, LOCAL, MQOO_OUTPUT);
    let quiescing = Err(Reason::CONNECTION_QUIESCING);
    let reason = |got: Result<Taken, Reason>| got.map(|taken| taken.text());
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
    let asked = wait(&s, h, md(0), gmo(MQGMO_FAIL_IF_QUIESCING));
    s.quiesce();
    assert_eq!(asked.woken(), 1);
    assert_eq!(reason(asked.finish()), quiescing);
    // From now on it does not wait, but what is there it gets.
    let how = MQGMO_WAIT | MQGMO_FAIL_IF_QUIESCING;
    assert_eq!(reason(next(&s, h, how)), quiescing);
    put(&putter, p, 0, 0, b"there");
    assert_eq!(reason(next(&s, h, how)), Ok("there".to_owned()));
    let other = wait(&s, h, md(0), gmo(0));
    put(&putter, p, 0, 0, b"waited for");
    assert_eq!(reason(other.finish()), Ok("waited for".to_owned()));
    assert_eq!(w.depth(LOCAL), 0);
}

/// Another thread of an application closes what its first one receives from.
#[test]
fn a_connection_of_the_same_user_calls_a_wait_off() {
    let w = World::new();
    let (s, closes) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, IN_OUT);
    let waits = wait(&s, h, md(0), gmo(0));
    let stranger = Application {
        user: "stranger".to_owned(),
        ..who("test")
    };
    let stranger = w.qm().connect(stranger).unwrap();
    stranger.cancel_wait(&s.connection_id());
    let mut nobody = s.connection_id();
    nobody[0] = b'a';
    closes.cancel_wait(&nobody);
    assert_eq!(waits.woken(), 0);
    closes.cancel_wait(&s.connection_id());
    assert_eq!(waits.woken(), 1);
    assert_eq!(
        waits.finish().map(|taken| taken.text()),
        Err(Reason::XWAIT_CANCELED)
    );
    // The next one waits again, and what it was given before that is delivered.
    let waits = wait(&s, h, md(0), gmo(0));
    put(&closes, open(&closes, LOCAL, MQOO_OUTPUT), 0, 0, b"given");
    closes.cancel_wait(&s.connection_id());
    assert_eq!(waits.finish().unwrap().text(), "given");
    assert_eq!(w.depth(LOCAL), 0);
}

/// The call that calls a wait off comes by another socket, and so sometimes before the MQGET that it means.
#[test]
fn a_wait_is_called_off_before_it_begins() {
    let w = World::new();
    let (s, closes) = (w.connect(), w.connect());
    let h = open(&s, LOCAL, IN_OUT);
    let waits = || {
        let gmo = Gmo {
            wait_interval: 60_000,
            ..gmo(MQGMO_WAIT)
        };
        block_on(getting(s.clone(), h, md(0), gmo, 100)).map(|taken| taken.text())
    };
    closes.cancel_wait(&s.connection_id());
    assert_eq!(waits(), Err(Reason::XWAIT_CANCELED));
    // Not what there is a message for.
    closes.cancel_wait(&s.connection_id());
    put(&closes, open(&closes, LOCAL, MQOO_OUTPUT), 0, 0, b"there");
    assert_eq!(waits().as_deref(), Ok("there"));
    assert_eq!(w.depth(LOCAL), 0);
}

/// A get that has its record in the log when its connection is given up delivers what it has.
#[test]
fn a_get_past_its_wait_is_seen_through() {
    let w = World::pausable();
    for waited in [false, true] {
        for force in [false, true] {
            let (s, putter) = (w.connect(), w.connect());
            let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
            let p = open(&putter, LOCAL, MQOO_OUTPUT);
            let options = MQGMO_WAIT | MQGMO_FAIL_IF_QUIESCING;
            let mut getter = if waited {
                let mut getter = wait(&s, h, md(0), gmo(options));
                put(&putter, p, PERSISTENT, 0, b"mine");
                w.stage.pause();
                assert!(getter.poll().is_none(), "it waits for the log");
                getter
            } else {
                put(&putter, p, PERSISTENT, 0, b"mine");
                w.stage.pause();
                Call::begin(getting(s.clone(), h, md(0), gmo(options), 99))
            };
            if force {
                s.give_up_waits()
            } else {
                s.quiesce()
            }
            assert!(getter.poll().is_none());
            w.stage.resume();
            assert_eq!(getter.finish().unwrap().text(), "mine");
            assert_eq!(w.depth(LOCAL), 0);
        }
    }
}

/// Nobody waits for the answer any more: what the get was given and has not taken goes back, in its place.
#[test]
fn a_wait_that_is_given_up_gives_its_message_back() {
    let w = World::new();
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for options in [0, SYNC, MQGMO_FAIL_IF_QUIESCING] {
            let (s, putter) = (w.connect(), w.connect());
            let h = open(&s, LOCAL, MQOO_INPUT_SHARED);
            let p = open(&putter, LOCAL, IN_OUT);
            let waiting = wait(&s, h, md(0), gmo(options));
            put(&putter, p, persistence, 0, b"1");
            put(&putter, p, persistence, 0, b"2");
            s.give_up_waits();
            let given_up = waiting.finish().map(|taken| taken.text());
            assert_eq!(given_up, Err(Reason::CONNECTION_STOPPING));
            assert_eq!(drain(&putter, p), ["1", "2"]);
        }
    }
}

/// CLEAR waits for its record to be forced while somebody opens the queue and gets a message in a unit of work. Backed
/// out, that message must not come back: CLEAR has said that it is gone, and a restart would not have it.
#[test]
fn what_is_cleared_does_not_come_back_from_a_unit_of_work() {
    let mut w = World::pausable();
    w.run("DEFINE QLOCAL(A)");
    let s = w.connect();
    for text in ["1", "2", "3"] {
        put1(&s, "A", &mut md(PERSISTENT), 0, text.as_bytes()).unwrap();
    }
    w.stage.pause();
    let (qm, command) = (w.qm().clone(), "CLEAR QLOCAL(A)");
    let command = posthaste_command::parse(command).unwrap().unwrap();
    let clear = Call::begin(async move { Admin::alone(&qm).execute(&command).await });
    let h = open(&s, "A", IN_OUT);
    assert_eq!(next(&s, h, SYNC).unwrap().text(), "1");
    w.stage.resume();
    assert!(clear.finish().ok);
    backout(&s);
    put(&s, h, PERSISTENT, 0, b"4");
    assert_eq!(browse_all(&s), ["4"]);
    drop(s);
    for crash in [true, false] {
        if crash {
            w.crash()
        } else {
            w.restart()
        }
        assert_eq!(browse_all(&w.connect()), ["4"]);
    }
}

/// The same, but the unit of work lasts until checkpoints have come and a crash ends it.
#[test]
fn what_is_cleared_does_not_come_back_from_an_image() {
    let mut w = World::with(|c| {
        (c.pq_buffer, c.log_config.file_pages) = (1, 64);
        c.log_config.writes.plain = true;
    });
    w.run("DEFINE QLOCAL(A)");
    let s = w.connect();
    for text in ["1", "2"] {
        put1(&s, "A", &mut md(PERSISTENT), 0, text.as_bytes()).unwrap();
    }
    let filler = w.connect();
    let h = open(&filler, LOCAL, IN_OUT);
    let two_checkpoints = |w: &World| {
        let image = w.image();
        while w.image() < image + 2 {
            put(&filler, h, PERSISTENT, 0, &[7; 20_000]);
            next(&filler, h, 0).unwrap();
        }
    };
    two_checkpoints(&w);
    w.stage.pause();
    let (qm, command) = (w.qm().clone(), "CLEAR QLOCAL(A)");
    let command = posthaste_command::parse(command).unwrap().unwrap();
    let clear = Call::begin(async move { Admin::alone(&qm).execute(&command).await });
    let a = open(&s, "A", IN_OUT);
    assert_eq!(next(&s, a, SYNC).unwrap().text(), "1");
    w.stage.resume();
    assert!(clear.finish().ok);
    two_checkpoints(&w);
    drop(filler);
    w.kill();
    drop(s);
    w.start();
    assert_eq!(browse_all(&w.connect()), [""; 0]);
}

/// MQOPEN of a model queue makes a permanent dynamic queue, and nobody is there any more to be told its name.
#[test]
fn a_dynamic_queue_whose_open_is_dropped_goes_again() {
    let mut w = World::pausable();
    w.run("DEFINE QMODEL(PERMANENT) DEFTYPE(PERMDYN)");
    let s = w.connect();
    w.stage.pause();
    let opening = s.clone();
    let call = Call::begin(async move {
        let mut od = object("PERMANENT");
        od.dynamic_q_name = posthaste_mqi::Name::new("MADE");
        opening
            .open(&mut od, MQOO_OUTPUT)
            .await
            .map(|done| done.value)
    });
    assert!(w.qm().queue_status("MADE").is_some());
    drop(call);
    assert!(w.qm().queue_status("MADE").is_none());
    w.stage.resume();
    // One that is opened to its end stays.
    let mut od = object("PERMANENT");
    od.dynamic_q_name = posthaste_mqi::Name::new("STAYS");
    open_od(&s, &mut od, MQOO_OUTPUT).unwrap();
    drop(s);
    w.crash();
    let there = ["MADE", "STAYS"].map(|name| w.qm().queue_status(name).is_some());
    assert_eq!(there, [false, true]);
}

fn browse_all(s: &posthaste_engine::Session) -> Vec<String> {
    let h = open(s, "A", MQOO_BROWSE);
    browse(s, h)
}
