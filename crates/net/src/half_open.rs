//! Connections that have not said who they are, and which of them loses its place first.
//!
//! Invariants: the address with the most of them loses the oldest of its own. Who came less than [`YOUNG`] ago keeps his
//! place against newcomers from the same address, so that many clients that come at the same time are all served; it
//! does not help an address against others that have fewer. The number of them does not matter to the cost.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::address::Host;
use posthaste_env::Nanos;

/// How long a half-open connection has its place for certain, against its like.
const YOUNG: Nanos = 1_000_000_000;

/// Whoever is counted together: an address, or this machine's own sockets.
type Origin = Option<Host>;

struct HalfOpen<T> {
    since: Nanos,
    place: T,
}

/// All half-open connections; `T` is what is known of the place of each.
pub struct HalfOpens<T> {
    /// By where they are from; the oldest first.
    from: HashMap<Origin, BTreeMap<u64, HalfOpen<T>>>,
    /// How many are from where.
    crowds: BTreeSet<(usize, Origin)>,
    in_all: usize,
}

impl<T> Default for HalfOpens<T> {
    fn default() -> Self {
        HalfOpens {
            from: HashMap::new(),
            crowds: BTreeSet::new(),
            in_all: 0,
        }
    }
}

impl<T: Clone> HalfOpens<T> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.in_all
    }

    /// `id` is greater than all before.
    pub fn insert(&mut self, id: u64, from: Origin, since: Nanos, place: T) {
        let half_open = HalfOpen { since, place };
        let crowd = self.from.entry(from).or_default();
        self.crowds.remove(&(crowd.len(), from));
        crowd.insert(id, half_open);
        self.crowds.insert((crowd.len(), from));
        self.in_all += 1;
    }

    /// Whether it was one.
    pub fn remove(&mut self, id: u64, from: Origin) -> bool {
        let Some(crowd) = self.from.get_mut(&from) else {
            return false;
        };
        let before = crowd.len();
        if crowd.remove(&id).is_none() {
            return false;
        }
        self.crowds.remove(&(before, from));
        match crowd.len() {
            0 => drop(self.from.remove(&from)),
            left => drop(self.crowds.insert((left, from))),
        }
        self.in_all -= 1;
        true
    }

    /// Who has to go for a newcomer `from` there, if anybody.
    pub fn victim(&self, from: Origin, now: Nanos) -> Option<(u64, T)> {
        let of_newcomer = self.from.get(&from).map_or(0, BTreeMap::len);
        let (most, crowded) = self.crowds.last()?;
        // With the newcomer, his address would have as many: then it is no crowd beside his.
        let crowded = if *crowded != from && *most > of_newcomer + 1 {
            return self.oldest(*crowded, None);
        } else {
            *crowded
        };
        self.oldest(crowded, Some(now))
    }

    /// Who of those from there has to go for one more from there, if anybody.
    pub fn victim_of(&self, from: Origin, now: Nanos) -> Option<(u64, T)> {
        self.oldest(from, Some(now))
    }

    /// The oldest from there; with a time, only if it is not young.
    fn oldest(&self, from: Origin, now: Option<Nanos>) -> Option<(u64, T)> {
        let (id, oldest) = self.from.get(&from)?.first_key_value()?;
        let young = now.is_some_and(|now| now.saturating_sub(oldest.since) < YOUNG);
        (!young).then(|| (*id, oldest.place.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(last: u8) -> Origin {
        Some(Host::from([127, 0, 0, last]))
    }

    #[test]
    fn the_oldest_of_the_largest_crowd_goes_and_youth_helps_against_ones_like_only() {
        let mut all = HalfOpens::default();
        let goes = |all: &HalfOpens<()>, from, now| all.victim(from, now).map(|(id, _)| id);
        assert_eq!(goes(&all, host(1), 0), None);
        for (id, from) in [(1, 1), (2, 2), (3, 2), (4, 2)] {
            all.insert(id, host(from), id * YOUNG, ());
        }
        // The oldest in all is not from the crowd.
        assert_eq!(goes(&all, host(3), 4 * YOUNG), Some(2));
        assert_eq!(goes(&all, host(1), 0), Some(2), "young, but of a crowd");
        assert_eq!(
            goes(&all, host(2), 2 * YOUNG),
            None,
            "young, and one of theirs"
        );
        assert_eq!(goes(&all, host(2), 3 * YOUNG), Some(2));
        assert_eq!(all.victim_of(host(1), 2 * YOUNG).map(|(id, _)| id), Some(1));
        assert_eq!(all.victim_of(host(3), 9 * YOUNG).map(|(id, _)| id), None);
        assert!(all.remove(2, host(2)) && !all.remove(2, host(2)));
        // Two against one: with the newcomer it would be as many.
        assert_eq!(goes(&all, host(1), 3 * YOUNG), None);
        assert_eq!(goes(&all, host(1), 4 * YOUNG), Some(3));
        for (id, from) in [(1, 1), (3, 2), (4, 2)] {
            assert!(all.remove(id, host(from)));
        }
        assert_eq!((all.count(), goes(&all, host(1), 9 * YOUNG)), (0, None));
        assert!(all.from.is_empty() && all.crowds.is_empty());
    }
}
