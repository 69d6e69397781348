//! How a queue manager ended last time, and why: what `dspmq` shows of one that is not running.
//!
//! Invariants: while it runs the file says nothing, so that it needs no writing to have ended unexpectedly; the file
//! has its block from the first time on and is written in place, so that a full disk does not keep the cause from
//! being written down.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use posthaste_engine::EndMode;

use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::Home;

/// The file's length, whatever it says: one block.
const LENGTH: usize = 4096;
/// The most that is kept of a cause.
const LONGEST: usize = 1024;

/// The end of the last run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastEnd {
    /// After all applications had left.
    Normally,
    /// Without waiting for them.
    Immediately,
    /// Without a final checkpoint.
    Preemptively,
    /// Not in order: killed, or stopped because it could not go on.
    Unexpectedly,
}

/// Why the last run did not end in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The exit code of the process.
    pub exit: Exit,
    /// Message number and what happened, in one line.
    pub what: String,
}

impl LastEnd {
    const WORDS: [(LastEnd, &'static str); 4] = [
        (LastEnd::Normally, "Ended normally"),
        (LastEnd::Immediately, "Ended immediately"),
        (LastEnd::Preemptively, "Ended preemptively"),
        (LastEnd::Unexpectedly, "Ended unexpectedly"),
    ];

    /// As `dspmq` shows it.
    pub fn word(self) -> &'static str {
        let row = LastEnd::WORDS.iter().find(|(end, _)| *end == self);
        row.map_or("Ended unexpectedly", |(_, word)| word)
    }

    /// The end that a mode leads to.
    pub fn of(mode: EndMode) -> LastEnd {
        match mode {
            EndMode::Controlled => LastEnd::Normally,
            EndMode::Immediate => LastEnd::Immediately,
            EndMode::Preemptive => LastEnd::Preemptively,
        }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(self, home: &Home) -> Result<(), Failure> {
        write(home, self.word()).map_err(|error| Failure::io(&home.ended(), &error))
    }

    /// What was written down.
    pub fn read(home: &Home) -> LastEnd {
        let text = fs::read_to_string(home.ended()).unwrap_or_default();
        let first = text.lines().next().unwrap_or("").trim();
        let row = LastEnd::WORDS.iter().find(|(_, word)| *word == first);
        row.map_or(LastEnd::Unexpectedly, |(end, _)| *end)
    }

    /// Takes it away, at a start.
    ///
    /// # Errors
    /// What it says cannot be taken away.
    pub(crate) fn forget(home: &Home) -> Result<Forgotten<'_>, Failure> {
        let path = home.ended();
        let text = fs::read(&path).unwrap_or_default();
        let forgotten = Forgotten { home, text };
        if write(home, "").is_ok() {
            return Ok(forgotten);
        }
        // No file says the same as an empty one.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::io(&path, &error))
            }
            _ => Ok(forgotten),
        }
    }
}

/// What was taken away for a start; there again when this is dropped, unless it [stands](Forgotten::stands).
#[must_use]
pub(crate) struct Forgotten<'a> {
    home: &'a Home,
    text: Vec<u8>,
}

impl Forgotten<'_> {
    /// It stays away: there was a start, or the start writes down why there was none.
    pub(crate) fn stands(mut self) {
        self.text.clear();
    }
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            // What cannot be written is not known any more: it then shows as ended unexpectedly.
            let _ = write(self.home, String::from_utf8_lossy(&self.text).trim_end());
        }
    }
}

impl Cause {
    /// The cause that a failure is.
    pub(crate) fn of(failure: &Failure) -> Cause {
        Cause {
            exit: failure.exit,
            what: failure.brief(),
        }
    }

    /// Writes it down, as well as that can still be done: the error log has it too.
    pub(crate) fn record(&self, home: &Home) {
        let word = LastEnd::Unexpectedly.word();
        let what: String = self.what.chars().take(LONGEST).collect();
        let what = what.replace(char::is_control, " ");
        let _ = write(home, &format!("{word}\n{} {what}", self.exit.code()));
    }

    /// What was written down of an unexpected end; nothing after a kill or a power cut.
    pub fn read(home: &Home) -> Option<Cause> {
        let text = fs::read_to_string(home.ended()).ok()?;
        let mut lines = text.lines();
        if lines.next()?.trim() != LastEnd::Unexpectedly.word() {
            return None;
        }
        let (code, what) = lines.next()?.trim().split_once(' ')?;
        Some(Cause {
            exit: Exit::from_code(code.parse().ok()?)?,
            what: what.to_owned(),
        })
    }
}

/// Writes the whole file in place.
fn write(home: &Home, text: &str) -> io::Result<()> {
    let mut bytes = vec![b' '; LENGTH];
    for (to, from) in bytes.iter_mut().zip(text.bytes().chain([b'\n'])) {
        *to = from;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(home.ended())?;
    file.write_all(&bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(folder: &tempfile::TempDir) -> Home {
        Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        }
    }

    #[test]
    fn what_was_recorded_is_read_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
        for (end, _) in LastEnd::WORDS {
            end.record(&home).unwrap();
            assert_eq!(LastEnd::read(&home), end);
            assert_eq!(Cause::read(&home), None);
        }
        LastEnd::Normally.record(&home).unwrap();
        let forgotten = LastEnd::forget(&home).unwrap();
        assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
        drop(forgotten);
        assert_eq!(LastEnd::read(&home), LastEnd::Normally, "it did not start");
        for _ in 0..2 {
            LastEnd::forget(&home).unwrap().stands();
            assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
        }
    }

    #[test]
    fn a_cause_is_kept_in_the_room_that_the_file_has() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(&folder);
        LastEnd::forget(&home).unwrap().stands();
        let long = "ü\n".repeat(4_000);
        for what in ["AMQ2027S: disk full", &long] {
            let cause = Cause {
                exit: Exit::CheckpointFailed,
                what: what.to_owned(),
            };
            cause.record(&home);
            let found = Cause::read(&home).unwrap();
            assert_eq!(found.exit, Exit::CheckpointFailed);
            assert!(what.replace('\n', " ").starts_with(&found.what));
            assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
            assert_eq!(fs::metadata(home.ended()).unwrap().len(), LENGTH as u64);
        }
        LastEnd::Immediately.record(&home).unwrap();
        assert_eq!(Cause::read(&home), None);
    }
}
