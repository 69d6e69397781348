//! What handles knew of groups before units of work that may still be backed out.
//!
//! Invariants (MQI reference, "MQBACK", usage notes on group and segment information):
//! * When a unit of work is backed out, by whomever, a handle knows again what it knew before its first message in it. What
//!   was browsed is in no unit of work.
//! * What a message outside of any unit of work has left behind is not taken back, nor what one has in a unit of work
//!   that is committed.
//! * Of branches that take turns at a handle (XA) each is taken back by itself: what the latest that stays has left behind
//!   counts.
//! * Only what changes is kept: messages in no group cost nothing. A unit of work has one entry of a handle, however often branches
//!   take turns at it.

use std::collections::BTreeMap;
use std::sync::Arc;

use posthaste_mqi::Hobj;

use crate::plant::{Bug, planted};
use crate::unit::Unit;
use crate::unit::outcome::Outcome;

/// What ends, and how.
pub(crate) trait Ends {
    /// How it ended, if it has.
    fn outcome(&self) -> Option<Outcome>;
}

impl Ends for Unit {
    fn outcome(&self) -> Option<Outcome> {
        Unit::outcome(self)
    }
}

/// What a handle knew before the last messages of a unit of work, those that no other one's are among.
struct Before<T, U> {
    unit: Arc<U>,
    known: T,
}

type ByHandle<T, U> = BTreeMap<Hobj, Vec<Before<T, U>>>;

/// For handles, in the order of their messages, what they knew before those of units of work that had not ended when they
/// were last looked at.
// Boxed, because most connections have no groups.
#[allow(clippy::box_collection)]
pub(crate) struct Befores<T, U = Unit>(Option<Box<ByHandle<T, U>>>);

impl<T, U> Default for Befores<T, U> {
    fn default() -> Self {
        Befores(None)
    }
}

impl<T: PartialEq, U: Ends> Befores<T, U> {
    /// A message has changed what is known, which is true of the units of work that have ended; `unit`: that in which the
    /// message is.
    pub(crate) fn change(&mut self, hobj: Hobj, known: &mut T, next: T, unit: Option<&Arc<U>>) {
        let Some(unit) = unit else {
            self.forget(hobj);
            *known = next;
            return;
        };
        let changes = *known != next;
        let known = std::mem::replace(known, next);
        let before = || Before {
            unit: Arc::clone(unit),
            known,
        };
        let all = self.0.as_mut().and_then(|of| of.get_mut(&hobj));
        match all {
            Some(all) if all.last().is_some_and(|last| Arc::ptr_eq(&last.unit, unit)) => {}
            // Also where nothing changes: it is this unit of work now by which it is so.
            Some(all) => {
                // Whoever had its turn after an earlier one of this unit of work counts as from before both: if this one stays, what
                // the other was before does not matter, and if it goes, both of its turns do.
                let of_this = |before: &Before<T, U>| Arc::ptr_eq(&before.unit, unit);
                if let Some(at) = all.iter().position(of_this) {
                    let earlier = all.remove(at).known;
                    if let Some(later) = all.get_mut(at) {
                        later.known = earlier;
                    }
                }
                all.push(before());
            }
            None if changes => {
                let of = self.0.get_or_insert_default();
                of.insert(hobj, vec![before()]);
            }
            None => {}
        }
    }

    /// Makes what is known true of the units of work that have ended since.
    pub(crate) fn catch_up(&mut self, hobj: Hobj, known: &mut T) {
        let Some(of) = &mut self.0 else {
            return;
        };
        let Some(all) = of.get_mut(&hobj) else {
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
            of.remove(&hobj);
        }
    }

    /// The handle is closed.
    pub(crate) fn forget(&mut self, hobj: Hobj) {
        if let Some(of) = &mut self.0 {
            of.remove(&hobj);
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_env::sync::Mutex;

    use super::*;

    struct Branch(Mutex<Option<Outcome>>);

    impl Ends for Branch {
        fn outcome(&self) -> Option<Outcome> {
            *self.0.lock()
        }
    }

    const HANDLE: Hobj = Hobj(1);

    /// Every message of every unit of work, and what they left behind; what is known when all is taken back that was backed out.
    #[derive(Default)]
    struct Simple(Vec<(Arc<Branch>, u32)>);

    impl Simple {
        fn known(&self, first: u32) -> u32 {
            let stays =
                |(branch, _): &&(Arc<Branch>, u32)| branch.outcome() != Some(Outcome::BackedOut);
            self.0.iter().rfind(stays).map_or(first, |(_, left)| *left)
        }
    }

    /// Branches that take turns in any order and end in any order: what is known is what the latest message that stays has left
    /// behind, and what is kept does not grow with the turns.
    #[test]
    fn what_is_kept_is_as_good_as_every_message() {
        let mut draw = {
            let mut state = 0x2545_F491_4F6C_DD1D_u64;
            move |below: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % below
            }
        };
        for _ in 0..20_000 {
            let branches: Vec<_> = (0..4).map(|_| Arc::new(Branch(Mutex::new(None)))).collect();
            let (mut befores, mut simple) = (Befores::default(), Simple::default());
            let mut known = 0;
            for left in 1..=draw(25) as u32 {
                let branch = &branches[draw(4) as usize];
                let ended = branch.outcome().is_some();
                match draw(8) {
                    0 if !ended => *branch.0.lock() = Some(Outcome::BackedOut),
                    1 if !ended => *branch.0.lock() = Some(Outcome::Committed),
                    _ if !ended => {
                        befores.catch_up(HANDLE, &mut known);
                        befores.change(HANDLE, &mut known, left, Some(branch));
                        simple.0.push((Arc::clone(branch), left));
                    }
                    _ => befores.catch_up(HANDLE, &mut known),
                }
                let kept = befores.0.as_ref().and_then(|of| of.get(&HANDLE));
                let kept = kept.map_or(0, Vec::len);
                assert!(kept <= branches.len(), "{kept}");
            }
            befores.catch_up(HANDLE, &mut known);
            assert_eq!(known, simple.known(0));
        }
    }
}
