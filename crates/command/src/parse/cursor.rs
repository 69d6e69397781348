//! The text of a command cut into parameters.
//!
//! Blanks and commas separate; a parameter is a word, and may have values in parentheses
//! after it. A value is quoted (a quote inside is written twice) or bare; a bare value goes
//! up to the next blank, comma or closing parenthesis, and parentheses inside it must match.
//! Every position is a byte offset on a character boundary, as all delimiters are ASCII.

use super::fault;
use crate::command::SyntaxError;

/// Most values in the parentheses of a parameter, which anybody may send: far more than any parameter takes. A value of one
/// byte takes fifty here.
const MOST_VALUES: usize = 1_000;

/// A word with the values in the parentheses after it.
#[derive(Debug)]
pub(super) struct Parameter<'a> {
    /// The word, in the case it was written in.
    pub(super) word: &'a str,
    /// Where the word begins.
    pub(super) start: usize,
    /// Where the word ends.
    pub(super) word_end: usize,
    /// What was in the parentheses; `None` when there were none.
    pub(super) values: Option<Vec<Item>>,
    /// Where the whole parameter ends.
    pub(super) end: usize,
}

/// One value.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The value; quotes removed, or folded to upper case.
    pub(super) text: String,
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// A position in the text of a command.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    /// The whole command.
    pub(super) text: &'a str,
    at: usize,
}

/// What may stand between the parts of a command.
pub(crate) fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_separators(&mut self) {
        while self.peek().is_some_and(is_separator) {
            self.at += 1;
        }
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The next word on its own; used for the verb.
    pub(super) fn word(&mut self) -> Result<Option<(&'a str, usize)>, SyntaxError> {
        self.skip_separators();
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => break,
                b')' | b'\'' => {
                    let what = format!("{} is out of place here", byte as char);
                    return Err(fault::syntax(self.text, start, self.at + 1, what));
                }
                byte if is_separator(byte) => break,
                _ => self.at += 1,
            }
        }
        if self.at > start {
            return Ok(Some((self.slice(start, self.at), start)));
        }
        match self.peek() {
            None => Ok(None),
            Some(_) => {
                let what = "A keyword must come before the parenthesis".to_owned();
                Err(fault::syntax(self.text, start, start + 1, what))
            }
        }
    }

    /// The next parameter; `None` at the end of the command.
    pub(super) fn parameter(&mut self) -> Result<Option<Parameter<'a>>, SyntaxError> {
        let Some((word, start)) = self.word()? else {
            return Ok(None);
        };
        let word_end = self.at;
        self.skip_separators();
        let values = match self.peek() {
            Some(b'(') => {
                self.at += 1;
                Some(self.items()?)
            }
            _ => {
                self.at = word_end;
                None
            }
        };
        let end = self.at;
        Ok(Some(Parameter {
            word,
            start,
            word_end,
            values,
            end,
        }))
    }

    /// The values up to the closing parenthesis.
    fn items(&mut self) -> Result<Vec<Item>, SyntaxError> {
        let mut items = Vec::new();
        loop {
            self.skip_separators();
            match self.peek() {
                None => {
                    let what = "A closing parenthesis is missing".to_owned();
                    return Err(fault::ended(self.text, what));
                }
                Some(b')') => {
                    self.at += 1;
                    return Ok(items);
                }
                Some(_) if items.len() == MOST_VALUES => {
                    let what = format!("At most {MOST_VALUES} values fit in parentheses");
                    return Err(fault::syntax(self.text, self.at, self.at + 1, what));
                }
                Some(b'\'') => items.push(self.quoted()?),
                Some(_) => items.push(self.bare()?),
            }
        }
    }

    fn quoted(&mut self) -> Result<Item, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.slice(self.at, self.text.len());
            let Some(length) = rest.find('\'') else {
                let what = "A closing quote is missing".to_owned();
                return Err(fault::ended(self.text, what));
            };
            text.push_str(self.slice(self.at, self.at + length));
            self.at += length + 1;
            if self.peek() != Some(b'\'') {
                break;
            }
            text.push('\'');
            self.at += 1;
        }
        let end = self.at;
        match self.peek() {
            Some(byte) if byte != b')' && !is_separator(byte) => {
                let what = "A blank, a comma or a parenthesis must come after a quoted value";
                Err(fault::syntax(self.text, start, end + 1, what.to_owned()))
            }
            _ => Ok(Item { text, start, end }),
        }
    }

    fn bare(&mut self) -> Result<Item, SyntaxError> {
        let start = self.at;
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open += 1,
                b')' if open == 0 => break,
                b')' => open -= 1,
                b'\'' => {
                    let what = "A quote must be at the start of a value, or be doubled inside one";
                    let end = self.at + 1;
                    return Err(fault::syntax(self.text, start, end, what.to_owned()));
                }
                byte if is_separator(byte) && open == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        let text = self.slice(start, self.at).to_ascii_uppercase();
        Ok(Item {
            text,
            start,
            end: self.at,
        })
    }
}
