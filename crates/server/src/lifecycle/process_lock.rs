//! One process at a time has the files in `run/` and the mark of how the queue manager ended.
//!
//! Invariant: a successor waits for it before it recovers anything. The process before it may be removing its sockets, which a successor
//! that was as quick would lose; and where a disk does not answer, a thread of it may be writing what it began before the end.

use std::fs::{File, OpenOptions, TryLockError};
use std::time::{Duration, Instant};

use posthaste_env::OwnLock;

use crate::control::is_going;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::Home;

/// How long a process that has ended its queue manager may take to go.
const TIMEOUT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(10);

/// Whether a process has it.
pub(crate) fn is_held(home: &Home) -> bool {
    // Shared, so that those who look do not see each other.
    let tried = File::open(home.process()).map(|file| file.try_lock_shared());
    matches!(tried, Ok(Err(TryLockError::WouldBlock)))
}

/// Held until nothing of the process works on the files, or until its end.
#[derive(Debug)]
pub(crate) struct ProcessLock {
    lock: OwnLock,
}

impl ProcessLock {
    /// Waits until the process before this one has gone, unless that serves.
    ///
    /// # Errors
    /// It does not go, or the file cannot be made.
    pub(crate) fn take(home: &Home) -> Result<ProcessLock, Failure> {
        let path = home.process();
        let until = Instant::now() + TIMEOUT;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| Failure::io(&path, &error))?;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let lock = OwnLock::of(file);
                    return Ok(ProcessLock { lock });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < until && is_going(home) => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let shown = home.folder.display().to_string();
                    return Err(Failure::new(Exit::InUse, "AMQ2007E", &[&shown]));
                }
                Err(TryLockError::Error(error)) => return Err(Failure::io(&path, &error)),
            }
        }
    }

    /// Keeps it until the process has gone.
    pub(crate) fn keep(self) {
        std::mem::forget(self.lock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_successor_waits_until_the_files_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        crate::layout::make_private(&home.run()).unwrap();
        assert!(!is_held(&home));
        let first = ProcessLock::take(&home).unwrap();
        assert!(is_held(&home));
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn({
            let home = home.clone();
            move || {
                let second = ProcessLock::take(&home);
                sender.send(()).unwrap();
                second.map(drop)
            }
        });
        assert!(receiver.try_recv().is_err(), "not while the first has it");
        // As a process has it that was forked.
        let inherited = || first.lock.as_fd().try_clone_to_owned().unwrap();
        drop(inherited());
        assert!(is_held(&home));
        let _inherited = inherited();
        drop(first);
        receiver.recv().unwrap();
        waiting.join().unwrap().unwrap();
    }
}
