//! One application connection: its handles, its unit of work, its place in `DISPLAY CONN`.
//!
//! Invariants:
//! * One verb at a time: a second one is refused with 2219, so nothing but that verb, consumers and
//!   maintenance touches the session's state. The end of a connection counts as one.
//! * A verb marks the session busy and then looks whether it may run; an end of the queue manager
//!   first forbids verbs and then looks who is busy. So no verb runs behind the end's back.
//! * The session has the key to its unit of work; a verb that ends it gives it up. While it is associated with a branch
//!   (XA) that is its unit of work, and others may have the key too: only the calls of XA end it. Should maintenance have backed it
//!   out (log full), the session keeps the key until the application has been told (2003).
//! * What ends the wait of a get from outside ends it here, at its waiter: the call itself goes on and
//!   answers. A get that has its message by then delivers it.
//! * A unit of work begins only in a session that has not been released: else nobody would have the key to it.
//! * When the last clone of a session goes, its unit of work is backed out, its handles are closed
//!   and its temporary dynamic queues deleted: by whoever lets it go, or by an end that has the session busy just then, which
//!   keeps it so across no wait.

use std::sync::Arc;
use std::task::Waker;

use posthaste_env::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use posthaste_env::sync::{Mutex, MutexGuard};
use posthaste_env::{Nanos, Timer};
use posthaste_mqi::{Hobj, Reason, Xid};
use posthaste_recovery_log::LogError;

use crate::application::Application;
use crate::async_puts::AsyncPuts;
use crate::consume::waiter::Waiter;
use crate::handles::{Handles, Target};
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::sessions::Sessions;
use crate::status::{
    ConnectionCounts, ConnectionStatus, HandleStatus, OpenTopicStatus, UnitStatus,
};
use crate::unit::ticket::{Outstanding, TicketHolder};
use crate::unit::worked_on::WorkedOn;
use crate::unit::{Stage, Unit, Work};

/// What changes during a connection.
#[derive(Default)]
pub(crate) struct SessionState {
    pub(crate) handles: Handles,
    /// The key to the unit of work.
    pub(crate) unit: Option<Arc<Unit>>,
    /// What a call backs out, and the end of the connection waits for if the call is given up.
    pub(crate) backing_out: Option<Arc<Unit>>,
    /// The branch that the unit of work is, if the connection is associated with one: then others decide about its end.
    pub(crate) branch: Option<Box<Xid>>,
    pub(crate) worked_on: WorkedOn,
    /// The connection has ended, and what it had was given up: nobody would end a unit of work that began now.
    released: bool,
    /// No application has the connection any more: see [`SessionInner::release_if_idle`].
    abandoned: bool,
    pub(crate) async_puts: AsyncPuts,
    pub(crate) counts: ConnectionCounts,
}

impl SessionState {
    /// The connection has ended: takes away the key to its unit of work, and lets none begin.
    pub(crate) fn release(&mut self) -> Option<Arc<Unit>> {
        self.released = true;
        self.branch = None;
        self.unit.take()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Whether the connection has ended, and what it had was given up.
    pub(crate) fn is_released(&self) -> bool {
        self.released
    }
}

const CONNECTED: u8 = 0;
const DISCONNECTED: u8 = 1;
const BROKEN: u8 = 2;

/// How far a connection lets its get wait. Only ever goes forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Waits {
    #[default]
    Allowed,
    /// Not with MQGMO_FAIL_IF_QUIESCING.
    Quiescing,
    /// Not at all: an operator has broken the connection (STOP CONN).
    Broken,
    /// Not at all: nobody waits for the answer.
    GivenUp,
}

impl Waits {
    /// Why a get may not wait.
    fn forbid(self, fail_if_quiescing: bool) -> Option<Reason> {
        match self {
            Waits::Allowed => None,
            Waits::Quiescing => fail_if_quiescing.then_some(Reason::CONNECTION_QUIESCING),
            Waits::Broken => Some(Reason::CONNECTION_BROKEN),
            Waits::GivenUp => Some(Reason::CONNECTION_STOPPING),
        }
    }
}

/// One who waits for messages of a queue.
type Standing = (Arc<Queue>, Arc<Waiter>);

/// Who waits on behalf of the connection, and whether anybody may.
#[derive(Default)]
struct Waiting {
    waits: Waits,
    /// The get that is running.
    get: Option<Standing>,
    /// For gets that wait no longer than so long, when none waits.
    timer: Option<Box<Timer>>,
    /// By the handles that they were made of.
    consumers: Vec<(Hobj, Standing)>,
    /// Until when a get finds its wait called off that does not wait yet.
    called_off_until: Option<Nanos>,
    /// Whoever wants to know that an operator has broken the connection.
    when_stopped: Option<Waker>,
}

