//! A message that a consumer is shown: it stays on its queue, for everybody.
//!
//! Invariant: one that was marked for the consumer, and that nobody took note of, is not marked.

use std::sync::Arc;

use super::waiter::Wakes;
use crate::message::Message;
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::queue::marks::Marking;

pub(crate) struct Browsed {
    pub(crate) queue: Arc<Queue>,
    pub(crate) slot: SlotId,
    pub(crate) message: Arc<Message>,
    pub(crate) backout_count: u16,
    pub(crate) marking: Marking,
    /// It has been noted.
    pub(crate) kept: bool,
}

impl Drop for Browsed {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut wakes = Wakes::default();
        let seq = self.message.seq;
        let mut state = self.queue.lock();
        state.unshown(seq, self.slot, &self.marking, &mut wakes);
        drop(state);
        wakes.wake();
    }
}
