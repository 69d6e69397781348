//! Loops that carry many connections each.
//!
//! Invariants: a loop serves every link that is ready before it looks again; a link that fails leaves
//! the others alone; a loop's thread ends when it has no link left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use posthaste_client::Connection;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

use super::blocking::Caller;
use super::connect::{Way, call_failed};
use super::control::Control;
use super::course::{Course, be_punctual};
use super::link::{Around, Link, Next};
use super::tally::{Done, Tally};
use super::template::Speech;
use crate::workload::{Machine, Module, Nanos, PerfError, Workload};

/// One read takes at most so much.
const BUFFER: usize = 512 * 1024;
/// Events of one look.
const EVENTS: usize = 256;
/// The event of the waking descriptor.
const WAKE: u64 = u64::MAX;

/// Like applications that loops are to carry.
pub(crate) struct Group {
    pub(crate) workload: Arc<Workload>,
    pub(crate) way: Way,
    pub(crate) machines: Vec<Machine>,
    pub(crate) data: Arc<[u8]>,
    pub(crate) control: Arc<Control>,
    pub(crate) empty: Histogram<u64>,
}

/// A group's share of one loop.
struct Share {
    workload: Arc<Workload>,
    way: Way,
    machines: Vec<(u32, Machine)>,
    data: Arc<[u8]>,
    control: Arc<Control>,
    tally: Arc<Tally>,
    /// Iterations that are not in the tally yet.
    done: Vec<Done>,
    went: bool,
    told_to_end: bool,
}

/// Starts `threads` loops that carry the groups between them; gives each group's tallies.
pub(crate) fn spawn(groups: Vec<Group>, threads: u32) -> Result<Vec<Vec<Arc<Tally>>>, PerfError> {
    let threads = usize::try_from(threads).unwrap_or(1).max(1);
    let mut shares: Vec<Vec<Share>> = (0..threads).map(|_| Vec::new()).collect();
    let mut tallies = Vec::new();
    for group in groups {
        tallies.push(deal(group, &mut shares));
    }
    for (number, shares) in shares.into_iter().enumerate() {
        let controls: Vec<Arc<Control>> =
            shares.iter().map(|share| share.control.clone()).collect();
        let started = Loop::new(shares).and_then(|own| {
            thread::Builder::new()
                .name(format!("loop {number}"))
                .spawn(move || own.run())
                .map_err(|error| system("a loop's thread cannot be started", &error))
        });
        if let Err(error) = started {
            controls.iter().for_each(|control| control.end());
            return Err(error);
        }
    }
    Ok(tallies)
}

/// Gives each loop a run of applications, so that their order stays that of their numbers.
fn deal(group: Group, shares: &mut [Vec<Share>]) -> Vec<Arc<Tally>> {
    let (all, threads) = (group.machines.len(), shares.len());
    let mut machines = (0u32..).zip(group.machines);
    let mut tallies = Vec::new();
    for (number, share) in shares.iter_mut().enumerate() {
        let count = all * (number + 1) / threads - all * number / threads;
        let machines: Vec<(u32, Machine)> = machines.by_ref().take(count).collect();
        let tally = Arc::new(Tally::new(count, &group.empty));
        tallies.push(tally.clone());
        share.push(Share {
            workload: group.workload.clone(),
            way: group.way.clone(),
            machines,
            data: group.data.clone(),
            control: group.control.clone(),
            tally,
            done: Vec::new(),
            went: false,
            told_to_end: false,
        });
    }
    tallies
}

fn system(what: &str, why: &dyn std::fmt::Display) -> PerfError {
    PerfError::System {
        what: what.to_owned(),
        why: why.to_string(),
    }
}

/// A link, its application's number, and which share it belongs to.
struct Seat {
    link: Link,
    index: u32,
    share: usize,
    /// Its socket is watched for room, too.
    watched: bool,
}

struct Loop {
    epoll: OwnedFd,
    wake: Arc<OwnedFd>,
    shares: Vec<Share>,
    seats: Vec<Option<Seat>>,
    left: usize,
    moments: BinaryHeap<Reverse<(Nanos, usize)>>,
    soon: Vec<usize>,
    buffer: Vec<u8>,
}

