//! The measured loops: a thread for each queue manager, all of which begin together.
//!
//! Invariants: a thread makes, opens and removes no files; none of them outlives its test; one that fails ends the
//! others.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use posthaste_env::{Clock, Nanos, os, wait_until};
use posthaste_server::{Exit, Failure};

use super::files::{TestFile, TestFiles, write_failed};
use super::forced::{AlignedMemory, Device, Layout, run};
use super::measured::Measured;
use super::options::{Block, DiskTestArgs};

/// How often the person at the terminal is listened to.
const TICK: Duration = Duration::from_millis(200);

/// The files of one queue manager and the block that is written to them.
struct LogFiles<'a> {
    files: &'a [TestFile],
    memory: AlignedMemory,
    clock: Arc<dyn Clock>,
    pause: Nanos,
    stop: &'a AtomicBool,
}

impl Device for LogFiles<'_> {
    fn prepare(&mut self, number: u64) -> bool {
        if self.pause > 0 && number > 1 {
            wait_until(self.now() + self.pause);
        }
        self.memory.stamp(number);
        // Without a write there is no result to end with.
        number == 1 || !self.stop.load(Relaxed)
    }

    fn write(&mut self, file: usize, offset: u64) -> io::Result<()> {
        let file = self.files.get(file).ok_or(io::ErrorKind::NotFound)?;
        file.open.write_all_at(self.memory.bytes(), offset)
    }

    fn now(&self) -> Nanos {
        self.clock.monotonic()
    }
}

/// Measures one block size. `tick` hears some times a second how much time has passed, and says whether to go
/// on.
pub(super) fn execute(
    args: &DiskTestArgs,
    files: &TestFiles,
    block: &Block,
    tick: &mut dyn FnMut(Duration) -> bool,
) -> Result<Measured, Failure> {
    let layout = Layout {
        block: block.bytes as u64,
        blocks_per_file: args.file_size / block.bytes as u64,
        files: args.files as usize,
    };
    // The writers begin when the last of them is there and the gate is opened.
    let (stop, gate) = (&AtomicBool::new(false), &RwLock::new(()));
    thread::scope(|scope| {
        let thread = |name: &str| Builder::new().name(name.to_owned());
        let start = || {
            let closed = gate.write();
            for _ in 0..u64::from(args.background) * u64::from(args.queue_managers) {
                thread("background").spawn_scoped(scope, || {
                    drop(gate.read());
                    while !stop.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                })?;
            }
            // Nothing is sent: what is waited for is that all who could have gone.
            let (runs, ended) = mpsc::channel::<()>();
            let writers = files.of_each.iter().map(|files| {
                let mut device = LogFiles {
                    files,
                    memory: AlignedMemory::new(block.bytes, args.alignment),
                    clock: os().clock,
                    pause: args.pause.as_nanos() as Nanos,
                    stop,
                };
                let runs = runs.clone();
                thread("writer").spawn_scoped(scope, move || {
                    drop(gate.read());
                    let found = run(&mut device, layout, args.duration);
                    stop.fetch_or(found.is_err(), Relaxed);
                    drop(runs);
                    found.map_err(|(file, error)| {
                        let path = files.get(file).map_or(&args.dir, |file| &file.path);
                        write_failed(path, args.alignment, &error)
                    })
                })
            });
            let writers = writers.collect::<io::Result<Vec<_>>>()?;
            drop(closed);
            Ok((writers, ended))
        };
        let found = start().map_err(|error: io::Error| no_thread(&error));
        let found = found.and_then(|(writers, ended)| {
            let begun = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(TICK) {
                stop.fetch_or(!tick(begun.elapsed()), Relaxed);
            }
            let results = writers.into_iter().map(|writer| match writer.join() {
                Ok(result) => result,
                Err(_) => Err(no_result()),
            });
            Measured::together(results.collect::<Result<_, _>>()?).ok_or_else(no_result)
        });
        // The scope ends only with its threads.
        stop.store(true, Relaxed);
        found
    })
}

fn no_result() -> Failure {
    let what = "a thread of the disk test ended without a result";
    Failure::new(Exit::Internal, "AMQ6109S", &[what])
}

fn no_thread(error: &io::Error) -> Failure {
    let what = "a further thread";
    Failure::new(Exit::Unusable, "AMQ2008E", &[what, &error.to_string()])
}

#[cfg(test)]
mod tests {
    use super::super::files::{Removal, create};
    use super::super::options::tests::args;
    use super::*;

    #[test]
    fn one_queue_manager_that_fails_ends_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut args = args("--qm 2 --bsize 4K --fileSize 8192 --numFiles 1 --duration 600");
        args.dir = folder.path().to_owned();
        let mut files = create(&args, &Removal::default(), |_, _| true).unwrap();
        let full = std::path::PathBuf::from("/dev/full");
        files.of_each[1][0] = TestFile {
            open: std::fs::File::options().write(true).open(&full).unwrap(),
            path: full,
        };
        let mut passed = Duration::ZERO;
        let failed = execute(&args, &files, &args.blocks[0], &mut |now| {
            passed = now;
            now < Duration::from_secs(60)
        });
        let failure = failed.unwrap_err();
        assert_eq!((failure.exit, failure.id), (Exit::NoSpace, "AMQ2020E"));
        assert!(passed < Duration::from_secs(60), "the other went on");
    }
}
