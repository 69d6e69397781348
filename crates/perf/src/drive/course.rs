//! When an application's next iteration is due, and when it has done enough.
//!
//! Invariants: in rated mode iterations are due at moments fixed in advance, and an iteration that
//! begins late still counts from when it was due; what is more than [`CATCH_UP`] late is given up and
//! counted as missed, so that a stall is not answered with an endless burst; what is due at the end of the
//! run or later is not begun.

use std::num::NonZeroU64;

use crate::workload::{Nanos, Workload};

/// How far behind its rate an application may be, in nanoseconds.
const CATCH_UP: Nanos = 1_000_000_000;
const SECOND: f64 = 1e9;
/// Who has nothing due before the end looks so often whether it has come, in nanoseconds.
const LOOK: Nanos = 10_000_000;
/// What is due so little before the end is due at the end, in nanoseconds.
const CLOSE: Nanos = 1_000;

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
    /// In nanoseconds after the start, with their fractions: a third of a second does not add up otherwise.
    due: f64,
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
            due: 0.0,
            missed: 0,
        };
        let share = f64::from(index) / f64::from(workload.applications.max(1));
        course.due = share * course.interval(0.0);
        course
    }

    /// Nanoseconds to the next iteration, so long after the start.
    fn interval(&self, since: f64) -> f64 {
        if self.rate <= 0.0 {
            return 0.0;
        }
        let grown = match self.ramp {
            0 => 1.0,
            // From a twentieth, because from nothing the first interval would never end.
            ramp => (since / ramp as f64).clamp(0.05, 1.0),
        };
        SECOND / (self.rate * grown)
    }

    /// When the next iteration is due.
    fn moment(&self) -> Nanos {
        self.start.saturating_add(self.due.round() as Nanos)
    }

    /// One more is done.
    pub(crate) fn iterated(&mut self) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
    }

    /// What to do now. What is due at `over` or later is not begun.
    pub(crate) fn turn(&mut self, now: Nanos, ending: bool, over: Nanos) -> Turn {
        if ending || self.left == Some(0) {
            return Turn::End;
        }
        if self.rate <= 0.0 {
            return Turn::Go { at: now };
        }
        let due = self.moment();
        if due.saturating_add(CLOSE) >= over {
            // Ending is the owner's part.
            return Turn::Wait {
                until: due.max(now.saturating_add(LOOK)),
            };
        }
        if now < due {
            return Turn::Wait { until: due };
        }
        let interval = self.interval(self.due).max(1.0);
        let late = now - due;
        if late > CATCH_UP {
            let missed = ((late - CATCH_UP) as f64 / interval).floor();
            self.missed += missed as u64;
            self.due += missed * interval;
        }
        let at = self.moment();
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
            assert_eq!(course.turn(now, false, Nanos::MAX), Turn::Go { at: now });
            course.iterated();
        }
        assert_eq!(course.turn(10, false, Nanos::MAX), Turn::End);
        assert!(!course.unfinished());
        assert_eq!(
            Course::new(&rated(0.0, 1), 0, 0).turn(1, true, Nanos::MAX),
            Turn::End
        );
    }

    #[test]
    fn a_rate_is_kept_from_fixed_moments() {
        let mut course = Course::new(&rated(10.0, 4), 1, 1_000);
        let first = 1_000 + 25_000_000;
        assert_eq!(
            course.turn(1_000, false, Nanos::MAX),
            Turn::Wait { until: first }
        );
        // Begun late, but counted from when it was due; the next one is not later for that.
        let late = first + 30_000_000;
        assert_eq!(course.turn(late, false, Nanos::MAX), Turn::Go { at: first });
        let second = first + 100_000_000;
        assert_eq!(
            course.turn(late, false, Nanos::MAX),
            Turn::Wait { until: second }
        );
        assert_eq!(
            course.turn(second, false, Nanos::MAX),
            Turn::Go { at: second }
        );
        assert_eq!(course.take_missed(), 0);
    }

    #[test]
    fn what_is_too_late_is_given_up_and_counted() {
        let mut course = Course::new(&rated(100.0, 1), 0, 0);
        let stalled = 5_000_000_000;
        let Turn::Go { at } = course.turn(stalled, false, Nanos::MAX) else {
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
        for (since, interval) in [(0.0, 2e9), (5e9, 2e8), (1e10, 1e8), (6e10, 1e8)] {
            assert!((course.interval(since) - interval).abs() < 1.0, "{since}");
        }
    }

    #[test]
    fn what_is_due_at_the_end_is_not_begun() {
        let (start, second) = (1_000, 1_000_000_000);
        // A third of a second is not a whole number of nanoseconds.
        for (rate, index, seconds, expected) in [
            (1.0, 0, 3, 3),
            (50.0, 3, 2, 100),
            (3.0, 0, 3, 9),
            (0.5, 3, 1, 0),
        ] {
            let over = start + seconds * second;
            let mut course = Course::new(&rated(rate, 4), index, start);
            let (mut now, mut begun) = (start, 0);
            while now < over + second {
                match course.turn(now, false, over) {
                    Turn::Go { .. } => begun += 1,
                    Turn::Wait { until } => {
                        assert!(until > now, "nobody turns in circles until the end");
                        now = until;
                    }
                    Turn::End => panic!("ended by itself"),
                }
            }
            assert_eq!(begun, expected, "{rate} a second for {seconds} s");
        }
    }
}
