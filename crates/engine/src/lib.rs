//! The queue manager as a library of thread-safe objects.
//!
//! It has no clock, thread, socket or file of its own: the world comes in through
//! [`posthaste_env::Env`], and a verb that may have to wait is an `async fn` that needs nothing but
//! std wakers. Whoever owns the queue manager drives five things: the log's
//! [`Writer`](posthaste_recovery_log::Writer), [`QueueManager::maintain`], [`QueueManager::settle`],
//! [`QueueManager::serve_files`] and [`QueueManager::deliver_delayed`].
//!
//! Where to find what:
//!
//! | module | what is there |
//! | --- | --- |
//! | `queue_manager` | the queue manager itself: start, connect, stop |
//! | `manager` | what all its connections share |
//! | `session` | one application connection: its handles, its unit of work |
//! | `asynchronous`, `async_puts` | asynchronous puts: the commit that must not happen, and what MQSTAT tells |
//! | `verbs/` | one file a verb |
//! | `consume/` | waiting for messages and holding them: consumers, leases |
//! | `queue/` | a queue: its messages and its file |
//! | `unit/` | units of work: their table, how they end, what a forced record makes true |
//! | `topics/` | subscriptions, found by topic string |
//! | `record` | every log record, with its redo and undo |
//! | `authorization` | whether a user may do something with an object |
//! | `catalogue/` | object definitions, and the calls that change them |
//! | `status` | what is true at this moment, as typed values |
//! | `recovery/` | checkpoint and restart |
//! | `check` | whether what is in memory keeps its invariants |
//! | `delayed` | messages that are delivered some time after their put |
//! | `maintain` | everything that happens without being asked |
//! | `bodies` | bodies of messages sealed on their way to disk, opened on their way back |
//! | `file_service` | queue files read and written for callers that must not wait for a disk |
//! | `room` | the disk of the queue files: what is kept for checkpoints |
//! | `meter` | what is counted |
//!
//! Lock order (a lock may be taken while holding only locks to its left): catalogue, session,
//! unit of work, making of a queue's file, queue, log tail. No lock is held across an `await`, and that of a queue not
//! across a file operation.

mod alerts;
mod application;
mod async_puts;
mod asynchronous;
mod at_their_word;
mod audit;
mod authority_service;
mod authorization;
mod bodies;
mod catalogue;
mod check;
mod config;
mod consume;
mod delayed;
mod delivery;
mod expiry;
mod file_service;
mod group;
mod group_backout;
mod handles;
mod lifecycle;
mod log_space;
mod maintain;
mod manager;
#[doc(hidden)]
pub mod mark;
mod message;
mod message_data;
mod meter;
mod names;
mod numbers;
mod operator;
mod origin;
#[doc(hidden)]
pub mod plant;
mod queue;
mod queue_manager;
mod record;
mod recovery;
mod report;
mod resolution;
mod room;
mod routed;
mod session;
mod sessions;
mod signal;
mod status;
mod steady_clock;
mod stop;
mod tally;
mod topics;
mod transmission;
mod trigger;
mod unit;
mod upkeep;
mod verbs;

pub use application::{Application, Binding};
pub use audit::{AuditEvent, AuditKind, Backlog};
pub use authority_service::{Authorization, Looking, NoEntity, Users};
pub use authorization::{Issuer, Need, Refusal};
pub use bodies::{BodyCipher, NotOpened};
pub use catalogue::{
    COMMAND_QUEUE, ChangeError, ChlAuthError, Held, HeldBy, Holder, NewDefinition, Restored,
    authority_numbers,
};
pub use config::{CreateOptions, EngineConfig};
pub use meter::{Count, Counts, Meter};
pub use numbers::NUMBERS;
pub use operator::{Operator, Silent};
/// What the recovery log counts.
pub use posthaste_recovery_log::LogStatistics;
/// What a [`StartError`] of the queue files is made of.
pub use posthaste_store::StoreError;
pub use queue::{QueueCounts, QueueStatus};
pub use queue_manager::{EndMode, NotStopped, QueueManager, Started};
pub use recovery::identity::{misfit_of_log, trust_log};
pub use recovery::locks::Locks;
pub use session::Session;
pub use status::{
    ConnectionCounts, ConnectionStatus, HandleStatus, LogStatus, ManagerStatus, OpenTopicStatus,
    SubscriptionStatus, TopicStatus, TransactionState, TransactionStatus, UnitStatus,
};
pub use stop::{StartError, Stop};
pub use topics::retained::branch_cleared;
pub use unit::branch::{BranchError, InDoubt, Outcome, Vote, Xid};
pub use unit::ongoing::{End, Start};
pub use verbs::clock::{display_stamp, put_stamp};
pub use verbs::consumer::{Consumer, Delivery};
pub use verbs::reserve::ReservedIds;
pub use verbs::{Defaults, Done, Got, Inquired, SubscribeOptions, Verb};

#[doc(hidden)]
pub mod fuzzing;
