//! MQCLOSE: a handle ends; a dynamic queue may end with it.

use std::sync::Arc;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use posthaste_recovery_log::Lsn;

use super::release::release;
use super::{Done, Verb};
use crate::catalogue::ChangeError;
use crate::consume::waiter::Wakes;
use crate::handles::{Handle, Target};
use crate::queue::Queue;
use crate::session::Session;

/// The queue to delete, if the close option asks for that and the queue lets it.
fn to_delete(handle: &Handle, options: i32) -> Result<Option<Arc<Queue>>, Reason> {
    match options {
        // What has been sent ahead is with a client's library, which sees to it.
        MQCO_NONE | MQCO_QUIESCE => return Ok(None),
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
        session.settled().await?;
        let qm = &session.qm;
        let mut end = None;
        let delete = to_delete(session.lock().handles.get(hobj)?, options)?;
        if let Some(queue) = delete {
            let purge = options == MQCO_DELETE_PURGE;
            let delete = || qm.catalogue.delete_open(qm, &queue, purge);
            end = qm.with_log_room(delete).await.or_else(refused)?;
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
        ChangeError::NotEmpty | ChangeError::Uncommitted(_) => Err(Reason::Q_NOT_EMPTY),
        ChangeError::Failed(reason) | ChangeError::NotRunning(reason) => Err(reason),
        // Somebody else deleted it meanwhile.
        _ => Ok(None),
    }
}
