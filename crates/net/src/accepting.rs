//! Accepting on lanes: a listening socket is with every lane, and the system wakes one that sleeps for each connection.
//!
//! Invariants: a lane accepts at most [`MOST`] connections of a listener in a turn, before it serves those it has, so a flood
//! takes a bounded share of a turn from them; when the process has run out of descriptors or memory, no lane takes a
//! connection of that listener for [`PAUSE`], and that is told once; what is accepted is admitted before anything else is
//! done for it. Nobody comes in any more once a listener was shut, though a lane hangs. A listener is dropped by whoever has opened it, and not by a lane: with it a file may go.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mio::{Events, Registry};
use posthaste_env::Nanos;
use rustix::event::epoll::{self, EventData, EventFlags};
use tokio::sync::oneshot;

use crate::address::Peer;
use crate::admission::{Admission, Permit, Refused};
use crate::listener::Listener;
use crate::stream::Stream;

/// How long no connection is taken after the process has run out of descriptors or memory for one.
const PAUSE: Duration = Duration::from_millis(100);
/// Connections of one listener that a lane accepts in a turn.
pub(crate) const MOST: usize = 16;
/// The first token of a listener: those of connections are smaller.
const FIRST: u64 = 1 << 32;

/// A connection that was accepted and admitted.
pub struct Accepted {
    /// The socket.
    pub stream: Stream,
    /// Who is at the other end.
    pub peer: Peer,
    /// Its place; dropping it frees the place.
    pub permit: Permit,
}

/// Told about connections that are not taken. It is called on lanes, so it must not wait.
pub trait Watcher: Send + Sync {
    /// A connection was refused. It is closed when `stream` is dropped, and counts for nothing meanwhile.
    fn refused(&self, peer: &Peer, why: Refused, stream: Stream);
    /// Accepting failed; the listener goes on.
    fn failed(&self, error: &io::Error);
}

/// What becomes of connections.
pub(crate) struct Entrance {
    listener: Listener,
    admission: Admission,
    watcher: Arc<dyn Watcher>,
    handle: Box<dyn Fn(Accepted) + Send + Sync>,
    /// Until then no lane takes any.
    paused: AtomicU64,
    /// None is taken any more.
    shut: AtomicBool,
}

/// A listener that lanes accept from, as they have it.
pub(crate) struct Door {
    pub(crate) token: u64,
    entrance: Arc<Entrance>,
    /// Gone with the last lane that has the door.
    _open: oneshot::Sender<()>,
}

/// What whoever opened it keeps of a door: the listener outlives the lanes' part in it.
pub(crate) struct Doorway {
    pub(crate) door: Arc<Door>,
    entrance: Arc<Entrance>,
    closed: oneshot::Receiver<()>,
}

impl Doorway {
    /// Has the system refuse whoever comes and whoever waits to be accepted, and let others listen there: at once, whatever
    /// lanes do.
    pub(crate) fn shut(&self) {
        self.entrance.shut.store(true, Ordering::Relaxed);
        let shut = self.entrance.listener.shut();
        debug_assert!(shut.is_ok(), "{shut:?}");
    }

    /// Ready when no lane has it; the listener is gone then.
    pub(crate) async fn closed(self) {
        drop(self.door);
        // Nothing is ever sent: it ends with those who could.
        let _ = self.closed.await;
    }
}

/// What is kept of a door that lanes are to have.
pub(crate) fn doorway(
    listener: Listener,
    admission: Admission,
    watcher: Arc<dyn Watcher>,
    handle: impl Fn(Accepted) + Send + Sync + 'static,
) -> Doorway {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let token = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) as u64;
    let (open, closed) = oneshot::channel();
    let entrance = Arc::new(Entrance {
        listener,
        admission,
        watcher,
        handle: Box::new(handle),
        paused: AtomicU64::new(0),
        shut: AtomicBool::new(false),
    });
    let door = Arc::new(Door {
        token,
        entrance: Arc::clone(&entrance),
        _open: open,
    });
    Doorway {
        door,
        entrance,
        closed,
    }
}

