//! What topic objects say of a topic string.
//!
//! Invariants:
//! * A topic string has of each attribute what the closest topic object says of it, at the string or above it, that does
//!   not say ASPARENT; at the root that is SYSTEM.BASE.TOPIC, and where it says nothing either, what it is created with.
//! * No two topic objects are about one topic string: whoever defines one holds the catalogue's order of changes.
//! * The locks are leaves: nothing else is locked while one is held.
//!
//! Source: "Attributes for topics", "DEFINE TOPIC", "Wildcard schemes" (WILDCARD).

use std::collections::HashMap;
use std::sync::Arc;

use posthaste_command::{Attrs, Object, ObjectKind, Value};
use posthaste_env::sync::RwLock;
use posthaste_mqi::constants::*;
use posthaste_topic::{Filter, TopicTree};

/// The topic object at the root, which says what every topic has that inherits it from nobody else.
pub(crate) const BASE_TOPIC: &str = "SYSTEM.BASE.TOPIC";
/// The models of managed queues that a new queue manager has.
pub(crate) const DURABLE_MODEL: &str = "SYSTEM.DURABLE.MODEL.QUEUE";
pub(crate) const NON_DURABLE_MODEL: &str = "SYSTEM.NDURABLE.MODEL.QUEUE";

/// What is inherited: the number that stands for ASPARENT, and what SYSTEM.BASE.TOPIC is created with.
const NUMBERS: [(i32, i32, i32); 14] = [
    (MQIA_INHIBIT_PUB, MQTA_PUB_AS_PARENT, MQTA_PUB_ALLOWED),
    (MQIA_INHIBIT_SUB, MQTA_SUB_AS_PARENT, MQTA_SUB_ALLOWED),
    (
        MQIA_DURABLE_SUB,
        MQSUB_DURABLE_AS_PARENT,
        MQSUB_DURABLE_ALLOWED,
    ),
    (MQIA_DEF_PRIORITY, MQPRI_PRIORITY_AS_PARENT, 0),
    (
        MQIA_TOPIC_DEF_PERSISTENCE,
        MQPER_PERSISTENCE_AS_PARENT,
        MQPER_NOT_PERSISTENT,
    ),
    (
        MQIA_DEF_PUT_RESPONSE_TYPE,
        MQPRT_RESPONSE_AS_PARENT,
        MQPRT_SYNC_RESPONSE,
    ),
    (MQIA_PM_DELIVERY, MQDLV_AS_PARENT, MQDLV_ALL_DUR),
    (MQIA_NPM_DELIVERY, MQDLV_AS_PARENT, MQDLV_ALL_AVAIL),
    (MQIA_USE_DEAD_LETTER_Q, MQUSEDLQ_AS_PARENT, MQUSEDLQ_YES),
    (MQIA_PUB_SCOPE, MQSCOPE_AS_PARENT, MQSCOPE_ALL),
    (MQIA_SUB_SCOPE, MQSCOPE_AS_PARENT, MQSCOPE_ALL),
    (MQIA_MULTICAST, MQMC_AS_PARENT, MQMC_DISABLED),
    (MQIA_CAP_EXPIRY, CAP_EXPIRY_AS_PARENT, -1),
    // Says nothing of ASPARENT: the closest object has it.
    (MQIA_CLUSTER_PUB_ROUTE, i32::MIN, MQCLROUTE_NONE),
];
const CAP_EXPIRY_AS_PARENT: i32 = -2;

/// What is inherited where it is blank.
const TEXTS: [(i32, &str); 4] = [
    (MQCA_MODEL_DURABLE_Q, DURABLE_MODEL),
    (MQCA_MODEL_NON_DURABLE_Q, NON_DURABLE_MODEL),
    (MQCA_COMM_INFO_NAME, ""),
    (MQCA_CLUSTER_NAME, ""),
];

/// SYSTEM.BASE.TOPIC as a new queue manager has it.
pub(crate) fn base_topic() -> Object {
    let mut base = Object::new(ObjectKind::Topic, BASE_TOPIC);
    for (selector, _, number) in NUMBERS {
        base.attrs.set_int(selector, number);
    }
    for (selector, text) in TEXTS {
        base.attrs.set_text(selector, text);
    }
    base
}

