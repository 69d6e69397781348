//! Topics and who subscribes to them.
//!
//! Invariants:
//! * A subscription is found by its topic string, by its identifier and by its name, or by none of them.
//! * The lock is a leaf: nothing else is locked while it is held.

pub(crate) mod subscription;

use std::collections::HashMap;
use std::sync::Arc;

use posthaste_env::sync::RwLock;
use subscription::{SubId, Subscription};

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Topics {
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<SubId, Arc<Subscription>>,
    by_name: HashMap<String, SubId>,
}

impl Topics {
    /// Adds a subscription; false: there is one of its name.
    pub(crate) fn add(&self, subscription: Arc<Subscription>) -> bool {
        let mut known = self.known.write();
        let name = &subscription.name;
        if !name.is_empty() {
            if known.by_name.contains_key(name) {
                return false;
            }
            known.by_name.insert(name.clone(), subscription.id);
        }
        known.by_id.insert(subscription.id, subscription);
        true
    }

    /// Forgets a subscription; returns it if it was there.
    pub(crate) fn remove(&self, id: &SubId) -> Option<Arc<Subscription>> {
        let mut known = self.known.write();
        let removed = known.by_id.remove(id)?;
        known.by_name.remove(&removed.name);
        Some(removed)
    }

    /// A subscription by its name.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Subscription>> {
        let known = self.known.read();
        let id = known.by_name.get(name)?;
        known.by_id.get(id).cloned()
    }

    /// Everybody who asks for publications on this topic string, each once.
    pub(crate) fn subscribers(&self, topic: &str) -> Vec<Arc<Subscription>> {
        let known = self.known.read();
        let all = known.by_id.values();
        all.filter(|subscription| subscription.topic == topic)
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_mqi::Name;
    use subscription::{Deliveries, Destination, Maker, PublishProperties, Scheme};

    fn subscription(number: u8, name: &str, topic: &str) -> Arc<Subscription> {
        Arc::new(Subscription {
            id: [number; 24],
            name: name.to_owned(),
            topic: topic.to_owned(),
            scheme: Scheme::Topic,
            destination: Destination::new(Name::new("Q"), Name::new("QM1"), None),
            managed: false,
            durable: false,
            owner: Some(1),
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
            expires: None,
            deliveries: Arc::new(Deliveries::default()),
        })
    }

    #[test]
    fn a_subscription_is_found_by_everything_or_by_nothing() {
        let topics = Topics::default();
        let ids = |topic| {
            let found = topics.subscribers(topic).into_iter();
            let mut ids: Vec<u8> = found.map(|found| found.id[0]).collect();
            ids.sort_unstable();
            ids
        };
        assert!(topics.add(subscription(1, "S", "a/b")));
        assert!(topics.add(subscription(2, "", "a/b")));
        assert!(topics.add(subscription(3, "", "a/c")));
        assert!(!topics.add(subscription(4, "S", "a/b")));
        assert_eq!(ids("a/b"), [1, 2]);
        assert_eq!(topics.named("S").map(|found| found.id), Some([1; 24]));
        assert!(topics.named("").is_none());
        assert!(topics.remove(&[1; 24]).is_some());
        assert!(topics.remove(&[1; 24]).is_none());
        assert!(topics.named("S").is_none());
        assert_eq!(ids("a/b"), [2]);
        assert!(topics.add(subscription(4, "S", "a/b")));
    }
}
