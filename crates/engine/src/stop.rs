//! The third kind of failure: the environment forbids going on.
//!
//! A [`Stop`] is final for this run of the queue manager. Its exit code is stable, so that a
//! supervisor can act on it.

use std::path::PathBuf;

use posthaste_recovery_log::LogError;
use posthaste_store::StoreError;

use crate::bodies::NotOpened;

/// Why a running queue manager had to stop.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Stop {
    /// A write or sync of the recovery log failed; it is never retried, because after a failed
    /// sync nobody knows what the disk holds.
    #[error("the recovery log cannot be written: {0}")]
    LogFailed(String),
    /// A checkpoint could not be made durable.
    #[error("a checkpoint cannot be written: {0}")]
    CheckpointFailed(String),
    /// A part of the program did not do what it must: a panic, on whichever thread.
    #[error("a defect of the program: {0}")]
    Defect(String),
}

impl Stop {
    /// The operator message that says it.
    pub(crate) fn message(&self) -> (&'static str, Vec<String>) {
        match self {
            Stop::LogFailed(what) => ("AMQ2004S", vec!["the recovery log".into(), what.clone()]),
            Stop::CheckpointFailed(what) => ("AMQ2004S", vec!["a checkpoint".into(), what.clone()]),
            Stop::Defect(what) => ("AMQ2016S", vec![what.clone()]),
        }
    }

    /// The exit code of a process that ends for this reason.
    pub fn exit_code(&self) -> i32 {
        match self {
            Stop::LogFailed(_) => 71,
            Stop::CheckpointFailed(_) => 72,
            Stop::Defect(_) => 70,
        }
    }
}

/// Why a queue manager could not be created or started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The recovery log refused.
    #[error("{0}")]
    Log(#[from] LogError),
    /// A queue file or a checkpoint image refused.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The file system refused.
    #[error("{what}: {error}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Another process has files of this folder open.
    #[error("another process is using {}", .0.display())]
    InUse(PathBuf),
    /// There is already a queue manager in that folder.
    #[error("a queue manager already exists there")]
    AlreadyExists,
    /// A queue manager cannot have that name.
    #[error("{0:?} cannot be the name of a queue manager")]
    BadName(String),
    /// The files are those of a queue manager of another name.
    #[error("the queue manager there is {0}")]
    OtherName(String),
    /// Log and checkpoint image contradict each other: a defect or a mixed-up restore.
    #[error("the log and the queue files do not belong together: {0}")]
    Inconsistent(String),
    /// The bodies of messages are encrypted, and there is nothing to open them with.
    #[error("the messages are encrypted, and no key was given")]
    NeedsCipher,
    /// The bodies of messages are not encrypted, and are asked to be.
    #[error("the queue manager was created without encryption, and a key was given")]
    NotSealed,
    /// The bodies in a log record, at this LSN, do not open.
    #[error("the log record at LSN {0} cannot be opened: {1}")]
    NotOpened(u64, NotOpened),
}

impl StartError {
    /// The exit code of a process that ends for this reason.
    pub fn exit_code(&self) -> i32 {
        match self {
            StartError::Log(_) => 74,
            StartError::Store(_) => 75,
            StartError::Io { .. } => 76,
            StartError::InUse(_) => 77,
            StartError::AlreadyExists => 8,
            StartError::BadName(_) => 39,
            StartError::Inconsistent(_) => 78,
            StartError::OtherName(_) => 76,
            StartError::NeedsCipher | StartError::NotSealed | StartError::NotOpened(..) => 79,
        }
    }
}
