//! The command line. What stands here as text is what `--help` teaches.

mod authority;
mod certs;
mod encryption;
mod messages;
mod transactions;
mod users;

use std::net::IpAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use posthaste_env::Slowness;
use posthaste_server::ini::Shape;

pub(crate) use authority::Words;
pub(crate) use certs::{Certs, CertsCommand, MakeCerts, ShowCerts};
pub(crate) use encryption::{EncryptWith, Encryption, EncryptionCommand};
pub(crate) use messages::{
    Browse, Form, Get, Publish, Put, Receiving, Sample, Sending, Subscribe, TopicSample,
};
pub(crate) use transactions::{Resolve, Transactions};
pub(crate) use users::{OneUser, Users, UsersCommand};

const EXAMPLES: &str = "\
Try it:
  posthaste run QM1                              a queue manager right here
  echo Hello | posthaste put DEV.QUEUE.1 QM1     in another one: put a message
  posthaste get DEV.QUEUE.1 QM1                  ... and get it
  posthaste subscribe news/# QM1                 what is published under news
  echo Rain | posthaste publish news/today QM1   ... by this, in another one
  echo 'DISPLAY QLOCAL(DEV.*) CURDEPTH' | posthaste mqsc QM1

Run it in the background:
  posthaste create -lf 16384 -lp 8 -p 1414 QM2   create it (crtmqm)
  posthaste start QM2                            start it (strmqm)
  posthaste list                                 what is running (dspmq)
  posthaste stop -i QM2                          end it (endmqm)
  posthaste delete QM2                           remove all of it (dltmqm)

MQ's names for the commands work as subcommands, and as names of links to this program:
  ln -s posthaste runmqsc; echo 'DISPLAY QMGR' | ./runmqsc QM1

Queue managers live in the folder named by --data-dir, or POSTHASTE_DATA, or in posthaste below
XDG_DATA_HOME or ~/.local/share. A queue manager of this machine is found there by its name; MQSERVER or
--connect, as CHANNEL/TCP/host(port), names one elsewhere.";

