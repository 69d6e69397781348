//! Whether the places that an image names in a queue file are apart from one another: one bit a block.
//!
//! Invariant: an image that names a block twice could not be started from, so it must never come into
//! force. This is looked at for every image, in every build.

use posthaste_store::Place;

const WORD: usize = 64;

/// The blocks named so far.
#[derive(Default)]
pub(crate) struct Disjoint(Vec<u64>);

impl Disjoint {
    /// Notes a place; `false` when a block of it has been named before.
    pub(crate) fn name(&mut self, place: Place) -> bool {
        let (from, to) = (place.block as usize, place.end() as usize);
        if to > self.0.len() * WORD {
            self.0.resize(to.div_ceil(WORD), 0);
        }
        (from..to).all(|block| {
            let (word, bit) = (&mut self.0[block / WORD], 1 << (block % WORD));
            let free = *word & bit == 0;
            *word |= bit;
            free
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_named_twice_are_noticed() {
        let place = |block, length| Place { block, length };
        let mut disjoint = Disjoint::default();
        assert!(disjoint.name(place(1, 10)));
        assert!(disjoint.name(place(60, 4000)));
        assert!(disjoint.name(place(2, 10)));
        assert!(!disjoint.name(place(64, 10)));
        assert!(!disjoint.name(place(1, 10)));
        assert!(disjoint.name(place(1000, 10)));
    }
}
