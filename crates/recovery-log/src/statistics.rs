//! What the log counts about itself.
//!
//! Invariant: all counters only grow while a log is open; averages are moving ones. Times are nanoseconds
//! of the driver's clock.

use posthaste_env::Nanos;

/// Counters since the log was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStatistics {
    /// Records appended.
    pub records: u64,
    /// Bytes of records: payloads and record headers.
    pub logical_bytes: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes written: whole pages.
    pub physical_bytes: u64,
    /// Waiting committers that were released.
    pub commits: u64,
    /// Time of all writes added up; more than `busy_nanos` when several were in flight.
    pub write_nanos: Nanos,
    /// Time in which at least one write was in flight.
    pub busy_nanos: Nanos,
    /// Time from the first write's start to the last write's end in which none was in flight.
    pub idle_nanos: Nanos,
    /// Longest write.
    pub slowest_nanos: Nanos,
    /// Moving average of the write time.
    pub average_write_nanos: Nanos,
    /// Moving average of the bytes of a write.
    pub average_write_bytes: u64,
    /// Time in which a write was held back for committers just released.
    pub cohort_wait_nanos: Nanos,
    /// Most writes in flight at once.
    pub most_in_flight: u64,
    /// Extents renamed for reuse.
    pub extents_reused: u64,
    /// Extents made.
    pub extents_made: u64,
    /// Extents removed.
    pub extents_removed: u64,
}

impl LogStatistics {
    /// Mean bytes of a write; 0 before the first.
    pub fn mean_write_bytes(&self) -> u64 {
        self.physical_bytes.checked_div(self.writes).unwrap_or(0)
    }

    /// Physical bytes for each logical byte.
    pub fn amplification(&self) -> f64 {
        self.physical_bytes as f64 / (self.logical_bytes.max(1)) as f64
    }

    /// Share of the time since the first write in which one was in flight, 0 to 1.
    pub fn busy_share(&self) -> f64 {
        self.busy_nanos as f64 / (self.busy_nanos + self.idle_nanos).max(1) as f64
    }
}

/// Follows when writes are in flight.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Since when something is in flight.
    busy_since: Option<Nanos>,
    /// Several writes have been in flight since then.
    shared: bool,
    /// When the last write ended with nothing else in flight.
    idle_since: Option<Nanos>,
}

impl Meter {
    /// A write was given out at `now` as the `in_flight`-th one in flight.
    pub(crate) fn started(&mut self, counts: &mut LogStatistics, in_flight: usize, now: Nanos) {
        counts.most_in_flight = counts.most_in_flight.max(in_flight as u64);
        self.shared |= in_flight > 1;
        self.busy_since.get_or_insert(now);
    }

    /// A write of `bytes` that began at `started` ended at `now`; `in_flight` are still in flight.
    pub(crate) fn ended(
        &mut self,
        counts: &mut LogStatistics,
        bytes: u64,
        started: Nanos,
        now: Nanos,
        in_flight: usize,
    ) {
        let took = now.saturating_sub(started);
        counts.writes += 1;
        counts.physical_bytes += bytes;
        counts.write_nanos += took;
        counts.slowest_nanos = counts.slowest_nanos.max(took);
        counts.average_write_bytes = match counts.average_write_bytes {
            0 => bytes,
            average => average - average / 8 + bytes / 8,
        };
        if let Some(given_out) = self.busy_since.take() {
            // A lone write is busy from its real start; what came before (checksums) is not the device's.
            let since = if self.shared { given_out } else { started };
            counts.busy_nanos += now.saturating_sub(since);
            if let Some(idle) = self.idle_since.take() {
                counts.idle_nanos += since.saturating_sub(idle);
            }
        }
        if in_flight == 0 {
            self.idle_since = Some(now);
            self.shared = false;
        } else {
            self.busy_since = Some(now);
            self.shared = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_writes_are_busy_once() {
        let mut counts = LogStatistics::default();
        let mut meter = Meter::default();
        meter.started(&mut counts, 1, 100);
        meter.started(&mut counts, 2, 150);
        meter.ended(&mut counts, 4096, 100, 200, 1);
        meter.ended(&mut counts, 8192, 150, 250, 0);
        meter.started(&mut counts, 1, 290);
        meter.ended(&mut counts, 4096, 300, 350, 0);
        assert_eq!((counts.busy_nanos, counts.idle_nanos), (200, 50));
        assert_eq!((counts.write_nanos, counts.slowest_nanos), (250, 100));
        assert_eq!((counts.writes, counts.mean_write_bytes()), (3, 5461));
        assert_eq!(counts.most_in_flight, 2);
        assert!((counts.busy_share() - 0.8).abs() < 1e-9);
    }
}
