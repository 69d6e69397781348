//! Requester: puts a request, waits for its reply.
//!
//! Invariants: the reply to a request carries the request's MsgId as its CorrelId; a request is
//! committed before its reply is waited for; replies to what is under way when the application is to end
//! are still taken as long as they come, so that none is left on a queue.

use std::collections::VecDeque;

use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{CorrelId, Name};

use super::application::Nanos;
use super::shape::Waiting;
use super::{Answer, Application, Body, GetCall, PutCall, PutTarget, Step, Syncpoint, Workload};

const REQUESTS: usize = 0;
const REPLIES: usize = 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    OpenRequests,
    OpenReplies,
    Put,
    CommitPut,
    Get,
    CommitGet,
}

/// A requester.
pub(crate) struct Requester {
    requests: Name,
    replies: Name,
    put1: bool,
    by_correlation_id: bool,
    syncpoint: Syncpoint,
    depth: usize,
    buffer: usize,
    waiting: Waiting,
    last: Last,
    /// When the present iteration began.
    at: Nanos,
    /// Requests without a reply, oldest first, and when they began.
    under_way: VecDeque<(CorrelId, Nanos)>,
    ending: bool,
}

impl Requester {
    pub(crate) fn new(workload: &Workload, index: u32) -> Requester {
        let depth = usize::try_from(workload.queue_depth).unwrap_or(usize::MAX);
        Requester {
            requests: Name::new(&workload.requests.name(index)),
            replies: Name::new(&workload.replies.name(index)),
            put1: workload.put1,
            by_correlation_id: workload.by_correlation_id,
            syncpoint: workload.syncpoint,
            depth,
            buffer: workload.buffer(),
            waiting: Waiting::new(workload),
            last: Last::Nothing,
            at: 0,
            under_way: VecDeque::new(),
            ending: false,
        }
    }

    fn open(&mut self, last: Last) -> Step {
        let (slot, queue, way) = match last {
            Last::OpenRequests => (REQUESTS, self.requests, MQOO_OUTPUT),
            _ => (REPLIES, self.replies, MQOO_INPUT_SHARED),
        };
        self.last = last;
        Step::Open {
            slot,
            queue,
            queue_manager: Name::BLANK,
            options: way | MQOO_FAIL_IF_QUIESCING,
        }
    }

    fn put(&mut self) -> Step {
        self.last = Last::Put;
        let to = match self.put1 {
            true => PutTarget::Named {
                queue: self.requests,
                queue_manager: Name::BLANK,
            },
            false => PutTarget::Open(REQUESTS),
        };
        Step::Put(PutCall {
            to,
            correl_id: MQCI_NONE,
            body: Body::Own,
        })
    }

    fn commit(&mut self, last: Last) -> Step {
        self.last = last;
        Step::Commit
    }

    /// As many requests as are to be under way are put before a reply is waited for.
    fn after_put(&mut self) -> Step {
        match self.under_way.len() < self.depth {
            true => self.put(),
            false => self.get(),
        }
    }

    fn get(&mut self) -> Step {
        self.last = Last::Get;
        let oldest = self.under_way.front().map(|(id, _)| *id);
        Step::Get(GetCall {
            slot: REPLIES,
            correl_id: match self.by_correlation_id {
                true => oldest.unwrap_or(MQCI_NONE),
                false => MQCI_NONE,
            },
            wait_ms: self.waiting.milliseconds(),
            buffer: self.buffer,
        })
    }

    /// A reply has been got for good.
    fn replied(&mut self) -> Step {
        self.waiting.over();
        let began = self.under_way.pop_front().map(|(_, began)| began);
        match self.ending {
            // Beyond the iterations that were asked for: not counted.
            true => self.end(),
            false => {
                self.last = Last::Nothing;
                Step::Iterated { began }
            }
        }
    }

    fn no_reply(&mut self, ending: bool) -> Step {
        let goes_on = self.waiting.goes_on();
        if goes_on && !ending {
            return self.get();
        }
        self.waiting.over();
        self.last = Last::Nothing;
        match ending || self.ending {
            // What came after it is hardly answered any sooner.
            true => self.under_way.clear(),
            false => _ = self.under_way.pop_front(),
        }
        match goes_on {
            // It had time left: that it is to end is not its failure.
            true => Step::Idle,
            false => Step::Unanswered { slot: REPLIES },
        }
    }

    fn end(&mut self) -> Step {
        self.ending = true;
        match self.under_way.is_empty() {
            true => Step::Finished,
            false => self.get(),
        }
    }
}

impl Application for Requester {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Begin, _) if self.put1 => self.open(Last::OpenReplies),
            (Answer::Begin, _) => self.open(Last::OpenRequests),
            (Answer::Done, Last::OpenRequests) => self.open(Last::OpenReplies),
            (Answer::Done, Last::OpenReplies) => Step::Ready,
            (Answer::Next { at }, _) => {
                self.at = at;
                self.put()
            }
            (Answer::Put { msg_id }, _) => {
                self.under_way.push_back((msg_id, self.at));
                match self.syncpoint.put {
                    true => self.commit(Last::CommitPut),
                    false => self.after_put(),
                }
            }
            (Answer::Done, Last::CommitPut) => self.after_put(),
            (Answer::Got(_), _) if self.syncpoint.get => self.commit(Last::CommitGet),
            (Answer::Got(_), _) | (Answer::Done, Last::CommitGet) => self.replied(),
            (Answer::NoMessage { ending }, _) => self.no_reply(ending),
            (Answer::TooLong { length }, _) => {
                self.buffer = length;
                self.get()
            }
            (Answer::Last, _) => self.end(),
            (Answer::Done | Answer::Stat(_), _) => Step::Finished,
        }
    }
}
