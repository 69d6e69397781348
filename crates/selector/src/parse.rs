//! A text to a condition; what is malformed, and where.
//!
//! ```text
//! condition  = all { OR all }
//! all        = one { AND one }
//! one        = { NOT } predicate
//! predicate  = sum [ compared | [NOT] BETWEEN sum AND sum | [NOT] LIKE text [ESCAPE text]
//!              | [NOT] IN ( text {, text} ) | IS [NOT] NULL ]
//! sum        = product { (+|-) product }
//! product    = factor { (*|/) factor }
//! factor     = { +|- } ( number | text | bytes | TRUE | FALSE | name | "(" condition ")" )
//! ```
//!
//! Invariants:
//! * Only parentheses recurse, and they are counted.
//! * LIKE, IN and IS NULL have a name on their left; texts, truth values and byte strings are only equal or unequal.

use std::collections::BTreeMap;

use crate::condition::{Comparison, Condition, Operand};
use crate::fault::{Error, Fault};
use crate::name::Name;
use crate::pattern::Pattern;
use crate::token::{Token, Tokens};
use crate::{DEEPEST, LONGEST};

/// What may be either until it is known what follows.
enum Node {
    Condition(Condition),
    Operand(Operand),
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    next: Token<'a>,
    /// Where the next token begins.
    at: usize,
    depth: usize,
    names: Vec<Name>,
    /// The numbers of the names.
    numbers: BTreeMap<Name, usize>,
}

pub(crate) fn parse(text: &str) -> Result<(Box<[Name]>, Condition), Error> {
    if text.len() > LONGEST {
        return Err(Error {
            fault: Fault::TooLong,
            at: LONGEST,
        });
    }
    let mut parser = Parser {
        tokens: Tokens::new(text),
        next: Token::End,
        at: 0,
        depth: 0,
        names: Vec::new(),
        numbers: BTreeMap::new(),
    };
    parser.advance()?;
    let node = parser.condition()?;
    if parser.next != Token::End {
        return Err(parser.fault(Fault::Unexpected));
    }
    let condition = parser.as_condition(node)?;
    Ok((parser.names.into(), condition))
}

impl<'a> Parser<'a> {
    fn fault(&self, fault: Fault) -> Error {
        Error { fault, at: self.at }
    }

