//! What happens without being asked: checkpoints, room in the log and on the disk, expiry, and tickets (`unit/ticket.rs`)
//! where nobody else settles them.
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

use posthaste_mqi::Reason;
use posthaste_recovery_log::Lsn;

use crate::alerts::{is_short, next_mark};
use crate::expiry;
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::plant::{Bug, planted};
use crate::queue::reading::Readings;
use crate::queue::{Queue, SweepEnd};
use crate::queue_manager::QueueManager;
use crate::session::SessionInner;
use crate::sessions::Sessions;
use crate::signal::either;
use crate::stop::Stop;
use crate::unit::{Stage, Unit};

/// Who may hold the log.
type Connections = Sessions<SessionInner>;

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
        let at = self.log.appended().0 + self.interval();
        self.log_space.plan_checkpoint(at);
    }

    /// Makes room in the log: checkpoints, then the oldest unit of work.
    async fn make_room(self: &Arc<Self>, connections: &Connections) -> Result<(), Stop> {
        let began = self.env.clock.monotonic();
        self.settle().await;
        let mut saved = self.checkpoint_now(false).await?;
        self.tell_holder(connections);
        // A checkpoint frees what lies before the previous one, so a second one frees more.
        if saved && is_short(&self.log) {
            mark(Mark::SecondCheckpoint);
            saved = self.checkpoint_now(false).await?;
        }
        // Before anybody is backed out.
        self.tell_holder(connections);
        while (saved || planted(Bug::BackOutInVain))
            && is_short(&self.log)
            && self.back_out_oldest(connections)
        {
            saved = self.checkpoint_now(false).await? && self.checkpoint_now(false).await?;
        }
        if !saved {
            let now = self.env.clock.monotonic();
            self.log_space.made_in_vain(began, now);
        }
        self.alerts.log_space(&self.log, self.clock.now());
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
    fn holder(&self, unit: &Unit, pin: Lsn, connections: &Connections) -> [String; 5] {
        let (date, time) = crate::verbs::clock::display_stamp(unit.started);
        let held = self.log.appended().0.saturating_sub(pin.0);
        let (name, user) = match connections.get(unit.session) {
            Some(session) => (session.who.name.clone(), session.who.user.clone()),
            None => Default::default(),
        };
        [
            name,
            user,
            format!("{:016X}", self.numbers.of_connection(unit.session)),
            format!("{date} {time}"),
            held.to_string(),
        ]
    }

    /// Says who holds much of the log, while there is still time to do something about it. To be called at each
    /// checkpoint, and where it says itself: a unit of work that has begun since the last one does not hold half of
    /// the log before the next one.
    pub(crate) fn tell_holder(&self, connections: &Connections) {
        let Some((pin, unit)) = self.oldest_unit() else {
            return;
        };
        let held = self.log.appended().0.saturating_sub(pin.0);
        let total = self.log.usage().total.max(1);
        let percent = held * 100 / total;
        if let Some(next) = next_mark(percent) {
            let at = pin.0 + (next * total).div_ceil(100);
            self.log_space.plan_look(at, self.log.appended());
        }
        if !self.alerts.holder_is_due(percent, self.clock.now()) {
            return;
        }
        let [name, user, connection, begun, bytes] = self.holder(&unit, pin, connections);
        let inserts = [percent.to_string(), name, user, connection, begun, bytes];
        self.operator.message("AMQ2062W", &inserts);
    }

    /// Backs out the unit of work with the oldest record, if restart would begin with that record: only
    /// then does it make room.
    fn back_out_oldest(self: &Arc<Self>, connections: &Connections) -> bool {
        let restart = self.log.usage().restart;
        let holds = |pin: Lsn| pin <= restart || planted(Bug::BackOutInVain);
        let Some((pin, oldest)) = self.oldest_unit().filter(|(pin, _)| holds(*pin)) else {
            return false;
        };
        let inserts = self.holder(&oldest, pin, connections);
        let Some(deferred) = oldest.back_out_by_system(self) else {
            return false;
        };
        deferred.follow(self);
        if planted(Bug::ClearNextPin)
            && let Some(session) = connections.get(oldest.session)
            && let Some(next) = &session.lock().unit
            && next.lock().stage == Stage::Active
        {
            next.unpin(self);
        }
        mark(Mark::LogFullBackout);
        self.operator.message("AMQ7469W", &inserts);
        true
    }

    /// Tells when somebody has set the system's clock back. `latest`: by how much it was ahead of the
    /// queue manager's own at the last look.
    fn look_at_clock(&self, latest: &mut i64) {
        let now = self.env.clock.wall_micros() - self.clock.now();
        if now < *latest - SET_BACK {
            let seconds = (*latest - now) / 1_000_000;
            self.operator.message("AMQ2012W", &[seconds.to_string()]);
        }
        *latest = now;
    }

    /// Takes expired messages off all queues.
    fn sweep_expired(self: &Arc<Self>) {
        let now = self.clock.now();
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
            expiry::expired(self, queue, expired);
            read = Readings::default();
            from = match swept {
                SweepEnd::All => return,
                SweepEnd::Part(at) => at,
                SweepEnd::Unread(at, unread) => {
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

/// Stops the queue manager if what drives it is cut short by a panic.
pub(crate) struct Watched<'a>(pub(crate) &'a QueueManager, pub(crate) &'static str);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if posthaste_env::panicking() {
            self.0.found_defect(self.1);
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

    /// Reads and writes queue files for callers that must not wait for a disk, until the queue manager ends. Drive it on
    /// a thread or task of its own, on several if what one waits for is not to hold up all others; where nobody does, such
    /// callers wait for the disk themselves.
    pub async fn serve_files(&self) {
        let _watched = Watched(self, "work on a queue file panicked");
        let inner = self.inner();
        let ended = || inner.lifecycle.ended();
        inner
            .home
            .files
            .serve(ended, &inner.lifecycle.changed)
            .await;
    }

    /// Does the queue manager's housekeeping until it ends. Drive it on a thread or task of its
    /// own: checkpoints write and sync files.
    pub async fn maintain(&self) {
        let _watched = Watched(self, "maintenance panicked");
        let (inner, connections) = (self.inner(), self.sessions());
        let interval = u64::from(inner.config.expiry_interval_s) * 1_000_000_000;
        let mut next_sweep = inner.env.clock.monotonic() + interval;
        let (mut latest, mut next_room) = (0, 0);
        loop {
            let kick = inner.kick.listen();
            if inner.lifecycle.ended() {
                return inner.end_waits(Reason::CONNECTION_BROKEN);
            }
            inner.settle().await;
            inner.deleted.remove_discarded();
            inner.end_expired();
            inner.delete_deferred();
            inner.discard_superseded_again();
            let now = inner.env.clock.monotonic();
            if inner.log_space.take_room_wanted(now) {
                let made = inner.make_room(connections).await;
                inner.log_space.relief.raise();
                if made.is_err() {
                    return inner.end_waits(Reason::CONNECTION_BROKEN);
                }
            }
            let Ok(soon) = inner.tend_room(&mut next_room, connections).await else {
                return inner.end_waits(Reason::CONNECTION_BROKEN);
            };
            if inner.log_space.take_look_wanted() {
                inner.tell_holder(connections);
            }
            inner.look_at_clock(&mut latest);
            let now = inner.env.clock.monotonic();
            if interval > 0 && now >= next_sweep {
                inner.sweep_expired();
                next_sweep = now + interval;
            }
            let until = match interval {
                0 => now + 60 * IDLE_NANOS,
                _ => next_sweep,
            };
            let subscriptions = now.saturating_add(inner.next_look_at_subscriptions());
            let soon = soon.into_iter().chain(inner.log_space.put_off(now));
            let until = soon.fold(until.min(subscriptions), u64::min);
            either(kick, inner.env.clock.sleep_until(until)).await;
        }
    }
}
