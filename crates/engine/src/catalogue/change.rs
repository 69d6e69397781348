//! Changing definitions: define, alter, delete, clear.
//!
//! Invariants: see the head of `catalogue`. A change returns the end of its log record; whoever
//! asked for it answers once that is forced.

use std::sync::Arc;

use posthaste_command::{Attribute, Attrs, Deletion, Object, ObjectKind, Set, attributes};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::*;
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use super::holders::Holder;
use super::impact::Impact;
use super::{Catalogue, Definition, Runtime, Stored};
use crate::authority_service::NoEntity;
use crate::consume::waiter::Wakes;
use crate::delivery;
use crate::manager::Inner;
use crate::queue::Queue;
use crate::record::{self, QueueId};
use crate::topics::administrative::BASE_TOPIC;
use crate::topics::subscription::{SubId, Subscription};
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::verbs::clock;

/// Why a definition was not changed, or a queue not cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeError {
    /// The queue manager takes no commands (any more).
    NotRunning(Reason),
    /// What it was to be called is no name of this kind.
    BadName,
    /// What is asked for is not in this release: the selectors of the attributes that ask for it.
    NotSupported(Vec<i32>),
    /// There is such an object, of this kind.
    Exists(ObjectKind),
    /// There is none.
    NotFound,
    /// There is one of that name, but of this other kind.
    WrongKind(ObjectKind),
    /// There is no such user, or no such group; or it could not be found out.
    Entity(NoEntity),
    /// Somebody has it open: these, as far as they could be found.
    InUse(Vec<Holder>),
    /// Somebody has it open in a way, or it has messages, so that only FORCE changes this of it: who, as far as they could be
    /// found.
    NeedsForce(Vec<Holder>),
    /// An attribute, by its selector, that an object which there is keeps for ever.
    Fixed(i32),
    /// A topic object is to be about no topic string.
    NoTopicString,
    /// Another topic object, of this name, is about the topic string.
    TopicStringTaken(String),
    /// A subscription names no queue for its messages, or names one and is to have a managed one.
    NoDestination,
    /// The queue of this name, to which a subscription's messages are to go, is not there.
    UnknownDestination(String),
    /// The queue has messages (`DELETE` without `PURGE`).
    NotEmpty,
    /// The queue has uncommitted messages: of these, as far as they could be found.
    Uncommitted(Vec<Holder>),
    /// The log has no room for the record: there may be some later.
    LogFull,
    /// The record was written and could not be forced; the queue manager stops.
    NotForced,
    /// Why a channel authentication record was not set.
    ChlAuth(ChlAuthError),
    /// Anything else.
    Failed(Reason),
}

/// Why a channel authentication record was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChlAuthError {
    /// This is no pattern of addresses, because.
    Address(String, String),
    /// This is no pattern of the names of certificates, because.
    Peer(String, String),
    /// The record with this key has a range that overlaps.
    Overlap(String),
    /// There is a record with this key.
    Exists(String),
    /// A list may have only so many items.
    TooMany(usize),
    /// The attribute with this keyword names users one by one, and this, with an asterisk, is nobody's name.
    User(&'static str, String),
}

impl From<LogError> for ChangeError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Full => ChangeError::LogFull,
            _ => ChangeError::Failed(Reason::CONNECTION_BROKEN),
        }
    }
}

/// Attributes whose change may make messages that are already there a trigger event.
const TRIGGERS: [i32; 7] = [
    MQIA_INHIBIT_GET,
    MQIA_TRIGGER_CONTROL,
    MQIA_TRIGGER_DEPTH,
    MQIA_TRIGGER_MSG_PRIORITY,
    MQIA_TRIGGER_TYPE,
    MQCA_INITIATION_Q_NAME,
    MQCA_PROCESS_NAME,
];

/// What a change of an object may make trigger events of.
struct Changed {
    /// Messages that are on this queue already.
    its_own: bool,
    /// Those on the queues that it is the initiation queue of.
    of_others: bool,
}

impl Changed {
    fn of(before: &Attrs, after: &Attrs) -> Changed {
        let differs = |selector: &i32| before.get(*selector) != after.get(*selector);
        Changed {
            its_own: TRIGGERS.iter().any(differs),
            of_others: [MQIA_INHIBIT_GET, MQIA_INHIBIT_PUT].iter().any(differs),
        }
    }

