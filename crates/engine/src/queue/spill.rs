//! The queue file, and how messages get into it when the queue's buffer is full.
//!
//! Invariants:
//! * The file is made, opened, written and removed without the queue's lock; one at a time makes or removes it. A
//!   file is not made again for a queue whose file has been removed.
//! * A message that is to be filed stays in memory until its bytes are in the file: found, got and cleared like all
//!   others meanwhile. Only if it is still there then, and still in memory, does the place that was written become
//!   its place; else the place is given back, for nobody has seen it.
//! * Nothing is dropped: what cannot be filed stays in memory, and puts are refused until the file takes messages
//!   again, which each put that would be refused finds out. However many messages there are, that costs the same.
//! * While something is on its way to the file, the file is not begun anew.
//! * A thread that serves many leaves the filing to others (`file_service.rs`). Where they have come far behind, a put
//!   waits for them before it is let in, so that the buffer bounds the memory all the same.

use std::collections::VecDeque;
use std::sync::Arc;

use posthaste_store::{Place, QueueFile, StoreError};

use super::index::{Body, SlotId};
use super::saved::write_message;
use super::{Queue, QueueState, damage};
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::tally::Tally;

/// How many of the messages that had to stay in memory are filed before a put is let in again.
const STUCK: usize = 16;
/// How many places of the queue are looked at for them, for each put that would be refused.
const LOOKED_AT: usize = 256;
/// Messages that may be due to be filed, by others, before a put waits for them.
const BEHIND: usize = 16;

/// What is to be filed, and what is being filed.
#[derive(Default)]
pub(super) struct Filing {
    /// Messages by slot and number.
    due: VecDeque<(SlotId, u64)>,
    /// How many are being written.
    pub(super) writing: Tally<u32>,
    /// What is due is filed by others, to whom it was left.
    pub(super) left: bool,
    /// Where to look next for messages that had to stay in memory.
    next: SlotId,
}

/// A message that is being filed.
struct Leaving {
    slot: SlotId,
    message: Arc<Message>,
    file: Option<Arc<QueueFile>>,
}

impl QueueState {
    /// The queue file, if there is one already.
    pub(crate) fn known_file(&self) -> Option<Arc<QueueFile>> {
        self.file.clone()
    }

    /// Has a message filed soon if the buffer for its kind is full: by whoever has the lock now, when it has let go
    /// of it ([`Queue::spill`]).
    pub(super) fn limit_memory(&mut self, slot: SlotId) {
        if self.deleted {
            // Its file has gone or will go; the message goes with the last handle.
            return;
        }
        if !self.home.room.is_open() {
            // What room there is, a checkpoint may need.
            self.file_full |= self.over_buffer();
            return;
        }
        let at = self.index.slot(slot);
        if matches!(at.body(), Body::Resident(_)) && self.is_over(at.persistent()) {
            self.filing.due.push_back((slot, at.seq));
        }
    }

    /// Whether there is something to file.
    pub(crate) fn spills(&self) -> bool {
        !self.filing.due.is_empty()
    }

    /// Whether those who file come so far behind that a put has to wait for them.
    pub(crate) fn is_behind(&self) -> bool {
        self.filing.due.len() > BEHIND
    }

    /// Takes on the next message that has to be filed.
    fn next_to_file(&mut self) -> Option<Leaving> {
        if !self.home.room.is_open() {
            self.file_full |= self.over_buffer();
            self.filing.due.clear();
        }
        while let Some((slot, seq)) = self.filing.due.pop_front() {
            if self.deleted || !self.index.holds(slot, seq) {
                continue;
            }
            let Body::Resident(at) = self.index.slot(slot).body() else {
                continue;
            };
            if !self.is_over(self.index.slot(slot).persistent()) {
                continue;
            }
            if let Some(place) = self.residents.get(at).place {
                self.leave_memory(slot, at, place);
                continue;
            }
            self.filing.writing += 1;
            return Some(Leaving {
                slot,
                message: self.residents.get(at).message.clone(),
                file: self.file.clone(),
            });
        }
        None
    }

    fn leave_memory(&mut self, slot: SlotId, at: u32, place: Place) {
        self.index.set_body(slot, Body::Filed(place));
        self.residents.remove(at);
    }

    /// The bytes of a message are in the file at `place`: there it is from now on, if it is still in memory.
    fn was_filed(&mut self, leaving: &Leaving, file: &QueueFile, place: Place) {
        let (slot, seq) = (leaving.slot, leaving.message.seq);
        self.filing.writing -= 1;
        self.file_full = false;
        if self.index.holds(slot, seq)
            && !self.deleted
            && let Body::Resident(at) = self.index.slot(slot).body()
        {
            self.file_dirty = true;
            let filed = self.residents.get(at).place;
            self.leave_memory(slot, at, filed.unwrap_or(place));
            if filed.is_none() {
                return;
            }
        }
        self.home.room.freed(file.free(place));
    }

    pub(super) fn could_not_file(&mut self, error: &StoreError) {
        if self.deleted {
            // Its file has gone.
            return;
        }
        self.file_full = true;
        self.home.room.could_not_file(error);
        // What else is due would not be taken either; it is tried when somebody puts.
        self.filing.due.clear();
    }

