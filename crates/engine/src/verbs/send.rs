//! How messages get onto queues, whoever puts them: applications, reports, triggers.
//!
//! Invariants:
//! * A place in the queue is reserved before the log record is appended, and the message number is
//!   drawn after that: `CLEAR` removes by number and only when nothing is reserved.
//! * Between the append of a record in a unit of work and the entry in that unit of work there is
//!   no `await`: the log and the session never disagree about what the unit of work contains.
//! * A full log delays a put; it fails one (2102) only after maintenance has tried several times in
//!   vain to make room.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use crate::delivery::{deliver, reserve_report};
use crate::manager::Inner;
use crate::message::Message;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::uncommitted::Uncommitted;
use crate::report::{self, Report};
use crate::routed::{Reservation, RoutedMessage, append_commit, append_put, private_put};
use crate::session::SessionInner;
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;
use crate::unit::{Op, Stage, Unit, Work};

/// Puts outside a unit of work. Returns when the message is on its queue, forced if persistent.
pub(crate) async fn alone(
    session: &SessionInner,
    routed: RoutedMessage,
) -> Result<Arc<Message>, Reason> {
    session.settled().await?;
    let qm = &session.qm;
    if !routed.persistent() {
        let place = Reservation::of(&routed).await?;
        let seq = qm.next_seq();
        // Where the numbers have run out the queue manager has stopped, and the next run will use this one.
        qm.lifecycle.running()?;
        let (queue, message) = routed.into_message(seq, Lsn(0));
        place.used();
        deliver(qm, &queue, &message, true);
        return Ok(message);
    }
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        qm.log.room().await;
        let place = Reservation::of(&routed).await?;
        let seq = qm.next_seq();
        let pin = qm.units.hold(&qm.log, session.id);
        match append_put(qm, (Class::Ordinary, 0), 0, &routed, seq) {
            Ok(appended) => {
                place.used();
                let (queue, message) = routed.into_message(seq, appended.start);
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
                log_space_wait.wait(qm, error).await?;
            }
        }
    }
}

/// Puts outside a unit of work, and does not wait for the force: the message is on its queue some time after, behind
/// all that its application has put this way before, and the connection has a ticket for it until then.
///
/// # Errors
/// As [`alone`], and 2009 while too much is on its way.
pub(crate) async fn with_ticket(
    session: &Arc<SessionInner>,
    routed: RoutedMessage,
) -> Result<Arc<Message>, Reason> {
    let qm = &session.qm;
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        session.room_for_ticket().await?;
        qm.log.room().await;
        let place = Reservation::of(&routed).await?;
        let seq = qm.next_seq();
        qm.lifecycle.running()?;
        let pin = qm.units.hold(&qm.log, session.id);
        let appended = match routed.persistent() {
            true => append_put(qm, (Class::Ordinary, 0), 0, &routed, seq),
            // It has no record, and waits for those before it.
            false => Ok(Appended {
                start: Lsn(0),
                end: qm.log.appended(),
            }),
        };
        match appended {
            Ok(Appended { start, end }) => {
                place.used();
                qm.home.counters.one(Count::Tickets);
                let (queue, message) = routed.into_message(seq, start);
                let (put, bytes) = (message.clone(), message.size());
                if planted(Bug::VisibleUnforced) {
                    drop(pin);
                    deliver(qm, &queue, &message, true);
                    return Ok(put);
                }
                let effect = Effect::Put {
                    queue,
                    message,
                    pin,
                };
                session.take_out(end, effect, bytes);
                return Ok(put);
            }
            Err(error) => {
                drop((place, pin));
                log_space_wait.wait(qm, error).await?;
            }
        }
    }
}

/// Appends the records of a private unit of work; returns the end of its commit.
fn append_together(
    qm: &Inner,
    routed_messages: Vec<RoutedMessage>,
    unit: &Unit,
) -> Result<Lsn, LogError> {
    let mut work = unit.lock();
    work.stage = Stage::Ending;
    for routed in routed_messages {
        let seq = qm.next_seq();
        let mut lsn = Lsn(0);
        if routed.persistent() {
            // The first one is refused like any other put; what follows must not fail for want of a few bytes.
            let class = match work.logged {
                true => Class::Essential,
                false => Class::Ordinary,
            };
            lsn = append_put(qm, (class, 0), unit.id, &routed, seq)?.start;
            work.note(lsn, 0, qm);
        }
        work.ops.push(private_put(routed, seq, lsn));
    }
    if !work.logged {
        return Ok(Lsn(0));
    }
    append_commit(qm, unit)
}

