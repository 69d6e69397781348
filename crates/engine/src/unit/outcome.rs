//! How a unit of work ends, and why a call about a branch of a global transaction fails.

use std::fmt;

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
    /// Another user has begun the branch, and it is not prepared. He learns no more than that there is none (XAER_NOTA).
    Anothers,
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

impl BranchError {
    /// The reason code that comes nearest to it.
    pub fn reason(self) -> Reason {
        match self {
            BranchError::Failed(reason) => reason,
            BranchError::RolledBack => Reason::BACKED_OUT,
            BranchError::Anothers => Reason::NOT_AUTHORIZED,
            _ => Reason::UNEXPECTED_ERROR,
        }
    }
}

/// For whoever reads an audit.
impl fmt::Display for BranchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BranchError::Unknown => "there is no such branch any more",
            BranchError::Duplicate => "there is such a branch already",
            BranchError::Anothers => "another user has begun it, and it is not prepared",
            BranchError::Protocol => "the branch is not at a stage for this",
            BranchError::Invalid => "there can be no such branch",
            BranchError::Outside => "the connection has a unit of work of its own",
            BranchError::RolledBack => "it has been backed out",
            BranchError::Heuristic(Outcome::Committed) => "an operator has committed it",
            BranchError::Heuristic(Outcome::BackedOut) => "an operator has backed it out",
            BranchError::Failed(reason) => return write!(f, "{reason}"),
        })
    }
}

impl From<Reason> for BranchError {
    fn from(reason: Reason) -> Self {
        BranchError::Failed(reason)
    }
}
