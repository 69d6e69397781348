//! What a module is: a machine that is told how its last call went, and says which call comes next.
//!
//! Invariants:
//! * A machine knows no socket, clock or thread, so that every carrier drives the same one.
//! * Between [`Step::Ready`] and [`Step::Finished`] it comes to rest ([`Step::rests`]) after each
//!   iteration; only there is it paced, counted and stopped, so that nothing is left half done.
//! * It holds nothing uncommitted when it has said [`Step::Finished`].

use posthaste_mqi::{CorrelId, MsgId, Name, Reason, Sts};

use super::put_get::PutGet;
use super::receiver::Receiver;
use super::requester::Requester;
use super::responder::Responder;
use super::sender::Sender;
use super::shape::Shapes;
use super::{GetShape, Module, PerfError, PutShape, PutTarget, Workload};

/// Nanoseconds since some moment of the run.
pub type Nanos = u64;

/// Number of an open queue in its application, from 0.
pub type Slot = usize;

/// What a message is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The workload's own text.
    Own,
    /// The message that was got last.
    Got,
}

/// A message to put, with the module's [`PutShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PutCall {
    /// Where.
    pub to: PutTarget,
    /// Its correlation identifier.
    pub correl_id: CorrelId,
    /// Its data.
    pub body: Body,
}

/// A message to get, with the module's [`GetShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetCall {
    /// Where from.
    pub slot: Slot,
    /// Whose; MQCI_NONE takes any.
    pub correl_id: CorrelId,
    /// Milliseconds to wait.
    pub wait_ms: i32,
    /// Bytes of the buffer.
    pub buffer: usize,
}

/// What an application does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// MQOPEN.
    Open {
        /// Its number from now on.
        slot: Slot,
        /// The queue.
        queue: Name,
        /// Its queue manager; blank is ours.
        queue_manager: Name,
        /// MQOO_ options.
        options: i32,
    },
    /// Everything is open: wait for the start.
    Ready,
    /// MQPUT or MQPUT1.
    Put(PutCall),
    /// MQGET.
    Get(GetCall),
    /// MQCMIT.
    Commit,
    /// MQSTAT for asynchronous puts.
    Stat,
    /// Rest: an iteration is done. It began then, if it is to be timed.
    Iterated {
        /// As [`Answer::Next`] said.
        began: Option<Nanos>,
    },
    /// Rest: nothing was there to do, or there was no time left to do it.
    Idle,
    /// Rest: a reply did not come, a failure.
    Unanswered {
        /// Where it was awaited.
        slot: Slot,
    },
    /// Asynchronous puts that had been counted were not done; nothing more can be.
    Rejected {
        /// How many.
        count: u64,
        /// Why the first of them was not.
        reason: Reason,
    },
    /// Nothing more.
    Finished,
}

impl Step {
    /// Whether the application is between two iterations.
    pub fn rests(&self) -> bool {
        matches!(
            self,
            Step::Iterated { .. } | Step::Idle | Step::Unanswered { .. }
        )
    }
}

/// What a message that was got is to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// MsgId.
    pub msg_id: MsgId,
    /// CorrelId.
    pub correl_id: CorrelId,
    /// ReplyToQ.
    pub reply_to: Name,
    /// ReplyToQMgr.
    pub reply_to_q_mgr: Name,
}

/// How the last step went. A call that failed in any other way ends its application.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// There was no step yet.
    Begin,
    /// After a rest (and after `Ready`): an iteration begins, or should have begun, at that moment.
    Next {
        /// The moment.
        at: Nanos,
    },
    /// After a rest: there is to be no further iteration.
    Last,
    /// Open or Commit was done.
    Done,
    /// The message was put (or, asynchronously, sent).
    Put {
        /// Its MsgId; MQMI_NONE where puts are not answered.
        msg_id: MsgId,
    },
    /// A message came.
    Got(&'a Message),
    /// None came.
    NoMessage {
        /// There is to be no further iteration.
        ending: bool,
    },
    /// One came that is longer than the buffer, and is still on its queue.
    TooLong {
        /// Its length.
        length: usize,
    },
    /// What MQSTAT says.
    Stat(&'a Sts),
}

/// A module at work.
pub trait Application {
    /// Takes how the last step went; gives the next one.
    fn next(&mut self, answer: Answer<'_>) -> Step;
}

/// Any module, without a table of virtual functions.
enum Kind {
    Requester(Requester),
    Responder(Responder),
    Sender(Sender),
    Receiver(Receiver),
    PutGet(PutGet),
}

/// A module at work, and what it puts and gets with.
pub struct Machine {
    kind: Kind,
    shapes: Shapes,
}

impl Machine {
    /// Application `index` of a workload. `identity` is a correlation identifier that no other
    /// application has.
    ///
    /// # Errors
    /// Those of [`Workload::check`].
    pub fn new(workload: &Workload, index: u32, identity: CorrelId) -> Result<Machine, PerfError> {
        workload.check()?;
        let kind = match workload.module {
            Module::Requester => Kind::Requester(Requester::new(workload, index)),
            Module::Responder => Kind::Responder(Responder::new(workload, index)),
            Module::Sender => Kind::Sender(Sender::new(workload, index)),
            Module::Receiver => Kind::Receiver(Receiver::new(workload, index)),
            Module::PutGet => Kind::PutGet(PutGet::new(workload, index, identity)),
            Module::Publisher | Module::Subscriber => {
                return Err(PerfError::Usage(
                    "publish/subscribe is not in this release".to_owned(),
                ));
            }
        };
        Ok(Machine {
            kind,
            shapes: Shapes::new(workload, index),
        })
    }

    /// Iterations that have been counted and are not known to be done for good: they are not committed, or were put
    /// asynchronously and not asked after.
    pub fn uncommitted(&self) -> u64 {
        match &self.kind {
            Kind::Responder(machine) => machine.uncommitted(),
            Kind::Sender(machine) => machine.uncommitted(),
            Kind::Receiver(machine) => machine.uncommitted(),
            Kind::Requester(_) | Kind::PutGet(_) => 0,
        }
    }

    /// What it puts with.
    pub fn put_shape(&self) -> &PutShape {
        &self.shapes.put
    }

    /// What it gets with.
    pub fn get_shape(&self) -> &GetShape {
        &self.shapes.get
    }
}

impl Application for Machine {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match &mut self.kind {
            Kind::Requester(machine) => machine.next(answer),
            Kind::Responder(machine) => machine.next(answer),
            Kind::Sender(machine) => machine.next(answer),
            Kind::Receiver(machine) => machine.next(answer),
            Kind::PutGet(machine) => machine.next(answer),
        }
    }
}

#[cfg(test)]
mod tests;
