//! Authorities by their names and numbers, and sets of them.
//!
//! Invariant: an authority's number is that of its MQAUTH_ constant, and its bit in a set is that number's: both are kept
//! in stored records.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

use posthaste_mqi::constants as mq;

/// What an authority is about (manual: "setmqaut").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Calls of the MQ Interface, with the context of messages.
    Mqi,
    /// Creating objects, which no group of authorities has.
    Create,
    /// Commands.
    Administration,
    System,
}

macro_rules! authorities {
    ($($(#[doc = $doc:literal])* $name:ident = $code:ident, $word:literal, $class:ident;)*) => {
        /// One thing that somebody may do with an object.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Authority {
            $($(#[doc = $doc])* $name,)*
        }

        impl Authority {
            /// Every authority, in the order of their numbers.
            pub const ALL: [Authority; [$(mq::$code),*].len()] = [$(Authority::$name),*];

            /// Its `MQAUTH_` number.
            pub const fn code(self) -> i32 {
                match self {
                    $(Authority::$name => mq::$code,)*
                }
            }

            /// Its name in `setmqaut`; MQSC has it in upper case.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Authority::$name => $word,)*
                }
            }

            const fn class(self) -> Class {
                match self {
                    $(Authority::$name => Class::$class,)*
                }
            }
        }
    };
}

authorities! {
    /// Use another user's authority.
    AlternateUser = MQAUTH_ALT_USER_AUTHORITY, "altusr", Mqi;
    /// MQGET that browses.
    Browse = MQAUTH_BROWSE, "browse", Mqi;
    /// Change an object.
    Change = MQAUTH_CHANGE, "chg", Administration;
    /// Clear a queue, or what is retained for a topic.
    Clear = MQAUTH_CLEAR, "clr", Administration;
    /// MQCONN.
    Connect = MQAUTH_CONNECT, "connect", Mqi;
    /// Create objects.
    Create = MQAUTH_CREATE, "crt", Create;
    /// Delete an object.
    Delete = MQAUTH_DELETE, "dlt", Administration;
    /// Display an object.
    Display = MQAUTH_DISPLAY, "dsp", Administration;
    /// MQGET.
    Get = MQAUTH_INPUT, "get", Mqi;
    /// MQINQ.
    Inquire = MQAUTH_INQUIRE, "inq", Mqi;
    /// MQPUT.
    Put = MQAUTH_OUTPUT, "put", Mqi;
    /// Pass all context.
    PassAll = MQAUTH_PASS_ALL_CONTEXT, "passall", Mqi;
    /// Pass identity context.
    PassIdentity = MQAUTH_PASS_IDENTITY_CONTEXT, "passid", Mqi;
    /// MQSET.
    Set = MQAUTH_SET, "set", Mqi;
    /// Set all context.
    SetAll = MQAUTH_SET_ALL_CONTEXT, "setall", Mqi;
    /// Set identity context.
    SetIdentity = MQAUTH_SET_IDENTITY_CONTEXT, "setid", Mqi;
    /// Start and stop.
    Control = MQAUTH_CONTROL, "ctrl", Administration;
    /// Reset and resolve a channel.
    ControlExtended = MQAUTH_CONTROL_EXTENDED, "ctrlx", Administration;
    /// Publish on a topic.
    Publish = MQAUTH_PUBLISH, "pub", Mqi;
    /// Subscribe to a topic.
    Subscribe = MQAUTH_SUBSCRIBE, "sub", Mqi;
    /// Resume a subscription to a topic.
    Resume = MQAUTH_RESUME, "resume", Mqi;
    /// What the queue manager's own programs do.
    System = MQAUTH_SYSTEM, "system", System;
}

impl Authority {
    /// The authority with an `MQAUTH_` number.
    pub fn with_code(code: i32) -> Option<Authority> {
        Authority::ALL.into_iter().find(|one| one.code() == code)
    }

    /// The authority of a name, in any case.
    pub fn called(word: &str) -> Option<Authority> {
        let is = |one: &Authority| one.word().eq_ignore_ascii_case(word);
        Authority::ALL.into_iter().find(is)
    }
}

/// A set of authorities.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Authorities(u32);

impl Authorities {
    /// None at all.
    pub const NONE: Authorities = Authorities(0);
    /// Calls of the MQ Interface, with the context of messages (`allmqi`).
    pub const ALL_MQI: Authorities = Authorities::of_class(Class::Mqi);
    /// Commands, but for those that create objects (`alladm`).
    pub const ALL_ADMINISTRATION: Authorities = Authorities::of_class(Class::Administration);
    /// `allmqi`, `alladm` and `system` (`all`).
    pub const ALL: Authorities = Authorities(
        Authorities::ALL_MQI.0
            | Authorities::ALL_ADMINISTRATION.0
            | Authorities::of_class(Class::System).0,
    );

    const fn of_class(class: Class) -> Authorities {
        let mut bits = 0;
        let mut at = 0;
        while at < Authority::ALL.len() {
            let one = Authority::ALL[at];
            if one.class() as u8 == class as u8 {
                bits |= 1 << one.code();
            }
            at += 1;
        }
        Authorities(bits)
    }

    /// These authorities.
    pub const fn of(some: &[Authority]) -> Authorities {
        let mut bits = 0;
        let mut at = 0;
        while at < some.len() {
            bits |= 1 << some[at].code();
            at += 1;
        }
        Authorities(bits)
    }

    /// The set that a word of `setmqaut` or MQSC stands for, in any case: an authority, `all`, `alladm`, `allmqi`, or
    /// `none`.
    pub fn called(word: &str) -> Option<Authorities> {
        let groups = [
            ("all", Authorities::ALL),
            ("alladm", Authorities::ALL_ADMINISTRATION),
            ("allmqi", Authorities::ALL_MQI),
            ("none", Authorities::NONE),
        ];
        let mut groups = groups.into_iter();
        let group = groups.find(|(name, _)| name.eq_ignore_ascii_case(word));
        let one = || Authority::called(word).map(|one| Authorities::of(&[one]));
        group.map(|(_, set)| set).or_else(one)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Authorities) -> Authorities {
        Authorities(self.0 & other.0)
    }

    /// What is in either.
    #[must_use]
    pub const fn or(self, other: Authorities) -> Authorities {
        Authorities(self.0 | other.0)
    }

    /// Whether everything in `other` is in it.
    pub const fn has(self, other: Authorities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in it, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Authority> {
        let is_in = move |one: &Authority| self.0 & (1 << one.code()) != 0;
        Authority::ALL.into_iter().filter(is_in)
    }
}

impl FromIterator<Authority> for Authorities {
    fn from_iter<T: IntoIterator<Item = Authority>>(some: T) -> Authorities {
        some.into_iter()
            .fold(Authorities::NONE, |all, one| all | one.into())
    }
}

impl From<Authority> for Authorities {
    fn from(one: Authority) -> Authorities {
        Authorities::of(&[one])
    }
}

impl BitOr for Authorities {
    type Output = Authorities;
    fn bitor(self, other: Authorities) -> Authorities {
        self.or(other)
    }
}

impl BitAnd for Authorities {
    type Output = Authorities;
    fn bitand(self, other: Authorities) -> Authorities {
        self.and(other)
    }
}

impl Not for Authorities {
    type Output = Authorities;
    fn not(self) -> Authorities {
        let every = Authorities::of(&Authority::ALL);
        Authorities(every.0 & !self.0)
    }
}

impl fmt::Display for Authorities {
    /// The names as `setmqaut` has them, with commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(Authority::word).collect();
        f.write_str(&words.join(", "))
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// For ever: records are stored by them.
    #[test]
    fn numbers_keep_their_meaning() {
        let words: Vec<&str> = Authority::ALL.into_iter().map(Authority::word).collect();
        let known = "altusr browse chg clr connect crt dlt dsp get inq put passall passid set setall setid ctrl ctrlx \
                     pub sub resume system";
        assert_eq!(words.join(" "), known);
        let codes: Vec<i32> = Authority::ALL.into_iter().map(Authority::code).collect();
        assert_eq!(codes, (1..=22).collect::<Vec<_>>());
        let unique: BTreeSet<&str> = words.into_iter().collect();
        assert_eq!(unique.len(), Authority::ALL.len());
        for one in Authority::ALL {
            assert_eq!(Authority::with_code(one.code()), Some(one));
            let upper = one.word().to_uppercase();
            assert_eq!(Authorities::called(&upper), Some(one.into()));
        }
        assert_eq!(Authority::with_code(0), None);
        assert_eq!(Authorities::called("everything"), None);
    }

    #[test]
    fn groups_are_what_the_manual_says() {
        let create = Authorities::from(Authority::Create);
        let all = Authorities::called("ALL").unwrap();
        assert_eq!(!all, create, "creating is granted by its own name only");
        let administration = Authorities::called("alladm").unwrap();
        assert_eq!(
            administration.to_string(),
            "chg, clr, dlt, dsp, ctrl, ctrlx"
        );
        let mqi = Authorities::called("allmqi").unwrap();
        assert!((mqi & administration).is_empty());
        assert_eq!(all, mqi | administration | Authority::System.into());
        assert!(mqi.has(Authorities::of(&[Authority::SetAll, Authority::Resume])));
        assert!(!mqi.has(Authorities::of(&[Authority::Get, Authority::Change])));
        assert_eq!(Authorities::called("none"), Some(Authorities::NONE));
    }
}
