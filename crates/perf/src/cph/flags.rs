//! The flags of MQ-CPH, and our own: a row each, with what it takes, its default, and what `--help` says of it.
//!
//! Invariant: a flag is either done as MQ-CPH does it, or refused by its name for the reason that stands in
//! [`REFUSED`]; none is passed over.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::workload::{LONGEST, Module};

/// What 0, or another word that says so, makes none of.
type OrNone<T> = Option<T>;

/// Structs that clap reads, from a row per flag: its field, its name, what it takes, its default, what else clap is to
/// know, and what `--help` says.
macro_rules! flags {
    ($($group:ident: $struct:ident = $heading:literal {
        $($field:ident: $type:ty, $name:literal $($value:literal)? $(= $default:literal)? $([$($more:tt)*])?, $help:literal;)*
    })*) => {
        /// All of them.
        #[derive(Parser, Debug)]
        #[command(no_binary_name = true, disable_help_flag = true, args_override_self = true)]
        pub(super) struct Flags {
            $(#[command(flatten, next_help_heading = $heading)] pub(super) $group: $struct,)*
        }
        $(#[derive(Parser, Debug)]
        pub(super) struct $struct {
            $(#[arg(
                long = $name, help = $help,
                $(value_name = $value,)? $(default_value = $default,)? $($($more)*)?
            )]
            pub(super) $field: $type,)*
        })*
    };
}

flags! {
    course: CourseFlags = "What to do" {
        module: Module, "tc" "MODULE" [value_parser = module], "Requester, Responder, Sender, Receiver or PutGet";
        applications: u32, "nt" "N" = "1", "applications, each a thread with a connection";
        length: OrNone<Duration>, "rl" "S" = "60" [value_parser = some_seconds], "run length; 0 until stopped";
        iterations: u64, "mg" "N" = "0", "iterations of each application; 0 endless";
        rate: f64, "rt" "N" = "0" [value_parser = rate], "iterations a second of each application; 0 unrated";
        ramp: Duration, "rp" "S" = "0" [value_parser = seconds], "the rate is reached after this ramp";
        yield_every: u64, "yd" "N" = "0", "yield after every N iterations";
    }
    message: MessageFlags = "Messages" {
        bytes: usize, "ms" "BYTES" = "1000" [value_parser = length], "length of a message";
        file: Option<PathBuf>, "mf" "FILE" [conflicts_with = "bytes"], "messages are this file, which makes the length";
        random: bool, "mr", "text without a pattern, which does not compress";
        buffer: usize, "rs" "BYTES" = "0" [value_parser = length], "get buffer; 0 as -ms; it grows when needed";
        format: String, "mfm" "FORMAT" = "MQSTR", "format";
        persistent: bool, "pp", "persistent; neither this nor -ppn: as the queue's DEFPSIST";
        not_persistent: bool, "ppn", "not persistent";
    }
    unit: UnitFlags = "Units of work" {
        syncpoint: bool, "tx", "put and get in syncpoint";
        no_syncpoint: bool, "txz", "explicitly outside syncpoint, which is so anyway";
        batch: u32, "cc" "N" = "1", "iterations of a unit of work";
        syncpoint_put: bool, "txp", "only put in syncpoint";
        syncpoint_get: bool, "txg", "only get in syncpoint";
    }
    queues: QueueFlags = "Queues" {
        destinations: String, "d" "PREFIX" = "DEST", "queue, or what its name begins with";
        requests: String, "iq" "PREFIX" = "REQUEST", "request queue";
        replies: String, "oq" "PREFIX" = "REPLY", "reply queue";
        base: u32, "db" "N" = "0", "first number behind the prefix, which applications take in turn";
        max: u32, "dx" "N" = "0", "last number; -db alone goes on without end";
        count: u32, "dn" "N" = "0", "how many; with -db and -dx both: the number to begin with";
    }
    calls: CallFlags = "Calls" {
        wait: OrNone<Duration>, "to" "S" = "5" [value_parser = wait], "a get waits; -1 for ever";
        put1: bool, "p1", "MQPUT1";
        convert: bool, "cv" = "true", "MQGMO_CONVERT";
        by_correlation_id: bool, "co" = "true", "by correlation identifier";
        queue_depth: u32, "dq" "N" = "1", "requests of an application under way at once";
        copy_request: bool, "cr" = "true", "the reply is the request again";
        asynchronous: bool, "async", "puts are not answered; MQSTAT tells of failures";
    }
    to: ManagerFlags = "Queue manager" {
        name: Option<String>, "jb" "QM", "queue manager [whichever answers]";
        binding: String, "jt" "TYPE" = "mqc" [value_parser = ["mqc", "mqb"]], "mqc client, mqb local";
        host: Option<String>, "jh" "HOST", "host [-jb's, else localhost]";
        port: Option<u16>, "jp" "PORT" [value_parser = clap::value_parser!(u16).range(1..)], "port [that of -jb's listener, else 1414]";
        channel: String, "jc" "CHANNEL" = "DEV.APP.SVRCONN" [value_parser = channel], "channel";
        cipher_spec: Option<String>, "jl" "CIPHERSPEC", "TLS with this CipherSpec or alias; a thread each carries it [none]";
        key_repository: Option<PathBuf>, "kr" "FILE", "key repository, with its password in a stash file or MQKEYRPWD [MQSSLKEYR]";
        label: Option<String>, "jw" "LABEL", "label of the client's certificate [MQCERTLABL]";
        inside: bool, "jf", "FASTPATH: the queue manager runs in this process (-jt mqb)";
        user: Option<String>, "us" "USER", "user";
        password: Option<String>, "pw" "PASSWORD", "password";
        application: String, "an" "NAME" = "cph", "application name";
    }
    output: OutputFlags = "Output" {
        interval: OrNone<Duration>, "ss" "S" = "10" [value_parser = some_seconds], "between rate lines; 0 none";
        id: Option<String>, "id" "TAG", "printed as id=TAG before each line";
        summary: bool, "su" = "true", "summary at the end";
        each: bool, "sp", "rates of each application, tab separated";
        latency: bool, "ls", "latency: average, and percentiles at the end";
        until: String, "sd" "KIND" = "normal" [value_parser = ["normal", "tlf"]], "seconds until: normal, the end; tlf, the last iteration";
        time_stamps: u32, "ts" "0|1" = "0", "time stamp before each line";
        verbosity: u32, "vo" "LEVEL" = "4", "below 3: no notes on standard error";
    }
    start: StartFlags = "Start and end" {
        pause: u32, "wi" "MS" = "0", "between starts of two applications (MQ-CPH: 1000)";
        within: Duration, "wt" "S" = "30" [value_parser = seconds], "for all applications to be ready; 0 no limit";
        signals: bool, "sh" = "true", "Ctrl-C gives the summary";
    }
    own: OwnFlags = "Not in MQ-CPH" {
        warm_up: Duration, "warm-up" "S" = "0" [value_parser = seconds], "run so long before anything is counted";
        multiplex: Option<u32>, "multiplex" "THREADS", "carry the connections in so many loops, not a thread each";
        responders: u32, "responders" "N" = "0", "start so many responders, too";
        processes: u32, "processes" "N" = "1" [value_parser = clap::value_parser!(u32).range(1..=1_000)], "so many driver processes, collated";
        data_dir: Option<PathBuf>, "data-dir" "DIR", "folder that holds queue managers";
        child: bool, "child" [hide = true], "one of --processes";
    }
}

