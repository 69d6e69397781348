//! Name resolution: from the names of a queue and a queue manager to what they mean here.
//!
//! Invariants (MQI reference, "Name resolution"): a queue name is looked up among all kinds of queue. An alias leads to
//! its target once; a model queue is for its opener to make a dynamic queue of; a remote queue definition, or a queue
//! manager name that is not ours, leads to a transmission queue. Nothing is made, and nothing is opened.

use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_mqi::constants::*;
use posthaste_mqi::{Name, Reason};

use crate::authority_service::Authorised;
use crate::catalogue::{Alias, Definition, Runtime};
use crate::handles::{Handle, OpenTopic, Target};
use crate::manager::Inner;
use crate::names::valid_name;
use crate::queue::Queue;
use crate::topics::subscription::PublicationCount;

/// What a name came to.
pub(crate) struct Resolved {
    pub(crate) target: Target,
    pub(crate) opened: Definition,
    pub(crate) q_name: Name,
    pub(crate) q_mgr_name: Name,
    pub(crate) created_queue: bool,
    /// Only putting is possible: there is no local definition, or a queue manager alias led here.
    pub(crate) output_only: bool,
}

impl Resolved {
    pub(crate) fn local(
        opened: Definition,
        queue: Arc<Queue>,
        alias: Option<Arc<Alias>>,
        qm: &Inner,
    ) -> Self {
        Resolved {
            q_name: queue.name,
            q_mgr_name: Name::new(&qm.config.name),
            target: Target::Queue {
                queue,
                alias,
                by_manager: None,
            },
            opened,
            created_queue: false,
            output_only: false,
        }
    }
}

impl Resolved {
    /// A handle on it. `last_change`: the last one before it was resolved.
    pub(crate) fn handle(self, last_change: u32, options: i32, authorised: Authorised) -> Handle {
        Handle {
            last_change,
            ..Handle::new(self.target, self.opened, options, authorised)
        }
    }

    /// A topic by its whole topic string.
    ///
    /// # Errors
    /// 2425 it is none.
    pub(crate) fn topic(
        string: &str,
        opened: Definition,
        alias: Option<Arc<Alias>>,
    ) -> Result<Self, Reason> {
        posthaste_topic::check(string).map_err(|_| Reason::TOPIC_STRING_ERROR)?;
        let open = OpenTopic {
            string: string.to_owned(),
            alias,
            by_manager: None,
            published: PublicationCount::default(),
        };
        Ok(Resolved {
            target: Target::Topic(Arc::new(open)),
            opened,
            q_name: Name::default(),
            q_mgr_name: Name::default(),
            created_queue: false,
            output_only: false,
        })
    }
}

/// Whether a queue manager name means this queue manager.
pub(crate) fn ours(qm: &Inner, name: &Name) -> bool {
    name.is_blank() || name.text() == qm.config.name
}

/// A transmission queue by name, checked.
fn transmission(qm: &Inner, name: &str) -> Result<Arc<Queue>, Reason> {
    let definition = qm.catalogue.queue(name).ok_or(Reason::UNKNOWN_XMIT_Q)?;
    let Runtime::Local(queue) = definition.runtime() else {
        return Err(Reason::XMIT_Q_TYPE_ERROR);
    };
    if !queue.attributes().transmission {
        return Err(Reason::XMIT_Q_USAGE_ERROR);
    }
    Ok(queue.clone())
}

/// The transmission queue to another queue manager: named, or of that name, or the default one; and whether it is that.
fn route(qm: &Inner, q_mgr: &str, named: &str) -> Result<(Arc<Queue>, bool), Reason> {
    let stated = |name| Ok((transmission(qm, name)?, false));
    if !named.is_empty() {
        return stated(named);
    }
    if qm.catalogue.queue(q_mgr).is_some() {
        return stated(q_mgr);
    }
    let default = qm.catalogue.qmgr().default_xmit_q.clone();
    if default.is_empty() {
        return Err(Reason::UNKNOWN_REMOTE_Q_MGR);
    }
    let queue = transmission(qm, &default).map_err(|reason| match reason {
        Reason::XMIT_Q_TYPE_ERROR => Reason::DEF_XMIT_Q_TYPE_ERROR,
        Reason::XMIT_Q_USAGE_ERROR => Reason::DEF_XMIT_Q_USAGE_ERROR,
        _ => Reason::UNKNOWN_DEF_XMIT_Q,
    })?;
    Ok((queue, true))
}

fn remote(
    qm: &Inner,
    opened: Definition,
    alias: Option<Arc<Alias>>,
    definition: Option<Definition>,
    (queue, q_mgr): (Name, Name),
    named: &str,
) -> Result<Resolved, Reason> {
    let (transmission, by_default) = route(qm, &q_mgr.text(), named)?;
    Ok(Resolved {
        target: Target::Remote {
            transmission,
            by_default,
            by_manager: None,
            alias,
            definition,
            names: Box::new((queue, q_mgr)),
        },
        opened,
        q_name: queue,
        q_mgr_name: q_mgr,
        created_queue: false,
        output_only: false,
    })
}

