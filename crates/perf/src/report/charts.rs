//! Which charts a scenario's results make.
//!
//! Every series of cases is a line over the scenario's axis, in the charts of its group; a chart appears when at
//! least one case has its figure. The rates of cases that stand on no axis are bars, and of all cases where no line
//! has more than a point.

use super::svg::{Bar, BarChart, Line, LineChart};
use crate::quantity::fixed;
use crate::results::{Case, Document, Figure, REFERENCE_CASE, Summary, summarise};

/// A figure of a case that can be drawn.
type Drawn = fn(&Summary) -> Option<f64>;

/// The charts of a document, as elements.
pub(super) fn charts(document: &Document) -> Vec<String> {
    let mut groups: Vec<&str> = Vec::new();
    for case in document.cases.iter().filter(|case| case.at.is_some()) {
        if !groups.contains(&case.group.as_str()) {
            groups.push(&case.group);
        }
    }
    let has_lines = |charts: &Vec<LineChart>| {
        let mut lines = charts.iter().flat_map(|chart| &chart.lines);
        lines.any(|line| line.points.len() > 1)
    };
    let drawn = groups.iter().map(|group| group_charts(document, group));
    // Single points say no more than the table.
    let drawn: Vec<Vec<LineChart>> = drawn.filter(has_lines).collect();
    let bars = rates(document, |case| drawn.is_empty() || case.at.is_none());
    let mut shown: Vec<String> = drawn
        .iter()
        .flatten()
        .map(|chart| chart.svg(false))
        .collect();
    if !bars.bars.is_empty() {
        shown.push(bars.svg(false));
    }
    shown
}

/// The charts of the cases of one group.
fn group_charts(document: &Document, group: &str) -> Vec<LineChart> {
    let operation = &document.operation;
    let single: [(String, Drawn); 6] = [
        (format!("Throughput, {operation}s/s"), |s| {
            s.rate.map(|rate| rate.median)
        }),
        (format!("Server CPU per {operation}, µs"), |s| {
            s.server_us.map(|us| us.median)
        }),
        (
            "Server CPU as a multiple of the bare exchange's".to_owned(),
            |s| s.cpu_ratio.map(|ratio| ratio.median),
        ),
        ("Mean size of a log write, KiB".to_owned(), |s| {
            s.log_write_bytes.map(|bytes| bytes / 1024.0)
        }),
        ("Mean time of a log write, µs".to_owned(), |s| {
            s.log_write_us
        }),
        ("Written to the log, MB/s".to_owned(), |s| s.log_mb_s),
    ];
    let chart = |title: String, lines| LineChart {
        title: match group {
            "" => title,
            group => format!("{group}: {title}"),
        },
        axis: document.axis.clone(),
        lines,
    };
    let mut all: Vec<LineChart> = single
        .into_iter()
        .map(|(title, figure)| chart(title, lines(document, group, &[("", false, figure)])))
        .collect();
    let latency: [(&str, bool, Drawn); 2] = [
        ("50 %", false, |s| s.latency_us.map(|l| l[0])),
        ("99 %", true, |s| s.latency_us.map(|l| l[2])),
    ];
    let title = format!("Latency per {operation}, µs");
    all.insert(2, chart(title, lines(document, group, &latency)));
    all.retain(|chart| !chart.is_empty());
    all
}

/// A line for each series and figure; series that have nothing of it are left out.
fn lines(document: &Document, group: &str, figures: &[(&str, bool, Drawn)]) -> Vec<Line> {
    let cases: Vec<&Case> = document
        .cases
        .iter()
        .filter(|case| case.group == group)
        .collect();
    let mut series: Vec<&str> = Vec::new();
    for case in &cases {
        if !series.contains(&case.series.as_str()) {
            series.push(&case.series);
        }
    }
    let mut lines = Vec::new();
    for (colour, name) in series.iter().enumerate() {
        for (suffix, dashed, figure) in figures {
            let points = |case: &&Case| Some((case.at?, figure(&summarise(document, case))?));
            let cases = cases.iter().filter(|case| case.series == *name);
            let mut points: Vec<(f64, f64)> = cases.filter_map(points).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if points.is_empty() {
                continue;
            }
            lines.push(Line {
                name: format!("{name} {suffix}").trim_end().to_owned(),
                colour,
                dashed: *dashed,
                points,
            });
        }
    }
    lines
}

/// The rates of some cases; floors are grey.
fn rates(document: &Document, wanted: impl Fn(&&Case) -> bool) -> BarChart {
    let is_floor = |case: &Case| {
        let mut floors = document.cases.iter().filter_map(|case| case.floor.as_ref());
        floors.any(|floor| *floor == case.name)
    };
    let bars = document.cases.iter().filter(wanted).filter_map(|case| {
        let rate = summarise(document, case).rate?.median;
        Some(Bar {
            name: case.name.clone(),
            value: rate,
            label: Figure::Rate.show(rate),
            colour: usize::from(is_floor(case)) * 7,
        })
    });
    BarChart {
        title: format!("{}s per second", document.operation),
        note: String::new(),
        bars: bars.collect(),
    }
}

