//! A queue manager with its threads on a simulated machine, and the oracle.
//!
//! Invariants:
//! * The oracle hears of a call before the engine does and of its end after it, without a point in between; so
//!   what it takes for acknowledged was acknowledged.
//! * When the power fails, the disk is gone at once; the threads run on without it until they have ended, and
//!   what they see then is not reported.

use std::cell::{Cell, RefCell, RefMut};
use std::panic::Location;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use posthaste_admin::Admin;
use posthaste_engine::{
    Application, CreateOptions, EndMode, EngineConfig, Operator, Outcome, QueueManager, Session,
    StartError,
};
use posthaste_env::sync::{Access, Mutex, Scheduler};
use posthaste_env::{Clock, Env, Nanos, Thread, block_on, spawn};
use posthaste_env_sim::{Area, Fault, Rng, SimWorld};
use posthaste_model::{Harden, Model, QueueId, QueueSpec, Violation};
use posthaste_mqi::Reason;
use posthaste_recovery_log::{Driver, LogConfig, drive};

use crate::application::App;
use crate::definitions::{OWN, Own};
use crate::disk::{ScheduledClock, ScheduledDisk};
use crate::explorer::Explorer;
use crate::schedule::DiskFault;
use crate::topics::Subscriptions;
use crate::trace::JUDGE;

/// Longer than a checkpoint takes.
const CHECKPOINT_NANOS: u64 = 1_000_000_000;

/// What is never woken.
const NOBODY: usize = 0;

/// What all applications share.
pub(crate) struct Judge {
    pub(crate) model: Model,
    pub(crate) violation: Option<Violation>,
    /// The queue manager has stopped: nothing is reported any more.
    pub(crate) down: bool,
    /// How many have followed the first one while its applications lived on, of whom nothing is reported any more.
    pub(crate) successors: u32,
    pub(crate) next_id: u64,
    pub(crate) next_session: u32,
    pub(crate) calls: u64,
    pub(crate) delivered: u64,
    pub(crate) tell: bool,
    /// What is under the name whose definition changes.
    pub(crate) own: Own,
}

struct Running {
    qm: QueueManager,
    writer: Driver,
    maintenance: Thread,
    settling: Thread,
    operator: Arc<Listener>,
}

impl Running {
    /// Waits for its threads.
    fn join(self) {
        let writer = self.writer.join();
        let threads = [self.maintenance, self.settling].map(Thread::join);
        let sound = writer.is_ok() && threads.iter().all(Result::is_ok);
        assert!(sound, "a thread panicked");
    }
}

/// An operator who reads aloud when asked to, and remembers the first message that nothing here can be the cause of.
#[derive(Default)]
struct Listener {
    tell: bool,
    alarm: Mutex<Option<String>>,
    /// Units of work that were backed out to release log space.
    backouts: AtomicU64,
}

/// A queue file does not hold what was written there.
const ALARM: &str = "AMQ7472E";
/// A unit of work was backed out to release log space.
const BACKED_OUT: &str = "AMQ7469W";

impl Operator for Listener {
    fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
        if id == ALARM {
            let message = || format!("{id} {inserts:?}");
            self.alarm.lock().get_or_insert_with(message);
        }
        if id == BACKED_OUT {
            self.backouts.fetch_add(1, Ordering::Relaxed);
        }
        if self.tell {
            println!("          {id} {inserts:?}");
        }
    }
}

/// See the head of the file.
pub(crate) struct World {
    pub(crate) explorer: Rc<Explorer>,
    pub(crate) sim: SimWorld,
    pub(crate) judge: RefCell<Judge>,
    pub(crate) rng: RefCell<Rng>,
    queues: RefCell<Vec<(&'static str, QueueId)>>,
    config: EngineConfig,
    running: RefCell<Option<Running>>,
    ended_orderly: Cell<bool>,
    /// One queue manager has ended and the next has not begun.
    changing: Cell<bool>,
    /// Why it stopped by itself.
    pub(crate) stopped: RefCell<Option<String>>,
    write_nanos: Nanos,
    pub(crate) subscriptions: Subscriptions,
}

impl World {
    /// How many units of work the queue manager has backed out by itself since it was started.
    pub(crate) fn system_backouts(&self) -> u64 {
        let running = self.running.borrow();
        let count = |running: &Running| running.operator.backouts.load(Ordering::Relaxed);
        running.as_ref().map_or(0, count)
    }

