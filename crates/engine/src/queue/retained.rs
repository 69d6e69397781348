//! What the queue of retained publications knows of its messages: of each topic string, which one is retained.
//!
//! Invariants (under the queue's lock):
//! * Of the messages of one topic string that are on the queue the one with the highest number is retained, whatever the
//!   order in which they came. So a restart, which finds them in any order, decides as was decided before.
//! * One that is superseded is held until the log has the record of its end, and that record comes before any about the
//!   end of what superseded it: it is not found again once that has gone.
//! * The topic string of a message is known from before it arrives until it is destroyed or forgotten.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use posthaste_topic::Filter;

use super::QueueState;
use super::index::SlotId;

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Retained {
    /// By topic string, the message that is retained: its number and its slot.
    current: BTreeMap<Arc<str>, (u64, SlotId)>,
    /// By number, the topic strings of all messages, those of units of work included.
    topics: HashMap<u64, Arc<str>>,
    /// Held until the log has their ends.
    superseded: Vec<SlotId>,
}

impl Retained {
    /// A message has gone, or never was.
    fn forget(&mut self, seq: u64) {
        if let Some(topic) = self.topics.remove(&seq)
            && self.current.get(&topic).is_some_and(|(of, _)| *of == seq)
        {
            self.current.remove(&topic);
        }
    }
}

impl QueueState {
    /// It is the queue of retained publications.
    pub(crate) fn keep_retained(&mut self) {
        self.retained.get_or_insert_default();
    }

    /// Whether it is the queue of retained publications.
    pub(crate) fn keeps_retained(&self) -> bool {
        self.retained.is_some()
    }

    /// A message is on its way here, to be retained for a topic string.
    pub(crate) fn announce_retained(&mut self, seq: u64, topic: Arc<str>) {
        if let Some(retained) = &mut self.retained {
            retained.topics.insert(seq, topic);
        }
    }

    /// A message that is listed is retained from now on, unless a later one is already.
    pub(crate) fn retained_arrived(&mut self, slot: SlotId) {
        let Some(retained) = &mut self.retained else {
            return;
        };
        let seq = self.index.slot(slot).seq;
        let Some(topic) = retained.topics.get(&seq) else {
            // No publication: it was put here when the queue was one like others.
            return;
        };
        let superseded = match retained.current.get(topic) {
            Some((later, _)) if *later > seq => Some(slot),
            _ => {
                let before = retained.current.insert(topic.clone(), (seq, slot));
                before.map(|(_, slot)| slot)
            }
        };
        if let Some(slot) = superseded {
            retained.superseded.push(slot);
            self.browse_forget(slot);
            self.index.hold(slot);
            self.uncommitted_gets += 1;
        }
    }

    /// A message has gone, or never was.
    pub(super) fn forget_retained(&mut self, seq: u64) {
        if let Some(retained) = &mut self.retained {
            retained.forget(seq);
        }
    }

    /// Those that have been superseded, and whose ends the log does not have.
    pub(crate) fn superseded(&self) -> &[SlotId] {
        let retained = self.retained.as_ref();
        retained.map_or(&[], |retained| &retained.superseded)
    }

    /// Destroys what has been superseded. `note` appends the record of the end of a persistent one, and says whether there
    /// was room; without it the message stays for another try. Whether all are gone.
    pub(crate) fn discard_superseded(&mut self, mut note: impl FnMut(u64) -> bool) -> bool {
        while let Some(slot) = self.superseded().last().copied() {
            let found = self.index.slot(slot);
            let (seq, persistent) = (found.seq, found.persistent());
            if persistent && !note(seq) {
                return false;
            }
            if let Some(retained) = &mut self.retained {
                retained.superseded.pop();
            }
            self.uncommitted_gets -= 1;
            self.destroy(slot, !persistent);
        }
        true
    }

    /// The topic strings that have a retained publication and match, in the order in which these were published. Only those
    /// are looked at that begin as all that match do.
    pub(crate) fn retained_matching(&self, filter: &Filter) -> Vec<Arc<str>> {
        let Some(retained) = &self.retained else {
            return Vec::new();
        };
        if let Some(exact) = filter.exact() {
            let found = retained.current.get_key_value(exact);
            return found.into_iter().map(|(topic, _)| topic.clone()).collect();
        }
        let prefix = filter.prefix();
        let from = (
            std::ops::Bound::Included(prefix),
            std::ops::Bound::Unbounded,
        );
        let below = retained.current.range::<str, _>(from);
        let mut found: Vec<_> = below
            .take_while(|(topic, _)| topic.starts_with(prefix))
            .filter(|(topic, _)| filter.matches(topic))
            .map(|(topic, (seq, _))| (*seq, topic.clone()))
            .collect();
        found.sort_unstable_by_key(|(seq, _)| *seq);
        found.into_iter().map(|(_, topic)| topic).collect()
    }

    /// The topic strings that have a retained publication.
    pub(crate) fn all_retained(&self) -> Vec<Arc<str>> {
        let current = self.retained.iter().flat_map(|known| known.current.keys());
        current.cloned().collect()
    }

    /// The message that is retained for a topic string: its slot and its number.
    pub(crate) fn retained_on(&self, topic: &str) -> Option<(SlotId, u64)> {
        let (seq, slot) = self.retained.as_ref()?.current.get(topic)?;
        Some((*slot, *seq))
    }

    /// Whether what is known of retained publications is what is on the queue.
    pub(super) fn check_retained(&self) -> Result<(), String> {
        let Some(retained) = &self.retained else {
            return Ok(());
        };
        for (topic, (seq, slot)) in &retained.current {
            let there = self.index.holds(*slot, *seq) && self.index.slot(*slot).listed();
            if !there || retained.topics.get(seq) != Some(topic) {
                return Err(format!("message {seq}, retained for {topic}, is not there"));
            }
        }
        let held = |slot: &&SlotId| self.index.get(**slot).is_none_or(|slot| slot.listed());
        match retained.superseded.iter().find(held) {
            Some(slot) => Err(format!("superseded slot {slot} is not held")),
            None => Ok(()),
        }
    }
}
