//! One application connection: its handles, its unit of work, its place in `DISPLAY CONN`.
//!
//! Invariants:
//! * One verb at a time: a second one is refused with 2219, so nothing but that verb and
//!   maintenance touches the session's state. The end of a connection counts as one.
//! * A verb marks the session busy and then looks whether it may run; an end of the queue manager
//!   first forbids verbs and then looks who is busy. So no verb runs behind the end's back.
//! * The session has the key to its unit of work; a verb that ends it gives it up. Should maintenance have backed it
//!   out (log full), the session keeps the key until the application has been told (2003).
//! * What ends the wait of a get from outside ends it here, at its waiter: the call itself goes on and
//!   answers. A get that has its message by then delivers it.
//! * When the last clone of a session goes, its unit of work is backed out, its handles are closed
//!   and its temporary dynamic queues deleted.

use std::sync::Arc;

use posthaste_env::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use posthaste_env::sync::{Mutex, MutexGuard};
use posthaste_mqi::{Hobj, Md, Name, Reason};

use crate::asynchronous::AsyncPuts;
use crate::catalogue::{Alias, Definition};
use crate::group::{GroupGet, GroupPut};
use crate::manager::{Inner, QueueManager};
use crate::queue::waiters::{Waiter, WaiterState, Wakes};
use crate::queue::{Cursor, Queue};
use crate::unit::effect::Effect;
use crate::unit::orphans::Orphan;
use crate::unit::{Backout, Stage, Unit, Work};

/// How an application is bound to the queue manager (`CONNOPTS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// In the queue manager's own process.
    #[default]
    Fastpath,
    /// In another process, here or elsewhere.
    Shared,
}

/// Who connects.
#[derive(Clone, Debug, Default)]
pub struct Application {
    /// Application name (`APPLTAG`).
    pub name: String,
    /// User (`USERID`).
    pub user: String,
    /// Channel it came by; empty for applications of this machine.
    pub channel: String,
    /// Where it came from (`CONNAME`); empty for applications of this machine.
    pub conname: String,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// `MQAT_` application type.
    pub appl_type: i32,
    /// How it is bound.
    pub binding: Binding,
    /// MQCNO options.
    pub options: i32,
}

/// What `DISPLAY CONN` shows.
#[derive(Clone, Debug)]
pub struct ConnectionStatus {
    /// The last 8 bytes of the connection identifier, in hexadecimal.
    pub conn: String,
    /// Who it is.
    pub application: Application,
    /// Whether a call is in progress.
    pub in_call: bool,
    /// `NONE`, `STARTED`, `ACTIVE` or `UNRESOLVED`: whether a unit of work is in progress.
    pub uow_state: &'static str,
    /// When the unit of work began, microseconds since 1970.
    pub uow_started: Option<i64>,
    /// When it wrote its first record to the log; none while it has written nothing.
    pub uow_logged: Option<i64>,
    /// Number of the unit of work.
    pub uow_id: Option<u64>,
    /// Open handles: object name and open options.
    pub handles: Vec<(String, i32)>,
}

/// What a handle is open on.
#[derive(Clone)]
pub(crate) enum Target {
    /// A local queue, perhaps by an alias.
    Queue {
        queue: Arc<Queue>,
        alias: Option<Arc<Alias>>,
    },
    /// A queue elsewhere: messages go to a transmission queue with a header.
    Remote {
        transmission: Arc<Queue>,
        alias: Option<Arc<Alias>>,
        /// The local definition of the remote queue, if there is one.
        definition: Option<Definition>,
        queue: Name,
        queue_manager: Name,
    },
    /// The queue manager.
    Qmgr,
    /// A definition open for inquiry only.
    Definition,
}

/// An open object.
pub(crate) struct Handle {
    pub(crate) target: Target,
    pub(crate) options: i32,
    /// What MQINQ and MQSET are about: the definition that was opened, before resolution.
    pub(crate) opened: Definition,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) group_put: GroupPut,
    pub(crate) group_get: GroupGet,
    /// The message context was saved from (`MQOO_SAVE_ALL_CONTEXT`).
    pub(crate) saved_context: Option<Box<Md>>,
    /// The handle created its (dynamic) queue.
    pub(crate) created_queue: bool,
}

const INDEX_BITS: u32 = 20;

/// The handles of a connection, found by number.
#[derive(Default)]
pub(crate) struct Handles {
    entries: Vec<(u32, Option<Handle>)>,
    free: Vec<u32>,
    pub(crate) open: u32,
}

