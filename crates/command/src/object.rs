//! Objects: what they are, what they are called, and their attributes.
//!
//! Invariant: an object has a value for every attribute of its kind, whether it holds one or not.

use crate::attribute::{Attribute, DefaultValue};
use crate::attrs::Attrs;
use crate::kinds::ObjectKind;
use crate::value::Value;

/// An object: what it is, what it is called, and its attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name, without trailing blanks. The queue manager's own name for `Qmgr`.
    pub name: String,
    /// Its attributes.
    pub attrs: Attrs,
}

impl Object {
    /// An object with the default attributes of its kind.
    pub fn new(kind: ObjectKind, name: impl Into<String>) -> Self {
        Object {
            kind,
            name: name.into(),
            attrs: Attrs::defaults(kind),
        }
    }

    /// The value it has for an attribute, derived ones included as far as they follow from what it is. An attribute
    /// that it does not hold has its default, or 0, or nothing.
    pub fn value(&self, attribute: &Attribute) -> Value {
        let row = self.kind.row();
        if attribute.selector == row.name && !ObjectKind::RECORDS.contains(&self.kind) {
            return Value::Text(self.name.clone());
        }
        let type_ = row.type_;
        if let Some(type_) = type_.filter(|type_| type_.selector == attribute.selector) {
            return Value::from(type_.code);
        }
        if let DefaultValue::CountOf(texts) = attribute.default {
            return Value::from(self.attrs.texts(texts).len() as u64);
        }
        match (
            self.attrs.get(attribute.selector),
            attribute.default.value(),
        ) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => default,
            (None, None) if attribute.is_int() => Value::Int(0),
            (None, None) => Value::Blank,
        }
    }
}
