//! A local queue: its messages, its waiters, its buffer and its file.
//!
//! Invariants (all under the queue's lock):
//! * A message that a getter may have is listed in the index. A message that was put but not
//!   committed is not in the index at all (its unit of work has it, see `uncommitted`) but counts in
//!   `pending_puts`.
//! * A message that was got but not committed is held: in the index, in no list, not in the depth.
//! * Nothing is put on or got from a damaged queue (see `damage`); what is under way comes to its end.
//! * Depth = listed + pending puts. A put is admitted only while depth < MAXDEPTH.
//! * The bytes of a message are in memory, in the queue file, or both. They are written to the
//!   file for four reasons only: persistent and old at a checkpoint; persistent at a controlled
//!   shutdown; NPMCLASS(HIGH) at a controlled shutdown; the queue buffer is full.
//! * The file is never touched under the lock (see `lock`, `reading`, `spill`).
//! * A place in the queue file is given back at once when the log has forced the message's end (or
//!   never knew the message), unless a checkpoint is saving the queue: then once its image is in
//!   force; and after the next checkpoint otherwise: an image must not point at
//!   bytes that a later message has overwritten while the log cannot say that they are gone.

pub(crate) mod attributes;
mod check;
mod counts;
pub(crate) mod damage;
pub(crate) mod deleted;
pub(crate) mod disjoint;
pub(crate) mod index;
pub(crate) mod judged;
mod lock;
pub(crate) mod marks;
pub(crate) mod reading;
mod residents;
pub(crate) mod retained;
pub(crate) mod saved;
mod search;
mod slot_set;
mod spill;
pub(crate) mod triggered;
pub(crate) mod uncommitted;

use std::path::PathBuf;
use std::sync::Arc;

use posthaste_env::Disk;
use posthaste_env::sync::{Mutex, RwLock};
use posthaste_mqi::{Hobj, Name, Reason};
use posthaste_store::{LARGEST_FILE, Place, QueueFile};

use crate::bodies::{BodyCipher, FileBodies};
use crate::catalogue::alias::Alias;
use crate::catalogue::last_change::LastChange;
use crate::consume::considered::Considered;
use crate::consume::held::Held;
use crate::consume::waiter::{Offered, Service, Wakes};
use crate::consume::waiters::{Tags, Waiters};
use crate::delayed::known::Delays;
use crate::file_service::FileService;
use crate::message::Message;
use crate::meter::{Count, Counters};
use crate::plant::{Bug, planted};
use crate::record::QueueId;
use crate::room::Room;
use crate::tally::Tally;

pub(crate) use attributes::QueueAttributes;
pub(crate) use check::Outside;
pub use counts::QueueCounts;
use index::{Body, GroupKeys, Index, NIL, NewSlot, SlotId};
use lock::Locked;
use residents::{Resident, Residents};
use retained::Retained;
pub(crate) use search::{Cursor, Expired, Found, Start, SweepEnd};
use spill::Filing;
use triggered::{TriggerState, Triggered};

/// What all queues of a queue manager have in common.
pub(crate) struct QueueHome {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) directory: PathBuf,
    /// Seed of the identifiers' tags, drawn when the queue manager was created.
    pub(crate) tag_seed: u64,
    pub(crate) q_buffer: usize,
    pub(crate) pq_buffer: usize,
    pub(crate) counters: Counters,
    pub(crate) triggered: Triggered<Queue>,
    pub(crate) room: Room,
    pub(crate) files: FileService,
    /// Seals the bodies of messages, if the queue manager was created so.
    pub(crate) cipher: Option<Arc<dyn BodyCipher>>,
}

/// A local queue.
pub(crate) struct Queue {
    pub(crate) id: QueueId,
    pub(crate) name: Name,
    home: Arc<QueueHome>,
    file_path: PathBuf,
    /// Whether its file has been removed for good. Whoever makes or removes the file holds this.
    file_removed: Mutex<bool>,
    /// What its definition says, for whoever needs nothing else of the queue: a put, which then has one lock to take for
    /// its place and one to be seen.
    definition: RwLock<Arc<QueueAttributes>>,
    /// The last change of its definition after which handles on it are void.
    pub(crate) last_change: LastChange,
    state: Mutex<QueueState>,
}

