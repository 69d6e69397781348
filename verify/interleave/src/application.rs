//! Calls of an application, each reported to the oracle.
//!
//! Invariant: a method gives `false` when the application has nothing more to do with this queue manager: the
//! outcome of its call is not known, or the queue manager has gone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use posthaste_engine::{BranchError, Delivery, Outcome as Decided, Session, Vote, Xid};
use posthaste_env::block_on;
use posthaste_model::{Delivered, Get, How, Match, Op, OpId, Outcome, Put, QueueId};
use posthaste_mqi::constants::*;
use posthaste_mqi::{Gmo, Hobj, Md, Name, Od, Pmo, Reason};

use crate::world::{Judge, World, keep};

/// Longest message asked for.
const MOST: usize = 1 << 20;

/// An application with its connection.
pub(crate) struct App {
    pub(crate) world: Rc<World>,
    session: Session,
    number: u32,
    /// With which queue manager in a row.
    run: u32,
    /// What it has open, by the names that it asked for.
    handles: RefCell<BTreeMap<&'static str, Target>>,
    /// Puts that were not waited for.
    open_puts: RefCell<Vec<OpId>>,
}

/// An open queue.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) handle: Hobj,
    pub(crate) queue: QueueId,
}

/// How a call ended, for the application's own course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Fine,
    Reason(Reason),
    /// Nobody knows, or the queue manager is gone.
    Gone,
}

impl Ended {
    pub(crate) fn going(self) -> bool {
        self != Ended::Gone
    }
}

pub(crate) fn outcome(reason: Reason) -> Outcome {
    match reason {
        Reason::CONNECTION_BROKEN
        | Reason::Q_MGR_STOPPING
        | Reason::Q_MGR_QUIESCING
        | Reason::HCONN_ERROR => Outcome::Unknown,
        other => Outcome::Reason(other.0),
    }
}

fn payload(id: u64, length: usize) -> Bytes {
    let mut out = vec![id as u8; length.max(8)];
    out[..8].copy_from_slice(&id.to_le_bytes());
    Bytes::from(out)
}

/// Enough to notice a message that is not the one that was put: its number, its length, its last byte.
fn digest(data: &[u8]) -> u64 {
    let id = data
        .first_chunk::<8>()
        .map_or(0, |b| u64::from_le_bytes(*b));
    let same = data.iter().skip(8).all(|byte| *byte == id as u8);
    id ^ ((data.len() as u64) << 32) ^ (u64::from(same) << 63)
}

/// Polls once and gives up.
fn once<F: Future>(call: F) -> Option<F::Output> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

impl App {
    pub(crate) fn new(world: Rc<World>, session: Session, number: u32, run: u32) -> App {
        App {
            world,
            session,
            number,
            run,
            handles: RefCell::default(),
            open_puts: RefCell::default(),
        }
    }

    fn target(&self, name: &'static str) -> Option<Target> {
        if let Some(target) = self.handles.borrow().get(name) {
            return Some(*target);
        }
        self.open(name)
    }

    /// Opens a queue.
    fn open(&self, name: &'static str) -> Option<Target> {
        let mut od = Od {
            object_name: Name::new(name),
            ..Od::default()
        };
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT | MQOO_BROWSE | MQOO_INQUIRE;
        let handle = block_on(self.session.open(&mut od, options)).ok()?.value;
        let known = self.world.known(name);
        let Some(queue) = known.or_else(|| self.described(handle)) else {
            // Its definition has gone before it could be read.
            let _ = block_on(self.session.close(handle, MQCO_NONE));
            return None;
        };
        let target = Target { handle, queue };
        self.handles.borrow_mut().insert(name, target);
        Some(target)
    }

    /// Which queue it is whose name is not enough to know: its description says so.
    fn described(&self, handle: Hobj) -> Option<QueueId> {
        let inquired = block_on(self.session.inquire(handle, &[MQCA_Q_DESC])).ok()?;
        let text = String::from_utf8(inquired.value.chars).ok()?;
        self.world.numbered(text.trim().parse().ok()?)
    }

