//! All messages of a history by number.
//!
//! Invariant: numbers are small and mostly without gaps, so that the place of a message is its number.

use std::ops::Index;

use crate::known::Message;

#[derive(Clone, Debug, Default)]
pub(crate) struct Messages(Vec<Option<Message>>);

impl Messages {
    pub(crate) fn get(&self, id: u64) -> Option<&Message> {
        self.0.get(id as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Message> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// Adds a message; the one that was there before, if there was one.
    pub(crate) fn insert(&mut self, id: u64, message: Message) -> Option<Message> {
        let at = id as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0.get_mut(at)?.replace(message)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Message)> {
        let numbered = (0..).zip(&self.0);
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
