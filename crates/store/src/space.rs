//! Which blocks of a queue file are free.
//!
//! One bit a block, and over it a tree that knows the longest run of free blocks below each node. A million
//! items of five blocks cost under one byte each, however fragmented the file is, and finding room costs a
//! walk from the root to one leaf. A list of free extents would be smaller in the good case and 24 bytes
//! for every second message in the bad one.
//!
//! Invariants:
//! * A set bit is a block in use, past the end of the file, or one whose room is just being given back (`going`); block 0 is
//!   always in use (file header).
//! * `used` counts the blocks in use, without block 0.
//! * `freed` names every leaf in which a block has become free since its room was last given back, and `released`
//!   is how many have, less those that were taken again. `tried` of them were passed over when that was last tried,
//!   and count for it only together with others.
//! * Unless `stale`, every leaf describes its 1,024 bits and every node its two children. [`Space::reserve`]
//!   only sets bits, so that a restart can mark a million places in any order; the tree is built when the
//!   first allocation needs it.
//!
//! Placement: where the last allocation ended if that is free (items written one after another can be
//! read back with one read), else the lowest run that is long enough (the file stays short).

use std::collections::BTreeSet;

/// Blocks described by one leaf of the tree.
const LEAF: u32 = 1024;
const WORD: u32 = 64;
const LEAF_WORDS: usize = (LEAF / WORD) as usize;

/// Free blocks in a stretch of the file: at its start, at its end, and the longest run anywhere in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Runs {
    prefix: u32,
    suffix: u32,
    longest: u32,
}

impl Runs {
    /// The runs of two neighbours of `half` blocks each.
    fn join(self, right: Runs, half: u64) -> Runs {
        let prefix = if u64::from(self.prefix) == half {
            self.prefix + right.prefix
        } else {
            self.prefix
        };
        let suffix = if u64::from(right.suffix) == half {
            self.suffix + right.suffix
        } else {
            right.suffix
        };
        let across = self.suffix + right.prefix;
        Runs {
            prefix,
            suffix,
            longest: self.longest.max(right.longest).max(across),
        }
    }
}

/// The free-space map of one file.
#[derive(Debug)]
pub(crate) struct Space {
    words: Vec<u64>,
    blocks: u32,
    used: u64,
    /// Nodes in heap order: root at 1, children of `n` at `2n` and `2n + 1`, leaves in the upper half.
    tree: Vec<Runs>,
    stale: bool,
    cursor: u32,
    freed: BTreeSet<u32>,
    released: u64,
    tried: u64,
    /// Free blocks whose room is just being given back.
    going: u64,
}

impl Space {
    /// The map of a file of `blocks` blocks, all free except block 0. What room they have is not known: it counts as
    /// to be given back.
    pub(crate) fn new(blocks: u32) -> Space {
        let mut space = Space {
            words: Vec::new(),
            blocks: 0,
            used: 0,
            tree: Vec::new(),
            stale: true,
            cursor: 1,
            freed: (0..blocks.div_ceil(LEAF)).collect(),
            released: u64::from(blocks.saturating_sub(1)),
            tried: 0,
            going: 0,
        };
        space.extend(blocks.max(1));
        space.fill(0, 1, true);
        space
    }

    /// Blocks in the file, free or not.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Blocks in use, without block 0.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Where the next allocation goes if there is room.
    pub(crate) fn cursor(&self) -> u32 {
        self.cursor
    }

    /// Starts placing from the front again.
    pub(crate) fn rewind(&mut self) {
        self.cursor = 1;
    }

    /// First block after the last one in use; at least 1.
    pub(crate) fn high_water(&self) -> u32 {
        let mut end = self.blocks;
        while end > 1 {
            let word = (end - 1) / WORD;
            let low = word * WORD;
            let here = self.word(word) & mask(0, end - low);
            if here != 0 {
                return low + (WORD - here.leading_zeros());
            }
            end = low;
        }
        1
    }

    /// Bytes of memory the map takes.
    pub(crate) fn memory(&self) -> usize {
        self.words.capacity() * size_of::<u64>() + self.tree.capacity() * size_of::<Runs>()
    }