    /// Opens a queue and keeps it open; whether it could.
    pub(crate) fn has(&self, name: &'static str) -> bool {
        self.target(name).is_some()
    }

    /// Closes a queue.
    pub(crate) fn close(&self, name: &'static str) {
        let target = self.handles.borrow_mut().remove(name);
        if let Some(target) = target {
            // It fails only with the connection.
            let _ = block_on(self.session.close(target.handle, MQCO_NONE));
        }
    }

    /// Whether its queue manager has stopped.
    fn is_past(&self, judge: &Judge) -> bool {
        judge.down || judge.successors != self.run
    }

    pub(crate) fn invoke(&self, op: Op) -> Option<OpId> {
        let now = self.world.micros();
        let mut judge = self.world.judge();
        if self.is_past(&judge) || judge.violation.is_some() {
            return None;
        }
        judge.calls += 1;
        if judge.tell {
            println!("{now:>9} app {} {op:?}", self.number);
        }
        Some(judge.model.invoke(now, self.number, op))
    }

    pub(crate) fn respond(&self, op: OpId, outcome: Outcome) -> Ended {
        let now = self.world.micros();
        let mut judge = self.world.judge();
        if self.is_past(&judge) {
            return Ended::Gone;
        }
        if judge.tell {
            println!("{now:>9} app {} -> {outcome:?}", self.number);
        }
        judge.delivered += u64::from(matches!(outcome, Outcome::Got(_)));
        let verdict = judge.model.respond(now, op, outcome);
        keep(&mut judge.violation, verdict);
        match outcome {
            _ if judge.violation.is_some() => Ended::Gone,
            Outcome::Unknown => Ended::Gone,
            Outcome::Reason(reason) => Ended::Reason(Reason(reason)),
            _ => Ended::Fine,
        }
    }

    /// Puts a persistent message of so many bytes.
    pub(crate) fn put(&self, queue: &'static str, length: usize, in_uow: bool) -> Ended {
        self.put_with(queue, length, in_uow, 0)
    }

    /// The same outside units of work, without waiting for the log (MQPMO_ASYNC_RESPONSE).
    pub(crate) fn put_ahead(&self, queue: &'static str, length: usize) -> Ended {
        self.put_with(queue, length, false, MQPMO_ASYNC_RESPONSE)
    }

    fn put_with(&self, queue: &'static str, length: usize, in_uow: bool, options: i32) -> Ended {
        let Some(target) = self.target(queue) else {
            return Ended::Gone;
        };
        let (id, data, hash) = self.letter(length);
        let put = Put {
            queue: target.queue,
            id,
            hash,
            persistent: Some(true),
            priority: Some(0),
            in_uow,
            expiry: None,
            delay: None,
            msg_id: id,
            correl_id: 0,
        };
        let Some(op) = self.invoke(Op::Put(put)) else {
            return Ended::Gone;
        };
        let mut md = Md {
            persistence: MQPER_PERSISTENT,
            ..Md::default()
        };
        md.msg_id[16..].copy_from_slice(&id.to_be_bytes());
        let syncpoint = match in_uow {
            true => MQPMO_SYNCPOINT,
            false => MQPMO_NO_SYNCPOINT,
        };
        let mut pmo = Pmo {
            options: syncpoint | options,
            ..Pmo::default()
        };
        let ended = block_on(self.session.put(target.handle, &mut md, &mut pmo, data));
        if ended.is_ok() && options & MQPMO_ASYNC_RESPONSE != 0 {
            self.open_puts.borrow_mut().push(op);
            return Ended::Fine;
        }
        self.respond(op, ended.map_or_else(outcome, |_| Outcome::Done))
    }

    /// Something to put that nobody has put before: its number, itself, its digest.
    pub(crate) fn letter(&self, length: usize) -> (u64, Bytes, u64) {
        let id = {
            let mut judge = self.world.judge();
            judge.next_id += 1;
            judge.next_id
        };
        let data = payload(id, length);
        let hash = digest(&data);
        (id, data, hash)
    }

    /// Keeps a queue open by a name.
    pub(crate) fn keep_open(&self, name: &'static str, target: Target) {
        self.handles.borrow_mut().insert(name, target);
    }

