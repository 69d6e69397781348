//! The simulated disk: a file system in memory that loses what was not made durable and fails on order.
//!
//! Invariants:
//! * Rules of [`posthaste_env::Disk`] hold, and no more than them: what they leave open is drawn by seed.
//! * Only operations of the present epoch work. [`crate::SimWorld::env`] gives an `Env` of the present
//!   one; a crash or kill begins the next, so that what is left of the old program can do no harm.
//! * Every operation is in the trace with its outcome.
//!
//! See `faults` for what may go wrong where, and what the product claims about it.

mod faults;
mod names;
mod sectors;
mod state;

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_env::{Disk, File, Lock, Open, check_forced, check_whole_pages};

pub use self::faults::{Area, Fault, Struck};
use self::names::{Entry, FileId, errno, os_error};
pub use self::sectors::SECTOR;
use self::state::{Power, State};
use crate::rng::Rng;
use crate::trace::{Trace, digest};

/// Free bytes of a disk without a limit.
const PLENTY: u64 = 1 << 40;
/// Beyond this a write is refused (EFBIG) rather than simulated.
const LARGEST: u64 = 1 << 34;

/// The disk as the test holds it: faults, limits, a look at what is there. Programs get it by `world.env()`.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl SimDisk {
    pub(crate) fn new(rng: Rng, trace: Trace) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(rng, trace))),
        }
    }

    /// A disk without a world around it: for programs that run on the real clock, in processes of their own.
    pub fn of_seed(seed: u64) -> Self {
        Self::new(Rng::new(seed), Trace::default())
    }

    /// How many have it: handles like this one, and whatever is left of the programs that ran on it.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.state)
    }

    /// The disk for a program that starts now. It stops working at the next crash or kill.
    pub fn mount(&self) -> Arc<dyn Disk> {
        Arc::new(Mounted {
            state: Arc::clone(&self.state),
            epoch: self.state.lock().epoch,
        })
    }

    /// Lets `fault` strike once, on the first operation in `area` it can strike after skipping `skip` of them.
    pub fn order(&self, fault: Fault, area: Area, skip: u64) {
        self.state.lock().faults.order(fault, area, skip);
    }

    /// Lets `fault` strike every operation in `area` with this chance, in millionths. 0 takes it back.
    pub fn set_chance(&self, fault: Fault, area: Area, per_million: u32) {
        let mut state = self.state.lock();
        state.faults.set_chance(fault, area, per_million);
    }

    /// Takes back all orders and chances.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Orders that have not struck yet.
    pub fn outstanding(&self) -> usize {
        self.state.lock().faults.outstanding()
    }

    /// Every fault that has struck, in order; bit rot and cuts are the caller's own doing and not listed.
    pub fn struck(&self) -> Vec<Struck> {
        self.state.lock().faults.struck.clone()
    }

    /// Leaves this many bytes free from now on (rounded down to pages), or takes the limit away.
    pub fn set_free(&self, bytes: Option<u64>) {
        let mut state = self.state.lock();
        let used = state.used();
        state.capacity = bytes.map(|bytes| used.saturating_add(bytes));
    }

    /// Operations so far that could change the medium: writes, syncs, changes of names and lengths.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Cuts the power during the `n`th operation from now that could change the medium (1 is the next one).
    pub fn cut_power_after(&self, n: u64) {
        self.state.lock().countdown = Some(n);
    }

    /// Cuts the power now. Until [`crate::SimWorld::crash`], forced writes are torn (they were under way
    /// when the power went) and everything fails.
    pub fn cut_power(&self) {
        let mut state = self.state.lock();
        state.power = Power::Off;
        state.trace.record("power", &[], || "cut".to_owned());
    }

    /// Whether the power is cut, and the world waits for [`crate::SimWorld::crash`].
    pub fn power_is_cut(&self) -> bool {
        self.state.lock().power == Power::Off
    }

    /// Applies what a forced write under way leaves behind when the power goes: each sector of `buf`, or
    /// not, as `rng` says. `offset` must be a multiple of [`SECTOR`]. Works with the power on or cut; makes
    /// no file. Returns how many sectors were written.
    pub fn torn_write(
        &self,
        path: &Path,
        buf: &[u8],
        offset: u64,
        rng: &mut Rng,
    ) -> io::Result<usize> {
        let mut state = self.state.lock();
        let at = range(offset, buf.len())?;
        if !at.is_multiple_of(SECTOR) {
            return os_error(errno::EINVAL);
        }
        let written = state.file_at(path)?.write_torn(at, buf, rng);
        state.note("torn", path, &[offset, digest(buf), written as u64]);
        Ok(written)
    }

    /// Flips one bit at a random place of the file's durable bytes. Returns the byte's offset; `None` if the
    /// file is empty.
    pub fn rot(&self, path: &Path, rng: &mut Rng) -> io::Result<Option<u64>> {
        let mut state = self.state.lock();
        let length = state.file_at(path)?.durable().len();
        if length == 0 {
            return Ok(None);
        }
        let offset = rng.index(length);
        let mask = 1 << rng.below(8);
        state.file_at(path)?.rot(offset, mask);
        state.note("rot", path, &[offset as u64, u64::from(mask)]);
        Ok(Some(offset as u64))
    }

    /// Flips the bits of `mask` in the durable byte at `offset`.
    pub fn rot_at(&self, path: &Path, offset: u64, mask: u8) -> io::Result<()> {
        let mut state = self.state.lock();
        let at = range(offset, 1)?;
        state.file_at(path)?.rot(at, mask);
        state.note("rot", path, &[offset, u64::from(mask)]);
        Ok(())
    }

    /// Cuts the file to `length` bytes, on the medium and for readers.
    pub fn cut(&self, path: &Path, length: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let at = range(length, 0)?;
        state.file_at(path)?.cut(at);
        state.note("cut", path, &[length]);
        Ok(())
    }

    /// Makes everything durable as it is: for preparing a world, not something a program can do.
    pub fn settle(&self) {
        self.state.lock().settle();
    }

    /// What readers of the file see; `None` if there is no such file.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.lock();
        match state.names.find(path) {
            Ok(Some(Entry::File(file))) => Some(state.files.get(&file)?.data.content().to_vec()),
            _ => None,
        }
    }

    /// What the file would hold if the power went and nothing unsynced survived; `None` if it would not exist.
    pub fn durable(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.lock();
        match state.names.find_durable(path) {
            Ok(Some(Entry::File(file))) => Some(state.files.get(&file)?.data.durable()),
            _ => None,
        }
    }

    /// Whether nothing would be lost if the power went now.
    pub fn is_settled(&self) -> bool {
        let state = self.state.lock();
        state.names.pending() == 0 && state.files.values().all(|file| file.data.is_clean())
    }

    /// Loses the power and gets it back: what was not durable survives in part or not at all. Returns a line
    /// that says what was lost. In a world, call [`crate::SimWorld::crash`], which ends the program as well.
    pub fn crash(&self) -> String {
        self.state.lock().crash()
    }

    pub(crate) fn kill(&self) -> String {
        self.state.lock().kill()
    }
}

