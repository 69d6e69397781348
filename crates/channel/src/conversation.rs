//! A conversation: an inbox of requests, a session, and at most one verb that runs.
//!
//! Invariants: at most one request of a conversation runs at a time; its answers are appended in the order of its
//! requests; a future exists only while a verb runs, and is kept only while it waits (`running`); when a conversation is
//! over, its session has ended. All of it belongs to the thread of its connection.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use posthaste_authentication::Credentials;
use posthaste_engine::{Application, Binding};
use posthaste_mqi::{Hobj, Reason};
use posthaste_net::Output;
use posthaste_wire::request::ConnRequest;
use posthaste_wire::stream::{Notification, RequestMsgs};
use posthaste_wire::{Budget, Framing, Header, PeerMisbehaved, Request};

use crate::admission::AuthenticatedSession;
use crate::identity::Identity;
use crate::instance::Instance;
use crate::outgoing::{Asked, STEP, Share};
use crate::registry::Registry;
use crate::streaming::{Due, Streams};
use crate::xa::ResourceManager;

/// Requests that may come while an MQGET of the conversation waits. A client library sends none.
const BEHIND_A_GET: usize = 16;
/// What they may cost together: a wait may last for ever, and what waits for its end is taken from all sockets.
const COST_BEHIND_A_GET: usize = 64 * 1_024;
/// What a request costs beside its data, for the limit on input.
const REQUEST_COST: usize = 1_024;

/// The steps in which what waits on a socket is counted in the budget of all sockets, so that small requests, which are
/// most, do not touch what all sockets share.
const BUDGET_STEP: usize = 64 * 1_024;

/// Something for a conversation to do.
pub(crate) enum Item {
    Request {
        header: Header,
        handle: Hobj,
        request: Request,
    },
    Rejected {
        header: Header,
        handle: Hobj,
        reason: Reason,
        put_options: Option<i32>,
    },
    RequestMsgs {
        header: Header,
        request: Box<RequestMsgs>,
    },
    Notification {
        header: Header,
        notification: Notification,
    },
}

impl Item {
    pub(crate) fn cost(&self) -> usize {
        let data = match self {
            Item::Request {
                request: Request::Put(put),
                ..
            } => put.data.len(),
            Item::Request {
                request: Request::Put1(put),
                ..
            } => put.data.len(),
            Item::Request {
                request: Request::Set(set),
                ..
            } => 4 * set.ints.len() + set.chars.len(),
            _ => 0,
        };
        REQUEST_COST + data
    }
}

/// Something for a conversation's session to do.
pub(crate) enum Job {
    /// A request.
    Serve(Item),
    /// A message that is sent without a call for it, or why there is none.
    Deliver(Due),
    /// The conversation is over: whatever its session has not committed is backed out.
    End,
}

/// What the conversations of one socket have in common.
pub(crate) struct Common {
    pub(crate) registry: Arc<Registry>,
    pub(crate) instance: Arc<Instance>,
    /// Whom applications run as, by the channel's definition; blank for whom they say.
    pub(crate) user: String,
    /// The longest message, as agreed.
    pub(crate) max_message: u32,
    /// The client reads characters beyond the Basic Multilingual Plane as two surrogates each.
    pub(crate) surrogates: bool,
    /// The client's process and thread, by its own word.
    pub(crate) process: (u32, u32),
    pub(crate) framing: Framing,
    pub(crate) output: Rc<RefCell<Output>>,
    /// What the socket says of who its applications are.
    pub(crate) identity: Identity,
    pub(crate) load: Load,
    /// What `output` takes of the memory for all sockets.
    pub(crate) share: Share,
}

impl Common {
    /// Whoever calls MQCONN, as far as that is known before it is decided as whom it runs.
    pub(crate) fn application(&self, conn: &ConnRequest) -> Application {
        let (channel, conname) = match self.registry.is_local() {
            true => Default::default(),
            false => (self.instance.channel.clone(), self.instance.conname.clone()),
        };
        let certificate = self.instance.partner();
        Application {
            name: conn.application.text().into_owned(),
            user: String::new(),
            channel,
            conname,
            certificate: certificate.map_or_else(String::new, |of| of.subject.to_string()),
            binding: Binding::Shared,
            pid: self.process.0,
            tid: self.process.1,
            appl_type: conn.application_type,
            options: conn.connect_options,
        }
    }

