//! Finding the message a getter asks for.
//!
//! Invariants:
//! * The first match in delivery order is found. By identifier that takes a hash chain (by two, the
//!   shorter one), whatever the depth; by group, sequence number or offset it takes a walk.
//! * No message is asked for from the file whose identifiers' tags, or whose group, sequence number
//!   or offset, are others than what is wanted, nor one whose group may not be delivered now.
//! * A message that has expired is never found: it is taken off the queue when it is met, and
//!   handed to the caller, who owes it a log record and perhaps a report.
//! * A search by properties needs the messages themselves. Those that only the file has are judged where they are read,
//!   and the search begins again with what is known of them (`reading`). What it has judged it may remember (`judged`).
//! * Messages locked by another handle's browse are passed over.

use std::sync::Arc;

use posthaste_mqi::constants::MQMF_LAST_MSG_IN_GROUP;
use posthaste_mqi::{GroupId, Hobj};

use super::QueueState;
use super::index::{Body, CHUNK, Chain, GroupKeys, Index, NIL, Slot, SlotId, tag_of};

use super::reading::{Readings, Unjudged, Unread};
use crate::consume::considered::Considered;
use crate::consume::selection::{Selection, seq_of};
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

/// A message that was taken off its queue because it had expired.
pub(crate) struct Expired {
    pub(crate) message: Arc<Message>,
    /// It is held there until the report that it owes is durable.
    pub(crate) held: Option<SlotId>,
}

/// A message that was found; it is still listed.
pub(crate) struct Found {
    pub(crate) slot: SlotId,
    pub(crate) message: Arc<Message>,
}

/// How far a sweep has come.
pub(crate) enum SweepEnd {
    All,
    /// It goes on from here.
    Part(SlotId),
    /// From here too, when this has been read.
    Unread(SlotId, Unread),
}

/// How candidates are walked through.
enum Walk {
    Order,
    Chain(Chain, u32),
    /// The tags of both identifiers.
    Both((u32, u32)),
}

impl Walk {
    fn of(wanted: &Selection, seed: u64) -> Walk {
        let tag = |id| tag_of(id, seed);
        match (&wanted.msg_id, &wanted.correl_id) {
            (Some(msg), Some(correl)) => Walk::Both((tag(msg), tag(correl))),
            (Some(id), None) => Walk::Chain(Chain::Msg, tag(id)),
            (None, Some(id)) => Walk::Chain(Chain::Correl, tag(id)),
            (None, None) => Walk::Order,
        }
    }

    fn first(&self, index: &Index) -> SlotId {
        match self {
            Walk::Order => index.first(),
            Walk::Chain(chain, tag) => index.first_tagged(*chain, *tag),
            Walk::Both(tags) => index.next_tagged_both(*tags, None),
        }
    }

    fn next(&self, index: &Index, at: SlotId) -> SlotId {
        match self {
            Walk::Order => index.next(at),
            Walk::Chain(chain, tag) => index.next_tagged(*chain, *tag, at),
            Walk::Both(tags) => index.next_tagged_both(*tags, Some(at)),
        }
    }

    /// Whether it comes by this slot.
    fn passes(&self, slot: &Slot) -> bool {
        match self {
            Walk::Order => true,
            Walk::Chain(chain, tag) => slot.tag(*chain) == *tag,
            Walk::Both((msg, correl)) => {
                slot.tag(Chain::Msg) == *msg && slot.tag(Chain::Correl) == *correl
            }
        }
    }
}

impl QueueState {
    /// Finds the first match, of those that `may` be it by their marks and by what they say of groups. Expired messages met on the way
    /// are removed and appended to `expired`.
    ///
    /// # Errors
    /// A message has to be read before it can be said.
    pub(crate) fn find(
        &mut self,
        wanted: &Selection,
        start: Start,
        owner: (u64, Hobj),
        now: i64,
        (read, expired): (&Readings, &mut Vec<Expired>),
        mut may: impl FnMut(&QueueState, SlotId, &GroupKeys) -> bool,
    ) -> Result<Option<Found>, Unread> {
        let walk = Walk::of(wanted, self.home.tag_seed);
        let token_seq = match &wanted.token {
            None => None,
            Some(token) => match seq_of(token) {
                None => return Ok(None),
                some => some,
            },
        };
        let mut at = self.begin(&walk, start);
        let mut unjudged = Unjudged::new(wanted, now, read);
        let mut search = (matches!((&walk, start), (Walk::Order, Start::First)))
            .then(|| read.remembered(self.relisted.as_deref()))
            .flatten();
        let found = loop {
            if at == NIL {
                break None;
            }
            let next = walk.next(&self.index, at);
            let slot = *self.index.slot(at);
            let before = matches!(start, Start::After(cursor) if slot.key() <= cursor.key);
            let other_token = token_seq.is_some_and(|seq| seq != slot.seq);
            let keys = self.index.group(at);
            let judged = search.as_mut().is_some_and(|search| search.meets(&slot));
            let other = other_token || !wanted.may_accept(&keys);
            let other = other || before || self.locked_for(at, owner);
            let other = other || judged && !self.has_expired(at, now);
            let other = other || read.has_rejected(slot.seq, slot.backout_count, now);
            if other || !self.has_expired(at, now) && !may(self, at, &keys) {
                at = next;
                continue;
            }
            let sure = slot.expires_s != 0 && now / 1_000_000 >= i64::from(slot.expires_s);
            let message = match self.message(at, read) {
                Ok(message) => message,
                Err(unread) if wanted.selector.is_none() => return Err(unread),
                Err(unread) => match unjudged.add(unread) {
                    true => {
                        at = next;
                        continue;
                    }
                    false => break None,
                },
            };
            if sure || message.expired(now) {
                self.discard_expired(at, message, expired);
            } else if wanted.accepts(&Considered::new(&message, slot.backout_count)) {
                break Some(Found { slot: at, message });
            }
            at = next;
        };
        let found = unjudged.or(found)?;
        if let Some(search) = search {
            let slot = found.as_ref().map(|found| self.index.slot(found.slot));
            read.remember(search.end(slot, &mut self.relisted));
        }
        Ok(found)
    }

