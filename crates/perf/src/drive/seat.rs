//! An application's place in a loop, and what all places there share.
//!
//! Invariant: what was read into the buffer is looked at before the next application is served.

use std::cell::{Cell, RefCell, RefMut};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::AsFd;
use std::rc::Rc;

use rustix::event::epoll::EventFlags;

use super::carrier::{Called, Fault};
use super::event_loop::EventLoop;
use crate::measure::LabError;
use crate::workload::Nanos;

/// One read takes at most so much.
const BUFFER: usize = 512 * 1024;

/// What a loop and its applications share.
pub(crate) struct Shared {
    pub(super) events: EventLoop,
    /// What was read for the application that is served.
    buffer: RefCell<Vec<u8>>,
    /// The socket of the application that is served has something to read.
    pub(super) readable: Cell<bool>,
    /// When applications are to be served without their sockets.
    moments: RefCell<BinaryHeap<Reverse<(Nanos, usize)>>>,
    /// The time, as of the batch.
    pub(super) now: Cell<Nanos>,
    /// The application that came last is not ready yet.
    pub(super) opening: Cell<bool>,
}

impl Shared {
    pub(super) fn new(events: EventLoop) -> Rc<Shared> {
        Rc::new(Shared {
            events,
            buffer: RefCell::new(vec![0; BUFFER]),
            readable: Cell::new(false),
            moments: RefCell::default(),
            now: Cell::new(0),
            opening: Cell::new(false),
        })
    }

    /// The moment that comes first.
    pub(super) fn next_moment(&self) -> Option<Nanos> {
        Some(self.moments.borrow().peek()?.0.0)
    }

    /// Whose moment has come.
    pub(super) fn due(&self, now: Nanos) -> Option<usize> {
        let mut moments = self.moments.borrow_mut();
        let Reverse((until, number)) = *moments.peek()?;
        (until <= now).then(|| moments.pop()).map(|_| number)
    }

    pub(crate) fn buffer(&self) -> RefMut<'_, Vec<u8>> {
        self.buffer.borrow_mut()
    }
}

/// An application's place in a loop.
pub(crate) struct Seat {
    shared: Rc<Shared>,
    number: usize,
    /// Its socket is watched for room, too.
    watched: bool,
}

pub(super) fn epoll(error: std::io::Error) -> LabError {
    LabError::workload("epoll", error)
}

impl Seat {
    /// For the application of this number, whose socket is watched from now on.
    pub(super) fn new(shared: &Rc<Shared>, number: usize, socket: &dyn AsFd) -> Called<Seat> {
        let added = shared.events.add(socket, number);
        added.map_err(|error| Fault::Beside(epoll(error)))?;
        Ok(Seat {
            shared: shared.clone(),
            number,
            watched: false,
        })
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    /// Whether the socket has something to read; says so once.
    pub(crate) fn can_read(&self) -> bool {
        self.shared.readable.take()
    }

    /// The time, as of the batch.
    pub(crate) fn now(&self) -> Nanos {
        self.shared.now.get()
    }

    /// The application is served then, too.
    pub(crate) fn wake_at(&self, until: Nanos) {
        let moment = Reverse((until, self.number));
        self.shared.moments.borrow_mut().push(moment);
    }

    /// The application waits for its group to be let go.
    pub(crate) fn opened(&self) {
        self.shared.opening.set(false);
    }

    /// The application is served when its socket has something to read and, if output waits, when that has room.
    pub(crate) fn watch(&mut self, socket: impl AsFd, waits: bool) -> Called<()> {
        if waits != self.watched {
            self.watched = waits;
            let interest = match waits {
                true => EventFlags::IN | EventFlags::OUT,
                false => EventFlags::IN,
            };
            let watched = self.shared.events.watch(socket, self.number, interest);
            watched.map_err(|error| Fault::Beside(epoll(error)))?;
        }
        Ok(())
    }
}
