//! One message on many queues: all of its copies at once, or none.
//!
//! Invariants:
//! * A copy has a place on its queue before anything is appended, and everything is appended as one record: what is put
//!   is there as a whole after a crash, or not at all.
//! * A copy that finds no place goes to the dead-letter queue instead, where it may, and counts as delivered. If that
//!   cannot be either, it makes the whole fail if it has to be delivered; otherwise nobody else hears of it.
//! * What holds for puts (`send`) holds here: places before numbers, numbers before the record, no `await` between the
//!   record and the entry in the unit of work, a full log delays.

use std::collections::BTreeSet;
use std::sync::Arc;

use posthaste_mqi::{Name, Reason};
use posthaste_recovery_log::{Appended, Class, LogError, Lsn};

use super::send::{Due, file_uncommitted, join};
use crate::delivery::{deliver, reserve_report};
use crate::manager::Inner;
use crate::message::Message;
use crate::message_data::bytes_together;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::retained::Retaining;
use crate::report::{self, Report};
use crate::routed::{Reservation, RoutedMessage, append_all};
use crate::session::SessionInner;
use crate::topics::subscription::SubId;
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;

/// A copy of a message for one queue.
pub(crate) struct Copy {
    /// Absent while it has a place.
    routed: Option<RoutedMessage>,
    /// Without it there are no others, for this reason.
    must: Option<Reason>,
    /// Without a place it goes to the dead-letter queue.
    dead_letter: bool,
    /// The subscription that it is for, if it is for one.
    subscription: Option<SubId>,
    /// It finds no place on its queue, for this reason.
    refused: Option<Reason>,
    /// The queue and the queue manager that it was sent to, if that is not the queue that it is routed to.
    sent_to: Option<(Name, Name)>,
    /// It is what is retained; as `routed`.
    retains: Option<Retaining>,
}

impl Copy {
    pub(crate) fn new(
        routed: RoutedMessage,
        subscription: SubId,
        must: Option<Reason>,
        dead_letter: bool,
    ) -> Copy {
        Copy {
            routed: Some(routed),
            must,
            dead_letter,
            subscription: Some(subscription),
            refused: None,
            sent_to: None,
            retains: None,
        }
    }

    /// One that goes to its queue or nowhere.
    pub(crate) fn of_list(routed: RoutedMessage) -> Copy {
        Copy {
            routed: Some(routed),
            must: None,
            dead_letter: false,
            subscription: None,
            refused: None,
            sent_to: None,
            retains: None,
        }
    }

    /// What is to be retained: without it there are no other copies.
    pub(crate) fn retained(routed: RoutedMessage, retains: Retaining) -> Copy {
        Copy {
            routed: Some(routed),
            must: Some(Reason::PUT_NOT_RETAINED),
            dead_letter: false,
            subscription: None,
            refused: None,
            sent_to: None,
            retains: Some(retains),
        }
    }

    /// The same, which finds no place on its queue, for this reason.
    pub(crate) fn refused(self, reason: Reason) -> Copy {
        let refused = Some(reason);
        Copy { refused, ..self }
    }

    /// The same, of which its dead-letter header says that it was sent there.
    pub(crate) fn sent_to(self, queue: Name, queue_manager: Name) -> Copy {
        let sent_to = Some((queue, queue_manager));
        Copy { sent_to, ..self }
    }

    /// A place on its queue.
    async fn reserve(&self, routed: &RoutedMessage) -> Result<Reservation, Reason> {
        if let Some(reason) = self.refused {
            return Err(reason);
        }
        if routed.message.data.len() > routed.queue.attributes().max_msg_length {
            return Err(Reason::MSG_TOO_BIG_FOR_Q);
        }
        match self.retains {
            Some(_) => Reservation::of_retained(routed).await,
            None => Reservation::of(routed).await,
        }
    }

