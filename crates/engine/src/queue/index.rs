//! Where the messages of a queue are: 56 bytes a message, found in delivery order or by identifier. A message that
//! says something of groups has its fields beside its slot, so that it need not be read to be passed over.
//!
//! Invariants:
//! * A slot is free (`seq == 0`), *listed* (in its order list and, unless the identifier is null,
//!   in the chains of its identifiers), or *held* (allocated but in no list: got under syncpoint,
//!   or promised to a waiting getter).
//! * There are ten order lists, one a priority; each is sorted by `seq`. A queue that delivers
//!   strictly first in, first out uses list 0 for everything.
//! * A hash chain is sorted like the delivery order (list descending, `seq` ascending), so that
//!   the first match on a chain is the message to deliver. A chain is kept as a ring, linked both
//!   ways, whose bucket points at the last element: appending costs the same at any depth, and
//!   removing anywhere too, however many messages share an identifier.
//! * A held slot still names what was in front of it when it was taken out of a list or chain; that
//!   is a hint where to put it back, checked before it is followed.
//! * Memory follows the messages: the first chunk begins small, a chunk with no message in it is
//!   given back but for one, and an empty queue keeps a small first chunk at most. The number of a
//!   slot stays while a message is in it.
//! * Null identifiers are not indexed: a million messages without a correlation identifier must
//!   not share one chain.
//! * `chunk.dirty` is true when what an image holds of that chunk may differ from the slots.

mod check;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use posthaste_mqi::{GroupId, Md};
use posthaste_store::{Place, Sealed};

use crate::tally::Tally;

/// Number of a slot.
pub(crate) type SlotId = u32;
/// No slot.
pub(crate) const NIL: SlotId = u32::MAX;
/// Slots in a chunk, the unit in which a checkpoint saves the index.
pub(crate) const CHUNK: usize = 1024;
/// Slots of the first chunk of a queue that has had no more messages than that at once.
const FIRST: usize = 16;
/// Order lists of a queue.
pub(crate) const LISTS: usize = 10;

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
    msg_prev: SlotId,
    correl_next: SlotId,
    correl_prev: SlotId,
    /// Seconds since 1970 after which it has certainly expired; 0 = never.
    pub(crate) expires_s: u32,
    /// How often it was backed out.
    pub(crate) backout_count: u16,
    /// The order list it belongs to.
    pub(crate) list: u8,
    flags: u8,
}

const _: () = assert!(size_of::<Slot>() == 56);

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
    msg_prev: NIL,
    correl_next: NIL,
    correl_prev: NIL,
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
    /// The order list it belongs to, as an index.
    pub(crate) fn order_list(&self) -> usize {
        usize::from(self.list.min(9))
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
    /// None: as the default descriptor has them.
    pub(crate) group: Option<GroupKeys>,
}

/// What a message says of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupKeys {
    pub(crate) id: GroupId,
    pub(crate) sequence: i32,
    pub(crate) offset: i32,
    pub(crate) flags: i32,
}

impl Default for GroupKeys {
    fn default() -> Self {
        GroupKeys {
            id: [0; 24],
            sequence: 1,
            offset: 0,
            flags: 0,
        }
    }
}

impl GroupKeys {
    /// Those of a message, if they are not the default ones.
    pub(crate) fn of(md: &Md) -> Option<GroupKeys> {
        let keys = GroupKeys {
            id: md.group_id,
            sequence: md.msg_seq_number,
            offset: md.offset,
            flags: md.msg_flags,
        };
        (keys != GroupKeys::default()).then_some(keys)
    }
}

impl NewSlot {
    /// Where the queue file has the message, if it is there only.
    pub(crate) fn place(&self) -> Option<Place> {
        match self.body {
            Body::Filed(place) => Some(place),
            Body::Resident(_) => None,
        }
    }
}

/// Which identifier a chain is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    Msg,
    Correl,
}

/// Turns an identifier into its tag; 0 = null identifier, not indexed.
pub(crate) fn tag_of(id: &[u8; 24], seed: u64) -> u32 {
    if *id == [0; 24] {
        return 0;
    }
    let mut hash = seed;
    for word in id.as_chunks::<8>().0 {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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
    pub(crate) saved: Option<Sealed>,
    /// What was saved cannot be read. It stays as it is, and no message takes a slot here.
    pub(crate) lost: bool,
}

/// Slots that are saved together.
struct Chunk {
    /// Empty while the chunk has no memory.
    slots: Box<[Slot]>,
    /// The first of its free slots, which are linked by `next`.
    free: SlotId,
    used: Tally<u32>,
}

impl Chunk {
    /// Without memory.
    fn bare() -> Chunk {
        Chunk {
            slots: Box::default(),
            free: NIL,
            used: Tally::default(),
        }
    }

    /// Makes it `length` slots long; those that are new are free.
    fn grow(&mut self, number: usize, length: usize) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        let known = slots.len();
        slots.reserve_exact(length - known);
        slots.resize(length, FREE);
        for at in (known..length).rev() {
            slots[at].next = self.free;
            self.free = (number * CHUNK + at) as SlotId;
        }
        self.slots = slots.into_boxed_slice();
    }
}

