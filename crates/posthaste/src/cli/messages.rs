//! How messages are put, got, browsed, published and subscribed to, and how MQ's samples are called.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ConnectArgs, Identifier, ReplyTimeout, format, identifier, object, size, wait};

const PUT_EXAMPLES: &str = "\
  echo Hello | posthaste put DEV.QUEUE.1 QM1
  posthaste put DEV.QUEUE.1 QM1 --persistent --batch 100 < lines.txt
  posthaste put DEV.QUEUE.1 QM1 --file letter.pdf --file photo.jpg
  posthaste put DEV.QUEUE.1 QM1 --count 10000 --size 2048 --batch 50
  posthaste put DEV.QUEUE.1 QM1 --async < many-lines.txt

A line is a message, without its line end; a file is one message. Without --batch every message is put
outside syncpoint: it is safe when the next one is read. With --batch N, N messages are one unit of work.
With --async no message waits for its reply, which is much faster; every 5,000 messages, before each commit and
at the end the queue manager is asked how many were put, and the command fails if any was not.";

#[derive(Args, Debug)]
#[command(after_help = PUT_EXAMPLES)]
pub(crate) struct Put {
    /// Queue
    pub(crate) queue: String,
    #[command(flatten)]
    pub(crate) sending: Sending,
    /// Reply queue: makes the messages requests
    #[arg(long, value_name = "QUEUE", value_parser = object)]
    pub(crate) reply_to: Option<String>,
    /// Queue manager of the reply queue
    #[arg(long, value_name = "QM", requires = "reply_to", value_parser = object)]
    pub(crate) reply_to_qm: Option<String>,
}

/// How `put` and `publish` make and send messages.
#[derive(Args, Debug)]
pub(crate) struct Sending {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ConnectArgs,
    #[command(flatten)]
    pub(crate) reply_timeout: ReplyTimeout,
    /// A file as one message; may be given more than once
    #[arg(long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Generate so many messages instead of reading any
    #[arg(long, conflicts_with = "files")]
    pub(crate) count: Option<u64>,
    /// Bytes of a generated message; K and M are understood
    #[arg(long, default_value = "2K", value_parser = size, requires = "count")]
    pub(crate) size: usize,
    /// Persistent messages, whatever DEFPSIST of the queue or topic says
    #[arg(long, conflicts_with = "nonpersistent")]
    pub(crate) persistent: bool,
    /// Non-persistent messages
    #[arg(long)]
    pub(crate) nonpersistent: bool,
    /// Messages of a unit of work; 0 is outside syncpoint
    #[arg(long, default_value_t = 0)]
    pub(crate) batch: u64,
    /// Do not wait for each reply (MQPMO_ASYNC_RESPONSE); ask at the end what became of all
    #[arg(long = "async")]
    pub(crate) asynchronous: bool,
    /// Message identifier, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = identifier)]
    pub(crate) msgid: Option<Identifier>,
    /// Correlation identifier, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = identifier)]
    pub(crate) correlid: Option<Identifier>,
    /// Priority, 0 to 9
    #[arg(long, value_parser = clap::value_parser!(i32).range(0..=9))]
    pub(crate) priority: Option<i32>,
    /// Seconds after which a message that nobody got goes
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i32).range(1..=99_999_999))]
    pub(crate) expiry: Option<i32>,
    /// Format; text has MQSTR, files have none
    #[arg(long, value_parser = format)]
    pub(crate) format: Option<String>,
    /// Write the message identifiers to standard output
    #[arg(long)]
    pub(crate) ids: bool,
    /// Do not say how many there were
    #[arg(long, short = 'z')]
    pub(crate) quiet: bool,
}

/// How `get` writes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Each on a line
    Line,
    /// The bytes alone
    Raw,
    /// In hexadecimal, each on a line
    Hex,
}

const GET_EXAMPLES: &str = "\
  posthaste get DEV.QUEUE.1 QM1              everything that is there
  posthaste get DEV.QUEUE.1 QM1 --wait 30    ... and wait 30 s for more
  posthaste get DEV.QUEUE.1 QM1 --count 1 --form raw > letter.pdf

Messages are got in syncpoint and committed once they have been written out, --batch of them at a time: an
interrupted get loses none. Exit code 1 tells that no message came, or fewer than --count.";

#[derive(Args, Debug)]
#[command(after_help = GET_EXAMPLES)]
pub(crate) struct Get {
    /// Queue
    pub(crate) queue: String,
    #[command(flatten)]
    pub(crate) receiving: Receiving,
    /// Seconds to wait for the next message; `forever` (or -1) does not end
    #[arg(long, default_value = "0", value_name = "SECONDS", value_parser = wait, allow_hyphen_values = true)]
    pub(crate) wait: i32,
    /// Only messages with this identifier, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = identifier)]
    pub(crate) msgid: Option<Identifier>,
    /// Only messages with this correlation identifier
    #[arg(long, value_name = "HEX", value_parser = identifier)]
    pub(crate) correlid: Option<Identifier>,
}

