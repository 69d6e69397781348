//! One file's bytes: what a reader sees, and what the medium holds, sector by sector.
//!
//! Invariants:
//! * `content` is what reads give. The medium holds the same, except in the sectors listed in `unsynced`,
//!   where it holds the image kept there, and except for the length, which is `durable_len` there.
//! * A sector is written by the medium whole or not at all; sectors are independent of one another.
//! * A doomed sector's content never reaches the medium, whatever sync says, until it is written anew:
//!   it was acknowledged and dropped, or its page was marked clean by a failed sync.

use std::collections::BTreeMap;

use posthaste_env::PAGE;

use crate::rng::Rng;

/// What a medium writes whole or not at all, bytes.
pub const SECTOR: usize = 512;

/// Bytes that say what a piece of data is, at its beginning: a mark, a length, a place.
const HEAD: usize = 12;

/// How much of what was not synced survives a loss of power. Drawn once for each file and crash, because
/// independent coins alone would hardly ever give the two extremes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Nothing,
    Everything,
    Coins,
    /// Written in order: the first sectors, up to some point.
    Prefix,
}

impl Mood {
    pub(super) fn draw(rng: &mut Rng) -> Mood {
        match rng.below(8) {
            0 => Mood::Nothing,
            1 => Mood::Everything,
            2 => Mood::Prefix,
            _ => Mood::Coins,
        }
    }

    /// Which of `count` things survive.
    pub(super) fn survivors(self, count: usize, rng: &mut Rng) -> Vec<bool> {
        match self {
            Mood::Nothing => vec![false; count],
            Mood::Everything => vec![true; count],
            Mood::Coins => (0..count).map(|_| rng.coin()).collect(),
            Mood::Prefix => {
                let end = rng.index(count + 1);
                (0..count).map(|at| at < end).collect()
            }
        }
    }
}

struct Before {
    image: [u8; SECTOR],
    doomed: bool,
}

#[derive(Default)]
pub(super) struct Sectors {
    content: Vec<u8>,
    durable_len: usize,
    unsynced: BTreeMap<usize, Before>,
    /// Per page of the file: whether the file system gave it space.
    allocated: Vec<bool>,
}

/// Where a crash left a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remains {
    pub(super) kept: usize,
    pub(super) lost: usize,
}

impl Sectors {
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    pub(super) fn read(&self, buf: &mut [u8], offset: usize) -> usize {
        let rest = self.content.get(offset..).unwrap_or_default();
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        count
    }

    /// What the medium would hold if all that is not synced were lost.
    pub(super) fn durable(&self) -> Vec<u8> {
        let mut bytes = self.content.clone();
        bytes.resize(self.content.len().max(self.durable_len), 0);
        for (sector, before) in &self.unsynced {
            put(&mut bytes, sector * SECTOR, &before.image);
        }
        bytes.truncate(self.durable_len);
        bytes
    }

    /// Whether everything has reached the medium.
    pub(super) fn is_clean(&self) -> bool {
        self.unsynced.is_empty() && self.durable_len == self.content.len()
    }

    /// Bytes of space used.
    pub(super) fn used(&self) -> u64 {
        let pages = self.allocated.iter().filter(|page| **page).count();
        (pages * PAGE) as u64
    }

    /// How many bytes of a write can be placed with `free` bytes of space left: all, or a part.
    pub(super) fn fitting(&self, offset: usize, length: usize, free: u64) -> usize {
        let mut free = free / PAGE as u64;
        for page in pages(offset, length) {
            if self.allocated.get(page).is_some_and(|given| *given) {
                continue;
            }
            if free == 0 {
                return (page * PAGE).saturating_sub(offset).min(length);
            }
            free -= 1;
        }
        length
    }

    fn allocate(&mut self, offset: usize, length: usize) {
        for page in pages(offset, length) {
            if page >= self.allocated.len() {
                self.allocated.resize(page + 1, false);
            }
            self.allocated[page] = true;
        }
    }

