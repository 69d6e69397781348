//! The instances of all channels: by their numbers, and how many each channel has, in all and from each host; and those
//! on which no application has connected.
//!
//! Invariants: the counts are those of the instances. What an admission asks costs the same however many there are;
//! who looks at all of them ([`Instances::all`] is the only way) is counted in verification, so that a test can tell.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use posthaste_env::Nanos;
use posthaste_net::{HalfOpens, Host};

use crate::instance::Instance;

/// How many instances a channel has.
#[derive(Default)]
struct Counts {
    in_all: usize,
    per_host: HashMap<Option<Host>, usize>,
    /// Those on which no application has connected.
    half_open: HalfOpens<Arc<Instance>>,
}

/// Which limit of a channel is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Full {
    /// MAXINST.
    InAll,
    /// MAXINSTC.
    FromHost,
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
    /// `now`: when it was admitted.
    pub(crate) fn insert(&mut self, instance: &Arc<Instance>, now: Nanos) {
        let counts = self.counts.entry(instance.channel.clone()).or_default();
        counts.in_all += 1;
        *counts.per_host.entry(instance.host).or_default() += 1;
        let (id, host) = (instance.id, instance.host);
        counts.half_open.insert(id, host, now, Arc::clone(instance));
        self.by_number.insert(instance.id, Arc::clone(instance));
    }

    /// Takes one out, unless it is out already.
    pub(crate) fn remove(&mut self, instance: &Instance) {
        if self.by_number.remove(&instance.id).is_none() {
            return;
        }
        let Some(counts) = self.counts.get_mut(&instance.channel) else {
            return;
        };
        counts.half_open.remove(instance.id, instance.host);
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

    /// An application connects on it: it keeps its place from now on; false if it has lost it already.
    pub(crate) fn establish(&mut self, instance: &Instance) -> bool {
        if let Some(counts) = self.counts.get_mut(&instance.channel) {
            counts.half_open.remove(instance.id, instance.host);
        }
        self.by_number.contains_key(&instance.id)
    }

    /// Who of a channel that is full loses its place to a newcomer from `host`, if anybody.
    pub(crate) fn victim(
        &self,
        channel: &str,
        host: Option<Host>,
        full: Full,
        now: Nanos,
    ) -> Option<Arc<Instance>> {
        let half_open = &self.counts.get(channel)?.half_open;
        let victim = match full {
            Full::InAll => half_open.victim(host, now),
            Full::FromHost => half_open.victim_of(host, now),
        };
        victim.map(|(_, instance)| instance)
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
