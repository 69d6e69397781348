//! Commands about authority records in PCF as those in MQSC (manual: "Set Authority Record", "Inquire Authority Records",
//! "Inquire Entity Authority", ...).
//!
//! Invariant: MQSC names one user or group in a command, so that a request which names several becomes as many commands.

use posthaste_mqi::Reason;
use posthaste_mqi::constants as mq;

use super::commands::{Form, PcfCommand, quoted};
use super::refusal::{Refusal, refused, refused_selector, unknown};
use super::text::CommandText;
use super::{Message, Value};
use crate::kinds::ObjectKind;
use crate::table::by_selector;

/// The parameters of a command that are none of its choices.
fn known(command: &PcfCommand) -> &'static [i32] {
    match command.number {
        mq::MQCMD_SET_AUTH_REC => &[
            mq::MQCACF_AUTH_PROFILE_NAME,
            mq::MQIACF_OBJECT_TYPE,
            mq::MQCACF_PRINCIPAL_ENTITY_NAMES,
            mq::MQCACF_GROUP_ENTITY_NAMES,
            mq::MQIACF_AUTH_ADD_AUTHS,
            mq::MQIACF_AUTH_REMOVE_AUTHS,
            mq::MQCACF_SERVICE_COMPONENT,
        ],
        mq::MQCMD_DELETE_AUTH_REC => &[
            mq::MQCACF_AUTH_PROFILE_NAME,
            mq::MQIACF_OBJECT_TYPE,
            mq::MQCACF_PRINCIPAL_ENTITY_NAMES,
            mq::MQCACF_GROUP_ENTITY_NAMES,
            mq::MQCACF_SERVICE_COMPONENT,
        ],
        mq::MQCMD_INQUIRE_AUTH_RECS => &[
            mq::MQCACF_AUTH_PROFILE_NAME,
            mq::MQIACF_OBJECT_TYPE,
            mq::MQCACF_ENTITY_NAME,
            mq::MQIACF_ENTITY_TYPE,
            mq::MQIACF_AUTH_PROFILE_ATTRS,
            mq::MQCACF_SERVICE_COMPONENT,
        ],
        mq::MQCMD_INQUIRE_ENTITY_AUTH => &[
            mq::MQCACF_OBJECT_NAME,
            mq::MQIACF_OBJECT_TYPE,
            mq::MQCACF_ENTITY_NAME,
            mq::MQIACF_ENTITY_TYPE,
            mq::MQIACF_AUTH_PROFILE_ATTRS,
            mq::MQCACF_SERVICE_COMPONENT,
        ],
        _ => &[mq::MQIACF_AUTH_SERVICE_ATTRS, mq::MQCACF_SERVICE_COMPONENT],
    }
}

/// What can be asked for, by its number; no word: it is in every answer.
const WANTED: [(i32, &str); 9] = [
    (mq::MQIACF_ALL, " ALL"),
    (mq::MQIACF_AUTHORIZATION_LIST, " AUTHLIST"),
    (mq::MQCACF_ENTITY_NAME, " ENTITY"),
    (mq::MQIACF_ENTITY_TYPE, " ENTTYPE"),
    (mq::MQIACF_INTERFACE_VERSION, " IFVER"),
    (mq::MQIACF_USER_ID_SUPPORT, " UIDSUPP"),
    (mq::MQCACF_AUTH_PROFILE_NAME, ""),
    (mq::MQIACF_OBJECT_TYPE, ""),
    (mq::MQCACF_SERVICE_COMPONENT, ""),
];

/// Several authorities at once.
const GROUPS: [(i32, &str); 3] = [
    (mq::MQAUTH_ALL, "ALL"),
    (mq::MQAUTH_ALL_ADMIN, "ALLADM"),
    (mq::MQAUTH_ALL_MQI, "ALLMQI"),
];

