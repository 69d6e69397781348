//! A subscription: which publications it asks for, where they go, and what they look like there.
//!
//! Invariants:
//! * What a subscription says does not change: an alteration puts another one with the same identifier and the same
//!   [`PublicationCount`] in its place, so that a publication reads one whole set of terms.
//! * A subscription that is durable is an object of the catalogue; any other ends with the last handle on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posthaste_env::sync::RwLock;
use posthaste_env::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use posthaste_mqi::constants::MQEI_UNLIMITED;
use posthaste_mqi::{Chars, CorrelId, Name};
use posthaste_selector::Selector;
use posthaste_topic::Filter;

use crate::queue::Queue;

/// Identifier of a subscription (SUBID), unique and never used again.
pub(crate) type SubId = [u8; 24];

/// Who made a subscription (SUBTYPE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// MQSUB.
    Api,
    /// DEFINE SUB.
    Administrator,
}

/// How the properties of a publication reach a subscriber (PSPROP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublishProperties {
    /// Not at all.
    None,
    /// As message properties.
    MessageProperties,
    /// In an MQRFH2 header.
    Rfh2,
    /// As a publication on a queue of queued publish/subscribe.
    Compatibility,
}

/// Where a subscription's publications go.
pub(crate) struct Destination {
    /// The queue.
    pub(crate) queue: Name,
    /// Its queue manager; this one's name where it is here.
    pub(crate) queue_manager: Name,
    /// What the names were found to mean last; a queue of that name may have been deleted and defined again.
    found: RwLock<Option<Arc<Queue>>>,
}

impl Destination {
    /// A queue by its names; `found`: what they mean, if it is a local queue.
    pub(crate) fn new(queue: Name, queue_manager: Name, found: Option<Arc<Queue>>) -> Self {
        Destination {
            queue,
            queue_manager,
            found: RwLock::new(found),
        }
    }

    /// The local queue that the names meant last.
    pub(crate) fn found(&self) -> Option<Arc<Queue>> {
        self.found.read().clone()
    }

    /// They mean this queue now.
    pub(crate) fn set_found(&self, queue: Option<Arc<Queue>>) {
        *self.found.write() = queue;
    }
}

impl Clone for Destination {
    fn clone(&self) -> Self {
        Destination::new(self.queue, self.queue_manager, self.found())
    }
}

/// Publications, counted for whoever asks: those that a subscription has been given, or that a handle has published.
#[derive(Debug, Default)]
pub(crate) struct PublicationCount {
    messages: AtomicU64,
    /// Microseconds since 1970; 0: none yet.
    latest: AtomicI64,
}

impl PublicationCount {
    /// One more, at this moment.
    pub(crate) fn count(&self, now: i64) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.latest.store(now, Ordering::Relaxed);
    }

    /// How many there were since the subscription was made, the handle was opened or the queue manager started.
    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// When the latest was, microseconds since 1970.
    pub(crate) fn latest(&self) -> Option<i64> {
        Some(self.latest.load(Ordering::Relaxed)).filter(|at| *at != 0)
    }
}

