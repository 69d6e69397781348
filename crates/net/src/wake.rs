//! Waking parts of connections: what a waker names is (lane, slot, generation, part).
//!
//! Invariants: what was woken is found by its lane before the lane sleeps; a lane that is awake is not woken again. A
//! wake-up from the lane's own thread is a push to a list of that thread: no lock, no system call. One from another
//! thread goes through the lane's mailbox, and rings only if the lane sleeps. Many wake-ups that one event causes (a log
//! write that many waited for) are handed over together ([`together`]): one lock and at most one ring for each lane.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::{Wake, Waker};

use parking_lot::Mutex;

/// What is woken: a part of the connection in a slot, if the slot is still in that generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    pub(crate) which: u32,
}

/// What wakes a sleeping lane.
pub(crate) trait LaneWaker: Send + Sync {
    fn ring(&self);
}

struct State<T> {
    woken: Vec<Token>,
    /// Handed over from other threads.
    arrived: Vec<T>,
    asleep: bool,
}

/// Where other threads leave what is for a lane. `T` is what they hand over beside wake-ups.
pub(crate) struct Mailbox<T> {
    state: Mutex<State<T>>,
    bell: Box<dyn LaneWaker>,
}

/// A mailbox for wake-ups, whatever else it takes.
trait Post: Send + Sync {
    fn post(&self, tokens: &mut dyn Iterator<Item = Token>);
}

impl<T: Send> Mailbox<T> {
    pub(crate) fn new(bell: Box<dyn LaneWaker>) -> Mailbox<T> {
        let state = State {
            woken: Vec::new(),
            arrived: Vec::new(),
            asleep: false,
        };
        Mailbox {
            state: Mutex::new(state),
            bell,
        }
    }

    fn change(&self, change: impl FnOnce(&mut State<T>)) {
        let mut state = self.state.lock();
        change(&mut state);
        let asleep = std::mem::replace(&mut state.asleep, false);
        drop(state);
        if asleep {
            self.bell.ring();
        }
    }

    /// Whether the calling thread runs its lane.
    pub(crate) fn is_here(self: &Arc<Self>) -> bool {
        HERE.with(|here| here.mailbox.get() == Arc::as_ptr(self) as usize)
    }

    /// Hands something over.
    pub(crate) fn hand_over(&self, what: T) {
        self.change(|state| state.arrived.push(what));
    }

    /// The lane is awake: takes what is there into its lists.
    pub(crate) fn collect(&self, woken: &mut Vec<Token>, arrived: &mut Vec<T>) {
        let mut state = self.state.lock();
        state.asleep = false;
        woken.append(&mut state.woken);
        arrived.append(&mut state.arrived);
    }

    /// The lane is about to sleep; false if it may not, because something is there.
    pub(crate) fn sleep(&self) -> bool {
        let mut state = self.state.lock();
        state.asleep = state.woken.is_empty() && state.arrived.is_empty();
        state.asleep
    }
}

impl<T: Send> Post for Mailbox<T> {
    fn post(&self, tokens: &mut dyn Iterator<Item = Token>) {
        self.change(|state| state.woken.extend(tokens));
    }
}

/// What a thread knows about the lane that it runs.
#[derive(Default)]
struct Here {
    /// The address of its mailbox; 0: it runs none now.
    mailbox: Cell<usize>,
    woken: RefCell<Vec<Token>>,
    /// Wake-ups are gathered for [`together`].
    gathering: Cell<bool>,
    gathered: RefCell<Vec<Arc<Alarm>>>,
}

thread_local! {
    static HERE: Here = Here::default();
}

/// While this lives, the calling thread runs the lane of a mailbox.
pub(crate) struct Running {
    before: usize,
}

impl Running {
    pub(crate) fn new<T>(mailbox: &Arc<Mailbox<T>>) -> Running {
        let id = Arc::as_ptr(mailbox) as usize;
        Running {
            before: HERE.with(|here| here.mailbox.replace(id)),
        }
    }

    /// Moves what this thread has woken to the end of `into`; false if that is nothing.
    pub(crate) fn take(&self, into: &mut Vec<Token>) -> bool {
        HERE.with(|here| {
            let mut woken = here.woken.borrow_mut();
            into.append(&mut woken);
        });
        !into.is_empty()
    }

    /// Whether this thread has woken something that was not taken.
    pub(crate) fn has_woken(&self) -> bool {
        HERE.with(|here| !here.woken.borrow().is_empty())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A thread that is going has no lane to go back to.
        let _ = HERE.try_with(|here| {
            // What is left was woken by connections that are over.
            here.woken.borrow_mut().clear();
            here.mailbox.set(self.before);
        });
    }
}

/// Wakes parts of one connection.
#[derive(Clone)]
pub struct ConnectionWakers {
    mailbox: Arc<dyn Post>,
    id: usize,
    slot: u32,
    generation: u32,
}

impl ConnectionWakers {
    pub(crate) fn new<T: Send + 'static>(
        mailbox: &Arc<Mailbox<T>>,
        slot: u32,
        generation: u32,
    ) -> ConnectionWakers {
        let id = Arc::as_ptr(mailbox) as usize;
        let mailbox: Arc<dyn Post> = Arc::clone(mailbox) as Arc<dyn Post>;
        ConnectionWakers {
            mailbox,
            id,
            slot,
            generation,
        }
    }

    /// A waker for one part, from any thread; the part may be anything that the connection knows by a number.
    pub fn waker(&self, which: u32) -> Waker {
        Waker::from(Arc::new(Alarm {
            mailbox: Arc::clone(&self.mailbox),
            id: self.id,
            token: Token {
                slot: self.slot,
                generation: self.generation,
                which,
            },
        }))
    }
}

