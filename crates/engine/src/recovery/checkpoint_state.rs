//! What the next checkpoint has to know of the last one.
//!
//! Invariant: after a closing checkpoint no other follows.

use posthaste_recovery_log::Lsn;

/// What the next checkpoint has to know of the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckpointState {
    pub(crate) number: u64,
    pub(crate) begin: Lsn,
    /// It was the last one of a controlled shutdown: no other follows.
    pub(crate) closing: bool,
    /// An attempt since then found no room: the next ones write no record, so that the log is not used up by them.
    pub(crate) failed: bool,
}

impl CheckpointState {
    /// After a start from an image.
    pub(crate) fn of_image(number: u64, begin: Lsn) -> Self {
        CheckpointState {
            number,
            begin,
            closing: false,
            failed: false,
        }
    }
}
