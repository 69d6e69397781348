//! A figure that is to be reached, and whether it was.
//!
//! Machines change their speed, so a goal is a ratio to the floor of the same round wherever it can be. A goal in
//! absolute figures is meant for a machine on which the bare exchange costs its server [`REFERENCE_US`] of CPU; on
//! a slower one it is scaled down in proportion, and the row says so. It is never scaled up. CPU and not the rate
//! is taken, because other load on the machine takes from the rate without making the processors slower.

use serde::{Deserialize, Serialize};

use super::summary::{Spread, Summary, median};
use super::{Case, Document, Round, summarise};
use crate::quantity::{count, fixed};

/// Server CPU of the bare exchange with 60 requesters on the machine that absolute goals are for, µs.
pub(crate) const REFERENCE_US: f64 = 9.1;

/// Which figure of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    /// Server CPU per operation, µs.
    ServerCpu,
    /// Operations per second.
    Rate,
    /// Median latency, µs.
    P50,
    /// One of the named values of a round.
    Value(String),
}

impl Figure {
    /// A value of this kind, with its unit.
    pub(crate) fn show(&self, value: f64) -> String {
        match self {
            Figure::ServerCpu => format!("{} µs", fixed(value, 1)),
            Figure::Rate => format!("{}/s", count(value)),
            Figure::P50 => format!("{} µs", fixed(value, 0)),
            Figure::Value(name) => format!("{} {}", fixed(value, 2), unit(name)),
        }
    }

    fn of(&self, round: &Round) -> Option<f64> {
        match self {
            Figure::ServerCpu => round.server_us(),
            Figure::Rate => round.rate(),
            Figure::P50 => round.p50_us(),
            Figure::Value(name) => round.values.get(name).copied(),
        }
    }

    fn ratio(&self, summary: &Summary) -> Option<Spread> {
        match self {
            Figure::ServerCpu => summary.cpu_ratio,
            Figure::Rate => summary.rate_ratio,
            Figure::P50 => summary.p50_ratio,
            Figure::Value(_) => None,
        }
    }
}

/// The unit in a value's name: "restart, s" has the unit "s".
fn unit(name: &str) -> &str {
    name.rsplit_once(", ").map_or("", |(_, unit)| unit)
}

/// What a figure has to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::enum_variant_names,
    reason = "at most, at least; and these are the names in results files"
)]
pub(crate) enum Bound {
    /// At most so many times the floor's.
    AtMostTimesFloor(f64),
    /// At least so many times the floor's.
    AtLeastTimesFloor(f64),
    /// At least so many times that of another case.
    AtLeastTimesCase(f64, String),
    /// At least so much on the reference machine.
    AtLeast(f64),
}

/// A goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Goal {
    /// What is measured, in words.
    pub(crate) measure: String,
    /// Where: a case of the same document.
    pub(crate) case: String,
    /// Which figure of it.
    pub(crate) figure: Figure,
    /// What it has to be.
    pub(crate) bound: Bound,
}

/// A goal beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    /// What is measured.
    pub(crate) measure: String,
    /// What was to be reached.
    pub(crate) target: String,
    /// What was measured, or why it was not.
    pub(crate) measured: String,
    /// The floor's figure, if there is one.
    pub(crate) floor: String,
    /// The ratio that was judged, with its range over the rounds.
    pub(crate) ratio: String,
    /// Whether it was reached; none if it was not measured.
    pub(crate) met: Option<bool>,
}

impl Goal {
    /// Whether it was reached in `document`.
    pub(crate) fn judge(&self, document: &Document) -> Judged {
        let case = document.case(&self.case);
        let floor = case
            .and_then(|case| case.floor.as_deref())
            .and_then(|name| document.case(name));
        let middle = |case: Option<&Case>| {
            let rounds = case.map(|case| case.rounds.as_slice()).unwrap_or_default();
            let values: Vec<f64> = rounds.iter().filter_map(|r| self.figure.of(r)).collect();
            median(&values)
        };
        let (ratio, target, bound) = self.compare(document, case);
        let measured = middle(case);
        let met = match &self.bound {
            Bound::AtLeast(_) => measured.map(|measured| measured >= bound),
            Bound::AtMostTimesFloor(_) => ratio.map(|ratio| ratio.median <= bound),
            Bound::AtLeastTimesFloor(_) | Bound::AtLeastTimesCase(..) => {
                ratio.map(|ratio| ratio.median >= bound)
            }
        };
        let none = || "–".to_owned();
        Judged {
            measure: self.measure.clone(),
            target,
            measured: measured.map_or_else(
                || "not measured".to_owned(),
                |measured| self.figure.show(measured),
            ),
            floor: middle(floor).map_or_else(none, |floor| self.figure.show(floor)),
            ratio: ratio.map_or_else(none, |ratio| {
                format!(
                    "{} ({}–{})",
                    fixed(ratio.median, 2),
                    fixed(ratio.least, 2),
                    fixed(ratio.greatest, 2)
                )
            }),
            met,
        }
    }

