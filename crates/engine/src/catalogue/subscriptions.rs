//! DEFINE SUB: what a subscription needs beside its definition.
//!
//! Invariants: the managed queue is there before the definition that names it, and goes if that is not made; a
//! destination of this queue manager is a queue that there is when the subscription is defined.

use posthaste_command::{Attrs, Object, ObjectKind, Set, by_selector};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Name, Reason};

use super::ChangeError;
use crate::queue_manager::QueueManager;
use crate::resolution::{ours, resolve};
use crate::topics::managed::Made;

/// What a subscription takes over from the one that it is to be like: what can be given in its definition, but no queue
/// that is the other's own, and no topic object whose topic string is in TOPICSTR already.
pub(super) fn likeness(object: &Object) -> Attrs {
    let settable = |selector: i32| {
        by_selector(object.kind, selector).is_some_and(|row| row.set != Set::ReadOnly)
    };
    let values = object.attrs.iter();
    let mut like: Attrs = values
        .filter(|(selector, _)| settable(*selector))
        .map(|(selector, value)| (selector, value.clone()))
        .collect();
    if like.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED {
        like.set_text(MQCACF_DESTINATION, "");
        like.set_text(MQCACF_DESTINATION_Q_MGR, "");
    }
    if object.attrs.int(MQIACF_SUB_TYPE) == MQSUBTYPE_API {
        like.set_text(MQCA_TOPIC_NAME, "");
    }
    // Each has its own, unless one was given.
    if like.get(MQBACF_DESTINATION_CORREL_ID) == object.attrs.get(MQBACF_SUB_ID) {
        like.remove(MQBACF_DESTINATION_CORREL_ID);
    }
    like
}

impl QueueManager {
    /// Whether a definition names a queue that there is, where that can be known here.
    fn check_destination(&self, attrs: &Attrs) -> Result<(), ChangeError> {
        let qm = self.inner();
        let destination = attrs.text(MQCACF_DESTINATION);
        if destination.is_empty() {
            return Err(ChangeError::NoDestination);
        }
        let manager = Name::new(attrs.text(MQCACF_DESTINATION_Q_MGR));
        let found = || resolve(qm, &Name::new(destination), &manager);
        match ours(qm, &manager) && !matches!(found(), Ok(Ok(_))) {
            true => Err(ChangeError::UnknownDestination(destination.to_owned())),
            false => Ok(()),
        }
    }

    /// Whether a subscription can be altered so, as far as its destination goes.
    ///
    /// # Errors
    /// `NoDestination` none is left; `UnknownDestination`.
    pub(super) fn check_new_destination(
        &self,
        name: &str,
        changes: &Attrs,
    ) -> Result<(), ChangeError> {
        let selectors = [MQCACF_DESTINATION, MQCACF_DESTINATION_Q_MGR];
        if selectors.iter().all(|s| changes.get(*s).is_none()) {
            return Ok(());
        }
        let Some(known) = self.inner().catalogue.object(ObjectKind::Sub, name) else {
            return Ok(());
        };
        if known.attrs.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED {
            // It keeps its queue, which the catalogue sees to.
            return Ok(());
        }
        let mut attrs = known.attrs;
        attrs.merge(changes);
        self.check_destination(&attrs)
    }

    /// Makes what a subscription that is to be defined needs, and says so in its definition.
    ///
    /// # Errors
    /// `NoDestination` it names no queue, or names one and is to have a managed one; `UnknownDestination`; 2503, 2436 the
    /// topic forbids it; what is wrong with its topic string or its selection string; why no queue could be made.
    pub(super) async fn prepare_subscription(
        &self,
        object: &mut Object,
        replace: bool,
    ) -> Result<Option<Made>, ChangeError> {
        let qm = self.inner();
        let mut probe = object.clone();
        let Some(subscription) = qm.read_subscription(&mut probe, None)? else {
            return Ok(None);
        };
        let known = qm.catalogue.object(ObjectKind::Sub, &object.name);
        if known.is_some() && !replace {
            return Err(ChangeError::Exists(ObjectKind::Sub));
        }
        let managed = object.attrs.int(MQIACF_DESTINATION_CLASS) == MQDC_MANAGED;
        if managed != object.attrs.text(MQCACF_DESTINATION).is_empty() {
            return Err(ChangeError::NoDestination);
        }
        let rules = qm
            .catalogue
            .topic_objects
            .rules(subscription.filter.branch());
        let forbidden = match (rules.subscribe, rules.durable) {
            (false, _) => Some(Reason::SUB_INHIBITED),
            (_, false) => Some(Reason::DURABILITY_NOT_ALLOWED),
            _ => None,
        };
        if let Some(reason) = forbidden.filter(|_| known.is_none()) {
            return Err(ChangeError::Failed(reason));
        }
        if !managed {
            return self.check_destination(&object.attrs).map(|()| None);
        }
        if let Some(known) = known {
            // It keeps its queue. That it is a managed one cannot be changed, which is found later.
            for selector in [MQCACF_DESTINATION, MQCACF_DESTINATION_Q_MGR] {
                let kept = known.attrs.text(selector).to_owned();
                object.attrs.set_text(selector, kept);
            }
            return Ok(None);
        }
        let made = qm.make_managed(rules.model(true), true).await;
        let made = made.map_err(ChangeError::Failed)?;
        if let Some(queue) = made.queue() {
            let name = queue.name.text().into_owned();
            object.attrs.set_text(MQCACF_DESTINATION, name);
            object.attrs.set_text(MQCACF_DESTINATION_Q_MGR, self.name());
        }
        Ok(Some(made))
    }
}
