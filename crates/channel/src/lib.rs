//! Server-connection channels: the protocol over a socket into the engine.
//!
//! One task a socket. It reads what has come, gives every request to its conversation, lets the conversations run until
//! each waits for something, and writes all their answers at once:
//!
//! * [`serve`] (in `connection`) is that task;
//! * `conversation` is an MQCONN and what follows it: one future for its whole life, which takes requests from its
//!   inbox and calls the verbs (`talk`), so that a verb that is ready at once costs no allocation and no wake-up;
//! * `ready` wakes single conversations of a socket;
//! * [`turn_away`] refuses a client for whom there is no place;
//! * `timing` decides when a peer has been silent, idle or deaf for too long;
//! * [`Registry`] knows all instances: limits for each definition, stopping, and what DISPLAY CHSTATUS shows.
//!
//! What a lost connection means: the verb that is running ends, except a waiting MQGET, which is given up and loses
//! nothing; then the unit of work is backed out and everything closed.

mod connection;
mod conversation;
mod ending;
mod instances;
mod ready;
mod registry;
mod talk;
mod timing;
mod turned_away;

pub use connection::{Caller, serve};
pub use registry::{InstanceState, InstanceStatus, Limits, Registry, StopError};
pub use turned_away::turn_away;
