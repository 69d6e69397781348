//! Messages that strangers can cause are written a few times and then counted, so that whoever floods the queue
//! manager cannot make the error log forget what was in it.
//!
//! Invariants: of each number [`BURST`] messages are written at once and one more for each [`REFILL`] that passes; every
//! other one is in a [`Summary`] sooner or later; while a flood lasts, summaries become rarer, down to one in [`RAREST`],
//! which is what a kill or a power cut can take of what was counted.

use std::collections::HashMap;
use std::time::Duration;

/// Messages of one number that are written in a row.
const BURST: u32 = 20;
/// How long it takes until one more may be written.
const REFILL: Duration = Duration::from_secs(60);
/// How long the first messages of a flood are counted before a summary is written.
const FIRST: Duration = Duration::from_secs(60);
/// The longest time that is summed up.
const RAREST: Duration = Duration::from_secs(600);

/// Messages of one number.
#[derive(Debug)]
struct Number {
    /// How many may be written.
    left: u32,
    refilled: Duration,
    /// When the last one came.
    seen: Duration,
    /// Not written.
    counted: u64,
    last: Vec<String>,
    due: Duration,
    interval: Duration,
}

/// What was counted instead of written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// The message's number.
    pub(super) id: &'static str,
    /// How many there were.
    pub(super) count: u64,
    /// In so many seconds, at most.
    pub(super) seconds: u64,
    /// The inserts of the last one.
    pub(super) last: Vec<String>,
}

/// How often each number came. Time is an argument: since any beginning.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    numbers: HashMap<&'static str, Number>,
}

impl Repeats {
    /// Whether a message is to be written; it is counted otherwise.
    pub(super) fn admit(&mut self, id: &'static str, inserts: &[String], now: Duration) -> bool {
        let number = self.numbers.entry(id).or_insert_with(|| Number {
            left: BURST,
            refilled: now,
            seen: now,
            counted: 0,
            last: Vec::new(),
            due: now,
            interval: FIRST,
        });
        number.refill(now);
        number.seen = now;
        if number.counted == 0 && number.left > 0 {
            number.left -= 1;
            return true;
        }
        if number.counted == 0 {
            number.due = now + number.interval;
        }
        number.counted += 1;
        inserts.clone_into(&mut number.last);
        false
    }

    /// The summaries whose time has come.
    pub(super) fn due(&mut self, now: Duration) -> Vec<Summary> {
        self.summed_up(now, |number| number.due <= now)
    }

    /// When the next summary is due.
    pub(super) fn next(&self) -> Option<Duration> {
        let counting = self.numbers.values().filter(|number| number.counted > 0);
        counting.map(|number| number.due).min()
    }

    /// Everything that was counted, because the log ends.
    pub(super) fn all(&mut self, now: Duration) -> Vec<Summary> {
        self.summed_up(now, |_| true)
    }

    fn summed_up(&mut self, now: Duration, wanted: impl Fn(&Number) -> bool) -> Vec<Summary> {
        let numbers = self.numbers.iter_mut();
        let counting = numbers.filter(|(_, number)| number.counted > 0 && wanted(number));
        counting
            .map(|(id, number)| number.sum_up(id, now))
            .collect()
    }
}

impl Number {
    fn refill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.refilled).as_secs() / REFILL.as_secs();
        let Some(passed) = u32::try_from(passed).ok().filter(|passed| *passed > 0) else {
            return;
        };
        self.refilled += REFILL * passed;
        self.left = self.left.saturating_add(passed).min(BURST);
        if now.saturating_sub(self.seen) >= REFILL * BURST {
            // The flood is over.
            self.interval = FIRST;
        }
    }

    fn sum_up(&mut self, id: &'static str, now: Duration) -> Summary {
        let began = self.due.saturating_sub(self.interval);
        let summary = Summary {
            id,
            count: std::mem::take(&mut self.counted),
            seconds: now.saturating_sub(began).as_secs().max(1),
            last: std::mem::take(&mut self.last),
        };
        self.interval = (self.interval * 2).min(RAREST);
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(1_000 + seconds)
    }

    #[test]
    fn a_burst_is_written_and_the_rest_counted() {
        let mut repeats = Repeats::default();
        let who = |n: u32| vec![format!("10.0.0.{n}")];
        let written = (0..100).filter(|n| repeats.admit("AMQ9207E", &who(*n), at(0)));
        assert_eq!(written.count(), 20);
        assert!(repeats.admit("AMQ9519E", &[], at(0)), "another number");
        assert_eq!(repeats.next(), Some(at(60)));
        assert_eq!(repeats.due(at(59)), []);
        let summary = Summary {
            id: "AMQ9207E",
            count: 80,
            seconds: 60,
            last: who(99),
        };
        assert_eq!(repeats.due(at(60)), [summary]);
        assert_eq!(repeats.next(), None);
        assert!(
            repeats.admit("AMQ9207E", &[], at(60)),
            "a minute has passed"
        );
        assert!(!repeats.admit("AMQ9207E", &[], at(60)));
        assert_eq!(repeats.next(), Some(at(180)), "rarer now");
        assert_eq!(repeats.all(at(70)).len(), 1);
        assert_eq!(repeats.all(at(70)), []);
    }

    /// A day of ten garbage connections each second: a megabyte of the log.
    #[test]
    fn a_long_flood_writes_little_and_counts_all() {
        let mut repeats = Repeats::default();
        let (mut written, mut counted, mut summaries) = (0_u64, 0, 0);
        for second in 0..86_400 {
            for _ in 0..10 {
                written += u64::from(repeats.admit("AMQ9207E", &[], at(second)));
            }
            for summary in repeats.due(at(second)) {
                counted += summary.count;
                summaries += 1;
            }
        }
        counted += repeats.all(at(86_400)).iter().map(|s| s.count).sum::<u64>();
        assert_eq!(written + counted, 864_000);
        assert!(
            written <= 1_500 && summaries <= 150,
            "{written}, {summaries}"
        );
        // Twenty quiet minutes later it is as if nothing had been.
        let later = 86_400 + 1_300;
        assert!((0..20).all(|_| repeats.admit("AMQ9207E", &[], at(later))));
        assert!(!repeats.admit("AMQ9207E", &[], at(later)));
        assert_eq!(repeats.next(), Some(at(later + 60)));
    }
}
