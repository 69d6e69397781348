//! The verbs of a resource manager (XA): flags in, return values out.
//!
//! Invariants: a flag that a verb does not have is refused (XAER_INVAL), and so is a verb that should not be waited for
//! (XAER_ASYNC): none is carried out that way. Between XA_OPEN and XA_CLOSE the verbs are served, outside they may not
//! come (XAER_PROTO). What they come to is the engine's; here it gets the number that the XA specification gives it.

use std::collections::VecDeque;

use posthaste_engine::{BranchError, End, Outcome, Session, Start, Vote};
use posthaste_mqi::xa::*;
use posthaste_mqi::{Reason, Xid};
use posthaste_wire::xa::{XaReply, XaRequest, XaVerb};

/// What a conversation keeps between its XA verbs.
#[derive(Default)]
pub(crate) struct ResourceManager {
    open: bool,
    /// What the scan of XA_RECOVER has not given yet.
    scan: Option<VecDeque<Xid>>,
}

/// A return value that is not XA_OK.
struct Refused(i32);

type Xa<T> = Result<T, Refused>;

impl From<Reason> for Refused {
    fn from(_: Reason) -> Refused {
        Refused(XAER_RMFAIL)
    }
}

impl From<BranchError> for Refused {
    fn from(error: BranchError) -> Refused {
        Refused(match error {
            BranchError::Unknown | BranchError::Anothers => XAER_NOTA,
            BranchError::Duplicate => XAER_DUPID,
            BranchError::Protocol => XAER_PROTO,
            BranchError::Invalid => XAER_INVAL,
            BranchError::Outside => XAER_OUTSIDE,
            BranchError::RolledBack => XA_RBROLLBACK,
            BranchError::Heuristic(Outcome::Committed) => XA_HEURCOM,
            BranchError::Heuristic(Outcome::BackedOut) => XA_HEURRB,
            BranchError::Failed(Reason::RESOURCE_PROBLEM) => XAER_RMERR,
            BranchError::Failed(Reason::CALL_IN_PROGRESS) => XAER_PROTO,
            BranchError::Failed(_) => XAER_RMFAIL,
        })
    }
}

/// Refuses what is not among `known`.
fn check(flags: u32, known: u32) -> Xa<()> {
    if flags & TMASYNC != 0 {
        return Err(Refused(XAER_ASYNC));
    }
    match flags & !known {
        0 => Ok(()),
        _ => Err(Refused(XAER_INVAL)),
    }
}

fn start_flags(flags: u32) -> Xa<Start> {
    check(flags, TMJOIN | TMRESUME | TMNOWAIT)?;
    match (flags & TMJOIN != 0, flags & TMRESUME != 0) {
        (true, true) => Err(Refused(XAER_INVAL)),
        (true, false) => Ok(Start::Join),
        (false, true) => Ok(Start::Resume),
        (false, false) => Ok(Start::New),
    }
}

fn end_flags(flags: u32) -> Xa<End> {
    check(flags, TMSUSPEND | TMMIGRATE | TMSUCCESS | TMFAIL)?;
    match flags {
        TMSUCCESS => Ok(End::Success),
        TMFAIL => Ok(End::Fail),
        TMSUSPEND => Ok(End::Suspend { migrate: false }),
        _ if flags == TMSUSPEND | TMMIGRATE => Ok(End::Suspend { migrate: true }),
        _ => Err(Refused(XAER_INVAL)),
    }
}

impl ResourceManager {
    /// Carries out a verb.
    pub(crate) async fn carry_out(
        &mut self,
        session: Option<&Session>,
        request: &XaRequest,
    ) -> XaReply {
        let mut xids = None;
        let done = match session {
            Some(session) => self.verb(session, request, &mut xids).await,
            // Without MQCONN there is no resource manager.
            None => Err(Refused(XAER_PROTO)),
        };
        XaReply {
            returned: done.unwrap_or_else(|Refused(code)| code),
            flags: request.flags,
            resource_manager: request.resource_manager,
            xids,
        }
    }

