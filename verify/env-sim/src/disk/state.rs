//! What the disk is made of, and what each operation does to it.
//!
//! Invariants:
//! * `operations` counts what could change the medium, whether or not it worked; the countdown to the
//!   power cut goes with it.
//! * Once the power is off nothing changes but by torn forced writes, until the crash.
//! * A file's bytes are kept while it has a name, live or durable, or a handle of the present epoch.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::PLENTY;
use super::faults::{Fault, Faults};
use super::names::{FileId, Names, errno, os_error};
use super::sectors::{Mood, Remains, Sectors};
use crate::rng::Rng;
use crate::trace::{Trace, digest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    Off,
}

#[derive(Default)]
pub(super) struct FileState {
    pub(super) data: Sectors,
    handles: u32,
}

pub(super) struct State {
    pub(super) names: Names,
    pub(super) files: BTreeMap<FileId, FileState>,
    pub(super) locks: BTreeSet<FileId>,
    pub(super) faults: Faults,
    /// Bytes of space in all, if limited.
    pub(super) capacity: Option<u64>,
    pub(super) epoch: u64,
    pub(super) power: Power,
    pub(super) countdown: Option<u64>,
    pub(super) operations: u64,
    pub(super) trace: Trace,
    rng: Rng,
    made: FileId,
}

/// One write.
pub(super) struct Write<'a> {
    pub(super) file: FileId,
    pub(super) path: &'a Path,
    pub(super) forced: bool,
    pub(super) at: usize,
    pub(super) data: &'a [u8],
}

/// What refuses a change of a file's length.
const REFUSED: [Fault; 3] = [Fault::WriteError, Fault::DiskFull, Fault::QuotaUsedUp];

fn power_lost<T>() -> io::Result<T> {
    Err(io::Error::other("simulated loss of power"))
}

impl State {
    pub(super) fn new(rng: Rng, trace: Trace) -> Self {
        Self {
            names: Names::new(),
            files: BTreeMap::new(),
            locks: BTreeSet::new(),
            faults: Faults::default(),
            capacity: None,
            epoch: 0,
            power: Power::On,
            countdown: None,
            operations: 0,
            trace,
            rng,
            made: 0,
        }
    }

    /// Whether the caller's program still lives.
    pub(super) fn check_epoch(&self, epoch: u64) -> io::Result<()> {
        if epoch == self.epoch {
            return Ok(());
        }
        Err(io::Error::other("simulated process has ended"))
    }

    /// Whether the caller's program still lives, with power.
    pub(super) fn check(&self, epoch: u64) -> io::Result<()> {
        self.check_epoch(epoch)?;
        match self.power {
            Power::On => Ok(()),
            Power::Off => power_lost(),
        }
    }

    /// Counts an operation that could change the medium. True if the power goes during this very one.
    fn count(&mut self) -> bool {
        self.operations += 1;
        let Some(left) = self.countdown else {
            return false;
        };
        let left = left.saturating_sub(1);
        self.countdown = (left > 0).then_some(left);
        if left == 0 {
            self.power = Power::Off;
        }
        left == 0
    }

    pub(super) fn strike(&mut self, possible: &[Fault], path: &Path, offset: u64) -> Option<Fault> {
        let operation = self.operations;
        self.faults
            .strike(possible, path, offset, operation, &mut self.rng)
    }

    pub(super) fn data(&mut self, file: FileId) -> io::Result<&mut Sectors> {
        match self.files.get_mut(&file) {
            Some(file) => Ok(&mut file.data),
            None => os_error(errno::EIO),
        }
    }

    pub(super) fn length(&self, file: FileId) -> io::Result<usize> {
        match self.files.get(&file) {
            Some(file) => Ok(file.data.len()),
            None => os_error(errno::EIO),
        }
    }

    pub(super) fn file_at(&mut self, path: &Path) -> io::Result<&mut Sectors> {
        match self.names.find(path)? {
            Some(super::Entry::File(file)) => self.data(file),
            Some(super::Entry::Dir(_)) => os_error(errno::EISDIR),
            None => os_error(errno::ENOENT),
        }
    }

    pub(super) fn new_file(&mut self) -> FileId {
        self.made += 1;
        self.made
    }

    pub(super) fn hold(&mut self, file: FileId) {
        if let Some(file) = self.files.get_mut(&file) {
            file.handles += 1;
        }
    }

    pub(super) fn release(&mut self, file: FileId) {
        if let Some(file) = self.files.get_mut(&file) {
            file.handles = file.handles.saturating_sub(1);
        }
    }

