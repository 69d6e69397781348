//! The desk on which the future that carries out jobs finds the next one.
//!
//! Invariant: there is at most one job, and it is done before the next one comes.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::conversation::{Conversation, Job};

/// What is to be done, and whether it has been.
#[derive(Default)]
pub(crate) struct Desk {
    next: Cell<Option<(Rc<Conversation>, Job)>>,
    done: Cell<bool>,
}

impl Desk {
    /// Gives a job, for a conversation.
    pub(crate) fn give(&self, conversation: Rc<Conversation>, job: Job) {
        self.next.set(Some((conversation, job)));
    }

    /// Ready when there is a job.
    pub(crate) async fn job(&self) -> (Rc<Conversation>, Job) {
        poll_fn(|_| self.next.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// The job has been carried out.
    pub(crate) fn finish(&self) {
        self.done.set(true);
    }

    /// Whether it has, since this was asked last.
    pub(crate) fn is_done(&self) -> bool {
        self.done.take()
    }
}
