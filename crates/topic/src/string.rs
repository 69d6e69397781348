//! Topic strings: how long they may be, where they stand in the tree, and two of them joined.

/// Longest topic string, in bytes (MQ_TOPIC_STR_LENGTH).
pub const LONGEST: usize = 10_240;

/// Most levels of a topic string, wildcards among them. A publication is compared level by level with every subscription
/// that may want it, so that levels are what a search costs. IBM MQ names no such limit.
pub const MOST_LEVELS: usize = 256;

/// Most levels of a filter behind its first `#`. Where that ends is open, so that each of these levels may be compared with
/// every level of a topic string. IBM MQ names no such limit.
pub const MOST_BEHIND_MANY: usize = 16;

/// Most characters between two `*` of a filter if `?` is among them: these are looked for everywhere in a topic string, as
/// bits of one word. IBM MQ names no such limit.
pub const MOST_BETWEEN_STARS: usize = 64;

/// The branch of the tree for what the queue manager publishes itself: no wildcard above it reaches into it.
pub const SYSTEM_BRANCH: &str = "$SYS/MQ";

/// A text that is no topic string, or no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing at all.
    #[error("the topic string is empty")]
    Empty,
    /// Longer than [`LONGEST`].
    #[error("the topic string has {0} bytes, and {LONGEST} are allowed")]
    TooLong(usize),
    /// In the character scheme, a `%` that escapes none of `*`, `?` and `%`; where, in bytes.
    #[error("`%` at byte {0} is not followed by `*`, `?` or `%`")]
    Escape(usize),
    /// More than [`MOST_LEVELS`].
    #[error("the topic string has {0} levels, and {MOST_LEVELS} are allowed")]
    TooDeep(usize),
    /// More than [`MOST_BEHIND_MANY`].
    #[error("behind the first `#` are {0} levels, and {MOST_BEHIND_MANY} are allowed")]
    BehindMany(usize),
    /// More than [`MOST_BETWEEN_STARS`].
    #[error(
        "between two `*` are {0} characters, `?` among them, and {MOST_BETWEEN_STARS} are allowed"
    )]
    BetweenStars(usize),
}

/// Whether this is the topic string of a publication. Every character may be in it, wildcards too: they stand for
/// themselves.
///
/// # Errors
///
/// If it is empty, too long, or has too many levels.
pub fn check(topic: &str) -> Result<(), Error> {
    check_length(topic)?;
    check_levels(topic)
}

/// Whether a text has a length that topic strings and filters have.
pub(crate) fn check_length(text: &str) -> Result<(), Error> {
    match text.len() {
        0 => Err(Error::Empty),
        length if length > LONGEST => Err(Error::TooLong(length)),
        _ => Ok(()),
    }
}

/// Whether a text has no more than [`MOST_LEVELS`].
pub(crate) fn check_levels(text: &str) -> Result<(), Error> {
    match text.split('/').count() {
        levels if levels > MOST_LEVELS => Err(Error::TooDeep(levels)),
        _ => Ok(()),
    }
}

/// The full topic string of a topic object's TOPICSTR and of what an application adds to it: with a `/` between them,
/// whatever they begin and end with; where one of them is empty, the other as it is.
#[must_use]
pub fn join(of_object: &str, added: &str) -> String {
    match (of_object, added) {
        ("", only) | (only, "") => only.to_owned(),
        (of_object, added) => format!("{of_object}/{added}"),
    }
}

/// Whether a topic is a node of the tree or stands below it; everything is below the root, the empty string.
#[must_use]
pub fn is_at_or_below(topic: &str, node: &str) -> bool {
    node.is_empty()
        || topic
            .strip_prefix(node)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_string_is_neither_empty_nor_too_long_nor_too_deep() {
        assert_eq!(check(""), Err(Error::Empty));
        for good in ["/", "a", "a//b/", "a/#", "+", "%", "\0"] {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
        assert_eq!(check(&"x".repeat(LONGEST)), Ok(()));
        let long = check(&"x".repeat(LONGEST + 1));
        assert_eq!(long, Err(Error::TooLong(LONGEST + 1)));
        assert_eq!(check(&"/".repeat(MOST_LEVELS - 1)), Ok(()));
        let deep = check(&"/".repeat(MOST_LEVELS));
        assert_eq!(deep, Err(Error::TooDeep(MOST_LEVELS + 1)));
    }

    /// The manual's table "Topic string concatenation examples".
    #[test]
    fn two_strings_are_joined_as_the_manual_says() {
        for (of_object, added, full) in [
            ("Football/Scores", "", "Football/Scores"),
            ("", "Football/Scores", "Football/Scores"),
            ("Football", "Scores", "Football/Scores"),
            ("Football", "/Scores", "Football//Scores"),
            ("/Football", "Scores", "/Football/Scores"),
        ] {
            assert_eq!(join(of_object, added), full);
        }
    }

    #[test]
    fn below_is_by_whole_levels() {
        for (topic, node, below) in [
            ("a/b", "a", true),
            ("a", "a", true),
            ("ab", "a", false),
            ("a", "a/b", false),
            ("a/", "a", true),
            ("a", "", true),
            ("/a", "", true),
        ] {
            assert_eq!(is_at_or_below(topic, node), below, "{topic} below {node}");
        }
    }
}
