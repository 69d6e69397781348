//! Seed after seed takes no more memory: nothing that a run makes outlives it.
//!
//! Invariant: what is measured is a process that does nothing else, and whose allocator gives back at once what is free;
//! otherwise the measure moves by tens of megabytes with what the allocator keeps for itself.
#![allow(missing_docs, clippy::unwrap_used)]

use std::process::Command;

use posthaste_sim::run;

/// Set for the process that is measured.
const MEASURED: &str = "POSTHASTE_SIM_MEASURED";
/// Kilobytes that ten runs may add; a world that is never freed is 6,600 each.
const MOST: u64 = 30_000;

/// Kilobytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.unwrap().parse().unwrap()
}

fn seeds() {
    (1..6).for_each(|seed| assert!(run(seed).is_ok()));
}

#[test]
fn seed_after_seed_takes_no_more_memory() {
    if std::env::var_os(MEASURED).is_none() {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "seed_after_seed_takes_no_more_memory"])
            .env(MEASURED, "1")
            .envs([
                ("MALLOC_TRIM_THRESHOLD_", "0"),
                ("MALLOC_TOP_PAD_", "0"),
                ("MALLOC_MMAP_THRESHOLD_", "65536"),
            ])
            .status();
        assert!(status.unwrap().success());
        return;
    }
    // What is made once only.
    seeds();
    let before = resident();
    seeds();
    seeds();
    let grown = resident().saturating_sub(before);
    assert!(grown < MOST, "{grown} kB more after ten runs");
}
