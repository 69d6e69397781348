//! Medians over rounds, and ratios to the floor.
//!
//! Invariant: a ratio is formed within a round, where case and floor were measured one after the other, and the
//! median is taken of the ratios: so a machine that changes its speed between rounds does not move it.

use std::collections::BTreeMap;

use super::{Case, Document, Round};

/// The median; the mean of the middle two where there are two; none of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted.get(middle).copied(),
        _ => {
            let below = sorted.get(middle.checked_sub(1)?)?;
            // Halved first: the sum of two large figures may be none.
            Some(below / 2.0 + sorted.get(middle)? / 2.0)
        }
    }
}

/// A median with the least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The median.
    pub(crate) median: f64,
    /// The least.
    pub(crate) least: f64,
    /// The greatest.
    pub(crate) greatest: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Spread> {
        let whole = || values.iter().copied().filter(|value| value.is_finite());
        Some(Spread {
            median: median(values)?,
            least: whole().fold(f64::INFINITY, f64::min),
            greatest: whole().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// A case in figures. What was not measured is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// Rounds.
    pub(crate) rounds: usize,
    /// Operations per second.
    pub(crate) rate: Option<Spread>,
    /// Server CPU per operation, µs.
    pub(crate) server_us: Option<Spread>,
    /// Client CPU per operation, µs.
    pub(crate) client_us: Option<Spread>,
    /// Latency: median, 90 %, 99 %, 99.9 %, longest, µs; each the median over the rounds.
    pub(crate) latency_us: Option<[f64; 5]>,
    /// Bytes of log records per operation.
    pub(crate) log_bytes: Option<f64>,
    /// Bytes written to the log per operation.
    pub(crate) log_physical: Option<f64>,
    /// Mean size of a log write, bytes.
    pub(crate) log_write_bytes: Option<f64>,
    /// Mean time of a log write, µs.
    pub(crate) log_write_us: Option<f64>,
    /// Megabytes (10⁶) per second written to the log.
    pub(crate) log_mb_s: Option<f64>,
    /// Resident memory of the server, bytes.
    pub(crate) resident: Option<f64>,
    /// Server CPU per operation as a multiple of the floor's.
    pub(crate) cpu_ratio: Option<Spread>,
    /// Rate as a multiple of the floor's.
    pub(crate) rate_ratio: Option<Spread>,
    /// Median latency as a multiple of the floor's.
    pub(crate) p50_ratio: Option<Spread>,
    /// The named values.
    pub(crate) values: BTreeMap<String, f64>,
}

impl Round {
    /// Operations per second.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0 && self.operations > 0).then(|| self.operations as f64 / self.seconds)
    }

    fn per_operation(&self, nanos: Option<u64>) -> Option<f64> {
        (self.operations > 0)
            .then(|| nanos.map(|ns| ns as f64 / 1000.0 / self.operations as f64))?
    }

    /// Server CPU per operation, µs.
    pub(crate) fn server_us(&self) -> Option<f64> {
        self.per_operation(self.server_cpu_ns)
    }

    /// Client CPU per operation, µs.
    pub(crate) fn client_us(&self) -> Option<f64> {
        self.per_operation(self.client_cpu_ns)
    }

    /// Median latency, µs.
    pub(crate) fn p50_us(&self) -> Option<f64> {
        self.latency.map(|latency| latency.p50 as f64 / 1000.0)
    }

    /// One counter by another; none if the second did not move.
    fn quotient(&self, above: &str, below: &str) -> Option<f64> {
        let below = self.counters.get(below).copied().filter(|n| *n > 0)?;
        let above = self.counters.get(above).copied()?;
        Some(above as f64 / below as f64)
    }

    fn counter_per_operation(&self, name: &str) -> Option<f64> {
        let grown = self.counters.get(name).copied()?;
        (self.operations > 0).then(|| grown as f64 / self.operations as f64)
    }
}

/// The median of each named value.
fn values(case: &Case) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, value) in case.rounds.iter().flat_map(|round| &round.values) {
        all.entry(name).or_default().push(*value);
    }
    let middle = |(name, values): (&String, Vec<f64>)| Some((name.clone(), median(&values)?));
    all.into_iter().filter_map(middle).collect()
}

