//! Many applications at once, on threads of their own: every message is got exactly once, limits
//! hold, and nobody waits for ever.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use posthaste_engine::{EndMode, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};
use world::*;

const PUTTERS: usize = 6;
const EACH: usize = 400;
const QUEUES: [&str; 2] = ["ONE", "TWO"];

/// The log is large enough that no unit of work is taken down for its sake while its thread is not
/// given the processor.
fn two_queues() -> World {
    let w = World::with(|c| {
        c.log_config.file_pages = 2048;
        c.q_buffer = 16 * 1024;
        c.pq_buffer = 16 * 1024;
    });
    w.run("DEFINE QLOCAL(ONE) MAXDEPTH(99999)\nDEFINE QLOCAL(TWO) MAXDEPTH(99999)");
    w
}

/// Puts messages named `putter.number`, to the queues by turns, in and out of units of work, some
/// of which are backed out and put again.
fn put_all(s: &Session, putter: usize) {
    let handles = QUEUES.map(|queue| open(s, queue, MQOO_OUTPUT));
    let mut n = 0;
    while n < EACH {
        let unit = n % 10 >= 3;
        let to = if unit { (n + 5).min(EACH) } else { n + 1 };
        let options = if unit { MQPMO_SYNCPOINT } else { 0 };
        let tries = if unit && n % 3 == 0 { 2 } else { 1 };
        for attempt in 1..=tries {
            for m in n..to {
                let text = format!("{putter}.{m}");
                let data = format!("{text:.<200}");
                let persistence = ((putter + m) % 2) as i32;
                put(s, handles[m % 2], persistence, options, data.as_bytes());
            }
            if attempt < tries {
                backout(s);
            }
        }
        commit(s);
        n = to;
    }
}

fn name(taken: &Taken) -> String {
    taken.text().trim_end_matches('.').to_owned()
}

/// Tells the getters of a queue that nothing more comes.
const END: &[u8] = b"the end";

/// Gets until it meets the end marker, and leaves that for the others.
fn get_all(s: &Session, queue: &str, getter: usize) -> Vec<String> {
    let h = open(s, queue, IN_OUT);
    let mut all = Vec::new();
    for round in 1.. {
        let sync = [0, MQGMO_SYNCPOINT, MQGMO_SYNCPOINT_IF_PERSISTENT][round % 3];
        let how = Gmo {
            wait_interval: MQWI_UNLIMITED,
            ..gmo(MQGMO_WAIT | sync)
        };
        if (getter + round).is_multiple_of(7) {
            give_up(s, h, how.clone());
        }
        let taken = take(s, h, md(0), how, 1 << 20).unwrap();
        let in_unit = sync == MQGMO_SYNCPOINT || (sync != 0 && taken.md.persistence == PERSISTENT);
        if taken.data == END {
            if in_unit {
                backout(s);
            } else {
                put(s, h, 0, 0, END);
            }
            break;
        }
        if in_unit && round.is_multiple_of(5) {
            backout(s);
            continue;
        }
        commit(s);
        all.push(name(&taken));
    }
    all
}

/// Waits for a moment and goes away: whatever was given meanwhile must come back. The buffer takes
/// no message, so that one that is there stays there.
fn give_up(s: &Session, h: Hobj, how: Gmo) {
    let mut future = Box::pin(getting(s.clone(), h, md(0), how, 0));
    let mut context = Context::from_waker(Waker::noop());
    if let Poll::Ready(taken) = future.as_mut().poll(&mut context) {
        assert_eq!(taken.unwrap().warning, Reason::TRUNCATED_MSG_FAILED);
    }
}

