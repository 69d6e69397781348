//! Generic names: of channels in the profiles of records, and of queue managers.
//!
//! Rules, from the public manual: an asterisk stands for any characters, none included, and there may be several, anywhere.
//! Of two patterns that match, the more specific is: one without an asterisk; then, from left to right, the one that has a
//! character where the other has an asterisk; then the one that goes on behind an asterisk where the other ends.
//!
//! Invariant: the order is total, and matching takes at most the product of both lengths.

use std::cmp::Ordering;
use std::fmt;

/// A generic name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern; several asterisks in a row are one.
    pub fn new(text: &str) -> Pattern {
        let mut kept = String::new();
        for c in text.trim_end_matches(' ').chars() {
            if c != '*' || !kept.ends_with('*') {
                kept.push(c);
            }
        }
        Pattern(kept)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it may stand for several names.
    pub fn is_generic(&self) -> bool {
        self.0.contains('*')
    }

    /// Whether a name is one that it stands for.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where the last asterisk is, and what of the name it stands for so far.
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match (pattern.get(p), name.get(n)) {
                (Some(b'*'), _) => {
                    retry = Some((p, n));
                    p += 1;
                }
                (Some(wanted), Some(is)) if wanted == is => {
                    p += 1;
                    n += 1;
                }
                _ => {
                    let Some((asterisk, taken)) = retry else {
                        return false;
                    };
                    retry = Some((asterisk, taken + 1));
                    p = asterisk + 1;
                    n = taken + 1;
                }
            }
        }
        pattern.iter().skip(p).all(|byte| *byte == b'*')
    }

    /// Whether there is a name that both stand for.
    pub fn meets(&self, other: &Pattern) -> bool {
        let others = other.0.bytes().rev();
        // From the ends: for each rest of the other, the empty one first, whether it has a name in common with the rest of this
        // one that was looked at last.
        let mut common = vec![true];
        for byte in others.clone() {
            common.push(byte == b'*' && common.last() == Some(&true));
        }
        for byte in self.0.bytes().rev() {
            let mut longer = vec![byte == b'*' && common.first() == Some(&true)];
            let pairs = common.iter().zip(common.iter().skip(1));
            for (other, (without_both, without_this)) in others.clone().zip(pairs) {
                let without_other = longer.last() == Some(&true);
                longer.push(match (byte, other) {
                    (b'*', _) | (_, b'*') => without_other || *without_this,
                    (byte, other) => byte == other && *without_both,
                });
            }
            common = longer;
        }
        common.last() == Some(&true)
    }

    /// Which of two is more specific: that one is greater.
    pub fn specificity(&self, other: &Pattern) -> Ordering {
        let places = |pattern: &Pattern| {
            let places = pattern.0.bytes().map(|byte| match byte {
                b'*' => Place::Asterisk,
                byte => Place::Character(byte),
            });
            places.chain([Place::End]).collect::<Vec<Place>>()
        };
        let exact = |pattern: &Pattern| !pattern.is_generic();
        let first = exact(self).cmp(&exact(other));
        first.then_with(|| places(self).cmp(&places(other)))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a pattern has at a place, the least specific first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Asterisk,
    End,
    Character(u8),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn asterisks_stand_for_any_characters() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "A.B", true),
            ("A.*", "A.", true),
            ("A.*", "A", false),
            ("*.B.C", "A.B.C", true),
            ("*.B.C", "A.B.B.C", true),
            ("A.*.C", "A.B.C.C", true),
            ("A.*.C", "A.B.D", false),
            ("A*B*C", "AXBYC", true),
            ("A*B*C", "AXCYB", false),
            ("A**C", "ABC", true),
            ("ABC", "ABC", true),
            ("ABC", "ABCD", false),
            ("ABCD", "ABC", false),
            ("abc", "ABC", false),
            ("A.B  ", "A.B", true),
            ("", "", true),
            ("", "A", false),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(name),
                expected,
                "{pattern} {name}"
            );
        }
    }

    fn texts(letters: &str, longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..longest {
            let until = all.len();
            for at in from..until {
                let longer = letters.chars().map(|letter| format!("{}{letter}", all[at]));
                all.extend(longer.collect::<Vec<_>>());
            }
            from = until;
        }
        all
    }

    #[test]
    fn patterns_meet_where_a_name_matches_both() {
        let names = texts("AB", 6);
        let patterns: Vec<Pattern> = texts("AB*", 3)
            .iter()
            .map(|text| Pattern::new(text))
            .collect();
        for one in &patterns {
            for other in &patterns {
                let both = |name: &String| one.matches(name) && other.matches(name);
                assert_eq!(one.meets(other), names.iter().any(both), "{one} {other}");
            }
        }
        // Much to try, and still at most the product of both lengths.
        let (one, other) = ("*A".repeat(500), "*B".repeat(500));
        assert!(!Pattern::new(&one).meets(&Pattern::new(&other)));
    }

    /// The examples of the manual, each more generic than the next.
    #[test]
    fn the_more_specific_is_the_greater() {
        for (generic, specific) in [
            ("*", "A.B.C"),
            ("*", "*.B.C"),
            ("*.B.C", "A.*"),
            ("A.*.C", "A.B.*"),
            ("A.*", "A.*.C"),
            ("*QUEUEMANAGER", "QUEUEMANAGER*"),
            ("Q*MANAGER", "QUEUE*"),
            ("Q*", "Q*MGR"),
            ("SYSTEM.*", "SYSTEM.ADMIN.SVRCONN"),
            ("A.*.C*", "A.*.C"),
        ] {
            let (generic, specific) = (Pattern::new(generic), Pattern::new(specific));
            let order = specific.specificity(&generic);
            assert_eq!(order, Ordering::Greater, "{specific} and {generic}");
            assert_eq!(generic.specificity(&specific), Ordering::Less);
        }
    }

    fn plainly(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|skip| plainly(rest, &name[skip..])),
            Some((c, rest)) => name
                .split_first()
                .is_some_and(|(n, others)| c == n && plainly(rest, others)),
        }
    }

    proptest! {
        #[test]
        fn matching_is_as_the_plainest_way(pattern in "[AB*]{0,7}", name in "[AB]{0,9}") {
            let expected = plainly(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), expected);
        }

        #[test]
        fn the_order_is_total(a in "[AB*]{0,5}", b in "[AB*]{0,5}", c in "[AB*]{0,5}") {
            let (a, b, c) = (Pattern::new(&a), Pattern::new(&b), Pattern::new(&c));
            prop_assert_eq!(a.specificity(&b), b.specificity(&a).reverse());
            prop_assert_eq!(a.specificity(&b) == Ordering::Equal, a == b);
            if a.specificity(&b).is_le() && b.specificity(&c).is_le() {
                prop_assert!(a.specificity(&c).is_le());
            }
        }

        /// What stands for fewer names by putting a character in the place of an asterisk is more specific.
        #[test]
        fn a_character_for_an_asterisk_is_more_specific(
            before in "[AB]{0,3}", after in "[AB*]{0,3}", by in "[AB]{1,2}",
        ) {
            let generic = Pattern::new(&format!("{before}*{after}"));
            let specific = Pattern::new(&format!("{before}{by}*{after}"));
            prop_assert_eq!(specific.specificity(&generic), Ordering::Greater);
        }
    }
}
