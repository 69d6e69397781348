//! The unit of work of an application that commits every so many iterations.
//!
//! Invariant: an iteration counts as uncommitted from when it is counted until its commit is known; the one that fills
//! the unit of work is counted after the commit only.

/// Where an application stands in its unit of work.
pub(super) struct UnitOfWork {
    transacted: bool,
    batch: u32,
    /// Iterations in it.
    pending: u32,
    /// Iterations that were counted and are not known to be committed.
    uncommitted: u64,
}

impl UnitOfWork {
    /// Without `transacted` there is never anything to commit.
    pub(super) fn new(transacted: bool, batch: u32) -> UnitOfWork {
        UnitOfWork {
            transacted,
            batch,
            pending: 0,
            uncommitted: 0,
        }
    }

    /// One more iteration; whether it fills the unit of work, which is to be committed before it is counted.
    pub(super) fn fills(&mut self) -> bool {
        if !self.transacted {
            return false;
        }
        self.pending += 1;
        let filled = self.pending >= self.batch;
        self.uncommitted += u64::from(!filled);
        filled
    }

    /// Whether there is something to commit.
    pub(super) fn is_open(&self) -> bool {
        self.pending > 0
    }

    /// A commit begins.
    pub(super) fn commits(&mut self) {
        self.pending = 0;
    }

    /// What was counted is known to be committed.
    pub(super) fn settled(&mut self) {
        self.uncommitted = 0;
    }

    /// Iterations that a failure now would undo.
    pub(super) fn uncommitted(&self) -> u64 {
        self.uncommitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_it_is_not_uncommitted_and_what_was_counted_is_until_it_is_settled() {
        let mut unit = UnitOfWork::new(true, 3);
        assert_eq!((unit.fills(), unit.fills()), (false, false));
        assert_eq!((unit.is_open(), unit.uncommitted()), (true, 2));
        assert!(unit.fills());
        unit.commits();
        assert_eq!((unit.is_open(), unit.uncommitted()), (false, 2));
        unit.settled();
        assert_eq!(unit.uncommitted(), 0);
        let mut none = UnitOfWork::new(false, 1);
        assert!(!none.fills() && !none.is_open() && none.uncommitted() == 0);
    }
}
