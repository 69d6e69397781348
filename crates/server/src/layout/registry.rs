//! `mqs.ini`: which queue managers there are, where their data is, and which is the default one.
//!
//! Invariants: a queue manager is in the file only when its creation is complete, and leaves it
//! before the first of its files is removed; a stanza that says where these are is there in its stead until all are gone, by
//! which a deletion that was broken off is done again. Every change happens under a lock and replaces the file as a whole.

use std::fs::{self, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, OFlags, StatxFlags, statx};

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::ConfigError;
use crate::ini::stanza::{self, Entry, Place, Stanza};
use crate::layout::deletion::{Deletion, NOTED, Noted};
use crate::layout::ours::{self, Data};
use crate::layout::private;
use crate::layout::{self, DataDir, Home};

const QUEUE_MANAGER: &str = "QueueManager";
const DEFAULT: &str = "DefaultQueueManager";
const DELETED: &str = "DeletedQueueManager";
const NAME: &str = "Name";
const DATA_PATH: &str = "DataPath";
const LOG_PATH: &str = "LogPath";
/// How long whoever changes the file waits for somebody else who does. A deletion has the lock until its last file is gone.
const WAITS: Duration = Duration::from_secs(10);
/// So long somebody has it who does something else.
const MOMENT: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(10);
const NOWHERE: Place = Place { line: 1, column: 1 };

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registered {
    /// By name.
    pub queue_managers: Vec<Home>,
    /// The default one.
    pub default: Option<String>,
    /// Those whose files are being removed, or were to be.
    deletions: Vec<Deletion>,
}

impl Registered {
    /// One queue manager.
    pub fn find(&self, name: &str) -> Option<&Home> {
        self.queue_managers.iter().find(|home| home.name == name)
    }

    /// One by name, also where its deletion was begun and is not at its end.
    pub fn find_even_deleted(&self, name: &str) -> Option<&Home> {
        let deleted = || self.deletion(name).map(|it| &it.home);
        self.find(name).or_else(deleted)
    }

    pub(crate) fn deletion(&self, name: &str) -> Option<&Deletion> {
        self.deletions.iter().find(|it| it.home.name == name)
    }

    /// From here on it is no queue manager any more. It stays the default one until it is gone: somebody may want it back.
    pub(crate) fn begin_deletion(&mut self, home: &Home, log: &Path, noted: Noted) {
        self.queue_managers.retain(|it| it.name != home.name);
        self.deletions.retain(|it| it.home.name != home.name);
        self.deletions.push(Deletion {
            home: home.clone(),
            log: log.to_owned(),
            noted: Some(noted),
        });
    }

    /// Takes out everything about one; whether there was anything.
    pub(crate) fn forget(&mut self, name: &str) -> bool {
        let entries = |it: &Registered| it.queue_managers.len() + it.deletions.len();
        let before = entries(self);
        self.queue_managers.retain(|home| home.name != name);
        self.deletions.retain(|it| it.home.name != name);
        if self.default.as_deref() == Some(name) {
            self.default = None;
        }
        entries(self) < before
    }

    /// Whether a new one may have a name.
    ///
    /// # Errors
    /// One has it, or its files may still be there.
    pub(crate) fn check_free(&self, name: &str) -> Result<(), Failure> {
        let there = || Failure::new(Exit::Exists, "AMQ8110E", &[name]);
        match (self.find(name), self.deletion(name)) {
            (None, None) => Ok(()),
            (None, Some(begun)) => Err(there().with_detail(begun.advice())),
            (Some(_), _) => Err(there()),
        }
    }

