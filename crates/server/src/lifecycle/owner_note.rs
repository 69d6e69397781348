//! The file `owner` of a folder: which other folder it belongs to. A log has one about its data folder (`log_owner`), a data folder
//! about the folder of queue managers that it is of (`another_root`).
//!
//! Invariant: a note counts only where it names the folder that it lies in: what was copied or moved belongs to nobody yet, and so
//! does that of which the note cannot be read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::layout::deletion::{self, UNKNOWN};
use crate::layout::{self, is_same};

/// The name of the file.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("owner")
}

/// A note that counts.
#[derive(Debug)]
pub(super) struct Note {
    /// The owner's path.
    pub owner: PathBuf,
    number: Option<String>,
    birth: Option<String>,
}

/// The number of a folder and when it was made.
pub(super) fn number_and_birth(folder: &Path) -> Option<(String, String)> {
    let found = fs::metadata(folder).ok();
    found.as_ref().map(deletion::number_and_birth)
}

impl Note {
    /// That of a folder.
    pub(super) fn of(folder: &Path) -> Option<Note> {
        let text = fs::read_to_string(file(folder)).ok()?;
        let mut lines = text.lines();
        let (owner, noted) = (lines.next()?, lines.next()?);
        let mut next = || lines.next().map(str::to_owned);
        is_same(Path::new(noted), folder).then(|| Note {
            owner: PathBuf::from(owner),
            number: next(),
            birth: next(),
        })
    }

    /// Whether a folder is the one that was noted, moved within its file system. Notes of earlier releases have the number only.
    pub(super) fn is_moved(&self, folder: &Path) -> bool {
        let Some((number, birth)) = number_and_birth(folder) else {
            return false;
        };
        let noted = self.birth.as_ref();
        let same_birth = noted.is_none_or(|noted| noted != UNKNOWN && *noted == birth);
        self.number.as_ref() == Some(&number) && same_birth
    }
}

/// Notes the owner of a folder.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(folder: &Path, owner: &Path) -> Result<(), Failure> {
    let whole = |path: &Path| {
        let path = fs::canonicalize(path).map_err(|error| Failure::io(path, &error))?;
        // A name that is no text, or has two lines, is noted as one that is not there: it belongs to nobody.
        Ok(path.display().to_string())
    };
    let (number, birth) = number_and_birth(owner).unwrap_or_default();
    let (owner, own) = (whole(owner)?, whole(folder)?);
    let text = format!("{owner}\n{own}\n{number}\n{birth}\n");
    let path = file(folder);
    if fs::read_to_string(&path).is_ok_and(|noted| noted == text) {
        return Ok(());
    }
    layout::write_atomically(&path, &text).map_err(|error| Failure::io(&path, &error))
}
