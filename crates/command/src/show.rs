//! An object as text: as DISPLAY shows it, and as the command that defines it.
//!
//! Invariant: parsing what [`mqsc_of`] gives, over the defaults, gives the object's settable
//! attributes back, but for those that are not saved.

use crate::attribute::{Attribute, Set, ValueKind, items, shown};
use crate::chlauth::{is_chlauth, is_relevant};
use crate::kinds::ObjectKind;
use crate::object::Object;
use crate::reply::{Cell, Row};
use crate::table::{attributes, authrec};
use crate::value::Value;

/// Whether a DISPLAY command shows every attribute: when it says ALL, and when it names one
/// object and no attributes (manual: "DISPLAY QUEUE", ALL).
pub fn shows_all(name: &str, show: &[String], all: bool) -> bool {
    all || (show.is_empty() && !name.ends_with('*'))
}

/// The attributes of a kind in the order in which DISPLAY shows them: name and type first,
/// then by keyword.
pub fn display_order(kind: ObjectKind) -> Vec<&'static Attribute> {
    let mut order: Vec<_> = attributes(kind).collect();
    order.sort_by_key(|attribute| (!is_heading(kind, attribute), attribute.keyword));
    order
}

/// Whether DISPLAY always shows it, whatever was asked for: the name, and what tells kinds apart.
fn is_heading(kind: ObjectKind, attribute: &Attribute) -> bool {
    is_name(kind, attribute) || is_type(kind, attribute)
}

/// Whether it is the object's own name.
fn is_name(kind: ObjectKind, attribute: &Attribute) -> bool {
    attribute.selector == kind.row().name
}

/// Whether it is what tells the kind from others.
fn is_type(kind: ObjectKind, attribute: &Attribute) -> bool {
    kind.row()
        .type_
        .is_some_and(|type_| type_.selector == attribute.selector)
}

/// The cells of DISPLAY for an object: everything when `all`, otherwise the name, the type
/// and the keywords in `show` that the kind has. An attribute that the object does not hold
/// shows its default, or 0 or blank.
pub fn row_of(object: &Object, show: &[String], all: bool) -> Row {
    let asked = |attribute: &&Attribute| {
        let keyword = attribute.keyword;
        all || is_heading(object.kind, attribute)
            || show.iter().any(|asked| asked.as_str() == keyword)
    };
    let mut cells: Vec<Cell> = display_order(object.kind)
        .into_iter()
        .filter(asked)
        .map(|attribute| Cell::new(attribute, object.value(attribute)))
        .collect();
    // A switch stands where its word belongs: NOTRIGGER with the Ns.
    cells.sort_by_cached_key(|cell| (!is_heading(object.kind, cell.attribute()), cell.keyword()));
    Row::from(cells)
}

/// Cells about authority records, in the order given: each value by its keyword.
pub fn authority_row(cells: Vec<(&'static str, Value)>) -> Row {
    let attribute = |keyword: &str| {
        let mut all = authrec::ROWS.iter().chain(authrec::SHOWN);
        all.find(|attribute| attribute.keyword == keyword)
    };
    let cell = |(keyword, value): (&'static str, Value)| {
        let attribute = attribute(keyword);
        assert!(attribute.is_some(), "{keyword} is not about authorities");
        attribute.map(|attribute| Cell::new(attribute, value))
    };
    let cells: Vec<Cell> = cells.into_iter().filter_map(cell).collect();
    Row::from(cells)
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

/// The command that removes every channel authentication record of this one's type and profile.
pub fn removal_of(record: &Object) -> String {
    let kind = record.kind;
    let type_ = kind.row().type_.map_or("", |type_| type_.word);
    let profile = quoted(record.attrs.text(kind.row().name));
    format!(
        "SET {}({profile}) TYPE({type_}) ACTION(REMOVEALL)",
        kind.noun()
    )
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
    match object.kind {
        ObjectKind::Qmgr => {}
        kind if is_chlauth(kind) => parts.push("ACTION(REPLACE)".to_owned()),
        _ => parts.push("REPLACE".to_owned()),
    }
    parts
}

fn parts(object: &Object, form: DefineForm) -> Vec<String> {
    let mut parts = vec![match object.kind {
        ObjectKind::Qmgr => "ALTER QMGR".to_owned(),
        kind if is_chlauth(kind) => {
            let profile = object.attrs.text(kind.row().name);
            format!("SET {}({})", kind.noun(), quoted(profile))
        }
        kind => format!("DEFINE {}({})", kind.noun(), quoted(&object.name)),
    }];
    for attribute in display_order(object.kind) {
        let required = is_type(object.kind, attribute);
        let idle = is_chlauth(object.kind) && !is_relevant(object, attribute.selector);
        if attribute.set == Set::ReadOnly || !attribute.saved || idle {
            continue;
        }
        let value = object.value(attribute);
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
        ValueKind::Names { .. } if !value.is_blank() => {
            let names: Vec<String> = items(attribute, value).iter().map(|n| quoted(n)).collect();
            names.join(",")
        }
        ValueKind::Names { .. } => quoted(""),
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
