//! A module at work: it is told how its last call went, and says which call comes next.
//!
//! Invariants:
//! * Everything is open before [`Step::Ready`], and nothing but a reply queue is opened after it; at most
//!   [`OPEN_REPLIES`] of these are, and beyond them replies go by MQPUT1, so that MAXHANDS is never reached.
//! * The reply to a request carries the request's MsgId as its CorrelId (or CorrelId, without `-co`), and a PutGet's
//!   message the application's own.
//! * Requester and PutGet commit a message before what it brings is waited for. Replies to what is under way when the
//!   application is to end are still taken as long as they come, so that none is left on a queue.
//! * The others commit every so many iterations, one commit for what a responder gets and puts; what is open is
//!   committed when the queue runs empty and when the application ends. The iteration that fills the unit of work is
//!   counted after the commit only.
//! * Asynchronous puts are asked after with MQSTAT every [`ASK_EVERY`] puts and at the end: each is a success there, or
//!   makes the application fail, or is not counted because nobody could ask any more.

use std::collections::VecDeque;

use posthaste_mqi::constants::{MQCI_NONE, MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{CorrelId, Name, Reason, Sts};

use super::shape::{GetShape, PutShape, Shapes, Waiting};
use super::{
    Answer, Body, GetCall, Message, Module, Nanos, PerfError, PutCall, PutTarget, Slot, Step,
    Workload,
};

/// Asynchronous puts between two MQSTATs.
const ASK_EVERY: u64 = 10_000;
/// Most reply queues that are held open.
const OPEN_REPLIES: usize = 200;

/// What the answer is to, where the answer alone does not tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Other,
    /// The commit of a message that is to be answered, of its answer.
    CommitPut,
    CommitGet,
    /// The commit of a full unit of work, of an idle application, of one that ends.
    CommitFull,
    CommitIdle,
    CommitEnd,
    OpenReplies,
    StatEnd,
}

/// A module at work, and what it puts and gets with.
pub struct Machine {
    module: Module,
    /// What is still to be opened; none when everything is.
    opens: Option<VecDeque<Step>>,
    shapes: Shapes,
    asked: Asked,
    /// When the present iteration began.
    at: Nanos,
    /// The message to put; of a responder, the reply to the present request.
    put: PutCall,
    /// Where messages come from, and the buffer for them.
    from: Slot,
    buffer: usize,
    waiting: Waiting,
    by_correlation_id: bool,
    ending: bool,
    /// What a PutGet's messages carry; others are told apart by the MsgId of what they answer.
    own: Option<CorrelId>,
    /// A requester's and a PutGet's messages are committed each by itself.
    commits: super::Syncpoint,
    depth: usize,
    /// Messages without an answer, oldest first, and when they began.
    under_way: VecDeque<(CorrelId, Nanos)>,
    /// Where a responder replies to requests that name no queue.
    otherwise: Name,
    put1: bool,
    /// Reply queues that are open; the slot is the place + 1.
    replies: Vec<(Name, Name)>,
    /// Iterations of a unit of work; none without syncpoint.
    batch: Option<u32>,
    /// Those in the present one.
    pending: u32,
    /// Iterations that were counted and are not known to be committed.
    uncommitted: u64,
    asynchronous: bool,
    /// Asynchronous puts that have been counted and not been asked after.
    unasked: u64,
}

impl Machine {
    /// Application `index` of a workload. `identity` is a correlation identifier that no other
    /// application has.
    ///
    /// # Errors
    /// Those of [`Workload::check`].
    pub fn new(workload: &Workload, index: u32, identity: CorrelId) -> Result<Machine, PerfError> {
        workload.check()?;
        let commits = workload.syncpoint;
        let own = match workload.by_correlation_id {
            true => identity,
            false => MQCI_NONE,
        };
        let own = (workload.module == Module::PutGet).then_some(own);
        let to = match workload.module {
            Module::Requester => workload.requests.name(index),
            _ => workload.destinations.name(index),
        };
        let replies_with_request = workload.module == Module::Responder && workload.copy_request;
        let transacted = match workload.module {
            Module::Sender => commits.put,
            Module::Receiver => commits.get,
            Module::Responder => commits.put || commits.get,
            _ => false,
        };
        Ok(Machine {
            module: workload.module,
            opens: Some(opens(workload, index)),
            shapes: Shapes::new(workload, index),
            asked: Asked::Other,
            at: 0,
            put: PutCall {
                to: PutTarget::first(workload.put1, Name::new(&to)),
                correl_id: own.unwrap_or(MQCI_NONE),
                body: if replies_with_request {
                    Body::Got
                } else {
                    Body::Own
                },
            },
            from: usize::from(workload.module == Module::Requester),
            buffer: workload.buffer(),
            waiting: Waiting::new(workload),
            by_correlation_id: workload.by_correlation_id,
            ending: false,
            own,
            commits,
            depth: usize::try_from(workload.queue_depth).unwrap_or(usize::MAX),
            under_way: VecDeque::new(),
            otherwise: Name::new(&workload.replies.name(index)),
            put1: workload.put1,
            replies: Vec::new(),
            batch: transacted.then_some(workload.batch),
            pending: 0,
            uncommitted: 0,
            asynchronous: workload.asynchronous,
            unasked: 0,
        })
    }

