//! A disk that is slower than the one below it: for measuring how a queue manager fares on slow storage.
//!
//! Invariants:
//! * What is durable when is decided by the disk below. A call returns after it has really been done, never
//!   before.
//! * Latency comes on top of the real write, and every call waits for its own: two at one time
//!   take as long as one.
//! * Bandwidth is one resource of the whole disk: forced bytes go through it one after another, in the order
//!   in which the calls began. A call's bytes and its real write go on at the same time; the later of the
//!   two counts, then the latency.
//! * What is slowed down: writes through a forced handle, `sync` (with the bytes that were written through this
//!   handle since its last `sync`), and `sync_dir` (latency only). Reads and buffered writes are not.
//! * A failed call is reported at once.

use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Nanos;
use crate::disk::{Disk, File, Open};
use crate::event::monotonic_now;
use crate::in_front::DiskInFront;
use crate::wait::wait_until;

/// How slow a disk is made. The default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slowness {
    /// Added to every forced write and sync.
    pub latency: Duration,
    /// Most bytes a second that are forced; without it, what the disk can do.
    pub bandwidth: Option<NonZeroU64>,
}

impl Slowness {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Slowness::default()
    }
}

impl std::fmt::Display for Slowness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let latency = self.latency.as_micros();
        match self.bandwidth {
            None => write!(f, "{latency} µs more for every forced write"),
            Some(bandwidth) if latency == 0 => write!(f, "at most {bandwidth} bytes a second"),
            Some(bandwidth) => write!(
                f,
                "{latency} µs more for every forced write, at most {bandwidth} bytes a second"
            ),
        }
    }
}

/// `disk`, made slower; `disk` itself if there is nothing to change.
///
/// The waits block the calling thread, which must be one that may wait for a disk. They are exact to some
/// microseconds, at the price of up to 40 µs of processor time each (see [`crate::wait_until`]).
pub fn slow_disk(disk: Arc<dyn Disk>, slowness: Slowness) -> Arc<dyn Disk> {
    match slowness.is_none() {
        true => disk,
        false => slow_disk_with(disk, slowness, Arc::new(RealTime)),
    }
}

fn slow_disk_with(disk: Arc<dyn Disk>, slowness: Slowness, time: Arc<dyn Time>) -> Arc<dyn Disk> {
    let brake = Arc::new(Brake {
        latency: nanos(slowness.latency),
        bandwidth: slowness.bandwidth,
        free_at: Mutex::new(0),
        time,
    });
    Arc::new(SlowDisk { disk, brake })
}

/// The clock and the wait, so that tests have their own.
trait Time: Send + Sync {
    fn now(&self) -> Nanos;
    fn wait_until(&self, at: Nanos);
}

struct RealTime;

impl Time for RealTime {
    fn now(&self) -> Nanos {
        monotonic_now()
    }

    fn wait_until(&self, at: Nanos) {
        wait_until(at);
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

/// What holds calls back, shared by all files of the disk.
struct Brake {
    latency: Nanos,
    bandwidth: Option<NonZeroU64>,
    /// When the bytes that have been accepted so far will have passed.
    free_at: Mutex<Nanos>,
    time: Arc<dyn Time>,
}

impl Brake {
    /// When `bytes` that are handed over now will have passed.
    fn passed_at(&self, bytes: u64) -> Nanos {
        let now = self.time.now();
        let Some(bandwidth) = self.bandwidth else {
            return now;
        };
        let lasts = u128::from(bytes) * 1_000_000_000 / u128::from(bandwidth.get());
        let lasts = Nanos::try_from(lasts).unwrap_or(Nanos::MAX);
        let mut free_at = self.free_at.lock();
        *free_at = now.max(*free_at).saturating_add(lasts);
        *free_at
    }

    /// Does a call that forces `bytes`, as slowly as it shall be.
    fn forced(&self, bytes: u64, call: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let passed_at = self.passed_at(bytes);
        call()?;
        let done = passed_at.max(self.time.now());
        self.time.wait_until(done.saturating_add(self.latency));
        Ok(())
    }
}

struct SlowDisk {
    disk: Arc<dyn Disk>,
    brake: Arc<Brake>,
}

struct SlowFile {
    file: Arc<dyn File>,
    forced: bool,
    /// Bytes written through this handle and not synced.
    buffered: AtomicU64,
    brake: Arc<Brake>,
}

impl File for SlowFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let bytes = buf.len() as u64;
        if self.forced {
            return self.brake.forced(bytes, || self.file.write_at(buf, offset));
        }
        self.file.write_at(buf, offset)?;
        self.buffered.fetch_add(bytes, Relaxed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let bytes = self.buffered.swap(0, Relaxed);
        self.brake.forced(bytes, || self.file.sync())
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

impl DiskInFront for SlowDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(SlowFile {
            file: self.disk.open(path, how)?,
            forced: how.forced,
            buffered: AtomicU64::new(0),
            brake: Arc::clone(&self.brake),
        }))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.brake.forced(0, || self.disk.sync_dir(dir))
    }
}

#[cfg(test)]
mod tests;
