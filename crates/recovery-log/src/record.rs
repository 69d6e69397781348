//! The record: an 8-byte header and the payload, laid over the bodies of consecutive pages.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | payload length |
//! | 4 | 1 | `0xA7` |
//! | 5 | 1 | flags, zero |
//! | 6 | 2 | check of the record's LSN and length |
//!
//! Invariants:
//! * A position is a physical LSN: an offset in the endless sequence, page headers counted. Its offset
//!   in the page is 0 (the page is not begun) or at least [`HEADER`].
//! * Header and payload may be cut anywhere by page, buffer and extent boundaries.
//! * The check makes a header that is read at a wrong place fail, although page checksums are right:
//!   it contains the record's own LSN.

use crate::limits::{BODY, HEADER, MAX_RECORD, PAGE, RECORD_HEADER};
use crate::page::{u16_at, u32_at};

const MARK: u8 = 0xA7;

/// The header of a record that starts at `start`.
pub(crate) fn encode(start: u64, length: u32) -> [u8; RECORD_HEADER] {
    let [a, b, c, d] = length.to_le_bytes();
    let [e, f] = check(start, length).to_le_bytes();
    [a, b, c, d, MARK, 0, e, f]
}

/// The payload length, if these 8 bytes are the header of a record that starts at `start`.
pub(crate) fn decode(start: u64, header: &[u8; RECORD_HEADER]) -> Option<usize> {
    let length = u32_at(header, 0);
    let right = header[4] == MARK
        && header[5] == 0
        && u16_at(header, 6) == check(start, length)
        && length as usize <= MAX_RECORD;
    right.then_some(length as usize)
}

fn check(start: u64, length: u32) -> u16 {
    let mixed = (start ^ (u64::from(length) << 40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29) ^ u64::from(length)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 48) as u16
}

/// Where the next byte goes when the log stands at `position`: page headers are stepped over.
pub(crate) fn begin(position: u64) -> u64 {
    if position.is_multiple_of(PAGE as u64) {
        position + HEADER as u64
    } else {
        position
    }
}

/// The position after `bytes` (at least one) record bytes laid down from `start`, which is no page boundary.
pub(crate) fn end(start: u64, bytes: u64) -> u64 {
    let page = PAGE as u64;
    let body = BODY as u64;
    let room = page - start % page;
    let Some(beyond) = bytes.checked_sub(room).filter(|beyond| *beyond > 0) else {
        return start + bytes;
    };
    // `beyond` bytes follow on further pages: whole bodies, and 1 to `body` bytes on the last page.
    let whole = (beyond - 1) / body;
    let last = beyond - whole * body;
    start + room + whole * page + HEADER as u64 + last
}

/// The record's bytes in order: header, then the caller's parts.
pub(crate) struct Source<'a> {
    header: [u8; RECORD_HEADER],
    header_used: usize,
    parts: &'a [&'a [u8]],
    part: &'a [u8],
}

