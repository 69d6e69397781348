//! What a message must have for a selector to match it, as far as messages can be looked up by it.
//!
//! Invariants:
//! * A need says what is necessary, not what suffices. Of each way ([`ways`]) a message that is matched has one need at
//!   least.
//! * No way has more needs than [`MOST`]: whoever lists selectors pays for each.

use crate::condition::{Comparison, Condition, Operand};
use crate::evaluate::Value;
use crate::range::{self, Range};

/// Most needs of one way.
const MOST: usize = 16;
/// Beyond it a floating-point number stands for several whole ones.
const EXACT: i64 = 1 << 53;

/// A value by which a message can be looked up: equal values have equal keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A text.
    Text(Box<str>),
    /// A whole number that a floating-point number can be.
    Number(i64),
}

impl Key {
    /// The keys of a value. What has none equals none that has.
    pub fn of(value: &Value<'_>) -> impl Iterator<Item = Key> {
        let text = value.text().map(|text| Key::Text(text.into()));
        text.into_iter().chain(Key::of_number(value))
    }

    fn of_number(value: &Value<'_>) -> Option<Key> {
        match value {
            Value::Exact(number) | Value::Called(_, number) => {
                (-EXACT < *number && *number < EXACT).then_some(Key::Number(*number))
            }
            Value::Approximate(number) => {
                let within = number.abs() < EXACT as f64 && number.fract() == 0.0;
                within.then_some(Key::Number(*number as i64))
            }
            _ => None,
        }
    }
}

/// What a message must have under a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// A value with this key.
    Value(Key),
    /// A number in this range.
    Number(Range),
    /// A text that begins so, with one character at least.
    Beginning(Box<str>),
}

impl Need {
    /// Whether a value is what is needed.
    pub fn is_met(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Need::Value(key), value) => Key::of(value).any(|of| of == *key),
            (Need::Number(range), value) => range.holds(value),
            (Need::Beginning(beginning), value) => value
                .text()
                .is_some_and(|text| text.starts_with(&**beginning)),
        }
    }

    /// How many messages may have it, where nothing is known of them: less is fewer.
    fn breadth(&self) -> usize {
        match self {
            Need::Value(_) => 1,
            Need::Number(range) if range.low() > f64::MIN && range.high() < f64::MAX => 2,
            Need::Beginning(_) => 3,
            Need::Number(_) => 10,
        }
    }
}

/// One of these a message must have: each the number of a name, and what is needed under it.
pub(crate) type Way = Vec<(usize, Need)>;

/// The ways in which a condition can be looked up.
pub(crate) fn ways(condition: &Condition) -> Vec<Way> {
    let all = match condition {
        Condition::All(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let ranges = range::of_all(all).into_iter();
    let mut found: Vec<Way> = ranges
        .map(|(name, range)| vec![(name, Need::Number(range))])
        .collect();
    found.extend(all.iter().filter_map(alternatives));
    found
}

/// The narrowest way in which a condition can be looked up.
fn narrowest(condition: &Condition) -> Option<Way> {
    let breadth = |way: &Way| way.iter().map(|(_, need)| need.breadth()).sum::<usize>();
    ways(condition).into_iter().min_by_key(breadth)
}

/// What is not a range by itself.
fn alternatives(condition: &Condition) -> Option<Way> {
    let way = match condition {
        Condition::Compare(left, Comparison::Equal, right) => {
            let ((Operand::Name(name), constant) | (constant, Operand::Name(name))) = (left, right)
            else {
                return None;
            };
            let key = match constant {
                Operand::Text(text) => Key::Text(text.clone()),
                Operand::Exact(number) => Key::of_number(&Value::Exact(*number))?,
                _ => return None,
            };
            vec![(*name, Need::Value(key))]
        }
        Condition::In(name, texts) if texts.len() <= MOST => {
            let keys = texts.iter().map(|text| Key::Text(text.clone()));
            keys.map(|key| (*name, Need::Value(key))).collect()
        }
        Condition::Like(name, pattern) => {
            let beginning = pattern.beginning();
            if beginning.is_empty() {
                return None;
            }
            vec![(*name, Need::Beginning(beginning.into()))]
        }
        Condition::Any(any) if any.len() <= MOST => {
            let ways: Option<Vec<Way>> = any.iter().map(narrowest).collect();
            ways?.concat()
        }
        Condition::All(_) => narrowest(condition)?,
        _ => return None,
    };
    (way.len() <= MOST).then_some(way)
}