/// What the commands have in common, and what each adds: one for each user or group that the request names.
pub(super) fn commands(
    command: &PcfCommand,
    message: &Message,
) -> Result<(CommandText, Vec<(i32, String)>), Refusal> {
    let PcfCommand { verb, noun, .. } = command;
    let mut mqsc = CommandText::new(format!("{verb} {noun}"), command.name);
    let mut entities: Vec<(i32, String)> = Vec::new();
    let has = |id: i32| message.parameters.iter().any(|one| one.id == id);
    for (id, reason) in needed(command) {
        if !has(*id) {
            return refused(*reason, *id);
        }
    }
    let object = mq::MQCACF_OBJECT_NAME;
    let has_name = message.int(mq::MQIACF_OBJECT_TYPE) != Some(mq::MQOT_Q_MGR);
    if command.number == mq::MQCMD_INQUIRE_ENTITY_AUTH && has_name && !has(object) {
        return refused(Reason::CCF_PARM_COUNT_TOO_SMALL, object);
    }
    let changes = [mq::MQIACF_AUTH_ADD_AUTHS, mq::MQIACF_AUTH_REMOVE_AUTHS];
    if command.number == mq::MQCMD_SET_AUTH_REC && !changes.into_iter().any(has) {
        return refused(Reason::CCF_AUTH_VALUE_MISSING, mq::MQIACF_AUTH_ADD_AUTHS);
    }
    for parameter in &message.parameters {
        if let Some(word) = command.word(parameter)? {
            mqsc.push(word, parameter.id);
            continue;
        }
        let id = parameter.id;
        if !known(command).contains(&id) {
            return refused(unknown(&parameter.value), id);
        }
        match (id, &parameter.value) {
            (
                mq::MQCACF_PRINCIPAL_ENTITY_NAMES | mq::MQCACF_GROUP_ENTITY_NAMES,
                value @ (Value::Texts { .. } | Value::Text(_)),
            ) => {
                let word = match id {
                    mq::MQCACF_GROUP_ENTITY_NAMES => "GROUP",
                    _ => "PRINCIPAL",
                };
                let names = value.shown_texts();
                entities.extend(names.iter().map(|name| (id, entity(word, name))));
            }
            (mq::MQCACF_ENTITY_NAME, Value::Text(name)) => {
                let word = match message.int(mq::MQIACF_ENTITY_TYPE) {
                    Some(mq::MQZAET_PRINCIPAL) => "PRINCIPAL",
                    Some(mq::MQZAET_GROUP) => "GROUP",
                    _ => return refused(Reason::CCF_PARM_VALUE_ERROR, mq::MQIACF_ENTITY_TYPE),
                };
                entities.push((id, entity(word, &name.shown())));
            }
            (id, value) => mqsc.push(&parameter_of(command, id, value)?, id),
        }
    }
    let named = matches!(
        command.number,
        mq::MQCMD_SET_AUTH_REC | mq::MQCMD_DELETE_AUTH_REC
    );
    if entities.is_empty() {
        if named {
            let missing = mq::MQCACF_PRINCIPAL_ENTITY_NAMES;
            return refused(Reason::CCF_PARM_COUNT_TOO_SMALL, missing);
        }
        entities.push((0, String::new()));
    }
    Ok((mqsc, entities))
}

/// The options of an inquiry, which its answers repeat: those that are given, or that hold if none are.
pub(super) fn options(command: &PcfCommand, message: &Message) -> Option<i32> {
    let otherwise = match command.number {
        mq::MQCMD_INQUIRE_AUTH_RECS => {
            mq::MQAUTHOPT_ENTITY_EXPLICIT | mq::MQAUTHOPT_NAME_ALL_MATCHING
        }
        mq::MQCMD_INQUIRE_ENTITY_AUTH => mq::MQAUTHOPT_CUMULATIVE,
        _ => return None,
    };
    Some(message.int(mq::MQIACF_AUTH_OPTIONS).unwrap_or(otherwise))
}

fn entity(word: &str, name: &str) -> String {
    format!(" {word}({})", quoted(name))
}

