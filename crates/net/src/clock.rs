//! The clock of the network side: monotonic nanoseconds.
//!
//! Whoever runs connections is given the clock: in the product the runtime's ([`RuntimeClock`]), in the simulator the
//! simulated one. A lane only reads it, and keeps the deadlines of its connections itself.

use std::sync::OnceLock;
use std::time::Duration;

use posthaste_env::{Clock, Nanos, Sleep};
use tokio::time::Instant;

fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// Nanoseconds since it was asked first. Follows the runtime's clock, which tests may pause.
pub(crate) fn now() -> Nanos {
    let start = start();
    u64::try_from(Instant::now().saturating_duration_since(start).as_nanos()).unwrap_or(u64::MAX)
}

/// The clock of the runtime that runs the caller. Only there can one wait for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuntimeClock;

impl Clock for RuntimeClock {
    fn monotonic(&self) -> Nanos {
        now()
    }

    fn wall_micros(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        })
    }

    fn sleep_until(&self, at: Nanos) -> Sleep {
        let deadline = start() + Duration::from_nanos(at);
        Box::pin(tokio::time::sleep_until(deadline))
    }
}

/// Microseconds since 1970, some milliseconds old at most, for a tenth of the price of the exact ones.
pub fn coarse_wall_micros() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}