/// A message queue manager, and the commands to run and use it.
#[derive(Parser, Debug)]
#[command(name = "posthaste", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Folder that holds queue managers
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Create a queue manager if it is not there, and run it in this terminal
    Run(Run),
    /// Create a queue manager
    #[command(visible_alias = "crtmqm", disable_help_flag = true)]
    Create(Create),
    /// Start a queue manager in the background
    #[command(visible_alias = "strmqm")]
    Start(Start),
    /// End a queue manager
    #[command(visible_alias = "endmqm")]
    Stop(Stop),
    /// Remove an ended queue manager with all its messages
    #[command(visible_alias = "dltmqm")]
    Delete(Delete),
    /// Show queue managers and what they are doing
    #[command(visible_alias = "dspmq")]
    List(List),
    /// Carry out MQSC commands from standard input or a file
    #[command(visible_alias = "runmqsc")]
    Mqsc(Mqsc),
    /// Write every definition as MQSC commands that make it again
    #[command(visible_alias = "dmpmqcfg")]
    Save(Save),
    /// Put messages: lines of standard input, files, or generated ones
    Put(Put),
    /// Get messages and write them to standard output
    Get(Get),
    /// Show messages with their descriptors, leaving them on the queue
    Browse(Browse),
    /// Publish messages on a topic: lines of standard input, files, or generated ones
    Publish(Publish),
    /// Subscribe to a topic and write what is published to standard output
    Subscribe(Subscribe),
    /// Find out whether a queue manager would start, without starting it
    Check(Check),
    /// Make a queue manager known again whose files are there
    #[command(name = "addmqinf")]
    AddInf(AddInf),
    /// Take a queue manager out of mqs.ini, leaving its files alone
    #[command(name = "rmvmqinf")]
    RemoveInf(RemoveInf),
    /// Show a queue manager's stanza in mqs.ini
    #[command(name = "dspmqinf")]
    DisplayInf(DisplayInf),
    /// Show the version and where things are
    #[command(name = "dspmqver")]
    Version(Version),
    /// Show units of work, above all branches of global transactions that are in doubt
    #[command(visible_alias = "dspmqtrn", disable_help_flag = true)]
    Transactions(Transactions),
    /// Decide about a branch of a global transaction in place of its transaction manager
    #[command(visible_alias = "rsvmqtrn")]
    Resolve(Resolve),
    /// Grant authorities to groups and users, or take them away
    #[command(name = "setmqaut")]
    SetAuthority(Words),
    /// Show what a group or user may do with an object
    #[command(name = "dspmqaut")]
    DisplayAuthority(Words),
    /// Show authority records
    #[command(name = "dmpmqaut")]
    DumpAuthority(Words),
    /// Add, remove and list a queue manager's own users
    Users(Users),
    /// Make certificates for development, and show what is in a key repository
    Certs(Certs),
    /// Show and renew the keys with which a queue manager encrypts its messages on disk
    Encryption(Encryption),
    /// Show every number that a running queue manager counts or measures
    Metrics(Metrics),
    /// Check a queue manager and its machine against recommended practice
    Doctor(Doctor),
    /// Measure how fast a disk takes the forced writes of a recovery log
    #[command(name = "disktest", visible_alias = "mqldt")]
    DiskTest(posthaste_perf::disk_test::DiskTestArgs),
    /// Measure performance: with a workload (flags of MQ-CPH) or by scenarios, and report it
    #[command(visible_alias = "cph")]
    Perf(Perf),
    /// Pass TCP connections on with added latency, as a distant network would
    #[command(name = "delayproxy")]
    DelayProxy(posthaste_perf::delay_proxy::DelayProxyArgs),
    /// The process that `start` leaves in the background
    #[command(hide = true)]
    Serve(Serve),
    /// MQ's sample that puts lines
    #[command(hide = true)]
    Amqsput(Sample),
    /// The same, as a client
    #[command(hide = true)]
    Amqsputc(Sample),
    /// MQ's sample that gets messages
    #[command(hide = true)]
    Amqsget(Sample),
    /// The same, as a client
    #[command(hide = true)]
    Amqsgetc(Sample),
    /// MQ's sample that browses with descriptors
    #[command(hide = true)]
    Amqsbcg(Sample),
    /// The same, as a client
    #[command(hide = true)]
    Amqsbcgc(Sample),
    /// MQ's sample that browses
    #[command(hide = true)]
    Amqsgbr(Sample),
    /// The same, as a client
    #[command(hide = true)]
    Amqsgbrc(Sample),
    /// MQ's sample that publishes lines
    #[command(hide = true)]
    Amqspub(TopicSample),
    /// The same, as a client
    #[command(hide = true)]
    Amqspubc(TopicSample),
    /// MQ's sample that subscribes
    #[command(hide = true)]
    Amqssub(TopicSample),
    /// The same, as a client
    #[command(hide = true)]
    Amqssubc(TopicSample),
}

const PERF_EXAMPLES: &str = "\
  posthaste perf list                      the scenarios
  posthaste perf run rr-cc --quick         one of them, in about a minute
  posthaste perf run all --quick           all of them, in less than ten
  posthaste perf report perf-results/...   the results as a page";

/// Scenarios by name, or a workload as MQ-CPH drives it.
#[derive(Args, Debug)]
#[command(
    override_usage = "posthaste perf -tc MODULE [-FLAG VALUE]...\n       posthaste perf <COMMAND>",
    after_help = format!("Scenarios:\n  {PERF_EXAMPLES}\n\n{}", posthaste_perf::cph::help()),
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Perf {
    #[command(subcommand)]
    pub(crate) command: Option<posthaste_perf::scenario::PerfCommand>,
    /// Flags as MQ-CPH has them
    #[arg(
        value_name = "FLAG",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        hide = true
    )]
    pub(crate) flags: Vec<String>,
}

/// The log's shape, for commands that create.
#[derive(Args, Debug)]
pub(crate) struct LogShape {
    /// 4 KiB pages of a log file, 64 to 65535 (-lf)
    #[arg(long = "lf", value_name = "PAGES", default_value_t = Shape::default().file_pages, value_parser = clap::value_parser!(u32).range(64..=65_535))]
    pub(crate) file_pages: u32,
    /// Primary log files, made at once, 2 to 510 (-lp)
    #[arg(long = "lp", value_name = "FILES", default_value_t = Shape::default().primary, value_parser = clap::value_parser!(u32).range(2..=510))]
    pub(crate) primary: u32,
    /// Secondary log files, made when needed, 1 to 509, with the primary ones at most 511 (-ls)
    #[arg(long = "ls", value_name = "FILES", default_value_t = Shape::default().secondary, value_parser = clap::value_parser!(u32).range(1..=509))]
    pub(crate) secondary: u32,
}