    fn follow(self, qm: &Arc<Inner>, definition: &Definition) {
        let Runtime::Local(queue) = definition.runtime() else {
            return;
        };
        if self.its_own {
            delivery::definition_changed(qm, queue);
        }
        if self.of_others {
            delivery::initiation_ready(qm, queue);
        }
    }
}

/// Whether it is one of the two topic objects that have no topic string.
fn is_root(object: &Object) -> bool {
    let names = [BASE_TOPIC, ObjectKind::Topic.row().default_object];
    names.contains(&object.name.as_str()) && object.attrs.text(MQCA_TOPIC_STRING).is_empty()
}

/// Where the record of a change begins; a temporary queue has none.
pub(super) fn start(logged: Option<Appended>) -> Lsn {
    logged.map_or(Lsn(0), |logged| logged.start)
}

/// Two subscriptions of a group with one topic string would be one.
fn alone_in_its_group(qm: &Inner, subscription: Option<&Subscription>) -> Result<(), ChangeError> {
    match subscription.is_some_and(|of| qm.topics.is_in_group(of)) {
        true => Err(ChangeError::Failed(Reason::DUPLICATE_GROUP_SUB)),
        false => Ok(()),
    }
}

/// Whether a definition may become what the attributes say. It is asked while no definition changes.
pub(crate) type May<'a> = &'a dyn Fn(&Definition, &Attrs) -> Result<(), ChangeError>;

/// What came of a definition.
pub(crate) struct Defined {
    pub(crate) definition: Definition,
    /// Where its record ends; none: it has none.
    pub(crate) end: Option<Lsn>,
    /// There was nothing of its name.
    pub(crate) new: bool,
}

impl Catalogue {
    /// Defines an object; with `replace`, gives an existing one of the same kind these attributes if it may have them.
    pub(crate) fn define(
        &self,
        qm: &Arc<Inner>,
        object: Object,
        replace: Option<May<'_>>,
    ) -> Result<Defined, ChangeError> {
        self.define_for(qm, object, replace, None)
    }

    /// The same; on a subscription that is new, `user` (a connection, at a time) has a handle.
    pub(crate) fn define_for(
        &self,
        qm: &Arc<Inner>,
        mut object: Object,
        replace: Option<May<'_>>,
        user: Option<(u64, i64)>,
    ) -> Result<Defined, ChangeError> {
        let order = self.order.lock();
        let mut queue = 0;
        let mut before = None;
        match self.find(object.kind, &object.name) {
            Some(known) if replace.is_none() => return Err(ChangeError::Exists(known.kind())),
            Some(known) if known.kind() != object.kind => {
                return Err(ChangeError::WrongKind(known.kind()));
            }
            Some(known) => {
                queue = known.queue_id();
                let attrs = before.insert(known.attrs());
                for selector in [MQCA_CREATION_DATE, MQCA_CREATION_TIME] {
                    if let Some(created) = attrs.get(selector) {
                        object.attrs.set(selector, created.clone());
                    }
                }
                if let Some(may) = replace {
                    may(&known, &object.attrs)?;
                }
            }
            None if qm.topics.has(object.kind, &object.name) => {
                return Err(ChangeError::Exists(object.kind));
            }
            None => {
                if object.kind == ObjectKind::QLocal {
                    queue = qm.numbers.take_queue();
                }
                let (date, time) = clock::display_stamp(qm.env.clock.wall_micros());
                object.attrs.set(MQCA_CREATION_DATE, date.into());
                object.attrs.set(MQCA_CREATION_TIME, time.into());
            }
        }
        self.check(&object, before.as_ref())?;
        let subscription = qm.read_subscription(&mut object, before.as_ref())?;
        alone_in_its_group(qm, subscription.as_ref())?;
        let logged = self.log_object(qm, &mut object, queue)?;
        let impact = before
            .as_ref()
            .map(|before| Impact::of(object.kind, before, &object.attrs));
        let changed = before.as_ref().map(|before| Changed {
            its_own: true,
            ..Changed::of(before, &object.attrs)
        });
        let definition = self.applied(object, queue, start(logged));
        self.void_handles(&definition, &impact.unwrap_or_default());
        if let Some(subscription) = subscription {
            let end = logged.map(|logged| logged.end);
            qm.topics.define(subscription, user, end);
        }
        drop(order);
        match changed {
            Some(changed) => changed.follow(qm, &definition),
            None if definition.kind() == ObjectKind::Process => {
                delivery::process_defined(qm, &definition.object().name);
            }
            None => {}
        }
        Ok(Defined {
            definition,
            end: logged.map(|logged| logged.end),
            new: before.is_none(),
        })
    }