/// The index of one queue.
pub(crate) struct Index {
    chunks: Vec<Chunk>,
    pub(crate) chunk_states: Vec<ChunkState>,
    /// Chunks that have a free slot.
    room: BTreeSet<usize>,
    /// Chunks without memory.
    bare: BTreeSet<usize>,
    /// The chunk that has memory and no message in it, if there is one.
    spare: Option<usize>,
    used: Tally<u32>,
    /// Listed slots by the messages' own priority.
    listed: [Tally<u32>; 10],
    heads: [SlotId; LISTS],
    tails: [SlotId; LISTS],
    msg_buckets: Vec<SlotId>,
    correl_buckets: Vec<SlotId>,
    /// Of the messages that have other ones than the default.
    groups: BTreeMap<SlotId, GroupKeys>,
    /// Links followed and slots looked through so far, for proofs that nothing scans the queue.
    steps: Cell<u64>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Index {
            chunks: Vec::new(),
            chunk_states: Vec::new(),
            room: BTreeSet::new(),
            bare: BTreeSet::new(),
            spare: None,
            used: Tally::default(),
            listed: [Tally::default(); 10],
            heads: [NIL; LISTS],
            tails: [NIL; LISTS],
            msg_buckets: Vec::new(),
            correl_buckets: Vec::new(),
            groups: BTreeMap::new(),
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
        self.used.get()
    }

    /// Listed slots: messages that a getter could have.
    pub(crate) fn listed(&self) -> u32 {
        self.listed.iter().map(Tally::get).sum()
    }

    /// Listed slots of messages with at least this priority.
    pub(crate) fn listed_from(&self, priority: i32) -> u32 {
        let from = priority.clamp(0, 9) as usize;
        self.listed[from..].iter().map(Tally::get).sum()
    }

    fn count_listed(&mut self, id: SlotId) -> &mut Tally<u32> {
        let priority = self.slot(id).priority();
        &mut self.listed[usize::from(priority.min(9))]
    }

