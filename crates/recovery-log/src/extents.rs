//! Extents: which files lie under the endless sequence, and how they are made, reused and removed.
//!
//! Extent `n` holds LSNs `n * extent_bytes .. (n + 1) * extent_bytes` and is the file `S<n>.LOG` (seven
//! digits or more) in `active/`.
//!
//! ```text
//!        restart LSN          tail                     end            limit
//!            v                 v                        v               v
//!  ... | first |  ...  | current | spare (file exists) |  not made yet  |
//!  free: files below first, to be renamed to `end`      `total` extents from first
//! ```
//!
//! Space is counted exactly, because a position is a physical LSN (padding and page headers are already
//! in it). With `total` = primary + secondary:
//! * essential limit = `(first + total) * extent_bytes`; an essential record must end (rounded up to its
//!   page) at or below it.
//! * ordinary limit = essential limit - reserve, the reserve being an eighth of the capacity, at most 64 MiB;
//!   what makes room in the end may use half of it.
//! * What open units of work were promised for their ends lies below all limits but that of these ends.
//! * If a file could not be made (disk full), both limits are taken from the files that exist, until a
//!   file could be made after all. An append is then refused rather than accepted without a place. An opening
//!   finds that out before anything is appended, if the next file is wanted.
//!
//! Invariants:
//! * `first..end` have their files under their final names, full length, written through once, and the
//!   directory synced, before any page is written to them. Files are prepared strictly in order.
//! * A file is renamed or removed only when the control file durably says that restart does not need it.
//! * There are never fewer than `primary` files once they have been made.
//! * A new file gets its name only when it is full of zeros and synced.
//! * Appenders that ask for room first are held back while the next extent is being prepared, so that they
//!   normally do not run ahead of what is on disk; the writer waits for the extent in any case.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Disk, File, Nanos, Open};

use crate::LogError;
use crate::config::Shape;

/// The directory of the extents, in the log's directory.
pub(crate) const ACTIVE: &str = "active";
/// How long to wait before trying again to make a file that did not fit.
const RETRY: Nanos = 1_000_000_000;
/// How many calls of `advance` the number of files outlives their use.
const MEMORY: usize = 4;
/// Zeros written at a time.
const ZEROS: usize = 1 << 20;

/// File name of extent `number`.
pub(crate) fn name(number: u64) -> String {
    format!("S{number:07}.LOG")
}

/// Name of a file that is still being filled with zeros.
pub(crate) fn unfinished_name(number: u64) -> String {
    format!("S{number:07}.NEW")
}

/// The number in an extent's file name.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('S')?.strip_suffix(".LOG")?;
    let plain = digits.len() >= 7 && digits.bytes().all(|b| b.is_ascii_digit());
    let number = plain.then(|| digits.parse::<u64>().ok()).flatten()?;
    // One number, one name.
    (self::name(number) == name).then_some(number)
}

/// Whether this is a file that a crash left half made.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with('S') && name.ends_with(".NEW")
}

/// Something to do to the files, ahead of need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Rename a file that is no longer needed.
    Recycle { from: u64, to: u64 },
    /// Make a new file full of zeros.
    Make { number: u64 },
    /// Remove a file that is not needed and will not be soon.
    Remove { number: u64 },
}

/// The name of an extent may be durable or not. Unlike a file that could not be made, that is final.
#[derive(Debug, thiserror::Error)]
#[error("syncing the directory failed: {0}")]
struct NameUnsynced(io::Error);

/// Does `action`; gives the open file that can now take forced writes, unless it was removed.
pub(crate) fn perform(
    disk: &dyn Disk,
    active: &Path,
    extent_bytes: u64,
    action: Action,
) -> io::Result<Option<Arc<dyn File>>> {
    let number = match action {
        Action::Remove { number } => {
            disk.remove_file(&active.join(name(number)))?;
            return Ok(None);
        }
        Action::Recycle { from, to } => {
            disk.rename(&active.join(name(from)), &active.join(name(to)))?;
            to
        }
        Action::Make { number } => {
            let unfinished = active.join(unfinished_name(number));
            if let Err(error) = fill(disk, &unfinished, extent_bytes, &mut |_| {}) {
                // Give back the space: the disk may be full because of this very file. If that fails too,
                // the first error says more, and the next restart removes the file.
                let _ = disk.remove_file(&unfinished);
                return Err(error);
            }
            disk.rename(&unfinished, &active.join(name(number)))?;
            number
        }
    };
    disk.sync_dir(active)
        .map_err(|e| io::Error::new(e.kind(), NameUnsynced(e)))?;
    let file = disk.open(&active.join(name(number)), Open::FORCED)?;
    Ok(Some(file))
}

