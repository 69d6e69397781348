//! A TCP proxy that adds latency and limits bandwidth: a distant network on one machine.
//!
//! What a client sends arrives at the server unchanged and in order, `delay` later (give or take `jitter`),
//! through a line as wide as `bandwidth`; and the other way round. Each direction holds many chunks at
//! once, each with its own time, so nothing is delayed because something else is under way. Memory is
//! bounded: a direction that holds [`Settings::buffer`] bytes reads no more. Setting up a connection is not
//! delayed; its end is, like data.
//!
//! The proxy itself costs time (two more passes through the kernel, wake-ups). [`DelayProxy::start`]
//! measures that on loopback, takes it off the delay, measures again, and tells what is left
//! ([`Calibration`]).

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_env::{Nanos, Thread, spawn};

mod calibrate;
mod command;
mod line;
mod link;
mod relay;

pub use calibrate::Calibration;
pub use command::{DelayProxyArgs, run};

use line::Shape;
use relay::Relay;

/// What one direction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Added to the time that a byte takes.
    pub delay: Duration,
    /// The delay varies evenly by so much in both directions; at most the delay.
    pub jitter: Duration,
    /// Bits a second that pass; without it, as many as come.
    pub bandwidth: Option<NonZeroU64>,
}

/// What a proxy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// From client to server.
    pub up: Way,
    /// From server to client.
    pub down: Way,
    /// Bytes that one direction of one connection holds at most. Must be more than bandwidth × delay, or
    /// it is what limits the bandwidth.
    pub buffer: usize,
    /// Whether to measure the proxy's own time and take it off the delay.
    pub calibrate: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            up: Way::default(),
            down: Way::default(),
            buffer: 8 << 20,
            calibrate: true,
        }
    }
}

impl Settings {
    /// The same delay each way.
    pub fn delay(delay: Duration) -> Settings {
        let way = Way {
            delay,
            ..Way::default()
        };
        Settings {
            up: way,
            down: way,
            ..Settings::default()
        }
    }
}

/// Why there is no proxy.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// A thread, a socket or a descriptor was refused.
    #[error("cannot {0}: {1}")]
    System(&'static str, #[source] io::Error),
}

/// What a proxy has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Connections to the server that could not be made.
    pub refused: u64,
    /// Bytes delivered to the server.
    pub up: u64,
    /// Bytes delivered to clients.
    pub down: u64,
    /// The last thing that went wrong.
    pub last_failure: Option<String>,
}

impl Totals {
    fn refuse(&mut self, to: SocketAddr, error: &io::Error) {
        self.refused += 1;
        self.last_failure = Some(format!("cannot connect to {to}: {error}"));
    }
}

/// A running proxy; it ends, with its connections, when this is dropped.
pub struct DelayProxy {
    address: SocketAddr,
    totals: Arc<Mutex<Totals>>,
    calibration: Option<Calibration>,
    stop: Arc<OwnedFd>,
    thread: Option<Thread>,
}

impl std::fmt::Debug for DelayProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DelayProxy")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl DelayProxy {
    /// Starts a proxy from `listen` (port 0: any free one) to `to`, on a thread of its own. Calibrating
    /// takes about two seconds.
    ///
    /// # Errors
    /// The address cannot be listened on, or the system refuses a thread or a descriptor.
    pub fn start(
        listen: SocketAddr,
        to: SocketAddr,
        settings: Settings,
    ) -> Result<DelayProxy, ProxyError> {
        // The address comes first: whoever cannot have it need not wait for a calibration.
        let refused = |error| ProxyError::Listen(listen, error);
        let listener = TcpListener::bind(listen).map_err(refused)?;
        let calibration = match settings.calibrate {
            true => Some(calibrate::calibrate(&settings)?),
            false => None,
        };
        let correction = calibration.map_or(0, |found| found.correction_ns);
        let mut proxy = DelayProxy::serve(listener, to, &settings, correction)?;
        proxy.calibration = calibration;
        Ok(proxy)
    }

    fn serve(
        listener: TcpListener,
        to: SocketAddr,
        settings: &Settings,
        correction_ns: i64,
    ) -> Result<DelayProxy, ProxyError> {
        let system = |what| move |error| ProxyError::System(what, error);
        let address = listener.local_addr().map_err(system("find the address"))?;
        let unblocked = listener.set_nonblocking(true);
        unblocked.map_err(system("prepare the listener"))?;
        let totals: Arc<Mutex<Totals>> = Arc::default();
        let shapes = (
            shape(&settings.up, settings.buffer, correction_ns),
            shape(&settings.down, settings.buffer, correction_ns),
        );
        let clock = posthaste_env::os().clock;
        let relay = Relay::new(listener, to, shapes, clock, Arc::clone(&totals));
        let relay = relay.map_err(system("prepare the proxy"))?;
        let stop = relay.stopper();
        let thread = spawn("delayproxy", move || relay.run());
        Ok(DelayProxy {
            address,
            totals,
            calibration: None,
            stop,
            thread: Some(thread.map_err(system("start a thread"))?),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was found by calibrating, if that was asked for.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// What it has done so far.
    pub fn totals(&self) -> Totals {
        self.totals.lock().clone()
    }
}

impl Drop for DelayProxy {
    fn drop(&mut self) {
        // An eventfd takes a number unless it is full, and then it is readable already.
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // A panic of it has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

fn shape(way: &Way, buffer: usize, correction_ns: i64) -> Shape {
    let delay = nanos(way.delay);
    // Nothing was asked to be late, so nothing can be taken off.
    let corrected = match delay {
        0 => 0,
        delay => delay.saturating_add_signed(-correction_ns),
    };
    Shape {
        delay: corrected,
        jitter: nanos(way.jitter).min(delay),
        bandwidth: way.bandwidth,
        capacity: buffer.max(1),
    }
}

#[cfg(test)]
mod tests;
