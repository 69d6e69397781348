//! The kernel's side of the volume: its calls, carried out on the simulated disk.
//!
//! Invariants:
//! * Nothing is cached by the kernel (no time to live, direct access), so every read and write of the server
//!   comes here.
//! * A call that the power cut met, or that comes after it, is answered only when the audit says so, and with EIO.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use posthaste_env::{AlignedBuf, File, Open};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno as Code;

use super::{Shared, State};

/// How long the kernel may rely on an answer.
const TTL: Duration = Duration::ZERO;
const BLOCK: u32 = 4096;
/// The kind of node in a mode, and that of sockets (`S_IFMT`, `S_IFSOCK`).
const KIND: u32 = 0o170_000;
const SOCKET: u32 = 0o140_000;
/// What asks for a hole: the length stays.
const HOLE: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

#[derive(Clone)]
struct Handle {
    file: Arc<dyn File>,
    forced: bool,
}

/// See the head of this file.
pub(super) struct Volume {
    shared: Arc<Shared>,
    handles: Mutex<BTreeMap<u64, Handle>>,
    next: AtomicU64,
    mounted_at: SystemTime,
    owner: (u32, u32),
}

fn error<T>(code: Code) -> io::Result<T> {
    Err(code.into())
}

fn flags_of(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags.cast_unsigned())
}

fn kind_of(state: &State, path: &Path) -> io::Result<FileType> {
    if state.tree.is_socket(path) {
        return Ok(FileType::Socket);
    }
    if state.mounted.list(path).is_ok() {
        return Ok(FileType::Directory);
    }
    state.mounted.open(path, Open::READ)?;
    Ok(FileType::RegularFile)
}

fn path_of(state: &State, node: INodeNo) -> io::Result<PathBuf> {
    match state.tree.path(node.0) {
        Some(path) => Ok(path.to_owned()),
        None => error(Code::NOENT),
    }
}

fn child_of(state: &State, parent: INodeNo, name: &OsStr) -> io::Result<PathBuf> {
    Ok(path_of(state, parent)?.join(name))
}

impl Volume {
    pub(super) fn new(shared: Arc<Shared>) -> Volume {
        Volume {
            shared,
            handles: Mutex::new(BTreeMap::new()),
            next: AtomicU64::new(1),
            mounted_at: SystemTime::now(),
            owner: (
                rustix::process::geteuid().as_raw(),
                rustix::process::getegid().as_raw(),
            ),
        }
    }

    /// Carries a call out, unless the power is off or goes meanwhile.
    fn call<T>(&self, what: impl FnOnce(&mut State) -> io::Result<T>) -> Result<T, Errno> {
        if !self.shared.has_power() {
            return Err(Errno::EIO);
        }
        let result = what(&mut self.shared.lock());
        match self.shared.has_power() {
            true => result.map_err(Errno::from),
            false => Err(Errno::EIO),
        }
    }

    fn handles(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Handle>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, number: FileHandle) -> io::Result<Handle> {
        match self.handles().get(&number.0) {
            Some(handle) => Ok(handle.clone()),
            None => error(Code::BADF),
        }
    }

    fn attributes(&self, state: &State, number: u64, path: &Path) -> io::Result<FileAttr> {
        let kind = kind_of(state, path)?;
        let size = match kind {
            FileType::RegularFile => state.mounted.open(path, Open::READ)?.len()?,
            _ => 0,
        };
        Ok(self.describe(state, number, kind, size))
    }

    /// Of a node, or of an open file: the name of that may be gone.
    fn attributes_of(
        &self,
        state: &State,
        node: INodeNo,
        open: Option<FileHandle>,
    ) -> io::Result<FileAttr> {
        match open {
            Some(open) => {
                let size = self.handle(open)?.file.len()?;
                Ok(self.describe(state, node.0, FileType::RegularFile, size))
            }
            None => self.attributes(state, node.0, &path_of(state, node)?),
        }
    }

