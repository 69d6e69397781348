//! The real world: this machine's file systems, clocks, timers and random numbers.

mod disk;
mod timer;

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};

use crate::clock::{Clock, Nanos, Sleep};
use crate::entropy::Entropy;
use crate::event::monotonic_now;
use crate::{Env, os::disk::OsDisk};

/// The real world. Every call gives the same one: timers share one thread, which the first sleep starts.
pub fn os() -> Env {
    Env {
        disk: Arc::new(OsDisk::default()),
        clock: Arc::new(OsClock),
        entropy: Arc::new(OsEntropy),
    }
}

struct OsClock;

impl Clock for OsClock {
    fn monotonic(&self) -> Nanos {
        monotonic_now()
    }

    fn wall_micros(&self) -> i64 {
        let now = clock_gettime(ClockId::Realtime);
        now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }

    fn sleep_until(&self, at: Nanos) -> Sleep {
        Box::pin(timer::TIMERS.sleep_until(at))
    }
}

struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buf: &mut [u8]) {
        let filled = getrandom::fill(buf);
        // getrandom(2) fails only where it is not implemented or forbidden. Going on without would hand
        // out message identifiers and log generations that are not unique, which is worse than stopping.
        assert!(filled.is_ok(), "no random numbers: {filled:?}");
    }
}
