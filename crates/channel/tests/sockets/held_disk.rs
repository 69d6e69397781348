//! A disk on which a test can hold the log's writes up.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use posthaste_env::{Disk, DiskInFront, File, Open};

/// Whether writes are held.
#[derive(Default)]
pub(crate) struct Hold {
    held: Mutex<bool>,
    released: Condvar,
}

impl Hold {
    /// From now on no forced write comes to its end.
    pub(crate) fn hold(&self) {
        *self.held.lock() = true;
    }

    pub(crate) fn release(&self) {
        *self.held.lock() = false;
        self.released.notify_all();
    }

    fn pass(&self) {
        let mut held = self.held.lock();
        while *held {
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
    forced: bool,
}

impl File for HeldFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        if self.forced {
            self.hold.pass();
        }
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
        Ok(Arc::new(HeldFile {
            file: self.disk.open(path, how)?,
            hold: Arc::clone(&self.hold),
            forced: how.forced,
        }))
    }
}
