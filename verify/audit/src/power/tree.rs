//! What the kernel calls by number: names of the volume, and what no medium keeps (sockets, permissions).
//!
//! Invariants:
//! * A number is never used twice, and belongs to one name until that is removed.
//! * Sockets are here alone, and go with the power.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of the volume's root, by the protocol.
pub(super) const ROOT: u64 = 1;

#[derive(Default)]
struct Node {
    /// None once the name was removed.
    path: Option<PathBuf>,
    permissions: Option<u16>,
    socket: bool,
}

/// See the head of this file.
pub(super) struct Tree {
    nodes: BTreeMap<u64, Node>,
    numbers: BTreeMap<PathBuf, u64>,
    next: u64,
}

impl Tree {
    pub(super) fn new() -> Tree {
        let mut tree = Tree {
            nodes: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next: ROOT,
        };
        tree.number(Path::new("/"));
        tree
    }

    /// The number of a name, given to it now if it has none.
    pub(super) fn number(&mut self, path: &Path) -> u64 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(path.to_owned(), number);
        let node = Node {
            path: Some(path.to_owned()),
            ..Node::default()
        };
        self.nodes.insert(number, node);
        number
    }

    pub(super) fn path(&self, number: u64) -> Option<&Path> {
        self.nodes.get(&number)?.path.as_deref()
    }

    pub(super) fn permissions(&self, number: u64) -> Option<u16> {
        self.nodes.get(&number)?.permissions
    }

    pub(super) fn permit(&mut self, number: u64, permissions: u16) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.permissions = Some(permissions);
        }
    }

    pub(super) fn add_socket(&mut self, path: &Path) -> u64 {
        let number = self.number(path);
        if let Some(node) = self.nodes.get_mut(&number) {
            node.socket = true;
        }
        number
    }

    pub(super) fn is_socket(&self, path: &Path) -> bool {
        let node = self.numbers.get(path).and_then(|n| self.nodes.get(n));
        node.is_some_and(|node| node.socket)
    }

    /// Names of the sockets in a folder.
    pub(super) fn sockets_in(&self, folder: &Path) -> Vec<String> {
        let sockets = self.nodes.values().filter(|node| node.socket);
        let paths = sockets.filter_map(|node| node.path.as_deref());
        let here = paths.filter(|path| path.parent() == Some(folder));
        here.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .collect()
    }

    /// A name was removed. Its number stays until the kernel forgets it.
    pub(super) fn remove(&mut self, path: &Path) {
        if let Some(node) = self
            .numbers
            .remove(path)
            .and_then(|n| self.nodes.get_mut(&n))
        {
            node.path = None;
            node.socket = false;
        }
    }

    /// A name was changed, and with it those below it.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        self.remove(to);
        let moved: Vec<(PathBuf, u64)> = self
            .numbers
            .iter()
            .filter(|(path, _)| path.starts_with(from))
            .map(|(path, number)| (path.clone(), *number))
            .collect();
        for (old, number) in moved {
            self.numbers.remove(&old);
            let new = match old.strip_prefix(from) {
                Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
                Ok(rest) => to.join(rest),
                Err(_) => continue,
            };
            self.numbers.insert(new.clone(), number);
            if let Some(node) = self.nodes.get_mut(&number) {
                node.path = Some(new);
            }
        }
    }

    /// The kernel knows this number no longer.
    pub(super) fn forget(&mut self, number: u64) {
        if self.nodes.get(&number).is_some_and(|n| n.path.is_none()) {
            self.nodes.remove(&number);
        }
    }

    /// The power went.
    pub(super) fn lose_power(&mut self) {
        let nodes = self.nodes.values();
        let sockets: Vec<PathBuf> = nodes
            .filter(|node| node.socket)
            .filter_map(|node| node.path.clone())
            .collect();
        for path in sockets {
            self.remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_their_names() {
        let mut tree = Tree::new();
        assert_eq!(tree.number(Path::new("/")), ROOT);
        let folder = tree.number(Path::new("/a"));
        let file = tree.number(Path::new("/a/f"));
        let other = tree.number(Path::new("/ab"));
        tree.rename(Path::new("/a"), Path::new("/c"));
        assert_eq!(tree.path(folder), Some(Path::new("/c")));
        assert_eq!(tree.path(file), Some(Path::new("/c/f")));
        assert_eq!(tree.path(other), Some(Path::new("/ab")));
        tree.rename(Path::new("/c/f"), Path::new("/ab"));
        assert_eq!(tree.path(other), None);
        assert_eq!(tree.number(Path::new("/ab")), file);
        tree.remove(Path::new("/ab"));
        assert_ne!(tree.number(Path::new("/ab")), file);
    }

    #[test]
    fn sockets_go_with_the_power() {
        let mut tree = Tree::new();
        tree.add_socket(Path::new("/run/s"));
        let file = tree.number(Path::new("/run/f"));
        assert_eq!(tree.sockets_in(Path::new("/run")), ["s"]);
        assert!(tree.is_socket(Path::new("/run/s")));
        tree.lose_power();
        assert!(!tree.is_socket(Path::new("/run/s")));
        assert_eq!(tree.path(file), Some(Path::new("/run/f")));
    }
}