const RUN_EXAMPLES: &str = "\
A new queue manager gets queues DEV.QUEUE.1 to DEV.QUEUE.3, dead-letter queue DEV.DEAD.LETTER.QUEUE, model
queue DEV.APP.MODEL.QUEUE, topics DEV.BASE.TOPIC (dev/) and DEV.TOPIC (dev/...), channels DEV.APP.SVRCONN and
DEV.ADMIN.SVRCONN, and a listener on 127.0.0.1:1414. Your own applications on this machine need no password and may use DEV.**;
everybody else needs one of those that the first run makes: app for applications, admin to administer.

  posthaste run                        QM1 in your own data folder
  posthaste run QM2 --port 0           any free port; it is printed
  posthaste run QM3 --data-dir /tmp/q --bind 0.0.0.0 --port 1415 --insecure
  posthaste run QM4 --plain --script objects.mqsc

Ctrl-C or SIGTERM ends it in order, a second one at once (nothing acknowledged is lost by that).";

#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct Run {
    /// Queue manager
    #[arg(default_value = "QM1")]
    pub(crate) queue_manager: String,
    /// Port of its listener; 0 is any free one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Address of its listener
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// Let its listeners be on addresses of the network though a channel lets clients in without TLS; it is remembered
    #[arg(long)]
    pub(crate) insecure: bool,
    /// When it is created: no developer objects, only the system's, the listener, and the users app and admin
    #[arg(long)]
    pub(crate) plain: bool,
    /// When it is created: carry out the MQSC commands of this file
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) encrypt: EncryptWith,
    #[command(flatten)]
    pub(crate) shape: LogShape,
    #[command(flatten)]
    pub(crate) slowness: SlowDisk,
    /// End in order when standard input ends: for programs that must not leave it behind, however they end
    #[arg(long, hide = true)]
    pub(crate) while_input: bool,
}

/// For measuring only, hence not in the help: the disk made slower than it is, the log simpler.
#[derive(Args, Debug, Default)]
pub(crate) struct SlowDisk {
    /// Microseconds added to every forced write and sync
    #[arg(long, value_name = "US", default_value_t = 0, hide = true, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub(crate) disk_delay_us: u64,
    /// Most bytes a second that are forced; K, M and G are understood
    #[arg(long, value_name = "BYTES_PER_S", hide = true, value_parser = bandwidth)]
    pub(crate) disk_bandwidth: Option<NonZeroU64>,
    /// The log without its rules: one write in flight that takes whatever is there
    #[arg(long, hide = true)]
    pub(crate) plain_log: bool,
}

impl SlowDisk {
    /// As the seam to the disk takes it.
    pub(crate) fn slowness(&self) -> Slowness {
        Slowness {
            latency: Duration::from_micros(self.disk_delay_us),
            bandwidth: self.disk_bandwidth,
        }
    }
}

