//! MQGET: a message from a queue, destructively or by browsing.
//!
//! Invariants:
//! * A message is held (out of everybody's sight) before anything is done about it, and goes back
//!   unless the get goes through: that is what its [`Lease`] does when it is dropped.
//! * A get that waits is a consumer with credit for one message. What it was given belongs to the
//!   waiting call; should the call be dropped, or given up, it goes back.
//! * Past its wait a get is seen through: whoever wants it to end ends its wait
//!   ([`Session::quiesce`], [`Session::give_up_waits`]) and awaits what it says.
//! * A persistent message got outside syncpoint is delivered after its get record is forced.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use posthaste_env::sync::atomic::Ordering;
use posthaste_env::{Nanos, Sleep, Timer};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Reason};

use super::property_control::{self, Shown};
use super::{Done, Got, Verb, conversion, mde};
use crate::catalogue::Alias;
use crate::consume::held::Held;
use crate::consume::lease::{Acceptance, Lease};
use crate::consume::selection::{Selection, token_of};
use crate::consume::waiter::{Service, WaitOutcome, Waiter, Wakes};
use crate::expiry;
use crate::group::{GroupGet, Logical};
use crate::handles::Target;
use crate::manager::Inner;
use crate::message::{Message, tenths_left};
use crate::meter::Count;
use crate::origin::Origin;
use crate::plant::{Bug, planted};
use crate::queue::judged::Judged;
use crate::queue::marks::{Marking, lapse_of};
use crate::queue::reading::{Readings, Unread};
use crate::queue::{Cursor, Expired, Found, Queue, QueueState};
use crate::report;
use crate::session::{Session, SessionInner, SessionState};

const BROWSES: i32 = MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT | MQGMO_BROWSE_MSG_UNDER_CURSOR;
const SYNCS: i32 = MQGMO_SYNCPOINT | MQGMO_NO_SYNCPOINT | MQGMO_SYNCPOINT_IF_PERSISTENT;
/// The options that are acted on. There are no segments on any queue (a put refuses them), so every message is
/// complete, and all of it is available.
const KNOWN: i32 = BROWSES
    | SYNCS
    | property_control::OPTIONS
    | MQGMO_WAIT
    | MQGMO_ACCEPT_TRUNCATED_MSG
    | MQGMO_MSG_UNDER_CURSOR
    | MQGMO_LOCK
    | MQGMO_UNLOCK
    | MQGMO_FAIL_IF_QUIESCING
    | MQGMO_CONVERT
    | MQGMO_LOGICAL_ORDER
    | MQGMO_ALL_MSGS_AVAILABLE
    | MQGMO_COMPLETE_MSG
    | MQGMO_ALL_SEGMENTS_AVAILABLE
    | Marking::OPTIONS;
/// What marks cannot be combined with.
const UNMARKABLE: i32 = MQGMO_LOCK
    | MQGMO_UNLOCK
    | MQGMO_LOGICAL_ORDER
    | MQGMO_ALL_MSGS_AVAILABLE
    | MQGMO_COMPLETE_MSG
    | MQGMO_ALL_SEGMENTS_AVAILABLE;

/// A get, as far as it does not change while it waits.
struct Request {
    queue: Arc<Queue>,
    alias: Option<Arc<Alias>>,
    /// The last change before its handle was opened.
    last_change: u32,
    owner: (u64, Hobj),
    options: i32,
    marking: Marking,
    matches: Selection,
    buffer: usize,
    /// Version of the getter's descriptor.
    version: i32,
    /// What it is shown of properties.
    shown: Shown,
}

