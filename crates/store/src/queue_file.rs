//! The file of one queue: payloads in places of whole blocks, allocated, freed and reused at once.
//!
//! ```text
//! block 0   "PHQF", format version, block size, CRC-32 of these twelve bytes
//! block 1.. items, see `item.rs`
//! ```
//!
//! Invariants:
//! * Which blocks are in use is known in memory only. At restart everyone who still refers to a place says
//!   so ([`QueueFile::reserve`], [`QueueFile::rebuild`]); all else is free. The file is never scanned.
//! * A place is freed only when the destruction of its message is forced to the recovery log. Its blocks may
//!   therefore be overwritten at once: no restart will ask for what they held, although the checkpoint
//!   image it starts from may still name the place (so `reserve` looks at no contents, and takes places past
//!   the end of a file that has been shrunk).
//! * A write that fails frees what was allocated for it.
//! * Writes are left to the operating system; what a checkpoint image refers to is durable after
//!   [`QueueFile::sync`], the name of a new file included. An error of `sync` is final.
//! * The map of free blocks is locked for its own work only, never while the system reads, writes, changes the
//!   length or gives back room: places are freed under the lock of a queue. Nobody takes a block meanwhile whose room
//!   is just going. One at a time changes the length (`length`, locked before the map).
//! * Room is given back of free blocks only, so the same holds of it as of writing them anew: by then everyone who
//!   could ask for what they held has had to give them up.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, Ordering};
use posthaste_env::{Disk, File, Open, PAGE};

use crate::error::StoreError;
use crate::item::{self, BLOCK, HEADER, MAX_PAYLOAD, Place, Sealed, blocks_for, word};
use crate::space::Space;

const MAGIC: [u8; 4] = *b"PHQF";
const VERSION: u32 = 1;
/// Most blocks in a file: 1 TiB.
const MAX_BLOCKS: u32 = 1 << 31;
/// The longest a queue file can be, in bytes.
pub const LARGEST_FILE: u64 = MAX_BLOCKS as u64 * BLOCK as u64;
/// A file grows by an eighth of itself, within these bounds (1 MiB and 64 MiB), and shrinks in units of the first.
const GROW_LEAST: u32 = 2048;
const GROW_MOST: u32 = 131_072;
/// First read when the length of an item is not known.
const GUESS: usize = 4096;
/// Blocks of a page, the least a file system gives back.
const PAGE_BLOCKS: u32 = (PAGE / BLOCK) as u32;
/// Free blocks that are worth a call when there is no need (64 KiB): in one stretch, and in all since the last time.
const WORTH_A_CALL: u32 = 128;
/// Free blocks that are worth giving back when there is no need (1 MiB), if they are a quarter of those in use.
const MUCH: u64 = 2048;

/// Whether so much is free that a file that is filled and emptied all the time would still not have its room taken
/// and given back in turns; and so much of it new that more can be expected of it than the last time.
fn is_much(space: &Space) -> bool {
    let quarter = space.used() / 4;
    space.released() >= MUCH.max(quarter)
        && space.untried() >= quarter.clamp(WORTH_A_CALL.into(), MUCH)
}

/// The system's number for "the device failed": of a read, it means that the bytes are lost.
const EIO: i32 = 5;

thread_local! {
    /// One buffer a thread, so that steady spilling allocates nothing.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Largest buffer a thread keeps (2 MiB).
const KEEP: usize = 4096 * BLOCK;

fn with_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut buffer = BUFFER.take();
    let result = work(&mut buffer);
    if buffer.capacity() <= KEEP {
        BUFFER.set(buffer);
    }
    result
}

/// The file of one queue. All calls may be made from several threads at once.
pub struct QueueFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<dyn File>,
    length: Mutex<()>,
    space: Mutex<Space>,
    /// Whether the file's name is known to be durable.
    named: AtomicBool,
    /// The file system cannot give back room in the middle of a file.
    solid: AtomicBool,
}

impl std::fmt::Debug for QueueFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueFile")
            .field("path", &self.path)
            .field("used_blocks", &self.used_blocks())
            .finish_non_exhaustive()
    }
}

