//! What a call does about a log that does not take its record.
//!
//! Invariants:
//! * A full log delays a call; it fails one (2102) only after maintenance has tried several times in vain to make room.
//! * A put is not delayed where maintenance cannot make any, because the data's disk has none for a checkpoint: it fails as it does
//!   when that disk is full (2056), and has maintenance try again.

use posthaste_mqi::Reason;
use posthaste_recovery_log::LogError;

use crate::manager::Inner;
use crate::mark::{Mark, mark};

/// How often maintenance may say that there could be room before a call gives up. It says so after
/// each of its checkpoints, two or more of which make one attempt, and after the attempt.
const RELIEFS: u16 = 12;

/// What to do about a log that does not take a record. It is small, for each call on its way has one.
pub(crate) struct LogSpaceWait {
    waits: u16,
    of_put: bool,
}

impl LogSpaceWait {
    pub(crate) fn new() -> Self {
        LogSpaceWait {
            waits: 0,
            of_put: false,
        }
    }

    /// Of a message that is put.
    pub(crate) fn of_put() -> Self {
        LogSpaceWait {
            of_put: true,
            ..Self::new()
        }
    }

    /// Waits for maintenance to make room, if that is what the log wants.
    ///
    /// # Errors
    /// 2102 when it could not, or never can; 2056 of a put, while checkpoints find no room; 2009 when the log has stopped.
    pub(crate) async fn wait(&mut self, qm: &Inner, error: LogError) -> Result<(), Reason> {
        if matches!(error, LogError::TooLong(_)) {
            // It would not fit into an empty log.
            return Err(Reason::RESOURCE_PROBLEM);
        }
        if !matches!(error, LogError::Full) {
            qm.log_failed(&error);
            return Err(Reason::CONNECTION_BROKEN);
        }
        if self.of_put && qm.home.room.is_unsaved() {
            qm.lifecycle.running()?;
            qm.log_space.want_room();
            qm.alerts.no_space(&qm.home.room, qm.clock.now());
            return Err(Reason::Q_SPACE_NOT_AVAILABLE);
        }
        // Rare, so it takes its room only when it happens.
        Box::pin(self.wait_for_room(qm)).await
    }

    /// Waits for maintenance to make room.
    ///
    /// # Errors
    /// 2102 when it could not; 2009 or 2162 when the queue manager ends.
    pub(crate) async fn wait_for_room(&mut self, qm: &Inner) -> Result<(), Reason> {
        if self.waits == RELIEFS {
            return Err(Reason::RESOURCE_PROBLEM);
        }
        self.waits += 1;
        mark(Mark::WaitedForRoom);
        let relief = qm.log_space.relief.listen();
        // After an end nobody makes room any more; one that comes later raises the signal.
        qm.lifecycle.running()?;
        qm.log_space.want_room();
        relief.await;
        qm.lifecycle.running()
    }
}
