//! A lease: a message that is held for somebody, out of everybody else's sight.
//!
//! Invariants:
//! * A lease ends in one of three ways: the message is accepted for good, it is accepted with a unit of work, or it goes
//!   back to the queue. The last is what happens when the lease is dropped, wherever that is.
//! * A message that never was on the queue ("queue avoidance") is non-persistent, and nobody counts it: accepting it
//!   for good is to do nothing.
//! * A persistent message accepted for good is its holder's once the record of its end is forced. Should the holder
//!   not wait for that, it is gone all the same, and so is its lease: it is not given back.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_recovery_log::{Class, LogError};

use super::held::Held;
use super::waiter::{Waiter, Wakes};
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::SlotId;
use crate::record;
use crate::session::SessionInner;
use crate::unit::Op;
use crate::unit::effect::Effect;
use crate::unit::happen::Pending;
use crate::unit::log_space_wait::LogSpaceWait;

/// How a message is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    ForGood,
    /// In the unit of work of its holder.
    InUnit,
    /// The same for a listener, which is called with the message: where the system has backed the unit of work out, in another
    /// that is doomed, so that the application learns of it (2003) by the MQCMIT that it makes when it has been called.
    InUnitOfListener,
}

impl Acceptance {
    /// That of a get.
    pub(crate) fn of_get(in_unit: bool) -> Acceptance {
        match in_unit {
            true => Acceptance::InUnit,
            false => Acceptance::ForGood,
        }
    }
}

/// A held message, given back unless it is accepted.
pub(crate) struct Lease {
    queue: Arc<Queue>,
    held: Held,
    /// Its holder sees to the message.
    kept: bool,
}

impl Lease {
    pub(crate) fn new(queue: &Arc<Queue>, held: Held) -> Self {
        Lease {
            queue: Arc::clone(queue),
            held,
            kept: false,
        }
    }

    pub(crate) fn message(&self) -> &Arc<Message> {
        &self.held.message
    }

    /// Where its message is on the queue; none: it never was there.
    pub(crate) fn slot(&self) -> Option<SlotId> {
        self.held.slot
    }

    /// How often the message has been backed out.
    pub(crate) fn backout_count(&self) -> u16 {
        self.held.backout_count
    }

    /// Its holder sees to the message from now on.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }

    /// The message's place on the queue; one that never was there gets one.
    fn place(&mut self) -> SlotId {
        match self.held.slot {
            Some(slot) => slot,
            None => {
                let slot = self.queue.lock().hold_new(&self.held.message, 0);
                self.held.slot = Some(slot);
                slot
            }
        }
    }

    /// Accepts the message, in the unit of work of its holder or for good. A persistent one that is accepted for good
    /// is so when this returns. Once it was accepted there is nothing more to be done with the lease.
    ///
    /// # Errors
    /// 2003, 2024 unit of work; 2102 log; 2203 connection; 2009, 2162 queue manager. But for 2009 the message goes back
    /// with the lease.
    pub(crate) async fn accept(
        &mut self,
        session: &SessionInner,
        acceptance: Acceptance,
    ) -> Result<(), Reason> {
        let in_unit = acceptance != Acceptance::ForGood;
        let persistent = self.message().persistent();
        if !persistent && !in_unit {
            if let Some(slot) = self.held.slot {
                self.queue.lock().destroy(slot, true);
            }
            self.keep();
            return Ok(());
        }
        let slot = self.place();
        let qm = &session.qm;
        let mut log_space_wait = LogSpaceWait::new();
        loop {
            if persistent {
                // Nothing may be promised a place in a log file that turns out not to fit on the disk.
                qm.log.room().await;
            }
            let tried = if in_unit {
                self.join_unit(session, slot, acceptance)?
            } else {
                self.end_alone(session, slot)
            };
            match tried {
                Ok(None) => {
                    self.keep();
                    return Ok(());
                }
                Ok(Some(pending)) => {
                    self.keep();
                    return pending.done().await;
                }
                // Rare, so it takes its room only when it happens.
                Err(error) => Box::pin(log_space_wait.wait(qm, error)).await?,
            }
            if session.given_up() {
                return Err(Reason::CONNECTION_STOPPING);
            }
        }
    }

    /// Makes the message part of the unit of work. The inner error is the log's.
    fn join_unit<'a>(
        &self,
        session: &'a SessionInner,
        slot: SlotId,
        acceptance: Acceptance,
    ) -> Result<Result<Option<Pending<'a>>, LogError>, Reason> {
        let (qm, message) = (&session.qm, self.message());
        let mut state = session.lock();
        if acceptance == Acceptance::InUnitOfListener {
            session.replace_backed_out(&mut state);
        }
        let (unit, mut work) = session.join(&mut state, message.persistent())?;
        if message.persistent() {
            let undone = self.held.backout_count.saturating_add(1);
            let record = record::get(unit.id, self.queue.id, message.seq, undone);
            let owing = work.owing(true);
            match qm.log.append_owing(class_of_get(), &[&record], owing) {
                Ok(appended) => work.note(appended.start, owing, qm),
                Err(error) => {
                    unit.not_appended(&mut work, qm);
                    return Ok(Err(error));
                }
            }
        }
        work.ops.push(Op::Got {
            queue: self.queue.clone(),
            slot,
        });
        self.queue.lock().uncommitted_gets += 1;
        Ok(Ok(None))
    }

    /// Appends the record of a get outside a unit of work; what it returns is still to be forced.
    fn end_alone<'a>(
        &self,
        session: &'a SessionInner,
        slot: SlotId,
    ) -> Result<Option<Pending<'a>>, LogError> {
        let qm = &session.qm;
        let pin = qm.units.hold(&qm.log, session.id);
        let record = record::get(0, self.queue.id, self.message().seq, 0);
        let appended = qm.log.append(class_of_get(), &[&record])?;
        let queue = self.queue.clone();
        queue.lock().uncommitted_gets += 1;
        Ok(Some(Pending {
            qm,
            end: appended.end,
            effect: Some(Effect::Got { queue, slot, pin }),
        }))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.kept || planted(Bug::DropLease) {
            return;
        }
        mark(Mark::LeaseReturned);
        let mut wakes = Wakes::default();
        let spills = {
            let mut state = self.queue.lock();
            let message = &self.held.message;
            match self.held.slot {
                None => state.arrive(message, &mut wakes),
                Some(slot) => state.give_back_known(slot, message, &mut wakes),
            }
            state.spills()
        };
        wakes.wake();
        if spills {
            self.queue.spill();
        }
    }
}

/// What the log lets the record of a get use.
fn class_of_get() -> Class {
    match planted(Bug::SpendReserve) {
        true => Class::Essential,
        false => Class::Relief,
    }
}

impl Queue {
    /// Ends the wait of one of its waiters from outside.
    pub(crate) fn end_wait(&self, waiter: &Waiter, reason: Reason) {
        let mut wakes = Wakes::default();
        if waiter.end(reason, &mut wakes) {
            self.lock().waiters.abandoned();
        }
        wakes.wake();
    }

    /// One of its waiters goes away: what it was given goes back.
    pub(crate) fn leave(self: &Arc<Self>, waiter: &Waiter) {
        let (listed, given) = waiter.close();
        if listed {
            self.lock().waiters.abandoned();
        }
        for held in given {
            drop(Lease::new(self, held));
        }
    }
}
