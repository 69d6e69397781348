//! Receiver: gets.
//!
//! Invariant: what has been got is committed when the queue runs empty and when the application
//! ends, however full the unit of work is.

use posthaste_mqi::Name;
use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED};

use super::application::Nanos;
use super::shape::Waiting;
use super::{Answer, Application, GetCall, Step, Workload};

const QUEUE: usize = 0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Open,
    Commit,
    CommitIdle,
}

/// A receiver.
pub(crate) struct Receiver {
    queue: Name,
    transacted: bool,
    batch: u32,
    /// Messages of the unit of work.
    pending: u32,
    /// Iterations that were counted and are not known to be committed.
    uncommitted: u64,
    buffer: usize,
    wait_ms: i32,
    last: Last,
    at: Nanos,
}

impl Receiver {
    pub(crate) fn new(workload: &Workload, index: u32) -> Receiver {
        Receiver {
            queue: Name::new(&workload.destinations.name(index)),
            transacted: workload.syncpoint.get,
            batch: workload.batch,
            pending: 0,
            uncommitted: 0,
            buffer: workload.buffer(),
            wait_ms: Waiting::new(workload).milliseconds(),
            last: Last::Nothing,
            at: 0,
        }
    }

    fn get(&mut self) -> Step {
        self.last = Last::Nothing;
        Step::Get(GetCall {
            slot: QUEUE,
            correl_id: MQCI_NONE,
            wait_ms: self.wait_ms,
            buffer: self.buffer,
        })
    }

    fn commit(&mut self, last: Last) -> Step {
        self.pending = 0;
        self.last = last;
        Step::Commit
    }

    fn got(&mut self) -> Step {
        if self.transacted {
            self.pending += 1;
            if self.pending >= self.batch {
                return self.commit(Last::Commit);
            }
            self.uncommitted += 1;
        }
        self.rest()
    }

    /// Iterations that a failure now would undo.
    pub(crate) fn uncommitted(&self) -> u64 {
        self.uncommitted
    }

    fn rest(&mut self) -> Step {
        self.last = Last::Nothing;
        Step::Iterated {
            began: Some(self.at),
        }
    }
}

impl Application for Receiver {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Begin, _) => {
                self.last = Last::Open;
                Step::Open {
                    slot: QUEUE,
                    queue: self.queue,
                    queue_manager: Name::BLANK,
                    options: MQOO_INPUT_SHARED | MQOO_FAIL_IF_QUIESCING,
                }
            }
            (Answer::Done, Last::Open) => Step::Ready,
            (Answer::Next { at }, _) => {
                self.at = at;
                self.get()
            }
            (Answer::Got(_), _) => self.got(),
            (Answer::Done, Last::Commit) => {
                self.uncommitted = 0;
                self.rest()
            }
            (Answer::NoMessage { .. }, _) if self.pending > 0 => self.commit(Last::CommitIdle),
            (Answer::NoMessage { .. }, _) | (Answer::Done, Last::CommitIdle) => {
                self.uncommitted = 0;
                Step::Idle
            }
            (Answer::TooLong { length }, _) => {
                self.buffer = length;
                self.get()
            }
            (Answer::Last, _) if self.pending > 0 => self.commit(Last::Nothing),
            _ => {
                self.uncommitted = 0;
                Step::Finished
            }
        }
    }
}
