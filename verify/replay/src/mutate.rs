//! Mutations of an input: small damage of the kinds that find decoder bugs.
//!
//! Invariant: a mutation depends on nothing but the target's name, the bytes and the mutation's number.

/// Values that lengths, counts and indexes go wrong at.
const EDGES: [u32; 12] = [
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
];

/// Longest input that is made.
const LONGEST: usize = 64 << 10;

/// A source of repeatable damage.
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// The source for mutation `number` of `bytes`.
    pub fn new(target: &str, bytes: &[u8], number: u64) -> Self {
        // FNV-1a over what the mutation depends on; xorshift needs a state other than zero.
        let mut state: u64 = 0xCBF2_9CE4_8422_2325;
        for byte in target
            .bytes()
            .chain(bytes.iter().copied())
            .chain(number.to_le_bytes())
        {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        Mutator { state: state | 1 }
    }

    fn draw(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `limit`; 0 if that is 0.
    fn below(&mut self, limit: usize) -> usize {
        match u64::try_from(limit) {
            Ok(limit) if limit > 0 => usize::try_from(self.draw() % limit).unwrap_or(0),
            _ => 0,
        }
    }

    /// A damaged copy of `bytes`; `others` are inputs that parts may be taken from.
    pub fn mutate(&mut self, bytes: &[u8], others: &[&[u8]]) -> Vec<u8> {
        let mut input = bytes.to_vec();
        // Mostly a single wound, so that the rest still decodes; sometimes many.
        let wounds = 1 + self.below(4).saturating_sub(1) * self.below(4);
        for _ in 0..wounds {
            self.wound(&mut input, others);
        }
        input.truncate(LONGEST);
        input
    }

    fn wound(&mut self, input: &mut Vec<u8>, others: &[&[u8]]) {
        let at = self.below(input.len());
        match self.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << (self.draw() % 8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = (self.draw() & 0xFF) as u8;
                }
            }
            2 | 3 => self.write_edge(input, at),
            4 => input.truncate(at),
            5 => {
                let end = at + self.below(input.len() - at + 1);
                input.drain(at..end);
            }
            6 => {
                let end = at + self.below(input.len() - at + 1).min(64);
                let copy = input.get(at..end).unwrap_or(&[]).to_vec();
                let into = self.below(input.len() + 1);
                input.splice(into..into, copy);
            }
            7 => {
                let length = self.below(9);
                let filler = (self.draw() & 0xFF) as u8;
                input.splice(at..at, std::iter::repeat_n(filler, length));
            }
            _ => {
                let other = others.get(self.below(others.len())).copied().unwrap_or(&[]);
                let from = self.below(other.len());
                input.truncate(at);
                input.extend_from_slice(other.get(from..).unwrap_or(&[]));
            }
        }
    }

    /// An edge value over one, two or four bytes, in either byte order.
    fn write_edge(&mut self, input: &mut [u8], at: usize) {
        let value = EDGES.get(self.below(EDGES.len())).copied().unwrap_or(0);
        let width = 1 << self.below(3);
        let bytes = value.to_le_bytes();
        let big = self.below(2) == 1;
        for index in 0..width {
            let from = if big { width - 1 - index } else { index };
            if let (Some(to), Some(byte)) = (input.get_mut(at + index), bytes.get(from)) {
                *to = *byte;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn mutations_are_repeatable_and_various() {
        let bytes = b"The quick brown fox jumps over the lazy dog".as_slice();
        let make = |number| Mutator::new("t", bytes, number).mutate(bytes, &[bytes, b"other"]);
        let all: BTreeSet<Vec<u8>> = (0..1_000).map(make).collect();
        assert!(all.len() > 800, "only {} different ones", all.len());
        assert!(all.iter().any(|m| m.len() < bytes.len()));
        assert!(all.iter().any(|m| m.len() > bytes.len()));
        assert!(all.iter().any(|m| m.len() == bytes.len() && m != bytes));
        for number in 0..100 {
            assert_eq!(make(number), make(number));
        }
        assert_ne!(
            Mutator::new("t", bytes, 1).mutate(bytes, &[]),
            Mutator::new("u", bytes, 1).mutate(bytes, &[])
        );
    }

    #[test]
    fn empty_and_long_inputs_are_fine() {
        let long = vec![7; LONGEST + 10];
        for number in 0..500 {
            Mutator::new("t", b"", number).mutate(b"", &[]);
            let made = Mutator::new("t", b"x", number).mutate(&long, &[&long]);
            assert!(made.len() <= LONGEST);
        }
    }
}
