//! Waiting for the log: committers that wait for an LSN to be forced, appenders that wait for room.
//!
//! A waiting committer sits in one of these lists: `gathering` (its LSN is not in any write yet), the list
//! of the flight that carries it, or `released` (forced; its waker has not been called yet). Lists are
//! chains through one slab, so a commit allocates nothing once the slab has grown to the number of
//! committers, and a whole list changes hands in one step.
//!
//! Invariants:
//! * Everything here changes under one lock. The forced LSN is published under it before lists are
//!   released, and a committer looks at the forced LSN under it before it lists itself, so no wake is missed.
//! * A ticket names its slot with a stamp; a slot that has been used again is not touched by an old ticket.
//! * A future that is dropped takes its waker out; its slot goes round with its list.
//! * Wakers are called outside the lock.
//! * A committer on a thread that serves many is in `gathering` at once, and is *ripe* when that thread's turn ends: only
//!   then does the writer look after it, so that all commits of a turn go into one write. Whoever is not ripe has a
//!   turn that will end.
//! * `parked` means that the driver waits for a signal. Whoever gives it work clears `parked` under the lock
//!   and signals once. `nudged` keeps a nudge that comes while the writer is still deciding.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use posthaste_env::{EndOfTurn, at_end_of_turn, excused, serves_many};

use crate::log::Shared;
use crate::{LogError, Lsn};

const NIL: u32 = u32::MAX;

/// Proof that the log is forced up to an LSN. Only the log makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forced {
    upto: u64,
}

impl Forced {
    pub(crate) fn new(upto: u64) -> Self {
        Self { upto }
    }

    /// Whether everything before `lsn` (a record's end) is forced.
    pub fn covers(&self, lsn: Lsn) -> bool {
        self.upto >= lsn.0
    }
}

struct Slot {
    upto: u64,
    waker: Option<Waker>,
    next: u32,
    stamp: u32,
}

/// A chain of slots.
#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
    count: usize,
    /// Highest LSN waited for.
    highest: u64,
}

impl List {
    const EMPTY: List = List {
        head: NIL,
        tail: NIL,
        count: 0,
        highest: 0,
    };
}

/// Names a slot as long as the committer is listed.
#[derive(Clone, Copy)]
struct Ticket {
    slot: u32,
    stamp: u32,
}

/// What is left to do for a committer that was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    Nothing,
    /// The driver has to be signalled.
    Signal,
    /// It has to ripen.
    Unripe,
}

/// All who wait, and whether the driver does.
pub(crate) struct Waiters {
    slots: Vec<Slot>,
    vacant: u32,
    gathering: List,
    /// Those of them whom the writer looks after; a few too many may be counted, never too few.
    ripe: usize,
    flights: VecDeque<(u64, List)>,
    released: List,
    rooms: Vec<(u64, Waker)>,
    next_room: u64,
    parked: bool,
    nudged: bool,
    wake_at: usize,
    /// Empty vector that is kept for its memory.
    scratch: Vec<Waker>,
}

