//! Branches of global transactions: the calls of a resource manager (XA), and those of an operator.
//!
//! Invariants: what these calls answer is what the tables of the XA specification say of the state of a branch and of a
//! connection. Flags and numbers are for whoever calls. Where authorities are checked, nobody works on, prepares or ends a branch that is
//! not prepared but the user who has begun it; once it is, whoever coordinates it does, and that may be anybody.

use posthaste_mqi::Reason;
use posthaste_mqi::xa::{
    TMFAIL, TMJOIN, TMMIGRATE, TMNOFLAGS, TMONEPHASE, TMRESUME, TMSUCCESS, TMSUSPEND,
};
use posthaste_recovery_log::LogError;

use crate::manager::Inner;
use crate::queue_manager::QueueManager;
use crate::session::{Session, SessionInner};
use crate::unit::branch::{
    Begun, BranchError, InDoubt, Outcome, Prepare, Preparer, Resolution, Vote, Wanted, Xid,
};
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;
use crate::unit::ongoing::{End, Ongoing, Start};
use crate::unit::{Backout, Commit, Stage, Unit};
use crate::verbs::xa_decided::Deciding;
use std::sync::Arc;

impl SessionInner {
    /// The branch of this name, if it is for this connection's user to work on or to end.
    fn branch_for_this(&self, xid: &Xid) -> Result<Arc<Unit>, BranchError> {
        let unit = self.qm.units.branch(xid).ok_or(BranchError::Unknown)?;
        match self.is_checked && !unit.is_for(&self.who.user) {
            true => Err(BranchError::Anothers),
            false => Ok(unit),
        }
    }

    /// Associates the connection with a branch.
    fn start_branch(&self, xid: &Xid, how: Start) -> Result<(), BranchError> {
        let mut state = self.lock();
        if state.is_released() {
            return Err(BranchError::Failed(Reason::HCONN_ERROR));
        }
        if state.branch.is_some() {
            return Err(BranchError::Protocol);
        }
        if let Some(own) = &state.unit {
            let mut work = own.lock();
            if work.stage != Stage::Active || work.doomed || !work.ops.is_empty() {
                return Err(BranchError::Outside);
            }
            own.leave(&mut work, &self.qm);
        }
        state.unit = None;
        let (unit, is_new) = match how {
            Start::New if !state.worked_on.has_room() => {
                return Err(BranchError::Failed(Reason::RESOURCE_PROBLEM));
            }
            Start::New => (self.new_branch(xid)?, true),
            Start::Join | Start::Resume => {
                let unit = self.branch_for_this(xid)?;
                let is_new = unit.associate(self.id, how, &self.qm)?;
                (unit, is_new)
            }
        };
        if is_new {
            state.worked_on.add(&unit);
        }
        state.unit = Some(unit);
        state.branch = Some(Box::new(xid.clone()));
        Ok(())
    }

    fn new_branch(&self, xid: &Xid) -> Result<Arc<Unit>, BranchError> {
        let qm = &self.qm;
        if qm.units.branch(xid).is_some() {
            return Err(BranchError::Duplicate);
        }
        let beginning = (qm.next_uow(), qm.clock.now());
        let unit = qm.units.begin(self.id, beginning, None);
        // Before anybody can find it.
        unit.lock().ongoing = Some(Box::new(Ongoing::begin(xid, self.id, &self.who)));
        if !qm.units.name(xid, &unit) {
            let mut work = unit.lock();
            // The name is somebody else's.
            work.ongoing = None;
            unit.leave(&mut work, qm);
            drop(work);
            return Err(BranchError::Duplicate);
        }
        Ok(unit)
    }

