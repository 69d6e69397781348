//! Filters by what they match: which subscribers a publication is for, without asking each of them.
//!
//! Invariants:
//! * A visit is paid to each value whose filter matches, once, and to no other.
//! * What a search costs depends on the levels of the topic string and on what matches its beginnings, not on how many
//!   filters there are. Filters of the character scheme are found by their text before the first wildcard.
//! * A key of a value that was removed finds nothing, also when its slot was given away again.
//! * The order of visits depends on the calls before only.

use crate::filter::{Filter, Kind};
use crate::levels::{self, Levels};
use crate::prefixes::{self, Prefixes};

/// Values of subscribers by their filters.
#[derive(Debug)]
pub struct Subscribers<T> {
    levels: Levels<T>,
    /// Those of the character scheme, by what their topic strings begin with.
    characters: Prefixes<Entry<T>>,
    slots: Vec<Slot>,
    free: Vec<usize>,
}

/// What a value is removed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    slot: usize,
    generation: u64,
}

#[derive(Debug)]
struct Slot {
    generation: u64,
    place: Option<Place>,
}

#[derive(Debug)]
enum Place {
    Levels(levels::Place),
    Characters(prefixes::Place),
}

#[derive(Debug)]
struct Entry<T> {
    slot: usize,
    filter: Filter,
    value: T,
}

