//! Threads, and running a future to its end on the calling one.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::event::Event;

/// A started thread. Dropping it lets the thread run on by itself.
#[derive(Debug)]
pub struct Thread {
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    Real(std::thread::JoinHandle<()>),
    /// Run by the scheduler of the thread that started it.
    #[cfg(feature = "interleave")]
    Scheduled(usize),
}

impl Thread {
    /// Waits for the thread's end; an error means that it panicked.
    #[expect(
        clippy::result_unit_err,
        reason = "the panic was already reported by the panic hook; there is nothing to add"
    )]
    pub fn join(self) -> Result<(), ()> {
        match self.handle {
            Handle::Real(handle) => handle.join().map_err(|_| ()),
            #[cfg(feature = "interleave")]
            Handle::Scheduled(thread) => match crate::sync::scheduler() {
                Some(scheduler) if scheduler.join(thread) => Err(()),
                _ => Ok(()),
            },
        }
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Real(handle) => handle.is_finished(),
            #[cfg(feature = "interleave")]
            Handle::Scheduled(thread) => {
                crate::sync::scheduler().is_none_or(|s| s.ended(*thread).is_some())
            }
        }
    }
}

/// Starts a named thread (the system shows the first 15 bytes of the name).
pub fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    #[cfg(feature = "interleave")]
    if let Some(scheduler) = crate::sync::scheduler() {
        let handle = Handle::Scheduled(scheduler.spawn(name, Box::new(f)));
        return Ok(Thread { handle });
    }
    let handle = std::thread::Builder::new().name(name.to_owned()).spawn(f)?;
    Ok(Thread {
        handle: Handle::Real(handle),
    })
}

/// Whether the calling thread is unwinding from a panic.
pub fn panicking() -> bool {
    std::thread::panicking()
}

/// How late, in nanoseconds, the kernel may end a timed wait of the calling thread (50,000 by default).
/// A thread that waits for a share of one log write needs less.
pub fn set_timer_slack(nanos: u64) -> io::Result<()> {
    // Zero would mean "back to the default" to the kernel.
    let slack = std::num::NonZeroU64::new(nanos).unwrap_or(std::num::NonZeroU64::MIN);
    rustix::thread::set_current_timer_slack(Some(slack))?;
    Ok(())
}

/// What a blocked thread is woken by.
struct Parked(Event);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.set();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.set();
    }
}

thread_local! {
    /// The parking place of this thread's last `block_on`, so that a verb costs no allocation. It is
    /// taken out while in use: a nested `block_on` must not eat the outer one's wake-up. A waker that
    /// outlives its future can wake a later one for nothing, which only costs a poll.
    static SPARE: Cell<Option<Arc<Parked>>> = const { Cell::new(None) };
}

/// Runs `f` to its end on this thread, which sleeps whenever the future waits.
pub fn block_on<F: Future>(f: F) -> F::Output {
    let mut f = pin!(f);
    let parked = SPARE
        .take()
        .unwrap_or_else(|| Arc::new(Parked(Event::new())));
    let waker = Waker::from(Arc::clone(&parked));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = f.as_mut().poll(&mut context) {
            SPARE.set(Some(parked));
            return output;
        }
        parked.0.wait(None);
    }
}
