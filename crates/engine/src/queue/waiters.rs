//! Getters that wait for a message: found by the tags of the identifiers they ask for, whatever their number.
//!
//! Invariants:
//! * A waiter's state is changed under its own lock, which is taken inside the queue lock.
//! * A waiter leaves the registry lazily: one that was served, or whose getter went away, is
//!   skipped when it is met and swept when more than half of the entries are such.
//! * What a waiter was given and did not take goes back to the queue (its getter's drop does that),
//!   so a gift is never lost.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use posthaste_env::sync::Mutex;
use posthaste_mqi::Reason;

use super::index::{SlotId, tag_of};
use super::matching::Match;
use crate::catalogue::Alias;
use crate::message::Message;

/// A message on its way to a getter.
#[derive(Debug)]
pub(crate) enum Gift {
    /// Never was on the queue: non-persistent, got outside syncpoint ("queue avoidance").
    Direct(Arc<Message>),
    /// Held for this getter in this slot.
    Held { slot: SlotId, message: Arc<Message> },
}

/// What a waiter came to.
#[derive(Debug)]
pub(crate) enum WaiterState {
    Waiting(Option<Waker>),
    Given(Gift),
    /// Look again: something changed that may concern this getter.
    Retry,
    /// The wait is over: queue manager or connection going, get inhibited, queue deleted.
    Ended(Reason),
    /// The getter went away, or has taken what it was given.
    Gone,
}

/// How a getter wants to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Hand the message over; `direct` = a non-persistent one need not touch the queue.
    HandOver { direct: bool },
    /// Only say that something arrived (browse, logical order, selection by group).
    Notify,
}

/// One waiting getter.
pub(crate) struct Waiter {
    pub(crate) matches: Match,
    pub(crate) service: Service,
    /// The getter asked to be told when the queue manager quiesces.
    pub(crate) fail_if_quiescing: bool,
    /// The alias the getter came by.
    alias: Option<Arc<Alias>>,
    pub(crate) state: Mutex<WaiterState>,
}

impl Waiter {
    pub(crate) fn new(
        matches: Match,
        service: Service,
        fail_if_quiescing: bool,
        alias: Option<Arc<Alias>>,
    ) -> Arc<Self> {
        Arc::new(Waiter {
            matches,
            service,
            fail_if_quiescing,
            alias,
            state: Mutex::new(WaiterState::Waiting(None)),
        })
    }

    fn alive(&self) -> bool {
        matches!(*self.state.lock(), WaiterState::Waiting(_))
    }

