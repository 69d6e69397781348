//! Branches of global transactions: units of work that are committed in two steps, perhaps by somebody else, and what a
//! restart has to know of them.
//!
//! A branch whose prepare was answered is in doubt after every end and start, until somebody decides about it. What comes
//! of its messages is for the oracle, to which its commit is one whose end nobody was told.

use std::collections::BTreeMap;

use posthaste_engine::{BranchError, Outcome, QueueManager, Session, Vote, Xid};
use posthaste_model::{BACKED_OUT, Op, OpId, Outcome as ModelOutcome};
use posthaste_mqi::Reason;
use posthaste_mqi::xa::{TMSUCCESS, XA_OK, XA_RDONLY, XAER_RMERR};

use crate::caller::Caller;
use crate::workload::{Worker, World};

/// What is known of a branch.
#[derive(Clone, Copy)]
struct Known {
    /// It has to be there: it was prepared, and nobody has begun to decide about it.
    sure: bool,
    /// Its application has left it to others.
    left: bool,
}

/// The branches that are not known to have ended.
#[derive(Default)]
pub(crate) struct Branches {
    next: u64,
    known: BTreeMap<Xid, Known>,
}

impl Branches {
    /// An identifier that no branch has had.
    fn next(&mut self) -> Option<Xid> {
        self.next += 1;
        Xid::new(1, &self.next.to_be_bytes(), b"sim")
    }

    fn begin(&mut self) -> Option<Xid> {
        self.next().inspect(|xid| self.set(xid, false, false))
    }

    fn set(&mut self, xid: &Xid, sure: bool, left: bool) {
        self.known.insert(xid.clone(), Known { sure, left });
    }

    fn left(&self) -> Vec<Xid> {
        let left = self.known.iter().filter(|(_, known)| known.left);
        left.map(|(xid, _)| xid.clone()).collect()
    }

    /// Holds it against what is in doubt after a start. Nobody else decides about it now.
    pub(crate) fn look(&mut self, qm: &QueueManager) -> Result<(), String> {
        let there: Vec<Xid> = qm.in_doubt().into_iter().map(|one| one.xid).collect();
        if let Some(unknown) = there.iter().find(|xid| !self.known.contains_key(xid)) {
            return Err(format!("{unknown:?} is in doubt, and had ended"));
        }
        let missing = |(xid, known): (&Xid, &Known)| known.sure && !there.contains(xid);
        if self.known.iter().any(missing) {
            return Err("a prepared branch is not in doubt after the start".to_owned());
        }
        self.known.clear();
        there.iter().for_each(|xid| self.set(xid, true, true));
        Ok(())
    }
}

impl Worker {
    /// MQCMIT in two steps. `false` ends the application.
    pub(crate) async fn commit_in_two(&self) -> bool {
        let Caller::Local(session) = &self.session else {
            return self.commit_over_channel().await;
        };
        let Some(xid) = self.shared.borrow_mut().branches.begin() else {
            return self.commit_now().await;
        };
        let op = self.invoke(Op::Commit);
        let prepared = session.prepare(&xid).await;
        let broken = |reason| matches!(reason, Reason::CONNECTION_BROKEN | Reason::Q_MGR_STOPPING);
        if !matches!(prepared, Err(BranchError::Failed(reason)) if broken(reason)) {
            self.shared.borrow_mut().branches.known.remove(&xid);
        }
        match prepared {
            Ok(Vote::Prepared) => {}
            Ok(Vote::ReadOnly) => {
                self.committed();
                return self.respond(op, ModelOutcome::Done);
            }
            Err(BranchError::RolledBack) => return self.backed_out(op),
            Err(BranchError::Failed(reason)) => return self.failed(op, reason).await,
            Err(other) => return self.contradicted(&xid, other),
        }
        self.met("unit of work prepared");
        self.shared.borrow_mut().branches.set(&xid, true, false);
        self.rest().await;
        if self.below(3) == 0 {
            self.met("branch left in doubt");
            self.shared.borrow_mut().branches.set(&xid, true, true);
            return self.gave_up(op).await;
        }
        loop {
            self.shared.borrow_mut().branches.set(&xid, false, false);
            match session.resolve(&xid, Outcome::Committed).await {
                Ok(()) => break,
                Err(BranchError::Failed(Reason::RESOURCE_PROBLEM)) => self.pause().await,
                Err(BranchError::Failed(reason)) => return self.failed(op, reason).await,
                Err(other) => return self.contradicted(&xid, other),
            }
        }
        self.shared.borrow_mut().branches.known.remove(&xid);
        self.committed();
        self.respond(op, ModelOutcome::Done)
    }

    /// Sees to it that the next unit of work of a conversation that a transaction manager coordinates is a branch; false
    /// ends the application.
    pub(crate) async fn work_on_branch(&self) -> bool {
        let Some(remote) = self.remote() else {
            return true;
        };
        if remote.branch().is_some() && self.below(30) == 0 {
            match remote.suspend_branch().await {
                Ok(true) => {}
                Ok(false) if self.backout().await => {}
                Err(_) if remote.is_over() => return self.lost_between(remote).await,
                _ => return false,
            }
        }
        if remote.wants_branch() {
            let xid = self.shared.borrow_mut().branches.next();
            if let Some(xid) = xid {
                remote.start_branch(&xid).await;
            }
        }
        true
    }

