//! Threads on which something may take long, or hang for ever in code that is not ours: a module of PAM, a look-up of users.
//!
//! Invariants: as many threads wait for work or do some as were asked for; one whose work has taken longer than a time counts
//! no more, and another takes its place when the next work is given. Of those that count no more there are
//! [`MOST_HUNG`] at most; should one come back, it ends.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos, spawn};

/// Threads that hang: more than these are not replaced, for each costs memory that nobody gives back.
const MOST_HUNG: usize = 32;

/// What a thread does.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// See the head of this file. The threads end when this is dropped and what they have begun is done.
pub(crate) struct Threads {
    sender: SyncSender<Work>,
    shared: Arc<Shared>,
    /// After how long a thread counts no more.
    hangs: Nanos,
}

struct Shared {
    receiver: Mutex<Receiver<Work>>,
    at_work: Mutex<AtWork>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct AtWork {
    /// Since when, by the numbers of the threads.
    since: HashMap<usize, Nanos>,
    hung: usize,
    next: usize,
}

impl Threads {
    /// Starts so many threads, at least one; so many works may wait for one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        threads: usize,
        room: usize,
        clock: Arc<dyn Clock>,
        hangs: Duration,
    ) -> io::Result<Threads> {
        let (sender, receiver) = sync_channel(room);
        let this = Threads {
            sender,
            shared: Arc::new(Shared {
                receiver: Mutex::new(receiver),
                at_work: Mutex::default(),
                clock,
            }),
            hangs: Nanos::try_from(hangs.as_nanos()).unwrap_or(Nanos::MAX),
        };
        for _ in 0..threads.max(1) {
            this.add(&mut this.shared.at_work.lock())?;
        }
        Ok(this)
    }

    fn add(&self, at_work: &mut AtWork) -> io::Result<()> {
        at_work.next += 1;
        let number = at_work.next;
        let shared = Arc::clone(&self.shared);
        spawn(&format!("identity {number}"), move || shared.run(number)).map(drop)
    }

    /// Has a thread do something; false: too many wait already.
    pub(crate) fn give(&self, work: Work) -> bool {
        self.replace();
        self.sender.try_send(work).is_ok()
    }

    /// Starts threads in the place of those that hang.
    fn replace(&self) {
        let now = self.shared.clock.monotonic();
        let mut at_work = self.shared.at_work.lock();
        let room = MOST_HUNG.saturating_sub(at_work.hung);
        let hangs = |(_, since): &(&usize, &Nanos)| now.saturating_sub(**since) > self.hangs;
        let hung = at_work
            .since
            .iter()
            .filter(hangs)
            .map(|(number, _)| *number);
        for number in hung.take(room).collect::<Vec<_>>() {
            // Where there is no other the thread that hangs still counts, and may come back.
            if self.add(&mut at_work).is_err() {
                return;
            }
            at_work.since.remove(&number);
            at_work.hung += 1;
        }
    }
}

impl Shared {
    fn run(&self, number: usize) {
        // One waits for work, the others for their turn to wait.
        let next = || self.receiver.lock().recv();
        while let Ok(work) = next() {
            let now = self.clock.monotonic();
            self.at_work.lock().since.insert(number, now);
            // What a module does wrong costs one answer, which its asker misses, and not the thread.
            let _ = catch_unwind(AssertUnwindSafe(work));
            let mut at_work = self.at_work.lock();
            if at_work.since.remove(&number).is_none() {
                at_work.hung -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::{Sender, channel};

    use posthaste_env::Sleep;

    /// Shows what a test says.
    #[derive(Default)]
    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn monotonic(&self) -> Nanos {
            self.0.load(Ordering::SeqCst)
        }
        fn wall_micros(&self) -> i64 {
            0
        }
        fn sleep_until(&self, _: Nanos) -> Sleep {
            Box::pin(std::future::pending())
        }
    }

    const HANGS: Duration = Duration::from_nanos(10);
    const LONG: Duration = Duration::from_secs(60);

    /// Work that says that it has begun, and then waits.
    fn hanging(begin: &Sender<()>) -> (Work, Sender<()>) {
        let (release, hold) = channel();
        let begin = begin.clone();
        let work = Box::new(move || {
            let _ = begin.send(());
            let _ = hold.recv();
        });
        (work, release)
    }

    #[test]
    fn a_thread_that_hangs_is_replaced_and_ends_when_it_comes_back() {
        let clock = Arc::new(Hand::default());
        let threads = Threads::start(1, 9, Arc::clone(&clock) as Arc<dyn Clock>, HANGS).unwrap();
        let (begin, begun) = channel();
        let (first, release) = hanging(&begin);
        assert!(threads.give(first));
        begun.recv_timeout(LONG).unwrap();
        let say = |begin: &Sender<()>| {
            let begin = begin.clone();
            threads.give(Box::new(move || _ = begin.send(())))
        };
        clock.0.store(10, Ordering::SeqCst);
        assert!(say(&begin));
        assert!(begun.try_recv().is_err(), "it may still come back");
        clock.0.store(11, Ordering::SeqCst);
        assert!(say(&begin));
        // That of before, and this.
        for _ in 0..2 {
            begun.recv_timeout(LONG).unwrap();
        }
        assert_eq!(threads.shared.at_work.lock().hung, 1);
        drop(release);
        let deadline = std::time::Instant::now() + LONG;
        while threads.shared.at_work.lock().hung > 0 {
            assert!(std::time::Instant::now() < deadline, "it does not end");
            std::thread::yield_now();
        }
        assert!(say(&begin));
        begun.recv_timeout(LONG).unwrap();
    }

    #[test]
    fn no_more_are_replaced_than_may_hang() {
        let clock = Arc::new(Hand::default());
        let threads = Threads::start(1, 99, Arc::clone(&clock) as Arc<dyn Clock>, HANGS).unwrap();
        let (begin, begun) = channel();
        let mut held = Vec::new();
        for round in 0..=MOST_HUNG {
            clock.0.store(11 * round as u64, Ordering::SeqCst);
            let (work, release) = hanging(&begin);
            assert!(threads.give(work));
            held.push(release);
            begun.recv_timeout(LONG).unwrap();
        }
        clock.0.store(11_000, Ordering::SeqCst);
        let (work, release) = hanging(&begin);
        assert!(threads.give(work));
        let at_work = threads.shared.at_work.lock();
        assert_eq!((at_work.hung, at_work.next), (MOST_HUNG, MOST_HUNG + 1));
        drop(at_work);
        held.push(release);
    }
}
