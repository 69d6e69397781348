//! Faults of the medium: reads that fail, files that cannot be opened, writes that are acknowledged and lost, or go to
//! a wrong place. (Writes are torn at every crash; those that are lost where it does the worst: `turn_over.rs`.)
//!
//! Laws:
//! * A fault in a queue's file concerns that queue: its calls get 2101 once it is met, the operator is told, and
//!   nothing of the others is lost (`model/src/damage.rs`).
//! * Where the log or an image has lost what was acknowledged, the start is refused; there the run ends.
//! * A start that a failing read or open refuses has changed nothing: the next one succeeds. A queue's file that cannot be
//!   read refuses none.

use std::path::Path;

use posthaste_env_sim::{Area, Fault, Struck};
use posthaste_model::{Op, QueueId, Violation};
use posthaste_mqi::Reason;
use posthaste_mqi::constants::{MQIA_INHIBIT_PUT, MQQA_PUT_ALLOWED};

use crate::calls::Manner;
use crate::delayed::{STAGING, WITHDRAWN};
use crate::run::{Failure, Run};
use crate::workload::{Shared, Worker};

/// Where queue files are.
pub(crate) const QUEUES: &str = "/qm/data/queues";
/// Where log extents are.
const EXTENTS: &str = "/qm/log/active";
/// Log writes after a lost one that prove that there was one.
const PROOF: u32 = 8;
/// No put takes fewer bytes of the log.
const PUT_BYTES: u64 = 100;

/// Whether what was written is not there, although nobody was told.
fn silent(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::LostWrite | Fault::LostRewrite | Fault::MisdirectedWrite
    )
}

impl Shared {
    /// Tells the oracle to whose files something has happened.
    pub(crate) fn tell_struck(&mut self) {
        let own = self.own.iter();
        let own = own.filter_map(|own| Some((own.name.clone(), own.queue?)));
        let withdrawn = (WITHDRAWN.to_owned(), self.withdrawn);
        let shared = self.queues.iter().cloned().chain([withdrawn]);
        let known: Vec<(String, QueueId)> = shared.chain(own).collect();
        for struck in self.disk.struck() {
            let concerns = silent(struck.fault) || struck.fault == Fault::ReadError;
            let name = struck
                .path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy();
            if concerns && struck.path.starts_with(QUEUES) {
                let queues = known.iter().filter(|(queue, _)| *queue == name);
                queues.for_each(|(_, queue)| self.model.struck(*queue));
                if name == STAGING {
                    self.model.waiting_struck();
                }
            }
        }
    }

    /// A call on a queue got 2101.
    fn found_damaged(&mut self, queue: QueueId) -> Result<(), Violation> {
        if self.disk.power_is_cut() {
            return Ok(());
        }
        self.tell_struck();
        self.coverage.met("reason 2101");
        self.model.damaged(queue)
    }
}

impl Worker {
    /// Whether a call on a queue got 2101, as it may; the oracle hears of it.
    pub(crate) fn damaged(&self, queue: QueueId, reason: Reason) -> bool {
        if reason != Reason::OBJECT_DAMAGED {
            return false;
        }
        let found = self.shared.borrow_mut().found_damaged(queue);
        match found {
            Ok(()) => true,
            Err(violation) => self.violated(violation),
        }
    }
}

impl Run {
    /// Lets the medium fail once, some time in the stretch of work that begins.
    pub(crate) fn order_media(&mut self) {
        let faults = [
            Fault::ReadError,
            Fault::OpenError,
            Fault::LostWrite,
            Fault::MisdirectedWrite,
        ];
        let fault = *self.faults.pick(&faults).unwrap_or(&Fault::ReadError);
        let area = match self.faults.below(10) {
            0..3 if silent(fault) => Area::Named("checkpoint-".to_owned()),
            3..6 if silent(fault) => Area::Under(EXTENTS.into()),
            _ => Area::Under(QUEUES.into()),
        };
        let skip = self.faults.below(12);
        if self.site.is_some() {
            self.met("channels on a failing medium");
        }
        self.machine.world.disk().order(fault, area, skip);
    }

