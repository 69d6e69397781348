//! Queues whose files do not hold what was written there.
//!
//! What is taken as law:
//! * Damage is told: a call that meets it gets 2101. A message may be missing only from a queue for which a call got
//!   that; one that is delivered is the message that was put, on every queue.
//! * Only a queue to whose file something has happened can be damaged.
//! * Nobody knows what is on a damaged queue: any of its messages may come or not, until it is cleared.
//! * The same holds of the file where delayed messages wait. What is delayed and for a damaged queue may come or not.

use crate::known::{Model, Verdict, broken, may_count};
use crate::{Op, QueueId, Rule};

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

    /// Something has happened to the file where delayed messages wait.
    pub fn waiting_struck(&mut self) {
        self.waiting.struck = true;
    }

    /// Somebody was told that this file is damaged.
    ///
    /// # Errors
    /// Nothing has happened to it.
    pub fn waiting_damaged(&mut self) -> Verdict {
        if !self.waiting.struck {
            let text = "where delayed messages wait is said to be damaged".to_owned();
            return broken(Rule::Damaged, text);
        }
        self.waiting.unknown = true;
        for id in self.messages.ids() {
            let m = self.message(id);
            if m.waits && may_count(m.state) {
                m.sure = false;
                let state = m.state;
                self.set(id, state);
            }
        }
        Ok(())
    }

    /// A put with this target got 2101.
    pub(crate) fn put_found_damage(&mut self, op: &Op, queue: QueueId) -> Verdict {
        let delayed = matches!(op, Op::Put(put) if put.delay.is_some());
        match delayed && self.waiting.struck {
            true => self.waiting_damaged(),
            false => self.damaged(queue),
        }
    }

    /// Whether some queue was found damaged.
    pub fn any_damaged(&self) -> bool {
        self.waiting.unknown || self.queues.iter().any(|queue| queue.unknown)
    }
}
