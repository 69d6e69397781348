//! The pseudo-random numbers every simulated choice is drawn from.
//!
//! The generator is xoshiro256** (Blackman and Vigna, 2018), its state filled by SplitMix64 from the
//! seed as its authors advise. Both are written here rather than taken from a library because a seed in
//! a bug report must replay years later, whatever a library has changed meanwhile.
//!
//! Invariant: the numbers of a seed never change; a test pins them.

/// A deterministic stream of pseudo-random numbers. Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Rng {
    /// The stream of `seed`.
    pub fn new(mut seed: u64) -> Self {
        Self {
            state: std::array::from_fn(|_| split_mix(&mut seed)),
        }
    }

    /// A new stream, independent of what is drawn from this one later.
    pub fn fork(&mut self) -> Rng {
        Rng::new(self.next_u64())
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// A number from 0 up to but not including `n`; 0 for `n` = 0. (The bias is below n / 2^64.)
    pub fn below(&mut self, n: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(n);
        (wide >> 64) as u64
    }

    /// A number from `low` to `high`, both included; `low` if they are the wrong way round.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match high.saturating_sub(low).checked_add(1) {
            Some(span) => low + self.below(span),
            None => self.next_u64(),
        }
    }

    /// Heads or tails.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// True `per_million` times in a million.
    pub fn chance(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < u64::from(per_million)
    }

    /// One of the items; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// An index below `length`; 0 for an empty list.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }

    /// Fills `buf` with random bytes.
    pub fn fill(&mut self, buf: &mut [u8]) {
        for part in buf.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            for (to, from) in part.iter_mut().zip(bytes) {
                *to = from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        // SplitMix64 of seed 0 is published with the algorithm; the rest pins this file.
        let mut seed = 0;
        assert_eq!(split_mix(&mut seed), 0xE220_A839_7B1D_CDAF);
        assert_eq!(split_mix(&mut seed), 0x6E78_9E6A_A1B9_65F4);
        let mut rng = Rng::new(0);
        let drawn: [u64; 3] = std::array::from_fn(|_| rng.next_u64());
        assert_eq!(
            drawn,
            [
                11_091_344_671_253_066_420,
                13_793_997_310_169_335_082,
                1_900_383_378_846_508_768
            ]
        );
    }

    #[test]
    fn numbers_stay_in_their_bounds_and_reach_all_values() {
        let mut rng = Rng::new(1);
        let mut seen = [0_u32; 5];
        for _ in 0..10_000 {
            seen[rng.below(5) as usize] += 1;
            assert!((7..=9).contains(&rng.between(7, 9)));
        }
        assert!(seen.iter().all(|count| (1_800..2_200).contains(count)));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
        assert_eq!(rng.between(4, 4), 4);
        assert_eq!(rng.between(4, 3), 4);
        rng.between(0, u64::MAX);
        assert_eq!(rng.pick::<u8>(&[]), None);
    }

    #[test]
    fn chances_come_as_often_as_they_say() {
        let mut rng = Rng::new(2);
        for (per_million, least, most) in [
            (0, 0, 0),
            (1_000_000, 20_000, 20_000),
            (100_000, 1_800, 2_200),
        ] {
            let hits = (0..20_000).filter(|_| rng.chance(per_million)).count();
            assert!((least..=most).contains(&hits), "{per_million}: {hits}");
        }
        let heads = (0..10_000).filter(|_| rng.coin()).count();
        assert!((4_800..5_200).contains(&heads));
    }

    #[test]
    fn shuffling_keeps_the_items_and_filling_reaches_the_end() {
        let mut rng = Rng::new(3);
        let mut items: Vec<u32> = (0..50).collect();
        rng.shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
        let mut ends = std::collections::BTreeSet::new();
        for _ in 0..20 {
            let mut buf = [0; 13];
            rng.fill(&mut buf);
            ends.insert(buf[12]);
        }
        assert!(ends.len() > 10);
    }

    #[test]
    fn forks_are_their_own_streams() {
        let mut rng = Rng::new(4);
        let mut first = rng.fork();
        let mut second = rng.fork();
        assert_ne!(first.next_u64(), second.next_u64());
        let mut again = Rng::new(4);
        let mut fork = again.fork();
        again.next_u64();
        assert_eq!(fork.next_u64(), Rng::new(4).fork().next_u64());
    }
}