    /// What becomes of it without a place on its queue: it has one on the dead-letter queue, or none.
    ///
    /// # Errors
    /// It has to be delivered.
    fn without_place(
        &self,
        qm: &Arc<Inner>,
        routed: &RoutedMessage,
        reason: Reason,
    ) -> Result<Option<(RoutedMessage, Reservation)>, Reason> {
        // It is the queue manager that ends, and not its queue that refuses it.
        if reason == Reason::CONNECTION_BROKEN {
            return Err(reason);
        }
        // A managed queue goes after its subscription.
        let gone = |id: SubId| qm.topics.found(&id).is_none();
        if reason == Reason::Q_DELETED && self.subscription.is_some_and(gone) {
            return Ok(None);
        }
        let to = self.sent_to.unwrap_or((routed.queue.name, Name::default()));
        let dead = self
            .dead_letter
            .then(|| dead_letter(qm, routed, to, reason));
        match (dead.flatten(), self.must) {
            (None, Some(reason)) => Err(reason),
            (dead, _) => Ok(dead),
        }
    }
}

/// A message for many queues.
pub(crate) struct Distribution {
    /// Copies that share a body stand beside each other.
    copies: Vec<Copy>,
}

/// A message that has its place.
struct Placed {
    routed: RoutedMessage,
    place: Reservation,
    seq: u64,
    /// Which copy it is; none: it is not the copy itself that has the place.
    of: Option<usize>,
    /// It is what is retained.
    retains: Option<Retaining>,
}

/// Which copies were delivered nowhere, by their places among those that were given, in order; and why.
pub(crate) type Undelivered = Vec<(usize, Reason)>;

/// All that have a place; the persistent ones first.
struct Placing {
    all: Vec<Placed>,
    undelivered: Undelivered,
}

impl Placing {
    fn persistent(&self) -> usize {
        let persistent = |placed: &Placed| placed.routed.persistent();
        self.all.partition_point(persistent)
    }

    /// Draws the numbers of the messages.
    fn number(&mut self, qm: &Inner) {
        let first = qm.next_seqs(self.all.len().max(1) as u64);
        for (placed, seq) in self.all.iter_mut().zip(first..) {
            placed.seq = seq;
        }
    }

    /// Appends the record of those that are persistent; none: there are none.
    fn append(
        &self,
        qm: &Inner,
        kept: (Class, u64),
        uow: u64,
    ) -> Option<Result<Appended, LogError>> {
        let persistent = self.all[..self.persistent()].iter();
        let mut messages: Vec<_> = persistent.map(|one| (&one.routed, one.seq)).collect();
        if messages.len() > 1 && planted(Bug::ForgetLast) {
            messages.pop();
        }
        (!messages.is_empty()).then(|| append_all(qm, kept, uow, &messages))
    }

    /// The messages, whose places are used, and which are announced where they are to be retained. `lsn`: where their record
    /// begins; `at`: where the one ends that decides about them, if it is there.
    fn into_messages(
        self,
        lsn: Lsn,
        at: Option<Lsn>,
    ) -> impl Iterator<Item = (Arc<Queue>, Arc<Message>)> {
        self.all.into_iter().map(move |placed| {
            if let Some(mut retains) = placed.retains {
                if at.is_none() {
                    // Who knows when it will be committed.
                    retains.underway = None;
                }
                // What has no record was decided when it was numbered.
                let drawn = if lsn == Lsn(0) { placed.seq } else { 0 };
                let mut queue = placed.routed.queue.lock();
                queue.announce_retained(placed.seq, retains, at.map(|at| (at, drawn)));
            }
            placed.place.used();
            let lsn = match placed.routed.persistent() {
                true => lsn,
                false => Lsn(0),
            };
            placed.routed.into_message(placed.seq, lsn)
        })
    }
}

impl Distribution {
    /// `copies`: those that share a body stand beside each other.
    pub(crate) fn new(copies: Vec<Copy>) -> Distribution {
        Distribution { copies }
    }

