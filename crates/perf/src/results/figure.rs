//! Figures of a case: what is computed from its rounds, and shown in tables, charts and goals.
//!
//! Invariant: a ratio is formed within a round, where case and floor were measured one after the other, and the
//! median is taken of the ratios: so a machine that changes its speed between rounds does not move it.

use serde::{Deserialize, Serialize};

use super::{Case, Latency, Round};
use crate::quantity::{count, fixed, shown_size};

/// Which figure of a case. Results files name some of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    /// Server CPU per operation, µs.
    ServerCpu,
    /// Client CPU per operation, µs.
    ClientCpu,
    /// Operations per second.
    Rate,
    /// Latencies, µs.
    P50,
    P99,
    P999,
    /// Bytes of log records per operation.
    LogBytes,
    /// Mean size of a log write, bytes, and time of one, µs.
    LogWriteSize,
    LogWriteTime,
    /// Megabytes (10⁶) per second written to the log.
    LogRate,
    /// Resident memory of the server, bytes.
    Memory,
    /// One of the named values of a round.
    Value(String),
}

/// The median; the mean of the middle two where there are two; none of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let above = sorted.get(sorted.len() / 2)?;
    let below = sorted.get((sorted.len() - 1) / 2)?;
    // Halved first: the sum of two large figures may be none.
    Some(below / 2.0 + above / 2.0)
}

/// A median with the least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) greatest: f64,
}

impl Figure {
    /// A value of this kind, with its unit.
    pub(crate) fn show(&self, value: f64) -> String {
        match self {
            Figure::ServerCpu | Figure::ClientCpu => format!("{} µs", fixed(value, 1)),
            Figure::Rate => format!("{}/s", count(value)),
            Figure::Value(name) => {
                let unit = name.rsplit_once(", ").map_or("", |(_, unit)| unit);
                format!("{} {unit}", fixed(value, 2))
            }
            _ => format!("{} µs", fixed(value, 0)),
        }
    }

    /// A value as it stands in a column that says what it is.
    pub(crate) fn cell(&self, value: f64) -> String {
        match self {
            Figure::ServerCpu | Figure::ClientCpu => fixed(value, 2),
            Figure::LogRate => fixed(value, 1),
            Figure::LogWriteSize | Figure::Memory => shown_size(value),
            Figure::Value(_) if value.fract() != 0.0 => fixed(value, 3),
            _ => fixed(value, 0),
        }
    }

    /// Its value in a round; what was not measured is absent.
    pub(crate) fn of(&self, round: &Round) -> Option<f64> {
        let per = |grown: Option<u64>| {
            let grown = grown.filter(|_| round.operations > 0)?;
            Some(grown as f64 / round.operations as f64)
        };
        let counter = |name: &str| round.counters.get(name).copied();
        let a_write = |name| {
            let writes = counter("log.writes").filter(|writes| *writes > 0)?;
            Some(counter(name)? as f64 / writes as f64)
        };
        let latency = |pick: fn(&Latency) -> u64| {
            let latency = round.latency.as_ref();
            latency.map(|latency| pick(latency) as f64 / 1000.0)
        };
        let a_second = |amount| (round.seconds > 0.0).then(|| amount / round.seconds);
        match self {
            Figure::ServerCpu => per(round.server_cpu_ns).map(|ns| ns / 1000.0),
            Figure::ClientCpu => per(round.client_cpu_ns).map(|ns| ns / 1000.0),
            Figure::Rate => a_second(round.operations as f64).filter(|rate| *rate > 0.0),
            Figure::P50 => latency(|latency| latency.p50),
            Figure::P99 => latency(|latency| latency.p99),
            Figure::P999 => latency(|latency| latency.p999),
            Figure::LogBytes => per(counter("log.logical_bytes")),
            Figure::LogWriteSize => a_write("log.physical_bytes"),
            Figure::LogWriteTime => a_write("log.write_ns").map(|ns| ns / 1000.0),
            Figure::LogRate => a_second(counter("log.physical_bytes")? as f64 / 1e6),
            Figure::Memory => round.resident_bytes.map(|bytes| bytes as f64),
            Figure::Value(name) => round.values.get(name).copied(),
        }
    }

    /// Its median over the rounds of a case.
    pub(crate) fn median(&self, case: &Case) -> Option<f64> {
        let values = case.rounds.iter().filter_map(|round| self.of(round));
        median(&values.collect::<Vec<f64>>())
    }

    /// The ratios to another case's within the rounds.
    pub(crate) fn ratio(&self, case: &Case, floor: Option<&Case>) -> Option<Spread> {
        let floor = floor?;
        // Processor time with the applications in it does not compare with one without.
        if *self == Figure::ServerCpu && floor.with_applications != case.with_applications {
            return None;
        }
        let ratios = case.rounds.iter().filter_map(|round| {
            let same = floor.rounds.iter().find(|other| other.round == round.round);
            let below = self.of(same?).filter(|below| *below > 0.0)?;
            Some(self.of(round)? / below)
        });
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        Some(Spread {
            median: median(&ratios)?,
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{document, round};
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [
            (&[][..], None),
            (&[3.0], Some(3.0)),
            (&[9.0, 1.0], Some(5.0)),
            (&[9.0, 1.0, 2.0], Some(2.0)),
            (&[1e308, 1.2e308], Some(1.1e308)),
            (&[4.0, f64::NAN, 1.0, 2.0, 3.0], Some(2.5)),
        ] {
            assert_eq!(median(values), expected);
        }
    }

    #[test]
    fn ratios_are_of_the_same_round_and_the_same_account() {
        let mut document = document();
        let ratio = |document: &super::super::Document, figure: Figure| {
            let case = &document.cases[2];
            figure.ratio(case, document.floor(case))
        };
        // 15/10, 40/25, 17/10: the machine was slow in the second round.
        let cpu = ratio(&document, Figure::ServerCpu).unwrap();
        assert_eq!((cpu.least, cpu.greatest), (1.5, 1.7));
        assert!((cpu.median - 1.6).abs() < 1e-9);
        let medians = [Figure::ServerCpu, Figure::Rate, Figure::P50];
        let medians = medians.map(|figure| figure.median(&document.cases[2]).unwrap());
        assert_eq!(medians, [17.0, 50_000.0, 500.0]);
        document.cases[2].with_applications = true;
        assert_eq!(ratio(&document, Figure::ServerCpu), None);
        assert!(ratio(&document, Figure::Rate).is_some());
        document.cases[0].with_applications = true;
        assert!(ratio(&document, Figure::ServerCpu).is_some());
    }

    #[test]
    fn log_figures_come_from_the_counters_and_what_was_not_measured_is_absent() {
        let mut case = document().cases.remove(2);
        case.rounds.truncate(1);
        for (name, grown) in [
            ("log.logical_bytes", 6_000_000),
            ("log.physical_bytes", 8_192_000),
            ("log.writes", 1_000),
            ("log.write_ns", 30_000_000),
        ] {
            case.rounds[0].counters.insert(name.to_owned(), grown);
        }
        let figures = [
            Figure::LogBytes,
            Figure::LogWriteSize,
            Figure::LogWriteTime,
            Figure::LogRate,
        ];
        let found = figures.clone().map(|figure| figure.median(&case).unwrap());
        assert_eq!(found, [100.0, 8192.0, 30.0, 8.192]);
        case.rounds = vec![round(1, 0, 0), round(2, 0, 0)];
        for figure in figures
            .iter()
            .chain(&[Figure::Rate, Figure::ServerCpu, Figure::P50])
        {
            assert_eq!(figure.median(&case), None, "{figure:?}");
        }
    }
}
