//! The commit that is checked out in a folder, read from the files of its repository, so that no other program is
//! needed. The crate's build script includes this file.
//!
//! Invariant: only the repository of this very folder is looked at; one that lies further up may be anybody's.

use std::fs;
use std::path::{Path, PathBuf};

/// A commit, and what has to be looked at again when another one may be checked out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The beginning of the commit's name; none if the repository has none, or is of an unknown kind.
    pub(crate) commit: Option<String>,
    /// Files and folders that change with it; all of them exist.
    pub(crate) watched: Vec<PathBuf>,
}

/// What is checked out in `folder`; none if it is no checkout.
pub(crate) fn read(folder: &Path) -> Option<Checkout> {
    let git = folder.join(".git");
    let mut own = git.clone();
    if git.is_file() {
        // A further working tree: the file says where its own part of the repository is.
        let text = fs::read_to_string(&git).ok()?;
        own = folder.join(text.trim().strip_prefix("gitdir:")?.trim());
    }
    let head = fs::read_to_string(own.join("HEAD")).ok()?;
    let mut found = Checkout {
        commit: None,
        watched: vec![own.join("HEAD")],
    };
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else {
        found.commit = short(head.trim());
        return Some(found);
    };
    let shared = fs::read_to_string(own.join("commondir"))
        .map_or_else(|_| own.clone(), |text| own.join(text.trim()));
    let branch = shared.join(name);
    // The branch may be among the packed ones only; the next commit makes a file of its own for it.
    let watched = branch.ancestors().find(|place| place.exists());
    found.watched.extend(watched.map(Path::to_owned));
    let packed = shared.join("packed-refs");
    let all = fs::read_to_string(&packed).unwrap_or_default();
    if packed.exists() {
        found.watched.push(packed);
    }
    found.commit = match fs::read_to_string(&branch) {
        Ok(commit) => short(commit.trim()),
        Err(_) => all
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find_map(|(commit, of)| (of == name).then(|| short(commit))?),
    };
    Some(found)
}

fn short(commit: &str) -> Option<String> {
    let hex = commit.len() >= 12 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| commit.chars().take(12).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_is_read_from_every_kind_of_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let git = tree.join(".git");
        let commit = |folder: &Path| read(folder).unwrap().commit;
        assert_eq!(read(&tree), None);
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        let hash = "0123456789abcdef0123456789abcdef01234567";
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(commit(&tree), None);
        let packed = format!("# pack-refs\n{hash} refs/heads/main\n");
        fs::write(git.join("packed-refs"), packed).unwrap();
        assert_eq!(commit(&tree).as_deref(), Some("0123456789ab"));
        let watched = |names: [&str; 3]| names.map(|name| git.join(name)).to_vec();
        assert_eq!(
            read(&tree).unwrap().watched,
            watched(["HEAD", "refs/heads", "packed-refs"])
        );
        let other = hash.replace("0123456789ab", "ffffffffffff");
        fs::write(git.join("refs/heads/main"), format!("{other}\n")).unwrap();
        assert_eq!(commit(&tree).as_deref(), Some("ffffffffffff"));
        assert_eq!(
            read(&tree).unwrap().watched,
            watched(["HEAD", "refs/heads/main", "packed-refs"])
        );
        // A folder in a checkout is none: the repository need not be the folder's.
        assert_eq!(read(&git.join("refs")), None);
        // A further working tree.
        let further = folder.path().join("further");
        let own = git.join("worktrees/further");
        fs::create_dir_all(&further).unwrap();
        fs::create_dir_all(&own).unwrap();
        let place = "gitdir: ../tree/.git/worktrees/further\n";
        fs::write(further.join(".git"), place).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        assert_eq!(commit(&further).as_deref(), Some("ffffffffffff"));
        fs::write(git.join("HEAD"), format!("{hash}\n")).unwrap();
        assert_eq!(commit(&tree).as_deref(), Some("0123456789ab"));
    }
}
