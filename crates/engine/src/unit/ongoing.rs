//! Which connections work on a branch that is not prepared.
//!
//! Invariants:
//! * A connection is associated with a branch, or has suspended its work on it, or neither; it is associated with one
//!   branch at the most. Several may be associated with one.
//! * A branch is idle when nobody is associated with it and nobody's work on it is suspended: only then is it prepared,
//!   committed or backed out by a call.
//! * It lives no longer than the connections that have worked on it, unless the last of them has ended in order while it
//!   was idle: who else could be relied on to end it? What becomes of it then is for whoever coordinates it to say, as
//!   MQ's manual has it of MQDISC; of such there is a limit ([`branches`](super::branches)).

use std::sync::Arc;

use posthaste_mqi::Xid;

use super::branches::LeftPlace;
use super::outcome::BranchError;
use crate::application::Application;

/// How work on a branch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A new branch (TMNOFLAGS).
    New,
    /// One that is there (TMJOIN).
    Join,
    /// What was suspended goes on (TMRESUME).
    Resume,
}

/// How work on a branch ends for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is done (TMSUCCESS).
    Success,
    /// It has failed, and the branch is to be backed out (TMFAIL).
    Fail,
    /// It will go on (TMSUSPEND).
    Suspend {
        /// On whatever connection (TMMIGRATE).
        migrate: bool,
    },
}

struct Suspended {
    session: u64,
    migrates: bool,
}

/// The connections that work on a branch.
pub(crate) struct Ongoing {
    pub(crate) xid: Xid,
    /// The application whose connection has begun it.
    pub(crate) begun_by: Arc<Application>,
    associated: Vec<u64>,
    suspended: Vec<Suspended>,
    /// Who has worked on it, and is still connected.
    workers: Vec<u64>,
    /// Its place among those whose last worker has ended in order.
    pub(crate) left: Option<LeftPlace>,
    pub(crate) rollback_only: bool,
}

impl Ongoing {
    /// A branch that a connection begins.
    pub(crate) fn begin(xid: &Xid, session: u64, begun_by: &Arc<Application>) -> Ongoing {
        Ongoing {
            xid: xid.clone(),
            begun_by: Arc::clone(begun_by),
            associated: vec![session],
            suspended: Vec::new(),
            workers: vec![session],
            left: None,
            rollback_only: false,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.associated.is_empty() && self.suspended.is_empty()
    }

    /// The connections that are associated with it.
    pub(crate) fn associated(&self) -> &[u64] {
        &self.associated
    }

    /// Whether nobody works on it, nor anybody who has is connected.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_idle() && self.workers.is_empty()
    }

    /// The connections that have worked on it and are there still.
    pub(crate) fn workers(&self) -> &[u64] {
        &self.workers
    }

    fn is_worker(&self, session: u64) -> bool {
        self.workers.contains(&session)
    }

    fn suspended_by(&self, session: u64) -> Option<usize> {
        let own = self.suspended.iter().position(|s| s.session == session);
        own.or_else(|| self.suspended.iter().position(|s| s.migrates))
    }

    /// A connection that is associated with none begins to work on it, or goes on; whether it had not worked on it before.
    ///
    /// # Errors
    /// [`BranchError::Protocol`] nothing is suspended that it could go on with; [`BranchError::RolledBack`] the branch is
    /// to be backed out.
    pub(crate) fn associate(&mut self, session: u64, how: Start) -> Result<bool, BranchError> {
        let suspended = match how {
            Start::Resume => Some(self.suspended_by(session).ok_or(BranchError::Protocol)?),
            Start::New | Start::Join => None,
        };
        if self.rollback_only {
            return Err(BranchError::RolledBack);
        }
        if let Some(at) = suspended {
            self.suspended.swap_remove(at);
        }
        self.associated.push(session);
        let is_new = !self.is_worker(session);
        if is_new {
            self.workers.push(session);
        }
        Ok(is_new)
    }

    /// The work of a connection on it ends, or what is suspended does.
    ///
    /// # Errors
    /// [`BranchError::Protocol`] there is nothing that could end so.
    pub(crate) fn dissociate(&mut self, session: u64, how: End) -> Result<(), BranchError> {
        match self.associated.iter().position(|id| *id == session) {
            Some(at) => {
                self.associated.swap_remove(at);
                if let End::Suspend { migrate: migrates } = how {
                    self.suspended.push(Suspended { session, migrates });
                }
            }
            None => {
                let suspends = matches!(how, End::Suspend { .. });
                let at = self.suspended_by(session).filter(|_| !suspends);
                self.suspended.swap_remove(at.ok_or(BranchError::Protocol)?);
            }
        }
        self.rollback_only |= how == End::Fail;
        Ok(())
    }

    /// A connection has ended; whether the branch has to be backed out for it.
    pub(super) fn leave(&mut self, session: u64, in_order: bool) -> bool {
        let unfinished = self.associated.contains(&session)
            || self.suspended.iter().any(|s| s.session == session);
        self.associated.retain(|id| *id != session);
        self.suspended.retain(|s| s.session != session);
        self.workers.retain(|id| *id != session);
        unfinished || self.workers.is_empty() && !in_order
    }
}
