//! Every promise of the real `Disk` and `File`, on a temporary directory.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use posthaste_env::{AlignedBuf, Disk, File, Open, PAGE, os};
use tempfile::TempDir;

fn disk() -> (Arc<dyn Disk>, TempDir) {
    (os().disk, TempDir::new().unwrap())
}

fn kind<T>(result: std::io::Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.kind(),
    }
}

fn pages(fill: &[u8]) -> AlignedBuf {
    let mut buf = AlignedBuf::with_pages(fill.len());
    for (page, byte) in buf.chunks_mut(PAGE).zip(fill) {
        page.fill(*byte);
    }
    buf
}

#[test]
fn open_does_what_each_constant_says() {
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    for how in [
        Open::READ,
        Open::READ_WRITE,
        Open::FORCED_READ,
        Open::FORCED,
    ] {
        assert_eq!(kind(disk.open(&path, how)), ErrorKind::NotFound, "{how:?}");
    }
    for (first, again) in [
        (Open::CREATE, Open::CREATE_NEW),
        (Open::CREATE_NEW, Open::FORCED_CREATE_NEW),
        (Open::FORCED_CREATE, Open::CREATE_NEW),
        (Open::FORCED_CREATE_NEW, Open::FORCED_CREATE_NEW),
    ] {
        disk.open(&path, first).unwrap();
        assert_eq!(kind(disk.open(&path, again)), ErrorKind::AlreadyExists);
        for how in [
            Open::READ,
            Open::READ_WRITE,
            Open::CREATE,
            Open::FORCED,
            Open::FORCED_CREATE,
        ] {
            disk.open(&path, how).unwrap();
        }
        disk.remove_file(&path).unwrap();
    }
}

#[test]
fn creating_keeps_what_is_there() {
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    disk.open(&path, Open::CREATE)
        .unwrap()
        .write_at(b"kept", 0)
        .unwrap();
    for how in [Open::CREATE, Open::FORCED_CREATE] {
        assert_eq!(disk.open(&path, how).unwrap().len().unwrap(), 4);
    }
}

#[test]
fn a_read_only_handle_refuses_writes() {
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    disk.open(&path, Open::CREATE).unwrap();
    for how in [Open::READ, Open::FORCED_READ] {
        let file = disk.open(&path, how).unwrap();
        assert!(file.write_at(&pages(&[1]), 0).is_err());
        assert!(file.set_len(10).is_err());
        assert!(file.is_empty().unwrap());
    }
}

#[test]
fn reads_are_short_only_at_the_end() {
    let (disk, dir) = disk();
    let file = disk.open(&dir.path().join("f"), Open::CREATE).unwrap();
    file.write_at(b"0123456789", 5).unwrap();
    assert_eq!(file.len().unwrap(), 15);
    // (offset, wanted, bytes)
    let rows: &[(u64, usize, &[u8])] = &[
        (0, 5, b"\0\0\0\0\0"),
        (3, 4, b"\0\x0001"),
        (5, 10, b"0123456789"),
        (12, 10, b"789"),
        (14, 1, b"9"),
        (15, 1, b""),
        (9999, 4, b""),
        (7, 0, b""),
    ];
    for (offset, wanted, bytes) in rows {
        let mut buf = vec![0xAA; *wanted];
        let count = file.read_at(&mut buf, *offset).unwrap();
        assert_eq!(&buf[..count], *bytes, "at {offset}");
        assert!(buf[count..].iter().all(|byte| *byte == 0xAA));
    }
}

#[test]
fn set_len_cuts_and_extends_with_zeros() {
    let (disk, dir) = disk();
    let file = disk.open(&dir.path().join("f"), Open::CREATE).unwrap();
    file.write_at(&[7; 100], 0).unwrap();
    file.set_len(10).unwrap();
    file.set_len(20).unwrap();
    file.sync().unwrap();
    let mut buf = [1; 30];
    assert_eq!(file.read_at(&mut buf, 0).unwrap(), 20);
    assert_eq!(buf[..10], [7; 10]);
    assert_eq!(buf[10..20], [0; 10]);
}

#[test]
fn room_is_taken_and_given_back() {
    use std::os::unix::fs::MetadataExt;
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    let file = disk.open(&path, Open::CREATE).unwrap();
    let taken = || std::fs::metadata(&path).unwrap().blocks() * 512;
    file.write_at(b"kept", 0).unwrap();
    file.allocate(1 << 20).unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20);
    assert!(taken() >= 1 << 20, "{}", taken());
    file.allocate(4096).unwrap();
    assert_eq!(file.len().unwrap(), 1 << 20, "it never becomes shorter");
    file.write_at(&[7; 3 * PAGE], PAGE as u64).unwrap();
    file.punch(2 * PAGE as u64, (1 << 20) - 2 * PAGE as u64)
        .unwrap();
    assert!(taken() <= 4 * PAGE as u64, "{}", taken());
    assert_eq!(file.len().unwrap(), 1 << 20);
    let mut all = vec![1; 1 << 20];
    assert_eq!(file.read_at(&mut all, 0).unwrap(), 1 << 20);
    let expected = |at: usize| match at {
        0..4 => b"kept"[at],
        PAGE..8192 => 7,
        _ => 0,
    };
    assert!((0..1 << 20).all(|at| all[at] == expected(at)));
    assert_eq!(kind(file.punch(10, 4096)), ErrorKind::InvalidInput);
}