    /// Takes how the last step went; gives the next one.
    pub fn next(&mut self, answer: Answer<'_>) -> Step {
        if let Some(opens) = &mut self.opens {
            return opens.pop_front().unwrap_or_else(|| {
                self.opens = None;
                Step::Ready
            });
        }
        let asked = std::mem::replace(&mut self.asked, Asked::Other);
        match answer {
            Answer::Next { at } => {
                self.at = at;
                match self.module {
                    Module::Receiver | Module::Responder => self.get(),
                    _ if self.unasked >= ASK_EVERY => Step::Stat,
                    _ => Step::Put(self.put),
                }
            }
            Answer::Put { msg_id } if self.is_answered() => {
                let id = self.own.unwrap_or(msg_id);
                self.under_way.push_back((id, self.at));
                match self.commits.put {
                    true => self.commit(Asked::CommitPut),
                    false => self.wait_for_answers(),
                }
            }
            Answer::Put { .. } => self.dealt_with(),
            Answer::Got(_) if self.is_answered() => match self.commits.get {
                true => self.commit(Asked::CommitGet),
                false => self.answered(),
            },
            Answer::Got(message) if self.module == Module::Responder => self.reply(message),
            Answer::Got(_) => self.dealt_with(),
            Answer::NoMessage { ending } if self.is_answered() => self.no_answer(ending),
            Answer::NoMessage { .. } if self.pending > 0 => self.commit(Asked::CommitIdle),
            Answer::NoMessage { .. } => self.idle(),
            Answer::TooLong { length } => {
                self.buffer = length;
                self.get()
            }
            Answer::Stat(sts) => self.settle(asked, sts),
            Answer::Last => self.end(),
            Answer::Begin => Step::Finished,
            Answer::Done => match asked {
                Asked::CommitPut => self.wait_for_answers(),
                Asked::CommitGet => self.answered(),
                Asked::CommitFull => {
                    self.uncommitted = 0;
                    self.rest()
                }
                Asked::CommitIdle => self.idle(),
                Asked::CommitEnd => self.end(),
                Asked::OpenReplies => Step::Put(self.put),
                Asked::Other | Asked::StatEnd => Step::Finished,
            },
        }
    }

    /// Iterations that have been counted and are not known to be done for good: they are not committed, or were put
    /// asynchronously and not asked after. Both are the last ones that were counted.
    pub fn uncommitted(&self) -> u64 {
        self.uncommitted.max(self.unasked)
    }

    /// What it puts with.
    pub fn put_shape(&self) -> &PutShape {
        &self.shapes.put
    }

    /// What it gets with.
    pub fn get_shape(&self) -> &GetShape {
        &self.shapes.get
    }

    /// Whether each message that it puts is answered by one that it gets.
    fn is_answered(&self) -> bool {
        matches!(self.module, Module::Requester | Module::PutGet)
    }

    fn commit(&mut self, asked: Asked) -> Step {
        self.pending = 0;
        self.asked = asked;
        Step::Commit
    }

    fn get(&mut self) -> Step {
        let oldest = self.under_way.front().filter(|_| self.by_correlation_id);
        Step::Get(GetCall {
            slot: self.from,
            correl_id: oldest.map_or(MQCI_NONE, |(id, _)| *id),
            wait_ms: self.waiting.milliseconds(),
            buffer: self.buffer,
        })
    }

    /// As many messages as are to be under way are put before an answer is waited for.
    fn wait_for_answers(&mut self) -> Step {
        match self.under_way.len() < self.depth {
            true => Step::Put(self.put),
            false => self.get(),
        }
    }

