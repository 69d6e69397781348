//! How flags are read, refused and explained.
//!
//! MQ-CPH writes a flag with one dash and its value behind it, and a switch also without a value (`-nt 4 -tx`); here
//! `--nt=4 --tx` is made of that, which clap reads.
//!
//! Invariant: whatever is wrong is said with the flag as it is usually written.

use std::error::Error as _;
use std::fmt::Write as _;
use std::num::ParseIntError;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};

use super::flags::{Flags, MODULES, ONLY, REFUSED};
use crate::measure::LabError;
use crate::workload::Module;

fn usage(what: impl Into<String>) -> LabError {
    LabError::BadInput(what.into())
}

/// A flag's name as it is usually written.
fn dashed(name: &str) -> String {
    match name.len() {
        0..=4 => format!("-{name}"),
        _ => format!("--{name}"),
    }
}

/// Whether a flag needs no value behind it.
fn is_switch(arg: &Arg) -> bool {
    arg.get_num_args()
        .is_some_and(|count| count.min_values() == 0)
}

fn switch(arg: Arg) -> Arg {
    let arg = arg
        .action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true);
    let arg = arg.default_missing_value("true");
    match arg.get_default_values().is_empty() {
        true => arg.default_value("false"),
        false => arg,
    }
}

/// Flags as clap has them, and those that are refused.
fn command() -> Command {
    let command = Flags::command().mut_args(|arg| match arg.get_action() {
        ArgAction::SetTrue => switch(arg),
        _ => arg,
    });
    let refused = REFUSED.iter().flat_map(|(flags, why)| {
        flags.split(' ').map(move |flag| {
            let (name, harmless) = flag.split_once('=').unwrap_or((flag, ""));
            let arg = Arg::new(name).long(name).hide(true);
            let arg = match harmless {
                "false" => switch(arg),
                _ => arg,
            };
            arg.value_parser(move |value: &str| match value == harmless {
                true => Ok(()),
                false => Err(*why),
            })
        })
    });
    command.args(refused)
}

/// The words as clap takes them, each whole; such words stay as they are.
pub(super) fn long(words: &[String]) -> Result<Vec<String>, LabError> {
    let command = command();
    let mut words = words.iter().peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let (name, value) = match option.and_then(|option| option.split_once('=')) {
            Some((name, value)) => (Some(name), Some(value)),
            None => (option, None),
        };
        let known = |arg: &&Arg| arg.get_long() == name;
        let (Some(name), Some(arg)) = (name, command.get_arguments().find(known)) else {
            return Err(usage(format!(
                "{word} is not an option; posthaste perf --help lists them"
            )));
        };
        let truth = |word: &&String| ["true", "false"].contains(&word.to_lowercase().as_str());
        let value = match (value, is_switch(arg)) {
            (Some(value), _) => Some(value.to_owned()),
            (None, true) => words.next_if(truth).map(|word| word.to_lowercase()),
            (None, false) => match words.next() {
                None => return Err(usage(format!("{word} needs a value: {}", kind(arg)))),
                value => value.cloned(),
            },
        };
        let value = value.map(|value| format!("={value}"));
        found.push(format!("--{name}{}", value.unwrap_or_default()));
    }
    Ok(found)
}

/// What a flag takes.
fn kind(arg: &Arg) -> &str {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map_or("", |name| name.as_str())
}

/// What clap refuses, with flags as they are usually written.
fn refused(error: &clap::Error) -> LabError {
    let context = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let flag = |kind| {
        let shown = context(kind);
        let name = shown.trim_start_matches('-').split([' ', '[']).next();
        dashed(name.unwrap_or_default())
    };
    let (this, value) = (
        flag(ContextKind::InvalidArg),
        context(ContextKind::InvalidValue),
    );
    usage(match (error.kind(), error.source()) {
        (ErrorKind::MissingRequiredArgument, _) => {
            format!("say what to do with -tc: {MODULES}; posthaste perf --help has examples")
        }
        (ErrorKind::ArgumentConflict, _) => {
            format!(
                "{this} and {} exclude each other",
                flag(ContextKind::PriorArg)
            )
        }
        (_, Some(why)) if why.is::<ParseIntError>() => {
            format!("{this} {value}: a whole number is needed ({why})")
        }
        (_, Some(why)) => format!("{this} {value}: {why}"),
        (_, None) => format!(
            "{this} {value}: one of these: {}",
            context(ContextKind::ValidValue)
        ),
    })
}

