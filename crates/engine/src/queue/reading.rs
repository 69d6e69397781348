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
//! * A search by properties says at once which messages it would ask for one after the other. They are judged where they
//!   are read, one by one, up to the first that may be the one; of the others only that they are not is kept, which holds
//!   until they expire. Those that have expired are kept for the next look, which takes them off the queue, a few at a
//!   time. Each time it says twice as many, so that it begins again a few times only, however long the queue is.
//! * Whoever reads for many reads a few of them at a time, so that a long search holds nobody up for long, and ends soon
//!   after its call is dropped.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use posthaste_store::{Place, QueueFile, StoreError};

use super::index::{Body, NIL, NewSlot, SlotId};
use super::judged::{Judged, Relisted, Search};
use super::{Queue, QueueState};
use crate::bodies::FileBodies;
use crate::consume::considered::Considered;
use crate::consume::selection::Selection;
use crate::mark::{Mark, mark};
use crate::message::Message;
use crate::plant::{Bug, planted};

/// How many messages a search by properties has read at first, and at a time.
const AT_FIRST: usize = 64;

/// A message that has to be read before a look at the queue can go on.
pub(crate) struct Unread {
    first: Missing,
    /// None: the queue has been deleted.
    file: Option<Arc<QueueFile>>,
    bodies: FileBodies,
    /// What a search by properties asks for.
    search: Option<Box<Onward>>,
}

#[derive(Clone, Copy)]
struct Missing {
    slot: SlotId,
    seq: u64,
    place: Place,
    backout_count: u16,
}

/// What a search by properties would go on with.
struct Onward {
    wanted: Selection,
    /// When it was said.
    now: i64,
    more: VecDeque<Missing>,
}

/// What came of reading.
#[derive(Default)]
struct ReadOut {
    /// Messages that are not what is searched for, as they were backed out so often; and until when.
    rejected: Vec<((u64, u16), i64)>,
    /// Messages that have expired.
    expired: Vec<Arc<Message>>,
    /// The one at which reading stopped.
    last: Option<(Missing, Result<Arc<Message>, StoreError>)>,
    /// What is still to be read.
    rest: Option<Unread>,
}

impl Missing {
    fn read(
        &self,
        file: Option<&Arc<QueueFile>>,
        bodies: &FileBodies,
    ) -> Result<Arc<Message>, StoreError> {
        let damaged = |what: String| StoreError::Damaged {
            what,
            block: u64::from(self.place.block),
        };
        let seq = self.seq;
        let wrong = || damaged(format!("message {seq} is not where it was written"));
        let bytes = file.ok_or_else(wrong)?.read(self.place.block)?;
        let message = bodies.message_of(bytes);
        let message = message.map_err(|why| damaged(format!("message {seq}: {why}")))?;
        match message.seq == seq {
            true => Ok(Arc::new(message)),
            false => Err(wrong()),
        }
    }
}

impl Onward {
    fn rejects(&self, message: &Message, backout_count: u16) -> bool {
        !self
            .wanted
            .accepts(&Considered::new(message, backout_count))
    }
}

impl Unread {
    /// Reads up to so many of them.
    fn read(mut self, most: usize) -> ReadOut {
        let mut out = ReadOut::default();
        for count in 1.. {
            let (missing, read) = (
                self.first,
                self.first.read(self.file.as_ref(), &self.bodies),
            );
            let (message, search) = match (&read, &mut self.search) {
                (Ok(message), Some(search)) => (message, search),
                _ => return out.stopped(missing, read),
            };
            if message.expired(search.now) {
                out.expired.push(Arc::clone(message));
            } else if search.rejects(message, missing.backout_count) {
                let until = match message.expires {
                    0 => i64::MAX,
                    expires => expires,
                };
                let as_it_was = (missing.seq, missing.backout_count);
                out.rejected.push((as_it_was, until));
            } else {
                return out.stopped(missing, read);
            }
            let next = search.more.pop_front();
            let enough = count >= most || out.expired.len() >= AT_FIRST;
            self.first = match next {
                Some(next) if !enough => next,
                next => {
                    out.rest = next.map(|first| Unread { first, ..self });
                    break;
                }
            };
        }
        out
    }
}

