//! The queue manager, as whoever runs it and whoever connects to it has it.
//!
//! Invariants: an end first forbids what is to begin no more, and then waits for what has begun. Everything that has to
//! survive a clean end is in the queue files when it is over.

use std::io;
use std::sync::Arc;

use posthaste_command::{Attrs, Object, ObjectKind};
use posthaste_env::Nanos;
use posthaste_env::sync::atomic::AtomicU64;
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQAT_QMGR, MQCA_BASE_OBJECT_NAME, MQIA_USAGE, MQUS_TRANSMISSION};
use posthaste_recovery_log::{RecoveryLog, Writer};

use crate::application::{Application, Binding};
use crate::authorization::{Asking, CONNECT};
use crate::catalogue::is_own_store;
use crate::lifecycle::Phase;
use crate::manager::Inner;
use crate::meter::Counts;
use crate::operator::Operator;
use crate::session::{Owned, Session, SessionInner};
use crate::sessions::Sessions;
use crate::signal::{Either, either};
use crate::stop::Stop;
use crate::unit::Unit;
use crate::verbs::connect::check_options;

/// Nanoseconds between looks whether a verb has ended that an immediate end waits for.
const LOOK_NANOS: u64 = 1_000_000;

/// How long STOP CONN waits for a call that runs, and for the backout, in nanoseconds.
const CALL_NANOS: Nanos = 5_000_000_000;

/// How to end a queue manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndMode {
    /// Wait until every application has disconnected (`endmqm -c`, `-w`).
    Controlled,
    /// Let running calls end, then break the connections (`endmqm -i`).
    Immediate,
    /// Break off at once, without a final checkpoint; the next start recovers (`endmqm -p`).
    Preemptive,
}

/// What [`QueueManager::start`] returns.
pub struct Started {
    /// The queue manager.
    pub qm: QueueManager,
    /// The log's writer; the caller drives it.
    pub writer: Writer,
}

/// A running queue manager. Clones are the same one.
#[derive(Clone)]
pub struct QueueManager {
    inner: Arc<Inner>,
    connections: Arc<Sessions<SessionInner>>,
}

impl QueueManager {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        QueueManager {
            inner,
            connections: Arc::default(),
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The connections that there are.
    pub(crate) fn sessions(&self) -> &Arc<Sessions<SessionInner>> {
        &self.connections
    }

    /// Connects an application of the queue manager's own process, or any application where authorities are not checked.
    ///
    /// # Errors
    /// 2035 it is another process's and authorities are checked: that is for [`QueueManager::admit`]; 2046 options, 2161
    /// while quiescing, 2162 while stopping, 2009 after a stop.
    pub fn connect(&self, who: Application) -> Result<Session, Reason> {
        if who.binding != Binding::Fastpath && self.checks_authorities() {
            return Err(Reason::NOT_AUTHORIZED);
        }
        self.begin_session(Arc::new(who), false, false)
    }

    /// Connects the queue manager itself, for what it does with messages by itself.
    ///
    /// # Errors
    /// Those of [`QueueManager::connect`].
    pub(crate) fn connect_itself(&self, name: &str) -> Result<Session, Reason> {
        let who = Application {
            name: name.to_owned(),
            pid: std::process::id(),
            appl_type: MQAT_QMGR,
            ..Application::default()
        };
        self.begin_session(Arc::new(who), false, true)
    }

    /// Connects an application, if its user may.
    ///
    /// # Errors
    /// 2035 its user may not, 2063 nobody could say who that is; those of [`QueueManager::connect`].
    pub async fn admit(&self, who: Application) -> Result<Session, Reason> {
        if who.binding == Binding::Fastpath || !self.checks_authorities() {
            return self.connect(who);
        }
        let who = Arc::new(who);
        let asking = Asking {
            who: Arc::clone(&who),
            call: "MQCONN",
            options: who.options,
        };
        let caller = self.inner.caller(&who.user, asking).await?;
        caller.check_manager(&self.inner, CONNECT)?;
        self.begin_session(who, true, false)
    }

