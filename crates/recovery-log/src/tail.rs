//! The tail: where records are placed and copied, in page format from the start.
//!
//! Buffers ("chunks") are 2 MiB, page-aligned, and never cross an extent boundary, so that each is one
//! write. Page headers are stepped over while copying; the writer fills them in when it takes the chunk.
//!
//! A record up to 64 KiB is copied under the tail lock. A longer one only reserves there: its bytes of the
//! chunk are split off, filled outside the lock and handed back; the writer takes a chunk only when
//! all its pieces are back. Pieces of one buffer are disjoint values (`BytesMut`), so this needs no
//! unsafe code and joining them copies nothing.
//!
//! Invariants:
//! * `next` is a position (see `record.rs`). Chunks lie one behind the other: `sealed` in order, then
//!   `current`; a sealed chunk is full to its capacity. Only a taken `current` chunk is padded, and the
//!   next record then starts on the next page.
//! * A chunk holds whole records but for those that go on in the next chunk, which then is not empty: a
//!   padded page never ends inside a record.
//! * Nothing here waits, and nothing large is allocated or freed: whoever appends makes the buffers that the
//!   record needs before, outside the lock ([`Tail::buffers_short`]).

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::{CHUNK, HEADER, KEPT_CHUNKS, PAGE};
use crate::log::Class;
use crate::page::{self, PageHeader};
use crate::record::Source;
use crate::{LogError, extents::Limits};

/// A buffer and, for each page begun, the offset of the first record start (0: none). Making one costs up to half
/// a millisecond: not under the tail lock.
pub(crate) struct Buffer {
    bytes: BytesMut,
    firsts: Vec<u16>,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        // Untouched pages of a large zeroed allocation cost no memory.
        let mut bytes = BytesMut::zeroed(CHUNK + PAGE);
        let address = bytes.as_ptr().addr();
        bytes.advance(address.next_multiple_of(PAGE) - address);
        bytes.truncate(CHUNK);
        Self {
            bytes,
            firsts: Vec::new(),
        }
    }

    /// The whole pages that were filled.
    pub(crate) fn pages(&self) -> &[u8] {
        &self.bytes[..self.firsts.len() * PAGE]
    }
}

/// Where pieces of a chunk come back to.
#[derive(Default)]
struct Handback {
    /// Pieces that are out.
    out: AtomicUsize,
    /// Offset in the chunk, and bytes.
    back: Mutex<Vec<(usize, BytesMut)>>,
}

/// Part of a chunk that one appender fills outside the lock.
pub(crate) struct Piece {
    at: u64,
    offset: usize,
    bytes: BytesMut,
    home: Arc<Handback>,
}

impl Piece {
    pub(crate) fn fill_and_return(mut self, source: &mut Source<'_>) {
        source.spread(&mut self.bytes, self.at);
        self.home.back.lock().push((self.offset, self.bytes));
        self.home.out.fetch_sub(1, Ordering::Release);
    }
}

/// A buffer being filled, or full.
pub(crate) struct Chunk {
    pub(crate) base: u64,
    capacity: usize,
    filled: usize,
    /// The buffer from `rest_at` on; what lies before has been split off for big records.
    rest: BytesMut,
    rest_at: usize,
    home: Option<Arc<Handback>>,
    firsts: Vec<u16>,
}

impl Chunk {
    fn new(base: u64, capacity: usize, buffer: Buffer) -> Self {
        let mut firsts = buffer.firsts;
        firsts.clear();
        Self {
            base,
            capacity,
            filled: 0,
            rest: buffer.bytes,
            rest_at: 0,
            home: None,
            firsts,
        }
    }

    fn limit(&self) -> u64 {
        self.base + self.capacity as u64
    }

    /// All pieces are back.
    pub(crate) fn is_ready(&self) -> bool {
        self.home
            .as_ref()
            .is_none_or(|home| home.out.load(Ordering::Acquire) == 0)
    }

    /// Notes that `at..until` is taken, and that a record starts at `at` if `starts`.
    fn note(&mut self, at: u64, until: u64, starts: bool) {
        self.filled = (until - self.base) as usize;
        self.firsts.resize(self.filled.div_ceil(PAGE), 0);
        if starts {
            let offset = (at - self.base) as usize;
            if let Some(first) = self.firsts.get_mut(offset / PAGE)
                && *first == 0
            {
                *first = (offset % PAGE) as u16;
            }
        }
    }

    fn copy(&mut self, at: u64, until: u64, source: &mut Source<'_>) {
        let from = (at - self.base) as usize - self.rest_at;
        let to = (until - self.base) as usize - self.rest_at;
        source.spread(&mut self.rest[from..to], at);
    }

