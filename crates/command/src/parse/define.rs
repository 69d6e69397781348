//! DEFINE, ALTER and DELETE (manual: "DEFINE queues", "ALTER CHANNEL", "DELETE QLOCAL", ...).

use super::cursor::{Cursor, Parameter};
use super::values::{check_object_name, value_of};
use super::{Given, fault, nouns, unknown_keyword};
use crate::attribute::{Attribute, Set};
use crate::attrs::Attrs;
use crate::command::{Command, Deletion, SyntaxError};
use crate::kinds::ObjectKind;
use crate::table::{by_keyword, by_selector};
use crate::value::Value;
use posthaste_mqi::constants as mq;

/// Which of the two commands that set attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Define,
    Alter,
}

impl Setting {
    fn verb(self) -> &'static str {
        match self {
            Setting::Define => "DEFINE",
            Setting::Alter => "ALTER",
        }
    }
}

/// What the parameters of DEFINE or ALTER said.
#[derive(Debug, Default)]
struct Clauses {
    attrs: Attrs,
    replace: bool,
    like: Option<String>,
    force: bool,
    /// What tells kinds with the same noun apart.
    type_: bool,
}

pub(super) fn set(
    cursor: &mut Cursor<'_>,
    setting: Setting,
    kind: ObjectKind,
    name: String,
) -> Result<Command, SyntaxError> {
    let mut clauses = Clauses::default();
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        one(
            cursor.text,
            setting,
            kind,
            &parameter,
            &mut clauses,
            &mut given,
        )?;
    }
    let needed = kind.row().type_.filter(|type_| type_.word != kind.noun());
    if let Some(type_) = needed.filter(|_| setting == Setting::Define && !clauses.type_) {
        let keyword = by_selector(kind, type_.selector).map_or("", |attribute| attribute.keyword);
        let (noun, word) = (kind.noun(), type_.word);
        let detail = format!("DEFINE {noun} needs {keyword}, for example {keyword}({word})");
        let end = cursor.text.len();
        return Err(fault::syntax(cursor.text, end, end, detail));
    }
    Ok(match setting {
        Setting::Define => Command::Define {
            kind,
            name,
            replace: clauses.replace,
            like: clauses.like,
            attrs: clauses.attrs,
        },
        Setting::Alter => Command::Alter {
            kind,
            name,
            attrs: clauses.attrs,
            force: clauses.force,
        },
    })
}

fn one(
    text: &str,
    setting: Setting,
    kind: ObjectKind,
    parameter: &Parameter<'_>,
    clauses: &mut Clauses,
    given: &mut Given,
) -> Result<(), SyntaxError> {
    let word = parameter.word.to_ascii_uppercase();
    match (word.as_str(), setting) {
        ("REPLACE" | "NOREPLACE", Setting::Define) => {
            given.once(text, "REPLACE", parameter)?;
            parameter.bare(text)?;
            clauses.replace = word == "REPLACE";
            return Ok(());
        }
        ("LIKE", Setting::Define) => {
            given.once(text, "LIKE", parameter)?;
            let item = parameter.one_value(text)?;
            if item.text.is_empty() {
                return Err(fault::name(item.start, "LIKE needs a name".to_owned()));
            }
            check_object_name(kind, &item.text, item.start, "LIKE")?;
            clauses.like = Some(item.text.trim_end_matches(' ').to_owned());
            return Ok(());
        }
        ("FORCE", Setting::Alter) if kind.row().force => {
            given.once(text, "FORCE", parameter)?;
            parameter.bare(text)?;
            clauses.force = true;
            return Ok(());
        }
        _ => {}
    }
    let Some(attribute) = by_keyword(kind, &word) else {
        return Err(unknown_attribute(text, setting, kind, parameter));
    };
    given.once(text, attribute.keyword, parameter)?;
    let refused = match (attribute.set, setting) {
        (Set::ReadOnly, _) => Some("can be shown but not set"),
        (Set::DefineOnly, Setting::Alter) => Some("can be set by DEFINE only"),
        _ => None,
    };
    if let Some(why) = refused {
        let detail = format!("{} {why}", attribute.keyword);
        return Err(fault::syntax(
            text,
            parameter.start,
            parameter.word_end,
            detail,
        ));
    }
    if attribute.selector == mq::MQIACH_CHANNEL_TYPE {
        other_channel(setting.verb(), parameter)?;
    }
    let types = kind.row().type_;
    clauses.type_ |= types.is_some_and(|type_| type_.selector == attribute.selector);
    let value = value_of(text, attribute, parameter).map_err(|fault| match types {
        Some(type_) if type_.selector == attribute.selector => no_type(fault, kind, attribute),
        _ => fault,
    })?;
    let stated_only = attribute.set == Set::CreateOnly && setting == Setting::Alter;
    if !stated_only {
        clauses.attrs.set(attribute.selector, value);
    }
    Ok(())
}

