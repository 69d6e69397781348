//! An object as text: as DISPLAY shows it, and as the command that defines it.
//!
//! Invariant: parsing what [`mqsc_of`] gives, over the defaults, gives the object's settable
//! attributes back.

use crate::object::{Attribute, DefaultValue, Object, ObjectKind, Set, Value, ValueKind};
use crate::reply::Row;
use crate::table::attributes;
use posthaste_mqi::constants as mq;
use std::borrow::Cow;

/// Text with a full stop in the place of each control character: names and text come from
/// applications, and must not be able to drive a terminal or forge lines of a log.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => Cow::Owned(text.replace(char::is_control, ".")),
        false => Cow::Borrowed(text),
    }
}

/// Whether a DISPLAY command shows every attribute: when it says ALL, and when it names one
/// object and no attributes (manual: "DISPLAY QUEUE", ALL).
pub fn shows_all(name: &str, show: &[String], all: bool) -> bool {
    all || (show.is_empty() && !name.ends_with('*'))
}

/// The attributes of a kind in the order in which DISPLAY shows them: name and type first,
/// then by keyword.
pub fn display_order(kind: ObjectKind) -> Vec<&'static Attribute> {
    let mut order: Vec<_> = attributes(kind).collect();
    order.sort_by_key(|attribute| (!is_heading(attribute), attribute.keyword));
    order
}

/// Whether DISPLAY always shows it, whatever was asked for.
fn is_heading(attribute: &Attribute) -> bool {
    is_name(attribute)
        || matches!(
            attribute.selector,
            mq::MQIA_Q_TYPE | mq::MQIACH_CHANNEL_TYPE
        )
}

/// Whether it is the object's own name.
fn is_name(attribute: &Attribute) -> bool {
    matches!(
        attribute.selector,
        mq::MQCA_Q_NAME | mq::MQCA_Q_MGR_NAME | mq::MQCACH_CHANNEL_NAME | mq::MQCACH_LISTENER_NAME
    )
}

/// A value as DISPLAY shows it: words for numbers that have one, `" "` for blank text, and
/// for a switch the bare word.
pub fn shown(attribute: &Attribute, value: &Value) -> String {
    match value {
        Value::Int(number) => match attribute.word_of(*number) {
            Some(word) => word.to_owned(),
            None => number.to_string(),
        },
        Value::Text(text) if text.trim_end().is_empty() => " ".to_owned(),
        Value::Text(text) => printable(text.trim_end()).into_owned(),
    }
}

/// The cells of DISPLAY for an object: everything when `all`, otherwise the name, the type
/// and the keywords in `show` that the kind has. An attribute that the object does not hold
/// shows its default, or 0 or blank.
pub fn row_of(object: &Object, show: &[String], all: bool) -> Row {
    let asked = |attribute: &&Attribute| {
        let keyword = attribute.keyword;
        all || is_heading(attribute) || show.iter().any(|asked| asked.as_str() == keyword)
    };
    let mut cells: Vec<(bool, String, String)> = display_order(object.kind)
        .into_iter()
        .filter(asked)
        .map(|attribute| {
            let value = shown(attribute, &held(object, attribute));
            match attribute.is_switch() {
                true => (!is_heading(attribute), value, String::new()),
                false => (!is_heading(attribute), attribute.keyword.to_owned(), value),
            }
        })
        .collect();
    // A switch stands where its word belongs: NOTRIGGER with the Ns.
    cells.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let pairs = cells
        .into_iter()
        .map(|(_, keyword, value)| (keyword, value));
    Row(pairs.collect())
}

/// The value an object has for an attribute, derived ones included as far as they follow
/// from its kind and name.
fn held(object: &Object, attribute: &Attribute) -> Value {
    if is_name(attribute) {
        return Value::Text(object.name.clone());
    }
    if attribute.selector == mq::MQIA_Q_TYPE {
        return Value::Int(object.kind.queue_type().unwrap_or_default());
    }
    match object.attrs.get(attribute.selector) {
        Some(value) => value.clone(),
        None => match attribute.default {
            DefaultValue::Int(number) => Value::Int(number),
            DefaultValue::Text(text) => Value::Text(text.to_owned()),
            DefaultValue::None if attribute.is_int() => Value::Int(0),
            DefaultValue::None => Value::Text(String::new()),
        },
    }
}

/// Which attributes a definition states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefineForm {
    /// Those that differ from the default.
    Changed,
    /// All that can be set.
    All,
}

/// The command that defines an object, on one line, with the attributes that differ from
/// their defaults. For the queue manager it is an ALTER.
pub fn mqsc_of(object: &Object) -> String {
    parts(object, DefineForm::Changed).join(" ")
}

/// The same with every attribute that can be set and REPLACE, whatever the defaults are where it is
/// run.
pub fn whole_mqsc_of(object: &Object) -> String {
    statement(object, DefineForm::All).join(" ")
}

/// The command that defines an object as a script has it: one attribute a line, continued
/// with `+`, and REPLACE at the end so that the script can be run again.
pub fn script_of(object: &Object, form: DefineForm) -> String {
    let mut script = statement(object, form).join(" +\n   ");
    script.push('\n');
    script
}

fn statement(object: &Object, form: DefineForm) -> Vec<String> {
    let mut parts = parts(object, form);
    if object.kind != ObjectKind::Qmgr {
        parts.push("REPLACE".to_owned());
    }
    parts
}

fn parts(object: &Object, form: DefineForm) -> Vec<String> {
    let mut parts = vec![match object.kind {
        ObjectKind::Qmgr => "ALTER QMGR".to_owned(),
        kind => format!("DEFINE {}({})", kind.noun(), quoted(&object.name)),
    }];
    for attribute in display_order(object.kind) {
        let required = attribute.selector == mq::MQIACH_CHANNEL_TYPE;
        if attribute.set == Set::ReadOnly {
            continue;
        }
        let value = held(object, attribute);
        let changed = attribute
            .default
            .value()
            .is_none_or(|default| default != value);
        if changed || required || form == DefineForm::All {
            parts.push(stated(attribute, &value));
        }
    }
    parts
}

fn stated(attribute: &Attribute, value: &Value) -> String {
    let text = shown(attribute, value);
    if attribute.is_switch() {
        return text;
    }
    let text = match attribute.kind {
        ValueKind::Text { .. } | ValueKind::Name { .. } => quoted(&text),
        _ => text,
    };
    format!("{}({text})", attribute.keyword)
}

/// Text between quotes, quotes inside doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests;
