//! Addresses in records: one, a range in some of its parts, or a pattern with asterisks.
//!
//! Rules, from the public manual ("Generic IP addresses"): parts are those between full stops (IPv4) or colons (IPv6); a part is
//! a number, two with a hyphen between them (a range, both included), or an asterisk, which stands for one part or more.
//! A pattern has all parts unless it has an asterisk; an asterisk at the end is a part of its own and has none before it. A
//! double colon, which stands for as many zeros as are missing, and an asterisk at the end are not together. Of two patterns
//! that match, from left to right, a number is more specific than a range, a range than one that holds it, and each than an
//! asterisk. Two ranges that overlap, none holding the other, cannot be told apart so: records with both are refused.
//!
//! Invariant: the order is total, and a pattern has eight parts at most.

use core::net::{IpAddr, Ipv6Addr};
use std::cmp::Ordering;
use std::fmt;

/// Why a text is no pattern of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is the name of a host.
    #[error("it is no IP address; names of hosts are not looked up")]
    HostName,
    /// A part is no number of an address.
    #[error("\"{0}\" is no part of an address")]
    Part(String),
    /// A range ends before it begins.
    #[error("the range {0} ends before it begins")]
    Backwards(String),
    /// It has too few or too many parts.
    #[error("it has {0} parts")]
    Parts(usize),
    /// An asterisk stands before one at the end.
    #[error("an asterisk stands before the one at the end")]
    Asterisks,
    /// A double colon is there twice, or with an asterisk at the end.
    #[error("a double colon is there twice, or with an asterisk at the end")]
    DoubleColon,
}

/// A part of a pattern, or what an address has there if both numbers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Any,
    Range(u16, u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// A single asterisk.
    Both,
    V4,
    V6,
}

impl Family {
    fn parts(self) -> usize {
        match self {
            Family::V6 => 8,
            _ => 4,
        }
    }
}

/// Which addresses a record is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern {
    family: Family,
    parts: Vec<Part>,
}

impl AddressPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<AddressPattern, BadAddress> {
        let text = text.trim_matches(' ');
        let of_v4 = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '*');
        match text {
            "" => Err(BadAddress::Empty),
            "*" => Ok(AddressPattern {
                family: Family::Both,
                parts: vec![Part::Any],
            }),
            v6 if v6.contains(':') => parse_v6(v6),
            v4 if v4.chars().all(of_v4) => {
                let parts = v4.split('.').map(|part| read_part(part, Family::V4));
                checked(Family::V4, parts.collect::<Result<_, _>>()?)
            }
            _ => Err(BadAddress::HostName),
        }
    }

    /// Whether it is a single asterisk: every address.
    pub fn is_any(&self) -> bool {
        self.family == Family::Both
    }

    /// Whether an address is one of those.
    pub fn matches(&self, address: IpAddr) -> bool {
        match (address.to_canonical(), self.family) {
            (_, Family::Both) => true,
            (IpAddr::V4(v4), Family::V4) => fits(&self.parts, &v4.octets().map(u16::from)),
            (IpAddr::V6(v6), Family::V6) => fits(&self.parts, &v6.segments()),
            _ => false,
        }
    }

    /// The address, if it is only one.
    pub(crate) fn single(&self) -> Option<IpAddr> {
        let numbers = self.parts.iter().map(|part| match part {
            Part::Range(from, to) if from == to => Some(*from),
            _ => None,
        });
        let numbers = numbers.collect::<Option<Vec<u16>>>()?;
        match self.family {
            Family::Both => None,
            Family::V4 => {
                let bytes = numbers.iter().map(|number| u8::try_from(*number).ok());
                let bytes = bytes.collect::<Option<Vec<u8>>>()?;
                <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from)
            }
            Family::V6 => <[u16; 8]>::try_from(numbers).ok().map(IpAddr::from),
        }
    }

    /// Which of two is more specific: that one is greater.
    pub fn specificity(&self, other: &AddressPattern) -> Ordering {
        let exact = |pattern: &AddressPattern| pattern.single().is_some();
        let places = |pattern: &AddressPattern| {
            let parts = pattern.parts.iter().map(|part| match part {
                Part::Any => Place::Asterisk,
                Part::Range(from, to) => Place::Numbers {
                    fewer: u16::MAX - (to - from),
                    from: *from,
                },
            });
            parts.chain([Place::End]).collect::<Vec<Place>>()
        };
        let first = exact(self).cmp(&exact(other));
        let next = first.then_with(|| places(self).cmp(&places(other)));
        next.then_with(|| (self.family == Family::V6).cmp(&(other.family == Family::V6)))
    }

    /// Whether ranges of both overlap so that neither pattern is the more specific one.
    pub fn conflicts(&self, other: &AddressPattern) -> bool {
        if self.family != other.family || self.parts.len() != other.parts.len() {
            return false;
        }
        let mut overlap = false;
        for pair in self.parts.iter().zip(&other.parts) {
            match pair {
                (Part::Any, Part::Any) => {}
                (Part::Range(a, b), Part::Range(c, d)) => {
                    if b < c || d < a {
                        return false;
                    }
                    let held = (a <= c && d <= b) || (c <= a && b <= d);
                    overlap |= !held;
                }
                _ => return false,
            }
        }
        overlap
    }
}