/// How long a call that calls a wait off is remembered, in nanoseconds: the MQGET that is meant may come later by another
/// socket, or be reading from a disk.
const CALLED_OFF: Nanos = 1_000_000_000;

/// A connection as the queue manager sees it.
pub(crate) struct SessionInner {
    pub(crate) qm: Arc<Inner>,
    /// Where it is found.
    pub(crate) connections: Arc<Sessions<SessionInner>>,
    pub(crate) id: u64,
    pub(crate) who: Arc<Application>,
    /// Whether its user's authorities are checked.
    pub(crate) is_checked: bool,
    /// Of a connection of the queue manager itself: for which one it publishes, by its number in this run.
    pub(crate) publishes_for: Option<AtomicU64>,
    /// A put in its unit of work was refused because it would not fit into an empty log.
    pub(crate) never_fits: AtomicBool,
    /// What the queue manager itself has got last was put by it, for later (see `delayed`).
    pub(crate) got_delayed: AtomicBool,
    busy: AtomicBool,
    life: AtomicU8,
    pub(crate) state: Mutex<SessionState>,
    waiting: Mutex<Waiting>,
    /// Deliveries of consumers that are being accepted.
    accepting: AtomicUsize,
    pub(crate) outstanding: Outstanding,
}

impl TicketHolder for SessionInner {
    fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }
}

/// A connection. Clones are the same connection.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Owned>,
}

/// Backs out and closes when the last clone goes.
pub(crate) struct Owned(pub(crate) Arc<SessionInner>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        // Nobody can be in a verb any more: where the session is busy an end has it, which releases it now, or looks for this.
        if let Some(_call) = self.0.occupy() {
            self.0.release();
        }
    }
}

/// Held while a verb runs.
pub(crate) struct Call<'a>(&'a AtomicBool);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Held while what a consumer has handed on is being accepted.
pub(crate) struct Accepting<'a>(&'a AtomicUsize);

impl Drop for Accepting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SessionInner {
    pub(crate) fn new(
        qm: Arc<Inner>,
        connections: &Arc<Sessions<SessionInner>>,
        id: u64,
        who: Arc<Application>,
        is_checked: bool,
    ) -> Self {
        SessionInner {
            qm,
            connections: Arc::clone(connections),
            id,
            who,
            is_checked,
            publishes_for: None,
            never_fits: AtomicBool::new(false),
            got_delayed: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            life: AtomicU8::new(CONNECTED),
            state: Mutex::new(SessionState::default()),
            waiting: Mutex::default(),
            accepting: AtomicUsize::new(0),
            outstanding: Outstanding::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }

    /// Begins a verb.
    pub(crate) fn enter(&self) -> Result<Call<'_>, Reason> {
        let call = self.occupy();
        // Only now: see the head of this file.
        self.connected()?;
        self.qm.lifecycle.running()?;
        call.ok_or(Reason::CALL_IN_PROGRESS)
    }

    /// Why a handle was not found outside of a verb: where the connection has ended meanwhile, that closed it.
    pub(crate) fn why_closed(&self, reason: Reason) -> Reason {
        let usable = self.connected().and_then(|()| self.qm.lifecycle.running());
        usable.err().unwrap_or(reason)
    }

