//! Creating and deleting queue managers.
//!
//! Invariants: a creation that fails leaves nothing behind, and one that is killed leaves a marker by
//! which the next one recognises the remains; a deletion removes only folders that have the queue
//! manager's own name, whatever a configuration file says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_admin::Admin;
use posthaste_engine::{
    CreateOptions, EndMode, EngineConfig, Operator, QueueManager, Restored, Silent,
};
use posthaste_env::{Env, block_on};
use posthaste_mqi::hex;

use crate::compose::engine_run::EngineRun;
use crate::encryption::keys;
use crate::encryption::source::KeySource;
use crate::error_log::{Console, ErrorLog};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::ini::stanza;
use crate::ini::{self, Shape};
use crate::layout::private;
use crate::layout::registry;
use crate::layout::{self, DataDir, Home};
use crate::lifecycle::access::{Access, FirstUsers};
use crate::lifecycle::ending::LastEnd;
use crate::lifecycle::log_owner;

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
    /// Where the key comes from that its messages are encrypted with on disk; none: they are not.
    pub encryption: Option<KeySource>,
    /// Who may come in by its channels.
    pub access: Access,
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
    /// Its users, if it has any.
    pub users: Option<FirstUsers>,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// All of it.
    Whole,
    /// Its entry in mqs.ini: the data folder was not there, so that nothing says where its log is.
    EntryOnly,
}

