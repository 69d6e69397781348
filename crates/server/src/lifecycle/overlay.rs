//! A disk in front of another one that keeps every change in memory: what is started on it does not change a file.
//!
//! Invariants: nothing of the disk below is written, created, renamed or removed; what was changed here reads as it
//! was changed. The lock of whoever uses it is that person's own: a lock taken here keeps nobody out.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_env::{Disk, File, Lock, Open};

/// The size of what is kept of a file.
const PIECE: usize = 4096;

/// What has become of a name.
#[derive(Clone)]
enum Entry {
    There(Arc<Changed>),
    Folder,
    Gone,
}

/// The disk.
pub(crate) struct Overlay {
    below: Arc<dyn Disk>,
    names: Mutex<BTreeMap<PathBuf, Entry>>,
}

impl Overlay {
    /// In front of a disk.
    pub(crate) fn new(below: Arc<dyn Disk>) -> Overlay {
        Overlay {
            below,
            names: Mutex::default(),
        }
    }

    fn below(&self, path: &Path) -> io::Result<Arc<Changed>> {
        let file = self.below.open(path, Open::READ)?;
        let length = file.len()?;
        Ok(Arc::new(Changed {
            below: Some(file),
            state: Mutex::new(State {
                kept: length,
                length,
                ..State::default()
            }),
        }))
    }

    /// The file of a name, as it is here.
    fn find(&self, path: &Path) -> io::Result<Arc<Changed>> {
        match self.names.lock().get(path) {
            Some(Entry::There(file)) => return Ok(Arc::clone(file)),
            Some(Entry::Folder) => return Err(io::ErrorKind::IsADirectory.into()),
            Some(Entry::Gone) => return Err(io::ErrorKind::NotFound.into()),
            None => {}
        }
        let file = self.below(path)?;
        self.set(path, Entry::There(Arc::clone(&file)));
        Ok(file)
    }

    fn set(&self, path: &Path, entry: Entry) {
        self.names.lock().insert(path.to_owned(), entry);
    }
}

struct OwnLock;

impl Lock for OwnLock {}

impl Disk for Overlay {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn File>> {
        match self.find(path) {
            Ok(_) if how.create_new => Err(io::ErrorKind::AlreadyExists.into()),
            Ok(file) => Ok(file),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && (how.create || how.create_new) =>
            {
                let file = Arc::new(Changed::default());
                self.set(path, Entry::There(Arc::clone(&file)));
                Ok(file)
            }
            Err(error) => Err(error),
        }
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        if !self.exists(dir) {
            self.set(dir, Entry::Folder);
        }
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        self.set(path, Entry::Gone);
        Ok(())
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        for name in self.list(dir)? {
            self.set(&dir.join(name), Entry::Gone);
        }
        self.set(dir, Entry::Gone);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.find(from)?;
        let mut names = self.names.lock();
        names.insert(from.to_owned(), Entry::Gone);
        names.insert(to.to_owned(), Entry::There(file));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut found = match self.below.list(dir) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.exists(dir) => Vec::new(),
            Err(error) => return Err(error),
        };
        let names = self.names.lock();
        found.retain(|name| !matches!(names.get(&dir.join(name)), Some(Entry::Gone)));
        for (path, entry) in names.iter() {
            if path.parent() == Some(dir) && !matches!(entry, Entry::Gone) {
                found.extend(path.file_name().map(|name| name.to_string_lossy().into()));
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn exists(&self, path: &Path) -> bool {
        match self.names.lock().get(path) {
            Some(entry) => !matches!(entry, Entry::Gone),
            None => self.below.exists(path),
        }
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _: &Path) -> io::Result<Box<dyn Lock>> {
        Ok(Box::new(OwnLock))
    }

    fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        self.below.free_bytes(dir)
    }

    fn free_inodes(&self, dir: &Path) -> io::Result<Option<u64>> {
        self.below.free_inodes(dir)
    }
}

#[derive(Default)]
struct State {
    /// So many of the first bytes below still count.
    kept: u64,
    length: u64,
    /// Pieces that were written, by number.
    pieces: BTreeMap<u64, Box<[u8; PIECE]>>,
    /// What of the file below has been punched out, in pieces: where each hole begins, and the number behind it.
    holes: BTreeMap<u64, u64>,
}

impl State {
    fn add_hole(&mut self, mut first: u64, mut end: u64) {
        while let Some((&from, &to)) = self.holes.range(..=end).next_back()
            && to >= first
        {
            self.holes.remove(&from);
            (first, end) = (first.min(from), end.max(to));
        }
        self.holes.insert(first, end);
    }

