//! The branches that one connection has worked on.
//!
//! Invariants:
//! * Each that is not prepared is here, once; of those that are, or that have ended, there are no more than of the others,
//!   or a few.
//! * A connection that has [`MOST`] that are not prepared begins none. It may join those that others have begun, who have
//!   the same limit.

use std::sync::{Arc, Weak};

use super::Unit;

/// As many branches that are not prepared a connection may have at once.
const MOST: usize = 10_000;

/// So many are kept without a look at which of them are prepared or have ended.
const FEW: usize = 16;

/// The branches that a connection has worked on.
#[derive(Default)]
pub(crate) struct WorkedOn {
    branches: Vec<Weak<Unit>>,
    /// How many there were that were not prepared when that was looked at last.
    known: usize,
}

impl WorkedOn {
    /// Whether the connection may begin one more.
    pub(crate) fn has_room(&mut self) -> bool {
        if self.branches.len() >= MOST {
            self.forget_prepared();
        }
        self.branches.len() < MOST
    }

    /// Adds one that the connection has not worked on before. The locks of the others are taken.
    pub(crate) fn add(&mut self, branch: &Arc<Unit>) {
        if self.branches.len() >= FEW + 2 * self.known {
            self.forget_prepared();
        }
        self.branches.push(Arc::downgrade(branch));
    }

    fn forget_prepared(&mut self) {
        let is_ongoing = |unit: Arc<Unit>| !unit.is_prepared_or_later();
        self.branches
            .retain(|branch| branch.upgrade().is_some_and(is_ongoing));
        self.known = self.branches.len();
    }

    /// Takes all of them.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Arc<Unit>> + use<> {
        let all = std::mem::take(self).branches;
        all.into_iter().filter_map(|branch| branch.upgrade())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::unit::Units;
    use crate::unit::ongoing::Ongoing;
    use posthaste_mqi::Xid;

    #[test]
    fn what_has_ended_is_not_kept() {
        let (units, mut worked_on) = (Units::default(), WorkedOn::default());
        let (xid, application) = (Xid::new(1, b"x", b"").unwrap(), Arc::default());
        let branch = |number| {
            let unit = units.begin(1, (number, 0), None);
            unit.lock().ongoing = Some(Box::new(Ongoing::begin(&xid, 1, &application)));
            unit
        };
        let kept: Vec<_> = (0..100).map(branch).collect();
        kept.iter().for_each(|unit| worked_on.add(unit));
        for number in 100..10_000 {
            let unit = branch(number);
            worked_on.add(&unit);
            unit.lock().ongoing = None;
            units.remove(unit.place);
            assert!(worked_on.branches.len() < 300, "{number}");
        }
        assert!(worked_on.has_room());
        let ongoing = worked_on.take().filter(|unit| !unit.is_prepared_or_later());
        assert_eq!(ongoing.count(), kept.len());
        assert_eq!(worked_on.take().count(), 0);
    }
}
