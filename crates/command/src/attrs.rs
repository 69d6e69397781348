//! The attributes of one object, by selector.
//!
//! Stored form (kept for ever; see `encode`), all numbers little-endian:
//! `u8` format number 1, `u32` count, then for each attribute in ascending selector order
//! `i32` selector, `u8` type (1 number, 2 text), and `i32` value, or `u32` length and bytes.

use crate::object::{ObjectKind, Value};
use crate::table::attributes;
use std::collections::BTreeMap;

const FORMAT: u8 = 1;
const INT: u8 = 1;
const TEXT: u8 = 2;

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

    /// The number of an attribute; 0 if it is absent or is text.
    pub fn int(&self, selector: i32) -> i32 {
        match self.0.get(&selector) {
            Some(Value::Int(n)) => *n,
            Some(Value::Text(_)) | None => 0,
        }
    }

    /// The text of an attribute; empty if it is absent or is a number.
    pub fn text(&self, selector: i32) -> &str {
        match self.0.get(&selector) {
            Some(Value::Text(text)) => text,
            Some(Value::Int(_)) | None => "",
        }
    }

    /// Sets a number.
    pub fn set_int(&mut self, selector: i32, value: i32) {
        self.0.insert(selector, Value::Int(value));
    }

    /// Sets text; trailing blanks are dropped, as they have no meaning in MQ.
    pub fn set_text(&mut self, selector: i32, value: impl Into<String>) {
        let mut text: String = value.into();
        text.truncate(text.trim_end_matches(' ').len());
        self.0.insert(selector, Value::Text(text));
    }

    /// Sets a value of either type.
    pub fn set(&mut self, selector: i32, value: Value) {
        match value {
            Value::Int(n) => self.set_int(selector, n),
            Value::Text(text) => self.set_text(selector, text),
        }
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
            match value {
                Value::Int(n) => {
                    out.push(INT);
                    out.extend_from_slice(&n.to_le_bytes());
                }
                Value::Text(text) => {
                    out.push(TEXT);
                    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
            }
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
            let value = match take::<1>(&mut rest)? {
                [INT] => Value::Int(i32::from_le_bytes(take(&mut rest)?)),
                [TEXT] => {
                    let length = u32::from_le_bytes(take(&mut rest)?) as usize;
                    let (text, after) = rest.split_at_checked(length)?;
                    rest = after;
                    Value::Text(std::str::from_utf8(text).ok()?.to_owned())
                }
                _ => return None,
            };
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
        assert_eq!(
            Attrs::decode(&[1, 1, 0, 0, 0, 9, 0, 0, 0, 3, 0]),
            None,
            "unknown type"
        );
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
    }
}
