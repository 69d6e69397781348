//! The files of an audit log: `AUDIT01.json` is added to, those with higher numbers are older.
//!
//! Invariants: a line is written with one call and never split over two files; what a failed write, or a power cut, has left
//! of a line is no part of another. Nobody but the owner reads the files. A file that somebody has moved or removed is
//! written no more: the next line goes to a new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The files of one folder.
pub(super) struct Files {
    folder: PathBuf,
    /// Bytes of a file, about.
    limit: u64,
    /// How many there are at the most.
    most: u32,
    file: Option<File>,
}

impl Files {
    pub(super) fn new(folder: &Path, limit: u64, most: u32) -> Files {
        Files {
            folder: folder.to_owned(),
            limit,
            most,
            file: None,
        }
    }

    pub(super) fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("AUDIT{number:02}.json"))
    }

    /// Adds a line.
    ///
    /// # Errors
    /// It is not there; the next one tries to open the file anew.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let written = self.try_append(line);
        if written.is_err() {
            self.file = None;
        }
        written
    }

    fn try_append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) if self.is_in_its_place(&file)? => file,
            _ => self.open()?,
        };
        // Others add to it too, but for a moment.
        let mut before = file.metadata()?.len();
        if before > 0 && before + line.len() as u64 > self.limit {
            drop(file);
            self.rotate()?;
            file = self.open()?;
            before = file.metadata()?.len();
        }
        if let Err(error) = file.write_all(line) {
            // Where this fails, too, the next opening ends the broken line.
            let _ = file.set_len(before);
            return Err(error);
        }
        self.file = Some(file);
        Ok(())
    }

    /// Whether the file is still the one that has the name.
    fn is_in_its_place(&self, file: &File) -> io::Result<bool> {
        let is = file.metadata()?;
        match fs::metadata(self.path(1)) {
            Ok(named) => Ok((is.dev(), is.ino()) == (named.dev(), named.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn open(&self) -> io::Result<File> {
        crate::layout::make_private_folder(&self.folder)?;
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(self.path(1))?;
        let length = file.metadata()?.len();
        if length > 0 {
            let mut last = [0];
            file.seek(SeekFrom::Start(length - 1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(file)
    }

    fn rotate(&self) -> io::Result<()> {
        for number in (1..self.most).rev() {
            match fs::rename(self.path(number), self.path(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        if self.most == 1 {
            fs::remove_file(self.path(1))?;
        }
        Ok(())
    }
}
