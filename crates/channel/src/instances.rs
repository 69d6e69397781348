//! The instances of all channels: by their numbers, and how many each channel has, in all and from each host; and those
//! on which no application has connected.
//!
//! Invariants: the counts are those of the instances. MAXINSTC counts hosts, and who loses a place for it is of the newcomer's;
//! for MAXINST it is one of the largest crowd, and of IPv6 a site is one crowd, whatever addresses it uses. What an admission asks costs the same however many there are;
//! who looks at all of them ([`Instances::all`] is the only way) is counted in verification, so that a test can tell.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use posthaste_env::{Nanos, site};
use posthaste_net::{HalfOpens, Host};

use crate::instance::Instance;

/// How many instances a channel has.
#[derive(Default)]
struct Counts {
    in_all: usize,
    per_host: HashMap<Option<Host>, usize>,
    /// Those on which no application has connected, by host and by site.
    half_open: HalfOpens<Arc<Instance>>,
    of_sites: HalfOpens<Arc<Instance>>,
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

impl Counts {
    fn no_longer_half_open(&mut self, instance: &Instance) {
        self.half_open.remove(instance.id, instance.host);
        self.of_sites.remove(instance.id, instance.host.map(site));
    }
}

impl Instances {
    /// `now`: when it was admitted.
    pub(crate) fn insert(&mut self, instance: &Arc<Instance>, now: Nanos) {
        let counts = self.counts.entry(instance.channel.clone()).or_default();
        counts.in_all += 1;
        *counts.per_host.entry(instance.host).or_default() += 1;
        let (id, host) = (instance.id, instance.host);
        counts.half_open.insert(id, host, now, Arc::clone(instance));
        let site = host.map(site);
        counts.of_sites.insert(id, site, now, Arc::clone(instance));
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
        counts.no_longer_half_open(instance);
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
            counts.no_longer_half_open(instance);
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
        let counts = self.counts.get(channel)?;
        let victim = match full {
            Full::InAll => counts.of_sites.victim(host.map(site), now),
            Full::FromHost => counts.half_open.victim_of(host, now),
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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use posthaste_net::Traffic;

    use super::*;
    use crate::instance::Start;

    const SECOND: Nanos = 1_000_000_000;

    fn host(text: &str) -> Option<Host> {
        text.parse().ok()
    }

    fn all(from: &[&str]) -> Instances {
        let mut instances = Instances::default();
        for (id, from) in (1..).zip(from) {
            let start = Start {
                id,
                channel: "C".to_owned(),
                conname: (*from).to_owned(),
                host: host(from),
                started: 0,
            };
            let traffic = Arc::new(Traffic::default());
            let instance = Instance::new(start, None, &traffic, Waker::noop().clone());
            instances.insert(&Arc::new(instance), id * SECOND);
        }
        instances
    }

    fn victim(instances: &Instances, newcomer: &str, full: Full) -> Option<u64> {
        // Later than all of them, of whom none is young.
        let victim = instances.victim("C", host(newcomer), full, 1_000 * SECOND);
        victim.map(|instance| instance.id)
    }

    #[test]
    fn many_addresses_of_one_site_are_one_crowd() {
        let site = ["2001:db8::1", "2001:db8::2", "2001:db8::3"];
        let from = ["192.0.2.1", "192.0.2.1", site[0], site[1], site[2]];
        let mut instances = all(&from);
        assert_eq!(victim(&instances, "192.0.2.9", Full::InAll), Some(3));
        // Its own newcomers take the places of its own.
        assert_eq!(victim(&instances, "2001:db8::4", Full::InAll), Some(3));
        // Of one host only its own make room for it.
        assert_eq!(victim(&instances, site[1], Full::FromHost), Some(4));
        assert_eq!(victim(&instances, "2001:db8::4", Full::FromHost), None);
        for id in [3, 4] {
            let gone = Arc::clone(&instances.by_number[&id]);
            instances.remove(&gone);
        }
        assert_eq!(victim(&instances, "192.0.2.9", Full::InAll), Some(1));
        assert_eq!(victim(&instances, site[0], Full::FromHost), None);
        let established = Arc::clone(&instances.by_number[&5]);
        assert!(instances.establish(&established));
        assert_eq!(victim(&instances, site[2], Full::FromHost), None);
    }
}
