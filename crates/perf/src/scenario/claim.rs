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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_and_held_by_one_run() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        let claim = Claim::of(&folder).unwrap();
        let second = Claim::of(&folder).unwrap_err();
        assert!(second.to_string().contains("another run"), "{second}");
        assert!(matches!(second, LabError::BadInput(_)));
        drop(claim);
        Claim::of(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        for folder in [file.join("x").as_path(), Path::new("/proc")] {
            let refused = Claim::of(folder).unwrap_err();
            assert!(matches!(refused, LabError::Io { .. }), "{refused:?}");
        }
    }
}
