//! Loops that carry many connections each.
//!
//! Invariants: a loop serves every link that is ready before it looks again; a link that fails leaves
//! the others alone; a loop's thread ends when it has no link left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use posthaste_client::{Connection, EventLoop, Interest, Ready};

use super::Group;
use super::application::{Application, Around};
use super::blocking::Caller;
use super::carried::{Carried, Next};
use super::connect::{Way, call_failed};
use super::control::Control;
use super::course::{Course, be_punctual};
use super::link::Link;
use super::tally::{Iteration, Tally};
use crate::floor::BareLink;
use crate::workload::{Machine, Module, Nanos, PerfError, Workload};

/// One read takes at most so much.
const BUFFER: usize = 512 * 1024;

/// A group's share of one loop.
struct Share {
    workload: Arc<Workload>,
    way: Way,
    machines: Vec<(u32, Machine)>,
    data: Arc<[u8]>,
    control: Arc<Control>,
    tally: Arc<Tally>,
    /// Iterations that are not in the tally yet.
    done: Vec<Iteration>,
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
                .map_err(|error| PerfError::system("a loop's thread cannot be started", error))
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
        let tally = Arc::new(Tally::new(count));
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

/// A link, its application's number, and which share it belongs to.
struct Seat {
    link: Box<dyn Carried>,
    index: u32,
    share: usize,
    /// Its socket is watched for room, too.
    watched: bool,
}

struct Loop {
    events: EventLoop,
    shares: Vec<Share>,
    seats: Vec<Option<Seat>>,
    left: usize,
    moments: BinaryHeap<Reverse<(Nanos, usize)>>,
    soon: Vec<usize>,
    buffer: Vec<u8>,
}

impl Loop {
    fn new(shares: Vec<Share>) -> Result<Loop, PerfError> {
        let events = EventLoop::new().map_err(|error| PerfError::system("epoll", error))?;
        for share in &shares {
            let waker = events.waker();
            share.control.on_change(move || waker.wake());
        }
        Ok(Loop {
            events,
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
        let mut ready = Vec::new();
        while self.left > 0 {
            let at_most = self.at_most();
            if let Err(error) = self.events.wait(at_most, &mut ready) {
                return self.give_up(&PerfError::system("epoll", error));
            }
            self.batch(&ready);
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
        let linked = link(share, place, index, machine).and_then(|link| {
            let added = self.events.add(link.socket(), self.seats.len());
            added.map_err(|error| PerfError::system("epoll", error))?;
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

    /// How long nothing is to be done.
    fn at_most(&self) -> Option<Duration> {
        if !self.soon.is_empty() {
            return Some(Duration::ZERO);
        }
        let Reverse((until, _)) = self.moments.peek()?;
        let now = self.shares.first().map_or(0, |share| share.control.now());
        Some(Duration::from_nanos(until.saturating_sub(now)))
    }

    fn batch(&mut self, ready: &[Ready]) {
        let now = self.shares.first().map_or(0, |share| share.control.now());
        let soon = std::mem::take(&mut self.soon);
        let mut woken = false;
        for ready in ready {
            match *ready {
                Ready::Woken => woken = true,
                Ready::Room(number) => {
                    self.serve(number, now, |link, _, around| link.writable(around));
                }
                Ready::Read(number) => {
                    self.serve(number, now, |link, buffer, around| {
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
        act: impl FnOnce(&mut dyn Carried, &mut [u8], &mut Around<'_>) -> Result<Next, PerfError>,
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
        let next = match act(seat.link.as_mut(), &mut self.buffer, &mut around) {
            Ok(next) => next,
            Err(error) => {
                share.control.fail(error);
                return self.remove(number, true);
            }
        };
        let blocked = seat.link.blocked();
        if blocked != seat.watched {
            seat.watched = blocked;
            let interest = match blocked {
                true => Interest::Both,
                false => Interest::Input,
            };
            let watched = self.events.watch(seat.link.socket(), number, interest);
            if let Err(error) = watched {
                share.control.fail(PerfError::system("epoll", error));
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
fn link(
    share: &Share,
    place: usize,
    index: u32,
    machine: Machine,
) -> Result<Box<dyn Carried>, PerfError> {
    if let Way::Bare(address, echo) = share.way {
        let link = BareLink::connect((address, echo), &share.workload, index, place)?;
        return Ok(Box::new(link));
    }
    let connection: Connection = share.way.connect_socket()?;
    let name = &connection.queue_manager();
    let application = Application::new(machine, place, name);
    let mut caller = Caller::new(Box::new(connection), application);
    caller.until_ready(&share.data)?;
    let (connection, application) = caller.into_parts();
    let line = connection.into_nonblocking();
    let mut line = line.map_err(|error| call_failed("MQCONN", name, error))?;
    let keeps_data = share.workload.module == Module::Responder && share.workload.copy_request;
    if !keeps_data {
        line.keep_no_data();
    }
    Ok(Box::new(Link::new(line, application)))
}
