//! Redo and undo: what the log says on top of an image.
//!
//! Invariants: see `record`. Messages are collected as held slots; they are listed, in order, once
//! everything is known.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use posthaste_command::ObjectKind;
use posthaste_mqi::{Md, Name};
use posthaste_recovery_log::Lsn;

use crate::catalogue::{Catalogue, RETAINED_QUEUE, Runtime, Stored};
use crate::mark::{self, Mark, mark};
use crate::message::Message;
use crate::message_data::MessageData;
use crate::origin::Origin;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::index::{NewSlot, SlotId};
use crate::queue::uncommitted::Uncommitted;
use crate::record::{BackoutCount, Publication, QueueId, Record, UowId};
use crate::stop::StartError;
use crate::unit::Op;
use crate::unit::carried::{Found, Row};
use crate::unit::outcome::Outcome;
use posthaste_mqi::Xid;

/// A put or get of a unit of work whose end is not known yet.
enum Pending {
    Put(QueueId, Arc<Message>),
    /// Its message is in the queue's file.
    Filed(QueueId, NewSlot),
    Get(BackoutCount),
}

/// A unit of work whose end is not known yet.
#[derive(Default)]
struct InFlight {
    pending: Vec<Pending>,
    /// The messages that are in files: what the log has of them is known.
    filed: BTreeSet<u64>,
    /// It is prepared: when it began, and its identifier.
    branch: Option<(i64, Xid)>,
    /// It was completed heuristically.
    settled: Option<Outcome>,
}

struct Known {
    queue: Arc<Queue>,
    /// Slots by message number; made when the log first names a message of this queue.
    slots: Option<HashMap<u64, SlotId>>,
    /// What units of work in doubt have got.
    held: BTreeSet<SlotId>,
    /// Of the queue of retained publications, by the number of what was put: which record decides that it is there. All of a
    /// unit of work have the same.
    order: Option<BTreeMap<u64, u64>>,
}

impl Known {
    fn new(queue: Arc<Queue>) -> Self {
        let retained = queue.name == Name::new(RETAINED_QUEUE);
        Known {
            queue,
            slots: None,
            held: BTreeSet::new(),
            order: retained.then(BTreeMap::new),
        }
    }

    /// The record at this place in the log decides that a message is there.
    fn note(&mut self, seq: u64, at: u64) {
        if let Some(order) = &mut self.order {
            order.insert(seq, at);
        }
    }

    fn slots(&mut self) -> &mut HashMap<u64, SlotId> {
        let queue = &self.queue;
        self.slots.get_or_insert_with(|| {
            let state = queue.lock();
            let index = &state.index;
            index.all().map(|id| (index.slot(id).seq, id)).collect()
        })
    }
}

