//! A fence around a disk: for a process that lives on after it has let files go, which a successor has by then.
//!
//! Invariants:
//! * Only the process that made it changes anything: one that was forked has the same files open, and another memory.
//! * When [`Fence::close`] has returned, no change to files or names through the fenced disk is under way, and none begins: it
//!   is refused with an error. Files can be read still, and synced.
//! * A change that a disk holds up holds up the close.
//! * The lock is held for one call of the disk behind, and nothing is locked meanwhile.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, File, Open};
use crate::in_front::DiskInFront;
use crate::sync::RwLock;

/// See the head of this file. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Fence {
    closed: Arc<RwLock<bool>>,
    process: u32,
}

impl Default for Fence {
    fn default() -> Self {
        Fence {
            closed: Arc::default(),
            process: std::process::id(),
        }
    }
}

impl Fence {
    /// The disk behind this fence.
    pub fn around(&self, disk: &Arc<dyn Disk>) -> Arc<dyn Disk> {
        Arc::new(FencedDisk {
            disk: Arc::clone(disk),
            fence: self.clone(),
        })
    }

    /// Waits for the changes that are under way, and lets no other begin.
    pub fn close(&self) {
        *self.closed.write() = true;
    }

    fn change<T>(&self, change: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        // Before the lock, which another thread may have had when this process was forked.
        if std::process::id() != self.process {
            return Err(io::Error::other("another process has these files"));
        }
        let closed = self.closed.read();
        match *closed {
            true => Err(io::Error::other("this process has let the files go")),
            false => change(),
        }
    }
}

struct FencedDisk {
    disk: Arc<dyn Disk>,
    fence: Fence,
}

struct FencedFile {
    file: Arc<dyn File>,
    fence: Fence,
}

impl File for FencedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.fence.change(|| self.file.write_at(buf, offset))
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        self.fence.change(|| self.file.set_len(n))
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        self.fence.change(|| self.file.allocate(n))
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.fence.change(|| self.file.punch(offset, bytes))
    }
}

impl DiskInFront for FencedDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let open = || self.disk.open(path, how);
        if how.read_only {
            return open();
        }
        Ok(Arc::new(FencedFile {
            file: self.fence.change(open)?,
            fence: self.fence.clone(),
        }))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.fence.change(|| self.disk.create_dir_all(dir))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.fence.change(|| self.disk.remove_file(path))
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.fence.change(|| self.disk.remove_dir_all(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.fence.change(|| self.disk.rename(from, to))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::os::os;

    /// As a process has it that this one has forked.
    fn forked(fence: &Fence) -> Fence {
        Fence {
            process: std::os::unix::process::parent_id(),
            ..fence.clone()
        }
    }

    #[test]
    fn nothing_is_changed_once_it_is_closed() {
        nothing_is_changed(|fence| fence.close());
    }

    #[test]
    fn nothing_is_changed_by_a_process_that_was_forked() {
        nothing_is_changed(|fence| *fence = forked(fence));
    }

    fn nothing_is_changed(since: impl FnOnce(&mut Fence)) {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        let mut fence = Fence::default();
        let behind = os().disk;
        let before = behind.open(&path, Open::CREATE_NEW).unwrap();
        fence.change(|| before.write_at(b"before", 0)).unwrap();
        since(&mut fence);
        let disk = fence.around(&behind);
        let file = FencedFile {
            file: before,
            fence: fence.clone(),
        };
        let file: Arc<dyn File> = Arc::new(file);
        let changes: [&dyn Fn() -> io::Result<()>; 9] = [
            &|| file.write_at(b"after", 0),
            &|| file.set_len(0),
            &|| file.allocate(4096),
            &|| file.punch(0, 4096),
            &|| disk.open(&other, Open::CREATE).map(drop),
            &|| disk.create_dir_all(&other),
            &|| disk.remove_file(&path),
            &|| disk.rename(&path, &other),
            &|| disk.remove_dir_all(folder.path()),
        ];
        for change in changes {
            assert_eq!(change().unwrap_err().kind(), io::ErrorKind::Other);
        }
        assert_eq!(disk.list(folder.path()).unwrap(), ["a"]);
        let read = disk.open(&path, Open::READ).unwrap();
        for file in [file, read] {
            let mut found = [0; 10];
            assert_eq!(file.read_at(&mut found, 0).unwrap(), 6);
            assert!(found.starts_with(b"before"));
            file.sync().unwrap();
        }
    }
}
