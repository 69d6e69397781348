//! Units of work in doubt, as an image carries them and a restart restores them.
//!
//! Invariants:
//! * An image carries of each what a restart would otherwise read in the log: records, and of a put whose message is in
//!   its queue's file the entry that an index would have, with its place. A message that is in memory only is not
//!   carried: it is filed when it is as old as other messages are that a checkpoint files, and until then the log has its
//!   put behind the restart point. A restart redoes what is carried before it redoes the log, and may meet the same
//!   records there once more: of a put, the place counts.
//! * Which units of work an image carries is decided, and what it carries of them put together, before any queue is
//!   saved. So the end of one of them is in the log behind the restart point, or all of it is in the queues that the
//!   image knows.
//! * Queues whose files have places that are carried are being saved from before that until the image is in force or
//!   abandoned: what an end gives back meanwhile is not used again.
//! * Messages that are not persistent are carried as they are saved: over a controlled end, on queues of
//!   NPMCLASS(HIGH). A restart that is no such one leaves them out.
//! * What is on a queue that is gone, or that the image does not know, is not carried: nobody could find it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use posthaste_mqi::Xid;
use posthaste_store::Place as FilePlace;

use super::Units;
use super::outcome::Outcome;
use super::table::Place;
use super::{Op, Ops, Stage, Unit};
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::queue::Queue;
use crate::queue::index::NewSlot;
use crate::queue::saved::{Places, put_entry, read_entry};
use crate::queue::uncommitted::Uncommitted;
use crate::record::{self, QueueId, Record, UowId};

/// Stands in front of an entry, where a record has its kind.
const FILED: u8 = 0;

/// What an image keeps of messages.
pub(crate) struct Kept {
    /// The queues that it knows.
    pub(crate) queues: BTreeSet<QueueId>,
    /// It is the last one of a controlled end.
    pub(crate) closing: bool,
}

impl Kept {
    fn has(&self, queue: &Queue, persistent: bool) -> bool {
        let state = queue.lock();
        let wanted = persistent || self.closing && state.attributes.npm_high;
        wanted && !state.deleted && self.queues.contains(&queue.id)
    }
}

/// What an image carries.
#[derive(Default)]
pub(crate) struct Carried {
    /// Its section.
    pub(crate) bytes: Vec<u8>,
    /// The places that it names in the files of queues.
    pub(crate) places: BTreeMap<QueueId, Places>,
    /// Messages that are not persistent, that it should have and that are in no file.
    pub(crate) left_out: BTreeMap<QueueId, usize>,
}

impl Carried {
    /// Appends a row: its length, its bytes.
    fn row(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u32).to_le_bytes();
        self.bytes.extend_from_slice(&length);
        self.bytes.extend_from_slice(bytes);
    }

    fn filed(&mut self, unit: UowId, queue: QueueId, slot: &NewSlot, place: FilePlace) {
        let mut row = vec![FILED];
        row.extend_from_slice(&unit.to_le_bytes());
        row.extend_from_slice(&queue.to_le_bytes());
        put_entry(&mut row, slot, place);
        self.row(&row);
        let places = self.places.entry(queue).or_default();
        places.insert(slot.seq, place);
    }
}

/// A row of the section.
#[derive(Debug)]
pub(crate) enum Row<'a> {
    Record(Record<'a>),
    /// A put of a unit of work, whose message is in the queue's file.
    Filed {
        uow: UowId,
        queue: QueueId,
        slot: NewSlot,
    },
}

/// What an image carries, row by row. `None`: it is cut, or makes no sense.
pub(crate) fn rows(bytes: &[u8]) -> Option<Vec<Row<'_>>> {
    let (mut rest, mut out) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        let (row, after) = after.split_at_checked(length)?;
        out.push(match row.split_first()? {
            (&FILED, row) => filed_row(row)?,
            _ => Row::Record(record::decode(row)?),
        });
        rest = after;
    }
    Some(out)
}

fn filed_row(row: &[u8]) -> Option<Row<'_>> {
    let (uow, row) = row.split_first_chunk()?;
    let (queue, row) = row.split_first_chunk()?;
    let (slot, used) = read_entry(row)?;
    (used == row.len()).then_some(Row::Filed {
        uow: u64::from_le_bytes(*uow),
        queue: u64::from_le_bytes(*queue),
        slot,
    })
}

