//! Topics and who subscribes to them.
//!
//! Invariants:
//! * A subscription is found by its topic string, by its identifier and by its name, or by none of them.
//! * No two subscriptions of a group have one topic string: whoever adds one of a group holds that order too.
//! * Names are unique, whether subscriptions are durable or not: whoever adds one that has a name holds the catalogue's
//!   order of changes.
//! * A subscription that is not durable is gone when the last handle on it is.
//! * The lock is a leaf: nothing else is locked while it is held.

pub(crate) mod administrative;
pub(crate) mod check;
pub(crate) mod ends;
pub(crate) mod managed;
pub(crate) mod publication;
pub(crate) mod retained;
pub(crate) mod stored;
pub(crate) mod subscription;
pub(crate) mod underway;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_env::sync::atomic::{AtomicU64, AtomicUsize};
use posthaste_env::sync::{Mutex, RwLock};
use posthaste_mqi::{Name, Reason};
use posthaste_recovery_log::Lsn;
use posthaste_topic::{Key, Subscribers};
use subscription::{Group, SubId, Subscription};
use underway::{AllUnderway, Underway};

use crate::plant::{Bug, planted};
use crate::queue::Queue;

/// See [`Topics::superseded`].
pub(crate) const NOT_APPENDED: u64 = u64::MAX;

/// Which other handles a subscription may be used beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nobody,
    /// Others of the same connection.
    Itself,
    /// Others that share it, as it must too.
    Sharers,
    Anybody,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Topics {
    known: RwLock<Known>,
    /// Publications that will be retained.
    pub(crate) underway: Arc<AllUnderway>,
    /// Up to where the log has to be forced, so that persistent publications do not come back that others that are not have
    /// superseded; [`NOT_APPENDED`]: it does not have it all yet.
    pub(crate) superseded: AtomicU64,
    /// How often a retained publication was superseded.
    pub(crate) supersessions: AtomicU64,
    /// Managed queues whose subscriptions have ended and that could not be deleted yet.
    unused: Mutex<Vec<Arc<Queue>>>,
    /// How many managed queues there are of which no subscription knows yet.
    making: AtomicUsize,
}

#[derive(Default)]
struct Known {
    index: Subscribers<Arc<Subscription>>,
    by_id: HashMap<SubId, Entry>,
    by_name: HashMap<String, SubId>,
    /// Those that end by themselves, the next first.
    ending: BTreeSet<(i64, SubId)>,
    /// By their managed queues: each has one.
    managed: HashMap<Name, SubId>,
    /// Of those of groups, what no two of them have: the group and the topic string.
    grouped: HashMap<(Group, String), SubId>,
    /// The number of the next one that is made.
    next: u64,
}

struct Entry {
    subscription: Arc<Subscription>,
    key: Key,
    /// Its place in the order in which they were made.
    number: u64,
    /// The connections that have handles on it, each as often as it has one.
    users: Vec<u64>,
    /// When a handle was made last, microseconds since 1970.
    resumed: Option<i64>,
    /// Where the log record ends that says it.
    recorded: Option<Lsn>,
}

/// What is known of a subscription at one moment.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) subscription: Arc<Subscription>,
    /// Its place in the order in which they were made.
    pub(crate) number: u64,
    /// The connections that have handles on it, each as often as it has one.
    pub(crate) users: Vec<u64>,
    /// When a handle was made last, microseconds since 1970.
    pub(crate) resumed: Option<i64>,
    /// Where the log record ends that says it.
    pub(crate) recorded: Option<Lsn>,
}

impl Known {
    fn add(&mut self, subscription: Arc<Subscription>, users: Vec<u64>, recorded: Option<Lsn>) {
        let id = subscription.id;
        if !subscription.name.is_empty() {
            self.by_name.insert(subscription.name.clone(), id);
        }
        if let Some(expires) = subscription.expires {
            self.ending.insert((expires, id));
        }
        if subscription.managed {
            self.managed.insert(subscription.destination.queue, id);
        }
        if let Some(group) = subscription.group() {
            let topic = subscription.topic().to_owned();
            self.grouped.insert((group, topic), id);
        }
        let key = self
            .index
            .insert(&subscription.filter, subscription.clone());
        let number = self.next;
        self.next += 1;
        let entry = Entry {
            key,
            number,
            resumed: None,
            subscription,
            users,
            recorded,
        };
        self.by_id.insert(id, entry);
    }