    pub(crate) fn new(
        sim: SimWorld,
        explorer: Rc<Explorer>,
        seed: u64,
        buffer: usize,
        write_nanos: Nanos,
    ) -> Rc<World> {
        let config = EngineConfig {
            name: "THREADS".to_owned(),
            data: PathBuf::from("/qm/data"),
            log: PathBuf::from("/qm/log"),
            log_config: LogConfig {
                file_pages: 64,
                primary_files: 2,
                secondary_files: 1,
                ..LogConfig::default()
            },
            q_buffer: buffer,
            pq_buffer: buffer,
            expiry_interval_s: 0,
            numbers: posthaste_engine::NUMBERS,
            authorization: None,
            cipher: None,
        };
        let mut model = Model::new();
        model.allow_system_backout();
        Rc::new(World {
            explorer,
            sim,
            judge: RefCell::new(Judge {
                model,
                violation: None,
                down: false,
                successors: 0,
                next_id: 0,
                next_session: 0,
                calls: 0,
                delivered: 0,
                tell: false,
                own: Own::default(),
            }),
            rng: RefCell::new(Rng::new(seed ^ 0x7472_6561_6473)),
            queues: RefCell::default(),
            config,
            running: RefCell::new(None),
            ended_orderly: Cell::new(false),
            changing: Cell::new(false),
            stopped: RefCell::new(None),
            write_nanos,
            subscriptions: Subscriptions::default(),
        })
    }

    fn env(&self) -> Env {
        let env = self.sim.env();
        Env {
            disk: Arc::new(ScheduledDisk {
                behind: env.disk,
                clock: self.sim.clock().clone(),
                write_nanos: self.write_nanos,
            }),
            clock: Arc::new(ScheduledClock(self.sim.clock().clone())),
            ..env
        }
    }

    /// The oracle, to be told something.
    pub(crate) fn judge(&self) -> RefMut<'_, Judge> {
        self.explorer.touched(JUDGE, Access::Write);
        self.judge.borrow_mut()
    }

    /// Something happens to the disk.
    pub(crate) fn disturb(&self, fault: DiskFault) {
        if self.judge.borrow().tell {
            println!("{:>9} --- disk: {fault}", self.micros());
        }
        let disk = self.sim.disk();
        let once = |fault| disk.order(fault, Area::Any, 0);
        match fault {
            DiskFault::Write => once(Fault::WriteError),
            DiskFault::Sync => once(Fault::SyncError),
            DiskFault::Name => once(Fault::NameError),
            DiskFault::NoRoom => once(Fault::DiskFull),
            DiskFault::Full => disk.set_free(Some(0)),
            DiskFault::Room => disk.set_free(None),
        }
    }

    /// Lets time go by for the running thread, even when the machine has stopped.
    pub(crate) fn pause(&self, nanos: u64) {
        let until = self.explorer.now() + nanos;
        while self.explorer.now() < until {
            self.explorer.wait(NOBODY, Some(until));
        }
    }

    pub(crate) fn micros(&self) -> u64 {
        self.sim.clock().monotonic() / 1000
    }

    /// Makes the queue manager.
    pub(crate) fn create(&self) -> Result<(), StartError> {
        let options = CreateOptions::default();
        QueueManager::create(&self.env(), &self.config, &options, &mut |_, _| {})?;
        Ok(())
    }

    /// Starts it with its threads.
    pub(crate) fn start(&self) -> Result<(), StartError> {
        let env = self.env();
        let tell = self.judge.borrow().tell;
        let operator = Arc::new(Listener {
            tell,
            ..Listener::default()
        });
        let started = QueueManager::start(&env, self.config.clone(), operator.clone())?;
        let io = |error| StartError::Io {
            what: "a thread".to_owned(),
            error,
        };
        let writer = drive(&env, started.qm.log(), started.writer).map_err(io)?;
        let qm = started.qm.clone();
        let maintenance = spawn("maintenance", move || block_on(qm.maintain())).map_err(io)?;
        let qm = started.qm.clone();
        let settling = spawn("settling", move || block_on(qm.settle())).map_err(io)?;
        *self.running.borrow_mut() = Some(Running {
            qm: started.qm,
            writer,
            maintenance,
            settling,
            operator,
        });
        Ok(())
    }

