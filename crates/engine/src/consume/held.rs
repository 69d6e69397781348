//! A message that is out of everybody's sight, before it is known who looks after it.
//!
//! Invariant: whoever has one sees to it that the message is accepted or given back.

use std::sync::Arc;

use crate::message::Message;
use crate::queue::index::SlotId;

/// A held message, before it is known who looks after it.
#[derive(Debug)]
pub(crate) struct Held {
    /// Where it is on the queue; none: it never was there.
    pub(crate) slot: Option<SlotId>,
    pub(crate) message: Arc<Message>,
    /// Nobody changes that of a message that is held.
    pub(crate) backout_count: u16,
}
