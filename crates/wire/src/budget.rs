//! How much memory the unfinished flows of all sockets may take together.
//!
//! Invariants: what is taken is the sum of what living [`Charge`]s hold and what was added by [`Budget::add`] and not yet
//! given back; a charge never grows when the limit would be passed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that many share.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    taken: AtomicUsize,
}

impl Budget {
    /// `limit`: bytes.
    pub fn new(limit: usize) -> Arc<Budget> {
        Arc::new(Budget {
            limit,
            taken: AtomicUsize::new(0),
        })
    }

    /// Bytes that are taken.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether all of it is taken.
    pub fn is_spent(&self) -> bool {
        self.taken() >= self.limit
    }

    /// Takes what is there already, whatever the limit says.
    pub fn add(&self, bytes: usize) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Gives back what was taken by [`Budget::add`].
    pub fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> bool {
        let within = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, within)
            .is_ok()
    }
}

/// A part of a budget; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Charge {
    pub(crate) fn none(budget: &Arc<Budget>) -> Charge {
        Charge {
            budget: Arc::clone(budget),
            bytes: 0,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes it `bytes`; false, and nothing changes, if that is more than the budget has.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        let granted = match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.take(more),
            None => {
                self.budget.give_back(self.bytes - bytes);
                true
            }
        };
        if granted {
            self.bytes = bytes;
        }
        granted
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_grow_to_the_limit_and_come_back() {
        let budget = Budget::new(100);
        let (mut a, mut b) = (Charge::none(&budget), Charge::none(&budget));
        assert!(a.resize(60) && b.resize(40));
        assert!(budget.is_spent());
        assert!(!b.resize(41) && !a.resize(usize::MAX));
        assert_eq!((a.bytes(), b.bytes(), budget.taken()), (60, 40, 100));
        assert!(a.resize(20) && b.resize(80));
        drop(b);
        assert_eq!(budget.taken(), 20);
        budget.add(200);
        assert!(budget.is_spent() && !a.resize(21));
        budget.give_back(200);
        drop(a);
        assert_eq!(budget.taken(), 0);
    }
}