    /// Forgets files that neither a name nor a handle leads to.
    fn collect(&mut self) {
        let referenced = self.names.referenced();
        self.files
            .retain(|file, state| state.handles > 0 || referenced.contains(file));
    }

    /// Bytes of space in use: by files with a name, and by removed ones that are still open.
    pub(super) fn used(&self) -> u64 {
        let named = self.names.named();
        let counted = self
            .files
            .iter()
            .filter(|(file, state)| state.handles > 0 || named.contains(file));
        counted.map(|(_, state)| state.data.used()).sum()
    }

    pub(super) fn free(&self) -> u64 {
        match self.capacity {
            Some(capacity) => capacity.saturating_sub(self.used()),
            None => PLENTY,
        }
    }

    /// An operation on names: all of it happens or nothing.
    pub(super) fn change_names<T>(
        &mut self,
        epoch: u64,
        kind: &'static str,
        path: &Path,
        change: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        self.check(epoch)?;
        let last = self.count();
        let full = [Fault::NameError, Fault::DiskFull, Fault::QuotaUsedUp];
        // Only a new name needs room.
        let possible = if kind == "create" {
            &full[..]
        } else {
            &full[..1]
        };
        let result = match self.strike(possible, path, 0) {
            Some(fault) => os_error(fault.code()),
            None => change(self),
        };
        // The power going meanwhile, it may have happened: it is among what may survive the crash.
        let result = if last { power_lost() } else { result };
        self.note_result(kind, path, &[], &result);
        result
    }

    pub(super) fn sync_dir(&mut self, epoch: u64, dir: &Path) -> io::Result<()> {
        self.check(epoch)?;
        let number = self.names.dir(dir)?;
        let result = if self.count() {
            power_lost()
        } else if self.strike(&[Fault::NameError], dir, 0).is_some() {
            let most = self.rng.index(self.names.pending() + 1);
            self.names.sync(number, most);
            os_error(errno::EIO)
        } else {
            self.names.sync(number, usize::MAX);
            self.collect();
            Ok(())
        };
        self.note_result("sync_dir", dir, &[], &result);
        result
    }

    pub(super) fn write(&mut self, write: &Write<'_>) -> io::Result<()> {
        let Write { file, at, data, .. } = *write;
        let was_off = self.power == Power::Off;
        let mut rng = self.rng.fork();
        if self.count() || was_off {
            // What goes to the page cache when the power goes is as good as never written.
            if write.forced {
                self.data(file)?.write_torn(at, data, &mut rng);
            }
            return power_lost();
        }
        let possible = [
            Fault::WriteError,
            Fault::LostWrite,
            Fault::MisdirectedWrite,
            Fault::DiskFull,
            Fault::QuotaUsedUp,
            Fault::LostRewrite,
        ];
        let last = usize::from(!self.data(file)?.resembles(at, data));
        let possible = &possible[..possible.len() - last];
        let fault = self.strike(possible, write.path, at as u64);
        let fitting = match self.capacity {
            Some(_) => {
                let free = self.free();
                self.data(file)?.fitting(at, data.len(), free)
            }
            None => data.len(),
        };
        let placed = data.get(..fitting).unwrap_or(data);
        let sectors = self.data(file)?;
        match fault {
            Some(failure @ (Fault::WriteError | Fault::DiskFull | Fault::QuotaUsedUp)) => {
                if write.forced {
                    sectors.write_torn(at, placed, &mut rng);
                } else {
                    sectors.write_cached_partly(at, placed, &mut rng);
                }
                return os_error(failure.code());
            }
            Some(Fault::LostWrite | Fault::LostRewrite) => {
                sectors.lose_write(at, placed, write.forced, &mut rng);
            }
            Some(Fault::MisdirectedWrite) => {
                sectors.misdirect_write(at, placed, write.forced, &mut rng);
            }
            _ if write.forced => sectors.write_forced(at, placed),
            _ => sectors.write_cached(at, placed, &mut rng),
        }
        if fitting < data.len() {
            return os_error(errno::ENOSPC);
        }
        Ok(())
    }

    pub(super) fn sync(&mut self, file: FileId, path: &Path) -> io::Result<()> {
        let was_off = self.power == Power::Off;
        if self.count() || was_off {
            return power_lost();
        }
        let possible = [Fault::SyncError, Fault::DiskFull, Fault::QuotaUsedUp];
        if let Some(fault) = self.strike(&possible, path, 0) {
            let mut rng = self.rng.fork();
            self.data(file)?.fail_sync(&mut rng);
            return os_error(fault.code());
        }
        self.data(file)?.sync();
        Ok(())
    }

