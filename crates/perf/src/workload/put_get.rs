//! PutGet: puts a message and gets that message.
//!
//! Invariant: with `-co` (the default) an application gets only what it has put: it has a correlation
//! identifier of its own.

use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{CorrelId, Name};

use super::application::Nanos;
use super::shape::Waiting;
use super::{Answer, Application, Body, GetCall, PutCall, PutTarget, Step, Syncpoint, Workload};

const QUEUE: usize = 0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Open,
    CommitPut,
    CommitGet,
}

/// An application that puts and gets.
pub(crate) struct PutGet {
    queue: Name,
    put1: bool,
    correl_id: CorrelId,
    by_correlation_id: bool,
    syncpoint: Syncpoint,
    buffer: usize,
    waiting: Waiting,
    last: Last,
    at: Nanos,
}

impl PutGet {
    pub(crate) fn new(workload: &Workload, index: u32, identity: CorrelId) -> PutGet {
        PutGet {
            queue: Name::new(&workload.destinations.name(index)),
            put1: workload.put1,
            correl_id: match workload.by_correlation_id {
                true => identity,
                false => MQCI_NONE,
            },
            by_correlation_id: workload.by_correlation_id,
            syncpoint: workload.syncpoint,
            buffer: workload.buffer(),
            waiting: Waiting::new(workload),
            last: Last::Nothing,
            at: 0,
        }
    }

    fn put(&mut self) -> Step {
        let to = match self.put1 {
            true => PutTarget::Named {
                queue: self.queue,
                queue_manager: Name::BLANK,
            },
            false => PutTarget::Open(QUEUE),
        };
        Step::Put(PutCall {
            to,
            correl_id: self.correl_id,
            body: Body::Own,
        })
    }

    fn get(&mut self) -> Step {
        self.last = Last::Nothing;
        Step::Get(GetCall {
            slot: QUEUE,
            correl_id: match self.by_correlation_id {
                true => self.correl_id,
                false => MQCI_NONE,
            },
            wait_ms: self.waiting.milliseconds(),
            buffer: self.buffer,
        })
    }

    fn commit(&mut self, last: Last) -> Step {
        self.last = last;
        Step::Commit
    }

    fn rest(&mut self) -> Step {
        self.waiting.over();
        self.last = Last::Nothing;
        Step::Iterated {
            began: Some(self.at),
        }
    }

    fn no_message(&mut self, ending: bool) -> Step {
        match (self.waiting.goes_on(), ending) {
            (true, false) => self.get(),
            (goes_on, _) => {
                self.waiting.over();
                match goes_on {
                    // It had time left: that it is to end is not its failure.
                    true => Step::Idle,
                    false => Step::Unanswered { slot: QUEUE },
                }
            }
        }
    }
}

impl Application for PutGet {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Begin, _) => {
                self.last = Last::Open;
                let output = match self.put1 {
                    true => 0,
                    false => MQOO_OUTPUT,
                };
                Step::Open {
                    slot: QUEUE,
                    queue: self.queue,
                    queue_manager: Name::BLANK,
                    options: output | MQOO_INPUT_SHARED | MQOO_FAIL_IF_QUIESCING,
                }
            }
            (Answer::Done, Last::Open) => Step::Ready,
            (Answer::Next { at }, _) => {
                self.at = at;
                self.put()
            }
            (Answer::Put { .. }, _) if self.syncpoint.put => self.commit(Last::CommitPut),
            (Answer::Put { .. }, _) | (Answer::Done, Last::CommitPut) => self.get(),
            (Answer::Got(_), _) if self.syncpoint.get => self.commit(Last::CommitGet),
            (Answer::Got(_), _) | (Answer::Done, Last::CommitGet) => self.rest(),
            (Answer::NoMessage { ending }, _) => self.no_message(ending),
            (Answer::TooLong { length }, _) => {
                self.buffer = length;
                self.get()
            }
            _ => Step::Finished,
        }
    }
}
