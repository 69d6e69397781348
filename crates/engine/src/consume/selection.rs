//! Which messages a consumer asks for, compiled once: `MatchOptions` and the identifiers in a descriptor.
//!
//! A selector of properties (the SQL-like language of MQSUB and MQOPEN) would be one more field here: looked at in
//! [`Selection::accepts`], which sees each message once when it arrives and once when it is found on the queue.

use posthaste_mqi::{CorrelId, Gmo, GroupId, Md, MsgId, MsgToken, constants::*};

use crate::message::Message;
use crate::queue::index::{GroupKeys, tag_of};

/// What a message must have to be delivered. `None` = anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selection {
    pub(crate) msg_id: Option<MsgId>,
    pub(crate) correl_id: Option<CorrelId>,
    pub(crate) group_id: Option<GroupId>,
    pub(crate) seq_number: Option<i32>,
    pub(crate) offset: Option<i32>,
    pub(crate) token: Option<MsgToken>,
}

impl Selection {
    /// Reads the criteria. A version 1 MQGMO matches by MsgId and CorrelId; a null identifier
    /// matches anything.
    pub(crate) fn of(md: &Md, gmo: &Gmo) -> Self {
        let options = if gmo.version < MQGMO_VERSION_2 {
            MQMO_MATCH_MSG_ID | MQMO_MATCH_CORREL_ID
        } else {
            gmo.match_options
        };
        let wanted = |bit: i32, id: [u8; 24]| (options & bit != 0 && id != [0; 24]).then_some(id);
        Selection {
            msg_id: wanted(MQMO_MATCH_MSG_ID, md.msg_id),
            correl_id: wanted(MQMO_MATCH_CORREL_ID, md.correl_id),
            group_id: wanted(MQMO_MATCH_GROUP_ID, md.group_id),
            seq_number: (options & MQMO_MATCH_MSG_SEQ_NUMBER != 0).then_some(md.msg_seq_number),
            offset: (options & MQMO_MATCH_OFFSET != 0).then_some(md.offset),
            token: (options & MQMO_MATCH_MSG_TOKEN != 0).then_some(gmo.msg_token),
        }
    }

    /// Where whoever waits for it is found.
    pub(crate) fn key(&self, seed: u64) -> Key {
        let tag = |id: &[u8; 24]| tag_of(id, seed);
        if let Some(id) = &self.msg_id {
            Key::Msg(tag(id))
        } else if let Some(id) = &self.correl_id {
            Key::Correl(tag(id))
        } else if let Some(id) = &self.group_id {
            Key::Group(tag(id))
        } else {
            Key::Any
        }
    }

    /// Whether a message may be accepted that says this of groups.
    pub(crate) fn may_accept(&self, keys: &GroupKeys) -> bool {
        self.group_id.is_none_or(|id| id == keys.id)
            && self.seq_number.is_none_or(|n| n == keys.sequence)
            && self.offset.is_none_or(|o| o == keys.offset)
    }

    pub(crate) fn accepts(&self, message: &Message) -> bool {
        let md = &message.md;
        self.msg_id.is_none_or(|id| id == md.msg_id)
            && self.correl_id.is_none_or(|id| id == md.correl_id)
            && self.group_id.is_none_or(|id| id == md.group_id)
            && self.seq_number.is_none_or(|n| n == md.msg_seq_number)
            && self.offset.is_none_or(|o| o == md.offset)
            && self.token.is_none_or(|t| t == token_of(message.seq))
    }
}

/// The identifier by which those who wait are found: its tag. The rest of a selection is looked at then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Any,
    Msg(u32),
    Correl(u32),
    Group(u32),
}

/// The token of a message: unique and stable while this queue manager has the message.
pub(crate) fn token_of(seq: u64) -> MsgToken {
    let mut token = [0; 16];
    token[..4].copy_from_slice(b"PHMT");
    token[8..].copy_from_slice(&seq.to_be_bytes());
    token
}

/// The number in a token; `None` = no token of ours.
pub(crate) fn seq_of(token: &MsgToken) -> Option<u64> {
    let (head, tail) = token.split_at(8);
    if head != b"PHMT\0\0\0\0" {
        return None;
    }
    Some(u64::from_be_bytes(tail.try_into().ok()?))
}