    fn text(&self) -> String {
        let entry = |key: &str, value: String| Entry {
            key: key.to_owned(),
            key_at: NOWHERE,
            value,
            value_at: NOWHERE,
        };
        let stanza = |name: &str, entries| Stanza {
            name: name.to_owned(),
            at: NOWHERE,
            entries,
        };
        let mut stanzas: Vec<Stanza> = Vec::new();
        for home in &self.queue_managers {
            let path = home.folder.display().to_string();
            let entries = vec![entry(NAME, home.name.clone()), entry(DATA_PATH, path)];
            stanzas.push(stanza(QUEUE_MANAGER, entries));
        }
        for Deletion { home, log, noted } in &self.deletions {
            let mut entries = vec![
                entry(NAME, home.name.clone()),
                entry(DATA_PATH, home.folder.display().to_string()),
                entry(LOG_PATH, log.display().to_string()),
            ];
            if let Some(Noted(noted)) = noted {
                let noted = NOTED.into_iter().zip(noted);
                entries.extend(noted.map(|(key, found)| entry(key, found.clone())));
            }
            stanzas.push(stanza(DELETED, entries));
        }
        if let Some(default) = &self.default {
            stanzas.push(stanza(DEFAULT, vec![entry(NAME, default.clone())]));
        }
        format!(
            "# Queue managers of this folder. Written by posthaste create and delete.\n{}",
            stanza::write(&stanzas)
        )
    }
}

/// Reads what the file says; nothing when there is no file.
///
/// # Errors
/// It cannot be read, or is not right.
pub fn read(data: &DataDir) -> Result<Registered, Failure> {
    let path = data.registry();
    match fs::read(&path) {
        Ok(bytes) => parse(&path.display().to_string(), &bytes)
            .map_err(|errors| Failure::configuration(&errors)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Registered::default()),
        Err(error) => Err(Failure::io(&path, &error)),
    }
}

/// The files of a queue manager; of the default one when no name is given.
///
/// # Errors
/// There is none of that name.
pub fn find(data: &DataDir, name: Option<&str>) -> Result<Home, Failure> {
    let registered = read(data)?;
    let name = match name.filter(|name| !name.is_empty()) {
        Some(name) => {
            layout::check_name(name)?;
            name
        }
        None => registered
            .default
            .as_deref()
            .ok_or_else(|| Failure::new(Exit::NotFound, "AMQ2028E", &[]))?,
    };
    let found = registered.find(name).cloned();
    found.ok_or_else(|| unknown(data, &registered, name))
}

/// The same for a deletion, which is done again where one was broken off.
///
/// # Errors
/// There is none of that name.
pub fn find_to_delete(data: &DataDir, name: &str) -> Result<Home, Failure> {
    layout::check_name(name)?;
    let registered = read(data)?;
    let found = registered.find_even_deleted(name).cloned();
    found.ok_or_else(|| unknown(data, &registered, name))
}

/// There is no such queue manager; unless only its entry has been lost.
fn unknown(data: &DataDir, registered: &Registered, name: &str) -> Failure {
    let not_found = Failure::not_found(name);
    if let Some(begun) = registered.deletion(name) {
        return not_found.with_detail(advice(data, begun));
    }
    let folder = data.new_data(name, None);
    let home = Home {
        name: name.to_owned(),
        folder: folder.clone(),
    };
    // Its entry is the last thing that is made of it.
    if home.unfinished().exists() && !home.has_been_started() {
        return not_found.with_detail(format!(
            "It is being created in {}. If that goes on, try again in a moment; if it was broken off, create it again.",
            folder.display()
        ));
    }
    match home.configuration().exists() {
        true => not_found.with_detail(format!(
            "Its data is in {}, but mqs.ini does not name it. This makes it known again:\n  \
             posthaste addmqinf -s QueueManager -v Name={name}",
            folder.display()
        )),
        false => not_found,
    }
}

