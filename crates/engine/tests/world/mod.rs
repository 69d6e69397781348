//! A queue manager in a folder of its own, for tests.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

pub mod authorising;
mod calls;
mod stage;

use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_admin::Admin;
use posthaste_command::{Reply, parse};
use posthaste_engine::{
    Application, AuditEvent, CreateOptions, EndMode, EngineConfig, Operator, QueueManager,
    QueueStatus, Session,
};
use posthaste_env::{Disk, Env, Thread, block_on, os, spawn};
use posthaste_env_sim::SimDisk;
use posthaste_mqi::Reason;
use posthaste_recovery_log::{Driver, LogConfig, drive};

pub use calls::*;
pub use stage::{Stage, Staged};

type Hook = Box<dyn FnOnce() + Send>;

/// What the queue manager said to its operator.
#[derive(Default)]
pub struct RecordingOperator {
    messages: Mutex<Vec<(&'static str, Vec<String>)>>,
    audited: Mutex<Vec<AuditEvent>>,
    hook: Mutex<Option<(&'static str, Hook)>>,
}

impl Operator for RecordingOperator {
    fn record(&self, id: &'static str, inserts: &[String], _: &'static Location<'static>) {
        self.messages.lock().push((id, inserts.to_vec()));
        let hook = self.hook.lock().take_if(|hook| hook.0 == id);
        if let Some((_, hook)) = hook {
            hook();
        }
    }

    fn audit(&self, event: AuditEvent) {
        self.audited.lock().push(event);
    }
}

/// A queue manager, its folder and its threads.
pub struct World {
    pub env: Env,
    pub config: EngineConfig,
    pub stage: Arc<Stage>,
    operator: Arc<RecordingOperator>,
    _folder: tempfile::TempDir,
    running: Option<(QueueManager, Driver, Thread, Thread)>,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// On a disk without forced writes. A crash here is one of the process, so the page cache does
    /// as well, and tests do not depend on how busy the disk is.
    pub fn with(change: impl FnOnce(&mut EngineConfig)) -> Self {
        Self::made(&CreateOptions::default(), change)
    }

    /// On the disk as the product uses it.
    pub fn forced(change: impl FnOnce(&mut EngineConfig)) -> Self {
        Self::on(Stage::default(), &CreateOptions::default(), change)
    }

    /// Whose log can be held up while the test goes on: no committer writes the log on its own thread.
    pub fn pausable() -> Self {
        Self::with(|c| c.log_config.writes.plain = true)
    }

    /// With a small log: where a test makes many queue managers.
    pub fn light() -> Self {
        Self::with(|c| c.log_config.file_pages = 64)
    }

    /// With a log of so many small files, which a test can fill.
    pub fn with_log_files(primary: u32, secondary: u32) -> Self {
        Self::with(|c| {
            c.log_config.file_pages = 64;
            (c.log_config.primary_files, c.log_config.secondary_files) = (primary, secondary);
        })
    }

    /// With a dead-letter queue.
    pub fn with_dead_letters() -> Self {
        let options = CreateOptions {
            dead_letter_q: DEAD.to_owned(),
            ..CreateOptions::default()
        };
        Self::made(&options, |c| c.log_config.file_pages = 64)
    }

    pub fn made(options: &CreateOptions, change: impl FnOnce(&mut EngineConfig)) -> Self {
        let mut stage = Stage::default();
        stage.unforced = true;
        Self::on(stage, options, change)
    }

    fn on(stage: Stage, options: &CreateOptions, change: impl FnOnce(&mut EngineConfig)) -> Self {
        Self::over(os().disk, stage, options, change)
    }

    /// On a simulated disk, which can be full and lose its power.
    pub fn on_simulated(disk: &SimDisk, change: impl FnOnce(&mut EngineConfig)) -> Self {
        let options = CreateOptions::default();
        Self::over(disk.mount(), Stage::default(), &options, change)
    }

    /// The simulated disk has its power again.
    pub fn remount(&mut self, disk: &SimDisk) {
        self.env.disk = disk.mount();
    }

    fn over(
        disk: Arc<dyn Disk>,
        stage: Stage,
        options: &CreateOptions,
        change: impl FnOnce(&mut EngineConfig),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| -> PathBuf { folder.path().join(name) };
        let mut config = EngineConfig {
            name: "QM1".to_owned(),
            data: at("data"),
            log: at("log"),
            log_config: LogConfig {
                file_pages: 256,
                ..LogConfig::default()
            },
            q_buffer: 256 * 1024,
            pq_buffer: 256 * 1024,
            expiry_interval_s: 0,
            numbers: posthaste_engine::NUMBERS,
            authorization: None,
            cipher: None,
        };
        change(&mut config);
        let mut env = os();
        let stage = Arc::new(stage);
        env.disk = Arc::new(Staged {
            disk,
            stage: stage.clone(),
        });
        QueueManager::create(&env, &config, options, &mut |_, _| {}).unwrap();
        let mut world = World {
            env,
            config,
            stage,
            operator: Arc::default(),
            _folder: folder,
            running: None,
        };
        world.start();
        world
    }

    pub fn start(&mut self) {
        let started =
            QueueManager::start(&self.env, self.config.clone(), self.operator.clone()).unwrap();
        let driver = drive(&self.env, started.qm.log(), started.writer).unwrap();
        let qm = started.qm.clone();
        let thread = spawn("maintain", move || block_on(qm.maintain())).unwrap();
        let qm = started.qm.clone();
        let settling = spawn("settle", move || block_on(qm.settle())).unwrap();
        self.running = Some((started.qm, driver, thread, settling));
    }

    pub fn qm(&self) -> &QueueManager {
        &self.running.as_ref().unwrap().0
    }

    pub fn connect(&self) -> Session {
        self.qm().connect(who("test")).unwrap()
    }

    pub fn end(&mut self, how: EndMode) {
        block_on(self.qm().end(how)).unwrap();
        self.end_threads();
    }

    /// The queue manager has been ended by hand: its threads end too.
    pub fn end_threads(&mut self) {
        let (qm, driver, thread, settling) = self.running.take().unwrap();
        settling.join().unwrap();
        thread.join().unwrap();
        driver.join().unwrap();
        qm.unlock();
    }

    /// Ends without a checkpoint and without telling the log that it was clean.
    pub fn kill(&mut self) {
        self.stage.resume();
        let _ = block_on(self.qm().end(EndMode::Preemptive));
        self.end_threads();
    }

    /// One of its threads has panicked: forgets this run, as the end of the process would.
    pub fn bury(&mut self) {
        let (qm, driver, thread, settling) = self.running.take().unwrap();
        let _ = block_on(qm.end(EndMode::Preemptive));
        let threads = [thread, settling].map(|thread| thread.join().is_err());
        let panicked = [threads[0], threads[1], driver.join().is_err()];
        assert!(panicked.contains(&true), "no thread has panicked");
        qm.unlock();
    }

    /// A crash and what comes after it.
    pub fn crash(&mut self) {
        self.kill();
        self.start();
    }

    /// A controlled end and what comes after it.
    pub fn restart(&mut self) {
        self.end(EndMode::Immediate);
        self.start();
    }

    /// Carries out an MQSC command, whatever comes of it.
    pub fn mqsc(&self, text: &str) -> Reply {
        let command = parse(text)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .unwrap_or_else(|| panic!("{text}: no command"));
        block_on(Admin::alone(self.qm()).execute(&command))
    }

    /// Carries out MQSC commands, one a line, that must succeed.
    pub fn run(&self, script: &str) {
        for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let reply = self.mqsc(line);
            assert!(reply.ok, "{line}: {reply:?}");
            assert_eq!(reply.reason, Reason::NONE, "{line}");
        }
    }

    pub fn status(&self, queue: &str) -> QueueStatus {
        self.qm().queue_status(queue).unwrap()
    }

    pub fn depth(&self, queue: &str) -> u32 {
        self.status(queue).depth
    }

    /// The number of the checkpoint image in force: once a newer one is, this one is removed.
    pub fn image(&self) -> u64 {
        image_in_force(&self.env, &self.config)
    }

    /// The inserts of the last message with this number.
    pub fn last_inserts(&self, id: &str) -> Vec<String> {
        let messages = self.operator.messages.lock();
        let last = messages.iter().rev().find(|m| m.0 == id);
        last.unwrap_or_else(|| panic!("{id} was not said"))
            .1
            .clone()
    }

    /// What has been audited since the last call.
    pub fn audited(&self) -> Vec<AuditEvent> {
        std::mem::take(&mut *self.operator.audited.lock())
    }

    /// Who hears the messages.
    pub fn operator(&self) -> Arc<dyn Operator> {
        self.operator.clone()
    }

    /// How often the operator heard a message.
    pub fn message_count(&self, id: &str) -> usize {
        let messages = self.operator.messages.lock();
        messages.iter().filter(|m| m.0 == id).count()
    }

    /// Has something done when the operator hears a message next, on the thread that says it.
    pub fn on_message(&self, id: &'static str, hook: impl FnOnce() + Send + 'static) {
        *self.operator.hook.lock() = Some((id, Box::new(hook)));
    }
}

/// The number of a queue manager's checkpoint image in force.
pub fn image_in_force(env: &Env, config: &EngineConfig) -> u64 {
    let names = env.disk.list(&config.data).unwrap();
    names
        .iter()
        .filter_map(|name| image_number(name))
        .min()
        .unwrap()
}

fn image_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("checkpoint-")?.strip_suffix(".img")?;
    number.parse().ok()
}

impl Drop for World {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.kill();
        }
    }
}

/// An application.
pub fn who(name: &str) -> Application {
    Application {
        name: name.to_owned(),
        user: "tester".to_owned(),
        appl_type: 6,
        ..Application::default()
    }
}
