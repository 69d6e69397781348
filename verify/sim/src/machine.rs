//! A queue manager on a simulated machine.
//!
//! The log's writer is a state machine; here a task of the simulated executor drives it. A write
//! takes a time drawn by seed and happens at its end. When the power fails, each write in flight has
//! happened, has not, or has happened to some of its sectors.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use posthaste_admin::Admin;
use posthaste_encryption::{DataKeys, MessageCipher};
use posthaste_engine::{
    Application, BodyCipher, CreateOptions, EndMode, EngineConfig, Operator, QueueManager, Session,
    StartError,
};
use posthaste_env::{Clock, Env};
use posthaste_env_sim::{Rng, SimExecutor, SimWorld, Stuck};
use posthaste_recovery_log::{Job, LogConfig, RecoveryLog, Step, Writer};

use crate::Plan;

/// Virtual nanoseconds within which every end comes to its end.
pub(crate) const TIMEOUT: u64 = 60_000_000_000;

/// How log writes behave.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// Nanoseconds a write takes, at least and at most.
    pub nanos: (u64, u64),
    /// Acknowledged before they are written: a planted bug.
    pub acknowledge_early: bool,
}

/// Writes that have been started and have not ended.
type InFlight = Rc<RefCell<Vec<Rc<Job>>>>;

