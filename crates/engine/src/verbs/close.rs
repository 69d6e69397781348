//! MQCLOSE: a handle ends; a dynamic queue may end with it.

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};

use super::{Done, Verb};
use crate::queue::waiters::Wakes;
use crate::session::{Handle, Session, SessionInner, Target};
use crate::trigger;

/// Takes a handle out of its queue's counts.
pub(crate) fn count_out(target: &Target, options: i32) {
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    match target {
        Target::Queue { queue, .. } => {
            let mut state = queue.lock();
            if options & input != 0 {
                state.open_input -= 1;
                state.exclusive = false;
            }
            if options & MQOO_BROWSE != 0 {
                state.open_browse -= 1;
            }
            if options & MQOO_OUTPUT != 0 {
                state.open_output -= 1;
            }
            if options & (input | MQOO_BROWSE | MQOO_OUTPUT) == 0 {
                state.open_browse -= 1;
            }
        }
        Target::Remote { transmission, .. } => transmission.lock().open_output -= 1,
        Target::Qmgr | Target::Definition => {}
    }
}

/// Ends a handle without options: as a broken connection does, and as MQCLOSE with MQCO_NONE.
/// Returns true when the handle's temporary dynamic queue went with it.
pub(crate) fn release(
    session: &Arc<SessionInner>,
    hobj: Hobj,
    handle: &Handle,
    wakes: &mut Wakes,
) -> bool {
    if let Target::Queue { queue, .. } = &handle.target {
        queue.lock().browse_unlock((session.id, hobj), wakes);
    }
    count_out(&handle.target, handle.options);
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    if handle.options & input != 0
        && let Target::Queue { queue, .. } = &handle.target
    {
        trigger::closed(&session.qm, queue);
    }
    handle.created_queue && delete_temporary(session, handle)
}

/// Deletes the temporary dynamic queue that a handle created, with its messages.
fn delete_temporary(session: &Arc<SessionInner>, handle: &Handle) -> bool {
    let Target::Queue { queue, .. } = &handle.target else {
        return false;
    };
    let deleted = {
        let mut state = queue.lock();
        let temporary = state.attributes.temporary();
        if temporary {
            state.deleted = true;
        }
        temporary
    };
    if deleted {
        let qm = &session.qm;
        let mut wakes = Wakes::default();
        queue.lock().waiters.end_all(Reason::Q_DELETED, &mut wakes);
        wakes.wake();
        qm.catalogue
            .remove(ObjectKind::QLocal, &queue.name.text(), queue.id);
        qm.retire(queue.clone());
    }
    deleted
}

/// What a close option asks for, checked against the queue.
fn check_delete(handle: &Handle, options: i32) -> Result<bool, Reason> {
    match options {
        MQCO_NONE => return Ok(false),
        MQCO_DELETE | MQCO_DELETE_PURGE => {}
        _ => return Err(Reason::OPTIONS_ERROR),
    }
    let Target::Queue { queue, .. } = &handle.target else {
        return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
    };
    let state = queue.lock();
    match state.attributes.definition_type {
        MQQDT_PERMANENT_DYNAMIC => {}
        MQQDT_TEMPORARY_DYNAMIC if handle.created_queue => return Ok(false),
        _ => return Err(Reason::OPTION_NOT_VALID_FOR_TYPE),
    }
    let others = state.open_input + state.open_output + state.open_browse;
    let own = own_counts(handle.options);
    if others > own {
        return Err(Reason::OBJECT_IN_USE);
    }
    let uncommitted = state.pending_puts > 0 || state.uncommitted_gets > 0;
    if uncommitted || (options == MQCO_DELETE && state.index.used() > 0) {
        return Err(Reason::Q_NOT_EMPTY);
    }
    Ok(true)
}

/// How often one handle counts in its queue.
fn own_counts(options: i32) -> u32 {
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    let counts = u32::from(options & input != 0)
        + u32::from(options & MQOO_BROWSE != 0)
        + u32::from(options & MQOO_OUTPUT != 0);
    counts.max(1)
}

impl Session {
    /// MQCLOSE.
    ///
    /// # Errors
    /// 2019 handle, 2045 option not valid for type, 2046 options, 2055 queue not empty or with
    /// uncommitted messages, 2042 others have the permanent dynamic queue open.
    pub async fn close(&self, hobj: Hobj, options: i32) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let delete = {
            let mut state = session.lock();
            check_delete(state.handles.get(hobj)?, options)?
        };
        let handle = session.lock().handles.remove(hobj)?;
        let mut wakes = Wakes::default();
        release(session, hobj, &handle, &mut wakes);
        wakes.wake();
        if delete && let Target::Queue { queue, .. } = &handle.target {
            let name = queue.name.text().into_owned();
            let qm = &session.qm;
            let deleted =
                qm.catalogue
                    .delete(qm, ObjectKind::QLocal, &name, options == MQCO_DELETE_PURGE);
            match deleted {
                Ok(Some(end)) => {
                    if let Err(error) = qm.log.force(end).await {
                        qm.log_failed(&error);
                        return Err(Reason::CONNECTION_BROKEN);
                    }
                }
                Ok(None) => {}
                // Somebody opened it in the meantime: the handle is closed, the queue stays.
                Err(_) => {
                    return Ok(Done {
                        value: (),
                        warning: Reason::OBJECT_IN_USE,
                    });
                }
            }
        }
        Ok(Done::ok(()))
    }
}
