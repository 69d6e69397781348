//! Somebody who waits for messages, may be given so many of them, and can be armed again.
//!
//! Invariants:
//! * A waiter's state is changed under its own lock, which is taken inside the queue's.
//! * It is listed while the queue may give it a message or have it look: then it has credit, and no message on the
//!   queue is one that it wants and has not been told of.
//! * What it was given and nobody has taken comes out of [`Waiter::poll`], before why the wait is over, or of
//!   [`Waiter::close`]: a message is never lost here.
//! * A wait that has ended stays so; what was to be looked at before is looked at.
//! * That gets are inhibited ends the wait of a call, and not a lasting one, which looks and is held back.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use posthaste_env::sync::Mutex;
use posthaste_mqi::Reason;

use super::fifo::Fifo;
use super::held::Held;
use super::selection::{Key, Selection};
use crate::catalogue::alias::Alias;
use crate::signal::Signal;

/// How a waiter is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Hand the message over; `direct` = a non-persistent one need not touch the queue.
    HandOver { direct: bool },
    /// Only say that something arrived (browse, logical order).
    Notify,
}

/// What a waiter has come to.
#[derive(Debug)]
pub(crate) enum WaitOutcome {
    Given(Held),
    /// Look: something changed that may concern it, or it is not listed.
    Look,
    /// The wait is over: queue manager or connection going, get inhibited (unless it is a lasting one), queue deleted.
    Ended(Reason),
}

/// What has become of an offer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It is not listed.
    Refused,
    /// It has it, and credit for more or not.
    Taken { more: bool },
}

#[derive(Debug, Default)]
struct State {
    listed: bool,
    /// How many more messages it may be given.
    credit: u32,
    given: Fifo<Held>,
    look: bool,
    /// It was listed when it looked all the same and found a message: it looks once more when it may have another.
    again: bool,
    ended: Option<Reason>,
    waker: Option<Waker>,
}

/// One who waits.
pub(crate) struct Waiter {
    pub(crate) selection: Selection,
    pub(crate) key: Key,
    pub(crate) service: Service,
    /// Whoever waits asked to be told when the queue manager quiesces.
    pub(crate) fail_if_quiescing: bool,
    /// It waits on while gets are inhibited.
    lasting: bool,
    /// The alias it came by.
    alias: Option<Arc<Alias>>,
    state: Mutex<State>,
}

impl Waiter {
    fn unlisted(
        (selection, seed): (Selection, u64),
        service: Service,
        fail_if_quiescing: bool,
        alias: Option<Arc<Alias>>,
    ) -> Self {
        Waiter {
            key: selection.key(seed),
            selection,
            service,
            fail_if_quiescing,
            lasting: false,
            alias,
            state: Mutex::default(),
        }
    }

    /// One that is not listed. `seed`: of the queue's tags.
    pub(crate) fn new(
        selection: (Selection, u64),
        service: Service,
        fail_if_quiescing: bool,
        alias: Option<Arc<Alias>>,
        credit: u32,
    ) -> Arc<Self> {
        let waiter = Self::unlisted(selection, service, fail_if_quiescing, alias);
        waiter.add_credit(credit);
        Arc::new(waiter)
    }

    /// One that is not listed, has no credit, and waits on while gets are inhibited.
    pub(crate) fn lasting(
        selection: (Selection, u64),
        service: Service,
        fail_if_quiescing: bool,
        alias: Option<Arc<Alias>>,
    ) -> Arc<Self> {
        Arc::new(Waiter {
            lasting: true,
            ..Self::unlisted(selection, service, fail_if_quiescing, alias)
        })
    }

    pub(super) fn is_listed(&self) -> bool {
        self.state.lock().listed
    }

    pub(super) fn came_by(&self, alias: &Arc<Alias>) -> bool {
        self.alias.as_ref().is_some_and(|a| Arc::ptr_eq(a, alias))
    }

