//! A process of our own that says a line when it is ready, and ends when its owner goes.
//!
//! Invariants: only the process started here is ever signalled, through its own handle; dropping the handle
//! ends it; its output is read until it ends, so that it never waits for its reader.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{self, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

/// Processes that were started and have not been waited for, so their numbers are still theirs. Whoever waits
/// holds the lock.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Kills every process that was started here: for the one end that cannot wait for handles to be dropped.
pub(crate) fn kill_all() {
    let running = RUNNING.lock();
    for pid in running.iter().filter_map(|pid| i32::try_from(*pid).ok()) {
        if let Some(pid) = Pid::from_raw(pid) {
            // It may have ended by itself just now.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// How long to wait for a process to be ready, and for it to end.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A running process.
#[derive(Debug)]
pub(crate) struct Child {
    process: process::Child,
    lines: Receiver<String>,
    timeout: Duration,
}

impl Child {
    /// Starts it, in a process group of its own, so that the terminal's Ctrl-C reaches its owner only.
    pub(crate) fn start(command: Command) -> io::Result<Child> {
        let (sender, lines) = mpsc::channel();
        let mut child = Child::start_for(command, move |line| {
            // Nobody may listen any more; the pipe is kept empty all the same.
            let _ = line.map(|line| sender.send(line));
        })?;
        child.lines = lines;
        Ok(child)
    }

    /// The same; `take` gets each line that it prints, and none when it has printed everything.
    pub(crate) fn start_for(
        mut command: Command,
        mut take: impl FnMut(Option<String>) + Send + 'static,
    ) -> io::Result<Child> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut process = command
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
        RUNNING.lock().insert(process.id());
        let output = process.stdout.take();
        let child = Child {
            process,
            lines: mpsc::channel().1,
            timeout: TIMEOUT,
        };
        if let Some(output) = output {
            thread::Builder::new()
                .name("child output".to_owned())
                .spawn(move || {
                    for line in BufReader::new(output).lines().map_while(Result::ok) {
                        take(Some(line));
                    }
                    take(None);
                })?;
        }
        Ok(child)
    }

    /// Its standard input, if that was asked for.
    pub(crate) fn input(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits for the first line that `wanted` makes something of.
    pub(crate) fn until<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> io::Result<T> {
        let deadline = Instant::now() + self.timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    if let Some(found) = wanted(&line) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.timeout.as_secs();
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        format!("it is not ready after {seconds} s"),
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait()?;
                    return Err(io::Error::other(format!(
                        "it ended before it was ready: {status}"
                    )));
                }
            }
        }
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let mut running = RUNNING.lock();
        let status = self.process.try_wait().ok().flatten();
        if status.is_some() {
            running.remove(&self.process.id());
        }
        status
    }

    /// The same, but it is given so long to end. Its standard output closes then; what it still says is of no interest.
    pub(crate) fn ends_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return self.wait().ok(),
                Err(RecvTimeoutError::Timeout) => return None,
            }
        }
    }

    /// Waits for its end, which has been brought about.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut running = RUNNING.lock();
        let status = self.process.wait()?;
        running.remove(&self.process.id());
        Ok(status)
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.wait().map(|_| ())
    }

    /// Sends it a signal; it may have ended, but has not been waited for, so its number is its own.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("it has no process number"))?;
        Ok(kill_process(pid, signal)?)
    }

    /// SIGTERM, and waits for an orderly end.
    pub(crate) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended() {
            return Ok(status);
        }
        self.signal(Signal::TERM)?;
        if let Some(status) = self.ends_within(self.timeout) {
            return Ok(status);
        }
        self.kill()?;
        let seconds = self.timeout.as_secs();
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no orderly end within {seconds} s"),
        ))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Whatever went wrong before, the process must not be left behind.
        if self.ended().is_none() {
            let _ = self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command
    }

    #[test]
    fn a_line_is_waited_for_and_an_early_end_is_told() {
        let mut child = Child::start(shell("echo one; echo two; exec sleep 600")).unwrap();
        let found = child.until(|line| (line == "two").then_some(2)).unwrap();
        assert_eq!(found, 2);
        assert!(child.ended().is_none());
        assert!(child.ends_within(Duration::ZERO).is_none());
        assert!(!child.end().unwrap().success());

        let mut child = Child::start(shell("exit 7")).unwrap();
        let error = child.until(|_| Some(())).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("ended before it was ready: exit status: 7")
        );
        let mut child = Child::start(shell("exit 7")).unwrap();
        let status = child.ends_within(Duration::from_secs(600)).unwrap();
        assert_eq!(status.code(), Some(7));
        let missing = Child::start(Command::new("/no/such/program"));
        assert!(
            missing
                .unwrap_err()
                .to_string()
                .contains("/no/such/program")
        );
    }

    #[test]
    fn silence_is_told_and_dropping_ends_it() {
        let mut child = Child::start(shell("exec sleep 600")).unwrap();
        child.timeout = Duration::from_millis(20);
        let pid = child.pid();
        let error = child.until(|_| Some(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(child);
        assert!(super::super::resident_bytes(pid).is_err());
    }
}
