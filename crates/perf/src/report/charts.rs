//! Which charts a scenario's results make.
//!
//! Every series of cases is a line over the scenario's axis, in the charts of its group; a chart appears when at
//! least one case has its figure. The rates of cases that stand on no axis are bars, and of all cases where no line
//! has more than a point.

use super::draw::{Bar, BarChart, GREY, Line, LineChart};
use crate::measure::LabError;
use crate::quantity::fixed;
use crate::results::{Case, Document, Figure, REFERENCE_CASE};

/// The charts of a document, as elements.
pub(super) fn charts(document: &Document) -> Result<Vec<String>, LabError> {
    let on_an_axis = || document.cases.iter().filter(|case| case.at.is_some());
    let groups = different(on_an_axis().map(|case| case.group.as_str()));
    let drawn = groups.iter().map(|group| group_charts(document, group));
    // Single points say no more than the table.
    let has_lines = |charts: &Vec<LineChart>| {
        let mut lines = charts.iter().flat_map(|chart| &chart.lines);
        lines.any(|line| line.points.len() > 1)
    };
    let drawn: Vec<Vec<LineChart>> = drawn.filter(has_lines).collect();
    let bars = rates(document, |case| drawn.is_empty() || case.at.is_none());
    let lines = drawn.iter().flatten().map(|chart| chart.svg(false));
    let bars = (!bars.bars.is_empty()).then(|| bars.svg(false));
    lines.chain(bars).collect()
}

/// Each once, in the order of their first appearance.
fn different<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// What a line shows of a case.
enum Drawn {
    /// A figure, divided by so much.
    Figure(Figure, f64),
    /// Server CPU as a multiple of the floor's.
    Ratio,
}

