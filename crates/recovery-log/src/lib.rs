//! The recovery log: append, force in groups, read back, cut. Payloads are opaque bytes.
//!
//! ```text
//!  append --> tail (page format, in memory) --> writer --> extents on disk --> restart reads
//!  force  --> waiters  <------ acknowledged in LSN order ----+
//!  advance -> control file (restart LSN, anchor) --> extents below are used again
//! ```
//!
//! What holds, and where it is kept:
//! * A record is acknowledged (its [`Force`] is ready with a [`Forced`]) only when every byte of it and of
//!   all records before it is on the device, written through: `writer.rs`.
//! * Every acknowledged record at or above the restart LSN is read back after any crash, or restart refuses
//!   and says at which LSN: `decide.rs`, `pages.rs`, `restart.rs`.
//! * A page that holds acknowledged bytes is never written again before it is below the restart LSN. So a
//!   torn write can destroy only what nobody was told, and MQ's `LogWriteIntegrity=SingleWrite` and
//!   `TripleWrite` come to the same thing here: `tail.rs`, `extents.rs`.
//! * A failed write or sync is final. Nothing is retried, because what the device holds is then unknown.
//!
//! ```
//! use posthaste_recovery_log::{Class, LogConfig, create, drive, open};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("log");
//! let env = posthaste_env::os();
//! let config = LogConfig { file_pages: 64, ..LogConfig::default() };
//! create(&*env.disk, &dir, &config, &mut |_done, _all| {})?;
//!
//! let mut restart = open(&env, &dir, &config)?;
//! while let Some(record) = restart.next()? {
//!     println!("{} bytes at {}", record.payload.len(), record.start);
//! }
//! let (log, writer) = restart.finish()?;
//! let driver = drive(&env, &log, writer)?;
//!
//! let record = log.append(Class::Ordinary, &[b"head", b"body"])?;
//! let forced = posthaste_env::block_on(log.force(record.end))?;
//! assert!(forced.covers(record.end));
//!
//! log.shut_down();
//! driver.join().map_err(|()| "the writer panicked")?;
//! # Ok(())
//! # }
//! ```
//!
//! This crate starts no thread of its own except in [`drive`]; everything else runs as well on a simulated
//! disk and clock.

#![forbid(unsafe_code)]

mod config;
mod control;
mod decide;
mod driver;
mod error;
mod extents;
mod force;
#[doc(hidden)]
pub mod fuzzing;
mod limits;
mod log;
mod page;
mod pages;
mod policy;
mod record;
mod restart;
mod statistics;
mod tail;
mod writer;

pub use config::{LogConfig, Retention, WritePolicy};
pub use driver::{Driver, drive};
pub use error::{IoFailure, LogError};
pub use force::{Force, Forced, Room};
pub use limits::{FORMAT, MAX_ANCHOR, MAX_RECORD};
pub use log::{Appended, Class, RecoveryLog, Usage};
pub use restart::{Record, Restart, anchor, create, open};
pub use statistics::LogStatistics;
pub use writer::{Job, JobId, PrepareJob, Step, Writer};

/// Log sequence number: a byte offset in the endless sequence of the log, page headers counted. 0 is the
/// start of a new log; no record begins there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl std::fmt::Display for Lsn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}
