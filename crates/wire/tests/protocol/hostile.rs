//! Truncated, damaged and invented input: nothing panics, nothing is kept beyond what came.

use posthaste_wire::flow::Body;
use posthaste_wire::segment::Segment;
use posthaste_wire::{Reply, Request, fuzzing};

use crate::stream;

/// A small generator of numbers, so that every run sees the same damage.
struct Damage(u64);

impl Damage {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit.max(1)
    }

    /// One to four bytes changed, often to values that break lengths.
    fn apply(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match self.below(4) {
                    0 => 0xFF,
                    1 => 0,
                    2 => byte.wrapping_add(1),
                    _ => u8::try_from(self.next() & 0xFF).unwrap(),
                };
            }
        }
        bytes
    }
}

#[test]
fn truncated_bodies_never_panic() {
    for captured in stream::all() {
        let segment = Segment::next(&captured.bytes, usize::MAX).unwrap().unwrap();
        let header = segment.header;
        for cut in 0..segment.body.len().min(1_200) {
            let body = Body::Borrowed(&segment.body[..cut]);
            if header.kind.is_request() {
                drop(Request::decode(&header, &body));
            } else if header.kind.is_reply() {
                drop(Reply::decode(&header, &body));
            }
        }
    }
}

#[test]
fn damaged_segments_never_panic_and_what_decodes_survives() {
    let mut damage = Damage(1);
    for captured in stream::all() {
        let segment = Segment::next(&captured.bytes, usize::MAX).unwrap().unwrap();
        let order = u8::from(segment.header.order == posthaste_mqi::ByteOrder::Little);
        for _ in 0..8 {
            let mut input = vec![segment.header.kind.number(), order];
            input.extend(damage.apply(segment.body));
            if captured.from_client {
                fuzzing::request(&input);
            } else {
                fuzzing::reply(&input);
            }
            input.remove(0);
            fuzzing::initial(&input);
            fuzzing::segments(&damage.apply(&captured.bytes));
        }
    }
}

#[test]
fn damaged_streams_never_panic() {
    let mut damage = Damage(2);
    let all = stream::all();
    let mut files: Vec<&str> = all.iter().map(|c| c.file.as_str()).collect();
    files.dedup();
    for file in files {
        for from_client in [true, false] {
            let segments = all.iter().filter(|c| c.file == file && c.socket == 1);
            let whole: Vec<u8> = segments
                .filter(|c| c.from_client == from_client)
                .flat_map(|c| c.bytes.iter().copied())
                .collect();
            for _ in 0..20 {
                let damaged = damage.apply(&whole);
                if from_client {
                    fuzzing::server(&damaged);
                } else {
                    fuzzing::client(&damaged);
                }
            }
        }
    }
}
