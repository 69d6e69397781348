//! The files of a disk test: made and filled before it, opened for it, removed after it whatever happens.
//!
//! Invariants:
//! * A file that was there before is never touched: files are made with `O_EXCL`.
//! * Every file made is in the list of [`TestFiles`] before its first byte is written, and removed when
//!   that is dropped, or by [`Removal::now`] if the process has to leave at once.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_server::{Exit, Failure};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::options::Plan;
use crate::quantity::grouped;

/// Bytes written at once when files are filled.
const FILLING: usize = 1 << 20;
/// The smallest piece that a device knows.
const SECTOR: usize = 512;

/// Memory that begins at a multiple of an alignment, filled with bytes that no device can compress or leave
/// out.
pub(super) struct AlignedMemory {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedMemory {
    pub(super) fn new(length: usize, alignment: usize) -> AlignedMemory {
        let mut bytes = vec![0; length + alignment];
        let address = bytes.as_ptr().addr();
        let start = address.next_multiple_of(alignment) - address;
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for word in bytes.chunks_mut(8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            for (to, from) in word.iter_mut().zip(random.to_le_bytes()) {
                *to = from;
            }
        }
        AlignedMemory {
            bytes,
            start,
            length,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let end = self.start + self.length;
        self.bytes.get(self.start..end).unwrap_or_default()
    }

    /// Makes each sector differ from what it was: some devices are faster with what is there already, and a
    /// log never writes that.
    pub(super) fn stamp(&mut self, number: u64) {
        let end = self.start + self.length;
        let bytes = self.bytes.get_mut(self.start..end).unwrap_or_default();
        for (sector, place) in bytes.chunks_mut(SECTOR).zip(number << 16..) {
            for (to, from) in sector.iter_mut().zip(place.to_le_bytes()) {
                *to = from;
            }
        }
    }
}

/// Opens a file as a recovery log is opened; `create`: it must not be there yet.
pub(super) fn open(path: &Path, create: bool, direct: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDWR | OFlags::DSYNC | OFlags::CLOEXEC;
    if create {
        flags |= OFlags::CREATE | OFlags::EXCL;
    }
    if direct {
        flags |= OFlags::DIRECT;
    }
    retry_on_intr(|| rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)))
}

/// Writes all of `bytes` at `offset`.
pub(super) fn write_all(file: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = retry_on_intr(|| rustix::io::pwrite(file, bytes, offset))?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
        offset += count as u64;
    }
    Ok(())
}

/// Names of files that must go.
#[derive(Clone, Debug, Default)]
pub(super) struct Removal {
    paths: Arc<Mutex<Vec<PathBuf>>>,
}

impl Removal {
    /// Removes them all; those that cannot be removed, with the reason.
    pub(super) fn now(&self) -> Vec<(PathBuf, io::Error)> {
        let paths = std::mem::take(&mut *self.paths.lock());
        let failed = paths.into_iter().filter_map(|path| {
            let error = std::fs::remove_file(&path).err()?;
            Some((path, error))
        });
        failed.collect()
    }

    fn add(&self, path: PathBuf) {
        self.paths.lock().push(path);
    }
}

/// Why there are no files.
#[derive(Debug)]
pub(crate) enum NoFiles {
    /// The person at the terminal ended it.
    Interrupted,
    /// The file system refused.
    Failed(Failure),
}

impl From<Failure> for NoFiles {
    fn from(failure: Failure) -> NoFiles {
        NoFiles::Failed(failure)
    }
}

/// Files that are there, filled, until this is dropped.
#[derive(Debug)]
pub(super) struct TestFiles {
    /// Those of each queue manager.
    pub(super) paths: Vec<Vec<PathBuf>>,
    /// Whether the file system has direct access.
    pub(super) direct: bool,
    removal: Removal,
}

impl Drop for TestFiles {
    fn drop(&mut self) {
        for (path, error) in self.removal.now() {
            // The test is over; what is left is to say which file stayed.
            let line = format!("{} was not removed: {error}\n", path.display());
            let _ = io::Write::write_all(&mut io::stderr(), line.as_bytes());
        }
    }
}

/// Refuses what is no directory.
pub(super) fn check_directory(dir: &Path) -> Result<(), Failure> {
    let kind = std::fs::metadata(dir).map_err(|error| Failure::io(dir, &error))?;
    match kind.is_dir() {
        true => Ok(()),
        false => Err(Failure::io(dir, &Errno::NOTDIR.into())),
    }
}