/// The fault of a type that no kind with the noun has: says which there are.
fn no_type(fault: SyntaxError, kind: ObjectKind, attribute: &Attribute) -> SyntaxError {
    let kinds = ObjectKind::with_noun(kind.noun()).into_iter();
    let words = kinds.filter_map(|kind| kind.row().type_.map(|type_| type_.word));
    let words: Vec<&str> = words.collect();
    let detail = format!("{} must be one of {}.", attribute.keyword, words.join(", "));
    SyntaxError { detail, ..fault }
}

/// Says so when CHLTYPE is one of MQ's that is not here yet.
pub(super) fn other_channel(verb: &str, parameter: &Parameter<'_>) -> Result<(), SyntaxError> {
    let types = parameter.values.as_deref().unwrap_or_default();
    match types {
        [item] if nouns::has(nouns::OTHER_CHANNELS, &item.text) => {
            let command = format!("{verb} CHANNEL ... CHLTYPE({})", item.text);
            Err(fault::not_here(item.start, command))
        }
        _ => Ok(()),
    }
}

fn unknown_attribute(
    text: &str,
    setting: Setting,
    kind: ObjectKind,
    parameter: &Parameter<'_>,
) -> SyntaxError {
    let word = parameter.word;
    let elsewhere = ObjectKind::ALL
        .into_iter()
        .find_map(|other| by_keyword(other, word).map(|attribute| (other, attribute)));
    if let Some((other, attribute)) = elsewhere {
        let keyword = attribute.keyword;
        let detail =
            format!("{keyword} is an attribute of another kind of object: {other}, not {kind}");
        return fault::syntax(text, parameter.start, parameter.word_end, detail);
    }
    let mut candidates: Vec<&str> = crate::table::attributes(kind)
        .filter(|attribute| attribute.set != Set::ReadOnly)
        .map(|attribute| attribute.keyword)
        .collect();
    candidates.extend(match setting {
        Setting::Define => &["REPLACE", "NOREPLACE", "LIKE"][..],
        Setting::Alter => &["FORCE"][..],
    });
    let command = format!("{} {}", setting.verb(), kind.noun());
    unknown_keyword(text, &command, parameter, &candidates)
}

/// What CHLTABLE of DELETE CHANNEL calls the name spaces of channels.
const CHANNEL_TABLES: [(&str, ObjectKind); 2] = [
    ("QMGRTAB", ObjectKind::SvrConn),
    ("CLNTTAB", ObjectKind::ClntConn),
];

/// The kind in the name space that CHLTABLE says.
fn channel_table(text: &str, parameter: &Parameter<'_>) -> Result<ObjectKind, SyntaxError> {
    let item = parameter.one_value(text)?;
    let named = CHANNEL_TABLES.iter().find(|(word, _)| *word == item.text);
    named.map(|(_, kind)| *kind).ok_or_else(|| {
        let detail = "CHLTABLE must be one of QMGRTAB, CLNTTAB".to_owned();
        fault::syntax(text, item.start, item.end, detail)
    })
}

