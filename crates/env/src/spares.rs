//! Descriptors that are kept for those who cannot do without one: a log goes on to another file where nobody else opens
//! one any more.
//!
//! Invariants: none is kept before a file of forced writes was opened; those that were given up are kept again as soon as
//! one is free, which the end of each such file is.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags};

use crate::descriptors::lacks_descriptors;

/// How many: another thread may be faster when one is given up.
const MOST: usize = 4;

/// Descriptors of nothing, to be closed for others; `None` before the first is needed.
#[derive(Default)]
pub(crate) struct Spares(Mutex<Option<Vec<OwnedFd>>>);

impl Spares {
    /// Opens; where there is no descriptor left, with one of these.
    pub(crate) fn open<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        loop {
            match open() {
                Err(error) if lacks_descriptors(&error) && self.give_up_one() => {}
                done => return done,
            }
        }
    }

    /// Keeps some from now on.
    pub(crate) fn begin(&self) {
        refill(self.0.lock().get_or_insert_default());
    }

    /// Keeps what is missing, as far as there is any.
    pub(crate) fn refill(&self) {
        if let Some(spares) = self.0.lock().as_mut() {
            refill(spares);
        }
    }

    /// Closes one of those that are kept, if there is any.
    fn give_up_one(&self) -> bool {
        let mut spares = self.0.lock();
        spares.as_mut().and_then(Vec::pop).is_some()
    }
}

/// At its end something has been closed.
pub(crate) struct Refill(pub(super) Arc<Spares>);

impl Drop for Refill {
    fn drop(&mut self) {
        self.0.refill();
    }
}

fn refill(spares: &mut Vec<OwnedFd>) {
    while spares.len() < MOST {
        let nothing = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(spare) = rustix::fs::open("/", nothing, Mode::empty()) else {
            return;
        };
        spares.push(spare);
    }
}
