//! `posthaste-sim`: runs seeds, replays one, or looks for planted bugs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use posthaste_sim::{Coverage, PLANTED, Plan, find, run, run_plan};

const USAGE: &str = "\
Simulates a queue manager under faults and checks every message.

  posthaste-sim SEED            replay one seed
  posthaste-sim tell SEED       the same, printing every call
  posthaste-sim run FIRST COUNT run COUNT seeds from FIRST
  posthaste-sim plant [NAME]    look for planted bugs (all, or one)
  posthaste-sim ci [SECONDS]    what CI runs: same seed twice, every planted bug, then fresh seeds
                                for SECONDS (default 120); fails too if they did not meet
                                everything that the simulator is to meet
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

/// What the threads of a run have come to.
#[derive(Default)]
struct Sum {
    next: u64,
    ran: u64,
    calls: u64,
    delivered: u64,
    crashes: u64,
    coverage: Coverage,
    failed: Option<u64>,
}

/// So many things that were not met are named.
const FEW: usize = 10;

/// Threads that run seeds beside each other: a seed is a world of its own.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs seeds until the time is over; what they met, or nothing after the first failure.
fn seeds(first: u64, count: u64, budget: Option<Duration>) -> Option<Coverage> {
    let start = Instant::now();
    let end = first.saturating_add(count);
    let sum = Mutex::new(Sum {
        next: first,
        ..Sum::default()
    });
    let work = || loop {
        let seed = {
            let mut sum = sum.lock();
            let over = budget.is_some_and(|budget| start.elapsed() >= budget);
            if over || sum.next == end || sum.failed.is_some() {
                return;
            }
            sum.next += 1;
            sum.next - 1
        };
        let result = run(seed);
        let mut sum = sum.lock();
        match result {
            Ok(report) => {
                sum.calls += report.calls;
                sum.delivered += report.delivered;
                sum.crashes += u64::from(report.stops.0);
                sum.coverage.add(&report.coverage);
                sum.ran += 1;
                if sum.ran.is_multiple_of(500) {
                    let Sum { ran, calls, .. } = *sum;
                    eprintln!("  {ran} seeds, {calls} calls, {} crashes", sum.crashes);
                }
            }
            Err(_) => sum.failed = Some(seed),
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(work);
        }
    });
    let sum = sum.into_inner();
    if let Some(seed) = sum.failed {
        replay(seed);
        return None;
    }
    println!(
        "{} seeds from {first}: {} calls, {} messages delivered, {} crashes, no violation ({:.0} s)",
        sum.ran,
        sum.calls,
        sum.delivered,
        sum.crashes,
        start.elapsed().as_secs_f64()
    );
    let (wanted, missing) = (sum.coverage.wanted(), sum.coverage.missing());
    println!("met {} of {wanted} things to meet", wanted - missing.len());
    // After a few seeds nearly all are missing.
    if missing.len() <= FEW {
        missing.iter().for_each(|what| println!("  not: {what}"));
    }
    Some(sum.coverage)
}

/// Says how often each thing was met, and whether all were that must be.
fn all_met(coverage: &Coverage) -> bool {
    for (what, count) in coverage.all() {
        println!("  {what}: {count}");
    }
    let missing = coverage.missing();
    for what in &missing {
        println!("NEVER MET: {what}");
    }
    missing.is_empty()
}

fn plants(name: Option<&str>) -> bool {
    let mut all = true;
    let chosen: Vec<_> = PLANTED
        .iter()
        .filter(|p| name.is_none_or(|n| n == p.name))
        .collect();
    let share = chosen.len().div_ceil(threads()).max(1);
    let found: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = chosen
            .chunks(share)
            .map(|some| scope.spawn(|| some.iter().map(|p| find(p, 1)).collect::<Vec<_>>()))
            .collect();
        running
            .into_iter()
            .flat_map(|t| t.join())
            .flatten()
            .collect()
    });
    // A thread that panicked found nothing.
    let found = found.into_iter().chain(std::iter::repeat(None));
    for (planted, found) in chosen.into_iter().zip(found) {
        match found {
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
                    .is_some_and(|coverage| all_met(&coverage))
        }
        ["run", first, count] => match (number(first), number(count)) {
            (Some(first), Some(count)) => seeds(first, count, None).is_some(),
            _ => usage(),
        },
        ["soak", seconds, rest @ ..] => match number(seconds) {
            Some(seconds) => {
                let first = rest.first().and_then(|s| number(s)).unwrap_or(1);
                seeds(first, u64::MAX, Some(Duration::from_secs(seconds))).is_some()
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