    /// Changes some attributes of an object, if it may have them.
    pub(crate) fn alter(
        &self,
        qm: &Arc<Inner>,
        kind: ObjectKind,
        name: &str,
        changes: &Attrs,
        may: May<'_>,
    ) -> Result<Option<Lsn>, ChangeError> {
        let order = self.order.lock();
        let known = match kind {
            ObjectKind::Qmgr => self.qmgr_definition(),
            _ => self.find(kind, name),
        };
        let known = known.ok_or(ChangeError::NotFound)?;
        if known.kind() != kind {
            return Err(ChangeError::WrongKind(known.kind()));
        }
        let (end, changed) = self.alter_known(qm, &known, changes, may)?;
        drop(order);
        changed.follow(qm, &known);
        Ok(end)
    }

    /// Makes of a subscription, durable or not, what `change` makes of it as it is at that moment, so that nothing is lost that
    /// somebody else alters meanwhile; none: it stays as it is.
    pub(crate) fn alter_subscription(
        &self,
        qm: &Arc<Inner>,
        id: &SubId,
        change: &dyn Fn(&Subscription) -> Result<Option<Subscription>, ChangeError>,
    ) -> Result<(), ChangeError> {
        let _order = self.order.lock();
        let now = qm.topics.found(id).ok_or(ChangeError::NotFound)?;
        let Some(after) = change(&now.subscription)? else {
            return Ok(());
        };
        if !after.durable {
            return match qm.topics.replace(after, None) {
                true => Ok(()),
                false => Err(ChangeError::NotFound),
            };
        }
        let object = after.object();
        let known = self.find(object.kind, &object.name);
        let known = known.ok_or(ChangeError::NotFound)?;
        let altered = self.alter_known(qm, &known, &object.attrs, &|_, _| Ok(()));
        altered.map(drop)
    }

    /// Changes some attributes of an object; the caller holds `order`. Gives where its record ends, and what may be a trigger event
    /// now.
    fn alter_known(
        &self,
        qm: &Arc<Inner>,
        known: &Definition,
        changes: &Attrs,
        may: May<'_>,
    ) -> Result<(Option<Lsn>, Changed), ChangeError> {
        let mut object = known.object();
        let before = object.attrs.clone();
        object.attrs.merge(changes);
        may(known, &object.attrs)?;
        let changed = Changed::of(&before, &object.attrs);
        let queue = known.queue_id();
        let subscription = qm.read_subscription(&mut object, Some(&before))?;
        alone_in_its_group(qm, subscription.as_ref())?;
        let logged = self.log_object(qm, &mut object, queue)?;
        let impact = Impact::of(known.kind(), &before, &object.attrs);
        let definition = self.applied(object, queue, start(logged));
        self.void_handles(&definition, &impact);
        let end = logged.map(|logged| logged.end);
        if let Some(subscription) = subscription {
            qm.topics.define(subscription, None, end);
        }
        Ok((end, changed))
    }

    /// A queue has triggered by its depth and does so no more (TRIGGER becomes NOTRIGGER). A full log does not hinder
    /// that: the definition that an image has next says so, and at worst the queue triggers again after a crash.
    pub(crate) fn switch_trigger_off(&self, qm: &Arc<Inner>, queue: &Queue) {
        let _order = self.order.lock();
        let Some(known) = self.queue(&queue.name.text()) else {
            return;
        };
        if known.queue_id() != queue.id {
            return;
        }
        let (mut object, before) = known.saved();
        object.attrs.set_int(MQIA_TRIGGER_CONTROL, MQTC_OFF);
        let changed = match self.log_object(qm, &mut object, queue.id) {
            Ok(logged) => start(logged),
            Err(_) => before,
        };
        self.applied(object, queue.id, changed);
    }