/// See the head of this file.
pub(crate) struct Replay<'a> {
    catalogue: &'a Catalogue,
    queues: BTreeMap<QueueId, Known>,
    units: HashMap<UowId, InFlight>,
    pub(crate) next_queue: QueueId,
    pub(crate) retired: Vec<Arc<Queue>>,
    pub(crate) records: u64,
    /// The highest number of a message or unit of work in the log.
    pub(crate) highest: u64,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, next_queue: QueueId) -> Self {
        let queues = catalogue.local_queues().into_iter().map(|queue| {
            let known = Known::new(queue);
            (known.queue.id, known)
        });
        Replay {
            catalogue,
            queues: queues.collect(),
            units: HashMap::default(),
            next_queue,
            retired: Vec::new(),
            records: 0,
            highest: 0,
        }
    }

    /// Redoes what an image carries; without `keep_np`, messages that are not persistent are left out.
    pub(crate) fn carried(&mut self, rows: Vec<Row<'_>>, keep_np: bool) -> Result<(), StartError> {
        for row in rows {
            match row {
                Row::Record(record) => self.redo(Lsn(0), record)?,
                Row::Filed { uow, queue, slot } => {
                    self.highest = self.highest.max(uow).max(slot.seq);
                    if slot.persistent || keep_np {
                        mark(Mark::RedoFiled);
                        let unit = self.units.entry(uow).or_default();
                        unit.filed.insert(slot.seq);
                        unit.pending.push(Pending::Filed(queue, slot));
                    }
                }
            }
        }
        Ok(())
    }

    /// Redoes one record of the log.
    pub(crate) fn record(&mut self, start: Lsn, record: Record<'_>) -> Result<(), StartError> {
        self.records += 1;
        self.redo(start, record)
    }

    fn redo(&mut self, start: Lsn, record: Record<'_>) -> Result<(), StartError> {
        self.highest = self.highest.max(record.highest_number());
        mark::redone(&record);
        match record {
            Record::Put {
                uow,
                queue,
                seq,
                expires,
                md,
                beside,
                data,
            } => {
                let data =
                    MessageData::from(Bytes::copy_from_slice(data)).restored(beside.properties);
                let data = data.ok_or_else(|| nonsense("properties"))?;
                let message = || message(start, (seq, expires), (*md, beside.origin), data);
                self.redo_put(uow, queue, seq, message);
            }
            Record::Publish(publication) => self.redo_publication(start, publication)?,
            Record::Get {
                uow: 0, queue, seq, ..
            }
            | Record::Discarded { queue, seq } => {
                self.gone(queue, seq);
            }
            Record::Get {
                uow,
                queue,
                seq,
                count,
            } => {
                let unit = self.units.entry(uow).or_default();
                unit.pending
                    .push(Pending::Get(BackoutCount { queue, seq, count }));
            }
            Record::Commit { uow } => {
                let unit = self.units.remove(&uow).unwrap_or_default();
                self.commit(unit.pending);
            }
            Record::Backout { uow, counts } => {
                let unit = self.units.remove(&uow).unwrap_or_default();
                self.back_out(unit.pending, counts);
            }
            Record::Prepare { uow, started, xid } => {
                self.units.entry(uow).or_default().branch = Some((started, xid));
            }
            Record::Heuristic {
                uow,
                outcome,
                counts,
            } => self.settle(uow, outcome, counts),
            Record::Forgotten { uow } => {
                let unit = self.units.remove(&uow).unwrap_or_default();
                self.forget(&unit.pending);
            }
            Record::Object { queue, object } => self.object(start, queue, object)?,
            Record::Deleted { queue, kind, name } => {
                let kind = ObjectKind::stored_as(kind).ok_or_else(|| nonsense("an object kind"))?;
                self.deleted(start, queue, kind, name);
            }
            Record::Cleared { queue, below } => self.cleared(queue, below),
            Record::Checkpoint { .. } => {}
        }
        Ok(())
    }

    fn redo_put(
        &mut self,
        uow: UowId,
        queue: QueueId,
        seq: u64,
        message: impl FnOnce() -> Arc<Message>,
    ) {
        if uow == 0 {
            return self.put(queue, &message());
        }
        let unit = self.units.entry(uow).or_default();
        if !unit.filed.contains(&seq) {
            unit.pending.push(Pending::Put(queue, message()));
        }
    }

    fn redo_publication(
        &mut self,
        start: Lsn,
        publication: Publication<'_>,
    ) -> Result<(), StartError> {
        let Publication {
            uow,
            mut destinations,
            bodies,
            pieces,
        } = publication;
        // Shared in memory too.
        let pieces: Vec<Bytes> = pieces.iter().map(|b| Bytes::copy_from_slice(b)).collect();
        let bodies = bodies.iter().map(|body| {
            let shared = MessageData::from(pieces[body.piece].slice(body.from..));
            match body.head {
                [] => shared,
                head => shared.behind(head),
            }
        });
        let bodies: Vec<MessageData> = bodies.collect();
        if planted(Bug::HalfPublish) {
            destinations.truncate(destinations.len() / 2);
        }
        for to in destinations {
            let data = bodies[to.body].clone().restored(to.beside.properties);
            let data = data.ok_or_else(|| nonsense("properties"))?;
            let message = || message(start, (to.seq, to.expires), (to.md, to.beside.origin), data);
            self.redo_put(uow, to.queue, to.seq, message);
        }
        Ok(())
    }

    fn commit(&mut self, mut unit: Vec<Pending>) {
        if planted(Bug::HalfCommit) {
            unit.truncate(1);
        }
        for pending in unit {
            match pending {
                Pending::Put(queue, message) => self.put(queue, &message),
                Pending::Filed(queue, slot) => self.put_filed(queue, &slot),
                Pending::Get(got) => self.gone(got.queue, got.seq),
            }
        }
    }

    fn back_out(&mut self, unit: Vec<Pending>, counts: Vec<BackoutCount>) {
        self.forget(&unit);
        for count in counts {
            self.backed_out(count);
        }
    }

    /// What a unit of work has put never happened.
    fn forget(&mut self, unit: &[Pending]) {
        for pending in unit {
            if let Pending::Filed(queue, slot) = pending
                && let Some(known) = self.queues.get_mut(queue)
                && !known.slots().contains_key(&slot.seq)
                && let Some(place) = slot.place()
            {
                known.queue.lock().give_up_place(place);
            }
        }
    }

    /// One that is not known has been forgotten since.
    fn settle(&mut self, uow: UowId, outcome: Outcome, counts: Vec<BackoutCount>) {
        let Some(unit) = self.units.get_mut(&uow) else {
            return;
        };
        unit.settled = Some(outcome);
        let pending = std::mem::take(&mut unit.pending);
        match outcome {
            Outcome::Committed => self.commit(pending),
            Outcome::BackedOut => self.back_out(pending, counts),
        }
    }

    /// A message is on its queue, unless it is there already. A queue that is not known was deleted
    /// later: its `Deleted` record is not far.
    fn put(&mut self, queue: QueueId, message: &Arc<Message>) {
        let at = self.records;
        let Some(known) = self.queues.get_mut(&queue) else {
            return;
        };
        known.note(message.seq, at);
        let slots = known.slots();
        if slots.contains_key(&message.seq) {
            return;
        }
        let slot = known.queue.lock().hold_replayed(message);
        known.queue.spill();
        known.slots().insert(message.seq, slot);
    }

    /// The same of a message that is in the queue's file.
    fn put_filed(&mut self, queue: QueueId, message: &NewSlot) {
        let at = self.records;
        let Some(known) = self.queues.get_mut(&queue) else {
            return;
        };
        known.note(message.seq, at);
        if !known.slots().contains_key(&message.seq) {
            let slot = known.queue.lock().add_filed(message);
            known.slots().insert(message.seq, slot);
        }
    }

    fn gone(&mut self, queue: QueueId, seq: u64) {
        if let Some(known) = self.queues.get_mut(&queue)
            && let Some(slot) = known.slots().remove(&seq)
        {
            known.queue.lock().destroy(slot, true);
        }
    }

    /// Raises the backout count of a message to the one given; whether the message is there.
    fn backed_out(&mut self, count: BackoutCount) -> bool {
        let Some(known) = self.queues.get_mut(&count.queue) else {
            return false;
        };
        let Some(slot) = known.slots().get(&count.seq).copied() else {
            return false;
        };
        let mut state = known.queue.lock();
        let known = state.index.slot(slot).backout_count;
        state.index.set_backout_count(slot, known.max(count.count));
        true
    }

    /// A definition is as given, unless the image has a newer one under its name: then the queue it
    /// is about has been deleted, and what else the log holds of that queue finds none.
    fn object(&mut self, start: Lsn, queue: QueueId, bytes: &[u8]) -> Result<(), StartError> {
        let (stored, _) = Stored::decode(bytes).ok_or_else(|| nonsense("a definition"))?;
        self.next_queue = self.next_queue.max(queue.saturating_add(1));
        let Some(definition) = self.catalogue.redo(stored.object, queue, start) else {
            return Ok(());
        };
        if let Runtime::Local(local) = definition.runtime() {
            let known = || Known::new(local.clone());
            self.queues.entry(queue).or_insert_with(known);
        }
        Ok(())
    }

    fn deleted(&mut self, start: Lsn, queue: QueueId, kind: ObjectKind, name: &str) {
        self.catalogue.redo_deletion(kind, name, queue, start);
        if let Some(known) = self.queues.remove(&queue) {
            self.retired.push(known.queue);
        }
    }

    fn cleared(&mut self, queue: QueueId, below: u64) {
        if let Some(known) = self.queues.get_mut(&queue) {
            let mut old: Vec<u64> = known
                .slots()
                .keys()
                .copied()
                .filter(|s| *s < below)
                .collect();
            old.sort_unstable();
            for seq in old {
                self.gone(queue, seq);
            }
            if let Some(known) = self.queues.get(&queue) {
                known.queue.lock().give_up();
            }
        }
    }

    /// By the number of a message on the queue of retained publications, the place of the record that decides that it is there,
    /// from 1; 0 is the image.
    pub(crate) fn retained_order(&self) -> HashMap<u64, u64> {
        let known = self
            .queues
            .values()
            .filter_map(|known| known.order.as_ref());
        known.flatten().map(|(seq, at)| (*seq, *at)).collect()
    }

    /// Undoes what was in flight. Returns the backout records that say so, for the log.
    pub(crate) fn undo(&mut self) -> Vec<(UowId, Vec<BackoutCount>)> {
        let undoes = |unit: &InFlight| unit.branch.is_none() || planted(Bug::UndoPrepared);
        let units = self.units.extract_if(|_, unit| undoes(unit));
        let mut units: Vec<_> = units.collect();
        units.sort_by_key(|(uow, _)| *uow);
        let mut undone = Vec::new();
        for (uow, unit) in units {
            self.forget(&unit.pending);
            let gets = unit
                .pending
                .into_iter()
                .filter_map(|pending| match pending {
                    Pending::Get(count) => Some(count),
                    Pending::Put(..) | Pending::Filed(..) => None,
                });
            let counts = gets.filter(|count| self.backed_out(*count)).collect();
            undone.push((uow, counts));
        }
        undone
    }

    /// The units of work that are in doubt, and those that were completed heuristically and are not forgotten. What
    /// they have put and got is in their hands.
    pub(crate) fn in_doubt(&mut self) -> Vec<Found> {
        let mut units: Vec<_> = std::mem::take(&mut self.units).into_iter().collect();
        units.sort_by_key(|(uow, _)| *uow);
        let mut found = Vec::new();
        for (id, unit) in units {
            let Some((started, xid)) = unit.branch else {
                continue;
            };
            // What the image carries may be in the log as well.
            let mut met = BTreeSet::new();
            let pending = unit.pending.into_iter();
            let ops = pending.filter_map(|pending| self.in_hand(pending, &mut met));
            found.push(Found {
                id,
                started,
                xid,
                settled: unit.settled,
                ops: ops.collect(),
            });
        }
        found
    }

    /// Takes a message into the hand of a unit of work, unless it is there already.
    fn in_hand(&mut self, pending: Pending, met: &mut BTreeSet<(bool, u64)>) -> Option<Op> {
        let (queue, get, seq) = match &pending {
            Pending::Put(queue, message) => (*queue, false, message.seq),
            Pending::Filed(queue, slot) => (*queue, false, slot.seq),
            Pending::Get(got) => (got.queue, true, got.seq),
        };
        let known = self.queues.get_mut(&queue)?;
        if !met.insert((get, seq)) {
            return None;
        }
        let queue = Arc::clone(&known.queue);
        match pending {
            Pending::Put(_, message) => {
                let put = queue.hold_uncommitted(message);
                Some(Op::Put { queue, put })
            }
            Pending::Filed(_, slot) => {
                let mut state = queue.lock();
                state.pending_puts += 1;
                if let Some(place) = slot.place().filter(|_| planted(Bug::LeaveInDoubtFree)) {
                    state.give_up_place(place);
                }
                drop(state);
                let put = Uncommitted::Filed(slot);
                Some(Op::Put { queue, put })
            }
            Pending::Get(_) => {
                let slot = *known.slots().get(&seq)?;
                known.held.insert(slot);
                queue.lock().uncommitted_gets += 1;
                Some(Op::Got { queue, slot })
            }
        }
    }

    /// Lists every message that is there, in the order of delivery.
    pub(crate) fn list_all(&self) {
        for known in self.queues.values() {
            let mut state = known.queue.lock();
            let mut all: Vec<_> = {
                let index = &state.index;
                index.all().map(|id| (index.slot(id).key(), id)).collect()
            };
            all.sort_unstable();
            for (_, id) in all {
                if !known.held.contains(&id) {
                    state.list(id);
                }
            }
            drop(state);
            known.queue.spill();
        }
    }
}

fn message(
    start: Lsn,
    (seq, expires): (u64, i64),
    (md, origin): (Md, Origin),
    data: MessageData,
) -> Arc<Message> {
    Arc::new(Message {
        md,
        data,
        origin,
        seq,
        expires,
        lsn: start,
    })
}

fn nonsense(what: &str) -> StartError {
    StartError::Inconsistent(format!("a log record holds {what} that cannot be read"))
}