#[derive(Args, Debug)]
#[command(
    after_help = "Options of two letters may be written as MQ has them, with one dash: -lf 16384."
)]
pub(crate) struct Create {
    /// Queue manager
    pub(crate) queue_manager: String,
    /// Folder for its recovery log (-ld)
    #[arg(long = "ld", value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// Folder for its data (-md)
    #[arg(long = "md", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shape: LogShape,
    /// Circular logging, which is the default (-lc)
    #[arg(long = "lc")]
    pub(crate) circular: bool,
    /// Linear logging: not in this release (-ll)
    #[arg(long = "ll", aliases = ["lla", "lln"])]
    pub(crate) linear: bool,
    /// Replicated logging: not in this release (-lr)
    #[arg(long = "lr", value_name = "INSTANCE", hide = true)]
    pub(crate) replicated: Option<String>,
    #[command(flatten)]
    pub(crate) encrypt: EncryptWith,
    /// Make it the default queue manager
    #[arg(short = 'q')]
    pub(crate) default: bool,
    /// Port of a listener on 127.0.0.1 that starts and stops with it
    #[arg(short = 'p', value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Dead-letter queue
    #[arg(short = 'u', value_name = "QUEUE")]
    pub(crate) dead_letter_queue: Option<String>,
    /// Default transmission queue
    #[arg(short = 'd', value_name = "QUEUE")]
    pub(crate) transmission_queue: Option<String>,
    /// Most open handles of a connection
    #[arg(short = 'h', value_name = "HANDLES", default_value_t = 256, value_parser = clap::value_parser!(i32).range(1..=999_999_999))]
    pub(crate) max_handles: i32,
    /// Most uncommitted messages of a unit of work
    #[arg(short = 'x', value_name = "MESSAGES", default_value_t = 10_000, value_parser = clap::value_parser!(i32).range(1..=999_999_999))]
    pub(crate) max_uncommitted: i32,
    /// Trigger interval in milliseconds
    #[arg(short = 't', value_name = "MS", default_value_t = 999_999_999, value_parser = clap::value_parser!(i32).range(0..=999_999_999))]
    pub(crate) trigger_interval: i32,
    /// Description
    #[arg(short = 'c', value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Say nothing but errors
    #[arg(short = 'z')]
    pub(crate) quiet: bool,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

const START_EXAMPLES: &str = "\
  posthaste start QM1         return when it serves
  posthaste start --port 0 QM1
                              the same, on any free port: list -o all shows it
  posthaste start -ns QM1     without listeners: for this machine only
  posthaste start -c QM1      make the SYSTEM objects new, and end again: the
                              way back when one was deleted or spoilt;
                              messages stay";

#[derive(Args, Debug)]
#[command(after_help = START_EXAMPLES)]
pub(crate) struct Start {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// Create or replace the system objects, and end again
    #[arg(short = 'c')]
    pub(crate) objects: bool,
    /// Say nothing but errors
    #[arg(short = 'z')]
    pub(crate) quiet: bool,
    /// How it is started (accepted; there is one way)
    #[arg(long = "si", hide = true, conflicts_with = "service")]
    pub(crate) interactive: bool,
    /// The same
    #[arg(long = "ss", hide = true)]
    pub(crate) service: bool,
    /// Refused
    #[arg(short = 'x', hide = true)]
    pub(crate) standby: bool,
    /// Refused
    #[arg(short = 'a', hide = true)]
    pub(crate) activate: bool,
    /// Refused
    #[arg(short = 'r', hide = true)]
    pub(crate) replay: bool,
    /// Start no listeners (-ns)
    #[arg(long = "ns", conflicts_with = "port")]
    pub(crate) no_services: bool,
    /// Port of its listener, for this run; 0 is any free one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Let its listeners be on addresses of the network though a channel lets clients in without TLS; it is remembered
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Take the log that is there, where the data folder has lost its file `identity`, which says which log is its own (78,
    /// AMQ2026S). Only if both are certainly of one moment: with an older log, messages that had been got come again, and
    /// later ones are gone
    #[arg(long, conflicts_with = "objects")]
    pub(crate) trust_log: bool,
}

impl Start {
    /// An option of `strmqm` that is not there yet, and what it will need.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        [
            (self.standby, "-x (permit a standby instance) needs multi-instance queue managers, which are not in this release"),
            (self.activate, "-a (activate a backup) needs backup queue managers and linear logging, which are not in this release"),
            (self.replay, "-r (update a backup) needs backup queue managers and linear logging, which are not in this release"),
        ]
        .into_iter()
        .find_map(|(given, why)| given.then_some(why))
    }
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    pub(crate) queue_manager: String,
    #[arg(long)]
    pub(crate) port: Option<u16>,
    #[arg(long)]
    pub(crate) no_listeners: bool,
    #[command(flatten)]
    pub(crate) slowness: SlowDisk,
}

const STOP_EXAMPLES: &str = "\
  posthaste stop QM1          ask; it ends when all applications have left
  posthaste stop -w QM1       the same, and wait until it has ended
  posthaste stop -i QM1       break connections, back their work out, wait
  posthaste stop -p QM1       break off; the next start recovers
  posthaste stop -t 30 QM1    as -w, and after 30 seconds as -i";

