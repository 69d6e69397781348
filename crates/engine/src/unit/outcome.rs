//! How a unit of work ends, and why a call about a branch of a global transaction fails.

use posthaste_mqi::Reason;

/// How a unit of work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it happens.
    Committed,
    /// None of it happens.
    BackedOut,
}

/// Why a call about a branch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchError {
    /// There is no such branch (XAER_NOTA).
    Unknown,
    /// There is one already (XAER_DUPID).
    Duplicate,
    /// The branch, or the connection, is not at a stage for this call (XAER_PROTO).
    Protocol,
    /// The identifier is of no branch that there could be (XAER_INVAL).
    Invalid,
    /// The connection has a unit of work of its own (XAER_OUTSIDE).
    Outside,
    /// The branch has been backed out (XA_RBROLLBACK).
    RolledBack,
    /// Somebody has decided about the branch (XA_HEURCOM, XA_HEURRB); it is remembered until it is forgotten.
    Heuristic(Outcome),
    /// As for any other call.
    Failed(Reason),
}

impl From<Reason> for BranchError {
    fn from(reason: Reason) -> Self {
        BranchError::Failed(reason)
    }
}
