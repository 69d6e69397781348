//! What a checkpoint image says of a queue's messages: one 34-byte entry each, and 36 bytes more if the message says
//! something of groups, a chunk at a time.
//!
//! Invariants:
//! * Only messages whose bytes are in the queue file are saved: a message that is only in the log
//!   is the log's business.
//! * Non-persistent messages are saved only when a controlled shutdown keeps them
//!   (`NPMCLASS(HIGH)`).
//! * A chunk is written to a new place; its old place is given back only when the image that no
//!   longer points at it is durable.
//! * A chunk is known by its place and its checksum. What an older image knew may still be in the same place,
//!   because the disk has lost the write: that is damage, not an older state of the queue.
//! * No two entries of an image, and no entry and chunk, have a block in common. What the image carries of units of work
//!   in doubt has entries too; one that is committed meanwhile may be named by both, in the same place.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_recovery_log::Lsn;
use posthaste_store::{BLOCK, HEADER, Place, QueueFile, Sealed, StoreError};

use super::disjoint::Disjoint;
use super::index::{Body, CHUNK, GroupKeys, Index, NewSlot, Slot, SlotId};
use super::{Queue, QueueState};
use crate::bodies::FileBodies;
use crate::message::{Message, stored_head};
use crate::plant::{Bug, planted};

/// Where a queue's file has messages, by their numbers.
pub(crate) type Places = BTreeMap<u64, Place>;

const ENTRY: usize = 34;
const GROUP: usize = 36;

impl QueueState {
    /// Persistent messages that are old (their log record begins before `cut`) and not in the
    /// queue file yet. With `keep_np`, non-persistent ones too (controlled shutdown).
    pub(crate) fn unfiled(&self, cut: Lsn, keep_np: bool) -> Vec<(SlotId, Arc<Message>)> {
        let mut out = Vec::new();
        for id in self.index.all() {
            let Body::Resident(at) = self.index.slot(id).body() else {
                continue;
            };
            let resident = self.residents.get(at);
            let wanted = if resident.message.persistent() {
                resident.message.lsn < cut
            } else {
                keep_np
            };
            if wanted && resident.place.is_none() {
                out.push((id, resident.message.clone()));
            }
        }
        out
    }

    /// Of each message that [`Self::unfiled`] finds: where its record begins, and the room it takes in the file.
    pub(crate) fn unfiled_sizes(&self, cut: Lsn) -> Vec<(Lsn, u64)> {
        let unfiled = self.unfiled(cut, false).into_iter();
        let sized =
            |(_, message): (SlotId, Arc<Message>)| (message.lsn, room_of(&self.bodies, &message));
        unfiled.map(sized).collect()
    }

    /// Notes where a message was filed; gives the place back if the message has gone meanwhile.
    pub(crate) fn filed(&mut self, id: SlotId, seq: u64, place: Place) {
        if self.index.holds(id, seq)
            && let Body::Resident(at) = self.index.slot(id).body()
            && self.residents.get(at).place.is_none()
        {
            self.residents.set_place(at, place);
            self.index.mark_dirty(id);
            return;
        }
        // Nobody has seen this place, so it may be used again at once.
        self.free(vec![place]);
    }

    /// What an image names of a chunk: messages, and where the queue file has them.
    fn named(&self, number: usize, keep_np: bool) -> impl Iterator<Item = (SlotId, &Slot, Place)> {
        // One that a getter has had since before a CLEAR is gone, whatever becomes of the get.
        let from = self.cleared_below.max(1);
        let kept =
            move |(_, slot): &(SlotId, &Slot)| slot.seq >= from && (slot.persistent() || keep_np);
        let ids = (number * CHUNK) as SlotId..;
        let slots = ids.zip(self.index.chunk(number)).filter(kept);
        slots.filter_map(|(id, slot)| {
            let place = match slot.body() {
                Body::Filed(place) => Some(place),
                Body::Resident(at) => self.residents.get(at).place,
            };
            place.map(|place| (id, slot, place))
        })
    }

    /// Notes the places that an image names for a chunk; false when one is named already, but for the same message
    /// (`in_doubt`).
    pub(crate) fn name_chunk(
        &self,
        number: usize,
        keep_np: bool,
        places: &mut Disjoint,
        in_doubt: &Places,
    ) -> bool {
        let mut named = self.named(number, keep_np);
        named.all(|(_, slot, place)| in_doubt.get(&slot.seq) == Some(&place) || places.name(place))
    }