/// Puts a message with a report on it, outside the application's unit of work: both or none. What
/// keeps the report from its queue does not keep the message from its own.
pub(crate) async fn together(
    session: &SessionInner,
    routed: RoutedMessage,
    report: &Report,
) -> Result<Arc<Message>, Reason> {
    session.settled().await?;
    let qm = &session.qm;
    report.look_up_user(qm).await;
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        qm.log.room().await;
        let place = Reservation::of(&routed).await?;
        let mut routed_messages = vec![routed.clone()];
        let mut places = vec![place];
        if let Some((routed, place)) = reserve_report(qm, report) {
            routed_messages.push(routed);
            places.push(place);
        }
        let beginning = (qm.next_uow(), qm.clock.now());
        let unit = qm.units.begin(session.id, beginning, Some(&qm.log));
        match append_together(qm, routed_messages, &unit) {
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
                    qm.home.counters.one(Count::ForcedAlone);
                }
                return Ok(routed.message);
            }
            Err(error) => {
                unit.leave(&mut unit.lock(), qm);
                drop(places);
                log_space_wait.wait(qm, error).await?;
            }
        }
    }
}

/// A message of a unit of work that has to be filed.
pub(crate) type Due = (Arc<Queue>, Arc<Message>);

/// Makes a message part of a unit of work; whether it has to be filed, because the queue's buffer is full.
pub(crate) fn join(work: &mut Work, queue: &Arc<Queue>, message: &Arc<Message>) -> bool {
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
pub(crate) async fn file_uncommitted(
    session: &SessionInner,
    queue: &Arc<Queue>,
    message: &Arc<Message>,
) {
    let place = match queue.write_uncommitted(message).await {
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

/// What came of a put in a unit of work.
enum Entered {
    /// It is part of it; the last says whether it has to be filed.
    Put(Arc<Queue>, Arc<Message>, bool),
    /// It is visible (a planted bug).
    Early(Arc<Message>),
    /// The log has no room for it at present.
    NotAppended(RoutedMessage, LogError),
}

/// Makes a message part of the session's unit of work, at a place that was reserved for it.
fn enter_unit(
    session: &SessionInner,
    routed: RoutedMessage,
    place: Reservation,
) -> Result<Entered, Reason> {
    let qm = &session.qm;
    let seq = qm.next_seq();
    let mut state = session.lock();
    let (unit, mut work) = session.join(&mut state, routed.persistent())?;
    let mut lsn = Lsn(0);
    if routed.persistent() {
        let owing = work.owing(false);
        match append_put(qm, (Class::Ordinary, owing), unit.id, &routed, seq) {
            Ok(appended) => {
                work.note(appended.start, owing, qm);
                qm.log_space.note_progress(appended.end);
                lsn = appended.start;
            }
            Err(error) => {
                unit.not_appended(&mut work, qm);
                return Ok(Entered::NotAppended(routed, error));
            }
        }
    }
    let early = !routed.persistent() && planted(Bug::VisibleEarly);
    let (queue, message) = routed.into_message(seq, lsn);
    if early {
        drop(work);
        drop(state);
        drop(place);
        deliver(qm, &queue, &message, false);
        return Ok(Entered::Early(message));
    }
    let due = join(&mut work, &queue, &message);
    place.used();
    Ok(Entered::Put(queue, message, due))
}

/// Puts in the application's unit of work.
pub(crate) async fn in_unit(
    session: &SessionInner,
    mut routed: RoutedMessage,
) -> Result<Arc<Message>, Reason> {
    let qm = &session.qm;
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        if routed.persistent() {
            qm.log.room().await;
        }
        let place = Reservation::of(&routed).await?;
        match enter_unit(session, routed, place)? {
            Entered::Put(queue, message, due) => {
                if due {
                    // Rare, so it takes its room only when it happens.
                    Box::pin(file_uncommitted(session, &queue, &message)).await;
                }
                return Ok(message);
            }
            Entered::Early(message) => return Ok(message),
            Entered::NotAppended(again, error) => {
                routed = again;
                log_space_wait.wait(qm, session.not_appended(error)).await?;
            }
        }
    }
}

/// Sends a report, in the application's unit of work or outside it. It never makes the
/// application's call fail.
pub(crate) async fn send_report(session: &SessionInner, report: &Report, unit: bool) {
    let qm = &session.qm;
    let send = async |routed: RoutedMessage| {
        if unit {
            in_unit(session, routed).await.map(drop)
        } else {
            alone(session, routed).await.map(drop)
        }
    };
    report.look_up_user(qm).await;
    let reason = match report.routed(qm) {
        Ok(routed) => match send(routed).await {
            Ok(()) => return,
            Err(reason) => reason,
        },
        Err(reason) => reason,
    };
    let sent = match report.dead_letter(qm, reason) {
        Ok(routed) => send(routed).await,
        Err(reason) => Err(reason),
    };
    if sent.is_err() {
        report::not_sent(qm, reason);
    }
}
