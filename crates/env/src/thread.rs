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
    handle: std::thread::JoinHandle<()>,
}

impl Thread {
    /// Waits for the thread's end; an error means that it panicked.
    #[expect(
        clippy::result_unit_err,
        reason = "the panic was already reported by the panic hook; there is nothing to add"
    )]
    pub fn join(self) -> Result<(), ()> {
        self.handle.join().map_err(|_| ())
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

/// Starts a named thread (the system shows the first 15 bytes of the name).
pub fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let handle = std::thread::Builder::new().name(name.to_owned()).spawn(f)?;
    Ok(Thread { handle })
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