impl Entrance {
    /// Accepts what is there, or as much as a lane may in a turn; until when to pause, if that is to be.
    fn accept(&self, now: Nanos) -> Option<Nanos> {
        let paused = self.paused.load(Ordering::Relaxed);
        if now < paused {
            return Some(paused);
        }
        for _ in 0..MOST {
            match self.listener.accept() {
                Ok((stream, peer)) => self.admit(stream, peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) if self.shut.load(Ordering::Relaxed) => break,
                Err(error) if of_one_connection(&error) => self.watcher.failed(&error),
                Err(error) => return Some(self.pause(now, &error)),
            }
        }
        None
    }

    fn admit(&self, stream: Stream, peer: Peer) {
        match self.admission.admit(&peer) {
            Ok(permit) => (self.handle)(Accepted {
                stream,
                peer,
                permit,
            }),
            Err(refused) => self.watcher.refused(&peer, refused, stream),
        }
    }

    /// Has all lanes pause.
    fn pause(&self, now: Nanos, error: &io::Error) -> Nanos {
        let pause = Nanos::try_from(PAUSE.as_nanos()).unwrap_or(0);
        let until = now.saturating_add(pause);
        if self.paused.fetch_max(until, Ordering::Relaxed) <= now {
            self.watcher.failed(error);
        }
        until
    }
}

/// Whether an error of accept is about the connection that was to be accepted, so that the next can be tried at once.
fn of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// A lane's part in the listeners.
#[derive(Default)]
pub(crate) struct Doors {
    open: Vec<Arc<Door>>,
    /// And until when.
    paused: Vec<(Nanos, Arc<Door>)>,
}

impl Doors {
    pub(crate) fn open(&mut self, registry: &Registry, door: Arc<Door>, now: Nanos) {
        // Woken is one lane that sleeps, and not all; what nobody has taken is told to whoever looks next.
        let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
        let listener = &door.entrance.listener;
        match epoll::add(registry, listener, EventData::new_u64(door.token), flags) {
            Ok(()) => self.open.push(door),
            Err(error) => {
                let until = door.entrance.pause(now, &error.into());
                self.paused.push((until, door));
            }
        }
    }

    pub(crate) fn close(&mut self, registry: &Registry, token: u64) {
        self.paused.retain(|(_, door)| door.token != token);
        // The socket is still open, so it is there.
        drop(self.take(registry, token));
    }

    /// Takes a door away from those that are told.
    fn take(&mut self, registry: &Registry, token: u64) -> Option<Arc<Door>> {
        let at = self.open.iter().position(|door| door.token == token)?;
        let door = self.open.swap_remove(at);
        let told_no_more = epoll::delete(registry, &door.entrance.listener);
        debug_assert!(told_no_more.is_ok(), "{told_no_more:?}");
        Some(door)
    }

