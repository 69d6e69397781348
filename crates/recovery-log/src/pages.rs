//! Restart's way through the pages: each is judged by the decision table (see `decide.rs`), in order.
//!
//! Invariants:
//! * Pages are given out in LSN order without a gap, generations never going back.
//! * A page that cannot be read at all (an error of the device), and an extent shorter than it must be, are
//!   refused at once: what cannot be seen is not taken for the end of the log.
//! * Whether a bad page was acknowledged is looked up in every page of the 16 MiB behind it, which is more
//!   than could ever be in flight, and then in one page of each megabyte to the end of all extents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Disk, File, Open};

use crate::LogError;
use crate::config::Shape;
use crate::control::Slot;
use crate::decide::{Facts, Verdict, decide, needs_later_pages};
use crate::error::REMEDY;
use crate::extents;
use crate::limits::{DENSE_PROOF, PAGE, READ_PAGES, SPARSE_PROOF_PAGES};
use crate::page::{self, PageHeader};

const _: () = assert!(
    READ_PAGES as u64 == SPARSE_PROOF_PAGES,
    "one probe for each block"
);

/// One extent, open for reading.
struct Reading {
    number: u64,
    file: Arc<dyn File>,
    path: PathBuf,
    length: u64,
}

pub(crate) struct Pages {
    disk: Arc<dyn Disk>,
    active: PathBuf,
    shape: Shape,
    /// From the control file.
    acknowledged: u64,
    newest_generation: u32,
    /// Numbers of the extents that exist, in order.
    existing: Vec<u64>,
    /// LSN of the next page.
    next: u64,
    /// Generation of the page before, or the floor.
    generation: u32,
    boundaries: Vec<(u64, u32)>,
    reading: Option<Reading>,
    block: AlignedBuf,
    block_at: u64,
    block_bytes: usize,
    /// Offset in the block of the page given out last.
    current: usize,
}

