//! Folders that a run works in, and leaves nothing of.
//!
//! Invariant: what cannot be removed is in nobody's way, for a folder's name is that of one process.

use std::fs;
use std::path::{Path, PathBuf};

/// Removed with what is in it when it is dropped.
#[derive(Debug)]
pub(super) struct WorkFolder(PathBuf);

impl WorkFolder {
    /// One at this path, which need not be there yet.
    pub(super) fn at(path: PathBuf) -> WorkFolder {
        WorkFolder(path)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        clear(&self.0);
    }
}

/// Removes a folder, also while a queue manager is still being created in it: by its new name nobody
/// makes anything in it. Whatever cannot be removed is in the way of nobody: the folder's name is this process's.
pub(super) fn clear(root: &Path) {
    let away = root.with_extension("removed");
    let renamed = fs::rename(root, &away);
    // A file that was being made just then may still appear; a second thread may be at the same.
    for _ in 0..10 {
        let _ = fs::remove_dir_all(&away);
        if renamed.is_err() {
            let _ = fs::remove_dir_all(root);
        }
        if !away.exists() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleared_folder_takes_no_more_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("posthaste-perf-1");
        fs::create_dir_all(root.join("1/log")).unwrap();
        fs::write(root.join("1/log/file"), "x").unwrap();
        clear(&root);
        assert!(fs::write(root.join("1/log/other"), "x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // Nothing is there, or a first attempt was broken off after the renaming.
        clear(&root);
        fs::create_dir_all(folder.path().join("posthaste-perf-1.removed/1")).unwrap();
        clear(&root);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
