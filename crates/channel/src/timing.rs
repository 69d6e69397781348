//! When a peer has been silent, idle or deaf for too long. Pure: time is an argument.
//!
//! | what | when | then |
//! | --- | --- | --- |
//! | handshake | not connected so long after the socket was accepted; somewhat longer while an MQCONN waits for an answer about its password | it is closed |
//! | heartbeat | nothing received for HBINT | a heartbeat is sent |
//! | silence | nothing received, not even the answer to it, for HBINT and HBINT (60 s at most) more | the peer is dead |
//! | DISCINT | no verb running and none begun for so long | the channel ends |
//! | unfinished | a flow has begun and not or hardly gone on, though it was read, for once or twice as long as a stall | the peer is dead |
//! | stall | output waits and nothing of it could be written for so long, or less than 1 MiB while others wait for that | the peer is deaf |
//!
//! On a socket that is not shared the client listens only while it awaits a reply, so there heartbeats are sent only
//! while an MQGET waits, and silence counts only then.

use std::time::Duration;

use posthaste_env::Nanos;

use crate::registry::Limits;

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Handshake,
    Heartbeat,
    Silence,
    Unfinished,
    Idle,
    Stall,
}

/// What is true of the socket now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) time: Nanos,
    /// A conversation has been connected.
    pub(crate) connected: bool,
    /// A verb is running.
    pub(crate) running: bool,
    /// The client listens: the socket is shared, or an MQGET waits.
    pub(crate) listening: bool,
    /// Input is read; it is not while output or requests have piled up.
    pub(crate) reading: bool,
    /// Output waits.
    pub(crate) waiting: bool,
    /// Flows have begun and are not complete.
    pub(crate) unfinished: bool,
}

/// The clockwork of one socket.
#[derive(Debug)]
pub(crate) struct Timing {
    handshake: Nanos,
    checks: Nanos,
    stall: Nanos,
    heartbeat: Nanos,
    disconnect: Nanos,
    /// Something was received last.
    received: Nanos,
    /// A heartbeat was sent since then.
    asked: bool,
    /// A verb began or ended last.
    called: Nanos,
    /// Something was written, or nothing waited, last.
    written: Nanos,
    /// Bytes written by then.
    progress: u64,
    /// It was looked at whether unfinished flows go on, or none was there or could, last.
    went_on: Nanos,
}

const SECOND: Nanos = 1_000_000_000;
/// What a peer must read in a stall while others wait until it has: a byte now and then would hold them up for ever.
const PACE: u64 = 1_024 * 1_024;
/// The most that is waited, beyond HBINT, for a sign of life.
const MOST_GRACE: Nanos = 60 * SECOND;

pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

impl Timing {
    pub(crate) fn new(now: Nanos, limits: &Limits) -> Timing {
        Timing {
            handshake: now.saturating_add(nanos(limits.handshake)),
            checks: nanos(limits.checks),
            stall: nanos(limits.stall),
            heartbeat: 0,
            disconnect: 0,
            received: now,
            asked: false,
            called: now,
            written: now,
            progress: 0,
            went_on: now,
        }
    }

    /// What was agreed and defined, in seconds; 0 for never.
    pub(crate) fn agreed(&mut self, heartbeat_s: u32, disconnect_s: u32) {
        self.heartbeat = u64::from(heartbeat_s) * SECOND;
        self.disconnect = u64::from(disconnect_s) * SECOND;
    }

    pub(crate) fn received(&mut self, now: Nanos) {
        self.received = now;
        self.asked = false;
    }

    /// A verb runs or has run until now.
    pub(crate) fn called(&mut self, now: Nanos) {
        self.called = now;
    }

    /// `progress`: bytes written since the start. `waiting`: there are more. `presses`: others wait until they are read.
    pub(crate) fn written(&mut self, now: Nanos, progress: u64, waiting: bool, presses: bool) {
        let least = if presses { PACE } else { 1 };
        if !waiting || progress - self.progress >= least {
            self.written = now;
            self.progress = progress;
        }
    }

    /// No flow is unfinished, or those that are have gone on, or could not because nothing is read.
    pub(crate) fn went_on(&mut self, now: Nanos) {
        self.went_on = now;
    }

    pub(crate) fn heartbeat_sent(&mut self) {
        self.asked = true;
    }