    /// Whether so much waits for the peer that nothing more is done for it.
    pub(crate) fn is_full(&self) -> bool {
        let output = self.output.borrow();
        // What waits for the peer is counted among what waits for all.
        self.share.count(output.kept());
        self.is_too_much(output.waiting())
    }

    /// Whether so many bytes are.
    pub(crate) fn is_too_much(&self, waiting: usize) -> bool {
        waiting > STEP && self.share.presses() || waiting > self.registry.limits().output
    }
}

/// What waits or runs on a socket.
pub(crate) struct Load {
    /// Requests that have come and are not finished.
    requests: Cell<usize>,
    /// What they cost, in bytes, but for MQGETs that wait.
    cost: Cell<usize>,
    /// MQGETs that wait.
    gets: Cell<usize>,
    /// Conversations that are sent messages as they come.
    streaming: Cell<usize>,
    /// Too much has been sent behind one of them.
    overrun: Cell<bool>,
    /// Counts what costs much.
    budget: Arc<Budget>,
}

fn add(count: &Cell<usize>, by: usize) {
    count.set(count.get() + by);
}

fn take(count: &Cell<usize>, by: usize) {
    count.set(count.get() - by);
}

impl Load {
    pub(crate) fn new(budget: &Arc<Budget>) -> Load {
        Load {
            requests: Cell::new(0),
            cost: Cell::new(0),
            gets: Cell::new(0),
            streaming: Cell::new(0),
            overrun: Cell::new(false),
            budget: Arc::clone(budget),
        }
    }

    /// Whether everything in the budget of all sockets is taken, and this one has a part in it.
    pub(crate) fn is_held(&self) -> bool {
        self.cost() >= BUDGET_STEP && self.budget.is_spent()
    }

    /// Whether a peer has sent more behind an MQGET that waits than is kept.
    pub(crate) fn is_overrun(&self) -> bool {
        self.overrun.get()
    }

    fn add_cost(&self, bytes: usize) {
        let before = self.cost();
        self.cost.set(before + bytes);
        let steps = (before + bytes) / BUDGET_STEP - before / BUDGET_STEP;
        if steps > 0 {
            self.budget.add(steps * BUDGET_STEP);
        }
    }

    fn take_cost(&self, bytes: usize) {
        let before = self.cost();
        self.cost.set(before - bytes);
        let steps = before / BUDGET_STEP - (before - bytes) / BUDGET_STEP;
        if steps > 0 {
            self.budget.give_back(steps * BUDGET_STEP);
        }
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.get()
    }

    /// Requests that wait for their turn or run. An MQGET that waits is neither: whoever sent it may send on other
    /// conversations, for as long as it waits.
    pub(crate) fn at_work(&self) -> usize {
        self.requests().saturating_sub(self.gets())
    }

    pub(crate) fn cost(&self) -> usize {
        self.cost.get()
    }

    pub(crate) fn gets(&self) -> usize {
        self.gets.get()
    }

    /// Whether something runs, waits, or is to be sent when it comes.
    pub(crate) fn in_use(&self) -> bool {
        self.requests() > 0 || self.streaming.get() > 0
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.take_cost(self.cost());
    }
}

/// What has become of an MQCONN that the protocol's machine does not know of yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Connect {
    Succeeded,
    Failed,
}

/// How far a conversation's end has come. Only ever goes forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Closing {
    Open,
    /// An MQGET that waits with FAIL_IF_QUIESCING fails.
    Quiescing,
    /// What has come is carried out, but nothing is got; then the conversation ends.
    Draining,
    /// What has come is dropped; the conversation ends after the running verb.
    Dropping,
}

/// Something to do, and what it costs.
type Costing = (Item, usize);

/// Nearly always one request comes at a time: it takes no memory of its own.
#[derive(Default)]
struct Inbox {
    first: Option<Costing>,
    /// Behind it; empty where there is no first.
    others: VecDeque<Costing>,
    /// What they cost together.
    cost: usize,
}

