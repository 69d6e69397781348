//! The files of a disk test: made and filled before it, removed after it whatever happens.
//!
//! Invariants:
//! * A file that was there before is never touched: files are made with `O_EXCL`.
//! * Every file made is in the list of [`TestFiles`] before its first byte is written, and removed when
//!   that is dropped, or by [`Removal::now`] if the process has to leave at once.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_server::{Exit, Failure};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::forced::AlignedMemory;
use super::options::DiskTestArgs;
use crate::quantity::grouped;
use crate::terminal::note;

/// Bytes written at once when files are filled.
const FILLING: usize = 1 << 20;
/// Descriptors of all else than test files, generously.
const OTHERS: u64 = 32;

/// Names of files that must go.
#[derive(Clone, Debug, Default)]
pub(super) struct Removal {
    paths: Arc<Mutex<Vec<PathBuf>>>,
}

impl Removal {
    /// Removes them all, and says which stayed.
    pub(super) fn now(&self) {
        for path in std::mem::take(&mut *self.paths.lock()) {
            if let Err(error) = std::fs::remove_file(&path) {
                note(&format!("{} was not removed: {error}\n", path.display()));
            }
        }
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

/// A file, open as that of a recovery log is.
#[derive(Debug)]
pub(super) struct TestFile {
    pub(super) path: PathBuf,
    pub(super) open: File,
}

/// Files that are there, filled, until this is dropped.
#[derive(Debug)]
pub(super) struct TestFiles {
    /// Those of each queue manager.
    pub(super) of_each: Vec<Vec<TestFile>>,
    /// Whether the file system has direct access.
    pub(super) direct: bool,
    removal: Removal,
}

impl Drop for TestFiles {
    fn drop(&mut self) {
        self.removal.now();
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
pub(super) fn check_room(args: &DiskTestArgs) -> Result<(), Failure> {
    let dir = &args.dir;
    check_directory(dir)?;
    let refused = |error: Errno| Failure::io(dir, &error.into());
    let system = rustix::fs::statvfs(dir).map_err(refused)?;
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let wanted = args.all_bytes();
    // A file system without a size (ramfs, some network ones) has none to compare with.
    if system.f_blocks == 0 || wanted <= free {
        return Ok(());
    }
    let detail = format!(
        "{} files of {} bytes need {} bytes; {} are free.",
        grouped(u64::from(args.files) * u64::from(args.queue_managers)),
        grouped(args.file_size),
        grouped(wanted),
        grouped(free)
    );
    let shown = dir.display().to_string();
    Err(Failure::new(Exit::NoSpace, "AMQ2020E", &[&shown]).with_detail(detail))
}

/// Refuses more files than this process may have open, before the first of them is made.
pub(super) fn check_descriptors(args: &DiskTestArgs) -> Result<(), Failure> {
    let files = u64::from(args.files) * u64::from(args.queue_managers);
    match posthaste_env::descriptor_limit() {
        Some(limit) if files + OTHERS > limit => {
            let why = format!(
                "{} files and what else is open are more than this process may have open: {} (ulimit -n)",
                grouped(files),
                grouped(limit)
            );
            Err(Failure::bad_parameter(why))
        }
        _ => Ok(()),
    }
}

/// Makes and fills the files. `progress` hears how many bytes of how many are there, and says whether
/// to go on.
pub(super) fn create(
    args: &DiskTestArgs,
    removal: &Removal,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Result<TestFiles, NoFiles> {
    let mut files = TestFiles {
        of_each: Vec::new(),
        direct: true,
        removal: removal.clone(),
    };
    let memory = AlignedMemory::new(FILLING.max(args.alignment), args.alignment);
    let (mut done, all) = (0, args.all_bytes());
    for queue_manager in 1..=args.queue_managers {
        let mut own = Vec::new();
        for number in 1..=args.files {
            let path = args.path(queue_manager, number);
            let made = make(&path, files.direct, open);
            let (open, direct) = made.map_err(|error| refused(&path, &error))?;
            files.direct = direct;
            removal.paths.lock().push(path.clone());
            let filled = fill(&open, args, memory.bytes(), &mut |bytes| {
                done += bytes;
                progress(done, all)
            });
            match filled {
                Ok(true) => own.push(TestFile { path, open }),
                Ok(false) => return Err(NoFiles::Interrupted),
                Err(error) => return Err(write_failed(&path, args.alignment, &error).into()),
            }
        }
        files.of_each.push(own);
    }
    Ok(files)
}

/// Opens a file as a recovery log is opened; `create`: it must not be there yet.
fn open(path: &Path, create: bool, direct: bool) -> io::Result<File> {
    let mut flags = OFlags::DSYNC;
    flags.set(OFlags::DIRECT, direct);
    let mut options = File::options();
    options.read(true).write(true).create_new(create);
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Makes a file for direct access, or without where the file system has none: the file and which.
fn make<F>(
    path: &Path,
    direct: bool,
    open: impl Fn(&Path, bool, bool) -> io::Result<F>,
) -> io::Result<(F, bool)> {
    match open(path, true, direct) {
        // A file system without direct access may say so after it has made the file.
        Err(error) if direct && error.kind() == ErrorKind::InvalidInput => {
            let there = path.exists();
            let file = open(path, !there, false).inspect_err(|_| {
                // It is ours and in no list yet.
                let _ = there.then(|| std::fs::remove_file(path));
            });
            file.map(|file| (file, false))
        }
        other => other.map(|file| (file, direct)),
    }
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::bad_parameter(format!(
            "{} is there already, perhaps from a test that was killed; remove it or name another --filePrefix",
            path.display()
        )),
        _ => Failure::io(path, error),
    }
}

/// Writes a file through to its full length; `false`: ended before.
fn fill(
    file: &File,
    args: &DiskTestArgs,
    memory: &[u8],
    progress: &mut dyn FnMut(u64) -> bool,
) -> io::Result<bool> {
    // Whole blocks only are ever written, so what is left over behind them need not be filled.
    let rest = args.file_size % args.alignment as u64;
    let whole = args.file_size - rest;
    let mut offset = 0;
    while offset < whole {
        let left = usize::try_from(whole - offset).unwrap_or(usize::MAX);
        let bytes = memory.get(..left.min(memory.len())).unwrap_or(memory);
        file.write_all_at(bytes, offset)?;
        offset += bytes.len() as u64;
        if !progress(bytes.len() as u64) {
            return Ok(false);
        }
    }
    if rest > 0 {
        file.set_len(args.file_size)?;
        progress(rest);
    }
    Ok(true)
}

/// A write that was refused, with what can be done about it.
pub(super) fn write_failed(path: &Path, alignment: usize, error: &io::Error) -> Failure {
    let failure = Failure::io(path, error);
    match error.kind() {
        ErrorKind::InvalidInput => failure.with_detail(format!(
            "The device takes no direct writes that are aligned to {alignment} bytes: try a larger --alignment."
        )),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::args;
    use super::*;

    /// A folder, and the options of a test there.
    fn folder(line: &str) -> (tempfile::TempDir, DiskTestArgs) {
        let folder = tempfile::tempdir().unwrap();
        let mut args = args(line);
        args.dir = folder.path().to_owned();
        (folder, args)
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_full_and_go_again() {
        let line = "--fileSize 1060000 --numFiles 2 --qm 2 --filePrefix t";
        let (folder, args) = folder(line);
        let mut last = (0, 0);
        let files = create(&args, &Removal::default(), |done, all| {
            assert!(done > last.0);
            last = (done, all);
            true
        });
        let files = files.unwrap();
        assert_eq!(last, (4 * 1_060_000, 4 * 1_060_000));
        let all = ["t_qm1_1", "t_qm1_2", "t_qm2_1", "t_qm2_2"];
        assert_eq!(
            (names(folder.path()), files.of_each.len()),
            (all.map(str::to_owned).into(), 2)
        );
        for file in files.of_each.iter().flatten() {
            let bytes = std::fs::read(&file.path).unwrap();
            assert_eq!(bytes.len(), 1_060_000);
            let page = &bytes[1_048_576..1_048_576 + 2048];
            assert!(page.iter().any(|byte| *byte != 0));
        }
        drop(files);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn an_interruption_and_a_refusal_leave_nothing_of_ours() {
        let (folder, args) = folder("--fileSize 4194304 --bsize 4K --filePrefix t");
        let mut calls = 0;
        let ended = create(&args, &Removal::default(), |_, _| {
            calls += 1;
            calls < 6
        });
        assert!(matches!(ended, Err(NoFiles::Interrupted)));
        assert_eq!((calls, names(folder.path()).len()), (6, 0));

        let others = folder.path().join("t3");
        std::fs::write(&others, "somebody's").unwrap();
        let refused = create(&args, &Removal::default(), |_, _| true);
        let Err(NoFiles::Failed(failure)) = refused else {
            panic!("{refused:?}");
        };
        assert!(failure.line().contains("t3 is there already"));
        assert_eq!(names(folder.path()), ["t3"]);
        assert_eq!(std::fs::read(&others).unwrap(), b"somebody's");
    }

    #[test]
    fn a_disk_that_fills_up_meanwhile_is_told() {
        // A device that is always full.
        let full = Path::new("/dev/full");
        let file = open(full, false, false).unwrap();
        let memory = AlignedMemory::new(8192, 4096);
        let error = fill(&file, &args(""), memory.bytes(), &mut |_| true).unwrap_err();
        let failure = write_failed(full, 4096, &error);
        assert_eq!((failure.exit, failure.id), (Exit::NoSpace, "AMQ2020E"));
        assert!(failure.line().contains("/dev/full"));
        let failure = write_failed(full, 512, &Errno::INVAL.into());
        assert!(failure.to_string().contains("larger --alignment"));
    }

    #[test]
    fn a_file_system_without_direct_access_is_used_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        // (whether the file is there after the refusal, what is asked for next)
        for (there, next) in [(true, (false, false)), (false, (true, false))] {
            let asked = std::cell::RefCell::new(Vec::new());
            let open = |_: &Path, create: bool, direct: bool| {
                asked.borrow_mut().push((create, direct));
                if there {
                    std::fs::write(&path, "").unwrap();
                }
                match direct {
                    true => Err(Errno::INVAL.into()),
                    false => Ok(()),
                }
            };
            let _ = std::fs::remove_file(&path);
            assert_eq!(make(&path, true, open).unwrap(), ((), false));
            assert_eq!(asked.into_inner(), [(true, true), next]);
        }
        let never = |_: &Path, _: bool, _: bool| Err::<(), _>(ErrorKind::StorageFull.into());
        let failed = make(&path, true, never).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::StorageFull);
    }
}
