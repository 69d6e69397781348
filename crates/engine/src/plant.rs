//! Planted bugs: what the simulator has to find to be believed.
//!
//! Without the feature `plant`, which only verification crates ask for, `planted` is the constant
//! `false` and the compiler removes every trace of it. With it, a bug is planted for the current
//! thread only, so that simulations can run beside each other.

/// A bug that can be planted. Each is a mistake that a queue manager could really have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A backout forgets to give one message back.
    ForgetUndo,
    /// A committed get leaves the message on the queue.
    DeliverTwice,
    /// A unit of work is committed although an asynchronous put in it has failed.
    CommitDoomed,
    /// What takes the place of a unit of work that the system has backed out can be committed.
    ReplaceUndoomed,
    /// An image does not carry units of work in doubt, which pin nothing.
    DropPrepared,
    /// Restart undoes units of work that are prepared.
    UndoPrepared,
    /// Restart gives the places back that units of work in doubt have in queue files.
    LeaveInDoubtFree,
    /// A message put in a unit of work is visible before the commit.
    VisibleEarly,
    /// Restart redoes only the first operation of a committed unit of work.
    HalfCommit,
    /// Restart redoes only the first half of a publication.
    HalfPublish,
    /// A checkpoint lets the log be cut above young messages that are in no queue file.
    ForgetYoung,
    /// A checkpoint does not ask whether effects are still on their way.
    IgnorePins,
    /// A checkpoint does not sync queue files before its image counts.
    UnsyncedQueueFile,
    /// A failed sync of a queue file counts as "no room": the checkpoint is tried again.
    RetryFailedSync,
    /// Gets use up the log's reserve, and a restart insists on writing what that leaves no room for.
    SpendReserve,
    /// Units of work are backed out when the log is short although that makes no room.
    BackOutInVain,
    /// Non-persistent messages of an old controlled shutdown come back after a crash.
    Resurrect,
    /// Delivery ignores priorities.
    IgnorePriority,
    /// An asynchronous put outside syncpoint is visible before its record is forced.
    VisibleUnforced,
    /// MQSTAT, and all else, does not wait for asynchronous puts that are on their way.
    ForgetTickets,
    /// Whoever waits for tickets says so after it has looked whether there are any.
    AwaitedLate,
    /// What an image carries of units of work in doubt is put together after queues were saved.
    CarryLate,
    /// A message whose holder went away is not given back.
    DropLease,
    /// A delivery that is accepted when its connection has ended begins a unit of work that nobody ends.
    JoinReleased,
    /// A consumer does not ask whether it may wait, once it is listed among those who do.
    ListedUnasked,
    /// A message that is got keeps its marks, and has them when it comes back.
    KeepMark,
    /// What comes in front of marked messages, or is marked no more, is not looked for.
    KeepFront,
    /// A start is refused when a queue's file is damaged.
    RefuseDamaged,
    /// A get is dropped when its connection quiesces, although its message is gone from the queue.
    DropGetPastWait,
    /// Restart lets a log record replace a definition that is newer than it.
    RedoOlderDefinition,
    /// A system backout clears the pin of the unit of work that the application has begun since.
    ClearNextPin,
    /// Detached effects leave the list, with their pins, before they have happened.
    DetachedTakenEarly,
    /// A place is given back while a checkpoint that may have named it saves the rest of the queue.
    FreeWhileSaving,
    /// What a checkpoint has saved counts as saved although whoever took it went away before its image was in force.
    KeepUnfinished,
    /// A checkpoint is taken after one that has failed, and takes what that one has saved for saved.
    SaveAfterFailure,
    /// A checkpoint gives back the room of what its image no longer names before that image is in force.
    GiveBackEarly,
    /// The place of a message that is gone is not given back: the queue file grows for ever.
    LeakPlace,
    /// Room that the log keeps for the end of a unit of work is kept after the end.
    KeepPromise,
    /// A message that was got, and written over, while somebody read it counts as damage.
    BlameUnseen,
    /// A part of an index that was saved earlier is taken for the one that the image means: it is in the same place
    /// and as long, because the write was lost.
    TrustOlderChunk,
    /// The numbers of messages begin again at each start, close behind those of the start before.
    NumbersRepeat,
    /// A branch that is not prepared stays when the connections that have worked on it are gone.
    KeepBranch,
    /// A message that arrives is handed to whoever waits, whatever his selector.
    UnselectiveHandOver,
    /// A queue does not note messages that come behind searches by selector, so that those pass them by.
    ForgetRelisted,
    /// MQOPEN takes a selector that nothing looks at.
    IgnoredSelector,
    /// A channel takes in unfinished messages whatever they need, on one socket and on all.
    UnbudgetedFlows,
    /// A connection keeps the output buffer that a request without an answer, a get that waits, has taken.
    WaitKeepsBuffer,
    /// Gets that wait count as requests at work, so a socket with many of them is not read.
    WaitsStopReading,
    /// Messages are sent without a call although the client has no room for them.
    IgnoredRoom,
    /// A restart forgets a durable subscription.
    ForgetSubscription,
    /// A restart forgets that a subscription is of a group.
    ForgetGroup,
    /// A backout leaves handles where they stand in their groups.
    KeepPlaceInGroup,
    /// A command that alters a subscription takes it out of its group.
    AlterUngroups,
    /// PROPCTL(NONE) is not looked at.
    ShowProperties,
    /// The managed queue of a subscription that has ended stays.
    LeakManaged,
    /// A subscription that is altered is nowhere for a moment.
    AlterInTwo,
    /// Restart does not look which publications are retained.
    ForgetRetained,
    /// What is retained is sent to new subscriptions as if it never expired.
    OutliveRetained,
    /// A delayed message leaves the staging queue in one unit of work, and is put where it is to go in another.
    MoveInTwo,
    /// A look through the staging queue passes by what is due already.
    ForgetDelayed,
    /// A delayed message is put where it is to go as soon as somebody looks.
    DeliverEarly,
    /// The record of what is put to many queues at once lacks the last of them.
    ForgetLast,
    /// An asynchronous put to a list that misses a queue does not doom its unit of work.
    ForgetMiss,
    /// Every message of a list has what the first record says.
    SameRecord,
    /// A start does not ask whether the log belongs to the data folder.
    TrustAnyLog,
    /// What a process does when it has let the files go changes them still.
    WriteUnlocked,
}

