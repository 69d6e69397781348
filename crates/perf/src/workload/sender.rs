//! Sender: puts.
//!
//! Invariants: what is counted at the end has been committed; asynchronous puts are asked after with
//! MQSTAT every [`ASK_EVERY`] puts and at the end, and every put is either a success there or makes
//! the application fail.

use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_OUTPUT};
use posthaste_mqi::{Name, Reason, Sts};

use super::application::Nanos;
use super::{Answer, Application, Body, PutCall, PutTarget, Step, Workload};

const QUEUE: usize = 0;
/// Asynchronous puts between two MQSTATs.
pub(crate) const ASK_EVERY: u64 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Open,
    Commit,
    CommitEnd,
    Stat,
    StatEnd,
}

/// A sender.
pub(crate) struct Sender {
    queue: Name,
    put1: bool,
    asynchronous: bool,
    transacted: bool,
    batch: u32,
    /// Messages of the unit of work.
    pending: u32,
    /// Iterations that were counted and are not known to be committed.
    uncommitted: u64,
    /// Asynchronous puts that have not been asked after.
    unasked: u64,
    last: Last,
    at: Nanos,
}

impl Sender {
    pub(crate) fn new(workload: &Workload, index: u32) -> Sender {
        Sender {
            queue: Name::new(&workload.destinations.name(index)),
            put1: workload.put1,
            asynchronous: workload.asynchronous,
            transacted: workload.syncpoint.put,
            batch: workload.batch,
            pending: 0,
            uncommitted: 0,
            unasked: 0,
            last: Last::Nothing,
            at: 0,
        }
    }

    fn put(&self) -> Step {
        let to = match self.put1 {
            true => PutTarget::Named {
                queue: self.queue,
                queue_manager: Name::BLANK,
            },
            false => PutTarget::Open(QUEUE),
        };
        Step::Put(PutCall {
            to,
            correl_id: MQCI_NONE,
            body: Body::Own,
        })
    }

    fn sent(&mut self) -> Step {
        self.unasked += u64::from(self.asynchronous);
        if self.transacted {
            self.pending += 1;
            if self.pending >= self.batch {
                return self.commit(Last::Commit);
            }
            self.uncommitted += 1;
        }
        self.rest()
    }

    fn commit(&mut self, last: Last) -> Step {
        self.pending = 0;
        self.last = last;
        Step::Commit
    }

    fn ask(&mut self, last: Last) -> Step {
        self.last = last;
        Step::Stat
    }

    /// Iterations that a failure now would undo.
    pub(crate) fn uncommitted(&self) -> u64 {
        self.uncommitted
    }

    fn rest(&mut self) -> Step {
        self.last = Last::Nothing;
        // An asynchronous put takes no time that an application could see.
        let began = (!self.asynchronous).then_some(self.at);
        Step::Iterated { began }
    }

    fn told(&mut self, sts: &Sts) -> Step {
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
            _ => self.put(),
        }
    }

    fn end(&mut self) -> Step {
        if self.pending > 0 {
            return self.commit(Last::CommitEnd);
        }
        self.uncommitted = 0;
        match self.unasked > 0 {
            true => self.ask(Last::StatEnd),
            false => Step::Finished,
        }
    }
}

fn count(number: i32) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl Application for Sender {
    fn next(&mut self, answer: Answer<'_>) -> Step {
        match (answer, self.last) {
            (Answer::Begin, _) if self.put1 => Step::Ready,
            (Answer::Begin, _) => {
                self.last = Last::Open;
                Step::Open {
                    slot: QUEUE,
                    queue: self.queue,
                    queue_manager: Name::BLANK,
                    options: MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING,
                }
            }
            (Answer::Done, Last::Open) => Step::Ready,
            (Answer::Next { at }, _) => {
                self.at = at;
                match self.unasked >= ASK_EVERY {
                    true => self.ask(Last::Stat),
                    false => self.put(),
                }
            }
            (Answer::Put { .. }, _) => self.sent(),
            (Answer::Done, Last::Commit) => {
                self.uncommitted = 0;
                self.rest()
            }
            (Answer::Stat(sts), _) => self.told(sts),
            (Answer::Last, _) | (Answer::Done, Last::CommitEnd) => self.end(),
            _ => Step::Finished,
        }
    }
}