    /// Bytes the index occupies.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let slots: usize = self.chunks.iter().map(|chunk| chunk.slots.len()).sum();
        slots * size_of::<Slot>()
            + (self.msg_buckets.capacity() + self.correl_buckets.capacity()) * 4
    }

    pub(crate) fn slot(&self, id: SlotId) -> &Slot {
        &self.chunks[id as usize / CHUNK].slots[id as usize % CHUNK]
    }

    /// A slot that is in use, for whoever looks through them.
    pub(crate) fn look_at(&self, id: SlotId) -> Option<&Slot> {
        self.step();
        let slot = self.chunks[id as usize / CHUNK]
            .slots
            .get(id as usize % CHUNK);
        slot.filter(|slot| slot.seq != 0)
    }

    fn slot_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.chunks[id as usize / CHUNK].slots[id as usize % CHUNK]
    }

    /// A slot, if there is memory for it.
    pub(crate) fn get(&self, id: SlotId) -> Option<&Slot> {
        let chunk = self.chunks.get(id as usize / CHUNK)?;
        chunk.slots.get(id as usize % CHUNK)
    }

    /// What the message in a slot says of groups.
    pub(crate) fn group(&self, id: SlotId) -> GroupKeys {
        match self.groups.is_empty() {
            true => GroupKeys::default(),
            false => self.groups.get(&id).copied().unwrap_or_default(),
        }
    }

    /// True while slot `id` still holds message `seq`.
    pub(crate) fn holds(&self, id: SlotId, seq: u64) -> bool {
        self.get(id).is_some_and(|slot| slot.seq == seq)
    }

    fn touch(&mut self, id: SlotId) {
        self.chunk_states[id as usize / CHUNK].dirty = true;
    }

    /// All slots of a chunk that has memory.
    pub(crate) fn chunk(&self, number: usize) -> &[Slot] {
        &self.chunks[number].slots
    }

    /// A chunk with a free slot.
    fn with_room(&mut self) -> usize {
        if let Some(number) = self.room.first() {
            return *number;
        }
        let first = self.chunks.first().map_or(0, |chunk| chunk.slots.len());
        let (number, length) = if (1..CHUNK).contains(&first) {
            (0, (first * 4).min(CHUNK))
        } else if let Some(number) = self.bare.pop_first() {
            (number, if self.used() == 0 { FIRST } else { CHUNK })
        } else {
            self.chunks.push(Chunk::bare());
            self.chunk_states.push(ChunkState::default());
            let number = self.chunks.len() - 1;
            (number, if number == 0 { FIRST } else { CHUNK })
        };
        self.chunks[number].grow(number, length);
        self.room.insert(number);
        number
    }

    /// Gives the memory of a chunk back that has no message in it.
    fn give_back(&mut self, number: usize) {
        self.chunks[number] = Chunk::bare();
        self.room.remove(&number);
        self.bare.insert(number);
    }

    /// A chunk has lost its last message.
    fn emptied(&mut self, number: usize) {
        if self.used() > 0 {
            // One is kept, so that a queue whose depth goes up and down at a chunk's end does not
            // ask for memory each time.
            if let Some(other) = self.spare.replace(number) {
                self.spare = Some(number.min(other));
                self.give_back(number.max(other));
            }
            return;
        }
        self.spare = None;
        self.groups = BTreeMap::new();
        if self.room.len() == 1 && self.chunks[number].slots.len() <= FIRST {
            return;
        }
        // Without messages every chunk that has memory has room.
        for number in std::mem::take(&mut self.room) {
            self.chunks[number] = Chunk::bare();
            self.bare.insert(number);
        }
        self.msg_buckets = Vec::new();
        self.correl_buckets = Vec::new();
    }

    /// Fills an empty index with what an image saved, each chunk at its own number, so that chunks
    /// that nothing happens to need not be saved again. All slots are held.
    pub(crate) fn restore(&mut self, saved: Vec<(Option<Sealed>, Vec<NewSlot>)>) {
        let only = saved.len() == 1;
        for (number, (saved, entries)) in saved.into_iter().enumerate() {
            let mut chunk = Chunk::bare();
            if entries.is_empty() {
                self.bare.insert(number);
            } else {
                let least = if only { FIRST } else { CHUNK };
                let length = entries.len().next_power_of_two().clamp(least, CHUNK);
                chunk.grow(number, length);
                for (at, (slot, new)) in chunk.slots.iter_mut().zip(&entries).enumerate() {
                    chunk.free = slot.next;
                    *slot = Self::slot_of(*new);
                    if let Some(keys) = new.group {
                        self.groups.insert((number * CHUNK + at) as SlotId, keys);
                    }
                }
                let used = entries.len().min(CHUNK) as u32;
                chunk.used += used;
                self.used += used;
                if chunk.free != NIL {
                    self.room.insert(number);
                }
            }
            self.chunks.push(chunk);
            self.chunk_states.push(ChunkState {
                dirty: false,
                saved,
                lost: false,
            });
        }
    }

    /// Sets a chunk without memory aside, because what was saved of it cannot be read.
    pub(crate) fn set_aside(&mut self, number: usize) {
        let bare = self.bare.remove(&number);
        assert!(bare, "a chunk with messages is set aside");
        self.chunk_states[number].lost = true;
    }

    /// Takes back what was set aside.
    pub(crate) fn take_back(&mut self) {
        for (number, state) in self.chunk_states.iter_mut().enumerate() {
            if std::mem::take(&mut state.lost) {
                self.bare.insert(number);
            }
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
        let number = self.with_room();
        let chunk = &mut self.chunks[number];
        let id = chunk.free;
        let slot = &mut chunk.slots[id as usize % CHUNK];
        chunk.free = slot.next;
        *slot = Self::slot_of(new);
        chunk.used += 1;
        if chunk.free == NIL {
            self.room.remove(&number);
        }
        if self.spare == Some(number) {
            self.spare = None;
        }
        self.used += 1;
        if let Some(keys) = new.group {
            self.groups.insert(id, keys);
        }
        id
    }

    /// Frees a held slot. The caller says whether an image may have it ([`Index::mark_dirty`]).
    pub(crate) fn remove(&mut self, id: SlotId) {
        debug_assert!(!self.slot(id).listed());
        if !self.groups.is_empty() {
            self.groups.remove(&id);
        }
        let number = id as usize / CHUNK;
        let chunk = &mut self.chunks[number];
        chunk.slots[id as usize % CHUNK] = Slot {
            next: chunk.free,
            ..FREE
        };
        if chunk.free == NIL {
            self.room.insert(number);
        }
        chunk.free = id;
        chunk.used -= 1;
        self.used -= 1;
        if chunk.used.get() == 0 {
            self.emptied(number);
        }
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
        for near in [near, self.slot(id).prev] {
            if let Some(hint) = self.get(near)
                && hint.listed()
                && hint.list as usize == list
                && hint.seq < seq
                && (hint.next == NIL || self.slot(hint.next).seq > seq)
            {
                after = near;
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
        slot.next = NIL;
        slot.flags &= !LISTED;
        *self.count_listed(id) -= 1;
    }

    /// The first message in delivery order.
    pub(crate) fn first(&self) -> SlotId {
        self.first_from(LISTS)
    }

    /// The last message in delivery order.
    pub(crate) fn last(&self) -> SlotId {
        let mut tails = self.tails.iter().copied();
        tails.find(|tail| *tail != NIL).unwrap_or(NIL)
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

    /// Links two slots of a chain: `next` comes behind `id`.
    fn join(&mut self, chain: Chain, id: SlotId, next: SlotId) {
        match chain {
            Chain::Msg => {
                self.slot_mut(id).msg_next = next;
                self.slot_mut(next).msg_prev = id;
            }
            Chain::Correl => {
                self.slot_mut(id).correl_next = next;
                self.slot_mut(next).correl_prev = id;
            }
        }
    }

    fn in_front(&self, id: SlotId, chain: Chain) -> SlotId {
        match chain {
            Chain::Msg => self.slot(id).msg_prev,
            Chain::Correl => self.slot(id).correl_prev,
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
        if self.buckets(chain).len() * 2 < self.used() as usize {
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
            self.join(chain, id, id);
            *self.bucket_mut(chain, bucket) = id;
            return;
        }
        let key = self.slot(id).key();
        let mut before = last;
        if self.slot(last).key() < key {
            *self.bucket_mut(chain, bucket) = id;
        } else if let Some(hint) = self.hinted(chain, bucket, id) {
            before = hint;
        } else {
            while self.slot(self.link(before, chain)).key() < key {
                before = self.link(before, chain);
            }
        }
        let next = self.link(before, chain);
        self.join(chain, id, next);
        self.join(chain, before, id);
    }

    /// What was in front of a slot on its chain when it was there last, if it belongs there still.
    fn hinted(&self, chain: Chain, bucket: usize, id: SlotId) -> Option<SlotId> {
        let hint = self.in_front(id, chain);
        let key = self.slot(id).key();
        let slot = self.get(hint)?;
        let tag = slot.tag(chain);
        let there = slot.listed() && tag != 0 && self.bucket_of(chain, tag) == bucket;
        (there && slot.key() < key && self.slot(self.link(hint, chain)).key() > key).then_some(hint)
    }

    fn chain_remove(&mut self, chain: Chain, id: SlotId) {
        let tag = self.slot(id).tag(chain);
        if tag == 0 {
            return;
        }
        let bucket = self.bucket_of(chain, tag);
        let before = self.in_front(id, chain);
        if before == id {
            *self.bucket_mut(chain, bucket) = NIL;
            return;
        }
        let next = self.link(id, chain);
        self.join(chain, before, next);
        if self.buckets(chain)[bucket] == id {
            *self.bucket_mut(chain, bucket) = before;
        }
    }

    fn rehash(&mut self, chain: Chain) {
        // Exactly this many: spilled messages are promised 64 bytes each, buckets included.
        let size = (self.used() as usize).next_power_of_two().max(32) / 2;
        let mut buckets = Vec::with_capacity(size);
        buckets.resize(size, NIL);
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

    /// The first slot with both these tags after `after`, or of all. It is on both chains, so both
    /// are walked in step, and the shorter one says how long that takes.
    pub(crate) fn next_tagged_both(
        &self,
        (msg_tag, correl_tag): (u32, u32),
        after: Option<SlotId>,
    ) -> SlotId {
        let chains = [(Chain::Msg, msg_tag), (Chain::Correl, correl_tag)];
        let mut ats = chains.map(|(chain, tag)| match after {
            Some(after) => self.next_tagged(chain, tag, after),
            None => self.first_tagged(chain, tag),
        });
        loop {
            for ((chain, tag), at) in chains.into_iter().zip(&mut ats) {
                if *at == NIL || Self::tags(self.slot(*at)) == (msg_tag, correl_tag) {
                    return *at;
                }
                *at = self.next_tagged(chain, tag, *at);
            }
        }
    }

    /// Every listed or held slot.
    pub(crate) fn all(&self) -> impl Iterator<Item = SlotId> + '_ {
        let numbered = self.chunks.iter().enumerate();
        numbered.flat_map(|(number, chunk)| {
            let slots = chunk.slots.iter().zip((number * CHUNK) as SlotId..);
            slots.filter(|(slot, _)| slot.seq != 0).map(|(_, id)| id)
        })
    }

    /// The number behind that of the last slot there can be.
    pub(crate) fn end(&self) -> SlotId {
        (self.chunks.len() * CHUNK) as SlotId
    }

    /// The tags of a slot, as an image saves them.
    pub(crate) fn tags(slot: &Slot) -> (u32, u32) {
        (slot.msg_tag, slot.correl_tag)
    }
}

#[cfg(test)]
mod tests;
