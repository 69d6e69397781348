//! Messages that are sent without a call for each (asynchronous consume, read ahead): what a client has asked for, and
//! whose turn it is.
//!
//! Invariants:
//! * A stream is given a message only while the client has room for it, its conversation's delivery is not stopped, and,
//!   if the message is to be got in the unit of work, while the client allows that: at most one message in syncpoint is
//!   on its way or not yet processed, because whoever commits commits all that the conversation has got.
//! * The end of a unit of work withdraws that permission: whoever ends one is still about the message that it had, and says
//!   so when it is done. What came before, a client's library takes for a part of what has ended: IBM's, behind a backout
//!   in a connection made anew, drops it and goes on, and the next commit would end its get.
//! * Ahead of the application's gets (read ahead) only such messages are sent as may be lost: a persistent one that is got outside the
//!   unit of work, and so is gone when it is sent, is sent to a get that waits for it (manual: DefReadAhead, "non-persistent
//!   messages are sent ahead").
//! * While that is not allowed, no such message is kept from others: it goes back, or is not looked for. Nor is any while
//!   nothing can be sent: a get of the conversation waits, or the peer does not read.
//! * What is stopped overtakes what has not been written: a consumer that is given up gives back what it was handed.
//! * A synchronous get that waits (read ahead) is told once that there was nothing; then nothing is sent until the client
//!   asks again, unless it was the client that gave up first.
//! * A consumer in syncpoint outlasts what keeps its unit of work from growing, which only its application can end: see `deliver`.
//! * While gets are inhibited a stream lasts: its client is told so once, and once that they are allowed, whether or not
//!   there would be room for a message or one would be allowed. Only a get that waits has it as its outcome.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use posthaste_engine::plant::{Bug, planted};
use posthaste_engine::{Consumer, Delivery, Session};
use posthaste_env::Sleep;
use posthaste_mqi::constants::{
    MQGMO_ACCEPT_TRUNCATED_MSG, MQGMO_BROWSE_FIRST, MQGMO_BROWSE_NEXT, MQGMO_CONVERT,
    MQGMO_SYNCPOINT, MQGMO_SYNCPOINT_IF_PERSISTENT, MQGMO_WAIT, MQWI_UNLIMITED,
};
use posthaste_mqi::{Gmo, Hobj, Md, MsgToken, Reason};
use posthaste_wire::stream::{Notification, RequestMsgs, Selection};
use posthaste_wire::{Flags, Header, Scope};

/// The number of requests that nobody waits to be answered.
const NO_REPLY: u32 = 1;

/// What one handle is sent.
struct Stream {
    handle: Hobj,
    /// The last request's, whose answers these are.
    header: Header,
    /// That of a request whose sender waits until it has been answered.
    confirm: Option<Header>,
    options: i32,
    max_length: Option<usize>,
    /// What is selected, and the form that is wanted.
    md: Md,
    matches: i32,
    token: MsgToken,
    selection: u16,
    /// Bytes that may be on their way or not yet processed.
    window: u64,
    /// Bytes that are.
    outstanding: u64,
    /// Number of the last message.
    index: u32,
    /// A message was sent of those that these options ask for: what browses goes on from there.
    has_begun: bool,
    /// Number, in the conversation, of the last message that was got in the unit of work.
    in_unit_index: Option<u32>,
    /// The same of the last one that was sent because a get waited for it.
    awaited_index: Option<u32>,
    /// The same of the last one.
    last_index: u32,
    /// The get that waits was begun without knowing of that one, which is on its way and answers it.
    answered: bool,
    /// The client has asked, and nothing has ended that.
    armed: bool,
    /// What is wrong with what the client asks for.
    wrong: Option<Reason>,
    /// A get of the application waits for an answer; until when, unless it is for ever.
    get: Option<Until>,
    consumer: Option<Consumer>,
    /// The consumer has credit for a message.
    credited: bool,
    /// The application gets by calls, of which the client's library makes requests.
    reads_ahead: bool,
    /// Why its next message may not be sent now.
    paused: Option<Pause>,
    /// The client has heard that gets are inhibited, and not yet that they are allowed.
    inhibited: bool,
    /// The client has been woken to hear that the queue manager or the channel quiesces.
    woken: bool,
}

/// Why a message may not be sent now.
#[derive(Clone, Copy, PartialEq)]
enum Pause {
    /// It is to be got in the unit of work, which the client does not allow yet.
    Unit,
    /// It would be lost with a client that does not get it, and no get waits.
    Get,
    /// It is to be got in the unit of work, which has as many messages as it may have.
    FullUnit,
}

