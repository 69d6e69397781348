//! A lane: one thread that owns connections and runs them.
//!
//! A turn of its loop accepts, takes what is ready (sockets, what was woken, timers), reads each connection once into the lane's
//! buffer and runs it; runs those of its own connections that this has woken; and then writes each once. What they have
//! left to the end of the turn (the log is told of their commits) is done once for all of them.
//!
//! Invariants: a connection belongs to one lane and is touched by its thread only; a connection is read at most once in
//! a turn, so that none keeps the others waiting; time is read once in a turn; a waker names (slot, generation, part),
//! and one of a connection that is gone wakes nobody.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mio::{Events, Interest, Poll};
use posthaste_env::{Clock, Nanos, Turns};

use crate::accepting::{Door, Doors};
use crate::inbound::{Inbound, ReadBuffer};
use crate::protocol::{Next, Protocol};
use crate::stream::Stream;
use crate::tally::{LaneCounts, Tally};
use crate::wake::{ConnectionWakers, LaneWaker, Mailbox, Running, Token};

/// Sockets that are looked at in one turn.
const EVENTS: usize = 128;
/// The token of the lane's bell.
const BELL: mio::Token = mio::Token(usize::MAX);

/// Makes the connection that serves a socket, on the lane that it will belong to.
pub type Begin = Box<dyn FnOnce(ConnectionWakers, Nanos) -> Box<dyn Protocol> + Send>;

/// What other threads hand to a lane.
pub(crate) enum Arrival {
    /// A socket, and what serves it.
    Connection(Stream, Begin),
    /// A listener to accept from, unless it is closed by now.
    Door(Weak<Door>),
    /// No more is accepted from there.
    Shut(u64),
    /// All connections are dropped, and the lane ends.
    End,
}

impl LaneWaker for mio::Waker {
    fn ring(&self) {
        // An eventfd that cannot be written is full, and then the lane is awake.
        let _ = self.wake();
    }
}

/// What others know of a lane.
pub(crate) struct Shared {
    pub(crate) mailbox: Arc<Mailbox<Arrival>>,
    /// Connections it has, or that are on their way to it.
    pub(crate) connections: AtomicUsize,
    /// When its present turn began; 0 while it sleeps.
    pub(crate) turn_began: AtomicU64,
    pub(crate) tally: Tally,
}

impl Shared {
    /// How long its present turn has taken.
    pub(crate) fn in_turn_for(&self, now: Nanos) -> Nanos {
        match self.turn_began.load(Ordering::Relaxed) {
            0 => 0,
            began => now.saturating_sub(began),
        }
    }
}

struct Entry {
    // Dropped first: whoever finds the socket closed finds the connection's place free.
    protocol: Box<dyn Protocol>,
    stream: Stream,
    inbound: Inbound,
    /// Something may be there to be read.
    readable: bool,
    /// The peer has closed its side: what is there, and then the end, is read without being told again.
    read_closed: bool,
    /// The protocol takes input.
    wants: bool,
    /// Nothing has come so far.
    begins: bool,
    /// It was read in this turn.
    has_read: bool,
    /// The peer took less than there was at the last write.
    full: bool,
    /// The system tells when output can be written.
    blocked: bool,
    /// It is among those that are to be served in this turn.
    due: bool,
    /// It is among those that were.
    touched: bool,
    /// The peer has been told that no more comes.
    shut: bool,
    /// When it wants to be run at the latest.
    at: Option<Nanos>,
    /// The earliest time at which the lane looks at it.
    armed: Option<Nanos>,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    entry: Option<Box<Entry>>,
}

/// A lane, on its own thread.
pub(crate) struct Lane {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    poll: Poll,
    slots: Vec<Slot>,
    free: Vec<u32>,
    buffer: ReadBuffer,
    timers: BinaryHeap<Reverse<(Nanos, u32, u32)>>,
    /// Those that are to be served in this turn.
    due: Vec<u32>,
    /// Those that were, and are to be written.
    touched: Vec<u32>,
    /// Those that have more to read than was read in this turn.
    again: Vec<u32>,
    woken: Vec<Token>,
    /// Where it accepts from.
    doors: Doors,
    counts: LaneCounts,
    ending: bool,
}

