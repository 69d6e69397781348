//! Numbers as text: what a monitoring system reads, and the page of all metrics.
//!
//! The form is the text format that Prometheus reads: `# HELP`, `# TYPE`, then a line for each subject.

use std::fmt::Write;

use super::{LaneStatus, Manager, Metric, MetricType, Queue, Row, Subject, Unit};
use crate::beside::ChannelStatus;
use posthaste_engine::ConnectionStatus;

/// Its name in the exposition: `posthaste_queue_arrived_total`.
fn exposed(metric: &Metric) -> String {
    let name = metric.name.replace('.', "_");
    match metric.nature {
        MetricType::Counter => format!("posthaste_{name}_total"),
        MetricType::Gauge => format!("posthaste_{name}"),
    }
}

fn type_of(nature: MetricType) -> &'static str {
    match nature {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
    }
}

fn unit_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Things => "",
        Unit::Bytes => "bytes",
        Unit::Nanoseconds => "ns",
        Unit::Moment => "µs since 1970",
    }
}

/// A label's value between its quotes: names come from applications, and the text may be shown on a terminal.
fn escaped(value: &str) -> String {
    let value = posthaste_command::printable(value);
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// All rows about subjects of one kind.
pub(crate) fn exposition<S: Subject>(subjects: &[S]) -> String {
    let mut text = String::new();
    let labels: Vec<String> = subjects.iter().map(labels_of).collect();
    for Row { metric, read } in S::ROWS {
        let name = exposed(metric);
        let unit = match unit_of(metric.unit) {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {}{unit}", metric.help);
        let _ = writeln!(text, "# TYPE {name} {}", type_of(metric.nature));
        for (subject, labels) in subjects.iter().zip(&labels) {
            if let Some(value) = read(subject) {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
    }
    text
}

fn labels_of<S: Subject>(subject: &S) -> String {
    let pairs = S::LABELS.iter().zip(subject.labels());
    let pairs: Vec<String> = pairs
        .map(|(label, value)| format!("{label}=\"{}\"", escaped(&value)))
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", pairs.join(",")),
    }
}

/// Every metric, as Markdown.
pub fn page() -> String {
    let mut page = String::from(
        "# Metrics\n\n\
         Made from the registry (`crates/admin/src/metrics/rows.rs`); do not edit. `posthaste metrics QM1` shows all of\n\
         them, in the text format that Prometheus reads: dots are underscores there, `posthaste_` stands before a name\n\
         and `_total` behind a counter. Counters begin at 0 with the start of what they are about; `posthaste perf run\n\
         --explain` divides those of the queue manager by the operations. A gauge that is not known is left out.\n",
    );
    section::<Manager>(&mut page, "The queue manager");
    section::<Queue>(&mut page, "A local queue");
    section::<ConnectionStatus>(&mut page, "A connection");
    section::<ChannelStatus>(&mut page, "An instance of a channel");
    section::<LaneStatus>(&mut page, "A lane, a thread that serves connections");
    page
}

fn section<S: Subject>(page: &mut String, title: &str) {
    let _ = writeln!(page, "\n## {title}\n");
    if !S::LABELS.is_empty() {
        let labels: Vec<String> = S::LABELS.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(page, "Labels: {}.\n", labels.join(", "));
    }
    page.push_str("| name | | unit | DISPLAY | what it tells |\n| --- | --- | --- | --- | --- |\n");
    for Row { metric, .. } in S::ROWS {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            metric.name,
            type_of(metric.nature),
            unit_of(metric.unit),
            metric.keyword.unwrap_or_default(),
            metric.help
        );
    }
}