    /// Takes `count` contiguous free blocks, or `None` if there is no such run.
    pub(crate) fn allocate(&mut self, count: u32) -> Option<u32> {
        assert!(count > 0, "an item takes at least one block");
        self.freshen();
        let start = if self.is_free(self.cursor, count) {
            self.cursor
        } else {
            self.find(count)?
        };
        self.fill(start, count, true);
        self.refresh(start, count);
        self.used += u64::from(count);
        self.less_released(count);
        self.cursor = start + count;
        Some(start)
    }

    /// Gives back blocks that are in use.
    pub(crate) fn release(&mut self, start: u32, count: u32) {
        assert!(
            self.is_used(start, count),
            "blocks {start}+{count} are freed while some of them are free"
        );
        self.fill(start, count, false);
        self.used -= u64::from(count);
        self.released += u64::from(count);
        self.freed.extend(start / LEAF..=(start + count - 1) / LEAF);
        if self.used == 0 {
            self.rewind();
        }
        if !self.stale {
            self.refresh(start, count);
        }
    }

    /// Marks blocks as in use; `false`, and nothing changed, if some of them are already. Blocks past
    /// the end extend the map.
    pub(crate) fn reserve(&mut self, start: u32, count: u32) -> bool {
        let Some(end) = start.checked_add(count) else {
            return false;
        };
        if end > self.blocks {
            self.extend(end);
        }
        if !self.is_free(start, count) {
            return false;
        }
        self.fill(start, count, true);
        self.used += u64::from(count);
        self.less_released(count);
        self.stale = true;
        true
    }

    /// Adds free blocks at the end, so that there are `blocks`.
    pub(crate) fn extend(&mut self, blocks: u32) {
        assert!(blocks >= self.blocks, "extend only grows");
        let old = self.blocks;
        self.words.resize(blocks.div_ceil(WORD) as usize, u64::MAX);
        self.blocks = blocks;
        self.fill(old, blocks - old, false);
        if self.tree.len() / 2 < self.leaves() {
            self.stale = true;
        } else if !self.stale {
            self.refresh(old, blocks - old);
        }
    }

    /// Forgets the blocks from `blocks` on, which must all be free, and starts placing from the front.
    pub(crate) fn cut(&mut self, blocks: u32) {
        let blocks = blocks.max(1);
        assert!(
            blocks >= self.high_water(),
            "blocks in use are not cut away"
        );
        self.rewind();
        if blocks >= self.blocks {
            return;
        }
        self.less_released(self.blocks - blocks);
        self.freed.split_off(&blocks.div_ceil(LEAF));
        self.words.truncate(blocks.div_ceil(WORD) as usize);
        self.words.shrink_to_fit();
        self.blocks = blocks;
        let rest = self.words.len() as u32 * WORD - blocks;
        self.fill(blocks, rest, true);
        self.tree = Vec::new();
        self.stale = true;
    }

    /// Free blocks whose room has not been given back.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// How many of them have become free since it was last tried.
    pub(crate) fn untried(&self) -> u64 {
        self.released - self.tried
    }

    /// It has been tried: what is left now is in stretches that are too short, or cannot be given back.
    pub(crate) fn have_tried(&mut self) {
        self.tried = self.released;
    }

    fn less_released(&mut self, count: u32) {
        self.released = self.released.saturating_sub(u64::from(count));
        self.tried = self.tried.min(self.released);
    }

    /// Takes free blocks whose room has not been given back yet, as runs of whole pages (`page` blocks each) of at
    /// least `least` blocks, and keeps everyone else off them until [`Space::put_back`]. Looks at one leaf, the first
    /// from `leaf` on, and returns the number of the next; `None` when there is none left.
    pub(crate) fn take_freed(
        &mut self,
        leaf: u32,
        page: u32,
        least: u32,
    ) -> Option<(u32, Vec<(u32, u32)>)> {
        let leaf = self.freed.range(leaf..).next().copied()?;
        let from = leaf as usize * LEAF_WORDS;
        let to = (from + LEAF_WORDS).min(self.words.len());
        let (mut runs, mut passed_over) = (Vec::new(), false);
        let words = self.words.get(from..to).unwrap_or(&[]);
        clear_runs(words, |start, length| {
            let (start, end) = (leaf * LEAF + start, leaf * LEAF + start + length);
            let (start, end) = (start.next_multiple_of(page), end / page * page);
            match end.saturating_sub(start) {
                0 => {}
                count if count < least => passed_over = true,
                count => runs.push((start, count)),
            }
            false
        });
        if !passed_over {
            self.freed.remove(&leaf);
        }
        for (start, count) in &runs {
            self.less_released(*count);
            self.set_aside(*start, *count);
        }
        Some((leaf + 1, runs))
    }