/// Where a write goes in memory, or EFBIG.
fn range(offset: u64, length: usize) -> io::Result<usize> {
    let end = offset.saturating_add(length as u64);
    if end > LARGEST {
        return os_error(errno::EFBIG);
    }
    usize::try_from(offset).or(os_error(errno::EFBIG))
}

/// The disk of one epoch.
struct Mounted {
    state: Arc<Mutex<State>>,
    epoch: u64,
}

impl Mounted {
    /// Opens or makes the file; the number of it and whether it was made.
    fn find_or_make(&self, path: &Path, how: Open) -> io::Result<FileId> {
        let mut state = self.state.lock();
        state.check(self.epoch)?;
        if state.strike(&[Fault::OpenError], path, 0).is_some() {
            return os_error(errno::EACCES);
        }
        match state.names.find(path)? {
            Some(_) if how.create_new => os_error(errno::EEXIST),
            Some(Entry::File(file)) => Ok(file),
            Some(Entry::Dir(_)) => os_error(errno::EISDIR),
            None if how.create || how.create_new => {
                state.change_names(self.epoch, "create", path, |state| {
                    let file = state.new_file();
                    state.names.add_file(path, file)?;
                    state.files.insert(file, state::FileState::default());
                    Ok(file)
                })
            }
            None => os_error(errno::ENOENT),
        }
    }
}

