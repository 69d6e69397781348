//! Files, directories and locks, with durability stated per call.
//!
//! Invariants every implementation keeps:
//! * A write through a `forced` handle is durable when `write_at` returns; any other write is durable
//!   after a following `sync` of the same file has succeeded.
//! * A `forced` handle takes whole pages only: address, length and offset of every read and write are
//!   multiples of [`PAGE`], whether or not the file system under it needs that (so that a
//!   program which works on one file system works on all). Anything else is `InvalidInput`.
//! * A created, renamed or removed name is durable after a following `sync_dir` of its directory.
//! * After an error of `sync` or of a forced write, what the file holds in the range is unknown; calling
//!   again and getting `Ok` proves nothing about it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::aligned::PAGE;

/// How to open a file. Start from one of the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Open {
    /// Make the file if it is absent.
    pub create: bool,
    /// Make the file; `AlreadyExists` if it is there.
    pub create_new: bool,
    /// No writes through this handle.
    pub read_only: bool,
    /// Writes are durable when they return, past the page cache where the file system allows it
    /// (`O_DIRECT|O_DSYNC`, else `O_DSYNC`); whole aligned pages only.
    pub forced: bool,
}

impl Open {
    /// An existing file, for reading.
    pub const READ: Open = Open {
        create: false,
        create_new: false,
        read_only: true,
        forced: false,
    };
    /// An existing file, for reading and writing.
    pub const READ_WRITE: Open = Open {
        read_only: false,
        ..Open::READ
    };
    /// Reading and writing; made if absent.
    pub const CREATE: Open = Open {
        create: true,
        ..Open::READ_WRITE
    };
    /// Reading and writing; must not exist yet.
    pub const CREATE_NEW: Open = Open {
        create_new: true,
        ..Open::READ_WRITE
    };
    /// An existing file, read past the page cache.
    pub const FORCED_READ: Open = Open {
        forced: true,
        ..Open::READ
    };
    /// An existing file, reads and forced writes.
    pub const FORCED: Open = Open {
        forced: true,
        ..Open::READ_WRITE
    };
    /// Reads and forced writes; made if absent.
    pub const FORCED_CREATE: Open = Open {
        forced: true,
        ..Open::CREATE
    };
    /// Reads and forced writes; must not exist yet.
    pub const FORCED_CREATE_NEW: Open = Open {
        forced: true,
        ..Open::CREATE_NEW
    };
}

/// An open file. All calls take positions, so one handle serves many threads.
pub trait File: Send + Sync {
    /// Reads into `buf` from `offset`; the count is short only at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `buf` at `offset` or fails. After a failure any part of it may have been written.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Makes everything written so far durable, and the length with it.
    fn sync(&self) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the length is zero.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts or extends (with zeros) to `n` bytes.
    fn set_len(&self, n: u64) -> io::Result<()>;
    /// Makes the file `n` bytes long, if it is not as long already, with room in the file system behind each of
    /// them: what is added reads as zeros, and writes there do not find the disk full. Durable after a `sync`.
    /// After an error the file may be longer than before, with room behind all that was added.
    fn allocate(&self, n: u64) -> io::Result<()>;
    /// Gives the room behind a range of whole pages back to the file system. It reads as zeros, and the length
    /// stays. Durable after a `sync`; until then a crash may bring back what was there. `Unsupported` where the
    /// file system cannot, `InvalidInput` where `offset` or `bytes` is no multiple of [`PAGE`].
    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()>;
}

/// A held lock file; released when dropped, and by the operating system when the process ends.
pub trait Lock: Send + Sync {}

/// A file system.
pub trait Disk: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>>;
    /// Makes a directory and those above it; nothing to do if it is there.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory with everything in it.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Renames a file or directory, replacing a file of the new name in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Names of the entries (files and directories) of `dir`, sorted. A name that is not UTF-8 is shown
    /// with replacement characters, so it equals no name this product makes.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Whether something has this name. `false` also when that cannot be found out; the call that
    /// needs the file will then say why.
    fn exists(&self, path: &Path) -> bool;
    /// Makes the names in `dir` durable as they are now.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes `path` if absent and locks it; `WouldBlock` while another handle, in this or another
    /// process, holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>>;
    /// Bytes an unprivileged writer can still use in the file system that holds `dir`.
    fn free_bytes(&self, dir: &Path) -> io::Result<u64>;
    /// Files an unprivileged writer can still make in the file system that holds `dir`; nothing where it has no such limit, or
    /// that is not known.
    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        let _ = dir;
        Ok(None)
    }
}

/// The rule for [`File::punch`]: whole pages. For implementations of [`File`].
pub fn check_whole_pages(offset: u64, bytes: u64) -> io::Result<()> {
    let page = PAGE as u64;
    match offset.is_multiple_of(page) && bytes.is_multiple_of(page) {
        true => Ok(()),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Whether an error is about room on a disk: it is full, or a quota is used up.
pub fn is_no_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The rule for `forced` handles: address, length and offset are whole pages. For implementations of [`File`].
pub fn check_forced(buf: &[u8], offset: u64) -> io::Result<()> {
    let page = PAGE as u64;
    let rule = |what: &str, value: u64| {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("forced file: {what} {value} is not a multiple of {PAGE}"),
        ))
    };
    let address = buf.as_ptr().addr() as u64;
    if !offset.is_multiple_of(page) {
        return rule("offset", offset);
    }
    if !buf.len().is_multiple_of(PAGE) {
        return rule("length", buf.len() as u64);
    }
    if !buf.is_empty() && !address.is_multiple_of(page) {
        return rule("buffer address", address % page);
    }
    Ok(())
}
