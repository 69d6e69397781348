//! Object definitions: the one list of what exists.
//!
//! Invariants:
//! * A change appends its log record and is applied under one lock (`order`), so that the log
//!   holds changes in the order in which they were applied. It is answered once its record is
//!   forced.
//! * All kinds of queue share one name space.
//! * A definition is its attribute set; what verbs consult (`QueueAttributes`, `Alias`,
//!   `QmgrAttributes`, `TopicObjects`, `Rules` of CHLAUTH) is derived from it at every change.
//! * A definition has every attribute that has a default, whichever release stored it.
//! * The list's own lock is a leaf: nothing is locked while it is held.
//! * A definition knows the LSN of the record that made it what it is, so that restart never lets a
//!   record take the place of what is newer than itself.
//! * Temporary dynamic queues are not logged: they end with the connection that made them.

mod administer;
pub(crate) mod alias;
mod authorities;
mod change;
mod chlauth;
mod defaults;
mod holders;
mod impact;
pub(crate) mod last_change;
mod restore;
mod stored;
mod subscriptions;

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_chlauth::Rules;
use posthaste_command::{Attrs, Object, ObjectKind, Value, attributes};
use posthaste_env::sync::{Mutex, RwLock};
use posthaste_mqi::Name;
use posthaste_mqi::constants::*;
use posthaste_recovery_log::Lsn;

use crate::config::EngineConfig;
use crate::plant::{Bug, planted};
use crate::queue::{Queue, QueueAttributes, QueueHome};
use crate::record::QueueId;
use crate::topics::administrative::TopicObjects;
use authorities::AuthorityTable;
use last_change::{Changes, LastChange};

pub use administer::NewDefinition;
pub(crate) use alias::Alias;
pub use authorities::numbers as authority_numbers;
pub use change::{ChangeError, ChlAuthError};
pub(crate) use change::{Defined, May};
pub use defaults::COMMAND_QUEUE;
pub(crate) use defaults::{DELAY_QUEUE, RETAINED_QUEUE, is_own_store, system_objects};
pub use holders::{Held, HeldBy, Holder};
pub use restore::Restored;
pub(crate) use restore::add_missing;
pub(crate) use stored::Stored;

/// What stands behind a definition while the queue manager runs.
#[derive(Clone)]
pub(crate) enum Runtime {
    Local(Arc<Queue>),
    Alias(Arc<Alias>),
    /// Nothing but the definition.
    None,
}

struct Entry {
    kind: ObjectKind,
    name: String,
    current: RwLock<Current>,
    runtime: Runtime,
    /// Of one that has nothing behind it.
    last_change: LastChange,
}

/// What a definition says now.
struct Current {
    attrs: Attrs,
    /// Where the log record begins that said it; `Lsn(0)` when there is none.
    changed: Lsn,
}

/// A definition. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Definition(Arc<Entry>);

impl Definition {
    pub(crate) fn kind(&self) -> ObjectKind {
        self.0.kind
    }
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }
    pub(crate) fn attrs(&self) -> Attrs {
        self.0.current.read().attrs.clone()
    }
    pub(crate) fn int(&self, selector: i32) -> i32 {
        self.0.current.read().attrs.int(selector)
    }
    pub(crate) fn text(&self, selector: i32) -> String {
        self.0.current.read().attrs.text(selector).to_owned()
    }
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }
    pub(crate) fn object(&self) -> Object {
        self.saved().0
    }
    /// The definition and the LSN of the record that made it so, of one moment.
    pub(crate) fn saved(&self) -> (Object, Lsn) {
        let current = self.0.current.read();
        let object = Object {
            kind: self.0.kind,
            name: self.0.name.clone(),
            attrs: current.attrs.clone(),
        };
        (object, current.changed)
    }
    /// Whether what a log record at `lsn` says of this name is no news.
    fn knows(&self, lsn: Lsn) -> bool {
        self.0.current.read().changed >= lsn && !planted(Bug::RedoOlderDefinition)
    }
    /// The number of the local queue behind it; 0 for everything else.
    pub(crate) fn queue_id(&self) -> QueueId {
        match &self.0.runtime {
            Runtime::Local(queue) => queue.id,
            _ => 0,
        }
    }
    /// The last change of it after which its handles are void.
    pub(crate) fn last_change(&self) -> &LastChange {
        match &self.0.runtime {
            Runtime::Local(queue) => &queue.last_change,
            Runtime::Alias(alias) => &alias.last_change,
            Runtime::None => &self.0.last_change,
        }
    }
    /// Whether it is this one, and not one that has its name.
    pub(crate) fn is(&self, other: &Definition) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// Whether it outlives a restart.
    pub(crate) fn logged(&self) -> bool {
        self.0.kind != ObjectKind::QLocal
            || self.int(MQIA_DEFINITION_TYPE) != MQQDT_TEMPORARY_DYNAMIC
    }

    /// Replaces the attributes and everything derived from them.
    fn set(&self, attrs: Attrs, changed: Lsn) {
        match &self.0.runtime {
            Runtime::Local(queue) => {
                queue.set_attributes(QueueAttributes::of(&attrs));
            }
            Runtime::Alias(alias) => alias.update(&attrs),
            Runtime::None => {}
        }
        *self.0.current.write() = Current { attrs, changed };
    }
}

