//! Measurements by name: each is a workload, a set-up of queues, a sweep and an output.
//!
//! | module | what is there |
//! | --- | --- |
//! | `request_reply` | rr-cc, rr-bb, rr-cb, syncpoint |
//! | `puts` | single-put, fill-drain |
//! | `log` | log-buffer, log-size, log-latency, device |
//! | `restart` | restart |
//! | `bare` | floor |
//! | `targets` | the figures that are to be reached |
//! | `smoke` | counts that must not grow |
//! | `round_trips` | requesters and responders as cases |
//! | `plan`, `effort` | what a scenario measures, how long and how often |
//! | `bench`, `window`, `bursts`, `meter` | what is kept running, one window of one case, what it costs the server |
//! | `run`, `claim` | a whole run, and the folder of its results |
//! | `progress`, `command` | what is told meanwhile, the command line |

mod bare;
mod bench;
mod bursts;
mod claim;
mod command;
mod effort;
mod log;
mod meter;
mod plan;
mod progress;
mod puts;
mod request_reply;
mod restart;
mod round_trips;
mod run;
mod smoke;
mod targets;
mod window;

use plan::Plan;

pub use command::{PerfCommand, ReportArgs, RunArgs, perform};
use effort::Effort;

/// A scenario.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it measures, in a line.
    pub line: &'static str,
    /// Whether `all` includes it.
    pub in_all: bool,
    /// What is measured.
    plan: fn(&Effort) -> Plan,
}

const fn scenario(
    name: &'static str,
    line: &'static str,
    in_all: bool,
    plan: fn(&Effort) -> Plan,
) -> Scenario {
    Scenario {
        name,
        line,
        in_all,
        plan,
    }
}

/// Every scenario, in the order in which `all` runs them.
#[rustfmt::skip] // one row, one line
pub static SCENARIOS: &[Scenario] = &[
    scenario("floor", "what the same work costs without a queue manager: echo, exchange, forced writes", true, bare::plan),
    scenario("rr-cc", "requesters and responders as clients: sizes, persistence, number of requesters", true, request_reply::clients),
    scenario("rr-bb", "requesters and responders inside the queue manager's process (FASTPATH)", true, request_reply::inside),
    scenario("rr-cb", "requesters as clients, responders inside", true, request_reply::mixed),
    scenario("single-put", "one thread that puts: FASTPATH, local, TCP, asynchronous, over a distance", true, puts::single),
    scenario("syncpoint", "in and out of syncpoint, by number of queue pairs", true, request_reply::syncpoint),
    scenario("log-buffer", "the size of the log buffer", true, log::buffer),
    scenario("log-size", "the size of the log", true, log::size),
    scenario("log-latency", "rated and unrated, against the time a log write takes", true, log::latency),
    scenario("device", "MB/s, latency and size of log writes: requesters × sizes × devices", true, log::device),
    scenario("fill-drain", "filling a queue and draining it", true, puts::fill_drain),
    scenario("restart", "restart after an end in order and after SIGKILL: empty, deep, uncommitted", true, restart::plan),
    scenario("targets", "the figures that are to be reached, each beside its floor", false, targets::plan),
    scenario("smoke", "counts per operation (log bytes, system calls) against their budgets; no times", false, smoke::plan),
];

/// The scenario of that name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

#[cfg(test)]
mod tests {
    use super::plan::Subject;
    use super::*;
    use crate::results::Goal;
    use std::collections::HashSet;

    fn efforts() -> [Effort; 2] {
        [true, false].map(|quick| Effort::new(quick, None, None))
    }

    #[test]
    fn plans_are_whole() {
        for scenario in SCENARIOS {
            for effort in efforts() {
                let plan = (scenario.plan)(&effort);
                let names: Vec<&str> = plan.cases.iter().map(|p| p.case.name.as_str()).collect();
                let different: HashSet<&&str> = names.iter().collect();
                assert_eq!(different.len(), names.len(), "{}: {names:?}", scenario.name);
                assert!(!names.is_empty(), "{}", scenario.name);
                for planned in &plan.cases {
                    if let Some(floor) = &planned.case.floor {
                        let at = |name: &str| names.iter().position(|other| *other == name);
                        assert!(
                            at(floor) < at(&planned.case.name) && at(floor).is_some(),
                            "{}: {floor} stands before {}",
                            scenario.name,
                            planned.case.name
                        );
                    }
                    if let Subject::Drive(drive) = &planned.subject {
                        for workload in drive.groups.iter().flat_map(|group| &group.workloads) {
                            assert_eq!(workload.check(), Ok(()), "{}", planned.case.name);
                        }
                    }
                }
                for Goal { case, bound, .. } in &plan.goals {
                    assert!(names.contains(&case.as_str()), "{}: {case}", scenario.name);
                    if let crate::results::Bound::AtLeastTimesCase(_, other) = bound {
                        assert!(names.contains(&other.as_str()), "{other}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_quick_run_of_everything_fits_into_ten_minutes() {
        let effort = Effort::new(true, None, None);
        let all = SCENARIOS.iter().filter(|scenario| scenario.in_all);
        let takes: std::time::Duration = all
            .map(|scenario| (scenario.plan)(&effort).takes(&effort))
            .sum();
        // Starting what a scenario needs comes on top.
        assert!(takes.as_secs() < 420, "{takes:?}");
    }

    #[test]
    fn cases_can_be_picked_with_their_floors() {
        let effort = Effort::new(true, None, None);
        let mut plan = targets::plan(&effort);
        plan.keep_only("2 KiB NP 60");
        let names: Vec<&str> = plan.cases.iter().map(|p| p.case.name.as_str()).collect();
        assert_eq!(names, ["bare exchange 60", "2 KiB NP 60"]);
        assert_eq!(plan.goals.len(), 2);
        // A goal brings what it is judged by.
        for (text, expected) in [
            (
                "2 KiB NP 200",
                &[
                    "bare exchange 60",
                    "2 KiB NP 60",
                    "bare exchange 200",
                    "2 KiB NP 200",
                ][..],
            ),
            (
                "one thread, TCP, asyn",
                &["bare exchange 60", "one thread, TCP, asynchronous"],
            ),
        ] {
            let mut plan = targets::plan(&effort);
            plan.keep_only(text);
            let names: Vec<&str> = plan.cases.iter().map(|p| p.case.name.as_str()).collect();
            assert_eq!((names.as_slice(), plan.goals.len()), (expected, 1));
        }
        plan.keep_only("nothing");
        assert!(plan.cases.is_empty() && plan.goals.is_empty());
    }

    #[test]
    fn a_restart_takes_as_long_as_its_messages() {
        let takes = |quick| {
            let effort = Effort::new(quick, None, None);
            restart::plan(&effort).takes(&effort).as_secs()
        };
        assert!((30..60).contains(&takes(true)), "{}", takes(true));
        assert!((420..600).contains(&takes(false)), "{}", takes(false));
    }

    #[test]
    fn names_are_found() {
        assert!(find("rr-cc").is_some());
        assert!(find("rr-xx").is_none() && find("all").is_none());
    }
}