/// Flags that are for some modules only.
pub(super) const ONLY: &[(&str, &[Module])] = {
    use Module::{PutGet, Receiver, Requester, Responder, Sender};
    &[
        ("txp txg dq responders", &[Requester]),
        ("cr", &[Responder]),
        ("async", &[Sender]),
        ("iq oq", &[Requester, Responder]),
        ("d", &[Sender, Receiver, PutGet]),
        ("co", &[Requester, Responder, PutGet]),
        ("p1", &[Requester, Responder, Sender, PutGet]),
    ]
};

/// Flags of MQ-CPH that are refused, and why; the value behind `=` changes nothing and is taken, and where that is
/// `false` the flag is a switch.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("sn=1", "session numbers mean nothing here"),
    ("si=0", "session intervals mean nothing here"),
    ("rf=false", "RFH2 headers are not put by this release"),
    ("mh=false", "the driver uses no message handles"),
    ("cs=false gs", "the driver gets without selectors"),
    ("cb=false", "the driver has no callbacks (MQCB)"),
    ("jy=false", "the driver does not read ahead"),
    ("ql=0", "keys are not renewed"),
    ("cz", "compression is not in this release"),
    ("ar h2 p2", "the driver does not reconnect"),
    (
        "ccdt",
        "client channel definition tables are not in this release",
    ),
    (
        "tp=false du=false un=false",
        "the driver does not publish or subscribe",
    ),
    ("ve=0", "there is no trace file"),
];

pub(super) const MODULES: &str = "Requester, Responder, Sender, Receiver, PutGet";
/// Modules of MQ-CPH that are not here.
const ABSENT: &str =
    "Dummy Forwarder PublisherV6 SubscriberV6 DLQMon ReconnectTimer RequesterReconnectTimer";

fn module(name: &str) -> Result<Module, String> {
    let absent = || {
        ABSENT
            .split(' ')
            .any(|absent| absent.eq_ignore_ascii_case(name))
    };
    Module::from_name(name).ok_or_else(|| match absent() {
        true => format!("this module is not in this release; there are {MODULES}"),
        false => format!("there is no such module; there are {MODULES}"),
    })
}

fn decimal(text: &str, what: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=1e9).contains(n));
    number.ok_or_else(|| format!("{what} from 0 to 1000000000 are needed"))
}

fn rate(text: &str) -> Result<f64, String> {
    decimal(text, "iterations a second")
}

fn seconds(text: &str) -> Result<Duration, String> {
    decimal(text, "seconds").map(Duration::from_secs_f64)
}

fn some_seconds(text: &str) -> Result<OrNone<Duration>, String> {
    seconds(text).map(|time| (!time.is_zero()).then_some(time))
}

fn wait(text: &str) -> Result<OrNone<Duration>, String> {
    match text {
        "-1" => Ok(None),
        _ => seconds(text).map(Some),
    }
}

fn length(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| *bytes <= LONGEST);
    bytes.ok_or_else(|| format!("a whole number from 0 to {LONGEST} is needed"))
}

fn channel(name: &str) -> Result<String, &'static str> {
    match (1..=20).contains(&name.len()) {
        true => Ok(name.to_owned()),
        false => Err("a channel's name has 1 to 20 characters"),
    }
}
