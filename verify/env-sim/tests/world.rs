//! Executor, clock, entropy, and the world as a whole: the same seed gives the same run.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use posthaste_env::{Clock, Env, Open};
use posthaste_env_sim::{Area, Fault, Progress, SimWorld, yield_now};

const MILLI: u64 = 1_000_000;

/// A program of several tasks that write, sync, sleep and draw random bytes, with a crash in the middle.
fn busy(world: &SimWorld) {
    let disk = world.disk();
    disk.set_chance(Fault::WriteError, Area::Any, 50_000);
    disk.set_chance(Fault::SyncError, Area::Any, 50_000);
    for round in 0..2 {
        for task in 0..4_u64 {
            let env = world.env();
            world.executor().spawn(&format!("task {task}"), async move {
                work(&env, task, round).await.ok();
            });
        }
        world.executor().run_for(3 * MILLI);
        world.crash();
    }
}

async fn work(env: &Env, task: u64, round: u64) -> std::io::Result<()> {
    let path = format!("/{task}");
    let file = env.disk.open(path.as_ref(), Open::CREATE)?;
    for turn in 0..10 {
        let mut bytes = [0; 700];
        env.entropy.fill(&mut bytes);
        // A failure is part of the run, and in the trace.
        let _ = file.write_at(&bytes, turn * 500 + round);
        yield_now().await;
        let wait = 1 + u64::from(bytes[0]) * 1_000;
        env.clock.sleep_until(env.clock.monotonic() + wait).await;
        let _ = file.sync();
    }
    env.disk.sync_dir("/".as_ref())
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let run = |seed| {
        let world = SimWorld::new(seed);
        world.keep_trace(20);
        busy(&world);
        assert_eq!(world.seed(), seed);
        let contents: Vec<_> = (0..4)
            .map(|task| world.disk().content(format!("/{task}").as_ref()))
            .collect();
        (
            world.trace(),
            world.recent(),
            contents,
            world.disk().struck(),
        )
    };
    let mut hashes = BTreeSet::new();
    for seed in 0..20 {
        let first = run(seed);
        assert!(run(seed) == first, "seed {seed}");
        assert_eq!(first.1.len(), 20);
        hashes.insert(first.0);
    }
    assert_eq!(hashes.len(), 20);
}

#[test]
fn every_step_changes_the_trace() {
    let world = SimWorld::new(1);
    let env = world.env();
    let mut hashes = BTreeSet::from([world.trace()]);
    let mut differs = |what: &str| assert!(hashes.insert(world.trace()), "{what}");
    let file = env.disk.open("/f".as_ref(), Open::CREATE).unwrap();
    differs("open");
    file.write_at(b"a", 0).unwrap();
    differs("write");
    file.read_at(&mut [0], 0).unwrap();
    differs("read");
    file.set_len(5).unwrap();
    differs("set_len");
    file.sync().unwrap();
    differs("sync");
    env.disk.rename("/f".as_ref(), "/g".as_ref()).unwrap();
    differs("rename");
    env.disk.sync_dir("/".as_ref()).unwrap();
    differs("sync_dir");
    env.disk.list("/".as_ref()).unwrap();
    differs("list");
    let lock = env.disk.lock("/l".as_ref()).unwrap();
    differs("lock");
    drop(lock);
    env.entropy.fill(&mut [0; 4]);
    differs("entropy");
    world.clock().advance(1);
    differs("time");
    world.clock().step_wall(-1);
    differs("wall");
    world.executor().spawn("task", async {});
    differs("spawn");
    world.executor().run_until_idle();
    differs("poll");
    world.crash();
    differs("crash");
}

#[test]
fn timers_end_in_order_of_time_and_time_jumps() {
    let world = SimWorld::new(2);
    let clock = world.env().clock;
    let start = clock.monotonic();
    let order = Rc::new(RefCell::new(Vec::new()));
    for seconds in [3600, 5, 1, 86_400, 60] {
        let (clock, order) = (world.env().clock, Rc::clone(&order));
        world.executor().spawn("sleeper", async move {
            let at = start + seconds * 1_000 * MILLI;
            clock.sleep_until(at).await;
            assert!(clock.monotonic() >= at);
            order.borrow_mut().push(seconds);
        });
    }
    world.executor().run_ready();
    assert_eq!(world.clock().timers(), 5);
    assert!(order.borrow().is_empty());
    assert_eq!(world.clock().next_timer(), Some(start + 1_000 * MILLI));
    world.executor().run_until(start + 59_000 * MILLI);
    assert_eq!(*order.borrow(), [1, 5]);
    assert!(clock.monotonic() >= start + 59_000 * MILLI);
    assert!(clock.monotonic() < start + 60_000 * MILLI);
    world.executor().run_until_idle();
    assert_eq!(*order.borrow(), [1, 5, 60, 3600, 86_400]);
    assert_eq!(world.executor().tasks(), 0);
}