fn leaves_name_unsynced(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|e| e.is::<NameUnsynced>())
}

/// Writes a file of `bytes` zeros through; not only allocated, because a first write into an unwritten
/// extent of the file system costs as much again.
pub(crate) fn fill(
    disk: &dyn Disk,
    path: &Path,
    bytes: u64,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let file = disk.open(path, Open::CREATE)?;
    let zeros = AlignedBuf::with_bytes(ZEROS);
    let mut at = 0;
    while at < bytes {
        let count = (bytes - at).min(ZEROS as u64);
        file.write_at(&zeros[..count as usize], at)?;
        at += count;
        progress(count);
    }
    file.set_len(bytes)?;
    file.sync()
}

/// Makes the primary extents of a new log; durable when it returns.
pub(crate) fn create(
    disk: &dyn Disk,
    dir: &Path,
    shape: Shape,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), LogError> {
    let active = dir.join(ACTIVE);
    disk.create_dir_all(&active)
        .map_err(|e| LogError::file("making", &active, e))?;
    let total = u64::from(shape.primary) * shape.extent_bytes();
    let mut done = 0;
    for number in 0..u64::from(shape.primary) {
        let path = active.join(name(number));
        fill(disk, &path, shape.extent_bytes(), &mut |bytes| {
            done += bytes;
            progress(done, total);
        })
        .map_err(|e| LogError::file("making", &path, e))?;
    }
    disk.sync_dir(&active)
        .map_err(|e| LogError::file("syncing", &active, e))
}

/// How far appends may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) ordinary: u64,
    pub(crate) relief: u64,
    pub(crate) essential: u64,
    /// Appenders that ask are held back at and beyond this.
    pub(crate) room: u64,
}

/// The table of files.
#[derive(Debug)]
pub(crate) struct Extents {
    pub(crate) shape: Shape,
    pub(crate) active: PathBuf,
    first: u64,
    end: u64,
    /// Numbers of files that are not needed any more.
    free: Vec<u64>,
    pending: Option<Action>,
    /// Why the last file could not be made, and when to try again.
    blocked: Option<(Arc<str>, Nanos)>,
    /// Why a file could not be made, until somebody has asked; a moment later another may be free.
    unreported: Option<Arc<str>>,
    /// Most bytes in use before each of the last advances.
    peaks: [u64; MEMORY],
    turn: usize,
}

impl Extents {
    /// `existing` are the numbers of the files, in order; `position` is where writing will go on.
    pub(crate) fn new(
        shape: Shape,
        active: PathBuf,
        restart: u64,
        position: u64,
        existing: &[u64],
    ) -> Self {
        let first = shape.extent_of(restart);
        let mut end = first;
        while existing.binary_search(&end).is_ok() {
            end += 1;
        }
        let free = existing
            .iter()
            .copied()
            .filter(|n| !(first..end).contains(n))
            .collect();
        Self {
            shape,
            active,
            first,
            end,
            free,
            pending: None,
            blocked: None,
            unreported: None,
            peaks: [position.saturating_sub(restart); MEMORY],
            turn: 0,
        }
    }

    /// One beyond the last extent that has its file.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Files that exist or are being made.
    pub(crate) fn files(&self) -> u64 {
        let making = matches!(
            self.pending,
            Some(Action::Make { .. } | Action::Recycle { .. })
        );
        self.end - self.first + self.free.len() as u64 + u64::from(making)
    }

    /// Why the log cannot grow at present.
    pub(crate) fn blocked(&self) -> Option<Arc<str>> {
        self.blocked.as_ref().map(|(why, _)| Arc::clone(why))
    }

    /// Why a file could not be made since this was last asked, if one could not.
    pub(crate) fn take_unreported(&mut self) -> Option<Arc<str>> {
        self.unreported.take()
    }

    /// When making the file will be tried again.
    pub(crate) fn retry_at(&self) -> Option<Nanos> {
        self.blocked.as_ref().map(|(_, at)| *at)
    }

    /// Whether more extents are on their way or may be made.
    fn can_grow(&self) -> bool {
        let coming = matches!(
            self.pending,
            Some(Action::Make { .. } | Action::Recycle { .. })
        );
        coming
            || !self.free.is_empty()
            || (self.blocked.is_none() && self.files() < self.shape.total())
    }