/// MQSC for a developer's queue manager: queues to try things with, a channel and a listener.
pub fn developer_objects() -> Vec<String> {
    [
        "DEFINE QLOCAL(DEV.QUEUE.1) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.2) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.3) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.DEAD.LETTER.QUEUE) DESCR('Messages that could not be delivered') REPLACE",
        "DEFINE QMODEL(DEV.APP.MODEL.QUEUE) DESCR('For queues that applications make') REPLACE",
        "DEFINE TOPIC(DEV.BASE.TOPIC) TOPICSTR('dev') DESCR('Topics to try things with') REPLACE",
        "DEFINE CHANNEL(DEV.APP.SVRCONN) CHLTYPE(SVRCONN) DESCR('For applications') REPLACE",
        "DEFINE CHANNEL(DEV.ADMIN.SVRCONN) CHLTYPE(SVRCONN) DESCR('For who administers') REPLACE",
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
    data.make()?;
    private::check_holder(data.root())?;
    let token = token(env);
    let claim = registry::exclusively(data, |registered| {
        if registered.find(name).is_some() {
            return Err(Failure::new(Exit::Exists, "AMQ8110E", &[name]));
        }
        clear_remains(&home)?;
        make_new(&home.folder, name)?;
        Claim::stake(&home, &log, &token)
    })?;
    let made = build(env, data, creation, (&home, &log, &token), progress);
    if made.is_err() {
        // What the operator must read is why; what is left over is recognised by its marker.
        let _ = remove_log_of(&log, &token, name);
        let _ = remove_folder(&home.folder, name);
    }
    drop(claim);
    made
}

/// What no other creation is known by.
fn token(env: &Env) -> String {
    let mut bytes = [0; 16];
    env.entropy.fill(&mut bytes);
    hex(&bytes)
}

/// Where the folder of a log says which creation has made it, until that has ended.
fn marker_of_log(log: &Path) -> PathBuf {
    log.join("creating")
}

/// Removes a log that a creation has made; any other is somebody's messages.
fn remove_log_of(log: &Path, token: &str, name: &str) -> Result<(), Failure> {
    match fs::read_to_string(marker_of_log(log)) {
        Ok(made_by) if made_by == token => remove_folder(log, name),
        _ => Ok(()),
    }
}

/// The marker of a creation that has not ended. Its lock tells one that goes on from one that was
/// killed; its text says where the log is to be, and by what a log is known that it has made.
struct Claim {
    _file: fs::File,
}

impl Claim {
    fn stake(home: &Home, log: &Path, token: &str) -> Result<Claim, Failure> {
        use std::io::Write as _;
        let marker = home.unfinished();
        let staked = fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(&marker)
            .and_then(|mut file| {
                file.lock()?;
                file.write_all(format!("{}\n{token}", shown(log)).as_bytes())?;
                file.sync_all()?;
                Ok(file)
            });
        let file = staked.map_err(|error| {
            // Nothing else is in it yet.
            let _ = fs::remove_file(&marker);
            let _ = fs::remove_dir(&home.folder);
            Failure::io(&marker, &error)
        })?;
        Ok(Claim { _file: file })
    }
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
fn clear_remains(home: &Home) -> Result<(), Failure> {
    let marker = home.unfinished();
    let Ok(file) = fs::File::open(&marker) else {
        return Ok(());
    };
    if file.try_lock().is_err() {
        return Err(Failure::new(
            Exit::InUse,
            "AMQ2007E",
            &[&shown(&home.folder)],
        ));
    }
    let text = fs::read_to_string(&marker).map_err(|error| Failure::io(&marker, &error))?;
    if let Some((log, token)) = text.split_once('\n') {
        remove_log_of(Path::new(log), token, &home.name)?;
    }
    remove_folder(&home.folder, &home.name)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn build(
    env: &Env,
    data: &DataDir,
    creation: &Creation,
    (home, log, token): (&Home, &Path, &str),
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Created, Failure> {
    let name = &creation.name;
    make_new(log, name).map_err(|failure| match failure.exit {
        Exit::Exists => Failure::new(Exit::Exists, "AMQ2023E", &[name, &shown(log)]),
        _ => failure,
    })?;
    let marker = marker_of_log(log);
    let marked = fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(&marker)
        .and_then(|mut file| {
            use std::io::Write as _;
            file.write_all(token.as_bytes())?;
            file.sync_all()
        });
    marked.map_err(|error| Failure::io(&marker, &error))?;
    for folder in [home.run(), home.errors()] {
        layout::make_private(&folder)?;
    }
    let key = creation.encryption.as_ref();
    let text = ini::new_file(name, log, &creation.shape, key, creation.access);
    let path = home.configuration();
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))?;
    if let Some(source) = key {
        keys::begin(env, home, source)?;
    }
    let config = configure::configure(env, data, home)?.engine;
    let objects = QueueManager::create(env, &config, &creation.options, progress)
        .map_err(|error| Failure::start(name, &home.folder, &error))?;
    let users = creation.access.users(home, &*env.entropy)?;
    let mut commands = creation.access.commands();
    commands.extend_from_slice(&creation.commands);
    let defined = define(env, home, &config, &commands)?;
    LastEnd::Normally.record(home)?;
    // In this order: what is left in the log of one that has ended is of no creation that there will be.
    for marker in [home.unfinished(), marker] {
        fs::remove_file(&marker).map_err(|error| Failure::io(&marker, &error))?;
    }
    registry::add(data, home, creation.default)?;
    Ok(Created {
        home: home.clone(),
        log: log.to_owned(),
        objects: objects + defined,
        users,
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
    let admin = Admin::alone(&run.qm);
    let mut defined = 0;
    let mut refused = None;
    for text in commands {
        let reply = block_on(admin.run(text));
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

/// Makes the system objects of a queue manager that is not running what they were when it was created
/// (`strmqm -c`), and ends it again.
///
/// # Errors
/// It is running, cannot be started, or had to stop.
pub fn restore_objects(env: &Env, data: &DataDir, home: &Home) -> Result<Restored, Failure> {
    let configured = configure::configure(env, data, home)?;
    let log = ErrorLog::new(
        &home.errors(),
        configured.settings.error_log_bytes,
        Some(&home.name),
        Console::Silent,
    );
    let operator: Arc<dyn Operator> = Arc::new(log);
    let run = EngineRun::start(env, home, &configured.engine, &operator)?;
    let restored = block_on(run.qm.restore_system_objects());
    let ended = block_on(run.qm.end(EndMode::Immediate));
    run.join()?;
    let stopped = |stop| Failure::stop(&home.name, &stop);
    let restored = restored.map_err(stopped)?;
    ended.map_err(stopped)?;
    LastEnd::Normally.record(home)?;
    Ok(restored)
}

/// Refuses to remove a folder that has not the queue manager's name.
fn check_folder(folder: &Path, name: &str) -> Result<(), Failure> {
    let own = layout::folder_name(name);
    if folder.file_name() != Some(own.as_ref()) {
        let what = format!("it does not end in {own}, so it is not removed");
        return Err(Failure::new(
            Exit::Unusable,
            "AMQ2008E",
            &[&shown(folder), &what],
        ));
    }
    Ok(())
}

/// Removes a folder with everything in it, if it has the queue manager's name.
fn remove_folder(folder: &Path, name: &str) -> Result<(), Failure> {
    check_folder(folder, name)?;
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io(folder, &error)),
        _ => Ok(()),
    }
}

/// Deletes a queue manager that is not running, with all its messages.
///
/// # Errors
/// It is running, or its files cannot be removed; what is still there can be deleted again.
pub fn delete(env: &Env, data: &DataDir, home: &Home) -> Result<Deleted, Failure> {
    let found = match home.folder.exists() {
        true => Deleted::Whole,
        false => Deleted::EntryOnly,
    };
    let log = configured_log(home).unwrap_or_else(|| data.new_log(&home.name, None));
    for folder in [&log, &home.folder] {
        if folder.exists() {
            check_folder(folder, &home.name)?;
        }
    }
    let lock = match env.disk.lock(&home.lock()) {
        Ok(lock) => Some(lock),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(crate::control::running(home));
        }
        // The folder is gone already: only the entry is left.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io(&home.lock(), &error)),
    };
    let lock_of_log = match env.disk.lock(&log.join("lock")) {
        Ok(held) => Some(held),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(Failure::new(Exit::InUse, "AMQ2007E", &[&shown(&log)]));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io(&log, &error)),
    };
    // The log goes first: where only it is there, the data are elsewhere, as on a disk that is not mounted, of which the folder is
    // there and empty.
    if !home.configuration().exists() && lock_of_log.is_some() {
        let inserts = [&*home.name, &shown(&home.folder), &shown(&log)];
        return Err(Failure::new(Exit::Unusable, "AMQ2052E", &inserts));
    }
    log_owner::check(home, &log)?;
    remove_folder(&log, &home.name)?;
    remove_folder(&home.folder, &home.name)?;
    drop((lock, lock_of_log));
    registry::remove(data, &home.name)?;
    Ok(found)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn creation(name: &str) -> Creation {
        Creation {
            name: name.to_owned(),
            shape: Shape {
                file_pages: 64,
                ..Shape::default()
            },
            commands: developer_objects(),
            ..Creation::default()
        }
    }

    fn quietly(data: &DataDir, name: &str) -> Result<Created, Failure> {
        create(&posthaste_env::os(), data, &creation(name), &mut |_, _| {})
    }

    #[test]
    fn of_many_creations_at_once_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let mut results: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| quietly(&data, "QM1")))
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        results.sort_by_key(Result::is_err);
        assert!(results[0].is_ok(), "{results:?}");
        for refused in &results[1..] {
            let exit = refused.as_ref().unwrap_err().exit;
            assert!(matches!(exit, Exit::Exists | Exit::InUse), "{refused:?}");
        }
        assert_eq!(registry::read(&data).unwrap().queue_managers.len(), 1);
    }

    #[test]
    fn remains_of_a_killed_creation_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let home = Home {
            name: "QM1".to_owned(),
            folder: data.new_data("QM1", None),
        };
        let log = data.new_log("QM1", None);
        layout::make_private(&home.folder).unwrap();
        layout::make_private(&log).unwrap();
        fs::write(log.join("half"), "a log").unwrap();
        fs::write(marker_of_log(&log), "this one").unwrap();
        // While the creation goes on, nobody touches them.
        let claim = Claim::stake(&home, &log, "this one").unwrap();
        assert_eq!(quietly(&data, "QM1").unwrap_err().exit, Exit::InUse);
        drop(claim);
        let made = quietly(&data, "QM1").unwrap();
        assert!(!log.join("half").exists());
        assert!(!home.unfinished().exists());
        assert!(made.objects > 15, "{made:?}");
        delete(&posthaste_env::os(), &data, &home).unwrap();
        assert!(!home.folder.exists() && !log.exists());
    }

    /// Whose data folder is not there says where no log is: that one may stay is said to whoever deletes.
    #[test]
    fn a_deletion_says_what_was_there_to_delete() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let elsewhere = folder.path().join("elsewhere");
        let mut creation = creation("QM1");
        creation.log = Some(elsewhere.clone());
        let env = posthaste_env::os();
        let made = create(&env, &data, &creation, &mut |_, _| {}).unwrap();
        assert_eq!(delete(&env, &data, &made.home), Ok(Deleted::Whole));
        assert!(!made.log.exists());
        let made = create(&env, &data, &creation, &mut |_, _| {}).unwrap();
        fs::remove_dir_all(&made.home.folder).unwrap();
        assert_eq!(delete(&env, &data, &made.home), Ok(Deleted::EntryOnly));
        assert!(made.log.starts_with(&elsewhere) && made.log.exists());
    }

    /// One that fails, and one that was killed before it had made a log of its own, leave the log alone that was there: it is that
    /// of a queue manager whose data folder is elsewhere.
    #[test]
    fn a_creation_removes_no_log_that_it_has_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let made = quietly(&data, "QM1").unwrap();
        let away = folder.path().join("away");
        fs::rename(&made.home.folder, &away).unwrap();
        fs::remove_file(folder.path().join("mqs.ini")).unwrap();
        let control = made.log.join("LOG.CTL");
        let refused = quietly(&data, "QM1").unwrap_err();
        assert_eq!((refused.exit, refused.id), (Exit::Exists, "AMQ2023E"));
        assert!(control.exists());
        layout::make_private(&made.home.folder).unwrap();
        for text in ["", "\n", "\nof another"] {
            fs::create_dir_all(&made.home.folder).unwrap();
            fs::write(made.home.unfinished(), shown(&made.log) + text).unwrap();
            let refused = quietly(&data, "QM1").unwrap_err();
            assert_eq!((refused.exit, refused.id), (Exit::Exists, "AMQ2023E"));
            assert!(control.exists(), "{text:?}");
        }
    }

    #[test]
    fn folders_with_other_names_are_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let made = quietly(&data, "QM1").unwrap();
        let precious = folder.path().join("precious");
        fs::create_dir(&precious).unwrap();
        let ini = made.home.configuration();
        let text = fs::read_to_string(&ini).unwrap();
        let changed = text.replace(&shown(&made.log), &shown(&precious));
        fs::write(&ini, changed).unwrap();
        let refused = delete(&posthaste_env::os(), &data, &made.home).unwrap_err();
        assert_eq!((refused.exit, refused.id), (Exit::Unusable, "AMQ2008E"));
        assert!(precious.exists());
    }
}
