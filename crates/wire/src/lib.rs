//! The MQ channel protocol: bytes to segments to verbs and back, for both sides. Pure: no socket, no clock.
//!
//! From the bytes up:
//!
//! * [`segment`]: headers `TSH `, `TSHC`, `TSHM` and where one segment ends;
//! * [`flow`]: long flows cut into segments of the agreed size, and put together again in bounded memory;
//! * [`initial`], [`negotiate`], [`identity`]: how a socket starts;
//! * [`verb`], [`request`], [`reply`], [`spi`], [`subscribe`], [`xa`], [`stream`]: what travels in the segments;
//! * [`prepared`]: requests that are sent again and again, and fields of replies read where they lie;
//! * [`server`] and [`client`]: the two sides' state machines. They have the same shape: `receive` takes one
//!   segment and gives at most one event; after an error the machine keeps that error and repeats it.
//!
//! Two rules hold everywhere. Every length that a peer states is checked against what has arrived before it is
//! believed, so no input allocates more than half as much again as it sent, plus a constant. And what a peer did wrong is one variant of
//! [`PeerMisbehaved`], mapped in one place to the status code it is told and the message the operator reads.

mod budget;
mod call;
pub mod client;
mod decode;
pub mod flow;
#[doc(hidden)]
pub mod fuzzing;
pub mod identity;
pub mod initial;
mod input;
mod misbehaviour;
pub mod negotiate;
pub mod prepared;
pub mod reply;
pub mod request;
pub mod segment;
pub mod server;
pub mod socket;
pub mod spi;
mod status;
pub mod stream;
pub mod subscribe;
pub mod verb;
pub mod xa;

pub use budget::Budget;
pub use decode::DecodeError;
pub use flow::{Assembler, Body, Envelope, FlowWriter, Framing};
pub use initial::InitialData;
pub use misbehaviour::PeerMisbehaved;
pub use negotiate::{Agreement, Offer};
pub use reply::{Answer, Reply};
pub use request::Request;
pub use segment::{Flags, Header, Scope, Segment, SegmentType};
pub use status::Status;
pub use verb::{ApiHeader, Outcome};
