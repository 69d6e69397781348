//! Whether a queue manager would start, without starting it and without changing anything.
//!
//! Everything that a start tests is tested: who may use the folders, qm.ini, the log's folder and shape, and, of a
//! queue manager that is not running, the recovery itself, on a disk that keeps every change in memory. After that
//! its listeners' ports are tried, and with `messages` every message is read.
//!
//! Invariants: what was recovered is looked at before anything drives it, so that nothing of it is in the middle of a
//! change. What is reported as a fault is what the start would say, with the same number and exit code. Only that
//! what was recovered contradicts itself (`QueueManager::check`) is said by no start: none looks for it. Damaged queues
//! keep no queue manager from starting: they are reported apart.

use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_engine::{Operator, QueueManager};
use posthaste_env::Env;
use posthaste_env::sync::Mutex;
use posthaste_mqi::constants::MQSVC_CONTROL_MANUAL;
use rustix::fs::{Access, access};

use crate::compose::listeners::{Plan, Waiting, try_listen};
use crate::control;
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::ConfigError;
use crate::ini::configure::{self, Configured};
use crate::layout::{DataDir, Home};
use crate::lifecycle::overlay::Overlay;
use crate::lifecycle::{another_root, log_owner};

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// What a start would be refused for.
    pub faults: Vec<Failure>,
    /// What a start would warn of.
    pub warnings: Vec<Failure>,
    /// Queues that are damaged.
    pub damaged: Vec<Failure>,
    /// Keys of qm.ini that do nothing.
    pub notes: Vec<ConfigError>,
    /// Whether it is running, and its log and messages were not looked at.
    pub running: bool,
    /// Messages that were read.
    pub messages: u64,
}

/// Looks at a queue manager; `messages`: reads every message too.
pub fn check(env: &Env, data: &DataDir, home: &Home, messages: bool) -> Findings {
    let mut found = Findings::default();
    let configured =
        another_root::check_copied(data, home).and_then(|()| configure::configure(env, data, home));
    let configured = match configured {
        Ok(configured) => configured,
        Err(failure) => {
            found.faults.push(failure);
            return found;
        }
    };
    found.notes.clone_from(&configured.notes);
    for folder in [&home.folder, &home.run(), &configured.engine.log] {
        if let Err(error) = access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
            found.faults.push(Failure::io(folder, &error.into()));
        }
    }
    found.faults.extend(folders_for_files(home));
    let log = &configured.engine.log;
    found.faults.extend(log_owner::check(home, log).err());
    if let Err(error) = posthaste_recovery_log::open(env, log, &configured.engine.log_config) {
        found.faults.push(Failure::log(&home.name, &error));
    }
    if !found.faults.is_empty() {
        return found;
    }
    // What is only looked at is left as it is: without the file nobody has locked it.
    let lock = |path: &Path| match env.disk.exists(path) {
        true => env.disk.lock(path).map(Some),
        false => Ok(None),
    };
    let data_lock = lock(&home.lock());
    let busy = match data_lock {
        Ok(_) => log,
        Err(_) => &home.folder,
    };
    let locks = data_lock.and_then(|data| {
        let log = lock(&log.join("lock"));
        log.map(|log| (data, log))
    });
    match locks {
        Ok(_held) => {
            if let Err(failure) = try_start(env, home, &configured, messages, &mut found) {
                found.faults.push(failure);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            found.running = control::phase(home).is_ok();
            if !found.running {
                let path = busy.display().to_string();
                let in_use = Failure::new(Exit::InUse, "AMQ2007E", &[&path]);
                found.faults.push(in_use);
            }
        }
        Err(error) => found.faults.push(Failure::io(busy, &error)),
    }
    found
}

