//! A module at work: what it opens, then one of three kinds of steps again and again.
//!
//! Invariant: everything is open before [`Step::Ready`], and nothing but a reply queue is opened after it.

use std::collections::VecDeque;

use posthaste_mqi::constants::{MQOO_FAIL_IF_QUIESCING, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{CorrelId, Name};

use super::consumer::Consumer;
use super::round_trip::RoundTrip;
use super::sender::Sender;
use super::shape::{GetShape, PutShape, Shapes};
use super::{Answer, Module, PerfError, Slot, Step, Workload};

/// Any module, without a table of virtual functions.
enum Kind {
    RoundTrip(RoundTrip),
    Consumer(Consumer),
    Sender(Sender),
}

/// A module at work, and what it puts and gets with.
pub struct Machine {
    /// What is still to be opened; none when everything is.
    opens: Option<VecDeque<Step>>,
    kind: Kind,
    shapes: Shapes,
}

impl Machine {
    /// Application `index` of a workload. `identity` is a correlation identifier that no other
    /// application has.
    ///
    /// # Errors
    /// Those of [`Workload::check`].
    pub fn new(workload: &Workload, index: u32, identity: CorrelId) -> Result<Machine, PerfError> {
        workload.check()?;
        let kind = match workload.module {
            Module::Requester => Kind::RoundTrip(RoundTrip::requester(workload, index)),
            Module::PutGet => Kind::RoundTrip(RoundTrip::put_get(workload, index, identity)),
            Module::Responder => Kind::Consumer(Consumer::responder(workload, index)),
            Module::Receiver => Kind::Consumer(Consumer::receiver(workload)),
            Module::Sender => Kind::Sender(Sender::new(workload, index)),
            Module::Publisher | Module::Subscriber => {
                return Err(PerfError::Usage(
                    "publish/subscribe is not in this release".to_owned(),
                ));
            }
        };
        Ok(Machine {
            opens: Some(opens(workload, index)),
            kind,
            shapes: Shapes::new(workload, index),
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
        match &mut self.kind {
            Kind::RoundTrip(machine) => machine.next(answer),
            Kind::Consumer(machine) => machine.next(answer),
            Kind::Sender(machine) => machine.next(answer),
        }
    }

    /// Iterations that have been counted and are not known to be done for good: they are not committed, or were put
    /// asynchronously and not asked after.
    pub fn uncommitted(&self) -> u64 {
        match &self.kind {
            Kind::Consumer(machine) => machine.uncommitted(),
            Kind::Sender(machine) => machine.uncommitted(),
            Kind::RoundTrip(_) => 0,
        }
    }

    /// What it puts with.
    pub fn put_shape(&self) -> &PutShape {
        &self.shapes.put
    }

    /// What it gets with.
    pub fn get_shape(&self) -> &GetShape {
        &self.shapes.get
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
