//! Where the messages of a queue are: 48 bytes a message, found in delivery order or by identifier.
//!
//! Invariants:
//! * A slot is free (`seq == 0`), *listed* (in its order list and, unless the identifier is null,
//!   in the chains of its identifiers), or *held* (allocated but in no list: got under syncpoint,
//!   or promised to a waiting getter).
//! * There are ten order lists, one a priority; each is sorted by `seq`. A queue that delivers
//!   strictly first in, first out uses list 0 for everything.
//! * A hash chain is sorted like the delivery order (list descending, `seq` ascending), so that
//!   the first match on a chain is the message to deliver. A chain is kept as a ring whose bucket
//!   points at the last element: appending and removing the first cost the same at any depth.
//! * Null identifiers are not indexed: a million messages without a correlation identifier must
//!   not share one chain.
//! * `chunk.dirty` is true when what an image holds of that chunk may differ from the slots.

use std::cell::Cell;

use posthaste_store::Place;

/// Number of a slot.
pub(crate) type SlotId = u32;
/// No slot.
pub(crate) const NIL: SlotId = u32::MAX;
/// Slots in a chunk, the unit in which a checkpoint saves the index.
pub(crate) const CHUNK: usize = 1024;
const LISTS: usize = 10;

const RESIDENT: u64 = 1 << 63;

/// Where the bytes of a message are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// In memory, at this place of the queue's resident messages.
    Resident(u32),
    /// In the queue file only.
    Filed(Place),
}

/// What is known of a message without looking at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The message's number; 0 = the slot is free.
    pub(crate) seq: u64,
    body: u64,
    prev: SlotId,
    next: SlotId,
    msg_tag: u32,
    correl_tag: u32,
    msg_next: SlotId,
    correl_next: SlotId,
    /// Seconds since 1970 after which it has certainly expired; 0 = never.
    pub(crate) expires_s: u32,
    /// How often it was backed out.
    pub(crate) backout_count: u16,
    /// The order list it belongs to.
    pub(crate) list: u8,
    flags: u8,
}

const _: () = assert!(size_of::<Slot>() == 48);

/// The upper half of the flags is the message's priority, which is not always the number of its
/// list.
const PRIORITY_SHIFT: u8 = 4;
const LISTED: u8 = 1;
const PERSISTENT: u8 = 2;
const BROWSE_LOCKED: u8 = 4;

const FREE: Slot = Slot {
    seq: 0,
    body: 0,
    prev: NIL,
    next: NIL,
    msg_tag: 0,
    correl_tag: 0,
    msg_next: NIL,
    correl_next: NIL,
    expires_s: 0,
    backout_count: 0,
    list: 0,
    flags: 0,
};

impl Slot {
    pub(crate) fn body(&self) -> Body {
        if self.body & RESIDENT != 0 {
            Body::Resident(self.body as u32)
        } else {
            Body::Filed(Place {
                block: self.body as u32,
                length: (self.body >> 32) as u32,
            })
        }
    }
    pub(crate) fn set_body(&mut self, body: Body) {
        self.body = match body {
            Body::Resident(at) => RESIDENT | u64::from(at),
            // A message is at most 100 MB, so its length leaves bit 63 alone.
            Body::Filed(place) => (u64::from(place.length) << 32) | u64::from(place.block),
        };
    }
    pub(crate) fn listed(&self) -> bool {
        self.flags & LISTED != 0
    }
    pub(crate) fn persistent(&self) -> bool {
        self.flags & PERSISTENT != 0
    }
    pub(crate) fn browse_locked(&self) -> bool {
        self.flags & BROWSE_LOCKED != 0
    }
    /// The message's own priority, 0 to 9.
    pub(crate) fn priority(&self) -> u8 {
        self.flags >> PRIORITY_SHIFT
    }
    /// Tag of an identifier.
    pub(crate) fn tag(&self, chain: Chain) -> u32 {
        match chain {
            Chain::Msg => self.msg_tag,
            Chain::Correl => self.correl_tag,
        }
    }
    /// The order of delivery: a smaller key is delivered first.
    pub(crate) fn key(&self) -> (u8, u64) {
        (9 - self.list.min(9), self.seq)
    }
}