/// Folders in the place of files that a start writes: what is looked at in memory does not meet them.
fn folders_for_files(home: &Home) -> Vec<Failure> {
    let is_folder = || io::Error::from(io::ErrorKind::IsADirectory);
    let written = [home.process(), home.ended()].into_iter();
    let mut faults: Vec<Failure> = written
        .filter(|path| path.is_dir())
        .map(|path| Failure::io(&path, &is_folder()))
        .collect();
    let reserve = home.folder.join("checkpoint.reserve");
    if reserve.is_dir() {
        let what = format!("cannot take room by {}: {}", reserve.display(), is_folder());
        let inserts = [&*home.name, &what];
        faults.push(Failure::new(Exit::StoreRefused, "AMQ2025S", &inserts));
    }
    faults
}

/// Recovers the queue manager in memory. Nothing drives it there, so that it stands still while it is looked at.
fn try_start(
    env: &Env,
    home: &Home,
    configured: &Configured,
    messages: bool,
    found: &mut Findings,
) -> Result<(), Failure> {
    let (qm, mut damaged) = recovered(env, home, configured)?;
    try_ports(home, &qm, found);
    if messages {
        let (read, unreadable) = qm.read_all();
        found.messages = read;
        for (queue, what) in unreadable {
            if damaged.iter().all(|known| known.first() != Some(&queue)) {
                damaged.push(vec![queue, what]);
            }
        }
    }
    found.damaged = damaged.iter().map(|inserts| damage(inserts)).collect();
    Ok(())
}

/// A queue manager that was recovered in memory, and the inserts of the message about each queue that is damaged.
type Recovered = (QueueManager, Vec<Vec<String>>);

/// Recovers the queue manager in memory; what was recovered does not contradict itself.
fn recovered(env: &Env, home: &Home, configured: &Configured) -> Result<Recovered, Failure> {
    // As the process that serves does: each queue with a file keeps it open.
    posthaste_env::allow_descriptors();
    let env = Env {
        disk: Arc::new(Overlay::new(Arc::clone(&env.disk))),
        ..env.clone()
    };
    let operator = Arc::new(RecordingOperator::default());
    let started = QueueManager::start(&env, configured.engine.clone(), operator.clone());
    let qm = started
        .map_err(|error| Failure::start(&home.name, &home.folder, &error))?
        .qm;
    let refused = |what: String| Failure::new(Exit::StoreRefused, "AMQ2025S", &[&home.name, &what]);
    qm.check().map_err(refused)?;
    let damaged = std::mem::take(&mut *operator.0.lock());
    Ok((qm, damaged))
}

/// Whether a start on what a disk holds would succeed; the queues that are damaged.
///
/// # Errors
/// What the start would be refused for.
pub(super) fn would_start(
    env: &Env,
    home: &Home,
    configured: &Configured,
) -> Result<Vec<Failure>, Failure> {
    let (_, damaged) = recovered(env, home, configured)?;
    Ok(damaged.iter().map(|inserts| damage(inserts)).collect())
}

fn damage(inserts: &[String]) -> Failure {
    let inserts: Vec<&str> = inserts.iter().map(String::as_str).collect();
    Failure::new(Exit::StoreRefused, DAMAGED, &inserts)
}

/// "Queue {0} is damaged: {1}."
const DAMAGED: &str = "AMQ7472E";

/// The damage that a start has told: the inserts of each message.
#[derive(Default)]
struct RecordingOperator(Mutex<Vec<Vec<String>>>);

impl Operator for RecordingOperator {
    fn record(&self, id: &'static str, inserts: &[String], _from: &'static Location<'static>) {
        if id == DAMAGED {
            self.0.lock().push(inserts.to_vec());
        }
    }
}

fn try_ports(home: &Home, qm: &QueueManager, found: &mut Findings) {
    let objects = qm.objects(ObjectKind::Listener);
    let plans = objects.iter().map(Plan::of);
    for plan in plans.filter(|plan| plan.control != MQSVC_CONTROL_MANUAL) {
        if let Err(error) = try_listen(&plan.host, plan.port) {
            let waiting = Waiting {
                plan,
                why: error.to_string(),
                refused: false,
            };
            found.warnings.push(waiting.warning(&home.name));
        }
    }
}
