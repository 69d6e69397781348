//! With nothing failing, the simulated disk and the real one cannot be told apart: random operations give
//! equal results on both.

#![allow(clippy::unwrap_used, reason = "a failure here is the test's verdict")]

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use posthaste_env::{AlignedBuf, Disk, File, Lock, Open, PAGE, os};
use posthaste_env_sim::{Rng, SimWorld};
use tempfile::TempDir;

/// One side: a disk, the directory that stands for its root, and what is open.
struct Side<'a> {
    disk: Arc<dyn Disk>,
    root: &'a Path,
    files: Vec<Arc<dyn File>>,
    locks: Vec<Box<dyn Lock>>,
}

/// What an operation gave, in comparable form.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    Bytes(Vec<u8>),
    Length(u64),
    Names(Vec<String>),
    Is(bool),
    Failed(ErrorKind),
}

fn outcome<T>(result: std::io::Result<T>, show: impl FnOnce(T) -> Outcome) -> Outcome {
    match result {
        Ok(value) => show(value),
        Err(error) => Outcome::Failed(error.kind()),
    }
}

const OPENS: &[Open] = &[
    Open::READ_WRITE,
    Open::CREATE,
    Open::CREATE_NEW,
    Open::FORCED,
    Open::FORCED_CREATE,
    Open::FORCED_CREATE_NEW,
];

fn path(rng: &mut Rng) -> String {
    let names = ["a", "b", "c"];
    let depth = rng.between(1, 3);
    let parts: Vec<&str> = (0..depth).map(|_| *rng.pick(&names).unwrap()).collect();
    parts.join("/")
}

impl Side<'_> {
    /// Does one operation. All choices come from `rng`, so both sides make the same ones.
    fn operate(&mut self, rng: &mut Rng) -> (String, Outcome) {
        let names = |names| Outcome::Names(names);
        let done = |()| Outcome::Done;
        let first = self.root.join(path(rng));
        let second = self.root.join(path(rng));
        let file = self.files.get(rng.index(self.files.len().max(1))).cloned();
        let disk = &self.disk;
        match rng.below(20) {
            0 => ("mkdir".into(), outcome(disk.create_dir_all(&first), done)),
            1 => ("remove".into(), outcome(disk.remove_file(&first), done)),
            2 => {
                if !rng.chance(200_000) {
                    return ("exists".into(), Outcome::Is(disk.exists(&first)));
                }
                (
                    "remove tree".into(),
                    outcome(disk.remove_dir_all(&first), done),
                )
            }
            3 | 4 => {
                let what = format!("rename {} {}", first.display(), second.display());
                (what, outcome(disk.rename(&first, &second), done))
            }
            5 => ("list".into(), outcome(disk.list(&first), names)),
            6 => ("sync_dir".into(), outcome(disk.sync_dir(&first), done)),
            7 => match self.locks.len() {
                0..3 => {
                    let locked = outcome(disk.lock(&first), |lock| {
                        self.locks.push(lock);
                        Outcome::Done
                    });
                    ("lock".into(), locked)
                }
                held => {
                    drop(self.locks.swap_remove(rng.index(held)));
                    ("unlock".into(), Outcome::Done)
                }
            },
            8..11 => {
                let how = *rng.pick(OPENS).unwrap();
                let opened = outcome(disk.open(&first, how), |file| {
                    self.files.push(file);
                    Outcome::Done
                });
                if self.files.len() > 6 {
                    self.files.remove(0);
                }
                (format!("open {} {how:?}", first.display()), opened)
            }
            choice => match file {
                Some(file) => on_file(&*file, choice, rng),
                None => ("none open".into(), Outcome::Done),
            },
        }
    }
}

fn on_file(file: &dyn File, choice: u64, rng: &mut Rng) -> (String, Outcome) {
    // Half of the places are such as forced handles accept.
    let whole = rng.coin();
    let unit = if whole { PAGE as u64 } else { 1 };
    let reach = if whole { 4 } else { 4 * PAGE as u64 };
    let offset = rng.below(reach) * unit;
    let length = (rng.between(1, reach) * unit) as usize;
    let mut buf = AlignedBuf::with_bytes(length);
    let buf = &mut buf[..length];
    match choice {
        11 => match rng.below(3) {
            0 => (
                format!("allocate {offset}"),
                outcome(file.allocate(offset), |()| Outcome::Done),
            ),
            1 => (
                format!("punch {offset}+{length}"),
                outcome(file.punch(offset, length as u64), |()| Outcome::Done),
            ),
            _ => ("len".into(), outcome(file.len(), Outcome::Length)),
        },
        12 => ("sync".into(), outcome(file.sync(), |()| Outcome::Done)),
        13 => (
            format!("set_len {offset}"),
            outcome(file.set_len(offset), |()| Outcome::Done),
        ),
        14..17 => {
            rng.fill(buf);
            (
                format!("write {offset}+{length}"),
                outcome(file.write_at(buf, offset), |()| Outcome::Done),
            )
        }
        _ => (
            format!("read {offset}+{length}"),
            outcome(file.read_at(buf, offset), |count| {
                Outcome::Bytes(buf[..count].to_vec())
            }),
        ),
    }
}

#[test]
fn random_operations_give_the_same_results() {
    let mut failures = std::collections::BTreeSet::new();
    for seed in 0..16 {
        let dir = TempDir::new().unwrap();
        let world = SimWorld::new(seed);
        let mut real = Side {
            disk: os().disk,
            root: dir.path(),
            files: Vec::new(),
            locks: Vec::new(),
        };
        let mut simulated = Side {
            disk: world.env().disk,
            root: Path::new("/"),
            files: Vec::new(),
            locks: Vec::new(),
        };
        let mut choices = Rng::new(seed);
        for step in 0..300 {
            let mut same = choices.clone();
            let (what, expected) = real.operate(&mut choices);
            let (also, got) = simulated.operate(&mut same);
            assert!(
                expected == got,
                "seed {seed} step {step}: real {what}, simulated {also}: {expected:.100?} / {got:.100?}"
            );
            if let Outcome::Failed(kind) = got {
                failures.insert(format!("{kind:?}"));
            }
        }
    }
    // The comparison is worth something only if it got around.
    for kind in [
        "AlreadyExists",
        "DirectoryNotEmpty",
        "InvalidInput",
        "IsADirectory",
        "NotADirectory",
        "NotFound",
        "WouldBlock",
    ] {
        assert!(
            failures.contains(kind),
            "{kind} never happened: {failures:?}"
        );
    }
}
