//! The desk on which futures that carry out jobs find the next one.
//!
//! Invariant: there is at most one job, and the future that is polled next takes it, and does it before its own next one.
//! So all futures of a thread that carry out one kind of jobs share a desk.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::conversation::Conversation;

/// What is to be done, and whether what was polled last has been.
pub(crate) struct Desk<T> {
    next: Cell<Option<(Rc<Conversation>, T)>>,
    done: Cell<bool>,
}

impl<T> Default for Desk<T> {
    fn default() -> Self {
        Desk {
            next: Cell::new(None),
            done: Cell::new(false),
        }
    }
}

impl<T> Desk<T> {
    /// Gives a job, for a conversation, to the future that is polled next.
    pub(crate) fn give(&self, conversation: &Rc<Conversation>, job: T) {
        let before = self.next.replace(Some((Rc::clone(conversation), job)));
        assert!(before.is_none(), "whoever gives a job polls for it");
    }

    /// Ready when there is a job.
    pub(crate) async fn job(&self) -> (Rc<Conversation>, T) {
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
