//! Puts that nobody waits for, over channels and not (MQPMO_ASYNC_RESPONSE), and how an application learns what became of them.
//!
//! The rules:
//! * MQSTAT counts each of them once, as a success or a failure.
//! * When it counts no failure all of them are done.
//! * A commit that succeeds has committed every persistent one in its unit of work; when one has failed, it is backed out
//!   and says so.
//! * They are carried out before what the conversation asks for after them.

use bytes::Bytes;
use posthaste_engine::Session;
use posthaste_model::{OpId, Outcome, Rule, Violation};
use posthaste_mqi::constants::MQSTAT_TYPE_ASYNC_ERROR;
use posthaste_mqi::{Md, Od, Pmo, Reason, Sts};

use crate::calls::Manner;
use crate::channel::Conversation;
use crate::workload::{Target, Worker};

/// A put of which the oracle has not heard the end.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    op: OpId,
    pub(crate) in_uow: bool,
    persistent: bool,
    to: To,
}

/// Where a put goes to.
#[derive(Clone, Debug)]
enum To {
    /// A queue.
    One,
    /// A list, of which MQSTAT tells.
    List,
    /// A list, of which this becomes known when it has been forced.
    Each(Vec<Outcome>),
}

impl Put {
    fn new(op: OpId, manner: Manner, to: To) -> Put {
        Put {
            op,
            in_uow: manner.in_uow,
            persistent: manner.persistent,
            to,
        }
    }
}

/// Puts that nobody has waited for.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    puts: Vec<Put>,
    /// How many have been made since MQSTAT was called.
    since: i32,
}

/// An outcome by which nothing was done, for any reason (MQRC_UNEXPECTED_ERROR).
const NOT_DONE: Outcome = Outcome::Reason(2195);

impl Worker {
    /// Puts, by a handle or by the queue's name, and does not wait.
    pub(crate) async fn put_unanswered(
        &self,
        remote: &Conversation,
        (target, by_name): (Target, bool),
        (md, pmo): (&Md, &Pmo),
        data: Bytes,
        (op, manner): (OpId, Manner),
    ) -> bool {
        self.met("put not waited for");
        let sent = if by_name {
            self.met("put to a name not waited for");
            let od = Od {
                object_name: target.name,
                ..Od::default()
            };
            remote.put1_unanswered(&od, md, pmo, &data)
        } else {
            remote.put_unanswered(target.handle, md, pmo, &data)
        };
        if let Err(reason) = sent {
            return self.failed(op, reason).await;
        }
        self.left(Put::new(op, manner, To::One))
    }

    /// A put to a list was sent over a channel.
    pub(crate) fn list_unanswered(&self, op: OpId, manner: Manner) -> bool {
        self.left(Put::new(op, manner, To::List))
    }

    fn left(&self, put: Put) -> bool {
        let mut unanswered = self.unanswered.borrow_mut();
        unanswered.since += 1;
        unanswered.puts.push(put);
        true
    }

    /// A call to the engine itself has taken a message that is still to be forced: done when MQSTAT says so.
    pub(crate) fn left_open(&self, op: OpId, manner: Manner) -> bool {
        self.met("put left to its ticket");
        let put = Put::new(op, manner, To::One);
        self.unanswered.borrow_mut().puts.push(put);
        true
    }

    /// The same of a put to a list.
    pub(crate) fn list_left_open(&self, op: OpId, manner: Manner, each: Vec<Outcome>) -> bool {
        self.met("list put left to its ticket");
        let put = Put::new(op, manner, To::Each(each));
        self.unanswered.borrow_mut().puts.push(put);
        true
    }

    /// Asks what has become of calls to the engine itself, if there are any.
    pub(crate) async fn close_open_puts(&self) -> bool {
        match self.local() {
            Some(session) if !self.unanswered.borrow().puts.is_empty() => {
                self.ask_engine(session).await
            }
            _ => true,
        }
    }

