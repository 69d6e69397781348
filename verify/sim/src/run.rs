//! One seed, from the first message to the final audit.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use posthaste_engine::plant::plant;
use posthaste_env::Clock;
use posthaste_env_sim::{Area, Fault, Rng};
use posthaste_model::{Definitions, Harden, Model, QueueSpec, Violation};

use crate::branches::{self, Branches};
use crate::caller::Caller;
use crate::channel::{self, Site};
use crate::coverage::{self, Coverage};
use crate::definer::{self, Own};
use crate::delayed::WITHDRAWN;
use crate::machine::Machine;
use crate::media::QUEUES;
use crate::plan::Plan;
use crate::solo;
use crate::subscribe::{self, Subscriptions};
use crate::workload::{Shared, Worker, World, micros};

/// How far the wall clock is set forward or back, microseconds at most: a second, an hour, a year.
const STEPS: [u64; 3] = [1_000_000, 3_600_000_000, 31_536_000_000_000];

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Calls made by applications.
    pub calls: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Crashes and orderly ends.
    pub stops: (u32, u32),
    /// Hash of everything that happened.
    pub trace: u64,
    /// What was met.
    pub coverage: Coverage,
}

/// Why a run failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The oracle says no.
    Violation(Violation),
    /// The queue manager did not start after faults that it promises to survive.
    Start(String),
    /// The queue manager stopped by itself although nothing had failed.
    Stopped(String),
    /// What is in memory contradicts itself, exceeds its limits or is left over.
    Invariant(String),
    /// Something waits that nothing will wake.
    Stuck(String),
    /// Puts are refused although there is room.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Violation(violation) => write!(f, "{violation}"),
            Failure::Start(error) => write!(f, "the restart failed: {error}"),
            Failure::Stopped(why) => write!(f, "stopped without cause: {why}"),
            Failure::Invariant(what) => write!(f, "an invariant does not hold: {what}"),
            Failure::Stuck(what) => write!(f, "stuck: {what}"),
            Failure::Refused(why) => write!(f, "a put is refused although there is room: {why}"),
        }
    }
}

/// Runs the plan of a seed.
///
/// # Errors
/// What went wrong; the seed reproduces it.
pub fn run(seed: u64) -> Result<Report, Failure> {
    run_plan(&Plan::of(seed))
}

/// Unplants when the run ends, however it ends.
struct Planting;

impl Drop for Planting {
    fn drop(&mut self) {
        plant(None);
    }
}

/// Runs a plan.
///
/// # Errors
/// What went wrong.
pub fn run_plan(plan: &Plan) -> Result<Report, Failure> {
    let _planting = Planting;
    plant(plan.bug);
    let run = Run::new(plan)?;
    let disk = run.machine.world.disk().clone();
    let report = run.go()?;
    // Its files are what a queue manager holds for as long as anything of it lives.
    match disk.holders() {
        1 => Ok(report),
        left => Err(Failure::Invariant(format!(
            "of queue managers that are gone {} parts are in memory",
            left - 1
        ))),
    }
}

pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) machine: Machine,
    pub(crate) shared: World,
    pub(crate) rng: Rng,
    /// Draws how the queue manager ends.
    pub(crate) ends: Rng,
    /// Draws faults and clock steps.
    pub(crate) faults: Rng,
    pub(crate) stops: (u32, u32),
    /// The disk has little room or none.
    pub(crate) disk_full: bool,
    /// Faults that had struck when the queue manager was started.
    pub(crate) struck: usize,
    /// The channels of the running queue manager.
    pub(crate) site: Option<Rc<Site>>,
    /// So many lost log writes have been followed by more.
    pub(crate) proven: usize,
    /// The log before the last start, to be put back.
    pub(crate) old_log: Option<crate::old_log::Files>,
}

/// Makes applications, whose calls the oracle hears of.
#[derive(Clone)]
pub(crate) struct Maker {
    plan: Plan,
    shared: World,
    clock: Arc<dyn Clock>,
}

