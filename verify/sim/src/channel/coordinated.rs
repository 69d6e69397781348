//! Conversations whose units of work are branches of global transactions (XA): the calls of a transaction manager.
//!
//! Invariants:
//! * To the oracle a branch is the unit of work that it would be without: MQCMIT is its end and a commit in one phase or
//!   two, MQBACK its end and a rollback.
//! * What a call returns that it should not is a finding.

use posthaste_engine::{Done, Verb};
use posthaste_mqi::xa::*;
use posthaste_mqi::{Hobj, Reason, Xid};
use posthaste_wire::xa::{XaRequest, XaVerb};
use posthaste_wire::{Reply, Request};

use super::conversation::Conversation;

/// How far a conversation is with the transaction manager's calls.
#[derive(Default)]
pub(crate) struct Coordinated {
    /// XA_OPEN has come.
    open: bool,
    branch: Option<Xid>,
    /// How many branches it has begun.
    begun: u64,
}

impl Conversation {
    async fn xa(&self, verb: XaVerb, flags: u32) -> Result<i32, Reason> {
        let request = XaRequest {
            flags,
            resource_manager: 0,
            verb,
        };
        match self
            .request(Hobj::NONE, &Request::Xa(Box::new(request)))
            .await?
        {
            (_, Reply::Xa(reply)) => Ok(reply.returned),
            (outcome, _) => Err(outcome.reason),
        }
    }

    /// A verb returned what it may not return then. While the queue manager ends it may.
    fn returned(&self, what: &str, returned: i32) -> Reason {
        if returned != XAER_RMFAIL {
            self.site.stuck(format!("{what} returned {returned}"));
        }
        Reason::CONNECTION_BROKEN
    }

    /// The branch that its unit of work is.
    pub(crate) fn branch(&self) -> Option<Xid> {
        self.coordinated.as_ref()?.borrow().branch.clone()
    }

    /// Whether its next unit of work should be a branch, and is none yet.
    pub(crate) fn wants_branch(&self) -> bool {
        let coordinated = self.coordinated.as_ref();
        !self.is_over() && coordinated.is_some_and(|c| c.borrow().branch.is_none())
    }

    /// How many branches it has begun.
    fn begun(&self) -> u64 {
        self.coordinated.as_ref().map_or(0, |c| c.borrow().begun)
    }

    /// Begins a branch; what is lost meanwhile the next call will tell.
    pub(crate) async fn start_branch(&self, xid: &Xid) {
        let Some(coordinated) = &self.coordinated else {
            return;
        };
        if !coordinated.borrow().open {
            let info = Vec::new();
            match self.xa(XaVerb::Open { info }, TMNOFLAGS).await {
                Ok(XA_OK) => coordinated.borrow_mut().open = true,
                Ok(other) => {
                    self.returned("XA_OPEN", other);
                    return;
                }
                Err(_) => return,
            }
        }
        match self.xa(XaVerb::Start(xid.clone()), TMNOFLAGS).await {
            Ok(XA_OK) => {
                let mut state = coordinated.borrow_mut();
                state.begun += 1;
                state.branch = Some(xid.clone());
            }
            Ok(other) => _ = self.returned("XA_START", other),
            Err(_) => {}
        }
    }

    /// Suspends the branch and goes on with it; false: it is to be rolled back, and what is done now is no part of it.
    pub(crate) async fn suspend_branch(&self) -> Result<bool, Reason> {
        let Some(xid) = self.branch() else {
            return Ok(true);
        };
        let migrates = TMSUSPEND | TMMIGRATE;
        let suspend = [TMSUSPEND, migrates][(self.begun() % 2) as usize];
        match self.xa(XaVerb::End(xid.clone()), suspend).await? {
            XA_OK => {}
            XA_RBROLLBACK => return Ok(false),
            other => return Err(self.returned("XA_END of TMSUSPEND", other)),
        }
        self.site.met("branch suspended");
        match self.xa(XaVerb::Start(xid), TMRESUME).await? {
            XA_OK => Ok(true),
            // The system has backed it out meanwhile.
            XAER_NOTA => Ok(false),
            other => Err(self.returned("XA_START of TMRESUME", other)),
        }
    }

    /// The work on the branch is done; false: it has been backed out.
    pub(crate) async fn end_branch(&self, xid: &Xid, flags: u32) -> Result<bool, Reason> {
        if let Some(coordinated) = &self.coordinated {
            coordinated.borrow_mut().branch = None;
        }
        match self.xa(XaVerb::End(xid.clone()), flags).await? {
            XA_OK => Ok(true),
            // Not there any more, or only to be backed out.
            XA_RBROLLBACK | XAER_NOTA => {
                self.roll_back(xid).await?;
                Ok(false)
            }
            other => Err(self.returned("XA_END", other)),
        }
    }

    pub(crate) async fn roll_back(&self, xid: &Xid) -> Result<(), Reason> {
        match self.xa(XaVerb::Rollback(xid.clone()), TMNOFLAGS).await? {
            XA_OK | XAER_NOTA => Ok(()),
            other => Err(self.returned("XA_ROLLBACK", other)),
        }
    }

    /// XA_PREPARE: what it returned, of XA_OK, XA_RDONLY, XA_RBROLLBACK, XAER_NOTA and XAER_RMERR.
    pub(crate) async fn prepare_branch(&self, xid: &Xid) -> Result<i32, Reason> {
        match self.xa(XaVerb::Prepare(xid.clone()), TMNOFLAGS).await? {
            known @ (XA_OK | XA_RDONLY | XA_RBROLLBACK | XAER_NOTA | XAER_RMERR) => Ok(known),
            other => Err(self.returned("XA_PREPARE", other)),
        }
    }

    /// XA_COMMIT of a branch that is prepared; false: it has to be tried again.
    pub(crate) async fn commit_prepared(&self, xid: &Xid) -> Result<bool, Reason> {
        match self.xa(XaVerb::Commit(xid.clone()), TMNOFLAGS).await? {
            XA_OK => Ok(true),
            XA_RETRY => Ok(false),
            other => Err(self.returned("XA_COMMIT", other)),
        }
    }

    /// MQCMIT of a branch: its end, and a commit in one phase.
    pub(super) async fn commit_one_phase(&self, xid: &Xid) -> Verb<()> {
        if !self.end_branch(xid, TMSUCCESS).await? {
            return Err(Reason::BACKED_OUT);
        }
        self.site.met("branch committed in one phase");
        match self.xa(XaVerb::Commit(xid.clone()), TMONEPHASE).await? {
            XA_OK => Ok(Done::ok(())),
            // The system may have backed it out when it was idle.
            XA_RBROLLBACK | XA_RBTRANSIENT | XAER_NOTA => Err(Reason::BACKED_OUT),
            other => Err(self.returned("XA_COMMIT of TMONEPHASE", other)),
        }
    }

    /// MQBACK of a branch.
    pub(super) async fn back_branch_out(&self, xid: &Xid) -> Verb<()> {
        let flags = [TMSUCCESS, TMFAIL][(self.begun() % 2) as usize];
        self.site.met("branch rolled back");
        if self.end_branch(xid, flags).await? {
            self.roll_back(xid).await?;
        }
        Ok(Done::ok(()))
    }
}