    /// Changes a waiting waiter's state; false, and nothing is made, when it no longer waits.
    pub(crate) fn finish(&self, wakes: &mut Wakes, to: impl FnOnce() -> WaiterState) -> bool {
        let mut state = self.state.lock();
        let WaiterState::Waiting(waker) = &mut *state else {
            return false;
        };
        wakes.add(waker.take());
        *state = to();
        true
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

type Line = VecDeque<Arc<Waiter>>;

/// All waiters of a queue.
pub(crate) struct Waiters {
    /// Seed of the tags.
    seed: u64,
    any: Line,
    by_msg: BTreeMap<u32, Line>,
    by_correl: BTreeMap<u32, Line>,
    other: Line,
    entries: usize,
    dead: usize,
}

impl Waiters {
    pub(crate) fn new(seed: u64) -> Self {
        Waiters {
            seed,
            any: Line::new(),
            by_msg: BTreeMap::new(),
            by_correl: BTreeMap::new(),
            other: Line::new(),
            entries: 0,
            dead: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(crate) fn add(&mut self, waiter: Arc<Waiter>) {
        self.entries += 1;
        let line = if waiter.service == Service::Notify {
            &mut self.other
        } else if let Some(id) = &waiter.matches.msg_id {
            self.by_msg.entry(tag_of(id, self.seed)).or_default()
        } else if let Some(id) = &waiter.matches.correl_id {
            self.by_correl.entry(tag_of(id, self.seed)).or_default()
        } else {
            &mut self.any
        };
        line.push_back(waiter);
    }

    /// Notes that a waiter's getter went away without having been served.
    pub(crate) fn abandoned(&mut self) {
        self.dead += 1;
        if self.dead > 32 && self.dead * 2 > self.entries {
            self.sweep();
        }
    }

    fn sweep(&mut self) {
        self.any.retain(|w| w.alive());
        self.other.retain(|w| w.alive());
        for map in [&mut self.by_msg, &mut self.by_correl] {
            map.retain(|_, line| {
                line.retain(|w| w.alive());
                !line.is_empty()
            });
        }
        self.entries = self.any.len()
            + self.other.len()
            + self.by_msg.values().map(VecDeque::len).sum::<usize>()
            + self.by_correl.values().map(VecDeque::len).sum::<usize>();
        self.dead = 0;
    }

    /// Takes the first living waiter of a line that wants this message.
    fn take(
        line: &mut Line,
        message: &Message,
        entries: &mut usize,
        dead: &mut usize,
    ) -> Option<Arc<Waiter>> {
        let mut at = 0;
        while let Some(waiter) = line.get(at) {
            if !waiter.alive() {
                line.remove(at);
                *entries -= 1;
                *dead = dead.saturating_sub(1);
            } else if waiter.matches.accepts(message) {
                *entries -= 1;
                return line.remove(at);
            } else {
                at += 1;
            }
        }
        None
    }

    /// Takes a waiter to hand this message to, if there is one.
    pub(crate) fn choose(&mut self, message: &Message) -> Option<Arc<Waiter>> {
        if self.entries == 0 {
            return None;
        }
        let (entries, dead) = (&mut self.entries, &mut self.dead);
        for (map, id) in [
            (&mut self.by_msg, &message.md.msg_id),
            (&mut self.by_correl, &message.md.correl_id),
        ] {
            if map.is_empty() {
                continue;
            }
            let tag = tag_of(id, self.seed);
            if let Some(line) = map.get_mut(&tag) {
                let found = Self::take(line, message, entries, dead);
                if line.is_empty() {
                    map.remove(&tag);
                }
                if found.is_some() {
                    return found;
                }
            }
        }
        Self::take(&mut self.any, message, entries, dead)
    }

    /// Tells those who only want to be told.
    pub(crate) fn notify(&mut self, wakes: &mut Wakes) {
        let line = std::mem::take(&mut self.other);
        self.retry(line, wakes);
    }

    /// Has everybody look who may be waiting for a message with these tags.
    pub(crate) fn look_again(&mut self, msg_tag: u32, correl_tag: u32, wakes: &mut Wakes) {
        if self.entries == 0 {
            return;
        }
        let by_msg = self.by_msg.remove(&msg_tag);
        let by_correl = self.by_correl.remove(&correl_tag);
        let lines = [by_msg, by_correl, Some(std::mem::take(&mut self.any))];
        for line in lines.into_iter().flatten() {
            self.retry(line, wakes);
        }
        self.notify(wakes);
    }

    fn retry(&mut self, line: Line, wakes: &mut Wakes) {
        self.entries -= line.len();
        for waiter in line {
            if !waiter.finish(wakes, || WaiterState::Retry) {
                self.dead = self.dead.saturating_sub(1);
            }
        }
    }

    /// Ends the waits of those who asked to be told that the queue manager quiesces.
    pub(crate) fn quiesce(&mut self, wakes: &mut Wakes) {
        self.end_some(|w| w.fail_if_quiescing, Reason::Q_MGR_QUIESCING, wakes);
    }

    /// Ends the waits of those who came by an alias.
    pub(crate) fn end_alias(&mut self, alias: &Arc<Alias>, reason: Reason, wakes: &mut Wakes) {
        let came_by = |w: &Waiter| w.alias.as_ref().is_some_and(|a| Arc::ptr_eq(a, alias));
        self.end_some(came_by, reason, wakes);
    }

    fn end_some(&mut self, wanted: impl Fn(&Waiter) -> bool, reason: Reason, wakes: &mut Wakes) {
        let lines = self
            .by_msg
            .values()
            .chain(self.by_correl.values())
            .chain([&self.any, &self.other]);
        for waiter in lines.flatten() {
            if wanted(waiter) && waiter.finish(wakes, || WaiterState::Ended(reason)) {
                self.dead += 1;
            }
        }
    }

    /// Ends every wait.
    pub(crate) fn end_all(&mut self, reason: Reason, wakes: &mut Wakes) {
        let mut lines = vec![
            std::mem::take(&mut self.any),
            std::mem::take(&mut self.other),
        ];
        lines.extend(std::mem::take(&mut self.by_msg).into_values());
        lines.extend(std::mem::take(&mut self.by_correl).into_values());
        for waiter in lines.into_iter().flatten() {
            waiter.finish(wakes, || WaiterState::Ended(reason));
        }
        self.entries = 0;
        self.dead = 0;
    }
}
