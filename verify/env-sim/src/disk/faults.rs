//! What may go wrong with a file, by chance or on order, and what must then be true.
//!
//! | area | what may happen to it | the product's claim |
//! | --- | --- | --- |
//! | recovery log: extents | write error, full disk, error of a directory sync or rename while extents are made | survives: nothing unacknowledged is promised, the log stops or waits, restart recovers all that was acknowledged |
//! | recovery log: extents | power lost inside a write (torn, any sectors) | survives: the write was not acknowledged |
//! | recovery log: control file | write error, torn write | survives: two copies, the older one is still whole |
//! | queue files | data not synced is lost; write error; full disk | survives: a message is in the log until a checkpoint has synced its file; a full disk is an error to the application or a pause, never a loss |
//! | queue files, checkpoint images | sync error | survives by stopping: a failed sync is final; restart recovers from the log |
//! | checkpoint images | torn, unsynced, renamed but not synced | survives: an image counts only once it is complete and the control file names it |
//! | names (all areas) | changes not synced are lost, per directory from some point on | survives |
//! | any | bit rot, lost write, misdirected write, file cut short: of data that was acknowledged | **detected**: an error that names the place, or the data is right (another copy); never silently wrong data |
//! | any | read error | detected; the same rule |
//! | lock file, configuration | open refused | an error before anything is changed |
//!
//! A `forced` handle turns a lost or misdirected write into bad data at once; through the page cache readers
//! see what they wrote until the power goes (as on a real machine).
//!
//! Invariants: orders are looked at before chances, in the order they were given, and each strikes once; no
//! random number is drawn for a fault whose chance is zero, so that adding a kind of fault does not
//! change old seeds.

use std::path::{Path, PathBuf};

use super::names::errno;
use crate::rng::Rng;

/// A kind of failure of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Opening or locking is refused (EACCES).
    OpenError,
    /// A read fails (EIO).
    ReadError,
    /// A write fails (EIO); any of its sectors may have been written.
    WriteError,
    /// A sync fails (EIO); each unsynced sector has become durable or is lost for good, while readers go
    /// on seeing it, and the next sync says that all is well.
    SyncError,
    /// Creating, renaming, removing or syncing a name fails (EIO). A failed sync may have worked for the
    /// first few changes; a failed create, rename or removal has not happened.
    NameError,
    /// There is no room (ENOSPC): for a new name or more length, which do not come about; for a write, of which any
    /// sectors may be there; at a sync, which then fails as any other.
    DiskFull,
    /// The same for a user's share of the disk (EDQUOT).
    QuotaUsedUp,
    /// A write is acknowledged and dropped.
    LostWrite,
    /// The same, where it does the worst: the medium holds bytes there that begin as what was written, and what is not
    /// told from them by all it says is taken for it.
    LostRewrite,
    /// A write is acknowledged and goes one page beside its place, destroying what is there.
    MisdirectedWrite,
}

impl Fault {
    /// The number of the error that an operation fails with.
    pub(super) fn code(self) -> i32 {
        match self {
            Fault::OpenError => errno::EACCES,
            Fault::DiskFull => errno::ENOSPC,
            Fault::QuotaUsedUp => errno::EDQUOT,
            _ => errno::EIO,
        }
    }
}

/// Which files a fault may strike, by the path they were opened by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Area {
    /// All.
    Any,
    /// This file or directory.
    Path(PathBuf),
    /// Everything below this directory, and itself.
    Under(PathBuf),
    /// Paths whose last name contains this.
    Named(String),
}

impl Area {
    /// Whether `path` lies in the area.
    pub fn contains(&self, path: &Path) -> bool {
        match self {
            Area::Any => true,
            Area::Path(exact) => path == exact,
            Area::Under(dir) => path.starts_with(dir),
            Area::Named(part) => path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().contains(part.as_str())),
        }
    }
}

/// A fault that has struck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struck {
    /// What happened.
    pub fault: Fault,
    /// To which file.
    pub path: PathBuf,
    /// Where in it, bytes; 0 for operations without a place.
    pub offset: u64,
    /// At which operation ([`crate::SimDisk::operations`]).
    pub operation: u64,
}

#[derive(Default)]
pub(super) struct Faults {
    orders: Vec<Order>,
    chances: Vec<(Fault, Area, u32)>,
    pub(super) struck: Vec<Struck>,
}

struct Order {
    fault: Fault,
    area: Area,
    skip: u64,
}

impl Faults {
    pub(super) fn order(&mut self, fault: Fault, area: Area, skip: u64) {
        self.orders.push(Order { fault, area, skip });
    }

    pub(super) fn set_chance(&mut self, fault: Fault, area: Area, per_million: u32) {
        self.chances
            .retain(|(kind, place, _)| (*kind, place) != (fault, &area));
        if per_million > 0 {
            self.chances.push((fault, area, per_million));
        }
    }

    pub(super) fn clear(&mut self) {
        self.orders.clear();
        self.chances.clear();
    }

    pub(super) fn outstanding(&self) -> usize {
        self.orders.len()
    }

    /// Which of the faults `possible` for this operation strikes it.
    pub(super) fn strike(
        &mut self,
        possible: &[Fault],
        path: &Path,
        offset: u64,
        operation: u64,
        rng: &mut Rng,
    ) -> Option<Fault> {
        let fault = self
            .due(possible, path)
            .or_else(|| self.by_chance(possible, path, rng))?;
        self.struck.push(Struck {
            fault,
            path: path.to_owned(),
            offset,
            operation,
        });
        Some(fault)
    }

    fn due(&mut self, possible: &[Fault], path: &Path) -> Option<Fault> {
        let mut due = None;
        for (at, order) in self.orders.iter_mut().enumerate() {
            if !possible.contains(&order.fault) || !order.area.contains(path) {
                continue;
            }
            if order.skip > 0 {
                order.skip -= 1;
            } else if due.is_none() {
                due = Some(at);
            }
        }
        due.map(|at| self.orders.remove(at).fault)
    }

    fn by_chance(&self, possible: &[Fault], path: &Path, rng: &mut Rng) -> Option<Fault> {
        self.chances
            .iter()
            .find(|(fault, area, per_million)| {
                possible.contains(fault) && area.contains(path) && rng.chance(*per_million)
            })
            .map(|(fault, _, _)| *fault)
    }
}
