//! A disk without room: for a stretch of work, for the end after it and for the start after that, until somebody makes
//! room; or, once, for a single call.
//!
//! Laws:
//! * A full disk does not stop the queue manager, and does not keep it from starting. Only an orderly end may fail.
//! * Once there is room, puts are taken again, without a restart.

use bytes::Bytes;
use posthaste_env_sim::{Area, Fault};
use posthaste_mqi::constants::{MQPER_PERSISTENT, MQPMO_NO_SYNCPOINT};
use posthaste_mqi::{Md, Name, Od, Pmo};

use crate::run::{Failure, Run};

/// Bytes that are left when the disk becomes full, at most: from nothing to what a few messages need.
const LEFT: u64 = 600_000;
/// Calls that find room before the one that does not.
const SKIPPED: u64 = 30;
/// Virtual nanoseconds in which a queue manager finds out that there is room again.
const NOTICED: u64 = 3_000_000_000;

impl Run {
    /// Takes the room of the disk away, or lets one call find none, in the stretch of work that begins.
    pub(crate) fn fill_disk(&mut self) {
        if !self.faults.chance(self.plan.full_disk) {
            return;
        }
        if self.site.is_some() {
            self.met("channels on a full disk");
        }
        let disk = self.machine.world.disk();
        if self.faults.coin() {
            let fault = match self.faults.coin() {
                true => Fault::DiskFull,
                false => Fault::QuotaUsedUp,
            };
            disk.order(fault, Area::Any, self.faults.below(SKIPPED));
        } else {
            disk.set_free(Some(self.faults.below(LEFT)));
            self.disk_full = true;
            self.met("disk full");
        }
    }

    /// After a start on a full disk: makes room, or leaves it full for one more stretch.
    pub(crate) fn make_room(&mut self) {
        if self.disk_full {
            self.met("start on a full disk");
            if self.faults.coin() {
                self.give_room();
            }
        }
    }

    pub(crate) fn give_room(&mut self) {
        self.machine.world.disk().set_free(None);
        self.disk_full = false;
    }

    /// There is room, and nobody works: a put is taken.
    pub(crate) fn expect_puts(&mut self) -> Result<(), Failure> {
        self.machine.world.executor().run_for(NOTICED);
        self.expect_no_stop()?;
        if self.machine.qm().stopped().is_some() {
            return Ok(());
        }
        let session = self.machine.connect("last");
        let put = self.machine.world.executor().block_on(async move {
            let mut od = Od {
                object_name: Name::new("SYSTEM.DEFAULT.LOCAL.QUEUE"),
                ..Od::default()
            };
            let mut md = Md {
                persistence: MQPER_PERSISTENT,
                ..Md::default()
            };
            let mut pmo = Pmo {
                options: MQPMO_NO_SYNCPOINT,
                ..Pmo::default()
            };
            let data = Bytes::from_static(b"room");
            session.put1(&mut od, &mut md, &mut pmo, data).await
        });
        match put.map_err(|stuck| Failure::Stuck(stuck.to_string()))? {
            Ok(_) => Ok(()),
            Err(reason) => Err(Failure::Refused(reason.to_string())),
        }
    }
}
