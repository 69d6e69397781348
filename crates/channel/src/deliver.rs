//! A message that is sent as it comes, accepted and written; or why there is none.
//!
//! Invariants: what is written has been accepted, in the unit of work or for good, before; what cannot be accepted, or is
//! longer than the client has room for, goes back to its queue, and the client is told; where a consumer's message is longer than
//! the channel allows, so is the operator. A unit of work that takes no more messages ends no listener: it is called in another where
//! the system has backed that out, and waits where it has as many as it may have.

use bytes::Bytes;
use posthaste_engine::{Delivery, Session};
use posthaste_mqi::{Hobj, Md, Reason};
use posthaste_wire::stream::{AsyncFirst, MessageAhead, Notification, RequestMsgs};
use posthaste_wire::{Envelope, Flags, Header};

use crate::conversation::Conversation;
use crate::streaming::{Due, Place, Terms};

/// Bytes of a descriptor, which count as received with the data.
fn descriptor_length(version: i32) -> usize {
    if version > 1 { 364 } else { 324 }
}

/// Sends what is due.
// Not an `async fn`: that has room for what it is given, and again for what it makes of it.
#[allow(clippy::manual_async_fn)]
pub(crate) fn deliver(
    conversation: &Conversation,
    session: Option<&Session>,
    due: Due,
) -> impl Future<Output = ()> {
    async move {
        match due {
            Due::None(
                handle,
                reason @ (Reason::Q_MGR_QUIESCING | Reason::CONNECTION_QUIESCING),
            ) => {
                let may_disconnect = session.is_some_and(Session::may_disconnect);
                quiesces(conversation, handle, reason, may_disconnect);
            }
            Due::None(handle, reason) => tell(conversation, handle, reason),
            Due::Notice(handle, code, reason) => {
                let header = conversation.streams.borrow_mut().header(handle);
                if let Some(header) = header {
                    notify(conversation, &header, handle, (code, reason));
                }
            }
            Due::Message(handle, delivery) => hand_over(conversation, handle, delivery).await,
        }
    }
}

// Not an `async fn`: that has room for what it is given, and again for what it makes of it.
#[allow(clippy::manual_async_fn)]
fn hand_over(
    conversation: &Conversation,
    handle: Hobj,
    delivery: Delivery,
) -> impl Future<Output = ()> {
    async move {
        let longest = usize::try_from(conversation.common.max_message).unwrap_or(usize::MAX);
        let terms = conversation
            .streams
            .borrow_mut()
            .terms(handle, delivery.is_persistent());
        // Its handle was closed: it goes back.
        let Some(terms) = terms else {
            return;
        };
        let message = Message::of(&delivery, &terms, longest);
        if message.reason == Reason::TRUNCATED_MSG_FAILED {
            drop(delivery);
            if longest < terms.room && consumes(conversation, handle) {
                too_long(conversation, &message);
                tell(conversation, handle, Reason::MSG_TOO_BIG_FOR_CHANNEL);
                return;
            }
            if let Some(place) = conversation.streams.borrow_mut().ended(handle) {
                message.write(conversation, handle, &place);
            }
            return;
        }
        let Terms {
            in_unit,
            md_version,
            ..
        } = terms;
        let for_listener = consumes(conversation, handle);
        let accepted = match in_unit {
            true if for_listener => delivery.accept_for_listener().await,
            true => delivery.accept_in_unit().await,
            false => delivery.accept().await,
        };
        match accepted {
            Ok(()) => {}
            Err(Reason::SYNCPOINT_LIMIT_REACHED) if for_listener => {
                return unit_is_full(conversation, handle, &message);
            }
            Err(reason) => return tell(conversation, handle, reason),
        }
        let mut streams = conversation.streams.borrow_mut();
        let bytes = descriptor_length(md_version) + message.data.len();
        if let Some(place) = streams.sent(handle, bytes, in_unit) {
            message.write(conversation, handle, &place);
        }
    }
}

/// Whether its messages are for a listener, and not for gets.
fn consumes(conversation: &Conversation, handle: Hobj) -> bool {
    let gets = conversation.streams.borrow_mut().gets(handle);
    !gets.wait && !gets.read_ahead
}

