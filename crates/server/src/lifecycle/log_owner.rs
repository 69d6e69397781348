//! Whose recovery log it is: a log is one queue manager's, and LogPath in `qm.ini` is only a name.
//!
//! The data folder of a queue manager that is copied as a whole names the log of the original. What is written there would
//! not be found again by the original, which would refuse to start; what is deleted there would be its messages. So a log's
//! folder says in the file `owner` which data folder it belongs to.
//!
//! Invariants:
//! * The note counts only where it names the folder that it lies in: a log that was copied or moved belongs to nobody yet, and so
//!   does one whose note cannot be read.
//! * A data folder that has been moved, which keeps its number in the file system and the time when it was made, is the one that is
//!   noted. A copy on another file system may have the number (the first folder of a new one has the same everywhere), but not both.
//!   Where the one that is noted is not there, and the other is not that, nothing is decided: its disk may not be mounted. Somebody
//!   has to remove the note. So it is where the file system does not keep that time; notes of earlier releases have the number only.
//! * Two names of one folder (links, mounts) are one folder.
//! * That two processes do not have one log at a time is what the engine's lock in that folder is for, and not this.

use std::path::Path;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{Home, is_same};
use crate::lifecycle::owner_note::{self, Note};

/// Refuses the log of another data folder than a queue manager's own.
///
/// # Errors
/// AMQ2051E: it is noted for another, whether that is there or not.
pub(crate) fn check(home: &Home, log: &Path) -> Result<(), Failure> {
    let Some(note) = Note::of(log) else {
        return Ok(());
    };
    let owner = &note.owner;
    if is_same(owner, &home.folder) {
        return Ok(());
    }
    let is_there = owner.exists();
    if !is_there && note.is_moved(&home.folder) {
        return Ok(());
    }
    let shown = |path: &Path| path.display().to_string();
    let inserts = [&*shown(log), &shown(owner), &shown(&home.folder)];
    let refused = Failure::new(Exit::InUse, "AMQ2051E", &inserts);
    Err(match is_there {
        true => refused,
        false => refused.with_detail(format!(
            "{} is not there. If {} has taken its place for good, remove the file {}, and start again.",
            owner.display(),
            home.folder.display(),
            owner_note::file(log).display()
        )),
    })
}

/// Notes that the log is a queue manager's, which has the locks of both folders.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn claim(home: &Home, log: &Path) -> Result<(), Failure> {
    owner_note::write(log, &home.folder)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::layout::deletion::UNKNOWN;
    use crate::lifecycle::owner_note::{file as note, number_and_birth};

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
    fn a_log_is_for_the_data_folder_that_is_noted() {
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
        // Moved, it is what was noted; a copy is not, as long as nobody says so.
        let moved = Home {
            folder: above.path().join("moved"),
            ..own.clone()
        };
        fs::rename(&own.folder, &moved.folder).unwrap();
        check(&moved, &log).unwrap();
        let refused = check(&copy, &log).unwrap_err();
        assert!(refused.to_string().contains("is not there"), "{refused}");
        fs::remove_file(note(&log)).unwrap();
        check(&copy, &log).unwrap();
    }

    /// The first folder of a new file system has the same number everywhere.
    #[test]
    fn a_copy_with_the_number_of_the_original_is_not_the_original() {
        let above = tempfile::tempdir().unwrap();
        let (own, copy) = (home(above.path(), "own"), home(above.path(), "copy"));
        let log = above.path().join("log");
        fs::create_dir(&log).unwrap();
        claim(&own, &log).unwrap();
        let text = fs::read_to_string(note(&log)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let [folder, log_folder, number, birth] = lines[..] else {
            panic!("{text}");
        };
        let (of_copy, birth_of_copy) = number_and_birth(&copy.folder).unwrap();
        assert_eq!(
            number_and_birth(&own.folder).unwrap(),
            (number.into(), birth.into())
        );
        assert_ne!((&*of_copy, &*birth_of_copy), (number, birth));
        // Its disk is away.
        fs::rename(&own.folder, above.path().join("away")).unwrap();
        let noted = |number: &str, birth: &str| {
            let text = format!("{folder}\n{log_folder}\n{number}\n{birth}\n");
            fs::write(note(&log), text.replace("\n\n", "\n")).unwrap();
            check(&copy, &log)
        };
        for birth in ["1.000000000", UNKNOWN] {
            assert_eq!(
                noted(&of_copy, birth).unwrap_err().id,
                "AMQ2051E",
                "{birth}"
            );
        }
        // As an earlier release has noted it.
        noted(&of_copy, "").unwrap();
        if birth_of_copy != UNKNOWN {
            noted(&of_copy, &birth_of_copy).unwrap();
        }
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