#[test]
fn a_dropped_sleep_leaves_no_timer_and_a_past_one_is_over_at_once() {
    let world = SimWorld::new(0);
    let clock = world.env().clock;
    let mut context = Context::from_waker(Waker::noop());
    let mut sleep = clock.sleep_until(clock.monotonic() + 5);
    assert_eq!(world.clock().timers(), 0);
    assert!(sleep.as_mut().poll(&mut context).is_pending());
    assert!(sleep.as_mut().poll(&mut context).is_pending());
    assert_eq!(world.clock().timers(), 1);
    drop(sleep);
    assert_eq!(world.clock().timers(), 0);
    let mut past = clock.sleep_until(clock.monotonic());
    assert!(past.as_mut().poll(&mut context).is_ready());
    let mut reached = clock.sleep_until(clock.monotonic() + 5);
    assert!(reached.as_mut().poll(&mut context).is_pending());
    world.clock().advance(5);
    assert_eq!(world.clock().timers(), 0);
    assert!(reached.as_mut().poll(&mut context).is_ready());
}

#[test]
fn the_wall_clock_can_go_back_and_the_monotonic_one_cannot() {
    let world = SimWorld::new(3);
    let clock = world.env().clock;
    let (wall, now) = (clock.wall_micros(), clock.monotonic());
    world.clock().advance(5 * MILLI);
    assert_eq!(clock.wall_micros() - wall, 5_000);
    assert_eq!(clock.monotonic() - now, 5 * MILLI);
    world.clock().step_wall(-3_600_000_000);
    assert_eq!(clock.wall_micros() - wall, 5_000 - 3_600_000_000);
    assert_eq!(clock.monotonic() - now, 5 * MILLI);
    world.clock().advance_to(0);
    assert_eq!(clock.monotonic() - now, 5 * MILLI);
    world.crash();
    assert_eq!(world.env().clock.monotonic() - now, 5 * MILLI);
    world.clock().step_wall(7_200_000_000);
    assert!(clock.wall_micros() > wall);
}

/// The order in which five tasks of three turns each went on.
fn interleaving(seed: u64) -> Vec<u64> {
    let world = SimWorld::new(seed);
    let order = Rc::new(RefCell::new(Vec::new()));
    for task in 0..5 {
        let order = Rc::clone(&order);
        world.executor().spawn("turns", async move {
            for _ in 0..3 {
                order.borrow_mut().push(task);
                yield_now().await;
            }
        });
    }
    world.executor().run_until_idle();
    order.take()
}

#[test]
fn the_seed_alone_decides_who_goes_on() {
    let mut orders = BTreeSet::new();
    for seed in 0..50 {
        let order = interleaving(seed);
        assert_eq!(order.len(), 15);
        assert_eq!(order, interleaving(seed));
        orders.insert(order);
    }
    assert_eq!(orders.len(), 50);
    let first: BTreeSet<u64> = orders.iter().map(|order| order[0]).collect();
    assert_eq!(first.len(), 5, "each task is first under some seed");
}

#[test]
fn the_order_of_waking_makes_no_difference() {
    let run = |reverse: bool| {
        let world = SimWorld::new(9);
        let wakers = Rc::new(RefCell::new(Vec::new()));
        let order = Rc::new(RefCell::new(Vec::new()));
        for task in 0..6 {
            let (wakers, order) = (Rc::clone(&wakers), Rc::clone(&order));
            let mut asleep = false;
            world.executor().spawn("woken", async move {
                poll_fn(|context| {
                    if asleep {
                        return Poll::Ready(());
                    }
                    asleep = true;
                    wakers.borrow_mut().push((task, context.waker().clone()));
                    Poll::Pending
                })
                .await;
                order.borrow_mut().push(task);
            });
        }
        world.executor().run_until_idle();
        let mut wakers = wakers.take();
        wakers.sort_by_key(|(task, _)| *task);
        if reverse {
            wakers.reverse();
        }
        for (_, waker) in wakers {
            waker.wake_by_ref();
            waker.wake();
        }
        world.executor().run_until_idle();
        order.take()
    };
    let order = run(false);
    assert_eq!(order.len(), 6);
    assert_eq!(order, run(true));
}

#[test]
fn tasks_give_their_output_and_can_be_awaited_and_cancelled() {
    let world = SimWorld::new(4);
    let executor = world.executor();
    let inner = executor.spawn("inner", async {
        yield_now().await;
        7
    });
    let outer = executor.spawn("outer", async move { inner.await + 1 });
    assert!(!outer.is_finished());
    executor.run_until_idle();
    assert!(outer.is_finished());
    assert_eq!(outer.take(), Some(8));
    assert_eq!(outer.take(), None);
    let dropped = Rc::new(());
    let held = Rc::clone(&dropped);
    let waits = executor.spawn("waits", async move {
        pending::<()>().await;
        drop(held);
    });
    executor.run_until_idle();
    assert_eq!(executor.waiting(), ["waits"]);
    assert_eq!(Rc::strong_count(&dropped), 2);
    waits.cancel();
    waits.cancel();
    assert_eq!(Rc::strong_count(&dropped), 1);
    assert_eq!(executor.tasks(), 0);
    assert!(!waits.is_finished());
}

