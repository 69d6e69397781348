//! What matching costs, counted in the tests of this crate: a step for each node, character or piece that is looked at.
//!
//! Invariant: outside of these tests nothing is counted, and nothing is there.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts one.
#[inline]
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// How many this thread has taken since it was asked last.
#[cfg(test)]
pub(crate) fn taken() -> usize {
    STEPS.take()
}
