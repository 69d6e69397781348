//! A run's folder of results: made, seen to be writable, and held against other runs.
//!
//! Invariant: no two runs on a machine write to the same folder, so neither replaces what the other has measured.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::measure::LabError;

/// A folder that is held until this is dropped, or the process ends.
#[derive(Debug)]
pub(super) struct Claim {
    _folder: File,
}

impl Claim {
    /// Makes the folder if it is not there, writes a file in it, and holds it.
    pub(super) fn of(folder: &Path) -> Result<Claim, LabError> {
        let failed = |error| LabError::io(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let held = File::open(folder).map_err(failed)?;
        match held.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LabError::BadInput(format!(
                    "another run is writing its results to {}; wait for its end, or name another folder (--out)",
                    folder.display()
                )));
            }
            // Some file systems have no locks; that is no reason not to measure.
            Err(TryLockError::Error(_)) => {}
        }
        let trial = folder.join(format!("posthaste-perf-{}.new", std::process::id()));
        let written = File::create(&trial).and_then(|mut file| {
            file.write_all(b"\n")?;
            file.sync_all()
        });
        let removed = fs::remove_file(&trial);
        written
            .and(removed)
            .map_err(|error| LabError::io(&trial, error))?;
        Ok(Claim { _folder: held })
    }
}
