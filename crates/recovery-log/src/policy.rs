//! When the writer starts the next write: made whole first, then more at a time.
//!
//! A lone writer on a slow device that takes whatever is there splits the committers into two groups that
//! take turns, each waiting for two writes: those just released come back a moment after the next
//! write has left. So, on a device whose writes take longer than [`SLOW`]:
//!
//! * After a write the next one is held back until everybody who takes part in the loop (those just
//!   released and those who were already waiting) is there, at most for a twentieth of the write time.
//!   That first slice is a gamble; a further slice must be earned by the one before: those who came
//!   in it save more (each a whole write) than it costs those who wait.
//! * A hold that did not pay is not tried again for 1, 2, 4 ... 64 writes. With committers that
//!   never come back together the cost so goes to nothing.
//! * With nobody waiting nothing is held: the first committer of an idle log is written at once.
//!
//! Above [`VERY_SLOW`] up to four writes are put in flight, evenly spaced over the time one takes: on a fast
//! device a second write in flight only halves the batch, and so do writes that leave on each other's heels.
//! While holds pay, that is only when more committers wait than the last write carried, or a whole buffer
//! waits. Where they do not pay, because committers have other things to do before they come back, any that
//! wait may leave: each then waits for little more than one write instead of two. A device that does one write
//! at a time would only be asked for more and smaller ones, so the time of writes with company is compared with that
//! of writes alone, and company given up where it costs more than half as much again.
//!
//! Invariant: nothing here affects what is written or in which order it is acknowledged, only when. All
//! inputs are numbers, so the tests run it in virtual time.

use posthaste_env::Nanos;

use crate::config::WritePolicy;
use crate::limits::MAX_FLIGHTS;

/// Below this average write time the writer never holds back.
pub(crate) const SLOW: Nanos = 100_000;
/// Below this average write time a committer that is alone may write itself: its thread is held that long.
pub(crate) const BRIEF: Nanos = 250_000;
/// Above this average write time several writes may be in flight.
pub(crate) const VERY_SLOW: Nanos = 500_000;
/// A slice of holding back is the average write time divided by this ...
const SLICES: Nanos = 20;
/// ... and not more than this.
const LONGEST_SLICE: Nanos = 500_000;
/// All slices of one hold together: the average write time divided by this ...
const HOLD_SHARE: Nanos = 2;
/// ... and not more than this.
const LONGEST_HOLD: Nanos = 5_000_000;
/// A write counts at most as this many average ones.
const MOST_GROWTH: Nanos = 4;
/// With company all the time, every so many writes one is made alone, to know how long that takes.
const ALONE_EVERY: u32 = 256;
/// Committers a write carries, as a moving average in 64ths, up to which they count as coming one at a time.
const ONE_AT_A_TIME: usize = 64 + 16;
/// Longest pause between two tries, as a power of two of writes.
const MOST_MISSES: u32 = 6;

/// What the writer sees when it asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) now: Nanos,
    /// Writes in flight.
    pub(crate) in_flight: usize,
    /// Committers who wait for a write that has not been started.
    pub(crate) waiting: usize,
    /// Data must go out whoever waits: half of the log buffer, or the log is being shut down.
    pub(crate) pressed: bool,
    /// A whole buffer is full.
    pub(crate) bulk: bool,
}

/// What the writer should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Start a write.
    Write,
    /// Ask again at `until`, or as soon as `wake_at` committers wait.
    Hold { until: Nanos, wake_at: usize },
    /// Ask again when a write has ended, or `wake_at` committers wait.
    Rest { wake_at: usize },
}

/// A cohort the writer may hold back for.
#[derive(Clone, Copy, Debug)]
struct Cohort {
    /// Committers in the loop: waiting and released when the last write ended.
    size: usize,
    began: Nanos,
    slice_ends: Nanos,
    slice: Nanos,
    /// Waiting when the slice began.
    seen: usize,
    /// Since when somebody has been held back.
    held_since: Option<Nanos>,
    /// Waiting when the hold began.
    held_with: usize,
}

#[derive(Debug)]
pub(crate) struct Policy {
    config: WritePolicy,
    /// Moving average of the write time; 0 before the first.
    average: Nanos,
    /// Committers the last write carried.
    carried: usize,
    /// Moving average of that, in 64ths.
    usually_carried: usize,
    /// When it was started.
    last_start: Nanos,
    /// Moving averages of the times of writes that were alone, and of those that were not; 0 before the first.
    alone: Nanos,
    together: Nanos,
    /// Writes since the last one that was alone.
    since_alone: u32,
    cohort: Option<Cohort>,
    misses: u32,
    /// Writes to let pass before the next hold.
    pause: u32,
    /// Time committers were held back, in all.
    held: Nanos,
}

/// A moving average of write times, 0 before the first, after one more write.
fn smoothed(average: Nanos, took: Nanos) -> Nanos {
    let next = match average {
        0 => took,
        // One stall (a flush, a neighbour on the device) must not make a fast device look slow.
        average => average - average / 8 + took.min(average * MOST_GROWTH) / 8,
    };
    next.max(1)
}

impl Policy {
    pub(crate) fn new(config: WritePolicy) -> Self {
        Self {
            config,
            average: 0,
            carried: 0,
            usually_carried: 64,
            last_start: 0,
            alone: 0,
            together: 0,
            since_alone: 0,
            cohort: None,
            misses: 0,
            pause: 0,
            held: 0,
        }
    }

    pub(crate) fn average(&self) -> Nanos {
        self.average
    }

    /// Time committers were held back for their cohort, in all.
    pub(crate) fn held(&self) -> Nanos {
        self.held
    }

    /// Whether writes are so slow, and committers so many, that the driver should keep its hands free for further
    /// writes.
    pub(crate) fn wants_flights(&self) -> bool {
        self.gains_by_flights() && self.usually_carried > ONE_AT_A_TIME
    }

