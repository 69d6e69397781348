//! The system's log: the voice that is left when the error log cannot be written.
//!
//! Invariant: a message is handed over without waiting, in one datagram, in the form of the C library's `syslog`
//! (`<priority>date program[process]: text`).

use std::os::unix::net::UnixDatagram;
use std::path::Path;

use jiff::Zoned;
use posthaste_command::messages::{self, Severity};

/// Where the system's log listens.
pub(super) const SOCKET: &str = "/dev/log";
/// LOG_DAEMON.
const FACILITY: u8 = 3 << 3;

/// The priorities of syslog.
fn priority(id: &str) -> u8 {
    let severity = messages::find(id).map_or(Severity::Error, messages::Message::severity);
    FACILITY
        | match severity {
            Severity::Severe => 2,
            Severity::Error => 3,
            Severity::Warning => 4,
            Severity::Information => 6,
        }
}

fn line(now: &Zoned, queue_manager: Option<&str>, id: &str, text: &str) -> String {
    let (priority, process) = (priority(id), std::process::id());
    let date = now.strftime("%b %e %H:%M:%S");
    let name = queue_manager.map_or_else(String::new, |name| format!("{name}: "));
    format!("<{priority}>{date} posthaste[{process}]: {name}{id}: {text}")
}

/// Hands a message over to whoever listens at `socket`.
pub(super) fn send(
    socket: &Path,
    now: &Zoned,
    queue_manager: Option<&str>,
    id: &str,
    inserts: &[String],
) {
    let line = line(now, queue_manager, id, &messages::format(id, inserts));
    // There is nobody left to tell that there is no system's log, or that it is overrun.
    let _ = UnixDatagram::unbound().and_then(|from| {
        from.set_nonblocking(true)?;
        from.send_to(line.as_bytes(), socket)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_the_system_wants_it() {
        let now: Zoned = "2024-08-04T17:25:58.791+01:00[+01:00]".parse().unwrap();
        let process = std::process::id();
        assert_eq!(
            line(&now, Some("QM1"), "AMQ2027S", "It stopped."),
            format!("<26>Aug  4 17:25:58 posthaste[{process}]: QM1: AMQ2027S: It stopped.")
        );
        for (id, expected) in [("AMQ2020E", 27), ("AMQ2012W", 28), ("AMQ8003I", 30)] {
            assert_eq!(priority(id), expected, "{id}");
        }
        assert!(line(&now, None, "AMQ2020E", "x").ends_with("]: AMQ2020E: x"));
    }
}