    pub(super) fn set_len(&mut self, file: FileId, path: &Path, length: usize) -> io::Result<()> {
        let was_off = self.power == Power::Off;
        let last = self.count();
        if was_off {
            return power_lost();
        }
        if let Some(fault) = self.strike(&REFUSED, path, length as u64) {
            return os_error(fault.code());
        }
        self.data(file)?.set_len(length);
        if last { power_lost() } else { Ok(()) }
    }

    pub(super) fn allocate(&mut self, file: FileId, path: &Path, length: usize) -> io::Result<()> {
        let was_off = self.power == Power::Off;
        let last = self.count();
        if was_off {
            return power_lost();
        }
        if let Some(fault) = self.strike(&REFUSED, path, length as u64) {
            return os_error(fault.code());
        }
        let now = self.length(file)?;
        let wanted = length.saturating_sub(now);
        let free = self.free();
        let fitting = self.data(file)?.fitting(now, wanted, free);
        self.data(file)?.extend(fitting);
        match (last, fitting < wanted) {
            (true, _) => power_lost(),
            (false, true) => os_error(errno::ENOSPC),
            (false, false) => Ok(()),
        }
    }

    pub(super) fn punch(
        &mut self,
        file: FileId,
        path: &Path,
        at: usize,
        length: usize,
    ) -> io::Result<()> {
        let was_off = self.power == Power::Off;
        let last = self.count();
        if was_off {
            return power_lost();
        }
        if self.strike(&[Fault::WriteError], path, at as u64).is_some() {
            return os_error(errno::EIO);
        }
        self.data(file)?.punch(at, length);
        if last { power_lost() } else { Ok(()) }
    }

    pub(super) fn settle(&mut self) {
        self.names.settle();
        for file in self.files.values_mut() {
            file.data.sync();
        }
        self.collect();
    }

    /// Loses the power; whatever was volatile goes. Returns what became of it, for people.
    pub(super) fn crash(&mut self) -> String {
        let (names_kept, names_lost) = self.names.crash(&mut self.rng);
        let mut all = Remains::default();
        for file in self.files.values_mut() {
            file.handles = 0;
            let mood = Mood::draw(&mut self.rng);
            let remains = file.data.crash(mood, &mut self.rng);
            all.kept += remains.kept;
            all.lost += remains.lost;
        }
        self.collect();
        self.end_epoch();
        let numbers = [names_kept, names_lost, all.kept, all.lost].map(|number| number as u64);
        let line = format!(
            "crash {} after {} operations: names {names_kept} kept {names_lost} lost, sectors {} kept {} lost",
            self.epoch, self.operations, all.kept, all.lost
        );
        self.trace.record("crash", &numbers, || line.clone());
        line
    }

    /// Ends the process and nothing else: the page cache lives on.
    pub(super) fn kill(&mut self) -> String {
        for file in self.files.values_mut() {
            file.handles = 0;
        }
        self.collect();
        self.end_epoch();
        let line = format!("kill {} after {} operations", self.epoch, self.operations);
        self.trace.record("kill", &[], || line.clone());
        line
    }

    fn end_epoch(&mut self) {
        self.locks.clear();
        self.epoch += 1;
        self.power = Power::On;
        self.countdown = None;
    }

    pub(super) fn note(&self, kind: &str, path: &Path, numbers: &[u64]) {
        let name = digest(path.as_os_str().as_encoded_bytes());
        self.trace.record(kind, &[name, digest_all(numbers)], || {
            format!("{} {numbers:x?}", path.display())
        });
    }

    pub(super) fn note_result<T>(
        &self,
        kind: &str,
        path: &Path,
        numbers: &[u64],
        result: &io::Result<T>,
    ) {
        let outcome = match result {
            Ok(_) => 0,
            Err(error) => error.raw_os_error().unwrap_or(-1).cast_unsigned(),
        };
        let name = digest(path.as_os_str().as_encoded_bytes());
        let numbers = [name, digest_all(numbers), u64::from(outcome)];
        self.trace.record(kind, &numbers, || match result {
            Ok(_) => path.display().to_string(),
            Err(error) => format!("{}: {error}", path.display()),
        });
    }
}

fn digest_all(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |hash, number| {
        digest(&(hash ^ number.rotate_left(17)).to_le_bytes())
    })
}
