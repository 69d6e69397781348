//! The thread that does it all: accepts, connects, reads, waits, delivers.
//!
//! One thread and no runtime, because every hand-over between threads would add tens of microseconds that
//! vary. It sleeps in `ppoll` (whose time-out counts nanoseconds; that of `epoll_pwait` milliseconds) until
//! something arrives or is due, and wakes [`EARLY`] before that: a sleeper is woken late by about as much.
//! What is left is spent asking for events, so that what arrives then is not late either.
//!
//! Invariants: a link's place in `due` is its next time, if it has one; a token whose generation is not
//! that of its place belongs to a link that has gone, and is ignored.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, set_timer_slack};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::Totals;
use super::line::{Line, Shape};
use super::link::{After, Link, Readiness, Who};

/// How long before a time the sleep ends.
const EARLY: Nanos = 40_000;
/// How long a listener rests that has run out of descriptors.
const REST: Nanos = 50_000_000;
/// Bytes read at once.
const BUFFER: usize = 256 << 10;
/// Events taken at once.
const EVENTS: usize = 256;

const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

struct Place {
    generation: u32,
    link: Option<Link>,
    due: Option<Nanos>,
}

/// Whether there are no descriptors left, here or in the whole system.
fn exhausted(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::MFILE | Errno::NFILE)
    )
}

pub(super) struct Relay {
    epoll: OwnedFd,
    listener: TcpListener,
    stop: Arc<OwnedFd>,
    to: SocketAddr,
    up: Shape,
    down: Shape,
    clock: Arc<dyn Clock>,
    totals: Arc<Mutex<Totals>>,
    places: Vec<Place>,
    free: Vec<usize>,
    due: BTreeSet<(Nanos, usize)>,
    /// The listener is tried again then.
    rests_until: Option<Nanos>,
    seed: u64,
}

