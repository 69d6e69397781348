//! A safe MQ Interface client over a socket, one blocking call a verb.
//!
//! * `address`: where a queue manager is, and what `MQSERVER` says.
//! * `connection`: a connection and its verbs.
//! * `mqi`: the verbs as a trait, which the in-process binding has too.
//! * `asynchronous`: puts that wait for no reply.
//! * `transport`, `outbound`: the socket under it, and what is to be sent on it.
//!
//! A [`Connection`] is one conversation on a socket of its own and is used by one thread at a time.

mod address;
mod asynchronous;
mod connection;
mod error;
mod mqi;
mod outbound;
mod transport;

pub use address::{Address, Server};
pub use connection::{Connect, Connection, Got, Inquired, Parts, check_length};
pub use error::ClientError;
pub use mqi::Mqi;
