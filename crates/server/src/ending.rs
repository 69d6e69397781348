//! How a queue manager ended last time: what `dspmq` shows of one that is not running.

use std::fs;

use posthaste_engine::EndMode;

use crate::failure::Failure;
use crate::layout::{Home, write_atomically};

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
        let path = home.ended();
        write_atomically(&path, self.word()).map_err(|error| Failure::io(&path, &error))
    }

    /// What was written down; a queue manager that is running has nothing there, so that it needs
    /// no writing to have ended unexpectedly.
    pub fn read(home: &Home) -> LastEnd {
        let text = fs::read_to_string(home.ended()).unwrap_or_default();
        let row = LastEnd::WORDS.iter().find(|(_, word)| *word == text.trim());
        row.map_or(LastEnd::Unexpectedly, |(end, _)| *end)
    }

    /// Takes it away, at a start.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget(home: &Home) -> Result<(), Failure> {
        let path = home.ended();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::io(&path, &error))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_read_until_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home {
            name: "QM1".to_owned(),
            folder: folder.path().to_owned(),
        };
        assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
        for (end, _) in LastEnd::WORDS {
            end.record(&home).unwrap();
            assert_eq!(LastEnd::read(&home), end);
        }
        LastEnd::forget(&home).unwrap();
        LastEnd::forget(&home).unwrap();
        assert_eq!(LastEnd::read(&home), LastEnd::Unexpectedly);
    }
}
