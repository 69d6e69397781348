//! The lines that are printed, as MQ-CPH has them, and the latency table, which is ours.
//!
//! Invariant: each line is written whole and brought out at once, so that a pipe's reader and a
//! person see it when it is true.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use hdrhistogram::Histogram;
use posthaste_server::Failure;
use serde::{Deserialize, Serialize};

use super::failure;
use super::flags::OutputFlags;
use crate::measure::{histogram, now_text, recorded};
use crate::terminal;

/// What a process says to the one that started it stands behind this.
const SUM: &str = "sum=";

/// The latency part of a line, if it is asked for, in microseconds.
fn latency_part(latency: &Histogram<u64>, flags: &OutputFlags) -> String {
    let [mean, max, min] = match latency.is_empty() {
        true => [0.0; 3],
        false => [latency.mean(), latency.max() as f64, latency.min() as f64],
    };
    let [mean, max, min] = [mean, max, min].map(|nanos| nanos / 1000.0);
    match flags.latency {
        true => format!(",avg_latency(uSec)={mean:.0},max={max:.0},min={min:.0}"),
        false => String::new(),
    }
}

/// A rate line.
pub(super) fn rate(
    flags: &OutputFlags,
    rate: f64,
    threads: u32,
    latency: &Histogram<u64>,
    each: &[f64],
) -> String {
    let mut line = format!("rate={rate:.2},threads={threads}");
    line.push_str(&latency_part(latency, flags));
    if flags.each {
        for rate in each {
            let _ = write!(line, "\t{rate:.2}");
        }
    }
    line
}

/// Per second; 0 of no time.
pub(super) fn per_second(number: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => number as f64 / seconds,
        false => 0.0,
    }
}

/// What a run came to: rounded in its line of totals, whole for the process that adds several up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub(super) iterations: u64,
    pub(super) seconds: f64,
    /// How often something went wrong.
    pub(super) failed: u64,
    /// Applications ended before they were to.
    pub(super) partial: bool,
    /// In nanoseconds.
    #[serde(with = "recorded")]
    pub(super) latency: Histogram<u64>,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            iterations: 0,
            seconds: 0.0,
            failed: 0,
            partial: false,
            latency: histogram(),
        }
    }
}

impl Sum {
    /// For another process.
    pub(super) fn whole(&self) -> String {
        format!("{SUM}{}", serde_json::json!(self))
    }

    /// What [`Sum::whole`] wrote.
    pub(super) fn read(line: &str) -> Option<Sum> {
        serde_json::from_str(line.strip_prefix(SUM)?).ok()
    }

    /// Whether results are to be marked.
    pub(super) fn is_marked(&self) -> bool {
        self.partial || self.failed > 0
    }

    /// Adds latencies.
    pub(super) fn record(&mut self, latency: &Histogram<u64>) {
        // Bounds are the same everywhere, so nothing is lost.
        let _ = self.latency.add(latency);
    }

    /// The line of totals.
    pub(super) fn totals(&self, flags: &OutputFlags) -> String {
        let rate = per_second(self.iterations, self.seconds);
        let latency = latency_part(&self.latency, flags);
        format!(
            "totalIterations={},totalSeconds={:.2},avgRate={rate:.2}{latency}",
            self.iterations, self.seconds
        )
    }

    /// The line of totals of several processes.
    pub(super) fn job(&self, processes: usize) -> String {
        let rate = per_second(self.iterations, self.seconds);
        let each = rate / processes.max(1) as f64;
        format!(
            "totalJobIterations={},maxSeconds={:.2},avgJobRate={rate:.2},avgRatePerProcess={each:.2}",
            self.iterations, self.seconds
        )
    }