    /// What of the table comes first, and when; nothing, if no row applies. It is due if that is not later than now.
    pub(crate) fn next(&self, now: &Now) -> Option<(Nanos, Due)> {
        let mut first = None;
        let mut row = |since: Nanos, after: Nanos, due: Due| {
            let at = since.saturating_add(after);
            if first.is_none_or(|(earliest, _)| at < earliest) {
                first = Some((at, due));
            }
        };
        if now.waiting {
            row(self.written, self.stall, Due::Stall);
        }
        if now.unfinished && now.reading {
            row(self.went_on, self.stall, Due::Unfinished);
        }
        if !now.connected {
            let checks = if now.running { self.checks } else { 0 };
            row(self.handshake, checks, Due::Handshake);
            return first;
        }
        if self.heartbeat > 0 && now.listening && now.reading {
            if self.asked {
                let grace = self.heartbeat + self.heartbeat.min(MOST_GRACE);
                row(self.received, grace, Due::Silence);
            } else {
                row(self.received, self.heartbeat, Due::Heartbeat);
            }
        }
        if self.disconnect > 0 && !now.running {
            row(self.called, self.disconnect, Due::Idle);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: Nanos = 1_000 * SECOND;

    fn timing() -> Timing {
        let limits = Limits {
            handshake: Duration::from_secs(30),
            checks: Duration::from_secs(40),
            stall: Duration::from_secs(20),
            ..Limits::default()
        };
        let mut timing = Timing::new(BEGIN, &limits);
        timing.agreed(5, 600);
        timing
    }

    fn due_of(timing: &Timing, now: &Now) -> Option<Due> {
        let next = timing.next(now);
        next.filter(|(at, _)| *at <= now.time).map(|(_, due)| due)
    }

    fn at(seconds: u64) -> Now {
        Now {
            time: BEGIN + seconds * SECOND,
            connected: true,
            running: false,
            listening: true,
            reading: true,
            waiting: false,
            unfinished: false,
        }
    }

    #[test]
    fn every_row_of_the_table() {
        let quiet = |now| Now {
            listening: false,
            ..now
        };
        let asked = |mut t: Timing| {
            t.heartbeat_sent();
            t
        };
        let cases: [(&str, Timing, Now, Option<Due>); 17] = [
            (
                "before the handshake's end",
                timing(),
                Now {
                    connected: false,
                    ..at(29)
                },
                None,
            ),
            (
                "handshake",
                timing(),
                Now {
                    connected: false,
                    ..at(30)
                },
                Some(Due::Handshake),
            ),
            (
                "a password is looked at",
                timing(),
                Now {
                    connected: false,
                    running: true,
                    ..at(69)
                },
                None,
            ),
            (
                "one after the other",
                timing(),
                Now {
                    connected: false,
                    running: true,
                    ..at(70)
                },
                Some(Due::Handshake),
            ),
            ("not yet", timing(), at(4), None),
            ("heartbeat", timing(), at(5), Some(Due::Heartbeat)),
            ("asked once", asked(timing()), at(9), None),
            ("silence", asked(timing()), at(10), Some(Due::Silence)),
            ("nobody listens", asked(timing()), quiet(at(10)), None),
            (
                "nothing is read",
                asked(timing()),
                Now {
                    reading: false,
                    ..at(10)
                },
                None,
            ),
            ("idle", timing(), quiet(at(600)), Some(Due::Idle)),
            (
                "a verb runs",
                timing(),
                Now {
                    running: true,
                    ..quiet(at(600))
                },
                None,
            ),
            (
                "a flow is young",
                timing(),
                Now {
                    unfinished: true,
                    ..quiet(at(19))
                },
                None,
            ),
            (
                "a flow is to be looked at",
                timing(),
                Now {
                    unfinished: true,
                    ..quiet(at(20))
                },
                Some(Due::Unfinished),
            ),
            (
                "a flow cannot go on while nothing is read",
                timing(),
                Now {
                    unfinished: true,
                    reading: false,
                    ..quiet(at(20))
                },
                None,
            ),
            (
                "output moves",
                timing(),
                Now {
                    waiting: true,
                    ..quiet(at(19))
                },
                None,
            ),
            (
                "stall",
                timing(),
                Now {
                    waiting: true,
                    ..quiet(at(20))
                },
                Some(Due::Stall),
            ),
        ];
        for (name, timing, now, due) in cases {
            assert_eq!(due_of(&timing, &now), due, "{name}");
        }
    }

    #[test]
    fn signs_of_life_move_the_deadlines() {
        let mut timing = timing();
        timing.heartbeat_sent();
        timing.received(at(8).time);
        assert_eq!(due_of(&timing, &at(12)), None);
        assert_eq!(due_of(&timing, &at(13)), Some(Due::Heartbeat));
        timing.called(at(500).time);
        timing.received(at(599).time);
        assert_eq!(due_of(&timing, &at(600)), None);
        timing.written(at(100).time, 10, true, false);
        let waiting = |seconds| Now {
            waiting: true,
            listening: false,
            ..at(seconds)
        };
        timing.written(at(110).time, 10, true, false);
        assert_eq!(
            due_of(&timing, &waiting(120)),
            Some(Due::Stall),
            "nothing more was written since 100"
        );
        timing.written(at(119).time, 11, true, false);
        assert_eq!(due_of(&timing, &waiting(120)), None);
        timing.written(at(138).time, 11, false, false);
        assert_eq!(
            due_of(&timing, &waiting(139)),
            None,
            "nothing waited at 138"
        );
    }

    #[test]
    fn long_intervals_have_a_minute_of_grace() {
        let mut timing = timing();
        timing.agreed(300, 0);
        timing.heartbeat_sent();
        assert_eq!(due_of(&timing, &at(359)), None);
        assert_eq!(due_of(&timing, &at(360)), Some(Due::Silence));
        timing.agreed(0, 0);
        assert_eq!(timing.next(&at(1_000_000)), None, "nothing is waited for");
    }
}
