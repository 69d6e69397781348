//! Units of work as an operator sees them, and what he may decide about branches that are in doubt.
//!
//! Invariant: a decision is about a branch that he has named by its number, which is never used again.

use posthaste_engine::{BranchError, Outcome, TransactionStatus};

use crate::execute::Admin;

/// What an operator decides about a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Commit it.
    Commit,
    /// Back it out.
    BackOut,
    /// Forget how it was decided.
    Forget,
}

/// Why a decision was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// There is no unit of work of this number.
    Unknown,
    /// It cannot be decided so, for this reason.
    Refused(String),
}

impl Admin {
    /// Every unit of work, and every branch that is remembered.
    pub fn transactions(&self) -> Vec<TransactionStatus> {
        self.queue_manager().transactions()
    }

    /// Decides about a branch.
    ///
    /// # Errors
    /// It is not there, or is not at a stage for this.
    pub async fn decide(&self, number: u64, decision: Decision) -> Result<(), Undecided> {
        let found = self.transactions().into_iter().find(|t| t.id == number);
        let found = found.ok_or(Undecided::Unknown)?;
        let refused = |why: &str| Undecided::Refused(why.to_owned());
        let Some(xid) = &found.branch else {
            return Err(refused(
                "it is an application's own, which decides about it",
            ));
        };
        let qm = self.queue_manager();
        let decided = match decision {
            Decision::Commit => qm.decide(xid, Outcome::Committed).await,
            Decision::BackOut => qm.decide(xid, Outcome::BackedOut).await,
            Decision::Forget => qm.forget(xid).await,
        };
        decided.map_err(|error| match (error, decision) {
            (BranchError::Unknown, _) => Undecided::Unknown,
            (BranchError::Heuristic(Outcome::Committed), _) => refused("it has been committed"),
            (BranchError::Heuristic(Outcome::BackedOut), _) => refused("it has been backed out"),
            (BranchError::Failed(reason), _) => Undecided::Refused(reason.to_string()),
            (_, Decision::Forget) => refused("nobody has decided about it"),
            (_, _) => refused("it is not prepared"),
        })
    }
}
