//! The invariants of what is in memory, looked at in a running queue manager.
//!
//! * Each local queue: `queue/check.rs`.
//! * Each unit of work that is active is that of a connection: somebody can end it.
//! * Each unit of work with a record in the log has a pin at or before it, and the log's restart point is at or
//!   before every pin.
//! * What is in memory only the log has behind its restart point, of queues and of units of work, those in doubt
//!   included.
//! * Subscriptions, their definitions and their queues: `topics/check.rs`.
//! * The room that the log keeps for the ends of units of work is what they were promised.
//!
//! For one thread that drives everything, as in the simulator, or a queue manager at rest, as one that has been started
//! and is not driven yet: what others are in the middle of could be taken for a fault.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_mqi::constants::*;
use posthaste_recovery_log::Lsn;

use crate::handles::Target;
use crate::queue::index::NewSlot;
use crate::queue::reading::Readings;
use crate::queue::uncommitted::Uncommitted;
use crate::queue::{Outside, Queue};
use crate::queue_manager::QueueManager;
use crate::record::QueueId;
use crate::session::SessionInner;
use crate::topics::check::Uses;
use crate::unit::{Op, Stage, Unit};

/// By queue, what connections have of it.
type All = BTreeMap<QueueId, Outside>;

impl QueueManager {
    /// Holds what is in memory against its invariants.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let inner = self.inner();
        if inner.lifecycle.ended() {
            // What has been cut off is for the restart to decide.
            return Ok(());
        }
        let sessions = self.sessions().all();
        let whole = inner.tickets.none()
            && !sessions
                .iter()
                .any(|session| session.in_call() || session.consumes());
        let mut all = All::new();
        let mut promised = 0;
        let usage = inner.log.usage();
        let mut uses = Uses::new();
        for session in &sessions {
            note_handles(session, &mut all);
            for id in session.lock().handles.subscriptions() {
                *uses.entry((id, session.id)).or_default() += 1;
            }
        }
        inner.check_subscriptions(whole.then_some(&uses))?;
        for (pin, unit) in inner.units.all() {
            check_owner(&unit, &sessions)?;
            promised += check_unit(&unit, (pin, usage.restart), &mut all)?;
        }
        let none = Outside::default();
        for queue in inner.catalogue.local_queues() {
            let outside = all.get(&queue.id).unwrap_or(&none);
            let checked = queue.lock().check(outside, whole);
            checked.map_err(|what| format!("{}: {what}", queue.name.text()))?;
            let unfiled = queue.lock().unfiled_sizes(usage.restart);
            if let Some((lsn, _)) = unfiled.first() {
                return Err(cut(&queue, *lsn, usage.restart));
            }
        }
        if let Some(lowest) = inner.units.look().0.filter(|pin| *pin < usage.restart) {
            let restart = usage.restart;
            return Err(format!(
                "{lowest:?} is pinned, and a restart begins at {restart:?}"
            ));
        }
        if usage.promised < promised || whole && usage.promised != promised {
            return Err(format!(
                "the log keeps {} bytes for ends, units of work were promised {promised}",
                usage.promised
            ));
        }
        Ok(())
    }

    /// Reads every message of every local queue, those too that have expired or may not be got, and those that units of
    /// work in doubt have put in its file: how many there are on queues that can be read, and which cannot, with the
    /// reason: the first message that cannot be read, or that the queue is known to be damaged.
    pub fn read_all(&self) -> (u64, Vec<(String, String)>) {
        let (mut all, mut damaged) = (0, Vec::new());
        let mut in_doubt: BTreeMap<QueueId, Vec<NewSlot>> = BTreeMap::new();
        for (_, unit) in self.inner().units.branches() {
            for op in &unit.lock().ops {
                if let Op::Put { queue, put } = op
                    && let Uncommitted::Filed(slot) = put
                {
                    in_doubt.entry(queue.id).or_default().push(*slot);
                }
            }
        }
        for queue in self.inner().catalogue.local_queues() {
            let put = in_doubt.remove(&queue.id).unwrap_or_default();
            match read_queue(&queue, &put) {
                Ok(read) => all += read,
                Err(what) => damaged.push((queue.name.text().to_string(), what)),
            }
        }
        (all, damaged)
    }
}

