//! Selectors, listed by what a message must have for them to match, and which of them may match a message.
//!
//! Invariants:
//! * A selector that no message matches without a certain value (`name = 'text' AND ...`) or without a number between two
//!   (`name >= 5 AND name < 6`) is found of messages only that have it; of several such conditions it is listed by the one
//!   that the fewest others share. The others are found of every message.
//! * Nothing is kept where no selector is listed.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_selector::{Key, Name, Range, Selector, Source};

use super::considered::Considered;
use super::intervals::Intervals;

/// What a message must have.
#[derive(Clone)]
pub(super) enum By {
    /// Under this name a value with this key.
    Value(Name, Key),
    /// Under this name a number in this range.
    Number(Name, Range),
    /// Nothing that can be looked up.
    Anything,
}

/// How many others share a condition need not be known beyond this.
const MANY: usize = 100;

/// See the head of this file. Selectors are numbers here.
#[derive(Default)]
pub(super) struct Listed {
    by_value: BTreeMap<Name, BTreeMap<Key, BTreeSet<usize>>>,
    by_number: BTreeMap<Name, Intervals>,
    others: BTreeSet<usize>,
}

impl Listed {
    /// By what to list a selector.
    pub(super) fn best(&self, selector: &Selector) -> By {
        let values = selector.keys().map(|(name, key)| {
            let keys = self.by_value.get(name);
            let shared = keys.and_then(|keys| keys.get(&key));
            let shared = shared.map_or(0, |all| all.len().min(MANY));
            (shared, By::Value(name.clone(), key))
        });
        let numbers = selector.ranges().map(|(name, range)| {
            // At one of its ends: a range that is open on one side has the other.
            let end = match range.low() {
                f64::NEG_INFINITY => range.high(),
                low => low,
            };
            let shared = self.by_number.get(name);
            let shared = shared.map_or(0, |all| all.holding(end).take(MANY).count());
            (shared, By::Number(name.clone(), range))
        });
        let best = values.chain(numbers).min_by_key(|(shared, _)| *shared);
        best.map_or(By::Anything, |(_, by)| by)
    }

    pub(super) fn insert(&mut self, by: &By, at: usize) {
        match by {
            By::Value(name, key) => {
                let keys = self.by_value.entry(name.clone()).or_default();
                keys.entry(key.clone()).or_default().insert(at);
            }
            By::Number(name, range) => {
                let ranges = self.by_number.entry(name.clone()).or_default();
                ranges.insert(range, at);
            }
            By::Anything => {
                self.others.insert(at);
            }
        }
    }

    pub(super) fn remove(&mut self, by: &By, at: usize) {
        match by {
            By::Value(name, key) => {
                let Some(keys) = self.by_value.get_mut(name) else {
                    return;
                };
                if let Some(listed) = keys.get_mut(key) {
                    listed.remove(&at);
                    if listed.is_empty() {
                        keys.remove(key);
                    }
                }
                if keys.is_empty() {
                    self.by_value.remove(name);
                }
            }
            By::Number(name, range) => {
                let Some(ranges) = self.by_number.get_mut(name) else {
                    return;
                };
                ranges.remove(range, at);
                if ranges.is_empty() {
                    self.by_number.remove(name);
                }
            }
            By::Anything => {
                self.others.remove(&at);
            }
        }
    }

    /// Those that may match a message, each once.
    pub(super) fn candidates(&self, message: &Considered<'_>) -> Vec<usize> {
        let mut all: Vec<usize> = self.others.iter().copied().collect();
        for (name, keys) in &self.by_value {
            let listed = Key::of(&message.value(name)).and_then(|key| keys.get(&key));
            all.extend(listed.into_iter().flatten());
        }
        for (name, ranges) in &self.by_number {
            if let Some(number) = message.value(name).number() {
                all.extend(ranges.holding(number));
            }
        }
        all
    }
}
