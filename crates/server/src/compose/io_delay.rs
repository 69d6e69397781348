//! Tells of reads and writes of the recovery log that take long, as the environment variable
//! AMQ_IODELAY asks for (AMQ6729W).
//!
//! Invariants:
//! * Without the variable nothing is timed.
//! * At most one message a second is written of reads, and one of writes, the first of that second: a
//!   disk that is slow all the time must not fill the error log.
//! * A value that makes no sense is reported, not guessed at.

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use posthaste_engine::{EngineConfig, Operator};
use posthaste_env::{Env, Nanos, SlowCall, watch_disk};

const VARIABLE: &str = "AMQ_IODELAY";
/// YES: the limit is in microseconds, as its well-known use has it; otherwise in milliseconds.
const UNIT: &str = "AMQ_IODELAY_INMS";
const MICROSECOND: Nanos = 1_000;
/// Time between messages.
const PAUSE: Nanos = 1_000_000_000;

/// The limit that the variables ask for, in nanoseconds; the error is the value that makes no sense.
fn limit(value: Option<&OsStr>, unit: Option<&OsStr>) -> Result<Option<Nanos>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let unit = match unit.is_some_and(|unit| unit.eq_ignore_ascii_case("YES")) {
        true => MICROSECOND,
        false => 1_000 * MICROSECOND,
    };
    let text = value.to_string_lossy();
    let number = text.trim().parse::<Nanos>().ok().filter(|&n| n > 0);
    let limit = number.and_then(|number| number.checked_mul(unit));
    limit.map(Some).ok_or_else(|| text.into_owned())
}

/// Lets a message through once in a while.
#[derive(Default)]
struct Gate {
    /// When the last one went through; 0: none has.
    last: AtomicU64,
}

impl Gate {
    fn passes(&self, now: Nanos) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        if last != 0 && now.saturating_sub(last) < PAUSE {
            return false;
        }
        let turn =
            self.last
                .compare_exchange(last, now.max(1), Ordering::Relaxed, Ordering::Relaxed);
        turn.is_ok()
    }
}

fn inserts(call: &SlowCall, limit: Nanos) -> [String; 4] {
    [
        call.bytes.to_string(),
        if call.write { "W" } else { "R" }.to_owned(),
        (limit / MICROSECOND).to_string(),
        (call.took / MICROSECOND).to_string(),
    ]
}

/// The world with an eye on the recovery log's disk, if the environment asks for it.
pub(crate) fn watched(env: Env, config: &EngineConfig, operator: &Arc<dyn Operator>) -> Env {
    let (value, unit) = (std::env::var_os(VARIABLE), std::env::var_os(UNIT));
    let limit = match limit(value.as_deref(), unit.as_deref()) {
        Ok(None) => return env,
        Ok(Some(limit)) => limit,
        Err(value) => {
            operator.message("AMQ2032W", &[VARIABLE.to_owned(), value]);
            return env;
        }
    };
    let (operator, gates) = (Arc::clone(operator), [Gate::default(), Gate::default()]);
    let listener = move |call: SlowCall| {
        let [reads, writes] = &gates;
        let gate = if call.write { writes } else { reads };
        if gate.passes(call.ended) {
            operator.message("AMQ6729W", &inserts(&call, limit));
        }
    };
    Env {
        disk: watch_disk(env.disk, &config.log, limit, Arc::new(listener)),
        ..env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_their_units() {
        let asked =
            |value: &str, unit: Option<&str>| limit(Some(OsStr::new(value)), unit.map(OsStr::new));
        assert_eq!(limit(None, Some(OsStr::new("YES"))), Ok(None));
        assert_eq!(asked("", None), Ok(None));
        assert_eq!(asked("7000", Some("YES")), Ok(Some(7_000_000)));
        assert_eq!(asked(" 7000 ", Some("yes")), Ok(Some(7_000_000)));
        assert_eq!(asked("7", None), Ok(Some(7_000_000)));
        assert_eq!(asked("7", Some("NO")), Ok(Some(7_000_000)));
        for nonsense in ["0", "-1", "7ms", "18446744073709551615"] {
            assert_eq!(asked(nonsense, None), Err(nonsense.to_owned()));
        }
    }

    #[test]
    fn a_message_says_what_took_how_long() {
        let mut call = SlowCall {
            bytes: 4096,
            write: true,
            took: 10_126_900,
            ended: 0,
        };
        assert_eq!(inserts(&call, 7_000_000), ["4096", "W", "7000", "10126"]);
        call.write = false;
        assert_eq!(inserts(&call, 7_000_000)[1], "R");
    }

    #[test]
    fn a_disk_that_is_always_slow_is_told_of_once_a_second() {
        let gate = Gate::default();
        let passed: Vec<Nanos> = (0..400)
            .map(|n| n * 10_000_000)
            .filter(|&now| gate.passes(now))
            .collect();
        assert_eq!(passed.len(), 4, "{passed:?}");
    }
}