/// How long a get waits.
enum Until {
    Now,
    Then(Sleep),
    Forever,
}

/// Something to be sent.
pub(crate) enum Due {
    /// A message.
    Message(Hobj, Delivery),
    /// Why there is none.
    None(Hobj, Reason),
    /// What is the matter with the handle: the code of a NOTIFICATION, and its reason.
    Notice(Hobj, u32, Reason),
}

/// What has to be said with a message: whose request it answers, and which one it is.
pub(crate) struct Place {
    pub(crate) header: Header,
    /// What is to be confirmed behind it.
    pub(crate) confirm: Option<Header>,
    pub(crate) index: u32,
    pub(crate) global_index: u32,
    pub(crate) selection: u16,
    pub(crate) md_version: i32,
}

/// What gets the application makes on a handle.
#[derive(Default)]
pub(crate) struct Gets {
    /// One waits for what is said.
    pub(crate) wait: bool,
    /// Its messages are for gets, and not for a consumer.
    pub(crate) read_ahead: bool,
}

/// How a message is wanted.
pub(crate) struct Terms {
    /// It is got in the unit of work.
    pub(crate) in_unit: bool,
    /// Its longest length.
    pub(crate) room: usize,
    /// Of one that is longer the beginning will do.
    pub(crate) accepts_less: bool,
    /// The version of descriptor that goes with it.
    pub(crate) md_version: i32,
    /// The form that its data are to have: encoding and coded character set.
    pub(crate) form: Option<(i32, i32)>,
}

/// All streams of a conversation.
#[derive(Default)]
pub(crate) struct Streams {
    all: Vec<Stream>,
    /// Number of the last message.
    global_index: u32,
    /// A message may be sent that is got in the unit of work.
    allowed: bool,
    stopped: bool,
    /// Whose turn it is.
    turn: usize,
}

impl Stream {
    fn new(handle: Hobj, header: Header) -> Stream {
        Stream {
            handle,
            header,
            confirm: None,
            options: 0,
            max_length: None,
            md: Md::default(),
            matches: 0,
            token: MsgToken::default(),
            selection: 0,
            window: 0,
            outstanding: 0,
            index: 0,
            has_begun: false,
            in_unit_index: None,
            awaited_index: None,
            last_index: 0,
            answered: false,
            armed: false,
            wrong: None,
            get: None,
            consumer: None,
            credited: false,
            reads_ahead: false,
            paused: None,
            inhibited: false,
            woken: false,
        }
    }

    /// Gives up its consumer: what that was handed and nobody was sent goes back.
    fn give_up(&mut self) {
        self.consumer = None;
        self.credited = false;
    }

    /// What it was handed and cannot be sent now goes back, and nothing is handed to it until it is polled.
    fn rest(&mut self) {
        if self.credited {
            self.give_up();
        }
    }

    fn disarm(&mut self) {
        self.give_up();
        self.armed = false;
        self.wrong = None;
        self.get = None;
    }

    /// Whether a message is to be got in the unit of work.
    fn in_unit(&self, persistent: bool) -> bool {
        let if_persistent = persistent && self.options & MQGMO_SYNCPOINT_IF_PERSISTENT != 0;
        self.options & MQGMO_SYNCPOINT != 0 || if_persistent
    }

    /// Whether a message is for a get that waits, and for nothing else.
    fn is_awaited(&self, persistent: bool) -> bool {
        let takes = self.options & (MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT) == 0;
        self.reads_ahead && persistent && takes && !self.in_unit(true)
    }

    /// Whether the application browses from the first message on again: a get of it waits, and nothing of what was sent is on its way.
    fn begins_anew(&self, request: &RequestMsgs) -> bool {
        let get_waits = request.flags & RequestMsgs::GET_WAITS != 0;
        let from_first = request.options & MQGMO_BROWSE_FIRST != 0;
        get_waits && from_first && self.has_begun && request.global_index == self.last_index
    }

    fn select(&mut self, selection: &Selection) {
        self.give_up();
        self.selection = selection.index;
        self.matches = selection.match_options;
        self.token = selection.msg_token.unwrap_or_default();
        self.md = Md {
            version: i32::from(selection.md_version),
            msg_id: selection.msg_id.unwrap_or_default(),
            correl_id: selection.correl_id.unwrap_or_default(),
            group_id: selection.group_id.unwrap_or_default(),
            msg_seq_number: selection.msg_seq_number,
            offset: selection.offset,
            encoding: selection.encoding.cast_signed(),
            coded_char_set_id: selection.ccsid.cast_signed(),
            ..Md::default()
        };
    }