impl Request {
    fn has(&self, option: i32) -> bool {
        self.options & option != 0
    }
    fn browses(&self) -> bool {
        self.has(BROWSES)
    }
    /// Whether this message is got in the unit of work.
    fn in_unit(&self, message: &Message) -> bool {
        self.has(MQGMO_SYNCPOINT)
            || (self.has(MQGMO_SYNCPOINT_IF_PERSISTENT) && message.persistent())
    }
    /// How this get waits.
    fn waiter(&self, logical: &Logical, seed: u64) -> Arc<Waiter> {
        let service = if self.browses() || logical.active() {
            Service::Notify
        } else {
            Service::HandOver {
                direct: !self.has(MQGMO_SYNCPOINT),
            }
        };
        // In logical order any message may be what was missing.
        let wanted = match logical.active() {
            true => Selection::default(),
            false => self.matches.clone(),
        };
        let quiesces = self.has(MQGMO_FAIL_IF_QUIESCING);
        Waiter::new((wanted, seed), service, quiesces, self.alias.clone(), 1)
    }
    fn fits(&self, message: &Message) -> bool {
        // Under the queue's lock headers are read, or made, only where it depends on them.
        self.has(MQGMO_ACCEPT_TRUNCATED_MSG)
            || !self.shown.lengthens(message)
                && message.data.len() + mde::length(self.version, &message.md) <= self.buffer
            || self.length(message) <= self.buffer
    }
    /// The warning with a message that was left on the queue and is longer than the buffer.
    fn truncated(&self) -> Reason {
        match self.browses() && self.has(MQGMO_ACCEPT_TRUNCATED_MSG) {
            true => Reason::TRUNCATED_MSG_ACCEPTED,
            false => Reason::TRUNCATED_MSG_FAILED,
        }
    }
    /// Bytes that this get delivers of a message, if its buffer holds them.
    fn length(&self, message: &Message) -> usize {
        let shown = self.shown.of(message);
        let data = &shown.as_ref().unwrap_or(message).data;
        data.len() + mde::length(self.version, &message.md)
    }
}

pub(super) fn check_options(md: &Md, gmo: &Gmo, open: i32) -> Result<(), Reason> {
    let options = gmo.options;
    let browses = (options & BROWSES).count_ones();
    let under = options & MQGMO_MSG_UNDER_CURSOR != 0;
    if options & !KNOWN != 0
        || (options & SYNCS).count_ones() > 1
        || browses > 1
        || (browses == 1 && under)
        || (options & property_control::OPTIONS).count_ones() > 1
        || (browses == 1 && options & (MQGMO_SYNCPOINT | MQGMO_SYNCPOINT_IF_PERSISTENT) != 0)
        || (options & MQGMO_LOCK != 0 && browses == 0)
    {
        return Err(Reason::OPTIONS_ERROR);
    }
    check_marks(options, browses, open)?;
    let handle = gmo.version >= MQGMO_VERSION_4 && gmo.msg_handle != MQHM_NONE;
    if handle || options & MQGMO_PROPERTIES_IN_HANDLE != 0 {
        // There are no message handles, so this is none.
        return Err(Reason::HMSG_ERROR);
    }
    if options & MQGMO_UNLOCK != 0 {
        let alone = MQGMO_UNLOCK | MQGMO_NO_SYNCPOINT | MQGMO_FAIL_IF_QUIESCING;
        if options & !alone != 0 {
            return Err(Reason::OPTIONS_ERROR);
        }
    }
    if gmo.wait_interval < MQWI_UNLIMITED {
        return Err(Reason::WAIT_INTERVAL_ERROR);
    }
    let all = MQMO_MATCH_MSG_ID
        | MQMO_MATCH_CORREL_ID
        | MQMO_MATCH_GROUP_ID
        | MQMO_MATCH_MSG_SEQ_NUMBER
        | MQMO_MATCH_OFFSET
        | MQMO_MATCH_MSG_TOKEN;
    if gmo.version >= MQGMO_VERSION_2 && gmo.match_options & !all != 0 {
        return Err(Reason::MATCH_OPTIONS_ERROR);
    }
    check_versions(md, gmo)?;
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    if (browses == 1 || under) && open & MQOO_BROWSE == 0 {
        return Err(Reason::NOT_OPEN_FOR_BROWSE);
    }
    if browses == 0 && options & MQGMO_UNLOCK == 0 && open & input == 0 {
        return Err(Reason::NOT_OPEN_FOR_INPUT);
    }
    Ok(())
}

