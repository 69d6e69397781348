//! `posthaste-interleave`: runs schedules, replays one, or looks for planted bugs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use posthaste_interleave::{PLANTED, Plan, Report, Run, SCENARIOS, Scenario, exhaust, find};

const USAGE: &str = "\
Runs the engine's threads in many orders and checks every message.

  posthaste-interleave scenarios             what there is to run
  posthaste-interleave run SCENARIO FIRST COUNT
                                             drawn schedules, COUNT seeds from FIRST
  posthaste-interleave replay SCENARIO PLAN [BUG]
                                             one schedule, as a failure printed it; with a planted bug
  posthaste-interleave tell SCENARIO PLAN [BUG]
                                             the same, printing every call
  posthaste-interleave exhaust SCENARIO BOUND [SECONDS]
                                             every schedule with at most BOUND preemptions, or a power cut or a
                                             failing operation of the disk
  posthaste-interleave plant [NAME]          look for planted bugs (all, or one)
  posthaste-interleave ci [SECONDS]          what CI runs: the same schedule twice, every planted bug,
                                             schedules with one action (all of small scenarios) for a third of
                                             SECONDS, and drawn ones for a third (default 100)
  posthaste-interleave soak SECONDS [FIRST]  drawn schedules of all scenarios for SECONDS, with totals
";

/// Points that a drawn plan spreads rare things over, found by running the scenario once.
fn points(scenario: &Scenario) -> u64 {
    let run = Run {
        plan: Plan::Given(Vec::new()),
        bug: None,
        tell: false,
    };
    scenario.run(&run).map_or(5_000, |r| r.totals.points)
}

fn replay(name: &str, plan: &str, bug: Option<&&str>, tell: bool) -> Option<bool> {
    let scenario = Scenario::named(name)?;
    let plan: Plan = plan.parse().ok()?;
    let bug = match bug {
        Some(bug) => Some(PLANTED.iter().find(|p| p.name == *bug)?.bug),
        None => None,
    };
    let run = Run {
        plan: plan.clone(),
        bug,
        tell,
    };
    Some(match scenario.run(&run) {
        Ok(report) => {
            println!("{} {plan}: {report:?}", scenario.name);
            true
        }
        Err(failure) => {
            failed(scenario, &plan, &failure);
            false
        }
    })
}

fn failed(scenario: &Scenario, plan: &Plan, failure: &posthaste_interleave::Failure) {
    println!("{}: {failure}", scenario.name);
    println!(
        "  replay: cargo run --release -p posthaste-interleave -- tell {} '{plan}'",
        scenario.name
    );
}

/// Processor time of this process so far, in seconds: every schedule runs on one thread.
struct Watch(Instant);

impl Watch {
    fn line(&self, what: &str, report: &Report) {
        let seconds = self.0.elapsed().as_secs_f64();
        let t = &report.totals;
        println!(
            "{what}: {} schedules ({} with a power cut, {} with a failing or full disk), {} points, {} switches, \
             {} calls, {} messages delivered, no violation ({seconds:.0} s, {:.3} hours of one processor)",
            t.schedules,
            t.crashes,
            t.faults,
            t.points,
            t.switches,
            report.calls,
            report.delivered,
            seconds / 3600.0
        );
    }
}

/// Drawn schedules of the scenarios in turn, until `going` says no; false at the first failure.
fn drawn(scenarios: &[&Scenario], first: u64, mut going: impl FnMut(u64) -> bool) -> bool {
    let watch = Watch(Instant::now());
    let points: Vec<u64> = scenarios.iter().map(|s| points(s)).collect();
    let mut sum = Report::default();
    let mut ran = 0;
    while going(ran) {
        for (scenario, points) in scenarios.iter().zip(&points) {
            let plan = Plan::Drawn {
                seed: first + ran,
                points: *points,
                faults: scenario.faults,
            };
            let run = Run {
                plan,
                bug: None,
                tell: false,
            };
            match scenario.run(&run) {
                Ok(report) => sum.add(&report),
                Err(failure) => {
                    failed(scenario, &run.plan, &failure);
                    return false;
                }
            }
        }
        ran += 1;
    }
    watch.line(&format!("drawn, seeds from {first}"), &sum);
    true
}

