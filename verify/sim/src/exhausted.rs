//! A log that is filled to its last byte: there is no room for images, so no checkpoint comes to its end; puts fill
//! what is theirs of the log, then gets in units of work what is theirs.
//!
//! Laws:
//! * A unit of work that begins when the log is full already does not hold it, and is not backed out.
//! * The start after it succeeds, with room for images or not.
//! * For want of room nothing stops.

use std::cell::Cell;
use std::rc::Rc;

use posthaste_env_sim::{Area, Fault, SimDisk};
use posthaste_model::{Get, How, Match};
use posthaste_mqi::Gmo;
use posthaste_mqi::constants::MQGMO_SYNCPOINT;

use crate::calls::{BUFFER, Manner};
use crate::run::{Failure, Run};
use crate::workload::{Target, Worker};

/// Messages that are got again and again; put before the disk is full.
const STOCK: u64 = 200;
/// Applications with units of work of gets.
const GETTERS: u32 = 3;
/// Gets of one of them, at most: more than the log has room for.
const GETS: u32 = 4_000;
/// Bytes of the messages that fill the log.
const LENGTH: u64 = 8_000;
/// Puts refused at most, and virtual nanoseconds after each.
const REFUSALS: u32 = 8;
const REFUSED_NANOS: u64 = 1_500_000_000;
/// Virtual nanoseconds in which all is done.
const LONG: u64 = 600_000_000_000;

impl Worker {
    /// Bytes of the log in use.
    fn used(&self) -> u64 {
        self.session.queue_manager().log().usage().used
    }

    async fn stock(&self, target: Target) -> bool {
        for n in 0..STOCK {
            if !self.make_put(target, 50, Manner::plain(true)).await
                || n % 50 == 49 && !self.commit_now().await
            {
                return false;
            }
        }
        true
    }

    /// Puts until the log has hardly room for one more. While the reserve for checkpoints is being made again all are
    /// refused.
    async fn fill(&self, target: Target) -> bool {
        let left = || self.session.queue_manager().log().usage().ordinary_left;
        let mut refused = 0;
        while left() > 2 * LENGTH && refused < REFUSALS {
            let before = self.used();
            if !self.make_put(target, LENGTH, Manner::plain(false)).await {
                return false;
            }
            if self.used() == before {
                refused += 1;
                let later = self.clock.monotonic() + REFUSED_NANOS;
                self.clock.sleep_until(later).await;
            }
        }
        left() <= 2 * LENGTH
    }

    /// Gets and backs out until the log takes no more gets; the last unit of work stays open.
    async fn get_and_back_out(&self, target: Target) {
        for _ in 0..GETS {
            let before = self.used();
            let get = Get {
                queue: target.queue,
                want: Match::default(),
                how: How::Syncpoint,
                wait: false,
            };
            let mut gmo = Gmo {
                options: MQGMO_SYNCPOINT,
                ..Gmo::default()
            };
            let mut md = crate::calls::asked();
            let going = self.make_get(target, get, &mut md, &mut gmo, BUFFER).await;
            if !going || self.used() == before || self.below(40) == 0 && !self.backout().await {
                return;
            }
        }
    }
}

/// Lets the disk, or the queue manager's share of it, have no room for images.
fn no_room_for_images(disk: &SimDisk, none: bool) {
    let images = Area::Named("checkpoint-".to_owned());
    let chance = if none { 1_000_000 } else { 0 };
    disk.set_chance(Fault::QuotaUsedUp, images, chance);
}

impl Run {
    /// Fills the log as far as it goes; then the queue manager breaks off and starts again.
    pub(crate) fn exhaust(&mut self, epoch: u32) -> Result<bool, Failure> {
        let disk = self.machine.world.disk().clone();
        if self.prepare()? {
            self.met("log exhausted");
        }
        if let Some(stop) = self.machine.qm().stopped() {
            return Err(Failure::Stopped(stop.to_string()));
        }
        self.break_off()?;
        if self.faults.coin() {
            no_room_for_images(&disk, true);
        }
        let started = self.start_again(epoch)?;
        self.met("start with the log exhausted");
        no_room_for_images(&disk, false);
        Ok(started)
    }

    /// Whether the log could be filled: an application may find puts or gets inhibited.
    fn prepare(&mut self) -> Result<bool, Failure> {
        let disk = self.machine.world.disk().clone();
        let mut filler = self.patient_worker();
        let executor = self.machine.world.executor();
        let filled = executor.block_on(async move {
            if filler.open().await.is_err() {
                return None;
            }
            let target = filler.handles[0];
            let stocked = filler.stock(target).await;
            no_room_for_images(&disk, true);
            (stocked && filler.fill(target).await).then_some(filler)
        });
        let Some(_filler) = filled.map_err(|stuck| Failure::Stuck(stuck.to_string()))? else {
            self.check()?;
            return Ok(false);
        };
        let done = Rc::new(Cell::new(0));
        for _ in 0..GETTERS {
            let mut getter = self.patient_worker();
            let done = Rc::clone(&done);
            self.shared.borrow_mut().model.spare(getter.number);
            let executor = self.machine.world.executor();
            executor.spawn("getter", async move {
                if getter.open().await.is_ok() {
                    getter.get_and_back_out(getter.handles[0]).await;
                }
                done.set(done.get() + 1);
                // Its unit of work stays open until the end.
                std::future::pending::<()>().await;
                drop(getter);
            });
        }
        let clock = self.machine.env().clock;
        let until = clock.monotonic() + LONG;
        let executor = self.machine.world.executor();
        executor.run_while(|| done.get() < GETTERS && clock.monotonic() < until);
        self.check()?;
        if done.get() < GETTERS {
            return Err(Failure::Stuck("gets on a full log".to_owned()));
        }
        // What is in the log is there after a crash too.
        let log = self.machine.qm().log().clone();
        let forced = executor.block_on(async move { log.force(log.appended()).await.is_ok() });
        let forced = forced.map_err(|stuck| Failure::Stuck(stuck.to_string()))?;
        self.check()?;
        Ok(forced)
    }

    /// An application that gives no call up.
    fn patient_worker(&mut self) -> Worker {
        let mut worker = self.worker();
        worker.plan.cancel = 0;
        worker
    }
}