    fn gmo(&self) -> Gmo {
        // What is said of a message once there is one.
        let of_delivery = MQGMO_ACCEPT_TRUNCATED_MSG | MQGMO_CONVERT | MQGMO_WAIT;
        let mut options = self.options & !of_delivery;
        // IBM's client asks for both at once.
        if options & MQGMO_BROWSE_FIRST != 0 {
            options &= !(MQGMO_BROWSE_FIRST | MQGMO_BROWSE_NEXT);
            options |= match self.has_begun {
                true => MQGMO_BROWSE_NEXT,
                false => MQGMO_BROWSE_FIRST,
            };
        }
        Gmo {
            version: 3,
            options,
            match_options: self.matches,
            msg_token: self.token,
            ..Gmo::default()
        }
    }

    /// Its next message, if it may be sent now. A get of the application that waits allows its message, as MQGET would:
    /// nothing has been sent since it began to wait.
    fn poll_allowed(
        &mut self,
        allowed: bool,
        session: &Session,
        context: &mut Context<'_>,
    ) -> Poll<Due> {
        let get_waits = self.get.is_some() && !self.answered;
        let allowed = allowed || get_waits;
        if !allowed && self.in_unit(false) && !self.inhibited {
            self.paused = Some(Pause::Unit);
            self.give_up();
            return Poll::Pending;
        }
        self.paused = None;
        let due = ready!(self.poll(session, context));
        let pause = match &due {
            Due::Message(_, delivery) if !allowed && self.in_unit(delivery.is_persistent()) => {
                Pause::Unit
            }
            Due::Message(_, delivery)
                if !get_waits && self.is_awaited(delivery.is_persistent()) =>
            {
                Pause::Get
            }
            _ => return Poll::Ready(due),
        };
        // It goes back to where it was.
        drop(due);
        self.paused = Some(pause);
        match self.reads_ahead {
            true => {
                // There is one, which is sent when a get waits for it.
                let code = Notification::STREAMING_TXN_PAUSED;
                Poll::Ready(Due::Notice(self.handle, code, Reason::NONE))
            }
            false => Poll::Pending,
        }
    }

    /// Its next message, or why there will be none.
    fn poll(&mut self, session: &Session, context: &mut Context<'_>) -> Poll<Due> {
        let handle = self.handle;
        let has_room = self.outstanding < self.window || planted(Bug::IgnoredRoom);
        if !has_room && !self.inhibited {
            // The client may never ask for what came when there was room.
            self.rest();
            return self.poll_get(context);
        }
        if self.consumer.is_none() {
            match session.consumer(handle, &self.md, &self.gmo()) {
                Ok(consumer) => self.consumer = Some(consumer),
                Err(reason) => return Poll::Ready(Due::None(handle, reason)),
            }
        }
        let Some(consumer) = &mut self.consumer else {
            return Poll::Pending;
        };
        if !std::mem::replace(&mut self.credited, true) {
            consumer.credit(1);
        }
        let polled = consumer.poll_next(context);
        let (has_looked, inhibited) = (consumer.has_looked(), consumer.is_inhibited());
        match polled {
            Poll::Ready(Ok(delivery)) => {
                self.credited = false;
                if std::mem::take(&mut self.inhibited) {
                    // The message goes back, and comes behind this if it may.
                    return Poll::Ready(allowed(handle));
                }
                Poll::Ready(Due::Message(handle, delivery))
            }
            Poll::Ready(Err(reason)) => Poll::Ready(Due::None(handle, reason)),
            Poll::Pending if !has_looked => Poll::Pending,
            Poll::Pending if inhibited => self.poll_inhibited(),
            Poll::Pending if std::mem::take(&mut self.inhibited) => Poll::Ready(allowed(handle)),
            Poll::Pending => self.poll_get(context),
        }
    }

    /// What is said of it that gets are inhibited.
    fn poll_inhibited(&mut self) -> Poll<Due> {
        let reason = Reason::GET_INHIBITED;
        if self.get.is_some() {
            return Poll::Ready(Due::None(self.handle, reason));
        }
        if std::mem::replace(&mut self.inhibited, true) {
            return Poll::Pending;
        }
        let code = Notification::GET_INHIBITED;
        Poll::Ready(Due::Notice(self.handle, code, reason))
    }

    /// Whether the get that waits for a message has waited long enough.
    fn poll_get(&mut self, context: &mut Context<'_>) -> Poll<Due> {
        let over = match &mut self.get {
            None | Some(Until::Forever) => false,
            Some(Until::Now) => true,
            Some(Until::Then(sleep)) => sleep.as_mut().poll(context).is_ready(),
        };
        match over {
            true => Poll::Ready(Due::None(self.handle, Reason::NO_MSG_AVAILABLE)),
            false => Poll::Pending,
        }
    }
}

