//! A queue manager in the test's own process that has ended: when a successor has its files, and what is done to those still.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by a panic, in its helpers too"
)]

mod qm1;

use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use posthaste_env::{Disk, DiskInFront, Env, File, Open, os};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Md, Mqi, Name, Od, Pmo};
use posthaste_server::{
    DataDir, EndMode, Exit, InProcess, InProcessOptions, create, end, read_status,
};
use qm1::creation;

const TIMEOUT: Duration = Duration::from_secs(60);

fn created() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::at(folder.path());
    create(&os(), &data, &creation(), &mut |_, _| {}).unwrap();
    (folder, data)
}

/// Holds up forced writes, which are the log's.
#[derive(Default)]
struct Hold {
    held: Mutex<bool>,
    changed: Condvar,
}

impl Hold {
    fn set(&self, held: bool) {
        *self.held.lock() = held;
        self.changed.notify_all();
    }
}

struct HeldDisk {
    disk: Arc<dyn Disk>,
    hold: Arc<Hold>,
}

struct HeldFile {
    file: Arc<dyn File>,
    hold: Arc<Hold>,
}

impl File for HeldFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut held = self.hold.held.lock();
        while *held {
            self.hold.changed.wait(&mut held);
        }
        drop(held);
        self.file.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, n: u64) -> io::Result<()> {
        self.file.set_len(n)
    }
    fn allocate(&self, n: u64) -> io::Result<()> {
        self.file.allocate(n)
    }
    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.file.punch(offset, bytes)
    }
}

impl DiskInFront for HeldDisk {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        let file = self.disk.open(path, how)?;
        let hold = Arc::clone(&self.hold);
        Ok(match how.forced {
            true => Arc::new(HeldFile { file, hold }),
            false => file,
        })
    }
}

fn put_persistent(connection: &mut dyn Mqi) {
    let mut od = Od {
        object_name: Name::new("DEV.QUEUE.1"),
        ..Od::default()
    };
    let mut md = Md {
        persistence: MQPER_PERSISTENT,
        ..Md::default()
    };
    // It fails with the queue manager.
    let _ = connection.put1(&mut od, &mut md, &mut Pmo::default(), b"x");
}

/// Where a disk does not answer, the end says so, and by whom the files are held; a start is refused until it answers.
#[test]
fn an_end_says_who_holds_the_files() {
    let (_folder, data) = created();
    let hold = Arc::new(Hold::default());
    let env = Env {
        disk: Arc::new(HeldDisk {
            disk: os().disk,
            hold: Arc::clone(&hold),
        }),
        ..os()
    };
    let options = InProcessOptions::default();
    let qm = InProcess::open_in(&env, &data, "QM1", &options).unwrap();
    let mut connection = qm.connect("test").unwrap();
    hold.set(true);
    let putting = std::thread::spawn(move || put_persistent(&mut connection));
    let (sender, receiver) = mpsc::channel();
    let ending = std::thread::spawn(move || {
        sender.send(qm.end(EndMode::Preemptive)).unwrap();
    });
    let result = receiver.recv_timeout(TIMEOUT);
    let refused = InProcess::open(&data, "QM1", &options);
    hold.set(false);
    let failure = result.unwrap().unwrap_err();
    assert_eq!((failure.exit, failure.id), (Exit::TimedOut, "AMQ2090E"));
    let [name, holder] = &failure.inserts[..] else {
        panic!("{failure:?}");
    };
    assert_eq!(name, "QM1");
    assert!(holder.contains("the log"), "{holder}");
    let refused = refused.unwrap_err();
    assert_eq!((refused.exit, refused.id), (Exit::InUse, "AMQ2007E"));
    ending.join().unwrap();
    putting.join().unwrap();
    // It waits for the one before.
    let next = InProcess::open(&data, "QM1", &options).unwrap();
    next.end(EndMode::Controlled).unwrap();
}

/// What is left of a queue manager that was ended from elsewhere leaves the file of its successor alone.
#[test]
fn the_status_file_is_the_successors() {
    let (_folder, data) = created();
    let home = posthaste_server::find(&data, Some("QM1")).unwrap();
    let options = InProcessOptions::default();
    let first = InProcess::open(&data, "QM1", &options).unwrap();
    assert!(read_status(&home).is_some());
    end(&home, EndMode::Immediate).unwrap().wait(None).unwrap();
    let until = Instant::now() + TIMEOUT;
    while !first.has_ended() && Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(first.has_ended());
    assert_eq!(read_status(&home), None, "it has let the files go");
    let second = InProcess::open(&data, "QM1", &options).unwrap();
    drop(first);
    assert!(read_status(&home).is_some());
    second.end(EndMode::Immediate).unwrap();
    assert_eq!(read_status(&home), None);
}
