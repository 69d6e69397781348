//! Filters: the topic strings of subscriptions, in the two wildcard schemes of MQ.
//!
//! Invariants:
//! * Matching takes at most the length of the filter multiplied by that of the topic string, whatever wildcards are in the
//!   filter: of several `#` or `*`, only the last one is ever tried again.
//! * What is within the limits costs far less than that product. Filters beyond them are there only if an older release
//!   stored them: they match all the same.

use crate::pattern::Pattern;
use crate::string::{
    Error, MOST_BEHIND_MANY, MOST_BETWEEN_STARS, SYSTEM_BRANCH, check_length, check_levels,
    is_at_or_below,
};

/// What wildcards a filter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// MQSO_WILDCARD_TOPIC: a level that is `+` stands for one level, a level that is `#` for any number of levels, none
    /// too. In a level with other characters, themselves too (`##`), they are ordinary.
    Topic,
    /// MQSO_WILDCARD_CHAR: `*` stands for any number of characters, `?` for one, `/` too; `%` before one of the three
    /// makes it ordinary.
    Character,
}

/// The topic string of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    text: Box<str>,
    scheme: Scheme,
    kind: Kind,
}

/// What a filter is, for matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One topic string: the filter without wildcards, escapes taken away.
    Exact(Box<str>),
    /// Levels with wildcards among them: the filter's text.
    Levels,
    /// Characters with wildcards among them.
    Characters(Pattern),
}

impl Filter {
    /// The filter of a subscription's full topic string. Whoever makes a new subscription asks [`Self::check_limits`] too.
    ///
    /// # Errors
    ///
    /// If the string is empty or too long, or has a `%` in the character scheme that escapes nothing
    /// (MQRC_TOPIC_STRING_ERROR).
    pub fn new(text: &str, scheme: Scheme) -> Result<Self, Error> {
        check_length(text)?;
        let kind = match scheme {
            Scheme::Topic if text.split('/').any(is_wildcard) => Kind::Levels,
            Scheme::Topic => Kind::Exact(text.into()),
            Scheme::Character => {
                let pattern = Pattern::new(text)?;
                match pattern.exact() {
                    Some(exact) => Kind::Exact(exact.into()),
                    None => Kind::Characters(pattern),
                }
            }
        };
        Ok(Self {
            text: text.into(),
            scheme,
            kind,
        })
    }

    /// Whether a new subscription may have it: what it costs to compare a topic string with it is bounded.
    ///
    /// # Errors
    ///
    /// If it has too many levels, too many of them behind its first `#`, or between two `*` too many characters with `?`
    /// among them (MQRC_TOPIC_STRING_ERROR).
    pub fn check_limits(&self) -> Result<(), Error> {
        check_levels(&self.text)?;
        match &self.kind {
            Kind::Exact(_) => Ok(()),
            Kind::Levels => {
                let behind = self.text.split('/').skip_while(|level| *level != "#");
                match behind.skip(1).count() {
                    levels if levels > MOST_BEHIND_MANY => Err(Error::BehindMany(levels)),
                    _ => Ok(()),
                }
            }
            Kind::Characters(pattern) => match pattern.longest_between_stars() {
                characters if characters > MOST_BETWEEN_STARS => {
                    Err(Error::BetweenStars(characters))
                }
                _ => Ok(()),
            },
        }
    }

