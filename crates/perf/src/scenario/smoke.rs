//! Counts that must not grow: log bytes and system calls per operation. No figure here is a time, so the
//! result does not depend on the machine and a build can fail by it.

use serde::Deserialize;

use crate::measure::LabError;
use crate::quantity::fixed;
use crate::results::{Document, Table};

/// The most that a counter may grow per round trip in a case, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    case: String,
    counter: String,
    most: f64,
    why: String,
}

/// Compares a document with the budgets of its cases: the comparison as a table, and whether all were kept.
pub(super) fn check(budgets: &[Budget], document: &Document) -> (Table, Result<(), LabError>) {
    let mut table =
        Table::new(2, &["case", "counter", "per round trip", "budget", ""]).ending_in_words();
    let mut missed = Vec::new();
    for budget in budgets {
        // A case that was not chosen (--only) is not judged.
        let Some(case) = document.case(&budget.case) else {
            continue;
        };
        let grown = case.rounds.iter().map(|round| {
            let grown = round.counters.get(&budget.counter).copied()?;
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
            budget.case.clone(),
            budget.counter.clone(),
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
    use super::super::find;
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

    fn budgets() -> &'static [Budget] {
        &find("smoke").unwrap().budgets
    }

    fn all(change: impl Fn(&Budget) -> u64) -> Vec<(&'static str, &'static str, u64)> {
        let row = |budget: &'static Budget| {
            (
                budget.case.as_str(),
                budget.counter.as_str(),
                change(budget),
            )
        };
        budgets().iter().map(row).collect()
    }

    #[test]
    fn counts_within_their_budgets_are_kept() {
        let exact = all(|budget| (budget.most * 1_000.0) as u64);
        let (table, result) = check(budgets(), &counted(&exact));
        assert!(result.is_ok(), "{result:?}\n{}", table.text());
        assert_eq!(table.text().lines().count(), 2 + budgets().len());
    }

    #[test]
    fn each_count_that_is_too_large_or_missing_is_named() {
        for missed in budgets() {
            let counts: Vec<_> = all(|budget| {
                let over =
                    u64::from(budget.case == missed.case && budget.counter == missed.counter);
                (budget.most * 1_000.0) as u64 + over
            });
            let error = check(budgets(), &counted(&counts))
                .1
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&missed.counter) && error.contains(&missed.case),
                "{error}"
            );
            assert_eq!(error.split("; ").count(), 1);
        }
        let (table, result) = check(budgets(), &counted(&[]));
        let error = result.unwrap_err().to_string();
        assert_eq!(error.split("; ").count(), budgets().len());
        assert!(table.text().contains("not counted"));
        let mut some = counted(&all(|_| 0));
        some.cases.truncate(1);
        let (table, result) = check(budgets(), &some);
        assert!(result.is_ok(), "{result:?}");
        assert!(!table.is_empty() && table.text().lines().count() < 2 + budgets().len());
        // Chosen, but broken off before it was measured.
        some.cases[0].rounds.clear();
        assert!(check(budgets(), &some).1.is_err());
        some.cases.clear();
        assert!(check(budgets(), &some).1.is_err());
    }
}