/// Marks are made by browses; those for all by handles that were opened for that (manual: "MQGMO - Options").
fn check_marks(options: i32, browses: u32, open: i32) -> Result<(), Reason> {
    let marks = options & Marking::OPTIONS;
    let has = |both: i32| marks & both == both;
    if marks != 0 && (browses == 0 || options & UNMARKABLE != 0)
        || marks & Marking::OF_ALL != 0 && open & MQOO_CO_OP == 0
        || has(MQGMO_MARK_BROWSE_HANDLE | MQGMO_UNMARK_BROWSE_HANDLE)
        || has(MQGMO_MARK_BROWSE_CO_OP | MQGMO_UNMARK_BROWSE_CO_OP)
    {
        return Err(Reason::OPTIONS_ERROR);
    }
    Ok(())
}

/// Groups and segments need the fields of version 2.
fn check_versions(md: &Md, gmo: &Gmo) -> Result<(), Reason> {
    let grouped = MQGMO_LOGICAL_ORDER
        | MQGMO_ALL_MSGS_AVAILABLE
        | MQGMO_COMPLETE_MSG
        | MQGMO_ALL_SEGMENTS_AVAILABLE;
    let of_group = MQMO_MATCH_GROUP_ID | MQMO_MATCH_MSG_SEQ_NUMBER | MQMO_MATCH_OFFSET;
    let by_options = gmo.options & grouped != 0;
    if by_options && gmo.version < MQGMO_VERSION_2 {
        return Err(Reason::WRONG_GMO_VERSION);
    }
    let by_match = gmo.version >= MQGMO_VERSION_2 && gmo.match_options & of_group != 0;
    if (by_options || by_match) && md.version < MQMD_VERSION_2 {
        return Err(Reason::WRONG_MD_VERSION);
    }
    Ok(())
}

/// What one look at the queue came to.
enum Look {
    /// A message, still listed (browse) or too long for the buffer.
    Seen(Arc<Message>, u16),
    /// A message taken off the queue for good: non-persistent, outside syncpoint.
    Taken(Arc<Message>, u16),
    /// A message held for this get.
    Held(Lease),
    Nothing,
}

/// Why a look at the queue came to nothing.
enum NoLook {
    Refused(Reason),
    /// A message has to be read first.
    Unread(Unread),
}

impl From<Reason> for NoLook {
    fn from(reason: Reason) -> Self {
        NoLook::Refused(reason)
    }
}

impl From<Unread> for NoLook {
    fn from(unread: Unread) -> Self {
        NoLook::Unread(unread)
    }
}

/// What lies beside a look at the queue.
struct LookEffects<'a> {
    /// Messages that were read for it.
    read: &'a Readings,
    /// Messages that it took off the queue, because they had expired.
    expired: Vec<Expired>,
    wakes: Wakes,
}

/// The wait of a get. What it was given and not taken goes back to the queue.
struct Wait<'a> {
    session: &'a SessionInner,
    queue: &'a Arc<Queue>,
    waiter: Arc<Waiter>,
    timer: Option<Box<Timer>>,
    /// Until a mark lapses that keeps a message from it.
    lapse: Option<Sleep>,
}

impl Wait<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<WaitOutcome> {
        let outcome = self.waiter.poll(context);
        if outcome.is_pending()
            && let Some(lapse) = &mut self.lapse
            && lapse.as_mut().poll(context).is_ready()
        {
            self.lapse = None;
            return Poll::Ready(WaitOutcome::Look);
        }
        let Some(timer) = self.timer.as_mut().filter(|_| outcome.is_pending()) else {
            return outcome;
        };
        if timer.poll(context).is_pending() {
            return Poll::Pending;
        }
        // Time is up, unless something was given at the last moment: that comes first.
        self.queue.end_wait(&self.waiter, Reason::NO_MSG_AVAILABLE);
        self.waiter.poll(context)
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.session.end_wait(self.timer.take());
        self.queue.leave(&self.waiter);
    }
}

/// The descriptor and options a get returns.
/// What a getter is told of a message.
pub(super) fn descriptor(qm: &Inner, message: &Message, count: u16) -> Md {
    let mut md = Md {
        backout_count: i32::from(count),
        ..message.md.clone()
    };
    if message.expires != 0 {
        md.expiry = tenths_left(message.expires, qm.clock.now());
    }
    md
}

