//! What happened, as a running hash and, on request, as the last lines of text.
//!
//! Invariant: the hash covers every operation with its arguments, its data and its outcome, in order; so
//! two runs with equal hashes did the same things. (The hash is no protection against intent.)

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;

/// Shared by all parts of a world.
#[derive(Clone, Default)]
pub(crate) struct Trace {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    hash: u64,
    events: u64,
    lines: VecDeque<String>,
    keep: usize,
}

/// A hash of `bytes`: in four lanes of eight at a time, which do not wait for one another.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let (rows, rest) = bytes.as_chunks::<32>();
    let mut lanes = [1, 2, 3, 4];
    for row in rows {
        let (words, _) = row.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let (words, rest) = rest.as_chunks::<8>();
    let mut hash = lanes.into_iter().fold(mix(bytes.len() as u64, 0), mix);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    for byte in rest {
        hash = mix(hash, u64::from(*byte));
    }
    hash
}

fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ value).wrapping_mul(PRIME);
    mixed ^ (mixed >> 29)
}

impl Trace {
    /// Adds an event: a word for its kind, numbers, and the line to keep if lines are kept.
    pub(crate) fn record(&self, kind: &str, numbers: &[u64], line: impl FnOnce() -> String) {
        let mut inner = self.inner.lock();
        let mut hash = mix(inner.hash, digest(kind.as_bytes()));
        for number in numbers {
            hash = mix(hash, *number);
        }
        inner.hash = hash;
        inner.events += 1;
        if inner.keep > 0 {
            if inner.lines.len() == inner.keep {
                inner.lines.pop_front();
            }
            let line = format!("{} {kind} {}", inner.events, line());
            inner.lines.push_back(line);
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.inner.lock().hash
    }

    pub(crate) fn keep(&self, lines: usize) {
        let mut inner = self.inner.lock();
        inner.keep = lines;
        let excess = inner.lines.len().saturating_sub(lines);
        inner.lines.drain(..excess);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.inner.lock().lines.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_kind_numbers_and_lengths_all_count() {
        let hash = |events: &[(&str, &[u64])]| {
            let trace = Trace::default();
            for (kind, numbers) in events {
                trace.record(kind, numbers, String::new);
            }
            trace.hash()
        };
        let all = [
            hash(&[]),
            hash(&[("a", &[])]),
            hash(&[("b", &[])]),
            hash(&[("a", &[0])]),
            hash(&[("a", &[1, 2])]),
            hash(&[("a", &[2, 1])]),
            hash(&[("a", &[]), ("b", &[])]),
            hash(&[("b", &[]), ("a", &[])]),
        ];
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_ne!(digest(&[0; 8]), digest(&[0; 9]));
        assert_ne!(digest(b"12345678x"), digest(b"12345678y"));
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let trace = Trace::default();
        trace.record("none", &[], || unreachable!("no line is wanted"));
        trace.keep(2);
        for number in 0..4 {
            trace.record("n", &[number], || format!("number {number}"));
        }
        assert_eq!(trace.lines(), ["4 n number 2", "5 n number 3"]);
        trace.keep(1);
        assert_eq!(trace.lines(), ["5 n number 3"]);
    }
}
