//! What happens without being asked: checkpoints, room in the log and on the disk, expiry, orphaned effects.
//!
//! Invariants:
//! * A checkpoint is taken when the log has grown by the interval since the last one began.
//! * When the log runs short, checkpoints come first; if a unit of work still pins it, the oldest
//!   is backed out (AMQ7469), because everyone else has to go on. One at a time, so that no more
//!   are taken down than it needs, and only one whose records are what restart would begin with: where the log
//!   is held by something else, as by a full disk that lets no checkpoint through, taking units of work down makes
//!   no room.
//! * Room of the disk is given back, and made again for the next checkpoint, as `room.rs` says.
//! * Without maintenance the log fills and nobody is told: should it panic, the queue manager stops.

use std::sync::Arc;

use posthaste_env::sync::atomic::Ordering;
use posthaste_mqi::Reason;
use posthaste_recovery_log::Lsn;

use crate::manager::{Inner, QueueManager};
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue::reading::Readings;
use crate::queue::{Queue, Swept};
use crate::report;
use crate::signal::either;
use crate::space::next_mark;
use crate::stop::Stop;
use crate::unit::{Stage, Unit};

/// Slots looked at under one lock while searching for expired messages.
const SWEEP: usize = 4096;
/// Microseconds that the system's clock must have gone back to be spoken of: time services correct it
/// by less all the time.
const SET_BACK: i64 = 1_000_000;
/// Nanoseconds between looks when there is nothing to do: only expiry and a safety net.
const IDLE_NANOS: u64 = 1_000_000_000;

impl Inner {
    /// Sets when the next checkpoint is due.
    pub(crate) fn plan_checkpoint(&self) {
        self.checkpoint_at
            .store(self.log.appended().0 + self.interval(), Ordering::Relaxed);
    }

    /// The log has grown: is a checkpoint due?
    pub(crate) fn note_progress(&self, end: Lsn) {
        self.note_holder(end);
        if end.0 >= self.checkpoint_at.load(Ordering::Relaxed) {
            // Once is enough; the checkpoint sets the next mark.
            self.checkpoint_at.store(u64::MAX, Ordering::Relaxed);
            self.space_wanted.store(true, Ordering::Release);
            self.kick.raise();
        }
    }

    /// The log has grown to where a unit of work may hold so much of it that the operator has to hear of it.
    fn note_holder(&self, end: Lsn) {
        if end.0 >= self.look_at.load(Ordering::Relaxed) {
            // Whoever looks sets the next mark.
            self.look_at.store(u64::MAX, Ordering::Relaxed);
            self.look_wanted.store(true, Ordering::Release);
            self.kick.raise();
        }
    }

    /// Somebody waits for room in the log.
    pub(crate) fn want_log_space(&self) {
        self.space_wanted.store(true, Ordering::Release);
        self.kick.raise();
    }

    /// Makes room in the log: checkpoints, then the oldest unit of work.
    async fn make_room(self: &Arc<Self>) -> Result<(), Stop> {
        self.settle_orphans().await;
        let mut saved = self.checkpoint_now(false).await?;
        self.tell_holder();
        // A checkpoint frees what lies before the previous one, so a second one frees more.
        if saved && self.short_of_space() {
            mark(Mark::SecondCheckpoint);
            saved = self.checkpoint_now(false).await?;
        }
        // Before anybody is backed out.
        self.tell_holder();
        while (saved || planted(Bug::BackOutInVain))
            && self.short_of_space()
            && self.back_out_oldest()
        {
            saved = self.checkpoint_now(false).await? && self.checkpoint_now(false).await?;
        }
        self.tell_log_space();
        Ok(())
    }

    /// The active unit of work that has the oldest record, and its pin.
    fn oldest_unit(&self) -> Option<(Lsn, Arc<Unit>)> {
        let mut units = self.units.all();
        units.sort_unstable_by_key(|(pin, _)| *pin);
        let mut pinned = units
            .into_iter()
            .filter_map(|(pin, unit)| Some((pin?, unit)));
        pinned.find(|(_, unit)| {
            let work = unit.lock();
            work.stage == Stage::Active && work.logged
        })
    }

    /// Who has a unit of work that begins at `pin`, as inserts of a message.
    fn holder(&self, unit: &Unit, pin: Lsn) -> [String; 5] {
        let (date, time) = crate::verbs::clock::display_stamp(unit.started);
        let held = self.log.appended().0.saturating_sub(pin.0);
        let (name, user) = match self.session(unit.session) {
            Some(session) => (session.who.name.clone(), session.who.user.clone()),
            None => Default::default(),
        };
        [
            name,
            user,
            format!("{:016X}", self.connection_number(unit.session)),
            format!("{date} {time}"),
            held.to_string(),
        ]
    }

