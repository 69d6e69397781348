//! Charts as SVG: lines over an axis, and bars, drawn by `plotters` ([017](../../../../docs/decisions/017-charts-and-page-by-libraries.md)).
//!
//! Invariants: every colour is one of [`PALETTE`], so that [`style`] can exchange it where the reader's page is dark; text
//! stays text; what is not a number, or beyond all measure, is not drawn.

use std::fmt::Display;

use minijinja::HtmlEscape;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::LabError;

/// Width of a chart; the page scales it.
const WIDTH: u32 = 640;
/// Height of a line chart without its legend, which has two lines in a row.
const PLOT: u32 = 312;
const LEGEND: u32 = 20;
/// Height of a bar with its name and its distance to the next.
const BAR: i32 = 46;
/// A colour on a light page, and on a dark one: series that most people can tell apart, the last of them for floors;
/// text; the lines of the grid.
const PALETTE: [(u32, u32); 10] = [
    (0x0B_62B8, 0x58_A6FF),
    (0xC2_410C, 0xFF_9D5C),
    (0x15_803D, 0x4A_DE80),
    (0xA2_1CAF, 0xE8_79F9),
    (0xA1_6207, 0xFA_CC15),
    (0x0E_7490, 0x22_D3EE),
    (0xB9_1C1C, 0xFF_8080),
    (0x57_606A, 0x9A_A4AF),
    (0x1B_1F24, 0xE6_EDF3),
    (0xD0_D7DE, 0x30_363D),
];
/// The colour of floors.
pub(super) const GREY: usize = 7;
const TEXT: usize = 8;
const GRID: usize = 9;
/// Figures beyond it are none: nothing that is measured is so large.
const BEYOND: f64 = 1e15;

/// A line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// What the legend calls it.
    pub(crate) name: String,
    /// Its colour, by number; lines that belong together have the same.
    pub(crate) colour: usize,
    /// Dashed.
    pub(crate) dashed: bool,
    /// Where it goes, from left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineChart {
    /// What it shows, with the unit of the upright axis.
    pub(crate) title: String,
    /// What the level axis is.
    pub(crate) axis: String,
    /// The lines.
    pub(crate) lines: Vec<Line>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// What it is.
    pub(crate) name: String,
    /// How long it is.
    pub(crate) value: f64,
    /// The figure beside it.
    pub(crate) label: String,
    /// Its colour, by number.
    pub(crate) colour: usize,
}

/// Bars one below the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarChart {
    /// What it shows.
    pub(crate) title: String,
    /// What stands below it.
    pub(crate) note: String,
    /// The bars.
    pub(crate) bars: Vec<Bar>,
}

/// Style for a page with charts: the colours of a dark page, and text in the page's own face.
pub(super) fn style() -> String {
    let exchanged = PALETTE.iter().flat_map(|(light, dark)| {
        ["fill", "stroke"]
            .map(|what| format!("svg [{what}=\"#{light:06X}\"]{{{what}:#{dark:06X}}}"))
    });
    let exchanged: String = exchanged.collect();
    format!(
        "svg text{{font-family:system-ui,sans-serif}}@media(prefers-color-scheme:dark){{{exchanged}}}"
    )
}

fn colour(number: usize) -> RGBColor {
    let (light, _) = PALETTE.get(number).copied().unwrap_or_default();
    let [_, red, green, blue] = light.to_be_bytes();
    RGBColor(red, green, blue)
}

fn series(number: usize) -> RGBColor {
    colour(number % (GREY + 1))
}

fn font(size: i32, number: usize) -> TextStyle<'static> {
    let font = ("sans-serif", size).into_font().color(&colour(number));
    font.pos(Pos::new(HPos::Left, VPos::Center))
}

/// Text without the characters that XML has no way to write.
fn clean(text: &str) -> String {
    let known = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let replaced = text.chars().map(|c| if known(c) { c } else { '\u{fffd}' });
    replaced.collect()
}

/// A figure on an axis: 1,500 is "1.5k".
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let text = format!("{scaled:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

/// A chart of this height as an element; `alone` gives it a style of its own.
fn element<E: Display>(
    title: &str,
    height: u32,
    alone: bool,
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), E>,
) -> Result<String, LabError> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&root).map_err(|error| LabError::workload("a chart cannot be drawn", error))?;
    }
    let label = clean(title);
    let label = HtmlEscape(&label);
    let mut svg = svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{label}\" "),
        1,
    );
    if alone && let Some(inside) = svg.find('>') {
        svg.insert_str(inside + 1, &format!("<style>{}</style>", style()));
    }
    Ok(svg)
}

impl LineChart {
    /// As an element.
    pub(crate) fn svg(&self, alone: bool) -> Result<String, LabError> {
        let legend = LEGEND * u32::try_from(self.lines.len().div_ceil(2)).unwrap_or(0) + 8;
        element(&self.title, PLOT + legend, alone, |root| {
            let (above, below) = root.split_vertically(PLOT);
            self.plot(&above)?;
            for (index, line) in (0i32..).zip(&self.lines) {
                let (x, y) = (12 + index % 2 * 320, 10 + index / 2 * 20);
                below.draw(&line.stroke(vec![(x, y), (x + 24, y)]))?;
                let style = font(15, TEXT);
                below.draw(&Text::new(clean(&line.name), (x + 32, y), style))?;
            }
            Ok::<(), DrawingAreaErrorKind<std::io::Error>>(())
        })
    }

