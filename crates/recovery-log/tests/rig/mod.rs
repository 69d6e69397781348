//! What the crash tests run on: a disk in memory that can lose power at any operation, and a driver that
//! runs the log's writer step by step on one thread.

#![allow(dead_code, unreachable_pub)]

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use posthaste_env::{Disk, Env, File, Lock, Open, check_forced, os};
use posthaste_recovery_log::{
    Appended, Class, Job, JobId, LogConfig, LogError, Lsn, PrepareJob, Record, RecoveryLog,
    Restart, Step, WritePolicy, Writer, create, open,
};

pub const SECTOR: usize = 512;

/// Which 512-byte sectors of a write reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    Nothing,
    All,
    First(usize),
    AllBut(usize),
    Odd,
    Even,
}

impl Torn {
    fn writes(self, sector: usize) -> bool {
        match self {
            Torn::Nothing => false,
            Torn::All => true,
            Torn::First(n) => sector < n,
            Torn::AllBut(n) => sector != n,
            Torn::Odd => sector % 2 == 1,
            Torn::Even => sector.is_multiple_of(2),
        }
    }
}

#[derive(Clone, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
}

type Inode = Arc<Mutex<Content>>;

#[derive(Default)]
struct State {
    names: BTreeMap<PathBuf, Inode>,
    durable_names: BTreeMap<PathBuf, Inode>,
    dirs: BTreeSet<PathBuf>,
    operations: u64,
    crash_at: Option<(u64, Torn)>,
    dead: bool,
    /// New files and growing files fail with "no space left".
    full: bool,
    /// Forced writes fail.
    broken: bool,
    unreadable: bool,
}

impl State {
    /// Counts a changing operation. `Some`: it is the last one, and this much of a write is done.
    fn count(&mut self) -> io::Result<Option<Torn>> {
        if self.dead {
            return Err(io::Error::other("the power is off"));
        }
        let number = self.operations;
        self.operations += 1;
        match self.crash_at {
            Some((at, torn)) if at == number => {
                self.dead = true;
                Ok(Some(torn))
            }
            _ => Ok(None),
        }
    }

    fn whole(&mut self) -> io::Result<()> {
        match self.count()? {
            None => Ok(()),
            Some(_) => Err(io::Error::other("the power went off")),
        }
    }
}

/// How a machine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The process dies; what is in the page cache stays.
    Kill,
    /// The machine dies; what was not forced is lost.
    Power,
}

#[derive(Clone, Default)]
pub struct MemDisk(Arc<Mutex<State>>);

impl MemDisk {
    pub fn new() -> Self {
        Self::default()
    }

    /// The same files after a stop, on a working disk.
    pub fn after(&self, stop: Stop) -> MemDisk {
        let state = self.0.lock().unwrap();
        let names = match stop {
            Stop::Kill => &state.names,
            Stop::Power => &state.durable_names,
        };
        // One copy for each inode, also if it has two names.
        let mut copies: Vec<(Inode, Inode)> = Vec::new();
        let mut copy = |inode: &Inode| -> Inode {
            if let Some((_, done)) = copies.iter().find(|(old, _)| Arc::ptr_eq(old, inode)) {
                return Arc::clone(done);
            }
            let old = inode.lock().unwrap().clone();
            let content = match stop {
                Stop::Kill => old,
                Stop::Power => Content {
                    now: old.durable.clone(),
                    durable: old.durable,
                },
            };
            let done = Arc::new(Mutex::new(content));
            copies.push((Arc::clone(inode), Arc::clone(&done)));
            done
        };
        let new_names: BTreeMap<_, _> = names.iter().map(|(p, i)| (p.clone(), copy(i))).collect();
        let durable_names = match stop {
            Stop::Power => new_names.clone(),
            Stop::Kill => state
                .durable_names
                .iter()
                .map(|(p, i)| (p.clone(), copy(i)))
                .collect(),
        };
        MemDisk(Arc::new(Mutex::new(State {
            names: new_names,
            durable_names,
            dirs: state.dirs.clone(),
            ..State::default()
        })))
    }

    pub fn env(&self) -> Env {
        Env {
            disk: Arc::new(self.clone()),
            ..os()
        }
    }

    pub fn crash_at(&self, operation: u64, torn: Torn) {
        let mut state = self.0.lock().unwrap();
        let at = state.operations + operation;
        state.crash_at = Some((at, torn));
    }

    pub fn is_dead(&self) -> bool {
        self.0.lock().unwrap().dead
    }

    pub fn operations(&self) -> u64 {
        self.0.lock().unwrap().operations
    }

    pub fn set_full(&self, full: bool) {
        self.0.lock().unwrap().full = full;
    }

    pub fn set_broken(&self, broken: bool) {
        self.0.lock().unwrap().broken = broken;
    }

    pub fn set_unreadable(&self, unreadable: bool) {
        self.0.lock().unwrap().unreadable = unreadable;
    }

