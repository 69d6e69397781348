//! When an application's next iteration is due, and when it has done enough.
//!
//! Invariants: in rated mode iterations are due at moments fixed in advance, and an iteration that
//! begins late still counts from when it was due; what is more than [`CATCH_UP`] late is given up and
//! counted as missed, so that a stall is not answered with an endless burst.

use std::num::NonZeroU64;

use crate::workload::{Nanos, Workload};

/// How far behind its rate an application may be, in nanoseconds.
const CATCH_UP: Nanos = 1_000_000_000;
const SECOND: f64 = 1e9;

/// Makes this thread's waits exact to a microsecond: the system usually adds 50, which would be in every
/// latency of a rated workload.
pub(crate) fn be_punctual(workload: &Workload) {
    if workload.rate > 0.0 {
        // Refused, the latencies are a little longer than they should be, never shorter.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000));
    }
}

/// What an application is to do between two iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Begin one, which was due at that moment.
    Go { at: Nanos },
    /// Wait until then.
    Wait { until: Nanos },
    /// End.
    End,
}

/// The course of one application.
pub(crate) struct Course {
    left: Option<u64>,
    /// Iterations a second; 0 is unrated.
    rate: f64,
    ramp: Nanos,
    start: Nanos,
    due: Nanos,
    missed: u64,
}

impl Course {
    /// Application `index` of a workload whose applications were let go at `start`. In rated mode
    /// they begin spread over the first interval: all at once would be a burst, not a rate.
    pub(crate) fn new(workload: &Workload, index: u32, start: Nanos) -> Course {
        let mut course = Course {
            left: workload.iterations,
            rate: workload.rate,
            ramp: u64::try_from(workload.ramp.as_nanos()).unwrap_or(u64::MAX),
            start,
            due: start,
            missed: 0,
        };
        let share = f64::from(index) / f64::from(workload.applications.max(1));
        course.due += (share * course.interval(start) as f64) as Nanos;
        course
    }

    /// Nanoseconds to the next iteration, at a moment.
    fn interval(&self, now: Nanos) -> Nanos {
        if self.rate <= 0.0 {
            return 0;
        }
        let since = now.saturating_sub(self.start) as f64;
        let grown = match self.ramp {
            0 => 1.0,
            // From a twentieth, because from nothing the first interval would never end.
            ramp => (since / ramp as f64).clamp(0.05, 1.0),
        };
        (SECOND / (self.rate * grown)) as Nanos
    }

    /// One more is done.
    pub(crate) fn iterated(&mut self) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
    }

    /// What to do now.
    pub(crate) fn turn(&mut self, now: Nanos, ending: bool) -> Turn {
        if ending || self.left == Some(0) {
            return Turn::End;
        }
        if self.rate <= 0.0 {
            return Turn::Go { at: now };
        }
        if now < self.due {
            return Turn::Wait { until: self.due };
        }
        let interval = self.interval(self.due).max(1);
        let late = now - self.due;
        if late > CATCH_UP {
            let missed = (late - CATCH_UP) / interval;
            self.missed += missed;
            self.due += missed * interval;
        }
        let at = self.due;
        self.due += interval;
        Turn::Go { at }
    }

    /// Whether it is paced.
    pub(crate) fn is_rated(&self) -> bool {
        self.rate > 0.0
    }

    /// Whether it has a limit, which is not reached yet.
    pub(crate) fn unfinished(&self) -> bool {
        self.left.is_none_or(|left| left > 0)
    }

    /// Iterations given up since the last time it was asked.
    pub(crate) fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn rated(rate: f64, applications: u32) -> Workload {
        Workload {
            rate,
            applications,
            ..Workload::default()
        }
    }

    #[test]
    fn an_unrated_course_goes_at_once_and_ends_at_its_limit() {
        let workload = Workload {
            iterations: Some(2),
            ..Workload::default()
        };
        let mut course = Course::new(&workload, 0, 5);
        for now in [7, 9] {
            assert!(course.unfinished());
            assert_eq!(course.turn(now, false), Turn::Go { at: now });
            course.iterated();
        }
        assert_eq!(course.turn(10, false), Turn::End);
        assert!(!course.unfinished());
        assert_eq!(Course::new(&rated(0.0, 1), 0, 0).turn(1, true), Turn::End);
    }

    #[test]
    fn a_rate_is_kept_from_fixed_moments() {
        let mut course = Course::new(&rated(10.0, 4), 1, 1_000);
        let first = 1_000 + 25_000_000;
        assert_eq!(course.turn(1_000, false), Turn::Wait { until: first });
        // Begun late, but counted from when it was due; the next one is not later for that.
        let late = first + 30_000_000;
        assert_eq!(course.turn(late, false), Turn::Go { at: first });
        let second = first + 100_000_000;
        assert_eq!(course.turn(late, false), Turn::Wait { until: second });
        assert_eq!(course.turn(second, false), Turn::Go { at: second });
        assert_eq!(course.take_missed(), 0);
    }

    #[test]
    fn what_is_too_late_is_given_up_and_counted() {
        let mut course = Course::new(&rated(100.0, 1), 0, 0);
        let stalled = 5_000_000_000;
        let Turn::Go { at } = course.turn(stalled, false) else {
            panic!("not due")
        };
        assert_eq!(stalled - at, CATCH_UP);
        assert_eq!(course.take_missed(), 400);
        assert_eq!(course.take_missed(), 0);
    }

    #[test]
    fn a_ramp_begins_slowly() {
        let workload = Workload {
            ramp: Duration::from_secs(10),
            ..rated(10.0, 1)
        };
        let course = Course::new(&workload, 0, 0);
        assert_eq!(course.interval(0), 2_000_000_000);
        assert_eq!(course.interval(5_000_000_000), 200_000_000);
        assert_eq!(course.interval(10_000_000_000), 100_000_000);
        assert_eq!(course.interval(60_000_000_000), 100_000_000);
    }
}