    /// The first message that a search looks at.
    fn begin(&self, walk: &Walk, start: Start) -> SlotId {
        match (walk, start) {
            (Walk::Order, Start::After(cursor)) => self.after(&cursor),
            (walk, Start::After(cursor))
                if self.listed_at(cursor.slot, cursor.seq())
                    && walk.passes(self.index.slot(cursor.slot)) =>
            {
                walk.next(&self.index, cursor.slot)
            }
            (walk, _) => walk.first(&self.index),
        }
    }

    /// Whether every message of a group is on the queue, from 1 to the last, for this handle to have.
    pub(crate) fn has_whole_group(&self, group: GroupId, owner: (u64, Hobj), now: i64) -> bool {
        let (mut seen, mut last) = (Vec::new(), None);
        let mut at = self.index.first();
        while at != NIL {
            let keys = self.index.group(at);
            if keys.id == group && !self.locked_for(at, owner) && !self.has_expired(at, now) {
                seen.push(keys.sequence);
                if keys.flags & MQMF_LAST_MSG_IN_GROUP != 0 {
                    last = Some(keys.sequence);
                }
            }
            at = self.index.next(at);
        }
        seen.sort_unstable();
        seen.dedup();
        last.is_some_and(|last| seen.into_iter().eq(1..=last))
    }

    /// Whether a message has expired; of one that is in the file only, that is known a second late.
    fn has_expired(&self, slot: SlotId, now: i64) -> bool {
        let slot = self.index.slot(slot);
        match slot.body() {
            Body::Resident(at) => self.residents.get(at).message.expired(now),
            Body::Filed(_) => slot.expires_s != 0 && now / 1_000_000 >= i64::from(slot.expires_s),
        }
    }

    /// Takes a listed message that has expired off the queue; the caller owes it what [`crate::expiry::expired`]
    /// does. A retained publication stays, found by nobody, while the log does not have the ends of those that were
    /// superseded: an image that had one of these without it would bring that back.
    pub(crate) fn discard_expired(
        &mut self,
        slot: SlotId,
        message: Arc<Message>,
        expired: &mut Vec<Expired>,
    ) {
        if self.superseded().len() > 0 {
            return;
        }
        self.browse_forget(slot);
        self.index.hold(slot);
        expired.push(self.expire(slot, message));
    }

    /// The same for one that is held already.
    pub(crate) fn expire(&mut self, slot: SlotId, message: Arc<Message>) -> Expired {
        // A publication that is retained is a copy: those that were sent it owe the reports.
        let held = message.owes_expiration() && !self.keeps_retained();
        if held {
            self.uncommitted_gets += 1;
        } else {
            self.counts.expired += 1;
            self.destroy(slot, !message.persistent());
        }
        Expired {
            message,
            held: held.then_some(slot),
        }
    }

    /// There is no room for the end of an expired message: it expires when it is met again.
    pub(crate) fn keep_expired(&mut self, slot: SlotId) {
        self.uncommitted_gets -= 1;
        if !self.was_cleared(slot) {
            self.list(slot);
        }
    }

    /// An expired message that is held ends with its report.
    pub(crate) fn count_expired(&mut self) {
        self.counts.expired += 1;
    }

    /// An expired message ends without a report.
    pub(crate) fn drop_expired(&mut self, slot: SlotId) {
        self.counts.expired += 1;
        self.uncommitted_gets -= 1;
        self.destroy(slot, false);
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

    /// The place in front of a listed message, behind all that come before it.
    pub(super) fn place_before(&self, slot: SlotId) -> Cursor {
        match self.index.before(slot) {
            NIL => Cursor {
                key: (self.index.slot(slot).key().0, 0),
                slot: NIL,
                before: (NIL, 0),
            },
            before => self.cursor(before),
        }
    }

    fn listed_at(&self, slot: SlotId, seq: u64) -> bool {
        slot != NIL && self.index.holds(slot, seq) && self.index.slot(slot).listed()
    }

    /// The first message after a place.
    pub(super) fn after(&self, cursor: &Cursor) -> SlotId {
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

    /// Removes up to `limit` expired messages, walking on from slot `from`.
    pub(crate) fn sweep_expired(
        &mut self,
        from: SlotId,
        limit: usize,
        now: i64,
        (read, expired): (&Readings, &mut Vec<Expired>),
    ) -> SweepEnd {
        let seconds = now / 1_000_000;
        let total = self.index.end();
        let mut at = from;
        let mut looked = 0;
        while at < total && !self.deleted {
            if looked == limit {
                return SweepEnd::Part(at);
            }
            looked += 1;
            let Some(slot) = self.index.get(at).copied() else {
                // The rest of this chunk has no memory.
                at = (at / CHUNK as SlotId + 1) * CHUNK as SlotId;
                continue;
            };
            let due = slot.seq != 0
                && slot.listed()
                && !slot.browse_locked()
                && slot.expires_s != 0
                && (seconds >= i64::from(slot.expires_s)
                    || matches!(slot.body(), Body::Resident(_))
                        && seconds + 1 >= i64::from(slot.expires_s));
            if due {
                match self.message(at, read) {
                    Ok(message) if message.expired(now) => {
                        self.discard_expired(at, message, expired);
                    }
                    Ok(_) => {}
                    Err(unread) => return SweepEnd::Unread(at, unread),
                }
            }
            at += 1;
        }
        SweepEnd::All
    }
}