/// Which subscribers must be given a publication for the put to succeed (PMSGDLV, NPMSGDLV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryRule {
    /// All.
    All,
    /// Those whose subscription is durable; of the others whoever can.
    AllDurable,
    /// Whoever can.
    AllAvailable,
}

impl DeliveryRule {
    fn of(number: i32) -> Self {
        match number {
            MQDLV_ALL => DeliveryRule::All,
            MQDLV_ALL_DUR => DeliveryRule::AllDurable,
            _ => DeliveryRule::AllAvailable,
        }
    }

    /// Whether a subscription has to be given the publication.
    pub(crate) fn demands(self, durable: bool) -> bool {
        match self {
            DeliveryRule::All => true,
            DeliveryRule::AllDurable => durable,
            DeliveryRule::AllAvailable => false,
        }
    }
}

/// What holds for a topic string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicRules {
    /// PUB: whether messages may be published.
    pub(crate) publish: bool,
    /// SUB: whether new subscriptions may be made.
    pub(crate) subscribe: bool,
    /// DURSUB: whether these may be durable.
    pub(crate) durable: bool,
    /// DEFPRTY.
    pub(crate) priority: i32,
    /// DEFPSIST: MQPER_PERSISTENT or MQPER_NOT_PERSISTENT.
    pub(crate) persistence: i32,
    /// DEFPRESP: MQPRT_SYNC_RESPONSE or MQPRT_ASYNC_RESPONSE.
    pub(crate) put_response: i32,
    /// PMSGDLV.
    pub(crate) persistent_delivery: DeliveryRule,
    /// NPMSGDLV.
    pub(crate) non_persistent_delivery: DeliveryRule,
    /// USEDLQ: whether what a queue cannot take goes to the dead-letter queue, and counts as delivered.
    pub(crate) use_dead_letter_q: bool,
    durable_model: String,
    non_durable_model: String,
    /// The topic strings, this one or above it, of topic objects with WILDCARD(BLOCK).
    blocking: Vec<Box<str>>,
    /// Every inherited attribute, with nothing left that says ASPARENT.
    attrs: Attrs,
}

impl TopicRules {
    fn of(attrs: Attrs, blocking: Vec<Box<str>>) -> Self {
        TopicRules {
            publish: attrs.int(MQIA_INHIBIT_PUB) == MQTA_PUB_ALLOWED,
            subscribe: attrs.int(MQIA_INHIBIT_SUB) == MQTA_SUB_ALLOWED,
            durable: attrs.int(MQIA_DURABLE_SUB) == MQSUB_DURABLE_ALLOWED,
            priority: attrs.int(MQIA_DEF_PRIORITY),
            persistence: attrs.int(MQIA_TOPIC_DEF_PERSISTENCE),
            put_response: attrs.int(MQIA_DEF_PUT_RESPONSE_TYPE),
            persistent_delivery: DeliveryRule::of(attrs.int(MQIA_PM_DELIVERY)),
            non_persistent_delivery: DeliveryRule::of(attrs.int(MQIA_NPM_DELIVERY)),
            use_dead_letter_q: attrs.int(MQIA_USE_DEAD_LETTER_Q) == MQUSEDLQ_YES,
            durable_model: attrs.text(MQCA_MODEL_DURABLE_Q).to_owned(),
            non_durable_model: attrs.text(MQCA_MODEL_NON_DURABLE_Q).to_owned(),
            blocking,
            attrs,
        }
    }

    /// The model of managed queues (MDURMDL, MNDURMDL).
    pub(crate) fn model(&self, durable: bool) -> &str {
        match durable {
            true => &self.durable_model,
            false => &self.non_durable_model,
        }
    }

    /// Which subscribers must be given a publication for the put to succeed.
    pub(crate) fn delivery(&self, persistent: bool) -> DeliveryRule {
        match persistent {
            true => self.persistent_delivery,
            false => self.non_persistent_delivery,
        }
    }

    /// Whether publications on the topic string reach a subscription with this filter, which matches it: no topic object
    /// below the filter's wildcard blocks it.
    pub(crate) fn reaches(&self, filter: &Filter) -> bool {
        !self.blocking.iter().any(|node| filter.is_blocked_by(node))
    }

    /// Every inherited attribute, with nothing left that says ASPARENT.
    pub(crate) fn attrs(&self) -> &Attrs {
        &self.attrs
    }
}

