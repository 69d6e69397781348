//! The lines that are printed, as MQ-CPH has them, and the latency table, which is ours.
//!
//! Invariant: each line is written whole and brought out at once, so that a pipe's reader and a
//! person see it when it is true.

use std::fmt::Write as _;
use std::io::{self, Write};

use hdrhistogram::Histogram;

use crate::measure::now_text;

/// What stands before each line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    /// `id=X,`
    pub(crate) id: Option<String>,
    /// The time.
    pub(crate) time: bool,
}

impl Prefix {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.time {
            let _ = write!(text, "{} ", now_text());
        }
        if let Some(id) = &self.id {
            let _ = write!(text, "id={id},");
        }
        text
    }
}

/// Microseconds of nanoseconds.
fn micros(nanos: f64) -> f64 {
    nanos / 1000.0
}

/// The latency part of a line.
fn short(latency: &Histogram<u64>) -> String {
    if latency.is_empty() {
        return ",avg_latency(uSec)=0,max=0,min=0".to_owned();
    }
    format!(
        ",avg_latency(uSec)={:.0},max={:.0},min={:.0}",
        micros(latency.mean()),
        micros(latency.max() as f64),
        micros(latency.min() as f64)
    )
}

/// A rate line.
pub(crate) fn rate(
    rate: f64,
    threads: u32,
    latency: Option<&Histogram<u64>>,
    each: Option<&[f64]>,
) -> String {
    let mut line = format!("rate={rate:.2},threads={threads}");
    if let Some(latency) = latency {
        line.push_str(&short(latency));
    }
    for rate in each.unwrap_or_default() {
        let _ = write!(line, "\t{rate:.2}");
    }
    line
}

/// The line of totals.
pub(crate) fn totals(iterations: u64, seconds: f64, latency: Option<&Histogram<u64>>) -> String {
    let rate = per_second(iterations, seconds);
    let mut line =
        format!("totalIterations={iterations},totalSeconds={seconds:.2},avgRate={rate:.2}");
    if let Some(latency) = latency {
        line.push_str(&short(latency));
    }
    line
}

/// The line of totals of several processes.
pub(crate) fn job(iterations: u64, seconds: f64, processes: u32) -> String {
    let rate = per_second(iterations, seconds);
    let each = rate / f64::from(processes.max(1));
    format!(
        "totalJobIterations={iterations},maxSeconds={seconds:.2},avgJobRate={rate:.2},avgRatePerProcess={each:.2}"
    )
}

/// Per second; 0 of no time.
pub(crate) fn per_second(number: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => number as f64 / seconds,
        false => 0.0,
    }
}

/// Percentiles, in microseconds, below their names.
pub(crate) fn percentiles(latency: &Histogram<u64>) -> String {
    const SHOWN: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
    let mut names = format!("{:<14}{:>12}", "latency", "samples");
    let mut values = format!("{:<14}{:>12}", "microseconds", latency.len());
    for (name, quantile) in SHOWN {
        let nanos = latency.value_at_quantile(quantile) as f64;
        let _ = write!(names, "{name:>12}");
        let _ = write!(values, "{:>12.1}", micros(nanos));
    }
    let _ = write!(names, "{:>12}", "max");
    let _ = write!(values, "{:>12.1}", micros(latency.max() as f64));
    format!("{names}\n{values}")
}

/// What a process came to, for another process: whole, where the line of totals is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Exact {
    pub(crate) iterations: u64,
    pub(crate) seconds: f64,
    /// The results are partial or incomplete.
    pub(crate) marked: bool,
}

impl Exact {
    pub(crate) fn line(&self) -> String {
        let Exact {
            iterations,
            seconds,
            marked,
        } = self;
        format!("exact={iterations}:{seconds}:{marked}")
    }

    /// What [`Exact::line`] wrote, perhaps behind a prefix.
    pub(crate) fn read(line: &str) -> Option<Exact> {
        let (_, fields) = line.split_once("exact=")?;
        let (iterations, rest) = fields.split_once(':')?;
        let (seconds, marked) = rest.split_once(':')?;
        Some(Exact {
            iterations: iterations.parse().ok()?,
            seconds: seconds.parse().ok()?,
            marked: marked.parse().ok()?,
        })
    }
}

/// A histogram in one line, for another process: `value:count` of everything that was recorded.
pub(crate) fn histogram(latency: &Histogram<u64>) -> String {
    let mut line = "histogram=".to_owned();
    for (place, value) in latency.iter_recorded().enumerate() {
        if place > 0 {
            line.push(',');
        }
        let _ = write!(
            line,
            "{}:{}",
            value.value_iterated_to(),
            value.count_at_value()
        );
    }
    line
}

