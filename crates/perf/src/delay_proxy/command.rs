//! `posthaste delayproxy`: the proxy as a command that runs until it is ended.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;
use posthaste_server::{Exit, Failure};

use super::{Calibration, DelayProxy, Settings, Totals, Way, system};
use crate::measure::Interrupt;
use crate::quantity;
use crate::terminal::{note, say};

const EXAMPLES: &str = "\
  posthaste delayproxy --to 127.0.0.1:1414 --delay 500us
      127.0.0.1:1500 is the queue manager as if it were 500 us away
  posthaste delayproxy --to qm:1414 --delay 10ms --jitter 2ms --bandwidth 10Mbit
  posthaste delayproxy --to 127.0.0.1:1414 --up 1ms --down 20ms
  posthaste delayproxy --listen 127.0.0.1:0 --to qm.example.com:1414 --delay 1ms
      any free port; it is printed

The delay is one way: a round trip takes twice as long. Bytes are neither reordered nor gathered.
At the start it measures on loopback what it costs itself, takes that off the delay, and says what
error is left. It runs on one thread and keeps a processor partly busy, which counts when client and
server run on the same machine. Ctrl-C or SIGTERM ends it with totals.";

/// A distant network on one machine: pass TCP connections on, later.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DelayProxyArgs {
    /// Where clients connect to; port 0 is any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:1500")]
    pub listen: String,
    /// Where they are passed on to
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// Added each way: 500us, 1.5ms, 2s
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = quantity::duration)]
    pub delay: Duration,
    /// The delay varies evenly by so much in both directions
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = quantity::duration)]
    pub jitter: Duration,
    /// Added on the way to the server, instead of --delay
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub up: Option<Duration>,
    /// Added on the way to the client, instead of --delay
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub down: Option<Duration>,
    /// What passes each way on one connection at most: 10Mbit, 1Gbit
    #[arg(long, value_name = "RATE", value_parser = quantity::bits_per_second)]
    pub bandwidth: Option<NonZeroU64>,
    /// Bytes that one way of a connection holds at most, 4K to 1G; K, M and G are understood
    #[arg(long, value_name = "BYTES", default_value = "8M", value_parser = buffer)]
    pub buffer: usize,
    /// Do not measure and correct its own error at the start
    #[arg(long)]
    pub no_calibration: bool,
}

fn buffer(text: &str) -> Result<usize, String> {
    let bytes = posthaste_server::parse_bytes(text)?;
    let bytes = usize::try_from(bytes).ok();
    let bytes = bytes.filter(|bytes| (4096..=1 << 30).contains(bytes));
    bytes.ok_or_else(|| "write bytes from 4K to 1G".to_owned())
}

impl DelayProxyArgs {
    fn settings(&self) -> Result<Settings, Failure> {
        let way = |delay: Option<Duration>| Way {
            delay: delay.unwrap_or(self.delay),
            jitter: self.jitter,
            bandwidth: self.bandwidth,
        };
        let (up, down) = (way(self.up), way(self.down));
        if self.jitter > up.delay.min(down.delay) {
            return Err(Failure::bad_parameter(
                "--jitter is more than the delay: a byte would have to arrive before it is sent",
            ));
        }
        Ok(Settings {
            up,
            down,
            buffer: self.buffer,
            calibrate: !self.no_calibration,
        })
    }
}

fn address(option: &str, text: &str) -> Result<SocketAddr, Failure> {
    let wrong = |why: &str| Failure::bad_parameter(format!("{option} {text}: {why}"));
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| wrong(&format!("{error}; write host:port")))?;
    found.next().ok_or_else(|| wrong("the name has no address"))
}

/// Refuses a target that nobody can listen on, and the proxy itself: each connection would make the next one until
/// nothing is left.
fn check_target(listen: SocketAddr, to: SocketAddr) -> Result<(), Failure> {
    let wrong = |why: &str| Err(Failure::bad_parameter(format!("--to {to}: {why}")));
    if to.port() == 0 {
        return wrong("port 0 is no port that anything listens on");
    }
    let everywhere = |address: SocketAddr| address.ip().is_unspecified();
    let here = |address: SocketAddr| everywhere(address) || address.ip().is_loopback();
    let itself = to == listen
        || to.port() == listen.port()
            && (everywhere(listen) || everywhere(to))
            && here(listen)
            && here(to);
    match itself {
        true => wrong("this is where the proxy itself listens (--listen)"),
        false => Ok(()),
    }
}

