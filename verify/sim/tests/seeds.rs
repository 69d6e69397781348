//! The simulator itself: repeatable, quick to find what is planted, quiet otherwise. CI runs many
//! more seeds with the `posthaste-sim` program.
#![allow(missing_docs, clippy::unwrap_used)]

use posthaste_sim::{PLANTED, Plan, find, run, run_plan};

#[test]
fn a_few_seeds_find_nothing() {
    for seed in 1..=12 {
        if let Err(failure) = run_plan(&Plan::without_channels(seed)) {
            panic!("seed {seed}: {failure}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in [3, 4] {
        assert_eq!(run(seed).unwrap().trace, run(seed).unwrap().trace);
    }
}

#[test]
fn the_quick_planted_bugs_are_found() {
    for name in [
        "acknowledge-early",
        "forget-undo",
        "deliver-twice",
        "forget-young",
        "unselective-hand-over",
    ] {
        let planted = PLANTED.iter().find(|p| p.name == name).unwrap();
        assert!(find(planted, 1).is_some(), "{name} was not found");
    }
}

/// Seeds that once failed, each with what it found.
#[test]
fn regressions() {
    for (seed, what) in [
        (1, "the folders of a new queue manager were not durable"),
        (
            139,
            "a hardened backout count was shown before it was forced",
        ),
        (
            346,
            "a got message came back from its image entry after a later crash",
        ),
    ] {
        if let Err(failure) = run_plan(&Plan::without_channels(seed)) {
            panic!("seed {seed} again ({what}): {failure}");
        }
    }
}
