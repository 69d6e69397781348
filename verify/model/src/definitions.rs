//! Definitions, and queues that are cleared and deleted.
//!
//! What is taken as law:
//! * A definition, its change or its end that was reported done is so after every crash. One that was cut
//!   off has happened or has not, whole.
//! * A queue that was deleted and defined again under its name is another queue: nothing of the old one is on
//!   it, and nothing of it is lost.
//! * A queue that was cleared is empty; a clear that was cut off has taken every message or none. Who opens the queue
//!   while it is being cleared may still be given a message of it, which does not come again.
//! * DELETE without PURGE takes no message with it.

use std::collections::BTreeMap;

use crate::known::{Doubt, Model, State, Verdict, broken, may_count};
use crate::{Match, QueueId, Rule};

/// Kinds of objects that share one name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A local queue, predefined or dynamic.
    Local,
    /// An alias queue.
    Alias,
}

/// What an object is: its kind, and a number that its description carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its kind.
    pub kind: Kind,
    /// From its description.
    pub number: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    is: Option<Definition>,
    /// A change that is under way, or whose outcome nobody learnt.
    may_be: Option<Option<Definition>>,
}

/// Which objects there are, as far as is known.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    objects: BTreeMap<String, Known>,
}

impl Definitions {
    /// The object is about to become this, or to go.
    pub fn change(&mut self, name: &str, to: Option<Definition>) {
        self.objects.entry(name.to_owned()).or_default().may_be = Some(to);
    }

    /// The change is done, or was refused.
    pub fn changed(&mut self, name: &str, done: bool) {
        let known = self.objects.entry(name.to_owned()).or_default();
        if let Some(now) = known.may_be.take()
            && done
        {
            known.is = now;
        }
    }

    /// Somebody looked, with no change under way: is that what it can be?
    ///
    /// # Errors
    /// It cannot.
    pub fn found(&mut self, name: &str, what: Option<Definition>) -> Verdict {
        let known = self.objects.entry(name.to_owned()).or_default();
        if what != known.is && Some(what) != known.may_be {
            let text = format!("{name} is {what:?}, and should be {known:?}");
            return broken(Rule::WrongDefinition, text);
        }
        *known = Known {
            is: what,
            may_be: None,
        };
        Ok(())
    }
}

impl Model {
    /// The queue has been cleared, or deleted, with all that was on it.
    pub(crate) fn emptied(&mut self, queue: QueueId) {
        self.queues[queue.0].doubts.clear();
        for id in self.queues[queue.0].live.clone() {
            if may_count(self.messages[&id].state) {
                self.set(id, State::Taken);
            }
        }
    }

    /// The queue was cleared by a call that was made at `since`. What was put after that call was made may have been put
    /// before the queue was emptied, or after.
    pub(crate) fn cleared(&mut self, queue: QueueId, since: u64) {
        self.queues[queue.0].doubts.clear();
        for id in self.queues[queue.0].live.clone() {
            let m = &self.messages[&id];
            if !may_count(m.state) {
                continue;
            }
            if m.put_at < since {
                self.set(id, State::Taken);
                self.message(id).cleared = true;
            } else if self.may_be_available(id) {
                self.in_doubt(id);
            }
        }
    }

    /// The same was cut off: every message that was put before is gone, or none.
    pub(crate) fn perhaps_cleared(&mut self, queue: QueueId, since: u64) {
        for id in self.queues[queue.0].live.clone() {
            if self.messages[&id].put_at > since && self.may_be_available(id) {
                self.in_doubt(id);
            }
        }
        self.perhaps_emptied(queue, false);
    }

    /// Nobody knows any more whether the message is there; whether that was known.
    fn in_doubt(&mut self, id: u64) -> bool {
        let m = self.message(id);
        let state = m.state;
        // A put that has not been answered is not known to have happened anyway.
        if state == State::Putting || !std::mem::take(&mut m.sure) {
            return false;
        }
        self.set(id, state);
        true
    }

    /// DELETE has succeeded that was not to take messages along.
    pub(crate) fn deleted_empty(&mut self, queue: QueueId) -> Verdict {
        // Nobody had it open, nor messages in a unit of work: what is there now was there then.
        let there = self.surely_available(queue, Match::default(), self.now, |_| true);
        if there.len() > self.slack(queue) {
            let name = self.name(queue);
            let text = format!("{name} was deleted with {there:?}, without PURGE");
            return broken(Rule::Lost, text);
        }
        self.emptied(queue);
        Ok(())
    }

    /// A clear or a delete was cut off: every message is gone, or none.
    pub(crate) fn perhaps_emptied(&mut self, queue: QueueId, deleting: bool) {
        let mut taken = Vec::new();
        for id in self.queues[queue.0].live.clone() {
            let m = &self.messages[&id];
            let persistent = m.persistent;
            if may_count(m.state) && self.in_doubt(id) && persistent {
                taken.push(id);
            }
        }
        self.queues[queue.0].doubts.push(Doubt { deleting, taken });
    }

    /// The queue is still there: a delete that was cut off has not happened, and what only it could have taken must be
    /// there. Of a clear before it, that says nothing.
    pub fn not_deleted(&mut self, queue: QueueId) {
        let doubts = std::mem::take(&mut self.queues[queue.0].doubts);
        let (deletes, clears) = doubts.into_iter().partition(|doubt| doubt.deleting);
        self.queues[queue.0].doubts = clears;
        self.have_not_happened(deletes);
    }

    /// A message was found: what was cut off and would have taken it, and whatever came after that, has not happened.
    pub(crate) fn found_in_doubt(&mut self, queue: QueueId, id: u64) {
        let doubts = &mut self.queues[queue.0].doubts;
        if let Some(at) = doubts.iter().position(|doubt| doubt.taken.contains(&id)) {
            let not_happened = doubts.split_off(at);
            self.have_not_happened(not_happened);
        }
    }

    fn have_not_happened(&mut self, doubts: Vec<Doubt>) {
        for id in doubts.into_iter().flat_map(|doubt| doubt.taken) {
            let m = self.message(id);
            m.sure = true;
            let state = m.state;
            self.set(id, state);
        }
    }

    /// A delete that was cut off has happened, or the queue was a temporary one that went with its maker.
    pub fn deleted(&mut self, queue: QueueId) {
        self.emptied(queue);
    }
}
