//! Charts as SVG: lines over an axis, and bars.
//!
//! Drawn here and not by a library because a report needs two kinds of chart whose colours follow the
//! reader's dark or light page, and whose text stays text. All coordinates are in a fixed box; the page scales it.

use std::fmt::Write as _;

/// Width of the box.
const WIDTH: f64 = 640.0;
/// Height of the plot of a line chart.
const PLOT: f64 = 240.0;
/// Room on the left for the figures of the axis.
const LEFT: f64 = 64.0;
/// Room on the right.
const RIGHT: f64 = 16.0;
/// Room above the plot, for the title.
const TOP: f64 = 44.0;
/// Height of a line of the legend.
const LEGEND: f64 = 20.0;
/// Height of a bar with its distance to the next.
const BAR: f64 = 34.0;
/// Colours that can be told apart by most people, on light and on dark.
const COLOURS: usize = 8;

/// Style of a chart that stands alone; a page has the same in its own. No variables: simple renderers do not know them.
pub(super) const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1b1f24}.t{font-weight:600;font-size:15px}.m{fill:#57606a}\
.g{stroke:#d0d7de;stroke-width:1}.a{stroke:#57606a;stroke-width:1}.l{fill:none;stroke-width:2}\
.d{stroke-dasharray:5 4}\
.c0.l,.c0.p{stroke:#0b62b8}.c0.p,.c0.b{fill:#0b62b8}.c1.l,.c1.p{stroke:#c2410c}.c1.p,.c1.b{fill:#c2410c}.c2.l,.c2.p{stroke:#15803d}.c2.p,.c2.b{fill:#15803d}.c3.l,.c3.p{stroke:#a21caf}.c3.p,.c3.b{fill:#a21caf}.c4.l,.c4.p{stroke:#a16207}.c4.p,.c4.b{fill:#a16207}.c5.l,.c5.p{stroke:#0e7490}.c5.p,.c5.b{fill:#0e7490}.c6.l,.c6.p{stroke:#b91c1c}.c6.p,.c6.b{fill:#b91c1c}.c7.l,.c7.p{stroke:#57606a}.c7.p,.c7.b{fill:#57606a}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.m{fill:#9aa4af}.g{stroke:#30363d}.a{stroke:#9aa4af}\
.c0.l,.c0.p{stroke:#58a6ff}.c0.p,.c0.b{fill:#58a6ff}.c1.l,.c1.p{stroke:#ff9d5c}.c1.p,.c1.b{fill:#ff9d5c}.c2.l,.c2.p{stroke:#4ade80}.c2.p,.c2.b{fill:#4ade80}.c3.l,.c3.p{stroke:#e879f9}.c3.p,.c3.b{fill:#e879f9}.c4.l,.c4.p{stroke:#facc15}.c4.p,.c4.b{fill:#facc15}.c5.l,.c5.p{stroke:#22d3ee}.c5.p,.c5.b{fill:#22d3ee}.c6.l,.c6.p{stroke:#ff8080}.c6.p,.c6.b{fill:#ff8080}.c7.l,.c7.p{stroke:#9aa4af}.c7.p,.c7.b{fill:#9aa4af}}";

/// Text as it may stand in HTML and SVG.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has no way to write these.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

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

/// The next larger of 1, 2, 2.5, 5 times a power of ten.
fn nice(value: f64) -> f64 {
    if !value.is_finite() || value <= 1e-300 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let fits = steps.iter().find(|step| *step * power >= value * 0.999_999);
    fits.map_or(10.0 * power, |step| step * power)
}

/// Whether a point can be drawn: it has a place, and so have sums of such.
fn drawable((x, y): (f64, f64)) -> bool {
    [x, y].iter().all(|value| value.abs() <= 1e300)
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

/// Opens the element; `alone` gives it a style and a background-free box of its own.
fn open(height: f64, title: &str, alone: bool) -> String {
    let style = match alone {
        true => format!("<style>{STYLE}</style>"),
        false => String::new(),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\">{style}<text class=\"t\" x=\"8\" y=\"22\">{0}</text>",
        escaped(title)
    )
}

/// How values lie on the level axis: evenly, or by their logarithm where they span much.
struct Level {
    least: f64,
    greatest: f64,
    logarithmic: bool,
}

impl Level {
    fn of(values: &[f64]) -> Level {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Level {
            least,
            greatest,
            logarithmic: least > 0.0 && greatest / least >= 20.0,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let (least, greatest, value) = match self.logarithmic {
            true => (self.least.ln(), self.greatest.ln(), value.ln()),
            false => (self.least, self.greatest, value),
        };
        let share = match greatest > least {
            true => (value - least) / (greatest - least),
            false => 0.5,
        };
        LEFT + 12.0 + share * (WIDTH - LEFT - RIGHT - 24.0)
    }
}

impl LineChart {
    /// Whether there is anything to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.points.is_empty())
    }

    /// As an element.
    pub(crate) fn svg(&self, alone: bool) -> String {
        let mut across: Vec<f64> = self.points().map(|(x, _)| x).collect();
        across.sort_by(f64::total_cmp);
        across.dedup();
        let level = Level::of(&across);
        let top = self.points().map(|(_, y)| y).fold(0.0, f64::max);
        let step = nice(top / 4.0);
        let steps = (top / step).ceil().max(1.0);
        let upright = |value: f64| TOP + PLOT - (value / (step * steps)).max(0.0) * PLOT;
        let rows = self.lines.len().div_ceil(2);
        let height = TOP + PLOT + 48.0 + LEGEND * rows as f64;
        let mut out = open(height, &self.title, alone);
        self.grid(&mut out, &across, &level, (step, steps));
        for line in &self.lines {
            line.draw(&mut out, &level, &upright);
        }
        self.legend(&mut out);
        out.push_str("</svg>");
        out
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let all = self
            .lines
            .iter()
            .flat_map(|line| line.points.iter().copied());
        all.filter(|point| drawable(*point))
    }

    fn grid(&self, out: &mut String, across: &[f64], level: &Level, (step, steps): (f64, f64)) {
        let mut number = 0.0;
        while number <= steps {
            let y = TOP + PLOT - number / steps * PLOT;
            let right = WIDTH - RIGHT;
            // Writing to a String does not fail.
            let _ = write!(
                out,
                "<line class=\"g\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/><text class=\"m\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                short(number * step)
            );
            number += 1.0;
        }
        let mut last = f64::NEG_INFINITY;
        for value in across {
            let x = level.place(*value);
            // Figures that would run into each other are left out.
            if x - last < 34.0 {
                continue;
            }
            last = x;
            let _ = write!(
                out,
                "<text class=\"m\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                TOP + PLOT + 18.0,
                short(*value)
            );
        }
        let _ = write!(
            out,
            "<text class=\"m\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            TOP + PLOT + 36.0,
            escaped(&self.axis)
        );
    }

    fn legend(&self, out: &mut String) {
        for (index, line) in self.lines.iter().enumerate() {
            let x = 12.0 + (index % 2) as f64 * WIDTH / 2.0;
            let y = TOP + PLOT + 58.0 + (index / 2) as f64 * LEGEND;
            let _ = write!(
                out,
                "<line class=\"l c{}{}\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                line.colour % COLOURS,
                line.dash(),
                y - 4.0,
                x + 24.0,
                y - 4.0,
                x + 32.0,
                escaped(&line.name)
            );
        }
    }
}

impl Line {
    fn dash(&self) -> &'static str {
        match self.dashed {
            true => " d",
            false => "",
        }
    }

    fn draw(&self, out: &mut String, level: &Level, upright: &dyn Fn(f64) -> f64) {
        let places: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter(|point| drawable(**point))
            .map(|(x, y)| (level.place(*x), upright(*y)))
            .collect();
        let colour = self.colour % COLOURS;
        if places.len() > 1 {
            let path: Vec<String> = places
                .iter()
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = write!(
                out,
                "<polyline class=\"l c{colour}{}\" points=\"{}\"/>",
                self.dash(),
                path.join(" ")
            );
        }
        for (x, y) in places {
            let _ = write!(
                out,
                "<circle class=\"p c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"
            );
        }
    }
}

impl BarChart {
    /// As an element.
    pub(crate) fn svg(&self, alone: bool) -> String {
        let longest = self.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let note = if self.note.is_empty() { 8.0 } else { 30.0 };
        let height = TOP + BAR * 1.35 * self.bars.len() as f64 + note;
        let mut out = open(height, &self.title, alone);
        for (index, bar) in self.bars.iter().enumerate() {
            let y = TOP + index as f64 * BAR * 1.35;
            let share = if longest > 0.0 {
                bar.value / longest
            } else {
                0.0
            };
            // The figure stands behind the bar, so the longest one leaves room for it.
            let width = (share.max(0.0) * (WIDTH - 190.0)).max(1.0);
            let _ = write!(
                out,
                "<text x=\"8\" y=\"{:.1}\">{}</text><rect class=\"b c{}\" x=\"8\" y=\"{:.1}\" width=\"{width:.1}\" height=\"18\" rx=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                y + 12.0,
                escaped(&bar.name),
                bar.colour % COLOURS,
                y + 18.0,
                width + 16.0,
                y + 32.0,
                escaped(&bar.label)
            );
        }
        if !self.note.is_empty() {
            let _ = write!(
                out,
                "<text class=\"m\" x=\"8\" y=\"{:.1}\">{}</text>",
                height - 10.0,
                escaped(&self.note)
            );
        }
        out.push_str("</svg>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (value, expected) in [
            (0.0, 1.0),
            (0.7, 1.0),
            (1.1, 2.0),
            (2.3, 2.5),
            (30.0, 50.0),
            (70_000.0, 100_000.0),
            (0.02, 0.02),
        ] {
            assert!((nice(value) - expected).abs() < expected * 1e-9, "{value}");
        }
        for (value, expected) in [(0.0, "0"), (1_500.0, "1.5k"), (2e6, "2M"), (0.25, "0.25")] {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn lines_are_drawn_where_they_belong() {
        let chart = LineChart {
            title: "a < b".to_owned(),
            axis: "requesters".to_owned(),
            lines: vec![Line {
                name: "one".to_owned(),
                colour: 9,
                dashed: true,
                points: vec![(0.0, 0.0), (10.0, 4.0)],
            }],
        };
        let text = chart.svg(false);
        // From the lower left corner of the plot to the upper right one.
        assert!(text.contains("<polyline class=\"l c1 d\" points=\"76.0,284.0 612.0,44.0\"/>"));
        assert!(text.contains("aria-label=\"a &lt; b\""));
        assert!(!text.contains("<style>"));
        assert!(text.contains(">requesters</text>") && text.contains(">one</text>"));
        assert_eq!(text.matches("<circle").count(), 2);
        assert!(chart.svg(true).contains("prefers-color-scheme:dark"));
        assert!(!chart.is_empty());
    }

    #[test]
    fn a_wide_axis_is_logarithmic_and_a_single_value_stands_in_the_middle() {
        let level = Level::of(&[1.0, 10.0, 100.0]);
        assert!(level.logarithmic);
        let middle = (level.place(1.0) + level.place(100.0)) / 2.0;
        assert!((level.place(10.0) - middle).abs() < 1e-6);
        let single = Level::of(&[60.0]);
        assert!((single.place(60.0) - middle).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_a_number_is_not_drawn() {
        let chart = LineChart {
            title: String::new(),
            axis: String::new(),
            lines: vec![Line {
                name: String::new(),
                colour: 0,
                dashed: false,
                points: vec![(1.0, f64::NAN), (2.0, f64::INFINITY)],
            }],
        };
        let text = chart.svg(false);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        for points in [
            vec![(-1e308, 1.0), (1e308, 2.0)],
            vec![(-1e300, 1.0), (1e300, 1e300)],
            vec![(1.0, 1e308), (2.0, -1e308)],
            vec![(5e-324, 5e-324), (1.0, 0.0)],
        ] {
            let mut chart = chart.clone();
            chart.lines[0].points = points;
            let text = chart.svg(false);
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            assert!(!text.contains("\"-"), "{text}");
        }
    }

    #[test]
    fn text_has_no_characters_that_xml_has_not() {
        assert_eq!(
            escaped("a\u{1}\u{1b}[31m\tb\n<\u{ffff}>"),
            "a\u{fffd}\u{fffd}[31m\tb\n&lt;\u{fffd}&gt;"
        );
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bar = |name: &str, value| Bar {
            name: name.to_owned(),
            value,
            label: format!("{value} µs"),
            colour: 0,
        };
        let chart = BarChart {
            title: "t".to_owned(),
            note: "n".to_owned(),
            bars: vec![bar("long", 10.0), bar("short", 5.0)],
        };
        assert_eq!(
            chart.svg(false),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 165.8\" role=\"img\" aria-label=\"t\"><text class=\"t\" x=\"8\" y=\"22\">t</text>\
<text x=\"8\" y=\"56.0\">long</text><rect class=\"b c0\" x=\"8\" y=\"62.0\" width=\"450.0\" height=\"18\" rx=\"2\"/><text x=\"466.0\" y=\"76.0\">10 µs</text>\
<text x=\"8\" y=\"101.9\">short</text><rect class=\"b c0\" x=\"8\" y=\"107.9\" width=\"225.0\" height=\"18\" rx=\"2\"/><text x=\"241.0\" y=\"121.9\">5 µs</text>\
<text class=\"m\" x=\"8\" y=\"155.8\">n</text></svg>"
        );
    }
}
