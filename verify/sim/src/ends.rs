//! How the queue manager of a run ends: in each of its ways, by a crash, or by a crash in the middle of an end.
//!
//! Invariants:
//! * After a pre-emptive end, and after one that was not clean, the process is gone: nothing of it runs on.
//! * A queue manager stops by itself only after a fault of the disk: any other stop is a finding.

use posthaste_engine::EndMode;
use posthaste_model::Model;

use crate::channel;
use crate::machine::TIMEOUT;
use crate::run::{Failure, Run};

impl Run {
    /// Ends the queue manager, one way or the other.
    pub(crate) fn stop(&mut self) -> Result<(), Failure> {
        self.expect_no_stop()?;
        let stopped = self.machine.qm().stopped().is_some();
        if self.plan.tell {
            println!("--- stop {:?}", self.stops);
        }
        if stopped && self.ends.coin() {
            // An end was under way when it stopped by itself.
            self.met("end after a stop");
            return self.end(EndMode::Immediate);
        }
        if stopped || self.rng.chance(self.plan.crash) {
            self.retain_in_haste();
            return self.break_off();
        }
        let how = if self.ends.chance(self.plan.other_ends) {
            *self
                .ends
                .pick(&[EndMode::Controlled, EndMode::Preemptive])
                .unwrap_or(&EndMode::Controlled)
        } else {
            EndMode::Immediate
        };
        if self.ends.chance(self.plan.crash_in_end) {
            self.met("crash in an end");
            self.begin_to_end(how);
            return self.break_off();
        }
        if self.ends.chance(self.plan.give_way) {
            self.give_way(how);
        }
        self.end(how)
    }

    /// A queue manager that has stopped although no fault has struck its disk has found a defect of its own.
    pub(crate) fn expect_no_stop(&self) -> Result<(), Failure> {
        match self.machine.qm().stopped() {
            Some(stop) if self.machine.world.disk().struck().len() == self.struck => {
                Err(Failure::Stopped(stop.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The power fails, or the process is killed.
    pub(crate) fn break_off(&mut self) -> Result<(), Failure> {
        self.check()?;
        if self.rng.below(3) == 0 {
            self.met("kill");
            self.machine.kill();
        } else {
            self.met("crash");
            self.machine.crash();
        }
        if self.site.take().is_some() {
            self.met("crash with channels");
        }
        self.calm();
        self.stops.0 += 1;
        self.verdict(Model::crash)
    }

    /// An end begins and is called off in its middle, for the one that comes next.
    fn give_way(&mut self, next: EndMode) {
        let first = match next {
            EndMode::Controlled => EndMode::Controlled,
            EndMode::Immediate | EndMode::Preemptive => *self
                .ends
                .pick(&[EndMode::Controlled, EndMode::Immediate])
                .unwrap_or(&EndMode::Controlled),
        };
        self.met("end gives way to another");
        let qm = self.machine.qm().clone();
        self.shared.borrow_mut().stopping = true;
        self.begin_channels_end(first);
        let (disk, executor) = (self.machine.world.disk(), self.machine.world.executor());
        let ending = executor.spawn("end", async move { qm.end(first).await });
        let until = disk.operations() + self.ends.below(60);
        let clock = self.machine.env().clock;
        let late = clock.monotonic() + 2_000_000_000;
        executor.run_while(|| {
            !ending.is_finished() && disk.operations() < until && clock.monotonic() < late
        });
        ending.cancel();
        self.shared.borrow_mut().stopping = false;
    }

    /// Lets an end begin and goes a little way with it: to an instant, or to an operation of the disk.
    fn begin_to_end(&mut self, how: EndMode) {
        let qm = self.machine.qm().clone();
        if how == EndMode::Controlled {
            self.shared.borrow_mut().stopping = true;
        }
        self.begin_channels_end(how);
        let executor = self.machine.world.executor();
        let ending = executor.spawn("end", async move { qm.end(how).await });
        if self.ends.coin() {
            let nanos = self.ends.below(20_000_000);
            executor.run_for(nanos);
        } else {
            let disk = self.machine.world.disk();
            disk.cut_power_after(1 + self.ends.below(40));
            let until = self.machine.env().clock.monotonic() + TIMEOUT;
            let clock = self.machine.env().clock;
            executor.run_while(|| {
                !disk.power_is_cut() && !ending.is_finished() && clock.monotonic() < until
            });
        }
        self.shared.borrow_mut().stopping = false;
    }

    pub(crate) fn end(&mut self, how: EndMode) -> Result<(), Failure> {
        self.met(match how {
            EndMode::Controlled => "end controlled",
            EndMode::Immediate => "end immediate",
            EndMode::Preemptive => "end pre-emptive",
        });
        // A controlled end waits for applications, which end by themselves.
        self.shared.borrow_mut().stopping = how == EndMode::Controlled;
        self.begin_channels_end(how);
        let ended = self.machine.end_as(how);
        self.shared.borrow_mut().stopping = false;
        let clean = ended.map_err(|stuck| Failure::Stuck(format!("{how:?} end: {stuck}")))?;
        self.check()?;
        self.expect_clean(clean)?;
        self.stops.1 += 1;
        let channels = self.end_channels(clean)?;
        if how == EndMode::Preemptive || !clean || channels {
            self.machine.kill();
        }
        self.calm();
        if clean && how != EndMode::Preemptive {
            self.verdict(Model::clean_shutdown)
        } else {
            self.verdict(Model::crash)
        }
    }

    /// What the server does to its channels when an end begins.
    fn begin_channels_end(&self, how: EndMode) {
        let Some(site) = &self.site else { return };
        site.qm.quiesce(how);
        site.note_end(None);
        if how != EndMode::Controlled {
            site.registry.end(how == EndMode::Preemptive);
        }
    }

    /// The connections that are left when the queue manager has ended say farewell, and are gone soon. Whether there
    /// are channels: their clients go too, which live on in no process that ends.
    fn end_channels(&mut self, clean: bool) -> Result<bool, Failure> {
        let Some(site) = self.site.take() else {
            return Ok(false);
        };
        site.registry.end(true);
        self.machine.world.executor().run_for(channel::FAREWELL);
        self.check()?;
        let left = site.registry.status().len();
        if clean && left > 0 {
            return Err(Failure::Stuck(format!(
                "{left} channel instances outlive their queue manager"
            )));
        }
        self.met("end with channels");
        Ok(true)
    }

    /// An end fails only for a fault of the disk, or for want of room on it.
    fn expect_clean(&self, clean: bool) -> Result<(), Failure> {
        if clean || self.disk_full || self.machine.world.disk().struck().len() > self.struck {
            return Ok(());
        }
        Err(Failure::Stopped("an end was not clean".to_owned()))
    }

    /// A fault that was ordered and has not struck must not strike the start.
    fn calm(&mut self) {
        let disk = self.machine.world.disk();
        disk.clear_faults();
        self.struck = disk.struck().len();
    }
}
