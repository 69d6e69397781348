//! Sockets: listening, admitting, reading and writing them, and counting what they cost. Knows no protocol.
//!
//! * [`Listener`] binds TCP or Unix-domain sockets and accepts;
//! * [`Admission`] limits connections in all and for each address, counts bytes, and knows when the last is gone;
//! * [`Inbound`] reads into a buffer that belongs to the thread: an idle connection keeps no read buffer;
//! * [`Outbound`] is a connection's output: anyone may append, it is written in order, once per batch;
//! * [`Timer`] and [`RuntimeClock`]: the clock of the network side.

mod address;
mod admission;
mod half_open;
mod inbound;
mod listener;
mod outbound;
mod stream;
mod timer;

pub use address::{Address, Host, Peer};
pub use admission::{Admission, Limits, Permit, Refused, Totals, Traffic};
pub use inbound::{Inbound, ReadError};
pub use listener::{Accepted, ListenError, Listener, Options, Watcher, run};
pub use outbound::{Flush, Outbound};
pub use stream::Stream;
pub use timer::{RuntimeClock, Timer, coarse_wall_micros};