    fn describe(&self, state: &State, number: u64, kind: FileType, size: u64) -> FileAttr {
        let usual = match kind {
            FileType::RegularFile => 0o640,
            _ => 0o700,
        };
        FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: self.mounted_at,
            mtime: self.mounted_at,
            ctime: self.mounted_at,
            crtime: self.mounted_at,
            kind,
            perm: state.tree.permissions(number).unwrap_or(usual),
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        }
    }

    fn entry(&self, state: &mut State, path: &Path) -> io::Result<FileAttr> {
        kind_of(state, path)?;
        let number = state.tree.number(path);
        self.attributes(state, number, path)
    }

    fn made(&self, state: &mut State, path: &Path, mode: u32, umask: u32) -> io::Result<FileAttr> {
        let number = state.tree.number(path);
        state.tree.permit(number, (mode & !umask & 0o7777) as u16);
        self.attributes(state, number, path)
    }

    /// Opens a file and keeps it under a number.
    fn keep(&self, state: &State, path: &Path, flags: OFlags, how: Open) -> io::Result<FileHandle> {
        let forced = flags.contains(OFlags::DSYNC);
        let read_only = flags.intersection(OFlags::RWMODE) == OFlags::RDONLY;
        let how = Open {
            forced,
            read_only,
            ..how
        };
        let file = state.mounted.open(path, how)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.handles().insert(number, Handle { file, forced });
        Ok(FileHandle(number))
    }

    fn write_through(&self, number: FileHandle, offset: u64, data: &[u8]) -> io::Result<u32> {
        let handle = self.handle(number)?;
        if handle.forced {
            let mut whole = AlignedBuf::with_bytes(data.len());
            match whole.len() == data.len() {
                true => whole.copy_from_slice(data),
                false => return error(Code::INVAL),
            }
            handle.file.write_at(&whole, offset)?;
        } else {
            handle.file.write_at(data, offset)?;
        }
        u32::try_from(data.len()).or(error(Code::INVAL))
    }

    fn read_through(&self, number: FileHandle, offset: u64, size: usize) -> io::Result<Vec<u8>> {
        let handle = self.handle(number)?;
        let mut data = AlignedBuf::with_bytes(size);
        let wanted = match handle.forced {
            true => data.len(),
            false => size,
        };
        let count = handle.file.read_at(&mut data[..wanted], offset)?;
        Ok(data[..count.min(size)].to_vec())
    }
}

fn remove_folder(state: &mut State, path: &Path) -> io::Result<()> {
    let inside = state.mounted.list(path)?.len() + state.tree.sockets_in(path).len();
    if inside > 0 {
        return error(Code::NOTEMPTY);
    }
    state.mounted.remove_dir_all(path)?;
    state.tree.remove(path);
    Ok(())
}

fn remove(state: &mut State, path: &Path) -> io::Result<()> {
    if !state.tree.is_socket(path) {
        state.mounted.remove_file(path)?;
    }
    state.tree.remove(path);
    Ok(())
}

fn empty(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(code) => reply.error(code),
    }
}

fn entry(reply: ReplyEntry, result: Result<FileAttr, Errno>) {
    match result {
        Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
        Err(code) => reply.error(code),
    }
}

