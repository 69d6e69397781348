//! The log of an earlier run is put back: the start is refused, and nothing is changed by it.
//!
//! Laws: a log is refused once another run has begun with the data folder. With the right one back all is as it was.

use std::path::{Path, PathBuf};

use posthaste_engine::StartError;
use posthaste_env::Open;
use posthaste_env_sim::SimDisk;

use crate::run::{Failure, Run};

const LOG: &str = "/qm/log";
const DATA: &str = "/qm/data";
/// With what chance, in millionths, the log is kept for a start after the next run.
const KEPT: u32 = 300_000;

/// The files of a folder.
pub(crate) type Files = Vec<(PathBuf, Vec<u8>)>;

fn files(disk: &SimDisk, folder: &Path) -> Files {
    let names = disk.mount().list(folder).unwrap_or_default();
    let all = names.into_iter().flat_map(|name| {
        let path = folder.join(name);
        match disk.content(&path) {
            Some(bytes) => vec![(path, bytes)],
            None => files(disk, &path),
        }
    });
    all.collect()
}

/// Puts other files in the place of the log's.
fn replace(disk: &SimDisk, by: &Files) -> std::io::Result<()> {
    let mounted = disk.mount();
    for (path, _) in files(disk, Path::new(LOG)) {
        mounted.remove_file(&path)?;
    }
    for (path, bytes) in by {
        mounted.open(path, Open::CREATE_NEW)?.write_at(bytes, 0)?;
    }
    disk.settle();
    Ok(())
}

impl Run {
    /// Tries a start with a log that was kept before an earlier run, and keeps this one at times.
    pub(crate) fn put_old_log_back(&mut self) -> Result<(), Failure> {
        let disk = self.machine.world.disk().clone();
        // What was written and not synced must stay so; a full disk has no room to copy files, and a fault may be due.
        if !disk.is_settled() || self.disk_full || disk.outstanding() > 0 {
            return Ok(());
        }
        let old = self.old_log.take();
        let present = files(&disk, Path::new(LOG));
        if let Some(old) = old {
            let io = |error| Failure::Start(format!("while logs were exchanged: {error}"));
            let data = files(&disk, Path::new(DATA));
            replace(&disk, &old).map_err(io)?;
            let started = self.machine.start();
            let expected = match &started {
                Err(StartError::Inconsistent(_)) => true,
                // What the medium has lost of it may be seen first.
                Err(_) => self.plan.media > 0,
                Ok(()) => false,
            };
            if !expected {
                let what = format!("the log of an earlier run was put back: {started:?}");
                return Err(Failure::Invariant(what));
            }
            if files(&disk, Path::new(DATA)) != data || files(&disk, Path::new(LOG)) != old {
                let what = "a start that was refused has changed files";
                return Err(Failure::Invariant(what.to_owned()));
            }
            self.met("old log refused");
            replace(&disk, &present).map_err(io)?;
        }
        if self.faults.chance(KEPT) {
            self.old_log = Some(present);
        }
        Ok(())
    }
}
