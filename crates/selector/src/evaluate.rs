//! Values, arithmetic, and the logic of true, false and unknown.
//!
//! Invariants:
//! * NULL makes arithmetic NULL and comparisons unknown. What is of unlike types is not equal, and of no order: such a
//!   comparison is false, `<>` too; numbers are all of one type.
//! * Arithmetic of exact numbers is exact while the result is one of 64 bits, and approximate beyond; to divide an
//!   exact number by zero gives NULL.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::condition::{Comparison, Condition, Operand};
use crate::name::Name;

/// What a name stands for in a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// The message has not got it.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Exact(i64),
    /// A floating-point number.
    Approximate(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// A byte string.
    Bytes(Cow<'a, [u8]>),
    /// A number that has a name (a delivery mode): it is the name beside texts, and the number beside numbers.
    Called(&'static str, i64),
    /// A value of a type that the operation cannot have, so that no comparison with it is true.
    Unfit,
}

impl Value<'_> {
    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Called(name, _) => Some(name),
            _ => None,
        }
    }
}

/// What is known of a message.
pub trait Source {
    /// What a name stands for.
    fn value(&self, name: &Name) -> Value<'_>;
}

/// The result of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        match value {
            true => Truth::True,
            false => Truth::False,
        }
    }
}

impl Truth {
    fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }
}

pub(crate) struct Evaluation<'a, S> {
    pub(crate) names: &'a [Name],
    pub(crate) source: &'a S,
}

impl<'a, S: Source> Evaluation<'a, S> {
    pub(crate) fn holds(&self, condition: &'a Condition) -> Truth {
        match condition {
            Condition::All(all) => self.until(all, Truth::False, Truth::True),
            Condition::Any(any) => self.until(any, Truth::True, Truth::False),
            Condition::Not(inner) => self.holds(inner).not(),
            Condition::Constant(value) => Truth::from(*value),
            Condition::Holds(name) => match self.named(*name) {
                Value::Boolean(value) => Truth::from(value),
                Value::Null => Truth::Unknown,
                _ => Truth::False,
            },
            Condition::Compare(left, how, right) => {
                compare(&self.value(left), *how, &self.value(right))
            }
            Condition::Between(parts) => {
                let [value, low, high] = parts.as_ref();
                let value = self.value(value);
                let above = compare(&value, Comparison::GreaterOrEqual, &self.value(low));
                match above {
                    Truth::False => Truth::False,
                    _ => and(
                        above,
                        compare(&value, Comparison::LessOrEqual, &self.value(high)),
                    ),
                }
            }
            Condition::Like(name, pattern) => self.of_text(*name, |text| pattern.matches(text)),
            Condition::In(name, texts) => {
                self.of_text(*name, |text| texts.iter().any(|one| **one == *text))
            }
            Condition::IsNull(name) => Truth::from(self.named(*name) == Value::Null),
        }
    }

    /// The end of a chain: as soon as one decides it, or else unknown if one was.
    fn until(&self, all: &'a [Condition], decides: Truth, otherwise: Truth) -> Truth {
        let mut result = otherwise;
        for condition in all {
            match self.holds(condition) {
                truth if truth == decides => return decides,
                Truth::Unknown => result = Truth::Unknown,
                _ => {}
            }
        }
        result
    }

    fn of_text(&self, name: usize, is: impl FnOnce(&str) -> bool) -> Truth {
        match self.named(name) {
            Value::Null => Truth::Unknown,
            value => value
                .text()
                .map_or(Truth::False, |text| Truth::from(is(text))),
        }
    }

