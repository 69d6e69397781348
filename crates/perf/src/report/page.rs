//! The HTML page.

use std::fmt::Write as _;

use super::charts::{charts, headline};
use super::svg::{STYLE, escaped};
use crate::results::{
    Align, Document, Ended, PROJECTION, Table, breakdown, comparisons, goals, results,
};

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark}*{box-sizing:border-box}\
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:72rem;background:#fff;color:#1b1f24}\
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:1px solid #d0d7de;padding-bottom:.25rem}\
p,li{max-width:46rem}.small{color:#57606a;font-size:.875rem}.warn{border-left:4px solid #b91c1c;padding:.5rem .75rem;background:#b91c1c14}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .6rem;border-bottom:1px solid #d0d7de;text-align:left;white-space:nowrap}th.r,td.r{text-align:right}\
td.wrap{white-space:normal;min-width:12rem}.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,31.25rem),1fr));gap:1rem;margin:1rem 0}\
figure{margin:0;overflow-x:auto}svg{width:100%;min-width:31.25rem;height:auto;display:block}code{font:.875rem ui-monospace,monospace;overflow-wrap:anywhere}nav a{margin-right:1rem}\
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}h2,th,td{border-color:#30363d}.small{color:#9aa4af}a{color:#58a6ff}}\
@media print{body{max-width:none;padding:0;font-size:11pt;background:#fff;color:#000}nav{display:none}h2{break-before:page}h2:first-of-type{break-before:auto}figure,tr{break-inside:avoid}.scroll,figure{overflow:visible}svg{min-width:0}.charts{grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}table{font-size:8pt}th,td{padding:.15rem .3rem;white-space:normal}}";

/// The whole page.
pub(crate) fn page(documents: &[Document]) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    // Writing to a String does not fail.
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Posthaste performance</title><style>{PAGE_STYLE}{STYLE}</style></head><body><h1>Posthaste performance</h1>"
    );
    let shared = shared(documents);
    if !shared.is_empty() {
        let _ = write!(out, "<p class=\"small\">{}</p>", shared.join(" · "));
    }
    out.push_str("<p>Figures are medians over the rounds of a run. “× floor” is the ratio to a bare server of the same exchange without a queue manager, measured in the same round; the ratio holds when the machine changes its speed, the absolute figure does not. CPU marked * includes the applications, which run in the same process.</p><nav>");
    for document in documents {
        let name = escaped(&document.scenario);
        let _ = write!(out, "<a href=\"#{name}\">{name}</a>");
    }
    out.push_str("</nav>");
    if let Some(chart) = headline(documents) {
        let _ = write!(out, "<figure>{}</figure>", chart.svg(false));
    }
    for document in documents {
        section(&mut out, document);
    }
    out.push_str("</body></html>\n");
    out
}

/// What made a document: machine, program, day.
fn origin(document: &Document) -> [String; 3] {
    let commit = document.commit.as_deref();
    let commit = commit.map_or_else(String::new, |commit| format!(" ({})", escaped(commit)));
    let day: String = document.started.chars().take(10).collect();
    [
        escaped(&document.machine.line()),
        format!("version {}{commit}", escaped(&document.version)),
        escaped(&day),
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

fn section(out: &mut String, document: &Document) {
    let name = escaped(&document.scenario);
    let [machine, program, _] = origin(document);
    let _ = write!(
        out,
        "<h2 id=\"{name}\">{name}: {}</h2><p class=\"small\"><code>{}</code><br>{machine} · {program}<br>{} · {} s{}</p>",
        escaped(&document.title),
        escaped(&document.command.join(" ")),
        escaped(&document.started),
        document.seconds.round(),
        if document.quick {
            " · quick: few cases, short windows"
        } else {
            ""
        }
    );
    if let Ended::Partial(why) = &document.ended {
        let _ = write!(
            out,
            "<p class=\"warn\"><strong>Partial results.</strong> The run was broken off: {}</p>",
            escaped(why)
        );
    }
    table(out, &goals(document));
    let drawn = charts(document);
    if !drawn.is_empty() {
        out.push_str("<div class=\"charts\">");
        for chart in drawn {
            let _ = write!(out, "<figure>{chart}</figure>");
        }
        out.push_str("</div>");
    }
    table(out, &results(document));
    published(out, document);
    for note in &document.notes {
        let _ = write!(out, "<p>{}</p>", escaped(note));
    }
    let counters = breakdown(document, usize::MAX);
    if !counters.is_empty() {
        out.push_str(
            "<details><summary>Where it goes: the server's counters per operation</summary>",
        );
        for counters in &counters {
            table(out, counters);
        }
        out.push_str("</details>");
    }
}

fn published(out: &mut String, document: &Document) {
    let (lines, projected) = comparisons(document);
    if lines.is_empty() {
        return;
    }
    out.push_str("<h3>Beside published figures</h3><ul>");
    for line in lines {
        let _ = write!(out, "<li>{}</li>", escaped(&line));
    }
    out.push_str("</ul>");
    if projected {
        let _ = write!(out, "<p class=\"small\">{}</p>", escaped(PROJECTION));
    }
}

fn table(out: &mut String, table: &Table) {
    if table.is_empty() {
        return;
    }
    let class = |align: Align| match align {
        Align::Left => "",
        Align::Right => " class=\"r\"",
    };
    out.push_str("<div class=\"scroll\"><table><thead><tr>");
    for (name, align) in table.columns() {
        let _ = write!(out, "<th{}>{}</th>", class(*align), escaped(name));
    }
    out.push_str("</tr></thead><tbody>");
    for row in table.rows() {
        out.push_str("<tr>");
        for (index, (_, align)) in table.columns().iter().enumerate() {
            let cell = row.get(index).map(String::as_str).unwrap_or_default();
            let class = match (cell.chars().count() > 40, align) {
                (true, Align::Left) => " class=\"wrap\"",
                _ => class(*align),
            };
            let _ = write!(out, "<td{class}>{}</td>", escaped(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::samples::document;

    #[test]
    fn a_page_needs_nothing_but_itself_and_tells_everything() {
        let mut document = document();
        document.notes.push("<script>alert(1)</script>".to_owned());
        document.ended = Ended::Partial("the server & its disk".to_owned());
        document.cases[2].rounds[0]
            .counters
            .insert("channel.reads".to_owned(), 1);
        let text = page(std::slice::from_ref(&document));
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
            "&lt;script&gt;alert(1)&lt;/script&gt;",
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
        assert_eq!(text, page(&[document]));
    }

    #[test]
    fn what_made_the_figures_stands_on_top_only_where_all_share_it() {
        let one = document();
        let mut two = document();
        two.scenario = "log-size".to_owned();
        let top = |documents: &[Document]| {
            let text = page(documents);
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
        let text = page(&[document()]);
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
