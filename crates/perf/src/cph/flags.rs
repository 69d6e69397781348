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

/// All of them.
#[derive(Parser, Debug)]
#[command(
    no_binary_name = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(super) struct Flags {
    #[command(flatten, next_help_heading = "What to do")]
    pub(super) course: CourseFlags,
    #[command(flatten, next_help_heading = "Messages")]
    pub(super) message: MessageFlags,
    #[command(flatten, next_help_heading = "Units of work")]
    pub(super) unit: UnitFlags,
    #[command(flatten, next_help_heading = "Queues")]
    pub(super) queues: QueueFlags,
    #[command(flatten, next_help_heading = "Calls")]
    pub(super) calls: CallFlags,
    #[command(flatten, next_help_heading = "Queue manager")]
    pub(super) to: ManagerFlags,
    #[command(flatten, next_help_heading = "Output")]
    pub(super) output: OutputFlags,
    #[command(flatten, next_help_heading = "Start and end")]
    pub(super) start: StartFlags,
    #[command(flatten, next_help_heading = "Not in MQ-CPH")]
    pub(super) own: OwnFlags,
}

#[derive(Parser, Debug)]
pub(super) struct CourseFlags {
    /// Requester, Responder, Sender, Receiver or PutGet
    #[arg(long = "tc", value_name = "MODULE", value_parser = module)]
    pub(super) module: Module,
    /// applications, each a thread with a connection
    #[arg(long = "nt", value_name = "N", default_value = "1")]
    pub(super) applications: u32,
    /// run length; 0 until stopped
    #[arg(long = "rl", value_name = "S", default_value = "60", value_parser = some_seconds)]
    pub(super) length: OrNone<Duration>,
    /// iterations of each application; 0 endless
    #[arg(long = "mg", value_name = "N", default_value = "0")]
    pub(super) iterations: u64,
    /// iterations a second of each application; 0 unrated
    #[arg(long = "rt", value_name = "N", default_value = "0", value_parser = rate)]
    pub(super) rate: f64,
    /// the rate is reached after this ramp
    #[arg(long = "rp", value_name = "S", default_value = "0", value_parser = seconds)]
    pub(super) ramp: Duration,
    /// yield after every N iterations
    #[arg(long = "yd", value_name = "N", default_value = "0")]
    pub(super) yield_every: u64,
}

#[derive(Parser, Debug)]
pub(super) struct MessageFlags {
    /// length of a message
    #[arg(long = "ms", value_name = "BYTES", default_value = "1000", value_parser = length)]
    pub(super) bytes: usize,
    /// messages are this file, which makes the length
    #[arg(long = "mf", value_name = "FILE", conflicts_with = "bytes")]
    pub(super) file: Option<PathBuf>,
    /// text without a pattern, which does not compress
    #[arg(long = "mr")]
    pub(super) random: bool,
    /// get buffer; 0 as -ms; it grows when needed
    #[arg(long = "rs", value_name = "BYTES", default_value = "0", value_parser = length)]
    pub(super) buffer: usize,
    /// format
    #[arg(long = "mfm", value_name = "FORMAT", default_value = "MQSTR")]
    pub(super) format: String,
    /// persistent; neither this nor -ppn: as the queue's DEFPSIST
    #[arg(long = "pp")]
    pub(super) persistent: bool,
    /// not persistent
    #[arg(long = "ppn")]
    pub(super) not_persistent: bool,
}

#[derive(Parser, Debug)]
pub(super) struct UnitFlags {
    /// put and get in syncpoint
    #[arg(long = "tx")]
    pub(super) syncpoint: bool,
    /// explicitly outside syncpoint, which is so anyway
    #[arg(long = "txz")]
    pub(super) no_syncpoint: bool,
    /// iterations of a unit of work
    #[arg(long = "cc", value_name = "N", default_value = "1")]
    pub(super) batch: u32,
    /// only put in syncpoint
    #[arg(long = "txp")]
    pub(super) syncpoint_put: bool,
    /// only get in syncpoint
    #[arg(long = "txg")]
    pub(super) syncpoint_get: bool,
}

#[derive(Parser, Debug)]
pub(super) struct QueueFlags {
    /// queue, or what its name begins with
    #[arg(long = "d", value_name = "PREFIX", default_value = "DEST")]
    pub(super) destinations: String,
    /// request queue
    #[arg(long = "iq", value_name = "PREFIX", default_value = "REQUEST")]
    pub(super) requests: String,
    /// reply queue
    #[arg(long = "oq", value_name = "PREFIX", default_value = "REPLY")]
    pub(super) replies: String,
    /// first number behind the prefix, which applications take in turn
    #[arg(long = "db", value_name = "N", default_value = "0")]
    pub(super) base: u32,
    /// last number; -db alone goes on without end
    #[arg(long = "dx", value_name = "N", default_value = "0")]
    pub(super) max: u32,
    /// how many; with -db and -dx both: the number to begin with
    #[arg(long = "dn", value_name = "N", default_value = "0")]
    pub(super) count: u32,
}

