//! An alias queue, as verbs have it open.
//!
//! Invariant: what its definition inhibits holds for a call that comes after the change.

use posthaste_command::Attrs;
use posthaste_env::sync::atomic::{AtomicBool, Ordering};
use posthaste_mqi::constants::*;

use super::last_change::LastChange;

/// An alias queue: another name for a queue, with inhibitions of its own.
pub(crate) struct Alias {
    put_inhibited: AtomicBool,
    get_inhibited: AtomicBool,
    /// It has led elsewhere before.
    pub(crate) last_change: LastChange,
}

impl Alias {
    pub(crate) fn of(attrs: &Attrs) -> Self {
        let alias = Alias {
            put_inhibited: AtomicBool::new(false),
            get_inhibited: AtomicBool::new(false),
            last_change: LastChange::default(),
        };
        alias.update(attrs);
        alias
    }

    pub(crate) fn update(&self, attrs: &Attrs) {
        let put = attrs.int(MQIA_INHIBIT_PUT) == MQQA_PUT_INHIBITED;
        let get = attrs.int(MQIA_INHIBIT_GET) == MQQA_GET_INHIBITED;
        self.put_inhibited.store(put, Ordering::Relaxed);
        self.get_inhibited.store(get, Ordering::Relaxed);
    }

    pub(crate) fn put_inhibited(&self) -> bool {
        self.put_inhibited.load(Ordering::Relaxed)
    }

    pub(crate) fn get_inhibited(&self) -> bool {
        self.get_inhibited.load(Ordering::Relaxed)
    }
}
