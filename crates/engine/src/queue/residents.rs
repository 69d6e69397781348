//! The messages of a queue that are in memory, and how many bytes they are.
//!
//! Invariant: the byte counts are exactly the sum of the sizes of the messages kept, persistent and
//! non-persistent apart, because each kind has a buffer limit of its own.

use std::sync::Arc;

use posthaste_store::Place;

use crate::message::Message;
use crate::tally::Tally;

/// A message in memory, and where the queue file has it too, if it does.
pub(crate) struct Resident {
    pub(crate) message: Arc<Message>,
    pub(crate) place: Option<Place>,
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Residents {
    entries: Vec<Option<Resident>>,
    free: Vec<u32>,
    bytes: [Tally<usize>; 2],
}

impl Residents {
    pub(crate) fn add(&mut self, resident: Resident) -> u32 {
        self.bytes[usize::from(resident.message.persistent())] += resident.message.size();
        match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = Some(resident);
                at
            }
            None => {
                self.entries.push(Some(resident));
                (self.entries.len() - 1) as u32
            }
        }
    }

    pub(crate) fn get(&self, at: u32) -> &Resident {
        match &self.entries[at as usize] {
            Some(resident) => resident,
            None => unreachable!("a slot points at a resident message that is not there"),
        }
    }

    pub(crate) fn set_place(&mut self, at: u32, place: Place) {
        if let Some(resident) = &mut self.entries[at as usize] {
            resident.place = Some(place);
        }
    }

    pub(crate) fn remove(&mut self, at: u32) -> Resident {
        match self.entries[at as usize].take() {
            Some(resident) => {
                self.bytes[usize::from(resident.message.persistent())] -= resident.message.size();
                self.free.push(at);
                if self.free.len() == self.entries.len() {
                    // Give a burst's memory back.
                    self.entries = Vec::new();
                    self.free = Vec::new();
                }
                resident
            }
            None => unreachable!("a slot points at a resident message that is not there"),
        }
    }

    /// The message there, if there is one.
    pub(crate) fn find(&self, at: u32) -> Option<&Resident> {
        self.entries.get(at as usize)?.as_ref()
    }

    /// How many there are, if their bytes are what is counted.
    pub(crate) fn check(&self) -> Result<usize, String> {
        let mut bytes = [0; 2];
        let there = || self.entries.iter().flatten();
        for Resident { message, .. } in there() {
            bytes[usize::from(message.persistent())] += message.size();
        }
        let count = there().count();
        let free = self.entries.len() - count;
        if bytes != self.bytes.map(|tally| tally.get()) || free != self.free.len() {
            let (counted, listed) = (self.bytes, self.free.len());
            return Err(format!(
                "messages in memory have {bytes:?} bytes, not {counted:?}; {free} places are free, not {listed}"
            ));
        }
        Ok(count)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes[0].get() + self.bytes[1].get()
    }

    pub(crate) fn bytes_of(&self, persistent: bool) -> usize {
        self.bytes[usize::from(persistent)].get()
    }
}