    /// Percentiles, in microseconds, below their names.
    pub(super) fn percentiles(&self) -> String {
        const SHOWN: [(&str, f64); 5] = [
            ("p50", 0.5),
            ("p90", 0.9),
            ("p99", 0.99),
            ("p99.9", 0.999),
            ("max", 1.0),
        ];
        let latency = &self.latency;
        let mut names = format!("{:<14}{:>12}", "latency", "samples");
        let mut values = format!("{:<14}{:>12}", "microseconds", latency.len());
        for (name, quantile) in SHOWN {
            let micros = latency.value_at_quantile(quantile) as f64 / 1000.0;
            let _ = write!(names, "{name:>12}");
            let _ = write!(values, "{micros:>12.1}");
        }
        format!("{names}\n{values}")
    }
}

/// Prints a line behind what is to stand before each.
pub(super) fn line(flags: &OutputFlags, text: &str) -> Result<(), Failure> {
    let time = (flags.time_stamps > 0).then(|| format!("{} ", now_text()));
    let id = flags.id.as_ref().map(|id| format!("id={id},"));
    let (time, id) = (time.unwrap_or_default(), id.unwrap_or_default());
    plain(&format!("{time}{id}{text}"))
}

/// Prints lines as they are. Whoever reads them may go; then the run goes on for its effect.
pub(super) fn plain(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failure::system("standard output cannot be written", &error))
        }
        _ => Ok(()),
    }
}

/// A note on standard error, unless they are not wanted.
pub(super) fn note(flags: &OutputFlags, text: &str) {
    if flags.verbosity >= 3 {
        terminal::note(&format!("{text}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::read;
    use super::*;

    fn latencies(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut all = histogram();
        for value in values {
            all.record(value).unwrap();
        }
        all
    }

    #[test]
    fn lines_are_those_of_mq_cph() {
        let plain = read("-tc Sender").unwrap().output;
        let full = read("-tc Sender -ls -sp").unwrap().output;
        let latency = latencies([1_000, 3_000]);
        let line = rate(&plain, 1234.5, 4, &latency, &[2.0]);
        assert_eq!(line, "rate=1234.50,threads=4");
        assert_eq!(
            rate(&full, 2.0, 1, &latency, &[1.0, 0.5]),
            "rate=2.00,threads=1,avg_latency(uSec)=2,max=3,min=1\t1.00\t0.50"
        );
        assert!(rate(&full, 0.0, 1, &histogram(), &[]).ends_with("=0,max=0,min=0"));
        let mut sum = Sum {
            iterations: 300,
            seconds: 8.0,
            ..Sum::default()
        };
        assert_eq!(
            sum.totals(&plain),
            "totalIterations=300,totalSeconds=8.00,avgRate=37.50"
        );
        assert_eq!(
            sum.job(2),
            "totalJobIterations=300,maxSeconds=8.00,avgJobRate=37.50,avgRatePerProcess=18.75"
        );
        sum.record(&latency);
        assert!(
            sum.totals(&full)
                .ends_with(",avg_latency(uSec)=2,max=3,min=1")
        );
        assert!(Sum::default().job(0).ends_with("avgRatePerProcess=0.00"));
    }

    #[test]
    fn percentiles_are_aligned() {
        let mut sum = Sum::default();
        sum.record(&latencies((1..=1000).map(|value| value * 1000)));
        let expected = "\
latency            samples         p50         p90         p99       p99.9         max
microseconds          1000       500.2       900.1       990.2       999.4      1000.4";
        assert_eq!(sum.percentiles(), expected);
    }

    #[test]
    fn a_sum_survives_the_way_to_another_process() {
        let mut sum = Sum {
            iterations: u64::MAX,
            seconds: 0.1 + 0.2,
            failed: 1,
            ..Sum::default()
        };
        sum.record(&latencies([1, 999, 12_345, 12_345, 7_000_000_000]));
        assert_eq!(Sum::read(&sum.whole()).as_ref(), Some(&sum));
        for wrong in ["", "sum=", "sum={}", "id=1,rate=2"] {
            assert_eq!(Sum::read(wrong), None, "{wrong}");
        }
    }
}
