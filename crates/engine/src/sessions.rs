//! The connections that there are, by their numbers.
//!
//! Invariant: a number is used once in a run; a connection is here from its MQCONN until nobody has it any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicU64, Ordering};

use crate::signal::Signal;

/// See the head of this file. `S` is what a connection is to the engine.
pub(crate) struct Sessions<S> {
    next: AtomicU64,
    by_number: Mutex<BTreeMap<u64, Weak<S>>>,
    /// One of them ended. Only an end of the queue manager listens.
    pub(crate) left: Signal,
}

impl<S> Default for Sessions<S> {
    fn default() -> Self {
        Sessions {
            next: AtomicU64::new(1),
            by_number: Mutex::default(),
            left: Signal::default(),
        }
    }
}

impl<S> Sessions<S> {
    /// The number of the next connection.
    pub(crate) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add(&self, number: u64, session: &Arc<S>) {
        let session = Arc::downgrade(session);
        self.by_number.lock().insert(number, session);
    }

    pub(crate) fn remove(&self, number: u64) {
        self.by_number.lock().remove(&number);
        self.left.raise();
    }

    /// The connection of this number, if it is there still.
    pub(crate) fn get(&self, number: u64) -> Option<Arc<S>> {
        self.by_number.lock().get(&number)?.upgrade()
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<Arc<S>> {
        let by_number = self.by_number.lock();
        by_number.values().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.by_number.lock().len()
    }
}
