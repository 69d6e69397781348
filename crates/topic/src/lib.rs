//! Topics of publish/subscribe: topic strings, the filters of subscriptions, and which of them match.
//!
//! A topic string names levels of a tree, separated by `/`. A [`Filter`] is the topic string of a subscription, in
//! which wildcards may stand for others; [`Subscribers`] finds the filters that match a topic string; [`TopicTree`] has
//! what is defined for topics and finds the closest definition. Everything here is pure.
//!
//! | file | what is there |
//! | --- | --- |
//! | `string` | topic strings: their length, their levels, two of them joined; the limits |
//! | `filter` | filters in both wildcard schemes of MQ |
//! | `pattern` | the character scheme: `*`, `?`, `%` |
//! | `subscribers` | filters by what they match |
//! | `levels` | filters of the topic scheme by their levels |
//! | `prefixes` | filters of the character scheme by their text before the first wildcard |
//! | `tree` | what is defined for topics |
//! | `steps` | what matching costs, for the tests |
//!
//! Sources: IBM MQ's manual, "Topic-based wildcard scheme", "Character-based wildcard scheme", "Combining topic strings",
//! "System topics for monitoring and activity trace", MQRC_TOPIC_STRING_ERROR.
//!
//! Invariants:
//! * Empty levels are levels (`/a` has two), and case counts.
//! * No filter and no topic string makes matching exponential: it is at most their lengths multiplied; and where both are
//!   within the limits, at most [`MOST_BEHIND_MANY`] + 1 steps for each level, or one for each character.
//! * A filter that [`Subscribers`] finds is one that [`Filter::matches`], and each is found once.

#![forbid(unsafe_code)]

mod filter;
#[doc(hidden)]
pub mod fuzzing;
mod levels;
mod pattern;
mod prefixes;
mod steps;
mod string;
mod subscribers;
mod tree;

pub use filter::{Filter, Scheme, levels_match};
pub use string::{
    Error, LONGEST, MOST_BEHIND_MANY, MOST_BETWEEN_STARS, MOST_LEVELS, SYSTEM_BRANCH, check,
    is_at_or_below, join,
};
pub use subscribers::{Key, Subscribers};
pub use tree::TopicTree;
