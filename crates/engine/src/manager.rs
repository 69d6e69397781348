//! The queue manager: what all connections share.
//!
//! Invariants:
//! * A stop is final and is reported once.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use posthaste_command::{Object, ObjectKind};
use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use posthaste_env::{Env, Lock};
use posthaste_mqi::{MsgId, Reason};
use posthaste_recovery_log::{LogError, RecoveryLog, Writer};

use crate::catalogue::Catalogue;
use crate::config::EngineConfig;
use crate::numbers::Numbers;
use crate::operator::Operator;
use crate::queue::{Queue, QueueHome};
use crate::recovery::checkpoint::CheckpointState;
use crate::session::{Application, ConnectionStatus, Owned, Session, SessionInner};
use crate::signal::Signal;
use crate::stop::Stop;
use crate::unit::orphans::{Orphan, Orphans};
use crate::unit::table::Units;
use crate::verbs::connect::check_options;

/// Bits of a connection number that count within one run.
pub(crate) const COUNTER_BITS: u32 = 40;

/// Nanoseconds between looks whether a verb has ended that an immediate end waits for.
const LOOK_NANOS: u64 = 1_000_000;

const RUNNING: u8 = 0;
const QUIESCING: u8 = 1;
const STOPPING: u8 = 2;
const ENDED: u8 = 3;

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
}

pub(crate) struct Inner {
    pub(crate) config: EngineConfig,
    pub(crate) env: Env,
    pub(crate) log: RecoveryLog,
    pub(crate) operator: Arc<dyn Operator>,
    pub(crate) catalogue: Catalogue,
    pub(crate) home: Arc<QueueHome>,
    /// Keeps other processes off these files.
    pub(crate) lock: Mutex<Option<Box<dyn Lock>>>,
    pub(crate) incarnation: u32,
    pub(crate) numbers: Numbers,
    pub(crate) next_queue: AtomicU64,
    next_session: AtomicU64,
    sessions: Mutex<BTreeMap<u64, Weak<SessionInner>>>,
    pub(crate) orphans: Orphans,
    pub(crate) units: Arc<Units>,
    phase: AtomicU8,
    stop: Mutex<Option<Stop>>,
    /// Something for maintenance to do.
    pub(crate) kick: Arc<Signal>,
    /// A checkpoint ended, or a unit of work was taken down: there may be log space again.
    pub(crate) relief: Signal,
    /// A session ended or a phase changed.
    pub(crate) changed: Signal,
    /// Absent while a checkpoint is being taken.
    pub(crate) checkpoint: Mutex<Option<CheckpointState>>,
    /// Deleted queues whose files the latest image still points at.
    pub(crate) retired: Mutex<Vec<Arc<Queue>>>,
    /// Deleted temporary dynamic queues that have had a file.
    discarded: Mutex<Vec<Arc<Queue>>>,
    /// A checkpoint is due when the log has reached this.
    pub(crate) checkpoint_at: AtomicU64,
    /// Where the log has to have come to before a unit of work can hold so much of it that the operator is told.
    pub(crate) look_at: AtomicU64,
    /// It has come there.
    pub(crate) look_wanted: AtomicBool,
    /// A put is waiting for log space.
    pub(crate) space_wanted: AtomicBool,
    /// What the operator knows of space that runs out.
    pub(crate) told: crate::space::Told,
    wall_base: i64,
    monotonic_base: u64,
}

/// What [`Inner::new`] is made of, beside what starts at zero.
pub(crate) struct Parts {
    pub(crate) config: EngineConfig,
    pub(crate) env: Env,
    pub(crate) log: RecoveryLog,
    pub(crate) operator: Arc<dyn Operator>,
    pub(crate) catalogue: Catalogue,
    pub(crate) home: Arc<QueueHome>,
    pub(crate) lock: Box<dyn Lock>,
    pub(crate) incarnation: u32,
    pub(crate) numbers: Numbers,
    pub(crate) next_queue: u64,
    pub(crate) retired: Vec<Arc<Queue>>,
    pub(crate) units: Units,
    pub(crate) checkpoint: CheckpointState,
}

