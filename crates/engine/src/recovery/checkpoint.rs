//! A checkpoint: an image of what the log need not be read for, taken while everything goes on.
//!
//! How it goes, and why it is safe:
//!
//! 1. A `Checkpoint` record begins it, at LSN `begin`; or none, at the end of the log, where there is no room for one
//!    or the attempt before found none on the disk. Pins are read after that, so every record
//!    appended before `begin` whose effect is not yet in the queues is covered by a pin. Units of work in doubt have
//!    none: the image carries them (`unit/carried.rs`).
//! 2. Persistent messages whose record lies before the *previous* checkpoint's begin (`cut`) are
//!    written to their queue files; younger ones stay in the log only, because most of them will be
//!    gone by the next checkpoint. Those of units of work in doubt first; then what the image carries of these is put
//!    together, before any queue is saved.
//! 3. Index chunks that have changed are written to new places in the queue files. Each is a
//!    snapshot of its own moment; that is enough, because redo from the restart point is idempotent
//!    and covers everything since `begin`. Places that are freed meanwhile are given back only when
//!    the image is in force or abandoned, so that no block is named by two of its parts.
//! 4. Queue files are synced, then the log is forced as far as it was appended: the image may show
//!    the effect of any record up to there.
//! 5. The image is written, synced and named; then the log's control file points at it, with the
//!    restart point `min(cut, pins)`. Only now are old places and deleted queues' files given up, and the room of
//!    what is free is given back to the file system.
//!
//! A write that finds the disk full spends the reserve (`room.rs`). When that does not suffice, the checkpoint is begun
//! again with fewer messages to file, at last with none, and the restart point is the oldest one that was left: such a
//! checkpoint empties the log less or not at all, but it gives back the room of what is gone. One that finds no room
//! even so is abandoned, and so is one that cannot open a file that it needs, and one that whoever takes it goes away
//! from: nobody waits once the control file may name the image. Any other error stops the queue manager, a failed sync
//! whatever its reason; and once that has happened, for whatever cause, there is no further checkpoint: what the failed
//! one has written is taken for saved here and is named by no image.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_recovery_log::{Class, Lsn};
use posthaste_store::{
    BLOCK, ImageWriter, Place, QueueFile, Sealed, StoreError, remove_other_images,
};

use super::checkpoint_state::CheckpointState;
use super::image::{self, Anchor, Header, SavedObject, SavedQueue};
use crate::catalogue::{Definition, Runtime, Stored};
use crate::manager::Inner;
use crate::mark::{Mark, mark};
use crate::operator::in_short;
use crate::plant::{Bug, planted};
use crate::queue::Queue;
use crate::queue::disjoint::Disjoint;
use crate::queue::saved::{Places, room_of, write_message};
use crate::record::QueueId;
use crate::room::{Needs, Room, Writes};
use crate::stop::Stop;
use crate::unit::Unit;
use crate::unit::carried::{Carried, Kept, Unfiled};

/// Puts the state back when a checkpoint ends, however it ends.
struct Turn<'a> {
    qm: &'a Inner,
    state: CheckpointState,
    /// What it has saved and what is not in force.
    saved: Vec<Saved>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !planted(Bug::KeepUnfinished) {
            abandon(&mut self.saved);
        }
        *self.qm.checkpoint.lock() = Some(self.state);
        self.qm.log_space.relief.raise();
    }
}

/// What was saved of one queue, not yet in force.
struct Saved {
    queue: Arc<Queue>,
    chunks: Vec<Option<Sealed>>,
    /// `None`: the chunk has nothing to save any more.
    written: Vec<(usize, Option<Sealed>)>,
    given_up: Vec<Place>,
    /// Non-persistent messages that a controlled shutdown should have kept and had no room for.
    left_out: usize,
}

