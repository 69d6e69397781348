//! The simplest correct queue manager: given what applications did and saw, was that legal?
//!
//! It shares no code and no idea with the engine. It does not queue anything; it keeps for every message
//! what can be known about it from outside, and for every unit of work how it can have ended. Calls of
//! several sessions overlap and crashes leave outcomes unknown, so what it keeps is often "this or that";
//! evidence settles it later, and evidence against what is settled is a [`Violation`].
//!
//! How to use it: report every call when it is made ([`Model::invoke`]) and when it ends
//! ([`Model::respond`]), and every stop and start ([`Model::crash`], [`Model::clean_shutdown`],
//! [`Model::restart`]). Where nothing can run on, call [`Model::quiet`]. At the end let one session get
//! from every queue until 2033 and call [`Model::audit`].
//!
//! The oracle never rejects a legal history. It may accept an illegal one only where a call in flight or a
//! call whose outcome was never learnt could explain what was seen. `tests/exhaustive.rs` holds both
//! sentences against a brute-force checker.
//!
//! Of queues that topics give messages to, `publications.rs` says what must be on them; of messages that are delivered some
//! time after their put, `delayed.rs`; of those that are put to many queues at once, `lists.rs`.
//!
//! What it takes as law, where the manual leaves room:
//! * An uncommitted message is visible to nobody, its own session included.
//! * Depth counts uncommitted puts. Whether it counts messages got in an open unit of work is left open.
//! * A message that comes back from a unit of work comes back to its place in the order.
//! * An application that has seen a persistent message may rely on it: a crash does not take it away, even
//!   when the put or commit had not returned yet.
//! * A backout count is at least the number of backouts that are known and never lower than it was shown
//!   before; across a restart only as far as [`Harden`] says. It is never higher than the number of times the
//!   message can have been got in a unit of work.

#![forbid(unsafe_code)]

mod damage;
mod definitions;
mod delayed;
mod known;
mod lists;
mod messages;
mod oracle;
mod publications;

pub use definitions::{Definition, Definitions, Kind};
pub use known::Model;
pub use lists::ListPut;
pub use publications::{Publication, SubscriptionId, SubscriptionSpec};

/// A queue, as numbered by [`Model::add_queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub usize);

/// A session; the caller chooses the number. One call at a time each, but for puts that nobody waits for.
pub type SessionId = u32;

/// A call in flight, as numbered by [`Model::invoke`].
pub type OpId = u64;

/// What of a backout count survives a restart, for persistent messages (attribute HARDENBO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harden {
    /// Nothing need survive.
    No,
    /// Backouts that had completed.
    Backouts,
    /// Also the backout that the stop itself is, for messages delivered in a unit of work.
    Gets,
}

/// The attributes of a queue that its users can notice.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// For messages to people.
    pub name: String,
    /// MAXDEPTH.
    pub max_depth: u64,
    /// MSGDLVSQ(PRIORITY); otherwise FIFO.
    pub by_priority: bool,
    /// DEFPRTY.
    pub default_priority: u8,
    /// DEFPSIST(YES).
    pub default_persistent: bool,
    /// NPMCLASS(HIGH): non-persistent messages survive a controlled restart.
    pub keeps_non_persistent: bool,
    /// HARDENBO.
    pub harden: Harden,
}

impl QueueSpec {
    /// A queue as DEFINE QLOCAL makes it, with more room than is ever used.
    pub fn roomy(name: impl Into<String>) -> QueueSpec {
        QueueSpec {
            name: name.into(),
            max_depth: 1_000_000,
            by_priority: true,
            default_priority: 0,
            default_persistent: false,
            keeps_non_persistent: false,
            harden: Harden::No,
        }
    }
}

/// Which messages a get or browse is satisfied with; `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// MsgId.
    pub msg_id: Option<u64>,
    /// CorrelId.
    pub correl_id: Option<u64>,
    /// A selector asks for messages of this priority and above.
    pub least_priority: Option<u8>,
}

/// A put.
#[derive(Clone, Debug)]
pub struct Put {
    /// Where to.
    pub queue: QueueId,
    /// Unique for ever; carried in the payload.
    pub id: u64,
    /// Digest of the payload.
    pub hash: u64,
    /// `None`: as the queue says.
    pub persistent: Option<bool>,
    /// `None`: as the queue says.
    pub priority: Option<u8>,
    /// In syncpoint.
    pub in_uow: bool,
    /// Microseconds of life after the put.
    pub expiry: Option<u64>,
    /// Microseconds after the put before which nobody is given it.
    pub delay: Option<u64>,
    /// MsgId.
    pub msg_id: u64,
    /// CorrelId.
    pub correl_id: u64,
}

/// A destructive get, or a browse.
#[derive(Clone, Copy, Debug)]
pub struct Get {
    /// Where from.
    pub queue: QueueId,
    /// Which messages.
    pub want: Match,
    /// What kind.
    pub how: How,
    /// With a wait interval.
    pub wait: bool,
}

/// Kinds of get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Destructive, outside syncpoint.
    NoSyncpoint,
    /// Destructive, in syncpoint.
    Syncpoint,
    /// Destructive, in syncpoint if the message is persistent, else outside.
    SyncpointIfPersistent,
    /// Browse from the front.
    BrowseFirst,
    /// Browse onwards from a cursor, of which the model knows nothing.
    BrowseNext,
}