    /// These blocks, which [`Space::take_freed`] has taken, are free again. Only of the first `given` the room has been
    /// given back.
    pub(crate) fn put_back(&mut self, runs: &[(u32, u32)], given: usize) {
        for (at, (start, count)) in runs.iter().enumerate() {
            self.set_free(*start, *count);
            if at >= given {
                self.released += u64::from(*count);
                self.freed.insert(start / LEAF);
            }
        }
    }

    /// Keeps everyone off the free blocks from `blocks` on until [`Space::end_cut`], while the file is made shorter.
    /// Returns how many they are.
    pub(crate) fn begin_cut(&mut self, blocks: u32) -> u32 {
        assert!(
            blocks >= self.high_water(),
            "blocks in use are not cut away"
        );
        let count = self.blocks.saturating_sub(blocks);
        self.set_aside(blocks, count);
        count
    }

    /// The `count` blocks from `blocks` on are gone, or free as before.
    pub(crate) fn end_cut(&mut self, blocks: u32, count: u32, gone: bool) {
        self.set_free(blocks, count);
        if gone {
            self.cut(blocks);
        }
    }

    fn set_aside(&mut self, start: u32, count: u32) {
        self.fill(start, count, true);
        self.going += u64::from(count);
        if !self.stale {
            self.refresh(start, count);
        }
    }

    fn set_free(&mut self, start: u32, count: u32) {
        self.fill(start, count, false);
        self.going = self.going.saturating_sub(u64::from(count));
        if !self.stale {
            self.refresh(start, count);
        }
    }

    /// Whether all of the blocks exist and are free.
    pub(crate) fn is_free(&self, start: u32, count: u32) -> bool {
        self.within(start, count) && self.all(start, count, |word, mask| word & mask == 0)
    }

    /// Whether all of the blocks exist and are in use.
    pub(crate) fn is_used(&self, start: u32, count: u32) -> bool {
        self.within(start, count) && self.all(start, count, |word, mask| word & mask == mask)
    }

