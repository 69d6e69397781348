//! The control file: where restart begins, and what it must find.
//!
//! Two slots of one page each. A slot, little-endian:
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | CRC-32 of bytes 4 to 4095 |
//! | 4 | 4 | `PHLC` |
//! | 8 | 4 | format |
//! | 12 | 4 | flags: 1 = clean shutdown |
//! | 16 | 8 | sequence |
//! | 24 | 8 | restart LSN |
//! | 32 | 8 | acknowledged LSN: everything before it was forced when the slot was written |
//! | 40 | 4 | generation: the highest one that may be on disk |
//! | 44 | 4 | floor: the generation in force at the restart LSN |
//! | 48 | 12 | file_pages, primary, secondary |
//! | 60 | 4 | anchor length |
//! | 64 | 256 | anchor: the engine's own |
//!
//! Invariants:
//! * A slot is written through; slots are written in turn, so a torn write hurts only the newer content
//!   and the older slot, which is still true, is used.
//! * A new generation is written to both slots before its first page, so that the loss of one slot
//!   can never bring an old generation back.
//! * The restart LSN and the acknowledged LSN never go back. Extents below the restart LSN are
//!   reused only after the slot is durable.
//! * `restart_generation` keeps restart from taking a stale page for the first page it reads, which has no predecessor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Disk, File, Open};

use crate::LogError;
use crate::config::Shape;
use crate::error::{CONTROL, REMEDY};
use crate::limits::{FORMAT, MAX_ANCHOR, PAGE};
use crate::page::{array_at, u32_at, u64_at};

const MAGIC: [u8; 4] = *b"PHLC";
const ANCHOR_AT: usize = 64;
const CLEAN: u32 = 1;

/// What a slot says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) sequence: u64,
    pub(crate) clean: bool,
    pub(crate) restart: u64,
    pub(crate) acknowledged: u64,
    pub(crate) generation: u32,
    pub(crate) restart_generation: u32,
    pub(crate) shape: Shape,
    pub(crate) anchor: Vec<u8>,
}

/// Why a slot cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotFault {
    /// Bad checksum, magic or impossible fields.
    Damaged,
    /// Intact, but of another format.
    Version(u32),
}

