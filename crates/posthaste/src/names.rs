//! Under which name the binary was called, and MQ's way of writing options.
//!
//! MQ's commands have options of several letters behind one dash (`-ld`); here they are long options,
//! so a dash is added to those, and only for the commands that have them. `-h` alone asks for help also where it is an
//! option that needs a value (`crtmqm -h`).

use std::ffi::OsString;
use std::path::Path;

use posthaste_server::Exit;

/// MQ's names and the subcommands they are.
const MQ_NAMES: &[(&str, &str)] = &[
    ("crtmqm", "create"),
    ("strmqm", "start"),
    ("endmqm", "stop"),
    ("dltmqm", "delete"),
    ("dspmq", "list"),
    ("dspmqtrn", "transactions"),
    ("rsvmqtrn", "resolve"),
    ("setmqaut", "setmqaut"),
    ("dspmqaut", "dspmqaut"),
    ("dmpmqaut", "dmpmqaut"),
    ("runmqsc", "mqsc"),
    ("dmpmqcfg", "save"),
    ("addmqinf", "addmqinf"),
    ("rmvmqinf", "rmvmqinf"),
    ("dspmqinf", "dspmqinf"),
    ("dspmqver", "dspmqver"),
    ("mqldt", "disktest"),
    ("cph", "perf"),
    ("amqsput", "amqsput"),
    ("amqsputc", "amqsputc"),
    ("amqsget", "amqsget"),
    ("amqsgetc", "amqsgetc"),
    ("amqsbcg", "amqsbcg"),
    ("amqsbcgc", "amqsbcgc"),
    ("amqsgbr", "amqsgbr"),
    ("amqsgbrc", "amqsgbrc"),
    ("amqspub", "amqspub"),
    ("amqspubc", "amqspubc"),
    ("amqssub", "amqssub"),
    ("amqssubc", "amqssubc"),
];

/// Commands and samples of MQ that are not here, and what serves instead or why there is none; nothing if it is plain.
const NOT_HERE: &[(&[&str], &str)] = &[
    (
        &["strmqcsv", "endmqcsv", "dspmqcsv"],
        "the command server runs as long as the queue manager",
    ),
    (
        &["runmqlsr", "endmqlsr"],
        "listeners are objects (DEFINE, START, STOP LISTENER in runmqsc; crtmqm -p makes one)",
    ),
    (
        &[
            "runmqakm",
            "runmqckm",
            "runmqicred",
            "runmqktool",
            "strmqikm",
        ],
        "`posthaste certs` makes and shows certificates, openssl does the rest",
    ),
    (
        &["runmqcred", "runqmcred"],
        "definitions hold no passwords: docs/security.md says where each is kept",
    ),
    (
        &["runmqccred"],
        "there is no mqccred exit whose passwords it hides; applications give user and password in MQCSP, commands by -u",
    ),
    (
        &["runamscred"],
        "Advanced Message Security is not here; `posthaste encryption` has messages sealed on the disk",
    ),
    (
        &["setmqxacred"],
        "no resource managers are coordinated here; a transaction manager coordinates this queue manager over XA",
    ),
    (
        &["crtmqcvx"],
        "there are no conversion exits; MQSTR, MQHRF2, PCF and MQ's headers are converted without",
    ),
    (
        &["setmqprd", "dspmqcap"],
        "no licence is counted or recorded",
    ),
    (
        &["rcdmqimg", "rcrmqobj", "dmpmqlog", "migmqlog"],
        "there is circular logging only, which has no media images; the log's format is in docs/internals/files.md",
    ),
    (
        &["mqrc"],
        "docs/at-night.md has the reason codes and message numbers that matter, docs/messages.md all messages",
    ),
    (&["mqconfig"], "`posthaste doctor` checks the machine"),
    (
        &["runmqchi", "runmqchl", "dspmqrte"],
        "there are no message channels between queue managers",
    ),
    (
        &["setmqini"],
        "edit qm.ini, and let `posthaste check` look at it",
    ),
    (
        &[
            "dspmqinst",
            "crtmqinst",
            "dltmqinst",
            "setmqinst",
            "setmqenv",
            "crtmqenv",
            "setmqm",
        ],
        "this is one program, which needs no installation; dspmqver shows where it is",
    ),
    (
        &[
            "amqmdain",
            "amqsact",
            "amqsblst",
            "amqsecho",
            "amqsevt",
            "amqsghac",
            "amqsinq",
            "amqsinqc",
            "amqsmhac",
            "amqsphac",
            "amqsreq",
            "amqsrua",
            "amqsset",
            "amqssetc",
            "amqstrg",
            "amqsgrw",
            "dmpmqmsg",
            "dspmqfls",
            "dspmqspl",
            "dspmqtrc",
            "dspmqweb",
            "endmqtrc",
            "endmqweb",
            "rdqmadm",
            "rdqmdr",
            "rdqmint",
            "rdqmstatus",
            "runmqbcb",
            "runmqdlq",
            "runmqras",
            "runmqsfb",
            "runmqtmc",
            "runmqtrm",
            "runswchl",
            "setmqspl",
            "setmqweb",
            "strmqtrc",
            "strmqweb",
        ],
        "",
    ),
];

