//! A safe MQ Interface client over a socket, one blocking call a verb.
//!
//! * `address`: where a queue manager is, and what `MQSERVER` says; `connect`: how to connect.
//! * `protocol`: the client's side of a socket as a pure state machine.
//! * `transport`: what carries the bytes; `outbound`: what is to be sent on it.
//! * `tls`: a socket with TLS, and how it is asked for.
//! * `exclusive`: a socket that the calling thread reads; `conversations`: one that threads share.
//! * `nonblocking`: a connection among many on one thread, in somebody's event loop.
//! * `xa`: the verbs by which a transaction manager coordinates a connection.
//! * `connection`: a connection and its verbs; `asynchronous`: puts that wait for no reply.
//!
//! A [`Connection`] is one conversation and is used by one thread at a time.

mod address;
mod asynchronous;
mod connect;
mod connection;
mod conversations;
mod delayed;
mod error;
mod exclusive;
#[doc(hidden)]
pub mod fuzzing;
mod nonblocking;
mod outbound;
mod password;
mod protocol;
mod tls;
mod transport;
mod xa;

pub use address::{Address, Server};
pub use connect::Connect;
pub use connection::{Call, Connection};
pub use error::ClientError;
pub use nonblocking::Nonblocking;
pub use password::Password;
pub use tls::Tls;
