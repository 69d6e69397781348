//! Telling the operator that space runs out: of the log, of its disk, of the queue files' disk.
//!
//! Invariant: a condition is told at most once a minute, however often it is met, and however often it
//! comes and goes.

use std::sync::Arc;

use posthaste_env::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use posthaste_recovery_log::{MAX_RECORD, RecoveryLog};

use crate::config::EngineConfig;
use crate::operator::Operator;
use crate::room::Room;

/// Microseconds between two messages about the same condition.
const PAUSE: i64 = 60_000_000;

/// When a condition was last told, microseconds since 1970; 0: never.
#[derive(Default)]
struct Last(AtomicI64);

impl Last {
    fn is_due(&self, now: i64) -> bool {
        let last = self.0.load(Ordering::Relaxed);
        let due = last == 0 || now - last >= PAUSE;
        // Of several who meet it at one time, one tells.
        due && self
            .0
            .compare_exchange(last, now.max(1), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}

/// What the operator has been told of space that runs out, and whom to tell.
pub(crate) struct Alerts {
    operator: Arc<dyn Operator>,
    /// Of the queue manager.
    name: String,
    /// Of the queue files.
    folder: String,
    log_disk: Last,
    log: Last,
    queue_disk: Last,
    descriptors: Last,
    /// Half of the log is held by one unit of work; most of it.
    holder: [Last; 2],
    too_long: Last,
    reserve: Last,
    /// The operator knows that the reserve for checkpoints is not whole.
    reserve_missing: AtomicBool,
}

/// Per cent of the log that one unit of work may hold before the operator is told, and told again.
const HELD: [u64; 2] = [50, 70];

/// The next such mark above `percent`.
pub(crate) fn next_mark(percent: u64) -> Option<u64> {
    HELD.into_iter().find(|mark| *mark > percent)
}

/// Whether so little log space is left that something has to be done.
pub(crate) fn is_short(log: &RecoveryLog) -> bool {
    let usage = log.usage();
    // Not `used`: an extent that is pinned by its last record is lost as a whole.
    usage.ordinary_left < usage.total / 8
}

impl Alerts {
    pub(crate) fn new(operator: &Arc<dyn Operator>, config: &EngineConfig) -> Alerts {
        Alerts {
            operator: Arc::clone(operator),
            name: config.name.clone(),
            folder: config.data.display().to_string(),
            log_disk: Last::default(),
            log: Last::default(),
            queue_disk: Last::default(),
            descriptors: Last::default(),
            holder: Default::default(),
            too_long: Last::default(),
            reserve: Last::default(),
            reserve_missing: AtomicBool::new(false),
        }
    }

    /// Looks how the log is off, after everything has been done to make room in it.
    pub(crate) fn log_space(&self, log: &RecoveryLog, now: i64) {
        // Not whether it cannot grow now: making room may have freed a file meanwhile, and the disk is full still.
        if let Some(why) = log.take_failure_to_grow()
            && self.log_disk.is_due(now)
        {
            self.operator.message("AMQ6708E", &[why.to_string()]);
        }
        if is_short(log) && self.log.is_due(now) {
            let name = std::slice::from_ref(&self.name);
            self.operator.message("AMQ6709I", name);
        }
    }

    /// Whether the operator has to hear that one unit of work holds this much of the log.
    pub(crate) fn holder_is_due(&self, percent: u64, now: i64) -> bool {
        let mut marks = HELD.iter().zip(&self.holder).rev();
        marks.any(|(mark, alert)| percent >= *mark && alert.is_due(now))
    }

    /// The log had no room for a message: if it never could have, which is the answer, the operator hears both sizes.
    pub(crate) fn too_long(&self, bytes: usize, log: &RecoveryLog, now: i64) -> bool {
        let usage = log.usage();
        let most = (usage.total - usage.reserve).min(MAX_RECORD as u64);
        let never_fits = bytes as u64 > most;
        if never_fits && self.too_long.is_due(now) {
            let inserts = [bytes.to_string(), most.to_string()];
            self.operator.message("AMQ2063E", &inserts);
        }
        never_fits
    }

    /// Whether the reserve for checkpoints is whole, after everything has been done to make it so: until then puts
    /// are refused.
    pub(crate) fn reserve(&self, whole: bool, now: i64) {
        let folder = std::slice::from_ref(&self.folder);
        if whole && self.reserve_missing.swap(false, Ordering::Relaxed) {
            self.operator.message("AMQ2067I", folder);
        }
        if !whole && self.reserve.is_due(now) {
            self.reserve_missing.store(true, Ordering::Relaxed);
            self.operator.message("AMQ2066W", folder);
        }
    }

    /// A put was refused, or a checkpoint could not be written: the operator has to know of a full disk, or of files
    /// that may not be opened.
    pub(crate) fn no_space(&self, room: &Room, now: i64) {
        let (alert, id) = match room.lacks_descriptors() {
            true => (&self.descriptors, "AMQ2069E"),
            false => (&self.queue_disk, "AMQ2005E"),
        };
        if alert.is_due(now) {
            let folder = std::slice::from_ref(&self.folder);
            self.operator.message(id, folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_lasts_is_told_once_a_minute() {
        let last = Last::default();
        let count = (0..300).filter(|s| last.is_due(s * 1_000_000)).count();
        assert_eq!(count, 5);
    }
}
