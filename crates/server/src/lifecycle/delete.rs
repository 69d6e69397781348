//! Deleting queue managers.
//!
//! Invariants:
//! * Nothing is removed before both folders, the data's and the log's, are known to be this queue manager's: they end in its name,
//!   they have what only this program writes, and neither is another queue manager's, or in or above one of those. Whoever must
//!   not be disturbed has a lock.
//! * Removed are files that have names this program gives, each by itself. What else is there stays, and is said.
//! * A deletion has mqs.ini for itself from its first look to its end, and mqs.ini says that it has begun, and where both folders are,
//!   before anything is removed: so whatever would refuse it at its end has refused it then, and one that was broken off
//!   is done again from anywhere. It removes what it has found then, and nothing that has taken its place (`layout/deletion.rs`).
//!   Only where the disk is too full for that line, what shows whose a folder is, which goes last, has to do.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use posthaste_env::{Env, Lock};

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::ini::configure;
use crate::layout::deletion::{Deletion, Noted, Remains};
use crate::layout::ours::{self, Data};
use crate::layout::private;
use crate::layout::registry::{self, Registered};
use crate::layout::{self, DataDir, Home};
use crate::lifecycle::{another_root, log_owner};

/// What a deletion has done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Mount points that were emptied and are still there.
    pub mounted: Vec<PathBuf>,
    /// Whether nothing of it was there any more, so that only mqs.ini was changed.
    pub was_gone: bool,
}

/// Deletes a queue manager that is not running, with all its messages.
///
/// # Errors
/// It is running; a folder is not certainly its own, or mqs.ini cannot be changed (nothing was removed then); its files
/// cannot be removed (what is still there can be deleted again); or AMQ2058W: it is deleted, and what is not its own was left.
pub fn delete(env: &Env, data: &DataDir, home: &Home) -> Result<Deleted, Failure> {
    registry::exclusively(data, |registered| {
        let begun = registered.deletion(&home.name);
        let begun = begun.filter(|begun| begun.home == *home);
        let remains = begun.map(remains).transpose()?;
        another_root::check(data, home)?;
        if begun.is_none() && registered.find(&home.name) != Some(home) {
            return Err(Failure::not_found(&home.name));
        }
        let log = match begun {
            Some(begun) => begun.log.clone(),
            None => configured_log(data, home)?,
        };
        for folder in [&log, &home.folder] {
            if folder.exists() {
                check_folder(folder, &home.name)?;
                // As a start refuses it: the superuser would not be kept from another user's messages.
                private::check_own(folder)?;
            }
            check_apart(data, &registered, home, folder)?;
        }
        let locks = match begun {
            // Of what was looked at then, not everything need be there.
            Some(_) => [
                locked(env, &home.folder)?.ok_or_else(|| crate::control::list::running(home))?,
                lock_of_log(env, &log)?,
            ],
            None => locked_as_own(env, home, &log)?,
        };
        log_owner::check(home, &log)?;
        if let Some(what) = posthaste_engine::misfit_of_log(env, &home.folder, &log) {
            return refused(home, &log, &format!("is not its log: {what}"));
        }
        Ok(Deleted {
            mounted: remove(data, registered.clone(), home, &log, locks)?,
            was_gone: remains == Some(Remains::Nothing),
        })
    })
}

/// What is there of a deletion that is done again, if it is not something else.
fn remains(begun: &Deletion) -> Result<Remains, Failure> {
    match begun.remains()? {
        Remains::Another(folder) => {
            let what = "is not what its deletion, which was broken off, has left";
            refused(&begun.home, &folder, what)
                .map_err(|failure: Failure| failure.with_detail(begun.way_back()))
        }
        remains => Ok(remains),
    }
}

fn refused<T>(home: &Home, folder: &Path, what: &str) -> Result<T, Failure> {
    let inserts = [&*home.name, &shown(folder), what];
    Err(Failure::new(Exit::Unusable, "AMQ2055E", &inserts))
}