    /// Ends the connection's association with a branch, or what is suspended.
    fn end_branch(&self, xid: &Xid, how: End) -> Result<(), BranchError> {
        let mut state = self.lock();
        let own = state.branch.as_deref() == Some(xid);
        let unit = self.branch_for_this(xid);
        if own {
            let is_it =
                |found: &Arc<Unit>| state.unit.as_ref().is_some_and(|u| Arc::ptr_eq(u, found));
            if !unit.as_ref().is_ok_and(is_it) {
                // The system has backed it out, or the end of another connection has.
                (state.unit, state.branch) = (None, None);
                return Err(BranchError::RolledBack);
            }
        }
        let unit = unit?;
        let mut work = unit.lock();
        let (stage, doomed) = (work.stage, work.doomed);
        let rolled_back = match &mut work.ongoing {
            Some(ongoing) => {
                ongoing.dissociate(self.id, how)?;
                ongoing.rollback_only |= doomed;
                stage != Stage::Active || ongoing.rollback_only && how != End::Fail
            }
            None if own => true,
            None => return Err(BranchError::Protocol),
        };
        drop(work);
        if own {
            (state.unit, state.branch) = (None, None);
        }
        match rolled_back {
            true => Err(BranchError::RolledBack),
            false => Ok(()),
        }
    }

    /// Waits for what has been begun with a branch that was idle.
    async fn see_through_end(
        &self,
        unit: &Arc<Unit>,
        begun: Begun,
    ) -> Result<Result<Vote, LogError>, BranchError> {
        let (end, effect, vote) = match begun {
            Begun::Backout(backout) => {
                self.finish_backout(Arc::clone(unit), backout).await?;
                return Err(BranchError::RolledBack);
            }
            Begun::Prepare(Prepare::ReadOnly) => return Ok(Ok(Vote::ReadOnly)),
            Begun::Prepare(Prepare::Refused(error)) | Begun::Commit(Commit::Refused(error)) => {
                return Ok(Err(error));
            }
            // Its stage and its messages were looked at under the same lock.
            Begun::Prepare(Prepare::BackedOut | Prepare::Doomed)
            | Begun::Commit(Commit::BackedOut | Commit::Doomed) => {
                return Err(BranchError::RolledBack);
            }
            Begun::Prepare(Prepare::Appended(end)) => {
                (end, Effect::Prepared(Arc::clone(unit)), Vote::Prepared)
            }
            Begun::Commit(Commit::Appended(end)) => {
                (end, Effect::Commit(Arc::clone(unit)), Vote::Prepared)
            }
        };
        let qm = &self.qm;
        let effect = Some(effect);
        Pending { qm, end, effect }.done().await?;
        Ok(Ok(vote))
    }

    fn preparer(&self) -> Preparer {
        Preparer {
            session: self.id,
            who: Arc::clone(&self.who),
        }
    }

