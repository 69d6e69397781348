//! What latencies are recorded in, everywhere, so that any two of them can be added.

use hdrhistogram::Histogram;

/// The longest latency that is told apart, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;

/// A histogram of nanoseconds with three significant digits.
pub(crate) fn histogram() -> Histogram<u64> {
    let Ok(histogram) = Histogram::new_with_bounds(1, LONGEST, 3) else {
        unreachable!("these bounds are legal")
    };
    histogram
}
