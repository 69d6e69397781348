//! Sockets: listening, admitting, serving them on lanes, and counting what they cost. Knows no protocol.
//!
//! * [`Listener`] binds TCP or Unix-domain sockets, and [`Lanes::listen`] accepts from it;
//! * [`Admission`] limits connections in all and for each address, counts bytes, and knows when the last is gone;
//! * [`HalfOpens`] says who of those that have not said who they are loses its place to a newcomer;
//! * [`Protocol`] is what a connection is to whoever runs it: bytes in; bytes and deadlines out;
//! * [`Secured`] is a protocol with TLS around it, if the peer begins with that; [`Handshakes`] are the threads for what
//!   no lane does;
//! * [`Lanes`] are the threads that run connections, [`drive`] runs one on any stream and clock;
//! * [`ConnectionWakers`] wake parts of a connection from any thread, [`together`] many at one go;
//! * [`Output`] is what waits for a peer, written once per turn;
//! * [`RuntimeClock`]: the clock of the network side.

mod accepting;
mod address;
mod admission;
mod clock;
mod drive;
mod half_open;
mod handshakes;
mod inbound;
mod lane;
mod lanes;
mod listener;
mod output;
mod protocol;
mod secured;
mod stream;
mod tally;
mod unix_peer;
mod wake;

pub use accepting::{Accepted, Watcher};
pub use address::{Address, Host, Peer};
pub use admission::{Admission, Limits, Permit, Refused, Totals, Traffic};
pub use clock::{RuntimeClock, coarse_wall_micros};
pub use drive::drive;
pub use half_open::HalfOpens;
pub use handshakes::{AcceptorSource, Handshakes};
pub use lane::Begin;
pub use lanes::{LaneFailed, Lanes, Listening};
pub use listener::{ListenError, Listener, Options};
pub use output::Output;
pub use protocol::{Next, Protocol, Received};
pub use secured::Secured;
pub use stream::Stream;
pub use tally::LaneCounts;
pub use unix_peer::UnixPeer;
pub use wake::{ConnectionWakers, together};
