//! Ctrl-C and SIGTERM end a run in order: what was measured is kept, what was started is ended.
//!
//! Invariant: after the first signal every wait here returns at once. Who is asked twice leaves at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::signal::unix::{SignalKind, signal};

#[derive(Debug, Default)]
struct Inner {
    raised: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Whether the person at the terminal has had enough. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    inner: Arc<Inner>,
}

impl Interrupt {
    /// One that no signal raises.
    pub fn none() -> Interrupt {
        Interrupt::default()
    }

    /// One that SIGINT and SIGTERM raise; a second signal ends the process with 130.
    ///
    /// # Errors
    /// Signals cannot be caught.
    pub fn on_signals() -> io::Result<Interrupt> {
        Interrupt::on_signals_then(|| {})
    }

    /// The same; `leaving` is called before a second signal ends the process, to put in order what must
    /// not be left behind.
    ///
    /// # Errors
    /// Signals cannot be caught.
    pub fn on_signals_then(leaving: impl Fn() + Send + 'static) -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let raised = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (mut int, mut term) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            )
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    loop {
                        tokio::select! { _ = int.recv() => {}, _ = term.recv() => {} }
                        if raised.raised() {
                            leaving();
                            std::process::exit(130);
                        }
                        raised.raise();
                    }
                });
            })?;
        Ok(interrupt)
    }

    /// Raises it.
    pub fn raise(&self) {
        let _held = self.inner.lock.lock();
        self.inner.raised.store(true, Ordering::Release);
        self.inner.changed.notify_all();
    }

    /// Whether it was raised.
    pub fn raised(&self) -> bool {
        self.inner.raised.load(Ordering::Acquire)
    }

    /// Lets time pass; returns early, with `true`, when it is raised.
    pub fn pass(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut held = self.inner.lock.lock();
        while !self.raised() {
            if self.inner.changed.wait_until(&mut held, until).timed_out() {
                return self.raised();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_raised() {
        let interrupt = Interrupt::none();
        assert!(!interrupt.pass(Duration::ZERO));
        let waits = interrupt.clone();
        let thread = std::thread::spawn(move || waits.pass(Duration::from_secs(600)));
        interrupt.raise();
        assert!(thread.join().unwrap());
        assert!(interrupt.pass(Duration::from_secs(600)));
    }
}