#[derive(Args, Debug)]
#[command(after_help = STOP_EXAMPLES)]
pub(crate) struct Stop {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// Wait for applications to leave; return at once (this is the default)
    #[arg(short = 'c', group = "mode")]
    pub(crate) controlled: bool,
    /// Wait for applications to leave; return when it has ended
    #[arg(short = 'w', group = "mode")]
    pub(crate) wait: bool,
    /// End without waiting for applications
    #[arg(short = 'i', group = "mode")]
    pub(crate) immediate: bool,
    /// Break off
    #[arg(short = 'p', group = "mode")]
    pub(crate) preemptive: bool,
    /// Seconds after which a controlled end becomes an immediate one
    #[arg(short = 't', value_name = "SECONDS", conflicts_with = "preemptive")]
    pub(crate) within: Option<u64>,
    /// The same, but half of the time later it breaks off (-tp)
    #[arg(long = "tp", value_name = "SECONDS", conflicts_with_all = ["preemptive", "within"])]
    pub(crate) within_or_preempt: Option<u64>,
    /// Say nothing but errors
    #[arg(short = 'z')]
    pub(crate) quiet: bool,
    /// Refused
    #[arg(short = 's', hide = true)]
    pub(crate) switch_over: bool,
    /// Refused
    #[arg(short = 'x', hide = true)]
    pub(crate) standby: bool,
    /// Accepted for MQ's sake: clients that ask for it reconnect after every end
    #[arg(short = 'r')]
    pub(crate) reconnect: bool,
}

impl Stop {
    /// An option of `endmqm` that is not there yet, and what it will need.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        [
            (self.switch_over, "-s (switch over to a standby instance) needs multi-instance queue managers, which are not in this release"),
            (self.standby, "-x (end a standby instance) needs multi-instance queue managers, which are not in this release"),
        ]
        .into_iter()
        .find_map(|(given, why)| given.then_some(why))
    }
}

#[derive(Args, Debug)]
pub(crate) struct Delete {
    /// Queue manager
    pub(crate) queue_manager: String,
    /// Say nothing but errors
    #[arg(short = 'z')]
    pub(crate) quiet: bool,
}

/// What `list` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Everything
    All,
    /// Whether it is the default queue manager
    Default,
    /// What it is doing
    Status,
    /// The program that it belongs to
    Installation,
    /// Whether another instance stands by
    Standby,
}

#[derive(Args, Debug)]
pub(crate) struct List {
    /// Only this queue manager
    #[arg(short = 'm', value_name = "QM")]
    pub(crate) queue_manager: Option<String>,
    /// What to show
    #[arg(short = 'o', value_enum)]
    pub(crate) show: Vec<Show>,
    /// What it is doing (shown anyway)
    #[arg(short = 's')]
    pub(crate) status: bool,
    /// Do not translate (nothing is translated)
    #[arg(short = 'n')]
    pub(crate) not_translated: bool,
    /// Only queue managers that are running
    #[arg(short = 'a')]
    pub(crate) active: bool,
    /// The running instances
    #[arg(short = 'x')]
    pub(crate) instances: bool,
}

const CHECK_EXAMPLES: &str = "\
  posthaste check QM1          qm.ini, permissions, log, recovery, ports
  posthaste check --data QM1   ... and read every message
  posthaste check --file FILE  a qm.ini that is nobody's yet

