//! The production driver on a real file system: many threads append and force at once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rig;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use posthaste_env::{Clock, Disk, DiskInFront, Env, Event, File, Nanos, Open, Sleep, block_on, os};
use posthaste_recovery_log::{
    Class, Driver, LogConfig, LogError, Lsn, RecoveryLog, Step, WritePolicy, Writer, create, drive,
    open,
};

/// Longer than anything that is waited for may take.
const LONG: Duration = Duration::from_secs(60);

/// Waits for another thread without sleeping, so that the next step comes close behind.
fn until(so: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !so() {
        assert!(Instant::now() < deadline, "another thread does not go on");
        std::hint::spin_loop();
    }
}

fn config() -> LogConfig {
    LogConfig {
        file_pages: 256,
        primary_files: 4,
        secondary_files: 8,
        buffer_pages: 64,
        ..LogConfig::default()
    }
}

fn start(env: &Env, dir: &Path, config: &LogConfig) -> (RecoveryLog, Driver, Vec<Vec<u8>>) {
    let mut restart = open(env, dir, config).unwrap();
    let mut found = Vec::new();
    while let Some(record) = restart.next().unwrap() {
        found.push(record.payload);
    }
    let (log, writer) = restart.finish().unwrap();
    let driver = drive(env, &log, writer).unwrap();
    (log, driver, found)
}

/// `threads` threads commit `count` records each, of mixed sizes, while another one moves the restart LSN.
fn stress(env: &Env, config: &LogConfig, threads: u64, count: u64) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("log");
    create(&*env.disk, &dir, config, &mut |_, _| {}).unwrap();
    let (log, driver, _) = start(env, &dir, config);
    let done = AtomicBool::new(false);
    let restart = AtomicU64::new(0);
    let committed = AtomicU64::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (log, committed) = (&log, &committed);
                scope.spawn(move || {
                    for n in 0..count {
                        block_on(log.room());
                        let length = if n % 17 == 3 {
                            150_000
                        } else {
                            50 + 40 * n % 3000
                        };
                        let mut bytes = vec![thread as u8; length as usize];
                        bytes[..16]
                            .copy_from_slice(&[thread.to_le_bytes(), n.to_le_bytes()].concat());
                        let (head, rest) = bytes.split_at(10);
                        let deadline = Instant::now() + LONG;
                        let at = loop {
                            assert!(Instant::now() < deadline, "no space was made");
                            match log.append(Class::Ordinary, &[head, rest]) {
                                Ok(at) => break at,
                                // The checkpointer below will make space.
                                Err(LogError::Full) => thread::yield_now(),
                                Err(error) => panic!("{error}"),
                            }
                        };
                        let forced = block_on(log.force(at.end)).unwrap();
                        assert!(forced.covers(at.end) && log.forced() >= at.end);
                        committed.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let checkpoint = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let at = log.append(Class::Essential, &[b"checkpoint here"]).unwrap();
                block_on(log.force(at.end)).unwrap();
                if log.usage().used > log.usage().primary / 2 {
                    log.advance(at.start, b"", false).unwrap();
                    restart.store(at.start.0, Ordering::Relaxed);
                }
            }
        });
        for worker in workers {
            worker.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        checkpoint.join().unwrap();
    });
    assert_eq!(committed.load(Ordering::Relaxed), threads * count);
    let last = log.appended();
    log.shut_down();
    driver.join().unwrap();
    assert!(log.forced() >= last && log.stopped().is_none());
    let counts = log.statistics();
    assert!(
        counts.commits > 0 && counts.write_nanos > 0 && counts.busy_share() <= 1.0,
        "{counts:?}"
    );

    // Read back: nothing damaged, each thread's records in order and without a gap.
    let (log, driver, found) = start(env, &dir, config);
    let mut next: Vec<Option<u64>> = vec![None; threads as usize];
    let mut seen = 0;
    for payload in found.iter().filter(|p| !p.starts_with(b"checkpoint")) {
        let word = |at: usize| u64::from_le_bytes(payload[at..at + 8].try_into().unwrap());
        let (thread, n) = (word(0), word(8));
        assert!(payload[16..].iter().all(|b| *b == thread as u8));
        let expected = &mut next[thread as usize];
        assert!(
            expected.is_none_or(|want| want == n),
            "thread {thread}: {n}"
        );
        *expected = Some(n + 1);
        seen += 1;
    }
    assert!(next.iter().flatten().all(|n| *n == count), "{next:?}");
    assert!(seen > 0 || restart.load(Ordering::Relaxed) > 0);
    log.shut_down();
    driver.join().unwrap();
}

