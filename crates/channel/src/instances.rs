//! The instances of all channels: by their numbers, and how many each channel has, in all and from each host.
//!
//! Invariants: the counts are those of the instances. What an admission asks costs the same however many there are;
//! who looks at all of them ([`Instances::all`] is the only way) is counted in verification, so that a test can tell.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use posthaste_net::Host;

use crate::registry::Instance;

/// How many instances a channel has.
#[derive(Default)]
struct Counts {
    in_all: usize,
    per_host: HashMap<Option<Host>, usize>,
}

#[derive(Default)]
pub(crate) struct Instances {
    by_number: BTreeMap<u64, Arc<Instance>>,
    /// Of channels with instances.
    counts: HashMap<String, Counts>,
    #[cfg(feature = "plant")]
    pub(crate) looked_at: u64,
}

impl Instances {
    pub(crate) fn insert(&mut self, instance: &Arc<Instance>) {
        let counts = self.counts.entry(instance.channel.clone()).or_default();
        counts.in_all += 1;
        *counts.per_host.entry(instance.host).or_default() += 1;
        self.by_number.insert(instance.id, Arc::clone(instance));
    }

    pub(crate) fn remove(&mut self, instance: &Instance) {
        self.by_number.remove(&instance.id);
        let Some(counts) = self.counts.get_mut(&instance.channel) else {
            return;
        };
        counts.in_all -= 1;
        if counts.in_all == 0 {
            self.counts.remove(&instance.channel);
        } else if let Some(from_there) = counts.per_host.get_mut(&instance.host) {
            *from_there -= 1;
            if *from_there == 0 {
                counts.per_host.remove(&instance.host);
            }
        }
    }

    /// Instances of a channel: in all, and from one host.
    pub(crate) fn count(&self, channel: &str, host: Option<Host>) -> (usize, usize) {
        self.counts.get(channel).map_or((0, 0), |counts| {
            let from_there = counts.per_host.get(&host).copied().unwrap_or(0);
            (counts.in_all, from_there)
        })
    }

    /// All of them, in the order of their starts.
    pub(crate) fn all(&mut self) -> Vec<Arc<Instance>> {
        #[cfg(feature = "plant")]
        {
            self.looked_at += self.by_number.len() as u64;
        }
        self.by_number.values().cloned().collect()
    }
}
