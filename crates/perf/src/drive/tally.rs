//! What a carrier's thread has counted.
//!
//! Invariant: only its own thread adds to it, so that counting costs no traffic between processors;
//! whoever reads sees every iteration at most once.

use std::sync::atomic::{AtomicU64, Ordering};

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use crate::workload::{Nanos, PerfError};

/// The longest latency that is told apart, in nanoseconds: ten minutes.
const LONGEST: u64 = 600_000_000_000;

/// A histogram of nanoseconds with three significant digits.
///
/// # Errors
/// There is no memory for it.
pub fn histogram() -> Result<Histogram<u64>, PerfError> {
    Histogram::new_with_bounds(1, LONGEST, 3).map_err(|error| PerfError::System {
        what: "a histogram cannot be made".to_owned(),
        why: error.to_string(),
    })
}

/// Counts of one carrier's thread.
pub(crate) struct Tally {
    counts: Box<[AtomicU64]>,
    missed: AtomicU64,
    /// When the last iteration was done.
    last: AtomicU64,
    latency: Mutex<Histogram<u64>>,
}

impl Tally {
    /// For so many applications; `empty` is what latencies are recorded in.
    pub(crate) fn new(applications: usize, empty: &Histogram<u64>) -> Tally {
        Tally {
            counts: (0..applications).map(|_| AtomicU64::new(0)).collect(),
            missed: AtomicU64::new(0),
            last: AtomicU64::new(0),
            latency: Mutex::new(Histogram::new_from(empty)),
        }
    }

    /// Application `place` of this thread has done one more, by `now`.
    pub(crate) fn iterated(&self, place: usize, now: Nanos) {
        self.last.store(now, Ordering::Relaxed);
        if let Some(count) = self.counts.get(place) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// Some that were counted turned out not to be done.
    pub(crate) fn take_back(&self, place: usize, number: u64) {
        if let Some(count) = self.counts.get(place) {
            let now = count.load(Ordering::Relaxed).saturating_sub(number);
            count.store(now, Ordering::Relaxed);
        }
    }

    /// Iterations given up by a rate that cannot be held.
    pub(crate) fn missed_more(&self, number: u64) {
        if number > 0 {
            self.missed.fetch_add(number, Ordering::Relaxed);
        }
    }

    /// One latency.
    pub(crate) fn record(&self, nanos: Nanos) {
        self.latency.lock().saturating_record(nanos);
    }

    /// Several, which are taken out.
    pub(crate) fn record_all(&self, latencies: &mut Vec<Nanos>) {
        if latencies.is_empty() {
            return;
        }
        let mut histogram = self.latency.lock();
        for nanos in latencies.drain(..) {
            histogram.saturating_record(nanos);
        }
    }

    pub(crate) fn iterations(&self) -> u64 {
        self.each().sum()
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
    }

    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    pub(crate) fn last(&self) -> Nanos {
        self.last.load(Ordering::Relaxed)
    }

    /// Moves the latencies to another histogram.
    pub(crate) fn take_latency(&self, to: &mut Histogram<u64>) {
        let mut latency = self.latency.lock();
        // Both have the same bounds, and what is beyond them was cut when it was recorded.
        let _ = to.add(&*latency);
        latency.reset();
    }

    pub(crate) fn forget_latency(&self) {
        self.latency.lock().reset();
    }

    pub(crate) fn add_latency(&self, to: &mut Histogram<u64>) {
        // Both have the same bounds, and what is beyond them was cut when it was recorded.
        let _ = to.add(&*self.latency.lock());
    }
}