    fn split_off(&mut self, at: u64, until: u64) -> Piece {
        let home = self.home.get_or_insert_default();
        let offset = (at - self.base) as usize;
        let before = self.rest.split_to(offset - self.rest_at);
        if !before.is_empty() {
            home.back.lock().push((self.rest_at, before));
        }
        let bytes = self.rest.split_to((until - at) as usize);
        self.rest_at = offset + bytes.len();
        home.out.fetch_add(1, Ordering::Relaxed);
        Piece {
            at,
            offset,
            bytes,
            home: Arc::clone(home),
        }
    }

    /// The chunk in one piece, padded, with all page headers. Call only when ready.
    pub(crate) fn finish(mut self, generation: u32, forced: u64) -> Buffer {
        let mut bytes = self.rest;
        if let Some(home) = self.home.take() {
            let mut pieces = std::mem::take(&mut *home.back.lock());
            pieces.push((self.rest_at, bytes));
            pieces.sort_unstable_by_key(|(offset, _)| *offset);
            bytes = BytesMut::new();
            for (offset, piece) in pieces {
                assert!(
                    offset == bytes.len(),
                    "a piece of the log buffer is missing"
                );
                if bytes.is_empty() {
                    bytes = piece;
                } else {
                    bytes.unsplit(piece);
                }
            }
        }
        assert!(bytes.len() == CHUNK, "a piece of the log buffer is missing");
        let pages = self.firsts.len();
        bytes[self.filled..pages * PAGE].fill(0);
        for (n, (page, first)) in bytes.chunks_exact_mut(PAGE).zip(&self.firsts).enumerate() {
            let used = (self.filled - n * PAGE).min(PAGE);
            let header = PageHeader {
                lsn: self.base + (n * PAGE) as u64,
                generation,
                used: used as u16,
                first: *first,
                forced,
            };
            page::seal(page, &header);
        }
        Buffer {
            bytes,
            firsts: self.firsts,
        }
    }

    /// LSN after the last page.
    pub(crate) fn end(&self) -> u64 {
        page::round_up(self.base + self.filled as u64)
    }
}

/// What lies under the tail lock.
pub(crate) struct Tail {
    /// Where the next byte goes.
    pub(crate) next: u64,
    pub(crate) limits: Limits,
    /// Bytes kept for the ends of units of work that are open.
    promised: u64,
    /// Why nothing may be appended any more.
    pub(crate) closed: Option<LogError>,
    pub(crate) records: u64,
    pub(crate) logical_bytes: u64,
    extent_bytes: u64,
    sealed: VecDeque<Chunk>,
    current: Option<Chunk>,
    pool: Vec<Buffer>,
}

impl Tail {
    pub(crate) fn new(next: u64, extent_bytes: u64, limits: Limits) -> Self {
        Self {
            next,
            limits,
            promised: 0,
            closed: None,
            records: 0,
            logical_bytes: 0,
            extent_bytes,
            sealed: VecDeque::new(),
            current: None,
            pool: Vec::new(),
        }
    }

    /// The chunk that takes the bytes from `at` on; made if need be. `at` is a page boundary or just
    /// behind a page header then.
    fn chunk_at(&mut self, at: u64) -> &mut Chunk {
        let Self {
            current,
            pool,
            extent_bytes,
            ..
        } = self;
        current.get_or_insert_with(|| {
            let base = page::round_down(at);
            debug_assert!(at - base <= HEADER as u64, "chunks begin with a page");
            let left = *extent_bytes - base % *extent_bytes;
            let capacity = left.min(CHUNK as u64) as usize;
            let Some(buffer) = pool.pop() else {
                unreachable!("the buffers of a record are provided before it is placed");
            };
            Chunk::new(base, capacity, buffer)
        })
    }

    /// How many buffers a record from `start` to `end` needs beyond those that are there.
    pub(crate) fn buffers_short(&self, start: u64, end: u64) -> usize {
        let mut at = self.current.as_ref().map_or(start, Chunk::limit);
        let mut needed = 0;
        while at < end {
            let base = page::round_down(at);
            let left = self.extent_bytes - base % self.extent_bytes;
            at = base + left.min(CHUNK as u64);
            needed += 1;
        }
        needed - self.pool.len().min(needed)
    }

    /// Adds a buffer for the records to come.
    pub(crate) fn provide(&mut self, buffer: Buffer) {
        self.pool.push(buffer);
    }