impl Filesystem for Volume {
    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.call(|state| {
            let path = child_of(state, parent, name)?;
            self.entry(state, &path)
        });
        entry(reply, found);
    }

    fn forget(&self, _req: &Request, ino: INodeNo, _nlookup: u64) {
        self.shared.lock().tree.forget(ino.0);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.call(|state| self.attributes_of(state, ino, fh));
        match found {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(code) => reply.error(code),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let changed = self.call(|state| {
            if let Some(mode) = mode {
                state.tree.permit(ino.0, (mode & 0o7777) as u16);
            }
            match (size, fh) {
                (Some(size), Some(fh)) => self.handle(fh)?.file.set_len(size)?,
                (Some(size), None) => {
                    let path = path_of(state, ino)?;
                    state.mounted.open(&path, Open::READ_WRITE)?.set_len(size)?;
                }
                (None, _) => {}
            }
            self.attributes_of(state, ino, fh)
        });
        match changed {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(code) => reply.error(code),
        }
    }

    fn mknod(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _rdev: u32,
        reply: ReplyEntry,
    ) {
        let made = self.call(|state| {
            let path = child_of(state, parent, name)?;
            if mode & KIND != SOCKET {
                return error(Code::PERM);
            }
            if kind_of(state, &path).is_ok() {
                return error(Code::EXIST);
            }
            state.tree.add_socket(&path);
            self.made(state, &path, mode, umask)
        });
        entry(reply, made);
    }

    fn mkdir(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let made = self.call(|state| {
            let path = child_of(state, parent, name)?;
            if kind_of(state, &path).is_ok() {
                return error(Code::EXIST);
            }
            state.mounted.create_dir_all(&path)?;
            self.made(state, &path, mode, umask)
        });
        entry(reply, made);
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.call(|state| {
            let path = child_of(state, parent, name)?;
            remove(state, &path)
        });
        empty(reply, removed);
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.call(|state| {
            let path = child_of(state, parent, name)?;
            remove_folder(state, &path)
        });
        empty(reply, removed);
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let renamed = self.call(|state| {
            let from = child_of(state, parent, name)?;
            let to = child_of(state, newparent, newname)?;
            if flags.contains(RenameFlags::RENAME_NOREPLACE) && kind_of(state, &to).is_ok() {
                return error(Code::EXIST);
            }
            if !state.tree.is_socket(&from) {
                state.mounted.rename(&from, &to)?;
            }
            state.tree.rename(&from, &to);
            Ok(())
        });
        empty(reply, renamed);
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened = self.call(|state| {
            let path = path_of(state, ino)?;
            let read_only = flags.acc_mode() == OpenAccMode::O_RDONLY;
            let how = Open {
                read_only,
                ..Open::READ_WRITE
            };
            self.keep(state, &path, flags_of(flags.0), how)
        });
        match opened {
            Ok(handle) => reply.opened(handle, FopenFlags::FOPEN_DIRECT_IO),
            Err(code) => reply.error(code),
        }
    }

    fn create(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let made = self.call(|state| {
            let path = child_of(state, parent, name)?;
            let flags = flags_of(flags);
            let how = match flags.contains(OFlags::EXCL) {
                true => Open::CREATE_NEW,
                false => Open::CREATE,
            };
            let handle = self.keep(state, &path, flags, how)?;
            Ok((self.made(state, &path, mode, umask)?, handle))
        });
        match made {
            Ok((attributes, handle)) => reply.created(
                &TTL,
                &attributes,
                Generation(0),
                handle,
                FopenFlags::FOPEN_DIRECT_IO,
            ),
            Err(code) => reply.error(code),
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.call(|_| self.read_through(fh, offset, size as usize)) {
            Ok(data) => reply.data(&data),
            Err(code) => reply.error(code),
        }
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.call(|_| self.write_through(fh, offset, data)) {
            Ok(written) => reply.written(written),
            Err(code) => reply.error(code),
        }
    }

    fn flush(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn release(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        let handle = self.handles().remove(&fh.0);
        drop(handle);
        reply.ok();
    }

    fn fsync(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        empty(reply, self.call(|_| self.handle(fh)?.file.sync()));
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.call(|state| {
            let folder = path_of(state, ino)?;
            let mut names = state.mounted.list(&folder)?;
            names.extend(state.tree.sockets_in(&folder));
            let mut all = Vec::new();
            for name in names {
                let path = folder.join(&name);
                let kind = kind_of(state, &path)?;
                all.push((state.tree.number(&path), kind, name));
            }
            Ok(all)
        });
        let all = match listed {
            Ok(all) => all,
            Err(code) => return reply.error(code),
        };
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        for (next, (number, kind, name)) in (1..).zip(all).skip(skip) {
            if reply.add(INodeNo(number), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        let synced = self.call(|state| {
            let folder = path_of(state, ino)?;
            state.mounted.sync_dir(&folder)
        });
        empty(reply, synced);
    }

    fn fallocate(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = self.call(|_| {
            let file = self.handle(fh)?.file;
            match FallocateFlags::from_bits_retain(mode.cast_unsigned()) {
                how if how.is_empty() => file.allocate(offset.saturating_add(length)),
                how if how == HOLE => file.punch(offset, length),
                _ => error(Code::OPNOTSUPP),
            }
        });
        empty(reply, done);
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        match self.call(|state| state.mounted.free_bytes(Path::new("/"))) {
            Ok(free) => {
                let blocks = free / u64::from(BLOCK);
                reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, BLOCK, 255, BLOCK);
            }
            Err(code) => reply.error(code),
        }
    }
}
