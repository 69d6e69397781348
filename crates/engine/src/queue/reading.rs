//! Messages read from the queue file, without the queue's lock.
//!
//! Invariants:
//! * A look at the queue reads nothing. Where it needs a message that only the file has, it says so ([`Unread`]) and
//!   ends; whoever looks reads the message without the lock, and looks again from the beginning: what it found then
//!   is judged by what is on the queue then.
//! * A place may be given back and written over while it is being read. Its message has gone then, and what was read
//!   is nobody's: it is no damage, and no look meets the message again, because numbers are never used twice.
//! * Of what was read, a call keeps what its last look has asked for: messages that it takes off the queue because they
//!   have expired, or that somebody else gets first, do not gather.

use std::cell::Cell;
use std::sync::Arc;

use posthaste_store::{Place, QueueFile, StoreError};

use super::index::{Body, NIL, NewSlot, SlotId};
use super::{Queue, QueueState};
use crate::mark::{Mark, mark};
use crate::message::{self, Message};
use crate::plant::{Bug, planted};

/// A message that has to be read before a look at the queue can go on.
pub(crate) struct Unread {
    slot: SlotId,
    seq: u64,
    place: Place,
    /// None: the queue has been deleted.
    file: Option<Arc<QueueFile>>,
}

impl Unread {
    fn read(&self) -> Result<Arc<Message>, StoreError> {
        let wrong = || StoreError::Damaged {
            what: format!("message {} is not where it was written", self.seq),
            block: u64::from(self.place.block),
        };
        let file = self.file.as_ref().ok_or_else(wrong)?;
        let bytes = file.read(self.place.block)?;
        match message::decode_stored(bytes) {
            Some(message) if message.seq == self.seq => Ok(Arc::new(message)),
            _ => Err(wrong()),
        }
    }
}

/// The messages that have been read for one call.
#[derive(Default)]
pub(crate) struct Readings(Vec<Reading>);

struct Reading {
    message: Arc<Message>,
    /// By the look since the last one was added.
    asked: Cell<bool>,
}

impl Readings {
    fn get(&self, seq: u64) -> Option<&Arc<Message>> {
        let reading = self.0.iter().find(|reading| reading.message.seq == seq)?;
        reading.asked.set(true);
        Some(&reading.message)
    }

    fn add(&mut self, message: Arc<Message>) {
        self.0.retain(|reading| reading.asked.take());
        let asked = Cell::new(false);
        self.0.push(Reading { message, asked });
    }
}

impl QueueState {
    /// The message in a slot: in memory, or among those that have been read.
    ///
    /// # Errors
    /// It has to be read first.
    pub(crate) fn message(&self, slot: SlotId, read: &Readings) -> Result<Arc<Message>, Unread> {
        let (body, seq) = (self.index.slot(slot).body(), self.index.slot(slot).seq);
        let place = match body {
            Body::Resident(at) => return Ok(self.residents.get(at).message.clone()),
            Body::Filed(place) => place,
        };
        if let Some(message) = read.get(seq) {
            return Ok(message.clone());
        }
        Err(Unread {
            slot,
            seq,
            place,
            file: self.file.clone(),
        })
    }

    /// Whether a message is still where it was read.
    fn is_still(&self, unread: &Unread) -> bool {
        self.index.holds(unread.slot, unread.seq)
            && self.index.slot(unread.slot).body() == Body::Filed(unread.place)
            && !self.deleted
    }
}

impl Queue {
    /// Reads a message that a unit of work has in the file.
    ///
    /// # Errors
    /// The file does not hold what was written there, or cannot be read.
    pub(crate) fn read_uncommitted(&self, slot: &NewSlot) -> Result<(), StoreError> {
        let Some(place) = slot.place() else {
            return Ok(());
        };
        let unread = Unread {
            slot: NIL,
            seq: slot.seq,
            place,
            file: self.lock().known_file(),
        };
        unread.read().map(drop)
    }

    /// Reads a message that a look at the queue asked for, on this thread.
    ///
    /// # Errors
    /// The file does not hold what was written there, or cannot be read.
    pub(crate) fn read(&self, unread: Unread, readings: &mut Readings) -> Result<(), StoreError> {
        let read = unread.read();
        self.was_read(&unread, read, readings)
    }

    /// The same for a call, whose thread may serve many: then others read for it.
    ///
    /// # Errors
    /// Those of [`Queue::read`].
    pub(crate) async fn have_read(
        &self,
        unread: Unread,
        readings: &mut Readings,
    ) -> Result<(), StoreError> {
        if self.home.files.hands_over() {
            mark(Mark::ReadByOthers);
        }
        let work = move || (unread.read(), unread);
        let (read, unread) = self.home.files.run(work).await;
        self.was_read(&unread, read, readings)
    }

    fn was_read(
        &self,
        unread: &Unread,
        read: Result<Arc<Message>, StoreError>,
        readings: &mut Readings,
    ) -> Result<(), StoreError> {
        match read {
            Ok(message) => readings.add(message),
            Err(error) => {
                if self.lock().is_still(unread) || planted(Bug::BlameUnseen) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_recovery_log::Lsn;

    #[test]
    fn what_the_last_look_did_not_ask_for_is_let_go() {
        let mut readings = Readings::default();
        for seq in 1..=1000 {
            let message = Message {
                md: Default::default(),
                data: Default::default(),
                seq,
                expires: 0,
                lsn: Lsn(0),
            };
            readings.add(Arc::new(message));
            // One that does not match, and is passed by each time; and one that has expired.
            assert!(readings.get(1).is_some());
            assert!(readings.get(seq).is_some());
            assert!(readings.0.len() <= 3, "{}", readings.0.len());
        }
    }
}
