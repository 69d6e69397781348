//! Units of work in doubt, as an image carries them and a restart restores them.
//!
//! Invariants:
//! * What is carried is the records that a restart would otherwise read in the log, in their order; a restart redoes
//!   them before it redoes the log. It may meet them in the log once more.
//! * Which units of work an image carries is decided before any queue is saved. So the end of one of them is in the log
//!   behind the restart point, or all of it is in the queues that the image knows.
//! * Messages that are not persistent are carried as they are saved: over a controlled end, on queues of
//!   NPMCLASS(HIGH). A restart that is no such one leaves them out.
//! * What is on a queue that is gone is not carried: nobody could find it.

use std::sync::Arc;

use posthaste_recovery_log::Lsn;
use posthaste_store::StoreError;

use super::branch::{Outcome, Xid};
use super::table::{Place, Units};
use super::{Op, Stage, Unit, Work};
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::queue::Queue;
use crate::queue::index::{Body, NewSlot};
use crate::queue::uncommitted::Uncommitted;
use crate::record::{self, BackoutCount, QueueId, UowId};

/// A put or get that is to be carried.
enum Item {
    Put(QueueId, Arc<Message>),
    /// Its bytes have to be read first.
    Filed(Arc<Queue>, NewSlot),
    Get(BackoutCount),
}

/// Appends one record as it is carried: where it began in the log, its length, its bytes.
fn carry(out: &mut Vec<u8>, lsn: Lsn, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&lsn.0.to_le_bytes());
    out.extend_from_slice(&(length as u32).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// The carried records of an image: each with where it began in the log. `None`: they are cut.
pub(crate) fn records(bytes: &[u8]) -> Option<Vec<(Lsn, &[u8])>> {
    let (mut rest, mut out) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (lsn, after) = rest.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        let (record, after) = after.split_at_checked(length)?;
        out.push((Lsn(u64::from_le_bytes(*lsn)), record));
        rest = after;
    }
    Some(out)
}

/// The records of units of work that an image has to carry; `closing`: it is the last one of a controlled end.
///
/// # Errors
/// A message cannot be read in its queue's file.
pub(crate) fn encode(
    qm: &Inner,
    units: &[Arc<Unit>],
    closing: bool,
) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    for unit in units {
        unit.carry(qm, closing, &mut out)?;
    }
    Ok(out)
}

impl Work {
    fn items(&self, closing: bool) -> Vec<Item> {
        let kept = |queue: &Queue, persistent: bool| {
            let state = queue.lock();
            !state.deleted && (persistent || closing && state.attributes.npm_high)
        };
        let item = |op: &Op| match op {
            Op::Put { queue, put } => match put {
                Uncommitted::InMemory { message, .. } => {
                    let kept = kept(queue, message.persistent());
                    kept.then(|| Item::Put(queue.id, Arc::clone(message)))
                }
                Uncommitted::Filed(slot) => {
                    let kept = kept(queue, slot.persistent);
                    kept.then(|| Item::Filed(Arc::clone(queue), *slot))
                }
            },
            Op::Got { queue, slot } => {
                let slot = *queue.lock().index.slot(*slot);
                kept(queue, slot.persistent()).then(|| {
                    Item::Get(BackoutCount {
                        queue: queue.id,
                        seq: slot.seq,
                        count: slot.backout_count.saturating_add(1),
                    })
                })
            }
        };
        self.ops.iter().filter_map(item).collect()
    }
}

impl Unit {
    fn carry(&self, qm: &Inner, closing: bool, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let (items, xid, mut stage) = {
            let work = self.lock();
            (work.items(closing), work.xid.clone(), work.stage)
        };
        let Some(xid) = xid.filter(|_| stage != Stage::Ended) else {
            return Ok(());
        };
        mark(Mark::Carried);
        let begun = out.len();
        let carried = items
            .into_iter()
            .try_for_each(|item| self.carry_item(item, out));
        if let Err(error) = carried {
            // Perhaps its end has happened meanwhile, and its places are others'.
            out.truncate(begun);
            stage = self.lock().stage;
            match stage {
                Stage::Ended => return Ok(()),
                Stage::Settled(_) => {}
                _ => return Err(error),
            }
        }
        let now = qm.log.appended();
        carry(out, now, &[&record::prepare(self.id, self.started, &xid)]);
        if let Stage::Settled(outcome) = stage {
            carry(out, now, &[&record::heuristic(self.id, outcome, &[])]);
        }
        Ok(())
    }

    fn carry_item(&self, item: Item, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let (queue, message) = match item {
            Item::Get(got) => {
                let record = record::get(self.id, got.queue, got.seq, got.count);
                carry(out, Lsn(0), &[&record]);
                return Ok(());
            }
            Item::Put(queue, message) => (queue, message),
            Item::Filed(queue, slot) => (queue.id, read(&queue, &slot)?),
        };
        let mut head = Vec::new();
        let Message {
            md,
            data,
            seq,
            expires,
            lsn,
        } = &*message;
        record::put_head(&mut head, self.id, queue, *seq, *expires, md);
        carry(out, *lsn, &[&head, data]);
        Ok(())
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

/// Reads an uncommitted message in its queue's file.
fn read(queue: &Queue, slot: &NewSlot) -> Result<Arc<Message>, StoreError> {
    let wrong = || StoreError::Damaged {
        what: format!(
            "uncommitted message {} is not where it was written",
            slot.seq
        ),
        block: 0,
    };
    let Body::Filed(place) = slot.body else {
        return Err(wrong());
    };
    let file = queue.lock().known_file().ok_or_else(wrong)?;
    match crate::message::decode_stored(file.read(place.block)?) {
        Some(message) if message.seq == slot.seq => Ok(Arc::new(message)),
        _ => Err(wrong()),
    }
}

/// A unit of work that a restart has found in doubt, or completed heuristically and not forgotten.
pub(crate) struct Found {
    pub(crate) id: UowId,
    pub(crate) started: i64,
    pub(crate) xid: Xid,
    pub(crate) settled: Option<Outcome>,
    pub(crate) ops: Vec<Op>,
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

    #[test]
    fn what_is_cut_is_refused() {
        let mut out = Vec::new();
        carry(&mut out, Lsn(7), &[b"ab", b"c"]);
        let whole = out.len();
        carry(&mut out, Lsn(9), &[]);
        assert_eq!(
            records(&out).unwrap(),
            [(Lsn(7), &b"abc"[..]), (Lsn(9), b"")]
        );
        for length in (1..out.len()).filter(|length| *length != whole) {
            assert_eq!(records(&out[..length]), None, "{length}");
        }
    }
}