#[test]
fn threads_on_a_real_file_system() {
    stress(&os(), &config(), 8, 250);
}

type OnWrite = Arc<dyn Fn() + Send + Sync>;

/// Calls something before every forced write, on the thread that writes.
struct Watched {
    disk: Arc<dyn Disk>,
    on_write: OnWrite,
}

struct WatchedFile {
    file: Arc<dyn File>,
    on_write: OnWrite,
}

impl File for WatchedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> std::io::Result<()> {
        (self.on_write)();
        self.file.write_at(buf, offset)
    }
    fn sync(&self) -> std::io::Result<()> {
        self.file.sync()
    }
    fn len(&self) -> std::io::Result<u64> {
        self.file.len()
    }
    fn set_len(&self, n: u64) -> std::io::Result<()> {
        self.file.set_len(n)
    }
    fn allocate(&self, n: u64) -> std::io::Result<()> {
        self.file.allocate(n)
    }
    fn punch(&self, offset: u64, bytes: u64) -> std::io::Result<()> {
        self.file.punch(offset, bytes)
    }
}

impl DiskInFront for Watched {
    fn behind(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, path: &Path, how: Open) -> std::io::Result<Arc<dyn File>> {
        let file = self.disk.open(path, how)?;
        if !how.forced {
            return Ok(file);
        }
        Ok(Arc::new(WatchedFile {
            file,
            on_write: Arc::clone(&self.on_write),
        }))
    }
}

fn watched(on_write: impl Fn() + Send + Sync + 'static) -> Env {
    let Env { disk, .. } = os();
    let on_write: OnWrite = Arc::new(on_write);
    Env {
        disk: Arc::new(Watched { disk, on_write }),
        ..os()
    }
}

/// Every forced write takes longer, as on a slow device.
fn slow(delay: Nanos) -> Env {
    let clock = os().clock;
    watched(move || {
        // This is the device's time, not a wait for anything.
        Event::new().wait(Some(clock.monotonic() + delay));
    })
}

/// A clock that moves on by a microsecond whenever somebody looks: every write is a fast one.
struct Fast(AtomicU64);

impl Clock for Fast {
    fn monotonic(&self) -> Nanos {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }
    fn wall_micros(&self) -> i64 {
        0
    }
    fn sleep_until(&self, at: Nanos) -> Sleep {
        os().clock.sleep_until(at)
    }
}

#[test]
fn a_lone_committer_on_a_fast_device_writes_itself() {
    let writers: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let seen = Arc::clone(&writers);
    let env = Env {
        clock: Arc::new(Fast(AtomicU64::new(1))),
        ..watched(move || seen.lock().unwrap().push(thread::current().id()))
    };
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("log");
    create(&*env.disk, &dir, &config(), &mut |_, _| {}).unwrap();
    let (log, driver, _) = start(&env, &dir, &config());
    // More than an extent: new ones are made ready meanwhile.
    for _ in 0..400 {
        let at = log.append(Class::Ordinary, &[&[7; 2000]]).unwrap();
        assert!(block_on(log.force(at.end)).unwrap().covers(at.end));
    }
    // Not all: the log's own thread writes the first one, and those it is awake for anyway.
    let me = thread::current().id();
    let here = writers
        .lock()
        .unwrap()
        .iter()
        .filter(|id| **id == me)
        .count();
    assert!(
        here > 200,
        "{here} of 400 commits were written by their committer"
    );
    assert_eq!(log.statistics().commits, 400);
    log.shut_down();
    driver.join().unwrap();
    let (log, driver, found) = start(&env, &dir, &config());
    assert_eq!(found.len(), 400);
    log.shut_down();
    driver.join().unwrap();
}