    /// Says who holds much of the log, while there is still time to do something about it. To be called at each
    /// checkpoint, and where it says itself: a unit of work that has begun since the last one does not hold half of
    /// the log before the next one.
    pub(crate) fn tell_holder(&self) {
        let Some((pin, unit)) = self.oldest_unit() else {
            return;
        };
        let held = self.log.appended().0.saturating_sub(pin.0);
        let total = self.log.usage().total.max(1);
        let percent = held * 100 / total;
        if let Some(next) = next_mark(percent) {
            let at = pin.0 + (next * total).div_ceil(100);
            self.look_at.store(at, Ordering::Relaxed);
            // It may have come there since.
            self.note_holder(self.log.appended());
        }
        if !self.holder_is_to_be_told(percent) {
            return;
        }
        let [name, user, connection, begun, bytes] = self.holder(&unit, pin);
        let inserts = [percent.to_string(), name, user, connection, begun, bytes];
        self.operator.message("AMQ2062W", &inserts);
    }

    /// Backs out the unit of work with the oldest record, if restart would begin with that record: only
    /// then does it make room.
    fn back_out_oldest(self: &Arc<Self>) -> bool {
        let restart = self.log.usage().restart;
        let holds = |pin: Lsn| pin <= restart || planted(Bug::BackOutInVain);
        let Some((pin, oldest)) = self.oldest_unit().filter(|(pin, _)| holds(*pin)) else {
            return false;
        };
        let inserts = self.holder(&oldest, pin);
        let Some(behind) = oldest.back_out_by_system(self) else {
            return false;
        };
        behind.follow(self);
        if planted(Bug::ClearNextPin)
            && let Some(session) = self.session(oldest.session)
            && let Some(next) = &session.lock().unit
            && next.lock().stage == Stage::Active
        {
            next.unpin(self);
        }
        mark(Mark::LogFullBackout);
        self.operator.message("AMQ7469W", &inserts);
        true
    }

    /// Tells when somebody has set the system's clock back. `ahead`: by how much it was ahead of the
    /// queue manager's own at the last look.
    fn look_at_clock(&self, ahead: &mut i64) {
        let now = self.env.clock.wall_micros() - self.now();
        if now < *ahead - SET_BACK {
            let seconds = (*ahead - now) / 1_000_000;
            self.operator.message("AMQ2012W", &[seconds.to_string()]);
        }
        *ahead = now;
    }

    /// Takes expired messages off all queues.
    fn sweep_expired(self: &Arc<Self>) {
        let now = self.now();
        for queue in self.catalogue.local_queues() {
            self.sweep_queue(&queue, now);
        }
    }

    fn sweep_queue(self: &Arc<Self>, queue: &Arc<Queue>, now: i64) {
        let (mut from, mut read) = (0, Readings::default());
        loop {
            let mut expired = Vec::new();
            let swept = {
                let mut state = queue.lock();
                if state.usable().is_err() {
                    return;
                }
                state.sweep_expired(from, SWEEP, now, (&read, &mut expired))
            };
            report::expired(self, queue, expired);
            read = Readings::default();
            from = match swept {
                Swept::All => return,
                Swept::Part(at) => at,
                Swept::Unread(at, unread) => {
                    if let Err(error) = queue.read(unread, &mut read) {
                        self.read_failed(queue, &error);
                        return;
                    }
                    at
                }
            };
        }
    }
}

/// Stops the queue manager if maintenance is cut short by a panic.
struct Watched<'a>(&'a QueueManager);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if posthaste_env::panicking() {
            self.0.found_defect("maintenance panicked");
        }
    }
}

impl QueueManager {
    /// A part of the program has panicked, and what it was changing may be half changed: nothing is served any more.
    /// For whoever drives the queue manager on threads of its own, or calls verbs in an application's process.
    #[track_caller]
    pub fn found_defect(&self, what: &str) {
        let inner = self.inner();
        inner.stop(Stop::Defect(what.to_owned()));
        inner.end_waits(Reason::CONNECTION_BROKEN);
    }

    /// Does the queue manager's housekeeping until it ends. Drive it on a thread or task of its
    /// own: checkpoints write and sync files.
    pub async fn maintain(&self) {
        let _watched = Watched(self);
        let inner = self.inner();
        let interval = u64::from(inner.config.expiry_interval_s) * 1_000_000_000;
        let mut next_sweep = inner.env.clock.monotonic() + interval;
        let (mut ahead, mut next_room) = (0, 0);
        loop {
            let kick = inner.kick.listen();
            if inner.ended() {
                return inner.end_waits(Reason::CONNECTION_BROKEN);
            }
            inner.settle_orphans().await;
            inner.remove_discarded();
            if inner.space_wanted.swap(false, Ordering::AcqRel) {
                let made = inner.make_room().await;
                inner.relief.raise();
                if made.is_err() {
                    return inner.end_waits(Reason::CONNECTION_BROKEN);
                }
            }
            let Ok(soon) = inner.tend_room(&mut next_room).await else {
                return inner.end_waits(Reason::CONNECTION_BROKEN);
            };
            if inner.look_wanted.swap(false, Ordering::AcqRel) {
                inner.tell_holder();
            }
            inner.look_at_clock(&mut ahead);
            let now = inner.env.clock.monotonic();
            if interval > 0 && now >= next_sweep {
                inner.sweep_expired();
                next_sweep = now + interval;
            }
            let until = match interval {
                0 => now + 60 * IDLE_NANOS,
                _ => next_sweep,
            };
            let until = soon.map_or(until, |soon| soon.min(until));
            either(kick, inner.env.clock.sleep_until(until)).await;
        }
    }
}