    fn plot(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let points = || self.lines.iter().flat_map(Line::drawable);
        // Values stand at the level axis one after the other: most sweeps grow by factors.
        let mut across: Vec<f64> = points().map(|(x, _)| x).collect();
        across.sort_by(f64::total_cmp);
        across.dedup();
        let place = |value: f64| across.partition_point(|other| *other < value) as i32;
        let label = |place: &i32| {
            let value = usize::try_from(*place)
                .ok()
                .and_then(|place| across.get(place));
            value.map_or_else(String::new, |value| short(*value))
        };
        let top = points().map(|(_, y)| y).fold(1.0 / BEYOND, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(clean(&self.title), font(18, TEXT))
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d(-1..across.len() as i32, 0.0..top * 1.05)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(colour(GRID))
            .axis_style(colour(GRID))
            .label_style(("sans-serif", 15).into_font().color(&colour(GREY)))
            .x_labels(across.len() + 2)
            .y_labels(6)
            .x_label_formatter(&label)
            .y_label_formatter(&|value| short(*value))
            .x_desc(clean(&self.axis))
            .draw()?;
        for line in &self.lines {
            let placed = || line.drawable().map(|(x, y)| (place(x), y));
            chart.draw_series([line.stroke(placed().collect())])?;
            let point = |at| Circle::new(at, 3, series(line.colour).filled());
            chart.draw_series(placed().map(point))?;
        }
        Ok(())
    }
}

impl Line {
    /// Its points that have a place.
    fn drawable(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.points.iter().copied();
        points.filter(|(x, y)| x.abs() <= BEYOND && (0.0..=BEYOND).contains(y))
    }

    fn stroke<P>(&self, places: Vec<P>) -> DashedPathElement<std::vec::IntoIter<P>, i32>
    where
        P: Clone,
    {
        let dash = if self.dashed { 6 } else { i32::MAX };
        DashedPathElement::new(places, dash, 4, series(self.colour).stroke_width(2))
    }
}

impl BarChart {
    /// As an element.
    pub(crate) fn svg(&self, alone: bool) -> Result<String, LabError> {
        let count = i32::try_from(self.bars.len()).unwrap_or(i32::MAX);
        let note = if self.note.is_empty() { 0 } else { 24 };
        let height = u32::try_from(44 + BAR * count + note).unwrap_or(0);
        let values = self.bars.iter().map(|bar| bar.value);
        let longest = values.filter(|value| *value <= BEYOND).fold(0.0, f64::max);
        element(&self.title, height, alone, |root| {
            let text = |text: &str, at: (i32, i32), size, number| {
                root.draw(&Text::new(clean(text), at, font(size, number)))
            };
            text(&self.title, (8, 20), 18, TEXT)?;
            for (index, bar) in (0i32..).zip(&self.bars) {
                let y = 44 + index * BAR;
                // The figure stands behind the bar, so the longest one leaves room for it.
                let share = (bar.value / longest.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                let end = 9 + (share * f64::from(WIDTH - 190)) as i32;
                text(&bar.name, (8, y + 8), 16, TEXT)?;
                let corners = [(8, y + 18), (end, y + 36)];
                root.draw(&Rectangle::new(corners, series(bar.colour).filled()))?;
                text(&bar.label, (end + 8, y + 27), 16, TEXT)?;
            }
            match note {
                0 => Ok(()),
                _ => text(&self.note, (8, 56 + BAR * count), 15, GREY),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)]) -> LineChart {
        LineChart {
            title: "a < b".to_owned(),
            axis: "requesters".to_owned(),
            lines: vec![Line {
                name: "one\u{1}".to_owned(),
                colour: 1,
                dashed: false,
                points: points.to_vec(),
            }],
        }
    }

    #[test]
    fn lines_are_drawn_with_their_names_and_figures() {
        let svg = chart(&[(1.0, 0.0), (10.0, 750.0), (100.0, 1_500.0)])
            .svg(true)
            .unwrap();
        for part in [
            "aria-label=\"a &lt; b\"",
            "requesters",
            "one\u{fffd}",
            "1.5k",
            "100",
            "@media",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(!chart(&[(1.0, 1.0)]).svg(false).unwrap().contains("<style>"));
    }

    #[test]
    fn what_is_no_figure_is_not_drawn() {
        for points in [
            vec![],
            vec![(1.0, f64::NAN), (2.0, f64::INFINITY)],
            vec![(-1e308, 1.0), (1e308, 2.0)],
            vec![(1.0, 1e308), (2.0, -1e308)],
            vec![(-1e15, 1e15), (1e15, 1e15)],
            vec![(5e-324, 5e-324), (1.0, 0.0)],
        ] {
            let svg = chart(&points).svg(false).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let bar = |value| Bar {
            name: "n".to_owned(),
            value,
            label: "l".to_owned(),
            colour: 0,
        };
        let bars = [f64::NAN, 1e308, 10.0, 5.0, -1.0].map(bar).to_vec();
        let bars = BarChart {
            title: String::new(),
            note: "note".to_owned(),
            bars,
        };
        let svg = bars.svg(false).unwrap();
        assert!(
            svg.contains("width=\"451\"") && svg.contains("width=\"226\""),
            "{svg}"
        );
    }
}