    /// Through the page cache: durable after a sync. What a sector held before may meanwhile have been
    /// written back, if the system saw fit.
    pub(super) fn write_cached(&mut self, offset: usize, data: &[u8], rng: &mut Rng) {
        self.allocate(offset, data.len());
        for sector in sectors(offset, data.len()) {
            let now = self.sector(sector);
            let before = self.unsynced.entry(sector).or_insert(Before {
                image: now,
                doomed: false,
            });
            if !before.doomed && rng.below(4) == 0 {
                before.image = now;
            }
            before.doomed = false;
        }
        put_growing(&mut self.content, offset, data);
    }

    /// Past the page cache: durable now. Whole sectors.
    pub(super) fn write_forced(&mut self, offset: usize, data: &[u8]) {
        self.allocate(offset, data.len());
        for sector in sectors(offset, data.len()) {
            self.unsynced.remove(&sector);
        }
        put_growing(&mut self.content, offset, data);
        if !data.is_empty() {
            self.durable_len = self.durable_len.max(offset + data.len());
        }
    }

    /// A forced write cut short: each sector is written or is not. Returns how many were.
    pub(super) fn write_torn(&mut self, offset: usize, data: &[u8], rng: &mut Rng) -> usize {
        let parts = data.chunks(SECTOR);
        let survivors = Mood::draw(rng).survivors(parts.len(), rng);
        let end = offset + data.len();
        for (at, (part, survives)) in parts.zip(&survivors).enumerate() {
            if *survives {
                self.write_forced(offset + at * SECTOR, part);
            }
        }
        let written = survivors.iter().filter(|survives| **survives).count();
        // The file system may have made the file longer before the data came.
        if end > self.durable_len && rng.coin() && written > 0 {
            self.durable_len = end;
            let length = self.content.len().max(end);
            self.content.resize(length, 0);
        }
        written
    }

    /// A failed write through the page cache: some of it is there.
    pub(super) fn write_cached_partly(&mut self, offset: usize, data: &[u8], rng: &mut Rng) {
        let parts = data.chunks(SECTOR);
        let survivors = Mood::draw(rng).survivors(parts.len(), rng);
        for (at, (part, survives)) in parts.zip(survivors).enumerate() {
            if survives {
                self.write_cached(offset + at * SECTOR, part, rng);
            }
        }
    }

    /// Acknowledged, then dropped. A forced one leaves what was there; the length is as if it had worked.
    pub(super) fn lose_write(&mut self, offset: usize, data: &[u8], forced: bool, rng: &mut Rng) {
        if forced {
            self.allocate(offset, data.len());
            let end = offset + data.len();
            let length = self.content.len().max(end);
            self.content.resize(length, 0);
            self.durable_len = self.durable_len.max(end);
            return;
        }
        self.write_cached(offset, data, rng);
        for sector in sectors(offset, data.len()) {
            if let Some(before) = self.unsynced.get_mut(&sector) {
                before.doomed = true;
            }
        }
    }

    /// Whether what the medium holds at `offset` begins as `data` does, and is something else.
    pub(super) fn resembles(&self, offset: usize, data: &[u8]) -> bool {
        let part = data.len().min(SECTOR);
        let cached = self.unsynced.get(&(offset / SECTOR));
        let held = match cached {
            Some(before) => before.image.get(offset % SECTOR..),
            None => self.content.get(offset..),
        };
        let held = held.and_then(|held| held.get(..part));
        held.is_some_and(|held| {
            let (head, data) = (data.get(..HEAD), data.get(..part));
            head.is_some_and(|head| held.starts_with(head)) && data.is_some_and(|d| d != held)
        })
    }

