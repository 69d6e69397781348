//! Gets made of requests for messages (REQUEST_MSGS, ASYNC_MESSAGE, NOTIFICATION), as client libraries make them that read
//! ahead or have listeners. The oracle judges them as it judges MQGET.
//!
//! Invariants: there is room for one message, and a get waits for it. So the server is at fault that sends one that nobody
//! awaits, or another number, handle or selection than is due, or a piece out of turn.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use posthaste_engine::{Done, Got, Verb};
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Gmo, Hobj, Md, Name, Reason};
use posthaste_wire::stream::{AsyncFirst, AsyncMessage, Notification, RequestMsgs, Selection};
use posthaste_wire::{Envelope, Flags, Scope};

use super::conversation::{Conversation, answer_of};
use crate::consume::LIKE_GET;

/// Flag of a request: a selection follows.
const SELECTS: u32 = 0x10;
/// Bytes of a descriptor of version 2, which count as received with the data.
const DESCRIPTOR: u32 = 364;
/// The request identifier where no answer is wanted, and where one is.
const UNANSWERED: u32 = 1;
const ANSWERED: u32 = 3;

/// What a conversation remembers of what it was sent.
#[derive(Default)]
pub(super) struct Stream {
    /// Number of the last message.
    last: Cell<u32>,
    /// Number of the last selection.
    selection: Cell<u16>,
    /// Bytes that came by a handle and were not told of.
    received: RefCell<BTreeMap<i32, u32>>,
}

/// A message that is awaited, or what has come of it.
pub(crate) struct Awaited {
    handle: Hobj,
    selection: u16,
    segments: u16,
    number: u32,
    first: Option<AsyncFirst>,
    data: Vec<u8>,
    pub(super) whole: bool,
}

impl Awaited {
    fn new(handle: Hobj, selection: u16) -> Awaited {
        Awaited {
            handle,
            selection,
            segments: 0,
            number: 0,
            first: None,
            data: Vec::new(),
            whole: false,
        }
    }

    /// Takes one more piece; says what is wrong with it.
    pub(super) fn take(&mut self, piece: AsyncMessage, last: bool) -> Result<(), String> {
        let due = (self.handle, self.selection, self.segments);
        let is = (piece.handle, piece.selection, piece.segment);
        if self.whole || is != due || piece.first.is_some() != (self.segments == 0) {
            return Err(format!(
                "the server sent {is:?} of a message, {due:?} is due"
            ));
        }
        self.segments += 1;
        self.number = piece.global_index;
        self.first = piece.first.or(self.first.take());
        self.data.extend_from_slice(&piece.data);
        self.whole = last;
        Ok(())
    }
}

impl Conversation {
    /// Whether this get is to be made of a request for messages.
    pub(super) fn streams(&self, gmo: &Gmo) -> bool {
        let known = LIKE_GET | MQGMO_ACCEPT_TRUNCATED_MSG | MQGMO_FAIL_IF_QUIESCING;
        gmo.options & !known == 0 && self.line.is_shared() && self.site.below(3) == 0
    }

    fn envelope(&self, request: u32) -> Option<Envelope> {
        let envelope = self.line.envelope(ByteOrder::Little, self.id)?;
        let scope = Scope::Conversation {
            id: self.id,
            request,
        };
        Some(Envelope { scope, ..envelope })
    }

    /// Stops delivery, until the server says that it has stopped, and starts it.
    async fn restart(&self) -> Result<(), Reason> {
        let state = |value: u32| Notification {
            handle: Hobj::UNUSABLE,
            code: Notification::CONN_STATE,
            value,
        };
        let [Some(quiet), Some(asking)] = [UNANSWERED, ANSWERED].map(|r| self.envelope(r)) else {
            return Ok(());
        };
        let stop = |out: &mut Vec<u8>| state(0).encode(out, &asking, Flags::CONFIRM);
        answer_of(self.line.notified(self.id, stop).await)?;
        self.line.send(|_, out| {
            state(Notification::STARTED).encode(out, &quiet, Flags::NONE);
        });
        self.site.met("delivery stopped and started");
        Ok(())
    }

    fn request_for(&self, handle: Hobj, md: &Md, gmo: &Gmo, buffer: usize) -> RequestMsgs {
        let selection = self.stream.selection.get().wrapping_add(1);
        self.stream.selection.set(selection);
        let matched = |option: i32| gmo.match_options & option != 0;
        RequestMsgs {
            handle,
            received: self
                .stream
                .received
                .borrow_mut()
                .remove(&handle.0)
                .unwrap_or(0),
            requested: 1,
            max_length: i32::try_from(buffer).unwrap_or(-1),
            options: gmo.options,
            wait_ms: gmo.wait_interval,
            queue_status: 0,
            flags: SELECTS | RequestMsgs::TRANSACTION_ALLOWED | RequestMsgs::GET_WAITS,
            global_index: self.stream.last.get(),
            selection: Some(Selection {
                index: selection,
                md_version: 2,
                ccsid: 1208,
                encoding: 546,
                msg_seq_number: md.msg_seq_number,
                offset: md.offset,
                match_options: gmo.match_options,
                msg_id: matched(MQMO_MATCH_MSG_ID).then_some(md.msg_id),
                correl_id: matched(MQMO_MATCH_CORREL_ID).then_some(md.correl_id),
                group_id: matched(MQMO_MATCH_GROUP_ID).then_some(md.group_id),
                msg_token: matched(MQMO_MATCH_MSG_TOKEN).then_some(gmo.msg_token),
            }),
        }
    }

    /// Gets as MQGET does.
    pub(super) async fn streamed(
        &self,
        handle: Hobj,
        md: &mut Md,
        gmo: &mut Gmo,
        buffer: usize,
    ) -> Verb<Got> {
        if self.site.below(3) == 0 {
            self.restart().await?;
        }
        let Some(envelope) = self.envelope(UNANSWERED) else {
            return Err(Reason::CONNECTION_BROKEN);
        };
        let request = self.request_for(handle, md, gmo, buffer);
        let awaited = Awaited::new(handle, self.stream.selection.get());
        let ask = |out: &mut Vec<u8>| request.encode(out, &envelope, Flags::NONE);
        let came = answer_of(self.line.message(self.id, awaited, ask).await)?;
        let Some(first) = came.first else {
            return Err(Reason::UNEXPECTED_ERROR);
        };
        let gone = matches!(first.reason, Reason::NONE | Reason::TRUNCATED_MSG_ACCEPTED);
        let due = self.stream.last.get().wrapping_add(u32::from(gone));
        if came.number != due {
            let number = came.number;
            self.site
                .stuck(format!("message {number} of a conversation, {due} is due"));
        }
        if !gone && first.reason != Reason::TRUNCATED_MSG_FAILED {
            return Err(first.reason);
        }
        self.site.met("get by a request for messages");
        if gone {
            let bytes = u32::try_from(came.data.len()).unwrap_or(u32::MAX);
            self.stream.last.set(due);
            let mut received = self.stream.received.borrow_mut();
            received.insert(handle.0, DESCRIPTOR + bytes);
        }
        *md = first.md.unwrap_or_default();
        gmo.msg_token = first.token;
        gmo.resolved_q_name = Name::new(&String::from_utf8_lossy(&first.resolved_q_name));
        Ok(Done {
            value: Got {
                data: came.data.into(),
                length: usize::try_from(first.total_length).unwrap_or(usize::MAX),
            },
            warning: first.reason,
        })
    }
}
