//! Reading and writing of queue files for callers that serve many, and must not wait for a disk: lanes.
//!
//! Invariants:
//! * Who serves nobody but itself works on files where it is: an application in the queue manager's process,
//!   maintenance, restart. A thread that serves many hands its work over to whoever drives
//!   `QueueManager::serve_files`, and goes on.
//! * Work that was taken on is done, also when the queue manager ends meanwhile; where nobody serves it is done by
//!   whoever brings it.
//! * Work whose servers are cut short, as by a panic or where a simulated process is killed, is forgotten with them.
//! * A call that waits for its work has its effect after it, as if it had done it itself: the puts of one connection do
//!   not run ahead of what is filed for them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use posthaste_env::sync::Mutex;
use posthaste_env::{excused, serves_many};

use crate::signal::{Signal, either};

type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    servers: usize,
}

/// Work on queue files that waits for somebody who may wait for a disk.
#[derive(Default)]
pub(crate) struct FileService {
    state: Mutex<State>,
    wanted: Signal,
}

/// What has become of work that was handed over.
enum Outcome<T> {
    Waiting(Option<Waker>),
    Done(T),
    Taken,
}

impl FileService {
    /// Hands work over, if the caller serves many; else gives it back.
    fn hand_over(&self, work: Work) -> Result<(), Work> {
        if !serves_many() {
            return Err(work);
        }
        let mut state = self.state.lock();
        if state.servers == 0 {
            return Err(work);
        }
        state.waiting.push_back(work);
        drop(state);
        self.wanted.raise();
        Ok(())
    }

    /// Has work done, sooner or later; nobody waits for it.
    pub(crate) fn leave(&self, work: impl FnOnce() + Send + 'static) {
        if let Err(work) = self.hand_over(Box::new(work)) {
            excused(work);
        }
    }

    /// Whether the caller's work is done by others.
    pub(crate) fn hands_over(&self) -> bool {
        serves_many() && self.state.lock().servers > 0
    }

    /// Has work done, and gives what comes of it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        match self.hands_over() {
            // Rare, so it takes its room only when it happens.
            true => Box::pin(self.wait_for(work)).await,
            false => excused(work),
        }
    }

    async fn wait_for<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let outcome = Arc::new(Mutex::new(Outcome::Waiting(None)));
        let there = Arc::clone(&outcome);
        self.leave(move || {
            let done = Outcome::Done(work());
            let before = std::mem::replace(&mut *there.lock(), done);
            if let Outcome::Waiting(Some(waker)) = before {
                waker.wake();
            }
        });
        poll_fn(|context| {
            let mut outcome = outcome.lock();
            match std::mem::replace(&mut *outcome, Outcome::Taken) {
                Outcome::Done(done) => Poll::Ready(done),
                Outcome::Waiting(_) | Outcome::Taken => {
                    *outcome = Outcome::Waiting(Some(context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn next(&self) -> Option<Work> {
        self.state.lock().waiting.pop_front()
    }

    /// Does what is handed over until `ended`; `changed` tells to look whether it has.
    pub(crate) async fn serve(&self, ended: impl Fn() -> bool, changed: &Signal) {
        let mut serving = Serving::begin(self);
        loop {
            let (wanted, changed) = (self.wanted.listen(), changed.listen());
            while let Some(work) = self.next() {
                work();
            }
            if !ended() {
                either(wanted, changed).await;
            } else if serving.ends() {
                return;
            }
        }
    }
}

/// One who serves.
struct Serving<'a> {
    files: &'a FileService,
    ended: bool,
}

impl Serving<'_> {
    fn begin(files: &FileService) -> Serving<'_> {
        files.state.lock().servers += 1;
        Serving {
            files,
            ended: false,
        }
    }

    /// Ends, if nothing is left to be done.
    fn ends(&mut self) -> bool {
        let mut state = self.files.state.lock();
        self.ended = state.waiting.is_empty();
        state.servers -= usize::from(self.ended);
        self.ended
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut state = self.files.state.lock();
        state.servers -= 1;
        // The work has the queue that it is about, and the queue has this.
        let forgotten = match state.servers {
            0 => std::mem::take(&mut state.waiting),
            _ => VecDeque::new(),
        };
        drop(state);
        drop(forgotten);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    #[test]
    fn work_goes_with_the_last_who_serves() {
        let (files, changed, held) = (FileService::default(), Signal::default(), Arc::new(()));
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut serve = pin!(files.serve(|| false, &changed));
            assert!(serve.as_mut().poll(&mut context).is_pending());
            let theirs = Arc::clone(&held);
            let work = Box::new(move || drop(theirs));
            files.state.lock().waiting.push_back(work);
        }
        assert_eq!(Arc::strong_count(&held), 1);
        assert_eq!(
            files.state.lock().servers,
            0,
            "work is done by whoever brings it"
        );
    }
}
