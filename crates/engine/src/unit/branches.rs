//! The branches that are not resolved, by their identifiers.
//!
//! Invariant: no two have one identifier. `U` is a unit of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_env::sync::Mutex;

use posthaste_mqi::Xid;

/// The branches that are not resolved, by identifier.
pub(crate) struct Branches<U>(Mutex<BTreeMap<Xid, Arc<U>>>);

impl<U> Default for Branches<U> {
    fn default() -> Self {
        Branches(Mutex::default())
    }
}

impl<U> Branches<U> {
    pub(crate) fn find(&self, xid: &Xid) -> Option<Arc<U>> {
        self.0.lock().get(xid).cloned()
    }

    /// False: there is one of this identifier.
    pub(crate) fn add(&self, xid: &Xid, unit: &Arc<U>) -> bool {
        let mut branches = self.0.lock();
        if branches.contains_key(xid) {
            return false;
        }
        branches.insert(xid.clone(), Arc::clone(unit));
        true
    }

    pub(crate) fn remove(&self, xid: &Xid) {
        self.0.lock().remove(xid);
    }

    pub(crate) fn all(&self) -> Vec<(Xid, Arc<U>)> {
        let branches = self.0.lock();
        let both = |(xid, unit): (&Xid, &Arc<U>)| (xid.clone(), Arc::clone(unit));
        branches.iter().map(both).collect()
    }
}
