//! Crashes at every operation and at every torn sector; several writes in flight; many crashes in a row.
//!
//! What must hold after each: every acknowledged record is read back in order and unchanged, at most
//! followed by records that were appended after it, in order; and an unacknowledged torn write is never
//! reported as damage.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rig;

use rig::*;

use posthaste_recovery_log::{Class, Force, LogConfig, Record};

const LENGTHS: [usize; 9] = [10, 2300, 100, 9000, 4056, 0, 20_000, 1, 5000];

/// Appends records, forcing after some, until it is done or the machine dies. Gives payloads in order and
/// how many of them were acknowledged.
fn history(rig: &mut Rig, first: u64, count: u64) -> (Vec<Vec<u8>>, usize) {
    let mut appended = Vec::new();
    let mut acknowledged = 0;
    for n in first..first + count {
        let bytes = payload(n, LENGTHS[n as usize % LENGTHS.len()]);
        let Ok(at) = rig.append(&bytes) else {
            break;
        };
        appended.push(bytes);
        if n % 3 != 1 {
            match rig.force(at.end) {
                Ok(()) => acknowledged = appended.len(),
                Err(_) => break,
            }
        }
    }
    (appended, acknowledged)
}

fn check(found: &[Record], appended: &[Vec<u8>], acknowledged: usize, what: &str) {
    assert!(
        found.len() >= acknowledged,
        "{what}: {} of {acknowledged} acknowledged records",
        found.len()
    );
    assert!(
        found.len() <= appended.len(),
        "{what}: records out of nothing"
    );
    for (n, (record, bytes)) in found.iter().zip(appended).enumerate() {
        assert!(&record.payload == bytes, "{what}: record {n} differs");
    }
}

#[test]
fn crash_at_every_operation_torn_at_every_sector() {
    let config = small();
    let base = fresh(&config);
    // How many operations a start and a history take, and how long the longest write is.
    let whole = base.after(Stop::Power);
    let (mut rig, _) = Rig::start(&whole, &config).unwrap();
    let (appended, acknowledged) = history(&mut rig, 0, 24);
    assert_eq!(acknowledged, appended.len());
    let operations = whole.operations();
    let mut runs = 0;
    for operation in 0..=operations {
        let mut variants = vec![Torn::Nothing, Torn::All, Torn::Odd, Torn::Even];
        variants.extend((1..64).map(Torn::First));
        variants.extend((0..8).map(Torn::AllBut));
        for torn in variants {
            let disk = base.after(Stop::Power);
            disk.crash_at(operation, torn);
            let what = format!("operation {operation} {torn:?}");
            let (appended, acknowledged) = match Rig::start(&disk, &config) {
                Ok((mut rig, _)) => history(&mut rig, 0, 24),
                Err(error) => {
                    assert!(disk.is_dead(), "{what}: {error}");
                    (Vec::new(), 0)
                }
            };
            let disk = disk.after(Stop::Power);
            let (mut rig, found) =
                Rig::start(&disk, &config).unwrap_or_else(|error| panic!("{what}: {error}"));
            check(&found, &appended, acknowledged, &what);
            // And the log goes on from there.
            let mut all: Vec<Vec<u8>> = found.into_iter().map(|r| r.payload).collect();
            let (more, kept) = history(&mut rig, 100, 3);
            let sure = all.len() + kept;
            all.extend(more);
            let disk = disk.after(Stop::Power);
            let (_, found) = Rig::start(&disk, &config).unwrap();
            check(&found, &all, sure, &what);
            runs += 1;
        }
    }
    assert!(runs > 1000, "{runs}");
}

/// Commits in flight and what the log must still hold.
struct World {
    disk: MemDisk,
    dice: Dice,
    /// Payloads that restart must find, oldest first, and the LSN after each.
    sure: Vec<(u64, Vec<u8>)>,
    /// Appended in this life, not acknowledged yet.
    hoped: Vec<(u64, Vec<u8>)>,
    number: u64,
}

impl World {
    fn check(&mut self, found: Vec<Record>, life: u64) {
        let all: Vec<&Vec<u8>> = self
            .sure
            .iter()
            .chain(&self.hoped)
            .map(|(_, b)| b)
            .collect();
        assert!(
            found.len() >= self.sure.len(),
            "life {life}: {} of {} acknowledged records",
            found.len(),
            self.sure.len()
        );
        assert!(
            found.len() <= all.len(),
            "life {life}: records out of nothing"
        );
        for (record, bytes) in found.iter().zip(all) {
            assert!(&record.payload == bytes, "life {life}: a record differs");
        }
        // What was read is built upon, so from now on it has to stay.
        self.sure = found.into_iter().map(|r| (r.end.0, r.payload)).collect();
        self.hoped.clear();
    }