impl Inner {
    pub(crate) fn new(parts: Parts) -> Self {
        let (wall_base, monotonic_base) =
            (parts.env.clock.wall_micros(), parts.env.clock.monotonic());
        Inner {
            config: parts.config,
            env: parts.env,
            log: parts.log,
            operator: parts.operator,
            catalogue: parts.catalogue,
            lock: Mutex::new(Some(parts.lock)),
            incarnation: parts.incarnation,
            numbers: parts.numbers,
            next_queue: AtomicU64::new(parts.next_queue),
            next_session: AtomicU64::new(1),
            sessions: Mutex::new(BTreeMap::new()),
            orphans: Orphans::default(),
            units: Arc::new(parts.units),
            phase: AtomicU8::new(RUNNING),
            stop: Mutex::new(None),
            kick: Arc::clone(&parts.home.room.kick),
            home: parts.home,
            relief: Signal::default(),
            changed: Signal::default(),
            checkpoint: Mutex::new(Some(parts.checkpoint)),
            retired: Mutex::new(parts.retired),
            discarded: Mutex::new(Vec::new()),
            checkpoint_at: AtomicU64::new(u64::MAX),
            look_at: AtomicU64::new(u64::MAX),
            look_wanted: AtomicBool::new(false),
            space_wanted: AtomicBool::new(false),
            told: crate::space::Told::default(),
            wall_base,
            monotonic_base,
        }
    }

    /// Now, microseconds since 1970, never going back while the queue manager runs: expiry must not
    /// depend on somebody setting the clock.
    pub(crate) fn now(&self) -> i64 {
        let passed = self
            .env
            .clock
            .monotonic()
            .saturating_sub(self.monotonic_base)
            / 1000;
        self.wall_base + passed as i64
    }

    /// When this run began, microseconds since 1970.
    pub(crate) fn started_at(&self) -> i64 {
        self.wall_base
    }

    /// A message identifier nobody else makes: "AMQ ", the queue manager's name, a unique number.
    pub(crate) fn new_msg_id(&self, seq: u64) -> MsgId {
        let mut id = [b' '; 24];
        id[..4].copy_from_slice(b"AMQ ");
        let name = self.config.name.as_bytes();
        let length = name.len().min(12);
        id[4..4 + length].copy_from_slice(&name[..length]);
        id[16..].copy_from_slice(&seq.to_be_bytes());
        id
    }

    /// What DISPLAY CONN and the connection identifier show.
    pub(crate) fn connection_number(&self, session: u64) -> u64 {
        u64::from(self.incarnation) << COUNTER_BITS | session
    }

    /// Whether verbs may run.
    pub(crate) fn running(&self) -> Result<(), Reason> {
        match self.phase.load(Ordering::SeqCst) {
            RUNNING | QUIESCING => Ok(()),
            STOPPING => Err(Reason::Q_MGR_STOPPING),
            _ => Err(Reason::CONNECTION_BROKEN),
        }
    }

    /// For verbs with a FAIL_IF_QUIESCING option.
    pub(crate) fn quiescing(&self) -> bool {
        self.phase.load(Ordering::Acquire) != RUNNING
    }

    pub(crate) fn ended(&self) -> bool {
        self.phase.load(Ordering::Acquire) == ENDED
    }

    fn advance_phase(&self, to: u8) {
        self.phase.fetch_max(to, Ordering::SeqCst);
        self.changed.raise();
        self.kick.raise();
        self.relief.raise();
    }

    /// Stops the queue manager for a reason outside itself.
    #[track_caller]
    pub(crate) fn stop(&self, stop: Stop) {
        if self.ended() {
            // Maintenance finding the log shut down by a preemptive end is no failure.
            return;
        }
        let first = {
            let mut slot = self.stop.lock();
            let first = slot.is_none();
            slot.get_or_insert(stop.clone());
            first
        };
        if first {
            let (id, inserts) = stop.message();
            self.operator.message(id, &inserts);
        }
        // Whoever finds the reason may hold a queue's lock, so the waits of getters are ended by
        // maintenance, which the change of phase wakes.
        self.advance_phase(ENDED);
    }

