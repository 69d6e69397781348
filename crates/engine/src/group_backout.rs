//! What handles knew of groups before units of work that may still be backed out.
//!
//! Invariants (MQI reference, "MQBACK", usage notes on group and segment information):
//! * When a unit of work is backed out, by whomever, a handle knows again what it knew before its first message in it. What
//!   was browsed is in no unit of work.
//! * What a message outside of any unit of work has left behind is not taken back, nor what one has in a unit of work
//!   that is committed.
//! * Of branches that take turns at a handle (XA) each is taken back by itself: what the latest that stays has left behind
//!   counts.
//! * Only what changes is kept: messages in no group cost nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_mqi::Hobj;

use crate::plant::{Bug, planted};
use crate::unit::Unit;
use crate::unit::outcome::Outcome;

/// What a handle knew before the messages of a unit of work.
struct Before<T> {
    unit: Arc<Unit>,
    known: T,
}

/// For handles, in the order of their messages, what they knew before those of units of work that had not ended when they
/// were last looked at.
pub(crate) struct Befores<T>(BTreeMap<Hobj, Vec<Before<T>>>);

impl<T> Default for Befores<T> {
    fn default() -> Self {
        Befores(BTreeMap::new())
    }
}

impl<T: PartialEq> Befores<T> {
    /// A message has changed what is known, which is true of the units of work that have ended; `unit`: that in which the
    /// message is.
    pub(crate) fn change(&mut self, hobj: Hobj, known: &mut T, next: T, unit: Option<&Arc<Unit>>) {
        let Some(unit) = unit else {
            self.0.remove(&hobj);
            *known = next;
            return;
        };
        let changes = *known != next;
        let known = std::mem::replace(known, next);
        let before = || Before {
            unit: Arc::clone(unit),
            known,
        };
        match self.0.get_mut(&hobj) {
            Some(all) if all.last().is_some_and(|last| Arc::ptr_eq(&last.unit, unit)) => {}
            // Also where nothing changes: it is this unit of work now by which it is so.
            Some(all) => all.push(before()),
            None if changes => drop(self.0.insert(hobj, vec![before()])),
            None => {}
        }
    }

    /// Makes what is known true of the units of work that have ended since.
    pub(crate) fn catch_up(&mut self, hobj: Hobj, known: &mut T) {
        let Some(all) = self.0.get_mut(&hobj) else {
            return;
        };
        if planted(Bug::KeepPlaceInGroup) {
            return;
        }
        for at in (0..all.len()).rev() {
            match all[at].unit.outcome() {
                None => {}
                Some(Outcome::Committed) => {
                    // Nobody comes back to what was before it.
                    all.drain(..=at);
                    break;
                }
                Some(Outcome::BackedOut) => {
                    let before = all.remove(at).known;
                    *all.get_mut(at)
                        .map_or(&mut *known, |later| &mut later.known) = before;
                }
            }
        }
        if all.is_empty() {
            self.0.remove(&hobj);
        }
    }

    /// The handle is closed.
    pub(crate) fn forget(&mut self, hobj: Hobj) {
        self.0.remove(&hobj);
    }
}