impl Saved {
    /// From now on nothing is used again that is given up of the queue's file.
    fn begin(queue: &Arc<Queue>) -> Saved {
        Saved {
            queue: Arc::clone(queue),
            chunks: Vec::new(),
            written: Vec::new(),
            given_up: queue.lock().begin_saving(),
            left_out: 0,
        }
    }
}

/// A checkpoint that has begun.
struct Begun {
    number: u64,
    begin: Lsn,
    /// Messages from before are old.
    cut: Lsn,
    /// The oldest record whose effect was on its way.
    pin: Option<Lsn>,
    closing: bool,
    /// The units of work that the image carries, as far as they do not end before.
    in_doubt: Vec<Arc<Unit>>,
}

/// Which messages a checkpoint files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All that are old.
    All,
    /// The oldest, as far as there is room.
    WhatFits,
    /// None: the index and the image are all it needs room for, and what is gone gives room back.
    Nothing,
}

impl Scope {
    fn less(self) -> Option<Scope> {
        match self {
            Scope::All => Some(Scope::WhatFits),
            Scope::WhatFits => Some(Scope::Nothing),
            Scope::Nothing => None,
        }
    }
}

/// What that comes to.
struct Filing {
    /// Persistent messages from before are filed.
    cut: Lsn,
    /// The oldest of those that should be filed and are not: restart needs the log from there.
    left: Option<Lsn>,
    /// At a controlled shutdown, non-persistent ones of NPMCLASS(HIGH) too.
    non_persistent: bool,
}

enum Failure {
    /// The disk is full: go on without this checkpoint.
    Full,
    /// No more files can be opened: the same, and nothing is gained by filing less.
    Descriptors,
    Stop(Stop),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Failure::Full,
            StoreError::Descriptors => Failure::Descriptors,
            other => Failure::Stop(Stop::CheckpointFailed(other.to_string())),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Stop(Stop::CheckpointFailed(error.to_string()))
    }
}

impl Inner {
    /// Takes a checkpoint; `closing` = the last one of a controlled shutdown. One at a time. `false`: there was no
    /// room on the disk for it.
    pub(crate) async fn checkpoint_now(&self, closing: bool) -> Result<bool, Stop> {
        let state = loop {
            let relief = self.log_space.relief.listen();
            if let Some(state) = self.checkpoint.lock().take() {
                break state;
            }
            relief.await;
        };
        let mut turn = Turn {
            qm: self,
            state,
            saved: Vec::new(),
        };
        if state.closing {
            return Ok(true);
        }
        if let Some(stop) = self.lifecycle.why_stopped()
            && !planted(Bug::SaveAfterFailure)
        {
            return Err(stop);
        }
        let Turn { state, saved, .. } = &mut turn;
        match self.take_checkpoint(state, closing, saved).await {
            Ok(()) => {
                self.make_reserve(true)?;
                Ok(true)
            }
            Err(lack @ (Failure::Full | Failure::Descriptors)) => {
                state.failed = true;
                let descriptors = matches!(lack, Failure::Descriptors);
                self.numbers.look_again();
                self.home.room.note_descriptors(descriptors);
                self.home.room.note_unsaved(!descriptors);
                self.alerts.no_space(&self.home.room, self.clock.now());
                self.plan_checkpoint();
                if closing {
                    let why = match descriptors {
                        true => "no more files can be opened",
                        false => "the disk is full",
                    };
                    return Err(Stop::CheckpointFailed(why.to_owned()));
                }
                self.make_reserve(false)?;
                Ok(false)
            }
            Err(Failure::Stop(stop)) => {
                // The image may be in force: nothing is given back.
                turn.saved.clear();
                self.stop(stop.clone());
                Err(stop)
            }
        }
    }

    pub(crate) fn interval(&self) -> u64 {
        interval(self.log.usage().primary)
    }