    /// It is going to be in the registry: whether it is not there already, has credit and still waits.
    pub(super) fn enlist(&self) -> bool {
        let mut state = self.state.lock();
        let may = !state.listed && state.credit > 0 && state.ended.is_none();
        state.listed |= may;
        may
    }

    /// Gives it a message, if it is listed; only then the message is made.
    pub(crate) fn offer(&self, wakes: &mut Wakes, make: impl FnOnce() -> Held) -> Offered {
        let mut state = self.state.lock();
        if !state.listed {
            return Offered::Refused;
        }
        state.given.push(make());
        state.credit -= 1;
        state.listed = state.credit > 0;
        wakes.add(state.waker.take());
        Offered::Taken { more: state.listed }
    }

    /// Has it look; false when it was not listed.
    pub(super) fn retry(&self, wakes: &mut Wakes) -> bool {
        let mut state = self.state.lock();
        if !std::mem::take(&mut state.listed) {
            return false;
        }
        state.look = true;
        wakes.add(state.waker.take());
        true
    }

    /// Ends its wait, unless it is over; true when it was listed.
    pub(crate) fn end(&self, reason: Reason, wakes: &mut Wakes) -> bool {
        let mut state = self.state.lock();
        state.ended.get_or_insert(reason);
        wakes.add(state.waker.take());
        std::mem::take(&mut state.listed)
    }

    /// Gets are inhibited: ends its wait, or has it look if it is a lasting one. True when it was listed.
    pub(super) fn inhibit(&self, wakes: &mut Wakes) -> bool {
        match self.lasting {
            true => self.retry(wakes),
            false => self.end(Reason::GET_INHIBITED, wakes),
        }
    }

    /// Lets it be given more messages. Whoever waits looks then.
    pub(crate) fn add_credit(&self, messages: u32) {
        let waker = {
            let mut state = self.state.lock();
            state.credit = state.credit.saturating_add(messages);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes one of its credits, for a message that was found; false: it has none, or its wait is over.
    pub(crate) fn spend_credit(&self) -> bool {
        let mut state = self.state.lock();
        let may = state.credit > 0 && state.ended.is_none();
        state.credit -= u32::from(may);
        // There may be more of what it was not shown before.
        state.again |= may && state.listed;
        may
    }

    /// What it has come to, or the waker is kept.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<WaitOutcome> {
        let mut state = self.state.lock();
        if let Some(held) = state.given.pop() {
            return Poll::Ready(WaitOutcome::Given(held));
        }
        if std::mem::take(&mut state.look) {
            return Poll::Ready(WaitOutcome::Look);
        }
        if let Some(reason) = state.ended {
            return Poll::Ready(WaitOutcome::Ended(reason));
        }
        if state.credit > 0 && (!state.listed || std::mem::take(&mut state.again)) {
            return Poll::Ready(WaitOutcome::Look);
        }
        let waker = &mut state.waker;
        if !waker.as_ref().is_some_and(|w| w.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Nobody waits any more. Returns whether it was listed, and what it was given and nobody has taken.
    pub(crate) fn close(&self) -> (bool, impl Iterator<Item = Held>) {
        let mut state = self.state.lock();
        state.ended.get_or_insert(Reason::HOBJ_ERROR);
        state.waker = None;
        let given = std::mem::take(&mut state.given);
        (std::mem::take(&mut state.listed), given.into_iter())
    }
}

/// Wakers to call once no lock is held.
#[derive(Default)]
pub(crate) struct Wakes {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl Wakes {
    fn add(&mut self, waker: Option<Waker>) {
        match waker {
            None => {}
            Some(waker) if self.first.is_none() => self.first = Some(waker),
            Some(waker) => self.more.push(waker),
        }
    }

    /// The listeners of a signal too.
    pub(crate) fn raise(&mut self, signal: &Signal) {
        self.more.extend(signal.raised());
    }

    /// Wakes them.
    pub(crate) fn wake(self) {
        if let Some(waker) = self.first {
            waker.wake();
        }
        for waker in self.more {
            waker.wake();
        }
    }
}
