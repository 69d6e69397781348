//! Logs that cannot be read: each kind is refused with its own error, at the right LSN, and only if
//! something acknowledged is concerned.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rig;

use rig::*;

use posthaste_recovery_log::{LogConfig, LogError, Lsn, Record, create};

const CONTROL: &str = "/log/LOG.CTL";

/// A log with one record a page on pages 0 to 99 (so on extents 0 and 1), all acknowledged.
fn pages() -> (MemDisk, LogConfig) {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    for n in 0..100 {
        rig.commit(&payload(n, 1000)).unwrap();
    }
    (disk.after(Stop::Power), config)
}

fn read(disk: &MemDisk, config: &LogConfig) -> Result<Vec<Record>, LogError> {
    read_all(&mut reopen(disk, config)?)
}

#[test]
fn a_corrupt_page_in_the_middle_is_refused_with_its_lsn() {
    for page in [0_u64, 1, 50, 63, 64, 98] {
        let (disk, config) = pages();
        disk.edit(&extent_path(page / 64), |bytes| {
            bytes[(page % 64) as usize * 4096 + 2000] ^= 4;
        });
        match read(&disk, &config) {
            Err(LogError::Damaged { lsn, what, remedy }) => {
                assert_eq!(lsn, Lsn(page * 4096), "{what}");
                assert!(what.contains("checksum") && what.contains("LOG"), "{what}");
                assert!(remedy.contains("backup"), "{remedy}");
            }
            other => panic!("page {page}: {other:?}"),
        }
    }
}

#[test]
fn records_before_the_damage_are_still_given() {
    let (disk, config) = pages();
    disk.edit(&extent_path(0), |bytes| bytes[10 * 4096] ^= 1);
    let mut restart = reopen(&disk, &config).unwrap();
    for n in 0..10 {
        assert_eq!(restart.next().unwrap().unwrap().payload, payload(n, 1000));
    }
    assert!(restart.next().is_err());
    assert!(matches!(restart.finish(), Err(LogError::Misuse(_))));
}

#[test]
fn a_whole_destroyed_region_is_noticed_by_what_lies_behind_it() {
    let (disk, config) = pages();
    disk.edit(&extent_path(0), |bytes| bytes[30 * 4096..].fill(0));
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(error, LogError::Damaged { lsn: Lsn(lsn), .. } if lsn == 30 * 4096),
        "{error}"
    );
}

#[test]
fn the_last_page_is_missed_only_if_something_says_it_was_there() {
    // The last acknowledged page: nothing behind it can speak for it, so this is a torn tail.
    let (disk, config) = pages();
    disk.edit(&extent_path(1), |bytes| bytes[35 * 4096] ^= 1);
    assert_eq!(read(&disk, &config).unwrap().len(), 99);
    // After a clean shutdown the control file speaks for it.
    let (disk, config) = pages();
    let (rig, _) = Rig::start(&disk, &config).unwrap();
    rig.log.advance(Lsn(0), b"", true).unwrap();
    disk.edit(&extent_path(1), |bytes| bytes[35 * 4096] ^= 1);
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(error, LogError::Damaged { lsn: Lsn(lsn), .. } if lsn == 99 * 4096),
        "{error}"
    );
}

#[test]
fn a_lost_write_is_not_taken_for_the_end() {
    let (disk, config) = pages();
    // The page still shows zeros, as if the write had never been done.
    disk.edit(&extent_path(0), |bytes| bytes[20 * 4096..21 * 4096].fill(0));
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::Damaged {
                lsn: Lsn(81920),
                ..
            }
        ),
        "{error}"
    );
    // Or an intact page of somewhere else.
    let (disk, config) = pages();
    disk.edit(&extent_path(0), |bytes| {
        bytes.copy_within(0..4096, 20 * 4096)
    });
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(&error, LogError::Damaged { lsn: Lsn(81920), what, .. } if what.contains("older")),
        "{error}"
    );
}