    /// The log failed under a verb. One that takes no more because the queue manager is ending has
    /// not failed.
    #[track_caller]
    pub(crate) fn log_failed(&self, error: &LogError) {
        if matches!(error, LogError::Stopped(_)) && self.log.stopped().is_none() {
            return;
        }
        self.stop(Stop::LogFailed(error.to_string()));
    }

    pub(crate) fn end_waits(&self, reason: Reason) {
        for queue in self.catalogue.local_queues() {
            let mut wakes = crate::queue::waiters::Wakes::default();
            queue.lock().waiters.end_all(reason, &mut wakes);
            wakes.wake();
        }
    }

    pub(crate) fn orphan(&self, orphan: Orphan) {
        self.orphans.add(orphan);
        self.kick.raise();
    }

    /// A queue was deleted: its file goes with the next checkpoint.
    pub(crate) fn retire(&self, queue: Arc<Queue>) {
        let filed = queue.has_file();
        self.retired.lock().push(queue);
        if filed {
            self.home.room.freed(true);
        }
    }

    /// A temporary dynamic queue was deleted. No image has named it, so it need not wait for a
    /// checkpoint; only a file, if it has had one, is left for maintenance to remove.
    pub(crate) fn discard(&self, queue: Arc<Queue>) {
        if queue.has_file() {
            self.discarded.lock().push(queue);
            self.kick.raise();
        }
    }

    /// Removes the files of deleted temporary dynamic queues.
    pub(crate) fn remove_discarded(&self) {
        let discarded = std::mem::take(&mut *self.discarded.lock());
        for queue in discarded {
            if queue.drop_file().is_err() {
                // The next checkpoint tries again, and says what is wrong.
                self.retire(queue);
            }
        }
    }

    pub(crate) fn forget_session(&self, id: u64) {
        self.sessions.lock().remove(&id);
        self.changed.raise();
    }

    /// The connection of this number, if it is there still.
    pub(crate) fn session(&self, id: u64) -> Option<Arc<SessionInner>> {
        self.sessions.lock().get(&id)?.upgrade()
    }

    pub(crate) fn sessions(&self) -> Vec<Arc<SessionInner>> {
        self.sessions
            .lock()
            .values()
            .filter_map(Weak::upgrade)
            .collect()
    }
}