/// Runs the command until SIGINT or SIGTERM.
///
/// # Errors
/// Options that do not fit together, an address that cannot be used, a refusal of the system.
pub fn run(args: &DelayProxyArgs) -> Result<Exit, Failure> {
    let settings = args.settings()?;
    let listen = address("--listen", &args.listen)?;
    let to = address("--to", &args.to)?;
    check_target(listen, to)?;
    posthaste_env::allow_descriptors();
    if settings.calibrate {
        note(&format!("{}Calibrating ...\n", start_of_line()));
    }
    // Made first: connections may leave no descriptors for it.
    let interrupt = Interrupt::on_signals();
    let interrupt = interrupt.map_err(|error| system("wait for its end", &error))?;
    let proxy = DelayProxy::start(listen, to, settings)?;
    let mut text = format!("Listening on {}, passing to {to}.\n", proxy.address());
    text.push_str(&about(&settings, proxy.calibration()));
    text.push_str("Ctrl-C ends it.\n");
    say(&text);
    watch(&proxy, &interrupt);
    let totals = proxy.totals();
    drop(proxy);
    say(&format!("{}{}\n", start_of_line(), shown(&totals)));
    Ok(Exit::Done)
}

/// What it adds, and how exactly.
fn about(settings: &Settings, calibration: Option<&Calibration>) -> String {
    let (up, down) = (settings.up, settings.down);
    let us = |ns: f64| format!("{} us", quantity::trimmed(ns / 1e3, 1));
    let time = |time: Duration| us(time.as_nanos() as f64);
    let mut out = match up.delay == down.delay {
        true => format!("Delay {} each way", time(up.delay)),
        false => format!("Delay {} up, {} down", time(up.delay), time(down.delay)),
    };
    if !up.jitter.is_zero() {
        let _ = write!(out, ", jitter {} to either side", time(up.jitter));
    }
    if let Some(bandwidth) = up.bandwidth {
        let rate = quantity::shown_rate(bandwidth.get());
        let _ = write!(out, ", at most {rate} each way");
    }
    let Some(found) = calibration else {
        return out + "; not calibrated: the proxy's own time comes on top.\n";
    };
    let taken_off = match up.delay.is_zero() && down.delay.is_zero() {
        true => "the proxy's own time cannot be taken off where nothing is delayed".to_owned(),
        false => {
            let own = us(found.correction_ns as f64);
            format!("the proxy's own {own} have been taken off each delay")
        }
    };
    let _ = writeln!(
        out,
        ", error {:+.0} us (p50), {:+.0} us (p99).\n\
         Measured on loopback: a direct round trip takes {}; {taken_off}.",
        found.error_p50_ns as f64 / 1e3,
        found.error_p99_ns as f64 / 1e3,
        us(found.direct_ns as f64),
    );
    if found.too_short {
        out.push_str(
            "Warning: the delay is shorter than what the proxy itself costs; it is longer than asked for.\n",
        );
    }
    out
}

fn shown(totals: &Totals) -> String {
    let mut out = format!(
        "{} connections ({} open), {} up, {} down",
        quantity::grouped(totals.accepted),
        totals.open,
        quantity::shown_size(totals.up as f64),
        quantity::shown_size(totals.down as f64)
    );
    if totals.refused > 0 {
        let _ = write!(out, ", {} not passed on", quantity::grouped(totals.refused));
    }
    out
}

/// Waits for a signal; shows meanwhile what passes, and tells a failure once while it lasts.
fn watch(proxy: &DelayProxy, interrupt: &Interrupt) {
    let mut before = Totals::default();
    let mut last: Option<String> = None;
    let mut ended = false;
    while !ended {
        ended = interrupt.pass(Duration::from_secs(1));
        // What has happened since the last tick is told at the end too.
        let totals = proxy.totals();
        let failed =
            (totals.refused, &totals.last_failure) != (before.refused, &before.last_failure);
        let what = totals.last_failure.as_ref().filter(|_| failed);
        if let Some(what) = what.filter(|what| last.as_ref() != Some(what)) {
            note(&format!("{}delayproxy: {what}\n", start_of_line()));
        }
        // After a second without it, it is told again.
        last = what.cloned();
        if totals != before && std::io::stderr().is_terminal() {
            note(&format!("\r\x1b[K{}", shown(&totals)));
        }
        before = totals;
    }
}