/// Adds a queue manager whose files are there.
///
/// # Errors
/// The folder is not that queue manager's; one of that name is there; the file cannot be read or written.
pub(crate) fn add_existing(data: &DataDir, home: &Home) -> Result<(), Failure> {
    let shown = home.folder.display().to_string();
    let wrong = |what: &str| Failure::new(Exit::Unusable, "AMQ2045E", &[&home.name, &shown, what]);
    let own = layout::folder_name(&home.name);
    if home.folder.file_name() != Some(own.as_ref()) {
        return Err(wrong(&format!("its last part is not {own}")));
    }
    if !home.configuration().is_file() {
        return Err(wrong("it has no qm.ini"));
    }
    if ours::data(home) != Data::Ours {
        return Err(wrong(
            "it has no checkpoint image, reserve or queue file of this program",
        ));
    }
    if home.unfinished().exists() && !home.has_been_started() {
        return Err(wrong("its creation was not finished"));
    }
    if let Some(begun) = read(data)?.deletion(&home.name) {
        return Err(wrong("its deletion has begun").with_detail(advice(data, begun)));
    }
    add(data, home, false).map_err(|failure| match failure.exit {
        Exit::Exists => Failure::new(Exit::StanzaExists, "AMQ2047E", &[&home.name]),
        _ => failure,
    })
}

/// Adds a queue manager, and makes it the default one if asked.
///
/// # Errors
/// One of that name is there; the file cannot be read or written.
pub(crate) fn add(data: &DataDir, home: &Home, default: bool) -> Result<(), Failure> {
    change(data, |registered| {
        registered.check_free(&home.name)?;
        registered.queue_managers.push(home.clone());
        registered
            .queue_managers
            .sort_by(|a, b| a.name.cmp(&b.name));
        if default {
            registered.default = Some(home.name.clone());
        }
        Ok(())
    })
}

/// Takes a queue manager out.
///
/// # Errors
/// There is none of that name; the file cannot be read or written.
pub fn remove(data: &DataDir, name: &str) -> Result<(), Failure> {
    change(data, |registered| {
        let was_default = registered.default.clone();
        let was_deleted = registered.deletion(name).is_some();
        if !registered.forget(name) {
            return Err(Failure::not_found(name));
        }
        if was_deleted {
            // It is made known again next, if it was put back.
            registered.default = was_default;
        }
        Ok(())
    })
}

/// Does something that must not happen twice at the same time to one folder of queue managers.
///
/// # Errors
/// Those of what is done, and those of reading the file; AMQ2080E: somebody else does that, and does not come to an end.
pub(crate) fn exclusively<T>(
    data: &DataDir,
    what: impl FnOnce(Registered) -> Result<T, Failure>,
) -> Result<T, Failure> {
    data.make()?;
    private::check_holder(data.root())?;
    // Closing the file, here or by the end of the process, releases the lock.
    let lock = lock(&data.root().join("mqs.lock"), WAITS)?;
    let done = read(data).and_then(what);
    drop(lock);
    done
}

