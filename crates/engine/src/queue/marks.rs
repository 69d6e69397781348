//! Marks of messages that have been browsed (manual: "Avoiding repeated delivery of browsed messages").
//!
//! A handle marks for itself, or for all handles that were opened with MQOO_CO_OP: whoever asks for unmarked messages is
//! not shown those again.
//!
//! Invariants:
//! * A mark keeps a message from nobody who gets it, and goes with it: one that comes back to its queue is not marked.
//! * A mark for all lasts as long as MARKINT said when it was made, and no longer than one of them has the queue open;
//!   one of a handle as long as that is open.
//! * Marks are in memory only: those of a handle for itself are a bit for each place in the index.
//! * Which messages are not marked is known up to a place in the delivery order (a front), so that a look begins at the first
//!   of them or there; marks for all lapse many at a time. What looks and lapses cost does not grow with what is marked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use posthaste_env::Nanos;
use posthaste_mqi::Hobj;
use posthaste_mqi::constants::*;

use super::QueueState;
use super::index::{NIL, SlotId};
use super::search::{Cursor, Start};
use super::slot_set::SlotSet;
use crate::consume::waiter::Wakes;
use crate::plant::{Bug, planted};

/// A handle: its connection and its number.
type Owner = (u64, Hobj);

/// What a browse has to do with marks, as the options of its MQGMO say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marking {
    owner: Owner,
    options: i32,
    /// Its handle is one of those that mark for each other.
    co_op: bool,
}

impl Marking {
    /// The options of MQGMO that concern marks.
    pub(crate) const OPTIONS: i32 = MQGMO_MARK_BROWSE_HANDLE
        | MQGMO_MARK_BROWSE_CO_OP
        | MQGMO_UNMARK_BROWSE_HANDLE
        | MQGMO_UNMARK_BROWSE_CO_OP
        | MQGMO_UNMARKED_BROWSE_MSG;
    /// Those of them that need a handle that was opened with MQOO_CO_OP.
    pub(crate) const OF_ALL: i32 = MQGMO_MARK_BROWSE_CO_OP | MQGMO_UNMARK_BROWSE_CO_OP;

    pub(crate) fn of(owner: Owner, options: i32, open: i32) -> Marking {
        Marking {
            owner,
            options: options & Self::OPTIONS,
            co_op: open & MQOO_CO_OP != 0,
        }
    }

    fn has(&self, option: i32) -> bool {
        self.options & option != 0
    }

    /// Whether it has to do with marks.
    pub(crate) fn concerned(&self) -> bool {
        self.options != 0
    }

    /// Whether it marks what it is shown.
    pub(crate) fn marks(&self) -> bool {
        self.has(MQGMO_MARK_BROWSE_HANDLE | MQGMO_MARK_BROWSE_CO_OP)
    }

    /// Whether it is not shown again what it was shown, because it has marked that.
    pub(crate) fn hides_what_it_is_shown(&self) -> bool {
        self.passes_over() && self.marks()
    }

    /// Whether it is shown only what is not marked.
    pub(crate) fn passes_over(&self) -> bool {
        self.has(MQGMO_UNMARKED_BROWSE_MSG)
    }
}

/// Marks for all lapse so often in an interval, at most: whoever waits looks again then, and not once for each message.
const LAPSES: Nanos = 16;

/// When a mark for all lapses that is made now: an interval later, or somewhat more (manual: "MsgMarkBrowseInterval", which is
/// approximate).
pub(crate) fn lapse_of(now: Nanos, interval: Nanos) -> Nanos {
    let due = now.saturating_add(interval);
    match interval / LAPSES {
        0 => due,
        apart => due.checked_next_multiple_of(apart).unwrap_or(due),
    }
}

/// A mark for all handles that were opened with MQOO_CO_OP.
struct ForAll {
    by: Owner,
    slot: SlotId,
    /// When it lapses; none: it does not.
    until: Option<Nanos>,
}

/// Messages that a front knows of, at most.
const KNOWN: usize = 1_000;

/// A place in the delivery order.
type Key = (u8, u64);

/// What is known of marks from the head of the queue on.
#[derive(Default)]
struct Front {
    /// Up to here; none: nothing is.
    to: Option<Cursor>,
    /// What is not marked up to there.
    unmarked: BTreeMap<Key, SlotId>,
}

impl Front {
    /// A listed message has come, or is not marked any more.
    fn unmark(&mut self, key: Key, slot: SlotId) {
        if self.to.is_none_or(|to| to.key < key) || planted(Bug::KeepFront) {
            return;
        }
        self.unmarked.insert(key, slot);
        if self.unmarked.len() > KNOWN {
            *self = Front::default();
        }
    }

