//! The tree of names: as running programs see it, and as the medium holds it.
//!
//! Invariants:
//! * `live` is `durable` with every change in `pending` applied in order.
//! * A change is atomic, also one that touches two directories (a rename from one to another).
//! * A change reaches the medium only after all earlier changes of each directory it touches. Changes of
//!   different directories are independent: a synced name in a directory whose own name was never synced is
//!   lost with it, as POSIX allows. (A journaling file system is kinder; nobody should depend on it.)
//! * Numbers of files and directories are never used twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

use crate::rng::Rng;

pub(super) type FileId = u64;
pub(super) type DirId = u64;

const ROOT: DirId = 0;

/// Numbers of Linux error codes, so that errors read as on the real machine.
pub(super) mod errno {
    pub(crate) const ENOENT: i32 = 2;
    pub(crate) const EIO: i32 = 5;
    pub(crate) const EBADF: i32 = 9;
    pub(crate) const EAGAIN: i32 = 11;
    pub(crate) const EACCES: i32 = 13;
    pub(crate) const EEXIST: i32 = 17;
    pub(crate) const ENOTDIR: i32 = 20;
    pub(crate) const EISDIR: i32 = 21;
    pub(crate) const EINVAL: i32 = 22;
    pub(crate) const EFBIG: i32 = 27;
    pub(crate) const ENOSPC: i32 = 28;
    pub(crate) const ENOTEMPTY: i32 = 39;
    pub(crate) const EDQUOT: i32 = 122;
}

pub(super) fn os_error<T>(code: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(code))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File(FileId),
    Dir(DirId),
}

type Tree = BTreeMap<DirId, BTreeMap<String, Entry>>;

struct Edit {
    dir: DirId,
    name: String,
    entry: Option<Entry>,
}

struct Change {
    edits: Vec<Edit>,
}

impl Change {
    fn touches(&self, dirs: &BTreeSet<DirId>) -> bool {
        self.edits.iter().any(|edit| dirs.contains(&edit.dir))
    }

    fn apply(&self, tree: &mut Tree) {
        for edit in &self.edits {
            let names = tree.entry(edit.dir).or_default();
            match edit.entry {
                Some(entry) => {
                    if let Entry::Dir(dir) = entry {
                        tree.entry(dir).or_default();
                    }
                    tree.entry(edit.dir)
                        .or_default()
                        .insert(edit.name.clone(), entry);
                }
                None => {
                    names.remove(&edit.name);
                }
            }
        }
    }
}

pub(super) struct Names {
    live: Tree,
    durable: Tree,
    pending: Vec<Change>,
    dirs: u64,
}

impl Names {
    pub(super) fn new() -> Self {
        let tree = Tree::from([(ROOT, BTreeMap::new())]);
        Self {
            live: tree.clone(),
            durable: tree,
            pending: Vec::new(),
            dirs: ROOT,
        }
    }

    /// What has this name.
    pub(super) fn find(&self, path: &Path) -> io::Result<Option<Entry>> {
        walk(&self.live, &parts(path)?)
    }

    /// What has this name on the medium.
    pub(super) fn find_durable(&self, path: &Path) -> io::Result<Option<Entry>> {
        walk(&self.durable, &parts(path)?)
    }

    /// The directory of this name.
    pub(super) fn dir(&self, path: &Path) -> io::Result<DirId> {
        match self.find(path)? {
            Some(Entry::Dir(dir)) => Ok(dir),
            Some(Entry::File(_)) => os_error(errno::ENOTDIR),
            None => os_error(errno::ENOENT),
        }
    }

    /// The directory that holds, or would hold, this name, and the name in it.
    fn place(&self, path: &Path) -> io::Result<(DirId, String)> {
        let mut parts = parts(path)?;
        let Some(name) = parts.pop() else {
            return os_error(errno::EINVAL);
        };
        match walk(&self.live, &parts)? {
            Some(Entry::Dir(dir)) => Ok((dir, name)),
            Some(Entry::File(_)) => os_error(errno::ENOTDIR),
            None => os_error(errno::ENOENT),
        }
    }

