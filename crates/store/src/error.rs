//! What can go wrong between a queue manager and its files.
//!
//! Invariants:
//! * After [`StoreError::Full`] and [`StoreError::Descriptors`] nothing stays allocated; the caller may try again.
//! * [`StoreError::Sync`] is final, whatever the reason was: the system may have dropped what it could not write,
//!   so that the next sync succeeds over data that is gone. "No space" is no exception.

use std::io;
use std::path::Path;

use posthaste_env::{is_no_space, lacks_descriptors};

/// Why a queue file or a checkpoint image could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room: the file system, a quota or the file's own address space is used up.
    #[error("no room in the file system, or a quota is used up")]
    Full,
    /// The process, or the system, has as many files open as it may. Nothing is wrong with the disk.
    #[error("no more files can be opened")]
    Descriptors,
    /// The operating system refused. The text names the file and the act; the kind is the original one.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// A file or directory could not be made durable: what it holds is unknown from then on.
    #[error("{0}")]
    Sync(#[source] io::Error),
    /// The bytes are not those that were written.
    #[error("{what} (512-byte block {block})")]
    Damaged {
        /// What is wrong, with the name of the file and the byte offset where that helps.
        what: String,
        /// Where: number of the 512-byte block in the file.
        block: u64,
    },
    /// Written by a release that this one cannot read.
    #[error("{file} has format version {found}; this release reads version {supported}")]
    Version {
        /// The file.
        file: String,
        /// The version found in it.
        found: u32,
        /// The version this release reads and writes.
        supported: u32,
    },
}

impl StoreError {
    /// Classifies an operating system error and adds what was being done to which file.
    pub(crate) fn from_io(error: &io::Error, act: &str, path: &Path) -> StoreError {
        if lacks_descriptors(error) {
            return StoreError::Descriptors;
        }
        match is_no_space(error) || error.kind() == io::ErrorKind::FileTooLarge {
            true => StoreError::Full,
            false => StoreError::Io(explained(error, act, path)),
        }
    }

    /// The error of a sync. It is never [`StoreError::Full`]. A directory that could not be opened has not been tried to
    /// sync.
    pub(crate) fn from_sync(error: &io::Error, act: &str, path: &Path) -> StoreError {
        if lacks_descriptors(error) {
            return StoreError::Descriptors;
        }
        StoreError::Sync(explained(error, act, path))
    }

    /// Damage found at a byte offset.
    pub(crate) fn damaged(path: &Path, what: &str, offset: u64) -> StoreError {
        StoreError::Damaged {
            what: format!("{}: {what} at byte {offset}", path.display()),
            block: offset / crate::item::BLOCK as u64,
        }
    }
}

/// The error with what was being done to which file.
fn explained(error: &io::Error, act: &str, path: &Path) -> io::Error {
    let text = format!("cannot {act} {}: {error}", path.display());
    io::Error::new(error.kind(), text)
}