    /// Holds it against the invariants at the head of this file.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        let set =
            pieces(1, self.blocks - 1).map(|(word, mask)| (self.word(word) & mask).count_ones());
        let used: u64 = set.map(u64::from).sum();
        if used != self.used + self.going || !self.is_used(0, 1) {
            return Err(format!(
                "{used} blocks of {} are in use, not {} and {} whose room is going",
                self.blocks, self.used, self.going
            ));
        }
        if self.stale {
            return Ok(());
        }
        let leaves = self.tree.len() / 2;
        let mut half = u64::from(LEAF);
        let measured = |node: usize| {
            let words = self.words.chunks(LEAF_WORDS).nth(node - leaves);
            words.map(measure).unwrap_or_default()
        };
        let wrong = (leaves..2 * leaves).find(|node| self.node(*node) != measured(*node));
        let mut row = leaves / 2;
        let mut wrong_above = None;
        while row > 0 && wrong_above.is_none() {
            let joined = |node: usize| self.node(2 * node).join(self.node(2 * node + 1), half);
            wrong_above = (row..2 * row).find(|node| self.node(*node) != joined(*node));
            (row, half) = (row / 2, half * 2);
        }
        match wrong.or(wrong_above) {
            Some(node) => Err(format!("node {node} of the tree of free runs is wrong")),
            None => Ok(()),
        }
    }

    fn within(&self, start: u32, count: u32) -> bool {
        start
            .checked_add(count)
            .is_some_and(|end| end <= self.blocks)
    }

    fn word(&self, index: u32) -> u64 {
        // Past the end everything counts as in use.
        self.words.get(index as usize).copied().unwrap_or(u64::MAX)
    }

    fn all(&self, start: u32, count: u32, test: impl Fn(u64, u64) -> bool) -> bool {
        pieces(start, count).all(|(word, mask)| test(self.word(word), mask))
    }

    /// Sets or clears bits; the tree is the caller's business.
    fn fill(&mut self, start: u32, count: u32, used: bool) {
        for (index, mask) in pieces(start, count) {
            if let Some(word) = self.words.get_mut(index as usize) {
                *word = if used { *word | mask } else { *word & !mask };
            }
        }
    }

    fn leaves(&self) -> usize {
        (self.blocks.div_ceil(LEAF) as usize).next_power_of_two()
    }

    fn node(&self, index: usize) -> Runs {
        self.tree.get(index).copied().unwrap_or_default()
    }

    /// Builds the whole tree if only the bits are right.
    fn freshen(&mut self) {
        if !self.stale {
            return;
        }
        let leaves = self.leaves();
        self.tree = vec![Runs::default(); 2 * leaves];
        self.stale = false;
        self.refresh(0, self.blocks);
    }

    /// Brings the leaves over a stretch of blocks, and the nodes above them, up to date.
    fn refresh(&mut self, start: u32, count: u32) {
        if count == 0 {
            return;
        }
        let leaves = self.tree.len() / 2;
        let mut low = leaves + (start / LEAF) as usize;
        let mut high = leaves + ((start + count - 1) / LEAF) as usize;
        for node in low..=high {
            let from = (node - leaves) * LEAF_WORDS;
            let to = (from + LEAF_WORDS).min(self.words.len());
            let runs = self.words.get(from..to).map(measure).unwrap_or_default();
            if let Some(slot) = self.tree.get_mut(node) {
                *slot = runs;
            }
        }
        let mut half = u64::from(LEAF);
        while low > 1 {
            low /= 2;
            high /= 2;
            for node in low..=high {
                let runs = self.node(2 * node).join(self.node(2 * node + 1), half);
                if let Some(slot) = self.tree.get_mut(node) {
                    *slot = runs;
                }
            }
            half *= 2;
        }
    }

    /// Start of the lowest run of at least `count` free blocks.
    fn find(&self, count: u32) -> Option<u32> {
        if self.node(1).longest < count {
            return None;
        }
        let leaves = self.tree.len() / 2;
        let mut node = 1;
        let mut start = 0u64;
        let mut half = leaves as u64 * u64::from(LEAF) / 2;
        while node < leaves {
            let left = self.node(2 * node);
            let right = self.node(2 * node + 1);
            if left.longest >= count {
                node *= 2;
            } else if left.suffix + right.prefix >= count {
                return u32::try_from(start + half - u64::from(left.suffix)).ok();
            } else {
                node = 2 * node + 1;
                start += half;
            }
            half /= 2;
        }
        let from = (node - leaves) * LEAF_WORDS;
        let words = self.words.get(from..)?;
        let within = first_run(words.get(..LEAF_WORDS).unwrap_or(words), count)?;
        u32::try_from(start + u64::from(within)).ok()
    }
}

/// Bits `from..to` of a word.
fn mask(from: u32, to: u32) -> u64 {
    let ones = to - from;
    if ones == 0 {
        0
    } else {
        (u64::MAX >> (WORD - ones)) << from
    }
}

/// The words a stretch of bits touches, each with its mask.
fn pieces(start: u32, count: u32) -> impl Iterator<Item = (u32, u64)> {
    let end = u64::from(start) + u64::from(count);
    let mut at = u64::from(start);
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let word = at / u64::from(WORD);
        let low = word * u64::from(WORD);
        let stop = end.min(low + u64::from(WORD));
        let piece = (word as u32, mask((at - low) as u32, (stop - low) as u32));
        at = stop;
        Some(piece)
    })
}

