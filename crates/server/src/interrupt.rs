//! Ctrl-C, SIGTERM and a terminal that closes end a command or a measurement in order: what was done is kept, what was
//! started is ended.
//!
//! Invariants: after the first signal every wait here returns at once; who is asked twice leaves at once; a program
//! that was started to outlive its terminal (`nohup`) does.

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

    /// One that SIGINT, SIGTERM and SIGHUP raise; a second signal ends the process with 130.
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
        let (mut int, mut term, mut hup) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                match hangup_is_ignored() {
                    true => None,
                    false => Some(signal(SignalKind::hangup())?),
                },
            )
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    loop {
                        let hung_up = async {
                            match &mut hup {
                                Some(hup) => hup.recv().await,
                                None => std::future::pending().await,
                            }
                        };
                        tokio::select! {
                            _ = int.recv() => {}
                            _ = term.recv() => {}
                            _ = hung_up => {}
                        }
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

/// Whether this process was started with SIGHUP ignored, as `nohup` does. What the system does not tell counts
/// as no.
fn hangup_is_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

/// The same, in the text of `/proc/PID/status`: SIGHUP is the lowest bit.
fn ignores_hangup(status: &str) -> bool {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_seen() {
        for (status, ignored) in [
            (
                "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n",
                false,
            ),
            ("SigIgn:\t0000000000001001\nSigCgt:\t0\n", true),
            ("SigIgn:\tx\n", false),
            ("", false),
        ] {
            assert_eq!(ignores_hangup(status), ignored, "{status}");
        }
    }

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