/// What is true of a queue at this moment (`DISPLAY QSTATUS`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// Messages, uncommitted puts included (`CURDEPTH`). Of a damaged queue, those that are known of.
    pub depth: u32,
    /// Whether its file does not hold what was written there, so that nobody knows what is on it.
    pub damaged: bool,
    /// Handles open for input (`IPPROCS`).
    pub open_input: u32,
    /// Handles open for output (`OPPROCS`).
    pub open_output: u32,
    /// Whether there are uncommitted puts or gets (`UNCOM`).
    pub uncommitted: bool,
    /// Bytes of messages in memory.
    pub resident_bytes: usize,
    /// 512-byte blocks in use in the queue file.
    pub file_blocks: u64,
    /// The most bytes that the queue file may have.
    pub largest_file: u64,
    /// Links between messages followed, and places looked at, so far: what finding messages has cost.
    pub steps: u64,
    /// What has been counted since this run began.
    pub counts: QueueCounts,
}

/// The part of a queue behind its lock.
pub(crate) struct QueueState {
    pub(crate) attributes: Arc<QueueAttributes>,
    pub(crate) index: Index,
    residents: Residents,
    home: Arc<QueueHome>,
    file: Option<Arc<QueueFile>>,
    bodies: FileBodies,
    filing: Filing,
    /// Written to since its last sync.
    pub(crate) file_dirty: bool,
    /// The disk was full when a message should have been filed: puts are refused meanwhile.
    file_full: bool,
    /// Places to give back once the next image is durable.
    pub(crate) free_later: Vec<Place>,
    /// While a checkpoint saves this queue: places that could have been given back meanwhile.
    held_back: Option<Vec<Place>>,
    pub(crate) pending_puts: Tally<u32>,
    /// Bytes of messages that units of work have in memory: non-persistent, persistent.
    uncommitted: [Tally<usize>; 2],
    pub(crate) uncommitted_gets: Tally<u32>,
    pub(crate) waiters: Waiters,
    pub(crate) open_input: Tally<u32>,
    pub(crate) open_output: Tally<u32>,
    pub(crate) open_browse: Tally<u32>,
    pub(crate) exclusive: bool,
    pub(crate) browse_locks: Vec<(SlotId, u64, u64)>,
    /// Since a handle marks what it browses.
    marks: Option<Box<marks::Marks>>,
    pub(crate) trigger: TriggerState,
    pub(crate) deleted: bool,
    /// It is the managed queue of a subscription that has ended, and goes when nobody has it open.
    pub(crate) abandoned: bool,
    /// Messages with a smaller number are gone, those that a getter has included.
    cleared_below: u64,
    /// Why the queue cannot be used, if it cannot.
    pub(crate) damage: Option<damage::Damage>,
    /// Where the previous put of the commit in progress was listed.
    near: SlotId,
    /// Since somebody has searched by properties.
    relisted: Option<Box<judged::Relisted>>,
    /// Of the queue of retained publications.
    retained: Option<Box<Retained>>,
    /// Of the staging queue of delayed messages: who is told of those that arrive.
    delays: Option<Arc<Delays>>,
    counts: QueueCounts,
}