impl Maker {
    pub(crate) fn worker(&self, session: Caller) -> Worker {
        let number = {
            let mut shared = self.shared.borrow_mut();
            shared.next_session += 1;
            shared.next_session
        };
        Worker {
            number,
            plan: self.plan.clone(),
            shared: self.shared.clone(),
            clock: self.clock.clone(),
            session,
            handles: Vec::new(),
            unanswered: RefCell::default(),
        }
    }
}

fn start_error(error: impl fmt::Display) -> Failure {
    Failure::Start(error.to_string())
}

impl Run {
    fn new(plan: &Plan) -> Result<Run, Failure> {
        let mut model = Model::new();
        model.allow_system_backout();
        let machine = Machine::new(plan).map_err(start_error)?;
        let mut queues = Vec::new();
        for at in 0..plan.queues {
            let name = format!("Q{at}");
            let id = model.add_queue(QueueSpec {
                name: name.clone(),
                max_depth: if at == 0 { plan.max_depth } else { 1_000_000 },
                by_priority: at != 1,
                default_priority: 0,
                default_persistent: false,
                keeps_non_persistent: at == 2,
                harden: if at == 2 {
                    Harden::Backouts
                } else {
                    Harden::No
                },
            });
            queues.push((name, id));
        }
        let withdrawn = model.add_queue(QueueSpec::roomy(WITHDRAWN));
        let shared = Shared {
            model,
            withdrawn,
            violation: None,
            stuck: None,
            rng: Rng::new(plan.seed ^ 0x00AC_710F),
            next_session: 0,
            next_id: 0,
            calls: 0,
            delivered: 0,
            stopping: false,
            waiting: 0,
            channel_stops: 0,
            queues,
            definitions: Definitions::default(),
            own: (0..plan.definers)
                .map(|at| Own::new(format!("N{at}")))
                .collect(),
            next_number: 0,
            shift: 0,
            sent: BTreeMap::new(),
            listed: BTreeMap::new(),
            coverage: Coverage::default(),
            disk: machine.world.disk().clone(),
            reports: BTreeMap::new(),
            branches: Branches::default(),
            subscriptions: Subscriptions::default(),
        };
        Ok(Run {
            plan: plan.clone(),
            machine,
            shared: Rc::new(RefCell::new(shared)),
            rng: Rng::new(plan.seed ^ 0x57_0B5),
            ends: Rng::new(plan.seed ^ 0x00E4_D504),
            faults: Rng::new(plan.seed ^ 0x0FA0_1735),
            stops: (0, 0),
            disk_full: false,
            struck: 0,
            proven: 0,
            old_log: None,
            site: None,
        })
    }

    /// Defines what applications want to be there.
    fn define(&self) {
        for at in 0..self.plan.queues {
            let sequence = if at == 1 { "FIFO" } else { "PRIORITY" };
            let class = if at == 2 { "HIGH" } else { "NORMAL" };
            let harden = if at == 2 { "HARDENBO" } else { "NOHARDENBO" };
            let depth = if at == 0 {
                self.plan.max_depth
            } else {
                1_000_000
            };
            self.machine.mqsc(&format!(
                "DEFINE QLOCAL(Q{at}) MSGDLVSQ({sequence}) NPMCLASS({class}) {harden} MAXDEPTH({depth})"
            ));
        }
        definer::MODELS
            .iter()
            .for_each(|text| self.machine.mqsc(text));
        if self.plan.channels.is_some() {
            channel::DEFINITIONS
                .iter()
                .for_each(|text| self.machine.mqsc(text));
        }
        if self.plan.solo {
            let grouped = crate::grouped::DEFINITIONS;
            solo::DEFINITIONS
                .iter()
                .chain(&grouped)
                .for_each(|text| self.machine.mqsc(text));
        }
        if self.plan.topics {
            subscribe::definitions().for_each(|text| self.machine.mqsc(&text));
            crate::publish::definitions()
                .iter()
                .for_each(|text| self.machine.mqsc(text));
        }
    }