impl Waiters {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            vacant: NIL,
            gathering: List::EMPTY,
            ripe: 0,
            flights: VecDeque::new(),
            released: List::EMPTY,
            rooms: Vec::new(),
            next_room: 0,
            parked: false,
            nudged: false,
            wake_at: 0,
            scratch: Vec::new(),
        }
    }

    /// Committers whose LSN is in no write yet.
    pub(crate) fn gathered(&self) -> usize {
        self.gathering.count
    }

    /// Those of them whom the writer is to look after now.
    pub(crate) fn ripe(&self) -> usize {
        self.ripe
    }

    fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        self.slots.get_mut(index as usize)
    }

    fn push(&mut self, list: &mut List, index: u32) {
        let Some(slot) = self.slot(index) else {
            return;
        };
        slot.next = NIL;
        list.highest = list.highest.max(slot.upto);
        list.count += 1;
        if list.tail == NIL {
            list.head = index;
        } else if let Some(last) = self.slot(list.tail) {
            last.next = index;
        }
        list.tail = index;
    }

    fn join(&mut self, front: &mut List, back: List) {
        if back.head == NIL {
            return;
        }
        if front.tail == NIL {
            *front = back;
            return;
        }
        if let Some(last) = self.slot(front.tail) {
            last.next = back.head;
        }
        front.tail = back.tail;
        front.count += back.count;
        front.highest = front.highest.max(back.highest);
    }

    /// Lists a committer. `later`: it ripens when the turn of its thread ends.
    fn register(&mut self, upto: u64, waker: &Waker, later: bool) -> (Ticket, Listed) {
        let index = if self.vacant == NIL {
            self.slots.push(Slot {
                upto,
                waker: Some(waker.clone()),
                next: NIL,
                stamp: 0,
            });
            // A committer is a connection: far fewer than 4 billion.
            (self.slots.len() - 1) as u32
        } else {
            self.vacant
        };
        let (stamp, next) = match self.slot(index) {
            Some(slot) => {
                slot.upto = upto;
                slot.waker = Some(waker.clone());
                (slot.stamp, slot.next)
            }
            None => (0, NIL),
        };
        if index == self.vacant {
            self.vacant = next;
        }
        let mut listed = Listed::Nothing;
        if let Some(at) = self.flights.iter().position(|(end, _)| *end >= upto) {
            let mut list = self.flights[at].1;
            self.push(&mut list, index);
            self.flights[at].1 = list;
        } else {
            let mut list = self.gathering;
            self.push(&mut list, index);
            self.gathering = list;
            if later {
                listed = Listed::Unripe;
            } else if self.ripen(1) {
                listed = Listed::Signal;
            }
        }
        (Ticket { slot: index, stamp }, listed)
    }

    /// So many of those who gather are ripe now. `true`: the driver has to be signalled.
    fn ripen(&mut self, count: usize) -> bool {
        // Some may have left with a write meanwhile.
        self.ripe = (self.ripe + count).min(self.gathering.count);
        if self.ripe < self.wake_at {
            return false;
        }
        std::mem::take(&mut self.parked)
    }

    /// The waker of a listed committer; `None` if it is not listed any more.
    fn waker(&mut self, ticket: Ticket) -> Option<&mut Option<Waker>> {
        let slot = self.slot(ticket.slot)?;
        (slot.stamp == ticket.stamp).then_some(&mut slot.waker)
    }

    /// A write of everything before `end` has been taken; gives the number of committers it carries.
    pub(crate) fn fly(&mut self, end: u64) -> usize {
        let mut all = std::mem::replace(&mut self.gathering, List::EMPTY);
        let mut carried = List::EMPTY;
        if all.highest <= end {
            carried = all;
        } else {
            let mut kept = List::EMPTY;
            while all.head != NIL {
                let index = all.head;
                let Some(slot) = self.slot(index) else {
                    break;
                };
                all.head = slot.next;
                let covered = slot.upto <= end;
                self.push(if covered { &mut carried } else { &mut kept }, index);
            }
            self.gathering = kept;
        }
        self.ripe = self.gathering.count;
        self.flights.push_back((end, carried));
        carried.count
    }

    /// The oldest flight has ended and is forced; gives the number of committers released.
    pub(crate) fn land(&mut self) -> usize {
        let Some((_, list)) = self.flights.pop_front() else {
            return 0;
        };
        self.release(list);
        list.count
    }

    fn release(&mut self, list: List) {
        let mut released = self.released;
        self.join(&mut released, list);
        self.released = released;
    }

    /// Releases everybody: the log has stopped.
    pub(crate) fn release_all(&mut self) {
        while !self.flights.is_empty() {
            self.land();
        }
        self.release_gathering();
    }

    /// Has those look again whose LSN is in no write yet.
    pub(crate) fn release_gathering(&mut self) {
        let all = std::mem::replace(&mut self.gathering, List::EMPTY);
        self.ripe = 0;
        self.release(all);
    }

    pub(crate) fn has_released(&self) -> bool {
        self.released.head != NIL
    }

    /// Takes the wakers of all released committers.
    pub(crate) fn take_released(&mut self) -> Vec<Waker> {
        let mut wakers = std::mem::take(&mut self.scratch);
        let list = std::mem::replace(&mut self.released, List::EMPTY);
        let vacant = self.vacant;
        let mut index = list.head;
        while let Some(slot) = self.slot(index) {
            wakers.extend(slot.waker.take());
            slot.stamp = slot.stamp.wrapping_add(1);
            let next = slot.next;
            if next == NIL {
                slot.next = vacant;
                self.vacant = list.head;
                break;
            }
            index = next;
        }
        wakers
    }

    /// Gives an emptied vector back for its memory.
    pub(crate) fn keep(&mut self, scratch: Vec<Waker>) {
        if scratch.capacity() > self.scratch.capacity() {
            self.scratch = scratch;
        }
    }

    pub(crate) fn take_rooms(&mut self) -> Vec<(u64, Waker)> {
        std::mem::take(&mut self.rooms)
    }

    /// The writer begins to decide: from here on a nudge is remembered.
    pub(crate) fn attend(&mut self) {
        self.parked = false;
        self.nudged = false;
    }

    /// The writer has nothing to do until it is nudged or `wake_at` committers gather. `false`: it has been
    /// nudged while it decided and must look again.
    pub(crate) fn park(&mut self, wake_at: usize) -> bool {
        if self.nudged {
            return false;
        }
        self.parked = true;
        self.wake_at = wake_at;
        true
    }

    /// There may be something to do. `true`: the driver has to be signalled.
    pub(crate) fn nudge(&mut self) -> bool {
        self.nudged = true;
        std::mem::take(&mut self.parked)
    }
}

