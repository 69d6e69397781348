//! Room on the disk of the queue files: who may take it when there is little, and when it is given back.
//!
//! A checkpoint is what gives room back: its image no longer names what is gone, so that queue files become shorter
//! and the files of deleted queues go; and it is what empties the log. It needs room itself. So room is kept for it
//! (`checkpoint.reserve`), and the order is this: a checkpoint that finds the disk full spends the reserve; it gives back
//! what it can; the reserve is made again; and only then do puts take room again.
//!
//! Invariants:
//! * While the reserve is not whole, nothing but a checkpoint takes room: persistent messages are refused, others where
//!   they would have to be filed, and no message is moved from memory to a file. Gets, commits, backouts and changes of
//!   definitions go on.
//! * The reserve is as large as what one checkpoint can need ([`Needs::wanted`]), and is spent in this order: messages
//!   leave what the index needs, the index leaves what the image needs.
//!
//! How large: the image once for this checkpoint and once for the next, which may come before the reserve is made
//! again; every part of the index anew, as large as it was, and with it half of what the log can have added since and a
//! seventh of what is filed (the smallest messages of groups have entries of 70 bytes, log records of 146, and blocks of
//! 512; others 34, 111 and 512); and the messages, those of branches in doubt included, that have become old since the
//! last checkpoint. Those are in memory and in the log only, so they are no more than two distances between checkpoints
//! have of log, and no more than the buffers of all queues. Where a unit of work has held the log for long there can
//! be more: then a checkpoint files the oldest, as far as there is room, and leaves the log from the next on
//! (`recovery/checkpoint.rs`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, Ordering};
use posthaste_env::{Disk, is_no_space};
use posthaste_store::{Reserve, StoreError};

use crate::mark::{Mark, mark};
use crate::signal::Signal;

/// Nanoseconds between checkpoints that are taken only to give room back, and between looks whether the reserve can be
/// made.
pub(crate) const LOOK_NANOS: u64 = 1_000_000_000;
/// The least that is given up at a time.
const LEAST: u64 = 256 << 10;
/// What names, maps of the file system and the rounding to its blocks may take.
const MARGIN: u64 = 64 << 10;
/// Sizes of the reserve are multiples of this.
const UNIT: u64 = 64 << 10;

/// What the next checkpoint can need, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// The last image.
    pub(crate) image: u64,
    /// Parts of indexes that it named, and what it carried of branches in doubt, whose commit adds that to indexes.
    pub(crate) index: u64,
    /// Log between two checkpoints.
    pub(crate) interval: u64,
    /// The buffers for persistent messages of all local queues.
    pub(crate) buffers: u64,
}

impl Needs {
    fn messages(&self) -> u64 {
        self.buffers.min(2 * self.interval) + LEAST.min(self.interval)
    }

    fn index(&self) -> u64 {
        self.index + self.interval / 2 + self.messages() / 7
    }

    /// With a margin, because definitions are added.
    fn images(&self) -> u64 {
        2 * (self.image + self.image / 8 + MARGIN)
    }

    fn wanted(&self) -> u64 {
        (self.messages() + self.index() + self.images()).next_multiple_of(UNIT)
    }
}

/// Who writes when the disk is full: each leaves to those after it what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    Messages,
    Index,
    Image,
}

/// See the head of this file.
pub(crate) struct Room {
    disk: Arc<dyn Disk>,
    data: PathBuf,
    reserve: Reserve,
    needs: Mutex<Needs>,
    /// Whether the reserve is whole.
    whole: AtomicBool,
    /// Something has found the disk full since the last checkpoint that left the reserve whole.
    tight: AtomicBool,
    /// Blocks of queue files have become free since the last checkpoint, or a queue with a file was deleted.
    freed: AtomicBool,
    /// So many that a checkpoint should give them back.
    due: AtomicBool,
    /// What was last wanting was not room but a file that may be opened.
    descriptors: AtomicBool,
    /// The last checkpoint found no room on the disk.
    unsaved: AtomicBool,
    /// Why a queue file could not be written, if it is not for want of room.
    broken: Mutex<Option<String>>,
    /// Something for maintenance to do.
    pub(crate) kick: Arc<Signal>,
}

impl Room {
    pub(crate) fn new(disk: &Arc<dyn Disk>, data: &Path) -> Room {
        Room {
            disk: Arc::clone(disk),
            data: data.to_owned(),
            reserve: Reserve::new(disk, data),
            needs: Mutex::default(),
            whole: AtomicBool::new(true),
            tight: AtomicBool::new(false),
            freed: AtomicBool::new(false),
            due: AtomicBool::new(false),
            descriptors: AtomicBool::new(false),
            unsaved: AtomicBool::new(false),
            broken: Mutex::default(),
            kick: Arc::default(),
        }
    }