/// Tells the operator, who can mend it, that a consumer's next message is longer than the channel allows. The application may not
/// hear of it: IBM's JMS client tells its exception listener where ASYNCEXCEPTION is ALL.
fn too_long(conversation: &Conversation, message: &Message) {
    let common = &conversation.common;
    let inserts = [
        String::from_utf8_lossy(&message.queue).into_owned(),
        message.length.to_string(),
        common.instance.channel.clone(),
        common.instance.conname.clone(),
        common.max_message.to_string(),
    ];
    common.registry.operator().message("AMQ2233W", &inserts);
}

/// The next message of a consumer waits for the end of the unit of work, which has as many as it may. The operator is told, who can have
/// both seen to. The client is not: IBM's JMS library would end the listener, which could go on.
fn unit_is_full(conversation: &Conversation, handle: Hobj, message: &Message) {
    conversation
        .streams
        .borrow_mut()
        .wait_for_end_of_unit(handle);
    let common = &conversation.common;
    let inserts = [
        String::from_utf8_lossy(&message.queue).into_owned(),
        common.instance.conname.clone(),
        common.instance.channel.clone(),
    ];
    common.registry.operator().message("AMQ2234W", &inserts);
}

/// A message, and what is said with it.
struct Message {
    token: [u8; 16],
    queue: Vec<u8>,
    reason: Reason,
    length: usize,
    md: Md,
    data: Bytes,
}

impl Message {
    /// What is sent of a message, in the form that is wanted; `longest`: bytes that may be sent at all.
    fn of(delivery: &Delivery, terms: &Terms, longest: usize) -> Message {
        let (mut md, mut data) = (delivery.descriptor(), delivery.data());
        let (room, accepts_less) = (terms.room.min(longest), terms.accepts_less);
        let mut length = data.len();
        let mut reason = match (length <= room, accepts_less) {
            (true, _) => Reason::NONE,
            (false, true) => Reason::TRUNCATED_MSG_ACCEPTED,
            (false, false) => Reason::TRUNCATED_MSG_FAILED,
        };
        match terms.form {
            Some(form) if reason != Reason::TRUNCATED_MSG_FAILED => {
                let done = delivery.convert(&mut md, &data, form, (room, accepts_less));
                (data, length, reason) = (done.value.data, done.value.length, done.warning);
            }
            _ => data.truncate(room),
        }
        Message {
            token: delivery.token(),
            queue: delivery.queue_name().trimmed().to_vec(),
            reason,
            length,
            md,
            data,
        }
    }

    fn write(self, conversation: &Conversation, handle: Hobj, place: &Place) {
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let first = AsyncFirst {
            reason: self.reason,
            actual_length: length(self.data.len()),
            total_length: length(self.length),
            token: self.token,
            status: 0,
            resolved_q_name: self.queue,
            md: Some(Md {
                version: place.md_version,
                ..self.md
            }),
        };
        write(conversation, handle, place, &first, &self.data);
    }
}

fn write(
    conversation: &Conversation,
    handle: Hobj,
    place: &Place,
    first: &AsyncFirst,
    data: &[u8],
) {
    let common = &conversation.common;
    let envelope = Envelope::answering(common.framing, &place.header);
    let message = MessageAhead {
        handle,
        index: place.index,
        global_index: place.global_index,
        selection: place.selection,
        first,
        data,
    };
    let write = |out: &mut Vec<u8>| message.encode(out, &envelope);
    common.output.borrow_mut().append(write);
    if let Some(header) = &place.confirm {
        let code = Notification::Q_STATE_REPLY;
        notify(conversation, header, handle, (code, Reason::NONE));
    }
}

fn notify(
    conversation: &Conversation,
    header: &Header,
    handle: Hobj,
    (code, reason): (u32, Reason),
) {
    let common = &conversation.common;
    let envelope = Envelope::answering(common.framing, header);
    let notification = Notification {
        handle,
        code,
        value: reason.0.cast_unsigned(),
    };
    let write = |out: &mut Vec<u8>| notification.encode(out, &envelope, Flags::NONE);
    common.output.borrow_mut().append(write);
}

