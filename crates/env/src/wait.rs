//! Waiting for a point in time to within microseconds, for instruments and for slowed-down devices.
//!
//! A thread that sleeps is woken late: by the timer slack (50 µs unless it is lowered) and by the time a
//! processor takes to leave its idle state (measured in a virtual machine: 15 to 40 µs). So the slack
//! is lowered to a nanosecond, the sleep ends [`EARLY`] before the time, and the rest is spent looking at
//! the clock. That rest is processor time of the caller: at most `EARLY` for each wait.
//!
//! Invariant: [`wait_until`] never returns before the time.

use std::cell::Cell;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

use crate::clock::Nanos;
use crate::event::monotonic_now;
use crate::thread::set_timer_slack;

/// How long before the time the sleep ends, in nanoseconds.
const EARLY: Nanos = 40_000;

thread_local! {
    static SLACK_LOWERED: Cell<bool> = const { Cell::new(false) };
}

/// Blocks the calling thread until monotonic time `at` (nanoseconds, as `os().clock` counts them), and
/// lowers the thread's timer slack for good.
pub fn wait_until(at: Nanos) {
    let early = at.saturating_sub(EARLY);
    if early > monotonic_now() {
        if !SLACK_LOWERED.replace(true) {
            // Refused, the wait is less exact and still never too short.
            let _ = set_timer_slack(1);
        }
        sleep_until(early);
    }
    while monotonic_now() < at {
        std::hint::spin_loop();
    }
}

fn sleep_until(at: Nanos) {
    let at = Timespec {
        tv_sec: i64::try_from(at / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (at % 1_000_000_000) as _,
    };
    // Any other failure than an interruption leaves the whole wait to the loop of the caller.
    while let Err(rustix::io::Errno::INTR) = clock_nanosleep_absolute(ClockId::Monotonic, &at) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_too_short() {
        for wait in [0, 1, EARLY - 1, EARLY, EARLY + 1, 3 * EARLY] {
            let at = monotonic_now() + wait;
            wait_until(at);
            assert!(monotonic_now() >= at);
        }
        wait_until(0);
    }
}
