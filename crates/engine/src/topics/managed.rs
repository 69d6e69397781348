//! Managed queues: those that the queue manager makes for a subscription, and deletes after it.
//!
//! Invariants:
//! * The managed queue of a durable subscription is permanent dynamic, any other temporary dynamic.
//! * The queue is defined before its subscription, and outlives it until nobody has it open any more. So a crash leaves at
//!   most a queue without a subscription, which the next start deletes. Nobody else deletes it while it has one.
//! * A queue that cannot be deleted, because a unit of work has to do with it or the log has no room, is tried again by
//!   maintenance.

use std::collections::HashSet;
use std::sync::Arc;

use posthaste_command::{Object, ObjectKind};
use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Name, Reason};

use crate::catalogue::{ChangeError, Runtime};
use crate::consume::waiter::Wakes;
use crate::manager::Inner;
use crate::queue::Queue;

/// What the names of managed queues begin with.
const DURABLE: &str = "SYSTEM.MANAGED.DURABLE.";
const NON_DURABLE: &str = "SYSTEM.MANAGED.NDURABLE.";

/// Whether a managed queue may be called so.
pub(super) fn is_managed_name(name: &str) -> bool {
    name.starts_with(DURABLE) || name.starts_with(NON_DURABLE)
}

/// A managed queue of which no subscription knows yet: it goes when none will.
pub(crate) struct Made {
    qm: Arc<Inner>,
    queue: Option<Arc<Queue>>,
}

impl Made {
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// A subscription has it now.
    pub(crate) fn taken(mut self) {
        self.queue = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            self.qm.abandon(&queue);
        }
        self.qm.topics.making.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a change of definitions was not made, as an application is told.
pub(crate) fn reason(error: ChangeError) -> Reason {
    match error {
        ChangeError::Failed(reason) | ChangeError::NotRunning(reason) => reason,
        ChangeError::Exists(_) => Reason::SUB_ALREADY_EXISTS,
        ChangeError::NotFound => Reason::NO_SUBSCRIPTION,
        ChangeError::BadName => Reason::SUB_NAME_ERROR,
        ChangeError::NotForced => Reason::CONNECTION_BROKEN,
        _ => Reason::UNEXPECTED_ERROR,
    }
}

impl Inner {
    /// Makes a managed queue after a model. Its record is not forced: whoever makes the subscription forces both.
    ///
    /// # Errors
    /// 2522 there is no such model, or it is one of temporary queues and the subscription durable; 2003, 2009, 2162.
    pub(crate) async fn make_managed(
        self: &Arc<Self>,
        model: &str,
        durable: bool,
    ) -> Result<Made, Reason> {
        let model = self.catalogue.object(ObjectKind::QModel, model);
        let model = model.ok_or(Reason::INVALID_DESTINATION)?;
        let mut attrs = model.attrs;
        let (prefix, kind) = match durable {
            true => (DURABLE, MQQDT_PERMANENT_DYNAMIC),
            false => (NON_DURABLE, MQQDT_TEMPORARY_DYNAMIC),
        };
        if durable && attrs.int(MQIA_DEFINITION_TYPE) == MQQDT_TEMPORARY_DYNAMIC {
            return Err(Reason::INVALID_DESTINATION);
        }
        attrs.set_int(MQIA_Q_TYPE, MQQT_LOCAL);
        attrs.set_int(MQIA_DEFINITION_TYPE, kind);
        let made = loop {
            let object = Object {
                kind: ObjectKind::QLocal,
                name: format!("{prefix}{:016X}", self.next_seq()),
                attrs: attrs.clone(),
            };
            let define = || self.catalogue.define(self, object.clone(), None);
            match self.with_log_room(define).await {
                // Somebody has defined a queue of that name, as a script of another queue manager's definitions does.
                Err(ChangeError::Exists(_)) => {}
                made => break made.map_err(reason)?,
            }
        };
        let Runtime::Local(queue) = made.definition.runtime() else {
            return Err(Reason::UNEXPECTED_ERROR);
        };
        self.topics.making.fetch_add(1, Ordering::Relaxed);
        Ok(Made {
            qm: Arc::clone(self),
            queue: Some(Arc::clone(queue)),
        })
    }

    /// No subscription has this managed queue any more: it goes, at the latest when nobody has it open.
    pub(crate) fn abandon(self: &Arc<Self>, queue: &Arc<Queue>) {
        queue.lock().abandoned = true;
        self.delete_abandoned(queue);
    }

    /// Deletes a managed queue that has no subscription, unless somebody has it open.
    pub(crate) fn delete_abandoned(self: &Arc<Self>, queue: &Arc<Queue>) {
        if !self.try_delete_abandoned(queue) {
            self.topics.defer(queue);
            self.kick.raise();
        }
    }

    /// Tries again what could not be deleted. What still cannot waits for maintenance's next look: to wake it at once would
    /// keep it at nothing else.
    pub(crate) fn delete_deferred(self: &Arc<Self>) {
        for queue in self.topics.take_deferred() {
            if !self.try_delete_abandoned(&queue) {
                self.topics.defer(&queue);
            }
        }
    }

    /// Deletes it if nobody has it open; false: it is to be tried again.
    fn try_delete_abandoned(self: &Arc<Self>, queue: &Arc<Queue>) -> bool {
        {
            let state = queue.lock();
            if !state.abandoned || state.deleted || state.is_open() {
                return true;
            }
        }
        if self.delete_temporary(queue) {
            return true;
        }
        // Not forced: should a crash bring the queue back, the next start finds it without a subscription.
        let deleted = self.catalogue.delete_open(self, queue, true);
        matches!(deleted, Ok(_) | Err(ChangeError::NotFound))
    }

    /// Deletes a temporary dynamic queue with its messages, whoever has it open; false: it is none, or is deleted.
    pub(crate) fn delete_temporary(&self, queue: &Arc<Queue>) -> bool {
        {
            let mut state = queue.lock();
            if !state.attributes.temporary() || state.deleted {
                return false;
            }
            state.deleted = true;
        }
        let mut wakes = Wakes::default();
        queue.lock().waiters.end_all(Reason::Q_DELETED, &mut wakes);
        wakes.wake();
        self.catalogue
            .remove(ObjectKind::QLocal, &queue.name.text(), queue.id);
        self.deleted.discard(queue.clone());
        true
    }

    /// Managed queues of durable subscriptions that a crash has left without one go (at start).
    pub(crate) fn delete_without_subscription(self: &Arc<Self>) {
        let mut managed = self.catalogue.local_queues();
        managed.retain(|queue| queue.name.text().starts_with(DURABLE));
        if managed.is_empty() {
            return;
        }
        // By the definitions: the queue of a subscription that this release cannot read is somebody's all the same.
        let taken: HashSet<_> = {
            let all = self.catalogue.objects(ObjectKind::Sub).into_iter();
            let managed = all.filter(|sub| sub.attrs.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED);
            managed
                .map(|sub| Name::new(sub.attrs.text(MQCACF_DESTINATION)))
                .collect()
        };
        for queue in managed {
            let dynamic = queue.attributes().definition_type == MQQDT_PERMANENT_DYNAMIC;
            if dynamic && !taken.contains(&queue.name) {
                self.abandon(&queue);
            }
        }
    }
}