impl Inbox {
    fn push(&mut self, item: Item, cost: usize) {
        self.cost += cost;
        match self.first {
            None => self.first = Some((item, cost)),
            Some(_) => self.others.push_back((item, cost)),
        }
    }

    fn pop(&mut self) -> Option<Costing> {
        let (item, cost) = self.first.take()?;
        self.cost -= cost;
        if !self.others.is_empty() {
            self.first = self.others.pop_front();
        } else if self.others.capacity() > 0 {
            // What a burst took is not kept.
            self.others = VecDeque::new();
        }
        Some((item, cost))
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether the next request is answered with a message.
    fn gets_next(&self) -> bool {
        let next = self.first.as_ref().map(|(item, _)| item);
        matches!(
            next,
            Some(Item::Request {
                request: Request::Get(_),
                ..
            })
        )
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Whether this is more than may come behind an MQGET that waits.
    fn is_long(&self) -> bool {
        self.len() > BEHIND_A_GET || self.cost > COST_BEHIND_A_GET
    }
}

/// A conversation as its connection and its running verb see it.
pub(crate) struct Conversation {
    pub(crate) id: u32,
    pub(crate) common: Rc<Common>,
    inbox: RefCell<Inbox>,
    closing: Cell<Closing>,
    getting: Cell<bool>,
    connect: Cell<Option<Connect>>,
    /// What came with MQCSP for its next MQCONN.
    pub(crate) credentials: RefCell<Option<Box<Credentials>>>,
    /// While a verb runs, that has it.
    pub(crate) session: RefCell<Option<AuthenticatedSession>>,
    /// What its XA verbs have opened.
    pub(crate) resource_manager: RefCell<Option<Box<ResourceManager>>>,
    /// What is sent without a call for each message.
    pub(crate) streams: RefCell<Streams>,
    /// It is counted among those that are sent messages as they come.
    streaming: Cell<bool>,
    /// It waits for room for what it is to be answered.
    asked: Asked,
}

/// What a conversation has to do next.
pub(crate) enum ToDo {
    Nothing,
    /// Something, when the peer has read what waits for it.
    Later,
    /// And what it costs.
    Now(Item, usize),
    Deliver(Due),
    End,
}

impl Conversation {
    pub(crate) fn new(id: u32, common: &Rc<Common>) -> Conversation {
        Conversation {
            id,
            common: Rc::clone(common),
            inbox: RefCell::default(),
            closing: Cell::new(Closing::Open),
            getting: Cell::new(false),
            connect: Cell::new(None),
            credentials: RefCell::new(None),
            session: RefCell::new(None),
            resource_manager: RefCell::default(),
            streams: RefCell::default(),
            streaming: Cell::new(false),
            asked: Asked::default(),
        }
    }

    /// Adds something to do.
    pub(crate) fn push(&self, item: Item) -> Result<(), PeerMisbehaved> {
        let load = &self.common.load;
        let cost = item.cost();
        let mut inbox = self.inbox.borrow_mut();
        add(&load.requests, 1);
        load.add_cost(cost);
        inbox.push(item, cost);
        if self.getting.get() && inbox.is_long() {
            return Err(PeerMisbehaved::TooManyRequestsAhead);
        }
        Ok(())
    }

    /// Brings the end nearer; the caller wakes the conversation.
    pub(crate) fn close(&self, closing: Closing) {
        self.closing.set(closing.max(self.closing.get()));
        if self.closing.get() == Closing::Dropping {
            let dropped = self.inbox.take();
            let items = dropped.first.iter().chain(&dropped.others);
            items.for_each(|(_, cost)| self.finished(*cost));
        }
    }

    pub(crate) fn closing(&self) -> Closing {
        self.closing.get()
    }

    /// What has become of an MQCONN since this was asked last.
    pub(crate) fn take_connect(&self) -> Option<Connect> {
        self.connect.take()
    }

    /// An MQCONN has been answered.
    pub(crate) fn connect(&self, connect: Connect) {
        self.connect.set(Some(connect));
    }

    pub(crate) fn finished(&self, cost: usize) {
        take(&self.common.load.requests, 1);
        self.common.load.take_cost(cost);
    }

    /// What to do next: what has been asked for, in its order, and only then what is sent without being asked.
    pub(crate) fn to_do(&self, context: &mut Context<'_>) -> ToDo {
        let mut inbox = self.inbox.borrow_mut();
        let ends = self.closing() >= Closing::Draining;
        if inbox.is_empty() {
            return if ends { ToDo::End } else { self.due(context) };
        }
        if !ends && self.common.is_full() {
            self.streams.borrow_mut().rest();
            return ToDo::Later;
        }
        if inbox.gets_next() && self.poll_room(context).is_pending() {
            self.streams.borrow_mut().rest();
            return ToDo::Nothing;
        }
        inbox
            .pop()
            .map_or(ToDo::Nothing, |(item, cost)| ToDo::Now(item, cost))
    }

    /// Ready when a message may be got for the peer. What ends is not held up: it is told so.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        match self.closing() {
            Closing::Open => {
                let outgoing = self.common.registry.outgoing();
                outgoing.poll_room(&self.asked, context)
            }
            _ => Poll::Ready(()),
        }
    }

