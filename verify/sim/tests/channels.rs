//! Channels in the simulator: quiet, repeatable, and quick to find what is planted in them.
#![allow(missing_docs, clippy::unwrap_used)]

use posthaste_sim::{PLANTED, Plan, Planted, find, run_plan};

#[test]
fn a_few_seeds_find_nothing() {
    for seed in 40..42 {
        if let Err(failure) = run_plan(&Plan::over_channels(seed)) {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let trace = || run_plan(&Plan::over_channels(40)).unwrap().trace;
    assert_eq!(trace(), trace());
}

#[test]
fn a_get_dropped_past_its_wait_is_found() {
    let named = |planted: &&Planted| planted.name == "drop-get-past-wait";
    let planted = PLANTED.iter().find(named).unwrap();
    assert!(planted.over_channels);
    assert!(find(planted, 1).is_some());
}
