//! `posthaste-sim`: runs seeds, replays one, or looks for planted bugs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use posthaste_sim::{PLANTED, Plan, find, run, run_plan};

const USAGE: &str = "\
Simulates a queue manager under faults and checks every message.

  posthaste-sim SEED            replay one seed
  posthaste-sim tell SEED       the same, printing every call
  posthaste-sim run FIRST COUNT run COUNT seeds from FIRST
  posthaste-sim plant [NAME]    look for planted bugs (all, or one)
  posthaste-sim ci [SECONDS]    what CI runs: same seed twice, every planted bug, then fresh seeds
                                for SECONDS (default 120)
  posthaste-sim soak SECONDS [FIRST]
                                run seeds for SECONDS
";

fn replay(seed: u64) -> bool {
    match run(seed) {
        Ok(report) => {
            println!("seed {seed}: {report:?}");
            true
        }
        Err(failure) => {
            println!(
                "seed {seed}: {failure}\n  replay: cargo run --release -p posthaste-sim -- {seed}"
            );
            false
        }
    }
}

fn tell(seed: u64) -> bool {
    let plan = Plan {
        tell: true,
        ..Plan::of(seed)
    };
    println!("{plan:?}");
    let result = run_plan(&plan);
    println!("{result:?}");
    result.is_ok()
}

/// Runs seeds until the time is over; false at the first failure.
fn seeds(first: u64, count: u64, budget: Option<Duration>) -> bool {
    let start = Instant::now();
    let (mut calls, mut delivered, mut crashes, mut ran) = (0, 0, 0, 0);
    for seed in first..first.saturating_add(count) {
        if budget.is_some_and(|budget| start.elapsed() >= budget) {
            break;
        }
        match run(seed) {
            Ok(report) => {
                calls += report.calls;
                delivered += report.delivered;
                crashes += u64::from(report.stops.0);
                ran += 1;
            }
            Err(_) => return replay(seed),
        }
        if ran % 500 == 0 && ran > 0 {
            eprintln!("  {ran} seeds, {calls} calls, {crashes} crashes");
        }
    }
    println!(
        "{ran} seeds from {first}: {calls} calls, {delivered} messages delivered, {crashes} crashes, no violation ({:.0} s)",
        start.elapsed().as_secs_f64()
    );
    true
}

fn plants(name: Option<&str>) -> bool {
    let mut all = true;
    for planted in PLANTED.iter().filter(|p| name.is_none_or(|n| n == p.name)) {
        match find(planted, 1) {
            Some((seed, failure)) => {
                println!("planted {}: found by seed {seed}: {failure}", planted.name);
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

fn same_twice(seed: u64) -> bool {
    let trace = |()| run(seed).map(|r| r.trace).map_err(|f| f.to_string());
    let (first, second) = (trace(()), trace(()));
    if first != second {
        println!("seed {seed} is not repeatable: {first:?} then {second:?}");
        return false;
    }
    true
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().ok();
    let fine = match words.as_slice() {
        ["ci", rest @ ..] => {
            let seconds = rest.first().and_then(|s| number(s)).unwrap_or(120);
            (1..=5).all(same_twice)
                && plants(None)
                && seeds(1, u64::MAX, Some(Duration::from_secs(seconds)))
        }
        ["run", first, count] => match (number(first), number(count)) {
            (Some(first), Some(count)) => seeds(first, count, None),
            _ => usage(),
        },
        ["soak", seconds, rest @ ..] => match number(seconds) {
            Some(seconds) => {
                let first = rest.first().and_then(|s| number(s)).unwrap_or(1);
                seeds(first, u64::MAX, Some(Duration::from_secs(seconds)))
            }
            None => usage(),
        },
        ["tell", seed] => match number(seed) {
            Some(seed) => tell(seed),
            None => usage(),
        },
        ["plant"] => plants(None),
        ["plant", name] => plants(Some(name)),
        [seed] => match number(seed) {
            Some(seed) => replay(seed),
            None => usage(),
        },
        _ => usage(),
    };
    if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn usage() -> bool {
    print!("{USAGE}");
    false
}
