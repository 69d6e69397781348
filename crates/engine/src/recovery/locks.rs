//! One process at a time has a queue manager's files.
//!
//! Invariant: what is held is held until no thread of the process works on a queue manager's files any more: after an end a write
//! may be under way still, for as long as a disk does not answer, and a successor's files would be changed by it.

use std::path::Path;

use posthaste_env::{Env, Lock};

use crate::config::EngineConfig;
use crate::stop::StartError;

/// What keeps a second process off the same files: a lock in the data folder and one in the log's, which a copy of the data folder
/// names too.
pub struct Locks {
    _data: Box<dyn Lock>,
    _log: Box<dyn Lock>,
}

impl Locks {
    /// Takes the locks of both folders, for whoever looks at something that must not change until a start.
    ///
    /// # Errors
    /// Another process has one of them; a folder is not there, or cannot be written.
    pub fn take(env: &Env, config: &EngineConfig) -> Result<Locks, StartError> {
        let lock = |folder: &Path| {
            env.disk.lock(&folder.join("lock")).map_err(|error| {
                if error.kind() == std::io::ErrorKind::WouldBlock {
                    StartError::InUse(folder.to_owned())
                } else {
                    StartError::Io {
                        what: format!("locking {}", folder.display()),
                        error,
                    }
                }
            })
        };
        Ok(Locks {
            _data: lock(&config.data)?,
            _log: lock(&config.log)?,
        })
    }
}
