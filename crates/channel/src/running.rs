//! A verb that runs: its future, in storage that goes round.
//!
//! Invariants: storage belongs to the thread until a verb begins in it, and goes back when the verb has ended. A verb
//! that never waits, and nearly all do not, takes no memory of its own; one that waits keeps its storage so long. The
//! future of a storage is made once and carries out one job after the other: to make one for each job would be to copy
//! all of its room, most of which is for waits that do not happen. One that is given up in a job is made anew.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::conversation::{Conversation, Job};
use crate::desk::Desk;
use crate::dispatch::carry_out;

/// Storage that a thread keeps for verbs to come. More than one is needed when several end to wait at a time.
const SPARES: usize = 16;

/// Room for one future of a kind that has no name.
trait Storage {
    fn begin(&mut self, conversation: Rc<Conversation>, job: Job);
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
    /// Ends the job, done or not.
    fn clear(&mut self);
}

struct Room<F> {
    make: fn(Rc<Desk>) -> F,
    desk: Rc<Desk>,
    /// It has a job.
    busy: bool,
    future: Pin<Box<F>>,
}

impl<F: Future<Output = ()>> Storage for Room<F> {
    fn begin(&mut self, conversation: Rc<Conversation>, job: Job) {
        self.desk.give(conversation, job);
        self.busy = true;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.busy {
            return Poll::Ready(());
        }
        let ended = self.future.as_mut().poll(cx).is_ready() || self.desk.is_done();
        match ended {
            true => {
                self.busy = false;
                Poll::Ready(())
            }
            false => Poll::Pending,
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.busy) {
            self.desk = Rc::default();
            self.future.set((self.make)(Rc::clone(&self.desk)));
        }
    }
}

fn room<F: Future<Output = ()> + 'static>(make: fn(Rc<Desk>) -> F) -> Box<dyn Storage> {
    let desk = Rc::default();
    Box::new(Room {
        make,
        future: Box::pin(make(Rc::clone(&desk))),
        desk,
        busy: false,
    })
}

thread_local! {
    static SPARE: RefCell<Vec<Box<dyn Storage>>> = const { RefCell::new(Vec::new()) };
}

/// A verb that has begun and has not ended.
pub(crate) struct Running {
    /// There until it is dropped.
    storage: Option<Box<dyn Storage>>,
}

impl Running {
    /// Begins; nothing happens before it is polled.
    pub(crate) fn begin(conversation: &Rc<Conversation>, job: Job) -> Running {
        let spare = SPARE.with(|spare| spare.borrow_mut().pop());
        let mut storage = spare.unwrap_or_else(|| room(carry_out));
        storage.begin(Rc::clone(conversation), job);
        Running {
            storage: Some(storage),
        }
    }

    /// Ready when it has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.storage {
            Some(storage) => storage.poll(cx),
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut storage) = self.storage.take() else {
            return;
        };
        storage.clear();
        // A thread that is going keeps nothing.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                spare.push(storage);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F>(_: fn(Rc<Desk>) -> F) -> usize {
        size_of::<F>()
    }

    /// A get that waits keeps this much; besides, a request touches it.
    #[test]
    fn a_verb_that_waits_is_small() {
        let future = size_of_future(carry_out);
        assert!(future <= 1_496, "{future} bytes");
    }
}
