//! DEFINE, ALTER and DELETE (manual: "DEFINE queues", "ALTER CHANNEL", "DELETE QLOCAL", ...).

use super::cursor::{Cursor, Parameter};
use super::values::{check_name, value_of};
use super::{Given, fault, nouns, unknown_keyword};
use crate::attrs::Attrs;
use crate::command::{Command, SyntaxError};
use crate::object::{ObjectKind, Set};
use crate::table::by_keyword;
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
struct Said {
    attrs: Attrs,
    replace: bool,
    like: Option<String>,
    force: bool,
    channel_type: bool,
}

pub(super) fn set(
    cursor: &mut Cursor<'_>,
    setting: Setting,
    kind: ObjectKind,
    name: String,
) -> Result<Command, SyntaxError> {
    let mut said = Said::default();
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        one(
            cursor.text,
            setting,
            kind,
            &parameter,
            &mut said,
            &mut given,
        )?;
    }
    if kind == ObjectKind::SvrConn && setting == Setting::Define && !said.channel_type {
        let detail = "DEFINE CHANNEL needs CHLTYPE, for example CHLTYPE(SVRCONN)".to_owned();
        return Err(fault::syntax(
            cursor.text,
            cursor.text.len(),
            cursor.text.len(),
            detail,
        ));
    }
    Ok(match setting {
        Setting::Define => Command::Define {
            kind,
            name,
            replace: said.replace,
            like: said.like,
            attrs: said.attrs,
        },
        Setting::Alter => Command::Alter {
            kind,
            name,
            attrs: said.attrs,
            force: said.force,
        },
    })
}

fn one(
    text: &str,
    setting: Setting,
    kind: ObjectKind,
    parameter: &Parameter<'_>,
    said: &mut Said,
    given: &mut Given,
) -> Result<(), SyntaxError> {
    let word = parameter.word.to_ascii_uppercase();
    match (word.as_str(), setting) {
        ("REPLACE" | "NOREPLACE", Setting::Define) => {
            given.once(text, "REPLACE", parameter)?;
            parameter.bare(text)?;
            said.replace = word == "REPLACE";
            return Ok(());
        }
        ("LIKE", Setting::Define) => {
            given.once(text, "LIKE", parameter)?;
            let item = parameter.one_value(text)?;
            if item.text.is_empty() {
                return Err(fault::name(item.start, "LIKE needs a name".to_owned()));
            }
            check_name(&item.text, kind.name_length(), item.start, "LIKE")?;
            said.like = Some(item.text.clone());
            return Ok(());
        }
        ("FORCE", Setting::Alter) if kind.is_queue() || kind == ObjectKind::Qmgr => {
            given.once(text, "FORCE", parameter)?;
            parameter.bare(text)?;
            said.force = true;
            return Ok(());
        }
        _ => {}
    }
    let Some(attribute) = by_keyword(kind, &word) else {
        return Err(unknown_attribute(text, setting, kind, parameter));
    };
    given.once(text, attribute.keyword, parameter)?;
    if attribute.set == Set::ReadOnly {
        let detail = format!("{} can be shown but not set", attribute.keyword);
        return Err(fault::syntax(
            text,
            parameter.start,
            parameter.word_end,
            detail,
        ));
    }
    if attribute.selector == mq::MQIACH_CHANNEL_TYPE {
        said.channel_type = true;
        other_channel(setting.verb(), parameter)?;
    }
    let value = value_of(text, attribute, parameter)?;
    let stated_only = attribute.set == Set::CreateOnly && setting == Setting::Alter;
    if !stated_only {
        said.attrs.set(attribute.selector, value);
    }
    Ok(())
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
        let detail = format!("{keyword} is an attribute of {other}s, not of {kind}s");
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

pub(super) fn delete(
    cursor: &mut Cursor<'_>,
    kind: ObjectKind,
    name: String,
) -> Result<Command, SyntaxError> {
    let mut purge = false;
    let mut given = Given::default();
    while let Some(parameter) = cursor.parameter()? {
        let word = parameter.word.to_ascii_uppercase();
        match (word.as_str(), kind) {
            ("PURGE" | "NOPURGE", ObjectKind::QLocal) => {
                given.once(cursor.text, "PURGE", &parameter)?;
                parameter.bare(cursor.text)?;
                purge = word == "PURGE";
            }
            ("CHLTYPE", ObjectKind::SvrConn) => {
                given.once(cursor.text, "CHLTYPE", &parameter)?;
                other_channel("DELETE", &parameter)?;
                if let Some(attribute) = by_keyword(kind, "CHLTYPE") {
                    value_of(cursor.text, attribute, &parameter)?;
                }
            }
            _ => {
                let command = format!("DELETE {}", kind.noun());
                let known = match kind {
                    ObjectKind::QLocal => &["PURGE", "NOPURGE"][..],
                    _ => &[],
                };
                return Err(unknown_keyword(cursor.text, &command, &parameter, known));
            }
        }
    }
    Ok(Command::Delete { kind, name, purge })
}
