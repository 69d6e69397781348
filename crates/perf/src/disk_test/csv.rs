//! The CSV file that rows are added to.
//!
//! Invariant: a file is there afterwards only if it was there before or has a row.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use posthaste_server::Failure;

use super::report;

pub(super) struct Csv {
    file: File,
    path: PathBuf,
    /// What must stand before the next row.
    before: &'static str,
    /// It was made here and has no row.
    new: bool,
}

impl Csv {
    /// Opens it before the test, so that no test is made for rows that cannot be written.
    pub(super) fn open(path: &Path) -> Result<Csv, Failure> {
        let failed = |error| Failure::io(path, &error);
        let made = OpenOptions::new().append(true).create_new(true).open(path);
        let (file, new) = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let there = OpenOptions::new().append(true).open(path);
                (there.map_err(failed)?, false)
            }
            made => (made.map_err(failed)?, true),
        };
        let length = file.metadata().map_err(failed)?.len();
        let before = match length {
            0 => report::CSV_HEAD,
            _ if ends_amid_a_line(path, length) => "\n",
            _ => "",
        };
        Ok(Csv {
            file,
            path: path.to_owned(),
            before,
            new,
        })
    }

    /// Adds a row, below the head if it is the first one.
    pub(super) fn add(&mut self, row: &str) -> Result<(), Failure> {
        let text = format!("{}{row}", self.before);
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| Failure::io(&self.path, &error))?;
        self.before = "";
        self.new = false;
        Ok(())
    }
}

impl Drop for Csv {
    fn drop(&mut self) {
        if self.new {
            // A file that stays is empty, and the next test puts its head into it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the last line has no end. What cannot be read is taken to be in order.
fn ends_amid_a_line(path: &Path, length: u64) -> bool {
    let mut last = [0];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut last, length - 1));
    read.is_ok() && last != *b"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_added_below_one_head() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        drop(Csv::open(&path).unwrap());
        assert!(!path.exists(), "no row, no file");
        for rows in [["1\n", "2\n"], ["3\n", "4\n"]] {
            let mut csv = Csv::open(&path).unwrap();
            rows.iter().for_each(|row| csv.add(row).unwrap());
        }
        drop(Csv::open(&path).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}1\n2\n3\n4\n", report::CSV_HEAD));
        assert!(Csv::open(dir.path()).is_err());
    }

    #[test]
    fn a_row_begins_on_a_line_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.csv");
        std::fs::write(&path, "edited,by,hand").unwrap();
        Csv::open(&path).unwrap().add("1\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "edited,by,hand\n1\n");
        std::fs::write(&path, "").unwrap();
        drop(Csv::open(&path).unwrap());
        assert!(path.exists(), "it was there before");
    }
}
