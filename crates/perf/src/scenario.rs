//! Measurements by name: each is rows of one table, which are expanded to cases and measured round by round.
//!
//! | module | what is there |
//! | --- | --- |
//! | `table.json` | every scenario with its rows: what is done, what is varied, what it stands beside |
//! | `plan`, `effort` | rows expanded to cases; how long and how often is measured |
//! | `run`, `claim`, `work_folder` | a whole run, the folder of its results, and those that it leaves nothing of |
//! | `window`, `meter`, `bench` | one window of one case, what it costs the server, what is kept running |
//! | `bursts`, `restart`, `client`, `jms` with `jms_driver` | windows that are no workload's |
//! | `smoke` | counts that must not grow |
//! | `progress`, `command` | what is told meanwhile, the command line |

mod bench;
mod bursts;
mod claim;
mod client;
mod command;
mod effort;
mod jms;
mod jms_driver;
mod meter;
mod plan;
mod progress;
mod restart;
mod run;
mod smoke;
mod window;
mod work_folder;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::results::{Goal, Published};
use plan::Row;
use smoke::Budget;

pub use command::{PerfCommand, ReportArgs, RunArgs, perform};

/// A scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// Its name.
    name: &'static str,
    /// Whether `all` includes it.
    in_all: bool,
    /// What it measures, in a line, and as a heading.
    line: &'static str,
    title: &'static str,
    /// What is counted.
    operation: &'static str,
    /// What the cases of a series differ in.
    axis: &'static str,
    rows: Vec<Row>,
    /// What a reader must know.
    #[serde(default)]
    notes: Vec<String>,
    /// Figures of others, by the name of the case that they stand beside.
    #[serde(default)]
    published: BTreeMap<String, Vec<Published>>,
    /// What is to be reached.
    #[serde(default)]
    goals: Vec<Goal>,
    /// What must not grow.
    #[serde(default)]
    budgets: Vec<Budget>,
}

/// Every scenario, in the order in which `all` runs them.
static SCENARIOS: LazyLock<Vec<Scenario>> =
    LazyLock::new(
        || match serde_json::from_str(include_str!("scenario/table.json")) {
            Ok(scenarios) => scenarios,
            Err(error) => unreachable!("the table is part of the program, and tested: {error}"),
        },
    );

/// The scenario of that name.
fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

#[cfg(test)]
mod tests {
    use super::effort::Effort;
    use super::plan::Plan;
    use super::*;
    use crate::results::Goal;
    use std::collections::HashSet;

    fn efforts() -> [Effort; 2] {
        [true, false].map(|quick| Effort::new(quick, None, None))
    }

    #[test]
    fn plans_are_whole() {
        for scenario in SCENARIOS.iter() {
            for effort in efforts() {
                let plan = Plan::of(scenario, &effort);
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
                    if let Some(drive) = planned.work.drive() {
                        for workload in drive.groups.iter().flat_map(|(_, workloads)| workloads) {
                            assert_eq!(workload.check(), Ok(()), "{}", planned.case.name);
                        }
                    }
                }
                let published = scenario
                    .published
                    .keys()
                    .chain(plan.goals.iter().map(|goal| &goal.case));
                for case in published.filter(|_| !effort.quick) {
                    assert!(names.contains(&case.as_str()), "{}: {case}", scenario.name);
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
            .map(|scenario| Plan::of(scenario, &effort).takes(&effort))
            .sum();
        // Starting what a scenario needs comes on top.
        assert!(takes.as_secs() < 420, "{takes:?}");
    }

    #[test]
    fn cases_can_be_picked_with_their_floors() {
        let effort = Effort::new(true, None, None);
        let mut plan = Plan::of(find("targets").unwrap(), &effort);
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
            let mut plan = Plan::of(find("targets").unwrap(), &effort);
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
            Plan::of(find("restart").unwrap(), &effort)
                .takes(&effort)
                .as_secs()
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