    /// At the end of a run whose medium fails, when all has been accounted for: a write of the log is lost, and others follow it.
    /// The start after that is refused, or finds all that was put.
    pub(crate) fn lose_at_last(&mut self) -> Result<(), Failure> {
        if self.plan.media == 0 || self.machine.qm().stopped().is_some() {
            return Ok(());
        }
        let disk = self.machine.world.disk().clone();
        disk.order(
            Fault::LostWrite,
            Area::Under(EXTENTS.into()),
            self.faults.below(3),
        );
        let lost = self.lost_in(EXTENTS);
        for _ in 0..PROOF {
            let put = self.alone(async |worker| {
                let target = worker.handles[worker.handles.len() - 1];
                worker.make_put(target, 10, Manner::plain(false)).await
            })?;
            if !put || self.lost_in(EXTENTS) > lost {
                break;
            }
        }
        self.check()?;
        self.prove()?;
        self.break_off()?;
        // What stays delayed for damage was left out of the first account, and may come now.
        let settled = !self.shared.borrow().model.any_damaged();
        match self.start_again(self.plan.epochs)? && settled {
            true => self.audit(),
            false => Ok(()),
        }
    }

    /// How many writes were lost in a folder.
    fn lost_in(&self, folder: &str) -> usize {
        let struck = self.machine.world.disk().struck();
        let here = |path: &Path| path.starts_with(folder);
        let lost = |s: &&Struck| silent(s.fault) && here(&s.path);
        struck.iter().filter(lost).count()
    }

    /// A log write was lost: a few more are made, so that a restart can know.
    pub(crate) fn prove(&mut self) -> Result<(), Failure> {
        let lost = self.lost_in(EXTENTS);
        if lost == self.proven || self.machine.qm().stopped().is_some() {
            return Ok(());
        }
        let appended = self.machine.qm().log().appended().0;
        let done = self.alone(async |worker| {
            let target = worker.handles[worker.handles.len() - 1];
            // What is refused is not in the log.
            let op = Op::Inhibit(target.queue, Some(false), None);
            let put = MQIA_INHIBIT_PUT;
            if !worker
                .set_attribute(target, put, MQQA_PUT_ALLOWED, op)
                .await
            {
                return false;
            }
            for _ in 0..PROOF {
                if !worker.make_put(target, 10, Manner::plain(false)).await {
                    return false;
                }
            }
            true
        })?;
        let written = self.machine.qm().log().appended().0 - appended;
        if done && written >= u64::from(PROOF) * PUT_BYTES {
            self.proven = lost;
        }
        self.check()
    }

    /// Whether a log write was lost and too little written after it, in an end or because nothing could be: no restart
    /// can know of that, and what was acknowledged last is gone.
    pub(crate) fn lost_without_proof(&self) -> bool {
        self.lost_in(EXTENTS) > self.proven
    }

    /// Starts while reads or opens fail; whether it has started.
    pub(crate) fn start_disturbed(&mut self) -> Result<bool, Failure> {
        let fault = [Fault::ReadError, Fault::OpenError][self.faults.index(2)];
        let skip = self.faults.below(40);
        let disk = self.machine.world.disk().clone();
        disk.order(fault, Area::Any, skip);
        let before = disk.struck().len();
        // What a start survives may still stop the queue manager after it.
        self.struck = before;
        let started = self.machine.start();
        disk.clear_faults();
        match started {
            Ok(()) => Ok(true),
            // The next start says whether it is for good.
            Err(_) if self.refuses(&disk.struck()[before..]) || self.lost_outside() => {
                self.met("start refused for a fault");
                self.machine.kill();
                Ok(false)
            }
            Err(error) => Err(Failure::Start(error.to_string())),
        }
    }

    /// Whether a refused start is right: the log or an image has lost what it needs.
    pub(crate) fn rightly_refused(&self) -> bool {
        let lost = self.lost_outside();
        if lost {
            self.met("start refused for what is lost");
        }
        lost
    }

    /// Whether a start may be refused for one of these. What cannot be read of a queue's file concerns that queue only.
    fn refuses(&self, struck: &[Struck]) -> bool {
        let queue = |s: &Struck| s.fault == Fault::ReadError && s.path.starts_with(QUEUES);
        !struck.iter().all(queue)
    }

    fn lost_outside(&self) -> bool {
        let struck = self.machine.world.disk().struck();
        let queues = |path: &Path| path.starts_with(QUEUES);
        struck.iter().any(|s| silent(s.fault) && !queues(&s.path))
    }

    /// The operator has heard of damage that applications were told of.
    pub(crate) fn expect_message(&self) -> Result<(), Failure> {
        let damaged = self.shared.borrow().model.any_damaged();
        if damaged && !self.machine.operator.has_message("AMQ7472E") {
            return Err(Failure::Invariant("damage was not told".to_owned()));
        }
        Ok(())
    }
}
