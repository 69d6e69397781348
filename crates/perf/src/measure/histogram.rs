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

/// A histogram on its way to another process: everything that was recorded, and how often.
pub(crate) mod recorded {
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(all: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
        let steps = all.iter_recorded();
        to.collect_seq(steps.map(|step| (step.value_iterated_to(), step.count_at_value())))
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let mut all = super::histogram();
        for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
            all.saturating_record_n(value, count);
        }
        Ok(all)
    }
}
