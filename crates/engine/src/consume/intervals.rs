//! Intervals of numbers, and which of them hold a number, whatever their number is.
//!
//! Numbers are taken as words of 64 bits in the same order. An interval lies at the longest beginning that its two ends
//! have in common: there the low end goes on with a zero bit and the high end with a one. A number passes one such place
//! for each of its beginnings. If it goes on with a zero there, it is below all high ends, and within those intervals whose
//! low end is not above it; with a one the other way round. So no interval is looked at that does not hold it.
//!
//! Invariant: no place and no length is kept where no interval lies.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_selector::Range;

/// The intervals at one place: their numbers by their ends.
#[derive(Default)]
struct Place {
    by_low: BTreeSet<(u64, usize)>,
    by_high: BTreeSet<(u64, usize)>,
}

/// See the head of this file.
#[derive(Default)]
pub(super) struct Intervals {
    /// By the length of the beginning, and the beginning.
    places: BTreeMap<u32, BTreeMap<u64, Place>>,
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
        self.places.is_empty()
    }

    pub(super) fn insert(&mut self, range: &Range, number: usize) {
        let (low, high) = ends(range);
        let length = (low ^ high).leading_zeros();
        let places = self.places.entry(length).or_default();
        let place = places.entry(beginning(low, length)).or_default();
        place.by_low.insert((low, number));
        place.by_high.insert((high, number));
    }

    pub(super) fn remove(&mut self, range: &Range, number: usize) {
        let (low, high) = ends(range);
        let length = (low ^ high).leading_zeros();
        let Some(places) = self.places.get_mut(&length) else {
            return;
        };
        let at = beginning(low, length);
        if let Some(place) = places.get_mut(&at) {
            place.by_low.remove(&(low, number));
            place.by_high.remove(&(high, number));
            if place.by_low.is_empty() {
                places.remove(&at);
            }
        }
        if places.is_empty() {
            self.places.remove(&length);
        }
    }

    /// The numbers of those that hold this one.
    pub(super) fn holding(&self, number: f64) -> impl Iterator<Item = usize> {
        let word = word(number);
        self.places.iter().flat_map(move |(length, places)| {
            let place = places.get(&beginning(word, *length));
            // With all its bits in common, an interval is this number.
            let next = word.checked_shl(*length).unwrap_or(0) >> 63;
            let (low, high) = match place {
                Some(place) if next == 0 => (Some(place.by_low.range(..=(word, usize::MAX))), None),
                Some(place) => (None, Some(place.by_high.range((word, 0)..))),
                None => (None, None),
            };
            let all = low.into_iter().flatten();
            all.chain(high.into_iter().flatten())
                .map(|(_, number)| *number)
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
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let draw = (random >> 33) as usize;
            match draw % 3 {
                0 => {
                    if let Some(range) = range(draw / 3) {
                        intervals.insert(&range, number);
                        list.push((range, number));
                    }
                }
                1 if list.len() > 40 => {
                    let (range, number) = list.swap_remove(draw / 3 % list.len());
                    intervals.remove(&range, number);
                }
                _ => {
                    let end: f64 = ENDS[draw / 3 % 16].parse().unwrap();
                    let looked_for = [end, end * 1.5, f64::INFINITY, -f64::INFINITY][draw / 48 % 4];
                    let holds =
                        |range: &Range| range.low() <= looked_for && looked_for <= range.high();
                    let all = list.iter().filter(|(range, _)| holds(range));
                    let mut expected: Vec<usize> = all.map(|(_, number)| *number).collect();
                    let mut held: Vec<usize> = intervals.holding(looked_for).collect();
                    expected.sort_unstable();
                    held.sort_unstable();
                    assert_eq!(held, expected, "{looked_for}");
                    found += held.len();
                }
            }
        }
        assert!(found > 10_000, "{found}");
        for (range, number) in list {
            intervals.remove(&range, number);
        }
        assert!(intervals.is_empty());
    }
}
