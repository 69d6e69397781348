//! How exact the proxy is on this machine, now.
//!
//! A byte goes to an echo and back, first without the proxy, then through it. Half of the difference less
//! the wanted delay is what the proxy itself costs each way; its median becomes the correction. Further rounds
//! through a corrected proxy tell what error is left, and correct that too, until it is small.
//!
//! Invariant: a calibration uses sockets of its own on loopback and leaves nothing behind.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use posthaste_env::spawn;
use posthaste_server::Failure;

use super::{DelayProxy, Settings, Way, system};

/// A longer delay is calibrated with this one: how late a sleeper wakes does not grow any more, and nobody
/// wants to wait for a hundred round trips to the moon.
const LONGEST: Duration = Duration::from_millis(5);
/// What one round may take.
const ROUND: Duration = Duration::from_millis(500);
/// Rounds after the first: the machine's mood may change between two of them.
const CORRECTIONS: u32 = 3;
/// An error, in nanoseconds, that needs no further correction.
const GOOD: i64 = 3_000;
/// Exchanges of a round, however long one takes, and at most.
const FEWEST: u32 = 20;
const MOST: u32 = 400;
/// Exchanges before those that count.
const WARM_UP: u32 = 10;
/// Nothing on loopback is that late; a machine that is, cannot be calibrated.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What a calibration found. Errors are of one way, positive when a byte comes too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// A round trip without the proxy, median, in nanoseconds.
    pub direct_ns: u64,
    /// What was taken off each delay, in nanoseconds: the proxy's own time, median. A way without delay has
    /// nothing to take off, so then the other one bears both.
    pub correction_ns: i64,
    /// What is left: median, in nanoseconds.
    pub error_p50_ns: i64,
    /// What is left: 99th percentile, in nanoseconds.
    pub error_p99_ns: i64,
    /// The delay is shorter than what the proxy itself costs.
    pub too_short: bool,
}

/// Measures a proxy with the delays of `settings` (without jitter and bandwidth, which are not errors).
pub(super) fn calibrate(settings: &Settings) -> Result<Calibration, Failure> {
    let found = measure(settings);
    found.map_err(|error| system("calibrate on loopback", &error))
}

fn measure(settings: &Settings) -> io::Result<Calibration> {
    let only_delay = |way: &Way| Way {
        delay: way.delay.min(LONGEST),
        ..Way::default()
    };
    let plain = Settings {
        up: only_delay(&settings.up),
        down: only_delay(&settings.down),
        ..*settings
    };
    let delay = plain.up.delay + plain.down.delay;
    let echo = Echo::start()?;
    let direct = percentile(&round_trips(echo.address, Duration::ZERO)?, 50);
    let through = |correction| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let proxy = DelayProxy::serve(listener, echo.address, &plain, correction)?;
        let found = round_trips(proxy.address(), delay)?;
        let error = |percent| (percentile(&found, percent) - direct - ns(delay)) / 2;
        Ok::<(i64, i64), io::Error>((error(50), error(99)))
    };
    let delays = [settings.up.delay, settings.down.delay];
    let delayed = delays.into_iter().filter(|delay| !delay.is_zero());
    let mut correction_ns = 0;
    let (mut error_p50_ns, mut error_p99_ns) = through(correction_ns)?;
    for _ in 0..CORRECTIONS {
        // Of a way that is not delayed nothing can be taken off, so the other one bears it all.
        correction_ns += match delayed.clone().count() {
            _ if error_p50_ns.abs() <= GOOD => break,
            0 => break,
            1 => error_p50_ns * 2,
            _ => error_p50_ns,
        };
        (error_p50_ns, error_p99_ns) = through(correction_ns)?;
    }
    Ok(Calibration {
        direct_ns: direct.unsigned_abs(),
        correction_ns,
        error_p50_ns,
        error_p99_ns,
        too_short: delayed.min().is_some_and(|delay| ns(delay) < correction_ns),
    })
}

fn ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Exactly, where a histogram rounds: what is sought is a small difference of two of them. `sorted` is not empty.
fn percentile(sorted: &[i64], percent: usize) -> i64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

/// Round trips of one message at a time, sorted, in nanoseconds.
fn round_trips(to: SocketAddr, expected: Duration) -> io::Result<Vec<i64>> {
    let fits = ROUND.as_nanos() / expected.as_nanos().max(1);
    let count = u32::try_from(fits).unwrap_or(MOST).clamp(FEWEST, MOST);
    let mut stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(expected + TIMEOUT))?;
    let mut found = Vec::new();
    let mut message = [7; 64];
    for number in 0..WARM_UP + count {
        let begun = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut message)?;
        if number >= WARM_UP {
            found.push(ns(begun.elapsed()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Sends back what it gets, one connection after the other, until it is dropped.
struct Echo {
    address: SocketAddr,
}

impl Echo {
    fn start() -> io::Result<Echo> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        spawn("echo", move || {
            for stream in listener.incoming() {
                // A connection that sends nothing is the sign to end.
                if stream.and_then(serve).unwrap_or(0) == 0 {
                    return;
                }
            }
        })?;
        Ok(Echo { address })
    }
}

fn serve(mut stream: TcpStream) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    let mut from = stream.try_clone()?;
    io::copy(&mut from, &mut stream)
}

impl Drop for Echo {
    fn drop(&mut self) {
        // If this fails the thread waits on an address that nobody knows, until the process ends.
        drop(TcpStream::connect(self.address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_measures_and_says_what_cannot_be_done() {
        let mut settings = Settings::delay(Duration::from_nanos(1));
        let found = calibrate(&settings).unwrap();
        assert!(found.direct_ns > 0);
        assert!(found.too_short && found.correction_ns > 1, "{found:?}");
        settings = Settings::delay(Duration::ZERO);
        let found = calibrate(&settings).unwrap();
        assert_eq!((found.correction_ns, found.too_short), (0, false));
    }
}