    /// Up to where a record of this class that also asks for `owing` bytes to be kept may go.
    pub(crate) fn limit(&self, class: Class, owing: u64) -> u64 {
        let Limits {
            ordinary,
            relief,
            essential,
            ..
        } = self.limits;
        let kept = essential.saturating_sub(self.promised.saturating_add(owing));
        match class {
            Class::Ordinary => ordinary.min(kept),
            Class::Relief => relief.min(kept),
            Class::Essential => kept,
            Class::Promised => essential,
        }
    }

    /// Bytes kept for the ends of units of work.
    pub(crate) fn promised(&self) -> u64 {
        self.promised
    }

    /// Keeps room for the end of a unit of work.
    pub(crate) fn promise(&mut self, bytes: u64) {
        self.promised += bytes;
    }

    /// A unit of work has ended: nothing is kept for it any more.
    pub(crate) fn release(&mut self, bytes: u64) {
        assert!(
            bytes <= self.promised,
            "more log space is released than was promised"
        );
        self.promised -= bytes;
    }

    /// Calls `each` for the part of `start..end` in each chunk, filling chunks in order.
    fn place(&mut self, start: u64, end: u64, mut each: impl FnMut(&mut Chunk, u64, u64)) {
        let mut at = start;
        while at < end {
            let chunk = self.chunk_at(at);
            let until = end.min(chunk.limit());
            chunk.note(at, until, at == start);
            each(chunk, at, until);
            let full = until == chunk.limit();
            if full {
                self.sealed.extend(self.current.take());
            }
            at = until;
        }
        self.next = end;
    }

    /// Places and copies a record.
    pub(crate) fn copy(&mut self, start: u64, end: u64, source: &mut Source<'_>) {
        self.place(start, end, |chunk, at, until| chunk.copy(at, until, source));
    }

    /// Places a record and gives out the memory it is to be copied to, in order.
    pub(crate) fn reserve(&mut self, start: u64, end: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.place(start, end, |chunk, at, until| {
            pieces.push(chunk.split_off(at, until));
        });
        pieces
    }

    /// The chunk that has to be written next.
    pub(crate) fn front(&self) -> Option<&Chunk> {
        self.sealed.front().or(self.current.as_ref())
    }

    /// Whether a whole buffer is full.
    pub(crate) fn has_sealed(&self) -> bool {
        !self.sealed.is_empty()
    }

    /// Takes what `front` showed. A chunk that is not full is padded to its page.
    pub(crate) fn take(&mut self) -> Option<Chunk> {
        if let Some(chunk) = self.sealed.pop_front() {
            return Some(chunk);
        }
        let chunk = self.current.take()?;
        self.next = chunk.end();
        Some(chunk)
    }