impl Flags {
    /// Reads what [`long`] made.
    pub(super) fn read(words: &[String]) -> Result<Flags, LabError> {
        let matches = command()
            .try_get_matches_from(words)
            .map_err(|error| refused(&error))?;
        let flags = Flags::from_arg_matches(&matches).map_err(|error| refused(&error))?;
        let module = flags.course.module;
        for (names, modules) in ONLY
            .iter()
            .filter(|(_, modules)| !modules.contains(&module))
        {
            if let Some(name) = names.split(' ').find(|name| is_given(words, name)) {
                let (name, modules, module) = (dashed(name), listed(modules), module.name());
                return Err(usage(format!("{name} is for {modules}, not for {module}")));
            }
        }
        if flags.to.binding == "mqb"
            && let Some(name) = ["jh", "jp", "jc", "jl", "kr", "jw"]
                .iter()
                .find(|name| is_given(words, name))
        {
            return Err(usage(format!(
                "-{name} is for clients (-jt mqc), not for -jt mqb"
            )));
        }
        flags.check().map(|()| flags)
    }

    /// Refuses what does not fit together.
    fn check(&self) -> Result<(), LabError> {
        let (inside, own, message, unit) = (self.to.inside, &self.own, &self.message, &self.unit);
        let syncpoint = unit.syncpoint || unit.syncpoint_put || unit.syncpoint_get;
        let counted = self.course.iterations > 0;
        let wrong = match () {
            () if inside && self.to.binding == "mqc" => {
                "-jf true needs -jt mqb: a client is in another process"
            }
            () if inside && own.processes > 1 => {
                "one process at a time can have a queue manager inside it: -jf true and --processes exclude each other"
            }
            () if inside && own.multiplex.is_some() => {
                "inside one process each application is a thread: -jf true and --multiplex exclude each other"
            }
            () if self.to.cipher_spec.is_some() && own.multiplex.is_some() => {
                "loops carry no TLS: -jl and --multiplex exclude each other"
            }
            () if self.to.cipher_spec.is_none()
                && (self.to.key_repository.is_some() || self.to.label.is_some()) =>
            {
                "-kr and -jw say with whose keys TLS is, and need -jl"
            }
            () if counted && !own.warm_up.is_zero() => {
                "a number of iterations (-mg) and --warm-up exclude each other"
            }
            () if unit.no_syncpoint && syncpoint => {
                "-txz (outside syncpoint) and -tx, -txp, -txg exclude each other"
            }
            () if message.persistent && message.not_persistent => "-pp and -ppn exclude each other",
            () if message.random && message.file.is_some() => "-mf and -mr exclude each other",
            () => return Ok(()),
        };
        Err(usage(wrong))
    }
}

/// Whether one of the words that [`long`] made is this flag.
pub(super) fn is_given(words: &[String], name: &str) -> bool {
    words.iter().any(|word| names(word, name))
}