/// How `get` and `subscribe` get messages and write them.
#[derive(Args, Debug)]
pub(crate) struct Receiving {
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ConnectArgs,
    #[command(flatten)]
    pub(crate) reply_timeout: ReplyTimeout,
    /// Most messages
    #[arg(long)]
    pub(crate) count: Option<u64>,
    /// Only messages that this selector selects: "color = 'red' AND JMSPriority > 4"
    #[arg(long, value_name = "TEXT")]
    pub(crate) selector: Option<String>,
    /// Messages of a unit of work; 0 is outside syncpoint
    #[arg(long, default_value_t = 100)]
    pub(crate) batch: u64,
    /// How to write messages
    #[arg(long, value_enum, default_value_t = Form::Line)]
    pub(crate) form: Form,
    /// Longest message that is taken, in bytes
    #[arg(long, default_value = "100M", value_parser = size)]
    pub(crate) max: usize,
    /// Do not say how many there were
    #[arg(long, short = 'z')]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Browse {
    /// Queue
    pub(crate) queue: String,
    /// Queue manager; the default one if left out
    pub(crate) queue_manager: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ConnectArgs,
    #[command(flatten)]
    pub(crate) reply_timeout: ReplyTimeout,
    /// Most messages
    #[arg(long)]
    pub(crate) count: Option<u64>,
    /// Only messages that this selector selects: "color = 'red' AND JMSPriority > 4"
    #[arg(long, value_name = "TEXT")]
    pub(crate) selector: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Sample {
    /// Queue
    pub(crate) queue: String,
    /// Queue manager
    pub(crate) queue_manager: Option<String>,
    /// Open options, close options and the like, as MQ's samples have them: not used
    #[arg(hide = true)]
    pub(crate) rest: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct TopicSample {
    /// Topic string
    pub(crate) topic: String,
    /// Queue manager
    pub(crate) queue_manager: Option<String>,
    /// Options of the calls, as MQ's samples have them: not used
    #[arg(hide = true)]
    pub(crate) rest: Vec<String>,
}

const PUBLISH_EXAMPLES: &str = "\
  echo Rain | posthaste publish news/today QM1
  echo Rain | posthaste publish news/today QM1 --retain
  posthaste publish news/today QM1 --count 10000 --size 2048 --async

A line is a message, as with put. Everybody who has subscribed to the topic gets it, and with --retain whoever
subscribes later gets the last one.";

#[derive(Args, Debug)]
#[command(after_help = PUBLISH_EXAMPLES)]
pub(crate) struct Publish {
    /// Topic string: levels between slashes
    pub(crate) topic: String,
    #[command(flatten)]
    pub(crate) sending: Sending,
    /// Keep the last message for those who subscribe later
    #[arg(long)]
    pub(crate) retain: bool,
}

const SUBSCRIBE_EXAMPLES: &str = "\
  posthaste subscribe news/# QM1                      until Ctrl-C
  posthaste subscribe news/today QM1 --count 1
  posthaste subscribe news/# QM1 --durable reader     next time also what came
  posthaste subscribe news/# QM1 --durable reader --remove --wait 0
  posthaste subscribe news/# QM1 --retained           what is retained, no more

+ stands for one level of a topic string, # at its end for all that follow. What is written out has been
committed, as with get: a durable subscription keeps the rest.";

#[derive(Args, Debug)]
#[command(after_help = SUBSCRIBE_EXAMPLES)]
pub(crate) struct Subscribe {
    /// Topic string, which may have wildcards
    pub(crate) topic: String,
    #[command(flatten)]
    pub(crate) receiving: Receiving,
    /// Seconds to wait for the next message; `forever` (or -1) does not end
    #[arg(long, default_value = "forever", value_name = "SECONDS", value_parser = wait, allow_hyphen_values = true)]
    pub(crate) wait: i32,
    /// A durable subscription of this name: it is made or found, and stays
    #[arg(long, value_name = "NAME")]
    pub(crate) durable: Option<String>,
    /// End the durable subscription afterwards
    #[arg(long, requires = "durable")]
    pub(crate) remove: bool,
    /// Only what is published from now on, not what is retained
    #[arg(long)]
    pub(crate) new: bool,
    /// Only what is retained now; does not wait
    #[arg(long, conflicts_with_all = ["new", "durable", "wait"])]
    pub(crate) retained: bool,
}
