//! The character scheme: `*` for any number of characters, `?` for one, `%` before what is to be ordinary.
//!
//! Invariants:
//! * Each run between two `*` is taken where it is found first. What lies behind it can only be found there if it can
//!   be found anywhere, so that no run is searched again.
//! * Texts that touch are one text.
//! * A run of up to [`MOST_BETWEEN_STARS`] characters is looked for in one step for each character of the text, whatever `?`
//!   are in it.

use crate::steps::step;
use crate::string::{Error, MOST_BETWEEN_STARS};

/// A filter of the character scheme, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// What lies between the `*`, before the first and behind the last: at least one, each perhaps empty.
    runs: Box<[Run]>,
    /// How to look for the runs between two `*`, in order.
    searches: Box<[Search]>,
}

/// How to look for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Search {
    /// By the standard library, or only counted: it is text or `?` alone.
    Plain,
    Bits(Bits),
    /// At each place, because it has too many characters: of a filter that no new subscription may have.
    EachPlace,
}

/// A run as bits of a word, the first character the lowest: the shift-and search of Baeza-Yates and Gonnet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits {
    /// Where each character may stand that is in the run, `?` apart; in the order of the characters.
    places: Box<[(char, u64)]>,
    /// Where the `?` are.
    any: u64,
    last: u64,
}

/// Pieces without `*` between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Run(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// So many characters, whichever.
    Any(usize),
}

impl Pattern {
    /// # Errors
    ///
    /// If there is a `%` that escapes nothing.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let mut runs = vec![Run::default()];
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            if character == '*' {
                runs.push(Run::default());
                continue;
            }
            let last = runs.len() - 1;
            match character {
                '?' => runs[last].push_any(),
                '%' => match characters.next() {
                    Some((_, escaped @ ('*' | '?' | '%'))) => runs[last].push(escaped),
                    _ => return Err(Error::Escape(at)),
                },
                character => runs[last].push(character),
            }
        }
        let between = match &runs[..] {
            [_, between @ .., _] => between,
            _ => &[],
        };
        let searches = between.iter().map(Run::search).collect();
        Ok(Self {
            runs: runs.into(),
            searches,
        })
    }

    /// How many characters there are between two `*` at most, where `?` is among them.
    pub(crate) fn longest_between_stars(&self) -> usize {
        let runs = self.runs.iter().skip(1).zip(&self.searches);
        let mixed = runs.filter(|(_, search)| **search != Search::Plain);
        mixed.map(|(run, _)| run.characters()).max().unwrap_or(0)
    }

    /// Its text, if there is no wildcard in it.
    pub(crate) fn exact(&self) -> Option<&str> {
        match &*self.runs {
            [Run(pieces)] => match &pieces[..] {
                [] => Some(""),
                [Piece::Text(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its text before the first wildcard.
    pub(crate) fn prefix(&self) -> &str {
        match self.runs[0].0.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Any(_)) | None => "",
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let (first, others) = self.runs.split_first().unwrap_or((&NOTHING, &[]));
        let Some(mut rest) = first.taken_from(text) else {
            return false;
        };
        let Some((last, between)) = others.split_last() else {
            return rest.is_empty();
        };
        for (run, search) in between.iter().zip(&self.searches) {
            match run.found_in(search, rest) {
                Some(behind) => rest = behind,
                None => return false,
            }
        }
        last.ends(rest)
    }
}

static NOTHING: Run = Run(Vec::new());

impl Run {
    fn push(&mut self, character: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(character),
            _ => self.0.push(Piece::Text(character.to_string())),
        }
    }

    fn push_any(&mut self) {
        match self.0.last_mut() {
            Some(Piece::Any(count)) => *count += 1,
            _ => self.0.push(Piece::Any(1)),
        }
    }

    fn characters(&self) -> usize {
        self.0.iter().map(Piece::characters).sum()
    }

    /// How it is looked for between two `*`.
    fn search(&self) -> Search {
        match &self.0[..] {
            [] | [_] => Search::Plain,
            _ if self.characters() > MOST_BETWEEN_STARS => Search::EachPlace,
            pieces => Search::Bits(Bits::of(pieces)),
        }
    }

    /// What lies behind it, if the text begins with it.
    fn taken_from<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.0.iter().try_fold(text, |rest, piece| {
            step();
            match piece {
                Piece::Text(text) => rest.strip_prefix(&**text),
                Piece::Any(count) => {
                    let mut characters = rest.chars();
                    characters.nth(count - 1)?;
                    Some(characters.as_str())
                }
            }
        })
    }

    /// What lies behind the first place in the text where it is.
    fn found_in<'a>(&self, search: &Search, text: &'a str) -> Option<&'a str> {
        match (search, &self.0[..]) {
            (Search::Plain, [Piece::Text(only)]) => {
                step();
                let at = text.find(&**only)?;
                text.get(at + only.len()..)
            }
            (Search::Plain, _) => self.taken_from(text),
            (Search::Bits(bits), _) => bits.found_in(text),
            (Search::EachPlace, _) => {
                let mut starts = text.char_indices().map(|(at, _)| at);
                starts.find_map(|at| self.taken_from(&text[at..]))
            }
        }
    }

    /// Whether the text ends with it.
    fn ends(&self, text: &str) -> bool {
        let Some(before_last) = self.characters().checked_sub(1) else {
            return true;
        };
        let start = text.char_indices().rev().nth(before_last);
        start.is_some_and(|(at, _)| self.taken_from(&text[at..]) == Some(""))
    }
}

impl Piece {
    fn characters(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Any(count) => *count,
        }
    }
}

impl Bits {
    /// Of pieces of up to [`MOST_BETWEEN_STARS`] characters together.
    fn of(pieces: &[Piece]) -> Self {
        let mut places = std::collections::BTreeMap::<char, u64>::new();
        let (mut any, mut last, mut next) = (0, 0, 1u64);
        let mut take = || {
            last = next;
            next <<= 1;
            last
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    for character in text.chars() {
                        *places.entry(character).or_default() |= take();
                    }
                }
                Piece::Any(count) => (0..*count).for_each(|_| any |= take()),
            }
        }
        Self {
            places: places.into_iter().collect(),
            any,
            last,
        }
    }

    /// What lies behind the first place in the text where the run is.
    fn found_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        // A bit is set when what was read last is the run up to that character.
        let mut read = 0;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            step();
            let known = self.places.binary_search_by_key(&character, |(at, _)| *at);
            let here = known.map_or(0, |at| self.places[at].1) | self.any;
            read = (read << 1 | 1) & here;
            if read & self.last != 0 {
                return Some(characters.as_str());
            }
        }
        None
    }
}