    fn is_hole(&self, number: u64) -> bool {
        let before = self.holes.range(..=number).next_back();
        before.is_some_and(|(_, end)| number < *end)
    }
}

/// A file, and what has been changed of it.
#[derive(Default)]
struct Changed {
    below: Option<Arc<dyn File>>,
    state: Mutex<State>,
}

/// A range of a file, piece by piece: the piece's number, where it begins in it, how many bytes.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = usize::try_from(at % PIECE as u64).unwrap_or(0);
        let bytes = (PIECE - within).min(length - done);
        done += bytes;
        (bytes > 0).then_some((at / PIECE as u64, within, bytes))
    })
}

impl Changed {
    /// A piece as it is below: zeros where that has nothing.
    fn unchanged(&self, state: &State, number: u64) -> io::Result<Box<[u8; PIECE]>> {
        let mut piece = Box::new([0; PIECE]);
        let start = number * PIECE as u64;
        let kept = usize::try_from(state.kept.saturating_sub(start)).unwrap_or(PIECE);
        if let (Some(below), 1.., false) = (&self.below, kept, state.is_hole(number)) {
            let wanted = piece.get_mut(..kept.min(PIECE)).unwrap_or_default();
            below.read_at(wanted, start)?;
        }
        Ok(piece)
    }

    /// Writes zeros over a part of one or two pieces.
    fn clear(&self, from: u64, to: u64) -> io::Result<()> {
        let zeros = [0; 2 * PIECE];
        match usize::try_from(to.saturating_sub(from)).unwrap_or(zeros.len()) {
            0 => Ok(()),
            bytes => self.write_at(zeros.get(..bytes).unwrap_or(&zeros), from),
        }
    }
}

