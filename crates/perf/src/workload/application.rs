//! What a module is: a machine that is told how its last call went, and says which call comes next.
//!
//! Invariants:
//! * A machine knows no socket, clock or thread, so that every carrier drives the same one.
//! * Between [`Step::Ready`] and [`Step::Finished`] it comes to rest ([`Step::rests`]) after each
//!   iteration; only there is it paced, counted and stopped, so that nothing is left half done.
//! * It holds nothing uncommitted when it has said [`Step::Finished`].

use posthaste_mqi::{CorrelId, MsgId, Name, Reason, Sts};

use super::PutTarget;

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

/// A message to put, with the module's [`PutShape`](super::PutShape).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PutCall {
    /// Where.
    pub to: PutTarget,
    /// Its correlation identifier.
    pub correl_id: CorrelId,
    /// Its data.
    pub body: Body,
}

/// A message to get, with the module's [`GetShape`](super::GetShape).
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