    pub(crate) fn qm(&self) -> QueueManager {
        match &*self.running.borrow() {
            Some(running) => running.qm.clone(),
            None => panic!("the queue manager is not running"),
        }
    }

    /// Defines a local queue that is delivered first in, first out.
    pub(crate) fn define(&self, name: &'static str) {
        let text = format!("DEFINE QLOCAL({name}) MSGDLVSQ(FIFO) HARDENBO MAXDEPTH(1000000)");
        let defined = self.command(&text);
        assert!(defined.is_ok(), "{text}: {defined:?}");
        let id = self.judge.borrow_mut().model.add_queue(QueueSpec {
            name: name.to_owned(),
            max_depth: 1_000_000,
            by_priority: false,
            default_priority: 0,
            default_persistent: false,
            keeps_non_persistent: false,
            harden: Harden::Backouts,
        });
        self.queues.borrow_mut().push((name, id));
    }

    /// Runs an MQSC command.
    ///
    /// # Errors
    /// Why it was not carried out.
    pub(crate) fn command(&self, text: &str) -> Result<(), Reason> {
        let command = match posthaste_command::parse(text) {
            Ok(Some(command)) => command,
            other => panic!("{text}: {other:?}"),
        };
        let reply = block_on(Admin::alone(&self.qm()).execute(&command));
        if reply.ok { Ok(()) } else { Err(reply.reason) }
    }

    /// The queue that always has this name.
    pub(crate) fn known(&self, name: &str) -> Option<QueueId> {
        let queues = self.queues.borrow();
        let known = queues.iter().find(|(known, _)| *known == name);
        known.map(|(_, queue)| *queue)
    }

