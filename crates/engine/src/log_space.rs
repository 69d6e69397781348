//! Watching how the log fills: when something is to be done about it, and who waits for that.
//!
//! Invariants: whoever appends to the log looks at two marks and takes no lock; a mark that was met is met once, until
//! whoever has acted sets the next one. What is wanted stays wanted until it is taken. Where a full disk lets no
//! checkpoint through, room is not made again at once: whoever waits asks at once, and each attempt writes an image. At most an
//! eleventh of a processor's time goes into attempts that are in vain, unless one takes longer than a tenth of a second.

use std::sync::Arc;

use posthaste_env::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use posthaste_recovery_log::Lsn;

use crate::signal::Signal;

/// Nanoseconds from an attempt to make room that was in vain to the next, at least and at most.
const VAIN_NANOS: u64 = 10_000_000;
const MOST_VAIN_NANOS: u64 = 1_000_000_000;
/// So many times as long as an attempt took: with very many definitions it takes long, and the processors are for others.
const PAUSE: u64 = 10;

/// See the head of this file.
pub(crate) struct LogSpace {
    /// A checkpoint is due when the log has reached this.
    checkpoint_at: AtomicU64,
    /// Where the log has to have come to before a unit of work can hold so much of it that the operator is told.
    holder_at: AtomicU64,
    /// Room is to be made: a put waits for it, or a checkpoint is due.
    room_wanted: AtomicBool,
    /// Room is not made before this moment of the monotonic clock.
    not_before: AtomicU64,
    /// Somebody is to look who holds the log.
    look_wanted: AtomicBool,
    /// Something for maintenance to do.
    kick: Arc<Signal>,
    /// A checkpoint ended, or a unit of work was taken down: there may be room again.
    pub(crate) relief: Signal,
}

impl LogSpace {
    /// `kick`: wakes maintenance.
    pub(crate) fn new(kick: Arc<Signal>) -> LogSpace {
        LogSpace {
            checkpoint_at: AtomicU64::new(u64::MAX),
            holder_at: AtomicU64::new(u64::MAX),
            room_wanted: AtomicBool::new(false),
            not_before: AtomicU64::new(0),
            look_wanted: AtomicBool::new(false),
            kick,
            relief: Signal::default(),
        }
    }

    /// Sets where the next checkpoint is due.
    pub(crate) fn plan_checkpoint(&self, at: u64) {
        self.checkpoint_at.store(at, Ordering::Relaxed);
    }

    /// Sets where somebody is to look who holds the log; it may have come there already.
    pub(crate) fn plan_look(&self, at: u64, appended: Lsn) {
        self.holder_at.store(at, Ordering::Relaxed);
        self.note_holder(appended);
    }

    /// The log has grown: is something due?
    pub(crate) fn note_progress(&self, end: Lsn) {
        self.note_holder(end);
        if end.0 >= self.checkpoint_at.load(Ordering::Relaxed) {
            // Once is enough; the checkpoint sets the next mark.
            self.checkpoint_at.store(u64::MAX, Ordering::Relaxed);
            self.want_room();
        }
    }

    /// The log has grown to where a unit of work may hold so much of it that the operator has to hear of it.
    fn note_holder(&self, end: Lsn) {
        if end.0 >= self.holder_at.load(Ordering::Relaxed) {
            // Whoever looks sets the next mark.
            self.holder_at.store(u64::MAX, Ordering::Relaxed);
            self.look_wanted.store(true, Ordering::Release);
            self.kick.raise();
        }
    }

    /// Somebody waits for room in the log.
    pub(crate) fn want_room(&self) {
        self.room_wanted.store(true, Ordering::Release);
        self.kick.raise();
    }

    /// Whether room is to be made `now`; whoever asks makes it.
    pub(crate) fn take_room_wanted(&self, now: u64) -> bool {
        self.put_off(now).is_none() && self.room_wanted.swap(false, Ordering::AcqRel)
    }

    /// No checkpoint could be written: the attempt began and ended at these moments of the monotonic clock.
    pub(crate) fn made_in_vain(&self, began: u64, now: u64) {
        let pause = now.saturating_sub(began).saturating_mul(PAUSE);
        let again = now + pause.clamp(VAIN_NANOS, MOST_VAIN_NANOS);
        self.not_before.store(again, Ordering::Relaxed);
    }

    /// When room may be made again, if that is not yet.
    pub(crate) fn put_off(&self, now: u64) -> Option<u64> {
        let again = self.not_before.load(Ordering::Relaxed);
        (now < again).then_some(again)
    }

    /// Whether somebody is to look who holds the log; whoever asks looks.
    pub(crate) fn take_look_wanted(&self) -> bool {
        self.look_wanted.swap(false, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_was_made_in_vain_is_not_made_again_at_once() {
        let space = LogSpace::new(Arc::default());
        space.want_room();
        assert!(space.take_room_wanted(5));
        space.made_in_vain(5, 5);
        space.want_room();
        let again = 5 + VAIN_NANOS;
        assert!(!space.take_room_wanted(again - 1));
        assert_eq!(space.put_off(again - 1), Some(again));
        assert_eq!(space.put_off(again), None);
        assert!(space.take_room_wanted(again), "it is still wanted");
    }

    #[test]
    fn attempts_that_take_long_are_made_more_seldom() {
        let space = LogSpace::new(Arc::default());
        space.made_in_vain(1_000, 50_001_000);
        assert_eq!(space.put_off(50_001_000), Some(550_001_000));
        space.made_in_vain(0, 5_000_000_000);
        assert_eq!(space.put_off(5_000_000_000), Some(6_000_000_000));
        // A clock that went back is not to keep anybody waiting.
        space.made_in_vain(500, 400);
        assert_eq!(space.put_off(400), Some(400 + VAIN_NANOS));
    }

    #[test]
    fn a_mark_is_met_once_and_what_is_wanted_is_taken_once() {
        let space = LogSpace::new(Arc::default());
        space.note_progress(Lsn(1 << 40));
        assert!(!space.take_room_wanted(0));
        space.plan_checkpoint(100);
        space.note_progress(Lsn(99));
        assert!(!space.take_room_wanted(0));
        space.note_progress(Lsn(100));
        assert_eq!(
            (space.take_room_wanted(0), space.take_room_wanted(0)),
            (true, false)
        );
        space.note_progress(Lsn(200));
        assert!(!space.take_room_wanted(0), "until the next mark is set");
        space.plan_look(150, Lsn(200));
        assert_eq!(
            (space.take_look_wanted(), space.take_look_wanted()),
            (true, false)
        );
    }
}
