//! A disk that can be held up, filled and broken while a test looks on.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};
use posthaste_env::{Disk, DiskInFront, File, Open, assert_files_allowed};

pub struct Stage {
    /// Writes that should be forced go to the page cache like all others.
    pub unforced: bool,
    /// The log's writes wait.
    paused: Mutex<bool>,
    resumed: Condvar,
    /// Writes to queue files find the disk full.
    pub full: AtomicBool,
    /// Writes to queue files fail with this.
    pub unwritable: Mutex<Option<io::ErrorKind>>,
    /// Writes to the log fail.
    pub broken: AtomicBool,
    /// Log files cannot be made or grow.
    pub log_full: AtomicBool,
    /// No more queue files and images can be opened: the process has as many open as it may.
    pub no_descriptors: AtomicBool,
    /// No file can be removed.
    pub unremovable: AtomicBool,
    /// Syncs of queue files fail with this.
    pub unsyncable: Mutex<Option<io::ErrorKind>>,
    /// Whoever syncs a queue file panics.
    pub sync_panics: AtomicBool,
    /// Whoever writes to the log panics.
    pub log_panics: AtomicBool,
    /// Bytes written to queue files.
    pub queue_bytes: AtomicU64,
    /// The first block of this queue's file cannot be read: the device says that it failed.
    pub unreadable_head: Mutex<Option<&'static str>>,
    /// Reads from queue files.
    pub queue_reads: AtomicU64,
    /// As long as a test has it, no checkpoint image gets its name.
    pub images: Mutex<()>,
    /// Images that wait for theirs.
    pub images_held_up: AtomicU64,
    /// Checkpoint images from this number on find the disk full.
    pub no_image_from: AtomicU64,
    /// The file system says that it has no inodes.
    pub no_inodes: AtomicBool,
    /// The next item of so many bytes that replaces one of that length is lost: the disk says that it has written it.
    pub lose_over: Mutex<Option<u32>>,
    /// What is done when so many bytes, or more, are next written to a queue file in one call.
    pub on_queue_write: Mutex<Option<(usize, Hook)>>,
    /// What is done before a queue file is next read.
    pub on_queue_read: Mutex<Option<Hook>>,
}

impl Default for Stage {
    fn default() -> Self {
        Stage {
            unforced: false,
            paused: Mutex::default(),
            resumed: Condvar::default(),
            full: AtomicBool::default(),
            unwritable: Mutex::default(),
            broken: AtomicBool::default(),
            log_full: AtomicBool::default(),
            no_descriptors: AtomicBool::default(),
            unremovable: AtomicBool::default(),
            unsyncable: Mutex::default(),
            sync_panics: AtomicBool::default(),
            log_panics: AtomicBool::default(),
            queue_bytes: AtomicU64::default(),
            unreadable_head: Mutex::default(),
            queue_reads: AtomicU64::default(),
            images: Mutex::default(),
            images_held_up: AtomicU64::default(),
            no_image_from: AtomicU64::new(u64::MAX),
            no_inodes: AtomicBool::default(),
            lose_over: Mutex::default(),
            on_queue_write: Mutex::default(),
            on_queue_read: Mutex::default(),
        }
    }
}

/// The system's number for "too many open files".
const EMFILE: i32 = 24;
/// And for "the device failed".
const EIO: i32 = 5;

/// Something to be done once.
pub type Hook = Box<dyn FnOnce() + Send>;

impl Stage {
    /// From now on nothing is forced to the log.
    pub fn pause(&self) {
        *self.paused.lock() = true;
    }

    pub fn resume(&self) {
        *self.paused.lock() = false;
        self.resumed.notify_all();
    }

    fn wait(&self) {
        let mut paused = self.paused.lock();
        while *paused {
            self.resumed.wait(&mut paused);
        }
    }
}

struct Prop {
    file: Arc<dyn File>,
    stage: Arc<Stage>,
    forced: bool,
    queue: bool,
    name: String,
}