    /// Names of all queues that are there.
    pub(crate) fn queue_names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.queues.borrow().iter().map(|(name, _)| *name).collect();
        names.extend(self.judge.borrow().own.queue.map(|_| OWN));
        names
    }

    /// Connects an application; none when the queue manager is ending.
    pub(crate) fn connect(self: &Rc<Self>, name: &str) -> Option<App> {
        let who = Application {
            name: name.to_owned(),
            ..Application::default()
        };
        let qm = self.running.borrow().as_ref()?.qm.clone();
        let session: Session = qm.connect(who).ok()?;
        let number = self.next_session();
        let run = self.judge.borrow().successors;
        Some(App::new(self.clone(), session, number, run))
    }

    pub(crate) fn next_session(&self) -> u32 {
        let mut judge = self.judge();
        judge.next_session += 1;
        judge.next_session
    }

    /// Starts a thread of the scenario.
    pub(crate) fn thread(
        self: &Rc<Self>,
        name: &str,
        body: impl FnOnce(&Rc<World>) + 'static,
    ) -> usize {
        let world = self.clone();
        let run = move || {
            body(&world);
            world.explorer.wake(world.attention());
        };
        self.explorer.start(name, Box::new(run))
    }

    /// What the main thread waits for.
    fn attention(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The power fails, or the process is killed, now.
    pub(crate) fn crash(&self) {
        let kill = self.rng.borrow_mut().below(3) == 0;
        let mut judge = self.judge.borrow_mut();
        if judge.down {
            return;
        }
        judge.down = true;
        if judge.tell {
            println!(
                "{:>9} --- {}",
                self.micros(),
                if kill { "killed" } else { "power cut" }
            );
        }
        if kill {
            self.sim.kill();
        } else {
            self.sim.crash();
        }
        let verdict = judge.model.crash();
        keep(&mut judge.violation, verdict);
        drop(judge);
        self.explorer.wake(self.attention());
    }

    /// Ends the queue manager as `endmqm -i` does.
    pub(crate) fn end(&self) {
        let Some(qm) = self.running.borrow().as_ref().map(|r| r.qm.clone()) else {
            return;
        };
        let ended = block_on(qm.end(EndMode::Immediate));
        let mut judge = self.judge();
        if judge.down {
            return;
        }
        judge.down = true;
        if judge.tell {
            println!("{:>9} --- ended: {ended:?}", self.micros());
        }
        let verdict = if ended.is_ok() {
            self.ended_orderly.set(true);
            judge.model.clean_shutdown()
        } else {
            judge.model.crash()
        };
        keep(&mut judge.violation, verdict);
    }

    /// Ends the queue manager as `endmqm -p` does, and starts another on the files that it has let go. Its applications, in
    /// its own process, go on until they find out.
    pub(crate) fn succeed(&self) {
        let Some(qm) = self.running.borrow().as_ref().map(|r| r.qm.clone()) else {
            return;
        };
        let ended = block_on(qm.end(EndMode::Preemptive));
        {
            let mut judge = self.judge();
            if judge.down {
                return;
            }
            judge.down = true;
            judge.successors += 1;
            if judge.tell {
                println!("{:>9} --- ended: {ended:?}", self.micros());
            }
            let verdict = judge.model.crash();
            keep(&mut judge.violation, verdict);
        }
        self.changing.set(true);
        let running = self.running.borrow_mut().take();
        if let Some(running) = running {
            running.join();
            qm.unlock();
        }
        if let Err(error) = self.restart()
            && self.sim.disk().struck().is_empty()
        {
            *self.stopped.borrow_mut() = Some(error.to_string());
        }
        self.changing.set(false);
    }

    /// Waits until the threads have ended or the queue manager is gone; then has everything end.
    pub(crate) fn finish(self: &Rc<Self>, threads: &[usize]) {
        let ended = |thread: &usize| self.explorer.has_ended(*thread);
        let down = || self.judge.borrow().down && !self.changing.get();
        while !down() && !threads.iter().all(ended) {
            self.explorer.wait(self.attention(), None);
        }
        self.explorer.rest();
        // The disk was there until now: only a fault of it can have forced the queue manager to stop. A full one cannot.
        let sound = self.sim.disk().struck().is_empty();
        let stopped = match (&*self.running.borrow(), self.judge.borrow().down) {
            (Some(running), false) if sound => running.qm.stopped().map(|stop| stop.to_string()),
            _ => None,
        };
        let before = self.stopped.take();
        let stopped = before.or(stopped).or_else(|| self.alarm());
        *self.stopped.borrow_mut() = stopped.or_else(|| self.broken());
        self.crash();
        let running = self.running.borrow_mut().take();
        if let Some(running) = running {
            // Its files are gone already: this only makes its threads come to an end.
            let _ = block_on(running.qm.end(EndMode::Preemptive));
            for thread in threads {
                self.explorer.join(*thread);
            }
            running.join();
        }
        if self.ended_orderly.get() {
            // The process is gone; its machine lives on.
            self.sim.kill();
        }
    }

    /// What the operator has heard that must not be, while the disk was there.
    pub(crate) fn alarm(&self) -> Option<String> {
        if self.judge.borrow().down {
            return None;
        }
        let running = self.running.borrow();
        running.as_ref()?.operator.alarm.lock().clone()
    }

    /// What in the engine's memory contradicts itself, now that the applications have gone.
    fn broken(&self) -> Option<String> {
        if self.judge.borrow().down {
            return None;
        }
        let qm = self.qm();
        // What a checkpoint is in the middle of may look like a fault; it is one if it stays.
        qm.check().err()?;
        self.pause(CHECKPOINT_NANOS);
        qm.check().err()
    }

    /// Starts the queue manager again.
    pub(crate) fn restart(&self) -> Result<(), StartError> {
        // What was ordered and has not struck must not strike the start.
        self.sim.disk().clear_faults();
        self.start()?;
        let mut judge = self.judge.borrow_mut();
        judge.model.restart();
        judge.down = false;
        Ok(())
    }

    /// Commits the branches that nobody has decided about.
    pub(crate) fn decide(&self) {
        let qm = self.qm();
        let Ok(session) = qm.connect(Application::default()) else {
            return;
        };
        for branch in qm.in_doubt() {
            let decided = block_on(session.resolve(&branch.xid, Outcome::Committed));
            assert!(decided.is_ok(), "{decided:?}");
        }
    }

    /// Ends what is left after the audit.
    pub(crate) fn dismantle(&self) {
        let running = self.running.borrow_mut().take();
        if let Some(running) = running {
            let _ = block_on(running.qm.end(EndMode::Preemptive));
            let _ = running.writer.join();
            let _ = running.maintenance.join();
            let _ = running.settling.join();
        }
    }
}

pub(crate) fn keep(slot: &mut Option<Violation>, verdict: Result<(), Violation>) {
    if let Err(violation) = verdict {
        slot.get_or_insert(violation);
    }
}
