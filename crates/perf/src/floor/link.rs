//! An application of the bare servers, in a loop beside those of a queue manager.
//!
//! A round trip is that of the real exchange: a requester puts, hears that it is done, and gets its reply by identifier; a
//! responder gets, puts the reply, hears that it is done. An echo is only put to. It has calls of its own, because it is the
//! yardstick: it does nothing that the exchange itself does not need.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::rc::Rc;

use rustix::io::Errno;

use super::exchange::PAIRS;
use super::frames::{HEADER, Header, Kind, Sizes};
use crate::drive::{Called, Fault, Iteration, Seat, Share, came};
use crate::measure::LabError;
use crate::workload::Module;

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Echo,
    Requester,
    Responder,
}

pub(crate) struct BareLink {
    stream: TcpStream,
    seat: Seat,
    share: Rc<Share>,
    role: Role,
    queue: u8,
    /// Place in the tally of its group.
    place: usize,
    /// Of the round trip under way; the number of the application is in its upper half.
    identifier: u64,
    /// What the server has not taken yet.
    rest: Vec<u8>,
    put: Vec<u8>,
    get: Vec<u8>,
}

impl BareLink {
    /// Connects application `index` of a workload.
    pub(crate) fn connect(
        (address, echo): (SocketAddr, bool),
        seat: impl FnOnce(&dyn AsFd) -> Called<Seat>,
        share: Rc<Share>,
        (index, place): (u32, usize),
    ) -> Called<Box<BareLink>> {
        let stream = TcpStream::connect(address).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_nonblocking(true).map_err(failed)?;
        let workload = share.workload();
        let role = match workload.module {
            _ if echo => Role::Echo,
            Module::Responder => Role::Responder,
            _ => Role::Requester,
        };
        let sizes = Sizes::of(workload.message_bytes);
        let put = match echo {
            true => workload.message_bytes.max(HEADER),
            false => sizes.put,
        };
        let queue = usize::try_from(index).unwrap_or(0) % PAIRS;
        Ok(Box::new(BareLink {
            seat: seat(&stream)?,
            stream,
            role,
            queue: u8::try_from(queue).unwrap_or(0),
            place,
            identifier: u64::from(index) << 32,
            rest: Vec::new(),
            put: vec![0; put],
            get: vec![0; sizes.get],
            share,
        }))
    }

    /// Its whole life, unless its loop ends it: what a bare server still holds nobody misses.
    pub(crate) async fn live(mut self: Box<Self>) {
        let share = self.share.clone();
        share.control().ready();
        self.seat.opened();
        let Err(fault) = self.exchange().await;
        drop(self);
        share.count();
        share.control().fail(fault.of("", ""));
        share.control().ended(true);
    }

    /// Round trips, as fast as it goes.
    async fn exchange(&mut self) -> Called<Infallible> {
        poll_fn(|_| {
            let read = self.read(|_| ());
            let going = self.share.control().going();
            came(read.map(|_| going.then_some(())))
        })
        .await?;
        let mut began = self.share.control().now();
        loop {
            if self.role == Role::Responder {
                self.identifier = self.call(Kind::GetRequest, Kind::Message).await?;
                self.call(Kind::PutReply, Kind::Done).await?;
                continue;
            }
            self.identifier += 1;
            let mut identifier = match self.role {
                Role::Echo => self.call(Kind::PutRequest, Kind::PutRequest).await?,
                _ => self.call(Kind::PutRequest, Kind::Done).await?,
            };
            if self.role == Role::Requester {
                identifier = self.call(Kind::GetReply, Kind::Message).await?;
            }
            if identifier != self.identifier {
                return Err(unexpected(Kind::Message));
            }
            let now = self.share.control().now();
            self.share.done.borrow_mut().push(Iteration {
                place: self.place,
                at: now,
                latency: Some(now.saturating_sub(began)),
                open: 0,
            });
            began = now;
        }
    }

    /// Sends a frame, as much of it as the server takes.
    fn send(&mut self, kind: Kind) -> Called<()> {
        let frame = match kind {
            Kind::GetRequest | Kind::GetReply => &mut self.get,
            _ => &mut self.put,
        };
        let header = Header {
            length: frame.len(),
            kind,
            queue: self.queue,
            identifier: self.identifier,
        };
        if let Some(head) = frame.get_mut(..HEADER) {
            head.copy_from_slice(&header.encode());
        }
        let taken = taken(rustix::io::write(&self.stream, frame))?;
        self.rest
            .extend_from_slice(frame.get(taken..).unwrap_or_default());
        Ok(())
    }

