//! The client side of the bare servers: applications multiplexed over one or two epoll threads.
//!
//! Each application does one thing at a time, as with the product: a requester puts, hears that it is done, gets
//! its reply by identifier and begins again; a responder gets, puts the reply, hears that it is done. A round trip
//! is counted when the requester has its reply.
//!
//! Invariants: a thread that fails stops its load and says why; counting takes one uncontended lock per batch of events.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use posthaste_client::{EventLoop, Interest, Ready};
use rustix::io::Errno;

use super::Bare;
use super::exchange::PAIRS;
use super::frames::{HEADER, Header, Kind, Sizes};
use crate::measure::{LabError, histogram};

/// Bytes read at once.
const READ: usize = 256 << 10;
/// How long a thread sleeps at most before it looks whether it should end.
const LOOK: Duration = Duration::from_millis(20);

/// What runs against a bare server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Which server.
    pub(crate) bare: Bare,
    /// Applications that ask; for the echo, all there are.
    pub(crate) requesters: u32,
    /// Applications that answer; none for the echo.
    pub(crate) responders: u32,
    /// Bytes of a message.
    pub(crate) message_bytes: usize,
    /// Threads that carry them, 1 or 2: with 2, requesters and responders have one each.
    pub(crate) threads: u32,
}

/// What was seen in a window.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Operations that were completed.
    pub(crate) operations: u64,
    /// Length of the window.
    pub(crate) seconds: f64,
    /// Their latencies, in nanoseconds.
    pub(crate) latency: Histogram<u64>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    failure: Mutex<Option<String>>,
}

/// A running load.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    counted: Vec<Arc<Mutex<Histogram<u64>>>>,
    threads: Vec<JoinHandle<()>>,
    began: Instant,
}

impl Driver {
    /// Connects all applications and lets them run.
    pub(crate) fn start(address: SocketAddr, load: &Load) -> Result<Driver, LabError> {
        let failed =
            |error: io::Error| LabError::workload(format!("the bare server at {address}"), error);
        let mut groups: Vec<Vec<Application>> = Vec::new();
        groups.resize_with(
            usize::try_from(load.threads.clamp(1, 2)).unwrap_or(1),
            Vec::new,
        );
        let last = groups.len() - 1;
        let mut join = |group: usize, role: Role, number: u32| -> io::Result<()> {
            let stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            if let Some(group) = groups.get_mut(group) {
                group.push(Application::new(stream, role, number, load.message_bytes));
            }
            Ok(())
        };
        for number in 0..load.responders {
            join(last, Role::Responder, number).map_err(failed)?;
        }
        let role = match load.bare {
            Bare::Echo => Role::Echo,
            Bare::Exchange => Role::Requester,
        };
        for number in 0..load.requesters {
            join(0, role, number).map_err(failed)?;
        }
        let mut driver = Driver {
            shared: Arc::default(),
            counted: Vec::new(),
            threads: Vec::new(),
            began: Instant::now(),
        };
        for applications in groups {
            driver.carry(applications).map_err(failed)?;
        }
        Ok(driver)
    }

    fn carry(&mut self, applications: Vec<Application>) -> io::Result<()> {
        let counted = Arc::new(Mutex::new(histogram()));
        self.counted.push(counted.clone());
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new()
            .name("floor driver".to_owned())
            .spawn(move || {
                if let Err(error) = carry(applications, &shared, &counted) {
                    shared.failure.lock().get_or_insert(error.to_string());
                    shared.stop.store(true, Ordering::Release);
                }
            })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Begins to count anew.
    pub(crate) fn begin_window(&mut self) {
        for counted in &self.counted {
            counted.lock().reset();
        }
        self.began = Instant::now();
    }

    /// What was seen since [`Driver::begin_window`].
    pub(crate) fn end_window(&self) -> Seen {
        let seconds = self.began.elapsed().as_secs_f64();
        let mut latency = histogram();
        for counted in &self.counted {
            // Both have the same bounds, so nothing can be out of range.
            let _ = latency.add(&*counted.lock());
        }
        Seen {
            operations: latency.len(),
            seconds,
            latency,
        }
    }

    /// Why it has ended by itself, if it has.
    pub(crate) fn failure(&self) -> Option<LabError> {
        let failure = self.shared.failure.lock();
        failure
            .as_ref()
            .map(|why| LabError::workload("the load on the bare server", why.clone()))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // What went wrong in it stands in `failure`.
            let _ = thread.join();
        }
    }
}

/// What an application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Echo,
    Requester,
    Responder,
}

struct Application {
    stream: TcpStream,
    role: Role,
    queue: u8,
    /// Of the round trip under way; the number of the application is in its upper half.
    identifier: u64,
    began: Instant,
    /// What came of a frame's header, when it came in parts.
    head: Vec<u8>,
    /// The frame that is coming, and how many of its bytes have not come.
    coming: Option<(Header, usize)>,
    /// What the server has not taken yet.
    rest: Vec<u8>,
    put: Vec<u8>,
    get: Vec<u8>,
}

