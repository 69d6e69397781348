//! A disk on which a test can hold up the log's writes, or queue files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use posthaste_env::{Disk, DiskInFront, File, Open};

/// What is held up.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Log,
    QueueFiles,
}

/// Whether something is held up.
#[derive(Default)]
pub(crate) struct Hold {
    held: Mutex<Option<Held>>,
    released: Condvar,
}

impl Hold {
    /// From now on no forced write comes to its end.
    pub(crate) fn hold(&self) {
        *self.held.lock() = Some(Held::Log);
    }

    /// From now on no queue file is read or written to the end.
    pub(crate) fn hold_queue_files(&self) {
        *self.held.lock() = Some(Held::QueueFiles);
    }

    pub(crate) fn release(&self) {
        *self.held.lock() = None;
        self.released.notify_all();
    }

    fn pass(&self, what: Held) {
        let mut held = self.held.lock();
        while *held == Some(what) {
            self.released.wait(&mut held);
        }
    }
}

/// A disk with a hold in front of it.
pub(crate) struct HeldDisk {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) hold: Arc<Hold>,
}

struct HeldFile {
    file: Arc<dyn File>,
    hold: Arc<Hold>,
    /// What it is a file of.
    of: Option<Held>,
}

impl HeldFile {
    fn pass(&self) {
        if let Some(of) = self.of {
            self.hold.pass(of);
        }
    }
}

impl File for HeldFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.of == Some(Held::QueueFiles) {
            self.pass();
        }
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.pass();
        self.file.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
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

impl DiskInFront for HeldDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let queue = path.components().any(|part| part.as_os_str() == "queues");
        Ok(Arc::new(HeldFile {
            file: self.disk.open(path, how)?,
            hold: Arc::clone(&self.hold),
            of: match how.forced {
                true => Some(Held::Log),
                false => queue.then_some(Held::QueueFiles),
            },
        }))
    }
}
