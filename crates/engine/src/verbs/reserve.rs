//! Message identifiers given out ahead: a client that puts asynchronously tells its application the identifier of a
//! message without awaiting an answer.
//!
//! Invariant: no identifier is given out twice, nor made by the queue manager for a message of its own.

use posthaste_mqi::{MsgId, Reason};

use crate::session::Session;

/// The most that are given out at a time; a power of two, at which their numbers begin too.
const MOST: u32 = 4_096;
// Counted up, they change the last two bytes at most.
const _: () = assert!(MOST.is_power_of_two() && MOST <= 1 << 16);

/// Identifiers that count up from the first, in their last bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedIds {
    /// The first of them.
    pub first: MsgId,
    /// How many there are.
    pub count: u32,
}

impl Session {
    /// Gives out message identifiers: `wanted` of them, or as many as are given at a time.
    ///
    /// # Errors
    /// 2009, 2018, 2219 connection; 2162 queue manager.
    pub fn reserve_ids(&self, wanted: u32) -> Result<ReservedIds, Reason> {
        let session = self.inner();
        let _call = session.enter()?;
        let block = u64::from(MOST);
        // So many that a whole block is among them, wherever they begin.
        let taken = session.qm.next_seqs(2 * block - 1);
        let first = taken.next_multiple_of(block);
        Ok(ReservedIds {
            first: session.qm.new_msg_id(first),
            count: wanted.clamp(1, MOST),
        })
    }
}