    fn named(&self, name: usize) -> Value<'a> {
        self.source.value(&self.names[name])
    }

    fn value(&self, operand: &'a Operand) -> Value<'a> {
        match operand {
            Operand::Name(name) => self.named(*name),
            Operand::Boolean(value) => Value::Boolean(*value),
            Operand::Exact(value) => Value::Exact(*value),
            Operand::Approximate(value) => Value::Approximate(*value),
            Operand::Text(text) => Value::Text(Cow::Borrowed(text)),
            Operand::Bytes(bytes) => Value::Bytes(Cow::Borrowed(bytes)),
            Operand::Minus(inner) => match self.value(inner) {
                Value::Exact(value) | Value::Called(_, value) => value
                    .checked_neg()
                    .map_or(Value::Approximate(-(value as f64)), Value::Exact),
                Value::Approximate(value) => Value::Approximate(-value),
                Value::Null => Value::Null,
                _ => Value::Unfit,
            },
            Operand::Sum(first, rest) => self.chain(first, rest, add),
            Operand::Product(first, rest) => self.chain(first, rest, multiply),
        }
    }

    fn chain(
        &self,
        first: &'a Operand,
        rest: &'a [(bool, Operand)],
        join: fn(Value<'a>, bool, Value<'a>) -> Value<'a>,
    ) -> Value<'a> {
        let mut result = self.value(first);
        for (inverse, operand) in rest {
            result = join(result, *inverse, self.value(operand));
        }
        result
    }
}

fn and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Truth::False, _) | (_, Truth::False) => Truth::False,
        (Truth::True, Truth::True) => Truth::True,
        _ => Truth::Unknown,
    }
}

fn exact(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Exact(value) | Value::Called(_, value) => Some(*value),
        _ => None,
    }
}

/// Both as approximate numbers; otherwise what arithmetic with them gives.
fn approximate<'a>(left: &Value<'a>, right: &Value<'a>) -> Result<(f64, f64), Value<'a>> {
    let number = |value: &Value<'a>| match value {
        Value::Exact(value) | Value::Called(_, value) => Ok(*value as f64),
        Value::Approximate(value) => Ok(*value),
        Value::Null => Err(Value::Null),
        _ => Err(Value::Unfit),
    };
    match (number(left), number(right)) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(Value::Null), _) | (_, Err(Value::Null)) => Err(Value::Null),
        _ => Err(Value::Unfit),
    }
}

fn add<'a>(left: Value<'a>, subtract: bool, right: Value<'a>) -> Value<'a> {
    if let (Some(left), Some(right)) = (exact(&left), exact(&right)) {
        let exact = match subtract {
            false => left.checked_add(right),
            true => left.checked_sub(right),
        };
        if let Some(exact) = exact {
            return Value::Exact(exact);
        }
    }
    match approximate(&left, &right) {
        Ok((left, right)) if subtract => Value::Approximate(left - right),
        Ok((left, right)) => Value::Approximate(left + right),
        Err(value) => value,
    }
}

fn multiply<'a>(left: Value<'a>, divide: bool, right: Value<'a>) -> Value<'a> {
    if let (Some(left), Some(right)) = (exact(&left), exact(&right)) {
        if divide && right == 0 {
            return Value::Null;
        }
        let exact = match divide {
            false => left.checked_mul(right),
            true => left.checked_div(right),
        };
        if let Some(exact) = exact {
            return Value::Exact(exact);
        }
    }
    match approximate(&left, &right) {
        Ok((left, right)) if divide => Value::Approximate(left / right),
        Ok((left, right)) => Value::Approximate(left * right),
        Err(value) => value,
    }
}

fn compare(left: &Value<'_>, how: Comparison, right: &Value<'_>) -> Truth {
    let equal = match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return Truth::Unknown,
        (Value::Text(_) | Value::Called(..), Value::Text(_) | Value::Called(..)) => {
            left.text() == right.text()
        }
        (Value::Boolean(left), Value::Boolean(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Exact(left), Value::Exact(right)) => return ordered(Some(left.cmp(right)), how),
        _ => {
            return match approximate(left, right) {
                Ok((left, right)) => ordered(left.partial_cmp(&right), how),
                Err(_) => Truth::False,
            };
        }
    };
    match how {
        Comparison::Equal => Truth::from(equal),
        Comparison::Unequal => Truth::from(!equal),
        _ => Truth::False,
    }
}

fn ordered(order: Option<Ordering>, how: Comparison) -> Truth {
    let Some(order) = order else {
        // Not a number: unequal to everything.
        return Truth::from(how == Comparison::Unequal);
    };
    Truth::from(match how {
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}
