//! Intervals of numbers, and which of them hold a number, whatever their number is.
//!
//! Numbers are taken as words of 64 bits in the same order. An interval lies at the longest beginning that its two ends
//! have in common: there the low end goes on with a zero bit and the high end with a one. A number passes one such fork
//! for each of its beginnings. If it goes on with a zero there, it is below all high ends, and within those intervals whose
//! low end is not above it; with a one the other way round. So no interval is looked at that does not hold it.
//!
//! Invariant: no fork and no length is kept where no interval lies.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_selector::Range;

use super::place::Place;

/// The intervals of one beginning: their places by their ends.
#[derive(Default)]
struct Fork {
    by_low: BTreeSet<(u64, Place)>,
    by_high: BTreeSet<(u64, Place)>,
}

/// See the head of this file.
#[derive(Default)]
pub(super) struct Intervals {
    /// By the length of the beginning, and the beginning.
    forks: BTreeMap<u32, BTreeMap<u64, Fork>>,
}

/// A word for a number, in the same order. Both zeros are one number.
fn word(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

/// The first bits of a word.
fn beginning(word: u64, length: u32) -> u64 {
    word.checked_shr(64 - length).unwrap_or(0)
}

fn ends(range: &Range) -> (u64, u64) {
    (word(range.low()), word(range.high()))
}

impl Intervals {
    pub(super) fn is_empty(&self) -> bool {
        self.forks.is_empty()
    }

    pub(super) fn insert(&mut self, range: &Range, place: Place) {
        let (low, high) = ends(range);
        let length = (low ^ high).leading_zeros();
        let forks = self.forks.entry(length).or_default();
        let fork = forks.entry(beginning(low, length)).or_default();
        fork.by_low.insert((low, place));
        fork.by_high.insert((high, place));
    }

    pub(super) fn remove(&mut self, range: &Range, place: Place) {
        let (low, high) = ends(range);
        let length = (low ^ high).leading_zeros();
        let Some(forks) = self.forks.get_mut(&length) else {
            return;
        };
        let at = beginning(low, length);
        if let Some(fork) = forks.get_mut(&at) {
            fork.by_low.remove(&(low, place));
            fork.by_high.remove(&(high, place));
            if fork.by_low.is_empty() {
                forks.remove(&at);
            }
        }
        if forks.is_empty() {
            self.forks.remove(&length);
        }
    }

    /// The places of those that hold a number.
    pub(super) fn holding(&self, number: f64) -> impl Iterator<Item = Place> {
        let word = word(number);
        self.forks.iter().flat_map(move |(length, forks)| {
            let fork = forks.get(&beginning(word, *length));
            // With all its bits in common, an interval is this number.
            let next = word.checked_shl(*length).unwrap_or(0) >> 63;
            let (low, high) = match fork {
                Some(fork) if next == 0 => (Some(fork.by_low.range(..=(word, Place::LAST))), None),
                Some(fork) => (None, Some(fork.by_high.range((word, Place::FIRST)..))),
                None => (None, None),
            };
            let all = low.into_iter().flatten();
            all.chain(high.into_iter().flatten())
                .map(|(_, place)| *place)
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use posthaste_selector::{Need, Selector};

    /// Ends that are hard to tell apart, and others.
    const ENDS: [&str; 16] = [
        "-1e308",
        "-9007199254740993",
        "-2.5",
        "-2",
        "-1e-310",
        "-0.0",
        "0",
        "1e-310",
        "1",
        "1.0000000000000002",
        "2",
        "3",
        "4",
        "1000",
        "9007199254740993",
        "1e308",
    ];

    fn range(draw: usize) -> Option<Range> {
        let (one, other) = (ENDS[draw % 16], ENDS[draw / 16 % 16]);
        let text = match draw / 256 % 4 {
            0 => format!("a >= {one}"),
            1 => format!("a <= {one}"),
            2 => format!("a = {one}"),
            _ => format!("a BETWEEN {one} AND {other}"),
        };
        let selector = Selector::new(&text).unwrap();
        let needs = selector.ways().flatten();
        needs.map(|(_, need)| need).find_map(|need| match need {
            Need::Number(range) => Some(range),
            _ => None,
        })
    }

    /// Against a plain list.
    #[test]
    fn those_are_found_that_hold_a_number() {
        let (mut intervals, mut list) = (Intervals::default(), Vec::new());
        let (mut random, mut found) = (1u64, 0);
        for number in 0..20_000 {
            let place = Place {
                came: number as u64 / 2,
                group: number,
            };
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let draw = (random >> 33) as usize;
            match draw % 3 {
                0 => {
                    if let Some(range) = range(draw / 3) {
                        intervals.insert(&range, place);
                        list.push((range, place));
                    }
                }
                1 if list.len() > 40 => {
                    let (range, place) = list.swap_remove(draw / 3 % list.len());
                    intervals.remove(&range, place);
                }
                _ => {
                    let end: f64 = ENDS[draw / 3 % 16].parse().unwrap();
                    let looked_for = [end, end * 1.5, f64::INFINITY, -f64::INFINITY][draw / 48 % 4];
                    let holds =
                        |range: &Range| range.low() <= looked_for && looked_for <= range.high();
                    let all = list.iter().filter(|(range, _)| holds(range));
                    let mut expected: Vec<Place> = all.map(|(_, place)| *place).collect();
                    let mut held: Vec<Place> = intervals.holding(looked_for).collect();
                    expected.sort_unstable();
                    held.sort_unstable();
                    assert_eq!(held, expected, "{looked_for}");
                    found += held.len();
                }
            }
        }
        assert!(found > 10_000, "{found}");
        for (range, place) in list {
            intervals.remove(&range, place);
        }
        assert!(intervals.is_empty());
    }
}
