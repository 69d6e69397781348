//! How messages get onto queues, whoever puts them: applications, reports, triggers.
//!
//! Invariants:
//! * A place in the queue is reserved before the log record is appended, and the message number is
//!   drawn after that: `CLEAR` removes by number and only when nothing is reserved.
//! * Between the append of a record in a unit of work and the entry in that unit of work there is
//!   no `await`: the log and the session never disagree about what the unit of work contains.
//! * A full log delays a put; it fails one (2102) only after maintenance has tried several times in
//!   vain to make room.

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::{Md, Reason};
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::queue::saved::write_message;
use crate::queue::uncommitted::Uncommitted;
use crate::record;
use crate::report::{self, Report};
use crate::session::SessionInner;
use crate::unit::effect::{Effect, Pending, deliver};
use crate::unit::orphans::Orphan;
use crate::unit::{Op, Stage, Unit, Work};

/// A message on its way to a local queue, complete but for its number. Small, because a put that waits keeps
/// it in its future.
#[derive(Clone)]
pub(crate) struct Parcel {
    pub(crate) queue: Arc<Queue>,
    /// Nobody else's yet.
    message: Arc<Message>,
}

impl Parcel {
    /// `expires`: microseconds since 1970; 0 = never.
    pub(crate) fn new(queue: Arc<Queue>, md: Md, data: Bytes, expires: i64) -> Parcel {
        let message = Arc::new(Message {
            md,
            data: trimmed(data),
            seq: 0,
            expires,
            lsn: Lsn(0),
        });
        Parcel { queue, message }
    }

    fn persistent(&self) -> bool {
        self.message.persistent()
    }

    fn into_message(mut self, seq: u64, lsn: Lsn) -> (Arc<Queue>, Arc<Message>) {
        // Copies only where another try has kept the parcel.
        let message = Arc::make_mut(&mut self.message);
        (message.seq, message.lsn) = (seq, lsn);
        (self.queue, self.message)
    }
}

/// Bytes below which it does not matter what a buffer keeps beside its data.
const SMALL: usize = 1024;

/// The same bytes in memory of about their own size, because a queue's buffer counts the length of messages: a buffer
/// that has grown as data came in may be twice as large, and one that is shared is kept by one message as a whole.
fn trimmed(data: Bytes) -> Bytes {
    let length = data.len();
    if length < SMALL {
        return data;
    }
    match data.try_into_mut() {
        Ok(own) if own.capacity() <= length + length / 8 => own.freeze(),
        Ok(own) => Bytes::copy_from_slice(&own),
        Err(shared) => Bytes::copy_from_slice(&shared),
    }
}

/// A reserved place on a queue; given back unless it is used.
pub(crate) struct Reservation {
    queue: Option<Arc<Queue>>,
}

impl Reservation {
    /// For a parcel, on its queue.
    pub(crate) fn of(parcel: &Parcel) -> Result<Self, Reason> {
        let queue = &parcel.queue;
        let mut reserved = queue.lock().reserve(parcel.persistent());
        if reserved == Err(Reason::Q_SPACE_NOT_AVAILABLE) {
            queue.file_again(parcel.message.size());
            reserved = queue.lock().reserve(parcel.persistent());
        }
        reserved?;
        Ok(Reservation {
            queue: Some(queue.clone()),
        })
    }
    pub(crate) fn used(mut self) {
        self.queue = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.lock().pending_puts -= 1;
        }
    }
}