    pub(crate) fn limits(&self) -> Limits {
        let bytes = self.shape.extent_bytes();
        let reserve = self.shape.reserve();
        let reachable = if self.blocked.is_some() {
            // What exists; a file that is being tried again does not count.
            let renamed = matches!(self.pending, Some(Action::Recycle { .. }));
            self.end + self.free.len() as u64 + u64::from(renamed)
        } else {
            // In a log that was opened with fewer files than it has in use, essential records may use
            // up what is there.
            (self.first + self.shape.total()).max(self.end)
        };
        let essential = reachable * bytes;
        let configured = (self.first + self.shape.total()) * bytes;
        let room = if self.can_grow() {
            (self.end * bytes).saturating_sub(reserve)
        } else {
            u64::MAX
        };
        Limits {
            ordinary: essential.min(configured).saturating_sub(reserve),
            relief: essential.saturating_sub(reserve / 2),
            essential,
            room,
        }
    }

    /// How many files usage in the recent past asks for.
    fn wanted(&self) -> u64 {
        let bytes = self.shape.extent_bytes();
        let most = self.peaks.iter().copied().max().unwrap_or(0);
        let recent = (most + self.shape.reserve() + bytes / 2).div_ceil(bytes) + 1;
        recent
            .max(u64::from(self.shape.primary))
            .min(self.shape.total())
    }

    /// Whether the next file will be wanted at once and has to be made. What is at the end of the files at an opening may be the last
    /// that a full disk had room for, so what depends on the next one is accepted only when that is there.
    pub(crate) fn is_short(&self, position: u64) -> bool {
        self.free.is_empty() && self.files() < self.shape.total() && self.runs_short(position)
    }

    fn runs_short(&self, position: u64) -> bool {
        let bytes = self.shape.extent_bytes();
        self.end * bytes < position + self.shape.reserve() + bytes / 2
    }

    /// What to do next to the files when appends have reached `position`; remembered as pending until
    /// [`Extents::finished`]. With `only_needed`, only what a record already accepted waits for.
    pub(crate) fn next_action(
        &mut self,
        position: u64,
        now: Nanos,
        only_needed: bool,
    ) -> Option<Action> {
        if self.pending.is_some() {
            return None;
        }
        let action = self.choose(position, now, only_needed)?;
        match action {
            Action::Recycle { from, .. } => self.free.retain(|n| *n != from),
            // From here on nobody may count on this file.
            Action::Remove { number } if number + 1 == self.end => self.end = number,
            Action::Remove { number } => self.free.retain(|n| *n != number),
            Action::Make { .. } => {}
        }
        self.pending = Some(action);
        Some(action)
    }

    fn choose(&self, position: u64, now: Nanos, only_needed: bool) -> Option<Action> {
        let bytes = self.shape.extent_bytes();
        let end = self.end * bytes;
        let reserve = self.shape.reserve();
        if only_needed && position <= end {
            return None;
        }
        let wanted = self.wanted();
        if let Some(from) = self.free.iter().copied().min() {
            if self.files() > wanted && position <= end {
                return Some(Action::Remove { number: from });
            }
            return Some(Action::Recycle { from, to: self.end });
        }
        let files = self.files();
        let surplus = files > wanted
            && self.end > self.first + 1
            && end - bytes >= position + reserve + bytes;
        if surplus {
            return Some(Action::Remove {
                number: self.end - 1,
            });
        }
        let may_try = self.retry_at().is_none_or(|at| now >= at);
        let short = self.runs_short(position) && files < self.shape.total();
        let owed = files < u64::from(self.shape.primary);
        // A record that was accepted goes first even if the limit has been lowered since.
        let promised = end < position;
        if may_try && (short || owed || promised) {
            return Some(Action::Make { number: self.end });
        }
        None
    }

