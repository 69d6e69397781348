//! The lock of a queue.
//!
//! Invariant: no file is read, written, made, synced or removed by a thread that has it.

use std::ops::{Deref, DerefMut};

use posthaste_env::NoFiles;
use posthaste_env::sync::MutexGuard;

use super::QueueState;

/// A queue's state, while its lock is held.
pub(crate) struct Locked<'a> {
    state: MutexGuard<'a, QueueState>,
    _no_files: NoFiles,
}

impl<'a> Locked<'a> {
    pub(super) fn new(state: MutexGuard<'a, QueueState>) -> Self {
        Locked {
            state,
            _no_files: NoFiles::new(),
        }
    }
}

impl Deref for Locked<'_> {
    type Target = QueueState;
    fn deref(&self) -> &QueueState {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut QueueState {
        &mut self.state
    }
}
