//! Figures of others that a case is compared with.
//!
//! The seeds are IBM's published performance papers; "RT" is a round trip of two puts and two gets. CPU is the
//! whole server's, in microseconds of one core (32 cores × share of CPU ÷ rate), so it includes what the kernel does.

use serde::{Deserialize, Serialize};

use super::Figure;
use super::summary::Summary;
use super::table::{count, fixed};

/// How a rate on few processors is set beside one on 64 hardware threads. Stated wherever it is used.
pub const PROJECTION: &str = "Projection rule: rate on 64 hardware threads = 64 ÷ (server CPU µs per operation) × 10⁶. It assumes perfect scaling and is a projection, not a measurement.";

/// Hardware threads of the machine of the published figures.
const THREADS: f64 = 64.0;

/// A figure of others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// What it is a figure of.
    pub figure: Figure,
    /// The figure: operations per second, or µs.
    pub value: f64,
    /// Whose, of what, on what.
    pub source: String,
}

impl Published {
    /// Server CPU per operation, µs.
    pub fn server_us(value: f64, source: &str) -> Published {
        Published {
            figure: Figure::ServerCpu,
            value,
            source: source.to_owned(),
        }
    }

    /// Operations per second.
    pub fn rate(value: f64, source: &str) -> Published {
        Published {
            figure: Figure::Rate,
            value,
            source: source.to_owned(),
        }
    }

    /// A value that is neither.
    pub fn value(name: &str, value: f64, source: &str) -> Published {
        Published {
            figure: Figure::Value(name.to_owned()),
            value,
            source: source.to_owned(),
        }
    }
}

/// A published figure beside the measured one, in a line.
pub fn compared(published: &Published, summary: &Summary) -> String {
    let shown = published.figure.show(published.value);
    let what = format!("{shown} published ({})", published.source);
    let ours = match published.figure {
        Figure::ServerCpu => summary.server_us.map(|spread| spread.median),
        Figure::Rate => summary.rate.map(|spread| spread.median),
        Figure::P50 | Figure::Value(_) => None,
    };
    let Some(ours) = ours.filter(|ours| *ours > 0.0) else {
        return what;
    };
    match published.figure {
        Figure::ServerCpu => {
            let projected = THREADS / ours * 1e6;
            format!(
                "{what}; here {}: {} × less; projected to 64 threads {}/s",
                published.figure.show(ours),
                fixed(published.value / ours, 1),
                count(projected)
            )
        }
        _ => format!(
            "{what}; here {}: {} ×",
            published.figure.show(ours),
            fixed(ours / published.value, 2)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::document;
    use super::super::summarise;
    use super::*;

    #[test]
    fn the_projection_is_stated_with_its_figures() {
        let document = document();
        let case = document.case("2 KiB NP 60").unwrap();
        let summary = summarise(&document, case);
        assert_eq!(
            compared(&case.published[0], &summary),
            "84.4 µs published (IBM MQ 9.4 on 32 cores); here 17.0 µs: 5.0 × less; projected to 64 threads 3,764,706/s"
        );
        let rate = Published::rate(25_000.0, "x");
        assert_eq!(
            compared(&rate, &summary),
            "25,000/s published (x); here 50,000/s: 2.00 ×"
        );
        assert_eq!(
            compared(&rate, &Summary::default()),
            "25,000/s published (x)"
        );
    }
}