    /// An answer has been got for good.
    fn answered(&mut self) -> Step {
        self.waiting.over();
        let began = self.under_way.pop_front().map(|(_, began)| began);
        match self.ending {
            // Beyond the iterations that were asked for: not counted.
            true => self.end(),
            false => Step::Iterated { began },
        }
    }

    fn no_answer(&mut self, ending: bool) -> Step {
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

    /// The reply to a message, or what has to be opened for it before.
    fn reply(&mut self, message: &Message) -> Step {
        let (queue, queue_manager) = match message.reply_to.is_blank() {
            true => (self.otherwise, Name::BLANK),
            false => (message.reply_to, message.reply_to_q_mgr),
        };
        self.put.correl_id = match self.by_correlation_id {
            true => message.msg_id,
            false => message.correl_id,
        };
        let known = self
            .replies
            .iter()
            .position(|open| *open == (queue, queue_manager));
        let slot = known.unwrap_or(self.replies.len()) + 1;
        self.put.to = PutTarget::Open(slot);
        if known.is_none() && (self.put1 || self.replies.len() >= OPEN_REPLIES) {
            self.put.to = PutTarget::Named {
                queue,
                queue_manager,
            };
        } else if known.is_none() {
            self.replies.push((queue, queue_manager));
            self.asked = Asked::OpenReplies;
            let options = MQOO_OUTPUT | MQOO_FAIL_IF_QUIESCING;
            return Step::Open {
                slot,
                queue,
                queue_manager,
                options,
            };
        }
        Step::Put(self.put)
    }

    /// A message has been put, or got and replied to.
    fn dealt_with(&mut self) -> Step {
        if let Some(batch) = self.batch {
            self.pending += 1;
            if self.pending >= batch {
                return self.commit(Asked::CommitFull);
            }
            self.uncommitted += 1;
        }
        self.rest()
    }

    /// The time of a responder is its requester's, and an asynchronous put takes none that an application could see.
    fn rest(&mut self) -> Step {
        self.unasked += u64::from(self.asynchronous);
        let timed = self.module != Module::Responder && !self.asynchronous;
        Step::Iterated {
            began: timed.then_some(self.at),
        }
    }

    fn idle(&mut self) -> Step {
        self.uncommitted = 0;
        Step::Idle
    }

    fn settle(&mut self, asked: Asked, sts: &Sts) -> Step {
        let count = |number: i32| u64::try_from(number).unwrap_or(0);
        let done = count(sts.put_success_count) + count(sts.put_warning_count);
        let missing = std::mem::take(&mut self.unasked).saturating_sub(done);
        match asked {
            _ if missing > 0 => Step::Rejected {
                count: missing,
                reason: Reason(sts.reason),
            },
            Asked::StatEnd => Step::Finished,
            _ => Step::Put(self.put),
        }
    }

    fn end(&mut self) -> Step {
        self.ending = true;
        if !self.under_way.is_empty() {
            return self.get();
        }
        if self.pending > 0 {
            return self.commit(Asked::CommitEnd);
        }
        self.uncommitted = 0;
        if self.unasked > 0 {
            self.asked = Asked::StatEnd;
            return Step::Stat;
        }
        Step::Finished
    }
}

/// What a module has open from the beginning; MQPUT1 needs no queue open for output.
fn opens(workload: &Workload, index: u32) -> VecDeque<Step> {
    let open = |slot: Slot, queue: &str, options: i32| Step::Open {
        slot,
        queue: Name::new(queue),
        queue_manager: Name::BLANK,
        options: options | MQOO_FAIL_IF_QUIESCING,
    };
    let requests = workload.requests.name(index);
    let destination = workload.destinations.name(index);
    let output = match workload.put1 {
        true => 0,
        false => MQOO_OUTPUT,
    };
    let mut all = VecDeque::new();
    match workload.module {
        Module::Requester => {
            let replies = workload.replies.name(index);
            all.push_back(open(0, &requests, output));
            all.push_back(open(1, &replies, MQOO_INPUT_SHARED));
        }
        Module::Responder => all.push_back(open(0, &requests, MQOO_INPUT_SHARED)),
        Module::Receiver => all.push_back(open(0, &destination, MQOO_INPUT_SHARED)),
        Module::PutGet => all.push_back(open(0, &destination, output | MQOO_INPUT_SHARED)),
        _ => all.push_back(open(0, &destination, output)),
    }
    let opens_nothing = |step: &Step| matches!(step, Step::Open { options, .. } if *options == MQOO_FAIL_IF_QUIESCING);
    all.retain(|step| !opens_nothing(step));
    all
}

#[cfg(test)]
mod tests;
