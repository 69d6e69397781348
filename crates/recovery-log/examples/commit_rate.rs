//! How many commits a second the log takes, and what each costs.
//!
//! ```text
//! cargo run --release -p posthaste-recovery-log --example commit_rate -- \
//!     [--dir DIR] [--committers N] [--bytes N] [--seconds N] [--delay MICROSECONDS] [--plain] [--wake-each]
//! ```
//!
//! Each committer is a task on a tokio runtime of two threads: append one record, wait until it is forced,
//! again. `--delay` adds to every forced write; `--plain` takes whatever is there, one write in flight;
//! `--wake-each` lets the writer wake each committer instead of handing all over at once. The two together
//! are the ordinary group commit that the others are compared with.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use posthaste_env::{Disk, Env, Event, Nanos, Open, Slowness, os, slow_disk};
use posthaste_recovery_log::{
    Class, LogConfig, LogError, LogStatistics, Lsn, RecoveryLog, WritePolicy, create, drive, open,
};
use tokio::sync::Notify;

struct Options {
    dir: PathBuf,
    committers: usize,
    bytes: usize,
    seconds: u64,
    delay: Duration,
    plain: bool,
    wake_each: bool,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        dir: std::env::temp_dir().join("posthaste-commit-rate"),
        committers: 60,
        bytes: 2347,
        seconds: 4,
        delay: Duration::ZERO,
        plain: false,
        wake_each: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let flag = match name.as_str() {
            "--plain" => Some(&mut options.plain),
            "--wake-each" => Some(&mut options.wake_each),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            continue;
        }
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        match name.as_str() {
            "--dir" => options.dir = value.into(),
            "--committers" => options.committers = value.parse()?,
            "--bytes" => options.bytes = value.parse()?,
            "--seconds" => options.seconds = value.parse()?,
            "--delay" => options.delay = Duration::from_micros(value.parse()?),
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(options)
}

/// CPU time of this process in nanoseconds, in steps of the kernel's accounting (10 ms).
fn cpu_nanos(disk: &dyn Disk) -> Result<u64, Box<dyn Error>> {
    let mut stat = vec![0; 4096];
    let length = disk
        .open(Path::new("/proc/self/stat"), Open::READ)?
        .read_at(&mut stat, 0)?;
    let stat = String::from_utf8_lossy(&stat[..length]);
    // Fields after the command's closing bracket; 14 and 15 of the whole are user and system ticks.
    let (_, rest) = stat.rsplit_once(')').ok_or("stat without a command")?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut ticks =
        || -> Result<u64, Box<dyn Error>> { Ok(fields.next().ok_or("a short stat")?.parse()?) };
    Ok((ticks()? + ticks()?) * 10_000_000)
}

async fn committer(log: RecoveryLog, bytes: usize, stop: Arc<AtomicBool>, commits: Arc<AtomicU64>) {
    let record = vec![0x5A; bytes];
    while !stop.load(Ordering::Relaxed) {
        log.room().await;
        match log.append(Class::Ordinary, &[&record]) {
            Ok(at) => match log.force(at.end).await {
                Ok(_) => {
                    commits.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => return eprintln!("{error}"),
            },
            Err(LogError::Full) => tokio::task::yield_now().await,
            Err(error) => return eprintln!("{error}"),
        }
    }
}

/// Keeps the log from filling up, as checkpoints do.
async fn checkpoints(log: RecoveryLog, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let usage = log.usage();
        if usage.used > usage.primary / 3 {
            let restart = Lsn(log.forced().0.min(log.appended().0));
            if let Err(error) = log.advance(restart, b"", false) {
                return eprintln!("{error}");
            }
        }
    }
}

/// Lets the runtime wake released committers, once a write, instead of the writer.
fn hand_over_once(log: &RecoveryLog, runtime: &tokio::runtime::Runtime) {
    let released = Arc::new(Notify::new());
    let signal = Arc::clone(&released);
    log.on_release(Box::new(move || signal.notify_one()));
    let waking = log.clone();
    runtime.spawn(async move {
        loop {
            released.notified().await;
            waking.wake_released();
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let real = os();
    let slowness = Slowness {
        latency: options.delay,
        ..Slowness::default()
    };
    let disk = slow_disk(real.disk, slowness);
    let env = Env { disk, ..real };
    let config = LogConfig {
        file_pages: 16_384,
        primary_files: 8,
        secondary_files: 4,
        writes: WritePolicy {
            plain: options.plain,
            ..WritePolicy::default()
        },
        ..LogConfig::default()
    };
    if env.disk.exists(&options.dir) {
        env.disk.remove_dir_all(&options.dir)?;
    }
    create(&*env.disk, &options.dir, &config, &mut |_, _| {})?;
    let mut restart = open(&env, &options.dir, &config)?;
    while restart.next()?.is_some() {}
    let (log, writer) = restart.finish()?;
    let driver = drive(&env, &log, writer)?;

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let commits = Arc::new(AtomicU64::new(0));
    if !options.wake_each {
        hand_over_once(&log, &runtime);
    }
    let mut tasks = vec![runtime.spawn(checkpoints(log.clone(), Arc::clone(&stop)))];
    for _ in 0..options.committers {
        let (stop, commits) = (Arc::clone(&stop), Arc::clone(&commits));
        tasks.push(runtime.spawn(committer(log.clone(), options.bytes, stop, commits)));
    }
    let wait = |nanos| Event::new().wait(Some(env.clock.monotonic() + nanos));
    let sample = || -> Result<Sample, Box<dyn Error>> {
        Ok(Sample {
            counts: log.statistics(),
            commits: commits.load(Ordering::Relaxed),
            cpu: cpu_nanos(&*env.disk)?,
            at: env.clock.monotonic(),
        })
    };
    wait(400_000_000);
    let before = sample()?;
    wait(options.seconds * 1_000_000_000);
    let after = sample()?;
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for task in tasks {
            let _ = task.await;
        }
    });
    log.shut_down();
    let ended = driver.join();
    env.disk.remove_dir_all(&options.dir)?;
    ended.map_err(|()| "the writer panicked")?;
    report(&options, &before, &after);
    Ok(())
}

/// What is read at the start and at the end of the window.
struct Sample {
    counts: LogStatistics,
    commits: u64,
    cpu: Nanos,
    at: Nanos,
}

fn report(options: &Options, before: &Sample, after: &Sample) {
    let commits = after.commits - before.commits;
    let cpu = after.cpu - before.cpu;
    let elapsed = (after.at - before.at) as f64;
    let seconds = elapsed / 1e9;
    let (before, after) = (&before.counts, &after.counts);
    let writes = after.writes - before.writes;
    let physical = after.physical_bytes - before.physical_bytes;
    let logical = after.logical_bytes - before.logical_bytes;
    let busy = (after.busy_nanos - before.busy_nanos) as f64 / elapsed;
    let held = (after.cohort_wait_nanos - before.cohort_wait_nanos) as f64;
    println!(
        "committers {} bytes {} delay {} us policy {} wake {}: {:.0} commits/s, {:.0} writes/s, {:.1} KiB/write, \
         {:.2} us CPU/commit, CPU {:.0} % of one core, in a write {:.1} %, held back {:.1} %, \
         write {:.0} us, amplification {:.3}, most in flight {}",
        options.committers,
        options.bytes,
        options.delay.as_micros(),
        if options.plain { "plain" } else { "adaptive" },
        if options.wake_each {
            "each"
        } else {
            "together"
        },
        commits as f64 / seconds,
        writes as f64 / seconds,
        physical as f64 / writes.max(1) as f64 / 1024.0,
        cpu as f64 / commits.max(1) as f64 / 1000.0,
        cpu as f64 / elapsed * 100.0,
        busy * 100.0,
        held / elapsed * 100.0,
        (after.write_nanos - before.write_nanos) as f64 / writes.max(1) as f64 / 1000.0,
        physical as f64 / logical.max(1) as f64,
        after.most_in_flight,
    );
}