/// What a new slot is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewSlot {
    pub(crate) seq: u64,
    pub(crate) body: Body,
    pub(crate) list: u8,
    pub(crate) priority: u8,
    pub(crate) persistent: bool,
    pub(crate) expires_s: u32,
    pub(crate) backout_count: u16,
    pub(crate) msg_tag: u32,
    pub(crate) correl_tag: u32,
}

/// Which identifier a chain is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    Msg,
    Correl,
}

/// Turns an identifier into its tag; 0 = null identifier, not indexed.
pub(crate) fn tag_of(id: &[u8; 24], seed: u64) -> u32 {
    let mut words = [0u64; 3];
    for (word, bytes) in words.iter_mut().zip(id.chunks_exact(8)) {
        let mut raw = [0; 8];
        raw.copy_from_slice(bytes);
        *word = u64::from_le_bytes(raw);
    }
    if words == [0; 3] {
        return 0;
    }
    let mut hash = seed;
    for word in words {
        hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 32;
    }
    // Once more: identifiers count in their last bytes, which are the highest of the last word and
    // have moved nothing below themselves so far.
    hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (hash >> 32) as u32 | 1
}

/// What a checkpoint knows of a chunk.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ChunkState {
    pub(crate) dirty: bool,
    pub(crate) saved: Option<Place>,
}