/// What AUTHREC of DELETE says: whether the object's authority records stay.
fn keeps_authorities(text: &str, parameter: &Parameter<'_>) -> Result<bool, SyntaxError> {
    let item = parameter.one_value(text)?;
    match item.text.to_ascii_uppercase().as_str() {
        "YES" => Ok(false),
        "NO" => Ok(true),
        _ => {
            let detail = "AUTHREC must be one of YES, NO".to_owned();
            Err(fault::syntax(text, item.start, item.end, detail))
        }
    }
}

pub(super) fn delete(
    cursor: &mut Cursor<'_>,
    mut kind: ObjectKind,
    name: String,
) -> Result<Command, SyntaxError> {
    let mut how = Deletion::default();
    let mut stated = false;
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        let word = parameter.word.to_ascii_uppercase();
        let type_ = kind.row().type_.filter(|type_| type_.word != kind.noun());
        let typed = type_.and_then(|type_| by_selector(kind, type_.selector));
        match (word.as_str(), typed) {
            ("PURGE" | "NOPURGE", _) if kind.row().purge => {
                given.once(cursor.text, "PURGE", &parameter)?;
                parameter.bare(cursor.text)?;
                how.purge = word == "PURGE";
            }
            ("AUTHREC", _) if kind.row().authrec => {
                given.once(cursor.text, "AUTHREC", &parameter)?;
                how.keep_authorities = keeps_authorities(cursor.text, &parameter)?;
            }
            (_, Some(attribute)) if attribute.is_called(&word) => {
                given.once(cursor.text, attribute.keyword, &parameter)?;
                other_channel("DELETE", &parameter)?;
                value_of(cursor.text, attribute, &parameter)?;
                stated = true;
            }
            ("CHLTABLE", _) if CHANNEL_TABLES.iter().any(|(_, channel)| *channel == kind) => {
                given.once(cursor.text, "CHLTABLE", &parameter)?;
                let of_table = channel_table(cursor.text, &parameter)?;
                if stated && of_table != kind {
                    let detail = "CHLTABLE and CHLTYPE contradict each other".to_owned();
                    let (start, end) = (parameter.start, parameter.word_end);
                    return Err(fault::syntax(cursor.text, start, end, detail));
                }
                kind = of_table;
            }
            _ => {
                let command = format!("DELETE {}", kind.noun());
                let known = match (kind.row().purge, kind.row().authrec) {
                    (true, _) => &["PURGE", "NOPURGE", "AUTHREC"][..],
                    (false, true) => &["AUTHREC"],
                    (false, false) => &[],
                };
                return Err(unknown_keyword(cursor.text, &command, &parameter, known));
            }
        }
    }
    Ok(Command::Delete { kind, name, how })
}

/// DELETE SUB without a name: SUBID says which.
pub(super) fn end_subscription(cursor: &mut Cursor<'_>) -> Result<Command, SyntaxError> {
    let attribute = by_selector(ObjectKind::Sub, mq::MQBACF_SUB_ID);
    let mut id = None;
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        let Some(row) = attribute.filter(|row| row.is_called(parameter.word)) else {
            return Err(unknown_keyword(
                cursor.text,
                "DELETE SUB",
                &parameter,
                &["SUBID"],
            ));
        };
        given.once(cursor.text, "SUBID", &parameter)?;
        let value = value_of(cursor.text, row, &parameter)?;
        let whole = match value {
            Value::Bytes(bytes) => <[u8; 24]>::try_from(bytes.as_slice()).ok(),
            _ => None,
        };
        id = Some(whole.ok_or_else(|| {
            let detail = "SUBID must be 24 bytes in hexadecimal".to_owned();
            fault::syntax(cursor.text, parameter.start, parameter.end, detail)
        })?);
    }
    match id {
        Some(id) => Ok(Command::EndSubscription { id }),
        None => {
            let detail = "DELETE SUB needs a name or SUBID".to_owned();
            Err(fault::ended(cursor.text, detail))
        }
    }
}