/// What a command must have, and why it is refused otherwise.
fn needed(command: &PcfCommand) -> &'static [(i32, Reason)] {
    const OBJECT_TYPE: (i32, Reason) = (mq::MQIACF_OBJECT_TYPE, Reason::CCF_OBJECT_TYPE_MISSING);
    const PROFILE: (i32, Reason) = (
        mq::MQCACF_AUTH_PROFILE_NAME,
        Reason::CCF_PARM_COUNT_TOO_SMALL,
    );
    const ENTITY: (i32, Reason) = (mq::MQCACF_ENTITY_NAME, Reason::CCF_PARM_COUNT_TOO_SMALL);
    match command.number {
        mq::MQCMD_SET_AUTH_REC | mq::MQCMD_DELETE_AUTH_REC => &[PROFILE, OBJECT_TYPE],
        mq::MQCMD_INQUIRE_ENTITY_AUTH => &[OBJECT_TYPE, ENTITY],
        mq::MQCMD_INQUIRE_AUTH_RECS => &[PROFILE, OBJECT_TYPE],
        _ => &[],
    }
}

/// A parameter that names nobody.
fn parameter_of(command: &PcfCommand, id: i32, value: &Value) -> Result<String, Refusal> {
    let shows = matches!(command.form, Form::Inquire(_));
    match (id, value) {
        // All profiles are asked for by a blank one.
        (mq::MQCACF_AUTH_PROFILE_NAME, Value::Text(text)) if shows && text.shown().is_empty() => {
            Ok(String::new())
        }
        (mq::MQCACF_AUTH_PROFILE_NAME, Value::Text(text)) => {
            Ok(format!(" PROFILE({})", quoted(&text.shown())))
        }
        (mq::MQCACF_OBJECT_NAME, Value::Text(text)) => {
            Ok(format!(" OBJNAME({})", quoted(&text.shown())))
        }
        (mq::MQCACF_SERVICE_COMPONENT, Value::Text(text)) => {
            Ok(format!(" SERVCOMP({})", quoted(&text.shown())))
        }
        (mq::MQIACF_OBJECT_TYPE, Value::Int(mq::MQOT_ALL)) if shows => Ok(String::new()),
        (mq::MQIACF_OBJECT_TYPE, Value::Int(code)) => {
            let attribute = by_selector(ObjectKind::AuthRec, id);
            match attribute.and_then(|attribute| attribute.word_of(i64::from(*code))) {
                Some(word) => Ok(format!(" OBJTYPE({word})")),
                None => refused(Reason::CCF_PARM_VALUE_ERROR, id),
            }
        }
        // It stands before the name that it is about.
        (mq::MQIACF_ENTITY_TYPE, Value::Int(_)) => Ok(String::new()),
        (mq::MQIACF_AUTH_ADD_AUTHS, Value::Ints(codes)) => authorities("AUTHADD", id, codes),
        (mq::MQIACF_AUTH_REMOVE_AUTHS, Value::Ints(codes)) => authorities("AUTHRMV", id, codes),
        (mq::MQIACF_AUTH_PROFILE_ATTRS | mq::MQIACF_AUTH_SERVICE_ATTRS, Value::Ints(codes)) => {
            wanted(codes)
        }
        (id, value) => refused(unknown(value), id),
    }
}

fn authorities(keyword: &str, id: i32, codes: &[i32]) -> Result<String, Refusal> {
    let attribute = by_selector(ObjectKind::AuthRec, mq::MQIACF_AUTHORIZATION_LIST);
    let mut words = Vec::new();
    for code in codes {
        let group = GROUPS.iter().find(|(number, _)| number == code);
        let single = || attribute.and_then(|attribute| attribute.word_of(i64::from(*code)));
        match group.map(|(_, word)| *word).or_else(single) {
            Some(word) if words.contains(&word) => {}
            Some(word) => words.push(word),
            None => return refused(Reason::CCF_AUTH_VALUE_ERROR, id),
        }
    }
    match words.is_empty() {
        true => refused(Reason::CCF_AUTH_VALUE_MISSING, id),
        false => Ok(format!(" {keyword}({})", words.join(","))),
    }
}

fn wanted(selectors: &[i32]) -> Result<String, Refusal> {
    let mut words = String::new();
    for (at, selector) in selectors.iter().enumerate() {
        if selectors.iter().take(at).any(|other| other == selector) {
            return refused_selector(Reason::CCF_CFIL_DUPLICATE_VALUE, *selector);
        }
        match WANTED.iter().find(|(number, _)| number == selector) {
            Some((_, word)) => words.push_str(word),
            None => return refused_selector(Reason::SELECTOR_ERROR, *selector),
        }
    }
    Ok(words)
}