/// Adds what [`histogram`] wrote; whether it was that.
pub(crate) fn add_histogram(text: &str, to: &mut Histogram<u64>) -> bool {
    text.split(',').filter(|pair| !pair.is_empty()).all(|pair| {
        let Some((value, count)) = pair.split_once(':') else {
            return false;
        };
        match (value.parse(), count.parse()) {
            (Ok(value), Ok(count)) => to.record_n(value, count).is_ok(),
            _ => false,
        }
    })
}

/// Standard output. Whoever reads it may go; then the run goes on for its effect.
pub(crate) struct Printer<W: Write> {
    out: W,
    prefix: Prefix,
}

impl Printer<io::Stdout> {
    /// To standard output.
    pub(crate) fn stdout(prefix: Prefix) -> Printer<io::Stdout> {
        Printer {
            out: io::stdout(),
            prefix,
        }
    }
}

impl<W: Write> Printer<W> {
    /// A line behind the prefix.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        let line = format!("{}{text}", self.prefix.text());
        self.plain(&line)
    }

    /// Lines as they are.
    pub(crate) fn plain(&mut self, text: &str) -> io::Result<()> {
        let written = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 600_000_000_000, 3).unwrap();
        for value in values {
            histogram.record(*value).unwrap();
        }
        histogram
    }

    #[test]
    fn lines_are_those_of_mq_cph() {
        assert_eq!(rate(1234.5, 4, None, None), "rate=1234.50,threads=4");
        assert_eq!(
            totals(100, 8.0, None),
            "totalIterations=100,totalSeconds=8.00,avgRate=12.50"
        );
        assert_eq!(
            totals(0, 0.0, None),
            "totalIterations=0,totalSeconds=0.00,avgRate=0.00"
        );
        assert_eq!(
            job(300, 10.0, 2),
            "totalJobIterations=300,maxSeconds=10.00,avgJobRate=30.00,avgRatePerProcess=15.00"
        );
    }

    #[test]
    fn latency_and_each_application_follow_the_rate() {
        let latency = recorded(&[1_000, 3_000]);
        assert_eq!(
            rate(2.0, 1, Some(&latency), Some(&[1.0, 0.5])),
            "rate=2.00,threads=1,avg_latency(uSec)=2,max=3,min=1\t1.00\t0.50"
        );
        let empty = recorded(&[]);
        assert!(rate(0.0, 1, Some(&empty), None).ends_with("=0,max=0,min=0"));
    }

    #[test]
    fn percentiles_are_aligned() {
        let values: Vec<u64> = (1..=1000).map(|value| value * 1000).collect();
        let table = percentiles(&recorded(&values));
        let expected = "\
latency            samples         p50         p90         p99       p99.9         max
microseconds          1000       500.2       900.1       990.2       999.4      1000.4";
        assert_eq!(table, expected);
    }

    #[test]
    fn lines_have_their_prefix() {
        let mut out = Vec::new();
        let mut printer = Printer {
            out: &mut out,
            prefix: Prefix {
                id: Some("3".to_owned()),
                time: false,
            },
        };
        printer.line("rate=1.00,threads=1").unwrap();
        printer.plain("as it is").unwrap();
        assert_eq!(out, b"id=3,rate=1.00,threads=1\nas it is\n");
    }

    #[test]
    fn totals_survive_the_way_to_another_process() {
        let exact = Exact {
            iterations: u64::MAX,
            seconds: 0.1 + 0.2,
            marked: true,
        };
        assert_eq!(Exact::read(&format!("id=1,{}", exact.line())), Some(exact));
        for wrong in [
            "",
            "exact=1",
            "exact=1:2",
            "exact=a:2:true",
            "exact=1:2:maybe",
        ] {
            assert_eq!(Exact::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_histogram_survives_the_way_to_another_process() {
        let original = recorded(&[1, 999, 12_345, 12_345, 7_000_000_000]);
        let line = histogram(&original);
        let mut copy = recorded(&[]);
        assert!(add_histogram(
            line.strip_prefix("histogram=").unwrap(),
            &mut copy
        ));
        assert_eq!(copy, original);
        assert!(add_histogram("", &mut copy));
        for wrong in ["1", "a:1", "1:b", "1:2,x"] {
            assert!(!add_histogram(wrong, &mut copy), "{wrong}");
        }
    }
}
