//! The circle of extents: wrap-around, the limits, secondaries that come and go, a full disk, and a
//! changed configuration.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rig;

use posthaste_env::Disk;
use rig::*;

use posthaste_recovery_log::{Class, LogConfig, LogError, Lsn};

fn files(disk: &MemDisk) -> Vec<String> {
    disk.list(std::path::Path::new("/log/active")).unwrap()
}

#[test]
fn many_laps_with_restarts_in_between() {
    let config = small();
    let mut disk = fresh(&config);
    let mut kept: Vec<(Lsn, Vec<u8>)> = Vec::new();
    let mut number = 0;
    let mut dice = Dice(42);
    for life in 0..25 {
        let (mut rig, found) = Rig::start(&disk, &config).unwrap();
        let found: Vec<_> = found.into_iter().map(|r| r.payload).collect();
        let want: Vec<_> = kept.iter().map(|(_, p)| p.clone()).collect();
        assert!(found == want, "life {life}");
        for _ in 0..60 {
            let bytes = payload(number, dice.roll(40_000) as usize);
            number += 1;
            let at = rig.commit(&bytes).unwrap();
            kept.push((at.end, bytes));
            // Keep about 300 KB.
            if kept.len() > 15 {
                let (end, _) = kept[kept.len() - 12];
                rig.log.advance(end, &number.to_le_bytes(), false).unwrap();
                kept.drain(..kept.len() - 11);
            }
        }
        let usage = rig.log.usage();
        assert!(usage.used < 3 * EXTENT && usage.extents <= 5, "{usage:?}");
        disk = disk.after(if life % 2 == 0 {
            Stop::Power
        } else {
            Stop::Kill
        });
    }
    let laps = kept.last().unwrap().0.0 / (3 * EXTENT);
    assert!(laps > 30, "{laps} laps");
    assert!(files(&disk).len() <= 5, "{:?}", files(&disk));
}

#[test]
fn an_anchor_and_a_clean_end_come_back() {
    let config = small();
    let disk = fresh(&config);
    let mut restart = reopen(&disk, &config).unwrap();
    assert!(restart.clean() && restart.anchor().is_empty() && restart.restart() == Lsn(0));
    assert!(read_all(&mut restart).unwrap().is_empty());
    let mut rig = Rig::new(restart).unwrap();
    let at = rig.commit(b"one").unwrap();
    assert!(!reopen(&disk, &config).unwrap().clean(), "running");
    let anchor: Vec<u8> = (0..=255).collect();
    rig.log.advance(at.start, &anchor, true).unwrap();
    let mut restart = reopen(&disk, &config).unwrap();
    assert!(restart.clean());
    assert_eq!(restart.anchor(), anchor);
    let found = read_all(&mut restart).unwrap();
    assert_eq!(
        (found.len(), found[0].start, found[0].end),
        (1, at.start, at.end)
    );
    // The end is a place to restart from, too.
    rig.log.advance(rig.log.appended(), b"", true).unwrap();
    let mut restart = reopen(&disk, &config).unwrap();
    assert!(read_all(&mut restart).unwrap().is_empty());
}

#[test]
fn advance_refuses_what_would_lose_records() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let first = rig.commit(b"one").unwrap();
    let second = rig.commit(b"two").unwrap();
    rig.log.advance(second.start, b"", false).unwrap();
    let misuse = |result| assert!(matches!(result, Err(LogError::Misuse(_))), "{result:?}");
    misuse(rig.log.advance(first.end, b"", false));
    misuse(rig.log.advance(second.end, &[0; 257], false));
    let third = rig.append(b"three").unwrap();
    misuse(rig.log.advance(third.end, b"", false));
    misuse(rig.log.advance(second.end, b"", true));
    rig.force(third.end).unwrap();
    rig.log.advance(third.end, b"", true).unwrap();
    let after = rig.append(b"after a clean end");
    assert!(matches!(after, Err(LogError::Stopped(_))), "{after:?}");
}

