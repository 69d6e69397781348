//! Units of work as an operator sees them, and what he may decide about branches that are in doubt.
//!
//! Invariants: a decision is about a branch that he has named by its number, which is never used again. It needs the authority
//! to change the queue manager, which nobody but an administrator has (manual: "rsvmqtrn": members of the group mqm). Whoever
//! audits hears of each, carried out or not.

use posthaste_authority::Authority;
use posthaste_engine::{
    Application, AuditEvent, AuditKind, BranchError, Issuer, Need, Outcome, TransactionStatus,
};
use posthaste_mqi::Reason;

use crate::audit;
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

impl Decision {
    /// The option of rsvmqtrn that asks for it.
    fn option(self) -> &'static str {
        match self {
            Decision::Commit => "-c",
            Decision::BackOut => "-b",
            Decision::Forget => "-f",
        }
    }
}

/// Why a decision was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// There is no unit of work of this number.
    Unknown,
    /// It cannot be decided so, for this reason.
    Refused(String),
}

/// Why, with the reason code that comes nearest to it.
struct NotCarriedOut(Undecided, Reason);

fn refused(why: &str) -> NotCarriedOut {
    NotCarriedOut(Undecided::Refused(why.to_owned()), Reason::UNEXPECTED_ERROR)
}

const UNKNOWN: NotCarriedOut = NotCarriedOut(Undecided::Unknown, Reason::UNEXPECTED_ERROR);

/// The number of a unit of work as dspmqtrn shows it.
pub fn transaction_number(id: u64) -> String {
    format!("{},{}", id >> 32, id & 0xFFFF_FFFF)
}

impl Admin {
    /// Every unit of work, and every branch that is remembered.
    pub fn transactions(&self) -> Vec<TransactionStatus> {
        self.queue_manager().transactions()
    }

    /// Decides about a branch for an application's user.
    ///
    /// # Errors
    /// As [`Admin::decide`]; nobody could say who that is.
    pub async fn decide_as(
        &self,
        who: Application,
        number: u64,
        decision: Decision,
    ) -> Result<(), Undecided> {
        match self.queue_manager().issuer(who).await {
            Ok(issuer) => self.decide(&issuer, number, decision).await,
            Err(reason) => Err(Undecided::Refused(reason.to_string())),
        }
    }

    /// Decides about a branch.
    ///
    /// # Errors
    /// It is not there, or is not at a stage for this, or the issuer may not.
    pub async fn decide(
        &self,
        issuer: &Issuer,
        number: u64,
        decision: Decision,
    ) -> Result<(), Undecided> {
        let qm = self.queue_manager();
        let found = self.transactions().into_iter().find(|t| t.id == number);
        let branch = found.as_ref().and_then(|found| found.branch.as_ref());
        let owner = branch.and_then(|xid| qm.branch_owner(xid));
        let decided = self
            .carry_out_decision(issuer, found.as_ref(), decision)
            .await;
        let (reason, because) = match &decided {
            Ok(()) => (Reason::NONE, String::new()),
            Err(NotCarriedOut(Undecided::Unknown, reason)) => {
                (*reason, "there is no such transaction".to_owned())
            }
            Err(NotCarriedOut(Undecided::Refused(why), reason)) => (*reason, why.clone()),
        };
        qm.operator().audit(AuditEvent {
            who: audit::of(issuer),
            command: format!(
                "rsvmqtrn {} {}",
                decision.option(),
                transaction_number(number)
            ),
            object: branch.map_or_else(String::new, ToString::to_string),
            owner: owner.unwrap_or_default(),
            because,
            ..AuditEvent::new(AuditKind::BranchDecided, reason)
        });
        decided.map_err(|NotCarriedOut(why, _)| why)
    }

    async fn carry_out_decision(
        &self,
        issuer: &Issuer,
        found: Option<&TransactionStatus>,
        decision: Decision,
    ) -> Result<(), NotCarriedOut> {
        let qm = self.queue_manager();
        // Before whether there is such a branch, which is nobody's business who may not decide.
        qm.demand(issuer, Need::manager(Authority::Change.into()))
            .map_err(|refusal| {
                let [user, missing, ..] = refusal.inserts();
                let why = format!("{user} lacks the authority {missing} on the queue manager");
                NotCarriedOut(Undecided::Refused(why), Reason::NOT_AUTHORIZED)
            })?;
        let found = found.ok_or(UNKNOWN)?;
        let own = "it is an application's own, which decides about it";
        let xid = found.branch.as_ref().ok_or_else(|| refused(own))?;
        let decided = match decision {
            Decision::Commit => qm.decide(xid, Outcome::Committed).await,
            Decision::BackOut => qm.decide(xid, Outcome::BackedOut).await,
            Decision::Forget => qm.forget(xid).await,
        };
        decided.map_err(|error| match (error, decision) {
            (BranchError::Unknown, _) => UNKNOWN,
            (BranchError::Heuristic(Outcome::Committed), _) => refused("it has been committed"),
            (BranchError::Heuristic(Outcome::BackedOut), _) => refused("it has been backed out"),
            (BranchError::Failed(reason), _) => {
                NotCarriedOut(Undecided::Refused(reason.to_string()), reason)
            }
            (_, Decision::Forget) => refused("nobody has decided about it"),
            (_, _) => refused("it is not prepared"),
        })
    }
}
