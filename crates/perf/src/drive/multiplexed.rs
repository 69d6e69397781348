//! Loops that carry many connections each.
//!
//! Invariants: a loop serves every application that is ready before it looks again; one that fails leaves
//! the others alone; a loop's thread ends when it has no application left.

use std::ops::Range;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use super::Group;
use super::application::{Application, Share};
use super::connect::Way;
use super::course::be_punctual;
use super::event_loop::{EventLoop, Ready};
use super::link::Link;
use super::seat::{Seat, Shared, epoll};
use super::tally::Tally;
use crate::floor::BareLink;
use crate::measure::LabError;
use crate::workload::Nanos;

/// A part of a group that one loop carries: the applications of these numbers.
struct Part {
    group: Group,
    tally: Arc<Tally>,
    numbers: Range<u32>,
}

/// Starts `threads` loops that carry the groups between them; gives each group's tallies.
pub(crate) fn spawn(groups: &[Group], threads: u32) -> Result<Vec<Vec<Arc<Tally>>>, LabError> {
    let threads = threads.max(1);
    let mut tallies = vec![Vec::new(); groups.len()];
    for number in 0..threads {
        let mut parts = Vec::new();
        for (group, tallies) in groups.iter().zip(&mut tallies) {
            // A run of applications, so that their order stays that of their numbers.
            let until = |number: u32| {
                let all = group.workload.applications;
                let until = u64::from(all) * u64::from(number) / u64::from(threads);
                u32::try_from(until).unwrap_or(all)
            };
            let numbers = until(number)..until(number + 1);
            let tally = Arc::new(Tally::new(numbers.len()));
            tallies.push(tally.clone());
            let group = group.clone();
            parts.push(Part {
                group,
                tally,
                numbers,
            });
        }
        let started = EventLoop::new().map_err(epoll).and_then(|events| {
            for group in groups {
                group.control.on_change(events.waker());
            }
            thread::Builder::new()
                .name(format!("loop {number}"))
                .spawn(move || Loop::new(events).run(parts))
                .map_err(|error| LabError::workload("a loop's thread cannot be started", error))
        });
        if let Err(error) = started {
            groups.iter().for_each(|group| group.control.end());
            return Err(error);
        }
    }
    Ok(tallies)
}

type Life = Pin<Box<dyn Future<Output = ()>>>;

struct Loop {
    shared: Rc<Shared>,
    shares: Vec<Rc<Share>>,
    /// Applications, until they have ended, and what they share with others.
    seats: Vec<Option<(Life, Rc<Share>)>>,
    left: usize,
    ready: Vec<Ready>,
}

impl Loop {
    fn new(events: EventLoop) -> Loop {
        Loop {
            shared: Shared::new(events),
            shares: Vec::new(),
            seats: Vec::new(),
            left: 0,
            ready: Vec::new(),
        }
    }

    fn run(mut self, parts: Vec<Part>) {
        let mut numbers = Vec::new();
        for part in parts {
            be_punctual(&part.group.workload);
            self.shares.push(Share::new(part.group, part.tally));
            numbers.push(part.numbers);
        }
        let shares = self.shares.clone();
        let mut served = shares
            .iter()
            .zip(numbers)
            .try_for_each(|(share, numbers)| self.connect(share, numbers));
        while self.left > 0 && served.is_ok() {
            served = self.batch();
        }
        if let Err(error) = served {
            for number in 0..self.seats.len() {
                if let Some(Some((_, share))) = self.seats.get(number) {
                    share.control().fail(error.clone());
                    self.leave(number, true);
                }
            }
        }
    }

    /// Connects applications, one after the other, and lets each open its queues.
    fn connect(&mut self, share: &Rc<Share>, numbers: Range<u32>) -> Result<(), LabError> {
        let control = share.control();
        for (place, index) in numbers.enumerate() {
            control.await_turn(index, share.workload());
            if control.ending() || control.failed() {
                control.ended(true);
                continue;
            }
            match life(&self.shared, self.seats.len(), share, (index, place)) {
                Ok(life) => {
                    self.seats.push(Some((life, share.clone())));
                    self.left += 1;
                    self.shared.opening.set(true);
                    self.serve(self.seats.len() - 1, false);
                }
                Err(error) => {
                    control.fail(error);
                    control.ended(true);
                }
            }
            while self.shared.opening.get() && !control.ending() {
                self.batch()?;
            }
        }
        Ok(())
    }

    /// Waits until something is to be done, and does all of it.
    fn batch(&mut self) -> Result<(), LabError> {
        let mut ready = std::mem::take(&mut self.ready);
        let waited = self.shared.events.wait(self.at_most(), &mut ready);
        waited.map_err(epoll)?;
        let now = self.now();
        self.shared.now.set(now);
        for ready in &ready {
            match *ready {
                Ready::Read(number) => self.serve(number, true),
                Ready::Room(number) => self.serve(number, false),
                Ready::Woken => self.tell(),
            }
        }
        while let Some(number) = self.shared.due(now) {
            self.serve(number, false);
        }
        self.shares.iter().for_each(|share| share.count());
        self.ready = ready;
        Ok(())
    }

    fn now(&self) -> Nanos {
        let first = self.shares.first();
        first.map_or(0, |share| share.control().now())
    }

    /// How long nothing is to be done.
    fn at_most(&self) -> Option<Duration> {
        let until = self.shared.next_moment()?;
        Some(Duration::from_nanos(until.saturating_sub(self.now())))
    }

    /// Lets an application go on.
    fn serve(&mut self, number: usize, readable: bool) {
        let Some(Some((life, _))) = self.seats.get_mut(number) else {
            return;
        };
        self.shared.readable.set(readable);
        let mut context = Context::from_waker(Waker::noop());
        if life.as_mut().poll(&mut context).is_ready() {
            self.clear(number);
        }
    }

    /// Groups have been let go or told to end: every application looks whether it was its own.
    fn tell(&mut self) {
        for number in 0..self.seats.len() {
            let Some(Some((_, share))) = self.seats.get(number) else {
                continue;
            };
            // Nobody misses what a bare server still holds.
            match share.control().ending() && matches!(share.group.way, Way::Bare(..)) {
                true => self.leave(number, false),
                false => self.serve(number, false),
            }
        }
    }

    /// Whoever sat there has ended.
    fn clear(&mut self, number: usize) -> Option<Rc<Share>> {
        let (_, share) = self.seats.get_mut(number).and_then(Option::take)?;
        self.left -= 1;
        self.shared.opening.set(false);
        Some(share)
    }

    /// Ends an application where it stands.
    fn leave(&mut self, number: usize, early: bool) {
        if let Some(share) = self.clear(number) {
            share.count();
            share.control().ended(early);
        }
    }
}

/// Connects an application, which then lives at its seat.
fn life(
    shared: &Rc<Shared>,
    number: usize,
    share: &Rc<Share>,
    numbers: (u32, usize),
) -> Result<Life, LabError> {
    let seat = |socket: &dyn AsFd| Seat::new(shared, number, socket);
    let mine = share.clone();
    if let Way::Bare(address, echo) = share.group.way {
        let bare = BareLink::connect((address, echo), seat, mine, numbers);
        let bare = bare.map_err(|fault| fault.of("", ""))?;
        return Ok(Box::pin(bare.live()));
    }
    let connection = share.group.way.connect_socket()?;
    let name = connection.queue_manager();
    let link = Link::new(connection, seat, mine.clone(), numbers.0);
    let link = link.map_err(|fault| fault.of("MQCONN", &name))?;
    let application = Application::new(link, name, mine, numbers);
    Ok(Box::pin(application.live()))
}
