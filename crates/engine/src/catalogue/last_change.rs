//! Changes of definitions after which those who have the object open do not go on by their handles (2041,
//! MQRC_OBJECT_CHANGED), numbered one after another.
//!
//! Invariants:
//! * Changes are numbered under `order` of the catalogue. An object has the number before it is the last one, and says
//!   the new thing before it has the number.
//! * Whoever opens an object reads the last number before he looks at any definition. So a handle that has the last number
//!   has seen every change, and one that was opened beside a change is at worst void without need.
//! * The numbers suffice: each change waits for the log, so that 2^32 of them take weeks of nothing else.

use posthaste_env::sync::atomic::{AtomicU32, Ordering};

/// The number of an object's last change of this sort; 0: there was none.
#[derive(Default)]
pub(crate) struct LastChange(AtomicU32);

impl LastChange {
    /// Whether it came after this one.
    pub(crate) fn is_after(&self, opened: u32) -> bool {
        self.0.load(Ordering::Acquire) > opened
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Changes {
    last: AtomicU32,
    /// The default transmission queue is another one.
    pub(crate) default_route: LastChange,
}

impl Changes {
    /// The number of the last one.
    pub(crate) fn last(&self) -> u32 {
        self.last.load(Ordering::Acquire)
    }

    /// An object has changed. `end_waits`: after it says so, and before anybody opens it as it is now. The caller holds `order`.
    pub(crate) fn make(&self, of: &LastChange, end_waits: impl FnOnce()) {
        let number = self.last.load(Ordering::Relaxed).saturating_add(1);
        of.0.store(number, Ordering::Release);
        end_waits();
        self.last.store(number, Ordering::Release);
    }
}