impl Queue {
    pub(crate) fn new(
        id: QueueId,
        name: Name,
        attributes: QueueAttributes,
        home: Arc<QueueHome>,
    ) -> Arc<Self> {
        let file = file_name(&name, id);
        let trigger = attributes.trigger.clone();
        let attributes = Arc::new(attributes);
        let state = QueueState {
            attributes: Arc::clone(&attributes),
            index: Index::new(),
            residents: Residents::default(),
            file: None,
            bodies: FileBodies::new(home.cipher.as_ref(), id),
            filing: Filing::default(),
            file_dirty: false,
            file_full: false,
            free_later: Vec::new(),
            held_back: None,
            pending_puts: Tally::default(),
            uncommitted: Default::default(),
            uncommitted_gets: Tally::default(),
            waiters: Waiters::new(home.tag_seed),
            open_input: Tally::default(),
            open_output: Tally::default(),
            open_browse: Tally::default(),
            exclusive: false,
            browse_locks: Vec::new(),
            marks: None,
            trigger: TriggerState::default(),
            deleted: false,
            abandoned: false,
            cleared_below: 0,
            damage: None,
            near: NIL,
            relisted: None,
            retained: None,
            delays: None,
            counts: QueueCounts::default(),
            home: Arc::clone(&home),
        };
        let initiation = trigger.map(|trigger| trigger.initiation_q);
        let queue = Arc::new(Queue {
            id,
            name,
            file_path: home.directory.join(file),
            home,
            file_removed: Mutex::new(false),
            definition: RwLock::new(attributes),
            last_change: LastChange::default(),
            state: Mutex::new(state),
        });
        queue.home.triggered.note(queue.id, &queue, initiation);
        queue
    }

    /// How its file has the bodies of messages.
    pub(crate) fn bodies(&self) -> FileBodies {
        FileBodies::new(self.home.cipher.as_ref(), self.id)
    }

    /// The name of its file in the folder of queue files.
    pub(crate) fn file_name(&self) -> String {
        file_name(&self.name, self.id)
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked::new(self.state.try_lock().unwrap_or_else(|| {
            self.home.counters.one(Count::LockWaits);
            let mut state = self.state.lock();
            state.counts.lock_waits += 1;
            state
        }))
    }

    /// What its definition says.
    pub(crate) fn attributes(&self) -> Arc<QueueAttributes> {
        Arc::clone(&self.definition.read())
    }

    /// Whether a handle goes on that was opened then, by this alias if by one. Whoever begins to wait asks under the lock.
    ///
    /// # Errors
    /// 2041.
    pub(crate) fn unchanged(&self, alias: Option<&Arc<Alias>>, opened: u32) -> Result<(), Reason> {
        let of_alias = alias.is_some_and(|alias| alias.last_change.is_after(opened));
        match of_alias || self.last_change.is_after(opened) {
            true => Err(Reason::OBJECT_CHANGED),
            false => Ok(()),
        }
    }

    /// Whether messages of it have been in a file.
    pub(crate) fn has_file(&self) -> bool {
        self.lock().file.is_some()
    }

    /// Replaces what its definition says.
    pub(crate) fn set_attributes(self: &Arc<Self>, attributes: QueueAttributes) {
        let trigger = attributes.trigger.as_ref();
        let initiation = trigger.map(|trigger| trigger.initiation_q.clone());
        let attributes = Arc::new(attributes);
        *self.definition.write() = Arc::clone(&attributes);
        self.lock().attributes = attributes;
        self.home.triggered.note(self.id, self, initiation);
    }

    /// It is no longer defined.
    pub(crate) fn undefined(self: &Arc<Self>) {
        self.home.triggered.note(self.id, self, None);
    }

    /// The queue's state, if nobody has it locked at this moment.
    pub(crate) fn try_lock(&self) -> Option<Locked<'_>> {
        self.state.try_lock().map(Locked::new)
    }

    pub(crate) fn status(&self) -> QueueStatus {
        let state = self.lock();
        QueueStatus {
            depth: state.depth(),
            damaged: state.is_damaged(),
            open_input: state.open_input.get(),
            open_output: state.open_output.get(),
            uncommitted: state.is_uncommitted(),
            resident_bytes: state.residents.bytes()
                + state.uncommitted.iter().map(Tally::get).sum::<usize>(),
            file_blocks: state.file.as_ref().map_or(0, |f| f.used_blocks()),
            largest_file: LARGEST_FILE,
            steps: state.index.steps(),
            counts: state.counts,
        }
    }
}

impl QueueState {
    /// `CURDEPTH`: uncommitted puts count, uncommitted gets do not.
    pub(crate) fn depth(&self) -> u32 {
        self.index.listed() + self.pending_puts.get()
    }

    /// Whether there are uncommitted puts or gets.
    pub(crate) fn is_uncommitted(&self) -> bool {
        self.pending_puts.get() > 0 || self.uncommitted_gets.get() > 0
    }