/// The figures of a case of a document.
pub(crate) fn summarise(document: &Document, case: &Case) -> Summary {
    let floor = case.floor.as_deref().and_then(|name| document.case(name));
    let all = |figure: &dyn Fn(&Round) -> Option<f64>| -> Vec<f64> {
        case.rounds.iter().filter_map(figure).collect()
    };
    let middle = |figure: &dyn Fn(&Round) -> Option<f64>| median(&all(figure));
    let ratio = |figure: &dyn Fn(&Round) -> Option<f64>| {
        let pairs = case.rounds.iter().filter_map(|round| {
            let same = |other: &&Round| other.round == round.round;
            let below = floor?.rounds.iter().find(same).and_then(figure)?;
            (below > 0.0).then(|| figure(round).map(|above| above / below))?
        });
        Spread::of(&pairs.collect::<Vec<f64>>())
    };
    // Processor time with the applications in it does not compare with one without.
    let same_account = floor.is_some_and(|f| f.with_applications == case.with_applications);
    let latency = |pick: fn(&super::Latency) -> u64| {
        middle(&|round| round.latency.as_ref().map(|l| pick(l) as f64 / 1000.0))
    };
    let latency_us = || {
        Some([
            latency(|l| l.p50)?,
            latency(|l| l.p90)?,
            latency(|l| l.p99)?,
            latency(|l| l.p999)?,
            latency(|l| l.max)?,
        ])
    };
    Summary {
        rounds: case.rounds.len(),
        rate: Spread::of(&all(&Round::rate)),
        server_us: Spread::of(&all(&Round::server_us)),
        client_us: Spread::of(&all(&Round::client_us)),
        latency_us: latency_us(),
        log_bytes: middle(&|round| round.counter_per_operation("log.logical_bytes")),
        log_physical: middle(&|round| round.counter_per_operation("log.physical_bytes")),
        log_write_bytes: middle(&|round| round.quotient("log.physical_bytes", "log.writes")),
        log_write_us: middle(&|round| Some(round.quotient("log.write_ns", "log.writes")? / 1000.0)),
        log_mb_s: middle(&|round| {
            let bytes = round.counters.get("log.physical_bytes").copied()?;
            (round.seconds > 0.0).then(|| bytes as f64 / 1e6 / round.seconds)
        }),
        resident: middle(&|round| round.resident_bytes.map(|bytes| bytes as f64)),
        cpu_ratio: ratio(&Round::server_us).filter(|_| same_account),
        rate_ratio: ratio(&Round::rate),
        p50_ratio: ratio(&Round::p50_us),
        values: values(case),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{document, round};
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[1e308, 1.2e308]), Some(1.1e308));
        assert_eq!(median(&[4.0, f64::NAN, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let document = document();
        let case = document.case("2 KiB NP 60").unwrap();
        let summary = summarise(&document, case);
        // 15/10, 40/25, 17/10: the machine was slow in the second round.
        let ratio = summary.cpu_ratio.unwrap();
        assert_eq!((ratio.least, ratio.greatest), (1.5, 1.7));
        assert!((ratio.median - 1.6).abs() < 1e-9);
        assert_eq!(summary.server_us.unwrap().median, 17.0);
        assert_eq!(summary.rate.unwrap().median, 50_000.0);
        assert_eq!(summary.latency_us.unwrap()[0], 500.0);
    }

    #[test]
    fn processor_time_with_applications_has_no_ratio_to_one_without() {
        let mut document = document();
        document.cases[2].with_applications = true;
        let summary = summarise(&document, &document.cases[2]);
        assert_eq!(summary.cpu_ratio, None);
        assert!(summary.rate_ratio.is_some() && summary.server_us.is_some());
        document.cases[0].with_applications = true;
        assert!(summarise(&document, &document.cases[2]).cpu_ratio.is_some());
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        let mut document = document();
        let case = document.cases.last_mut().unwrap();
        case.rounds = vec![round(1, 0, 0), round(2, 0, 0)];
        let summary = summarise(&document, document.cases.last().unwrap());
        assert_eq!((summary.rate, summary.server_us), (None, None));
        assert_eq!((summary.cpu_ratio, summary.log_write_us), (None, None));
        assert_eq!(summary.rounds, 2);
    }

    #[test]
    fn log_figures_come_from_the_counters() {
        let mut document = document();
        let case = document.cases.last_mut().unwrap();
        for (name, grown) in [
            ("log.logical_bytes", 6_000_000),
            ("log.physical_bytes", 8_192_000),
            ("log.writes", 1_000),
            ("log.write_ns", 30_000_000),
        ] {
            case.rounds[0].counters.insert(name.to_owned(), grown);
        }
        case.rounds.truncate(1);
        let summary = summarise(&document, document.cases.last().unwrap());
        assert_eq!(summary.log_bytes, Some(100.0));
        assert_eq!(summary.log_write_bytes, Some(8192.0));
        assert_eq!(summary.log_write_us, Some(30.0));
        assert_eq!(summary.log_mb_s, Some(8.192));
    }
}