#[test]
fn a_write_the_system_refuses_is_an_error() {
    let (disk, dir) = disk();
    let file = disk.open(&dir.path().join("f"), Open::CREATE).unwrap();
    assert!(file.write_at(b"x", u64::MAX).is_err());
    assert!(file.set_len(u64::MAX).is_err());
}

#[test]
fn forced_files_carry_whole_pages() {
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    let file = disk.open(&path, Open::FORCED_CREATE_NEW).unwrap();
    file.write_at(&pages(b"abc"), 0).unwrap();
    file.write_at(&pages(b"B"), PAGE as u64).unwrap();
    file.sync().unwrap();
    let mut buf = pages(&[0; 4]);
    assert_eq!(file.read_at(&mut buf, 0).unwrap(), 3 * PAGE);
    assert_eq!(buf[..], pages(b"aBc\0")[..]);
    assert_eq!(file.read_at(&mut buf, 3 * PAGE as u64).unwrap(), 0);
    let plain = disk.open(&path, Open::READ).unwrap();
    let mut bytes = vec![0; 3 * PAGE];
    assert_eq!(plain.read_at(&mut bytes, 0).unwrap(), 3 * PAGE);
    assert_eq!(bytes[..], pages(b"aBc")[..]);
}

#[test]
fn a_forced_read_of_a_cut_file_ends_inside_the_page() {
    let (disk, dir) = disk();
    let path = dir.path().join("f");
    disk.open(&path, Open::CREATE)
        .unwrap()
        .write_at(&[9; PAGE + 100], 0)
        .unwrap();
    let file = disk.open(&path, Open::FORCED).unwrap();
    let mut buf = AlignedBuf::with_pages(4);
    assert_eq!(file.read_at(&mut buf, 0).unwrap(), PAGE + 100);
    assert_eq!(file.read_at(&mut buf, PAGE as u64).unwrap(), 100);
}

#[test]
fn forced_files_refuse_what_is_not_aligned() {
    let (disk, dir) = disk();
    let file = disk
        .open(&dir.path().join("f"), Open::FORCED_CREATE)
        .unwrap();
    let mut buf = AlignedBuf::with_pages(3);
    // (first byte of the buffer, its length, offset in the file)
    for (from, length, offset) in [
        (0, PAGE, 1),
        (0, PAGE, 512),
        (0, PAGE - 1, 0),
        (0, 512, 0),
        (512, PAGE, 0),
        (1, PAGE, PAGE as u64),
    ] {
        let part = &mut buf[from..from + length];
        assert_eq!(
            kind(file.write_at(part, offset)),
            ErrorKind::InvalidInput,
            "write {from} {length} {offset}"
        );
        assert_eq!(
            kind(file.read_at(part, offset)),
            ErrorKind::InvalidInput,
            "read {from} {length} {offset}"
        );
    }
    assert_eq!(file.len().unwrap(), 0);
    file.write_at(&[], 0).unwrap();
}

#[test]
fn forced_opens_fall_back_where_direct_access_is_refused() {
    // The process file system has no direct access and says EINVAL at open.
    let (disk, _dir) = disk();
    let file = disk
        .open(Path::new("/proc/self/status"), Open::FORCED_READ)
        .unwrap();
    let mut buf = AlignedBuf::with_pages(1);
    let count = file.read_at(&mut buf, 0).unwrap();
    assert!(buf[..count].starts_with(b"Name:"));
    assert_eq!(
        kind(file.read_at(&mut buf[..512], 0)),
        ErrorKind::InvalidInput
    );
}

#[test]
fn directories() {
    let (disk, dir) = disk();
    let deep = dir.path().join("a/b/c");
    assert!(!disk.exists(&deep));
    disk.create_dir_all(&deep).unwrap();
    disk.create_dir_all(&deep).unwrap();
    assert!(disk.exists(&deep));
    for name in ["z", "a", "m"] {
        disk.open(&deep.join(name), Open::CREATE).unwrap();
    }
    disk.create_dir_all(&deep.join("k")).unwrap();
    disk.sync_dir(&deep).unwrap();
    assert_eq!(disk.list(&deep).unwrap(), ["a", "k", "m", "z"]);
    disk.remove_file(&deep.join("m")).unwrap();
    assert_eq!(disk.list(&deep).unwrap(), ["a", "k", "z"]);
    disk.remove_dir_all(&dir.path().join("a")).unwrap();
    assert!(!disk.exists(&dir.path().join("a")));
    assert_eq!(kind(disk.list(&deep)), ErrorKind::NotFound);
    assert_eq!(kind(disk.sync_dir(&deep)), ErrorKind::NotFound);
    assert_eq!(kind(disk.remove_dir_all(&deep)), ErrorKind::NotFound);
    assert_eq!(kind(disk.remove_file(&deep.join("m"))), ErrorKind::NotFound);
    let file = dir.path().join("file");
    disk.open(&file, Open::CREATE).unwrap();
    assert!(disk.create_dir_all(&file.join("below")).is_err());
    assert_eq!(kind(disk.sync_dir(&file)), ErrorKind::NotADirectory);
}