    async fn end_idle(&self, xid: &Xid, wanted: Wanted) -> Result<Vote, BranchError> {
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            let unit = self.branch_for_this(xid)?;
            let begun = unit.begin_end_of_idle(&self.qm, xid, wanted)?;
            if let Begun::Prepare(Prepare::Appended(_)) = &begun {
                unit.set_preparer(self.preparer());
            }
            match self.see_through_end(&unit, begun).await? {
                Ok(vote) => return Ok(vote),
                Err(error) => log_space_wait.wait(&self.qm, error).await?,
            }
        }
    }

    async fn commit_one_phase(&self, xid: &Xid) -> Result<(), BranchError> {
        let known = self.branch_for_this(xid)?;
        if let Some(outcome) = known.settled() {
            return Err(BranchError::Heuristic(outcome));
        }
        self.end_idle(xid, Wanted::Commit).await.map(drop)
    }

    async fn roll_back(&self, xid: &Xid) -> Result<(), BranchError> {
        let known = self.branch_for_this(xid)?;
        match known.is_prepared_or_later() {
            false => match self.end_idle(xid, Wanted::Backout).await {
                Ok(_) | Err(BranchError::RolledBack) => Ok(()),
                Err(error) => Err(error),
            },
            true => {
                let how = Resolution::Decided(Outcome::BackedOut);
                self.qm.resolve(xid, how).await
            }
        }
    }

    /// Of one that is not prepared others do not learn by this either that it is there.
    async fn resolve(&self, xid: &Xid, how: Resolution) -> Result<(), BranchError> {
        self.branch_for_this(xid)?;
        self.qm.resolve(xid, how).await
    }

    async fn prepare_unit(&self, xid: &Xid) -> Result<Vote, BranchError> {
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
                    unit.set_preparer(self.preparer());
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

/// Work on a branch is for nobody's ears, but that somebody has tried it on another user's.
fn refused_as_anothers(
    session: &SessionInner,
    xid: &Xid,
    call: (&'static str, u32),
    result: Result<(), BranchError>,
) -> Result<(), BranchError> {
    match result {
        Err(BranchError::Anothers) => Deciding::begin(session, xid, call).done(result),
        other => other,
    }
}

impl Session {
    /// Begins to work on a branch, or to work on it again (xa_start): from now on the connection's unit of work is the
    /// branch's.
    ///
    /// # Errors
    /// [`BranchError::Invalid`], [`BranchError::Duplicate`], [`BranchError::Unknown`], [`BranchError::Anothers`], [`BranchError::Protocol`],
    /// [`BranchError::Outside`]; [`BranchError::RolledBack`] the branch is to be backed out; 2102 the connection has 10,000
    /// that are not prepared; 2009, 2018, 2162, 2219.
    pub async fn start_branch(&self, xid: &Xid, how: Start) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        if !xid.is_of_a_branch() {
            return Err(BranchError::Invalid);
        }
        session.settled().await?;
        let started = session.start_branch(xid, how);
        let flags = match how {
            Start::New => TMNOFLAGS,
            Start::Join => TMJOIN,
            Start::Resume => TMRESUME,
        };
        refused_as_anothers(session, xid, ("XA_START", flags), started)
    }

    /// Ends the connection's work on a branch, or work that is suspended (xa_end).
    ///
    /// # Errors
    /// [`BranchError::Unknown`], [`BranchError::Anothers`], [`BranchError::Protocol`]; [`BranchError::RolledBack`] the work has ended, and the branch
    /// is backed out or to be backed out; 2009, 2018, 2162, 2219.
    pub async fn end_branch(&self, xid: &Xid, how: End) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        session.settled().await?;
        let ended = session.end_branch(xid, how);
        let flags = match how {
            End::Success => TMSUCCESS,
            End::Fail => TMFAIL,
            End::Suspend { migrate: false } => TMSUSPEND,
            End::Suspend { migrate: true } => TMSUSPEND | TMMIGRATE,
        };
        refused_as_anothers(session, xid, ("XA_END", flags), ended)
    }

    /// Prepares a branch that nobody works on (xa_prepare): it is in doubt until it is resolved.
    ///
    /// # Errors
    /// [`BranchError::Unknown`], [`BranchError::Anothers`], [`BranchError::Protocol`]; [`BranchError::RolledBack`], after which it has ended; 2102 the
    /// log is full, and the branch is as it was; 2009 the outcome is decided by the restart.
    pub async fn prepare_branch(&self, xid: &Xid) -> Result<Vote, BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        let deciding = Deciding::begin(session, xid, ("XA_PREPARE", TMNOFLAGS));
        deciding.done(session.end_idle(xid, Wanted::Prepare).await)
    }

    /// Commits a branch that nobody works on and that is not prepared (xa_commit with TMONEPHASE).
    ///
    /// # Errors
    /// As [`Session::prepare_branch`], and [`BranchError::Heuristic`].
    pub async fn commit_one_phase(&self, xid: &Xid) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        let deciding = Deciding::begin(session, xid, ("XA_COMMIT", TMONEPHASE));
        deciding.done(session.commit_one_phase(xid).await)
    }

    /// Backs out a branch, prepared or not (xa_rollback).
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn roll_back(&self, xid: &Xid) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        let deciding = Deciding::begin(session, xid, ("XA_ROLLBACK", TMNOFLAGS));
        deciding.done(session.roll_back(xid).await)
    }

    /// The branch that the connection is associated with.
    pub fn branch(&self) -> Option<Xid> {
        self.inner().lock().branch.as_deref().cloned()
    }

    /// Prepares the connection's own unit of work as a branch, in one call: from now on somebody else decides about it, by any
    /// connection, and this one has none.
    ///
    /// # Errors
    /// [`BranchError::Duplicate`], after which the unit of work goes on; [`BranchError::RolledBack`], after which it
    /// has ended; the reasons of [`Session::commit`].
    pub async fn prepare(&self, xid: &Xid) -> Result<Vote, BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        session.settled().await?;
        session.prepare_unit(xid).await
    }

    /// Commits or backs out a branch that is prepared. When it returns without error, that is forced to the log.
    ///
    /// # Errors
    /// [`BranchError::Unknown`], [`BranchError::Anothers`], [`BranchError::Protocol`], [`BranchError::Heuristic`]; 2102 the log is full, 2009 the
    /// outcome is decided by the restart.
    pub async fn resolve(&self, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        let call = match outcome {
            Outcome::Committed => "XA_COMMIT",
            Outcome::BackedOut => "XA_ROLLBACK",
        };
        let deciding = Deciding::begin(session, xid, (call, TMNOFLAGS));
        deciding.done(session.resolve(xid, Resolution::Decided(outcome)).await)
    }

    /// Forgets a branch that was completed heuristically.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn forget(&self, xid: &Xid) -> Result<(), BranchError> {
        let session = self.inner();
        let _call = session.enter()?;
        let deciding = Deciding::begin(session, xid, ("XA_FORGET", TMNOFLAGS));
        deciding.done(session.resolve(xid, Resolution::Forgotten).await)
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
    /// The user who has prepared a branch, or has begun it if it is not prepared; none: nobody knows, for a restart has found
    /// it, or there is none.
    pub fn branch_owner(&self, xid: &Xid) -> Option<String> {
        let standing = self.inner().units.branch(xid)?.standing(0, "");
        Some(standing.owner?.user.clone())
    }

    /// The branches that are not resolved, for an operator.
    pub fn in_doubt(&self) -> Vec<InDoubt> {
        self.inner().units.in_doubt()
    }

    /// An operator decides about a branch whose transaction manager does not. It is remembered how, until the
    /// transaction manager has learned of it and forgets the branch. One that is not prepared, and whose applications have
    /// all gone, can be backed out; nothing is remembered of it, for its transaction manager was promised nothing.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn decide(&self, xid: &Xid, outcome: Outcome) -> Result<(), BranchError> {
        let qm = self.inner();
        qm.lifecycle.running()?;
        let unit = qm.units.branch(xid).ok_or(BranchError::Unknown)?;
        if outcome == Outcome::BackedOut && unit.is_abandoned() {
            return match unit.begin_end_of_idle(qm, xid, Wanted::Backout)? {
                Begun::Backout(Backout::Once(end)) => {
                    let effect = Some(Effect::Backout(unit));
                    Ok(Pending { qm, end, effect }.done().await?)
                }
                Begun::Backout(Backout::Now) => {
                    unit.undo(qm);
                    Ok(())
                }
                _ => Ok(()),
            };
        }
        let resolution = Resolution::Heuristic(outcome);
        self.inner().resolve(xid, resolution).await
    }

    /// An operator forgets a branch that was completed heuristically, in place of a transaction manager that is no more.
    ///
    /// # Errors
    /// As [`Session::resolve`].
    pub async fn forget(&self, xid: &Xid) -> Result<(), BranchError> {
        self.inner().lifecycle.running()?;
        self.inner().resolve(xid, Resolution::Forgotten).await
    }
}