/// Refuses a directory that cannot be written to or has not the room.
pub(super) fn check_room(plan: &Plan) -> Result<(), Failure> {
    let dir = &plan.dir;
    check_directory(dir)?;
    let refused = |error: Errno| Failure::io(dir, &error.into());
    let system = rustix::fs::statvfs(dir).map_err(refused)?;
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let wanted = plan.all_bytes();
    // A file system without a size (ramfs, some network ones) has none to compare with.
    if system.f_blocks > 0 && wanted > free {
        let shown = dir.display().to_string();
        let detail = format!(
            "{} files of {} bytes need {} bytes; {} are free.",
            grouped(u64::from(plan.files) * u64::from(plan.queue_managers)),
            grouped(plan.file_size),
            grouped(wanted),
            grouped(free)
        );
        return Err(Failure::new(Exit::NoSpace, "AMQ2020E", &[&shown]).with_detail(detail));
    }
    Ok(())
}

/// Makes and fills the files. `progress` hears how many bytes of how many are there, and says whether
/// to go on.
pub(super) fn create(
    plan: &Plan,
    removal: &Removal,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Result<TestFiles, NoFiles> {
    let mut files = TestFiles {
        paths: Vec::new(),
        direct: true,
        removal: removal.clone(),
    };
    let chunk = FILLING.max(plan.alignment);
    let memory = AlignedMemory::new(chunk, plan.alignment);
    let (mut done, all) = (0, plan.all_bytes());
    for queue_manager in 1..=plan.queue_managers {
        let mut own = Vec::new();
        for number in 1..=plan.files {
            let path = plan.path(queue_manager, number);
            let made = make(&path, files.direct, |create, direct| {
                open(&path, create, direct)
            });
            let (file, direct) = made.map_err(|error| refused(&path, error))?;
            files.direct = direct;
            removal.add(path.clone());
            fill(&file, plan, memory.bytes(), &path, &mut |bytes| {
                done += bytes;
                progress(done, all)
            })?;
            own.push(path);
        }
        files.paths.push(own);
    }
    Ok(files)
}

/// Makes a file for direct access, or without where the file system has none: the file and which.
fn make<F>(
    path: &Path,
    direct: bool,
    open: impl Fn(bool, bool) -> Result<F, Errno>,
) -> Result<(F, bool), Errno> {
    if !direct {
        return open(true, false).map(|file| (file, false));
    }
    match open(true, true) {
        // A file system without direct access may say so after it has made the file.
        Err(Errno::INVAL) if path.exists() => {
            let file = open(false, false).inspect_err(|_| {
                // It is ours and in no list yet.
                let _ = std::fs::remove_file(path);
            });
            file.map(|file| (file, false))
        }
        Err(Errno::INVAL) => open(true, false).map(|file| (file, false)),
        other => other.map(|file| (file, true)),
    }
}

fn refused(path: &Path, error: Errno) -> Failure {
    match error {
        Errno::EXIST => Failure::bad_parameter(format!(
            "{} is there already, perhaps from a test that was killed; remove it or name another --filePrefix",
            path.display()
        )),
        other => Failure::io(path, &other.into()),
    }
}

/// Writes a file through to its full length.
fn fill(
    file: &OwnedFd,
    plan: &Plan,
    memory: &[u8],
    path: &Path,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), NoFiles> {
    let failed = |error: io::Error| NoFiles::Failed(write_failed(path, plan.alignment, &error));
    // Whole blocks only are ever written, so what is left over behind them need not be filled.
    let whole = plan.file_size - plan.file_size % plan.alignment as u64;
    let mut offset = 0;
    while offset < whole {
        let left = usize::try_from(whole - offset).unwrap_or(usize::MAX);
        let bytes = memory.get(..left.min(memory.len())).unwrap_or(memory);
        write_all(file, bytes, offset).map_err(failed)?;
        offset += bytes.len() as u64;
        if !progress(bytes.len() as u64) {
            return Err(NoFiles::Interrupted);
        }
    }
    if whole < plan.file_size {
        let extended = retry_on_intr(|| rustix::fs::ftruncate(file, plan.file_size));
        extended.map_err(|error| failed(error.into()))?;
        progress(plan.file_size - whole);
    }
    Ok(())
}

/// A write that was refused, with what can be done about it.
pub(super) fn write_failed(path: &Path, alignment: usize, error: &io::Error) -> Failure {
    let failure = Failure::io(path, error);
    match error.kind() {
        io::ErrorKind::InvalidInput => failure.with_detail(format!(
            "The device takes no direct writes that are aligned to {alignment} bytes: try a larger --alignment."
        )),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::args;
    use super::*;

    fn plan(line: &str, dir: &Path) -> Plan {
        let mut plan = args(line).unwrap().plan().unwrap();
        plan.dir = dir.to_owned();
        plan
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn memory_is_aligned_and_not_blank() {
        for alignment in [512, 4096, 65_536] {
            let memory = AlignedMemory::new(8192, alignment);
            assert_eq!(memory.bytes().len(), 8192);
            assert!(memory.bytes().as_ptr().addr().is_multiple_of(alignment));
            let zeros = memory.bytes().iter().filter(|byte| **byte == 0).count();
            assert!(zeros < 200, "{zeros}");
            let mut stamped = AlignedMemory::new(8192, alignment);
            for number in [0, 1, 70_000] {
                let before = stamped.bytes().to_vec();
                stamped.stamp(number);
                let changed = stamped.bytes().chunks(SECTOR).zip(before.chunks(SECTOR));
                assert!(changed.into_iter().all(|(now, before)| now != before));
            }
        }
    }

    #[test]
    fn files_are_full_and_go_again() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(
            "--fileSize 1060000 --numFiles 2 --qm 2 --filePrefix t",
            dir.path(),
        );
        let mut last = (0, 0);
        let removal = Removal::default();
        let files = create(&plan, &removal, |done, all| {
            assert!(done > last.0);
            last = (done, all);
            true
        });
        let files = files.unwrap();
        assert_eq!(last, (4 * 1_060_000, 4 * 1_060_000));
        assert_eq!(
            names(dir.path()),
            ["t_qm1_1", "t_qm1_2", "t_qm2_1", "t_qm2_2"]
        );
        assert_eq!(files.paths.len(), 2);
        for path in files.paths.iter().flatten() {
            let bytes = std::fs::read(path).unwrap();
            assert_eq!(bytes.len(), 1_060_000);
            let page = &bytes[1_048_576..1_048_576 + 2048];
            assert!(page.iter().any(|byte| *byte != 0));
        }
        drop(files);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn an_interruption_and_a_refusal_leave_nothing_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan("--fileSize 4194304 --bsize 4K --filePrefix t", dir.path());
        let removal = Removal::default();
        let mut calls = 0;
        let ended = create(&plan, &removal, |_, _| {
            calls += 1;
            calls < 6
        });
        assert!(matches!(ended, Err(NoFiles::Interrupted)));
        assert_eq!(calls, 6);
        assert!(names(dir.path()).is_empty());

        std::fs::write(dir.path().join("t3"), "somebody's").unwrap();
        let refused = create(&plan, &removal, |_, _| true);
        let Err(NoFiles::Failed(failure)) = refused else {
            panic!("{refused:?}");
        };
        assert!(failure.line().contains("t3 is there already"));
        assert_eq!(names(dir.path()), ["t3"]);
        assert_eq!(std::fs::read(dir.path().join("t3")).unwrap(), b"somebody's");
    }

    #[test]
    fn a_disk_that_fills_up_meanwhile_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan("", dir.path());
        // A device that is always full.
        let full = Path::new("/dev/full");
        let file = open(full, false, false).unwrap();
        let memory = AlignedMemory::new(8192, 4096);
        let filled = fill(&file, &plan, memory.bytes(), full, &mut |_| true);
        let Err(NoFiles::Failed(failure)) = filled else {
            panic!("{filled:?}");
        };
        assert_eq!((failure.exit, failure.id), (Exit::NoSpace, "AMQ2020E"));
        assert!(failure.line().contains("/dev/full"));
    }

    #[test]
    fn a_directory_without_room_is_refused_in_advance() {
        let dir = tempfile::tempdir().unwrap();
        let big = plan("--fileSize 1125899906842624 --numFiles 10", dir.path());
        let failure = check_room(&big).unwrap_err();
        assert_eq!(failure.exit, Exit::NoSpace);
        let shown = failure.to_string();
        assert!(
            shown.contains("need 11,258,999,068,426,240 bytes;"),
            "{shown}"
        );
        check_room(&plan("", dir.path())).unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "").unwrap();
        for place in [file, dir.path().join("missing")] {
            assert_eq!(
                check_room(&plan("", &place)).unwrap_err().exit,
                Exit::Unusable
            );
        }
    }

    #[test]
    fn a_file_system_without_direct_access_is_used_without() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        // (whether the file is there after the refusal, what is asked for next)
        for (there, next) in [(true, (false, false)), (false, (true, false))] {
            let asked = std::cell::RefCell::new(Vec::new());
            let open = |create: bool, direct: bool| {
                asked.borrow_mut().push((create, direct));
                if there {
                    std::fs::write(&path, "").unwrap();
                }
                match direct {
                    true => Err(Errno::INVAL),
                    false => Ok(()),
                }
            };
            let _ = std::fs::remove_file(&path);
            assert_eq!(make(&path, true, open), Ok(((), false)));
            assert_eq!(asked.into_inner(), [(true, true), next]);
        }
        let never = |_: bool, _: bool| Err::<(), Errno>(Errno::NOSPC);
        assert_eq!(make(&path, true, never), Err(Errno::NOSPC));
        let failure = write_failed(&path, 512, &Errno::INVAL.into());
        assert!(failure.to_string().contains("larger --alignment"));
    }
}
