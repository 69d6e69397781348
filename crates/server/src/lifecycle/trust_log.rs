//! An operator's word that data folder and log belong together, where the folder's own note of it is lost.
//!
//! Invariants: nobody else has the two folders meanwhile. What the folder does know is never overruled: the start that follows
//! refuses a log that is not its own as ever. Nothing is noted before the queue manager has been recovered so in memory: a log that
//! does not even fit the files stays refused, and the right one is not refused for it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use posthaste_engine::{QueueManager, Silent};
use posthaste_env::Env;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::layout::{DataDir, Home};
use crate::lifecycle::overlay::Overlay;
use crate::lifecycle::{another_root, log_owner};

/// Has the data folder take the log that `qm.ini` names for its own; a warning if it has, nothing if the folder knows its log.
///
/// # Errors
/// What a start would be refused for, or the note cannot be written.
pub fn trust_log(env: &Env, data: &DataDir, home: &Home) -> Result<Option<Failure>, Failure> {
    another_root::check_copied(data, home)?;
    let engine = configure::configure(env, data, home)?.engine;
    let log = engine.log.clone();
    log_owner::check(home, &log)?;
    let held = |lock: &Path| {
        let locked = env.disk.lock(lock);
        locked.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => crate::control::running(home),
            _ => Failure::io(lock, &error),
        })
    };
    let _held = [held(&home.lock())?, held(&log.join("lock"))?];
    let in_memory = Env {
        disk: Arc::new(Overlay::new(Arc::clone(&env.disk))),
        ..env.clone()
    };
    let trust = |env: &Env| posthaste_engine::trust_log(env, &home.folder, &log);
    let trusted = trust(&in_memory)
        .and_then(|trusted| {
            if trusted {
                QueueManager::start(&in_memory, engine, Arc::new(Silent))?;
                trust(env)?;
            }
            Ok(trusted)
        })
        .map_err(|error| Failure::start(&home.name, &home.folder, &error))?;
    let shown = log.display().to_string();
    Ok(trusted.then(|| Failure::new(Exit::Done, "AMQ2089W", &[&home.name, &shown])))
}
