//! The simulated disk with a point of the schedule before each operation, and a time that each takes.
//!
//! Invariant: no other thread runs within an operation; it happens at once, after its point.

use std::io;
use std::path::Path;
use std::sync::Arc;

use posthaste_env::sync::reached;
use posthaste_env::{Disk, DiskInFront, File, Nanos, Open};
use posthaste_env_sim::SimClock;

const READ: Nanos = 1_000;

pub(crate) struct ScheduledDisk {
    pub(crate) behind: Arc<dyn Disk>,
    pub(crate) clock: SimClock,
    /// What a write or a sync takes.
    pub(crate) write_nanos: Nanos,
}

struct ScheduledFile {
    behind: Arc<dyn File>,
    clock: SimClock,
    write_nanos: Nanos,
}

impl DiskInFront for ScheduledDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.behind
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        reached();
        Ok(Arc::new(ScheduledFile {
            behind: self.behind.open(path, how)?,
            clock: self.clock.clone(),
            write_nanos: self.write_nanos,
        }))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        reached();
        self.clock.advance(self.write_nanos);
        self.behind.sync_dir(dir)
    }
}

impl File for ScheduledFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        reached();
        self.clock.advance(READ);
        self.behind.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        reached();
        self.clock.advance(self.write_nanos);
        self.behind.write_at(buf, offset)
    }

    fn sync(&self) -> io::Result<()> {
        reached();
        self.clock.advance(self.write_nanos);
        self.behind.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.behind.len()
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        reached();
        self.behind.set_len(n)
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        reached();
        self.behind.allocate(n)
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        reached();
        self.behind.punch(offset, bytes)
    }
}
