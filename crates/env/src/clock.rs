//! Time as the product sees it: a monotonic clock that orders and waits, and a wall clock that only labels.
//!
//! Invariants: `monotonic` never goes back; `wall_micros` may (an operator or NTP can set it), so no
//! decision about ordering or waiting is ever taken from it.

use std::future::Future;
use std::pin::Pin;

/// Monotonic time in nanoseconds since some fixed point in the past (not comparable across machines or boots).
pub type Nanos = u64;

/// A wait for a point in monotonic time. Dropping it cancels the wait.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of time and of timers.
pub trait Clock: Send + Sync {
    /// Monotonic time, nanoseconds.
    fn monotonic(&self) -> Nanos;
    /// Wall clock: microseconds since 1970-01-01 00:00 UTC. May go backwards.
    fn wall_micros(&self) -> i64;
    /// A future that completes once [`Clock::monotonic`] is at or past `at`; at once if it already is.
    fn sleep_until(&self, at: Nanos) -> Sleep;
}