impl Bug {
    /// All of them.
    pub const ALL: &[Bug] = &[
        Bug::ForgetUndo,
        Bug::DeliverTwice,
        Bug::CommitDoomed,
        Bug::ReplaceUndoomed,
        Bug::DropPrepared,
        Bug::UndoPrepared,
        Bug::LeaveInDoubtFree,
        Bug::VisibleEarly,
        Bug::HalfCommit,
        Bug::HalfPublish,
        Bug::ForgetYoung,
        Bug::IgnorePins,
        Bug::UnsyncedQueueFile,
        Bug::RetryFailedSync,
        Bug::SpendReserve,
        Bug::BackOutInVain,
        Bug::Resurrect,
        Bug::IgnorePriority,
        Bug::VisibleUnforced,
        Bug::ForgetTickets,
        Bug::AwaitedLate,
        Bug::CarryLate,
        Bug::DropLease,
        Bug::JoinReleased,
        Bug::ListedUnasked,
        Bug::KeepMark,
        Bug::KeepFront,
        Bug::RefuseDamaged,
        Bug::DropGetPastWait,
        Bug::RedoOlderDefinition,
        Bug::ClearNextPin,
        Bug::DetachedTakenEarly,
        Bug::FreeWhileSaving,
        Bug::KeepUnfinished,
        Bug::SaveAfterFailure,
        Bug::GiveBackEarly,
        Bug::LeakPlace,
        Bug::KeepPromise,
        Bug::BlameUnseen,
        Bug::TrustOlderChunk,
        Bug::NumbersRepeat,
        Bug::KeepBranch,
        Bug::UnselectiveHandOver,
        Bug::ForgetRelisted,
        Bug::IgnoredSelector,
        Bug::UnbudgetedFlows,
        Bug::WaitKeepsBuffer,
        Bug::WaitsStopReading,
        Bug::IgnoredRoom,
        Bug::ForgetSubscription,
        Bug::ForgetGroup,
        Bug::KeepPlaceInGroup,
        Bug::AlterUngroups,
        Bug::ShowProperties,
        Bug::LeakManaged,
        Bug::AlterInTwo,
        Bug::ForgetRetained,
        Bug::OutliveRetained,
        Bug::MoveInTwo,
        Bug::ForgetDelayed,
        Bug::DeliverEarly,
        Bug::ForgetLast,
        Bug::ForgetMiss,
        Bug::SameRecord,
        Bug::TrustAnyLog,
        Bug::WriteUnlocked,
    ];
}

#[cfg(feature = "plant")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug for this thread, or none.
#[cfg(feature = "plant")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether this bug is planted here.
#[inline]
pub fn planted(bug: Bug) -> bool {
    #[cfg(feature = "plant")]
    {
        PLANTED.get() == Some(bug)
    }
    #[cfg(not(feature = "plant"))]
    {
        let _ = bug;
        false
    }
}