    /// A message is marked, or has gone.
    fn forget(&mut self, key: Key) {
        self.unmarked.remove(&key);
    }

    /// Goes on over what is marked.
    fn advance(&mut self, queue: &QueueState, marked: impl Fn(SlotId) -> bool) {
        let mut at = match &self.to {
            Some(to) => queue.after(to),
            None => queue.index.first(),
        };
        while at != NIL && marked(at) {
            at = queue.index.next(at);
        }
        self.to = match (at, queue.index.last()) {
            (NIL, NIL) => None,
            (NIL, last) => Some(queue.cursor(last)),
            (at, _) => Some(queue.place_before(at)),
        };
    }

    /// Where a look begins that would begin at `start`.
    fn begin(&self, queue: &QueueState, start: Start) -> Start {
        let Some(to) = self.to else {
            return start;
        };
        let from = match start {
            Start::First => Bound::Unbounded,
            Start::After(cursor) if cursor.key >= to.key => return start,
            Start::After(cursor) => Bound::Excluded(cursor.key),
        };
        let first = self.unmarked.range((from, Bound::Unbounded)).next();
        Start::After(first.map_or(to, |(_, slot)| queue.place_before(*slot)))
    }
}

/// What a handle has marked for itself.
#[derive(Default)]
struct Own {
    marked: SlotSet,
    front: Front,
}

/// The marks on a queue.
#[derive(Default)]
pub(crate) struct Marks {
    /// Handles that were opened with MQOO_CO_OP.
    handles: usize,
    /// By the numbers of messages.
    for_all: BTreeMap<u64, ForAll>,
    /// When those of them lapse that do.
    lapses: BTreeSet<(Nanos, u64)>,
    /// Of what is marked for all.
    front: Front,
    own: BTreeMap<Owner, Own>,
    /// No front is behind this place.
    furthest: Key,
}

impl Marks {
    fn is_marked(&self, seq: u64, slot: SlotId, marking: &Marking) -> bool {
        marking.co_op && self.for_all.contains_key(&seq)
            || (self.own.get(&marking.owner)).is_some_and(|own| own.marked.contains(slot))
    }

    fn remove_for_all(&mut self, seq: u64) -> Option<ForAll> {
        let mark = self.for_all.remove(&seq)?;
        if let Some(until) = mark.until {
            self.lapses.remove(&(until, seq));
        }
        Some(mark)
    }

    fn forget(&mut self, key: Key, slot: SlotId) {
        self.remove_for_all(key.1);
        self.front.forget(key);
        for own in self.own.values_mut() {
            own.front.forget(key);
            own.marked.remove(slot);
        }
    }

    /// Where a browse begins to look that would begin at `start`: as far behind as one of its fronts allows.
    fn begin(&mut self, queue: &QueueState, start: Start, marking: &Marking) -> Start {
        let mut begins = start;
        if marking.co_op {
            let for_all = &self.for_all;
            let marked = |slot| for_all.contains_key(&queue.index.slot(slot).seq);
            self.front.advance(queue, marked);
            begins = self.front.begin(queue, begins);
            self.furthest = self.furthest.max(reach(&self.front));
        }
        if let Some(own) = self.own.get_mut(&marking.owner) {
            let marked = |slot| own.marked.contains(slot);
            own.front.advance(queue, marked);
            begins = own.front.begin(queue, begins);
            self.furthest = self.furthest.max(reach(&own.front));
        }
        begins
    }
}

fn reach(front: &Front) -> Key {
    front.to.map_or((0, 0), |to| to.key)
}

impl QueueState {
    /// A handle was opened with MQOO_CO_OP.
    pub(crate) fn co_op_opened(&mut self) {
        self.marks.get_or_insert_default().handles += 1;
    }

