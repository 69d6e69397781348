//! Every option of MQ-CPH that we know, and our own; what each takes, and why some are refused.
//!
//! Invariant: the table is the whole truth. What is not in it is unknown; what is in it is done, or
//! refused with the reason that stands there.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};
use std::str::FromStr;

use crate::workload::{Module, PerfError};

use Module::{PutGet, Receiver, Requester, Responder, Sender};

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// `true` or `false`, or nothing, which is `true`.
    Flag,
    /// A word of this kind.
    Word(&'static str),
}

/// For whom an option is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum For {
    /// Every module.
    All,
    /// These modules.
    Only(&'static [Module]),
    /// Nobody, for this reason, but for the value that changes nothing.
    Nobody {
        /// Why.
        why: &'static str,
        /// Values that change nothing.
        unless: &'static [&'static str],
    },
    /// Between our own processes; not shown.
    Hidden,
}

/// An option.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) whom: For,
    pub(crate) help: &'static str,
}

const fn word(name: &'static str, value: &'static str, whom: For, help: &'static str) -> Known {
    Known {
        name,
        takes: Takes::Word(value),
        whom,
        help,
    }
}

const fn flag(name: &'static str, whom: For, help: &'static str) -> Known {
    Known {
        name,
        takes: Takes::Flag,
        whom,
        help,
    }
}

