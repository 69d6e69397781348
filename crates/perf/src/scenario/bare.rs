//! The floor by itself: what echo, exchange and forced writes cost on this machine.

use super::effort::Effort;
use super::plan::{LARGE, MEDIUM, Plan, SMALL, Subject, bare_echo, named};
use super::round_trips::RoundTrips;
use crate::quantity::shown_size;

/// The plan.
pub(super) fn plan(effort: &Effort) -> Plan {
    let mut plan = Plan::new(
        "The same work without a queue manager",
        "operation",
        "requesters",
    );
    for connections in effort.pick(&[1, 60], &[1, 10, 60, 200]) {
        plan.add(bare_echo(connections, SMALL));
    }
    for requesters in effort.pick(&[1, 60, 200], &[1, 10, 30, 60, 120, 200]) {
        plan.add(RoundTrips::new(requesters, SMALL, false).floor());
    }
    if !effort.quick {
        for size in [MEDIUM, LARGE] {
            plan.add(RoundTrips::new(60, size, false).floor());
        }
    }
    for size in [4_096, 65_536] {
        let name = format!("forced writes {}", shown_size(f64::from(size)));
        plan.add(named(&name, Subject::ForcedWrites(size as usize)));
    }
    plan.notes.push(
        "An echo is one message of 2 KiB there and back; an exchange is a round trip of two puts and two gets with the bytes of the real one; a forced write is O_DIRECT|O_DSYNC, one in flight.".to_owned(),
    );
    plan
}
