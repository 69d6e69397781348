//! `posthaste-replay`: runs fuzz targets without a fuzzer.
//!
//! ```text
//! posthaste-replay [--seconds N] [TARGET...]   corpora and ever new mutations, N seconds a target (10)
//! posthaste-replay run TARGET FILE...          the given inputs, for example a fuzzer's finding
//! posthaste-replay seeds                       writes the seed corpora again from real encodings
//! ```
//!
//! Ends with 1 if a target panicked (the input is kept in a file that is named), with 2 on wrong usage.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use posthaste_replay::{Failure, TARGETS, Target, corpus, corpus_folder, replay, run, target};

/// Mutations of each file between two looks at the clock.
const ROUND: u64 = 200;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["seeds"] => write_seeds(),
        ["run", name, files @ ..] => run_files(name, files),
        ["--seconds", seconds, names @ ..] => match seconds.parse() {
            Ok(seconds) => run_for(Duration::from_secs(seconds), names),
            Err(_) => Err(format!("--seconds {seconds}: not a number")),
        },
        names => run_for(Duration::from_secs(10), names),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(usage) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
    }
}

fn find(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("{name}: no such target; there are {}", known.join(", "))
    })
}

fn run_for(time: Duration, names: &[&str]) -> Result<bool, String> {
    let chosen: Vec<&Target> = if names.is_empty() {
        TARGETS.iter().collect()
    } else {
        names
            .iter()
            .map(|name| find(name))
            .collect::<Result<_, _>>()?
    };
    let mut good = true;
    for target in chosen {
        let files =
            corpus(target.name).map_err(|error| format!("corpus of {}: {error}", target.name))?;
        let started = Instant::now();
        let (mut from, mut inputs) = (0, 0);
        while started.elapsed() < time {
            match replay(target, &files, from..from + ROUND) {
                Ok(count) => inputs += count,
                Err(failure) => {
                    report(&failure);
                    good = false;
                    break;
                }
            }
            from += ROUND;
        }
        println!(
            "{}: {} files, {inputs} inputs, {} s",
            target.name,
            files.len(),
            started.elapsed().as_secs()
        );
    }
    Ok(good)
}

fn run_files(name: &str, files: &[&str]) -> Result<bool, String> {
    let target = find(name)?;
    let mut good = true;
    for file in files {
        let input = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        if let Err(failure) = run(target, file, &input) {
            report(&failure);
            good = false;
        }
    }
    Ok(good)
}

fn report(failure: &Failure) {
    eprintln!("FAILED {failure}");
    let kept = std::env::temp_dir().join(format!(
        "posthaste-replay-{}-{}",
        failure.target,
        std::process::id()
    ));
    match std::fs::write(&kept, &failure.input) {
        Ok(()) => eprintln!("kept in {}", kept.display()),
        Err(error) => eprintln!("could not be kept in {}: {error}", kept.display()),
    }
}

fn write_seeds() -> Result<bool, String> {
    for target in TARGETS {
        let folder = corpus_folder(target.name);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        for (name, bytes) in (target.seeds)().into_iter().chain((target.recorded)()) {
            let file = folder.join(name);
            std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok(true)
}