/// An operator who writes everything down.
#[derive(Default)]
pub struct Recorder(parking_lot::Mutex<Vec<(&'static str, Vec<String>)>>);

impl Operator for Recorder {
    fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
        self.0.lock().push((id, inserts.to_vec()));
    }
}

impl Recorder {
    /// Whether this message was given about this.
    pub fn has_message_about(&self, id: &str, what: &str) -> bool {
        let about = |inserts: &[String]| inserts.first().is_some_and(|first| first == what);
        let messages = self.0.lock();
        messages
            .iter()
            .any(|(message_id, inserts)| *message_id == id && about(inserts))
    }

    /// Whether this message was given.
    pub fn has_message(&self, id: &str) -> bool {
        self.0
            .lock()
            .iter()
            .any(|(message_id, _)| *message_id == id)
    }
}

/// A simulated machine with one queue manager on it.
pub struct Machine {
    /// The world it is in.
    pub world: SimWorld,
    config: EngineConfig,
    /// What the bodies of messages are sealed with: one more at each start, if at all.
    keys: Option<DataKeys>,
    writes: Writes,
    rng: Rc<RefCell<Rng>>,
    in_flight: InFlight,
    qm: Option<QueueManager>,
    look_every: u64,
    /// What of the engine's invariants did not hold, when that was first seen.
    broken: Rc<RefCell<Option<String>>>,
    /// What the operator was told.
    pub operator: Arc<Recorder>,
}

/// A signal from the log to the task that drives its writer.
#[derive(Default)]
struct Bell {
    state: parking_lot::Mutex<(bool, Option<std::task::Waker>)>,
}

impl Bell {
    fn ring(&self) {
        let waker = {
            let mut state = self.state.lock();
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends when the bell has rung, or when the timer ends.
    async fn rung(&self, timer: Option<posthaste_env::Sleep>) {
        let mut timer = timer;
        std::future::poll_fn(|context| {
            let mut state = self.state.lock();
            if std::mem::take(&mut state.0) {
                return std::task::Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            match &mut timer {
                Some(timer) => timer.as_mut().poll(context),
                None => std::task::Poll::Pending,
            }
        })
        .await;
    }
}

/// What a run seals bodies with.
fn cipher(keys: &DataKeys, env: &Env) -> Arc<dyn BodyCipher> {
    Arc::new(MessageCipher::new(keys.clone(), &*env.entropy))
}

impl Machine {
    /// A machine whose queue manager has just been created, not started.
    ///
    /// # Errors
    /// The creation's.
    pub fn new(plan: &Plan) -> Result<Machine, StartError> {
        let world = SimWorld::new(plan.seed);
        let config = EngineConfig {
            name: "SIM".to_owned(),
            data: PathBuf::from("/qm/data"),
            log: PathBuf::from("/qm/log"),
            log_config: LogConfig {
                file_pages: plan.file_pages,
                primary_files: plan.log_files.0,
                secondary_files: plan.log_files.1,
                ..LogConfig::default()
            },
            q_buffer: plan.buffer,
            pq_buffer: plan.buffer,
            expiry_interval_s: 1,
            numbers: posthaste_engine::NUMBERS,
            authorization: None,
            cipher: None,
        };
        let keys = plan
            .sealed
            .then(|| DataKeys::new(&*world.env().entropy, "day-1"));
        let config = EngineConfig {
            cipher: keys.as_ref().map(|keys| cipher(keys, &world.env())),
            ..config
        };
        let options = CreateOptions::default();
        QueueManager::create(&world.env(), &config, &options, &mut |_, _| {})?;
        Ok(Machine {
            world,
            config,
            keys,
            writes: Writes {
                nanos: plan.write_nanos,
                acknowledge_early: plan.acknowledge_early,
            },
            rng: Rc::new(RefCell::new(Rng::new(plan.seed ^ 0x0D15_C0DE))),
            in_flight: Rc::default(),
            qm: None,
            look_every: plan.look_every,
            broken: Rc::default(),
            operator: Arc::default(),
        })
    }

    /// The world's clock and disk, as the engine sees them now.
    pub fn env(&self) -> Env {
        self.world.env()
    }

    /// Starts the queue manager.
    ///
    /// # Errors
    /// The start's: after faults that the design does not promise to survive.
    pub fn start(&mut self) -> Result<(), StartError> {
        let env = self.world.env();
        if let Some(keys) = &mut self.keys {
            keys.rotate(&*env.entropy, "another-day");
            self.config.cipher = Some(cipher(keys, &env));
        }
        let started = QueueManager::start(&env, self.config.clone(), self.operator.clone())?;
        let executor = self.world.executor();
        executor.spawn(
            "log writer",
            drive(
                env,
                started.qm.log().clone(),
                started.writer,
                self.writes,
                self.rng.clone(),
                self.in_flight.clone(),
                self.world.executor().clone(),
            ),
        );
        let qm = started.qm.clone();
        executor.spawn("maintain", async move { qm.maintain().await });
        let qm = started.qm.clone();
        executor.spawn("settle", async move { qm.settle().await });
        let qm = started.qm.clone();
        executor.spawn("delays", async move { qm.deliver_delayed().await });
        let qm = started.qm.clone();
        executor.spawn("files", async move { qm.serve_files().await });
        let (qm, broken, every) = (started.qm.clone(), self.broken.clone(), self.look_every);
        let steps = Cell::new(0_u64);
        executor.watch(Some(Rc::new(move || {
            steps.set(steps.get() + 1);
            if steps.get().is_multiple_of(every)
                && let Err(what) = qm.check()
            {
                broken.borrow_mut().get_or_insert(what);
            }
        })));
        self.qm = Some(started.qm);
        Ok(())
    }

    /// What of the engine's invariants did not hold, if that was seen.
    pub fn broken(&self) -> Option<String> {
        self.broken.borrow().clone()
    }

    /// The running queue manager.
    ///
    /// # Panics
    /// When it is not running.
    pub fn qm(&self) -> &QueueManager {
        match &self.qm {
            Some(qm) => qm,
            None => panic!("the queue manager is not running"),
        }
    }

    /// Connects an application.
    ///
    /// # Panics
    /// When the queue manager is not running or refuses.
    pub fn connect(&self, name: &str) -> Session {
        let who = Application {
            name: name.to_owned(),
            ..Application::default()
        };
        match self.qm().connect(who) {
            Ok(session) => session,
            Err(reason) => panic!("connect: {reason}"),
        }
    }

    /// Runs an MQSC command.
    ///
    /// # Panics
    /// When it is not carried out.
    pub fn mqsc(&self, text: &str) {
        let command = match posthaste_command::parse(text) {
            Ok(Some(command)) => command,
            other => panic!("{text}: {other:?}"),
        };
        let qm = self.qm().clone();
        let reply = self
            .world
            .executor()
            .block_on(async move { Admin::alone(&qm).execute(&command).await });
        assert!(reply.as_ref().is_ok_and(|r| r.ok), "{text}: {reply:?}");
    }

    /// Ends the queue manager in an orderly way, at once; whether it ended cleanly.
    ///
    /// # Errors
    /// [`Stuck`] when it cannot end.
    pub fn end(&mut self) -> Result<bool, Stuck> {
        self.end_as(EndMode::Immediate)
    }

    /// Ends the queue manager in one of its ways; whether it ended cleanly.
    ///
    /// # Errors
    /// [`Stuck`] when it has not ended in a virtual minute.
    pub fn end_as(&mut self, how: EndMode) -> Result<bool, Stuck> {
        let Some(qm) = self.qm.take() else {
            return Ok(false);
        };
        let (executor, clock) = (self.world.executor(), self.world.env().clock);
        let ended = qm.clone();
        let ending = executor.spawn("end", async move { ended.end(how).await });
        let until = clock.monotonic() + TIMEOUT;
        executor.run_while(|| !ending.is_finished() && clock.monotonic() < until);
        executor.watch(None);
        let Some(ended) = ending.take() else {
            let waiting = executor.waiting();
            return Err(Stuck { waiting });
        };
        // Whatever is left of it (its writer) goes with its process.
        executor.run_for(1_000_000_000);
        qm.unlock();
        Ok(ended.is_ok())
    }

    /// The power fails, now.
    pub fn crash(&mut self) -> String {
        let mut in_flight = std::mem::take(&mut *self.in_flight.borrow_mut());
        // Some of the writes under way had reached the disk already, though nobody was told.
        in_flight.retain(|job| {
            let arrived = self.rng.borrow_mut().below(3) == 0;
            if arrived {
                // An error is what the writer would have had, and it is gone.
                let _ = job.run();
            }
            !arrived
        });
        self.world.disk().cut_power();
        for job in in_flight {
            // With the power cut, this leaves some sectors written and then fails.
            if self.rng.borrow_mut().coin() {
                let _ = job.run();
            }
        }
        self.qm = None;
        self.world.crash()
    }

    /// The process is killed, now: the system lives on.
    pub fn kill(&mut self) -> String {
        for job in std::mem::take(&mut *self.in_flight.borrow_mut()) {
            // The system finishes what it was given.
            let _ = job.run();
        }
        self.qm = None;
        self.world.kill()
    }
}

/// Drives a log writer until it ends.
async fn drive(
    env: Env,
    log: RecoveryLog,
    mut writer: Writer,
    writes: Writes,
    rng: Rc<RefCell<Rng>>,
    in_flight: InFlight,
    executor: SimExecutor,
) {
    let bell = Arc::new(Bell::default());
    let ringer = bell.clone();
    log.on_work(Box::new(move || ringer.ring()));
    let clock: Arc<dyn Clock> = env.clock.clone();
    type Ended = Vec<(posthaste_recovery_log::JobId, std::io::Result<()>, u64)>;
    let ended: Rc<RefCell<Ended>> = Rc::default();
    loop {
        for (id, result, started) in ended.borrow_mut().drain(..) {
            writer.complete(id, result, started, clock.monotonic());
        }
        let now = clock.monotonic();
        match writer.step(now) {
            Step::Write(job) => {
                let nanos = rng.borrow_mut().between(writes.nanos.0, writes.nanos.1);
                let id = job.id();
                let job = Rc::new(job);
                in_flight.borrow_mut().push(job.clone());
                if writes.acknowledge_early {
                    ended.borrow_mut().push((id, Ok(()), now));
                    bell.ring();
                }
                let (clock, ended, bell) = (clock.clone(), ended.clone(), bell.clone());
                let (in_flight, early) = (in_flight.clone(), writes.acknowledge_early);
                executor.spawn("log write", async move {
                    clock.sleep_until(now + nanos).await;
                    let result = job.run();
                    in_flight.borrow_mut().retain(|j| j.id() != id);
                    drop(job);
                    if !early {
                        ended.borrow_mut().push((id, result, now));
                        bell.ring();
                    }
                });
            }
            Step::Prepare(job) => {
                let id = job.id();
                let result = job.run();
                writer.complete(id, result, now, clock.monotonic());
            }
            Step::WaitUntil(at) => bell.rung(Some(clock.sleep_until(at))).await,
            Step::Idle => bell.rung(None).await,
            Step::Ended => return,
        }
    }
}
