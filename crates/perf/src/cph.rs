//! The command line and the output that users of MQ-CPH know.
//!
//! * `options`: every option, what it takes, and why some are refused.
//! * `settings`: what the options come to.
//! * `session`: a run in this process. `collate`: several processes as one.
//! * `output`: the lines that are printed.
//!
//! Invariants: results go to standard output in MQ-CPH's words, everything else to standard error; an
//! option is either done as MQ-CPH does it or refused by its name, never passed over.

mod collate;
mod failure;
mod options;
mod output;
mod session;
mod settings;

use std::path::Path;

use posthaste_server::{Exit, Failure};

pub use options::help;
pub use settings::Settings;

use crate::measure::Interrupt;

/// Carries out `posthaste perf` (`cph`) with its flags. `place` is the folder of queue managers, if
/// one is named.
///
/// # Errors
/// The flags are not right, the queue manager cannot be reached, or something went wrong on the way;
/// what was measured until then has been printed.
pub fn run(place: Option<&Path>, flags: &[String]) -> Result<Exit, Failure> {
    if let Some(text) = asked(flags) {
        let mut printer = output::Printer::stdout(output::Prefix::default());
        printer
            .plain(&text)
            .map_err(|error| session::unwritable(&error))?;
        return Ok(Exit::Done);
    }
    let settings = Settings::read(flags).map_err(|error| failure::of(&error))?;
    let interrupt = match settings.signals {
        true => Interrupt::on_signals().map_err(|error| failure::system("signals", &error))?,
        false => Interrupt::none(),
    };
    posthaste_env::allow_descriptors();
    let place = settings.data_dir.as_deref().or(place);
    match settings.processes {
        1 => session::run(place, &settings, &interrupt),
        _ => collate::run(place, &settings, flags, &interrupt),
    }
}

/// What MQ-CPH's own questions are answered with: `-h`, `-hf`, `-hm Module`, `-v`.
fn asked(flags: &[String]) -> Option<String> {
    match flags.first()?.trim_start_matches('-') {
        "h" | "hf" | "hm" | "help" => Some(help().trim_end().to_owned()),
        "v" | "version" => Some(format!("posthaste perf {}", env!("CARGO_PKG_VERSION"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered() {
        let ask = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            asked(&words)
        };
        for question in ["-h", "-hf", "-hm Requester", "--help"] {
            assert!(ask(question).is_some_and(|text| text.contains("-tc MODULE")));
        }
        assert!(ask("-v").is_some_and(|text| text.starts_with("posthaste perf ")));
        assert_eq!(ask("-tc Sender -h"), None);
        assert_eq!(ask(""), None);
    }
}
