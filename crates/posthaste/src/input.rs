//! Standard input that ends at Ctrl-C, so that a command that reads it can say what it has done.
//!
//! Invariant: after the first SIGINT, SIGTERM or SIGHUP a read that waits returns at once, and nothing more is read; the
//! second ends the process.

use std::io::{self, PipeReader, Read, StdinLock};
use std::time::Duration;

use posthaste_server::{Failure, Interrupt};
use rustix::event::{PollFd, PollFlags, poll};

use crate::output::stream_failure;

/// How long the thread that waits for a signal sleeps at a time; it is woken by the signal.
const LONG: Duration = Duration::from_secs(3600);

/// Ctrl-C and its like, for commands that put and get.
///
/// # Errors
/// Signals cannot be caught.
pub(crate) fn interrupt() -> Result<Interrupt, Failure> {
    Interrupt::on_signals().map_err(|error| stream_failure("the terminal's signals", &error))
}

/// Standard input.
pub(crate) struct Input {
    stdin: StdinLock<'static>,
    interrupt: Interrupt,
    /// Readable when a signal has come.
    wake: PipeReader,
}

impl Input {
    /// Takes standard input.
    ///
    /// # Errors
    /// There are no descriptors or threads left.
    pub(crate) fn new(interrupt: &Interrupt) -> Result<Input, Failure> {
        let failed = |error: io::Error| stream_failure("standard input", &error);
        let (wake, held) = io::pipe().map_err(failed)?;
        let raised = interrupt.clone();
        std::thread::Builder::new()
            .name("interrupt".to_owned())
            .spawn(move || {
                while !raised.pass(LONG) {}
                // Its end is what the reader waits for.
                drop(held);
            })
            .map_err(failed)?;
        Ok(Input {
            stdin: io::stdin().lock(),
            interrupt: interrupt.clone(),
            wake,
        })
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut either = [
            PollFd::new(&self.stdin, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        loop {
            match poll(&mut either, None) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match self.interrupt.raised() {
            true => Ok(0),
            false => self.stdin.read(buf),
        }
    }
}
