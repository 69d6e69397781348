//! Consumers: messages that are handed over as they come, without a call of MQGET for each.
//!
//! Asynchronous consume, subscriptions, and protocols that deliver stand on this. A consumer is made of an open handle
//! and what it selects; it is given as many messages as it has credit for, looks for them when it is polled, and is given
//! those that arrive while it waits. Each comes as a [`Delivery`], which is accepted or goes back.
//!
//! Invariants:
//! * Consumers are outside the rule of one call at a time: a connection may have several of them, and make calls.
//! * A message counts against the credit when it is handed over, not when it is accepted; what becomes of it then gives
//!   no credit back.
//! * While gets are inhibited a consumer is given nothing and waits on; it says so ([`Consumer::is_inhibited`]).
//! * A consumer ends with its handle, with its connection, and with the queue manager; messages that it was given and
//!   did not hand on go back then. A delivery that is out can be accepted until its connection ends.
//! * The end of the queue manager waits for deliveries that are being accepted, as it waits for calls. Where the end of
//!   its connection comes first, one that was to be accepted in the unit of work goes back.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, Ordering};
use posthaste_env::{Nanos, Sleep};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, MsgToken, Name, Reason};

use super::get::{check_options, descriptor};
use super::property_control::Shown;
use super::{Done, Got, conversion};
use crate::catalogue::Alias;
use crate::consume::browsed::Browsed;
use crate::consume::held::Held;
use crate::consume::lease::{Acceptance, Lease};
use crate::consume::selection::{Selection, token_of};
use crate::consume::waiter::{Service, WaitOutcome, Waiter};
use crate::expiry;
use crate::handles::Target;
use crate::message::Message;
use crate::meter::Count;
use crate::plant::{Bug, planted};
use crate::queue::judged::Judged;
use crate::queue::marks::Marking;
use crate::queue::reading::{Readings, Unread};
use crate::queue::{Cursor, Found, Queue, QueueState, Start};
use crate::report;
use crate::session::{Session, SessionInner};

/// What a consumer may ask for: whatever an MQGET may that takes or browses messages in the order of the queue, and needs
/// no buffer.
const KNOWN: i32 = BROWSES
    | MQGMO_MARK_BROWSE_HANDLE
    | MQGMO_MARK_BROWSE_CO_OP
    | MQGMO_UNMARKED_BROWSE_MSG
    | MQGMO_NO_SYNCPOINT
    | MQGMO_SYNCPOINT
    | MQGMO_SYNCPOINT_IF_PERSISTENT
    | MQGMO_WAIT
    | MQGMO_FAIL_IF_QUIESCING
    | MQGMO_NO_PROPERTIES
    | MQGMO_PROPERTIES_FORCE_MQRFH2
    | MQGMO_PROPERTIES_COMPATIBILITY;

/// What browses: the first message, and then the next ones (manual: "MQCB - Manage callback", "MQGMO_BROWSE_FIRST").
const BROWSES: i32 = MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT;

/// How a consumer browses.
struct Browsing {
    marking: Marking,
    /// Behind what it was shown last.
    cursor: Arc<Mutex<Option<Cursor>>>,
}

/// A message on its way to a consumer.
enum Handed {
    Lease(Lease),
    Browsed(Browsed),
}

/// What a look has come to: the message, and when the first mark lapses that keeps one from the consumer.
type Looked = (Option<Handed>, Option<Nanos>);

/// A consumer and what it has given out.
struct Consuming {
    session: Arc<SessionInner>,
    queue: Arc<Queue>,
    alias: Option<Arc<Alias>>,
    /// The last change before its handle was opened.
    last_change: u32,
    owner: (u64, Hobj),
    waiter: Arc<Waiter>,
    /// None: it takes messages.
    browsing: Option<Browsing>,
    /// Its last look found gets inhibited.
    inhibited: AtomicBool,
    /// What its looks have judged, of those that select by properties.
    judged: Mutex<Option<Box<Cell<Judged>>>>,
    /// What it is shown of properties.
    shown: Shown,
}

impl Drop for Consuming {
    fn drop(&mut self) {
        self.session.remove_consumer(&self.waiter);
    }
}

/// Somebody who is given messages. Dropping it gives back what it was given and has not handed on.
pub struct Consumer {
    of: Arc<Consuming>,
    looking: Option<Looking>,
    /// Until a mark lapses that keeps a message from it.
    lapse: Option<Sleep>,
}

/// A look that has to read.
type Looking = Pin<Box<dyn Future<Output = Result<Looked, Reason>> + Send>>;

impl Drop for Consumer {
    fn drop(&mut self) {
        self.of.queue.leave(&self.of.waiter);
    }
}

