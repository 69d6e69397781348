//! The unit table: every unit of work there is, and what keeps the log from being cut.
//!
//! Invariants:
//! * A unit of work is in the table from its beginning until all of its end has happened.
//! * A pin is an LSN at or before the first record that a restart may still need for its holder: a unit of work, the
//!   effect of a call outside one, or the end of a branch. It is taken before that record is appended and goes with its
//!   holder's place in the table, once the effect has happened: there is no moment at which it could be cleared for
//!   somebody else.
//! * A pin's LSN is read under the lock of the shard that it is in, and a checkpoint looks at every shard after it has
//!   begun. So a pin is never below a restart point that was chosen without it, however long its holder takes to append.
//! * The lock of a shard is a leaf: nothing is locked while it is held. A connection keeps to one shard, so that
//!   connections do not meet here.

use std::sync::{Arc, Weak};

use posthaste_env::sync::Mutex;
use posthaste_recovery_log::{Lsn, RecoveryLog};

use super::branches::Branches;
use posthaste_mqi::Xid;

/// A place that holds nothing back.
const FREE: Lsn = Lsn(u64::MAX);

/// More than there are processors, mostly.
const SHARDS: usize = 32;

/// Where the table has a unit of work or a pin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    shard: u32,
    slot: u32,
}

struct Slot<U> {
    pin: Lsn,
    /// It is in doubt: images carry it, and it needs no pin.
    carried: bool,
    unit: Option<Arc<U>>,
}

/// A part of the table, on cache lines of its own.
#[repr(align(128))]
struct Shard<U>(Mutex<Slots<U>>);

struct Slots<U> {
    slots: Vec<Slot<U>>,
    free: Vec<u32>,
}

impl<U> Slots<U> {
    fn take(&mut self, pin: Lsn) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.slots[at as usize].pin = pin;
                at
            }
            None => {
                self.slots.push(Slot {
                    pin,
                    carried: false,
                    unit: None,
                });
                self.slots.len() as u32 - 1
            }
        }
    }

    fn give_back(&mut self, at: u32) -> Option<Arc<U>> {
        let slot = &mut self.slots[at as usize];
        (slot.pin, slot.carried) = (FREE, false);
        self.free.push(at);
        slot.unit.take()
    }
}

/// All units of work of a queue manager, and all pins. `U` is a unit of work.
pub(crate) struct Table<U> {
    shards: [Shard<U>; SHARDS],
    pub(crate) branches: Branches<U>,
}

impl<U> Default for Table<U> {
    fn default() -> Self {
        let shard = |_| {
            Shard(Mutex::new(Slots {
                slots: Vec::new(),
                free: Vec::new(),
            }))
        };
        Table {
            shards: std::array::from_fn(shard),
            branches: Branches::default(),
        }
    }
}

impl<U> Table<U> {
    fn at(&self, place: Place) -> &Mutex<Slots<U>> {
        &self.shards[place.shard as usize].0
    }

    /// Takes in a unit of work of a connection, that `make` makes for its place; `log`: it appends a record at once, so
    /// that it needs its pin.
    pub(crate) fn insert(
        &self,
        session: u64,
        log: Option<&RecoveryLog>,
        make: impl FnOnce(Place) -> U,
    ) -> Arc<U> {
        let shard = (session % SHARDS as u64) as u32;
        let mut slots = self.shards[shard as usize].0.lock();
        let slot = slots.take(log.map_or(FREE, RecoveryLog::appended));
        let unit = Arc::new(make(Place { shard, slot }));
        slots.slots[slot as usize].unit = Some(Arc::clone(&unit));
        unit
    }

    /// The unit of work has ended.
    pub(crate) fn remove(&self, place: Place) {
        let unit = self.at(place).lock().give_back(place.slot);
        // Two units of work would have one place, and one pin.
        assert!(unit.is_some(), "a unit of work ends twice");
    }

    /// Keeps the log from being cut above the record that a unit of work is about to append.
    pub(crate) fn pin(&self, place: Place, log: &RecoveryLog) {
        let mut slots = self.at(place).lock();
        slots.slots[place.slot as usize].pin = log.appended();
    }