impl QueueFile {
    /// Makes an empty file; one that is there already is emptied. Durable after the first [`QueueFile::sync`].
    pub fn create(disk: &Arc<dyn Disk>, path: &Path) -> Result<QueueFile, StoreError> {
        let failed = |e| StoreError::from_io(&e, "create queue file", path);
        let file = disk.open(path, Open::CREATE).map_err(failed)?;
        file.set_len(0).map_err(failed)?;
        file.write_at(&file_header(), 0).map_err(failed)?;
        Ok(QueueFile::over(disk, path, file, 1))
    }

    /// Opens a file with all of its blocks free until they are reserved. A file that was made but never
    /// synced before a crash may come back empty or as zeros; it is taken as new.
    pub fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<QueueFile, StoreError> {
        let failed = |e| StoreError::from_io(&e, "open queue file", path);
        let file = disk.open(path, Open::READ_WRITE).map_err(failed)?;
        let length = file.len().map_err(failed)?;
        let mut header = [0; 16];
        let got = file.read_at(&mut header, 0);
        let got = got.map_err(|e| unreadable(&e, path, 0))?;
        if header == [0; 16] {
            file.write_at(&file_header(), 0).map_err(failed)?;
        } else {
            check_file_header(header.get(..got).unwrap_or(&header), path)?;
        }
        let blocks = u32::try_from(length / BLOCK as u64).unwrap_or(MAX_BLOCKS);
        let blocks = blocks.clamp(1, MAX_BLOCKS);
        Ok(QueueFile::over(disk, path, file, blocks))
    }

    /// Whether a file is that of a queue by its first bytes, or has none that say anything because it was never synced.
    pub fn is_one(disk: &Arc<dyn Disk>, path: &Path) -> bool {
        let mut head = [0; 4];
        let read = disk
            .open(path, Open::READ)
            .and_then(|file| file.read_at(&mut head, 0));
        read.is_ok() && (head == MAGIC || head == [0; 4])
    }

    /// Opens a file that is damaged, or makes it if it has gone, for what can still be read in it. Nothing is
    /// looked at, and all that is there counts as in use, so that nothing in it is overwritten.
    pub fn open_damaged(disk: &Arc<dyn Disk>, path: &Path) -> Result<QueueFile, StoreError> {
        let failed = |e| StoreError::from_io(&e, "open queue file", path);
        let file = disk.open(path, Open::CREATE).map_err(failed)?;
        let length = file.len().map_err(failed)?;
        let blocks = u32::try_from(length.div_ceil(BLOCK as u64)).unwrap_or(MAX_BLOCKS);
        let blocks = blocks.clamp(1, MAX_BLOCKS);
        let opened = QueueFile::over(disk, path, file, blocks);
        opened.space.lock().reserve(1, blocks - 1);
        Ok(opened)
    }

    /// Counts every block before `end` that the file does not have as in use: something refers to it, and a file that
    /// is put back may have it again.
    pub fn leave_out(&self, end: u64) {
        let mut space = self.space.lock();
        let from = space.blocks();
        let end = u32::try_from(end).unwrap_or(MAX_BLOCKS).min(MAX_BLOCKS);
        if end > from {
            space.reserve(from, end - from);
        }
    }

    /// Writes the first block of a damaged file that is to be begun anew; [`QueueFile::rebuild`] does the rest.
    pub fn write_head(&self) -> Result<(), StoreError> {
        self.file
            .write_at(&file_header(), 0)
            .map_err(|e| self.io(&e, "write"))
    }

