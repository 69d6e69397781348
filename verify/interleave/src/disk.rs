//! The simulated disk with a point of the schedule before each operation, and a time that each takes; and the
//! simulated clock. The explorer hears of every look at either.
//!
//! Invariant: no other thread runs within an operation; it happens at once, after its point.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use posthaste_env::sync::{Access, reached, touched};
use posthaste_env::{Clock, Disk, DiskInFront, File, Nanos, Open, Sleep};
use posthaste_env_sim::SimClock;

use crate::trace::{CLOCK, DISK, NAMES, SYNCS, WRITES};

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

/// A change follows that takes so long; `kind` says how it can fail.
fn change(kind: usize, clock: &SimClock, nanos: Nanos) {
    reached(DISK, Access::Write);
    touched(kind, Access::Write);
    if nanos > 0 {
        pass(clock, nanos);
    }
}

fn pass(clock: &SimClock, nanos: Nanos) {
    touched(CLOCK, Access::Write);
    clock.advance(nanos);
}

impl DiskInFront for ScheduledDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.behind
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        if how.create || how.create_new {
            change(NAMES, &self.clock, 0);
        } else {
            reached(DISK, Access::Read);
        }
        Ok(Arc::new(ScheduledFile {
            behind: self.behind.open(path, how)?,
            clock: self.clock.clone(),
            write_nanos: self.write_nanos,
        }))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        change(NAMES, &self.clock, self.write_nanos);
        self.behind.sync_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        change(NAMES, &self.clock, 0);
        self.behind.rename(from, to)
    }
}

impl File for ScheduledFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        reached(DISK, Access::Read);
        pass(&self.clock, READ);
        self.behind.read_at(buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        change(WRITES, &self.clock, self.write_nanos);
        self.behind.write_at(buf, offset)
    }

    fn sync(&self) -> io::Result<()> {
        change(SYNCS, &self.clock, self.write_nanos);
        self.behind.sync()
    }

    fn len(&self) -> io::Result<u64> {
        touched(DISK, Access::Read);
        self.behind.len()
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        change(WRITES, &self.clock, 0);
        self.behind.set_len(n)
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        change(WRITES, &self.clock, 0);
        self.behind.allocate(n)
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        change(WRITES, &self.clock, 0);
        self.behind.punch(offset, bytes)
    }
}

/// The simulated clock.
pub(crate) struct ScheduledClock(pub(crate) SimClock);

impl Clock for ScheduledClock {
    fn monotonic(&self) -> Nanos {
        touched(CLOCK, Access::Read);
        self.0.monotonic()
    }

    fn wall_micros(&self) -> i64 {
        touched(CLOCK, Access::Read);
        self.0.wall_micros()
    }

    fn sleep_until(&self, at: Nanos) -> Sleep {
        let mut sleep = self.0.sleep_until(at);
        Box::pin(std::future::poll_fn(
            move |context: &mut Context<'_>| -> Poll<()> {
                touched(CLOCK, Access::Read);
                sleep.as_mut().poll(context)
            },
        ))
    }
}
