//! Which queue managers there are and what they are doing.

use std::path::PathBuf;
use std::time::Duration;

use posthaste_env::Env;

use crate::control::status::{self, Status};
use crate::control::{self, Phase};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::registry;
use crate::layout::{DataDir, Home};
use crate::lifecycle::ending::{Cause, LastEnd};
use crate::lifecycle::process_lock;

/// What a queue manager is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A process runs it.
    Running(Phase),
    /// None does.
    Ended(LastEnd),
    /// A process runs it and does not answer: it hangs, or was stopped.
    Silent,
    /// Its folder cannot be looked at.
    NotAvailable,
}

impl State {
    /// As `dspmq` shows it.
    pub fn word(self) -> &'static str {
        match self {
            State::Running(phase) => phase.word(),
            State::Ended(end) => end.word(),
            State::Silent | State::NotAvailable => "Status not available",
        }
    }
}

/// A queue manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its files.
    pub home: Home,
    /// What it is doing.
    pub state: State,
    /// Why it ended, if that was unexpected and it could say so.
    pub cause: Option<Cause>,
    /// What the running process has written about itself.
    pub status: Option<Status>,
    /// Whether it is the default one.
    pub default: bool,
}

/// What a queue manager is doing.
pub fn state(env: &Env, home: &Home) -> State {
    state_within(env, home, control::ANSWER)
}

/// The same, when it is to answer within this time.
pub fn state_within(env: &Env, home: &Home, within: Duration) -> State {
    match control::phase_within(home, within) {
        Ok(phase) => return State::Running(phase),
        Err(failure) if failure.exit == Exit::NotRunning => {}
        Err(failure) if failure.exit == Exit::TimedOut => return State::Silent,
        Err(_) => return State::NotAvailable,
    }
    let (held, last) = left(home);
    match (held, before(last)) {
        (true, Some(ending)) => return State::Running(ending),
        // A process that is recovering holds both locks and does not answer yet.
        (true, None) => return State::Running(Phase::Starting),
        (false, Some(_)) => return State::Ended(last),
        (false, None) => {}
    }
    match env.disk.lock(&home.lock()) {
        Ok(_) => State::Ended(last),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            State::Running(Phase::Starting)
        }
        Err(_) => State::NotAvailable,
    }
}

/// How a queue manager is ending whose end is written down already, but not over: where a disk does not answer, a thread of it
/// is writing what it began before.
pub fn still_ending(home: &Home) -> Option<Phase> {
    let (held, last) = left(home);
    before(last).filter(|_| held)
}

/// Whether a process has the lock of the process, and the end that is written down. In this order: a start takes the one, and then
/// the other away, so that what was read before belonged to whoever had the lock before.
fn left(home: &Home) -> (bool, LastEnd) {
    let held = process_lock::is_held(home);
    (held, LastEnd::read(home))
}

/// Which lock of a queue manager a process has, if one has. One that ends lets go of that of the files first.
pub fn held_lock(env: &Env, home: &Home) -> Option<PathBuf> {
    let process = process_lock::is_held(home).then(|| home.process());
    process.or_else(|| held_files(env, home))
}

/// The lock of its files, if somebody has it.
pub fn held_files(env: &Env, home: &Home) -> Option<PathBuf> {
    let path = home.lock();
    let tried = env.disk.lock(&path);
    let held = tried.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    held.then_some(path)
}

/// What a queue manager that was ended in order did until then.
fn before(last: LastEnd) -> Option<Phase> {
    let mut modes = control::MODES.iter().map(|(mode, _)| *mode);
    modes
        .find(|mode| LastEnd::of(*mode) == last)
        .map(Phase::ending)
}

/// That the files of a queue manager are in use: it is running, and in which process, or is still ending.
pub fn running(home: &Home) -> Failure {
    let process = match control::serving(home) {
        Ok(process) => Some(process),
        Err(_) if still_ending(home).is_some() => {
            let holder = registry::holder(&home.process());
            return Failure::new(Exit::InUse, "AMQ2090E", &[&home.name, &holder]);
        }
        // It recovers, or is killed and not gone.
        Err(_) => registry::holder_of(&home.lock()),
    };
    let process = process.map_or("?".to_owned(), |process| process.to_string());
    Failure::new(Exit::Running, "AMQ2021E", &[&home.name, &process])
}

/// All queue managers, by name.
///
/// # Errors
/// `mqs.ini` cannot be read or is not right.
pub fn list(env: &Env, data: &DataDir) -> Result<Vec<Listed>, Failure> {
    let registered = registry::read(data)?;
    let listed = registered.queue_managers.iter().map(|home| {
        let state = state(env, home);
        // A process that hangs has to be found. One that does not yet answer because it recovers has not written anything about
        // itself: what is there is of the one before.
        let runs = match state {
            State::Running(phase) => phase != Phase::Starting,
            state => state == State::Silent,
        };
        Listed {
            home: home.clone(),
            state,
            cause: match state {
                State::Ended(_) => Cause::read(home),
                _ => None,
            },
            status: runs.then(|| status::read(home)).flatten(),
            default: registered.default.as_deref() == Some(&home.name),
        }
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_use_until_the_last_lock_is_let_go() {
        let env = posthaste_env::os();
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        crate::layout::make_private(&home.run()).unwrap();
        assert_eq!(held_lock(&env, &home), None);
        let process = process_lock::ProcessLock::take(&home).unwrap();
        let files = env.disk.lock(&home.lock()).unwrap();
        assert_eq!(held_lock(&env, &home), Some(home.process()));
        drop(files);
        assert_eq!(held_lock(&env, &home), Some(home.process()));
        drop(process);
        assert_eq!(held_lock(&env, &home), None);
        let _files = env.disk.lock(&home.lock()).unwrap();
        assert_eq!(held_lock(&env, &home), Some(home.lock()));
    }
}
