//! Why a measurement was not made.
//!
//! Invariant: every failure says what was being done, to what, and why it did not work, and has an exit code of
//! the table of all commands.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use posthaste_env::is_no_space;
use posthaste_mqi::Reason;
use posthaste_server::{Exit, Failure, Interrupt};
use thiserror::Error;

/// A failure of the laboratory, in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabError {
    /// What was asked for is not possible.
    #[error("{0}")]
    BadInput(String),
    /// A file or folder cannot be used.
    #[error("{path}: {why}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// There is no room on the disk.
    #[error("the disk is full: {0}")]
    NoSpace(String),
    /// The queue manager under test did not start, or ended while it was measured.
    #[error("the queue manager under test: {what}{}", LastOutput(.output))]
    Server {
        /// What happened.
        what: String,
        /// The end of what it said on standard error.
        output: String,
    },
    /// The workload failed, or what it is made of.
    #[error("{what}: {why}")]
    Workload {
        /// Which one, or what was being done.
        what: String,
        /// Why.
        why: String,
    },
    /// Nobody answers an application.
    #[error("queue manager {queue_manager} cannot be reached: {why} ({reason})")]
    Unreachable {
        /// The queue manager.
        queue_manager: String,
        /// The system's words.
        why: String,
        /// The reason code.
        reason: Reason,
    },
    /// A call of an application failed.
    #[error("{call} of {object} ended with reason {reason}: {why}")]
    Call {
        /// The call.
        call: &'static str,
        /// Queue or queue manager.
        object: String,
        /// The reason code.
        reason: Reason,
        /// What it means.
        why: String,
    },
    /// No reply came.
    #[error("no message came on {queue} in time (-to) ({reason})", reason = Reason::NO_MSG_AVAILABLE)]
    NoReply {
        /// Where it was awaited.
        queue: String,
    },
    /// Not everything was ready in time.
    #[error("{ready} of {applications} applications were ready after {} s (-wt)", within.as_secs_f64())]
    StartTimedOut {
        /// Ready.
        ready: u32,
        /// Asked for.
        applications: u32,
        /// How long they had.
        within: Duration,
    },
    /// A program is not on this machine that the scenario needs.
    #[error("{0}")]
    Lacks(String),
    /// A results file of another format, or no results file.
    #[error("{path}: {why}")]
    Results {
        /// Which.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A count is above its budget, or a target was not reached.
    #[error("{0}")]
    Missed(String),
    /// The person at the terminal ended the run.
    #[error("interrupted")]
    Interrupted,
}

struct LastOutput<'a>(&'a str);

impl fmt::Display for LastOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => Ok(()),
            false => write!(f, "; it said:\n{}", self.0),
        }
    }
}

impl LabError {
    /// The operating system refused something about a file.
    pub(crate) fn io(path: &Path, error: io::Error) -> LabError {
        match is_no_space(&error) {
            true => LabError::NoSpace(path.display().to_string()),
            false => LabError::Io {
                path: path.to_owned(),
                why: error.to_string(),
            },
        }
    }

    /// A workload that failed, or what it is made of.
    pub(crate) fn workload(what: impl Into<String>, why: impl fmt::Display) -> LabError {
        LabError::Workload {
            what: what.into(),
            why: why.to_string(),
        }
    }

    /// A queue manager under test that failed without a word.
    pub(crate) fn broken(what: impl Into<String>) -> LabError {
        LabError::Server {
            what: what.into(),
            output: String::new(),
        }
    }

    /// A command's failure about a folder.
    pub(crate) fn refused(folder: &Path, failure: &Failure) -> LabError {
        match failure.exit {
            Exit::NoSpace => LabError::NoSpace(failure.line()),
            _ => LabError::io(folder, io::Error::other(failure.line())),
        }
    }

    /// A queue manager's own failure.
    pub(crate) fn server(doing: &str, failure: &Failure) -> LabError {
        match failure.exit {
            Exit::NoSpace => LabError::NoSpace(failure.line()),
            _ => LabError::broken(format!("{doing}: {}", failure.line())),
        }
    }

    /// The exit code of a command that failed so.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            LabError::BadInput(_) | LabError::Lacks(_) => Exit::BadParameter,
            LabError::Io { .. } => Exit::Unusable,
            LabError::NoSpace(_) => Exit::NoSpace,
            LabError::Results { .. } => Exit::Inconsistent,
            LabError::Unreachable { .. } => Exit::NotRunning,
            LabError::Server { .. }
            | LabError::Workload { .. }
            | LabError::Call { .. }
            | LabError::NoReply { .. }
            | LabError::StartTimedOut { .. }
            | LabError::Missed(_)
            | LabError::Interrupted => Exit::CallFailed,
        }
    }
}

/// An interruption is a failure.
pub(crate) fn uninterrupted(interrupt: &Interrupt) -> Result<(), LabError> {
    match interrupt.raised() {
        true => Err(LabError::Interrupted),
        false => Ok(()),
    }
}

/// Lets time pass, if nobody interrupts.
pub(crate) fn pass(interrupt: &Interrupt, time: Duration) -> Result<(), LabError> {
    interrupt.pass(time);
    uninterrupted(interrupt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_what_and_have_codes() {
        let path = Path::new("out/x.json");
        let full = LabError::io(path, io::ErrorKind::StorageFull.into());
        assert_eq!(full.to_string(), "the disk is full: out/x.json");
        assert_eq!(full.exit(), Exit::NoSpace);
        let denied = LabError::io(path, io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.exit(), Exit::Unusable);
        let dead = LabError::Server {
            what: "it ended".to_owned(),
            output: "AMQ2020E".to_owned(),
        };
        assert_eq!(
            dead.to_string(),
            "the queue manager under test: it ended; it said:\nAMQ2020E"
        );
        let start = LabError::server("create", &Failure::new(Exit::NoSpace, "AMQ2020E", &["/x"]));
        assert_eq!(start.exit(), Exit::NoSpace);
    }
}
