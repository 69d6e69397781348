//! The value of an attribute, as its row of the table wants it, and the names of objects.

use super::cursor::{Item, Parameter};
use super::fault;
use crate::attribute::{Attribute, ValueKind, is_name_byte};
use crate::command::SyntaxError;
use crate::kinds::ObjectKind;
use crate::value::Value;

/// The value that a parameter gives an attribute.
pub(super) fn value_of(
    text: &str,
    attribute: &Attribute,
    parameter: &Parameter<'_>,
) -> Result<Value, SyntaxError> {
    let keyword = attribute.keyword;
    let refuse = |item: Option<&Item>, detail: String| {
        let (start, end) = match item {
            Some(item) => (item.start, item.end),
            None => (parameter.start, parameter.end),
        };
        fault::syntax(text, start, end, detail)
    };
    if attribute.is_switch() {
        let code = attribute.code_of(parameter.word);
        return match (&parameter.values, code) {
            (None, Some(code)) => Ok(Value::from(code)),
            _ => Err(refuse(
                None,
                format!("{keyword} has no value in parentheses"),
            )),
        };
    }
    let Some(items) = &parameter.values else {
        return Err(refuse(
            None,
            format!("{keyword} needs a value in parentheses"),
        ));
    };
    match (items.as_slice(), attribute.kind) {
        (_, ValueKind::Keywords(_)) => word_list(attribute, items, refuse),
        (_, ValueKind::Names { max, most, free }) => {
            names(attribute, items, (max, free), most, refuse)
        }
        ([], ValueKind::Text { .. } | ValueKind::Name { .. }) => Ok(Value::text("")),
        ([], ValueKind::Bytes { .. }) => Ok(Value::Bytes(Vec::new())),
        ([], _) => Err(refuse(None, format!("{keyword} needs a value"))),
        ([item], _) => single(attribute, item, refuse),
        ([_, second, ..], _) => {
            let detail = format!("{keyword} takes one value; text with blanks needs quotes");
            Err(refuse(Some(second), detail))
        }
    }
}

/// The names of a list. One that is blank stands for none.
fn names(
    attribute: &Attribute,
    items: &[Item],
    (max, free): (usize, bool),
    most: usize,
    refuse: impl Fn(Option<&Item>, String) -> SyntaxError,
) -> Result<Value, SyntaxError> {
    let keyword = attribute.keyword;
    let mut names = Vec::new();
    for item in items {
        let name = item.text.trim_end_matches(' ');
        match free {
            true => check_free_name(name, max, item.start, keyword)?,
            false => check_name(name, max, item.start, keyword)?,
        }
        if names.len() == most {
            return Err(refuse(
                Some(item),
                format!("{keyword} has more than {most} names"),
            ));
        }
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    Ok(Value::Texts(names))
}

fn word_list(
    attribute: &Attribute,
    items: &[Item],
    refuse: impl Fn(Option<&Item>, String) -> SyntaxError,
) -> Result<Value, SyntaxError> {
    let mut codes: Vec<i64> = Vec::new();
    for item in items {
        let code = attribute.code_of(&item.text).map(i64::from);
        let code = code.ok_or_else(|| refuse(Some(item), allowed(attribute)))?;
        if codes.contains(&code) {
            let word = attribute.word_of(code).unwrap_or_default();
            return Err(refuse(Some(item), format!("{word} is given twice")));
        }
        codes.push(code);
    }
    match codes.is_empty() {
        true => Err(refuse(None, format!("{} needs a value", attribute.keyword))),
        false => Ok(Value::Ints(codes)),
    }
}

fn single(
    attribute: &Attribute,
    item: &Item,
    refuse: impl Fn(Option<&Item>, String) -> SyntaxError,
) -> Result<Value, SyntaxError> {
    let keyword = attribute.keyword;
    match attribute.kind {
        ValueKind::Int { .. } | ValueKind::IntOrKeyword { .. } | ValueKind::Keyword(_) => {
            let number = match attribute.code_of(&item.text) {
                Some(code) => Some(code.into()),
                // What does not fit is out of range as well.
                None if matches!(attribute.kind, ValueKind::Keyword(_)) => None,
                None => number(&item.text),
            };
            number
                .map(Value::Int)
                .filter(|value| attribute.accepts(value) && is_written(attribute, value, item))
                .ok_or_else(|| refuse(Some(item), allowed(attribute)))
        }
        ValueKind::Name { max } => {
            let text = item.text.trim_end_matches(' ');
            check_name(text, max, item.start, keyword)?;
            Ok(Value::Text(text.to_owned()))
        }
        ValueKind::Text { max, .. } => {
            let text = item.text.trim_end_matches(' ');
            if text.chars().any(char::is_control) {
                return Err(refuse(
                    Some(item),
                    format!("{keyword} has a control character"),
                ));
            }
            if text.len() > max {
                let detail = format!("{keyword} has {} bytes, but at most {max} fit", text.len());
                return Err(refuse(Some(item), detail));
            }
            Ok(Value::Text(text.to_owned()))
        }
        ValueKind::Bytes { .. } => {
            let value = attribute.parsed(item.text.trim_end_matches(' '));
            value
                .filter(|value| attribute.accepts(value))
                .ok_or_else(|| refuse(Some(item), allowed(attribute)))
        }
        // Lists are read as such, and the others nobody sets.
        ValueKind::Keywords(_)
        | ValueKind::Names { .. }
        | ValueKind::Ints
        | ValueKind::Bits(_)
        | ValueKind::Date
        | ValueKind::Time => Err(refuse(Some(item), allowed(attribute))),
    }
}

/// Numbers that stand for words must be written as the words: `KAINT(-1)` is not `KAINT(AUTO)`.
fn is_written(attribute: &Attribute, value: &Value, item: &Item) -> bool {
    match (attribute.kind, value) {
        (ValueKind::IntOrKeyword { min, max, .. }, Value::Int(number)) => {
            (min..=max).contains(number) || attribute.code_of(&item.text).is_some()
        }
        _ => true,
    }
}

/// A decimal number; too great a one is `i64::MAX` or `i64::MIN`, which no row allows.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(match text.starts_with('-') {
        true => i64::MIN,
        false => i64::MAX,
    }))
}

