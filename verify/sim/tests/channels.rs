//! Channels in the simulator: quiet, repeatable, and quick to find what is planted in them.
#![allow(missing_docs, clippy::unwrap_used)]

use posthaste_sim::{PLANTED, Plan, find, run_plan};

#[test]
fn a_few_seeds_find_nothing() {
    for seed in 40..43 {
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
fn planted_bugs_of_channels_are_found() {
    let channels = PLANTED.iter().filter(|planted| planted.over_channels);
    let mut names = Vec::new();
    for planted in channels {
        assert!(find(planted, 1).is_some(), "{} was not found", planted.name);
        names.push(planted.name);
    }
    assert_eq!(
        names,
        [
            "drop-get-past-wait",
            "ignored-selector",
            "unbudgeted-flows",
            "wait-keeps-buffer",
            "waits-stop-reading",
        ]
    );
}
