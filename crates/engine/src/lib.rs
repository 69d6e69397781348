//! The queue manager as a library of thread-safe objects.
//!
//! It has no clock, thread, socket or file of its own: the world comes in through
//! [`posthaste_env::Env`], and a verb that may have to wait is an `async fn` that needs nothing but
//! std wakers. Whoever owns the queue manager drives two things: the log's
//! [`Writer`](posthaste_recovery_log::Writer) and [`QueueManager::maintain`].
//!
//! Where to find what:
//!
//! | module | what is there |
//! | --- | --- |
//! | `manager` | the queue manager itself: start, connect, stop |
//! | `session` | one application connection: its handles, its unit of work |
//! | `asynchronous` | asynchronous puts: what MQSTAT tells, and the commit that must not happen |
//! | `verbs/` | one file a verb |
//! | `queue/` | a queue: its messages, its waiters, its file |
//! | `unit/` | units of work: their table, how they end, what a forced record makes true |
//! | `record` | every log record, with its redo and undo |
//! | `catalogue/` | object definitions, and the commands that change and show them |
//! | `recovery/` | checkpoint and restart |
//! | `check` | whether what is in memory keeps its invariants |
//! | `maintain` | everything that happens without being asked |
//! | `room` | the disk of the queue files: what is kept for checkpoints |
//! | `meter` | what is counted |
//!
//! Lock order (a lock may be taken while holding only locks to its left): catalogue, session,
//! unit of work, making of a queue's file, queue, log tail. No lock is held across an `await`, and that of a queue not
//! across a file operation.

mod asynchronous;
mod catalogue;
mod check;
mod config;
mod group;
mod maintain;
mod manager;
#[doc(hidden)]
pub mod mark;
mod message;
mod meter;
mod numbers;
mod operator;
#[doc(hidden)]
pub mod plant;
mod queue;
mod record;
mod recovery;
mod report;
mod room;
mod session;
mod signal;
mod space;
mod stop;
mod tally;
mod trigger;
mod unit;
mod verbs;

pub use catalogue::{Beside, PartState, Restored};
pub use config::{CreateOptions, EngineConfig};
pub use manager::{EndMode, QueueManager, Started};
pub use meter::Meter;
pub use numbers::NUMBERS;
pub use operator::{Operator, Silent};
/// What a [`StartError`] of the queue files is made of.
pub use posthaste_store::StoreError;
pub use queue::QueueStatus;
pub use session::{Application, Binding, ConnectionStatus, Session};
pub use stop::{StartError, Stop};
pub use unit::branch::{BranchError, InDoubt, Outcome, Vote, Xid};
pub use verbs::{Defaults, Done, Got, Inquired, Verb};

#[doc(hidden)]
pub mod fuzzing;