/// A call.
#[derive(Clone, Debug)]
pub enum Op {
    /// MQPUT, MQPUT1.
    Put(Put),
    /// The same to a distribution list.
    PutList(ListPut),
    /// MQGET.
    Get(Get),
    /// MQCMIT, and MQDISC with an open unit of work.
    Commit,
    /// MQBACK, and a connection that is lost.
    Backout,
    /// MQINQ of the current depth.
    Depth(QueueId),
    /// MQSET of put and get inhibited; `None` leaves as it is.
    Inhibit(QueueId, Option<bool>, Option<bool>),
    /// CLEAR QLOCAL. Its queue manager refuses it while somebody has the queue open or there are uncommitted messages:
    /// so whatever is done with the queue meanwhile has ended before it happens, or begins after.
    Clear(QueueId),
    /// DELETE, or the MQCLOSE that deletes; whether with the messages on it. The same holds.
    Delete(QueueId, bool),
    /// A put to a topic.
    Publish(Publication),
    /// MQSUB that makes a subscription.
    Subscribe(SubscriptionId),
    /// The MQCLOSE that ends a subscription, or the end of the connection that made one that is not durable.
    Unsubscribe(SubscriptionId),
}

/// A message as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// From the payload.
    pub id: u64,
    /// Digest of the payload as received.
    pub hash: u64,
    /// From the message descriptor.
    pub persistent: bool,
    /// From the message descriptor.
    pub priority: u8,
    /// From the message descriptor; `None` if nobody looked.
    pub backout_count: Option<u32>,
    /// MsgId; `None` if nobody looked.
    pub msg_id: Option<u64>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Completed; for calls that give nothing back.
    Done,
    /// A get or browse that gave a message.
    Got(Delivered),
    /// The depth that was asked for.
    Depth(u64),
    /// A reason code. 2003, 2016, 2033, 2051, 2053 and 2101 are checked; any other says that nothing was done.
    Reason(i32),
    /// A get that was given up while it was waiting for a message, which must lose nothing. (One given up
    /// later, while its effect is being forced, is `Unknown`.)
    Cancelled,
    /// The caller did not learn how it ended (connection lost, reason 2009).
    Unknown,
}

/// MQRC_BACKED_OUT.
pub const BACKED_OUT: i32 = 2003;
/// MQRC_GET_INHIBITED.
pub const GET_INHIBITED: i32 = 2016;
/// MQRC_NO_MSG_AVAILABLE.
pub const NO_MSG_AVAILABLE: i32 = 2033;
/// MQRC_PUT_INHIBITED.
pub const PUT_INHIBITED: i32 = 2051;
/// MQRC_Q_FULL.
pub const Q_FULL: i32 = 2053;
/// MQRC_OBJECT_DAMAGED.
pub const OBJECT_DAMAGED: i32 = 2101;

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A message was delivered that nobody put.
    NeverPut,
    /// A message was delivered from another queue than it was put to.
    WrongQueue,
    /// The payload, the persistence or the priority is not what was put.
    Corrupted,
    /// A message was delivered that the get did not ask for.
    NoMatch,
    /// A message was visible before its unit of work was committed.
    Uncommitted,
    /// A message was visible although its put had failed or had been backed out.
    Undone,
    /// A message was delivered again after its get was complete, or to two at once.
    Duplicate,
    /// One part of a unit of work happened and another did not.
    HalfUnitOfWork,
    /// A message that must survive a restart did not.
    Lost,
    /// A non-persistent message survived where it must not, or vanished where it must not.
    NonPersistentClass,
    /// A message overtook one that had to come first.
    OutOfOrder,
    /// The backout count is too low or too high.
    BackoutCount,
    /// A put was accepted although the queue was full.
    TooDeep,
    /// 2053 although the queue cannot have been full.
    NotFull,
    /// The depth inquired cannot have been the depth.
    WrongDepth,
    /// 2033 although a matching message was there all the time.
    MessageMissed,
    /// A get waits although a matching message is there.
    MissedWakeUp,
    /// A message was delivered after it had expired.
    Expired,
    /// A message was delivered before its delay was over.
    Early,
    /// 2016 or 2051 without cause, or a call accepted that had to be refused.
    Inhibited,
    /// An object is not what its last definition says, or is there although it was deleted.
    WrongDefinition,
    /// 2101 for a queue whose file nothing has happened to.
    Damaged,
    /// Trigger messages came that were not due, or did not come.
    Triggers,
    /// Reports came that were not due, or did not come.
    Reports,
    /// A group did not come whole and in its order.
    Groups,
    /// A handle was given a message that it must not see, or was not given one that it must; or a lock has not held.
    Locks,
    /// A handle was shown what is marked, or not shown what is not.
    Marks,
    /// A getter was shown properties that it did not want, or not those that it wanted.
    Properties,
    /// MQSTAT does not account for every asynchronous put.
    Asynchronous,
    /// A message of a list is not what its record says, or the counts and records of a call do not say what came of it.
    Lists,
    /// A call was refused for a reason that it cannot have.
    Refused,
    /// A publication came to a subscriber for whom it was not.
    WrongSubscriber,
    /// A subscription is there that must not be, or is not there and must be.
    Subscriptions,
    /// 2003 where the queue manager has no cause to back out by itself.
    UnexpectedBackout,
}

/// An illegal history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that is broken.
    pub rule: Rule,
    /// What happened.
    pub text: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}

impl std::error::Error for Violation {}