/// Gets through a handle are allowed again.
fn allowed(handle: Hobj) -> Due {
    Due::Notice(handle, Notification::GET_ALLOWED, Reason::GET_ENABLED)
}

/// The header that messages answer to: their request number says that nobody waits for a reply.
fn unconfirmed(header: &Header) -> Header {
    let scope = match header.scope {
        Scope::Conversation { id, .. } => Scope::Conversation {
            id,
            request: NO_REPLY,
        },
        other => other,
    };
    Header { scope, ..*header }
}

impl Streams {
    fn find(&mut self, handle: Hobj) -> Option<&mut Stream> {
        self.all.iter_mut().find(|stream| stream.handle == handle)
    }

    /// Whether something may be sent without being asked for again.
    pub(crate) fn are_armed(&self) -> bool {
        !self.stopped && self.all.iter().any(|stream| stream.armed)
    }

    /// Whether one of its messages may be sent: there is a stream at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The client has room for messages.
    pub(crate) fn request(&mut self, header: &Header, request: &RequestMsgs, session: &Session) {
        if request.flags & RequestMsgs::TRANSACTION_ALLOWED != 0 {
            self.allow(request.global_index);
        }
        if self.find(request.handle).is_none() {
            self.all.push(Stream::new(request.handle, *header));
        }
        let Some(stream) = self.find(request.handle) else {
            return;
        };
        stream.header = unconfirmed(header);
        stream.confirm = header.flags.has(Flags::CONFIRM).then_some(*header);
        if stream.options != request.options || stream.begins_anew(request) {
            stream.give_up();
            stream.has_begun = false;
            stream.options = request.options;
        }
        let selected = stream.selection;
        if let Some(selection) = &request.selection {
            stream.select(selection);
        }
        let unknown = |index: u32| index.wrapping_sub(request.global_index).cast_signed() > 0;
        let last_ones = [stream.in_unit_index, stream.awaited_index].into_iter();
        stream.answered = stream.selection == selected && last_ones.flatten().any(unknown);
        stream.max_length = usize::try_from(request.max_length).ok();
        stream.outstanding = stream
            .outstanding
            .saturating_sub(u64::from(request.received));
        stream.window = u64::from(request.requested);
        stream.armed = true;
        stream.paused = None;
        // As of MQGET, which looks at it whether or not it waits.
        stream.wrong = (request.wait_ms < MQWI_UNLIMITED).then_some(Reason::WAIT_INTERVAL_ERROR);
        stream.reads_ahead |= request.flags & RequestMsgs::GET_WAITS != 0;
        let asked_again = request.flags & RequestMsgs::ASKED_AGAIN != 0;
        stream.get = match request.flags & RequestMsgs::GET_WAITS != 0 {
            _ if asked_again => Some(Until::Now),
            false => None,
            true if request.options & MQGMO_WAIT == 0 => Some(Until::Now),
            true => Some(match u64::try_from(request.wait_ms) {
                Ok(wait) => Until::Then(session.wait(Duration::from_millis(wait))),
                Err(_) => Until::Forever,
            }),
        };
    }

    /// The client allows a message in syncpoint, having processed the message with this number.
    pub(crate) fn allow(&mut self, global_index: u32) {
        // A word about an earlier message has been overtaken by a later one.
        if global_index == self.global_index {
            self.allowed = true;
        }
    }

    /// Delivery starts: no get of the application waits any more, and it is consumers that have what is sent from here on. Their client
    /// may ask for nothing if it has room since.
    pub(crate) fn start(&mut self) {
        self.stopped = false;
        for stream in &mut self.all {
            stream.reads_ahead = false;
            stream.paused = None;
        }
    }