/// A message that was handed to a consumer, out of everybody else's sight. Dropped, it goes back to its queue as if it
/// had never left: its backout count stays.
pub struct Delivery {
    of: Arc<Consuming>,
    /// What is shown of it where that is not the message as it is.
    shown: Option<Box<Message>>,
    handed: Handed,
}

impl Handed {
    fn message(&self) -> &Arc<Message> {
        match self {
            Handed::Lease(lease) => lease.message(),
            Handed::Browsed(browsed) => &browsed.message,
        }
    }

    fn backout_count(&self) -> u16 {
        match self {
            Handed::Lease(lease) => lease.backout_count(),
            Handed::Browsed(browsed) => browsed.backout_count,
        }
    }
}

impl Browsing {
    /// Where it looks: behind what it was shown last, unless it is what is marked that it is not shown again.
    fn start(&self) -> Start {
        match *self.cursor.lock() {
            Some(cursor) if !self.marking.hides_what_it_is_shown() => Start::After(cursor),
            _ => Start::First,
        }
    }
}

impl Consuming {
    fn may_go_on(&self) -> Result<(), Reason> {
        self.session.may_consume(self.waiter.fail_if_quiescing)
    }

    /// Looks for a message on the queue; where there is none the waiter is listed.
    async fn look(self: Arc<Self>) -> Result<Looked, Reason> {
        let qm = &self.session.qm;
        let remembers = self.waiter.selection.selector.is_some() && self.browsing.is_none();
        let mut read = Readings::default();
        loop {
            if remembers {
                read.go_on_from(self.judged.lock().take().unwrap_or_default());
            }
            let mut expired = Vec::new();
            let looked = self.look_once(&read, &mut expired);
            if let Some(judged) = read.take_judged() {
                *self.judged.lock() = Some(judged);
            }
            expiry::expired(qm, &self.queue, expired);
            match looked? {
                Ok((None, lapse)) if !planted(Bug::ListedUnasked) => {
                    // What ends waits first says so and then looks who is listed: this one may have been listed between.
                    self.may_go_on()?;
                    return Ok((None, lapse));
                }
                Ok(looked) => return Ok(looked),
                Err(unread) => {
                    let done = self.queue.have_read(unread, &mut read).await;
                    done.map_err(|error| qm.read_failed(&self.queue, &error))?;
                }
            }
        }
    }

    fn look_once(
        &self,
        read: &Readings,
        expired: &mut Vec<crate::queue::Expired>,
    ) -> Result<Result<Looked, Unread>, Reason> {
        let mut state = self.queue.lock();
        let alias = self.alias.as_ref();
        self.queue.unchanged(alias, self.last_change)?;
        let gettable = state.gettable(alias);
        let inhibited = gettable == Err(Reason::GET_INHIBITED);
        self.inhibited.store(inhibited, Ordering::Relaxed);
        if inhibited {
            state.waiters.hold_back(&self.waiter);
            return Ok(Ok((None, None)));
        }
        gettable?;
        let wanted = &self.waiter.selection;
        let now = self.session.qm.clock.now();
        let ticks = match &self.browsing {
            Some(Browsing { marking, .. }) if marking.concerned() => {
                let ticks = self.session.qm.env.clock.monotonic();
                state.lapse_marks(ticks);
                ticks
            }
            _ => 0,
        };
        let start = match &self.browsing {
            Some(browsing) => state.past_marked(browsing.start(), &browsing.marking),
            None => Start::First,
        };
        let may = |state: &QueueState, slot, _: &_| {
            let marking = self.browsing.as_ref().map(|browsing| &browsing.marking);
            marking.is_none_or(|marking| {
                !state.is_passed_over(slot, marking) && !state.is_marked_by_another(slot, marking)
            })
        };
        let found = state.find(wanted, start, self.owner, now, (read, expired), may);
        let found = match found {
            Ok(found) => found,
            Err(unread) => return Ok(Err(unread)),
        };
        let Some(found) = found else {
            state.waiters.list(&self.waiter);
            let browsing = self.browsing.as_ref();
            let lapse = browsing.and_then(|it| state.next_lapse(&it.marking));
            return Ok(Ok((None, lapse)));
        };
        if !self.waiter.spend_credit() {
            return Ok(Ok((None, None)));
        }
        if let Some(browsing) = &self.browsing {
            let browsed = self.browse(&mut state, browsing, found, ticks);
            return Ok(Ok((Some(Handed::Browsed(browsed)), None)));
        }
        state.browse_forget(found.slot);
        state.index.hold(found.slot);
        let held = Held {
            slot: Some(found.slot),
            message: found.message,
            backout_count: state.index.slot(found.slot).backout_count,
        };
        let lease = Lease::new(&self.queue, held);
        Ok(Ok((Some(Handed::Lease(lease)), None)))
    }

