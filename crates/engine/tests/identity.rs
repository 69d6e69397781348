//! A log is its data folder's, and of its time: any other is refused before anything is written, and no crash makes the right
//! one look like another.
#![allow(clippy::unwrap_used, missing_docs)]

mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_engine::{EndMode, EngineConfig, QueueManager, Silent, StartError, trust_log};
use posthaste_env::Open;
use posthaste_env_sim::SimDisk;
use posthaste_mqi::constants::*;
use world::*;

/// The files of a folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn small(seed: u64) -> (World, SimDisk) {
    let disk = SimDisk::of_seed(seed);
    let w = World::on_simulated(&disk, |c| c.log_config.file_pages = 64);
    (w, disk)
}

/// What there is below a folder.
fn files(disk: &SimDisk, folder: &Path) -> Files {
    let mut found = Files::new();
    for name in disk.mount().list(folder).unwrap_or_default() {
        let path = folder.join(name);
        match disk.content(&path) {
            Some(bytes) => drop(found.insert(path, bytes)),
            None => found.extend(files(disk, &path)),
        }
    }
    found
}

/// Puts other files in the place of those below a folder.
fn replace(disk: &SimDisk, folder: &Path, by: &Files) {
    let mounted = disk.mount();
    for path in files(disk, folder).keys() {
        mounted.remove_file(path).unwrap();
    }
    for (path, bytes) in by {
        mounted.create_dir_all(path.parent().unwrap()).unwrap();
        let file = mounted.open(path, Open::CREATE).unwrap();
        file.write_at(bytes, 0).unwrap();
    }
    disk.settle();
}

/// The same files in another folder.
fn moved(files: &Files, from: &Path, to: &Path) -> Files {
    let place = |path: &PathBuf| to.join(path.strip_prefix(from).unwrap());
    files
        .iter()
        .map(|(path, bytes)| (place(path), bytes.clone()))
        .collect()
}

fn put_all(w: &World, texts: &[&str]) {
    let s = w.connect();
    let h = open(&s, LOCAL, MQOO_OUTPUT);
    for text in texts {
        put(&s, h, PERSISTENT, 0, text.as_bytes());
    }
}

fn get_all(w: &World) -> Vec<String> {
    let s = w.connect();
    drain(&s, open(&s, LOCAL, MQOO_INPUT_SHARED))
}

fn try_start(w: &World, config: &EngineConfig) -> Result<(), StartError> {
    QueueManager::start(&w.env, config.clone(), Arc::new(Silent)).map(drop)
}

#[track_caller]
fn refused(w: &World, config: &EngineConfig, why: &str) {
    let error = try_start(w, config).unwrap_err();
    assert!(matches!(error, StartError::Inconsistent(_)), "{error}");
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(error.exit_code(), 78);
}

#[test]
fn an_old_log_is_refused_and_nothing_is_written() {
    let (mut w, disk) = small(1);
    put_all(&w, &["once"]);
    w.end(EndMode::Immediate);
    let old = files(&disk, &w.config.log);
    w.start();
    assert_eq!(get_all(&w), ["once"]);
    put_all(&w, &["acked1", "acked2", "acked3"]);
    w.kill();
    let right = files(&disk, &w.config.log);
    let data = files(&disk, &w.config.data);
    replace(&disk, &w.config.log, &old);
    refused(
        &w,
        &w.config,
        "of start 1, and the data folder was last used by start 2",
    );
    assert_eq!(files(&disk, &w.config.log), old);
    assert_eq!(files(&disk, &w.config.data), data);
    replace(&disk, &w.config.log, &right);
    w.start();
    assert_eq!(get_all(&w), ["acked1", "acked2", "acked3"]);
    // Whatever has been since: after an orderly end too, which leaves another image.
    w.end(EndMode::Immediate);
    replace(&disk, &w.config.log, &old);
    refused(&w, &w.config, "of start 1");
}

#[test]
fn a_log_that_was_moved_is_right_and_the_one_left_behind_is_not() {
    let (mut w, disk) = small(2);
    w.end(EndMode::Immediate);
    let behind = w.config.clone();
    let to = behind.log.with_file_name("elsewhere");
    replace(
        &disk,
        &to,
        &moved(&files(&disk, &behind.log), &behind.log, &to),
    );
    w.config.log = to;
    w.start();
    put_all(&w, &["1", "2", "3", "4", "5"]);
    w.kill();
    refused(&w, &behind, "was last used by start 2, with another log");
    w.start();
    assert_eq!(get_all(&w).len(), 5);
}