    async fn take_checkpoint(
        &self,
        state: &mut CheckpointState,
        closing: bool,
        saved: &mut Vec<Saved>,
    ) -> Result<(), Failure> {
        let number = state.number + 1;
        let begin = self.begin(number, state.failed)?;
        let (pin, mut in_doubt) = self.units.look();
        if planted(Bug::DropPrepared) {
            in_doubt.clear();
        }
        let begun = Begun {
            number,
            begin,
            cut: if closing { begin } else { state.begin },
            pin: pin.filter(|_| !planted(Bug::IgnorePins)),
            closing,
            in_doubt,
        };
        let retired = self.deleted.retired();
        let (restart, needs) = self.save(&begun, saved).await?;
        let anchor = Anchor {
            image: number,
            incarnation: self.numbers.incarnation,
            numbers: self.numbers.to_reserve(),
            sealed: self.home.cipher.is_some(),
            identity: self.numbers.identity,
        };
        self.advance(restart, &anchor, closing)
            .await
            .map_err(log_failed)?;
        self.numbers.raise(anchor.numbers);
        *state = CheckpointState {
            number,
            begin,
            closing,
            failed: false,
        };
        self.log_space.plan_checkpoint(begin.0 + self.interval());
        self.tell_left_out(saved);
        let queues: Vec<_> = saved.drain(..).map(put_in_force).collect();
        for queue in self.deleted.take_retired(retired) {
            queue.drop_file()?;
        }
        remove_other_images(&self.env.disk, &self.config.data, number)?;
        self.home.room.set_needs(needs);
        self.home.room.given_back();
        // Whatever is refused from now on, this is no longer why.
        self.home.room.note_descriptors(false);
        self.home.room.note_unsaved(false);
        give_back(queues.iter(), self.home.room.is_tight())?;
        Ok(())
    }

    /// Where a checkpoint begins: at its record, or where the log ends.
    fn begin(&self, number: u64, failed: bool) -> Result<Lsn, Failure> {
        if failed {
            return Ok(self.log.appended());
        }
        let record = crate::record::checkpoint(number);
        match self.log.append(Class::Relief, &[&record]) {
            Ok(appended) => Ok(appended.start),
            // Without room for its record a checkpoint can still make room. What is left is for commits, however many
            // checkpoints make no room at all.
            Err(posthaste_recovery_log::LogError::Full) => Ok(self.log.appended()),
            Err(error) => Err(log_failed(error)),
        }
    }

    /// Saves all queues, and writes the image; returns where restart is to begin with it, and what the next one can
    /// need. Files fewer messages when the disk has no room for all.
    async fn save(&self, begun: &Begun, saved: &mut Vec<Saved>) -> Result<(Lsn, Needs), Failure> {
        let mut scope = Scope::All;
        loop {
            match self.save_as(begun, scope, saved).await {
                Err(Failure::Full) => {
                    let queues = abandon(saved);
                    scope = scope.less().ok_or(Failure::Full)?;
                    mark(Mark::ScarceCheckpoint);
                    // No image has named what was written just now.
                    give_back(queues.iter(), true)?;
                    self.home.room.regain()?;
                }
                done => return done,
            }
        }
    }

