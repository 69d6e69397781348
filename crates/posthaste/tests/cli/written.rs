//! Waiting for what another process writes, without taking a processor from it: the kernel tells (inotify).
//!
//! Invariants: a folder is watched before it is looked at for the first time, so that nothing is missed in between; nobody
//! waits longer than [`LONG`].

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(60);

/// What `look` finds in a folder; it looks again whenever a file in there was written, made or renamed. None: it has found nothing for
/// as long as may be waited.
pub(crate) fn found_in<T>(folder: &Path, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + LONG;
    let changes = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("a watch");
    let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
    add_watch(&changes, folder, flags).expect("a folder");
    loop {
        let found = look();
        let left = deadline.saturating_duration_since(Instant::now());
        if found.is_some() || left.is_zero() {
            return found;
        }
        let left = Timespec::try_from(left).expect("a minute");
        let mut changed = [PollFd::new(&changes, PollFlags::IN)];
        match poll(&mut changed, Some(&left)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // Which they were does not matter: it is looked at all of it.
            Ok(_) => drop(rustix::io::read(&changes, &mut [0; 4096]).expect("changes")),
            Err(error) => panic!("{error}"),
        }
    }
}