    fn remove(&mut self, id: &SubId) -> Option<Entry> {
        let removed = self.by_id.remove(id)?;
        self.index.remove(removed.key);
        if !removed.subscription.name.is_empty() {
            self.by_name.remove(&removed.subscription.name);
        }
        if let Some(expires) = removed.subscription.expires {
            self.ending.remove(&(expires, *id));
        }
        let queue = &removed.subscription.destination.queue;
        if self.managed.get(queue) == Some(id) {
            self.managed.remove(queue);
        }
        if let Some(group) = removed.subscription.group() {
            let of = (group, removed.subscription.topic().to_owned());
            if self.grouped.get(&of) == Some(id) {
                self.grouped.remove(&of);
            }
        }
        Some(removed)
    }
}

impl Topics {
    /// Adds a subscription, on which `user` has a handle; false: there is one of its name.
    pub(crate) fn add(
        &self,
        subscription: Arc<Subscription>,
        user: Option<(u64, i64)>,
        recorded: Option<Lsn>,
    ) -> bool {
        let mut known = self.known.write();
        if known.by_name.contains_key(&subscription.name) {
            return false;
        }
        let id = subscription.id;
        let users = user.into_iter().map(|(session, _)| session).collect();
        known.add(subscription, users, recorded);
        if let Some(entry) = known.by_id.get_mut(&id) {
            entry.resumed = user.map(|(_, now)| now);
        }
        true
    }

    /// Puts a subscription in the place of the one that has its identifier; who uses that uses this. One that is not
    /// there any more has no place.
    pub(crate) fn replace(&self, subscription: Subscription, recorded: Option<Lsn>) -> bool {
        let mut known = self.known.write();
        let Some(before) = known.remove(&subscription.id) else {
            return false;
        };
        if planted(Bug::AlterInTwo) {
            drop(known);
            known = self.known.write();
        }
        let id = subscription.id;
        let subscription = Arc::new(Subscription {
            deliveries: before.subscription.deliveries.clone(),
            ..subscription
        });
        let recorded = recorded.or(before.recorded);
        known.add(subscription, before.users, recorded);
        if let Some(entry) = known.by_id.get_mut(&id) {
            (entry.resumed, entry.number) = (before.resumed, before.number);
        }
        true
    }

    /// Forgets a subscription that is to go as it is now, whoever uses it; returns it if it was there and is.
    pub(crate) fn remove_if(
        &self,
        id: &SubId,
        goes: impl FnOnce(&Subscription) -> bool,
    ) -> Option<Arc<Subscription>> {
        let mut known = self.known.write();
        let goes = goes(&known.by_id.get(id)?.subscription);
        let removed = goes.then(|| known.remove(id)).flatten();
        removed.map(|entry| entry.subscription)
    }

    /// Whether this is a subscription that there is.
    pub(crate) fn has(&self, kind: ObjectKind, name: &str) -> bool {
        kind == ObjectKind::Sub && self.known.read().by_name.contains_key(name)
    }

