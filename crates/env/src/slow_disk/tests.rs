//! The waits of a slow disk, on a clock that the test moves; the files are real.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use super::*;
use crate::aligned::{AlignedBuf, PAGE};
use crate::os::os;
use tempfile::TempDir;

const US: Nanos = 1_000;

/// A clock that stands still but for the waits: each is written down and moves it, unless `still`.
struct Fake {
    now: Mutex<Nanos>,
    waits: Mutex<Vec<Nanos>>,
    still: bool,
}

impl Fake {
    fn new(still: bool) -> Arc<Fake> {
        Arc::new(Fake {
            now: Mutex::new(1_000_000),
            waits: Mutex::new(Vec::new()),
            still,
        })
    }

    fn pass(&self, nanos: Nanos) {
        *self.now.lock() += nanos;
    }

    /// Ends of the waits since the last call, after the beginning of the world.
    fn waits(&self) -> Vec<Nanos> {
        let waits = std::mem::take(&mut *self.waits.lock());
        waits.iter().map(|at| at - 1_000_000).collect()
    }
}

impl Time for Fake {
    fn now(&self) -> Nanos {
        *self.now.lock()
    }

    fn wait_until(&self, at: Nanos) {
        self.waits.lock().push(at);
        if !self.still {
            let mut now = self.now.lock();
            *now = at.max(*now);
        }
    }
}

fn slow(latency_us: u64, bandwidth: u64, time: &Arc<Fake>) -> (Arc<dyn Disk>, TempDir) {
    let slowness = Slowness {
        latency: Duration::from_micros(latency_us),
        bandwidth: NonZeroU64::new(bandwidth),
    };
    let time: Arc<dyn Time> = time.clone();
    let disk = slow_disk_with(os().disk, slowness, time);
    (disk, TempDir::new().unwrap())
}

#[test]
fn every_forced_write_and_sync_waits_and_nothing_else_does() {
    let time = Fake::new(false);
    let (disk, dir) = slow(100, 0, &time);
    let page = AlignedBuf::with_pages(1);
    let forced = disk.open(&dir.path().join("f"), Open::FORCED_CREATE_NEW);
    let forced = forced.unwrap();
    assert_eq!(time.waits(), []);
    forced.write_at(&page, 0).unwrap();
    assert_eq!(time.waits(), [100 * US]);
    forced.write_at(&page, PAGE as u64).unwrap();
    assert_eq!(time.waits(), [200 * US]);
    forced.sync().unwrap();
    assert_eq!(time.waits(), [300 * US]);
    disk.sync_dir(dir.path()).unwrap();
    assert_eq!(time.waits(), [400 * US]);

    let plain = disk.open(&dir.path().join("p"), Open::CREATE).unwrap();
    plain.write_at(b"abc", 0).unwrap();
    plain.set_len(2).unwrap();
    let mut buf = [0; 2];
    assert_eq!(plain.read_at(&mut buf, 0).unwrap(), 2);
    assert_eq!(&buf, b"ab");
    assert_eq!(plain.len().unwrap(), 2);
    assert_eq!(time.waits(), []);
    plain.sync().unwrap();
    assert_eq!(time.waits(), [500 * US]);
}

#[test]
fn latency_of_calls_at_one_time_is_not_added_up() {
    // The clock stands still, so the calls are all at one time.
    let time = Fake::new(true);
    let (disk, dir) = slow(100, 0, &time);
    let page = AlignedBuf::with_pages(1);
    let file = disk
        .open(&dir.path().join("f"), Open::FORCED_CREATE)
        .unwrap();
    for _ in 0..3 {
        file.write_at(&page, 0).unwrap();
    }
    assert_eq!(time.waits(), [100 * US; 3]);
}

#[test]
fn bandwidth_is_shared_by_all_files() {
    let time = Fake::new(true);
    // A page a millisecond, and 100 µs.
    let (disk, dir) = slow(100, 1_000 * PAGE as u64, &time);
    let open = |name| {
        disk.open(&dir.path().join(name), Open::FORCED_CREATE)
            .unwrap()
    };
    let (first, second) = (open("a"), open("b"));
    first.write_at(&AlignedBuf::with_pages(1), 0).unwrap();
    second.write_at(&AlignedBuf::with_pages(2), 0).unwrap();
    first.write_at(&AlignedBuf::with_pages(1), 0).unwrap();
    assert_eq!(time.waits(), [1_100 * US, 3_100 * US, 4_100 * US]);
    // Unused time is not saved up.
    time.pass(10_000 * US);
    first.write_at(&AlignedBuf::with_pages(1), 0).unwrap();
    assert_eq!(time.waits(), [11_100 * US]);
}

#[test]
fn a_sync_pays_for_the_bytes_before_it_once() {
    let time = Fake::new(true);
    let (disk, dir) = slow(0, 1_000_000, &time);
    let file = disk.open(&dir.path().join("p"), Open::CREATE).unwrap();
    file.write_at(&[1; 300], 0).unwrap();
    file.write_at(&[1; 200], 300).unwrap();
    assert_eq!(time.waits(), []);
    file.sync().unwrap();
    file.sync().unwrap();
    assert_eq!(time.waits(), [500 * US; 2]);
}

#[test]
fn a_call_returns_after_the_real_write_and_its_latency() {
    /// A disk on which everything takes a millisecond of the fake clock.
    struct Takes(Arc<Fake>);
    impl File for Takes {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            Ok(0)
        }
        fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            self.0.pass(1_000 * US);
            Ok(())
        }
        fn sync(&self) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn len(&self) -> io::Result<u64> {
            Ok(0)
        }
        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn allocate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn punch(&self, _: u64, _: u64) -> io::Result<()> {
            Ok(())
        }
    }
    let time = Fake::new(false);
    let file = |bandwidth: u64| SlowFile {
        file: Arc::new(Takes(time.clone())),
        forced: true,
        buffered: AtomicU64::new(0),
        brake: Arc::new(Brake {
            latency: 50 * US,
            bandwidth: NonZeroU64::new(bandwidth),
            free_at: Mutex::new(0),
            time: time.clone(),
        }),
    };
    // The real write takes longer than the bytes (1 ms against 0.1 ms), then it is the other way round.
    let slow_device = file(10_000_000);
    slow_device.write_at(&[0; 1_000], 0).unwrap();
    assert_eq!(time.waits(), [1_050 * US]);
    let slow_link = file(100_000);
    slow_link.write_at(&[0; 1_000], 0).unwrap();
    assert_eq!(time.waits(), [11_100 * US]);
    // A failure is told at once.
    assert!(slow_link.sync().is_err());
    assert_eq!(time.waits(), []);
}

#[test]
fn without_slowness_the_disk_is_the_same() {
    let disk = os().disk;
    let same = slow_disk(Arc::clone(&disk), Slowness::default());
    assert!(Arc::ptr_eq(&disk, &same));
}
