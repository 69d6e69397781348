//! Branches of global transactions: prepare, and what comes of it; the calls of a resource manager (XA) that are about
//! a branch whose work is done, and those of an operator.

use posthaste_mqi::Reason;

use crate::manager::Inner;
use crate::queue_manager::QueueManager;
use crate::session::{Session, SessionInner};
use crate::unit::branch::{BranchError, InDoubt, Outcome, Prepare, Resolution, Vote, Xid};
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;
use std::sync::Arc;

impl SessionInner {
    async fn prepare_branch(&self, xid: &Xid) -> Result<Vote, BranchError> {
        let qm = &self.qm;
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            let Some(unit) = self.lock().unit.take() else {
                return match qm.units.branch(xid) {
                    Some(_) => Err(BranchError::Duplicate),
                    None => Ok(Vote::ReadOnly),
                };
            };
            if !qm.units.name(xid, &unit) {
                self.lock().unit = Some(unit);
                return Err(BranchError::Duplicate);
            }
            let prepare = unit.begin_prepare(qm, xid);
            if !matches!(prepare, Prepare::Appended(_)) {
                qm.units.unname(xid);
            }
            match prepare {
                Prepare::Appended(end) => {
                    let pending = Pending {
                        qm,
                        end,
                        effect: Some(Effect::Prepared(unit)),
                    };
                    pending.done().await?;
                    return Ok(Vote::Prepared);
                }
                Prepare::ReadOnly => return Ok(Vote::ReadOnly),
                Prepare::BackedOut => return Err(BranchError::RolledBack),
                Prepare::Doomed => {
                    self.back_out(unit).await?;
                    return Err(BranchError::RolledBack);
                }
                Prepare::Refused(error) => {
                    self.lock().unit = Some(unit);
                    log_space_wait.wait(qm, error).await?;
                }
            }
        }
    }
}

impl Inner {
    async fn resolve(self: &Arc<Self>, xid: &Xid, how: Resolution) -> Result<(), BranchError> {
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            let unit = self.units.branch(xid).ok_or(BranchError::Unknown)?;
            match unit.begin_resolution(self, how)? {
                Ok((end, effect)) => {
                    let pending = Pending {
                        qm: self,
                        end,
                        effect: Some(effect),
                    };
                    return Ok(pending.done().await?);
                }
                Err(error) => log_space_wait.wait(self, error).await?,
            }
        }
    }
}

impl Session {
    /// Prepares the connection's unit of work as a branch: from now on somebody else decides about it, by any
    /// connection, and this one has none.
    ///
    /// # Errors
    /// [`BranchError::Duplicate`], after which the unit of work goes on; [`BranchError::RolledBack`], after which it
    /// has ended; the reasons of [`Session::commit`].
    pub async fn prepare(&self, xid: &Xid) -> Result<Vote, BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        session.settled().await?;
        session.prepare_branch(xid).await
    }

    /// Commits or backs out a branch that is prepared. When it returns without error, that is forced to the log.
    ///
    /// # Errors
    /// [`BranchError::Unknown`], [`BranchError::Protocol`], [`BranchError::Heuristic`]; 2102 the log is full, 2009 the
    /// outcome is decided by the restart.
    pub async fn resolve(&self, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        session.qm.resolve(xid, Resolution::Decided(outcome)).await
    }

    /// Forgets a branch that was completed heuristically.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn forget(&self, xid: &Xid) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        session.qm.resolve(xid, Resolution::Forgotten).await
    }

    /// The branches that are prepared, or completed heuristically and not forgotten.
    ///
    /// # Errors
    /// 2009, 2162 queue manager; 2018 connection.
    pub fn recover(&self) -> Result<Vec<Xid>, Reason> {
        let session = self.inner();
        let _call = session.enter()?;
        let all = session.qm.units.in_doubt().into_iter();
        Ok(all.map(|branch| branch.xid).collect())
    }
}

impl QueueManager {
    /// The branches that are not resolved, for an operator.
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.inner().units.in_doubt()
    }

    /// An operator decides about a branch whose transaction manager does not. It is remembered how, until the
    /// transaction manager has learned of it and forgets the branch.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn decide(&self, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
        self.inner().lifecycle.running()?;
        let resolution = Resolution::Heuristic(outcome);
        self.inner().resolve(xid, resolution).await
    }
}