impl ReadOut {
    fn stopped(mut self, missing: Missing, read: Result<Arc<Message>, StoreError>) -> Self {
        self.last = Some((missing, read));
        self
    }
}

/// Messages that a search by properties cannot tell without reading them.
pub(crate) struct Unjudged<'a> {
    wanted: &'a Selection,
    now: i64,
    most: usize,
    unread: Option<Unread>,
}

impl<'a> Unjudged<'a> {
    pub(crate) fn new(wanted: &'a Selection, now: i64, read: &Readings) -> Self {
        Unjudged {
            wanted,
            now,
            most: AT_FIRST.max(read.rejected.as_ref().map_or(0, |all| all.len())),
            unread: None,
        }
    }

    /// Adds one; false: it is enough to be read.
    pub(crate) fn add(&mut self, one: Unread) -> bool {
        let Some(unread) = &mut self.unread else {
            let search = Onward {
                wanted: self.wanted.clone(),
                now: self.now,
                more: VecDeque::new(),
            };
            self.unread = Some(Unread {
                search: Some(Box::new(search)),
                ..one
            });
            return true;
        };
        let Some(onward) = &mut unread.search else {
            return false;
        };
        onward.more.push_back(one.first);
        onward.more.len() < self.most
    }

    /// What the search has come to, if nothing has to be read first.
    pub(crate) fn or<T>(self, found: T) -> Result<T, Unread> {
        match self.unread {
            Some(unread) => Err(unread),
            None => Ok(found),
        }
    }
}

/// The messages that have been read for one call.
#[derive(Default)]
pub(crate) struct Readings {
    read: Vec<Reading>,
    /// Those that are not what the call searches for, and until when: none are, unless it searches by properties.
    // Boxed, because every get has room for it while it waits.
    #[allow(clippy::box_collection)]
    rejected: Option<Box<HashMap<(u64, u16), i64>>>,
    /// What a search remembers of messages that were judged before, if it is to remember them.
    judged: Option<Box<Cell<Judged>>>,
}

struct Reading {
    message: Arc<Message>,
    /// By the look since the last one was added.
    asked: Cell<bool>,
}

impl Readings {
    fn get(&self, seq: u64) -> Option<&Arc<Message>> {
        let reading = self
            .read
            .iter()
            .find(|reading| reading.message.seq == seq)?;
        reading.asked.set(true);
        Some(&reading.message)
    }

    /// Those of a search that remembers what was judged. They are for searches with one selection, by one handle, of
    /// one queue.
    pub(crate) fn remembering(judged: Box<Cell<Judged>>) -> Readings {
        let mut readings = Readings::default();
        readings.go_on_from(judged);
        readings
    }

    /// The next search remembers, from there on.
    pub(crate) fn go_on_from(&mut self, judged: Box<Cell<Judged>>) {
        self.judged = Some(judged);
    }

    /// What was judged, if that is to be remembered; the next search does not remember.
    pub(crate) fn take_judged(&mut self) -> Option<Box<Cell<Judged>>> {
        self.judged.take()
    }

    /// A search that begins with what is remembered.
    pub(super) fn remembered(&self, relisted: Option<&Relisted>) -> Option<Search> {
        let judged = self.judged.as_ref()?;
        Some(Search::new(judged.get(), relisted))
    }

    pub(super) fn remember(&self, judged: Judged) {
        if let Some(known) = &self.judged {
            known.set(judged);
        }
    }

    fn add(&mut self, messages: impl IntoIterator<Item = Arc<Message>>) {
        self.read.retain(|reading| reading.asked.take());
        let read = |message| Reading {
            message,
            asked: Cell::new(false),
        };
        self.read.extend(messages.into_iter().map(read));
    }

