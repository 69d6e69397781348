//! Responder: gets a request, puts a reply to the queue that the request names.
//!
//! Invariants: in syncpoint one commit serves both; a reply's CorrelId is the request's MsgId (or
//! CorrelId, without `-co`); at most [`OPEN_REPLIES`] reply queues are held open, and beyond them
//! replies go by MQPUT1, so that MAXHANDS is never reached.

use posthaste_mqi::Name;
use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};

use super::shape::Waiting;
use super::unit_of_work::UnitOfWork;
use super::{Answer, Application, Body, GetCall, Message, PutCall, PutTarget, Step, Workload};

const REQUESTS: usize = 0;
/// Most reply queues that are held open.
const OPEN_REPLIES: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    OpenRequests,
    OpenReplies,
    Get,
    Put,
    Commit,
    CommitIdle,
    CommitEnd,
}

/// A responder.
pub(crate) struct Responder {
    requests: Name,
    /// For requests that name no queue.
    replies: Name,
    put1: bool,
    by_correlation_id: bool,
    body: Body,
    unit: UnitOfWork,
    buffer: usize,
    wait_ms: i32,
    last: Last,
    /// Reply queues that are open; the slot is the place + 1.
    open: Vec<(Name, Name)>,
    reply: PutCall,
}

impl Responder {
    pub(crate) fn new(workload: &Workload, index: u32) -> Responder {
        let body = match workload.copy_request {
            true => Body::Got,
            false => Body::Own,
        };
        Responder {
            requests: Name::new(&workload.requests.name(index)),
            replies: Name::new(&workload.replies.name(index)),
            put1: workload.put1,
            by_correlation_id: workload.by_correlation_id,
            body,
            unit: UnitOfWork::new(
                workload.syncpoint.put || workload.syncpoint.get,
                workload.batch,
            ),
            buffer: workload.buffer(),
            wait_ms: Waiting::new(workload).milliseconds(),
            last: Last::Nothing,
            open: Vec::new(),
            reply: PutCall {
                to: PutTarget::Open(REQUESTS),
                correl_id: MQCI_NONE,
                body,
            },
        }
    }

    fn get(&mut self) -> Step {
        self.last = Last::Get;
        Step::Get(GetCall {
            slot: REQUESTS,
            correl_id: MQCI_NONE,
            wait_ms: self.wait_ms,
            buffer: self.buffer,
        })
    }

    fn requested(&mut self, message: &Message) -> Step {
        let (queue, queue_manager) = match message.reply_to.is_blank() {
            true => (self.replies, Name::BLANK),
            false => (message.reply_to, message.reply_to_q_mgr),
        };
        let known = self
            .open
            .iter()
            .position(|(q, m)| *q == queue && *m == queue_manager);
        self.reply.correl_id = match self.by_correlation_id {
            true => message.msg_id,
            false => message.correl_id,
        };
        self.reply.to = match known {
            Some(place) => PutTarget::Open(place + 1),
            None if self.put1 || self.open.len() >= OPEN_REPLIES => PutTarget::Named {
                queue,
                queue_manager,
            },
            None => return self.open(queue, queue_manager),
        };
        self.put()
    }

    fn open(&mut self, queue: Name, queue_manager: Name) -> Step {
        self.open.push((queue, queue_manager));
        let slot = self.open.len();
        self.reply.to = PutTarget::Open(slot);
        self.last = Last::OpenReplies;
        Step::Open {
            slot,
            queue,
            queue_manager,
            options: MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING,
        }
    }

    fn put(&mut self) -> Step {
        self.last = Last::Put;
        Step::Put(PutCall {
            body: self.body,
            ..self.reply
        })
    }

    fn replied(&mut self) -> Step {
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

    fn rest(&mut self) -> Step {
        self.last = Last::Nothing;
        Step::Iterated { began: None }
    }
}

impl Application for Responder {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Begin, _) => {
                self.last = Last::OpenRequests;
                Step::Open {
                    slot: REQUESTS,
                    queue: self.requests,
                    queue_manager: Name::BLANK,
                    options: MQOO_INPUT_SHARED | MQOO_FAIL_IF_QUIESCING,
                }
            }
            (Answer::Done, Last::OpenRequests) => Step::Ready,
            (Answer::Next { .. }, _) => self.get(),
            (Answer::Got(message), _) => self.requested(message),
            (Answer::Done, Last::OpenReplies) => self.put(),
            (Answer::Put { .. }, _) => self.replied(),
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
            (Answer::Last, _) if self.unit.is_open() => self.commit(Last::CommitEnd),
            (Answer::Last | Answer::Done | Answer::Stat(_), _) => {
                self.unit.settled();
                Step::Finished
            }
        }
    }
}
