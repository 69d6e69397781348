//! Whether what mqs.ini names belongs to another folder of queue managers. Paths in it are whole ones, so that a copy of the
//! whole folder names the data of the original, which whoever starts or deletes the copy does not mean.
//!
//! Invariants:
//! * A data folder of the layout, `<root>/qmgrs/<name>`, is that root's, as long as the mqs.ini there names it. One that is elsewhere, or
//!   that nobody else names, is whose mqs.ini names it.
//! * No other root's is deleted. It is started unless this root has data of that name of its own: where it has none, somebody
//!   may have named those of a shared disk on purpose, and the locks keep two from them.
//! * Two names of one root (links, mounts) are one root.

use std::path::Path;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::{DataDir, Home, is_same, registry};

/// Refuses to delete the queue manager of another root.
///
/// # Errors
/// AMQ2054E.
pub(super) fn check(data: &DataDir, home: &Home) -> Result<(), Failure> {
    let (Some(folders), Some(root)) = (home.folder.parent(), home.folder.ancestors().nth(2)) else {
        return Ok(());
    };
    if !folders.ends_with("qmgrs") || is_same(root, data.root()) {
        return Ok(());
    }
    // Where it cannot be read, nobody knows that it is not so.
    let named = registry::read(&DataDir::at(root)).map_or(true, |there| {
        let found = there.find_even_deleted(&home.name);
        found.is_some_and(|it| it.folder == home.folder || is_same(&it.folder, &home.folder))
    });
    if !named {
        return Ok(());
    }
    let shown = |path: &Path| path.display().to_string();
    let inserts = [
        &*home.name,
        &shown(&home.folder),
        &shown(root),
        &shown(data.root()),
    ];
    Err(Failure::new(Exit::InUse, "AMQ2054E", &inserts))
}

/// Refuses to start the queue manager of another root, in the stead of this one's.
///
/// # Errors
/// AMQ2054E.
pub fn check_copied(data: &DataDir, home: &Home) -> Result<(), Failure> {
    match data.new_data(&home.name, None).exists() {
        true => check(data, home),
        false => Ok(()),
    }
}
