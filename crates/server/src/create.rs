//! Creating and deleting queue managers.
//!
//! Invariants: a creation that fails leaves nothing behind, and one that is killed leaves a marker by
//! which the next one recognises the remains; a deletion removes only folders that have the queue
//! manager's own name, whatever a configuration file says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_command::Reply;
use posthaste_engine::{CreateOptions, EndMode, EngineConfig, Operator, QueueManager, Silent};
use posthaste_env::{Env, block_on};

use crate::configure;
use crate::ending::LastEnd;
use crate::engine_run::EngineRun;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ini::{self, Shape};
use crate::layout::{self, DataDir, Home};
use crate::registry;
use crate::stanza;

/// What to create.
#[derive(Clone, Debug, Default)]
pub struct Creation {
    /// Its name.
    pub name: String,
    /// Folder below which its data goes (`-md`).
    pub data: Option<PathBuf>,
    /// Folder below which its recovery log goes (`-ld`).
    pub log: Option<PathBuf>,
    /// The recovery log.
    pub shape: Shape,
    /// Attributes of the queue manager.
    pub options: CreateOptions,
    /// Whether it becomes the default one.
    pub default: bool,
    /// MQSC commands carried out once, after the system objects are there.
    pub commands: Vec<String>,
}

/// What was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Its files.
    pub home: Home,
    /// Its recovery log.
    pub log: PathBuf,
    /// Objects that were defined.
    pub objects: usize,
}

