//! Whether what mqs.ini names belongs to another folder of queue managers. Paths in it are whole ones, so that a copy of the
//! whole folder names the data of the original, which whoever starts or deletes the copy does not mean.
//!
//! Invariants:
//! * A data folder of the layout, `<root>/qmgrs/<name>`, is that root's, as long as the mqs.ini there names it; by whatever name it was
//!   reached. One that is elsewhere, or that nobody else names, is whose mqs.ini names it.
//! * Where links or `-md` hide the layout, the data folder says itself whose it is (`owner_note`): that counts as long as mqs.ini of
//!   that root names it. A start and `addmqinf` note this root; the latter also where the noted one is not there, which may be a disk
//!   that is not mounted, so that a start leaves such a note, and a deletion is refused until somebody says so. A root that was moved
//!   within its file system, or is reached by another path, as in a container, is the one that was noted.
//! * No other root's is deleted. It is started unless this root has data of that name of its own: where it has none, somebody
//!   may have named those of a shared disk on purpose, and the locks keep two from them. Of a root that is not there none is refused.
//! * Two names of one root (links, mounts) are one root.

use std::fs;
use std::path::{Path, PathBuf};

use posthaste_engine::Operator;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{DataDir, Home, is_same, registry};
use crate::lifecycle::owner_note::{self, Note};

/// Whose a data folder is.
#[derive(Debug, PartialEq, Eq)]
enum Whose {
    /// This root's, or nobody else's.
    Own,
    /// That of a root which is there, and whose mqs.ini names it.
    Anothers(PathBuf),
    /// Noted for one that is not there.
    Missing(PathBuf),
}

/// Whether mqs.ini of a root names a data folder.
fn names(root: &Path, home: &Home) -> bool {
    // Where it cannot be read, nobody knows that it is not so.
    registry::read(&DataDir::at(root)).map_or(true, |there| {
        let found = there.find_even_deleted(&home.name);
        found.is_some_and(|it| it.folder == home.folder || is_same(&it.folder, &home.folder))
    })
}

fn whose(data: &DataDir, home: &Home) -> Whose {
    let mut spelled = vec![home.folder.clone()];
    spelled.extend(fs::canonicalize(&home.folder));
    for folder in &spelled {
        if let (Some(folders), Some(root)) = (folder.parent(), folder.ancestors().nth(2))
            && folders.ends_with("qmgrs")
            && !is_same(root, data.root())
            && names(root, home)
        {
            return Whose::Anothers(root.to_owned());
        }
    }
    let Some(note) = Note::of(&home.folder) else {
        return Whose::Own;
    };
    let owner = note.owner.clone();
    match owner.exists() {
        _ if is_same(&owner, data.root()) => Whose::Own,
        true if names(&owner, home) => Whose::Anothers(owner),
        false if !note.is_moved(data.root()) => Whose::Missing(owner),
        _ => Whose::Own,
    }
}

fn refused(data: &DataDir, home: &Home, root: &Path) -> Failure {
    let shown = |path: &Path| path.display().to_string();
    let inserts = [
        &*home.name,
        &shown(&home.folder),
        &shown(root),
        &shown(data.root()),
    ];
    Failure::new(Exit::InUse, "AMQ2054E", &inserts)
}

/// Refuses to delete the queue manager of another root.
///
/// # Errors
/// AMQ2054E.
pub(super) fn check(data: &DataDir, home: &Home) -> Result<(), Failure> {
    match whose(data, home) {
        Whose::Own => Ok(()),
        Whose::Anothers(root) => Err(refused(data, home, &root)),
        Whose::Missing(root) => Err(refused(data, home, &root).with_detail(format!(
            "{} is not there. If {} has taken its place for good, these say so, and it can be deleted:\n  \
             posthaste rmvmqinf {name}\n  posthaste addmqinf -s QueueManager -v Name={name} -v DataPath={}",
            root.display(),
            data.root().display(),
            home.folder.display(),
            name = home.name,
        ))),
    }
}

/// Refuses to start the queue manager of another root, in the stead of this one's.
///
/// # Errors
/// AMQ2054E.
pub fn check_copied(data: &DataDir, home: &Home) -> Result<(), Failure> {
    match whose(data, home) {
        Whose::Anothers(root) if data.new_data(&home.name, None).exists() => {
            Err(refused(data, home, &root))
        }
        _ => Ok(()),
    }
}

/// Notes this root in a data folder that is not another's; whoever has the lock of the data folder does that.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn claim(data: &DataDir, home: &Home) -> Result<(), Failure> {
    match whose(data, home) {
        Whose::Own => owner_note::write(&home.folder, data.root()),
        _ => Ok(()),
    }
}

/// The same at a start, which goes on where it cannot be noted: on a full disk, of a queue manager that an earlier release ran. A
/// later start notes it.
pub(crate) fn claim_at_start(data: &DataDir, home: &Home, operator: &dyn Operator) {
    if let Err(failure) = claim(data, home) {
        operator.message(failure.id, &failure.inserts);
    }
}

/// Adds a queue manager whose files are there (`addmqinf`), and notes this root in them: one that is not there has it no more.
///
/// # Errors
/// The folder is not that queue manager's; one of that name is there; a file cannot be read or written.
pub fn add_existing(data: &DataDir, home: &Home) -> Result<(), Failure> {
    registry::add_existing(data, home)?;
    let noted = match whose(data, home) {
        Whose::Anothers(_) => Ok(()),
        Whose::Own | Whose::Missing(_) => owner_note::write(&home.folder, data.root()),
    };
    // It is known whether that could be noted or not: from a full or read-only disk messages are to be got, and a start notes it.
    drop(noted);
    Ok(())
}