/// A subscription. See the head of this file.
#[derive(Clone)]
pub(crate) struct Subscription {
    pub(crate) id: SubId,
    /// Its name; empty: it has none.
    pub(crate) name: String,
    /// The topic object that the topic string begins with that of; empty: none.
    pub(crate) topic_object: String,
    /// The whole topic string, with its wildcards.
    pub(crate) filter: Filter,
    pub(crate) destination: Destination,
    /// The queue manager made the destination, and deletes it with the subscription.
    pub(crate) managed: bool,
    pub(crate) durable: bool,
    /// Several connections may hold handles on it at a time (shared subscriptions of JMS).
    pub(crate) shared: bool,
    /// It is of a group (MQSO_GROUP_SUB): those with its queue, CorrelId and level get a publication once.
    pub(crate) grouped: bool,
    pub(crate) maker: Maker,
    /// CorrelId of what it is given; zeros: the publication's own.
    pub(crate) correl_id: CorrelId,
    pub(crate) user_data: String,
    /// The selection string as it was given, and what it means; `None`: everything.
    pub(crate) selection: String,
    pub(crate) selector: Option<Arc<Selector>>,
    /// SUBLEVEL, 0 to 9.
    pub(crate) level: i32,
    /// PUBPRTY: a priority, or one of MQPRI_*.
    pub(crate) priority: i32,
    /// PUBACCT.
    pub(crate) accounting_token: [u8; 32],
    /// PUBAPPID.
    pub(crate) application_identity: String,
    /// The user on whose behalf it was made or altered last (SUBUSER).
    pub(crate) user: String,
    /// Any user may use it (VARUSER).
    pub(crate) any_user: bool,
    pub(crate) properties: PublishProperties,
    /// Publications are sent only when they are asked for (REQONLY).
    pub(crate) on_request: bool,
    /// Only publications of this queue manager (SUBSCOPE).
    pub(crate) local_scope: bool,
    /// Tenths of a second that it was to live, or MQEI_UNLIMITED.
    pub(crate) expiry: i32,
    /// When it ends, microseconds since 1970; `None`: not by itself.
    pub(crate) expires: Option<i64>,
    /// When it was made, and when it was altered, microseconds since 1970.
    pub(crate) created: i64,
    pub(crate) altered: i64,
    pub(crate) deliveries: Arc<PublicationCount>,
}

/// When a subscription ends whose `expiry` (tenths of a second) begins now.
pub(crate) fn expires(expiry: i32, now: i64) -> Option<i64> {
    let lives = i64::from(expiry) * 100_000;
    (expiry != MQEI_UNLIMITED).then(|| now.saturating_add(lives))
}

/// What the subscriptions of a group have in common: queue, queue manager, CorrelId, level.
pub(crate) type Group = (Name, Name, CorrelId, i32);

/// Leaves of each group the most significant subscription. Of which of them another is durable: what those are sent, they are
/// sent in its stead.
pub(crate) fn keep_one_of_each_group(all: &mut Vec<Arc<Subscription>>) -> BTreeSet<SubId> {
    let mut kept: BTreeMap<Group, Arc<Subscription>> = BTreeMap::new();
    let mut durable = BTreeSet::new();
    for subscription in all.iter() {
        let Some(group) = subscription.group() else {
            continue;
        };
        if subscription.durable {
            durable.insert(group);
        }
        let first = kept.entry(group).or_insert_with(|| subscription.clone());
        if first.significance() < subscription.significance() {
            *first = subscription.clone();
        }
    }
    if !kept.is_empty() {
        let stays =
            |of: &Arc<Subscription>, group| kept.get(&group).is_some_and(|it| it.id == of.id);
        all.retain(|of| of.group().is_none_or(|group| stays(of, group)));
    }
    let of_durable = kept.iter().filter(|(group, _)| durable.contains(*group));
    of_durable.map(|(_, one)| one.id).collect()
}

impl Subscription {
    /// Whether it is this user's, as far as a user identifier in a message tells.
    pub(crate) fn is_of(&self, user: &Chars<12>) -> bool {
        Chars::<12>::new(&self.user).text() == user.text()
    }

    /// The group that it is of, if it is of one.
    pub(crate) fn group(&self) -> Option<Group> {
        let to = &self.destination;
        let group = (to.queue, to.queue_manager, self.correl_id, self.level);
        self.grouped.then_some(group)
    }

    /// How closely its topic string names what it asks for, up to its first wildcard (manual: "MQSO_GROUP_SUB"). Of two that are
    /// as close the later one is taken: somebody has to be.
    fn significance(&self) -> (bool, usize, SubId) {
        let exact = self.filter.exact().is_some();
        (exact, self.filter.prefix().len(), self.id)
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// The whole topic string, with its wildcards.
    pub(crate) fn topic(&self) -> &str {
        self.filter.text()
    }
}
