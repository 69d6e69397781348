//! The log of an earlier run, put back in the place of the right one: nothing starts with it.
//!
//! Invariant: when a call returns, the right log is in its place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server::Site;
use crate::stage::QUEUE_MANAGER;

/// The exit code of a log that does not belong to the data.
const REFUSED: i32 = 78;

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, place) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        match entry.is_dir() {
            true => copy(&entry, &place)?,
            false => drop(fs::copy(&entry, &place)?),
        }
    }
    Ok(())
}

impl Site {
    fn log_folder(&self) -> PathBuf {
        self.data.join("log").join(QUEUE_MANAGER)
    }

    fn kept_log(&self) -> PathBuf {
        self.data.join("kept-log")
    }

    /// Keeps a copy of the log; the queue manager must not run.
    pub(crate) fn keep_log(&self) -> io::Result<()> {
        copy(&self.log_folder(), &self.kept_log())
    }

    /// Tries to start with the log that was kept, if there is one, and throws that away. What is wrong, if it is not refused.
    pub(crate) fn try_kept_log(&self) -> io::Result<Option<String>> {
        let (log, kept) = (self.log_folder(), self.kept_log());
        if !kept.exists() {
            return Ok(None);
        }
        let away = self.data.join("right-log");
        fs::rename(&log, &away)?;
        fs::rename(&kept, &log)?;
        let mut wrong = None;
        for verb in ["check", "run"] {
            let output = Command::new(&self.program)
                .args([verb, QUEUE_MANAGER, "--data-dir"])
                .arg(&self.data)
                .stdin(Stdio::null())
                .output()?;
            if output.status.code() != Some(REFUSED) {
                let text = String::from_utf8_lossy(&output.stderr);
                let status = output.status;
                wrong = Some(format!("{verb} with an old log came to {status}: {text}"));
                break;
            }
        }
        fs::remove_dir_all(&log)?;
        fs::rename(&away, &log)?;
        Ok(wrong)
    }
}
