//! What the queue of retained publications knows of its messages: of each topic string, which one is retained.
//!
//! Invariants (under the queue's lock):
//! * Of the messages of one topic string that are on the queue that one is retained whose deciding record, its own or the
//!   commit of its unit of work, is the last in the log; within a unit of work the one that was put last. So a restart,
//!   which reads the log in its order, decides as was decided before, in whatever order they arrived.
//! * One that is superseded is held until the log has the record of its end, and that record comes before any about the
//!   end of what superseded it: it is not found again once that has gone.
//! * The topic string of a message is known from before it arrives until it is destroyed or forgotten.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use posthaste_recovery_log::Lsn;
use posthaste_topic::Filter;

use super::QueueState;
use super::index::SlotId;
use super::reading::Readings;
use crate::topics::underway::Underway;

/// A message that is to be retained.
#[derive(Clone)]
pub(crate) struct Retaining {
    /// For this topic string.
    pub(crate) topic: Arc<str>,
    /// Subscriptions with a smaller number have been looked at when it was published.
    pub(crate) seen: u64,
    /// Outside a unit of work, for those who wait until it is retained.
    pub(crate) underway: Option<Arc<Underway>>,
}

/// The same, with its place in the order.
struct Announced {
    of: Retaining,
    /// Where the record ends that decides, and the number of what has none; `None`: that is to come, with its commit.
    at: Option<(Lsn, u64)>,
}

