//! Selectors, listed by what a message must have for them to match, and which of them may match a message, those for whom
//! somebody has waited longest first.
//!
//! Invariants:
//! * A selector that matches no message without one of certain values (`name = 'text' AND ...`, `name IN (...)`), numbers
//!   between two (`name >= 5 AND name < 6`) or beginnings (`name LIKE 'text%'`) is listed by each of these, and found of
//!   messages only that have one; of several such ways it is listed by the one that the fewest others share. The others are
//!   found of every message.
//! * They are found in the order of their places, each once, and not before they are asked for: who takes the first that
//!   matches does not pay for those behind it, however many can be looked up by nothing.
//! * Nothing is kept where no selector is listed.

use std::collections::{BTreeMap, BTreeSet, btree_set};
use std::iter::Peekable;
use std::vec;

use posthaste_selector::{Key, Name, Need, Selector, Source};

use super::considered::Considered;
use super::intervals::Intervals;
use super::place::Place;

/// By what a selector is listed: a message must have one of these. None: nothing that can be looked up.
pub(super) type By = Box<[(Name, Need)]>;

/// How many others share a need need not be known beyond this.
const MANY: usize = 100;
/// So few selectors are judged at each message sooner than listed: who waits alone comes and goes with each message.
const FEW: usize = 4;

type Selectors = BTreeSet<Place>;

/// Selectors by the beginnings of texts.
#[derive(Default)]
struct Beginnings {
    listed: BTreeMap<Box<str>, Selectors>,
    /// How many beginnings there are of each length.
    lengths: BTreeMap<usize, usize>,
}

impl Beginnings {
    fn of<'a, 'b>(&'a self, text: &'b str) -> impl Iterator<Item = &'a Selectors> + use<'a, 'b> {
        let beginnings = self
            .lengths
            .keys()
            .map_while(|length| (*length <= text.len()).then(|| text.get(..*length)));
        beginnings
            .flatten()
            .filter_map(|text| self.listed.get(text))
    }

    fn insert(&mut self, beginning: &str, at: Place) {
        if !self.listed.contains_key(beginning) {
            *self.lengths.entry(beginning.len()).or_default() += 1;
        }
        self.listed.entry(beginning.into()).or_default().insert(at);
    }

    fn remove(&mut self, beginning: &str, at: Place) {
        let Some(listed) = self.listed.get_mut(beginning) else {
            return;
        };
        listed.remove(&at);
        if !listed.is_empty() {
            return;
        }
        self.listed.remove(beginning);
        let length = beginning.len();
        if let Some(count) = self.lengths.get_mut(&length) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&length);
            }
        }
    }
}

/// Selectors that need something under one name.
#[derive(Default)]
struct Named {
    values: BTreeMap<Key, Selectors>,
    numbers: Intervals,
    beginnings: Beginnings,
}

impl Named {
    fn is_empty(&self) -> bool {
        let Beginnings { listed, .. } = &self.beginnings;
        self.values.is_empty() && self.numbers.is_empty() && listed.is_empty()
    }

    /// How many share a need, or [`MANY`].
    fn sharing(&self, need: &Need) -> usize {
        let listed = match need {
            Need::Value(key) => self.values.get(key),
            Need::Number(range) => {
                // At one of its ends: a range that is open on one side has the other.
                let end = match range.low() {
                    f64::NEG_INFINITY => range.high(),
                    low => low,
                };
                return self.numbers.holding(end).take(MANY).count();
            }
            Need::Beginning(text) => self.beginnings.listed.get(text),
        };
        listed.map_or(0, |all| all.len().min(MANY))
    }

    fn insert(&mut self, need: &Need, at: Place) {
        match need {
            Need::Value(key) => {
                self.values.entry(key.clone()).or_default().insert(at);
            }
            Need::Number(range) => self.numbers.insert(range, at),
            Need::Beginning(text) => self.beginnings.insert(text, at),
        }
    }

    fn remove(&mut self, need: &Need, at: Place) {
        match need {
            Need::Value(key) => {
                if let Some(listed) = self.values.get_mut(key) {
                    listed.remove(&at);
                    if listed.is_empty() {
                        self.values.remove(key);
                    }
                }
            }
            Need::Number(range) => self.numbers.remove(range, at),
            Need::Beginning(text) => self.beginnings.remove(text, at),
        }
    }
}

/// See the head of this file.
#[derive(Default)]
pub(super) struct Listed {
    named: BTreeMap<Name, Named>,
    others: Selectors,
}

impl Listed {
    /// By what to list a selector beside so many others.
    pub(super) fn best(&self, selector: &Selector, others: usize) -> By {
        if others < FEW {
            return By::default();
        }
        let sharing = |(name, need): &(&Name, Need)| {
            let named = self.named.get(name);
            named.map_or(0, |named| named.sharing(need))
        };
        let best = selector
            .ways()
            .min_by_key(|way| way.iter().map(sharing).sum::<usize>());
        let best = best.unwrap_or_default().into_iter();
        best.map(|(name, need)| (name.clone(), need)).collect()
    }

    pub(super) fn insert(&mut self, by: &By, at: Place) {
        for (name, need) in by {
            self.named.entry(name.clone()).or_default().insert(need, at);
        }
        if by.is_empty() {
            self.others.insert(at);
        }
    }

    pub(super) fn remove(&mut self, by: &By, at: Place) {
        for (name, need) in by {
            if let Some(named) = self.named.get_mut(name) {
                named.remove(need, at);
                if named.is_empty() {
                    self.named.remove(name);
                }
            }
        }
        if by.is_empty() {
            self.others.remove(&at);
        }
    }

    /// Those that may match a message.
    pub(super) fn candidates(&self, message: &Considered<'_>) -> Candidates<'_> {
        let (mut sets, mut ranges) = (vec![&self.others], Vec::new());
        for (name, named) in &self.named {
            let value = message.value(name);
            sets.extend(Key::of(&value).filter_map(|key| named.values.get(&key)));
            if let Some(number) = value.number() {
                ranges.extend(named.numbers.holding(number));
            }
            if let Some(text) = value.text() {
                sets.extend(named.beginnings.of(text));
            }
        }
        ranges.sort_unstable();
        let sets = sets.into_iter().map(|set| set.iter().peekable());
        Candidates {
            sets: sets.collect(),
            ranges: ranges.into_iter().peekable(),
            last: None,
        }
    }
}

/// Selectors that may match a message, in the order of their places.
pub(super) struct Candidates<'a> {
    sets: Vec<Peekable<btree_set::Iter<'a, Place>>>,
    ranges: Peekable<vec::IntoIter<Place>>,
    last: Option<Place>,
}

impl Iterator for Candidates<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        loop {
            let next_set = self
                .sets
                .iter_mut()
                .filter_map(|set| Some((**set.peek()?, set)));
            let first = next_set.min_by_key(|(place, _)| *place);
            let place = match (first, self.ranges.peek()) {
                (Some((place, set)), range) if range.is_none_or(|range| place <= *range) => {
                    set.next();
                    place
                }
                _ => self.ranges.next()?,
            };
            // By one of its needs and by another.
            if self.last.replace(place) != Some(place) {
                return Some(place);
            }
        }
    }
}
