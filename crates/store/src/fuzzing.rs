//! Entry points for fuzzing: any bytes in, no panic unless a promise is broken.
//!
//! Each function asserts what must hold for every input, so that a fuzzer has something to find.

#![doc(hidden)]

use std::io;
use std::path::Path;
use std::sync::Arc;

use posthaste_env::File;

use crate::image::{ImageReader, encode_image};
use crate::item::{self, Place};
use crate::space::Space;

/// A checkpoint image, or a slot of the identity: refused, or written again to the same bytes.
pub fn image(bytes: &[u8]) {
    crate::identity::fuzz(bytes);
    let number = bytes
        .get(16..24)
        .and_then(|field| field.first_chunk::<8>())
        .map_or(0, |field| u64::from_le_bytes(*field));
    let file: Arc<dyn File> = Arc::new(Fixed(bytes.to_vec()));
    let Ok(mut reader) = ImageReader::over(file, Path::new("fuzz.img"), number) else {
        return;
    };
    let mut sections = Vec::new();
    loop {
        match reader.next_section() {
            Ok(Some(section)) => sections.push(section),
            Ok(None) => break,
            Err(_) => return,
        }
    }
    assert_eq!(
        encode_image(number, &sections),
        bytes,
        "one image, one form"
    );
}

/// A stored item: refused, or written again to the same bytes.
pub fn stored_item(bytes: &[u8]) {
    let Some(block) = item::word(bytes, 8) else {
        return;
    };
    let Ok(length) = item::announced(bytes, block) else {
        return;
    };
    let place = Place { block, length };
    let Ok(payload) = item::decode(bytes, place) else {
        return;
    };
    let mut again = Vec::new();
    item::encode(&mut again, place, &[payload]);
    let used = item::HEADER + payload.len();
    assert_eq!(again.get(..used), bytes.get(..used), "one item, one form");
}

/// The free-space map: five bytes a step.
pub fn free_space(bytes: &[u8]) {
    let steps = bytes.chunks_exact(5).take(500).map(|step| {
        let amount = step.get(1..).and_then(|rest| rest.first_chunk::<4>());
        (
            step.first().copied().unwrap_or(0),
            amount.map_or(0, |field| u32::from_le_bytes(*field)),
        )
    });
    compare_with_naive(steps);
}

/// Runs a script of operations against the map and against one flag a block. Each step is
/// (what, amount). Panics where the two disagree.
pub(crate) fn compare_with_naive(steps: impl Iterator<Item = (u8, u32)>) {
    let mut space = Space::new(1);
    let mut naive = vec![true];
    let mut live: Vec<(u32, u32)> = Vec::new();
    for (what, amount) in steps {
        match what % 8 {
            0..=2 => step_allocate(&mut space, &mut naive, &mut live, amount % 3000 + 1),
            3 | 4 if !live.is_empty() => {
                let (start, count) = live.swap_remove(amount as usize % live.len());
                space.release(start, count);
                naive[start as usize..(start + count) as usize].fill(false);
            }
            5 => {
                let (start, count) = (amount % 9000, amount / 9000 % 2000 + 1);
                let end = (start + count) as usize;
                naive.resize(naive.len().max(end), false);
                let free = !naive[start as usize..end].contains(&true);
                assert_eq!(space.reserve(start, count), free, "reserve {start}+{count}");
                if free {
                    naive[start as usize..end].fill(true);
                    live.push((start, count));
                }
            }
            6 => {
                let high = naive.iter().rposition(|used| *used).map_or(1, |at| at + 1);
                assert_eq!(space.high_water() as usize, high);
                naive.truncate(high + (amount % 700) as usize);
                space.cut(naive.len() as u32);
            }
            7 if amount % 4 == 0 => step_give_back(&mut space, &naive),
            _ if naive.len() < 100_000 => {
                naive.resize(naive.len() + (amount % 5000) as usize, false);
                space.extend(naive.len() as u32);
            }
            _ => {}
        }
        assert_eq!(space.blocks() as usize, naive.len());
        let used = naive.iter().filter(|used| **used).count() as u64;
        assert_eq!(space.used() + 1, used, "block 0 is not counted");
    }
}

fn step_give_back(space: &mut Space, naive: &[bool]) {
    let mut leaf = 0;
    while let Some((next, runs)) = space.take_freed(leaf, 8, 16) {
        leaf = next;
        for (start, count) in &runs {
            let (from, to) = (*start as usize, (*start + *count) as usize);
            assert!(
                !naive[from..to].contains(&true),
                "{start}+{count} is in use"
            );
            assert!(start % 8 == 0 && count % 8 == 0 && *count >= 16);
            assert!(!space.is_free(*start, 1), "somebody could take it");
        }
        assert_eq!(space.check(), Ok(()));
        space.put_back(&runs, runs.len());
    }
}

fn step_allocate(space: &mut Space, naive: &mut [bool], live: &mut Vec<(u32, u32)>, count: u32) {
    let want = count as usize;
    let lowest = naive.windows(want).position(|run| !run.contains(&true));
    let cursor = space.cursor() as usize;
    match space.allocate(count) {
        None => assert_eq!(lowest, None, "{count} free blocks were not found"),
        Some(start) => {
            let at = start as usize;
            assert!(!naive[at..at + want].contains(&true), "{start}+{count}");
            assert!(
                at == cursor || Some(at) == lowest,
                "neither next nor lowest"
            );
            naive[at..at + want].fill(true);
            live.push((start, count));
        }
    }
}

/// A file that holds given bytes and cannot be changed.
struct Fixed(Vec<u8>);

impl File for Fixed {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.0.get(from..).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn punch(&self, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}
