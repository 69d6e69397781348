//! A file that this process has locked (`flock(2)`), for others that look.
//!
//! Invariants: letting it go takes the lock off, whoever has the file open by then: a process that was forked has it so, until it runs
//! another program or ends. Such a process takes nothing off by letting its copy go.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::FlockOperation;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, getpid};

/// See the head of this file.
#[derive(Debug)]
pub struct OwnLock {
    fd: OwnedFd,
    /// Whose it is.
    process: Pid,
}

impl OwnLock {
    /// Of a file that was locked just now.
    pub fn of(locked: impl Into<OwnedFd>) -> OwnLock {
        OwnLock {
            fd: locked.into(),
            process: getpid(),
        }
    }
}

impl AsFd for OwnLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for OwnLock {
    fn drop(&mut self) {
        if getpid() == self.process {
            // Closing it does the same, if nobody else has it.
            let _ = retry_on_intr(|| rustix::fs::flock(&self.fd, FlockOperation::Unlock));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_lock_goes_with_its_process_s_handle_and_not_with_that_of_one_it_has_forked() {
        let dir = tempfile::tempdir().unwrap();
        let take = || {
            let file = File::create(dir.path().join("lock")).unwrap();
            file.try_lock().map(|()| OwnLock::of(file))
        };
        let held = take().unwrap();
        let inherited = OwnLock {
            fd: held.fd.try_clone().unwrap(),
            process: rustix::process::getppid().unwrap(),
        };
        let kept = held.fd.try_clone().unwrap();
        drop(inherited);
        assert!(take().is_err());
        drop(held);
        assert!(take().is_ok(), "{kept:?}");
    }
}