    /// The text that it was made of.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The scheme that its wildcards are of.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The one topic string that it matches, if there is no wildcard in it.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        match &self.kind {
            Kind::Exact(topic) => Some(topic),
            Kind::Levels | Kind::Characters(_) => None,
        }
    }

    /// What every topic string that it matches begins with; not always whole levels.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match &self.kind {
            Kind::Exact(topic) => topic,
            Kind::Levels => self.levels_before_wildcard(),
            Kind::Characters(pattern) => pattern.prefix(),
        }
    }

    /// The topic at or below which everything is that it matches: whole levels, so that `A*` in the character scheme, which
    /// matches `ABC` too, is not below `A` but below the root.
    #[must_use]
    pub fn branch(&self) -> &str {
        match &self.kind {
            Kind::Exact(topic) => topic,
            Kind::Levels => self.levels_before_wildcard(),
            Kind::Characters(pattern) => {
                let prefix = pattern.prefix();
                prefix.rfind('/').map_or("", |at| &prefix[..at])
            }
        }
    }

    /// Whether a publication on this topic string is for the subscription. A wildcard above [`SYSTEM_BRANCH`] does not
    /// match what is in it.
    #[must_use]
    pub fn matches(&self, topic: &str) -> bool {
        let matches = match &self.kind {
            Kind::Exact(exact) => return **exact == *topic,
            Kind::Levels => levels_match(&self.text, topic),
            Kind::Characters(pattern) => pattern.matches(topic),
        };
        matches && !(is_at_or_below(topic, SYSTEM_BRANCH) && self.is_blocked_by(SYSTEM_BRANCH))
    }

    /// Whether it has a wildcard that is not below a node of the tree: if WILDCARD(BLOCK) is said of the node, the
    /// subscription gets nothing that is published on the node and below it.
    #[must_use]
    pub fn is_blocked_by(&self, node: &str) -> bool {
        let below = |prefix: &str| {
            node.is_empty()
                || prefix
                    .strip_prefix(node)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        match &self.kind {
            Kind::Exact(_) => false,
            // The level of the wildcard is below the node, if those before it reach it.
            Kind::Levels => !is_at_or_below(self.levels_before_wildcard(), node),
            Kind::Characters(pattern) => !below(pattern.prefix()),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The levels before the first that is a wildcard, without the `/` behind them.
    fn levels_before_wildcard(&self) -> &str {
        let mut end = 0;
        for level in self.text.split('/') {
            if is_wildcard(level) {
                break;
            }
            end += level.len() + 1;
        }
        &self.text[..end.saturating_sub(1)]
    }
}

/// Whether a level of a filter stands for others.
fn is_wildcard(level: &str) -> bool {
    matches!(level, "+" | "#")
}

/// Whether levels with wildcards among them ([`Scheme::Topic`]) match a topic string, whatever branch that is in.
#[must_use]
pub fn levels_match(filter: &str, topic: &str) -> bool {
    let (mut filter, mut topic) = (filter.split('/'), topic.split('/'));
    // Behind the last `#`, and the levels that it has not taken yet.
    let mut again = None;
    loop {
        let untaken = topic.clone();
        match (filter.next(), topic.next()) {
            (Some("#"), _) => {
                topic = untaken.clone();
                again = Some((filter.clone(), untaken));
            }
            (Some(level), Some(other)) if level == "+" || level == other => {}
            (None, None) => return true,
            _ => {
                let Some((behind, untaken)) = &mut again else {
                    return false;
                };
                if untaken.next().is_none() {
                    return false;
                }
                filter = behind.clone();
                topic = untaken.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str, scheme: Scheme) -> Filter {
        Filter::new(text, scheme).expect("a filter")
    }

    fn check_all(scheme: Scheme, rows: &[(&str, &[&str], &[&str])]) {
        for (text, matched, unmatched) in rows {
            let filter = filter(text, scheme);
            for topic in *matched {
                assert!(filter.matches(topic), "{text} matches {topic:?}");
                assert!(topic.starts_with(filter.prefix()), "{text}: prefix");
            }
            for topic in *unmatched {
                assert!(!filter.matches(topic), "{text} does not match {topic:?}");
            }
        }
    }

    /// Rows with the manual's examples among them.
    #[test]
    fn the_topic_scheme_matches_whole_levels() {
        check_all(
            Scheme::Topic,
            &[
                (
                    "USA/Alaska/#",
                    &["USA/Alaska", "USA/Alaska/Juneau", "USA/Alaska/"],
                    &["USA", "USA/Alaskan", "usa/Alaska"],
                ),
                ("#", &["a", "a/b", "/", "#", "$SYS", "$SYSTEM/MQ"], &[]),
                ("#/Results", &["Results", "IBM/Results", "/Results"], &["x"]),
                (
                    "IBM/#/Results",
                    &["IBM/Results", "IBM/a/b/Results", "IBM/Results/Results"],
                    &["IBM", "IBM/Results/a", "Results"],
                ),
                (
                    "IBM/+/Results",
                    &["IBM/Software/Results", "IBM//Results"],
                    &["IBM/Results", "IBM/a/b/Results"],
                ),
                ("USA/+", &["USA/Alaska", "USA/"], &["USA", "USA/a/b"]),
                ("+", &["a", "+"], &["a/b", "/a"]),
                ("/+", &["/a", "/"], &["a", "a/b", "//"]),
                ("+/#", &["a", "a/b", "/a/b"], &[]),
                ("#/+/a/#", &["x/a", "a/a", "x/y/a/z"], &["a", "a/x"]),
                // Beside other characters, themselves too, they are ordinary.
                ("USA#", &["USA#"], &["USA", "USA/a"]),
                ("a/##/+b", &["a/##/+b"], &["a/x/xb", "a/x/y/+b"]),
                ("a*?%", &["a*?%"], &["ab", "abc"]),
                ("a/", &["a/"], &["a", "a//"]),
            ],
        );
    }

    #[test]
    fn the_character_scheme_matches_characters() {
        check_all(
            Scheme::Character,
            &[
                (
                    "IBM/*ware/Results",
                    &[
                        "IBM/Software/Results",
                        "IBM/ware/Results",
                        "IBM/a/ware/Results",
                    ],
                    &["IBM/Soft/Results"],
                ),
                ("*", &["a", "a/b", "/"], &[]),
                ("Sport/*", &["Sport/", "Sport/a/b"], &["Sport", "Spor"]),
                ("ABC?D", &["ABC*D", "ABCxD", "ABC/D", "ABCäD"], &["ABCD"]),
                ("ABC%*D", &["ABC*D"], &["ABC%*D", "ABCxD"]),
                ("100%%?", &["100%x"], &["100%", "100%%x"]),
                ("a**b", &["ab", "axb"], &["a"]),
                ("*?*", &["a", "ab"], &[]),
                ("*a?*?a", &["axya", "xaaaa"], &["aa", "axa"]),
                ("+/#", &["+/#"], &["a/b"]),
            ],
        );
    }

    #[test]
    fn wildcards_do_not_reach_the_system_branch_from_above() {
        check_all(
            Scheme::Topic,
            &[
                ("#", &["$SYS", "$SYS/MQX"], &["$SYS/MQ", "$SYS/MQ/INFO"]),
                ("$SYS/+/INFO", &["$SYS/x/INFO"], &["$SYS/MQ/INFO"]),
                ("$SYS/MQ/#", &["$SYS/MQ", "$SYS/MQ/INFO/Q"], &["$SYS"]),
                ("$SYS/MQ/+", &["$SYS/MQ/INFO"], &["$SYS/MQ"]),
                ("$SYS/MQ", &["$SYS/MQ"], &[]),
            ],
        );
        check_all(
            Scheme::Character,
            &[
                ("*", &["$SYS"], &["$SYS/MQ", "$SYS/MQ/INFO"]),
                ("$SYS/MQ*", &["$SYS/MQX"], &["$SYS/MQ", "$SYS/MQ/INFO"]),
                ("$SYS/MQ/*", &["$SYS/MQ/INFO"], &["$SYS/MQ"]),
            ],
        );
    }

    #[test]
    fn a_block_is_for_wildcards_that_are_not_below_it() {
        for (text, scheme, node, blocked) in [
            ("USA/#", Scheme::Topic, "USA/Alaska", true),
            ("USA/Alaska/#", Scheme::Topic, "USA/Alaska", false),
            ("USA/+/Juneau", Scheme::Topic, "USA/Alaska", true),
            ("USA/Alaska", Scheme::Topic, "USA/Alaska", false),
            ("#", Scheme::Topic, "", false),
            ("#", Scheme::Topic, "USA", true),
            ("USA/Alaska*", Scheme::Character, "USA/Alaska", true),
            ("USA/Alaska/*", Scheme::Character, "USA/Alaska", false),
        ] {
            let filter = filter(text, scheme);
            assert_eq!(filter.is_blocked_by(node), blocked, "{text} by {node}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for (text, error) in [
            ("", Error::Empty),
            ("a%b", Error::Escape(1)),
            ("ab%", Error::Escape(2)),
            ("%%%", Error::Escape(2)),
        ] {
            assert_eq!(Filter::new(text, Scheme::Character), Err(error), "{text}");
        }
        assert!(Filter::new("a%b", Scheme::Topic).is_ok());
        let long = "x".repeat(crate::LONGEST + 1);
        let refused = Filter::new(&long, Scheme::Topic);
        assert_eq!(refused, Err(Error::TooLong(long.len())));
    }

    #[test]
    fn a_new_subscription_has_a_filter_that_costs_little() {
        let most = "a/".repeat(crate::MOST_LEVELS - 1);
        let behind = "/a".repeat(MOST_BEHIND_MANY);
        let stretch = "a?".repeat(MOST_BETWEEN_STARS / 2);
        for (text, scheme) in [
            (format!("{most}a"), Scheme::Topic),
            (format!("{most}#"), Scheme::Topic),
            (format!("{}#{behind}", "+/".repeat(200)), Scheme::Topic),
            (format!("#{}", "/#".repeat(MOST_BEHIND_MANY)), Scheme::Topic),
            (format!("*{stretch}*"), Scheme::Character),
            // Where it is to be found is not open.
            (format!("{stretch}a?*a?{stretch}"), Scheme::Character),
            (format!("*{}*", "a".repeat(5_000)), Scheme::Character),
        ] {
            assert_eq!(filter(&text, scheme).check_limits(), Ok(()), "{text}");
        }
        let deep = crate::MOST_LEVELS + 1;
        for (text, scheme, error) in [
            (format!("{most}a/a"), Scheme::Topic, Error::TooDeep(deep)),
            (format!("{most}a/+"), Scheme::Topic, Error::TooDeep(deep)),
            (
                format!("{most}a/?"),
                Scheme::Character,
                Error::TooDeep(deep),
            ),
            (
                format!("a/#{behind}/#"),
                Scheme::Topic,
                Error::BehindMany(MOST_BEHIND_MANY + 1),
            ),
            (
                format!("a*b*{stretch}a*"),
                Scheme::Character,
                Error::BetweenStars(MOST_BETWEEN_STARS + 1),
            ),
        ] {
            assert_eq!(filter(&text, scheme).check_limits(), Err(error), "{text}");
        }
    }

    /// What was stored before there were limits.
    #[test]
    fn filters_beyond_the_limits_match_all_the_same() {
        let stretch = "a?".repeat(MOST_BETWEEN_STARS);
        let wild = filter(&format!("*{stretch}b*"), Scheme::Character);
        assert!(wild.check_limits().is_err());
        assert!(wild.matches(&format!("{}bx", "aa".repeat(MOST_BETWEEN_STARS + 3))));
        assert!(!wild.matches(&format!("{}bx", "aa".repeat(MOST_BETWEEN_STARS - 1))));
    }

    /// One step for each character and wildcard, and not one for each pair of them.
    #[test]
    fn a_filter_of_characters_costs_the_length_of_the_topic_string() {
        let topic = "a".repeat(crate::LONGEST);
        let stretch = "a?".repeat(MOST_BETWEEN_STARS / 2 - 1);
        for text in [
            format!("*{stretch}b?*"),
            format!("*?{stretch}b*"),
            format!("*{}*{stretch}b?*", "?a*".repeat(1_000)),
        ] {
            let wild = filter(&text, Scheme::Character);
            assert_eq!(wild.check_limits(), Ok(()));
            crate::steps::taken();
            assert!(!wild.matches(&topic));
            let steps = crate::steps::taken();
            assert!(steps <= topic.len() + 2 * text.len(), "{text}: {steps}");
        }
    }

    /// Exponential matching would take longer than the universe has.
    #[test]
    fn many_wildcards_are_matched_in_bounded_time() {
        let levels = "a/".repeat(5_000);
        let topic = &levels[..levels.len() - 1];
        let wild = filter(&format!("{}b", "#/a/".repeat(2_000)), Scheme::Topic);
        assert!(!wild.matches(topic));
        let wild = filter(&format!("{}#", "#/a/".repeat(2_000)), Scheme::Topic);
        assert!(wild.matches(topic));
        let topic = "a".repeat(10_000);
        let wild = filter(&format!("{}b", "*a?".repeat(3_000)), Scheme::Character);
        assert!(!wild.matches(&topic));
        let wild = filter(&format!("{}*", "*a?".repeat(3_000)), Scheme::Character);
        assert!(wild.matches(&topic));
    }
}
