//! Creating queue managers.
//!
//! Invariants: a creation that fails leaves nothing behind, and one that is killed leaves markers by
//! which the next one recognises the remains (`broken_off`). Once mqs.ini names it, it is there, and a start takes away the markers
//! that a kill has left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_admin::Admin;
use posthaste_engine::{
    CreateOptions, EndMode, EngineConfig, Operator, QueueManager, Restored, Silent,
};
use posthaste_env::{Env, block_on};

use crate::compose::engine_run::{Awaited, EngineRun};
use crate::encryption::keys;
use crate::encryption::source::KeySource;
use crate::error_log::{Console, ErrorLog};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::ini::{self, Shape};
use crate::layout::private;
use crate::layout::registry;
use crate::layout::{self, DataDir, Home};
use crate::lifecycle::access::{Access, FirstUsers};
use crate::lifecycle::another_root;
use crate::lifecycle::broken_off::{self, Claim};
use crate::lifecycle::ending::LastEnd;

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

/// MQSC for a developer's queue manager: queues to try things with, a channel and a listener.
pub fn developer_objects() -> Vec<String> {
    [
        "DEFINE QLOCAL(DEV.QUEUE.1) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.2) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.QUEUE.3) DESCR('A queue to try things with') REPLACE",
        "DEFINE QLOCAL(DEV.DEAD.LETTER.QUEUE) DESCR('Messages that could not be delivered') REPLACE",
        "DEFINE QMODEL(DEV.APP.MODEL.QUEUE) DESCR('For queues that applications make') REPLACE",
        // With the slash, as IBM's samples expect it; it is another topic than dev, and not above dev/news.
        "DEFINE TOPIC(DEV.BASE.TOPIC) TOPICSTR('dev/') DESCR('A topic to try things with') REPLACE",
        "DEFINE TOPIC(DEV.TOPIC) TOPICSTR('dev') DESCR('Topics to try things with') REPLACE",
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
    let token = broken_off::token(env);
    let claim = registry::exclusively(data, |registered| {
        registered.check_free(name)?;
        broken_off::clear(env, &home)?;
        make_new(&home)?;
        Claim::stake(&home, &log, &token)
    })?;
    let mut has_log = false;
    let made = build(
        env,
        data,
        creation,
        (&home, &log, &token, &mut has_log),
        progress,
    );
    if made.is_err() && forgotten(data, &home) {
        // What the operator must read is why; what is left over is recognised by its marker.
        let _ = broken_off::undo(env, &home, has_log.then_some(&*log));
    }
    drop(claim);
    made
}

/// Whether mqs.ini does not name it, or not any more: as long as it does, its folders stay.
fn forgotten(data: &DataDir, home: &Home) -> bool {
    let named = |it: registry::Registered| it.find(&home.name).is_some_and(|it| it == home);
    match registry::read(data).map(named) {
        Ok(true) => registry::remove(data, &home.name).is_ok(),
        named => named.is_ok(),
    }
}

/// Makes the data folder, which must not be there yet.
fn make_new(home: &Home) -> Result<(), Failure> {
    match make_empty(&home.folder)? {
        true => Ok(()),
        false => {
            let there = Failure::new(Exit::Exists, "AMQ8110E", &[&home.name]);
            let not_empty = format!("{} is not empty.", home.folder.display());
            Err(match home.configuration().is_file() {
                true => there.with_detail(format!("{not_empty} {}", broken_off::known_again(home))),
                false => there.with_detail(not_empty),
            })
        }
    }
}

/// Makes a folder; whether nothing is in it.
fn make_empty(folder: &Path) -> Result<bool, Failure> {
    if let Some(above) = folder.parent() {
        layout::make_private(above)?;
    }
    use std::os::unix::fs::DirBuilderExt as _;
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    match made.and_then(|()| layout::sync_above(folder)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()))
        }
        Err(error) => Err(Failure::io(folder, &error)),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn build(
    env: &Env,
    data: &DataDir,
    creation: &Creation,
    (home, log, token, has_log): (&Home, &Path, &str, &mut bool),
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Created, Failure> {
    let name = &creation.name;
    *has_log = make_empty(log)?;
    if !*has_log {
        return Err(Failure::new(Exit::Exists, "AMQ2023E", &[name, &shown(log)]));
    }
    broken_off::mark_log(log, token)?;
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
    another_root::claim(data, home)?;
    registry::add(data, home, creation.default)?;
    // From here on it is there: a marker that stays is taken away by a start.
    let _ = broken_off::forget_creation(home, log);
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
    run.join(true, &Awaited::default())?;
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
    another_root::check_copied(data, home)?;
    let configured = configure::configure(env, data, home)?;
    let log = ErrorLog::new(
        &home.errors(),
        configured.settings.error_log_bytes,
        Some(&home.name),
        Console::Silent,
    );
    let operator: Arc<dyn Operator> = Arc::new(log);
    let run = EngineRun::start(env, home, &configured.engine, &operator)?;
    another_root::claim_at_start(data, home, &*operator);
    let restored = block_on(run.qm.restore_system_objects());
    let ended = block_on(run.qm.end(EndMode::Immediate));
    run.join(true, &Awaited::default())?;
    let stopped = |stop| Failure::stop(&home.name, &stop);
    let restored = restored.map_err(stopped)?;
    ended.map_err(stopped)?;
    LastEnd::Normally.record(home)?;
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::delete::delete;

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

    /// What a creation is known by that was killed.
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    /// As a creation that is under way, or a power cut after it, leaves both markers.
    fn plant_markers(home: &Home, log: &Path) {
        fs::write(home.unfinished(), format!("{}\n{TOKEN}", shown(log))).unwrap();
        fs::write(broken_off::marker_of_log(log), TOKEN).unwrap();
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
        fs::write(broken_off::marker_of_log(&log), TOKEN).unwrap();
        // While the creation goes on, nobody touches them.
        let claim = Claim::stake(&home, &log, TOKEN).unwrap();
        assert_eq!(quietly(&data, "QM1").unwrap_err().exit, Exit::InUse);
        drop(claim);
        let made = quietly(&data, "QM1").unwrap();
        assert!(!log.join("half").exists());
        assert!(!home.unfinished().exists());
        assert!(made.objects > 15, "{made:?}");
        delete(&posthaste_env::os(), &data, &home).unwrap();
        assert!(!home.folder.exists() && !log.exists());
    }

    /// One that was killed while it wrote a marker, or whose power failed before that was on disk.
    #[test]
    fn markers_that_are_not_whole_are_known_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let home = Home {
            name: "QM1".to_owned(),
            folder: data.new_data("QM1", None),
        };
        let log = data.new_log("QM1", None);
        let whole = format!("{}\n{TOKEN}", shown(&log));
        for (of_data, of_log) in [
            ("", None),
            (&whole[..5], None),
            (&whole[..whole.len() - 3], None),
            (&whole, None),
            (&whole, Some("")),
            (&whole, Some(&TOKEN[..7])),
            (&whole, Some(TOKEN)),
        ] {
            layout::make_private(&home.folder).unwrap();
            fs::write(home.unfinished(), of_data).unwrap();
            if let Some(text) = of_log {
                layout::make_private(&log).unwrap();
                fs::write(broken_off::marker_of_log(&log), text).unwrap();
            }
            quietly(&data, "QM1").unwrap_or_else(|e| panic!("{of_data:?} {of_log:?}: {e}"));
            delete(&posthaste_env::os(), &data, &home).unwrap();
        }
        // The beginning of a marker is no proof for a folder with something in it.
        layout::make_private(&home.folder).unwrap();
        layout::make_private(&log).unwrap();
        plant_markers(&home, &log);
        fs::write(broken_off::marker_of_log(&log), &TOKEN[..7]).unwrap();
        fs::write(log.join("something"), "else").unwrap();
        assert_eq!(quietly(&data, "QM1").unwrap_err().id, "AMQ2023E");
        layout::make_private(&home.folder).unwrap();
        plant_markers(&home, &log);
        fs::write(broken_off::marker_of_log(&log), "another's").unwrap();
        fs::write(home.configuration(), "").unwrap();
        let refused = quietly(&data, "QM1").unwrap_err();
        assert_eq!(refused.id, "AMQ8110E");
        assert!(refused.to_string().contains("addmqinf"), "{refused}");
        assert!(home.configuration().exists() && log.join("something").exists());
    }

    /// The disk is full, or worse, when mqs.ini is to be written.
    #[test]
    fn a_creation_that_fails_at_its_last_step_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        data.make().unwrap();
        let in_the_way = folder
            .path()
            .join(format!("mqs.ini.{}", std::process::id()));
        fs::create_dir(&in_the_way).unwrap();
        quietly(&data, "QM1").unwrap_err();
        assert!(!data.new_data("QM1", None).exists());
        assert!(!data.new_log("QM1", None).exists());
        fs::remove_dir(&in_the_way).unwrap();
        quietly(&data, "QM1").unwrap();
    }

    #[test]
    fn of_two_creations_in_different_folders_the_loser_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let loser = Creation {
            data: Some(folder.path().join("md")),
            log: Some(folder.path().join("ld")),
            ..creation("QM1")
        };
        let mut winner = None;
        let mut overtake = |_, _| {
            winner.get_or_insert_with(|| quietly(&data, "QM1").unwrap());
        };
        let refused = create(&posthaste_env::os(), &data, &loser, &mut overtake).unwrap_err();
        assert_eq!(refused.id, "AMQ8110E");
        for left in ["md/QM1", "ld/QM1"] {
            assert!(!folder.path().join(left).exists(), "{left}");
        }
        let made = winner.unwrap();
        let known = registry::find(&data, Some("QM1")).unwrap();
        assert_eq!(known, made.home);
        assert!(made.log.join("LOG.CTL").exists());
        delete(&posthaste_env::os(), &data, &known).unwrap();
    }

    /// A creation was killed just before it took its markers away, or a power cut has brought them back.
    #[test]
    fn markers_do_not_give_away_what_has_been_started_or_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        let env = posthaste_env::os();
        let made = quietly(&data, "QM1").unwrap();
        let (home, log) = (&made.home, &made.log);
        assert!(!home.unfinished().exists() && !broken_off::marker_of_log(log).exists());
        plant_markers(home, log);
        // As long as mqs.ini names it, it is there.
        assert_eq!(quietly(&data, "QM1").unwrap_err().id, "AMQ8110E");
        // Afterwards the locks keep it.
        registry::remove(&data, "QM1").unwrap();
        for lock in [home.lock(), log.join("lock")] {
            let held = env.disk.lock(&lock).unwrap();
            let refused = quietly(&data, "QM1").unwrap_err();
            assert_eq!((refused.id, refused.exit), ("AMQ2007E", Exit::InUse));
            drop(held);
        }
        // So does that it has served.
        drop(crate::lifecycle::process_lock::ProcessLock::take(home).unwrap());
        let refused = quietly(&data, "QM1").unwrap_err();
        assert_eq!((refused.id, refused.exit), ("AMQ8110E", Exit::Exists));
        let text = refused.to_string();
        assert!(
            text.contains("addmqinf -s QueueManager -v Name=QM1 -v DataPath="),
            "{text}"
        );
        assert!(log.join("LOG.CTL").exists() && home.configuration().exists());
        // What the message says works, and a start takes the markers away.
        registry::add_existing(&data, home).unwrap();
        broken_off::forget_creation(home, log).unwrap();
        assert!(!home.unfinished().exists() && !broken_off::marker_of_log(log).exists());
        broken_off::forget_creation(home, log).unwrap();
        // Without markers it says so too.
        registry::remove(&data, "QM1").unwrap();
        let refused = quietly(&data, "QM1").unwrap_err();
        assert!(refused.to_string().contains("addmqinf"), "{refused}");
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