    /// MQSTAT: all that was not waited for is done when it returns.
    pub(crate) fn stat(&self) -> Ended {
        let stat = block_on(self.session.stat(MQSTAT_TYPE_ASYNC_ERROR, 1));
        let (outcome, ended) = match stat {
            Ok(_) => (Outcome::Done, Ended::Fine),
            Err(_) => (Outcome::Unknown, Ended::Gone),
        };
        self.end_open_puts(outcome);
        ended
    }

    fn end_open_puts(&self, outcome: Outcome) {
        for op in self.open_puts.take() {
            self.respond(op, outcome);
        }
    }

    /// Gets the first message; with `wait`, waits for one so many milliseconds.
    pub(crate) fn get(&self, queue: &'static str, in_uow: bool, wait: i32) -> Ended {
        self.get_by(queue, in_uow, wait, |handle, md, gmo| {
            let got = block_on(self.session.get(handle, md, gmo, MOST));
            got.map(|done| done.value.data)
        })
    }

    /// The same by a consumer with credit for one message, which goes away if there is none, although one may just be
    /// handed to it.
    pub(crate) fn consume(&self, queue: &'static str, in_uow: bool) -> Ended {
        self.get_by(queue, in_uow, 0, |handle, md, gmo| {
            let mut consumer = self.session.consumer(handle, md, gmo)?;
            consumer.credit(1);
            let delivery = once(consumer.next()).unwrap_or(Err(Reason::NO_MSG_AVAILABLE))?;
            *md = delivery.descriptor();
            let data = delivery.data();
            match in_uow {
                true => block_on(delivery.accept_in_unit())?,
                false => block_on(delivery.accept())?,
            }
            Ok(data)
        })
    }

    /// Gets by one consumer, which waits for each message and wants to be told when the queue manager quiesces.
    pub(crate) fn consume_on(&self, queue: &'static str) {
        let mut made = None;
        let mut next = |handle, md: &mut Md, gmo: &mut Gmo| {
            gmo.options |= MQGMO_FAIL_IF_QUIESCING;
            let consumer = match &mut made {
                Some(consumer) => consumer,
                none => none.insert(self.session.consumer(handle, md, gmo)?),
            };
            consumer.credit(1);
            let delivery = block_on(consumer.next())?;
            *md = delivery.descriptor();
            let data = delivery.data();
            block_on(delivery.accept())?;
            Ok(data)
        };
        while self.get_by(queue, false, 1, &mut next) == Ended::Fine {}
    }

    /// Has a message handed over, which somebody else is to accept in the unit of work. To the oracle it is a get that
    /// nobody learns the end of.
    pub(crate) fn hold(&self, queue: &'static str) -> Option<(Delivery, OpId)> {
        let target = self.target(queue)?;
        let consumer = self
            .session
            .consumer(target.handle, &Md::default(), &Gmo::default());
        let mut consumer = consumer.ok()?;
        consumer.credit(1);
        let delivery = once(consumer.next())?.ok()?;
        let get = Get {
            queue: target.queue,
            want: Match::default(),
            how: How::Syncpoint,
            wait: false,
        };
        Some((delivery, self.invoke(Op::Get(get))?))
    }

    /// Ends its connection, whatever has become of a call.
    pub(crate) fn leave_unanswered(self, op: OpId) {
        self.respond(op, Outcome::Unknown);
        self.leave();
    }

