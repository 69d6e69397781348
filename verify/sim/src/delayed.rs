//! Messages that are put with a delivery delay: by applications among their other puts, to queues that all share and to
//! topics, and by one whose queue comes and goes while they wait.
//!
//! Laws, beside the model's:
//! * When nobody works and every queue takes messages again, all that was delayed comes, however often the queue manager
//!   ended, crashed or had its clock set while it waited. What could not be put when it was due is tried again each minute.
//! * Where their file is damaged, or the queue to which one is to go, the operator is told, and they may stay.
//! * For whoever deletes a queue messages that are delayed and for it are not on it.

use bytes::Bytes;
use posthaste_engine::{EndMode, Session};
use posthaste_model::{Model, Op, Outcome, Put};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Md, Name, Pmo, PointerSize, Rfh2};

use crate::branches;
use crate::calls::Manner;
use crate::run::{Failure, Run};
use crate::workload::{Target, Worker, id24, patient};

/// Where what is delayed waits, and from where it is delivered over a connection while it is not empty.
pub(crate) const STAGING: &str = "SYSTEM.DDELAY.LOCAL.QUEUE";
/// The queue that comes and goes.
pub(crate) const WITHDRAWN: &str = "W.WITHDRAWN";
/// Milliseconds of delays, at most: within a stretch of work, to the next, and over several.
const DELAYS: [u64; 3] = [10, 150, 5_000];
/// Virtual nanoseconds after which what could not be put has been tried again.
const TRIED_AGAIN: u64 = 61_000_000_000;
/// Microseconds that the clock is given to come to what is due, instead of being set.
const AWAITED: u64 = 10_000_000;

/// A message as JMS makes it, which says that it is to be delayed so many milliseconds.
pub(crate) fn behind_delay(milliseconds: u64, data: &[u8]) -> Bytes {
    let header = Rfh2 {
        folders: vec![format!("<mqext><Dly>{milliseconds}</Dly></mqext>")],
        ..Rfh2::default()
    };
    let mut out = Vec::new();
    header.encode(&mut out, ByteOrder::Big, PointerSize::Four);
    out.extend_from_slice(data);
    out.into()
}

/// What the descriptor says of such data.
pub(crate) fn in_header(md: Md) -> Md {
    Md {
        format: Chars::new("MQHRF2"),
        encoding: MQENC_INTEGER_NORMAL,
        ..md
    }
}

/// What is behind such a header, if there is one. `None`: it ends in the header.
pub(crate) fn behind_header(data: &[u8]) -> Option<&[u8]> {
    if !data.starts_with(b"RFH ") {
        return Some(data);
    }
    let (_, length) = Rfh2::decode(data, ByteOrder::Big, PointerSize::Four).ok()?;
    data.get(length..)
}

impl Worker {
    /// Whether a put to this queue is to be one that is delayed.
    pub(crate) fn delays(&self, target: Target) -> bool {
        // Not those of definers: nobody would find the queue again that a message was put to.
        self.plan.delays && self.is_shared(&target) && self.below(4) == 0
    }

    /// Puts a message that is delayed, and tells the oracle.
    pub(crate) async fn put_delayed(&self, session: &Session, target: Target) -> bool {
        let at_most = DELAYS[self.below(3) as usize];
        let delay = 1 + self.below(at_most);
        // Of those that expire few do so before they are due, which is refused, and many while they wait.
        let life = || delay / 100 + self.below(4);
        let manner = Manner {
            persistent: self.chance(self.plan.persistent),
            priority: self.below(3) as u8,
            in_uow: self.chance(self.plan.syncpoint),
            correl: self.below(4),
            tenths: self.chance(self.plan.expiry).then(life),
            asynchronous: false,
        };
        let tenths = manner.tenths.map(|tenths| tenths.max(1));
        let (id, data) = self.letter(self.length());
        let put = Put {
            queue: target.queue,
            id,
            hash: self.shared.borrow().sent[&id].1,
            persistent: Some(manner.persistent),
            priority: Some(manner.priority),
            in_uow: manner.in_uow,
            expiry: tenths.map(|tenths| tenths * crate::calls::TENTH),
            delay: Some(delay * 1_000),
            msg_id: id,
            correl_id: manner.correl,
        };
        let mut md = Md {
            persistence: i32::from(manner.persistent),
            priority: i32::from(manner.priority),
            msg_id: id24(id),
            correl_id: id24(manner.correl),
            expiry: tenths.map_or(MQEI_UNLIMITED, |tenths| tenths as i32),
            ..in_header(Md::default())
        };
        let mut pmo = Pmo {
            options: [MQPMO_NO_SYNCPOINT, MQPMO_SYNCPOINT][usize::from(manner.in_uow)],
            ..Pmo::default()
        };
        for (met, what) in [
            (true, "put delayed"),
            (manner.in_uow, "put delayed syncpoint"),
            (manner.persistent, "put delayed persistent"),
            (tenths.is_some(), "put delayed expiry"),
        ] {
            if met {
                self.met(what);
            }
        }
        let data = behind_delay(delay, &data);
        let op = self.invoke(Op::Put(put));
        let call = session.put_delayed(target.handle, &mut md, &mut pmo, data);
        match patient(call, self.limit()).await {
            Some(Ok(_)) => self.put_taken(op, manner).await,
            Some(Err(reason)) => self.put_failed(op, manner, reason).await,
            None => self.gave_up(op).await,
        }
    }

