//! Opening a log: read what is there, then go on behind it.
//!
//! Invariants:
//! * Records come in LSN order from the restart LSN, without a gap, and every record that was ever
//!   acknowledged comes.
//! * A record that is not complete where the log ends, or where an earlier restart went on (the generation
//!   changes), was never acknowledged and is left out.
//! * `finish` makes durable, before anything new is written: the pages that were read but may not have been
//!   forced (from here on they count as acknowledged), the names of the extents, and the new generation,
//!   in both slots of the control file.
//! * New pages go behind the last usable page: no page that was read is ever rewritten in this lap.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::{Disk, Env, Open};

use crate::config::{LogConfig, Shape};
use crate::control::{Control, Slot};
use crate::extents::{self, Extents};
use crate::limits::{HEADER, PAGE, RECORD_HEADER};
use crate::log::{Anchor, RecoveryLog, Shared};
use crate::page::PageHeader;
use crate::pages::Pages;
use crate::writer::Writer;
use crate::{LogError, Lsn, record};

/// Payload memory claimed before the bytes have been seen.
const CLAIM: usize = 1 << 20;

/// A record as it was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// LSN of its first byte.
    pub start: Lsn,
    /// LSN after its last byte.
    pub end: Lsn,
    /// The appended parts, joined.
    pub payload: Vec<u8>,
}

/// Makes a log in `dir`. `progress` gets bytes done and bytes in all.
///
/// # Errors
/// `BadConfig`, `Exists`, `Io`. After an error the directory holds no log that could be opened.
pub fn create(
    disk: &dyn Disk,
    dir: &Path,
    config: &LogConfig,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), LogError> {
    config.check()?;
    if disk.exists(&dir.join(crate::error::CONTROL)) {
        return Err(LogError::Exists(dir.display().to_string()));
    }
    extents::create(disk, dir, config.shape(), progress)?;
    // Last, because it is what makes the directory a log.
    Control::create(disk, dir, config.shape())?;
    disk.sync_dir(dir)
        .map_err(|e| LogError::file("syncing", dir, e))?;
    match dir.parent().filter(|parent| disk.exists(parent)) {
        Some(parent) => disk
            .sync_dir(parent)
            .map_err(|e| LogError::file("syncing", parent, e)),
        None => Ok(()),
    }
}

/// The anchor of the log in `dir`, whatever its other files are like.
///
/// # Errors
/// `NoLog`, `ControlDamaged`, `Version`, `Io`.
pub fn anchor(env: &Env, dir: &Path) -> Result<Vec<u8>, LogError> {
    Ok(Control::open(&*env.disk, dir)?.slot.anchor)
}

/// Opens the log in `dir` for restart. The caller holds whatever keeps a second process out.
///
/// # Errors
/// `NoLog`, `ControlDamaged`, `Version`, `BadConfig` (also when `file_pages` is not the log's), `Io`.
pub fn open(env: &Env, dir: &Path, config: &LogConfig) -> Result<Restart, LogError> {
    config.check()?;
    let disk = Arc::clone(&env.disk);
    let control = Control::open(&*disk, dir)?;
    let slot = &control.slot;
    if slot.shape.file_pages != config.file_pages {
        return Err(LogError::BadConfig(format!(
            "LogFilePages is {}, but the log was made with {}; it cannot be changed afterwards",
            config.file_pages, slot.shape.file_pages
        )));
    }
    let active = dir.join(extents::ACTIVE);
    let names = disk
        .list(&active)
        .map_err(|e| LogError::file("listing", &active, e))?;
    let mut existing: Vec<u64> = names
        .iter()
        .filter_map(|name| extents::number(name))
        .collect();
    existing.sort_unstable();
    let pages = Pages::new(Arc::clone(&disk), active.clone(), slot, existing);
    let offset = (slot.restart % PAGE as u64) as usize;
    Ok(Restart {
        env: env.clone(),
        config: config.clone(),
        active,
        hardened: false,
        reader: Reader {
            pages,
            header: None,
            offset,
            started: None,
            building: None,
            ended: false,
        },
        control,
    })
}

/// A record being put together.
struct Building {
    start: u64,
    header: [u8; RECORD_HEADER],
    header_bytes: usize,
    payload: Vec<u8>,
}

/// Puts records together from pages.
struct Reader {
    pages: Pages,
    header: Option<PageHeader>,
    /// Where the next byte is in the page; before the first page: where in it to begin.
    offset: usize,
    /// Where the first record of this page began. `None`: not to be checked (reading began inside it).
    started: Option<u16>,
    building: Option<Building>,
    ended: bool,
}

