//! Files of the real machine.
//!
//! Invariants: nothing is buffered here; every handle is close-on-exec; interrupted calls are repeated;
//! short reads and writes are continued until done, end of file, or error. A file of forced writes (a log) and the name of
//! a file that is to be made durable get a descriptor where nobody else does: some are kept for them from the time that
//! the first of them was opened.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::aligned::{AlignedBuf, PAGE};
use crate::disk::{Disk, File, Lock, Open, check_forced, check_whole_pages};
use crate::no_files::assert_files_allowed;
use crate::own_lock::OwnLock;
use crate::spares::{Refill, Spares};

/// Message data is nobody else's business: owner may write, group may read.
const FILE_MODE: u32 = 0o640;
const DIRECTORY_MODE: u32 = 0o750;
/// Bytes written in one call where room has to be taken by writing.
const ZEROS: usize = 1 << 20;

/// The machine's file systems.
#[derive(Default)]
pub(crate) struct OsDisk {
    spares: Arc<Spares>,
}

struct OsFile {
    fd: OwnedFd,
    forced: bool,
    /// Past the page cache: the kernel, too, wants alignment.
    direct: bool,
    // Dropped last: the descriptor is free then.
    refill: Option<Refill>,
}

impl OsFile {
    fn open(path: &Path, how: Open) -> io::Result<OsFile> {
        let mut flags = OFlags::CLOEXEC;
        flags |= if how.read_only {
            OFlags::RDONLY
        } else {
            OFlags::RDWR
        };
        if how.create || how.create_new {
            flags |= OFlags::CREATE;
        }
        if how.create_new {
            flags |= OFlags::EXCL;
        }
        let open =
            |flags| retry_on_intr(|| rustix::fs::open(path, flags, Mode::from_raw_mode(FILE_MODE)));
        if !how.forced {
            let fd = open(flags)?;
            return Ok(OsFile {
                fd,
                forced: false,
                direct: false,
                refill: None,
            });
        }
        flags |= OFlags::DSYNC;
        match open(flags | OFlags::DIRECT) {
            Ok(fd) => Ok(OsFile {
                fd,
                forced: true,
                direct: true,
                refill: None,
            }),
            // The file system has no direct access. It says so after making the file, hence no EXCL the
            // second time: had the file been there before, the first call would have said EEXIST.
            Err(Errno::INVAL) => Ok(OsFile {
                fd: open(flags - OFlags::EXCL)?,
                forced: true,
                direct: false,
                refill: None,
            }),
            Err(other) => Err(other.into()),
        }
    }

    fn write_zeros(&self, from: u64, to: u64) -> io::Result<()> {
        let zeros = AlignedBuf::with_bytes(ZEROS);
        let mut at = from;
        while at < to {
            let count = usize::try_from(to - at).map_or(ZEROS, |rest| rest.min(ZEROS));
            self.write_at(zeros.get(..count).unwrap_or(&zeros), at)?;
            at += count as u64;
        }
        Ok(())
    }
}

impl File for OsFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        assert_files_allowed();
        if self.forced {
            check_forced(buf, offset)?;
        }
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            let count = retry_on_intr(|| rustix::io::pread(&self.fd, &mut *rest, at))?;
            done += count;
            // A direct read stops inside a page only at the end of the file, and must not be continued there.
            if count == 0 || (self.direct && !count.is_multiple_of(PAGE)) {
                break;
            }
        }
        Ok(done)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        assert_files_allowed();
        if self.forced {
            check_forced(buf, offset)?;
        }
        let mut done = 0;
        while let Some(rest) = buf.get(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            let count = retry_on_intr(|| rustix::io::pwrite(&self.fd, rest, at))?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            done += count;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        assert_files_allowed();
        Ok(retry_on_intr(|| rustix::fs::fdatasync(&self.fd))?)
    }

    fn len(&self) -> io::Result<u64> {
        let size = rustix::fs::fstat(&self.fd)?.st_size;
        u64::try_from(size).map_err(io::Error::other)
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        assert_files_allowed();
        Ok(retry_on_intr(|| rustix::fs::ftruncate(&self.fd, n))?)
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        assert_files_allowed();
        let length = self.len()?;
        if n <= length {
            return Ok(());
        }
        let how = FallocateFlags::empty();
        match retry_on_intr(|| rustix::fs::fallocate(&self.fd, how, length, n - length)) {
            // The file system cannot reserve; what is written takes room as well.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_zeros(length, n),
            allocated => Ok(allocated?),
        }
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        assert_files_allowed();
        check_whole_pages(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match retry_on_intr(|| rustix::fs::fallocate(&self.fd, how, offset, bytes)) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
            punched => Ok(punched?),
        }
    }
}

/// Held through the open file description, so a second handle in the same process is refused as well.
impl Lock for OwnLock {}

impl Disk for OsDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        assert_files_allowed();
        if !how.forced {
            return Ok(Arc::new(OsFile::open(path, how)?));
        }
        let mut file = self.spares.open(|| OsFile::open(path, how))?;
        self.spares.begin();
        file.refill = Some(Refill(Arc::clone(&self.spares)));
        Ok(Arc::new(file))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        assert_files_allowed();
        DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE)
            .create(dir)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        assert_files_allowed();
        std::fs::remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        assert_files_allowed();
        std::fs::remove_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        assert_files_allowed();
        std::fs::rename(from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        assert_files_allowed();
        let mut names = std::fs::read_dir(dir)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        assert_files_allowed();
        path.try_exists().unwrap_or(false)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        assert_files_allowed();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || {
            Ok(retry_on_intr(|| {
                rustix::fs::open(dir, flags, Mode::empty())
            })?)
        };
        let fd = self.spares.open(open)?;
        let synced = retry_on_intr(|| rustix::fs::fsync(&fd));
        drop(fd);
        self.spares.refill();
        Ok(synced?)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        loop {
            let fd = OsFile::open(path, Open::CREATE)?.fd;
            retry_on_intr(|| rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive))?;
            // Between open and lock the last holder may have removed the file (with the queue manager it
            // guarded). A lock on a file without a name guards nothing: take the present one.
            if rustix::fs::fstat(&fd)?.st_nlink > 0 {
                return Ok(Box::new(OwnLock::of(fd)));
            }
        }
    }

    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        assert_files_allowed();
        let system = rustix::fs::statvfs(dir)?;
        Ok(system.f_bavail.saturating_mul(system.f_frsize))
    }

    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        assert_files_allowed();
        let system = rustix::fs::statvfs(dir)?;
        Ok((system.f_files > 0).then_some(system.f_favail))
    }
}
