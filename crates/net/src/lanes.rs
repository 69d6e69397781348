//! The lanes of a process: started, given connections, watched, ended.
//!
//! Invariants: a connection stays on the lane that it was given to; when [`Lanes::end`] returns true, no connection is
//! left and everything that belonged to one has been dropped. A lane that ends by itself is a defect, and is told at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, spawn};

use crate::accepting::{Accepted, Doorway, Watcher, doorway};
use crate::admission::Admission;
use crate::lane::{Arrival, Begin, Lane, Shared};
use crate::listener::Listener;
use crate::stream::Stream;
use crate::tally::LaneCounts;

/// Told that a lane, by its number, has ended though nobody asked it to, and why: its connections are lost.
pub type LaneFailed = Arc<dyn Fn(usize, &str) + Send + Sync>;

/// How long a lane is waited for that is to let go of a listener.
const HANGS: Duration = Duration::from_secs(5);
/// After so long in one turn a lane is given no connection that another can have, in nanoseconds.
const STALLED: Nanos = 250_000_000;

struct Inner {
    lanes: Vec<Arc<Shared>>,
    clock: Arc<dyn Clock>,
    next: AtomicUsize,
    /// Each lane says when it has ended.
    ended: Mutex<mpsc::Receiver<()>>,
}

/// Threads that serve connections. Clones are the same ones.
#[derive(Clone)]
pub struct Lanes {
    inner: Arc<Inner>,
}

/// A listener that lanes accept from. Dropping it ends that too, without waiting.
pub struct Listening {
    lanes: Lanes,
    doorway: Option<Doorway>,
}

impl Listening {
    /// Ends it: nobody comes in there any more, from now on. When the future is ready, the socket is closed, unless a lane does
    /// not come back from its turn. Connections go on ([`Admission::empty`] waits for them).
    pub fn close(mut self) -> impl Future<Output = ()> {
        let doorway = self.doorway.take();
        if let Some(doorway) = &doorway {
            self.lanes.shut(doorway);
        }
        async {
            if let Some(doorway) = doorway {
                // A lane that hangs is told about elsewhere.
                let _ = tokio::time::timeout(HANGS, doorway.closed()).await;
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(doorway) = &self.doorway {
            self.lanes.shut(doorway);
        }
    }
}

/// Tells when a lane's thread is left, however it is.
struct Guard {
    lane: usize,
    in_order: bool,
    /// Once the lane is made.
    shared: Option<Arc<Shared>>,
    failed: LaneFailed,
    ended: mpsc::Sender<()>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.turn_began.store(0, Ordering::Relaxed);
        }
        if !self.in_order {
            (self.failed)(self.lane, "its thread panicked");
        }
        // Nobody waits when the process ends without ending its lanes.
        let _ = self.ended.send(());
    }
}