/// What is said where there is no message.
fn nothing(reason: Reason, md_version: i32) -> AsyncFirst {
    AsyncFirst {
        reason,
        actual_length: 0,
        total_length: 0,
        token: [0; 16],
        status: 0,
        resolved_q_name: Vec::new(),
        md: Some(Md {
            version: md_version,
            ..Md::default()
        }),
    }
}

/// Tells why there is no message: whoever gets hears it as the outcome of the get, a consumer by a notification.
fn tell(conversation: &Conversation, handle: Hobj, reason: Reason) {
    let mut streams = conversation.streams.borrow_mut();
    if reason == Reason::NO_MSG_AVAILABLE
        && let Some(asked) = streams.nothing_yet(handle)
    {
        let code = Notification::Q_STATE_REPLY;
        notify(conversation, &asked, handle, (code, Reason::NONE));
        return;
    }
    let gets = streams.gets(handle);
    let qm = conversation.common.registry.queue_manager();
    let Some(place) = streams.ended(handle) else {
        return;
    };
    if !gets.wait {
        let notice = match reason {
            Reason::Q_MGR_QUIESCING | Reason::CONNECTION_QUIESCING => {
                Some((Notification::Q_MGR_QUIESCING, Reason::NONE))
            }
            // Others may go on by the socket when an operator has broken this one (STOP CONN).
            Reason::CONNECTION_BROKEN if qm.running().is_ok() && !gets.read_ahead => {
                Some((Notification::GET_INHIBITED, reason))
            }
            // What ends the connection is told of by how it ends.
            _ if is_end(reason) => return,
            // The application's next get has it as its outcome.
            _ if gets.read_ahead => None,
            // A client's library would hand a listener a message without anything in it, and ask again.
            _ => Some((Notification::GET_INHIBITED, reason)),
        };
        if let Some(notice) = notice {
            notify(conversation, &place.header, handle, notice);
            return;
        }
    }
    let first = nothing(reason, place.md_version);
    write(conversation, handle, &place, &first, &[]);
}

/// Tells that the queue manager or the channel quiesces; `may_disconnect`: it waits until the application has disconnected.
fn quiesces(conversation: &Conversation, handle: Hobj, reason: Reason, may_disconnect: bool) {
    let for_listener = consumes(conversation, handle);
    tell(conversation, handle, reason);
    let mut streams = conversation.streams.borrow_mut();
    // What is told wakes no listener of IBM's Java client: its application would hear of it with the next message. Where the end follows
    // at once, an application that can connect again is to hear nothing.
    if for_listener
        && may_disconnect
        && streams.wakes(handle)
        && let Some(header) = streams.header(handle)
    {
        let allowed = (Notification::GET_ALLOWED, Reason::GET_ENABLED);
        notify(conversation, &header, handle, allowed);
    }
}

/// The connection ends, and that is told of by how it ends.
fn is_end(reason: Reason) -> bool {
    [
        Reason::CONNECTION_BROKEN,
        Reason::CONNECTION_STOPPING,
        Reason::Q_MGR_STOPPING,
        Reason::HCONN_ERROR,
    ]
    .contains(&reason)
}

/// Answers a request for messages that cannot be served.
pub(crate) fn refuse(
    conversation: &Conversation,
    header: &Header,
    request: &RequestMsgs,
    reason: Reason,
) {
    if is_end(reason) && request.flags & RequestMsgs::GET_WAITS == 0 {
        return;
    }
    let selection = request.selection.as_ref();
    let place = Place {
        header: *header,
        confirm: header.flags.has(Flags::CONFIRM).then_some(*header),
        index: 0,
        global_index: conversation.streams.borrow().last_index(),
        selection: selection.map_or(0, |selection| selection.index),
        md_version: selection.map_or(1, |selection| i32::from(selection.md_version)),
    };
    let first = nothing(reason, place.md_version);
    write(conversation, request.handle, &place, &first, &[]);
}
