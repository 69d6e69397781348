//! Now, as the queue manager has it.
//!
//! Invariant: it never goes back while the queue manager runs: expiry must not depend on somebody setting the system's
//! clock.

use std::sync::Arc;

use posthaste_env::Clock;

/// See the head of this file.
pub(crate) struct SteadyClock {
    clock: Arc<dyn Clock>,
    wall_base: i64,
    monotonic_base: u64,
}

impl SteadyClock {
    /// Begins at what the system's clock shows.
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> SteadyClock {
        SteadyClock {
            clock: Arc::clone(clock),
            wall_base: clock.wall_micros(),
            monotonic_base: clock.monotonic(),
        }
    }

    /// Microseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        let passed = self.clock.monotonic().saturating_sub(self.monotonic_base) / 1000;
        self.wall_base + passed as i64
    }

    /// When this run began, microseconds since 1970.
    pub(crate) fn started_at(&self) -> i64 {
        self.wall_base
    }
}
