//! The loop that is measured: one write at a time, block after block, file after file, and round again.
//!
//! Invariants: a write is counted in the second in which it ended; the loop ends with the first write that
//! ends after its time, and that one counts; what happens between two writes is not part of any latency.

use std::io;

use super::measured::{Measured, Tally};

/// Where blocks lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) block: u64,
    pub(crate) blocks_per_file: u64,
    pub(crate) files: usize,
}

impl Layout {
    /// File (from 0) and offset of the write with this number (from 0).
    fn place(&self, number: u64) -> (usize, u64) {
        let per_file = self.blocks_per_file.max(1);
        let files = self.files.max(1) as u64;
        let file = (number / per_file) % files;
        (file as usize, number % per_file * self.block)
    }
}

/// What is written to, and the time it takes.
pub(crate) trait Device {
    /// Makes the block ready for write `number`, counted from 1; its time is not measured.
    fn prepare(&mut self, number: u64);
    /// Writes the block into a file at an offset.
    fn write(&mut self, file: usize, offset: u64) -> io::Result<()>;
    /// Nanoseconds since any fixed point.
    fn now(&self) -> u64;
    /// Between two writes; `false`: end now.
    fn between(&mut self) -> bool;
}

/// A write that failed: to which file, and why.
#[derive(Debug)]
pub(crate) struct WriteError {
    pub(crate) file: usize,
    pub(crate) error: io::Error,
}

/// Writes for `duration_ns`.
pub(crate) fn run(
    device: &mut dyn Device,
    layout: Layout,
    duration_ns: u64,
) -> Result<Measured, WriteError> {
    let mut tally = Tally::new(layout.block);
    let begun = device.now();
    let mut number = 0;
    let interrupted = loop {
        let (file, offset) = layout.place(number);
        device.prepare(number + 1);
        let before = device.now();
        device
            .write(file, offset)
            .map_err(|error| WriteError { file, error })?;
        let after = device.now();
        number += 1;
        tally.write(number, after - before, after - begun);
        if after - begun >= duration_ns {
            break false;
        }
        if !device.between() {
            break true;
        }
    };
    Ok(tally.end(interrupted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every write takes the next of these times, again and again; a pause of 1 comes between.
    struct Fake {
        now: u64,
        takes: Vec<u64>,
        written: Vec<(usize, u64)>,
        ends_after: usize,
        fails_at: usize,
    }

    impl Device for Fake {
        fn prepare(&mut self, number: u64) {
            assert_eq!(number, self.written.len() as u64 + 1);
        }
        fn write(&mut self, file: usize, offset: u64) -> io::Result<()> {
            if self.written.len() == self.fails_at {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.now += self.takes[self.written.len() % self.takes.len()];
            self.written.push((file, offset));
            Ok(())
        }
        fn now(&self) -> u64 {
            self.now
        }
        fn between(&mut self) -> bool {
            self.now += 1;
            self.written.len() < self.ends_after
        }
    }

    fn fake(takes: &[u64]) -> Fake {
        Fake {
            now: 77,
            takes: takes.to_vec(),
            written: Vec::new(),
            ends_after: usize::MAX,
            fails_at: usize::MAX,
        }
    }

    const LAYOUT: Layout = Layout {
        block: 4096,
        blocks_per_file: 2,
        files: 2,
    };

    #[test]
    fn blocks_follow_each_other_through_all_files_and_round_again() {
        let mut device = fake(&[9]);
        run(&mut device, LAYOUT, 49).unwrap();
        let expected = [(0, 0), (0, 4096), (1, 0), (1, 4096), (0, 0)];
        assert_eq!(device.written, expected);
    }

    #[test]
    fn the_time_and_the_numbers_of_writes_are_right() {
        let mut device = fake(&[10, 30, 20]);
        let found = run(&mut device, LAYOUT, 100).unwrap();
        // 10 30 20 10 30 with pauses of 1: the fifth ends at 104.
        assert_eq!((found.writes, found.elapsed_ns), (5, 104));
        assert_eq!((found.max.ns, found.max.number), (30, 2));
        assert_eq!((found.min.ns, found.min.number), (10, 1));
        assert_eq!(found.total_ns, 100);
        assert!(!found.interrupted);
    }

    #[test]
    fn an_end_and_an_error_are_told() {
        let mut device = fake(&[10]);
        device.ends_after = 3;
        let found = run(&mut device, LAYOUT, 1_000_000).unwrap();
        assert_eq!((found.writes, found.interrupted), (3, true));
        let mut device = fake(&[10]);
        device.fails_at = 3;
        let failed = run(&mut device, LAYOUT, 1_000_000).unwrap_err();
        assert_eq!(failed.file, 1);
        assert_eq!(failed.error.kind(), io::ErrorKind::StorageFull);
    }
}
