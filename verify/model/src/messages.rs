//! All messages of a history by number.
//!
//! Invariant: numbers are small and mostly without gaps, so that the place of a message is its number; copies of
//! publications have numbers of their own, of which the highest bit is set.

use std::ops::Index;

use crate::known::Message;

/// Set in the numbers of copies.
const COPY: u64 = 1 << 63;

#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    put: Vec<Option<Message>>,
    copies: Vec<Option<Message>>,
}

impl Messages {
    pub(crate) fn get(&self, id: u64) -> Option<&Message> {
        let (all, at) = match id & COPY {
            0 => (&self.put, id),
            _ => (&self.copies, id & !COPY),
        };
        all.get(at as usize)?.as_ref()
    }

    fn place(&mut self, id: u64) -> (&mut Vec<Option<Message>>, usize) {
        match id & COPY {
            0 => (&mut self.put, id as usize),
            _ => (&mut self.copies, (id & !COPY) as usize),
        }
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Message> {
        let (all, at) = self.place(id);
        all.get_mut(at)?.as_mut()
    }

    /// The number of the next copy of a publication.
    pub(crate) fn next_copy(&self) -> u64 {
        self.copies.len() as u64 | COPY
    }

    /// Adds a message; the one that was there before, if there was one.
    pub(crate) fn insert(&mut self, id: u64, message: Message) -> Option<Message> {
        let (all, at) = self.place(id);
        if at >= all.len() {
            all.resize(at + 1, None);
        }
        all.get_mut(at)?.replace(message)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Message)> {
        let numbered = (0..).zip(&self.put).chain((COPY..).zip(&self.copies));
        numbered.filter_map(|(id, message)| Some((id, message.as_ref()?)))
    }

    pub(crate) fn ids(&self) -> Vec<u64> {
        self.iter().map(|(id, _)| id).collect()
    }
}

impl Index<&u64> for Messages {
    type Output = Message;

    fn index(&self, id: &u64) -> &Message {
        match self.get(*id) {
            Some(message) => message,
            None => panic!("message {id} was never put"),
        }
    }
}
