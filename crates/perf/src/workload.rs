//! What a set of like applications does: the module, how many, on which queues, with which messages.
//!
//! Invariant: a [`Workload`] that [`Workload::check`] has passed can be driven; whatever cannot be
//! done is refused there, in words, and nowhere else.
//!
//! * `shape`: descriptors and options that the modules put and get with, and how long they wait.
//! * `destinations`: the queues that the applications go round.
//! * `body`: the text of messages.

mod body;
mod destinations;
mod shape;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use body::{Text, body};
pub use destinations::Destinations;
pub(crate) use shape::{Shapes, Waiting};

use posthaste_client::Connect;
use posthaste_server::InProcess;

use crate::measure::LabError;

/// Nanoseconds since some moment of the run.
pub(crate) type Nanos = u64;

/// The longest message that a channel carries, in bytes.
pub const LONGEST: usize = 104_857_600;
/// Most threads that connections are multiplexed over.
const MOST_LOOPS: u32 = 1_000;

/// What an application does in an endless row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Module {
    /// Puts a request and waits for its reply: a round trip is an iteration.
    Requester,
    /// Gets a request and puts a reply to the queue that it names.
    Responder,
    /// Puts.
    Sender,
    /// Gets.
    Receiver,
    /// Puts a message and gets that message.
    PutGet,
    /// Publishes, which the driver does not.
    Publisher,
    /// Subscribes, which the driver does not.
    Subscriber,
}

impl Module {
    /// Every module.
    pub const ALL: [Module; 7] = [
        Module::Requester,
        Module::Responder,
        Module::Sender,
        Module::Receiver,
        Module::PutGet,
        Module::Publisher,
        Module::Subscriber,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Module::Requester => "Requester",
            Module::Responder => "Responder",
            Module::Sender => "Sender",
            Module::Receiver => "Receiver",
            Module::PutGet => "PutGet",
            Module::Publisher => "Publisher",
            Module::Subscriber => "Subscriber",
        }
    }

    /// The module of that name, in whatever case.
    pub fn from_name(name: &str) -> Option<Module> {
        Module::ALL
            .into_iter()
            .find(|module| module.name().eq_ignore_ascii_case(name))
    }
}

/// What carries the applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriers {
    /// A blocking thread for each, as ordinary programs have it.
    Threads,
    /// So many threads with a loop each, between which the connections are dealt out.
    Multiplexed {
        /// Threads.
        threads: u32,
    },
}

/// Which calls are in syncpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncpoint {
    /// MQPUT.
    pub put: bool,
    /// MQGET.
    pub get: bool,
}

impl Syncpoint {
    /// Neither.
    pub const NONE: Syncpoint = Syncpoint {
        put: false,
        get: false,
    };
    /// Both.
    pub const BOTH: Syncpoint = Syncpoint {
        put: true,
        get: true,
    };
}

/// What a set of like applications does.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The module.
    pub module: Module,
    /// How many applications (`-nt`).
    pub applications: u32,
    /// What carries them.
    pub carriers: Carriers,
    /// Bytes of a message (`-ms`).
    pub message_bytes: usize,
    /// What messages are filled with (`-mr`, `-mf`).
    pub text: Text,
    /// Persistent, not persistent, or as the queue has it (`-pp`, `-ppn`).
    pub persistence: Option<bool>,
    /// What is in syncpoint (`-tx`, `-txp`, `-txg`).
    pub syncpoint: Syncpoint,
    /// Iterations of a unit of work (`-cc`).
    pub batch: u32,
    /// Puts are not answered (MQPMO_ASYNC_RESPONSE); MQSTAT tells of failures.
    pub asynchronous: bool,
    /// Iterations of each application (`-mg`); none is endless.
    pub iterations: Option<u64>,
    /// Iterations a second of each application (`-rt`); 0 is as fast as it goes.
    pub rate: f64,
    /// The rate is reached after so long (`-rp`).
    pub ramp: Duration,
    /// Requests (`-iq`).
    pub requests: Destinations,
    /// Replies (`-oq`).
    pub replies: Destinations,
    /// Queues of Sender, Receiver and PutGet (`-d`).
    pub destinations: Destinations,
    /// Replies are got by correlation identifier (`-co`); a responder sets it.
    pub by_correlation_id: bool,
    /// A reply is the request again (`-cr`), not a message of `message_bytes`.
    pub copy_request: bool,
    /// How long a get waits (`-to`); none is for ever.
    pub get_wait: Option<Duration>,
    /// MQPUT1 in place of an open queue (`-p1`).
    pub put1: bool,
    /// Format of messages (`-mfm`).
    pub format: String,
    /// MQGMO_CONVERT (`-cv`).
    pub convert: bool,
    /// Bytes of the get buffer (`-rs`); 0 is `message_bytes`. It grows when a message is longer.
    pub buffer_bytes: usize,
    /// Name of the application (`-an`).
    pub application_name: String,
    /// Requests of an application that are under way at once (`-dq`).
    pub queue_depth: u32,
    /// A blocking thread yields after so many iterations (`-yd`); 0 never does.
    pub yield_every: u64,
    /// Between the connecting of two applications (`-wi`).
    pub start_interval: Duration,
    /// How long connecting and opening may take for all of them (`-wt`).
    pub start_within: Duration,
}