#[test]
fn a_task_can_spawn_and_cancel_itself() {
    let world = SimWorld::new(4);
    let executor = world.executor().clone();
    let slot = Rc::new(RefCell::new(None::<posthaste_env_sim::Task<()>>));
    let own = Rc::clone(&slot);
    let task = world.executor().spawn("suicide", async move {
        let child = executor.spawn("child", async { 1 });
        assert_eq!(child.await, 1);
        own.borrow().as_ref().unwrap().cancel();
        yield_now().await;
        unreachable!("cancelled");
    });
    *slot.borrow_mut() = Some(task);
    world.executor().run_until_idle();
    assert_eq!(world.executor().tasks(), 0);
    slot.take();
}

#[test]
fn block_on_says_who_waits_when_nothing_can_go_on() {
    let world = SimWorld::new(5);
    let clock = world.env().clock;
    let later = clock.monotonic() + 1_000 * MILLI;
    assert_eq!(
        world.executor().block_on(async move {
            clock.sleep_until(later).await;
            "slept"
        }),
        Ok("slept")
    );
    world.executor().spawn("reader", pending::<()>());
    let stuck = world.executor().block_on(pending::<()>()).unwrap_err();
    assert_eq!(stuck.waiting, ["reader", "block_on"]);
    assert!(stuck.to_string().contains("reader, block_on"));
    assert_eq!(world.executor().step(), Progress::Idle);
}

#[test]
fn run_while_stops_when_told_or_when_there_is_nothing_to_do() {
    let world = SimWorld::new(6);
    let clock = world.env().clock;
    world.executor().spawn("ticks", async move {
        loop {
            clock.sleep_until(clock.monotonic() + MILLI).await;
        }
    });
    let end = world.clock().monotonic() + 100 * MILLI;
    assert!(
        world
            .executor()
            .run_while(|| world.clock().monotonic() < end)
    );
    assert!(world.clock().monotonic() >= end);
    world.crash();
    assert_eq!(world.executor().tasks(), 0);
    assert_eq!(world.clock().timers(), 0);
    assert!(!world.executor().run_while(|| true));
}

#[test]
fn polls_cost_a_little_time_or_none() {
    let world = SimWorld::new(7);
    let spin = || {
        let before = world.clock().monotonic();
        world.executor().spawn("spin", async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        world.executor().run_until_idle();
        world.clock().monotonic() - before
    };
    let cost = spin();
    assert!((10_000..101_000).contains(&cost), "{cost}");
    world.executor().set_poll_cost(0);
    assert_eq!(spin(), 0);
}

#[test]
fn what_destructors_do_after_a_crash_goes_nowhere() {
    struct Writes(Env, posthaste_env_sim::SimExecutor);
    impl Drop for Writes {
        fn drop(&mut self) {
            assert!(self.0.disk.open("/late".as_ref(), Open::CREATE).is_err());
            self.1.spawn("late", pending::<()>());
        }
    }
    let world = SimWorld::new(8);
    for kill in [false, true] {
        let writes = Writes(world.env(), world.executor().clone());
        world.executor().spawn("holder", async move {
            pending::<()>().await;
            drop(writes);
        });
        world.executor().run_until_idle();
        if kill {
            world.kill();
        } else {
            world.crash();
        }
        assert_eq!(world.executor().tasks(), 0);
        assert!(!world.env().disk.exists("/late".as_ref()));
    }
}

#[test]
fn a_task_may_crash_the_world_it_runs_in() {
    let world = Rc::new(SimWorld::new(8));
    let inner = Rc::clone(&world);
    let task = world.executor().spawn("crashes", async move {
        inner.crash();
        yield_now().await;
        unreachable!("fell to the crash");
    });
    world.executor().run_until_idle();
    assert!(!task.is_finished());
    assert_eq!(world.executor().tasks(), 0);
}

#[test]
fn entropy_follows_from_the_seed_and_does_not_repeat() {
    let draw = |seed| {
        let env = SimWorld::new(seed).env();
        let mut drawn = BTreeSet::new();
        for length in [8, 24, 100] {
            let mut bytes = vec![0; length];
            env.entropy.fill(&mut bytes);
            drawn.insert(bytes[length - 8..].to_vec());
        }
        drawn
    };
    assert_eq!(draw(1), draw(1));
    assert_eq!(draw(1).len(), 3);
    assert!(draw(1).is_disjoint(&draw(2)));
}
