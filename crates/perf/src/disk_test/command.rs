//! One run of the disk test, in order: check, make files, measure each block size, remove the files.
//!
//! Invariant: what can be refused is refused before the first file is made; however the run ends, the files
//! have been removed.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use posthaste_server::{Exit, Failure};

use super::files::{self, NoFiles, Removal, TestFiles};
use super::measured::Measured;
use super::options::{Block, DiskTestArgs};
use super::report::Csv;
use super::{fio, report, worker};
use crate::measure::{Interrupt, refuse_long_files};
use crate::terminal::say;

/// Runs the command.
///
/// # Errors
/// Options that do not fit together; a directory that cannot be written to or is too small; a disk that
/// refuses.
pub fn run(args: &DiskTestArgs) -> Result<Exit, Failure> {
    use_small_pages();
    refuse_long_files().map_err(|error| Failure::io(&args.dir, &error))?;
    args.check()?;
    if let Some(file) = &args.fio {
        return write_job_file(args, file);
    }
    posthaste_env::allow_descriptors();
    files::check_room(args)?;
    files::check_descriptors(args)?;
    let mut csv = args.csv.as_deref().map(Csv::open).transpose()?;
    let (removal, interrupt) = guarded(&args.dir)?;
    say(&report::options(args));
    let files = match create(args, &removal, &interrupt) {
        Ok(files) => files,
        Err(NoFiles::Interrupted) => return Ok(interrupted("while the files were created")),
        Err(NoFiles::Failed(failure)) => return Err(failure),
    };
    if !files.direct {
        say(&format!(
            "The file system of {} has no direct access (O_DIRECT): going on with O_DSYNC only. A log there \
             would do the same.\n",
            args.dir.display()
        ));
    }
    for block in &args.blocks {
        let found = measure(args, &files, block, &interrupt)?;
        say(&report::results(&found));
        if found.interrupted {
            return Ok(interrupted(&format!(
                "after {} of {} seconds, of which the figures are",
                found.elapsed_ns / 1_000_000_000,
                args.duration.as_secs()
            )));
        }
        if let Some(csv) = &mut csv {
            csv.add(&args.dir, &found)?;
        }
        if interrupt.raised() {
            return Ok(interrupted("between two block sizes"));
        }
    }
    Ok(Exit::Done)
}

/// An interruption that, when it is the second one, has the files removed before the process ends.
fn guarded(folder: &Path) -> Result<(Removal, Interrupt), Failure> {
    let removal = Removal::default();
    let last = removal.clone();
    let interrupt = Interrupt::on_signals_then(move || last.now());
    let interrupt = interrupt.map_err(|error| Failure::io(folder, &error))?;
    Ok((removal, interrupt))
}

/// Memory in pages of the processor's usual size, as fio and other programs have it: a block in a huge page is one
/// piece for the device, which takes 128 KiB of it 6 to 9 % faster.
fn use_small_pages() {
    // A kernel that has no huge pages does not know how to do without them either.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// How long forced writes take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Average, in nanoseconds.
    pub average_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
}

/// Measures 4 KiB writes in a folder for a second, one at a time, as a recovery log makes them. The file it needs
/// (2 MiB) is removed, after Ctrl-C too.
///
/// # Errors
/// The folder cannot be written to or is too small, the disk refuses, or Ctrl-C ended it.
pub fn sample(folder: &Path) -> Result<Sample, Failure> {
    refuse_long_files().map_err(|error| Failure::io(folder, &error))?;
    let (removal, interrupt) = guarded(folder)?;
    let args = DiskTestArgs::small(folder, 4096, 2 << 20, Duration::from_secs(1));
    let found = one(&args, &removal, &interrupt).map_err(|none| match none {
        NoFiles::Interrupted => Failure::new(Exit::CallFailed, "AMQ2502E", &["it was interrupted"]),
        NoFiles::Failed(failure) => failure,
    })?;
    Ok(Sample {
        average_ns: found.average_ns(),
        p99_ns: found.percentile(99.0),
    })
}

/// The same of blocks of any size, to a file of any, for any time.
pub(crate) fn forced(
    folder: &Path,
    bytes: usize,
    file_size: u64,
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Measured, NoFiles> {
    let args = DiskTestArgs::small(folder, bytes, file_size, time);
    one(&args, &Removal::default(), interrupt)
}

/// Measures the only block size that there is, without a word.
fn one(args: &DiskTestArgs, removal: &Removal, interrupt: &Interrupt) -> Result<Measured, NoFiles> {
    posthaste_env::allow_descriptors();
    files::check_room(args)?;
    files::check_descriptors(args)?;
    let files = files::create(args, removal, |_, _| !interrupt.raised())?;
    let block = args.blocks.first().ok_or(NoFiles::Interrupted)?;
    let found = worker::execute(args, &files, block, &mut |_| !interrupt.raised())?;
    match found.interrupted || interrupt.raised() {
        true => Err(NoFiles::Interrupted),
        false => Ok(found),
    }
}

fn interrupted(when: &str) -> Exit {
    say(&format!(
        "Interrupted {when}. The test files are being removed.\n"
    ));
    Exit::CallFailed
}

fn write_job_file(args: &DiskTestArgs, file: &Path) -> Result<Exit, Failure> {
    files::check_directory(&args.dir)?;
    fio::check_directory(&args.dir)?;
    let name = file.display().to_string();
    let written = std::fs::write(file, fio::job_file(args, &name));
    written.map_err(|error| Failure::io(file, &error))?;
    say(&format!("{name} is written. Run it with: fio {name}\n"));
    Ok(Exit::Done)
}

fn create(
    args: &DiskTestArgs,
    removal: &Removal,
    interrupt: &Interrupt,
) -> Result<TestFiles, NoFiles> {
    say("Creating files...");
    let terminal = io::stdout().is_terminal();
    let mut percent = 0;
    let created = files::create(args, removal, |done, all| {
        let now = done * 100 / all.max(1);
        if terminal && now != percent {
            percent = now;
            say(&format!("\rCreating files... {percent} %"));
        }
        !interrupt.raised()
    });
    match terminal {
        true => say("\rCreating files...      \n"),
        false => say("\n"),
    }
    created
}

fn measure(
    args: &DiskTestArgs,
    files: &TestFiles,
    block: &Block,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let line = |done: u64| report::progress(block, done, args);
    // On a terminal the line is written anew each second.
    let start = match io::stdout().is_terminal() {
        true => "\r",
        false => "",
    };
    let mut shown = None;
    let mut tick = |passed: Duration| {
        if !start.is_empty() && shown != Some(passed.as_secs()) {
            shown = Some(passed.as_secs());
            say(&format!("{start}{}", line(passed.as_secs())));
        }
        !interrupt.raised()
    };
    tick(Duration::ZERO);
    let found = worker::execute(args, files, block, &mut tick)?;
    let done = line(found.elapsed_ns / 1_000_000_000);
    say(&format!("{start}{done}\n"));
    Ok(found)
}