impl Relay {
    /// `listener` must not block.
    pub(super) fn new(
        listener: TcpListener,
        to: SocketAddr,
        (up, down): (Shape, Shape),
        clock: Arc<dyn Clock>,
        totals: Arc<Mutex<Totals>>,
    ) -> io::Result<Relay> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
        epoll::add(
            &epoll,
            &listener,
            EventData::new_u64(LISTENER),
            EventFlags::IN,
        )?;
        Ok(Relay {
            epoll,
            listener,
            stop,
            to,
            up,
            down,
            clock,
            totals,
            places: Vec::new(),
            free: Vec::new(),
            due: BTreeSet::new(),
            rests_until: None,
            seed: 0,
        })
    }

    /// What ends the relay when it is written to.
    pub(super) fn stopper(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.stop)
    }

    /// Runs until it is stopped, or the kernel refuses to tell events.
    pub(super) fn run(mut self) {
        // Refused, the proxy is less exact, which its calibration then says.
        let _ = set_timer_slack(1);
        let mut buffer = vec![0; BUFFER];
        let mut touched = BTreeSet::new();
        loop {
            let wait = touched.is_empty();
            match self.events(&mut touched, wait) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.totals.lock().last_failure = Some(format!("events: {error}"));
                    return;
                }
            }
            let now = self.clock.monotonic();
            if self.rests_until.is_some_and(|until| until <= now) {
                self.wake_listener();
            }
            while let Some(first) = self.due.first().filter(|(at, _)| *at <= now).copied() {
                self.due.remove(&first);
                touched.insert(first.1);
            }
            for index in std::mem::take(&mut touched) {
                if self.pump(index, now, &mut buffer) {
                    touched.insert(index);
                }
            }
        }
    }

    /// Notes what has happened; waits for it if `wait`. `false`: stop.
    fn events(&mut self, touched: &mut BTreeSet<usize>, wait: bool) -> io::Result<bool> {
        if wait {
            self.sleep()?;
        }
        let mut events = Vec::with_capacity(EVENTS);
        let spare = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.epoll, spare, Some(&Timespec::default())) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let now = self.clock.monotonic();
        for event in events {
            let (data, flags) = (event.data, event.flags);
            match data.u64() {
                STOP => return Ok(false),
                LISTENER => self.accept(),
                token => {
                    if let Some(index) = self.readiness(now, token, flags) {
                        touched.insert(index);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Sleeps until an event, or shortly before the next time.
    fn sleep(&self) -> io::Result<()> {
        let next = self.due.first().map(|(at, _)| *at);
        let next = match (next, self.rests_until) {
            (Some(due), Some(rest)) => Some(due.min(rest)),
            (due, rest) => due.or(rest),
        };
        let now = self.clock.monotonic();
        let left = next.map(|at| at.saturating_sub(EARLY).saturating_sub(now));
        if left == Some(0) {
            return Ok(());
        }
        let left = left.map(|left| Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (left % 1_000_000_000) as _,
        });
        let mut watched = [PollFd::new(&self.epoll, PollFlags::IN)];
        match poll(&mut watched, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn readiness(&mut self, now: Nanos, token: u64, flags: EventFlags) -> Option<usize> {
        let index = (token & 0x7fff_ffff) as usize;
        let place = self.places.get_mut(index)?;
        if place.generation != (token >> 32) as u32 {
            return None;
        }
        let who = match token & 0x8000_0000 {
            0 => Who::Client,
            _ => Who::Server,
        };
        let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        let readiness = Readiness {
            readable: hung_up || flags.contains(EventFlags::IN),
            writable: flags.contains(EventFlags::OUT),
            hung_up,
            broken: flags.contains(EventFlags::ERR),
        };
        let link = place.link.as_mut()?;
        link.event(now, who, readiness);
        if let Some(error) = link.take_refused() {
            self.totals.lock().refuse(self.to, &error);
        }
        Some(index)
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((client, _)) => {
                    if !self.connect(client) {
                        return;
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.rest(&error);
                        return;
                    }
                },
            }
        }
    }

    /// Accepts nothing for a while: out of descriptors, as a rule. Connections stay in the queue of the kernel, which
    /// would tell of them again at once.
    fn rest(&mut self, error: &io::Error) {
        let hint = if exhausted(error) { " (ulimit -n)" } else { "" };
        let what = format!("no connection can be accepted for now: {error}{hint}");
        self.totals.lock().last_failure = Some(what);
        let _ = epoll::delete(&self.epoll, &self.listener);
        self.rests_until = Some(self.clock.monotonic() + REST);
    }

    fn wake_listener(&mut self) {
        let data = EventData::new_u64(LISTENER);
        let added = epoll::add(&self.epoll, &self.listener, data, EventFlags::IN);
        self.rests_until = match added {
            Ok(()) => None,
            Err(_) => Some(self.clock.monotonic() + REST),
        };
    }

    /// Makes the other half of a connection. Without it the client is told by a reset. `false`: no more for now.
    fn connect(&mut self, client: TcpStream) -> bool {
        self.totals.lock().accepted += 1;
        let made = self.begin(&client);
        let added = made.and_then(|server| self.add(&client, server));
        match added {
            Ok((server, index)) => {
                self.seed += 2;
                let up = Line::new(self.up, self.seed);
                let down = Line::new(self.down, self.seed + 1);
                if let Some(place) = self.places.get_mut(index) {
                    place.link = Some(Link::new(client, server, up, down));
                }
                self.totals.lock().open += 1;
                true
            }
            Err(error) => {
                self.totals.lock().refuse(self.to, &error);
                let exhausted = exhausted(&error);
                if exhausted {
                    self.rest(&error);
                }
                let _ = rustix::net::sockopt::set_socket_linger(
                    &client,
                    Some(std::time::Duration::ZERO),
                );
                !exhausted
            }
        }
    }

    fn begin(&self, client: &TcpStream) -> io::Result<TcpStream> {
        client.set_nonblocking(true)?;
        client.set_nodelay(true)?;
        let family = match self.to {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        rustix::net::sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &self.to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(TcpStream::from(socket)),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes a place and has the kernel tell about both sockets.
    fn add(&mut self, client: &TcpStream, server: TcpStream) -> io::Result<(TcpStream, usize)> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                generation: 0,
                link: None,
                due: None,
            });
            self.places.len() - 1
        });
        let generation = self.places.get(index).map_or(0, |place| place.generation);
        let token = u64::from(generation) << 32 | index as u64;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let added = epoll::add(&self.epoll, client, EventData::new_u64(token), flags);
        let added = added.and_then(|()| {
            let data = EventData::new_u64(token | 0x8000_0000);
            epoll::add(&self.epoll, &server, data, flags)
        });
        if let Err(error) = added {
            self.release(index);
            return Err(error.into());
        }
        Ok((server, index))
    }

    /// Frees a place; closing the sockets takes them out of the epoll.
    fn release(&mut self, index: usize) -> Option<Link> {
        let place = self.places.get_mut(index)?;
        // The highest generations with the highest places would be the tokens of listener and stop.
        place.generation = (place.generation + 1) % (u32::MAX - 1);
        if let Some(at) = place.due.take() {
            self.due.remove(&(at, index));
        }
        self.free.push(index);
        place.link.take()
    }

    /// Moves what can be moved in one link. `true`: there is more to do at once.
    fn pump(&mut self, index: usize, now: Nanos, buffer: &mut [u8]) -> bool {
        let Some(place) = self.places.get_mut(index) else {
            return false;
        };
        let Some(link) = place.link.as_mut() else {
            return false;
        };
        let after = link.pump(now, buffer);
        let (up, down) = link.take_passed();
        let mut totals = self.totals.lock();
        totals.up += up;
        totals.down += down;
        drop(totals);
        let next = link.next_due(now);
        if let Some(at) = place.due.take() {
            self.due.remove(&(at, index));
        }
        if let Some(at) = next {
            self.due.insert((at, index));
        }
        place.due = next;
        if after == After::Over {
            self.release(index);
            self.totals.lock().open -= 1;
        }
        after == After::More
    }
}
