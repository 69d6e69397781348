//! Applications at work: what they do is drawn by seed, what they see goes to the oracle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_env::{Clock, Sleep};
use posthaste_env_sim::{Rng, SimDisk};
use posthaste_model::{Definitions, Model, OBJECT_DAMAGED, Op, OpId, Outcome, QueueId, Violation};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Hobj, Name, Od, Reason};
use std::sync::Arc;

use crate::Plan;
use crate::asynchronous::Unanswered;
use crate::branches::Branches;
use crate::caller::Caller;
use crate::channel::Conversation;
use crate::coverage::Coverage;
use crate::definer::Own;
use crate::delayed::WITHDRAWN;
use crate::lists::Listed;
use crate::reports::Reports;
use crate::subscribe::Subscriptions;

/// What all applications of a run share.
pub(crate) struct Shared {
    pub(crate) model: Model,
    pub(crate) violation: Option<Violation>,
    /// What waits, or is left, and should not.
    pub(crate) stuck: Option<String>,
    pub(crate) rng: Rng,
    pub(crate) next_session: u32,
    pub(crate) next_id: u64,
    pub(crate) calls: u64,
    pub(crate) delivered: u64,
    /// Applications are to come to an end by themselves.
    pub(crate) stopping: bool,
    /// Gets over channels that wait.
    pub(crate) waiting: u32,
    /// Times that a channel was stopped.
    pub(crate) channel_stops: u64,
    pub(crate) queues: Vec<(String, QueueId)>,
    /// The queue that comes and goes while messages for it are delayed.
    pub(crate) withdrawn: QueueId,
    pub(crate) definitions: Definitions,
    /// What is under the names of those who define.
    pub(crate) own: Vec<Own>,
    pub(crate) next_number: u64,
    /// The clock by which messages expire, less monotonic time, microseconds.
    pub(crate) shift: i64,
    /// Length and digest of every message.
    pub(crate) sent: BTreeMap<u64, (usize, u64)>,
    /// What was put to lists.
    pub(crate) listed: Listed,
    pub(crate) coverage: Coverage,
    pub(crate) disk: SimDisk,
    pub(crate) reports: Reports,
    pub(crate) branches: Branches,
    pub(crate) subscriptions: Subscriptions,
}

impl Shared {
    /// What the clock says by which messages expire.
    pub(crate) fn micros(&self, clock: &dyn Clock) -> u64 {
        micros(clock).saturating_add_signed(self.shift)
    }
}

/// A queue that is open.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) handle: Hobj,
    /// Open with one of [`SELECTORS`], if it is.
    pub(crate) selecting: Option<Hobj>,
    pub(crate) queue: QueueId,
    pub(crate) name: Name,
}

/// What a selecting handle selects: messages of priority 1 and above, as conditions that look at properties too. Who waits
/// with one of them is found by no value, by a number, or by a text.
const SELECTORS: [&str; 3] = [
    "JMSPriority BETWEEN 1 AND 9 AND color IS NULL",
    "JMSPriority BETWEEN 1 AND 9 AND color IS NULL AND Root.MQMD.MsgType = 8",
    "JMSPriority BETWEEN 1 AND 9 AND color IS NULL AND '' = Root.MQMD.ReplyToQ",
];

pub(crate) type World = Rc<RefCell<Shared>>;

/// One application.
pub(crate) struct Worker {
    pub(crate) number: u32,
    pub(crate) plan: Plan,
    pub(crate) shared: World,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) session: Caller,
    pub(crate) handles: Vec<Target>,
    pub(crate) unanswered: RefCell<Unanswered>,
}

/// The payload of a message: its number, then bytes that follow from it.
pub(crate) fn payload(id: u64, length: u64) -> Bytes {
    let mut out = Vec::with_capacity(length as usize + 8);
    out.extend_from_slice(&id.to_le_bytes());
    let mut rng = Rng::new(id);
    let mut rest = vec![0; length as usize];
    rng.fill(&mut rest);
    out.extend_from_slice(&rest);
    Bytes::from(out)
}

pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(crate) fn id24(id: u64) -> [u8; 24] {
    let mut out = [0; 24];
    out[16..].copy_from_slice(&id.to_be_bytes());
    out
}

/// What a reason says to the oracle.
pub(crate) fn outcome(reason: Reason) -> Outcome {
    match reason {
        Reason::CONNECTION_BROKEN
        | Reason::Q_MGR_STOPPING
        | Reason::Q_MGR_QUIESCING
        | Reason::HCONN_ERROR => Outcome::Unknown,
        other => Outcome::Reason(other.0),
    }
}

