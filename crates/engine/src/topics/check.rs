//! Whether what is known of subscriptions is what the heads of this folder say.
//!
//! Looked at here: that a subscription is found by everything or by nothing; that definitions and durable subscriptions
//! are the same; that one that is not durable is somebody's; that each managed queue is there and has one subscription,
//! or is on its way out. Where nobody is in the middle of a call, also that the handles on subscriptions are those of the
//! connections.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use posthaste_command::{Object, ObjectKind};
use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::Name;
use posthaste_mqi::constants::*;

use super::ends::DEFAULT_SUB;
use super::managed::is_managed_name;
use super::subscription::{SubId, Subscription};
use super::{Entry, Known, Topics};
use crate::manager::Inner;
use crate::queue::Queue;

/// By subscription and connection, how many handles there are.
pub(crate) type Uses = BTreeMap<(SubId, u64), usize>;

/// A subscription, for people.
fn called(subscription: &Subscription) -> String {
    match subscription.name.is_empty() {
        true => format!("a subscription to {}", subscription.topic()),
        false => format!("subscription {}", subscription.name),
    }
}

/// Whether a definition says what the subscription does, as far as publications go.
fn says(object: &Object, subscription: &Subscription) -> bool {
    let is = subscription.object().attrs;
    let selectors = [
        MQBACF_SUB_ID,
        MQIACF_WILDCARD_SCHEMA,
        MQIACF_DESTINATION_CLASS,
        MQCACF_DESTINATION,
        MQCACF_SUB_SELECTOR,
        MQIACF_EXPIRY,
    ];
    let same = |selector: &i32| object.attrs.get(*selector) == is.get(*selector);
    selectors.iter().all(same)
}

impl Known {
    /// Whether a subscription is found by everything.
    fn check_one(&self, id: &SubId, entry: &Entry) -> Result<(), String> {
        let of = &entry.subscription;
        let indexed = self.index.get(entry.key);
        if of.id != *id || !indexed.is_some_and(|indexed| Arc::ptr_eq(indexed, of)) {
            return Err("it is not found by its topic string".to_owned());
        }
        if !of.name.is_empty() && self.by_name.get(&of.name) != Some(id) {
            return Err("it is not found by its name".to_owned());
        }
        let ends = of.expires.is_none_or(|at| self.ending.contains(&(at, *id)));
        if !ends {
            return Err("it does not end when it is to".to_owned());
        }
        if of.managed && self.managed.get(&of.destination.queue) != Some(id) {
            return Err("its managed queue is another's".to_owned());
        }
        match of.durable || !entry.users.is_empty() {
            true => Ok(()),
            false => Err("it is not durable, and nobody has it".to_owned()),
        }
    }

    fn check(&self) -> Result<(), String> {
        for (id, entry) in &self.by_id {
            let checked = self.check_one(id, entry);
            checked.map_err(|what| format!("{}: {what}", called(&entry.subscription)))?;
        }
        let all = || self.by_id.values().map(|entry| &entry.subscription);
        let counts = [
            ("topic string", self.index.len(), all().count()),
            (
                "name",
                self.by_name.len(),
                all().filter(|of| !of.name.is_empty()).count(),
            ),
            (
                "end",
                self.ending.len(),
                all().filter(|of| of.expires.is_some()).count(),
            ),
            (
                "queue",
                self.managed.len(),
                all().filter(|of| of.managed).count(),
            ),
        ];
        match counts.iter().find(|(_, found, is)| found != is) {
            Some((by, found, is)) => Err(format!(
                "{found} subscriptions are found by {by}, and there are {is}"
            )),
            None => Ok(()),
        }
    }
}

impl Topics {
    /// Whether the definitions are those of the durable subscriptions.
    fn check_definitions(&self, objects: &[Object]) -> Result<(), String> {
        for object in objects {
            let found = self.named(&object.name);
            let durable = found.filter(|found| found.durable && says(object, found));
            if durable.is_none() {
                let name = &object.name;
                return Err(format!(
                    "definition {name} is of no subscription, or of another"
                ));
            }
        }
        let durable = {
            let known = self.known.read();
            let all = known.by_id.values();
            all.filter(|entry| entry.subscription.durable).count()
        };
        match durable == objects.len() {
            true => Ok(()),
            false => Err(format!(
                "there are {durable} durable subscriptions and {} definitions",
                objects.len()
            )),
        }
    }

    /// Whether the handles of connections are the uses that are known.
    fn check_uses(&self, uses: &Uses) -> Result<(), String> {
        let mut known = Uses::new();
        for (id, entry) in &self.known.read().by_id {
            for user in &entry.users {
                *known.entry((*id, *user)).or_default() += 1;
            }
        }
        // Handles of subscriptions that somebody else has ended are nobody's use.
        let there = |id: &SubId| self.found(id).is_some();
        let held: Uses = uses
            .iter()
            .filter(|((id, _), _)| there(id))
            .map(|(user, count)| (*user, *count))
            .collect();
        match held == known {
            true => Ok(()),
            false => Err(format!(
                "subscriptions are used {known:?}, and the handles are {held:?}"
            )),
        }
    }
}