/// The locks of both folders, which are certainly a queue manager's.
fn locked_as_own(env: &Env, home: &Home, log: &Path) -> Result<[Held; 2], Failure> {
    let found = ours::data(home);
    if found == Data::Foreign {
        return refused(
            home,
            &home.folder,
            "has a qm.ini, and no checkpoint image, reserve or queue file of this program",
        );
    }
    let lock = match found {
        Data::Ours => {
            locked(env, &home.folder)?.ok_or_else(|| crate::control::list::running(home))?
        }
        _ => None,
    };
    let is_log = ours::is_log(log);
    let lock_of_log = match is_log {
        true => lock_of_log(env, log)?,
        false => None,
    };
    // Where the log is, only the data folder says.
    if found == Data::Absent {
        let inserts = [&*home.name, &shown(&home.folder)];
        return Err(Failure::new(Exit::Unusable, "AMQ2052E", &inserts));
    }
    if !is_log && !ours::is_empty(log) {
        return refused(
            home,
            log,
            "has no control file LOG.CTL of this program's recovery log",
        );
    }
    Ok([lock, lock_of_log])
}

/// Removes both folders, and the queue manager from mqs.ini.
fn remove(
    data: &DataDir,
    mut registered: Registered,
    home: &Home,
    log: &Path,
    locks: [Held; 2],
) -> Result<Vec<PathBuf>, Failure> {
    let before = registered.clone();
    let begun = registered.deletion(&home.name);
    let is_again = begun.is_some();
    let is_noted = match begun.is_some_and(|begun| begun.noted.is_some()) {
        true => true,
        false => {
            registered.begin_deletion(home, log, Noted::now(home, log)?);
            step();
            match registry::write(data, &registered) {
                // It may be for room that it is deleted; which makes some there only if something of it is on that disk.
                Err(failure)
                    if failure.exit == Exit::NoSpace
                        && [log, &home.folder]
                            .map(device)
                            .contains(&device(data.root())) =>
                {
                    false
                }
                written => written.map(|()| true)?,
            }
        }
    };
    let mut removal = Removal {
        is_again,
        ..Removal::default()
    };
    // A log that has it is not what a deletion has left.
    let first = match is_noted {
        true => removal.file(&log.join("LOG.CTL")),
        false => Ok(()),
    };
    let removed = first
        .and_then(|()| removal.folder(log, &LOG))
        .and_then(|()| removal.folder(&home.folder, &DATA));
    drop(locks);
    if let Err(failure) = removed {
        if removal.removed == 0 {
            // It is as it was. If mqs.ini cannot say so, deleting it again is still possible.
            let _ = registry::write(data, &before);
        }
        return Err(failure);
    }
    registered.forget(&home.name);
    step();
    registry::write(data, &registered)?;
    let left = removal.left.len();
    match left {
        0 => Ok(removal.mounted),
        _ => Err(Failure {
            details: removal.left,
            ..Failure::new(
                Exit::FilesLeft,
                "AMQ2058W",
                &[&home.name, &left.to_string()],
            )
        }),
    }
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

fn shown(path: &Path) -> String {
    path.display().to_string()
}

type Held = Option<Box<dyn Lock>>;

/// The lock of a folder, if the folder is there; nothing if somebody has it.
fn locked(env: &Env, folder: &Path) -> Result<Option<Held>, Failure> {
    let path = folder.join("lock");
    match env.disk.lock(&path) {
        Ok(lock) => Ok(Some(Some(lock))),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(None)),
        Err(error) => Err(Failure::io(&path, &error)),
    }
}

fn lock_of_log(env: &Env, log: &Path) -> Result<Held, Failure> {
    let in_use = || Failure::new(Exit::InUse, "AMQ2007E", &[&shown(log)]);
    locked(env, log)?.ok_or_else(in_use)
}

