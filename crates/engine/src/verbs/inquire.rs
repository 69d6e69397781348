//! MQINQ: attributes of an open object.
//!
//! Source: MQ reference, "MQINQ - Inquire object attributes" (Selectors).
//!
//! Invariant: a selector that no object of this type has ends the call (2067); queues are one type, and what only queues of
//! another kind have is answered as not applicable, with a warning (2068).

use posthaste_command::{Attribute, Object, ObjectKind, Value, by_selector};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};

use super::{Done, Inquired, Verb};
use crate::catalogue::{Definition, Runtime};
use crate::session::Session;

/// Integer attributes that are true of the moment and stand in no definition.
fn live(definition: &Definition, selector: i32) -> Option<i32> {
    let Runtime::Local(queue) = definition.runtime() else {
        return None;
    };
    let state = queue.lock();
    let value = match selector {
        MQIA_CURRENT_Q_DEPTH => state.depth(),
        MQIA_OPEN_INPUT_COUNT => state.open_input.get(),
        MQIA_OPEN_OUTPUT_COUNT => state.open_output.get(),
        MQIA_TRIGGER_CONTROL => u32::from(state.attributes.trigger.is_some()),
        _ => return None,
    };
    Some(i32::try_from(value).unwrap_or(i32::MAX))
}

/// The texts of a character attribute: one, but for a list.
fn texts(object: &Object, attribute: &Attribute) -> Vec<String> {
    match object.value(attribute) {
        Value::Text(text) => vec![text],
        Value::Texts(texts) => texts,
        Value::Date(date) => vec![date.to_string()],
        Value::Time(time) => vec![time.to_string()],
        _ => vec![String::new()],
    }
}

/// The number of an integer attribute.
fn number(object: &Object, attribute: &Attribute) -> i32 {
    match object.value(attribute) {
        Value::Int(number) => i32::try_from(number).unwrap_or(i32::MAX),
        _ => 0,
    }
}

/// The length of a character attribute that other platforms' objects have and that clients ask for
/// everywhere: it is blank here.
fn elsewhere(kind: ObjectKind, selector: i32) -> Option<usize> {
    match (kind, selector) {
        (ObjectKind::Qmgr, MQCA_QSG_NAME) => Some(MQ_QSG_NAME_LENGTH as usize),
        _ => None,
    }
}

/// The attribute behind a selector, on whatever kind of object of the same type; `None`: there is none such.
fn known(kind: ObjectKind, selector: i32) -> Option<&'static Attribute> {
    let type_of_object = match ObjectKind::QUEUES.contains(&kind) {
        true => &ObjectKind::QUEUES[..],
        false => std::slice::from_ref(&kind),
    };
    let mut found = type_of_object
        .iter()
        .filter_map(|kind| by_selector(*kind, selector));
    found.find(|attribute| attribute.inquire)
}

fn inquire(definition: &Definition, selectors: &[i32]) -> Verb<Inquired> {
    let mut out = Inquired::default();
    let mut warning = Reason::NONE;
    let object = definition.object();
    let kind = object.kind;
    for selector in selectors {
        if let Some(width) = elsewhere(kind, *selector) {
            out.chars.resize(out.chars.len() + width, b' ');
            continue;
        }
        let anywhere = known(kind, *selector).ok_or(Reason::SELECTOR_ERROR)?;
        let attribute = by_selector(kind, *selector).filter(|a| a.inquire);
        match *selector {
            MQIA_FIRST..=MQIA_LAST => {
                let value = live(definition, *selector)
                    .or_else(|| attribute.map(|attribute| number(&object, attribute)));
                // What only queues of another kind have: -1 and a warning
                // (MQINQ, "MQIAV_NOT_APPLICABLE").
                out.ints.push(value.unwrap_or(MQIAV_NOT_APPLICABLE));
                if value.is_none() {
                    warning = Reason::SELECTOR_NOT_FOR_TYPE;
                }
            }
            MQCA_FIRST..=MQCA_LAST => {
                let width = anywhere.char_length;
                match attribute.map(|attribute| texts(&object, attribute)) {
                    Some(texts) => {
                        for text in texts {
                            let bytes = text.as_bytes();
                            let length = bytes.len().min(width);
                            out.chars.extend_from_slice(&bytes[..length]);
                            out.chars.resize(out.chars.len() + width - length, b' ');
                        }
                    }
                    None => {
                        warning = Reason::SELECTOR_NOT_FOR_TYPE;
                        out.chars.resize(out.chars.len() + width, b'*');
                    }
                }
            }
            _ => return Err(Reason::SELECTOR_ERROR),
        }
    }
    Ok(Done {
        value: out,
        warning,
    })
}

impl Session {
    /// MQINQ.
    ///
    /// # Errors
    /// 2019, 2041 handle, 2038 not open for inquire, 2067 selector; 2068 (selector not for this type) is
    /// a warning.
    pub async fn inquire(&self, hobj: Hobj, selectors: &[i32]) -> Verb<Inquired> {
        let session = self.inner();
        let _call = session.enter()?;
        let definition = {
            let mut state = session.lock();
            let handle = state
                .handles
                .get_single(hobj, Reason::NOT_OPEN_FOR_INQUIRE)?;
            handle.unchanged(&session.qm.catalogue.changes)?;
            if handle.options & MQOO_INQUIRE == 0 {
                return Err(Reason::NOT_OPEN_FOR_INQUIRE);
            }
            handle.opened.clone()
        };
        inquire(&definition, selectors)
    }
}
