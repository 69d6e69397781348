//! Marks of messages that have been browsed (manual: "Avoiding repeated delivery of browsed messages").
//!
//! A handle marks for itself, or for all handles that were opened with MQOO_CO_OP: whoever asks for unmarked messages is
//! not shown those again.
//!
//! Invariants:
//! * A mark keeps a message from nobody who gets it, and goes with it: one that comes back to its queue is not marked.
//! * A mark for all lasts as long as MARKINT said when it was made, and no longer than one of them has the queue open;
//!   one of a handle as long as that is open.
//! * Marks are in memory only.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_env::Nanos;
use posthaste_mqi::Hobj;
use posthaste_mqi::constants::*;

use super::QueueState;
use super::index::SlotId;
use crate::consume::waiter::Wakes;

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

/// A mark for all handles that were opened with MQOO_CO_OP.
struct ForAll {
    by: Owner,
    /// When it lapses; none: it does not.
    until: Option<Nanos>,
}

/// The marks on a queue, by the numbers of its messages.
#[derive(Default)]
pub(crate) struct Marks {
    /// Handles that were opened with MQOO_CO_OP.
    handles: usize,
    for_all: BTreeMap<u64, ForAll>,
    of_handles: BTreeMap<Owner, BTreeSet<u64>>,
}

impl Marks {
    fn marked_for_all_by(&self, seq: u64, now: Nanos) -> Option<Owner> {
        let mark = self.for_all.get(&seq)?;
        mark.until
            .is_none_or(|until| now < until)
            .then_some(mark.by)
    }

    fn is_marked(&self, seq: u64, marking: &Marking, now: Nanos) -> bool {
        marking.co_op && self.marked_for_all_by(seq, now).is_some()
            || (self.of_handles.get(&marking.owner)).is_some_and(|own| own.contains(&seq))
    }

    fn forget(&mut self, seq: u64) {
        self.for_all.remove(&seq);
        self.of_handles.retain(|_, own| {
            own.remove(&seq);
            !own.is_empty()
        });
    }
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
                self.forget_no_marks();
            }
        }
    }

    /// The handle is closed: what it has marked for itself is so no more.
    pub(crate) fn forget_marks_of(&mut self, owner: Owner) {
        if let Some(marks) = &mut self.marks {
            marks.of_handles.remove(&owner);
            self.forget_no_marks();
        }
    }

    /// A queue that nobody marks on any more is as cheap as one that nobody ever did.
    fn forget_no_marks(&mut self) {
        let none = |marks: &mut Box<Marks>| marks.handles == 0 && marks.of_handles.is_empty();
        self.marks.take_if(none);
    }

    /// Whoever gets a message, or ends it, ends its marks.
    pub(super) fn forget_marks(&mut self, slot: SlotId) {
        self.forget_marks_on(self.index.slot(slot).seq);
    }

    /// The same by the message's number.
    pub(super) fn forget_marks_on(&mut self, seq: u64) {
        if let Some(marks) = &mut self.marks {
            marks.forget(seq);
        }
    }

    /// Whether a browse passes over this message.
    pub(crate) fn is_passed_over(&self, slot: SlotId, marking: &Marking, now: Nanos) -> bool {
        let seq = self.index.slot(slot).seq;
        marking.passes_over()
            && (self.marks.as_ref()).is_some_and(|marks| marks.is_marked(seq, marking, now))
    }

    /// Whether another handle has marked this message for all, and a browse that is to mark it for all too was not told to
    /// pass over such.
    pub(crate) fn is_marked_by_another(&self, slot: SlotId, marking: &Marking, now: Nanos) -> bool {
        let seq = self.index.slot(slot).seq;
        let by = (self.marks.as_ref()).and_then(|marks| marks.marked_for_all_by(seq, now));
        marking.has(MQGMO_MARK_BROWSE_CO_OP) && by.is_some_and(|by| by != marking.owner)
    }

    /// Marks a message that is shown. `until`: when a mark for all is to lapse.
    pub(crate) fn mark(&mut self, slot: SlotId, marking: &Marking, until: Option<Nanos>) {
        if !marking.marks() {
            return;
        }
        let seq = self.index.slot(slot).seq;
        let marks = self.marks.get_or_insert_default();
        let by = marking.owner;
        if marking.has(MQGMO_MARK_BROWSE_HANDLE) {
            marks.of_handles.entry(by).or_default().insert(seq);
        }
        if marking.has(MQGMO_MARK_BROWSE_CO_OP) {
            // One that is made again lapses no sooner: whoever waits for that has a time for it.
            let older = marks.for_all.get(&seq).map(|mark| mark.until);
            let until = older.map_or(until, |older| Some(older?.max(until?)));
            marks.for_all.insert(seq, ForAll { by, until });
        }
    }

    /// Takes marks off a message that is shown.
    pub(crate) fn unmark(&mut self, slot: SlotId, marking: &Marking, wakes: &mut Wakes) {
        let seq = self.index.slot(slot).seq;
        let Some(marks) = &mut self.marks else {
            return;
        };
        let own = marks.of_handles.get_mut(&marking.owner);
        let own = own.filter(|_| marking.has(MQGMO_UNMARK_BROWSE_HANDLE));
        let own = own.is_some_and(|own| own.remove(&seq));
        let for_all =
            marking.has(MQGMO_UNMARK_BROWSE_CO_OP) && marks.for_all.remove(&seq).is_some();
        if own || for_all {
            self.look_again(slot, wakes);
        }
    }

    /// A message was marked to be shown, and was not: it is as it was before.
    pub(crate) fn unshown(&mut self, seq: u64, slot: SlotId, marking: &Marking, wakes: &mut Wakes) {
        let Some(marks) = &mut self.marks else {
            return;
        };
        let own = marks.of_handles.get_mut(&marking.owner);
        let mine = own.is_some_and(|own| marking.has(MQGMO_MARK_BROWSE_HANDLE) && own.remove(&seq));
        let by_it = |mark: &ForAll| mark.by == marking.owner;
        let of_all = marking.has(MQGMO_MARK_BROWSE_CO_OP)
            && marks.for_all.get(&seq).is_some_and(by_it)
            && marks.for_all.remove(&seq).is_some();
        if (mine || of_all) && self.index.holds(slot, seq) && self.index.slot(slot).listed() {
            self.look_again(slot, wakes);
        }
    }

    /// When the first mark lapses that keeps something from whoever browses so.
    pub(crate) fn next_lapse(&self, marking: &Marking, now: Nanos) -> Option<Nanos> {
        if !(marking.co_op && marking.passes_over()) {
            return None;
        }
        let for_all = self.marks.as_ref()?.for_all.values();
        for_all
            .filter_map(|mark| mark.until)
            .filter(|until| *until > now)
            .min()
    }

    /// Marks are on messages that are listed, and those for all are there while a handle is that marks for all.
    pub(super) fn check_marks(&self) -> Result<(), String> {
        let Some(marks) = &self.marks else {
            return Ok(());
        };
        let listed = self.index.all().map(|id| self.index.slot(id));
        let listed: BTreeSet<u64> = listed
            .filter(|slot| slot.listed())
            .map(|slot| slot.seq)
            .collect();
        let of_handles = marks.of_handles.values().flatten();
        let mut all = marks.for_all.keys().chain(of_handles);
        if let Some(seq) = all.find(|seq| !listed.contains(seq)) {
            return Err(format!("message {seq} is marked, and not there"));
        }
        match marks.handles == 0 && !marks.for_all.is_empty() {
            true => Err("messages are marked for handles that there are not".to_owned()),
            false => Ok(()),
        }
    }
}
