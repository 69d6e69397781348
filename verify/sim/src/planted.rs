//! Bugs that the simulator has to find: a table, and how long the search may take.

use posthaste_engine::plant::Bug;

use crate::plan::Plan;
use crate::run::{Failure, run_plan};

/// A bug to plant.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// Its name on the command line.
    pub name: &'static str,
    /// In the engine.
    pub bug: Option<Bug>,
    /// Or in the driver of the log's writer: acknowledged before it is written.
    pub acknowledge_early: bool,
    /// Applications come over channels.
    pub over_channels: bool,
    /// Some of them publish and subscribe.
    pub topics: bool,
    /// Some messages are delayed.
    pub delays: bool,
    /// Some messages are put to distribution lists.
    pub lists: bool,
    /// Some of them are alone with queues of their own.
    pub solo: bool,
    /// Seeds within which it must be found.
    pub within: u64,
}

const fn engine(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        name,
        bug: Some(bug),
        acknowledge_early: false,
        over_channels: false,
        topics: false,
        delays: false,
        lists: false,
        solo: false,
        within,
    }
}

const fn topics(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        topics: true,
        ..engine(name, bug, within)
    }
}

const fn solo(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        solo: true,
        ..engine(name, bug, within)
    }
}

const fn delays(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        delays: true,
        ..engine(name, bug, within)
    }
}

const fn lists(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        lists: true,
        ..engine(name, bug, within)
    }
}

const fn channel(name: &'static str, bug: Bug, within: u64) -> Planted {
    Planted {
        over_channels: true,
        ..engine(name, bug, within)
    }
}

/// Every bug that CI plants.
pub const PLANTED: &[Planted] = &[
    Planted {
        name: "acknowledge-early",
        bug: None,
        acknowledge_early: true,
        over_channels: false,
        topics: false,
        delays: false,
        lists: false,
        solo: false,
        within: 200,
    },
    engine("forget-undo", Bug::ForgetUndo, 200),
    engine("deliver-twice", Bug::DeliverTwice, 200),
    engine("commit-doomed", Bug::CommitDoomed, 200),
    engine("replace-undoomed", Bug::ReplaceUndoomed, 400),
    engine("drop-prepared", Bug::DropPrepared, 400),
    engine("undo-prepared", Bug::UndoPrepared, 200),
    engine("leave-in-doubt-free", Bug::LeaveInDoubtFree, 400),
    engine("visible-early", Bug::VisibleEarly, 200),
    engine("half-commit", Bug::HalfCommit, 400),
    engine("forget-young", Bug::ForgetYoung, 400),
    engine("ignore-pins", Bug::IgnorePins, 1000),
    engine("unsynced-queue-file", Bug::UnsyncedQueueFile, 1000),
    engine("retry-failed-sync", Bug::RetryFailedSync, 1000),
    engine("spend-reserve", Bug::SpendReserve, 400),
    engine("back-out-in-vain", Bug::BackOutInVain, 400),
    engine("keep-unfinished", Bug::KeepUnfinished, 400),
    engine("save-after-failure", Bug::SaveAfterFailure, 400),
    engine("give-back-early", Bug::GiveBackEarly, 1000),
    engine("resurrect", Bug::Resurrect, 1000),
    engine("ignore-priority", Bug::IgnorePriority, 200),
    engine("unselective-hand-over", Bug::UnselectiveHandOver, 200),
    engine("forget-relisted", Bug::ForgetRelisted, 200),
    engine("drop-lease", Bug::DropLease, 1000),
    engine("redo-older-definition", Bug::RedoOlderDefinition, 400),
    engine("leak-place", Bug::LeakPlace, 200),
    engine("keep-promise", Bug::KeepPromise, 200),
    engine("refuse-damaged", Bug::RefuseDamaged, 1000),
    engine("trust-older-chunk", Bug::TrustOlderChunk, 1000),
    engine("numbers-repeat", Bug::NumbersRepeat, 200),
    engine("trust-any-log", Bug::TrustAnyLog, 200),
    engine("visible-unforced", Bug::VisibleUnforced, 400),
    engine("forget-tickets", Bug::ForgetTickets, 400),
    solo("keep-mark", Bug::KeepMark, 200),
    solo("keep-front", Bug::KeepFront, 200),
    solo("forget-group", Bug::ForgetGroup, 100),
    solo("keep-place-in-group", Bug::KeepPlaceInGroup, 100),
    solo("alter-ungroups", Bug::AlterUngroups, 100),
    solo("show-properties", Bug::ShowProperties, 100),
    topics("half-publish", Bug::HalfPublish, 200),
    topics("forget-subscription", Bug::ForgetSubscription, 100),
    topics("leak-managed", Bug::LeakManaged, 100),
    topics("forget-retained", Bug::ForgetRetained, 100),
    topics("outlive-retained", Bug::OutliveRetained, 200),
    delays("move-in-two", Bug::MoveInTwo, 200),
    delays("forget-delayed", Bug::ForgetDelayed, 100),
    delays("deliver-early", Bug::DeliverEarly, 100),
    lists("forget-last", Bug::ForgetLast, 100),
    lists("forget-miss", Bug::ForgetMiss, 100),
    lists("same-record", Bug::SameRecord, 100),
    channel("drop-get-past-wait", Bug::DropGetPastWait, 400),
    channel("keep-branch", Bug::KeepBranch, 400),
    channel("ignored-selector", Bug::IgnoredSelector, 100),
    channel("unbudgeted-flows", Bug::UnbudgetedFlows, 200),
    channel("wait-keeps-buffer", Bug::WaitKeepsBuffer, 200),
    channel("waits-stop-reading", Bug::WaitsStopReading, 200),
    channel("ignored-room", Bug::IgnoredRoom, 100),
];

/// Looks for a planted bug; returns the seed that found it and what it said.
pub fn find(planted: &Planted, first_seed: u64) -> Option<(u64, Failure)> {
    (first_seed..first_seed + planted.within).find_map(|seed| {
        let plan = match planted.over_channels {
            true => Plan::over_channels(seed),
            false if planted.topics => Plan::with_topics(seed),
            false if planted.solo => Plan::with_solo(seed),
            false if planted.delays => Plan::with_delays(seed),
            false if planted.lists => Plan::with_lists(seed),
            false => Plan::without_channels(seed),
        };
        let plan = Plan {
            bug: planted.bug,
            acknowledge_early: planted.acknowledge_early,
            ..plan
        };
        run_plan(&plan).err().map(|failure| (seed, failure))
    })
}