    /// The bytes of a chunk as an image has them, or `None` when it has no entry to save.
    pub(crate) fn save_chunk(&self, number: usize, keep_np: bool) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for (id, slot, place) in self.named(number, keep_np) {
            let group = self.index.group(id);
            let (msg_tag, correl_tag) = Index::tags(slot);
            let entry = NewSlot {
                seq: slot.seq,
                body: Body::Filed(place),
                list: slot.list,
                priority: slot.priority(),
                persistent: slot.persistent(),
                expires_s: slot.expires_s,
                backout_count: slot.backout_count,
                msg_tag,
                correl_tag,
                group: (group != GroupKeys::default()).then_some(group),
            };
            put_entry(&mut out, &entry, place);
        }
        (!out.is_empty()).then_some(out)
    }
}

/// Appends the entry of a message that is in the queue file at `place`.
pub(crate) fn put_entry(out: &mut Vec<u8>, entry: &NewSlot, place: Place) {
    out.extend_from_slice(&entry.seq.to_le_bytes());
    for field in [place.block, place.length, entry.msg_tag, entry.correl_tag] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&entry.expires_s.to_le_bytes());
    out.extend_from_slice(&entry.backout_count.to_le_bytes());
    out.extend_from_slice(&[entry.list, entry.priority]);
    out.extend_from_slice(&[u8::from(entry.group.is_some()), u8::from(entry.persistent)]);
    if let Some(group) = entry.group {
        out.extend_from_slice(&group.id);
        for field in [group.sequence, group.offset, group.flags] {
            out.extend_from_slice(&field.to_le_bytes());
        }
    }
}

/// Reads a saved chunk.
pub(crate) fn load_chunk(file: &QueueFile, saved: Sealed) -> Result<Vec<NewSlot>, StoreError> {
    let bytes = match planted(Bug::TrustOlderChunk) {
        true => file.read(saved.place.block)?,
        false => file.read_sealed(saved)?,
    };
    read_chunk(&bytes)
}

/// Reads the entries of a saved chunk.
pub(crate) fn read_chunk(bytes: &[u8]) -> Result<Vec<NewSlot>, StoreError> {
    let mut out = Vec::with_capacity(bytes.len() / ENTRY);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (slot, used) = read_entry(rest).ok_or_else(|| StoreError::Damaged {
            what: "a saved part of a queue's index has a wrong length".to_owned(),
            block: 0,
        })?;
        out.push(slot);
        rest = rest.get(used..).unwrap_or_default();
    }
    Ok(out)
}

/// One entry, and how many bytes it takes.
pub(crate) fn read_entry(bytes: &[u8]) -> Option<(NewSlot, usize)> {
    let entry = bytes.get(..ENTRY)?;
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let field = |at: usize| word(at).map(u32::cast_signed);
    let group = match *entry.get(32)? {
        0 => None,
        _ => Some(GroupKeys {
            id: bytes.get(ENTRY..ENTRY + 24)?.try_into().ok()?,
            sequence: field(ENTRY + 24)?,
            offset: field(ENTRY + 28)?,
            flags: field(ENTRY + 32)?,
        }),
    };
    let slot = NewSlot {
        seq: u64::from(word(0)?) | (u64::from(word(4)?) << 32),
        body: Body::Filed(Place {
            block: word(8)?,
            length: word(12)?,
        }),
        msg_tag: word(16)?,
        correl_tag: word(20)?,
        expires_s: word(24)?,
        backout_count: u16::from_le_bytes(entry.get(28..30)?.try_into().ok()?),
        list: *entry.get(30)?,
        priority: *entry.get(31)?,
        persistent: *entry.get(33)? != 0,
        group,
    };
    Some((slot, ENTRY + group.map_or(0, |_| GROUP)))
}

/// Writes a message to the file of a queue, as it is held there.
pub(crate) fn write_message(
    queue: &Queue,
    file: &QueueFile,
    message: &Message,
) -> Result<Place, StoreError> {
    queue.bodies().with_item(message, |parts| file.write(parts))
}

/// The room that a message takes in the file.
pub(crate) fn room_of(bodies: &FileBodies, message: &Message) -> u64 {
    let bytes = HEADER + stored_head(message).len() + message.data.stored_len() + bodies.overhead();
    bytes.next_multiple_of(BLOCK) as u64
}
