//! Nobody else reads or writes a queue manager's files: what other users could change cannot be
//! trusted, and what they could read is no longer private.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::failure::Failure;
use crate::failure::exit::Exit;

/// Permissions that only the owner and the owner's group have.
const OTHERS: u32 = 0o007;
const GROUP_WRITE: u32 = 0o020;

/// Checks a file or folder that must be private.
///
/// # Errors
/// It cannot be looked at, other users may use it, or it belongs to somebody else.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let metadata = fs::metadata(path).map_err(|error| Failure::io(path, &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    let what = match mode {
        mode if mode & (0o002 | GROUP_WRITE) != 0 => "change",
        mode if mode & OTHERS != 0 => "read",
        _ => return check_owner(path, metadata.uid()),
    };
    let shown = path.display().to_string();
    let mode = format!("{mode:03o}");
    Err(Failure::new(
        Exit::Permissions,
        "AMQ2009E",
        &[&shown, &mode, what],
    ))
}

/// Checks the folder that holds queue managers: others may look into it, for what is in it is private by itself, but
/// who may change it could put other queue managers in the place of these, and links in the place of new files.
///
/// # Errors
/// It cannot be looked at, other users may change it, or it is neither this user's nor the superuser's.
pub(crate) fn check_holder(path: &Path) -> Result<(), Failure> {
    let metadata = fs::metadata(path).map_err(|error| Failure::io(path, &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & (0o002 | GROUP_WRITE) == 0 {
        return match metadata.uid() {
            0 => Ok(()),
            owner => check_owner(path, owner),
        };
    }
    let inserts = [
        &*path.display().to_string(),
        &format!("{mode:03o}"),
        "change",
    ];
    Err(Failure::new(Exit::Permissions, "AMQ2009E", &inserts))
}

/// Checks a file that holds a secret, wherever it is: others have nothing to do with it, its group may read it at most, and
/// it belongs to this user or to the superuser.
///
/// # Errors
/// It cannot be looked at, or is not so.
pub(crate) fn check_secret(path: &Path) -> Result<(), Failure> {
    let metadata = fs::metadata(path).map_err(|error| Failure::io(path, &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    let what = match mode {
        mode if mode & (0o002 | GROUP_WRITE) != 0 => "change",
        mode if mode & OTHERS != 0 => "read",
        _ if metadata.uid() == 0 => return Ok(()),
        _ => return check_owner(path, metadata.uid()),
    };
    let inserts = [&*path.display().to_string(), &format!("{mode:03o}"), what];
    Err(Failure::new(Exit::Permissions, "AMQ2009E", &inserts))
}

fn check_owner(path: &Path, owner: u32) -> Result<(), Failure> {
    let user = rustix::process::geteuid().as_raw();
    // The superuser may do everything; files it makes in another user's folder would lock that
    // user out, so it is refused as well.
    if owner == user {
        return Ok(());
    }
    let shown = path.display().to_string();
    let what = format!("it belongs to user {owner}, and this is user {user}");
    Err(Failure::new(
        Exit::Permissions,
        "AMQ2008E",
        &[&shown, &what],
    ))
}

/// Checks that something belongs to this user, whoever may use it besides.
///
/// # Errors
/// It cannot be looked at, or it belongs to somebody else.
pub(crate) fn check_own(path: &Path) -> Result<(), Failure> {
    let metadata = fs::metadata(path).map_err(|error| Failure::io(path, &error))?;
    check_owner(path, metadata.uid())
}

/// Whether something belongs to this user.
pub(crate) fn is_own(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| check_owner(path, found.uid()).is_ok())
}

/// New files and folders of this process are private from now on.
pub fn make_new_files_private() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (mode, expected) in [
            (0o700, None),
            (0o750, None),
            (0o600, None),
            (0o755, Some("read")),
            (0o701, Some("read")),
            (0o770, Some("change")),
            (0o702, Some("change")),
            (0o777, Some("change")),
        ] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            let found = check(path);
            assert_eq!(found.is_err(), expected.is_some(), "{mode:o}");
            if let (Err(failure), Some(word)) = (found, expected) {
                assert_eq!((failure.id, failure.exit), ("AMQ2009E", Exit::Permissions));
                assert_eq!(failure.inserts[1], format!("{mode:03o}"));
                assert_eq!(failure.inserts[2], word);
            }
        }
        assert_eq!(check(&path.join("absent")).unwrap_err().id, "AMQ2008E");
        for (mode, refused) in [(0o755, false), (0o750, false), (0o775, true), (0o757, true)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_holder(path).is_err(), refused, "{mode:o}");
        }
        // Only the superuser can give a folder away, and only he would be led to others' files by a link.
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        if std::os::unix::fs::chown(path, Some(65_534), None).is_ok() {
            let refused = check_holder(path).unwrap_err();
            assert_eq!((refused.id, refused.exit), ("AMQ2008E", Exit::Permissions));
        }
    }
}
