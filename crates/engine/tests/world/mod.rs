//! A queue manager in a folder of its own, for tests.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use posthaste_engine::{
    Application, CreateOptions, EndMode, EngineConfig, QueueManager, Session, Silent,
};
use posthaste_env::{Env, Thread, block_on, os, spawn};
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_recovery_log::{Driver, LogConfig, drive};

/// A queue manager, its folder and its threads.
pub struct World {
    pub env: Env,
    pub config: EngineConfig,
    _folder: tempfile::TempDir,
    running: Option<(QueueManager, Driver, Thread)>,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut EngineConfig)) -> Self {
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
        };
        change(&mut config);
        let env = os();
        QueueManager::create(&env, &config, &CreateOptions::default(), &mut |_, _| {}).unwrap();
        let mut world = World {
            env,
            config,
            _folder: folder,
            running: None,
        };
        world.start();
        world
    }

    pub fn start(&mut self) {
        let started =
            QueueManager::start(&self.env, self.config.clone(), Arc::new(Silent)).unwrap();
        let driver = drive(&self.env, started.qm.log(), started.writer).unwrap();
        let qm = started.qm.clone();
        let thread = spawn("maintain", move || block_on(qm.maintain())).unwrap();
        self.running = Some((started.qm, driver, thread));
    }

    pub fn qm(&self) -> &QueueManager {
        &self.running.as_ref().unwrap().0
    }

    pub fn connect(&self) -> Session {
        self.qm()
            .connect(Application {
                name: "test".to_owned(),
                user: "tester".to_owned(),
                ..Application::default()
            })
            .unwrap()
    }

    pub fn end(&mut self, how: EndMode) {
        let (qm, driver, thread) = self.running.take().unwrap();
        block_on(qm.end(how)).unwrap();
        thread.join().unwrap();
        driver.join().unwrap();
    }

    /// Ends without a checkpoint and without telling the log that it was clean.
    pub fn kill(&mut self) {
        self.end(EndMode::Preemptive);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.kill();
        }
    }
}

pub fn open(s: &Session, name: &str, options: i32) -> Hobj {
    try_open(s, name, options).unwrap()
}

pub fn try_open(s: &Session, name: &str, options: i32) -> Result<Hobj, Reason> {
    let mut od = Od {
        object_name: Name::new(name),
        ..Od::default()
    };
    block_on(s.open(&mut od, options)).map(|d| d.value)
}

pub fn put(s: &Session, h: Hobj, persistence: i32, options: i32, data: &[u8]) -> Md {
    let mut md = Md {
        persistence,
        ..Md::default()
    };
    let mut pmo = Pmo {
        options,
        ..Pmo::default()
    };
    block_on(s.put(h, &mut md, &mut pmo, Bytes::copy_from_slice(data))).unwrap();
    md
}

pub fn get(s: &Session, h: Hobj, options: i32) -> Result<(Md, Bytes), Reason> {
    let mut md = Md::default();
    let mut gmo = Gmo {
        options,
        ..Gmo::default()
    };
    block_on(s.get(h, &mut md, &mut gmo, 1 << 20)).map(|d| (md, d.value.data))
}