impl Lanes {
    /// Starts so many lanes, at least one. Their time is that of `clock`.
    ///
    /// # Errors
    /// The system gives no thread or no descriptor.
    pub fn start(count: usize, clock: &Arc<dyn Clock>, failed: &LaneFailed) -> io::Result<Lanes> {
        let (ended, all_ended) = mpsc::channel();
        let mut lanes = Vec::new();
        for number in 0..count.max(1) {
            let (made, shared) = mpsc::channel();
            let clock = Arc::clone(clock);
            let guard = Guard {
                lane: number,
                in_order: false,
                shared: None,
                failed: Arc::clone(failed),
                ended: ended.clone(),
            };
            // What a lane owns belongs to its thread from the beginning.
            spawn(&format!("lane {number}"), move || {
                run(guard, clock, &made);
            })?;
            let shared = shared.recv().map_err(|_| io::ErrorKind::BrokenPipe)??;
            lanes.push(shared);
        }
        Ok(Lanes {
            inner: Arc::new(Inner {
                lanes,
                clock: Arc::clone(clock),
                next: AtomicUsize::new(0),
                ended: Mutex::new(all_ended),
            }),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.inner.lanes.len()
    }

    /// Accepts from a listener on the lanes, and gives every connection that `admission` takes to `handle`, which must not
    /// wait.
    pub fn listen(
        &self,
        listener: Listener,
        admission: Admission,
        watcher: Arc<dyn Watcher>,
        handle: impl Fn(Accepted) + Send + Sync + 'static,
    ) -> Listening {
        let doorway = doorway(listener, admission, watcher, handle);
        for lane in &self.inner.lanes {
            // A lane that has ended takes nothing, and is not to keep it.
            let door = Arc::downgrade(&doorway.door);
            lane.mailbox.hand_over(Arrival::Door(door));
        }
        Listening {
            lanes: self.clone(),
            doorway: Some(doorway),
        }
    }

    /// Has no lane accept from there any more.
    fn shut(&self, doorway: &Doorway) {
        doorway.shut();
        for lane in &self.inner.lanes {
            lane.mailbox.hand_over(Arrival::Shut(doorway.door.token));
        }
    }

    /// Has a lane serve a connection by what `begin` makes there: of those that do not hang the lane that has the fewest, and of
    /// several such the one that calls.
    pub fn serve(&self, stream: Stream, begin: Begin) {
        let lanes = &self.inner.lanes;
        let now = self.inner.clock.monotonic();
        let here = lanes.iter().position(|lane| lane.mailbox.is_here());
        let first = here.unwrap_or_else(|| self.inner.next.fetch_add(1, Ordering::Relaxed));
        let in_turn = (0..lanes.len()).map(|n| (first + n) % lanes.len());
        let least = in_turn.filter_map(|at| lanes.get(at)).min_by_key(|lane| {
            let connections = lane.connections.load(Ordering::Relaxed);
            (lane.in_turn_for(now) >= STALLED, connections)
        });
        if let Some(lane) = least {
            lane.connections.fetch_add(1, Ordering::Relaxed);
            lane.mailbox.hand_over(Arrival::Connection(stream, begin));
        }
    }

    /// Connections that the lanes have.
    pub fn connections(&self) -> usize {
        let counts = self.inner.lanes.iter();
        counts
            .map(|lane| lane.connections.load(Ordering::Relaxed))
            .sum()
    }

    /// What each lane has counted, and the connections it has.
    pub fn counts(&self) -> Vec<(LaneCounts, usize)> {
        let lanes = self.inner.lanes.iter();
        lanes
            .map(|lane| {
                let connections = lane.connections.load(Ordering::Relaxed);
                (lane.tally.counts(), connections)
            })
            .collect()
    }

    /// Drops all connections and ends the lanes; false if one of them does not end within `timeout`.
    pub fn end(&self, timeout: Duration) -> bool {
        for lane in &self.inner.lanes {
            lane.mailbox.hand_over(Arrival::End);
        }
        let ended = self.inner.ended.lock();
        self.inner
            .lanes
            .iter()
            .all(|_| ended.recv_timeout(timeout).is_ok())
    }

    /// Which lanes have been in their present turn for longer than `limit`, and for how long.
    pub fn stalled(&self, limit: Duration) -> Vec<(usize, Duration)> {
        let now = self.inner.clock.monotonic();
        let lanes = self.inner.lanes.iter().enumerate();
        lanes
            .filter_map(|(number, lane)| {
                let since = Duration::from_nanos(lane.in_turn_for(now));
                (since >= limit).then_some((number, since))
            })
            .collect()
    }
}

fn run(mut guard: Guard, clock: Arc<dyn Clock>, made: &mpsc::Sender<io::Result<Arc<Shared>>>) {
    // Whoever starts the lane waits for this.
    let lane = match Lane::new(clock) {
        Ok(lane) => {
            let shared = lane.shared();
            guard.shared = Some(Arc::clone(shared));
            let _ = made.send(Ok(Arc::clone(shared)));
            lane
        }
        Err(error) => {
            guard.in_order = true;
            let _ = made.send(Err(error));
            return;
        }
    };
    let result = lane.run();
    guard.in_order = true;
    if let Err(error) = result {
        (guard.failed)(guard.lane, &error.to_string());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::task::Waker;

    use crate::admission::Permit;
    use crate::clock::RuntimeClock;
    use crate::output::Output;
    use crate::protocol::{Next, Protocol, Received};
    use crate::wake::ConnectionWakers;

    const TIMEOUT: Duration = Duration::from_secs(60);

    pub(crate) fn lanes(count: usize) -> Lanes {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock);
        let failed: LaneFailed = Arc::new(|lane, why| panic!("lane {lane}: {why}"));
        Lanes::start(count, &clock, &failed).unwrap()
    }

    /// Gives back what comes.
    #[derive(Default)]
    pub(crate) struct Echo {
        output: RefCell<Output>,
        over: bool,
        _permit: Option<Permit>,
    }

    impl Echo {
        pub(crate) fn begin(permit: Permit) -> Begin {
            Box::new(|_, _| {
                Box::new(Echo {
                    _permit: Some(permit),
                    ..Echo::default()
                })
            })
        }
    }

    impl Protocol for Echo {
        fn woken(&mut self, _: u32) {}
        fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
            let out = self.output.get_mut();
            out.append(|out| out.extend_from_slice(bytes));
            Received {
                used: bytes.len(),
                secret: false,
            }
        }
        fn lost(&mut self, _: Option<io::ErrorKind>) {
            self.over = true;
        }
        fn run(&mut self, _: Nanos) {}
        fn next(&mut self, _: Nanos) -> Next {
            match self.over {
                true => Next::Over,
                false => Next::Wait {
                    read: self.output.get_mut().waiting() < 1_000_000,
                    at: None,
                },
            }
        }
        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }

        fn output(&self) -> &RefCell<Output> {
            &self.output
        }
    }

