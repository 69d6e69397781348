//! Whether a queue is what the heads of `mod.rs`, `residents.rs`, `uncommitted.rs` and `disjoint.rs` say.
//!
//! Looked at here: the index (`index/check.rs`); that the messages in memory are those that slots name; that no two
//! things name one block of the queue file, and every block that is named is in use; that browse locks and their
//! marks are the same. Where nobody is in the middle of a call, also that nothing else is in use, and that the counts
//! of uncommitted messages and open handles are those of the connections.

use posthaste_store::Place;

use super::disjoint::Disjoint;
use super::index::Body;
use super::{QueueState, SlotId};

/// What connections have of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Slots of messages that units of work have got.
    pub(crate) got: Vec<SlotId>,
    /// Messages that units of work have put.
    pub(crate) puts: u32,
    /// Their bytes, of those in memory: non-persistent, persistent.
    pub(crate) bytes: [usize; 2],
    /// Where the queue file has the others.
    pub(crate) filed: Vec<Place>,
    /// Handles open for input, output, browsing.
    pub(crate) open: [u32; 3],
}

impl QueueState {
    /// Holds the queue against its invariants and against what connections have of it. `whole`: that is everything,
    /// because nobody is in the middle of a call.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub(crate) fn check(&self, outside: &Outside, whole: bool) -> Result<(), String> {
        self.index.check()?;
        self.check_residents()?;
        self.check_browse_locks()?;
        self.check_marks()?;
        self.check_retained()?;
        self.check_units(outside, whole)?;
        let whole_files = whole && !self.filing.left;
        if whole_files && self.spills() {
            return Err("messages are to be filed, and nobody does".to_owned());
        }
        if whole_files && self.filing.writing.get() > 0 {
            return Err(format!(
                "{} messages are being filed by nobody",
                self.filing.writing.get()
            ));
        }
        match self.damage {
            // What is found in a damaged file may overlap.
            Some(_) => Ok(()),
            None => self.check_places(outside, whole),
        }
    }

    fn check_residents(&self) -> Result<(), String> {
        let count = self.residents.check()?;
        let mut named = vec![];
        for id in self.index.all() {
            let slot = self.index.slot(id);
            let Body::Resident(at) = slot.body() else {
                continue;
            };
            let resident = self.residents.find(at);
            if resident.is_none_or(|resident| resident.message.seq != slot.seq) {
                return Err(format!("message {} is not where slot {id} says", slot.seq));
            }
            named.push(at);
        }
        named.sort_unstable();
        named.dedup();
        if named.len() == count {
            return Ok(());
        }
        let named = named.len();
        Err(format!(
            "{count} messages are in memory, and slots name {named}"
        ))
    }

    fn check_browse_locks(&self) -> Result<(), String> {
        let live = self.browse_locks.iter();
        let live = live.filter(|(slot, seq, _)| self.index.holds(*slot, *seq));
        let (mut marked, mut locks) = (0, 0);
        for (slot, _, _) in live {
            locks += 1;
            marked += usize::from(self.index.slot(*slot).browse_locked());
        }
        let all = self.index.all();
        let flagged = all
            .filter(|id| self.index.slot(*id).browse_locked())
            .count();
        if (marked, flagged) == (locks, locks) {
            return Ok(());
        }
        Err(format!(
            "{locks} messages are locked by browsing, {marked} of them are marked, {flagged} marked in all"
        ))
    }

    fn check_units(&self, outside: &Outside, whole: bool) -> Result<(), String> {
        let held = self.index.used() - self.index.listed();
        let mut got = outside.got.clone();
        got.sort_unstable();
        got.dedup();
        let away = |id: &SlotId| {
            let slot = self.index.get(*id);
            slot.is_some_and(|slot| slot.seq != 0 && !slot.listed())
        };
        if got.len() != outside.got.len() || !got.iter().all(away) {
            return Err(format!(
                "units of work have got {:?}, which are listed or there twice",
                outside.got
            ));
        }
        let handles =
            [self.open_input, self.open_output, self.open_browse].map(|tally| tally.get());
        let counts = [self.pending_puts, self.uncommitted_gets].map(|tally| tally.get());
        let here = (counts[0], counts[1], held, handles);
        let count = (got.len() + self.superseded().len()) as u32;
        let there = (outside.puts, count, count, outside.open);
        let least = here.0 >= there.0 && here.1 >= there.1 && here.2 >= there.2;
        let bytes = self.uncommitted.map(|tally| tally.get()) == outside.bytes;
        if !least || whole && (here != there || !bytes) {
            return Err(format!(
                "uncommitted puts and gets, held slots, handles, bytes: {here:?} {:?}, and connections have {there:?} {:?}",
                self.uncommitted, outside.bytes
            ));
        }
        Ok(())
    }

    fn check_places(&self, outside: &Outside, whole: bool) -> Result<(), String> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        file.check_space()?;
        let slots = self.index.all().filter_map(|id| self.place_of(id));
        let saved = self
            .index
            .chunk_states
            .iter()
            .filter_map(|c| Some(c.saved?.place));
        let waiting = self
            .free_later
            .iter()
            .chain(self.held_back.iter().flatten());
        let places = slots.chain(saved).chain(waiting.copied());
        let (mut seen, mut blocks) = (Disjoint::default(), 0);
        for place in places.chain(outside.filed.iter().copied()) {
            if !seen.name(place) || !file.holds(place) {
                return Err(format!("{place:?} is named twice, or counts as free"));
            }
            blocks += u64::from(place.blocks());
        }
        // While a checkpoint saves the queue it has places of its own.
        let used = file.used_blocks();
        if whole && self.held_back.is_none() && used != blocks {
            return Err(format!(
                "{used} blocks of the file are in use, {blocks} are named"
            ));
        }
        Ok(())
    }
}