    /// Marks the session busy, unless it is.
    pub(crate) fn occupy(&self) -> Option<Call<'_>> {
        let free = !self.busy.swap(true, Ordering::SeqCst);
        free.then(|| Call(&self.busy))
    }

    /// Lets a get wait, unless waits have been ended.
    ///
    /// # Errors
    /// 2202, 2203 the connection is quiescing or stopping; 2107 the wait was called off before it began.
    pub(crate) fn begin_wait(
        &self,
        queue: &Arc<Queue>,
        waiter: &Arc<Waiter>,
    ) -> Result<(), Reason> {
        let mut waiting = self.waiting.lock();
        if let Some(until) = waiting.called_off_until.take()
            && self.qm.env.clock.monotonic() < until
        {
            return Err(Reason::XWAIT_CANCELED);
        }
        match waiting.waits.forbid(waiter.fail_if_quiescing) {
            Some(reason) => Err(reason),
            None => {
                waiting.get = Some((Arc::clone(queue), Arc::clone(waiter)));
                Ok(())
            }
        }
    }

    /// The get no longer waits. Its timer is for the next one that does.
    pub(crate) fn end_wait(&self, timer: Option<Box<Timer>>) {
        let mut waiting = self.waiting.lock();
        waiting.get = None;
        if timer.is_some() {
            waiting.timer = timer;
        }
    }

    /// A timer for a get that waits until then.
    pub(crate) fn timer(&self, until: Nanos) -> Box<Timer> {
        let kept = self.waiting.lock().timer.take();
        let clock = &self.qm.env.clock;
        let mut timer = kept.unwrap_or_else(|| Box::new(Timer::new(Arc::clone(clock))));
        timer.set(Some(until));
        timer
    }

    /// Whether nobody waits for the answer of the running get.
    pub(crate) fn given_up(&self) -> bool {
        self.waiting.lock().waits == Waits::GivenUp
    }

    /// Whether the connection is quiescing, or further.
    pub(crate) fn quiescing(&self) -> bool {
        self.waiting.lock().waits != Waits::Allowed
    }

    fn end_waits(&self, waits: Waits) {
        let standing: Vec<Standing> = {
            let mut waiting = self.waiting.lock();
            if waiting.waits >= waits {
                return;
            }
            waiting.waits = waits;
            let consumers = waiting.consumers.iter().map(|(_, standing)| standing);
            waiting.get.iter().chain(consumers).cloned().collect()
        };
        for (queue, waiter) in standing {
            if let Some(reason) = waits.forbid(waiter.fail_if_quiescing) {
                queue.end_wait(&waiter, reason);
            }
        }
    }

    /// Whether a consumer may be made, or look for messages.
    ///
    /// # Errors
    /// 2009, 2018, 2202, 2203 connection; 2161, 2162 queue manager.
    pub(crate) fn may_consume(&self, fail_if_quiescing: bool) -> Result<(), Reason> {
        self.connected()?;
        self.qm.lifecycle.running()?;
        if fail_if_quiescing && self.qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let forbidden = self.waiting.lock().waits.forbid(fail_if_quiescing);
        forbidden.map_or(Ok(()), Err)
    }

    pub(crate) fn add_consumer(&self, hobj: Hobj, queue: &Arc<Queue>, waiter: &Arc<Waiter>) {
        let standing = (Arc::clone(queue), Arc::clone(waiter));
        self.waiting.lock().consumers.push((hobj, standing));
    }

    pub(crate) fn remove_consumer(&self, waiter: &Arc<Waiter>) {
        let consumers = &mut self.waiting.lock().consumers;
        consumers.retain(|(_, (_, other))| !Arc::ptr_eq(other, waiter));
    }

    /// Ends the consumers of a handle, or all of them; what they were given and have not handed on goes back.
    pub(crate) fn end_consumers(&self, of: Option<Hobj>, reason: Reason) {
        let ended: Vec<Standing> = {
            let waiting = self.waiting.lock();
            let consumers = waiting.consumers.iter();
            consumers
                .filter(|(hobj, _)| of.is_none_or(|of| of == *hobj))
                .map(|(_, standing)| standing.clone())
                .collect()
        };
        for (queue, waiter) in ended {
            queue.end_wait(&waiter, reason);
            queue.leave(&waiter);
        }
    }

    /// Whether there are consumers, or messages that they have handed on.
    pub(crate) fn consumes(&self) -> bool {
        !self.waiting.lock().consumers.is_empty()
    }

    /// Begins to accept what a consumer has handed on; the end of the connection waits for it.
    ///
    /// # Errors
    /// 2009, 2018 connection; 2009, 2162 queue manager.
    pub(crate) fn begin_accept(&self) -> Result<Accepting<'_>, Reason> {
        self.accepting.fetch_add(1, Ordering::SeqCst);
        let accepting = Accepting(&self.accepting);
        // Only now: see the head of this file.
        self.connected()?;
        self.qm.lifecycle.running()?;
        Ok(accepting)
    }

    pub(crate) fn is_accepting(&self) -> bool {
        self.accepting.load(Ordering::SeqCst) > 0
    }

    /// # Errors
    /// 2009 it was broken off, 2018 it has ended.
    fn connected(&self) -> Result<(), Reason> {
        match self.life.load(Ordering::SeqCst) {
            CONNECTED => Ok(()),
            BROKEN => Err(Reason::CONNECTION_BROKEN),
            _ => Err(Reason::HCONN_ERROR),
        }
    }

    /// The queue manager breaks the connection (immediate shutdown, STOP CONN).
    pub(crate) fn break_off(&self) {
        let _ = self
            .life
            .compare_exchange(CONNECTED, BROKEN, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether it was broken off.
    pub(crate) fn is_broken(&self) -> bool {
        self.life.load(Ordering::SeqCst) == BROKEN
    }

    /// STOP CONN: no call begins any more, and nothing waits; what runs is not held up.
    pub(crate) fn stop(&self) {
        self.break_off();
        self.end_waits(Waits::Broken);
    }

    /// What the connection had is given up: whoever has asked for it is told.
    pub(crate) fn tell_stopped(&self) {
        let when_stopped = self.waiting.lock().when_stopped.take();
        if let Some(waker) = when_stopped {
            waker.wake();
        }
    }

    /// Marks the end of the connection. One that was broken off stays so: its application is told
    /// that, not that it has no connection.
    pub(crate) fn end(&self) {
        let _ = self.life.compare_exchange(
            CONNECTED,
            DISCONNECTED,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
    }

    /// How many messages may be in the unit of work: what the queue manager moves by itself had its limit (MAXUMSGS) when it
    /// was put.
    pub(crate) fn most_uncommitted(&self) -> usize {
        match self.publishes_for {
            None => self.qm.catalogue.qmgr().max_uncommitted,
            Some(_) => usize::MAX,
        }
    }

    /// The connection whose publications these are, by its number in this run.
    pub(crate) fn publisher(&self) -> u64 {
        let other = self.publishes_for.as_ref();
        other.map_or(self.id, |other| other.load(Ordering::Relaxed))
    }

    /// The log did not take a record of its unit of work.
    pub(crate) fn not_appended(&self, error: LogError) -> LogError {
        if matches!(error, LogError::TooLong(_)) {
            self.never_fits.store(true, Ordering::Relaxed);
        }
        error
    }

    /// Whether so many more messages may join the unit of work.
    ///
    /// # Errors
    /// Those of [`Work::check`].
    pub(crate) fn check_unit(&self, more: usize) -> Result<(), Reason> {
        match &self.lock().unit {
            Some(unit) => unit.lock().check(self.most_uncommitted(), more),
            None if more > self.most_uncommitted() => Err(Reason::SYNCPOINT_LIMIT_REACHED),
            None => Ok(()),
        }
    }

    /// The unit of work, begun if there is none, for one more message; `logs`: its record is appended at once, so that
    /// the unit of work has its pin.
    ///
    /// # Errors
    /// 2018 the connection has ended meanwhile; those of [`Work::check`].
    pub(crate) fn join<'a>(
        &self,
        state: &'a mut SessionState,
        logs: bool,
    ) -> Result<(&'a Unit, MutexGuard<'a, Work>), Reason> {
        if state.released && !planted(Bug::JoinReleased) {
            return Err(Reason::HCONN_ERROR);
        }
        let unit = self.unit(state, logs);
        let mut work = unit.lock();
        work.check(self.most_uncommitted(), 1)?;
        if logs {
            unit.pin(&mut work, &self.qm);
        }
        Ok((unit, work))
    }

    /// The unit of work, begun if there is none.
    pub(crate) fn unit<'a>(&self, state: &'a mut SessionState, logs: bool) -> &'a Unit {
        let qm = &self.qm;
        state.unit.get_or_insert_with(|| {
            let beginning = (qm.next_uow(), qm.clock.now());
            qm.units.begin(self.id, beginning, logs.then_some(&qm.log))
        })
    }

    /// Begins a unit of work in place of one that the system has backed out: a doomed one, because its application does not know
    /// yet. Not of a branch, of which its transaction manager is to hear.
    pub(crate) fn replace_backed_out(&self, state: &mut SessionState) {
        let backed_out = |unit: &mut Arc<Unit>| unit.lock().stage == Stage::BackedOut;
        if state.branch.is_some() || state.unit.take_if(backed_out).is_none() {
            return;
        }
        mark(Mark::BackedOutReplaced);
        self.unit(state, false).lock().doomed = !planted(Bug::ReplaceUndoomed);
    }

    /// Whether a verb runs.
    pub(crate) fn in_call(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    pub(crate) fn status(&self) -> ConnectionStatus {
        let state = self.lock();
        let active = |unit: &&Arc<Unit>| unit.lock().stage == Stage::Active;
        let unit = state.unit.as_ref().filter(active);
        let handles = state.handles.iter().map(|handle| HandleStatus {
            object: handle.opened.name().to_owned(),
            kind: handle.opened.kind(),
            queue: handle
                .target
                .local_queue()
                .map(|queue| queue.name.text().into_owned()),
            options: handle.options,
            topic: match &handle.target {
                Target::Topic(topic) => Some(OpenTopicStatus {
                    topic: topic.string.clone(),
                    published: topic.published.messages(),
                    latest: topic.published.latest(),
                }),
                _ => None,
            },
        });
        ConnectionStatus {
            number: self.qm.numbers.of_connection(self.id),
            application: Application::clone(&self.who),
            in_call: self.in_call(),
            unit: unit.map(|unit| UnitStatus {
                id: unit.id,
                started: unit.started,
                logged: unit.lock().logged_at,
                branch: state.branch.as_deref().cloned(),
            }),
            handles: handles.collect(),
            subscriptions: state.handles.subscriptions().collect(),
            counts: state.counts,
        }
    }
}

