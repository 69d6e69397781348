//! Standard output and standard error: a reader that goes away ends the output quietly, every other
//! failure has a name, and nothing panics.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use posthaste_env::is_no_space;
use posthaste_server::{Exit, Failure};

/// What is said to people on standard error.
pub(crate) fn complain(text: &str) {
    // Nobody is left to tell if this fails.
    let _ = writeln!(io::stderr(), "{text}");
}

/// A failure of standard input or output.
pub(crate) fn stream_failure(what: &str, error: &io::Error) -> Failure {
    let exit = match is_no_space(error) {
        true => Exit::NoSpace,
        false => Exit::CallFailed,
    };
    Failure::new(exit, "AMQ2210E", &[what, &error.to_string()])
}

/// Buffered standard output.
pub(crate) struct Out {
    inner: BufWriter<StdoutLock<'static>>,
    reader_gone: bool,
}

impl Out {
    /// Takes standard output.
    pub(crate) fn new() -> Out {
        Out {
            inner: BufWriter::new(io::stdout().lock()),
            reader_gone: false,
        }
    }

    /// Whether the program that read the output has gone (`| head`). That is not an error; nothing
    /// that is written from then on arrives.
    pub(crate) fn reader_gone(&self) -> bool {
        self.reader_gone
    }

    fn taken(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_gone = true;
                Ok(())
            }
            other => other.map_err(|error| stream_failure("standard output", &error)),
        }
    }

    /// Writes bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.reader_gone {
            return Ok(());
        }
        let written = self.inner.write_all(bytes);
        self.taken(written)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Brings everything out.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if self.reader_gone {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.taken(flushed)
    }
}

/// A line on standard output, brought out at once.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut out = Out::new();
    out.line(text)?;
    out.flush()
}

/// Progress of long work, shown only where standard error is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn with(bar: ProgressBar, template: &str) -> Progress {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        Progress { bar }
    }

    /// So many bytes are to be done.
    pub(crate) fn bytes(what: &str) -> Progress {
        let template = "{msg} {bar:30} {bytes}/{total_bytes} {eta}";
        let progress = Progress::with(ProgressBar::new(0), template);
        progress.bar.set_message(what.to_owned());
        progress
    }

    /// Messages are counted; how many there will be is known or not. Nothing is shown when a person
    /// types or reads the messages at the same terminal.
    pub(crate) fn messages(total: Option<u64>, shown: bool) -> Progress {
        let bar = match (shown && io::stderr().is_terminal(), total) {
            (false, _) => ProgressBar::hidden(),
            (true, Some(total)) => ProgressBar::new(total),
            (true, None) => ProgressBar::new_spinner(),
        };
        if bar.is_hidden() {
            return Progress { bar };
        }
        let template = match total {
            Some(_) => "{bar:30} {human_pos}/{human_len} messages, {per_sec}, {eta}",
            None => "{spinner} {human_pos} messages, {per_sec}",
        };
        let progress = Progress::with(bar, template);
        progress.bar.enable_steady_tick(Duration::from_millis(200));
        progress
    }

    /// How far it is.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// One more is done.
    pub(crate) fn one(&self) {
        self.bar.inc(1);
    }

    /// The work has ended.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// "1 message", "2 messages".
pub(crate) fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