/// Ends with the call, or with `None` when the caller has had enough.
pub(crate) async fn patient<F: Future>(call: F, limit: Option<(Sleep, bool)>) -> Option<F::Output> {
    let Some((mut limit, hasty)) = limit else {
        return Some(call.await);
    };
    let mut call = std::pin::pin!(call);
    let mut polled = false;
    std::future::poll_fn(move |context| {
        // The limit first: a call that has just been answered may be given up unread. And some lose
        // patience at the very moment at which they are woken.
        if std::mem::replace(&mut polled, true) && hasty {
            return std::task::Poll::Ready(None);
        }
        if limit.as_mut().poll(context).is_ready() {
            return std::task::Poll::Ready(None);
        }
        call.as_mut().poll(context).map(Some)
    })
    .await
}

pub(crate) fn micros(clock: &dyn Clock) -> u64 {
    clock.monotonic() / 1000
}

impl Worker {
    /// Opens the queues that all share.
    pub(crate) async fn open(&mut self) -> Result<(), Reason> {
        let queues = self.shared.borrow().queues.clone();
        self.open_these(queues).await?;
        match self.handles.is_empty() {
            true => Err(Reason::OBJECT_DAMAGED),
            false => Ok(()),
        }
    }

    /// Opens every queue there is.
    pub(crate) async fn open_all(&mut self) -> Result<(), Reason> {
        let mut queues = self.shared.borrow().queues.clone();
        let own = self.shared.borrow().own.clone();
        queues.extend(own.into_iter().filter_map(|o| Some((o.name, o.queue?))));
        if self.plan.delays {
            queues.push((WITHDRAWN.to_owned(), self.shared.borrow().withdrawn));
        }
        self.open_these(queues).await
    }