    /// Finds places for all, and for the reports on their arrival.
    ///
    /// # Errors
    /// That of a copy that has to be delivered and finds none.
    async fn place(&mut self, qm: &Arc<Inner>) -> Result<Placing, Reason> {
        let mut placing = Placing {
            all: Vec::with_capacity(self.copies.len()),
            undelivered: Vec::new(),
        };
        let users = self.users_of_reports(qm);
        if !users.is_empty() {
            // Rare, so it takes its room only when it happens.
            Box::pin(qm.look_all_up(&users)).await;
        }
        let mut others = Vec::new();
        for (of, copy) in self.copies.iter_mut().enumerate() {
            let Some(routed) = copy.routed.take() else {
                continue;
            };
            match copy.reserve(&routed).await {
                Ok(place) => {
                    // Those that are sent it have the arrivals.
                    let report = match copy.retains {
                        None => arrival(qm, &routed.message),
                        Some(_) => None,
                    };
                    if let Some(report) = report {
                        others.extend(reserve_report(qm, &report));
                    }
                    placing.all.push(Placed {
                        routed,
                        place,
                        seq: 0,
                        of: Some(of),
                        retains: copy.retains.take(),
                    });
                }
                Err(reason) => {
                    let dead = copy.without_place(qm, &routed, reason);
                    copy.routed = Some(routed);
                    match dead {
                        Ok(Some(dead)) => others.push(dead),
                        Ok(None) => placing.undelivered.push((of, reason)),
                        Err(reason) => {
                            self.take_back(placing);
                            return Err(reason);
                        }
                    }
                }
            }
        }
        for (routed, place) in others {
            placing.all.push(Placed {
                routed,
                place,
                seq: 0,
                of: None,
                retains: None,
            });
        }
        // Stable: those that share a body stay beside each other.
        placing
            .all
            .sort_by_key(|placed| !placed.routed.persistent());
        Ok(placing)
    }

    /// The users by whose authority reports on the arrival of copies are put.
    fn users_of_reports(&self, qm: &Inner) -> BTreeSet<String> {
        let copies = self.copies.iter().filter(|copy| copy.retains.is_none());
        let messages = copies.filter_map(|copy| Some(&copy.routed.as_ref()?.message));
        let reports = messages.filter_map(|message| arrival(qm, message));
        reports
            .map(|report| report.md.user_identifier.text().into_owned())
            .collect()
    }

    /// Gives up places that have not been used.
    fn take_back(&mut self, placing: Placing) {
        for placed in placing.all {
            if let Some(of) = placed.of {
                let copy = &mut self.copies[of];
                copy.retains = placed.retains;
                copy.routed = Some(placed.routed);
            }
        }
    }

    pub(crate) fn persistent(&self) -> bool {
        let mut all = self.copies.iter().filter_map(|copy| copy.routed.as_ref());
        all.any(RoutedMessage::persistent)
    }
}

/// The report on the arrival of a copy.
fn arrival(qm: &Inner, message: &Message) -> Option<Report> {
    report::arrival(qm, (&message.md, message.origin), &message.data)
}

/// A place on the dead-letter queue, for a copy that finds none on its own.
fn dead_letter(
    qm: &Arc<Inner>,
    routed: &RoutedMessage,
    to: (Name, Name),
    reason: Reason,
) -> Option<(RoutedMessage, Reservation)> {
    let undelivered = Report {
        md: routed.message.md.clone(),
        data: routed.message.data.clone(),
        origin: routed.message.origin,
        to,
    };
    let dead = undelivered.dead_letter(qm, reason).ok()?;
    let place = Reservation::at_once(&dead).ok()?;
    Some((dead, place))
}

/// Puts outside a unit of work. Returns when all of it is on its queues, forced if something of it is persistent.
pub(crate) async fn alone(
    session: &SessionInner,
    distribution: Distribution,
) -> Result<Undelivered, Reason> {
    session.settled().await?;
    for_session(&session.qm, session.id, distribution).await
}

/// The same for a connection of which nothing is on its way; 0: for the queue manager.
pub(crate) async fn for_session(
    qm: &Arc<Inner>,
    session: u64,
    mut distribution: Distribution,
) -> Result<Undelivered, Reason> {
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        if distribution.persistent() {
            qm.log.room().await;
        }
        let mut placing = distribution.place(qm).await?;
        placing.number(qm);
        // Where the numbers have run out the queue manager has stopped, and the next run will use these.
        qm.lifecycle.running()?;
        let pin = qm.units.hold(&qm.log, session);
        let Some(appended) = placing.append(qm, (Class::Ordinary, 0), 0) else {
            drop(pin);
            let undelivered = std::mem::take(&mut placing.undelivered);
            let at = Some(qm.log.appended());
            let superseded = qm.superseded_before();
            for (queue, message) in placing.into_messages(Lsn(0), at) {
                deliver(qm, &queue, &message, true);
            }
            if qm.superseded_before() != superseded {
                // Rare, so it takes its room only when it happens.
                Box::pin(qm.superseded_since(superseded)).await?;
            }
            return Ok(undelivered);
        };
        match appended {
            Ok(appended) => {
                let undelivered = std::mem::take(&mut placing.undelivered);
                let end = Some(appended.end);
                let puts = placing.into_messages(appended.start, end).collect();
                let pending = Pending {
                    qm,
                    end: appended.end,
                    effect: Some(Effect::Published { puts, pin }),
                };
                pending.done().await?;
                return Ok(undelivered);
            }
            Err(error) => {
                drop(pin);
                distribution.take_back(placing);
                log_space_wait.wait(qm, error).await?;
            }
        }
    }
}