    fn over(disk: &Arc<dyn Disk>, path: &Path, file: Arc<dyn File>, blocks: u32) -> QueueFile {
        QueueFile {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            file,
            length: Mutex::new(()),
            space: Mutex::new(Space::new(blocks)),
            named: AtomicBool::new(false),
            solid: AtomicBool::new(false),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the parts as one item, in one write. Not durable before [`QueueFile::sync`].
    pub fn write(&self, parts: &[&[u8]]) -> Result<Place, StoreError> {
        self.write_sealed(parts).map(|item| item.place)
    }

    /// The same for an item whose payload says nothing of its identity.
    pub fn write_sealed(&self, parts: &[&[u8]]) -> Result<Sealed, StoreError> {
        let length = self.length_of(parts)?;
        self.twice_if_full(|| {
            let block = self.take(blocks_for(length))?;
            let place = Place { block, length };
            with_buffer(|buffer| {
                buffer.clear();
                let checksum = item::encode(buffer, place, parts);
                self.put_down(buffer, place)?;
                Ok(Sealed { place, checksum })
            })
            .inspect_err(|_| self.take_back(place))
        })
    }

    /// When the file system has no room for blocks never written before, those freed further to the front
    /// may still take the item, for the file system need not find room for them.
    fn twice_if_full<T>(
        &self,
        attempt: impl Fn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match attempt() {
            Err(StoreError::Full) => {
                self.space.lock().rewind();
                attempt()
            }
            result => result,
        }
    }

    /// Frees the place of a write that failed.
    fn take_back(&self, place: Place) {
        self.space.lock().release(place.block, place.blocks());
    }

    /// Reads the payload stored at `block`, whatever its length.
    pub fn read(&self, block: u32) -> Result<Vec<u8>, StoreError> {
        with_buffer(|buffer| {
            let start = Place { block, length: 0 };
            let got = self.pick_up(buffer, start.offset(), GUESS)?;
            let length = item::announced(got, block).map_err(|bad| self.bad(bad, start))?;
            let place = Place { block, length };
            let bytes = HEADER as u64 + u64::from(length);
            let got = if bytes <= got.len() as u64 {
                got
            } else {
                // The length is not to be trusted before it is compared with that of the file.
                let end = self.file.len().map_err(|e| self.io(&e, "read"))?;
                if place.offset().saturating_add(bytes) > end {
                    return Err(self.bad(item::Bad::Length, place));
                }
                self.pick_up(buffer, place.offset(), bytes as usize)?
            };
            let payload = item::decode(got, place).map_err(|bad| self.bad(bad, place))?;
            Ok(payload.to_vec())
        })
    }

    /// Reads the payload of this very item: an older one in its place is damage.
    pub fn read_sealed(&self, item: Sealed) -> Result<Vec<u8>, StoreError> {
        let place = item.place;
        with_buffer(|buffer| {
            let bytes = HEADER as u64 + u64::from(place.length);
            // A length that the file does not have takes no memory.
            let end = self.file.len().map_err(|e| self.io(&e, "read"))?;
            if place.offset().saturating_add(bytes) > end {
                return Err(self.bad(item::Bad::Length, place));
            }
            let got = self.pick_up(buffer, place.offset(), bytes as usize)?;
            let payload = item::decode_sealed(got, item).map_err(|bad| self.bad(bad, place))?;
            Ok(payload.to_vec())
        })
    }

    /// Gives a place back. Only when the destruction of its message is forced (see the head of this file).
    /// Freeing a place that is not in use is a bug of the caller and stops the program. Returns whether so much is
    /// free by now that [`QueueFile::give_back`] is worth its while.
    pub fn free(&self, place: Place) -> bool {
        let mut space = self.space.lock();
        space.release(place.block, place.blocks());
        is_much(&space)
    }

    /// Whether so much has become free that giving its room back is worth its while.
    pub fn has_much_to_give_back(&self) -> bool {
        is_much(&self.space.lock())
    }

    /// Free blocks whose room has not been given back.
    pub fn released_blocks(&self) -> u64 {
        self.space.lock().released()
    }

    /// Whether all of a place is in use.
    pub fn holds(&self, place: Place) -> bool {
        self.space.lock().is_used(place.block, place.blocks())
    }

    /// Holds the map of free blocks against its invariants.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check_space(&self) -> Result<(), String> {
        self.space.lock().check()
    }

    /// Restart: this place is in use. In any order; costs a few nanoseconds. A place that overlaps another
    /// one is an error.
    pub fn reserve(&self, place: Place) -> Result<(), StoreError> {
        self.reserve_in(&mut self.space.lock(), place)
    }

    /// Restart, and a damaged file that is begun anew: exactly these places are in use.
    pub fn rebuild(&self, places: impl Iterator<Item = Place>) -> Result<(), StoreError> {
        let mut space = self.space.lock();
        *space = Space::new(space.blocks());
        for place in places {
            self.reserve_in(&mut space, place)?;
        }
        Ok(())
    }

    fn reserve_in(&self, space: &mut Space, place: Place) -> Result<(), StoreError> {
        if place.block == 0 || place.end() > u64::from(MAX_BLOCKS) {
            return Err(self.damaged("a place outside the file is referred to", place));
        }
        if !space.reserve(place.block, place.blocks()) {
            return Err(self.damaged("a place is referred to twice", place));
        }
        Ok(())
    }

    /// Makes all writes so far, and the name of a new file, durable. An error is final.
    pub fn sync(&self) -> Result<(), StoreError> {
        let failed = |e, act: &str| StoreError::from_sync(&e, act, &self.path);
        self.file.sync().map_err(|e| failed(e, "sync queue file"))?;
        if !self.named.load(Ordering::Acquire) {
            if let Some(dir) = self.path.parent() {
                self.disk
                    .sync_dir(dir)
                    .map_err(|e| failed(e, "sync the directory of queue file"))?;
            }
            self.named.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Blocks that hold items.
    pub fn used_blocks(&self) -> u64 {
        self.space.lock().used()
    }

    /// Blocks of the file, free ones and block 0 included.
    pub fn file_blocks(&self) -> u64 {
        u64::from(self.space.lock().blocks())
    }

    /// Bytes of memory the map of free blocks takes.
    pub fn memory(&self) -> usize {
        self.space.lock().memory()
    }

    /// Gives the room of free blocks back to the file system: the end of the file, and what lies between items.
    /// `all`: every page of it, else only stretches that are worth a call.
    pub fn give_back(&self, all: bool) -> Result<(), StoreError> {
        match self.shrink() {
            Err(StoreError::Full) => return Ok(()),
            shrunk => shrunk?,
        }
        let least = if all { 1 } else { WORTH_A_CALL };
        let mut leaf = 0;
        while !self.solid.load(Ordering::Relaxed) {
            let taken = self.space.lock().take_freed(leaf, PAGE_BLOCKS, least);
            let Some((next, runs)) = taken else { break };
            leaf = next;
            let mut given = 0;
            let punched: std::io::Result<()> = runs.iter().try_for_each(|(start, count)| {
                let bytes = |blocks: u32| u64::from(blocks) * BLOCK as u64;
                self.file.punch(bytes(*start), bytes(*count))?;
                given += 1;
                Ok(())
            });
            self.space.lock().put_back(&runs, given);
            match punched {
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                    self.solid.store(true, Ordering::Relaxed);
                }
                punched => match punched.map_err(|e| self.io(&e, "give back room of")) {
                    // The file system's own tables have no room for a hole: the next time, perhaps.
                    Err(StoreError::Full) => break,
                    done => done?,
                },
            }
        }
        self.space.lock().have_tried();
        Ok(())
    }

    /// Gives the free end of the file back to the file system, and places new items towards the front so that
    /// the end becomes free later.
    pub fn shrink(&self) -> Result<(), StoreError> {
        let _length = self.length.lock();
        let (blocks, count) = {
            let mut space = self.space.lock();
            let keep = space.high_water().div_ceil(GROW_LEAST) * GROW_LEAST;
            let blocks = keep.min(space.blocks());
            (blocks, space.begin_cut(blocks))
        };
        let cut = match count {
            0 => Ok(()),
            _ => self.file.set_len(u64::from(blocks) * BLOCK as u64),
        };
        self.space.lock().end_cut(blocks, count, cut.is_ok());
        cut.map_err(|e| self.io(&e, "shrink"))
    }

    /// Finds room for one item; the file grows if it has none.
    fn take(&self, blocks: u32) -> Result<u32, StoreError> {
        if let Some(start) = self.space.lock().allocate(blocks) {
            return Ok(start);
        }
        let _length = self.length.lock();
        loop {
            let target = {
                let mut space = self.space.lock();
                // Whoever had the length may have made room.
                if let Some(start) = space.allocate(blocks) {
                    return Ok(start);
                }
                longer(&space, blocks)?
            };
            self.file
                .set_len(u64::from(target) * BLOCK as u64)
                .map_err(|e| self.io(&e, "extend"))?;
            // Others may take of it: then it grows once more.
            self.space.lock().extend(target);
        }
    }

    fn length_of(&self, parts: &[&[u8]]) -> Result<u32, StoreError> {
        let bytes = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.len()));
        match u32::try_from(bytes) {
            Ok(length) if bytes <= MAX_PAYLOAD => Ok(length),
            _ => {
                let error = std::io::Error::new(
                    std::io::ErrorKind::InvalidInput,
                    format!("{bytes} bytes are more than one item can hold"),
                );
                Err(self.io(&error, "write"))
            }
        }
    }