impl Reader {
    fn next(&mut self) -> Result<Option<Record>, LogError> {
        while !self.ended {
            match self.header {
                Some(header) if self.offset < usize::from(header.used) => {
                    if let Some(record) = self.consume(&header)? {
                        return Ok(Some(record));
                    }
                }
                _ => self.turn_page()?,
            }
        }
        Ok(None)
    }

    fn turn_page(&mut self) -> Result<(), LogError> {
        let last = self.header.take();
        if let Some(last) = last {
            self.check_left(&last)?;
        }
        let Some(header) = self.pages.advance()? else {
            self.building = None;
            self.ended = true;
            return Ok(());
        };
        match last {
            Some(last) => {
                if header.generation > last.generation {
                    // An earlier restart left the unfinished record behind and went on here.
                    self.building = None;
                }
                self.offset = HEADER;
                self.started = Some(0);
            }
            None if self.offset == 0 => {
                self.offset = HEADER;
                self.started = Some(0);
            }
            None => self.started = None,
        }
        self.header = Some(header);
        Ok(())
    }

    /// A page that is left must have kept what its header promised.
    fn check_left(&self, page: &PageHeader) -> Result<(), LogError> {
        if self.started.is_some_and(|started| started != page.first) {
            let what = "intact pages contradict each other about where a record begins";
            return Err(LogError::damaged(page.lsn, what));
        }
        if self.building.is_some() && usize::from(page.used) < PAGE {
            let what = "a record ends nowhere: its page is padded before its end";
            return Err(LogError::damaged(page.lsn, what));
        }
        Ok(())
    }

    /// Takes bytes of the page for the current record; gives the record when it is complete.
    fn consume(&mut self, page: &PageHeader) -> Result<Option<Record>, LogError> {
        let used = usize::from(page.used);
        if self.building.is_none() && self.started == Some(0) {
            self.started = Some(self.offset as u16);
        }
        let building = self.building.get_or_insert_with(|| Building {
            start: page.lsn + self.offset as u64,
            header: [0; RECORD_HEADER],
            header_bytes: 0,
            payload: Vec::new(),
        });
        let bytes = &self.pages.bytes()[self.offset..used];
        let head = (RECORD_HEADER - building.header_bytes).min(bytes.len());
        let (head, body) = bytes.split_at(head);
        let filled = building.header_bytes + head.len();
        building.header[building.header_bytes..filled].copy_from_slice(head);
        building.header_bytes = filled;
        self.offset += head.len();
        if filled < RECORD_HEADER {
            return Ok(None);
        }
        let Some(length) = record::decode(building.start, &building.header) else {
            return Err(LogError::damaged(
                page.lsn,
                format!(
                    "no log record begins at LSN {}, although the page is intact",
                    building.start
                ),
            ));
        };
        let count = (length - building.payload.len()).min(body.len());
        if building.payload.is_empty() {
            building.payload.reserve_exact(length.min(CLAIM));
        }
        building.payload.extend_from_slice(&body[..count]);
        self.offset += count;
        if building.payload.len() < length {
            return Ok(None);
        }
        let end = Lsn(page.lsn + self.offset as u64);
        Ok(self.building.take().map(|done| Record {
            start: Lsn(done.start),
            end,
            payload: done.payload,
        }))
    }
}

/// A log that is being read after a start.
pub struct Restart {
    env: Env,
    config: LogConfig,
    active: PathBuf,
    control: Control,
    reader: Reader,
    /// What can be read is durable.
    hardened: bool,
}

impl std::fmt::Debug for Restart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restart")
            .field("restart", &self.restart())
            .field("position", &self.position())
            .field("clean", &self.clean())
            .finish_non_exhaustive()
    }
}

impl Restart {
    /// Where reading began: the LSN of the last `advance`.
    pub fn restart(&self) -> Lsn {
        Lsn(self.control.slot.restart)
    }

    /// The anchor of the last `advance`; empty in a new log.
    pub fn anchor(&self) -> &[u8] {
        &self.control.slot.anchor
    }

    /// Whether the log was shut down cleanly (or is new): nothing follows the restart LSN that matters.
    pub fn clean(&self) -> bool {
        self.control.slot.clean
    }

    /// How far reading has come; after the last record: where the log goes on.
    pub fn position(&self) -> Lsn {
        Lsn(self.reader.pages.next_lsn())
    }