struct Alarm {
    mailbox: Arc<dyn Post>,
    id: usize,
    token: Token,
}

/// What is left to do for a wake-up.
enum Left {
    Nothing,
    Gather,
    Post,
}

impl Alarm {
    fn wake_here(&self) -> Left {
        let left = HERE.try_with(|here| {
            if here.mailbox.get() == self.id {
                here.woken.borrow_mut().push(self.token);
                Left::Nothing
            } else if here.gathering.get() {
                Left::Gather
            } else {
                Left::Post
            }
        });
        left.unwrap_or(Left::Post)
    }

    fn post(&self) {
        self.mailbox.post(&mut std::iter::once(self.token));
    }
}

fn gather(alarm: Arc<Alarm>) {
    HERE.with(|here| here.gathered.borrow_mut().push(alarm));
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        match self.wake_here() {
            Left::Nothing => {}
            Left::Gather => gather(self),
            Left::Post => self.post(),
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match self.wake_here() {
            Left::Nothing => {}
            Left::Gather => gather(Arc::clone(self)),
            Left::Post => self.post(),
        }
    }
}

/// Runs `wake`, which wakes many; each lane is told once, when it is done.
pub fn together(wake: impl FnOnce()) {
    let outermost = HERE.with(|here| !here.gathering.replace(true));
    wake();
    if !outermost {
        return;
    }
    let mut gathered = HERE.with(|here| {
        here.gathering.set(false);
        here.gathered.take()
    });
    while let Some(first) = gathered.first().map(Arc::clone) {
        let of_lane = |alarm: &Arc<Alarm>| alarm.id == first.id;
        let mut tokens = gathered.iter().filter(|a| of_lane(a)).map(|a| a.token);
        first.mailbox.post(&mut tokens);
        gathered.retain(|alarm| !of_lane(alarm));
    }
    // Its room is for the next time.
    HERE.with(|here| here.gathered.replace(gathered));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Rings(Arc<AtomicUsize>);

    impl LaneWaker for Rings {
        fn ring(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn mailbox() -> (Arc<Mailbox<u8>>, Arc<AtomicUsize>) {
        let rings = Rings::default();
        let count = Arc::clone(&rings.0);
        (Arc::new(Mailbox::new(Box::new(rings))), count)
    }

    fn woken(mailbox: &Mailbox<u8>) -> Vec<u32> {
        let (mut woken, mut arrived) = (Vec::new(), Vec::new());
        mailbox.collect(&mut woken, &mut arrived);
        woken.iter().map(|token| token.which).collect()
    }

    #[test]
    fn the_lanes_own_thread_needs_no_mailbox() {
        let (mailbox, rings) = mailbox();
        let waker = ConnectionWakers::new(&mailbox, 1, 2).waker(3);
        assert!(mailbox.sleep());
        let running = Running::new(&mailbox);
        waker.wake_by_ref();
        waker.wake();
        let mut here = Vec::new();
        assert!(running.take(&mut here));
        let token = Token {
            slot: 1,
            generation: 2,
            which: 3,
        };
        assert_eq!(here, [token, token]);
        assert!(!running.has_woken());
        assert_eq!(
            (woken(&mailbox), rings.load(Ordering::Relaxed)),
            (vec![], 0)
        );
    }

    #[test]
    fn another_thread_rings_once_and_only_for_a_sleeper() {
        let (mailbox, rings) = mailbox();
        let wakers = ConnectionWakers::new(&mailbox, 0, 0);
        wakers.waker(1).wake();
        assert_eq!(rings.load(Ordering::Relaxed), 0, "the lane is awake");
        assert!(!mailbox.sleep(), "something is there");
        assert_eq!(woken(&mailbox), [1]);
        assert!(mailbox.sleep());
        wakers.waker(2).wake();
        mailbox.hand_over(7);
        assert_eq!(rings.load(Ordering::Relaxed), 1);
        assert_eq!(woken(&mailbox), [2]);
    }

    #[test]
    fn what_is_woken_together_is_told_each_lane_once() {
        let lanes = [mailbox(), mailbox(), mailbox()];
        lanes
            .iter()
            .for_each(|(mailbox, _)| assert!(mailbox.sleep()));
        // This thread runs the first of them.
        let running = Running::new(&lanes[0].0);
        together(|| {
            for which in 0..6 {
                let (mailbox, _) = &lanes[which as usize % 3];
                ConnectionWakers::new(mailbox, 0, 0).waker(which).wake();
            }
            let rung = lanes.iter().map(|(_, rings)| rings.load(Ordering::Relaxed));
            assert_eq!(rung.sum::<usize>(), 0, "nobody is told yet");
        });
        let rings = lanes
            .each_ref()
            .map(|(_, rings)| rings.load(Ordering::Relaxed));
        assert_eq!(rings, [0, 1, 1]);
        assert!(running.has_woken());
        assert_eq!(woken(&lanes[1].0), [1, 4]);
        assert_eq!(woken(&lanes[2].0), [2, 5]);
        ConnectionWakers::new(&lanes[1].0, 0, 0).waker(9).wake();
        assert_eq!(woken(&lanes[1].0), [9], "afterwards it is as before");
    }
}
