//! The branches that are not resolved, by their identifiers; and those that are not prepared and whose last connection
//! has ended in order, by when it did.
//!
//! Invariants: no two have one identifier. Of those without a connection there are no more than [`MOST_LEFT`]: who leaves
//! one more has the oldest backed out. `U` is a unit of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_env::sync::Mutex;

use posthaste_mqi::Xid;

/// More than there are transactions at once between the end of an application and its transaction manager's prepare.
pub(crate) const MOST_LEFT: usize = 10_000;

/// Branches by when they were left.
struct Left<U> {
    next: u64,
    by_age: BTreeMap<u64, Arc<U>>,
}

/// The branches that are not resolved.
pub(crate) struct Branches<U> {
    by_xid: Mutex<BTreeMap<Xid, Arc<U>>>,
    left: Mutex<Left<U>>,
}

impl<U> Default for Branches<U> {
    fn default() -> Self {
        let left = Left {
            next: 0,
            by_age: BTreeMap::new(),
        };
        Branches {
            by_xid: Mutex::default(),
            left: Mutex::new(left),
        }
    }
}

impl<U> Branches<U> {
    pub(crate) fn find(&self, xid: &Xid) -> Option<Arc<U>> {
        self.by_xid.lock().get(xid).cloned()
    }

    /// False: there is one of this identifier.
    pub(crate) fn add(&self, xid: &Xid, unit: &Arc<U>) -> bool {
        let mut branches = self.by_xid.lock();
        if branches.contains_key(xid) {
            return false;
        }
        branches.insert(xid.clone(), Arc::clone(unit));
        true
    }

    pub(crate) fn remove(&self, xid: &Xid) {
        self.by_xid.lock().remove(xid);
    }

    pub(crate) fn all(&self) -> Vec<(Xid, Arc<U>)> {
        let branches = self.by_xid.lock();
        let both = |(xid, unit): (&Xid, &Arc<U>)| (xid.clone(), Arc::clone(unit));
        branches.iter().map(both).collect()
    }

    /// The last connection of a branch has ended in order: its place among those, and the oldest, with its own, if there
    /// are too many.
    pub(super) fn leave(&self, unit: &Arc<U>) -> (u64, Option<(u64, Arc<U>)>) {
        let mut left = self.left.lock();
        let place = left.next;
        left.next += 1;
        left.by_age.insert(place, Arc::clone(unit));
        let too_many = left.by_age.len() > MOST_LEFT;
        let oldest = too_many.then(|| left.by_age.pop_first()).flatten();
        (place, oldest)
    }

    /// A branch is worked on again, prepared, or has ended. `place`: what it was given when it was left.
    pub(super) fn not_left(&self, place: u64) {
        self.left.lock().by_age.remove(&place);
    }
}