    /// What is to be sent without being asked.
    fn due(&self, context: &mut Context<'_>) -> ToDo {
        let mut streams = self.streams.borrow_mut();
        if streams.is_empty() {
            return ToDo::Nothing;
        }
        if self.common.is_full() {
            streams.rest();
            return ToDo::Later;
        }
        if streams.are_armed() && self.poll_room(context).is_pending() {
            streams.rest();
            return ToDo::Nothing;
        }
        let session = self.session.borrow();
        let Some(session) = session.as_ref() else {
            return ToDo::Nothing;
        };
        if self.closing() == Closing::Quiescing {
            session.quiesce();
        }
        match streams.poll(session, context) {
            Poll::Ready(due) => ToDo::Deliver(due),
            Poll::Pending => ToDo::Nothing,
        }
    }

    /// Counts it among those that are sent messages as they come, or no longer.
    pub(crate) fn note_streaming(&self) {
        let streaming = self.streams.borrow().are_armed();
        if self.streaming.replace(streaming) != streaming {
            let count = &self.common.load.streaming;
            match streaming {
                true => add(count, 1),
                false => take(count, 1),
            }
        }
    }

    /// Nothing is sent any more without being asked; what was handed over for it goes back.
    pub(crate) fn end_streams(&self) {
        *self.streams.borrow_mut() = Streams::default();
        self.note_streaming();
    }

    /// An MQGET begins to wait.
    pub(crate) fn begin_get(&self) -> Waiting<'_> {
        self.getting.set(true);
        self.streams.borrow_mut().rest();
        let load = &self.common.load;
        add(&load.gets, 1);
        load.take_cost(REQUEST_COST);
        if self.inbox.borrow().is_long() {
            load.overrun.set(true);
        }
        Waiting(self)
    }
}

/// While this lives, an MQGET waits.
pub(crate) struct Waiting<'a>(&'a Conversation);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.getting.set(false);
        let load = &self.0.common.load;
        take(&load.gets, 1);
        load.add_cost(REQUEST_COST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item::Request {
            header: Header::new(
                posthaste_wire::SegmentType::Cmit,
                posthaste_wire::Scope::Unshared,
                posthaste_mqi::ByteOrder::Big,
                819,
            ),
            handle: Hobj::NONE,
            request: Request::Commit,
        }
    }

    #[test]
    fn one_request_takes_no_memory_and_a_burst_keeps_none() {
        let mut inbox = Inbox::default();
        inbox.push(item(), 7);
        assert_eq!((inbox.len(), inbox.cost), (1, 7));
        assert!(inbox.pop().is_some() && inbox.is_empty());
        assert_eq!(inbox.others.capacity(), 0);
        (1..=5).for_each(|cost| inbox.push(item(), cost));
        let costs: Vec<usize> = std::iter::from_fn(|| inbox.pop()).map(|(_, c)| c).collect();
        assert_eq!(costs, [1, 2, 3, 4, 5], "in their order");
        assert_eq!(
            (inbox.len(), inbox.cost, inbox.others.capacity()),
            (0, 0, 0)
        );
    }
}