#[test]
fn a_missing_extent() {
    let (disk, config) = pages();
    disk.delete(&extent_path(0));
    match read(&disk, &config) {
        Err(LogError::Missing { file, lsn, .. }) => {
            assert!(file.ends_with("S0000000.LOG"), "{file}");
            assert_eq!(lsn, Lsn(0));
        }
        other => panic!("{other:?}"),
    }
    // The extent that only held what the control file does not know about is missed, too: a later
    // one speaks for it.
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    for n in 0..150 {
        rig.commit(&payload(n, 1000)).unwrap();
    }
    disk.delete(&extent_path(1));
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(
            &error,
            LogError::Missing {
                lsn: Lsn(EXTENT),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_truncated_extent() {
    let (disk, config) = pages();
    disk.edit(&extent_path(1), |bytes| bytes.truncate(50 * 4096));
    match read(&disk, &config) {
        Err(LogError::Truncated {
            file,
            lsn,
            length,
            expected,
            ..
        }) => {
            assert!(file.ends_with("S0000001.LOG"));
            assert_eq!((lsn, length, expected), (Lsn(EXTENT), 50 * 4096, EXTENT));
        }
        other => panic!("{other:?}"),
    }
    // A spare that was never used is simply made again.
    let (disk, config) = pages();
    disk.edit(&extent_path(2), |bytes| bytes.truncate(5));
    let (mut rig, found) = Rig::start(&disk, &config).unwrap();
    assert_eq!(found.len(), 100);
    rig.pump();
    assert_eq!(disk.bytes(&extent_path(2)).len() as u64, EXTENT);
    for n in 0..60 {
        rig.commit(&payload(n, 3000)).unwrap();
    }
}

#[test]
fn an_unreadable_device() {
    let (disk, config) = pages();
    let mut restart = reopen(&disk, &config).unwrap();
    disk.set_unreadable(true);
    let error = restart.next().unwrap_err();
    assert!(
        matches!(&error, LogError::Io(failure) if failure.doing.contains("S0000000.LOG")),
        "{error}"
    );
    assert!(error.to_string().contains("unreadable sector"), "{error}");
}

#[test]
fn control_file() {
    // One slot bad: the other one counts.
    for slot in 0..2 {
        let (disk, config) = pages();
        disk.edit(CONTROL, |bytes| bytes[slot * 4096 + 100] ^= 1);
        assert_eq!(read(&disk, &config).unwrap().len(), 100);
    }
    let (disk, config) = pages();
    disk.edit(CONTROL, |bytes| {
        bytes[100] ^= 1;
        bytes[4096] ^= 1;
    });
    let error = reopen(&disk, &config).unwrap_err();
    assert!(matches!(error, LogError::ControlDamaged { .. }), "{error}");

    let (disk, config) = pages();
    disk.edit(CONTROL, |bytes| bytes.truncate(10));
    let error = reopen(&disk, &config).unwrap_err();
    assert!(matches!(error, LogError::ControlDamaged { .. }), "{error}");

    let (disk, config) = pages();
    disk.delete(CONTROL);
    let error = reopen(&disk, &config).unwrap_err();
    assert!(matches!(error, LogError::NoLog(_)), "{error}");

    let (disk, config) = pages();
    let error = create(&disk, std::path::Path::new(DIR), &config, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, LogError::Exists(_)), "{error}");
}

#[test]
fn an_old_copy_of_the_control_file() {
    let (disk, config) = pages();
    let old = disk.bytes(CONTROL);
    // One more life, so the pages carry a generation that the old copy does not know.
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    rig.commit(b"later").unwrap();
    disk.edit(CONTROL, |bytes| *bytes = old);
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(&error, LogError::Damaged { lsn: Lsn(lsn), what, .. }
            if *lsn == 100 * 4096 && what.contains("control file")),
        "{error}"
    );
}

#[test]
fn any_single_damaged_byte_is_refused_or_harmless() {
    let config = small();
    let base = fresh(&config);
    let (mut rig, _) = Rig::start(&base, &config).unwrap();
    let mut want = Vec::new();
    for n in 0..6 {
        let bytes = payload(n, 300 + 1500 * n as usize);
        rig.commit(&bytes).unwrap();
        want.push(bytes);
    }
    rig.log.advance(Lsn(0), b"", true).unwrap();
    let used = rig.log.forced().0 as usize;
    for at in (0..used).step_by(13) {
        let disk = base.after(Stop::Power);
        disk.edit(&extent_path(0), |bytes| bytes[at] ^= 0x20);
        match read(&disk, &config) {
            Err(LogError::Damaged { lsn, .. }) => assert_eq!(lsn.0, at as u64 / 4096 * 4096),
            other => panic!("byte {at}: {other:?}"),
        }
    }
    let found: Vec<_> = read(&base, &config)
        .unwrap()
        .into_iter()
        .map(|r| r.payload)
        .collect();
    assert_eq!(found, want);
}

#[test]
fn a_restart_lsn_that_is_no_record_is_refused() {
    let config = small();
    let disk = fresh(&config);
    let (mut rig, _) = Rig::start(&disk, &config).unwrap();
    let at = rig.commit(&payload(1, 1000)).unwrap();
    rig.log.advance(Lsn(at.start.0 + 100), b"", false).unwrap();
    let error = read(&disk, &config).unwrap_err();
    assert!(
        matches!(&error, LogError::Damaged { what, .. } if what.contains("no log record begins")),
        "{error}"
    );
}