impl QueueManager {
    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        QueueManager { inner }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Connects an application.
    ///
    /// # Errors
    /// 2046 options, 2161 while quiescing, 2162 while stopping, 2009 after a stop.
    pub fn connect(&self, who: Application) -> Result<Session, Reason> {
        self.inner.running()?;
        check_options(who.options)?;
        if self.inner.quiescing() {
            return Err(Reason::Q_MGR_QUIESCING);
        }
        let id = self.inner.next_session.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(SessionInner::new(self.inner.clone(), id, who));
        self.inner
            .sessions
            .lock()
            .insert(id, Arc::downgrade(&session));
        Ok(Session {
            inner: Arc::new(Owned(session)),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.config.name
    }

    /// Its recovery log.
    pub fn log(&self) -> &RecoveryLog {
        &self.inner.log
    }

    /// What has been counted since the start: names and sums, of the engine and of its log. Times in the log's
    /// counters are nanoseconds.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let log = self.inner.log.statistics();
        let log = [
            ("log.records", log.records),
            ("log.logical_bytes", log.logical_bytes),
            ("log.physical_bytes", log.physical_bytes),
            ("log.writes", log.writes),
            ("log.forces", log.commits),
            ("log.write_ns", log.write_nanos),
            ("log.busy_ns", log.busy_nanos),
            ("log.idle_ns", log.idle_nanos),
            ("log.cohort_wait_ns", log.cohort_wait_nanos),
            ("log.slowest_ns", log.slowest_nanos),
        ];
        self.inner.home.stages.sums().chain(log).collect()
    }

    /// Number of connections.
    pub fn connections(&self) -> usize {
        self.inner.sessions.lock().len()
    }

    /// What `DISPLAY CONN` shows, oldest connection first.
    pub fn connection_status(&self) -> Vec<ConnectionStatus> {
        let mut sessions = self.inner.sessions();
        sessions.sort_by_key(|s| s.id);
        sessions.iter().map(|s| s.status()).collect()
    }

    /// The reason for a stop, once there was one.
    pub fn stopped(&self) -> Option<Stop> {
        self.inner.stop.lock().clone()
    }

    /// Ends when the queue manager has stopped or was ended.
    pub async fn ended(&self) {
        loop {
            let changed = self.inner.changed.listen();
            if self.inner.ended() {
                return;
            }
            changed.await;
        }
    }

    /// One definition.
    pub fn object(&self, kind: ObjectKind, name: &str) -> Option<Object> {
        self.inner.catalogue.object(kind, name)
    }

    /// All definitions of a kind, by name.
    pub fn objects(&self, kind: ObjectKind) -> Vec<Object> {
        self.inner.catalogue.objects(kind)
    }

    /// What is true of a local queue now.
    pub fn queue_status(&self, name: &str) -> Option<crate::queue::QueueStatus> {
        self.inner.catalogue.local_queue(name).map(|q| q.status())
    }

    /// No new connections; applications that asked to be told are told.
    pub fn quiesce(&self) {
        self.inner.advance_phase(QUIESCING);
        self.inner.end_waits_quiescing();
    }

    /// Ends the queue manager. After a controlled or immediate end everything that has to survive
    /// is in the queue files and the next start has nothing to recover.
    ///
    /// # Errors
    /// The [`Stop`] that made a clean end impossible; nothing acknowledged is lost by that.
    pub async fn end(&self, how: EndMode) -> Result<(), Stop> {
        let inner = &self.inner;
        inner.advance_phase(QUIESCING);
        if how == EndMode::Controlled {
            inner.end_waits_quiescing();
            loop {
                let changed = inner.changed.listen();
                if inner.sessions.lock().is_empty() || inner.ended() {
                    break;
                }
                changed.await;
            }
        }
        inner.advance_phase(STOPPING);
        inner.end_waits(Reason::Q_MGR_STOPPING);
        let sessions = inner.sessions();
        for session in &sessions {
            session.break_off();
        }
        let clean = match how {
            EndMode::Preemptive => Ok(()),
            _ => self.clean_end(sessions).await,
        };
        inner.advance_phase(ENDED);
        inner.log.shut_down();
        inner.end_waits(Reason::CONNECTION_BROKEN);
        *inner.lock.lock() = None;
        match self.stopped() {
            Some(stop) => Err(stop),
            None => clean,
        }
    }

    async fn clean_end(&self, sessions: Vec<Arc<SessionInner>>) -> Result<(), Stop> {
        let inner = &self.inner;
        for session in sessions {
            // A verb that is running ends first, so that its effect is either whole or not begun.
            loop {
                let changed = inner.changed.listen();
                match session.occupy() {
                    Some(_call) => {
                        session.release();
                        break;
                    }
                    None if inner.ended() => break,
                    None => {
                        let poll = inner.env.clock.monotonic() + LOOK_NANOS;
                        crate::signal::either(changed, inner.env.clock.sleep_until(poll)).await;
                    }
                }
            }
        }
        inner.settle_all_orphans().await;
        inner.checkpoint_now(true).await.map(drop)
    }
}

impl Inner {
    /// Ends the waits of getters; those that did not ask for FAIL_IF_QUIESCING wait on.
    pub(crate) fn end_waits_quiescing(&self) {
        for queue in self.catalogue.local_queues() {
            let mut wakes = crate::queue::waiters::Wakes::default();
            queue.lock().waiters.quiesce(&mut wakes);
            wakes.wake();
        }
    }
}
