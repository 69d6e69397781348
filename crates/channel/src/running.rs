//! A verb that runs: its future, in storage that goes round.
//!
//! Invariants: storage belongs to the thread until a verb begins in it, and goes back when the verb has ended. A verb
//! that never waits, and nearly all do not, takes no memory of its own; one that waits keeps its storage so long. The
//! future of a storage is made once and carries out one job after the other: to make one for each job would be to copy
//! all of its room, most of which is for waits that do not happen. One that is given up in a job is made anew. What waits
//! long and often is an MQGET: its storage has no room for other verbs, which wait for a disk at most.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use posthaste_wire::Request;

use crate::conversation::{Conversation, Item, Job};
use crate::desk::Desk;
use crate::dispatch::{Get, carry_out, carry_out_gets};

/// Storage that a thread keeps for verbs to come. More than one is needed when several end to wait at a time.
const SPARES: usize = 16;

/// Room for one future of a kind that has no name.
trait Storage {
    /// Goes on with the job; the first time, with what lies on the desk.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
    /// Goes back, whether the job has been done or not.
    fn put_back(self: Box<Self>);
}

struct Room<T, M, F> {
    /// Gone when its thread is going.
    pool: Weak<Pool<T>>,
    make: M,
    desk: Rc<Desk<T>>,
    /// It has begun a job, and not ended it.
    busy: bool,
    future: Pin<Box<F>>,
}

impl<T, M, F> Storage for Room<T, M, F>
where
    T: 'static,
    M: Fn(Rc<Desk<T>>) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.busy = true;
        match self.future.as_mut().poll(cx).is_ready() || self.desk.is_done() {
            true => {
                self.busy = false;
                Poll::Ready(())
            }
            false => Poll::Pending,
        }
    }

    fn put_back(mut self: Box<Self>) {
        if std::mem::take(&mut self.busy) {
            self.future.set((self.make)(Rc::clone(&self.desk)));
        }
        let Some(pool) = self.pool.upgrade() else {
            return;
        };
        let mut spare = pool.spare.borrow_mut();
        if spare.len() < SPARES {
            spare.push(self);
        }
    }
}

/// The storage of a thread for one kind of jobs.
struct Pool<T> {
    desk: Rc<Desk<T>>,
    spare: RefCell<Vec<Box<dyn Storage>>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool {
            desk: Rc::default(),
            spare: RefCell::default(),
        }
    }
}

thread_local! {
    static GETS: Rc<Pool<Get>> = Rc::default();
    static OTHERS: Rc<Pool<Job>> = Rc::default();
}

/// Storage that does a job when it is polled, which is to be at once.
fn storage_for<T, M, F>(
    pool: &Rc<Pool<T>>,
    make: M,
    conversation: &Rc<Conversation>,
    job: T,
) -> Box<dyn Storage>
where
    T: 'static,
    M: Fn(Rc<Desk<T>>) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    pool.desk.give(conversation, job);
    let spare = pool.spare.borrow_mut().pop();
    spare.unwrap_or_else(|| {
        Box::new(Room {
            pool: Rc::downgrade(pool),
            future: Box::pin(make(Rc::clone(&pool.desk))),
            make,
            desk: Rc::clone(&pool.desk),
            busy: false,
        })
    })
}

/// A verb that has begun and has not ended.
pub(crate) struct Running {
    /// There until it is dropped.
    storage: Option<Box<dyn Storage>>,
}

impl Running {
    /// Begins, and goes on as far as it can; none: it has ended.
    pub(crate) fn begin(
        conversation: &Rc<Conversation>,
        job: Job,
        cx: &mut Context<'_>,
    ) -> Option<Running> {
        let storage = match job {
            Job::Serve(Item::Request {
                header,
                handle,
                request: Request::Get(get),
            }) => {
                let get = Get {
                    header,
                    handle,
                    get,
                };
                GETS.with(|pool| storage_for(pool, carry_out_gets, conversation, get))
            }
            job => OTHERS.with(|pool| storage_for(pool, carry_out, conversation, job)),
        };
        let mut running = Running {
            storage: Some(storage),
        };
        running.poll(cx).is_pending().then_some(running)
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
        if let Some(storage) = self.storage.take() {
            storage.put_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<T, F>(_: fn(Rc<Desk<T>>) -> F) -> usize {
        size_of::<F>()
    }

    /// A get that waits keeps this much; besides, a request touches it. Both are of mimalloc's sizes.
    #[test]
    fn a_verb_that_waits_is_small() {
        let get = size_of_future(carry_out_gets);
        assert!(get <= 1_024, "{get} bytes");
        let other = size_of_future(carry_out);
        assert!(other <= 1_536, "{other} bytes");
    }

    /// What comes to a get that waits besides its future: a box, and no desk.
    #[test]
    fn storage_is_small_beside_its_future() {
        fn size<T, M, F>(_: M) -> usize
        where
            M: Fn(Rc<Desk<T>>) -> F,
        {
            size_of::<Room<T, M, F>>()
        }
        assert_eq!(size(carry_out_gets), 32);
    }
}
