//! The HTML page: what `page.html` is filled with. The template escapes all that is not a chart of our own.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};

use super::charts::{charts, headline};
use super::draw::style;
use crate::measure::LabError;
use crate::results::{Document, PROJECTION, breakdown, comparisons, goals, results};

/// The whole page.
pub(crate) fn page(documents: &[Document]) -> Result<String, LabError> {
    let mut runs = Vec::new();
    for document in documents {
        let (comparisons, projected) = comparisons(document);
        let [machine, program, _] = origin(document);
        runs.push(context! {
            machine, program, comparisons,
            document => Serde(document),
            command => document.command.join(" "),
            seconds => document.seconds.round() as u64,
            goals => Serde(goals(document)),
            charts => charts(document)?,
            results => Serde(results(document)),
            projection => projected.then_some(PROJECTION),
            counters => Serde(breakdown(document, usize::MAX)),
        });
    }
    let headline = headline(documents)
        .map(|chart| chart.svg(false))
        .transpose()?;
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    let values = context! { runs, headline, style => style(), shared => shared(documents) };
    let page = templates.render_str(include_str!("page.html"), values);
    page.map_err(|error| LabError::workload("the page cannot be made", error))
}

/// What made a document: machine, program, day.
fn origin(document: &Document) -> [String; 3] {
    let commit = document
        .commit
        .as_ref()
        .map_or_else(String::new, |commit| format!(" ({commit})"));
    [
        document.machine.line(),
        format!("version {}{commit}", document.version),
        document.started.chars().take(10).collect(),
    ]
}

/// What all documents have in common of it.
fn shared(documents: &[Document]) -> Vec<String> {
    let mut origins = documents.iter().map(origin);
    let first = origins.next().map(Vec::from).unwrap_or_default();
    origins.fold(first, |mut shared, origin| {
        shared.retain(|fact| origin.contains(fact));
        shared
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Ended;
    use crate::results::samples::document;

    #[test]
    fn a_page_needs_nothing_but_itself_and_tells_everything() {
        let mut document = document();
        document.notes.push("<script>alert(1)</script>".to_owned());
        document.ended = Ended::Partial("the server & its disk".to_owned());
        document.cases[2].rounds[0]
            .counters
            .insert("channel.reads".to_owned(), 1);
        let text = page(std::slice::from_ref(&document)).unwrap();
        for foreign in ["<script", "<img", "<link", "@import", "url(", "src="] {
            assert!(!text.contains(foreign), "{foreign}");
        }
        // The only address is the name of SVG's vocabulary, which nobody fetches.
        let addresses = text.matches("http").count();
        assert_eq!(
            addresses,
            text.matches("http://www.w3.org/2000/svg").count()
        );
        for expected in [
            "name=\"viewport\"",
            "@media print",
            "prefers-color-scheme:dark",
            "Partial results.",
            "the server &amp; its disk",
            "&lt;script&gt;alert(1)",
            "2 KiB NP 60",
            "Projection rule",
            "5.0 × less",
            "channel.reads",
            "id=\"rr-cc\"",
            "0123456789ab",
        ] {
            assert!(text.contains(expected), "{expected}");
        }
        assert_eq!(text.matches("<table>").count(), 2);
        assert_eq!(text, page(&[document]).unwrap());
    }

    #[test]
    fn what_made_the_figures_stands_on_top_only_where_all_share_it() {
        let one = document();
        let mut two = document();
        two.scenario = "log-size".to_owned();
        let top = |documents: &[Document]| {
            let text = page(documents).unwrap();
            let (top, _) = text.split_once("<nav>").unwrap();
            let (_, top) = top.split_once("<h1>").unwrap();
            (top.to_owned(), text)
        };
        let (above, _) = top(&[one.clone(), two.clone()]);
        for fact in ["2 × x86-64", "version 0.1.0 (0123456789ab)", "2026-11-21"] {
            assert!(above.contains(fact), "{above}");
        }
        two.machine.processors = 64;
        two.commit = None;
        let (above, text) = top(&[one, two]);
        assert!(
            !above.contains("x86-64") && !above.contains("0.1.0"),
            "{above}"
        );
        assert!(above.contains("2026-11-21"), "{above}");
        for fact in [
            "<br>2 × x86-64, 24 GiB, Linux 6.18, ext4 on vda · version 0.1.0 (0123456789ab)<br>",
            "<br>64 × x86-64, 24 GiB, Linux 6.18, ext4 on vda · version 0.1.0<br>",
        ] {
            assert_eq!(text.matches(fact).count(), 1, "{fact}");
        }
    }

    #[test]
    fn every_element_that_opens_closes() {
        let text = page(&[document()]).unwrap();
        for name in [
            "table", "tr", "td", "th", "svg", "figure", "div", "p", "ul", "body", "text",
        ] {
            let opened = text.matches(&format!("<{name}>")).count()
                + text.matches(&format!("<{name} ")).count();
            assert_eq!(
                opened,
                text.matches(&format!("</{name}>")).count(),
                "{name}"
            );
        }
    }
}