    fn go(mut self) -> Result<Report, Failure> {
        self.machine.start().map_err(start_error)?;
        self.define();
        self.has_started();
        for epoch in 0..self.plan.epochs {
            if self.faults.chance(self.plan.exhaust) {
                if !self.exhaust(epoch)? {
                    return Ok(self.report());
                }
                continue;
            }
            if self.faults.chance(self.plan.turn_over) {
                if !self.turn_over(epoch)? {
                    return Ok(self.report());
                }
                continue;
            }
            self.work()?;
            self.stop()?;
            if !self.start_again(epoch)? {
                return Ok(self.report());
            }
        }
        if self.rng.coin() {
            // Without a restart in between: what a restart would bring back must not be missing.
            self.work()?;
            self.shared.borrow_mut().stopping = true;
            let rest = match self.site {
                Some(_) => channel::QUIET,
                None => 2_000_000_000,
            };
            self.machine.world.executor().run_for(rest);
            self.check()?;
        }
        // A fault that was ordered and has not struck must not strike the audit.
        self.machine.world.disk().clear_faults();
        self.give_room();
        if self.machine.qm().stopped().is_some() {
            self.stop()?;
            if !self.start_again(self.plan.epochs)? {
                return Ok(self.report());
            }
        }
        if self.plan.delays && !self.deliver_delayed()? {
            return Ok(self.report());
        }
        self.audit()?;
        self.expect_puts()?;
        self.lose_at_last()?;
        Ok(self.report())
    }

    fn report(&self) -> Report {
        let mut shared = self.shared.borrow_mut();
        shared.coverage.take_marks();
        for id in coverage::MESSAGES {
            if self.machine.operator.has_message(id) {
                shared.coverage.met(&format!("message {id}"));
            }
        }
        let struck = self.machine.world.disk().struck();
        for struck in struck {
            shared.coverage.met(&format!("fault {:?}", struck.fault));
        }
        Report {
            seed: self.plan.seed,
            calls: shared.calls,
            delivered: shared.delivered,
            stops: self.stops,
            trace: self.machine.world.trace(),
            coverage: std::mem::take(&mut shared.coverage),
        }
    }

