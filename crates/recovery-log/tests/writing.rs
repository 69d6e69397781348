//! The writer's promises: order of acknowledgement, finality of errors, wake-ups, ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rig;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use rig::*;

use posthaste_recovery_log::{Force, LogConfig, LogError, Lsn};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll(force: &mut Force, count: &Arc<Count>) -> bool {
    let waker = Waker::from(Arc::clone(count));
    Pin::new(force)
        .poll(&mut Context::from_waker(&waker))
        .is_ready()
}

fn start(config: &LogConfig) -> (MemDisk, Rig) {
    let disk = fresh(config);
    let (rig, _) = Rig::start(&disk, config).unwrap();
    (disk, rig)
}

/// Three writes in flight: 1, 2 and 3 committers.
fn three_in_flight(rig: &mut Rig) -> Vec<(Lsn, Force)> {
    rig.write_time = 2_000_000;
    rig.commit(b"first").unwrap();
    let mut forces = Vec::new();
    for committers in 2..=4 {
        for _ in 0..committers {
            let at = rig.append(&payload(committers, 100)).unwrap();
            let mut force = rig.log.force(at.end);
            assert!(poll_once(&mut force).is_none());
            forces.push((at.end, force));
        }
        rig.take();
    }
    assert_eq!(rig.out.len(), 3);
    forces
}

#[test]
fn acknowledgement_is_strictly_in_order() {
    for order in [[2, 1, 0], [1, 1, 0], [2, 0, 0], [0, 1, 0]] {
        let (_disk, mut rig) = start(&flights());
        let mut forces = three_in_flight(&mut rig);
        let before = rig.log.forced();
        let mut done = [false; 3];
        let mut left = vec![0, 1, 2];
        for index in order {
            rig.run(index);
            done[left.remove(index)] = true;
            let in_order = done.iter().take_while(|d| **d).count() as u64;
            assert_eq!(rig.log.forced().0, before.0 + in_order * 4096, "{order:?}");
            for (end, force) in &mut forces {
                if *end > rig.log.forced() {
                    assert!(poll_once(force).is_none(), "acknowledged too early");
                }
            }
        }
        for (_, force) in &mut forces {
            assert!(matches!(poll_once(force), Some(Ok(_))));
        }
    }
}

#[test]
fn an_idle_log_writes_its_first_committer_at_once_on_any_device() {
    for write_time in [20_000, 200_000, 5_000_000] {
        let (_disk, mut rig) = start(&small());
        rig.write_time = write_time;
        for n in 0..20 {
            rig.now += 1_000_000_000;
            let at = rig.append(&payload(n, 100)).unwrap();
            let mut force = rig.log.force(at.end);
            assert!(poll_once(&mut force).is_none());
            let before = rig.now;
            rig.take();
            assert_eq!((rig.out.len(), rig.now), (1, before), "it was held back");
            rig.run(0);
            assert!(poll_once(&mut force).is_some());
        }
    }
}

#[test]
fn nothing_is_written_that_nobody_asked_for_until_it_presses() {
    let (_disk, mut rig) = start(&LogConfig {
        buffer_pages: 64,
        ..small()
    });
    rig.append(&payload(1, 100_000)).unwrap();
    rig.take();
    assert!(rig.out.is_empty());
    rig.append(&payload(1, 40_000)).unwrap();
    rig.take();
    assert_eq!(rig.out.len(), 1, "half of the buffer waits");
}

