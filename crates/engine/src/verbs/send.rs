//! How messages get onto queues, whoever puts them: applications, reports, triggers.
//!
//! Invariants:
//! * A place in the queue is reserved before the log record is appended, and the message number is
//!   drawn after that: `CLEAR` removes by number and only when nothing is reserved.
//! * Between the append of a record in a unit of work and the entry in that unit of work there is
//!   no `await`: the log and the session never disagree about what the unit of work contains.
//! * A full log delays a put; it fails one (2102) only after maintenance has tried three times in
//!   vain to make room.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_mqi::{Md, Reason};
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use crate::manager::Inner;
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::record;
use crate::session::SessionInner;
use crate::uow::{Effect, Op, Pending, Uow, deliver};
use posthaste_mqi::constants::MQPER_PERSISTENT;

/// A message on its way to a local queue, complete but for its number.
pub(crate) struct Parcel {
    pub(crate) queue: Arc<Queue>,
    pub(crate) md: Md,
    pub(crate) data: Bytes,
    /// When it expires, microseconds since 1970; 0 = never.
    pub(crate) expires: i64,
    pub(crate) seq: u64,
}

impl Parcel {
    fn persistent(&self) -> bool {
        self.md.persistence == MQPER_PERSISTENT
    }

    fn into_message(self, lsn: Lsn) -> (Arc<Queue>, Arc<Message>) {
        let message = Arc::new(Message {
            md: self.md,
            data: self.data,
            seq: self.seq,
            expires: self.expires,
            lsn,
        });
        (self.queue, message)
    }
}

/// A reserved place on a queue; given back unless it is used.
pub(crate) struct Reservation {
    queue: Option<Arc<Queue>>,
}

impl Reservation {
    pub(crate) fn of(queue: &Arc<Queue>) -> Result<Self, Reason> {
        queue.lock().reserve()?;
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
    static HEAD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Appends the record of a put, without waiting.
pub(crate) fn append_put(
    qm: &Inner,
    class: Class,
    uow: u64,
    parcel: &Parcel,
) -> Result<Appended, LogError> {
    HEAD.with_borrow_mut(|head| {
        head.clear();
        record::put_head(
            head,
            uow,
            parcel.queue.id,
            parcel.seq,
            parcel.expires,
            &parcel.md,
        );
        qm.log.append(class, &[head, &parcel.data])
    })
}

/// What to do about a log that does not take a record.
pub(crate) struct Patience(u32);

impl Patience {
    pub(crate) fn new() -> Self {
        Patience(0)
    }

    /// Waits for maintenance to make room.
    ///
    /// # Errors
    /// 2102 when it could not; 2009 when the log has stopped.
    pub(crate) async fn wait(&mut self, qm: &Inner, error: LogError) -> Result<(), Reason> {
        if !matches!(error, LogError::Full) {
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
        if self.0 == 3 {
            return Err(Reason::RESOURCE_PROBLEM);
        }
        self.0 += 1;
        let relief = qm.relief.listen();
        qm.want_log_space();
        relief.await;
        qm.running()
    }
}

/// Puts outside a unit of work. Returns when the message is on its queue, forced if persistent.
pub(crate) async fn alone(session: &SessionInner, mut parcel: Parcel) -> Result<(), Reason> {
    let qm = &session.qm;
    if !parcel.persistent() {
        parcel.queue.lock().admit()?;
        let (queue, message) = parcel.into_message(Lsn(0));
        deliver(qm, &queue, &message, false);
        return Ok(());
    }
    let mut patience = Patience::new();
    loop {
        qm.log.room().await;
        let place = Reservation::of(&parcel.queue)?;
        session.call_pin.set(qm.log.appended());
        match append_put(qm, Class::Ordinary, 0, &parcel) {
            Ok(appended) => {
                place.used();
                let (queue, message) = parcel.into_message(appended.start);
                let pending = Pending {
                    qm,
                    pin: &session.call_pin,
                    end: appended.end,
                    effect: Some(Effect::Put { queue, message }),
                };
                return pending.done().await;
            }
            Err(error) => {
                drop(place);
                session.call_pin.clear();
                patience.wait(qm, error).await?;
                parcel.seq = qm.next_seq();
            }
        }
    }
}

/// Appends the records of a private unit of work; returns the end of its commit.
fn append_together(qm: &Inner, parcels: Vec<Parcel>, uow: &mut Uow) -> Result<Lsn, LogError> {
    for parcel in parcels {
        let mut lsn = Lsn(0);
        if parcel.persistent() {
            // Essential: half a unit of work without its end would only wait for a restart.
            lsn = append_put(qm, Class::Essential, uow.id, &parcel)?.start;
            uow.logged = true;
        }
        let (queue, message) = parcel.into_message(lsn);
        uow.ops.push(Op::Put { queue, message });
    }
    if !uow.logged {
        return Ok(Lsn(0));
    }
    let commit = record::commit(uow.id);
    Ok(qm.log.append(Class::Essential, &[&commit])?.end)
}

/// Puts several messages at once outside the application's unit of work: all of them or none.
pub(crate) async fn together(session: &SessionInner, parcels: Vec<Parcel>) -> Result<(), Reason> {
    let qm = &session.qm;
    qm.log.room().await;
    let places = parcels
        .iter()
        .map(|p| Reservation::of(&p.queue))
        .collect::<Result<Vec<_>, _>>()?;
    let mut uow = Uow::new(qm.next_uow(), qm.now());
    session.call_pin.set(qm.log.appended());
    let end = match append_together(qm, parcels, &mut uow) {
        Ok(end) => end,
        Err(error) => {
            session.call_pin.clear();
            if matches!(error, LogError::Full) {
                qm.want_log_space();
                return Err(Reason::RESOURCE_PROBLEM);
            }
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
    };
    places.into_iter().for_each(Reservation::used);
    let pending = Pending {
        qm,
        pin: &session.call_pin,
        end,
        effect: Some(Effect::Commit(uow)),
    };
    pending.done().await
}

/// Puts in the application's unit of work.
pub(crate) async fn in_unit(session: &SessionInner, mut parcel: Parcel) -> Result<(), Reason> {
    let qm = &session.qm;
    let mut patience = Patience::new();
    loop {
        if parcel.persistent() {
            qm.log.room().await;
        }
        let place = Reservation::of(&parcel.queue)?;
        let error = {
            let mut state = session.lock();
            session.check_unit(&mut state)?;
            let uow = session.uow(&mut state);
            if !parcel.persistent() {
                let (queue, message) = parcel.into_message(Lsn(0));
                if planted(Bug::VisibleEarly) {
                    drop(state);
                    drop(place);
                    deliver(qm, &queue, &message, false);
                    return Ok(());
                }
                uow.ops.push(Op::Put { queue, message });
                place.used();
                return Ok(());
            }
            let before = qm.log.appended();
            session.uow_pin.set(before);
            match append_put(qm, Class::Ordinary, uow.id, &parcel) {
                Ok(appended) => {
                    uow.note(appended.start);
                    qm.note_progress(appended.end);
                    let (queue, message) = parcel.into_message(appended.start);
                    uow.ops.push(Op::Put { queue, message });
                    place.used();
                    return Ok(());
                }
                Err(error) => {
                    if !uow.logged {
                        session.uow_pin.clear();
                    }
                    error
                }
            }
        };
        drop(place);
        patience.wait(qm, error).await?;
        parcel.seq = qm.next_seq();
    }
}