    fn put_down(&self, bytes: &[u8], first: Place) -> Result<(), StoreError> {
        self.file
            .write_at(bytes, first.offset())
            .map_err(|e| self.io(&e, "write"))
    }

    /// Reads up to `count` bytes; fewer only at the end of the file.
    fn pick_up<'a>(
        &self,
        buffer: &'a mut Vec<u8>,
        offset: u64,
        count: usize,
    ) -> Result<&'a [u8], StoreError> {
        if buffer.len() < count {
            buffer.resize(count, 0);
        }
        let (target, _) = buffer.split_at_mut(count);
        let got = self
            .file
            .read_at(target, offset)
            .map_err(|e| unreadable(&e, &self.path, offset))?;
        Ok(target.get(..got).unwrap_or(&[]))
    }

    fn io(&self, error: &std::io::Error, act: &str) -> StoreError {
        StoreError::from_io(error, &format!("{act} queue file"), &self.path)
    }

    fn bad(&self, bad: item::Bad, place: Place) -> StoreError {
        self.damaged(bad.text(), place)
    }

    fn damaged(&self, what: &str, place: Place) -> StoreError {
        StoreError::damaged(&self.path, what, place.offset())
    }
}

/// Why nothing could be read at `offset`: what the device has lost is damage, everything else is not.
fn unreadable(error: &std::io::Error, path: &Path, offset: u64) -> StoreError {
    match error.raw_os_error() {
        Some(EIO) => StoreError::damaged(path, "the device cannot read what is there", offset),
        _ => StoreError::from_io(error, "read queue file", path),
    }
}