    fn advance(&mut self) -> Result<Token<'a>, Error> {
        let next = self.tokens.next();
        let next = next.inspect_err(|error| self.at = error.at)?;
        self.at = self.tokens.start();
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.next, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn take_keyword(&mut self, keyword: &str) -> Result<bool, Error> {
        let is = self.is_keyword(keyword);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn take(&mut self, token: Token<'a>) -> Result<bool, Error> {
        let is = self.next == token;
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn expect(&mut self, token: Token<'a>) -> Result<(), Error> {
        match self.take(token)? {
            true => Ok(()),
            false => Err(self.fault(Fault::Unexpected)),
        }
    }

    fn as_condition(&self, node: Node) -> Result<Condition, Error> {
        match node {
            Node::Condition(condition) => Ok(condition),
            Node::Operand(Operand::Name(name)) => Ok(Condition::Holds(name)),
            Node::Operand(Operand::Boolean(value)) => Ok(Condition::Constant(value)),
            Node::Operand(_) => Err(self.fault(Fault::Unexpected)),
        }
    }

    fn as_operand(&self, node: Node) -> Result<Operand, Error> {
        match node {
            Node::Operand(operand) => Ok(operand),
            Node::Condition(_) => Err(self.fault(Fault::Type)),
        }
    }

    /// Something that has an order and can be calculated with, as far as can be told.
    fn as_number(&self, node: Node) -> Result<Operand, Error> {
        match self.as_operand(node)? {
            Operand::Text(_) | Operand::Boolean(_) | Operand::Bytes(_) => {
                Err(self.fault(Fault::Type))
            }
            operand => Ok(operand),
        }
    }

    fn condition(&mut self) -> Result<Node, Error> {
        let first = self.all()?;
        if !self.is_keyword("OR") {
            return Ok(first);
        }
        let mut any = vec![self.as_condition(first)?];
        while self.take_keyword("OR")? {
            let next = self.all()?;
            any.push(self.as_condition(next)?);
        }
        Ok(Node::Condition(Condition::Any(any)))
    }

    fn all(&mut self) -> Result<Node, Error> {
        let first = self.one()?;
        if !self.is_keyword("AND") {
            return Ok(first);
        }
        let mut all = vec![self.as_condition(first)?];
        while self.take_keyword("AND")? {
            let next = self.one()?;
            all.push(self.as_condition(next)?);
        }
        Ok(Node::Condition(Condition::All(all)))
    }

    fn one(&mut self) -> Result<Node, Error> {
        let mut negations = 0;
        while self.take_keyword("NOT")? {
            negations += 1;
        }
        let node = self.predicate()?;
        if negations == 0 {
            return Ok(node);
        }
        let condition = self.as_condition(node)?;
        Ok(Node::Condition(negated(condition, negations % 2 == 1)))
    }

    fn predicate(&mut self) -> Result<Node, Error> {
        let left = self.sum()?;
        if let Token::Compare(how) = self.next {
            let check = match how.is_of_order() {
                true => Self::as_number,
                false => Self::as_operand,
            };
            let left = check(self, left)?;
            self.advance()?;
            let right = self.sum()?;
            let right = check(self, right)?;
            let (left, right) = self.settled(left, right);
            return Ok(Node::Condition(Condition::Compare(left, how, right)));
        }
        if self.take_keyword("IS")? {
            let name = self.as_name(left)?;
            let not = self.take_keyword("NOT")?;
            if !self.take_keyword("NULL")? {
                return Err(self.fault(Fault::Unexpected));
            }
            return Ok(Node::Condition(negated(Condition::IsNull(name), not)));
        }
        let not = self.take_keyword("NOT")?;
        let condition = if self.take_keyword("BETWEEN")? {
            let value = self.as_number(left)?;
            let low = self.sum()?;
            let low = self.as_number(low)?;
            if !self.take_keyword("AND")? {
                return Err(self.fault(Fault::Unexpected));
            }
            let high = self.sum()?;
            let high = self.as_number(high)?;
            if not {
                return Ok(Node::Condition(outside(value, low, high)));
            }
            Condition::Between(Box::new([value, low, high]))
        } else if self.take_keyword("LIKE")? {
            let name = self.as_name(left)?;
            Condition::Like(name, self.pattern()?)
        } else if self.take_keyword("IN")? {
            let name = self.as_name(left)?;
            let texts = self.texts()?.into_iter();
            let of = &self.names[name];
            Condition::In(name, texts.map(|text| of.settled(text)).collect())
        } else if not {
            return Err(self.fault(Fault::Unexpected));
        } else {
            return Ok(left);
        };
        Ok(Node::Condition(negated(condition, not)))
    }

    /// A comparison of a name with a text, which may be written otherwise than messages have it.
    fn settled(&self, left: Operand, right: Operand) -> (Operand, Operand) {
        match (left, right) {
            (Operand::Name(name), Operand::Text(text)) => {
                let text = self.names[name].settled(text);
                (Operand::Name(name), Operand::Text(text))
            }
            (Operand::Text(text), Operand::Name(name)) => {
                let text = self.names[name].settled(text);
                (Operand::Text(text), Operand::Name(name))
            }
            other => other,
        }
    }

    fn as_name(&self, node: Node) -> Result<usize, Error> {
        match node {
            Node::Operand(Operand::Name(name)) => Ok(name),
            _ => Err(self.fault(Fault::Type)),
        }
    }

    fn text(&mut self) -> Result<String, Error> {
        match std::mem::replace(&mut self.next, Token::End) {
            Token::Text(text) => {
                self.advance()?;
                Ok(text)
            }
            _ => Err(self.fault(Fault::Unexpected)),
        }
    }

    fn pattern(&mut self) -> Result<Pattern, Error> {
        let text = self.text()?;
        let mut escape = None;
        if self.take_keyword("ESCAPE")? {
            let at = self.at;
            let given = self.text()?;
            let mut characters = given.chars();
            escape = characters.next();
            if escape.is_none() || characters.next().is_some() {
                let fault = Fault::Escape;
                return Err(Error { fault, at });
            }
        }
        Pattern::new(&text, escape).ok_or(self.fault(Fault::Escape))
    }

    fn texts(&mut self) -> Result<Vec<Box<str>>, Error> {
        self.expect(Token::Open)?;
        let mut texts = vec![self.text()?.into()];
        while self.take(Token::Comma)? {
            texts.push(self.text()?.into());
        }
        self.expect(Token::Close)?;
        Ok(texts)
    }

    fn sum(&mut self) -> Result<Node, Error> {
        let first = self.product()?;
        let mut rest = Vec::new();
        if !matches!(self.next, Token::Plus | Token::Minus) {
            return Ok(first);
        }
        let first = self.as_number(first)?;
        while matches!(self.next, Token::Plus | Token::Minus) {
            let subtract = self.advance()? == Token::Minus;
            let next = self.product()?;
            rest.push((subtract, self.as_number(next)?));
        }
        Ok(Node::Operand(Operand::Sum(Box::new(first), rest)))
    }

    fn product(&mut self) -> Result<Node, Error> {
        let first = self.factor()?;
        let mut rest = Vec::new();
        if !matches!(self.next, Token::Times | Token::Divide) {
            return Ok(first);
        }
        let first = self.as_number(first)?;
        while matches!(self.next, Token::Times | Token::Divide) {
            let divide = self.advance()? == Token::Divide;
            let next = self.factor()?;
            rest.push((divide, self.as_number(next)?));
        }
        Ok(Node::Operand(Operand::Product(Box::new(first), rest)))
    }

    fn factor(&mut self) -> Result<Node, Error> {
        let (mut signed, mut minus) = (false, false);
        while matches!(self.next, Token::Plus | Token::Minus) {
            minus ^= self.advance()? == Token::Minus;
            signed = true;
        }
        if let Token::Exact(number) = self.next {
            // Read with its sign: the smallest number has no counterpart.
            let number = match minus {
                true => 0i64.checked_sub_unsigned(number),
                false => i64::try_from(number).ok(),
            };
            let number = number.ok_or(self.fault(Fault::Number))?;
            self.advance()?;
            return Ok(Node::Operand(Operand::Exact(number)));
        }
        let node = self.primary()?;
        if !signed {
            return Ok(node);
        }
        let operand = self.as_number(node)?;
        Ok(Node::Operand(match minus {
            true => Operand::Minus(Box::new(operand)),
            // Also of what is no number: it is none with a sign either.
            false => Operand::Sum(Box::new(operand), vec![(false, Operand::Exact(0))]),
        }))
    }

    fn primary(&mut self) -> Result<Node, Error> {
        let at = self.at;
        let operand = match self.advance()? {
            Token::Open => return self.parenthesis(at),
            Token::Approximate(value) => Operand::Approximate(value),
            Token::Text(text) => Operand::Text(text.into()),
            Token::Bytes(bytes) => Operand::Bytes(bytes),
            Token::Word(word) if word.eq_ignore_ascii_case("TRUE") => Operand::Boolean(true),
            Token::Word(word) if word.eq_ignore_ascii_case("FALSE") => Operand::Boolean(false),
            Token::Word(word) => Operand::Name(self.name(word, at)?),
            _ => {
                let fault = Fault::Unexpected;
                return Err(Error { fault, at });
            }
        };
        Ok(Node::Operand(operand))
    }

    fn parenthesis(&mut self, at: usize) -> Result<Node, Error> {
        if self.depth == DEEPEST {
            let fault = Fault::TooDeep;
            return Err(Error { fault, at });
        }
        self.depth += 1;
        let inner = self.condition()?;
        self.depth -= 1;
        self.expect(Token::Close)?;
        Ok(inner)
    }

    fn name(&mut self, word: &str, at: usize) -> Result<usize, Error> {
        let fault = match crate::name::is_keyword(word) {
            true => Fault::Unexpected,
            false => Fault::Name,
        };
        let name = Name::new(word).ok_or(Error { fault, at })?;
        if let Some(known) = self.numbers.get(&name) {
            return Ok(*known);
        }
        let number = self.names.len();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        Ok(number)
    }
}

fn negated(condition: Condition, not: bool) -> Condition {
    match not {
        true => Condition::Not(Box::new(condition)),
        false => condition,
    }
}

/// NOT BETWEEN is defined as below or above: what has no order is neither.
fn outside(value: Operand, low: Operand, high: Operand) -> Condition {
    Condition::Any(vec![
        Condition::Compare(value.clone(), Comparison::Less, low),
        Condition::Compare(value, Comparison::Greater, high),
    ])
}
