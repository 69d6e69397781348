//! Message groups in logical order.
//!
//! Invariants (MQI reference, "MQPMO_LOGICAL_ORDER" and "MQGMO_LOGICAL_ORDER"):
//! * A putter that asks for logical order states only the flags; the queue manager makes the group
//!   identifier and counts. A group is put with one persistence and either wholly inside or wholly
//!   outside units of work.
//! * A getter that asks for logical order sees groups one after another, each from 1 to its last
//!   message; messages in no group come in their turn.
//! * A handle remembers where its last message stood, whether or not that one was put or got in
//!   logical order: that is how a group is taken up again after a failure. Removing and browsing
//!   are remembered apart.
//! * The state of a handle changes only when the call succeeds, and changes back with the unit of work that the call was in
//!   (`group_backout`).

use std::collections::BTreeSet;

use posthaste_mqi::constants::*;
use posthaste_mqi::{GroupId, Hobj, Md, Pmo, Reason};

use crate::consume::selection::Selection;
use crate::message::Message;
use crate::queue::index::GroupKeys;
use crate::queue::{Cursor, QueueState, Start};

/// Where a putter stands: the group it is in, if the group has not had its last message.
// Boxed, here and below, because most handles are in no group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupPut {
    current: Option<Box<PutGroup>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PutGroup {
    id: GroupId,
    sequence: i32,
    persistence: i32,
    in_unit: bool,
    /// The last message was put in logical order.
    logical: bool,
}

/// What the next put of a handle leaves behind if it succeeds.
pub(crate) struct NextPut {
    pub(crate) state: GroupPut,
    pub(crate) warning: Reason,
}

impl GroupPut {
    /// Whether a group begun in logical order has not had its last message.
    pub(crate) fn incomplete(&self) -> bool {
        self.current.as_ref().is_some_and(|group| group.logical)
    }

    /// Completes the descriptor of the next message. `persistence` is the message's own, resolved; `new_id` makes the
    /// identifier of a group that begins.
    ///
    /// # Errors
    /// In logical order: 2241 a group was left incomplete, 2185 inconsistent persistence, 2245
    /// inconsistent unit of work, 2257 the descriptor is version 1. Out of logical order, after a
    /// put in logical order, the first three are warnings.
    pub(crate) fn next(
        &self,
        md: &mut Md,
        pmo: &Pmo,
        persistence: i32,
        new_id: impl FnOnce() -> GroupId,
    ) -> Result<NextPut, Reason> {
        let logical = pmo.options & MQPMO_LOGICAL_ORDER != 0;
        if md.version < MQMD_VERSION_2 {
            if logical {
                return Err(Reason::WRONG_MD_VERSION);
            }
            md.msg_flags = 0;
            md.original_length = -1;
        }
        let last = md.msg_flags & MQMF_LAST_MSG_IN_GROUP != 0;
        let grouped = last || md.msg_flags & MQMF_MSG_IN_GROUP != 0;
        let segment = md.msg_flags & (MQMF_SEGMENT | MQMF_LAST_SEGMENT) != 0;
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        let expected = self.current.as_ref().filter(|_| logical);
        if grouped {
            md.msg_flags |= MQMF_MSG_IN_GROUP;
            if let Some(group) = expected {
                md.group_id = group.id;
                md.msg_seq_number = group.sequence + 1;
            } else if logical {
                md.group_id = new_id();
                md.msg_seq_number = 1;
            } else if md.group_id == [0; 24] {
                md.group_id = new_id();
            }
        } else if !segment {
            md.group_id = [0; 24];
            md.msg_seq_number = 1;
        }
        if !segment {
            md.offset = 0;
        }
        let wrong = self.mismatch(md, grouped, persistence, in_unit);
        if logical && wrong != Reason::NONE {
            return Err(wrong);
        }
        let state = GroupPut {
            current: (grouped && !last).then(|| {
                Box::new(PutGroup {
                    id: md.group_id,
                    sequence: md.msg_seq_number,
                    persistence,
                    in_unit,
                    logical,
                })
            }),
        };
        let warning = if self.incomplete() {
            wrong
        } else {
            Reason::NONE
        };
        Ok(NextPut { state, warning })
    }