    fn acknowledge(&mut self, forced: u64) {
        while self.hoped.first().is_some_and(|(end, _)| *end <= forced) {
            self.sure.push(self.hoped.remove(0));
        }
    }

    /// One life: random appends, forces, completions in any order, and then the end, with any part of
    /// what is in flight on the disk.
    fn live(&mut self, config: &LogConfig, life: u64) {
        let (mut rig, found) =
            Rig::start(&self.disk, config).unwrap_or_else(|error| panic!("life {life}: {error}"));
        self.check(found, life);
        // Slow writes, so that several are in flight.
        rig.write_time = 2_000_000;
        let mut forces: Vec<Force> = Vec::new();
        for _ in 0..self.dice.roll(40) {
            match self.dice.roll(10) {
                0..=4 => {
                    let length = match self.dice.roll(6) {
                        0 => self.dice.roll(70_000),
                        1 => self.dice.roll(9_000),
                        _ => self.dice.roll(700),
                    };
                    let bytes = payload(self.number, length as usize);
                    self.number += 1;
                    if let Ok(at) = rig.log.append(Class::Ordinary, &[&bytes]) {
                        self.hoped.push((at.end.0, bytes));
                        let mut force = rig.log.force(at.end);
                        if poll_once(&mut force).is_none() && self.dice.roll(3) > 0 {
                            forces.push(force);
                        }
                    }
                }
                5 | 6 => rig.take(),
                7 | 8 => {
                    if !rig.out.is_empty() {
                        let index = self.dice.roll(rig.out.len() as u64) as usize;
                        rig.run(index);
                    }
                }
                _ => self.advance(&rig),
            }
            let forced = rig.log.forced().0;
            self.acknowledge(forced);
            forces.retain_mut(|force| poll_once(force).is_none());
        }
        self.end(rig);
    }

    fn advance(&mut self, rig: &Rig) {
        let forced = rig.log.forced().0;
        self.acknowledge(forced);
        if self.sure.is_empty() || self.dice.roll(3) > 0 {
            return;
        }
        let index = self.dice.roll(self.sure.len() as u64) as usize;
        let (end, _) = self.sure[index];
        rig.log
            .advance(posthaste_recovery_log::Lsn(end), &end.to_le_bytes(), false)
            .unwrap();
        self.sure.drain(..=index);
    }

    fn end(&mut self, rig: Rig) {
        let stop = if self.dice.roll(2) == 0 {
            Stop::Kill
        } else {
            Stop::Power
        };
        for out in &rig.out {
            let Out::Write(job) = out else {
                continue;
            };
            let sectors = job.bytes().len() / SECTOR;
            let torn = match self.dice.roll(6) {
                0 | 1 => Torn::Nothing,
                2 => Torn::All,
                3 => Torn::First(self.dice.roll(sectors as u64) as usize),
                4 => Torn::AllBut(self.dice.roll(sectors as u64) as usize),
                _ => Torn::Even,
            };
            let cached = stop == Stop::Kill && self.dice.roll(2) == 0;
            let path = extent_path(job.lsn().0 / EXTENT);
            self.disk.leave(job, &path, EXTENT, torn, cached);
        }
        // A rename that was under way has happened or not; its directory was not synced.
        if let Some(Out::Prepare(job)) = rig.out.iter().find(|o| matches!(o, Out::Prepare(_))) {
            let last = self.dice.roll(6);
            self.disk
                .crash_at(last, Torn::First(self.dice.roll(9) as usize));
            let _ = job.run();
        }
        self.disk = self.disk.after(stop);
    }
}

#[test]
fn many_lives_with_writes_in_flight_and_stale_pages() {
    for seed in 1..=12_u64 {
        let config = flights();
        let mut world = World {
            disk: fresh(&config),
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            sure: Vec::new(),
            hoped: Vec::new(),
            number: 0,
        };
        let mut most = 0;
        for life in 0..150 {
            world.live(&config, life);
            most = most.max(world.number);
        }
        let (_, found) = Rig::start(&world.disk, &config).unwrap();
        world.check(found, u64::MAX);
        assert!(most > 300, "seed {seed}: only {most} records");
    }
}

