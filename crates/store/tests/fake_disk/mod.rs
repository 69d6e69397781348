//! A disk in memory that counts, has a limit, and fails when told to.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use parking_lot::Mutex;
use posthaste_env::{Disk, File, Lock, Open, PAGE};

const BLOCK: usize = 512;

#[derive(Default)]
struct Knobs {
    /// Bytes that may still be written; `None` has no limit.
    room: Mutex<Option<u64>>,
    refuse_extension: AtomicBool,
    /// The file system cannot punch holes.
    refuse_holes: AtomicBool,
    /// The file system's tables have room for so many holes more.
    holes: Mutex<Option<u64>>,
    /// What is done inside the next change of a length.
    on_set_len: Mutex<Option<Hook>>,
    fail_sync: Mutex<Option<io::ErrorKind>>,
    fail_dir_sync: Mutex<Option<io::ErrorKind>>,
    reads: AtomicU64,
    writes: AtomicU64,
    dir_syncs: AtomicU64,
}

/// Something to be done once.
type Hook = Box<dyn FnOnce() + Send>;

/// The disk.
#[derive(Default)]
pub(crate) struct FakeDisk {
    files: Mutex<BTreeMap<PathBuf, Arc<FakeFile>>>,
    knobs: Arc<Knobs>,
}

struct FakeFile {
    bytes: Mutex<Vec<u8>>,
    /// Blocks that have been written, and so are paid for.
    held: Mutex<BTreeSet<usize>>,
    knobs: Arc<Knobs>,
}

impl FakeDisk {
    pub(crate) fn set_room(&self, bytes: u64) {
        *self.knobs.room.lock() = (bytes != u64::MAX).then_some(bytes);
    }

    pub(crate) fn refuse_extension(&self, yes: bool) {
        self.knobs.refuse_extension.store(yes, SeqCst);
    }

    pub(crate) fn refuse_holes(&self, yes: bool) {
        self.knobs.refuse_holes.store(yes, SeqCst);
    }

    pub(crate) fn allow_holes(&self, count: Option<u64>) {
        *self.knobs.holes.lock() = count;
    }

    pub(crate) fn on_set_len(&self, hook: impl FnOnce() + Send + 'static) {
        *self.knobs.on_set_len.lock() = Some(Box::new(hook));
    }

    /// Bytes of the file that room was taken for.
    pub(crate) fn held(&self, path: &Path) -> u64 {
        (self.files.lock()[path].held.lock().len() * BLOCK) as u64
    }

    pub(crate) fn fail_sync(&self, with: Option<io::ErrorKind>) {
        *self.knobs.fail_sync.lock() = with;
    }

    pub(crate) fn fail_dir_sync(&self, with: Option<io::ErrorKind>) {
        *self.knobs.fail_dir_sync.lock() = with;
    }

    pub(crate) fn reads(&self) -> u64 {
        self.knobs.reads.load(SeqCst)
    }

    pub(crate) fn writes(&self) -> u64 {
        self.knobs.writes.load(SeqCst)
    }

    pub(crate) fn dir_syncs(&self) -> u64 {
        self.knobs.dir_syncs.load(SeqCst)
    }

    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        self.files.lock()[path].bytes.lock().clone()
    }

    pub(crate) fn flip(&self, path: &Path, offset: u64) {
        self.files.lock()[path].bytes.lock()[offset as usize] ^= 1;
    }
}

impl FakeFile {
    /// These blocks hold nothing any more.
    fn give_back(&self, blocks: std::ops::Range<usize>) {
        let mut held = self.held.lock();
        let before = held.len();
        held.retain(|block| !blocks.contains(block));
        if let Some(room) = self.knobs.room.lock().as_mut() {
            *room += ((before - held.len()) * BLOCK) as u64;
        }
    }
}

impl File for FakeFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.knobs.reads.fetch_add(1, SeqCst);
        let bytes = self.bytes.lock();
        let rest = bytes.get(offset as usize..).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.knobs.writes.fetch_add(1, SeqCst);
        let mut bytes = self.bytes.lock();
        let mut held = self.held.lock();
        let mut room = self.knobs.room.lock();
        let end = offset as usize + buf.len();
        let touched = offset as usize / BLOCK..end.div_ceil(BLOCK);
        let new: Vec<usize> = touched.filter(|block| !held.contains(block)).collect();
        let cost = (new.len() * BLOCK) as u64;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if let Some(room) = room.as_mut() {
            if cost > *room {
                // As a real one does, it may have taken a part.
                let half = buf.len() / 2;
                let from = offset as usize;
                bytes[from..from + half].copy_from_slice(&buf[..half]);
                return Err(io::ErrorKind::StorageFull.into());
            }
            *room -= cost;
        }
        held.extend(new);
        bytes[offset as usize..end].copy_from_slice(buf);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.knobs
            .fail_sync
            .lock()
            .map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().len() as u64)
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        let hook = self.knobs.on_set_len.lock().take();
        if let Some(hook) = hook {
            hook();
        }
        let mut bytes = self.bytes.lock();
        if n > bytes.len() as u64 && self.knobs.refuse_extension.load(SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        bytes.resize(n as usize, 0);
        drop(bytes);
        self.give_back((n as usize).div_ceil(BLOCK)..usize::MAX);
        Ok(())
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        let from = self.len()?;
        let mut at = from;
        while at < n {
            self.write_at(&[0; BLOCK], at)
                .inspect_err(|_| self.bytes.lock().truncate(at as usize))?;
            at += BLOCK as u64;
        }
        Ok(())
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if self.knobs.refuse_holes.load(SeqCst) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if let Some(holes) = self.knobs.holes.lock().as_mut() {
            *holes = holes.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        }
        let whole = (offset as usize).div_ceil(PAGE)..(offset + bytes) as usize / PAGE;
        let mut content = self.bytes.lock();
        for page in whole {
            let end = ((page + 1) * PAGE).min(content.len());
            content[(page * PAGE).min(end)..end].fill(0);
            self.give_back(page * PAGE / BLOCK..(page + 1) * PAGE / BLOCK);
        }
        Ok(())
    }
}

struct NoLock;
impl Lock for NoLock {}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Disk for FakeDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(path) {
            return Ok(file.clone());
        }
        if !how.create {
            return Err(missing());
        }
        let file = Arc::new(FakeFile {
            bytes: Mutex::default(),
            held: Mutex::default(),
            knobs: self.knobs.clone(),
        });
        files.insert(path.to_owned(), file.clone());
        Ok(file)
    }

    fn create_dir_all(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.files.lock().remove(path).map(drop).ok_or_else(missing)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.files.lock().retain(|path, _| !path.starts_with(dir));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = files.remove(from).ok_or_else(missing)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let files = self.files.lock();
        let here = files.keys().filter(|path| path.parent() == Some(dir));
        Ok(here
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
            .collect())
    }

    fn exists(&self, path: &Path) -> bool {
        self.files.lock().contains_key(path)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.knobs.dir_syncs.fetch_add(1, SeqCst);
        let fails = *self.knobs.fail_dir_sync.lock();
        fails.map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn Lock>> {
        Ok(Box::new(NoLock))
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(self.knobs.room.lock().unwrap_or(u64::MAX))
    }
}