#[test]
fn every_message_is_got_exactly_once() {
    let w = two_queues();
    let mut seen: HashMap<String, usize> = HashMap::new();
    thread::scope(|scope| {
        let getters: Vec<_> = (0..6)
            .map(|getter| {
                let s = w.connect();
                scope.spawn(move || get_all(&s, QUEUES[getter % 2], getter))
            })
            .collect();
        let putters: Vec<_> = (0..PUTTERS)
            .map(|putter| {
                let s = w.connect();
                scope.spawn(move || put_all(&s, putter))
            })
            .collect();
        let put: Vec<_> = putters.into_iter().map(|putter| putter.join()).collect();
        // Also if one has failed: the getters must not wait for ever.
        let s = w.connect();
        for queue in QUEUES {
            put1(&s, queue, &mut md(0), 0, END).unwrap();
        }
        assert!(put.iter().all(Result::is_ok));
        for getter in getters {
            for name in getter.join().unwrap() {
                *seen.entry(name).or_default() += 1;
            }
        }
    });
    let s = w.connect();
    for queue in QUEUES {
        let h = open(&s, queue, MQOO_INPUT_SHARED);
        while let Ok(taken) = next(&s, h, 0) {
            if taken.data != END {
                *seen.entry(name(&taken)).or_default() += 1;
            }
        }
        let status = w.status(queue);
        assert_eq!((status.depth, status.uncommitted), (0, false));
        assert_eq!(status.resident_bytes, 0);
    }
    assert_eq!(seen.len(), PUTTERS * EACH);
    let twice: Vec<_> = seen.iter().filter(|(_, n)| **n != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Requests and replies: each requester gets the reply to its own request.
#[test]
fn requests_and_replies_meet() {
    let w = two_queues();
    let requesters = 8;
    thread::scope(|scope| {
        for server in 0..2 {
            let s = w.connect();
            scope.spawn(move || {
                let requests = open(&s, "ONE", MQOO_INPUT_SHARED);
                let replies = open(&s, "TWO", MQOO_OUTPUT);
                let options = MQGMO_SYNCPOINT | MQGMO_WAIT;
                let how = Gmo {
                    wait_interval: MQWI_UNLIMITED,
                    ..gmo(options)
                };
                loop {
                    let request = take(&s, requests, md(0), how.clone(), 999).unwrap();
                    if request.data.is_empty() {
                        commit(&s);
                        return;
                    }
                    let reply = Md {
                        correl_id: request.md.msg_id,
                        ..md(server % 2)
                    };
                    send(&s, replies, reply, MQPMO_SYNCPOINT, &request.data);
                    commit(&s);
                }
            });
        }
        let mut all = Vec::new();
        for requester in 0..requesters {
            let s = w.connect();
            all.push(scope.spawn(move || {
                let requests = open(&s, "ONE", MQOO_OUTPUT);
                let replies = open(&s, "TWO", MQOO_INPUT_SHARED);
                for n in 0..150 {
                    let text = format!("{requester}.{n}");
                    let sent = put(&s, requests, n % 2, 0, text.as_bytes());
                    let how = Gmo {
                        match_options: MQMO_MATCH_CORREL_ID,
                        wait_interval: MQWI_UNLIMITED,
                        ..gmo(MQGMO_WAIT)
                    };
                    let by = Md {
                        correl_id: sent.msg_id,
                        ..md(0)
                    };
                    let reply = take(&s, replies, by, how, 999).unwrap();
                    assert_eq!(reply.text(), text);
                }
            }));
        }
        for requester in all {
            requester.join().unwrap();
        }
        let s = w.connect();
        for _ in 0..2 {
            put1(&s, "ONE", &mut md(0), 0, b"").unwrap();
        }
    });
    assert_eq!((w.depth("ONE"), w.depth("TWO")), (0, 0));
}

/// A limit is a limit, however many put at the same moment.
#[test]
fn maxdepth_is_never_exceeded() {
    let w = World::new();
    w.run("DEFINE QLOCAL(LIMITED) MAXDEPTH(100)");
    for persistence in [NOT_PERSISTENT, PERSISTENT] {
        for options in [0, MQPMO_SYNCPOINT] {
            let accepted = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..4 {
                    let (s, accepted) = (w.connect(), &accepted);
                    scope.spawn(move || {
                        let h = open(&s, "LIMITED", MQOO_OUTPUT);
                        for _ in 0..60 {
                            match try_put(&s, h, &mut md(persistence), options, b"x") {
                                Ok(_) => accepted.fetch_add(1, Ordering::SeqCst),
                                Err(Reason::Q_FULL) => 0,
                                Err(reason) => panic!("{reason}"),
                            };
                        }
                        commit(&s);
                    });
                }
            });
            assert_eq!(accepted.into_inner(), 100);
            assert_eq!(w.depth("LIMITED"), 100);
            w.run("CLEAR QLOCAL(LIMITED)");
        }
    }
}

/// Ends of all kinds while applications are at work: calls end, and what was answered is kept.
#[test]
fn an_end_in_the_middle_of_work_loses_nothing_that_was_answered() {
    for how in [EndMode::Immediate, EndMode::Preemptive, EndMode::Controlled] {
        let mut w = two_queues();
        let answered: Vec<String> = thread::scope(|scope| {
            let workers: Vec<_> = (0..6)
                .map(|worker| {
                    let s = w.connect();
                    scope.spawn(move || work(&s, worker))
                })
                .collect();
            until("some work", || w.depth("ONE") > 100);
            if how == EndMode::Controlled {
                // Applications are asked to go, and go.
                w.qm().quiesce(EndMode::Controlled);
            }
            block_on(w.qm().end(how)).unwrap();
            workers
                .into_iter()
                .flat_map(|w| w.join().unwrap())
                .collect()
        });
        w.end_threads();
        w.start();
        let s = w.connect();
        let h = open(&s, "ONE", MQOO_INPUT_SHARED);
        let mut there = drain(&s, h);
        let total = there.len();
        there.sort();
        there.dedup();
        assert_eq!(there.len(), total, "something came twice");
        for name in &answered {
            assert!(there.binary_search(name).is_ok(), "{how:?}: {name} is lost");
        }
    }
}

/// What an application is told when the queue manager ends.
const ENDED: [Reason; 3] = [
    Reason::Q_MGR_QUIESCING,
    Reason::Q_MGR_STOPPING,
    Reason::CONNECTION_BROKEN,
];

/// Puts persistent messages until it is told to go; returns those whose put was answered.
fn work(s: &Session, worker: usize) -> Vec<String> {
    let mut answered = Vec::new();
    let h = match try_open(s, "ONE", MQOO_OUTPUT) {
        Ok(h) => h,
        Err(reason) => {
            assert!(ENDED.contains(&reason), "{reason}");
            return answered;
        }
    };
    for n in 0.. {
        let text = format!("{worker}.{n}");
        let options = MQPMO_FAIL_IF_QUIESCING | [0, MQPMO_SYNCPOINT][n % 2];
        let put = try_put(s, h, &mut md(PERSISTENT), options, text.as_bytes());
        let done = match put {
            Ok(_) if n % 2 == 1 => block_on(s.commit()).map(|_| ()),
            Ok(_) => Ok(()),
            Err(reason) => Err(reason),
        };
        match done {
            Ok(()) => answered.push(text),
            Err(reason) => {
                assert!(ENDED.contains(&reason), "{reason}");
                break;
            }
        }
    }
    let _ = block_on(s.disconnect());
    answered
}
