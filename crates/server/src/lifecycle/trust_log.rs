//! An operator's word that data folder and log belong together, where the folder's own note of it is lost.
//!
//! Invariants: nobody else has the two folders meanwhile. What the folder does know is never overruled: the start that follows
//! refuses a log that is not its own as ever. Nothing is noted before the queue manager has been recovered so in memory: a log with
//! which it would not start stays refused, and the right one is not refused for it. Queues whose files do not fit it are named.

use std::io;
use std::path::Path;
use std::sync::Arc;

use posthaste_env::Env;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::layout::{DataDir, Home};
use crate::lifecycle::overlay::Overlay;
use crate::lifecycle::{another_root, check, log_owner};

/// Has the data folder take the log that `qm.ini` names for its own; warnings if it has, none if the folder knows its log.
///
/// # Errors
/// What a start would be refused for, or the note cannot be written.
pub fn trust_log(env: &Env, data: &DataDir, home: &Home) -> Result<Vec<Failure>, Failure> {
    another_root::check_copied(data, home)?;
    let configured = configure::configure(env, data, home)?;
    let log = &configured.engine.log;
    log_owner::check(home, log)?;
    let held = |lock: &Path| {
        let locked = env.disk.lock(lock);
        locked.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => crate::control::list::running(home),
            _ => Failure::io(lock, &error),
        })
    };
    let _held = [held(&home.lock())?, held(&log.join("lock"))?];
    let trust = |env: &Env| {
        posthaste_engine::trust_log(env, &home.folder, log)
            .map_err(|error| Failure::start(&home.name, &home.folder, &error))
    };
    let in_memory = Env {
        disk: Arc::new(Overlay::new(Arc::clone(&env.disk))),
        ..env.clone()
    };
    if !trust(&in_memory)? {
        return Ok(Vec::new());
    }
    let mut warnings = check::would_start(&in_memory, home, &configured)?;
    trust(env)?;
    let shown = log.display().to_string();
    warnings.push(Failure::new(Exit::Done, "AMQ2089W", &[&home.name, &shown]));
    Ok(warnings)
}
