//! Receiver: gets.
//!
//! Invariant: what has been got is committed when the queue runs empty and when the application
//! ends, however full the unit of work is.

use posthaste_mqi::Name;
use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED};

use super::application::Nanos;
use super::shape::Waiting;
use super::unit_of_work::UnitOfWork;
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
    unit: UnitOfWork,
    buffer: usize,
    wait_ms: i32,
    last: Last,
    at: Nanos,
}

impl Receiver {
    pub(crate) fn new(workload: &Workload, index: u32) -> Receiver {
        Receiver {
            queue: Name::new(&workload.destinations.name(index)),
            unit: UnitOfWork::new(workload.syncpoint.get, workload.batch),
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
        self.unit.commits();
        self.last = last;
        Step::Commit
    }

    fn got(&mut self) -> Step {
        match self.unit.fills() {
            true => self.commit(Last::Commit),
            false => self.rest(),
        }
    }

    /// Iterations that a failure now would undo.
    pub(crate) fn uncommitted(&self) -> u64 {
        self.unit.uncommitted()
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
            (Answer::Last, _) if self.unit.is_open() => self.commit(Last::Nothing),
            _ => {
                self.unit.settled();
                Step::Finished
            }
        }
    }
}