impl Loop {
    fn new(shares: Vec<Share>) -> Result<Loop, PerfError> {
        let failed = |error: Errno| system("epoll", &error);
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags).map_err(failed)?);
        epoll::add(&epoll, &*wake, EventData::new_u64(WAKE), EventFlags::IN).map_err(failed)?;
        for share in &shares {
            let wake = wake.clone();
            share.control.on_change(move || {
                // It can only be refused when it is full, and then the loop is awake.
                let _ = rustix::io::write(&*wake, &1u64.to_ne_bytes());
            });
        }
        Ok(Loop {
            epoll,
            wake,
            shares,
            seats: Vec::new(),
            left: 0,
            moments: BinaryHeap::new(),
            soon: Vec::new(),
            buffer: vec![0; BUFFER],
        })
    }

    fn run(mut self) {
        for share in &self.shares {
            be_punctual(&share.workload);
        }
        self.connect();
        self.controls();
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        while self.left > 0 {
            events.clear();
            let timeout = self.timeout();
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, room, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return self.give_up(&system("epoll", &error)),
            }
            self.batch(&events);
        }
    }

    /// Connects every application, one after the other, and opens its queues.
    fn connect(&mut self) {
        for number in 0..self.shares.len() {
            let Some(share) = self.shares.get_mut(number) else {
                continue;
            };
            let machines = std::mem::take(&mut share.machines);
            for (place, (index, machine)) in machines.into_iter().enumerate() {
                self.connect_one(number, place, index, machine);
            }
        }
    }

    fn connect_one(&mut self, number: usize, place: usize, index: u32, machine: Machine) {
        let Some(share) = self.shares.get(number) else {
            return;
        };
        let control = share.control.clone();
        control.await_turn(index, &share.workload);
        if control.ending() || control.failed() {
            return control.ended(true);
        }
        let linked = link(share, place, machine).and_then(|link| {
            let event = EventData::new_u64(self.seats.len() as u64);
            epoll::add(&self.epoll, link.stream(), event, EventFlags::IN)
                .map_err(|error| system("epoll", &error))?;
            Ok(link)
        });
        match linked {
            Ok(link) => {
                self.seats.push(Some(Seat {
                    link,
                    index,
                    share: number,
                    watched: false,
                }));
                self.left += 1;
                control.ready();
            }
            Err(error) => {
                control.fail(error);
                control.ended(true);
            }
        }
    }

    fn timeout(&self) -> Option<Timespec> {
        if !self.soon.is_empty() {
            return Some(Timespec::default());
        }
        let Reverse((until, _)) = self.moments.peek()?;
        let now = self.shares.first().map_or(0, |share| share.control.now());
        let left = Duration::from_nanos(until.saturating_sub(now));
        Timespec::try_from(left).ok()
    }

    fn batch(&mut self, events: &[Event]) {
        let now = self.shares.first().map_or(0, |share| share.control.now());
        let soon = std::mem::take(&mut self.soon);
        let mut woken = false;
        for event in events {
            match event.data.u64() {
                WAKE => woken = true,
                number => {
                    let number = usize::try_from(number).unwrap_or(usize::MAX);
                    let flags = event.flags;
                    self.serve(number, now, |link, buffer, around| {
                        if flags == EventFlags::OUT {
                            return link.writable(around);
                        }
                        link.receive(buffer, around)
                    });
                }
            }
        }
        for number in soon {
            self.serve(number, now, |link, _, around| link.resume(around));
        }
        while let Some(Reverse((until, number))) = self.moments.peek().copied() {
            if until > now {
                break;
            }
            self.moments.pop();
            self.serve(number, now, |link, _, around| link.resume(around));
        }
        if woken {
            let mut number = [0; 8];
            // Whether it was read before changes nothing.
            let _ = rustix::io::read(&*self.wake, &mut number);
            self.controls();
        }
        for share in &mut self.shares {
            share.tally.count_all(&mut share.done);
        }
    }

    /// Lets a link do something, and does with it what that asks for.
    fn serve(
        &mut self,
        number: usize,
        now: Nanos,
        act: impl FnOnce(&mut Link, &mut [u8], &mut Around<'_>) -> Result<Next, PerfError>,
    ) {
        let Some(Some(seat)) = self.seats.get_mut(number) else {
            return;
        };
        let Some(share) = self.shares.get_mut(seat.share) else {
            return;
        };
        let mut around = Around {
            control: &share.control,
            tally: &share.tally,
            data: &share.data,
            done: &mut share.done,
            now,
        };
        let next = match act(&mut seat.link, &mut self.buffer, &mut around) {
            Ok(next) => next,
            Err(error) => {
                share.control.fail(error);
                return self.remove(number, true);
            }
        };
        let blocked = seat.link.blocked();
        if blocked != seat.watched {
            seat.watched = blocked;
            let flags = match blocked {
                true => EventFlags::IN | EventFlags::OUT,
                false => EventFlags::IN,
            };
            let event = EventData::new_u64(number as u64);
            if let Err(error) = epoll::modify(&self.epoll, seat.link.stream(), event, flags) {
                share.control.fail(system("epoll", &error));
                return self.remove(number, true);
            }
        }
        match next {
            Next::Socket => {}
            Next::Moment(until) => self.moments.push(Reverse((until, number))),
            Next::Soon => self.soon.push(number),
            Next::Gone => {
                let early = seat.link.early();
                self.remove(number, early);
            }
        }
    }

    fn remove(&mut self, number: usize, early: bool) {
        let seat = self.seats.get_mut(number).and_then(Option::take);
        if let Some(seat) = seat {
            self.left -= 1;
            let share = self.shares.get_mut(seat.share);
            let control = share.map(|share| {
                share.tally.count_all(&mut share.done);
                seat.link.settle(&share.tally);
                share.control.clone()
            });
            // The socket is closed before anybody is told that the application has ended.
            drop(seat);
            if let Some(control) = control {
                control.ended(early);
            }
        }
    }

    /// Looks whether groups have been let go or told to end.
    fn controls(&mut self) {
        for number in 0..self.shares.len() {
            let Some(share) = self.shares.get_mut(number) else {
                continue;
            };
            let (control, workload) = (share.control.clone(), share.workload.clone());
            let go = control.going() && !share.went;
            let end = control.ending() && !share.told_to_end;
            share.went |= go;
            share.told_to_end |= end;
            if !go && !end {
                continue;
            }
            let start = control.went();
            for place in 0..self.seats.len() {
                let index = match self.seats.get(place) {
                    Some(Some(seat)) if seat.share == number => seat.index,
                    _ => continue,
                };
                let now = control.now();
                self.serve(place, now, |link, _, around| match go {
                    true => link.begin(Course::new(&workload, index, start), around),
                    false => link.end(around),
                });
            }
        }
    }

    fn give_up(&mut self, error: &PerfError) {
        for number in 0..self.seats.len() {
            let seat = self.seats.get(number).and_then(Option::as_ref);
            let share = seat.and_then(|seat| self.shares.get(seat.share));
            if let Some(share) = share {
                share.control.fail(error.clone());
            }
            self.remove(number, true);
        }
    }
}

/// Connects an application and opens its queues, then takes the connection over.
fn link(share: &Share, place: usize, machine: Machine) -> Result<Link, PerfError> {
    let connection: Connection = share.way.connect_socket()?;
    let name = &connection.queue_manager();
    let mut caller = Caller::new(Box::new(connection), machine, name);
    caller.until_ready(&share.data)?;
    let (connection, machine, open) = caller.into_parts();
    let parts = connection
        .into_parts()
        .map_err(|error| call_failed("MQCONN", name, &error))?;
    rustix::io::ioctl_fionbio(parts.stream.as_fd(), true)
        .map_err(|error| system("a socket", &error))?;
    let keeps_data = share.workload.module == Module::Responder && share.workload.copy_request;
    Ok(Link::new(
        Speech::of(parts),
        (machine, place),
        open,
        name,
        keeps_data,
    ))
}