impl Application {
    fn new(stream: TcpStream, role: Role, number: u32, message_bytes: usize) -> Application {
        let sizes = Sizes::of(message_bytes);
        let echo = message_bytes.max(HEADER);
        Application {
            stream,
            role,
            queue: u8::try_from(usize::try_from(number).unwrap_or(0) % PAIRS).unwrap_or(0),
            identifier: u64::from(number) << 32,
            began: Instant::now(),
            head: Vec::new(),
            coming: None,
            rest: Vec::new(),
            put: vec![0; if role == Role::Echo { echo } else { sizes.put }],
            get: vec![0; sizes.get],
        }
    }

    /// Begins a round trip.
    fn begin(&mut self) -> io::Result<()> {
        self.began = Instant::now();
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
    fn take(&mut self, mut bytes: &[u8], counted: &mut Histogram<u64>) -> io::Result<()> {
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
                    self.came(&header, counted)?;
                }
            }
        }
        Ok(())
    }

    /// A whole frame has come.
    fn came(&mut self, header: &Header, counted: &mut Histogram<u64>) -> io::Result<()> {
        match (self.role, header.kind) {
            (Role::Requester, Kind::Done) => self.send(Kind::GetReply),
            (Role::Responder, Kind::Message) => {
                self.identifier = header.identifier;
                self.send(Kind::PutReply)
            }
            (Role::Responder, Kind::Done) => self.begin(),
            (Role::Requester, Kind::Message) | (Role::Echo, Kind::PutRequest)
                if header.identifier == self.identifier =>
            {
                let took = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                counted.saturating_record(took);
                self.begin()
            }
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{:?} was not expected", header.kind),
            )),
        }
    }
}

/// Carries applications until the load is stopped.
fn carry(
    mut applications: Vec<Application>,
    shared: &Shared,
    counted: &Mutex<Histogram<u64>>,
) -> io::Result<()> {
    let mut events = EventLoop::new()?;
    for (number, application) in applications.iter_mut().enumerate() {
        events.add(&application.stream, number)?;
        application.begin()?;
        watch(&events, application, number)?;
    }
    let mut ready = Vec::new();
    let mut buffer = vec![0; READ];
    while !shared.stop.load(Ordering::Acquire) {
        events.wait(Some(LOOK), &mut ready)?;
        if ready.is_empty() {
            continue;
        }
        let mut counted = counted.lock();
        for ready in &ready {
            let (Ready::Read(number) | Ready::Room(number)) = *ready else {
                continue;
            };
            let Some(application) = applications.get_mut(number) else {
                continue;
            };
            let stuck = !application.rest.is_empty();
            if stuck {
                application.send_rest()?;
            }
            match rustix::io::read(&application.stream, &mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    application.take(buffer.get(..count).unwrap_or_default(), &mut counted)?;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if stuck || !application.rest.is_empty() {
                watch(&events, application, number)?;
            }
        }
    }
    Ok(())
}

/// Asks to hear when there is room again, if something is left to send.
fn watch(events: &EventLoop, application: &Application, number: usize) -> io::Result<()> {
    let interest = match application.rest.is_empty() {
        true => Interest::Input,
        false => Interest::Both,
    };
    events.watch(&application.stream, number, interest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A bare server on a thread of the test; it ends with the test's process.
    fn server(bare: Bare, bytes: usize) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || match bare {
            Bare::Echo => super::super::echo::serve(&listener),
            Bare::Exchange => super::super::exchange::serve(listener, Sizes::of(bytes)),
        });
        address
    }

    /// By when everything that is waited for has happened.
    fn deadline() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Runs a load until so many operations have been seen.
    fn run(load: &Load, operations: u64) -> Seen {
        let mut driver = Driver::start(server(load.bare, load.message_bytes), load).unwrap();
        driver.begin_window();
        let deadline = deadline();
        loop {
            assert!(
                Instant::now() < deadline,
                "fewer than {operations} operations"
            );
            let seen = driver.end_window();
            if seen.operations >= operations {
                return seen;
            }
            assert!(driver.failure().is_none(), "{:?}", driver.failure());
            std::thread::yield_now();
        }
    }

    #[test]
    fn every_exchange_comes_round() {
        for (requesters, responders, bytes, threads) in [
            (1, 1, 2048, 1),
            (15, 12, 2048, 2),
            (3, 10, 300_000, 2),
            (3, 3, 0, 1),
        ] {
            let load = Load {
                bare: Bare::Exchange,
                requesters,
                responders,
                message_bytes: bytes,
                threads,
            };
            // As many responders as there are queues, or every requester's queue has one.
            let seen = run(&load, 200);
            assert_eq!(seen.operations, seen.latency.len());
            assert!(seen.seconds > 0.0);
        }
    }

    #[test]
    fn the_echo_comes_back_whole() {
        for bytes in [2048, 500_000] {
            let load = Load {
                bare: Bare::Echo,
                requesters: 4,
                responders: 0,
                message_bytes: bytes,
                threads: 1,
            };
            run(&load, 100);
        }
    }

    #[test]
    fn a_server_that_is_gone_is_told() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let load = Load {
            bare: Bare::Echo,
            requesters: 1,
            responders: 0,
            message_bytes: 100,
            threads: 1,
        };
        let driver = Driver::start(address, &load).unwrap();
        drop(listener.accept().unwrap());
        let deadline = deadline();
        while driver.failure().is_none() {
            assert!(Instant::now() < deadline, "nobody notices");
            std::thread::yield_now();
        }
        drop(driver);
        drop(listener);
        assert!(Driver::start(address, &load).is_err());
    }
}
