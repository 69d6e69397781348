//! MQSET: the few queue attributes that a program may change.

use posthaste_command::{Attrs, ObjectKind, Value, by_selector};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};

use super::{Done, Verb};
use crate::catalogue::{ChangeError, Definition};
use crate::session::Session;

fn value_error(selector: i32) -> Reason {
    match selector {
        MQIA_TRIGGER_CONTROL => Reason::TRIGGER_CONTROL_ERROR,
        MQIA_TRIGGER_DEPTH => Reason::TRIGGER_DEPTH_ERROR,
        MQIA_TRIGGER_MSG_PRIORITY => Reason::TRIGGER_MSG_PRIORITY_ERR,
        MQIA_TRIGGER_TYPE => Reason::TRIGGER_TYPE_ERROR,
        _ => Reason::INHIBIT_VALUE_ERROR,
    }
}

/// Reads the changes; nothing is changed when one of them is wrong.
fn changes(
    definition: &Definition,
    selectors: &[i32],
    ints: &[i32],
    chars: &[u8],
) -> Result<Attrs, Reason> {
    let mut out = Attrs::default();
    let (mut ints, mut chars) = (ints.iter(), chars);
    for selector in selectors {
        let kinds = ObjectKind::QUEUES.iter();
        if !kinds
            .filter_map(|kind| by_selector(*kind, *selector))
            .any(|attribute| attribute.mqset)
        {
            return Err(Reason::SELECTOR_ERROR);
        }
        let attribute = by_selector(definition.kind(), *selector)
            .filter(|attribute| attribute.mqset)
            .ok_or(Reason::SELECTOR_NOT_FOR_TYPE)?;
        if (MQIA_FIRST..=MQIA_LAST).contains(selector) {
            let value = *ints.next().ok_or(Reason::INT_ATTR_COUNT_ERROR)?;
            if !attribute.accepts(&Value::from(value)) {
                return Err(value_error(*selector));
            }
            out.set_int(*selector, value);
        } else {
            let (value, rest) = chars
                .split_at_checked(attribute.char_length)
                .ok_or(Reason::CHAR_ATTR_LENGTH_ERROR)?;
            chars = rest;
            let text = String::from_utf8_lossy(value);
            let text = text.split('\0').next().unwrap_or_default();
            out.set_text(*selector, text.trim_end());
        }
    }
    Ok(out)
}

impl Session {
    /// MQSET. The change is forced to the log when it returns.
    ///
    /// # Errors
    /// 2019, 2041 handle, 2040 not open for set, 2067, 2068 selector, 2020, 2075–2078 value, 2006, 2021
    /// lengths, 2102 log full.
    pub async fn set(&self, hobj: Hobj, selectors: &[i32], ints: &[i32], chars: &[u8]) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let qm = &session.qm;
        let definition = {
            let mut state = session.lock();
            let handle = state.handles.get_single(hobj, Reason::NOT_OPEN_FOR_SET)?;
            handle.unchanged(&qm.catalogue.changes)?;
            if handle.options & MQOO_SET == 0 {
                return Err(Reason::NOT_OPEN_FOR_SET);
            }
            handle.opened.clone()
        };
        let changes = changes(&definition, selectors, ints, chars)?;
        let (kind, name) = (definition.kind(), definition.name());
        // None of what MQSET changes matters to who has the queue open.
        let alter = || qm.catalogue.alter(qm, kind, name, &changes, &|_, _| Ok(()));
        match qm.with_log_room(alter).await {
            Ok(Some(end)) => {
                if let Err(error) = qm.log.force(end).await {
                    qm.log_failed(&error);
                    return Err(Reason::CONNECTION_BROKEN);
                }
                qm.log_space.note_progress(end);
            }
            Ok(None) => {}
            Err(ChangeError::Failed(reason) | ChangeError::NotRunning(reason)) => {
                return Err(reason);
            }
            Err(_) => return Err(Reason::OBJECT_CHANGED),
        }
        Ok(Done::ok(()))
    }
}