    async fn save_as(
        &self,
        begun: &Begun,
        scope: Scope,
        saved: &mut Vec<Saved>,
    ) -> Result<(Lsn, Needs), Failure> {
        let mut definitions = self.catalogue.unchanged(|| self.catalogue.all());
        definitions.retain(Definition::logged);
        let kept = Kept {
            queues: local_queues(&definitions).map(|queue| queue.id).collect(),
            closing: begun.closing,
        };
        let filing = self.plan_filing(begun, scope, &kept)?;
        let mut carried = self.carry(begun, &filing, &kept, saved)?;
        let objects = saved_objects(&definitions);
        let queues = self.save_all(&definitions, &filing, &carried, begun.closing, saved)?;
        if planted(Bug::CarryLate) {
            carried = Carried::default();
            begun
                .in_doubt
                .iter()
                .for_each(|unit| unit.carry(&kept, &mut carried));
        }
        self.log
            .force(self.log.appended())
            .await
            .map_err(log_failed)?;
        if planted(Bug::GiveBackEarly) {
            saved.iter_mut().for_each(give_up_early);
            give_back(saved.iter().map(|saved| &saved.queue), true)?;
        }
        let header = Header {
            begin: begun.begin,
            next_queue: self.numbers.next_queue(),
            tag_seed: self.home.tag_seed,
            clean: begun.closing,
            sealed: self.home.cipher.is_some(),
        };
        let header = header.encode();
        let objects = image::encode_catalogue(&objects);
        let saved_queues = image::encode_queues(&queues);
        let sections = [
            (image::HEADER, header.as_slice()),
            (image::CATALOGUE, &objects),
            (image::QUEUES, &saved_queues),
            (image::UNITS, &carried.bytes),
        ];
        let bytes = sections.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        self.home.room.write(Writes::Image, bytes, || {
            self.write_image(begun.number, &sections)
        })?;
        let needs = Needs {
            image: bytes,
            index: index_bytes(&queues) + carried.bytes.len() as u64,
            interval: self.interval(),
            buffers: queues.len() as u64 * self.config.pq_buffer as u64,
        };
        let restart = match filing.left {
            _ if planted(Bug::ForgetYoung) => begun.begin,
            None => begun.cut,
            Some(left) => left.min(begun.cut),
        };
        Ok((begun.pin.map_or(restart, |pin| pin.min(restart)), needs))
    }

    /// Says which messages to file. Looks at them only after pins have been read: one whose effect happens in between
    /// is found here. At units of work in doubt first: what they commit meanwhile is found on its queue.
    fn plan_filing(&self, begun: &Begun, scope: Scope, kept: &Kept) -> Result<Filing, StoreError> {
        // At a controlled shutdown every persistent message counts as old.
        let cut = if begun.closing {
            Lsn(u64::MAX)
        } else {
            begun.cut
        };
        if scope == Scope::All {
            return Ok(Filing {
                cut,
                left: None,
                non_persistent: true,
            });
        }
        let mut old: Vec<(Lsn, u64)> = Vec::new();
        for unit in &begun.in_doubt {
            let unfiled = unit.unfiled(kept).into_iter();
            let old_ones = unfiled.filter(|put| put.message.persistent() && put.message.lsn < cut);
            let sized =
                |put: Unfiled| (put.message.lsn, room_of(&put.queue.bodies(), &put.message));
            old.extend(old_ones.map(sized));
        }
        for queue in self.catalogue.local_queues() {
            old.extend(queue.lock().unfiled_sizes(cut));
        }
        old.sort_unstable();
        let mut room = match scope {
            Scope::WhatFits => self.home.room.for_messages(),
            _ => 0,
        };
        let left = old.into_iter().find_map(|(lsn, bytes)| {
            let fits = bytes <= room;
            room = room.saturating_sub(bytes);
            (!fits).then_some(lsn)
        });
        Ok(Filing {
            cut: left.unwrap_or(cut),
            left,
            non_persistent: scope != Scope::Nothing,
        })
    }

    /// Says which non-persistent messages end with the queue manager although their queues keep them.
    fn tell_left_out(&self, saved: &[Saved]) {
        let short = || saved.iter().filter(|saved| saved.left_out > 0);
        let all: usize = short().map(|saved| saved.left_out).sum();
        if all == 0 {
            return;
        }
        let named = |saved: &Saved| format!("{} ({})", saved.queue.name.text(), saved.left_out);
        let queues: Vec<String> = short().map(named).collect();
        let inserts = [all.to_string(), self.config.name.clone(), in_short(&queues)];
        self.operator.message("AMQ2070W", &inserts);
    }