const fn no(why: &'static str, unless: &'static [&'static str]) -> For {
    For::Nobody { why, unless }
}

const TLS: &str = "TLS is not in this release";
const RECONNECT: &str = "automatic reconnection is not in this release";
const PUBSUB: &str = "publish/subscribe is not in this release";
const OFF: &[&str] = &["false"];
const ZERO: &[&str] = &["0"];

/// Headings and options, in the order of the help.
#[rustfmt::skip] // one row, one line
pub(crate) const TABLE: &[(&str, &[Known])] = &[
    ("What to do", &[
        word("tc", "MODULE", For::All, "Requester, Responder, Sender, Receiver or PutGet"),
        word("nt", "N", For::All, "applications, each a thread with a connection [1]"),
        word("rl", "S", For::All, "run length; 0 until stopped [60]"),
        word("mg", "N", For::All, "iterations of each application; 0 endless [0]"),
        word("rt", "N", For::All, "iterations a second of each application; 0 unrated [0]"),
        word("rp", "S", For::All, "the rate is reached after this ramp [0]"),
        word("yd", "N", For::All, "yield after every N iterations [0]"),
        word("sn", "N", no("session numbers mean nothing here", &["1"]), "session number [1]"),
        word("si", "N", no("session intervals mean nothing here", ZERO), "session interval [0]"),
    ]),
    ("Messages", &[
        word("ms", "BYTES", For::All, "length of a message [1000]"),
        word("mf", "FILE", For::All, "messages are this file"),
        flag("mr", For::All, "text without a pattern, which does not compress [false]"),
        word("rs", "BYTES", For::All, "get buffer; 0 as -ms; it grows when needed [0]"),
        word("mfm", "FORMAT", For::All, "format [MQSTR]"),
        flag("pp", For::All, "persistent; neither this nor -ppn: as the queue's DEFPSIST"),
        flag("ppn", For::All, "not persistent"),
        flag("rf", no("RFH2 headers are not put by this release", OFF), "RFH2 header"),
        flag("mh", no("message handles are not in this release", OFF), "message handle"),
    ]),
    ("Units of work", &[
        flag("tx", For::All, "put and get in syncpoint [false]"),
        flag("txz", For::All, "explicitly outside syncpoint, which is so anyway"),
        word("cc", "N", For::All, "iterations of a unit of work [1]"),
        flag("txp", For::Only(&[Requester]), "only put in syncpoint"),
        flag("txg", For::Only(&[Requester]), "only get in syncpoint"),
    ]),
    ("Queues", &[
        word("d", "PREFIX", For::Only(&[Sender, Receiver, PutGet]), "queue, or what its name begins with [DEST]"),
        word("iq", "PREFIX", For::Only(&[Requester, Responder]), "request queue [REQUEST]"),
        word("oq", "PREFIX", For::Only(&[Requester, Responder]), "reply queue [REPLY]"),
        word("db", "N", For::All, "first number behind the prefix, which applications take in turn [0]"),
        word("dx", "N", For::All, "last number; -db alone goes on without end [0]"),
        word("dn", "N", For::All, "how many; with -db and -dx both: the number to begin with [0]"),
    ]),
    ("Calls", &[
        word("to", "S", For::All, "a get waits; -1 for ever [5]"),
        flag("p1", For::Only(&[Requester, Responder, Sender, PutGet]), "MQPUT1 [false]"),
        flag("cv", For::All, "MQGMO_CONVERT [true]"),
        flag("co", For::Only(&[Requester, Responder, PutGet]), "by correlation identifier [true]"),
        word("dq", "N", For::Only(&[Requester]), "requests of an application under way at once [1]"),
        flag("cr", For::Only(&[Responder]), "the reply is the request again [true]"),
        flag("cs", no("selectors are not in this release", OFF), "by selector"),
        word("gs", "TEXT", no("selectors are not in this release", &[]), "custom selector"),
        flag("cb", no("callbacks (MQCB) are not in this release", OFF), "callback"),
        flag("jy", no("read ahead is not in this release", OFF), "read ahead"),
        flag("async", For::Only(&[Sender]), "puts are not answered; MQSTAT tells of failures"),
    ]),
    ("Queue manager", &[
        word("jb", "QM", For::All, "queue manager [whichever answers]"),
        word("jt", "TYPE", For::All, "mqc client, mqb local [mqc]"),
        word("jh", "HOST", For::All, "host [-jb's, else localhost]"),
        word("jp", "PORT", For::All, "port [that of -jb's listener, else 1414]"),
        word("jc", "CHANNEL", For::All, "channel [SYSTEM.DEF.SVRCONN]"),
        flag("jf", For::All, "FASTPATH: the queue manager runs in this process (-jt mqb)"),
        word("us", "USER", For::All, "user"),
        word("pw", "PASSWORD", For::All, "password"),
        word("an", "NAME", For::All, "application name [cph]"),
        word("jl", "CIPHERSPEC", no(TLS, &[]), "CipherSpec"),
        word("jw", "LABEL", no(TLS, &[]), "certificate label"),
        word("kr", "FILE", no(TLS, &[]), "key repository"),
        word("ql", "N", no(TLS, ZERO), "quantum-safe key exchange"),
        word("cz", "LIST", no("compression is not in this release", &[]), "compression"),
        word("ar", "OPTION", no(RECONNECT, &[]), "reconnect"),
        word("h2", "HOST", no(RECONNECT, &[]), "second host"),
        word("p2", "PORT", no(RECONNECT, &[]), "second port"),
        word("ccdt", "URL", no("client channel definition tables are not in this release", &[]), "CCDT"),
        flag("tp", no(PUBSUB, &[]), "topic"),
        flag("du", no(PUBSUB, &[]), "durable"),
        flag("un", no(PUBSUB, &[]), "unsubscribe"),
    ]),
    ("Output", &[
        word("ss", "S", For::All, "between rate lines; 0 none [10]"),
        word("id", "TAG", For::All, "printed as id=TAG before each line"),
        flag("su", For::All, "summary at the end [true]"),
        flag("sp", For::All, "rates of each application, tab separated [false]"),
        flag("ls", For::All, "latency: average, and percentiles at the end [false]"),
        word("sd", "KIND", For::All, "seconds until: normal, the end; tlf, the last iteration [normal]"),
        word("ts", "0|1", For::All, "time stamp before each line [0]"),
        word("vo", "LEVEL", For::All, "below 3: no notes on standard error [4]"),
        word("ve", "LEVEL", no("there is no trace file", ZERO), "trace level"),
    ]),
    ("Start and end", &[
        word("wi", "MS", For::All, "between starts of two applications (MQ-CPH: 1000) [0]"),
        word("wt", "S", For::All, "for all applications to be ready; 0 no limit [30]"),
        flag("sh", For::All, "Ctrl-C gives the summary [true]"),
    ]),
    ("Not in MQ-CPH", &[
        word("warm-up", "S", For::All, "run so long before anything is counted [0]"),
        word("multiplex", "THREADS", For::All, "carry the connections in so many loops, not a thread each"),
        word("responders", "N", For::Only(&[Requester]), "start so many responders, too [0]"),
        word("processes", "N", For::All, "so many driver processes, collated [1]"),
        word("data-dir", "DIR", For::All, "folder that holds queue managers"),
        flag("child", For::Hidden, ""),
    ]),
];

/// The option of that name.
pub(crate) fn known(name: &str) -> Option<&'static Known> {
    TABLE
        .iter()
        .flat_map(|(_, options)| options.iter())
        .find(|known| known.name == name)
}