    /// Whether the call has read this message and does not want it.
    pub(crate) fn has_rejected(&self, seq: u64, backout_count: u16, now: i64) -> bool {
        let rejected = self.rejected.as_ref();
        let until = rejected.and_then(|rejected| rejected.get(&(seq, backout_count)));
        until.is_some_and(|until| now < *until)
    }

    /// The messages are not needed any more; what is known of them may be.
    pub(crate) fn let_go(&mut self) {
        self.read.clear();
    }
}

impl QueueState {
    /// The message in a slot: in memory, or among those that have been read.
    ///
    /// # Errors
    /// It has to be read first.
    pub(crate) fn message(&self, slot: SlotId, read: &Readings) -> Result<Arc<Message>, Unread> {
        let found = self.index.slot(slot);
        let (seq, backout_count) = (found.seq, found.backout_count);
        let place = match found.body() {
            Body::Resident(at) => return Ok(self.residents.get(at).message.clone()),
            Body::Filed(place) => place,
        };
        if let Some(message) = read.get(seq) {
            return Ok(message.clone());
        }
        Err(Unread {
            first: Missing {
                slot,
                seq,
                place,
                backout_count,
            },
            file: self.file.clone(),
            bodies: self.bodies.clone(),
            search: None,
        })
    }

    /// Whether a message is still where it was read.
    fn is_still(&self, missing: &Missing) -> bool {
        self.index.holds(missing.slot, missing.seq)
            && self.index.slot(missing.slot).body() == Body::Filed(missing.place)
            && !self.deleted
    }
}

impl Queue {
    /// Reads a message that a unit of work has in the file; none: it is not there.
    ///
    /// # Errors
    /// The file does not hold what was written there, or cannot be read.
    pub(crate) fn read_uncommitted(
        &self,
        slot: &NewSlot,
    ) -> Result<Option<Arc<Message>>, StoreError> {
        let Some(place) = slot.place() else {
            return Ok(None);
        };
        let missing = Missing {
            slot: NIL,
            seq: slot.seq,
            place,
            backout_count: slot.backout_count,
        };
        let file = self.lock().known_file();
        missing.read(file.as_ref(), &self.bodies()).map(Some)
    }

    /// Reads a message that a look at the queue asked for, on this thread.
    ///
    /// # Errors
    /// The file does not hold what was written there, or cannot be read.
    pub(crate) fn read(&self, unread: Unread, readings: &mut Readings) -> Result<(), StoreError> {
        self.was_read(unread.read(usize::MAX), readings)
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
        let mut next = Some(unread);
        while let Some(unread) = next {
            let mut read = self.home.files.run(move || unread.read(AT_FIRST)).await;
            // What has expired is taken off the queue first.
            next = read.rest.take().filter(|_| read.expired.is_empty());
            self.was_read(read, readings)?;
        }
        Ok(())
    }

    fn was_read(&self, read: ReadOut, readings: &mut Readings) -> Result<(), StoreError> {
        if !read.rejected.is_empty() {
            let rejected = readings.rejected.get_or_insert_default();
            rejected.extend(read.rejected);
        }
        let found = match read.last {
            Some((missing, Err(error))) => {
                if self.lock().is_still(&missing) || planted(Bug::BlameUnseen) {
                    return Err(error);
                }
                None
            }
            Some((_, Ok(message))) => Some(message),
            None => None,
        };
        let messages = read.expired.into_iter().chain(found);
        readings.add(messages);
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
                origin: Default::default(),
                seq,
                expires: 0,
                lsn: Lsn(0),
            };
            readings.add([Arc::new(message)]);
            // One that does not match, and is passed by each time; and one that has expired.
            assert!(readings.get(1).is_some());
            assert!(readings.get(seq).is_some());
            assert!(readings.read.len() <= 3, "{}", readings.read.len());
        }
    }
}