/// `put`: what units of work have put in its file.
fn read_queue(queue: &Queue, put: &[NewSlot]) -> Result<u64, String> {
    let slots: Vec<_> = {
        let state = queue.lock();
        state.usable().map_err(|reason| reason.to_string())?;
        state.index.all().collect()
    };
    let mut read = 0;
    for slot in slots {
        let found = queue.lock().message(slot, &Readings::default());
        if let Err(unread) = found {
            let asked = queue.read(unread, &mut Readings::default());
            asked.map_err(|error| format!("message {}: {error}", read + 1))?;
        }
        read += 1;
    }
    for slot in put {
        let asked = queue.read_uncommitted(slot);
        asked.map_err(|error| format!("uncommitted message {}: {error}", slot.seq))?;
        read += 1;
    }
    Ok(read)
}

/// Adds what a connection has open.
fn note_handles(session: &SessionInner, all: &mut All) {
    let state = session.lock();
    for handle in state.handles.iter() {
        note_handle(&handle.target, handle.options, all);
    }
}

/// Whether somebody can end a unit of work, if it is active.
fn check_owner(unit: &Unit, sessions: &[Arc<SessionInner>]) -> Result<(), String> {
    let work = unit.lock();
    let active = work.stage == Stage::Active;
    if let Some(ongoing) = work.ongoing.as_ref().filter(|_| active) {
        let there = |id: &u64| sessions.iter().any(|session| session.id == *id);
        let (workers, associated) = (ongoing.workers(), ongoing.associated());
        let owned = !workers.is_empty() || ongoing.left.is_some();
        return match owned && workers.iter().chain(associated).all(there) {
            true => Ok(()),
            false => Err(format!("branch {} is nobody's", ongoing.xid)),
        };
    }
    match active && sessions.iter().all(|session| session.id != unit.session) {
        true => Err(format!(
            "a unit of work of connection {} is nobody's",
            unit.session
        )),
        false => Ok(()),
    }
}

/// Adds what a unit of work has of queues; what it was promised.
fn check_unit(
    unit: &Unit,
    (pin, restart): (Option<Lsn>, Lsn),
    all: &mut All,
) -> Result<u64, String> {
    let work = unit.lock();
    if work.logged && !work.is_carried() && pin.is_none_or(|pin| pin > work.first) {
        return Err(format!(
            "a unit of work has its first record at {:?} and its pin at {pin:?}",
            work.first
        ));
    }
    for op in &work.ops {
        match op {
            Op::Put { queue, put } => {
                let outside = of(all, queue);
                outside.puts += 1;
                note_put(put, outside);
                if let Uncommitted::InMemory { message, .. } = put
                    && message.persistent()
                    && message.lsn < restart
                    && !queue.lock().deleted
                {
                    return Err(cut(queue, message.lsn, restart));
                }
            }
            Op::Got { queue, slot } => of(all, queue).got.push(*slot),
        }
    }
    Ok(work.owed())
}

/// What only the log had is cut away.
fn cut(queue: &Queue, lsn: Lsn, restart: Lsn) -> String {
    format!(
        "{}: a message with its record at {lsn:?} is in no file, and a restart begins at {restart:?}",
        queue.name.text()
    )
}

fn of<'a>(all: &'a mut All, queue: &Arc<Queue>) -> &'a mut Outside {
    all.entry(queue.id).or_default()
}

fn note_put(put: &Uncommitted, outside: &mut Outside) {
    match put {
        Uncommitted::InMemory { message, counted } => {
            if *counted {
                outside.bytes[usize::from(message.persistent())] += message.size();
            }
        }
        Uncommitted::Filed(slot) => outside.filed.extend(slot.place()),
    }
}

/// The counterpart of `verbs/close.rs`, which takes a handle out of the counts.
fn note_handle(target: &Target, options: i32, all: &mut All) {
    let input = MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE;
    match target {
        Target::Queue { queue, .. } => {
            let neither = options & (input | MQOO_BROWSE | MQOO_OUTPUT) == 0;
            let [inputs, outputs, browses] = &mut of(all, queue).open;
            *inputs += u32::from(options & input != 0);
            *outputs += u32::from(options & MQOO_OUTPUT != 0);
            *browses += u32::from(options & MQOO_BROWSE != 0 || neither);
        }
        Target::Remote { transmission, .. } => of(all, transmission).open[1] += 1,
        Target::Topic(_) | Target::Qmgr | Target::Definition => {}
    }
}