/// MQSC for a developer's queue manager: queues to try things with, a channel and a listener.
pub fn developer_objects() -> Vec<String> {
    [
        "DEFINE QLOCAL(DEV.QUEUE.1) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.2) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.3) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.DEAD.LETTER.QUEUE) DESCR('Messages that could not be delivered') REPLACE",
        "DEFINE QMODEL(DEV.APP.MODEL.QUEUE) DESCR('For queues that applications make') REPLACE",
        "DEFINE CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) DESCR('For applications') REPLACE",
        "ALTER QMGR DEADQ(DEV.DEAD.LETTER.QUEUE)",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The listener that `-p` and `--port` are about.
pub const LISTENER: &str = "SYSTEM.LISTENER.TCP.1";

/// MQSC that defines it.
pub fn listener_object(port: u16, host: &str) -> String {
    format!(
        "DEFINE LISTENER({LISTENER}) TRPTYPE(TCP) PORT({port}) IPADDR('{host}') CONTROL(QMGR) REPLACE"
    )
}

/// Creates a queue manager. `progress` hears how much of its log has been written, in bytes: done,
/// in all.
///
/// # Errors
/// One of that name is there, or a folder cannot be made or written.
pub fn create(
    env: &Env,
    data: &DataDir,
    creation: &Creation,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Created, Failure> {
    let name = &creation.name;
    layout::check_name(name)?;
    if registry::read(data)?.find(name).is_some() {
        return Err(Failure::new(Exit::Exists, "AMQ8110E", &[name]));
    }
    data.make()?;
    let home = Home {
        name: name.clone(),
        folder: data.new_data(name, creation.data.as_deref()),
    };
    let log = data.new_log(name, creation.log.as_deref());
    if log == home.folder {
        return Err(Failure::bad_parameter(
            "the data and the log of a queue manager need different folders",
        ));
    }
    clear_remains(env, &home)?;
    make_new(&home.folder, name)?;
    let made = build(env, data, creation, &home, &log, progress);
    if made.is_err() {
        // What the operator must read is why; what is left over is recognised by its marker.
        let _ = remove_folder(&log, name);
        let _ = remove_folder(&home.folder, name);
    }
    made
}

/// Makes a folder that must not be there yet.
fn make_new(folder: &Path, name: &str) -> Result<(), Failure> {
    if let Some(above) = folder.parent() {
        layout::make_private(above)?;
    }
    use std::os::unix::fs::DirBuilderExt as _;
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
            match empty {
                true => Ok(()),
                false => Err(Failure::new(Exit::Exists, "AMQ8110E", &[name])
                    .with_detail(format!("{} is not empty.", folder.display()))),
            }
        }
        Err(error) => Err(Failure::io(folder, &error)),
    }
}

/// Removes what a creation that was killed has left.
fn clear_remains(env: &Env, home: &Home) -> Result<(), Failure> {
    let Ok(log) = fs::read_to_string(home.unfinished()) else {
        return Ok(());
    };
    // Somebody who is creating it right now holds the lock.
    let held = env.disk.lock(&home.lock());
    let lock = held.map_err(|_| Failure::new(Exit::InUse, "AMQ2007E", &[&shown(&home.folder)]))?;
    remove_folder(Path::new(log.trim_end()), &home.name)?;
    remove_folder(&home.folder, &home.name)?;
    drop(lock);
    Ok(())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn build(
    env: &Env,
    data: &DataDir,
    creation: &Creation,
    home: &Home,
    log: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Created, Failure> {
    let name = &creation.name;
    let marker = home.unfinished();
    layout::write_atomically(&marker, &shown(log)).map_err(|e| Failure::io(&marker, &e))?;
    make_new(log, name).map_err(|failure| match failure.exit {
        Exit::Exists => Failure::new(Exit::Exists, "AMQ2023E", &[name, &shown(log)]),
        _ => failure,
    })?;
    for folder in [home.run(), home.errors()] {
        layout::make_private(&folder)?;
    }
    let text = ini::new_file(name, log, &creation.shape);
    let path = home.configuration();
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))?;
    let config = configure::configure(data, home)?.engine;
    let objects = QueueManager::create(env, &config, &creation.options, progress)
        .map_err(|error| Failure::start(name, &home.folder, &error))?;
    let defined = define(env, home, &config, &creation.commands)?;
    LastEnd::Normally.record(home)?;
    fs::remove_file(&marker).map_err(|error| Failure::io(&marker, &error))?;
    registry::add(data, home, creation.default)?;
    Ok(Created {
        home: home.clone(),
        log: log.to_owned(),
        objects: objects + defined,
    })
}

/// Runs the new queue manager for as long as its first commands take.
fn define(
    env: &Env,
    home: &Home,
    config: &EngineConfig,
    commands: &[String],
) -> Result<usize, Failure> {
    if commands.is_empty() {
        return Ok(0);
    }
    let operator: Arc<dyn Operator> = Arc::new(Silent);
    let run = EngineRun::start(env, home, config, &operator)?;
    let mut defined = 0;
    let mut refused = None;
    for text in commands {
        let reply = match posthaste_command::parse(text) {
            Ok(Some(command)) => block_on(run.qm.execute(&command)),
            Ok(None) => continue,
            Err(error) => Reply::from(&error),
        };
        if !reply.ok {
            let what = format!("{text}: {}", posthaste_command::render(&reply).trim_end());
            refused = Some(Failure::bad_parameter(what));
            break;
        }
        defined += usize::from(text.starts_with("DEFINE"));
    }
    let ended = block_on(run.qm.end(EndMode::Immediate));
    run.join()?;
    ended.map_err(|stop| Failure::stop(&home.name, &stop))?;
    match refused {
        Some(failure) => Err(failure),
        None => Ok(defined),
    }
}

/// Removes a folder with everything in it, if it has the queue manager's name.
fn remove_folder(folder: &Path, name: &str) -> Result<(), Failure> {
    let own = layout::folder_name(name);
    if folder.file_name() != Some(own.as_ref()) {
        let what = format!("it does not end in {own}, so it is not removed");
        return Err(Failure::new(
            Exit::Unusable,
            "AMQ2008E",
            &[&shown(folder), &what],
        ));
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io(folder, &error)),
        _ => Ok(()),
    }
}

/// Deletes a queue manager that is not running, with all its messages.
///
/// # Errors
/// It is running, or its files cannot be removed; what is still there can be deleted again.
pub fn delete(env: &Env, data: &DataDir, home: &Home) -> Result<(), Failure> {
    let lock = match env.disk.lock(&home.lock()) {
        Ok(lock) => Some(lock),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(Failure::running(&home.name));
        }
        // The folder is gone already: only the entry is left.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io(&home.lock(), &error)),
    };
    let log = configured_log(home).unwrap_or_else(|| data.new_log(&home.name, None));
    remove_folder(&log, &home.name)?;
    remove_folder(&home.folder, &home.name)?;
    drop(lock);
    registry::remove(data, &home.name)
}

/// The log's folder, also from a configuration with faults: a queue manager that does not start can
/// still be deleted.
fn configured_log(home: &Home) -> Option<PathBuf> {
    let (stanzas, _) = stanza::read(&fs::read(home.configuration()).ok()?);
    let log = stanzas
        .iter()
        .find(|s| s.name.eq_ignore_ascii_case("Log"))?;
    log.get("LogPath").map(PathBuf::from)
}