#[test]
fn the_log_of_another_queue_manager_is_refused() {
    let disk = SimDisk::of_seed(3);
    let make = || World::on_simulated(&disk, |c| c.log_config.file_pages = 64);
    let (mut one, mut other) = (make(), make());
    put_all(&other, &["not mine"]);
    one.kill();
    other.kill();
    let foreign = EngineConfig {
        log: other.config.log.clone(),
        ..one.config.clone()
    };
    refused(&one, &foreign, "is another queue manager's");
    other.start();
    assert_eq!(get_all(&other), ["not mine"]);
}

#[test]
fn both_halves_of_one_moment_are_right_and_a_copy_of_both_goes_its_own_way() {
    let (mut w, disk) = small(4);
    put_all(&w, &["kept"]);
    w.end(EndMode::Immediate);
    let (log, data) = (w.config.log.clone(), w.config.data.clone());
    let (old_log, old_data) = (files(&disk, &log), files(&disk, &data));
    w.start();
    assert_eq!(get_all(&w), ["kept"]);
    w.kill();
    let ran_on = files(&disk, &log);
    // The backup is restored, and starts as often as what ran on had.
    replace(&disk, &log, &old_log);
    replace(&disk, &data, &old_data);
    w.start();
    assert_eq!(get_all(&w), ["kept"]);
    w.kill();
    let restored = files(&disk, &log);
    replace(&disk, &log, &ran_on);
    refused(
        &w,
        &w.config,
        "of start 2, and the data folder was last used by start 2",
    );
    replace(&disk, &log, &restored);
    w.start();
}

#[test]
fn one_damaged_slot_does_no_harm_and_without_any_nothing_starts() {
    let (mut w, disk) = small(5);
    put_all(&w, &["kept"]);
    w.restart();
    w.end(EndMode::Immediate);
    let path = w.config.data.join("identity");
    let whole = files(&disk, &w.config.data);
    for slot in [0, 4096] {
        disk.rot_at(&path, slot + 20, 1).unwrap();
        w.start();
        assert_eq!(w.depth(LOCAL), 1);
        w.end(EndMode::Immediate);
        // Both are right again, so that another may be damaged.
        w.start();
        w.restart();
        w.end(EndMode::Immediate);
    }
    let good = disk.content(&path).unwrap();
    disk.rot_at(&path, 20, 1).unwrap();
    disk.rot_at(&path, 4096 + 20, 1).unwrap();
    refused(&w, &w.config, "is missing or damaged");
    disk.mount().remove_file(&path).unwrap();
    refused(&w, &w.config, "is missing or damaged");
    assert!(whole.contains_key(&path));
    disk.mount()
        .open(&path, Open::CREATE)
        .unwrap()
        .write_at(&good, 0)
        .unwrap();
    w.start();
    assert_eq!(get_all(&w), ["kept"]);
}