fn describe(
    qm: &Inner,
    request: &Request,
    message: &Message,
    count: u16,
    md: &mut Md,
    gmo: &mut Gmo,
) {
    let version = md.version;
    *md = Md {
        version,
        ..descriptor(qm, message, count)
    };
    if request.length(message) > message.data.len() {
        mde::describe(md, qm.catalogue.qmgr().coded_char_set_id);
    }
    gmo.resolved_q_name = request.queue.name;
    gmo.msg_token = token_of(message.seq);
    gmo.returned_length = request.length(message).min(request.buffer) as i32;
    let flags = message.md.msg_flags;
    gmo.group_status = if flags & MQMF_LAST_MSG_IN_GROUP != 0 {
        b'L'
    } else if flags & MQMF_MSG_IN_GROUP != 0 {
        b'G'
    } else {
        b' '
    };
    gmo.segment_status = MQSS_NOT_A_SEGMENT;
    gmo.segmentation = if flags & MQMF_SEGMENTATION_ALLOWED != 0 {
        MQSEG_ALLOWED
    } else {
        MQSEG_INHIBITED
    };
}

fn deliver_data(request: &Request, message: &Message, truncated: Reason) -> Done<Got> {
    let length = request.length(message);
    Done {
        value: Got {
            data: match length == message.data.len() {
                true => message.data.up_to(request.buffer),
                false => mde::in_front(&message.md, &message.data, request.buffer),
            },
            length,
        },
        warning: match length > request.buffer {
            true => truncated,
            false => Reason::NONE,
        },
    }
}

/// What a get delivers, in the form that the application asks for if that is to be and can be.
fn deliver(
    qm: &Inner,
    request: &Request,
    (message, count): (&Message, u16),
    truncated: Reason,
    md: &mut Md,
    gmo: &mut Gmo,
) -> Done<Got> {
    let shown = request.shown.of(message);
    let message = shown.as_ref().unwrap_or(message);
    let wanted = conversion::representation(md);
    let mut done = deliver_data(request, message, truncated);
    describe(qm, request, message, count, md, gmo);
    if request.has(MQGMO_CONVERT) && done.warning != Reason::TRUNCATED_MSG_FAILED {
        let extended;
        let whole = match (
            done.value.length == message.data.len(),
            message.data.in_one_piece(),
        ) {
            (true, Some(whole)) => whole,
            (own, _) => {
                extended = match own {
                    true => message.data.whole(),
                    false => mde::in_front(&message.md, &message.data, usize::MAX),
                };
                &extended
            }
        };
        let buffer = conversion::Buffer {
            length: request.buffer,
            accepts_less: request.has(MQGMO_ACCEPT_TRUNCATED_MSG),
        };
        let q_mgr = qm.catalogue.qmgr().coded_char_set_id;
        conversion::convert(whole, wanted, &buffer, q_mgr, md, &mut done);
        gmo.returned_length = i32::try_from(done.value.data.len()).unwrap_or(i32::MAX);
    }
    done
}

impl SessionInner {
    /// Looks at the queue once.
    fn look(
        &self,
        request: &Request,
        state: &mut QueueState,
        logical: &mut Logical,
        cursor: &mut Option<Cursor>,
        beside: &mut LookEffects<'_>,
    ) -> Result<Look, NoLook> {
        let marking = &request.marking;
        let now = match marking.concerned() {
            true => self.qm.env.clock.monotonic(),
            false => 0,
        };
        state.lapse_marks(now);
        let under = MQGMO_MSG_UNDER_CURSOR | MQGMO_BROWSE_MSG_UNDER_CURSOR;
        let found = if request.has(under) {
            Some(self.under_cursor(request, state, cursor, beside)?)
        } else {
            self.search(request, state, logical, cursor, beside)?
        };
        let wakes = &mut beside.wakes;
        let Some(Found { slot, message }) = found else {
            if request.browses() {
                state.browse_unlock(request.owner, wakes);
            }
            return Ok(Look::Nothing);
        };
        let count = state.index.slot(slot).backout_count;
        if request.browses() {
            *cursor = Some(state.cursor(slot));
            if state.is_marked_by_another(slot, marking) {
                return Err(Reason::MSG_MARKED_BROWSE_CO_OP.into());
            }
            if request.fits(&message) {
                if marking.marks() {
                    state.mark(slot, marking, self.mark_lapses(now));
                }
                state.unmark(slot, marking, wakes);
                if request.has(MQGMO_LOCK) {
                    state.browse_lock(slot, request.owner, wakes);
                } else {
                    state.browse_unlock(request.owner, wakes);
                }
            }
            return Ok(Look::Seen(message, count));
        }
        if !request.fits(&message) {
            return Ok(Look::Seen(message, count));
        }
        state.browse_forget(slot);
        state.index.hold(slot);
        if !message.persistent() && !request.in_unit(&message) {
            state.destroy(slot, true);
            return Ok(Look::Taken(message, count));
        }
        let held = Held {
            slot: Some(slot),
            message,
            backout_count: count,
        };
        Ok(Look::Held(Lease::new(&request.queue, held)))
    }