    /// A subscription by its name.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Subscription>> {
        let known = self.known.read();
        let id = known.by_name.get(name)?;
        let entry = known.by_id.get(id)?;
        Some(entry.subscription.clone())
    }

    /// Whether another subscription of its group has its topic string.
    pub(crate) fn is_in_group(&self, subscription: &Subscription) -> bool {
        let Some(group) = subscription.group() else {
            return false;
        };
        let of = (group, subscription.topic().to_owned());
        let known = self.known.read();
        let there = known.grouped.get(&of);
        there.is_some_and(|id| *id != subscription.id)
    }

    /// Whether a subscription has the queue of this name as its managed one.
    pub(crate) fn manages(&self, queue: &Name) -> bool {
        self.known.read().managed.contains_key(queue)
    }

    /// What is known of a subscription.
    pub(crate) fn found(&self, id: &SubId) -> Option<Found> {
        let known = self.known.read();
        known.by_id.get(id).map(Entry::found)
    }

    /// Whether a connection has a handle on a subscription.
    pub(crate) fn is_used_by(&self, id: &SubId, session: u64) -> bool {
        let known = self.known.read();
        let entry = known.by_id.get(id);
        entry.is_some_and(|entry| entry.users.contains(&session))
    }

    /// What is known of every subscription.
    pub(crate) fn all(&self) -> Vec<Found> {
        let known = self.known.read();
        known.by_id.values().map(Entry::found).collect()
    }

    /// One handle more of a connection on a subscription.
    ///
    /// # Errors
    /// 2428 it is gone, 2429 it is in use, and not as `beside` allows.
    pub(crate) fn begin_use(
        &self,
        id: &SubId,
        session: u64,
        beside: Beside,
    ) -> Result<Found, Reason> {
        let mut known = self.known.write();
        let entry = known.by_id.get_mut(id).ok_or(Reason::NO_SUBSCRIPTION)?;
        let itself = entry.users.iter().all(|user| *user == session);
        let may = match beside {
            Beside::Nobody => entry.users.is_empty(),
            Beside::Itself => itself,
            Beside::Sharers => itself || entry.subscription.shared,
            Beside::Anybody => true,
        };
        if !may {
            return Err(Reason::SUBSCRIPTION_IN_USE);
        }
        entry.users.push(session);
        Ok(entry.found())
    }

    /// A connection that uses a subscription has its handle.
    pub(crate) fn resumed(&self, id: &SubId, now: i64) {
        if let Some(entry) = self.known.write().by_id.get_mut(id) {
            entry.resumed = Some(now);
        }
    }

    /// One handle less of a connection. A subscription that is not durable is removed with its last one, and returned.
    pub(crate) fn end_use(&self, id: &SubId, session: u64) -> Option<Arc<Subscription>> {
        let mut known = self.known.write();
        let entry = known.by_id.get_mut(id)?;
        let at = entry.users.iter().position(|user| *user == session)?;
        entry.users.swap_remove(at);
        if !entry.users.is_empty() || entry.subscription.durable {
            return None;
        }
        known.remove(id).map(|entry| entry.subscription)
    }

    /// Everybody who asks for publications on this topic string, each once; and the number of the subscription that is made
    /// next, which was not looked at.
    pub(crate) fn subscribers(&self, topic: &str) -> (Vec<Arc<Subscription>>, u64) {
        let mut found = Vec::new();
        let known = self.known.read();
        known.index.matching(topic, |s| found.push(Arc::clone(s)));
        (found, known.next)
    }

    /// A publication that will be retained begins to look for its subscribers.
    pub(crate) fn begin_retaining(&self) -> Arc<Underway> {
        let next = self.known.read().next;
        self.underway.begin(next)
    }

    /// Keeps a managed queue that could not be deleted, for another try.
    pub(crate) fn defer(&self, queue: &Arc<Queue>) {
        self.unused.lock().push(Arc::clone(queue));
    }

    /// Whether there are any.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.unused.lock().is_empty()
    }

    /// Takes out what could not be deleted.
    pub(crate) fn take_deferred(&self) -> Vec<Arc<Queue>> {
        std::mem::take(&mut self.unused.lock())
    }

    /// Forgets a subscription by its name, whoever uses it; returns it if it was there.
    pub(crate) fn remove_named(&self, name: &str) -> Option<Arc<Subscription>> {
        let mut known = self.known.write();
        let id = *known.by_name.get(name)?;
        known.remove(&id).map(|entry| entry.subscription)
    }

    /// A subscription is defined so: a new one, on which `user` has a handle, or one that was there.
    pub(crate) fn define(
        &self,
        subscription: Subscription,
        user: Option<(u64, i64)>,
        recorded: Option<Lsn>,
    ) {
        if self.replace(subscription.clone(), recorded) {
            return;
        }
        let added = self.add(Arc::new(subscription), user, recorded);
        assert!(
            added,
            "its name was free, and names are given in the catalogue's order"
        );
    }

    /// When the next one ends by itself, microseconds since 1970.
    pub(crate) fn next_expiry(&self) -> Option<i64> {
        self.known.read().ending.first().map(|(at, _)| *at)
    }

    /// Those whose time has come. Each may be altered, and live on, from the next moment.
    pub(crate) fn expired(&self, now: i64) -> Vec<Arc<Subscription>> {
        let known = self.known.read();
        let due = known.ending.iter().take_while(|(at, _)| *at <= now);
        due.filter_map(|(_, id)| known.by_id.get(id))
            .map(|entry| entry.subscription.clone())
            .collect()
    }
}

