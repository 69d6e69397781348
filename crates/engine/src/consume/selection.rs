//! Which messages a consumer asks for, compiled once: `MatchOptions` and the identifiers in a descriptor, and the
//! selector that its handle was opened with.
//!
//! Invariants:
//! * A selector that asks for one identifier of JMS and nothing else (`JMSMessageID = 'ID:...'`,
//!   `JMSCorrelationID = 'ID:...'`) is that identifier of the descriptor, so that whoever asks for it is found by it.
//! * A null identifier in a descriptor matches anything; one that a selector asks for does not.

use std::sync::Arc;

use posthaste_mqi::{CorrelId, Gmo, GroupId, Md, MsgId, MsgToken, Reason, constants::*};
use posthaste_selector::{Jms, Name, Required, Selector};

use super::considered::{Considered, identifier_of};
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
    pub(crate) selector: Option<Arc<Selector>>,
}

/// The selector of a handle.
#[derive(Clone, Debug)]
pub(crate) struct Selecting {
    /// Identifiers that every message has that it selects.
    msg_id: Option<MsgId>,
    correl_id: Option<CorrelId>,
    /// There is nothing else in it than one of these.
    by_identifier: bool,
    selector: Arc<Selector>,
}

impl Selecting {
    /// Compiles a selection string; none: it selects everything.
    ///
    /// # Errors
    /// 2459 it is malformed, 2504 it can never be true, 2519 it is too long.
    pub(crate) fn new(text: &str) -> Result<Option<Arc<Selecting>>, Reason> {
        if text.len() > MQ_SELECTOR_LENGTH as usize {
            return Err(Reason::SELECTION_STRING_ERROR);
        }
        let selector = Selector::new(text).map_err(|_| Reason::SELECTOR_SYNTAX_ERROR)?;
        match selector.constant() {
            Some(true) => return Ok(None),
            Some(false) => return Err(Reason::SELECTOR_ALWAYS_FALSE),
            None => {}
        }
        let only = selector.only_required().and_then(identifier_in);
        let by_identifier = only.is_some();
        // Beside other conditions a correlation identifier may be the one in the message's MQRFH2.
        let beside = selector
            .required()
            .filter_map(identifier_in)
            .find(|(name, _)| *name == Jms::MessageId);
        let (mut msg_id, mut correl_id) = (None, None);
        match only.or(beside) {
            Some((Jms::MessageId, id)) => msg_id = Some(id),
            Some((_, id)) => correl_id = Some(id),
            None => {}
        }
        Ok(Some(Arc::new(Selecting {
            msg_id,
            correl_id,
            by_identifier,
            selector: Arc::new(selector),
        })))
    }
}

/// The identifier of a message that is required.
fn identifier_in(required: Required<'_>) -> Option<(Jms, [u8; 24])> {
    match required.name {
        Name::Jms(name @ (Jms::MessageId | Jms::CorrelationId)) => {
            // Who has the null identifier has none, and it is not listed under it.
            let id = identifier_of(required.text).filter(|id| *id != [0; 24]);
            Some((*name, id?))
        }
        _ => None,
    }
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
            selector: None,
        }
    }

    /// The same, of those that the handle's selector selects.
    pub(crate) fn narrowed(mut self, by: Option<&Arc<Selecting>>) -> Self {
        let Some(by) = by else {
            return self;
        };
        let both = [
            (&mut self.msg_id, by.msg_id),
            (&mut self.correl_id, by.correl_id),
        ];
        let mut says_all = by.by_identifier;
        for (asked, selected) in both {
            let Some(selected) = selected else { continue };
            // Who asks for another one besides gets nothing, because no message has both.
            says_all &= *asked.get_or_insert(selected) == selected;
        }
        self.selector = (!says_all).then(|| Arc::clone(&by.selector));
        self
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

    pub(crate) fn accepts(&self, considered: &Considered<'_>) -> bool {
        self.accepts_fields(considered.message)
            && (self.selector.as_ref()).is_none_or(|selector| selector.matches(considered))
    }

    /// Whether the fields of a message are those that are asked for, whatever its properties.
    pub(crate) fn accepts_fields(&self, message: &Message) -> bool {
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