fn lock(path: &Path, waits: Duration) -> Result<fs::File, Failure> {
    let failed = |error: io::Error| Failure::io(path, &error);
    let file = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(failed)?;
    let until = Instant::now() + waits;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let inserts = [&*path.display().to_string(), &holder(path)];
                return Err(Failure::new(Exit::InUse, "AMQ2080E", &inserts));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

/// The process that has the lock of a file, as the system says it: nothing of processes of another container.
pub fn holder_of(path: &Path) -> Option<u32> {
    let found = statx(
        CWD,
        path,
        AtFlags::empty(),
        StatxFlags::INO | StatxFlags::MNT_ID,
    )
    .ok()?;
    let stated = (found.stx_dev_major, found.stx_dev_minor);
    let (major, minor) = device_of_mount(found.stx_mnt_id).unwrap_or(stated);
    let number = format!("{major:02x}:{minor:02x}:{}", found.stx_ino);
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:6635612 0 EOF`; one that waits has `->` in the second place.
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let found = fields.get(1) == Some(&"FLOCK") && fields.get(5) == Some(&&*number);
        let process = fields.get(4).filter(|_| found)?;
        process.parse::<u32>().ok().filter(|process| *process > 0)
    })
}

/// The device by which the system knows the files of a mount: on overlay file systems and btrfs `stat` says another.
fn device_of_mount(mount: u64) -> Option<(u32, u32)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    // `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`.
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let found = fields.next()?.parse::<u64>() == Ok(mount);
        let (major, minor) = fields.nth(1).filter(|_| found)?.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    })
}

/// The same in words.
pub fn holder(path: &Path) -> String {
    match holder_of(path) {
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    }
}

/// What to do about a deletion that has begun, for whoever has not the lock: it may go on.
fn advice(data: &DataDir, begun: &Deletion) -> String {
    let path = data.root().join("mqs.lock");
    match lock(&path, MOMENT) {
        Err(locked) if locked.exit == Exit::InUse => format!(
            "It is being deleted: {} has {}.",
            holder(&path),
            path.display()
        ),
        _ => begun.advice(),
    }
}

fn change(
    data: &DataDir,
    what: impl FnOnce(&mut Registered) -> Result<(), Failure>,
) -> Result<(), Failure> {
    exclusively(data, |mut registered| {
        what(&mut registered)?;
        write(data, &registered)
    })
}

/// Writes the file; who does that has it exclusively.
///
/// # Errors
/// It cannot be written; what it has said is still there then.
pub(crate) fn write(data: &DataDir, registered: &Registered) -> Result<(), Failure> {
    let path = data.registry();
    let written = layout::write_atomically(&path, &registered.text());
    written.map_err(|error| Failure::io(&path, &error))
}

fn parse(file: &str, bytes: &[u8]) -> Result<Registered, Vec<ConfigError>> {
    let (stanzas, faults) = stanza::read(bytes);
    let mut errors: Vec<ConfigError> = faults
        .into_iter()
        .map(|fault| fault_in(file, fault.at, &fault.what))
        .collect();
    let mut registered = Registered::default();
    for stanza in &stanzas {
        if let Err(error) = take(file, stanza, &mut registered) {
            errors.push(error);
        }
    }
    match errors.is_empty() {
        true => Ok(registered),
        false => Err(errors),
    }
}

fn take(file: &str, stanza: &Stanza, registered: &mut Registered) -> Result<(), ConfigError> {
    let is = |name: &str| stanza.name.eq_ignore_ascii_case(name);
    let name = || {
        let name = stanza.get(NAME).filter(|name| layout::valid_name(name));
        name.ok_or_else(|| fault_in(file, stanza.at, "the stanza has no valid Name"))
    };
    let path = |key: &str| {
        let path = stanza.get(key).map(PathBuf::from);
        path.filter(|path| path.is_absolute()).ok_or_else(|| {
            let what = format!("the stanza has no absolute {key}");
            fault_in(file, stanza.at, &what)
        })
    };
    if is(QUEUE_MANAGER) || is(DELETED) {
        let name = name()?.to_owned();
        let home = Home {
            folder: path(DATA_PATH)?,
            name,
        };
        if registered.find(&home.name).is_some() || registered.deletion(&home.name).is_some() {
            let what = format!("queue manager {} is there twice", home.name);
            return Err(fault_in(file, stanza.at, &what));
        }
        match is(DELETED) {
            true => registered.deletions.push(Deletion {
                log: path(LOG_PATH)?,
                home,
                noted: noted(stanza),
            }),
            false => registered.queue_managers.push(home),
        }
    } else if is(DEFAULT) {
        registered.default = Some(name()?.to_owned());
    } else {
        let what = format!("stanza {} is not known here", stanza.name);
        return Err(fault_in(file, stanza.at, &what));
    }
    Ok(())
}

/// What a deletion has found; all of it, or what is there is looked at as if nothing had been noted.
fn noted(stanza: &Stanza) -> Option<Noted> {
    let [data, configuration, log, control] = NOTED.map(|key| stanza.get(key).map(str::to_owned));
    Some(Noted([data?, configuration?, log?, control?]))
}

fn fault_in(file: &str, at: Place, what: &str) -> ConfigError {
    ConfigError {
        file: file.to_owned(),
        at,
        id: "AMQ2101E",
        inserts: vec![
            file.to_owned(),
            at.line.to_string(),
            at.column.to_string(),
            what.to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever file system the folder is on: an overlay, as in a container, has two numbers.
    #[test]
    fn who_has_a_lock_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = fs::File::create(&path).unwrap();
        assert_eq!(holder_of(&path), None);
        file.try_lock().unwrap();
        assert_eq!(holder_of(&path), Some(std::process::id()));
    }

    fn home(name: &str) -> Home {
        Home {
            name: name.to_owned(),
            folder: PathBuf::from("/data with blanks").join(name),
        }
    }

    /// Who types the second line of the README before the first one is done is not sent to repair anything.
    #[test]
    fn what_is_being_created_is_not_lost() {
        let above = tempfile::tempdir().unwrap();
        let data = DataDir::at(above.path());
        let home = Home {
            name: "QM1".to_owned(),
            folder: data.new_data("QM1", None),
        };
        layout::make_private(&home.folder).unwrap();
        fs::write(home.configuration(), "").unwrap();
        fs::write(home.unfinished(), "").unwrap();
        let shown = || find(&data, Some("QM1")).unwrap_err().to_string();
        assert!(shown().contains("It is being created in "), "{}", shown());
        fs::remove_file(home.unfinished()).unwrap();
        assert!(shown().contains("addmqinf"), "{}", shown());
    }

    #[test]
    fn queue_managers_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path().join("new"));
        assert_eq!(read(&data).unwrap(), Registered::default());
        assert_eq!(find(&data, None).unwrap_err().id, "AMQ2028E");
        add(&data, &home("QM2"), false).unwrap();
        add(&data, &home("QM1"), true).unwrap();
        assert_eq!(
            add(&data, &home("QM1"), false).unwrap_err().exit,
            Exit::Exists
        );
        let now = read(&data).unwrap();
        assert_eq!(now.queue_managers, [home("QM1"), home("QM2")]);
        assert_eq!(find(&data, None).unwrap(), home("QM1"));
        assert_eq!(find(&data, Some("QM2")).unwrap(), home("QM2"));
        assert_eq!(find(&data, Some("QM3")).unwrap_err().exit, Exit::NotFound);
        assert_eq!(find(&data, Some("Q M")).unwrap_err().id, "AMQ7048E");
        remove(&data, "QM1").unwrap();
        assert_eq!(remove(&data, "QM1").unwrap_err().exit, Exit::NotFound);
        assert_eq!(read(&data).unwrap().default, None);
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        std::thread::scope(|scope| {
            for number in 0..8 {
                let data = data.clone();
                scope.spawn(move || add(&data, &home(&format!("QM{number}")), false).unwrap());
            }
        });
        assert_eq!(read(&data).unwrap().queue_managers.len(), 8);
    }

    #[test]
    fn a_damaged_file_is_refused_with_its_places() {
        for (text, line) in [
            ("QueueManager:\n", 1),
            ("\nQueueManager:\n Name=Q M\n DataPath=/a\n", 2),
            ("QueueManager:\n Name=QM1\n DataPath=a\n", 1),
            ("Other:\n", 1),
            ("DefaultQueueManager:\n", 1),
            (
                "QueueManager:\n Name=A\n DataPath=/a\nQueueManager:\n Name=A\n DataPath=/b\n",
                4,
            ),
            ("junk\n", 1),
        ] {
            let errors = parse("mqs.ini", text.as_bytes()).unwrap_err();
            assert_eq!(errors.len(), 1, "{text}");
            assert_eq!(errors[0].at.line, line, "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::at(folder.path());
        fs::write(data.registry(), "junk\n").unwrap();
        let failure = read(&data).unwrap_err();
        assert_eq!(
            (failure.exit, failure.id),
            (Exit::Configuration, "AMQ2107E")
        );
        assert!(failure.to_string().contains("mqs.ini:1:1: AMQ2101E"));
        assert!(
            add(&data, &home("QM1"), false).is_err(),
            "a damaged file is not overwritten"
        );
    }
}
