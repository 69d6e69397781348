//! A message that a consumer is shown: it stays on its queue, for everybody.
//!
//! Invariant: one that nobody took note of is not marked for the consumer, and is shown to it again.

use std::sync::Arc;

use posthaste_env::sync::Mutex;

use super::waiter::Wakes;
use crate::message::Message;
use crate::queue::index::SlotId;
use crate::queue::marks::Marking;
use crate::queue::{Cursor, Queue};

pub(crate) struct Browsed {
    pub(crate) queue: Arc<Queue>,
    pub(crate) slot: SlotId,
    pub(crate) message: Arc<Message>,
    pub(crate) backout_count: u16,
    /// Where it is, where its consumer stood before, and stands.
    pub(crate) cursor: Cursor,
    pub(crate) before: Option<Cursor>,
    pub(crate) stands: Arc<Mutex<Option<Cursor>>>,
    pub(crate) marking: Marking,
    /// It has been noted.
    pub(crate) kept: bool,
}

impl Drop for Browsed {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut stands = self.stands.lock();
        if *stands == Some(self.cursor) {
            *stands = self.before;
        }
        drop(stands);
        let mut wakes = Wakes::default();
        let seq = self.message.seq;
        let mut state = self.queue.lock();
        state.unshown(seq, self.slot, &self.marking, &mut wakes);
        drop(state);
        wakes.wake();
    }
}