    /// A handle is closed that was opened with MQOO_CO_OP.
    pub(crate) fn co_op_closed(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.handles = marks.handles.saturating_sub(1);
            if marks.handles == 0 {
                marks.for_all.clear();
                marks.lapses.clear();
                marks.front = Front::default();
                self.forget_no_marks();
            }
        }
    }

    /// The handle is closed: what it has marked for itself is so no more.
    pub(crate) fn forget_marks_of(&mut self, owner: Owner) {
        if let Some(marks) = &mut self.marks {
            marks.own.remove(&owner);
            self.forget_no_marks();
        }
    }

    /// A queue that nobody marks on any more is as cheap as one that nobody ever did.
    fn forget_no_marks(&mut self) {
        let none = |marks: &mut Box<Marks>| marks.handles == 0 && marks.own.is_empty();
        self.marks.take_if(none);
    }

    /// Whoever takes a message off the queue ends its marks.
    pub(super) fn forget_marks(&mut self, slot: SlotId) {
        if let Some(marks) = &mut self.marks
            && !planted(Bug::KeepMark)
        {
            marks.forget(self.index.slot(slot).key(), slot);
        }
    }

    /// A look at the queue begins that has to do with marks: those that have lapsed are gone.
    pub(crate) fn lapse_marks(&mut self, now: Nanos) {
        let Some(mut marks) = self.marks.take() else {
            return;
        };
        while let Some((until, seq)) = marks.lapses.first().copied()
            && until <= now
        {
            if let Some(mark) = marks.remove_for_all(seq) {
                let key = self.index.slot(mark.slot).key();
                marks.front.unmark(key, mark.slot);
            }
        }
        self.marks = Some(marks);
    }

    /// A message is listed, unmarked.
    pub(super) fn listed_unmarked(&mut self, slot: SlotId) {
        let key = self.index.slot(slot).key();
        if let Some(marks) = &mut self.marks
            && key <= marks.furthest
        {
            marks.front.unmark(key, slot);
            for own in marks.own.values_mut() {
                own.front.unmark(key, slot);
            }
        }
    }

    /// Where a browse begins to look that would begin at `start`: there is nothing before that it would be shown.
    pub(crate) fn past_marked(&mut self, start: Start, marking: &Marking) -> Start {
        let Some(mut marks) = self.marks.take_if(|_| marking.passes_over()) else {
            return start;
        };
        let begins = marks.begin(self, start, marking);
        self.marks = Some(marks);
        begins
    }

    /// Whether a browse passes over this message.
    pub(crate) fn is_passed_over(&self, slot: SlotId, marking: &Marking) -> bool {
        let seq = self.index.slot(slot).seq;
        marking.passes_over()
            && (self.marks.as_ref()).is_some_and(|marks| marks.is_marked(seq, slot, marking))
    }

    /// Whether another handle has marked this message for all, and a browse that is to mark it for all too was not told to
    /// pass over such.
    pub(crate) fn is_marked_by_another(&self, slot: SlotId, marking: &Marking) -> bool {
        let seq = self.index.slot(slot).seq;
        let mark = (self.marks.as_ref()).and_then(|marks| marks.for_all.get(&seq));
        marking.has(MQGMO_MARK_BROWSE_CO_OP) && mark.is_some_and(|it| it.by != marking.owner)
    }

    /// Marks a message that is shown. `until`: when a mark for all is to lapse.
    pub(crate) fn mark(&mut self, slot: SlotId, marking: &Marking, until: Option<Nanos>) {
        if !marking.marks() {
            return;
        }
        let key = self.index.slot(slot).key();
        let seq = key.1;
        let marks = self.marks.get_or_insert_default();
        let by = marking.owner;
        if marking.has(MQGMO_MARK_BROWSE_HANDLE) {
            let own = marks.own.entry(by).or_default();
            own.marked.insert(slot);
            own.front.forget(key);
        }
        if marking.has(MQGMO_MARK_BROWSE_CO_OP) {
            // One that is made again lapses no sooner: whoever waits for that has a time for it.
            let older = marks.remove_for_all(seq).map(|mark| mark.until);
            let until = older.map_or(until, |older| Some(older?.max(until?)));
            if let Some(until) = until {
                marks.lapses.insert((until, seq));
            }
            marks.for_all.insert(seq, ForAll { by, slot, until });
            marks.front.forget(key);
        }
    }

    /// Takes marks off a message that is shown.
    pub(crate) fn unmark(&mut self, slot: SlotId, marking: &Marking, wakes: &mut Wakes) {
        let own = marking.has(MQGMO_UNMARK_BROWSE_HANDLE);
        let for_all = marking.has(MQGMO_UNMARK_BROWSE_CO_OP);
        self.take_off(slot, marking.owner, own, for_all, wakes);
    }

    /// A message was marked to be shown, and was not: it is as it was before.
    pub(crate) fn unshown(&mut self, seq: u64, slot: SlotId, marking: &Marking, wakes: &mut Wakes) {
        if !(self.index.holds(slot, seq) && self.index.slot(slot).listed()) {
            // Its marks went with it.
            return;
        }
        let mark = (self.marks.as_ref()).and_then(|marks| marks.for_all.get(&seq));
        let by_it = mark.is_some_and(|mark| mark.by == marking.owner);
        let own = marking.has(MQGMO_MARK_BROWSE_HANDLE);
        let for_all = marking.has(MQGMO_MARK_BROWSE_CO_OP) && by_it;
        self.take_off(slot, marking.owner, own, for_all, wakes);
    }

    /// Takes marks off a listed message: that of a handle for itself, that for all.
    fn take_off(
        &mut self,
        slot: SlotId,
        owner: Owner,
        own: bool,
        for_all: bool,
        wakes: &mut Wakes,
    ) {
        let key = self.index.slot(slot).key();
        let Some(marks) = &mut self.marks else {
            return;
        };
        let of_owner = marks.own.get_mut(&owner).filter(|_| own);
        let own = of_owner.is_some_and(|own| {
            own.front.unmark(key, slot);
            own.marked.remove(slot)
        });
        let for_all = for_all && marks.remove_for_all(key.1).is_some();
        if for_all {
            marks.front.unmark(key, slot);
        }
        if own || for_all {
            let tags = self.tags_of(slot);
            self.waiters.watchers_look_again(tags, wakes);
        }
    }

    /// When the first mark lapses that keeps something from whoever browses so.
    pub(crate) fn next_lapse(&self, marking: &Marking) -> Option<Nanos> {
        let minds = marking.passes_over() || marking.has(MQGMO_MARK_BROWSE_CO_OP);
        if !(marking.co_op && minds) {
            return None;
        }
        let (until, _) = self.marks.as_ref()?.lapses.first()?;
        Some(*until)
    }

    /// Marks are on messages that are listed, and those for all are there while a handle is that marks for all; fronts know
    /// what is marked.
    pub(super) fn check_marks(&self) -> Result<(), String> {
        let Some(marks) = &self.marks else {
            return Ok(());
        };
        let is_listed = |slot: SlotId| self.index.get(slot).is_some_and(|it| it.listed());
        let holds = |seq, slot| self.index.holds(slot, seq) && is_listed(slot);
        let mut for_all = marks.for_all.iter();
        if let Some((seq, _)) = for_all.find(|(seq, mark)| !holds(**seq, mark.slot)) {
            return Err(format!("message {seq} is marked, and not there"));
        }
        let mut own = marks.own.values().flat_map(|own| own.marked.iter());
        if let Some(slot) = own.find(|slot| !is_listed(*slot)) {
            return Err(format!("place {slot} is marked, and no message is there"));
        }
        let lapsing = marks.for_all.values().filter(|mark| mark.until.is_some());
        if lapsing.count() != marks.lapses.len() {
            return Err("marks lapse that there are not".to_owned());
        }
        self.check_front(&marks.front, |slot| {
            let seq = self.index.slot(slot).seq;
            marks.for_all.contains_key(&seq)
        })?;
        for own in marks.own.values() {
            self.check_front(&own.front, |slot| own.marked.contains(slot))?;
        }
        match marks.handles == 0 && !marks.for_all.is_empty() {
            true => Err("messages are marked for handles that there are not".to_owned()),
            false => Ok(()),
        }
    }

    fn check_front(&self, front: &Front, marked: impl Fn(SlotId) -> bool) -> Result<(), String> {
        let Some(to) = front.to else {
            return Ok(());
        };
        let (mut at, mut unmarked) = (self.index.first(), BTreeMap::new());
        while at != NIL && self.index.slot(at).key() <= to.key {
            if !marked(at) {
                unmarked.insert(self.index.slot(at).key(), at);
            }
            at = self.index.next(at);
        }
        let known = &front.unmarked;
        match unmarked == *known {
            true => Ok(()),
            false => Err(format!(
                "{known:?} are to be unmarked, and are {unmarked:?}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_one_interval_lapse_a_few_times() {
        let interval = 5_000_000_000;
        let times = (0..1_000).map(|n| n * interval / 1_000);
        let lapses = times.map(|now| {
            let lapse = lapse_of(now, interval);
            assert!((now + interval..now + interval + interval / LAPSES).contains(&lapse));
            lapse
        });
        assert!(lapses.collect::<BTreeSet<_>>().len() <= 17);
        assert_eq!((lapse_of(7, 0), lapse_of(7, 3)), (7, 10));
        assert_eq!(lapse_of(7, Nanos::MAX), Nanos::MAX);
    }
}
