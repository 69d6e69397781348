//! One direction of a connection as a line of known length and width: what goes in comes out unchanged, in
//! order, and later.
//!
//! Invariants:
//! * Bytes come out in the order in which they went in; the end comes out last.
//! * A chunk is due when its last byte has passed the narrowest place (`bandwidth`) and then travelled
//!   (`delay`, give or take `jitter`), and never before a chunk that went in earlier. Where the bandwidth
//!   is limited, what was read at once is cut into segments, each with a time of its own, so that it trickles
//!   out as it would from a wire.
//! * At most `capacity` bytes and [`MOST_CHUNKS`] chunks are held; the caller reads no more than
//!   [`Line::room`].
//! * Nothing here looks at a clock: every time is handed in.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use posthaste_env::Nanos;

use super::{Way, nanos};

/// A segment as an Ethernet carries it, without headers.
const SEGMENT: usize = 1448;
/// Chunks in one line; each costs as much memory as two words.
const MOST_CHUNKS: usize = 65_536;
/// Chunks that are due so close together are one.
const TOGETHER: Nanos = 1_000;

/// How a direction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The sender has no more to say.
    Closed,
    /// The connection was broken off.
    Reset,
}

struct Chunk {
    due: Nanos,
    count: usize,
}

pub(super) struct Line {
    delay: Nanos,
    jitter: Nanos,
    /// Bits a second.
    bandwidth: Option<NonZeroU64>,
    /// Bytes held at most.
    capacity: usize,
    bytes: VecDeque<u8>,
    /// What is not due yet; the bytes before these are.
    chunks: VecDeque<Chunk>,
    ripe: usize,
    /// When the narrow place will have passed everything so far.
    wire_free: Nanos,
    last_due: Nanos,
    random: u64,
    end: Option<(Nanos, End)>,
    /// Bytes that have been taken; whoever counts them elsewhere makes it 0.
    pub(super) taken: u64,
}

impl Line {
    /// `seed` decides the jitter.
    pub(super) fn new(way: &Way, capacity: usize, seed: u64) -> Line {
        Line {
            delay: nanos(way.delay),
            jitter: nanos(way.jitter),
            bandwidth: way.bandwidth,
            capacity,
            bytes: VecDeque::new(),
            chunks: VecDeque::new(),
            ripe: 0,
            wire_free: 0,
            last_due: 0,
            random: seed,
            end: None,
            taken: 0,
        }
    }

    /// Bytes that may be put in now.
    pub(super) fn room(&self) -> usize {
        let segments = MOST_CHUNKS.saturating_sub(self.chunks.len());
        let bytes = self.capacity.saturating_sub(self.bytes.len());
        bytes.min(segments.saturating_mul(SEGMENT))
    }

    /// Puts bytes in.
    pub(super) fn push(&mut self, now: Nanos, bytes: &[u8]) {
        self.bytes.extend(bytes);
        match self.bandwidth {
            None => self.chunk(now, bytes.len()),
            Some(_) => {
                for segment in bytes.chunks(SEGMENT) {
                    self.chunk(now, segment.len());
                }
            }
        }
    }

    fn chunk(&mut self, now: Nanos, count: usize) {
        let due = self.due(now, count);
        match self.chunks.back_mut() {
            // The earlier one waits for the later one, which is imperceptible, rather than the reverse.
            Some(last) if due.saturating_sub(last.due) < TOGETHER => {
                last.count += count;
                last.due = due;
            }
            _ => self.chunks.push_back(Chunk { due, count }),
        }
    }

    fn due(&mut self, now: Nanos, count: usize) -> Nanos {
        let mut at = now;
        if let Some(bandwidth) = self.bandwidth {
            let lasts = count as u128 * 8_000_000_000 / u128::from(bandwidth.get());
            let lasts = Nanos::try_from(lasts).unwrap_or(Nanos::MAX);
            at = now.max(self.wire_free).saturating_add(lasts);
            self.wire_free = at;
        }
        let jitter = self.jitter;
        let swing = match jitter {
            0 => 0,
            _ => self.next_random() % (2 * jitter + 1),
        };
        let travelled = (self.delay + swing).saturating_sub(jitter);
        self.last_due = at.saturating_add(travelled).max(self.last_due);
        self.last_due
    }

    /// The generator "SplitMix64" (Steele, Lea and Flood, 2014).
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Nothing more will come. The first end counts.
    pub(super) fn finish(&mut self, now: Nanos, end: End) {
        if self.end.is_none() {
            self.end = Some((self.due(now, 0), end));
        }
    }

