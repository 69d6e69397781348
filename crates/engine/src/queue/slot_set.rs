//! Places in a queue's index, a bit each.
//!
//! Invariant: it is as long as the last place that was ever in it needs.

use super::index::SlotId;

const BITS: SlotId = u64::BITS;

#[derive(Default)]
pub(super) struct SlotSet(Vec<u64>);

impl SlotSet {
    fn at(slot: SlotId) -> (usize, u64) {
        ((slot / BITS) as usize, 1 << (slot % BITS))
    }

    pub(super) fn contains(&self, slot: SlotId) -> bool {
        let (word, bit) = Self::at(slot);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    pub(super) fn insert(&mut self, slot: SlotId) {
        let (word, bit) = Self::at(slot);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// Whether it was there.
    pub(super) fn remove(&mut self, slot: SlotId) -> bool {
        let (word, bit) = Self::at(slot);
        let Some(bits) = self.0.get_mut(word) else {
            return false;
        };
        let was = *bits & bit != 0;
        *bits &= !bit;
        was
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = SlotId> + '_ {
        let words = (0..).zip(&self.0);
        words.flat_map(|(word, bits)| {
            (0..BITS)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| word * BITS + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_there() {
        let mut set = SlotSet::default();
        for slot in [0, 63, 64, 1_000] {
            assert!(!set.contains(slot));
            set.insert(slot);
            set.insert(slot);
            assert!(set.contains(slot) && !set.contains(slot + 1));
        }
        assert!(set.remove(63) && !set.remove(63) && !set.remove(9_999));
        assert!(set.iter().eq([0, 64, 1_000]));
    }
}