    /// Delivery stops, until it starts and the client asks again.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        for stream in &mut self.all {
            stream.disarm();
            stream.outstanding = 0;
        }
        self.unit_ended();
    }

    /// The unit of work has ended, or is no longer that of a message on its way. The client allows the next message in
    /// syncpoint anew.
    pub(crate) fn unit_ended(&mut self) {
        for stream in &mut self.all {
            stream.in_unit_index = None;
            stream.awaited_index = None;
            stream.paused.take_if(|pause| *pause == Pause::FullUnit);
        }
        self.allowed = false;
    }

    /// Nothing is sent by a handle before the unit of work has ended, or the client asks again.
    pub(crate) fn wait_for_end_of_unit(&mut self, handle: Hobj) {
        if let Some(stream) = self.find(handle) {
            stream.give_up();
            stream.paused = Some(Pause::FullUnit);
        }
    }

    /// Nothing can be sent for a time: no message is kept from others so long.
    pub(crate) fn rest(&mut self) {
        self.all.iter_mut().for_each(Stream::rest);
    }

    /// The handle is closed.
    pub(crate) fn close(&mut self, handle: Hobj) {
        self.all.retain(|stream| stream.handle != handle);
    }

    /// The next thing to be sent, each stream in its turn.
    pub(crate) fn poll(&mut self, session: &Session, context: &mut Context<'_>) -> Poll<Due> {
        if self.stopped {
            return Poll::Pending;
        }
        for _ in 0..self.all.len() {
            self.turn = (self.turn + 1) % self.all.len();
            let allowed = self.allowed;
            let Some(stream) = self.all.get_mut(self.turn) else {
                continue;
            };
            if !stream.armed {
                continue;
            }
            if let Some(reason) = stream.wrong {
                return Poll::Ready(Due::None(stream.handle, reason));
            }
            let due = match stream.paused {
                Some(Pause::Get | Pause::FullUnit) => stream.poll_get(context),
                Some(Pause::Unit) if !allowed => stream.poll_get(context),
                _ => stream.poll_allowed(allowed, session, context),
            };
            if due.is_ready() {
                return due;
            }
        }
        Poll::Pending
    }

    /// How a message is wanted. `None`: its handle has been closed.
    pub(crate) fn terms(&mut self, handle: Hobj, persistent: bool) -> Option<Terms> {
        let stream = self.find(handle)?;
        Some(Terms {
            in_unit: stream.in_unit(persistent),
            room: stream.max_length.unwrap_or(usize::MAX),
            accepts_less: stream.options & MQGMO_ACCEPT_TRUNCATED_MSG != 0,
            md_version: stream.md.version,
            form: (stream.options & MQGMO_CONVERT != 0)
                .then_some((stream.md.encoding, stream.md.coded_char_set_id)),
        })
    }

    /// A message is sent that takes so much of the client's room. `None`: its handle has been closed.
    pub(crate) fn sent(&mut self, handle: Hobj, bytes: usize, in_unit: bool) -> Option<Place> {
        let global_index = self.global_index.wrapping_add(1);
        let stream = self.find(handle)?;
        if stream.get.take().is_some() {
            stream.awaited_index = Some(global_index);
        }
        stream.outstanding = stream.outstanding.saturating_add(bytes as u64);
        stream.index = stream.index.wrapping_add(1);
        stream.has_begun = true;
        stream.last_index = global_index;
        if in_unit {
            stream.in_unit_index = Some(global_index);
        }
        let place = stream.place(global_index);
        self.global_index = global_index;
        self.allowed &= !in_unit;
        Some(place)
    }

    /// A get that waited long enough, and asked for the last time, is told that there is nothing; what comes is sent. `None`:
    /// nobody has asked so.
    pub(crate) fn nothing_yet(&mut self, handle: Hobj) -> Option<Header> {
        let stream = self.find(handle)?;
        let asked = stream.confirm.take()?;
        stream.get = None;
        Some(asked)
    }

    /// Number of the last message.
    pub(crate) fn last_index(&self) -> u32 {
        self.global_index
    }

    /// Something else than a message is told; nothing more is sent until the client asks again.
    pub(crate) fn ended(&mut self, handle: Hobj) -> Option<Place> {
        let global_index = self.global_index;
        let stream = self.find(handle)?;
        let place = stream.place(global_index);
        stream.disarm();
        Some(place)
    }

    /// Whose request a word about a stream answers.
    pub(crate) fn header(&mut self, handle: Hobj) -> Option<Header> {
        self.find(handle).map(|stream| stream.header)
    }

    /// Whether a consumer is to be woken that has been told that the queue manager or the channel quiesces. Once: a client's library
    /// that is woken asks again.
    pub(crate) fn wakes(&mut self, handle: Hobj) -> bool {
        let stream = self.find(handle);
        stream.is_some_and(|stream| !std::mem::replace(&mut stream.woken, true))
    }

    /// The application's gets on a handle.
    pub(crate) fn gets(&mut self, handle: Hobj) -> Gets {
        let stream = self.find(handle);
        stream.map_or_else(Gets::default, |stream| Gets {
            wait: stream.get.is_some(),
            read_ahead: stream.reads_ahead,
        })
    }
}

impl Stream {
    fn place(&mut self, global_index: u32) -> Place {
        Place {
            header: self.header,
            confirm: self.confirm.take(),
            index: self.index,
            global_index,
            selection: self.selection,
            md_version: self.md.version,
        }
    }
}
