//! The threads on which it is found out whether credentials are right.
//!
//! Invariants: no more than [`MOST_WAITING`] wait for a thread, and what is beyond that is refused at once; whoever asks
//! has an answer after [`TIMEOUT`] at the latest, and after the delay for wrong credentials on top of it, which holds up
//! nobody else; credentials are dropped, and so erased, as soon as they were looked at or whoever gave them has gone; a
//! thread that hangs in a module is replaced ([`threads`](crate::threads)).

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_env::{Clock, Nanos};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::limiter::{Limiter, Origin};
use crate::threads::{Threads, Work};
use crate::{Credentials, Method, SecretKind, Unable, Verdict};

/// Questions that may wait for a thread.
const MOST_WAITING: usize = 1_000;
/// How long an answer is waited for, in seconds: a directory may be slow, a module of PAM may hang.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Work that waits for a thread. Who has asked for it takes it back when they have gone: what it holds is dropped then, and not
/// when its turn has come.
struct Waiting(Arc<Mutex<Option<Work>>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let taken = self.0.lock().take();
        drop(taken);
    }
}

/// Something that was asked for. Whoever drops it takes it back.
pub struct Asking<T> {
    /// None: too many waited already.
    answered: Option<oneshot::Receiver<T>>,
    _waiting: Waiting,
    clock: Arc<dyn Clock>,
}

impl<T> Asking<T> {
    /// Whether there was room for the question: no answer is on its way to one for which there was none.
    pub fn had_room(&self) -> bool {
        self.answered.is_some()
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// Too many waited already, or there was no answer in time.
    pub async fn answer(self) -> Result<T, Unable> {
        let Some(answered) = self.answered else {
            return Err(Unable("too many wait for an answer already".to_owned()));
        };
        match in_time(&*self.clock, answered).await {
            Some(answer) => answer.map_err(|_| Unable("whoever was asked has failed".to_owned())),
            None => {
                let seconds = TIMEOUT.as_secs();
                Err(Unable(format!("no answer in {seconds} seconds")))
            }
        }
    }
}

/// What comes of a future; none: nothing within [`TIMEOUT`].
async fn in_time<F: Future>(clock: &dyn Clock, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut limit = clock.sleep_until(after(clock, TIMEOUT));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => limit.as_mut().poll(cx).map(|()| None),
    })
    .await
}

fn after(clock: &dyn Clock, time: Duration) -> Nanos {
    let time = Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX);
    clock.monotonic().saturating_add(time)
}

/// Whether credentials are right, and of whom that is asked.
pub struct Asked {
    /// The credentials. Those from this machine have no limit.
    pub credentials: Credentials,
    /// What knows.
    pub method: Arc<dyn Method>,
    /// How long a wrong answer is held back.
    pub delay: Duration,
}

/// See the head of this file. The threads end when this is dropped and what they have begun is done.
pub struct Checker {
    threads: Threads,
    clock: Arc<dyn Clock>,
    limiter: Limiter,
}

