//! Requester and PutGet: put a message, then wait for the one that answers it.
//!
//! Invariants: the reply to a request carries the request's MsgId as its CorrelId, and a PutGet's message the
//! application's own; a message is committed before what it brings is waited for; replies to what is under way when the
//! application is to end are still taken as long as they come, so that none is left on a queue.

use std::collections::VecDeque;

use posthaste_mqi::constants::MQCI_NONE;
use posthaste_mqi::{CorrelId, Name};

use super::shape::Waiting;
use super::{Answer, Body, GetCall, Nanos, PutCall, PutTarget, Slot, Step, Syncpoint, Workload};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    CommitPut,
    CommitGet,
}

/// An application that waits for an answer to what it has put.
pub(crate) struct RoundTrip {
    put: PutCall,
    /// Where answers come.
    from: Slot,
    /// What the application's own messages carry; without it they are told apart by the MsgId of what they answer.
    own: Option<CorrelId>,
    by_correlation_id: bool,
    syncpoint: Syncpoint,
    depth: usize,
    buffer: usize,
    waiting: Waiting,
    last: Last,
    /// When the present iteration began.
    at: Nanos,
    /// Messages without an answer, oldest first, and when they began.
    under_way: VecDeque<(CorrelId, Nanos)>,
    ending: bool,
}

impl RoundTrip {
    pub(crate) fn requester(workload: &Workload, index: u32) -> RoundTrip {
        RoundTrip::new(workload, &workload.requests.name(index), 1, None)
    }

    pub(crate) fn put_get(workload: &Workload, index: u32, identity: CorrelId) -> RoundTrip {
        let own = match workload.by_correlation_id {
            true => identity,
            false => MQCI_NONE,
        };
        RoundTrip::new(workload, &workload.destinations.name(index), 0, Some(own))
    }

    fn new(workload: &Workload, to: &str, from: Slot, own: Option<CorrelId>) -> RoundTrip {
        RoundTrip {
            put: PutCall {
                to: PutTarget::first(workload.put1, Name::new(to)),
                correl_id: own.unwrap_or(MQCI_NONE),
                body: Body::Own,
            },
            from,
            own,
            by_correlation_id: workload.by_correlation_id,
            syncpoint: workload.syncpoint,
            depth: usize::try_from(workload.queue_depth).unwrap_or(usize::MAX),
            buffer: workload.buffer(),
            waiting: Waiting::new(workload),
            last: Last::Other,
            at: 0,
            under_way: VecDeque::new(),
            ending: false,
        }
    }

    fn commit(&mut self, last: Last) -> Step {
        self.last = last;
        Step::Commit
    }

    /// As many messages as are to be under way are put before an answer is waited for.
    fn after_put(&mut self) -> Step {
        match self.under_way.len() < self.depth {
            true => Step::Put(self.put),
            false => self.get(),
        }
    }

    fn get(&mut self) -> Step {
        self.last = Last::Other;
        let oldest = self.under_way.front().map(|(id, _)| *id);
        Step::Get(GetCall {
            slot: self.from,
            correl_id: match self.by_correlation_id {
                true => oldest.unwrap_or(MQCI_NONE),
                false => MQCI_NONE,
            },
            wait_ms: self.waiting.milliseconds(),
            buffer: self.buffer,
        })
    }

    /// An answer has been got for good.
    fn answered(&mut self) -> Step {
        self.waiting.over();
        self.last = Last::Other;
        let began = self.under_way.pop_front().map(|(_, began)| began);
        match self.ending {
            // Beyond the iterations that were asked for: not counted.
            true => self.end(),
            false => Step::Iterated { began },
        }
    }

    fn no_message(&mut self, ending: bool) -> Step {
        let goes_on = self.waiting.goes_on();
        if goes_on && !ending {
            return self.get();
        }
        self.waiting.over();
        match ending || self.ending {
            // What came after it is hardly answered any sooner.
            true => self.under_way.clear(),
            false => _ = self.under_way.pop_front(),
        }
        match goes_on {
            // It had time left: that it is to end is not its failure.
            true => Step::Idle,
            false => Step::Unanswered { slot: self.from },
        }
    }

    fn end(&mut self) -> Step {
        self.ending = true;
        match self.under_way.is_empty() {
            true => Step::Finished,
            false => self.get(),
        }
    }

    pub(crate) fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Next { at }, _) => {
                self.at = at;
                Step::Put(self.put)
            }
            (Answer::Put { msg_id }, _) => {
                let id = self.own.unwrap_or(msg_id);
                self.under_way.push_back((id, self.at));
                match self.syncpoint.put {
                    true => self.commit(Last::CommitPut),
                    false => self.after_put(),
                }
            }
            (Answer::Done, Last::CommitPut) => self.after_put(),
            (Answer::Got(_), _) if self.syncpoint.get => self.commit(Last::CommitGet),
            (Answer::Got(_), _) | (Answer::Done, Last::CommitGet) => self.answered(),
            (Answer::NoMessage { ending }, _) => self.no_message(ending),
            (Answer::TooLong { length }, _) => {
                self.buffer = length;
                self.get()
            }
            (Answer::Last, _) => self.end(),
            (Answer::Begin | Answer::Done | Answer::Stat(_), _) => Step::Finished,
        }
    }
}