impl Slot {
    pub(crate) fn encode(&self, page: &mut [u8]) {
        assert!(page.len() == PAGE, "a slot is one page");
        assert!(self.anchor.len() <= MAX_ANCHOR, "checked by advance");
        page.fill(0);
        page[4..8].copy_from_slice(&MAGIC);
        put_u32(page, 8, FORMAT);
        put_u32(page, 12, if self.clean { CLEAN } else { 0 });
        page[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        page[24..32].copy_from_slice(&self.restart.to_le_bytes());
        page[32..40].copy_from_slice(&self.acknowledged.to_le_bytes());
        put_u32(page, 40, self.generation);
        put_u32(page, 44, self.restart_generation);
        put_u32(page, 48, self.shape.file_pages);
        put_u32(page, 52, self.shape.primary);
        put_u32(page, 56, self.shape.secondary);
        put_u32(page, 60, self.anchor.len() as u32);
        page[ANCHOR_AT..ANCHOR_AT + self.anchor.len()].copy_from_slice(&self.anchor);
        let crc = crc32fast::hash(&page[4..]);
        put_u32(page, 0, crc);
    }

    pub(crate) fn decode(page: &[u8]) -> Result<Self, SlotFault> {
        if page.len() != PAGE
            || array_at(page, 4) != MAGIC
            || u32_at(page, 0) != crc32fast::hash(&page[4..])
        {
            return Err(SlotFault::Damaged);
        }
        let format = u32_at(page, 8);
        if format != FORMAT {
            return Err(SlotFault::Version(format));
        }
        let flags = u32_at(page, 12);
        let length = u32_at(page, 60) as usize;
        let slot = Self {
            sequence: u64_at(page, 16),
            clean: flags == CLEAN,
            restart: u64_at(page, 24),
            acknowledged: u64_at(page, 32),
            generation: u32_at(page, 40),
            restart_generation: u32_at(page, 44),
            shape: Shape {
                file_pages: u32_at(page, 48),
                primary: u32_at(page, 52),
                secondary: u32_at(page, 56),
            },
            anchor: page[ANCHOR_AT..ANCHOR_AT + length.min(MAX_ANCHOR)].to_vec(),
        };
        let sound = flags & !CLEAN == 0
            && length <= MAX_ANCHOR
            && page[ANCHOR_AT + length..].iter().all(|byte| *byte == 0)
            && slot.shape.check().is_ok()
            && slot.restart_generation <= slot.generation
            && slot.restart <= slot.acknowledged
            && slot.acknowledged.is_multiple_of(PAGE as u64);
        if sound {
            Ok(slot)
        } else {
            Err(SlotFault::Damaged)
        }
    }
}

fn put_u32(page: &mut [u8], at: usize, value: u32) {
    page[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// The open control file and the newest slot.
pub(crate) struct Control {
    file: Arc<dyn File>,
    path: PathBuf,
    page: AlignedBuf,
    pub(crate) slot: Slot,
}

impl Control {
    /// Makes the file with both slots the same; durable but for its name.
    pub(crate) fn create(disk: &dyn Disk, dir: &Path, shape: Shape) -> Result<(), LogError> {
        let path = dir.join(CONTROL);
        let file = disk
            .open(&path, Open::FORCED_CREATE)
            .map_err(|e| LogError::file("making", &path, e))?;
        let slot = Slot {
            sequence: 0,
            clean: true,
            restart: 0,
            acknowledged: 0,
            generation: 0,
            restart_generation: 0,
            shape,
            anchor: Vec::new(),
        };
        let mut control = Self {
            file,
            path,
            page: AlignedBuf::with_pages(1),
            slot,
        };
        control.write(control.slot.clone())?;
        control.write(control.slot.clone())?;
        let synced = control.file.sync();
        synced.map_err(|e| LogError::file("syncing", &control.path, e))
    }

    /// Reads the newest usable slot.
    pub(crate) fn open(disk: &dyn Disk, dir: &Path) -> Result<Self, LogError> {
        let path = dir.join(CONTROL);
        if !disk.exists(&path) {
            return Err(LogError::NoLog(dir.display().to_string()));
        }
        let file = disk
            .open(&path, Open::FORCED)
            .map_err(|e| LogError::file("opening", &path, e))?;
        let mut page = AlignedBuf::with_pages(1);
        let mut slots = [Err(SlotFault::Damaged), Err(SlotFault::Damaged)];
        for (n, slot) in slots.iter_mut().enumerate() {
            let read = file
                .read_at(&mut page, (n * PAGE) as u64)
                .map_err(|e| LogError::file("reading", &path, e))?;
            *slot = Slot::decode(page.get(..read).unwrap_or_default());
        }
        let slot = newest(slots).map_err(|fault| match fault {
            SlotFault::Version(found) => LogError::Version(found),
            SlotFault::Damaged => LogError::ControlDamaged {
                file: path.display().to_string(),
                what: "neither of its two copies is intact".to_owned(),
                remedy: REMEDY.to_owned(),
            },
        })?;
        Ok(Self {
            file,
            path,
            page,
            slot,
        })
    }

    /// Makes `slot` (its sequence is set here) the newest one, durably.
    pub(crate) fn write(&mut self, mut slot: Slot) -> Result<(), LogError> {
        slot.sequence = self.slot.sequence + 1;
        slot.encode(&mut self.page);
        let at = slot.sequence % 2 * PAGE as u64;
        self.file
            .write_at(&self.page, at)
            .map_err(|e| LogError::file("writing", &self.path, e))?;
        self.slot = slot;
        Ok(())
    }
}

/// The usable slot with the higher sequence. A slot of another format is not passed over for an older one
/// of ours: another version of the product has been here.
fn newest(slots: [Result<Slot, SlotFault>; 2]) -> Result<Slot, SlotFault> {
    match slots {
        [Ok(a), Ok(b)] => Ok(if a.sequence > b.sequence { a } else { b }),
        [Err(fault @ SlotFault::Version(_)), _] | [_, Err(fault @ SlotFault::Version(_))] => {
            Err(fault)
        }
        [Ok(one), Err(_)] | [Err(_), Ok(one)] => Ok(one),
        [Err(_), Err(_)] => Err(SlotFault::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot {
            sequence: 7,
            clean: true,
            restart: 4_100,
            acknowledged: 8_192,
            generation: 5,
            restart_generation: 4,
            shape: Shape {
                file_pages: 64,
                primary: 3,
                secondary: 2,
            },
            anchor: (0..=255).collect(),
        }
    }

    #[test]
    fn round_trip_and_any_changed_bit() {
        let mut page = vec![0xEE; PAGE];
        for anchor in [0, 1, 255, 256] {
            let mut slot = slot();
            slot.anchor.truncate(anchor);
            slot.clean = anchor % 2 == 0;
            slot.encode(&mut page);
            assert_eq!(Slot::decode(&page), Ok(slot));
        }
        for byte in 0..PAGE {
            page[byte] ^= 0x10;
            assert_eq!(Slot::decode(&page), Err(SlotFault::Damaged), "byte {byte}");
            page[byte] ^= 0x10;
        }
        assert_eq!(Slot::decode(&[0; PAGE]), Err(SlotFault::Damaged));
        assert_eq!(Slot::decode(&[]), Err(SlotFault::Damaged));
    }

    #[test]
    fn impossible_fields_and_other_formats() {
        let change = |at: usize, value: u32| {
            let mut page = vec![0; PAGE];
            slot().encode(&mut page);
            put_u32(&mut page, at, value);
            let crc = crc32fast::hash(&page[4..]);
            put_u32(&mut page, 0, crc);
            Slot::decode(&page)
        };
        assert_eq!(change(8, 2), Err(SlotFault::Version(2)));
        for (at, value) in [
            (12, 2),
            (24, 9_000),
            (32, 8_193),
            (40, 3),
            (48, 63),
            (52, 1),
            (60, 257),
        ] {
            assert_eq!(
                change(at, value),
                Err(SlotFault::Damaged),
                "offset {at} = {value}"
            );
        }
    }

    #[test]
    fn which_slot_counts() {
        let with = |sequence| Ok(Slot { sequence, ..slot() });
        let bad = || Err(SlotFault::Damaged);
        let other = || Err(SlotFault::Version(9));
        let rows = [
            (with(1), with(2), Ok(2)),
            (with(3), with(2), Ok(3)),
            (bad(), with(2), Ok(2)),
            (with(3), bad(), Ok(3)),
            (bad(), bad(), Err(SlotFault::Damaged)),
            (other(), with(2), Err(SlotFault::Version(9))),
            (bad(), other(), Err(SlotFault::Version(9))),
        ];
        for (a, b, want) in rows {
            assert_eq!(newest([a, b]).map(|slot| slot.sequence), want);
        }
    }
}
