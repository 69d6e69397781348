//! A failure as the operator meets it: a numbered message (what happened, why, what to do) and an
//! exit code.
//!
//! Invariant: every error of the crates below is turned into a message here and nowhere else, so
//! that the same condition always has the same number and the same code.

pub(crate) mod exit;

use std::fmt;
use std::io;
use std::path::Path;

use posthaste_command::messages;
use posthaste_engine::{StartError, Stop, StoreError};
use posthaste_env::is_no_space;
use posthaste_recovery_log::{FORMAT, IoFailure, LogError};

use crate::ini::ConfigError;
use crate::layout;
use exit::Exit;

/// Why a command or a queue manager ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The message number.
    pub id: &'static str,
    /// The message's inserts.
    pub inserts: Vec<String>,
    /// Where several things are wrong: each in a line of its own, shown first.
    pub details: Vec<String>,
}

impl Failure {
    /// A message of the table.
    pub fn new(exit: Exit, id: &'static str, inserts: &[&str]) -> Failure {
        Failure {
            exit,
            id,
            inserts: inserts.iter().map(|&insert| insert.to_owned()).collect(),
            details: Vec::new(),
        }
    }

    /// The command cannot be carried out as it was given: `what` says why, without a full stop.
    pub fn bad_parameter(what: impl AsRef<str>) -> Failure {
        Failure::new(Exit::BadParameter, "AMQ2402E", &[what.as_ref()])
    }

    /// The operating system refused something about `path`.
    pub fn io(path: &Path, error: &io::Error) -> Failure {
        Failure::io_on(&path.display().to_string(), error)
    }

    fn io_on(what: &str, error: &io::Error) -> Failure {
        match is_no_space(error) {
            true => Failure::new(Exit::NoSpace, "AMQ2020E", &[what]),
            false => Failure::new(Exit::Unusable, "AMQ2008E", &[what, &error.to_string()]),
        }
    }

    /// The operating system refused a thread or a process.
    pub(crate) fn thread(error: &io::Error) -> Failure {
        Failure::new(Exit::Unusable, "AMQ2091E", &[&error.to_string()])
    }

    /// There is no queue manager of that name.
    pub fn not_found(name: &str) -> Failure {
        Failure::new(Exit::NotFound, "AMQ8118E", &[name])
    }

    /// The queue manager is not running.
    pub fn not_running(name: &str) -> Failure {
        Failure::new(Exit::NotRunning, "AMQ8146E", &[name])
    }

    /// Faults of a configuration file.
    pub fn configuration(errors: &[ConfigError]) -> Failure {
        let file = errors.first().map_or("", |error| error.file.as_str());
        Failure {
            details: errors.iter().map(ToString::to_string).collect(),
            ..Failure::new(
                Exit::Configuration,
                "AMQ2107E",
                &[file, &errors.len().to_string()],
            )
        }
    }

    /// The recovery log of queue manager `name` refused.
    pub fn log(name: &str, error: &LogError) -> Failure {
        let refused = |id, inserts: &[&str]| Failure::new(Exit::LogRefused, id, inserts);
        match error {
            LogError::Damaged { lsn, what, remedy } => refused(
                "AMQ2001S",
                &[name, &lsn.to_string(), what, &sentence(remedy)],
            ),
            LogError::ControlDamaged { file, what, remedy } => {
                refused("AMQ2022S", &[name, file, what, &sentence(remedy)])
            }
            LogError::Missing { file, .. } | LogError::Truncated { file, .. } => {
                refused("AMQ2002S", &[name, file])
            }
            LogError::Version(found) => {
                let known = FORMAT.to_string();
                refused("AMQ2003S", &[name, &found.to_string(), &known])
            }
            // Log files without their control file are a log that somebody has taken apart.
            LogError::NoLog(folder) if Path::new(folder).join("active").is_dir() => {
                refused("AMQ2044S", &[name, folder])
            }
            LogError::NoLog(folder) => refused("AMQ7064E", &[folder]),
            LogError::Exists(folder) => Failure::new(Exit::Exists, "AMQ2023E", &[name, folder]),
            LogError::BadConfig(what) => {
                Failure::new(Exit::Configuration, "AMQ2108E", &[name, what])
            }
            LogError::Io(IoFailure { doing, source }) => Failure::io_on(doing, source),
            LogError::Full | LogError::TooLong(_) | LogError::Stopped(_) | LogError::Misuse(_) => {
                refused("AMQ2024S", &[name, &error.to_string()])
            }
        }
    }

