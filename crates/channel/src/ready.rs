//! Waking single conversations of a socket.
//!
//! Invariants: a conversation that was woken is polled before its socket's task sleeps; a wake-up while the task runs
//! anyway does not wake it again. Both follow from one lock over the list of the woken and the task's waker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use parking_lot::Mutex;

#[derive(Default)]
struct State {
    woken: Vec<usize>,
    /// The task is running: it will look at `woken` before it sleeps.
    running: bool,
    task: Option<Waker>,
    /// Something other than a conversation wants the task to look.
    nudged: bool,
}

/// The woken conversations of one socket.
#[derive(Default)]
pub(crate) struct Ready {
    state: Mutex<State>,
}

impl Ready {
    /// The task begins to run.
    pub(crate) fn enter(&self, task: &Waker) {
        let mut state = self.state.lock();
        state.running = true;
        state.nudged = false;
        if !state
            .task
            .as_ref()
            .is_some_and(|known| known.will_wake(task))
        {
            state.task = Some(task.clone());
        }
    }

    /// The task wants to sleep; false if it may not, because something was woken meanwhile.
    pub(crate) fn leave(&self) -> bool {
        let mut state = self.state.lock();
        if state.woken.is_empty() && !state.nudged {
            state.running = false;
            true
        } else {
            false
        }
    }

    /// Moves the woken into `into`, which is empty.
    pub(crate) fn take(&self, into: &mut Vec<usize>) {
        std::mem::swap(&mut self.state.lock().woken, into);
    }

    /// Has the task look at what is not a conversation.
    pub(crate) fn nudge(&self) {
        let mut state = self.state.lock();
        state.nudged = true;
        Self::wake_task(state);
    }

    fn wake(&self, index: usize) {
        let mut state = self.state.lock();
        state.woken.push(index);
        Self::wake_task(state);
    }

    fn wake_task(state: parking_lot::MutexGuard<'_, State>) {
        if !state.running
            && let Some(task) = state.task.clone()
        {
            drop(state);
            task.wake();
        }
    }
}

/// Wakes one conversation.
pub(crate) struct Alarm {
    ready: Arc<Ready>,
    index: usize,
    /// It is in the list already.
    rung: AtomicBool,
}

impl Alarm {
    pub(crate) fn new(ready: &Arc<Ready>, index: usize) -> Arc<Alarm> {
        Arc::new(Alarm {
            ready: Arc::clone(ready),
            index,
            rung: AtomicBool::new(false),
        })
    }

    /// Puts the conversation on the list.
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.ready.wake(self.index);
        }
    }

    /// The conversation is about to be polled: from now on it can be woken again.
    pub(crate) fn reset(&self) {
        self.rung.store(false, Ordering::Release);
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_running_task_is_not_woken_and_does_not_sleep_over_a_wake_up() {
        let (ready, count) = (Arc::new(Ready::default()), Arc::new(Count::default()));
        let (a, b) = (Alarm::new(&ready, 0), Alarm::new(&ready, 1));
        let wakes = || count.0.load(Ordering::Relaxed);
        ready.enter(&count.clone().into());
        b.ring();
        b.ring();
        assert_eq!(wakes(), 0, "it runs");
        assert!(!ready.leave(), "b is on the list");
        let mut woken = Vec::new();
        ready.take(&mut woken);
        assert_eq!(woken, [1], "once");
        b.reset();
        assert!(ready.leave());
        a.ring();
        b.ring();
        assert_eq!(wakes(), 2);
        ready.enter(&count.clone().into());
        woken.clear();
        ready.take(&mut woken);
        assert_eq!(woken, [0, 1]);
        ready.nudge();
        assert!(!ready.leave(), "nudged");
        ready.enter(&count.clone().into());
        assert!(ready.leave());
        ready.nudge();
        assert_eq!(wakes(), 3);
    }
}
