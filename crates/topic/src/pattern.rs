//! The character scheme: `*` for any number of characters, `?` for one, `%` before what is to be ordinary.
//!
//! Invariants:
//! * Each run between two `*` is taken where it is found first. What lies behind it can only be found there if it can
//!   be found anywhere, so that no run is searched again.
//! * Texts that touch are one text.

use crate::string::Error;

/// A filter of the character scheme, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// What lies between the `*`, before the first and behind the last: at least one, each perhaps empty.
    runs: Box<[Run]>,
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
        Ok(Self { runs: runs.into() })
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
        for run in between {
            match run.found_in(rest) {
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

    /// What lies behind it, if the text begins with it.
    fn taken_from<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.0.iter().try_fold(text, |rest, piece| match piece {
            Piece::Text(text) => rest.strip_prefix(&**text),
            Piece::Any(count) => {
                let mut characters = rest.chars();
                characters.nth(count - 1)?;
                Some(characters.as_str())
            }
        })
    }

    /// What lies behind the first place in the text where it is.
    fn found_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        let Some(Piece::Text(first)) = self.0.first() else {
            let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            return starts
                .map(|at| &text[at..])
                .find_map(|rest| self.taken_from(rest));
        };
        let mut rest = text;
        loop {
            rest = &rest[rest.find(&**first)?..];
            if let Some(behind) = self.taken_from(rest) {
                return Some(behind);
            }
            let mut characters = rest.chars();
            characters.next()?;
            rest = characters.as_str();
        }
    }

    /// Whether the text ends with it.
    fn ends(&self, text: &str) -> bool {
        let characters: usize = self.0.iter().map(Piece::characters).sum();
        let Some(before_last) = characters.checked_sub(1) else {
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