impl Default for Workload {
    fn default() -> Workload {
        Workload {
            module: Module::Requester,
            applications: 1,
            carriers: Carriers::Threads,
            message_bytes: 2048,
            text: Text::Repeating,
            persistence: None,
            syncpoint: Syncpoint::NONE,
            batch: 1,
            asynchronous: false,
            iterations: None,
            rate: 0.0,
            ramp: Duration::ZERO,
            requests: Destinations::one("REQUEST"),
            replies: Destinations::one("REPLY"),
            destinations: Destinations::one("DEST"),
            by_correlation_id: true,
            copy_request: true,
            get_wait: Some(Duration::from_secs(5)),
            put1: false,
            format: "MQSTR".to_owned(),
            convert: false,
            buffer_bytes: 0,
            application_name: "posthaste perf".to_owned(),
            queue_depth: 1,
            yield_every: 0,
            start_interval: Duration::ZERO,
            start_within: Duration::from_secs(30),
        }
    }
}

/// Where the queue manager is.
#[derive(Clone)]
pub enum Target {
    /// Over the network or a socket file, as it says; its application name is the workload's.
    Client(Connect),
    /// A queue manager of this machine, by name.
    Local {
        /// The folder of queue managers, if it is not the usual one.
        data_dir: Option<PathBuf>,
        /// The queue manager; none is the default one.
        queue_manager: Option<String>,
    },
    /// A queue manager inside this process.
    InProcess(Arc<InProcess>),
    /// No queue manager, but a bare server of the floor.
    Bare {
        /// Where it listens.
        address: SocketAddr,
        /// It sends back what comes, and does nothing else.
        echo: bool,
    },
}

impl Workload {
    /// Bytes of the get buffer to begin with.
    pub(crate) fn buffer(&self) -> usize {
        match self.buffer_bytes {
            0 => self.message_bytes,
            bytes => bytes,
        }
    }