/// Options of several letters behind one dash.
const LONG: &[(&str, &[&str])] = &[
    (
        "create",
        &[
            "lc", "ld", "lf", "ll", "lla", "lln", "lp", "lr", "ls", "md", "oa", "ic", "ii", "iv",
            "sa", "sax", "si", "ss",
        ],
    ),
    ("start", &["ns", "si", "ss"]),
    ("stop", &["tp"]),
];

/// The subcommand that a word names.
fn subcommand(word: &str) -> &str {
    let row = MQ_NAMES.iter().find(|(name, _)| *name == word);
    row.map_or(word, |(_, subcommand)| subcommand)
}

/// Commands whose own words all go to them.
const WORDS: [&str; 3] = ["setmqaut", "dspmqaut", "dmpmqaut"];

/// The command line with the subcommand in second place and options as the parser wants them.
pub(crate) fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut given = given.into_iter();
    let called = given.next().unwrap_or_else(|| OsString::from("posthaste"));
    let own_name = Path::new(&called)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut arguments = vec![OsString::from("posthaste")];
    if MQ_NAMES.iter().any(|(name, _)| *name == own_name) || not_here(&own_name).is_some() {
        arguments.push(OsString::from(subcommand(&own_name)));
    }
    arguments.extend(given);
    let Some(at) = position(&arguments) else {
        return arguments;
    };
    let command = arguments
        .get(at)
        .map(|word| word.to_string_lossy().into_owned());
    let options = arguments.get(at + 1..).unwrap_or_default();
    // `dspmqtrn -h` shows what was completed heuristically.
    let asks = command.as_deref().map(subcommand) != Some("transactions");
    let short = asks && *options == [OsString::from("-h")];
    // What authorities are set and shown by has words, and no options but this one.
    let has_words = command.as_deref().is_some_and(|name| WORDS.contains(&name));
    if short || has_words && *options == [OsString::from("--help")] {
        arguments.truncate(at + 1);
        arguments.push(OsString::from(if has_words { "-?" } else { "--help" }));
        return arguments;
    }
    let long = LONG
        .iter()
        .find(|(name, _)| command.as_deref().map(subcommand) == Some(*name));
    if let Some((_, long)) = long {
        for argument in arguments.iter_mut().skip(at + 1) {
            let text = argument.to_string_lossy();
            let is_long = text
                .strip_prefix('-')
                .is_some_and(|name| long.contains(&name));
            if is_long {
                *argument = OsString::from(format!("-{text}"));
            }
        }
    }
    arguments
}

