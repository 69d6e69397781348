//! Queues whose files do not hold what was written there.
//!
//! What is taken as law:
//! * Damage is told: a call that meets it gets 2101. A message may be missing only from a queue for which a call got
//!   that; one that is delivered is the message that was put, on every queue.
//! * Only a queue to whose file something has happened can be damaged.
//! * Nobody knows what is on a damaged queue: any of its messages may come or not, until it is cleared.

use crate::known::{Model, Verdict, broken, may_count};
use crate::{QueueId, Rule};

impl Model {
    /// Something has happened to the file of this queue.
    pub fn struck(&mut self, queue: QueueId) {
        self.queues[queue.0].struck = true;
    }

    /// A call on this queue got 2101.
    ///
    /// # Errors
    /// Nothing has happened to its file.
    pub fn damaged(&mut self, queue: QueueId) -> Verdict {
        if !self.queues[queue.0].struck {
            let text = format!("{} is said to be damaged", self.name(queue));
            return broken(Rule::Damaged, text);
        }
        self.queues[queue.0].unknown = true;
        for id in self.queues[queue.0].live.clone() {
            let m = self.message(id);
            if may_count(m.state) {
                m.sure = false;
                let state = m.state;
                self.set(id, state);
            }
        }
        Ok(())
    }

    /// Whether some queue was found damaged.
    pub fn any_damaged(&self) -> bool {
        self.queues.iter().any(|queue| queue.unknown)
    }
}