    /// Whether it can be driven.
    ///
    /// # Errors
    /// [`LabError::BadInput`] says what cannot be done, in the words of the command line.
    pub fn check(&self) -> Result<(), LabError> {
        let no = |why: &str| Err(LabError::BadInput(why.to_owned()));
        match self.module {
            Module::Publisher | Module::Subscriber => {
                return Err(LabError::BadInput(format!(
                    "-tc {}: the driver does not publish or subscribe",
                    self.module.name()
                )));
            }
            Module::Requester | Module::Responder => {
                self.requests.check()?;
                self.replies.check()?;
            }
            Module::Sender | Module::Receiver | Module::PutGet => self.destinations.check()?,
        }
        let puts = self.module != Module::Receiver;
        match self {
            w if w.applications == 0 => no("no applications (-nt 0): at least 1"),
            w if w.applications > 100_000 => no("more than 100000 applications (-nt)"),
            w if w.batch == 0 => no("a unit of work has at least 1 iteration (-cc 0)"),
            w if w.batch > 1 && w.syncpoint == Syncpoint::NONE => {
                no("several iterations a commit (-cc) need syncpoint (-tx)")
            }
            w if w.batch > 1 && w.module == Module::Requester => no(
                "a Requester commits each put and each get: a request is not seen before its commit (-cc)",
            ),
            w if w.batch > 1 && w.module == Module::PutGet => {
                no("a PutGet commits each put: its get would not see the message otherwise (-cc)")
            }
            w if w.message_bytes > LONGEST || w.buffer_bytes > LONGEST => Err(LabError::BadInput(
                format!("a message has at most {LONGEST} bytes (-ms, -rs)"),
            )),
            w if !(w.rate.is_finite() && w.rate >= 0.0) => no("the rate (-rt) is 0 or more"),
            w if w.rate == 0.0 && !w.ramp.is_zero() => no("a ramp (-rp) needs a rate (-rt)"),
            w if w.asynchronous && !puts => no("a Receiver puts nothing asynchronously"),
            w if w.asynchronous && w.module != Module::Sender => {
                no("asynchronous put is for Sender: the others wait for what they have put")
            }
            w if w.asynchronous && w.put1 => {
                no("asynchronous put and MQPUT1 (-p1) exclude each other")
            }
            w if w.queue_depth == 0 => no("at least 1 request is under way (-dq 0)"),
            w if w.queue_depth > 1 && w.module != Module::Requester => {
                no("several requests under way (-dq) are for Requester")
            }
            w if w.iterations == Some(0) => {
                no("at least 1 iteration, or none given for endless (-mg)")
            }
            w if matches!(w.carriers, Carriers::Multiplexed { threads }
                if !(1..=MOST_LOOPS).contains(&threads)) =>
            {
                Err(LabError::BadInput(format!(
                    "multiplexed connections are carried by 1 to {MOST_LOOPS} threads (--multiplex)"
                )))
            }
            w if w.yield_every > 0 && w.carriers != Carriers::Threads => {
                no("-yd is for a thread per application")
            }
            _ => self.check_names(),
        }
    }

    fn check_names(&self) -> Result<(), LabError> {
        if self.format.len() > 8 {
            return Err(LabError::BadInput(format!(
                "a format has at most 8 characters (-mfm {})",
                self.format
            )));
        }
        if self.application_name.len() > 28 {
            return Err(LabError::BadInput(format!(
                "an application's name has at most 28 characters (-an {})",
                self.application_name
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_with_its_option() {
        type Spoil = fn(&mut Workload);
        let cases: Vec<(&str, Spoil)> = vec![
            ("-nt 0", |w| w.applications = 0),
            ("-cc 0", |w| w.batch = 0),
            ("-tx", |w| w.batch = 2),
            ("-dq 0", |w| w.queue_depth = 0),
            ("-rt", |w| w.rate = -1.0),
            ("-rt", |w| w.rate = f64::NAN),
            ("-rp", |w| w.ramp = Duration::from_secs(1)),
            ("-ms", |w| w.message_bytes = LONGEST + 1),
            ("does not publish", |w| w.module = Module::Publisher),
            ("does not publish", |w| w.module = Module::Subscriber),
            ("asynchronous", |w| w.asynchronous = true),
            ("-mfm", |w| w.format = "TOOLONG.X".to_owned()),
            ("-an", |w| w.application_name = "X".repeat(29)),
            ("-mg", |w| w.iterations = Some(0)),
            ("-yd", |w| {
                w.yield_every = 1;
                w.carriers = Carriers::Multiplexed { threads: 1 };
            }),
            ("--multiplex", |w| {
                w.carriers = Carriers::Multiplexed { threads: 0 }
            }),
            ("--multiplex", |w| {
                w.carriers = Carriers::Multiplexed {
                    threads: MOST_LOOPS + 1,
                }
            }),
        ];
        Workload::default().check().unwrap();
        for (word, spoil) in cases {
            let mut workload = Workload::default();
            spoil(&mut workload);
            let error = workload.check().unwrap_err().to_string();
            assert!(error.contains(word), "{word}: {error}");
        }
    }

    #[test]
    fn modules_are_found_by_name() {
        for module in Module::ALL {
            assert_eq!(
                Module::from_name(&module.name().to_lowercase()),
                Some(module)
            );
        }
        assert_eq!(Module::from_name("Dummy"), None);
    }
}