    /// MQCMIT in two steps, by a transaction manager over a channel.
    async fn commit_over_channel(&self) -> bool {
        let Some((remote, xid)) = self.remote().and_then(|r| Some((r, r.branch()?))) else {
            return self.commit_now().await;
        };
        let op = self.invoke(Op::Commit);
        match remote.end_branch(&xid, TMSUCCESS).await {
            Ok(true) => {}
            Ok(false) => return self.backed_out(op),
            Err(reason) => return self.failed(op, reason).await,
        }
        self.shared.borrow_mut().branches.set(&xid, false, false);
        match remote.prepare_branch(&xid).await {
            Ok(XA_OK) => {}
            Ok(returned) => {
                self.shared.borrow_mut().branches.known.remove(&xid);
                if returned == XA_RDONLY {
                    self.committed();
                    return self.respond(op, ModelOutcome::Done);
                }
                // The log is full, and there is no commit that could wait for room: what it is worth is told by this.
                if returned == XAER_RMERR
                    && let Err(reason) = remote.roll_back(&xid).await
                {
                    return self.failed(op, reason).await;
                }
                return self.backed_out(op);
            }
            Err(reason) => return self.lost_in_doubt(op, &xid, reason).await,
        }
        self.met("branch prepared over a channel");
        self.shared.borrow_mut().branches.set(&xid, true, false);
        self.rest().await;
        if self.below(3) == 0 {
            self.met("branch left in doubt");
            remote.line.hang_up();
            self.shared.borrow_mut().branches.set(&xid, true, true);
            return self.lost(remote, op, ModelOutcome::Unknown).await;
        }
        loop {
            self.shared.borrow_mut().branches.set(&xid, false, false);
            match remote.commit_prepared(&xid).await {
                Ok(true) => break,
                Ok(false) => self.pause().await,
                // It may be committed, or in doubt; others may decide.
                Err(_) => {
                    return self
                        .lost_in_doubt(op, &xid, Reason::CONNECTION_BROKEN)
                        .await;
                }
            }
        }
        self.shared.borrow_mut().branches.known.remove(&xid);
        self.committed();
        self.respond(op, ModelOutcome::Done)
    }

    /// A commit has come to a backout, of puts that nobody waited for as well.
    pub(crate) fn backed_out(&self, op: OpId) -> bool {
        if self.forget_unanswered(|put| put.in_uow) {
            self.met("commit refused for a put not waited for");
        }
        self.respond(op, ModelOutcome::Reason(BACKED_OUT))
    }

    /// The connection is over in a prepare or a commit: whether the branch is in doubt the queue manager knows when it has
    /// done with the connection, unless it has stopped.
    async fn lost_in_doubt(&self, op: OpId, xid: &Xid, reason: Reason) -> bool {
        let goes_on = self.failed(op, reason).await;
        let qm = self.session.queue_manager();
        if qm.running().is_ok() {
            let in_doubt = qm.in_doubt().iter().any(|branch| branch.xid == *xid);
            let mut shared = self.shared.borrow_mut();
            match in_doubt {
                true => shared.branches.set(xid, true, true),
                false => drop(shared.branches.known.remove(xid)),
            }
        }
        goes_on
    }

    /// Long enough for a crash or a checkpoint to come between.
    async fn rest(&self) {
        let rest = self.below(4_000_000);
        self.clock.sleep_until(self.clock.monotonic() + rest).await;
    }

    fn contradicted(&self, xid: &Xid, error: BranchError) -> bool {
        contradicted(&self.shared, xid, error);
        false
    }

    /// Decides about branches that were left, now and then, as long as the queue manager runs.
    pub(crate) async fn coordinate(self) {
        let Caller::Local(session) = &self.session else {
            return;
        };
        while !self.shared.borrow().stopping {
            self.rest().await;
            let left = self.shared.borrow().branches.left();
            let Some(xid) = left.first() else { continue };
            let outcome = [Outcome::Committed, Outcome::BackedOut][self.below(2) as usize];
            let heuristic = self.below(2) == 0;
            self.met(match heuristic {
                true => "branch decided heuristically",
                false => "branch decided",
            });
            if !decide(&self.shared, session, xid, outcome, heuristic).await {
                return;
            }
        }
    }
}

fn contradicted(shared: &World, xid: &Xid, error: BranchError) {
    let what = format!("{error:?} of {xid:?}");
    shared.borrow_mut().stuck.get_or_insert(what);
}

/// Decides about one branch; false: the queue manager takes no calls any more, or contradicts itself.
async fn decide(
    shared: &World,
    session: &Session,
    xid: &Xid,
    outcome: Outcome,
    heuristic: bool,
) -> bool {
    shared.borrow_mut().branches.set(xid, false, true);
    let qm = session.queue_manager();
    let decided = match heuristic {
        true => qm.decide(xid, outcome).await,
        false => session.resolve(xid, outcome).await,
    };
    let ended = match decided {
        Ok(()) if !heuristic => Ok(()),
        Ok(()) | Err(BranchError::Heuristic(_)) => session.forget(xid).await,
        Err(error) => Err(error),
    };
    match ended {
        Ok(()) => {
            shared.borrow_mut().branches.known.remove(xid);
            true
        }
        // It is tried again.
        Err(BranchError::Failed(Reason::RESOURCE_PROBLEM)) => true,
        Err(BranchError::Failed(_)) => false,
        Err(other) => {
            contradicted(shared, xid, other);
            false
        }
    }
}

/// Decides about all that were left, so that everything can be accounted for.
pub(crate) async fn decide_all(shared: World, session: Session) {
    loop {
        let left = shared.borrow().branches.left();
        let Some(xid) = left.first() else { return };
        if !decide(&shared, &session, xid, Outcome::Committed, false).await {
            return;
        }
    }
}