/// What an attribute may be, as a sentence.
fn allowed(attribute: &Attribute) -> String {
    let keyword = attribute.keyword;
    let words: Vec<&str> = attribute.words().iter().map(|(word, _)| *word).collect();
    let words = words.join(", ");
    match attribute.kind {
        ValueKind::Int { min, max } => format!("{keyword} must be from {min} to {max}"),
        ValueKind::IntOrKeyword { min, max, .. } => {
            format!("{keyword} must be from {min} to {max}, or {words}")
        }
        ValueKind::Keyword(_) => format!("{keyword} must be one of {words}"),
        ValueKind::Keywords(_) => format!("{keyword} must be some of {words}"),
        ValueKind::Text { max, .. } => format!("{keyword} must be text of at most {max} bytes"),
        ValueKind::Name { max } => format!("{keyword} must be a name of at most {max} bytes"),
        ValueKind::Names { max, most, .. } => {
            format!("{keyword} must be at most {most} names of at most {max} bytes")
        }
        ValueKind::Bytes { max } => format!("{keyword} must be at most {max} bytes in hexadecimal"),
        ValueKind::Ints => format!("{keyword} must be numbers"),
        ValueKind::Bits(prefix) => format!("{keyword} must be names that begin with {prefix}"),
        ValueKind::Date => format!("{keyword} must be a date, yyyy-mm-dd"),
        ValueKind::Time => format!("{keyword} must be a time, hh.mm.ss"),
    }
}

/// Refuses what cannot be the name of an object of a kind. Blank passes.
pub(super) fn check_object_name(
    kind: ObjectKind,
    name: &str,
    start: usize,
    what: &str,
) -> Result<(), SyntaxError> {
    match kind.row().free_name {
        true => check_free_name(name, kind.name_length(), start, what),
        false => check_name(name, kind.name_length(), start, what),
    }
}

/// Refuses a name that is too long or that no answer could show. Blank passes.
fn check_free_name(name: &str, max: usize, start: usize, what: &str) -> Result<(), SyntaxError> {
    if name.len() > max {
        let detail = format!("{what} has {} bytes, but at most {max} fit", name.len());
        return Err(fault::name(start, detail));
    }
    match name.chars().find(|c| c.is_control()) {
        Some(wrong) => {
            let detail = format!("{what} has the control character {}", wrong.escape_debug());
            Err(fault::name(start, detail))
        }
        None => Ok(()),
    }
}

/// Refuses what cannot be the name of an object. Blank passes.
pub(super) fn check_name(
    name: &str,
    max: usize,
    start: usize,
    what: &str,
) -> Result<(), SyntaxError> {
    if name.len() > max {
        let detail = format!(
            "{what} has {} characters, but at most {max} fit",
            name.len()
        );
        return Err(fault::name(start, detail));
    }
    match name
        .chars()
        .find(|c| !u8::try_from(*c).is_ok_and(is_name_byte))
    {
        Some(wrong) => {
            let shown = wrong.escape_debug();
            let detail = format!(
                "{what} has the character {shown}; letters, digits and . / _ % are allowed"
            );
            Err(fault::name(start, detail))
        }
        None => Ok(()),
    }
}

/// Refuses what cannot be a name or a generic name: the asterisk may only be the last, unless names may have any
/// character.
pub(super) fn check_generic(
    name: &str,
    max: usize,
    free: bool,
    start: usize,
    what: &str,
) -> Result<(), SyntaxError> {
    if free {
        return check_free_name(name, max, start, what);
    }
    let stem = name.strip_suffix('*').unwrap_or(name);
    if stem.contains('*') {
        let detail = format!("{what} may have an asterisk at its end only");
        return Err(fault::name(start, detail));
    }
    check_name(stem, max, start, what)
}