    /// When something will next be due: bytes, or the end if no bytes are left.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        match self.chunks.front() {
            Some(chunk) => Some(chunk.due),
            None if self.bytes.is_empty() => self.end.map(|(due, _)| due),
            None => None,
        }
    }

    /// Lets out what is due.
    pub(super) fn ripen(&mut self, now: Nanos) {
        while let Some(chunk) = self.chunks.front() {
            if chunk.due > now {
                return;
            }
            self.ripe += chunk.count;
            self.chunks.pop_front();
        }
    }

    /// What has come out, in order.
    pub(super) fn ripe(&self) -> (&[u8], &[u8]) {
        let (first, second) = self.bytes.as_slices();
        let split = self.ripe.min(first.len());
        let rest = (self.ripe - split).min(second.len());
        (
            first.get(..split).unwrap_or_default(),
            second.get(..rest).unwrap_or_default(),
        )
    }

    /// `count` bytes of what has come out have been taken.
    pub(super) fn take(&mut self, count: usize) {
        let count = count.min(self.ripe);
        self.bytes.drain(..count);
        self.ripe -= count;
        self.taken += count as u64;
    }

    /// The end, once everything before it has been taken and it is due.
    pub(super) fn ended(&self, now: Nanos) -> Option<End> {
        let (due, end) = self.end?;
        (self.bytes.is_empty() && due <= now).then_some(end)
    }

    /// Nobody will take anything any more.
    pub(super) fn discard(&mut self) {
        self.bytes = VecDeque::new();
        self.chunks.clear();
        self.ripe = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const US: Nanos = 1_000;

    fn line(delay: Nanos, jitter: Nanos, bits: u64, capacity: usize) -> Line {
        let way = Way {
            delay: Duration::from_nanos(delay),
            jitter: Duration::from_nanos(jitter),
            bandwidth: NonZeroU64::new(bits),
        };
        Line::new(&way, capacity, 7)
    }

    /// What comes out at `now`.
    fn out(line: &mut Line, now: Nanos) -> Vec<u8> {
        line.ripen(now);
        let (first, second) = line.ripe();
        let bytes = [first, second].concat();
        line.take(bytes.len());
        bytes
    }

    #[test]
    fn many_chunks_are_under_way_at_once_each_in_its_time() {
        let mut line = line(500 * US, 0, 0, 1_000);
        for number in 0..10 {
            line.push(u64::from(number) * 100 * US, &[number]);
        }
        assert_eq!(line.room(), 990);
        for number in 0..10 {
            let due = (500 + u64::from(number) * 100) * US;
            assert_eq!(line.next_due(), Some(due));
            assert!(out(&mut line, due - 1).is_empty());
            assert_eq!(out(&mut line, due), [number]);
        }
        assert_eq!(line.next_due(), None);
    }

    #[test]
    fn what_is_not_taken_stays_in_order() {
        let mut line = line(0, 0, 0, 100);
        line.push(0, b"abc");
        line.push(5 * US, b"def");
        line.ripen(5 * US);
        line.take(2);
        line.push(9 * US, b"gh");
        assert_eq!(line.room(), 94);
        assert_eq!(out(&mut line, 5 * US), b"cdef");
        assert_eq!(out(&mut line, 9 * US), b"gh");
        line.take(1);
    }

    #[test]
    fn bandwidth_is_a_narrow_place_and_not_a_burst() {
        // 1 µs a byte.
        let mut line = line(100 * US, 0, 8_000_000, 100_000);
        line.push(0, &[1; 3 * SEGMENT]);
        let segment = SEGMENT as u64 * US;
        for number in 1..=3 {
            let due = number * segment + 100 * US;
            assert_eq!(line.next_due(), Some(due));
            assert_eq!(out(&mut line, due).len(), SEGMENT);
        }
        // The line was busy until 3 segments; then idle, and idle time is not saved up.
        line.push(2 * segment, &[1; 10]);
        assert_eq!(line.next_due(), Some(3 * segment + 110 * US));
        out(&mut line, 4 * segment);
        line.push(10 * segment, &[1; 10]);
        assert_eq!(line.next_due(), Some(10 * segment + 110 * US));
    }

    #[test]
    fn jitter_stays_in_its_bounds_spreads_and_never_reorders() {
        let mut line = line(500 * US, 100 * US, 0, 1_000_000);
        let (mut least, mut most, mut before) = (Nanos::MAX, 0, 0);
        for number in 0..2_000_u64 {
            let now = number * 1_000 * US;
            line.push(now, &[0]);
            let due = line.next_due().unwrap();
            assert!(due >= before);
            before = due;
            assert_eq!(out(&mut line, due), [0]);
            least = least.min(due - now);
            most = most.max(due - now);
        }
        assert!((400 * US..420 * US).contains(&least), "{least}");
        assert!((580 * US..=600 * US).contains(&most), "{most}");
        // Close together, later ones wait for earlier ones.
        for _ in 0..1_000 {
            line.push(0, &[0]);
        }
        assert_eq!(out(&mut line, before).len(), 1_000);
    }

    #[test]
    fn the_end_comes_last_and_takes_as_long() {
        let mut line = line(500 * US, 0, 0, 100);
        line.push(0, b"x");
        line.finish(10 * US, End::Closed);
        line.finish(0, End::Reset);
        assert_eq!(line.next_due(), Some(500 * US));
        assert_eq!(line.ended(600 * US), None, "bytes come first");
        assert_eq!(out(&mut line, 500 * US), b"x");
        assert_eq!(line.next_due(), Some(510 * US));
        assert_eq!(line.ended(510 * US - 1), None);
        assert_eq!(line.ended(510 * US), Some(End::Closed));
    }

    #[test]
    fn room_is_bounded_in_bytes_and_in_chunks() {
        let mut few = line(500, 0, 0, 10);
        few.push(0, b"1234567");
        assert_eq!(few.room(), 3);
        few.discard();
        assert_eq!((few.room(), few.next_due()), (10, None));
        let mut small = line(0, 0, 0, usize::MAX);
        for number in 0..MOST_CHUNKS as u64 {
            assert!(small.room() > 0);
            small.push(number * TOGETHER, &[0]);
        }
        assert_eq!(small.room(), 0);
        assert_eq!(out(&mut small, Nanos::MAX).len(), MOST_CHUNKS);
        assert!(small.room() > 0);
    }
}
