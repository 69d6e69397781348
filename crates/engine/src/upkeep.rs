//! Keeping room on the disk of the queue files: the reserve is made, and a checkpoint taken when there is room to give
//! back.
//!
//! Invariants: those of [`Room`](crate::room::Room). Room is looked after no more often than once a second.

use crate::manager::Inner;
use crate::room::LOOK_NANOS;
use crate::session::SessionInner;
use crate::sessions::Sessions;
use crate::stop::Stop;

impl Inner {
    /// Makes what is missing of the reserve, and tells the operator when puts are refused for want of it and when they
    /// are not any more. `checkpoint`: one has just given back what there was.
    pub(crate) fn make_reserve(&self, checkpoint: bool) -> Result<(), Stop> {
        match self.home.room.make() {
            Ok(whole) => {
                if whole && checkpoint {
                    self.home.room.is_well();
                }
                self.alerts.reserve(whole, self.clock.now());
                Ok(())
            }
            Err(error) => {
                let stop = Stop::CheckpointFailed(error.to_string());
                self.stop(stop.clone());
                Err(stop)
            }
        }
    }

    /// After a start: tells whether puts are refused, and finds what the run before has left to be given back.
    pub(crate) fn look_at_room(&self) {
        let room = &self.home.room;
        self.alerts.reserve(room.is_open(), self.clock.now());
        let mut files = self.catalogue.local_queues().into_iter();
        let much = files.any(|queue| {
            let file = queue.lock().known_file();
            file.is_some_and(|file| file.has_much_to_give_back())
        });
        if much || self.deleted.retired() > 0 {
            room.freed(true);
        }
    }

    /// Takes a checkpoint if there is room to be given back, or makes the reserve if it is missing; `next`: not before
    /// then. Returns when to look again, if that is to be soon.
    pub(crate) async fn tend_room(
        &self,
        next: &mut u64,
        connections: &Sessions<SessionInner>,
    ) -> Result<Option<u64>, Stop> {
        let room = &self.home.room;
        if let Some(why) = room.broken() {
            let stop = Stop::CheckpointFailed(why);
            self.stop(stop.clone());
            return Err(stop);
        }
        let now = self.env.clock.monotonic();
        if now >= *next && (room.is_due() || !room.is_open()) {
            if room.is_due() {
                self.checkpoint_now(false).await?;
                self.tell_holder(connections);
            } else {
                self.make_reserve(false)?;
            }
            *next = self.env.clock.monotonic() + LOOK_NANOS;
        }
        let soon = room.is_due() || !room.is_open();
        Ok(soon.then_some(*next))
    }
}