    /// Queue manager `name` could not be created or started.
    pub fn start(name: &str, folder: &Path, error: &StartError) -> Failure {
        let shown = folder.display().to_string();
        let exit = Exit::from_code(error.exit_code()).unwrap_or(Exit::Internal);
        match error {
            StartError::Log(error) => Failure::log(name, error),
            StartError::Store(StoreError::Full) => {
                Failure::new(Exit::NoSpace, "AMQ2020E", &[&shown])
            }
            StartError::Store(StoreError::Descriptors) => {
                Failure::new(Exit::Unusable, "AMQ2069E", &[&shown])
            }
            StartError::Store(store) => Failure::new(exit, "AMQ2025S", &[name, &store.to_string()]),
            StartError::Io { what, error } => Failure::io_on(what, error),
            StartError::InUse(folder) => {
                Failure::new(exit, "AMQ2007E", &[&folder.display().to_string()])
            }
            StartError::AlreadyExists => Failure::new(exit, "AMQ8110E", &[name]),
            StartError::BadName(name) => layout::bad_name(exit, name),
            StartError::OtherName(own) => Failure::new(exit, "AMQ2057E", &[name, &shown, own]),
            StartError::Inconsistent(what) => Failure::new(exit, "AMQ2026S", &[name, what]),
            StartError::NeedsCipher => Failure::new(exit, "AMQ2701S", &[name]),
            StartError::NotSealed => Failure::new(exit, "AMQ2702S", &[name]),
            StartError::NotOpened(lsn, why) => {
                let inserts = [name, &lsn.to_string(), &why.to_string()];
                Failure::new(exit, "AMQ2703S", &inserts)
            }
        }
    }

    /// A running queue manager had to stop.
    pub fn stop(name: &str, stop: &Stop) -> Failure {
        let exit = Exit::from_code(stop.exit_code()).unwrap_or(Exit::Internal);
        Failure::new(exit, "AMQ2027S", &[name, &stop.to_string()])
    }

    /// A sentence about a failure that is printed at once and nowhere logged.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Failure {
        self.details.push(detail.into());
        self
    }

    /// The message in one line that leaves out which queue manager it is about.
    pub fn brief(&self) -> String {
        match (self.id, self.inserts.get(1)) {
            ("AMQ2027S", Some(what)) => format!("{}: {what}", self.id),
            _ => self.line(),
        }
    }

    /// The message in one line.
    pub fn line(&self) -> String {
        format!("{}: {}", self.id, messages::format(self.id, &self.inserts))
    }
}

/// A remedy as a sentence of its own.
fn sentence(remedy: &str) -> String {
    let remedy = remedy.trim();
    let mut letters = remedy.chars();
    let mut out: String = letters
        .next()
        .map(|first| first.to_uppercase().collect())
        .unwrap_or_default();
    out.push_str(letters.as_str());
    if !out.ends_with('.') {
        out.push('.');
    }
    out
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for detail in &self.details {
            writeln!(f, "{detail}")?;
        }
        write!(f, "{}", self.line())?;
        if let Some(message) = messages::find(self.id) {
            let action = message.advise(&self.inserts);
            write!(f, "\n  Why: {}", message.explain(&self.inserts))?;
            if action != "None." {
                write!(f, "\n  What to do: {action}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
