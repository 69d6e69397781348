//! Kinds of object and attributes as commands have them.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use posthaste_command::{Attribute, ObjectKind, Value, by_selector};

/// What a definition of the kind has to state.
pub fn type_word(kind: ObjectKind) -> String {
    let type_ = kind.row().type_.filter(|type_| type_.word != kind.noun());
    type_.map_or_else(String::new, |type_| {
        let attribute = by_selector(kind, type_.selector).unwrap();
        format!("{}({})", attribute.keyword, type_.word)
    })
}

/// An attribute with a value, as a command gives it.
pub fn given(attribute: &Attribute, value: &Value) -> String {
    match posthaste_command::shown(attribute, value).trim() {
        "" => format!("{}('')", attribute.keyword),
        value => format!("{}({value})", attribute.keyword),
    }
}