impl Entry {
    fn found(&self) -> Found {
        Found {
            subscription: self.subscription.clone(),
            number: self.number,
            users: self.users.clone(),
            resumed: self.resumed,
            recorded: self.recorded,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use posthaste_topic::{Filter, Scheme};
    use subscription::{Destination, Maker, PublicationCount, PublishProperties};

    pub(crate) fn subscription(number: u8, name: &str, topic: &str) -> Arc<Subscription> {
        Arc::new(Subscription {
            id: [number; 24],
            name: name.to_owned(),
            topic_object: String::new(),
            filter: Filter::new(topic, Scheme::Topic).unwrap(),
            destination: Destination::new(Name::new("Q"), Name::new("QM1"), None),
            managed: false,
            durable: false,
            shared: false,
            grouped: false,
            maker: Maker::Api,
            correl_id: [number; 24],
            user_data: String::new(),
            selection: String::new(),
            selector: None,
            level: 1,
            priority: 0,
            accounting_token: [0; 32],
            application_identity: String::new(),
            user: String::new(),
            any_user: false,
            properties: PublishProperties::MessageProperties,
            on_request: false,
            local_scope: false,
            expiry: -1,
            expires: None,
            created: 0,
            altered: 0,
            deliveries: Arc::new(PublicationCount::default()),
        })
    }

    fn ids(topics: &Topics, topic: &str) -> Vec<u8> {
        let found = topics.subscribers(topic).0.into_iter();
        let mut ids: Vec<u8> = found.map(|found| found.id[0]).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_subscription_is_found_by_everything_or_by_nothing() {
        let topics = Topics::default();
        assert!(topics.add(subscription(1, "S", "a/b"), None, None));
        assert!(topics.add(subscription(2, "", "a/b"), None, None));
        assert!(topics.add(subscription(3, "", "a/+"), None, None));
        assert!(!topics.add(subscription(4, "S", "a/b"), None, None));
        assert_eq!(ids(&topics, "a/b"), [1, 2, 3]);
        assert_eq!(ids(&topics, "a/c"), [3]);
        assert_eq!(topics.named("S").map(|found| found.id), Some([1; 24]));
        assert!(topics.named("").is_none());
        assert!(topics.remove_if(&[1; 24], |_| true).is_some());
        assert!(topics.remove_if(&[1; 24], |_| true).is_none());
        assert!(topics.named("S").is_none());
        assert_eq!(ids(&topics, "a/b"), [2, 3]);
        assert!(topics.add(subscription(4, "S", "a/b"), None, None));
    }

    #[test]
    fn an_altered_one_takes_the_place_of_the_one_before() {
        let topics = Topics::default();
        let before = subscription(1, "S", "a");
        before.deliveries.count(5);
        assert!(topics.add(before.clone(), Some((7, 1)), None));
        let mut after = (*subscription(1, "S", "a")).clone();
        after.expires = Some(10);
        assert!(topics.replace(after, Some(Lsn(3))));
        let found = topics.found(&[1; 24]).unwrap();
        assert_eq!((found.users, found.recorded), (vec![7], Some(Lsn(3))));
        assert_eq!(found.subscription.deliveries.messages(), 1);
        assert_eq!(ids(&topics, "a"), [1]);
        assert!(topics.expired(9).is_empty());
        assert_eq!(topics.expired(10).len(), 1);
        assert!(topics.replace((*subscription(1, "S", "a")).clone(), None));
        assert!(topics.expired(10).is_empty());
        let has_expired = |of: &Subscription| of.has_expired(10);
        assert!(topics.remove_if(&[1; 24], has_expired).is_none());
        assert_eq!(ids(&topics, "a"), [1], "it lives on");
        assert!(!topics.replace((*subscription(2, "T", "a")).clone(), None));
    }

    #[test]
    fn one_connection_uses_it_or_all_of_them_share_it() {
        let topics = Topics::default();
        assert!(topics.add(subscription(1, "", "a"), Some((7, 1)), None));
        let begin = |id: u8, user, shares| {
            let beside = match shares {
                true => Beside::Sharers,
                false => Beside::Itself,
            };
            topics.begin_use(&[id; 24], user, beside).err()
        };
        let again = topics.begin_use(&[1; 24], 7, Beside::Nobody);
        assert_eq!(again.err(), Some(Reason::SUBSCRIPTION_IN_USE));
        assert_eq!(begin(1, 7, false), None);
        assert_eq!(begin(1, 8, false), Some(Reason::SUBSCRIPTION_IN_USE));
        assert_eq!(begin(1, 8, true), Some(Reason::SUBSCRIPTION_IN_USE));
        assert_eq!(begin(2, 8, true), Some(Reason::NO_SUBSCRIPTION));
        assert!(topics.end_use(&[1; 24], 8).is_none());
        assert!(topics.end_use(&[1; 24], 7).is_none());
        assert!(topics.end_use(&[1; 24], 7).is_some());
        assert!(topics.found(&[1; 24]).is_none());
        let shared = Subscription {
            shared: true,
            ..(*subscription(2, "", "a")).clone()
        };
        assert!(topics.add(Arc::new(shared), Some((7, 1)), None));
        assert_eq!(begin(2, 8, true), None);
        assert_eq!(begin(2, 9, false), Some(Reason::SUBSCRIPTION_IN_USE));
        assert!(topics.end_use(&[2; 24], 7).is_none());
        assert!(topics.end_use(&[2; 24], 8).is_some());
    }
}