    /// The ratio that counts, the target in words, and the bound.
    fn compare(&self, document: &Document, case: Option<&Case>) -> (Option<Spread>, String, f64) {
        let to_floor = case.and_then(|case| self.figure.ratio(&summarise(document, case)));
        match &self.bound {
            Bound::AtMostTimesFloor(bound) => {
                (to_floor, format!("≤ {bound} × the bare exchange"), *bound)
            }
            Bound::AtLeastTimesFloor(bound) => {
                (to_floor, format!("≥ {bound} × the bare exchange"), *bound)
            }
            Bound::AtLeastTimesCase(bound, other) => {
                let against = case.map(|case| Case {
                    floor: Some(other.clone()),
                    ..case.clone()
                });
                let ratio = against.and_then(|case| self.figure.ratio(&summarise(document, &case)));
                (ratio, format!("≥ {bound} × {other}"), *bound)
            }
            Bound::AtLeast(bound) => {
                let speed = speed(document);
                let target = match speed < 1.0 {
                    true => format!(
                        "≥ {} (here ≥ {}: the processors run at {} % of the reference)",
                        self.figure.show(*bound),
                        self.figure.show(bound * speed),
                        fixed(speed * 100.0, 0)
                    ),
                    false => format!("≥ {}", self.figure.show(*bound)),
                };
                (to_floor, target, bound * speed)
            }
        }
    }
}

/// The machine's speed as a share of the reference's, at most 1.
fn speed(document: &Document) -> f64 {
    let reference = document.case(REFERENCE_CASE);
    let rounds = reference.map(|case| case.rounds.as_slice());
    let costs: Vec<f64> = rounds
        .unwrap_or_default()
        .iter()
        .filter_map(Round::server_us)
        .collect();
    let cost = median(&costs).filter(|us| *us > 0.0);
    cost.map_or(1.0, |us| (REFERENCE_US / us).min(1.0))
}

/// The case that the machine's speed is taken from.
pub(crate) const REFERENCE_CASE: &str = "bare exchange 60";

#[cfg(test)]
mod tests {
    use super::super::samples::document;
    use super::*;

    fn judged(figure: Figure, case: &str, bound: Bound) -> Judged {
        let goal = Goal {
            measure: "m".to_owned(),
            case: case.to_owned(),
            figure,
            bound,
        };
        goal.judge(&document())
    }

    #[test]
    fn ratios_to_the_floor_are_judged_by_their_median() {
        let case = "2 KiB NP 60";
        let row = judged(Figure::ServerCpu, case, Bound::AtMostTimesFloor(1.6));
        assert_eq!(row.target, "≤ 1.6 × the bare exchange");
        assert_eq!(
            (row.measured.as_str(), row.floor.as_str()),
            ("17.0 µs", "10.0 µs")
        );
        assert_eq!(row.ratio, "1.60 (1.50–1.70)");
        assert_eq!(row.met, Some(true));
        let row = judged(Figure::ServerCpu, case, Bound::AtMostTimesFloor(1.59));
        assert_eq!(row.met, Some(false));
        let row = judged(Figure::Rate, case, Bound::AtLeastTimesFloor(0.65));
        assert_eq!(
            (row.ratio.as_str(), row.met),
            ("0.62 (0.54–0.65)", Some(false))
        );
    }

    #[test]
    fn absolute_goals_shrink_with_the_machine_and_never_grow() {
        let judged_at = |floor_us: u64, bound: f64| {
            let mut document = document();
            for round in &mut document.cases[0].rounds {
                round.server_cpu_ns = Some(round.operations * floor_us * 100);
            }
            let goal = Goal {
                measure: String::new(),
                case: "2 KiB NP 60".to_owned(),
                figure: Figure::Rate,
                bound: Bound::AtLeast(bound),
            };
            goal.judge(&document)
        };
        // In tenths of a microsecond: the reference machine, one twice as slow, one twice as fast.
        let row = judged_at(91, 50_000.0);
        assert_eq!((row.target.as_str(), row.met), ("≥ 50,000/s", Some(true)));
        let row = judged_at(182, 100_000.0);
        assert_eq!(
            row.target,
            "≥ 100,000/s (here ≥ 50,000/s: the processors run at 50 % of the reference)"
        );
        assert_eq!(row.met, Some(true));
        assert_eq!(judged_at(182, 100_002.0).met, Some(false));
        let row = judged_at(45, 50_001.0);
        assert_eq!((row.target.as_str(), row.met), ("≥ 50,001/s", Some(false)));
    }

    #[test]
    fn cases_are_compared_and_missing_ones_are_told() {
        let bound = Bound::AtLeastTimesCase(0.95, "bare exchange 60".to_owned());
        let row = judged(Figure::Rate, "2 KiB NP 60", bound);
        assert_eq!(row.target, "≥ 0.95 × bare exchange 60");
        assert_eq!(row.met, Some(false));
        let row = judged(Figure::P50, "nowhere", Bound::AtMostTimesFloor(1.6));
        assert_eq!((row.measured.as_str(), row.met), ("not measured", None));
        let row = judged(Figure::P50, "2 KiB NP 1", Bound::AtMostTimesFloor(1.6));
        assert_eq!((row.measured.as_str(), row.met), ("500 µs", None));
    }
}