    /// Whether somebody has it open.
    pub(crate) fn is_open(&self) -> bool {
        let handles = [self.open_input, self.open_output, self.open_browse];
        handles.iter().any(|handles| handles.get() > 0)
    }

    /// Whether messages may be got, by this alias if by one.
    ///
    /// # Errors
    /// 2052 it is deleted, 2101 damaged, 2016 gets are inhibited.
    pub(crate) fn gettable(&self, alias: Option<&Arc<Alias>>) -> Result<(), Reason> {
        if self.deleted {
            return Err(Reason::Q_DELETED);
        }
        self.usable()?;
        if self.attributes.get_inhibited || alias.is_some_and(|a| a.get_inhibited()) {
            return Err(Reason::GET_INHIBITED);
        }
        Ok(())
    }

    /// Whether one more message may be put.
    pub(crate) fn admit(&mut self, persistent: bool) -> Result<(), Reason> {
        if self.deleted {
            return Err(Reason::Q_DELETED);
        }
        self.usable()?;
        if self.attributes.put_inhibited {
            return Err(Reason::PUT_INHIBITED);
        }
        if self.depth() >= self.attributes.max_depth {
            return Err(Reason::Q_FULL);
        }
        if !self.home.room.is_open() && (persistent || self.over_buffer()) {
            return Err(Reason::Q_SPACE_NOT_AVAILABLE);
        }
        if self.file_full && self.over_buffer() {
            return Err(match self.home.room.broken() {
                // The queue manager is about to stop.
                Some(_) => Reason::CONNECTION_BROKEN,
                None => Reason::Q_SPACE_NOT_AVAILABLE,
            });
        }
        Ok(())
    }

    fn over_buffer(&self) -> bool {
        self.is_over(true) || self.is_over(false)
    }

    /// Whether the buffer for messages of a kind is full.
    fn is_over(&self, persistent: bool) -> bool {
        let limit = if persistent {
            self.home.pq_buffer
        } else {
            self.home.q_buffer
        };
        let uncommitted = self.uncommitted[usize::from(persistent)].get();
        self.residents.bytes_of(persistent) + uncommitted > limit
    }

    /// Admits a put whose message will arrive later (commit, or the force of its log record).
    pub(crate) fn reserve(&mut self, persistent: bool) -> Result<(), Reason> {
        self.admit(persistent)?;
        self.pending_puts += 1;
        Ok(())
    }

    fn list_of(&self, priority: i32) -> u8 {
        if self.attributes.fifo || planted(Bug::IgnorePriority) {
            0
        } else {
            priority.clamp(0, 9) as u8
        }
    }

    /// What a slot for a message is made of.
    fn new_slot(&self, message: &Message, body: Body, backout_count: u16) -> NewSlot {
        let seed = self.home.tag_seed;
        NewSlot {
            seq: message.seq,
            body,
            list: self.list_of(message.md.priority),
            priority: message.md.priority.clamp(0, 9) as u8,
            persistent: message.persistent(),
            expires_s: expiry_seconds(message.expires),
            backout_count,
            msg_tag: index::tag_of(&message.md.msg_id, seed),
            correl_tag: index::tag_of(&message.md.correl_id, seed),
            group: GroupKeys::of(&message.md),
        }
    }

    /// Allocates a held slot for a message in memory.
    pub(crate) fn hold_new(&mut self, message: &Arc<Message>, backout_count: u16) -> SlotId {
        let at = self.residents.add(Resident {
            message: message.clone(),
            place: None,
        });
        let slot = self.new_slot(message, Body::Resident(at), backout_count);
        self.index.add(slot)
    }

    /// Allocates a held slot for a message that a restart read from the log, and has it filed if the
    /// buffer is full: a restart must not need more memory than the log is long.
    pub(crate) fn hold_replayed(&mut self, message: &Arc<Message>) -> SlotId {
        let slot = self.hold_new(message, 0);
        self.limit_memory(slot);
        slot
    }

