//! A conversation at work: its verbs are begun, run on and ended, one after the other.
//!
//! Invariant: what a request costs is counted until its verb has ended; the session's end is the last that runs.

use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use crate::conversation::{Common, Conversation, Job, ToDo};
use crate::running::Running;

/// How far a conversation has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It waits, for a request or for its verb.
    Waits,
    /// It waits until the peer has read more.
    Held,
    /// It is over; its session has ended.
    Over,
}

/// A conversation at work: what its connection has of it.
pub(crate) struct Worker {
    pub(crate) conversation: Rc<Conversation>,
    /// The verb that runs, and what its request costs; none for what nobody has asked for.
    running: Option<(Running, Option<usize>)>,
    /// The end of its session.
    ending: Option<Running>,
    /// A verb has run, since this was asked last.
    ran: bool,
    /// Wakes it.
    waker: Waker,
}

impl Worker {
    pub(crate) fn new(id: u32, common: &Rc<Common>, waker: Waker) -> Worker {
        let instance = &common.instance;
        instance.conversations.fetch_add(1, Ordering::Relaxed);
        Worker {
            conversation: Rc::new(Conversation::new(id, common)),
            running: None,
            ending: None,
            ran: false,
            waker,
        }
    }

    /// Whether an application may be connected: it is, or a verb runs.
    pub(crate) fn is_in_use(&self) -> bool {
        self.running.is_some() || self.conversation.session.borrow().is_some()
    }

    /// Whether a verb has run since this was asked last: to be woken for nothing is no call.
    pub(crate) fn has_run(&mut self) -> bool {
        std::mem::take(&mut self.ran)
    }

    /// A verb has ended.
    fn finished(&self, cost: Option<usize>) {
        if let Some(cost) = cost {
            self.conversation.finished(cost);
        }
        self.conversation.note_streaming();
    }

    /// Goes on as far as it can.
    pub(crate) fn step(&mut self) -> Step {
        let mut cx = Context::from_waker(&self.waker);
        loop {
            if let Some(ending) = &mut self.ending {
                if ending.poll(&mut cx).is_pending() {
                    return Step::Waits;
                }
                return Step::Over;
            }
            if let Some((running, cost)) = &mut self.running {
                self.ran = true;
                if running.poll(&mut cx).is_pending() {
                    return Step::Waits;
                }
                let cost = *cost;
                self.running = None;
                self.finished(cost);
            }
            let (job, cost) = match self.conversation.to_do(&mut cx) {
                ToDo::Nothing => return Step::Waits,
                ToDo::Later => return Step::Held,
                ToDo::Now(item, cost) => (Job::Serve(item), Some(cost)),
                ToDo::Deliver(due) => (Job::Deliver(due), None),
                ToDo::End => {
                    self.conversation.end_streams();
                    self.ending = Running::begin(&self.conversation, Job::End, &mut cx);
                    return match self.ending {
                        Some(_) => Step::Waits,
                        None => Step::Over,
                    };
                }
            };
            self.ran = true;
            if let Some(running) = Running::begin(&self.conversation, job, &mut cx) {
                self.running = Some((running, cost));
                return Step::Waits;
            }
            self.finished(cost);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let instance = &self.conversation.common.instance;
        instance.conversations.fetch_sub(1, Ordering::Relaxed);
    }
}