/// Puts outside a unit of work, and does not wait for the force: the connection has a ticket for all of it.
///
/// # Errors
/// As [`alone`], and 2009 while too much is on its way.
pub(crate) async fn with_ticket(
    session: &Arc<SessionInner>,
    mut distribution: Distribution,
) -> Result<Undelivered, Reason> {
    let qm = &session.qm;
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        session.room_for_ticket().await?;
        qm.log.room().await;
        let mut placing = distribution.place(qm).await?;
        placing.number(qm);
        qm.lifecycle.running()?;
        let pin = qm.units.hold(&qm.log, session.id);
        let appended = placing.append(qm, (Class::Ordinary, 0), 0);
        // What has no record waits for those before it.
        let none = || {
            let (start, end) = (Lsn(0), qm.log.appended());
            Ok(Appended { start, end })
        };
        match appended.unwrap_or_else(none) {
            Ok(Appended { start, end }) => {
                qm.home.counters.one(Count::Tickets);
                let undelivered = std::mem::take(&mut placing.undelivered);
                let puts: Vec<_> = placing.into_messages(start, Some(end)).collect();
                let data = bytes_together(puts.iter().map(|(_, put)| &put.data));
                let bytes = puts.len() * size_of::<Message>() + data;
                session.take_out(end, Effect::Published { puts, pin }, bytes);
                return Ok(undelivered);
            }
            Err(error) => {
                drop(pin);
                distribution.take_back(placing);
                log_space_wait.wait(qm, error).await?;
            }
        }
    }
}

/// What came of it in a unit of work.
enum Entered {
    /// All of it is part of that; what has to be filed.
    Put(Undelivered, Vec<Due>),
    /// The log has no room for it at present.
    NotAppended(Placing, LogError),
}

/// Makes messages part of the session's unit of work, at places that were reserved for them.
fn enter_unit(session: &SessionInner, mut placing: Placing) -> Result<Entered, Reason> {
    let qm = &session.qm;
    placing.number(qm);
    let logs = placing.persistent() > 0;
    let mut state = session.lock();
    let (unit, mut work) = session.join(&mut state, logs)?;
    if let Err(reason) = work.check(session.most_uncommitted(), placing.all.len()) {
        unit.not_appended(&mut work, qm);
        return Err(reason);
    }
    let mut start = Lsn(0);
    let owing = work.owing(false);
    match placing.append(qm, (Class::Ordinary, owing), unit.id) {
        None => {}
        Some(Ok(appended)) => {
            work.note(appended.start, owing, qm);
            qm.log_space.note_progress(appended.end);
            start = appended.start;
        }
        Some(Err(error)) => {
            unit.not_appended(&mut work, qm);
            return Ok(Entered::NotAppended(placing, error));
        }
    }
    let undelivered = std::mem::take(&mut placing.undelivered);
    let messages = placing.into_messages(start, None);
    let due = messages.filter_map(|(queue, message)| {
        let due = join(&mut work, &queue, &message);
        due.then_some((queue, message))
    });
    Ok(Entered::Put(undelivered, due.collect()))
}

/// Puts in the application's unit of work.
///
/// # Errors
/// As [`alone`]; 2003, 2024: each message counts.
pub(crate) async fn in_unit(
    session: &SessionInner,
    mut distribution: Distribution,
) -> Result<Undelivered, Reason> {
    let qm = &session.qm;
    let mut log_space_wait = LogSpaceWait::of_put();
    loop {
        if distribution.persistent() {
            qm.log.room().await;
        }
        let placing = distribution.place(qm).await?;
        match enter_unit(session, placing)? {
            Entered::Put(undelivered, due) => {
                for (queue, message) in due {
                    file_uncommitted(session, &queue, &message).await;
                }
                return Ok(undelivered);
            }
            Entered::NotAppended(placing, error) => {
                distribution.take_back(placing);
                log_space_wait.wait(qm, session.not_appended(error)).await?;
            }
        }
    }
}
