//! What strangers can cause is written a few times and then counted, so that whoever floods the queue manager cannot make
//! its logs forget what was in them.
//!
//! Invariants: of each key (the number of a message, a source of refusals) [`BURST`] are written at once and one more for each
//! [`REFILL`] that passes; every other one is in a [`Summary`] sooner or later; while a flood lasts, summaries become rarer,
//! down to one in [`RAREST`], which is what a kill or a power cut can take of what was counted. Keys of which nothing is
//! counted any more are forgotten when there are too many.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// Messages of one number that are written in a row.
const BURST: u32 = 20;
/// How long it takes until one more may be written.
const REFILL: Duration = Duration::from_secs(60);
/// How long the first messages of a flood are counted before a summary is written.
const FIRST: Duration = Duration::from_secs(60);
/// The longest time that is summed up.
const RAREST: Duration = Duration::from_secs(600);

/// How often keys are looked through for those that can be forgotten.
const LOOK: Duration = Duration::from_secs(1);

/// What came of one key.
#[derive(Debug)]
struct Source<T> {
    /// How many may be written.
    left: u32,
    refilled: Duration,
    /// When the last one came.
    seen: Duration,
    /// Not written.
    counted: u64,
    last: T,
    due: Duration,
    interval: Duration,
}

/// What was counted instead of written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary<K, T> {
    /// Of what.
    pub(crate) key: K,
    /// How many there were.
    pub(crate) count: u64,
    /// In so many seconds, at most.
    pub(crate) seconds: u64,
    /// The last one.
    pub(crate) last: T,
}

/// How often each key came. Time is an argument: since any beginning.
#[derive(Debug)]
pub(crate) struct Repeats<K, T> {
    sources: HashMap<K, Source<T>>,
    looked: Duration,
}

impl<K, T> Default for Repeats<K, T> {
    fn default() -> Repeats<K, T> {
        Repeats {
            sources: HashMap::new(),
            looked: Duration::ZERO,
        }
    }
}

impl<K: Clone + Eq + Hash, T: Clone> Repeats<K, T> {
    /// Whether `what` is to be written; it is counted otherwise.
    pub(crate) fn admit(&mut self, key: &K, what: &T, now: Duration) -> bool {
        if !self.sources.contains_key(key) {
            let source = Source {
                left: BURST,
                refilled: now,
                seen: now,
                counted: 0,
                last: what.clone(),
                due: now,
                interval: FIRST,
            };
            self.sources.insert(key.clone(), source);
        }
        let Some(source) = self.sources.get_mut(key) else {
            return true;
        };
        source.refill(now);
        source.seen = now;
        if source.counted == 0 && source.left > 0 {
            source.left -= 1;
            return true;
        }
        if source.counted == 0 {
            source.due = now + source.interval;
        }
        source.counted += 1;
        source.last.clone_from(what);
        false
    }

    /// Whether a key is known, or there are fewer than `most`, some having been forgotten if need be.
    pub(crate) fn has_room(&mut self, key: &K, most: usize, now: Duration) -> bool {
        let is_full = self.sources.len() >= most && !self.sources.contains_key(key);
        if is_full && now >= self.looked + LOOK {
            self.looked = now;
            self.sources.retain(|_, source| {
                source.refill(now);
                source.counted > 0 || source.left < BURST
            });
        }
        !is_full || self.sources.len() < most
    }

    /// The summaries whose time has come.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<Summary<K, T>> {
        self.summed_up(now, |source| source.due <= now)
    }

    /// When the next summary is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        let counting = self.sources.values().filter(|source| source.counted > 0);
        counting.map(|source| source.due).min()
    }

    /// Everything that was counted, because the log ends.
    pub(crate) fn all(&mut self, now: Duration) -> Vec<Summary<K, T>> {
        self.summed_up(now, |_| true)
    }

    fn summed_up(
        &mut self,
        now: Duration,
        wanted: impl Fn(&Source<T>) -> bool,
    ) -> Vec<Summary<K, T>> {
        let sources = self.sources.iter_mut();
        let counting = sources.filter(|(_, source)| source.counted > 0 && wanted(source));
        counting
            .map(|(key, source)| source.sum_up(key, now))
            .collect()
    }
}

impl<T: Clone> Source<T> {
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

    fn sum_up<K: Clone>(&mut self, key: &K, now: Duration) -> Summary<K, T> {
        let began = self.due.saturating_sub(self.interval);
        let summary = Summary {
            key: key.clone(),
            count: std::mem::take(&mut self.counted),
            seconds: now.saturating_sub(began).as_secs().max(1),
            last: self.last.clone(),
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
        let written = (0..100).filter(|n| repeats.admit(&"AMQ9207E", &who(*n), at(0)));
        assert_eq!(written.count(), 20);
        assert!(
            repeats.admit(&"AMQ9519E", &Vec::new(), at(0)),
            "another number"
        );
        assert_eq!(repeats.next(), Some(at(60)));
        assert_eq!(repeats.due(at(59)), []);
        let summary = Summary {
            key: "AMQ9207E",
            count: 80,
            seconds: 60,
            last: who(99),
        };
        assert_eq!(repeats.due(at(60)), [summary]);
        assert_eq!(repeats.next(), None);
        assert!(
            repeats.admit(&"AMQ9207E", &Vec::new(), at(60)),
            "a minute has passed"
        );
        assert!(!repeats.admit(&"AMQ9207E", &Vec::new(), at(60)));
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
                written += u64::from(repeats.admit(&"AMQ9207E", &Vec::<String>::new(), at(second)));
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
        assert!((0..20).all(|_| repeats.admit(&"AMQ9207E", &Vec::<String>::new(), at(later))));
        assert!(!repeats.admit(&"AMQ9207E", &Vec::<String>::new(), at(later)));
        assert_eq!(repeats.next(), Some(at(later + 60)));
    }

    #[test]
    fn many_sources_take_bounded_room_and_none_that_counts_is_forgotten() {
        let mut repeats = Repeats::default();
        for source in 0..3 {
            assert!(repeats.has_room(&source, 3, at(0)));
            assert!(repeats.admit(&source, &(), at(0)));
        }
        for _ in 0..20 {
            repeats.admit(&0, &(), at(0));
        }
        assert!(!repeats.has_room(&3, 3, at(1)), "all have come just now");
        assert!(repeats.has_room(&0, 3, at(1)), "one that is known");
        assert!(repeats.has_room(&3, 3, at(70)), "1 and 2 are quiet");
        let counted = repeats.all(at(70));
        let counted: Vec<_> = counted.iter().map(|one| (one.key, one.count)).collect();
        assert_eq!(counted, [(0, 1)]);
    }
}
