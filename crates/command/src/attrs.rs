//! The attributes of one object, by selector.
//!
//! Stored form (kept for ever; see `encode`), all numbers little-endian:
//! `u8` format number 1, `u32` count, then for each attribute in ascending selector order
//! `i32` selector, `u8` type, and the value:
//!
//! | type | value |
//! | --- | --- |
//! | 1 | number of 32 bits: `i32` |
//! | 2 | text: `u32` length, bytes |
//! | 3 | number that needs more: `i64` |
//! | 4 | numbers: `u32` count, as many `i64` |
//! | 5 | texts: `u32` count, as many texts |
//! | 6 | bytes: `u32` length, bytes |
//! | 7 | day: as text, `yyyy-mm-dd` |
//! | 8 | time of day: as text, `hh.mm.ss` |
//! | 9 | nothing |

use crate::kinds::ObjectKind;
use crate::table::attributes;
use crate::value::{Date, Time, Value, trimmed};
use std::collections::BTreeMap;

const FORMAT: u8 = 1;
const INT: u8 = 1;
const TEXT: u8 = 2;
const LONG: u8 = 3;
const INTS: u8 = 4;
const TEXTS: u8 = 5;
const BYTES: u8 = 6;
const DATE: u8 = 7;
const TIME: u8 = 8;
const BLANK: u8 = 9;

/// Values by selector.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attrs(BTreeMap<i32, Value>);

impl Attrs {
    /// The defaults that the table gives for a kind; derived attributes are absent.
    pub fn defaults(kind: ObjectKind) -> Attrs {
        let values = attributes(kind)
            .filter_map(|attribute| Some((attribute.selector, attribute.default.value()?)));
        Attrs(values.collect())
    }

    /// The number of an attribute, in the 32 bits that numbers have in the MQ Interface; 0 if it is absent or is no
    /// number.
    pub fn int(&self, selector: i32) -> i32 {
        let number = self.long(selector);
        i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
    }

    /// The number of an attribute; 0 if it is absent or is no number.
    pub fn long(&self, selector: i32) -> i64 {
        match self.0.get(&selector) {
            Some(Value::Int(n)) => *n,
            _ => 0,
        }
    }

