//! Clock, timers, events, threads and `block_on` of the real machine. No upper bounds on elapsed time: a
//! lost wake-up shows as a test that does not end.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::task::{Context, Poll, Wake, Waker};

use posthaste_env::{Event, block_on, os, set_timer_slack, spawn};

const MILLI: u64 = 1_000_000;

#[test]
fn monotonic_never_goes_back_and_wall_is_in_microseconds() {
    let clock = os().clock;
    let mut last = clock.monotonic();
    for _ in 0..10_000 {
        let now = clock.monotonic();
        assert!(now >= last);
        last = now;
    }
    // Between 2020 and 2200: seconds or nanoseconds would lie far outside.
    let wall = clock.wall_micros();
    assert!((1_577_836_800_000_000..7_258_118_400_000_000).contains(&wall));
}

#[test]
fn a_sleep_lasts_at_least_until_its_time() {
    let clock = os().clock;
    for wait in [0, 1, 1000, 3 * MILLI] {
        let at = clock.monotonic() + wait;
        block_on(clock.sleep_until(at));
        assert!(clock.monotonic() >= at);
    }
}

#[test]
fn a_sleep_into_the_past_is_over_at_once() {
    let mut sleep = os().clock.sleep_until(0);
    let mut context = Context::from_waker(Waker::noop());
    assert!(sleep.as_mut().poll(&mut context).is_ready());
}

struct Report(usize, mpsc::Sender<usize>);

impl Wake for Report {
    fn wake(self: Arc<Self>) {
        self.1.send(self.0).unwrap();
    }
}

#[test]
fn sleeps_end_in_the_order_of_their_times() {
    let clock = os().clock;
    let now = clock.monotonic();
    let (sender, receiver) = mpsc::channel();
    // Started in this order; numbered by when they must end.
    let mut sleeps: Vec<_> = [(3, 40), (1, 20), (4, 40), (0, 10), (2, 30)]
        .into_iter()
        .map(|(rank, millis)| {
            let mut sleep = clock.sleep_until(now + millis * MILLI);
            let waker = Waker::from(Arc::new(Report(rank, sender.clone())));
            let first = sleep.as_mut().poll(&mut Context::from_waker(&waker));
            (first, sleep)
        })
        .collect();
    let waiting = sleeps.iter().filter(|(first, _)| first.is_pending());
    let order: Vec<usize> = receiver.iter().take(waiting.count()).collect();
    assert!(order.is_sorted(), "{order:?}");
    for (_, sleep) in &mut sleeps {
        let mut context = Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(&mut context).is_ready());
    }
}

#[test]
fn the_last_waker_of_a_sleep_is_the_one_that_is_woken() {
    let clock = os().clock;
    let (sender, receiver) = mpsc::channel();
    let mut sleep = clock.sleep_until(clock.monotonic() + 50 * MILLI);
    for number in [1, 2] {
        let waker = Waker::from(Arc::new(Report(number, sender.clone())));
        if sleep
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            return; // A machine this slow proves nothing here.
        }
    }
    drop(sender);
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [2]);
}

#[test]
fn block_on_sleeps_until_another_thread_wakes_it() {
    for _ in 0..200 {
        let done = Arc::new(AtomicBool::new(false));
        let mut polls = 0;
        let mut helper = None;
        let result = block_on(poll_fn(|context| {
            polls += 1;
            if done.load(SeqCst) {
                return Poll::Ready(polls);
            }
            if helper.is_none() {
                let (done, waker) = (Arc::clone(&done), context.waker().clone());
                let thread = spawn("helper", move || {
                    done.store(true, SeqCst);
                    waker.wake();
                });
                helper = Some(thread.unwrap());
            }
            Poll::Pending
        }));
        helper.unwrap().join().unwrap();
        assert_eq!(result, 2);
    }
}