/// Attributes of the queue manager that verbs consult.
#[derive(Clone, Debug, Default)]
pub(crate) struct QmgrAttributes {
    pub(crate) max_handles: u32,
    pub(crate) max_msg_length: usize,
    pub(crate) max_uncommitted: usize,
    pub(crate) dead_letter_q: String,
    pub(crate) default_xmit_q: String,
    pub(crate) trigger_interval_ms: u64,
    /// MARKINT; none: marks do not lapse.
    pub(crate) mark_interval_ms: Option<u64>,
    pub(crate) coded_char_set_id: i32,
    /// Whether channel authentication records count.
    pub(crate) chlauth: bool,
    /// PSMODE: whether applications may publish and subscribe.
    pub(crate) publish_subscribe: bool,
}

impl QmgrAttributes {
    fn of(attrs: &Attrs) -> Self {
        QmgrAttributes {
            max_handles: attrs.int(MQIA_MAX_HANDLES).max(0) as u32,
            max_msg_length: attrs.int(MQIA_MAX_MSG_LENGTH).max(0) as usize,
            max_uncommitted: attrs.int(MQIA_MAX_UNCOMMITTED_MSGS).max(0) as usize,
            dead_letter_q: attrs.text(MQCA_DEAD_LETTER_Q_NAME).to_owned(),
            default_xmit_q: attrs.text(MQCA_DEF_XMIT_Q_NAME).to_owned(),
            trigger_interval_ms: attrs.int(MQIA_TRIGGER_INTERVAL).max(0) as u64,
            mark_interval_ms: u64::try_from(attrs.int(MQIA_MSG_MARK_BROWSE_INTERVAL)).ok(),
            coded_char_set_id: attrs.int(MQIA_CODED_CHAR_SET_ID),
            chlauth: attrs.int(MQIA_CHLAUTH_RECORDS) == MQCHLA_ENABLED,
            publish_subscribe: attrs.int(MQIA_PUBSUB_MODE) != MQPSM_DISABLED,
        }
    }
}

/// Gives an object that another release stored the attributes that it could not know, so that verbs and DISPLAY read
/// the same value; and takes from it what it asks for and nobody does, so that DISPLAY does not claim it.
fn complete(object: &mut Object) {
    let mut given = std::mem::replace(&mut object.attrs, Attrs::defaults(object.kind));
    for attribute in attributes(object.kind) {
        let Some(value) = given.get(attribute.selector) else {
            continue;
        };
        // Another release may have kept as text what has a type of its own here.
        let typed = match value {
            Value::Text(text) => attribute.parsed(text),
            _ => None,
        };
        let value = typed.unwrap_or_else(|| value.clone());
        if attribute.takes(&value) {
            given.set(attribute.selector, value);
        } else {
            given.remove(attribute.selector);
        }
    }
    object.attrs.merge(&given);
}

/// All definitions of a queue manager.
pub(crate) struct Catalogue {
    /// By name space and name.
    entries: RwLock<BTreeMap<(ObjectKind, String), Definition>>,
    qmgr: RwLock<Arc<QmgrAttributes>>,
    home: Arc<QueueHome>,
    /// What the channel authentication records come to; `None` until somebody asks.
    chlauth: RwLock<Option<Arc<Rules>>>,
    /// What the topic objects say.
    pub(crate) topic_objects: TopicObjects,
    /// Those after which handles are void.
    pub(crate) changes: Changes,
    /// What the authority records say.
    pub(crate) authorities: AuthorityTable,
    /// See the head of this file.
    order: Mutex<()>,
}

impl Catalogue {
    pub(crate) fn new(home: Arc<QueueHome>) -> Self {
        Catalogue {
            entries: RwLock::new(BTreeMap::new()),
            qmgr: RwLock::new(Arc::default()),
            home,
            chlauth: RwLock::new(None),
            topic_objects: TopicObjects::default(),
            changes: Changes::default(),
            authorities: AuthorityTable::default(),
            order: Mutex::new(()),
        }
    }

    /// That of a queue manager with this configuration.
    pub(crate) fn of(home: Arc<QueueHome>, config: &EngineConfig) -> Self {
        let catalogue = Catalogue::new(home);
        let service = config.authorization.as_ref();
        let by_user = service.is_some_and(|service| service.by_user);
        catalogue.authorities.count_users(by_user);
        catalogue
    }