    /// Changes a file behind everybody's back.
    pub fn edit(&self, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let state = self.0.lock().unwrap();
        let mut content = state.names[Path::new(path)].lock().unwrap();
        change(&mut content.now);
        content.durable = content.now.clone();
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        let state = self.0.lock().unwrap();
        let content = state.names[Path::new(path)].lock().unwrap();
        content.now.clone()
    }

    pub fn delete(&self, path: &str) {
        let mut state = self.0.lock().unwrap();
        state.names.remove(Path::new(path)).unwrap();
        state.durable_names.remove(Path::new(path));
    }

    /// Writes some sectors without counting; `cached` only into the page cache.
    fn scatter(inode: &Inode, buf: &[u8], offset: u64, torn: Torn, cached: bool) {
        let mut content = inode.lock().unwrap();
        let offset = offset as usize;
        let end = offset + buf.len();
        if content.now.len() < end {
            content.now.resize(end, 0);
        }
        if !cached && content.durable.len() < end {
            content.durable.resize(end, 0);
        }
        for (n, sector) in buf.chunks(SECTOR).enumerate() {
            if torn.writes(n) {
                let at = offset + n * SECTOR;
                content.now[at..at + sector.len()].copy_from_slice(sector);
                if !cached {
                    content.durable[at..at + sector.len()].copy_from_slice(sector);
                }
            }
        }
    }

    /// A write in flight when the machine stops.
    pub fn leave(&self, job: &Job, path: &str, extent_bytes: u64, torn: Torn, cached: bool) {
        let state = self.0.lock().unwrap();
        let inode = &state.names[Path::new(path)];
        Self::scatter(inode, job.bytes(), job.lsn().0 % extent_bytes, torn, cached);
    }
}

struct MemFile {
    disk: MemDisk,
    inode: Inode,
    how: Open,
}

