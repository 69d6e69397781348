//! The disk's own forced writes: what a recovery log cannot beat with one write in flight.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::disk_test::{NoFiles, forced};
use crate::measure::{Interrupt, LabError};
use crate::results::{Latency, Round};

/// Bytes of the file that is written again and again.
const FILE: u64 = 64 << 20;

/// Forced writes of `bytes` in `folder` for `time`, one in flight, as the log-disk tester makes them.
pub(crate) fn forced_writes(
    folder: &Path,
    bytes: usize,
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Round, LabError> {
    fs::create_dir_all(folder).map_err(|error| LabError::io(folder, error))?;
    let found = forced(folder, bytes, FILE, time, interrupt).map_err(|none| match none {
        NoFiles::Interrupted => LabError::Interrupted,
        NoFiles::Failed(failure) => LabError::refused(folder, &failure),
    })?;
    Ok(Round {
        operations: found.writes,
        seconds: found.elapsed_ns as f64 / 1e9,
        latency: Latency::of(&found.histogram()),
        ..Round::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_counted_and_the_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let seen =
            forced_writes(folder.path(), 64 << 10, Duration::ZERO, &Interrupt::none()).unwrap();
        assert_eq!(seen.operations, 1);
        assert!(seen.latency.unwrap().max > 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = Path::new("/proc/nowhere");
        assert!(forced_writes(nowhere, 4096, Duration::ZERO, &Interrupt::none()).is_err());
    }
}
