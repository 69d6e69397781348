//! Figures of others that a case is compared with.
//!
//! The seeds are IBM's published performance papers; "RT" is a round trip of two puts and two gets. CPU is the
//! whole server's, in microseconds of one core (32 cores × share of CPU ÷ rate), so it includes what the kernel does.

use serde::{Deserialize, Serialize};

use super::{Case, Document, Figure};
use crate::quantity::{count, fixed};

/// How a rate on few processors is set beside one on 64 hardware threads. Stated wherever it is used.
pub(crate) const PROJECTION: &str = "Projection rule: rate on 64 hardware threads = 64 ÷ (server CPU µs per operation) × 10⁶. It assumes perfect scaling and is a projection, not a measurement.";

/// The value of a round that says how many messages it was about.
pub(crate) const MESSAGES: &str = "messages";

/// Hardware threads of the machine of the published figures.
const THREADS: f64 = 64.0;

/// A figure of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Published {
    /// What it is a figure of.
    pub(crate) figure: Figure,
    /// The figure: operations per second, or µs.
    pub(crate) value: f64,
    /// Whose, of what, on what.
    pub(crate) source: String,
    /// It is what a whole large machine made: only a projection can stand beside it.
    #[serde(default)]
    pub(crate) whole_machine: bool,
    /// How many messages it is a figure of, where that counts. One of another amount has no ratio to it.
    #[serde(default)]
    pub(crate) messages: Option<u64>,
    /// How many hardware threads made it is not known: no projection stands beside it.
    #[serde(default)]
    pub(crate) unknown_threads: bool,
}

impl Published {
    /// Whether a projection stands beside it.
    pub(crate) fn projected(&self) -> bool {
        (self.whole_machine || self.figure == Figure::ServerCpu) && !self.unknown_threads
    }
}

/// Every published figure of a document beside the measured one, a line each, and whether one of them is a projection.
pub(crate) fn comparisons(document: &Document) -> (Vec<String>, bool) {
    let mut lines = Vec::new();
    let mut projected = false;
    for case in &document.cases {
        for figure in &case.published {
            projected |= figure.projected();
            lines.push(format!("{}: {}", case.name, compared(figure, case)));
        }
    }
    (lines, projected)
}

/// A published figure beside the measured one, in a line.
fn compared(published: &Published, case: &Case) -> String {
    let figure = &published.figure;
    let what = format!(
        "{} published ({})",
        figure.show(published.value),
        published.source
    );
    let server_us = Figure::ServerCpu.median(case);
    let ours = figure.median(case);
    let Some(ours) = ours.filter(|ours| *ours > 0.0) else {
        return what;
    };
    let mut text = format!("{what}; here {}", figure.show(ours));
    let amounts = published.messages.map(|amount| amount as f64);
    let amounts = amounts.zip(Figure::Value(MESSAGES.to_owned()).median(case));
    let less = published.value / ours;
    match (figure, amounts) {
        (Figure::Rate, _) if published.whole_machine => {}
        // A file may hold anything.
        _ if !(less.is_finite() && less > 0.0) => {}
        (_, Some((theirs, here))) if theirs != here => {
            let [theirs, here] = [theirs, here].map(count);
            text.push_str(&format!(
                " with {here} messages instead of {theirs}, so no ratio"
            ));
        }
        (Figure::Rate, _) => text.push_str(&format!(": {} ×", fixed(ours / published.value, 2))),
        _ if less >= 1.0 => text.push_str(&format!(": {} × less", fixed(less, 1))),
        _ => text.push_str(&format!(": {} × more", fixed(1.0 / less, 1))),
    }
    let projected = server_us
        .filter(|us| *us > 0.0 && published.projected())
        .map(|us| THREADS / us * 1e6);
    if let Some(projected) = projected.filter(|rate| rate.is_finite()) {
        let projected = count(projected);
        text.push_str(&format!("; projected to 64 threads {projected}/s"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Round;
    use super::super::samples::document;
    use super::super::samples::published;
    use super::*;

    #[test]
    fn the_projection_is_stated_with_its_figures() {
        let document = document();
        let case = document.case("2 KiB NP 60").unwrap();
        assert_eq!(
            compared(&case.published[0], case),
            "84.4 µs published (IBM MQ 9.4 on 32 cores); here 17.0 µs: 5.0 × less; projected to 64 threads 3,764,706/s"
        );
        let rate = published(Figure::Rate, 25_000.0, "x");
        assert_eq!(
            compared(&rate, case),
            "25,000/s published (x); here 50,000/s: 2.00 ×"
        );
        let machine = Published {
            whole_machine: true,
            ..published(Figure::Rate, 506_887.0, "x")
        };
        assert_eq!(
            compared(&machine, case),
            "506,887/s published (x); here 50,000/s; projected to 64 threads 3,764,706/s"
        );
        let cores = Published {
            whole_machine: true,
            unknown_threads: true,
            ..published(Figure::Rate, 40_000.0, "24 cores")
        };
        assert!(!cores.projected());
        assert_eq!(
            compared(&cores, case),
            "40,000/s published (24 cores); here 50,000/s"
        );
        assert_eq!(compared(&rate, &Case::default()), "25,000/s published (x)");
    }

    #[test]
    fn times_of_different_amounts_have_no_ratio() {
        let values = [("restart, s", 0.5), (MESSAGES, 20_000.0)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        let restarted = Case {
            rounds: vec![Round {
                values,
                ..Round::default()
            }],
            ..Case::default()
        };
        let compare = |value, messages| {
            let figure = Published {
                messages: Some(messages),
                ..published(Figure::Value("restart, s".to_owned()), value, "x")
            };
            compared(&figure, &restarted)
        };
        for (value, messages, expected) in [
            (
                10.0,
                20_000,
                "10.00 s published (x); here 0.50 s: 20.0 × less",
            ),
            (0.2, 20_000, "0.20 s published (x); here 0.50 s: 2.5 × more"),
            (
                10.0,
                5_000_000,
                "10.00 s published (x); here 0.50 s with 20,000 messages instead of 5,000,000, so no ratio",
            ),
        ] {
            assert_eq!(compare(value, messages), expected);
        }
    }

    #[test]
    fn absurd_figures_have_no_ratio() {
        let document = document();
        let case = &document.cases[2];
        for absurd in [0.0, -1.0, f64::NAN] {
            for figure in [Figure::ServerCpu, Figure::Rate, Figure::P50] {
                let text = compared(&published(figure, absurd, "x"), case);
                assert!(!text.contains('×') && !text.contains("inf"), "{text}");
            }
        }
        let mut nothing = case.clone();
        for round in &mut nothing.rounds {
            (round.operations, round.server_cpu_ns) = (u64::MAX, Some(1));
        }
        let text = compared(&published(Figure::ServerCpu, 1e308, "x"), &nothing);
        assert!(!text.contains("inf"), "{text}");
    }
}
