//! LIKE: `_` is any character, `%` any number of them; an escape character takes that meaning from what follows it.
//!
//! A pattern is its parts between the `%`: the first stands at the beginning of the text, the last at its end, and each of
//! the others is looked for behind the one before it. The first place that fits will do, because a later one leaves less
//! to those that follow.
//!
//! Invariant: matching takes no stack, and time in proportion to the text: what a part without `_` takes does not depend
//! on its length, and that of another is counted in words of 64 characters.

use std::collections::BTreeMap;

/// What stands between two `%`.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(Box<str>),
    /// With characters of which none is asked for.
    Open(Box<[Option<char>]>),
}

/// A pattern, compiled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    first: Part,
    /// Those behind a `%`.
    rest: Box<[Part]>,
}

impl Pattern {
    /// None: the text ends with an escape character that escapes nothing.
    pub(crate) fn new(text: &str, escape: Option<char>) -> Option<Pattern> {
        let mut parts = Vec::new();
        let mut part = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                _ if Some(character) == escape => part.push(Some(characters.next()?)),
                '_' => part.push(None),
                // Several of them mean what one means.
                '%' if part.is_empty() && !parts.is_empty() => {}
                '%' => parts.push(Part::new(&std::mem::take(&mut part))),
                _ => part.push(Some(character)),
            }
        }
        parts.push(Part::new(&part));
        let first = parts.remove(0);
        let rest = parts.into();
        Some(Pattern { first, rest })
    }

    /// What a text begins with that it matches, as far as the pattern says it.
    pub(crate) fn beginning(&self) -> String {
        match &self.first {
            Part::Text(text) => text.to_string(),
            Part::Open(own) => own.iter().map_while(|one| *one).collect(),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some(mut text) = self.first.strip_front(text) else {
            return false;
        };
        let Some((last, between)) = self.rest.split_last() else {
            return text.is_empty();
        };
        for part in between {
            match part.find(text) {
                Some(behind) => text = behind,
                None => return false,
            }
        }
        last.ends(text)
    }
}

impl Part {
    fn new(characters: &[Option<char>]) -> Part {
        let text: Option<String> = characters.iter().copied().collect();
        text.map_or_else(
            || Part::Open(characters.into()),
            |text| Part::Text(text.into()),
        )
    }

    /// What follows it in a text that begins with it.
    fn strip_front<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Part::Text(own) => text.strip_prefix(&**own),
            Part::Open(own) => {
                let mut rest = text.chars();
                let mut fits = |one: &Option<char>| rest.next().is_some_and(|c| fits(*one, c));
                own.iter().all(&mut fits).then_some(rest.as_str())
            }
        }
    }

    /// Whether a text ends with it.
    fn ends(&self, text: &str) -> bool {
        match self {
            Part::Text(own) => text.ends_with(&**own),
            Part::Open(own) => {
                let mut rest = text.chars();
                let fits = |one: &Option<char>| rest.next_back().is_some_and(|c| fits(*one, c));
                own.iter().rev().all(fits)
            }
        }
    }

    /// What follows the first place in a text where it is.
    fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        match self {
            Part::Text(own) => Some(&text[text.find(&**own)? + own.len()..]),
            Part::Open(own) => find_open(own, text),
        }
    }
}

fn fits(wanted: Option<char>, character: char) -> bool {
    wanted.is_none_or(|wanted| wanted == character)
}

/// Goes through the text once and knows at each character how much of the part may end there: bit n is set if its first n
/// + 1 characters do (Baeza-Yates and Gonnet, "A new approach to text searching").
fn find_open<'a>(part: &[Option<char>], text: &'a str) -> Option<&'a str> {
    let words = part.len().div_ceil(64);
    let mut any = vec![0u64; words];
    for (at, _) in part.iter().enumerate().filter(|(_, one)| one.is_none()) {
        any[at / 64] |= 1 << (at % 64);
    }
    // Where each character fits.
    let mut places: BTreeMap<char, Vec<u64>> = BTreeMap::new();
    for (at, wanted) in part.iter().enumerate() {
        let Some(wanted) = wanted else { continue };
        let own = places.entry(*wanted).or_insert_with(|| any.clone());
        own[at / 64] |= 1 << (at % 64);
    }
    let last = part.len() - 1;
    let mut ends = vec![0u64; words];
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let mut carried = 1;
        for (ends, place) in ends.iter_mut().zip(places.get(&character).unwrap_or(&any)) {
            let carry = *ends >> 63;
            *ends = (*ends << 1 | carried) & place;
            carried = carry;
        }
        if ends[last / 64] >> (last % 64) & 1 == 1 {
            return Some(rest.as_str());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By its definition, with a look at each place for each `%`.
    fn defined(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|at| defined(rest, &text[at..])),
            Some((one, rest)) => text.split_first().is_some_and(|(character, behind)| {
                (*one == '_' || one == character) && defined(rest, behind)
            }),
        }
    }

    #[test]
    fn all_short_patterns_match_what_they_are_defined_to_match() {
        fn words(of: &[char], most: usize) -> Vec<Vec<char>> {
            let mut all = vec![Vec::new()];
            let mut from = 0;
            for _ in 0..most {
                let to = all.len();
                for at in from..to {
                    for character in of {
                        let longer = [&all[at][..], &[*character]].concat();
                        all.push(longer);
                    }
                }
                from = to;
            }
            all
        }
        let texts = words(&['a', 'é'], 5);
        for pattern in words(&['a', 'é', '_', '%'], 5) {
            let written: String = pattern.iter().collect();
            let compiled = Pattern::new(&written, None).unwrap();
            for text in &texts {
                let expected = defined(&pattern, text);
                let text: String = text.iter().collect();
                assert_eq!(compiled.matches(&text), expected, "{written} {text}");
            }
        }
    }

    /// Each part once more at each place would be hundreds of millions of steps.
    #[test]
    fn long_patterns_are_found_in_long_texts() {
        let text = "a".repeat(1 << 17);
        let part = "a".repeat(5_000);
        let open = "a_".repeat(2_500);
        for (pattern, matches) in [
            (format!("%{part}b"), false),
            (format!("%{part}b%"), false),
            (format!("%{open}b%"), false),
            (format!("%{part}%{open}%{part}"), true),
        ] {
            let compiled = Pattern::new(&pattern, None).unwrap();
            assert_eq!(compiled.matches(&text), matches, "{}", &pattern[..4]);
        }
        let end = format!("{text}b");
        let compiled = Pattern::new(&format!("%{open}b%"), None).unwrap();
        assert!(compiled.matches(&end));
    }
}