    /// Whether messages may take room.
    pub(crate) fn is_open(&self) -> bool {
        self.whole.load(Ordering::Acquire)
    }

    /// Whether every bit of room counts.
    pub(crate) fn is_tight(&self) -> bool {
        !self.is_open() || self.tight.load(Ordering::Relaxed)
    }

    /// A message could not be filed. Nothing is dropped: it stays in memory, and the log has it.
    pub(crate) fn could_not_file(&self, error: &StoreError) {
        let descriptors = matches!(error, StoreError::Descriptors);
        self.note_descriptors(descriptors);
        if descriptors {
            // A checkpoint would not help.
            return;
        }
        if !matches!(error, StoreError::Full) {
            self.broken.lock().get_or_insert_with(|| error.to_string());
        }
        self.tight.store(true, Ordering::Relaxed);
        self.kick.raise();
    }

    /// Whether it was for want of a file that may be opened that something could not be written.
    pub(crate) fn note_descriptors(&self, wanting: bool) {
        self.descriptors.store(wanting, Ordering::Relaxed);
    }

    /// Whether a checkpoint found no room, as where a file system has no more inodes, which no reserve keeps.
    pub(crate) fn note_unsaved(&self, unsaved: bool) {
        self.unsaved.store(unsaved, Ordering::Relaxed);
    }