    async fn verb(
        &mut self,
        session: &Session,
        request: &XaRequest,
        xids: &mut Option<Vec<Xid>>,
    ) -> Xa<i32> {
        let flags = request.flags;
        match &request.verb {
            XaVerb::Open { info } => self.open(session, info, flags)?,
            XaVerb::Close { .. } => self.close(session, flags)?,
            // Nothing is ever carried out that it could be about.
            XaVerb::Complete => return Err(Refused(XAER_PROTO)),
            _ if !self.open => return Err(Refused(XAER_PROTO)),
            XaVerb::Start(xid) => session.start_branch(xid, start_flags(flags)?).await?,
            XaVerb::End(xid) => session.end_branch(xid, end_flags(flags)?).await?,
            XaVerb::Prepare(xid) => {
                check(flags, TMNOFLAGS)?;
                return Ok(match session.prepare_branch(xid).await? {
                    Vote::Prepared => XA_OK,
                    Vote::ReadOnly => XA_RDONLY,
                });
            }
            XaVerb::Commit(xid) => commit(session, xid, flags).await?,
            XaVerb::Rollback(xid) => {
                check(flags, TMNOFLAGS)?;
                session.roll_back(xid).await?;
            }
            XaVerb::Forget(xid) => {
                check(flags, TMNOFLAGS)?;
                session.forget(xid).await?;
            }
            XaVerb::Recover { count } => {
                let found = self.recover(session, *count, flags)?;
                let returned = i32::try_from(found.len()).unwrap_or(i32::MAX);
                *xids = Some(found);
                return Ok(returned);
            }
        }
        Ok(XA_OK)
    }

    /// XA_OPEN. What it names is the queue manager that the conversation is connected to, as in MQCONN, or how to get
    /// there (`CHANNEL=...,`), which is past.
    fn open(&mut self, session: &Session, info: &[u8], flags: u32) -> Xa<()> {
        check(flags, TMNOFLAGS)?;
        let info = String::from_utf8_lossy(info);
        let name = info.trim_end_matches(['\0', ' ']).trim();
        let describes = name.contains('=') || name.starts_with('*');
        if !name.is_empty() && !describes && name != session.queue_manager().name() {
            return Err(Refused(XAER_INVAL));
        }
        self.open = true;
        Ok(())
    }

    fn close(&mut self, session: &Session, flags: u32) -> Xa<()> {
        check(flags, TMNOFLAGS)?;
        if session.branch().is_some() {
            return Err(Refused(XAER_PROTO));
        }
        *self = ResourceManager::default();
        Ok(())
    }

    fn recover(&mut self, session: &Session, count: u32, flags: u32) -> Xa<Vec<Xid>> {
        check(flags, TMSTARTRSCAN | TMENDRSCAN)?;
        if flags & TMSTARTRSCAN != 0 {
            self.scan = Some(session.recover()?.into());
        }
        let Some(scan) = &mut self.scan else {
            return Err(Refused(XAER_INVAL));
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(scan.len());
        let found = scan.drain(..count).collect();
        if flags & TMENDRSCAN != 0 {
            self.scan = None;
        }
        Ok(found)
    }
}

async fn commit(session: &Session, xid: &Xid, flags: u32) -> Xa<()> {
    check(flags, TMONEPHASE | TMNOWAIT)?;
    if flags & TMONEPHASE == 0 {
        return match session.resolve(xid, Outcome::Committed).await {
            // It stays prepared.
            Err(BranchError::Failed(Reason::RESOURCE_PROBLEM)) => Err(Refused(XA_RETRY)),
            other => Ok(other?),
        };
    }
    match session.commit_one_phase(xid).await {
        Err(BranchError::Failed(Reason::RESOURCE_PROBLEM)) => {
            // There is no phase in which it could be tried again, so it does not stay.
            session.roll_back(xid).await?;
            Err(Refused(XA_RBTRANSIENT))
        }
        other => Ok(other?),
    }
}