    fn under_cursor(
        &self,
        request: &Request,
        state: &mut QueueState,
        cursor: &Option<Cursor>,
        beside: &mut LookEffects<'_>,
    ) -> Result<Found, NoLook> {
        let cursor = cursor.as_ref().ok_or(Reason::NO_MSG_UNDER_CURSOR)?;
        let there = state.index.holds(cursor.slot, cursor.seq())
            && state.index.slot(cursor.slot).listed()
            && !state.locked_for(cursor.slot, request.owner)
            && !state.is_passed_over(cursor.slot, &request.marking);
        if !there {
            return Err(Reason::NO_MSG_UNDER_CURSOR.into());
        }
        let message = state.message(cursor.slot, beside.read)?;
        if message.expired(self.qm.clock.now()) {
            state.discard_expired(cursor.slot, message, &mut beside.expired);
            return Err(Reason::NO_MSG_UNDER_CURSOR.into());
        }
        Ok(Found {
            slot: cursor.slot,
            message,
        })
    }

    fn search(
        &self,
        request: &Request,
        state: &mut QueueState,
        logical: &mut Logical,
        cursor: &Option<Cursor>,
        beside: &mut LookEffects<'_>,
    ) -> Result<Option<Found>, NoLook> {
        let start = state.past_marked(logical.start(*cursor), &request.marking);
        let (owner, now) = (request.owner, self.qm.clock.now());
        let matches = logical.matches(&request.matches);
        let LookEffects { read, expired, .. } = beside;
        let may = |state: &QueueState, slot, keys: &_| {
            !state.is_passed_over(slot, &request.marking)
                && logical.may_accept(state, keys, owner, now)
        };
        let found = state.find(&matches, start, owner, now, (read, expired), may)?;
        if let Some(found) = &found {
            logical.check(&found.message, &request.matches)?;
        }
        Ok(found)
    }

    /// When a mark for all lapses that is made now.
    pub(super) fn mark_lapses(&self, now: Nanos) -> Option<Nanos> {
        let interval = self.qm.catalogue.qmgr().mark_interval_ms?;
        Some(lapse_of(now, interval * 1_000_000))
    }

    fn read_request(
        &self,
        hobj: Hobj,
        md: &Md,
        gmo: &Gmo,
        buffer: usize,
    ) -> Result<(Request, Option<Cursor>, GroupGet), Reason> {
        let mut state = self.lock();
        let handle = state.handles.get_single(hobj, Reason::NOT_OPEN_FOR_INPUT)?;
        handle.unchanged(&self.qm.catalogue.changes)?;
        check_options(md, gmo, handle.options)?;
        let Target::Queue { queue, alias, .. } = &handle.target else {
            return Err(Reason::NOT_OPEN_FOR_INPUT);
        };
        let request = Request {
            queue: queue.clone(),
            alias: alias.clone(),
            last_change: handle.last_change,
            owner: (self.id, hobj),
            options: gmo.options,
            marking: Marking::of((self.id, hobj), gmo.options, handle.options),
            matches: Selection::of(md, gmo).narrowed(handle.selecting.as_ref()),
            buffer,
            version: md.version,
            shown: Shown::to(handle, gmo.options),
        };
        Ok((
            request,
            handle.cursor(gmo.options)?,
            handle.group_get.clone(),
        ))
    }