    pub(crate) fn met(&self, what: &str) {
        self.shared.borrow_mut().coverage.met(what);
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        if let Some(what) = self.machine.broken() {
            return Err(Failure::Invariant(what));
        }
        let shared = self.shared.borrow();
        match (&shared.violation, &shared.stuck) {
            (Some(violation), _) => Err(Failure::Violation(violation.clone())),
            (None, Some(what)) => Err(Failure::Stuck(what.clone())),
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn maker(&self) -> Maker {
        Maker {
            plan: self.plan.clone(),
            shared: self.shared.clone(),
            clock: self.machine.env().clock,
        }
    }

    pub(crate) fn worker(&self) -> Worker {
        let next = self.shared.borrow().next_session + 1;
        let session = self.machine.connect(&format!("app {next}"));
        self.maker().worker(Caller::Local(session))
    }

    /// Sets the clock, lets an operation on names fail, or takes the disk's room away, in the stretch of work that begins.
    fn disturb(&mut self) {
        if self.faults.chance(self.plan.name_error) {
            let skip = self.faults.below(8);
            let disk = self.machine.world.disk();
            disk.order(Fault::NameError, Area::Any, skip);
        }
        if self.faults.chance(self.plan.media) {
            self.order_media();
        }
        self.set_clock();
        self.fill_disk();
    }

    /// Sets the wall clock, forward or back. By when messages expire that tells only with the next start.
    fn set_clock(&mut self) {
        if !self.faults.chance(self.plan.clock_step) {
            return;
        }
        let most = *self.faults.pick(&STEPS).unwrap_or(&1);
        let step = self.faults.between(1, most) as i64;
        let step = if self.faults.coin() { step } else { -step };
        self.met(if step < 0 {
            "clock set back"
        } else {
            "clock set forward"
        });
        if self.plan.expiry > 0 {
            self.met("clock set while messages expire");
        }
        self.machine.world.clock().step_wall(step);
    }

    /// It has started: its messages expire by what the wall clock said then, and by what has passed since.
    fn has_started(&self) {
        let clock = self.machine.env().clock;
        let mut shared = self.shared.borrow_mut();
        // What had expired by then may have been found.
        let before = shared.micros(&*clock);
        shared.model.clock_set(before);
        shared.shift = clock.wall_micros() - micros(&*clock) as i64;
        let now = shared.micros(&*clock);
        shared.model.clock_set(now);
        shared.model.restart();
    }

    /// Those who are alone with their queues.
    fn spawn_solo(&self) {
        let (triggers, reports, groups) = (self.worker(), self.worker(), self.worker());
        let executor = self.machine.world.executor();
        executor.spawn("triggers", triggers.trigger());
        executor.spawn("reports", reports.report());
        executor.spawn("groups", groups.group());
        // Where there are channels they come over them.
        if self.site.is_none() {
            executor.spawn("locks", self.worker().lock(self.worker()));
            executor.spawn("marks", self.worker().mark(self.worker()));
            // A publication fails, or passes by, where a fault of the medium has damaged the queue.
            if self.plan.media == 0 {
                executor.spawn("grouped", self.worker().group_subscriptions());
            }
        }
    }

    /// Lets the next write or sync fail, of any file or of a queue's: most calls are those of the log.
    fn order_disk_error(&mut self) {
        let fault = if self.rng.coin() {
            Fault::WriteError
        } else {
            Fault::SyncError
        };
        let area = match self.faults.coin() {
            true => Area::Under(QUEUES.into()),
            false => Area::Any,
        };
        self.machine.world.disk().order(fault, area, 0);
    }

    /// Lets applications work for a while.
    fn work(&mut self) -> Result<(), Failure> {
        let channels = self.plan.channels.clone();
        self.site = channels.map(|plan| {
            let rng = self.faults.fork();
            Site::new(&self.machine, &self.shared, &plan, rng)
        });
        if let Some(site) = &self.site {
            self.open_channels(site);
        }
        let here = match &self.site {
            // Most come over channels.
            Some(_) => self.plan.sessions.min(1),
            None => self.plan.sessions,
        };
        for _ in 0..here {
            let mut worker = self.worker();
            self.machine
                .world
                .executor()
                .spawn("application", async move {
                    if worker.open().await.is_ok() {
                        worker.work().await;
                    }
                });
        }
        let coordinator = self.worker();
        let executor = self.machine.world.executor();
        executor.spawn("coordinator", coordinator.coordinate());
        for at in 0..self.plan.definers {
            let worker = self.worker();
            self.machine
                .world
                .executor()
                .spawn("definer", worker.define(at));
        }
        if self.plan.solo {
            self.spawn_solo();
        }
        self.spawn_withdrawing();
        if self.plan.topics {
            self.spawn_publishers();
            self.spawn_subscribers();
        }
        // Once: the oracle looks at each message on a queue, for each call.
        let deep = std::mem::take(&mut self.plan.deep);
        if deep > 0 {
            let mut worker = self.worker();
            worker.plan.deep = deep;
            let executor = self.machine.world.executor();
            executor.spawn("deep", worker.deepen());
        }
        self.disturb();
        if self.rng.chance(self.plan.disk_error) {
            let after = self.rng.below(self.plan.epoch_micros) * 1000;
            self.machine.world.executor().run_for(after);
            self.order_disk_error();
        }
        let nanos = self.rng.between(1, self.plan.epoch_micros) * 1000;
        let before = self.faults.below(nanos);
        self.machine.world.executor().run_for(before);
        self.set_clock();
        self.machine.world.executor().run_for(nanos - before);
        self.check()?;
        self.prove()?;
        if let Some(site) = self.site.clone() {
            self.after_work(&site)?;
        }
        self.expect_no_stop()
    }

    pub(crate) fn verdict(
        &self,
        say: impl FnOnce(&mut Model) -> Result<(), Violation>,
    ) -> Result<(), Failure> {
        say(&mut self.shared.borrow_mut().model).map_err(Failure::Violation)
    }

    /// Starts again; sometimes the power fails during the restart, or right after it. `false`: the start is refused,
    /// and rightly so, or what it would find says nothing.
    pub(crate) fn start_again(&mut self, epoch: u32) -> Result<bool, Failure> {
        if self.lost_without_proof() {
            return Ok(false);
        }
        self.put_old_log_back()?;
        while self.rng.chance(200_000) {
            let steps = self.rng.below(400);
            self.machine.world.disk().cut_power_after(1 + steps);
            // It may have started before the power failed: then it falls in the middle of nothing.
            let _ = self.machine.start();
            self.met("power cut in restart");
            self.machine.crash();
            self.verdict(Model::crash)?;
        }
        let disturbed = self.faults.chance(self.plan.media);
        if !disturbed || !self.start_disturbed()? {
            self.struck = self.machine.world.disk().struck().len();
            match self.machine.start() {
                Ok(()) => {}
                Err(_) if self.rightly_refused() => return Ok(false),
                Err(error) => return Err(Failure::Start(format!("epoch {epoch}: {error}"))),
            }
        }
        self.has_started();
        let looked = self.shared.borrow_mut().branches.look(self.machine.qm());
        looked.map_err(Failure::Stuck)?;
        // What the restart has made of the files, before anybody works on it.
        let checked = self.machine.qm().check();
        checked.map_err(Failure::Invariant)?;
        self.make_room();
        self.look().map(|()| true)
    }

    /// Holds the definitions against what was reported done.
    pub(crate) fn look(&self) -> Result<(), Failure> {
        let mut shared = self.shared.borrow_mut();
        (0..self.plan.definers).try_for_each(|at| {
            let looked = definer::look(&mut shared, at, self.machine.qm());
            looked.map(drop).map_err(Failure::Violation)
        })
    }

    /// An application that is not given up does this, with nobody beside it. `false`: it says so, or could not open its
    /// queues.
    pub(crate) fn alone(
        &self,
        does: impl AsyncFnOnce(&mut Worker) -> bool + 'static,
    ) -> Result<bool, Failure> {
        let mut worker = self.worker();
        worker.plan.cancel = 0;
        let executor = self.machine.world.executor();
        let done = executor
            .block_on(async move { worker.open().await.is_ok() && does(&mut worker).await });
        done.map_err(|stuck| Failure::Stuck(stuck.to_string()))
    }

    /// One application opens every queue and gets everything.
    pub(crate) fn empty(&self, does: impl AsyncFnOnce(Worker) + 'static) -> Result<(), Failure> {
        let mut worker = self.worker();
        worker.plan.cancel = 0;
        let executor = self.machine.world.executor();
        let emptied = executor.block_on(async move {
            worker.drain_subscriptions().await;
            worker.open_all().await?;
            does(worker).await;
            Ok::<_, posthaste_mqi::Reason>(())
        });
        let emptied = emptied.map_err(|stuck| Failure::Stuck(stuck.to_string()))?;
        emptied.map_err(|reason| {
            Failure::Stuck(format!("a queue cannot be opened to be emptied: {reason}"))
        })?;
        self.check()
    }

    /// One application gets everything; then all has to be accounted for.
    pub(crate) fn audit(&mut self) -> Result<(), Failure> {
        self.look()?;
        let (shared, session) = (self.shared.clone(), self.machine.connect("coordinator"));
        let executor = self.machine.world.executor();
        let decided = executor.block_on(branches::decide_all(shared, session));
        decided.map_err(|stuck| Failure::Stuck(stuck.to_string()))?;
        self.empty(Worker::drain)?;
        self.verdict(Model::audit)?;
        self.expect_message()
    }
}
