//! An application of the bare servers, as a loop carries it beside those of a queue manager.
//!
//! It does one thing at a time, as with the product: a requester puts, hears that it is done, gets its reply by
//! identifier and begins again; a responder gets, puts the reply, hears that it is done. A round trip is counted when the
//! requester has its reply. Told to end it leaves at once: nobody misses what a bare server still holds.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use super::exchange::PAIRS;
use super::frames::{HEADER, Header, Kind, Sizes};
use crate::drive::{Around, Carried, Course, Iteration, Next, Tally};
use crate::workload::{Module, Nanos, PerfError, Workload};

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Echo,
    Requester,
    Responder,
}

pub(crate) struct BareLink {
    stream: TcpStream,
    role: Role,
    queue: u8,
    /// Of the round trip under way; the number of the application is in its upper half.
    identifier: u64,
    began: Nanos,
    /// Place in the tally of its group.
    place: usize,
    /// What came of a frame's header, when it came in parts.
    head: Vec<u8>,
    /// The frame that is coming, and how many of its bytes have not come.
    coming: Option<(Header, usize)>,
    /// What the server has not taken yet.
    rest: Vec<u8>,
    put: Vec<u8>,
    get: Vec<u8>,
}

impl BareLink {
    /// Connects application `index` of a workload.
    pub(crate) fn connect(
        (address, echo): (SocketAddr, bool),
        workload: &Workload,
        index: u32,
        place: usize,
    ) -> Result<BareLink, PerfError> {
        let stream = TcpStream::connect(address).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        let role = match workload.module {
            _ if echo => Role::Echo,
            Module::Responder => Role::Responder,
            _ => Role::Requester,
        };
        let sizes = Sizes::of(workload.message_bytes);
        let put = if echo {
            workload.message_bytes.max(HEADER)
        } else {
            sizes.put
        };
        let queue = usize::try_from(index).unwrap_or(0) % PAIRS;
        Ok(BareLink {
            stream: stream.map_err(failed)?,
            role,
            queue: u8::try_from(queue).unwrap_or(0),
            identifier: u64::from(index) << 32,
            began: 0,
            place,
            head: Vec::new(),
            coming: None,
            rest: Vec::new(),
            put: vec![0; put],
            get: vec![0; sizes.get],
        })
    }

    /// Begins a round trip.
    fn go(&mut self, now: Nanos) -> io::Result<()> {
        self.began = now;
        match self.role {
            Role::Responder => self.send(Kind::GetRequest),
            Role::Requester | Role::Echo => {
                self.identifier += 1;
                self.send(Kind::PutRequest)
            }
        }
    }

    fn send(&mut self, kind: Kind) -> io::Result<()> {
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
        let taken = match rustix::io::write(&self.stream, frame) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        self.rest
            .extend_from_slice(frame.get(taken..).unwrap_or_default());
        Ok(())
    }

    /// Sends what the server did not take before.
    fn send_rest(&mut self) -> io::Result<()> {
        match rustix::io::write(&self.stream, &self.rest) {
            Ok(count) => drop(self.rest.drain(..count)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Takes what has come; completed round trips are counted.
    fn take(&mut self, mut bytes: &[u8], around: &mut Around<'_>) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.coming.is_none() {
                let wanted = (HEADER - self.head.len()).min(bytes.len());
                let (head, rest) = bytes.split_at(wanted);
                self.head.extend_from_slice(head);
                bytes = rest;
                if self.head.len() < HEADER {
                    return Ok(());
                }
                let header = Header::decode(&self.head);
                let header = header.ok_or(io::ErrorKind::InvalidData)?;
                self.head.clear();
                self.coming = Some((header, header.length - HEADER));
            }
            if let Some((header, left)) = &mut self.coming {
                let part = (*left).min(bytes.len());
                bytes = bytes.get(part..).unwrap_or_default();
                *left -= part;
                if *left == 0 {
                    let header = *header;
                    self.coming = None;
                    self.came(&header, around)?;
                }
            }
        }
        Ok(())
    }

    /// A whole frame has come.
    fn came(&mut self, header: &Header, around: &mut Around<'_>) -> io::Result<()> {
        match (self.role, header.kind) {
            (Role::Requester, Kind::Done) => self.send(Kind::GetReply),
            (Role::Responder, Kind::Message) => {
                self.identifier = header.identifier;
                self.send(Kind::PutReply)
            }
            (Role::Responder, Kind::Done) => self.go(0),
            (Role::Requester, Kind::Message) | (Role::Echo, Kind::PutRequest)
                if header.identifier == self.identifier =>
            {
                let now = around.control.now();
                around.done.push(Iteration {
                    place: self.place,
                    at: now,
                    latency: Some(now.saturating_sub(self.began)),
                    open: 0,
                });
                self.go(now)
            }
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{:?} was not expected", header.kind),
            )),
        }
    }
}

/// What the socket refused.
fn failed(error: io::Error) -> PerfError {
    PerfError::system("the bare server", error)
}

impl Carried for BareLink {
    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn blocked(&self) -> bool {
        !self.rest.is_empty()
    }

    fn early(&self) -> bool {
        false
    }

    /// What it counts is done.
    fn settle(&self, _: &Tally) {}

    /// It goes as fast as it can, so it needs no course.
    fn begin(&mut self, _: Course, around: &mut Around<'_>) -> Result<Next, PerfError> {
        self.go(around.control.now()).map_err(failed)?;
        Ok(Next::Socket)
    }

    fn resume(&mut self, _: &mut Around<'_>) -> Result<Next, PerfError> {
        Ok(Next::Socket)
    }

    fn writable(&mut self, _: &mut Around<'_>) -> Result<Next, PerfError> {
        self.send_rest().map_err(failed)?;
        Ok(Next::Socket)
    }

    fn end(&mut self, _: &mut Around<'_>) -> Result<Next, PerfError> {
        Ok(Next::Gone)
    }

    fn receive(&mut self, buffer: &mut [u8], around: &mut Around<'_>) -> Result<Next, PerfError> {
        if self.blocked() {
            self.send_rest().map_err(failed)?;
        }
        let read = match rustix::io::read(&self.stream, &mut *buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => self.take(buffer.get(..count).unwrap_or_default(), around),
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        };
        read.map_err(failed)?;
        Ok(Next::Socket)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bare, serve_at};
    use super::*;
    use crate::drive::{Running, start, start_together};
    use crate::workload::{Carriers, Target};
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