    /// Looks at the queue once. If there is nothing and the get waits, its waiter is listed.
    fn look_or_wait<'a>(
        &'a self,
        request: &'a Request,
        logical: &mut Logical,
        cursor: &mut Option<Cursor>,
        wait: &mut Option<Wait<'a>>,
        read: &Readings,
    ) -> Result<Look, NoLook> {
        let (expired, wakes) = (Vec::new(), Wakes::default());
        let mut beside = LookEffects {
            read,
            expired,
            wakes,
        };
        let looked = {
            let mut state = request.queue.lock();
            let alias = request.alias.as_ref();
            request.queue.unchanged(alias, request.last_change)?;
            state.gettable(alias)?;
            let looked = self.look(request, &mut state, logical, cursor, &mut beside);
            if matches!(looked, Ok(Look::Nothing)) && request.has(MQGMO_WAIT) {
                let wait = wait.get_or_insert_with(|| self.wait(request, logical));
                state.waiters.list(&wait.waiter);
                let clock = &self.qm.env.clock;
                let lapse = state.next_lapse(&request.marking);
                wait.lapse = lapse.map(|at| clock.sleep_until(at));
            }
            looked
        };
        beside.wakes.wake();
        expiry::expired(&self.qm, &request.queue, beside.expired);
        looked
    }

    fn wait<'a>(&'a self, request: &'a Request, logical: &Logical) -> Wait<'a> {
        Wait {
            session: self,
            queue: &request.queue,
            waiter: request.waiter(logical, self.qm.home.tag_seed),
            timer: None,
            lapse: None,
        }
    }

    /// What a get knows of the messages that gets by its handle have judged before, with the same selection.
    fn readings(&self, request: &Request, logical: &Logical) -> Readings {
        if request.matches.selector.is_none() || request.browses() || logical.active() {
            return Readings::default();
        }
        let mut state = self.lock();
        let known = match state.handles.get(request.owner.1) {
            Ok(handle) => handle.judged.take(),
            Err(_) => None,
        };
        let same = known.filter(|known| known.0 == request.matches);
        let judged = same.map_or_else(Judged::default, |known| known.1);
        Readings::remembering(Box::new(Cell::new(judged)))
    }

    /// Looks and waits until there is a message or a reason why there is none.
    // Not an `async fn`: that has room for what it is given, and again for what it makes of it.
    #[allow(clippy::manual_async_fn)]
    fn obtain(
        &self,
        request: &Request,
        logical: &mut Logical,
        cursor: &mut Option<Cursor>,
        until: Option<Nanos>,
    ) -> impl Future<Output = Result<Look, Reason>> {
        async move {
            let mut read = self.readings(request, logical);
            let obtained = self
                .obtain_with(request, logical, cursor, until, &mut read)
                .await;
            if let Some(judged) = read.take_judged()
                && let Ok(handle) = self.lock().handles.get(request.owner.1)
            {
                handle.judged = Some(Box::new((request.matches.clone(), judged.get())));
            }
            obtained
        }
    }

    // Not an `async fn`, as above.
    #[allow(clippy::manual_async_fn)]
    fn obtain_with(
        &self,
        request: &Request,
        logical: &mut Logical,
        cursor: &mut Option<Cursor>,
        until: Option<Nanos>,
        read: &mut Readings,
    ) -> impl Future<Output = Result<Look, Reason>> {
        async move {
            let mut waits = None;
            loop {
                let unread = match self.look_or_wait(request, logical, cursor, &mut waits, read) {
                    Ok(Look::Nothing) => None,
                    Ok(found) => return Ok(found),
                    Err(NoLook::Refused(reason)) => return Err(reason),
                    Err(NoLook::Unread(unread)) => Some(unread),
                };
                if let Some(unread) = unread {
                    // Rare, so it takes its room only when it happens.
                    let reading = Box::pin(request.queue.have_read(unread, read));
                    let failed = |error| self.qm.read_failed(&request.queue, &error);
                    reading.await.map_err(failed)?;
                    continue;
                }
                read.let_go();
                let Some(wait) = &mut waits else {
                    return Ok(Look::Nothing);
                };
                self.prepare_wait(request, wait, until)?;
                match poll_fn(|context| wait.poll(context)).await {
                    WaitOutcome::Given(held) => {
                        let lease = Lease::new(&request.queue, held);
                        if self.given_up() {
                            return Err(Reason::CONNECTION_STOPPING);
                        }
                        if let Some(look) = self.receive(request, lease) {
                            return Ok(look);
                        }
                        wait.waiter.add_credit(1);
                    }
                    WaitOutcome::Look => {}
                    WaitOutcome::Ended(reason) => return Err(reason),
                }
            }
        }
    }

    /// Before a get begins to wait, and each time that it goes on with it.
    fn prepare_wait(
        &self,
        request: &Request,
        wait: &mut Wait<'_>,
        until: Option<Nanos>,
    ) -> Result<(), Reason> {
        let qm = &self.qm;
        qm.lifecycle.running()?;
        if request.has(MQGMO_FAIL_IF_QUIESCING) && qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        self.begin_wait(&request.queue, &wait.waiter)?;
        if wait.timer.is_none() {
            wait.timer = until.map(|at| self.timer(at));
        }
        qm.home.counters.one(Count::Waits);
        Ok(())
    }

    /// What a waiter was given, or `None` if it had expired by now. A message that is too long for
    /// the buffer goes back to the queue.
    fn receive(&self, request: &Request, mut lease: Lease) -> Option<Look> {
        let message = lease.message().clone();
        let Some(slot) = lease.slot() else {
            if !request.fits(&message) {
                return Some(Look::Seen(message, 0));
            }
            lease.keep();
            return Some(Look::Taken(message, 0));
        };
        if message.expired(self.qm.clock.now()) {
            lease.keep();
            let expired = request.queue.lock().expire(slot, message);
            expiry::expired(&self.qm, &request.queue, vec![expired]);
            return None;
        }
        match request.fits(&message) {
            true => Some(Look::Held(lease)),
            false => Some(Look::Seen(message, lease.backout_count())),
        }
    }

    fn unlock(&self, request: &Request) -> Verb<Got> {
        let mut wakes = Wakes::default();
        let unlocked = request
            .queue
            .lock()
            .browse_unlock(request.owner, &mut wakes);
        wakes.wake();
        Ok(Done {
            value: Got {
                data: Bytes::new(),
                length: 0,
            },
            warning: if unlocked {
                Reason::NONE
            } else {
                Reason::NO_MSG_LOCKED
            },
        })
    }

    /// What a delivered message leaves behind at its handle; gives a warning about its group.
    fn move_on(
        &self,
        hobj: Hobj,
        request: &Request,
        message: &Arc<Message>,
        delivered: usize,
        cursor: Option<Cursor>,
        logical: &mut Logical,
    ) -> Result<Reason, Reason> {
        let mut state = self.lock();
        state.counts.gets += 1;
        state.counts.got_bytes += delivered as u64;
        let SessionState { handles, unit, .. } = &mut *state;
        let handle = handles.get(hobj)?;
        if request.browses() {
            handle.set_cursor(cursor, request.options);
        }
        let mut group = handle.group_get.clone();
        let warning = logical.advance(message, cursor, &mut group);
        if request.browses() {
            handle.group_get = group;
            return Ok(warning);
        }
        if handle.options & MQOO_SAVE_ALL_CONTEXT != 0 {
            handle.saved_context = Some(Box::new(message.md.clone()));
        }
        if !request.has(MQGMO_MSG_UNDER_CURSOR) {
            let in_unit = request.in_unit(message);
            let unit = unit.as_ref().filter(|_| in_unit);
            handles.has_removed(hobj, group.removing, unit);
        }
        Ok(warning)
    }

    async fn get(&self, hobj: Hobj, md: &mut Md, gmo: &mut Gmo, buffer: usize) -> Verb<Got> {
        self.settled().await?;
        let qm = &self.qm;
        let (request, mut cursor, group) = self.read_request(hobj, md, gmo, buffer)?;
        if request.has(MQGMO_UNLOCK) {
            return self.unlock(&request);
        }
        if request.has(MQGMO_FAIL_IF_QUIESCING) && qm.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        if request.has(MQGMO_SYNCPOINT) {
            self.check_unit(1)?;
        }
        let until = match gmo.wait_interval {
            MQWI_UNLIMITED => None,
            ms => Some(qm.env.clock.monotonic() + ms as u64 * 1_000_000),
        };
        let mut logical = Logical::of(request.options, group)?;
        if !request.has(MQGMO_BROWSE_NEXT | MQGMO_BROWSE_MSG_UNDER_CURSOR) && request.browses() {
            cursor = None;
        }
        let obtained = self.obtain(&request, &mut logical, &mut cursor, until);
        let obtained = obtained.await;
        if matches!(obtained, Err(Reason::MSG_MARKED_BROWSE_CO_OP)) {
            // The next browse goes on behind it.
            let mut state = self.lock();
            let handle = state.handles.get(hobj)?;
            handle.set_cursor(cursor, request.options);
        }
        let accepted = Reason::TRUNCATED_MSG_ACCEPTED;
        let (message, count, warning, lease) = match obtained? {
            Look::Nothing => return Err(Reason::NO_MSG_AVAILABLE),
            Look::Seen(message, count) => (message, count, request.truncated(), None),
            Look::Taken(message, count) => (message, count, accepted, None),
            Look::Held(lease) => {
                let message = lease.message().clone();
                (message, lease.backout_count(), accepted, Some(lease))
            }
        };
        if let Some(mut lease) = lease {
            let in_unit = request.in_unit(&message);
            lease.accept(self, Acceptance::of_get(in_unit)).await?;
        }
        self.note_origin(&message);
        let mut done = deliver(qm, &request, (&message, count), warning, md, gmo);
        let consumed = done.warning != Reason::TRUNCATED_MSG_FAILED;
        if consumed {
            let delivered = done.value.data.len();
            let warning =
                self.move_on(hobj, &request, &message, delivered, cursor, &mut logical)?;
            if done.warning == Reason::NONE {
                done.warning = warning;
            }
            qm.home.counters.one(Count::Gets);
            qm.home.counters.add(Count::GotBytes, delivered);
        }
        if consumed
            && !request.browses()
            && let Some(report) = report::delivery(qm, &message)
        {
            // In the getter's unit of work if the message was got there. A future of its own, so that all
            // the other gets need no room for it.
            let unit = request.in_unit(&message);
            Box::pin(super::send::send_report(self, &report, unit)).await;
        }
        Ok(done)
    }
}

