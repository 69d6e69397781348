//! A queue whose file does not hold what was written there: it cannot be used, everything else goes on.
//!
//! Invariants:
//! * No verb delivers from a damaged queue, nor leaves a message out: MQOPEN, MQPUT and MQGET get 2101
//!   (MQRC_OBJECT_DAMAGED), before and after a restart, until it has been cleared or deleted.
//! * Nothing that the file holds is overwritten, and no place in it is freed: a repaired disk or a file that is put
//!   back shows all of it. What is committed meanwhile, and what restart finds in the log, goes behind it.
//! * What an image says of a part of the index that cannot be read, the next image says again.
//! * `CLEAR` makes the queue usable with the next checkpoint, or at the next start. Only there, because a checkpoint
//!   under way knows places in the file. Messages that came after it stay: all of them are in the index, because the
//!   log has them wherever it has the `CLEAR`.

use std::sync::Arc;

use posthaste_mqi::Reason;
use posthaste_store::{Place, QueueFile, StoreError};

use super::disjoint::Disjoint;
use super::index::{Body, NewSlot};
use super::saved::{Places, load_chunk};
use super::{Queue, QueueState};
use crate::consume::waiter::Wakes;
use crate::manager::Inner;
use crate::recovery::image::SavedQueue;
use crate::stop::Stop;

/// What is known of the damage.
pub(crate) struct Damage {
    /// All messages have been given up: the next checkpoint begins the file anew.
    cleared: bool,
}

/// Whether an error says that a file does not hold what was written: lost, changed, or gone.
pub(crate) fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Damaged { .. } => true,
        StoreError::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        StoreError::Full
        | StoreError::Descriptors
        | StoreError::Sync(_)
        | StoreError::Version { .. } => false,
    }
}

impl QueueState {
    /// # Errors
    /// 2101 for a damaged queue.
    pub(crate) fn usable(&self) -> Result<(), Reason> {
        match self.damage {
            None => Ok(()),
            Some(_) => Err(Reason::OBJECT_DAMAGED),
        }
    }

    /// Whether it is unknown what is on the queue: it is damaged and has not been cleared.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damage.as_ref().is_some_and(|damage| !damage.cleared)
    }

    /// Every message of a damaged queue has been given up (`CLEAR`).
    pub(crate) fn give_up(&mut self) {
        if let Some(damage) = &mut self.damage {
            damage.cleared = true;
        }
    }

    /// Whether a damaged queue may be made usable now: it has been cleared, and nobody writes to its file or has
    /// places in it.
    fn may_begin_anew(&self) -> bool {
        let cleared = self.damage.as_ref().is_some_and(|damage| damage.cleared);
        cleared && self.pending_puts.get() == 0 && self.filing.writing.get() == 0
    }

    /// Makes a damaged queue usable if that may be. Not while a checkpoint has places of its file; true if it was
    /// done.
    fn begin_anew(&mut self, file: &QueueFile) -> bool {
        if !self.may_begin_anew() {
            return false;
        }
        let kept: Vec<Place> = self
            .index
            .all()
            .filter_map(|id| self.place_of(id))
            .collect();
        let mut places = Disjoint::default();
        if !kept.iter().all(|place| places.name(*place)) {
            return false;
        }
        if file.rebuild(kept.into_iter()).is_err() {
            return false;
        }
        self.index.take_back();
        self.free_later.clear();
        for chunk in &mut self.index.chunk_states {
            // The latest image names these until the next one is in force.
            chunk.saved = chunk
                .saved
                .filter(|saved| file.reserve(saved.place).is_ok());
            chunk.dirty = true;
        }
        self.file_dirty = true;
        self.damage = None;
        true
    }
}

impl Queue {
    /// Begins the file of a damaged queue anew if it has been cleared; true if it was done. Not while a checkpoint
    /// has places of its file.
    pub(crate) fn begin_anew(&self) -> Result<bool, StoreError> {
        if !self.lock().may_begin_anew() {
            return Ok(false);
        }
        let file = self.open_file()?;
        file.write_head()?;
        Ok(self.lock().begin_anew(&file))
    }
}

impl Inner {
    /// A message could not be read from a queue file; returns what the application is told. A queue that is damaged
    /// is so from now on, and everybody who waits for its messages learns it.
    #[track_caller]
    pub(crate) fn read_failed(&self, queue: &Queue, error: &StoreError) -> Reason {
        if self.lifecycle.ended() {
            // A successor may have written there.
            return Reason::CONNECTION_BROKEN;
        }
        match error {
            StoreError::Full | StoreError::Descriptors => Reason::Q_SPACE_NOT_AVAILABLE,
            StoreError::Sync(_) => {
                self.stop(Stop::CheckpointFailed(error.to_string()));
                Reason::CONNECTION_BROKEN
            }
            StoreError::Damaged { .. } | StoreError::Io(_) | StoreError::Version { .. } => {
                let mut wakes = Wakes::default();
                let mut state = queue.lock();
                let known = state.damage.is_some();
                if !known {
                    state.damage = Some(Damage { cleared: false });
                    state.waiters.end_all(Reason::OBJECT_DAMAGED, &mut wakes);
                }
                drop(state);
                wakes.wake();
                if !known {
                    self.tell_damage(queue, error);
                }
                Reason::OBJECT_DAMAGED
            }
        }
    }

    #[track_caller]
    fn tell_damage(&self, queue: &Queue, error: &StoreError) {
        let inserts = [queue.name.text().to_string(), error.to_string()];
        self.operator.message("AMQ7472E", &inserts);
    }

    /// Begins the file of a damaged queue anew if it has been cleared, and says so.
    pub(crate) fn begin_anew(&self, queue: &Queue) -> Result<(), StoreError> {
        if queue.begin_anew()? {
            let name = queue.name.text().to_string();
            self.operator.message("AMQ2061I", &[name]);
        }
        Ok(())
    }
}

/// Loads what can be read of a damaged queue, as held slots. Without `keep_np`, non-persistent messages are left out.
/// `in_doubt`: what units of work have in the file.
pub(crate) fn load(
    queue: &Queue,
    saved: &SavedQueue,
    keep_np: bool,
    in_doubt: &Places,
) -> Result<(), StoreError> {
    let file = QueueFile::open_damaged(&queue.home.disk, &queue.file_path)?;
    let ends = in_doubt.values().map(|place| place.end());
    file.leave_out(ends.max().unwrap_or(0));
    let (mut chunks, mut lost, mut dirty) = (Vec::new(), Vec::new(), Vec::new());
    for (number, chunk) in saved.chunks.iter().enumerate() {
        let mut entries = match chunk.map(|chunk| load_chunk(&file, chunk)) {
            None => Vec::new(),
            Some(Ok(entries)) => entries,
            Some(Err(_)) => {
                lost.push(number);
                Vec::new()
            }
        };
        let named = chunk
            .iter()
            .map(|chunk| chunk.place)
            .chain(entries.iter().filter_map(NewSlot::place));
        file.leave_out(named.map(Place::end).max().unwrap_or(0));
        if entries.iter().any(|e| !e.persistent) {
            dirty.push(number);
            entries.retain(|e| e.persistent || keep_np);
        }
        debug_assert!(entries.iter().all(|e| matches!(e.body, Body::Filed(_))));
        chunks.push((*chunk, entries));
    }
    let mut state = queue.lock();
    state.index.restore(chunks);
    for number in lost {
        state.index.set_aside(number);
    }
    for number in dirty {
        state.index.chunk_states[number].dirty = true;
    }
    state.file = Some(Arc::new(file));
    state.damage = Some(Damage { cleared: false });
    Ok(())
}