    /// Makes durable whatever can be read: a process may have been killed between a write and its sync. Before anything
    /// that is durable itself (a message in a queue file, where another was that has been got) is built upon a record,
    /// for a power failure must not take the record back then.
    ///
    /// # Errors
    /// `Io`.
    pub fn harden(&mut self) -> Result<(), LogError> {
        if self.hardened {
            return Ok(());
        }
        let first = self
            .config
            .shape()
            .extent_of(self.control.slot.acknowledged);
        let existing = self.reader.pages.existing().iter();
        for number in existing.filter(|number| **number >= first) {
            let path = self.active.join(extents::name(*number));
            let failed = |e| LogError::file("syncing", &path, e);
            let file = self.env.disk.open(&path, Open::READ_WRITE);
            file.map_err(failed)?.sync().map_err(failed)?;
        }
        let synced = self.env.disk.sync_dir(&self.active);
        synced.map_err(|e| LogError::file("syncing", &self.active, e))?;
        self.hardened = true;
        Ok(())
    }

    /// The next record; `None` at the end of the log.
    ///
    /// # Errors
    /// `Damaged`, `Missing`, `Truncated`, `Io`: something that was acknowledged cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would be read on after an error"
    )]
    pub fn next(&mut self) -> Result<Option<Record>, LogError> {
        self.reader.next()
    }

    /// Opens the log for appending behind the last record, all of it durable.
    ///
    /// # Errors
    /// `Misuse` before [`Restart::next`] has given `None`; `Io`.
    pub fn finish(mut self) -> Result<(RecoveryLog, Writer), LogError> {
        if !self.reader.ended {
            return Err(LogError::Misuse(
                "the log has to be read to its end before it is appended to".to_owned(),
            ));
        }
        self.harden()?;
        let disk = Arc::clone(&self.env.disk);
        let shape = self.config.shape();
        let pages = self.reader.pages;
        let position = pages.next_lsn();
        let existing = tidy(
            &*disk,
            &self.active,
            shape,
            pages.existing(),
            self.control.slot.restart..position,
        )?;

        // Before the control file says that the log has not ended cleanly: a start that cannot go on changes nothing.
        let restart = self.control.slot.restart;
        let mut extents = Extents::new(shape, self.active.clone(), restart, position, &existing);
        if extents.is_short(position) {
            grow(&*disk, &mut extents, position)?;
        }
        let mut handles = BTreeMap::new();
        for number in shape.extent_of(position)..extents.end() {
            let path = self.active.join(extents::name(number));
            let file = disk
                .open(&path, Open::FORCED)
                .map_err(|e| LogError::file("opening", &path, e))?;
            handles.insert(number, file);
        }
        let mut control = self.control;
        let old = control.slot.clone();
        let generation = old.generation.checked_add(1).ok_or_else(|| {
            LogError::BadConfig("the log has been restarted 4 billion times".to_owned())
        })?;
        let slot = Slot {
            clean: false,
            acknowledged: position.max(old.acknowledged),
            generation,
            shape,
            ..old
        };
        control.write(slot.clone())?;
        control.write(slot)?;
        let mut generations = pages.boundaries().to_vec();
        generations.push((position, generation));
        let anchor = Anchor {
            control,
            generations,
        };
        let shared = Arc::new(Shared::new(disk, &self.config, anchor, extents, position));
        let writer = Writer::new(Arc::clone(&shared), self.config.writes, generation, handles);
        Ok((RecoveryLog { shared }, writer))
    }
}

/// Makes the next file. On a disk that is full it is known from here on that there is none.
fn grow(disk: &dyn Disk, extents: &mut Extents, position: u64) -> Result<(), LogError> {
    let Some(action) = extents.next_action(position, 0, false) else {
        return Ok(());
    };
    let bytes = extents.shape.extent_bytes();
    let made = extents::perform(disk, &extents.active, bytes, action);
    extents.finished(made.map(drop), 0).map(drop)
}

/// Removes what cannot be used: half-made files, and files of a wrong length outside the part of the log
/// that was read (there they are refused). Gives the numbers that are left.
fn tidy(
    disk: &dyn Disk,
    active: &Path,
    shape: Shape,
    existing: &[u64],
    read: Range<u64>,
) -> Result<Vec<u64>, LogError> {
    let remove = |path: &Path| {
        disk.remove_file(path)
            .map_err(|e| LogError::file("removing", path, e))
    };
    let names = disk
        .list(active)
        .map_err(|e| LogError::file("listing", active, e))?;
    for name in names.iter().filter(|name| extents::is_unfinished(name)) {
        remove(&active.join(name))?;
    }
    let mut kept = Vec::with_capacity(existing.len());
    for &number in existing {
        let path = active.join(extents::name(number));
        let length = disk
            .open(&path, Open::READ)
            .and_then(|file| file.len())
            .map_err(|e| LogError::file("measuring", &path, e))?;
        let bytes = shape.extent_bytes();
        let was_read = number >= shape.extent_of(read.start) && number * bytes < read.end;
        if length == bytes || was_read {
            kept.push(number);
        } else {
            remove(&path)?;
        }
    }
    Ok(kept)
}