#[test]
fn rename_replaces_and_open_handles_follow() {
    let (disk, dir) = disk();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let file = disk.open(&from, Open::CREATE).unwrap();
    file.write_at(b"new", 0).unwrap();
    disk.open(&to, Open::CREATE)
        .unwrap()
        .write_at(b"old one", 0)
        .unwrap();
    disk.rename(&from, &to).unwrap();
    assert_eq!(disk.list(dir.path()).unwrap(), ["to"]);
    assert_eq!(disk.open(&to, Open::READ).unwrap().len().unwrap(), 3);
    file.write_at(b"er", 3).unwrap();
    assert_eq!(disk.open(&to, Open::READ).unwrap().len().unwrap(), 5);
    assert_eq!(kind(disk.rename(&from, &to)), ErrorKind::NotFound);
}

#[test]
fn new_files_and_directories_are_not_for_everyone() {
    use std::os::unix::fs::PermissionsExt;
    let (disk, dir) = disk();
    let sub = dir.path().join("d");
    disk.create_dir_all(&sub).unwrap();
    disk.open(&sub.join("f"), Open::CREATE).unwrap();
    for path in [sub.clone(), sub.join("f")] {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o007, 0);
    }
}

#[test]
fn a_lock_excludes_other_handles_until_it_is_dropped() {
    let (disk, dir) = disk();
    let path = dir.path().join("lock");
    let held = disk.lock(&path).unwrap();
    assert_eq!(kind(disk.lock(&path)), ErrorKind::WouldBlock);
    assert_eq!(kind(os().disk.lock(&path)), ErrorKind::WouldBlock);
    let other = disk.lock(&dir.path().join("other")).unwrap();
    drop(held);
    let held = disk.lock(&path).unwrap();
    assert_eq!(kind(disk.lock(&path)), ErrorKind::WouldBlock);
    drop((held, other));
    assert_eq!(
        kind(disk.lock(&dir.path().join("absent/lock"))),
        ErrorKind::NotFound
    );
}

#[test]
fn a_lock_on_a_removed_file_is_never_given_out() {
    // Holders remove the lock file, as the deletion of a queue manager does. Somebody who opened it before
    // that must not end up with a lock on the old file while another has the new one.
    let (disk, dir) = disk();
    let path = dir.path().join("lock");
    let inside = AtomicUsize::new(0);
    let granted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while granted.load(SeqCst) < 500 {
                    match disk.lock(&path) {
                        Ok(held) => {
                            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two holders");
                            granted.fetch_add(1, SeqCst);
                            inside.fetch_sub(1, SeqCst);
                            disk.remove_file(&path).unwrap();
                            drop(held);
                        }
                        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                    }
                }
            });
        }
    });
}

#[test]
fn free_bytes_come_from_the_file_system() {
    let (disk, dir) = disk();
    assert!(disk.free_bytes(dir.path()).unwrap() > 0);
    assert_eq!(disk.free_bytes(Path::new("/proc")).unwrap(), 0);
    assert_eq!(
        kind(disk.free_bytes(&dir.path().join("absent"))),
        ErrorKind::NotFound
    );
}

#[test]
fn free_inodes_come_from_the_file_system() {
    let (disk, dir) = disk();
    // Some have no such limit.
    assert_ne!(disk.free_inodes(dir.path()).unwrap(), Some(0));
    assert_eq!(disk.free_inodes(Path::new("/proc")).unwrap(), None);
    assert_eq!(
        kind(disk.free_inodes(&dir.path().join("absent"))),
        ErrorKind::NotFound
    );
}

#[test]
fn one_handle_serves_many_threads() {
    let (disk, dir) = disk();
    let file: Arc<dyn File> = disk.open(&dir.path().join("f"), Open::CREATE).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let file = &file;
            scope.spawn(move || {
                for turn in 0..64_u64 {
                    let at = (turn * 4 + u64::from(thread)) * 100;
                    file.write_at(&[thread; 100], at).unwrap();
                }
            });
        }
    });
    let mut all = vec![0; 64 * 400];
    assert_eq!(file.read_at(&mut all, 0).unwrap(), all.len());
    for (at, part) in all.chunks(100).enumerate() {
        assert_eq!(part, [(at % 4) as u8; 100]);
    }
}
