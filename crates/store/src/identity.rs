//! The file `identity` of a data folder: whose it is, and which run has used it last.
//!
//! Two slots of one page each. A slot, little-endian:
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | CRC-32 of bytes 4 to 4095 |
//! | 4 | 4 | `PHID` |
//! | 8 | 4 | format |
//! | 12 | 4 | flags: 1 = the log has no identity yet |
//! | 16 | 16 | the queue manager's identity |
//! | 32 | 8 | number of the run, drawn at random |
//! | 40 | 4 | incarnation: how often the queue manager had been started with that run |
//!
//! Invariants: the slot that is not the newest is written, in place and through, so that a torn write leaves the newest one, and
//! a disk that is full is no hindrance.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Disk, File, Open, PAGE};

use crate::StoreError;

const NAME: &str = "identity";
const MAGIC: [u8; 4] = *b"PHID";
const FORMAT: u32 = 1;
const ADOPTING: u32 = 1;
/// Bytes of a slot that have a meaning.
const USED: usize = 44;

/// What a data folder says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Drawn when the queue manager was created.
    pub queue_manager: [u8; 16],
    /// Drawn for the run that has used the folder last.
    pub run: u64,
    /// The incarnation of that run.
    pub incarnation: u32,
    /// The log has not been given the identity yet.
    pub adopting: bool,
}

impl Identity {
    fn encode(self, page: &mut [u8]) {
        page.fill(0);
        page[4..8].copy_from_slice(&MAGIC);
        page[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        let flags = if self.adopting { ADOPTING } else { 0 };
        page[12..16].copy_from_slice(&flags.to_le_bytes());
        page[16..32].copy_from_slice(&self.queue_manager);
        page[32..40].copy_from_slice(&self.run.to_le_bytes());
        page[40..44].copy_from_slice(&self.incarnation.to_le_bytes());
        let crc = crc32fast::hash(&page[4..]);
        page[..4].copy_from_slice(&crc.to_le_bytes());
    }

    /// `None`: it is none, or damaged; `Err`: of another format.
    fn decode(page: &[u8]) -> Result<Option<Self>, u32> {
        let word = |at: usize| {
            page.get(at..)?
                .first_chunk()
                .map(|b| u32::from_le_bytes(*b))
        };
        let intact = page.len() == PAGE
            && page[4..8] == MAGIC
            && word(0) == Some(crc32fast::hash(&page[4..]));
        let (true, Some(format), Some(flags)) = (intact, word(8), word(12)) else {
            return Ok(None);
        };
        if format != FORMAT {
            return Err(format);
        }
        let rest_is_empty = page[USED..].iter().all(|byte| *byte == 0);
        let read = || {
            Some(Identity {
                queue_manager: *page.get(16..)?.first_chunk()?,
                run: u64::from_le_bytes(*page.get(32..)?.first_chunk()?),
                incarnation: word(40)?,
                adopting: flags == ADOPTING,
            })
        };
        Ok(read().filter(|_| flags & !ADOPTING == 0 && rest_is_empty))
    }
}

/// The file, and what it says.
pub struct IdentityFile {
    path: PathBuf,
    file: Option<Arc<dyn File>>,
    slots: [Option<Identity>; 2],
}

impl IdentityFile {
    /// Reads what the data folder says; nothing if there is no file, or none that was finished.
    ///
    /// # Errors
    /// It cannot be read, or a later release has written it.
    pub fn read(disk: &Arc<dyn Disk>, data: &Path) -> Result<Self, StoreError> {
        let path = data.join(NAME);
        let file = match disk.open(&path, Open::FORCED) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::from_io(&error, "open", &path)),
        };
        let mut slots = [None, None];
        if let Some(file) = &file {
            let mut page = AlignedBuf::with_pages(1);
            for (number, slot) in slots.iter_mut().enumerate() {
                let read = file
                    .read_at(&mut page, (number * PAGE) as u64)
                    .map_err(|error| StoreError::from_io(&error, "read", &path))?;
                let bytes = page.get(..read).unwrap_or_default();
                *slot = Identity::decode(bytes).map_err(|found| StoreError::Version {
                    file: path.display().to_string(),
                    found,
                    supported: FORMAT,
                })?;
            }
        }
        Ok(IdentityFile { path, file, slots })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says.
    pub fn newest(&self) -> Option<Identity> {
        self.slots
            .iter()
            .flatten()
            .max_by_key(|slot| slot.incarnation)
            .copied()
    }

    /// Makes it say this, durably.
    ///
    /// # Errors
    /// It cannot be written; it says what it has said then.
    pub fn write(&mut self, disk: &Arc<dyn Disk>, identity: Identity) -> Result<(), StoreError> {
        let older = match self.slots {
            [Some(one), Some(other)] => usize::from(other.incarnation < one.incarnation),
            [None, Some(_)] => 0,
            [Some(_), None] => 1,
            [None, None] => return self.make(disk, identity),
        };
        let Some(file) = &self.file else {
            return self.make(disk, identity);
        };
        put(&**file, older, identity).map_err(|e| StoreError::from_io(&e, "write", &self.path))?;
        self.slots[older] = Some(identity);
        Ok(())
    }

    /// The first time: both slots, and the name.
    fn make(&mut self, disk: &Arc<dyn Disk>, identity: Identity) -> Result<(), StoreError> {
        let made = || {
            let file = disk.open(&self.path, Open::FORCED_CREATE)?;
            put(&*file, 0, identity)?;
            put(&*file, 1, identity)?;
            Ok(file)
        };
        let file = made().map_err(|error| StoreError::from_io(&error, "write", &self.path))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let synced = file.sync().and_then(|()| disk.sync_dir(folder));
        synced.map_err(|error| StoreError::from_sync(&error, "sync", &self.path))?;
        self.file = Some(file);
        self.slots = [Some(identity); 2];
        Ok(())
    }
}

fn put(file: &dyn File, slot: usize, identity: Identity) -> io::Result<()> {
    let mut page = AlignedBuf::with_pages(1);
    identity.encode(&mut page);
    file.write_at(&page, (slot * PAGE) as u64)
}

/// For fuzzers: what decodes encodes to the same.
pub(crate) fn fuzz(bytes: &[u8]) {
    if let Ok(Some(identity)) = Identity::decode(bytes) {
        let mut page = vec![0; PAGE];
        identity.encode(&mut page);
        assert_eq!(page, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_round_trips_and_any_changed_bit_is_seen() {
        let mut page = vec![0xEE; PAGE];
        for adopting in [false, true] {
            let identity = Identity {
                queue_manager: [7; 16],
                run: u64::MAX - 1,
                incarnation: 3,
                adopting,
            };
            identity.encode(&mut page);
            assert_eq!(Identity::decode(&page), Ok(Some(identity)));
            fuzz(&page);
        }
        for byte in 0..PAGE {
            page[byte] ^= 0x10;
            assert_eq!(Identity::decode(&page), Ok(None), "byte {byte}");
            page[byte] ^= 0x10;
        }
        assert_eq!(Identity::decode(&[0; PAGE]), Ok(None));
        assert_eq!(Identity::decode(&page[..PAGE - 1]), Ok(None));
        page[8] = 2;
        let crc = crc32fast::hash(&page[4..]);
        page[..4].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(Identity::decode(&page), Err(2));
    }
}