/// What a pattern has at a place, the least specific first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Asterisk,
    End,
    /// The fewer numbers, the more specific.
    Numbers {
        fewer: u16,
        from: u16,
    },
}

/// Whether numbers are those of parts, of which an asterisk is one or more.
fn fits(parts: &[Part], numbers: &[u16]) -> bool {
    match (parts.split_first(), numbers.split_first()) {
        (None, None) => true,
        (Some((Part::Range(from, to), others)), Some((number, rest))) => {
            (from..=to).contains(&number) && fits(others, rest)
        }
        (Some((Part::Any, others)), Some((_, rest))) => fits(others, rest) || fits(parts, rest),
        _ => false,
    }
}

fn parse_v6(text: &str) -> Result<AddressPattern, BadAddress> {
    let family = Family::V6;
    if let Ok(single) = text.parse::<Ipv6Addr>() {
        let same = |number: u16| Part::Range(number, number);
        // Whoever comes by such an address is seen to come by the other (manual: "Generic IP addresses").
        if let Some(v4) = single.to_ipv4_mapped() {
            let parts = v4.octets().map(|byte| same(byte.into())).to_vec();
            let family = Family::V4;
            return Ok(AddressPattern { family, parts });
        }
        let parts = single.segments().map(same).to_vec();
        return Ok(AddressPattern { family, parts });
    }
    let side = |side: &str| -> Result<Vec<Part>, BadAddress> {
        match side {
            "" => Ok(Vec::new()),
            side => side
                .split(':')
                .map(|part| read_part(part, family))
                .collect(),
        }
    };
    let Some((left, right)) = text.split_once("::") else {
        return checked(family, side(text)?);
    };
    if right.contains("::") || text.ends_with('*') {
        return Err(BadAddress::DoubleColon);
    }
    let (left, right) = (side(left)?, side(right)?);
    let there = left.len() + right.len();
    let missing = family
        .parts()
        .checked_sub(there)
        .filter(|missing| *missing > 0);
    let zeros = vec![Part::Range(0, 0); missing.ok_or(BadAddress::Parts(there))?];
    checked(family, [left, zeros, right].concat())
}

fn read_part(part: &str, family: Family) -> Result<Part, BadAddress> {
    if part == "*" {
        return Ok(Part::Any);
    }
    let number = |text: &str| {
        let (radix, digits, most) = match family {
            Family::V6 => (16, 4, u16::MAX),
            _ => (10, 3, 255),
        };
        let plain = (1..=digits).contains(&text.len()) && text.chars().all(|c| c.is_digit(radix));
        let number = u16::from_str_radix(text, radix).ok();
        let number = number.filter(|number| plain && *number <= most);
        number.ok_or_else(|| BadAddress::Part(part.to_owned()))
    };
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    let (from, to) = (number(from)?, number(to)?);
    match from <= to {
        true => Ok(Part::Range(from, to)),
        false => Err(BadAddress::Backwards(part.to_owned())),
    }
}

