//! Whose recovery log it is: a log is one queue manager's, and LogPath in `qm.ini` is only a name.
//!
//! The data folder of a queue manager that is copied as a whole names the log of the original. What is written there would
//! not be found again by the original, which would refuse to start; what is deleted there would be its messages. So a log's
//! folder says in the file `owner` which data folder it belongs to.
//!
//! Invariants:
//! * The note counts only where it names the folder that it lies in: a log that was copied belongs to nobody yet, and neither does one
//!   that was moved, or whose note cannot be read. It counts only while the data folder that it names is there.
//! * Two names of one folder (links, mounts) are one folder.
//! * That two processes do not have one log at a time is what the engine's lock in that folder is for, and not this.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{self, Home};

fn note(log: &Path) -> PathBuf {
    log.join("owner")
}

fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let found = place(one);
    found.is_some() && found == place(other)
}

/// Refuses the log of another data folder than a queue manager's own.
///
/// # Errors
/// AMQ2051E: its owner is there, and is another.
pub(crate) fn check(home: &Home, log: &Path) -> Result<(), Failure> {
    let Ok(text) = fs::read_to_string(note(log)) else {
        return Ok(());
    };
    let mut lines = text.lines().map(Path::new);
    let (Some(owner), Some(noted)) = (lines.next(), lines.next()) else {
        return Ok(());
    };
    let of_other = || Home {
        name: home.name.clone(),
        folder: owner.to_owned(),
    };
    let counts = is_same(noted, log) && of_other().configuration().exists();
    if !counts || is_same(owner, &home.folder) {
        return Ok(());
    }
    let shown = |path: &Path| path.display().to_string();
    Err(Failure::new(
        Exit::InUse,
        "AMQ2051E",
        &[&shown(log), &shown(owner), &shown(&home.folder)],
    ))
}

/// Notes that the log is a queue manager's, which has the locks of both folders.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn claim(home: &Home, log: &Path) -> Result<(), Failure> {
    let whole = |path: &Path| {
        let path = fs::canonicalize(path).map_err(|error| Failure::io(path, &error))?;
        // A name that is no text, or has two lines, is noted as one that is not there: it belongs to nobody.
        Ok(path.display().to_string())
    };
    let text = format!("{}\n{}\n", whole(&home.folder)?, whole(log)?);
    let path = note(log);
    if fs::read_to_string(&path).is_ok_and(|noted| noted == text) {
        return Ok(());
    }
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(above: &Path, name: &str) -> Home {
        let folder = above.join(name);
        fs::create_dir_all(&folder).unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder,
        };
        fs::write(home.configuration(), "").unwrap();
        home
    }

    #[test]
    fn a_log_is_for_its_data_folder_as_long_as_that_is_there() {
        let above = tempfile::tempdir().unwrap();
        let (own, copy) = (home(above.path(), "own"), home(above.path(), "copy"));
        let log = above.path().join("log");
        fs::create_dir(&log).unwrap();
        check(&copy, &log).unwrap();
        claim(&own, &log).unwrap();
        check(&own, &log).unwrap();
        let refused = check(&copy, &log).unwrap_err();
        assert_eq!((refused.id, refused.exit), ("AMQ2051E", Exit::InUse));
        // By another name it is the same.
        let link = above.path().join("link");
        std::os::unix::fs::symlink(&own.folder, &link).unwrap();
        let linked = Home {
            folder: link,
            ..own.clone()
        };
        check(&linked, &log).unwrap();
        // A copy of the log is for the copy.
        let copied = above.path().join("copied");
        fs::create_dir(&copied).unwrap();
        fs::copy(log.join("owner"), copied.join("owner")).unwrap();
        check(&copy, &copied).unwrap();
        claim(&copy, &copied).unwrap();
        assert!(check(&own, &copied).is_err());
        // Moved, it is still that of what was moved.
        fs::remove_dir_all(&own.folder).unwrap();
        check(&copy, &log).unwrap();
    }

    #[test]
    fn a_note_that_cannot_be_read_is_nobodys() {
        let above = tempfile::tempdir().unwrap();
        let own = home(above.path(), "own");
        for text in [&b""[..], b"/nowhere\n", b"\xff\xfe\n\n", b"\n\n"] {
            fs::write(note(above.path()), text).unwrap();
            check(&own, above.path()).unwrap();
        }
    }
}
