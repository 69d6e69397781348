//! Messages that were put and are not committed: counted in the queue's buffer, and filed when that is full.
//!
//! Invariants:
//! * Such a message is in no index. Its unit of work has it: in memory, or as a place in the queue file that no index
//!   names. An image names it only for a unit of work in doubt (`unit/carried.rs`): else it is free again after a crash.
//! * The end of one in doubt is forced before its places are given back, like the end of any message that an image may
//!   name.
//! * `uncommitted` is the sum of the sizes of those that are in memory and counted, by kind.
//! * The file is written without the queue's lock.

use std::sync::Arc;

use posthaste_store::{Place, StoreError};

use super::index::{Body, NewSlot, SlotId};
use super::saved::write_message;
use super::{Queue, QueueState};
use crate::consume::waiter::Wakes;
use crate::message::Message;
use crate::meter::Count;

/// A message of a unit of work.
pub(crate) enum Uncommitted {
    InMemory {
        message: Arc<Message>,
        /// Whether it counts in the queue's buffer; one whose commit follows at once does not.
        counted: bool,
    },
    Filed(NewSlot),
}

impl Uncommitted {
    pub(crate) fn seq(&self) -> u64 {
        match self {
            Uncommitted::InMemory { message, .. } => message.seq,
            Uncommitted::Filed(slot) => slot.seq,
        }
    }

    pub(crate) fn priority(&self) -> i32 {
        match self {
            Uncommitted::InMemory { message, .. } => message.md.priority,
            Uncommitted::Filed(slot) => i32::from(slot.priority),
        }
    }
}

impl Queue {
    /// Counts a message that a unit of work has in memory; whether it has to be filed, because the buffer for its
    /// kind is full. Then [`QueueState::filed_uncommitted`] or [`Queue::not_filed_uncommitted`] follows.
    pub(crate) fn count_uncommitted(&self, message: &Message) -> bool {
        let mut state = self.lock();
        let kind = usize::from(message.persistent());
        state.uncommitted[kind] += message.size();
        let full = !state.deleted && state.is_over(message.persistent());
        let due = full && self.home.room.is_open();
        if due {
            state.filing.writing += 1;
        }
        due
    }

    /// A message of a unit of work that a restart has found in doubt; it is filed if the buffer for its kind is full.
    pub(crate) fn hold_uncommitted(&self, message: Arc<Message>) -> Uncommitted {
        self.lock().pending_puts += 1;
        let due = self.count_uncommitted(&message);
        let mut put = Uncommitted::InMemory {
            message: Arc::clone(&message),
            counted: true,
        };
        if due {
            let file = self.open_file();
            match file.and_then(|file| write_message(self, &file, &message)) {
                Ok(place) => self.lock().filed_uncommitted(Some(&mut put), place),
                Err(error) => self.not_filed_uncommitted(&error),
            }
        }
        put
    }

    /// It stays in memory: nothing is dropped. New puts are refused meanwhile.
    pub(crate) fn not_filed_uncommitted(&self, error: &StoreError) {
        let mut state = self.lock();
        state.filing.writing -= 1;
        state.could_not_file(error);
    }
}

impl QueueState {
    fn uncount(&mut self, message: &Message, counted: bool) {
        if counted {
            self.uncommitted[usize::from(message.persistent())] -= message.size();
        }
    }

    /// The bytes of a message of a unit of work are in the queue file now; none: the system has backed it out
    /// meanwhile.
    pub(crate) fn filed_uncommitted(&mut self, put: Option<&mut Uncommitted>, place: Place) {
        self.filing.writing -= 1;
        self.now_filed(put, place);
    }

    /// The same without [`Queue::count_uncommitted`]; none: its unit of work has ended meanwhile.
    pub(crate) fn now_filed(&mut self, put: Option<&mut Uncommitted>, place: Place) {
        self.file_dirty = true;
        let Some(put) = put else {
            return self.free(vec![place]);
        };
        let Uncommitted::InMemory { message, counted } = put else {
            return self.free(vec![place]);
        };
        let slot = self.new_slot(message, Body::Filed(place), 0);
        let (message, counted) = (Arc::clone(message), *counted);
        self.uncount(&message, counted);
        *put = Uncommitted::Filed(slot);
    }

    /// A message of a unit of work, in the file, that a restart has found to be backed out.
    pub(crate) fn give_up_place(&mut self, place: Place) {
        self.release(place, true);
    }

    /// What is in the index of a message that was uncommitted and is in the file.
    pub(crate) fn add_filed(&mut self, slot: &NewSlot) -> SlotId {
        let mut slot = *slot;
        // The definition may have changed since it was put.
        slot.list = self.list_of(i32::from(slot.priority));
        let slot = self.index.add(slot);
        // An image has to name its place from now on.
        self.index.mark_dirty(slot);
        slot
    }

    /// A put that never happened, or whose queue has gone. `in_doubt`: an image may name its place, and the log has
    /// forced that it never happened.
    pub(crate) fn forget_uncommitted(&mut self, put: &Uncommitted, in_doubt: bool) {
        self.pending_puts -= 1;
        self.forget_retained(put.seq());
        match put {
            Uncommitted::InMemory { message, counted } => self.uncount(message, *counted),
            Uncommitted::Filed(slot) => match slot.place() {
                Some(place) if in_doubt => self.release(place, true),
                Some(place) => self.free(vec![place]),
                None => {}
            },
        }
    }

    /// A committed message becomes available, unless its queue has gone.
    pub(crate) fn arrive_uncommitted(&mut self, put: &Uncommitted, wakes: &mut Wakes) {
        if self.deleted {
            return self.forget_uncommitted(put, true);
        }
        self.pending_puts -= 1;
        match put {
            Uncommitted::InMemory { message, counted } => {
                self.uncount(message, *counted);
                self.arrive(message, wakes);
            }
            Uncommitted::Filed(slot) => {
                let slot = self.add_filed(slot);
                self.home.counters.one(Count::Queued);
                if let Some(place) = self.place_of(slot) {
                    let persistent = self.index.slot(slot).persistent();
                    self.count_arrived(persistent, u64::from(place.length));
                }
                if self.give_back(slot, wakes) {
                    self.retained_arrived(slot);
                }
                self.tell_unread(wakes);
            }
        }
    }
}
