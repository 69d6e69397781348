//! The branches that are not resolved, by their identifiers; and those that are not prepared and whose last connection
//! has ended in order, by who began them and when they were left.
//!
//! Invariants: no two have one identifier. Of those without a connection there are no more than [`MOST_LEFT`]: whoever
//! leaves one more has the oldest backed out of the user who has most of them. So a user loses one only while he has at
//! least as many as any other. `U` is a unit of work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posthaste_env::sync::Mutex;

use posthaste_mqi::Xid;

/// More than there are transactions at once between the end of an application and its transaction manager's prepare.
pub(crate) const MOST_LEFT: usize = 10_000;

/// Where a branch that was left is among the others: who began it, and when it was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftPlace {
    user: Arc<str>,
    age: u64,
}

/// Branches by who began them and when they were left.
struct Left<U> {
    next: u64,
    count: usize,
    by_user: BTreeMap<Arc<str>, BTreeMap<u64, Arc<U>>>,
    /// How many each user has, and the user.
    shares: BTreeSet<(usize, Arc<str>)>,
}

impl<U> Default for Left<U> {
    fn default() -> Self {
        Left {
            next: 0,
            count: 0,
            by_user: BTreeMap::new(),
            shares: BTreeSet::new(),
        }
    }
}

impl<U> Left<U> {
    fn add(&mut self, user: &str, unit: &Arc<U>) -> LeftPlace {
        let known = self.by_user.get_key_value(user);
        let user = known.map_or_else(|| Arc::from(user), |(user, _)| Arc::clone(user));
        let of_user = self.by_user.entry(Arc::clone(&user)).or_default();
        let age = self.next;
        self.shares.remove(&(of_user.len(), Arc::clone(&user)));
        of_user.insert(age, Arc::clone(unit));
        self.shares.insert((of_user.len(), Arc::clone(&user)));
        self.next += 1;
        self.count += 1;
        LeftPlace { user, age }
    }

    fn remove(&mut self, place: &LeftPlace) -> Option<Arc<U>> {
        let LeftPlace { user, age } = place;
        let of_user = self.by_user.get_mut(user)?;
        let unit = of_user.remove(age)?;
        self.count -= 1;
        self.shares.remove(&(of_user.len() + 1, Arc::clone(user)));
        match of_user.len() {
            0 => drop(self.by_user.remove(user)),
            still => drop(self.shares.insert((still, Arc::clone(user)))),
        }
        Some(unit)
    }

    /// The oldest of whoever has most.
    fn oldest_of_most(&self) -> Option<LeftPlace> {
        let (_, user) = self.shares.last()?;
        let (age, _) = self.by_user.get(user)?.first_key_value()?;
        Some(LeftPlace {
            user: Arc::clone(user),
            age: *age,
        })
    }
}

/// The branches that are not resolved.
pub(crate) struct Branches<U> {
    by_xid: Mutex<BTreeMap<Xid, Arc<U>>>,
    left: Mutex<Left<U>>,
}

impl<U> Default for Branches<U> {
    fn default() -> Self {
        Branches {
            by_xid: Mutex::default(),
            left: Mutex::default(),
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

    /// The last connection of a branch that a user began has ended in order: its place among those, and where there are
    /// too many now the one that is backed out for it, with its own.
    pub(super) fn leave(
        &self,
        user: &str,
        unit: &Arc<U>,
    ) -> (LeftPlace, Option<(LeftPlace, Arc<U>)>) {
        let mut left = self.left.lock();
        let place = left.add(user, unit);
        if left.count <= MOST_LEFT {
            return (place, None);
        }
        let oldest = left.oldest_of_most().and_then(|oldest| {
            let unit = left.remove(&oldest)?;
            Some((oldest, unit))
        });
        (place, oldest)
    }

    /// A branch is worked on again, prepared, or has ended. `place`: what it was given when it was left.
    pub(super) fn not_left(&self, place: &LeftPlace) {
        self.left.lock().remove(place);
    }
}