    /// Moves the log's restart point. A log that is to end here must have been forced to its end;
    /// should something have come in meanwhile (a report, an MQSC command), that is forced too, and
    /// the next start finds it behind the restart point.
    async fn advance(
        &self,
        restart: Lsn,
        anchor: &Anchor,
        closing: bool,
    ) -> Result<(), posthaste_recovery_log::LogError> {
        loop {
            let end = self.log.appended();
            if closing {
                self.log.force(end).await?;
            }
            match self.log.advance(restart, &anchor.encode(), closing) {
                Err(_) if closing && self.log.appended() > end => {}
                other => return other,
            }
        }
    }

    /// Files the messages of units of work in doubt, and puts together what the image carries of these. The queues whose
    /// places it names are being saved from then on.
    fn carry(
        &self,
        begun: &Begun,
        filing: &Filing,
        kept: &Kept,
        saved: &mut Vec<Saved>,
    ) -> Result<Carried, StoreError> {
        let mut queues = BTreeMap::new();
        for unit in &begun.in_doubt {
            for put in unit.unfiled(kept) {
                let message = &put.message;
                let wanted = match message.persistent() {
                    true => message.lsn < filing.cut,
                    false => filing.non_persistent,
                };
                if wanted {
                    let bytes = message.size() as u64;
                    let place = self.home.room.write(Writes::Messages, bytes, || {
                        // It may have to be made, which needs room as well.
                        write_message(&put.queue, &*put.queue.open_file()?, message)
                    })?;
                    unit.filed(&put, place);
                }
            }
            unit.puts_on(kept, &mut queues);
        }
        saved.extend(queues.values().map(Saved::begin));
        let mut carried = Carried::default();
        for unit in &begun.in_doubt {
            unit.carry(kept, &mut carried);
        }
        Ok(carried)
    }

    /// Files and saves every queue; returns what the image says of them. Some are begun already.
    fn save_all(
        &self,
        definitions: &[Definition],
        filing: &Filing,
        carried: &Carried,
        closing: bool,
        saved: &mut Vec<Saved>,
    ) -> Result<Vec<SavedQueue>, Failure> {
        let begun: BTreeMap<QueueId, usize> = {
            let ids = saved.iter().map(|saved| saved.queue.id);
            ids.zip(0..).collect()
        };
        let (mut queues, none) = (Vec::new(), Places::default());
        for queue in local_queues(definitions) {
            let at = match begun.get(&queue.id) {
                Some(at) => *at,
                None => {
                    let room = &self.home.room;
                    room.write(Writes::Index, BLOCK as u64, || self.begin_anew(queue))?;
                    saved.push(Saved::begin(queue));
                    saved.len() - 1
                }
            };
            let in_doubt = carried.places.get(&queue.id).unwrap_or(&none);
            let saved = &mut saved[at];
            saved.left_out = carried.left_out.get(&queue.id).copied().unwrap_or(0);
            save_queue(&self.home.room, saved, filing, in_doubt, closing)?;
            queues.push(SavedQueue {
                queue: queue.id,
                chunks: saved.chunks.clone(),
            });
        }
        Ok(queues)
    }

    fn write_image(&self, number: u64, sections: &[(u32, &[u8])]) -> Result<(), StoreError> {
        let mut writer = ImageWriter::begin(&self.env.disk, &self.config.data, number)?;
        for (kind, bytes) in sections {
            writer.section(*kind, bytes)?;
        }
        writer.finish()
    }
}

/// The local queues among definitions.
fn local_queues(definitions: &[Definition]) -> impl Iterator<Item = &Arc<Queue>> {
    definitions
        .iter()
        .filter_map(|definition| match definition.runtime() {
            Runtime::Local(queue) => Some(queue),
            _ => None,
        })
}

/// What an image says of definitions.
fn saved_objects(definitions: &[Definition]) -> Vec<SavedObject> {
    let saved = |definition: &Definition| {
        let (object, changed) = definition.saved();
        SavedObject {
            changed,
            stored: Stored {
                queue: definition.queue_id(),
                object,
            },
        }
    };
    definitions.iter().map(saved).collect()
}