/// Waits until the log is forced up to an LSN. May be dropped at any time.
#[must_use = "a force does nothing until it is awaited"]
pub struct Force {
    shared: Arc<Shared>,
    upto: u64,
    ticket: Option<Ticket>,
}

impl Force {
    pub(crate) fn new(shared: Arc<Shared>, upto: Lsn) -> Self {
        Self {
            shared,
            upto: upto.0,
            ticket: None,
        }
    }

    fn outcome(&self) -> Option<Result<Forced, LogError>> {
        let forced = self.shared.forced();
        if forced >= self.upto {
            return Some(Ok(Forced::new(forced)));
        }
        if let Some(error) = self.shared.stopped() {
            return Some(Err(error));
        }
        // Nothing will be appended any more that could reach this LSN.
        let unreachable = self.shared.is_closing() && self.upto > self.shared.placed();
        unreachable.then(|| Err(LogError::Stopped("it was shut down".into())))
    }
}

impl Force {
    /// Writes on this thread, if the driver lets it. `false`: it has not; the waker is listed in any case.
    fn write_alone(&self) -> bool {
        // While it writes itself nobody need wake it.
        let listed = |shared: &Shared, waker: Option<Waker>| {
            let mut waiters = shared.waiters.lock();
            match self.ticket.and_then(|ticket| waiters.waker(ticket)) {
                Some(listed) => std::mem::replace(listed, waker),
                None => waker,
            }
        };
        let waker = listed(&self.shared, None);
        let wrote = self.shared.write_here();
        if wrote && self.shared.forced() >= self.upto {
            return true;
        }
        if let Some(released) = listed(&self.shared, waker) {
            // Released meanwhile without having been woken.
            released.wake();
        }
        wrote
    }
}

/// The commits of a thread's turn: one signal for all of them. Where there was one only, and the thread has nobody else
/// to serve, it may write itself.
impl EndOfTurn for Shared {
    fn turn_ended(&self, left: usize, lone: bool) {
        let (signal, one) = {
            let mut waiters = self.waiters.lock();
            (waiters.ripen(left), waiters.gathered() == 1)
        };
        if signal && !(lone && one && excused(|| self.write_here())) {
            self.signal();
        }
    }
}

impl Future for Force {
    type Output = Result<Forced, LogError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(outcome) = this.outcome() {
            // If it is still listed, its waker is called for nothing, once.
            this.ticket = None;
            return Poll::Ready(outcome);
        }
        let mut waiters = this.shared.waiters.lock();
        if let Some(outcome) = this.outcome() {
            this.ticket = None;
            return Poll::Ready(outcome);
        }
        if let Some(listed) = this.ticket.and_then(|ticket| waiters.waker(ticket)) {
            if !listed.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                *listed = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let (ticket, listed) = waiters.register(this.upto, cx.waker(), serves_many());
        this.ticket = Some(ticket);
        let alone = waiters.gathered() == 1;
        drop(waiters);
        match listed {
            Listed::Nothing => {}
            Listed::Unripe => {
                at_end_of_turn(&this.shared);
            }
            Listed::Signal if alone && this.write_alone() => {
                if let Some(outcome) = this.outcome() {
                    this.ticket = None;
                    return Poll::Ready(outcome);
                }
            }
            Listed::Signal => this.shared.signal(),
        }
        Poll::Pending
    }
}

impl Drop for Force {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else {
            return;
        };
        let waker = self
            .shared
            .waiters
            .lock()
            .waker(ticket)
            .and_then(Option::take);
        // Dropping a waker may run the executor's code: not under the lock.
        drop(waker);
    }
}

/// Waits until less than `LogBufferPages` waits to be written. May be dropped at any time.
#[must_use = "waiting for room does nothing until it is awaited"]
pub struct Room {
    shared: Arc<Shared>,
    id: Option<u64>,
}

impl Room {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, id: None }
    }

    fn leave(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let mut waiters = self.shared.waiters.lock();
        let at = waiters.rooms.iter().position(|(other, _)| *other == id);
        let waker = at.map(|at| waiters.rooms.swap_remove(at));
        drop(waiters);
        drop(waker);
    }
}

