//! What a loop of writes found, and several put together.
//!
//! Invariants: bytes a second are those of whole seconds of the run, so that the broken last one is no
//! minimum; write numbers count from 1; percentiles are exact to three digits.

use hdrhistogram::Histogram;

use crate::measure::histogram;

const SECOND: u64 = 1_000_000_000;

/// The longest or shortest write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extreme {
    pub(crate) ns: u64,
    /// Which write of its queue manager, from 1.
    pub(crate) number: u64,
    /// Which queue manager, from 1.
    pub(crate) queue_manager: u32,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Bytes of a write.
    pub(crate) block: u64,
    /// That wrote at the same time.
    pub(crate) queue_managers: u64,
    pub(crate) writes: u64,
    pub(crate) elapsed_ns: u64,
    /// All latencies together.
    pub(crate) total_ns: u64,
    pub(crate) max: Extreme,
    pub(crate) min: Extreme,
    /// Writes that ended in each second.
    pub(crate) seconds: Vec<u64>,
    latencies: Histogram<u64>,
    /// It ended before its time.
    pub(crate) interrupted: bool,
}

impl Measured {
    pub(super) fn new(block: u64) -> Measured {
        Measured {
            block,
            queue_managers: 1,
            writes: 0,
            elapsed_ns: 0,
            total_ns: 0,
            max: Extreme::default(),
            min: Extreme::default(),
            seconds: Vec::new(),
            latencies: histogram(),
            interrupted: false,
        }
    }

    /// Write `number` took `ns` and ended `elapsed_ns` after the beginning.
    pub(super) fn write(&mut self, number: u64, ns: u64, elapsed_ns: u64) {
        let this = Extreme {
            ns,
            number,
            queue_manager: 1,
        };
        if self.writes == 0 || ns > self.max.ns {
            self.max = this;
        }
        if self.writes == 0 || ns < self.min.ns {
            self.min = this;
        }
        self.writes += 1;
        self.total_ns += ns;
        self.elapsed_ns = elapsed_ns;
        let second = usize::try_from(elapsed_ns / SECOND).unwrap_or(usize::MAX);
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, 0);
        }
        if let Some(count) = self.seconds.get_mut(second) {
            *count += 1;
        }
        self.latencies.saturating_record(ns.max(1));
    }

    /// Nothing more comes: the last second was none.
    pub(super) fn ended(mut self) -> Measured {
        let whole = usize::try_from(self.elapsed_ns / SECOND).unwrap_or(usize::MAX);
        self.seconds.truncate(whole);
        self
    }

    /// Several queue managers that wrote at the same time, as one.
    pub(super) fn together(all: Vec<Measured>) -> Option<Measured> {
        let numbered = all.into_iter().zip(1..).map(|(mut found, number)| {
            found.max.queue_manager = number;
            found.min.queue_manager = number;
            found
        });
        numbered.reduce(|mut sum, other| {
            sum.queue_managers += other.queue_managers;
            sum.writes += other.writes;
            sum.total_ns += other.total_ns;
            sum.elapsed_ns = sum.elapsed_ns.max(other.elapsed_ns);
            sum.interrupted |= other.interrupted;
            if other.max.ns > sum.max.ns {
                sum.max = other.max;
            }
            if other.min.ns < sum.min.ns {
                sum.min = other.min;
            }
            sum.seconds.truncate(other.seconds.len());
            for (count, more) in sum.seconds.iter_mut().zip(&other.seconds) {
                *count += more;
            }
            // Bounds are the same everywhere, so nothing is lost.
            let _ = sum.latencies.add(&other.latencies);
            sum
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.writes * self.block
    }

    /// Writes a second.
    pub(super) fn iops(&self) -> u64 {
        rate(self.writes, self.elapsed_ns)
    }

    /// Bytes a second over the whole time.
    pub(super) fn bytes_per_second(&self) -> u64 {
        rate(self.bytes(), self.elapsed_ns)
    }

    /// Bytes in the best whole second; the average if there was none.
    pub(super) fn best_second(&self) -> u64 {
        let best = self.seconds.iter().max();
        best.map_or(self.bytes_per_second(), |count| count * self.block)
    }

    /// Bytes in the worst one.
    pub(super) fn worst_second(&self) -> u64 {
        let worst = self.seconds.iter().min();
        worst.map_or(self.bytes_per_second(), |count| count * self.block)
    }

    /// Mean latency.
    pub(crate) fn average_ns(&self) -> u64 {
        self.total_ns.checked_div(self.writes).unwrap_or(0)
    }

    /// All latencies.
    pub(crate) fn histogram(&self) -> Histogram<u64> {
        self.latencies.clone()
    }

    /// The latency below which so many per cent of the writes were.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        self.latencies.value_at_percentile(percent)
    }
}

fn rate(count: u64, elapsed_ns: u64) -> u64 {
    let rate = u128::from(count) * u128::from(SECOND) / u128::from(elapsed_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes of these latencies, in milliseconds, one after another.
    pub(in crate::disk_test) fn measured(block: u64, latencies_ms: &[u64]) -> Measured {
        let mut found = Measured::new(block);
        let mut elapsed = 0;
        for (number, ms) in (1..).zip(latencies_ms) {
            elapsed += ms * 1_000_000;
            found.write(number, ms * 1_000_000, elapsed);
        }
        found.ended()
    }

    #[test]
    fn seconds_are_whole_ones_and_empty_ones_count() {
        // Ends at 0.4, 0.8, 1.1, 3.2 s: two writes, one, none, and the broken fourth second.
        let found = measured(1_000, &[400, 400, 300, 2_100]);
        assert_eq!(found.seconds, [2, 1, 0]);
        assert_eq!((found.best_second(), found.worst_second()), (2_000, 0));
        assert_eq!((found.iops(), found.bytes_per_second()), (1, 1_250));
        assert_eq!(found.average_ns(), 800_000_000);
        let short = measured(1_000, &[100]);
        assert_eq!(
            (short.best_second(), short.worst_second()),
            (10_000, 10_000)
        );
    }

    #[test]
    fn percentiles_are_of_all_writes() {
        let mut latencies = vec![1; 98];
        latencies.extend([50, 700]);
        let found = measured(1_000, &latencies);
        for (percent, ms) in [(50.0, 1_u64), (99.0, 50), (99.9, 700)] {
            let ns = found.percentile(percent);
            assert!(ns.abs_diff(ms * 1_000_000) <= ms * 1_000, "{percent}: {ns}");
        }
    }

    #[test]
    fn several_are_put_together() {
        let one = measured(1_000, &[400, 300, 400, 100]);
        let two = measured(1_000, &[900, 90, 1_500]);
        let sum = Measured::together(vec![one.clone(), two.clone()]).unwrap();
        assert_eq!((sum.writes, sum.elapsed_ns), (7, 2_490_000_000));
        assert_eq!(sum.total_ns, one.total_ns + two.total_ns);
        assert_eq!(sum.seconds, [4], "the second one had two");
        let extreme = |ms: u64, number| Extreme {
            ns: ms * 1_000_000,
            number,
            queue_manager: 2,
        };
        assert_eq!((sum.max, sum.min), (extreme(1_500, 3), extreme(90, 2)));
        assert!(sum.percentile(100.0).abs_diff(1_500_000_000) < 2_000_000);
        assert_eq!(Measured::together(Vec::new()), None);
    }
}