    /// In what a message does not go on with the group the handle is in.
    fn mismatch(&self, md: &Md, grouped: bool, persistence: i32, in_unit: bool) -> Reason {
        match &self.current {
            None => Reason::NONE,
            Some(group) if !grouped || group.id != md.group_id => Reason::INCOMPLETE_GROUP,
            Some(group) if group.persistence != persistence => Reason::INCONSISTENT_PERSISTENCE,
            Some(group) if group.in_unit != in_unit => Reason::INCONSISTENT_UOW,
            Some(_) => Reason::NONE,
        }
    }
}

/// Where a getter stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupGet {
    pub(crate) removing: Option<Box<GetGroup>>,
    browsing: Option<Box<GetGroup>>,
    /// Where the first message of the group last browsed stands.
    origin: Option<Box<Cursor>>,
}

/// The group a getter is in, and the sequence number it expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GetGroup {
    id: GroupId,
    sequence: i32,
    in_unit: bool,
    /// The last message was got in logical order.
    logical: bool,
}

impl GroupGet {
    /// Whether a group begun in logical order has not been got to its last message.
    pub(crate) fn incomplete(&self) -> bool {
        self.removing.as_ref().is_some_and(|group| group.logical)
    }
}

/// The rules of one get.
pub(crate) struct Logical {
    options: i32,
    /// None where no group matters, as for most: a get that waits keeps no room for it.
    groups: Option<Box<Groups>>,
}

/// What a get has to do with groups.
struct Groups {
    /// The group the handle is in; not when the message is chosen otherwise (first, under cursor).
    current: Option<GetGroup>,
    origin: Option<Cursor>,
    /// Groups that were found incomplete during this look.
    incomplete: BTreeSet<GroupId>,
}

impl Logical {
    /// # Errors
    /// 2245: in logical order, but not in (or out of) a unit of work as the group so far.
    pub(crate) fn of(options: i32, handle: GroupGet) -> Result<Self, Reason> {
        let chosen = MQGMO_BROWSE_FIRST | MQGMO_BROWSE_MSG_UNDER_CURSOR | MQGMO_MSG_UNDER_CURSOR;
        let current = if options & chosen != 0 {
            None
        } else if options & MQGMO_BROWSE_NEXT != 0 {
            handle.browsing
        } else {
            handle.removing
        };
        let current = current.map(|group| *group);
        let origin = handle.origin.map(|cursor| *cursor);
        let mut logical = Logical {
            options,
            groups: None,
        };
        if logical.active() || current.is_some() || origin.is_some() {
            logical.groups = Some(Box::new(Groups {
                current,
                origin,
                incomplete: BTreeSet::new(),
            }));
        }
        if logical.ordered()
            && options & MQGMO_BROWSE_NEXT == 0
            && current.is_some_and(|group| group.in_unit != logical.in_unit())
        {
            return Err(Reason::INCONSISTENT_UOW);
        }
        Ok(logical)
    }

    fn has(&self, option: i32) -> bool {
        self.options & option != 0
    }

    fn ordered(&self) -> bool {
        self.has(MQGMO_LOGICAL_ORDER)
    }

    fn in_unit(&self) -> bool {
        self.has(MQGMO_SYNCPOINT)
    }

    /// The group the handle is in.
    fn current(&self) -> Option<GetGroup> {
        self.groups.as_ref()?.current
    }

    /// The group whose next message has to come next.
    fn expected(&self) -> Option<GetGroup> {
        self.current().filter(|_| self.ordered())
    }

    /// Whether arrival alone does not decide which message is next.
    pub(crate) fn active(&self) -> bool {
        self.has(MQGMO_LOGICAL_ORDER | MQGMO_ALL_MSGS_AVAILABLE)
    }

