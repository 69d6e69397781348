//! Room on the disk that is kept for the error log, so that the messages about a full disk have a place.
//!
//! Invariant: behind the last entry of the file that is written there are allocated blocks that nothing else can
//! take, as long as the file system could give them; the file's length says nothing of them. A file that is put aside
//! gives its blocks back.

use std::fs::File;

use rustix::fs::{FallocateFlags, fallocate};

/// So much is kept: some two hundred entries.
const ROOM: u64 = 256 * 1024;

/// What is kept behind one file.
#[derive(Debug, Default)]
pub(super) struct Reserve {
    /// Up to this offset there are blocks.
    until: u64,
}

impl Reserve {
    /// Keeps room behind an end, when less than half of it is left.
    pub(super) fn keep(&mut self, file: &File, end: u64) {
        if self.until >= end + ROOM / 2 {
            return;
        }
        // Where there is no room for it, or the file system cannot do this, entries are written for as long as they
        // find room; those that do not go to the system's log. It is tried again with every entry.
        if fallocate(file, FallocateFlags::KEEP_SIZE, end, ROOM).is_ok() {
            self.until = end + ROOM;
        }
    }

    /// Gives back what is behind the end, unless others have written there: a process before or beside this one.
    pub(super) fn give_back(&mut self, file: &File, end: u64) {
        self.until = 0;
        if file.metadata().is_ok_and(|found| found.len() == end) {
            // What stays allocated is taken back when the file is removed.
            let _ = file.set_len(end);
        }
    }
}