/// How many blocks a file should have for a stretch of so many to be found at its end.
fn longer(space: &Space, blocks: u32) -> Result<u32, StoreError> {
    let now = space.blocks();
    let free_end = now - space.high_water();
    let need = now.saturating_add(blocks.saturating_sub(free_end));
    let step = (now / 8).clamp(GROW_LEAST, GROW_MOST);
    let target = need.max(now.saturating_add(step)).min(MAX_BLOCKS);
    match target > now && need <= target {
        true => Ok(target),
        false => Err(StoreError::Full),
    }
}

fn file_header() -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut header = Vec::with_capacity(16);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&(BLOCK as u32).to_le_bytes());
    let crc = crc32fast::hash(&header);
    header.extend_from_slice(&crc.to_le_bytes());
    for (to, from) in block.iter_mut().zip(header) {
        *to = from;
    }
    block
}

fn check_file_header(header: &[u8], path: &Path) -> Result<(), StoreError> {
    if word(header, 0) != Some(u32::from_le_bytes(MAGIC)) {
        return Err(StoreError::damaged(path, "this is not a queue file:", 0));
    }
    let crc = header.get(..12).map(crc32fast::hash);
    if crc.is_none() || word(header, 12) != crc {
        return Err(StoreError::damaged(path, "wrong file header checksum", 0));
    }
    match word(header, 4) {
        Some(VERSION) => Ok(()),
        found => Err(StoreError::Version {
            file: path.display().to_string(),
            found: found.unwrap_or(0),
            supported: VERSION,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_header_is_checked() {
        let path = Path::new("q");
        let good = file_header();
        assert!(check_file_header(&good[..16], path).is_ok());
        for cut in 0..16 {
            assert!(check_file_header(&good[..cut], path).is_err(), "{cut}");
        }
        let mut newer = good;
        newer[4] = 2;
        let crc = crc32fast::hash(&newer[..12]).to_le_bytes();
        newer[12..16].copy_from_slice(&crc);
        assert!(matches!(
            check_file_header(&newer[..16], path),
            Err(StoreError::Version { found: 2, .. })
        ));
    }
}
