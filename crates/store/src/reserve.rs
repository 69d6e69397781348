//! Room on the disk that is kept for checkpoints: a file whose length is taken in the file system, to be given up piece
//! by piece when a checkpoint finds the disk full.
//!
//! Invariants:
//! * The file holds nothing. Its length never says more than the file system has really set aside for it.
//! * It need not be durable: a start makes it anew, before anything else takes its room. The length of a file that is
//!   there says nothing: of a copy, as a backup has it, it may be all there is.
//! * What [`Reserve::spend`] has given up is the file system's: it is for the caller to see that nobody else takes it
//!   before the checkpoint does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_env::{Disk, File, Open};

use crate::error::StoreError;

/// Name of the file.
const NAME: &str = "checkpoint.reserve";
/// Taken in one call, so that a disk without room for all of it gives what it has.
const STEP: u64 = 1 << 20;

/// The room that is kept.
pub struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Absent until it could be made.
    file: Option<Arc<dyn File>>,
    bytes: u64,
}

impl std::fmt::Debug for Reserve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reserve")
            .field("path", &self.path)
            .field("bytes", &self.held())
            .finish_non_exhaustive()
    }
}

impl Reserve {
    /// The room that is kept in `dir`; nothing is looked at before [`Reserve::make`].
    pub fn new(disk: &Arc<dyn Disk>, dir: &Path) -> Reserve {
        Reserve {
            disk: Arc::clone(disk),
            path: dir.join(NAME),
            held: Mutex::default(),
        }
    }

    /// Bytes that are kept.
    pub fn held(&self) -> u64 {
        self.held.lock().bytes
    }

    /// Takes as much of `wanted` bytes as the disk has, and gives back what is kept beyond twice as much. Returns
    /// whether all of it is there.
    ///
    /// # Errors
    /// Any but want of room, or of a file that may be opened.
    pub fn make(&self, wanted: u64) -> Result<bool, StoreError> {
        let mut held = self.held.lock();
        match self.grow(&mut held, wanted) {
            Ok(()) | Err(StoreError::Full | StoreError::Descriptors) => Ok(held.bytes >= wanted),
            Err(error) => Err(error),
        }
    }

    fn grow(&self, held: &mut Held, wanted: u64) -> Result<(), StoreError> {
        let failed = |e| StoreError::from_io(&e, "take room by", &self.path);
        let file = match &held.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = self.disk.open(&self.path, Open::CREATE).map_err(failed)?;
                file.set_len(0).map_err(failed)?;
                held.bytes = 0;
                held.file = Some(Arc::clone(&file));
                file
            }
        };
        if held.bytes / 2 > wanted {
            file.set_len(wanted).map_err(failed)?;
            held.bytes = wanted;
        }
        while held.bytes < wanted {
            let target = wanted.min(held.bytes + STEP);
            let taken = file.allocate(target);
            // Of a call that failed, the length says how far it came.
            held.bytes = file.len().map_err(failed)?;
            taken.map_err(failed)?;
        }
        Ok(())
    }

    /// Gives `bytes` up, or what there is beyond `keep`. Returns whether there was any.
    ///
    /// # Errors
    /// The file could not be made shorter.
    pub fn spend(&self, bytes: u64, keep: u64) -> Result<bool, StoreError> {
        let mut held = self.held.lock();
        let left = held.bytes.saturating_sub(bytes).max(keep);
        match &held.file {
            Some(file) if left < held.bytes => {
                file.set_len(left)
                    .map_err(|e| StoreError::from_io(&e, "give up room of", &self.path))?;
                held.bytes = left;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