    /// How many milliseconds a publication is to be delayed, if it is.
    pub(crate) fn delay_of_publication(&self) -> Option<u64> {
        if !self.plan.delays || self.local().is_none() || self.below(4) != 0 {
            return None;
        }
        let at_most = DELAYS[self.below(3) as usize];
        Some(1 + self.below(at_most))
    }

    /// Works with a queue of its own, which it deletes whenever it is empty.
    pub(crate) async fn withdraw(mut self) {
        while !self.stopping() && self.withdraw_once().await {
            self.pause().await;
        }
        if self.stopping() {
            self.backout().await;
        }
    }

    async fn withdraw_once(&mut self) -> bool {
        // It is there already, where its delete was refused.
        let defined = self.command(&format!("DEFINE QLOCAL({WITHDRAWN})")).await;
        if defined == Outcome::Unknown {
            return false;
        }
        let options = MQOO_INPUT_SHARED | MQOO_OUTPUT;
        let Ok(handle) = self.open_one(WITHDRAWN, options).await else {
            return false;
        };
        let target = Target {
            handle,
            selecting: None,
            queue: self.shared.borrow().withdrawn,
            name: Name::new(WITHDRAWN),
        };
        self.handles = vec![target];
        for _ in 0..self.below(4) {
            let going = match self.local().cloned() {
                Some(session) => self.put_delayed(&session, target).await,
                None => false,
            };
            if !going || self.below(2) == 0 && !self.get().await {
                return false;
            }
        }
        if !self.commit_now().await || self.close_one(handle).await.is_err() {
            return false;
        }
        let deleted = self.command(&format!("DELETE QLOCAL({WITHDRAWN})")).await;
        if deleted == Outcome::Done {
            self.met("queue deleted for which messages may be delayed");
        }
        deleted != Outcome::Unknown
    }

    /// Lets every queue be put to and empties it.
    async fn make_place(self) {
        for target in self.handles.clone() {
            let op = Op::Inhibit(target.queue, Some(false), None);
            let (selector, allowed) = (MQIA_INHIBIT_PUT, MQQA_PUT_ALLOWED);
            if !self.set_attribute(target, selector, allowed, op).await {
                return;
            }
        }
        self.drain().await;
    }
}

impl Run {
    /// Spawns whose queue comes and goes.
    pub(crate) fn spawn_withdrawing(&self) {
        if !self.plan.delays {
            return;
        }
        let executor = self.machine.world.executor();
        executor.spawn("withdrawing", self.worker().withdraw());
    }

    /// Nobody works any more: everything that is delayed comes. `false`: the start is refused, and rightly so.
    pub(crate) fn deliver_delayed(&mut self) -> Result<bool, Failure> {
        let (shared, session) = (self.shared.clone(), self.machine.connect("coordinator"));
        let executor = self.machine.world.executor();
        let decided = executor.block_on(branches::decide_all(shared, session));
        decided.map_err(|stuck| Failure::Stuck(stuck.to_string()))?;
        if !self.come_to_their_time()? {
            return Ok(false);
        }
        if self.machine.qm().queue_status(WITHDRAWN).is_none() {
            self.machine.mqsc(&format!("DEFINE QLOCAL({WITHDRAWN})"));
        }
        let mut before = None;
        loop {
            // A temporary queue has gone with whoever made it.
            self.look()?;
            self.empty(Worker::make_place)?;
            self.machine.world.executor().run_for(TRIED_AGAIN);
            self.note_damage()?;
            let status = self.machine.qm().queue_status(STAGING);
            let left = status.map_or(0, |status| status.depth);
            if left == 0 {
                break;
            }
            self.met("delayed messages tried again");
            if before == Some(left) && self.shared.borrow().model.any_damaged() {
                // They cannot be read, or have nowhere to go.
                self.met("delayed messages stay for damage");
                break;
            }
            if before == Some(left) {
                let what = format!("{left} messages stay delayed for ever");
                return Err(Failure::Stuck(what));
            }
            before = Some(left);
        }
        self.shared.borrow_mut().model.delays_over();
        Ok(true)
    }

    /// Tells the oracle, where the operator was told that the file is damaged where they wait.
    fn note_damage(&self) -> Result<(), Failure> {
        if !self.machine.operator.has_message_about("AMQ7472E", STAGING) {
            return Ok(());
        }
        self.met("delayed messages wait in a damaged file");
        self.shared.borrow_mut().tell_struck();
        self.verdict(Model::waiting_damaged)
    }

    /// Where the clock was set back it is set forward again, which a queue manager sees when it starts.
    fn come_to_their_time(&mut self) -> Result<bool, Failure> {
        let (last, now) = {
            let shared = self.shared.borrow();
            let now = shared.micros(&*self.machine.env().clock);
            (shared.model.last_due(), now)
        };
        let last = last.unwrap_or(0);
        if last.saturating_sub(now) <= AWAITED {
            return Ok(true);
        }
        self.met("delayed messages found before their time by a clock that was set back");
        self.end(EndMode::Immediate)?;
        // It may have been set once more since the last start.
        let step = i64::try_from(last).unwrap_or(i64::MAX) - self.machine.env().clock.wall_micros();
        self.machine.world.clock().step_wall(step);
        self.start_again(self.plan.epochs)
    }
}