impl SessionInner {
    /// The queue manager itself has got this message, or is shown it: it may want to know whose it is.
    fn note_origin(&self, message: &Message) {
        if self.publishes_for.is_some() {
            let is_delayed = message.origin == Origin::Delayed;
            self.got_delayed.store(is_delayed, Ordering::Relaxed);
        }
    }

    /// Drops a get as soon as its connection quiesces, wherever the get is: a planted bug.
    async fn dropped_at_quiesce(&self, get: impl Future<Output = Verb<Got>>) -> Verb<Got> {
        let mut get = std::pin::pin!(get);
        poll_fn(|context| match get.as_mut().poll(context) {
            Poll::Pending if self.quiescing() => Poll::Ready(Err(Reason::CONNECTION_QUIESCING)),
            other => other,
        })
        .await
    }
}

impl Session {
    /// MQGET. `buffer_length` is the length of the application's buffer in bytes.
    ///
    /// A message longer than the buffer gives a warning: 2079 with MQGMO_ACCEPT_TRUNCATED_MSG (the
    /// message is gone), else 2080 (the message stays). With MQGMO_CONVERT one that cannot be in the form that the descriptor
    /// asks for is delivered as it is, with a warning: 2110, 2111, 2112, 2115, 2116, 2119, 2120, 2190; with 2272 only its
    /// headers have another character set.
    ///
    /// # Errors
    /// 2033 no message; 2016 get inhibited; 2019, 2036, 2037, 2041 handle; 2034 no message under the
    /// cursor; 2200 marked by another handle; 2046, 2090, 2247, 2256, 2257, 2259, 2460 options; 2245 group in another unit of work; 2052 queue
    /// deleted; 2003, 2024 unit of work; 2102 log; 2202, 2203 connection; 2009, 2161, 2162 queue manager. 2241 and 2245
    /// are warnings out of logical order.
    pub async fn get(
        &self,
        hobj: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer_length: usize,
    ) -> Verb<Got> {
        let session = self.inner();
        let _call = session.enter()?;
        let get = session.get(hobj, md, gmo, buffer_length);
        if planted(Bug::DropGetPastWait) {
            return Box::pin(session.dropped_at_quiesce(get)).await;
        }
        get.await
    }
}
