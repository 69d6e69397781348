//! A figure that is to be reached, and whether it was.
//!
//! Machines change their speed, so a goal is a ratio to the floor of the same round wherever it can be. A goal in
//! absolute figures is meant for a machine on which the bare exchange costs its server [`REFERENCE_US`] of CPU; on
//! a slower one it is scaled down in proportion, and the row says so. It is never scaled up. CPU and not the rate
//! is taken, because other load on the machine takes from the rate without making the processors slower.

use serde::{Deserialize, Serialize};

use super::{Case, Document, Figure};
use crate::quantity::fixed;

/// Server CPU of the bare exchange with 60 requesters on the machine that absolute goals are for, µs.
pub(crate) const REFERENCE_US: f64 = 9.1;

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
    /// Measure, target, what was measured, the floor's figure, the ratio that was judged with its range.
    pub(crate) cells: [String; 5],
    /// Whether it was reached; none if it was not measured.
    pub(crate) met: Option<bool>,
}

impl Goal {
    /// Whether it was reached in `document`.
    pub(crate) fn judge(&self, document: &Document) -> Judged {
        let case = document.case(&self.case);
        let floor = case.and_then(|case| document.floor(case));
        let other = match &self.bound {
            Bound::AtLeastTimesCase(_, other) => document.case(other),
            _ => floor,
        };
        let ratio = case.and_then(|case| self.figure.ratio(case, other));
        let times = ratio.map(|ratio| ratio.median);
        let median = |case: Option<&Case>| self.figure.median(case?);
        let (target, met) = match &self.bound {
            Bound::AtMostTimesFloor(most) => (
                format!("≤ {most} × the bare exchange"),
                times.map(|times| times <= *most),
            ),
            Bound::AtLeastTimesFloor(least) => (
                format!("≥ {least} × the bare exchange"),
                times.map(|times| times >= *least),
            ),
            Bound::AtLeastTimesCase(least, other) => {
                let met = times.map(|times| times >= *least);
                (format!("≥ {least} × {other}"), met)
            }
            Bound::AtLeast(least) => {
                let speed = speed(document);
                let mut target = format!("≥ {}", self.figure.show(*least));
                if speed < 1.0 {
                    target.push_str(&format!(
                        " (here ≥ {}: the processors run at {} % of the reference)",
                        self.figure.show(least * speed),
                        fixed(speed * 100.0, 0)
                    ));
                }
                let met = median(case).map(|measured| measured >= least * speed);
                (target, met)
            }
        };
        let shown = |case| median(case).map(|value| self.figure.show(value));
        let range = ratio.map(|ratio| {
            let all = [ratio.median, ratio.least, ratio.greatest];
            let [median, least, greatest] = all.map(|ratio| fixed(ratio, 2));
            format!("{median} ({least}–{greatest})")
        });
        let cells = [
            self.measure.clone(),
            target,
            shown(case).unwrap_or_else(|| "not measured".to_owned()),
            shown(floor).unwrap_or_else(|| "–".to_owned()),
            range.unwrap_or_else(|| "–".to_owned()),
        ];
        Judged { cells, met }
    }
}

/// The machine's speed as a share of the reference's, at most 1.
fn speed(document: &Document) -> f64 {
    let reference = document.case(REFERENCE_CASE);
    let cost = reference.and_then(|case| Figure::ServerCpu.median(case));
    let cost = cost.filter(|us| *us > 0.0);
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
        assert_eq!(row.cells[1], "≤ 1.6 × the bare exchange");
        assert_eq!(
            (row.cells[2].as_str(), row.cells[3].as_str()),
            ("17.0 µs", "10.0 µs")
        );
        assert_eq!(row.cells[4], "1.60 (1.50–1.70)");
        assert_eq!(row.met, Some(true));
        let row = judged(Figure::ServerCpu, case, Bound::AtMostTimesFloor(1.59));
        assert_eq!(row.met, Some(false));
        let row = judged(Figure::Rate, case, Bound::AtLeastTimesFloor(0.65));
        assert_eq!(
            (row.cells[4].as_str(), row.met),
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
        assert_eq!((row.cells[1].as_str(), row.met), ("≥ 50,000/s", Some(true)));
        let row = judged_at(182, 100_000.0);
        assert_eq!(
            row.cells[1],
            "≥ 100,000/s (here ≥ 50,000/s: the processors run at 50 % of the reference)"
        );
        assert_eq!(row.met, Some(true));
        assert_eq!(judged_at(182, 100_002.0).met, Some(false));
        let row = judged_at(45, 50_001.0);
        assert_eq!(
            (row.cells[1].as_str(), row.met),
            ("≥ 50,001/s", Some(false))
        );
    }

    #[test]
    fn cases_are_compared_and_missing_ones_are_told() {
        let bound = Bound::AtLeastTimesCase(0.95, "bare exchange 60".to_owned());
        let row = judged(Figure::Rate, "2 KiB NP 60", bound);
        assert_eq!(row.cells[1], "≥ 0.95 × bare exchange 60");
        assert_eq!(row.met, Some(false));
        let row = judged(Figure::P50, "nowhere", Bound::AtMostTimesFloor(1.6));
        assert_eq!((row.cells[2].as_str(), row.met), ("not measured", None));
        let row = judged(Figure::P50, "2 KiB NP 1", Bound::AtMostTimesFloor(1.6));
        assert_eq!((row.cells[2].as_str(), row.met), ("500 µs", None));
    }
}
