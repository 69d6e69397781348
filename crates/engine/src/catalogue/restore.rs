//! The system objects as a new queue manager has them, again (`strmqm -c`); and those that a queue manager lacks which
//! an earlier release has made.
//!
//! Invariant: messages on queues that exist stay; only definitions are made or replaced, and the queue
//! manager's own is left alone.

use std::sync::Arc;

use posthaste_command::{Object, ObjectKind, is_chlauth};
use posthaste_recovery_log::Lsn;

use super::change::ChangeError;
use super::chlauth::default_records;
use super::defaults::{
    DELAY_QUEUE, LATER_EVENT_QUEUES, delay_queue, event_queue, publish_subscribe_objects,
};
use super::system_objects;
use crate::config::CreateOptions;
use crate::manager::Inner;
use crate::queue_manager::QueueManager;
use crate::stop::Stop;
use crate::topics::administrative::BASE_TOPIC;

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

/// Gives a queue manager that an earlier release has made the objects that delivery delay, events and publish/subscribe need (at
/// start, before anybody connects). What has one of their names already is left as it is. Nothing waits for the log records: what
/// relies on them comes behind them in the log, and what is lost with them is made again at the next start.
///
/// # Errors
/// Why one could not be made, with its name; those before it were.
pub(crate) fn add_missing(qm: &Arc<Inner>) -> Result<(), (String, ChangeError)> {
    if qm.catalogue.queue(DELAY_QUEUE).is_none() {
        add(qm, delay_queue())?;
    }
    for name in LATER_EVENT_QUEUES {
        if qm.catalogue.queue(name).is_none() {
            add(qm, event_queue(name))?;
        }
    }
    add_default_records(qm)?;
    if qm.catalogue.find(ObjectKind::Topic, BASE_TOPIC).is_some() {
        return Ok(());
    }
    // The topic at the root comes last: it says that the others are there.
    let (base, others): (Vec<_>, Vec<_>) = publish_subscribe_objects()
        .into_iter()
        .partition(|object| object.name == BASE_TOPIC);
    for object in others.into_iter().chain(base) {
        add(qm, object)?;
    }
    Ok(())
}

fn add(qm: &Arc<Inner>, object: Object) -> Result<(), (String, ChangeError)> {
    let name = object.name.clone();
    match qm.catalogue.define(qm, object, None) {
        Ok(_) | Err(ChangeError::Exists(_)) => Ok(()),
        Err(error) => Err((name, error)),
    }
}

/// Gives a queue manager that a release before channel authentication records has made the default ones: it has none, and they
/// are not in force. So they change nothing before somebody enables them, who then has those that MQ's queue managers have.
fn add_default_records(qm: &Arc<Inner>) -> Result<(), (String, ChangeError)> {
    let catalogue = &qm.catalogue;
    if catalogue.qmgr().chlauth || !catalogue.chlauth_records().is_empty() {
        return Ok(());
    }
    for record in default_records() {
        let name = record.name.clone();
        catalogue
            .add_record(qm, record)
            .map_err(|error| (name, error))?;
    }
    Ok(())
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
            // Who may come in is for whoever administers to say: what he has said is not undone.
            if object.kind == ObjectKind::Qmgr || is_chlauth(object.kind) {
                continue;
            }
            let name = object.name.clone();
            let known = qm.catalogue.object(object.kind, &name).is_some();
            match qm.catalogue.define(qm, object, Some(&|_, _| Ok(()))) {
                Ok(made) => {
                    last = made.end.map_or(last, |end| end.max(last));
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