    /// Where the search begins. A group stands where its first message stands, and its other
    /// messages may lie anywhere.
    pub(crate) fn start(&self, cursor: Option<Cursor>) -> Start {
        if !self.has(MQGMO_BROWSE_NEXT) || self.expected().is_some() {
            return Start::First;
        }
        let groups = self.groups.as_ref().filter(|_| self.ordered());
        let origin = groups.and_then(|groups| groups.origin);
        origin.or(cursor).map_or(Start::First, Start::After)
    }

    /// What to search for: inside a group, its next message.
    pub(crate) fn matches(&mut self, wanted: &Selection) -> Selection {
        if let Some(groups) = &mut self.groups {
            groups.incomplete.clear();
        }
        match self.expected() {
            Some(group) => Selection {
                group_id: Some(group.id),
                seq_number: Some(group.sequence),
                selector: wanted.selector.clone(),
                ..Selection::default()
            },
            None => wanted.clone(),
        }
    }

    /// Whether a message may be delivered that says this of groups: asked before the message is read.
    pub(crate) fn may_accept(
        &mut self,
        state: &QueueState,
        keys: &GroupKeys,
        owner: (u64, Hobj),
        now: i64,
    ) -> bool {
        let grouped = keys.flags & MQMF_MSG_IN_GROUP != 0;
        if self.expected().is_some() || !self.active() || !grouped {
            return true;
        }
        if self.ordered() && keys.sequence != 1 {
            return false;
        }
        if !self.has(MQGMO_ALL_MSGS_AVAILABLE) {
            return true;
        }
        // Which is there, because it is asked for whole groups.
        let Some(groups) = &mut self.groups else {
            return true;
        };
        // Once the first message of a group was got, the others are not asked again.
        if groups.current.is_some_and(|group| group.id == keys.id) {
            return true;
        }
        if groups.incomplete.contains(&keys.id) {
            return false;
        }
        let complete = state.has_whole_group(keys.id, owner, now);
        if !complete {
            groups.incomplete.insert(keys.id);
        }
        complete
    }

    /// Looks at a message that was found.
    ///
    /// # Errors
    /// 2247, the message that is next in the group is not what was asked for.
    pub(crate) fn check(&self, message: &Message, wanted: &Selection) -> Result<(), Reason> {
        match self.expected().is_none() || wanted.accepts_fields(message) {
            true => Ok(()),
            false => Err(Reason::MATCH_OPTIONS_ERROR),
        }
    }

    /// Moves the handle on after a message was delivered; returns a warning if the handle was in a
    /// group, in logical order, and this get was not.
    pub(crate) fn advance(
        &self,
        message: &Message,
        cursor: Option<Cursor>,
        handle: &mut GroupGet,
    ) -> Reason {
        if self.has(MQGMO_BROWSE_MSG_UNDER_CURSOR | MQGMO_MSG_UNDER_CURSOR) {
            return Reason::NONE;
        }
        let md = &message.md;
        let more =
            md.msg_flags & MQMF_MSG_IN_GROUP != 0 && md.msg_flags & MQMF_LAST_MSG_IN_GROUP == 0;
        let next = more.then(|| {
            Box::new(GetGroup {
                id: md.group_id,
                sequence: md.msg_seq_number + 1,
                in_unit: self.in_unit(),
                logical: self.ordered(),
            })
        });
        if self.has(MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT) {
            handle.browsing = next;
            if md.msg_flags & MQMF_MSG_IN_GROUP == 0 || !self.ordered() {
                handle.origin = None;
            } else if md.msg_seq_number == 1 {
                handle.origin = cursor.map(Box::new);
            }
        } else {
            handle.removing = next;
        }
        match self.current() {
            Some(group) if group.logical && !self.ordered() => {
                if (group.id, group.sequence) != (md.group_id, md.msg_seq_number) {
                    Reason::INCOMPLETE_GROUP
                } else if group.in_unit != self.in_unit() {
                    Reason::INCONSISTENT_UOW
                } else {
                    Reason::NONE
                }
            }
            _ => Reason::NONE,
        }
    }
}