    /// Acknowledged, then put one page away from where it belongs: the page there is destroyed, and the
    /// right one keeps what it held. Returns where it went; `None` if that lies outside the file (so that it
    /// was merely lost).
    pub(super) fn misdirect_write(
        &mut self,
        offset: usize,
        data: &[u8],
        forced: bool,
        rng: &mut Rng,
    ) -> Option<usize> {
        self.lose_write(offset, data, forced, rng);
        let inside = |at: &usize| at + data.len().min(SECTOR) <= self.durable_len;
        let below = offset.checked_sub(PAGE).filter(|_| rng.coin());
        let at = below
            .or(Some(offset + PAGE).filter(inside))
            .or(offset.checked_sub(PAGE))?;
        for (part, bytes) in data.chunks(SECTOR).enumerate() {
            let at = at + part * SECTOR;
            if at + bytes.len() <= self.durable_len {
                self.write_medium(at, bytes, forced);
            }
        }
        Some(at)
    }

    /// Changes what the medium holds behind the back of the page cache; `seen` if readers see it at once.
    fn write_medium(&mut self, offset: usize, data: &[u8], seen: bool) {
        for sector in sectors(offset, data.len()) {
            let now = self.sector(sector);
            if seen && !self.unsynced.contains_key(&sector) {
                continue;
            }
            let start = sector * SECTOR;
            let from = offset.max(start);
            let to = (offset + data.len()).min(start + SECTOR);
            let before = self.unsynced.entry(sector).or_insert(Before {
                image: now,
                doomed: true,
            });
            before.image[from - start..to - start]
                .copy_from_slice(&data[from - offset..to - offset]);
        }
        if seen {
            for (at, byte) in data.iter().enumerate() {
                let place = offset + at;
                let cached = self.unsynced.contains_key(&(place / SECTOR));
                if let Some(old) = self.content.get_mut(place).filter(|_| !cached) {
                    *old = *byte;
                }
            }
        }
    }

    /// Flips `mask` in the byte at `offset` of the medium. Readers see it unless the sector is cached.
    pub(super) fn rot(&mut self, offset: usize, mask: u8) {
        let sector = offset / SECTOR;
        match self.unsynced.get_mut(&sector) {
            Some(before) => before.image[offset % SECTOR] ^= mask,
            None => {
                if let Some(byte) = self.content.get_mut(offset) {
                    *byte ^= mask;
                }
            }
        }
    }

    /// Makes everything durable that still can be.
    pub(super) fn sync(&mut self) {
        let length = self.content.len();
        self.unsynced
            .retain(|sector, before| before.doomed && sector * SECTOR < length);
        self.durable_len = length;
    }

    /// The sync fails: each sector has become durable or never will, and the system calls all of them clean.
    pub(super) fn fail_sync(&mut self, rng: &mut Rng) {
        let mood = Mood::draw(rng);
        let mut survivors = mood.survivors(self.unsynced.len(), rng).into_iter();
        self.unsynced.retain(|_, before| {
            before.doomed |= !survivors.next().unwrap_or(false);
            before.doomed
        });
        if rng.coin() {
            self.durable_len = self.content.len();
        }
    }

    /// Cuts or extends what readers see; durable after a sync.
    pub(super) fn set_len(&mut self, length: usize) {
        let old = self.content.len();
        for sector in sectors(length, old.saturating_sub(length)) {
            if sector * SECTOR >= self.durable_len && sector * SECTOR >= length {
                self.unsynced.remove(&sector);
                continue;
            }
            let image = self.sector(sector);
            self.unsynced.entry(sector).or_insert(Before {
                image,
                doomed: false,
            });
        }
        self.content.resize(length, 0);
        self.allocated.truncate(length.div_ceil(PAGE));
    }

    /// Extends by so many bytes of zeros, with space behind them; durable after a sync.
    pub(super) fn extend(&mut self, bytes: usize) {
        let old = self.content.len();
        self.allocate(old, bytes);
        self.content.resize(old + bytes, 0);
    }

