//! Whether the index is what the head of `index.rs` says. Follows links without counting them as steps.

use super::{CHUNK, Chain, Chunk, Index, LISTS, NIL, Slot, SlotId};

/// A sentence about what does not hold, unless `holds`.
fn that(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

impl Index {
    /// # Errors
    /// The first thing that does not hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_chunks()?;
        let listed = self.check_lists()?;
        for chain in [Chain::Msg, Chain::Correl] {
            self.check_chain(chain, listed)?;
        }
        let stray = self.groups.keys().find(|id| self.known(**id).is_err());
        that(stray.is_none(), || {
            format!("group fields of slot {stray:?} are kept, and it is free")
        })
    }

    fn check_chunks(&self) -> Result<(), String> {
        let (mut used, mut listed) = (0, 0);
        for (number, chunk) in self.chunks.iter().enumerate() {
            let taken = chunk.slots.iter().filter(|slot| slot.seq != 0).count();
            listed += chunk.slots.iter().filter(|slot| slot.listed()).count();
            used += taken;
            let free = free_slots(number, chunk)?;
            that(
                chunk.used.get() as usize == taken && taken + free == chunk.slots.len(),
                || format!("part {number} has {taken} used and {free} free slots"),
            )?;
            let state = &self.chunk_states[number];
            let sets = (self.room.contains(&number), self.bare.contains(&number));
            let due = (free > 0, chunk.slots.is_empty() && !state.lost);
            that(sets == due, || {
                format!("part {number} is in the wrong sets: {sets:?}, not {due:?}")
            })?;
        }
        that(self.used() as usize == used, || {
            format!("{used} slots are used, not {}", self.used())
        })?;
        let spare = self.spare.and_then(|number| self.chunks.get(number));
        that(spare.is_none_or(|chunk| chunk.used.get() == 0), || {
            "the spare part is in use".to_owned()
        })?;
        that(self.listed() as usize == listed, || {
            format!("{listed} slots are listed, not {}", self.listed())
        })
    }

    /// Each list forwards; how many slots are listed.
    fn check_lists(&self) -> Result<usize, String> {
        let mut by_priority = [0; 10];
        for list in 0..LISTS {
            let (mut at, mut before, mut seq) = (self.heads[list], NIL, 0);
            while at != NIL {
                let slot = self.known(at)?;
                let fits = slot.listed() && slot.list as usize == list && slot.seq > seq;
                that(fits && slot.prev == before, || {
                    format!("slot {at} does not belong where list {list} has it: {slot:?}")
                })?;
                by_priority[usize::from(slot.priority().min(9))] += 1;
                (before, seq, at) = (at, slot.seq, slot.next);
            }
            that(self.tails[list] == before, || {
                format!("list {list} does not end at its tail")
            })?;
        }
        that(by_priority == self.listed.map(|count| count.get()), || {
            format!("listed by priority: {by_priority:?}, not {:?}", self.listed)
        })?;
        Ok(by_priority.iter().sum::<u32>() as usize)
    }

    /// The chains of an identifier: every listed slot that has one, once.
    fn check_chain(&self, chain: Chain, listed: usize) -> Result<(), String> {
        let slots = self.chunks.iter().flat_map(|chunk| &chunk.slots);
        let tagged = slots.filter(|slot| slot.listed() && slot.tag(chain) != 0);
        let due = tagged.count();
        let mut found = 0;
        for (bucket, last) in self.buckets(chain).iter().copied().enumerate() {
            if last == NIL {
                continue;
            }
            let (mut at, mut before) = (self.links(chain, last)?.0, last);
            let mut key = None;
            loop {
                let slot = self.known(at)?;
                let tag = slot.tag(chain);
                let there = slot.listed() && tag != 0 && self.bucket_of(chain, tag) == bucket;
                let (next, in_front) = self.links(chain, at)?;
                that(
                    there && in_front == before && key.is_none_or(|key| key < slot.key()),
                    || format!("slot {at} does not belong where a chain has it: {slot:?}"),
                )?;
                found += 1;
                that(found <= listed, || "a chain has no end".to_owned())?;
                if at == last {
                    break;
                }
                (key, before, at) = (Some(slot.key()), at, next);
            }
        }
        that(found == due, || {
            format!("{found} slots are on chains of {chain:?}, not {due}")
        })
    }

    fn known(&self, id: SlotId) -> Result<&Slot, String> {
        let slot = self.get(id).filter(|slot| slot.seq != 0);
        slot.ok_or_else(|| format!("a link leads to slot {id}, which is not in use"))
    }

    /// The slots behind and in front of one on its chain.
    fn links(&self, chain: Chain, id: SlotId) -> Result<(SlotId, SlotId), String> {
        let slot = self.known(id)?;
        Ok(match chain {
            Chain::Msg => (slot.msg_next, slot.msg_prev),
            Chain::Correl => (slot.correl_next, slot.correl_prev),
        })
    }
}

/// How many slots are linked as free.
fn free_slots(number: usize, chunk: &Chunk) -> Result<usize, String> {
    let (mut at, mut free) = (chunk.free, 0);
    while at != NIL {
        let slot = chunk.slots.get(at as usize % CHUNK);
        let ours = at as usize / CHUNK == number && free < chunk.slots.len();
        match slot.filter(|slot| ours && slot.seq == 0) {
            Some(slot) => at = slot.next,
            None => return Err(format!("slot {at} is linked as free and is not")),
        }
        free += 1;
    }
    Ok(free)
}