/// An option's name as it is usually written.
fn dashed(name: &str) -> String {
    let dashes = match name.len() {
        0..=4 => "-",
        _ => "--",
    };
    format!("{dashes}{name}")
}

/// How an option is written.
fn written(known: &Known) -> String {
    match known.takes {
        Takes::Flag => dashed(known.name),
        Takes::Word(value) => format!("{} {value}", dashed(known.name)),
    }
}

/// What `--help` says of the options.
pub fn help() -> String {
    let mut text = String::new();
    let mut refused: Vec<(&str, Vec<String>)> = Vec::new();
    for (heading, options) in TABLE {
        let _ = writeln!(text, "{heading}:");
        for known in *options {
            let whom = match known.whom {
                For::Hidden => continue,
                For::Nobody { why, .. } => {
                    let name = format!("-{}", known.name);
                    match refused.iter_mut().find(|(reason, _)| *reason == why) {
                        Some((_, names)) => names.push(name),
                        None => refused.push((why, vec![name])),
                    }
                    continue;
                }
                For::All => String::new(),
                For::Only(modules) => {
                    let names: Vec<&str> = modules.iter().map(|module| module.name()).collect();
                    format!(" ({})", names.join(", "))
                }
            };
            let _ = writeln!(text, "  {:<20} {}{whom}", written(known), known.help);
        }
        text.push('\n');
    }
    text.push_str("Known, and refused:\n");
    for (why, names) in refused {
        let _ = writeln!(text, "  {:<20} {why}", names.join(" "));
    }
    text.push('\n');
    text.push_str(EXAMPLES);
    text
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
be written with one dash or two. With a rate, latency counts from when an iteration was due,
so that waiting for a slow queue manager is in it.

Exit codes: 0 everything was done, or you ended it; 1 something went wrong: on the way, and the
results are marked, or at the start (a queue, a channel, -wt), and there are none; 39 the flags
are not right; 40 the queue manager cannot be reached; 130 you asked it twice to end. With
-jt mqb also 16: there is no queue manager of that name. With -jf also 77: another process has
its files, and whatever else `posthaste start` is refused with.
";

/// The options as they were given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    values: HashMap<&'static str, String>,
}

fn usage(what: String) -> PerfError {
    PerfError::Usage(what)
}

impl Given {
    /// Reads a command line.
    pub(crate) fn read(flags: &[String]) -> Result<Given, PerfError> {
        let mut given = Given::default();
        let mut words = flags.iter().peekable();
        while let Some(written) = words.next() {
            let Some(name) = written.strip_prefix('-') else {
                return Err(usage(format!(
                    "{written} is not an option, and nothing takes it"
                )));
            };
            let name = name.strip_prefix('-').unwrap_or(name);
            let Some(known) = known(name) else {
                return Err(usage(format!(
                    "{written} is not an option; posthaste perf --help lists them"
                )));
            };
            let value = match known.takes {
                Takes::Word(kind) => words
                    .next()
                    .cloned()
                    .ok_or_else(|| usage(format!("{written} needs a value: {kind}")))?,
                Takes::Flag => words
                    .next_if(|word| truth(word).is_some())
                    .map_or_else(|| "true".to_owned(), |word| word.to_lowercase()),
            };
            if let For::Nobody { why, unless } = known.whom
                && !unless.contains(&value.as_str())
            {
                return Err(usage(format!("{written} {value}: {why}")));
            }
            given.values.insert(known.name, value);
        }
        Ok(given)
    }

    /// Refuses options that are for other modules.
    pub(crate) fn check_module(&self, module: Module) -> Result<(), PerfError> {
        let mut wrong: Vec<(&str, &[Module])> = Vec::new();
        for name in self.values.keys() {
            if let Some(Known {
                whom: For::Only(modules),
                ..
            }) = known(name)
                && !modules.contains(&module)
            {
                wrong.push((name, modules));
            }
        }
        wrong.sort_by_key(|(name, _)| *name);
        match wrong.first() {
            None => Ok(()),
            Some((name, modules)) => {
                let names: Vec<&str> = modules.iter().map(|module| module.name()).collect();
                Err(usage(format!(
                    "{} is for {}, not for {}",
                    dashed(name),
                    names.join(", "),
                    module.name()
                )))
            }
        }
    }

