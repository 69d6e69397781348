//! Disks that stand in front of another disk: to slow it down, to watch it, to break it in a test.
//!
//! Invariant: what such a disk does not mention is done by the disk behind it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, File, Lock, Open};

/// A [`Disk`] by what it does otherwise than the one behind it.
pub trait DiskInFront: Send + Sync {
    /// The disk behind it.
    fn behind(&self) -> &dyn Disk;
    /// Opens a file, as [`Disk::open`] does.
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>>;
    /// Makes a directory, as [`Disk::create_dir_all`] does.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.behind().create_dir_all(dir)
    }
    /// Removes a directory, as [`Disk::remove_dir_all`] does.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.behind().remove_dir_all(dir)
    }
    /// Makes names durable, as [`Disk::sync_dir`] does.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.behind().sync_dir(dir)
    }
    /// Gives a file another name, as [`Disk::rename`] does.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.behind().rename(from, to)
    }
    /// Removes a file, as [`Disk::remove_file`] does.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.behind().remove_file(path)
    }
    /// Files that can be made, as [`Disk::free_inodes`] says.
    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        self.behind().free_inodes(dir)
    }
    /// Locks a file, as [`Disk::lock`] does.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        self.behind().lock(path)
    }
}

impl<T: DiskInFront> Disk for T {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        DiskInFront::open(self, path, how)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        DiskInFront::create_dir_all(self, dir)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        DiskInFront::remove_file(self, path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        DiskInFront::remove_dir_all(self, dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        DiskInFront::rename(self, from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.behind().list(dir)
    }

    fn exists(&self, path: &Path) -> bool {
        self.behind().exists(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        DiskInFront::sync_dir(self, dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        DiskInFront::lock(self, path)
    }

    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.behind().free_bytes(dir)
    }

    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        DiskInFront::free_inodes(self, dir)
    }
}
