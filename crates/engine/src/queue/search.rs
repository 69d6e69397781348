//! Finding the message a getter asks for.
//!
//! Invariants:
//! * The first match in delivery order is found. By identifier that takes a hash chain, whatever
//!   the depth; by group, sequence number or token it takes a walk.
//! * A message that has expired is never found: it is taken off the queue when it is met, and
//!   handed to the caller, who owes it a log record and perhaps a report.
//! * Messages locked by another handle's browse are passed over.

use std::sync::Arc;

use posthaste_mqi::Hobj;
use posthaste_store::StoreError;

use super::QueueState;
use super::index::{Body, Chain, NIL, SlotId, tag_of};
use super::matching::{Match, seq_of};
use crate::message::Message;

/// A place in the delivery order: where a browse stands, or where a search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The message's place in the delivery order; it stays true when the message has gone.
    pub(crate) key: (u8, u64),
    pub(crate) slot: SlotId,
    /// The message in front of it when it was found, as slot and number: from there the way on is
    /// short when the message itself has gone.
    before: (SlotId, u64),
}

impl Cursor {
    pub(crate) fn seq(&self) -> u64 {
        self.key.1
    }
}

/// Where a search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the head of the queue.
    First,
    /// After the message at this place.
    After(Cursor),
}

/// A message that was found; it is still listed.
pub(crate) struct Found {
    pub(crate) slot: SlotId,
    pub(crate) message: Arc<Message>,
}

/// How candidates are walked through.
enum Walk {
    Order,
    Chain(Chain, u32),
}

impl QueueState {
    /// Finds the first match. Expired messages met on the way are removed and appended to
    /// `expired`.
    pub(crate) fn find(
        &mut self,
        wanted: &Match,
        start: Start,
        owner: (u64, Hobj),
        now: i64,
        expired: &mut Vec<Arc<Message>>,
    ) -> Result<Option<Found>, StoreError> {
        let seed = self.home.tag_seed;
        let walk = match (&wanted.msg_id, &wanted.correl_id) {
            (Some(id), _) => Walk::Chain(Chain::Msg, tag_of(id, seed)),
            (None, Some(id)) => Walk::Chain(Chain::Correl, tag_of(id, seed)),
            (None, None) => Walk::Order,
        };
        let token_seq = match &wanted.token {
            None => None,
            Some(token) => match seq_of(token) {
                None => return Ok(None),
                some => some,
            },
        };
        let mut at = match (&walk, start) {
            (Walk::Order, Start::First) => self.index.first(),
            (Walk::Order, Start::After(cursor)) => self.after(&cursor),
            (Walk::Chain(chain, tag), Start::After(cursor))
                if self.listed_at(cursor.slot, cursor.seq())
                    && self.index.slot(cursor.slot).tag(*chain) == *tag =>
            {
                self.index.next_tagged(*chain, *tag, cursor.slot)
            }
            (Walk::Chain(chain, tag), _) => self.index.first_tagged(*chain, *tag),
        };
        while at != NIL {
            let next = match &walk {
                Walk::Order => self.index.next(at),
                Walk::Chain(chain, tag) => self.index.next_tagged(*chain, *tag, at),
            };
            let slot = *self.index.slot(at);
            let before = matches!(start, Start::After(cursor) if slot.key() <= cursor.key);
            let other_token = token_seq.is_some_and(|seq| seq != slot.seq);
            if before || other_token || self.locked_for(at, owner) {
                at = next;
                continue;
            }
            let sure = slot.expires_s != 0 && now / 1_000_000 >= i64::from(slot.expires_s);
            let message = self.message(at)?;
            if sure || message.expired(now) {
                self.index.hold(at);
                self.destroy(at, !message.persistent());
                expired.push(message);
            } else if wanted.accepts(&message) {
                return Ok(Some(Found { slot: at, message }));
            }
            at = next;
        }
        Ok(None)
    }

    /// The place of the listed message in a slot.
    pub(crate) fn cursor(&self, slot: SlotId) -> Cursor {
        let before = self.index.before(slot);
        let number = if before == NIL {
            0
        } else {
            self.index.slot(before).seq
        };
        Cursor {
            key: self.index.slot(slot).key(),
            slot,
            before: (before, number),
        }
    }

    fn listed_at(&self, slot: SlotId, seq: u64) -> bool {
        slot != NIL && self.index.holds(slot, seq) && self.index.slot(slot).listed()
    }

    /// The first message after a place.
    fn after(&self, cursor: &Cursor) -> SlotId {
        let (before, number) = cursor.before;
        if self.listed_at(cursor.slot, cursor.seq()) {
            self.index.next(cursor.slot)
        } else if self.listed_at(before, number) {
            // What was put since between the two lies in front of the place or at it.
            let mut at = self.index.next(before);
            while at != NIL && self.index.slot(at).key() <= cursor.key {
                at = self.index.next(at);
            }
            at
        } else {
            self.index.after_key(cursor.key)
        }
    }

    /// Removes up to `limit` expired messages, walking on from slot `from`; returns where to go on
    /// (`None`: the end was reached).
    pub(crate) fn sweep_expired(
        &mut self,
        from: SlotId,
        limit: usize,
        now: i64,
        expired: &mut Vec<Arc<Message>>,
    ) -> Result<Option<SlotId>, StoreError> {
        let seconds = now / 1_000_000;
        let total = (self.index.chunk_states.len() * super::index::CHUNK) as SlotId;
        let mut at = from;
        let mut looked = 0;
        while at < total {
            if looked == limit {
                return Ok(Some(at));
            }
            looked += 1;
            let slot = *self.index.slot(at);
            let due = slot.seq != 0
                && slot.listed()
                && !slot.browse_locked()
                && slot.expires_s != 0
                && (seconds >= i64::from(slot.expires_s)
                    || matches!(slot.body(), Body::Resident(_))
                        && seconds + 1 >= i64::from(slot.expires_s));
            if due {
                let message = self.message(at)?;
                if message.expired(now) {
                    self.index.hold(at);
                    self.destroy(at, !message.persistent());
                    expired.push(message);
                }
            }
            at += 1;
        }
        Ok(None)
    }
}