    /// Whether whoever waits may leave beside other writes, however few they are.
    fn flies_freely(&self) -> bool {
        self.misses > 0
    }

    /// Whether writes may have company now: the device takes several without making each much longer, as far as is
    /// known.
    fn allows_company(&self) -> bool {
        let unhindered = self.alone == 0 || self.together * 2 <= self.alone * 3;
        self.gains_by_flights() && unhindered && self.since_alone < ALONE_EVERY
    }

    /// A write of this time was alone, or was not.
    fn compare(&mut self, took: Nanos, alone: bool) {
        if alone {
            self.alone = smoothed(self.alone, took);
            self.since_alone = 0;
            // What company once cost is slowly forgotten, so that it is tried again.
            self.together -= self.together / 1024;
        } else {
            self.together = smoothed(self.together, took);
            self.since_alone = self.since_alone.saturating_add(1);
        }
    }

    fn gains_by_flights(&self) -> bool {
        !self.config.plain && self.config.max_flights > 1 && self.average > VERY_SLOW
    }

    /// Whether writes are so brief, and committers come so much one at a time, that one may write itself: its
    /// thread is held for the time of the write, but nobody else's commit is.
    pub(crate) fn serves_one(&self) -> bool {
        let brief = self.average > 0 && self.average < BRIEF;
        !self.config.plain && brief && self.usually_carried <= ONE_AT_A_TIME
    }

    /// A write was started that carries `carried` committers.
    pub(crate) fn taken(&mut self, carried: usize, now: Nanos) {
        self.carried = carried;
        self.usually_carried = self.usually_carried - self.usually_carried / 8 + carried * 8;
        self.last_start = now;
        let Some(cohort) = self.cohort.take() else {
            return;
        };
        let Some(since) = cohort.held_since else {
            return;
        };
        let held = now.saturating_sub(since);
        self.held += held;
        let came = carried.saturating_sub(cohort.held_with) as u64;
        let whole = carried >= cohort.size;
        let paid = match self.gains_by_flights() {
            // Where writes can fly side by side, waiting for long costs more than another write.
            true => carried * 10 >= cohort.size * 9 && held <= self.average / 8,
            false => came * self.average > held * carried as u64,
        };
        if whole || paid {
            self.misses = 0;
        } else {
            self.misses = (self.misses + 1).min(MOST_MISSES);
            self.pause = 1 << self.misses;
        }
    }

    /// A write ended that took `took`, `alone` or with others in flight; `released` committers were let go by it and
    /// `waiting` still wait.
    pub(crate) fn completed(
        &mut self,
        (took, alone): (Nanos, bool),
        released: usize,
        waiting: usize,
        now: Nanos,
        in_flight: usize,
    ) {
        self.compare(took, alone);
        self.average = smoothed(self.average, took);
        self.cohort = None;
        // Everybody has gathered because company was not allowed: that says nothing about holds.
        let drained = self.since_alone >= ALONE_EVERY;
        let idle = in_flight > 0 || released == 0 || drained;
        if self.config.plain || self.average < SLOW || idle {
            return;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        let slice = (self.average / SLICES).min(LONGEST_SLICE);
        self.cohort = Some(Cohort {
            size: waiting + released,
            began: now,
            slice_ends: now + slice,
            slice,
            seen: waiting,
            held_since: None,
            held_with: waiting,
        });
    }

    /// What to do now.
    pub(crate) fn choose(&mut self, view: View) -> Choice {
        if view.in_flight == 0 {
            return if view.waiting == 0 && !view.pressed {
                Choice::Rest { wake_at: 1 }
            } else {
                self.choose_first(view)
            };
        }
        if !self.may_fly(view.in_flight) {
            return Choice::Rest {
                wake_at: usize::MAX,
            };
        }
        if view.bulk {
            return Choice::Write;
        }
        let most = if self.flies_freely() { 0 } else { self.carried };
        if view.waiting <= most {
            return Choice::Rest { wake_at: most + 1 };
        }
        // Evenly spaced: those who come a moment after the last write left go together.
        let spacing = self.average / Nanos::from(self.config.max_flights);
        let until = self.last_start + spacing;
        if view.now < until {
            return Choice::Hold {
                until,
                wake_at: usize::MAX,
            };
        }
        Choice::Write
    }

    /// Whether device and configuration allow one more write beside `in_flight`.
    fn may_fly(&self, in_flight: usize) -> bool {
        let most = usize::from(self.config.max_flights).min(MAX_FLIGHTS);
        in_flight == 0 || (self.allows_company() && in_flight < most)
    }

    /// Nothing is in flight and somebody waits: write, or hold back for the cohort.
    fn choose_first(&mut self, view: View) -> Choice {
        let average = self.average;
        let Some(cohort) = &mut self.cohort else {
            return Choice::Write;
        };
        if view.pressed || view.waiting >= cohort.size {
            return Choice::Write;
        }
        if view.now >= cohort.slice_ends {
            if cohort.held_since.is_none() {
                // The log was idle in between; nobody owes anybody anything.
                return Choice::Write;
            }
            let came = view.waiting.saturating_sub(cohort.seen) as u64;
            let longest = (average / HOLD_SHARE).min(LONGEST_HOLD);
            let earned = came * average > view.waiting as u64 * cohort.slice;
            if !earned || view.now + cohort.slice > cohort.began + longest {
                return Choice::Write;
            }
            cohort.seen = view.waiting;
            cohort.slice_ends = view.now + cohort.slice;
        }
        if cohort.held_since.is_none() {
            cohort.held_since = Some(view.now);
        }
        Choice::Hold {
            until: cohort.slice_ends,
            wake_at: cohort.size,
        }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