    /// MQSTAT of a call to the engine itself, whose failures were answered.
    async fn ask_engine(&self, session: &Session) -> bool {
        self.met("MQSTAT");
        match session.stat(MQSTAT_TYPE_ASYNC_ERROR, 1).await {
            Ok(_) => {
                let puts = self.take(|_| true);
                self.tell(&puts, Outcome::Done);
                true
            }
            // The queue manager has stopped; whether it may is for the run to say.
            Err(_) => {
                self.forget_unanswered(|_| true);
                true
            }
        }
    }

    /// Takes those that the filter takes.
    fn take(&self, filter: impl Fn(&Put) -> bool) -> Vec<Put> {
        let puts = &mut self.unanswered.borrow_mut().puts;
        let (taken, left) = std::mem::take(puts).into_iter().partition(filter);
        *puts = left;
        taken
    }

    fn tell(&self, puts: &[Put], outcome: Outcome) {
        for put in puts {
            match (&put.to, outcome) {
                (To::Each(each), Outcome::Done) => self.respond_each(put.op, each),
                _ => self.respond(put.op, outcome),
            };
        }
    }

    /// Nobody will know what became of these; whether there are any.
    pub(crate) fn forget_unanswered(&self, filter: impl Fn(&Put) -> bool) -> bool {
        let puts = self.take(filter);
        self.tell(&puts, Outcome::Unknown);
        !puts.is_empty()
    }

    /// A commit has succeeded.
    pub(crate) fn committed(&self) {
        let done = self.take(|put| put.in_uow && put.persistent);
        if !done.is_empty() {
            self.met("commit of puts not waited for");
        }
        self.tell(&done, Outcome::Done);
    }

    /// MQSTAT, where there is something to ask for.
    pub(crate) async fn ask(&self) -> bool {
        let remote = match (self.remote(), self.local()) {
            (Some(remote), _) => remote,
            (None, Some(session)) if !self.unanswered.borrow().puts.is_empty() => {
                return self.ask_engine(session).await;
            }
            (None, _) => return self.depth().await,
        };
        self.met("MQSTAT");
        match remote.stat().await {
            // What was done in the unit of work may be undone.
            Ok(_) if remote.is_ending() => {
                remote.line.hang_up();
                self.lost_between(remote).await
            }
            Ok(sts) => self.settle(&sts),
            // The queue manager has stopped; whether it may is for the run to say.
            Err(Reason::CONNECTION_BROKEN) => self.lost_between(remote).await,
            Err(_) if remote.is_over() => self.lost_between(remote).await,
            Err(reason) => self.violated(Violation {
                rule: Rule::Refused,
                text: format!("MQSTAT was refused with {reason}"),
            }),
        }
    }

    fn settle(&self, sts: &Sts) -> bool {
        let since = std::mem::take(&mut self.unanswered.borrow_mut().since);
        let failed = sts.put_failure_count;
        let counted = sts.put_success_count + sts.put_warning_count + failed;
        if counted != since {
            let text = format!("{since} puts were made, and MQSTAT says {sts:?}");
            return self.violated(Violation {
                rule: Rule::Asynchronous,
                text,
            });
        }
        let puts = self.take(|_| true);
        let outcome = match failed {
            0 => Outcome::Done,
            _ if failed == since => NOT_DONE,
            _ => Outcome::Unknown,
        };
        if failed > 0 {
            self.met("MQSTAT tells of a failure");
        }
        for put in puts {
            // The unit of work of one that is not persistent may have been committed without it.
            let committed = outcome == NOT_DONE && put.in_uow && !put.persistent;
            // Which queues of which list have missed it is not told.
            let partly = matches!(put.to, To::List) && sts.put_warning_count > 0;
            let unknown = committed || partly;
            let outcome = if unknown { Outcome::Unknown } else { outcome };
            self.respond(put.op, outcome);
        }
        true
    }
}