/// A line of each series: what its name ends in, whether it is dashed, and what it shows.
type Part = (&'static str, bool, Drawn);

/// The charts of a group: the title, with what is counted in place of `{}`, and the lines.
#[rustfmt::skip] // one chart, one line
const CHARTS: [(&str, &[Part]); 7] = [
    ("Throughput, {}s/s", &[("", false, Drawn::Figure(Figure::Rate, 1.0))]),
    ("Server CPU per {}, µs", &[("", false, Drawn::Figure(Figure::ServerCpu, 1.0))]),
    ("Latency per {}, µs", &[("50 %", false, Drawn::Figure(Figure::P50, 1.0)), ("99 %", true, Drawn::Figure(Figure::P99, 1.0))]),
    ("Server CPU as a multiple of the bare exchange's", &[("", false, Drawn::Ratio)]),
    ("Mean size of a log write, KiB", &[("", false, Drawn::Figure(Figure::LogWriteSize, 1024.0))]),
    ("Mean time of a log write, µs", &[("", false, Drawn::Figure(Figure::LogWriteTime, 1.0))]),
    ("Written to the log, MB/s", &[("", false, Drawn::Figure(Figure::LogRate, 1.0))]),
];

impl Drawn {
    fn of(&self, document: &Document, case: &Case) -> Option<f64> {
        match self {
            Drawn::Figure(figure, unit) => Some(figure.median(case)? / unit),
            Drawn::Ratio => {
                let ratio = Figure::ServerCpu.ratio(case, document.floor(case));
                ratio.map(|ratio| ratio.median)
            }
        }
    }
}

/// The charts of the cases of one group.
fn group_charts(document: &Document, group: &str) -> Vec<LineChart> {
    let charts = CHARTS.iter().map(|(title, figures)| LineChart {
        title: match (group, title.replace("{}", &document.operation)) {
            ("", title) => title,
            (group, title) => format!("{group}: {title}"),
        },
        axis: document.axis.clone(),
        lines: lines(document, group, figures),
    });
    charts.filter(|chart| !chart.lines.is_empty()).collect()
}

/// A line for each series and figure; series that have nothing of it are left out.
fn lines(document: &Document, group: &str, figures: &[Part]) -> Vec<Line> {
    let cases = || document.cases.iter().filter(|case| case.group == group);
    let series = different(cases().map(|case| case.series.as_str()));
    let mut lines = Vec::new();
    for (colour, name) in series.iter().enumerate() {
        for (suffix, dashed, figure) in figures {
            let cases = cases().filter(|case| case.series == *name);
            let points = cases.filter_map(|case| Some((case.at?, figure.of(document, case)?)));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !points.is_empty() {
                lines.push(Line {
                    name: format!("{name} {suffix}").trim_end().to_owned(),
                    colour,
                    dashed: *dashed,
                    points,
                });
            }
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
        let rate = Figure::Rate.median(case)?;
        Some(Bar {
            name: case.name.clone(),
            value: rate,
            label: Figure::Rate.show(rate),
            colour: if is_floor(case) { GREY } else { 0 },
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
    let floor = Figure::ServerCpu.median(document.case(REFERENCE_CASE)?)?;
    let mut bars = vec![bar(
        "Bare exchange: no queue manager".to_owned(),
        floor,
        String::new(),
        GREY,
    )];
    let mut published = Vec::new();
    for case in &document.cases {
        if case.floor.as_deref() != Some(REFERENCE_CASE) || case.at != Some(60.0) {
            continue;
        }
        if let Some(us) = Figure::ServerCpu.median(case) {
            let ratio = Figure::ServerCpu.ratio(case, document.floor(case));
            let more = ratio.map_or_else(String::new, |r| format!(" = {} ×", fixed(r.median, 1)));
            bars.push(bar(format!("Posthaste, {}", case.name), us, more, 0));
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

    fn drawn_of(document: &Document) -> Vec<String> {
        charts(document).unwrap()
    }

    #[test]
    fn every_figure_that_was_measured_is_drawn() {
        let mut document = document();
        let drawn = drawn_of(&document);
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
                "Throughput, round trips&#x2f;s",
                "Server CPU per round trip, µs",
                "Latency per round trip, µs",
                "Server CPU as a multiple of the bare exchange&#x27;s",
            ]
        );
        assert!(
            drawn[2].contains(">\n2 KiB NP 50 %\n</text>"),
            "{}",
            drawn[2]
        );
        for round in &mut document.cases[2].rounds {
            round.counters.insert("log.writes".to_owned(), 10);
            round.counters.insert("log.write_ns".to_owned(), 10);
            round.counters.insert("log.physical_bytes".to_owned(), 10);
        }
        assert_eq!(drawn_of(&document).len(), 7);
        // Single points only: the rates are bars.
        document.cases[2].group = "20 KiB".to_owned();
        assert_eq!(titles(&drawn_of(&document)), ["round trips per second"]);
        // Another group has charts of its own, unless it has single points only.
        let mut further = document.cases[1].clone();
        further.at = Some(60.0);
        document.cases.push(further);
        assert_eq!(drawn_of(&document).len(), 3);
        for case in &mut document.cases {
            case.at = None;
        }
        let bars = drawn_of(&document);
        assert_eq!(titles(&bars), ["round trips per second"]);
        assert!(bars[0].contains("50,000/s"));
        // A floor with a place on the axis does not hide cases without one.
        document.cases[0].at = Some(1.0);
        let bars = drawn_of(&document);
        assert_eq!(titles(&bars), ["round trips per second"]);
        assert!(
            bars[0].contains(">\n2 KiB NP 60\n</text>") && bars[0].contains("bare exchange 60")
        );
        // Nor do lines.
        for (case, at) in [(1, 1.0), (3, 60.0)] {
            document.cases[case].at = Some(at);
        }
        let both = drawn_of(&document);
        assert_eq!(titles(&both).last().unwrap(), "round trips per second");
        let bars = both.last().unwrap();
        assert!(both.len() > 1 && bars.contains(">\n2 KiB NP 60\n</text>"));
        assert!(!bars.contains(">\n2 KiB NP 1\n</text>"), "{bars}");
        document.cases.clear();
        assert!(drawn_of(&document).is_empty());
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
