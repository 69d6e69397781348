//! One process at a time has a queue manager's files.
//!
//! Invariant: what is held is held until nothing that this process has begun changes a queue manager's files any more, and nothing
//! it begins will: after an end a write may be under way, for as long as a disk does not answer, and an application in the queue
//! manager's own process may give up what its connection has. A successor's files would be changed by either.

use std::path::Path;

use posthaste_env::{Env, Fence, Lock};

use crate::config::EngineConfig;
use crate::plant::{Bug, planted};
use crate::stop::StartError;

/// What keeps a second process off the same files: a lock in the data folder and one in the log's, which a copy of the data folder
/// names too. Dropping them waits for the changes that are under way.
pub struct Locks {
    /// Around the disk of whoever was started with them.
    fence: Fence,
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
            fence: Fence::default(),
            _data: lock(&config.data)?,
            _log: lock(&config.log)?,
        })
    }

    /// The world with a disk on which nothing is changed once they are let go.
    pub(crate) fn fenced(&self, env: &Env) -> Env {
        Env {
            disk: self.fence.around(&env.disk),
            ..env.clone()
        }
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        if !planted(Bug::WriteUnlocked) {
            self.fence.close();
        }
    }
}