    /// Keeps a written buffer for reuse; one too many is given back, to be freed outside the lock.
    #[must_use]
    pub(crate) fn recycle(&mut self, buffer: Buffer) -> Option<Buffer> {
        if self.pool.len() < KEPT_CHUNKS {
            self.pool.push(buffer);
            return None;
        }
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RECORD_HEADER;
    use crate::record;

    const EXTENT: u64 = 64 * 4096;

    fn tail() -> Tail {
        let limits = Limits {
            ordinary: u64::MAX,
            relief: u64::MAX,
            essential: u64::MAX,
            room: u64::MAX,
        };
        Tail::new(0, EXTENT, limits)
    }

    fn provide(tail: &mut Tail, start: u64, end: u64) {
        for _ in 0..tail.buffers_short(start, end) {
            tail.provide(Buffer::new());
        }
    }

    fn append(tail: &mut Tail, payload: &[u8], big: bool) -> (u64, u64) {
        let start = record::begin(tail.next);
        let end = record::end(start, (RECORD_HEADER + payload.len()) as u64);
        let parts = [payload];
        let mut source = Source::new(record::encode(start, payload.len() as u32), &parts);
        provide(tail, start, end);
        if big {
            for piece in tail.reserve(start, end) {
                piece.fill_and_return(&mut source);
            }
        } else {
            tail.copy(start, end, &mut source);
        }
        (start, end)
    }

    #[test]
    fn copying_inside_and_outside_the_lock_gives_the_same_pages() {
        let lengths = [
            10, 4064, 3, 100_000, 0, 300_000, 70_000, 1, 4056, 90_000, 17,
        ];
        let mut images = Vec::new();
        for big in [false, true] {
            let mut tail = tail();
            for (n, length) in lengths.iter().enumerate() {
                append(
                    &mut tail,
                    &vec![n as u8 + 1; *length],
                    big && *length > 1000,
                );
            }
            let mut image = Vec::new();
            while let Some(chunk) = tail.take() {
                assert!(chunk.is_ready());
                assert_eq!(chunk.base, image.len() as u64, "one behind the other");
                let end = chunk.end();
                let buffer = chunk.finish(3, 0);
                assert_eq!(buffer.bytes.as_ptr().addr() % PAGE, 0);
                image.extend_from_slice(buffer.pages());
                assert_eq!(end, image.len() as u64);
                drop(tail.recycle(buffer));
            }
            images.push(image);
        }
        assert!(images[0] == images[1]);
        for page in images[0].chunks(PAGE) {
            assert!(page::unseal(page).is_some());
        }
    }

    #[test]
    fn buffers_are_asked_for_before_they_are_needed() {
        let mut tail = tail();
        let buffers = |bytes: u64| bytes.div_ceil(EXTENT) as usize;
        assert_eq!(tail.buffers_short(32, 100), 1);
        assert_eq!(tail.buffers_short(32, 10 * EXTENT), buffers(10 * EXTENT));
        append(&mut tail, &[1; 100], false);
        let next = record::begin(tail.next);
        assert_eq!(tail.buffers_short(next, EXTENT), 0, "the current one");
        assert_eq!(tail.buffers_short(next, EXTENT + 1), 1);
        tail.provide(Buffer::new());
        assert_eq!(tail.buffers_short(next, EXTENT + 1), 0);
        assert_eq!(tail.buffers_short(next, 2 * EXTENT + 1), 1);
    }

    #[test]
    fn what_is_promised_is_kept_from_all_others() {
        let mut tail = tail();
        tail.limits = Limits {
            ordinary: 700,
            relief: 850,
            essential: 1000,
            room: u64::MAX,
        };
        let limits = |tail: &Tail, owing| {
            [
                Class::Ordinary,
                Class::Relief,
                Class::Essential,
                Class::Promised,
            ]
            .map(|class| tail.limit(class, owing))
        };
        assert_eq!(limits(&tail, 0), [700, 850, 1000, 1000]);
        assert_eq!(limits(&tail, 200), [700, 800, 800, 1000]);
        tail.promise(400);
        assert_eq!(limits(&tail, 0), [600, 600, 600, 1000]);
        assert_eq!(limits(&tail, 700), [0, 0, 0, 1000]);
        tail.release(400);
        assert_eq!(limits(&tail, 0), [700, 850, 1000, 1000]);
    }

    #[test]
    fn a_taken_page_is_never_touched_again() {
        let mut tail = tail();
        let (start, end) = append(&mut tail, &[1; 100], false);
        assert_eq!((start, end), (32, 140));
        let chunk = tail.take().unwrap();
        assert_eq!((chunk.end(), tail.next), (4096, 4096));
        let pages = chunk.finish(1, 0);
        let header = page::unseal(pages.pages()).unwrap();
        assert_eq!((header.used, header.first), (140, 32));
        let (start, _) = append(&mut tail, &[2; 100], false);
        assert_eq!(start, 4096 + 32);
    }

    #[test]
    fn a_record_that_fills_its_page_needs_no_padding() {
        let mut tail = tail();
        let (_, end) = append(&mut tail, &[1; 4056], false);
        assert_eq!(end, 4096);
        let chunk = tail.take().unwrap();
        assert_eq!((chunk.end(), tail.next), (4096, 4096));
    }

    #[test]
    fn chunks_end_with_the_extent_and_wait_for_their_pieces() {
        let mut tail = tail();
        append(&mut tail, &[1; 200_000], false);
        let start = record::begin(tail.next);
        let end = record::end(start, 8 + 100_000);
        assert_eq!(tail.buffers_short(start, end), 1);
        provide(&mut tail, start, end);
        let pieces = tail.reserve(start, end);
        assert_eq!(pieces.len(), 2, "cut at the extent boundary");
        assert!(tail.has_sealed());
        assert!(!tail.front().unwrap().is_ready());
        let payload = [7; 100_000];
        let parts: [&[u8]; 1] = [&payload];
        let mut source = Source::new(record::encode(start, 100_000), &parts);
        for piece in pieces {
            piece.fill_and_return(&mut source);
        }
        let chunk = tail.take().unwrap();
        assert!(chunk.is_ready());
        assert_eq!(chunk.end(), EXTENT);
        assert_eq!(tail.front().unwrap().base, EXTENT);
    }

    #[test]
    fn first_record_starts() {
        let mut tail = tail();
        append(&mut tail, &[1; 5000], false);
        append(&mut tail, &[2; 10], false);
        append(&mut tail, &[3; 4100], false);
        let pages = tail.take().unwrap().finish(1, 0);
        let firsts: Vec<u16> = pages
            .pages()
            .chunks(PAGE)
            .map(|page| page::unseal(page).unwrap().first)
            .collect();
        assert_eq!(firsts, [32, 32 + 5008 - 4064, 0]);
    }
}