    /// What the socket has to be read; before there is something, what was not sent before is sent.
    fn read<T>(&mut self, take: impl FnOnce(&[u8]) -> T) -> Called<Option<T>> {
        if !self.rest.is_empty() {
            let taken = taken(rustix::io::write(&self.stream, &self.rest))?;
            self.rest.drain(..taken);
        }
        self.seat.watch(&self.stream, !self.rest.is_empty())?;
        if !self.seat.can_read() {
            return Ok(None);
        }
        let mut buffer = self.seat.shared().buffer();
        match rustix::io::read(&self.stream, &mut **buffer) {
            Ok(0) => Err(failed(io::ErrorKind::UnexpectedEof)),
            count => Ok(buffer.get(..taken(count)?).map(take)),
        }
    }

    /// Sends a frame and waits for the one that answers it; gives its identifier.
    async fn call(&mut self, kind: Kind, answer: Kind) -> Called<u64> {
        self.send(kind)?;
        let (mut head, mut length) = ([0; HEADER], 0);
        let header = loop {
            let count = poll_fn(|_| {
                came(self.read(|bytes| {
                    let room = head.get_mut(length..).unwrap_or_default();
                    let part = bytes.get(..room.len()).unwrap_or(bytes);
                    room.split_at_mut(part.len()).0.copy_from_slice(part);
                    bytes.len()
                }))
            });
            length += count.await?;
            if length < HEADER {
                continue;
            }
            match Header::decode(&head) {
                Some(header) if length < header.length => {}
                Some(header) if length == header.length => break header,
                _ => return Err(failed(io::ErrorKind::InvalidData)),
            }
        };
        match header.kind == answer {
            true => Ok(header.identifier),
            false => Err(unexpected(header.kind)),
        }
    }
}

/// What the socket refused.
fn failed(error: impl Into<io::Error>) -> Fault {
    Fault::Beside(LabError::workload("the bare server", error.into()))
}

fn unexpected(kind: Kind) -> Fault {
    let why = format!("{kind:?} was not expected");
    failed(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// How many bytes a socket took or gave; none when it is not its time.
fn taken(count: Result<usize, Errno>) -> Called<usize> {
    match count {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        count => count.map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bare, serve_at};
    use super::*;
    use crate::drive::{Running, start, start_together};
    use crate::workload::{Carriers, Target, Workload};
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    /// A bare server on a thread of the test; it ends with the test's process.
    fn server(bare: Bare, bytes: usize) -> Target {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || serve_at(listener, bare, bytes));
        let echo = bare == Bare::Echo;
        Target::Bare { address, echo }
    }

    fn until(what: &str, so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !so() {
            assert!(Instant::now() < deadline, "{what} did not happen");
            std::thread::yield_now();
        }
    }

    fn workload(module: Module, applications: u32, message_bytes: usize, threads: u32) -> Workload {
        Workload {
            module,
            applications,
            message_bytes,
            carriers: Carriers::Multiplexed { threads },
            ..Workload::default()
        }
    }

    /// Lets them run until so many operations have been seen.
    fn run(running: Vec<Running>, operations: u64) {
        let measured = &running[0];
        measured.begin_window();
        until("operations", || {
            assert_eq!(measured.failure(), None);
            measured.end_window().iterations >= operations
        });
        let window = measured.end_window();
        assert!(window.latency.len() >= operations && window.seconds > 0.0);
        for running in running {
            let outcome = running.stop();
            assert_eq!((outcome.failures, outcome.partial), (Vec::new(), false));
        }
    }

    #[test]
    fn every_exchange_comes_round_however_often_applications_come_and_go() {
        for (requesters, responders, bytes, threads) in [
            (1, 1, 2048, 1),
            (15, 12, 2048, 2),
            (3, 10, 300_000, 2),
            (3, 3, 0, 1),
        ] {
            let server = server(Bare::Exchange, bytes);
            // As many responders as there are queues, or every requester's queue has one.
            let both = [
                workload(Module::Requester, requesters, bytes, threads),
                workload(Module::Responder, responders, bytes, threads),
            ];
            for _ in 0..3 {
                run(start_together(&both, &server).unwrap(), 100);
            }
        }
    }

    #[test]
    fn the_echo_comes_back_whole() {
        for bytes in [2048, 500_000] {
            let echo = workload(Module::Requester, 4, bytes, 1);
            run(vec![start(&echo, &server(Bare::Echo, bytes)).unwrap()], 100);
        }
    }

    #[test]
    fn a_server_that_is_gone_is_told() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let target = Target::Bare {
            address,
            echo: true,
        };
        let echo = workload(Module::Requester, 1, 100, 1);
        let running = start(&echo, &target).unwrap();
        drop(listener.accept().unwrap());
        until("a failure", || running.failure().is_some());
        drop(listener);
        assert!(start(&echo, &target).is_err());
    }
}