impl File for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.disk.0.lock().unwrap();
        if state.dead || state.unreadable {
            return Err(io::Error::other("unreadable sector"));
        }
        if self.how.forced {
            check_forced(buf, offset)?;
        }
        let content = self.inode.lock().unwrap();
        let from = (offset as usize).min(content.now.len());
        let count = buf.len().min(content.now.len() - from);
        buf[..count].copy_from_slice(&content.now[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        assert!(!self.how.read_only);
        let mut state = self.disk.0.lock().unwrap();
        if self.how.forced {
            check_forced(buf, offset)?;
        }
        let grows = offset as usize + buf.len() > self.inode.lock().unwrap().now.len();
        if state.full && grows {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        if state.broken && self.how.forced {
            return Err(io::Error::other("medium error"));
        }
        let last = state.count()?;
        let cached = !self.how.forced;
        MemDisk::scatter(&self.inode, buf, offset, last.unwrap_or(Torn::All), cached);
        match last {
            None => Ok(()),
            Some(_) => Err(io::Error::other("the power went off")),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.0.lock().unwrap().whole()?;
        let mut content = self.inode.lock().unwrap();
        content.durable = content.now.clone();
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.inode.lock().unwrap().now.len() as u64)
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        self.disk.0.lock().unwrap().whole()?;
        self.inode.lock().unwrap().now.resize(n as usize, 0);
        Ok(())
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        let length = self.len()?.max(n);
        self.set_len(length)
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.disk.0.lock().unwrap().whole()?;
        let mut content = self.inode.lock().unwrap();
        let end = ((offset + bytes) as usize).min(content.now.len());
        content.now[end.min(offset as usize)..end].fill(0);
        Ok(())
    }
}

struct NoLock;
impl Lock for NoLock {}

impl Disk for MemDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let mut state = self.0.lock().unwrap();
        let found = state.names.get(path).cloned();
        let inode = match found {
            Some(_) if how.create_new => return Err(io::ErrorKind::AlreadyExists.into()),
            Some(inode) => inode,
            None if how.create || how.create_new => {
                state.whole()?;
                let inode = Inode::default();
                state.names.insert(path.to_owned(), Arc::clone(&inode));
                inode
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Arc::new(MemFile {
            disk: self.clone(),
            inode,
            how,
        }))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.0.lock().unwrap().dirs.insert(dir.to_owned());
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.whole()?;
        let removed = state.names.remove(path);
        removed.map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn remove_dir_all(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.whole()?;
        let inode = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        assert!(
            !state.names.contains_key(to),
            "an extent is renamed over another: {to:?}"
        );
        state.names.insert(to.to_owned(), inode);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let state = self.0.lock().unwrap();
        let of = |path: &PathBuf| -> Option<String> {
            (path.parent() == Some(dir)).then(|| path.file_name()?.to_str().map(str::to_owned))?
        };
        Ok(state.names.keys().filter_map(of).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.0.lock().unwrap();
        state.names.contains_key(path) || state.dirs.contains(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.whole()?;
        state
            .durable_names
            .retain(|path, _| path.parent() != Some(dir));
        let now: Vec<_> = state
            .names
            .iter()
            .filter(|(path, _)| path.parent() == Some(dir))
            .map(|(path, inode)| (path.clone(), Arc::clone(inode)))
            .collect();
        state.durable_names.extend(now);
        Ok(())
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn Lock>> {
        Ok(Box::new(NoLock))
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

pub const DIR: &str = "/log";
pub const EXTENT_PAGES: u32 = 64;
pub const EXTENT: u64 = EXTENT_PAGES as u64 * 4096;

pub fn extent_path(number: u64) -> String {
    format!("{DIR}/active/S{number:07}.LOG")
}

/// 64-page extents, 3 + 2 of them.
pub fn small() -> LogConfig {
    LogConfig {
        file_pages: EXTENT_PAGES,
        primary_files: 3,
        secondary_files: 2,
        ..LogConfig::default()
    }
}

pub fn flights() -> LogConfig {
    LogConfig {
        writes: WritePolicy {
            plain: false,
            max_flights: 4,
        },
        ..small()
    }
}

/// A disk with a new log.
pub fn fresh(config: &LogConfig) -> MemDisk {
    let disk = MemDisk::new();
    create(&disk, Path::new(DIR), config, &mut |_, _| {}).unwrap();
    disk
}

pub fn reopen(disk: &MemDisk, config: &LogConfig) -> Result<Restart, LogError> {
    open(&disk.env(), Path::new(DIR), config)
}

pub fn read_all(restart: &mut Restart) -> Result<Vec<Record>, LogError> {
    let mut records = Vec::new();
    while let Some(record) = restart.next()? {
        records.push(record);
    }
    Ok(records)
}

/// A payload that says which record it is, and is checked byte by byte.
pub fn payload(number: u64, length: usize) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    while bytes.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        bytes.push((state >> 33) as u8);
    }
    bytes.truncate(length);
    bytes
}

/// Polls once with a waker that does nothing.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

pub enum Out {
    Write(Job),
    Prepare(PrepareJob),
}

impl Out {
    pub fn id(&self) -> JobId {
        match self {
            Out::Write(job) => job.id(),
            Out::Prepare(job) => job.id(),
        }
    }
}

/// A running log whose writer is driven by hand.
pub struct Rig {
    pub log: RecoveryLog,
    pub writer: Writer,
    pub out: Vec<Out>,
    pub now: u64,
    /// How long each write takes in virtual time.
    pub write_time: u64,
    pub ended: bool,
}

impl Rig {
    pub fn new(restart: Restart) -> Result<Self, LogError> {
        let (log, writer) = restart.finish()?;
        Ok(Self {
            log,
            writer,
            out: Vec::new(),
            now: 1,
            write_time: 30_000,
            ended: false,
        })
    }

    /// Opens and reads to the end.
    pub fn start(disk: &MemDisk, config: &LogConfig) -> Result<(Self, Vec<Record>), LogError> {
        let mut restart = reopen(disk, config)?;
        let records = read_all(&mut restart)?;
        Ok((Self::new(restart)?, records))
    }

    /// Takes the jobs the writer will give now, without running them.
    pub fn take(&mut self) {
        loop {
            match self.writer.step(self.now) {
                Step::Write(job) => self.out.push(Out::Write(job)),
                Step::Prepare(job) => self.out.push(Out::Prepare(job)),
                Step::WaitUntil(at) => {
                    assert!(at > self.now, "the writer waits for the past");
                    self.now = at;
                }
                Step::Idle => return,
                Step::Ended => {
                    self.ended = true;
                    return;
                }
            }
        }
    }

    /// Runs one of the jobs that are out.
    pub fn run(&mut self, index: usize) {
        let out = self.out.remove(index);
        let started = self.now;
        self.now += self.write_time;
        let (id, result) = match out {
            Out::Write(job) => (job.id(), job.run()),
            Out::Prepare(job) => (job.id(), job.run()),
        };
        self.writer.complete(id, result, started, self.now);
    }

    /// Takes and runs until there is nothing more to do.
    pub fn pump(&mut self) {
        loop {
            self.take();
            if self.out.is_empty() {
                return;
            }
            self.run(0);
        }
    }

    pub fn append(&self, payload: &[u8]) -> Result<Appended, LogError> {
        self.log.append(Class::Ordinary, &[payload])
    }

    /// Forces and drives until it is done.
    pub fn force(&mut self, upto: Lsn) -> Result<(), LogError> {
        let mut force = self.log.force(upto);
        for _ in 0..10_000 {
            if let Some(result) = poll_once(&mut force) {
                return result.map(|forced| assert!(forced.covers(upto)));
            }
            self.pump();
        }
        panic!("the force of {upto} never ends");
    }

    pub fn commit(&mut self, payload: &[u8]) -> Result<Appended, LogError> {
        let at = self.append(payload)?;
        self.force(at.end)?;
        Ok(at)
    }
}

/// A small generator for reproducible randomness.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}
