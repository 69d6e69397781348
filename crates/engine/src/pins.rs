//! Pins: what keeps the log from being cut.
//!
//! Invariants:
//! * A pin is an LSN at or before the first record that a restart may still need for its holder. It
//!   is taken before that record is appended and goes with its holder, once the effect has happened:
//!   there is no moment at which it could be cleared for somebody else.
//! * A pin's LSN is read under the lock under which a checkpoint looks for the lowest one, and a
//!   checkpoint looks after it has begun. So a pin is never below a restart point that was chosen
//!   without it, however long its holder takes to append.

use std::sync::Arc;

use posthaste_env::sync::Mutex;
use posthaste_recovery_log::{Lsn, RecoveryLog};

/// A place that holds nothing back.
const FREE: Lsn = Lsn(u64::MAX);

#[derive(Default)]
struct Table {
    held: Vec<Lsn>,
    free: Vec<usize>,
}

/// All pins of a queue manager.
#[derive(Default)]
pub(crate) struct Pins(Mutex<Table>);

impl Pins {
    /// Keeps the log from being cut above what is appended from here on.
    pub(crate) fn hold(self: &Arc<Self>, log: &RecoveryLog) -> Pin {
        let mut table = self.0.lock();
        let lsn = log.appended();
        let at = match table.free.pop() {
            Some(at) => {
                table.held[at] = lsn;
                at
            }
            None => {
                table.held.push(lsn);
                table.held.len() - 1
            }
        };
        Pin {
            pins: Arc::clone(self),
            at,
        }
    }

    /// The lowest LSN that somebody needs.
    pub(crate) fn lowest(&self) -> Option<Lsn> {
        let table = self.0.lock();
        table.held.iter().copied().filter(|lsn| *lsn != FREE).min()
    }
}

/// Holds the log back as long as it lives.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    at: usize,
}

impl Pin {
    /// Where it holds the log.
    pub(crate) fn lsn(&self) -> Lsn {
        self.pins.0.lock().held[self.at]
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut table = self.pins.0.lock();
        table.held[self.at] = FREE;
        table.free.push(self.at);
    }
}
