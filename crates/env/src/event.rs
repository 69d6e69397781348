//! An auto-reset signal for threads: one `set` lets one `wait` through.
//!
//! Invariants:
//! * A `set` before a `wait` is not lost; several sets before a wait count as one.
//! * Everything the setter did before `set` is seen by the waiter after `wait`.
//! * With nobody waiting, `set` is two atomic operations and no system call.
//!
//! Why no signal is lost: the waiter first counts itself in `waiters`, then looks at `signal`; the setter
//! first writes `signal`, then looks at `waiters`. In the single order of these sequentially consistent
//! operations one of them sees the other. A waiter that is just about to sleep is covered by the
//! kernel, which sleeps only while `signal` is still clear.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::clock::Nanos;

const CLEAR: u32 = 0;
const SET: u32 = 1;

/// An auto-reset signal between threads (the simulator has none; an explorer of interleavings has).
#[derive(Debug, Default)]
pub struct Event {
    signal: AtomicU32,
    waiters: AtomicU32,
}

impl Event {
    /// A signal that is not set.
    pub const fn new() -> Self {
        Self {
            signal: AtomicU32::new(CLEAR),
            waiters: AtomicU32::new(0),
        }
    }

    /// Lets one present or future `wait` through.
    pub fn set(&self) {
        #[cfg(feature = "interleave")]
        if let Some(scheduler) = crate::sync::scheduler() {
            scheduler.reached(self.identity(), crate::sync::Access::Write);
            self.signal.store(SET, SeqCst);
            return scheduler.wake(self.identity());
        }
        if self.signal.swap(SET, SeqCst) == CLEAR && self.waiters.load(SeqCst) > 0 {
            // The only documented failures are a bad address or flag, which this call cannot have; and the
            // signal is already stored, so a waiter that looks will find it.
            let _ = futex::wake(&self.signal, futex::Flags::PRIVATE, 1);
        }
    }

    /// Takes the signal if it is set, without waiting.
    pub fn try_wait(&self) -> bool {
        #[cfg(feature = "interleave")]
        crate::sync::reached(self.identity(), crate::sync::Access::Write);
        self.signal
            .compare_exchange(SET, CLEAR, SeqCst, SeqCst)
            .is_ok()
    }

    /// Blocks the thread until the signal is set, and takes it: `true`. With a deadline (nanoseconds of
    /// the operating system's monotonic clock, as `os().clock` gives them) `false` if that passes first.
    pub fn wait(&self, deadline: Option<Nanos>) -> bool {
        if self.try_wait() {
            return true;
        }
        #[cfg(feature = "interleave")]
        if let Some(scheduler) = crate::sync::scheduler() {
            return self.wait_scheduled(&*scheduler, deadline);
        }
        self.waiters.fetch_add(1, SeqCst);
        let taken = self.wait_counted(deadline);
        self.waiters.fetch_sub(1, SeqCst);
        taken
    }

    /// The same for a thread that an explorer runs, in that one's time. Between the look and the wait nobody
    /// else runs, so no signal is missed; that the futex misses none is argued at the head of this file.
    #[cfg(feature = "interleave")]
    fn wait_scheduled(
        &self,
        scheduler: &dyn crate::sync::Scheduler,
        deadline: Option<Nanos>,
    ) -> bool {
        while self.signal.swap(CLEAR, SeqCst) != SET {
            if deadline.is_some_and(|deadline| scheduler.now() >= deadline) {
                return false;
            }
            scheduler.wait(self.identity(), deadline);
            scheduler.touched(self.identity(), crate::sync::Access::Write);
        }
        true
    }

    #[cfg(feature = "interleave")]
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn wait_counted(&self, deadline: Option<Nanos>) -> bool {
        loop {
            if self.try_wait() {
                return true;
            }
            let left = match deadline.map(time_left) {
                Some(None) => return false,
                Some(Some(left)) => Some(left),
                None => None,
            };
            match futex::wait(&self.signal, futex::Flags::PRIVATE, CLEAR, left.as_ref()) {
                // Woken, interrupted, timed out or beaten to it: the top of the loop decides which.
                Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
                Err(other) => {
                    // Without futexes (a sandbox that forbids them) the wait is still right, only costly.
                    debug_assert!(false, "futex wait: {other}");
                    std::thread::yield_now();
                }
            }
        }
    }
}

/// Time until `deadline`; `None` when it has come.
fn time_left(deadline: Nanos) -> Option<Timespec> {
    let left = deadline
        .checked_sub(monotonic_now())
        .filter(|left| *left > 0)?;
    Some(Timespec {
        tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (left % 1_000_000_000) as _,
    })
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn monotonic_now() -> Nanos {
    let now = clock_gettime(ClockId::Monotonic);
    // Both are never negative for this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