impl Session {
    pub(crate) fn inner(&self) -> &Arc<SessionInner> {
        &self.inner.0
    }

    /// Whether an MQGET waits for a message, not for a disk.
    pub fn waits_for_message(&self) -> bool {
        self.inner().waiting.lock().get.is_some()
    }

    /// The connection is quiescing: an MQGET that waits with MQGMO_FAIL_IF_QUIESCING ends with 2202, now and from now
    /// on. One that has its message delivers it: a call of MQGET must not be dropped once it was begun, because its
    /// message may be gone from the queue.
    pub fn quiesce(&self) {
        self.inner().end_waits(Waits::Quiescing);
    }

    /// Whether the queue manager waits until the connection has disconnected, should it be quiescing.
    pub fn may_disconnect(&self) -> bool {
        self.inner().qm.lifecycle.awaits_applications()
    }

    /// Nobody waits for answers any more: an MQGET that waits ends with 2203, and what it was given and has not
    /// taken goes back to the queue.
    pub fn give_up_waits(&self) {
        self.inner().end_waits(Waits::GivenUp);
    }

    /// Has `waker` woken when an operator has broken the connection (STOP CONN) and what it had is given up.
    pub fn when_stopped(&self, waker: Waker) {
        self.inner().waiting.lock().when_stopped = Some(waker);
    }