    /// Shows a message, marked as it is to be.
    fn browse(
        &self,
        state: &mut QueueState,
        browsing: &Browsing,
        found: Found,
        now: Nanos,
    ) -> Browsed {
        let marking = browsing.marking;
        let until = self.session.mark_lapses(now);
        state.mark(found.slot, &marking, until);
        let cursor = state.cursor(found.slot);
        let before = browsing.cursor.lock().replace(cursor);
        Browsed {
            queue: Arc::clone(&self.queue),
            slot: found.slot,
            cursor,
            before,
            stands: Arc::clone(&browsing.cursor),
            backout_count: state.index.slot(found.slot).backout_count,
            message: found.message,
            marking,
            kept: false,
        }
    }

    /// Whether a message that was handed over has expired meanwhile; then it is gone, and the credit is there again. One that
    /// is only shown was there when it was found.
    fn expired(&self, handed: &mut Handed) -> bool {
        let Handed::Lease(lease) = handed else {
            return false;
        };
        let message = lease.message().clone();
        let Some(slot) = lease.slot() else {
            return false;
        };
        if !message.expired(self.session.qm.clock.now()) {
            return false;
        }
        lease.keep();
        let expired = self.queue.lock().expire(slot, message);
        expiry::expired(&self.session.qm, &self.queue, vec![expired]);
        self.waiter.add_credit(1);
        true
    }

    /// What the waiter has come to: a message, or that it is to look for one.
    fn poll_waiter(&self, context: &mut Context<'_>) -> Poll<Result<Option<Handed>, Reason>> {
        match self.waiter.poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(WaitOutcome::Ended(reason)) => Poll::Ready(Err(reason)),
            Poll::Ready(WaitOutcome::Given(held)) => {
                Poll::Ready(Ok(Some(Handed::Lease(Lease::new(&self.queue, held)))))
            }
            Poll::Ready(WaitOutcome::Look) => Poll::Ready(Ok(None)),
        }
    }
}

impl Consumer {
    /// Lets it be given this many messages more.
    pub fn credit(&self, messages: u32) {
        self.of.waiter.add_credit(messages);
    }

    /// The next message, as soon as there is one and credit for it. Without credit it is pending until
    /// [`Consumer::credit`] wakes it.
    ///
    /// # Errors
    /// 2041 the object was changed; 2052 queue deleted; 2101 queue damaged; 2019 the handle was closed; 2018, 2202, 2203
    /// connection; 2009, 2161, 2162 queue manager. The consumer has ended then.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Delivery, Reason>> {
        self.poll_handed(context).map_ok(|handed| Delivery {
            of: Arc::clone(&self.of),
            shown: self.of.shown.of(handed.message()).map(Box::new),
            handed,
        })
    }

    /// What its waiter has come to, or that a mark has lapsed.
    fn poll_waiter(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Handed>, Reason>> {
        let outcome = self.of.poll_waiter(context);
        match self.lapse.as_mut() {
            Some(lapse) if outcome.is_pending() => {
                ready!(lapse.as_mut().poll(context));
                self.lapse = None;
                Poll::Ready(Ok(None))
            }
            _ => outcome,
        }
    }

    fn poll_handed(&mut self, context: &mut Context<'_>) -> Poll<Result<Handed, Reason>> {
        let of = Arc::clone(&self.of);
        loop {
            let mut handed = None;
            if self.looking.is_none() {
                handed = ready!(self.poll_waiter(context))?;
                if handed.is_none() {
                    let may = of.may_go_on();
                    may.inspect_err(|reason| of.queue.end_wait(&of.waiter, *reason))?;
                    self.looking = Some(Box::pin(Arc::clone(&of).look()));
                }
            }
            if let Some(looking) = &mut self.looking {
                let looked = ready!(looking.as_mut().poll(context));
                self.looking = None;
                let (looked, lapse) =
                    looked.inspect_err(|reason| of.queue.end_wait(&of.waiter, *reason))?;
                let clock = &of.session.qm.env.clock;
                self.lapse = lapse.map(|at| clock.sleep_until(at));
                handed = looked;
            }
            let Some(mut handed) = handed else { continue };
            if !of.expired(&mut handed) {
                return Poll::Ready(Ok(handed));
            }
        }
    }

    /// Whether its last poll has looked and found nothing: it is not in the middle of reading a file.
    pub fn has_looked(&self) -> bool {
        self.looking.is_none()
    }

    /// Whether its last poll found that gets are inhibited, for the queue or for the alias it came by. It is given no message
    /// until a poll finds them allowed, and is woken for that.
    pub fn is_inhibited(&self) -> bool {
        self.of.inhibited.load(Ordering::Relaxed)
    }

    /// See [`Consumer::poll_next`]. Dropping the future loses nothing: what comes meanwhile comes next.
    ///
    /// # Errors
    /// Those of [`Consumer::poll_next`].
    pub async fn next(&mut self) -> Result<Delivery, Reason> {
        poll_fn(|context| self.poll_next(context)).await
    }
}