    /// Takes the space of whole pages in the range back; they read as zeros. Durable after a sync.
    pub(super) fn punch(&mut self, offset: usize, length: usize) {
        let end = offset
            .saturating_add(length)
            .min(self.content.len().next_multiple_of(PAGE));
        for page in offset.div_ceil(PAGE)..end / PAGE {
            for sector in sectors(page * PAGE, PAGE) {
                let image = self.sector(sector);
                self.unsynced.entry(sector).or_insert(Before {
                    image,
                    doomed: false,
                });
            }
            let to = ((page + 1) * PAGE).min(self.content.len());
            self.content[page * PAGE..to].fill(0);
            if let Some(given) = self.allocated.get_mut(page) {
                *given = false;
            }
        }
    }

    /// Cuts the file on the medium and for readers: a file that came back short.
    pub(super) fn cut(&mut self, length: usize) {
        self.content.truncate(length);
        self.durable_len = self.durable_len.min(length);
        self.unsynced.retain(|sector, _| sector * SECTOR < length);
        self.allocated.truncate(length.div_ceil(PAGE));
    }

    /// The power goes. Afterwards readers see what the medium holds.
    pub(super) fn crash(&mut self, mood: Mood, rng: &mut Rng) -> Remains {
        let length = self.content.len();
        let survivors = mood.survivors(self.unsynced.len(), rng);
        let last = self
            .unsynced
            .iter()
            .zip(&survivors)
            .filter(|((_, before), survives)| **survives && !before.doomed)
            .map(|((sector, _), _)| (sector + 1) * SECTOR)
            .max()
            .unwrap_or(0);
        let new_length_wins = match mood {
            Mood::Nothing => false,
            Mood::Everything => true,
            Mood::Coins | Mood::Prefix => rng.coin(),
        };
        let surviving_len = if new_length_wins {
            length
        } else if length > self.durable_len {
            // Data that survived took the length with it.
            self.durable_len.max(last.min(length))
        } else {
            self.durable_len
        };
        let mut remains = Remains::default();
        self.content.resize(length.max(surviving_len), 0);
        let unsynced = std::mem::take(&mut self.unsynced);
        for ((sector, before), survives) in unsynced.into_iter().zip(survivors) {
            // A cut that did not survive gives back what was cut off.
            let uncut = sector * SECTOR >= length;
            if before.doomed || !survives || uncut {
                put(&mut self.content, sector * SECTOR, &before.image);
                if before.image != [0; SECTOR] {
                    self.allocate(sector * SECTOR, SECTOR);
                }
                remains.lost += 1;
            } else {
                remains.kept += 1;
            }
        }
        self.content.truncate(surviving_len);
        self.durable_len = surviving_len;
        self.allocated.resize(surviving_len.div_ceil(PAGE), true);
        remains
    }

    /// A sector as readers see it, zeros beyond the end.
    fn sector(&self, sector: usize) -> [u8; SECTOR] {
        let mut image = [0; SECTOR];
        self.read(&mut image, sector * SECTOR);
        image
    }
}

fn sectors(offset: usize, length: usize) -> std::ops::Range<usize> {
    units(offset, length, SECTOR)
}

fn pages(offset: usize, length: usize) -> std::ops::Range<usize> {
    units(offset, length, PAGE)
}

fn units(offset: usize, length: usize, unit: usize) -> std::ops::Range<usize> {
    if length == 0 {
        return 0..0;
    }
    offset / unit..(offset + length).div_ceil(unit)
}

/// Copies `data` to `offset`, as far as `bytes` reaches.
fn put(bytes: &mut [u8], offset: usize, data: &[u8]) {
    if let Some(rest) = bytes.get_mut(offset..) {
        let count = rest.len().min(data.len());
        rest[..count].copy_from_slice(&data[..count]);
    }
}

fn put_growing(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    let length = bytes.len().max(offset + data.len());
    bytes.resize(length, 0);
    put(bytes, offset, data);
}