    /// When the next pause ends.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.paused.iter().map(|(until, _)| *until).min()
    }

    /// Accepts from those listeners that have somebody.
    pub(crate) fn accept(&mut self, registry: &Registry, events: &Events, now: Nanos) {
        let over = |(until, _): &mut (Nanos, Arc<Door>)| *until <= now;
        for (_, door) in self.paused.extract_if(.., over).collect::<Vec<_>>() {
            self.open(registry, door, now);
        }
        for event in events {
            let token = event.token().0 as u64;
            let Some(door) = self.open.iter().find(|door| door.token == token) else {
                continue;
            };
            if let Some(until) = door.entrance.accept(now) {
                let door = self.take(registry, token);
                self.paused.extend(door.map(|door| (until, door)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::io::Read as _;
    use std::net::{SocketAddr, TcpStream};
    use std::os::fd::AsFd;
    use std::sync::mpsc;
    use std::task::Waker;
    use std::time::Instant;

    use parking_lot::Mutex;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use crate::address::Address;
    use crate::admission::Limits;
    use crate::lanes::tests::{Echo, lanes};
    use crate::lanes::{Lanes, Listening};
    use crate::listener::Options;
    use crate::output::Output;
    use crate::protocol::{Next, Protocol, Received};
    use crate::wake::ConnectionWakers;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[derive(Default)]
    struct Seen {
        refused: Mutex<Vec<Refused>>,
        failed: Mutex<Vec<Option<i32>>>,
    }

    impl Watcher for Seen {
        fn refused(&self, _peer: &Peer, why: Refused, _stream: Stream) {
            self.refused.lock().push(why);
        }
        fn failed(&self, error: &io::Error) {
            self.failed.lock().push(error.raw_os_error());
        }
    }

    fn bound() -> (Listener, SocketAddr) {
        let any = Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let listener = Listener::bind(&any, Options::default()).unwrap();
        match listener.address().unwrap() {
            Address::Tcp(address) => (listener, address),
            Address::Unix(_) => panic!("a TCP address"),
        }
    }

    /// Gives back what comes.
    fn echo(lanes: &Lanes, listener: Listener, admission: &Admission) -> (Listening, Arc<Seen>) {
        let (seen, serving) = (Arc::new(Seen::default()), lanes.clone());
        let handle = move |one: Accepted| serving.serve(one.stream, Echo::begin(one.permit));
        let listening = lanes.listen(listener, admission.clone(), seen.clone(), handle);
        (listening, seen)
    }

    /// So many that wait to be accepted.
    fn burst(to: SocketAddr, count: usize) -> Vec<TcpStream> {
        (0..count)
            .map(|_| TcpStream::connect(to).unwrap())
            .collect()
    }

    fn until(is: impl Fn() -> bool, what: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !is() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::yield_now();
        }
    }

    #[tokio::test]
    async fn connections_are_served_and_refused_until_it_is_closed() {
        let (listener, address) = bound();
        let admission = Admission::new(Limits {
            connections: 1,
            per_address: 1,
        });
        let lanes = lanes(3);
        let (listening, seen) = echo(&lanes, listener, &admission);
        let connect = || tokio::net::TcpStream::connect(address);

        let mut first = connect().await.unwrap();
        first.write_all(b"x").await.unwrap();
        let mut byte = [0];
        first.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"x");
        let mut second = connect().await.unwrap();
        assert_eq!(
            second.read(&mut byte).await.unwrap_or(0),
            0,
            "closed at once"
        );
        assert_eq!(*seen.refused.lock(), [Refused::TooMany { limit: 1 }]);

        listening.close().await;
        assert!(connect().await.is_err(), "nobody listens any more");
        let again = Listener::bind(&Address::Tcp(address), Options::default());
        assert!(again.is_ok(), "the port is free");
        first.write_all(b"y").await.unwrap();
        first.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"y", "connections go on");
        drop(first);
        admission.empty().await;
    }

    #[tokio::test]
    async fn whoever_drops_it_has_closed_it_too_and_lanes_that_ended_keep_nothing() {
        let (listener, address) = bound();
        let lanes = lanes(2);
        drop(echo(&lanes, listener, &Admission::new(Limits::default())));
        until(|| TcpStream::connect(address).is_err(), "it still listens");
        assert!(lanes.end(TIMEOUT));
        let (listener, address) = bound();
        let (listening, _) = echo(&lanes, listener, &Admission::new(Limits::default()));
        listening.close().await;
        assert!(TcpStream::connect(address).is_err());
    }

    #[tokio::test]
    async fn whoever_hangs_keeps_no_listener_open() {
        let (listener, address) = bound();
        let lanes = lanes(1);
        let (hangs, hanging) = mpsc::channel();
        let (goes_on, going_on) = mpsc::channel();
        let going_on = Mutex::new(going_on);
        let handle = move |_: Accepted| {
            hangs.send(()).unwrap();
            going_on.lock().recv().unwrap();
        };
        let seen = Arc::new(Seen::default());
        let places = Admission::new(Limits::default());
        let listening = lanes.listen(listener, places, seen.clone(), handle);
        let _first = TcpStream::connect(address).unwrap();
        hanging.recv_timeout(TIMEOUT).unwrap();
        let mut waiting = TcpStream::connect(address).unwrap();
        drop(listening);
        assert!(TcpStream::connect(address).is_err(), "nobody listens");
        let reset = waiting.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(reset, Err(io::ErrorKind::ConnectionReset));
        let again = Listener::bind(&Address::Tcp(address), Options::default());
        assert!(again.is_ok(), "the port is free");
        goes_on.send(()).unwrap();
        assert!(lanes.end(TIMEOUT));
        assert_eq!(*seen.failed.lock(), [], "that it was shut is no failure");
    }

    #[tokio::test]
    async fn a_burst_is_spread_over_all_lanes() {
        let (listener, address) = bound();
        let burst = burst(address, 90);
        let lanes = lanes(3);
        let (_listening, _) = echo(&lanes, listener, &Admission::new(Limits::default()));
        until(|| lanes.connections() == burst.len(), "not all are served");
        let on_each = lanes.counts().into_iter().map(|(_, count)| count);
        let on_each: Vec<usize> = on_each.collect();
        // Two lanes may choose one at the same time.
        assert!(
            on_each.iter().all(|count| (27..=33).contains(count)),
            "{on_each:?}"
        );
    }

    /// Runs in every turn of its lane, and notes how many were accepted between two.
    struct Steady {
        waker: Waker,
        accepted: Arc<AtomicUsize>,
        before: usize,
        most: Arc<AtomicUsize>,
        output: RefCell<Output>,
    }

    impl Protocol for Steady {
        fn woken(&mut self, _: u32) {}
        fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
            Received {
                used: bytes.len(),
                secret: false,
            }
        }
        fn lost(&mut self, _: Option<io::ErrorKind>) {}
        fn run(&mut self, _: Nanos) {
            let now = self.accepted.load(Ordering::SeqCst);
            self.most.fetch_max(now - self.before, Ordering::SeqCst);
            self.before = now;
        }
        fn next(&mut self, _: Nanos) -> Next {
            // After the round, so that it is for the next turn.
            self.waker.wake_by_ref();
            Next::Wait {
                read: true,
                at: None,
            }
        }
        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }
        fn output(&self) -> &RefCell<Output> {
            &self.output
        }
    }

    #[tokio::test]
    async fn a_flood_lets_those_who_are_there_run_in_between() {
        let (listener, address) = bound();
        let flood = burst(address, 300);
        let lanes = lanes(1);
        let (accepted, most) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let steady = (Arc::clone(&accepted), Arc::clone(&most));
        let begin = move |wakers: ConnectionWakers, _| -> Box<dyn Protocol> {
            Box::new(Steady {
                waker: wakers.waker(1),
                before: 0,
                accepted: steady.0,
                most: steady.1,
                output: RefCell::default(),
            })
        };
        let (_near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        lanes.serve(Stream::Unix(far), Box::new(begin));
        let count = Arc::clone(&accepted);
        let handle = move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        };
        let (admission, seen) = (Admission::new(Limits::default()), Arc::new(Seen::default()));
        let _listening = lanes.listen(listener, admission, seen, handle);
        until(
            || accepted.load(Ordering::SeqCst) == flood.len(),
            "not all are accepted",
        );
        let most = most.load(Ordering::SeqCst);
        assert!(
            (1..=MOST).contains(&most),
            "{most} without a run between them"
        );
        assert!(lanes.end(TIMEOUT));
    }

    /// What stands for a process without descriptors: the socket refuses to give a connection for a while.
    #[tokio::test]
    async fn where_nothing_can_be_accepted_lanes_pause_and_then_go_on() {
        let (listener, _) = bound();
        let socket = listener.as_fd().try_clone_to_owned().unwrap();
        rustix::net::shutdown(&socket, rustix::net::Shutdown::Both).unwrap();
        let lanes = lanes(3);
        let begun = Instant::now();
        let (_listening, seen) = echo(&lanes, listener, &Admission::new(Limits::default()));
        until(|| seen.failed.lock().len() >= 4, "it is told");
        rustix::net::listen(&socket, 16).unwrap();
        let pauses = begun.elapsed().as_millis() / PAUSE.as_millis() + 1;
        let failed = seen.failed.lock().clone();
        assert!(
            failed.len() as u128 <= pauses,
            "{} in {pauses}",
            failed.len()
        );
        assert!(failed.iter().all(|error| *error == Some(22)), "{failed:?}");
        let turns = lanes.counts().into_iter().map(|(counts, _)| counts.turns);
        let turns: u64 = turns.sum();
        assert!(turns < 40 * u64::try_from(pauses).unwrap(), "{turns} turns");

        // The system has given the port back with the first.
        let address = std::net::TcpListener::from(socket).local_addr();
        let _first = TcpStream::connect(address.unwrap()).unwrap();
        until(|| lanes.connections() == 1, "nobody accepts any more");
    }
}