/// A topic object, as far as topic strings have to do with it.
struct Node {
    name: String,
    attrs: Attrs,
}

#[derive(Default)]
struct Known {
    tree: TopicTree<Node>,
    /// By topic string of a node: what was worked out since something changed.
    worked_out: HashMap<Box<str>, Arc<TopicRules>>,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct TopicObjects {
    known: RwLock<Known>,
}

/// The topic string that an object is about; none: of nothing. The root is the empty one.
fn about(object: &Object) -> Option<&str> {
    match (object.kind, object.attrs.text(MQCA_TOPIC_STRING)) {
        (ObjectKind::Topic, "") => (object.name == BASE_TOPIC).then_some(""),
        (ObjectKind::Topic, topic) => Some(topic),
        _ => None,
    }
}

impl TopicObjects {
    /// An object is defined so, whether it was before or not. Of another kind than topics it says nothing.
    pub(crate) fn defined(&self, object: &Object) {
        if let Some(topic) = about(object) {
            let node = Node {
                name: object.name.clone(),
                attrs: object.attrs.clone(),
            };
            let mut known = self.known.write();
            known.tree.set(topic, node);
            known.worked_out.clear();
        }
    }

    /// An object is deleted.
    pub(crate) fn deleted(&self, object: &Object) {
        if let Some(topic) = about(object) {
            let mut known = self.known.write();
            let is_it = |node: &Node| node.name == object.name;
            if known.tree.get(topic).is_some_and(is_it) {
                known.tree.remove(topic);
                known.worked_out.clear();
            }
        }
    }

    /// The topic object that is about exactly this topic string.
    pub(crate) fn about(&self, topic: &str) -> Option<String> {
        let known = self.known.read();
        known.tree.get(topic).map(|node| node.name.clone())
    }

    /// The topic objects at a topic string and above it, the closest first.
    pub(crate) fn at_or_above(&self, topic: &str) -> Vec<String> {
        let known = self.known.read();
        let nodes = known.tree.closest(topic);
        nodes.map(|(_, node)| node.name.clone()).collect()
    }

    /// The topic strings that topic objects are about, with the objects' names.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let known = self.known.read();
        let nodes = known.tree.iter();
        nodes
            .map(|(topic, node)| (topic.to_owned(), node.name.clone()))
            .collect()
    }

    /// What holds for a topic string.
    pub(crate) fn rules(&self, topic: &str) -> Arc<TopicRules> {
        {
            let known = self.known.read();
            let closest = known.closest(topic);
            if let Some(rules) = known.worked_out.get(closest) {
                return Arc::clone(rules);
            }
        }
        let mut known = self.known.write();
        let closest: Box<str> = known.closest(topic).into();
        let rules = Arc::new(known.work_out(&closest));
        known.worked_out.insert(closest, Arc::clone(&rules));
        rules
    }
}

impl Known {
    /// The closest topic string, itself or above it, that a topic object is about.
    fn closest<'a>(&'a self, topic: &'a str) -> &'a str {
        let mut closest = self.tree.closest(topic);
        closest.next().map_or("", |(node, _)| node)
    }

    fn work_out(&self, topic: &str) -> TopicRules {
        let mut attrs = Attrs::default();
        let mut blocking = Vec::new();
        let base = base_topic();
        let levels = self.tree.closest(topic);
        for (node, stated) in levels
            .map(|(at, node)| (at, &node.attrs))
            .chain([("", &base.attrs)])
        {
            if stated.int(MQIA_WILDCARD_OPERATION) == MQTA_BLOCK {
                blocking.push(node.into());
            }
            for (selector, as_parent, _) in NUMBERS {
                let value = stated.get(selector);
                let says = value.filter(|value| **value != Value::from(as_parent));
                inherit(&mut attrs, selector, says);
            }
            for (selector, _) in TEXTS {
                let value = stated.get(selector);
                inherit(
                    &mut attrs,
                    selector,
                    value.filter(|value| !value.is_blank()),
                );
            }
        }
        TopicRules::of(attrs, blocking)
    }
}