impl Prop {
    /// Whether this is the write that is to be lost.
    fn is_lost(&self, buf: &[u8], offset: u64) -> io::Result<bool> {
        let mut lose = self.stage.lose_over.lock();
        let Some(length) = *lose else {
            return Ok(false);
        };
        // Mark, length and block of an item.
        let mut there = [0; 12];
        self.file.read_at(&mut there, offset)?;
        let lost = buf.starts_with(&there) && there[4..8] == length.to_le_bytes();
        if lost {
            *lose = None;
        }
        Ok(lost)
    }
}

impl File for Prop {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        assert_files_allowed();
        if self.queue {
            self.stage.queue_reads.fetch_add(1, Ordering::SeqCst);
            let hook = self.stage.on_queue_read.lock().take();
            if let Some(hook) = hook {
                hook();
            }
            let named = |queue: &str| {
                self.name
                    .rsplit_once('.')
                    .is_some_and(|(of, _)| of == queue)
            };
            if offset < 512 && self.stage.unreadable_head.lock().is_some_and(named) {
                return Err(io::Error::from_raw_os_error(EIO));
            }
        }
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        assert_files_allowed();
        if self.forced {
            let panics = self.stage.log_panics.load(Ordering::SeqCst);
            assert!(!panics, "a write of the log panics on purpose");
            self.stage.wait();
            if self.stage.broken.load(Ordering::SeqCst) {
                return Err(io::Error::other("the stage is broken"));
            }
        }
        if self.queue {
            if self.stage.full.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            if let Some(kind) = *self.stage.unwritable.lock() {
                return Err(kind.into());
            }
            let hook = &self.stage.on_queue_write;
            let due = hook.lock().take_if(|(bytes, _)| buf.len() >= *bytes);
            if let Some((_, then)) = due {
                then();
            }
            if self.is_lost(buf, offset)? {
                return Ok(());
            }
            let bytes = &self.stage.queue_bytes;
            bytes.fetch_add(buf.len() as u64, Ordering::SeqCst);
        }
        self.file.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        assert_files_allowed();
        let panics = self.queue && self.stage.sync_panics.load(Ordering::SeqCst);
        assert!(!panics, "a sync panics on purpose");
        if self.queue
            && let Some(kind) = *self.stage.unsyncable.lock()
        {
            return Err(kind.into());
        }
        if self.stage.unforced {
            return Ok(());
        }
        self.file.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, n: u64) -> io::Result<()> {
        assert_files_allowed();
        self.file.set_len(n)
    }
    fn allocate(&self, n: u64) -> io::Result<()> {
        self.file.allocate(n)
    }
    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.file.punch(offset, bytes)
    }
}

/// A disk with a stage in front of it.
pub struct Staged {
    pub disk: Arc<dyn Disk>,
    pub stage: Arc<Stage>,
}

impl DiskInFront for Staged {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let queue = path.components().any(|c| c.as_os_str() == "queues");
        assert_files_allowed();
        let forced = how.forced;
        let makes = how.create || how.create_new;
        let log = path.components().any(|c| c.as_os_str() == "log");
        if makes && log && self.stage.log_full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if !log && self.stage.no_descriptors.load(Ordering::SeqCst) {
            return Err(io::Error::from_raw_os_error(EMFILE));
        }
        let how = Open {
            forced: forced && !self.stage.unforced,
            ..how
        };
        Ok(Arc::new(Prop {
            file: self.disk.open(path, how)?,
            stage: self.stage.clone(),
            forced,
            queue,
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let name = to.file_name().and_then(|name| name.to_str());
        let number = name.and_then(super::image_number);
        if number >= Some(self.stage.no_image_from.load(Ordering::SeqCst)) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if number.is_some() {
            self.stage.images_held_up.fetch_add(1, Ordering::SeqCst);
            drop(self.stage.images.lock());
            self.stage.images_held_up.fetch_sub(1, Ordering::SeqCst);
        }
        self.disk.rename(from, to)
    }

    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        match self.stage.no_inodes.load(Ordering::SeqCst) {
            true => Ok(Some(0)),
            false => self.disk.free_inodes(dir),
        }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        if self.stage.unremovable.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.disk.remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if self.stage.unforced {
            return Ok(());
        }
        self.disk.sync_dir(dir)
    }
}