impl Checker {
    /// Starts so many threads, at least one. Delays are waited for by `clock`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(threads: usize, clock: Arc<dyn Clock>) -> io::Result<Checker> {
        Checker::with_room(threads, MOST_WAITING, clock)
    }

    fn with_room(threads: usize, room: usize, clock: Arc<dyn Clock>) -> io::Result<Checker> {
        let threads = Threads::start(threads, room, Arc::clone(&clock), TIMEOUT)?;
        Ok(Checker {
            threads,
            clock,
            limiter: Limiter::default(),
        })
    }

    /// Does something that may take long, such as to ask who is in a group, on one of the threads.
    ///
    /// # Errors
    /// Too many wait already, or there was no answer in time.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unable> {
        self.ask_ahead(work).answer().await
    }

    /// The same for an answer that is wanted later.
    pub fn ask_ahead<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Asking<T> {
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move || {
            // Whoever has asked may go meanwhile.
            let _ = answer.send(work());
        });
        let waiting = Waiting(Arc::new(Mutex::new(Some(work))));
        let work = Arc::clone(&waiting.0);
        let sent = self.threads.give(Box::new(move || {
            let work = work.lock().take();
            // Whoever has asked may have gone.
            if let Some(work) = work {
                work();
            }
        }));
        Asking {
            answered: sent.then_some(answered),
            _waiting: waiting,
            clock: Arc::clone(&self.clock),
        }
    }

    /// The same for something whose answer nobody waits for; false: too many wait already.
    pub fn begin(&self, work: impl FnOnce() + Send + 'static) -> bool {
        self.threads.give(Box::new(work))
    }

    /// Whether credentials are right. What is wrong is said after the delay.
    pub async fn check(&self, asked: Asked) -> Verdict {
        let Asked {
            credentials,
            method,
            delay,
        } = asked;
        let verdict = match credentials.from {
            None => self.find_out(credentials, method).await,
            Some(from) => match self.turn(Origin::of(from, credentials.maker)).await {
                Ok(mut turn) => {
                    let verdict = self.find_out(credentials, method).await;
                    // Before the delay: who goes away meanwhile was wrong all the same.
                    turn.wrong = verdict.is_refusal();
                    verdict
                }
                Err(verdict) => verdict,
            },
        };
        if verdict.is_refusal() || matches!(verdict, Verdict::TooMany(_)) {
            let until = after(&*self.clock, delay);
            self.clock.sleep_until(until).await;
        }
        verdict
    }

    /// The turn of an origin, or why it has none.
    async fn turn(&self, from: Origin) -> Result<Turn<'_>, Verdict> {
        let turns = || {
            let turns = self.limiter.turns(from, self.clock.monotonic());
            turns.ok_or(Verdict::TooMany(from.user()))
        };
        let Some(Ok(permit)) = in_time(&*self.clock, turns()?.acquire_owned()).await else {
            let why = "too many of its origin wait for an answer already";
            return Err(Verdict::Unable(Unable(why.to_owned())));
        };
        let mut turn = Turn {
            checker: self,
            from,
            permit: Some(permit),
            wrong: false,
        };
        // Those before it may have been wrong.
        turns()?;
        // Who does not wait for the answer is not better off than who is told that he was wrong.
        turn.wrong = true;
        Ok(turn)
    }

    async fn find_out(&self, credentials: Credentials, method: Arc<dyn Method>) -> Verdict {
        // An empty password is right at many a directory, where it stands for nobody.
        let nobodys = credentials.user.is_empty() && credentials.kind == SecretKind::Password;
        if nobodys || credentials.secret.is_empty() {
            return Verdict::Wrong;
        }
        let verdict = self.ask(move || method.verdict(&credentials)).await;
        verdict.unwrap_or_else(Verdict::Unable)
    }
}

