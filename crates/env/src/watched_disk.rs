//! A disk that tells of the calls that took long: for finding out whether slow storage holds a queue
//! manager up.
//!
//! Invariants:
//! * Reads, writes and syncs of files below one folder are timed; nothing else is, and no call is changed.
//! * The listener is called on the thread that made the call, after the call, and whether it failed or not.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::Nanos;
use crate::disk::{Disk, File, Open};
use crate::event::monotonic_now;
use crate::in_front::DiskInFront;

/// A call that took longer than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowCall {
    /// Bytes of the caller's buffer; 0 for a sync.
    pub bytes: usize,
    /// A write or sync, not a read.
    pub write: bool,
    /// How long it took.
    pub took: Nanos,
    /// When it ended, on the operating system's monotonic clock.
    pub ended: Nanos,
}

type Now = Arc<dyn Fn() -> Nanos + Send + Sync>;
type Listener = Arc<dyn Fn(SlowCall) + Send + Sync>;

/// `disk`, with `listener` told of every call on a file below `folder` that takes `limit` or longer.
pub fn watch_disk(
    disk: Arc<dyn Disk>,
    folder: &Path,
    limit: Nanos,
    listener: Arc<dyn Fn(SlowCall) + Send + Sync>,
) -> Arc<dyn Disk> {
    watch_disk_with(disk, folder, limit, listener, Arc::new(monotonic_now))
}

fn watch_disk_with(
    disk: Arc<dyn Disk>,
    folder: &Path,
    limit: Nanos,
    listener: Listener,
    now: Now,
) -> Arc<dyn Disk> {
    Arc::new(WatchedDisk {
        disk,
        folder: folder.to_owned(),
        watch: Watch {
            limit,
            listener,
            now,
        },
    })
}

#[derive(Clone)]
struct Watch {
    limit: Nanos,
    listener: Listener,
    now: Now,
}

impl Watch {
    fn time<T>(&self, bytes: usize, write: bool, call: impl FnOnce() -> T) -> T {
        let started = (self.now)();
        let result = call();
        let ended = (self.now)();
        let took = ended.saturating_sub(started);
        if took >= self.limit {
            (self.listener)(SlowCall {
                bytes,
                write,
                took,
                ended,
            });
        }
        result
    }
}

struct WatchedDisk {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    watch: Watch,
}

struct WatchedFile {
    file: Arc<dyn File>,
    watch: Watch,
}

impl File for WatchedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = buf.len();
        self.watch
            .time(bytes, false, || self.file.read_at(buf, offset))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.watch
            .time(buf.len(), true, || self.file.write_at(buf, offset))
    }

    fn sync(&self) -> io::Result<()> {
        self.watch.time(0, true, || self.file.sync())
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        self.file.set_len(n)
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        self.file.allocate(n)
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.file.punch(offset, bytes)
    }
}

impl DiskInFront for WatchedDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let file = self.disk.open(path, how)?;
        if !path.starts_with(&self.folder) {
            return Ok(file);
        }
        let watch = self.watch.clone();
        Ok(Arc::new(WatchedFile { file, watch }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::os::os;
    use parking_lot::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn slow_calls_below_the_folder_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        std::fs::create_dir(&log).unwrap();
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&recorded);
        // Every look at the clock moves it by `step`, so that is what each call takes.
        let (step, clock) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
        let by = Arc::clone(&step);
        let now = move || {
            let by = by.load(Ordering::Relaxed);
            clock.fetch_add(by, Ordering::Relaxed) + by
        };
        let listener: Listener = Arc::new(move |call: SlowCall| {
            recorder.lock().push((call.bytes, call.write, call.took));
        });
        let disk = watch_disk_with(os().disk, &log, 7_000, listener, Arc::new(now));
        let file = disk.open(&log.join("a"), Open::CREATE).unwrap();
        let other = disk.open(&dir.path().join("b"), Open::CREATE).unwrap();
        for (takes, expected) in [
            (6_999, vec![]),
            (
                7_000,
                vec![(4096, true, 7_000), (0, true, 7_000), (10, false, 7_000)],
            ),
        ] {
            step.store(takes, Ordering::Relaxed);
            for file in [&file, &other] {
                file.write_at(&[1; 4096], 0).unwrap();
                file.sync().unwrap();
                assert_eq!(file.read_at(&mut [0; 10], 0).unwrap(), 10);
            }
            assert_eq!(*recorded.lock(), expected);
        }
        assert!(file.read_at(&mut [0; 8192], 0).is_ok());
        assert_eq!(recorded.lock().len(), 4);
    }
}