/// The scenario the generation exists for, step by step.
#[test]
fn a_stale_page_beyond_a_hole_is_never_taken_for_a_new_one() {
    let config = flights();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    rig.write_time = 2_000_000;
    rig.commit(&payload(0, 100)).unwrap();
    // Two writes in flight, each one page; only the second reaches the disk.
    let mut forces = Vec::new();
    for (n, records) in [(1, 2), (10, 3)] {
        for k in 0..records {
            let at = rig.append(&payload(n + k, 50)).unwrap();
            let mut force = rig.log.force(at.end);
            assert!(poll_once(&mut force).is_none());
            forces.push(force);
        }
        rig.take();
    }
    assert_eq!(rig.out.len(), 2, "two in flight");
    let (Out::Write(hole), Out::Write(stale)) = (&rig.out[0], &rig.out[1]) else {
        panic!("two writes");
    };
    assert_eq!((hole.lsn().0, stale.lsn().0), (4096, 8192));
    disk.leave(stale, &extent_path(0), EXTENT, Torn::All, false);
    let disk = disk.after(Stop::Power);

    // The log is cut at the hole; one new page fills exactly the hole.
    let (mut rig, found) = Rig::start(&disk, &config).unwrap();
    assert_eq!(found.len(), 1);
    let at = rig.commit(&payload(50, 60)).unwrap();
    assert_eq!(at.start.0, 4096 + 32);
    let disk = disk.after(Stop::Power);

    // The page behind it has the right LSN and checksum, and must not be read.
    for _ in 0..3 {
        let (_, found) = Rig::start(&disk, &config).unwrap();
        let numbers: Vec<&[u8]> = found.iter().map(|r| &r.payload[..8]).collect();
        assert_eq!(numbers, [&0_u64.to_le_bytes()[..], &50_u64.to_le_bytes()]);
    }
    // Neither when restart begins at that very page, where it has no predecessor.
    let (rig, _) = Rig::start(&disk, &config).unwrap();
    rig.log
        .advance(posthaste_recovery_log::Lsn(8192), b"", false)
        .unwrap();
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert_eq!(found, []);
}

/// A log of two records whose process was killed between the write of the second and its sync: that page is in the page
/// cache only.
fn killed_before_a_sync(config: &LogConfig) -> MemDisk {
    let disk = fresh(config);
    let (mut rig, _) = Rig::start(&disk, config).unwrap();
    rig.commit(&payload(0, 100)).unwrap();
    let at = rig.append(&payload(1, 100)).unwrap();
    let mut force = rig.log.force(at.end);
    assert!(poll_once(&mut force).is_none());
    rig.take();
    let Some(Out::Write(job)) = rig.out.first() else {
        panic!("a write");
    };
    disk.leave(job, &extent_path(0), EXTENT, Torn::All, true);
    disk.after(Stop::Kill)
}

#[test]
fn what_restart_has_read_survives_a_later_power_failure() {
    let config = small();
    let disk = killed_before_a_sync(&config);
    let (mut rig, found) = Rig::start(&disk, &config).unwrap();
    assert_eq!(found.len(), 2);
    rig.commit(&payload(2, 100)).unwrap();
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert_eq!(found.len(), 3);
}

#[test]
fn what_restart_reads_is_durable_before_it_is_built_upon() {
    let config = small();
    let disk = killed_before_a_sync(&config);
    // Read by a start that comes no further.
    let mut restart = reopen(&disk, &config).unwrap();
    restart.harden().unwrap();
    assert_eq!(read_all(&mut restart).unwrap().len(), 2);
    drop(restart);
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert_eq!(found.len(), 2);
}

#[test]
fn a_record_cut_off_in_the_middle_is_left_out_for_good() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    rig.commit(&payload(0, 100)).unwrap();
    // Over the end of an extent, so in two writes; only the first is done.
    rig.append(&payload(1, 300_000)).unwrap();
    let mut force = rig.log.force(rig.log.appended());
    assert!(poll_once(&mut force).is_none());
    rig.take();
    rig.run(0);
    assert!(rig.log.forced().0 == EXTENT && rig.log.appended().0 > EXTENT);
    let disk = disk.after(Stop::Power);
    let (mut rig, found) = Rig::start(&disk, &config).unwrap();
    assert_eq!(found.len(), 1);
    let next = rig.commit(&payload(2, 100)).unwrap();
    assert_eq!(
        next.start.0,
        EXTENT + 32,
        "pages that were read are not rewritten"
    );
    for _ in 0..2 {
        let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].payload, payload(2, 100));
    }
}

#[test]
fn a_rename_that_was_seen_but_not_synced_is_made_durable_before_it_carries_data() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    while rig.log.forced().0 <= EXTENT {
        rig.commit(&payload(0, 30_000)).unwrap();
    }
    let restart = rig.log.appended();
    rig.log.advance(restart, b"", false).unwrap();
    rig.take();
    let Some(Out::Prepare(job)) = rig.out.first() else {
        panic!("the first extent is free now");
    };
    // Killed after the rename and before the directory was synced.
    disk.crash_at(1, Torn::Nothing);
    assert!(job.run().is_err());
    let disk = disk.after(Stop::Kill);
    assert!(
        disk.bytes(&extent_path(3)).len() as u64 == EXTENT,
        "renamed"
    );

    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let mut committed = 0;
    while rig.log.forced().0 <= 3 * EXTENT {
        rig.commit(&payload(committed, 30_000)).unwrap();
        committed += 1;
    }
    let (_, found) = Rig::start(&disk.after(Stop::Power), &config).unwrap();
    assert_eq!(found.len() as u64, committed);
}
