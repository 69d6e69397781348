//! Receiver and Responder: get a message; a responder puts a reply to the queue that it names.
//!
//! Invariants: in syncpoint one commit serves both; what has been got is committed when the queue runs empty and when the
//! application ends, however full the unit of work is; a reply's CorrelId is the request's MsgId (or CorrelId, without
//! `-co`); at most [`OPEN_REPLIES`] reply queues are held open, and beyond them replies go by MQPUT1, so that MAXHANDS is
//! never reached.

use posthaste_mqi::Name;
use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_OUTPUT};

use super::shape::Waiting;
use super::unit_of_work::UnitOfWork;
use super::{Answer, Body, GetCall, Message, Nanos, PutCall, PutTarget, Step, Workload};

/// The queue that is got from.
const QUEUE: usize = 0;
/// Most reply queues that are held open.
const OPEN_REPLIES: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    OpenReplies,
    Commit,
    CommitIdle,
}

/// How a responder replies.
struct Replies {
    /// For requests that name no queue.
    otherwise: Name,
    put1: bool,
    by_correlation_id: bool,
    /// Reply queues that are open; the slot is the place + 1.
    open: Vec<(Name, Name)>,
    /// The reply to the present request.
    put: PutCall,
}

/// An application that gets whatever is first.
pub(crate) struct Consumer {
    replies: Option<Replies>,
    unit: UnitOfWork,
    buffer: usize,
    wait_ms: i32,
    last: Last,
    at: Nanos,
}

impl Consumer {
    pub(crate) fn receiver(workload: &Workload) -> Consumer {
        Consumer::new(workload, workload.syncpoint.get, None)
    }

    pub(crate) fn responder(workload: &Workload, index: u32) -> Consumer {
        let body = match workload.copy_request {
            true => Body::Got,
            false => Body::Own,
        };
        let replies = Replies {
            otherwise: Name::new(&workload.replies.name(index)),
            put1: workload.put1,
            by_correlation_id: workload.by_correlation_id,
            open: Vec::new(),
            put: PutCall {
                to: PutTarget::Open(QUEUE),
                correl_id: MQCI_NONE,
                body,
            },
        };
        let transacted = workload.syncpoint.put || workload.syncpoint.get;
        Consumer::new(workload, transacted, Some(replies))
    }

    fn new(workload: &Workload, transacted: bool, replies: Option<Replies>) -> Consumer {
        Consumer {
            replies,
            unit: UnitOfWork::new(transacted, workload.batch),
            buffer: workload.buffer(),
            wait_ms: Waiting::new(workload).milliseconds(),
            last: Last::Other,
            at: 0,
        }
    }

    fn get(&mut self) -> Step {
        self.last = Last::Other;
        Step::Get(GetCall {
            slot: QUEUE,
            correl_id: MQCI_NONE,
            wait_ms: self.wait_ms,
            buffer: self.buffer,
        })
    }

    fn got(&mut self, message: &Message) -> Step {
        let Some(replies) = &mut self.replies else {
            return self.done();
        };
        let step = replies.to(message);
        if matches!(step, Step::Open { .. }) {
            self.last = Last::OpenReplies;
        }
        step
    }

    /// The message has been dealt with.
    fn done(&mut self) -> Step {
        match self.unit.fills() {
            true => self.commit(Last::Commit),
            false => self.rest(),
        }
    }

    fn commit(&mut self, last: Last) -> Step {
        self.unit.commits();
        self.last = last;
        Step::Commit
    }

    /// Iterations that a failure now would undo.
    pub(crate) fn uncommitted(&self) -> u64 {
        self.unit.uncommitted()
    }

    /// The time of a responder is its requester's.
    fn rest(&mut self) -> Step {
        self.last = Last::Other;
        let began = self.replies.is_none().then_some(self.at);
        Step::Iterated { began }
    }

    pub(crate) fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Next { at }, _) => {
                self.at = at;
                self.get()
            }
            (Answer::Got(message), _) => self.got(message),
            (Answer::Done, Last::OpenReplies) => match &self.replies {
                Some(replies) => Step::Put(replies.put),
                None => Step::Finished,
            },
            (Answer::Put { .. }, _) => self.done(),
            (Answer::Done, Last::Commit) => {
                self.unit.settled();
                self.rest()
            }
            (Answer::NoMessage { .. }, _) if self.unit.is_open() => self.commit(Last::CommitIdle),
            (Answer::NoMessage { .. }, _) | (Answer::Done, Last::CommitIdle) => {
                self.unit.settled();
                Step::Idle
            }
            (Answer::TooLong { length }, _) => {
                self.buffer = length;
                self.get()
            }
            (Answer::Last, _) if self.unit.is_open() => self.commit(Last::Other),
            (Answer::Begin | Answer::Last | Answer::Done | Answer::Stat(_), _) => {
                self.unit.settled();
                Step::Finished
            }
        }
    }
}

impl Replies {
    /// The reply to a message, or what has to be opened for it before.
    fn to(&mut self, message: &Message) -> Step {
        let (queue, queue_manager) = match message.reply_to.is_blank() {
            true => (self.otherwise, Name::BLANK),
            false => (message.reply_to, message.reply_to_q_mgr),
        };
        let known = |open: &(Name, Name)| *open == (queue, queue_manager);
        let known = self.open.iter().position(known);
        self.put.correl_id = match self.by_correlation_id {
            true => message.msg_id,
            false => message.correl_id,
        };
        self.put.to = match known {
            Some(place) => PutTarget::Open(place + 1),
            None if self.put1 || self.open.len() >= OPEN_REPLIES => PutTarget::Named {
                queue,
                queue_manager,
            },
            None => {
                self.open.push((queue, queue_manager));
                let slot = self.open.len();
                self.put.to = PutTarget::Open(slot);
                return Step::Open {
                    slot,
                    queue,
                    queue_manager,
                    options: MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING,
                };
            }
        };
        Step::Put(self.put)
    }
}
