//! The clock of the network side: monotonic nanoseconds, and one re-armable timer per connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Monotonic nanoseconds since the first call of [`now`].
pub type Nanos = u64;

fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// The time. Follows the runtime's clock, which tests may pause.
pub fn now() -> Nanos {
    let start = start();
    u64::try_from(Instant::now().saturating_duration_since(start).as_nanos()).unwrap_or(u64::MAX)
}

/// Microseconds since 1970: when something began, for people to read.
pub fn wall_micros() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

/// The same as [`wall_micros`], some milliseconds old at most, for a tenth of the price.
pub fn coarse_wall_micros() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

/// One timer, armed again and again. Re-arming for a later time costs nothing until the old one goes off.
pub struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    /// When the sleep goes off.
    armed: Nanos,
    /// When the caller wants to be woken.
    wanted: Option<Nanos>,
}

impl Timer {
    /// A timer that never goes off until it is set.
    pub fn new() -> Timer {
        Timer {
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
            if now() >= wanted {
                self.wanted = None;
                return Poll::Ready(());
            }
        }
    }

    fn arm(&mut self, at: Nanos) {
        self.armed = at;
        let deadline = start() + Duration::from_nanos(at);
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(deadline),
            None => self.sleep = Some(Box::pin(tokio::time::sleep_until(deadline))),
        }
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn goes_off_at_the_time_set_last() {
        let begin = now();
        let mut timer = Timer::new();
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
        let mut timer = Timer::new();
        timer.set(Some(now()));
        timer.set(None);
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await);
    }
}
