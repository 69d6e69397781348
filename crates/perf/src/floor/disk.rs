//! The disk's own forced writes: what a recovery log cannot beat with one write in flight.
//!
//! Invariant: the file is written through with zeros first, as log files are; otherwise the first pass would
//! measure the file system making room.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use posthaste_env::{AlignedBuf, Disk, Open};

use super::driver::Seen;
use crate::measure::{Interrupt, LabError};

/// Bytes of the file that is written again and again.
const FILE: u64 = 64 << 20;
/// Bytes of the writes that make it.
const PREPARE: usize = 1 << 20;

/// A file that forced writes go to; it is removed with its handle.
pub struct ForcedWrites<'a> {
    disk: &'a dyn Disk,
    path: std::path::PathBuf,
    file: std::sync::Arc<dyn posthaste_env::File>,
    at: u64,
}

impl<'a> ForcedWrites<'a> {
    /// Makes the file in `folder`.
    ///
    /// # Errors
    /// The disk does not take it.
    pub fn prepare(disk: &'a dyn Disk, folder: &Path) -> Result<ForcedWrites<'a>, LabError> {
        let path = folder.join("forced-writes");
        let make = || -> io::Result<_> {
            disk.create_dir_all(folder)?;
            let file = disk.open(&path, Open::FORCED_CREATE)?;
            let zeros = AlignedBuf::with_bytes(PREPARE);
            let mut at = 0;
            while at < FILE {
                file.write_at(&zeros, at)?;
                at += PREPARE as u64;
            }
            Ok(file)
        };
        let file = make().map_err(|error| LabError::io(&path, error))?;
        Ok(ForcedWrites {
            disk,
            path,
            file,
            at: 0,
        })
    }

    /// Writes `bytes` at a time, one write in flight, for `time`.
    ///
    /// # Errors
    /// A write failed.
    pub fn run(
        &mut self,
        bytes: usize,
        time: Duration,
        interrupt: &Interrupt,
    ) -> Result<Seen, LabError> {
        let mut buffer = AlignedBuf::with_bytes(bytes);
        let length = buffer.len() as u64;
        let mut latency: Histogram<u64> = histogram();
        let mut operations = 0_u64;
        let began = Instant::now();
        loop {
            if let Some(first) = buffer.first_mut() {
                *first = first.wrapping_add(1);
            }
            if self.at + length > FILE {
                self.at = 0;
            }
            let start = Instant::now();
            let written = self.file.write_at(&buffer, self.at);
            written.map_err(|error| LabError::io(&self.path, error))?;
            self.at += length;
            operations += 1;
            let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            latency.saturating_record(took);
            if began.elapsed() >= time || interrupt.raised() {
                let seconds = began.elapsed().as_secs_f64();
                return Ok(Seen {
                    operations,
                    seconds,
                    latency,
                });
            }
        }
    }
}

impl Drop for ForcedWrites<'_> {
    fn drop(&mut self) {
        // The folder is temporary; what is left in it goes with it.
        let _ = self.disk.remove_file(&self.path);
    }
}

/// Forced writes of `bytes` in `folder` for `time`.
///
/// # Errors
/// The disk does not take them.
pub fn forced_writes(
    folder: &Path,
    bytes: usize,
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Seen, LabError> {
    let env = posthaste_env::os();
    let mut writes = ForcedWrites::prepare(env.disk.as_ref(), folder)?;
    writes.run(bytes, time, interrupt)
}

/// A histogram of nanoseconds up to ten minutes, to three digits.
pub(crate) fn histogram() -> Histogram<u64> {
    let Ok(histogram) = Histogram::new_with_max(600_000_000_000, 3) else {
        unreachable!("these bounds are legal")
    };
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_counted_and_the_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let seen =
            forced_writes(folder.path(), 64 << 10, Duration::ZERO, &Interrupt::none()).unwrap();
        assert_eq!((seen.operations, seen.latency.len()), (1, 1));
        assert!(seen.latency.max() > 0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = Path::new("/proc/nowhere");
        assert!(forced_writes(nowhere, 4096, Duration::ZERO, &Interrupt::none()).is_err());
    }
}
