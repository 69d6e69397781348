//! Messages that have expired end, and their reports are sent.
//!
//! Invariant: a persistent message that has expired ends together with the put of the report on it, or not at all; one
//! without a report may expire once more after a restart. As long as it is not known who the user is by whose authority that
//! report is put, it stays, and expires when it is met again.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError, Lsn};

use crate::delivery::{place_report, post_report};
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::queue::index::SlotId;
use crate::queue::{Expired, Queue};
use crate::record;
use crate::report::{self, Kind, Report, report};
use crate::routed::{RoutedMessage, append_commit, append_put, private_put};
use crate::unit::effect::Effect;
use crate::unit::{Op, Stage, Unit};

/// Expired messages have been taken off a queue: notes that in the log and sends their reports.
pub(crate) fn expired(qm: &Arc<Inner>, queue: &Arc<Queue>, messages: Vec<Expired>) {
    if !messages.is_empty() && queue.lock().keeps_retained() {
        return qm.retained_expired(queue, &messages);
    }
    for Expired { message, held } in messages {
        mark(Mark::Expired);
        match (
            held,
            report(
                qm,
                Kind::Expiration,
                (&message.md, message.origin, message.expires),
                &message.data,
            ),
        ) {
            (Some(slot), Some(report)) => expire(qm, (queue, slot, message.seq), &report),
            (held, report) => {
                if message.persistent() {
                    note_expired(qm, queue, message.seq);
                }
                if let Some(slot) = held {
                    queue.lock().drop_expired(slot);
                }
                if let Some(report) = report {
                    post_report(qm, &report);
                }
            }
        }
    }
}

/// Notes in the log that an expired persistent message is gone. Not forced, and not missed: without the record the
/// message expires once more after a restart.
pub(crate) fn note_expired(qm: &Inner, queue: &Queue, seq: u64) {
    let record = record::discarded(queue.id, seq);
    let _ = qm.log.append(Class::Relief, &[&record]);
}

/// Appends the put of the report on an expired message, and the end of that message, as one unit of work.
fn append_expiry(
    qm: &Inner,
    unit: &Unit,
    (queue, slot, seq): (&Arc<Queue>, SlotId, u64),
    routed: RoutedMessage,
) -> Result<Lsn, LogError> {
    let mut work = unit.lock();
    work.stage = Stage::Ending;
    let number = qm.next_seq();
    let put = append_put(qm, (Class::Ordinary, 0), unit.id, &routed, number)?;
    work.note(put.start, 0, qm);
    // Undone by a restart, it is as it was: an expiry counts as no backout.
    let count = queue.lock().index.slot(slot).backout_count;
    let get = record::get(unit.id, queue.id, seq, count);
    qm.log.append(Class::Essential, &[&get])?;
    work.ops.push(private_put(routed, number, put.start));
    work.ops.push(Op::Got {
        queue: queue.clone(),
        slot,
    });
    append_commit(qm, unit)
}

/// Ends a persistent message that has expired, and is held, with the put of the report on it: both or none, whatever
/// crash comes. Nobody waits for the force; maintenance sees to the effect. Where log or disk have no room for the report
/// the message stays, and expires when it is met again.
fn expire(qm: &Arc<Inner>, (queue, slot, seq): (&Arc<Queue>, SlotId, u64), report: &Report) {
    if report.user(qm).is_err() {
        return queue.lock().keep_expired(slot);
    }
    let (routed, place) = match place_report(qm, report) {
        Ok(placed) => placed,
        Err(Reason::Q_SPACE_NOT_AVAILABLE) => return queue.lock().keep_expired(slot),
        Err(reason) => {
            report::not_sent(qm, reason);
            note_expired(qm, queue, seq);
            return queue.lock().drop_expired(slot);
        }
    };
    let unit = qm
        .units
        .begin(0, (qm.next_uow(), qm.clock.now()), Some(&qm.log));
    match append_expiry(qm, &unit, (queue, slot, seq), routed) {
        Ok(end) => {
            place.used();
            queue.lock().count_expired();
            qm.detach(end, Effect::Commit(unit));
        }
        Err(error) => {
            unit.leave(&mut unit.lock(), qm);
            queue.lock().keep_expired(slot);
            if matches!(error, LogError::Full) {
                qm.log_space.want_room();
            }
        }
    }
}