#[test]
fn full_for_ordinary_then_for_essential_and_free_again() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let total = 5 * EXTENT;
    let reserve = rig.log.usage().reserve;
    assert_eq!(rig.log.usage().total, total);
    let bytes = payload(7, 10_000);
    let error = loop {
        match rig.commit(&bytes) {
            Ok(at) => assert!(at.end.0 <= total - reserve),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::Full));
    let left = rig.log.usage().ordinary_left;
    assert!(left < 3 * 4096 + 4096, "{left} bytes were left");
    assert!(
        matches!(rig.append(&bytes), Err(LogError::Full)),
        "and stays so"
    );
    // Exact to the page: what still fits does fit.
    if left >= 4096 {
        rig.commit(&payload(1, 4056)).unwrap();
    }
    let mut essential = 0;
    loop {
        match rig.log.append(Class::Essential, &[&bytes]) {
            Ok(at) => {
                assert!(at.end.0 <= total);
                essential += 1;
            }
            Err(error) => {
                assert!(matches!(error, LogError::Full));
                break;
            }
        }
        rig.pump();
    }
    assert!(
        essential * 10_000 > reserve as usize / 2,
        "{essential} essential records"
    );
    // All of it is written, and read back.
    rig.force(rig.log.appended()).unwrap();
    let mut again = reopen(&disk.after(Stop::Power), &config).unwrap();
    assert!(read_all(&mut again).unwrap().len() > 90);
    // Space comes back with the restart LSN.
    rig.log
        .advance(Lsn(rig.log.appended().0), b"", false)
        .unwrap();
    for n in 0..50 {
        rig.commit(&payload(n, 10_000)).unwrap();
    }
}

#[test]
fn a_record_larger_than_the_log_is_refused_and_harms_nothing() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let big = vec![1; 5 * EXTENT as usize];
    assert!(matches!(rig.append(&big), Err(LogError::Full)));
    let huge = vec![0; posthaste_recovery_log::MAX_RECORD / 2 + 1];
    assert!(matches!(
        rig.log.append(Class::Essential, &[&huge, &huge]),
        Err(LogError::TooLong(_))
    ));
    rig.commit(b"small").unwrap();
    // Nearly as large as all primaries together: needs secondaries at once.
    let large = payload(3, 4 * EXTENT as usize);
    let at = rig.commit(&large).unwrap();
    let mut again = reopen(&disk.after(Stop::Power), &config).unwrap();
    let found = read_all(&mut again).unwrap();
    assert_eq!((found[1].start, found[1].end), (at.start, at.end));
    assert!(found[1].payload == large);
}

#[test]
fn secondaries_appear_when_needed_and_vanish_when_usage_has_fallen() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    assert_eq!(files(&disk).len(), 3);
    while rig.log.usage().used < 4 * EXTENT {
        rig.commit(&payload(1, 20_000)).unwrap();
    }
    assert_eq!(files(&disk).len(), 5);
    assert_eq!(rig.log.statistics().extents_made, 2);
    for _ in 0..10 {
        rig.log.advance(rig.log.appended(), b"", false).unwrap();
        rig.pump();
        rig.commit(&payload(1, 20_000)).unwrap();
    }
    assert_eq!(files(&disk).len(), 3, "{:?}", files(&disk));
    assert_eq!(rig.log.statistics().extents_removed, 2);
    assert!(rig.log.statistics().extents_reused >= 2);
    for n in 0..200 {
        rig.commit(&payload(n, 20_000)).unwrap();
        rig.log.advance(rig.log.appended(), b"", false).unwrap();
    }
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert!(found.is_empty());
}

