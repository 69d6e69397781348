//! Message groups in logical order.
//!
//! Invariants (MQI reference, "Message groups and segments", MQPMO_LOGICAL_ORDER and
//! MQGMO_LOGICAL_ORDER):
//! * A putter that asks for logical order states only the flags; the queue manager makes the group
//!   identifier and counts. A group is put with one persistence and either wholly inside or wholly
//!   outside units of work.
//! * A getter that asks for logical order sees groups one after another, each from 1 to its last
//!   message; messages in no group come in their turn.
//! * The state of a handle changes only when the call succeeds.

use posthaste_mqi::constants::*;
use posthaste_mqi::{GroupId, Hobj, Md, Pmo, Reason};
use posthaste_store::StoreError;

use crate::manager::Inner;
use crate::message::Message;
use crate::queue::matching::Match;
use crate::queue::{QueueState, Start};

/// Where a putter stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupPut {
    current: Option<PutGroup>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PutGroup {
    id: GroupId,
    sequence: i32,
    persistence: i32,
    in_unit: bool,
}

impl GroupPut {
    /// Completes the descriptor of the next message; returns the state to keep if the put succeeds.
    ///
    /// # Errors
    /// 2241 a group was left incomplete, 2185 inconsistent persistence, 2245 inconsistent unit of
    /// work, 2257 the descriptor is version 1 but flags are needed.
    pub(crate) fn next(
        now: &GroupPut,
        md: &mut Md,
        pmo: &Pmo,
        qm: &Inner,
    ) -> Result<Option<GroupPut>, Reason> {
        let flags = if md.version >= MQMD_VERSION_2 {
            md.msg_flags
        } else {
            0
        };
        let last = flags & MQMF_LAST_MSG_IN_GROUP != 0;
        let grouped = last || flags & MQMF_MSG_IN_GROUP != 0;
        if grouped {
            md.msg_flags |= MQMF_MSG_IN_GROUP;
        }
        if pmo.options & MQPMO_LOGICAL_ORDER == 0 {
            if grouped && md.group_id == [0; 24] {
                md.group_id = qm.new_msg_id(qm.next_seq());
            } else if !grouped && flags & (MQMF_SEGMENT | MQMF_LAST_SEGMENT) == 0 {
                md.group_id = [0; 24];
                md.msg_seq_number = 1;
                md.offset = 0;
            }
            return Ok(None);
        }
        if !grouped {
            if now.current.is_some() {
                return Err(Reason::INCOMPLETE_GROUP);
            }
            md.group_id = [0; 24];
            md.msg_seq_number = 1;
            return Ok(Some(GroupPut::default()));
        }
        let in_unit = pmo.options & MQPMO_SYNCPOINT != 0;
        let group = match now.current {
            Some(group) => PutGroup {
                sequence: group.sequence + 1,
                ..group
            },
            None => PutGroup {
                id: qm.new_msg_id(qm.next_seq()),
                sequence: 1,
                persistence: md.persistence,
                in_unit,
            },
        };
        if group.persistence != md.persistence {
            return Err(Reason::INCONSISTENT_PERSISTENCE);
        }
        if group.in_unit != in_unit {
            return Err(Reason::INCONSISTENT_UOW);
        }
        md.group_id = group.id;
        md.msg_seq_number = group.sequence;
        md.offset = 0;
        Ok(Some(GroupPut {
            current: (!last).then_some(group),
        }))
    }
}

/// Where a getter stands: the group it is in, and the sequence number it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupGet {
    current: Option<(GroupId, i32)>,
}

/// The rules of one get.
pub(crate) struct Logical {
    ordered: bool,
    all_available: bool,
    current: Option<(GroupId, i32)>,
    /// Groups that were found incomplete during this look.
    incomplete: Vec<GroupId>,
}

impl Logical {
    pub(crate) fn of(options: &i32, handle: &GroupGet) -> Self {
        let ordered = options & MQGMO_LOGICAL_ORDER != 0;
        Logical {
            ordered,
            all_available: options & MQGMO_ALL_MSGS_AVAILABLE != 0,
            current: if ordered { handle.current } else { None },
            incomplete: Vec::new(),
        }
    }

    /// Whether arrival alone does not decide which message is next.
    pub(crate) fn active(&self) -> bool {
        self.ordered || self.all_available
    }

    /// What to search for: inside a group, its next message.
    pub(crate) fn matches(&mut self, wanted: &Match) -> Match {
        self.incomplete.clear();
        match self.current {
            Some((id, sequence)) => Match {
                group_id: Some(id),
                seq_number: Some(sequence),
                ..Match::default()
            },
            None => wanted.clone(),
        }
    }

    /// Whether a message that was found may be delivered.
    pub(crate) fn accepts(
        &mut self,
        state: &mut QueueState,
        message: &Message,
        owner: (u64, Hobj),
        now: i64,
    ) -> Result<bool, StoreError> {
        let md = &message.md;
        if !self.active() || self.current.is_some() || md.msg_flags & MQMF_MSG_IN_GROUP == 0 {
            return Ok(true);
        }
        if self.ordered && md.msg_seq_number != 1 {
            return Ok(false);
        }
        if !self.all_available {
            return Ok(true);
        }
        if self.incomplete.contains(&md.group_id) {
            return Ok(false);
        }
        let complete = complete(state, md.group_id, owner, now)?;
        if !complete {
            self.incomplete.push(md.group_id);
        }
        Ok(complete)
    }

    /// Moves the handle on after a message was delivered.
    pub(crate) fn advance(&self, message: &Message, handle: &mut GroupGet) {
        if !self.ordered {
            return;
        }
        let md = &message.md;
        let more =
            md.msg_flags & MQMF_MSG_IN_GROUP != 0 && md.msg_flags & MQMF_LAST_MSG_IN_GROUP == 0;
        handle.current = more.then_some((md.group_id, md.msg_seq_number + 1));
    }
}

/// Whether every message of a group is on the queue, from 1 to the last.
fn complete(
    state: &mut QueueState,
    group: GroupId,
    owner: (u64, Hobj),
    now: i64,
) -> Result<bool, StoreError> {
    let wanted = Match {
        group_id: Some(group),
        ..Match::default()
    };
    let (mut seen, mut last) = (0i64, None);
    let mut start = Start::First;
    // Expired members are left to the search proper.
    let mut expired = Vec::new();
    while let Some(found) = state.find(&wanted, start, owner, now, &mut expired)? {
        seen += 1;
        if found.message.md.msg_flags & MQMF_LAST_MSG_IN_GROUP != 0 {
            last = Some(i64::from(found.message.md.msg_seq_number));
        }
        start = Start::After(state.key(found.slot));
    }
    Ok(last == Some(seen))
}