/// The index of one queue.
pub(crate) struct Index {
    chunks: Vec<Box<[Slot]>>,
    pub(crate) chunk_states: Vec<ChunkState>,
    free_head: SlotId,
    used: u32,
    /// Listed slots by the messages' own priority.
    listed: [u32; 10],
    heads: [SlotId; LISTS],
    tails: [SlotId; LISTS],
    msg_buckets: Vec<SlotId>,
    correl_buckets: Vec<SlotId>,
    /// Links followed so far, for proofs that nothing scans the queue.
    steps: Cell<u64>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Index {
            chunks: Vec::new(),
            chunk_states: Vec::new(),
            free_head: NIL,
            used: 0,
            listed: [0; 10],
            heads: [NIL; LISTS],
            tails: [NIL; LISTS],
            msg_buckets: Vec::new(),
            correl_buckets: Vec::new(),
            steps: Cell::new(0),
        }
    }

    /// Links followed so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// Allocated slots, listed or held.
    pub(crate) fn used(&self) -> u32 {
        self.used
    }

    /// Listed slots: messages that a getter could have.
    pub(crate) fn listed(&self) -> u32 {
        self.listed.iter().sum()
    }

    /// Listed slots of messages with at least this priority.
    pub(crate) fn listed_from(&self, priority: i32) -> u32 {
        let from = priority.clamp(0, 9) as usize;
        self.listed[from..].iter().sum()
    }

    fn count_listed(&mut self, id: SlotId) -> &mut u32 {
        let priority = self.slot(id).priority();
        &mut self.listed[usize::from(priority.min(9))]
    }

    /// Bytes the index occupies.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * CHUNK * size_of::<Slot>()
            + (self.msg_buckets.capacity() + self.correl_buckets.capacity()) * 4
    }

    pub(crate) fn slot(&self, id: SlotId) -> &Slot {
        &self.chunks[id as usize / CHUNK][id as usize % CHUNK]
    }

    fn slot_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.chunks[id as usize / CHUNK][id as usize % CHUNK]
    }

    /// True while slot `id` still holds message `seq`.
    pub(crate) fn holds(&self, id: SlotId, seq: u64) -> bool {
        (id as usize) < self.chunks.len() * CHUNK && self.slot(id).seq == seq
    }

    fn touch(&mut self, id: SlotId) {
        self.chunk_states[id as usize / CHUNK].dirty = true;
    }

    /// All slots of a chunk.
    pub(crate) fn chunk(&self, number: usize) -> &[Slot] {
        &self.chunks[number]
    }

    fn grow(&mut self) {
        let first = (self.chunks.len() * CHUNK) as SlotId;
        let mut chunk = vec![FREE; CHUNK].into_boxed_slice();
        for (at, slot) in chunk.iter_mut().enumerate() {
            slot.next = if at + 1 < CHUNK {
                first + at as SlotId + 1
            } else {
                self.free_head
            };
        }
        self.chunks.push(chunk);
        self.chunk_states.push(ChunkState::default());
        self.free_head = first;
    }

    /// Fills an empty index with what an image saved, each chunk at its own number, so that chunks
    /// that nothing happens to need not be saved again. All slots are held.
    pub(crate) fn restore(&mut self, saved: Vec<(Option<Place>, Vec<NewSlot>)>) {
        for (number, (place, entries)) in saved.into_iter().enumerate() {
            let mut chunk = vec![FREE; CHUNK].into_boxed_slice();
            let first = (number * CHUNK) as SlotId;
            for (slot, new) in chunk.iter_mut().zip(&entries) {
                *slot = Self::slot_of(*new);
            }
            self.used += entries.len().min(CHUNK) as u32;
            for at in (entries.len()..CHUNK).rev() {
                chunk[at].next = self.free_head;
                self.free_head = first + at as SlotId;
            }
            self.chunks.push(chunk);
            self.chunk_states.push(ChunkState {
                dirty: false,
                saved: place,
            });
        }
    }

    fn slot_of(new: NewSlot) -> Slot {
        let mut slot = Slot {
            seq: new.seq,
            list: new.list.min(9),
            flags: (new.priority.min(9) << PRIORITY_SHIFT)
                | if new.persistent { PERSISTENT } else { 0 },
            expires_s: new.expires_s,
            backout_count: new.backout_count,
            msg_tag: new.msg_tag,
            correl_tag: new.correl_tag,
            ..FREE
        };
        slot.set_body(new.body);
        slot
    }

    /// Allocates a held slot.
    pub(crate) fn add(&mut self, new: NewSlot) -> SlotId {
        debug_assert!(new.seq != 0);
        if self.free_head == NIL {
            self.grow();
        }
        let id = self.free_head;
        self.free_head = self.slot(id).next;
        *self.slot_mut(id) = Self::slot_of(new);
        self.used += 1;
        id
    }

    /// Frees a held slot. The caller says whether an image may have it ([`Index::mark_dirty`]).
    pub(crate) fn remove(&mut self, id: SlotId) {
        debug_assert!(!self.slot(id).listed());
        let free = Slot {
            next: self.free_head,
            ..FREE
        };
        *self.slot_mut(id) = free;
        self.free_head = id;
        self.used -= 1;
    }

    /// Says where the bytes of a message are now.
    pub(crate) fn set_body(&mut self, id: SlotId, body: Body) {
        self.slot_mut(id).set_body(body);
        self.touch(id);
    }

    /// Marks the chunk of a slot as differing from its image.
    pub(crate) fn mark_dirty(&mut self, id: SlotId) {
        self.touch(id);
    }

    pub(crate) fn set_backout_count(&mut self, id: SlotId, count: u16) {
        self.slot_mut(id).backout_count = count;
        self.touch(id);
    }

    pub(crate) fn set_browse_lock(&mut self, id: SlotId, locked: bool) {
        let slot = self.slot_mut(id);
        if locked {
            slot.flags |= BROWSE_LOCKED;
        } else {
            slot.flags &= !BROWSE_LOCKED;
        }
    }

    /// Puts a held slot at its place in the delivery order. `near` is a listed slot of the same
    /// list after which it probably belongs (the previous put of the same unit of work).
    pub(crate) fn list(&mut self, id: SlotId, near: SlotId) {
        let (list, seq) = (self.slot(id).list as usize, self.slot(id).seq);
        let mut after = self.tails[list];
        if near != NIL {
            let hint = self.slot(near);
            if hint.listed() && hint.list as usize == list && hint.seq < seq {
                // Walk forward from the hint if the next one is already beyond us.
                let next = hint.next;
                if next == NIL || self.slot(next).seq > seq {
                    after = near;
                }
            }
        }
        // A message that was got and backed out belongs near the head: walk from there.
        let head = self.heads[list];
        if head != NIL && self.slot(head).seq > seq {
            after = NIL;
        } else if after != NIL && self.slot(after).seq > seq {
            after = self.predecessor(list, seq);
        }
        self.insert_after(list, id, after);
        *self.count_listed(id) += 1;
        self.slot_mut(id).flags |= LISTED;
        self.chain_insert(Chain::Msg, id);
        self.chain_insert(Chain::Correl, id);
    }

    /// The last slot of `list` with a smaller number, searched from both ends at once.
    fn predecessor(&self, list: usize, seq: u64) -> SlotId {
        let (mut front, mut back) = (self.heads[list], self.tails[list]);
        loop {
            self.step();
            let from_back = self.slot(back);
            if from_back.seq < seq {
                return back;
            }
            back = from_back.prev;
            let from_front = self.slot(front);
            let next = from_front.next;
            if next == NIL || self.slot(next).seq > seq {
                return front;
            }
            front = next;
        }
    }

    fn insert_after(&mut self, list: usize, id: SlotId, after: SlotId) {
        let next = if after == NIL {
            self.heads[list]
        } else {
            self.slot(after).next
        };
        let slot = self.slot_mut(id);
        slot.prev = after;
        slot.next = next;
        if after == NIL {
            self.heads[list] = id;
        } else {
            self.slot_mut(after).next = id;
        }
        if next == NIL {
            self.tails[list] = id;
        } else {
            self.slot_mut(next).prev = id;
        }
    }

    /// Takes a listed slot out of all lists; it is held afterwards.
    pub(crate) fn hold(&mut self, id: SlotId) {
        debug_assert!(self.slot(id).listed());
        self.chain_remove(Chain::Msg, id);
        self.chain_remove(Chain::Correl, id);
        let slot = *self.slot(id);
        let list = slot.list as usize;
        if slot.prev == NIL {
            self.heads[list] = slot.next;
        } else {
            self.slot_mut(slot.prev).next = slot.next;
        }
        if slot.next == NIL {
            self.tails[list] = slot.prev;
        } else {
            self.slot_mut(slot.next).prev = slot.prev;
        }
        let slot = self.slot_mut(id);
        slot.prev = NIL;
        slot.next = NIL;
        slot.flags &= !LISTED;
        *self.count_listed(id) -= 1;
    }

    /// The first message in delivery order.
    pub(crate) fn first(&self) -> SlotId {
        self.first_from(LISTS)
    }

    fn first_from(&self, below: usize) -> SlotId {
        self.heads[..below]
            .iter()
            .rev()
            .copied()
            .find(|head| *head != NIL)
            .unwrap_or(NIL)
    }

    /// The message after a listed one in delivery order.
    pub(crate) fn next(&self, id: SlotId) -> SlotId {
        self.step();
        let slot = self.slot(id);
        if slot.next != NIL {
            return slot.next;
        }
        self.first_from(slot.list as usize)
    }

    /// The message in front of a listed one in its order list.
    pub(crate) fn before(&self, id: SlotId) -> SlotId {
        self.slot(id).prev
    }

    /// The first listed message whose key is greater: where a browse goes on when the message
    /// under its cursor has gone.
    pub(crate) fn after_key(&self, key: (u8, u64)) -> SlotId {
        let list = 9 - key.0.min(9) as usize;
        let mut at = self.heads[list];
        while at != NIL {
            self.step();
            if self.slot(at).seq > key.1 {
                return at;
            }
            at = self.slot(at).next;
        }
        self.first_from(list)
    }

    fn buckets(&self, chain: Chain) -> &Vec<SlotId> {
        match chain {
            Chain::Msg => &self.msg_buckets,
            Chain::Correl => &self.correl_buckets,
        }
    }

    fn bucket_mut(&mut self, chain: Chain, at: usize) -> &mut SlotId {
        match chain {
            Chain::Msg => &mut self.msg_buckets[at],
            Chain::Correl => &mut self.correl_buckets[at],
        }
    }

    fn link(&self, id: SlotId, chain: Chain) -> SlotId {
        self.step();
        match chain {
            Chain::Msg => self.slot(id).msg_next,
            Chain::Correl => self.slot(id).correl_next,
        }
    }

    fn set_link(&mut self, id: SlotId, chain: Chain, to: SlotId) {
        match chain {
            Chain::Msg => self.slot_mut(id).msg_next = to,
            Chain::Correl => self.slot_mut(id).correl_next = to,
        }
    }

    fn bucket_of(&self, chain: Chain, tag: u32) -> usize {
        // The tag's own low bit is always set, so it is left out.
        (tag >> 1) as usize & (self.buckets(chain).len() - 1)
    }

    fn chain_insert(&mut self, chain: Chain, id: SlotId) {
        let tag = self.slot(id).tag(chain);
        if tag == 0 {
            return;
        }
        if self.buckets(chain).len() < self.used as usize {
            self.rehash(chain);
            // Rehashing has listed this slot too, for it is already in its order list.
            return;
        }
        self.ring_insert(chain, tag, id);
    }

    fn ring_insert(&mut self, chain: Chain, tag: u32, id: SlotId) {
        let bucket = self.bucket_of(chain, tag);
        let last = self.buckets(chain)[bucket];
        if last == NIL {
            self.set_link(id, chain, id);
            *self.bucket_mut(chain, bucket) = id;
            return;
        }
        let key = self.slot(id).key();
        let mut before = last;
        if self.slot(last).key() > key {
            while self.slot(self.link(before, chain)).key() < key {
                before = self.link(before, chain);
            }
        } else {
            *self.bucket_mut(chain, bucket) = id;
        }
        let next = self.link(before, chain);
        self.set_link(id, chain, next);
        self.set_link(before, chain, id);
    }

    fn chain_remove(&mut self, chain: Chain, id: SlotId) {
        let tag = self.slot(id).tag(chain);
        if tag == 0 {
            return;
        }
        let bucket = self.bucket_of(chain, tag);
        let last = self.buckets(chain)[bucket];
        let mut before = last;
        while self.link(before, chain) != id {
            before = self.link(before, chain);
        }
        if before == id {
            *self.bucket_mut(chain, bucket) = NIL;
        } else {
            let next = self.link(id, chain);
            self.set_link(before, chain, next);
            if last == id {
                *self.bucket_mut(chain, bucket) = before;
            }
        }
        self.set_link(id, chain, NIL);
    }

    fn rehash(&mut self, chain: Chain) {
        let size = (self.used as usize).next_power_of_two().max(16) * 2;
        // Exactly this many: spilled messages are promised 64 bytes each, buckets included.
        let mut buckets = Vec::with_capacity(size / 2);
        buckets.resize(size / 2, NIL);
        match chain {
            Chain::Msg => self.msg_buckets = buckets,
            Chain::Correl => self.correl_buckets = buckets,
        }
        let mut at = self.first();
        while at != NIL {
            let tag = self.slot(at).tag(chain);
            if tag != 0 {
                self.ring_insert(chain, tag, at);
            }
            at = self.next(at);
        }
    }

    /// The first slot on a chain with this tag, in delivery order. The tag is only a hint: the
    /// caller compares the identifier itself and goes on with [`Index::next_tagged`].
    pub(crate) fn first_tagged(&self, chain: Chain, tag: u32) -> SlotId {
        if self.buckets(chain).is_empty() {
            return NIL;
        }
        let last = self.buckets(chain)[self.bucket_of(chain, tag)];
        if last == NIL {
            return NIL;
        }
        let first = self.link(last, chain);
        if self.slot(first).tag(chain) == tag {
            first
        } else {
            self.next_tagged(chain, tag, first)
        }
    }

    /// The next slot with this tag after `id`.
    pub(crate) fn next_tagged(&self, chain: Chain, tag: u32, id: SlotId) -> SlotId {
        let last = self.buckets(chain)[self.bucket_of(chain, tag)];
        let mut at = id;
        while at != last {
            at = self.link(at, chain);
            if self.slot(at).tag(chain) == tag {
                return at;
            }
        }
        NIL
    }

    /// Every listed or held slot.
    pub(crate) fn all(&self) -> impl Iterator<Item = SlotId> + '_ {
        (0..(self.chunks.len() * CHUNK) as SlotId).filter(|id| self.slot(*id).seq != 0)
    }

    /// The tags of a slot, as an image saves them.
    pub(crate) fn tags(slot: &Slot) -> (u32, u32) {
        (slot.msg_tag, slot.correl_tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(seq: u64, list: u8, msg: u32, correl: u32) -> NewSlot {
        NewSlot {
            seq,
            body: Body::Resident(0),
            list,
            priority: list,
            persistent: false,
            expires_s: 0,
            backout_count: 0,
            msg_tag: msg,
            correl_tag: correl,
        }
    }

    fn order(index: &Index) -> Vec<u64> {
        let mut out = Vec::new();
        let mut at = index.first();
        while at != NIL {
            out.push(index.slot(at).seq);
            at = index.next(at);
        }
        out
    }

    fn tagged(index: &Index, chain: Chain, tag: u32) -> Vec<u64> {
        let mut out = Vec::new();
        let mut at = index.first_tagged(chain, tag);
        while at != NIL {
            out.push(index.slot(at).seq);
            at = index.next_tagged(chain, tag, at);
        }
        out
    }

    #[test]
    fn delivery_is_by_priority_then_number_whatever_the_order_of_listing() {
        let mut index = Index::new();
        for (seq, list) in [(5, 0), (1, 0), (3, 9), (2, 9), (4, 0)] {
            let id = index.add(new(seq, list, 0, 0));
            index.list(id, NIL);
        }
        assert_eq!(order(&index), [2, 3, 1, 4, 5]);
        assert_eq!(index.slot(index.after_key((0, 3))).seq, 1);
        assert_eq!(index.slot(index.after_key((9, 2))).seq, 4);
        assert_eq!(index.after_key((9, 5)), NIL);
    }

    /// Random listing, holding and relisting against a plain sorted list.
    #[test]
    fn agrees_with_a_plain_list() {
        let mut index = Index::new();
        let mut plain: Vec<(u8, u64, SlotId, u32)> = Vec::new();
        let mut held: Vec<(u8, u64, SlotId, u32)> = Vec::new();
        let mut random = 12345u64;
        for seq in 1..6000u64 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let dice = (random >> 33) as u32;
            let tag = (dice % 7) * 2 + 1;
            let list = (dice % 3) as u8;
            let id = index.add(new(seq, list, tag, (seq as u32) * 2 + 1));
            if dice.is_multiple_of(5) {
                held.push((list, seq, id, tag));
            } else {
                index.list(id, NIL);
                plain.push((list, seq, id, tag));
            }
            if dice % 4 == 1 && !plain.is_empty() {
                let gone = plain.swap_remove(dice as usize % plain.len());
                index.hold(gone.2);
                if dice.is_multiple_of(2) {
                    index.remove(gone.2);
                } else {
                    held.push(gone);
                }
            }
            if dice % 6 == 2 && !held.is_empty() {
                let back = held.swap_remove(dice as usize % held.len());
                index.list(back.2, NIL);
                plain.push(back);
            }
        }
        plain.sort_by_key(|(list, seq, _, _)| (9 - list, *seq));
        let expected: Vec<u64> = plain.iter().map(|p| p.1).collect();
        assert_eq!(order(&index), expected);
        for tag in (0..7).map(|t| t * 2 + 1) {
            let expected: Vec<u64> = plain.iter().filter(|p| p.3 == tag).map(|p| p.1).collect();
            assert_eq!(tagged(&index, Chain::Msg, tag), expected, "tag {tag}");
        }
        for p in &plain {
            assert_eq!(tagged(&index, Chain::Correl, (p.1 as u32) * 2 + 1), [p.1]);
        }
        assert_eq!(index.used() as usize, plain.len() + held.len());
    }

    #[test]
    fn a_message_costs_at_most_64_bytes() {
        let mut index = Index::new();
        for seq in 1..=1_000_000u64 {
            let place = Place {
                block: seq as u32,
                length: 2048,
            };
            let id = index.add(NewSlot {
                body: Body::Filed(place),
                ..new(seq, 0, seq as u32 * 2 + 1, seq as u32 * 2 + 1)
            });
            index.list(id, NIL);
        }
        let each = index.bytes() as f64 / 1_000_000.0;
        assert!(each <= 64.0, "{each} bytes");
        assert_eq!(
            index.slot(index.first()).body(),
            Body::Filed(Place {
                block: 1,
                length: 2048
            })
        );
    }

    #[test]
    fn null_identifiers_are_not_indexed() {
        assert_eq!(tag_of(&[0; 24], 99), 0);
        assert_ne!(tag_of(&[1; 24], 99), 0);
    }

    /// Identifiers that count, in whichever bytes, fill the buckets evenly.
    #[test]
    fn counting_identifiers_spread() {
        for at in [0, 4, 8, 12, 16, 20] {
            for big in [false, true] {
                let mut buckets = vec![0u32; 1 << 14];
                for n in 0..(1u32 << 14) {
                    let mut id = *b"AMQ QM1         \0\0\x01\0\0\0\0\0";
                    let bytes = if big {
                        n.to_be_bytes()
                    } else {
                        n.to_le_bytes()
                    };
                    id[at..at + 4].copy_from_slice(&bytes);
                    let tag = tag_of(&id, 0x1234_5678_9ABC_DEF0);
                    buckets[(tag >> 1) as usize & ((1 << 14) - 1)] += 1;
                }
                let longest = buckets.iter().max();
                assert!(longest < Some(&12), "{at} {big}: {longest:?}");
            }
        }
    }
}