/// Calls `each(start, length)` for every run of clear bits, until it gives `true`.
fn clear_runs(words: &[u64], mut each: impl FnMut(u32, u32) -> bool) {
    let mut open: Option<u32> = None;
    let mut base = 0u32;
    for &word in words {
        let mut bit = 0;
        while bit < WORD {
            let rest = word >> bit;
            match open {
                None if rest == u64::MAX >> bit => bit = WORD,
                None => {
                    bit += rest.trailing_ones();
                    open = Some(base + bit);
                }
                Some(_) if rest == 0 => bit = WORD,
                Some(start) => {
                    bit += rest.trailing_zeros();
                    if each(start, base + bit - start) {
                        return;
                    }
                    open = None;
                }
            }
        }
        base += WORD;
    }
    if let Some(start) = open {
        each(start, base - start);
    }
}

fn measure(words: &[u64]) -> Runs {
    let mut runs = Runs::default();
    let total = words.len() as u32 * WORD;
    clear_runs(words, |start, length| {
        if start == 0 {
            runs.prefix = length;
        }
        if start + length == total && words.len() == LEAF_WORDS {
            // A leaf that the file does not fill has blocks past the end after it, and those are not free.
            runs.suffix = length;
        }
        runs.longest = runs.longest.max(length);
        false
    });
    runs
}

fn first_run(words: &[u64], count: u32) -> Option<u32> {
    let mut found = None;
    clear_runs(words, |start, length| {
        let fits = length >= count;
        if fits {
            found = Some(start);
        }
        fits
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::compare_with_naive;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]
        #[test]
        fn agrees_with_a_naive_map(steps in prop::collection::vec((any::<u8>(), any::<u32>()), 0..120)) {
            compare_with_naive(steps.into_iter());
        }

        #[test]
        fn agrees_on_small_items(steps in prop::collection::vec((0u8..5, 0u32..7), 0..400)) {
            compare_with_naive([(7, 4999)].into_iter().chain(steps));
        }
    }

    #[test]
    fn masks() {
        assert_eq!(mask(0, 64), u64::MAX);
        assert_eq!(mask(0, 0), 0);
        assert_eq!(mask(63, 64), 1 << 63);
        assert_eq!(pieces(60, 70).count(), 3);
    }

    #[test]
    fn a_million_items_cost_less_than_a_byte_each() {
        let mut space = Space::new(1 + 5_000_000);
        for n in 0..1_000_000u32 {
            assert_eq!(space.allocate(5), Some(1 + 5 * n));
        }
        assert_eq!(space.allocate(1), None);
        for n in (0..1_000_000u32).step_by(2) {
            space.release(1 + 5 * n, 5);
        }
        assert_eq!(space.used(), 2_500_000);
        // Half a million holes, and still: under one byte for each of the items.
        assert!(space.memory() < 1_000_000, "{}", space.memory());
        assert_eq!(space.allocate(6), None);
        assert_eq!(space.allocate(5), Some(1));
    }

    #[test]
    fn a_million_places_are_reserved_in_any_order() {
        let mut space = Space::new(1);
        let count = 1_000_003u64; // prime, so every place is met once
        for n in 0..count {
            let at = (n * 7_919 % count) as u32;
            assert!(space.reserve(1 + 5 * at, 5), "{at}");
        }
        assert!(!space.reserve(77, 1));
        assert_eq!(space.used(), 5 * count);
        assert_eq!(space.allocate(5), None);
    }

    #[test]
    fn runs_over_many_leaves_are_found() {
        let mut space = Space::new(1 + 10 * LEAF);
        let big = space.allocate(4 * LEAF).unwrap();
        let small = space.allocate(1).unwrap();
        space.release(big, 4 * LEAF);
        assert_eq!(space.allocate(6 * LEAF), None);
        assert_eq!(space.allocate(5 * LEAF), Some(small + 1));
        assert_eq!(space.allocate(4 * LEAF), Some(1));
    }

    #[test]
    #[should_panic(expected = "are freed while some of them are free")]
    fn freeing_twice_is_a_bug() {
        let mut space = Space::new(100);
        let at = space.allocate(3).unwrap();
        space.release(at, 3);
        space.release(at, 3);
    }
}