impl Lane {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> io::Result<Lane> {
        let poll = Poll::new()?;
        let bell = mio::Waker::new(poll.registry(), BELL)?;
        let shared = Shared {
            mailbox: Arc::new(Mailbox::new(Box::new(bell))),
            connections: AtomicUsize::new(0),
            turn_began: AtomicU64::new(0),
            tally: Tally::default(),
        };
        Ok(Lane {
            shared: Arc::new(shared),
            clock,
            poll,
            slots: Vec::new(),
            free: Vec::new(),
            buffer: ReadBuffer::new(),
            timers: BinaryHeap::new(),
            due: Vec::new(),
            touched: Vec::new(),
            again: Vec::new(),
            woken: Vec::new(),
            doors: Doors::default(),
            counts: LaneCounts::default(),
            ending: false,
        })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Runs until it is told to end.
    ///
    /// # Errors
    /// The system does not tell what is ready.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mailbox = Arc::clone(&self.shared.mailbox);
        let running = Running::new(&mailbox);
        let turns = Turns::new();
        let mut events = Events::with_capacity(EVENTS);
        let mut arrived = Vec::new();
        let mut now = self.clock.monotonic();
        while !self.ending {
            self.forget_timers();
            let timeout = self.timeout(now, running.has_woken());
            self.shared.turn_began.store(0, Ordering::Relaxed);
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => events.clear(),
                other => other?,
            }
            now = self.clock.monotonic();
            self.shared.turn_began.store(now.max(1), Ordering::Relaxed);
            self.doors.accept(self.poll.registry(), &events, now);
            mailbox.collect(&mut self.woken, &mut arrived);
            for arrival in arrived.drain(..) {
                match arrival {
                    Arrival::Connection(stream, begin) => self.begin(stream, begin, now),
                    Arrival::Door(door) => self.open(&door, now),
                    Arrival::Shut(token) => self.doors.close(self.poll.registry(), token),
                    Arrival::End => self.ending = true,
                }
            }
            self.turn(&running, &turns, &events, now);
        }
        Ok(())
    }

    /// Forgets the next timers if they are of connections that are gone: the lane is not woken for them.
    fn forget_timers(&mut self) {
        while let Some(Reverse((_, slot, generation))) = self.timers.peek()
            && let place = self.slots.get(*slot as usize)
            && place.is_none_or(|place| place.generation != *generation)
        {
            self.timers.pop();
        }
    }

    /// How long the lane may sleep.
    fn timeout(&self, now: Nanos, woken: bool) -> Option<Duration> {
        if woken || !self.again.is_empty() || !self.shared.mailbox.sleep() {
            return Some(Duration::ZERO);
        }
        let timer = self.timers.peek().map(|Reverse((at, _, _))| *at);
        let at = timer.into_iter().chain(self.doors.next()).min()?;
        Some(Duration::from_nanos(at.saturating_sub(now)))
    }

    fn open(&mut self, door: &Weak<Door>, now: Nanos) {
        if let Some(door) = door.upgrade() {
            self.doors.open(self.poll.registry(), door, now);
        }
    }

    fn turn(&mut self, running: &Running, turns: &Turns, events: &Events, now: Nanos) {
        let mut again = std::mem::take(&mut self.again);
        again.drain(..).for_each(|slot| self.mark(slot));
        self.again = again;
        running.take(&mut self.woken);
        for event in events.iter().filter(|event| event.token() != BELL) {
            let slot = u32::try_from(event.token().0).unwrap_or(u32::MAX);
            if let Some(entry) = self.entry(slot) {
                let closed = event.is_read_closed() || event.is_error();
                entry.read_closed |= closed;
                entry.readable |= closed || event.is_readable();
                self.mark(slot);
            }
        }
        self.ring_timers(now);
        self.tell_woken();
        let lone = self.round(running, turns, now);
        // Whoever is alone may have work done on this thread: not before its peer has its answers.
        turns.end(lone && self.again.is_empty());
        if running.take(&mut self.woken) {
            // That work was done, and nobody sleeps between it and what waited for it.
            self.tell_woken();
            self.round(running, turns, now);
            turns.end(false);
        }
        self.counts.turns += 1;
        self.shared.tally.publish(&self.counts);
    }

    /// Runs what is to be served, and what this wakes here, and then writes each connection once; whether it was one
    /// only.
    fn round(&mut self, running: &Running, turns: &Turns, now: Nanos) -> bool {
        while !self.due.is_empty() {
            let mut due = std::mem::take(&mut self.due);
            due.drain(..).for_each(|slot| self.serve(slot, now));
            self.due = due;
            // What they have woken on this lane runs before anything is written.
            running.take(&mut self.woken);
            self.tell_woken();
        }
        let mut touched = std::mem::take(&mut self.touched);
        let lone = touched.len() == 1;
        if !lone {
            // Others work while what they answered is written.
            turns.end(false);
        }
        touched.drain(..).for_each(|slot| self.settle(slot, now));
        self.touched = touched;
        lone
    }

    fn entry(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.entry.as_deref_mut()
    }

    /// Puts a connection among those that are served in this turn.
    fn mark(&mut self, slot: u32) {
        if let Some(entry) = self.entry(slot)
            && !std::mem::replace(&mut entry.due, true)
        {
            self.due.push(slot);
        }
    }

    /// Tells connections which of their parts were woken; they are served in this turn, perhaps once more.
    fn tell_woken(&mut self) {
        let mut woken = std::mem::take(&mut self.woken);
        self.counts.wakes += woken.len() as u64;
        for token in woken.drain(..) {
            let Some(slot) = self.slots.get_mut(token.slot as usize) else {
                continue;
            };
            let Some(entry) = slot.entry.as_deref_mut() else {
                continue;
            };
            if slot.generation == token.generation {
                entry.protocol.woken(token.which);
                if !std::mem::replace(&mut entry.due, true) {
                    self.due.push(token.slot);
                }
            }
        }
        self.woken = woken;
    }

    fn ring_timers(&mut self, now: Nanos) {
        while let Some(Reverse((at, slot, generation))) = self.timers.peek().copied()
            && at <= now
        {
            self.timers.pop();
            let Some(place) = self.slots.get_mut(slot as usize) else {
                continue;
            };
            let of_this = place.generation == generation;
            let Some(entry) = place.entry.as_deref_mut().filter(|_| of_this) else {
                continue;
            };
            if entry.armed == Some(at) {
                entry.armed = None;
                match entry.at {
                    Some(wanted) if wanted <= now => self.mark(slot),
                    Some(wanted) => self.arm(slot, wanted),
                    None => {}
                }
            }
        }
    }

    /// Has the lane look at a connection at this time, unless it does earlier anyway.
    fn arm(&mut self, slot: u32, at: Nanos) {
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let generation = place.generation;
        if let Some(entry) = place.entry.as_deref_mut()
            && entry.armed.is_none_or(|armed| at < armed)
        {
            entry.armed = Some(at);
            self.timers.push(Reverse((at, slot, generation)));
        }
    }

    /// Reads once, and runs.
    fn serve(&mut self, slot: u32, now: Nanos) {
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let Some(entry) = place.entry.as_deref_mut() else {
            return;
        };
        let mut begun = false;
        entry.due = false;
        if entry.readable && entry.wants && !entry.has_read {
            entry.has_read = true;
            let length = entry.read(&mut self.buffer);
            self.counts.bytes_read += length as u64;
            begun = length > 0 && std::mem::take(&mut entry.begins);
        }
        self.counts.runs += 1;
        entry.protocol.run(now);
        if !std::mem::replace(&mut entry.touched, true) {
            self.touched.push(slot);
        }
        if begun {
            place.entry = place.entry.take().map(|entry| Box::new(entry.shed()));
        }
    }

    /// Writes once what the turn has brought, and sees to what the connection wants next.
    fn settle(&mut self, slot: u32, now: Nanos) {
        let place = self.slots.get_mut(slot as usize);
        let Some(entry) = place.and_then(|place| place.entry.as_deref_mut()) else {
            return;
        };
        entry.touched = false;
        entry.has_read = false;
        let at = loop {
            self.counts.bytes_written += entry.write() as u64;
            match entry.protocol.next(now) {
                Next::Over => return self.remove(slot),
                Next::Again => entry.protocol.run(now),
                Next::Settle => {
                    entry.wants = false;
                    break None;
                }
                Next::Wait { read, at } => {
                    entry.wants = read;
                    break at;
                }
                Next::Close { at } => {
                    entry.shut_when_written();
                    entry.wants = entry.shut;
                    break Some(at);
                }
            }
        };
        entry.at = at;
        let more = entry.readable && entry.wants;
        let blocked = entry.full;
        if blocked != entry.blocked {
            self.tell_when_writable(slot, blocked);
        }
        if more {
            self.again.push(slot);
        }
        if let Some(at) = at {
            self.arm(slot, at);
        }
    }

    /// Asks the system, or asks it no longer, to tell when output can be written.
    fn tell_when_writable(&mut self, slot: u32, blocked: bool) {
        let place = self.slots.get_mut(slot as usize);
        let Some(entry) = place.and_then(|place| place.entry.as_deref_mut()) else {
            return;
        };
        entry.blocked = blocked;
        let interest = match blocked {
            true => Interest::READABLE | Interest::WRITABLE,
            false => Interest::READABLE,
        };
        let token = mio::Token(slot as usize);
        let asked = self
            .poll
            .registry()
            .reregister(&mut entry.stream, token, interest);
        if let Err(error) = asked {
            entry.protocol.lost(Some(error.kind()));
            self.again.push(slot);
        }
    }

    fn begin(&mut self, mut stream: Stream, begin: Begin, now: Nanos) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let token = mio::Token(slot as usize);
        let registered = self
            .poll
            .registry()
            .register(&mut stream, token, Interest::READABLE);
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        let wakers = ConnectionWakers::new(&self.shared.mailbox, slot, place.generation);
        let mut protocol = begin(wakers, now);
        if let Err(error) = registered {
            protocol.lost(Some(error.kind()));
        }
        place.entry = Some(Box::new(Entry::new(stream, protocol)));
        self.mark(slot);
    }

    /// Closes a connection; its slot is for another, under another generation.
    fn remove(&mut self, slot: u32) {
        let Some(place) = self.slots.get_mut(slot as usize) else {
            return;
        };
        if let Some(mut entry) = place.entry.take() {
            // Closing it would do the same.
            let _ = self.poll.registry().deregister(&mut entry.stream);
            place.generation = place.generation.wrapping_add(1);
            self.free.push(slot);
            self.shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Entry {
    fn new(stream: Stream, protocol: Box<dyn Protocol>) -> Entry {
        Entry {
            protocol,
            stream,
            inbound: Inbound::default(),
            // What came before it was registered is found by looking.
            readable: true,
            read_closed: false,
            wants: true,
            begins: true,
            has_read: false,
            full: false,
            blocked: false,
            due: false,
            touched: false,
            shut: false,
            at: None,
            armed: None,
        }
    }

    /// Its protocol without what has turned out not to be needed.
    fn shed(self) -> Entry {
        let protocol = self.protocol.shed();
        Entry { protocol, ..self }
    }

    /// Gives how many bytes it has read.
    fn read(&mut self, buffer: &mut ReadBuffer) -> usize {
        match self.stream.read(&mut buffer.bytes) {
            Ok(0) => self.lost(None),
            Ok(length) => {
                // What comes after a read that took all there was is told; the end that was told already is not.
                self.readable = length == buffer.bytes.len() || self.read_closed;
                self.inbound.hand_to(&mut *self.protocol, buffer, length);
                return length;
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => self.readable = false,
                io::ErrorKind::Interrupted => {}
                kind => self.lost(Some(kind)),
            },
        }
        0
    }

    fn lost(&mut self, error: Option<io::ErrorKind>) {
        self.readable = false;
        self.protocol.lost(error);
    }

    /// Writes what waits, or as much of it as the peer takes; gives how many bytes that were.
    fn write(&mut self) -> usize {
        self.full = false;
        let mut bytes = 0;
        let mut failed = None;
        let mut output = self.protocol.output().borrow_mut();
        while output.waiting() > 0 {
            match self.stream.write(output.unwritten()) {
                Ok(0) => failed = Some(io::ErrorKind::WriteZero),
                Ok(written) => {
                    output.wrote(written);
                    bytes += written;
                    continue;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.full = true,
                    io::ErrorKind::Interrupted => continue,
                    kind => failed = Some(kind),
                },
            }
            break;
        }
        drop(output);
        if let Some(error) = failed {
            self.protocol.lost(Some(error));
        }
        bytes
    }

    fn shut_when_written(&mut self) {
        if !self.shut && self.protocol.output().borrow().waiting() == 0 {
            self.shut = true;
            // Whom it does not reach finds the connection closed.
            let _ = self.stream.shut_down();
        }
    }
}