    /// A message becomes available: to a consumer that waits, or on the queue.
    pub(crate) fn arrive(&mut self, message: &Arc<Message>, wakes: &mut Wakes) {
        self.count_arrival(message);
        let considered = Considered::new(message, 0);
        while let Some(waiter) = self.waiters.choose(&considered) {
            let direct = waiter.service == (Service::HandOver { direct: true });
            let avoids = direct && !message.persistent();
            let offered = waiter.offer(wakes, || Held {
                slot: (!avoids).then(|| self.hold_new(message, 0)),
                message: message.clone(),
                backout_count: 0,
            });
            if let Offered::Taken { more } = offered {
                if more {
                    self.waiters.keep(waiter);
                }
                let how = [Count::HandedOver, Count::Avoided];
                self.home.counters.one(how[usize::from(avoids)]);
                self.counts.avoided += u64::from(avoids);
                self.counts.handed_over += u64::from(!avoids);
                return;
            }
        }
        self.home.counters.one(Count::Queued);
        let slot = self.hold_new(message, 0);
        self.list(slot);
        self.waiters.notify(&considered, wakes);
        self.retained_arrived(slot);
        if let Some(delays) = &self.delays {
            delays.arrived(message);
            wakes.raise(&delays.changed);
        }
    }

    /// It is the staging queue.
    pub(crate) fn tell_delays(&mut self, delays: &Arc<Delays>) {
        if self.delays.is_none() {
            self.delays = Some(delays.clone());
        }
    }

    /// A message has arrived that is in the file already.
    pub(crate) fn tell_unread(&self, wakes: &mut Wakes) {
        if let Some(delays) = &self.delays {
            delays.arrived_unread();
            wakes.raise(&delays.changed);
        }
    }

    /// Lists a held slot, near the one listed before, and has its bytes filed if the buffer is full.
    pub(crate) fn list(&mut self, slot: SlotId) {
        self.index.list(slot, self.near);
        self.near = slot;
        self.note_relisted(slot);
        self.listed_unmarked(slot);
        self.limit_memory(slot);
    }

    /// A search that has gone past this message has to judge it.
    fn note_relisted(&mut self, slot: SlotId) {
        if let Some(relisted) = &mut self.relisted
            && !planted(Bug::ForgetRelisted)
        {
            relisted.note(self.index.slot(slot));
        }
    }

    /// Gives a held message back to the queue, or to the next consumer that waits for it. One that is in the file only
    /// is put on the queue, and whoever may be waiting for it looks for himself. False: it has been cleared
    /// meanwhile, and is gone.
    pub(crate) fn give_back(&mut self, slot: SlotId, wakes: &mut Wakes) -> bool {
        if self.was_cleared(slot) {
            return false;
        }
        match self.index.slot(slot).body() {
            Body::Resident(at) if !self.waiters.is_empty() => {
                let message = self.residents.get(at).message.clone();
                self.give_back_known(slot, &message, wakes);
            }
            Body::Resident(_) | Body::Filed(_) => {
                self.list(slot);
                self.look_again(slot, wakes);
            }
        }
        true
    }

    /// Whoever may be waiting for a listed message is to look for it.
    fn look_again(&mut self, slot: SlotId, wakes: &mut Wakes) {
        self.waiters.look_again(self.tags_of(slot), wakes);
    }

    /// The tags of a message's identifiers.
    fn tags_of(&self, slot: SlotId) -> Tags {
        let (msg, correl) = Index::tags(self.index.slot(slot));
        let group = index::tag_of(&self.index.group(slot).id, self.home.tag_seed);
        Tags([msg, correl, group])
    }

    /// The same for a message that is at hand.
    pub(crate) fn give_back_known(
        &mut self,
        slot: SlotId,
        message: &Arc<Message>,
        wakes: &mut Wakes,
    ) {
        if self.was_cleared(slot) {
            return;
        }
        let considered = self.considered(slot, message);
        if !self.offer(slot, message, &considered, wakes) {
            self.list(slot);
            self.waiters.notify(&considered, wakes);
        }
    }

