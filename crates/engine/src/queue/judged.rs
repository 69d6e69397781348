//! What a search by properties remembers for the next one with the same selection, so that it judges no message twice.
//!
//! Invariants:
//! * What a search remembers ([`Judged`]) is for each order list up to which number it has judged the messages that were
//!   listed then: it wants none of them.
//! * A message that is listed behind that, or unlocked, has to be judged after all. The queue notes it ([`Relisted`]) if
//!   its number is one that some search may remember, and each search judges again what was noted since it began to
//!   remember. Where more was noted than is kept, it has forgotten everything.
//! * Both have one size, however long the queue is and however many search.
//! * It is for one who searches: what others have locked counts as judged, and is noted when it is unlocked.

use std::collections::VecDeque;

use super::index::{LISTS, Slot};

/// How many messages are noted.
const KEPT: usize = 1024;

/// What a search remembers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judged {
    /// The highest number that was judged, by order list.
    up_to: [u64; LISTS],
    /// How many messages had been noted when all that were noted had been judged.
    noted: u64,
}

/// Messages that were listed or unlocked behind some search.
#[derive(Default)]
pub(crate) struct Relisted {
    /// The highest numbers that some search may remember.
    highest: [u64; LISTS],
    kept: VecDeque<(u8, u64)>,
    /// How many there were before these.
    before: u64,
}

impl Relisted {
    /// A message has been listed or unlocked.
    pub(crate) fn note(&mut self, slot: &Slot) {
        if slot.seq > self.highest[slot.order_list()] {
            return;
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            self.before += 1;
        }
        self.kept.push_back(slot.key());
    }

    fn noted(&self) -> u64 {
        self.before + self.kept.len() as u64
    }

    /// The keys of those that were noted since, in order; none: not all of them are known.
    fn since(&self, noted: u64) -> Option<Vec<(u8, u64)>> {
        let known = usize::try_from(noted.checked_sub(self.before)?).ok()?;
        let mut since: Vec<_> = self.kept.iter().skip(known).copied().collect();
        since.sort_unstable();
        Some(since)
    }
}

/// One search from the head of the queue.
pub(crate) struct Search {
    judged: Judged,
    /// What is to be judged although its number is among those that were.
    again: Vec<(u8, u64)>,
    /// The last number that was met in each list.
    met: [u64; LISTS],
}

impl Search {
    pub(crate) fn new(judged: Judged, relisted: Option<&Relisted>) -> Search {
        let noted = relisted.map_or(0, Relisted::noted);
        let since = match relisted {
            Some(relisted) => relisted.since(judged.noted),
            None => Some(Vec::new()),
        };
        let (judged, again) = match since {
            Some(again) => (judged, again),
            None => {
                let up_to = Default::default();
                (Judged { up_to, noted }, Vec::new())
            }
        };
        Search {
            judged,
            again,
            met: Default::default(),
        }
    }

    /// The next message in the order of delivery is met: whether it was judged before.
    pub(crate) fn meets(&mut self, slot: &Slot) -> bool {
        let list = slot.order_list();
        self.met[list] = slot.seq;
        slot.seq <= self.judged.up_to[list] && self.again.binary_search(&slot.key()).is_err()
    }

    /// The search has come to its end, or to a message: what it remembers.
    pub(crate) fn end(
        mut self,
        found: Option<&Slot>,
        relisted: &mut Option<Box<Relisted>>,
    ) -> Judged {
        let relisted = relisted.get_or_insert_default();
        if let Some(found) = found {
            self.met[found.order_list()] = found.seq - 1;
        }
        // Those behind what was found have not been met.
        let all = match (found, self.again.last()) {
            (Some(found), Some(last)) => *last < found.key(),
            _ => true,
        };
        if all {
            self.judged.noted = relisted.noted();
        }
        for (list, met) in self.met.into_iter().enumerate() {
            let up_to = &mut self.judged.up_to[list];
            *up_to = met.max(*up_to);
            relisted.highest[list] = relisted.highest[list].max(*up_to);
        }
        self.judged
    }
}
