//! An operator's word that data folder and log belong together, where the folder's own note of it is lost.
//!
//! Invariants: nobody else has the two folders meanwhile. What the folder does know is never overruled: the start that follows
//! refuses a log that is not its own as ever.

use posthaste_env::Env;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::layout::{DataDir, Home};
use crate::lifecycle::{another_root, log_owner};

/// Has the data folder take the log that `qm.ini` names for its own; a warning if it has, nothing if the folder knows its log.
///
/// # Errors
/// What a start would be refused for, or the note cannot be written.
pub fn trust_log(env: &Env, data: &DataDir, home: &Home) -> Result<Option<Failure>, Failure> {
    another_root::check_copied(data, home)?;
    let log = configure::configure(env, data, home)?.engine.log;
    log_owner::check(home, &log)?;
    let held = |lock: &std::path::Path| {
        let locked = env.disk.lock(lock);
        locked.map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => crate::control::running(home),
            _ => Failure::io(lock, &error),
        })
    };
    let _held = [held(&home.lock())?, held(&log.join("lock"))?];
    let trusted = posthaste_engine::trust_log(env, &home.folder, &log)
        .map_err(|error| Failure::start(&home.name, &home.folder, &error))?;
    let shown = log.display().to_string();
    Ok(trusted.then(|| Failure::new(Exit::Done, "AMQ2089W", &[&home.name, &shown])))
}