    fn pair() -> (UnixStream, Stream) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_read_timeout(Some(TIMEOUT)).unwrap();
        far.set_nonblocking(true).unwrap();
        (near, Stream::Unix(far))
    }

    #[test]
    fn what_is_written_comes_back_on_every_lane_however_large() {
        let lanes = lanes(3);
        let nears: Vec<UnixStream> = (0..9)
            .map(|_| {
                let (near, far) = pair();
                lanes.serve(far, Box::new(|_, _| Box::new(Echo::default())));
                near
            })
            .collect();
        let spread = lanes.inner.lanes.iter();
        let spread: Vec<usize> = spread
            .map(|lane| lane.connections.load(Ordering::Relaxed))
            .collect();
        assert_eq!(spread, [3, 3, 3]);
        let had = |read: fn(&LaneCounts) -> u64| -> Vec<u64> {
            let counts = lanes.counts().into_iter();
            counts.map(|(counts, _)| read(&counts)).collect()
        };
        for near in &nears {
            // More than the system takes at once, in both directions.
            let sent: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| (&mut &*near).write_all(&sent).unwrap());
                let mut back = vec![0; sent.len()];
                (&mut &*near).read_exact(&mut back).unwrap();
                assert!(back == sent);
            });
        }
        drop(nears);
        assert!(lanes.end(TIMEOUT));
        assert_eq!(had(|counts| counts.bytes_read), [9_000_000; 3]);
        assert_eq!(had(|counts| counts.bytes_written), [9_000_000; 3]);
        // A connection runs at most a few times in a turn, and more than once in all.
        assert!(had(|counts| counts.turns).iter().all(|turns| *turns > 3));
        assert!(had(|counts| counts.runs).iter().all(|runs| *runs > 9));
    }

    /// Ends after a time, or when it is woken; counts the drops.
    struct Waiting {
        at: Nanos,
        woken: bool,
        output: RefCell<Output>,
        gone: Arc<AtomicUsize>,
    }

    impl Protocol for Waiting {
        fn woken(&mut self, which: u32) {
            assert_eq!(which, 5);
            self.woken = true;
        }
        fn receive(&mut self, bytes: &[u8], _: usize) -> Received {
            Received {
                used: bytes.len(),
                secret: false,
            }
        }
        fn lost(&mut self, _: Option<io::ErrorKind>) {}
        fn run(&mut self, _: Nanos) {}
        fn next(&mut self, now: Nanos) -> Next {
            match self.woken || now >= self.at {
                true => Next::Over,
                false => Next::Wait {
                    read: true,
                    at: Some(self.at),
                },
            }
        }
        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }

        fn output(&self) -> &RefCell<Output> {
            &self.output
        }
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            self.gone.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A connection that ends after so many milliseconds; gives its end, and what wakes it.
    fn waiting(
        lanes: &Lanes,
        gone: &Arc<AtomicUsize>,
        milliseconds: u64,
    ) -> (UnixStream, Waker, Waker) {
        let (near, far) = pair();
        let (sender, receiver) = mpsc::channel();
        let gone = Arc::clone(gone);
        let begin = move |wakers: ConnectionWakers, now: Nanos| -> Box<dyn Protocol> {
            // The second is what the first is not woken by once it is gone.
            sender.send((wakers.waker(5), wakers.waker(6))).unwrap();
            Box::new(Waiting {
                at: now + milliseconds * 1_000_000,
                woken: false,
                output: RefCell::default(),
                gone,
            })
        };
        lanes.serve(far, Box::new(begin));
        let (waker, stale) = receiver.recv_timeout(TIMEOUT).unwrap();
        (near, waker, stale)
    }

    fn closed(near: &mut UnixStream) {
        assert_eq!(near.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn timers_and_other_threads_wake_a_sleeping_lane() {
        let lanes = lanes(1);
        let gone = Arc::new(AtomicUsize::new(0));
        let (mut by_time, _, stale) = waiting(&lanes, &gone, 20);
        closed(&mut by_time);
        let (mut by_waker, waker, _) = waiting(&lanes, &gone, 3_600_000);
        // Its connection is gone, and another has its slot.
        stale.wake();
        waker.wake();
        closed(&mut by_waker);
        assert_eq!(gone.load(Ordering::SeqCst), 2);
        assert!(lanes.end(TIMEOUT));
    }

    #[test]
    fn the_timers_of_those_who_are_gone_wake_nobody() {
        let lanes = lanes(1);
        let gone = Arc::new(AtomicUsize::new(0));
        for _ in 0..200 {
            let (mut near, waker, _) = waiting(&lanes, &gone, 1_000);
            waker.wake();
            closed(&mut near);
        }
        let turns = || lanes.counts()[0].0.turns;
        let before = turns();
        let (mut last, _, _) = waiting(&lanes, &gone, 1_200);
        closed(&mut last);
        let turns = turns() - before;
        assert!(turns < 50, "{turns} turns for one timer");
        assert!(lanes.end(TIMEOUT));
    }

    #[test]
    fn the_end_drops_what_is_left() {
        let lanes = lanes(2);
        let gone = Arc::new(AtomicUsize::new(0));
        let left: Vec<_> = (0..4).map(|_| waiting(&lanes, &gone, 3_600_000)).collect();
        assert_eq!(lanes.connections(), 4);
        assert!(lanes.end(TIMEOUT));
        assert_eq!(gone.load(Ordering::SeqCst), 4);
        drop(left);
    }

    /// Keeps its lane in one turn until it may go on.
    struct Stalling(mpsc::Receiver<()>, RefCell<Output>);

    impl Protocol for Stalling {
        fn woken(&mut self, _: u32) {}
        fn receive(&mut self, _: &[u8], _: usize) -> Received {
            Received::default()
        }
        fn lost(&mut self, _: Option<io::ErrorKind>) {}
        fn run(&mut self, _: Nanos) {
            self.0.recv_timeout(TIMEOUT).unwrap();
        }
        fn next(&mut self, _: Nanos) -> Next {
            Next::Over
        }
        fn shed(self: Box<Self>) -> Box<dyn Protocol> {
            self
        }

        fn output(&self) -> &RefCell<Output> {
            &self.1
        }
    }

    #[test]
    fn a_lane_that_stalls_is_noticed_and_others_go_on() {
        let lanes = lanes(2);
        let (go_on, wait) = mpsc::channel();
        let (mut near, far) = pair();
        lanes.serve(
            far,
            Box::new(|_, _| Box::new(Stalling(wait, RefCell::default()))),
        );
        let limit = Duration::from_millis(20);
        let deadline = std::time::Instant::now() + TIMEOUT;
        while lanes.stalled(limit).is_empty() {
            assert!(std::time::Instant::now() < deadline, "nobody notices");
            std::thread::yield_now();
        }
        assert_eq!(lanes.stalled(limit).len(), 1);
        while lanes.stalled(Duration::from_nanos(STALLED)).is_empty() {
            assert!(std::time::Instant::now() < deadline, "nobody notices");
            std::thread::yield_now();
        }
        // Although it has fewer connections than the other soon.
        let comers: Vec<_> = (0..4)
            .map(|_| {
                let (mut near, far) = pair();
                lanes.serve(far, Box::new(|_, _| Box::new(Echo::default())));
                near.write_all(b"hello").unwrap();
                near.read_exact(&mut [0; 5]).unwrap();
                near
            })
            .collect();
        go_on.send(()).unwrap();
        closed(&mut near);
        while !lanes.stalled(limit).is_empty() {
            assert!(std::time::Instant::now() < deadline, "it goes on");
            std::thread::yield_now();
        }
        drop(comers);
        assert!(lanes.end(TIMEOUT));
        let turns = lanes.inner.lanes.iter();
        let turns: Vec<_> = turns.map(|lane| lane.in_turn_for(Nanos::MAX)).collect();
        assert_eq!(turns, [0, 0], "they have ended");
    }

    #[test]
    fn a_panic_on_a_lane_is_told() {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock);
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let failed: LaneFailed = Arc::new(move |lane, why| {
            sender.lock().send((lane, why.to_owned())).unwrap();
        });
        let lanes = Lanes::start(1, &clock, &failed).unwrap();
        let (near, far) = pair();
        lanes.serve(far, Box::new(|_, _| panic!("a defect")));
        let failure = receiver.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(failure, (0, "its thread panicked".to_owned()));
        drop(near);
    }
}