    /// What hinders a definition from being `object`, which was `before` if it is there; the caller holds `order`.
    fn check(&self, object: &Object, before: Option<&Attrs>) -> Result<(), ChangeError> {
        let now = |selector: i32| object.attrs.get(selector);
        let changed = |row: &&Attribute| {
            row.set == Set::DefineOnly
                && before.is_some_and(|before| before.get(row.selector) != now(row.selector))
        };
        if object.kind == ObjectKind::Topic && !is_root(object) {
            match object.attrs.text(MQCA_TOPIC_STRING) {
                "" => return Err(ChangeError::NoTopicString),
                topic if before.is_none() && posthaste_topic::check(topic).is_err() => {
                    return Err(ChangeError::Failed(Reason::TOPIC_STRING_ERROR));
                }
                topic => match self.topic_objects.about(topic) {
                    Some(other) if other != object.name => {
                        return Err(ChangeError::TopicStringTaken(other));
                    }
                    _ => {}
                },
            }
        }
        match attributes(object.kind).find(changed) {
            Some(row) => Err(ChangeError::Fixed(row.selector)),
            None => Ok(()),
        }
    }

    pub(super) fn log_object(
        &self,
        qm: &Arc<Inner>,
        object: &mut Object,
        queue: QueueId,
    ) -> Result<Option<Appended>, ChangeError> {
        let (date, time) = clock::display_stamp(qm.env.clock.wall_micros());
        object.attrs.set(MQCA_ALTERATION_DATE, date.into());
        object.attrs.set(MQCA_ALTERATION_TIME, time.into());
        let temporary = object.kind == ObjectKind::QLocal
            && object.attrs.int(MQIA_DEFINITION_TYPE) == MQQDT_TEMPORARY_DYNAMIC;
        if temporary {
            return Ok(None);
        }
        let mut stored = Vec::new();
        Stored::encode(object, queue, &mut stored);
        let appended = qm
            .log
            .append(Class::Ordinary, &[&record::object(queue, &stored)])?;
        Ok(Some(appended))
    }

    pub(super) fn applied(&self, object: Object, queue: QueueId, changed: Lsn) -> Definition {
        let definition = self.restore(object, queue, changed);
        let mut wakes = Wakes::default();
        match definition.runtime() {
            Runtime::Local(queue) => {
                let mut state = queue.lock();
                match state.attributes.get_inhibited {
                    true => state.waiters.inhibit(&mut wakes),
                    false => state.waiters.allow(&mut wakes),
                }
            }
            Runtime::Alias(alias) => {
                // Whatever it stood for when they opened it.
                for queue in self.local_queues() {
                    let mut state = queue.lock();
                    match alias.get_inhibited() {
                        true => state.waiters.inhibit_alias(alias, &mut wakes),
                        false => state.waiters.allow(&mut wakes),
                    }
                }
            }
            _ => {}
        }
        wakes.wake();
        definition
    }

    /// Deletes an object, if it `may` go. A local queue must not be open, nor that of a subscription which the queue manager made
    /// it for, nor have messages unless it is purged.
    pub(crate) fn delete(
        &self,
        qm: &Arc<Inner>,
        (kind, name): (ObjectKind, &str),
        how: Deletion,
        may: &dyn Fn(&Definition) -> Result<(), ChangeError>,
    ) -> Result<Option<Lsn>, ChangeError> {
        let order = self.order.lock();
        let known = self.find(kind, name).ok_or(ChangeError::NotFound)?;
        // A noun that means several kinds of one name space means whichever has the name.
        if known.kind().noun() != kind.noun() {
            return Err(ChangeError::WrongKind(known.kind()));
        }
        may(&known)?;
        let end = self.delete_known(qm, &known, how, false)?;
        if known.kind() != ObjectKind::Sub {
            return Ok(end);
        }
        let ended = qm.topics.remove_named(name);
        drop(order);
        if let Some(ended) = ended {
            qm.subscription_ended(&ended);
        }
        Ok(end)
    }

    /// Deletes a durable subscription, unless another one has its name now, or it is not to go as it is now (`goes`).
    pub(crate) fn delete_subscription(
        &self,
        qm: &Arc<Inner>,
        subscription: &Subscription,
        goes: impl FnOnce(&Subscription) -> bool,
    ) -> Result<Option<Lsn>, ChangeError> {
        let order = self.order.lock();
        let known = self.find(ObjectKind::Sub, &subscription.name);
        let known = known.ok_or(ChangeError::NotFound)?;
        let ended = qm.topics.found(&subscription.id);
        let ended = ended.ok_or(ChangeError::NotFound)?.subscription;
        // It is altered under the same order.
        if !goes(&ended) {
            return Err(ChangeError::NotFound);
        }
        let end = self.delete_known(qm, &known, Deletion::default(), false)?;
        qm.topics.remove_if(&ended.id, |_| true);
        drop(order);
        qm.subscription_ended(&ended);
        Ok(end)
    }