/// Bytes that the parts of indexes take that an image names.
pub(super) fn index_bytes(queues: &[SavedQueue]) -> u64 {
    let chunks = queues
        .iter()
        .flat_map(|queue| queue.chunks.iter().flatten());
    chunks.map(|chunk| u64::from(chunk.place.length)).sum()
}

/// Bytes of log between checkpoints: a restart needs two of these distances, and one more must
/// fit beside them in the primary files.
pub(super) fn interval(primary: u64) -> u64 {
    (primary / 4).max(1 << 16)
}

fn log_failed(error: posthaste_recovery_log::LogError) -> Failure {
    Failure::Stop(Stop::LogFailed(error.to_string()))
}

/// Gives back the room of what is free in the files of queues: all of it, or what is worth it.
fn give_back<'a>(
    queues: impl Iterator<Item = &'a Arc<Queue>>,
    all: bool,
) -> Result<(), StoreError> {
    for queue in queues {
        let file = {
            let state = queue.lock();
            state.known_file().filter(|_| state.damage.is_none())
        };
        if let Some(file) = file
            && (file.has_much_to_give_back() || all && file.released_blocks() > 0)
        {
            file.give_back(all)?;
        }
    }
    Ok(())
}

/// Files old messages and changed chunks of a queue, and syncs its file. `in_doubt`: places in it that the image names
/// for units of work.
fn save_queue(
    room: &Room,
    saved: &mut Saved,
    filing: &Filing,
    in_doubt: &Places,
    closing: bool,
) -> Result<(), StoreError> {
    let queue = saved.queue.clone();
    let (unfiled, keep_np) = {
        let state = queue.lock();
        let keep_np = closing && state.attributes.npm_high;
        if keep_np && !filing.non_persistent {
            saved.left_out += state.unfiled(Lsn(0), true).len();
        }
        let unfiled = state.unfiled(filing.cut, keep_np && filing.non_persistent);
        (unfiled, keep_np)
    };
    let mut file = None;
    for (slot, message) in unfiled {
        let bytes = message.size() as u64;
        let place = room.write(Writes::Messages, bytes, || {
            let file = file_of(&queue, &mut file)?;
            write_message(&queue, &file, &message)
        })?;
        let mut state = queue.lock();
        state.file_dirty = true;
        state.filed(slot, message.seq, place);
    }
    save_chunks(room, saved, keep_np, in_doubt, &mut file)?;
    sync_file(&queue, file, !saved.written.is_empty())
}

/// The file of a queue, made when it is first needed.
fn file_of(
    queue: &Queue,
    known: &mut Option<Arc<QueueFile>>,
) -> Result<Arc<QueueFile>, StoreError> {
    if let Some(file) = known {
        return Ok(Arc::clone(file));
    }
    let file = queue.open_file()?;
    *known = Some(Arc::clone(&file));
    Ok(file)
}

/// Syncs a queue's file if anything was written to it since its last sync.
fn sync_file(queue: &Queue, file: Option<Arc<QueueFile>>, written: bool) -> Result<(), StoreError> {
    let file = {
        let mut state = queue.lock();
        let dirty = std::mem::take(&mut state.file_dirty) || written;
        let file = file.or_else(|| state.known_file());
        file.filter(|_| dirty)
    };
    match file {
        Some(_) if planted(Bug::UnsyncedQueueFile) => Ok(()),
        Some(file) => match file.sync() {
            Err(_) if planted(Bug::RetryFailedSync) => Err(StoreError::Full),
            synced => synced,
        },
        None => Ok(()),
    }
}

