//! Generic names of objects: what they match, and which of two is more specific.
//!
//! A name's parts between full stops are its qualifiers. `?` is any one character; `*` is any characters of one qualifier,
//! or none; `**`, once in a profile and a whole qualifier, is any number of qualifiers, or none.
//!
//! Invariant: matching holds the places of the name that have been reached as bits of one number, so it takes time in
//! proportion to the profile's length times the name's, whatever they are.
//!
//! Source: "Using OAM generic profiles", "Profile priorities".

use std::cmp::Ordering;
use std::fmt;

/// The longest profile, in bytes (`MQ_AUTH_PROFILE_NAME_LENGTH`).
pub const LONGEST_PROFILE: usize = 48;
/// The profile for creating objects of a type.
pub const CLASS: &str = "@class";
/// The profile of the queue manager itself, whatever it is called.
pub const MANAGER: &str = "self";

/// The places of a name of so many bytes fit into the bits of one number.
type Places = u64;

/// Why a text is no profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It has more than 48 characters.
    #[error("it is longer than 48 characters")]
    TooLong,
    /// It has a character that no name of an object has, and that stands for no other.
    #[error("it has a character that no name can have")]
    BadCharacter,
    /// `**` is only part of a qualifier.
    #[error("** must be a whole qualifier")]
    PartOfQualifier,
    /// There are several `**`.
    #[error("** may stand in it only once")]
    Several,
}

/// A step of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// This byte.
    Byte(u8),
    /// `?`.
    One,
    /// `*`.
    Some,
    /// `**` alone.
    Everything,
    /// `**.` at the beginning: qualifiers, each with the full stop behind it.
    Leading,
    /// `.**`: qualifiers, each with the full stop before it.
    Following,
}

impl Step {
    /// How generic it is.
    fn breadth(self) -> u8 {
        match self {
            Step::Byte(_) => 0,
            Step::One => 1,
            Step::Some => 2,
            Step::Everything | Step::Leading | Step::Following => 3,
        }
    }
}

/// The name of objects, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    text: Box<str>,
    steps: Box<[Step]>,
}