/// Every schedule of a scenario, for as long as the budget says; of a small one whatever it takes.
fn in_ci(scenario: &Scenario, budget: Duration) -> bool {
    let budget = if scenario.small {
        Duration::MAX
    } else {
        budget
    };
    exhausted(scenario, 1, budget)
}

fn exhausted(scenario: &Scenario, bound: usize, budget: Duration) -> bool {
    let start = Instant::now();
    let watch = Watch(start);
    let like = Run {
        plan: Plan::Given(Vec::new()),
        bug: None,
        tell: false,
    };
    let found = exhaust(scenario, &like, bound, &mut || start.elapsed() < budget);
    if let Some((plan, failure)) = &found.failure {
        failed(scenario, plan, failure);
        return false;
    }
    let extent = if found.complete { "all" } else { "not all" };
    let what = format!(
        "{}, {extent} with at most {bound} actions, {} spared that come to the same",
        scenario.name, found.spared
    );
    watch.line(&what, &found.report);
    true
}

fn plants(name: Option<&str>) -> bool {
    let mut all = true;
    for planted in PLANTED.iter().filter(|p| name.is_none_or(|n| n == p.name)) {
        let points = Scenario::named(planted.scenario).map_or(5_000, points);
        match find(planted, points) {
            Some((plan, failure)) => {
                println!(
                    "planted {}: found by {} {plan}: {failure}",
                    planted.name, planted.scenario
                );
            }
            None => {
                println!(
                    "planted {}: NOT FOUND in {} seeds",
                    planted.name, planted.within
                );
                all = false;
            }
        }
    }
    all
}

fn same_twice(scenario: &Scenario) -> bool {
    let run = Run {
        plan: Plan::Drawn {
            seed: 1,
            points: 3_000,
            faults: scenario.faults,
        },
        bug: None,
        tell: false,
    };
    let once = || format!("{:?}", scenario.run(&run));
    let (first, second) = (once(), once());
    if first != second {
        println!("{} is not repeatable: {first} then {second}", scenario.name);
    }
    first == second
}

fn ci(seconds: u64) -> bool {
    let all: Vec<&Scenario> = SCENARIOS.iter().collect();
    let third = Duration::from_secs(seconds / 3);
    let share = third / SCENARIOS.len() as u32;
    all.iter().all(|s| same_twice(s)) && plants(None) && all.iter().all(|s| in_ci(s, share)) && {
        // However long the others took.
        let start = Instant::now();
        drawn(&all, 1, |_| start.elapsed() < third)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match obey(&words) {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            print!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the words say; `None` when they say nothing.
fn obey(words: &[&str]) -> Option<bool> {
    let number = |text: &str| text.parse::<u64>().ok();
    let all: Vec<&Scenario> = SCENARIOS.iter().collect();
    Some(match words {
        ["scenarios"] => {
            for scenario in SCENARIOS {
                println!("{:<12} {}", scenario.name, scenario.about);
            }
            true
        }
        ["run", name, first, count] => {
            let (first, count) = (number(first)?, number(count)?);
            drawn(&[Scenario::named(name)?], first, |ran| ran < count)
        }
        ["replay", name, plan, bug @ ..] => replay(name, plan, bug.first(), false)?,
        ["tell", name, plan, bug @ ..] => replay(name, plan, bug.first(), true)?,
        ["exhaust", name, bound, rest @ ..] => {
            let seconds = rest.first().map_or(Some(u64::MAX), |s| number(s))?;
            let bound = number(bound)? as usize;
            exhausted(Scenario::named(name)?, bound, Duration::from_secs(seconds))
        }
        ["plant"] => plants(None),
        ["plant", name] => plants(Some(name)),
        ["ci", rest @ ..] => ci(rest.first().map_or(Some(100), |s| number(s))?),
        ["soak", seconds, rest @ ..] => {
            let seconds = number(seconds)?;
            let first = rest.first().map_or(Some(1), |s| number(s))?;
            let start = Instant::now();
            drawn(&all, first, |_| start.elapsed().as_secs() < seconds)
        }
        _ => return None,
    })
}
