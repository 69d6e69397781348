//! Vocabulary of the XA interface (X/Open: "Distributed Transaction Processing: The XA Specification"): what a branch of
//! a global transaction is called, the flags of the calls and what they return.
//!
//! Invariant: no part of an identifier is longer than 64 bytes.

use crate::text::hex;

/// The longest parts of an identifier.
const MOST: usize = 64;

/// No flags.
pub const TMNOFLAGS: u32 = 0;
/// One phase only (xa_commit).
pub const TMONEPHASE: u32 = 0x4000_0000;
/// The work has failed (xa_end).
pub const TMFAIL: u32 = 0x2000_0000;
/// Not if the caller would have to wait.
pub const TMNOWAIT: u32 = 0x1000_0000;
/// What was suspended goes on (xa_start).
pub const TMRESUME: u32 = 0x0800_0000;
/// The work is done (xa_end).
pub const TMSUCCESS: u32 = 0x0400_0000;
/// The work is suspended (xa_end).
pub const TMSUSPEND: u32 = 0x0200_0000;
/// A scan begins (xa_recover).
pub const TMSTARTRSCAN: u32 = 0x0100_0000;
/// A scan ends (xa_recover).
pub const TMENDRSCAN: u32 = 0x0080_0000;
/// A branch that is there is joined (xa_start).
pub const TMJOIN: u32 = 0x0020_0000;
/// What is suspended may go on elsewhere (xa_end).
pub const TMMIGRATE: u32 = 0x0010_0000;
/// The call is not to be waited for.
pub const TMASYNC: u32 = 0x8000_0000;

/// It was done.
pub const XA_OK: i32 = 0;
/// There was nothing to commit, and the branch has ended.
pub const XA_RDONLY: i32 = 3;
/// It cannot be done now.
pub const XA_RETRY: i32 = 4;
/// Completed heuristically, partly so and partly so.
pub const XA_HEURMIX: i32 = 5;
/// Rolled back heuristically.
pub const XA_HEURRB: i32 = 6;
/// Committed heuristically.
pub const XA_HEURCOM: i32 = 7;
/// Perhaps completed heuristically.
pub const XA_HEURHAZ: i32 = 8;
/// Rolled back, for no reason that is told. The first of the codes that say so.
pub const XA_RBROLLBACK: i32 = 100;
/// Rolled back; the same work may succeed another time. The last of the codes that say so.
pub const XA_RBTRANSIENT: i32 = 107;
/// A call that is not waited for is not possible.
pub const XAER_ASYNC: i32 = -2;
/// The resource manager met an error.
pub const XAER_RMERR: i32 = -3;
/// There is no such branch.
pub const XAER_NOTA: i32 = -4;
/// Arguments that make no sense.
pub const XAER_INVAL: i32 = -5;
/// A call that may not come now.
pub const XAER_PROTO: i32 = -6;
/// The resource manager is not available.
pub const XAER_RMFAIL: i32 = -7;
/// There is such a branch already.
pub const XAER_DUPID: i32 = -8;
/// The resource manager does work outside a global transaction.
pub const XAER_OUTSIDE: i32 = -9;

/// The identifier of a branch (XID).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid {
    format_id: i32,
    global: Vec<u8>,
    branch: Vec<u8>,
}

impl Xid {
    /// `None`: a part is longer than 64 bytes.
    pub fn new(format_id: i32, global: &[u8], branch: &[u8]) -> Option<Xid> {
        let fits = global.len() <= MOST && branch.len() <= MOST;
        fits.then(|| Xid {
            format_id,
            global: global.to_vec(),
            branch: branch.to_vec(),
        })
    }

    /// Whether there can be a branch of it: the null identifier (format -1), and one without a global transaction, are
    /// of none.
    pub fn is_of_a_branch(&self) -> bool {
        self.format_id != -1 && !self.global.is_empty()
    }

    /// Format.
    pub fn format_id(&self) -> i32 {
        self.format_id
    }

    /// Global transaction.
    pub fn global(&self) -> &[u8] {
        &self.global
    }

    /// Branch qualifier.
    pub fn branch(&self) -> &[u8] {
        &self.branch
    }
}

/// As MQ shows it (EXTURID): format, global transaction, branch qualifier.
impl std::fmt::Display for Xid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (global, branch) = (hex(&self.global), hex(&self.branch));
        write!(
            f,
            "XA_FORMATID[{}] XA_GTRID[{global}] XA_BQUAL[{branch}]",
            self.format_id
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_parts_of_64_bytes_at_the_most() {
        assert!(Xid::new(1, &[1; 64], &[2; 64]).is_some_and(|xid| xid.is_of_a_branch()));
        assert_eq!(Xid::new(1, &[1; 65], b""), None);
        assert_eq!(Xid::new(1, b"1", &[2; 65]), None);
        assert!(!Xid::new(-1, b"1", b"").unwrap().is_of_a_branch());
        assert!(!Xid::new(1, b"", b"2").unwrap().is_of_a_branch());
        assert_eq!(
            Xid::new(7, b"\x01\xAB", b"").unwrap().to_string(),
            "XA_FORMATID[7] XA_GTRID[01AB] XA_BQUAL[]"
        );
    }
}
