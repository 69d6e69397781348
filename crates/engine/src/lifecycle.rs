//! Whether the queue manager runs, and why it stopped.
//!
//! Invariants: a phase is never gone back from. A stop is final: its first reason is the one that counts, and is told
//! once.

use posthaste_env::sync::Mutex;
use posthaste_env::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use posthaste_mqi::Reason;

use crate::signal::Signal;
use crate::stop::Stop;

/// How far the queue manager has come on the way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Running = 0,
    /// No new connections, and applications that asked to be told are told.
    Quiescing = 1,
    /// No new calls.
    Stopping = 2,
    Ended = 3,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Lifecycle {
    phase: AtomicU8,
    stop: Mutex<Option<Stop>>,
    /// It quiesces for an end that does not wait for its applications.
    hurries: AtomicBool,
    /// The phase changed. That a connection ended is told elsewhere ([`crate::sessions`]): whole threads wait for this.
    pub(crate) changed: Signal,
}

impl Lifecycle {
    /// Whether verbs may run.
    ///
    /// # Errors
    /// 2162 while it ends, 2009 when it has ended.
    pub(crate) fn running(&self) -> Result<(), Reason> {
        match self.phase.load(Ordering::SeqCst) {
            phase if phase < Phase::Stopping as u8 => Ok(()),
            phase if phase < Phase::Ended as u8 => Err(Reason::Q_MGR_STOPPING),
            _ => Err(Reason::CONNECTION_BROKEN),
        }
    }

    /// For verbs with a FAIL_IF_QUIESCING option.
    pub(crate) fn quiescing(&self) -> bool {
        self.phase.load(Ordering::Acquire) != Phase::Running as u8
    }

    /// Its end, which is to come, does not wait for applications.
    pub(crate) fn hurry(&self) {
        self.hurries.store(true, Ordering::Release);
    }

    /// Whether it waits until its applications have disconnected.
    pub(crate) fn awaits_applications(&self) -> bool {
        !self.hurries.load(Ordering::Acquire) && self.running().is_ok()
    }

    pub(crate) fn ended(&self) -> bool {
        self.phase.load(Ordering::Acquire) == Phase::Ended as u8
    }

    /// Goes on to a phase, unless it has come further.
    pub(crate) fn advance(&self, to: Phase) {
        self.phase.fetch_max(to as u8, Ordering::SeqCst);
        self.changed.raise();
    }

    /// The reason for a stop, once there was one.
    pub(crate) fn why_stopped(&self) -> Option<Stop> {
        self.stop.lock().clone()
    }

    /// Notes the reason for a stop. True for the first one.
    pub(crate) fn note_stop(&self, stop: Stop) -> bool {
        let mut slot = self.stop.lock();
        let first = slot.is_none();
        slot.get_or_insert(stop);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts_and_no_phase_is_gone_back_from() {
        let lifecycle = Lifecycle::default();
        assert_eq!(
            (lifecycle.running(), lifecycle.quiescing()),
            (Ok(()), false)
        );
        lifecycle.advance(Phase::Stopping);
        lifecycle.advance(Phase::Quiescing);
        assert_eq!(lifecycle.running(), Err(Reason::Q_MGR_STOPPING));
        assert!(lifecycle.note_stop(Stop::Defect("one".to_owned())));
        assert!(!lifecycle.note_stop(Stop::Defect("two".to_owned())));
        lifecycle.advance(Phase::Ended);
        assert_eq!(lifecycle.running(), Err(Reason::CONNECTION_BROKEN));
        let why = lifecycle.why_stopped().map(|stop| stop.to_string());
        assert_eq!(why.as_deref(), Some("a defect of the program: one"));
    }
}
