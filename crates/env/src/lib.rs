//! The seam to the world: disk, clock, entropy, threads.
//!
//! Every crate below the fronts reaches the operating system through the traits here, so that the
//! same code runs on the real machine ([`os`]) and on a simulated one that can fail on purpose.
//!
//! Invariants:
//! * Nothing above this crate opens a file, reads a clock, sleeps, starts a thread or draws a random
//!   number except through [`Env`], [`spawn`] and [`block_on`].
//! * Errors are `std::io::Error` as the operating system gave them; nothing here retries a failed
//!   write or sync (a failed sync is final, and only the caller knows whom to tell).

#![forbid(unsafe_code)]

mod aligned;
mod clock;
mod descriptors;
mod disk;
mod entropy;
mod event;
mod fence;
mod in_front;
mod no_files;
mod os;
mod own_lock;
mod site;
mod slow_disk;
mod spares;
pub mod sync;
mod thread;
mod timer;
mod turns;
mod wait;
mod watched_disk;

use std::sync::Arc;

pub use aligned::{AlignedBuf, PAGE};
pub use clock::{Clock, Nanos, Sleep};
pub use descriptors::{allow_descriptors, descriptor_limit, lacks_descriptors};
pub use disk::{Disk, File, Lock, Open, check_forced, check_whole_pages, is_no_space};
pub use entropy::Entropy;
pub use event::Event;
pub use fence::Fence;
pub use in_front::DiskInFront;
pub use no_files::{NoFiles, assert_files_allowed};
pub use os::os;
pub use own_lock::OwnLock;
pub use site::site;
pub use slow_disk::{Slowness, slow_disk};
pub use thread::{Thread, block_on, panicking, set_timer_slack, spawn};
pub use timer::Timer;
pub use turns::{EndOfTurn, Turns, at_end_of_turn, excused, serves_many};
pub use wait::wait_until;
pub use watched_disk::{SlowCall, watch_disk};

/// A world to run in: one disk, one clock, one source of random bytes. Cloning shares them.
#[derive(Clone)]
pub struct Env {
    /// Files and directories.
    pub disk: Arc<dyn Disk>,
    /// Time and timers.
    pub clock: Arc<dyn Clock>,
    /// Random bytes.
    pub entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").finish_non_exhaustive()
    }
}