#[test]
fn a_full_disk_makes_the_log_full_and_not_dead() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    disk.set_full(true);
    let mut committed = 0;
    let error = loop {
        assert!(poll_once(&mut rig.log.room()).is_some() || !rig.out.is_empty());
        match rig.commit(&payload(committed, 10_000)) {
            Ok(_) => committed += 1,
            Err(error) => break error,
        }
        rig.pump();
    };
    assert!(matches!(error, LogError::Full), "{error}");
    assert!(rig.log.stopped().is_none());
    let usage = rig.log.usage();
    assert_eq!(usage.extents, 3);
    assert!(
        usage
            .blocked
            .is_some_and(|why| why.contains("S0000003.LOG"))
    );
    assert!(usage.used <= 3 * EXTENT - usage.reserve);
    assert!(usage.used > 3 * EXTENT - usage.reserve - 5 * 4096);
    assert_eq!(files(&disk).len(), 3, "no half-made file is left");
    // The reserve is on disk, so a checkpoint goes through, and the log goes on in what it has.
    let at = rig
        .log
        .append(Class::Essential, &[&payload(9, 20_000)])
        .unwrap();
    rig.force(at.end).unwrap();
    rig.log.advance(at.start, b"", false).unwrap();
    rig.pump();
    for n in 0..30 {
        rig.commit(&payload(n, 10_000)).unwrap();
    }
    // And grows again when there is space.
    disk.set_full(false);
    rig.now += 2_000_000_000;
    while rig.log.usage().used < 4 * EXTENT {
        rig.commit(&payload(1, 10_000)).unwrap();
        rig.now += 2_000_000_000;
    }
    assert_eq!(rig.log.usage().blocked, None);
}

#[test]
fn accepted_records_without_a_place_stop_the_log_in_the_end() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let before = rig.commit(b"safe").unwrap();
    disk.set_full(true);
    // Accepted while the log could still grow; then it turns out that it cannot.
    let at = rig.append(&payload(1, 4 * EXTENT as usize)).unwrap();
    let error = rig.force(at.end).unwrap_err();
    assert!(
        matches!(&error, LogError::Stopped(why) if why.contains("could not be made")),
        "{error}"
    );
    disk.set_full(false);
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert_eq!((found.len(), found[0].end), (1, before.end));
}

#[test]
fn more_or_fewer_files_than_before() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    while rig.log.usage().used < 4 * EXTENT {
        rig.commit(&payload(1, 20_000)).unwrap();
    }
    let count = rig.log.statistics().records as usize;
    // Fewer than are in use: ordinary records wait for a checkpoint, which goes through.
    let fewer = LogConfig {
        primary_files: 2,
        secondary_files: 1,
        ..small()
    };
    let disk = disk.after(Stop::Power);
    let (mut rig, found) = Rig::start(&disk, &fewer).unwrap();
    assert_eq!(found.len(), count);
    rig.pump();
    assert!(matches!(rig.append(b"x"), Err(LogError::Full)));
    let at = rig.log.append(Class::Essential, &[b"checkpoint"]).unwrap();
    rig.force(at.end).unwrap();
    for _ in 0..6 {
        rig.log.advance(at.start, b"", false).unwrap();
        rig.pump();
    }
    assert!(files(&disk).len() <= 3, "{:?}", files(&disk));
    rig.commit(&payload(2, 100)).unwrap();
    // More: the primaries are made.
    let more = LogConfig {
        primary_files: 7,
        ..small()
    };
    let (mut rig, found) = Rig::start(&disk, &more).unwrap();
    assert_eq!(found.len(), 2);
    rig.pump();
    assert_eq!(files(&disk).len(), 7);
    // Another page count is another log.
    let other = LogConfig {
        file_pages: 128,
        ..small()
    };
    let error = reopen(&disk, &other).unwrap_err();
    assert!(
        matches!(&error, LogError::BadConfig(text) if text.contains("128") && text.contains("64")),
        "{error}"
    );
}

#[test]
fn room_waits_for_the_next_extent_but_appends_are_never_refused_for_it() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    // Prepared files are not run: appends go on to the end of what exists, and room is closed before.
    let mut closed = false;
    let mut room = rig.log.room();
    while rig.log.usage().used < 3 * EXTENT + EXTENT / 2 {
        closed |= poll_once(&mut room).is_none();
        rig.append(&payload(1, 20_000)).unwrap();
        rig.take();
        while let Some(at) = rig.out.iter().position(|o| matches!(o, Out::Write(_))) {
            rig.run(at);
            rig.take();
        }
    }
    assert!(closed, "room was never closed");
    assert!(rig.log.forced().0 <= 3 * EXTENT, "written where no file is");
    rig.force(rig.log.appended()).unwrap();
    assert!(poll_once(&mut rig.log.room()).is_some());
    assert!(rig.log.forced().0 > 3 * EXTENT);
}
