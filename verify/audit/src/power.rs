//! A power supply for the server's disk: the server's files lie on a volume that this process serves through
//! the kernel (FUSE), and that keeps apart what the server may rely on from what a power cut takes.
//!
//! Invariants:
//! * What the volume holds is a [`SimDisk`], so the same rules hold as in the simulator: a write through a
//!   handle opened with `O_DSYNC` is durable when it returns, another one after `fsync`, a name after an
//!   `fsync` of its directory. Everything else is kept or dropped sector by sector, in any order.
//! * From the cut until [`PowerSupply::release`] no call on the volume returns, so a server cannot act on
//!   what happened after it. A forced write that is under way is torn.
//! * The server must have been sent SIGKILL before `release`.

#[cfg(test)]
mod tests;
mod tree;
mod volume;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption};
use posthaste_env::Disk;
use posthaste_env_sim::SimDisk;

use tree::Tree;
use volume::Volume;

/// What the volume and its power supply share.
struct Shared {
    disk: SimDisk,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The disk since the power came back.
    mounted: Arc<dyn Disk>,
    tree: Tree,
    /// A call waits for the power.
    struck: bool,
    /// Calls that wait may fail.
    released: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds a call up while the power is off; false if it was.
    fn has_power(&self) -> bool {
        if !self.disk.power_is_cut() {
            return true;
        }
        let mut state = self.lock();
        state.struck = true;
        self.changed.notify_all();
        while !state.released && self.disk.power_is_cut() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        false
    }
}

/// The power supply of a volume that is mounted while this lives.
pub(crate) struct PowerSupply {
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
    folder: PathBuf,
}

impl PowerSupply {
    /// Mounts an empty volume at `folder`.
    ///
    /// # Errors
    /// This machine, or this user, cannot mount one.
    pub(crate) fn mount(folder: &Path, seed: u64) -> io::Result<PowerSupply> {
        let disk = SimDisk::of_seed(seed);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                mounted: disk.mount(),
                tree: Tree::new(),
                struck: false,
                released: false,
            }),
            disk,
            changed: Condvar::new(),
        });
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("posthaste-audit".to_owned()),
            MountOption::NoAtime,
        ];
        let session = fuser::spawn_mount(Volume::new(shared.clone()), folder, &config)
            .map_err(|error| io::Error::new(error.kind(), format!("mounting a volume: {error}")))?;
        Ok(PowerSupply {
            shared,
            session: Some(session),
            folder: folder.to_owned(),
        })
    }

    /// Makes everything durable as it is: what the audit itself has prepared.
    pub(crate) fn settle(&self) {
        self.shared.disk.settle();
    }

    /// Cuts the power inside the `operations`th change of the volume from now, or after `timeout` where the
    /// server changes nothing.
    pub(crate) fn cut(&self, operations: u64, timeout: Duration) {
        self.shared.disk.cut_power_after(operations);
        let state = self.shared.lock();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, timeout, |state| !state.struck);
        drop(waited);
        if !self.shared.disk.power_is_cut() {
            self.shared.disk.cut_power();
        }
    }

    /// Lets calls that wait fail, so that a process that was killed can end.
    pub(crate) fn release(&self) {
        self.shared.lock().released = true;
        self.shared.changed.notify_all();
    }

    /// The power comes back. Returns a line that says what was lost.
    pub(crate) fn restore(&self) -> String {
        let mut state = self.shared.lock();
        let line = self.shared.disk.crash();
        state.mounted = self.shared.disk.mount();
        state.tree.lose_power();
        (state.struck, state.released) = (false, false);
        line
    }

    /// Copies the volume to an ordinary folder, for people to look at.
    pub(crate) fn save(&self, to: &Path) -> io::Result<()> {
        copy(&self.folder, to)
    }
}

impl Drop for PowerSupply {
    fn drop(&mut self) {
        self.release();
        if let Some(session) = self.session.take()
            && let Err(error) = session.umount_and_join()
        {
            eprintln!("{} stays mounted: {error}", self.folder.display());
        }
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