/// The log's folder, also from a configuration with other faults: a queue manager that does not start can still be deleted.
fn configured_log(data: &DataDir, home: &Home) -> Result<PathBuf, Failure> {
    let named = configure::named_log(home);
    if named.is_none() && ours::data(home) == Data::Ours {
        // It was not created so. Wherever it has its log, the messages in there would stay, and nobody would hear of it.
        let is_empty = fs::metadata(home.configuration()).is_ok_and(|found| found.len() == 0);
        return Err(configure::no_log(home, is_empty).with_detail(format!(
            "Nothing was removed: delete the queue manager again when the file names its log. If the log is lost, remove {} by hand, \
             and take the entry out with\n  posthaste rmvmqinf {}",
            shown(&home.folder),
            home.name
        )));
    }
    let named = named.unwrap_or_else(|| data.new_log(&home.name, None));
    match named.is_absolute() {
        true => Ok(named),
        // As a start refuses it: it would be another folder for each who deletes.
        false => Err(configure::read(home).err().unwrap_or_else(|| {
            Failure::bad_parameter(format!("LogPath {} is not absolute", named.display()))
        })),
    }
}

/// Refuses a folder that is one of another queue manager, or in or above one.
fn check_apart(
    data: &DataDir,
    registered: &Registered,
    home: &Home,
    folder: &Path,
) -> Result<(), Failure> {
    let Ok(whole) = fs::canonicalize(folder) else {
        return Ok(());
    };
    let others = registered
        .queue_managers
        .iter()
        .filter(|other| other.name != home.name);
    for other in others {
        let log = configure::named_log(other).unwrap_or_else(|| data.new_log(&other.name, None));
        for theirs in [&other.folder, &log] {
            let Ok(theirs) = fs::canonicalize(theirs) else {
                continue;
            };
            if whole.starts_with(&theirs) || theirs.starts_with(&whole) {
                let what = format!("and {} of {} overlap", theirs.display(), other.name);
                return refused(home, folder, &what);
            }
        }
    }
    Ok(())
}

/// What this program puts into a folder.
struct Contents {
    /// When a file of that name is removed: later with a higher number; never, if it is not known.
    turn: fn(&str) -> Option<u8>,
    folders: &'static [(&'static str, Contents)],
}

const LOG: Contents = Contents {
    turn: |name| match name {
        "creating" => Some(0),
        "owner" => Some(1),
        "lock" => Some(2),
        "LOG.CTL" => Some(3),
        _ => None,
    },
    folders: &[(
        "active",
        Contents {
            turn: |name| {
                let number = name.strip_prefix('S')?;
                let number = number
                    .strip_suffix(".LOG")
                    .or(number.strip_suffix(".NEW"))?;
                ours::is_number(number).then_some(0)
            },
            folders: &[],
        },
    )],
};

const DATA: Contents = Contents {
    turn: |name| match name {
        "users" | "users.lock" | "users.new" | "first-passwords" | "ldap.sth"
        | "encryption.keys" | "creating" | "ended" => Some(0),
        "identity" | "owner" => Some(1),
        name if ours::is_image(name) => Some(1),
        "lock" => Some(2),
        "checkpoint.reserve" => Some(3),
        "qm.ini" => Some(4),
        _ => None,
    },
    folders: &[
        (
            "queues",
            Contents {
                turn: |name| ours::is_number(name.rsplit_once('.')?.1).then_some(0),
                folders: &[],
            },
        ),
        (
            "errors",
            Contents {
                turn: |name| {
                    let error = name.strip_prefix("AMQERR").map(|n| n.strip_suffix(".LOG"));
                    let audit = name.strip_prefix("AUDIT").map(|n| n.strip_suffix(".json"));
                    ours::is_number(error.or(audit)??).then_some(0)
                },
                folders: &[],
            },
        ),
        (
            "run",
            Contents {
                turn: |name| {
                    matches!(name, "local.sock" | "control.sock" | "status" | "process")
                        .then_some(0)
                },
                folders: &[],
            },
        ),
        (
            "ssl",
            Contents {
                turn: |name| name.starts_with("key.").then_some(0),
                folders: &[],
            },
        ),
    ],
};