    /// Redoes a definition that a log record at `lsn` holds; `None`: what is there is newer.
    pub(crate) fn redo(&self, object: Object, queue: QueueId, lsn: Lsn) -> Option<Definition> {
        let known = self.find(object.kind, &object.name);
        if known.is_some_and(|known| known.knows(lsn)) {
            return None;
        }
        Some(self.restore(object, queue, lsn))
    }

    /// Redoes a deletion that a log record at `lsn` holds, unless the name has been defined again.
    pub(crate) fn redo_deletion(&self, kind: ObjectKind, name: &str, queue: QueueId, lsn: Lsn) {
        let known = self.find(kind, name);
        if known.is_some_and(|known| !known.knows(lsn)) {
            self.remove(kind, name, queue);
        }
    }

    /// Makes a definition what it is, new or not (restart, and every change). `changed`: where the
    /// log record begins that says so; `Lsn(0)` when there is none.
    pub(crate) fn restore(&self, mut object: Object, queue: QueueId, changed: Lsn) -> Definition {
        complete(&mut object);
        if object.kind == ObjectKind::Qmgr {
            *self.qmgr.write() = Arc::new(QmgrAttributes::of(&object.attrs));
        }
        let key = (object.kind.row().space, object.name.clone());
        let known = self.find(object.kind, &object.name);
        if let Some(known) = known
            .as_ref()
            .filter(|known| known.kind() == ObjectKind::Topic)
        {
            self.topic_objects.deleted(&known.object());
        }
        self.topic_objects.defined(&object);
        self.authorities.defined(&object);
        // The list's lock is a leaf: no queue is locked while it is held.
        if let Some(known) = known
            && known.kind() == object.kind
            && known.queue_id() == queue
        {
            known.set(object.attrs, changed);
            self.chlauth_changed(known.kind());
            return known;
        }
        let runtime = match object.kind {
            ObjectKind::QLocal => Runtime::Local(Queue::new(
                queue,
                Name::new(&object.name),
                QueueAttributes::of(&object.attrs),
                self.home.clone(),
            )),
            ObjectKind::QAlias => Runtime::Alias(Arc::new(Alias::of(&object.attrs))),
            _ => Runtime::None,
        };
        let definition = Definition(Arc::new(Entry {
            kind: object.kind,
            name: object.name,
            current: RwLock::new(Current {
                attrs: object.attrs,
                changed,
            }),
            runtime,
            last_change: LastChange::default(),
        }));
        let replaced = self.entries.write().insert(key, definition.clone());
        self.chlauth_changed(definition.kind());
        if let Some(Runtime::Local(queue)) = replaced.as_ref().map(Definition::runtime) {
            queue.undefined();
        }
        definition
    }

    /// Forgets a definition (restart, and DELETE); returns it if it was there.
    pub(crate) fn remove(
        &self,
        kind: ObjectKind,
        name: &str,
        queue: QueueId,
    ) -> Option<Definition> {
        let key = (kind.row().space, name.to_owned());
        let removed = {
            let mut entries = self.entries.write();
            match entries.get(&key) {
                Some(known) if known.queue_id() == queue => entries.remove(&key),
                _ => None,
            }
        }?;
        self.topic_objects.deleted(&removed.object());
        self.chlauth_changed(kind);
        self.authorities.deleted(&removed.object());
        if !removed.logged() {
            self.forget_maker(removed.name());
        }
        if let Runtime::Local(queue) = removed.runtime() {
            queue.undefined();
        }
        Some(removed)
    }

    /// Any kind of queue by name.
    pub(crate) fn queue(&self, name: &str) -> Option<Definition> {
        self.find(ObjectKind::QLocal, name)
    }

    /// A definition by the name space of a kind; its own kind may be another one of that space.
    pub(crate) fn find(&self, kind: ObjectKind, name: &str) -> Option<Definition> {
        self.entries
            .read()
            .get(&(kind.row().space, name.to_owned()))
            .cloned()
    }

    /// The queue manager's definition.
    pub(crate) fn qmgr_definition(&self) -> Option<Definition> {
        let entries = self.entries.read();
        let mut all = entries.iter();
        all.find(|((s, _), _)| *s == ObjectKind::Qmgr)
            .map(|(_, d)| d.clone())
    }

    pub(crate) fn qmgr(&self) -> Arc<QmgrAttributes> {
        self.qmgr.read().clone()
    }

    /// The coded character set that a descriptor or a header names, where that leaves it to the queue manager: messages of
    /// earlier releases do.
    pub(crate) fn named_set(&self, ccsid: i32) -> i32 {
        match ccsid {
            // Most puts come here: nothing is counted up for it.
            MQCCSI_Q_MGR => self.qmgr.read().coded_char_set_id,
            named => named,
        }
    }

