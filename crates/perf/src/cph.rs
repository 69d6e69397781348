//! The command line and the output that users of MQ-CPH know.
//!
//! * `flags`: every flag, what it takes, and why some are refused. `reading`: how they are read.
//! * `workloads`: what the flags have applications do.
//! * `session`: a run in this process. `collate`: several processes as one.
//! * `output`: the lines that are printed. `failure`: what went wrong, with its number.
//!
//! Invariant: results go to standard output in MQ-CPH's words, everything else to standard error.

mod collate;
mod failure;
mod flags;
mod output;
mod reading;
mod session;
mod workloads;

use std::path::Path;

use posthaste_server::{Exit, Failure};

pub use reading::help;

use crate::measure::Interrupt;
use flags::Flags;

/// Carries out `posthaste perf` (`cph`) with its flags. `place` is the folder of queue managers, if
/// one is named.
///
/// # Errors
/// The flags are not right, the queue manager cannot be reached, or something went wrong on the way;
/// what was measured until then has been printed.
pub fn run(place: Option<&Path>, words: &[String]) -> Result<Exit, Failure> {
    if let Some(text) = asked(words) {
        return output::plain(&text).map(|()| Exit::Done);
    }
    let words = reading::long(words).map_err(failure::of)?;
    let flags = Flags::read(&words).map_err(failure::of)?;
    let workloads = flags.workloads().map_err(failure::of)?;
    let interrupt = match flags.start.signals {
        true => Interrupt::on_signals().map_err(|error| failure::system("signals", &error))?,
        false => Interrupt::none(),
    };
    posthaste_env::allow_descriptors();
    let place = flags.own.data_dir.as_deref().or(place);
    match flags.own.processes {
        1 => session::run(place, &flags, &workloads, &interrupt),
        _ => collate::run(place, &flags, &words, &interrupt),
    }
}

/// What MQ-CPH's own questions are answered with: `-h`, `-hf`, `-hm Module`, `-v`.
fn asked(words: &[String]) -> Option<String> {
    match words.first()?.trim_start_matches('-') {
        "h" | "hf" | "hm" | "help" => Some(help().trim_end().to_owned()),
        "v" | "version" => Some(format!("posthaste perf {}", env!("CARGO_PKG_VERSION"))),
        _ => None,
    }
}