impl Profile {
    /// Reads a profile; blanks at its end have no meaning.
    ///
    /// # Errors
    /// Why it is none.
    pub fn new(text: &str) -> Result<Profile, ProfileError> {
        let text = text.trim_end_matches(' ');
        if text.is_empty() {
            return Err(ProfileError::Empty);
        }
        if text.len() > LONGEST_PROFILE {
            return Err(ProfileError::TooLong);
        }
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"./_%?*".contains(&byte);
        if text != CLASS && !text.bytes().all(known) {
            return Err(ProfileError::BadCharacter);
        }
        Ok(Profile {
            text: text.into(),
            steps: steps(text)?.into(),
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it stands for several names.
    pub fn is_generic(&self) -> bool {
        self.steps.iter().any(|step| step.breadth() > 0)
    }

    /// Whether it stands for a name, which has at most 63 bytes.
    pub fn matches(&self, name: &str) -> bool {
        let name = name.as_bytes();
        if name.len() >= Places::BITS as usize {
            return false;
        }
        let dots = places(name, |byte| byte == b'.');
        let end: Places = 1 << name.len();
        let mut reached: Places = 1;
        for step in &self.steps {
            reached = match step {
                Step::Byte(wanted) => (reached & places(name, |byte| byte == *wanted)) << 1,
                Step::One => (reached & (end - 1)) << 1,
                Step::Some => within_qualifiers(reached, name),
                Step::Everything => end,
                Step::Leading => 1 | dots << 1,
                // Whatever stands behind the first full stop that has been reached.
                Step::Following => match (reached & dots).trailing_zeros() {
                    Places::BITS => reached,
                    first => reached | (dots | end) & !((1 << first) | ((1 << first) - 1)),
                },
            };
            if reached == 0 {
                return false;
            }
        }
        reached & end != 0
    }

    /// `Less` if it is the more specific of two: the one that is less generic where they differ first.
    pub fn specificity(&self, other: &Profile) -> Ordering {
        let [own, others] = [self, other].map(|one| {
            let breadths = one.steps.iter().map(|step| step.breadth());
            breadths.chain(std::iter::once(0))
        });
        own.cmp(others).then_with(|| self.text.cmp(&other.text))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The places of the bytes that are wanted.
fn places(name: &[u8], wanted: impl Fn(u8) -> bool) -> Places {
    let bit = |(at, byte): (usize, &u8)| Places::from(wanted(*byte)) << at;
    name.iter().enumerate().map(bit).sum()
}

/// From places to those that characters of the same qualifier lead to.
fn within_qualifiers(mut reached: Places, name: &[u8]) -> Places {
    for (at, byte) in name.iter().enumerate() {
        if *byte != b'.' {
            reached |= (reached >> at & 1) << (at + 1);
        }
    }
    reached
}

fn steps(text: &str) -> Result<Vec<Step>, ProfileError> {
    let mut steps = Vec::new();
    let mut several = false;
    for (number, qualifier) in text.split('.').enumerate() {
        let last = number == text.matches('.').count();
        if qualifier == "**" {
            if several {
                return Err(ProfileError::Several);
            }
            several = true;
            steps.push(match (number, last) {
                (0, true) => Step::Everything,
                (0, false) => Step::Leading,
                _ => Step::Following,
            });
            continue;
        }
        if qualifier.contains("**") {
            return Err(ProfileError::PartOfQualifier);
        }
        // A leading ** has the full stop behind it.
        if number > 1 || number == 1 && !text.starts_with("**") {
            steps.push(Step::Byte(b'.'));
        }
        steps.extend(qualifier.bytes().map(|byte| match byte {
            b'?' => Step::One,
            b'*' => Step::Some,
            byte => Step::Byte(byte),
        }));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(text: &str) -> Profile {
        Profile::new(text).unwrap()
    }

    #[test]
    fn what_generic_names_stand_for() {
        for (text, matched, others) in [
            ("AB.CD", "AB.CD", "AB.C AB.CDE ab.cd AB.CD.E"),
            ("AB.?D", "AB.CD AB.ED AB.FD", "AB.D AB.CCD AB.C"),
            ("AB?CD", "AB.CD ABXCD", "ABCD"),
            (
                "ABC.*.JKL",
                "ABC.DEF.JKL ABC..JKL",
                "ABC.DEF.GHI.JKL ABC.JKL",
            ),
            (
                "ABC.DE*.JKL",
                "ABC.DE.JKL ABC.DEF.JKL",
                "ABC.D.JKL ABC.DE.F.JKL",
            ),
            ("*", "ABC", "A.B"),
            ("A*", "A AB", "A.B BA"),
            ("*A*B", "AB XAYB AABB", "ABA A.B"),
            ("**", "A A.B A.B.C", ""),
            ("**.ABC", "ABC A.ABC A.B.ABC", "XABC A.XABC ABC.D"),
            ("ABC.**", "ABC ABC.D ABC.D.E", "ABCD X.ABC ABCD.E"),
            ("A.**.B", "A.B A.X.B A.X.Y.B", "AB A.XB A.B.C A.X.YB"),
            ("A.**.*", "A.B A.B.C", "A B.A"),
            ("**.*B", "B XB A.B A.XB", "B.A"),
            ("A.*.**", "A.B A.B.C", "A AB"),
            ("**..A", ".A X..A", "A X.A"),
            ("@class", "@class", "class"),
        ] {
            let profile = profile(text);
            for name in matched.split_whitespace() {
                assert!(profile.matches(name), "{text} is to match {name}");
            }
            for name in others.split_whitespace() {
                assert!(!profile.matches(name), "{text} is not to match {name}");
            }
        }
        let long = "N".repeat(63);
        assert!(profile("*").matches(&long));
        assert!(!profile("**").matches(&"N".repeat(64)));
    }

    #[test]
    fn the_more_specific_is_less_generic_where_they_differ() {
        for [more, less] in [
            ["AB.C*", "AB.*"],
            ["AB.CD", "AB.C?"],
            ["AB.C?", "AB.C*"],
            ["AB.*", "AB.**"],
            ["AB.?D", "AB.*D"],
            ["A.B.**", "A.**"],
            ["A.**", "**"],
            ["*", "**"],
            ["A", "A*"],
        ] {
            let [more_specific, less_specific] = [more, less].map(profile);
            let order = more_specific.specificity(&less_specific);
            assert_eq!(order, Ordering::Less, "{more} before {less}");
            let order = less_specific.specificity(&more_specific);
            assert_eq!(order, Ordering::Greater, "{less} behind {more}");
        }
        assert_eq!(profile("A.*").specificity(&profile("A.*")), Ordering::Equal);
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        for (text, why) in [
            ("", ProfileError::Empty),
            ("  ", ProfileError::Empty),
            (&"A".repeat(49), ProfileError::TooLong),
            ("A B", ProfileError::BadCharacter),
            ("A'", ProfileError::BadCharacter),
            ("Ä", ProfileError::BadCharacter),
            ("@CLASS", ProfileError::BadCharacter),
            ("A**", ProfileError::PartOfQualifier),
            ("A.***", ProfileError::PartOfQualifier),
            ("**.A.**", ProfileError::Several),
        ] {
            assert_eq!(Profile::new(text), Err(why), "{text}");
        }
        assert_eq!(profile("A ").text(), "A");
        assert!(profile("A?").is_generic() && !profile("A.B").is_generic());
    }
}