impl Inner {
    /// Whether a managed queue has its subscription, or is on its way out.
    fn check_managed(&self, queue: &Arc<Queue>, later: &HashSet<Name>) -> Result<(), String> {
        let state = queue.lock();
        let temporary = MQQDT_TEMPORARY_DYNAMIC;
        if ![temporary, MQQDT_PERMANENT_DYNAMIC].contains(&state.attributes.definition_type) {
            // Somebody has defined a queue of such a name.
            return Ok(());
        }
        let has_one = self.topics.manages(&queue.name);
        let what = match (has_one, state.abandoned) {
            (true, true) => "a subscription has it, and it is to go",
            (false, false) => "no subscription has it, and it stays",
            (false, true) if !state.is_open() && !later.contains(&queue.name) => {
                "it is to go, and nobody sees to it"
            }
            _ => return Ok(()),
        };
        Err(format!("managed queue {}: {what}", queue.name.text()))
    }

    /// Holds what is known of subscriptions against its invariants. `uses`: the handles that connections have; none where
    /// somebody is in the middle of a call.
    ///
    /// # Errors
    /// The first that does not hold.
    pub(crate) fn check_subscriptions(&self, uses: Option<&Uses>) -> Result<(), String> {
        self.topics.known.read().check()?;
        let mut objects = self.catalogue.objects(ObjectKind::Sub);
        objects.retain(|object| object.name != DEFAULT_SUB);
        self.topics.check_definitions(&objects)?;
        let managed: Vec<Name> = self.topics.known.read().managed.keys().copied().collect();
        let gone = |name: &&Name| self.catalogue.local_queue(&name.text()).is_none();
        if let Some(gone) = managed.iter().find(gone) {
            return Err(format!("managed queue {} is not there", gone.text()));
        }
        let Some(uses) = uses else {
            return Ok(());
        };
        self.topics.check_uses(uses)?;
        if self.topics.making.load(Ordering::Relaxed) > 0 {
            // A command is to make a subscription.
            return Ok(());
        }
        let later = self.topics.unused.lock().iter().map(|q| q.name).collect();
        let all = self.catalogue.local_queues();
        all.iter()
            .filter(|queue| is_managed_name(&queue.name.text()))
            .try_for_each(|queue| self.check_managed(queue, &later))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::topics::tests::subscription;

    /// Each thing by which a subscription is found, taken away, is missed.
    #[test]
    fn a_subscription_that_is_not_found_by_everything_is_told() {
        let made = || {
            let topics = Topics::default();
            let managed = Subscription {
                managed: true,
                durable: true,
                expires: Some(7),
                ..(*subscription(1, "S", "a/b")).clone()
            };
            assert!(topics.add(Arc::new(managed), None, None));
            topics
        };
        assert_eq!(made().known.read().check(), Ok(()));
        let faults: [fn(&mut Known); 7] = [
            |known| {
                known.index.remove(known.by_id[&[1; 24]].key);
            },
            |known| {
                known.by_name.remove("S");
            },
            |known| {
                known.ending.pop_first();
            },
            |known| {
                known.managed.remove(&Name::new("Q"));
            },
            |known| {
                known.by_id.remove(&[1; 24]);
            },
            |known| {
                known.by_name.insert("T".to_owned(), [1; 24]);
            },
            |known| {
                known.managed.insert(Name::new("R"), [1; 24]);
            },
        ];
        for (at, fault) in faults.into_iter().enumerate() {
            let topics = made();
            fault(&mut topics.known.write());
            assert!(topics.known.read().check().is_err(), "{at}");
        }
        let topics = Topics::default();
        assert!(topics.add(subscription(1, "S", "a"), None, None));
        assert!(topics.known.read().check().is_err(), "nobody has it");
    }

    #[test]
    fn definitions_and_durable_subscriptions_are_the_same() {
        let topics = Topics::default();
        let durable = Subscription {
            durable: true,
            ..(*subscription(1, "S", "a/b")).clone()
        };
        let object = durable.object();
        assert!(
            topics
                .check_definitions(std::slice::from_ref(&object))
                .is_err()
        );
        assert!(topics.add(Arc::new(durable), None, None));
        assert_eq!(
            topics.check_definitions(std::slice::from_ref(&object)),
            Ok(())
        );
        assert!(topics.check_definitions(&[]).is_err());
        let mut other = object;
        other.attrs.set_text(MQCACF_DESTINATION, "Q2");
        assert!(topics.check_definitions(&[other]).is_err());
    }
}
