//! What is true of the queue manager, its queues and its connections at this moment, as typed values.
//!
//! Invariant: nothing here is guessed; how it is shown to whom is for others to say.

mod gather;

use std::path::PathBuf;

use posthaste_command::{Attrs, Object, ObjectKind};
use posthaste_mqi::Xid;
use posthaste_mqi::constants::MQOO_OUTPUT;

use crate::application::Application;
use crate::unit::outcome::Outcome;

/// The queue manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerStatus {
    /// Whether it is ending: nobody may connect.
    pub quiescing: bool,
    /// Connections.
    pub connections: usize,
    /// Branches of global transactions that are in doubt.
    pub in_doubt: usize,
    /// When this run began, microseconds since 1970.
    pub started: i64,
    /// Its data folder.
    pub data: PathBuf,
    /// Its recovery log.
    pub log: LogStatus,
}

/// A recovery log of circular use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogStatus {
    /// Its folder.
    pub path: PathBuf,
    /// Number of the extent that is being written.
    pub current: u64,
    /// Number of the extent where a restart would begin.
    pub restart: u64,
    /// Bytes of an extent.
    pub extent_bytes: u64,
    /// Primary extents.
    pub primary: u32,
    /// Secondary extents.
    pub secondary: u32,
    /// Bytes that a restart would read.
    pub used_bytes: u64,
    /// Bytes of the primary extents.
    pub primary_bytes: u64,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct ConnectionStatus {
    /// The number that the connection identifier ends with.
    pub number: u64,
    /// Who it is.
    pub application: Application,
    /// Whether a call is in progress.
    pub in_call: bool,
    /// The unit of work in progress.
    pub unit: Option<UnitStatus>,
    /// Its open handles.
    pub handles: Vec<HandleStatus>,
    /// The identifiers of the subscriptions that it has handles on.
    pub subscriptions: Vec<[u8; 24]>,
    /// What it has done so far.
    pub counts: ConnectionCounts,
}

/// Sums of a connection: plain numbers, raised under its lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// Messages put with MQPUT.
    pub puts: u64,
    /// Messages got, browsed ones included.
    pub gets: u64,
    /// Bytes of their data that were delivered.
    pub got_bytes: u64,
    /// Units of work that it asked to be committed.
    pub commits: u64,
    /// Units of work that it asked to be backed out.
    pub backouts: u64,
}

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitStatus {
    /// Its number.
    pub id: u64,
    /// When it began, microseconds since 1970.
    pub started: i64,
    /// When it wrote its first record to the log; none while it has written nothing.
    pub logged: Option<i64>,
    /// Of which branch of a global transaction it is, if it is one.
    pub branch: Option<Xid>,
}

/// A unit of work that has not ended, or a branch of a global transaction that was completed heuristically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionStatus {
    /// Its number.
    pub id: u64,
    /// Which branch it is, if it is one.
    pub branch: Option<Xid>,
    /// When it began, microseconds since 1970.
    pub started: i64,
    /// How far it has come.
    pub state: TransactionState,
    /// The numbers of the connections that work on it.
    pub connections: Vec<u64>,
    /// The queues that it has put on and got from, by name.
    pub queues: Vec<String>,
}

/// How far a unit of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It may grow, or is a branch whose work is done and that is not prepared.
    Active,
    /// In doubt.
    Prepared,
    /// An operator has decided about it, and its transaction manager has not forgotten it.
    Heuristic(Outcome),
}

/// A topic string that somebody subscribes to or may publish on by a handle, that a topic object is about, or that has a
/// retained publication, or one above these.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicStatus {
    /// The topic string; the root is empty.
    pub topic: String,
    /// The topic object that is about exactly this string; empty: none.
    pub object: String,
    /// What holds for it: the inherited attributes of topic objects, with nothing left that says ASPARENT.
    pub rules: Attrs,
    /// How many subscriptions there are to it.
    pub subscriptions: usize,
    /// How many handles are open on it for publications.
    pub publishers: usize,
    /// Whether it has a retained publication.
    pub retained: bool,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionStatus {
    /// Its identifier.
    pub id: [u8; 24],
    /// What it says: the definition of one that is durable, and what would be that of any other. One that has no name has
    /// an empty one.
    pub definition: Object,
    /// The whole topic string, with its wildcards.
    pub topic: String,
    /// The numbers of the connections that have handles on it, each once.
    pub connections: Vec<u64>,
    /// Publications that it was given since it was made or the queue manager started.
    pub messages: u64,
    /// When the latest was, microseconds since 1970.
    pub latest: Option<i64>,
    /// When a connection made or resumed it last, microseconds since 1970.
    pub resumed: Option<i64>,
    /// When it was made, microseconds since 1970.
    pub created: i64,
    /// When it was altered, microseconds since 1970.
    pub altered: i64,
}

/// An open handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleStatus {
    /// What was opened, before its name was resolved.
    pub object: String,
    /// What that is.
    pub kind: ObjectKind,
    /// The local queue that it stands on, by that name or by one that leads there.
    pub queue: Option<String>,
    /// The open options.
    pub options: i32,
    /// What is so of the topic string, if it is open on one.
    pub topic: Option<OpenTopicStatus>,
}

impl HandleStatus {
    /// The topic string that is open for publications, with what has come of it.
    pub fn publishes(&self) -> Option<&OpenTopicStatus> {
        let output = self.options & MQOO_OUTPUT != 0;
        self.topic.as_ref().filter(|_| output)
    }
}

/// A topic string that a handle is open on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTopicStatus {
    /// The whole topic string.
    pub topic: String,
    /// How many messages the handle has published, those of units of work that were backed out among them.
    pub published: u64,
    /// When the latest was, microseconds since 1970.
    pub latest: Option<i64>,
}