/// The pattern, if it has the parts that it needs.
fn checked(family: Family, parts: Vec<Part>) -> Result<AddressPattern, BadAddress> {
    let generic = parts.contains(&Part::Any);
    if parts.len() > family.parts() || !generic && parts.len() < family.parts() {
        return Err(BadAddress::Parts(parts.len()));
    }
    if parts.ends_with(&[Part::Any, Part::Any]) {
        return Err(BadAddress::Asterisks);
    }
    Ok(AddressPattern { family, parts })
}

impl fmt::Display for AddressPattern {
    /// The same for all texts that say the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(single) = self.single() {
            return single.fmt(f);
        }
        for (at, part) in self.parts.iter().enumerate() {
            match self.family {
                _ if at == 0 => {}
                Family::V6 => f.write_str(":")?,
                _ => f.write_str(".")?,
            }
            match (part, self.family) {
                (Part::Any, _) => f.write_str("*")?,
                (Part::Range(from, to), Family::V6) if from == to => write!(f, "{from:x}")?,
                (Part::Range(from, to), Family::V6) => write!(f, "{from:x}-{to:x}")?,
                (Part::Range(from, to), _) if from == to => write!(f, "{from}")?,
                (Part::Range(from, to), _) => write!(f, "{from}-{to}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> AddressPattern {
        AddressPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn patterns_and_what_they_match() {
        for (text, address, expected) in [
            ("192.0.2.0", "192.0.2.0", true),
            ("192.0.2.0", "192.0.2.1", false),
            ("192.0.2.*", "192.0.2.255", true),
            ("192.0.2.*", "192.0.3.1", false),
            ("192.0.*", "192.0.9.9", true),
            ("192.0.*.2", "192.0.77.2", true),
            ("192.*.2", "192.0.77.2", true),
            ("192.*.2", "192.0.77.3", false),
            ("192.*.2.*", "192.0.2.9", true),
            ("*", "192.0.2.0", true),
            ("*", "2001:db8::1", true),
            ("192.0.2.1-8", "192.0.2.8", true),
            ("192.0.2.1-8", "192.0.2.9", false),
            ("192.0.2.1-8", "192.0.2.0", false),
            ("192.0.*.1-8", "192.0.200.1", true),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1", true),
            ("2001:DB8:0:0:0:0:0:*", "2001:db8::ffff", true),
            ("2001:DB8:*", "2001:db8:1:2:3:4:5:6", true),
            ("2001:DB8:*", "2001:db9:1:2:3:4:5:6", false),
            ("2001:DB8:*:1", "2001:db8::1", true),
            ("2001:DB8:0:0:0:0:0:0-8", "2001:db8::8", true),
            ("2001:DB8:0:0:0:0:0:0-8", "2001:db8::9", false),
            ("2001:DB8::a-f", "2001:db8::c", true),
            ("2001:*::1", "2001:7::1", true),
            ("::1", "::1", true),
            ("::1", "127.0.0.1", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("::ffff:127.0.0.1", "127.0.0.1", true),
            ("::ffff:127.0.0.1", "127.0.0.2", false),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(pattern(text).matches(address), expected, "{text} {address}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_its_reason() {
        use BadAddress::{Asterisks, Backwards, DoubleColon, Empty, HostName, Part, Parts};
        for (text, expected) in [
            ("", Empty),
            (" ", Empty),
            ("192.0.2", Parts(3)),
            ("1.2.3.4.5", Parts(5)),
            ("1.2.3.4.*", Parts(5)),
            ("192.0*", Part("0*".into())),
            ("192.0.*.*", Asterisks),
            ("*.*", Asterisks),
            ("192.0.2.256", Part("256".into())),
            ("192.0.2.0001", Part("0001".into())),
            ("192.0..1", Part(String::new())),
            ("192.0.2.9-1", Backwards("9-1".into())),
            ("192.0.2.1-", Part("1-".into())),
            ("192.0.2.-", Part("-".into())),
            ("192.0.2.1-2-3", Part("1-2-3".into())),
            ("2001::*", DoubleColon),
            ("1::2::3", DoubleColon),
            ("2001:db8:1", Parts(3)),
            ("1:2:3:4:5:6:7:8::*:1", Parts(10)),
            ("1:2:3:4:5:6:7:g", Part("g".into())),
            ("host.example.com", HostName),
            ("*.example.com", HostName),
            ("192.0.2.1x", HostName),
        ] {
            assert_eq!(AddressPattern::parse(text), Err(expected), "{text}");
        }
    }

    /// The examples of the manual, each more generic than the next.
    #[test]
    fn the_more_specific_is_the_greater() {
        for (generic, specific) in [
            ("*", "192.0.2.0"),
            ("*", "192.*"),
            ("*.0.2.0", "192.*"),
            ("192.*.2.0", "192.0.*"),
            ("192.*", "192.*.2.*"),
            ("192.0.2.*", "192.0.2.0-24"),
            ("192.0.2.0-24", "192.0.2.5-15"),
            ("192.0.2.5-15", "192.0.2.7"),
            ("2001:*", "2001:db8:*"),
        ] {
            let (generic, specific) = (pattern(generic), pattern(specific));
            let order = specific.specificity(&generic);
            assert_eq!(order, Ordering::Greater, "{specific} and {generic}");
        }
    }

    #[test]
    fn ranges_that_overlap_conflict() {
        for (a, b, expected) in [
            ("192.0.2.0-15", "192.0.2.10-20", true),
            ("192.0.2.0-15", "192.0.2.15-20", true),
            ("192.0.2.0-15", "192.0.2.16-20", false),
            ("192.0.2.0-15", "192.0.2.3-9", false),
            ("192.0.2.0-15", "192.0.2.0-15", false),
            ("192.0.2.0-15", "192.0.3.10-20", false),
            ("192.0.2.0-15", "192.0.2.*", false),
            ("192.*.0-15", "192.*.10-20", true),
            ("192.0-9.2.1", "192.5-15.2.1", true),
            ("::a-f", "::c-ff", true),
        ] {
            assert_eq!(pattern(a).conflicts(&pattern(b)), expected, "{a} {b}");
            assert_eq!(pattern(b).conflicts(&pattern(a)), expected, "{b} {a}");
        }
    }

    fn any_pattern() -> impl Strategy<Value = AddressPattern> {
        let part = prop_oneof![
            Just("*".to_owned()),
            (0..4u8).prop_map(|n| n.to_string()),
            (0..4u8, 0..4u8).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        ];
        let parts = proptest::collection::vec(part, 1..=4);
        parts.prop_filter_map("a pattern", |parts| {
            AddressPattern::parse(&parts.join(".")).ok()
        })
    }

    proptest! {
        #[test]
        fn the_text_of_a_pattern_is_the_pattern(of in any_pattern()) {
            prop_assert_eq!(AddressPattern::parse(&of.to_string()), Ok(of));
        }

        #[test]
        fn the_order_is_total(a in any_pattern(), b in any_pattern(), c in any_pattern()) {
            prop_assert_eq!(a.specificity(&b), b.specificity(&a).reverse());
            prop_assert_eq!(a.specificity(&b) == Ordering::Equal, a == b);
            if a.specificity(&b).is_le() && b.specificity(&c).is_le() {
                prop_assert!(a.specificity(&c).is_le());
            }
        }

        /// Of patterns with the same shape that do not conflict, one that matches all that the other does is not more specific.
        #[test]
        fn what_holds_another_is_not_more_specific(
            ranges in proptest::collection::vec((0..8u16, 0..8u16, 0..8u16, 0..8u16), 4),
        ) {
            let inner: Vec<Part> = ranges
                .iter()
                .map(|(a, b, _, _)| Part::Range(*a.min(b), *a.max(b)))
                .collect();
            let outer = inner.iter().zip(&ranges).map(|(part, (_, _, below, above))| match part {
                Part::Range(from, to) => Part::Range(from.saturating_sub(*below), to + above),
                Part::Any => Part::Any,
            });
            let family = Family::V4;
            let outer = AddressPattern { family, parts: outer.collect() };
            let inner = AddressPattern { family, parts: inner };
            prop_assert!(inner.specificity(&outer).is_ge());
            prop_assert!(!inner.conflicts(&outer));
        }
    }
}