impl Delivery {
    /// The message's descriptor, with its backout count and what is left of its time.
    pub fn descriptor(&self) -> Md {
        let qm = &self.of.session.qm;
        descriptor(qm, self.shown(), self.handed.backout_count())
    }

    fn shown(&self) -> &Message {
        self.shown.as_deref().unwrap_or(self.handed.message())
    }

    /// Whether the message is persistent.
    pub fn is_persistent(&self) -> bool {
        self.handed.message().persistent()
    }

    /// The queue that it comes from.
    pub fn queue_name(&self) -> &Name {
        &self.of.queue.name
    }

    /// The message's data, whole.
    pub fn data(&self) -> Bytes {
        self.shown().data.whole()
    }

    /// The message as a get with MQGMO_CONVERT delivers it. `md`, `data`: its own; `form`: the encoding and the coded character set
    /// that are wanted; `room`: bytes, and whether of what is longer the beginning will do. The descriptor says what came of it;
    /// why it stays as it is is a warning, as of [`Session::get`].
    pub fn convert(
        &self,
        md: &mut Md,
        data: &Bytes,
        form: (i32, i32),
        (length, accepts_less): (usize, bool),
    ) -> Done<Got> {
        let mut done = Done {
            value: Got {
                data: data.slice(..data.len().min(length)),
                length: data.len(),
            },
            warning: match data.len() > length {
                true => Reason::TRUNCATED_MSG_ACCEPTED,
                false => Reason::NONE,
            },
        };
        let wanted = conversion::representation(&Md {
            encoding: form.0,
            coded_char_set_id: form.1,
            ..Md::default()
        });
        let buffer = conversion::Buffer {
            length,
            accepts_less,
        };
        let q_mgr = self.of.session.qm.catalogue.qmgr().coded_char_set_id;
        conversion::convert(data, wanted, &buffer, q_mgr, md, &mut done);
        done
    }

    /// What names the message, among all of its queue manager.
    pub fn token(&self) -> MsgToken {
        token_of(self.handed.message().seq)
    }

    /// Takes the message for good, outside a unit of work. A persistent one is gone, and cannot come back after a crash,
    /// when this returns; dropped before that, it is either gone or back on its queue.
    ///
    /// # Errors
    /// 2102 log; 2018, 2203 connection; 2009, 2162 queue manager. But for 2009 the message goes back.
    pub fn accept(self) -> impl Future<Output = Result<(), Reason>> {
        self.settle(Acceptance::ForGood)
    }

    /// Takes the message in the connection's unit of work: a commit makes it final, a backout gives it back with a
    /// backout count one higher.
    ///
    /// # Errors
    /// 2003, 2024 unit of work, and those of [`Delivery::accept`].
    pub fn accept_in_unit(self) -> impl Future<Output = Result<(), Reason>> {
        self.settle(Acceptance::InUnit)
    }

    /// As [`Delivery::accept_in_unit`], for a listener: an application that is called with the message, and ends its unit of work
    /// only then. Where the system has backed that out, the message comes in another, which can only be backed out: its MQCMIT gives
    /// 2003, as that of the first would have.
    ///
    /// # Errors
    /// 2024 unit of work; 2003 only for a branch (XA); those of [`Delivery::accept`].
    pub fn accept_for_listener(self) -> impl Future<Output = Result<(), Reason>> {
        self.settle(Acceptance::InUnitOfListener)
    }

    /// What a message that stays on its queue leaves behind: its handle's cursor is at it.
    fn has_shown(&self, cursor: Cursor) {
        let mut state = self.of.session.lock();
        state.counts.gets += 1;
        state.counts.got_bytes += self.handed.message().data.len() as u64;
        if let Ok(handle) = state.handles.get(self.of.owner.1) {
            // There is no other for consumers.
            let physical_order = MQGMO_BROWSE_NEXT;
            handle.set_cursor(Some(cursor), physical_order);
        }
    }