impl Handles {
    /// Adds a handle; `None` when the numbers have run out (about a million handles).
    pub(crate) fn add(&mut self, handle: Handle) -> Option<Hobj> {
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.entries.len() + 1 >= 1 << INDEX_BITS => return None,
            None => {
                self.entries.push((0, None));
                self.entries.len() as u32 - 1
            }
        };
        let entry = &mut self.entries[at as usize];
        // Another generation each time, so that a closed handle is not taken for a new one.
        entry.0 = (entry.0 + 1) & 0x3FF;
        entry.1 = Some(handle);
        self.open += 1;
        Some(Hobj(((entry.0 << INDEX_BITS) | (at + 1)) as i32))
    }

    fn at(&self, hobj: Hobj) -> Option<usize> {
        let number = u32::try_from(hobj.0).ok()?;
        let at = (number & ((1 << INDEX_BITS) - 1)).checked_sub(1)? as usize;
        let entry = self.entries.get(at)?;
        (entry.0 == number >> INDEX_BITS).then_some(at)
    }

    pub(crate) fn get(&mut self, hobj: Hobj) -> Result<&mut Handle, Reason> {
        self.at(hobj)
            .and_then(|at| self.entries[at].1.as_mut())
            .ok_or(Reason::HOBJ_ERROR)
    }

    pub(crate) fn remove(&mut self, hobj: Hobj) -> Result<Handle, Reason> {
        let at = self.at(hobj).ok_or(Reason::HOBJ_ERROR)?;
        let handle = self.entries[at].1.take().ok_or(Reason::HOBJ_ERROR)?;
        self.free.push(at as u32);
        self.open -= 1;
        Ok(handle)
    }

    pub(crate) fn all(&self) -> Vec<Hobj> {
        let number = |(at, (generation, handle)): (usize, &(u32, Option<Handle>))| {
            handle
                .as_ref()
                .map(|_| Hobj(((generation << INDEX_BITS) | (at as u32 + 1)) as i32))
        };
        self.entries.iter().enumerate().filter_map(number).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Handle> {
        self.entries
            .iter()
            .filter_map(|(_, handle)| handle.as_ref())
    }
}

/// What changes during a connection.
#[derive(Default)]
pub(crate) struct SessionState {
    pub(crate) handles: Handles,
    /// The key to the unit of work.
    pub(crate) unit: Option<Arc<Unit>>,
    pub(crate) async_puts: AsyncPuts,
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
    /// Not at all: nobody waits for the answer.
    GivenUp,
}

impl Waits {
    /// Why a get may not wait.
    fn forbid(self, fail_if_quiescing: bool) -> Option<Reason> {
        match self {
            Waits::Allowed => None,
            Waits::Quiescing => fail_if_quiescing.then_some(Reason::CONNECTION_QUIESCING),
            Waits::GivenUp => Some(Reason::CONNECTION_STOPPING),
        }
    }
}

/// The wait of the get that is running, and whether there may be one.
#[derive(Default)]
struct Waiting {
    waits: Waits,
    get: Option<(Arc<Queue>, Arc<Waiter>)>,
}

/// A connection as the queue manager sees it.
pub(crate) struct SessionInner {
    pub(crate) qm: Arc<Inner>,
    pub(crate) id: u64,
    pub(crate) who: Application,
    busy: AtomicBool,
    life: AtomicU8,
    pub(crate) state: Mutex<SessionState>,
    waiting: Mutex<Waiting>,
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
        // Nobody can be in a verb any more, so a session that is busy is being released by an end.
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

impl SessionInner {
    pub(crate) fn new(qm: Arc<Inner>, id: u64, who: Application) -> Self {
        SessionInner {
            qm,
            id,
            who,
            busy: AtomicBool::new(false),
            life: AtomicU8::new(CONNECTED),
            state: Mutex::new(SessionState::default()),
            waiting: Mutex::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }

    /// Begins a verb.
    pub(crate) fn enter(&self) -> Result<Call<'_>, Reason> {
        let call = self.occupy();
        // Only now: see the head of this file.
        match self.life.load(Ordering::SeqCst) {
            CONNECTED => {}
            BROKEN => return Err(Reason::CONNECTION_BROKEN),
            _ => return Err(Reason::HCONN_ERROR),
        }
        self.qm.running()?;
        call.ok_or(Reason::CALL_IN_PROGRESS)
    }

    /// Marks the session busy, unless it is.
    pub(crate) fn occupy(&self) -> Option<Call<'_>> {
        let free = !self.busy.swap(true, Ordering::SeqCst);
        free.then(|| Call(&self.busy))
    }

    /// Lets a get wait, unless waits have been ended.
    ///
    /// # Errors
    /// 2202, 2203 the connection is quiescing or stopping.
    pub(crate) fn begin_wait(
        &self,
        queue: &Arc<Queue>,
        waiter: &Arc<Waiter>,
    ) -> Result<(), Reason> {
        let mut waiting = self.waiting.lock();
        match waiting.waits.forbid(waiter.fail_if_quiescing) {
            Some(reason) => Err(reason),
            None => {
                waiting.get = Some((Arc::clone(queue), Arc::clone(waiter)));
                Ok(())
            }
        }
    }

    /// The get no longer waits.
    pub(crate) fn end_wait(&self) {
        self.waiting.lock().get = None;
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
        let get = {
            let mut waiting = self.waiting.lock();
            if waiting.waits >= waits {
                return;
            }
            waiting.waits = waits;
            waiting.get.clone()
        };
        let Some((queue, waiter)) = get else { return };
        let Some(reason) = waits.forbid(waiter.fail_if_quiescing) else {
            return;
        };
        let mut wakes = Wakes::default();
        if waiter.finish(&mut wakes, || WaiterState::Ended(reason)) {
            queue.lock().waiters.abandoned();
        }
        wakes.wake();
    }

