//! Sender: puts.
//!
//! Invariants: what is counted at the end has been committed; asynchronous puts are asked after with
//! MQSTAT every [`ASK_EVERY`] puts and at the end, and every put is either a success there or makes
//! the application fail; those that nobody could ask after any more are not counted.

use posthaste_mqi::constants::MQCI_NONE;
use posthaste_mqi::{Name, Reason, Sts};

use super::unit_of_work::UnitOfWork;
use super::{Answer, Body, Nanos, PutCall, PutTarget, Step, Workload};

/// Asynchronous puts between two MQSTATs.
pub(crate) const ASK_EVERY: u64 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    Commit,
    CommitEnd,
    Stat,
    StatEnd,
}

/// A sender.
pub(crate) struct Sender {
    put: PutCall,
    asynchronous: bool,
    unit: UnitOfWork,
    /// Asynchronous puts that have been counted and not been asked after.
    unasked: u64,
    last: Last,
    at: Nanos,
}

impl Sender {
    pub(crate) fn new(workload: &Workload, index: u32) -> Sender {
        Sender {
            put: PutCall {
                to: PutTarget::first(workload.put1, Name::new(&workload.destinations.name(index))),
                correl_id: MQCI_NONE,
                body: Body::Own,
            },
            asynchronous: workload.asynchronous,
            unit: UnitOfWork::new(workload.syncpoint.put, workload.batch),
            unasked: 0,
            last: Last::Other,
            at: 0,
        }
    }

    fn sent(&mut self) -> Step {
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

    fn ask(&mut self, last: Last) -> Step {
        self.last = last;
        Step::Stat
    }

    /// Iterations that a failure now would undo, or leave unknown. Both are the last ones that were counted.
    pub(crate) fn uncommitted(&self) -> u64 {
        self.unit.uncommitted().max(self.unasked)
    }

    fn rest(&mut self) -> Step {
        self.last = Last::Other;
        self.unasked += u64::from(self.asynchronous);
        // An asynchronous put takes no time that an application could see.
        let began = (!self.asynchronous).then_some(self.at);
        Step::Iterated { began }
    }

    fn settle(&mut self, sts: &Sts) -> Step {
        let done = count(sts.put_success_count) + count(sts.put_warning_count);
        let missing = self.unasked.saturating_sub(done);
        self.unasked = 0;
        if missing > 0 {
            return Step::Rejected {
                count: missing,
                reason: Reason(sts.reason),
            };
        }
        match self.last {
            Last::StatEnd => Step::Finished,
            _ => Step::Put(self.put),
        }
    }

    fn end(&mut self) -> Step {
        if self.unit.is_open() {
            return self.commit(Last::CommitEnd);
        }
        self.unit.settled();
        match self.unasked > 0 {
            true => self.ask(Last::StatEnd),
            false => Step::Finished,
        }
    }

    pub(crate) fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Next { at }, _) => {
                self.at = at;
                match self.unasked >= ASK_EVERY {
                    true => self.ask(Last::Stat),
                    false => Step::Put(self.put),
                }
            }
            (Answer::Put { .. }, _) => self.sent(),
            (Answer::Done, Last::Commit) => {
                self.unit.settled();
                self.rest()
            }
            (Answer::Stat(sts), _) => self.settle(sts),
            (Answer::Last, _) | (Answer::Done, Last::CommitEnd) => self.end(),
            _ => Step::Finished,
        }
    }
}

fn count(number: i32) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
