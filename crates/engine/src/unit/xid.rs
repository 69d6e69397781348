//! What a branch of a global transaction is called, and how one ends.
//!
//! Invariant: an identifier has a global part, and no part is longer than 64 bytes.

/// The longest parts of an identifier.
const MOST: usize = 64;

/// The identifier of a branch (XID).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid {
    format_id: i32,
    global: Vec<u8>,
    branch: Vec<u8>,
}

impl Xid {
    /// `None`: a part is longer than 64 bytes, or there is no global one.
    pub fn new(format_id: i32, global: &[u8], branch: &[u8]) -> Option<Xid> {
        let fits = (1..=MOST).contains(&global.len()) && branch.len() <= MOST;
        fits.then(|| Xid {
            format_id,
            global: global.to_vec(),
            branch: branch.to_vec(),
        })
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
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02X}")).collect() };
        let (global, branch) = (hex(&self.global), hex(&self.branch));
        write!(
            f,
            "XA_FORMATID[{}] XA_GTRID[{global}] XA_BQUAL[{branch}]",
            self.format_id
        )
    }
}

/// How a unit of work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it happens.
    Committed,
    /// None of it happens.
    BackedOut,
}