/// Server CPU per round trip beside the bare exchange and the published figures, from the first results that
/// have a bare exchange with 60 requesters.
pub(crate) fn headline(documents: &[Document]) -> Option<BarChart> {
    documents.iter().find_map(headline_of)
}

fn headline_of(document: &Document) -> Option<BarChart> {
    let bar = |name: String, value: f64, more: String, colour| Bar {
        name,
        value,
        label: format!("{} µs{more}", fixed(value, 1)),
        colour,
    };
    let floor = summarise(document, document.case(REFERENCE_CASE)?);
    let mut bars = vec![bar(
        "Bare exchange: no queue manager".to_owned(),
        floor.server_us?.median,
        String::new(),
        7,
    )];
    let mut published = Vec::new();
    for case in &document.cases {
        if case.floor.as_deref() != Some(REFERENCE_CASE) || case.at != Some(60.0) {
            continue;
        }
        let summary = summarise(document, case);
        if let Some(us) = summary.server_us {
            let ratio = summary.cpu_ratio;
            let more = ratio.map_or_else(String::new, |r| format!(" = {} ×", fixed(r.median, 1)));
            bars.push(bar(format!("Posthaste, {}", case.name), us.median, more, 0));
        }
        for figure in case
            .published
            .iter()
            .filter(|p| p.figure == Figure::ServerCpu)
        {
            // What was measured on what; the rest of the source is in the table.
            let short: Vec<&str> = figure.source.split(", ").take(2).collect();
            let name = format!("{} (published)", short.join(", "));
            published.push(bar(name, figure.value, String::new(), 1));
        }
    }
    if bars.len() < 2 {
        return None;
    }
    let machine = &document.machine;
    bars.extend(published);
    Some(BarChart {
        title: "Server CPU per request/reply round trip".to_owned(),
        note: format!(
            "{} × {}, {} · {}",
            machine.processors, machine.processor, machine.kernel, document.started
        ),
        bars,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::samples::document;

    #[test]
    fn every_figure_that_was_measured_is_drawn() {
        let mut document = document();
        let drawn = charts(&document);
        let titles = |drawn: &[String]| -> Vec<String> {
            let title = |svg: &String| {
                let (_, rest) = svg.split_once("aria-label=\"").unwrap();
                rest.split_once('"').unwrap().0.to_owned()
            };
            drawn.iter().map(title).collect()
        };
        assert_eq!(
            titles(&drawn),
            [
                "Throughput, round trips/s",
                "Server CPU per round trip, µs",
                "Latency per round trip, µs",
                "Server CPU as a multiple of the bare exchange&#39;s",
            ]
        );
        assert!(drawn[2].contains(">2 KiB NP 50 %</text>"), "{}", drawn[2]);
        for round in &mut document.cases[2].rounds {
            round.counters.insert("log.writes".to_owned(), 10);
            round.counters.insert("log.write_ns".to_owned(), 10);
            round.counters.insert("log.physical_bytes".to_owned(), 10);
        }
        assert_eq!(charts(&document).len(), 7);
        // Single points only: the rates are bars.
        document.cases[2].group = "20 KiB".to_owned();
        assert_eq!(titles(&charts(&document)), ["round trips per second"]);
        // Another group has charts of its own, unless it has single points only.
        let mut further = document.cases[1].clone();
        further.at = Some(60.0);
        document.cases.push(further);
        assert_eq!(charts(&document).len(), 3);
        for case in &mut document.cases {
            case.at = None;
        }
        let bars = charts(&document);
        assert_eq!(titles(&bars), ["round trips per second"]);
        assert!(bars[0].contains("50,000/s"));
        // A floor with a place on the axis does not hide cases without one.
        document.cases[0].at = Some(1.0);
        let bars = charts(&document);
        assert_eq!(titles(&bars), ["round trips per second"]);
        assert!(bars[0].contains(">2 KiB NP 60</text>") && bars[0].contains("bare exchange 60"));
        // Nor do lines.
        for (case, at) in [(1, 1.0), (3, 60.0)] {
            document.cases[case].at = Some(at);
        }
        let both = charts(&document);
        assert_eq!(titles(&both).last().unwrap(), "round trips per second");
        let bars = both.last().unwrap();
        assert!(both.len() > 1 && bars.contains(">2 KiB NP 60</text>"));
        assert!(!bars.contains(">2 KiB NP 1</text>"), "{bars}");
        document.cases.clear();
        assert!(charts(&document).is_empty());
    }

    #[test]
    fn the_headline_sets_the_floor_and_the_published_beside_ours() {
        let mut document = document();
        let chart = headline(std::slice::from_ref(&document)).unwrap();
        let names: Vec<(&str, &str)> = chart
            .bars
            .iter()
            .map(|bar| (bar.name.as_str(), bar.label.as_str()))
            .collect();
        assert_eq!(
            names,
            [
                ("Bare exchange: no queue manager", "10.0 µs"),
                ("Posthaste, 2 KiB NP 60", "17.0 µs = 1.6 ×"),
                ("IBM MQ 9.4 on 32 cores (published)", "84.4 µs"),
            ]
        );
        document.cases.remove(0);
        assert_eq!(headline(&[document]), None);
    }
}