/// The places that an image carries in the files of queues. Without `keep_np`, those of messages that are not
/// persistent are left out.
pub(crate) fn places(rows: &[Row<'_>], keep_np: bool) -> BTreeMap<QueueId, Places> {
    let mut out: BTreeMap<QueueId, Places> = BTreeMap::new();
    for row in rows {
        if let Row::Filed { queue, slot, .. } = row
            && let Some(place) = slot.place().filter(|_| slot.persistent || keep_np)
        {
            out.entry(*queue).or_default().insert(slot.seq, place);
        }
    }
    out
}

/// A put of a unit of work whose message is in memory only.
pub(crate) struct Unfiled {
    /// Which of its operations it is.
    at: usize,
    pub(crate) queue: Arc<Queue>,
    pub(crate) message: Arc<Message>,
}

impl Unit {
    /// What it has put that an image keeps and no file has.
    pub(crate) fn unfiled(&self, kept: &Kept) -> Vec<Unfiled> {
        let work = self.lock();
        let unfiled = |(at, op): (usize, &Op)| match op {
            Op::Put {
                queue,
                put: Uncommitted::InMemory { message, .. },
            } if kept.has(queue, message.persistent()) => Some(Unfiled {
                at,
                queue: Arc::clone(queue),
                message: Arc::clone(message),
            }),
            _ => None,
        };
        work.ops.iter().enumerate().filter_map(unfiled).collect()
    }

    /// One of them is in its queue's file now.
    pub(crate) fn filed(&self, unfiled: &Unfiled, place: FilePlace) {
        let mut work = self.lock();
        let put = match work.ops.get_mut(unfiled.at) {
            Some(Op::Put { put, .. }) if put.seq() == unfiled.message.seq => Some(put),
            // It has ended meanwhile.
            _ => None,
        };
        unfiled.queue.lock().now_filed(put, place);
    }

    /// The queues that it has put on and an image knows.
    pub(crate) fn puts_on(&self, kept: &Kept, queues: &mut BTreeMap<QueueId, Arc<Queue>>) {
        for op in &self.lock().ops {
            if let Op::Put { queue, .. } = op
                && kept.queues.contains(&queue.id)
            {
                queues.entry(queue.id).or_insert_with(|| queue.clone());
            }
        }
    }

    /// Adds what an image has to carry of it.
    pub(crate) fn carry(&self, kept: &Kept, out: &mut Carried) {
        let work = self.lock();
        let Some(xid) = work.xid.as_ref().filter(|_| work.stage != Stage::Ended) else {
            return;
        };
        mark(Mark::Carried);
        for op in &work.ops {
            match op {
                Op::Put { queue, put } => self.carry_put(queue, put, kept, out),
                Op::Got { queue, slot } => {
                    let slot = *queue.lock().index.slot(*slot);
                    if kept.has(queue, slot.persistent()) {
                        let count = slot.backout_count.saturating_add(1);
                        out.row(&record::get(self.id, queue.id, slot.seq, count));
                    }
                }
            }
        }
        out.row(&record::prepare(self.id, self.started, xid));
        if let Stage::Settled(outcome) = work.stage {
            out.row(&record::heuristic(self.id, outcome, &[]));
        }
    }

    fn carry_put(&self, queue: &Queue, put: &Uncommitted, kept: &Kept, out: &mut Carried) {
        match put {
            Uncommitted::Filed(slot) => {
                if let Some(place) = slot.place().filter(|_| kept.has(queue, slot.persistent)) {
                    out.filed(self.id, queue.id, slot, place);
                }
            }
            Uncommitted::InMemory { message, .. } => {
                if !message.persistent() && kept.has(queue, false) {
                    *out.left_out.entry(queue.id).or_default() += 1;
                }
            }
        }
    }

    /// One that a restart has found.
    fn restored(found: Found, place: Place) -> Unit {
        let stage = found.settled.map_or(Stage::Prepared, Stage::Settled);
        let unit = Unit::new(found.id, found.started, 0, place, false);
        {
            let mut work = unit.lock();
            work.stage = stage;
            work.logged = true;
            work.ops = found.ops;
            work.xid = Some(found.xid);
        }
        unit
    }
}

/// A unit of work that a restart has found in doubt, or completed heuristically and not forgotten.
pub(crate) struct Found {
    pub(crate) id: UowId,
    pub(crate) started: i64,
    pub(crate) xid: Xid,
    pub(crate) settled: Option<Outcome>,
    pub(crate) ops: Ops,
}

/// The table of units of work after a restart.
pub(crate) fn restore(found: Vec<Found>) -> Units {
    let units = Units::default();
    for found in found {
        let xid = found.xid.clone();
        let unit = units.restore(|place| Unit::restored(found, place));
        units.name(&xid, &unit);
    }
    units
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::queue::index::{Body, GroupKeys};

    #[test]
    fn rows_round_trip_and_what_is_cut_is_refused() {
        let place = FilePlace {
            block: 7,
            length: 500,
        };
        let mut out = Carried::default();
        let mut ends = vec![0];
        for (seq, group) in [(3, None), (4, Some(GroupKeys::default()))] {
            let slot = NewSlot {
                seq,
                body: Body::Filed(place),
                list: 5,
                priority: 5,
                persistent: seq == 3,
                expires_s: 9,
                backout_count: 0,
                msg_tag: 1,
                correl_tag: 2,
                group,
            };
            out.filed(1, 2, &slot, place);
            ends.push(out.bytes.len());
        }
        out.row(&record::get(1, 2, 5, 6));
        ends.push(out.bytes.len());
        let read = rows(&out.bytes).unwrap();
        let again = |row: &Row<'_>| match row {
            Row::Filed { uow, queue, slot } => (*uow, *queue, slot.seq, slot.place()),
            Row::Record(record) => (0, 0, record.highest_number(), None),
        };
        let there = Some(place);
        assert_eq!(
            read.iter().map(again).collect::<Vec<_>>(),
            [(1, 2, 3, there), (1, 2, 4, there), (0, 0, 5, None)]
        );
        let named = |keep_np| places(&read, keep_np)[&2].keys().copied().collect();
        let (all, persistent): (Vec<_>, Vec<_>) = (named(true), named(false));
        assert_eq!((all, persistent), (vec![3, 4], vec![3]));
        for length in 0..out.bytes.len() {
            let read = rows(&out.bytes[..length]);
            assert_eq!(read.is_some(), ends.contains(&length), "{length}");
        }
    }
}
