//! A document as tables: its cases, its goals, and where the time went.

use std::collections::BTreeSet;

use super::table::Table;
use super::{Case, Document, Figure, Round, median};
use crate::quantity::{count, fixed};

/// The columns that every scenario may fill, behind the rate.
const COLUMNS: [(&str, Figure); 10] = [
    ("server µs", Figure::ServerCpu),
    ("client µs", Figure::ClientCpu),
    ("p50 µs", Figure::P50),
    ("p99 µs", Figure::P99),
    ("p99.9 µs", Figure::P999),
    ("log B/op", Figure::LogBytes),
    ("log write", Figure::LogWriteSize),
    ("log write µs", Figure::LogWriteTime),
    ("log MB/s", Figure::LogRate),
    ("memory", Figure::Memory),
];

/// Every case with all its figures; columns that no case fills are left out.
pub(crate) fn results(document: &Document) -> Table {
    let rate = format!("{}s/s", document.operation);
    let rounds = document.cases.iter().flat_map(|case| &case.rounds);
    let values: BTreeSet<&String> = rounds.flat_map(|round| round.values.keys()).collect();
    let mut names = vec!["case", &rate];
    names.extend(COLUMNS.iter().map(|(name, _)| *name));
    names.extend(["CPU × floor", "rate × floor"]);
    names.extend(values.iter().map(|name| name.as_str()));
    let mut table = Table::new(1, &names);
    for case in &document.cases {
        let cell = |figure: &Figure| {
            let shown = figure.median(case).map(|value| figure.cell(value));
            // The applications are in it.
            let mark = if *figure == Figure::ServerCpu && case.with_applications {
                "*"
            } else {
                ""
            };
            shown.map_or_else(String::new, |shown| shown + mark)
        };
        let ratio = |figure: Figure| {
            let ratio = figure.ratio(case, document.floor(case));
            ratio.map_or_else(String::new, |ratio| fixed(ratio.median, 2))
        };
        let mut cells = vec![case.name.clone(), cell(&Figure::Rate)];
        cells.extend(COLUMNS.iter().map(|(_, figure)| cell(figure)));
        cells.extend([Figure::ServerCpu, Figure::Rate].map(ratio));
        cells.extend(
            values
                .iter()
                .map(|name| cell(&Figure::Value((*name).clone()))),
        );
        table.row(cells);
    }
    table.without_empty_columns()
}

/// What was to be reached, beside what was measured.
pub(crate) fn goals(document: &Document) -> Table {
    let names = [
        "measure",
        "target",
        "measured",
        "floor",
        "ratio (range)",
        "met",
    ];
    let mut table = Table::new(2, &names).ending_in_words();
    for goal in &document.goals {
        let judged = goal.judge(document);
        let met = match judged.met {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not measured",
        };
        let mut cells = judged.cells.to_vec();
        cells.push(met.to_owned());
        table.row(cells);
    }
    table
}

/// How much each of the server's counters grew per operation: a column per case, at most `columns` in a table.
pub(crate) fn breakdown(document: &Document, columns: usize) -> Vec<Table> {
    let counted: Vec<&Case> = document
        .cases
        .iter()
        .filter(|case| case.rounds.iter().any(|r| !r.counters.is_empty()))
        .collect();
    let tables = counted.chunks(columns.max(1));
    tables
        .map(|cases| breakdown_of(&document.operation, cases))
        .filter(|table| !table.is_empty())
        .collect()
}

fn breakdown_of(operation: &str, cases: &[&Case]) -> Table {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for round in cases.iter().flat_map(|case| &case.rounds) {
        names.extend(round.counters.keys().map(String::as_str));
    }
    let per = format!("per {operation}");
    let mut columns = vec![per.as_str()];
    columns.extend(cases.iter().map(|case| case.name.as_str()));
    let mut table = Table::new(1, &columns);
    for name in names {
        let grown = |round: &Round| {
            let grown = round.counters.get(name).copied()?;
            (round.operations > 0).then(|| grown as f64 / round.operations as f64)
        };
        let figures = cases.iter().map(|case| {
            let all: Vec<f64> = case.rounds.iter().filter_map(grown).collect();
            median(&all).map(|value| shown_counter(name, value))
        });
        let figures: Vec<Option<String>> = figures.collect();
        if figures.iter().flatten().all(|figure| figure == "0") {
            continue;
        }
        let mut row = vec![counter_name(name)];
        row.extend(figures.into_iter().map(Option::unwrap_or_default));
        table.row(row);
    }
    table
}

/// Counters of nanoseconds are shown in µs.
fn counter_name(name: &str) -> String {
    match name
        .strip_suffix("_ns")
        .or_else(|| name.strip_suffix("_nanos"))
    {
        Some(what) => format!("{what}, µs"),
        None => name.to_owned(),
    }
}

fn shown_counter(name: &str, value: f64) -> String {
    let value = match name.ends_with("_ns") || name.ends_with("_nanos") {
        true => value / 1000.0,
        false => value,
    };
    match value {
        0.0 => "0".to_owned(),
        value if value >= 100.0 => count(value),
        value => fixed(value, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::document;
    use super::super::{Bound, Figure, Goal};
    use super::*;

    #[test]
    fn results_are_a_table() {
        let mut document = document();
        document.cases[2].rounds[0]
            .values
            .insert("restart, s".to_owned(), 1.5);
        document.cases[1].with_applications = true;
        assert_eq!(
            results(&document).text(),
            "\
case              round trips/s  server µs  client µs  p50 µs  p99 µs  p99.9 µs  memory  CPU × floor  rate × floor  restart, s
────────────────  ─────────────  ─────────  ─────────  ──────  ──────  ────────  ──────  ───────────  ────────────  ──────────
bare exchange 60         92,000      10.00      10.00     500   1,500     4,000  20 MiB
2 KiB NP 1               20,000     30.00*      10.00     500   1,500     4,000  20 MiB
2 KiB NP 60              50,000      17.00      10.00     500   1,500     4,000  20 MiB         1.60          0.62       1.500
"
        );
    }

    #[test]
    fn goals_are_a_table() {
        let mut document = document();
        document.goals = vec![Goal {
            measure: "server CPU".to_owned(),
            case: "2 KiB NP 60".to_owned(),
            figure: Figure::ServerCpu,
            bound: Bound::AtMostTimesFloor(1.6),
        }];
        assert_eq!(
            goals(&document).markdown(),
            "\
| measure | target | measured | floor | ratio (range) | met |
| --- | --- | ---: | ---: | ---: | --- |
| server CPU | ≤ 1.6 × the bare exchange | 17.0 µs | 10.0 µs | 1.60 (1.50–1.70) | yes |
"
        );
    }

    #[test]
    fn counters_are_broken_down_per_operation() {
        let mut document = document();
        assert!(breakdown(&document, 6).is_empty());
        let counters = &mut document.cases[2].rounds[0].counters;
        counters.insert("channel.reads".to_owned(), 240_000);
        counters.insert("log.write_ns".to_owned(), 90_000_000);
        counters.insert("log.writes".to_owned(), 0);
        let tables = breakdown(&document, 6);
        assert_eq!(tables.len(), 1);
        assert_eq!(
            tables[0].text(),
            "\
per round trip  2 KiB NP 60
──────────────  ───────────
channel.reads         4.000
log.write, µs         1.500
"
        );
        let counters = document.cases[2].rounds[0].counters.clone();
        document.cases[1].rounds[0].counters = counters;
        assert_eq!(breakdown(&document, 1).len(), 2);
        assert_eq!(breakdown(&document, 2).len(), 1);
    }
}
