//! Rare branches that a verification run has to have taken to be believed.
//!
//! Without the feature `plant`, which only verification crates ask for, `mark` is empty and the compiler
//! removes every trace of it. With it, each thread counts its own.

use crate::record::Record;

macro_rules! marks {
    ($($name:ident: $what:literal,)*) => {
        /// A branch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mark {
            $(#[doc = $what] $name,)*
        }

        impl Mark {
            /// All of them.
            pub const ALL: &[Mark] = &[$(Mark::$name,)*];
        }
    };
}

marks! {
    RedoPut: "Restart redoes a put outside a unit of work.",
    RedoPutInUnit: "Restart meets a put of a unit of work.",
    RedoPublish: "Restart redoes a publication outside a unit of work.",
    RedoPieces: "Restart redoes a publication whose messages differ in a header of their own.",
    RedoPublishInUnit: "Restart meets a publication of a unit of work.",
    RedoSealed: "Restart opens the bodies of a record.",
    RedoGet: "Restart redoes a get outside a unit of work.",
    RedoGetInUnit: "Restart meets a get of a unit of work.",
    RedoCommit: "Restart redoes a commit.",
    RedoBackout: "Restart redoes a backout.",
    RedoObject: "Restart redoes a definition.",
    RedoDeleted: "Restart redoes the end of a definition.",
    RedoCleared: "Restart redoes a clear.",
    RedoDiscarded: "Restart redoes the end of an expired message.",
    RedoCheckpoint: "Restart meets the beginning of an image.",
    RedoPrepare: "Restart meets a prepared unit of work.",
    RedoHeuristic: "Restart redoes a heuristic completion.",
    RedoForgotten: "Restart meets the end of what was remembered of one.",
    RedoFiled: "Restart meets a put of a prepared unit of work that an image names by its place.",
    RetainedSent: "A new subscription is sent a retained publication.",
    RetainedLeftOut: "A new subscription is not sent one that it was given when it was published.",
    RetainedExpired: "A new subscription is not sent a retained publication because it has expired.",
    SupersededAtRestart: "Restart finds several publications that were to be retained for one topic string.",
    Carried: "An image carries a unit of work that is in doubt.",
    IdentityBehind: "The log is one run newer than the data folder knows.",
    UndoneAtRestart: "Restart undoes a unit of work that has no end.",
    DetachedApplied: "An effect happens whose application has gone.",
    LogFullBackout: "A unit of work is backed out to make room in the log.",
    SecondCheckpoint: "One checkpoint did not make enough room in the log.",
    RefusedByStoppedLog: "A backout finds the log stopped.",
    WaitedForRoom: "A call waits for room in the log.",
    ReadByOthers: "A message is read from a queue file by others, because the thread serves many.",
    FiledByOthers: "Messages are left to others to be filed, because the thread serves many.",
    BackedOutReplaced: "A listener is called in a unit of work that takes the place of one that the system has backed out.",
    LeaseReturned: "A message that was held for a consumer goes back to its queue.",
    ReserveSpent: "A checkpoint finds the disk full and spends the reserve.",
    ScarceCheckpoint: "A checkpoint files fewer messages than it should, for want of room.",
    Expired: "Maintenance takes an expired message off its queue.",
    DelayOver: "A delayed message is put where it is to go.",
    DelayExpired: "A delayed message has expired while it waited.",
    DelayGoesOn: "A delayed message that is due can be put neither where it is to go nor on the dead-letter queue.",
    DelayFound: "A look through the staging queue finds a message.",
}

#[cfg(feature = "plant")]
thread_local! {
    static MET: std::cell::RefCell<[u64; Mark::ALL.len()]> =
        const { std::cell::RefCell::new([0; Mark::ALL.len()]) };
}

/// How often this thread has met each branch since the last call.
#[cfg(feature = "plant")]
pub fn take() -> Vec<(Mark, u64)> {
    let met = MET.replace([0; Mark::ALL.len()]);
    Mark::ALL.iter().copied().zip(met).collect()
}

/// This branch is taken.
#[inline]
pub(crate) fn mark(mark: Mark) {
    #[cfg(feature = "plant")]
    MET.with_borrow_mut(|met| met[mark as usize] += 1);
    #[cfg(not(feature = "plant"))]
    let _ = mark;
}

/// This record is redone.
#[inline]
pub(crate) fn redone(record: &Record<'_>) {
    if let Record::Publish(publication) = record
        && publication.bodies.iter().any(|body| !body.head.is_empty())
    {
        mark(Mark::RedoPieces);
    }
    mark(match record {
        Record::Put { uow: 0, .. } => Mark::RedoPut,
        Record::Put { .. } => Mark::RedoPutInUnit,
        Record::Publish(publication) if publication.uow == 0 => Mark::RedoPublish,
        Record::Publish(_) => Mark::RedoPublishInUnit,
        Record::Get { uow: 0, .. } => Mark::RedoGet,
        Record::Get { .. } => Mark::RedoGetInUnit,
        Record::Commit { .. } => Mark::RedoCommit,
        Record::Backout { .. } => Mark::RedoBackout,
        Record::Object { .. } => Mark::RedoObject,
        Record::Deleted { .. } => Mark::RedoDeleted,
        Record::Cleared { .. } => Mark::RedoCleared,
        Record::Discarded { .. } => Mark::RedoDiscarded,
        Record::Checkpoint { .. } => Mark::RedoCheckpoint,
        Record::Prepare { .. } => Mark::RedoPrepare,
        Record::Heuristic { .. } => Mark::RedoHeuristic,
        Record::Forgotten { .. } => Mark::RedoForgotten,
    });
}
