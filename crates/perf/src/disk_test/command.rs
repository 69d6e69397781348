//! One run of the disk test, in order: check, make files, measure each block size, remove the files.
//!
//! Invariant: what can be refused is refused before the first file is made; however the run ends, the files
//! have been removed.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use posthaste_server::{Exit, Failure};

use super::csv::Csv;
use super::files::{self, NoFiles, Removal, TestFiles};
use super::measured::Measured;
use super::options::{Block, DiskTestArgs, Plan};
use super::{fio, report, worker};
use crate::measure::{Interrupt, refuse_long_files};

/// Runs the command.
///
/// # Errors
/// Options that do not fit together; a directory that cannot be written to or is too small; a disk that
/// refuses.
pub fn run(args: &DiskTestArgs) -> Result<Exit, Failure> {
    use_small_pages();
    refuse_long_files().map_err(|error| Failure::io(&args.dir, &error))?;
    if args.worker {
        let failed = |error| Failure::io(Path::new("the order of a disk test"), &error);
        return worker::serve().map(|()| Exit::Done).map_err(failed);
    }
    let plan = args.plan()?;
    if let Some(file) = &args.fio {
        return write_job_file(&plan, file);
    }
    files::check_room(&plan)?;
    let mut csv = plan.csv.as_deref().map(Csv::open).transpose()?;
    posthaste_env::allow_descriptors();
    let removal = Removal::default();
    let last = removal.clone();
    let interrupt = Interrupt::on_signals_then(move || drop(last.now()));
    let interrupt = interrupt.map_err(|error| Failure::io(&plan.dir, &error))?;
    say(&report::options(&plan));
    let files = match create(&plan, &removal, &interrupt) {
        Ok(files) => files,
        Err(NoFiles::Interrupted) => return Ok(interrupted("while the files were created")),
        Err(NoFiles::Failed(failure)) => return Err(failure),
    };
    if !files.direct {
        say(&format!(
            "The file system of {} has no direct access (O_DIRECT): going on with O_DSYNC only. A log there \
             would do the same.\n",
            plan.dir.display()
        ));
    }
    for block in &plan.blocks {
        let found = measure(&plan, &files, block, &interrupt)?;
        say(&report::results(&found, plan.queue_managers));
        if found.interrupted {
            let seconds = found.elapsed_ns / 1_000_000_000;
            let when = format!(
                "after {seconds} of {} seconds, of which the figures are",
                plan.time.as_secs()
            );
            return Ok(interrupted(&when));
        }
        if let Some(csv) = &mut csv {
            csv.add(&report::csv_row(&plan, &found))?;
        }
        if interrupt.raised() {
            return Ok(interrupted("between two block sizes"));
        }
    }
    Ok(Exit::Done)
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
    let refused = |error| Failure::io(folder, &error);
    refuse_long_files().map_err(refused)?;
    let removal = Removal::default();
    let last = removal.clone();
    let interrupt = Interrupt::on_signals_then(move || drop(last.now())).map_err(refused)?;
    let plan = Plan::small(folder, 4096, 2 << 20, Duration::from_secs(1));
    let found = one(&plan, &removal, &interrupt).map_err(|none| match none {
        NoFiles::Interrupted => Failure::new(Exit::CallFailed, "AMQ2502E", &["it was interrupted"]),
        NoFiles::Failed(failure) => failure,
    })?;
    let [p99_ns] = found.percentiles([99.0]);
    Ok(Sample {
        average_ns: found.average_ns(),
        p99_ns,
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
    let plan = Plan::small(folder, bytes, file_size, time);
    one(&plan, &Removal::default(), interrupt)
}

/// Measures the only block size of a plan, without a word.
fn one(plan: &Plan, removal: &Removal, interrupt: &Interrupt) -> Result<Measured, NoFiles> {
    files::check_room(plan)?;
    let files = files::create(plan, removal, |_, _| !interrupt.raised())?;
    let block = plan.blocks.first().ok_or(NoFiles::Interrupted)?;
    let found = worker::execute(plan, &files, block, &mut |_| !interrupt.raised())?;
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

fn write_job_file(plan: &Plan, file: &Path) -> Result<Exit, Failure> {
    files::check_directory(&plan.dir)?;
    fio::check_directory(&plan.dir)?;
    let name = file.display().to_string();
    let written = std::fs::write(file, fio::job_file(plan, &name));
    written.map_err(|error| Failure::io(file, &error))?;
    say(&format!("{name} is written. Run it with: fio {name}\n"));
    Ok(Exit::Done)
}

fn create(plan: &Plan, removal: &Removal, interrupt: &Interrupt) -> Result<TestFiles, NoFiles> {
    say("Creating files...");
    let terminal = io::stdout().is_terminal();
    let mut percent = 0;
    let created = files::create(plan, removal, |done, all| {
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
    plan: &Plan,
    files: &TestFiles,
    block: &Block,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let terminal = io::stdout().is_terminal();
    let line = |done: u64| report::progress(block.bytes as u64, done, plan.time.as_secs());
    let mut shown = 0;
    let mut tick = |passed: Duration| {
        let seconds = passed.as_secs().min(plan.time.as_secs());
        if terminal && seconds > shown {
            shown = seconds;
            say(&format!("\r{}", line(seconds)));
        }
        !interrupt.raised()
    };
    if terminal {
        say(&line(0));
    }
    let found = worker::execute(plan, files, block, &mut tick);
    if let Ok(found) = &found {
        let done = found.elapsed_ns / 1_000_000_000;
        let done = line(done.min(plan.time.as_secs()));
        say(&match terminal {
            true => format!("\r{done}\n"),
            false => format!("{done}\n"),
        });
    }
    found
}

/// To standard output, at once. A reader that has gone is no reason to end a test whose rows go to a file.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::args;
    use super::*;

    #[test]
    fn an_interruption_ends_the_test_with_what_was_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut plan = args("--bsize 4K --fileSize 16384 --numFiles 2 --duration 600")
            .unwrap()
            .plan()
            .unwrap();
        plan.dir = dir.path().to_owned();
        let interrupt = Interrupt::none();
        let files = create(&plan, &Removal::default(), &interrupt).unwrap();
        interrupt.raise();
        let found = measure(&plan, &files, &plan.blocks[0], &interrupt).unwrap();
        assert!(found.interrupted && found.writes > 0);
        drop(files);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let refused = create(&plan, &Removal::default(), &interrupt);
        assert!(matches!(refused, Err(NoFiles::Interrupted)));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
