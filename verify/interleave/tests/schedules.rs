//! The explorer on the engine: it replays, it finds, and a few schedules find nothing.

use posthaste_interleave::{PLANTED, Plan, Run, SCENARIOS, Scenario, find};

fn drawn(seed: u64) -> Run {
    Run {
        plan: Plan::Drawn {
            seed,
            points: 2_000,
            faults: 2,
        },
        bug: None,
        tell: false,
    }
}

#[test]
fn a_schedule_replays() {
    for scenario in SCENARIOS {
        let once = || format!("{:?}", scenario.run(&drawn(3)));
        assert_eq!(once(), once(), "{}", scenario.name);
    }
}

#[test]
fn a_few_schedules_find_nothing() {
    for scenario in SCENARIOS {
        for seed in 1..=4 {
            let run = drawn(seed);
            if let Err(failure) = scenario.run(&run) {
                panic!("{} {}: {failure}", scenario.name, run.plan);
            }
        }
    }
}

#[test]
fn threads_in_turn_have_as_many_points_as_ever() {
    let scenario = Scenario::named("commits").expect("a scenario");
    let run = Run {
        plan: Plan::Given(Vec::new()),
        ..drawn(1)
    };
    let report = scenario.run(&run).expect("no violation");
    // Far fewer would mean that the engine's locks no longer tell the scheduler.
    assert!(report.totals.points > 500, "{report:?}");
    assert!(report.totals.switches > 5, "{report:?}");
}

#[test]
fn a_planted_bug_is_found() {
    let planted = PLANTED.first().expect("a planted bug");
    let (plan, failure) = find(planted, 2_000).expect("found");
    let scenario = Scenario::named(planted.scenario).expect("a scenario");
    let again = scenario.run(&Run {
        plan,
        bug: Some(planted.bug),
        tell: false,
    });
    assert_eq!(
        again.expect_err("it replays").to_string(),
        failure.to_string()
    );
}