/// Writes the chunks that have changed, and sees to it that the image names every block once.
fn save_chunks(
    room: &Room,
    saved: &mut Saved,
    keep_np: bool,
    in_doubt: &Places,
    file: &mut Option<Arc<QueueFile>>,
) -> Result<(), StoreError> {
    let queue = saved.queue.clone();
    let mut places = Disjoint::default();
    let apart = in_doubt.values().all(|place| places.name(*place));
    let chunks = {
        let state = queue.lock();
        if !apart && state.damage.is_none() {
            return Err(named_twice(&queue));
        }
        state.index.chunk_states.len()
    };
    for number in 0..chunks {
        let damaged;
        let bytes = {
            let mut state = queue.lock();
            // What is found in a damaged file may overlap; nothing of it is given back.
            damaged = state.damage.is_some();
            if !state.name_chunk(number, keep_np, &mut places, in_doubt) && !damaged {
                return Err(named_twice(&queue));
            }
            let chunk = state.index.chunk_states[number];
            if chunk.lost || (!chunk.dirty && !keep_np) {
                if !chunk.saved.is_none_or(|saved| places.name(saved.place)) && !damaged {
                    return Err(named_twice(&queue));
                }
                saved.chunks.push(chunk.saved);
                continue;
            }
            let bytes = state.save_chunk(number, keep_np);
            state.index.chunk_states[number].dirty = false;
            bytes
        };
        let written = match &bytes {
            Some(bytes) => {
                let written = room.write(Writes::Index, bytes.len() as u64, || {
                    file_of(&queue, file)?.write_sealed(&[bytes])
                });
                match written {
                    Ok(chunk) => Some(chunk),
                    Err(error) => {
                        queue.lock().index.chunk_states[number].dirty = true;
                        return Err(error);
                    }
                }
            }
            None => None,
        };
        if !written.is_none_or(|chunk| places.name(chunk.place)) && !damaged {
            return Err(named_twice(&queue));
        }
        // An empty chunk is written down too (as absent), so that it is not saved every time.
        saved.written.push((number, written));
        let old = queue.lock().index.chunk_states[number].saved;
        saved.given_up.extend(old.map(|old| old.place));
        saved.chunks.push(written);
    }
    Ok(())
}

/// We have a bug: the image must not come into force, the one before still holds.
fn named_twice(queue: &Queue) -> StoreError {
    StoreError::Damaged {
        what: format!(
            "the next image would name a place in the file of {} twice",
            queue.name.text()
        ),
        block: 0,
    }
}

/// Frees what the image to come does not name, while the one before it still holds (a planted bug).
fn give_up_early(saved: &mut Saved) {
    let mut state = saved.queue.lock();
    for (number, _) in &saved.written {
        if let Some(chunk) = state.index.chunk_states.get_mut(*number) {
            chunk.saved = None;
        }
    }
    state.free(std::mem::take(&mut saved.given_up));
}

/// The image is durable: what it points at is in force, what it replaced is free.
fn put_in_force(saved: Saved) -> Arc<Queue> {
    let mut state = saved.queue.lock();
    for (number, written) in saved.written {
        if let Some(chunk) = state.index.chunk_states.get_mut(number) {
            chunk.saved = written;
        }
    }
    state.free(saved.given_up);
    state.end_saving();
    drop(state);
    saved.queue
}

/// The checkpoint was abandoned: what it wrote is free, what it would have replaced stays.
fn abandon(all: &mut Vec<Saved>) -> Vec<Arc<Queue>> {
    let mut queues = Vec::with_capacity(all.len());
    for saved in all.drain(..) {
        queues.push(saved.queue.clone());
        let mut state = saved.queue.lock();
        let mut unused = Vec::new();
        let mut kept = saved.given_up;
        for (number, written) in saved.written {
            if let Some(chunk) = state.index.chunk_states.get_mut(number) {
                chunk.dirty = true;
                let old = chunk.saved.map(|saved| saved.place);
                kept.retain(|p| Some(*p) != old);
            }
            unused.extend(written.map(|chunk| chunk.place));
        }
        state.file_dirty = true;
        state.free(unused);
        state.free_later.extend(kept);
        state.end_saving();
    }
    queues
}
