//! The text of a selector in words, numbers, strings and signs.
//!
//! Invariant: every token is a part of the text; nothing is built up but strings with doubled quotation marks.

use crate::condition::Comparison;
use crate::fault::{Error, Fault};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    Exact(u64),
    Approximate(f64),
    Text(String),
    Bytes(Box<[u8]>),
    Compare(Comparison),
    Plus,
    Minus,
    Times,
    Divide,
    Open,
    Close,
    Comma,
    End,
}

pub(crate) struct Tokens<'a> {
    text: &'a str,
    /// Where the last token began.
    start: usize,
    /// Where the next is looked for.
    at: usize,
}

fn starts_word(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '_' | '$')
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '.')
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Tokens {
            text,
            start: 0,
            at: 0,
        }
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fault(&self, fault: Fault) -> Error {
        Error {
            fault,
            at: self.start,
        }
    }

    pub(crate) fn next(&mut self) -> Result<Token<'a>, Error> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.start = self.at;
        let mut characters = self.rest().chars();
        let Some(first) = characters.next() else {
            return Ok(Token::End);
        };
        let second = characters.next();
        let (token, length) = match (first, second) {
            ('<', Some('>')) => (Token::Compare(Comparison::Unequal), 2),
            ('<', Some('=')) => (Token::Compare(Comparison::LessOrEqual), 2),
            ('>', Some('=')) => (Token::Compare(Comparison::GreaterOrEqual), 2),
            ('<', _) => (Token::Compare(Comparison::Less), 1),
            ('>', _) => (Token::Compare(Comparison::Greater), 1),
            ('=', _) => (Token::Compare(Comparison::Equal), 1),
            ('+', _) => (Token::Plus, 1),
            ('-', _) => (Token::Minus, 1),
            ('*', _) => (Token::Times, 1),
            ('/', _) => (Token::Divide, 1),
            ('(', _) => (Token::Open, 1),
            (')', _) => (Token::Close, 1),
            (',', _) => (Token::Comma, 1),
            ('\'', _) => return self.string(),
            ('"', _) => return self.bytes(),
            ('.', Some('0'..='9')) | ('0'..='9', _) => return self.number(),
            _ if starts_word(first) => {
                let rest = self.rest();
                let length = rest.find(|c| !is_in_word(c)).unwrap_or(rest.len());
                (Token::Word(&rest[..length]), length)
            }
            _ => return Err(self.fault(Fault::Character)),
        };
        self.at += length;
        Ok(token)
    }

    /// A string in quotation marks; a doubled one inside stands for itself.
    fn string(&mut self) -> Result<Token<'a>, Error> {
        let mut text = String::new();
        let mut rest = &self.rest()[1..];
        loop {
            let end = rest.find('\'').ok_or(self.fault(Fault::OpenString))?;
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.strip_prefix('\'') {
                Some(more) => rest = more,
                None => break,
            }
            text.push('\'');
        }
        self.at = self.text.len() - rest.len();
        Ok(Token::Text(text))
    }

    /// A byte string: pairs of hexadecimal digits behind 0x, in double quotation marks.
    fn bytes(&mut self) -> Result<Token<'a>, Error> {
        let fault = self.fault(Fault::Bytes);
        let inner = &self.rest()[1..];
        let end = inner.find('"').ok_or(fault)?;
        let (prefix, digits) = inner[..end].split_at_checked(2).ok_or(fault)?;
        let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
        if !prefix.eq_ignore_ascii_case("0x") || pairs.is_empty() || !odd.is_empty() {
            return Err(fault);
        }
        let nibble = |digit: u8| char::from(digit).to_digit(16);
        let bytes: Option<Box<[u8]>> = pairs
            .iter()
            .map(|[high, low]| u8::try_from(nibble(*high)? << 4 | nibble(*low)?).ok())
            .collect();
        self.at += end + 2;
        Ok(Token::Bytes(bytes.ok_or(fault)?))
    }

    /// A number as Java writes it: decimal, hexadecimal, octal, or with a point, an exponent or a suffix.
    fn number(&mut self) -> Result<Token<'a>, Error> {
        let fault = self.fault(Fault::Number);
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize, radix: u32| {
            let tail = bytes.get(from..).unwrap_or_default();
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            from + tail.iter().take_while(is_digit).count()
        };
        let hexadecimal = bytes[0] == b'0' && matches!(bytes.get(1), Some(b'x' | b'X'));
        let (mut end, mut approximate) = match hexadecimal {
            true => (digits(2, 16), false),
            false => (digits(0, 10), false),
        };
        let whole = end;
        if !hexadecimal {
            if bytes.get(end) == Some(&b'.') {
                (end, approximate) = (digits(end + 1, 10), true);
            }
            if matches!(bytes.get(end), Some(b'e' | b'E')) {
                let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
                let from = end + 1 + usize::from(signed);
                (end, approximate) = (digits(from, 10), true);
                if end == from {
                    return Err(fault);
                }
            }
        }
        let number = &rest[..end];
        let suffix = bytes.get(end).map(u8::to_ascii_lowercase);
        approximate |= !hexadecimal && matches!(suffix, Some(b'd' | b'f'));
        let suffixed = match approximate {
            true => matches!(suffix, Some(b'd' | b'f')),
            false => suffix == Some(b'l'),
        };
        end += usize::from(suffixed);
        if rest[end..].chars().next().is_some_and(is_in_word) {
            return Err(fault);
        }
        self.at += end;
        if approximate {
            let value: f64 = number.parse().map_err(|_| fault)?;
            return match value.is_finite() {
                true => Ok(Token::Approximate(value)),
                false => Err(fault),
            };
        }
        let exact = match (hexadecimal, number) {
            (true, _) => u64::from_str_radix(&number[2..], 16),
            // A zero in front makes it octal.
            (false, _) if whole > 1 && bytes[0] == b'0' => u64::from_str_radix(&number[1..], 8),
            (false, _) => number.parse(),
        };
        Ok(Token::Exact(exact.map_err(|_| fault)?))
    }
}
