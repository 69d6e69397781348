//! The clock of the network side: monotonic nanoseconds, and one re-armable timer for a connection that [`crate::drive`]
//! runs.
//!
//! Whoever runs connections is given the clock: in the product the runtime's ([`RuntimeClock`]), in the simulator the
//! simulated one. A lane only reads it, and keeps the deadlines of its connections itself.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
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

/// One timer, armed again and again. Re-arming for a later time costs nothing until the old one goes off.
pub struct Timer {
    clock: Arc<dyn Clock>,
    sleep: Option<Sleep>,
    /// When the sleep goes off.
    armed: Nanos,
    /// When the caller wants to be woken.
    wanted: Option<Nanos>,
}

impl Timer {
    /// A timer that never goes off until it is set.
    pub fn new(clock: Arc<dyn Clock>) -> Timer {
        Timer {
            clock,
            sleep: None,
            armed: 0,
            wanted: None,
        }
    }

    /// Sets, moves or clears the time.
    pub fn set(&mut self, at: Option<Nanos>) {
        self.wanted = at;
    }

    /// Ready when the time has come; it is then cleared.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(wanted) = self.wanted else {
                return Poll::Pending;
            };
            let rearm = match &self.sleep {
                None => true,
                // A sleep that goes off too early is looked at when it does.
                Some(_) => wanted < self.armed,
            };
            if rearm {
                self.arm(wanted);
            }
            let Some(sleep) = &mut self.sleep else {
                return Poll::Pending;
            };
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
            if self.clock.monotonic() >= wanted {
                self.wanted = None;
                return Poll::Ready(());
            }
        }
    }

    fn arm(&mut self, at: Nanos) {
        self.armed = at;
        self.sleep = Some(self.clock.sleep_until(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn goes_off_at_the_time_set_last() {
        let begin = now();
        let mut timer = Timer::new(Arc::new(RuntimeClock));
        timer.set(Some(begin + 1_000_000));
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await);
        timer.set(Some(begin + 5_000_000));
        poll_fn(|cx| timer.poll(cx)).await;
        assert!(now() >= begin + 5_000_000);
        timer.set(Some(now() + 60_000_000_000));
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await);
        let soon = now() + 1_000_000;
        timer.set(Some(soon));
        poll_fn(|cx| timer.poll(cx)).await;
        assert!(
            now() >= soon && now() < soon + 1_000_000_000,
            "an earlier time is obeyed"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn cleared_timer_stays_silent() {
        let mut timer = Timer::new(Arc::new(RuntimeClock));
        timer.set(Some(now()));
        timer.set(None);
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await);
    }
}
