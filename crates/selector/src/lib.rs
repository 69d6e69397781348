//! The language of message selectors: conditions of SQL-92 over the properties of a message, as JMS and MQ have them.
//!
//! A [`Selector`] is made of a text once and evaluated for each message against a [`Source`], which knows what the
//! names in it stand for. Everything here is pure.
//!
//! | file | what is there |
//! | --- | --- |
//! | `name` | what an identifier names: a field of the descriptor, a header of JMS, a property in a folder |
//! | `token` | the text in words, numbers, strings and signs |
//! | `parse` | words to a condition |
//! | `fault` | what is malformed, and where |
//! | `condition` | what is evaluated |
//! | `evaluate` | values, arithmetic and the logic of true, false and unknown |
//! | `pattern` | LIKE |
//! | `range` | between which numbers a value must lie |
//! | `need` | what a message must have to be matched, by which it can be looked up |
//!
//! Invariants:
//! * No text overflows the stack: parentheses nest at most [`DEEPEST`] levels, everything else that may be repeated
//!   is a list; a text has at most [`LONGEST`] bytes.
//! * A selector that was made does not fail: what a message has not got is NULL, and what cannot be compared is
//!   unequal.

mod condition;
mod evaluate;
mod fault;
#[doc(hidden)]
pub mod fuzzing;
mod name;
mod need;
mod parse;
mod pattern;
mod range;
mod token;

pub use evaluate::{Source, Value};
pub use fault::{Error, Fault};
pub use name::{Descriptor, Jms, Name, Provider};
pub use need::{Key, Need};
pub use range::Range;

use condition::{Comparison, Condition, Operand};
use evaluate::{Evaluation, Truth};

/// Longest text, in bytes (MQ_SELECTOR_LENGTH).
pub const LONGEST: usize = 10_240;
/// How deep parentheses may nest.
pub const DEEPEST: usize = 64;

/// A selector, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    text: Box<str>,
    names: Box<[Name]>,
    condition: Condition,
}

/// A text that a message must have under a name, for a selector to match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Required<'a> {
    /// What must have it.
    pub name: &'a Name,
    /// The text.
    pub text: &'a str,
}

impl Selector {
    /// Compiles a text.
    ///
    /// # Errors
    /// It is malformed, too long or nested too deep, or a name in it can be none of a property.
    pub fn new(text: &str) -> Result<Selector, Error> {
        let (names, condition) = parse::parse(text)?;
        let text = text.into();
        Ok(Selector {
            text,
            names,
            condition,
        })
    }

    /// The text that it was made of.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a message is selected: the condition is true of it, neither false nor unknown.
    pub fn matches(&self, message: &impl Source) -> bool {
        self.evaluation(message).holds(&self.condition) == Truth::True
    }

    fn evaluation<'a, S: Source>(&'a self, source: &'a S) -> Evaluation<'a, S> {
        Evaluation {
            names: &self.names,
            source,
        }
    }

    /// What it comes to for every message, if it names nothing of them.
    pub fn constant(&self) -> Option<bool> {
        struct Nothing;
        impl Source for Nothing {
            fn value(&self, _: &Name) -> Value<'_> {
                Value::Null
            }
        }
        self.names.is_empty().then(|| self.matches(&Nothing))
    }

    /// What it names, each once.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Texts that a message must have if the selector is to match: `name = 'text'`, alone or joined by AND.
    pub fn required(&self) -> impl Iterator<Item = Required<'_>> {
        let all = self.conjuncts().iter();
        all.filter_map(|condition| self.equality(condition))
    }

    /// The ways in which messages can be looked up that the selector matches: of each, such a message has one at least.
    pub fn ways(&self) -> impl Iterator<Item = Vec<(&Name, Need)>> {
        let named = |(at, need)| Some((self.names.get(at)?, need));
        let ways = need::ways(&self.condition).into_iter();
        ways.map(move |way| way.into_iter().filter_map(named).collect())
    }

    fn conjuncts(&self) -> &[Condition] {
        match &self.condition {
            Condition::All(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        }
    }

    /// The one equality with a text that it consists of, if it is nothing else.
    pub fn only_required(&self) -> Option<Required<'_>> {
        self.equality(&self.condition)
    }

    fn equality<'a>(&'a self, condition: &'a Condition) -> Option<Required<'a>> {
        let Condition::Compare(left, Comparison::Equal, right) = condition else {
            return None;
        };
        match (left, right) {
            (Operand::Name(at), Operand::Text(text)) | (Operand::Text(text), Operand::Name(at)) => {
                let name = self.names.get(*at)?;
                Some(Required { name, text })
            }
            _ => None,
        }
    }
}

impl std::str::FromStr for Selector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Selector::new(text)
    }
}
