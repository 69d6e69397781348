//! MQCLOSE: a handle ends; a dynamic queue may end with it.

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use posthaste_recovery_log::Lsn;

use super::{Done, Verb};
use crate::catalogue::ChangeError;
use crate::queue::Queue;
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
        qm.discard(queue.clone());
    }
    deleted
}

/// The queue to delete, if the close option asks for that and the queue lets it.
fn to_delete(handle: &Handle, options: i32) -> Result<Option<Arc<Queue>>, Reason> {
    match options {
        MQCO_NONE => return Ok(None),
        MQCO_DELETE | MQCO_DELETE_PURGE => {}
        _ => return Err(Reason::OPTIONS_ERROR),
    }
    let Target::Queue { queue, .. } = &handle.target else {
        return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
    };
    let state = queue.lock();
    match state.attributes.definition_type {
        MQQDT_PERMANENT_DYNAMIC => {}
        MQQDT_TEMPORARY_DYNAMIC if handle.created_queue => return Ok(None),
        _ => return Err(Reason::OPTION_NOT_VALID_FOR_TYPE),
    }
    // What somebody else has deleted can only be closed.
    Ok((!state.deleted).then(|| queue.clone()))
}

impl Session {
    /// MQCLOSE. A permanent dynamic queue that is deleted while others have it open is gone for
    /// them too: their next call gets 2052.
    ///
    /// # Errors
    /// 2019 handle, 2045 option not valid for type, 2046 options, 2055 queue not empty or with
    /// uncommitted messages. 2241 (a message group is incomplete) is a warning.
    pub async fn close(&self, hobj: Hobj, options: i32) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        let qm = &session.qm;
        let mut end = None;
        let delete = to_delete(session.lock().handles.get(hobj)?, options)?;
        if let Some(queue) = delete {
            let purge = options == MQCO_DELETE_PURGE;
            let deleted = qm.catalogue.delete_open(qm, &queue, purge);
            end = deleted.or_else(refused)?;
        }
        let handle = session.lock().handles.remove(hobj)?;
        let mut wakes = Wakes::default();
        release(session, hobj, &handle, &mut wakes);
        wakes.wake();
        if let Some(end) = end
            && let Err(error) = qm.log.force(end).await
        {
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
        let incomplete = handle.group_put.incomplete() || handle.group_get.incomplete();
        Ok(Done {
            value: (),
            warning: if incomplete {
                Reason::INCOMPLETE_GROUP
            } else {
                Reason::NONE
            },
        })
    }
}

/// Why a dynamic queue could not be deleted.
fn refused(error: ChangeError) -> Result<Option<Lsn>, Reason> {
    match error {
        ChangeError::NotEmpty | ChangeError::Uncommitted => Err(Reason::Q_NOT_EMPTY),
        ChangeError::LogFull => Err(Reason::RESOURCE_PROBLEM),
        ChangeError::Failed(reason) => Err(reason),
        // Somebody else deleted it meanwhile.
        _ => Ok(None),
    }
}
