//! Forced writes: memory and files as a recovery log has them, and the loop that is measured, which writes one block
//! at a time, block after block, file after file, and round again.
//!
//! Invariants: a write is counted in the second in which it ended; the loop ends with the first write that
//! ends after its time, and that one counts; what happens between two writes is not part of any latency.

use std::io;
use std::ops::Range;
use std::time::Duration;

use super::measured::Measured;

/// The smallest piece that a device knows.
const SECTOR: usize = 512;

/// Memory that begins at a multiple of an alignment, filled with bytes that no device can compress or leave
/// out.
pub(super) struct AlignedMemory {
    bytes: Vec<u8>,
    aligned: Range<usize>,
}

impl AlignedMemory {
    pub(super) fn new(length: usize, alignment: usize) -> AlignedMemory {
        let mut bytes = vec![0; length + alignment];
        posthaste_env::os().entropy.fill(&mut bytes);
        let start = bytes.as_ptr().addr().wrapping_neg() % alignment;
        AlignedMemory {
            bytes,
            aligned: start..start + length,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.aligned.clone()).unwrap_or_default()
    }

    /// Makes each sector differ from what it was: some devices are faster with what is there already, and a
    /// log never writes that.
    pub(super) fn stamp(&mut self, number: u64) {
        let bytes = self.bytes.get_mut(self.aligned.clone()).unwrap_or_default();
        for (sector, place) in bytes.chunks_mut(SECTOR).zip(number << 16..) {
            for (to, from) in sector.iter_mut().zip(place.to_le_bytes()) {
                *to = from;
            }
        }
    }
}

/// Where blocks lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) block: u64,
    pub(super) blocks_per_file: u64,
    pub(super) files: usize,
}

impl Layout {
    /// File (from 0) and offset of the write with this number (from 0).
    fn place(&self, number: u64) -> (usize, u64) {
        let per_file = self.blocks_per_file.max(1);
        let file = (number / per_file) % self.files.max(1) as u64;
        (file as usize, number % per_file * self.block)
    }
}

/// What is written to, and the time it takes.
pub(super) trait Device {
    /// Makes the block ready for write `number`, counted from 1, in time that is not measured; `false`: end now.
    fn prepare(&mut self, number: u64) -> bool;
    /// Writes the block into a file at an offset.
    fn write(&mut self, file: usize, offset: u64) -> io::Result<()>;
    /// Nanoseconds since any fixed point.
    fn now(&self) -> u64;
}

/// Writes for so long; what failed, with the number of its file.
pub(super) fn run(
    device: &mut dyn Device,
    layout: Layout,
    time: Duration,
) -> Result<Measured, (usize, io::Error)> {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let mut found = Measured::new(layout.block);
    let begun = device.now();
    for number in 1.. {
        if !device.prepare(number) {
            found.interrupted = true;
            break;
        }
        let (file, offset) = layout.place(number - 1);
        let before = device.now();
        device.write(file, offset).map_err(|error| (file, error))?;
        let after = device.now();
        found.write(number, after - before, after - begun);
        if after - begun >= time {
            break;
        }
    }
    Ok(found.ended())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_not_blank() {
        for alignment in [512, 4096, 65_536] {
            let mut memory = AlignedMemory::new(8192, alignment);
            assert_eq!(memory.bytes().len(), 8192);
            assert!(memory.bytes().as_ptr().addr().is_multiple_of(alignment));
            let zeros = memory.bytes().iter().filter(|byte| **byte == 0).count();
            assert!(zeros < 200, "{zeros}");
            for number in [0, 1, 70_000] {
                let before = memory.bytes().to_vec();
                memory.stamp(number);
                let mut changed = memory.bytes().chunks(SECTOR).zip(before.chunks(SECTOR));
                assert!(changed.all(|(now, before)| now != before));
            }
        }
    }

    /// Every write takes the next of these times, again and again; a pause of 1 comes between.
    #[derive(Default)]
    struct Fake {
        now: u64,
        takes: Vec<u64>,
        written: Vec<(usize, u64)>,
        ends_after: Option<usize>,
        fails_at: Option<usize>,
    }

    impl Device for Fake {
        fn prepare(&mut self, number: u64) -> bool {
            assert_eq!(number, self.written.len() as u64 + 1);
            self.now += u64::from(number > 1);
            self.ends_after != Some(self.written.len())
        }
        fn write(&mut self, file: usize, offset: u64) -> io::Result<()> {
            if self.fails_at == Some(self.written.len()) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.now += self.takes[self.written.len() % self.takes.len()];
            self.written.push((file, offset));
            Ok(())
        }
        fn now(&self) -> u64 {
            self.now
        }
    }

    fn fake(
        takes: &[u64],
        time: u64,
        spoil: fn(&mut Fake),
    ) -> (Result<Measured, (usize, io::Error)>, Fake) {
        let mut device = Fake {
            now: 77,
            takes: takes.to_vec(),
            ..Fake::default()
        };
        spoil(&mut device);
        let layout = Layout {
            block: 4096,
            blocks_per_file: 2,
            files: 2,
        };
        (run(&mut device, layout, Duration::from_nanos(time)), device)
    }

    #[test]
    fn blocks_follow_each_other_through_all_files_and_round_again() {
        let (_, device) = fake(&[9], 49, |_| {});
        assert_eq!(
            device.written,
            [(0, 0), (0, 4096), (1, 0), (1, 4096), (0, 0)]
        );
    }

    #[test]
    fn times_and_numbers_an_end_and_an_error_are_told() {
        // 10 30 20 10 30 with pauses of 1: the fifth ends at 104.
        let found = fake(&[10, 30, 20], 100, |_| {}).0.unwrap();
        assert_eq!(
            (found.writes, found.elapsed_ns, found.total_ns),
            (5, 104, 100)
        );
        assert_eq!((found.max.ns, found.max.number), (30, 2));
        assert_eq!((found.min.ns, found.min.number), (10, 1));
        assert!(!found.interrupted);
        let found = fake(&[10], 1_000_000, |device| device.ends_after = Some(3))
            .0
            .unwrap();
        assert_eq!((found.writes, found.interrupted), (3, true));
        let failed = fake(&[10], 1_000_000, |device| device.fails_at = Some(3)).0;
        let (file, error) = failed.unwrap_err();
        assert_eq!((file, error.kind()), (1, io::ErrorKind::StorageFull));
    }
}