/// Follows an alias, once.
fn follow(qm: &Inner, opened: &Definition, alias: Arc<Alias>) -> Result<Resolved, Reason> {
    let target = opened.text(MQCA_BASE_OBJECT_NAME);
    if opened.int(MQIA_BASE_TYPE) == MQOT_TOPIC {
        let topic = qm.catalogue.find(ObjectKind::Topic, &target);
        let topic = topic.ok_or(Reason::UNKNOWN_ALIAS_BASE_Q)?;
        let string = topic.text(MQCA_TOPIC_STRING);
        return Resolved::topic(&string, opened.clone(), Some(alias));
    }
    let base = qm
        .catalogue
        .queue(&target)
        .ok_or(Reason::UNKNOWN_ALIAS_BASE_Q)?;
    match (base.kind(), base.runtime()) {
        (_, Runtime::Local(queue)) => Ok(Resolved::local(
            opened.clone(),
            queue.clone(),
            Some(alias),
            qm,
        )),
        (ObjectKind::QRemote, _) => remote_definition(qm, opened.clone(), &base, Some(alias)),
        _ => Err(Reason::ALIAS_BASE_Q_TYPE_ERROR),
    }
}

fn remote_definition(
    qm: &Inner,
    opened: Definition,
    definition: &Definition,
    alias: Option<Arc<Alias>>,
) -> Result<Resolved, Reason> {
    let queue = Name::new(&definition.text(MQCA_REMOTE_Q_NAME));
    let q_mgr = Name::new(&definition.text(MQCA_REMOTE_Q_MGR_NAME));
    if queue.is_blank() {
        return Err(Reason::REMOTE_Q_NAME_ERROR);
    }
    // A definition that leads nowhere else is in error, even if it names a transmission queue.
    if ours(qm, &q_mgr) {
        return Err(Reason::UNKNOWN_REMOTE_Q_MGR);
    }
    remote(
        qm,
        opened,
        alias,
        Some(definition.clone()),
        (queue, q_mgr),
        &definition.text(MQCA_XMIT_Q_NAME),
    )
}

/// Resolves a queue of another queue manager, by that queue manager's name.
fn resolve_elsewhere(qm: &Inner, name: &Name, q_mgr: &Name) -> Result<Resolved, Reason> {
    if !valid_name(&q_mgr.text()) {
        return Err(Reason::UNKNOWN_OBJECT_Q_MGR);
    }
    if name.is_blank() {
        return Err(Reason::REMOTE_Q_NAME_ERROR);
    }
    let Some(definition) = qm.catalogue.queue(&q_mgr.text()) else {
        return by_name(qm, name, q_mgr);
    };
    match definition.kind() {
        ObjectKind::QLocal => by_name(qm, name, q_mgr),
        // A remote definition without a queue name is a queue manager alias.
        ObjectKind::QRemote if definition.text(MQCA_REMOTE_Q_NAME).is_empty() => {
            let real = Name::new(&definition.text(MQCA_REMOTE_Q_MGR_NAME));
            if real.is_blank() {
                return Err(Reason::UNKNOWN_REMOTE_Q_MGR);
            }
            let mut resolved = if ours(qm, &real) {
                let here = resolve(qm, name, &Name::default())?;
                let mut here = here.map_err(|_model| Reason::Q_TYPE_ERROR)?;
                here.target = here.target.led_to_by(definition);
                here
            } else {
                let named = definition.text(MQCA_XMIT_Q_NAME);
                remote(qm, definition.clone(), None, None, (*name, real), &named)?
            };
            resolved.output_only = true;
            Ok(resolved)
        }
        _ => Err(Reason::UNKNOWN_REMOTE_Q_MGR),
    }
}

/// A queue of another queue manager whose transmission queue the name leads to.
fn by_name(qm: &Inner, name: &Name, q_mgr: &Name) -> Result<Resolved, Reason> {
    let (transmission, by_default) = route(qm, &q_mgr.text(), "")?;
    let opened = qm.catalogue.queue(&transmission.name.text());
    Ok(Resolved {
        target: Target::Remote {
            transmission,
            by_default,
            by_manager: None,
            alias: None,
            definition: None,
            names: Box::new((*name, *q_mgr)),
        },
        opened: opened.ok_or(Reason::UNKNOWN_XMIT_Q)?,
        q_name: *name,
        q_mgr_name: *q_mgr,
        created_queue: false,
        output_only: true,
    })
}

/// Resolves a queue name without making anything. The inner error is a model queue.
pub(crate) fn resolve(
    qm: &Inner,
    name: &Name,
    q_mgr: &Name,
) -> Result<Result<Resolved, Definition>, Reason> {
    if !ours(qm, q_mgr) {
        return resolve_elsewhere(qm, name, q_mgr).map(Ok);
    }
    let definition = qm
        .catalogue
        .queue(&name.text())
        .ok_or(Reason::UNKNOWN_OBJECT_NAME)?;
    match (definition.kind(), definition.runtime().clone()) {
        (_, Runtime::Local(queue)) => Ok(Ok(Resolved::local(definition, queue, None, qm))),
        (_, Runtime::Alias(alias)) => follow(qm, &definition, alias).map(Ok),
        (ObjectKind::QRemote, _) => {
            remote_definition(qm, definition.clone(), &definition, None).map(Ok)
        }
        _ => Ok(Err(definition)),
    }
}
