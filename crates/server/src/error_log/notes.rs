//! Messages about channels, from threads that must not wait for a disk: noted here, written by a thread of the log's
//! own.
//!
//! Invariants: noting a message takes one short lock and no system call but the waking of the writer; what is noted is
//! written in the order in which it came, and before any later message that is written at once. There are never more
//! notes than [`Repeats`] lets through.

use std::panic::Location;
use std::time::{Duration, Instant};

use jiff::Zoned;
use parking_lot::{Condvar, Mutex};

use super::Summary;
use crate::repeats::Repeats;

/// A message that is not written yet.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) at: Zoned,
    pub(super) id: &'static str,
    pub(super) inserts: Vec<String>,
    pub(super) from: &'static Location<'static>,
}

#[derive(Default)]
struct Inner {
    waiting: Vec<Note>,
    repeats: Repeats<&'static str, Vec<String>>,
    ended: bool,
}

/// Notes, and what only was counted.
pub(super) struct Notes {
    began: Instant,
    inner: Mutex<Inner>,
    wake: Condvar,
}

/// What the writer is to do.
pub(super) enum Work {
    /// Write these.
    Write(Vec<Summary>),
    /// Write these; there will be no more.
    End(Vec<Summary>),
}

impl Notes {
    pub(super) fn new() -> Notes {
        Notes {
            began: Instant::now(),
            inner: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes a message.
    pub(super) fn push(
        &self,
        id: &'static str,
        inserts: &[String],
        from: &'static Location<'static>,
    ) {
        let inserts = inserts.to_vec();
        let mut inner = self.inner.lock();
        let counting = inner.repeats.next();
        if inner.repeats.admit(&id, &inserts, self.now()) {
            inner.waiting.push(Note {
                at: super::now(),
                id,
                inserts,
                from,
            });
        } else if inner.repeats.next() == counting {
            // The writer knows already when the next summary is due.
            return;
        }
        drop(inner);
        self.wake.notify_one();
    }

    /// Everything that is noted.
    pub(super) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut self.inner.lock().waiting)
    }

    /// What only was counted, for a process that is about to break off; nothing if that happened in here.
    pub(super) fn last_words(&self) -> Vec<Summary> {
        let inner = self.inner.try_lock();
        inner.map_or_else(Vec::new, |mut inner| inner.repeats.all(self.now()))
    }

    /// No more will be noted.
    pub(super) fn end(&self) {
        self.inner.lock().ended = true;
        self.wake.notify_one();
    }

    /// Waits until there is something to write. What is noted is left for [`Notes::take`], under the lock of the file.
    pub(super) fn wait(&self) -> Work {
        let mut inner = self.inner.lock();
        loop {
            let now = self.now();
            if inner.ended {
                return Work::End(inner.repeats.all(now));
            }
            let due = inner.repeats.due(now);
            if !inner.waiting.is_empty() || !due.is_empty() {
                return Work::Write(due);
            }
            match inner.repeats.next() {
                Some(at) => {
                    self.wake.wait_for(&mut inner, at.saturating_sub(now));
                }
                None => self.wake.wait(&mut inner),
            }
        }
    }
}
