//! The open objects of a connection, by their numbers.
//!
//! Invariant: the number of a closed handle is not taken for that of a newer one.

use std::sync::Arc;

use posthaste_mqi::{Hobj, Md, Name, Reason};

use crate::catalogue::{Alias, Definition};
use crate::consume::selection::{Selecting, Selection};
use crate::group::{GroupGet, GroupPut};
use crate::queue::judged::Judged;
use crate::queue::{Cursor, Queue};

/// What a handle is open on.
#[derive(Clone)]
pub(crate) enum Target {
    /// A local queue, perhaps by an alias.
    Queue {
        queue: Arc<Queue>,
        alias: Option<Arc<Alias>>,
    },
    /// A queue elsewhere: messages go to a transmission queue with a header.
    Remote {
        transmission: Arc<Queue>,
        alias: Option<Arc<Alias>>,
        /// The local definition of the remote queue, if there is one.
        definition: Option<Definition>,
        queue: Name,
        queue_manager: Name,
    },
    /// The queue manager.
    Qmgr,
    /// A definition open for inquiry only.
    Definition,
}

/// An open object.
pub(crate) struct Handle {
    pub(crate) target: Target,
    pub(crate) options: i32,
    /// What MQINQ and MQSET are about: the definition that was opened, before resolution.
    pub(crate) opened: Definition,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) group_put: GroupPut,
    pub(crate) group_get: GroupGet,
    /// The message context was saved from (`MQOO_SAVE_ALL_CONTEXT`).
    pub(crate) saved_context: Option<Box<Md>>,
    /// What its gets are about, of all that is on the queue.
    pub(crate) selecting: Option<Arc<Selecting>>,
    /// What its gets have judged, of which selection.
    pub(crate) judged: Option<Box<(Selection, Judged)>>,
    /// The handle created its (dynamic) queue.
    pub(crate) created_queue: bool,
}

const INDEX_BITS: u32 = 20;

/// The handles of a connection, found by number.
#[derive(Default)]
pub(crate) struct Handles {
    entries: Vec<(u32, Option<Handle>)>,
    free: Vec<u32>,
    pub(crate) open: u32,
}

impl Handles {
    /// Adds a handle; `None` when the numbers have run out (about a million handles).
    pub(crate) fn add(&mut self, handle: Handle) -> Option<Hobj> {
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.entries.len() + 1 >= 1 << INDEX_BITS => return None,
            None => {
                self.entries.push((0, None));
                self.entries.len() as u32 - 1
            }
        };
        let entry = &mut self.entries[at as usize];
        // Another generation each time, so that a closed handle is not taken for a new one.
        entry.0 = (entry.0 + 1) & 0x3FF;
        entry.1 = Some(handle);
        self.open += 1;
        Some(Hobj(((entry.0 << INDEX_BITS) | (at + 1)) as i32))
    }

    fn at(&self, hobj: Hobj) -> Option<usize> {
        let number = u32::try_from(hobj.0).ok()?;
        let at = (number & ((1 << INDEX_BITS) - 1)).checked_sub(1)? as usize;
        let entry = self.entries.get(at)?;
        (entry.0 == number >> INDEX_BITS).then_some(at)
    }

    pub(crate) fn get(&mut self, hobj: Hobj) -> Result<&mut Handle, Reason> {
        self.at(hobj)
            .and_then(|at| self.entries[at].1.as_mut())
            .ok_or(Reason::HOBJ_ERROR)
    }

    pub(crate) fn remove(&mut self, hobj: Hobj) -> Result<Handle, Reason> {
        let at = self.at(hobj).ok_or(Reason::HOBJ_ERROR)?;
        let handle = self.entries[at].1.take().ok_or(Reason::HOBJ_ERROR)?;
        self.free.push(at as u32);
        self.open -= 1;
        Ok(handle)
    }

    pub(crate) fn all(&self) -> Vec<Hobj> {
        let number = |(at, (generation, handle)): (usize, &(u32, Option<Handle>))| {
            handle
                .as_ref()
                .map(|_| Hobj(((generation << INDEX_BITS) | (at as u32 + 1)) as i32))
        };
        self.entries.iter().enumerate().filter_map(number).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Handle> {
        self.entries
            .iter()
            .filter_map(|(_, handle)| handle.as_ref())
    }
}