    /// A word, if it was given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether the option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A flag.
    pub(crate) fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.text(name).and_then(truth).unwrap_or(otherwise)
    }

    /// A whole number.
    pub(crate) fn number<T: Whole>(&self, name: &str, otherwise: T) -> Result<T, PerfError> {
        self.within(name, otherwise, T::MOST)
    }

    /// A whole number, at most so large.
    pub(crate) fn within<T: Whole>(
        &self,
        name: &str,
        otherwise: T,
        most: T,
    ) -> Result<T, PerfError> {
        let Some(text) = self.text(name) else {
            return Ok(otherwise);
        };
        let number = text.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| {
            usage(format!(
                "{} {text}: a whole number from 0 to {most} is needed",
                dashed(name)
            ))
        })
    }

    /// Seconds, also with decimals.
    pub(crate) fn seconds(&self, name: &str, otherwise: f64) -> Result<f64, PerfError> {
        self.decimal(name, otherwise, "seconds")
    }

    /// A number of something, also with decimals.
    pub(crate) fn decimal(&self, name: &str, otherwise: f64, what: &str) -> Result<f64, PerfError> {
        let Some(text) = self.text(name) else {
            return Ok(otherwise);
        };
        let number = text.parse().ok().filter(|n| (0.0..=1e9).contains(n));
        number.ok_or_else(|| {
            usage(format!(
                "{} {text}: {what} from 0 to 1000000000 are needed",
                dashed(name)
            ))
        })
    }
}

/// A kind of whole number.
pub(crate) trait Whole: FromStr + PartialOrd + Display {
    /// The largest.
    const MOST: Self;
}

impl Whole for u16 {
    const MOST: u16 = u16::MAX;
}

impl Whole for u32 {
    const MOST: u32 = u32::MAX;
}

impl Whole for u64 {
    const MOST: u64 = u64::MAX;
}

impl Whole for usize {
    const MOST: usize = usize::MAX;
}

fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn read(line: &str) -> Result<Given, PerfError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Given::read(&words)
    }

    #[test]
    fn names_are_unique_and_explained() {
        let mut seen = HashSet::new();
        for known in TABLE.iter().flat_map(|(_, options)| options.iter()) {
            assert!(seen.insert(known.name), "{}", known.name);
            assert!(matches!(known.whom, For::Hidden) || !known.help.is_empty());
        }
        let help = help();
        for name in ["-tc MODULE", "--warm-up S", "--async", "-jl -jw -kr -ql "] {
            assert!(help.contains(name), "{name}");
        }
        assert!(!help.contains("child"));
        assert!(
            help.lines().all(|line| line.chars().count() <= 98),
            "{help}"
        );
    }

    #[test]
    fn values_and_flags_are_read() {
        let given = read("-tc Sender -tx -nt 4 --sp FALSE -to -1 -cv false").unwrap();
        assert_eq!(given.text("tc"), Some("Sender"));
        assert!(given.flag("tx", false));
        assert!(!given.flag("sp", true));
        assert!(!given.flag("cv", true));
        assert!(given.flag("su", true));
        assert_eq!(given.number("nt", 1u32), Ok(4));
        assert_eq!(given.number("mg", 7u64), Ok(7));
        assert_eq!(given.text("to"), Some("-1"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, expected) in [
            ("-xx", "-xx is not an option"),
            ("--unknown 3", "--unknown is not an option"),
            ("tc", "tc is not an option"),
            ("-tc", "-tc needs a value: MODULE"),
            ("-jl ANY", "-jl ANY: TLS is not in this release"),
            ("-cz ZLIB", "compression is not in this release"),
            ("-cb", "-cb true: callbacks"),
            ("-ve 3", "-ve 3: there is no trace file"),
            ("-", "- is not an option"),
            ("--", "-- is not an option"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
        for fine in ["-cb false", "-ve 0", "-ql 0", "-jy false", ""] {
            assert!(read(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_named() {
        let given = read("-nt -3 -rl x -ss -1 -rt 1e400").unwrap();
        assert!(
            given
                .number("nt", 1u32)
                .unwrap_err()
                .to_string()
                .contains("-nt -3")
        );
        assert!(
            given
                .seconds("rl", 0.0)
                .unwrap_err()
                .to_string()
                .contains("-rl x")
        );
        assert!(
            given
                .seconds("ss", 0.0)
                .unwrap_err()
                .to_string()
                .contains("-ss -1")
        );
        assert!(given.seconds("rt", 0.0).is_err());
    }

    #[test]
    fn options_of_other_modules_are_refused() {
        let given = read("-tc Sender -dq 3").unwrap();
        let error = given.check_module(Module::Sender).unwrap_err().to_string();
        assert_eq!(error, "-dq is for Requester, not for Sender");
        assert!(given.check_module(Module::Requester).is_ok());
    }
}
