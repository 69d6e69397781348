//! What can go wrong with the log, one variant per thing an operator would do something different about.
//!
//! Invariant: [`LogError::Full`] and [`LogError::TooLong`] concern one append and change nothing; every
//! other error of a running log is final for it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::Lsn;

/// An operating system error and what the log was doing.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub struct IoFailure {
    /// What was being done, with the file's name.
    pub doing: String,
    /// The operating system's error.
    pub source: Arc<io::Error>,
}

/// Why the log refuses something.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// The record does not fit below the oldest record still needed. Nothing was written.
    #[error("the recovery log is full")]
    Full,
    /// The payload is longer than [`crate::MAX_RECORD`]. Nothing was written.
    #[error("a log record of {0} bytes is longer than the log takes ({max})", max = crate::MAX_RECORD)]
    TooLong(usize),
    /// The log was shut down, or a write or sync failed, which is final.
    #[error("the recovery log has stopped: {0}")]
    Stopped(Arc<str>),
    /// A page that was acknowledged, or that a clean shutdown promised, cannot be used.
    #[error("the recovery log is damaged at LSN {lsn}: {what}. {remedy}")]
    Damaged {
        /// Start of the page.
        lsn: Lsn,
        /// What is wrong with it.
        what: String,
        /// What can be done.
        remedy: String,
    },
    /// An extent that held acknowledged data is not there.
    #[error("log extent {file} (LSN {lsn}) is missing. {remedy}")]
    Missing {
        /// The extent's file.
        file: String,
        /// First LSN that is missing.
        lsn: Lsn,
        /// What can be done.
        remedy: String,
    },
    /// An extent is shorter than the log's shape says.
    #[error("log extent {file} (LSN {lsn}) has {length} bytes and not {expected}. {remedy}")]
    Truncated {
        /// The extent's file.
        file: String,
        /// First LSN of the extent.
        lsn: Lsn,
        /// Bytes that are there.
        length: u64,
        /// Bytes that should be there.
        expected: u64,
        /// What can be done.
        remedy: String,
    },
    /// Neither copy in the control file can be used.
    #[error("log control file {file} is damaged: {what}. {remedy}")]
    ControlDamaged {
        /// The control file.
        file: String,
        /// What is wrong with each copy.
        what: String,
        /// What can be done.
        remedy: String,
    },
    /// There is no log in the directory.
    #[error("there is no recovery log in {0}")]
    NoLog(String),
    /// `create` found a log in the directory.
    #[error("there is already a recovery log in {0}")]
    Exists(String),
    /// The operating system refused an operation.
    #[error(transparent)]
    Io(#[from] IoFailure),
    /// The configuration is out of range or does not fit the log that is there.
    #[error("log configuration: {0}")]
    BadConfig(String),
    /// The log was written by another version of the product.
    #[error("the recovery log has format {0}, this program knows format {known}", known = crate::limits::FORMAT)]
    Version(u32),
    /// `advance` was asked for something that would lose records, or `finish` was called too early.
    #[error("misuse of the recovery log: {0}")]
    Misuse(String),
}

impl LogError {
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        LogError::Io(IoFailure {
            doing: doing.into(),
            source: Arc::new(source),
        })
    }

    pub(crate) fn file(doing: &str, path: &Path, source: io::Error) -> Self {
        Self::io(format!("{doing} {}", path.display()), source)
    }

    /// The control file in the log's directory `dir` is an old copy, or one of the two copies in it is damaged and the
    /// other is older.
    pub fn old_control(dir: &Path, why: String) -> Self {
        LogError::ControlDamaged {
            file: dir.join(CONTROL).display().to_string(),
            what: format!(
                "{why}: the newer of its two copies is damaged, or the file is an old one"
            ),
            remedy: REMEDY.to_owned(),
        }
    }

    pub(crate) fn damaged(lsn: u64, what: impl Into<String>) -> Self {
        LogError::Damaged {
            lsn: Lsn(lsn),
            what: what.into(),
            remedy: REMEDY.to_owned(),
        }
    }
}

/// Name of the control file in the log's directory.
pub(crate) const CONTROL: &str = "LOG.CTL";
/// What can be done about a log that cannot be read. There is no automatic repair on purpose: leaving out
/// a page would silently lose or duplicate messages.
pub(crate) const REMEDY: &str = "Messages that were acknowledged are recorded here, so the queue manager does not start without it: \
put the file back if it was moved, or restore the queue manager's data and log directories together from \
one backup. Do not delete or edit log files";
