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
//!
//! * `line`: one direction, without a socket or a clock. `link`: a connection, two lines and two sockets.
//! * `relay`: the loop on one thread that carries all of them.
//! * `calibrate`: what the proxy itself costs. `command`: `posthaste delayproxy`.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use posthaste_env::{Nanos, Thread, spawn};
use posthaste_server::{Exit, Failure};

mod calibrate;
mod command;
mod line;
mod link;
mod relay;

pub use calibrate::Calibration;
pub use command::{DelayProxyArgs, run};

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

impl Way {
    /// The same with the proxy's own time taken off the delay. Where nothing was asked to be late, nothing can be
    /// taken off.
    fn corrected(&self, correction_ns: i64) -> Way {
        let delay = match nanos(self.delay) {
            0 => 0,
            delay => delay.saturating_add_signed(-correction_ns),
        };
        Way {
            delay: Duration::from_nanos(delay),
            jitter: self.jitter.min(self.delay),
            bandwidth: self.bandwidth,
        }
    }
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
            buffer: 8 << 20,
            calibrate: true,
        }
    }
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
#[derive(Debug)]
pub struct DelayProxy {
    address: SocketAddr,
    totals: Arc<Mutex<Totals>>,
    calibration: Option<Calibration>,
    stop: Arc<mio::Waker>,
    thread: Option<Thread>,
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
    ) -> Result<DelayProxy, Failure> {
        // The address comes first: whoever cannot have it need not wait for a calibration.
        let listener = TcpListener::bind(listen).map_err(|why| {
            let (host, port) = (listen.ip().to_string(), listen.port().to_string());
            let inserts = [host.as_str(), port.as_str(), &why.to_string()];
            Failure::new(Exit::CannotListen, "AMQ9218E", &inserts)
        })?;
        let calibration = match settings.calibrate {
            true => Some(calibrate::calibrate(&settings)?),
            false => None,
        };
        let correction = calibration.map_or(0, |found| found.correction_ns);
        let mut proxy = DelayProxy::serve(listener, to, &settings, correction)
            .map_err(|error| system("start its thread", &error))?;
        proxy.calibration = calibration;
        Ok(proxy)
    }

    fn serve(
        listener: TcpListener,
        to: SocketAddr,
        settings: &Settings,
        correction_ns: i64,
    ) -> io::Result<DelayProxy> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let listener = mio::net::TcpListener::from_std(listener);
        let totals: Arc<Mutex<Totals>> = Arc::default();
        let settings = Settings {
            up: settings.up.corrected(correction_ns),
            down: settings.down.corrected(correction_ns),
            ..*settings
        };
        let (relay, stop) = Relay::new(listener, to, settings, Arc::clone(&totals))?;
        let thread = spawn("delayproxy", move || relay.run())?;
        Ok(DelayProxy {
            address,
            totals,
            calibration: None,
            stop,
            thread: Some(thread),
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
        // It can only be refused when it is full, and then the thread is awake.
        let _ = self.stop.wake();
        if let Some(thread) = self.thread.take() {
            // A panic of it has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// The operating system refused.
fn system(what: &str, why: &io::Error) -> Failure {
    let what = format!("the delay proxy cannot {what}");
    Failure::new(Exit::Unusable, "AMQ2008E", &[&what, &why.to_string()])
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

#[cfg(test)]
mod tests;