    /// The longest message that the queue manager takes.
    pub(crate) fn longest_message(&self) -> usize {
        self.qmgr.read().max_msg_length
    }

    /// A local queue by name.
    pub(crate) fn local_queue(&self, name: &str) -> Option<Arc<Queue>> {
        match self.queue(name)?.runtime() {
            Runtime::Local(queue) => Some(queue.clone()),
            _ => None,
        }
    }

    /// Every local queue.
    pub(crate) fn local_queues(&self) -> Vec<Arc<Queue>> {
        let entries = self.entries.read();
        let locals = entries.values().filter_map(|d| match d.runtime() {
            Runtime::Local(queue) => Some(queue.clone()),
            _ => None,
        });
        locals.collect()
    }

    pub(crate) fn object(&self, kind: ObjectKind, name: &str) -> Option<Object> {
        let found = self.find(kind, name)?;
        (found.kind() == kind).then(|| found.object())
    }

    /// What `read` makes of a definition's attributes.
    pub(crate) fn read<T>(
        &self,
        kind: ObjectKind,
        name: &str,
        read: impl FnOnce(&Attrs) -> T,
    ) -> Option<T> {
        let found = self.find(kind, name)?;
        (found.kind() == kind).then(|| read(&found.0.current.read().attrs))
    }

    pub(crate) fn objects(&self, kind: ObjectKind) -> Vec<Object> {
        let mut all: Vec<Object> = {
            let entries = self.entries.read();
            let of_kind = entries.values().filter(|d| d.kind() == kind);
            of_kind.map(Definition::object).collect()
        };
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Every definition, for a checkpoint.
    pub(crate) fn all(&self) -> Vec<Definition> {
        self.entries.read().values().cloned().collect()
    }

    /// Runs `f` while no definition changes.
    pub(crate) fn unchanged<T>(&self, f: impl FnOnce() -> T) -> T {
        let _order = self.order.lock();
        f()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_command::{Date, row_of};

    fn catalogue() -> Catalogue {
        Catalogue::new(Arc::new(QueueHome {
            disk: posthaste_env::os().disk,
            directory: std::path::PathBuf::from("never made"),
            tag_seed: 0,
            q_buffer: 0,
            pq_buffer: 0,
            counters: Default::default(),
            triggered: Default::default(),
            room: crate::room::Room::new(&posthaste_env::os().disk, "never made".as_ref()),
            files: Default::default(),
            cipher: None,
        }))
    }

    /// Each attribute in turn is one that the release that stored the object did not have.
    #[test]
    fn what_an_earlier_release_did_not_know_has_its_default() {
        for kind in ObjectKind::ALL {
            let whole = Object::new(kind, "A");
            for attribute in attributes(kind) {
                let mut before = whole.clone();
                before.attrs.remove(attribute.selector);
                let mut bytes = Vec::new();
                Stored::encode(&before, 1, &mut bytes);
                let (stored, _) = Stored::decode(&bytes).unwrap();
                let definition = catalogue().restore(stored.object, 1, Lsn(0));
                let what = format!("{kind} {}", attribute.keyword);
                assert_eq!(definition.attrs(), whole.attrs, "{what}");
                let shown = row_of(&definition.object(), &[], true);
                assert_eq!(shown, row_of(&whole, &[], true), "{what}");
            }
        }
        let mut before = Object::new(ObjectKind::QLocal, "A");
        before.attrs.remove(MQIA_MAX_Q_DEPTH);
        before.attrs.set_int(MQIA_MAX_MSG_LENGTH, 7);
        let definition = catalogue().restore(before, 1, Lsn(0));
        let Runtime::Local(queue) = definition.runtime() else {
            panic!("not a local queue");
        };
        let acted_on = queue.lock().attributes.clone();
        assert_eq!((acted_on.max_depth, acted_on.max_msg_length), (5000, 7));
    }

    #[test]
    fn what_another_release_stored_and_nobody_does_is_not_claimed() {
        let mut stored = Object::new(ObjectKind::Qmgr, "QM1");
        stored.attrs.set_int(MQIA_CERT_VAL_POLICY, 1);
        stored.attrs.set_text(MQCA_PARENT, "CHECK");
        stored.attrs.set_text(MQCA_Q_MGR_DESC, "kept");
        stored.attrs.set_text(MQCA_CREATION_DATE, "2026-11-22");
        let attrs = catalogue().restore(stored, 0, Lsn(0)).attrs();
        assert_eq!(attrs.int(MQIA_CERT_VAL_POLICY), 0);
        assert_eq!(attrs.text(MQCA_PARENT), "");
        assert_eq!(attrs.text(MQCA_Q_MGR_DESC), "kept");
        let created = Date::parse("2026-11-22").map(Value::Date);
        assert_eq!(attrs.get(MQCA_CREATION_DATE), created.as_ref());
    }
}