    /// Has some of the messages filed that had to stay in memory. True: there are none where it has looked, or they belong
    /// to units of work, so that whether the file takes messages again has to be found out in another way
    /// ([`Queue::try_file`]).
    fn try_again(&mut self) -> bool {
        if !self.file_full || !self.over_buffer() || !self.home.room.is_open() || self.deleted {
            return false;
        }
        let over = [self.is_over(false), self.is_over(true)];
        let (index, end) = (&self.index, self.index.end());
        let from = self.filing.next.min(end);
        let mut next = from;
        for id in (from..end).chain(0..from).take(LOOKED_AT) {
            next = id + 1;
            let stuck = index.look_at(id).filter(|slot| {
                matches!(slot.body(), Body::Resident(_)) && over[usize::from(slot.persistent())]
            });
            if let Some(slot) = stuck {
                self.filing.due.push_back((id, slot.seq));
                if self.filing.due.len() >= STUCK {
                    break;
                }
            }
        }
        self.filing.next = next;
        let tries = !self.spills();
        self.filing.writing += u32::from(tries);
        tries
    }
}

impl Queue {
    /// Has messages moved to the queue file as long as the buffer is fuller than it may be: here, or by others if the
    /// caller serves many.
    pub(crate) fn spill(self: &Arc<Self>) {
        if !self.home.files.hands_over() {
            return self.spill_here();
        }
        if std::mem::replace(&mut self.lock().filing.left, true) {
            return;
        }
        mark(Mark::FiledByOthers);
        let queue = Arc::clone(self);
        self.home.files.leave(move || {
            loop {
                queue.spill_here();
                let mut state = queue.lock();
                if !state.spills() {
                    state.filing.left = false;
                    return;
                }
            }
        });
    }

    /// The same, and waits for it; more so, if a put of so many bytes was refused because the disk was full: finds out
    /// whether it still is.
    pub(crate) async fn make_room(self: &Arc<Self>, refused: Option<usize>) {
        let queue = Arc::clone(self);
        let work = move || match refused {
            Some(bytes) => queue.file_again_here(bytes),
            None => queue.spill_here(),
        };
        self.home.files.run(work).await;
    }

    fn spill_here(&self) {
        loop {
            let Some(leaving) = self.lock().next_to_file() else {
                return;
            };
            let file = leaving.file.clone().map_or_else(|| self.open_file(), Ok);
            let written = file.and_then(|file| {
                let place = write_message(self, &file, &leaving.message)?;
                Ok((file, place))
            });
            let mut state = self.lock();
            match written {
                Ok((file, place)) => state.was_filed(&leaving, &file, place),
                Err(error) => {
                    state.filing.writing -= 1;
                    return state.could_not_file(&error);
                }
            }
        }
    }

    /// A put of a message of so many bytes was refused because the disk was full: finds out whether it still is. A
    /// caller that serves many has it found out for the next one.
    pub(crate) fn file_again(self: &Arc<Self>, bytes: usize) {
        let queue = Arc::clone(self);
        self.home.files.leave(move || queue.file_again_here(bytes));
    }

    fn file_again_here(&self, bytes: usize) {
        let tries = self.lock().try_again();
        match tries {
            true => self.try_file(bytes),
            false => self.spill_here(),
        }
    }

    /// Writes a message of a unit of work to the file; gives its place.
    pub(crate) async fn write_uncommitted(
        self: &Arc<Self>,
        message: &Arc<Message>,
    ) -> Result<Place, StoreError> {
        let (queue, message) = (Arc::clone(self), Arc::clone(message));
        let work = move || write_message(&queue, &*queue.open_file()?, &message);
        self.home.files.run(work).await
    }

    /// Whether the file takes as many bytes: if so, the message that is to be put can be filed in their stead.
    fn try_file(&self, bytes: usize) {
        let file = self.open_file();
        let written = file.and_then(|file| Ok((file.write(&[&vec![0; bytes]])?, file)));
        let mut state = self.lock();
        state.filing.writing -= 1;
        match written {
            Ok((place, file)) => {
                state.file_full = false;
                state.home.room.freed(file.free(place));
            }
            Err(error) => state.could_not_file(&error),
        }
    }

    /// Opens the file of which an image says something: it is not made anew, whatever is wrong with it.
    pub(crate) fn open_saved_file(&self) -> Result<Arc<QueueFile>, StoreError> {
        let file = Arc::new(QueueFile::open(&self.home.disk, &self.file_path)?);
        self.lock().file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// The queue file, made when it is first needed.
    pub(crate) fn open_file(&self) -> Result<Arc<QueueFile>, StoreError> {
        if let Some(file) = self.lock().known_file() {
            return Ok(file);
        }
        let removed = self.file_removed.lock();
        if let Some(file) = self.lock().known_file() {
            return Ok(file);
        }
        if *removed {
            return Err(StoreError::Io(std::io::ErrorKind::NotFound.into()));
        }
        let disk = &self.home.disk;
        let file = if disk.exists(&self.file_path) {
            match QueueFile::open(disk, &self.file_path) {
                // No image refers to anything in it, or it would have been opened at the start.
                Err(error) if damage::is_damage(&error) => {
                    QueueFile::create(disk, &self.file_path)?
                }
                opened => opened?,
            }
        } else {
            QueueFile::create(disk, &self.file_path)?
        };
        let file = Arc::new(file);
        self.lock().file = Some(file.clone());
        Ok(file)
    }

    /// Removes the queue's file; the queue has been deleted.
    pub(crate) fn drop_file(&self) -> std::io::Result<()> {
        let mut removed = self.file_removed.lock();
        *removed = true;
        self.lock().file = None;
        if self.home.disk.exists(&self.file_path) {
            self.home.disk.remove_file(&self.file_path)?;
        }
        Ok(())
    }
}
