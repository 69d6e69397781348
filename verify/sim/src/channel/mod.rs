//! Channels in the simulator: the state machine of a connection that the product's lanes run, on the simulated executor
//! and clock, over connections that are cut, delayed and split at any byte.
//!
//! What the oracle does not know of is judged here:
//! * after STOP CHANNEL, and when all applications have ended, nothing is left: no instance, no connection of the queue
//!   manager, no open handle, no unit of work, no buffer, no byte of an unfinished message;
//! * a connection that is over, for whatever reason, is not served for longer than its limits say;
//! * unfinished messages take no more than their budget;
//! * very many gets that wait on a connection hold nobody else up and keep no buffer;
//! * a queue is not opened with a selector.

mod clients;
mod conversation;
mod coordinated;
mod crowd;
mod line;
mod operator;
mod plan;
mod site;
mod streamed;

use std::rc::Rc;

use posthaste_engine::ConnectionStatus;
use posthaste_mqi::constants::MQAT_QMGR;

use crate::run::{Failure, Run};

pub(crate) use clients::DEFINITIONS;
pub(crate) use conversation::Conversation;
pub use plan::Channels;
pub(crate) use site::Site;

/// Nanoseconds in which everything that is left alone comes to its end: a handshake, a stall twice, a silence.
pub(crate) const QUIET: u64 = 15_000_000_000;
/// The same for connections that say farewell when the queue manager has ended.
pub(crate) const FAREWELL: u64 = 2_000_000_000;
/// The same for the crowd, which comes, waits and is stopped.
const CROWD: u64 = 60_000_000_000;
/// Bytes of long requests that wait for their turn: they count in the budget of unfinished messages and are not refused
/// for it.
const BESIDE: usize = 512 << 10;

impl Run {
    /// Applications come over channels, and others come to misuse them.
    pub(crate) fn open_channels(&self, site: &Rc<Site>) {
        let executor = self.machine.world.executor();
        for _ in 0..site.plan.sockets {
            let program = clients::program(Rc::clone(site), self.maker());
            executor.spawn("program", program);
        }
        if self.plan.solo {
            executor.spawn("locks", clients::lockers(Rc::clone(site), self.maker()));
        }
        if site.plan.stop_micros > 0 {
            executor.spawn("operator", operator::operator(Rc::clone(site)));
        }
        for _ in 0..site.plan.floods {
            executor.spawn("flood", clients::flood(Rc::clone(site)));
        }
        for _ in 0..site.plan.deaf {
            executor.spawn("deaf", clients::deaf(Rc::clone(site)));
        }
    }

    /// What follows a stretch of work: all end and nothing is left, or very many come.
    pub(crate) fn after_work(&mut self, site: &Rc<Site>) -> Result<(), Failure> {
        self.within_budget(site)?;
        let crowd = site.chance(site.plan.crowd);
        // Beside a crowd nobody has output that would be taken for its own.
        if site.chance(site.plan.quiet) || crowd {
            self.shared.borrow_mut().stopping = true;
            self.machine.world.executor().run_for(QUIET);
            self.shared.borrow_mut().stopping = false;
            self.check()?;
            self.nothing_left(site)?;
        }
        if crowd {
            let executor = self.machine.world.executor();
            let crowd = executor.spawn("crowd", crowd::crowd(Rc::clone(site)));
            let until = site.clock.monotonic() + CROWD;
            executor.run_while(|| !crowd.is_finished() && site.clock.monotonic() < until);
            self.check()?;
            if !crowd.is_finished() && site.qm.stopped().is_none() {
                return Err(Failure::Stuck("the crowd does not leave".to_owned()));
            }
        }
        Ok(())
    }

    fn within_budget(&self, site: &Site) -> Result<(), Failure> {
        let (taken, budget) = (site.registry.unfinished(), site.plan.unfinished_in_all);
        if site.plan.floods > 0 && taken > budget / 2 {
            self.met("budget of unfinished messages taken");
        }
        if taken <= budget + BESIDE {
            return Ok(());
        }
        Err(Failure::Invariant(format!(
            "unfinished messages take {taken} bytes of {budget}"
        )))
    }

    fn nothing_left(&self, site: &Site) -> Result<(), Failure> {
        if site.qm.stopped().is_some() {
            return Ok(());
        }
        let queues: Vec<_> = self.shared.borrow().queues.clone();
        let connected = site.qm.connection_status();
        let of_itself = |s: &&ConnectionStatus| s.application.appl_type == MQAT_QMGR;
        let delivering = connected.iter().filter(of_itself).count();
        // What branches in doubt have in hand is left by intent, and what is delayed is delivered by the queue manager
        // itself, which ends its connection when it has delivered the last of it.
        let in_hand = !site.qm.in_doubt().is_empty() || delivering > 0;
        let open = queues.iter().any(|(name, _)| {
            let status = site.qm.queue_status(name);
            status.is_none_or(|s| s.open_input + s.open_output > 0 || s.uncommitted && !in_hand)
        });
        let left = [
            ("instances", site.registry.status().len()),
            ("connections", connected.len() - delivering),
            ("handles or units of work", usize::from(open)),
            ("bytes of unfinished messages", site.registry.unfinished()),
            ("bytes for output", site.registry.kept_for_output()),
        ];
        match left.into_iter().find(|(_, count)| *count > 0) {
            None => {
                self.met("nothing left of channels");
                Ok(())
            }
            Some((what, count)) => Err(Failure::Invariant(format!(
                "all applications have ended, and {count} {what} are left; instances: {:?}",
                site.registry.status()
            ))),
        }
    }
}