/// After each operation of a start the power fails: the next start finds a log that belongs to the folder.
#[test]
fn no_crash_in_a_start_makes_the_right_log_look_like_another() {
    let (mut w, disk) = small(6);
    put_all(&w, &["kept"]);
    w.kill();
    let old = files(&disk, &w.config.log);
    let mut behind = 0;
    for step in 1.. {
        disk.cut_power_after(step);
        let started = try_start(&w, &w.config);
        let cut = disk.power_is_cut();
        disk.crash();
        w.remount(&disk);
        if !cut {
            started.unwrap();
            break;
        }
        assert!(started.is_err(), "{step}");
        behind = step;
        w.start();
        assert_eq!(w.depth(LOCAL), 1, "{step}");
        w.kill();
    }
    assert!(behind > 3, "{behind}");
    w.start();
    assert_eq!(get_all(&w), ["kept"]);
    w.kill();
    replace(&disk, &w.config.log, &old);
    refused(&w, &w.config, "of start 1");
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Makes of a queue manager one that an earlier release has left.
fn as_before(w: &World, disk: &SimDisk) {
    let mut log = files(disk, &w.config.log);
    let control = log.get_mut(&w.config.log.join("LOG.CTL")).unwrap();
    for page in control.chunks_mut(4096) {
        assert_eq!((page[60], page[64]), (56, 12), "docs/internals/files.md");
        (page[60], page[64]) = (24, 8);
        page[88..120].fill(0);
        let crc = crc32(&page[4..]);
        page[..4].copy_from_slice(&crc.to_le_bytes());
    }
    replace(disk, &w.config.log, &log);
    let mut data = files(disk, &w.config.data);
    data.remove(&w.config.data.join("identity")).unwrap();
    replace(disk, &w.config.data, &data);
}

#[test]
fn a_queue_manager_of_an_earlier_release_takes_on_an_identity() {
    let (mut w, disk) = small(7);
    put_all(&w, &["kept"]);
    w.restart();
    w.end(EndMode::Immediate);
    as_before(&w, &disk);
    let before = files(&disk, &w.config.log);
    w.start();
    assert_eq!(w.depth(LOCAL), 1);
    w.kill();
    let right = files(&disk, &w.config.log);
    replace(&disk, &w.config.log, &before);
    refused(
        &w,
        &w.config,
        "of start 2, and the data folder was last used by start 3",
    );
    replace(&disk, &w.config.log, &right);
    w.start();
    assert_eq!(get_all(&w), ["kept"]);
}

#[test]
fn a_crash_at_no_step_of_that_loses_anything() {
    let (mut w, disk) = small(8);
    put_all(&w, &["kept"]);
    w.restart();
    w.kill();
    as_before(&w, &disk);
    let (log, data) = (files(&disk, &w.config.log), files(&disk, &w.config.data));
    for step in 1.. {
        replace(&disk, &w.config.log, &log);
        replace(&disk, &w.config.data, &data);
        disk.cut_power_after(step);
        let started = try_start(&w, &w.config);
        let cut = disk.power_is_cut();
        disk.crash();
        w.remount(&disk);
        if !cut {
            started.unwrap();
            assert!(step > 5, "{step}");
            return;
        }
        w.start();
        assert_eq!(w.depth(LOCAL), 1, "{step}");
        w.kill();
        // It has taken it on now.
        let right = files(&disk, &w.config.log);
        replace(&disk, &w.config.log, &log);
        refused(&w, &w.config, "with another log");
        replace(&disk, &w.config.log, &right);
        w.start();
        assert_eq!(w.depth(LOCAL), 1, "{step}");
        w.kill();
    }
}

#[test]
fn on_a_full_disk_a_later_start_does_it_and_a_note_that_is_there_needs_no_room() {
    let (mut w, disk) = small(9);
    put_all(&w, &["kept"]);
    w.kill();
    // What has an identity needs no room for the next run's.
    disk.set_free(Some(0));
    w.start();
    w.kill();
    disk.set_free(None);
    as_before(&w, &disk);
    disk.set_free(Some(0));
    w.start();
    assert_eq!(w.depth(LOCAL), 1);
    w.kill();
    w.start();
    w.kill();
    disk.set_free(None);
    w.start();
    assert_eq!(w.depth(LOCAL), 1);
    w.kill();
    let old = files(&disk, &w.config.log);
    w.start();
    w.kill();
    replace(&disk, &w.config.log, &old);
    refused(&w, &w.config, "with another log");
}

#[test]
fn a_folder_that_has_lost_its_note_takes_its_log_on_somebodys_word() {
    let (mut w, disk) = small(9);
    put_all(&w, &["1", "2", "3"]);
    w.kill();
    let note = w.config.data.join("identity");
    for damaged in [false, true] {
        disk.mount().remove_file(&note).unwrap();
        if damaged {
            let file = disk.mount().open(&note, Open::CREATE).unwrap();
            file.write_at(&[0xff; 8192], 0).unwrap();
        }
        disk.settle();
        refused(&w, &w.config, "is missing or damaged");
        let trust = || trust_log(&w.env, &w.config.data, &w.config.log);
        assert!(trust().unwrap());
        // The second time the folder knows.
        assert!(!trust().unwrap());
        w.start();
        w.kill();
    }
    w.start();
    assert_eq!(get_all(&w), ["1", "2", "3"]);
}

#[test]
fn nobodys_word_counts_against_what_a_folder_knows() {
    let (mut w, disk) = small(10);
    put_all(&w, &["once"]);
    w.end(EndMode::Immediate);
    let old = files(&disk, &w.config.log);
    w.start();
    w.end(EndMode::Immediate);
    replace(&disk, &w.config.log, &old);
    let data = files(&disk, &w.config.data);
    assert!(!trust_log(&w.env, &w.config.data, &w.config.log).unwrap());
    refused(&w, &w.config, "with another log");
    assert_eq!(files(&disk, &w.config.data), data);
}
