//! A program of a service: a process with a group of its own, in which is all that it starts in turn.
//!
//! Invariants: a program has its three standard files and none else of the queue manager's; whoever starts one
//! waits for nobody, so a pipe that nobody reads is an error; the number of a process
//! is its own until [`Program::collect`], so that a signal before that reaches no stranger.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use posthaste_admin::ComponentError;
use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::arguments::Variables;

/// What a program is started with.
pub(super) struct Given<'a> {
    pub(super) path: &'a str,
    pub(super) arguments: &'a [String],
    /// Standard output and error are added to these files; to nothing, where a path is empty.
    pub(super) outputs: [&'a str; 2],
    /// In its environment, beside what the queue manager has in its own.
    pub(super) variables: &'a Variables,
    /// Where it works.
    pub(super) folder: &'a Path,
}

/// A program that was started, by the number of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program(Pid);

impl Program {
    /// Starts one.
    pub(super) fn start(given: &Given<'_>) -> Result<Program, ComponentError> {
        let path = given.path;
        let refused = |why: String| ComponentError::CannotStart {
            program: path.to_owned(),
            why,
        };
        if !Path::new(path).is_absolute() {
            return Err(refused("its path does not begin with /".to_owned()));
        }
        let opened = |output: &str| {
            added_to(output)
                .map_err(|error| refused(format!("its output {output} cannot be opened: {error}")))
        };
        let [out, err] = given.outputs;
        let child = Command::new(path)
            .args(given.arguments)
            .envs(given.variables.all())
            .current_dir(given.folder)
            .stdin(Stdio::null())
            .stdout(opened(out)?)
            .stderr(opened(err)?)
            .process_group(0)
            .spawn();
        let child = child.map_err(|error| refused(error.to_string()))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        pid.map(Program)
            .ok_or_else(|| refused(format!("the system calls it {}", child.id())))
    }

    /// The number of its process.
    pub(super) fn pid(self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }

    /// Sends a signal to it and to what it has started.
    pub(super) fn signal(self, signal: Signal) {
        // It fails only if all of them have ended, which is what is wanted.
        let _ = kill_process_group(self.0, signal);
    }

    /// Waits until it has ended.
    pub(super) fn wait(self) {
        let _ = self.await_end(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }

    /// Waits until it has ended, and lets the system forget it: its number may become another's. Gives how it ended.
    pub(super) fn collect(self) -> String {
        let status = self.await_end(WaitIdOptions::EXITED);
        let code = status.as_ref().and_then(|status| status.exit_status());
        let signal = status.as_ref().and_then(|s| s.terminating_signal());
        match (code, signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "it is not known how".to_owned(),
        }
    }

    fn await_end(self, options: WaitIdOptions) -> Option<WaitIdStatus> {
        // It fails only where the system forgets ended processes by itself.
        let status = retry_on_intr(|| waitid(WaitId::Pid(self.0), options));
        status.ok().flatten()
    }
}

/// A file to add to; nowhere when there is no path.
fn added_to(path: &str) -> io::Result<Stdio> {
    if path.is_empty() {
        return Ok(Stdio::null());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
    let at_once = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file: OwnedFd = rustix::fs::open(path, at_once, Mode::from_raw_mode(0o666))?;
    // The program writes as it is used to.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file.into())
}
