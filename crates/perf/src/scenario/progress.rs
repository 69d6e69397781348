//! What is told while a run goes on, on standard error: what is measured, and how long is left.
//!
//! On a terminal it is one line that changes; elsewhere a line per scenario, so that a log stays short.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// Progress of a run of several scenarios.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// So many windows will be measured, in about this time in all.
    pub(super) fn new(windows: u64, all: Duration) -> Progress {
        let bar = ProgressBar::new(windows);
        let template = "{bar:24} {pos}/{len}  {elapsed_precise}, about {eta} left  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let progress = Progress { bar };
        progress.tell(&format!("About {} in all", HumanDuration(all)));
        progress.bar.enable_steady_tick(Duration::from_millis(500));
        progress
    }

    /// A line in a log.
    fn tell(&self, line: &str) {
        if self.bar.is_hidden() {
            // Nobody is left to tell if this fails.
            let _ = writeln!(io::stderr(), "{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// A scenario begins.
    pub(super) fn scenario(&self, name: &str, cases: usize, rounds: u32) {
        self.tell(&format!("{name}: {cases} cases × {rounds} rounds"));
    }

    /// A window begins.
    pub(super) fn window(&self, scenario: &str, case: &str, round: u32) {
        self.bar
            .set_message(format!("{scenario}: {case}, round {round}"));
    }

    /// A window, or so many that were not measured, are over.
    pub(super) fn over(&self, windows: u64) {
        self.bar.inc(windows);
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
