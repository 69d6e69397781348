//! The system objects as a new queue manager has them, again (`strmqm -c`).
//!
//! Invariant: messages on queues that exist stay; only definitions are made or replaced, and the queue
//! manager's own is left alone.

use posthaste_command::ObjectKind;
use posthaste_recovery_log::Lsn;

use super::change::ChangeError;
use super::system_objects;
use crate::config::CreateOptions;
use crate::queue_manager::QueueManager;
use crate::stop::Stop;

/// What became of the system objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Objects that were missing.
    pub created: usize,
    /// Objects that were there.
    pub replaced: usize,
    /// Names that something of another kind has.
    pub failed: Vec<String>,
}

impl QueueManager {
    /// Makes the system objects that are missing and gives the others the attributes they were created
    /// with; durable when it returns.
    ///
    /// # Errors
    /// The log failed.
    pub async fn restore_system_objects(&self) -> Result<Restored, Stop> {
        let qm = self.inner();
        let mut restored = Restored::default();
        let mut last = Lsn(0);
        for object in system_objects(self.name(), "", &CreateOptions::default()) {
            if object.kind == ObjectKind::Qmgr {
                continue;
            }
            let name = object.name.clone();
            let known = qm.catalogue.object(object.kind, &name).is_some();
            match qm.catalogue.define(qm, object, true) {
                Ok((_, end)) => {
                    last = end.map_or(last, |end| end.max(last));
                    restored.created += usize::from(!known);
                    restored.replaced += usize::from(known);
                }
                Err(ChangeError::LogFull | ChangeError::Failed(_)) => {
                    let why = self.stopped();
                    return Err(why.unwrap_or(Stop::LogFailed("it takes no record".to_owned())));
                }
                Err(_) => restored.failed.push(name),
            }
        }
        match qm.log.force(last).await {
            Ok(_) => Ok(restored),
            Err(error) => {
                qm.log_failed(&error);
                Err(Stop::LogFailed(error.to_string()))
            }
        }
    }
}