impl Future for Room {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if !this.shared.has_room() {
            this.leave();
            let signal = {
                let mut waiters = this.shared.waiters.lock();
                let id = waiters.next_room;
                waiters.next_room += 1;
                waiters.rooms.push((id, cx.waker().clone()));
                this.id = Some(id);
                waiters.nudge()
            };
            if signal {
                this.shared.signal();
            }
            // Room may have been made just before this was listed.
            if !this.shared.has_room() {
                return Poll::Pending;
            }
        }
        this.leave();
        Poll::Ready(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_env::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn wake_all(waiters: &mut Waiters) -> usize {
        let mut wakers = waiters.take_released();
        let count = wakers.len();
        wakers.drain(..).for_each(Waker::wake);
        waiters.keep(wakers);
        count
    }

    #[test]
    fn a_flight_takes_those_it_covers_and_late_comers_join_it() {
        let mut waiters = Waiters::new();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        for upto in [100, 5000, 300, 9000] {
            waiters.register(upto, &waker, false);
        }
        assert_eq!(waiters.fly(4096), 2);
        assert_eq!((waiters.gathered(), waiters.ripe()), (2, 2));
        waiters.register(200, &waker, false);
        waiters.register(4097, &waker, false);
        assert_eq!(waiters.fly(12_288), 3);
        assert_eq!(waiters.land(), 3);
        assert_eq!(wake_all(&mut waiters), 3);
        assert_eq!(waiters.land(), 3);
        assert!(waiters.has_released());
        assert_eq!(wake_all(&mut waiters), 3);
        assert_eq!(count.0.load(Ordering::Relaxed), 6);
        assert!(!waiters.has_released());
    }

    #[test]
    fn slots_go_round_and_old_tickets_are_dead() {
        let mut waiters = Waiters::new();
        let waker = Waker::from(Arc::new(Count::default()));
        let mut old = Vec::new();
        for round in 1..=50_u64 {
            for _ in 0..7 {
                old.push(waiters.register(round * 4096, &waker, false).0);
            }
            waiters.fly(round * 4096);
            waiters.land();
            assert_eq!(wake_all(&mut waiters), 7);
        }
        assert_eq!(waiters.slots.len(), 7, "no more slots than waiters at once");
        let fresh = waiters.register(1 << 30, &waker, false).0;
        for ticket in old {
            assert!(waiters.waker(ticket).is_none());
        }
        assert!(waiters.waker(fresh).is_some());
    }

    #[test]
    fn release_all_leaves_nobody() {
        let mut waiters = Waiters::new();
        let waker = Waker::from(Arc::new(Count::default()));
        waiters.fly(4096);
        waiters.register(100, &waker, false);
        waiters.fly(8192);
        waiters.register(8000, &waker, false);
        waiters.register(9000, &waker, false);
        waiters.release_all();
        assert_eq!(wake_all(&mut waiters), 3);
        assert_eq!((waiters.gathered(), waiters.ripe()), (0, 0));
    }

    #[test]
    fn parking() {
        let mut waiters = Waiters::new();
        let waker = Waker::from(Arc::new(Count::default()));
        waiters.attend();
        assert!(!waiters.nudge(), "the writer is awake");
        assert!(!waiters.park(1), "and must look again");
        waiters.attend();
        assert!(waiters.park(2));
        let mut register = |upto, later| waiters.register(upto, &waker, later).1;
        assert_eq!(register(10, false), Listed::Nothing);
        assert_eq!(register(11, false), Listed::Signal, "the second one");
        assert_eq!(register(12, false), Listed::Nothing, "and only once");
    }

    #[test]
    fn commits_of_a_turn_ripen_together() {
        let mut waiters = Waiters::new();
        let waker = Waker::from(Arc::new(Count::default()));
        waiters.attend();
        assert!(waiters.park(1));
        for upto in 1..=5 {
            assert_eq!(waiters.register(upto, &waker, true).1, Listed::Unripe);
        }
        assert_eq!((waiters.gathered(), waiters.ripe()), (5, 0));
        // Another thread's commit has the writer look, and takes all along.
        assert_eq!(waiters.register(6, &waker, false).1, Listed::Signal);
        waiters.attend();
        assert_eq!(waiters.fly(6), 6);
        assert!(waiters.park(1));
        assert!(!waiters.ripen(5), "nobody is left of the turn");
        assert_eq!(waiters.register(7, &waker, true).1, Listed::Unripe);
        assert!(waiters.ripen(1), "the writer rests");
        assert_eq!(waiters.ripe(), 1);
    }
}
