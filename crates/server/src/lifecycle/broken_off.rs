//! The markers of a creation that has not ended, and what one that failed or was killed has left.
//!
//! Invariants:
//! * The marker of a folder is there, durably, before anything else that the creation makes in it, and goes last when all of that is
//!   removed: a folder with something in it and no marker is no remains. The log's folder comes after the data folder's marker,
//!   and all else in the data folder after the log's marker.
//! * What is removed has a marker of one and the same creation in both folders, or nothing but a marker; nobody has the engine's
//!   locks, and it was never started. Everything else stays, and the message says what to do.
//! * The markers are gone, durably, before a creation is reported as done and before a start serves anybody.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use posthaste_env::{Env, Lock};
use posthaste_mqi::hex;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{self, Home};

/// The name of a marker.
const MARKER: &str = "creating";
/// Bytes of what a creation is known by.
const TOKEN: usize = 16;

/// What no other creation is known by.
pub(super) fn token(env: &Env) -> String {
    let mut bytes = [0; TOKEN];
    env.entropy.fill(&mut bytes);
    hex(&bytes)
}

/// Where the folder of a log says which creation has made it.
pub(super) fn marker_of_log(log: &Path) -> PathBuf {
    log.join(MARKER)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Makes a marker; its name is durable too.
fn mark(marker: &Path, text: &str) -> io::Result<fs::File> {
    let mut file = fs::OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(marker)?;
    file.lock()?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    layout::sync_above(marker)?;
    Ok(file)
}

/// The marker of the data folder. Its lock tells a creation that goes on from one that was killed; its text says where the log is
/// to be, and by what a log is known that it has made.
pub(super) struct Claim {
    _file: fs::File,
}

impl Claim {
    pub(super) fn stake(home: &Home, log: &Path, token: &str) -> Result<Claim, Failure> {
        let marker = home.unfinished();
        let file = mark(&marker, &format!("{}\n{token}", shown(log))).map_err(|error| {
            // Nothing else is in it yet.
            let _ = fs::remove_file(&marker);
            let _ = fs::remove_dir(&home.folder);
            Failure::io(&marker, &error)
        })?;
        Ok(Claim { _file: file })
    }
}

/// The marker of the log's folder.
pub(super) fn mark_log(log: &Path, token: &str) -> Result<(), Failure> {
    let marker = marker_of_log(log);
    match mark(&marker, token) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::io(&marker, &error)),
    }
}

/// Takes the markers away, durably, of a queue manager that mqs.ini names.
///
/// # Errors
/// One cannot be removed.
pub(crate) fn forget_creation(home: &Home, log: &Path) -> Result<(), Failure> {
    for marker in [home.unfinished(), marker_of_log(log)] {
        match fs::remove_file(&marker).and_then(|()| layout::sync_above(&marker)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::io(&marker, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The engine's locks of folders, as far as these are there.
fn lock_all(env: &Env, folders: &[&Path]) -> Result<Vec<Box<dyn Lock>>, Failure> {
    let mut locks = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        match env.disk.lock(&folder.join("lock")) {
            Ok(lock) => locks.push(lock),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Failure::new(Exit::InUse, "AMQ2007E", &[&shown(folder)]));
            }
            Err(error) => return Err(Failure::io(folder, &error)),
        }
    }
    Ok(locks)
}

/// Removes what a creation has made that fails: the log's folder if it has come to that, and the data folder.
pub(super) fn undo(env: &Env, home: &Home, log: Option<&Path>) -> Result<(), Failure> {
    let folders: Vec<&Path> = log.into_iter().chain([&*home.folder]).collect();
    let _locks = lock_all(env, &folders)?;
    remove(&folders)
}

/// Removes folders; their markers, by which they are known, when nothing else is in any of them.
fn remove(folders: &[&Path]) -> Result<(), Failure> {
    for folder in folders {
        let emptied = empty(folder).and_then(|()| fs::File::open(folder)?.sync_all());
        emptied.map_err(|error| Failure::io(folder, &error))?;
    }
    for folder in folders {
        let marker = folder.join(MARKER);
        match fs::remove_file(&marker) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::io(&marker, &error));
            }
            _ => {}
        }
        // One that is mounted, or a link, stays, and is empty as it was.
        let _ = fs::remove_dir(folder).and_then(|()| layout::sync_above(folder));
    }
    Ok(())
}

/// Removes all but the marker.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Whether nothing is in a folder but perhaps a marker.
fn has_only_marker(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == MARKER))
    })
}

/// What a marker says; nothing if it is not there.
fn text_of(marker: &Path) -> String {
    let bytes = fs::read(marker).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How a queue manager is made known that mqs.ini has lost.
pub(super) fn known_again(home: &Home) -> String {
    let folder = home.folder.display();
    format!(
        "If {folder} is a queue manager that mqs.ini does not name, this makes it known again:\n  \
         posthaste addmqinf -s QueueManager -v Name={} -v DataPath={folder}",
        home.name
    )
}

/// Removes what a creation that was killed has left.
///
/// # Errors
/// It goes on; what is there is no such remains, or cannot be told from a queue manager; it cannot be removed.
pub(super) fn clear(env: &Env, home: &Home) -> Result<(), Failure> {
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
    let text = text_of(&marker);
    let whole = text
        .split_once('\n')
        .filter(|(_, token)| token.len() == 2 * TOKEN);
    let own_name = layout::folder_name(&home.name);
    let named = |log: &Path| log.file_name() == Some(own_name.as_ref());
    let noted = whole.map(|(log, token)| (PathBuf::from(log), token));
    let noted = noted.filter(|(log, _)| named(log));
    if has_only_marker(&home.folder) {
        // It was not to fill the folder before the log's marker was whole.
        if let Some((log, token)) = &noted
            && marker_of_log(log).exists()
        {
            let text = text_of(&marker_of_log(log));
            if text == *token || token.starts_with(&text) && has_only_marker(log) {
                let _locks = lock_all(env, &[log])?;
                remove(&[log])?;
            }
        }
        return remove(&[&home.folder]);
    }
    let refused = |what: &str| {
        let there = Failure::new(Exit::Exists, "AMQ8110E", &[&home.name]);
        Err(there.with_detail(what))
    };
    if home.has_been_started() {
        return refused(&known_again(home));
    }
    match noted {
        Some((log, token)) if text_of(&marker_of_log(&log)) == token => {
            let folders = [&*log, &*home.folder];
            let _locks = lock_all(env, &folders)?;
            remove(&folders)
        }
        _ => refused(&format!(
            "{} says that a creation was broken off, but there is no log that it has made. If that is so, remove {} by hand. {}",
            shown(&marker),
            shown(&home.folder),
            known_again(home)
        )),
    }
}
