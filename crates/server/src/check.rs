//! Whether a queue manager would start, without starting it and without changing anything.
//!
//! Everything that a start tests is tested: who may use the folders, qm.ini, the log's folder and shape, and, of a
//! queue manager that is not running, the recovery itself, on a disk that keeps every change in memory. After that
//! its listeners' ports are tried, and with `messages` every message is read.
//!
//! Invariant: what is reported as a fault is what the start would say, with the same number and exit code. Only that
//! what was recovered contradicts itself (`QueueManager::check`) is said by no start: none looks for it.

use std::io;
use std::sync::Arc;

use posthaste_command::ObjectKind;
use posthaste_engine::{Application, EndMode, Operator, QueueManager, Session, Silent};
use posthaste_env::{Env, block_on};
use posthaste_mqi::constants::{
    MQAT_QMGR, MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_BROWSE_NEXT, MQGMO_NO_WAIT, MQIA_INHIBIT_GET,
    MQMO_NONE, MQOO_BROWSE, MQQA_GET_INHIBITED, MQSVC_CONTROL_MANUAL,
};
use posthaste_mqi::{Gmo, Md, Name, Od, Reason};
use rustix::fs::{Access, access};

use crate::configure::{self, Configured};
use crate::control;
use crate::engine_run::EngineRun;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ini::ConfigError;
use crate::layout::{DataDir, Home};
use crate::listeners::{Plan, Waiting, try_listen};
use crate::overlay::Overlay;

/// The longest message.
const LONGEST: usize = 100 << 20;

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// What a start would be refused for.
    pub faults: Vec<Failure>,
    /// What a start would warn of.
    pub warnings: Vec<Failure>,
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
    let configured = match configure::configure(data, home) {
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
    let log = &configured.engine.log;
    if let Err(error) = posthaste_recovery_log::open(env, log, &configured.engine.log_config) {
        found.faults.push(Failure::log(&home.name, &error));
    }
    if !found.faults.is_empty() {
        return found;
    }
    match env.disk.lock(&home.lock()) {
        Ok(_held) => {
            if let Err(failure) = try_start(env, home, &configured, messages, &mut found) {
                found.faults.push(failure);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            found.running = control::phase(home).is_ok();
            if !found.running {
                let path = home.lock().display().to_string();
                let in_use = Failure::new(Exit::InUse, "AMQ2007E", &[&path]);
                found.faults.push(in_use);
            }
        }
        Err(error) => found.faults.push(Failure::io(&home.lock(), &error)),
    }
    found
}

/// Recovers the queue manager in memory.
fn try_start(
    env: &Env,
    home: &Home,
    configured: &Configured,
    messages: bool,
    found: &mut Findings,
) -> Result<(), Failure> {
    let env = Env {
        disk: Arc::new(Overlay::new(Arc::clone(&env.disk))),
        ..env.clone()
    };
    let operator: Arc<dyn Operator> = Arc::new(Silent);
    let run = EngineRun::start(&env, home, &configured.engine, &operator)?;
    try_ports(home, &run.qm, found);
    let read = match messages {
        true => block_on(read_all(&run.qm)),
        false => Ok(0),
    };
    let contradiction = run.qm.check().err();
    // Nothing of it is kept.
    let _ = block_on(run.qm.end(EndMode::Preemptive));
    let stopped = run.qm.stopped();
    run.join()?;
    found.messages = match (read, stopped) {
        (_, Some(stop)) => return Err(Failure::stop(&home.name, &stop)),
        (read, None) => {
            if let Some(what) = contradiction {
                return Err(Failure::new(
                    Exit::StoreRefused,
                    "AMQ2025S",
                    &[&home.name, &what],
                ));
            }
            read.map_err(|what| Failure::new(Exit::StoreRefused, "AMQ2025S", &[&home.name, &what]))?
        }
    };
    Ok(())
}

fn try_ports(home: &Home, qm: &QueueManager, found: &mut Findings) {
    let objects = qm.objects(ObjectKind::Listener);
    let plans = objects.iter().map(Plan::of);
    for plan in plans.filter(|plan| plan.control != MQSVC_CONTROL_MANUAL) {
        if let Err(error) = try_listen(&plan.host, plan.port) {
            let waiting = Waiting {
                plan,
                why: error.to_string(),
            };
            found.warnings.push(waiting.warning(&home.name));
        }
    }
}

/// Reads every message of every local queue, and compares their number with what the queue says; what is wrong is
/// told in words.
async fn read_all(qm: &QueueManager) -> Result<u64, String> {
    let session = qm
        .connect(Application {
            name: "check".to_owned(),
            pid: std::process::id(),
            appl_type: MQAT_QMGR,
            ..Application::default()
        })
        .map_err(|reason| reason.to_string())?;
    let mut all = 0;
    for object in qm.objects(ObjectKind::QLocal) {
        let name = object.name.as_str();
        // Of what is in memory only: a queue that may not be read is looked at like any other. It takes room in the
        // log, so that of a queue that may be read it must not be asked.
        if object.attrs.int(MQIA_INHIBIT_GET) == MQQA_GET_INHIBITED {
            execute(qm, &format!("ALTER QLOCAL('{name}') GET(ENABLED) FORCE")).await?;
        }
        let read = browse(&session, name)
            .await
            .map_err(|(read, reason)| format!("queue {name}: message {}: {reason}", read + 1))?;
        let depth = depth(qm, name).await?;
        if read != depth {
            return Err(format!(
                "queue {name} has a depth of {depth}, and {read} messages can be read"
            ));
        }
        all += read;
    }
    session.terminate().await;
    Ok(all)
}

async fn execute(qm: &QueueManager, text: &str) -> Result<posthaste_command::Reply, String> {
    let command = posthaste_command::parse(text).map_err(|error| format!("{text}: {error:?}"))?;
    let Some(command) = command else {
        return Err(format!("{text}: no command"));
    };
    let reply = qm.execute(&command).await;
    match reply.ok {
        true => Ok(reply),
        false => Err(posthaste_command::render(&reply).trim_end().to_owned()),
    }
}

async fn depth(qm: &QueueManager, name: &str) -> Result<u64, String> {
    let reply = execute(qm, &format!("DISPLAY QLOCAL('{name}') CURDEPTH")).await?;
    let mut rows = reply.rows.iter();
    let depth = rows.find_map(|(_, _, row)| row.get("CURDEPTH")?.parse().ok());
    depth.ok_or_else(|| format!("queue {name} does not tell its depth"))
}

/// Messages of a queue that can be read; or how many could, and why not the next.
async fn browse(session: &Session, name: &str) -> Result<u64, (u64, Reason)> {
    let mut od = Od {
        object_name: Name::new(name),
        ..Od::default()
    };
    let opened = session.open(&mut od, MQOO_BROWSE).await;
    let queue = opened.map_err(|reason| (0, reason))?.value;
    let mut read = 0;
    loop {
        let mut md = Md {
            version: 2,
            ..Md::default()
        };
        let mut gmo = Gmo {
            version: 2,
            options: MQGMO_BROWSE_NEXT | MQGMO_NO_WAIT | MQGMO_ACCEPT_TRUNCATED_MSG,
            match_options: MQMO_NONE,
            ..Gmo::default()
        };
        match session.get(queue, &mut md, &mut gmo, LONGEST).await {
            Ok(_) => read += 1,
            Err(Reason::NO_MSG_AVAILABLE) => return Ok(read),
            Err(reason) => return Err((read, reason)),
        }
    }
}