    fn get_by(
        &self,
        queue: &'static str,
        in_uow: bool,
        wait: i32,
        take: impl FnOnce(Hobj, &mut Md, &mut Gmo) -> Result<Bytes, Reason>,
    ) -> Ended {
        let Some(target) = self.target(queue) else {
            return Ended::Gone;
        };
        let get = Get {
            queue: target.queue,
            want: Match::default(),
            how: if in_uow {
                How::Syncpoint
            } else {
                How::NoSyncpoint
            },
            wait: wait > 0,
        };
        let Some(op) = self.invoke(Op::Get(get)) else {
            return Ended::Gone;
        };
        let mut md = Md::default();
        let mut gmo = Gmo {
            options: if in_uow {
                MQGMO_SYNCPOINT
            } else {
                MQGMO_NO_SYNCPOINT
            } | if wait > 0 { MQGMO_WAIT } else { 0 },
            wait_interval: wait,
            ..Gmo::default()
        };
        let backouts = self.world.system_backouts();
        match take(target.handle, &mut md, &mut gmo) {
            // Its unit of work may have been backed out since it got the message, which may be somebody else's now; the
            // next call will say so.
            Ok(_) if in_uow && self.world.system_backouts() > backouts => {
                self.respond(op, Outcome::Unknown)
            }
            Ok(data) => {
                let id = data.first_chunk::<8>();
                let got = Delivered {
                    id: id.map_or(0, |id| u64::from_le_bytes(*id)),
                    hash: digest(&data),
                    persistent: md.persistence == MQPER_PERSISTENT,
                    priority: md.priority.clamp(0, 9) as u8,
                    backout_count: u32::try_from(md.backout_count).ok(),
                    msg_id: None,
                };
                self.respond(op, Outcome::Got(got))
            }
            Err(reason) => self.respond(op, outcome(reason)),
        }
    }

    pub(crate) fn commit(&self) -> Ended {
        let Some(op) = self.invoke(Op::Commit) else {
            return Ended::Gone;
        };
        let ended = block_on(self.session.commit());
        self.respond(op, ended.map_or_else(outcome, |_| Outcome::Done))
    }

    /// Commits in two steps, as a branch.
    pub(crate) fn commit_in_two(&self, number: u8) -> Ended {
        let Some(xid) = Xid::new(1, &[number], b"") else {
            return Ended::Gone;
        };
        let Some(op) = self.invoke(Op::Commit) else {
            return Ended::Gone;
        };
        let committed = match block_on(self.session.prepare(&xid)) {
            Ok(Vote::Prepared) => block_on(self.session.resolve(&xid, Decided::Committed)),
            Ok(Vote::ReadOnly) => Ok(()),
            Err(error) => Err(error),
        };
        let ended = match committed {
            Ok(()) => Outcome::Done,
            Err(BranchError::RolledBack) => outcome(Reason::BACKED_OUT),
            Err(_) => Outcome::Unknown,
        };
        self.respond(op, ended)
    }

    pub(crate) fn back_out(&self) -> Ended {
        let Some(op) = self.invoke(Op::Backout) else {
            return Ended::Gone;
        };
        let ended = block_on(self.session.backout());
        self.respond(op, ended.map_or_else(outcome, |_| Outcome::Done))
    }

    /// Commits, and loses its connection while the record is on its way.
    pub(crate) fn vanish_in_commit(self) {
        let Some(op) = self.invoke(Op::Commit) else {
            return;
        };
        let ended = match once(self.session.commit()) {
            Some(Ok(_)) => Outcome::Done,
            Some(Err(reason)) => outcome(reason),
            None => Outcome::Unknown,
        };
        self.respond(op, ended);
        self.leave();
    }

    /// Its connection, for those who end it.
    pub(crate) fn session(&self) -> Session {
        self.session.clone()
    }

    /// Lets time go by.
    pub(crate) fn pause(&self, nanos: u64) {
        self.world.pause(nanos);
    }

    /// Whether a unit of work is open, as `DISPLAY CONN` shows it.
    pub(crate) fn has_unit_of_work(&self) -> bool {
        self.session.status().unit.is_some()
    }

    /// The connection is lost: its unit of work is backed out.
    pub(crate) fn leave(self) {
        self.end_open_puts(Outcome::Unknown);
        if let Some(op) = self.invoke(Op::Backout) {
            block_on(self.session.terminate());
            // A queue manager that has stopped leaves it to its next start to back out, which counts nothing.
            let stopped = self.session.queue_manager().stopped().is_some();
            let outcome = match stopped {
                true => Outcome::Unknown,
                false => Outcome::Done,
            };
            self.respond(op, outcome);
        }
    }

    /// Gets everything from a queue.
    pub(crate) fn drain(&self, queue: &'static str) {
        while self.get(queue, false, 0) == Ended::Fine {}
    }
}
