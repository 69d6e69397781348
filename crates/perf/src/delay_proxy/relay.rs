//! The thread that does it all: accepts, connects, reads, waits, delivers.
//!
//! One thread and no runtime, because every hand-over between threads would add tens of microseconds that
//! vary. It sleeps until something arrives or is due, and wakes [`EARLY`] before that: a sleeper is woken late by
//! about as much. What is left is spent asking for events, so that what arrives then is not late either. The time is
//! that of a timer among what is watched, which counts nanoseconds, where the loop itself counts milliseconds.
//!
//! Invariants: each link has its next time among those that are due; a number is never given to a second link, so that
//! an event or a time of one that has gone finds none.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, lacks_descriptors};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::line::Line;
use super::link::{After, Link, Who, reset};
use super::{Settings, Totals};

/// How long before a time the sleep ends.
const EARLY: Nanos = 40_000;
/// How long a listener rests that has run out of descriptors.
const REST: Nanos = 50_000_000;
/// Bytes read at once.
const BUFFER: usize = 256 << 10;
/// Events taken at once.
const EVENTS: usize = 256;

const LISTENER: Token = Token(0);
const STOP: Token = Token(1);
const TIMER: Token = Token(2);
/// The number of the listener among what is due.
const ACCEPT: usize = 0;
/// The first number of a link; its sockets have twice that, and one more, as tokens.
const FIRST: usize = 2;

pub(super) struct Relay {
    poll: Poll,
    listener: TcpListener,
    timer: OwnedFd,
    to: SocketAddr,
    settings: Settings,
    clock: Arc<dyn Clock>,
    totals: Arc<Mutex<Totals>>,
    links: HashMap<usize, Link>,
    next: usize,
    /// When which link, or the listener, is to be looked at without an event.
    due: BTreeSet<(Nanos, usize)>,
}

impl Relay {
    /// A relay, and what ends it.
    pub(super) fn new(
        mut listener: TcpListener,
        to: SocketAddr,
        settings: Settings,
        totals: Arc<Mutex<Totals>>,
    ) -> io::Result<(Relay, Arc<Waker>)> {
        let poll = Poll::new()?;
        let registry = poll.registry();
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let mut watched = SourceFd(&timer.as_raw_fd());
        registry.register(&mut watched, TIMER, Interest::READABLE)?;
        let stop = Arc::new(Waker::new(registry, STOP)?);
        let relay = Relay {
            poll,
            listener,
            timer,
            to,
            settings,
            clock: posthaste_env::os().clock,
            totals,
            links: HashMap::new(),
            next: FIRST,
            due: BTreeSet::new(),
        };
        Ok((relay, stop))
    }

    /// Runs until it is stopped, or the kernel refuses to tell events.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; BUFFER];
        let mut touched = BTreeSet::new();
        loop {
            if let Err(error) = self.wait(&mut events, !touched.is_empty()) {
                self.totals.lock().last_failure = Some(format!("events: {error}"));
                return;
            }
            let now = self.clock.monotonic();
            for event in &events {
                match event.token() {
                    STOP => return,
                    TIMER => {}
                    LISTENER => _ = touched.insert(ACCEPT),
                    Token(token) => {
                        let who = match token % 2 {
                            0 => Who::Client,
                            _ => Who::Server,
                        };
                        if let Some(link) = self.links.get_mut(&(token / 2)) {
                            link.event(now, who, event);
                            touched.insert(token / 2);
                        }
                    }
                }
            }
            while let Some(first) = self.due.first().filter(|(at, _)| *at <= now).copied() {
                self.due.remove(&first);
                touched.insert(first.1);
            }
            if touched.remove(&ACCEPT) {
                self.accept(now);
            }
            touched.retain(|number| self.pump(*number, now, &mut buffer));
        }
    }

    /// Waits for events until shortly before the next time; `busy`: asks for them only.
    fn wait(&mut self, events: &mut Events, busy: bool) -> io::Result<()> {
        let now = self.clock.monotonic();
        let next = self.due.first().map(|(at, _)| at.saturating_sub(EARLY));
        let left = next.map(|at| at.saturating_sub(now));
        let at_most = match (busy, left) {
            (true, _) | (_, Some(0)) => Some(Duration::ZERO),
            (false, None) => None,
            (false, Some(left)) => {
                self.set_timer(left)?;
                None
            }
        };
        match self.poll.poll(events, at_most) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    fn set_timer(&self, left: Nanos) -> io::Result<()> {
        let none = Timespec::default();
        let time = Itimerspec {
            it_interval: none,
            it_value: Timespec::try_from(Duration::from_nanos(left)).unwrap_or(none),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &time)?;
        Ok(())
    }

    fn accept(&mut self, now: Nanos) {
        loop {
            let refused = match self.listener.accept() {
                Ok((client, _)) => self.connect(client).err(),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => None,
                    _ => Some(error),
                },
            };
            if let Some(error) = refused {
                // Connections stay in the queue of the kernel, which tells of them no second time.
                let lacks = lacks_descriptors(&error);
                let hint = if lacks { " (ulimit -n)" } else { "" };
                let what = format!("no connection can be accepted for now: {error}{hint}");
                self.totals.lock().last_failure = Some(what);
                self.due.insert((now + REST, ACCEPT));
                return;
            }
        }
    }

    /// Makes the other half of a connection. Without it the client is told by a reset. An error: no more for now.
    fn connect(&mut self, mut client: TcpStream) -> io::Result<()> {
        self.totals.lock().accepted += 1;
        match self.register(&mut client) {
            Ok(server) => {
                let seed = self.next as u64 * 2;
                let (settings, buffer) = (&self.settings, self.settings.buffer);
                let up = Line::new(&settings.up, buffer, seed);
                let down = Line::new(&settings.down, buffer, seed + 1);
                let link = Link::new(client, server, up, down);
                self.links.insert(self.next, link);
                self.next += 1;
                self.totals.lock().open += 1;
                Ok(())
            }
            Err(error) => {
                self.totals.lock().refuse(self.to, &error);
                reset(&client);
                let lacks = lacks_descriptors(&error);
                if lacks { Err(error) } else { Ok(()) }
            }
        }
    }

    /// Begins to connect to the server, and has the kernel tell about both sockets.
    fn register(&self, client: &mut TcpStream) -> io::Result<TcpStream> {
        let mut server = TcpStream::connect(self.to)?;
        let both = Interest::READABLE | Interest::WRITABLE;
        for (stream, token) in [(client, 2 * self.next), (&mut server, 2 * self.next + 1)] {
            stream.set_nodelay(true)?;
            self.poll.registry().register(stream, Token(token), both)?;
        }
        Ok(server)
    }

    /// Moves what can be moved in one link. `true`: there is more to do at once.
    fn pump(&mut self, number: usize, now: Nanos, buffer: &mut [u8]) -> bool {
        let Some(link) = self.links.get_mut(&number) else {
            return false;
        };
        let after = link.pump(now, buffer);
        if let Some(at) = link.next_due(now) {
            self.due.insert((at, number));
        }
        let mut totals = self.totals.lock();
        totals.up += std::mem::take(&mut link.up.taken);
        totals.down += std::mem::take(&mut link.down.taken);
        if let Some(error) = link.refused.take() {
            totals.refuse(self.to, &error);
        }
        if after == After::Over {
            totals.open -= 1;
            drop(totals);
            // Whoever sees that its connection has ended finds that counted.
            self.links.remove(&number);
        }
        after == After::More
    }
}