thread_local! {
    static HEAD: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Appends the record of a put, without waiting. `owing`: bytes to keep for the end of its unit of work.
fn append_put(
    qm: &Inner,
    (class, owing): (Class, u64),
    uow: u64,
    parcel: &Parcel,
    seq: u64,
) -> Result<Appended, LogError> {
    let mut head = HEAD.take();
    head.clear();
    let message = &*parcel.message;
    record::put_head(
        &mut head,
        uow,
        parcel.queue.id,
        seq,
        message.expires,
        &message.md,
    );
    let appended = qm.log.append_owing(class, &[&head, &message.data], owing);
    if matches!(appended, Err(LogError::Full)) {
        qm.tell_too_long(head.len() + message.data.len());
    }
    HEAD.set(head);
    appended
}

/// How often maintenance may say that there could be room before a call gives up. It says so after
/// each of its checkpoints, two or more of which make one attempt, and after the attempt.
const RELIEFS: u32 = 12;

/// What to do about a log that does not take a record.
pub(crate) struct Patience(u32);

impl Patience {
    pub(crate) fn new() -> Self {
        Patience(0)
    }

    /// Waits for maintenance to make room, if that is what the log wants.
    ///
    /// # Errors
    /// 2102 when it could not; 2009 when the log has stopped.
    pub(crate) async fn wait(&mut self, qm: &Inner, error: LogError) -> Result<(), Reason> {
        if !matches!(error, LogError::Full) {
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
        self.wait_for_room(qm).await
    }

    /// Waits for maintenance to make room.
    ///
    /// # Errors
    /// 2102 when it could not; 2009 or 2162 when the queue manager ends.
    pub(crate) async fn wait_for_room(&mut self, qm: &Inner) -> Result<(), Reason> {
        if self.0 == RELIEFS {
            return Err(Reason::RESOURCE_PROBLEM);
        }
        self.0 += 1;
        mark(Mark::WaitedForRoom);
        let relief = qm.relief.listen();
        // After an end nobody makes room any more; one that comes later raises the signal.
        qm.running()?;
        qm.want_log_space();
        relief.await;
        qm.running()
    }
}

/// Puts outside a unit of work. Returns when the message is on its queue, forced if persistent.
pub(crate) async fn alone(session: &SessionInner, parcel: Parcel) -> Result<Arc<Message>, Reason> {
    let qm = &session.qm;
    if !parcel.persistent() {
        let place = Reservation::of(&parcel)?;
        let seq = qm.next_seq();
        // Where the numbers have run out the queue manager has stopped, and the next run will use this one.
        qm.running()?;
        let (queue, message) = parcel.into_message(seq, Lsn(0));
        place.used();
        deliver(qm, &queue, &message, true);
        return Ok(message);
    }
    let mut patience = Patience::new();
    loop {
        qm.log.room().await;
        let place = Reservation::of(&parcel)?;
        let seq = qm.next_seq();
        let pin = qm.units.hold(&qm.log, session.id);
        match append_put(qm, (Class::Ordinary, 0), 0, &parcel, seq) {
            Ok(appended) => {
                place.used();
                let (queue, message) = parcel.into_message(seq, appended.start);
                let put = message.clone();
                let pending = Pending {
                    qm,
                    end: appended.end,
                    effect: Some(Effect::Put {
                        queue,
                        message,
                        pin,
                    }),
                };
                pending.done().await?;
                return Ok(put);
            }
            Err(error) => {
                drop((place, pin));
                patience.wait(qm, error).await?;
            }
        }
    }
}

/// Appends the records of a private unit of work; returns the end of its commit.
fn append_together(qm: &Inner, parcels: Vec<Parcel>, unit: &Unit) -> Result<Lsn, LogError> {
    let mut work = unit.lock();
    work.stage = Stage::Ending;
    for parcel in parcels {
        let seq = qm.next_seq();
        let mut lsn = Lsn(0);
        if parcel.persistent() {
            // The first one is refused like any other put; what follows must not fail for want of a few bytes.
            let class = match work.logged {
                true => Class::Essential,
                false => Class::Ordinary,
            };
            lsn = append_put(qm, (class, 0), unit.id, &parcel, seq)?.start;
            work.note(lsn, 0, qm);
        }
        let (queue, message) = parcel.into_message(seq, lsn);
        let put = Uncommitted::InMemory {
            message,
            counted: false,
        };
        work.ops.push(Op::Put { queue, put });
    }
    if !work.logged {
        return Ok(Lsn(0));
    }
    let commit = record::commit(unit.id);
    Ok(qm.log.append(Class::Essential, &[&commit])?.end)
}

/// Puts a message with a report on it, outside the application's unit of work: both or none. What
/// keeps the report from its queue does not keep the message from its own.
pub(crate) async fn together(
    session: &SessionInner,
    parcel: Parcel,
    report: &Report,
) -> Result<Arc<Message>, Reason> {
    let qm = &session.qm;
    let mut patience = Patience::new();
    loop {
        qm.log.room().await;
        let place = Reservation::of(&parcel)?;
        let mut parcels = vec![parcel.clone()];
        let mut places = vec![place];
        if let Some((parcel, place)) = reserve_report(qm, report) {
            parcels.push(parcel);
            places.push(place);
        }
        let beginning = (qm.next_uow(), qm.now());
        let unit = qm.units.begin(session.id, beginning, Some(&qm.log));
        match append_together(qm, parcels, &unit) {
            Ok(end) => {
                places.into_iter().for_each(Reservation::used);
                let forced = unit.lock().logged;
                let pending = Pending {
                    qm,
                    end,
                    effect: Some(Effect::Commit(unit)),
                };
                pending.done().await?;
                if forced {
                    qm.home.stages.one(Count::ForcedAlone);
                }
                return Ok(parcel.message);
            }
            Err(error) => {
                unit.leave(&mut unit.lock(), qm);
                drop(places);
                patience.wait(qm, error).await?;
            }
        }
    }
}

/// Makes a message part of a unit of work; whether it has to be filed, because the queue's buffer is full.
fn join(work: &mut Work, queue: &Arc<Queue>, message: &Arc<Message>) -> bool {
    work.ops.push(Op::Put {
        queue: queue.clone(),
        put: Uncommitted::InMemory {
            message: message.clone(),
            counted: true,
        },
    });
    queue.count_uncommitted(message)
}

/// Moves a message of the session's unit of work to its queue's file, without a lock while it is written.
fn file_uncommitted(session: &SessionInner, queue: &Queue, message: &Arc<Message>) {
    let file = queue.open_file();
    let place = match file.and_then(|file| write_message(&file, message)) {
        Ok(place) => place,
        Err(error) => return queue.not_filed_uncommitted(&error),
    };
    let state = session.lock();
    let mut work = state.unit.as_ref().map(|unit| unit.lock());
    let mut kept = queue.lock();
    let ops = work.iter_mut().flat_map(|work| work.ops.iter_mut().rev());
    let found = ops.into_iter().find_map(|op| match op {
        Op::Put { put, .. } if put.seq() == message.seq => Some(put),
        _ => None,
    });
    kept.filed_uncommitted(found, place);
}

/// Puts in the application's unit of work.
pub(crate) async fn in_unit(
    session: &SessionInner,
    parcel: Parcel,
) -> Result<Arc<Message>, Reason> {
    let qm = &session.qm;
    let mut patience = Patience::new();
    loop {
        if parcel.persistent() {
            qm.log.room().await;
        }
        let place = Reservation::of(&parcel)?;
        let seq = qm.next_seq();
        let error = {
            let mut state = session.lock();
            let (unit, mut work) = session.join(&mut state, parcel.persistent())?;
            if !parcel.persistent() {
                let (queue, message) = parcel.into_message(seq, Lsn(0));
                if planted(Bug::VisibleEarly) {
                    drop(work);
                    drop(state);
                    drop(place);
                    deliver(qm, &queue, &message, false);
                    return Ok(message);
                }
                let filed = join(&mut work, &queue, &message);
                place.used();
                drop(work);
                drop(state);
                if filed {
                    file_uncommitted(session, &queue, &message);
                }
                return Ok(message);
            }
            let owing = work.owing(false);
            match append_put(qm, (Class::Ordinary, owing), unit.id, &parcel, seq) {
                Ok(appended) => {
                    work.note(appended.start, owing, qm);
                    qm.note_progress(appended.end);
                    let (queue, message) = parcel.into_message(seq, appended.start);
                    let filed = join(&mut work, &queue, &message);
                    place.used();
                    drop(work);
                    drop(state);
                    if filed {
                        file_uncommitted(session, &queue, &message);
                    }
                    return Ok(message);
                }
                Err(error) => {
                    unit.not_appended(&mut work, qm);
                    error
                }
            }
        };
        drop(place);
        patience.wait(qm, error).await?;
    }
}

/// Finds a place for a report: on its reply-to queue, or on the dead-letter queue. `None`: it has
/// been discarded, and the operator told.
fn reserve_report(qm: &Inner, report: &Report) -> Option<(Parcel, Reservation)> {
    let placed = |parcel: Parcel| {
        let place = Reservation::of(&parcel)?;
        Ok((parcel, place))
    };
    let reason = match report.parcel(qm).and_then(placed) {
        Ok(placed) => return Some(placed),
        Err(reason) => reason,
    };
    let dead = report.dead_letter(qm, reason).and_then(placed);
    if dead.is_err() {
        report::not_sent(qm, reason);
    }
    dead.ok()
}

/// Sends a report, in the application's unit of work or outside it. It never makes the
/// application's call fail.
pub(crate) async fn send_report(session: &SessionInner, report: &Report, unit: bool) {
    let qm = &session.qm;
    let send = async |parcel: Parcel| {
        if unit {
            in_unit(session, parcel).await.map(drop)
        } else {
            alone(session, parcel).await.map(drop)
        }
    };
    let reason = match report.parcel(qm) {
        Ok(parcel) => match send(parcel).await {
            Ok(()) => return,
            Err(reason) => reason,
        },
        Err(reason) => reason,
    };
    let sent = match report.dead_letter(qm, reason) {
        Ok(parcel) => send(parcel).await,
        Err(reason) => Err(reason),
    };
    if sent.is_err() {
        report::not_sent(qm, reason);
    }
}

/// Appends the put of the report on an expired message, and the end of that message, as one unit of work.
fn append_expiry(
    qm: &Inner,
    unit: &Unit,
    (queue, slot, seq): (&Arc<Queue>, SlotId, u64),
    parcel: Parcel,
) -> Result<Lsn, LogError> {
    let mut work = unit.lock();
    work.stage = Stage::Ending;
    let number = qm.next_seq();
    let put = append_put(qm, (Class::Ordinary, 0), unit.id, &parcel, number)?;
    work.note(put.start, 0, qm);
    // Undone by a restart, it is as it was: an expiry counts as no backout.
    let count = queue.lock().index.slot(slot).backout_count;
    let get = record::get(unit.id, queue.id, seq, count);
    qm.log.append(Class::Essential, &[&get])?;
    let (on, message) = parcel.into_message(number, put.start);
    let put = Uncommitted::InMemory {
        message,
        counted: false,
    };
    work.ops.push(Op::Put { queue: on, put });
    work.ops.push(Op::Got {
        queue: queue.clone(),
        slot,
    });
    let commit = record::commit(unit.id);
    Ok(qm.log.append(Class::Essential, &[&commit])?.end)
}

/// Ends a persistent message that has expired, and is held, with the put of the report on it: both or none, whatever
/// crash comes. Nobody waits for the force; maintenance sees to the effect. Where the log has no room for the report the
/// message stays, and expires when it is met again.
pub(crate) fn expire(
    qm: &Arc<Inner>,
    (queue, slot, seq): (&Arc<Queue>, SlotId, u64),
    report: &Report,
) {
    let Some((parcel, place)) = reserve_report(qm, report) else {
        // Not forced, and not missed: without it the message expires once more after a restart.
        let _ = qm
            .log
            .append(Class::Relief, &[&record::discarded(queue.id, seq)]);
        return queue.lock().drop_expired(slot);
    };
    let unit = qm.units.begin(0, (qm.next_uow(), qm.now()), Some(&qm.log));
    match append_expiry(qm, &unit, (queue, slot, seq), parcel) {
        Ok(end) => {
            place.used();
            qm.orphan(Orphan {
                end,
                effect: Effect::Commit(unit),
            });
        }
        Err(error) => {
            unit.leave(&mut unit.lock(), qm);
            queue.lock().keep_expired(slot);
            if matches!(error, LogError::Full) {
                qm.want_log_space();
            }
        }
    }
}

/// Puts a report that nobody waits for the force of, because maintenance made it. Should its
/// record be lost in a crash, what it reports happens, and is reported, again.
pub(crate) fn post_report(qm: &Arc<Inner>, report: &Report) {
    if let Some((parcel, place)) = reserve_report(qm, report) {
        post(qm, parcel, place);
    }
}

/// Puts a report on the dead-letter queue at once; see [`post_report`].
pub(crate) fn post_dead_letter(qm: &Arc<Inner>, report: &Report, reason: Reason) {
    let parcel = report.dead_letter(qm, reason);
    let placed = parcel.and_then(|parcel| Ok((Reservation::of(&parcel)?, parcel)));
    match placed {
        Ok((place, parcel)) => post(qm, parcel, place),
        Err(_) => report::not_sent(qm, reason),
    }
}

fn post(qm: &Arc<Inner>, parcel: Parcel, place: Reservation) {
    let seq = qm.next_seq();
    if !parcel.persistent() {
        let (queue, message) = parcel.into_message(seq, Lsn(0));
        place.used();
        return deliver(qm, &queue, &message, true);
    }
    let pin = qm.units.hold(&qm.log, 0);
    match append_put(qm, (Class::Ordinary, 0), 0, &parcel, seq) {
        Ok(appended) => {
            place.used();
            let (queue, message) = parcel.into_message(seq, appended.start);
            // Visible only once forced, like every persistent message: maintenance waits for that.
            qm.orphan(Orphan {
                end: appended.end,
                effect: Effect::Put {
                    queue,
                    message,
                    pin,
                },
            });
        }
        Err(_) => report::not_sent(qm, Reason::RESOURCE_PROBLEM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Capacity of the buffer that a message's data is in, which must be nobody else's.
    fn capacity(data: Bytes) -> usize {
        data.try_into_mut().map_or(usize::MAX, |own| own.capacity())
    }

    #[test]
    fn a_message_keeps_no_more_memory_than_it_is_counted_with() {
        let grown = |length: usize| {
            let mut buffer = Vec::with_capacity(2 * length);
            buffer.resize(length, 7);
            Bytes::from(buffer)
        };
        let whole = Bytes::from(vec![7; 1 << 20]);
        for data in [
            grown(5000),
            whole.slice(100..5100),
            grown(9000).slice(4000..),
        ] {
            let kept = trimmed(data);
            assert_eq!(kept, vec![7; 5000]);
            assert!(capacity(kept) <= 5000 + 5000 / 8);
        }
        // What fits stays where it is.
        let exact = Bytes::from(vec![7; 5000]);
        let at = exact.as_ptr();
        assert_eq!(trimmed(exact).as_ptr(), at);
    }
}
