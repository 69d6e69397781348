//! Between which numbers a message's value lies, if a selector is to match it.
//!
//! Invariants:
//! * A range says what is necessary, not what suffices: its bounds are in it, and whole numbers are compared as the
//!   floating-point numbers next to them. Rounding keeps order, so that what is selected is within.
//! * What is no number is within no range: no comparison of order with it is true, nor an equality with a number.

use crate::condition::{Comparison, Condition, Operand};
use crate::evaluate::Value;

/// All numbers between two, and these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// Nothing is known of the number.
    const ALL: Range = Range {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// The smallest number in it.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest number in it.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Whether a value is in it.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        value
            .number()
            .is_some_and(|number| self.low <= number && number <= self.high)
    }

    /// What is in both; none: nothing is.
    fn and(self, other: Range) -> Option<Range> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Range { low, high })
    }
}

impl Value<'_> {
    /// The number that it is, or the floating-point number next to it; none: it is no number, and of no order.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Exact(number) | Value::Called(_, number) => Some(*number as f64),
            Value::Approximate(number) => (!number.is_nan()).then_some(*number),
            _ => None,
        }
    }
}

/// The ranges in which names must be for all conditions to be true, each name once. A name that can be nowhere is left
/// out.
pub(crate) fn of_all(conditions: &[Condition]) -> Vec<(usize, Range)> {
    let mut found: Vec<(usize, Option<Range>)> = Vec::new();
    for (name, range) in conditions.iter().filter_map(of_one) {
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = known.and_then(|known| known.and(range)),
            None => found.push((name, Some(range))),
        }
    }
    let known = found.into_iter();
    known.filter_map(|(at, range)| Some((at, range?))).collect()
}

fn of_one(condition: &Condition) -> Option<(usize, Range)> {
    match condition {
        Condition::Compare(Operand::Name(name), how, bound) => {
            Some((*name, beyond(*how, number(bound)?)?))
        }
        Condition::Compare(bound, how, Operand::Name(name)) => {
            Some((*name, beyond(turned(*how), number(bound)?)?))
        }
        Condition::Between(parts) => match parts.as_ref() {
            [Operand::Name(name), low, high] => {
                let low = number(low).and_then(|low| beyond(Comparison::GreaterOrEqual, low));
                let high = number(high).and_then(|high| beyond(Comparison::LessOrEqual, high));
                match (low, high) {
                    (Some(low), Some(high)) => Some((*name, low.and(high)?)),
                    (one, other) => Some((*name, one.or(other)?)),
                }
            }
            _ => None,
        },
        _ => None,
    }
}

/// Where a number is that is compared so.
fn beyond(how: Comparison, bound: f64) -> Option<Range> {
    let (low, high) = match how {
        Comparison::Equal => (bound, bound),
        Comparison::Less | Comparison::LessOrEqual => (Range::ALL.low, bound),
        Comparison::Greater | Comparison::GreaterOrEqual => (bound, Range::ALL.high),
        Comparison::Unequal => return None,
    };
    Some(Range { low, high })
}

/// The comparison, seen from its other side.
fn turned(how: Comparison) -> Comparison {
    match how {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

/// A number that is written in the selector.
fn number(operand: &Operand) -> Option<f64> {
    match operand {
        Operand::Exact(number) => Value::Exact(*number).number(),
        Operand::Approximate(number) => Value::Approximate(*number).number(),
        Operand::Minus(inner) => number(inner).map(|number| -number),
        _ => None,
    }
}