    /// The message of a slot, for those who may want it.
    fn considered<'a>(&self, slot: SlotId, message: &'a Message) -> Considered<'a> {
        Considered::new(message, self.index.slot(slot).backout_count)
    }

    /// Hands a held message to a consumer that waits for it, if there is one.
    fn offer(
        &mut self,
        slot: SlotId,
        message: &Arc<Message>,
        considered: &Considered<'_>,
        wakes: &mut Wakes,
    ) -> bool {
        while let Some(waiter) = self.waiters.choose(considered) {
            let offered = waiter.offer(wakes, || Held {
                slot: Some(slot),
                message: message.clone(),
                backout_count: self.index.slot(slot).backout_count,
            });
            if let Offered::Taken { more } = offered {
                if more {
                    self.waiters.keep(waiter);
                }
                return true;
            }
        }
        false
    }

    /// Where the queue file has a message, if it has it.
    fn place_of(&self, slot: SlotId) -> Option<Place> {
        match self.index.slot(slot).body() {
            Body::Filed(place) => Some(place),
            Body::Resident(at) => self.residents.get(at).place,
        }
    }

    /// Removes a held message for good. `forced`: the log has made its end durable, or never knew
    /// the message.
    pub(crate) fn destroy(&mut self, slot: SlotId, forced: bool) {
        self.counts.removed += 1;
        let place = match self.index.slot(slot).body() {
            Body::Filed(place) => Some(place),
            Body::Resident(at) => self.residents.remove(at).place,
        };
        if place.is_some() {
            // An image may have it, wherever its bytes were found just now.
            self.index.mark_dirty(slot);
        }
        self.forget_retained(self.index.slot(slot).seq);
        self.index.remove(slot);
        if let Some(place) = place {
            self.release(place, forced);
        }
    }

    /// The end of a get is forced: its message is gone.
    pub(crate) fn got(&mut self, slot: SlotId) {
        self.uncommitted_gets -= 1;
        self.destroy(slot, true);
    }

    /// Destroys a listed message; the log has forced that it is gone. One that is listed no more is left to who has it.
    pub(crate) fn discard(&mut self, slot: SlotId, seq: u64) {
        if self.index.holds(slot, seq) && self.index.slot(slot).listed() {
            self.browse_forget(slot);
            self.index.hold(slot);
            self.destroy(slot, true);
        }
    }

    /// Destroys the messages put before `below`; the log has forced that they are gone. One that a
    /// getter has meanwhile goes when the get ends, however it does.
    pub(crate) fn clear(&mut self, below: u64) {
        self.cleared_below = self.cleared_below.max(below);
        let index = &self.index;
        let old = index.all().filter(|id| index.slot(*id).seq < below);
        for id in old.collect::<Vec<SlotId>>() {
            if self.index.slot(id).listed() {
                self.browse_forget(id);
                self.index.hold(id);
                self.destroy(id, true);
            } else {
                // The next image must not have it.
                self.index.mark_dirty(id);
            }
        }
    }

    /// Ends a held message that has been cleared meanwhile; true if it has.
    fn was_cleared(&mut self, slot: SlotId) -> bool {
        let cleared = self.index.slot(slot).seq < self.cleared_below;
        if cleared {
            self.destroy(slot, true);
        }
        cleared
    }

    fn release(&mut self, place: Place, forced: bool) {
        if self.damage.is_some() {
            // Who else refers to it is not known.
            return;
        }
        match (&self.file, &mut self.held_back) {
            (Some(_), Some(held_back)) if forced && !planted(Bug::FreeWhileSaving) => {
                held_back.push(place);
            }
            (Some(_), _) if forced && planted(Bug::LeakPlace) => {}
            (Some(file), _) if forced => self.home.room.freed(file.free(place)),
            _ => self.free_later.push(place),
        }
    }

    /// A checkpoint begins to save this queue: part by part, so that a place that one part has named
    /// must not be taken by what a later part names. Returns the places that the image to come does
    /// not name any more.
    pub(crate) fn begin_saving(&mut self) -> Vec<Place> {
        self.held_back = Some(Vec::new());
        std::mem::take(&mut self.free_later)
    }

    /// That image is in force, or was abandoned.
    pub(crate) fn end_saving(&mut self) {
        let held_back = self.held_back.take().unwrap_or_default();
        self.free(held_back);
    }

    /// Gives back places that nothing refers to any more.
    pub(crate) fn free(&mut self, places: Vec<Place>) {
        if let Some(file) = &self.file
            && self.damage.is_none()
        {
            for place in places {
                self.home.room.freed(file.free(place));
            }
        }
    }

    /// Locks a message for browsing on behalf of a handle; unlocks what that handle had locked.
    pub(crate) fn browse_lock(&mut self, slot: SlotId, owner: (u64, Hobj), wakes: &mut Wakes) {
        let key = lock_key(owner);
        if self.index.slot(slot).browse_locked() {
            // By this handle: to others it is out of sight.
            return;
        }
        self.browse_unlock(owner, wakes);
        self.index.set_browse_lock(slot, true);
        let seq = self.index.slot(slot).seq;
        self.browse_locks.push((slot, seq, key));
    }

    /// Unlocks the message a handle has locked; true if there was one.
    pub(crate) fn browse_unlock(&mut self, owner: (u64, Hobj), wakes: &mut Wakes) -> bool {
        let key = lock_key(owner);
        let Some(at) = self.browse_locks.iter().position(|(_, _, k)| *k == key) else {
            return false;
        };
        let (slot, seq, _) = self.browse_locks.swap_remove(at);
        if !self.index.holds(slot, seq) {
            return false;
        }
        self.index.set_browse_lock(slot, false);
        if !self.index.slot(slot).listed() {
            return true;
        }
        self.note_relisted(slot);
        if !self.waiters.is_empty() {
            self.show(slot, wakes);
        }
        true
    }

    /// A listed message can be seen again by those who wait. One that nobody takes stays as it is: where it is stored
    /// was decided when it was listed.
    fn show(&mut self, slot: SlotId, wakes: &mut Wakes) {
        if let Body::Resident(at) = self.index.slot(slot).body() {
            let message = self.residents.get(at).message.clone();
            self.index.hold(slot);
            let considered = self.considered(slot, &message);
            if self.offer(slot, &message, &considered, wakes) {
                self.forget_marks(slot);
                return;
            }
            self.index.list(slot, self.near);
            self.note_relisted(slot);
            self.waiters.notify(&considered, wakes);
        } else {
            self.look_again(slot, wakes);
        }
    }

    /// A message is being got, if it is locked by the handle that has it locked: the lock goes with it, and so do marks.
    pub(crate) fn browse_forget(&mut self, slot: SlotId) {
        self.forget_marks(slot);
        if self.index.slot(slot).browse_locked() {
            self.index.set_browse_lock(slot, false);
            self.browse_locks.retain(|(locked, _, _)| *locked != slot);
        }
    }

    /// Whether a slot is locked by somebody else's browse.
    pub(crate) fn locked_for(&self, slot: SlotId, owner: (u64, Hobj)) -> bool {
        self.index.slot(slot).browse_locked()
            && !self
                .browse_locks
                .iter()
                .any(|(s, _, k)| *s == slot && *k == lock_key(owner))
    }
}

fn file_name(name: &Name, id: QueueId) -> String {
    format!("{}.{id}", name.text().replace('/', "&"))
}

/// Whether a file of this name may be the file of a queue: what [`file_name`] makes.
pub(crate) fn names_queue_file(name: &str) -> bool {
    let Some((queue, id)) = name.rsplit_once('.') else {
        return false;
    };
    let number = id.parse::<QueueId>();
    number.is_ok_and(|number| number.to_string() == id)
        && crate::names::valid_name(&queue.replace('&', "/"))
}

fn lock_key(owner: (u64, Hobj)) -> u64 {
    (owner.0 << 32) | u64::from(owner.1.0 as u32)
}

/// The second after which a message has certainly expired.
pub(crate) fn expiry_seconds(expires: i64) -> u32 {
    if expires == 0 {
        return 0;
    }
    u32::try_from(expires / 1_000_000 + 1).unwrap_or(u32::MAX)
}
