//! Telling the operator that space runs out: of the log, of its disk, of the queue files' disk.
//!
//! Invariant: a condition is told at most once a minute, however often it is met, and however often it
//! comes and goes.

use posthaste_env::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use posthaste_mqi::Reason;

use crate::manager::Inner;

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

/// What has been told.
#[derive(Default)]
pub(crate) struct Told {
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

impl Inner {
    /// Whether so little log space is left that something has to be done.
    pub(crate) fn short_of_space(&self) -> bool {
        let usage = self.log.usage();
        // Not `used`: an extent that is pinned by its last record is lost as a whole.
        usage.ordinary_left < usage.total / 8
    }

    /// Looks how the log is off, after everything has been done to make room in it.
    pub(crate) fn tell_log_space(&self) {
        // Not whether it cannot grow now: making room may have freed a file meanwhile, and the disk is full still.
        if let Some(why) = self.log.take_failure_to_grow()
            && self.told.log_disk.is_due(self.now())
        {
            self.operator.message("AMQ6708E", &[why.to_string()]);
        }
        if self.short_of_space() && self.told.log.is_due(self.now()) {
            let name = self.config.name.clone();
            self.operator.message("AMQ6709I", &[name]);
        }
    }

    /// Whether the operator has to hear that one unit of work holds this much of the log.
    pub(crate) fn holder_is_to_be_told(&self, percent: u64) -> bool {
        let now = self.now();
        let mut marks = HELD.iter().zip(&self.told.holder).rev();
        marks.any(|(mark, told)| percent >= *mark && told.is_due(now))
    }

    /// The log had no room for a message: if it never could have, the operator hears both sizes.
    pub(crate) fn tell_too_long(&self, bytes: usize) {
        let usage = self.log.usage();
        let most = usage.total - usage.reserve;
        if bytes as u64 > most && self.told.too_long.is_due(self.now()) {
            let inserts = [bytes.to_string(), most.to_string()];
            self.operator.message("AMQ2063E", &inserts);
        }
    }

    /// Whether the reserve for checkpoints is whole, after everything has been done to make it so: until then puts
    /// are refused.
    pub(crate) fn tell_reserve(&self, whole: bool) {
        let missing = &self.told.reserve_missing;
        let folder = || [self.config.data.display().to_string()];
        if whole && missing.swap(false, Ordering::Relaxed) {
            self.operator.message("AMQ2067I", &folder());
        }
        if !whole && self.told.reserve.is_due(self.now()) {
            missing.store(true, Ordering::Relaxed);
            self.operator.message("AMQ2066W", &folder());
        }
    }

    /// A checkpoint could not be written for want of room, or of a file that may be opened.
    pub(crate) fn tell_full_disk(&self, descriptors: bool) {
        self.home.room.note_descriptors(descriptors);
        self.tell_refusal(Reason::Q_SPACE_NOT_AVAILABLE);
    }

    /// A put was refused: the operator has to know of a full disk.
    pub(crate) fn tell_refusal(&self, reason: Reason) {
        if reason != Reason::Q_SPACE_NOT_AVAILABLE {
            return;
        }
        let (told, id) = match self.home.room.lacks_descriptors() {
            true => (&self.told.descriptors, "AMQ2069E"),
            false => (&self.told.queue_disk, "AMQ2005E"),
        };
        if told.is_due(self.now()) {
            let folder = self.config.data.display().to_string();
            self.operator.message(id, &[folder]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_lasts_is_told_once_a_minute() {
        let last = Last::default();
        let told = (0..300).filter(|s| last.is_due(s * 1_000_000)).count();
        assert_eq!(told, 5);
    }
}