fn inherit(attrs: &mut Attrs, selector: i32, says: Option<&Value>) {
    if let Some(value) = says
        && attrs.get(selector).is_none()
    {
        attrs.set(selector, value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_topic::Scheme;

    fn topic(name: &str, string: &str, values: &[(i32, i32)]) -> Object {
        let mut object = Object::new(ObjectKind::Topic, name);
        object.attrs.set_text(MQCA_TOPIC_STRING, string);
        for (selector, value) in values {
            object.attrs.set_int(*selector, *value);
        }
        object
    }

    #[test]
    fn what_is_as_parent_is_inherited_from_the_closest_that_says_something() {
        let objects = TopicObjects::default();
        let alone = objects.rules("a/b");
        assert!(alone.publish && alone.subscribe && alone.durable && alone.use_dead_letter_q);
        assert_eq!(alone.persistent_delivery, DeliveryRule::AllDurable);
        assert_eq!(alone.delivery(false), DeliveryRule::AllAvailable);
        assert_eq!(alone.model(true), DURABLE_MODEL);
        assert_eq!(alone.model(false), NON_DURABLE_MODEL);
        let mut base = base_topic();
        base.attrs.set_int(MQIA_DEF_PRIORITY, 3);
        objects.defined(&base);
        objects.defined(&topic(
            "A",
            "a",
            &[
                (MQIA_INHIBIT_SUB, MQTA_SUB_INHIBITED),
                (MQIA_DEF_PRIORITY, 5),
            ],
        ));
        let mut deep = topic("C", "a/b/c", &[(MQIA_INHIBIT_SUB, MQTA_SUB_ALLOWED)]);
        deep.attrs.set_text(MQCA_MODEL_DURABLE_Q, "MINE");
        objects.defined(&deep);
        let of = |string: &str| {
            let rules = objects.rules(string);
            (
                rules.subscribe,
                rules.priority,
                rules.model(true).to_owned(),
            )
        };
        let model = DURABLE_MODEL.to_owned();
        assert_eq!(of(""), (true, 3, model.clone()));
        assert_eq!(of("b"), (true, 3, model.clone()));
        assert_eq!(of("ab"), (true, 3, model.clone()));
        assert_eq!(of("a"), (false, 5, model.clone()));
        assert_eq!(of("a/b"), (false, 5, model.clone()));
        assert_eq!(of("a/b/c/d"), (true, 5, "MINE".to_owned()));
        assert_eq!(objects.about("a/b/c"), Some("C".to_owned()));
        assert_eq!(objects.about("a/b"), None);
        objects.deleted(&deep);
        assert_eq!(of("a/b/c/d"), (false, 5, model));
        assert_eq!(objects.all().len(), 2);
    }

    #[test]
    fn a_blocking_topic_keeps_from_wildcards_above_it_what_is_published_on_it_and_below() {
        let objects = TopicObjects::default();
        objects.defined(&topic("A", "a/b", &[(MQIA_WILDCARD_OPERATION, MQTA_BLOCK)]));
        let reaches = |published: &str, filter: &str| {
            let filter = Filter::new(filter, Scheme::Topic).unwrap();
            assert!(filter.matches(published));
            objects.rules(published).reaches(&filter)
        };
        assert!(!reaches("a/b", "a/#"));
        assert!(!reaches("a/b/c", "a/#"));
        assert!(!reaches("a/b", "#"));
        assert!(reaches("a/b", "a/b"));
        assert!(reaches("a/b/c", "a/b/#"));
        assert!(reaches("a/c", "a/#"));
        assert!(reaches("a/bc", "a/#"));
    }

    /// An object that begins definitions is of no topic string, and a root that inherits has what it is created with.
    #[test]
    fn the_root_is_the_base_topic_alone() {
        let objects = TopicObjects::default();
        objects.defined(&topic(
            "SYSTEM.DEFAULT.TOPIC",
            "",
            &[(MQIA_INHIBIT_PUB, MQTA_PUB_INHIBITED)],
        ));
        assert!(objects.rules("a").publish);
        objects.defined(&topic(
            BASE_TOPIC,
            "",
            &[(MQIA_INHIBIT_PUB, MQTA_PUB_INHIBITED)],
        ));
        let rules = objects.rules("a");
        assert!(!rules.publish && rules.subscribe);
        for (selector, as_parent, _) in NUMBERS {
            assert_ne!(rules.attrs().int(selector), as_parent, "{selector}");
        }
        objects.deleted(&topic("SYSTEM.DEFAULT.TOPIC", "", &[]));
        assert!(!objects.rules("a").publish);
    }
}
