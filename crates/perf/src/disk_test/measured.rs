//! What a loop of writes found, and several put together.
//!
//! Invariants: bytes a second are those of whole seconds of the run, so that the broken last one is no
//! minimum; write numbers count from 1; percentiles are exact to three digits.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::measure::histogram;

const SECOND: u64 = 1_000_000_000;

/// The longest or shortest write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extreme {
    pub(crate) ns: u64,
    /// Which write of its queue manager, from 1.
    pub(crate) number: u64,
    /// Which queue manager, from 1.
    pub(crate) queue_manager: u32,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Bytes of a write.
    pub(crate) block: u64,
    pub(crate) writes: u64,
    pub(crate) elapsed_ns: u64,
    /// All latencies together.
    pub(crate) total_ns: u64,
    pub(crate) max: Extreme,
    pub(crate) min: Extreme,
    /// Writes that ended in each whole second.
    pub(crate) seconds: Vec<u64>,
    /// Latency and number of writes that took as long.
    pub(crate) latencies: Vec<(u64, u64)>,
    /// It ended before its time.
    pub(crate) interrupted: bool,
}

/// Counts while the loop runs.
pub(crate) struct Tally {
    found: Measured,
    latencies: Histogram<u64>,
}

impl Tally {
    pub(crate) fn new(block: u64) -> Tally {
        Tally {
            found: Measured {
                block,
                writes: 0,
                elapsed_ns: 0,
                total_ns: 0,
                max: Extreme::default(),
                min: Extreme::default(),
                seconds: Vec::new(),
                latencies: Vec::new(),
                interrupted: false,
            },
            latencies: histogram(),
        }
    }

    /// Write `number` took `ns` and ended `elapsed_ns` after the beginning.
    pub(crate) fn write(&mut self, number: u64, ns: u64, elapsed_ns: u64) {
        let found = &mut self.found;
        let this = Extreme {
            ns,
            number,
            queue_manager: 1,
        };
        if found.writes == 0 || ns > found.max.ns {
            found.max = this;
        }
        if found.writes == 0 || ns < found.min.ns {
            found.min = this;
        }
        found.writes += 1;
        found.total_ns += ns;
        found.elapsed_ns = elapsed_ns;
        let second = usize::try_from(elapsed_ns / SECOND).unwrap_or(usize::MAX);
        if found.seconds.len() <= second {
            found.seconds.resize(second + 1, 0);
        }
        if let Some(count) = found.seconds.get_mut(second) {
            *count += 1;
        }
        self.latencies.saturating_record(ns.max(1));
    }

    pub(crate) fn end(self, interrupted: bool) -> Measured {
        let mut found = self.found;
        found.interrupted = interrupted;
        let whole = usize::try_from(found.elapsed_ns / SECOND).unwrap_or(usize::MAX);
        found.seconds.truncate(whole);
        let steps = self.latencies.iter_recorded();
        found.latencies = steps
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect();
        found
    }
}

impl Measured {
    /// Several queue managers that wrote at the same time, as one.
    pub(crate) fn together(all: Vec<Measured>) -> Option<Measured> {
        let mut all = all.into_iter().zip(1..).map(|(mut found, number)| {
            found.max.queue_manager = number;
            found.min.queue_manager = number;
            found
        });
        let mut sum = all.next()?;
        for other in all {
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
            sum.latencies.extend(other.latencies);
        }
        Some(sum)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.writes * self.block
    }

    /// Writes a second.
    pub(crate) fn iops(&self) -> u64 {
        rate(self.writes, self.elapsed_ns)
    }

    /// Bytes a second over the whole time.
    pub(crate) fn bytes_per_second(&self) -> u64 {
        rate(self.bytes(), self.elapsed_ns)
    }

    /// Bytes in the best and the worst whole second; the average if there was none.
    pub(crate) fn best_and_worst_second(&self) -> (u64, u64) {
        let average = self.bytes_per_second();
        let best = self.seconds.iter().max();
        let worst = self.seconds.iter().min();
        (
            best.map_or(average, |count| count * self.block),
            worst.map_or(average, |count| count * self.block),
        )
    }

    /// Mean latency.
    pub(crate) fn average_ns(&self) -> u64 {
        self.total_ns.checked_div(self.writes).unwrap_or(0)
    }

    /// All latencies.
    pub(crate) fn histogram(&self) -> Histogram<u64> {
        let mut all = histogram();
        for (ns, count) in &self.latencies {
            all.saturating_record_n(*ns, *count);
        }
        all
    }

    /// Latencies below which so many per cent of the writes were.
    pub(crate) fn percentiles<const N: usize>(&self, percents: [f64; N]) -> [u64; N] {
        let all = self.histogram();
        percents.map(|percent| all.value_at_percentile(percent))
    }
}

fn rate(count: u64, elapsed_ns: u64) -> u64 {
    let rate = u128::from(count) * u128::from(SECOND) / u128::from(elapsed_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes of these latencies, in milliseconds, one after another.
    fn measured(latencies_ms: &[u64]) -> Measured {
        let mut tally = Tally::new(1_000);
        let mut elapsed = 0;
        for (number, ms) in (1..).zip(latencies_ms) {
            elapsed += ms * 1_000_000;
            tally.write(number, ms * 1_000_000, elapsed);
        }
        tally.end(false)
    }

    #[test]
    fn seconds_are_whole_ones_and_empty_ones_count() {
        // Ends at 0.4, 0.8, 1.1, 3.2 s: two writes, one, none, and the broken fourth second.
        let found = measured(&[400, 400, 300, 2_100]);
        assert_eq!(found.seconds, [2, 1, 0]);
        assert_eq!(found.best_and_worst_second(), (2_000, 0));
        assert_eq!((found.iops(), found.bytes_per_second()), (1, 1_250));
        assert_eq!(found.average_ns(), 800_000_000);
        let short = measured(&[100]);
        assert_eq!(short.best_and_worst_second(), (10_000, 10_000));
    }

    #[test]
    fn percentiles_are_of_all_writes() {
        let mut latencies = vec![1; 98];
        latencies.extend([50, 700]);
        let found = measured(&latencies);
        let near = |ns: u64, ms: u64| ns.abs_diff(ms * 1_000_000) <= ms * 1_000;
        let [p50, p99, p999] = found.percentiles([50.0, 99.0, 99.9]);
        assert!(
            near(p50, 1) && near(p99, 50) && near(p999, 700),
            "{p50} {p99} {p999}"
        );
    }

    #[test]
    fn several_are_put_together() {
        let one = measured(&[400, 300, 400, 100]);
        let two = measured(&[900, 90, 1_500]);
        let sum = Measured::together(vec![one.clone(), two.clone()]).unwrap();
        assert_eq!((sum.writes, sum.elapsed_ns), (7, 2_490_000_000));
        assert_eq!(sum.total_ns, one.total_ns + two.total_ns);
        assert_eq!(sum.seconds, [4], "the second one had two");
        let max = Extreme {
            ns: 1_500_000_000,
            number: 3,
            queue_manager: 2,
        };
        let min = Extreme {
            ns: 90_000_000,
            number: 2,
            queue_manager: 2,
        };
        assert_eq!((sum.max, sum.min), (max, min));
        let [p100] = sum.percentiles([100.0]);
        assert!(p100.abs_diff(1_500_000_000) < 2_000_000);
        assert_eq!(Measured::together(Vec::new()), None);
        let text = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Measured>(&text).unwrap(), sum);
    }
}
