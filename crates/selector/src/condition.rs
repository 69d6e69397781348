//! A condition, as it is evaluated.
//!
//! Invariant: it nests no deeper than the parentheses of its text, a few levels for each.

use crate::pattern::Pattern;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(crate) fn is_of_order(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::Unequal)
    }
}

/// What is compared. Names are numbers of the selector's list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Name(usize),
    Boolean(bool),
    Exact(i64),
    Approximate(f64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    Minus(Box<Operand>),
    /// What follows the first is added or, where true, subtracted.
    Sum(Box<Operand>, Vec<(bool, Operand)>),
    /// What follows the first multiplies or, where true, divides.
    Product(Box<Operand>, Vec<(bool, Operand)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Constant(bool),
    /// A property that is true or false by itself.
    Holds(usize),
    Compare(Operand, Comparison, Operand),
    Between(Box<[Operand; 3]>),
    Like(usize, Pattern),
    In(usize, Box<[Box<str>]>),
    IsNull(usize),
}