impl<'a> Source<'a> {
    pub(crate) fn new(header: [u8; RECORD_HEADER], parts: &'a [&'a [u8]]) -> Self {
        Self {
            header,
            header_used: 0,
            parts,
            part: &[],
        }
    }

    /// Fills `to`. The caller never asks for more than header and parts hold.
    fn fill(&mut self, to: &mut [u8]) {
        let head = (RECORD_HEADER - self.header_used).min(to.len());
        let (front, mut to) = to.split_at_mut(head);
        front.copy_from_slice(&self.header[self.header_used..self.header_used + head]);
        self.header_used += head;
        while !to.is_empty() {
            if self.part.is_empty() {
                let Some((next, others)) = self.parts.split_first() else {
                    debug_assert!(false, "more bytes reserved than given");
                    return;
                };
                self.part = next;
                self.parts = others;
                continue;
            }
            let count = self.part.len().min(to.len());
            let (now, later) = self.part.split_at(count);
            let (front, rest) = to.split_at_mut(count);
            front.copy_from_slice(now);
            self.part = later;
            to = rest;
        }
    }

    /// Fills `to` if all of the record goes there, as with most: then nothing is cut.
    fn fill_whole(&mut self, to: &mut [u8]) -> bool {
        let length = RECORD_HEADER + u32_at(&self.header, 0) as usize;
        if self.header_used > 0 || to.len() != length {
            return false;
        }
        let Some((front, mut to)) = to.split_first_chunk_mut() else {
            return false;
        };
        *front = self.header;
        self.header_used = RECORD_HEADER;
        for part in std::mem::take(&mut self.parts) {
            let (front, rest) = to.split_at_mut(part.len());
            front.copy_from_slice(part);
            to = rest;
        }
        true
    }

    /// Fills `region`, which lies at LSN `at`, stepping over page headers.
    pub(crate) fn spread(&mut self, mut region: &mut [u8], at: u64) {
        let mut offset = (at % PAGE as u64) as usize;
        if offset > 0 && offset + region.len() <= PAGE && self.fill_whole(region) {
            return;
        }
        while !region.is_empty() {
            if offset == 0 {
                region = &mut region[HEADER..];
                offset = HEADER;
            }
            let count = (PAGE - offset).min(region.len());
            let (body, rest) = region.split_at_mut(count);
            self.fill(body);
            region = rest;
            offset = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip_and_every_changed_bit() {
        for (start, length) in [
            (32, 0),
            (4000, 17),
            (1 << 40, MAX_RECORD as u32),
            (99, 65_536),
        ] {
            let header = encode(start, length);
            assert_eq!(decode(start, &header), Some(length as usize));
            for bit in 0..64 {
                let mut bad = header;
                bad[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode(start, &bad), None, "bit {bit} of {start} {length}");
            }
            assert_eq!(decode(start + 4096, &header), None);
        }
        assert_eq!(decode(0, &[0; 8]), None);
        assert_eq!(decode(32, &encode(32, MAX_RECORD as u32 + 1)), None);
    }

    /// `end` by counting one byte at a time.
    fn walked(start: u64, bytes: u64) -> u64 {
        let mut at = start;
        for _ in 0..bytes {
            at = begin(at) + 1;
        }
        at
    }

    #[test]
    fn positions() {
        for start in [32, 33, 100, 4095, 4096 + 32, 8191] {
            for bytes in [
                1, 7, 8, 4063, 4064, 4065, 4096, 8127, 8128, 8129, 8130, 20_000,
            ] {
                assert_eq!(
                    end(start, bytes),
                    walked(start, bytes),
                    "{bytes} from {start}"
                );
            }
        }
        assert_eq!(begin(4096), 4128);
        assert_eq!(begin(4100), 4100);
    }

    #[test]
    fn spread_skips_headers_and_keeps_order() {
        let payload: Vec<u8> = (0..9000_u32).map(|i| (i % 251) as u8 + 1).collect();
        let parts: [&[u8]; 4] = [&payload[..5], &[], &payload[5..4000], &payload[4000..]];
        for start in [32_u64, 4090, 5000] {
            let header = encode(start, 9000);
            let finish = end(start, 9008);
            let mut region = vec![0; (finish - start) as usize];
            let mut source = Source::new(header, &parts);
            // In two regions, cut at a page boundary, as buffers are.
            let cut = (crate::page::round_up(start + 1) - start) as usize;
            let (one, two) = region.split_at_mut(cut);
            source.spread(one, start);
            source.spread(two, start + cut as u64);
            let got: Vec<u8> = region
                .iter()
                .enumerate()
                .filter(|(i, _)| (start as usize + i) % PAGE >= HEADER)
                .map(|(_, b)| *b)
                .collect();
            assert_eq!(&got[..8], &header);
            assert_eq!(&got[8..], &payload[..]);
        }
    }
}