    /// The text of an attribute; empty if it is absent or is no text.
    pub fn text(&self, selector: i32) -> &str {
        match self.0.get(&selector) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The text of an attribute that names something, without the blanks around it, which mean nothing. Other spaces are letters of a
    /// name.
    pub fn name(&self, selector: i32) -> &str {
        self.text(selector).trim_matches(' ')
    }

    /// The text of an attribute without the blanks at its end, with which a field is filled up: of what may begin with blanks.
    pub fn unpadded(&self, selector: i32) -> &str {
        self.text(selector).trim_end_matches(' ')
    }

    /// The texts of an attribute; none if it is absent or is no list of texts.
    pub fn texts(&self, selector: i32) -> &[String] {
        match self.0.get(&selector) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Sets a number.
    pub fn set_int(&mut self, selector: i32, value: impl Into<i64>) {
        self.0.insert(selector, Value::Int(value.into()));
    }

    /// Sets text; trailing blanks are dropped, as they have no meaning in MQ.
    pub fn set_text(&mut self, selector: i32, value: impl Into<String>) {
        self.0.insert(selector, Value::text(value));
    }

    /// Sets a value of any type.
    pub fn set(&mut self, selector: i32, value: Value) {
        let value = match value {
            Value::Text(text) => Value::text(text),
            Value::Texts(texts) => Value::Texts(texts.into_iter().map(trimmed).collect()),
            other => other,
        };
        self.0.insert(selector, value);
    }

    /// The value, if there is one.
    pub fn get(&self, selector: i32) -> Option<&Value> {
        self.0.get(&selector)
    }

    /// Takes a value out.
    pub fn remove(&mut self, selector: i32) -> Option<Value> {
        self.0.remove(&selector)
    }

    /// Overlays `other`: its values win.
    pub fn merge(&mut self, other: &Attrs) {
        for (selector, value) in &other.0 {
            self.0.insert(*selector, value.clone());
        }
    }

    /// Selector and value, ascending by selector.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &Value)> {
        self.0.iter().map(|(selector, value)| (*selector, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the stored form, which names every attribute by its selector.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(FORMAT);
        out.extend_from_slice(&(self.0.len() as u32).to_le_bytes());
        for (selector, value) in &self.0 {
            out.extend_from_slice(&selector.to_le_bytes());
            encode(value, out);
        }
    }

    /// Reads the stored form from the start of `bytes`; also how many bytes it took.
    ///
    /// `None` when the bytes are not a whole stored form. Never allocates more than the
    /// bytes that are there justify.
    pub fn decode(bytes: &[u8]) -> Option<(Attrs, usize)> {
        let mut rest = bytes;
        if take::<1>(&mut rest)? != [FORMAT] {
            return None;
        }
        let count = u32::from_le_bytes(take(&mut rest)?);
        let mut attrs = Attrs::default();
        for _ in 0..count {
            let selector = i32::from_le_bytes(take(&mut rest)?);
            let value = decode(&mut rest)?;
            if attrs.0.insert(selector, value).is_some() {
                return None;
            }
        }
        Some((attrs, bytes.len() - rest.len()))
    }
}

impl FromIterator<(i32, Value)> for Attrs {
    fn from_iter<I: IntoIterator<Item = (i32, Value)>>(values: I) -> Self {
        let mut attrs = Attrs::default();
        for (selector, value) in values {
            attrs.set(selector, value);
        }
        attrs
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Blank => out.push(BLANK),
        Value::Int(n) => match i32::try_from(*n) {
            Ok(n) => {
                out.push(INT);
                out.extend_from_slice(&n.to_le_bytes());
            }
            Err(_) => {
                out.push(LONG);
                out.extend_from_slice(&n.to_le_bytes());
            }
        },
        Value::Text(text) => put_bytes(TEXT, text.as_bytes(), out),
        Value::Bytes(bytes) => put_bytes(BYTES, bytes, out),
        Value::Date(date) => put_bytes(DATE, date.to_string().as_bytes(), out),
        Value::Time(time) => put_bytes(TIME, time.to_string().as_bytes(), out),
        Value::Ints(list) => {
            out.push(INTS);
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for number in list {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        Value::Texts(list) => {
            out.push(TEXTS);
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for text in list {
                out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

fn put_bytes(type_: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(type_);
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn decode(rest: &mut &[u8]) -> Option<Value> {
    let [type_] = take::<1>(rest)?;
    Some(match type_ {
        BLANK => Value::Blank,
        INT => Value::Int(i32::from_le_bytes(take(rest)?).into()),
        LONG => Value::Int(i64::from_le_bytes(take(rest)?)),
        TEXT => Value::Text(take_text(rest)?.to_owned()),
        BYTES => Value::Bytes(take_bytes(rest)?.to_vec()),
        DATE => Value::Date(Date::parse(take_text(rest)?)?),
        TIME => Value::Time(Time::parse(take_text(rest)?)?),
        INTS => {
            let count = u32::from_le_bytes(take(rest)?);
            let list = (0..count).map(|_| take(rest).map(i64::from_le_bytes));
            Value::Ints(list.collect::<Option<_>>()?)
        }
        TEXTS => {
            let count = u32::from_le_bytes(take(rest)?);
            let list = (0..count).map(|_| take_text(rest).map(str::to_owned));
            Value::Texts(list.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(rest)?) as usize;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    std::str::from_utf8(take_bytes(rest)?).ok()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_mqi::constants as mq;

    #[test]
    fn stored_form_is_stable() {
        let mut attrs = Attrs::default();
        attrs.set_text(mq::MQCA_Q_DESC, "hi  ");
        attrs.set_int(mq::MQIA_MAX_Q_DEPTH, 5000);
        let mut out = Vec::new();
        attrs.encode(&mut out);
        let expected = [
            &[1, 2, 0, 0, 0][..],
            &[15, 0, 0, 0, 1, 0x88, 0x13, 0, 0],
            &[0xDD, 0x07, 0, 0, 2, 2, 0, 0, 0, b'h', b'i'],
        ]
        .concat();
        assert_eq!(out, expected);
        out.push(99);
        assert_eq!(Attrs::decode(&out), Some((attrs, out.len() - 1)));
    }

    #[test]
    fn every_kind_goes_through_the_stored_form() {
        for kind in ObjectKind::ALL {
            let attrs = Attrs::defaults(kind);
            let mut out = Vec::new();
            attrs.encode(&mut out);
            assert_eq!(Attrs::decode(&out), Some((attrs, out.len())), "{kind}");
        }
    }

    #[test]
    fn damaged_forms_are_refused() {
        let mut whole = Vec::new();
        Attrs::defaults(ObjectKind::QLocal).encode(&mut whole);
        for cut in 0..whole.len() {
            assert_eq!(Attrs::decode(&whole[..cut]), None, "cut at {cut}");
        }
        let huge_count = [1, 255, 255, 255, 255];
        assert_eq!(Attrs::decode(&huge_count), None);
        let huge_text = [1, 1, 0, 0, 0, 9, 0, 0, 0, 2, 255, 255, 255, 255, b'x'];
        assert_eq!(Attrs::decode(&huge_text), None);
        let twice = [
            1, 2, 0, 0, 0, 9, 0, 0, 0, 1, 1, 0, 0, 0, 9, 0, 0, 0, 1, 1, 0, 0, 0,
        ];
        assert_eq!(Attrs::decode(&twice), None);
        assert_eq!(Attrs::decode(&[2, 0, 0, 0, 0]), None, "unknown format");
        for (stored, why) in [
            (&[10, 0][..], "unknown type"),
            (
                &[
                    7, 10, 0, 0, 0, b'2', b'0', b'2', b'6', b'-', b'0', b'2', b'-', b'3', b'0',
                ],
                "no day",
            ),
            (
                &[4, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0],
                "more numbers than bytes",
            ),
            (
                &[5, 255, 255, 255, 255, 0, 0, 0, 0],
                "more texts than bytes",
            ),
        ] {
            let whole = [&[1, 1, 0, 0, 0, 9, 0, 0, 0][..], stored].concat();
            assert_eq!(Attrs::decode(&whole), None, "{why}");
        }
    }

    #[test]
    fn absent_and_wrong_type_read_as_nothing() {
        let mut attrs = Attrs::default();
        assert_eq!((attrs.int(1), attrs.text(1)), (0, ""));
        attrs.set_text(1, "x");
        assert_eq!(attrs.int(1), 0);
        attrs.set_int(1, 7);
        assert_eq!((attrs.int(1), attrs.text(1)), (7, ""));
        let mut base = Attrs::defaults(ObjectKind::QLocal);
        base.merge(&attrs);
        assert_eq!(base.int(1), 7);
        assert_eq!(base.int(mq::MQIA_MAX_Q_DEPTH), 5000);
        assert_eq!(base.remove(1), Some(Value::Int(7)));
        assert_eq!(base.get(1), None);
        base.set_int(1, i64::MAX);
        assert_eq!((base.int(1), base.long(1)), (i32::MAX, i64::MAX));
    }

    #[test]
    fn every_type_of_value_goes_through_the_stored_form() {
        let values = [
            Value::Blank,
            Value::Int(-1),
            Value::Int(i64::MIN),
            Value::Text("é".into()),
            Value::Ints(vec![1, i64::MAX]),
            Value::Ints(Vec::new()),
            Value::Texts(vec!["A".into(), String::new()]),
            Value::Bytes(vec![0, 255]),
            Value::Date(Date::parse("2026-11-22").unwrap()),
            Value::Time(Time::parse("23.59.59").unwrap()),
        ];
        let attrs: Attrs = (1..).zip(values).collect();
        let mut out = Vec::new();
        attrs.encode(&mut out);
        assert_eq!(Attrs::decode(&out), Some((attrs, out.len())));
        for cut in 0..out.len() {
            assert_eq!(Attrs::decode(&out[..cut]), None, "cut at {cut}");
        }
    }
}