    pub(super) fn list(&self, dir: DirId) -> Vec<String> {
        self.live
            .get(&dir)
            .map(|names| names.keys().cloned().collect())
            .unwrap_or_default()
    }

    fn change(&mut self, edits: Vec<(DirId, String, Option<Entry>)>) {
        let edits = edits
            .into_iter()
            .map(|(dir, name, entry)| Edit { dir, name, entry });
        let change = Change {
            edits: edits.collect(),
        };
        change.apply(&mut self.live);
        self.pending.push(change);
    }

    pub(super) fn add_file(&mut self, path: &Path, file: FileId) -> io::Result<()> {
        let (dir, name) = self.place(path)?;
        self.change(vec![(dir, name, Some(Entry::File(file)))]);
        Ok(())
    }

    /// Makes the directory and those above it. Returns how many were made.
    pub(super) fn add_dirs(&mut self, path: &Path) -> io::Result<usize> {
        let mut dir = ROOT;
        let mut made = 0;
        let parts = parts(path)?;
        for (at, name) in parts.iter().enumerate() {
            match self.entry(dir, name) {
                Some(Entry::Dir(below)) => dir = below,
                Some(Entry::File(_)) if at + 1 == parts.len() => return os_error(errno::EEXIST),
                Some(Entry::File(_)) => return os_error(errno::ENOTDIR),
                None => {
                    self.dirs += 1;
                    made += 1;
                    self.change(vec![(dir, name.clone(), Some(Entry::Dir(self.dirs)))]);
                    dir = self.dirs;
                }
            }
        }
        Ok(made)
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        match self.find(path)? {
            Some(Entry::File(_)) => {
                let (dir, name) = self.place(path)?;
                self.change(vec![(dir, name, None)]);
                Ok(())
            }
            Some(Entry::Dir(_)) => os_error(errno::EISDIR),
            None => os_error(errno::ENOENT),
        }
    }

    /// Removes the directory from below, one name after another, as the real machine does.
    pub(super) fn remove_tree(&mut self, path: &Path) -> io::Result<()> {
        let dir = self.dir(path)?;
        let (parent, name) = self.place(path)?;
        let mut removals = Vec::new();
        self.collect(dir, &mut removals);
        removals.push((parent, name));
        for (dir, name) in removals {
            self.change(vec![(dir, name, None)]);
        }
        Ok(())
    }

