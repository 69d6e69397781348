//! The figures that are to be reached, each measured beside its floor in the same round.

use super::effort::Effort;
use super::plan::{LARGE, MEDIUM, Plan, SMALL, Via, bare_echo};
use super::puts::Putting;
use super::request_reply::published;
use super::round_trips::RoundTrips;
use crate::measure::Shape;
use crate::results::{Bound, Figure, Goal};

/// Names of the cases that goals are about.
const NP_1: &str = "2 KiB NP 1";
const NP_60: &str = "2 KiB NP 60";
const NP_200: &str = "2 KiB NP 200";
const P_1: &str = "2 KiB P 1";
const P_60: &str = "2 KiB P 60";
const SYNC: &str = "one thread, TCP";
const ASYNC: &str = "one thread, TCP, asynchronous";
const FASTPATH: &str = "one thread, FASTPATH";
const SLOW: &str = "2 KiB P, 1 ms log writes 60";
const SLOW_PLAIN: &str = "2 KiB P, 1 ms log writes, plain log 60";

/// The plan.
pub(super) fn plan(_: &Effort) -> Plan {
    let mut plan = Plan::new(
        "The figures that are to be reached",
        "operation",
        "requesters",
    );
    let trips = [
        (1, SMALL, false),
        (60, SMALL, false),
        (200, SMALL, false),
        (1, SMALL, true),
        (60, SMALL, true),
        (60, MEDIUM, false),
        (60, MEDIUM, true),
        (20, LARGE, false),
        (20, LARGE, true),
    ];
    for (requesters, size, persistent) in trips {
        let trips = RoundTrips::new(requesters, size, persistent);
        let mut planned = trips.planned(trips.as_clients(Shape::default()));
        if requesters == 60 || size == LARGE {
            planned = planned.published(published(size, persistent));
        }
        plan.add_beside(trips.floor(), planned);
    }
    let putting = |via, asynchronous| Putting { via, asynchronous };
    plan.add_beside(
        bare_echo(1, SMALL),
        putting(Via::Tcp, false).in_bursts(SYNC),
    );
    plan.add(putting(Via::Tcp, true).in_bursts(ASYNC));
    plan.add(putting(Via::Inside, false).in_bursts(FASTPATH));
    for (name, plain_log) in [(SLOW, false), (SLOW_PLAIN, true)] {
        let shape = Shape {
            disk_delay_us: 1_000,
            plain_log,
            ..Shape::default()
        };
        let trips = RoundTrips::new(60, SMALL, true);
        let planned = trips.planned(trips.as_clients(shape));
        let series = name.rsplit_once(' ').map_or(name, |(series, _)| series);
        plan.add(planned.series(series));
    }
    plan.goals = goals();
    plan.notes.push("Goals in absolute figures are for processors on which the bare exchange with 60 requesters costs its server 9.1 µs; on slower ones they are scaled down in proportion, never up. Ratios are medians over the rounds of the ratios within a round; their range stands behind them.".to_owned());
    plan
}

fn goals() -> Vec<Goal> {
    use Bound::{AtLeast, AtLeastTimesCase, AtLeastTimesFloor, AtMostTimesFloor};
    use Figure::{P50, Rate, ServerCpu};
    #[rustfmt::skip] // one row, one line
    let rows: [(&str, &str, Figure, Bound); 15] = [
        ("rr-cc NP, 60 requesters: server CPU a round trip", NP_60, ServerCpu, AtMostTimesFloor(1.6)),
        ("the same: round trips/s", NP_60, Rate, AtLeastTimesFloor(0.65)),
        ("rr-cc NP, 1 requester: p50", NP_1, P50, AtMostTimesFloor(1.6)),
        ("rr-cc NP, 200 requesters keep the rate of 60", NP_200, Rate, AtLeastTimesCase(0.95, NP_60.to_owned())),
        ("rr-cc P in syncpoint, 60 requesters: server CPU a round trip", P_60, ServerCpu, AtMostTimesFloor(3.0)),
        ("the same: round trips/s", P_60, Rate, AtLeastTimesFloor(0.38)),
        ("rr-cc P, 1 requester: round trips/s", P_1, Rate, AtLeast(7_000.0)),
        ("rr-cc NP 20 KiB: round trips/s", "20 KiB NP 60", Rate, AtLeast(35_000.0)),
        ("rr-cc NP 200 KiB: round trips/s", "200 KiB NP 20", Rate, AtLeast(7_000.0)),
        ("rr-cc P 20 KiB: round trips/s", "20 KiB P 60", Rate, AtLeast(15_000.0)),
        ("rr-cc P 200 KiB: round trips/s", "200 KiB P 20", Rate, AtLeast(3_000.0)),
        ("one thread, synchronous put over TCP", SYNC, Rate, AtLeast(80_000.0)),
        ("one thread, asynchronous put over TCP (checked by MQSTAT)", ASYNC, Rate, AtLeast(500_000.0)),
        ("one thread, FASTPATH put", FASTPATH, Rate, AtLeast(1_000_000.0)),
        ("rr-cc P, 1 ms added to every log write, 60 requesters", SLOW, Rate, AtLeastTimesCase(1.5, SLOW_PLAIN.to_owned())),
    ];
    rows.into_iter()
        .map(|(measure, case, figure, bound)| Goal {
            measure: measure.to_owned(),
            case: case.to_owned(),
            figure,
            bound,
        })
        .collect()
}