    /// Whether messages on a local queue, or on that to which an alias leads, go elsewhere and say by themselves in whose name: a
    /// transmission queue, and the queues where the queue manager keeps messages of others.
    pub fn speaks_for_itself(&self, queue: &str) -> bool {
        let base = self.read_object(ObjectKind::QAlias, queue, |attrs| {
            attrs.text(MQCA_BASE_OBJECT_NAME).to_owned()
        });
        let queue = base.as_deref().unwrap_or(queue);
        let is_transmission = self.read_object(ObjectKind::QLocal, queue, |attrs| {
            attrs.int(MQIA_USAGE) == MQUS_TRANSMISSION
        });
        is_transmission == Some(true) || is_own_store(queue)
    }

    /// Whether a user administers the queue manager, as whoever knows users says, or said since they were refreshed. None: nobody
    /// could say.
    pub async fn administers(&self, user: &str) -> Option<bool> {
        self.inner.administers(user).await
    }

    fn begin_session(
        &self,
        who: Arc<Application>,
        is_checked: bool,
        own: bool,
    ) -> Result<Session, Reason> {
        self.inner.lifecycle.running()?;
        check_options(who.options)?;
        if self.inner.lifecycle.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let id = self.connections.next_number();
        let mut session =
            SessionInner::new(self.inner.clone(), &self.connections, id, who, is_checked);
        session.publishes_for = own.then(AtomicU64::default);
        let session = Arc::new(session);
        self.connections.add(id, &session);
        Ok(Session {
            inner: Arc::new(Owned(session)),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.config.name
    }

    /// Who is given numbered messages, and events to audit.
    pub fn operator(&self) -> &dyn Operator {
        &*self.inner.operator
    }

    /// Its recovery log.
    pub fn log(&self) -> &RecoveryLog {
        &self.inner.log
    }

    /// What has been counted since the start.
    pub fn counts(&self) -> Counts {
        self.inner.home.counters.sums()
    }

    /// Number of connections.
    pub fn connections(&self) -> usize {
        self.connections.count()
    }

    /// The reason for a stop, once there was one.
    pub fn stopped(&self) -> Option<Stop> {
        self.inner.lifecycle.why_stopped()
    }

    /// Whether it has stopped or was ended.
    pub fn has_ended(&self) -> bool {
        self.inner.lifecycle.ended()
    }

    /// Ends when the queue manager has stopped or was ended.
    pub async fn ended(&self) {
        loop {
            let changed = self.inner.lifecycle.changed.listen();
            if self.inner.lifecycle.ended() {
                return;
            }
            changed.await;
        }
    }

    /// One definition.
    pub fn object(&self, kind: ObjectKind, name: &str) -> Option<Object> {
        self.inner.catalogue.object(kind, name)
    }

    /// What `read` makes of the attributes of one definition, which is not copied for it. It is not to come back here: the
    /// definition is locked.
    pub fn read_object<T>(
        &self,
        kind: ObjectKind,
        name: &str,
        read: impl FnOnce(&Attrs) -> T,
    ) -> Option<T> {
        self.inner.catalogue.read(kind, name, read)
    }

    /// All definitions of a kind, by name.
    pub fn objects(&self, kind: ObjectKind) -> Vec<Object> {
        self.inner.catalogue.objects(kind)
    }

    /// What is true of a local queue now.
    pub fn queue_status(&self, name: &str) -> Option<crate::queue::QueueStatus> {
        self.inner.catalogue.local_queue(name).map(|q| q.status())
    }

    /// No new connections; applications that asked to be told are told. `how`: the end that is to follow.
    pub fn quiesce(&self, how: EndMode) {
        if how != EndMode::Controlled {
            self.inner.lifecycle.hurry();
        }
        self.inner.advance_phase(Phase::Quiescing);
        self.inner.end_waits_quiescing();
    }

    /// Ends the queue manager. After a controlled or immediate end everything that has to survive
    /// is in the queue files and the next start has nothing to recover. Its files stay locked: see [`Self::unlock`].
    ///
    /// # Errors
    /// The [`Stop`] that made a clean end impossible; nothing acknowledged is lost by that.
    pub async fn end(&self, how: EndMode) -> Result<(), Stop> {
        let inner = &self.inner;
        inner.advance_phase(Phase::Quiescing);
        if how == EndMode::Controlled {
            inner.end_waits_quiescing();
            loop {
                let (left, changed) = (
                    self.connections.left.listen(),
                    inner.lifecycle.changed.listen(),
                );
                if self.connections.count() == 0 || inner.lifecycle.ended() {
                    break;
                }
                either(left, changed).await;
            }
        }
        inner.advance_phase(Phase::Stopping);
        inner.end_waits(Reason::Q_MGR_STOPPING);
        let sessions = self.connections.all();
        for session in &sessions {
            session.break_off();
        }
        let clean = match how {
            EndMode::Preemptive => Ok(()),
            _ => self.clean_end(sessions).await,
        };
        inner.advance_phase(Phase::Ended);
        inner.log.shut_down();
        inner.end_waits(Reason::CONNECTION_BROKEN);
        match self.stopped() {
            Some(stop) => Err(stop),
            None => clean,
        }
    }

    /// Lets other processes have the files, once the changes are made that are under way: for as long as a disk does not answer this
    /// waits. Whatever is done here afterwards, with connections that are left, changes none of them.
    pub fn unlock(&self) {
        self.inner.unlock();
    }

    /// Makes a file without which there is no start. While the disk has no room for it, what is kept for checkpoints is spent, and
    /// persistent messages are refused until that is there again.
    ///
    /// # Errors
    /// As `make` says, or the reserve could not be made shorter.
    pub fn make_file<T>(&self, make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        self.inner.home.room.make_file(make)
    }

    async fn clean_end(&self, sessions: Vec<Arc<SessionInner>>) -> Result<(), Stop> {
        let inner = &self.inner;
        for session in sessions {
            self.release_idle(&session, Nanos::MAX).await;
        }
        inner.settle_all().await;
        inner.checkpoint_now(true).await.map(drop)
    }

    /// Gives up what a connection has that was broken off. A verb that is running ends first, so that its effect is either
    /// whole or not begun; `None` if it has not ended by `until`, else the units of work whose backout goes on.
    async fn release_idle(
        &self,
        session: &Arc<SessionInner>,
        until: Nanos,
    ) -> Option<Vec<Arc<Unit>>> {
        let inner = &self.inner;
        loop {
            let (left, changed) = (
                self.connections.left.listen(),
                inner.lifecycle.changed.listen(),
            );
            if let Some(going_on) = session.release_if_idle() {
                return Some(going_on);
            }
            if inner.lifecycle.ended() {
                return Some(Vec::new());
            }
            let now = inner.env.clock.monotonic();
            if now >= until {
                return None;
            }
            let looked_at = inner.env.clock.sleep_until(now + LOOK_NANOS);
            either(either(left, changed), looked_at).await;
        }
    }

    /// STOP CONN: breaks a connection, by its number as DISPLAY CONN shows it. A call that waits for a message ends with 2009, one
    /// that runs ends first, each later one ends with 2009; the unit of work is backed out and handles are closed when this is
    /// done.
    ///
    /// # Errors
    /// There is none of that number, or it is the queue manager's own, or a call does not end: the connection is broken then, and
    /// has its work until that call has ended and the application is gone; or the backout does not, which goes on by itself.
    pub async fn stop_connection(&self, number: u64) -> Result<(), NotStopped> {
        let id = self.inner.numbers.in_this_run(number);
        let session = self.connections.get(id).ok_or(NotStopped::Unknown)?;
        // What an application says of itself does not protect it.
        if session.who.appl_type == MQAT_QMGR && session.who.binding == Binding::Fastpath {
            return Err(NotStopped::Own);
        }
        session.stop();
        let until = self.inner.env.clock.monotonic() + CALL_NANOS;
        let released = self.release_idle(&session, until).await;
        session.tell_stopped();
        for unit in released.ok_or(NotStopped::InCall)? {
            // A backout that is hardened waits for the disk of the log; it goes on by itself.
            let lapse = self.inner.env.clock.sleep_until(until);
            if let Either::Second(()) = either(session.ended(&unit), lapse).await {
                return Err(NotStopped::InCall);
            }
        }
        Ok(())
    }
}

/// Why a connection was not stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStopped {
    /// There is none of that number.
    Unknown,
    /// The queue manager works by it.
    Own,
    /// A call of it has not ended, or the backout of its work has not.
    InCall,
}

impl Session {
    /// The queue manager this is a connection to.
    pub fn queue_manager(&self) -> QueueManager {
        let session = self.inner();
        QueueManager {
            inner: Arc::clone(&session.qm),
            connections: Arc::clone(&session.connections),
        }
    }
}