/// Where a status line may stand, what clears it.
fn start_of_line() -> &'static str {
    match std::io::stderr().is_terminal() {
        true => "\r\x1b[K",
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DelayProxyArgs,
    }

    fn parsed(line: &str) -> Result<Settings, i32> {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let line = Line::try_parse_from(["delayproxy"].into_iter().chain(words)).map_err(|_| 0)?;
        line.args
            .settings()
            .map_err(|failure| failure.exit.code().into())
    }

    #[test]
    fn options_become_settings_or_are_refused() {
        let us = Duration::from_micros;
        let found = parsed("--to a:1 --delay 500us --jitter 50us --bandwidth 10Mbit").unwrap();
        let way = Way {
            delay: us(500),
            jitter: us(50),
            bandwidth: NonZeroU64::new(10_000_000),
        };
        assert_eq!((found.up, found.down), (way, way));
        assert!(found.calibrate && found.buffer == 8 << 20);
        let found = parsed("--to a:1 --delay 5us --down 2ms --no-calibration").unwrap();
        assert_eq!((found.up.delay, found.down.delay), (us(5), us(2_000)));
        assert!(!found.calibrate);
        for (wrong, code) in [
            ("--delay 5us", 0),
            ("--to a:1 --delay 5", 0),
            ("--to a:1 --bandwidth 10M", 0),
            ("--to a:1 --buffer 1K", 0),
            ("--to a:1 --delay 5us --jitter 6us", 39),
            ("--to a:1 --delay 5us --up 1us --jitter 2us", 39),
        ] {
            assert_eq!(parsed(wrong), Err(code), "{wrong}");
        }
        assert!(address("--to", "127.0.0.1:1414").is_ok());
        for wrong in ["127.0.0.1", ":", "127.0.0.1:99999"] {
            assert_eq!(address("--to", wrong).unwrap_err().exit, Exit::BadParameter);
        }
    }

    #[test]
    fn a_target_that_cannot_be_reached_or_is_the_proxy_is_refused() {
        for line in [
            "127.0.0.1:1500 127.0.0.1:1414 fine",
            "127.0.0.1:1414 127.0.0.2:1414 fine",
            "127.0.0.1:1414 192.0.2.7:1414 fine",
            "0.0.0.0:1414 192.0.2.7:1414 fine",
            "127.0.0.1:0 127.0.0.1:1414 fine",
            "127.0.0.1:1500 127.0.0.1:0 refused",
            "127.0.0.1:1500 127.0.0.1:1500 refused",
            "192.0.2.7:1500 192.0.2.7:1500 refused",
            "0.0.0.0:1500 127.0.0.1:1500 refused",
            "127.0.0.1:1500 0.0.0.0:1500 refused",
            "[::]:1500 [::1]:1500 refused",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let found = check_target(words[0].parse().unwrap(), words[1].parse().unwrap());
            let expected = match words[2] {
                "fine" => Ok(()),
                _ => Err(Exit::BadParameter),
            };
            assert_eq!(found.map_err(|failure| failure.exit), expected, "{line}");
        }
    }

    #[test]
    fn it_says_what_it_adds_and_how_exactly() {
        let settings = Settings::delay(Duration::from_micros(500));
        let found = Calibration {
            direct_ns: 40_000,
            correction_ns: 31_500,
            error_p50_ns: 12_000,
            error_p99_ns: 60_400,
            too_short: false,
        };
        let text = about(&settings, Some(&found));
        let first = "Delay 500 us each way, error +12 us (p50), +60 us (p99).\n";
        assert!(text.starts_with(first), "{text}");
        let second = "a direct round trip takes 40 us; the proxy's own 31.5 us have been taken off each delay.";
        assert!(text.contains(second), "{text}");
        let undelayed = about(&Settings::delay(Duration::ZERO), Some(&found));
        assert!(undelayed.contains("cannot be taken off"), "{undelayed}");
        assert!(about(&settings, None).contains("not calibrated"));
        let narrow = parsed("--to a:1 --bandwidth 1bit").unwrap();
        let narrow = about(&narrow, None);
        assert!(narrow.contains(", at most 1 bit/s each way"), "{narrow}");
    }
}
