//! What a lane counts: plain numbers of its thread, which others see as they were at the end of its last turn.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a lane has counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Turns of its loop.
    pub turns: u64,
    /// Parts of its connections that were woken.
    pub wakes: u64,
    /// Times a connection was run.
    pub runs: u64,
    /// Bytes read from sockets.
    pub bytes_read: u64,
    /// Bytes that sockets took.
    pub bytes_written: u64,
}

/// The counts as others see them. Only their lane writes them, so that a write is a store and no more.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Tally([AtomicU64; 5]);

impl Tally {
    pub(crate) fn publish(&self, counts: &LaneCounts) {
        let LaneCounts {
            turns,
            wakes,
            runs,
            bytes_read,
            bytes_written,
        } = *counts;
        let numbers = [turns, wakes, runs, bytes_read, bytes_written];
        for (seen, number) in self.0.iter().zip(numbers) {
            seen.store(number, Ordering::Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> LaneCounts {
        let [turns, wakes, runs, bytes_read, bytes_written] =
            self.0.each_ref().map(|seen| seen.load(Ordering::Relaxed));
        LaneCounts {
            turns,
            wakes,
            runs,
            bytes_read,
            bytes_written,
        }
    }
}