#[test]
fn a_nested_block_on_leaves_the_outer_wake_up_alone() {
    let mut turn = 0;
    let outcome = block_on(poll_fn(|context| {
        turn += 1;
        if turn == 2 {
            return Poll::Ready("outer");
        }
        context.waker().wake_by_ref();
        let mut inner = 0;
        block_on(poll_fn(|context| {
            inner += 1;
            context.waker().wake_by_ref();
            if inner == 3 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        Poll::Pending
    }));
    assert_eq!(outcome, "outer");
}

#[test]
fn a_waker_of_an_ended_block_on_does_no_harm() {
    let mut kept = None;
    block_on(poll_fn(|context| {
        kept = Some(context.waker().clone());
        Poll::Ready(())
    }));
    kept.unwrap().wake();
    let mut polls = 0;
    block_on(poll_fn(|context| {
        polls += 1;
        if polls == 5 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
}

#[test]
fn threads_have_names_and_report_panics() {
    let (sender, receiver) = mpsc::channel();
    let thread = spawn("log writer", move || {
        let name = std::thread::current().name().map(str::to_owned);
        sender.send(name).unwrap();
    });
    assert_eq!(receiver.recv().unwrap().as_deref(), Some("log writer"));
    assert_eq!(thread.unwrap().join(), Ok(()));
    let thread = spawn("fails", || {
        std::panic::resume_unwind(Box::new("on purpose"))
    });
    assert_eq!(thread.unwrap().join(), Err(()));
    let thread = spawn("precise", || {
        for slack in [0, 1, 1000] {
            set_timer_slack(slack).unwrap();
        }
    });
    assert_eq!(thread.unwrap().join(), Ok(()));
}

#[test]
fn an_event_keeps_one_signal() {
    let event = Event::new();
    assert!(!event.try_wait());
    event.set();
    event.set();
    assert!(event.wait(None));
    assert!(!event.try_wait(), "two sets before a wait are one");
    event.set();
    assert!(event.try_wait());
    assert!(!event.wait(Some(0)));
}

#[test]
fn an_event_wait_ends_at_its_deadline_or_by_a_set() {
    let clock = os().clock;
    let event = Arc::new(Event::new());
    let deadline = clock.monotonic() + 2 * MILLI;
    assert!(!event.wait(Some(deadline)));
    assert!(clock.monotonic() >= deadline);
    let setter = Arc::clone(&event);
    let thread = spawn("setter", move || setter.set()).unwrap();
    assert!(event.wait(Some(u64::MAX)));
    thread.join().unwrap();
}

#[test]
fn no_signal_is_lost_between_two_threads() {
    let events = Arc::new([Event::new(), Event::new()]);
    let other = Arc::clone(&events);
    let rounds = 50_000;
    let thread = spawn("pong", move || {
        for _ in 0..rounds {
            other[0].wait(None);
            other[1].set();
        }
    });
    for _ in 0..rounds {
        events[0].set();
        assert!(events[1].wait(Some(u64::MAX)));
    }
    thread.unwrap().join().unwrap();
}

#[test]
fn no_work_is_left_behind_by_many_setters() {
    let shared = Arc::new((Event::new(), AtomicUsize::new(0)));
    let (setters, each) = (4, 20_000);
    let threads: Vec<_> = (0..setters)
        .map(|_| {
            let shared = Arc::clone(&shared);
            spawn("setter", move || {
                for _ in 0..each {
                    shared.1.fetch_add(1, SeqCst);
                    shared.0.set();
                }
            })
            .unwrap()
        })
        .collect();
    let mut seen = 0;
    while seen < setters * each {
        assert!(shared.0.wait(None));
        seen = shared.1.load(SeqCst);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn each_set_lets_one_of_many_waiters_through() {
    let event = Arc::new(Event::new());
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (event, sender) = (Arc::clone(&event), sender.clone());
            spawn("waiter", move || {
                for _ in 0..1000 {
                    event.wait(None);
                    sender.send(()).unwrap();
                }
            })
            .unwrap()
        })
        .collect();
    for _ in 0..4000 {
        event.set();
        receiver.recv().unwrap();
        assert!(receiver.try_recv().is_err(), "one set, two waiters");
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn sleeps_of_many_threads_all_end() {
    let clock = os().clock;
    let start = clock.monotonic();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let clock = &clock;
            scope.spawn(move || {
                for turn in 0..50 {
                    // Long ones that are dropped, between short ones that must still end.
                    let mut long = pin!(clock.sleep_until(start + 3_600_000 * MILLI));
                    let mut context = Context::from_waker(Waker::noop());
                    assert!(long.as_mut().poll(&mut context).is_pending());
                    let wait = (turn * 7 + thread * 3) % 5 * 100_000;
                    block_on(clock.sleep_until(clock.monotonic() + wait));
                }
            });
        }
    });
}

#[test]
fn entropy_fills_the_whole_buffer_differently_each_time() {
    let entropy = os().entropy;
    let mut seen = std::collections::BTreeSet::new();
    for length in [8, 16, 24, 300] {
        for _ in 0..50 {
            let mut buf = vec![0; length];
            entropy.fill(&mut buf);
            assert!(seen.insert(buf[length - 8..].to_vec()));
        }
    }
    entropy.fill(&mut []);
}
