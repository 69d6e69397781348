//! Bugs that the explorer has to find: a table, and how long the search may take.

use posthaste_engine::plant::Bug;

use crate::scenario::{Failure, Run, Scenario};
use crate::schedule::Plan;

/// A bug to plant.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// Its name on the command line.
    pub name: &'static str,
    /// In the engine.
    pub bug: Bug,
    /// The scenario in which it shows.
    pub scenario: &'static str,
    /// Seeds within which it must be found.
    pub within: u64,
}

const fn planted(name: &'static str, bug: Bug, scenario: &'static str, within: u64) -> Planted {
    Planted {
        name,
        bug,
        scenario,
        within,
    }
}

/// Every bug that CI plants.
pub const PLANTED: &[Planted] = &[
    planted("ignore-pins", Bug::IgnorePins, "log-full", 200),
    planted("clear-next-pin", Bug::ClearNextPin, "log-full", 20_000),
    planted("drop-get-past-wait", Bug::DropGetPastWait, "quiesce", 2_000),
    planted("free-while-saving", Bug::FreeWhileSaving, "spill", 10_000),
    planted("blame-unseen", Bug::BlameUnseen, "reading", 10_000),
    planted(
        "detached-taken-early",
        Bug::DetachedTakenEarly,
        "orderly-end",
        20_000,
    ),
    planted(
        "redo-older-definition",
        Bug::RedoOlderDefinition,
        "redefined",
        2_000,
    ),
    planted("forget-tickets", Bug::ForgetTickets, "tickets", 2_000),
    planted("awaited-late", Bug::AwaitedLate, "tickets", 10_000),
    planted("listed-unasked", Bug::ListedUnasked, "consumers", 100_000),
    planted("join-released", Bug::JoinReleased, "consumers", 10_000),
    planted("carry-late", Bug::CarryLate, "branches", 20_000),
    planted("alter-in-two", Bug::AlterInTwo, "topics", 4_000),
    planted("write-unlocked", Bug::WriteUnlocked, "succession", 200),
    planted(
        "retry-failed-sync",
        Bug::RetryFailedSync,
        "failing-disk",
        4_000,
    ),
];

/// Looks for a planted bug; gives the plan that found it and what it said.
pub fn find(planted: &Planted, points: u64) -> Option<(Plan, Failure)> {
    let scenario = Scenario::named(planted.scenario)?;
    (1..=planted.within).find_map(|seed| {
        let run = Run {
            plan: Plan::Drawn {
                seed,
                points,
                faults: scenario.faults,
            },
            bug: Some(planted.bug),
            tell: false,
        };
        let failure = scenario.run(&run).err()?;
        Some((run.plan, failure))
    })
}
