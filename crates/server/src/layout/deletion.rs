//! A deletion that has begun, as `mqs.ini` keeps it: which folders it removes, and what lay there when it began. By the time it
//! is done again something else may have their names: another queue manager, or the same one from a backup.
//!
//! Invariants:
//! * A folder is known by its number in the file system and the time when it was made, a file by these and the last change of
//!   what is in it: what was put back, or used since, is another one, also in the folder that was there. Only what a
//!   copy of the same moment was written over cannot be told from what was there, and was not removed. Where the file system keeps no
//!   time when files were made, `ctime` stands for it.
//! * A deletion takes the log's control file first, and `qm.ini` last: where one of these is there, it must be the one that was noted.
//! * Of what was not noted (by earlier releases), or where the file system keeps no such time, only what can be no whole queue
//!   manager is taken for the remains: no log that has log files, no data that name another log.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::failure::Failure;
use crate::layout::Home;

/// Stands for a time that the file system does not keep.
pub(crate) const UNKNOWN: &str = "-";
/// Stands for what is not there.
const ABSENT: &str = "-";

/// A deletion that has begun: both folders were found to be the queue manager's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// Its data.
    pub home: Home,
    /// Its recovery log.
    pub log: PathBuf,
    /// What lay there; nothing if an earlier release has begun it.
    pub noted: Option<Noted>,
}

/// What a deletion has found, each as its line of `mqs.ini` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted(pub [String; 4]);

/// The keys of those lines.
pub(crate) const NOTED: [&str; 4] = ["DataFolder", "Configuration", "LogFolder", "LogControl"];

/// What lies there of a deletion that has begun.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// Neither folder.
    Nothing,
    /// What it has left.
    Own,
    /// At least this folder is not what it has left.
    Another(PathBuf),
}

/// The number of a folder in its file system, and when it was made there: no copy has both.
pub(crate) fn number_and_birth(found: &fs::Metadata) -> (String, String) {
    let made = found.created().ok();
    let since = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let birth = since.map(|since| format!("{}.{:09}", since.as_secs(), since.subsec_nanos()));
    let birth = birth.unwrap_or_else(|| UNKNOWN.to_owned());
    (found.ino().to_string(), birth)
}

fn found(path: &Path) -> Result<Option<fs::Metadata>, Failure> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::io(path, &error)),
    }
}

fn folder(path: &Path) -> Result<String, Failure> {
    Ok(found(path)?.map_or_else(
        || ABSENT.to_owned(),
        |found| {
            let (number, birth) = number_and_birth(&found);
            format!("{number} {birth}")
        },
    ))
}

fn file(path: &Path) -> Result<String, Failure> {
    Ok(found(path)?.map_or_else(
        || ABSENT.to_owned(),
        |found| {
            let (number, birth) = number_and_birth(&found);
            // Who gives the deletion the permissions that it lacked changes the time of the inode.
            let (seconds, nanos) = match birth == UNKNOWN {
                true => (found.ctime(), found.ctime_nsec()),
                false => (found.mtime(), found.mtime_nsec()),
            };
            format!("{number} {birth} {seconds}.{nanos:09}")
        },
    ))
}

impl Noted {
    /// What lies there now.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn now(home: &Home, log: &Path) -> Result<Noted, Failure> {
        Ok(Noted([
            folder(&home.folder)?,
            file(&home.configuration())?,
            folder(log)?,
            file(&log.join("LOG.CTL"))?,
        ]))
    }
}

/// Whether a folder is the noted one, as far as that can be known: nothing if the file system does not keep when it was made.
fn is_same_folder(noted: &str, now: &str) -> Option<bool> {
    let unknown = |text: &str| text.ends_with(&format!(" {UNKNOWN}"));
    match noted == now {
        true if unknown(now) => None,
        same => Some(same),
    }
}

impl Deletion {
    /// Looks at what lies there.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn remains(&self) -> Result<Remains, Failure> {
        let now = Noted::now(&self.home, &self.log)?;
        let [data, configuration, log, control] = &now.0;
        if data == ABSENT && log == ABSENT {
            return Ok(Remains::Nothing);
        }
        let mut known = [None, None];
        if let Some(Noted(noted)) = &self.noted {
            let both = [(data, configuration), (log, control)];
            for (at, (folder, file)) in both.into_iter().enumerate() {
                let (noted, noted_file) = (&noted[2 * at], &noted[2 * at + 1]);
                known[at] = match folder == ABSENT {
                    true => Some(true),
                    false if file != ABSENT && file != noted_file => Some(false),
                    false => is_same_folder(noted, folder),
                };
            }
        }
        let [is_data, is_log] = known;
        let is_data = is_data.unwrap_or_else(|| {
            let named = crate::ini::configure::named_log(&self.home);
            named.is_none_or(|named| named == self.log)
        });
        let is_log = is_log.unwrap_or_else(|| {
            fs::read_dir(self.log.join("active")).map_or(true, |mut files| files.next().is_none())
        });
        Ok(match (is_data, is_log) {
            (false, _) => Remains::Another(self.home.folder.clone()),
            (_, false) => Remains::Another(self.log.clone()),
            _ => Remains::Own,
        })
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> String {
        let name = &self.home.name;
        match self.remains() {
            Ok(Remains::Another(folder)) => format!(
                "Its deletion was broken off, and {} is not what it has left.\n{}",
                folder.display(),
                self.way_back()
            ),
            _ => format!(
                "Its deletion was broken off. This brings it to its end:\n  posthaste delete {name}\n\
                 That removes what is there. Where its folders were put back from a backup, do not do that.\n{}",
                self.way_back()
            ),
        }
    }

    /// How whoever has put the folders back gets the queue manager back.
    pub(crate) fn way_back(&self) -> String {
        let (name, folder) = (&self.home.name, self.home.folder.display());
        format!(
            "This forgets the deletion and leaves all files alone:\n  posthaste rmvmqinf {name}\n\
             Then, if data and log were put back, this makes the queue manager known again:\n  \
             posthaste addmqinf -s QueueManager -v Name={name} -v DataPath={folder}"
        )
    }
}