    /// Whether nothing makes room in the log until the disk has some.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.unsaved.load(Ordering::Relaxed)
    }

    /// What the operator is told when something cannot be written.
    pub(crate) fn lacks_descriptors(&self) -> bool {
        self.descriptors.load(Ordering::Relaxed)
    }

    /// Blocks of a queue file have become free; `much`: giving them back is worth a checkpoint.
    pub(crate) fn freed(&self, much: bool) {
        if !self.freed.load(Ordering::Relaxed) {
            self.freed.store(true, Ordering::Relaxed);
        }
        if much && !self.due.swap(true, Ordering::Relaxed) {
            self.kick.raise();
        }
    }

    /// Whether a checkpoint should be taken to give room back.
    pub(crate) fn is_due(&self) -> bool {
        let freed = self.freed.load(Ordering::Relaxed);
        self.due.load(Ordering::Relaxed) || (freed && self.is_tight())
    }

    /// What has become free until now is being given back.
    pub(crate) fn given_back(&self) {
        self.freed.store(false, Ordering::Relaxed);
        self.due.store(false, Ordering::Relaxed);
    }

    /// What the next checkpoint can need.
    pub(crate) fn set_needs(&self, needs: Needs) {
        *self.needs.lock() = needs;
    }

    /// Bytes that messages may take of the reserve.
    pub(crate) fn for_messages(&self) -> u64 {
        let keep = self.keep_for_others(Writes::Messages);
        // Less an eighth, for what begins in the middle of a page.
        self.reserve.held().saturating_sub(keep) / 8 * 7
    }

    fn keep_for_others(&self, who: Writes) -> u64 {
        let needs = *self.needs.lock();
        match who {
            Writes::Messages => needs.index() + needs.images(),
            Writes::Index => needs.images(),
            Writes::Image => 0,
        }
    }

    /// Whether there is room, but no file can be made: an image needs a new one, so that the reserve, which keeps no inodes, would be
    /// given up in vain, and puts refused meanwhile. Where a file system makes inodes of its room (XFS), both go together.
    fn lacks_inodes_only(&self, wanted: u64) -> bool {
        let free_bytes = || self.disk.free_bytes(&self.data).unwrap_or(0);
        matches!(self.disk.free_inodes(&self.data), Ok(Some(0))) && free_bytes() >= wanted
    }

    /// Does a write of a checkpoint. While the disk has no room for its `bytes`, the reserve is spent; not where there are no inodes.
    pub(crate) fn write<T>(
        &self,
        who: Writes,
        bytes: u64,
        mut write: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            let written = write();
            if !matches!(written, Err(StoreError::Full)) {
                return written;
            }
            if !self.give_up(who, (bytes + bytes / 8 + MARGIN).max(LEAST))? {
                return written;
            }
        }
    }

    /// Makes a file without which there is no start, by spending the reserve while the disk has no room for it: where a file
    /// system makes inodes of its room (XFS), a name needs some too.
    pub(crate) fn make_file<T>(&self, mut make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            let made = make();
            if !made.as_ref().is_err_and(is_no_space) {
                return made;
            }
            let given_up = self.give_up(Writes::Image, LEAST);
            if !given_up.map_err(io::Error::other)? {
                return made;
            }
        }
    }

    /// Spends `wanted` bytes of the reserve, or what there is for `who`. Returns whether that can have helped.
    fn give_up(&self, who: Writes, wanted: u64) -> Result<bool, StoreError> {
        if self.lacks_inodes_only(wanted) {
            return Ok(false);
        }
        // First nobody else may take room, then there is some.
        self.whole.store(false, Ordering::SeqCst);
        let spent = self.reserve.spend(wanted, self.keep_for_others(who))?;
        if spent {
            mark(Mark::ReserveSpent);
        }
        Ok(spent)
    }

    /// Makes what is missing of the reserve; lets messages take room once it is whole.
    pub(crate) fn make(&self) -> Result<bool, StoreError> {
        let wanted = self.needs.lock().wanted();
        let whole = self.reserve.make(wanted)?;
        self.whole.store(whole, Ordering::SeqCst);
        Ok(whole)
    }

    /// Takes back what an attempt at a checkpoint has left over, for the next one; nobody is let in.
    pub(crate) fn regain(&self) -> Result<(), StoreError> {
        let wanted = self.needs.lock().wanted();
        self.reserve.make(wanted).map(drop)
    }

    /// A checkpoint has given back what there was, and the reserve is whole.
    pub(crate) fn is_well(&self) {
        self.tight.store(false, Ordering::Relaxed);
    }

    /// Why queue files cannot be written, once they cannot.
    pub(crate) fn broken(&self) -> Option<String> {
        self.broken.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use posthaste_env::{DiskInFront, File, Open};

    use super::*;

    const MIB: u64 = 1 << 20;

    /// A file system without inodes.
    struct NoInodes(Arc<dyn Disk>);

    impl DiskInFront for NoInodes {
        fn behind(&self) -> &dyn Disk {
            &*self.0
        }

        fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
            self.0.open(path, how)
        }

        fn free_inodes(&self, _: &Path) -> io::Result<Option<u64>> {
            Ok(Some(0))
        }
    }

    /// It would be in vain, and puts would be refused until it is made again.
    #[test]
    fn no_room_is_given_up_where_there_are_no_inodes() {
        let folder = tempfile::tempdir().unwrap();
        let disk = posthaste_env::os().disk;
        let without: Arc<dyn Disk> = Arc::new(NoInodes(Arc::clone(&disk)));
        for (disk, gives_up) in [(disk, true), (without, false)] {
            let room = Room::new(&disk, folder.path());
            assert!(room.make().unwrap());
            let held = room.reserve.held();
            assert!(held > 0);
            for who in [Writes::Messages, Writes::Index, Writes::Image] {
                let written = room.write(who, 1, || Err::<(), _>(StoreError::Full));
                assert!(matches!(written, Err(StoreError::Full)), "{written:?}");
            }
            assert_eq!(
                (room.reserve.held() < held, room.is_open()),
                (gives_up, !gives_up)
            );
        }
    }

    /// As a socket does on a file system that is full and makes inodes of its room.
    #[test]
    fn a_file_that_a_start_needs_is_made_of_the_reserve() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::new(&posthaste_env::os().disk, folder.path());
        assert!(room.make().unwrap());
        let held = room.reserve.held();
        let made = room.make_file(|| match room.reserve.held() {
            left if left < held => Ok("made"),
            _ => Err(io::ErrorKind::QuotaExceeded.into()),
        });
        assert_eq!(made.unwrap(), "made");
        assert!(!room.is_open() && room.make().unwrap());

        let never = room.make_file(|| Err::<(), _>(io::ErrorKind::StorageFull.into()));
        assert_eq!(never.unwrap_err().kind(), io::ErrorKind::StorageFull);
        let mut tries = 0;
        let other = room.make_file(|| {
            tries += 1;
            Err::<(), _>(io::ErrorKind::PermissionDenied.into())
        });
        assert_eq!(other.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(tries, 1);
    }

    #[test]
    fn a_queue_manager_of_the_default_size_keeps_some_megabytes() {
        let needs = Needs {
            image: 20_000,
            index: 0,
            interval: 64 * MIB,
            buffers: 30 * MIB,
        };
        let wanted = needs.wanted();
        assert!((64 * MIB..68 * MIB).contains(&wanted), "{wanted}");
        // With a thousand queues the log decides.
        let many = Needs {
            buffers: 1000 * MIB,
            ..needs
        };
        assert!(many.wanted() < 180 * MIB, "{}", many.wanted());
        // A million messages of an index are there a second time.
        let full = Needs {
            index: 34_000_000,
            ..needs
        };
        assert!(full.wanted() + UNIT >= wanted + 34_000_000);
    }
}