    fn collect(&self, dir: DirId, removals: &mut Vec<(DirId, String)>) {
        for (name, entry) in self.live.get(&dir).into_iter().flatten() {
            if let Entry::Dir(below) = entry {
                self.collect(*below, removals);
            }
            removals.push((dir, name.clone()));
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        // The checks stand in the order in which Linux makes them.
        let (from_dir, from_name) = self.place(from)?;
        let (to_dir, to_name) = self.place(to)?;
        let Some(entry) = self.entry(from_dir, &from_name) else {
            return os_error(errno::ENOENT);
        };
        if (from_dir, &from_name) == (to_dir, &to_name) {
            return Ok(());
        }
        let (from_parts, to_parts) = (parts(from)?, parts(to)?);
        if to_parts.starts_with(&from_parts) {
            return os_error(errno::EINVAL);
        }
        if from_parts.starts_with(&to_parts) {
            return os_error(errno::ENOTEMPTY);
        }
        match (entry, self.entry(to_dir, &to_name)) {
            (_, None) | (Entry::File(_), Some(Entry::File(_))) => {}
            (Entry::File(_), Some(Entry::Dir(_))) => return os_error(errno::EISDIR),
            (Entry::Dir(_), Some(Entry::File(_))) => return os_error(errno::ENOTDIR),
            (Entry::Dir(_), Some(Entry::Dir(target))) => {
                if !self.list(target).is_empty() {
                    return os_error(errno::ENOTEMPTY);
                }
            }
        }
        self.change(vec![
            (from_dir, from_name, None),
            (to_dir, to_name, Some(entry)),
        ]);
        Ok(())
    }

    fn entry(&self, dir: DirId, name: &str) -> Option<Entry> {
        self.live.get(&dir)?.get(name).copied()
    }

    /// Makes the changes of `dir` durable, and what must be before them; with `most`, only so many of them.
    pub(super) fn sync(&mut self, dir: DirId, most: usize) {
        let mut dirs = BTreeSet::from([dir]);
        let mut wanted = vec![false; self.pending.len()];
        for (change, wanted) in self.pending.iter().zip(&mut wanted).rev() {
            if change.touches(&dirs) {
                *wanted = true;
                dirs.extend(change.edits.iter().map(|edit| edit.dir));
            }
        }
        let mut left = most;
        let mut wanted = wanted.into_iter();
        let durable = &mut self.durable;
        self.pending.retain(|change| {
            let now = wanted.next().unwrap_or(false) && left > 0;
            if now {
                left -= 1;
                change.apply(durable);
            }
            !now
        });
    }

    /// Makes all names durable.
    pub(super) fn settle(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.durable);
        }
    }

    /// Changes that are not durable.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The power goes: of each directory's changes, the first few survive. Returns kept and lost.
    pub(super) fn crash(&mut self, rng: &mut Rng) -> (usize, usize) {
        let total = self.pending.len();
        // How likely each next change is to survive; the extremes must both be common.
        let per_million = match rng.below(4) {
            0 => 0,
            1 => 1_000_000,
            2 => 500_000,
            _ => 900_000,
        };
        let mut stopped = BTreeSet::new();
        let mut kept = 0;
        for change in std::mem::take(&mut self.pending) {
            if change.touches(&stopped) || !rng.chance(per_million) {
                stopped.extend(change.edits.iter().map(|edit| edit.dir));
            } else {
                change.apply(&mut self.durable);
                kept += 1;
            }
        }
        let mut reachable = BTreeSet::new();
        reach(&self.durable, ROOT, &mut reachable);
        self.durable.retain(|dir, _| reachable.contains(dir));
        self.live = self.durable.clone();
        (kept, total - kept)
    }

    /// Files that have a name.
    pub(super) fn named(&self) -> BTreeSet<FileId> {
        let mut reachable = BTreeSet::new();
        reach(&self.live, ROOT, &mut reachable);
        let dirs = self.live.iter().filter(|(dir, _)| reachable.contains(dir));
        files(dirs.flat_map(|(_, names)| names.values()))
    }

    /// Files that have a name, or may have one after a crash.
    pub(super) fn referenced(&self) -> BTreeSet<FileId> {
        let trees = [&self.live, &self.durable];
        let named = trees.into_iter().flat_map(BTreeMap::values);
        let pending = self.pending.iter().flat_map(|change| &change.edits);
        files(
            named
                .flat_map(BTreeMap::values)
                .chain(pending.filter_map(|edit| edit.entry.as_ref())),
        )
    }
}

fn files<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<FileId> {
    entries
        .filter_map(|entry| match entry {
            Entry::File(file) => Some(*file),
            Entry::Dir(_) => None,
        })
        .collect()
}

fn reach(tree: &Tree, dir: DirId, reachable: &mut BTreeSet<DirId>) {
    reachable.insert(dir);
    for entry in tree.get(&dir).into_iter().flat_map(BTreeMap::values) {
        if let Entry::Dir(below) = entry {
            reach(tree, *below, reachable);
        }
    }
}

/// The names a path leads through. Relative paths start at the root.
fn parts(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(name) => match name.to_str() {
                Some(name) => names.push(name.to_owned()),
                None => return os_error(errno::EINVAL),
            },
            Component::ParentDir | Component::Prefix(_) => return os_error(errno::EINVAL),
        }
    }
    Ok(names)
}

fn walk(tree: &Tree, parts: &[String]) -> io::Result<Option<Entry>> {
    let mut entry = Entry::Dir(ROOT);
    for part in parts {
        let Entry::Dir(dir) = entry else {
            return os_error(errno::ENOTDIR);
        };
        match tree.get(&dir).and_then(|names| names.get(part)) {
            Some(found) => entry = *found,
            None => return Ok(None),
        }
    }
    Ok(Some(entry))
}