impl Pages {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        active: PathBuf,
        slot: &Slot,
        existing: Vec<u64>,
    ) -> Self {
        Self {
            disk,
            active,
            shape: slot.shape,
            acknowledged: slot.acknowledged,
            newest_generation: slot.generation,
            existing,
            next: page::round_down(slot.restart),
            generation: slot.restart_generation,
            boundaries: Vec::new(),
            reading: None,
            block: AlignedBuf::with_pages(READ_PAGES),
            block_at: 0,
            block_bytes: 0,
            current: 0,
        }
    }

    /// LSN of the page after the last one given out: where the log goes on once there are no more.
    pub(crate) fn next_lsn(&self) -> u64 {
        self.next
    }

    /// First LSN and number of each generation that began on the way.
    pub(crate) fn boundaries(&self) -> &[(u64, u32)] {
        &self.boundaries
    }

    pub(crate) fn existing(&self) -> &[u64] {
        &self.existing
    }

    /// The page given out last.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.block[self.current..self.current + PAGE]
    }

    /// The next page's header; `None` where the log ends.
    pub(crate) fn advance(&mut self) -> Result<Option<PageHeader>, LogError> {
        let at = self.next;
        let present = self.load(at)?;
        let header = if present {
            page::unseal(self.bytes())
        } else {
            None
        };
        let mut facts = Facts {
            present,
            intact: header.is_some(),
            in_place: header.is_some_and(|h| h.lsn == at),
            later_lsn: header.is_some_and(|h| h.lsn > at),
            not_older: header.is_some_and(|h| h.generation >= self.generation),
            known_generation: header.is_some_and(|h| h.generation <= self.newest_generation),
            control_acknowledged: self.acknowledged > at,
            later_acknowledged: false,
        };
        if needs_later_pages(facts) {
            facts.later_acknowledged = self.later_page_proves(at)?;
        }
        match (decide(facts), header) {
            (Verdict::Use, Some(header)) => {
                if header.generation > self.generation {
                    self.boundaries.push((at, header.generation));
                    self.generation = header.generation;
                }
                self.next = at + PAGE as u64;
                Ok(Some(header))
            }
            (Verdict::End, _) => Ok(None),
            (verdict, _) => Err(self.refuse(verdict, at)),
        }
    }

    fn refuse(&self, verdict: Verdict, at: u64) -> LogError {
        let extent = self.shape.extent_of(at);
        let file = extents::name(extent);
        let offset = at % self.shape.extent_bytes();
        let place = format!("at offset {offset} of {file}");
        match verdict {
            Verdict::RefuseMissing => LogError::Missing {
                file: self.active.join(&file).display().to_string(),
                lsn: crate::Lsn(at),
                remedy: REMEDY.to_owned(),
            },
            Verdict::RefuseLost => LogError::damaged(
                at,
                format!("the page {place} was forced, but the device shows older content there"),
            ),
            Verdict::RefuseControlOlder => LogError::damaged(
                at,
                format!(
                    "the page {place} is newer than the log control file, which must be an old copy"
                ),
            ),
            Verdict::RefuseCorrupt | Verdict::Use | Verdict::End => LogError::damaged(
                at,
                format!("the page {place} was forced, but its checksum is wrong"),
            ),
        }
    }

    /// Brings the page at `at` into the block. `false`: its extent does not exist.
    fn load(&mut self, at: u64) -> Result<bool, LogError> {
        let in_block = at >= self.block_at && at < self.block_at + self.block_bytes as u64;
        if !in_block {
            let number = self.shape.extent_of(at);
            if self.existing.binary_search(&number).is_err() {
                return Ok(false);
            }
            if self.reading.as_ref().is_none_or(|r| r.number != number) {
                let reading = self.open(number)?;
                let expected = self.shape.extent_bytes();
                if reading.length < expected {
                    return Err(LogError::Truncated {
                        file: reading.path.display().to_string(),
                        lsn: crate::Lsn(number * expected),
                        length: reading.length,
                        expected,
                        remedy: REMEDY.to_owned(),
                    });
                }
                self.reading = Some(reading);
            }
            let Some(reading) = &self.reading else {
                return Ok(false);
            };
            let offset = at % self.shape.extent_bytes();
            let count = (self.shape.extent_bytes() - offset).min(self.block.len() as u64) as usize;
            read_all(reading, &mut self.block[..count], offset, at)?;
            self.block_at = at;
            self.block_bytes = count;
        }
        self.current = (at - self.block_at) as usize;
        Ok(true)
    }

    fn open(&self, number: u64) -> Result<Reading, LogError> {
        let path = self.active.join(extents::name(number));
        let failed = |what: &str, e| LogError::file(what, &path, e);
        let file = self
            .disk
            .open(&path, Open::READ)
            .map_err(|e| failed("opening", e))?;
        let length = file.len().map_err(|e| failed("measuring", e))?;
        Ok(Reading {
            number,
            file,
            path,
            length,
        })
    }

    /// Whether a page behind the one at `bad` says that it was acknowledged.
    fn later_page_proves(&self, bad: u64) -> Result<bool, LogError> {
        let extent_bytes = self.shape.extent_bytes();
        let first = self.shape.extent_of(bad);
        let mut block = AlignedBuf::with_pages(READ_PAGES);
        for &number in self.existing.iter().filter(|n| **n >= first) {
            let reading = self.open(number)?;
            let base = number * extent_bytes;
            let length = reading.length.min(extent_bytes);
            let mut offset = 0;
            while offset < length {
                let step = (length - offset).min(block.len() as u64);
                let at = base + offset;
                let dense = at < bad + DENSE_PROOF;
                let count = if dense { step } else { step.min(PAGE as u64) } as usize;
                if at + step > bad {
                    read_all(&reading, &mut block[..count], offset, at)?;
                    if self.block_proves(&block[..count], at, bad) {
                        return Ok(true);
                    }
                }
                offset += step;
            }
        }
        Ok(false)
    }

    fn block_proves(&self, block: &[u8], at: u64, bad: u64) -> bool {
        block.chunks_exact(PAGE).enumerate().any(|(n, bytes)| {
            let lsn = at + (n * PAGE) as u64;
            lsn > bad
                && page::unseal(bytes).is_some_and(|header| {
                    header.lsn == lsn
                        && (self.generation..=self.newest_generation).contains(&header.generation)
                        && header.forced > bad
                })
        })
    }
}

fn read_all(reading: &Reading, into: &mut [u8], offset: u64, lsn: u64) -> Result<(), LogError> {
    let path: &Path = &reading.path;
    let doing = || format!("reading LSN {lsn} at offset {offset} of {}", path.display());
    let count = reading
        .file
        .read_at(into, offset)
        .map_err(|e| LogError::io(doing(), e))?;
    if count < into.len() {
        return Err(LogError::io(
            doing(),
            std::io::Error::from(std::io::ErrorKind::UnexpectedEof),
        ));
    }
    Ok(())
}
