//! Counts that must not grow: log bytes and system calls per operation. No figure here is a time, so the
//! result does not depend on the machine and a build can fail by it.
//!
//! One requester and one responder exchange a fixed number of messages, so that nothing is shared between round trips:
//! what is counted is the most that a round trip costs.

use super::effort::Effort;
use super::plan::{Plan, SMALL, Subject};
use super::round_trips::RoundTrips;
use crate::measure::{LabError, Shape};
use crate::quantity::fixed;
use crate::results::{Document, Table};

/// Round trips.
const COUNT: u64 = 2_000;

/// The most that a counter may grow per round trip in a case.
struct Budget {
    case: &'static str,
    counter: &'static str,
    most: f64,
    why: &'static str,
}

/// What is not listed may grow.
#[rustfmt::skip] // one row, one line
const BUDGETS: &[Budget] = &[
    Budget { case: "2 KiB NP 1", counter: "log.logical_bytes", most: 1.0, why: "a non-persistent round trip is not logged" },
    Budget { case: "2 KiB NP 1", counter: "log.writes", most: 0.01, why: "nor written" },
    Budget { case: "2 KiB NP 1", counter: "channel.reads", most: 4.1, why: "four requests, a read each" },
    Budget { case: "2 KiB NP 1", counter: "channel.writes", most: 4.1, why: "four replies, a write each" },
    Budget { case: "2 KiB P 1", counter: "log.logical_bytes", most: 4_700.0, why: "two messages of 2 KiB and 600 bytes beside them" },
    Budget { case: "2 KiB P 1", counter: "log.physical_bytes", most: 12_700.0, why: "three commits, a page of 4 KiB each" },
    Budget { case: "2 KiB P 1", counter: "log.writes", most: 3.1, why: "three commits of one application after the other" },
    Budget { case: "2 KiB P 1", counter: "channel.reads", most: 7.2, why: "four requests and three commits" },
    Budget { case: "2 KiB P 1", counter: "channel.writes", most: 7.2, why: "as many replies" },
];

/// The plan.
pub(super) fn plan(_: &Effort) -> Plan {
    let mut plan = Plan::new(
        "Counts per operation against their budgets",
        "round trip",
        "requesters",
    );
    for persistent in [false, true] {
        let trips = RoundTrips::new(1, SMALL, persistent);
        let mut drive = trips.as_clients(Shape {
            file_pages: 4_096,
            primary: 3,
            secondary: 2,
            ..Shape::default()
        });
        drive.bounded = true;
        for group in &mut drive.groups {
            if let Some(requester) = group.workloads.first_mut() {
                requester.iterations = Some(COUNT);
            }
        }
        let mut planned = trips.planned(drive);
        if let Subject::Drive(_) = &planned.subject {
            planned.case.at = None;
        }
        plan.add(planned);
    }
    plan
}

/// Compares a document with the budgets of its cases: the comparison as a table, and whether all were kept.
pub(super) fn check(document: &Document) -> (Table, Result<(), LabError>) {
    let mut table =
        Table::new(2, &["case", "counter", "per round trip", "budget", ""]).ending_in_words();
    let mut missed = Vec::new();
    for budget in BUDGETS {
        // A case that was not chosen (--only) is not judged.
        let Some(case) = document.case(budget.case) else {
            continue;
        };
        let grown = case.rounds.iter().map(|round| {
            let grown = round.counters.get(budget.counter).copied()?;
            (round.operations > 0).then(|| grown as f64 / round.operations as f64)
        });
        // The worst round counts; a round without the counter counts as worse than any.
        let worst = grown
            .map(|grown| grown.unwrap_or(f64::INFINITY))
            .fold(f64::NAN, f64::max);
        let kept = worst <= budget.most;
        let found = match worst.is_finite() {
            true => fixed(worst, 3),
            false => "not counted".to_owned(),
        };
        if !kept {
            missed.push(format!(
                "{}: {} is {found} per round trip, and at most {} ({})",
                budget.case,
                budget.counter,
                fixed(budget.most, 3),
                budget.why
            ));
        }
        table.row(vec![
            budget.case.to_owned(),
            budget.counter.to_owned(),
            found,
            fixed(budget.most, 3),
            if kept { "kept" } else { "MISSED" }.to_owned(),
        ]);
    }
    if table.is_empty() {
        missed.push("no case here has a budget".to_owned());
    }
    let result = match missed.is_empty() {
        true => Ok(()),
        false => Err(LabError::Missed(missed.join("; "))),
    };
    (table, result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Case;
    use crate::results::samples::{document, round};

    fn counted(counts: &[(&str, &str, u64)]) -> Document {
        let mut document = document();
        document.cases = ["2 KiB NP 1", "2 KiB P 1"]
            .map(|name| Case {
                name: name.to_owned(),
                rounds: vec![round(1, 1_000, 10)],
                ..Case::default()
            })
            .to_vec();
        for case in &mut document.cases {
            for (name, counter, value) in counts {
                if case.name == *name {
                    let counters = &mut case.rounds[0].counters;
                    counters.insert((*counter).to_owned(), *value);
                }
            }
        }
        document
    }

    fn all(change: impl Fn(&Budget) -> u64) -> Vec<(&'static str, &'static str, u64)> {
        let row = |budget: &Budget| (budget.case, budget.counter, change(budget));
        BUDGETS.iter().map(row).collect()
    }

    #[test]
    fn counts_within_their_budgets_are_kept() {
        let exact = all(|budget| (budget.most * 1_000.0) as u64);
        let (table, result) = check(&counted(&exact));
        assert!(result.is_ok(), "{result:?}\n{}", table.text());
        assert_eq!(table.text().lines().count(), 2 + BUDGETS.len());
    }

    #[test]
    fn each_count_that_is_too_large_or_missing_is_named() {
        for missed in BUDGETS {
            let counts: Vec<_> = all(|budget| {
                let over =
                    u64::from(budget.case == missed.case && budget.counter == missed.counter);
                (budget.most * 1_000.0) as u64 + over
            });
            let error = check(&counted(&counts)).1.unwrap_err().to_string();
            assert!(
                error.contains(missed.counter) && error.contains(missed.case),
                "{error}"
            );
            assert_eq!(error.split("; ").count(), 1);
        }
        let (table, result) = check(&counted(&[]));
        let error = result.unwrap_err().to_string();
        assert_eq!(error.split("; ").count(), BUDGETS.len());
        assert!(table.text().contains("not counted"));
        let mut some = counted(&all(|_| 0));
        some.cases.truncate(1);
        let (table, result) = check(&some);
        assert!(result.is_ok(), "{result:?}");
        assert!(!table.is_empty() && table.text().lines().count() < 2 + BUDGETS.len());
        // Chosen, but broken off before it was measured.
        some.cases[0].rounds.clear();
        assert!(check(&some).1.is_err());
        some.cases.clear();
        assert!(check(&some).1.is_err());
    }
}