    /// Deletes a queue on behalf of somebody who has it open, whoever else has.
    pub(crate) fn delete_open(
        &self,
        qm: &Arc<Inner>,
        queue: &Queue,
        purge: bool,
    ) -> Result<Option<Lsn>, ChangeError> {
        let _order = self.order.lock();
        let known = self.queue(&queue.name.text());
        match known {
            Some(known) if known.queue_id() == queue.id => {
                self.delete_known(qm, &known, Deletion::purging(purge), true)
            }
            _ => Err(ChangeError::NotFound),
        }
    }

    /// Deletes an object; the caller holds `order`.
    pub(super) fn delete_known(
        &self,
        qm: &Arc<Inner>,
        known: &Definition,
        how: Deletion,
        even_open: bool,
    ) -> Result<Option<Lsn>, ChangeError> {
        if let Runtime::Local(queue) = known.runtime() {
            if qm.topics.manages(&queue.name) {
                return Err(ChangeError::InUse(Vec::new()));
            }
            let mut state = queue.lock();
            if state.is_uncommitted() {
                return Err(ChangeError::Uncommitted(Vec::new()));
            }
            if !even_open && state.is_open() || state.keeps_retained() {
                return Err(ChangeError::InUse(Vec::new()));
            }
            if !how.purge && (state.index.used() > 0 || state.damage.is_some()) {
                return Err(ChangeError::NotEmpty);
            }
            state.deleted = true;
        }
        let (kind, name) = (known.kind(), known.name());
        let queue = known.queue_id();
        let logged = || {
            // First, so that a crash between the two leaves no records without their object: nobody has authorities on a later
            // one of the name by records of this one, unless it is asked for.
            let end = match how.keep_authorities {
                true => None,
                false => self.forget_authorities(qm, known)?,
            };
            if !known.logged() {
                return Ok(end);
            }
            let record = record::deleted(queue, kind.row().stored, name);
            let appended = qm.log.append(Class::Essential, &[&record])?;
            Ok(Some(appended.end))
        };
        let end = match logged() {
            Ok(end) => end,
            Err(error) => {
                if let Runtime::Local(queue) = known.runtime() {
                    queue.lock().deleted = false;
                }
                return Err(error);
            }
        };
        self.remove(kind, name, queue);
        self.void_deleted(known);
        if let Runtime::Local(queue) = known.runtime() {
            let mut wakes = Wakes::default();
            queue.lock().waiters.end_all(Reason::Q_DELETED, &mut wakes);
            wakes.wake();
            qm.deleted.retire(queue.clone());
        }
        Ok(end)
    }

    /// Removes every message of a queue (`CLEAR QLOCAL`). The queue must not be open, nor have
    /// uncommitted messages. The messages are gone once what is returned is done.
    pub(crate) fn clear<'a>(
        &self,
        qm: &'a Arc<Inner>,
        name: &str,
    ) -> Result<Pending<'a>, ChangeError> {
        let _order = self.order.lock();
        let known = self.queue(name).ok_or(ChangeError::NotFound)?;
        let Runtime::Local(queue) = known.runtime() else {
            return Err(ChangeError::WrongKind(known.kind()));
        };
        let state = queue.lock();
        if state.is_uncommitted() {
            return Err(ChangeError::Uncommitted(Vec::new()));
        }
        if state.is_open() {
            return Err(ChangeError::InUse(Vec::new()));
        }
        // Under the queue's lock, so that every message listed now was put before `below`.
        let below = qm.next_seq();
        let pin = qm.units.hold(&qm.log, 0);
        let appended = qm
            .log
            .append(Class::Essential, &[&record::cleared(queue.id, below)])?;
        drop(state);
        Ok(Pending {
            qm,
            end: appended.end,
            effect: Some(Effect::Cleared {
                queue: queue.clone(),
                below,
                pin,
            }),
        })
    }
}