    async fn open_these(&mut self, queues: Vec<(String, QueueId)>) -> Result<(), Reason> {
        for (name, queue) in queues {
            let mut od = Od {
                object_name: Name::new(&name),
                ..Od::default()
            };
            let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE | MQOO_INQUIRE | MQOO_SET;
            let handle = match self.session.open(&mut od, options).await {
                Ok(done) => done.value,
                Err(reason) if self.damaged(queue, reason) => continue,
                Err(reason) => return Err(reason),
            };
            let mut od = Od {
                version: MQOD_VERSION_4,
                object_name: Name::new(&name),
                selection_string: SELECTORS[self.number as usize % SELECTORS.len()].to_owned(),
                ..Od::default()
            };
            let options = MQOO_INPUT_SHARED | MQOO_BROWSE;
            let selecting = match self.session.open(&mut od, options).await {
                Ok(done) => done.value,
                Err(reason) if self.damaged(queue, reason) => continue,
                Err(reason) => return Err(reason),
            };
            let name = Name::new(&name);
            self.handles.push(Target {
                handle,
                selecting: Some(selecting),
                queue,
                name,
            });
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.shared.borrow().micros(&*self.clock)
    }

    pub(crate) fn met(&self, what: &str) {
        self.shared.borrow_mut().coverage.met(what);
    }

    pub(crate) fn say(&self, what: &str) {
        if self.plan.tell {
            println!("{:>9} app {} {what}", self.now(), self.number);
        }
    }

    /// The oracle has spoken.
    pub(crate) fn violated(&self, violation: Violation) -> bool {
        let mut shared = self.shared.borrow_mut();
        shared.violation.get_or_insert(violation);
        false
    }

    pub(crate) fn invoke(&self, op: Op) -> OpId {
        let now = self.now();
        let mut shared = self.shared.borrow_mut();
        shared.calls += 1;
        if self.plan.tell {
            println!("{now:>9} app {} {op:?}", self.number);
        }
        shared.model.invoke(now, self.number, op)
    }

    /// Tells the oracle; false ends the application.
    pub(crate) fn respond(&self, op: OpId, outcome: Outcome) -> bool {
        let now = self.now();
        let mut shared = self.shared.borrow_mut();
        if self.plan.tell {
            println!("{now:>9} app {} -> {outcome:?}", self.number);
        }
        if matches!(outcome, Outcome::Got(_)) {
            shared.delivered += 1;
        }
        // What cannot be read once the power has failed is not damaged, and nobody learns the answer.
        let dead = outcome == Outcome::Reason(OBJECT_DAMAGED) && shared.disk.power_is_cut();
        let outcome = if dead { Outcome::Unknown } else { outcome };
        if let Outcome::Reason(reason) = outcome {
            shared.coverage.met(&format!("reason {reason}"));
            if reason == OBJECT_DAMAGED {
                shared.tell_struck();
            }
        }
        if let Err(violation) = shared.model.respond(now, op, outcome) {
            shared.violation.get_or_insert(violation);
            return false;
        }
        outcome != Outcome::Unknown
    }

    /// The same of a put to a list, of which it is known how it has ended for each queue.
    pub(crate) fn respond_each(&self, op: OpId, outcomes: &[Outcome]) -> bool {
        let damaged = outcomes.contains(&Outcome::Reason(OBJECT_DAMAGED));
        if damaged && self.shared.borrow().disk.power_is_cut() {
            return self.respond(op, Outcome::Unknown);
        }
        let now = self.now();
        let mut shared = self.shared.borrow_mut();
        if self.plan.tell {
            println!("{now:>9} app {} -> {outcomes:?}", self.number);
        }
        for outcome in outcomes {
            if let Outcome::Reason(reason) = outcome {
                shared.coverage.met(&format!("list reason {reason}"));
            }
        }
        if damaged {
            shared.tell_struck();
        }
        let verdict = shared.model.respond_each(now, op, outcomes);
        match verdict {
            Ok(()) => true,
            Err(violation) => {
                shared.violation.get_or_insert(violation);
                false
            }
        }
    }

    pub(crate) fn chance(&self, per_million: u32) -> bool {
        self.shared.borrow_mut().rng.chance(per_million)
    }

    pub(crate) fn below(&self, n: u64) -> u64 {
        self.shared.borrow_mut().rng.below(n)
    }

    /// How long this call may take before it is given up, if it may be.
    pub(crate) fn limit(&self) -> Option<(Sleep, bool)> {
        // Over a channel one gives up by breaking the connection.
        if self.remote().is_some() || !self.chance(self.plan.cancel) {
            return None;
        }
        let nanos = self.below(2_000_000);
        let limit = self.clock.sleep_until(self.clock.monotonic() + nanos);
        Some((limit, self.below(2) == 0))
    }

    /// Works until the queue manager or the oracle says stop.
    pub(crate) async fn work(self) {
        while self.one_call().await {
            self.pause().await;
        }
        // What nobody will ask for any more.
        self.forget_unanswered(|_| true);
    }

    /// Makes one call; false when it was the last.
    async fn one_call(&self) -> bool {
        if self.shared.borrow().stopping {
            if self.backout().await && self.remote().is_some() {
                self.disconnect().await;
            }
            return false;
        }
        if !self.work_on_branch().await {
            return false;
        }
        if self.remote().is_some() && self.below(200) == 0 {
            self.disconnect().await;
            return false;
        }
        if self.chance(self.plan.inhibit) && !self.set().await {
            return false;
        }
        if self.plan.lists && self.below(8) == 0 {
            return self.put_listed().await;
        }
        match self.below(100) {
            0..40 => self.put().await,
            40..73 => self.get().await,
            73..77 => self.browse().await,
            77..80 => self.get_browsed().await,
            80..92 => self.commit().await,
            92..97 => self.backout().await,
            97 => self.ask().await,
            _ => self.depth().await,
        }
    }

    pub(crate) async fn pause(&self) {
        let pause = self.below(200_000);
        self.clock.sleep_until(self.clock.monotonic() + pause).await;
    }

    pub(crate) fn target(&self) -> Target {
        let at = self.below(self.handles.len() as u64) as usize;
        self.handles[at]
    }

    /// Whether a queue is open under the name that all share: who defines may have another alias for it the next time.
    pub(crate) fn is_shared(&self, target: &Target) -> bool {
        let (name, shared) = (target.name.to_string(), self.shared.borrow());
        shared.queues.iter().any(|(other, _)| *other == name)
    }

    pub(crate) fn local(&self) -> Option<&Session> {
        match &self.session {
            Caller::Local(session) => Some(session),
            Caller::Remote(_) => None,
        }
    }

    pub(crate) fn remote(&self) -> Option<&Conversation> {
        match &self.session {
            Caller::Local(_) => None,
            Caller::Remote(conversation) => Some(conversation),
        }
    }

    /// A call was given up whose outcome matters: the application goes away, as a client does whose
    /// connection broke.
    pub(crate) async fn gave_up(&self, op: OpId) -> bool {
        self.met("connection lost");
        self.respond(op, Outcome::Unknown);
        // Its session goes with it, and with the session whatever was not committed.
        let lost = self.invoke(Op::Backout);
        if let Caller::Local(session) = &self.session {
            session.terminate().await;
        }
        // A queue manager that has stopped leaves it to its next start to back out, which counts nothing.
        let stopped = self.session.queue_manager().stopped().is_some();
        self.backed_out_by_itself(lost, stopped)
    }

    fn backed_out_by_itself(&self, lost: OpId, unseen: bool) -> bool {
        let outcome = if unseen {
            Outcome::Unknown
        } else {
            Outcome::Done
        };
        self.respond(lost, outcome);
        false
    }

    /// A call has failed; false ends the application.
    pub(crate) async fn failed(&self, op: OpId, reason: Reason) -> bool {
        match self.remote().filter(|remote| remote.is_over()) {
            None => self.respond(op, outcome(reason)),
            Some(remote) => self.lost(remote, op, outcome(reason)).await,
        }
    }

    /// An answer has come about something that was done in the unit of work. If the server has ended the session
    /// meanwhile, that is undone, and others may have seen so: the answer is worth nothing. False then.
    pub(crate) async fn still_there(&self, op: OpId) -> bool {
        match self.remote().filter(|remote| remote.is_ending()) {
            None => true,
            Some(remote) => {
                self.met("answered when its unit of work was gone");
                // A stop that came before the channel did may have left it alone.
                remote.line.hang_up();
                self.lost(remote, op, Outcome::Unknown).await
            }
        }
    }

    /// The connection is over between two calls of which the oracle hears.
    pub(crate) async fn lost_between(&self, remote: &Conversation) -> bool {
        if !remote.server_gone().await {
            return false;
        }
        if self.forget_unanswered(|_| true) {
            self.met("channel lost with puts not waited for");
        }
        let lost = self.invoke(Op::Backout);
        self.backed_out_by_itself(lost, remote.left_to_restart())
    }

    /// The connection is over. What the queue manager does about it is over when it has done with the connection:
    /// until then the call may still have its effect.
    pub(crate) async fn lost(&self, remote: &Conversation, op: OpId, outcome: Outcome) -> bool {
        if !remote.server_gone().await {
            return false;
        }
        self.met(match outcome {
            Outcome::Unknown => "channel lost in a call",
            _ => "channel ended instead of an answer",
        });
        if self.forget_unanswered(|_| true) {
            self.met("channel lost with puts not waited for");
        }
        self.respond(op, outcome);
        let lost = self.invoke(Op::Backout);
        self.backed_out_by_itself(lost, remote.left_to_restart())
    }

    /// MQDISC, which commits; a branch is committed before, mostly.
    async fn disconnect(&self) {
        let works_on_branch = self.remote().is_some_and(|r| r.branch().is_some());
        if works_on_branch && self.below(3) > 0 && !self.commit_now().await {
            return;
        }
        self.met("MQDISC");
        let op = self.invoke(Op::Commit);
        match self.session.disconnect().await {
            Ok(done) if done.warning == Reason::BACKED_OUT => {
                self.forget_unanswered(|put| put.in_uow);
                self.respond(op, outcome(done.warning));
            }
            Ok(_) => {
                self.committed();
                self.respond(op, Outcome::Done);
            }
            Err(reason) => {
                self.failed(op, reason).await;
            }
        }
    }

    pub(crate) async fn commit(&self) -> bool {
        if self.chance(self.plan.hoard) {
            // Keeps its unit of work open: the log has to cope.
            return true;
        }
        match self.below(6) {
            0 => self.commit_in_two().await,
            1 | 2 if self.remote().is_some() => self.commit_in_two().await,
            _ => self.commit_now().await,
        }
    }

    pub(crate) async fn commit_now(&self) -> bool {
        self.met("MQCMIT");
        let op = self.invoke(Op::Commit);
        match patient(self.session.commit(), self.limit()).await {
            Some(Ok(_)) => {
                self.committed();
                self.respond(op, Outcome::Done)
            }
            Some(Err(Reason::BACKED_OUT)) => self.backed_out(op),
            Some(Err(reason)) => self.failed(op, reason).await,
            None => self.gave_up(op).await,
        }
    }

    pub(crate) async fn backout(&self) -> bool {
        self.met("MQBACK");
        let op = self.invoke(Op::Backout);
        match self.session.backout().await {
            Ok(_) => {
                self.forget_unanswered(|put| put.in_uow);
                self.respond(op, Outcome::Done)
            }
            Err(reason) => self.failed(op, reason).await,
        }
    }

    pub(crate) async fn depth(&self) -> bool {
        let Target { handle, queue, .. } = self.target();
        self.met("MQINQ");
        let op = self.invoke(Op::Depth(queue));
        match self.session.inquire(handle, &[MQIA_CURRENT_Q_DEPTH]).await {
            Ok(done) => {
                let depth = done.value.ints.first().copied().unwrap_or(-1);
                self.respond(op, Outcome::Depth(u64::try_from(depth).unwrap_or(u64::MAX)))
            }
            Err(reason) => self.failed(op, reason).await,
        }
    }
}
