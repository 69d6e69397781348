//! What all connections of a queue manager share.
//!
//! Invariants:
//! * What all connections share is reached through [`Inner`], and each part of it keeps its own invariants.

use std::sync::Arc;

use posthaste_env::Env;
use posthaste_env::sync::Mutex;
use posthaste_mqi::{MsgId, Reason};
use posthaste_recovery_log::{LogError, RecoveryLog};

use crate::alerts::Alerts;
use crate::catalogue::Catalogue;
use crate::config::EngineConfig;
use crate::delayed::known::Delays;
use crate::lifecycle::{Lifecycle, Phase};
use crate::log_space::LogSpace;
use crate::numbers::Numbers;
use crate::operator::Operator;
use crate::queue::deleted::DeletedQueues;
use crate::queue::{Queue, QueueHome};
use crate::recovery::checkpoint_state::CheckpointState;
use crate::recovery::locks::Locks;
use crate::signal::Signal;
use crate::steady_clock::SteadyClock;
use crate::stop::Stop;
use crate::topics::Topics;
use crate::unit::Units;
use crate::unit::ticket::Tickets;

/// What all connections share: a room for each concern. What a room keeps true stands at the head of its file.
pub(crate) struct Inner {
    pub(crate) config: EngineConfig,
    pub(crate) env: Env,
    pub(crate) log: RecoveryLog,
    pub(crate) operator: Arc<dyn Operator>,
    pub(crate) catalogue: Catalogue,
    pub(crate) home: Arc<QueueHome>,
    /// Keeps other processes off these files.
    locks: Mutex<Option<Locks>>,
    pub(crate) numbers: Numbers,
    pub(crate) clock: SteadyClock,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) tickets: Tickets,
    pub(crate) units: Arc<Units>,
    /// Something for maintenance to do.
    pub(crate) kick: Arc<Signal>,
    pub(crate) log_space: LogSpace,
    pub(crate) alerts: Alerts,
    /// Absent while a checkpoint is being taken.
    pub(crate) checkpoint: Mutex<Option<CheckpointState>>,
    pub(crate) deleted: DeletedQueues,
    pub(crate) topics: Topics,
    pub(crate) delays: Arc<Delays>,
}

/// What [`Inner::new`] is made of, beside what starts at zero.
pub(crate) struct Parts {
    pub(crate) config: EngineConfig,
    pub(crate) env: Env,
    pub(crate) log: RecoveryLog,
    pub(crate) operator: Arc<dyn Operator>,
    pub(crate) catalogue: Catalogue,
    pub(crate) home: Arc<QueueHome>,
    pub(crate) locks: Locks,
    pub(crate) numbers: Numbers,
    pub(crate) retired: Vec<Arc<Queue>>,
    pub(crate) units: Units,
    pub(crate) checkpoint: CheckpointState,
}

impl Inner {
    pub(crate) fn new(parts: Parts) -> Self {
        let kick = Arc::clone(&parts.home.room.kick);
        Inner {
            clock: SteadyClock::new(&parts.env.clock),
            alerts: Alerts::new(&parts.operator, &parts.config),
            config: parts.config,
            env: parts.env,
            log: parts.log,
            operator: parts.operator,
            catalogue: parts.catalogue,
            home: parts.home,
            locks: Mutex::new(Some(parts.locks)),
            numbers: parts.numbers,
            lifecycle: Lifecycle::default(),
            tickets: Tickets::default(),
            units: Arc::new(parts.units),
            log_space: LogSpace::new(Arc::clone(&kick)),
            kick,
            checkpoint: Mutex::new(Some(parts.checkpoint)),
            deleted: DeletedQueues::found(parts.retired),
            topics: Topics::default(),
            delays: Arc::default(),
        }
    }

    /// A message identifier nobody else makes.
    pub(crate) fn new_msg_id(&self, seq: u64) -> MsgId {
        self.identifier(*b"AMQ ", seq)
    }

    /// An identifier: what kind it is, the beginning of the queue manager's name, a unique number.
    pub(crate) fn identifier(&self, kind: [u8; 4], seq: u64) -> [u8; 24] {
        let mut id = [b' '; 24];
        id[..4].copy_from_slice(&kind);
        let name = self.config.name.as_bytes();
        let length = name.len().min(12);
        id[4..4 + length].copy_from_slice(&name[..length]);
        id[16..].copy_from_slice(&seq.to_be_bytes());
        id
    }

    /// Lets other processes have these files, once no change of them is under way.
    pub(crate) fn unlock(&self) {
        let locks = self.locks.lock().take();
        drop(locks);
    }

    /// The number of the next message.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seqs(1)
    }

    /// The first of `count` numbers in a row.
    pub(crate) fn next_seqs(&self, count: u64) -> u64 {
        match self.numbers.take(count) {
            (number, None) => number,
            (number, Some(mark)) => {
                self.see_to_numbers(number + (count - 1), mark);
                number
            }
        }
    }

    /// The number of the next unit of work: another one than any message has.
    pub(crate) fn next_uow(&self) -> u64 {
        self.next_seq()
    }

    #[cold]
    fn see_to_numbers(&self, number: u64, mark: u64) {
        if number >= mark {
            let why = "no checkpoint has reserved more message numbers";
            return self.stop(Stop::CheckpointFailed(why.to_owned()));
        }
        self.numbers.seen(mark);
        self.log_space.want_room();
    }

    pub(crate) fn advance_phase(&self, to: Phase) {
        self.lifecycle.advance(to);
        self.kick.raise();
        self.log_space.relief.raise();
    }

    /// Stops the queue manager for a reason outside itself.
    #[track_caller]
    pub(crate) fn stop(&self, stop: Stop) {
        if self.lifecycle.ended() {
            // Maintenance finding the log shut down by a preemptive end is no failure.
            return;
        }
        let first = self.lifecycle.note_stop(stop.clone());
        if first {
            let (id, inserts) = stop.message();
            self.operator.message(id, &inserts);
        }
        // Whoever finds the reason may hold a queue's lock, so the waits of getters are ended by
        // maintenance, which the change of phase wakes.
        self.advance_phase(Phase::Ended);
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
            let mut wakes = crate::consume::waiter::Wakes::default();
            queue.lock().waiters.end_all(reason, &mut wakes);
            wakes.wake();
        }
    }
}

impl Inner {
    /// Ends the waits of getters; those that did not ask for FAIL_IF_QUIESCING wait on.
    pub(crate) fn end_waits_quiescing(&self) {
        for queue in self.catalogue.local_queues() {
            let mut wakes = crate::consume::waiter::Wakes::default();
            queue.lock().waiters.quiesce(&mut wakes);
            wakes.wake();
        }
    }
}