#[test]
fn room_closes_at_the_buffer_and_opens_with_a_write() {
    let (_disk, mut rig) = start(&LogConfig {
        buffer_pages: 18,
        ..small()
    });
    assert!(poll_once(&mut rig.log.room()).is_some());
    rig.append(&payload(1, 60_000)).unwrap();
    assert!(poll_once(&mut rig.log.room()).is_some(), "15 of 18 pages");
    rig.append(&payload(1, 12_000)).unwrap();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut room = rig.log.room();
    let mut dropped = rig.log.room();
    for room in [&mut room, &mut dropped] {
        assert!(
            Pin::new(room)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    drop(dropped);
    rig.append(b"append itself is never refused for it")
        .unwrap();
    rig.take();
    assert_eq!(
        count.get(),
        1,
        "taking the buffer opens it, for those still there"
    );
    assert!(poll_once(&mut room).is_some());
}

#[test]
fn a_failed_write_is_final() {
    let (disk, mut rig) = start(&flights());
    let before = rig.commit(b"good").unwrap();
    let count = Arc::new(Count::default());
    let at = rig.append(b"bad").unwrap();
    let mut waiting = rig.log.force(at.end);
    assert!(!poll(&mut waiting, &count));
    let mut room = rig.log.room();
    disk.set_broken(true);
    rig.pump();
    assert_eq!(count.get(), 1, "the committer learns it");
    let error = poll_once(&mut waiting).unwrap().unwrap_err();
    assert!(
        matches!(&error, LogError::Stopped(why) if why.contains("medium error") && why.contains("LSN")),
        "{error}"
    );
    // No retry, also when the device would work again; what was forced stays so.
    disk.set_broken(false);
    let written = disk.operations();
    rig.pump();
    assert!(rig.ended);
    assert_eq!(disk.operations(), written);
    assert!(matches!(rig.append(b"more"), Err(LogError::Stopped(_))));
    assert!(matches!(
        rig.log.advance(before.end, b"", true),
        Err(LogError::Stopped(_))
    ));
    assert!(matches!(
        poll_once(&mut rig.log.force(before.end)),
        Some(Ok(_))
    ));
    assert!(
        poll_once(&mut room).is_some(),
        "nobody waits for room for ever"
    );
    assert!(rig.log.stopped().is_some());
}

#[test]
fn a_failed_write_among_several_acknowledges_nothing_after_it() {
    let (disk, mut rig) = start(&flights());
    let mut forces = three_in_flight(&mut rig);
    let before = rig.log.forced();
    disk.set_broken(true);
    rig.run(1);
    disk.set_broken(false);
    rig.run(0);
    rig.run(0);
    assert_eq!(rig.log.forced(), before);
    for (_, force) in &mut forces {
        assert!(matches!(poll_once(force), Some(Err(LogError::Stopped(_)))));
    }
    rig.pump();
    assert!(rig.ended);
}

#[test]
fn a_failed_control_write_is_final() {
    let (disk, mut rig) = start(&small());
    let at = rig.commit(b"good").unwrap();
    disk.set_broken(true);
    assert!(matches!(
        rig.log.advance(at.end, b"", false),
        Err(LogError::Io(_))
    ));
    assert!(rig.log.stopped().is_some());
}

#[test]
fn shut_down_writes_what_is_there_and_ends() {
    let (disk, mut rig) = start(&small());
    let at = rig.append(&payload(1, 5000)).unwrap();
    let mut beyond = rig.log.force(Lsn(1 << 40));
    let count = Arc::new(Count::default());
    assert!(!poll(&mut beyond, &count));
    rig.log.shut_down();
    assert!(matches!(rig.append(b"late"), Err(LogError::Stopped(_))));
    rig.pump();
    assert!(rig.ended && rig.log.forced() >= at.end);
    assert!(rig.log.stopped().is_none(), "an orderly end is no failure");
    assert_eq!(count.get(), 1);
    assert!(matches!(
        poll_once(&mut beyond),
        Some(Err(LogError::Stopped(_)))
    ));
    rig.log.advance(rig.log.appended(), b"end", true).unwrap();
    let restart = reopen(&disk.after(Stop::Power), &small()).unwrap();
    assert!(restart.clean());
}

#[test]
fn a_hook_is_called_once_a_write_and_wakes_all() {
    let (_disk, mut rig) = start(&small());
    let hooked = Arc::new(Count::default());
    let hook = Arc::clone(&hooked);
    rig.log.on_release(Box::new(move || {
        hook.0.fetch_add(1, Ordering::SeqCst);
    }));
    let woken = Arc::new(Count::default());
    let mut forces = Vec::new();
    for n in 0..10 {
        let at = rig.append(&payload(n, 50)).unwrap();
        let mut force = rig.log.force(at.end);
        assert!(!poll(&mut force, &woken));
        forces.push(force);
    }
    drop(forces.pop());
    rig.pump();
    assert_eq!(
        (hooked.get(), woken.get()),
        (1, 0),
        "not woken by the writer"
    );
    rig.log.wake_released();
    assert_eq!(woken.get(), 9, "the dropped one is not woken");
    for force in &mut forces {
        assert!(poll(force, &woken));
    }
    rig.log.wake_released();
    assert_eq!(woken.get(), 9);
}

#[test]
fn polling_again_with_another_waker_wakes_the_last_one() {
    let (_disk, mut rig) = start(&small());
    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let at = rig.append(b"x").unwrap();
    let mut force = rig.log.force(at.end);
    assert!(!poll(&mut force, &first));
    assert!(!poll(&mut force, &second));
    assert!(!poll(&mut force, &second));
    rig.pump();
    assert_eq!((first.get(), second.get()), (0, 1));
    assert!(poll(&mut force, &second));
    // Already forced: no waiting.
    assert!(poll(&mut rig.log.force(at.end), &first));
    assert_eq!(first.get(), 0);
}

#[test]
fn amplification_with_one_appender() {
    let config = LogConfig {
        file_pages: 1024,
        ..small()
    };
    let (_disk, mut rig) = start(&config);
    for n in 0..300 {
        rig.commit(&payload(n, 2300)).unwrap();
    }
    let amplification = rig.log.statistics().amplification();
    assert!(amplification <= 2.0, "{amplification}");
    assert_eq!(rig.log.statistics().writes, 300);
}

/// Records of 2,195 bytes (a put of 2 KiB) and 35 bytes (its get), each forced: a page each, and none twice
/// (docs/decisions/004-page-size.md).
#[test]
fn amplification_of_short_and_long_records_by_turns() {
    let config = LogConfig {
        file_pages: 1024,
        ..small()
    };
    let (_disk, mut rig) = start(&config);
    for n in 0..300 {
        rig.commit(&payload(n, if n % 2 == 0 { 2_187 } else { 27 }))
            .unwrap();
    }
    let counts = rig.log.statistics();
    assert_eq!(counts.writes, 300);
    let least = 2.0 * 4_096.0 / (2_195.0 + 35.0);
    let amplification = counts.amplification();
    assert!((amplification - least).abs() < 0.01, "{amplification}");
}

#[test]
fn amplification_with_sixty_appenders_of_200_kib() {
    let config = LogConfig {
        file_pages: 16_384,
        ..small()
    };
    let (_disk, mut rig) = start(&config);
    for round in 0..4 {
        let mut last = Lsn(0);
        for n in 0..60 {
            last = rig.append(&payload(round * 60 + n, 200 << 10)).unwrap().end;
        }
        rig.force(last).unwrap();
    }
    let counts = rig.log.statistics();
    assert!(counts.amplification() <= 1.02, "{}", counts.amplification());
    assert!(counts.mean_write_bytes() > 1 << 20, "{counts:?}");
}

#[test]
fn amplification_grows_smaller_with_the_batch() {
    for (committers, most) in [(12, 1.25), (60, 1.05)] {
        let (_disk, mut rig) = start(&LogConfig {
            file_pages: 4096,
            ..small()
        });
        for round in 0..20 {
            let mut last = Lsn(0);
            for n in 0..committers {
                last = rig.append(&payload(round * 60 + n, 2300)).unwrap().end;
            }
            rig.force(last).unwrap();
        }
        let amplification = rig.log.statistics().amplification();
        assert!(amplification <= most, "{committers}: {amplification}");
    }
}