    /// The pending action ended. An error is given back if it is one that the log does not survive.
    pub(crate) fn finished(
        &mut self,
        result: io::Result<()>,
        now: Nanos,
    ) -> Result<Action, LogError> {
        let Some(action) = self.pending.take() else {
            return Err(LogError::Misuse("no extent was being prepared".to_owned()));
        };
        match (action, result) {
            (Action::Recycle { to: number, .. } | Action::Make { number }, Ok(())) => {
                debug_assert_eq!(number, self.end, "files are prepared in order");
                self.end = number + 1;
                self.blocked = None;
            }
            (Action::Remove { .. }, Ok(())) => {}
            // Nothing acknowledged depends on a file that was not there: the log only cannot grow.
            (Action::Make { number }, Err(error)) if !leaves_name_unsynced(&error) => {
                let path = self.active.join(name(number));
                let why = format!("log extent {} could not be made: {error}", path.display());
                let why: Arc<str> = why.into();
                self.unreported = Some(Arc::clone(&why));
                self.blocked = Some((why, now + RETRY));
            }
            // The file is still there or it is not; the next restart counts anew.
            (Action::Remove { .. }, Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
            (
                Action::Recycle { from: number, .. }
                | Action::Remove { number }
                | Action::Make { number },
                Err(error),
            ) => {
                let path = self.active.join(name(number));
                return Err(LogError::file("naming or removing", &path, error));
            }
        }
        Ok(action)
    }

    /// Restart now begins at `restart`, durably; appends have reached `position`.
    pub(crate) fn advance(&mut self, restart: u64, before: u64, position: u64) {
        self.peaks[self.turn] = position.saturating_sub(before);
        self.turn = (self.turn + 1) % MEMORY;
        let first = self.shape.extent_of(restart);
        // Where the restart LSN is the boundary of an extent that is not made yet, `end` is `first`.
        while self.first < first && self.first < self.end {
            self.free.push(self.first);
            self.first += 1;
        }
        debug_assert!(
            self.first == first,
            "restart lies in or at the end of the prepared extents"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        file_pages: 64,
        primary: 3,
        secondary: 2,
    };
    const EXTENT: u64 = 64 * 4096;

    fn table(existing: &[u64]) -> Extents {
        Extents::new(SHAPE, PathBuf::from("active"), 0, 0, existing)
    }

    fn act(extents: &mut Extents, position: u64) -> Option<Action> {
        let action = extents.next_action(position, 0, false)?;
        extents.finished(Ok(()), 0).unwrap();
        Some(action)
    }

    #[test]
    fn names() {
        assert_eq!(name(12), "S0000012.LOG");
        assert_eq!(name(123_456_789), "S123456789.LOG");
        for n in [0, 12, 9_999_999, 10_000_000, 123_456_789] {
            assert_eq!(number(&name(n)), Some(n));
        }
        for bad in [
            "S12.LOG",
            "S00000012.LOG",
            "S0000012.NEW",
            "S000001x.LOG",
            "X0000012.LOG",
            "S+000012.LOG",
        ] {
            assert_eq!(number(bad), None, "{bad}");
        }
        assert!(is_unfinished(&unfinished_name(3)));
    }

    #[test]
    fn limits_count_to_the_page() {
        let extents = table(&[0, 1, 2]);
        let limits = extents.limits();
        assert_eq!(limits.essential, 5 * EXTENT);
        assert_eq!(limits.ordinary, 5 * EXTENT - 5 * EXTENT / 8 / 4096 * 4096);
        assert_eq!(limits.room, 3 * EXTENT - SHAPE.reserve());
    }

    #[test]
    fn secondaries_come_on_demand_and_go_when_usage_has_fallen() {
        let mut extents = table(&[0, 1, 2]);
        assert_eq!(act(&mut extents, 0), None);
        assert_eq!(act(&mut extents, EXTENT), None);
        let late = 3 * EXTENT - SHAPE.reserve() - EXTENT / 2 + 4096;
        assert_eq!(act(&mut extents, late), Some(Action::Make { number: 3 }));
        assert_eq!(act(&mut extents, late), None);
        assert_eq!(
            act(&mut extents, late + EXTENT),
            Some(Action::Make { number: 4 })
        );
        assert_eq!(
            act(&mut extents, 5 * EXTENT),
            None,
            "no more than primary + secondary"
        );
        assert_eq!(
            extents.limits().room,
            u64::MAX,
            "nobody waits for what will not come"
        );

        // Restart moves to the last extent: four files are free, and at first all are kept.
        let mut position = 4 * EXTENT + 4096;
        let mut restart = 4 * EXTENT;
        extents.advance(restart, 0, position);
        assert_eq!(
            act(&mut extents, position),
            Some(Action::Recycle { from: 0, to: 5 })
        );
        assert_eq!(
            act(&mut extents, position),
            Some(Action::Recycle { from: 1, to: 6 })
        );
        while act(&mut extents, position).is_some() {}
        assert_eq!(extents.files(), 5);
        // Little is used for some advances: back to the primaries, and never below.
        for _ in 0..2 * MEMORY {
            let before = restart;
            restart = position;
            position += 8 * 4096;
            extents.advance(restart, before, position);
            while act(&mut extents, position).is_some() {}
        }
        assert_eq!(extents.files(), 3);
        assert!(extents.end() * EXTENT >= position + SHAPE.reserve());
    }

    #[test]
    fn a_full_disk_lowers_the_limits_to_what_exists() {
        let mut extents = table(&[0, 1, 2]);
        let position = 3 * EXTENT - SHAPE.reserve();
        assert_eq!(
            extents.next_action(position, 0, false),
            Some(Action::Make { number: 3 })
        );
        assert_eq!(extents.limits().essential, 5 * EXTENT);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        extents.finished(Err(full), 5).unwrap();
        assert_eq!(extents.limits().essential, 3 * EXTENT);
        assert_eq!(extents.limits().ordinary, 3 * EXTENT - SHAPE.reserve());
        assert_eq!(extents.limits().room, u64::MAX);
        assert!(
            extents
                .blocked()
                .is_some_and(|why| why.contains("S0000003.LOG"))
        );
        assert_eq!(
            extents.next_action(position, 6, false),
            None,
            "not before the retry time"
        );
        let retry = extents.retry_at().unwrap();
        assert_eq!(
            extents.next_action(position, retry, false),
            Some(Action::Make { number: 3 })
        );
        assert_eq!(
            extents.limits().essential,
            3 * EXTENT,
            "a try is not a file"
        );
        extents.finished(Ok(()), retry).unwrap();
        assert_eq!(extents.blocked(), None);
        let unreported = extents.take_unreported();
        assert!(unreported.is_some_and(|why| why.contains("S0000003.LOG")));
        assert_eq!(extents.take_unreported(), None, "told once");
        assert_eq!(
            (extents.blocked(), extents.limits().essential),
            (None, 5 * EXTENT)
        );
    }

    #[test]
    fn failed_rename_is_final() {
        let mut extents = table(&[0, 1, 2]);
        extents.advance(EXTENT, 0, EXTENT);
        assert_eq!(
            extents.next_action(EXTENT, 0, false),
            Some(Action::Recycle { from: 0, to: 3 })
        );
        let error = extents.finished(Err(io::Error::other("gone")), 0);
        assert!(matches!(error, Err(LogError::Io(..))));
    }

    #[test]
    fn a_name_that_could_not_be_synced_is_final_even_on_a_full_disk() {
        let mut extents = table(&[0, 1, 2]);
        let late = 3 * EXTENT - SHAPE.reserve();
        let make = Some(Action::Make { number: 3 });
        assert_eq!(extents.next_action(late, 0, false), make);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let unsynced = io::Error::new(full.kind(), NameUnsynced(full));
        let ended = extents.finished(Err(unsynced), 0);
        assert!(matches!(ended, Err(LogError::Io(..))), "{ended:?}");
    }

    #[test]
    fn gaps_and_leftovers_at_open_are_free_files() {
        let mut extents =
            Extents::new(SHAPE, PathBuf::new(), 5 * EXTENT, 5 * EXTENT, &[2, 5, 6, 8]);
        assert_eq!((extents.first, extents.end()), (5, 7));
        assert_eq!(
            act(&mut extents, 5 * EXTENT),
            Some(Action::Remove { number: 2 })
        );
        assert_eq!(
            act(&mut extents, 5 * EXTENT),
            Some(Action::Recycle { from: 8, to: 7 })
        );
        assert_eq!(extents.files(), 3);
    }

    #[test]
    fn more_primaries_are_made_after_a_change_of_configuration() {
        let shape = Shape {
            primary: 6,
            ..SHAPE
        };
        let mut extents = Extents::new(shape, PathBuf::new(), 0, 0, &[0, 1, 2]);
        for number in 3..6 {
            assert_eq!(act(&mut extents, 0), Some(Action::Make { number }));
        }
        assert_eq!(act(&mut extents, 0), None);
    }

    #[test]
    fn fewer_files_than_in_use_still_takes_essential_records() {
        let shape = Shape {
            primary: 2,
            secondary: 1,
            ..SHAPE
        };
        let extents = Extents::new(shape, PathBuf::new(), 0, 4 * EXTENT, &[0, 1, 2, 3, 4]);
        assert_eq!(extents.limits().essential, 5 * EXTENT);
    }
}