    /// The unit of work has no record in the log.
    pub(crate) fn unpin(&self, place: Place) {
        self.at(place).lock().slots[place.slot as usize].pin = FREE;
    }

    /// Keeps the log from being cut above what is appended from here on, for a call outside a unit of work or the end of a
    /// branch. `of`: the connection, or 0.
    pub(crate) fn hold(self: &Arc<Self>, log: &RecoveryLog, of: u64) -> Pin<U> {
        let shard = (of % SHARDS as u64) as u32;
        let slot = {
            let mut slots = self.shards[shard as usize].0.lock();
            slots.take(log.appended())
        };
        Pin {
            units: Arc::downgrade(self),
            place: Place { shard, slot },
        }
    }

    /// The unit of work is in doubt: whatever is checkpointed from now on carries it.
    pub(crate) fn carry(&self, place: Place) {
        let mut slots = self.at(place).lock();
        let slot = &mut slots.slots[place.slot as usize];
        (slot.pin, slot.carried) = (FREE, true);
    }

    /// A unit of work that a restart has found in doubt.
    pub(crate) fn restore(&self, make: impl FnOnce(Place) -> U) -> Arc<U> {
        let mut slots = self.shards[0].0.lock();
        let slot = slots.take(FREE);
        let unit = Arc::new(make(Place { shard: 0, slot }));
        let kept = &mut slots.slots[slot as usize];
        (kept.carried, kept.unit) = (true, Some(Arc::clone(&unit)));
        unit
    }

    /// For a checkpoint that has begun: the lowest LSN that somebody needs, and what its image has to carry, which
    /// needs none.
    pub(crate) fn look(&self) -> (Option<Lsn>, Vec<Arc<U>>) {
        let (mut lowest, mut carried) = (FREE, Vec::new());
        for shard in &self.shards {
            for slot in &shard.0.lock().slots {
                lowest = lowest.min(slot.pin);
                carried.extend(slot.unit.clone().filter(|_| slot.carried));
            }
        }
        ((lowest != FREE).then_some(lowest), carried)
    }

    /// Gives a unit of work the identifier of a branch; false when there is one of it.
    pub(crate) fn name(&self, xid: &Xid, unit: &Arc<U>) -> bool {
        self.branches.add(xid, unit)
    }

    /// Nothing has come of it.
    pub(crate) fn unname(&self, xid: &Xid) {
        self.branches.remove(xid);
    }

    /// The branch of an identifier that is not resolved.
    pub(crate) fn branch(&self, xid: &Xid) -> Option<Arc<U>> {
        self.branches.find(xid)
    }

    /// Every branch that is not resolved, those too that are just being prepared.
    pub(crate) fn branches(&self) -> Vec<(Xid, Arc<U>)> {
        self.branches.all()
    }

    /// Every unit of work, with its pin.
    pub(crate) fn all(&self) -> Vec<(Option<Lsn>, Arc<U>)> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let slots = shard.0.lock();
            all.extend(slots.slots.iter().filter_map(|slot| {
                let pin = (slot.pin != FREE).then_some(slot.pin);
                Some((pin, Arc::clone(slot.unit.as_ref()?)))
            }));
        }
        all
    }
}

/// Holds the log back as long as it lives.
pub(crate) struct Pin<U> {
    /// Not the table itself: a branch that is ending keeps one, and the table keeps the branch.
    units: Weak<Table<U>>,
    place: Place,
}

impl<U> Drop for Pin<U> {
    fn drop(&mut self) {
        // Without a table nothing is checkpointed any more.
        if let Some(units) = self.units.upgrade() {
            units.at(self.place).lock().give_back(self.place.slot);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::unit::Units;

    #[test]
    fn a_place_is_used_again_and_nothing_stays_behind() {
        let units = Units::default();
        for round in 0..3 {
            let begun: Vec<_> = (0..100)
                .map(|session| units.begin(session, (1 + session, 0), None))
                .collect();
            assert_eq!(units.all().len(), 100);
            assert_eq!(units.look().0, None, "none has a record");
            for unit in &begun {
                units.remove(unit.place);
            }
            assert!(units.all().is_empty(), "{round}");
        }
        let slots = units.shards.iter().map(|shard| shard.0.lock().slots.len());
        assert_eq!(slots.sum::<usize>(), 100);
    }
}