/// Where the subcommand stands: behind the options that come before it.
fn position(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(argument) = arguments.get(at) {
        match argument.to_str() {
            Some("--data-dir") => at += 2,
            Some(option) if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// What to do without a command of MQ that is not here.
fn not_here(word: &str) -> Option<&'static str> {
    let row = NOT_HERE.iter().find(|(names, _)| names.contains(&word));
    row.map(|(_, instead)| *instead)
}

/// What there is to say when a command of MQ was typed that this release does not have.
pub(crate) fn absent(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(position(arguments)?)?.to_str()?;
    let instead = not_here(word)?;
    let what = format!("{word} is a command of MQ that is not in this release");
    Some(match instead {
        "" => format!("{what}."),
        instead => format!("{what}: {instead}."),
    })
}

/// How a command ends that was called wrongly.
pub(crate) fn wrong_usage(arguments: &[OsString]) -> Exit {
    let word = position(arguments).and_then(|at| arguments.get(at));
    match word.and_then(|word| word.to_str()).map(subcommand) {
        Some("mqsc") => Exit::NoCommands,
        Some("transactions" | "resolve" | "setmqaut" | "dspmqaut" | "dmpmqaut") => {
            Exit::InvalidArguments
        }
        Some(sample) if sample.starts_with("amqs") => Exit::NoQueueNamed,
        _ => Exit::BadParameter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let words = arguments(line.split(' ').map(OsString::from));
        let words: Vec<String> = words
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        words.join(" ")
    }

    #[test]
    fn every_way_of_calling_comes_to_the_same() {
        for (given, expected) in [
            ("posthaste run QM1", "posthaste run QM1"),
            ("/usr/bin/crtmqm -lf 64 QM1", "posthaste create --lf 64 QM1"),
            (
                "x/posthaste create -ld /a -q",
                "posthaste create --ld /a -q",
            ),
            ("posthaste crtmqm -md /a", "posthaste crtmqm --md /a"),
            (
                "posthaste --data-dir /d create -ls 3",
                "posthaste --data-dir /d create --ls 3",
            ),
            ("endmqm -tp 5 QM1", "posthaste stop --tp 5 QM1"),
            ("endmqm -i QM1", "posthaste stop -i QM1"),
            ("cph -tc Sender -lf", "posthaste perf -tc Sender -lf"),
            ("dspmq", "posthaste list"),
            ("crtmqm -h", "posthaste create --help"),
            ("dspmqtrn -h", "posthaste transactions -h"),
            ("rsvmqtrn -h", "posthaste resolve --help"),
            ("crtmqm -h 5 QM1", "posthaste create -h 5 QM1"),
            ("posthaste put -ld", "posthaste put -ld"),
            ("amqsput Q QM", "posthaste amqsput Q QM"),
            ("mqldt --dir=/d", "posthaste disktest --dir=/d"),
            ("/opt/bin/strmqcsv QM1", "posthaste strmqcsv QM1"),
            ("posthaste", "posthaste"),
            ("posthaste --version", "posthaste --version"),
        ] {
            assert_eq!(shown(given), expected);
        }
    }

    #[test]
    fn nothing_is_here_and_not_here() {
        for (names, instead) in NOT_HERE {
            for name in *names {
                assert!(!MQ_NAMES.iter().any(|(here, _)| here == name), "{name}");
                assert!(!instead.ends_with('.'), "{name}");
            }
        }
    }

    #[test]
    fn each_command_that_is_not_here_says_so_once() {
        let all: Vec<&str> = NOT_HERE
            .iter()
            .flat_map(|(names, _)| *names)
            .copied()
            .collect();
        for name in &all {
            assert_eq!(
                all.iter().filter(|other| *other == name).count(),
                1,
                "{name}"
            );
            let words = arguments([OsString::from(format!("/opt/mqm/bin/{name}"))]);
            let line = absent(&words).unwrap();
            let begins = format!("{name} is a command of MQ that is not in this release");
            assert!(line.starts_with(&begins), "{line}");
        }
        for name in [
            "runmqccred",
            "runmqicred",
            "runamscred",
            "strmqikm",
            "amqsinqc",
            "amqssetc",
            "setmqprd",
            "setmqxacred",
            "runmqbcb",
            "crtmqcvx",
            "dspmqcap",
        ] {
            assert!(all.contains(&name), "{name}");
        }
    }

    #[test]
    fn wrong_usage_has_the_command_s_code() {
        let code = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            wrong_usage(&words)
        };
        assert_eq!(code("posthaste create"), Exit::BadParameter);
        assert_eq!(code("posthaste runmqsc"), Exit::NoCommands);
        assert_eq!(code("posthaste amqsput"), Exit::NoQueueNamed);
        assert_eq!(code("posthaste"), Exit::BadParameter);
    }
}
