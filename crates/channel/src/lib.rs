//! Server-connection channels: the protocol over a socket into the engine.
//!
//! A connection is a state machine that a lane runs. What has come is given to the conversations, which run until each
//! waits for something; all their answers are written at once:
//!
//! * `connection` is that machine; [`Registry::serve`] gives it to a lane, [`serve`] runs it on any stream;
//! * `conversation` is an MQCONN and what follows it: requests in order, a session, at most one verb that runs;
//! * `admission` decides as whom a conversation runs, or why it does not; nothing else gives it a session;
//! * `identity` keeps what a socket says of who its applications are; [`ConnAuth`] has what CONNAUTH demands, and finds out
//!   whether credentials are right;
//! * `dispatch` carries out the verbs; `running` keeps the future of one that waits, and lends storage to those that do not;
//! * `xa` carries out those of a resource manager;
//! * `ending` says how a connection ends, to the client and to the operator; [`TurnedAway`] refuses a client for whom
//!   there is no place;
//! * `timing` decides when a peer has been silent, idle or deaf for too long;
//! * `security` says what TLS a channel demands, and whether a connection has it; [`Security`] has the key repository;
//! * `exposure` says what a listener on an address of the network would let in unprotected;
//! * [`Registry`] knows all instances: limits for each definition, stopping, and what DISPLAY CHSTATUS shows.
//!
//! What a lost connection means: the verb that is running ends, except a waiting MQGET, which is given up and loses
//! nothing; then the unit of work is backed out and everything closed.

mod admission;
mod chlauth;
mod connauth;
mod connection;
mod conversation;
mod deliver;
mod desk;
mod dispatch;
mod ending;
mod expiring;
mod exposure;
mod identity;
mod instance;
mod instances;
mod outgoing;
mod registry;
mod running;
mod security;
mod streaming;
mod timing;
mod turned_away;
mod worker;
mod xa;

pub use connauth::{ConnAuth, Sources};
pub use connection::serve;
pub use exposure::Exposed;
pub use instance::{InstanceState, InstanceStatus};
pub use posthaste_authentication::TokenSettings;
pub use registry::{Caller, Counted, Limits, Registry, StopError};
pub use security::Security;
pub use turned_away::TurnedAway;