    /// The queue manager breaks the connection (immediate shutdown).
    pub(crate) fn break_off(&self) {
        let _ = self
            .life
            .compare_exchange(CONNECTED, BROKEN, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Marks the end of the connection. One that was broken off stays so: its application is told
    /// that, not that it has no connection.
    fn end(&self) {
        let _ = self.life.compare_exchange(
            CONNECTED,
            DISCONNECTED,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
    }

    /// Backs out, closes every handle and forgets the connection.
    pub(crate) fn release(self: &Arc<Self>) {
        self.end();
        let unit = self.lock().unit.take();
        if let Some(unit) = unit {
            match unit.begin_backout(&self.qm) {
                // The log has stopped, and the queue manager with it.
                Err(_) | Ok(Backout::Done) => {}
                Ok(Backout::Once(end)) => self.qm.orphan(Orphan {
                    end,
                    effect: Effect::Backout(unit),
                }),
                Ok(Backout::Now) => unit.undo(&self.qm),
            }
        }
        let handles = {
            let mut state = self.lock();
            let all = state.handles.all();
            all.into_iter()
                .filter_map(|hobj| state.handles.remove(hobj).ok().map(|h| (hobj, h)))
                .collect::<Vec<_>>()
        };
        let mut wakes = Wakes::default();
        for (hobj, handle) in handles {
            crate::verbs::close::release(self, hobj, &handle, &mut wakes);
        }
        wakes.wake();
        self.qm.forget_session(self.id);
    }

    /// Whether so many more messages may join the unit of work.
    ///
    /// # Errors
    /// Those of [`Work::check`].
    pub(crate) fn check_unit(&self, more: usize) -> Result<(), Reason> {
        match &self.lock().unit {
            Some(unit) => unit.lock().check(&self.qm, more),
            None if more > self.qm.catalogue.qmgr().max_uncommitted => {
                Err(Reason::SYNCPOINT_LIMIT_REACHED)
            }
            None => Ok(()),
        }
    }

    /// The unit of work, begun if there is none, for one more message; `logs`: its record is appended at once, so that
    /// the unit of work has its pin.
    ///
    /// # Errors
    /// Those of [`Work::check`].
    pub(crate) fn join<'a>(
        &self,
        state: &'a mut SessionState,
        logs: bool,
    ) -> Result<(&'a Unit, MutexGuard<'a, Work>), Reason> {
        let unit = self.unit(state, logs);
        let mut work = unit.lock();
        work.check(&self.qm, 1)?;
        if logs {
            unit.pin(&mut work, &self.qm);
        }
        Ok((unit, work))
    }

    /// The unit of work, begun if there is none.
    pub(crate) fn unit<'a>(&self, state: &'a mut SessionState, logs: bool) -> &'a Unit {
        let qm = &self.qm;
        state.unit.get_or_insert_with(|| {
            let beginning = (qm.next_uow(), qm.now());
            qm.units.begin(self.id, beginning, logs.then_some(&qm.log))
        })
    }

    /// Whether a verb runs.
    pub(crate) fn in_call(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    pub(crate) fn status(&self) -> ConnectionStatus {
        let state = self.lock();
        let active = |unit: &&Arc<Unit>| unit.lock().stage == Stage::Active;
        let unit = state.unit.as_ref().filter(active);
        ConnectionStatus {
            conn: format!("{:016X}", self.qm.connection_number(self.id)),
            application: self.who.clone(),
            in_call: self.in_call(),
            uow_state: if unit.is_some() { "ACTIVE" } else { "NONE" },
            uow_started: unit.map(|unit| unit.started),
            uow_logged: unit.and_then(|unit| unit.lock().logged_at),
            uow_id: unit.map(|unit| unit.id),
            handles: state
                .handles
                .iter()
                .map(|h| (h.opened.name().to_owned(), h.options))
                .collect(),
        }
    }
}

impl Session {
    pub(crate) fn inner(&self) -> &Arc<SessionInner> {
        &self.inner.0
    }

    /// The queue manager this is a connection to.
    pub fn queue_manager(&self) -> QueueManager {
        QueueManager::from_inner(self.inner().qm.clone())
    }

    /// The connection is quiescing: an MQGET that waits with MQGMO_FAIL_IF_QUIESCING ends with 2202, now and from now
    /// on. One that has its message delivers it: a call of MQGET must not be dropped once it was begun, because its
    /// message may be gone from the queue.
    pub fn quiesce(&self) {
        self.inner().end_waits(Waits::Quiescing);
    }

    /// Nobody waits for answers any more: an MQGET that waits ends with 2203, and what it was given and has not
    /// taken goes back to the queue.
    pub fn give_up_waits(&self) {
        self.inner().end_waits(Waits::GivenUp);
    }

    /// What `DISPLAY CONN` shows of this connection.
    pub fn status(&self) -> ConnectionStatus {
        self.inner().status()
    }
}