impl<T> Default for Subscribers<T> {
    fn default() -> Self {
        Self {
            levels: Levels::default(),
            characters: Prefixes::default(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Subscribers<T> {
    /// Adds a value under a filter, beside others of the same filter.
    pub fn insert(&mut self, filter: &Filter, value: T) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                place: None,
            });
            self.slots.len() - 1
        });
        let place = match filter.kind() {
            Kind::Exact(topic) => Place::Levels(self.levels.insert_exact(topic, slot, value)),
            Kind::Levels => Place::Levels(self.levels.insert(filter.text(), slot, value)),
            Kind::Characters(_) => {
                let entry = Entry {
                    slot,
                    filter: filter.clone(),
                    value,
                };
                Place::Characters(self.characters.insert(filter.prefix(), entry))
            }
        };
        self.slots[slot].place = Some(place);
        Key {
            slot,
            generation: self.slots[slot].generation,
        }
    }

    /// Takes a value away.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let slot = self.slots.get_mut(key.slot)?;
        if slot.generation != key.generation {
            return None;
        }
        let place = slot.place.take()?;
        slot.generation += 1;
        self.free.push(key.slot);
        let (value, moved) = match &place {
            Place::Levels(place) => self.levels.remove(*place),
            Place::Characters(place) => {
                let (removed, moved) = self.characters.remove(*place);
                (removed.value, moved.map(|entry| entry.slot))
            }
        };
        if let Some(moved) = moved {
            self.slots[moved].place = Some(place);
        }
        Some(value)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        let slot = self.slots.get(key.slot)?;
        if slot.generation != key.generation {
            return None;
        }
        match slot.place.as_ref()? {
            Place::Levels(place) => Some(self.levels.get(*place)),
            Place::Characters(place) => Some(&self.characters.get(*place).value),
        }
    }

    /// Visits the value of each filter that matches a topic string.
    pub fn matching(&self, topic: &str, mut visit: impl FnMut(&T)) {
        self.levels.matching(topic, &mut visit);
        self.characters.beginning(topic, |entry| {
            if entry.filter.matches(topic) {
                visit(&entry.value);
            }
        });
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scheme;

    fn add(subscribers: &mut Subscribers<u32>, text: &str, scheme: Scheme, value: u32) -> Key {
        let filter = Filter::new(text, scheme).expect("a filter");
        subscribers.insert(&filter, value)
    }

    fn matching(subscribers: &Subscribers<u32>, topic: &str) -> Vec<u32> {
        let mut found = Vec::new();
        subscribers.matching(topic, |value| found.push(*value));
        found.sort_unstable();
        found
    }

    #[test]
    fn everybody_whose_filter_matches_is_visited_once() {
        let mut all = Subscribers::default();
        for (value, text) in ["#", "#/a/#", "#/a/#/a/#", "a/+", "+/#", "a/a", "a/a", "b"]
            .iter()
            .enumerate()
        {
            add(&mut all, text, Scheme::Topic, value as u32);
        }
        add(&mut all, "a*", Scheme::Character, 10);
        add(&mut all, "*a*a*", Scheme::Character, 11);
        add(&mut all, "a/a", Scheme::Character, 12);
        assert_eq!(matching(&all, "a/a"), [0, 1, 2, 3, 4, 5, 6, 10, 11, 12]);
        assert_eq!(matching(&all, "a/a/a/a"), [0, 1, 2, 4, 10, 11]);
        assert_eq!(matching(&all, "$SYS/MQ/a/a"), [0; 0]);
        assert_eq!(matching(&all, "b"), [0, 4, 7]);
    }

    #[test]
    fn a_key_is_good_for_one_value() {
        let mut all = Subscribers::default();
        let mut keys = Vec::new();
        for (value, (text, scheme)) in [
            ("a/b", Scheme::Topic),
            ("a/b", Scheme::Topic),
            ("a/b", Scheme::Topic),
            ("a?b", Scheme::Character),
            ("a?b", Scheme::Character),
            ("a?b", Scheme::Character),
        ]
        .into_iter()
        .enumerate()
        {
            keys.push(add(&mut all, text, scheme, value as u32));
        }
        assert_eq!(
            (all.remove(keys[0]), all.remove(keys[3])),
            (Some(0), Some(3))
        );
        assert_eq!((all.remove(keys[0]), all.get(keys[3])), (None, None));
        // What took their places is found by its own key.
        assert_eq!((all.get(keys[2]), all.get(keys[5])), (Some(&2), Some(&5)));
        let again = add(&mut all, "a/b", Scheme::Topic, 9);
        assert_eq!((all.remove(keys[3]), all.get(again)), (None, Some(&9)));
        assert_eq!(matching(&all, "a/b"), [1, 2, 4, 5, 9]);
        for key in [keys[1], keys[2], keys[4], keys[5], again] {
            assert!(all.remove(key).is_some());
        }
        assert_eq!((all.len(), matching(&all, "a/b")), (0, vec![]));
        assert!(all.is_empty() && all.characters.is_empty());
    }

    /// With a state for each way through the `#`, this would be more states than can be counted.
    #[test]
    fn filters_with_many_wildcards_cost_no_more_than_their_levels() {
        let mut all = Subscribers::default();
        let text = "#/a/".repeat(300);
        add(&mut all, &format!("{text}b"), Scheme::Topic, 1);
        add(&mut all, &format!("{text}#"), Scheme::Topic, 2);
        let topic = "a/".repeat(1_000);
        crate::steps::taken();
        assert_eq!(matching(&all, &topic), [2]);
        let steps = crate::steps::taken();
        assert!(steps <= 1_001 * 602, "{steps}");
    }

    /// Subscriptions share no node here, and each is in as many states as a new one may ever be.
    #[test]
    fn a_new_subscription_costs_few_steps_for_each_level() {
        let most = crate::MOST_BEHIND_MANY;
        for behind in [
            "/a/#".repeat(most / 2),
            "/a".repeat(most),
            "/+".repeat(most),
        ] {
            let mut all = Subscribers::default();
            let count = 20;
            for number in 0..count {
                let text = format!("dev/{}#{behind}", "+/".repeat(number));
                let filter = Filter::new(&text, Scheme::Topic).expect("a filter");
                assert_eq!(filter.check_limits(), Ok(()));
                all.insert(&filter, 1);
                // One level more, and it is refused.
                let text = format!("{text}/yi");
                let filter = Filter::new(&text, Scheme::Topic).expect("a filter");
                assert!(filter.check_limits().is_err());
            }
            let topic = format!("dev{}", "/a".repeat(crate::MOST_LEVELS - 1));
            assert_eq!(crate::check(&topic), Ok(()));
            crate::steps::taken();
            assert_eq!(matching(&all, &topic), vec![1; count]);
            let steps = crate::steps::taken();
            let bound = crate::MOST_LEVELS * (2 + count * (most + 1));
            assert!(steps <= bound, "{behind}: {steps} of {bound}");
            // No bound that nothing comes near.
            assert!(steps >= bound / 2, "{behind}: {steps} of {bound}");
        }
    }
}