/// Whether the commit that failed was written on its committer's thread. On a busy machine the log's writer comes first at times.
fn fails_where_it_is_committed(panics: bool) -> bool {
    let armed = Arc::new(AtomicBool::new(false));
    let trap = Arc::clone(&armed);
    let env = Env {
        clock: Arc::new(Fast(AtomicU64::new(1))),
        ..watched(move || assert!(!trap.load(Ordering::Relaxed), "the planted panic"))
    };
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("log");
    create(&*env.disk, &dir, &config(), &mut |_, _| {}).unwrap();
    let (log, driver, _) = start(&env, &dir, &config());
    for _ in 0..10 {
        let at = log.append(Class::Ordinary, &[b"good"]).unwrap();
        block_on(log.force(at.end)).unwrap();
    }
    armed.store(panics, Ordering::Relaxed);
    let at = log.append(Class::Ordinary, &[b"the last"]).unwrap();
    let force = std::panic::AssertUnwindSafe(|| block_on(log.force(at.end)));
    let outcome = std::panic::catch_unwind(force);
    assert_eq!(!matches!(outcome, Ok(Ok(_))), panics);
    assert_eq!(log.stopped().is_some(), panics, "{:?}", log.stopped());
    armed.store(false, Ordering::Relaxed);
    log.shut_down();
    // Its writer has panicked, or not.
    let joined = driver.join();
    assert_eq!(joined.is_err(), panics && outcome.is_ok());
    outcome.is_err()
}

#[test]
fn a_write_that_fails_on_its_committers_thread_stops_the_log() {
    assert!(!fails_where_it_is_committed(false));
    assert!((0..100).any(|_| fails_where_it_is_committed(true)));
}

#[test]
fn threads_on_a_slow_device_with_writes_in_flight() {
    stress(&slow(800_000), &config(), 12, 60);
}

#[test]
fn threads_with_the_plain_policy() {
    let plain = LogConfig {
        writes: WritePolicy {
            plain: true,
            max_flights: 1,
        },
        ..config()
    };
    stress(&os(), &plain, 6, 100);
}

#[test]
fn a_log_that_is_stopped_while_threads_wait() {
    let env = os();
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("log");
    create(&*env.disk, &dir, &config(), &mut |_, _| {}).unwrap();
    let (log, driver, _) = start(&env, &dir, &config());
    thread::scope(|scope| {
        for _ in 0..4 {
            let log = &log;
            scope.spawn(move || {
                loop {
                    block_on(log.room());
                    let Ok(at) = log.append(Class::Ordinary, &[b"until it ends"]) else {
                        return;
                    };
                    // Appended before the end, so written before the end.
                    assert!(block_on(log.force(at.end)).is_ok());
                    if log.forced() > Lsn(100 * 4096) {
                        log.shut_down();
                    }
                }
            });
        }
    });
    driver.join().unwrap();
}

/// Asks the writer without a pause, so that it is always in the middle of deciding when the log is
/// shut down.
fn step_without_rest(env: &Env, mut writer: Writer) {
    loop {
        let now = env.clock.monotonic();
        let (id, result) = match writer.step(now) {
            Step::Write(job) => (job.id(), job.run()),
            Step::Prepare(job) => (job.id(), job.run()),
            Step::WaitUntil(_) | Step::Idle => continue,
            Step::Ended => return,
        };
        writer.complete(id, result, now, env.clock.monotonic());
    }
}

#[test]
fn what_was_accepted_while_the_log_was_shut_down_is_forced() {
    for _ in 0..300 {
        let disk = rig::fresh(&rig::small());
        let env = disk.env();
        let mut restart = rig::reopen(&disk, &rig::small()).unwrap();
        assert!(rig::read_all(&mut restart).unwrap().is_empty());
        let (log, writer) = restart.finish().unwrap();
        let go = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| step_without_rest(&env, writer));
            let appender = scope.spawn({
                let (log, go) = (&log, &go);
                move || {
                    go.store(true, Ordering::SeqCst);
                    while let Ok(at) = log.append(Class::Essential, &[b"the last one"]) {
                        assert!(block_on(log.force(at.end)).is_ok());
                    }
                }
            });
            until(|| go.load(Ordering::SeqCst));
            log.shut_down();
            appender.join().unwrap();
        });
        assert!(log.forced() >= log.appended());
    }
}

/// A committer that writes on its own thread has taken the place of the log's thread when the log is shut
/// down: the thread must end all the same.
#[test]
fn a_lone_committer_in_the_middle_of_a_shut_down_leaves_nobody_asleep() {
    for round in 0..400 {
        let disk = rig::fresh(&rig::small());
        let (log, driver, _) = start(&disk.env(), rig::DIR.as_ref(), &rig::small());
        thread::scope(|scope| {
            let committer = scope.spawn(|| {
                while let Ok(at) = log.append(Class::Essential, &[b"alone"]) {
                    assert!(block_on(log.force(at.end)).is_ok());
                }
            });
            until(|| log.forced() >= Lsn((5 + round % 7) * 4096));
            log.shut_down();
            committer.join().unwrap();
        });
        driver.join().unwrap();
        assert!(log.forced() >= log.appended() && log.stopped().is_none());
    }
}