    /// What it leaves behind at its connection and its handle, which keeps its context if it was opened for that.
    fn leave_behind(&self) {
        let mut state = self.of.session.lock();
        state.counts.gets += 1;
        state.counts.got_bytes += self.handed.message().data.len() as u64;
        // It may have been closed meanwhile.
        if let Ok(handle) = state.handles.get(self.of.owner.1)
            && handle.options & MQOO_SAVE_ALL_CONTEXT != 0
        {
            handle.saved_context = Some(Box::new(self.handed.message().md.clone()));
        }
    }

    // Not an `async fn`: that has room for what it is given, and again for what it makes of it.
    #[allow(clippy::manual_async_fn)]
    fn settle(mut self, acceptance: Acceptance) -> impl Future<Output = Result<(), Reason>> {
        async move {
            let session = &self.of.session;
            let _accepting = session.begin_accept()?;
            let browsed = match &mut self.handed {
                Handed::Lease(lease) => {
                    lease.accept(session, acceptance).await?;
                    None
                }
                Handed::Browsed(browsed) => {
                    browsed.kept = true;
                    Some(browsed.cursor)
                }
            };
            // What goes back was not got.
            let counters = &session.qm.home.counters;
            counters.one(Count::Gets);
            counters.add(Count::GotBytes, self.handed.message().data.len());
            if let Some(cursor) = browsed {
                self.has_shown(cursor);
                return Ok(());
            }
            self.leave_behind();
            if let Some(report) = report::delivery(&session.qm, self.handed.message()) {
                // A future of its own, because it is rare.
                let in_unit = acceptance != Acceptance::ForGood;
                Box::pin(super::send::send_report(session, &report, in_unit)).await;
            }
            Ok(())
        }
    }
}

impl Session {
    /// Waits so long, for whoever gives up when a consumer has had nothing for a time.
    pub fn wait(&self, interval: Duration) -> Sleep {
        let clock = &self.inner().qm.env.clock;
        let nanos = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        clock.sleep_until(clock.monotonic().saturating_add(nanos))
    }

    /// A consumer of messages through an open handle, without credit. The descriptor and the options say what it
    /// selects, as those of MQGET do; the wait interval does not count. Its unit of work is chosen when a message is
    /// accepted: `MQGMO_SYNCPOINT` says that all are accepted in one, so that none is handed over that never was on the
    /// queue.
    ///
    /// # Errors
    /// 2019, 2037, 2041 handle; 2046 options, 2247 match options; 2259 a browse was begun in logical order; 2018, 2202, 2203 connection; 2009, 2161, 2162 queue manager.
    pub fn consumer(&self, hobj: Hobj, md: &Md, gmo: &Gmo) -> Result<Consumer, Reason> {
        if gmo.options & !KNOWN != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
        let session = self.inner();
        let quiesces = gmo.options & MQGMO_FAIL_IF_QUIESCING != 0;
        session.may_consume(quiesces)?;
        let mut state = session.lock();
        let handle = state.handles.get(hobj);
        let handle = handle.map_err(|reason| session.why_closed(reason))?;
        handle.unchanged(&session.qm.catalogue.changes)?;
        check_options(md, gmo, handle.options)?;
        let Target::Queue { queue, alias, .. } = &handle.target else {
            return Err(Reason::NOT_OPEN_FOR_INPUT);
        };
        let direct = gmo.options & MQGMO_SYNCPOINT == 0;
        let selection = Selection::of(md, gmo).narrowed(handle.selecting.as_ref());
        let selection = (selection, session.qm.home.tag_seed);
        let browses = gmo.options & BROWSES != 0;
        let stands = match gmo.options & MQGMO_BROWSE_NEXT != 0 {
            true => handle.cursor(gmo.options)?,
            false => None,
        };
        let browsing = browses.then(|| Browsing {
            marking: Marking::of((session.id, hobj), gmo.options, handle.options),
            cursor: Arc::new(Mutex::new(stands)),
        });
        let service = match browses {
            true => Service::Notify,
            false => Service::HandOver { direct },
        };
        let waiter = Waiter::lasting(selection, service, quiesces, alias.clone());
        let of = Consuming {
            session: Arc::clone(session),
            queue: Arc::clone(queue),
            alias: alias.clone(),
            last_change: handle.last_change,
            owner: (session.id, hobj),
            waiter,
            browsing,
            inhibited: AtomicBool::new(false),
            judged: Mutex::default(),
            shown: Shown::to(handle, gmo.options),
        };
        // Under the lock of the handles: one that is being closed is found by none.
        session.add_consumer(hobj, &of.queue, &of.waiter);
        let of = Arc::new(of);
        Ok(Consumer {
            of,
            looking: None,
            lapse: None,
        })
    }
}