Nothing is changed. The exit code is the one that the start would end with; 75 too if a queue is damaged,
which refuses no start. Of a queue manager that is running only qm.ini, permissions and the log's shape
are looked at.";

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct Check {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// Read every message of a queue manager that is not running
    #[arg(long, conflicts_with = "file")]
    pub(crate) data: bool,
    /// Another file
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct AddInf {
    /// Stanza: QueueManager
    #[arg(short = 's', value_name = "STANZA", default_value = "QueueManager")]
    pub(crate) stanza: String,
    /// Name=QM1, and DataPath=DIR unless its data is where it would be created
    #[arg(short = 'v', value_name = "KEY=VALUE", required = true)]
    pub(crate) values: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RemoveInf {
    /// Queue manager
    pub(crate) queue_manager: String,
}

/// How `dspmqinf` shows a stanza.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Information {
    /// As it stands in mqs.ini
    Stanza,
    /// As the command that adds it
    Command,
}

#[derive(Args, Debug)]
pub(crate) struct DisplayInf {
    /// Queue manager
    pub(crate) queue_manager: String,
    /// Stanza: QueueManager
    #[arg(short = 's', value_name = "STANZA", default_value = "QueueManager")]
    pub(crate) stanza: String,
    /// What to write
    #[arg(short = 'o', value_enum, default_value_t = Information::Stanza)]
    pub(crate) output: Information,
}

#[derive(Args, Debug)]
pub(crate) struct Version {
    /// Only these lines: the sum of 1 name, 2 version, 4 level, 8 build type, 16 platform, 32 mode, 64 operating
    /// system, 128 path, 256 installation, 512 its description, 1024 primary, 2048 data, 4096 command level, 8192 licence
    #[arg(short = 'f', value_name = "SUM", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) fields: Option<u32>,
    /// Components; 1, the server, is the only one
    #[arg(short = 'p', value_name = "SUM", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) components: Option<u32>,
    /// Without the names of the lines
    #[arg(short = 'b')]
    pub(crate) no_names: bool,
    /// All components: there is one
    #[arg(short = 'a')]
    pub(crate) all: bool,
    /// All installations: there is one
    #[arg(short = 'i')]
    pub(crate) installations: bool,
    /// All lines, as without it
    #[arg(short = 'v')]
    pub(crate) verbose: bool,
}

const DOCTOR_EXAMPLES: &str = "\
  posthaste doctor QM1             ten practices, who may come in, the machine
  posthaste doctor QM1 --disk      ... and a second of writes on the log's disk
  posthaste doctor --json > today.json

Each line says PASS, WARN or SKIP (cannot be told here, or does not matter) and what was found; a
warning also says why it matters and what to type. Nothing is changed. A queue manager that is not
running, or none: only the machine is checked (and with --disk the log's disk). Exit codes: 0 no
warnings, 3 at least one.";

const METRICS_EXAMPLES: &str = "\
  posthaste metrics QM1                               all of them
  posthaste metrics QM1 | grep 'queue=\"DEV.QUEUE.1\"'  those of one queue

The text format is that of Prometheus; docs/metrics.md says what each number tells.";

#[derive(Args, Debug)]
#[command(after_help = METRICS_EXAMPLES)]
pub(crate) struct Metrics {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct Doctor {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// Seconds to wait for each answer of the queue manager
    #[arg(short = 'w', value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) wait: u32,
    /// Measure the log's disk for a second (writes a file of 2 MiB there, and removes it)
    #[arg(long)]
    pub(crate) disk: bool,
    /// Write one JSON object instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the queue manager is, for commands that connect.
#[derive(Args, Debug, Default)]
pub(crate) struct ConnectArgs {
    /// Connect over the network
    #[arg(long, value_name = "CHANNEL/TCP/host(port)")]
    pub(crate) connect: Option<String>,
    /// Connect by TLS with this CipherSpec, for example ANY_TLS12_OR_HIGHER; the key repository is in MQSSLKEYR, the
    /// label of the certificate in MQCERTLABL
    #[arg(long, value_name = "CIPHERSPEC")]
    pub(crate) cipher: Option<String>,
    /// What the name of the queue manager's certificate must match (SSLPEER)
    #[arg(long, value_name = "PATTERN", requires = "cipher")]
    pub(crate) peer: Option<String>,
    /// User; the password is asked for, or read from the first line of standard input
    #[arg(long, short = 'u', value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Read the password from the first line of this file, or from the first-passwords of a queue manager
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(crate) password_file: Option<PathBuf>,
}

/// How long the answer to a call may take, unless the command says otherwise.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// How long the queue manager may take to answer, for commands that put and get.
#[derive(Args, Debug)]
pub(crate) struct ReplyTimeout {
    /// Seconds to wait for the queue manager to answer a call
    #[arg(short = 'w', value_name = "SECONDS", default_value_t = ANSWER.as_secs(), value_parser = clap::value_parser!(u64).range(1..=999_999))]
    answer: u64,
}

impl ReplyTimeout {
    /// As a time.
    pub(crate) fn within(&self) -> Duration {
        Duration::from_secs(self.answer)
    }
}

const MQSC_EXAMPLES: &str = "\
  echo 'DEFINE QLOCAL(A.QUEUE)' | posthaste mqsc QM1
  posthaste mqsc QM1 -f objects.mqsc
  posthaste mqsc QM1                       type commands; END or ctrl-D leaves

Exit codes: 0 all commands were carried out, 10 at least one was not, 20 none could be tried.";

#[derive(Args, Debug)]
#[command(after_help = MQSC_EXAMPLES)]
pub(crate) struct Mqsc {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// Do not repeat the commands
    #[arg(short = 'e')]
    pub(crate) no_echo: bool,
    /// Read commands from a file
    #[arg(short = 'f', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Look at the syntax only
    #[arg(short = 'v')]
    pub(crate) verify: bool,
    /// Connect as a client, to where MQSERVER says
    #[arg(short = 'c')]
    pub(crate) client: bool,
    /// Seconds to wait for an answer
    #[arg(short = 'w', value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) wait: u32,
    #[command(flatten)]
    pub(crate) reach: ConnectArgs,
}

const SAVE_EXAMPLES: &str = "\
  posthaste save QM1 > QM1.mqsc          beside every backup of its messages
  posthaste mqsc QM2 -f QM1.mqsc         the same objects in another one

Every attribute that can be set is written, and REPLACE. Queues made from models are written as local queues,
temporary ones not at all. Messages are not in it.";

#[derive(Args, Debug)]
#[command(after_help = SAVE_EXAMPLES)]
pub(crate) struct Save {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    /// The same, as dmpmqcfg has it
    #[arg(short = 'm', value_name = "NAME", conflicts_with = "queue_manager")]
    pub(crate) named: Option<String>,
    /// Every attribute, which is always so; taken because dmpmqcfg has it
    #[arg(short = 'a')]
    pub(crate) all: bool,
    /// How it is written
    #[arg(short = 'o', value_enum, default_value_t = Layout::Mqsc)]
    pub(crate) layout: Layout,
    /// Which definitions
    #[arg(short = 'x', value_enum, default_value_t = Exported::All)]
    pub(crate) exported: Exported,
    /// Only those of objects of a type: queue, channel, topic ..., as setmqaut has them
    #[arg(short = 't', value_name = "TYPE", default_value = "all", value_parser = object_type)]
    pub(crate) object_type: String,
    /// Only those of objects, profiles and channels of this name; * at its end stands for any characters
    #[arg(short = 'n', value_name = "NAME", default_value = "*")]
    pub(crate) name: String,
    /// No warnings, of which there are none; taken because dmpmqcfg has it
    #[arg(short = 'z')]
    pub(crate) quiet: bool,
    /// Connect as a client, to where MQSERVER says
    #[arg(short = 'c')]
    pub(crate) client: bool,
    /// Seconds to wait for an answer
    #[arg(short = 'w', value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=999_999))]
    pub(crate) wait: u32,
    #[command(flatten)]
    pub(crate) reach: ConnectArgs,
}

/// Reads a type of objects, or `all`: one that there is not would be a script without a definition.
fn object_type(text: &str) -> Result<String, String> {
    let word = text.to_ascii_lowercase();
    let mut kinds = posthaste_command::ObjectKind::ALL.into_iter();
    match word == "all" || kinds.any(|kind| kind.object_type().names().contains(&&*word)) {
        true => Ok(word),
        false => Err("it is all, or a type of objects as setmqaut has them".to_owned()),
    }
}

/// How `save` writes a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// An attribute a line
    Mqsc,
    /// On one line
    #[value(name = "1line")]
    OneLine,
}

/// Which definitions `save` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Exported {
    /// All
    All,
    /// Objects
    Object,
    /// Subscriptions
    Sub,
    /// Channel authentication records
    Chlauth,
    /// Authority records
    Authrec,
}

/// 24 bytes of a message or correlation identifier.
pub(crate) type Identifier = [u8; 24];

/// Reads an identifier: up to 48 hexadecimal digits, filled with zeros.
fn identifier(text: &str) -> Result<Identifier, String> {
    let digits = text.as_bytes();
    if digits.len() > 48 || !digits.len().is_multiple_of(2) {
        return Err(
            "an identifier has an even number of hexadecimal digits, at most 48".to_owned(),
        );
    }
    let mut out = [0; 24];
    for (byte, pair) in out.iter_mut().zip(digits.chunks(2)) {
        let pair = std::str::from_utf8(pair).unwrap_or("");
        let wrong = || format!("{pair} is not hexadecimal");
        if !pair.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(out)
}

/// Reads a size: digits, perhaps followed by K or M.
fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (text.get(..text.len() - 1), 1 << 10),
        Some(b'm' | b'M') => (text.get(..text.len() - 1), 1 << 20),
        _ => (Some(text), 1),
    };
    let most = 104_857_600;
    digits
        .and_then(|digits| digits.parse::<usize>().ok())
        .and_then(|number| number.checked_mul(unit))
        .filter(|size| *size <= most)
        .ok_or_else(|| format!("write a number of bytes up to {most}, or with K or M"))
}

/// Reads bytes a second: digits, perhaps followed by K, M or G (powers of 1024).
fn bandwidth(text: &str) -> Result<NonZeroU64, String> {
    let bytes = posthaste_server::parse_bytes(text).ok();
    bytes
        .and_then(NonZeroU64::new)
        .ok_or_else(|| "write bytes a second, more than 0, perhaps with K, M or G".to_owned())
}

/// Reads a format name.
fn format(text: &str) -> Result<String, String> {
    at_most(8, text)
}

/// Reads an object's name.
fn object(text: &str) -> Result<String, String> {
    at_most(48, text)
}

fn at_most(length: usize, text: &str) -> Result<String, String> {
    match text.len() <= length {
        true => Ok(text.to_owned()),
        false => Err(std::format!("it has at most {length} characters")),
    }
}

/// Reads a time to wait: seconds to milliseconds, -1 for ever, as in MQ.
fn wait(text: &str) -> Result<i32, String> {
    if text == "-1" || text.eq_ignore_ascii_case("forever") {
        return Ok(-1);
    }
    text.parse::<u32>()
        .ok()
        .and_then(|seconds| i32::try_from(u64::from(seconds) * 1_000).ok())
        .ok_or_else(|| "write a number of seconds up to 2147483, or `forever`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_read_or_refused() {
        let mut id = [0; 24];
        id[..2].copy_from_slice(&[0xab, 0x01]);
        assert_eq!(identifier("AB01"), Ok(id));
        assert_eq!(identifier(""), Ok([0; 24]));
        assert!(identifier(&"00".repeat(24)).is_ok());
        for wrong in ["A", "XY", "+1", "é", &"00".repeat(25)] {
            assert!(identifier(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("2k"), Ok(2048));
        assert_eq!(size("100M"), Ok(104_857_600));
        for wrong in ["", "K", "-1", "101M", "1G", "99999999999999999999M", "1é"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bandwidth("500").map(NonZeroU64::get), Ok(500));
        assert_eq!(bandwidth("100M").map(NonZeroU64::get), Ok(104_857_600));
        assert_eq!(bandwidth("2g").map(NonZeroU64::get), Ok(2 << 30));
        for wrong in [
            "",
            "M",
            "0",
            "0K",
            "-1M",
            "1.5M",
            "99999999999999999999G",
            "1é",
        ] {
            assert!(bandwidth(wrong).is_err(), "{wrong}");
        }
        assert_eq!(wait("15"), Ok(15_000));
        assert_eq!(wait("forever"), Ok(-1));
        assert_eq!(wait("-1"), Ok(-1));
        assert_eq!(format("MQHRF2"), Ok("MQHRF2".to_owned()));
        assert!(format("TOOLONG.X").is_err());
        assert!(object(&"X".repeat(48)).is_ok());
        assert!(object(&"X".repeat(49)).is_err());
        for wrong in ["-2", "1.5", "2147484", ""] {
            assert!(wait(wrong).is_err(), "{wrong}");
        }
    }
}