impl Disk for Mounted {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let found = self.find_or_make(path, how);
        let mut state = self.state.lock();
        state.note_result("open", path, &[u64::from(how.forced)], &found);
        let file = found?;
        state.hold(file);
        Ok(Arc::new(SimFile {
            state: Arc::clone(&self.state),
            epoch: self.epoch,
            file,
            path: path.into(),
            how,
        }))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.check(self.epoch)?;
        if matches!(state.names.find(dir)?, Some(Entry::Dir(_))) {
            return Ok(());
        }
        state.change_names(self.epoch, "mkdir", dir, |state| state.names.add_dirs(dir))?;
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.change_names(self.epoch, "remove", path, |state| {
            state.names.remove_file(path)
        })
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.change_names(self.epoch, "remove tree", dir, |state| {
            state.names.remove_tree(dir)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let target = digest(to.as_os_str().as_encoded_bytes());
        state.change_names(self.epoch, "rename", from, |state| {
            state.names.rename(from, to)
        })?;
        state.note("rename to", to, &[target]);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let state = self.state.lock();
        state.check(self.epoch)?;
        let listed = state.names.dir(dir).map(|dir| state.names.list(dir));
        state.note_result("list", dir, &[], &listed);
        listed
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.state.lock();
        state.check(self.epoch).is_ok() && matches!(state.names.find(path), Ok(Some(_)))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.state.lock().sync_dir(self.epoch, dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        let file = self.find_or_make(path, Open::CREATE)?;
        let mut state = self.state.lock();
        let granted = state.locks.insert(file);
        state.note("lock", path, &[u64::from(granted)]);
        if !granted {
            return os_error(errno::EAGAIN);
        }
        Ok(Box::new(SimLock {
            state: Arc::clone(&self.state),
            epoch: self.epoch,
            file,
        }))
    }

    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        let state = self.state.lock();
        state.check(self.epoch)?;
        match state.names.find(dir)? {
            Some(_) => Ok(state.free()),
            None => os_error(errno::ENOENT),
        }
    }
}

struct SimLock {
    state: Arc<Mutex<State>>,
    epoch: u64,
    file: FileId,
}

impl Lock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        // A later epoch has dropped all locks, and may have given this one to somebody else.
        if state.epoch == self.epoch {
            state.locks.remove(&self.file);
        }
    }
}

struct SimFile {
    state: Arc<Mutex<State>>,
    epoch: u64,
    file: FileId,
    path: Arc<Path>,
    how: Open,
}

impl SimFile {
    /// Checks what every change of the file must pass.
    fn check_write(&self, state: &State) -> io::Result<()> {
        state.check_epoch(self.epoch)?;
        if self.how.read_only {
            return os_error(errno::EBADF);
        }
        Ok(())
    }
}

impl File for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state.lock();
        state.check(self.epoch)?;
        if self.how.forced {
            check_forced(buf, offset)?;
        }
        if state
            .strike(&[Fault::ReadError], &self.path, offset)
            .is_some()
        {
            return os_error(errno::EIO);
        }
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        let count = state.data(self.file)?.read(buf, at);
        let seen = digest(buf.get(..count).unwrap_or_default());
        state.note("read", &self.path, &[offset, count as u64, seen]);
        Ok(count)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        self.check_write(&state)?;
        if self.how.forced {
            check_forced(buf, offset)?;
        }
        let at = range(offset, buf.len())?;
        let write = state::Write {
            file: self.file,
            path: &self.path,
            forced: self.how.forced,
            at,
            data: buf,
        };
        let result = state.write(&write);
        let numbers = [offset, digest(buf), u64::from(self.how.forced)];
        state.note_result("write", &self.path, &numbers, &result);
        result
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        state.check_epoch(self.epoch)?;
        let result = state.sync(self.file, &self.path);
        state.note_result("sync", &self.path, &[], &result);
        result
    }

    fn len(&self) -> io::Result<u64> {
        let state = self.state.lock();
        state.check(self.epoch)?;
        Ok(state.length(self.file)? as u64)
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        self.check_write(&state)?;
        let length = range(n, 0)?;
        let result = state.set_len(self.file, &self.path, length);
        state.note_result("set_len", &self.path, &[n], &result);
        result
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        self.check_write(&state)?;
        let length = range(n, 0)?;
        let result = state.allocate(self.file, &self.path, length);
        state.note_result("allocate", &self.path, &[n], &result);
        result
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        self.check_write(&state)?;
        check_whole_pages(offset, bytes)?;
        let at = range(offset, 0)?;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let result = state.punch(self.file, &self.path, at, length);
        state.note_result("punch", &self.path, &[offset, bytes], &result);
        result
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        if state.epoch == self.epoch {
            state.release(self.file);
        }
    }
}