/// Held while credentials from an origin are looked at.
struct Turn<'a> {
    checker: &'a Checker,
    from: Origin,
    permit: Option<OwnedSemaphorePermit>,
    wrong: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let now = self.checker.clock.monotonic();
        self.checker.limiter.end(self.from, now, self.wrong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{self, Receiver};

    use posthaste_env::{block_on, os};

    /// Knows one password; is asked by a test that may hold it up.
    struct Known {
        asked: AtomicUsize,
        hold: Option<Mutex<Receiver<()>>>,
    }

    impl Known {
        fn new() -> Arc<Known> {
            Arc::new(Known {
                asked: AtomicUsize::new(0),
                hold: None,
            })
        }
    }

    impl Method for Known {
        fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if let Some(hold) = &self.hold {
                let _ = hold.lock().recv();
            }
            match credentials.user.as_str() {
                "panics" => panic!("as a module may"),
                "nameless" => Ok(None),
                "unknown" => Err(Unable("nobody there".to_owned())),
                user => Ok((credentials.secret.as_slice() == b"right").then(|| user.to_owned())),
            }
        }

        fn verdict(&self, credentials: &Credentials) -> Verdict {
            let answer = self.check(credentials);
            match credentials.user.as_str() {
                "nameless" => Verdict::NoName("without a name".to_owned()),
                _ => answer.into(),
            }
        }
    }

    fn asked(method: &Arc<Known>, user: &str, password: &str, delay: Duration) -> Asked {
        let password = password.as_bytes().to_vec().into();
        let credentials = Credentials {
            from: Some(IpAddr::from([192, 0, 2, 1])),
            ..Credentials::new(user, password)
        };
        Asked {
            credentials,
            method: method.clone(),
            delay,
        }
    }

    const NO_DELAY: Duration = Duration::ZERO;

    #[test]
    fn right_wrong_and_unknown_are_told_apart() {
        let clock = os().clock;
        let checker = Checker::start(2, clock.clone()).unwrap();
        let method = Known::new();
        let verdict =
            |user, password| block_on(checker.check(asked(&method, user, password, NO_DELAY)));
        assert_eq!(
            verdict("alice", "right"),
            Verdict::Right("alice".to_owned())
        );
        assert_eq!(verdict("alice", "left"), Verdict::Wrong);
        let unable = Unable("nobody there".to_owned());
        assert_eq!(verdict("unknown", "right"), Verdict::Unable(unable));
        // More often than there are threads.
        for _ in 0..5 {
            assert!(matches!(verdict("panics", "x"), Verdict::Unable(_)));
        }
        assert_eq!(method.asked.load(Ordering::SeqCst), 8);
        // Nobody is asked about these.
        assert_eq!(verdict("alice", ""), Verdict::Wrong);
        assert_eq!(verdict("", "right"), Verdict::Wrong);
        assert_eq!(method.asked.load(Ordering::SeqCst), 8);
    }

    #[test]
    fn what_is_wrong_is_said_after_the_delay_and_what_is_right_at_once() {
        let clock = os().clock;
        let checker = Checker::start(1, clock.clone()).unwrap();
        let method = Known::new();
        let long = Duration::from_secs(3_600);
        let begun = clock.monotonic();
        let right = block_on(checker.check(asked(&method, "alice", "right", long)));
        assert_eq!(right, Verdict::Right("alice".to_owned()));
        let delay = Duration::from_millis(200);
        let wrong = block_on(checker.check(asked(&method, "alice", "left", delay)));
        assert_eq!(wrong, Verdict::Wrong);
        assert!(clock.monotonic() - begun >= 200_000_000);
    }

    #[test]
    fn a_guesser_is_not_even_heard_and_others_are() {
        let checker = Checker::start(1, os().clock).unwrap();
        let method = Known::new();
        let wrong = |n: usize| {
            (0..n)
                .map(|_| block_on(checker.check(asked(&method, "alice", "left", NO_DELAY))))
                .collect::<Vec<_>>()
        };
        let verdicts = wrong(60);
        let looked_at = method.asked.load(Ordering::SeqCst);
        let refused = verdicts.iter();
        let refused = refused.filter(|v| **v == Verdict::TooMany(None)).count();
        assert_eq!(looked_at + refused, 60);
        // One more for every second that this takes.
        assert!((20..50).contains(&looked_at), "{looked_at}");
        let mut elsewhere = asked(&method, "alice", "right", NO_DELAY);
        elsewhere.credentials.from = Some(IpAddr::from([192, 0, 2, 2]));
        let right = block_on(checker.check(elsewhere));
        assert_eq!(right, Verdict::Right("alice".to_owned()));
        let mut beside = asked(&method, "alice", "right", NO_DELAY);
        beside.credentials.maker = Some(7);
        let right = block_on(checker.check(beside));
        assert_eq!(right, Verdict::Right("alice".to_owned()), "another user");
        let mut local = asked(&method, "alice", "right", NO_DELAY);
        local.credentials.from = None;
        assert!(matches!(block_on(checker.check(local)), Verdict::Right(_)));
    }

    #[test]
    fn who_has_no_name_here_waits_and_is_counted_as_who_is_wrong() {
        let clock = os().clock;
        let checker = Checker::start(1, clock.clone()).unwrap();
        let method = Known::new();
        let begun = clock.monotonic();
        let delay = Duration::from_millis(200);
        let verdict = block_on(checker.check(asked(&method, "nameless", "right", delay)));
        assert_eq!(verdict, Verdict::NoName("without a name".to_owned()));
        assert!(clock.monotonic() - begun >= 200_000_000);
        let verdicts =
            (0..60).map(|_| block_on(checker.check(asked(&method, "nameless", "right", NO_DELAY))));
        assert!(verdicts.into_iter().any(|v| v == Verdict::TooMany(None)));
    }

    #[test]
    fn however_many_are_right_at_once_nobody_is_refused() {
        let checker = Checker::start(2, os().clock).unwrap();
        let method = Known::new();
        std::thread::scope(|scope| {
            let ask = || block_on(checker.check(asked(&method, "alice", "right", NO_DELAY)));
            let all: Vec<_> = (0..60).map(|_| scope.spawn(ask)).collect();
            for one in all {
                assert!(matches!(one.join().unwrap(), Verdict::Right(_)));
            }
        });
        // Nor who cannot be answered: he was not wrong.
        for _ in 0..60 {
            let unknown = block_on(checker.check(asked(&method, "unknown", "right", NO_DELAY)));
            assert!(matches!(unknown, Verdict::Unable(_)));
        }
        let right = block_on(checker.check(asked(&method, "alice", "right", NO_DELAY)));
        assert!(matches!(right, Verdict::Right(_)));
    }

    #[test]
    fn who_goes_away_before_he_hears_has_been_wrong() {
        let (release, hold) = mpsc::channel();
        let method = Arc::new(Known {
            asked: AtomicUsize::new(0),
            hold: Some(Mutex::new(hold)),
        });
        let checker = Checker::start(1, os().clock).unwrap();
        let from = Origin::of(IpAddr::from([192, 0, 2, 1]), None);
        for _ in 0..40 {
            let mut gone = Box::pin(checker.check(asked(&method, "alice", "left", NO_DELAY)));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = gone.as_mut().poll(&mut context);
        }
        let now = checker.clock.monotonic();
        assert!(checker.limiter.turns(from, now).is_none());
        drop(release);
    }

    /// Says when it is dropped, as credentials are erased.
    struct Noted(Arc<AtomicUsize>);

    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn what_waits_is_dropped_with_whoever_has_asked() {
        let (release, hold) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let checker = Checker::start(1, os().clock).unwrap();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let mut held = Box::pin(checker.ask(move || {
            let _ = begin.send(());
            let _ = hold.recv();
        }));
        assert!(held.as_mut().poll(&mut context).is_pending());
        begun.recv().unwrap();
        let dropped = Arc::new(AtomicUsize::new(0));
        let noted = Noted(Arc::clone(&dropped));
        let mut gone = Box::pin(checker.ask(move || drop(noted)));
        assert!(gone.as_mut().poll(&mut context).is_pending());
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(gone);
        assert_eq!(dropped.load(Ordering::SeqCst), 1, "the thread is held");
        drop(release);
        assert_eq!(block_on(held), Ok(()));
    }

    #[test]
    fn no_more_wait_than_there_is_room_for() {
        let (release, hold) = mpsc::channel();
        let method = Arc::new(Known {
            asked: AtomicUsize::new(0),
            hold: Some(Mutex::new(hold)),
        });
        let checker = Checker::with_room(1, 1, os().clock).unwrap();
        std::thread::scope(|scope| {
            let ask = || block_on(checker.check(asked(&method, "alice", "right", NO_DELAY)));
            let held = scope.spawn(ask);
            let deadline = std::time::Instant::now() + Duration::from_secs(60);
            let in_time = || assert!(std::time::Instant::now() < deadline, "nobody is asked");
            while method.asked.load(Ordering::SeqCst) == 0 {
                in_time();
                std::thread::yield_now();
            }
            // One waits in the room; how many of these two is up to who comes first.
            let others = [scope.spawn(ask), scope.spawn(ask)];
            while !others.iter().any(|other| other.is_finished()) {
                in_time();
                std::thread::yield_now();
            }
            drop(release);
            assert!(matches!(held.join().unwrap(), Verdict::Right(_)));
            let verdicts = others.map(|other| other.join().unwrap());
            let refused =
                |v: &&Verdict| matches!(v, Verdict::Unable(why) if why.0.contains("wait"));
            assert_eq!(verdicts.iter().filter(refused).count(), 1, "{verdicts:?}");
        });
    }
}