/// What is retained for a topic string.
struct Current {
    /// Where the record ends that decides; of what has none, a number drawn when it was decided, which comes behind; and its
    /// own number.
    rank: (Lsn, u64, u64),
    slot: SlotId,
    seen: u64,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Retained {
    current: BTreeMap<Arc<str>, Current>,
    /// By number, all messages, those of units of work included.
    announced: HashMap<u64, Announced>,
    /// Held until the log has their ends, in the order in which they were superseded.
    superseded: VecDeque<SlotId>,
    /// One of them is persistent, and what is retained instead is not: only the record of its end says that it is gone.
    owing: bool,
    /// Something was superseded, and whoever waits for that has not been made to yet.
    supersedes: bool,
    /// Where the commit ends whose messages arrive, and the number of one without a record.
    commit: (Lsn, u64),
    /// Publications that are under way no more, once the lock is given back.
    arrived: Vec<Arc<Underway>>,
}

impl Retained {
    /// A message has gone, or never was.
    fn forget(&mut self, seq: u64) {
        if let Some(announced) = self.announced.remove(&seq) {
            let topic = &*announced.of.topic;
            if self.current.get(topic).is_some_and(|of| of.rank.2 == seq) {
                self.current.remove(topic);
            }
            self.arrived.extend(announced.of.underway);
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

    /// A message is on its way here, to be retained. `at`: where the record ends that decides, and a number if it has none
    /// ([`QueueState::retained_from`]); `None`: the one of its commit does.
    pub(crate) fn announce_retained(&mut self, seq: u64, of: Retaining, at: Option<(Lsn, u64)>) {
        if let Some(retained) = &mut self.retained {
            retained.announced.insert(seq, Announced { of, at });
        }
    }

    /// The messages of a unit of work arrive now. `commit`: where its record ends, or, if it has none, where the log ends and
    /// the number that is drawn for it.
    pub(crate) fn retained_from(&mut self, commit: impl FnOnce() -> (Lsn, u64)) {
        if let Some(retained) = &mut self.retained {
            retained.commit = commit();
        }
    }

    /// Publications that are under way no more: to be dropped when the lock is given back.
    pub(crate) fn take_arrived(&mut self) -> Vec<Arc<Underway>> {
        let retained = self.retained.as_mut();
        retained.map_or_else(Vec::new, |known| std::mem::take(&mut known.arrived))
    }

    /// A message that is listed is retained from now on, unless a later one is already.
    pub(crate) fn retained_arrived(&mut self, slot: SlotId) {
        let Some(retained) = &mut self.retained else {
            return;
        };
        let seq = self.index.slot(slot).seq;
        let Some(announced) = retained.announced.get_mut(&seq) else {
            // No publication: it was put here when the queue was one like others.
            return;
        };
        retained.arrived.extend(announced.of.underway.take());
        let (at, drawn) = announced.at.unwrap_or(retained.commit);
        let now = Current {
            rank: (at, drawn, seq),
            slot,
            seen: announced.of.seen,
        };
        let topic = &announced.of.topic;
        let superseded = match retained.current.get(topic) {
            Some(later) if later.rank > now.rank => Some((slot, later.slot)),
            _ => {
                let before = retained.current.insert(topic.clone(), now);
                before.map(|before| (before.slot, slot))
            }
        };
        if let Some((slot, instead)) = superseded {
            let persistent = |slot| self.index.slot(slot).persistent();
            retained.owing |= persistent(slot) && !persistent(instead);
            retained.supersedes = true;
            retained.superseded.push_back(slot);
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
    pub(crate) fn superseded(&self) -> impl ExactSizeIterator<Item = SlotId> + '_ {
        let retained = self.retained.as_ref();
        let none = const { &VecDeque::new() };
        retained
            .map_or(none, |known| &known.superseded)
            .iter()
            .copied()
    }

    /// Destroys what has been superseded. `note` appends the record of the end of a persistent one, and says whether there
    /// was room; without it the message stays for another try. Whether all are gone.
    pub(crate) fn discard_superseded(&mut self, mut note: impl FnMut(u64) -> bool) -> bool {
        loop {
            let Some(slot) = self.superseded().next() else {
                return true;
            };
            let found = self.index.slot(slot);
            let (seq, persistent) = (found.seq, found.persistent());
            if persistent && !note(seq) {
                return false;
            }
            if let Some(retained) = &mut self.retained {
                retained.superseded.pop_front();
            }
            self.uncommitted_gets -= 1;
            self.destroy(slot, !persistent);
        }
    }

    /// Whether the end of one of those has to be forced, before whoever superseded it is told so.
    pub(crate) fn owes_end(&self) -> bool {
        self.retained.as_ref().is_some_and(|known| known.owing)
    }

    /// Whether something was superseded since it was asked last.
    pub(crate) fn take_supersedes(&mut self) -> bool {
        let retained = self.retained.as_mut();
        retained.is_some_and(|known| std::mem::take(&mut known.supersedes))
    }

    /// It is known how far the log has to be forced for that.
    pub(crate) fn end_is_owed(&mut self) {
        if let Some(retained) = &mut self.retained {
            retained.owing = false;
        }
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
            .map(|(topic, of)| (of.rank, topic.clone()))
            .collect();
        found.sort_unstable_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, topic)| topic).collect()
    }

    /// The topic strings that have a retained publication which has not expired `now`, as far as that is known without the
    /// queue's file: of what is only there, to the second.
    pub(crate) fn all_retained(&self, now: i64) -> Vec<Arc<str>> {
        let lasts = |slot: SlotId| match self.message(slot, &Readings::default()) {
            Ok(message) => !message.expired(now),
            Err(_) => match i64::from(self.index.slot(slot).expires_s) {
                0 => true,
                seconds => now < seconds * 1_000_000,
            },
        };
        let current = self.retained.iter().flat_map(|known| &known.current);
        let current = current.filter(|(_, of)| lasts(of.slot));
        current.map(|(topic, _)| topic.clone()).collect()
    }

    /// The message that is retained for a topic string: its slot, its number, and which subscriptions had been looked at
    /// when it was published ([`Retaining::seen`]).
    pub(crate) fn retained_on(&self, topic: &str) -> Option<(SlotId, u64, u64)> {
        let of = self.retained.as_ref()?.current.get(topic)?;
        Some((of.slot, of.rank.2, of.seen))
    }

    /// Whether what is known of retained publications is what is on the queue.
    pub(super) fn check_retained(&self) -> Result<(), String> {
        let Some(retained) = &self.retained else {
            return Ok(());
        };
        for (topic, Current { rank, slot, .. }) in &retained.current {
            let seq = &rank.2;
            let there = self.index.holds(*slot, *seq) && self.index.slot(*slot).listed();
            let known = retained.announced.get(seq);
            if !there || known.is_none_or(|known| known.of.topic != *topic) {
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