/// Whether a word that [`long`] made is this flag.
pub(super) fn names(word: &str, name: &str) -> bool {
    let rest = word
        .strip_prefix("--")
        .and_then(|word| word.strip_prefix(name));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn listed(modules: &[Module]) -> String {
    let names: Vec<&str> = modules.iter().map(|module| module.name()).collect();
    names.join(", ")
}

/// What `--help` says of the flags.
pub fn help() -> String {
    let (mut text, mut heading) = (String::new(), None);
    for arg in command().get_arguments().filter(|arg| !arg.is_hide_set()) {
        if heading.as_deref() != arg.get_help_heading() {
            let gap = if text.is_empty() { "" } else { "\n" };
            heading = arg.get_help_heading().map(str::to_owned);
            let _ = writeln!(text, "{gap}{}:", heading.as_deref().unwrap_or_default());
        }
        let name = arg.get_long().unwrap_or_default();
        let written = match is_switch(arg) {
            true => dashed(name),
            false => format!("{} {}", dashed(name), kind(arg)),
        };
        let explained = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default = arg
            .get_default_values()
            .first()
            .and_then(|value| value.to_str());
        let default = default
            .map(|value| format!(" [{value}]"))
            .unwrap_or_default();
        let only = ONLY
            .iter()
            .find(|(names, _)| names.split(' ').any(|only| only == name));
        let only = only.map(|(_, modules)| format!(" ({})", listed(modules)));
        let only = only.unwrap_or_default();
        let _ = writeln!(text, "  {written:<20} {explained}{default}{only}");
    }
    text.push_str("\nKnown, and refused:\n");
    for (flags, why) in REFUSED {
        let names = flags
            .split(' ')
            .map(|flag| flag.split('=').next().unwrap_or(flag));
        let names: Vec<String> = names.map(dashed).collect();
        let _ = writeln!(text, "  {:<20} {why}", names.join(" "));
    }
    format!("{text}\n{EXAMPLES}")
}

const EXAMPLES: &str = "\
Examples, on a queue manager started with `posthaste run`:
  posthaste perf -tc PutGet -d DEV.QUEUE.1 -nt 4 -rl 10 -ss 1
  posthaste perf -tc Requester -iq DEV.QUEUE.1 -oq DEV.QUEUE.2 --responders 2
  posthaste perf -tc Sender -d DEV.QUEUE.3 -mg 1000 -ms 2048 -pp -tx -cc 10
  posthaste perf -tc Receiver -d DEV.QUEUE.3 -mg 1000 -tx -cc 10 -jt mqb -jb QM1
  posthaste perf -tc PutGet -d DEV.QUEUE. -db 1 -dx 3 -nt 9 --multiplex 1 -rl 10
  posthaste perf -tc PutGet -d DEV.QUEUE.1 -nt 10 -rt 100 -rl 10   1000/s in all
  posthaste perf -tc PutGet -d DEV.QUEUE.1 -nt 2 -rl 10 --processes 2

An iteration is a round trip of Requester and PutGet, one message of the others. Flags may
be written with one dash or two, and with = before the value. With a rate, latency counts
from when an iteration was due, so that waiting for a slow queue manager is in it.

Exit codes: 0 everything was done, or you ended it; 1 something went wrong: on the way, and the
results are marked, or at the start (a queue, a channel, -wt), and there are none; 39 the flags
are not right; 40 the queue manager cannot be reached; 130 you asked it twice to end. With
-jt mqb also 16: there is no queue manager of that name. With -jf also 77: another process has
its files, and whatever else `posthaste start` is refused with.
";

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::cph) fn read(line: &str) -> Result<Flags, LabError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Flags::read(&long(&words)?)
    }

    #[test]
    fn flags_are_sound_and_explained() {
        command().debug_assert();
        let once = long(&["-tx", "-nt", "4"].map(str::to_owned)).unwrap();
        assert_eq!(once, ["--tx", "--nt=4"]);
        assert_eq!(long(&once).as_ref(), Ok(&once));
        let help = help();
        for part in [
            "-tc MODULE",
            "--warm-up S",
            "--async ",
            "-jl CIPHERSPEC",
            "-ql ",
            "[60]",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
        assert!(!help.contains("child"));
        assert!(
            help.lines().all(|line| line.chars().count() <= 98),
            "{help}"
        );
    }

    #[test]
    fn words_are_read_as_mq_cph_reads_them() {
        let flags = read("-tc sender -tx -nt 4 --sp FALSE -to -1 -cv false -id -x -nt 5").unwrap();
        assert_eq!(flags.course.module, Module::Sender);
        assert_eq!((flags.course.applications, flags.calls.wait), (5, None));
        assert!(flags.unit.syncpoint && !flags.output.each && !flags.calls.convert);
        assert!(flags.output.summary && flags.calls.by_correlation_id && !flags.own.child);
        assert_eq!(flags.output.id.as_deref(), Some("-x"));
        for fine in [
            "-cb false",
            "-ve 0",
            "-ql 0",
            "-jy false",
            "-pp false -ppn",
            "-ss 0",
        ] {
            assert!(read(&format!("-tc Sender {fine}")).is_ok(), "{fine}");
        }
    }

    /// Flags, and what is said of them.
    const WRONG: &str = "
         | say what to do with -tc
        -tc Dummy | -tc Dummy: this module is not in this release
        -tc Nothing | -tc Nothing: there is no such module
        -xx | -xx is not an option
        --unknown 3 | --unknown is not an option
        tc | tc is not an option
        -tc | -tc needs a value: MODULE
        - | - is not an option
        -- | -- is not an option
        -tc Sender -ql 5 | -ql 5: keys are not renewed
        -tc Sender -jl ANY --multiplex 1 | -jl and --multiplex exclude each other
        -tc Sender -kr a.p12 | -kr and -jw
        -tc Sender -jt mqb -jl ANY | -jl is for clients
        -tc Sender -cb | -cb true: the driver has no callbacks
        -tc Sender -ve 3 | -ve 3: there is no trace file
        -tc Sender -nt -3 | -nt -3: -3 is not in 0..=4294967295
        -tc Sender -cc 1.5 | -cc 1.5: a whole number is needed
        -tc Sender -cc 4294967296 | -cc 4294967296: 4294967296 is not in 0..=4294967295
        -tc Sender -mg 99999999999999999999 | a whole number is needed (number too large
        -tc Sender -ms 104857601 | -ms 104857601: a whole number from 0 to 104857600
        -tc Sender -jp 0 | -jp 0: 0 is not in 1..=65535
        -tc Sender --multiplex -1 | --multiplex -1: -1 is not in 0..=4294967295
        -tc Sender --processes 0 | --processes 0: 0 is not in 1..=1000
        -tc Sender -rt 1e10 | -rt 1e10: iterations a second from 0 to 1000000000
        -tc Sender -rt nan | -rt nan: iterations a second
        -tc Sender -wt -1 | -wt -1: seconds from 0 to 1000000000 are needed
        -tc Sender -to -2 | -to -2: seconds
        -tc Sender -sd never | -sd never: one of these: normal, tlf
        -tc Sender -jt mqx | -jt mqx: one of these: mqc, mqb
        -tc Sender -jc A.CHANNEL.NAME.TOO.LONG | a channel's name has 1 to 20 characters
        -tc Sender -pp -ppn | -pp and -ppn exclude each other
        -tc Sender -mf a -mr | -mf and -mr exclude each other
        -tc Sender -mf a -ms 5 | -mf and -ms exclude each other
        -tc Sender -tx -txz | -txz (outside syncpoint)
        -tc Sender -jf | -jf true needs -jt mqb
        -tc Sender -jt mqb -jh far | -jh is for clients
        -tc Sender -jt mqb -jf --processes 2 | --processes exclude
        -tc Sender -jt mqb -jf --multiplex 1 | --multiplex exclude
        -tc Sender -mg 5 --warm-up 2 | --warm-up exclude
        -tc Sender -dq 3 | -dq is for Requester, not for Sender
        -tc Receiver --async | --async is for Sender, not for Receiver
        -tc Receiver -co | -co is for Requester, Responder, PutGet
        -tc Responder --responders 2 | --responders is for Requester";

    #[test]
    fn what_is_wrong_is_named() {
        for (line, expected) in WRONG.lines().filter_map(|line| line.split_once(" | ")) {
            let error = read(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
