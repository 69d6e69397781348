//! MQCLOSE: a handle ends; a dynamic queue or a subscription may end with it.
//!
//! Invariant: who has been told that a queue or a subscription is gone, whoever has deleted it, does not find it after a crash.

use std::sync::Arc;

use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Reason};
use posthaste_recovery_log::Lsn;

use super::release::{release, release_list};
use super::{Done, Verb};
use crate::catalogue::ChangeError;
use crate::consume::waiter::Wakes;
use crate::handles::{Handle, Open, OpenSubscription, Target, is_list};
use crate::manager::Inner;
use crate::queue::Queue;
use crate::session::{Session, SessionInner};

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
    if handle.managed {
        // It goes with its subscription.
        return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
    }
    match queue.lock().attributes.definition_type {
        MQQDT_PERMANENT_DYNAMIC => {}
        MQQDT_TEMPORARY_DYNAMIC if handle.created_queue => return Ok(None),
        _ => return Err(Reason::OPTION_NOT_VALID_FOR_TYPE),
    }
    Ok(Some(queue.clone()))
}

impl Session {
    /// MQCLOSE. A permanent dynamic queue that is deleted while others have it open is gone for
    /// them too: their next call gets 2052.
    ///
    /// # Errors
    /// 2019 handle, 2045 option not valid for type, 2035 it may not be deleted or removed, 2046 options, 2055 queue not empty or with
    /// uncommitted messages, 2429 the subscription is in use. 2241 (a message group is incomplete) is a warning.
    pub async fn close(&self, hobj: Hobj, options: i32) -> Verb<()> {
        let session = self.inner();
        let _call = session.enter()?;
        session.settled().await?;
        let qm = &session.qm;
        let hsub = session.lock().handles.subscription(hobj);
        if let Ok(opened) = hsub {
            return session.close_subscription(hobj, &opened, options).await;
        }
        if is_list(hobj) {
            return session.close_list(hobj, options);
        }
        let mut end = None;
        let delete = {
            let mut state = session.lock();
            let handle = state.handles.get(hobj)?;
            let queue = to_delete(handle, options)?;
            queue.map(|queue| (queue, handle.created_queue))
        };
        if let Some((queue, is_maker)) = delete {
            // What somebody else has deleted can only be closed.
            if !is_maker && !queue.lock().deleted {
                let caller = session.caller(("MQCLOSE", options)).await?;
                caller.may_delete(qm, &queue.name.text())?;
            }
            let purge = options == MQCO_DELETE_PURGE;
            let delete = || qm.catalogue.delete_open(qm, &queue, purge);
            let deleted = qm.with_log_room(delete).await;
            end = deleted.or_else(|error| refused(qm, error))?;
        }
        let Open::Object(handle) = session.lock().handles.remove(hobj)? else {
            return Err(Reason::HOBJ_ERROR);
        };
        let mut wakes = Wakes::default();
        release(session, hobj, &handle, &mut wakes);
        wakes.wake();
        session.forced(end).await?;
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

impl SessionInner {
    /// Closes a distribution list.
    fn close_list(self: &Arc<Self>, hobj: Hobj, options: i32) -> Verb<()> {
        let mut state = self.lock();
        state.handles.list(hobj)?;
        match options {
            MQCO_NONE | MQCO_QUIESCE => {}
            MQCO_DELETE | MQCO_DELETE_PURGE => return Err(Reason::OPTION_NOT_VALID_FOR_TYPE),
            _ => return Err(Reason::OPTIONS_ERROR),
        }
        let Open::List(list) = state.handles.remove(hobj)? else {
            return Err(Reason::HOBJ_ERROR);
        };
        drop(state);
        let mut wakes = Wakes::default();
        release_list(self, hobj, &list, &mut wakes);
        wakes.wake();
        let warning = match list.group_put.incomplete() {
            true => Reason::INCOMPLETE_GROUP,
            false => Reason::NONE,
        };
        Ok(Done { value: (), warning })
    }

    /// Closes a handle on a subscription. With MQCO_REMOVE_SUB a durable one ends, unless somebody else uses it; one
    /// that is not durable ends with its last handle.
    async fn close_subscription(
        &self,
        hobj: Hobj,
        opened: &OpenSubscription,
        options: i32,
    ) -> Verb<()> {
        let qm = &self.qm;
        let found = qm.topics.found(&opened.id);
        let durable = found.map(|found| found.subscription.durable);
        match options {
            MQCO_NONE | MQCO_REMOVE_SUB => {}
            MQCO_KEEP_SUB if durable != Some(false) => {}
            MQCO_KEEP_SUB | MQCO_DELETE | MQCO_DELETE_PURGE => {
                return Err(Reason::OPTION_NOT_VALID_FOR_TYPE);
            }
            _ => return Err(Reason::OPTIONS_ERROR),
        }
        let end = match (options, durable) {
            (MQCO_REMOVE_SUB, Some(true)) => self.remove(opened).await?,
            (MQCO_REMOVE_SUB, None) => Some(qm.log.appended()),
            _ => None,
        };
        self.lock().handles.remove(hobj)?;
        qm.end_use(&opened.id, self.id);
        self.forced(end).await?;
        Ok(Done::ok(()))
    }

    /// Ends a durable subscription by its handle, unless somebody has ended it meanwhile. Gives where the log says so at the latest.
    async fn remove(&self, opened: &OpenSubscription) -> Result<Option<Lsn>, Reason> {
        let qm = &self.qm;
        let caller = self.removing(&opened.user).await?;
        let Some(found) = qm.topics.found(&opened.id) else {
            return Ok(Some(qm.log.appended()));
        };
        caller.may_remove(qm, &found.subscription, &opened.user)?;
        if found.users.iter().any(|user| *user != self.id) {
            return Err(Reason::SUBSCRIPTION_IN_USE);
        }
        let remove = || qm.end_subscription(&found.subscription);
        let removed = qm.with_log_room(remove).await;
        removed.or_else(|error| refused(qm, error))
    }

    async fn forced(&self, end: Option<Lsn>) -> Result<(), Reason> {
        let Some(end) = end else {
            return Ok(());
        };
        let forced = self.qm.log.force(end).await;
        forced.map(drop).map_err(|error| {
            self.qm.log_failed(&error);
            Reason::CONNECTION_BROKEN
        })
    }
}

/// Why a dynamic queue or a subscription could not be deleted; or, if somebody else has deleted it, where the log says so at the
/// latest: he may be waiting for that still.
fn refused(qm: &Inner, error: ChangeError) -> Result<Option<Lsn>, Reason> {
    match error {
        ChangeError::NotEmpty | ChangeError::Uncommitted(_) => Err(Reason::Q_NOT_EMPTY),
        // A subscription has it.
        ChangeError::InUse(_) => Err(Reason::OPTION_NOT_VALID_FOR_TYPE),
        ChangeError::Failed(reason) | ChangeError::NotRunning(reason) => Err(reason),
        _ => Ok(Some(qm.log.appended())),
    }
}
