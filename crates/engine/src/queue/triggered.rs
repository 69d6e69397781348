//! Which queues an initiation queue serves, and what a queue remembers of its triggers.
//!
//! Invariants: a queue with TRIGGER is here under the name of its initiation queue, and under no other. `Q` is a queue.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use posthaste_env::sync::Mutex;

use crate::record::QueueId;

/// What a queue remembers of its triggers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TriggerState {
    /// When the last trigger message was made, microseconds since 1970.
    pub(crate) last: i64,
}

/// Queues with TRIGGER by the names of their initiation queues. Its lock is a leaf.
pub(crate) struct Triggered<Q>(Mutex<Served<Q>>);

struct Served<Q> {
    by_initiation: HashMap<String, BTreeMap<QueueId, Weak<Q>>>,
    /// Under which name a queue is there.
    names: HashMap<QueueId, String>,
}

impl<Q> Default for Triggered<Q> {
    fn default() -> Self {
        Triggered(Mutex::new(Served {
            by_initiation: HashMap::default(),
            names: HashMap::default(),
        }))
    }
}

impl<Q> Triggered<Q> {
    /// Notes which initiation queue a queue has now, if any.
    pub(crate) fn note(&self, id: QueueId, queue: &Arc<Q>, initiation: Option<String>) {
        let mut served = self.0.lock();
        if initiation.as_ref() == served.names.get(&id) {
            return;
        }
        if let Some(name) = served.names.remove(&id)
            && let Some(queues) = served.by_initiation.get_mut(&name)
        {
            queues.remove(&id);
            if queues.is_empty() {
                served.by_initiation.remove(&name);
            }
        }
        if let Some(name) = initiation {
            let queues = served.by_initiation.entry(name.clone()).or_default();
            queues.insert(id, Arc::downgrade(queue));
            served.names.insert(id, name);
        }
    }

    /// The queues that an initiation queue serves.
    pub(crate) fn by(&self, initiation: &str) -> Vec<Arc<Q>> {
        let served = self.0.lock();
        let queues = served.by_initiation.get(initiation);
        let queues = queues.into_iter().flat_map(BTreeMap::values);
        queues.filter_map(Weak::upgrade).collect()
    }

    /// All queues that trigger.
    pub(crate) fn all(&self) -> Vec<Arc<Q>> {
        let served = self.0.lock();
        let queues = served.by_initiation.values().flat_map(BTreeMap::values);
        queues.filter_map(Weak::upgrade).collect()
    }
}