#[derive(Parser, Debug)]
pub(super) struct CallFlags {
    /// a get waits; -1 for ever
    #[arg(long = "to", value_name = "S", default_value = "5", value_parser = wait)]
    pub(super) wait: OrNone<Duration>,
    /// MQPUT1
    #[arg(long = "p1")]
    pub(super) put1: bool,
    /// MQGMO_CONVERT
    #[arg(long = "cv", default_value = "true")]
    pub(super) convert: bool,
    /// by correlation identifier
    #[arg(long = "co", default_value = "true")]
    pub(super) by_correlation_id: bool,
    /// requests of an application under way at once
    #[arg(long = "dq", value_name = "N", default_value = "1")]
    pub(super) queue_depth: u32,
    /// the reply is the request again
    #[arg(long = "cr", default_value = "true")]
    pub(super) copy_request: bool,
    /// puts are not answered; MQSTAT tells of failures
    #[arg(long = "async")]
    pub(super) asynchronous: bool,
}

#[derive(Parser, Debug)]
pub(super) struct ManagerFlags {
    /// queue manager [whichever answers]
    #[arg(long = "jb", value_name = "QM")]
    pub(super) name: Option<String>,
    /// mqc client, mqb local
    #[arg(long = "jt", value_name = "TYPE", default_value = "mqc", value_parser = ["mqc", "mqb"])]
    pub(super) binding: String,
    /// host [-jb's, else localhost]
    #[arg(long = "jh", value_name = "HOST")]
    pub(super) host: Option<String>,
    /// port [that of -jb's listener, else 1414]
    #[arg(long = "jp", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// channel
    #[arg(long = "jc", value_name = "CHANNEL", default_value = "DEV.APP.SVRCONN", value_parser = channel)]
    pub(super) channel: String,
    /// TLS with this CipherSpec or alias; a thread each carries it [none]
    #[arg(long = "jl", value_name = "CIPHERSPEC")]
    pub(super) cipher_spec: Option<String>,
    /// key repository, with its password in a stash file or MQKEYRPWD [MQSSLKEYR]
    #[arg(long = "kr", value_name = "FILE")]
    pub(super) key_repository: Option<PathBuf>,
    /// label of the client's certificate [MQCERTLABL]
    #[arg(long = "jw", value_name = "LABEL")]
    pub(super) label: Option<String>,
    /// FASTPATH: the queue manager runs in this process (-jt mqb)
    #[arg(long = "jf")]
    pub(super) inside: bool,
    /// user
    #[arg(long = "us", value_name = "USER")]
    pub(super) user: Option<String>,
    /// password
    #[arg(long = "pw", value_name = "PASSWORD")]
    pub(super) password: Option<String>,
    /// application name
    #[arg(long = "an", value_name = "NAME", default_value = "cph")]
    pub(super) application: String,
}

#[derive(Parser, Debug)]
pub(super) struct OutputFlags {
    /// between rate lines; 0 none
    #[arg(long = "ss", value_name = "S", default_value = "10", value_parser = some_seconds)]
    pub(super) interval: OrNone<Duration>,
    /// printed as id=TAG before each line
    #[arg(long = "id", value_name = "TAG")]
    pub(super) id: Option<String>,
    /// summary at the end
    #[arg(long = "su", default_value = "true")]
    pub(super) summary: bool,
    /// rates of each application, tab separated
    #[arg(long = "sp")]
    pub(super) each: bool,
    /// latency: average, and percentiles at the end
    #[arg(long = "ls")]
    pub(super) latency: bool,
    /// seconds until: normal, the end; tlf, the last iteration
    #[arg(long = "sd", value_name = "KIND", default_value = "normal", value_parser = ["normal", "tlf"])]
    pub(super) until: String,
    /// time stamp before each line
    #[arg(long = "ts", value_name = "0|1", default_value = "0")]
    pub(super) time_stamps: u32,
    /// below 3: no notes on standard error
    #[arg(long = "vo", value_name = "LEVEL", default_value = "4")]
    pub(super) verbosity: u32,
}

#[derive(Parser, Debug)]
pub(super) struct StartFlags {
    /// between starts of two applications (MQ-CPH: 1000)
    #[arg(long = "wi", value_name = "MS", default_value = "0")]
    pub(super) pause: u32,
    /// for all applications to be ready; 0 no limit
    #[arg(long = "wt", value_name = "S", default_value = "30", value_parser = seconds)]
    pub(super) within: Duration,
    /// Ctrl-C gives the summary
    #[arg(long = "sh", default_value = "true")]
    pub(super) signals: bool,
}

#[derive(Parser, Debug)]
pub(super) struct OwnFlags {
    /// run so long before anything is counted
    #[arg(long, value_name = "S", default_value = "0", value_parser = seconds)]
    pub(super) warm_up: Duration,
    /// carry the connections in so many loops, not a thread each
    #[arg(long, value_name = "THREADS")]
    pub(super) multiplex: Option<u32>,
    /// start so many responders, too
    #[arg(long, value_name = "N", default_value = "0")]
    pub(super) responders: u32,
    /// so many driver processes, collated
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) processes: u32,
    /// folder that holds queue managers
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// one of --processes
    #[arg(long, hide = true)]
    pub(super) child: bool,
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
    ("mh=false", "message handles are not in this release"),
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
const LATER: &str =
    "Dummy Forwarder PublisherV6 SubscriberV6 DLQMon ReconnectTimer RequesterReconnectTimer";

fn module(name: &str) -> Result<Module, String> {
    let later = || {
        LATER
            .split(' ')
            .any(|later| later.eq_ignore_ascii_case(name))
    };
    Module::from_name(name).ok_or_else(|| match later() {
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
