//! What is told while a run goes on, on standard error: what is measured, and how long is left.
//!
//! On a terminal it is one line that changes; elsewhere a line per scenario, so that a log stays short.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress of a run of several scenarios.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: bool,
    windows: u64,
    done: u64,
    /// How long a window is expected to take, in seconds, on the average.
    each: f64,
    began: Instant,
}

impl Progress {
    /// So many windows will be measured, in about this time in all.
    pub(super) fn new(windows: u64, all: Duration) -> Progress {
        let shown = io::stderr().is_terminal();
        let bar = match shown {
            true => ProgressBar::new(windows),
            false => ProgressBar::hidden(),
        };
        if shown {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            let template =
                "{bar:24} {pos}/{len}  {elapsed_precise}, about {prefix} left  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        let progress = Progress {
            bar,
            shown,
            windows,
            done: 0,
            each: all.as_secs_f64() / windows.max(1) as f64,
            began: Instant::now(),
        };
        progress.bar.set_prefix(clock(progress.left()));
        progress
    }

    /// Nothing is told.
    #[cfg(test)]
    pub(super) fn silent() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
            shown: true,
            windows: 0,
            done: 0,
            each: 1.5,
            began: Instant::now(),
        }
    }

    /// A scenario begins.
    pub(super) fn scenario(&self, name: &str, cases: usize, rounds: u32) {
        if !self.shown {
            // Nobody is left to tell if this fails.
            let left = clock(self.left());
            let _ = writeln!(
                io::stderr(),
                "{name}: {cases} cases × {rounds} rounds (about {left} left in all)"
            );
        }
    }

    /// A window begins.
    pub(super) fn window(&self, scenario: &str, case: &str, round: u32) {
        self.bar
            .set_message(format!("{scenario}: {case}, round {round}"));
    }

    /// A window, or so many that were not measured, are over.
    pub(super) fn over(&mut self, windows: u64) {
        self.done += windows;
        self.bar.set_position(self.done);
        self.bar.set_prefix(clock(self.left()));
    }

    /// Seconds that are left, if the rest takes as long as what is done.
    fn left(&self) -> f64 {
        let left = self.windows.saturating_sub(self.done) as f64;
        match self.done {
            0 => left * self.each,
            done => self.began.elapsed().as_secs_f64() / done as f64 * left,
        }
    }

    /// Makes room for a table.
    pub(super) fn print(&self, text: &str) -> io::Result<()> {
        self.bar.suspend(|| {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 359_999.0).round() as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable_and_what_is_left_shrinks() {
        assert_eq!(
            (clock(0.4), clock(59.6), clock(605.0)),
            ("0:00".into(), "1:00".into(), "10:05".into())
        );
        let mut progress = Progress::silent();
        progress.windows = 4;
        assert_eq!(progress.left(), 6.0);
        progress.over(1);
        let before = progress.left();
        progress.over(3);
        assert_eq!(progress.left(), 0.0);
        assert!(before >= 0.0);
    }
}
