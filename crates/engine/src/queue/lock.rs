//! The lock of a queue.
//!
//! Invariant: no file is read, written, made, synced or removed by a thread that has it. Tests look at that: their
//! disks ask [`holds_queue_lock`] before every operation.

use std::ops::{Deref, DerefMut};

use posthaste_env::sync::MutexGuard;

use super::QueueState;

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Whether this thread has the lock of a queue. Known in builds with debug assertions only.
pub fn holds_queue_lock() -> bool {
    #[cfg(debug_assertions)]
    {
        HELD.get() > 0
    }
    #[cfg(not(debug_assertions))]
    {
        false
    }
}

/// Counts a lock as held; nothing where nobody asks.
struct Held;

impl Held {
    fn new() -> Held {
        #[cfg(debug_assertions)]
        HELD.set(HELD.get() + 1);
        Held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HELD.set(HELD.get() - 1);
    }
}

/// A queue's state, while its lock is held.
pub(crate) struct Locked<'a> {
    state: MutexGuard<'a, QueueState>,
    _held: Held,
}

impl<'a> Locked<'a> {
    pub(super) fn new(state: MutexGuard<'a, QueueState>) -> Self {
        Locked {
            state,
            _held: Held::new(),
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