/// When a file is removed, also one that was to take the place of a known one (`qm.ini.4711`).
fn turn(contents: &Contents, name: &str) -> Option<u8> {
    (contents.turn)(name).or_else(|| {
        let (whole, process) = name.rsplit_once('.')?;
        (contents.turn)(whole).filter(|_| ours::is_number(process))?;
        Some(0)
    })
}

/// What has come of removing.
#[derive(Debug, Default)]
struct Removal {
    /// Whether the deletion was broken off before.
    is_again: bool,
    /// What is left, and why.
    left: Vec<String>,
    left_at: Vec<PathBuf>,
    mounted: Vec<PathBuf>,
    /// How many files and folders are gone.
    removed: usize,
}

impl Removal {
    fn take(
        &mut self,
        path: &Path,
        remove: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        step();
        remove(path)?;
        self.removed += 1;
        Ok(())
    }

    fn leave(&mut self, path: PathBuf, why: &str) {
        self.left.push(format!("{}: {why}", path.display()));
        self.left_at.push(path);
    }

    /// Removes a folder by the name it was given, and where that is a link, what it leads to.
    fn folder(&mut self, named: &Path, contents: &Contents) -> Result<(), Failure> {
        let whole = match fs::canonicalize(named) {
            Ok(whole) => whole,
            // What it led to has gone before.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match self.is_again && named.is_symlink() {
                    true => self.file(named),
                    false => Ok(()),
                };
            }
            Err(error) => return Err(Failure::io(named, &error)),
        };
        self.contents(&whole, contents)?;
        self.close(&whole)?;
        // Before mqs.ini forgets it: a power cut would bring back what nobody knows of any more.
        let synced = match whole.is_dir() {
            true => fs::File::open(&whole).and_then(|folder| folder.sync_all()),
            false => layout::sync_above(&whole),
        };
        synced.map_err(|error| Failure::io(&whole, &error))?;
        if named.is_symlink() {
            match self.left_at.iter().any(|left| left.starts_with(&whole)) {
                true => self.leave(named.to_owned(), "it leads to what is left"),
                false => self
                    .take(named, |named| fs::remove_file(named))
                    .map_err(|error| Failure::io(named, &error))?,
            }
        }
        Ok(())
    }

    fn contents(&mut self, folder: &Path, known: &Contents) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::io(folder, &error);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_str().unwrap_or_default();
            let kind = entry.file_type().map_err(failed)?;
            let below = known.folders.iter().find(|(known, _)| *known == name);
            match (kind.is_dir(), below) {
                (true, Some((_, below))) => {
                    self.contents(&path, below)?;
                    self.close(&path)?;
                }
                // The file system's own.
                (true, None) if name == "lost+found" && is_root_of_disk(folder) => {}
                (true, None) => {
                    self.leave(path, "it is a folder that the queue manager did not make")
                }
                (false, Some(_)) => {
                    self.leave(path, "it is no folder; what it leads to was not touched")
                }
                (false, None) => match turn(known, name) {
                    Some(turn) => files.push((turn, path)),
                    None => self.leave(path, "it is not a file of the queue manager"),
                },
            }
        }
        files.sort();
        for (_, path) in files {
            self.file(&path)?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        match self.take(path, |path| fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io(path, &error)),
            _ => Ok(()),
        }
    }

    /// Removes a folder of which the contents have gone.
    fn close(&mut self, folder: &Path) -> Result<(), Failure> {
        match self.take(folder, |folder| fs::remove_dir(folder)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                self.mounted.push(folder.to_owned());
            }
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                let mut known = self.left_at.iter().chain(&self.mounted);
                if !known.any(|path| path.starts_with(folder)) {
                    self.leave(folder.to_owned(), "something was put into it meanwhile");
                }
            }
            Err(error) => return Err(Failure::io(folder, &error)),
        }
        Ok(())
    }
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).map(|found| found.dev()).ok()
}

fn is_root_of_disk(folder: &Path) -> bool {
    folder
        .parent()
        .is_some_and(|above| device(above) != device(folder))
}

/// Before each change of what is on disk.
fn step() {
    #[cfg(test)]
    tests::step();
}

#[cfg(test)]
mod tests;