impl File for Changed {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock();
        let there = usize::try_from(state.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = buf.len().min(there);
        let mut rest = &mut *buf;
        for (number, within, bytes) in pieces(offset, length) {
            let (now, then) = rest.split_at_mut(bytes);
            match state.pieces.get(&number) {
                Some(piece) => now.copy_from_slice(&piece[within..within + bytes]),
                None => {
                    let piece = self.unchanged(&state, number)?;
                    now.copy_from_slice(&piece[within..within + bytes]);
                }
            }
            rest = then;
        }
        Ok(length)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let mut rest = buf;
        for (number, within, bytes) in pieces(offset, buf.len()) {
            let (now, then) = rest.split_at(bytes);
            let mut piece = match state.pieces.remove(&number) {
                Some(piece) => piece,
                None => self.unchanged(&state, number)?,
            };
            piece[within..within + bytes].copy_from_slice(now);
            state.pieces.insert(number, piece);
            rest = then;
        }
        state.length = state.length.max(offset + buf.len() as u64);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().length)
    }

    fn set_len(&self, n: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        if n < state.length {
            let last = n / PIECE as u64;
            state.pieces.retain(|number, _| *number <= last);
            let within = usize::try_from(n % PIECE as u64).unwrap_or(0);
            if let Some(piece) = state.pieces.get_mut(&last) {
                piece[within..].fill(0);
            }
            state.kept = state.kept.min(n);
        }
        state.length = n;
        Ok(())
    }

    fn allocate(&self, n: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        state.length = state.length.max(n);
        Ok(())
    }

    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let piece = PIECE as u64;
        let end = offset.saturating_add(bytes).min(self.len()?);
        let (first, last) = (offset.div_ceil(piece), end / piece);
        if first >= last {
            return self.clear(offset, end);
        }
        self.clear(offset, first * piece)?;
        self.clear(last * piece, end)?;
        let mut state = self.state.lock();
        state
            .pieces
            .retain(|number, _| !(first..last).contains(number));
        state.add_hole(first, last);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_seen_here_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let original: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
        std::fs::write(path("a"), &original).unwrap();
        std::fs::write(path("b"), "b").unwrap();
        let overlay = Overlay::new(posthaste_env::os().disk);
        let file = overlay.open(&path("a"), Open::FORCED).unwrap();
        let mut expected = original.clone();
        file.write_at(&[7; 5_000], 4_000).unwrap();
        expected[4_000..9_000].fill(7);
        let all = |file: &dyn File| {
            let mut bytes = vec![1; 20_000];
            let read = file.read_at(&mut bytes, 0).unwrap();
            bytes.truncate(read);
            bytes
        };
        assert_eq!(all(&*file), expected);
        // What was cut off does not come back.
        file.set_len(4_100).unwrap();
        file.set_len(9_500).unwrap();
        expected.truncate(4_100);
        expected.resize(9_500, 0);
        assert_eq!(all(&*file), expected);

        overlay.rename(&path("a"), &path("c")).unwrap();
        overlay.remove_file(&path("b")).unwrap();
        let new = overlay.open(&path("d"), Open::CREATE_NEW).unwrap();
        new.write_at(b"new", 2).unwrap();
        assert_eq!(all(&*new), b"\0\0new");
        assert!(overlay.open(&path("d"), Open::CREATE_NEW).is_err());
        assert!(overlay.open(&path("b"), Open::READ).is_err());
        assert_eq!(overlay.list(folder.path()).unwrap(), ["c", "d"]);
        let again = overlay.open(&path("c"), Open::READ).unwrap();
        assert_eq!(all(&*again), expected);

        assert_eq!(std::fs::read(path("a")).unwrap(), original);
        assert_eq!(std::fs::read(path("b")).unwrap(), b"b");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_hole_reads_as_zeros_and_costs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut expected: Vec<u8> = (1..=100_000u32).map(|n| (n % 251) as u8 | 1).collect();
        std::fs::write(&path, &expected).unwrap();
        let overlay = Overlay::new(posthaste_env::os().disk);
        let file = overlay.find(&path).unwrap();
        let mut punch = |from: usize, bytes: usize| {
            file.punch(from as u64, bytes as u64).unwrap();
            let end = (from + bytes).min(expected.len());
            expected[from..end].fill(0);
            let mut found = vec![1; expected.len()];
            assert_eq!(file.read_at(&mut found, 0).unwrap(), expected.len());
            assert!(found == expected, "{bytes} bytes at {from}");
            let state = file.state.lock();
            (
                state.pieces.len(),
                state.holes.clone().into_iter().collect(),
            )
        };
        assert_eq!(punch(5, 10), (1, vec![]));
        assert_eq!(punch(4_000, 200), (2, vec![]), "in two pieces");
        assert_eq!(punch(8_192, 4_096), (2, vec![(2, 3)]));
        assert_eq!(punch(20_000, 20_000), (4, vec![(2, 3), (5, 9)]));
        assert_eq!(punch(12_288, 8_192), (3, vec![(2, 9)]), "they meet");
        assert_eq!(punch(0, 1 << 40), (1, vec![(0, 24)]), "up to its end");
        // What is written into a hole is there, and nothing else of what was.
        file.write_at(b"new", 50_000).unwrap();
        let mut found = [1; 5];
        assert_eq!(file.read_at(&mut found, 49_999).unwrap(), 5);
        assert_eq!(&found, b"\0new\0");
        // Behind the end there is no hole.
        let unbounded = overlay.open(&folder.path().join("b"), Open::CREATE_NEW);
        let unbounded = unbounded.unwrap();
        unbounded.punch(5_000, u64::MAX).unwrap();
        assert_eq!(unbounded.len().unwrap(), 0);
        unbounded.write_at(b"x", 0).unwrap();
        assert_eq!(unbounded.len().unwrap(), 1);
    }
}