    /// Whether the queue manager has broken the connection: each call of it ends with 2009.
    pub fn is_broken(&self) -> bool {
        self.inner().is_broken()
    }

    /// Ends the MQGET of another connection of the same application (user, name and address) that waits for a message with
    /// 2107; what it was given before is delivered. If none waits, the next one does not, for a second. Client libraries
    /// of JMS close and stop so what another thread receives from.
    pub fn cancel_wait(&self, connection: &[u8; 24]) {
        let session = self.inner();
        let qm = &session.qm;
        let mut number = [0; 8];
        number.copy_from_slice(&connection[16..]);
        let number = u64::from_be_bytes(number);
        if *connection != qm.identifier(*b"AMQC", number) {
            return;
        }
        let other = session.connections.get(qm.numbers.in_this_run(number));
        let of = |who: &Application| (who.user.clone(), who.name.clone(), who.conname.clone());
        let Some(other) = other.filter(|other| of(&other.who) == of(&session.who)) else {
            return;
        };
        let standing = {
            let mut waiting = other.waiting.lock();
            if waiting.get.is_none() {
                waiting.called_off_until = Some(qm.env.clock.monotonic() + CALLED_OFF);
            }
            waiting.get.clone()
        };
        if let Some((queue, waiter)) = standing {
            queue.end_wait(&waiter, Reason::XWAIT_CANCELED);
        }
    }

    /// The connection identifier (MQCNO.ConnectionId), which DISPLAY CONN shows as EXTCONN and CONN.
    pub fn connection_id(&self) -> [u8; 24] {
        let session = self.inner();
        let number = session.qm.numbers.of_connection(session.id);
        session.qm.identifier(*b"AMQC", number)
    }

    /// What `DISPLAY CONN` shows of this connection.
    pub fn status(&self) -> ConnectionStatus {
        self.inner().status()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every connection has one, with the two counts of its `Arc` one of mimalloc's sizes.
    #[test]
    fn a_session_is_small() {
        let size = size_of::<SessionInner>() + 2 * size_of::<usize>();
        assert!(size <= 448, "{size} bytes");
    }
}
